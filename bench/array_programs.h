/* SPDX-License-Identifier: MIT */
/* Kernels of arrays that bench_arrays measures: their text, what their arguments are, and what they have to give. */
#ifndef TJ_BENCH_ARRAY_PROGRAMS_H
#define TJ_BENCH_ARRAY_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_ARGUMENTS = 6, PROGRAM_TEXT = 2048, GROUP = 32 };

/* How many elements a row of N columns has of it. */
typedef enum {
  EACH,       /* N */
  TURNED,     /* N, which lie M apart: the array is column-major */
  OF_ROW,     /* 1 */
  OF_GROUP,   /* N / GROUP */
  OF_ALL_ROWS /* N, the same for every row */
} array_form;

typedef struct {
  const char *name;
  const char *type; /* "*": the one that is measured */
  array_form form;
  bool is_output;
} array_argument;

/* One row of each argument, as numbers: of inputs what they are, of outputs what they have to be. */
typedef double *array_row[MOST_ARGUMENTS];

typedef struct {
  const char *name;
  const char *text;   /* of the body; M and N are its extents, * the measured type */
  const char *number; /* of the launch; NULL: none */
  double value;
  array_argument argument[MOST_ARGUMENTS + 1]; /* the last one has no name */
  void (*expect)(const array_row row, int64_t columns);
} array_program;

extern const array_program array_programs[];
extern const size_t array_program_count;

/* The program, with extents as numbers, or as parameters of the launch. */
void array_program_write(char text[PROGRAM_TEXT], const array_program *p, const char *type, int64_t rows,
                         int64_t columns, bool is_dynamic);
size_t array_type_bytes(const char *type);
int64_t array_row_elements(array_form form, int64_t columns);
/* The number that an element of a type is, and the nearest element; of f32 and bf16. */
double array_number(const char *type, const void *element);
void array_store(const char *type, void *element, double number);
/* How far a right element may be from the number that it is of. */
double array_tolerance(const char *type, double number);

#endif

/* SPDX-License-Identifier: MIT */
/* The 57 transpositions of the TTC/HPTT benchmark (Springer, Bientinesi: arXiv:1603.02297 and 1704.04374): 19
 * permutations in three skews each, about 200 MiB of f32. What of them is measured, and where, is left to the
 * benchmarks and tests that include this: here are shapes, smaller shapes with the same alignments, programs, and
 * where each element goes. */
#ifndef TILEJIT_BENCH_TRANSPOSITIONS_H
#define TILEJIT_BENCH_TRANSPOSITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRANSPOSITION_COUNT = 57, TRANSPOSITION_MODES = 6, TRANSPOSITION_TEXT = 2048, SHAPE_TEXT = 128 };

/* Mode i of the destination is mode permutation[i] of the source; the first mode of each is contiguous. */
typedef struct {
  const char *permutation;
  int64_t extent[TRANSPOSITION_MODES];
} transposition;

extern const transposition transpositions[TRANSPOSITION_COUNT];

int transposition_modes(const transposition *t);
/* The number of elements. */
int64_t transposition_size(const transposition *t);

/* Elements of memory between the runs of the first mode. */
typedef struct {
  int64_t source, destination;
} run_gaps;

/* The steps of the source's modes in both tensors. gaps NULL: none. */
void transposition_strides(const transposition *t, const run_gaps *gaps, int64_t source[TRANSPOSITION_MODES],
                           int64_t destination[TRANSPOSITION_MODES]);
/* Where element `index` of the source's order is in memory. */
typedef struct {
  int64_t source, destination;
} element_places;

element_places transposition_places(const transposition *t, const run_gaps *gaps, int64_t index);

/* At most as many elements as wanted: the longest mode is halved as often as it takes. */
transposition transposition_halved(const transposition *t, int64_t elements);
/* About as many elements as wanted, so that each run begins as well aligned as in the full size: modes that are
 * contiguous in neither tensor shrink first, from the outermost on, to no less than 3, and only in such a way that
 * every stride keeps the largest power of two, up to 128, that divides it. Then the contiguous modes shrink by
 * multiples of 128, to no less than 512. May remain larger than wanted. */
transposition transposition_shrunken(const transposition *t, int64_t elements);

/* The extents: "32,15,7". */
void transposition_write_shape(char text[SHAPE_TEXT], const transposition *t);
/* kernel transpose(src, dst) over constant extents. gaps NULL: none. */
void transposition_write(char text[TRANSPOSITION_TEXT], const transposition *t, const run_gaps *gaps,
                         const char *type);
/* The same over parameters D0, D1, …, each in 1..2^h times the power of two from the extent of `full` on. */
void transposition_write_dynamic(char text[TRANSPOSITION_TEXT], const transposition *full, const run_gaps *gaps,
                                 const char *type, int headroom);

/* Which types of elements, and whether with fixed extents, with those of the launch, or both: of a command line. */
enum { MEASURED_TYPES = 16 };

typedef struct {
  const char *form;           /* static, dynamic or both */
  char *type[MEASURED_TYPES]; /* borrowed */
  int type_count;
} measured;

/* "f32,f16", which is taken apart; false where that is no list of types. */
bool measured_parse_types(measured *m, char *list);
bool measured_has_form(const measured *m, const char *form);

/* Bytes of an element of type f16, b128 and so on; 0 for what ends in no such number of bits. */
size_t bytes_of_type(const char *type);

#endif

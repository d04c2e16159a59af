/* SPDX-License-Identifier: MIT */
/* What declarations, statements and expressions of C are read with: one token ahead, and types. */
#ifndef TJ_FRONTEND_C_READER_H
#define TJ_FRONTEND_C_READER_H

#include "frontend/c/c_integer.h"
#include "frontend/c/c_token.h"

/* A field of a struct, a parameter, a constant of the file. */
typedef struct {
  const char *name;
  tj_c_kind kind;
} tj_c_field;

typedef struct {
  const char *name;
  const tj_c_field *field;
  uint32_t field_count;
} tj_c_struct;

/* What an integer can be read from: the structs of the file are known by now. */
typedef struct {
  tj_job *job;
  tj_c_token token; /* the next one */
  const tj_c_struct *structs;
  uint32_t struct_count;
} tj_c_reader;

typedef enum { TJ_C_IS_VOID, TJ_C_IS_INTEGER, TJ_C_IS_AUTO, TJ_C_IS_STRUCT } tj_c_type_form;

typedef struct {
  tj_c_type_form form;
  tj_c_kind kind;        /* of integers */
  const tj_c_struct *of; /* of structs */
} tj_c_type_read;

/* Starts at a byte of the job's source. */
void tj_c_go(tj_c_reader *reader, uint32_t position);
/* Passes over the token, and gives it. */
tj_c_token tj_c_take(tj_c_reader *reader);

bool tj_c_is(const tj_c_reader *reader, uint32_t mark);
bool tj_c_is_word(const tj_c_reader *reader, const char *word);
bool tj_c_accept(tj_c_reader *reader, uint32_t mark);
bool tj_c_accept_word(tj_c_reader *reader, const char *word);
void tj_c_expect(tj_c_reader *reader, uint32_t mark, const char *what);
/* A name, copied. */
const char *tj_c_read_name(tj_c_reader *reader, const char *what);

/* Passes over a block, behind its opening brace. */
void tj_c_skip_block(tj_c_reader *reader);

/* Passes over static, const and their like. */
void tj_c_skip_specifiers(tj_c_reader *reader);
/* A type with its specifiers; false, and nothing read, where none begins. */
bool tj_c_read_type(tj_c_reader *reader, tj_c_type_read *type);
/* The same of an integer. TJ1006 for others. */
tj_c_kind tj_c_read_kind(tj_c_reader *reader);

/* TJ1006 at the next token: "expected …, not …". */
_Noreturn void tj_c_fail_expected(tj_c_reader *reader, const char *what);

#endif

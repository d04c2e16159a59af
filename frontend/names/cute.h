/* SPDX-License-Identifier: MIT */
/* The names of CuTe's C++ text and prints, and of CK Tile's C++ text, where they are not this language's own: types
 * with template arguments, functions that make tuples and tilers, printed pointers. cute.def lists them;
 * frontend/sema/sema_cute.h gives them values. */
#ifndef TJ_FRONTEND_CUTE_H
#define TJ_FRONTEND_CUTE_H

#include "frontend/names/builtin.h"

#include <stdbool.h>

/* The template that stands for a printed pointer, smem_ptr[16b](unset): its argument is the element's bits. */
#define TJ_CUTE_FLAG "smem_ptr_flag_bits"

/* Whether CuTe gives the name template arguments; and whether it then is a function, as in get<0>(L), not a type. */
bool tj_cute_has_template(const char *name);
bool tj_cute_is_function(const char *name);

/* The type of that name, as a function of its template arguments, of which the first tj_cute_type_count ones are
 * types, which say nothing here, and are dropped. NULL for other names. */
const tj_builtin *tj_cute_type(const char *name);
uint32_t tj_cute_type_count(const char *name);

/* Behind how many of a function's arguments its template's stand. */
uint32_t tj_cute_arguments_before(const char *function);

/* Which positional argument of a function a keyword of CuTe's DSL names; 0 for none. */
uint32_t tj_cute_position(const char *function, const char *keyword);

/* What has template arguments in C++, and is a function of the library "atoms" here. */
typedef enum {
  TJ_CUTE_NO_ATOM,
  TJ_CUTE_ATOM_ITSELF,      /* it is the function */
  TJ_CUTE_ATOM_INSTRUCTION, /* its first argument is */
} tj_cute_atom;

tj_cute_atom tj_cute_atom_of(const char *name);

/* The bits of a type of elements of C++; 0 for other names. */
uint32_t tj_cute_element_bits(const char *name);

/* make_shape, make_tile and their like, as functions; NULL for other names. */
const tj_builtin *tj_cute_call(const char *name);

/* Whether a function is a row of cute.def. */
bool tj_cute_has(const tj_builtin *function);

/* Names that have a meaning as arguments in CuTe's text, where nothing else is called so. */
typedef enum {
  TJ_CUTE_NO_WORD,
  TJ_CUTE_WHOLE,        /* X, Underscore, None: a whole mode */
  TJ_CUTE_COLUMN_MAJOR, /* LayoutLeft */
  TJ_CUTE_ROW_MAJOR,    /* LayoutRight */
} tj_cute_word;

tj_cute_word tj_cute_word_of(const char *name);

struct tj_call;
const struct tj_value *tj_cute_integer(struct tj_call *call);
const struct tj_value *tj_cute_basis(struct tj_call *call);
const struct tj_value *tj_cute_scaled_basis(struct tj_call *call);
const struct tj_value *tj_cute_tuple(struct tj_call *call);
const struct tj_value *tj_cute_items(struct tj_call *call); /* a tuple; of what is none, a list */
const struct tj_value *tj_cute_tiler(struct tj_call *call);
const struct tj_value *tj_cute_swizzle(struct tj_call *call);
const struct tj_value *tj_cute_row_major(struct tj_call *call); /* the layout of a shape, last mode fastest */
const struct tj_value *tj_cute_flag(struct tj_call *call);      /* fails: TJ_CUTE_FLAG where it means nothing */

const struct tj_value *tj_cute_slice(struct tj_call *call);
const struct tj_value *tj_cute_sizeof(struct tj_call *call); /* of a type, whose bits it is given */
const struct tj_value *tj_cute_tensor(struct tj_call *call); /* fails: tensors are no calls (sema_cute.h) */

/* CK Tile's. */
const struct tj_value *tj_ck_sequence(struct tj_call *call);
const struct tj_value *tj_ck_distribution(struct tj_call *call); /* rs, hs, ps_major, ps_minor, ys_major, ys_minor */
const struct tj_value *tj_ck_strided(struct tj_call *call);
const struct tj_value *tj_ck_packed(struct tj_call *call);
const struct tj_value *tj_ck_itself(struct tj_call *call);
/* What the function gives that CK Tile calls so. */
const struct tj_value *tj_ck_called(struct tj_call *call);

#endif

/* SPDX-License-Identifier: MIT */
/* Element types: what the table, dtype.def, says of each. */
#ifndef TJ_BASE_DTYPE_H
#define TJ_BASE_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { TJ_CLASS_SIGNED, TJ_CLASS_UNSIGNED, TJ_CLASS_FLOAT, TJ_CLASS_BITS } tj_dtype_class;

typedef enum {
#define DTYPE(name, ...) TJ_DTYPE_##name,
#include "base/number/dtype.def"
#undef DTYPE
  TJ_DTYPE_COUNT
} tj_dtype;

/* Which codes of a float are no numbers. */
typedef enum {
  TJ_SPECIALS_NONE, /* none is */
  TJ_SPECIALS_IEEE, /* those of the largest exponent: infinities, of mantissa 0, and NaNs */
  TJ_SPECIALS_FN,   /* of all bits, the sign aside: NaNs; there are no infinities */
  TJ_SPECIALS_FNUZ  /* what would be -0 is the only NaN; there are no infinities */
} tj_specials;

/* A float's form. */
typedef struct {
  uint32_t exponent, mantissa; /* bits of the fields */
  int32_t bias;
  tj_specials specials;
  bool is_signed;
} tj_float_form;

const char *tj_dtype_name(tj_dtype dtype);
uint32_t tj_dtype_bits(tj_dtype dtype);
tj_dtype_class tj_dtype_class_of(tj_dtype dtype);
const char *tj_dtype_numpy(tj_dtype dtype);
bool tj_dtype_find(const char *name, tj_dtype *dtype);

/* The form of a float. */
tj_float_form tj_dtype_form(tj_dtype dtype);

/* Whether it is a float that LLVM has no type for, and that is computed with as f32, which holds all its values. */
bool tj_dtype_is_small_float(tj_dtype dtype);

/* The code of the largest number of a float of at most 32 bits; and that of its NaN, or of the positive one. */
uint32_t tj_float_largest(const tj_float_form *form);
uint32_t tj_float_nan(const tj_float_form *form);

/* The largest number of a float of at most 32 bits. */
double tj_float_limit(tj_dtype dtype);

/* Whether values convert from one to the other: numbers to numbers; raw bits to the same width only. */
bool tj_dtype_converts(tj_dtype from, tj_dtype to);

/* The raw bits of the same width. */
tj_dtype tj_dtype_raw(tj_dtype dtype);

/* The one of fewer bits; `to`, where they are as wide: what a conversion on the way is best held in. */
tj_dtype tj_dtype_narrower(tj_dtype from, tj_dtype to);

#endif

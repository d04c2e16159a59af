/* SPDX-License-Identifier: MIT */
/* Element types: look-ups in the one table. */
#include "base/number/dtype.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct {
  const char *name;
  const char *numpy;
  uint32_t bits;
  tj_dtype_class class;
  tj_dtype raw;
  tj_float_form form;
} row;

static const row rows[TJ_DTYPE_COUNT] = {
#define DTYPE(name, bits, class, raw, llvm, numpy, exponent, mantissa, bias, specials)                               \
  {#name,          numpy,                                                                                            \
   bits,           TJ_CLASS_##class,                                                                                 \
   TJ_DTYPE_##raw, {exponent, mantissa, bias, TJ_SPECIALS_##specials, (bits) > (exponent) + (mantissa)}},
#include "base/number/dtype.def"
#undef DTYPE
};

const char *tj_dtype_name(tj_dtype dtype) {
  return rows[dtype].name;
}

uint32_t tj_dtype_bits(tj_dtype dtype) {
  return rows[dtype].bits;
}

tj_dtype_class tj_dtype_class_of(tj_dtype dtype) {
  return rows[dtype].class;
}

const char *tj_dtype_numpy(tj_dtype dtype) {
  return rows[dtype].numpy;
}

bool tj_dtype_find(const char *name, tj_dtype *dtype) {
  for (size_t i = 0; i < TJ_DTYPE_COUNT; i++) {
    if (strcmp(rows[i].name, name) == 0) {
      *dtype = (tj_dtype)i;
      return true;
    }
  }
  return false;
}

tj_float_form tj_dtype_form(tj_dtype dtype) {
  return rows[dtype].form;
}

bool tj_dtype_is_small_float(tj_dtype dtype) {
  return rows[dtype].class == TJ_CLASS_FLOAT && rows[dtype].bits <= 8;
}

/* All bits but the sign. */
static uint32_t all_ones(const tj_float_form *form) {
  return ((uint32_t)1 << (form->exponent + form->mantissa)) - 1;
}

uint32_t tj_float_largest(const tj_float_form *form) {
  switch (form->specials) {
  case TJ_SPECIALS_IEEE:
    return all_ones(form) - ((uint32_t)1 << form->mantissa);
  case TJ_SPECIALS_FN:
    return all_ones(form) - 1;
  case TJ_SPECIALS_FNUZ:
  case TJ_SPECIALS_NONE:
    break;
  }
  return all_ones(form);
}

uint32_t tj_float_nan(const tj_float_form *form) {
  return form->specials == TJ_SPECIALS_FNUZ ? all_ones(form) + 1 : all_ones(form);
}

double tj_float_limit(tj_dtype dtype) {
  const tj_float_form form = tj_dtype_form(dtype);
  uint32_t largest = tj_float_largest(&form), exponent = largest >> form.mantissa;
  uint32_t digits = largest - (exponent << form.mantissa) + ((uint32_t)1 << form.mantissa);
  return ldexp(digits, (int)exponent - form.bias - (int)form.mantissa);
}

bool tj_dtype_converts(tj_dtype from, tj_dtype to) {
  bool are_numbers = rows[from].class != TJ_CLASS_BITS && rows[to].class != TJ_CLASS_BITS;
  return are_numbers || rows[from].bits == rows[to].bits;
}

tj_dtype tj_dtype_raw(tj_dtype dtype) {
  return rows[dtype].raw;
}

tj_dtype tj_dtype_narrower(tj_dtype from, tj_dtype to) {
  return tj_dtype_bits(from) < tj_dtype_bits(to) ? from : to;
}

/* SPDX-License-Identifier: MIT */
/* The conversions between f32 and floats of 8 bits, as hardware does them that is not told to saturate. */
#ifndef TJ_SIM_SMALL_FLOAT_H
#define TJ_SIM_SMALL_FLOAT_H

#include "base/number/dtype.h"

#include <math.h>

/* What instructions call fp8 and bf8: E4M3 and E5M2. */
static inline tj_dtype fp8_dtype(bool is_fnuz) {
  return is_fnuz ? TJ_DTYPE_f8e4m3fnuz : TJ_DTYPE_f8e4m3fn;
}

static inline tj_dtype bf8_dtype(bool is_fnuz) {
  return is_fnuz ? TJ_DTYPE_f8e5m2fnuz : TJ_DTYPE_f8e5m2;
}

/* The value of a code. */
static inline float small_float(uint32_t code, tj_dtype dtype) {
  const tj_float_form form = tj_dtype_form(dtype);
  uint32_t magnitude = code & 0x7f, exponent = magnitude >> form.mantissa;
  if (form.specials == TJ_SPECIALS_FNUZ ? code == tj_float_nan(&form) : magnitude > tj_float_largest(&form))
    return form.specials == TJ_SPECIALS_IEEE && magnitude == tj_float_largest(&form) + 1
               ? copysignf(INFINITY, code > magnitude ? -1 : 1)
               : NAN;
  uint32_t hidden = (exponent > 0 ? 1u : 0u) << form.mantissa;
  int unit = (exponent > 0 ? (int)exponent : 1) - form.bias - (int)form.mantissa;
  float value = ldexpf((float)((magnitude - (exponent << form.mantissa)) + hidden), unit);
  return code > magnitude ? -value : value;
}

/* The code of the nearest number, ties to even; beyond the largest one, that of infinity or NaN. */
static inline uint32_t small_float_bits(float value, tj_dtype dtype) {
  const tj_float_form form = tj_dtype_form(dtype);
  uint32_t sign = signbit(value) ? 0x80 : 0, beyond = tj_float_largest(&form) + 1;
  if (isnan(value))
    return tj_float_nan(&form);
  int least = 1 - form.bias, exponent = isinf(value) || value == 0 ? least : ilogbf(value);
  int unit = (exponent > least ? exponent : least) - (int)form.mantissa;
  double units = isinf(value) ? INFINITY : rint(ldexp(fabs((double)value), -unit));
  double code = units + ldexp(unit + form.bias + (int)form.mantissa - 1, (int)form.mantissa);
  if (code >= beyond)
    return form.specials == TJ_SPECIALS_FNUZ ? tj_float_nan(&form) : beyond | sign;
  return code == 0 && form.specials == TJ_SPECIALS_FNUZ ? 0 : (uint32_t)code | sign;
}

#endif

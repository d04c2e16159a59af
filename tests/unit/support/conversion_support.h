/* SPDX-License-Identifier: MIT */
/* Conversions between element types as C sees them: the reference that kernels are held against, and elements for
 * which roundings change. */
#ifndef TJ_TESTS_CONVERSION_SUPPORT_H
#define TJ_TESTS_CONVERSION_SUPPORT_H

#include "base/number/dtype.h"
#include "tests/unit/support/random_nodes.h"

#include <math.h>
#include <string.h>

/* --- element types, as C sees them --- */

typedef struct {
  unsigned char byte[16];
} element;

static inline bool is_float(tj_dtype dtype) {
  return tj_dtype_class_of(dtype) == TJ_CLASS_FLOAT;
}

/* The fraction bits and the least and largest exponents of a float type. */
typedef struct {
  int fraction, low, high;
} float_form;

static inline float_form form_of(tj_dtype dtype) {
  switch (dtype) {
  case TJ_DTYPE_f16:
    return (float_form){10, -14, 15};
  case TJ_DTYPE_bf16:
    return (float_form){7, -126, 127};
  case TJ_DTYPE_f32:
    return (float_form){23, -126, 127};
  default:
    return (float_form){52, -1022, 1023};
  }
}

static uint64_t bits_of(element value, tj_dtype dtype) {
  uint64_t bits = 0;
  memcpy(&bits, value.byte, tj_dtype_bits(dtype) / 8);
  return bits;
}

static inline element element_of(uint64_t bits) {
  element value = {{0}};
  memcpy(value.byte, &bits, sizeof bits);
  return value;
}

/* The number that a small float's code stands for, as its form says. */
static inline long double small_float_of(uint64_t code, tj_dtype dtype) {
  tj_float_form form = tj_dtype_form(dtype);
  uint32_t width = form.exponent + form.mantissa;
  uint64_t magnitude = code & (((uint64_t)1 << width) - 1), exponent = magnitude >> form.mantissa;
  uint64_t fraction = magnitude - (exponent << form.mantissa);
  bool is_all_ones = magnitude + 1 == (uint64_t)1 << width, is_negative = code > magnitude;
  if (form.specials == TJ_SPECIALS_FNUZ ? is_negative && magnitude == 0
                                        : form.specials == TJ_SPECIALS_FN && is_all_ones)
    return NAN;
  if (form.specials == TJ_SPECIALS_IEEE && exponent + 1 == (uint64_t)1 << form.exponent)
    return fraction != 0 ? NAN : is_negative ? -INFINITY : INFINITY;
  bool is_normal = exponent > 0 || form.mantissa == 0;
  long double whole = (long double)fraction + (is_normal ? ldexpl(1, (int)form.mantissa) : 0);
  long double value = ldexpl(whole, (int)(is_normal ? exponent : 1) - form.bias - (int)form.mantissa);
  return is_negative ? -value : value;
}

/* What the codes of a small float stand for, those of its numbers that are not negative first, in ascending order. */
typedef struct {
  long double value[256];
  uint32_t end; /* of those numbers */
} small_float_table;

static inline const small_float_table *small_floats(tj_dtype dtype) {
  static small_float_table tables[TJ_DTYPE_COUNT];
  small_float_table *table = &tables[dtype];
  if (table->end > 0)
    return table;
  uint32_t count = (uint32_t)1 << tj_dtype_bits(dtype);
  for (uint32_t code = 0; code < count; code++)
    table->value[code] = small_float_of(code, dtype);
  while (table->end < count && isfinite(table->value[table->end]) && !signbit(table->value[table->end]))
    table->end++;
  return table;
}

/* The nearest number of the form, found by looking for it; of two that are as near, the one of even mantissa, or,
 * where there is no mantissa, the larger one. */
static inline long double nearest_small_float(long double value, tj_dtype dtype) {
  tj_float_form form = tj_dtype_form(dtype);
  const small_float_table *table = small_floats(dtype);
  uint32_t low = 0, high = table->end - 1;
  long double magnitude = form.is_signed ? fabsl(value) : value;
  if (isnan(value))
    return NAN;
  while (high - low > 1) {
    uint32_t middle = (low + high) / 2;
    if (table->value[middle] <= magnitude)
      low = middle;
    else
      high = middle;
  }
  long double below = magnitude - table->value[low], above = table->value[high] - magnitude;
  bool is_low = below == above ? form.mantissa > 0 && low % 2 == 0 : below < above;
  long double nearest = table->value[is_low ? low : high];
  bool has_minus = form.is_signed && !(nearest == 0 && form.specials == TJ_SPECIALS_FNUZ);
  return has_minus ? copysignl(nearest, value) : nearest;
}

/* The code of a number that the form has. */
static inline uint32_t small_float_code(long double value, tj_dtype dtype) {
  uint32_t code = 0;
  while (small_floats(dtype)->value[code] != value)
    code++;
  return code;
}

static inline long double read_float(uint64_t bits, tj_dtype dtype) {
  if (tj_dtype_is_small_float(dtype))
    return small_floats(dtype)->value[bits];
  float_form form = form_of(dtype);
  uint32_t width = tj_dtype_bits(dtype);
  uint64_t fraction = bits & (((uint64_t)1 << form.fraction) - 1);
  int exponent = (int)(bits >> form.fraction & (((uint64_t)1 << (width - 1 - (uint32_t)form.fraction)) - 1));
  long double magnitude;
  if (exponent == form.high - form.low + 2)
    magnitude = fraction == 0 ? INFINITY : NAN;
  else if (exponent == 0)
    magnitude = ldexpl((long double)fraction, form.low - form.fraction);
  else
    magnitude =
        ldexpl((long double)(fraction + ((uint64_t)1 << form.fraction)), exponent - 1 + form.low - form.fraction);
  return bits >> (width - 1) ? -magnitude : magnitude;
}

static inline long double read_number(element value, tj_dtype dtype) {
  uint64_t bits = bits_of(value, dtype);
  unsigned unused = 64 - (unsigned)tj_dtype_bits(dtype);
  if (is_float(dtype))
    return read_float(bits, dtype);
  if (tj_dtype_class_of(dtype) == TJ_CLASS_SIGNED)
    return (long double)((int64_t)(bits << unused) >> unused);
  return (long double)bits;
}

/* The nearest value that the type has, ties to even; infinite beyond its range, or the largest of small floats. */
static inline long double round_float(long double value, tj_dtype dtype) {
  if (tj_dtype_is_small_float(dtype))
    return nearest_small_float(value, dtype);
  float_form form = form_of(dtype);
  if (isnan(value) || isinf(value) || value == 0)
    return value;
  int exponent;
  frexpl(value, &exponent);
  int unit = (exponent - 1 > form.low ? exponent - 1 : form.low) - form.fraction;
  long double rounded = ldexpl(rintl(ldexpl(value, -unit)), unit);
  return fabsl(rounded) >= ldexpl(1, form.high + 1) ? copysignl(INFINITY, value) : rounded;
}

static uint64_t low_bits(uint64_t value, uint32_t count) {
  return count == 64 ? value : value & (((uint64_t)1 << count) - 1);
}

/* The bits of a number as an integer: rounded to zero, saturated. */
static uint64_t saturated(long double value, tj_dtype dtype) {
  uint32_t bits = tj_dtype_bits(dtype);
  bool is_signed = tj_dtype_class_of(dtype) == TJ_CLASS_SIGNED;
  long double end = ldexpl(1, (int)bits - is_signed);
  if (isnan(value))
    return 0;
  if (value >= end)
    return low_bits(UINT64_MAX, bits - is_signed);
  if (is_signed)
    return low_bits(value < -end ? (uint64_t)1 << (bits - 1) : (uint64_t)(int64_t)value, bits);
  return value < 0 ? 0 : (uint64_t)value;
}

static inline bool converts_to(element from, tj_dtype from_type, element to, tj_dtype to_type) {
  bool is_raw = tj_dtype_class_of(from_type) == TJ_CLASS_BITS || tj_dtype_class_of(to_type) == TJ_CLASS_BITS;
  if (is_raw || from_type == to_type)
    return memcmp(&from, &to, tj_dtype_bits(to_type) / 8) == 0;
  long double value = read_number(from, from_type);
  if (is_float(to_type)) {
    long double found = read_number(to, to_type), expected = round_float(value, to_type);
    return isnan(expected) ? isnan(found) : found == expected && signbit(found) == signbit(expected);
  }
  uint64_t expected = is_float(from_type) ? saturated(value, to_type) : bits_of(from, from_type);
  if (!is_float(from_type) && value < 0)
    expected = (uint64_t)(int64_t)value;
  return bits_of(to, to_type) == low_bits(expected, tj_dtype_bits(to_type));
}

/* --- elements --- */

/* Of the part of an element that is random. */
static uint32_t random_width(tj_dtype dtype) {
  return tj_dtype_bits(dtype) < 64 ? tj_dtype_bits(dtype) : 64;
}

/* A number near a power of two, where roundings change. */
static uint64_t near_power(random_source *source, tj_dtype dtype) {
  uint64_t power = (uint64_t)1 << random_below(source, random_width(dtype));
  uint64_t half = power >> random_below(source, 30);
  uint64_t value = power + (random_below(source, 2) ? half : 0) + random_below(source, 5) - 2;
  return random_below(source, 2) ? value : 0 - value;
}

/* An integer close to the middle of two values of a shorter float, which may lie far above its last bits. */
static uint64_t near_middle(random_source *source, tj_dtype dtype) {
  uint32_t kept = 8 + 3 * random_below(source, 2);
  uint64_t half = (uint64_t)1 << random_below(source, random_width(dtype) - kept);
  uint64_t value = random_next(source) % ((uint64_t)1 << kept) * 2 * half + half + random_below(source, 3) - 1;
  return random_below(source, 2) ? value : 0 - value;
}

static uint64_t special_integer(random_source *source, tj_dtype dtype) {
  return random_below(source, 2) ? near_power(source, dtype) : near_middle(source, dtype);
}

/* A double or float close to the middle of two values of a shorter type. */
static uint64_t near_tie(random_source *source, tj_dtype dtype) {
  unsigned dropped = dtype == TJ_DTYPE_f64 ? 42 + 3 * random_below(source, 2) : 13 + 3 * random_below(source, 2);
  uint64_t bits = random_next(source) >> dropped << dropped;
  bits |= (uint64_t)1 << (dropped - 1);
  return bits + random_below(source, 3) - 1;
}

static uint64_t random_bits(random_source *source, tj_dtype dtype, uint32_t position) {
  uint64_t exponent;
  if (tj_dtype_bits(dtype) <= 16)
    return position;
  switch (random_below(source, 4)) {
  case 0:
    return random_next(source);
  case 1:
    return is_float(dtype) ? near_tie(source, dtype) : special_integer(source, dtype);
  case 2:
    exponent = dtype == TJ_DTYPE_f64 ? 0x3ff + random_below(source, 80) - 10 : 0x7f + random_below(source, 80) - 10;
    return dtype == TJ_DTYPE_f64 ? exponent << 52 | random_next(source) >> 12 | random_next(source) << 63
                                 : exponent << 23 | (random_next(source) & 0x807fffff);
  default:
    return random_next(source) >> random_below(source, 64);
  }
}

static inline unsigned char *make_elements(random_source *source, tj_dtype dtype, uint32_t count) {
  uint32_t size = tj_dtype_bits(dtype) / 8;
  unsigned char *data = malloc((size_t)count * size);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t position = size == 1 ? i : i * (65536 / count);
    uint64_t halves[2] = {random_bits(source, dtype, position), random_next(source)};
    memcpy(data + (size_t)i * size, halves, size);
  }
  return data;
}

static inline element element_at(const unsigned char *data, tj_dtype dtype, uint32_t position) {
  element value = {{0}};
  uint32_t size = tj_dtype_bits(dtype) / 8;
  memcpy(&value, data + (size_t)position * size, size);
  return value;
}

#endif

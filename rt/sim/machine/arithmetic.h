/* SPDX-License-Identifier: MIT */
/* Arithmetic that the instruction tables are written in: types of operands, and operations that C does not have. */
#ifndef TJ_RT_SIM_ARITHMETIC_H
#define TJ_RT_SIM_ARITHMETIC_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Types of operands: TYPE(name, C type, bits). BF16 is the bits of a bfloat; MIX is a float of 32 bits, or one of 16
 * that is widened; MIXB the same of bfloats. */
#define TJ_SIM_TYPES(TYPE)                                                                                           \
  TYPE(NONE, uint64_t, 0)                                                                                            \
  TYPE(U16, uint16_t, 16)                                                                                            \
  TYPE(I16, int16_t, 16)                                                                                             \
  TYPE(F16, _Float16, 16)                                                                                            \
  TYPE(BF16, uint16_t, 16)                                                                                           \
  TYPE(U32, uint32_t, 32)                                                                                            \
  TYPE(I32, int32_t, 32)                                                                                             \
  TYPE(F32, float, 32)                                                                                               \
  TYPE(MIX, float, 32)                                                                                               \
  TYPE(MIXB, float, 32)                                                                                              \
  TYPE(U64, uint64_t, 64)                                                                                            \
  TYPE(I64, int64_t, 64)                                                                                             \
  TYPE(F64, double, 64)

typedef enum {
#define TYPE(name, c, bits) TJ_SIM_##name,
  TJ_SIM_TYPES(TYPE)
#undef TYPE
} tj_sim_type;

#define TYPE(name, c, bits)                                                                                          \
  typedef c name##_t;                                                                                                \
  static inline name##_t get_##name(uint64_t raw) {                                                                  \
    name##_t value;                                                                                                  \
    memcpy(&value, &raw, sizeof value);                                                                              \
    return value;                                                                                                    \
  }                                                                                                                  \
  static inline uint64_t put_##name(name##_t value) {                                                                \
    uint64_t raw = 0;                                                                                                \
    memcpy(&raw, &value, sizeof value);                                                                              \
    return raw;                                                                                                      \
  }
TJ_SIM_TYPES(TYPE)
#undef TYPE

enum { MASK24 = 0xffffff };

/* A bit in every fourth place. */
#define LOW_OF_QUADS(type) ((type##_t)0x1111111111111111u)

/* A number, cut to a range; what is not a number is 0. */
static inline long double saturate(long double value, long double low, long double high) {
  if (value != value)
    return 0;
  return value < low ? low : value > high ? high : value;
}

static inline float float_of(uint32_t bits) {
  return get_F32(bits);
}

static inline float bfloat(uint16_t bits) {
  return float_of((uint32_t)bits << 16);
}

static inline uint16_t half_bits(float value) {
  return (uint16_t)put_F16((_Float16)value);
}

/* The float of 16 bits next to `value`, not farther from zero. */
static inline uint16_t half_toward_zero(float value) {
  uint16_t nearest = half_bits(value);
  float back = (float)get_F16(nearest);
  bool is_farther = value == value && fabsf(back) > fabsf(value);
  return (uint16_t)(nearest - (is_farther ? 1 : 0));
}

/* The bfloat next to `value`, ties to even. */
static inline uint16_t bfloat_bits(float value) {
  uint32_t bits = (uint32_t)put_F32(value);
  if (value != value)
    return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline uint32_t reverse_bits(uint32_t value) {
  uint32_t result = 0;
  for (int i = 0; i < 32; i++)
    result |= (value >> i & 1) << (31 - i);
  return result;
}

/* How many leading bits before the first that differs from the sign; all ones where none does. */
static inline uint32_t leading_signs(int32_t value) {
  uint32_t bits = value < 0 ? ~(uint32_t)value : (uint32_t)value;
  return bits == 0 ? UINT32_MAX : (uint32_t)__builtin_clz(bits);
}

static inline int32_t signed24(uint32_t value) {
  return (int32_t)(value << 8) >> 8;
}

static inline uint64_t extract(uint64_t value, unsigned shift, unsigned width) {
  uint64_t shifted = value >> shift;
  return width >= 64 ? shifted : shifted & ((1ull << width) - 1);
}

static inline int64_t extend(uint64_t value, unsigned width) {
  if (width == 0)
    return 0;
  return width >= 64 ? (int64_t)value : (int64_t)(value << (64 - width)) >> (64 - width);
}

/* A signed field of a signed value of `bits` bits; fields that reach past its end are cut. */
static inline int64_t extract_extended(int64_t value, unsigned shift, unsigned width, unsigned bits) {
  unsigned kept = width > bits - shift ? bits - shift : width;
  return extend((uint64_t)(value >> shift), kept);
}

static inline uint32_t extract_signed(int32_t value, unsigned shift, unsigned width) {
  return (uint32_t)extract_extended(value, shift, width, 32);
}

/* Byte i of the result is chosen by byte i of the selector: 0 to 7 a byte, 8 to 11 the sign of a half, 12 zero, above
 * that 255. */
static inline uint32_t permute_bytes(uint64_t bytes, uint32_t selector) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; i++) {
    unsigned chosen = selector >> 8 * i & 255;
    uint32_t byte = 255;
    if (chosen < 8)
      byte = (uint32_t)(bytes >> 8 * chosen & 255);
    else if (chosen < 12)
      byte = (bytes >> (16 * (chosen - 8) + 15) & 1) != 0 ? 255 : 0;
    else if (chosen == 12)
      byte = 0;
    result |= byte << 8 * i;
  }
  return result;
}

/* The sum of the distances of four bytes; where masked, only of those whose byte of b is not zero. */
static inline uint32_t sum_of_differences(uint32_t a, uint32_t b, bool is_masked) {
  uint32_t sum = 0;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    uint32_t x = a >> shift & 255, y = b >> shift & 255;
    sum += is_masked && y == 0 ? 0 : x > y ? x - y : y - x;
  }
  return sum;
}

/* The mean of each pair of bytes, rounded up where bit 0 of c's byte says so. */
static inline uint32_t average_bytes(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0;
  for (unsigned shift = 0; shift < 32; shift += 8)
    result |= ((a >> shift & 255) + (b >> shift & 255) + (c >> shift & 1)) >> 1 << shift;
  return result;
}

static inline uint32_t dot_bytes(uint32_t a, uint32_t b, bool is_signed) {
  uint32_t sum = 0;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    uint32_t x = a >> shift & 255, y = b >> shift & 255;
    sum += is_signed ? (uint32_t)((int8_t)x * (int8_t)y) : x * y;
  }
  return sum;
}

/* Each bit by a truth table: bit 4a + 2b + c of it. */
static inline uint32_t combine_bits(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (unsigned row = 0; row < 8; row++) {
    if ((table >> row & 1) != 0)
      result |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
  }
  return result;
}

/* The exponent such that the mantissa lies in [0.5, 1); 0 for zero, infinity and what is no number. */
static inline int32_t binary_exponent(double value) {
  int exponent = 0;
  if (value != 0 && isfinite(value))
    frexp(value, &exponent);
  return exponent;
}

/* Which of the classes of v_cmp_class a number belongs to, as a bit. */
static inline uint32_t class_bit(double value, bool is_signaling, double least_normal) {
  bool is_negative = signbit(value) != 0;
  if (value != value)
    return is_signaling ? 1u : 2u;
  if (isinf(value))
    return is_negative ? 4u : 0x200u;
  if (value == 0)
    return is_negative ? 0x20u : 0x40u;
  if (fabs(value) < least_normal)
    return is_negative ? 0x10u : 0x80u;
  return is_negative ? 8u : 0x100u;
}

static inline bool is_class_f32(float value, uint32_t classes) {
  bool is_signaling = (put_F32(value) & 0x400000) == 0;
  return (class_bit((double)value, is_signaling, 0x1p-126) & classes) != 0;
}

static inline bool is_class_f64(double value, uint32_t classes) {
  bool is_signaling = (put_F64(value) & 0x8000000000000) == 0;
  return (class_bit(value, is_signaling, 0x1p-1022) & classes) != 0;
}

static inline bool is_class_f16(_Float16 value, uint32_t classes) {
  bool is_signaling = (put_F16(value) & 0x200) == 0;
  return (class_bit((double)value, is_signaling, 0x1p-14) & classes) != 0;
}

/* The bits of the bfloat next to a * b + c, of bfloats, rounded once. */
uint16_t multiply_add_bfloats(float a, float b, float c);

float divide_scale_f32(float scaled, float denominator, float numerator, bool *flag);
double divide_scale_f64(double scaled, double denominator, double numerator, bool *flag);

/* The smaller one, of which -0 is smaller than 0; NaN where one is. */
double minimum(double a, double b);
/* The smaller and the larger one, of which -0 is smaller than 0; where one is NaN, the other. */
double minimum_number(double a, double b);
double maximum_number(double a, double b);
/* The middle one of the same order. */
double median_number(double a, double b, double c);

/* a * b + c, where `c` is a quotient; if one of its operands was scaled, back to what it is by itself, and rounded
 * there. */
float divide_fmas_f32(float a, float b, float c, bool is_scaled);
double divide_fmas_f64(double a, double b, double c, bool is_scaled);
/* The quotient of `numerator` and `denominator` in the special cases, with its sign in all; of 32 and 64 bits also
 * where it is too small for any number but zero; else `quotient`. */
double divide_fixup(double quotient, double denominator, double numerator);
float divide_fixup_f32(float quotient, float denominator, float numerator);
double divide_fixup_f64(double quotient, double denominator, double numerator);

#endif

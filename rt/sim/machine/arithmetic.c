/* SPDX-License-Identifier: MIT */
/* The instructions that division by floats is made of: scaling operands away from the ends of the range of exponents,
 * and putting special cases right, as the instruction-set documents define them. */
#include "rt/sim/machine/arithmetic.h"

/* Both precisions: the exponents' bias, quotients that are near the largest number, numerators that are near the
 * smallest, how far operands are scaled, and quotients below which all are zero; all as powers of two. */
typedef struct {
  int bias, large_quotient, small_numerator, scale, least_quotient;
} precision;

static const precision single = {127, 96, 23, 64, -150}, twice = {1023, 768, 53, 128, -1075};

/* The biased exponent as the hardware reads it: 0 for zeros and denormals. */
static int biased(double value, const precision *p) {
  int exponent = binary_exponent(value) - 1 + p->bias;
  return value == 0 || exponent < 0 ? 0 : exponent;
}

static bool is_denormal(double value, const precision *p) {
  return value != 0 && fabs(value) < ldexp(1, 1 - p->bias);
}

/* The documents also name reciprocals of denominators that are denormal as numbers of 64 bits, which those of 32 bits
 * never are; of numbers of 64 bits, the branch would scale what is large already, and quotients would be wrong. */
static double divide_scale(double scaled, double denominator, double numerator, bool *flag, const precision *p) {
  int difference = biased(numerator, p) - biased(denominator, p);
  *flag = false;
  if (denominator == 0 || numerator == 0)
    return (double)NAN;
  if (difference >= p->large_quotient) {
    *flag = true;
    return scaled == denominator ? ldexp(scaled, p->scale) : scaled;
  }
  if (is_denormal(denominator, p))
    return ldexp(scaled, p->scale);
  if (is_denormal(numerator / denominator, p)) {
    *flag = true;
    return scaled == numerator ? ldexp(scaled, p->scale) : scaled;
  }
  return biased(numerator, p) <= p->small_numerator ? ldexp(scaled, p->scale) : scaled;
}

float divide_scale_f32(float scaled, float denominator, float numerator, bool *flag) {
  return (float)divide_scale((double)scaled, (double)denominator, (double)numerator, flag, &single);
}

double divide_scale_f64(double scaled, double denominator, double numerator, bool *flag) {
  return divide_scale(scaled, denominator, numerator, flag, &twice);
}

/* Quotients are scaled down where they would have been too large, and up where they would have been too small. */
static int back(double quotient, const precision *p) {
  return biased(quotient, p) > p->bias ? p->scale : -p->scale;
}

float divide_fmas_f32(float a, float b, float c, bool is_scaled) {
  if (!is_scaled)
    return fmaf(a, b, c);
  return (float)ldexp(fma((double)a, (double)b, (double)c), back((double)c, &single));
}

double divide_fmas_f64(double a, double b, double c, bool is_scaled) {
  if (!is_scaled)
    return fma(a, b, c);
  return (double)ldexpl(fmal((long double)a, (long double)b, (long double)c), back(c, &twice));
}

/* The product is exact. The error of the sum decides its last bit: with that odd, rounding it again is as good as
 * rounding what is exact. */
uint16_t multiply_add_bfloats(float a, float b, float c) {
  double product = (double)a * (double)b, sum = product + (double)c;
  double part = sum - product, error = (product - (sum - part)) + ((double)c - part);
  if (isfinite(sum) && error != 0 && (put_F64(sum) & 1) == 0)
    sum = nextafter(sum, error > 0 ? (double)INFINITY : -(double)INFINITY);
  float near = (float)sum;
  if (isfinite(sum) && isfinite(near) && (double)near != sum && (put_F32(near) & 1) == 0)
    near = nextafterf(near, (double)near < sum ? INFINITY : -INFINITY);
  return bfloat_bits(near);
}

double minimum(double a, double b) {
  if (isnan(a) || isnan(b))
    return a + b;
  if (a == b)
    return signbit(a) ? a : b;
  return a < b ? a : b;
}

double minimum_number(double a, double b) {
  if (isnan(a))
    return b;
  return isnan(b) ? a : minimum(a, b);
}

double maximum_number(double a, double b) {
  return -minimum_number(-a, -b);
}

double median_number(double a, double b, double c) {
  return maximum_number(minimum_number(a, b), minimum_number(maximum_number(a, b), c));
}

double divide_fixup(double quotient, double denominator, double numerator) {
  bool is_negative = (signbit(denominator) != 0) != (signbit(numerator) != 0);
  double infinity = is_negative ? -(double)INFINITY : (double)INFINITY;
  if (numerator != numerator || denominator != denominator)
    return (double)NAN;
  if ((numerator == 0 && denominator == 0) || (isinf(numerator) && isinf(denominator)))
    return (double)NAN;
  bool is_too_large = quotient != quotient;
  if (denominator == 0 || isinf(numerator) || (is_too_large && !isinf(denominator) && numerator != 0))
    return infinity;
  if (isinf(denominator) || numerator == 0)
    return is_negative ? -0.0 : 0.0;
  return is_negative ? -fabs(quotient) : fabs(quotient);
}

/* Whether a quotient is less than half of the smallest denormal. */
static bool is_too_small(double denominator, double numerator, const precision *p) {
  return isfinite(denominator) && isfinite(numerator) &&
         biased(numerator, p) - biased(denominator, p) < p->least_quotient;
}

float divide_fixup_f32(float quotient, float denominator, float numerator) {
  double below = (double)denominator, above = (double)numerator;
  return (float)divide_fixup(is_too_small(below, above, &single) ? 0 : (double)quotient, below, above);
}

double divide_fixup_f64(double quotient, double denominator, double numerator) {
  bool is_zero = is_too_small(denominator, numerator, &twice);
  return divide_fixup(is_zero ? 0 : quotient, denominator, numerator);
}

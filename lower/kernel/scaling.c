/* SPDX-License-Identifier: MIT */
/* The arithmetic of copies.
 *
 * Integers stay integers where scale and bias are: what remains of the result are its low bits, as in every
 * conversion of integers. All other arithmetic is that of a float type, with one rounding. */
#include "lower/kernel/scaling.h"

#include <math.h>
#include <string.h>

static bool is_float(tj_dtype dtype) {
  return tj_dtype_class_of(dtype) == TJ_CLASS_FLOAT;
}

/* Floats of 32 bits, but for elements of 64 bits, and for integers that these do not hold on their way to integers.
 */
static tj_dtype float_arithmetic(tj_dtype from, tj_dtype to) {
  uint32_t widest = tj_dtype_bits(from) > tj_dtype_bits(to) ? tj_dtype_bits(from) : tj_dtype_bits(to);
  uint32_t most = is_float(from) || is_float(to) ? 32 : 16;
  return widest > most ? TJ_DTYPE_f64 : TJ_DTYPE_f32;
}

static tj_dtype arithmetic_of(const tj_kernel_definition *definition, tj_dtype from, tj_dtype to) {
  bool all_integers = !is_float(from) && !is_float(to) && definition->scale.is_integer && definition->bias.is_integer;
  return all_integers ? TJ_DTYPE_i64 : float_arithmetic(from, to);
}

static uint64_t bits_of_float(tj_graph *graph, const char *name, double value) {
  float nearest = (float)value;
  if (!isfinite(nearest) || (nearest == 0 && value != 0))
    tj_fail(graph->job, TJ_SCALING_RANGE, "%s: f32, in which the elements are scaled, does not hold %g", name, value);
  uint32_t bits;
  memcpy(&bits, &nearest, sizeof bits);
  return bits;
}

static uint64_t bits_of_number(tj_graph *graph, const char *name, const tj_number *number, tj_dtype dtype) {
  if (dtype == TJ_DTYPE_i64)
    return (uint64_t)number->integer;
  if (dtype == TJ_DTYPE_f32)
    return bits_of_float(graph, name, number->real);
  uint64_t bits;
  memcpy(&bits, &number->real, sizeof bits);
  return bits;
}

static bool is_integer(const tj_number *number, int64_t value) {
  return number->is_integer && number->integer == value;
}

tj_scaling tj_scaling_make(tj_graph *graph, const tj_kernel_definition *definition, const tj_kernel *kernel) {
  tj_dtype from = kernel->buffer[definition->source].dtype, to = kernel->buffer[definition->destination].dtype;
  if (is_integer(&definition->scale, 1) && is_integer(&definition->bias, 0))
    return (tj_scaling){.when = TJ_SCALED_NEVER};
  graph->job->here = definition->body_span;
  if (tj_dtype_class_of(from) == TJ_CLASS_BITS || tj_dtype_class_of(to) == TJ_CLASS_BITS)
    tj_fail(graph->job, TJ_NO_CONVERSION, "raw bits cannot be scaled: from %s to %s", tj_dtype_name(from),
            tj_dtype_name(to));
  tj_dtype arithmetic = arithmetic_of(definition, from, to);
  return (tj_scaling){.when = kernel->carried == to ? TJ_SCALED_LOADING : TJ_SCALED_STORING,
                      .arithmetic = arithmetic,
                      .scale = bits_of_number(graph, "scale", &definition->scale, arithmetic),
                      .bias = bits_of_number(graph, "bias", &definition->bias, arithmetic)};
}

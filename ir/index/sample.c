/* SPDX-License-Identifier: MIT */
/* Sampling: see sample.h. What overflows, or has no value, has no sample, and refutes nothing. */
#include "ir/index/sample.h"

#include "ir/index/eval.h"

void tj_sample_constant(int64_t value, int64_t sample[]) {
  for (int i = 0; i < TJ_SAMPLE_COUNT; i++)
    sample[i] = value;
}

/* Some integer that depends on the symbol. */
static int64_t scattered(uint32_t index) {
  return (int64_t)((index + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 44);
}

/* A value in low … high for the point; a missing bound is replaced by one that is some way off. */
static int64_t chosen(int64_t low, int64_t high, int point, uint32_t index) {
  if (point == 0)
    return low;
  if (point == 1)
    return high;
  return low + (int64_t)((uint64_t)scattered(index) % ((uint64_t)high - (uint64_t)low + 1));
}

static int64_t rounded_to_multiple(int64_t value, int64_t multiple, int64_t low) {
  const int64_t rest = value % multiple;
  const int64_t below = value - (rest < 0 ? rest + multiple : rest);
  return below < low ? below + multiple : below;
}

static bool bound_at(const tj_node *bound, int point, int64_t *value) {
  if (bound != NULL)
    *value = bound->sample[point];
  return bound == NULL || (*value > INT64_MIN / 4 && *value < INT64_MAX / 4);
}

static int64_t choice_at(const tj_symbol *symbol, int point) {
  return symbol->choice[chosen(0, symbol->choice_count - 1, point, symbol->index)];
}

static int64_t symbol_at(const tj_symbol *symbol, int point) {
  if (symbol->choice_count > 0)
    return choice_at(symbol, point);
  int64_t low = 0, high = 0, divisor = 1, step;
  if (!bound_at(symbol->low, point, &low) || !bound_at(symbol->high, point, &high) ||
      !bound_at(symbol->divisor, point, &divisor) || !tj_symbol_step(symbol, divisor, &step) || step > INT64_MAX / 4)
    return TJ_NO_SAMPLE;
  const int64_t far = scattered(symbol->index) + step;
  if (symbol->low == NULL)
    low = symbol->high == NULL ? -far : high - far;
  if (symbol->high == NULL)
    high = low + 2 * far;
  if (low > high)
    return TJ_NO_SAMPLE;
  const int64_t value = rounded_to_multiple(chosen(low, high, point, symbol->index), step, low);
  return value > high ? TJ_NO_SAMPLE : value;
}

void tj_sample_symbol(const tj_symbol *symbol, int64_t sample[]) {
  for (int i = 0; i < TJ_SAMPLE_COUNT; i++)
    sample[i] = symbol_at(symbol, i);
}

void tj_sample_operation(tj_op op, const tj_node *const args[], int64_t sample[]) {
  const unsigned arity = tj_op_arity(op);
  for (int i = 0; i < TJ_SAMPLE_COUNT; i++) {
    int64_t values[3] = {0};
    bool known = true;
    for (unsigned k = 0; k < arity; k++) {
      values[k] = args[k]->sample[i];
      known &= values[k] != TJ_NO_SAMPLE;
    }
    if (!known || tj_eval_operation(op, values, &sample[i]) != TJ_EVAL_OK)
      sample[i] = TJ_NO_SAMPLE;
  }
}

/* False where a sample is missing, or the sum does not fit. */
static bool form_at(const tj_linear *form, int point, int64_t *value) {
  *value = form->constant;
  for (uint32_t i = 0; i < form->count; i++) {
    int64_t product = form->term[i].coefficient;
    for (uint32_t k = 0; k < form->term[i].degree; k++) {
      const int64_t sample = form->term[i].atom[k]->sample[point];
      if (sample == TJ_NO_SAMPLE || __builtin_mul_overflow(product, sample, &product))
        return false;
    }
    if (__builtin_add_overflow(*value, product, value))
      return false;
  }
  return true;
}

bool tj_sampled_negative(const tj_linear *form) {
  for (int i = 0; i < TJ_SAMPLE_COUNT; i++) {
    int64_t value;
    if (form_at(form, i, &value) && value < 0)
      return true;
  }
  return false;
}

/* SPDX-License-Identifier: MIT */
/* Parameters of a launch: given, or taken from shapes; checked against their facts; the plan's expressions, evaluated
 * with them. */
#include "launch/api/launch.h"

#include <inttypes.h>
#include <string.h>

/* --- facts --- */

int64_t tj_launch_evaluate(tj_launch *launch, tj_expression expression) {
  const tj_launch_value *result = &launch->result[expression];
  if (result->status != TJ_EVAL_OK)
    tj_fail_eval(&launch->job, result->status);
  return result->value;
}

/* A bound or the multiple of a parameter; false where there is none, or others decide it that have no value yet.
 * Without values, only constants are known. */
static bool known_bound(tj_launch *launch, tj_expression bound, bool has_values, int64_t *value) {
  if (bound == TJ_NO_EXPRESSION)
    return false;
  const tj_launch_step *step = &tj_plan_of(launch)->step[bound];
  if (step->op == TJ_OP_CONSTANT) {
    *value = step->value;
    return true;
  }
  if (!has_values || launch->result[bound].status == TJ_EVAL_UNBOUND)
    return false;
  *value = tj_launch_evaluate(launch, bound);
  return true;
}

static void check_facts(tj_launch *launch, uint32_t number, int64_t value, bool has_values) {
  const tj_launch_parameter *parameter = &tj_plan_of(launch)->parameter[number];
  int64_t low = value, high = value, multiple = 1;
  (void)known_bound(launch, parameter->low, has_values, &low);
  (void)known_bound(launch, parameter->high, has_values, &high);
  (void)known_bound(launch, parameter->multiple, has_values, &multiple);
  if (value < low || value > high)
    tj_fail(&launch->job, TJ_PARAMETER_RANGE, "'%s' = %" PRId64 " is outside its declared range", parameter->name,
            value);
  if (!tj_launch_parameter_lists(parameter, value))
    tj_fail(&launch->job, TJ_PARAMETER_RANGE, "'%s' = %" PRId64 " is not %s", parameter->name, value,
            tj_integers_text(&launch->job, parameter->choice, parameter->choice_count, " or "));
  if (multiple < 1 || value % multiple != 0)
    tj_fail(&launch->job, TJ_PARAMETER_RANGE, "'%s' = %" PRId64 " is no multiple of %" PRId64, parameter->name, value,
            multiple);
}

/* --- parameters --- */

static void bind_parameter(tj_launch *launch, uint32_t number, int64_t value) {
  launch->value[number] = value;
  launch->bound[number] = true;
  launch->is_resolved = launch->is_race_free = false;
}

/* The number of a parameter that may be given: any of the program that is not fixed, also one that this kernel does
 * not use. */
static uint32_t find_open(tj_launch *launch, const char *name) {
  const tj_launch_plan *plan = tj_plan_of(launch);
  uint32_t i = 0;
  while (i < plan->parameter_count && strcmp(plan->parameter[i].name, name) != 0)
    i++;
  if (i == plan->parameter_count)
    tj_fail(&launch->job, TJ_UNKNOWN_PARAMETER, "the program has no parameter '%s'", name);
  if (plan->parameter[i].is_fixed)
    tj_fail(&launch->job, TJ_UNKNOWN_PARAMETER, "parameter '%s' is fixed at compile time", name);
  return i;
}

/* The bits of a number as a float of so many; it is given as either, rounded once. */
static int64_t bits_of_number(double number, float single, uint8_t bits) {
  int64_t wide;
  int32_t narrow;
  memcpy(&wide, &number, sizeof wide);
  memcpy(&narrow, &single, sizeof narrow);
  return bits == 64 ? wide : narrow;
}

static void set_parameter(tj_job *job, void *data) {
  (void)job;
  const tj_launch_request *r = data;
  uint32_t number = find_open(r->launch, r->name);
  uint8_t bits = tj_plan_of(r->launch)->parameter[number].number_bits;
  int64_t value = bits == 0 ? r->value : bits_of_number((double)r->value, (float)r->value, bits);
  if (bits == 0)
    check_facts(r->launch, number, value, false);
  bind_parameter(r->launch, number, value);
  r->launch->given[number] = true;
}

static void set_number(tj_job *job, void *data) {
  const tj_launch_request *r = data;
  uint32_t number = find_open(r->launch, r->name);
  uint8_t bits = tj_plan_of(r->launch)->parameter[number].number_bits;
  if (bits == 0)
    tj_fail(job, TJ_PARAMETER_RANGE, "'%s' is an integer of 64 bits", r->name);
  bind_parameter(r->launch, number, bits_of_number(r->number, (float)r->number, bits));
  r->launch->given[number] = true;
}

tj_status tj_launch_set_number(tj_launch *launch, const char *name, double number) {
  return tj_launch_perform(launch, set_number, (tj_launch_request){.name = name, .number = number});
}

tj_status tj_launch_set_parameter(tj_launch *launch, const char *name, int64_t value) {
  return tj_launch_perform(launch, set_parameter, (tj_launch_request){.name = name, .value = value});
}

/* --- shapes --- */

/* Whether an argument's shape says the value of a parameter that is not given: as its length `mode`. */
static bool says_parameter(const tj_launch *launch, uint32_t buffer, const tj_told_shape *shape, uint32_t mode,
                           uint32_t *parameter) {
  const tj_launch_buffer *of = &tj_plan_of(launch)->buffer[buffer];
  if (shape->length == NULL || !of->is_row_major || of->rank != shape->rank)
    return false;
  const tj_launch_step *extent = &tj_plan_of(launch)->step[of->extent[mode]];
  if (!tj_launch_is_parameter(tj_plan_of(launch), extent) || launch->given[extent->parameter])
    return false;
  *parameter = extent->parameter;
  return true;
}

/* A length of an array, and the parameter that it is. */
typedef struct {
  uint32_t buffer, parameter;
  int64_t length;
} saying;

/* What an array says of a parameter that is not what another says; false where they agree. */
static bool contradicts(const tj_launch *launch, uint32_t buffer, const tj_told_shape *shape, const saying *other,
                        saying *found) {
  for (uint32_t i = 0; i < tj_plan_of(launch)->buffer[buffer].rank; i++) {
    found->buffer = buffer;
    if (says_parameter(launch, buffer, shape, i, &found->parameter) && found->parameter == other->parameter &&
        shape->length[i] != other->length) {
      found->length = shape->length[i];
      return true;
    }
  }
  return false;
}

/* Shapes of earlier runs give way; those that are told for one run must agree. */
static void check_saying(tj_launch *launch, const tj_told_shape *told, const saying *is) {
  const tj_launch_plan *plan = tj_plan_of(launch);
  saying other;
  check_facts(launch, is->parameter, is->length, false);
  for (uint32_t i = 0; i < plan->buffer_count; i++) {
    const tj_told_shape *shape = i == is->buffer ? told : &launch->shape[i];
    if (!shape->has_run && contradicts(launch, i, shape, is, &other))
      tj_fail(&launch->job, TJ_ARRAY_SHAPE,
              "'%s' is %" PRId64 " by the shape of '%s', and %" PRId64 " by that of '%s'",
              plan->parameter[is->parameter].name, other.length, plan->buffer[i].name, is->length,
              plan->buffer[is->buffer].name);
  }
}

static void forget_earlier(tj_launch *launch, const saying *is) {
  saying other;
  for (uint32_t i = 0; i < tj_plan_of(launch)->buffer_count; i++) {
    if (contradicts(launch, i, &launch->shape[i], is, &other))
      launch->shape[i].length = NULL;
  }
}

/* What was taken from shapes is taken anew. */
static void forget_lengths(tj_launch *launch) {
  for (uint32_t i = 0; i < tj_plan_of(launch)->parameter_count; i++)
    launch->bound[i] = launch->given[i];
  launch->is_resolved = launch->is_race_free = false;
}

static void check_lengths(tj_job *job, const tj_launch_request *r) {
  for (size_t i = 0; i < r->rank; i++) {
    if (r->length[i] < 0)
      tj_fail(job, TJ_ARRAY_SHAPE, "the array of '%s' has a length of %" PRId64, r->name, r->length[i]);
  }
}

static void set_shape(tj_job *job, void *data) {
  const tj_launch_request *r = data;
  tj_launch *launch = r->launch;
  saying is = {.buffer = tj_launch_find_buffer(launch, r->name)};
  tj_told_shape told = launch->shape[is.buffer];
  uint32_t rank = tj_plan_of(launch)->buffer[is.buffer].rank;
  check_lengths(job, r);
  told.length = tj_arena_copy(&job->arena, r->length, r->rank * sizeof *r->length);
  told.rank = r->rank;
  told.has_run = false;
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t i = 0; i < rank; i++) {
      if (!says_parameter(launch, is.buffer, &told, i, &is.parameter))
        continue;
      is.length = told.length[i];
      if (pass == 0)
        check_saying(launch, &told, &is);
      else
        forget_earlier(launch, &is);
    }
  }
  launch->shape[is.buffer] = told;
  forget_lengths(launch);
}

tj_status tj_launch_set_shape(tj_launch *launch, const char *argument, const int64_t shape[], size_t rank) {
  return tj_launch_perform(launch, set_shape, (tj_launch_request){.name = argument, .length = shape, .rank = rank});
}

/* Takes parameters that are not given from an array's shape. */
static void infer_from(tj_launch *launch, uint32_t buffer) {
  const tj_told_shape *shape = &launch->shape[buffer];
  uint32_t parameter;
  for (uint32_t i = 0; i < tj_plan_of(launch)->buffer[buffer].rank; i++) {
    if (says_parameter(launch, buffer, shape, i, &parameter) && !launch->bound[parameter])
      bind_parameter(launch, parameter, shape->length[i]);
  }
}

static _Noreturn void fail_missing(tj_launch *launch, const tj_launch_parameter *parameter) {
  const bool is_number = parameter->number_bits != 0;
  if (is_number)
    tj_note(&launch->job, "give it with tj_launch_set_number");
  tj_fail(&launch->job, TJ_MISSING_PARAMETER, "%s '%s' has no value", is_number ? "number" : "parameter",
          parameter->name);
}

void tj_launch_resolve(tj_launch *launch) {
  const tj_launch_plan *plan = tj_plan_of(launch);
  for (uint32_t i = 0; i < plan->buffer_count; i++)
    infer_from(launch, i);
  if (launch->is_resolved)
    return;
  for (uint32_t i = 0; i < plan->passed_count; i++) {
    if (!launch->bound[i])
      fail_missing(launch, &plan->parameter[i]);
  }
  tj_launch_plan_evaluate(plan, launch->value, launch->bound, launch->result);
  for (uint32_t i = 0; i < plan->parameter_count; i++) {
    if (launch->bound[i])
      check_facts(launch, i, launch->value[i], true);
  }
  launch->is_resolved = true;
}

/* SPDX-License-Identifier: MIT */
/* Values are tried in a fixed order, by the numbers of the launch plan alone: the same kernel has the same examples
 * everywhere. */
#include "jit/inspect/example.h"

#include "launch/image/found_race.h"

#include <inttypes.h>
#include <string.h>

enum { LARGEST_SIZE = 1 << 12, LONG = 1 << 9, LONGEST = 1 << 17, SHORT = 8, MOST_LESSENED = 6, MOST_ROUNDS = 4 };

typedef struct {
  tj_job *job;
  const tj_launch_plan *plan;
  uint32_t variant;
  bool *is_given; /* by parameter */
  uint32_t open;  /* how many are not */
  bool *bound;    /* all are */
  int64_t *value;
  tj_launch_value *result; /* of the plan's steps */
  int64_t most_elements;
} search;

/* --- what is given --- */

static uint32_t find_parameter(tj_job *job, const tj_launch_plan *plan, const char *name) {
  for (uint32_t i = 0; i < plan->parameter_count; i++) {
    if (strcmp(plan->parameter[i].name, name) == 0)
      return i;
  }
  tj_fail(job, TJ_UNKNOWN_PARAMETER, "the program has no parameter '%s'", name);
}

void tj_require_number(tj_job *job, const tj_launch_plan *plan, const char *name) {
  if (plan->parameter[find_parameter(job, plan, name)].number_bits == 0)
    tj_fail(job, TJ_PARAMETER_RANGE, "'%s' is an integer of 64 bits", name);
}

static void give(search *s, const tj_parameter_value *given) {
  uint32_t number = find_parameter(s->job, s->plan, given->name);
  if (s->plan->parameter[number].is_fixed)
    tj_fail(s->job, TJ_UNKNOWN_PARAMETER, "parameter '%s' is fixed at compile time", given->name);
  s->value[number] = given->value;
  s->is_given[number] = true;
}

/* Numbers of the launch decide nothing. */
static void give_numbers(search *s) {
  const float single = TJ_EXAMPLE_NUMBER;
  const double twice = TJ_EXAMPLE_NUMBER;
  for (uint32_t i = 0; i < s->plan->parameter_count; i++) {
    uint8_t bits = s->plan->parameter[i].number_bits;
    s->is_given[i] = bits > 0;
    if (bits > 0)
      memcpy(&s->value[i], bits == 64 ? (const void *)&twice : &single, bits / 8);
  }
}

/* --- ranges --- */

/* A bound, or `otherwise` where there is none. */
static int64_t bound_of(const search *s, tj_expression bound, int64_t otherwise) {
  return bound != TJ_NO_EXPRESSION && s->result[bound].status == TJ_EVAL_OK ? s->result[bound].value : otherwise;
}

typedef struct {
  int64_t low, high; /* multiples of what the parameter has to be a multiple of */
} range;

static int64_t multiple_of(const search *s, uint32_t number) {
  int64_t multiple = bound_of(s, s->plan->parameter[number].multiple, 1);
  return multiple > 0 ? multiple : 1;
}

/* Ranges without multiples, or of no 64 bits, become such that nothing in them is allowed. */
static range range_of(const search *s, uint32_t number) {
  const tj_launch_parameter *parameter = &s->plan->parameter[number];
  int64_t multiple = multiple_of(s, number);
  range r = {bound_of(s, parameter->low, INT64_MIN / 2), bound_of(s, parameter->high, INT64_MAX / 2)};
  int64_t low = r.low - r.low % multiple, high = r.high - r.high % multiple;
  if (__builtin_add_overflow(low, r.low % multiple > 0 ? multiple : 0, &low) ||
      __builtin_sub_overflow(high, r.high % multiple < 0 ? multiple : 0, &high))
    return r;
  return (range){low, high};
}

static void evaluate(search *s) {
  tj_launch_plan_evaluate(s->plan, s->value, s->bound, s->result);
}

/* The value nearest to one that is wanted, where a parameter's values are listed. */
static int64_t nearest_choice(const tj_launch_parameter *parameter, int64_t value) {
  for (uint32_t i = 0; i < parameter->choice_count; i++) {
    if (parameter->choice[i] >= value)
      return parameter->choice[i];
  }
  return parameter->choice_count > 0 ? parameter->choice[parameter->choice_count - 1] : value;
}

/* Brings parameters into their ranges, which depend on others. */
static void settle(search *s) {
  bool is_settled = false;
  for (uint32_t round = 0; round < MOST_ROUNDS && !is_settled; round++) {
    is_settled = true;
    evaluate(s);
    for (uint32_t i = 0; i < s->plan->parameter_count; i++) {
      range allowed = range_of(s, i);
      int64_t value = s->value[i] - s->value[i] % multiple_of(s, i);
      value = value > allowed.high ? allowed.high : value;
      value = value < allowed.low ? allowed.low : value;
      value = nearest_choice(&s->plan->parameter[i], value);
      is_settled = is_settled && (s->is_given[i] || value == s->value[i]);
      s->value[i] = s->is_given[i] ? s->value[i] : value;
    }
  }
}

static bool is_allowed(const search *s, uint32_t number) {
  const tj_launch_parameter *parameter = &s->plan->parameter[number];
  int64_t value = s->value[number];
  return parameter->is_fixed ||
         (value >= bound_of(s, parameter->low, value) && value <= bound_of(s, parameter->high, value) &&
          value % multiple_of(s, number) == 0 && tj_launch_parameter_lists(parameter, value));
}

static void check_given(search *s) {
  evaluate(s);
  for (uint32_t i = 0; i < s->plan->parameter_count; i++) {
    if (s->is_given[i] && !is_allowed(s, i))
      tj_fail(s->job, TJ_PARAMETER_RANGE,
              "'%s' = %" PRId64 " is outside its declared range or values, or no multiple of %" PRId64,
              s->plan->parameter[i].name, s->value[i], multiple_of(s, i));
  }
}

/* --- trying --- */

static bool are_allowed(const search *s) {
  for (uint32_t i = 0; i < s->plan->parameter_count; i++) {
    if (!is_allowed(s, i))
      return false;
  }
  return true;
}

static bool has_room(const search *s) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < s->plan->buffer_count; i++) {
    const tj_launch_value *elements = &s->result[s->plan->buffer[i].element_count];
    if (elements->status != TJ_EVAL_OK || __builtin_add_overflow(sum, elements->value, &sum))
      return false;
  }
  return sum <= s->most_elements;
}

static bool has_race(const search *s) {
  int64_t first[TJ_RACE_MODES], second[TJ_RACE_MODES];
  return s->plan->race != NULL && tj_launch_race_decide(s->plan->race, s->result, first, second) == TJ_RACE_FOUND;
}

/* Buffers are aligned as every variant asks. */
static bool is_taken(const search *s) {
  uint32_t number = 0;
  while (number < s->plan->variant_count && !tj_launch_plan_allows(&s->plan->variant[number], s->result))
    number++;
  return number == s->variant;
}

static bool is_example(search *s) {
  settle(s);
  evaluate(s);
  return are_allowed(s) && has_room(s) && !has_race(s) && is_taken(s);
}

/* `lessened`: of which parameters that are not given the value is one less. */
static void set_size(search *s, int64_t size, uint32_t lessened) {
  uint32_t number = 0;
  for (uint32_t i = 0; i < s->plan->parameter_count; i++) {
    if (s->is_given[i])
      continue;
    s->value[i] = size - (number < MOST_LESSENED ? lessened >> number & 1 : 0);
    number++;
  }
}

static bool try_size(search *s, int64_t size) {
  uint32_t ways = 1u << (s->open < MOST_LESSENED ? s->open : MOST_LESSENED);
  for (uint32_t lessened = 0; lessened < ways; lessened++) {
    set_size(s, size, lessened);
    if (is_example(s))
      return true;
  }
  return false;
}

/* One parameter is large, all others are small. */
static bool try_long(search *s, int64_t size) {
  for (uint32_t i = 0; i < s->plan->parameter_count; i++) {
    if (s->is_given[i])
      continue;
    set_size(s, SHORT, 0);
    s->value[i] = size;
    if (is_example(s))
      return true;
  }
  return false;
}

static bool find(search *s) {
  for (int64_t size = LARGEST_SIZE; size > 0; size /= 2) {
    if (try_size(s, size))
      return true;
  }
  s->most_elements = INT64_MAX;
  for (int64_t size = LONG; size <= LONGEST; size *= 2) {
    if (try_long(s, size))
      return true;
  }
  for (int64_t size = 1; size <= LARGEST_SIZE; size *= 2) {
    if (try_size(s, size))
      return true;
  }
  return false;
}

/* With values for all parameters, those that are given and others. */
static search begin(tj_job *job, const tj_launch_plan *plan, uint32_t variant, const tj_parameter_value given[],
                    size_t given_count) {
  search s = {.job = job, .plan = plan, .variant = variant, .most_elements = TJ_EXAMPLE_ELEMENTS};
  s.is_given = TJ_NEW_ARRAY(job, bool, plan->parameter_count + 1);
  s.bound = TJ_NEW_ARRAY(job, bool, plan->parameter_count + 1);
  s.value = TJ_NEW_ARRAY(job, int64_t, plan->parameter_count + 1);
  s.result = TJ_NEW_ARRAY(job, tj_launch_value, plan->step_count + 1);
  for (uint32_t i = 0; i < plan->parameter_count; i++)
    s.bound[i] = true;
  give_numbers(&s);
  for (size_t i = 0; i < given_count; i++)
    give(&s, &given[i]);
  for (uint32_t i = 0; i < plan->parameter_count; i++)
    s.open += s.is_given[i] || plan->parameter[i].is_fixed ? 0 : 1;
  set_size(&s, 1, 0);
  settle(&s);
  check_given(&s);
  return s;
}

const int64_t *tj_example_of(tj_job *job, const tj_launch_plan *plan, uint32_t variant,
                             const tj_parameter_value given[], size_t given_count) {
  search s = begin(job, plan, variant, given, given_count);
  return find(&s) ? s.value : NULL;
}

tj_race_verdict tj_race_at(tj_job *job, const tj_launch_plan *plan, const tj_parameter_value given[],
                           size_t given_count, const char **text) {
  search s = begin(job, plan, 0, given, given_count);
  evaluate(&s);
  return tj_launch_race_found(job, plan, s.result, text);
}

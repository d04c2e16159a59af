/* SPDX-License-Identifier: MIT */
/* Names of words, from the steps of a plan alone. */
#include "launch/image/launch_plan_text.h"

#include <ctype.h>
#include <inttypes.h>

enum { MOST_OPERATIONS = 4 };

static const char *const op_text[] = {
#define OP(name, arity, text, kind, doc) text,
#include "base/number/op.def"
#undef OP
};

/* Whether an expression, written in full, has no more than `left` operations; takes them away. */
static bool is_short(const tj_launch_plan *plan, tj_expression expression, unsigned *left) {
  const tj_launch_step *step = &plan->step[expression];
  unsigned arity = tj_op_arity(step->op);
  if (arity == 0)
    return true;
  if (*left == 0)
    return false;
  *left -= 1;
  bool is_fine = true;
  for (unsigned i = 0; is_fine && i < arity; i++)
    is_fine = is_short(plan, step->arg[i], left);
  return is_fine;
}

static void write_expression(tj_text *text, const tj_launch_plan *plan, tj_expression expression, bool is_operand);

/* min(a, b) */
static void write_call(tj_text *text, const tj_launch_plan *plan, const tj_launch_step *step) {
  tj_text_string(text, op_text[step->op]);
  for (unsigned i = 0; i < tj_op_arity(step->op); i++) {
    tj_text_string(text, i == 0 ? "(" : ", ");
    write_expression(text, plan, step->arg[i], false);
  }
  tj_text_char(text, ')');
}

/* a + b, in parentheses where it is an operand itself. */
static void write_infix(tj_text *text, const tj_launch_plan *plan, const tj_launch_step *step, bool is_operand) {
  tj_text_string(text, is_operand ? "(" : "");
  write_expression(text, plan, step->arg[0], true);
  tj_text_format(text, " %s ", op_text[step->op]);
  write_expression(text, plan, step->arg[1], true);
  tj_text_string(text, is_operand ? ")" : "");
}

/* items(m), log(m): what is chosen along mode m; or whether the tile is worth it. */
static void write_choice(tj_text *text, const tj_launch_plan *plan, const tj_launch_step *step) {
  uint32_t number = tj_launch_number(plan, step), of = number % TJ_TILE_NUMBERS;
  const tj_tile *tile = &plan->tile[number / TJ_TILE_NUMBERS].tile;
  if (of < 2 * TJ_TILE_AXES)
    tj_text_format(text, "%s(%" PRIu32 ")", of < TJ_TILE_AXES ? "items" : "log", tile->axis[of % TJ_TILE_AXES]);
  else
    tj_text_string(text, "worth");
}

static void write_expression(tj_text *text, const tj_launch_plan *plan, tj_expression expression, bool is_operand) {
  const tj_launch_step *step = &plan->step[expression];
  if (step->op == TJ_OP_CONSTANT)
    tj_text_integer(text, step->value);
  else if (tj_launch_is_parameter(plan, step))
    tj_text_string(text, plan->parameter[step->parameter].name);
  else if (step->op == TJ_OP_SYMBOL)
    write_choice(text, plan, step);
  else if (isalpha((unsigned char)op_text[step->op][0]))
    write_call(text, plan, step);
  else
    write_infix(text, plan, step, is_operand);
}

/* What comes before a number that is chosen by it. */
static void mark_inputs(const tj_launch_plan *plan, uint32_t step, bool is_used[]) {
  const tj_launch_tile *tile = &plan->tile[tj_launch_number(plan, &plan->step[step]) / TJ_TILE_NUMBERS];
  for (uint32_t i = 0; i < TJ_TILE_INPUTS; i++) {
    if (tj_launch_has_input(&tile->tile, i) && tile->input[i] < step)
      is_used[tile->input[i]] = true;
  }
}

/* value(M, N): the parameters that it is made of. */
static void write_parameters(tj_text *text, const tj_launch_plan *plan, tj_expression expression) {
  bool *is_used = TJ_NEW_ARRAY(text->job, bool, (size_t)expression + 1);
  bool *is_named = TJ_NEW_ARRAY(text->job, bool, plan->parameter_count + 1);
  is_used[expression] = true;
  for (uint32_t i = expression + 1; i-- > 0;) {
    const tj_launch_step *step = &plan->step[i];
    for (unsigned k = 0; is_used[i] && k < tj_op_arity(step->op); k++)
      is_used[step->arg[k]] = true;
    if (is_used[i] && tj_launch_is_parameter(plan, step))
      is_named[step->parameter] = true;
    else if (is_used[i] && step->op == TJ_OP_SYMBOL)
      mark_inputs(plan, i, is_used);
  }
  const char *before = "value(";
  for (uint32_t i = 0; i < plan->parameter_count; i++) {
    if (is_named[i])
      tj_text_format(text, "%s%s", before, plan->parameter[i].name);
    before = is_named[i] ? ", " : before;
  }
  tj_text_char(text, ')');
}

static void write_value(tj_text *text, const tj_launch_plan *plan, tj_expression expression) {
  unsigned left = MOST_OPERATIONS;
  if (is_short(plan, expression, &left))
    write_expression(text, plan, expression, false);
  else
    write_parameters(text, plan, expression);
}

static const char *derived_name(tj_job *job, const tj_launch_plan *plan, const tj_launch_word *word) {
  static const char *const function[] = {
      [TJ_DERIVED_VALUE] = "",          [TJ_DERIVED_MAGIC31] = "magic31", [TJ_DERIVED_MAGIC32] = "magic32",
      [TJ_DERIVED_MAGIC64] = "magic64", [TJ_DERIVED_SHIFT64] = "shift64",
  };
  bool is_value = word->derived == TJ_DERIVED_VALUE;
  tj_text text = tj_text_begin(job);
  tj_text_format(&text, "%s%s", function[word->derived], is_value ? "" : "(");
  write_value(&text, plan, word->of);
  tj_text_string(&text, is_value ? "" : ")");
  return text.data;
}

const char *tj_launch_word_name(tj_job *job, const tj_launch_plan *plan, const tj_launch_word *word) {
  switch (word->kind) {
  case TJ_WORD_BUFFER:
    return plan->buffer[word->of].name;
  case TJ_WORD_PARAMETER:
    return plan->parameter[word->of].name;
  case TJ_WORD_DERIVED:
    return derived_name(job, plan, word);
  case TJ_WORD_SCRATCH:
    return "scratch";
  case TJ_WORD_KIND_COUNT:
    break;
  }
  return "";
}

/* SPDX-License-Identifier: MIT */
/* Which sums go with another reduction, and what they are made of. */
#include "lower/array/array_online.h"

#include <float.h>

/* --- which they are --- */

static bool is_of_exponentials(const tj_array *sum) {
  const tj_array *power = sum->arg[0];
  if (sum->op != TJ_ARRAY_SUM || power->op != TJ_ARRAY_exp || power->arg[0]->op != TJ_ARRAY_sub)
    return false;
  const tj_array *of = power->arg[0]->arg[0], *largest = power->arg[0]->arg[1];
  return largest->op == TJ_ARRAY_LARGEST && largest->arg[0] == of && largest->modes == sum->modes &&
         largest->dtype == sum->dtype && power->dtype == sum->dtype;
}

static bool is_sum_of(const tj_array *array, const tj_array *of, const tj_array *like) {
  return array->op == TJ_ARRAY_SUM && array->arg[0] == of && array->modes == like->modes &&
         array->dtype == like->dtype;
}

/* sum(a), where m is made of it and of no other reduction but those that a is made of; NULL: it is not so. */
static const tj_array *sum_within(const tj_array_space *space, const tj_array *m, const tj_array *a,
                                  const tj_array *like) {
  const tj_array_program *program = space->arrays->program;
  const bool *is_part = tj_array_parts(space->graph, program, m),
             *is_inside = tj_array_parts(space->graph, program, a);
  const tj_array *sum = NULL;
  for (uint32_t i = 0; i <= m->number; i++) {
    if (!is_part[i] || is_inside[i] || !tj_array_is_reduction(program->array[i]->op))
      continue;
    if (!is_sum_of(program->array[i], a, like))
      return NULL;
    sum = program->array[i];
  }
  return sum;
}

/* The sum(a) that a sum of squared differences goes with; NULL: it is none, or that goes with another one. */
static const tj_array *goes_with(const tj_array_space *space, const tj_array *sum) {
  const tj_array *square = sum->arg[0];
  if (sum->op != TJ_ARRAY_SUM || square->op != TJ_ARRAY_mul || square->arg[0] != square->arg[1] ||
      square->arg[0]->op != TJ_ARRAY_sub || square->dtype != sum->dtype)
    return NULL;
  const tj_array *a = square->arg[0]->arg[0], *m = square->arg[0]->arg[1];
  if ((tj_array_varies(space, m) & tj_array_axis_modes(&space->columns)) != 0)
    return NULL;
  const tj_array *with = sum_within(space, m, a, sum);
  return with != NULL && space->online[with->number] == NULL ? with : NULL;
}

/* --- what they are made of --- */

typedef struct {
  tj_graph *graph;
  tj_array_program *program;
  tj_dtype dtype;
} maker;

static const tj_array *apply(const maker *m, tj_array_op op, const tj_array *a, const tj_array *b) {
  return tj_array_apply(m->graph, m->program, op, (const tj_array *[]){a, b});
}

static const tj_array *new_number(const maker *m, const char *name) {
  const tj_node *symbol =
      tj_symbol_create(m->graph, name, TJ_SYMBOL_COORDINATE, tj_int(m->graph, 0), tj_int(m->graph, 1), 1);
  return tj_array_scalar(m->graph, m->program, symbol, m->dtype);
}

static tj_array_online *new_online(const maker *m, const tj_array *of, const tj_array *with) {
  tj_array_online *online = TJ_NEW(m->graph->job, tj_array_online);
  online->of = of;
  online->with = with;
  online->before = new_number(m, "before");
  online->now = new_number(m, "now");
  return online;
}

static tj_array_online *make_exponentials(const maker *m, const tj_array *sum) {
  const tj_array *of = sum->arg[0]->arg[0]->arg[0];
  tj_array_online *online = new_online(m, of, sum->arg[0]->arg[0]->arg[1]);
  online->centre = online->with;
  online->least = tj_array_number(m->graph, m->program, m->dtype == TJ_DTYPE_f64 ? -DBL_MAX : (double)-FLT_MAX);
  online->scale = apply(m, TJ_ARRAY_LOW_EXP, apply(m, TJ_ARRAY_sub, online->before, online->now), NULL);
  online->term = apply(m, TJ_ARRAY_LOW_EXP, apply(m, TJ_ARRAY_sub, of, online->now), NULL);
  online->rest = apply(m, TJ_ARRAY_sub, online->with, online->with);
  return online;
}

static const tj_array_deviation *make_deviation(const maker *m, const tj_array_online *online) {
  tj_array_deviation *made = TJ_NEW(m->graph->job, tj_array_deviation);
  const tj_array *one = tj_array_number(m->graph, m->program, 1), *two = tj_array_number(m->graph, m->program, 2);
  made->all = new_number(m, "all");
  made->met = new_number(m, "met");
  made->mean = apply(m, TJ_ARRAY_div, made->all, apply(m, TJ_ARRAY_max, made->met, one));
  made->share = new_number(m, "share");
  made->step = new_number(m, "step");
  made->grown = apply(m, TJ_ARRAY_sub, online->now, online->before);
  made->weight = new_number(m, "weight");
  made->weighed = apply(m, TJ_ARRAY_mul, made->step, apply(m, TJ_ARRAY_mul, made->met, made->share));
  made->squares = new_number(m, "squares");
  made->differences = new_number(m, "differences");
  const tj_array *twice = apply(m, TJ_ARRAY_mul, two, made->differences);
  const tj_array *more = apply(m, TJ_ARRAY_mul, made->step, apply(m, TJ_ARRAY_sub, made->weight, twice));
  made->moved_squares = apply(m, TJ_ARRAY_add, made->squares, more);
  made->moved_differences = apply(m, TJ_ARRAY_sub, made->differences, made->weight);
  made->difference = apply(m, TJ_ARRAY_sub, online->of, online->now);
  return made;
}

static tj_array_online *make_squares(const maker *m, const tj_array *sum, const tj_array *with) {
  const tj_array *difference = sum->arg[0]->arg[0];
  tj_array_online *online = new_online(m, difference->arg[0], with);
  online->centre = difference->arg[1];
  online->least = sum->arg[1];
  online->deviation = make_deviation(m, online);
  online->term = apply(m, TJ_ARRAY_mul, online->deviation->difference, online->deviation->difference);
  return online;
}

void tj_array_find_online(tj_array_space *space) {
  enum { MOST_OF_ONE = 32 /* arrays */ };
  tj_graph *graph = space->graph;
  tj_array_kernel *arrays = tj_arena_copy(&graph->job->arena, space->arrays, sizeof *arrays);
  tj_array_program *program = tj_arena_copy(&graph->job->arena, arrays->program, sizeof *program);
  const tj_array **all = TJ_NEW_ARRAY(graph->job, const tj_array *, TJ_ARRAY_MOST);
  uint32_t count = program->count;
  for (uint32_t i = 0; i < count; i++)
    all[i] = program->array[i];
  program->array = all;
  space->online = TJ_NEW_ARRAY(graph->job, const tj_array_online *, TJ_ARRAY_MOST);
  for (uint32_t i = 0; i < count && program->count + MOST_OF_ONE <= TJ_ARRAY_MOST; i++) {
    const maker m = {graph, program, all[i]->dtype};
    const tj_array *with = goes_with(space, all[i]);
    if (is_of_exponentials(all[i]))
      space->online[i] = make_exponentials(&m, all[i]);
    else if (with != NULL)
      space->online[i] = make_squares(&m, all[i], with);
  }
  arrays->program = program;
  space->arrays = arrays;
}

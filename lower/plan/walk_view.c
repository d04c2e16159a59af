/* SPDX-License-Identifier: MIT */
/* Walks: the changes of hidden indices from the top down, as ir/view/move.c makes them for one step, but for all
 * steps at once.
 *
 * A change is a sum of amounts, each added on trips that meet its condition; amounts depend on parameters alone. What
 * has no such form is unknown: its index, and all that is made of it, is an expression of other indices. A merge
 * takes the amounts one after the other, through all of its digits; beyond a limit its digits count as unknown.
 * Symbols are carried for any index that somebody asks for; the loop forgets those that turn out to be of no use. */
#include "lower/plan/walk_view.h"

#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "ir/view/advance.h"
#include "ir/view/move.h"

#include "base/text.h"

/* A change has so many terms at most, one that a merge has to take fewer: each term costs a comparison for each
 * digit, until dividing is cheaper. */
enum { MOST_TERMS = 24, MOST_TERMS_OF_MERGE = 3 };

typedef struct {
  const tj_node *when; /* a truth of what the loop carries; NULL: always */
  const tj_node *amount;
} term;

typedef struct {
  term *term; /* of different conditions, no amount 0 */
  uint32_t count;
  bool is_unknown;
} change;

/* All arrays by hidden dimension. */
typedef struct {
  tj_graph *graph;
  tj_loop *loop;
  const tj_view *view;
  const tj_node *const *initial; /* before the first trip */
  const tj_node *const *reach;   /* on any trip: for facts only */
  const tj_node **now;           /* expressions of what is carried; NULL: nobody has asked yet */
  change *change;
} walker;

/* --- changes --- */

static void add_term(walker *w, change *to, const tj_node *when, const tj_node *amount) {
  uint32_t i = 0;
  if (tj_is_int(amount, 0))
    return;
  while (i < to->count && to->term[i].when != when)
    i++;
  if (i < to->count) {
    to->term[i].amount = tj_simplified(w->graph, tj_terse_add(w->graph, to->term[i].amount, amount));
    if (tj_is_int(to->term[i].amount, 0))
      to->term[i] = to->term[--to->count];
    return;
  }
  if (to->count == MOST_TERMS) {
    to->is_unknown = true;
    return;
  }
  if (to->term == NULL)
    to->term = TJ_NEW_ARRAY(w->graph->job, term, MOST_TERMS);
  to->term[to->count++] = (term){when, amount};
}

static const tj_node *where(walker *w, const tj_node *when, const tj_node *amount) {
  return when == NULL ? amount : tj_select(w->graph, when, amount, tj_int(w->graph, 0));
}

/* --- what is carried --- */

static tj_carried *carry(walker *w, uint32_t id) {
  const char *name = tj_string_format(w->graph->job, id == 0 ? "at" : "h%u", id);
  tj_carried *carried = tj_loop_carry_like(w->graph, w->loop, name, w->reach[id]);
  carried->symbol = tj_hidden_symbol(w->graph, w->view, id, name, w->reach[id]);
  carried->initial = w->initial[id];
  w->now[id] = carried->symbol;
  return carried;
}

/* The index on this trip. */
static const tj_node *now(walker *w, uint32_t id) {
  const change *moved = &w->change[id];
  if (w->now[id] == NULL && moved->count == 0)
    w->now[id] = w->initial[id];
  if (w->now[id] != NULL)
    return w->now[id];
  tj_carried *carried = carry(w, id);
  const tj_node *next = carried->symbol;
  for (uint32_t i = 0; i < moved->count; i++)
    next = tj_terse_add(w->graph, next, where(w, moved->term[i].when, moved->term[i].amount));
  carried->next = next;
  return carried->symbol;
}

/* --- stages --- */

static bool is_any_unknown(const walker *w, const tj_stage *stage) {
  for (uint32_t i = 0; i < stage->transform->upper_count; i++) {
    if (w->change[stage->upper_id[i]].is_unknown)
      return true;
  }
  return false;
}

static bool is_still(const walker *w, const tj_stage *stage) {
  for (uint32_t i = 0; i < stage->transform->upper_count; i++) {
    const change *moved = &w->change[stage->upper_id[i]];
    if (moved->is_unknown || moved->count > 0)
      return false;
  }
  return true;
}

/* The lower indices are what the transform makes of the upper ones, on each trip anew. */
static void compute(walker *w, const tj_stage *stage) {
  const tj_node *upper[TJ_MAX_DIMENSIONS], *lower[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < stage->transform->upper_count; i++)
    upper[i] = now(w, stage->upper_id[i]);
  tj_transform_lower(w->graph, stage->transform, upper, lower);
  for (uint32_t i = 0; i < stage->transform->lower_count; i++) {
    uint32_t id = stage->lower_id[i];
    w->now[id] = lower[i];
    w->change[id] = (change){.is_unknown = true};
  }
}

/* Adds what the lower indices change by, on trips that meet a condition. */
static void add_linear(walker *w, const tj_stage *stage, const tj_node *when) {
  const tj_node *step[TJ_MAX_DIMENSIONS], *moved[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < stage->transform->upper_count; i++) {
    const change *upper = &w->change[stage->upper_id[i]];
    step[i] = tj_int(w->graph, 0);
    for (uint32_t k = 0; k < upper->count; k++) {
      if (upper->term[k].when == when)
        step[i] = upper->term[k].amount;
    }
  }
  tj_transform_linear_change(w->graph, stage->transform, step, moved);
  for (uint32_t i = 0; i < stage->transform->lower_count; i++)
    add_term(w, &w->change[stage->lower_id[i]], when, tj_simplified(w->graph, moved[i]));
}

/* Whether an upper index before number `before` changes on that condition. */
static bool is_known_condition(const walker *w, const tj_stage *stage, uint32_t before, const tj_node *when) {
  for (uint32_t i = 0; i < before; i++) {
    const change *upper = &w->change[stage->upper_id[i]];
    for (uint32_t k = 0; k < upper->count; k++) {
      if (upper->term[k].when == when)
        return true;
    }
  }
  return false;
}

static void move_linear(walker *w, const tj_stage *stage) {
  for (uint32_t i = 0; i < stage->transform->upper_count; i++) {
    const change *upper = &w->change[stage->upper_id[i]];
    for (uint32_t k = 0; k < upper->count; k++) {
      if (!is_known_condition(w, stage, i, upper->term[k].when))
        add_linear(w, stage, upper->term[k].when);
    }
  }
}

/* --- digits --- */

enum { NO_DIMENSION = UINT32_MAX };

/* A mixed-radix number whose last digit is the fastest, and whose first has no limit. */
typedef struct {
  const tj_node *length[TJ_MAX_DIMENSIONS]; /* from 1 on */
  uint32_t id[TJ_MAX_DIMENSIONS];           /* hidden dimensions; [0] may be NO_DIMENSION */
  tj_carried *carried[TJ_MAX_DIMENSIONS];   /* NULL: none, so far */
  const tj_node *value[TJ_MAX_DIMENSIONS];  /* of those that are carried, as far as the number has been advanced */
  change moved[TJ_MAX_DIMENSIONS];
  uint32_t count;
} digits;

static digits digits_of(const tj_stage *stage) {
  const tj_transform *transform = stage->transform;
  if (transform->kind == TJ_TRANSFORM_MODULO)
    return (digits){.length = {NULL, transform->amount[0]}, .id = {NO_DIMENSION, stage->lower_id[0]}, .count = 2};
  digits made = {.count = transform->lower_count};
  for (uint32_t i = 0; i < transform->lower_count; i++) {
    made.length[i] = transform->lower_length[i];
    made.id[i] = stage->lower_id[i];
  }
  return made;
}

static const tj_node *value_of_digit(walker *w, digits *number, uint32_t d) {
  if (number->carried[d] == NULL) {
    number->carried[d] = carry(w, number->id[d]);
    number->value[d] = number->carried[d]->symbol;
  }
  return number->value[d];
}

/* Adds `amount` and a carry to a digit, where the condition is met. Returns the carry out of it. */
static const tj_node *advance_digit(walker *w, digits *number, uint32_t d, term by, const tj_node *carry_in) {
  tj_graph *graph = w->graph;
  const tj_node *length = number->length[d];
  const tj_node *sum = tj_terse_add(graph, value_of_digit(w, number, d), where(w, by.when, by.amount));
  if (carry_in != NULL)
    sum = tj_terse_add(graph, sum, where(w, carry_in, tj_int(graph, 1)));
  const tj_node *is_within = tj_less(graph, sum, length), *carry_out = tj_not(graph, is_within);
  number->value[d] = tj_select(graph, is_within, sum, tj_sub(graph, sum, length));
  add_term(w, &number->moved[d], carry_out, tj_terse_sub(graph, tj_int(graph, 0), length));
  return carry_out;
}

/* Adds an amount to the number. Digits of 1 stay 0, and pass carries on. */
static void advance(walker *w, digits *number, term by) {
  tj_graph *graph = w->graph;
  const tj_node *rest = by.amount, *carried = NULL;
  for (uint32_t d = number->count; d-- > 0;) {
    const tj_node *digit = d > 0 ? tj_simplified(graph, tj_terse_mod(graph, rest, number->length[d])) : rest;
    rest = d > 0 ? tj_simplified(graph, tj_terse_div(graph, rest, number->length[d])) : NULL;
    bool stays = tj_is_int(digit, 0) && carried == NULL;
    if (stays || (d > 0 && tj_is_int(number->length[d], 1)))
      continue;
    add_term(w, &number->moved[d], by.when, digit);
    if (carried != NULL)
      add_term(w, &number->moved[d], carried, tj_int(graph, 1));
    if (d > 0)
      carried = advance_digit(w, number, d, (term){by.when, digit}, carried);
  }
}

static void finish_digits(walker *w, digits *number) {
  for (uint32_t d = 0; d < number->count; d++) {
    if (number->carried[d] != NULL)
      number->carried[d]->next = number->value[d];
    if (number->id[d] != NO_DIMENSION)
      w->change[number->id[d]] = number->moved[d];
  }
}

static bool has_digits(tj_transform_kind kind) {
  return kind == TJ_TRANSFORM_MERGE || kind == TJ_TRANSFORM_MODULO;
}

/* A merge, or a modulo, whose upper index changes by known amounts. */
static void move_digits(walker *w, const tj_stage *stage) {
  const change *upper = &w->change[stage->upper_id[0]];
  digits number = digits_of(stage);
  for (uint32_t i = 0; i < upper->count; i++)
    advance(w, &number, upper->term[i]);
  finish_digits(w, &number);
}

/* Whether there were too many terms. */
static bool is_any_lower_unknown(const walker *w, const tj_stage *stage) {
  for (uint32_t i = 0; i < stage->transform->lower_count; i++) {
    if (w->change[stage->lower_id[i]].is_unknown)
      return true;
  }
  return false;
}

/* Whether the lower indices have come to change by known amounts. */
static bool try_moving(walker *w, const tj_stage *stage) {
  tj_transform_kind kind = stage->transform->kind;
  if (is_any_unknown(w, stage))
    return false;
  if (tj_transform_is_linear(kind))
    move_linear(w, stage);
  else if (has_digits(kind) && w->change[stage->upper_id[0]].count <= MOST_TERMS_OF_MERGE)
    move_digits(w, stage);
  else
    return false;
  return !is_any_lower_unknown(w, stage);
}

static void move_stage(walker *w, const tj_stage *stage) {
  if (!is_still(w, stage) && !try_moving(w, stage))
    compute(w, stage);
}

/* --- walks --- */

static const tj_node **along(tj_graph *graph, const tj_view_walk *walk, const tj_node *const from[],
                             const tj_node *counter) {
  const tj_node **at = TJ_NEW_ARRAY(graph->job, const tj_node *, walk->view->rank + 1);
  for (uint32_t i = 0; i < walk->view->rank; i++)
    at[i] = tj_terse_add(graph, from[i], tj_terse_mul(graph, counter, walk->step[i]));
  return at;
}

tj_walked tj_walk_view(tj_graph *graph, tj_loop *loop, const tj_view_walk *walk) {
  const tj_view *view = walk->view;
  walker w = {.graph = graph, .loop = loop, .view = view};
  w.initial = tj_cursor_at(graph, view, walk->start).index;
  w.reach = tj_view_reach(graph, view, walk->box, walk->step, loop->counter);
  w.now = TJ_NEW_ARRAY(graph->job, const tj_node *, view->hidden_count);
  w.change = TJ_NEW_ARRAY(graph->job, change, view->hidden_count);
  for (uint32_t i = 0; i < view->rank; i++)
    add_term(&w, &w.change[view->visible[i]], NULL, walk->step[i]);
  for (uint32_t s = view->stage_count; s-- > 0;)
    move_stage(&w, &view->stage[s]);
  for (uint32_t id = 0; id < view->hidden_count; id++)
    now(&w, id);
  tj_cursor cursor = {view, w.now};
  return (tj_walked){tj_cursor_offset(graph, &cursor), tj_cursor_valid(graph, &cursor)};
}

tj_walked tj_walk_directly(tj_graph *graph, const tj_loop *loop, const tj_view_walk *walk) {
  tj_cursor cursor = tj_cursor_at(graph, walk->view, along(graph, walk, walk->start, loop->counter));
  return (tj_walked){tj_cursor_offset(graph, &cursor), tj_cursor_valid(graph, &cursor)};
}

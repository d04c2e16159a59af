/* SPDX-License-Identifier: MIT */
/* Invalid coordinates as boxes: bounds read off the predicate, or its values run together. */
#include "ir/value/validity.h"

#include "ir/index/eval.h"
#include "ir/index/linear.h"
#include "ir/index/walk.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_POINTS = 1 << 24, MOST_PARTS = 256 };

/* A map's domain, and its predicate simplified. */
typedef struct {
  tj_graph *graph;
  const tj_tuple *const *symbol; /* by leaf */
  const tj_tuple *const *extent;
  uint32_t rank;
  const tj_node *valid;
  const tj_tuple *domain;
} domain;

static domain domain_of(tj_graph *graph, const tj_map *map) {
  domain d = {.graph = graph, .domain = map->domain};
  d.symbol = tj_tuple_leaves(graph, map->input, &d.rank);
  d.extent = tj_tuple_leaves(graph, map->domain, &d.rank);
  d.valid = map->valid == NULL ? tj_int(graph, 1) : tj_simplified(graph, map->valid);
  return d;
}

static tj_box new_box(const domain *d) {
  tj_box box = {TJ_NEW_ARRAY(d->graph->job, const tj_node *, d->rank + 1),
                TJ_NEW_ARRAY(d->graph->job, const tj_node *, d->rank + 1), d->rank};
  for (uint32_t i = 0; i < d->rank; i++) {
    box.begin[i] = tj_int(d->graph, 0);
    box.end[i] = d->extent[i]->value;
  }
  return box;
}

static tj_box copy_box(const domain *d, const tj_box *box) {
  tj_box copy = new_box(d);
  memcpy(copy.begin, box->begin, d->rank * sizeof *copy.begin);
  memcpy(copy.end, box->end, d->rank * sizeof *copy.end);
  return copy;
}

const tj_tuple *tj_box_corner(tj_graph *graph, const tj_tuple *of, const tj_node *const corner[]) {
  uint32_t rank = tj_tuple_leaf_count(of);
  const tj_tuple **leaves = TJ_NEW_ARRAY(graph->job, const tj_tuple *, rank + 1);
  for (uint32_t i = 0; i < rank; i++)
    leaves[i] = tj_tuple_integer(graph, corner[i]);
  return tj_tuple_from_leaves(graph, of, leaves);
}

/* --- bounds of each dimension --- */

/* Marks the dimensions whose coordinates a node depends on; returns how many. */
static uint32_t mark_dimensions(const domain *d, const tj_node *node, bool used[]) {
  tj_walk walk = tj_walk_nodes(d->graph, &node, 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < d->rank; i++) {
    used[i] = false;
    for (uint32_t n = 0; n < walk.count && !used[i]; n++)
      used[i] = walk.node[n] == d->symbol[i]->value;
    count += used[i] ? 1 : 0;
  }
  return count;
}

/* The one term of a form that is a multiple of the coordinate `symbol` alone; -1 where other terms mention it. */
static int64_t find_term(const domain *d, const tj_linear *form, const tj_node *symbol) {
  int64_t found = -1;
  for (uint32_t t = 0; t < form->count; t++) {
    const tj_term *term = &form->term[t];
    bool is_multiple = term->degree == 1 && term->atom[0] == symbol;
    tj_walk walk = tj_walk_nodes(d->graph, term->atom, term->degree);
    for (uint32_t n = 0; n < walk.count && !is_multiple; n++)
      if (walk.node[n] == symbol)
        return -1;
    found = is_multiple ? (int64_t)t : found;
  }
  return found;
}

/* Narrows a dimension by coefficient * i + rest >= 0. */
static void narrow(const domain *d, tj_box *box, uint32_t dimension, int64_t coefficient, const tj_node *rest) {
  tj_graph *graph = d->graph;
  const tj_node **begin = &box->begin[dimension], **end = &box->end[dimension];
  if (coefficient > 0) {
    const tj_node *low = tj_ceil_div(graph, tj_terse_mul(graph, tj_int(graph, -1), rest), tj_int(graph, coefficient));
    *begin = tj_simplified(graph, tj_max(graph, *begin, low));
  } else {
    const tj_node *high = tj_terse_div(graph, rest, tj_int(graph, -coefficient));
    *end = tj_simplified(graph, tj_min(graph, *end, tj_terse_add(graph, high, tj_int(graph, 1))));
  }
}

/* a < b, where it bounds one dimension by what depends on none. */
static bool narrow_by_less(const domain *d, tj_box *box, const tj_node *less) {
  bool *used = TJ_NEW_ARRAY(d->graph->job, bool, d->rank + 1);
  if (mark_dimensions(d, less, used) != 1)
    return false;
  uint32_t dimension = 0;
  while (!used[dimension])
    dimension++;
  tj_sum sum = tj_sum_of(-1);
  tj_sum_add(&sum, tj_linear_of(d->graph, less->arg[1]), 1);
  tj_sum_add(&sum, tj_linear_of(d->graph, less->arg[0]), -1);
  if (sum.failed)
    return false;
  tj_linear form = tj_sum_form(&sum);
  int64_t place = find_term(d, &form, d->symbol[dimension]->value);
  if (place < 0)
    return false;
  tj_term term = form.term[place];
  tj_sum_add_term(&sum, &term, -1);
  const tj_node *rest = tj_sum_node(d->graph, &sum);
  if (rest == NULL || term.coefficient == INT64_MIN)
    return false;
  narrow(d, box, dimension, term.coefficient, rest);
  return true;
}

/* Each part of a conjunction; false where one is no bound of one dimension. */
static bool narrow_by(const domain *d, tj_box *box, const tj_node *valid) {
  const tj_node *open[MOST_PARTS] = {valid};
  for (uint32_t count = 1; count > 0;) {
    const tj_node *part = open[--count];
    if (part->op == TJ_OP_AND && count + 2 > MOST_PARTS)
      return false;
    if (part->op == TJ_OP_AND) {
      open[count++] = part->arg[0];
      open[count++] = part->arg[1];
    } else if (!tj_is_int(part, 1) && !(part->op == TJ_OP_LESS && narrow_by_less(d, box, part))) {
      return false;
    }
  }
  return true;
}

/* True also where the box is empty, as long as that is certain; a domain of no dimensions has no empty box. */
static bool box_of(const domain *d, tj_box *box) {
  *box = new_box(d);
  if (tj_is_int(d->valid, 0) && d->rank > 0) {
    for (uint32_t i = 0; i < d->rank; i++)
      box->end[i] = box->begin[i];
    return true;
  }
  if (!narrow_by(d, box, d->valid))
    return false;
  for (uint32_t i = 0; i < d->rank; i++) {
    if (tj_decide_less_equal(d->graph, box->begin[i], box->end[i]) != TJ_YES)
      return false;
  }
  return true;
}

bool tj_valid_box(tj_graph *graph, const tj_map *map, tj_box *box) {
  domain d = domain_of(graph, map);
  return box_of(&d, box);
}

/* --- boxes around a box --- */

static const tj_node *volume(const domain *d, const tj_box *box) {
  const tj_node *product = tj_int(d->graph, 1);
  for (uint32_t i = 0; i < d->rank; i++)
    product = tj_terse_mul(d->graph, product, tj_terse_sub(d->graph, box->end[i], box->begin[i]));
  return tj_simplified(d->graph, product);
}

static bool is_empty(const domain *d, const tj_box *box) {
  for (uint32_t i = 0; i < d->rank; i++) {
    if (tj_decide_equal(d->graph, box->begin[i], box->end[i]) == TJ_YES)
      return true;
  }
  return false;
}

static void add_box(const domain *d, tj_invalid_set *set, tj_box *boxes, const tj_box *box) {
  if (is_empty(d, box))
    return;
  if (set->box_count < TJ_MOST_BOXES)
    boxes[set->box_count++] = *box;
  else
    set->is_complete = false;
}

/* In each dimension what lies before and behind the valid box, with the dimensions before it inside. */
static tj_invalid_set surround(const domain *d, const tj_box *valid) {
  tj_box *boxes = TJ_NEW_ARRAY(d->graph->job, tj_box, TJ_MOST_BOXES), whole = new_box(d), rest = whole;
  tj_invalid_set set = {.box = boxes, .is_complete = true, .domain = d->domain};
  set.count = tj_simplified(d->graph, tj_terse_sub(d->graph, volume(d, &whole), volume(d, valid)));
  if (is_empty(d, valid)) {
    add_box(d, &set, boxes, &whole);
    return set;
  }
  for (uint32_t i = 0; i < d->rank; i++) {
    tj_box before = copy_box(d, &rest), behind = copy_box(d, &rest);
    before.end[i] = valid->begin[i];
    behind.begin[i] = valid->end[i];
    add_box(d, &set, boxes, &before);
    add_box(d, &set, boxes, &behind);
    rest = copy_box(d, &rest);
    rest.begin[i] = valid->begin[i];
    rest.end[i] = valid->end[i];
  }
  return set;
}

/* --- boxes of values --- */

/* The predicate over the dimensions that it depends on, row-major. */
typedef struct {
  const domain *d;
  uint32_t dimension[TJ_MAX_DIMENSIONS];
  int64_t extent[TJ_MAX_DIMENSIONS];
  uint32_t rank;
  int64_t size;
  uint8_t *is_invalid;
  int64_t invalid_count;
} grid;

static void open_grid(const domain *d, grid *g) {
  bool *used = TJ_NEW_ARRAY(d->graph->job, bool, d->rank + 1);
  *g = (grid){.d = d, .size = 1};
  mark_dimensions(d, d->valid, used);
  for (uint32_t i = 0; i < d->rank; i++) {
    if (!used[i])
      continue;
    if (g->rank == TJ_MAX_DIMENSIONS)
      tj_fail(d->graph->job, TJ_WORK_LIMIT, "a predicate of more than %d dimensions", TJ_MAX_DIMENSIONS);
    g->dimension[g->rank] = i;
    g->extent[g->rank] = tj_constant_value(d->graph, d->extent[i]->value, "the domain of a predicate");
    if (__builtin_mul_overflow(g->size, g->extent[g->rank++], &g->size) || g->size > MOST_POINTS)
      tj_fail(d->graph->job, TJ_TABLE_LIMIT, "the predicate depends on more than %d coordinates", MOST_POINTS);
  }
}

/* The predicate must depend on coordinates alone. */
static void check_constant(const domain *d) {
  tj_walk walk = tj_walk_nodes(d->graph, &d->valid, 1);
  for (uint32_t n = 0; n < walk.count; n++) {
    const tj_node *node = walk.node[n];
    if (node->op == TJ_OP_SYMBOL && node->symbol->kind == TJ_SYMBOL_PARAMETER)
      tj_fail(d->graph->job, TJ_NEEDS_FACT, "which coordinates are invalid depends on the parameter %s",
              node->symbol->name);
  }
}

/* False where the predicate has no value somewhere. */
static bool fill_grid(grid *g, tj_evaluator *evaluator, int64_t value[]) {
  const domain *d = g->d;
  tj_bindings bindings = {value, NULL, d->graph->symbol_count};
  for (int64_t n = 0; n < g->size; n++) {
    int64_t rest = n, valid = 0;
    for (uint32_t i = g->rank; i-- > 0; rest /= g->extent[i])
      value[d->symbol[g->dimension[i]]->value->symbol->index] = rest % g->extent[i];
    if (tj_evaluator_run(evaluator, &bindings, &valid) != TJ_EVAL_OK)
      return false;
    g->is_invalid[n] = valid == 0;
    g->invalid_count += valid == 0 ? 1 : 0;
  }
  return true;
}

static void evaluate_grid(grid *g) {
  tj_job *job = g->d->graph->job;
  tj_evaluator *evaluator;
  int64_t *value = TJ_NEW_ARRAY(job, int64_t, g->d->graph->symbol_count + 1);
  g->is_invalid = TJ_NEW_ARRAY(job, uint8_t, (size_t)g->size + 1);
  tj_spend(job, (uint64_t)g->size);
  if (tj_evaluator_create(&g->d->valid, 1, &evaluator) != TJ_EVAL_OK)
    tj_fail_out_of_memory(job);
  bool filled = fill_grid(g, evaluator, value);
  tj_evaluator_destroy(evaluator);
  if (!filled)
    tj_fail(job, TJ_INTEGER_OVERFLOW, "a predicate does not fit in 64 bits");
}

/* Runs of equal slabs of one dimension, each run split in the dimensions after it. `size` is that of `slab`. */
static void add_runs(const grid *g, tj_invalid_set *set, tj_box *boxes, const tj_box *around, uint32_t depth,
                     const uint8_t *slab, int64_t size) {
  const domain *d = g->d;
  if (memchr(slab, 1, (size_t)size) == NULL)
    return;
  if (depth == g->rank) {
    tj_box box = copy_box(d, around);
    add_box(d, set, boxes, &box);
    return;
  }
  int64_t extent = g->extent[depth], step = size / extent;
  for (int64_t first = 0, end; first < extent && set->is_complete; first = end) {
    for (end = first + 1; end < extent; end++)
      if (memcmp(slab + first * step, slab + end * step, (size_t)step) != 0)
        break;
    tj_box run = copy_box(d, around);
    run.begin[g->dimension[depth]] = tj_int(d->graph, first);
    run.end[g->dimension[depth]] = tj_int(d->graph, end);
    add_runs(g, set, boxes, &run, depth + 1, slab + first * step, step);
  }
}

static tj_invalid_set enumerate(const domain *d) {
  grid g;
  check_constant(d);
  open_grid(d, &g);
  evaluate_grid(&g);
  tj_box *boxes = TJ_NEW_ARRAY(d->graph->job, tj_box, TJ_MOST_BOXES), whole = new_box(d);
  tj_invalid_set set = {.box = boxes, .is_complete = true, .domain = d->domain};
  add_runs(&g, &set, boxes, &whole, 0, g.is_invalid, g.size);
  const tj_node *all = tj_terse_div(d->graph, volume(d, &whole), tj_int(d->graph, g.size));
  set.count = tj_simplified(d->graph, tj_terse_mul(d->graph, all, tj_int(d->graph, g.invalid_count)));
  return set;
}

tj_invalid_set tj_invalid_set_of(tj_graph *graph, const tj_map *map) {
  domain d = domain_of(graph, map);
  tj_box valid;
  return box_of(&d, &valid) ? surround(&d, &valid) : enumerate(&d);
}

/* SPDX-License-Identifier: MIT */
/* The variants of a kernel of arrays, and kernels behind them.
 *
 * Rows whose length is a parameter have a kernel for every length, and others for tiers of lengths that stay in
 * registers, or in LDS, whose vectors are whole; and where there may be few long ones, kernels one behind the other
 * that split them. On the host, what is large and stored by whole vectors bypasses the
 * caches where the buffers are aligned. */
#include "lower/rows/array_map.h"

#include "ir/index/facts.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "lower/array/array_cuts.h"
#include "lower/array/array_lines.h"
#include "lower/array/array_mapping.h"
#include "lower/array/array_online.h"
#include "lower/array/array_staged.h"
#include "lower/blocks/blocks.h"
#include "lower/kernel/alignment.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/kernel/variant.h"
#include "lower/mapping/mapped.h"
#include "lower/rows/array_rows.h"
#include "lower/rows/array_split.h"

typedef struct {
  tj_graph *graph;
  const tj_kernel *written;
  const tj_target *target;
  const tj_array_space *space;
  const tj_array_cuts *cuts; /* where masks change; NULL: nowhere, or that is not known */
  tj_kernel *last;           /* the fastest yet */
  tj_kernel *cut;            /* of lanes that begin again where masks change; NULL: there is none */
  const tj_node *is_long;    /* truth: it is worth it */
} array_map;

/* --- what is assumed --- */

static const tj_node *assumed_node(tj_graph *graph, const tj_substitution *assumed, const tj_node *node) {
  tj_substitute(graph, assumed, &node, 1);
  return tj_simplified(graph, node);
}

static void assume_in_access(tj_graph *graph, const tj_substitution *assumed, tj_access *access) {
  access->offset = assumed_node(graph, assumed, access->offset);
  access->valid = assumed_node(graph, assumed, access->valid);
}

static void assume_at_seam(tj_graph *graph, const tj_substitution *assumed, tj_array_seam *seam) {
  seam->size = assumed_node(graph, assumed, seam->size);
  seam->times = assumed_node(graph, assumed, seam->times);
}

static tj_array_stage *assumed_stages(const array_map *map, const tj_substitution *assumed) {
  tj_graph *graph = map->graph;
  const tj_array_space *from = map->space;
  if (from->stage == NULL)
    return NULL;
  tj_array_stage *stages = TJ_NEW_ARRAY(graph->job, tj_array_stage, from->argument_count + 1);
  for (uint32_t i = 0; i < from->argument_count; i++) {
    stages[i] = from->stage[i];
    stages[i].begin = assumed_node(graph, assumed, stages[i].begin);
    stages[i].length = assumed_node(graph, assumed, stages[i].length);
    if (stages[i].step != NULL)
      stages[i].step = assumed_node(graph, assumed, stages[i].step);
  }
  return stages;
}

/* The space in terms of what is assumed, with symbols of rows and columns that know of it. */
static const tj_array_space *assumed_space(const array_map *map, const tj_substitution *assumed) {
  tj_graph *graph = map->graph;
  const tj_array_space *from = map->space;
  tj_array_space *space = TJ_NEW(graph->job, tj_array_space);
  *space = *from;
  space->rows.size = assumed_node(graph, assumed, from->rows.size);
  space->columns.size = assumed_node(graph, assumed, from->columns.size);
  space->row = tj_coordinate(graph, "i", space->rows.size);
  space->column = tj_coordinate(graph, "j", space->columns.size);
  tj_substitution all = {TJ_NEW_ARRAY(graph->job, const tj_node *, assumed->count + 2),
                         TJ_NEW_ARRAY(graph->job, const tj_node *, assumed->count + 2), assumed->count + 2};
  for (uint32_t i = 0; i < assumed->count; i++) {
    all.from[i] = assumed->from[i];
    all.to[i] = assumed->to[i];
  }
  all.from[assumed->count] = from->row;
  all.to[assumed->count] = space->row;
  all.from[assumed->count + 1] = from->column;
  all.to[assumed->count + 1] = space->column;
  for (uint32_t i = 0; i < from->seam_count; i++)
    assume_at_seam(graph, assumed, &space->seam[i]);
  uint32_t rank = from->arrays->program->rank;
  space->digit = TJ_NEW_ARRAY(graph->job, const tj_node *, rank + 1);
  for (uint32_t m = 0; m < rank; m++)
    space->digit[m] = assumed_node(graph, &all, from->digit[m]);
  space->access = tj_arena_copy(&graph->job->arena, from->access, from->argument_count * sizeof *from->access);
  space->lookup = tj_arena_copy(&graph->job->arena, from->lookup, from->argument_count * sizeof *from->lookup);
  space->stage = assumed_stages(map, assumed);
  if (from->begin != NULL)
    space->begin = assumed_node(graph, &all, from->begin);
  for (uint32_t i = 0; i < from->argument_count; i++) {
    if (from->is_array[i])
      assume_in_access(graph, &all, &space->access[i]);
    if (from->lookup[i].found != NULL)
      assume_in_access(graph, &all, &space->lookup[i].access);
  }
  return space;
}

static void assume_everywhere(tj_graph *graph, tj_kernel *kernel, const tj_substitution *assumed) {
  tj_kernel_places places = tj_places_of_kernel(graph, kernel);
  for (uint32_t i = 0; i < places.count; i++)
    tj_substitute(graph, assumed, places.place[i], 1);
}

/* --- kernels --- */

/* What a kernel, or several, one behind the other, are made for. */
typedef struct {
  const tj_array_space *space;
  const tj_substitution *assumed; /* NULL: nothing is */
  tj_array_shape shape;
} making;

static tj_kernel *make(const array_map *map, const making *m, uint32_t number) {
  tj_graph *graph = map->graph;
  const tj_substitution *assumed = m->assumed;
  tj_kernel *kernel = tj_rows_make(graph, map->written, m->space, m->shape, map->target, number);
  if (map->written->copy == NULL) /* whose mappings they otherwise are */
    kernel->mapping = tj_array_mapping_of(m->space, &m->shape, map->target);
  if (assumed != NULL) {
    assume_everywhere(graph, kernel, assumed);
    kernel->parameter = tj_assumed_parameters(graph, map->written, assumed);
  }
  tj_kernel_simplify(graph, kernel, NULL);
  return kernel;
}

static void offer(array_map *map, tj_kernel *kernel, const tj_node *condition, const char *name) {
  kernel->name = name;
  map->last->faster = kernel;
  map->last->condition = tj_simplified(map->graph, condition);
  map->last = kernel;
}

/* --- streams --- */

/* Whether vectors are stored, and all of them are as aligned as they are wide. */
static bool stores_whole_vectors(const tj_kernel *kernel) {
  uint32_t vectors = 0;
  for (uint32_t i = 0; i < kernel->step_count; i++) {
    const tj_kernel_step *step = &kernel->step[i];
    if (step->kind != TJ_STEP_STORE || step->access.buffer == TJ_LDS || step->width == 1)
      continue;
    if (tj_step_alignment(kernel, step) < step->width * tj_element_bytes(kernel, step->access.buffer))
      return false;
    vectors++;
  }
  return vectors > 0;
}

/* Truth, whether what is stored is not worth caching. */
static const tj_node *is_large(const array_map *map) {
  tj_graph *graph = map->graph;
  const tj_kernel *kernel = map->written;
  const tj_node *bytes = tj_int(graph, 0);
  for (uint32_t i = 0; i < kernel->buffer_count; i++) {
    if (kernel->buffer[i].is_written && !kernel->buffer[i].is_scratch)
      bytes = tj_add(graph, bytes,
                     tj_mul(graph, kernel->buffer[i].element_count, tj_int(graph, tj_element_bytes(kernel, i))));
  }
  return tj_simplified(graph, tj_less_equal(graph, tj_int(graph, TJ_BLOCK_STREAM_BYTES), bytes));
}

/* Whoever reads what it has written does not find it in the caches. */
static bool reads_what_it_writes(const tj_kernel *kernel) {
  for (uint32_t i = 0; i < kernel->buffer_count; i++) {
    if (kernel->buffer[i].is_read && kernel->buffer[i].is_written && !kernel->buffer[i].is_scratch)
      return true;
  }
  return false;
}

static void offer_stream(array_map *map, const tj_node *condition) {
  tj_graph *graph = map->graph;
  tj_kernel *streamed = TJ_NEW(graph->job, tj_kernel);
  *streamed = *map->last;
  streamed->is_streamed = true;
  const tj_node *large = is_large(map);
  if (tj_is_int(large, 0) || reads_what_it_writes(streamed) || !stores_whole_vectors(streamed))
    return;
  offer(map, streamed, tj_and(graph, condition, large), tj_string_format(graph->job, "%s.stream", map->last->name));
}

/* --- masks --- */

/* The widest vectors whose elements are there together, of those that a kernel's lanes have side by side. */
static uint32_t untorn_width(const tj_kernel *kernel, uint32_t width) {
  bool has_inner = kernel->inner != NULL;
  const tj_kernel_step *step = has_inner ? kernel->inner_step : kernel->step;
  uint32_t count = has_inner ? kernel->inner_step_count : kernel->step_count;
  for (uint32_t i = 0; i + 1 < count; i++) {
    const tj_access *access = &step[i].access, *next = &step[i + 1].access;
    bool moves = step[i].kind == TJ_STEP_LOAD || step[i].kind == TJ_STEP_STORE;
    bool are_neighbours = moves && step[i + 1].kind == step[i].kind && next->buffer == access->buffer &&
                          next->base == access->base && next->offset == access->offset &&
                          next->displacement == access->displacement + step[i].width;
    if (are_neighbours && next->valid != access->valid && step[i].width < width)
      width = step[i].width;
  }
  return width;
}

/* Whether it matters that masks part vectors: lanes may have other columns, but what is reduced has an order, and
 * from LDS they have single elements as well. */
static bool may_tear(const array_map *map, const tj_array_shape *shape) {
  return !map->space->is_reduced && map->target->wave_size > 1 && shape->staged == 0;
}

static uint32_t width_between_masks(const array_map *map, const tj_kernel *kernel, const tj_array_shape *shape) {
  return may_tear(map, shape) ? untorn_width(kernel, shape->width) : shape->width;
}

/* The widest vectors, at most so wide, of which none is partly before a cut. */
static uint32_t width_between_cuts(const array_map *map, uint32_t width) {
  for (uint32_t i = 0; map->cuts != NULL && i < map->cuts->count; i++) {
    while (!tj_facts_divisible(&map->cuts->at[i]->facts, width))
      width /= 2;
  }
  return width;
}

/* --- tiers --- */

/* What tiers count: columns, or those before the first seam. */
static const tj_node *size_of_tiers(const array_map *map) {
  const tj_array_space *space = map->space;
  return space->seam_count > 0 ? space->seam[0].size : space->columns.size;
}

/* None: some cannot be met, or nothing is to be gained. */
static tj_demands demands_of_tier(const array_map *map, const tj_array_tier *tier) {
  tj_graph *graph = map->graph;
  const tj_array_space *space = map->space;
  const tj_demands demands = tj_demands_of_size(graph, size_of_tiers(map), tier->multiple, tier->columns);
  const tj_array_seam *seam = tj_array_returning_seam(space);
  if (tier->times == 1 || seam == NULL)
    return demands;
  const tj_demands times = tj_demands_of_size(graph, seam->times, tier->times, INT64_MAX);
  return times.count == 1 ? tj_demands_with(graph, &demands, times.demand[0]) : (tj_demands){NULL, 0};
}

/* Whether masks part vectors of rows of any length that do not go through LDS, so that the kernel of all rows is
 * better for them. Kernel NULL: it is not made yet. */
static bool is_torn(const array_map *map, const tj_array_tier *tier, const making *m, const tj_kernel *kernel) {
  uint32_t width = kernel == NULL ? width_between_cuts(map, m->shape.width) : untorn_width(kernel, m->shape.width);
  return tier->multiple == 1 && may_tear(map, &m->shape) && width < m->shape.width;
}

/* A tier's kernel, and when it is taken. */
typedef struct {
  tj_demands demands;
  bool is_choice;       /* some launches meet them, and some may not */
  const making *making; /* NULL: not known yet */
  tj_kernel *kernel;    /* NULL: it has none */
} tier_kernel;

static tier_kernel demanded(tj_demands demands) {
  const bool is_choice = demands.count > 0 && tj_can_be_met(&demands) && !tj_are_met(&demands);
  return (tier_kernel){.demands = demands, .is_choice = is_choice};
}

/* What it is made for, which is found once. */
static const making *making_of_tier(const array_map *map, tier_kernel *made) {
  if (made->making != NULL)
    return made->making;
  tj_substitution *assumed = TJ_NEW(map->graph->job, tj_substitution);
  making *m = TJ_NEW(map->graph->job, making);
  *assumed = tj_assume(map->graph, &made->demands);
  *m = (making){.space = assumed_space(map, assumed), .assumed = assumed};
  m->shape = tj_array_choose_shape(m->space, map->written, map->target);
  return made->making = m;
}

static tj_kernel *make_tier(const array_map *map, const tj_array_tier *tier, tier_kernel *made) {
  const making *m = making_of_tier(map, made);
  if (is_torn(map, tier, m, NULL))
    return NULL;
  tj_kernel *kernel = make(map, m, 0);
  return tj_kernel_fits(map->graph, kernel) && !is_torn(map, tier, m, kernel) ? kernel : NULL;
}

/* Whether all rows of a tier are of another one, too. */
static bool is_within(const array_map *map, const tj_array_tier *tier, const tj_array_tier *other) {
  bool are_multiples =
      tier->multiple % other->multiple == 0 || tj_facts_divisible(&size_of_tiers(map)->facts, other->multiple);
  return tier->columns <= other->columns && other->times == 1 && are_multiples;
}

/* Whether launches take a kernel behind that of a tier for all of its rows. */
static bool is_never_taken(const array_map *map, const tj_array_tier tier[], uint32_t number,
                           const tier_kernel made[], uint32_t count) {
  bool is_any = false;
  for (uint32_t i = number + 1; i < count && !is_any; i++)
    is_any = made[i].kernel != NULL && is_within(map, &tier[number], &tier[i]);
  return is_any;
}

/* Kernels of one program have different names. */
static const char *name_of_tier(const array_map *map, const tj_array_tier *tier) {
  const uint32_t widest = tj_array_widest(map->space, map->written, map->target);
  const bool is_line = map->target->wave_size > 1 && tier->multiple > widest;
  const char *kind = tier->multiple == 1 ? "any" : is_line ? "lines" : "rows", *name = map->written->name;
  if (tier->columns == INT64_MAX)
    return tj_string_format(map->graph->job, "%s.%s%s", name, kind, tier->times > 1 ? ".shared" : "");
  return tj_string_format(map->graph->job, "%s.%s%lld", name, kind, (long long)tier->columns);
}

static void offer_tier(array_map *map, const tj_array_tier *tier, const tier_kernel *made) {
  const tj_node *condition = tj_demands_condition(map->graph, &made->demands);
  offer(map, made->kernel, condition, name_of_tier(map, tier));
  if (map->target->wave_size == 1)
    offer_stream(map, condition);
}

/* Columns of the longest rows that launches take to kernels behind that of a tier of rows that stay in registers; its
 * own has longer ones, so that of what these have as well nothing is masked. 0: none, or nothing is to be gained. */
static int64_t columns_before(const array_map *map, const tj_array_tier tier[], uint32_t number,
                              const tier_kernel made[], uint32_t count) {
  bool stays = map->space->is_reduced && tier[number].columns != INT64_MAX && size_of_tiers(map)->op == TJ_OP_SYMBOL;
  int64_t most = 0;
  for (uint32_t i = number + 1; i < count && stays; i++) {
    const tj_array_tier shorter = {tier[i].columns, tier[number].multiple, 1};
    bool is_shorter = made[i].kernel != NULL && tier[i].columns < tier[number].columns;
    if (is_shorter && is_within(map, &shorter, &tier[i]) && tier[i].columns > most)
      most = tier[i].columns;
  }
  return most;
}

/* Whether lanes that have at least so many columns of a row have them alike in both. */
static bool are_alike(const tj_array_shape *a, const tj_array_shape *b, int64_t columns) {
  const bool are_plain = !a->loops && !b->loops && a->apart == NULL && b->apart == NULL && a->cuts == b->cuts &&
                         a->staged == 0 && b->staged == 0;
  return are_plain && a->rows == b->rows && a->lanes == b->lanes && a->width == b->width &&
         a->repeats == b->repeats && a->begins == b->begins &&
         (int64_t)a->lanes * a->width * (a->repeats - 1) <= columns;
}

/* Whether a tier of longer rows, or one of all that are as long, would have the same kernel: it takes these rows,
 * too, and masks no more of them. `before` as of columns_before. */
static bool is_superfluous(const array_map *map, const tj_array_tier tier[], uint32_t number, tier_kernel made[],
                           int64_t before) {
  const uint32_t other = number - 1;
  if (number == 0 || !map->space->is_reduced || !made[other].is_choice || tier[other].columns == INT64_MAX ||
      !is_within(map, &tier[number], &tier[other]))
    return false;
  const making *own = making_of_tier(map, &made[number]), *longer = making_of_tier(map, &made[other]);
  const bool are_all = tier[other].columns == tier[number].columns;
  return are_alike(&own->shape, &longer->shape, are_all ? INT64_MAX : before);
}

/* Kernels of the last tiers are made first. */
static void offer_tiers(array_map *map) {
  tj_array_tier tier[TJ_ARRAY_MOST_TIERS];
  tier_kernel made[TJ_ARRAY_MOST_TIERS];
  const uint32_t count = tj_array_tiers(map->space, map->written, map->target, tier);
  for (uint32_t i = 0; i < count; i++)
    made[i] = demanded(demands_of_tier(map, &tier[i]));
  for (uint32_t i = count; i-- > 0;) {
    if (!made[i].is_choice || is_never_taken(map, tier, i, made, count))
      continue;
    const int64_t before = columns_before(map, tier, i, made, count);
    if (is_superfluous(map, tier, i, made, before))
      continue;
    if (before > 0)
      made[i] = demanded(tj_demands_from(map->graph, &made[i].demands, size_of_tiers(map), before + 1));
    if (made[i].is_choice)
      made[i].kernel = make_tier(map, &tier[i], &made[i]);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (made[i].kernel != NULL)
      offer_tier(map, &tier[i], &made[i]);
  }
}

/* --- few long rows --- */

/* Kernels of this name, one behind the other; NULL where one of them is too much. */
static tj_kernel *make_split(const array_map *map, making *m, const char *name) {
  tj_graph *graph = map->graph;
  m->shape = tj_array_split_shape(m->space, map->written, map->target);
  uint32_t count = tj_rows_levels(graph, m->space, m->shape) + 1;
  tj_kernel *first = NULL, **next = &first;
  if (count > TJ_MOST_KERNELS)
    return NULL;
  for (uint32_t number = 1; number <= count; number++) {
    tj_kernel *kernel = *next = make(map, m, number);
    kernel->name = number == 1 ? name : tj_string_format(graph->job, "%s.%u", name, number);
    kernel->follows = number > 1;
    if (!tj_kernel_fits(graph, kernel))
      return NULL;
    next = &kernel->faster;
  }
  return first;
}

/* Of rows whose length is a multiple. */
static void offer_multiple(array_map *map, tj_array_split split, int64_t multiple) {
  tj_graph *graph = map->graph;
  const tj_node *rows = map->space->rows.size, *columns = map->space->columns.size;
  tj_demand demand = {columns, multiple, split.columns, INT64_MAX};
  tj_demands demands = {&demand, columns->op == TJ_OP_SYMBOL ? 1 : 0};
  if (!tj_can_be_met(&demands))
    return;
  tj_substitution assumed = tj_assume(graph, &demands);
  making m = {.space = assumed_space(map, &assumed), .assumed = &assumed};
  const char *name = tj_string_format(graph->job, "%s.split%s", map->written->name, multiple > 1 ? ".rows" : "");
  tj_kernel *kernel = make_split(map, &m, name);
  if (kernel == NULL)
    return;
  const tj_node *are_few = tj_less_equal(graph, rows, tj_int(graph, split.rows));
  const tj_node *are_long = tj_less_equal(graph, tj_int(graph, split.columns), columns);
  const tj_node *condition = tj_and(graph, tj_demands_condition(graph, &demands), tj_and(graph, are_few, are_long));
  offer(map, kernel, condition, name);
  map->last = tj_last_behind(kernel);
}

/* Where vectors need to be aligned, those of several rows that do not lie alike are only where lengths are multiples
 * of them. */
static void offer_split(array_map *map, tj_array_split split) {
  const tj_node *rows = map->space->rows.size, *columns = map->space->columns.size;
  const uint32_t widest = tj_array_widest(map->space, map->written, map->target);
  bool lie_alike = tj_array_most_begun(map->space, map->target) >= columns->facts.high;
  offer_multiple(map, split, 1);
  if (map->target->needs_aligned_vectors && columns->op == TJ_OP_SYMBOL && !tj_is_int(rows, 1) && !lie_alike &&
      !tj_facts_divisible(&columns->facts, widest))
    offer_multiple(map, split, widest);
}

/* A kernel of loops; where its columns take too many operations, because each has an offset of its own, of fewer. */
static tj_kernel *make_that_fits(const array_map *map, making *m) {
  tj_array_shape *shape = &m->shape;
  tj_kernel *kernel = make(map, m, 0);
  while (shape->loops && shape->repeats * shape->width > 1 && !tj_kernel_fits(map->graph, kernel)) {
    uint32_t *most = shape->repeats > 1 ? &shape->repeats : &shape->width;
    *most /= 2;
    kernel = make(map, m, 0);
  }
  return kernel;
}

/* Rows from so many columns on are reached for less often by vectors of each part, and one by one behind them, than
 * by narrower vectors of all. */
static int64_t least_cut(const array_map *map, const tj_array_shape *shape, uint32_t narrower) {
  int64_t parts = shape->cuts->count + 1, lanes = map->target->wave_size;
  return 2 * parts * lanes * shape->width * narrower / (shape->width - narrower);
}

/* Lanes begin again where masks change, instead of having narrower vectors, in rows that are long enough for it, as
 * the truth `*is_long` says. NULL: vectors are parted all the same, or need to be aligned. */
static tj_kernel *make_cut(const array_map *map, const making *m, uint32_t narrower, const tj_node **is_long) {
  tj_graph *graph = map->graph;
  const tj_array_space *space = map->space;
  making cut = *m;
  bool may_cut = map->target->has_unaligned_vectors && space->seam_count == 0 && m->shape.apart == NULL;
  cut.shape.cuts = may_cut ? map->cuts : NULL;
  if (cut.shape.cuts == NULL)
    return NULL;
  const tj_node *least = tj_int(graph, least_cut(map, &cut.shape, narrower));
  *is_long = tj_simplified(graph, tj_less_equal(graph, least, space->columns.size));
  tj_kernel *kernel = tj_is_int(*is_long, 0) ? NULL : make(map, &cut, 0);
  bool is_good =
      kernel != NULL && tj_kernel_fits(graph, kernel) && untorn_width(kernel, m->shape.width) == m->shape.width;
  return is_good ? kernel : NULL;
}

/* Where masks part what would be vectors. */
static tj_kernel *make_untorn(array_map *map, making *m) {
  uint32_t width = may_tear(map, &m->shape) ? width_between_cuts(map, m->shape.width) : m->shape.width;
  if (width == m->shape.width) {
    tj_kernel *kernel = make_that_fits(map, m);
    width = width_between_masks(map, kernel, &m->shape);
    if (width == m->shape.width)
      return kernel;
  }
  map->cut = make_cut(map, m, width, &map->is_long);
  if (map->cut != NULL && tj_is_int(map->is_long, 1))
    return map->cut;
  tj_array_narrow(m->space, &m->shape, width);
  return make_that_fits(map, m);
}

static tj_kernel *make_always(array_map *map, const tj_array_split *split) {
  making m = {.space = map->space};
  tj_kernel *kernel = split != NULL && split->is_sure ? make_split(map, &m, map->written->name) : NULL;
  m.shape = tj_array_choose_shape(map->space, map->written, map->target);
  return kernel != NULL ? kernel : make_untorn(map, &m);
}

static tj_kernel *make_as_given(const array_map *map) {
  tj_graph *graph = map->graph;
  making m = {.space = map->space, .shape = tj_array_shape_as_mapped(map->space, map->written, map->target)};
  tj_kernel *kernel = make(map, &m, 0);
  if (!tj_kernel_fits(graph, kernel))
    tj_fail_at(graph->job, map->written->mapped->load_span, TJ_TILE_SIZE,
               "work-items have more to do than fits in a kernel of %s", map->target->name);
  uint32_t width = width_between_masks(map, kernel, &m.shape);
  const tj_node *is_long = NULL;
  tj_kernel *cut = width < m.shape.width ? make_cut(map, &m, width, &is_long) : NULL;
  return cut != NULL && tj_is_int(is_long, 1) ? cut : kernel;
}

tj_kernel *tj_map_arrays(tj_graph *graph, const tj_kernel *written, const tj_target *target) {
  tj_array_space *space = TJ_NEW(graph->job, tj_array_space);
  *space = tj_array_space_of(graph, written, tj_array_least_columns(target));
  array_map map = {.graph = graph, .written = written, .target = target, .space = space};
  if (target->wave_size > 1) {
    tj_array_find_online(space);
    map.cuts = tj_array_find_cuts(space);
    tj_array_find_stages(space, written, map.cuts);
    if (map.cuts == NULL && space->seam_count == 0 &&
        !tj_facts_divisible(&space->columns.size->facts, tj_array_widest(space, written, target)))
      tj_array_find_begin(space);
  }
  if (written->mapped != NULL)
    return make_as_given(&map);
  tj_array_split split;
  bool may_split = tj_array_find_split(space, written, target, &split);
  if (may_split)
    map.written = tj_array_with_scratch(graph, written, target);
  tj_kernel *kernel = map.last = make_always(&map, may_split ? &split : NULL);
  if (kernel->faster != NULL)
    return kernel;
  if (target->wave_size == 1)
    offer_stream(&map, tj_int(graph, 1));
  if (map.cut != NULL && map.cut != kernel)
    offer(&map, map.cut, map.is_long, tj_string_format(graph->job, "%s.parts", written->name));
  offer_tiers(&map);
  if (may_split)
    offer_split(&map, split);
  return kernel;
}

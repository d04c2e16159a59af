/* SPDX-License-Identifier: MIT */
/* Vectors of maps: how many neighbouring coordinates are neighbouring elements.
 *
 * A small constant map is asked for its values, and one that is linear over F2 for its bases: either decides. Of any
 * other, the offsets of a run are simplified, and have to be neighbours, as those of the vectors that kernels move.
 */
#include "jit/inspect/check.h"

#include "ir/index/substitute.h"
#include "ir/simplify/simplify.h"
#include "ir/value/table.h"
#include "lower/tile/tile_side.h"

enum { MOST_VALUES = 1 << 16, WIDEST = 16 };

/* A run of `width` coordinates along a leaf of the domain, the first a multiple of the width. */
typedef struct {
  uint32_t leaf, width;
} run;

/* --- values --- */

typedef struct {
  tj_graph *graph;
  const tj_value *map;
  tj_table table;
  int64_t *value; /* by number, in the map's own order */
  bool *valid;
} listing;

static void list_values(tj_job *job, void *data) {
  listing *all = data;
  all->table = tj_table_open(all->graph, all->map, MOST_VALUES);
  all->value = TJ_NEW_ARRAY(job, int64_t, (size_t)all->table.size + 1);
  all->valid = TJ_NEW_ARRAY(job, bool, (size_t)all->table.size + 1);
  for (int64_t n = 0; n < all->table.size; n++, tj_table_advance(&all->table)) {
    all->valid[n] = tj_table_evaluate(&all->table);
    all->value[n] = all->table.result[0];
  }
}

/* How many numbers lie between neighbours along a leaf. */
static int64_t distance_along(const tj_table *table, uint32_t leaf) {
  int64_t distance = 1;
  uint32_t first = table->row_major ? leaf + 1 : 0, end = table->row_major ? table->rank : leaf;
  for (uint32_t i = first; i < end; i++)
    distance *= table->extent[i];
  return distance;
}

static bool values_are_runs(const listing *all, run of) {
  int64_t distance = distance_along(&all->table, of.leaf), extent = all->table.extent[of.leaf];
  if (extent % of.width != 0)
    return false;
  for (int64_t n = 0; n < all->table.size; n++) {
    int64_t in_run = n / distance % extent % of.width, first = n - in_run * distance;
    if (all->valid[n] != all->valid[first])
      return false;
    if (all->valid[n] && (all->value[first] % of.width != 0 || all->value[n] - all->value[first] != in_run))
      return false;
  }
  return true;
}

/* --- bases --- */

/* The input bit at which a leaf begins. */
static uint32_t first_bit(const tj_tuple *const extent[], uint32_t leaf) {
  uint32_t bit = 0;
  for (uint32_t i = 0; i < leaf; i++)
    bit += (uint32_t)__builtin_ctzll((uint64_t)extent[i]->value->value);
  return bit;
}

/* The bits of the place in a run are the lowest bits of the value, which no other bit of the coordinate moves. */
static bool bases_are_runs(tj_graph *graph, const tj_f2 *map, run of) {
  uint32_t count;
  const tj_tuple *const *extent = tj_tuple_leaves(graph, map->domain, &count);
  uint32_t first = first_bit(extent, of.leaf);
  if (extent[of.leaf]->value->value < of.width)
    return false;
  for (uint32_t bit = 0; bit < map->bit_count; bit++) {
    uint64_t in_run = bit >= first ? UINT64_C(1) << (bit - first) : of.width;
    if (in_run < of.width ? map->basis[bit] != in_run : map->basis[bit] % of.width != 0)
      return false;
  }
  return true;
}

/* --- expressions --- */

typedef struct {
  tj_graph *graph;
  const tj_map *map;
  const tj_tuple *const *symbol; /* by leaf */
  const tj_tuple *const *extent;
  tj_box box; /* of valid coordinates */
  bool has_box;
  run of;
  bool is_run;
} proof;

/* The map's offsets and predicates at the coordinates of a run. */
static void run_expressions(const proof *p, const tj_node *offset[], const tj_node *valid[]) {
  tj_graph *graph = p->graph;
  const tj_node *width = tj_int(graph, p->of.width), *extent = p->extent[p->of.leaf]->value;
  const tj_node *number = tj_coordinate(graph, "run", tj_simplified(graph, tj_div(graph, extent, width)));
  for (uint32_t k = 0; k < p->of.width; k++) {
    const tj_node *from = p->symbol[p->of.leaf]->value;
    const tj_node *to = tj_add(graph, tj_mul(graph, number, width), tj_int(graph, k));
    const tj_node *root[] = {p->map->output->value, p->map->valid != NULL ? p->map->valid : tj_int(graph, 1)};
    tj_substitute(graph, &(tj_substitution){&from, &to, 1}, root, 2);
    tj_simplify(graph, root, 2, NULL);
    offset[k] = root[0];
    valid[k] = root[1];
  }
}

/* Whether all coordinates of a run are valid, or none is. */
static bool are_valid_together(const proof *p, const tj_node *const valid[]) {
  const tj_node *width = tj_int(p->graph, p->of.width);
  bool is_same = true;
  for (uint32_t k = 1; k < p->of.width; k++)
    is_same = is_same && valid[k] == valid[0];
  return is_same || (p->has_box && tj_decide_divides(p->graph, width, p->box.begin[p->of.leaf]) == TJ_YES &&
                     tj_decide_divides(p->graph, width, p->box.end[p->of.leaf]) == TJ_YES);
}

static void prove_run(tj_job *job, void *data) {
  (void)job;
  proof *p = data;
  const tj_node *offset[WIDEST], *valid[WIDEST], *width = tj_int(p->graph, p->of.width);
  p->is_run = false;
  if (tj_decide_divides(p->graph, width, p->extent[p->of.leaf]->value) != TJ_YES)
    return;
  run_expressions(p, offset, valid);
  p->is_run = tj_are_neighbours(p->graph, offset, p->of.width) && are_valid_together(p, valid);
}

/* --- the widest --- */

/* A map of integers, and what decides of it. */
typedef struct {
  tj_graph *graph;
  listing all;
  proof proof;
  bool has_values;
  const tj_f2 *linear; /* NULL: it is not linear, or has values */
} deciding;

static bool is_run(deciding *d, run of) {
  if (d->has_values)
    return values_are_runs(&d->all, of);
  if (d->linear != NULL)
    return bases_are_runs(d->graph, d->linear, of);
  d->proof.of = of;
  return tj_job_try(d->graph->job, prove_run, &d->proof) && d->proof.is_run;
}

/* The leaf along which a mode's neighbours are: its first of several coordinates. The last leaf where it has none. */
static uint32_t first_leaf(const tj_tuple *mode, const tj_tuple *const extent[], uint32_t leaf) {
  uint32_t end = leaf + tj_tuple_leaf_count(mode);
  while (leaf + 1 < end && tj_is_int(extent[leaf]->value, 1))
    leaf++;
  return leaf;
}

static deciding deciding_of(tj_graph *graph, const tj_value *value, const tj_map *map) {
  deciding d = {.graph = graph, .all = {.graph = graph, .map = value}, .proof = {.graph = graph, .map = map}};
  uint32_t rank;
  d.has_values = tj_job_try(graph->job, list_values, &d.all);
  d.proof.symbol = tj_tuple_leaves(graph, map->input, &rank);
  d.proof.extent = tj_tuple_leaves(graph, map->domain, &rank);
  d.linear = d.has_values ? NULL : tj_f2_inside(graph, value);
  d.proof.has_box = !d.has_values && tj_valid_box(graph, map, &d.proof.box);
  return d;
}

/* Vectors divide a mode that is constant. */
static uint32_t dividing_width(const tj_node *extent, uint32_t most) {
  while (tj_is_constant(extent) && extent->value % most != 0)
    most /= 2;
  return most;
}

tj_vector tj_widest_vector(tj_graph *graph, const tj_value *value, uint32_t most) {
  tj_map map = tj_map_of_value(graph, value);
  tj_vector widest = {0, 0, 1};
  if (map.output->kind != TJ_TUPLE_INTEGER)
    return widest;
  deciding d = deciding_of(graph, value, &map);
  uint32_t leaf = 0;
  for (uint32_t mode = 0; mode < tj_tuple_rank(map.domain); mode++) {
    const tj_tuple *of = tj_tuple_mode(map.domain, mode);
    run tried = {first_leaf(of, d.proof.extent, leaf), most};
    tried.width = dividing_width(d.proof.extent[tried.leaf]->value, most);
    while (tried.width > widest.elements && !is_run(&d, tried))
      tried.width /= 2;
    if (tried.width > widest.elements)
      widest = (tj_vector){mode, tried.leaf, tried.width};
    leaf += tj_tuple_leaf_count(of);
  }
  return widest;
}

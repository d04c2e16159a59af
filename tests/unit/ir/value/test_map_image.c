/* SPDX-License-Identifier: MIT */
/* Images and validity of maps: random views and layouts against plain counts of the oracle's values. */
#include "ir/value/map_image.h"
#include "ir/value/table.h"
#include "tests/unit/support/random_views.h"

enum { VIEWS = 4000, LAYOUTS = 4000, MOST_VALUES = 4096 };

/* How often each value is taken, and what else the oracle says of a map of one component. */
typedef struct {
  int64_t times[MOST_VALUES];
  int64_t invalid, most, reached;
  bool leaves; /* some value lies outside of the space */
  bool is_negative;
} count;

/* Where the space of a map begins: of a view, below its offset by what dimensions of negative strides reach. */
static int64_t begin_of(const tj_value *map) {
  if (map->kind != TJ_VALUE_VIEW)
    return 0;
  const tj_transform *base = map->view->stage[0].transform;
  int64_t begin = map->view->offset->value;
  for (uint32_t i = 0; base->kind == TJ_TRANSFORM_EMBED && i < base->upper_count; i++) {
    int64_t last = (base->upper_length[i]->value - 1) * base->amount[i]->value;
    begin += last < 0 ? last : 0;
  }
  return begin;
}

static count count_values(tj_graph *graph, const tj_value *map, int64_t space) {
  count c = {.invalid = 0};
  tj_table table = tj_table_open(graph, map, 1 << 20);
  for (int64_t n = 0; n < table.size; n++, tj_table_advance(&table)) {
    if (!tj_table_evaluate(&table)) {
      c.invalid++;
      continue;
    }
    int64_t value = table.result[0] - begin_of(map);
    bool inside = 0 <= value && value < space;
    c.leaves |= !inside;
    c.is_negative |= table.result[0] < 0;
    if (inside)
      c.reached += c.times[value]++ == 0 ? 1 : 0;
    if (inside)
      c.most = c.times[value] > c.most ? c.times[value] : c.most;
  }
  return c;
}

static int64_t value_at(tj_graph *graph, const tj_value *map, const tj_tuple *coordinate, bool *valid) {
  tj_table table = tj_table_open(graph, map, 1 << 20);
  uint32_t leaf_count;
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, coordinate, &leaf_count);
  ck_assert_uint_eq(leaf_count, table.rank);
  for (uint32_t i = 0; i < table.rank; i++) {
    table.coordinate[i] = leaves[i]->value->value;
    ck_assert(0 <= table.coordinate[i] && table.coordinate[i] < table.extent[i]);
  }
  *valid = tj_table_evaluate(&table);
  return table.result[0];
}

static void check_collision(tj_graph *graph, const tj_value *map, const tj_map_image *image) {
  bool valid[2];
  ck_assert_ptr_nonnull(image->collision[0]);
  ck_assert(!tj_tuple_equal(image->collision[0], image->collision[1]));
  ck_assert_int_eq(value_at(graph, map, image->collision[0], &valid[0]),
                   value_at(graph, map, image->collision[1], &valid[1]));
  ck_assert(valid[0] && valid[1]);
}

static void check_image(tj_graph *graph, const tj_value *map, const tj_map_image *image) {
  ck_assert(tj_is_constant(image->space));
  int64_t space = image->space->value;
  if (space > MOST_VALUES)
    return;
  count c = count_values(graph, map, space);
  bool injective = c.most <= 1 && !c.leaves, surjective = c.reached == space && !c.is_negative;
  if (!c.leaves) {
    ck_assert_int_eq(image->is_injective, injective ? TJ_YES : TJ_NO);
    ck_assert_int_eq(image->most->value, c.most);
    ck_assert((image->outside != NULL) == c.is_negative);
  }
  ck_assert_int_eq(image->is_surjective, surjective ? TJ_YES : TJ_NO);
  ck_assert_int_eq(image->reached->value, c.reached);
  if (image->is_injective == TJ_NO)
    check_collision(graph, map, image);
  if (image->gap != NULL)
    ck_assert_int_eq(c.times[image->gap->value->value - begin_of(map)], 0);
  if (image->outside != NULL) {
    bool valid;
    int64_t value = value_at(graph, map, image->outside, &valid);
    ck_assert(valid && (value < 0 || value - begin_of(map) >= space));
  }
}

/* Every box's coordinates are invalid, and they are as many as there are. */
static void check_validity(tj_graph *graph, const tj_value *map, uint64_t *enumerated) {
  tj_map of = tj_map_of_value(graph, map);
  tj_invalid_set set = tj_invalid_set_of(graph, &of);
  tj_table table = tj_table_open(graph, map, 1 << 20);
  int64_t in_boxes = 0, invalid = 0;
  tj_box whole;
  *enumerated += tj_valid_box(graph, &of, &whole) ? 0 : 1;
  for (int64_t n = 0; n < table.size; n++, tj_table_advance(&table)) {
    uint32_t boxes = 0;
    for (uint32_t b = 0; b < set.box_count; b++) {
      bool inside = true;
      for (uint32_t i = 0; i < table.rank; i++)
        inside &= set.box[b].begin[i]->value <= table.coordinate[i] && table.coordinate[i] < set.box[b].end[i]->value;
      boxes += inside ? 1 : 0;
    }
    bool valid = tj_table_evaluate(&table);
    ck_assert_uint_le(boxes, valid ? 0 : 1);
    in_boxes += boxes;
    invalid += valid ? 0 : 1;
  }
  ck_assert_int_eq(set.count->value, invalid);
  ck_assert(set.is_complete ? in_boxes == invalid : in_boxes < invalid);
}

typedef struct {
  uint64_t seed, structured, enumerated;
} random_case;

static void check_view(reader *self, const void *data) {
  random_case *r = (random_case *)(uintptr_t)data;
  view_source random = {self->graph, r->seed * UINT64_C(0x9e3779b97f4a7c15)};
  const tj_view *view = random_view(&random);
  if (view_size(view) > 5000)
    return;
  const tj_value *map = tj_value_of_view(self->graph, view);
  tj_map_image image = tj_map_image_of(self->graph, map), structure = tj_map_image_by_structure(self->graph, map);
  r->structured += structure.is_injective != TJ_UNKNOWN ? 1 : 0;
  check_image(self->graph, map, &image);
  if (structure.is_injective != TJ_UNKNOWN)
    ck_assert_int_eq(structure.is_injective, image.is_injective);
  check_validity(self->graph, map, &r->enumerated);
}

/* A view whose dimensions run forwards and backwards. */
static void check_strided(reader *self, const void *data) {
  random_case *r = (random_case *)(uintptr_t)data;
  view_source random = {self->graph, r->seed * UINT64_C(0x9e3779b97f4a7c15)};
  int64_t lengths[3], strides[3];
  for (unsigned i = 0; i < 3; i++) {
    lengths[i] = random_between(&random, 1, 4);
    strides[i] = random_between(&random, -12, 12);
  }
  const tj_node *offset = tj_int(self->graph, random_between(&random, -4, 60));
  const tj_view *view = tj_view_strided(self->graph, constants_tuple(self->graph, lengths, 3),
                                        constants_tuple(self->graph, strides, 3), offset, -1, -1);
  const tj_value *map = tj_value_of_view(self->graph, view);
  tj_map_image image = tj_map_image_of(self->graph, map);
  check_image(self->graph, map, &image);
}

/* A xor of what may be negative has no index expression (TJ2018): such a view is left out. */
static void with_reader(void (*body)(reader *, const void *), random_case *r) {
  tj_job job;
  tj_job_init(&job, NULL);
  row_call call = {body, r};
  if (tj_job_run(&job, run_row_body, &call) != TJ_OK)
    ck_assert_msg(job.problem.code == TJ_NEGATIVE_BITS, "seed %llu: %s", (unsigned long long)r->seed,
                  job.problem.message);
  tj_job_destroy(&job);
}

START_TEST(views_against_counts) {
  random_case r = {0};
  for (r.seed = 1; r.seed <= VIEWS; r.seed++)
    with_reader(check_view, &r);
  ck_assert_uint_gt(r.structured, VIEWS / 10);
  ck_assert_uint_gt(r.enumerated, VIEWS / 50);
}
END_TEST

START_TEST(strides_of_both_signs_against_counts) {
  random_case r = {0};
  for (r.seed = 1; r.seed <= VIEWS; r.seed++)
    with_reader(check_strided, &r);
}
END_TEST

static void check_layout(reader *self, const void *data) {
  random_case *r = (random_case *)(uintptr_t)data;
  view_source random = {self->graph, r->seed * UINT64_C(0x9e3779b97f4a7c15)};
  const tj_tuple *extents[3], *strides[3];
  for (unsigned i = 0; i < 3; i++) {
    extents[i] = tj_tuple_constant(self->graph, random_between(&random, 1, 5));
    strides[i] = tj_tuple_constant(self->graph, random_between(&random, 0, 12));
  }
  tj_layout layout =
      tj_layout_make(self->graph, tj_tuple_list(self->graph, extents, 3), tj_tuple_list(self->graph, strides, 3));
  const tj_value *map = tj_value_of_layout(self->graph, layout);
  tj_map_image image = tj_map_image_of(self->graph, map), structure = tj_map_image_by_structure(self->graph, map);
  r->structured += structure.is_injective != TJ_UNKNOWN ? 1 : 0;
  check_image(self->graph, map, &image);
}

START_TEST(layouts_against_counts) {
  random_case r = {0};
  for (r.seed = 1; r.seed <= LAYOUTS; r.seed++)
    with_reader(check_layout, &r);
  ck_assert_uint_gt(r.structured, LAYOUTS / 10);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {views_against_counts, strides_of_both_signs_against_counts, layouts_against_counts};
  return run_suite(suite_of("map_image", tests, sizeof tests / sizeof tests[0]));
}

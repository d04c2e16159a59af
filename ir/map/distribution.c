/* SPDX-License-Identifier: MIT */
/* Tile distributions: checked construction, their adaptor and register layout, derived quantities, text. */
#include "ir/map/distribution.h"

#include <inttypes.h>
#include <string.h>

/* --- checks --- */

/* A dimension as messages name it: rs[0], hs[1][2]. */
static const char *name_of(tj_job *job, tj_rh dimension) {
  if (dimension.major == 0)
    return tj_string_format(job, "rs[%" PRIu32 "]", dimension.minor);
  return tj_string_format(job, "hs[%" PRIu32 "][%" PRIu32 "]", dimension.major - 1, dimension.minor);
}

static int64_t multiply(tj_job *job, int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product))
    tj_fail(job, TJ_INTEGER_OVERFLOW, "a distribution whose lengths multiply to more than 64 bits hold");
  return product;
}

static int64_t product_of(tj_job *job, const int64_t lengths[], uint32_t count) {
  int64_t product = 1;
  for (uint32_t i = 0; i < count; i++)
    product = multiply(job, product, lengths[i]);
  return product;
}

static void check_lengths(tj_job *job, const tj_lengths rh[], uint32_t x_count) {
  uint64_t total = 0;
  if (x_count > TJ_MAX_RH)
    tj_fail(job, TJ_DISTRIBUTION_ARGUMENT, "hs has %" PRIu32 " lists; a tile has at most %d dimensions", x_count,
            TJ_MAX_RH);
  for (uint32_t major = 0; major <= x_count; major++) {
    total += rh[major].count;
    for (uint32_t minor = 0; minor < rh[major].count; minor++)
      if (rh[major].length[minor] < 1)
        tj_fail(job, TJ_DISTRIBUTION_ARGUMENT, "%s is %" PRId64 "; lengths are at least 1",
                name_of(job, (tj_rh){major, minor}), rh[major].length[minor]);
  }
  if (total > TJ_MAX_RH)
    tj_fail(job, TJ_DISTRIBUTION_ARGUMENT, "rs and hs have %" PRIu64 " lengths together, more than %d", total,
            TJ_MAX_RH);
}

/* Who owns what, as it is found out: by dimension, the name of its owner or NULL. */
typedef struct {
  tj_job *job;
  const tj_distribution *distribution;
  const char *(*owner)[TJ_MAX_RH];
} ownership;

static void own(ownership *self, tj_rh dimension, const char *owner) {
  const tj_distribution *d = self->distribution;
  if (dimension.major > d->x_count)
    tj_fail(self->job, TJ_DISTRIBUTION_INDEX, "%s has major %" PRIu32 ", and there are %" PRIu32 " lists in hs",
            owner, dimension.major, d->x_count);
  if (dimension.minor >= d->rh[dimension.major].count)
    tj_fail(self->job, TJ_DISTRIBUTION_INDEX, "%s names %s, and %s has %" PRIu32 " lengths", owner,
            name_of(self->job, dimension),
            dimension.major == 0 ? "rs" : tj_string_format(self->job, "hs[%" PRIu32 "]", dimension.major - 1),
            d->rh[dimension.major].count);
  const char **slot = &self->owner[dimension.major][dimension.minor];
  if (*slot != NULL)
    tj_fail(self->job, TJ_DISTRIBUTION_OWNED_TWICE, "%s (major %" PRIu32 ", minor %" PRIu32 ") is owned by %s and %s",
            name_of(self->job, dimension), dimension.major, dimension.minor, *slot, owner);
  *slot = owner;
}

static void check_all_owned(ownership *self) {
  const tj_distribution *d = self->distribution;
  for (uint32_t major = 0; major <= d->x_count; major++) {
    for (uint32_t minor = 0; minor < d->rh[major].count; minor++) {
      bool idle = major == 0 && d->rh[0].length[minor] == 1;
      if (self->owner[major][minor] == NULL && !idle)
        tj_fail(self->job, TJ_DISTRIBUTION_UNOWNED,
                "%s (major %" PRIu32 ", minor %" PRIu32 ") of length %" PRId64 " is owned by no P and no Y",
                name_of(self->job, (tj_rh){major, minor}), major, minor, d->rh[major].length[minor]);
    }
  }
}

static void check_ownership(tj_job *job, const tj_distribution *d) {
  ownership self = {job, d, NULL};
  self.owner = tj_arena_alloc(&job->arena, d->x_count + 1, sizeof *self.owner);
  for (uint32_t p = 0; p < d->p_count; p++)
    for (uint32_t i = 0; i < d->p[p].count; i++)
      own(&self, d->p[p].dimension[i], tj_string_format(job, "P%" PRIu32, p));
  for (uint32_t y = 0; y < d->y_count; y++)
    own(&self, d->y[y], tj_string_format(job, "Y%" PRIu32, y));
  check_all_owned(&self);
}

/* --- construction --- */

static const int64_t *copy_integers(tj_job *job, const int64_t integers[], uint32_t count) {
  return count == 0 ? NULL : tj_arena_copy(&job->arena, integers, count * sizeof *integers);
}

static const tj_lengths *copy_lengths(tj_job *job, const tj_lengths rh[], uint32_t count) {
  tj_lengths *copies = TJ_NEW_ARRAY(job, tj_lengths, count);
  for (uint32_t i = 0; i < count; i++)
    copies[i] = (tj_lengths){copy_integers(job, rh[i].length, rh[i].count), rh[i].count};
  return copies;
}

static const tj_rh *copy_dimensions(tj_job *job, const tj_rh dimensions[], uint32_t count) {
  return count == 0 ? NULL : tj_arena_copy(&job->arena, dimensions, count * sizeof *dimensions);
}

static const tj_partition *copy_partitions(tj_job *job, const tj_partition p[], uint32_t count) {
  tj_partition *copies = TJ_NEW_ARRAY(job, tj_partition, count);
  for (uint32_t i = 0; i < count; i++)
    copies[i] = (tj_partition){copy_dimensions(job, p[i].dimension, p[i].count), p[i].count};
  return copies;
}

static int64_t length_of(const tj_distribution *d, tj_rh dimension) {
  return d->rh[dimension.major].length[dimension.minor];
}

static void derive_lengths(tj_job *job, tj_distribution *d) {
  int64_t *x = TJ_NEW_ARRAY(job, int64_t, d->x_count), *p = TJ_NEW_ARRAY(job, int64_t, d->p_count);
  int64_t *y = TJ_NEW_ARRAY(job, int64_t, d->y_count);
  for (uint32_t i = 0; i < d->x_count; i++)
    x[i] = product_of(job, d->rh[i + 1].length, d->rh[i + 1].count);
  for (uint32_t i = 0; i < d->p_count; i++) {
    p[i] = 1;
    for (uint32_t k = 0; k < d->p[i].count; k++)
      p[i] = multiply(job, p[i], length_of(d, d->p[i].dimension[k]));
  }
  for (uint32_t i = 0; i < d->y_count; i++)
    y[i] = length_of(d, d->y[i]);
  int64_t domain = multiply(job, product_of(job, p, d->p_count), product_of(job, y, d->y_count));
  multiply(job, domain, product_of(job, x, d->x_count));
  d->x_length = x;
  d->p_length = p;
  d->y_length = y;
}

const tj_distribution *tj_distribution_make(tj_graph *graph, const tj_lengths rh[], uint32_t x_count,
                                            const tj_partition p[], uint32_t p_count, const tj_rh y[],
                                            uint32_t y_count) {
  tj_job *job = graph->job;
  check_lengths(job, rh, x_count);
  if (p_count > TJ_MAX_RH || y_count > TJ_MAX_RH || p_count + y_count > TJ_MAX_DIMENSIONS)
    tj_fail(job, TJ_DISTRIBUTION_ARGUMENT, "%" PRIu32 " Ps and %" PRIu32 " Ys, more than %d together", p_count,
            y_count, TJ_MAX_DIMENSIONS);
  tj_distribution *d = TJ_NEW(job, tj_distribution);
  d->rh = copy_lengths(job, rh, x_count + 1);
  d->x_count = x_count;
  d->p = copy_partitions(job, p, p_count);
  d->p_count = p_count;
  d->y = copy_dimensions(job, y, y_count);
  d->y_count = y_count;
  check_ownership(job, d);
  derive_lengths(job, d);
  return d;
}

static bool same_dimensions(const tj_rh a[], const tj_rh b[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (a[i].major != b[i].major || a[i].minor != b[i].minor)
      return false;
  return true;
}

bool tj_distribution_equal(const tj_distribution *a, const tj_distribution *b) {
  if (a->x_count != b->x_count || a->p_count != b->p_count || a->y_count != b->y_count)
    return false;
  for (uint32_t i = 0; i <= a->x_count; i++) {
    if (a->rh[i].count != b->rh[i].count)
      return false;
    for (uint32_t k = 0; k < a->rh[i].count; k++)
      if (a->rh[i].length[k] != b->rh[i].length[k])
        return false;
  }
  for (uint32_t i = 0; i < a->p_count; i++)
    if (a->p[i].count != b->p[i].count || !same_dimensions(a->p[i].dimension, b->p[i].dimension, a->p[i].count))
      return false;
  return same_dimensions(a->y, b->y, a->y_count);
}

/* --- the adaptor --- */

/* Stages of the adaptor in progress. Dimensions between the stages are those of R, then of each H. */
typedef struct {
  tj_graph *graph;
  const tj_distribution *distribution;
  uint32_t first[TJ_MAX_RH + 1]; /* the number of the first dimension of each major */
  tj_view_step step[3 * TJ_MAX_RH];
  uint32_t count;
} adaptor_builder;

static const tj_transform *transform_of(tj_graph *graph, tj_transform_kind kind, const int64_t numbers[],
                                        uint32_t count) {
  const tj_tuple **args = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count);
  for (uint32_t i = 0; i < count; i++)
    args[i] = tj_tuple_constant(graph, numbers[i]);
  return tj_transform_make(graph, kind, args, count);
}

static const uint32_t *count_from(tj_graph *graph, uint32_t first, uint32_t count) {
  uint32_t *numbers = TJ_NEW_ARRAY(graph->job, uint32_t, count);
  for (uint32_t i = 0; i < count; i++)
    numbers[i] = first + i;
  return numbers;
}

static void add_step(adaptor_builder *self, tj_transform_kind kind, const int64_t numbers[], uint32_t count,
                     const uint32_t *lower, const uint32_t *upper) {
  const tj_transform *transform = transform_of(self->graph, kind, numbers, count);
  self->step[self->count++] = (tj_view_step){transform, lower, upper, transform->lower_count, transform->upper_count};
}

static const int64_t ZERO = 0, ONE = 1;

/* replicate(R), unmerge(H) for each tile dimension; a tile dimension without digits is always 0. */
static const tj_adaptor *digits_of_tile(adaptor_builder *self) {
  const tj_distribution *d = self->distribution;
  uint32_t next = 0;
  for (uint32_t major = 0; major <= d->x_count; major++) {
    const tj_lengths *lengths = &d->rh[major];
    self->first[major] = next;
    const uint32_t *upper = count_from(self->graph, next, lengths->count);
    next += lengths->count;
    if (major == 0 && lengths->count > 0)
      add_step(self, TJ_TRANSFORM_REPLICATE, lengths->length, lengths->count, NULL, upper);
    if (major == 0)
      continue;
    const uint32_t *lower = count_from(self->graph, major - 1, 1);
    if (lengths->count > 0)
      add_step(self, TJ_TRANSFORM_UNMERGE, lengths->length, lengths->count, lower, upper);
    else
      add_step(self, TJ_TRANSFORM_FREEZE, &ZERO, 1, lower, upper);
  }
  return tj_adaptor_make(self->graph, self->step, self->count);
}

static void add_partition(adaptor_builder *self, uint32_t p) {
  const tj_distribution *d = self->distribution;
  const tj_partition *partition = &d->p[p];
  uint32_t *lower = TJ_NEW_ARRAY(self->graph->job, uint32_t, partition->count);
  int64_t *lengths = TJ_NEW_ARRAY(self->graph->job, int64_t, partition->count);
  const uint32_t *upper = count_from(self->graph, p, 1);
  for (uint32_t i = 0; i < partition->count; i++) {
    lower[i] = self->first[partition->dimension[i].major] + partition->dimension[i].minor;
    lengths[i] = length_of(d, partition->dimension[i]);
  }
  if (partition->count > 0)
    add_step(self, TJ_TRANSFORM_MERGE, lengths, partition->count, lower, upper);
  else
    add_step(self, TJ_TRANSFORM_INSERT, &ONE, 1, lower, upper);
}

static bool is_owned(const tj_distribution *d, tj_rh dimension) {
  for (uint32_t p = 0; p < d->p_count; p++)
    for (uint32_t i = 0; i < d->p[p].count; i++)
      if (same_dimensions(&d->p[p].dimension[i], &dimension, 1))
        return true;
  return tj_distribution_owner_y(d, dimension) >= 0;
}

const tj_adaptor *tj_distribution_adaptor(tj_graph *graph, const tj_distribution *d) {
  adaptor_builder *self = TJ_NEW(graph->job, adaptor_builder);
  self->graph = graph;
  self->distribution = d;
  const tj_adaptor *digits = digits_of_tile(self);
  self->count = 0;
  for (uint32_t p = 0; p < d->p_count; p++)
    add_partition(self, p);
  for (uint32_t y = 0; y < d->y_count; y++)
    add_step(self, TJ_TRANSFORM_PASS_THROUGH, &d->y_length[y], 1,
             count_from(graph, self->first[d->y[y].major] + d->y[y].minor, 1), count_from(graph, d->p_count + y, 1));
  for (uint32_t r = 0; r < d->rh[0].count; r++)
    if (!is_owned(d, (tj_rh){0, r}))
      add_step(self, TJ_TRANSFORM_FREEZE, &ZERO, 1, count_from(graph, r, 1), NULL);
  return tj_adaptor_transform(graph, digits, self->step, self->count);
}

tj_layout tj_distribution_registers(tj_graph *graph, const tj_distribution *d) {
  const tj_tuple *shape[TJ_MAX_RH], *stride[TJ_MAX_RH];
  int64_t step = 1;
  for (uint32_t y = d->y_count; y-- > 0;) {
    shape[y] = tj_tuple_constant(graph, d->y_length[y]);
    stride[y] = tj_tuple_constant(graph, step);
    step *= d->y_length[y];
  }
  return tj_layout_make(graph, tj_tuple_list(graph, shape, d->y_count), tj_tuple_list(graph, stride, d->y_count));
}

tj_map tj_map_of_distribution(tj_graph *graph, const tj_distribution *d) {
  const tj_adaptor *adaptor = tj_distribution_adaptor(graph, d);
  tj_map map = {.domain = tj_adaptor_lengths(graph, adaptor), .row_major = true};
  const tj_node *upper[TJ_MAX_DIMENSIONS], *lower[TJ_MAX_DIMENSIONS], *valid;
  for (uint32_t i = 0; i < adaptor->rank; i++) {
    bool is_p = i < d->p_count;
    const char *name = tj_string_format(graph->job, "%c%" PRIu32, is_p ? 'p' : 'y', is_p ? i : i - d->p_count);
    upper[i] = tj_coordinate(graph, name, adaptor->length[i]);
  }
  tj_adaptor_lower(graph, adaptor, upper, lower, &valid);
  map.input = tj_tuple_integers(graph, upper, adaptor->rank);
  map.output = tj_tuple_integers(graph, lower, d->x_count);
  return map;
}

/* --- derived quantities --- */

int64_t tj_distribution_owner_y(const tj_distribution *d, tj_rh dimension) {
  for (uint32_t y = 0; y < d->y_count; y++)
    if (same_dimensions(&d->y[y], &dimension, 1))
      return y;
  return -1;
}

int64_t tj_distribution_p_over_r(const tj_distribution *d, uint32_t p, uint32_t r) {
  int64_t step = 1;
  for (uint32_t i = d->p[p].count; i-- > 0;) {
    tj_rh dimension = d->p[p].dimension[i];
    if (dimension.major == 0 && dimension.minor == r)
      return step;
    step *= length_of(d, dimension);
  }
  return 0;
}

static bool comes_before(tj_rh a, tj_rh b) {
  return a.major < b.major || (a.major == b.major && a.minor < b.minor);
}

void tj_distribution_sorted_ys(const tj_distribution *d, uint32_t sorted[]) {
  for (uint32_t y = 0; y < d->y_count; y++) {
    uint32_t place = y;
    for (; place > 0 && comes_before(d->y[y], d->y[sorted[place - 1]]); place--)
      sorted[place] = sorted[place - 1];
    sorted[place] = y;
  }
}

/* --- text --- */

static void print_lengths(tj_text *text, const tj_lengths *lengths) {
  tj_text_char(text, '[');
  for (uint32_t i = 0; i < lengths->count; i++)
    tj_text_format(text, "%s%" PRId64, i > 0 ? "," : "", lengths->length[i]);
  tj_text_char(text, ']');
}

static void print_dimensions(tj_text *text, const tj_rh dimensions[], uint32_t count, bool want_major) {
  tj_text_char(text, '[');
  for (uint32_t i = 0; i < count; i++)
    tj_text_format(text, "%s%" PRIu32, i > 0 ? "," : "", want_major ? dimensions[i].major : dimensions[i].minor);
  tj_text_char(text, ']');
}

static void print_partitions(tj_text *text, const tj_distribution *d, bool want_major) {
  tj_text_char(text, '[');
  for (uint32_t p = 0; p < d->p_count; p++) {
    tj_text_string(text, p > 0 ? "," : "");
    print_dimensions(text, d->p[p].dimension, d->p[p].count, want_major);
  }
  tj_text_char(text, ']');
}

void tj_distribution_print(tj_text *text, const tj_distribution *d) {
  tj_text_string(text, "distribution(rs=");
  print_lengths(text, &d->rh[0]);
  tj_text_string(text, ", hs=[");
  for (uint32_t i = 0; i < d->x_count; i++) {
    tj_text_string(text, i > 0 ? "," : "");
    print_lengths(text, &d->rh[i + 1]);
  }
  tj_text_string(text, "], ps_major=");
  print_partitions(text, d, true);
  tj_text_string(text, ", ps_minor=");
  print_partitions(text, d, false);
  tj_text_string(text, ", ys_major=");
  print_dimensions(text, d->y, d->y_count, true);
  tj_text_string(text, ", ys_minor=");
  print_dimensions(text, d->y, d->y_count, false);
  tj_text_char(text, ')');
}

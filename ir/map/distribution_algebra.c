/* SPDX-License-Identifier: MIT */
/* Operations on tile distributions: embedding, reduction, slices, raked patterns. */
#include "ir/map/distribution.h"

#include <inttypes.h>
#include <string.h>

/* --- embedding --- */

static tj_lengths append_lengths(tj_job *job, tj_lengths a, tj_lengths b) {
  int64_t *lengths = TJ_NEW_ARRAY(job, int64_t, a.count + b.count);
  for (uint32_t i = 0; i < a.count; i++)
    lengths[i] = a.length[i];
  for (uint32_t i = 0; i < b.count; i++)
    lengths[a.count + i] = b.length[i];
  return (tj_lengths){lengths, a.count + b.count};
}

/* The same dimension where it stands after those of `outer`. */
static tj_rh after(const tj_distribution *outer, tj_rh dimension) {
  return (tj_rh){dimension.major, dimension.minor + outer->rh[dimension.major].count};
}

static tj_partition partition_after(tj_job *job, const tj_distribution *outer, const tj_partition *partition) {
  tj_rh *dimensions = TJ_NEW_ARRAY(job, tj_rh, partition->count);
  for (uint32_t i = 0; i < partition->count; i++)
    dimensions[i] = after(outer, partition->dimension[i]);
  return (tj_partition){dimensions, partition->count};
}

const tj_distribution *tj_distribution_embed(tj_graph *graph, const tj_distribution *outer,
                                             const tj_distribution *inner) {
  tj_job *job = graph->job;
  if (outer->x_count != inner->x_count)
    tj_fail(job, TJ_DISTRIBUTION_EMBED,
            "the outer distribution has %" PRIu32 " tile dimensions, the inner one %" PRIu32, outer->x_count,
            inner->x_count);
  tj_lengths *rh = TJ_NEW_ARRAY(job, tj_lengths, outer->x_count + 1);
  for (uint32_t i = 0; i <= outer->x_count; i++)
    rh[i] = append_lengths(job, outer->rh[i], inner->rh[i]);
  uint32_t p_count = outer->p_count + inner->p_count, y_count = outer->y_count + inner->y_count;
  tj_partition *p = TJ_NEW_ARRAY(job, tj_partition, p_count);
  tj_rh *y = TJ_NEW_ARRAY(job, tj_rh, y_count);
  for (uint32_t i = 0; i < p_count; i++)
    p[i] = i < outer->p_count ? outer->p[i] : partition_after(job, outer, &inner->p[i - outer->p_count]);
  for (uint32_t i = 0; i < y_count; i++)
    y[i] = i < outer->y_count ? outer->y[i] : after(outer, inner->y[i - outer->y_count]);
  return tj_distribution_make(graph, rh, outer->x_count, p, p_count, y, y_count);
}

/* --- reduction --- */

/* Where each dimension goes. */
typedef struct {
  tj_job *job;
  const tj_distribution *from;
  bool reduced[TJ_MAX_RH];            /* by tile dimension */
  tj_rh to[TJ_MAX_RH + 1][TJ_MAX_RH]; /* by old major and minor; meaningless for what is dropped */
  int64_t r_length[TJ_MAX_RH];
  uint32_t r_count, x_count;
  tj_lengths rh[TJ_MAX_RH + 1];
} reduction;

static void mark_reduced(reduction *self, const int64_t dims[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (dims[i] < 0 || dims[i] >= self->from->x_count)
      tj_fail(self->job, TJ_DISTRIBUTION_REDUCE, "tile dimension %" PRId64 " of %" PRIu32, dims[i],
              self->from->x_count);
    if (self->reduced[dims[i]])
      tj_fail(self->job, TJ_DISTRIBUTION_REDUCE, "tile dimension %" PRId64 " is reduced twice", dims[i]);
    self->reduced[dims[i]] = true;
  }
}

static void move_dimension(reduction *self, uint32_t major, uint32_t minor) {
  tj_rh old = {major, minor};
  if (major > 0 && !self->reduced[major - 1]) {
    self->to[major][minor] = (tj_rh){self->x_count + 1, minor};
    return;
  }
  if (major > 0 && tj_distribution_owner_y(self->from, old) >= 0)
    return;
  self->to[major][minor] = (tj_rh){0, self->r_count};
  self->r_length[self->r_count++] = self->from->rh[major].length[minor];
}

static void move_dimensions(reduction *self) {
  for (uint32_t major = 0; major <= self->from->x_count; major++) {
    for (uint32_t minor = 0; minor < self->from->rh[major].count; minor++)
      move_dimension(self, major, minor);
    if (major > 0 && !self->reduced[major - 1])
      self->rh[++self->x_count] = self->from->rh[major];
  }
  self->rh[0] = (tj_lengths){self->r_length, self->r_count};
}

static tj_partition moved_partition(reduction *self, const tj_partition *p) {
  tj_rh *dimensions = TJ_NEW_ARRAY(self->job, tj_rh, p->count);
  for (uint32_t i = 0; i < p->count; i++)
    dimensions[i] = self->to[p->dimension[i].major][p->dimension[i].minor];
  return (tj_partition){dimensions, p->count};
}

const tj_distribution *tj_distribution_reduce(tj_graph *graph, const tj_distribution *from, const int64_t dims[],
                                              uint32_t count) {
  reduction *self = TJ_NEW(graph->job, reduction);
  self->job = graph->job;
  self->from = from;
  mark_reduced(self, dims, count);
  move_dimensions(self);
  tj_partition *p = TJ_NEW_ARRAY(graph->job, tj_partition, from->p_count);
  tj_rh *y = TJ_NEW_ARRAY(graph->job, tj_rh, from->y_count);
  uint32_t y_count = 0;
  for (uint32_t i = 0; i < from->p_count; i++)
    p[i] = moved_partition(self, &from->p[i]);
  for (uint32_t i = 0; i < from->y_count; i++)
    if (from->y[i].major == 0 || !self->reduced[from->y[i].major - 1])
      y[y_count++] = self->to[from->y[i].major][from->y[i].minor];
  return tj_distribution_make(graph, self->rh, self->x_count, p, from->p_count, y, y_count);
}

/* --- slices --- */

/* One tile dimension's part: from begin on, `length` elements. */
typedef struct {
  tj_job *job;
  const tj_distribution *from;
  uint32_t x;
  int64_t begin, length;
  int64_t *origin;     /* by Y */
  int64_t *new_length; /* by minor */
} cut;

/* A digit keeps `kept` of its values, from `first` on. */
static void keep_of_digit(cut *self, uint32_t minor, int64_t first, int64_t kept) {
  int64_t length = self->from->rh[self->x + 1].length[minor];
  if (kept == length)
    return;
  int64_t y = tj_distribution_owner_y(self->from, (tj_rh){self->x + 1, minor});
  if (y < 0)
    tj_fail(self->job, TJ_DISTRIBUTION_SLICE,
            "%" PRId64 " … %" PRId64 " of tile dimension %" PRIu32 " cuts hs[%" PRIu32 "][%" PRIu32
            "] of length %" PRId64 ", which a P owns",
            self->begin, self->begin + self->length, self->x, self->x, minor, length);
  self->new_length[minor] = kept;
  self->origin[y] = first;
}

static _Noreturn void fail_shape(const cut *self, int64_t unit, int64_t digits) {
  tj_fail(self->job, TJ_DISTRIBUTION_SLICE,
          "%" PRId64 " … %" PRId64 " of tile dimension %" PRIu32 " is no range of one digit: blocks of %" PRId64
          " make digits of %" PRId64,
          self->begin, self->begin + self->length, self->x, unit, digits);
}

/* The trailing digits that the part has whole; then one digit of which it has a range; then single values. */
static void cut_digits(cut *self) {
  const tj_lengths *h = &self->from->rh[self->x + 1];
  int64_t unit = 1;
  uint32_t minor = h->count;
  while (minor > 0 && self->length % (unit * h->length[minor - 1]) == 0)
    unit *= h->length[--minor];
  if (minor == 0)
    return;
  int64_t digit = h->length[--minor], kept = self->length / unit, block = self->begin / unit;
  if (self->begin % unit != 0 || block % digit + kept > digit)
    fail_shape(self, unit, digit);
  keep_of_digit(self, minor, block % digit, kept);
  block /= digit;
  while (minor-- > 0) {
    keep_of_digit(self, minor, block % h->length[minor], 1);
    block /= h->length[minor];
  }
}

static void check_range(const cut *self, int64_t end) {
  int64_t length = self->from->x_length[self->x];
  if (self->begin < 0 || end > length || self->begin >= end)
    tj_fail(self->job, TJ_DISTRIBUTION_SLICE,
            "%" PRId64 " … %" PRId64 " is no part of tile dimension %" PRIu32 " of length %" PRId64, self->begin, end,
            self->x, length);
}

const tj_distribution *tj_distribution_slice(tj_graph *graph, const tj_distribution *from, const int64_t begins[],
                                             const int64_t ends[], int64_t origin[]) {
  tj_job *job = graph->job;
  tj_lengths *rh = TJ_NEW_ARRAY(job, tj_lengths, from->x_count + 1);
  rh[0] = from->rh[0];
  for (uint32_t y = 0; y < from->y_count; y++)
    origin[y] = 0;
  for (uint32_t x = 0; x < from->x_count; x++) {
    int64_t end = ends[x] == -1 ? from->x_length[x] : ends[x];
    int64_t *lengths = TJ_NEW_ARRAY(job, int64_t, from->rh[x + 1].count);
    cut self = {job, from, x, begins[x], 0, origin, lengths};
    check_range(&self, end);
    self.length = end - begins[x];
    for (uint32_t i = 0; i < from->rh[x + 1].count; i++)
      lengths[i] = from->rh[x + 1].length[i];
    cut_digits(&self);
    rh[x + 1] = (tj_lengths){lengths, from->rh[x + 1].count};
  }
  return tj_distribution_make(graph, rh, from->x_count, from->p, from->p_count, from->y, from->y_count);
}

/* --- raked patterns --- */

/* Fails unless `divisor` divides `value`, both at least 1. */
static int64_t quotient(tj_job *job, const char *what, int64_t value, const char *by, int64_t divisor) {
  if (value < 1)
    tj_fail(job, TJ_RAKED_PATTERN, "%" PRId64 " %s", value, what);
  if (divisor < 1)
    tj_fail(job, TJ_RAKED_PATTERN, "%" PRId64 " %s", divisor, by);
  if (value % divisor != 0)
    tj_fail(job, TJ_RAKED_PATTERN, "%" PRId64 " %s are not divisible by %" PRId64 " %s", value, what, divisor, by);
  return value / divisor;
}

const tj_distribution *tj_distribution_raked(tj_graph *graph, tj_raked pattern, int64_t rows, int64_t columns,
                                             int64_t threads, int64_t vector, int64_t wave) {
  static const struct {
    uint32_t wave, lane, iteration; /* which digit of the row each is */
  } places[] = {[TJ_RAKED_THREAD] = {0, 1, 2}, [TJ_RAKED_WARP] = {0, 2, 1}, [TJ_RAKED_BLOCK] = {1, 2, 0}};
  tj_job *job = graph->job;
  int64_t waves = quotient(job, "threads", threads, "lanes of a wave", wave);
  int64_t row_lanes = quotient(job, "columns", columns, "columns of a vector", vector);
  int64_t lane_rows = quotient(job, "lanes of a wave", wave, "lanes of a row", row_lanes);
  int64_t iterations = quotient(job, "rows", rows, "rows at once", waves * lane_rows);
  int64_t row[3], column[] = {row_lanes, vector};
  row[places[pattern].wave] = waves;
  row[places[pattern].lane] = lane_rows;
  row[places[pattern].iteration] = iterations;
  const tj_lengths rh[] = {{NULL, 0}, {row, 3}, {column, 2}};
  const tj_rh waves_at[] = {{1, places[pattern].wave}}, lanes_at[] = {{1, places[pattern].lane}, {2, 0}};
  const tj_partition p[] = {{waves_at, 1}, {lanes_at, 2}};
  const tj_rh y[] = {{1, places[pattern].iteration}, {2, 1}};
  return tj_distribution_make(graph, rh, 2, p, 2, y, 2);
}

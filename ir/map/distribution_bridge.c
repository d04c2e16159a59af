/* SPDX-License-Identifier: MIT */
/* Distributions as CuTe (thread, value) layouts, and back.
 *
 * A tile index is colexicographic, first tile dimension fastest, as CuTe numbers a tile. Each digit of a distribution
 * is then a mode with one stride: modes stand fastest first, which is the reverse of how Ps and Ys list them. Back,
 * each mode is cut at the tile's dimensions into digits; the digits of a dimension, sorted by stride, must make it up
 * without gap or overlap. */
#include "ir/map/distribution.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- to a layout --- */

/* The tile index that one step of a dimension is; 0 for R and for length 1. */
static int64_t stride_of(const tj_distribution *d, tj_rh dimension) {
  const tj_lengths *lengths = &d->rh[dimension.major];
  if (dimension.major == 0 || lengths->length[dimension.minor] == 1)
    return 0;
  int64_t stride = 1;
  for (uint32_t i = 0; i + 1 < dimension.major; i++)
    stride *= d->x_length[i];
  for (uint32_t k = dimension.minor + 1; k < lengths->count; k++)
    stride *= lengths->length[k];
  return stride;
}

/* Shape and stride of a mode in progress. */
typedef struct {
  tj_graph *graph;
  const tj_tuple *shape[TJ_MAX_RH], *stride[TJ_MAX_RH];
  uint32_t count;
} mode;

static void add_digit(mode *self, int64_t length, int64_t stride) {
  self->shape[self->count] = tj_tuple_constant(self->graph, length);
  self->stride[self->count++] = tj_tuple_constant(self->graph, stride);
}

/* The mode as an integer where it has one digit and `flat` allows it, else as a tuple. */
static tj_layout close_mode(mode *self, bool flat) {
  if (self->count == 0)
    add_digit(self, 1, 0);
  if (flat && self->count == 1)
    return (tj_layout){self->shape[0], self->stride[0]};
  return (tj_layout){tj_tuple_list(self->graph, self->shape, self->count),
                     tj_tuple_list(self->graph, self->stride, self->count)};
}

static tj_layout partition_mode(tj_graph *graph, const tj_distribution *d, const tj_partition *p, bool flat) {
  mode self = {.graph = graph};
  for (uint32_t i = p->count; i-- > 0;) {
    int64_t length = d->rh[p->dimension[i].major].length[p->dimension[i].minor];
    if (length > 1)
      add_digit(&self, length, stride_of(d, p->dimension[i]));
  }
  return close_mode(&self, flat);
}

static tj_layout thread_mode(tj_graph *graph, const tj_distribution *d) {
  mode self = {.graph = graph};
  if (d->p_count == 1)
    return partition_mode(graph, d, &d->p[0], true);
  for (uint32_t p = d->p_count; p-- > 0;) {
    tj_layout part = partition_mode(graph, d, &d->p[p], false);
    self.shape[self.count] = part.shape;
    self.stride[self.count++] = part.stride;
  }
  return close_mode(&self, d->p_count == 0);
}

static tj_layout value_mode(tj_graph *graph, const tj_distribution *d) {
  mode self = {.graph = graph};
  for (uint32_t y = d->y_count; y-- > 0;)
    add_digit(&self, d->y_length[y], stride_of(d, d->y[y]));
  bool flat = d->y_count == 0 || d->y_length[0] > 1;
  return close_mode(&self, flat);
}

tj_layout tj_distribution_tv_layout(tj_graph *graph, const tj_distribution *d) {
  const tj_layout modes[] = {thread_mode(graph, d), value_mode(graph, d)};
  return tj_layout_concat(graph, modes, 2);
}

/* --- from a layout --- */

enum { OWNER_Y = UINT32_MAX };

/* One digit of a tile dimension, or of R. Ps and Ys own their digits in the order in which these stand, fastest
 * first. */
typedef struct {
  uint32_t x;   /* the tile dimension; x_count for R */
  int64_t step; /* within the tile dimension */
  int64_t length;
  uint32_t owner;  /* the P, or OWNER_Y */
  uint32_t number; /* the digit's place among all */
  tj_rh at;        /* once all digits are known */
} digit;

typedef struct {
  tj_graph *graph;
  tj_job *job;
  uint32_t x_count, p_count;
  int64_t tile[TJ_MAX_RH], first[TJ_MAX_RH]; /* lengths; the tile index of one step */
  digit digit[TJ_MAX_RH];
  uint32_t count;
} reading;

static void read_tile(reading *self, const tj_tuple *tile) {
  uint32_t count;
  const tj_tuple *const *leaves = tj_tuple_leaves(self->graph, tile, &count);
  if (tile->depth > 1 || count == 0 || count > TJ_MAX_RH)
    tj_fail(self->job, TJ_NOT_A_DISTRIBUTION, "the tile %s is not a list of 1 to %d lengths",
            tj_tuple_text(self->job, tile), TJ_MAX_RH);
  int64_t size = 1;
  for (uint32_t i = 0; i < count; i++) {
    self->tile[i] =
        leaves[i]->kind == TJ_TUPLE_INTEGER && tj_is_constant(leaves[i]->value) ? leaves[i]->value->value : 0;
    self->first[i] = size;
    if (self->tile[i] < 1)
      tj_fail(self->job, TJ_NOT_A_DISTRIBUTION, "the tile %s has a length that is not a constant of at least 1",
              tj_tuple_text(self->job, tile));
    if (__builtin_mul_overflow(size, self->tile[i], &size))
      tj_fail(self->job, TJ_INTEGER_OVERFLOW, "the tile %s has too many elements", tj_tuple_text(self->job, tile));
  }
  self->x_count = count;
}

static void add(reading *self, uint32_t x, int64_t step, int64_t length, uint32_t owner) {
  if (self->count == TJ_MAX_RH)
    tj_fail(self->job, TJ_NOT_A_DISTRIBUTION, "the layout has more than %d digits", TJ_MAX_RH);
  self->digit[self->count] = (digit){x, step, length, owner, self->count, {0, 0}};
  self->count++;
}

/* The last tile dimension that a stride does not fall short of. */
static uint32_t dimension_of(const reading *self, int64_t stride) {
  uint32_t x = self->x_count - 1;
  while (x > 0 && (self->first[x] > stride || self->tile[x] == 1))
    x--;
  return x;
}

static _Noreturn void fail_mode(const reading *self, int64_t length, int64_t stride, const char *why) {
  tj_fail(self->job, TJ_NOT_A_DISTRIBUTION, "the mode %" PRId64 ":%" PRId64 " %s", length, stride, why);
}

/* A mode, cut where it leaves a tile dimension. */
static void add_mode(reading *self, int64_t length, int64_t stride, uint32_t owner) {
  if (stride < 0)
    fail_mode(self, length, stride, "runs backwards");
  if (stride == 0 || length == 1) {
    if (length > 1)
      add(self, self->x_count, 0, length, owner);
    else if (owner == OWNER_Y)
      add(self, 0, self->tile[0], 1, owner);
    return;
  }
  for (int64_t rest = length, at = stride; rest > 1;) {
    uint32_t x = dimension_of(self, at);
    int64_t step = at / self->first[x];
    if (at % self->first[x] != 0 || step >= self->tile[x] || self->tile[x] % step != 0)
      fail_mode(self, length, stride, "steps across the tile's dimensions, or out of the tile");
    int64_t room = self->tile[x] / step, here = rest < room ? rest : room;
    if (rest % here != 0 || room % here != 0)
      fail_mode(self, length, stride, "ends in the middle of a tile dimension");
    add(self, x, step, here, owner);
    rest /= here;
    if (rest > 1 && x + 1 == self->x_count)
      fail_mode(self, length, stride, "reaches out of the tile");
    at = self->first[x] * self->tile[x];
  }
}

static void add_modes(reading *self, const tj_tuple *shape, const tj_tuple *stride, uint32_t owner) {
  uint32_t count, stride_count;
  const tj_tuple *const *lengths = tj_tuple_leaves(self->graph, shape, &count);
  const tj_tuple *const *strides = tj_tuple_leaves(self->graph, stride, &stride_count);
  for (uint32_t i = 0; i < count; i++) {
    if (strides[i]->kind != TJ_TUPLE_INTEGER || !tj_is_constant(strides[i]->value) ||
        !tj_is_constant(lengths[i]->value))
      tj_fail(self->job, TJ_NOT_A_DISTRIBUTION, "the mode %s:%s is not of constant integers",
              tj_tuple_text(self->job, lengths[i]), tj_tuple_text(self->job, strides[i]));
    add_mode(self, lengths[i]->value->value, strides[i]->value->value, owner);
  }
}

static void read_threads(reading *self, const tj_tuple *shape, const tj_tuple *stride) {
  if (shape->depth <= 1) {
    self->p_count = 1;
    add_modes(self, shape, stride, 0);
    return;
  }
  self->p_count = shape->count;
  if (self->p_count > TJ_MAX_RH)
    tj_fail(self->job, TJ_NOT_A_DISTRIBUTION, "the thread mode has %" PRIu32 " Ps, more than %d", self->p_count,
            TJ_MAX_RH);
  for (uint32_t i = 0; i < shape->count; i++)
    add_modes(self, shape->item[i], stride->item[i], shape->count - 1 - i);
}

static void read_values(reading *self, const tj_tuple *shape, const tj_tuple *stride) {
  bool none = shape->kind == TJ_TUPLE_INTEGER && tj_is_int(shape->value, 1);
  if (!none)
    add_modes(self, shape, stride, OWNER_Y);
}

/* --- digits in their places --- */

/* By tile dimension, slowest first; what is equally fast, later first. */
static int compare_digits(const void *a, const void *b) {
  const digit *left = *(const digit *const *)a, *right = *(const digit *const *)b;
  if (left->x != right->x)
    return left->x < right->x ? -1 : 1;
  if (left->step != right->step)
    return left->step > right->step ? -1 : 1;
  return left->number > right->number ? -1 : left->number < right->number;
}

static void check_digits(const reading *self, uint32_t x, digit *const sorted[], uint32_t count) {
  int64_t covered = 1;
  for (uint32_t i = count; i-- > 0; covered *= sorted[i]->length) {
    if (sorted[i]->step < covered)
      tj_fail(self->job, TJ_NOT_A_DISTRIBUTION,
              "elements of tile dimension %" PRIu32 " are held twice: steps of %" PRId64 " within blocks of %" PRId64,
              x, sorted[i]->step, covered);
    if (sorted[i]->step > covered && sorted[i]->length > 1)
      tj_fail(self->job, TJ_NOT_A_DISTRIBUTION,
              "elements of tile dimension %" PRIu32 " are held by no thread: steps of %" PRId64
              " leave gaps after blocks of %" PRId64,
              x, sorted[i]->step, covered);
  }
  if (covered != self->tile[x])
    tj_fail(self->job, TJ_NOT_A_DISTRIBUTION,
            "tile dimension %" PRIu32 " has %" PRId64 " elements, %" PRId64 " are held", x, self->tile[x], covered);
}

/* Gives each digit its major and minor, and writes the lengths of R and H. */
static void place_digits(reading *self, tj_lengths rh[]) {
  digit **sorted = TJ_NEW_ARRAY(self->job, digit *, self->count);
  for (uint32_t i = 0; i < self->count; i++)
    sorted[i] = &self->digit[i];
  qsort(sorted, self->count, sizeof(digit *), compare_digits);
  uint32_t begin = 0;
  for (uint32_t x = 0; x <= self->x_count; x++) {
    uint32_t major = x == self->x_count ? 0 : x + 1, end = begin;
    while (end < self->count && sorted[end]->x == x)
      end++;
    int64_t *lengths = TJ_NEW_ARRAY(self->job, int64_t, end - begin);
    for (uint32_t i = begin; i < end; i++) {
      sorted[i]->at = (tj_rh){major, i - begin};
      lengths[i - begin] = sorted[i]->length;
    }
    if (x < self->x_count)
      check_digits(self, x, sorted + begin, end - begin);
    rh[major] = (tj_lengths){lengths, end - begin};
    begin = end;
  }
}

/* What one owner has, last fastest. */
static tj_partition owned_by(const reading *self, uint32_t owner) {
  tj_rh *dimensions = TJ_NEW_ARRAY(self->job, tj_rh, self->count);
  uint32_t count = 0;
  for (uint32_t i = self->count; i-- > 0;)
    if (self->digit[i].owner == owner)
      dimensions[count++] = self->digit[i].at;
  return (tj_partition){dimensions, count};
}

const tj_distribution *tj_distribution_of_tv(tj_graph *graph, tj_layout tv, const tj_tuple *tile) {
  reading *self = TJ_NEW(graph->job, reading);
  self->graph = graph;
  self->job = graph->job;
  if (tj_tuple_rank(tv.shape) != 2)
    tj_fail(self->job, TJ_NOT_A_DISTRIBUTION, "a (thread, value) layout has two modes, not %" PRIu32,
            tj_tuple_rank(tv.shape));
  read_tile(self, tile);
  read_threads(self, tv.shape->item[0], tv.stride->item[0]);
  read_values(self, tv.shape->item[1], tv.stride->item[1]);
  tj_lengths *rh = TJ_NEW_ARRAY(self->job, tj_lengths, self->x_count + 1);
  place_digits(self, rh);
  tj_partition *p = TJ_NEW_ARRAY(self->job, tj_partition, self->p_count);
  for (uint32_t i = 0; i < self->p_count; i++)
    p[i] = owned_by(self, i);
  tj_partition y = owned_by(self, OWNER_Y);
  return tj_distribution_make(graph, rh, self->x_count, p, self->p_count, y.dimension, y.count);
}

/* SPDX-License-Identifier: MIT */
/* Functions on tile distributions: making them from lists, what is derived from them, operations, bridges. */
#include "frontend/sema/call.h"

#include <inttypes.h>
#include <string.h>

/* --- lists of integers --- */

/* Integers of a list (or a tuple, or one integer) in brackets; at most TJ_MAX_RH. */
static const int64_t *integers_of(tj_call *call, const tj_value *value, const char *what, uint32_t *count) {
  bool is_list = value->kind == TJ_VALUE_LIST;
  bool is_tuple = value->kind == TJ_VALUE_TUPLE && tj_tuple_is_list(value->tuple);
  *count = is_list ? value->count : is_tuple ? value->tuple->count : 1;
  if (*count > TJ_MAX_RH)
    tj_fail(call->job, TJ_DISTRIBUTION_ARGUMENT, "%s has %" PRIu32 " entries, more than %d", what, *count, TJ_MAX_RH);
  int64_t *integers = TJ_NEW_ARRAY(call->job, int64_t, *count);
  const char *entry = tj_string_format(call->job, "an entry of %s", what);
  for (uint32_t i = 0; i < *count; i++) {
    const tj_value *item = is_list    ? value->item[i]
                           : is_tuple ? tj_value_of_tuple(call->graph, value->tuple->item[i])
                                      : value;
    integers[i] = tj_need_constant(call->graph, item, entry);
  }
  return integers;
}

static const tj_value *value_of_integers(tj_call *call, const int64_t integers[], uint32_t count) {
  return tj_value_of_tuple(call->graph, tj_tuple_constants(call->graph, integers, count));
}

static const tj_value *list_of_integers(tj_call *call, const int64_t integers[], uint32_t count) {
  const tj_value **items = TJ_NEW_ARRAY(call->job, const tj_value *, count);
  for (uint32_t i = 0; i < count; i++)
    items[i] = tj_value_of_node(call->graph, tj_int(call->graph, integers[i]));
  return tj_value_of_items(call->graph, TJ_VALUE_LIST, items, count);
}

static const tj_value *value_of_distribution(tj_call *call, const tj_distribution *distribution) {
  return tj_value_of_distribution(call->graph, distribution);
}

/* --- distribution(…) --- */

/* A named argument, which must be there and a list; it is to blame from here on. */
static const tj_value *list_argument(tj_call *call, const char *name) {
  const tj_value *value = tj_arg_blamed(call, name);
  if (value == NULL)
    tj_fail(call->job, TJ_DISTRIBUTION_ARGUMENT, "%s= is missing", name);
  if (value->kind != TJ_VALUE_LIST)
    tj_fail_type(call->job, value, name, "a list in brackets");
  if (value->count > TJ_MAX_RH)
    tj_fail(call->job, TJ_DISTRIBUTION_ARGUMENT, "%s has %" PRIu32 " entries, more than %d", name, value->count,
            TJ_MAX_RH);
  return value;
}

static const tj_value *item_list(tj_call *call, const char *name, const tj_value *list, uint32_t i) {
  if (list->item[i]->kind != TJ_VALUE_LIST)
    tj_fail_type(call->job, list->item[i], tj_string_format(call->job, "%s[%" PRIu32 "]", name, i),
                 "a list in brackets");
  return list->item[i];
}

static const tj_lengths *rh_argument(tj_call *call, uint32_t *x_count) {
  const tj_value *hs = list_argument(call, "hs");
  tj_lengths *rh = TJ_NEW_ARRAY(call->job, tj_lengths, hs->count + 1);
  for (uint32_t i = 0; i < hs->count; i++)
    rh[i + 1].length = integers_of(call, item_list(call, "hs", hs, i), "hs", &rh[i + 1].count);
  if (tj_arg_named(call, "rs") != NULL)
    rh[0].length = integers_of(call, list_argument(call, "rs"), "rs", &rh[0].count);
  *x_count = hs->count;
  return rh;
}

/* An entry of the argument `name`. */
static uint32_t number_of(tj_call *call, const char *name, int64_t number) {
  if (number < 0 || number > TJ_MAX_RH) {
    tj_arg_blamed(call, name);
    tj_fail(call->job, TJ_DISTRIBUTION_INDEX, "%s has %" PRId64, name, number);
  }
  return (uint32_t)number;
}

/* Pairs of two lists of equal length; `what` is ps or ys. */
static tj_partition pairs_of(tj_call *call, const char *what, const tj_value *major, const tj_value *minor) {
  uint32_t count, minor_count;
  const char *major_name = tj_string_format(call->job, "%s_major", what);
  const char *minor_name = tj_string_format(call->job, "%s_minor", what);
  const int64_t *majors = integers_of(call, major, major_name, &count);
  const int64_t *minors = integers_of(call, minor, minor_name, &minor_count);
  if (count != minor_count)
    tj_fail(call->job, TJ_DISTRIBUTION_ARGUMENT, "%" PRIu32 " majors stand against %" PRIu32 " minors in %s and %s",
            count, minor_count, major_name, minor_name);
  tj_rh *dimensions = TJ_NEW_ARRAY(call->job, tj_rh, count);
  for (uint32_t i = 0; i < count; i++)
    dimensions[i] = (tj_rh){number_of(call, major_name, majors[i]), number_of(call, minor_name, minors[i])};
  return (tj_partition){dimensions, count};
}

static const tj_partition *p_argument(tj_call *call, uint32_t *count) {
  tj_span here = call->job->here;
  const tj_value *major = list_argument(call, "ps_major");
  call->job->here = here;
  const tj_value *minor = list_argument(call, "ps_minor");
  if (major->count != minor->count)
    tj_fail(call->job, TJ_DISTRIBUTION_ARGUMENT, "ps_major has %" PRIu32 " lists, ps_minor %" PRIu32, major->count,
            minor->count);
  tj_partition *p = TJ_NEW_ARRAY(call->job, tj_partition, major->count);
  for (uint32_t i = 0; i < major->count; i++)
    p[i] = pairs_of(call, "ps", item_list(call, "ps_major", major, i), item_list(call, "ps_minor", minor, i));
  *count = major->count;
  return p;
}

const tj_value *tj_builtin_distribution(tj_call *call) {
  tj_span here = call->job->here;
  uint32_t x_count, p_count;
  const tj_lengths *rh = rh_argument(call, &x_count);
  call->job->here = here;
  const tj_partition *p = p_argument(call, &p_count);
  call->job->here = here;
  const tj_value *major = list_argument(call, "ys_major");
  call->job->here = here;
  tj_partition y = pairs_of(call, "ys", major, list_argument(call, "ys_minor"));
  call->job->here = here;
  return value_of_distribution(call,
                               tj_distribution_make(call->graph, rh, x_count, p, p_count, y.dimension, y.count));
}

/* --- what is derived --- */

const tj_value *tj_builtin_xs(tj_call *call) {
  return tj_value_of_adaptor(call->graph, tj_distribution_adaptor(call->graph, tj_arg_distribution(call, 0)));
}

const tj_value *tj_builtin_ys_to_d(tj_call *call) {
  return tj_value_of_layout(call->graph, tj_distribution_registers(call->graph, tj_arg_distribution(call, 0)));
}

const tj_value *tj_builtin_p_lengths(tj_call *call) {
  const tj_distribution *d = tj_arg_distribution(call, 0);
  return value_of_integers(call, d->p_length, d->p_count);
}

const tj_value *tj_builtin_y_lengths(tj_call *call) {
  const tj_distribution *d = tj_arg_distribution(call, 0);
  return value_of_integers(call, d->y_length, d->y_count);
}

const tj_value *tj_builtin_x_lengths(tj_call *call) {
  const tj_distribution *d = tj_arg_distribution(call, 0);
  return value_of_integers(call, d->x_length, d->x_count);
}

const tj_value *tj_builtin_rh_counts(tj_call *call) {
  const tj_distribution *d = tj_arg_distribution(call, 0);
  int64_t counts[TJ_MAX_RH + 1];
  for (uint32_t i = 0; i <= d->x_count; i++)
    counts[i] = d->rh[i].count;
  return value_of_integers(call, counts, d->x_count + 1);
}

/* A list with, for each dimension of each list of R and H from `first` on, what `of` says of it; entries of which it
 * says INT64_MIN are left out. */
static const tj_value *by_dimension(tj_call *call, uint32_t first,
                                    int64_t (*of)(const tj_distribution *d, tj_rh dimension)) {
  const tj_distribution *d = tj_arg_distribution(call, 0);
  const tj_value *lists[TJ_MAX_RH + 1];
  for (uint32_t major = first; major <= d->x_count; major++) {
    int64_t entries[TJ_MAX_RH];
    uint32_t count = 0;
    for (uint32_t minor = 0; minor < d->rh[major].count; minor++) {
      entries[count] = of(d, (tj_rh){major, minor});
      count += entries[count] != INT64_MIN;
    }
    lists[major - first] = list_of_integers(call, entries, count);
  }
  return tj_value_of_items(call->graph, TJ_VALUE_LIST, lists, d->x_count + 1 - first);
}

static int64_t length_of(const tj_distribution *d, tj_rh dimension) {
  return d->rh[dimension.major].length[dimension.minor];
}

static int64_t span_length(const tj_distribution *d, tj_rh dimension) {
  return tj_distribution_owner_y(d, dimension) < 0 ? INT64_MIN : length_of(d, dimension);
}

const tj_value *tj_builtin_rh_lengths(tj_call *call) {
  return by_dimension(call, 0, length_of);
}

const tj_value *tj_builtin_rh_to_ys(tj_call *call) {
  return by_dimension(call, 0, tj_distribution_owner_y);
}

const tj_value *tj_builtin_spans(tj_call *call) {
  return by_dimension(call, 1, span_length);
}

/* The place of a Y's dimension among those of its list that Ys own. */
static int64_t place_in_span(const tj_distribution *d, tj_rh dimension) {
  int64_t place = 0;
  for (uint32_t minor = 0; minor < dimension.minor; minor++)
    place += tj_distribution_owner_y(d, (tj_rh){dimension.major, minor}) >= 0;
  return place;
}

const tj_value *tj_builtin_ys_to_spans(tj_call *call) {
  const tj_distribution *d = tj_arg_distribution(call, 0);
  const tj_value *pairs[TJ_MAX_RH];
  for (uint32_t y = 0; y < d->y_count; y++) {
    int64_t pair[] = {(int64_t)d->y[y].major - 1, place_in_span(d, d->y[y])};
    pairs[y] = value_of_integers(call, pair, 2);
  }
  return tj_value_of_items(call->graph, TJ_VALUE_LIST, pairs, d->y_count);
}

static const tj_value *p_and_r(tj_call *call, bool want_step) {
  const tj_distribution *d = tj_arg_distribution(call, 0);
  const tj_value *lists[TJ_MAX_RH];
  for (uint32_t p = 0; p < d->p_count; p++) {
    int64_t entries[TJ_MAX_RH];
    for (uint32_t r = 0; r < d->rh[0].count; r++) {
      entries[r] = tj_distribution_p_over_r(d, p, r);
      if (!want_step)
        entries[r] = entries[r] != 0;
    }
    lists[p] = list_of_integers(call, entries, d->rh[0].count);
  }
  return tj_value_of_items(call->graph, TJ_VALUE_LIST, lists, d->p_count);
}

const tj_value *tj_builtin_p_owns_r(tj_call *call) {
  return p_and_r(call, false);
}

const tj_value *tj_builtin_p_over_r(tj_call *call) {
  return p_and_r(call, true);
}

const tj_value *tj_builtin_h_prefix_sums(tj_call *call) {
  const tj_distribution *d = tj_arg_distribution(call, 0);
  int64_t sums[TJ_MAX_RH + 1] = {0};
  for (uint32_t i = 0; i < d->x_count; i++)
    sums[i + 1] = sums[i] + d->rh[i + 1].count;
  return value_of_integers(call, sums, d->x_count + 1);
}

const tj_value *tj_builtin_sorted_ys(tj_call *call) {
  const tj_distribution *d = tj_arg_distribution(call, 0);
  uint32_t sorted[TJ_MAX_RH];
  int64_t numbers[TJ_MAX_RH];
  tj_distribution_sorted_ys(d, sorted);
  for (uint32_t y = 0; y < d->y_count; y++)
    numbers[y] = sorted[y];
  return value_of_integers(call, numbers, d->y_count);
}

/* --- operations --- */

const tj_value *tj_builtin_embed_distribution(tj_call *call) {
  return value_of_distribution(
      call, tj_distribution_embed(call->graph, tj_arg_distribution(call, 0), tj_arg_distribution(call, 1)));
}

const tj_value *tj_builtin_reduce_distribution(tj_call *call) {
  const tj_distribution *d = tj_arg_distribution(call, 0);
  uint32_t count;
  const int64_t *dims = integers_of(call, call->arg[1], "the list of tile dimensions", &count);
  return value_of_distribution(call, tj_distribution_reduce(call->graph, d, dims, count));
}

/* One corner of a slice: an integer for each tile dimension. */
static const int64_t *corner(tj_call *call, const tj_distribution *d, uint32_t index, const char *what) {
  uint32_t count;
  const int64_t *integers = integers_of(call, call->arg[index], what, &count);
  if (count != d->x_count)
    tj_fail(call->job, TJ_DISTRIBUTION_SLICE, "%s of a slice: %" PRIu32 " integers for %" PRIu32 " tile dimensions",
            what, count, d->x_count);
  return integers;
}

static const tj_distribution *slice(tj_call *call, int64_t origin[]) {
  const tj_distribution *d = tj_arg_distribution(call, 0);
  const int64_t *begins = corner(call, d, 1, "the begins"), *ends = corner(call, d, 2, "the ends");
  return tj_distribution_slice(call->graph, d, begins, ends, origin);
}

const tj_value *tj_builtin_slice_distribution(tj_call *call) {
  int64_t origin[TJ_MAX_RH];
  return value_of_distribution(call, slice(call, origin));
}

const tj_value *tj_builtin_slice_origins(tj_call *call) {
  int64_t origin[TJ_MAX_RH];
  const tj_distribution *sliced = slice(call, origin);
  return value_of_integers(call, origin, sliced->y_count);
}

static const tj_value *raked(tj_call *call, tj_raked pattern) {
  uint32_t count;
  const int64_t *tile = integers_of(call, call->arg[0], "the tile", &count);
  if (count != 2)
    tj_fail(call->job, TJ_RAKED_PATTERN, "the tile has %" PRIu32 " dimensions, not (rows, columns)", count);
  const tj_value *wave = tj_arg_named(call, "wave");
  int64_t lanes = wave != NULL ? tj_need_constant(call->graph, wave, "wave") : 64;
  return value_of_distribution(call,
                               tj_distribution_raked(call->graph, pattern, tile[0], tile[1], tj_arg_constant(call, 1),
                                                     tj_arg_constant(call, 2), lanes));
}

const tj_value *tj_builtin_thread_raked(tj_call *call) {
  return raked(call, TJ_RAKED_THREAD);
}

const tj_value *tj_builtin_warp_raked(tj_call *call) {
  return raked(call, TJ_RAKED_WARP);
}

const tj_value *tj_builtin_block_raked(tj_call *call) {
  return raked(call, TJ_RAKED_BLOCK);
}

/* --- bridges --- */

const tj_value *tj_builtin_tv_layout(tj_call *call) {
  return tj_value_of_layout(call->graph, tj_distribution_tv_layout(call->graph, tj_arg_distribution(call, 0)));
}

const tj_value *tj_builtin_distribution_of(tj_call *call) {
  return value_of_distribution(call,
                               tj_distribution_of_tv(call->graph, tj_arg_layout(call, 0), tj_arg_tuple(call, 1)));
}

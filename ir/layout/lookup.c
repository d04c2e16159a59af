/* SPDX-License-Identifier: MIT */
/* Tables of integers as expressions: a binary search among runs of entries.
 *
 * A run is a stretch of the table in which entries grow by one step: a sum and a product. Runs of less than three
 * different entries are no gain over the entries themselves. */
#include "ir/layout/lookup.h"

#include "ir/layout/arith.h"

/* entry[first] + step * (i - first), for i from `first` to the next run's. */
typedef struct {
  uint32_t first;
  int64_t step;
} run;

typedef struct {
  tj_graph *graph;
  const tj_node *const *entry;
  const tj_node *index;
  run *run;
  uint32_t run_count;
} search;

/* How much the entry after `i` is larger; false where that is not a number. */
static bool growth(const tj_node *const entry[], uint32_t i, int64_t *step) {
  if (entry[i] == entry[i + 1]) {
    *step = 0;
    return true;
  }
  return tj_is_constant(entry[i]) && tj_is_constant(entry[i + 1]) &&
         !__builtin_sub_overflow(entry[i + 1]->value, entry[i]->value, step);
}

/* Where the run ends that begins at `first`. */
static uint32_t end_of_run(const tj_node *const entry[], uint32_t count, uint32_t first, int64_t *step) {
  int64_t next;
  uint32_t end = first + 1;
  if (end == count || !growth(entry, first, step))
    *step = 0;
  else
    for (end++; end < count && growth(entry, end - 1, &next) && next == *step; end++)
      ;
  if (*step == 0 || end - first > 2)
    return end;
  *step = 0;
  return first + 1;
}

static void find_runs(search *s, uint32_t count) {
  s->run = TJ_NEW_ARRAY(s->graph->job, run, count);
  for (uint32_t first = 0, end; first < count; first = end) {
    int64_t step;
    end = end_of_run(s->entry, count, first, &step);
    s->run[s->run_count++] = (run){first, step};
  }
}

static const tj_node *value_in_run(const search *s, const run *r) {
  const tj_node *distance = tj_terse_sub(s->graph, s->index, tj_int(s->graph, r->first));
  return tj_terse_add(s->graph, tj_terse_mul(s->graph, distance, tj_int(s->graph, r->step)), s->entry[r->first]);
}

/* As deep as the binary logarithm of the number of runs. */
static const tj_node *value_among(const search *s, uint32_t begin, uint32_t end) {
  if (end - begin == 1)
    return value_in_run(s, &s->run[begin]);
  uint32_t middle = begin + (end - begin) / 2;
  const tj_node *is_before = tj_less(s->graph, s->index, tj_int(s->graph, s->run[middle].first));
  return tj_select(s->graph, is_before, value_among(s, begin, middle), value_among(s, middle, end));
}

const tj_node *tj_lookup(tj_graph *graph, const tj_node *const entry[], uint32_t count, const tj_node *index) {
  tj_spend(graph->job, tj_is_constant(index) ? 1 : count);
  int64_t last = (int64_t)count - 1;
  if (tj_is_constant(index))
    return entry[index->value < 0 ? 0 : index->value > last ? last : index->value];
  search s = {.graph = graph, .entry = entry, .index = index};
  if (index->facts.low < 0)
    s.index = tj_max(graph, s.index, tj_int(graph, 0));
  if (index->facts.high > last)
    s.index = tj_min(graph, s.index, tj_int(graph, last));
  find_runs(&s, count);
  return value_among(&s, 0, s.run_count);
}

/* SPDX-License-Identifier: MIT */
/* What work-items hold, in numbers, against the expressions that say the same. */
#include "ir/value/mapping_held.h"

#include "frontend/sema/sema.h"
#include "frontend/text/parser.h"
#include "ir/index/eval.h"
#include "ir/value/value.h"
#include "tests/unit/support/harness.h"

#include <string.h>

static const struct {
  const char *what, *text;
} mappings[] = {
    {"plain", "mapping(load=((8,32),4):((4@1,1@0),1@1))"},
    {"index", "mapping(tile=(16,4), store=(16,4):(4,1))"},
    {"index of three modes", "mapping(tile=(4,6,5), load=(24,5):(5,1), store=(24,5):(1,24))"},
    {"items that change numbers by bits", "mapping(load=((8,8),4):((4@1,1@0),1@1), load_as=linear([2, 1, 4, _]))"},
    {"items that change numbers by a swizzle", "mapping(load=((8,8),4):((4@1,1@0),1@1), load_as=Sw<2,0,3>)"},
    {"items that change numbers by a layout", "mapping(load=((8,8),4):((4@1,1@0),1@1), load_as=(8,8):(8,1))"},
    {"the last items begin earlier", "mapping(tile=(10,4), load=((3,4),4):((4@0,1@1),1@0), overlap=(2,0))"},
    {"the last slots begin earlier", "mapping(tile=(10,4), load=(4,(4,3)):(1@1,(1@0,4@0)), overlap=(2,0))"},
    {"items of one", "mapping(tile=(4,4), load=((1,4),4):((0,1@1),1@0))"},
    {"repeated elements", "mapping(tile=(4,4), load=((4,2),(4,2)):((1@1,0@1),(1@0,0@1)))"},
};

enum { MAPPINGS = sizeof mappings / sizeof *mappings, MOST_MODES = 4, BEYOND = 5 };

static const tj_mapping *read_mapping(tj_graph *graph, const char *text) {
  graph->job->source = tj_source_of("test", text, strlen(text));
  const tj_program_values *values = tj_evaluate(graph, tj_parse(graph->job), NULL, 0);
  ck_assert_int_eq(values->value->kind, TJ_VALUE_MAPPING);
  return values->value->mapping;
}

/* Of a work-item that is one of the side's: that the element of a slot is at the same place, and there alike. */
static void compare(tj_graph *graph, const char *what, const tj_held *held, const tj_mapping_place *place,
                    const int64_t symbol[], uint32_t item, uint32_t slot) {
  uint32_t rank = tj_mapping_rank(held->mapping);
  const tj_node *node[MOST_MODES + 1] = {place->is_there};
  int64_t expected[MOST_MODES + 1], found[MOST_MODES];
  memcpy(node + 1, place->digit, rank * sizeof *node);
  ck_assert_int_eq(
      tj_eval_nodes(node, rank + 1, &(tj_bindings){.value = symbol, .count = graph->symbol_count}, expected),
      TJ_EVAL_OK);
  tj_held_at(held, item, slot, found);
  if (held->is_holder[item] && held->is_first[slot])
    ck_assert_msg(tj_held_has(held, item, slot) == (expected[0] != 0), "%s: item %u, slot %u", what, item, slot);
  for (uint32_t m = 0; m < rank && expected[0] != 0; m++)
    ck_assert_msg(found[m] == expected[m + 1], "%s: item %u, slot %u: %lld along mode %u, not %lld", what, item, slot,
                  (long long)found[m], m, (long long)expected[m + 1]);
}

static void compare_side(tj_graph *graph, const char *what, const tj_mapping *mapping, bool leaves_out) {
  const tj_mapping_side *side = &mapping->load;
  uint32_t items = tj_mapping_work_items(graph, side) + BEYOND;
  const tj_node *t = tj_coordinate(graph, "t", tj_int(graph, items)), *number = tj_mapping_item(graph, side, t);
  const tj_node *const *digits = tj_mapping_item_digits(graph, side, number, false);
  tj_held held = tj_mapping_held(graph, mapping, side, items, leaves_out);
  uint32_t held_at_all = 0;
  for (uint32_t slot = 0; slot < side->slots; slot++) {
    tj_mapping_place place = tj_mapping_at(graph, mapping, side, digits, slot, leaves_out);
    int64_t *symbol = TJ_NEW_ARRAY(graph->job, int64_t, graph->symbol_count);
    for (uint32_t item = 0; item < items; item++) {
      symbol[t->symbol->index] = item;
      held_at_all += tj_held_has(&held, item, slot);
      if (item < side->items)
        compare(graph, what, &held, &place, symbol, item, slot);
    }
  }
  int64_t elements = 1;
  for (uint32_t m = 0; m < tj_mapping_rank(mapping); m++)
    elements *= tj_mapping_extent(mapping, m);
  if (leaves_out)
    ck_assert_msg(held_at_all == elements, "%s: %u of %lld elements are held once", what, held_at_all,
                  (long long)elements);
}

static void compare_mapping(tj_job *job, void *data) {
  const int *row = data;
  tj_graph *graph = tj_graph_create(job);
  const tj_mapping *mapping = read_mapping(graph, mappings[*row].text);
  compare_side(graph, mappings[*row].what, mapping, false);
  compare_side(graph, mappings[*row].what, mapping, true);
}

START_TEST(numbers_are_those_of_expressions) {
  for (int row = 0; row < MAPPINGS; row++) {
    tj_job job;
    tj_job_init(&job, NULL);
    expect_success(&job, compare_mapping, &row);
    tj_job_destroy(&job);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {numbers_are_those_of_expressions};
  return run_suite(suite_of("mapping_held", tests, sizeof tests / sizeof tests[0]));
}

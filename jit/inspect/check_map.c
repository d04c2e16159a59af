/* SPDX-License-Identifier: MIT */
/* Checks of maps: one to one, onto, inside the space; which coordinates are not valid; what can be moved at once;
 * and, for a target, the cycles of LDS that holds a tile in this layout. */
#include "jit/inspect/check.h"

#include "base/text.h"
#include "ir/value/table.h"

#include <inttypes.h>
#include <string.h>

enum { WIDEST = 16, MOST_INSTRUCTIONS = 64, MOST_TABLE = 1 << 20, MOST_SHOWN_BOXES = 8 };

/* --- findings --- */

tj_finding *tj_find(tj_findings *findings, const char *about, tj_finding_verdict verdict, const char *format, ...) {
  if (findings->count == findings->capacity) {
    uint32_t capacity = findings->capacity == 0 ? 16 : 2 * findings->capacity;
    tj_finding *grown = TJ_NEW_ARRAY(findings->job, tj_finding, capacity);
    if (findings->count > 0)
      memcpy(grown, findings->item, findings->count * sizeof *grown);
    findings->item = grown;
    findings->capacity = capacity;
  }
  tj_text text = tj_text_begin(findings->job);
  va_list arguments;
  va_start(arguments, format);
  tj_text_format_list(&text, format, arguments);
  va_end(arguments);
  tj_finding *finding = &findings->item[findings->count++];
  *finding = (tj_finding){.about = about, .verdict = verdict, .text = text.data};
  return finding;
}

void tj_finding_number(tj_finding *finding, const char *name, int64_t value) {
  if (finding->number_count == TJ_FINDING_NUMBERS)
    return;
  finding->number[finding->number_count].name = name;
  finding->number[finding->number_count++].value = value;
}

static tj_finding_verdict verdict_of(tj_decision decision) {
  return decision == TJ_YES ? TJ_FINDING_YES : decision == TJ_NO ? TJ_FINDING_NO : TJ_FINDING_UNKNOWN;
}

static void add_number(tj_finding *finding, const char *name, const tj_node *node) {
  if (node != NULL && tj_is_constant(node))
    tj_finding_number(finding, name, node->value);
}

/* --- the image --- */

static const char *text_of(tj_graph *graph, const tj_tuple *tuple) {
  return tj_tuple_text(graph->job, tuple);
}

static void find_injective(tj_graph *graph, const tj_map_image *image, tj_findings *findings) {
  bool has_example = image->is_injective == TJ_NO && image->collision[0] != NULL;
  tj_find(findings, "injective", verdict_of(image->is_injective), "%s%s%s%s",
          has_example ? text_of(graph, image->collision[0]) : "", has_example ? " and " : "",
          has_example ? text_of(graph, image->collision[1]) : "", has_example ? " have the same value" : "");
}

/* Examples are looked for only where there is something to show. */
void tj_check_injective(const tj_check *check, const tj_value *map, tj_findings *findings) {
  tj_map_image image = tj_map_image_by_structure(check->graph, map);
  if (image.is_injective != TJ_YES && image.collision[0] == NULL)
    image = tj_map_image_of(check->graph, map);
  find_injective(check->graph, &image, findings);
}

static void check_surjective(tj_graph *graph, const tj_map_image *image, tj_findings *findings) {
  bool has_example = image->is_surjective == TJ_NO && image->gap != NULL;
  bool has_others = image->is_surjective == TJ_NO && image->gap == NULL && image->outside != NULL;
  tj_find(findings, "surjective", verdict_of(image->is_surjective), "%s%s",
          has_example ? text_of(graph, image->gap) : "",
          has_example  ? " is no value"
          : has_others ? "values lie outside of the space"
                       : "");
}

static void check_coverage(tj_graph *graph, const tj_map_image *image, tj_findings *findings) {
  if (image->reached == NULL || image->most == NULL)
    return;
  tj_finding *finding =
      tj_find(findings, "coverage", TJ_FINDING_FACT, "%s of %s elements, each by at most %s",
              tj_describe(graph, image->reached), tj_describe(graph, image->space), tj_describe(graph, image->most));
  add_number(finding, "reached", image->reached);
  add_number(finding, "elements", image->space);
  add_number(finding, "most", image->most);
}

/* What addresses memory may reach no element that is not there. */
static void check_inside(tj_graph *graph, const tj_value *map, const tj_map_image *image, tj_findings *findings) {
  if (map->kind == TJ_VALUE_LAYOUT && image->outside == NULL)
    return;
  bool known = image->outside != NULL || image->is_surjective == TJ_YES ||
               (image->reached != NULL && image->is_surjective != TJ_UNKNOWN);
  tj_finding *finding = tj_find(findings, "inside",
                                image->outside != NULL ? TJ_FINDING_NO
                                : known                ? TJ_FINDING_YES
                                                       : TJ_FINDING_UNKNOWN,
                                "%s%s", image->outside != NULL ? text_of(graph, image->outside) : "",
                                image->outside != NULL ? " is valid, and its value lies outside of the space" : "");
  finding->must_hold = image->outside != NULL;
}

static void check_image(const tj_check *check, const tj_value *map, tj_findings *findings) {
  tj_graph *graph = check->graph;
  tj_map_image image = tj_map_image_of(graph, map);
  find_injective(graph, &image, findings);
  check_surjective(graph, &image, findings);
  tj_decision both = image.is_injective == TJ_NO || image.is_surjective == TJ_NO     ? TJ_NO
                     : image.is_injective == TJ_YES && image.is_surjective == TJ_YES ? TJ_YES
                                                                                     : TJ_UNKNOWN;
  tj_find(findings, "bijective", verdict_of(both), "%s", "");
  check_coverage(graph, &image, findings);
  check_inside(graph, map, &image, findings);
}

/* --- validity --- */

typedef struct {
  tj_graph *graph;
  const tj_map *map;
  tj_invalid_set set;
} validity_attempt;

static void try_validity(tj_job *job, void *data) {
  (void)job;
  validity_attempt *attempt = data;
  attempt->set = tj_invalid_set_of(attempt->graph, attempt->map);
}

static void check_validity(const tj_check *check, const tj_value *map, tj_findings *findings) {
  tj_graph *graph = check->graph;
  tj_map of = tj_map_of_value(graph, map);
  validity_attempt attempt = {.graph = graph, .map = &of};
  if (of.valid == NULL)
    return;
  if (!tj_job_try(graph->job, try_validity, &attempt)) {
    tj_find(findings, "invalid", TJ_FINDING_UNKNOWN, "%s", graph->job->problem.message);
    return;
  }
  const tj_invalid_set *set = &attempt.set;
  tj_text text = tj_text_begin(graph->job);
  tj_text_format(&text, "%s coordinates", tj_is_int(set->count, 0) ? "no" : tj_describe(graph, set->count));
  uint32_t shown = set->box_count < MOST_SHOWN_BOXES ? set->box_count : MOST_SHOWN_BOXES;
  for (uint32_t i = 0; i < shown; i++) {
    tj_text_format(&text, "%s from %s", i == 0 ? ":" : ",",
                   text_of(graph, tj_box_corner(graph, of.domain, set->box[i].begin)));
    tj_text_format(&text, " to before %s", text_of(graph, tj_box_corner(graph, of.domain, set->box[i].end)));
  }
  if (!set->is_complete || shown < set->box_count)
    tj_text_string(&text, ", …");
  add_number(tj_find(findings, "invalid", TJ_FINDING_FACT, "%s", text.data), "invalid", set->count);
}

/* --- vectors --- */

static tj_vector check_vector(const tj_check *check, const tj_value *map, tj_findings *findings) {
  tj_vector widest = tj_widest_vector(check->graph, map, WIDEST / check->element_bytes);
  tj_finding *finding;
  if (widest.elements > 1)
    finding = tj_find(findings, "vector", TJ_FINDING_FACT, "%u elements of %s along mode %u, %u bytes",
                      widest.elements, check->dtype, widest.mode, widest.elements * check->element_bytes);
  else
    finding = tj_find(findings, "vector", TJ_FINDING_FACT,
                      "1 element of %s: nothing is surely contiguous and aligned", check->dtype);
  tj_finding_number(finding, "elements", widest.elements);
  tj_finding_number(finding, "bytes", widest.elements * check->element_bytes);
  tj_finding_number(finding, "mode", widest.mode);
  return widest;
}

/* --- LDS --- */

/* The widths of which phases were measured in one direction, as "loads of 4, 8 bytes"; the processor, or NULL. */
static const char *list_measured(tj_text *text, const tj_bank_model *model, bool is_store) {
  static const uint32_t widths[] = {1, 2, 4, 8, 12, 16};
  const char *processor = NULL;
  for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
    const char *measured_on = tj_bank_measured_on(model, is_store, widths[i]);
    if (measured_on[0] == '\0')
      continue;
    if (processor == NULL)
      tj_text_string(text, is_store ? "stores of" : "loads of");
    tj_text_format(text, "%s %u", processor == NULL ? "" : ",", widths[i]);
    processor = measured_on;
  }
  return processor;
}

void tj_find_phases(tj_findings *findings, const tj_bank_model *model) {
  tj_text text = tj_text_begin(findings->job);
  for (unsigned is_store = 0; is_store < 2; is_store++) {
    const char *separator = text.length > 0 ? "; " : "";
    tj_text part = tj_text_begin(findings->job);
    const char *processor = list_measured(&part, model, is_store != 0);
    if (processor != NULL)
      tj_text_format(&text, "%s%s bytes a lane were measured on %s", separator, part.data, processor);
  }
  if (text.length > 0)
    tj_find(findings, "phases", TJ_FINDING_FACT, "%s; other accesses were not measured", text.data);
  else
    tj_find(findings, "phases", TJ_FINDING_FACT, "not measured: %s", model->source);
}

/* A tile in LDS, read and written vector by vector. */
typedef struct {
  const tj_check *check;
  const tj_bank_model *model;
  tj_table table;
  int64_t least; /* value, so that addresses begin at 0 */
  tj_vector vector;
  uint32_t fastest; /* mode in which neighbouring lanes are neighbours */
} lds_tile;

/* Takes the digits of a vector's number in the leaves from `first` on. */
static int64_t take_digits(lds_tile *tile, uint32_t first, uint32_t end, int64_t number) {
  tj_table *table = &tile->table;
  for (uint32_t leaf = first; leaf < end; leaf++) {
    int64_t unit = leaf == tile->vector.leaf ? tile->vector.elements : 1;
    int64_t extent = table->extent[leaf] / unit;
    table->coordinate[leaf] = number % extent * unit;
    number /= extent;
  }
  return number;
}

/* The first element of a lane's vector, among all vectors of the tile: the fastest mode first. */
static void lane_coordinate(lds_tile *tile, int64_t lane) {
  uint32_t first = 0;
  for (uint32_t mode = 0; mode < tile->fastest; mode++)
    first += tj_tuple_leaf_count(tj_tuple_mode(tile->table.domain, mode));
  uint32_t end = first + tj_tuple_leaf_count(tj_tuple_mode(tile->table.domain, tile->fastest));
  lane = take_digits(tile, first, end, lane);
  lane = take_digits(tile, 0, first, lane);
  take_digits(tile, end, tile->table.rank, lane);
}

typedef struct {
  int64_t cycles, ideal;
} lds_count;

static lds_count count_lds(lds_tile *tile, bool is_store) {
  uint32_t lanes = tile->check->target->wave_size, bytes = tile->vector.elements * tile->check->element_bytes;
  int64_t accesses = tile->table.size / tile->vector.elements;
  lds_count count = {0, 0};
  for (int64_t first = 0; first < accesses && first < (int64_t)lanes * MOST_INSTRUCTIONS; first += lanes) {
    uint32_t address[TJ_BANK_LANES] = {0};
    uint64_t active = 0;
    for (uint32_t lane = 0; lane < lanes && first + lane < accesses; lane++) {
      lane_coordinate(tile, first + lane);
      tj_table_evaluate(&tile->table);
      address[lane] = (uint32_t)((tile->table.result[0] - tile->least) * tile->check->element_bytes);
      active |= 1ull << lane;
    }
    count.cycles += tj_bank_cycles(tile->model, is_store, bytes, address, active);
    count.ideal += tj_bank_ideal(tile->model, is_store, bytes, active);
  }
  return count;
}

static void report_lds(const lds_tile *tile, const char *about, const char *direction, lds_count count,
                       tj_findings *findings) {
  static const char *const ways[] = {" (column-wise)", " (row-wise)"};
  uint32_t bytes = tile->vector.elements * tile->check->element_bytes;
  bool is_flat = tj_tuple_rank(tile->table.domain) == 2;
  bool is_free = count.cycles == count.ideal;
  tj_finding *finding =
      tj_find(findings, about, is_free ? TJ_FINDING_YES : TJ_FINDING_NO,
              "%s of %u bytes a lane, lanes along mode %u%s: %" PRId64 " cycles%s", direction, bytes, tile->fastest,
              is_flat ? ways[tile->fastest] : "", count.cycles,
              is_free ? "" : tj_string_format(findings->job, ", %" PRId64 " without conflicts", count.ideal));
  tj_finding_number(finding, "bytes", bytes);
  tj_finding_number(finding, "mode", tile->fastest);
  tj_finding_number(finding, "cycles", count.cycles);
  tj_finding_number(finding, "ideal", count.ideal);
}

static void check_direction(lds_tile *tile, tj_findings *findings) {
  lds_count load = count_lds(tile, false), store = count_lds(tile, true);
  if (load.cycles == store.cycles && load.ideal == store.ideal) {
    report_lds(tile, "conflict-free", "loads and stores", load, findings);
    return;
  }
  report_lds(tile, "conflict-free", "loads", load, findings);
  report_lds(tile, "conflict-free", "stores", store, findings);
}

/* The span of values, of which LDS holds one byte at least each; false where LDS cannot hold them. */
static bool measure_tile(lds_tile *tile, tj_findings *findings) {
  tj_table *table = &tile->table;
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (int64_t n = 0; n < table->size; n++, tj_table_advance(table)) {
    tj_table_evaluate(table);
    low = table->result[0] < low ? table->result[0] : low;
    high = table->result[0] > high ? table->result[0] : high;
  }
  tile->least = low;
  int64_t bytes;
  bool fits = !__builtin_sub_overflow(high, low, &bytes) && !__builtin_add_overflow(bytes, 1, &bytes) &&
              !__builtin_mul_overflow(bytes, (int64_t)tile->check->element_bytes, &bytes) &&
              bytes <= (int64_t)tile->check->target->lds_bytes;
  tj_finding *finding =
      tj_find(findings, "lds", TJ_FINDING_FACT, "%s has %u banks, %u bytes: %s", tile->check->target->name,
              tile->model->banks, tile->check->target->lds_bytes,
              fits ? tj_string_format(findings->job, "the layout takes %" PRId64, bytes) : "the layout takes more");
  tj_finding_number(finding, "banks", tile->model->banks);
  tj_finding_number(finding, "bytes", fits ? bytes : -1);
  if (fits)
    tj_find_phases(findings, tile->model);
  return fits;
}

static void fill_lds(lds_tile *tile, tj_vector widest, tj_findings *findings) {
  for (uint32_t mode = 0; mode < tj_tuple_rank(tile->table.domain); mode++) {
    if (tj_is_int(tj_tuple_product(tile->check->graph, tj_tuple_mode(tile->table.domain, mode)), 1))
      continue;
    tile->fastest = mode;
    tile->vector = (tj_vector){widest.mode, widest.leaf, 1};
    check_direction(tile, findings);
    if (widest.elements > 1) {
      tile->vector = widest;
      check_direction(tile, findings);
    }
  }
}

typedef struct {
  const tj_check *check;
  const tj_value *map;
  tj_vector widest;
  tj_findings *findings;
} lds_attempt;

static void try_lds(tj_job *job, void *data) {
  (void)job;
  lds_attempt *attempt = data;
  lds_tile tile = {.check = attempt->check, .model = tj_bank_model_of(attempt->check->target->processor)};
  tile.table = tj_table_open(attempt->check->graph, attempt->map, MOST_TABLE);
  if (tile.table.result_count != 1 || !measure_tile(&tile, attempt->findings))
    return;
  fill_lds(&tile, attempt->widest, attempt->findings);
}

/* As an LDS layout, when that is what it may be. */
static void check_lds(const tj_check *check, const tj_value *map, tj_vector widest, tj_findings *findings) {
  bool is_layout = map->kind == TJ_VALUE_LAYOUT || map->kind == TJ_VALUE_COMPOSED;
  if (check->target == NULL || check->target->lds_bytes == 0 || !is_layout ||
      tj_bank_model_of(check->target->processor) == NULL)
    return;
  lds_attempt attempt = {check, map, widest, findings};
  if (!tj_job_try(check->graph->job, try_lds, &attempt))
    tj_find(findings, "lds", TJ_FINDING_UNKNOWN, "%s", check->graph->job->problem.message);
}

void tj_check_map(const tj_check *check, const tj_value *map, tj_findings *findings) {
  check_image(check, map, findings);
  check_validity(check, map, findings);
  bool has_elements = map->kind == TJ_VALUE_LAYOUT || map->kind == TJ_VALUE_COMPOSED || map->kind == TJ_VALUE_VIEW;
  if (has_elements && !check->is_threads)
    check_lds(check, map, check_vector(check, map, findings), findings);
}

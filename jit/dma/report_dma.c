/* SPDX-License-Identifier: MIT */
/* Writes what a plan has, and the instructions of one tile. */
#include "jit/dma/report_dma.h"

#include "base/json.h"
#include "ir/index/print.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "jit/inspect/report.h"
#include "lower/dma/encode.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_TOLD = 16, GROUPS = 4 };

static const uint32_t group_dwords[GROUPS] = {4, 8, 4, 4};

static const char *value_text(const tj_dma_report *r, const tj_value *value) {
  tj_text text = tj_text_begin(r->request->graph->job);
  tj_value_print(&text, tj_value_simplified(r->request->graph, value));
  return text.data;
}

static const char *composed_text(const tj_dma_report *r, const tj_composed *composed) {
  tj_text text = tj_text_begin(r->request->graph->job);
  if (composed->swizzle.bits == 0 && !tj_tuple_is_list(composed->offset))
    tj_layout_print(&text, composed->layout);
  else
    tj_composed_print(&text, composed);
  return text.data;
}

static const tj_node *bytes_of(const tj_dma_report *r, const tj_node *units) {
  tj_graph *graph = r->request->graph;
  return tj_simplified(graph, tj_terse_mul(graph, units, tj_int(graph, r->plan->unit_bytes)));
}

static const char *describe(const tj_dma_report *r, const tj_node *node) {
  return tj_describe(r->request->graph, node);
}

/* The numbers of an instruction of the tile, of a tensor at address 0 and a tile at the beginning of LDS. */
typedef struct {
  int64_t coordinate[TJ_DMA_MOST_PLACES], lds;
  uint32_t dword[TJ_TENSOR_DESCRIPTOR_DWORDS];
} issue;

static issue issue_of(const tj_dma_report *r, int64_t number) {
  tj_graph *graph = r->request->graph;
  const tj_node **tile = TJ_NEW_ARRAY(graph->job, const tj_node *, r->rank);
  issue of = {.lds = 0};
  for (uint32_t m = 0; m < r->rank; m++)
    tile[m] = tj_int(graph, r->at[m]);
  const tj_dma_place place = {tile, tj_int(graph, number), tj_int(graph, 0), tj_int(graph, 0)};
  tj_dma_instruction instruction = tj_dma_instruction_of(graph, r->plan, &place);
  for (uint32_t d = 0; d < r->plan->dimension_count; d++)
    of.coordinate[d] = tj_simplified(graph, instruction.coordinate[d])->value;
  of.lds = tj_simplified(graph, instruction.lds)->value;
  for (uint32_t i = 0; i < TJ_TENSOR_DESCRIPTOR_DWORDS; i++)
    of.dword[i] = (uint32_t)tj_simplified(graph, instruction.dword[i])->value;
  return of;
}

/* How many instructions of the tile are told. */
static int64_t told(const tj_dma_report *r) {
  int64_t all = tj_dma_is_constant(r->plan) ? r->plan->instructions : 0;
  return all < MOST_TOLD ? all : MOST_TOLD;
}

/* --- text --- */

static const char *plural(int64_t count) {
  return count == 1 ? "" : "s";
}

static void print_title(const tj_dma_report *r, tj_text *text) {
  tj_text_format(text, "%s, tiles %s of %s to LDS of %s\n", value_text(r, r->request->tensor),
                 value_text(r, r->request->tile), r->dtype, r->target);
}

static void print_summary(const tj_dma_report *r, tj_text *text) {
  const tj_dma_plan *plan = r->plan;
  tj_text_format(text, "  plan: yes: %s of %" PRIu32 " dimension%s, %" PRId64 " instruction%s a tile",
                 tj_dma_is_map(r) ? "a tensor map" : "a descriptor", plan->rank, plural(plan->rank),
                 plan->instructions, plural(plan->instructions));
  if (plan->iterated != TJ_DMA_NO_REPEAT)
    tj_text_format(text, ", of %" PRId64 " iterations", plan->repeat[plan->iterated].count);
  if (plan->rows != 0)
    tj_text_format(text, ", of %" PRIu32 " rows that it gathers by indices of %" PRIu32 " bits", plan->rows,
                   plan->index_bits);
  if (plan->pad != 0)
    tj_text_format(text, ", a pad of %u bytes after every %u", 4 * plan->pad, 4 * plan->pad_interval);
  if (plan->swizzle != 0)
    tj_text_format(text, ", swizzled in rows of %u bytes", plan->swizzle);
  tj_text_char(text, '\n');
}

static void print_dimension(const tj_dma_report *r, uint32_t d, tj_text *text) {
  const tj_dma_dimension *of = &r->plan->dimension[d];
  bool is_element = of->stride->op == TJ_OP_CONSTANT && of->stride->value == 1;
  const char *one = r->plan->units == 1 ? "element" : "unit of 8 bytes";
  const char *many = r->plan->units == 1 ? "elements" : "units of 8 bytes";
  tj_text_format(text, "  %s %" PRIu32 ": %s %s", d < r->plan->rank ? "dimension" : "beside the box,", d,
                 describe(r, of->extent), tj_is_int(of->extent, 1) ? one : many);
  if (!is_element)
    tj_text_format(text, ", %s bytes apart", describe(r, bytes_of(r, of->stride)));
  if (d < r->plan->rank)
    tj_text_format(text, ", box %" PRId64, of->box);
  if (of->may_overrun)
    tj_text_string(text, ", clamped");
  tj_text_char(text, '\n');
}

static void print_repeat(const tj_dma_report *r, uint32_t number, tj_text *text) {
  const tj_dma_repeat *repeat = &r->plan->repeat[number];
  tj_text_format(text, "  %s: %" PRId64 " times, %s further along dimension %" PRIu32 ", %" PRId64 " bytes in LDS\n",
                 repeat->is_gathered           ? "gather"
                 : number == r->plan->iterated ? "iterate"
                                               : "repeat",
                 repeat->count, describe(r, repeat->step), repeat->dimension, repeat->lds * r->plan->unit_bytes);
}

static void print_numbers(tj_text *text, const int64_t value[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    tj_text_format(text, "%s%" PRId64, i == 0 ? "(" : ",", value[i]);
  tj_text_char(text, ')');
}

static void print_groups(const tj_dma_report *r, const issue *of, tj_text *text) {
  uint32_t next = 0;
  for (uint32_t g = 0; g < GROUPS && next < tj_dma_dwords(r->plan); g++) {
    tj_text_format(text, "    group %" PRIu32 ":", g);
    for (uint32_t i = 0; i < group_dwords[g]; i++)
      tj_text_format(text, " %08" PRIx32, of->dword[next++]);
    tj_text_char(text, '\n');
  }
}

static void print_issues(const tj_dma_report *r, tj_text *text) {
  for (int64_t n = 0; n < told(r); n++) {
    issue of = issue_of(r, n);
    tj_text_string(text, "  instruction of the tile at ");
    print_numbers(text, r->at, r->rank);
    tj_text_string(text, ": box at ");
    print_numbers(text, of.coordinate, tj_dma_is_map(r) ? r->plan->rank : r->plan->dimension_count);
    tj_text_format(text, ", to byte %" PRId64 " of LDS\n", of.lds);
    if (!tj_dma_is_map(r))
      print_groups(r, &of, text);
  }
  if (told(r) > 0 && told(r) < r->plan->instructions)
    tj_text_format(text, "  and %" PRId64 " more\n", r->plan->instructions - told(r));
}

static void print_text(const tj_dma_report *r, tj_text *text) {
  print_title(r, text);
  if (r->plan->obstacle != NULL) {
    tj_text_format(text, "  plan: no: %s\n", r->plan->obstacle);
    return;
  }
  print_summary(r, text);
  for (uint32_t d = 0; d < r->plan->dimension_count; d++)
    print_dimension(r, d, text);
  for (uint32_t i = 0; i < r->plan->repeat_count; i++)
    print_repeat(r, i, text);
  if (!tj_is_int(r->plan->base, 0))
    tj_text_format(text, "  address: %s bytes behind the buffer's\n", describe(r, bytes_of(r, r->plan->base)));
  tj_text_format(text, "  lds: %s, %" PRId64 " bytes\n", composed_text(r, &r->plan->lds),
                 tj_dma_lds_bytes(r->request->graph, r->plan));
  tj_text_format(text, "  coordinates: %s\n", composed_text(r, r->plan->coordinates));
  if (r->plan->store_obstacle != NULL)
    tj_text_format(text, "  stores: no: %s\n", r->plan->store_obstacle);
  print_issues(r, text);
}

/* --- JSON --- */

static void write_node(const tj_dma_report *r, tj_json *json, const char *key, const tj_node *node) {
  if (tj_is_constant(node))
    tj_json_number(json, key, node->value);
  else
    tj_json_member(json, key, describe(r, node));
}

static void open_member(tj_json *json, const char *key, char bracket) {
  tj_json_key(json, key);
  tj_json_open(json, bracket);
}

static void write_numbers(tj_json *json, const char *key, const int64_t value[], uint32_t count) {
  open_member(json, key, '[');
  for (uint32_t i = 0; i < count; i++)
    tj_json_integer(json, value[i]);
  tj_json_close(json, ']');
}

static void write_dimensions(const tj_dma_report *r, tj_json *json) {
  open_member(json, "dimensions", '[');
  for (uint32_t d = 0; d < r->plan->dimension_count; d++) {
    tj_json_open(json, '{');
    write_node(r, json, "extent", r->plan->dimension[d].extent);
    write_node(r, json, "stride_bytes", bytes_of(r, r->plan->dimension[d].stride));
    tj_json_number(json, "box", r->plan->dimension[d].box);
    tj_json_close(json, '}');
  }
  tj_json_close(json, ']');
}

static void write_repeats(const tj_dma_report *r, tj_json *json) {
  open_member(json, "repeats", '[');
  for (uint32_t i = 0; i < r->plan->repeat_count; i++) {
    const tj_dma_repeat *repeat = &r->plan->repeat[i];
    tj_json_open(json, '{');
    tj_json_number(json, "dimension", repeat->dimension);
    write_node(r, json, "step", repeat->step);
    tj_json_number(json, "count", repeat->count);
    tj_json_number(json, "lds_bytes", repeat->lds * r->plan->unit_bytes);
    tj_json_key(json, "is_iterated");
    tj_json_boolean(json, i == r->plan->iterated);
    tj_json_key(json, "is_gathered");
    tj_json_boolean(json, repeat->is_gathered);
    tj_json_close(json, '}');
  }
  tj_json_close(json, ']');
}

static void write_map_numbers(tj_json *json, const char *key, const uint64_t value[], uint32_t count) {
  open_member(json, key, '[');
  for (uint32_t i = 0; i < count; i++)
    tj_json_integer(json, (int64_t)value[i]);
  tj_json_close(json, ']');
}

const char *tj_dma_swizzle_name(uint32_t bytes) {
  static const char *const names[] = {"NONE", "32B", "64B", "128B"};
  return names[bytes == 0 ? 0 : __builtin_ctz(bytes) - 4];
}

/* Bits move as they are: the type is an integer of the element's size. */
static void write_map(const tj_dma_report *r, tj_json *json) {
  tj_tensor_map map = tj_dma_tensor_map(r->plan, 0);
  uint64_t box[TJ_TENSOR_MAP_DIMENSIONS], step[TJ_TENSOR_MAP_DIMENSIONS];
  tj_text type = tj_text_begin(r->request->graph->job);
  for (uint32_t d = 0; d < map.rank; d++) {
    box[d] = map.box[d];
    step[d] = map.element_stride[d];
  }
  tj_text_format(&type, "UINT%u", 8 * map.element_bytes);
  open_member(json, "tensor_map", '{');
  tj_json_member(json, "tensorDataType", type.data);
  tj_json_number(json, "tensorRank", map.rank);
  write_map_numbers(json, "globalDim", map.extent, map.rank);
  write_map_numbers(json, "globalStrides", map.stride, map.rank - 1);
  write_map_numbers(json, "boxDim", box, map.rank);
  write_map_numbers(json, "elementStrides", step, map.rank);
  tj_json_member(json, "interleave", "NONE");
  tj_json_member(json, "swizzle", tj_dma_swizzle_name(map.swizzle));
  tj_json_member(json, "l2Promotion", "NONE");
  tj_json_member(json, "oobFill", "NONE");
  tj_json_close(json, '}');
}

static void write_groups(const tj_dma_report *r, const issue *of, tj_json *json) {
  uint32_t next = 0;
  open_member(json, "groups", '[');
  for (uint32_t g = 0; g < GROUPS && next < tj_dma_dwords(r->plan); g++) {
    tj_json_open(json, '[');
    for (uint32_t i = 0; i < group_dwords[g]; i++)
      tj_json_integer(json, of->dword[next++]);
    tj_json_close(json, ']');
  }
  tj_json_close(json, ']');
}

static void write_issues(const tj_dma_report *r, tj_json *json) {
  open_member(json, "issues", '[');
  for (int64_t n = 0; n < told(r); n++) {
    issue of = issue_of(r, n);
    tj_json_open(json, '{');
    write_numbers(json, "coordinates", of.coordinate, r->plan->dimension_count);
    tj_json_number(json, "lds_bytes", of.lds);
    if (!tj_dma_is_map(r))
      write_groups(r, &of, json);
    tj_json_close(json, '}');
  }
  tj_json_close(json, ']');
}

static void write_gather(const tj_dma_report *r, tj_json *json) {
  open_member(json, "gather", '{');
  tj_json_number(json, "rows", r->plan->rows);
  tj_json_number(json, "index_bits", r->plan->index_bits);
  tj_json_close(json, '}');
}

static void write_plan(const tj_dma_report *r, tj_json *json) {
  tj_json_member(json, "kind", tj_dma_is_map(r) ? "tensor_map" : "descriptor");
  tj_json_number(json, "instructions", r->plan->instructions);
  write_node(r, json, "offset_bytes", bytes_of(r, r->plan->base));
  write_dimensions(r, json);
  write_repeats(r, json);
  if (!tj_dma_is_map(r))
    write_gather(r, json);
  open_member(json, "pad", '{');
  tj_json_number(json, "interval_bytes", 4 * (int64_t)r->plan->pad_interval);
  tj_json_number(json, "bytes", 4 * (int64_t)r->plan->pad);
  tj_json_close(json, '}');
  tj_json_number(json, "swizzle_bytes", r->plan->swizzle);
  tj_json_member(json, "lds", composed_text(r, &r->plan->lds));
  tj_json_number(json, "lds_bytes", tj_dma_lds_bytes(r->request->graph, r->plan));
  tj_json_member(json, "coordinates", composed_text(r, r->plan->coordinates));
  tj_json_key(json, "stores");
  tj_json_boolean(json, r->plan->store_obstacle == NULL);
  if (r->plan->store_obstacle != NULL)
    tj_json_member(json, "why_no_stores", r->plan->store_obstacle);
  if (tj_dma_is_map(r) && tj_dma_is_constant(r->plan))
    write_map(r, json);
  if (tj_dma_is_constant(r->plan))
    write_issues(r, json);
}

static void write_json(const tj_dma_report *r, tj_text *text) {
  tj_json json = tj_json_begin(text);
  tj_json_open(&json, '{');
  tj_json_member(&json, "tensor", value_text(r, r->request->tensor));
  open_member(&json, "tile", '[');
  for (uint32_t i = 0; i < r->rank; i++)
    tj_json_integer(&json, tj_simplified(r->request->graph, tj_tuple_mode(r->request->tile->tuple, i)->value)->value);
  tj_json_close(&json, ']');
  tj_json_member(&json, "dtype", r->dtype);
  tj_json_member(&json, "target", r->target);
  tj_json_key(&json, "holds");
  tj_json_boolean(&json, r->plan->obstacle == NULL);
  if (r->plan->obstacle != NULL)
    tj_json_member(&json, "why", r->plan->obstacle);
  else
    write_plan(r, &json);
  tj_json_close(&json, '}');
  tj_text_char(text, '\n');
}

void tj_dma_write_report(const tj_dma_report *report, tj_check_form form, tj_text *text) {
  if (form == TJ_CHECK_JSON)
    write_json(report, text);
  else
    print_text(report, text);
}

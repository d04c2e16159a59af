/* SPDX-License-Identifier: MIT */
/* mapping(…): how a copy is shared out, from named parts. */
#include "frontend/sema/call.h"

#include <inttypes.h>

static const tj_layout *layout_part(tj_call *call, const char *name) {
  const tj_value *value = tj_arg_blamed(call, name);
  if (value != NULL && value->kind != TJ_VALUE_LAYOUT)
    tj_fail_type(call->job, value, name, "a layout");
  return value != NULL ? &value->layout : NULL;
}

static const tj_value *lds_part(tj_call *call) {
  const tj_value *value = tj_arg_blamed(call, "lds");
  if (value != NULL && tj_value_layout(value) == NULL)
    tj_fail_type(call->job, value, "lds", "a layout or a composed layout");
  return value;
}

static int64_t number_part(tj_call *call, const char *name, int64_t otherwise) {
  const tj_value *value = tj_arg_blamed(call, name);
  return value != NULL ? tj_need_constant(call->graph, value, name) : otherwise;
}

static const tj_tuple *tuple_part(tj_call *call, const char *name) {
  const tj_value *value = tj_arg_blamed(call, name);
  return value != NULL ? tj_need_tuple(call->graph, value, name) : NULL;
}

/* 0, 1, or an integer for each mode. */
static const tj_tuple *overlap_part(tj_call *call) {
  const tj_tuple *overlap = tuple_part(call, "overlap");
  if (overlap != NULL && !tj_tuple_is_list(overlap) &&
      (overlap->kind != TJ_TUPLE_INTEGER || (!tj_is_int(overlap->value, 0) && !tj_is_int(overlap->value, 1))))
    tj_fail(call->job, TJ_MAPPING, "overlap is 0, 1, or has an integer for each mode");
  return overlap;
}

static bool truth_part(tj_call *call, const char *name) {
  int64_t number = number_part(call, name, 0);
  if (number != 0 && number != 1)
    tj_fail(call->job, TJ_MAPPING, "%s is 0 or 1, not %" PRId64, name, number);
  return number == 1;
}

/* A map of integers: a layout, a swizzle or a linear map. */
static const tj_value *integers_part(tj_call *call, const char *name) {
  const tj_value *value = tj_arg_blamed(call, name);
  if (value != NULL && value->kind != TJ_VALUE_LAYOUT && value->kind != TJ_VALUE_SWIZZLE &&
      value->kind != TJ_VALUE_LINEAR)
    tj_fail_type(call->job, value, name, "a layout, a swizzle or a linear map");
  return value;
}

const tj_value *tj_builtin_mapping(tj_call *call) {
  tj_span here = call->job->here;
  tj_mapping_parts parts = {.domain = layout_part(call, "domain"),
                            .tile = tuple_part(call, "tile"),
                            .load = layout_part(call, "load"),
                            .store = layout_part(call, "store"),
                            .lds = lds_part(call),
                            .load_as = integers_part(call, "load_as"),
                            .store_as = integers_part(call, "store_as"),
                            .passes = number_part(call, "passes", 1),
                            .buffers = number_part(call, "buffers", 1),
                            .overlap = overlap_part(call),
                            .order = layout_part(call, "order"),
                            .streams = truth_part(call, "stream"),
                            .is_direct = truth_part(call, "direct"),
                            .by_dma = truth_part(call, "dma"),
                            .dma_stores = truth_part(call, "dma_store")};
  call->job->here = here;
  return tj_value_of_mapping(call->graph, tj_mapping_make(call->graph, &parts));
}

/* Of mappings alone: nothing else is completed by a launch. */
static const tj_value *share(tj_call *call, tj_mapping_share_kind kind) {
  int64_t mode = tj_arg_constant(call, 0);
  if (call->scope->mappings == 0)
    tj_fail(call->job, TJ_MAPPING, "%s(mode) is a number of a mapping's tile, load or store: within mapping(…)",
            call->builtin->name);
  if (mode < 0 || mode >= TJ_MAX_DIMENSIONS)
    tj_fail(call->job, TJ_MAPPING, "%s(%" PRId64 "): a tile has 1 to %d modes", call->builtin->name, mode,
            TJ_MAX_DIMENSIONS);
  return tj_value_of_node(call->graph, tj_mapping_share(call->graph, kind, (uint32_t)mode));
}

const tj_value *tj_builtin_items(tj_call *call) {
  return share(call, TJ_MAPPING_ITEMS);
}

const tj_value *tj_builtin_slots(tj_call *call) {
  return share(call, TJ_MAPPING_SLOTS);
}

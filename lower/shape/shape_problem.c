/* SPDX-License-Identifier: MIT */
/* Modes, elements and targets, as numbers. */
#include "lower/shape/shape_problem.h"

#include "base/integer.h"
#include "base/machine/bank.h"
#include "base/machine/processor.h"
#include "ir/index/facts.h"

typedef struct {
  tj_graph *graph;
  const tj_kernel *flat;
  const tj_domain *domain;
  const tj_target *target;
} described_copy;

/* --- sides --- */

static const tj_node *stride_on(const described_copy *copy, uint32_t mode, tj_side_name side) {
  return tj_mode_stride(&copy->domain->mode[mode], side == TJ_SOURCE);
}

/* Whether `next` goes on where `mode` ends. */
static bool continues(const described_copy *copy, uint32_t mode, uint32_t next, tj_side_name side) {
  const tj_node *stride = stride_on(copy, mode, side), *further = stride_on(copy, next, side);
  return stride != NULL && further != NULL &&
         tj_prove_equal(copy->graph, tj_mul(copy->graph, stride, copy->domain->mode[mode].extent), further);
}

static int64_t grain_of(const tj_node *stride, int64_t bytes, int64_t line) {
  int64_t elements = 1;
  while (stride != NULL && elements * bytes < line && tj_facts_divisible(&stride->facts, 2 * elements))
    elements *= 2;
  return elements * bytes;
}

static void describe_side(const described_copy *copy, tj_shape_problem *problem, tj_side_name side) {
  uint32_t buffer = tj_flat_buffer(copy->flat, side);
  problem->bytes[side] = tj_domain_least_bytes(copy->domain, copy->flat, buffer, side == TJ_SOURCE);
  problem->width[side] = tj_target_widest(copy->target, tj_element_bytes(copy->flat, buffer));
  problem->moved_bytes = tj_greatest(problem->moved_bytes, tj_element_bytes(copy->flat, buffer));
  tj_domain_sort(copy->graph, copy->domain, side == TJ_SOURCE, problem->order[side]);
  for (uint32_t i = 0; i < problem->count; i++) {
    uint32_t mode = problem->order[side][i];
    bool follows = i == 0 || continues(copy, problem->order[side][i - 1], mode, side);
    int64_t grain = grain_of(stride_on(copy, mode, side), problem->bytes[side], problem->line_bytes);
    problem->mode[mode].step[side] = (tj_run_step){grain, follows};
  }
}

/* --- targets --- */

/* How many work-items LDS serves at a time with a vector each; 1 on machines without banks. */
static int64_t phase_of(const tj_target *target) {
  const tj_bank_model *model = tj_bank_model_of(target->processor);
  return model != NULL ? tj_bank_phase_lanes(model, false, target->vector_bytes) : 1;
}

/* What a target has for a copy of so many sources. */
static tj_shape_problem room_of(const tj_target *target, uint32_t sources) {
  enum { PARTS_OF_LDS = 16 }; /* one of them is for padding */
  bool has_sectors = tj_sector_bytes(target->processor) > 0;
  return (tj_shape_problem){.register_bytes = target->block_bytes,
                            .slot_bytes = target->slot_bytes / sources,
                            .slot_limit = target->slot_limit / sources,
                            .tile_bytes = target->tile_bytes,
                            .lds_bytes = target->lds_bytes - target->lds_bytes / PARTS_OF_LDS,
                            .lds_phase = phase_of(target),
                            .line_bytes = tj_cache_line_bytes(target->processor),
                            .sector_bytes = tj_sector_bytes(target->processor),
                            .costs = tj_line_costs_of(has_sectors),
                            .wave_size = target->wave_size,
                            .workgroup_limit = target->workgroup_limit,
                            .may_stage = target->lds_bytes > 0,
                            .may_pass = target->keeps_slots};
}

tj_shape_problem tj_shape_problem_of(tj_graph *graph, const tj_kernel *flat, const tj_domain *domain,
                                     const tj_target *target) {
  const described_copy copy = {graph, flat, domain, target};
  tj_shape_problem problem = room_of(target, flat->arithmetic.count > 1 ? flat->arithmetic.count : 1);
  problem.count = domain->count;
  problem.carried_bytes = tj_element_bytes(flat, TJ_LDS);
  for (uint32_t m = 0; m < domain->count; m++) {
    const tj_node *extent = domain->mode[m].extent;
    problem.mode[m] = (tj_shape_mode){.least = extent->facts.low, .extent = extent->facts.high};
  }
  describe_side(&copy, &problem, TJ_SOURCE);
  describe_side(&copy, &problem, TJ_DESTINATION);
  return problem;
}

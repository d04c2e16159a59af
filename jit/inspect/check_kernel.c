/* SPDX-License-Identifier: MIT */
/* Checks of kernels: what each memory access costs, by evaluating its offset for the lanes of some waves; registers
 * and occupancy, from the machine code. Accesses of one kind are added up. */
#include "jit/inspect/check.h"

#include "base/processor.h"
#include "base/text.h"
#include "ir/index/eval.h"
#include "lower/kernel/loop.h"
#include "lower/mapping/lds_layout.h"

#include <inttypes.h>

enum { SAMPLED_WAVES = 64, SAMPLED_TRIPS = 8 };

/* What the accesses of one kind cost, over the sampled waves. */
typedef struct {
  tj_step_kind kind;
  uint32_t buffer, width;
  uint32_t bytes; /* of a lane */
  int64_t steps, instructions, lanes;
  int64_t lines, least_lines;
  int64_t cycles, ideal;
  bool has_failed;
} access_costs;

typedef struct {
  const tj_check *check;
  const tj_kernel *kernel;
  const tj_bank_model *model;
  uint32_t line_bytes;
  int64_t waves_of_group, waves; /* in all */
  access_costs *cost;
  uint32_t cost_count;
  int64_t *value;               /* of symbols, by index */
  int64_t trips;                /* of the kernel's loop; 1 where there is none */
  tj_evaluator *initial, *next; /* of what the loop carries, while a step is evaluated; NULL: nothing */
} kernel_check;

static uint32_t element_bytes_of(const tj_kernel *kernel, uint32_t buffer) {
  tj_dtype dtype = buffer == TJ_LDS ? kernel->carried : kernel->buffer[buffer].dtype;
  return tj_dtype_bits(dtype) / 8;
}

static access_costs *costs_of(kernel_check *k, const tj_kernel_step *step) {
  for (uint32_t i = 0; i < k->cost_count; i++) {
    access_costs *cost = &k->cost[i];
    if (cost->kind == step->kind && cost->buffer == step->access.buffer && cost->width == step->width)
      return cost;
  }
  access_costs *cost = &k->cost[k->cost_count++];
  *cost = (access_costs){.kind = step->kind, .buffer = step->access.buffer, .width = step->width};
  cost->bytes = step->width * element_bytes_of(k->kernel, step->access.buffer);
  return cost;
}

/* --- evaluating --- */

/* Sets the symbols to one work-item; false where there is none. */
static bool set_item(const kernel_check *k, int64_t wave, uint32_t lane, int64_t count) {
  const tj_kernel *kernel = k->kernel;
  int64_t group = wave / k->waves_of_group;
  int64_t item = wave % k->waves_of_group * k->check->target->wave_size + lane;
  if (item >= kernel->workgroup_size || group * kernel->workgroup_size + item >= count)
    return false;
  if (kernel->index != NULL) {
    k->value[kernel->index->symbol->index] = group * kernel->workgroup_size + item;
  } else {
    k->value[kernel->workgroup->symbol->index] = group;
    k->value[kernel->item->symbol->index] = item;
  }
  return true;
}

static bool set_carried(const kernel_check *k, tj_evaluator *evaluator) {
  const tj_loop *loop = k->kernel->loop;
  int64_t value[TJ_MOST_CARRIED];
  tj_bindings bindings = {k->value, NULL, k->check->graph->symbol_count};
  if (evaluator == NULL)
    return true;
  if (tj_evaluator_run(evaluator, &bindings, value) != TJ_EVAL_OK)
    return false;
  for (uint32_t i = 0; i < loop->carried_count; i++)
    k->value[loop->carried[i].symbol->symbol->index] = value[i];
  return true;
}

/* Takes the work-item to one of its trips. */
static bool set_trip(const kernel_check *k, int64_t trip) {
  bool is_set = set_carried(k, k->initial);
  for (int64_t i = 0; i < trip && is_set; i++)
    is_set = set_carried(k, k->next);
  if (k->kernel->loop != NULL)
    k->value[k->kernel->loop->counter->symbol->index] = trip;
  return is_set;
}

/* False where there is no memory. */
static bool open_loop(kernel_check *k) {
  const tj_loop *loop = k->kernel->loop;
  const tj_node *initial[TJ_MOST_CARRIED], *next[TJ_MOST_CARRIED];
  k->initial = k->next = NULL;
  uint32_t count = loop != NULL ? loop->carried_count : 0;
  for (uint32_t i = 0; i < count; i++) {
    initial[i] = loop->carried[i].initial;
    next[i] = loop->carried[i].next;
  }
  return count == 0 || (tj_evaluator_create(initial, count, &k->initial) == TJ_EVAL_OK &&
                        tj_evaluator_create(next, count, &k->next) == TJ_EVAL_OK);
}

static void close_loop(kernel_check *k) {
  if (k->initial != NULL)
    tj_evaluator_destroy(k->initial);
  if (k->next != NULL)
    tj_evaluator_destroy(k->next);
}

/* A single lane may store a run of many lines. */
static int64_t count_lines(const kernel_check *k, const access_costs *cost, const int64_t address[], uint32_t lanes) {
  if (lanes != 1)
    return tj_count_lines(address, lanes, cost->bytes, k->line_bytes);
  return (address[0] + cost->bytes - 1) / k->line_bytes - address[0] / k->line_bytes + 1;
}

static void add_wave(const kernel_check *k, access_costs *cost, const int64_t address[], uint32_t lanes,
                     uint64_t active) {
  if (lanes == 0)
    return;
  cost->instructions++;
  cost->lanes += lanes;
  if (cost->buffer != TJ_LDS) {
    cost->lines += count_lines(k, cost, address, lanes);
    cost->least_lines += tj_least_lines(address, lanes, cost->bytes, k->line_bytes);
  } else if (k->model != NULL) {
    uint32_t lds[TJ_BANK_LANES] = {0}, next = 0;
    for (uint64_t left = active; left != 0; left &= left - 1)
      lds[__builtin_ctzll(left)] = (uint32_t)address[next++];
    bool is_store = cost->kind == TJ_STEP_STORE;
    cost->cycles += tj_bank_cycles(k->model, is_store, cost->bytes, lds, active);
    cost->ideal += tj_bank_ideal(k->model, is_store, cost->bytes, active);
  }
}

/* The lanes of one wave that make the access on one trip, and where. */
static void evaluate_wave(kernel_check *k, const tj_kernel_step *step, tj_evaluator *evaluator, int64_t wave,
                          int64_t trip, int64_t count, access_costs *cost) {
  int64_t address[TJ_BANK_LANES], found[2];
  uint32_t lanes = 0;
  uint64_t active = 0;
  tj_bindings bindings = {k->value, NULL, k->check->graph->symbol_count};
  for (uint32_t lane = 0; lane < k->check->target->wave_size; lane++) {
    if (!set_item(k, wave, lane, count))
      break;
    cost->has_failed |= !set_trip(k, trip) || tj_evaluator_run(evaluator, &bindings, found) != TJ_EVAL_OK;
    if (cost->has_failed || found[1] == 0)
      continue;
    address[lanes++] = found[0] * element_bytes_of(k->kernel, step->access.buffer);
    active |= 1ull << lane;
  }
  add_wave(k, cost, address, lanes, active);
}

static void evaluate_step(kernel_check *k, const tj_kernel_step *step, int64_t count) {
  tj_job *job = k->check->graph->job;
  const tj_node *roots[] = {tj_access_element(k->check->graph, k->kernel, &step->access),
                            tj_access_valid(k->check->graph, k->kernel, &step->access)};
  access_costs *cost = costs_of(k, step);
  tj_evaluator *evaluator;
  int64_t samples = k->waves < SAMPLED_WAVES ? k->waves : SAMPLED_WAVES;
  int64_t trips = k->trips < SAMPLED_TRIPS ? k->trips : SAMPLED_TRIPS;
  cost->steps += k->trips;
  tj_spend(job, (uint64_t)(samples * trips) * k->check->target->wave_size);
  if (!open_loop(k) || tj_evaluator_create(roots, 2, &evaluator) != TJ_EVAL_OK) {
    close_loop(k);
    tj_fail_out_of_memory(job);
  }
  for (int64_t i = 0; i < samples; i++) {
    for (int64_t trip = 0; trip < trips; trip++)
      evaluate_wave(k, step, evaluator, i * k->waves / samples, trip, count, cost);
  }
  tj_evaluator_destroy(evaluator);
  close_loop(k);
}

/* --- reporting --- */

static const char *access_name(const kernel_check *k, const access_costs *cost) {
  const char *buffer = cost->buffer == TJ_LDS ? "LDS" : k->kernel->buffer[cost->buffer].name;
  return tj_string_format(k->check->graph->job, "%s %s", cost->kind == TJ_STEP_LOAD ? "load" : "store", buffer);
}

static void report_memory(const kernel_check *k, const access_costs *cost, tj_findings *findings) {
  const char *name = access_name(k, cost);
  tj_finding *finding = tj_find(findings, name, TJ_FINDING_FACT,
                                "%" PRId64 " of %u bytes a lane; %" PRId64 " instructions of %" PRId64
                                " waves touch %" PRId64 " cache lines of %u bytes, %" PRId64 " at least",
                                cost->steps, cost->bytes, cost->instructions,
                                k->waves < SAMPLED_WAVES ? k->waves : (int64_t)SAMPLED_WAVES, cost->lines,
                                k->line_bytes, cost->least_lines);
  tj_finding_number(finding, "accesses", cost->steps);
  tj_finding_number(finding, "bytes", cost->bytes);
  tj_finding_number(finding, "instructions", cost->instructions);
  tj_finding_number(finding, "lines", cost->lines);
  tj_finding_number(finding, "least_lines", cost->least_lines);
}

static void report_lds(const kernel_check *k, const access_costs *cost, tj_findings *findings) {
  tj_finding *finding = tj_find(
      findings, access_name(k, cost), TJ_FINDING_FACT, "%" PRId64 " of %u bytes a lane%s", cost->steps, cost->bytes,
      k->model == NULL ? ""
                       : tj_string_format(findings->job, ": %" PRId64 " cycles, %" PRId64 " without conflicts",
                                          cost->cycles, cost->ideal));
  tj_finding_number(finding, "accesses", cost->steps);
  tj_finding_number(finding, "bytes", cost->bytes);
  tj_finding_number(finding, "instructions", cost->instructions);
  if (k->model == NULL)
    return;
  tj_finding_number(finding, "cycles", cost->cycles);
  tj_finding_number(finding, "ideal", cost->ideal);
}

/* What all accesses to memory move, in whole lines, against what they ask for. */
static void report_totals(const kernel_check *k, tj_findings *findings) {
  int64_t lines = 0, least = 0, cycles = 0, ideal = 0;
  for (uint32_t i = 0; i < k->cost_count; i++) {
    lines += k->cost[i].lines;
    least += k->cost[i].least_lines;
    cycles += k->cost[i].cycles;
    ideal += k->cost[i].ideal;
  }
  tj_finding *finding = tj_find(findings, "coalesced", lines == least ? TJ_FINDING_YES : TJ_FINDING_NO,
                                "%" PRId64 " bytes in whole cache lines, %" PRId64 " at least", lines * k->line_bytes,
                                least * k->line_bytes);
  tj_finding_number(finding, "bytes", lines * k->line_bytes);
  tj_finding_number(finding, "least_bytes", least * k->line_bytes);
  if (k->kernel->lds_elements == 0 || k->model == NULL)
    return;
  tj_find_phases(findings, k->model);
  finding = tj_find(findings, "conflict-free", cycles == ideal ? TJ_FINDING_YES : TJ_FINDING_NO,
                    "%" PRId64 " cycles of LDS, %" PRId64 " without conflicts", cycles, ideal);
  tj_finding_number(finding, "cycles", cycles);
  tj_finding_number(finding, "ideal", ideal);
}

static void report_accesses(const kernel_check *k, tj_findings *findings) {
  for (uint32_t i = 0; i < k->cost_count; i++) {
    const access_costs *cost = &k->cost[i];
    if (cost->has_failed)
      tj_find(findings, access_name(k, cost), TJ_FINDING_UNKNOWN, "an offset does not fit in 64 bits");
    else if (cost->buffer == TJ_LDS)
      report_lds(k, cost, findings);
    else
      report_memory(k, cost, findings);
  }
  report_totals(k, findings);
}

/* The tile of a workgroup, and how it is shared out. */
static void report_tile(const kernel_check *k, tj_findings *findings) {
  if (k->kernel->tile != NULL)
    tj_find(findings, "tile", TJ_FINDING_FACT, "%s", k->kernel->tile);
}

/* How the tile lies in LDS, and why. */
static void report_stage(const kernel_check *k, tj_findings *findings) {
  const tj_stage_choice *stage = k->kernel->stage;
  if (stage == NULL || stage->reason == NULL)
    return;
  tj_finding *finding = tj_find(findings, "stage", TJ_FINDING_FACT, "%s", stage->reason);
  tj_finding_number(finding, "bytes", stage->layout.bytes);
  tj_finding_number(finding, "cycles", stage->store_cycles + stage->load_cycles);
  tj_finding_number(finding, "ideal", stage->store_ideal + stage->load_ideal);
  tj_finding_number(finding, "least", stage->least_cycles);
}

static bool is_access(const tj_kernel_step *step) {
  return step->kind == TJ_STEP_LOAD || step->kind == TJ_STEP_STORE || step->kind == TJ_STEP_STREAM;
}

static void check_accesses(kernel_check *k, tj_findings *findings) {
  const tj_kernel *kernel = k->kernel;
  int64_t count = tj_constant_value(k->check->graph, kernel->count, "the number of work-items");
  uint32_t lanes = k->check->target->wave_size;
  k->waves_of_group = (kernel->workgroup_size + lanes - 1) / lanes;
  k->waves = (count + kernel->workgroup_size - 1) / kernel->workgroup_size * k->waves_of_group;
  if (kernel->loop != NULL)
    k->trips = tj_constant_value(k->check->graph, kernel->loop->trips, "the number of trips");
  for (uint32_t i = 0; i < kernel->step_count; i++) {
    if (is_access(&kernel->step[i]))
      evaluate_step(k, &kernel->step[i], count);
  }
  report_accesses(k, findings);
}

/* Only widths are known while parameters have no values. */
static void check_widths(kernel_check *k, tj_findings *findings) {
  for (uint32_t i = 0; i < k->kernel->step_count; i++) {
    const tj_kernel_step *step = &k->kernel->step[i];
    if (is_access(step))
      costs_of(k, step)->steps++;
  }
  for (uint32_t i = 0; i < k->cost_count; i++) {
    tj_finding *finding = tj_find(findings, access_name(k, &k->cost[i]), TJ_FINDING_FACT,
                                  "%" PRId64 " of %u bytes a lane", k->cost[i].steps, k->cost[i].bytes);
    tj_finding_number(finding, "accesses", k->cost[i].steps);
    tj_finding_number(finding, "bytes", k->cost[i].bytes);
  }
  tj_find(findings, "coalesced", TJ_FINDING_UNKNOWN, "depends on %s, which has no value",
          k->kernel->parameter[0]->symbol->name);
}

static void check_registers(const tj_check *check, const tj_kernel *kernel, const tj_isa_stats *stats,
                            tj_findings *findings) {
  const tj_processor *processor = tj_processor_by_name(check->target->processor);
  if (processor == NULL)
    return;
  tj_finding *finding = tj_find(findings, "registers", TJ_FINDING_FACT,
                                "%" PRIu64 " vector, %" PRIu64 " scalar; %" PRIu64 " bytes of LDS", stats->vgprs,
                                stats->sgprs, stats->lds_bytes);
  tj_finding_number(finding, "vgprs", (int64_t)stats->vgprs);
  tj_finding_number(finding, "sgprs", (int64_t)stats->sgprs);
  tj_finding_number(finding, "lds_bytes", (int64_t)stats->lds_bytes);
  tj_occupancy occupancy = tj_occupancy_of(processor->unit, stats, kernel->workgroup_size);
  finding = tj_find(findings, "occupancy", TJ_FINDING_FACT, "%u of %u waves a SIMD%s%s", occupancy.waves,
                    processor->unit->waves, occupancy.waves < processor->unit->waves ? ", limited by " : "",
                    occupancy.waves < processor->unit->waves ? occupancy.limited_by : "");
  tj_finding_number(finding, "waves", occupancy.waves);
  tj_finding_number(finding, "most_waves", processor->unit->waves);
}

static void check_destination(const tj_check *check, const tj_kernel *kernel, const tj_value *destination,
                              tj_findings *findings) {
  static const struct {
    tj_finding_verdict verdict;
    const char *text;
  } rows[] = {
      [TJ_RACES_NONE] = {TJ_FINDING_YES, ""},
      [TJ_RACES_AT_LAUNCH] = {TJ_FINDING_UNKNOWN, "parameters decide: a launch whose values make a race is refused"},
      [TJ_RACES_UNDECIDED] = {TJ_FINDING_UNKNOWN, "strides do not decide it, and there is too much to try"},
      [TJ_RACES_MEANT] = {TJ_FINDING_UNKNOWN, "may_race=1 allows what there is"},
  };
  tj_check_injective(check, destination, findings);
  tj_find(findings, "race-free", rows[kernel->races].verdict, "%s", rows[kernel->races].text);
}

void tj_check_kernel(const tj_check *check, const tj_kernel *kernel, const tj_value *destination,
                     const tj_isa_stats *stats, tj_findings *findings) {
  const char *processor = check->target->processor;
  kernel_check k = {.check = check, .kernel = kernel, .line_bytes = tj_cache_line_bytes(processor), .trips = 1};
  k.model = tj_bank_model_of(processor);
  k.cost = TJ_NEW_ARRAY(findings->job, access_costs, kernel->step_count + 1);
  k.value = TJ_NEW_ARRAY(findings->job, int64_t, check->graph->symbol_count + 1);
  if (kernel->parameter_count == 0)
    check_accesses(&k, findings);
  else
    check_widths(&k, findings);
  check_destination(check, kernel, destination, findings);
  report_tile(&k, findings);
  report_stage(&k, findings);
  check_registers(check, kernel, stats, findings);
}

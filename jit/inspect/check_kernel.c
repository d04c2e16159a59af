/* SPDX-License-Identifier: MIT */
/* Checks of kernels, one variant at a time: what its accesses cost (lower/access/price.h); registers and occupancy,
 * from the machine code. */
#include "jit/inspect/check.h"

#include "base/machine/processor.h"
#include "base/text.h"
#include "lower/access/price.h"
#include "lower/lanes/exchange.h"

#include <inttypes.h>

typedef struct {
  const tj_kernel *kernel;
  tj_price_machine machine;
  tj_price price;
  tj_findings *findings;
} kernel_check;

/* --- accesses --- */

static const char *access_name(const kernel_check *k, const tj_access_price *access) {
  const char *buffer = access->buffer == TJ_LDS ? "LDS" : k->kernel->buffer[access->buffer].name;
  return tj_string_format(k->findings->job, "%s %s", access->is_store ? "store" : "load", buffer);
}

/* "16 of 4 bytes a lane". */
static const char *describe_accesses(tj_job *job, const tj_access_price *access) {
  if (access->is_box)
    return tj_string_format(job, "%" PRId64 " box%s a tile", access->accesses, access->accesses == 1 ? "" : "es");
  return tj_string_format(job, "%" PRId64 " of %u bytes a %s", access->accesses, access->bytes,
                          access->is_scalar ? "wave" : "lane");
}

static tj_finding *report_access(const kernel_check *k, const tj_access_price *access, const char *cost) {
  tj_finding *finding = tj_find(k->findings, access_name(k, access), TJ_FINDING_FACT, "%s%s",
                                describe_accesses(k->findings->job, access), cost);
  tj_finding_number(finding, "accesses", access->accesses);
  tj_finding_number(finding, "bytes", access->bytes);
  return finding;
}

static void report_memory(const kernel_check *k, const tj_access_price *access) {
  const tj_cost *cost = &access->cost;
  tj_finding *finding = report_access(
      k, access,
      tj_string_format(k->findings->job,
                       "; %" PRId64 " instructions touch %" PRId64 " cache lines of %u bytes, %" PRId64 " at least",
                       cost->instructions, cost->lines, k->machine.line_bytes, cost->least_lines));
  tj_finding_number(finding, "instructions", cost->instructions);
  tj_finding_number(finding, "lines", cost->lines);
  tj_finding_number(finding, "least_lines", cost->least_lines);
  if (k->machine.sector_bytes == 0)
    return;
  finding->text = tj_string_format(k->findings->job, "%s; %" PRId64 " sectors of %u, %" PRId64 " at least",
                                   finding->text, cost->sectors, k->machine.sector_bytes, cost->least_sectors);
  tj_finding_number(finding, "sectors", cost->sectors);
  tj_finding_number(finding, "least_sectors", cost->least_sectors);
}

static void report_lds(const kernel_check *k, const tj_access_price *access) {
  const tj_cost *cost = &access->cost;
  bool is_counted = k->machine.bank != NULL;
  tj_finding *finding =
      report_access(k, access,
                    is_counted ? tj_string_format(k->findings->job,
                                                  "; %" PRId64 " instructions take %" PRId64 " cycles, %" PRId64
                                                  " without conflicts",
                                                  cost->instructions, cost->cycles, cost->least_cycles)
                               : "");
  tj_finding_number(finding, "instructions", cost->instructions);
  if (!is_counted)
    return;
  tj_finding_number(finding, "cycles", cost->cycles);
  tj_finding_number(finding, "ideal", cost->least_cycles);
}

/* What all accesses to memory move, in whole lines, against what they ask for. */
static void report_coalesced(const kernel_check *k) {
  tj_cost cost = tj_price_of_memory(&k->price);
  int64_t bytes = cost.lines * k->machine.line_bytes, least = cost.least_lines * k->machine.line_bytes;
  tj_finding *finding = tj_find(k->findings, "coalesced", bytes == least ? TJ_FINDING_YES : TJ_FINDING_NO,
                                "%" PRId64 " bytes in whole cache lines, %" PRId64 " at least", bytes, least);
  tj_finding_number(finding, "bytes", bytes);
  tj_finding_number(finding, "least_bytes", least);
}

static void report_conflicts(const kernel_check *k) {
  tj_cost cost = tj_price_of_lds(&k->price);
  if (k->kernel->lds_elements == 0 || k->machine.bank == NULL)
    return;
  tj_find_phases(k->findings, k->machine.bank);
  tj_finding *finding =
      tj_find(k->findings, "conflict-free", cost.cycles == cost.least_cycles ? TJ_FINDING_YES : TJ_FINDING_NO,
              "%" PRId64 " cycles of LDS, %" PRId64 " without conflicts", cost.cycles, cost.least_cycles);
  tj_finding_number(finding, "cycles", cost.cycles);
  tj_finding_number(finding, "ideal", cost.least_cycles);
}

/* How wide the launch is, and what part of it the costs are of. */
static void report_launch(const kernel_check *k) {
  const tj_price *price = &k->price;
  uint32_t size = k->kernel->workgroup_size;
  tj_text sampled = tj_text_begin(k->findings->job);
  if (price->counted_workgroups < price->workgroups)
    tj_text_format(&sampled, "; the costs are of %" PRId64 " of them", price->counted_workgroups);
  if (price->counted_trips < price->trips)
    tj_text_format(&sampled, "; the costs are of %" PRId64 " of %" PRId64 " trips", price->counted_trips,
                   price->trips);
  tj_finding *finding = tj_find(k->findings, "launch", TJ_FINDING_FACT, "%" PRId64 " workgroups of %u work-items%s",
                                price->workgroups, size, sampled.data);
  tj_finding_number(finding, "workgroups", price->workgroups);
  tj_finding_number(finding, "workgroup_size", size);
  tj_finding_number(finding, "counted_workgroups", price->counted_workgroups);
}

/* Edges have accesses that tiles inside have not, and short rows none of a loop. */
static bool is_never_made(const tj_access_price *access) {
  return access->accesses == 0 && access->cost.instructions == 0;
}

static void report_price(const kernel_check *k) {
  report_launch(k);
  for (uint32_t i = 0; i < k->price.access_count; i++) {
    if (is_never_made(&k->price.access[i]))
      continue;
    if (k->price.access[i].is_scalar)
      (void)report_access(k, &k->price.access[i], "");
    else if (k->price.access[i].buffer == TJ_LDS)
      report_lds(k, &k->price.access[i]);
    else
      report_memory(k, &k->price.access[i]);
  }
  report_coalesced(k);
  report_conflicts(k);
}

/* Without values of parameters, accesses are known by their widths alone. */
static void report_widths(const kernel_check *k, const char *reason) {
  for (uint32_t i = 0; i < k->price.access_count; i++) {
    if (!is_never_made(&k->price.access[i]))
      report_access(k, &k->price.access[i], "");
  }
  tj_find(k->findings, "coalesced", TJ_FINDING_UNKNOWN, "%s", reason);
}

/* Why there is no price. */
static const char *reason_for_no_price(tj_eval_status status) {
  return status == TJ_EVAL_UNBOUND ? "there are too many accesses to count" : "an offset does not fit in 64 bits";
}

static void check_accesses(kernel_check *k, const tj_check *check, const int64_t parameter[]) {
  k->price = parameter != NULL
                 ? tj_price_kernel(check->graph, k->kernel, &k->machine, parameter, TJ_CHECK_MOST_ACCESSES)
                 : tj_price_of_widths(check->graph, k->kernel, &k->machine);
  if (parameter == NULL)
    report_widths(k, "no values of parameters were found with which a launch takes this variant");
  else if (k->price.status != TJ_EVAL_OK)
    report_widths(k, reason_for_no_price(k->price.status));
  else
    report_price(k);
}

/* --- tiles --- */

/* The tile of a workgroup, and how it is shared out. */
static void report_tile(const kernel_check *k) {
  if (k->kernel->tile != NULL)
    tj_find(k->findings, "tile", TJ_FINDING_FACT, "%s", k->kernel->tile);
}

/* How the tile lies in LDS, and why. */
static void report_stage(const kernel_check *k) {
  const tj_stage_choice *stage = k->kernel->stage;
  if (stage == NULL || stage->reason == NULL)
    return;
  const char *other =
      stage->lanes_price == 0
          ? ""
          : tj_string_format(k->findings->job, "; %" PRIu32 " cycles of a wave, between lanes %" PRIu32, stage->price,
                             stage->lanes_price);
  tj_finding *finding = tj_find(k->findings, "stage", TJ_FINDING_FACT, "%s%s", stage->reason, other);
  tj_finding_number(finding, "bytes", stage->layout.bytes);
  tj_finding_number(finding, "cycles", stage->store_cycles + stage->load_cycles);
  tj_finding_number(finding, "ideal", stage->store_ideal + stage->load_ideal);
  tj_finding_number(finding, "least", stage->least_cycles);
}

/* That an engine loads into LDS, or stores what is there. */
static void report_dma(const kernel_check *k, bool are_taken) {
  uint32_t boxes = tj_kernel_boxes(k->kernel, are_taken);
  if (boxes == 0)
    return;
  tj_finding *finding = tj_find(
      k->findings, are_taken ? "dma_store" : "dma", TJ_FINDING_YES, "an engine %s: %" PRIu32 " instruction%s each",
      are_taken ? "stores tiles from LDS" : "loads tiles into LDS", boxes, boxes == 1 ? "" : "s");
  tj_finding_number(finding, "instructions", boxes);
}

/* Whether elements go straight from memory into LDS, where the target loads vectors so; or why not. */
static void report_direct(const kernel_check *k, const tj_target *target) {
  const tj_kernel *kernel = k->kernel;
  if (!tj_direct_has(target->direct, target->vector_bytes) || kernel->lds_elements == 0 || kernel->arrays != NULL)
    return;
  if (tj_kernel_has_step(kernel, TJ_STEP_DIRECT))
    tj_find(k->findings, "direct", TJ_FINDING_YES, "work-items load into LDS, not into registers");
  else
    tj_find(k->findings, "direct", TJ_FINDING_NO, "%s",
            kernel->indirect != NULL  ? kernel->indirect
            : kernel->mapping == NULL ? "no mapping of constant size says what lies where in LDS"
            : kernel->mapped != NULL  ? "the mapping does not say so"
                                      : "elements become others before they are in LDS");
}

static const tj_exchange *exchange_of(const tj_kernel *kernel) {
  for (uint32_t i = 0; i < kernel->step_count; i++) {
    if (kernel->step[i].kind == TJ_STEP_EXCHANGE)
      return kernel->step[i].exchange;
  }
  return NULL;
}

/* What lanes read of each other, and why not LDS. */
static void report_exchange(const kernel_check *k) {
  const tj_exchange *exchange = exchange_of(k->kernel);
  tj_text text = tj_text_begin(k->findings->job);
  if (exchange == NULL)
    return;
  tj_exchange_print(&text, exchange);
  tj_finding *finding =
      tj_find(k->findings, "exchange", TJ_FINDING_FACT, "%s: %" PRIu32 " cycles of a wave; by LDS at least %" PRIu32,
              text.data, exchange->price, exchange->lds_price);
  tj_finding_number(finding, "cycles", exchange->price);
  tj_finding_number(finding, "lds_cycles", exchange->lds_price);
}

/* --- machine code --- */

void tj_check_machine_code(const tj_check *check, const tj_kernel *kernel, tj_isa_stats stats,
                           tj_findings *findings) {
  const tj_compute_unit *unit = tj_compute_unit_of(check->target->processor);
  if (unit == NULL)
    return;
  tj_finding *finding = tj_find(findings, "registers", TJ_FINDING_FACT,
                                "%" PRIu64 " vector, %" PRIu64 " scalar; %" PRIu64 " bytes of LDS", stats.vgprs,
                                stats.sgprs, stats.lds_bytes);
  tj_finding_number(finding, "vgprs", (int64_t)stats.vgprs);
  tj_finding_number(finding, "sgprs", (int64_t)stats.sgprs);
  tj_finding_number(finding, "lds_bytes", (int64_t)stats.lds_bytes);
  tj_occupancy occupancy = tj_occupancy_of(unit, &stats, kernel->workgroup_size);
  finding = tj_find(findings, "occupancy", TJ_FINDING_FACT, "%u of %u waves a SIMD%s%s", occupancy.waves, unit->waves,
                    occupancy.waves < unit->waves ? ", limited by " : "",
                    occupancy.waves < unit->waves ? occupancy.limited_by : "");
  tj_finding_number(finding, "waves", occupancy.waves);
  tj_finding_number(finding, "most_waves", unit->waves);
  tj_finding_number(finding, "workgroups", occupancy.workgroups);
}

/* --- kernels --- */

void tj_check_destination(const tj_check *check, const tj_kernel *kernel, const tj_value *destination,
                          tj_race_verdict launch, const char *race, tj_findings *findings) {
  static const struct {
    tj_finding_verdict verdict;
    const char *text;
  } rows[] = {
      [TJ_RACES_NONE] = {TJ_FINDING_YES, ""},
      [TJ_RACES_AT_LAUNCH] = {TJ_FINDING_UNKNOWN, "parameters decide: a launch whose values make a race is refused"},
      [TJ_RACES_UNDECIDED] = {TJ_FINDING_UNKNOWN, "strides do not decide it, and there is too much to try"},
      [TJ_RACES_OF_INDICES] = {TJ_FINDING_UNKNOWN, "indices that are the same store to the same elements"},
      [TJ_RACES_MEANT] = {TJ_FINDING_UNKNOWN, "may_race=1 allows what there is"},
  };
  tj_check_injective(check, destination, findings);
  if (launch == TJ_RACE_UNDECIDED)
    tj_find(findings, "race-free", rows[kernel->races].verdict, "%s", rows[kernel->races].text);
  else
    tj_find(findings, "race-free", launch == TJ_RACE_FOUND ? TJ_FINDING_NO : TJ_FINDING_YES, "%s", race)->must_hold =
        launch == TJ_RACE_FOUND;
}

void tj_check_variant(const tj_check *check, const tj_kernel *variant, const int64_t parameter[],
                      tj_findings *findings) {
  kernel_check k = {.kernel = variant, .machine = tj_price_machine_of(check->target), .findings = findings};
  check_accesses(&k, check, parameter);
  report_tile(&k);
  report_stage(&k);
  if (tj_kernel_boxes(variant, false) == 0)
    report_direct(&k, check->target);
  report_dma(&k, false);
  report_dma(&k, true);
  report_exchange(&k);
}

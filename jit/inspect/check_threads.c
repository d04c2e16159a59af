/* SPDX-License-Identifier: MIT */
/* Checks of distributions and (thread, value) layouts: how many elements a lane moves at once, and what the waves of
 * a workgroup cost when the tile lies in memory, and in LDS, without gaps: row-major for distributions, first mode
 * fastest for layouts, whose values are such indices. */
#include "jit/inspect/check.h"

#include "base/machine/cache_line.h"
#include "base/machine/processor.h"
#include "jit/inspect/thread_values.h"

#include <inttypes.h>

enum { WIDEST = 16, MOST_WAVES = 16 };

/* Where each thread's registers lie in the tile. */
typedef struct {
  const tj_check *check;
  tj_thread_values held;
  const int64_t *place; /* of register r of thread t: place[t * registers + r] */
  uint32_t vector;
} thread_map;

/* --- places --- */

/* The tile of a distribution, row-major and without gaps. */
static const tj_value *tile_of(tj_graph *graph, const tj_distribution *distribution) {
  const tj_tuple **extent = TJ_NEW_ARRAY(graph->job, const tj_tuple *, distribution->x_count + 1),
                 **stride = TJ_NEW_ARRAY(graph->job, const tj_tuple *, distribution->x_count + 1);
  int64_t elements = 1;
  for (uint32_t i = distribution->x_count; i-- > 0; elements *= distribution->x_length[i]) {
    extent[i] = tj_tuple_constant(graph, distribution->x_length[i]);
    stride[i] = tj_tuple_constant(graph, elements);
  }
  return tj_value_of_layout(graph, (tj_layout){tj_tuple_list(graph, extent, distribution->x_count),
                                               tj_tuple_list(graph, stride, distribution->x_count)});
}

static void find_vector(thread_map *m) {
  tj_job *job = m->check->graph->job;
  uint32_t *order = TJ_NEW_ARRAY(job, uint32_t, m->held.values + 1);
  for (uint32_t i = 0; i < m->held.values; i++)
    order[i] = i;
  bool holds = true;
  for (m->vector = 1; holds && 2 * m->vector * m->check->element_bytes <= WIDEST; m->vector *= holds ? 2 : 1) {
    holds = m->held.values % (2 * m->vector) == 0;
    for (uint32_t i = 0; i < m->held.values && holds; i += 2 * m->vector)
      holds = tj_threads_hold_run(&m->held, m->place, order + i, 2 * m->vector);
  }
}

/* --- costs --- */

typedef struct {
  int64_t instructions, lines, least_lines;
  int64_t load_cycles, load_ideal, store_cycles, store_ideal;
} costs;

static void add_instruction(const thread_map *m, const tj_bank_model *model, uint32_t line_bytes,
                            int64_t first_thread, int64_t first_register, costs *sum) {
  uint64_t address[TJ_BANK_LANES];
  uint32_t lds[TJ_BANK_LANES], lanes = 0, bytes = m->vector * m->check->element_bytes;
  for (; lanes < m->check->target->wave_size && first_thread + lanes < m->held.threads; lanes++) {
    address[lanes] =
        (uint64_t)m->place[(first_thread + lanes) * m->held.values + first_register] * m->check->element_bytes;
    lds[lanes] = (uint32_t)address[lanes];
  }
  uint64_t active = lanes == 64 ? UINT64_MAX : (1ull << lanes) - 1;
  sum->instructions++;
  tj_line_count lines = tj_count_lines(address, lanes, bytes, line_bytes);
  sum->lines += (int64_t)lines.touched;
  sum->least_lines += (int64_t)lines.least;
  sum->load_cycles += tj_bank_cycles(model, false, bytes, lds, active);
  sum->load_ideal += tj_bank_ideal(model, false, bytes, active);
  sum->store_cycles += tj_bank_cycles(model, true, bytes, lds, active);
  sum->store_ideal += tj_bank_ideal(model, true, bytes, active);
}

static costs count_costs(const thread_map *m, const tj_bank_model *model, uint32_t line_bytes) {
  costs sum = {0};
  uint32_t lanes = m->check->target->wave_size;
  for (int64_t wave = 0; wave * lanes < m->held.threads && wave < MOST_WAVES; wave++) {
    for (int64_t r = 0; r < m->held.values; r += m->vector)
      add_instruction(m, model, line_bytes, wave * lanes, r, &sum);
  }
  return sum;
}

static void report_lines(const costs *sum, uint32_t line_bytes, tj_findings *findings) {
  tj_finding *finding =
      tj_find(findings, "coalesced", sum->lines == sum->least_lines ? TJ_FINDING_YES : TJ_FINDING_NO,
              "%" PRId64 " instructions touch %" PRId64 " cache lines of %u bytes, %" PRId64 " at least",
              sum->instructions, sum->lines, line_bytes, sum->least_lines);
  tj_finding_number(finding, "instructions", sum->instructions);
  tj_finding_number(finding, "lines", sum->lines);
  tj_finding_number(finding, "least_lines", sum->least_lines);
}

static void report_cycles(const char *what, int64_t cycles, int64_t ideal, tj_findings *findings) {
  tj_finding *finding =
      tj_find(findings, "conflict-free", cycles == ideal ? TJ_FINDING_YES : TJ_FINDING_NO,
              "%s of the tile in LDS: %" PRId64 " cycles, %" PRId64 " without conflicts", what, cycles, ideal);
  tj_finding_number(finding, "cycles", cycles);
  tj_finding_number(finding, "ideal", ideal);
}

static void report_costs(const thread_map *m, tj_findings *findings) {
  const tj_target *target = m->check->target;
  const tj_bank_model *model = target != NULL ? tj_bank_model_of(target->processor) : NULL;
  if (model == NULL)
    return;
  uint32_t line_bytes = tj_cache_line_bytes(target->processor);
  costs sum = count_costs(m, model, line_bytes);
  report_lines(&sum, line_bytes, findings);
  tj_find_phases(findings, model);
  report_cycles("loads", sum.load_cycles, sum.load_ideal, findings);
  report_cycles("stores", sum.store_cycles, sum.store_ideal, findings);
}

void tj_check_threads(const tj_check *check, const tj_value *map, tj_findings *findings) {
  tj_graph *graph = check->graph;
  thread_map m = {.check = check, .held = tj_thread_values_of(graph, map)};
  bool is_distribution = map->kind == TJ_VALUE_DISTRIBUTION;
  if (!is_distribution && (tj_tuple_rank(tj_value_layout(map)->shape) != 2 || m.held.components != 1))
    tj_fail(graph->job, TJ_WRONG_TYPE, "a (thread, value) layout has two modes, and integers as values");
  m.place = m.held.coordinate;
  if (is_distribution) {
    tj_tile_map tile = tj_tile_map_of(graph, tile_of(graph, map->distribution));
    m.place = tj_thread_places(&tile, &m.held);
  }
  find_vector(&m);
  tj_finding *finding = tj_find(findings, "threads", TJ_FINDING_FACT, "%" PRId64 " of %" PRId64 " registers each",
                                m.held.threads, m.held.values);
  tj_finding_number(finding, "threads", m.held.threads);
  tj_finding_number(finding, "registers", m.held.values);
  finding = tj_find(findings, "vector", TJ_FINDING_FACT, "%u element%s of %s a lane, %u bytes", m.vector,
                    m.vector > 1 ? "s" : "", check->dtype, m.vector * check->element_bytes);
  tj_finding_number(finding, "elements", m.vector);
  tj_finding_number(finding, "bytes", m.vector * check->element_bytes);
  report_costs(&m, findings);
}

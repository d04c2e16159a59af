/* SPDX-License-Identifier: MIT */
/* Checks of distributions and (thread, value) layouts: how many elements a lane moves at once, and what the waves of
 * a workgroup cost when the tile lies in memory, and in LDS, without gaps: row-major for distributions, first mode
 * fastest for layouts, whose values are such indices. */
#include "jit/inspect/check.h"

#include "base/machine/cache_line.h"
#include "base/machine/processor.h"
#include "ir/value/table.h"

#include <inttypes.h>

enum { WIDEST = 16, MOST_TABLE = 1 << 20, MOST_WAVES = 16 };

/* Where each thread's registers lie in the tile. */
typedef struct {
  const tj_check *check;
  int64_t threads, registers;
  int64_t *place; /* of register r of thread t: place[t * registers + r] */
  uint32_t vector;
} thread_map;

/* --- places --- */

static int64_t row_major_place(const tj_distribution *distribution, const int64_t coordinate[]) {
  int64_t place = 0;
  for (uint32_t i = 0; i < distribution->x_count; i++)
    place = place * distribution->x_length[i] + coordinate[i];
  return place;
}

/* Thread and register of a distribution's coordinate are both row-major, and so is its table: registers fastest. */
static void place_distribution(thread_map *m, tj_table *table, const tj_distribution *distribution) {
  m->threads = m->registers = 1;
  for (uint32_t i = 0; i < distribution->p_count; i++)
    m->threads *= distribution->p_length[i];
  for (uint32_t i = 0; i < distribution->y_count; i++)
    m->registers *= distribution->y_length[i];
  for (int64_t n = 0; n < table->size; n++, tj_table_advance(table)) {
    tj_table_evaluate(table);
    m->place[n] = row_major_place(distribution, table->result);
  }
}

/* The table of a layout runs through the threads first. */
static void place_layout(thread_map *m, tj_table *table) {
  tj_graph *graph = m->check->graph;
  const tj_node *threads = tj_tuple_product(graph, tj_tuple_mode(table->domain, 0));
  m->threads = tj_constant_value(graph, threads, "the number of threads");
  m->registers = table->size / m->threads;
  for (int64_t n = 0; n < table->size; n++, tj_table_advance(table)) {
    tj_table_evaluate(table);
    m->place[n % m->threads * m->registers + n / m->threads] = table->result[0];
  }
}

/* Whether all threads hold runs of `length` registers that lie side by side, aligned to the run. */
static bool holds_runs(const thread_map *m, uint32_t length) {
  if (m->registers % length != 0)
    return false;
  for (int64_t n = 0; n < m->threads * m->registers; n++) {
    int64_t in_run = n % length;
    if (m->place[n] != m->place[n - in_run] + in_run || m->place[n - in_run] % length != 0)
      return false;
  }
  return true;
}

static void find_vector(thread_map *m) {
  m->vector = 1;
  while (2 * m->vector * m->check->element_bytes <= WIDEST && holds_runs(m, 2 * m->vector))
    m->vector *= 2;
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
  for (; lanes < m->check->target->wave_size && first_thread + lanes < m->threads; lanes++) {
    address[lanes] =
        (uint64_t)m->place[(first_thread + lanes) * m->registers + first_register] * m->check->element_bytes;
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
  for (int64_t wave = 0; wave * lanes < m->threads && wave < MOST_WAVES; wave++) {
    for (int64_t r = 0; r < m->registers; r += m->vector)
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
  tj_table table = tj_table_open(graph, map, MOST_TABLE);
  if (map->kind != TJ_VALUE_DISTRIBUTION && (tj_tuple_rank(table.domain) != 2 || table.result_count != 1))
    tj_fail(graph->job, TJ_WRONG_TYPE, "a (thread, value) layout has two modes, and integers as values");
  thread_map m = {.check = check, .place = TJ_NEW_ARRAY(graph->job, int64_t, table.size + 1)};
  if (map->kind == TJ_VALUE_DISTRIBUTION)
    place_distribution(&m, &table, map->distribution);
  else
    place_layout(&m, &table);
  find_vector(&m);
  tj_finding *finding = tj_find(findings, "threads", TJ_FINDING_FACT, "%" PRId64 " of %" PRId64 " registers each",
                                m.threads, m.registers);
  tj_finding_number(finding, "threads", m.threads);
  tj_finding_number(finding, "registers", m.registers);
  finding = tj_find(findings, "vector", TJ_FINDING_FACT, "%u element%s of %s a lane, %u bytes", m.vector,
                    m.vector > 1 ? "s" : "", check->dtype, m.vector * check->element_bytes);
  tj_finding_number(finding, "elements", m.vector);
  tj_finding_number(finding, "bytes", m.vector * check->element_bytes);
  report_costs(&m, findings);
}

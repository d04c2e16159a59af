/* SPDX-License-Identifier: MIT */
/* Counts instruction by instruction, and tells those that are alike together. */
#include "jit/lds/check_lds.h"

#include "base/text.h"
#include "ir/value/table.h"

#include <inttypes.h>

enum { MOST_TABLE = 1 << 20, MOST_TOLD = 16, MOST_LDS_BYTES = 1 << 24 };

/* --- cycles --- */

/* What an instruction takes for a wave. */
typedef struct {
  uint32_t phases, cycles;
  bool collides;
  tj_bank_collision first;
} lds_cycles;

static void find_addresses(const tj_lds_check *check, const tj_lds_request *request, uint32_t address[]) {
  for (uint64_t left = request->active; left != 0; left &= left - 1) {
    int lane = __builtin_ctzll(left);
    address[lane] = (uint32_t)request->element[lane] * check->element_bytes;
  }
}

static lds_cycles count_cycles(const tj_lds_check *check, const tj_lds_step *step, const tj_lds_request *request) {
  const tj_bank_model *model = check->memory.banks;
  uint32_t address[TJ_BANK_LANES];
  find_addresses(check, request, address);
  bool is_store = step->is->is_store;
  uint32_t bytes = step->is->bytes;
  lds_cycles of = {.phases = tj_bank_ideal(model, is_store, bytes, request->active),
                   .cycles = tj_bank_cycles(model, is_store, bytes, address, request->active)};
  of.collides = tj_bank_collide(model, is_store, bytes, address, request->active, &of.first);
  return of;
}

/* Whether the same lanes meet first, in whichever bank. */
static bool collide_alike(const lds_cycles *a, const lds_cycles *b) {
  return a->collides == b->collides &&
         (!a->collides || (a->first.lane[0] == b->first.lane[0] && a->first.lane[1] == b->first.lane[1]));
}

/* --- instructions that are alike --- */

/* As many instructions as take the same; the first is of this wave and step. */
typedef struct {
  const tj_lds_step *step;
  int64_t wave, count;
  lds_cycles of;
} alike;

typedef struct {
  alike item[MOST_TOLD];
  uint32_t count;
  tj_lds_cost sum; /* of all, told or not */
} tally;

static bool are_alike(const alike *a, const alike *b) {
  return a->step->is == b->step->is && a->of.cycles == b->of.cycles && a->of.phases == b->of.phases &&
         collide_alike(&a->of, &b->of);
}

static void enter(tally *t, alike one) {
  t->sum.instructions++;
  t->sum.cycles += one.of.cycles;
  t->sum.least += one.of.phases;
  for (uint32_t i = 0; i < t->count; i++) {
    if (are_alike(&t->item[i], &one)) {
      t->item[i].count++;
      return;
    }
  }
  if (t->count < MOST_TOLD)
    t->item[t->count++] = one;
}

static tally count_plan(const tj_lds_check *check, const tj_lds_plan *plan) {
  tally t = {.count = 0};
  for (int64_t wave = 0; wave < tj_lds_wave_count(plan); wave++) {
    for (uint32_t i = 0; i < plan->step_count; i++) {
      tj_lds_request request = tj_lds_request_of(plan, &plan->step[i], wave);
      if (request.active == 0)
        continue;
      enter(&t, (alike){&plan->step[i], wave, 1, count_cycles(check, &plan->step[i], &request)});
    }
  }
  return t;
}

tj_lds_cost tj_lds_count(const tj_lds_check *check, const tj_lds_plan *plan) {
  return count_plan(check, plan).sum;
}

/* --- what is told of them --- */

/* "values 0-7", "values 0,2". */
static void describe_values(tj_text *text, const tj_lds_plan *plan, const tj_lds_step *step) {
  const uint32_t *value = plan->order + step->first;
  bool is_run = true;
  for (uint32_t i = 1; i < step->count; i++)
    is_run = is_run && value[i] == value[0] + i;
  if (step->count == 1 || !is_run) {
    tj_text_string(text, step->count == 1 ? "value" : "values");
    for (uint32_t i = 0; i < step->count; i++)
      tj_text_format(text, "%s%u", i == 0 ? " " : ",", value[i]);
    return;
  }
  tj_text_format(text, "values %u-%u", value[0], value[0] + step->count - 1);
}

static const char *describe(tj_job *job, const tj_lds_plan *plan, const alike *one) {
  const tj_lds_instruction *is = one->step->is;
  tj_text text = tj_text_begin(job);
  tj_text_format(&text, "%s, ", is->name);
  describe_values(&text, plan, one->step);
  tj_text_format(&text, " of wave %" PRId64, one->wave);
  if (one->count > 1)
    tj_text_format(&text, " and %" PRId64 " more alike", one->count - 1);
  tj_text_format(&text, ": %u bytes a lane", is->lane_bytes);
  if (is->bytes != is->lane_bytes)
    tj_text_format(&text, ", %u from an address", is->bytes);
  tj_text_format(&text, ", %u phase%s: %u cycle%s", one->of.phases, one->of.phases == 1 ? "" : "s", one->of.cycles,
                 one->of.cycles == 1 ? "" : "s");
  if (one->of.collides)
    tj_text_format(&text, ", %u at least: the addresses of lanes %u and %u meet in bank %u", one->of.phases,
                   one->of.first.lane[0], one->of.first.lane[1], one->of.first.bank);
  return text.data;
}

static void tell(const tj_lds_plan *plan, const alike *one, const char *side, tj_findings *findings) {
  tj_finding *finding = tj_find(findings, side, one->of.collides ? TJ_FINDING_NO : TJ_FINDING_YES, "%s",
                                describe(findings->job, plan, one));
  finding->instruction = one->step->is->name;
  tj_finding_number(finding, "wave", one->wave);
  tj_finding_number(finding, "value", plan->order[one->step->first]);
  tj_finding_number(finding, "count", one->count);
  tj_finding_number(finding, "bytes", one->step->is->lane_bytes);
  tj_finding_number(finding, "phases", one->of.phases);
  tj_finding_number(finding, "cycles", one->of.cycles);
  if (!one->of.collides)
    return;
  tj_finding_number(finding, "lane", one->of.first.lane[0]);
  tj_finding_number(finding, "other_lane", one->of.first.lane[1]);
  tj_finding_number(finding, "bank", one->of.first.bank);
}

static void tell_sum(const tj_lds_cost *t, const char *what, tj_findings *findings) {
  bool is_free = t->cycles == t->least;
  tj_finding *finding = tj_find(findings, "conflict-free", is_free ? TJ_FINDING_YES : TJ_FINDING_NO,
                                "%s: %" PRId64 " instructions, %" PRId64 " cycles, %" PRId64 " at least", what,
                                t->instructions, t->cycles, t->least);
  tj_finding_number(finding, "instructions", t->instructions);
  tj_finding_number(finding, "cycles", t->cycles);
  tj_finding_number(finding, "least", t->least);
}

/* --- the layout --- */

/* How many coordinates the tile has, and how many elements its map's values span. */
typedef struct {
  int64_t size, span;
} tile_size;

/* Fails where an element lies before LDS. */
static tile_size measure(const tj_lds_check *check) {
  tj_table table = tj_table_open(check->graph, check->lds, MOST_TABLE);
  int64_t last = -1;
  for (int64_t n = 0; n < table.size && table.result_count == 1; n++, tj_table_advance(&table)) {
    if (!tj_table_evaluate(&table))
      continue;
    if (table.result[0] < 0)
      tj_fail(check->graph->job, TJ_COORDINATE_RANGE, "element %" PRId64 " lies before the beginning of LDS",
              table.result[0]);
    last = table.result[0] > last ? table.result[0] : last;
  }
  return (tile_size){table.size, last + 1};
}

static void check_space(const tj_lds_check *check, tile_size size, tj_findings *findings) {
  int64_t bytes;
  if (__builtin_mul_overflow(size.span, (int64_t)check->element_bytes, &bytes) || bytes > MOST_LDS_BYTES)
    tj_fail(check->graph->job, TJ_TILE_SIZE, "the layout takes more than %d bytes of LDS", MOST_LDS_BYTES);
  tj_finding *finding = tj_find(findings, "lds", bytes <= check->memory.group_bytes ? TJ_FINDING_YES : TJ_FINDING_NO,
                                "%s has %u banks, %u bytes for a workgroup: the layout takes %" PRId64, check->target,
                                check->memory.banks->banks, check->memory.group_bytes, bytes);
  tj_finding_number(finding, "banks", check->memory.banks->banks);
  tj_finding_number(finding, "bytes", bytes);
}

/* --- a side --- */

/* Those who store or load, what they hold, and their instructions. */
typedef struct {
  tj_thread_values held;
  const int64_t *place;
  tj_lds_plan plan;
} lds_side;

static void open_side(const tj_lds_check *check, bool is_store, lds_side *side) {
  tj_graph *graph = check->graph;
  graph->job->here = is_store ? check->store_span : check->load_span;
  side->held = tj_thread_values_of(graph, is_store ? check->store : check->load);
  tj_tile_map tile = tj_tile_map_of(graph, check->lds);
  side->place = tj_thread_places(&tile, &side->held);
  side->plan = tj_lds_plan_of(graph, &check->memory, is_store, check->element_bytes, &side->held, side->place);
}

/* Elements that are held by some thread. */
static int64_t count_reached(tj_graph *graph, const tj_thread_values *held, const int64_t place[], int64_t span) {
  bool *is_reached = TJ_NEW_ARRAY(graph->job, bool, span + 1);
  int64_t count = 0;
  for (int64_t n = 0; n < held->threads * held->values; n++) {
    if (place[n] == TJ_NO_PLACE || is_reached[place[n]])
      continue;
    is_reached[place[n]] = true;
    count++;
  }
  return count;
}

static void check_side(const tj_lds_check *check, bool is_store, tile_size size, tj_findings *findings) {
  const char *name = is_store ? "store" : "load";
  lds_side side;
  open_side(check, is_store, &side);
  int64_t reached = count_reached(check->graph, &side.held, side.place, size.span);
  tj_finding *finding = tj_find(findings, name, TJ_FINDING_FACT,
                                "%" PRId64 " threads of %" PRId64 " values each, %" PRId64 " of %" PRId64 " elements",
                                side.held.threads, side.held.values, reached, size.size);
  tj_finding_number(finding, "threads", side.held.threads);
  tj_finding_number(finding, "values", side.held.values);
  tj_finding_number(finding, "elements", reached);
  tally t = count_plan(check, &side.plan);
  for (uint32_t i = 0; i < t.count; i++)
    tell(&side.plan, &t.item[i], name, findings);
  tell_sum(&t.sum, is_store ? "stores" : "loads", findings);
}

tj_lds_wave_access tj_lds_worst_access(const tj_lds_check *check, bool is_store) {
  lds_side side;
  open_side(check, is_store, &side);
  tally t = count_plan(check, &side.plan);
  if (t.count == 0)
    tj_fail(check->graph->job, TJ_NOTHING_TO_EVALUATE, "no lane wants anything of LDS");
  alike *worst = t.item;
  for (uint32_t i = 1; i < t.count; i++) {
    if (t.item[i].of.cycles - t.item[i].of.phases > worst->of.cycles - worst->of.phases)
      worst = &t.item[i];
  }
  tj_lds_request request = tj_lds_request_of(&side.plan, worst->step, worst->wave);
  tj_lds_wave_access access = {.is_store = is_store, .bytes = worst->step->is->bytes, .active = request.active};
  find_addresses(check, &request, access.address);
  access.text = describe(check->graph->job, &side.plan, worst);
  return access;
}

void tj_check_lds_of(const tj_lds_check *check, tj_findings *findings) {
  tj_check map = {.graph = check->graph, .dtype = check->dtype, .element_bytes = check->element_bytes};
  tj_job *job = check->graph->job;
  job->here = check->lds_span;
  tile_size size = measure(check);
  check_space(check, size, findings);
  tj_check_injective(&map, check->lds, findings);
  tj_find_phases(findings, check->memory.banks);
  if (check->store != NULL)
    check_side(check, true, size, findings);
  if (check->load != NULL)
    check_side(check, false, size, findings);
}

/* SPDX-License-Identifier: MIT */
/* Compiling and running one transposition on a simulated device, through the public interface. */
#include "transpose_counts.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const unsigned counts_width[COUNTS_WIDTHS] = {1, 2, 4, 8, 12, 16};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool explain(const transpose_run *run, const transposition *t, char problem[COUNTS_TEXT]) {
  char shape[SHAPE_TEXT];
  transposition_write_shape(shape, t);
  const tj_diagnostic *d = tj_context_diagnostic(run->context);
  snprintf(problem, COUNTS_TEXT, "%s of %s (%s): %s", t->permutation, run->type, shape,
           d != NULL ? d->message : "no memory");
  return false;
}

/* --- code --- */

static bool compile(const transpose_run *run, const transposition *t, tj_program **program, tj_code **code,
                    double *milliseconds) {
  char text[TRANSPOSITION_TEXT];
  if (run->full != NULL)
    transposition_write_dynamic(text, run->full, NULL, run->type, run->headroom);
  else
    transposition_write(text, t, NULL, run->type);
  double begin = now();
  if (tj_program_create(run->context, "transpose", text, strlen(text), NULL, 0, program) != TJ_OK)
    return false;
  tj_compile_options options = {"transpose", tj_device_target(run->device)};
  if (tj_code_compile(*program, &options, code) != TJ_OK)
    return false;
  *milliseconds = (now() - begin) * 1e3;
  return true;
}

/* How often code has a mnemonic that begins so. */
static uint64_t count_of(const char *assembly, const char *mnemonic) {
  uint64_t count = 0;
  for (const char *at = assembly; (at = strstr(at, mnemonic)) != NULL; at++)
    count++;
  return count;
}

/* Reciprocals, steps of divisions and calls: whatever LLVM makes of an integer division that it cannot avoid. */
static uint64_t count_divisions(const char *assembly) {
  static const char *const mnemonics[] = {"v_rcp_", "v_s_rcp_", "v_div_", "s_swappc_", "s_call_"};
  uint64_t count = 0;
  for (size_t i = 0; i < sizeof mnemonics / sizeof *mnemonics; i++)
    count += count_of(assembly, mnemonics[i]);
  return count;
}

static bool inspect(const transpose_run *run, const tj_code *code, transpose_counts *counts) {
  size_t size;
  tj_blob assembly;
  const void *bytes = tj_code_bytes(code, &size);
  if (tj_code_disassemble(run->context, bytes, size, 0, &assembly) != TJ_OK)
    return false;
  counts->divisions = count_divisions(assembly.data);
  counts->direct_loads =
      count_of(assembly.data, "global_load_lds_") + count_of(assembly.data, "global_load_async_to_lds_");
  counts->register_loads = count_of(assembly.data, "global_load_") - counts->direct_loads;
  counts->lds_stores = count_of(assembly.data, "ds_write") + count_of(assembly.data, "ds_store");
  tj_blob_release(run->context, &assembly);
  return true;
}

static json_int_t number(const json_t *finding, const char *name) {
  return json_integer_value(json_object_get(json_object_get(finding, "numbers"), name));
}

/* Conflicts are unavoidable where the tile's layout takes the least cycles that any has, and these are more than the
 * ideal. */
static void read_stage(const json_t *finding, transpose_counts *counts) {
  json_int_t cycles = number(finding, "cycles");
  snprintf(counts->conflicts, COUNTS_TEXT, "%s", json_string_value(json_object_get(finding, "text")));
  counts->planned_cycles = (uint64_t)cycles;
  counts->planned_ideal = (uint64_t)number(finding, "ideal");
  counts->is_unavoidable = cycles > number(finding, "ideal") && cycles == number(finding, "least");
}

static void read_direct(const json_t *finding, transpose_counts *counts) {
  if (strcmp(json_string_value(json_object_get(finding, "verdict")), "no") == 0)
    snprintf(counts->indirect, COUNTS_TEXT, "%s", json_string_value(json_object_get(finding, "text")));
}

static void read_check(const char *json, transpose_counts *counts) {
  json_t *report = json_loads(json, 0, NULL), *one, *finding;
  size_t i, k;
  json_array_foreach(json_object_get(report, "checks"), i, one) {
    json_array_foreach(json_object_get(one, "findings"), k, finding) {
      if (strcmp(json_string_value(json_object_get(finding, "about")), "stage") == 0)
        read_stage(finding, counts);
      if (strcmp(json_string_value(json_object_get(finding, "about")), "direct") == 0)
        read_direct(finding, counts);
    }
  }
  json_decref(report);
}

static bool ask_check(const transpose_run *run, tj_program *program, transpose_counts *counts) {
  tj_check_options options = {.kernel = "transpose", .target = tj_device_target(run->device), .form = TJ_CHECK_JSON};
  int holds;
  tj_blob report;
  if (tj_program_check(program, &options, &holds, &report) != TJ_OK)
    return false;
  read_check(report.data, counts);
  tj_blob_release(run->context, &report);
  return true;
}

/* --- running --- */

typedef struct {
  unsigned char *source, *destination;
  size_t element_bytes, bytes;
} arrays;

static void fill(const arrays *a) {
  uint64_t state = 1;
  for (size_t i = 0; i < a->bytes; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    a->source[i] = (unsigned char)(state >> 56);
  }
  memset(a->destination, 0, a->bytes);
}

/* Whether each element is where the definition says, in the order of the source, whose first mode is contiguous. */
static bool is_transposed(const transposition *t, const arrays *a) {
  int64_t source[TRANSPOSITION_MODES], destination[TRANSPOSITION_MODES], size = transposition_size(t);
  transposition_strides(t, NULL, source, destination);
  const size_t step = (size_t)destination[0] * a->element_bytes;
  const unsigned char *from = a->source;
  for (int64_t run = 0; run < size; run += t->extent[0]) {
    const element_places begin = transposition_places(t, NULL, run);
    const unsigned char *to = a->destination + (size_t)begin.destination * a->element_bytes;
    for (int64_t i = 0; i < t->extent[0]; i++, from += a->element_bytes, to += step)
      if (memcmp(from, to, a->element_bytes) != 0)
        return false;
  }
  return true;
}

static bool set_extents(const transpose_run *run, const transposition *t, tj_launch *launch) {
  for (int m = 0; run->full != NULL && m < transposition_modes(t); m++) {
    char name[16];
    snprintf(name, sizeof name, "D%d", m);
    if (tj_launch_set_parameter(launch, name, t->extent[m]) != TJ_OK)
      return false;
  }
  return true;
}

static bool launch_once(const transpose_run *run, const transposition *t, tj_launch *launch, const arrays *a) {
  return set_extents(run, t, launch) && tj_launch_bind(launch, "src", a->source, a->bytes) == TJ_OK &&
         tj_launch_bind(launch, "dst", a->destination, a->bytes) == TJ_OK &&
         tj_launch_run(launch, run->device) == TJ_OK;
}

static uint64_t counter(const tj_launch *launch, const char *wanted) {
  const char *name;
  for (size_t i = 0; i < tj_launch_counter_count(launch); i++) {
    uint64_t value = tj_launch_counter(launch, i, &name);
    if (strcmp(name, wanted) == 0)
      return value;
  }
  return 0;
}

static void read_side(const tj_launch *launch, const char *side, side_counts *counts) {
  char name[64];
  snprintf(name, sizeof name, "%s_lines", side);
  counts->lines = counter(launch, name);
  snprintf(name, sizeof name, "least_%s_lines", side);
  counts->least_lines = counter(launch, name);
  for (int i = 0; i < COUNTS_WIDTHS; i++) {
    snprintf(name, sizeof name, "%s_bytes_%u", side, counts_width[i]);
    counts->bytes[i] = counter(launch, name);
  }
}

static void read_counters(const transpose_run *run, const tj_launch *launch, size_t bytes, transpose_counts *counts) {
  size_t line = strncmp(tj_device_target(run->device), "gfx90a", 6) == 0 ? 64 : 128;
  read_side(launch, "load", &counts->load);
  read_side(launch, "store", &counts->store);
  counts->needed_lines = 2 * ((bytes + line - 1) / line);
  counts->lds_cycles = counter(launch, "lds_cycles");
  counts->ideal_lds_cycles = counter(launch, "least_lds_cycles");
  counts->waves = counter(launch, "waves");
  counts->valu = counter(launch, "valu");
  counts->salu = counter(launch, "salu");
}

static bool run_arrays(const transpose_run *run, const transposition *t, tj_launch *launch, const arrays *a,
                       transpose_counts *counts, char problem[COUNTS_TEXT]) {
  if (a->source == NULL || a->destination == NULL)
    return explain(run, t, problem);
  fill(a);
  if (!launch_once(run, t, launch, a))
    return explain(run, t, problem);
  read_counters(run, launch, a->bytes, counts);
  const char *wrong = !is_transposed(t, a) ? "a wrong element"
                      : counts->waves == 0 ? "the device counts nothing"
                                           : NULL;
  if (wrong != NULL)
    snprintf(problem, COUNTS_TEXT, "%s of %s: %s", t->permutation, run->type, wrong);
  return wrong == NULL;
}

static bool run_code(const transpose_run *run, const transposition *t, const tj_code *code, transpose_counts *counts,
                     char problem[COUNTS_TEXT]) {
  tj_launch *launch;
  if (tj_launch_create(run->context, code, &launch) != TJ_OK)
    return explain(run, t, problem);
  arrays a = {.element_bytes = bytes_of_type(run->type)};
  a.bytes = (size_t)transposition_size(t) * a.element_bytes;
  a.source = malloc(a.bytes);
  a.destination = malloc(a.bytes);
  bool is_right = run_arrays(run, t, launch, &a, counts, problem);
  free(a.source);
  free(a.destination);
  tj_launch_destroy(launch);
  return is_right;
}

bool count_transposition(const transpose_run *run, const transposition *t, transpose_counts *counts,
                         char problem[COUNTS_TEXT]) {
  tj_program *program = NULL;
  tj_code *code = NULL;
  *counts = (transpose_counts){.waves = 0};
  bool is_right = compile(run, t, &program, &code, &counts->compile_milliseconds) && inspect(run, code, counts);
  if (!is_right)
    explain(run, t, problem);
  is_right = is_right && run_code(run, t, code, counts, problem);
  bool has_conflicts = counts->lds_cycles != counts->ideal_lds_cycles,
       is_indirect = run->asks_why && counts->lds_cycles > 0 && counts->direct_loads == 0;
  if (is_right && run->full == NULL && (has_conflicts || is_indirect) && !ask_check(run, program, counts))
    is_right = explain(run, t, problem);
  tj_code_destroy(code);
  tj_program_destroy(program);
  return is_right;
}

/* --- what counts say --- */

uint64_t counted_lines(const transpose_counts *counts) {
  return counts->load.lines + counts->store.lines;
}

double lines_ratio(const transpose_counts *counts) {
  return (double)counted_lines(counts) / (double)(counts->load.least_lines + counts->store.least_lines);
}

unsigned narrowest(const side_counts *side) {
  for (int i = 0; i < COUNTS_WIDTHS; i++) {
    if (side->bytes[i] > 0)
      return counts_width[i];
  }
  return 0;
}

double wide_share(const side_counts *side) {
  uint64_t sum = 0;
  for (int i = 0; i < COUNTS_WIDTHS; i++)
    sum += side->bytes[i];
  return sum > 0 ? (double)side->bytes[COUNTS_WIDTHS - 1] / (double)sum : 0;
}

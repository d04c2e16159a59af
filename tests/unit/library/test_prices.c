/* SPDX-License-Identifier: MIT */
/* What `check` says of accesses, against what simulated GPUs count when the same kernel runs: the kernels of
 * tests/golden/ and the transpositions of bench/, of which each processor has its turn; two of them share all of the
 * former, those of examples/ and the arrays of bench/; with TILEJIT_TEST_PRICES=all each has all. Every variant has
 * the parameters that `check` names. Instructions, cache lines and cycles of LDS are the same to the last one. */
#include "../../../bench/array_programs.h"
#include "../../../bench/transpositions.h"
#include "tests/unit/support/library_support.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>

/* Elements of a transposition; bytes of an array that is still run on; and what a reader of the folders that finds
 * too little has missed. */
enum {
  ELEMENTS = 20000,
  MOST_BYTES = 1 << 20,
  LEAST_KERNELS = 40,
  LEAST_VARIANTS = 40,
  MORE_KERNELS = 100,
  MORE_VARIANTS = 150
};

/* Those that share the kernels of all folders. */
static const char *const thorough[] = {"sim:gfx942", "sim:gfx1201"};

/* What both count: the counter, and the sum of a number over findings of loads or stores, of memory or LDS. */
static const struct {
  const char *counter, *number;
  bool of_loads, of_stores, of_lds;
} rows[] = {
    {"memory_accesses", "instructions", true, true, false},   {"load_lines", "lines", true, false, false},
    {"least_load_lines", "least_lines", true, false, false},  {"store_lines", "lines", false, true, false},
    {"least_store_lines", "least_lines", false, true, false}, {"lds_cycles", "cycles", true, true, true},
    {"least_lds_cycles", "ideal", true, true, true},
};

enum { ROWS = sizeof rows / sizeof *rows };

typedef struct {
  tj_context *context;
  const char *device_name;
  tj_device *device;
  const char *name;      /* of the text at hand */
  int turn, turns, seen; /* of so many kernels, which one is run; those before */
  int kernels, variants, wrong;
} run;

/* --- what check says --- */

static json_int_t number_of(const json_t *finding, const char *name) {
  return json_integer_value(json_object_get(json_object_get(finding, "numbers"), name));
}

static bool begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static uint64_t told(const json_t *findings, int row) {
  uint64_t sum = 0;
  size_t i;
  const json_t *finding;
  json_array_foreach(findings, i, finding) {
    const char *about = json_string_value(json_object_get(finding, "about"));
    bool is_load = begins(about, "load "), is_store = begins(about, "store ");
    bool is_lds = (is_load || is_store) && strcmp(strchr(about, ' '), " LDS") == 0;
    if (is_lds == rows[row].of_lds && ((is_load && rows[row].of_loads) || (is_store && rows[row].of_stores)))
      sum += (uint64_t)number_of(finding, rows[row].number);
  }
  return sum;
}

static const json_t *finding_of(const json_t *findings, const char *about) {
  size_t i;
  const json_t *finding;
  json_array_foreach(findings, i, finding) {
    if (strcmp(json_string_value(json_object_get(finding, "about")), about) == 0)
      return finding;
  }
  return NULL;
}

/* --- what the device counts --- */

static uint64_t counted(const tj_launch *launch, const char *counter) {
  for (size_t i = 0; i < tj_launch_counter_count(launch); i++) {
    const char *name;
    uint64_t value = tj_launch_counter(launch, i, &name);
    if (strcmp(name, counter) == 0)
      return value;
  }
  ck_abort_msg("there is no counter %s", counter);
}

/* Elements are their numbers, as those of sources that `tilejit run` is not given. */
static void fill(unsigned char *data, const tj_argument *argument) {
  for (int64_t i = 0; i < argument->element_count; i++)
    memcpy(data + (size_t)i * argument->element_bytes, &i, argument->element_bytes < 8 ? argument->element_bytes : 8);
}

/* False where an array is so large that it costs more than it tells. */
static bool bind_arrays(const run *r, const tj_code *code, tj_launch *launch, unsigned char *data[]) {
  for (size_t i = 0; i < tj_code_argument_count(code); i++) {
    const tj_argument *argument;
    expect_ok(r->context, tj_launch_argument(launch, i, &argument), r->name);
    size_t bytes = (size_t)argument->element_count * argument->element_bytes;
    if (bytes > MOST_BYTES)
      return false;
    data[i] = calloc(1, bytes + 1);
    fill(data[i], argument);
    expect_ok(r->context, tj_launch_bind(launch, argument->name, data[i], bytes), r->name);
  }
  return true;
}

static void set_parameters(const run *r, tj_launch *launch, const json_t *parameters) {
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)parameters, name, value)
      expect_ok(r->context, tj_launch_set_parameter(launch, name, json_integer_value(value)), r->name);
}

/* --- one against the other --- */

static void compare(run *r, const tj_launch *launch, const json_t *section) {
  const json_t *findings = json_object_get(section, "findings");
  bool differs = false;
  for (int row = 0; row < ROWS; row++)
    differs |= told(findings, row) != counted(launch, rows[row].counter);
  r->variants++;
  r->wrong += differs;
  if (!differs)
    return;
  printf("%s, %s:\n", r->name, json_string_value(json_object_get(section, "of")));
  for (int row = 0; row < ROWS; row++)
    printf("  %s: check %llu, device %llu\n", rows[row].counter, (unsigned long long)told(findings, row),
           (unsigned long long)counted(launch, rows[row].counter));
  char *text = json_dumps(section, 0);
  printf("  %s\n", text);
  free(text);
}

/* Whether a launch has several kernels, which devices count together: the variant follows another one, or is
 * followed.
 */
static bool is_one_of_several(const json_t *checks, const json_t *section) {
  const char *variant = json_string_value(json_object_get(section, "variant"));
  size_t i;
  const json_t *each;
  json_array_foreach(checks, i, each) {
    const char *condition = json_string_value(json_object_get(each, "condition"));
    const char *end = condition != NULL ? strstr(condition, " has run") : NULL;
    if (end != NULL && (each == section || (variant != NULL && strlen(variant) == (size_t)(end - condition) &&
                                            strncmp(condition, variant, (size_t)(end - condition)) == 0)))
      return true;
  }
  return false;
}

static void run_variant(run *r, const tj_code *code, const json_t *checks, const json_t *section) {
  const json_t *of = finding_of(json_object_get(section, "findings"), "launch");
  if (of == NULL || is_one_of_several(checks, section) ||
      number_of(of, "workgroups") != number_of(of, "counted_workgroups"))
    return;
  unsigned char *data[16] = {NULL};
  tj_launch *launch;
  expect_ok(r->context, tj_launch_create(r->context, code, &launch), r->name);
  set_parameters(r, launch, json_object_get(section, "parameters"));
  if (bind_arrays(r, code, launch, data)) {
    expect_ok(r->context, tj_launch_run(launch, r->device), r->name);
    compare(r, launch, section);
  }
  tj_launch_destroy(launch);
  for (size_t i = 0; i < sizeof data / sizeof *data; i++)
    free(data[i]);
}

/* Of elements that are stored twice, machine code may leave out a store that nobody sees. */
static bool is_injective(const json_t *checks) {
  const json_t *finding = finding_of(json_object_get(json_array_get(checks, 0), "findings"), "injective");
  return strcmp(json_string_value(json_object_get(finding, "verdict")), "no") != 0;
}

/* Of integers that may not fit in 64 bits, code is told when it is compiled, which waits for a launch. */
static bool is_too_large(const tj_context *context, tj_status status) {
  enum { INTEGER_OVERFLOW = 4006 };
  return status != TJ_OK && tj_context_diagnostic(context)->code == INTEGER_OVERFLOW;
}

static void run_kernel(run *r, tj_program *program, const char *kernel) {
  tj_check_options options = {.kernel = kernel, .target = tj_device_target(r->device), .form = TJ_CHECK_JSON};
  tj_compile_options compiled = {.kernel = kernel, .target = tj_device_target(r->device)};
  int holds;
  tj_blob report;
  tj_code *code;
  if (tj_code_compile(program, &compiled, &code) != TJ_OK)
    return;
  const tj_status checked = tj_program_check(program, &options, &holds, &report);
  if (is_too_large(r->context, checked)) {
    tj_code_destroy(code);
    return;
  }
  expect_ok(r->context, checked, r->name);
  json_t *object = json_loadb(report.data, report.size, 0, NULL), *checks = json_object_get(object, "checks");
  for (size_t i = 0; i < json_array_size(checks) && is_injective(checks); i++)
    run_variant(r, code, checks, json_array_get(checks, i));
  json_decref(object);
  tj_blob_release(r->context, &report);
  tj_code_destroy(code);
  r->kernels++;
}

/* A text that is no program is some other test's. */
static void run_text(run *r, const char *text) {
  tj_program *program;
  if (tj_program_create(r->context, r->name, text, strlen(text), NULL, 0, &program) != TJ_OK)
    return;
  for (size_t i = 0; i < tj_program_kernel_count(program); i++) {
    if (r->seen++ % r->turns == r->turn)
      run_kernel(r, program, tj_program_kernel_name(program, i));
  }
  tj_program_destroy(program);
}

/* --- where kernels are --- */

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  ck_assert_msg(file != NULL, "%s", path);
  char *text = calloc(1, 1 << 20);
  ck_assert_uint_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
  fclose(file);
  return text;
}

/* The kernels that command lines in a golden file have as -e 'kernel …'. */
static void run_lines(run *r, char *text) {
  for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    char *begin = begins(line, "#! ") && strstr(line, "kernel ") != NULL ? strstr(line, "-e '") : NULL;
    char *end = begin != NULL ? strchr(begin + 4, '\'') : NULL;
    if (end == NULL)
      continue;
    *end = '\0';
    r->name = begin + 4;
    run_text(r, begin + 4);
  }
}

static void run_file(run *r, const char *path) {
  char *text = read_text(path);
  r->name = path;
  run_text(r, text);
  run_lines(r, text);
  free(text);
}

static int is_program(const struct dirent *entry) {
  return strstr(entry->d_name, ".tile") != NULL;
}

static void run_folder(run *r, const char *folder) {
  struct dirent **entry;
  const int count = scandir(folder, &entry, is_program, alphasort);
  ck_assert_int_gt(count, 0);
  for (int i = 0; i < count; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
    run_file(r, path);
    free(entry[i]);
  }
  free(entry);
}

static void run_transpositions(run *r) {
  for (int i = 0; i < TRANSPOSITION_COUNT; i++) {
    char text[TRANSPOSITION_TEXT];
    transposition t = transposition_halved(&transpositions[i], ELEMENTS);
    r->name = text;
    transposition_write(text, &t, NULL, "f16");
    run_text(r, text);
    transposition_write(text, &t, NULL, "f32");
    run_text(r, text);
    transposition_write_dynamic(text, &t, NULL, "f32", 1);
    run_text(r, text);
  }
}

static void run_rows(run *r, int64_t count, int64_t columns) {
  for (size_t i = 0; i < array_program_count; i++) {
    char text[PROGRAM_TEXT];
    r->name = text;
    array_program_write(text, &array_programs[i], "bf16", count, columns, false);
    run_text(r, text);
  }
}

/* Of a long row, whose end no vector fills; and of rows that end within a wave, others of which have none of it. */
static void run_arrays(run *r) {
  run_rows(r, 1, 40003);
  run_rows(r, 3, 1056);
}

static bool has_all(void) {
  const char *wanted = getenv("TILEJIT_TEST_PRICES");
  return wanted != NULL && strcmp(wanted, "all") == 0;
}

enum { THOROUGH = sizeof thorough / sizeof *thorough };

/* Which of them the device is; THOROUGH: none. */
static int place_among_thorough(const char *device) {
  int place = 0;
  while (place < THOROUGH && strcmp(thorough[place], device) != 0)
    place++;
  return place;
}

static const char *const devices[] = {
#define SIMULATED(name, units) "sim:" name,
#include "base/machine/processor.def"
#undef SIMULATED
};

enum { DEVICES = sizeof devices / sizeof *devices };

/* From here on, every kernel is for one of so many devices, of which this is the one of that number. */
static void take_turns(run *r, int number, int of) {
  r->turn = has_all() ? 0 : number;
  r->turns = has_all() ? 1 : of;
  r->seen = 0;
}

START_TEST(prices_are_what_devices_count) {
  run r = {.context = new_context(NULL), .device_name = devices[_i]};
  const int place = place_among_thorough(r.device_name);
  const bool more = has_all() || place < THOROUGH;
  r.device = open_device(r.context, r.device_name);
  take_turns(&r, more ? place : _i, more ? THOROUGH : DEVICES);
  run_folder(&r, TILEJIT_TEST_DATA "/golden");
  if (more) {
    run_folder(&r, TILEJIT_TEST_DATA "/../examples");
    run_arrays(&r);
  }
  take_turns(&r, _i, DEVICES);
  run_transpositions(&r);
  tj_device_close(r.device);
  tj_context_destroy(r.context);
  ck_assert_msg(r.wrong == 0, "%s: %d of %d variants of %d kernels", r.device_name, r.wrong, r.variants, r.kernels);
  ck_assert_int_ge(r.kernels, more ? MORE_KERNELS : LEAST_KERNELS);
  ck_assert_int_ge(r.variants, more ? MORE_VARIANTS : LEAST_VARIANTS);
}
END_TEST

int main(void) {
  return run_suite(suite_of_cases("prices", prices_are_what_devices_count, DEVICES));
}

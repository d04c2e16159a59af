/* SPDX-License-Identifier: MIT */
/* Each allocation of the library fails in turn, while it does everything that it can do but what LLVM does inside:
 * calls say so by their status, nothing is kept, and the next call has not noticed. */
#include "tests/unit/support/failing_memory.h"
#include "tests/unit/support/folder_support.h"
#include "tests/unit/support/library_support.h"

#include <jansson.h>
#include <stdint.h>

enum { OUT_OF_MEMORY = 7001, OUT_OF_DEVICE_MEMORY = 6010, NOBODY_SAID_WHY = 9999, BLOCK = 64 };

/* --- the corpus --- */

static tj_status release(tj_context *context, tj_status status, tj_blob *blob) {
  if (status == TJ_OK)
    tj_blob_release(context, blob);
  return status;
}

static tj_status open_program(tj_context *context, const char *text, tj_program **program) {
  *program = NULL;
  return tj_program_create(context, "test", text, strlen(text), NULL, 0, program);
}

static tj_status evaluate(tj_context *context) {
  static const char *const texts[] = {
      "param M in 4..64 multiple 4; let A = (8,M):(M,1); coalesce(A o 4:2)",
      "Sw<2,0,2> o 0 o (4,4):(4,1)",
      "transform(packed((4,6)), [merge(4,6)], [[0,1]], [[0]])",
      "distribution(hs=[[2,2],[2,2]], ps_major=[[1],[2]], ps_minor=[[0],[0]], ys_major=[1,2], ys_minor=[1,1])",
      "layout(linear([1, 2, 5, 8]))",
      "move(packed((3, 4)), (0, 0), (0, 1), 5)",
  };
  tj_status status = TJ_OK;
  for (size_t i = 0; status == TJ_OK && i < sizeof texts / sizeof texts[0]; i++) {
    tj_program *program;
    tj_blob blob;
    status = open_program(context, texts[i], &program);
    if (status == TJ_OK)
      status = release(context, tj_program_value(program, &blob), &blob);
    tj_program_destroy(program);
  }
  return status;
}

/* Which is no failure of the call. */
static tj_status diagnose(tj_context *context) {
  tj_program *program;
  tj_status status = open_program(context, "let A = (4,5):(1,2);\nA o 7:3 + unknown", &program);
  tj_program_destroy(program);
  return status == TJ_ERROR_INPUT && tj_context_diagnostic(context)->code != OUT_OF_MEMORY ? TJ_OK : status;
}

static tj_status simplify(tj_context *context) {
  tj_program *program;
  tj_blob blob;
  int proved;
  tj_status status = open_program(context, "param i in 0..63, j in 0..23; (i*24+j)/24 + i%8", &program);
  for (int form = TJ_SIMPLIFY_TEXT; status == TJ_OK && form <= TJ_SIMPLIFY_JSON; form++)
    status = release(context, tj_program_simplify(program, (tj_simplify_form)form, &blob), &blob);
  for (int form = TJ_SIMPLIFY_TEXT; status == TJ_OK && form <= TJ_SIMPLIFY_JSON; form += 2)
    status = release(context, tj_program_simplify_proved(program, (tj_simplify_form)form, &proved, &blob), &blob);
  tj_program_destroy(program);
  return status;
}

static tj_status tabulate(tj_context *context) {
  tj_program *program;
  tj_blob blob;
  tj_status status = open_program(context, "transform(packed((3)), [pad(3,1,1)], [[0]], [[0]])", &program);
  for (int form = TJ_TABLE_VALUES; status == TJ_OK && form <= TJ_TABLE_OBJECT; form++)
    status = release(context, tj_program_table(program, (tj_table_form)form, &blob), &blob);
  tj_program_destroy(program);
  return status;
}

static tj_status prove(tj_context *context) {
  static const char *const pairs[][2] = {{"(4,4):(4,1)", "(4,4):(1,4)"},
                                         {"param M in 1..9; (M,2):(1,M)", "param M in 1..9; (M,2):(1,M*1)"},
                                         {"param i in 0..9; i*i", "param i in 0..9; i*(i+1)-i"}};
  tj_status status = TJ_OK;
  for (size_t i = 0; status == TJ_OK && i < sizeof pairs / sizeof pairs[0]; i++) {
    tj_blob blob;
    int equal;
    status = release(context, tj_prove(context, NULL, pairs[i][0], pairs[i][1], &equal, &blob), &blob);
  }
  return status;
}

static tj_status check(tj_context *context) {
  static const char *const texts[] = {"(4,2):(1,3)",
                                      "kernel k(s: f32 @ (8,8):(8,1), d: f32 @ (8,8):(1,8)) = copy(s, d)"};
  tj_status status = TJ_OK;
  for (size_t i = 0; status == TJ_OK && i < 4; i++) {
    tj_program *program;
    tj_blob blob;
    int holds;
    const tj_check_options options = {.target = "gfx942", .form = i % 2 == 0 ? TJ_CHECK_TEXT : TJ_CHECK_JSON};
    status = open_program(context, texts[i / 2], &program);
    if (status == TJ_OK)
      status = release(context, tj_program_check(program, &options, &holds, &blob), &blob);
    tj_program_destroy(program);
  }
  return status;
}

static tj_status show(tj_context *context) {
  static const char *const texts[] = {
      "((2,2),3):((1,2),4)",
      "transform(packed((3,2)), [pad(3,1,1), pass_through(2)], [[0],[1]], [[0],[1]])",
      "distribution(hs=[[2,2],[2,2]], ps_major=[[1],[2]], ps_minor=[[0],[0]], ys_major=[1,2], ys_minor=[1,1])",
      "Sw<1,0,1>",
  };
  tj_status status = TJ_OK;
  for (size_t i = 0; status == TJ_OK && i < sizeof texts / sizeof texts[0]; i++) {
    tj_program *program;
    status = open_program(context, texts[i], &program);
    for (int form = 0; status == TJ_OK && form < TJ_SHOW_FORM_COUNT; form++) {
      tj_blob blob;
      const tj_show_options options = {.form = (tj_show_form)form};
      status = release(context, tj_program_show(program, &options, &blob), &blob);
    }
    tj_program_destroy(program);
  }
  return status;
}

static const char transpose[] =
    "param M in 1..64, N in 1..64\nkernel k(s: f32 @ (M,N):(N,1), d: f32 @ (M,N):(1,M)) = "
    "copy(s, d)";

static tj_status emit(tj_context *context) {
  tj_program *program;
  const tj_compile_options options = {.target = "gfx942"};
  tj_status status = open_program(context, transpose, &program);
  for (int stage = 0; status == TJ_OK && stage < TJ_EMIT_COUNT; stage++) {
    tj_blob blob;
    status = tj_program_emit(program, &options, (tj_emit)stage, &blob);
    if (status == TJ_OK && stage == TJ_EMIT_HSACO) {
      for (int stats = 0; status == TJ_OK && stats < 2; stats++) {
        tj_blob text;
        status = release(context, tj_code_disassemble(context, blob.data, blob.size, stats, &text), &text);
      }
      tj_blob_release(context, &blob);
    } else {
      release(context, status, &blob);
    }
  }
  tj_program_destroy(program);
  return status;
}

static tj_status make_functions(tj_context *context) {
  tj_program *program;
  tj_status status = open_program(context, "Sw<3,0,3> o 0 o (8,8):(8,1)", &program);
  for (int form = 0; status == TJ_OK && form < TJ_FUNCTION_FORM_COUNT; form++) {
    tj_blob blob;
    const tj_function_options options = {"at", "gfx942"};
    status = release(context, tj_program_function(program, &options, (tj_function_form)form, &blob), &blob);
  }
  tj_program_destroy(program);
  return status;
}

static tj_status ask(tj_context *context) {
  tj_blob blob;
  tj_status status = release(context, tj_device_list(context, TJ_DEVICES_JSON, &blob), &blob);
  if (status == TJ_OK)
    status = release(context, tj_device_list(context, TJ_DEVICES_TEXT, &blob), &blob);
  if (status == TJ_OK)
    status = release(context, tj_version_text(context, &blob), &blob);
  if (status == TJ_OK)
    status = release(context, tj_language_function(context, "coalesce", TJ_LANGUAGE_JSON, &blob), &blob);
  if (status == TJ_OK)
    status = release(context, tj_language_dtypes(context, &blob), &blob);
  if (status == TJ_OK)
    status = release(context, tj_target_list(context, &blob), &blob);
  return status;
}

/* --- launches --- */

static tj_status run(tj_context *context, tj_device *device, tj_code *code) {
  float source[12], destination[12];
  for (int i = 0; i < 12; i++)
    source[i] = (float)i;
  tj_launch *launch = NULL;
  tj_status status = tj_launch_create(context, code, &launch);
  if (status == TJ_OK)
    status = tj_launch_set_shape(launch, "s", (const int64_t[]){3, 4}, 2);
  if (status == TJ_OK)
    status = tj_launch_bind(launch, "s", source, sizeof source);
  if (status == TJ_OK)
    status = tj_launch_bind(launch, "d", destination, sizeof destination);
  if (status == TJ_OK)
    status = tj_launch_run(launch, device);
  for (int i = 0; status == TJ_OK && i < 12; i++)
    status = destination[i % 4 * 3 + i / 4] == source[i] ? TJ_OK : TJ_ERROR_USAGE;
  tj_launch_destroy(launch);
  return status;
}

static tj_status submit(tj_context *context, tj_device *device, tj_code *code) {
  tj_launch *launch = NULL;
  tj_fence *fence = NULL;
  tj_buffer *buffer[2] = {NULL};
  tj_status status = tj_launch_create(context, code, &launch);
  if (status == TJ_OK)
    status = tj_launch_set_parameter(launch, "M", 4);
  if (status == TJ_OK)
    status = tj_launch_set_parameter(launch, "N", 4);
  for (int i = 0; status == TJ_OK && i < 2; i++) {
    status = tj_buffer_create(context, device, BLOCK, &buffer[i]);
    if (status == TJ_OK)
      status = tj_launch_bind_buffer(launch, i == 0 ? "s" : "d", buffer[i]);
  }
  if (status == TJ_OK)
    status = tj_launch_submit(launch, device, &fence);
  if (status == TJ_OK)
    status = tj_fence_wait(fence, NULL);
  tj_fence_destroy(fence);
  tj_launch_destroy(launch);
  tj_buffer_destroy(buffer[0]);
  tj_buffer_destroy(buffer[1]);
  return status;
}

static tj_status launch_on(tj_context *context, const char *name) {
  tj_device *device = NULL;
  tj_code *code = NULL;
  tj_status status = tj_device_open(context, name, &device);
  if (status == TJ_OK) {
    const tj_compile_options options = {.target = tj_device_target(device)};
    status = tj_code_compile_text(context, "test", transpose, strlen(transpose), NULL, 0, &options, &code);
  }
  if (status == TJ_OK)
    status = run(context, device, code);
  if (status == TJ_OK)
    status = submit(context, device, code);
  tj_code_destroy(code);
  tj_device_close(device);
  return status;
}

/* The first compiles, unless there was one before; others find it in memory, or on disk. It goes without a cache,
 * too.
 */
static tj_status launch_cached(tj_context *context, const char *name, bool is_cold) {
  const tj_cache_options options = {.directory = folder};
  tj_cache *cache = NULL;
  if (tj_cache_create(NULL, &options, &cache) != TJ_OK)
    cache = NULL;
  tj_context_set_cache(context, cache);
  tj_status status = TJ_OK;
  for (int i = 0; status == TJ_OK && i < (is_cold ? 1 : 2); i++)
    status = launch_on(context, name);
  if (is_cold && cache != NULL)
    (void)tj_cache_clear(cache);
  if (cache != NULL)
    (void)tj_cache_stats_of(cache);
  tj_context_set_cache(context, NULL);
  tj_cache_destroy(cache);
  return status;
}

static tj_status launch_cold_on_host(tj_context *context) {
  return launch_cached(context, "host", true);
}

static tj_status launch_known_on_host(tj_context *context) {
  return launch_cached(context, "host", false);
}

static tj_status launch_known_on_simulator(tj_context *context) {
  return launch_cached(context, "sim:gfx942", false);
}

/* --- the sweep --- */

/* `stride`: how many allocations lie between those that fail, where all of them would take long. */
static const struct {
  const char *name;
  tj_status (*use)(tj_context *context);
  long stride;
} rows[] = {
    {"values", evaluate, 1},
    {"diagnostics", diagnose, 1},
    {"simplified expressions", simplify, 1},
    {"tables", tabulate, 1},
    {"proofs", prove, 1},
    {"checks", check, 1},
    {"pictures", show, 7},
    {"stages and listings", emit, 5},
    {"functions", make_functions, 3},
    {"devices and the language", ask, 1},
    {"launches on the host, compiled", launch_cold_on_host, 1},
    {"launches on the host, from the cache", launch_known_on_host, 1},
    {"launches on a simulated GPU, from the cache", launch_known_on_simulator, 1},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* How a call ended, and whether its end is one that exhausted memory can have. */
typedef struct {
  tj_status status;
  unsigned code;
  long held, count; /* of blocks; of allocations */
} ending;

static ending use_once(int row, long failing) {
  ending e = {.status = TJ_ERROR_MEMORY, .code = OUT_OF_MEMORY};
  tj_context *context;
  fail_allocation(failing);
  if (tj_context_create(NULL, &context) == TJ_OK) {
    e.status = rows[row].use(context);
    const tj_diagnostic *d = tj_context_diagnostic(context);
    e.code = e.status == TJ_OK ? 0 : d != NULL ? d->code : NOBODY_SAID_WHY;
    tj_context_destroy(context);
  }
  e.count = stop_failing(&e.held);
  return e;
}

START_TEST(each_allocation_fails_in_turn) {
  if (folder[0] == '\0')
    make_folder();
  ending first = use_once(_i, -1);
  first = use_once(_i, -1); /* what the process keeps has been made */
  ck_assert_msg(first.status == TJ_OK, "%s: TJ%04u", rows[_i].name, first.code);
  ck_assert_msg(first.held == 0, "%s keeps %ld blocks", rows[_i].name, first.held);
  long count = first.count, refused = 0;
  ck_assert_int_gt(count, 3);
  for (long failing = 0; failing < count; failing += rows[_i].stride) {
    ending e = use_once(_i, failing);
    ck_assert_msg(e.code == 0 || e.code == OUT_OF_MEMORY || e.code == OUT_OF_DEVICE_MEMORY,
                  "%s: TJ%04u where allocation %ld of %ld fails", rows[_i].name, e.code, failing, count);
    ck_assert_msg(e.held == 0, "%s keeps %ld blocks where allocation %ld of %ld fails", rows[_i].name, e.held,
                  failing, count);
    refused += e.code != 0;
  }
  ck_assert_msg(refused > 0, "%s: no failure was told", rows[_i].name);
  ending last = use_once(_i, -1);
  ck_assert_msg(last.status == TJ_OK && last.held == 0, "%s: TJ%04u after the failures", rows[_i].name, last.code);
}
END_TEST

int main(void) {
  void *(*allocate)(size_t) = malloc;
  void (*give_back)(void *) = free;
  json_set_alloc_funcs(allocate, give_back);
  unsetenv("TILEJIT_CACHE");
  int result = run_suite(suite_of_cases("allocations", each_allocation_fails_in_turn, ROWS));
  if (folder[0] != '\0')
    remove_folder();
  return result;
}

/* SPDX-License-Identifier: MIT */
/* Each allocation of the library and of simulated GPUs fails in turn, while they do everything that they can do but
 * what LLVM does inside: calls say so by their status, or give what they always give. */
#include "tests/unit/support/allocation_sweep.h"
#include "tests/unit/support/folder_support.h"
#include "tests/unit/support/library_support.h"

enum { OUT_OF_MEMORY = 7001, OUT_OF_DEVICE_MEMORY = 6010, BLOCK = 64 };

/* --- the corpus --- */

static uint64_t made; /* the digest of everything that was made since use_work began */

/* Takes note of what was made, and releases it. */
static tj_status release(tj_context *context, tj_status status, tj_blob *blob) {
  if (status == TJ_OK) {
    made = digest_of(made, blob->data, blob->size);
    tj_blob_release(context, blob);
  }
  return status;
}

static tj_status open_program(tj_context *context, const char *text, tj_program **program) {
  *program = NULL;
  return tj_program_create(context, "test", text, strlen(text), NULL, 0, program);
}

static tj_status evaluate(tj_context *context) {
  static const char *const texts[] = {
      "param M in 4..64 multiple 4; let A = (8,M):(M,1); coalesce(A o 4:2)",
      "param K in 1..9, N in 1..99 multiple K; coalesce((K,N/K):(1,K))",
      "Sw<2,0,2> o 0 o (4,4):(4,1)",
      "transform(packed((4,6)), [merge(4,6)], [[0,1]], [[0]])",
      "distribution(hs=[[2,2],[2,2]], ps_major=[[1],[2]], ps_minor=[[0],[0]], ys_major=[1,2], ys_minor=[1,1])",
      "tv_layout(distribution(hs=[[2,2],[2,2]], ps_major=[[1],[2]], ps_minor=[[0],[0]], ys_major=[1,2], "
      "ys_minor=[1,1]))",
      "let row(n) = (n, 8):(8, 1); let f(x) = size(row(x)) + x; f(3)",
      "mapping(load=((8,32),4):((4@1,1@0),1@1), lds=(32,16):(17,1), passes=2)",
      "zipped_divide((8,8):(8,1), <2:1, 4:2>)",
      "complement((2,2):(1,8), 64)",
      "right_inverse((4,8):(8,1))",
      "(make_identity_layout((4,8)))(_,2)",
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

static tj_status read_import(void *user, const char *importer, const char *path, tj_import *import) {
  static const char text[] = "let f(x, y=2) = x * y";
  (void)user;
  (void)importer;
  return strcmp(path, "f") == 0 ? tj_import_give(import, path, text, sizeof text - 1)
                                : tj_import_refuse(import, path);
}

/* In a program, and in one after another. */
static tj_status import(tj_context *context) {
  tj_program *program = NULL;
  tj_prelude *prelude = NULL;
  tj_blob blob;
  tj_context_set_reader(context, read_import, NULL);
  tj_status status = open_program(context, "import \"f\"; f(3) + f(2, y=1)", &program);
  if (status == TJ_OK)
    status = release(context, tj_program_value(program, &blob), &blob);
  tj_program_destroy(program);
  program = NULL;
  if (status == TJ_OK)
    status = tj_prelude_create(context, &prelude);
  if (status == TJ_OK)
    status = tj_program_create_after(prelude, "line", "import \"f\"; f(3)", 16, NULL, 0, &program);
  if (status == TJ_OK)
    status = release(context, tj_program_value(program, &blob), &blob);
  tj_program_destroy(program);
  tj_prelude_destroy(prelude);
  return status;
}

/* Which is no failure of the call. */
static tj_status diagnose(tj_context *context) {
  static const char *const texts[] = {
      "let A = (4,5):(1,2);\nA o 7:3 + unknown",
      "(5,3):(7,1) o 7:1",
      "param M in 1..8; packed((M)) + make_merge_transform",
      "transform(packed((8)), [unmerge(3,3)], [[0]], [[0,1]])",
      "kernel k(s: f32 @ (4,8):(8,1), d: f32 @ (4,8):(2,1)) = copy(s, d)",
      "((((",
      "let f(n) = (n, 8):(8, 1) o 3:7; f(4)",
  };
  tj_status status = TJ_ERROR_INPUT;
  for (size_t i = 0; status == TJ_ERROR_INPUT && i < sizeof texts / sizeof texts[0]; i++) {
    tj_program *program;
    status = open_program(context, texts[i], &program);
    tj_program_destroy(program);
    const tj_diagnostic *d = status == TJ_ERROR_INPUT ? tj_context_diagnostic(context) : NULL;
    if (d != NULL)
      made = digest_of(made, &d->code, sizeof d->code);
  }
  return status == TJ_ERROR_INPUT ? TJ_OK : status;
}

static tj_status create_of_pieces(tj_context *context) {
  static const tj_program_piece pieces[] = {{"one", "param M in 1..8; let A = (M,2):(2,1)", 36},
                                            {"two", "A(_,1)", 6}};
  tj_program *program = NULL;
  tj_blob blob;
  tj_status status = tj_program_create_of(context, pieces, 2, (const tj_parameter_value[]){{"M", 3}}, 1, &program);
  if (status == TJ_OK)
    status = release(context, tj_program_value(program, &blob), &blob);
  tj_program_destroy(program);
  return status;
}

static tj_status join_texts(tj_context *context) {
  static const char *const lines[] = {"param M in 1..8", "let A = (M,2):(2,1)", "let M = 3; A(_,1)", "size(A)"};
  tj_prelude *prelude = NULL;
  tj_status status = create_of_pieces(context);
  if (status == TJ_OK)
    status = tj_prelude_create(context, &prelude);
  for (size_t i = 0; status == TJ_OK && i < sizeof lines / sizeof lines[0]; i++) {
    tj_program *program = NULL;
    tj_blob blob;
    status = tj_program_create_after(prelude, "line", lines[i], strlen(lines[i]), NULL, 0, &program);
    if (status == TJ_OK && tj_program_has_value(program))
      status = release(context, tj_program_value(program, &blob), &blob);
    tj_program_destroy(program);
  }
  tj_prelude_destroy(prelude);
  return status;
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

static tj_status translate(tj_context *context) {
  static const struct {
    const char *text;
    tj_text_form form;
  } all[] = {{"param M in 1..9; Sw<1,0,1> o 0 o (M,2):(2,1)", TJ_TEXT_CUTE},
             {"<4:1, 2:1>", TJ_TEXT_CUTE_DSL},
             {"transform(packed((2,3)), [merge(2,3)], [[0,1]], [[0]])", TJ_TEXT_CK},
             {"Sw<1,0,1>", TJ_TEXT_CK}};
  tj_status status = TJ_OK;
  for (size_t i = 0; (status == TJ_OK || status == TJ_ERROR_INPUT) && i < sizeof all / sizeof all[0]; i++) {
    tj_program *program;
    tj_blob blob;
    status = open_program(context, all[i].text, &program);
    if (status == TJ_OK)
      status = release(context, tj_program_foreign_text(program, all[i].form, &blob), &blob);
    tj_program_destroy(program);
  }
  return status == TJ_ERROR_INPUT ? TJ_OK : status;
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
  static const char *const pairs[][2] = {
      {"(4,4):(4,1)", "(4,4):(1,4)"},
      {"param M in 1..9; (M,2):(1,M)", "param M in 1..9; (M,2):(1,M*1)"},
      {"param i in 0..9; i*i", "param i in 0..9; i*(i+1)-i"},
      {"param N in 2..9, i in 0..N-1; (i*i)%N", "param N in 2..9, i in 0..N-1; i"}};
  tj_status status = TJ_OK;
  for (size_t i = 0; status == TJ_OK && i < sizeof pairs / sizeof pairs[0]; i++) {
    tj_blob blob;
    int equal;
    status = release(context,
                     tj_prove(context, NULL, pairs[i][0], pairs[i][1], NULL, 0, TJ_PROOF_TEXT, &equal, &blob), &blob);
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
    if (status == TJ_OK && i < 2)
      status = release(context, tj_program_suggest(program, "f16", options.form, &blob), &blob);
    tj_program_destroy(program);
  }
  return status;
}

static tj_status check_lds(tj_context *context) {
  static const char *const targets[] = {"gfx942", "sm_90"};
  tj_status status = TJ_OK;
  for (size_t i = 0; status == TJ_OK && i < 4; i++) {
    tj_blob blob;
    int holds;
    const tj_lds_question question = {.declarations = "let tile = (16,16):(16,1)",
                                      .lds = "Sw<1,3,3> o 0 o tile",
                                      .store = "((4,8),(2,2,2)):((32,1),(16,8,128))",
                                      .load = "distribution(hs=[[16],[2,8]], ps_major=[[1,2]], ps_minor=[[0,0]], "
                                              "ys_major=[2], ys_minor=[1])",
                                      .target = targets[i / 2],
                                      .dtype = "f16",
                                      .form = i % 2 == 0 ? TJ_CHECK_TEXT : TJ_CHECK_JSON};
    status = release(context, tj_check_lds(context, &question, &holds, &blob), &blob);
    tj_lds_question suggested = question;
    suggested.lds = NULL;
    if (status == TJ_OK)
      status = release(context, tj_suggest_lds_layouts(context, &suggested, &blob), &blob);
    const tj_show_options drawn = {.form = i % 2 == 0 ? TJ_SHOW_SVG : TJ_SHOW_LATEX};
    if (status == TJ_OK)
      status = release(context, tj_show_lds(context, &question, &drawn, &blob), &blob);
  }
  return status;
}

static tj_status check_dma(tj_context *context) {
  static const char *const targets[] = {"gfx1250", "sm_90"};
  tj_status status = TJ_OK;
  for (size_t i = 0; status == TJ_OK && i < 6; i++) {
    tj_blob blob;
    int holds;
    const tj_dma_question question = {.declarations = "let pad = pad(14,1,1)",
                                      .tensor = "transform(strided((14,64),(64,1)), [pad, pass_through(64)], "
                                                "[[0],[1]], [[0],[1]])",
                                      .tile = "(1,64)",
                                      .lds = i % 2 == 0 ? NULL : "(1,64):(0,1)",
                                      .at = "(15,0)",
                                      .target = targets[i < 4 ? i / 2 : i - 4],
                                      .dtype = "f16",
                                      .form = i % 2 == 0 ? TJ_CHECK_TEXT : TJ_CHECK_JSON,
                                      .function = i < 4 ? NULL : "load"};
    status = release(context, tj_check_dma(context, &question, &holds, &blob), &blob);
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

/* A target that has the stage; NULL for cubins, which are made by a program of another's in a process each. */
static const char *target_of(tj_emit stage) {
  return stage == TJ_EMIT_CUBIN ? NULL : stage == TJ_EMIT_PTX ? "sm_90" : "gfx942";
}

static tj_status emit(tj_context *context) {
  tj_program *program;
  tj_status status = open_program(context, transpose, &program);
  for (int stage = 0; status == TJ_OK && stage < TJ_EMIT_COUNT; stage++) {
    const tj_compile_options options = {.target = target_of((tj_emit)stage)};
    tj_blob blob;
    if (!options.target)
      continue;
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

/* Kernels that take every way from values to steps, on each kind of target. */
static const char *const kernels[] = {
    "let L = ((8,32),4):((4@1,1@0),1@1); let S = ((8,32),4):((4@0,1@1),1@0)\n"
    "kernel k(s: f32 @ (64,64):(64,1), d: f32 @ (64,64):(1,64)) = "
    "copy(s, d, mapping=mapping(load=L, store=S, lds=(32,32):(33,1), order=(2,2):(1@1,1@0)))",
    "let D = distribution(hs=[[4,2],[8,8]], ps_major=[[1,2]], ps_minor=[[0,0]], ys_major=[1,2], ys_minor=[1,1])\n"
    "kernel k(s: f16 @ packed((32,64)), d: f32 @ packed((32,64))) = copy(s, d, through=D)",
    "param P in 1..65536, Q in 1..65536, R in 1..65536\n"
    "kernel k(s: f32 @ (P,Q,R):(1,P,P*Q), d: f32 @ (P,Q,R):(1,P*R,P)) = copy(s, d)",
    "param M in 1..64, N in 1..64, ld in 0..64\n"
    "kernel k(s: i32 @ (M,N):(N,1), d: i32 @ (M,N):(ld,1)) = copy(s, d)",
    "param M in 1..4096\n"
    "kernel k(d: i32 @ packed((M,8,4))) = offsets(d, packed((M,32)), step=(0,8), count=4, starts=(M,8))",
    "kernel k(s: f32 @ transform(packed((24,6)), [pad(24,1,1), pass_through(6)], [[0],[1]], [[0],[1]]), "
    "d: bf16 @ (26,6):(6,1)) = copy(s, d, fill=1)",
    "param M in 1..64, N in 1..4096\n"
    "kernel k(s: f32 @ (M,N):(N,1), a: f32, d: f16 @ (M,N):(N,1)) = "
    "{ let e = exp(s * a - max(s * a, 1)); d = e / sum(e, 1) }",
    "kernel k(s: f16 @ (8,64):(64,1), w: f32 @ (1,64):(0,1), d: f16 @ (8,64):(64,1), m: f32 @ (8,1):(1,1)) = "
    "{ m = mean(s, 1); d = (s - mean(s, 1)) * w + index(1) }",
};

static tj_status emit_kernels(tj_context *context, tj_emit stage) {
  static const char *const targets[] = {"gfx942", "host", "gfx1100"};
  tj_status status = TJ_OK;
  for (size_t i = 0; status == TJ_OK && i < sizeof kernels / sizeof kernels[0]; i++) {
    tj_program *program;
    tj_blob blob;
    const tj_compile_options options = {.target = targets[i % 3]};
    status = open_program(context, kernels[i], &program);
    if (status == TJ_OK)
      status = release(context, tj_program_emit(program, &options, stage, &blob), &blob);
    tj_program_destroy(program);
  }
  return status;
}

static tj_status tile(tj_context *context) {
  return emit_kernels(context, TJ_EMIT_SIMPLIFIED);
}

static tj_status lower(tj_context *context) {
  return emit_kernels(context, TJ_EMIT_LLVM);
}

static tj_status make_functions_of_statements(tj_context *context) {
  tj_program *program;
  tj_blob blob;
  tj_status status = open_program(context,
                                  "param M in 1..99; kernel k(x: f16 @ (M,8):(8,1), y: f8e4m3fn @ (M,8):(8,1)) = { "
                                  "let e = exp(x - max(x, 1)); y = e / sum(e, 1) + M * 2 }",
                                  &program);
  const tj_function_options options = {.name = "at", .kernel = "k"};
  if (status == TJ_OK)
    status = release(context, tj_program_function(program, &options, TJ_FUNCTION_C, &blob), &blob);
  tj_program_destroy(program);
  return status;
}

static tj_status make_functions(tj_context *context) {
  tj_program *program;
  tj_status status = open_program(context, "Sw<3,0,3> o 0 o (8,8):(8,1)", &program);
  for (int form = 0; status == TJ_OK && form < TJ_FUNCTION_FORM_COUNT; form++) {
    tj_blob blob;
    const tj_function_options options = {.name = "at", .target = "gfx942"};
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
    status = release(context, tj_language_words(context, &blob), &blob);
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

static tj_status run_from_bundle(tj_context *context, const tj_blob *bytes, const char *name) {
  tj_bundle *bundle = NULL;
  tj_device *device = NULL;
  tj_code *code = NULL;
  tj_status status = tj_bundle_open(context, bytes->data, bytes->size, &bundle);
  if (status == TJ_OK)
    status = tj_device_open(context, name, &device);
  if (status == TJ_OK)
    status = tj_bundle_code(bundle, NULL, tj_device_target(device), &code);
  if (status == TJ_OK)
    status = run(context, device, code);
  tj_code_destroy(code);
  tj_device_close(device);
  tj_bundle_destroy(bundle);
  return status;
}

/* Of code for both kinds of devices. */
static tj_status bundle_for(tj_context *context, const char *name) {
  static const char *const targets[] = {"x86-64-v3", "gfx942"};
  tj_code *code[2] = {NULL};
  tj_blob bytes = {NULL, 0};
  tj_status status = TJ_OK;
  for (int i = 0; status == TJ_OK && i < 2; i++) {
    const tj_compile_options options = {.target = targets[i]};
    status = tj_code_compile_text(context, "test", transpose, strlen(transpose), NULL, 0, &options, &code[i]);
  }
  if (status == TJ_OK)
    status = tj_bundle_write(context, (const tj_code *const *)code, 2, &bytes);
  if (status == TJ_OK)
    status = run_from_bundle(context, &bytes, name);
  tj_blob_release(context, &bytes);
  tj_code_destroy(code[0]);
  tj_code_destroy(code[1]);
  return status;
}

typedef tj_status (*work_on_device)(tj_context *context, const char *name);

/* The first compiles, unless there was one before; others find it in memory, or on disk. It goes without a cache,
 * too.
 */
static tj_status do_cached(tj_context *context, work_on_device work, const char *name, bool is_cold) {
  const tj_cache_options options = {.directory = folder};
  tj_cache *cache = NULL;
  if (tj_cache_create(NULL, &options, &cache) != TJ_OK)
    cache = NULL;
  tj_context_set_cache(context, cache);
  tj_status status = TJ_OK;
  for (int i = 0; status == TJ_OK && i < (is_cold ? 1 : 2); i++)
    status = work(context, name);
  if (is_cold && cache != NULL)
    (void)tj_cache_clear(cache);
  if (cache != NULL)
    (void)tj_cache_stats_of(cache);
  tj_context_set_cache(context, NULL);
  tj_cache_destroy(cache);
  return status;
}

static tj_status launch_cold_on_host(tj_context *context) {
  return do_cached(context, launch_on, "host", true);
}

static tj_status launch_known_on_host(tj_context *context) {
  return do_cached(context, launch_on, "host", false);
}

static tj_status launch_known_on_simulator(tj_context *context) {
  return do_cached(context, launch_on, "sim:gfx942", false);
}

static tj_status bundle_on_host(tj_context *context) {
  return do_cached(context, bundle_for, "host", false);
}

static tj_status bundle_on_simulator(tj_context *context) {
  return do_cached(context, bundle_for, "sim:gfx942", false);
}

/* --- the sweep --- */

typedef tj_status (*use_of_library)(tj_context *context);

/* `most_failures`: fewer where each takes LLVM's time. */
static const struct {
  const char *name;
  use_of_library use;
  size_t most_failures;
} rows[] = {
    {"values", evaluate, 1000},
    {"imports", import, 1000},
    {"diagnostics", diagnose, 1000},
    {"pieces and preludes", join_texts, 1000},
    {"simplified expressions", simplify, 1000},
    {"tables", tabulate, 1000},
    {"text of other languages", translate, 1000},
    {"proofs", prove, 1000},
    {"checks", check, 1000},
    {"checks of LDS", check_lds, 200},
    {"checks of tensor DMA", check_dma, 200},
    {"pictures", show, 1000},
    {"stages and listings", emit, 100},
    {"mappings, races and walks", tile, 1000},
    {"the same as LLVM IR", lower, 100},
    {"functions", make_functions, 1000},
    {"functions of statements", make_functions_of_statements, 200},
    {"devices and the language", ask, 1000},
    {"launches on the host, compiled", launch_cold_on_host, 1000},
    {"launches on the host, from the cache", launch_known_on_host, 1000},
    {"launches on a simulated GPU, from the cache", launch_known_on_simulator, 1000},
    {"launches on the host, from a bundle", bundle_on_host, 1000},
    {"launches on a simulated GPU, from a bundle", bundle_on_simulator, 1000},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* What went wrong is neither memory of the process nor of a device. */
static bool is_memory(unsigned code) {
  return code == OUT_OF_MEMORY || code == OUT_OF_DEVICE_MEMORY;
}

static outcome use_library(const void *use) {
  outcome e = {.is_done = false};
  tj_context *context;
  made = 0;
  if (tj_context_create(NULL, &context) != TJ_OK)
    return e;
  e.is_done = (*(const use_of_library *)use)(context) == TJ_OK;
  const tj_diagnostic *d = e.is_done ? NULL : tj_context_diagnostic(context);
  if (!e.is_done && (d == NULL || !is_memory(d->code)))
    snprintf(e.wrong, sizeof e.wrong, "TJ%04u: %s", d != NULL ? d->code : 0,
             d != NULL ? d->message : "nobody said why");
  e.digest = made;
  tj_context_destroy(context);
  return e;
}

START_TEST(each_allocation_fails_in_turn) {
  if (folder[0] == '\0')
    make_folder();
  sweep(&(swept_work){rows[_i].name, use_library, &rows[_i].use, rows[_i].most_failures});
}
END_TEST

int main(void) {
  unsetenv("TILEJIT_CACHE");
  int result = run_suite(suite_of_cases("allocations", each_allocation_fails_in_turn, ROWS));
  if (folder[0] != '\0')
    remove_folder();
  return result;
}

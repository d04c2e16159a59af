/* SPDX-License-Identifier: MIT */
/* What LLVM emits for the kernels of the examples and of the golden tests, on every processor that is simulated: the
 * simulator must know each instruction, whether or not a run would reach it. */
#include "tests/unit/support/harness.h"
#include "tests/unit/support/processors.h"

#include "rt/sim/isa/decode.h"
#include "rt/sim/load/image.h"
#include "tilejit/tilejit.h"

#include <stdio.h>

enum { TEXT = 1 << 16, PATH = 1024 };

static const char *const files[] = {"../examples/transpose.tile", "../examples/im2col.tile",
                                    "../examples/swizzle.tile",   "../examples/conv_walk.tile",
                                    "golden/kernels.tile",        "golden/check.tile"};

/* Beside them, what they have not: small elements, gathers through transforms, conversions, fills. */
static const char more[] =
    "param M in 1..4096, N in 1..4096\n"
    "let bytes = transform(packed((64,48)), [pad(64,3,5), pass_through(48)], [[0],[1]], [[0],[1]])\n"
    "kernel padded_bytes(src: u8 @ bytes, dst: u8 @ packed((72,48))) = copy(src, dst, fill=7)\n"
    "kernel widened(src: i8 @ (M,N):(N,1), dst: f64 @ (M,N):(1,M)) = copy(src, dst)\n"
    "kernel narrowed(src: f64 @ (M,N):(N,1), dst: u8 @ (M,N):(1,M)) = copy(src, dst)\n"
    "kernel halves(src: f32 @ (128,64):(64,1), dst: f16 @ (128,64):(64,1)) = copy(src, dst)\n"
    "kernel brains(src: f32 @ (128,64):(64,1), dst: bf16 @ (128,64):(1,128)) = copy(src, dst)\n"
    "kernel quantized(src: f64 @ (128,64):(64,1), dst: f8e4m3fn @ (128,64):(1,128)) = copy(src, dst, scale=1/3)\n"
    "kernel requantized(src: f8e5m2fnuz @ (96,64):(64,1), dst: f8e4m3fnuz @ (96,64):(64,1)) = copy(src, dst)\n"
    "kernel scales(src: e8m0 @ (33,M):(M,1), dst: f8e5m2 @ (33,M):(1,33)) = copy(src, dst)\n"
    "kernel quads(src: b128 @ (64,64):(64,1), dst: b128 @ (64,64):(1,64)) = copy(src, dst)\n"
    "kernel shorts(src: b16 @ (64,64):(64,1), dst: b16 @ Sw<3,3,3> o 0 o (64,64):(64,1)) = copy(src, dst)\n"
    "kernel odd(src: u16 @ (33,M):(M,1), dst: u16 @ (33,M):(1,33)) = copy(src, dst)\n"
    "kernel far(dst: i64 @ (M*N):(1)) = offsets(dst, (M,N):(N+1,1))\n";

typedef struct {
  tj_context *context;
  unsigned kernels, instructions;
} session;

/* --- texts --- */

static bool starts_item(const char *line) {
  return strncmp(line, "param ", 6) == 0 || strncmp(line, "let ", 4) == 0 || strncmp(line, "kernel ", 7) == 0;
}

/* The items of a file, without the expressions and commands that stand between them in golden tests, and without
 * those that must fail. An item goes on in lines that are indented. */
static void keep_items(char *text) {
  char *to = text;
  bool is_item = false;
  for (char *line = text, *next; *line != '\0'; line = next) {
    next = line + strcspn(line, "\n");
    next += *next == '\n' ? 1 : 0;
    is_item = starts_item(line) || (is_item && *line == ' ');
    size_t length = (size_t)(next - line);
    bool fails = memmem(line, length, "#?", 2) != NULL;
    if (!is_item || fails)
      continue;
    memmove(to, line, length);
    to += length;
  }
  *to = '\0';
}

static void read_items(const char *name, char text[TEXT]) {
  char path[PATH];
  snprintf(path, sizeof path, "%s/%s", TILEJIT_TEST_DATA, name);
  FILE *file = fopen(path, "r");
  ck_assert_msg(file != NULL, "%s", path);
  text[fread(text, 1, TEXT - 1, file)] = '\0';
  fclose(file);
  keep_items(text);
}

/* --- code --- */

typedef struct {
  tj_bytes bytes;
  tj_sim_image *image;
} loading;

static void decode(tj_job *job, void *data) {
  loading *l = data;
  l->image = tj_sim_image_read(job, l->bytes);
  tj_sim_image_load(l->image, TJ_NEW_ARRAY(job, unsigned char, l->image->size + 1));
  for (uint32_t lanes = 32; lanes <= 64; lanes += 32) {
    void *disassembler = tj_sim_disassembler_open(l->image->object->processor, lanes);
    tj_sim_image_decode(job, l->image, disassembler, lanes);
    tj_sim_disassembler_close(disassembler);
  }
}

static void check_program(session *s, const loading *l, const char *kernel, const tj_sim_program *program) {
  for (uint32_t i = 0; i < program->count; i++)
    ck_assert_msg(program->instruction[i].operation != NULL, "%s, %s: %s: %s", l->image->object->processor->name,
                  kernel, program->instruction[i].text, program->instruction[i].problem);
  s->instructions += program->count;
  s->kernels++;
}

/* A kernel, and the faster ones that the launch may take in its place. */
static void check_code(session *s, const char *kernel, const tj_code *code) {
  tj_job job;
  tj_job_init(&job, NULL);
  loading l = {.image = NULL};
  l.bytes.data = tj_code_bytes(code, &l.bytes.size);
  expect_success(&job, decode, &l);
  ck_assert_uint_ge(l.image->object->kernel_count, 1);
  for (uint32_t k = 0; k < l.image->object->kernel_count; k++)
    check_program(s, &l, kernel, l.image->kernel[k].program);
  tj_job_destroy(&job);
}

static void check_kernel(session *s, tj_program *program, const char *kernel) {
  for (size_t i = 0; i < SIMULATED_COUNT; i++) {
    tj_code *code = NULL;
    tj_compile_options options = {.kernel = kernel, .target = simulated[i]};
    if (tj_code_compile(program, &options, &code) != TJ_OK)
      ck_abort_msg("%s: %s", kernel, tj_context_diagnostic(s->context)->message);
    check_code(s, kernel, code);
    tj_code_destroy(code);
  }
}

static void check_text(session *s, const char *name, const char *text) {
  tj_program *program = NULL;
  if (tj_program_create(s->context, name, text, strlen(text), NULL, 0, &program) != TJ_OK)
    ck_abort_msg("%s: %s\n%s", name, tj_context_diagnostic(s->context)->message, text);
  ck_assert_uint_gt(tj_program_kernel_count(program), 0);
  for (size_t i = 0; i < tj_program_kernel_count(program); i++)
    check_kernel(s, program, tj_program_kernel_name(program, i));
  tj_program_destroy(program);
}

START_TEST(every_instruction_is_known) {
  static char text[TEXT];
  session s = {.context = NULL};
  ck_assert_int_eq(tj_context_create(NULL, &s.context), TJ_OK);
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    read_items(files[i], text);
    check_text(&s, files[i], text);
  }
  check_text(&s, "more", more);
  tj_context_destroy(s.context);
  ck_assert_uint_ge(s.kernels, 15 * SIMULATED_COUNT);
  ck_assert_uint_gt(s.instructions, 10 * s.kernels);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {every_instruction_is_known};
  return run_suite(suite_of("sim_coverage", tests, sizeof tests / sizeof tests[0]));
}

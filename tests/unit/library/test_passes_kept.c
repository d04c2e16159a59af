/* SPDX-License-Identifier: MIT */
/* A context keeps LLVM's passes from one compilation to the next: what they make of a kernel is the same whatever
 * they have run on before, in whichever form. Those that a function says find nothing in it do not run on it. */
#include "tests/unit/support/library_support.h"

/* Constants, LDS, masks, loops, arithmetic of floats: what passes and printers may remember. */
static const char *const texts[] = {
    "kernel k(src: f32 @ (64,96):(96,1), dst: f32 @ (64,96):(1,64)) = copy(src, dst)",
    "kernel k(dst: i32 @ packed((256,))) = offsets(dst, packed((256,)))",
    "param M in 1..32768, N in 1..32768;"
    "kernel k(src: f16 @ (M,N):(N,1), dst: f16 @ (M,N):(1,M)) = copy(src, dst)",
    "param M in 1..4096, N in 1..4096;"
    "kernel k(x: f32 @ (M,N):(N,1), y: f32 @ (M,N):(N,1)) = { let e = exp(x - max(x, 1));"
    " y = e / sum(e, 1) }",
};

enum { TEXTS = sizeof texts / sizeof texts[0] };

static const struct {
  const char *target;
  tj_emit form[2];
} rows[] = {
    {"gfx942", {TJ_EMIT_OBJECT, TJ_EMIT_ASM}},
    {"gfx1100", {TJ_EMIT_HSACO, TJ_EMIT_OBJECT}},
    {"sm_90", {TJ_EMIT_PTX, TJ_EMIT_PTX}},
    {"x86-64-v3", {TJ_EMIT_OBJECT, TJ_EMIT_ASM}},
};

static tj_blob emit(tj_context *context, size_t text, const char *target, tj_emit form) {
  tj_blob made;
  tj_program *program = new_program(context, texts[text], NULL, 0);
  tj_status status = tj_program_emit(program, &(tj_compile_options){.target = target}, form, &made);
  expect_ok(context, status, texts[text]);
  tj_program_destroy(program);
  return made;
}

static void expect_as_first(tj_context *context, size_t text, const char *target, tj_emit form) {
  tj_context *fresh = new_context(NULL);
  tj_blob made = emit(context, text, target, form), first = emit(fresh, text, target, form);
  ck_assert_msg(made.size == first.size && memcmp(made.data, first.data, made.size) == 0, "%s: %s", target,
                texts[text]);
  tj_blob_release(context, &made);
  tj_blob_release(fresh, &first);
  tj_context_destroy(fresh);
}

START_TEST(code_does_not_depend_on_what_was_compiled_before) {
  tj_context *context = new_context(NULL);
  for (size_t i = 0; i < TEXTS + 1; i++)
    expect_as_first(context, i % TEXTS, rows[_i].target, rows[_i].form[i / 2 % 2]);
  tj_context_destroy(context);
}
END_TEST

static unsigned count_of(const char *text, const char *part) {
  unsigned count = 0;
  for (; (text = strstr(text, part)) != NULL; text++)
    count++;
  return count;
}

/* LLVM's schedulers would have the first of sixteen stores wait for eleven loads. */
START_TEST(stores_of_copies_wait_for_what_they_store) {
  static const char text[] = "kernel k(src: f32 @ (32,8,28,28,298):(1,32,256,7168,200704), "
                             "dst: f32 @ (32,8,28,28,298):(1,267008,9536,2136064,32)) = copy(src, dst)";
  tj_context *context = new_context(NULL);
  tj_program *program = new_program(context, text, NULL, 0);
  tj_blob made;
  expect_ok(context, tj_program_emit(program, &(tj_compile_options){.target = "gfx942"}, TJ_EMIT_ASM, &made), text);
  ck_assert_uint_eq(count_of(made.data, "global_store_dwordx4"), 16);
  ck_assert_uint_eq(count_of(made.data, "vmcnt(15)"), 16);
  tj_blob_release(context, &made);
  tj_program_destroy(program);
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("passes_kept");
  TCase *tcase = tcase_create("passes_kept");
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, stores_of_copies_wait_for_what_they_store);
  tcase_add_loop_test(tcase, code_does_not_depend_on_what_was_compiled_before, 0, sizeof rows / sizeof rows[0]);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}

/* SPDX-License-Identifier: MIT */
/* Lowering without code generation: targets and their names, widths, magic numbers, what kernels look like as LLVM.
 */
#include "base/machine/processor.h"
#include "base/number/magic.h"
#include "lower/emit/emit.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/plan/plan.h"
#include "tests/unit/support/harness.h"
#include "tests/unit/support/kernel_support.h"
#include "tests/unit/support/random_nodes.h"

/* --- targets --- */

typedef struct {
  const char *text;
  const char *name, *processor, *features;
  uint32_t wave_size;
  const char *triple; /* NULL: AMD's */
} target_row;

static const target_row good_targets[] = {
    {"gfx942", "gfx942", "gfx942", "", 64, NULL},
    {"gfx90a:xnack-:sramecc+", "gfx90a:sramecc+:xnack-", "gfx90a", "+sramecc,-xnack", 64, NULL},
    {"gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack-", "gfx90a", "+sramecc,-xnack", 64, NULL},
    {"gfx906:xnack+", "gfx906:xnack+", "gfx906", "+xnack", 64, NULL},
    {"gfx1030", "gfx1030", "gfx1030", "", 32, NULL},
    {"gfx1201", "gfx1201", "gfx1201", "", 32, NULL},
    {"gfx11-generic", "gfx11-generic", "gfx11-generic", "", 32, NULL},
    {"sm_80", "sm_80", "sm_80", "", 32, "nvptx64-nvidia-cuda"},
    {"sm_120", "sm_120", "sm_120", "", 32, "nvptx64-nvidia-cuda"},
};

static void parse_good(tj_job *job, void *data) {
  const target_row *row = data;
  const tj_target *target = tj_target_parse(job, row->text);
  ck_assert_str_eq(target->name, row->name);
  ck_assert_str_eq(target->processor, row->processor);
  ck_assert_str_eq(target->features, row->features);
  ck_assert_uint_eq(target->wave_size, row->wave_size);
  ck_assert_str_eq(target->triple, row->triple != NULL ? row->triple : "amdgcn-amd-amdhsa");
  ck_assert_str_eq(tj_target_parse(job, target->name)->name, target->name);
}

/* Canonical names, and that they parse to themselves. */
START_TEST(test_good_targets) {
  tj_job job;
  tj_job_init(&job, NULL);
  target_row row = good_targets[_i];
  expect_success(&job, parse_good, &row);
  tj_job_destroy(&job);
}
END_TEST

static const struct {
  const char *text;
  tj_problem_code code;
} bad_targets[] = {
    {"", TJ_UNKNOWN_TARGET},
    {"x86", TJ_UNKNOWN_TARGET},
    {"gfx", TJ_UNKNOWN_TARGET},
    {"gfx9", TJ_UNKNOWN_TARGET},
    {"gfx94", TJ_UNKNOWN_TARGET},
    {"gfx9420", TJ_UNKNOWN_TARGET},
    {"gfx942 ", TJ_UNKNOWN_TARGET},
    {":xnack+", TJ_UNKNOWN_TARGET},
    {"hosts", TJ_UNKNOWN_TARGET},
    {"x86-64", TJ_UNKNOWN_TARGET},
    {"x86-64-v3:xnack+", TJ_UNKNOWN_TARGET},
    {"host:0", TJ_UNKNOWN_FEATURE},
    {"sm_", TJ_UNKNOWN_TARGET},
    {"sm_9", TJ_UNKNOWN_TARGET},
    {"sm_900", TJ_UNKNOWN_TARGET},
    {"sm_90:xnack+", TJ_UNKNOWN_FEATURE},
    {"gfx942:", TJ_UNKNOWN_FEATURE},
    {"gfx942:+", TJ_UNKNOWN_FEATURE},
    {"gfx942:xnack", TJ_UNKNOWN_FEATURE},
    {"gfx942:xnack+:", TJ_UNKNOWN_FEATURE},
    {"gfx942:xnac+", TJ_UNKNOWN_FEATURE},
    {"gfx942:xnack++", TJ_UNKNOWN_FEATURE},
    {"gfx942:xnack+:xnack+", TJ_UNKNOWN_FEATURE},
    {"gfx942:xnack+:xnack-", TJ_UNKNOWN_FEATURE},
    {"gfx942:wave32+", TJ_UNKNOWN_FEATURE},
    {"gfx1030:xnack+", TJ_UNKNOWN_FEATURE},
    {"gfx900:sramecc-", TJ_UNKNOWN_FEATURE},
};

static void parse_bad(tj_job *job, void *data) {
  tj_target_parse(job, data);
}

/* Wrong names fail with a reason, and LLVM is never asked about them. */
START_TEST(test_bad_targets) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_failure(&job, bad_targets[_i].code, parse_bad, (void *)(uintptr_t)bad_targets[_i].text);
  tj_job_destroy(&job);
}
END_TEST

/* --- magic numbers --- */

static bool divides_31(uint64_t divisor, uint64_t dividend) {
  tj_magic magic = tj_magic_31(divisor);
  uint64_t high = (dividend + 1) * magic.multiplier >> 32;
  return magic.multiplier <= UINT32_MAX && magic.shift < 32 && high >> magic.shift == dividend / divisor;
}

static bool divides_unsigned_32(uint64_t divisor, uint64_t dividend) {
  tj_magic magic = tj_magic_32(divisor);
  uint64_t high = dividend * magic.multiplier >> 32;
  uint32_t first = magic.shift > 0 ? 1 : 0;
  return ((dividend - high) >> first) + high <= UINT32_MAX &&
         (((dividend - high) >> first) + high) >> (magic.shift - first) == dividend / divisor;
}

static bool divides_64(uint64_t divisor, uint64_t dividend) {
  tj_magic magic = tj_magic_64(divisor);
  uint64_t high = (uint64_t)((unsigned __int128)dividend * magic.multiplier >> 64);
  return (high + dividend) >> magic.shift == dividend / divisor;
}

static uint64_t random_bits(random_source *source, unsigned most) {
  return random_next(source) >> (64 - most + random_below(source, most));
}

/* The dividends that a wrong multiplier gets wrong first are the largest ones, next to multiples of the divisor. */
START_TEST(test_magic_for_launches) {
  random_source source = random_begin(1);
  for (uint32_t i = 0; i < 40000; i++) {
    uint64_t narrow = random_bits(&source, 31) + 1, wide = random_bits(&source, 63) + 1;
    uint64_t last_narrow = INT32_MAX / narrow * narrow - 1, last_wide = INT64_MAX / wide * wide - 1;
    uint64_t narrow_dividends[] = {0, 1, INT32_MAX, random_bits(&source, 31), last_narrow, last_narrow + 1};
    uint64_t wide_dividends[] = {0, 1, INT64_MAX, random_bits(&source, 63), last_wide, last_wide + 1};
    uint64_t full = random_bits(&source, 32) + 1, last_full = UINT32_MAX / full * full - 1;
    uint64_t full_dividends[] = {0, 1, UINT32_MAX, random_bits(&source, 32), last_full, last_full + 1};
    for (unsigned j = 0; j < 6; j++) {
      ck_assert(full > UINT32_MAX || full_dividends[j] > UINT32_MAX || divides_unsigned_32(full, full_dividends[j]));
      ck_assert(narrow_dividends[j] > INT32_MAX || divides_31(narrow, narrow_dividends[j]));
      ck_assert(wide > INT64_MAX || wide_dividends[j] > INT64_MAX || divides_64(wide, wide_dividends[j]));
    }
  }
}
END_TEST

/* Constant divisors, and every dividend of small ranges. */
START_TEST(test_magic_for_constants) {
  for (uint64_t divisor = 3; divisor < 300; divisor++) {
    for (uint64_t high = 1; high < 3000; high = high * 2 + divisor % 5) {
      tj_magic narrow, wide;
      ck_assert(tj_magic_narrow(divisor, high, &narrow));
      ck_assert(tj_magic_wide(divisor, high, &wide));
      for (uint64_t dividend = 0; dividend <= high; dividend++) {
        ck_assert_uint_le(dividend * narrow.multiplier, UINT32_MAX);
        ck_assert_uint_eq(dividend * narrow.multiplier >> narrow.shift, dividend / divisor);
        ck_assert_uint_eq(dividend * wide.multiplier >> wide.shift, dividend / divisor);
      }
    }
  }
}
END_TEST

/* --- which magic numbers --- */

static const struct {
  int64_t dividend, low, divisor; /* 0 … dividend by low … divisor */
  unsigned bits;
} divisions[] = {
    {INT32_MAX, 1, 1ll << 31, 31}, {INT32_MAX, 1, (1ll << 31) + 1, 32},
    {1ll << 31, 1, 5, 32},         {UINT32_MAX, 1, UINT32_MAX, 32},
    {1ll << 32, 1, 5, 64},         {5, 1, 1ll << 32, 64},
    {INT64_MAX - 1, 1, 5, 64},     {INT32_MAX, -1, 5, 0},
};

static void check_magic_bits(tj_job *job, void *data) {
  int row = *(const int *)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *high = tj_int(graph, divisions[row].dividend);
  const tj_node *args[] = {
      tj_symbol_create(graph, "a", TJ_SYMBOL_PARAMETER, tj_int(graph, 0), high, 1),
      tj_symbol_create(graph, "b", TJ_SYMBOL_PARAMETER, tj_int(graph, divisions[row].low),
                       tj_int(graph, divisions[row].divisor), 1),
  };
  ck_assert_uint_eq(tj_magic_bits(tj_node_make(graph, TJ_OP_DIV, args)), divisions[row].bits);
  ck_assert_uint_eq(tj_magic_bits(tj_node_make(graph, TJ_OP_MOD, args)), divisions[row].bits);
}

/* The numbers for 31 bits serve up to 2^31 - 1 by up to 2^31, and nothing beyond. */
START_TEST(test_magic_bits) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, check_magic_bits, &_i);
  tj_job_destroy(&job);
}
END_TEST

/* --- widths --- */

static const struct {
  int64_t low, high;
  tj_width width;
} ranges[] = {
    {0, 0, {32, true, true}},
    {0, INT32_MAX, {32, true, true}},
    {0, 1ll << 31, {32, false, true}},
    {0, UINT32_MAX, {32, false, true}},
    {0, 1ll << 32, {64, true, true}},
    {-1, INT32_MAX, {32, true, false}},
    {-1, 1ll << 31, {64, true, false}},
    {INT32_MIN, 0, {32, true, false}},
    {INT32_MIN - 1ll, 0, {64, true, false}},
    {INT64_MIN, INT64_MAX, {64, true, false}},
};

START_TEST(test_widths_of_ranges) {
  tj_width width = tj_width_of_range(ranges[_i].low, ranges[_i].high);
  ck_assert_uint_eq(width.bits, ranges[_i].width.bits);
  ck_assert_int_eq(width.is_signed, ranges[_i].width.is_signed);
  ck_assert_int_eq(width.is_unsigned, ranges[_i].width.is_unsigned);
}
END_TEST

static void check_unbounded(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *size = tj_symbol_create(graph, "Rows", TJ_SYMBOL_PARAMETER, tj_int(graph, 1), NULL, 1);
  const tj_node *index = tj_coordinate(graph, "n", size);
  const tj_node *root = tj_mul(graph, index, tj_int(graph, 3));
  tj_check_widths(graph, &root, 1);
}

static void check_product(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *most = tj_int(graph, 1ll << 40), *zero = tj_int(graph, 0);
  const tj_node *a = tj_symbol_create(graph, "A", TJ_SYMBOL_PARAMETER, zero, most, 1);
  const tj_node *root = tj_mod(graph, tj_mul(graph, a, a), tj_int(graph, 7));
  tj_check_widths(graph, &root, 1);
}

static void check_harmless(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *size = tj_symbol_create(graph, "M", TJ_SYMBOL_PARAMETER, NULL, NULL, 1);
  const tj_node *root = tj_min(graph, tj_mod(graph, size, tj_int(graph, 7)), tj_div(graph, size, tj_int(graph, 2)));
  tj_check_widths(graph, &root, 1);
}

/* An expression that may leave 64 bits names the parameter without bounds, also behind a coordinate's bound. */
START_TEST(test_unbounded_expressions) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_failure(&job, TJ_WIDTH, check_unbounded, NULL);
  ck_assert_ptr_nonnull(strstr(job.problem.message, "Rows"));
  ck_assert_ptr_nonnull(strstr(job.problem.note, "give Rows a range"));
  expect_failure(&job, TJ_WIDTH, check_product, NULL);
  ck_assert_ptr_nonnull(strstr(job.problem.message, "A*A"));
  expect_success(&job, check_harmless, NULL);
  tj_job_destroy(&job);
}
END_TEST

/* --- element types --- */

START_TEST(test_dtypes) {
  tj_dtype found;
  for (unsigned i = 0; i < TJ_DTYPE_COUNT; i++) {
    ck_assert(tj_dtype_find(tj_dtype_name((tj_dtype)i), &found));
    ck_assert_uint_eq(found, i);
    ck_assert_ptr_nonnull(strstr(tj_code_note(TJ_UNKNOWN_DTYPE), tj_dtype_name((tj_dtype)i)));
  }
  ck_assert(!tj_dtype_find("f31", &found));
  ck_assert(!tj_dtype_find("f8", &found));
  ck_assert(tj_dtype_converts(TJ_DTYPE_i8, TJ_DTYPE_f64));
  ck_assert(tj_dtype_converts(TJ_DTYPE_b32, TJ_DTYPE_f32));
  ck_assert(!tj_dtype_converts(TJ_DTYPE_b32, TJ_DTYPE_f64));
  ck_assert(!tj_dtype_converts(TJ_DTYPE_f16, TJ_DTYPE_b8));
  ck_assert_str_eq(tj_dtype_numpy(TJ_DTYPE_f16), "<f2");
  ck_assert_uint_eq(tj_dtype_bits(TJ_DTYPE_b128), 128);
}
END_TEST

/* --- kernels as LLVM --- */

typedef struct {
  const char *what;
  const char *target;
  const char *(*make)(tj_graph *graph, tj_module *module, const tj_target *target);
  const char *present[4];
  const char *absent[3];
} text_row;

static const char *lowered(tj_graph *graph, tj_module *module, const tj_target *target, hand_kernel *made) {
  tj_module_lower(graph, module, &made->kernel, target);
  return tj_module_text(graph->job, module);
}

static const char *partial_workgroup(tj_graph *graph, tj_module *module, const tj_target *target) {
  return lowered(graph, module, target, make_kernel(graph, tj_int(graph, 100), TJ_DTYPE_i32));
}

static const char *full_workgroups(tj_graph *graph, tj_module *module, const tj_target *target) {
  return lowered(graph, module, target, make_kernel(graph, tj_int(graph, 6400), TJ_DTYPE_i32));
}

static const char *full_by_multiple(tj_graph *graph, tj_module *module, const tj_target *target) {
  const tj_node *low = tj_int(graph, 64), *high = tj_int(graph, 65536);
  const tj_node *count = tj_symbol_create(graph, "M", TJ_SYMBOL_PARAMETER, low, high, 64);
  hand_kernel *made = make_kernel(graph, count, TJ_DTYPE_i32);
  made->parameter[made->kernel.parameter_count++] = count;
  return lowered(graph, module, target, made);
}

static const char *huge_count(tj_graph *graph, tj_module *module, const tj_target *target) {
  return lowered(graph, module, target, make_kernel(graph, tj_int(graph, (1ll << 33) + 1), TJ_DTYPE_i8));
}

static const char *padded_copy(tj_graph *graph, tj_module *module, const tj_target *target) {
  hand_kernel *made = make_kernel(graph, tj_int(graph, 128), TJ_DTYPE_f32);
  make_copy(graph, made, TJ_DTYPE_f16);
  made->step[0].access.valid = tj_less(graph, made->kernel.index, tj_int(graph, 100));
  return lowered(graph, module, target, made);
}

static const char *never_loaded(tj_graph *graph, tj_module *module, const tj_target *target) {
  hand_kernel *made = make_kernel(graph, tj_int(graph, 128), TJ_DTYPE_f32);
  make_copy(graph, made, TJ_DTYPE_i32);
  made->step[0].access.valid = tj_int(graph, 0);
  made->kernel.fill = 7;
  return lowered(graph, module, target, made);
}

static const char *shared_condition(tj_graph *graph, tj_module *module, const tj_target *target) {
  hand_kernel *made = make_kernel(graph, tj_int(graph, 128), TJ_DTYPE_f32);
  make_copy(graph, made, TJ_DTYPE_f32);
  const tj_node *inside = tj_less(graph, made->kernel.index, tj_int(graph, 100));
  made->step[0].access.valid = inside;
  made->step[1].access.valid = tj_and(graph, tj_less(graph, tj_int(graph, 3), made->kernel.index), inside);
  tj_kernel_simplify(graph, &made->kernel, NULL);
  return lowered(graph, module, target, made);
}

static const char *magic_division(tj_graph *graph, tj_module *module, const tj_target *target) {
  hand_kernel *made = make_kernel(graph, tj_int(graph, 6400), TJ_DTYPE_i32);
  const tj_node *divisor = add_parameter(graph, made, "d", tj_int(graph, 1), tj_int(graph, 5000));
  made->step[0].value = tj_div(graph, made->kernel.index, divisor);
  tj_kernel_derive(graph, &made->kernel);
  ck_assert_uint_eq(made->kernel.derived_count, 1);
  ck_assert_uint_eq(tj_kernel_argument_bytes(&made->kernel), 24);
  return lowered(graph, module, target, made);
}

static const char *exact_division(tj_graph *graph, tj_module *module, const tj_target *target) {
  hand_kernel *made = make_kernel(graph, tj_int(graph, 6400), TJ_DTYPE_i32);
  const tj_node *args[] = {tj_mul(graph, made->kernel.index, tj_int(graph, 24)), tj_int(graph, 8)};
  const tj_node *third[] = {args[0], tj_int(graph, 3)};
  made->step[0].value = tj_add(graph, tj_node_make(graph, TJ_OP_DIV, args), tj_node_make(graph, TJ_OP_DIV, third));
  return lowered(graph, module, target, made);
}

static const char *inexact_division(tj_graph *graph, tj_module *module, const tj_target *target) {
  hand_kernel *made = make_kernel(graph, tj_int(graph, 1ll << 40), TJ_DTYPE_i64);
  const tj_node *index = made->kernel.index;
  made->step[0].value = tj_add(graph, tj_div(graph, index, tj_int(graph, 8)), tj_div(graph, index, tj_int(graph, 3)));
  return lowered(graph, module, target, made);
}

/* n/2/9 is n/18, which the kernel has. */
static const char *remainder_with_quotient(tj_graph *graph, tj_module *module, const tj_target *target) {
  hand_kernel *made = make_kernel(graph, tj_int(graph, 1ll << 40), TJ_DTYPE_i64);
  const tj_node *index = made->kernel.index, *half = tj_div(graph, index, tj_int(graph, 2));
  const tj_node *quotient = tj_div(graph, index, tj_int(graph, 18));
  made->step[0].value =
      tj_add(graph, tj_mod(graph, half, tj_int(graph, 9)), tj_mul(graph, quotient, tj_int(graph, 7)));
  return lowered(graph, module, target, made);
}

static const char *double_to_half(tj_graph *graph, tj_module *module, const tj_target *target) {
  hand_kernel *made = make_kernel(graph, tj_int(graph, 128), TJ_DTYPE_f16);
  make_copy(graph, made, TJ_DTYPE_f64);
  return lowered(graph, module, target, made);
}

static const char *wide_offsets(tj_graph *graph, tj_module *module, const tj_target *target) {
  hand_kernel *made = make_kernel(graph, tj_int(graph, 6400), TJ_DTYPE_f32);
  made->step[1].access.offset = tj_mul(graph, made->kernel.index, tj_int(graph, 1 << 20));
  return lowered(graph, module, target, made);
}

static const text_row texts[] = {
    {"a partial workgroup is guarded", "gfx942", partial_workgroup, {"icmp ult i32 %index, 100"}, {"i64 %index"}},
    {"full workgroups are not guarded", "gfx942", full_workgroups, {"range(i32 0, 100)"}, {"icmp"}},
    {"a multiple of the workgroup is not guarded",
     "gfx942",
     full_by_multiple,
     {"%M = load i32, ptr addrspace(4) %", "!range !", "!{i32 64, i32 65537}"},
     {"icmp"}},
    {"large domains are indexed in 64 bits", "gfx942", huge_count, {"icmp ult i64 %index", "mul nuw nsw i64"}, {}},
    {"arguments say what kernels do with them",
     "gfx942",
     padded_copy,
     {"ptr addrspace(1) noalias noundef writeonly align 4 captures(none) %dst",
      "ptr addrspace(1) noalias noundef readonly align 2 captures(none) %src", "phi i16"},
     {"ptr %"}},
    {"no hidden arguments", "gfx942", padded_copy, {"amdgpu-no-implicitarg-ptr", "amdgpu-no-dispatch-ptr"}, {}},
    {"the workgroup's size is known",
     "gfx942",
     padded_copy,
     {"\"amdgpu-flat-work-group-size\"=\"64,64\"", "reqd_work_group_size", "i32 64, i32 1, i32 1", "i32 400}"},
     {}},
    {"generic processors need code object version 6", "gfx11-generic", padded_copy, {"i32 600}"}, {}},
    {"what is never valid is never loaded", "gfx942", never_loaded, {"i32 1088421888"}, {"load", "%src,"}},
    {"a load is guarded once, by the store's condition", "gfx942", shared_condition, {"load i32"}, {"phi"}},
    {"divisions by parameters multiply", "gfx942", magic_division, {"mul nuw i64"}, {"udiv", "sdiv"}},
    {"exact divisions", "gfx942", exact_division, {"lshr exact", "udiv exact"}, {"sdiv"}},
    {"other divisions are not exact",
     "gfx942",
     inexact_division,
     {"lshr i64 %index, 3", "udiv i64 %index, 3"},
     {"exact"}},
    {"remainders take quotients that are there under another form",
     "gfx942",
     remainder_with_quotient,
     {"udiv i64 %index, 18"},
     {"urem", "i64 %index, 9"}},
    {"a NaN needs no rounding, and is not above anything",
     "gfx942",
     double_to_half,
     {"fcmp ueq double", "fcmp ogt double"},
     {}},
    {"byte offsets of 32 bits", "gfx942", full_workgroups, {"shl nuw i32 %index, 2", "inbounds i8"}, {}},
    {"byte offsets of 64 bits", "gfx942", wide_offsets, {"inbounds i32"}, {"inbounds i8"}},
    {"the host loops", "host", partial_workgroup, {"phi i32", "@tilejit_k(ptr", "noalias"}, {"addrspace"}},
    {"the host's large loops", "host", huge_count, {"%index = phi i64"}, {"phi i32"}},
};

typedef struct {
  const text_row *row;
  tj_module module;
} text_case;

static void check_text(tj_job *job, void *data) {
  text_case *test = data;
  const tj_target *target = tj_target_parse(job, test->row->target);
  const char *text = test->row->make(tj_graph_create(job), &test->module, target);
  for (unsigned i = 0; i < 4 && test->row->present[i] != NULL; i++)
    ck_assert_msg(strstr(text, test->row->present[i]) != NULL, "%s: there is no %s", test->row->what,
                  test->row->present[i]);
  for (unsigned i = 0; i < 3 && test->row->absent[i] != NULL; i++)
    ck_assert_msg(strstr(text, test->row->absent[i]) == NULL, "%s: there is %s", test->row->what,
                  test->row->absent[i]);
}

START_TEST(test_texts) {
  tj_job job;
  tj_job_init(&job, NULL);
  text_case test = {.row = &texts[_i]};
  expect_success(&job, check_text, &test);
  tj_module_dispose(&test.module);
  tj_module_dispose(&test.module);
  tj_job_destroy(&job);
}
END_TEST

static void lower_unbound(tj_job *job, void *data) {
  tj_graph *graph = tj_graph_create(job);
  hand_kernel *made = make_kernel(graph, tj_int(graph, 64), TJ_DTYPE_i32);
  const tj_node *low = tj_int(graph, 1), *high = tj_int(graph, 5);
  made->step[0].value = tj_symbol_create(graph, "lost", TJ_SYMBOL_PARAMETER, low, high, 1);
  tj_module_lower(graph, data, &made->kernel, tj_target_parse(job, "gfx942"));
}

static void lower_unbounded(tj_job *job, void *data) {
  tj_graph *graph = tj_graph_create(job);
  hand_kernel *made = make_kernel(graph, tj_int(graph, 64), TJ_DTYPE_i32);
  const tj_node *size = add_parameter(graph, made, "M", NULL, NULL);
  made->step[0].value = tj_add(graph, size, made->kernel.index);
  tj_module_lower(graph, data, &made->kernel, tj_target_parse(job, "host"));
}

static void lower_too_much(tj_job *job, void *data) {
  tj_graph *graph = tj_graph_create(job);
  hand_kernel *made = make_kernel(graph, tj_int(graph, 64), TJ_DTYPE_i32);
  const tj_node *value = made->kernel.index;
  for (int i = 0; i < 50000; i++)
    value = tj_mod(graph, tj_add(graph, value, tj_int(graph, i + 1)), tj_int(graph, 1000));
  made->step[0].value = value;
  tj_module_lower(graph, data, &made->kernel, tj_target_parse(job, "gfx942"));
}

/* A failure in the middle of lowering leaves a module that can be disposed. */
START_TEST(test_failures) {
  tj_job job;
  tj_job_init(&job, NULL);
  tj_module module = {0};
  expect_failure(&job, TJ_MISSING_PARAMETER, lower_unbound, &module);
  tj_module_dispose(&module);
  expect_failure(&job, TJ_WIDTH, lower_unbounded, &module);
  tj_module_dispose(&module);
  expect_failure(&job, TJ_WORK_LIMIT, lower_too_much, &module);
  tj_module_dispose(&module);
  tj_job_destroy(&job);
}
END_TEST

#define ROWS(table) (int)(sizeof table / sizeof table[0])

int main(void) {
  Suite *suite = suite_create("lower");
  TCase *cases = tcase_create("lower");
  tcase_set_timeout(cases, 500);
  tcase_add_loop_test(cases, test_good_targets, 0, ROWS(good_targets));
  tcase_add_loop_test(cases, test_bad_targets, 0, ROWS(bad_targets));
  tcase_add_test(cases, test_magic_for_launches);
  tcase_add_test(cases, test_magic_for_constants);
  tcase_add_loop_test(cases, test_magic_bits, 0, ROWS(divisions));
  tcase_add_loop_test(cases, test_widths_of_ranges, 0, ROWS(ranges));
  tcase_add_test(cases, test_unbounded_expressions);
  tcase_add_test(cases, test_dtypes);
  tcase_add_loop_test(cases, test_texts, 0, ROWS(texts));
  tcase_add_test(cases, test_failures);
  suite_add_tcase(suite, cases);
  return run_suite(suite);
}

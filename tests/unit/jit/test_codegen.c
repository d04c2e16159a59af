/* SPDX-License-Identifier: MIT */
/* Machine code: conversions of element types against C, masked copies between guard pages, and objects for AMDGPU. */
#include "base/machine/processor.h"
#include "tests/unit/support/conversion_support.h"
#include "tests/unit/support/kernel_support.h"
#include "tests/unit/support/processors.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* The reference itself, on values that are known. */
START_TEST(test_reference) {
  ck_assert(converts_to(element_of(0x3c01), TJ_DTYPE_f16, element_of(0x3f802000), TJ_DTYPE_f32));
  ck_assert(!converts_to(element_of(0x3c01), TJ_DTYPE_f16, element_of(0x3f802001), TJ_DTYPE_f32));
  ck_assert(converts_to(element_of(0x3f808000), TJ_DTYPE_f32, element_of(0x3f80), TJ_DTYPE_bf16));
  ck_assert(converts_to(element_of(0x3f818000), TJ_DTYPE_f32, element_of(0x3f82), TJ_DTYPE_bf16));
  ck_assert(!converts_to(element_of(0x3f818000), TJ_DTYPE_f32, element_of(0x3f81), TJ_DTYPE_bf16));
  ck_assert(converts_to(element_of(0x7f7fffff), TJ_DTYPE_f32, element_of(0x7c00), TJ_DTYPE_f16));
  ck_assert(converts_to(element_of(0x80000000), TJ_DTYPE_f32, element_of(0x8000), TJ_DTYPE_f16));
  ck_assert(!converts_to(element_of(0x80000000), TJ_DTYPE_f32, element_of(0), TJ_DTYPE_f16));
  ck_assert(converts_to(element_of(0xff), TJ_DTYPE_i8, element_of(0xffff), TJ_DTYPE_i16));
  ck_assert(converts_to(element_of(0xff), TJ_DTYPE_u8, element_of(0x00ff), TJ_DTYPE_i16));
  ck_assert(converts_to(element_of(0xc3000000), TJ_DTYPE_f32, element_of(0x80), TJ_DTYPE_i8));
  ck_assert(converts_to(element_of(0xc3010000), TJ_DTYPE_f32, element_of(0x80), TJ_DTYPE_i8));
  ck_assert(converts_to(element_of(0x7fc00000), TJ_DTYPE_f32, element_of(0), TJ_DTYPE_i8));
  ck_assert(!converts_to(element_of(0x7fc00000), TJ_DTYPE_f32, element_of(0x7f), TJ_DTYPE_i8));
}
END_TEST

/* --- conversions on the host --- */

enum { ELEMENTS = 65536 };

typedef struct {
  tj_dtype from, to;
  const char *target; /* NULL: the host, and the kernel is run */
  compiled compiled;
  tj_host_code *code;
  random_source source;
} conversion;

static void check_conversion(const conversion *test, const unsigned char *from, const unsigned char *to) {
  for (uint32_t i = 0; i < ELEMENTS; i++) {
    element source = element_at(from, test->from, i), found = element_at(to, test->to, i);
    ck_assert_msg(converts_to(source, test->from, found, test->to), "%s 0x%llx became %s 0x%llx",
                  tj_dtype_name(test->from), (unsigned long long)bits_of(source, TJ_DTYPE_b64),
                  tj_dtype_name(test->to), (unsigned long long)bits_of(found, TJ_DTYPE_b64));
  }
}

static void compile_conversion(tj_job *job, void *data) {
  conversion *test = data;
  tj_graph *graph = tj_graph_create(job);
  hand_kernel *made = make_kernel(graph, tj_int(graph, ELEMENTS), test->to);
  make_copy(graph, made, test->from);
  if (test->target != NULL) {
    compile_kernel(graph, &test->compiled, &made->kernel, test->target, TJ_CODEGEN_OBJECT);
    return;
  }
  test->code = load_kernel(graph, &test->compiled, &made->kernel);
  unsigned char *from = make_elements(&test->source, test->from, ELEMENTS);
  unsigned char *to = calloc(ELEMENTS, tj_dtype_bits(test->to) / 8);
  symbol_values none = {.count = 64};
  run_kernel(test->code, &made->kernel, (void *[]){to, from}, &none);
  check_conversion(test, from, to);
  free(from);
  free(to);
}

static void convert_all(conversion *test) {
  for (unsigned to = 0; to < TJ_DTYPE_COUNT; to++) {
    test->to = (tj_dtype)to;
    if (!tj_dtype_converts(test->from, test->to))
      continue;
    tj_job job;
    tj_job_init(&job, NULL);
    expect_success(&job, compile_conversion, test);
    tj_host_code_unload(test->code);
    test->code = NULL;
    tj_job_destroy(&job);
  }
  dispose_compiled(&test->compiled);
}

/* Every conversion, on every 8- and 16-bit value, and on values of the others where roundings change. */
START_TEST(test_conversions) {
  conversion test = {.from = (tj_dtype)_i, .source = random_begin(7)};
  convert_all(&test);
}
END_TEST

/* Every conversion compiles for every generation; the simulator's tests run them. */
START_TEST(test_conversions_compile) {
  conversion test = {.target = simulated[_i]};
  for (unsigned from = 0; from < TJ_DTYPE_COUNT; from++) {
    test.from = (tj_dtype)from;
    convert_all(&test);
  }
}
END_TEST

/* --- fill values --- */

static const struct {
  tj_dtype source, destination;
  int64_t fill;
  uint64_t expected;
} fills[] = {
    {TJ_DTYPE_f32, TJ_DTYPE_f32, -3, 0xc0400000},       {TJ_DTYPE_f16, TJ_DTYPE_f16, 1, 0x3c00},
    {TJ_DTYPE_bf16, TJ_DTYPE_bf16, 2, 0x4000},          {TJ_DTYPE_f64, TJ_DTYPE_f16, 1, 0x3c00},
    {TJ_DTYPE_i8, TJ_DTYPE_i32, -1, 0xffffffff},        {TJ_DTYPE_u8, TJ_DTYPE_i32, 255, 255},
    {TJ_DTYPE_i32, TJ_DTYPE_f32, 16777217, 0x4b800000}, {TJ_DTYPE_b16, TJ_DTYPE_f16, 0x3c00, 0x3c00},
    {TJ_DTYPE_u64, TJ_DTYPE_u64, -1, UINT64_MAX},       {TJ_DTYPE_b128, TJ_DTYPE_b128, -2, UINT64_MAX - 1},
};

static void check_fill(tj_job *job, void *data) {
  conversion *test = data;
  size_t row = (size_t)(test->from);
  tj_graph *graph = tj_graph_create(job);
  hand_kernel *made = make_kernel(graph, tj_int(graph, 8), fills[row].destination);
  make_copy(graph, made, fills[row].source);
  made->step[0].access.valid = tj_less(graph, made->kernel.index, tj_int(graph, 4));
  made->kernel.fill = fills[row].fill;
  test->code = load_kernel(graph, &test->compiled, &made->kernel);
  unsigned char from[8 * 16] = {0}, to[8 * 16];
  symbol_values none = {.count = 64};
  run_kernel(test->code, &made->kernel, (void *[]){to, from}, &none);
  for (uint32_t i = 0; i < 8; i++) {
    uint64_t expected = i < 4 ? 0 : fills[row].expected;
    ck_assert_uint_eq(bits_of(element_at(to, fills[row].destination, i), TJ_DTYPE_b64), expected);
  }
}

/* Fill is in the source's type, and is converted as its elements are. */
START_TEST(test_fills) {
  conversion test = {.from = (tj_dtype)_i};
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, check_fill, &test);
  tj_host_code_unload(test.code);
  dispose_compiled(&test.compiled);
  tj_job_destroy(&job);
}
END_TEST

/* --- masks, between pages that nobody may touch --- */

typedef struct {
  unsigned char *pages;
  size_t size; /* of the middle */
  unsigned char *data;
} guarded;

/* `size` bytes that end at an inaccessible page (or begin after one), with a pattern all around. */
static guarded guard_bytes(size_t size, bool at_end) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), middle = (size + page - 1) / page * page;
  guarded made = {mmap(NULL, middle + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), middle, NULL};
  ck_assert_ptr_ne(made.pages, MAP_FAILED);
  ck_assert_int_eq(mprotect(made.pages + page, middle, PROT_READ | PROT_WRITE), 0);
  memset(made.pages + page, 0xa5, middle);
  made.data = made.pages + page + (at_end ? middle - size : 0);
  return made;
}

static void unguard(guarded made) {
  munmap(made.pages, made.size + 2 * (size_t)sysconf(_SC_PAGESIZE));
}

/* Whether all bytes outside of data … data + size still have the pattern. */
static bool is_untouched_around(guarded made, size_t size) {
  unsigned char *begin = made.pages + sysconf(_SC_PAGESIZE), *end = begin + made.size;
  for (unsigned char *at = begin; at < end; at++) {
    if ((at < made.data || at >= made.data + size) && *at != 0xa5)
      return false;
  }
  return true;
}

enum { WIDTH = 37, HEIGHT = 23, PAD = 3 };

typedef struct {
  bool is_parametric, at_end, masks_store;
  compiled compiled;
  tj_host_code *code;
} masked;

/* A source of HEIGHT x WIDTH, padded by PAD on all sides, copied to rows of the padded width; or, where the store is
 * masked, back. */
static hand_kernel *make_masked(tj_graph *graph, const masked *test) {
  const tj_node *pad = tj_int(graph, PAD), *low = tj_int(graph, 1), *high = tj_int(graph, 1000);
  const tj_node *width =
      test->is_parametric ? tj_symbol_create(graph, "W", TJ_SYMBOL_PARAMETER, low, high, 1) : tj_int(graph, WIDTH);
  const tj_node *outer = tj_add(graph, width, tj_int(graph, 2 * PAD));
  hand_kernel *made = make_kernel(graph, tj_mul(graph, outer, tj_int(graph, HEIGHT + 2 * PAD)), TJ_DTYPE_i32);
  if (test->is_parametric)
    made->parameter[made->kernel.parameter_count++] = width;
  make_copy(graph, made, TJ_DTYPE_i32);
  const tj_node *row = tj_sub(graph, tj_div(graph, made->kernel.index, outer), pad);
  const tj_node *column = tj_sub(graph, tj_mod(graph, made->kernel.index, outer), pad);
  const tj_node *inside_rows =
      tj_and(graph, tj_less_equal(graph, tj_int(graph, 0), row), tj_less(graph, row, tj_int(graph, HEIGHT)));
  const tj_node *inside_columns =
      tj_and(graph, tj_less_equal(graph, tj_int(graph, 0), column), tj_less(graph, column, width));
  tj_access inner = {.offset = tj_add(graph, tj_mul(graph, row, width), column),
                     .valid = tj_and(graph, inside_rows, inside_columns)};
  if (test->masks_store) {
    made->step[1].access = inner;
  } else {
    made->step[0].access = inner;
    made->step[0].access.buffer = 1;
  }
  made->kernel.fill = -9;
  return made;
}

static int32_t pattern(int row, int column) {
  return row * 1000 + column;
}

static bool is_inside(int row, int column) {
  return row >= 0 && row < HEIGHT && column >= 0 && column < WIDTH;
}

static void fill_pattern(int32_t *data, bool is_padded) {
  int pad = is_padded ? PAD : 0;
  for (int row = -pad; row < HEIGHT + pad; row++)
    for (int column = -pad; column < WIDTH + pad; column++)
      *data++ = pattern(row, column);
}

static void check_pattern(const int32_t *data, bool is_padded) {
  int pad = is_padded ? PAD : 0;
  for (int row = -pad; row < HEIGHT + pad; row++)
    for (int column = -pad; column < WIDTH + pad; column++, data++)
      ck_assert_int_eq(*data, is_inside(row, column) ? pattern(row, column) : -9);
}

static void run_masked(tj_job *job, void *data) {
  masked *test = data;
  tj_graph *graph = tj_graph_create(job);
  hand_kernel *made = make_masked(graph, test);
  tj_kernel_derive(graph, &made->kernel);
  test->code = load_kernel(graph, &test->compiled, &made->kernel);
  size_t inner = sizeof(int32_t) * WIDTH * HEIGHT;
  size_t outer = sizeof(int32_t) * (WIDTH + 2 * PAD) * (HEIGHT + 2 * PAD);
  size_t from_size = test->masks_store ? outer : inner, to_size = test->masks_store ? inner : outer;
  guarded from = guard_bytes(from_size, test->at_end), to = guard_bytes(to_size, test->at_end);
  fill_pattern((int32_t *)(void *)from.data, test->masks_store);
  symbol_values values = {.count = 64};
  if (test->is_parametric)
    values.value[made->parameter[0]->symbol->index] = WIDTH;
  run_kernel(test->code, &made->kernel, (void *[]){to.data, from.data}, &values);
  check_pattern((int32_t *)(void *)to.data, !test->masks_store);
  ck_assert(is_untouched_around(from, from_size) && is_untouched_around(to, to_size));
  unguard(from);
  unguard(to);
}

/* What is not valid is neither loaded nor stored, at either end of a buffer, however the loop is vectorised. */
START_TEST(test_masks) {
  masked test = {.is_parametric = _i & 1, .at_end = _i & 2, .masks_store = _i & 4};
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, run_masked, &test);
  tj_host_code_unload(test.code);
  dispose_compiled(&test.compiled);
  tj_job_destroy(&job);
}
END_TEST

/* --- ranges of workgroups --- */

static void run_ranges(tj_job *job, void *data) {
  masked *test = data;
  tj_graph *graph = tj_graph_create(job);
  hand_kernel *made = make_kernel(graph, tj_int(graph, 1000), TJ_DTYPE_u16);
  test->code = load_kernel(graph, &test->compiled, &made->kernel);
  for (uint64_t begin = 0; begin <= 16; begin++) {
    for (uint64_t end = begin; end <= 18; end++) {
      uint16_t to[1024];
      memset(to, 0xff, sizeof to);
      uint64_t block[] = {(uint64_t)(uintptr_t)to};
      tj_host_code_entry(test->code, 0)(block, begin, end);
      for (uint32_t n = 0; n < 1024; n++)
        ck_assert_uint_eq(to[n], n >= begin * 64 && n < end * 64 && n < 1000 ? n : 0xffff);
    }
  }
}

/* Workgroups begin … end-1 and nothing else; the last one stops at the count. */
START_TEST(test_ranges) {
  masked test = {0};
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, run_ranges, &test);
  tj_host_code_unload(test.code);
  dispose_compiled(&test.compiled);
  tj_job_destroy(&job);
}
END_TEST

/* --- the remainder that overflows in C --- */

static void run_remainder(tj_job *job, void *data) {
  masked *test = data;
  tj_graph *graph = tj_graph_create(job);
  hand_kernel *made = make_kernel(graph, tj_int(graph, 4), TJ_DTYPE_i64);
  const tj_node *dividend = add_parameter(graph, made, "a", NULL, NULL);
  const tj_node *divisor = add_parameter(graph, made, "b", NULL, NULL);
  const tj_node *args[] = {tj_min(graph, dividend, made->kernel.index), divisor};
  made->step[0].value = tj_node_make(graph, TJ_OP_MOD, args);
  test->code = load_kernel(graph, &test->compiled, &made->kernel);
  int64_t to[4];
  symbol_values values = {.value = {[0] = 0}, .count = 64};
  values.value[dividend->symbol->index] = INT64_MIN;
  values.value[divisor->symbol->index] = -1;
  run_kernel(test->code, &made->kernel, (void *[]){to}, &values);
  for (uint32_t i = 0; i < 4; i++)
    ck_assert_int_eq(to[i], 0);
}

/* INT64_MIN % -1 is 0, and no trap. */
START_TEST(test_remainder) {
  masked test = {0};
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, run_remainder, &test);
  tj_host_code_unload(test.code);
  dispose_compiled(&test.compiled);
  tj_job_destroy(&job);
}
END_TEST

/* --- divisors that go into the dividend once, or a little more --- */

enum { SMALL_EXTENT = 64 };

static void run_small_division(tj_job *job, void *data) {
  masked *test = data;
  for (int64_t extent = 1; extent <= SMALL_EXTENT; extent = extent * 3 / 2 + 1) {
    tj_graph *graph = tj_graph_create(job);
    const tj_node *count = tj_int(graph, extent), *base = tj_int(graph, 1000);
    hand_kernel *made = make_kernel(graph, count, TJ_DTYPE_i64);
    const tj_node *value = tj_int(graph, 0), *dividend = tj_sub(graph, made->kernel.index, tj_int(graph, extent / 3));
    for (int64_t divisor = extent / 2; divisor <= extent / 2 + 1 && divisor > 0; divisor++) {
      const tj_node *by = tj_int(graph, divisor);
      value = tj_add(graph, tj_mul(graph, value, base), tj_div(graph, made->kernel.index, by));
      value = tj_add(graph, tj_mul(graph, value, base), tj_mod(graph, made->kernel.index, by));
      value = tj_add(graph, tj_mul(graph, value, base), tj_mod(graph, dividend, by));
    }
    made->step[0].value = value;
    test->code = load_kernel(graph, &test->compiled, &made->kernel);
    int64_t to[2 * SMALL_EXTENT];
    symbol_values none = {.count = 64};
    run_kernel(test->code, &made->kernel, (void *[]){to}, &none);
    for (int64_t n = 0; n < extent; n++) {
      int64_t expected;
      ck_assert_int_eq(tj_eval_nodes(&value, 1, &(tj_bindings){&n, NULL, 1}, &expected), TJ_EVAL_OK);
      ck_assert_int_eq(to[n], expected);
    }
    tj_host_code_unload(test->code);
    test->code = NULL;
  }
}

/* Every dividend up to just below, and just beyond, twice the divisor. */
START_TEST(test_small_division) {
  masked test = {0};
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, run_small_division, &test);
  dispose_compiled(&test.compiled);
  tj_job_destroy(&job);
}
END_TEST

/* --- objects for AMDGPU --- */

typedef struct {
  const char *target;
  compiled compiled;
} object_case;

enum { EM_AMDGPU_NUMBER = 224, ELF_TYPE = 16, ELF_MACHINE = 18, ELF_FLAGS = 48, RELOCATABLE = 1 };

/* Division by constants and parameters, conversions and a mask: what kernels are made of. */
static hand_kernel *make_busy(tj_graph *graph) {
  hand_kernel *made = make_kernel(graph, tj_int(graph, 100000), TJ_DTYPE_bf16);
  make_copy(graph, made, TJ_DTYPE_f32);
  const tj_node *divisor = add_parameter(graph, made, "d", tj_int(graph, 1), tj_int(graph, 4096));
  const tj_node *index = made->kernel.index;
  const tj_node *row = tj_div(graph, index, divisor), *column = tj_mod(graph, index, divisor);
  made->step[0].access.offset = tj_add(graph, tj_mul(graph, tj_mod(graph, row, tj_int(graph, 24)), divisor), column);
  made->step[0].access.valid = tj_less(graph, column, tj_int(graph, 77));
  tj_kernel_derive(graph, &made->kernel);
  return made;
}

static uint32_t expected_flags(const char *target) {
  char name[32];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(target, ":"), target);
  const tj_processor *processor = tj_processor_by_name(name);
  ck_assert_ptr_nonnull(processor);
  return processor->mach;
}

static void compile_object(tj_job *job, void *data) {
  object_case *test = data;
  tj_graph *graph = tj_graph_create(job);
  compile_kernel(graph, &test->compiled, &make_busy(graph)->kernel, test->target, TJ_CODEGEN_OBJECT);
  tj_bytes bytes = test->compiled.bytes;
  ck_assert_uint_ge(bytes.size, 64);
  ck_assert(memcmp(bytes.data, "\177ELF", 4) == 0);
  ck_assert_uint_eq(tj_bytes_u16(bytes, ELF_TYPE), RELOCATABLE);
  ck_assert_uint_eq(tj_bytes_u16(bytes, ELF_MACHINE), EM_AMDGPU_NUMBER);
  ck_assert_uint_eq(tj_bytes_u32(bytes, ELF_FLAGS) & 0xff, expected_flags(test->target));
}

static void compile_for(const char *target, compiled *kept) {
  tj_job job;
  tj_job_init(&job, NULL);
  object_case test = {.target = target, .compiled = *kept};
  expect_success(&job, compile_object, &test);
  *kept = test.compiled;
  kept->bytes = (tj_bytes){0};
  tj_job_destroy(&job);
}

static const char *const processors[] = {
#define PROCESSOR(mach, name, ...) name,
#include "base/machine/processor.def"
};

/* Every processor that can be named can be compiled for. */
START_TEST(test_every_processor) {
  compiled kept = {0};
  for (size_t i = 0; i < sizeof processors / sizeof processors[0]; i++)
    compile_for(processors[i], &kept);
  dispose_compiled(&kept);
}
END_TEST

static void compile_pair(conversion *test, tj_dtype from, tj_dtype to) {
  tj_job job;
  tj_job_init(&job, NULL);
  test->from = from;
  test->to = to;
  expect_success(&job, compile_conversion, test);
  tj_job_destroy(&job);
}

/* Floats of 8 bits convert on every processor, by instructions where it has them for the form. */
START_TEST(test_small_floats) {
  for (size_t i = 0; i < sizeof processors / sizeof processors[0]; i++) {
    conversion test = {.target = processors[i]};
    compile_pair(&test, TJ_DTYPE_f32, TJ_DTYPE_f8e4m3fn);
    compile_pair(&test, TJ_DTYPE_f8e5m2, TJ_DTYPE_f16);
    compile_pair(&test, TJ_DTYPE_f8e4m3fnuz, TJ_DTYPE_f8e5m2fnuz);
    dispose_compiled(&test.compiled);
  }
}
END_TEST

static const struct {
  const char *target;
  uint32_t features; /* bits 8-9 of e_flags: xnack, 10-11: sramecc; 1 any, 2 off, 3 on */
} flag_rows[] = {
    {"gfx90a", 0x500}, {"gfx90a:xnack-:sramecc+", 0xe00}, {"gfx90a:xnack+", 0x700}, {"gfx942:sramecc-", 0x900},
    {"gfx1030", 0},    {"gfx900:xnack-", 0x200},
};

/* Target features reach the object's header. */
START_TEST(test_feature_flags) {
  tj_job job;
  tj_job_init(&job, NULL);
  object_case test = {.target = flag_rows[_i].target};
  expect_success(&job, compile_object, &test);
  ck_assert_uint_eq(tj_bytes_u32(test.compiled.bytes, ELF_FLAGS) & 0xf00, flag_rows[_i].features);
  dispose_compiled(&test.compiled);
  tj_job_destroy(&job);
}
END_TEST

/* --- the instructions that facts allow --- */

typedef struct {
  const char *what;
  void (*shape)(tj_graph *graph, hand_kernel *made);
  const char *present[3];
  const char *absent[6];
} assembly_row;

static void shape_divide(tj_graph *graph, hand_kernel *made) {
  const tj_node *index = made->kernel.index;
  const tj_node *row = tj_div(graph, index, tj_int(graph, 24)), *column = tj_mod(graph, index, tj_int(graph, 24));
  made->step[0].value = tj_add(graph, tj_mul(graph, column, tj_int(graph, 5000)), row);
}

static void shape_by_parameter(tj_graph *graph, hand_kernel *made) {
  const tj_node *divisor = add_parameter(graph, made, "d", tj_int(graph, 1), tj_int(graph, 4096));
  made->step[0].value = tj_mod(graph, made->kernel.index, divisor);
  tj_kernel_derive(graph, &made->kernel);
}

static void shape_wide(tj_graph *graph, hand_kernel *made) {
  made->step[0].value = tj_mul(graph, made->kernel.index, tj_int(graph, 1ll << 30));
  made->buffer[0].dtype = TJ_DTYPE_i64;
}

static void shape_uniform(tj_graph *graph, hand_kernel *made) {
  const tj_node *width = add_parameter(graph, made, "w", tj_int(graph, 1), tj_int(graph, 4096));
  made->step[0].value =
      tj_add(graph, made->kernel.index, tj_div(graph, tj_mul(graph, width, width), tj_int(graph, 7)));
  tj_kernel_derive(graph, &made->kernel);
}

static const assembly_row assemblies[] = {
    {"small offsets are added to a scalar base", shape_divide, {"global_store_dword v"}, {"off\n", "_u64", "v_addc"}},
    {"small divisions take 24-bit products",
     shape_divide,
     {"v_mad_i32_i24", "v_mul_hi_u32"},
     {"v_mul_lo_u32", "rcp"}},
    {"divisions by parameters take no reciprocals", shape_by_parameter, {"v_mul_hi_u32"}, {"rcp", "cvt"}},
    {"64 bits are computed where they are needed", shape_wide, {"global_store_dwordx2"}, {}},
    {"expressions of parameters are left to the launch", shape_uniform, {"s_load"}, {"v_mul", "mul_hi", "s_mul"}},
};

typedef struct {
  const assembly_row *row;
  compiled compiled;
} assembly_case;

static void check_assembly(tj_job *job, void *data) {
  assembly_case *test = data;
  tj_graph *graph = tj_graph_create(job);
  hand_kernel *made = make_kernel(graph, tj_int(graph, 100000), TJ_DTYPE_i32);
  test->row->shape(graph, made);
  compile_kernel(graph, &test->compiled, &made->kernel, "gfx942", TJ_CODEGEN_ASSEMBLY);
  const char *text = test->compiled.bytes.data;
  for (unsigned i = 0; i < 3 && test->row->present[i] != NULL; i++)
    ck_assert_msg(strstr(text, test->row->present[i]) != NULL, "%s: no %s", test->row->what, test->row->present[i]);
  for (unsigned i = 0; i < 6 && test->row->absent[i] != NULL; i++)
    ck_assert_msg(strstr(text, test->row->absent[i]) == NULL, "%s: %s", test->row->what, test->row->absent[i]);
}

START_TEST(test_assemblies) {
  tj_job job;
  tj_job_init(&job, NULL);
  assembly_case test = {.row = &assemblies[_i]};
  expect_success(&job, check_assembly, &test);
  dispose_compiled(&test.compiled);
  tj_job_destroy(&job);
}
END_TEST

/* --- threads --- */

static void compile_often(tj_job *job, void *data) {
  compiled *kept = data;
  for (int round = 0; round < 3; round++) {
    tj_graph *graph = tj_graph_create(job);
    hand_kernel *made = make_busy(graph);
    compile_kernel(graph, kept, &made->kernel, round % 2 ? "gfx942" : "gfx1100", TJ_CODEGEN_OBJECT);
    hand_kernel *simple = make_kernel(graph, tj_int(graph, 640), TJ_DTYPE_i32);
    tj_host_code *code = load_kernel(graph, kept, &simple->kernel);
    int32_t to[640] = {0};
    symbol_values none = {.count = 64};
    run_kernel(code, &simple->kernel, (void *[]){to}, &none);
    tj_host_code_unload(code);
    for (int i = 0; i < 640; i++)
      ck_assert_int_eq(to[i], i);
  }
}

static void *compile_in_thread(void *data) {
  (void)data;
  tj_job job;
  tj_job_init(&job, NULL);
  compiled kept = {0};
  expect_success(&job, compile_often, &kept);
  dispose_compiled(&kept);
  tj_job_destroy(&job);
  return NULL;
}

/* Jobs share nothing, so that threads compile, load and unload at once. */
START_TEST(test_threads) {
  enum { THREADS = 4 };
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&thread[i], NULL, compile_in_thread, NULL), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(thread[i], NULL);
}
END_TEST

#define ROWS(table) (int)(sizeof table / sizeof table[0])

int main(void) {
  Suite *suite = suite_create("codegen");
  TCase *cases = tcase_create("codegen");
  tcase_set_timeout(cases, 500);
  tcase_add_test(cases, test_reference);
  tcase_add_loop_test(cases, test_conversions, 0, TJ_DTYPE_COUNT);
  tcase_add_loop_test(cases, test_conversions_compile, 0, SIMULATED_COUNT);
  tcase_add_loop_test(cases, test_fills, 0, ROWS(fills));
  tcase_add_loop_test(cases, test_masks, 0, 8);
  tcase_add_test(cases, test_ranges);
  tcase_add_test(cases, test_remainder);
  tcase_add_test(cases, test_small_division);
  tcase_add_test(cases, test_every_processor);
  tcase_add_test(cases, test_small_floats);
  tcase_add_loop_test(cases, test_feature_flags, 0, ROWS(flag_rows));
  tcase_add_loop_test(cases, test_assemblies, 0, ROWS(assemblies));
  tcase_add_test(cases, test_threads);
  suite_add_tcase(suite, cases);
  return run_suite(suite);
}

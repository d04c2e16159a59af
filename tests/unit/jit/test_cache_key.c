/* SPDX-License-Identifier: MIT */
/* Keys of the cache: equal for what compiles to the same, different for everything else; and the digest. */
#include "jit/cache/cache_key.h"
#include "jit/kernel/kernel_bytes.h"
#include "lower/kernel/arithmetic.h"
#include "lower/plan/plan.h"
#include "tests/unit/support/kernel_support.h"

#include <stdio.h>

/* --- digests --- */

/* BLAKE2b of 16 bytes, as Python's hashlib gives it, of n bytes (7 i + n) mod 256. */
START_TEST(digests_are_those_of_blake2b) {
  static const struct {
    size_t size;
    const char *digest;
  } rows[] = {{0, "cae66941d9efbd404e4d88758ea67670"},   {1, "4a9e6f9b8d43f6ad008f8c291929dee2"},
              {3, "09e03a807474593d5cb98909e5d502cd"},   {64, "78840b3e810f99e41cff30d688b1826b"},
              {127, "4bdfe90a02a9650321e48e485acc8498"}, {128, "117ca2028a4b08156b399fd29adea911"},
              {129, "bf505197d50347255a4f8bc3a3c4e184"}, {255, "67aebb0a5aae8eab2b88ce6bd9b54eb4"},
              {256, "dbb08d79105462394550aa4d4e10133f"}, {257, "1aad2e646e9ff664e7294e2b30abef52"},
              {500, "9a78104e100d4fbe69ca2f240efe93a1"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    unsigned char bytes[512];
    char text[33];
    for (size_t k = 0; k < rows[i].size; k++)
      bytes[k] = (unsigned char)(7 * k + rows[i].size);
    tj_digesting parts = tj_digest_begin();
    tj_digest_add(&parts, (tj_bytes){bytes, rows[i].size / 3});
    tj_digest_add(&parts, (tj_bytes){bytes + rows[i].size / 3, rows[i].size - rows[i].size / 3});
    tj_digest digest = tj_digest_of((tj_bytes){bytes, rows[i].size});
    ck_assert(tj_digest_equal(digest, tj_digest_end(&parts)));
    for (size_t k = 0; k < TJ_DIGEST_BYTES; k++)
      snprintf(text + 2 * k, 3, "%02x", digest.byte[k]);
    ck_assert_str_eq(text, rows[i].digest);
  }
}
END_TEST

/* --- kernels --- */

/* A copy with every kind of field set to something: 0 <= n < count, the source masked. */
static hand_kernel *base_kernel(tj_graph *graph) {
  const tj_node *count = tj_symbol_create(graph, "C", TJ_SYMBOL_PARAMETER, tj_int(graph, 1), tj_int(graph, 4096), 2);
  hand_kernel *made = make_kernel(graph, count, TJ_DTYPE_f32);
  made->parameter[made->kernel.parameter_count++] = count;
  make_copy(graph, made, TJ_DTYPE_f32);
  made->step[0].access.valid = tj_less(graph, made->kernel.index, tj_int(graph, 100));
  return made;
}

static tj_bytes key_of(tj_graph *graph, const hand_kernel *made, const char *target) {
  return tj_cache_kernel_key(graph->job, "identity", tj_kernel_write(graph, &made->kernel),
                             tj_target_parse(graph->job, target));
}

static void set_name(tj_graph *graph, hand_kernel *made) {
  (void)graph;
  made->kernel.name = "l";
}
static void set_workgroup_size(tj_graph *graph, hand_kernel *made) {
  (void)graph;
  made->kernel.workgroup_size = 128;
}
static void set_fill(tj_graph *graph, hand_kernel *made) {
  (void)graph;
  made->kernel.fill = 1;
}
static void set_limit(tj_graph *graph, hand_kernel *made) {
  made->step[0].limit = tj_int(graph, 5);
}
/* dst = scale * src + bias */
static void scale_by(tj_graph *graph, hand_kernel *made, double scale, double bias, tj_dtype dtype) {
  tj_array_program *program = TJ_NEW(graph->job, tj_array_program);
  const tj_array *element = tj_array_buffer(graph, program, 1, "src", TJ_DTYPE_f32, NULL, 0);
  const tj_array *value = tj_array_scaled(graph, program, element, tj_array_number(graph, program, scale),
                                          tj_array_number(graph, program, bias), dtype);
  program->store = TJ_NEW(graph->job, tj_array_store);
  program->store[program->store_count++] = (tj_array_store){.value = value};
  const tj_array **elements = TJ_NEW(graph->job, const tj_array *);
  *elements = element;
  made->kernel.arithmetic = (tj_arithmetic){
      .when = TJ_COMPUTED_LOADING, .program = program, .element = elements, .count = 1, .parameter = made->parameter};
}
static void set_computed(tj_graph *graph, hand_kernel *made) {
  scale_by(graph, made, 2, 3, TJ_DTYPE_f32);
}
static void set_storing(tj_graph *graph, hand_kernel *made) {
  set_computed(graph, made);
  made->kernel.arithmetic.when = TJ_COMPUTED_STORING;
}
static void set_arithmetic(tj_graph *graph, hand_kernel *made) {
  scale_by(graph, made, 2, 3, TJ_DTYPE_f64);
}
static void set_scale(tj_graph *graph, hand_kernel *made) {
  scale_by(graph, made, 4, 3, TJ_DTYPE_f32);
}
static void set_bias(tj_graph *graph, hand_kernel *made) {
  scale_by(graph, made, 2, 5, TJ_DTYPE_f32);
}
static void set_slots(tj_graph *graph, hand_kernel *made) {
  (void)graph;
  made->kernel.slot_count = 2;
}
static void set_carried(tj_graph *graph, hand_kernel *made) {
  (void)graph;
  made->kernel.carried = TJ_DTYPE_f64;
}
static void set_lds(tj_graph *graph, hand_kernel *made) {
  (void)graph;
  made->kernel.lds_elements = 64;
}
static void set_dtype(tj_graph *graph, hand_kernel *made) {
  (void)graph;
  made->buffer[1].dtype = TJ_DTYPE_i32;
}
static void set_direction(tj_graph *graph, hand_kernel *made) {
  (void)graph;
  made->buffer[0].is_read = true;
}
static void set_buffer_name(tj_graph *graph, hand_kernel *made) {
  (void)graph;
  made->buffer[0].name = "to";
}
static void set_count(tj_graph *graph, hand_kernel *made) {
  made->kernel.count = tj_add(graph, made->kernel.count, tj_int(graph, 1));
}
static void set_derived(tj_graph *graph, hand_kernel *made) {
  tj_derived *derived = TJ_NEW(graph->job, tj_derived);
  *derived = (tj_derived){.kind = TJ_DERIVED_MAGIC31, .node = made->kernel.count};
  made->kernel.derived = derived;
  made->kernel.derived_count = 1;
}
static void set_derived_kind(tj_graph *graph, hand_kernel *made) {
  set_derived(graph, made);
  ((tj_derived *)made->kernel.derived)->kind = TJ_DERIVED_MAGIC32;
}
static void set_derived_half(tj_graph *graph, hand_kernel *made) {
  set_derived(graph, made);
  ((tj_derived *)made->kernel.derived)->is_upper = true;
}
static void set_offset(tj_graph *graph, hand_kernel *made) {
  made->step[1].access.offset = tj_sub(graph, tj_int(graph, 4095), made->kernel.index);
}
static void set_valid(tj_graph *graph, hand_kernel *made) {
  made->step[0].access.valid = tj_less(graph, made->kernel.index, tj_int(graph, 101));
}
static void set_buffer(tj_graph *graph, hand_kernel *made) {
  (void)graph;
  made->step[0].access.buffer = 0;
}
static void set_width(tj_graph *graph, hand_kernel *made) {
  (void)graph;
  made->step[0].width = 2;
}
static void set_slot(tj_graph *graph, hand_kernel *made) {
  (void)graph;
  made->step[0].slot = 1;
}
static void set_slot_step(tj_graph *graph, hand_kernel *made) {
  (void)graph;
  made->step[0].slot_step = 1;
}
static void set_kind(tj_graph *graph, hand_kernel *made) {
  (void)graph;
  made->step[1].kind = TJ_STEP_BARRIER;
}
static void set_value(tj_graph *graph, hand_kernel *made) {
  made->step[0].value = tj_int(graph, 3);
}
static void set_steps(tj_graph *graph, hand_kernel *made) {
  (void)graph;
  made->kernel.step_count = 1;
}
/* The linear coordinate becomes a work-item's number, by role alone. */
static void set_role(tj_graph *graph, hand_kernel *made) {
  (void)graph;
  made->kernel.item = made->kernel.index;
  made->kernel.index = NULL;
}
/* A parameter that differs in its facts alone, in the place of the first. */
static void replace_with(tj_graph *graph, hand_kernel *made, const tj_node *parameter) {
  hand_kernel *other = make_kernel(graph, parameter, TJ_DTYPE_f32);
  other->parameter[other->kernel.parameter_count++] = other->kernel.count;
  make_copy(graph, other, TJ_DTYPE_f32);
  other->step[0].access.valid = tj_less(graph, other->kernel.index, tj_int(graph, 100));
  *made = *other;
  made->kernel.buffer = made->buffer;
  made->kernel.parameter = made->parameter;
  made->kernel.step = made->step;
}
static void replace_parameter(tj_graph *graph, hand_kernel *made, int64_t high, int64_t multiple, const char *name) {
  replace_with(graph, made,
               tj_symbol_create(graph, name, TJ_SYMBOL_PARAMETER, tj_int(graph, 1), tj_int(graph, high), multiple));
}
static void set_nothing(tj_graph *graph, hand_kernel *made) {
  replace_parameter(graph, made, 4096, 2, "C");
}
static void set_range(tj_graph *graph, hand_kernel *made) {
  replace_parameter(graph, made, 4098, 2, "C");
}
static void set_multiple(tj_graph *graph, hand_kernel *made) {
  replace_parameter(graph, made, 4096, 4, "C");
}
static void set_divisor(tj_graph *graph, hand_kernel *made) {
  const tj_node *one = tj_int(graph, 1);
  const tj_node *of = tj_symbol_create(graph, "D", TJ_SYMBOL_PARAMETER, one, tj_int(graph, 9), 1);
  replace_with(graph, made,
               tj_symbol_declare(graph, (tj_symbol){.name = "C",
                                                    .kind = TJ_SYMBOL_PARAMETER,
                                                    .low = one,
                                                    .high = tj_int(graph, 4096),
                                                    .multiple = 2,
                                                    .divisor = of}));
}
static void set_choice(tj_graph *graph, hand_kernel *made) {
  static const int64_t few[] = {2, 4, 4096};
  replace_with(graph, made,
               tj_symbol_declare(graph, (tj_symbol){.name = "C",
                                                    .kind = TJ_SYMBOL_PARAMETER,
                                                    .low = tj_int(graph, 1),
                                                    .high = tj_int(graph, 4096),
                                                    .multiple = 2,
                                                    .choice = few,
                                                    .choice_count = 3}));
}
static void set_parameter_name(tj_graph *graph, hand_kernel *made) {
  replace_parameter(graph, made, 4096, 2, "D");
}

#define CHANGE(name)                                                                                                 \
  { #name, name }
static const struct {
  const char *name;
  void (*change)(tj_graph *graph, hand_kernel *made);
} changes[] = {
    CHANGE(set_name),        CHANGE(set_workgroup_size), CHANGE(set_fill),
    CHANGE(set_slots),       CHANGE(set_carried),        CHANGE(set_lds),
    CHANGE(set_dtype),       CHANGE(set_direction),      CHANGE(set_valid),
    CHANGE(set_choice),      CHANGE(set_count),          CHANGE(set_derived),
    CHANGE(set_offset),      CHANGE(set_derived_half),   CHANGE(set_derived_kind),
    CHANGE(set_buffer_name), CHANGE(set_buffer),         CHANGE(set_width),
    CHANGE(set_slot),        CHANGE(set_slot_step),      CHANGE(set_kind),
    CHANGE(set_value),       CHANGE(set_steps),          CHANGE(set_role),
    CHANGE(set_range),       CHANGE(set_multiple),       CHANGE(set_parameter_name),
    CHANGE(set_limit),       CHANGE(set_computed),       CHANGE(set_storing),
    CHANGE(set_arithmetic),  CHANGE(set_scale),          CHANGE(set_bias),
    CHANGE(set_divisor),
};

enum { CHANGE_COUNT = sizeof changes / sizeof *changes };

static bool same(tj_bytes a, tj_bytes b) {
  return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static void compare_changes(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job);
  tj_bytes key[CHANGE_COUNT + 2];
  key[CHANGE_COUNT] = key_of(graph, base_kernel(graph), "gfx942");
  key[CHANGE_COUNT + 1] = key_of(graph, base_kernel(graph), "gfx90a");
  for (size_t i = 0; i < CHANGE_COUNT; i++) {
    hand_kernel *made = base_kernel(graph);
    changes[i].change(graph, made);
    key[i] = key_of(graph, made, "gfx942");
    for (size_t k = 0; k < CHANGE_COUNT + 2; k++)
      ck_assert_msg(k == i || (k < CHANGE_COUNT && k > i) || !same(key[i], key[k]), "%s leaves the key as it is",
                    changes[i].name);
  }
  ck_assert(!same(key[CHANGE_COUNT], key[CHANGE_COUNT + 1]));
  hand_kernel *made = base_kernel(graph);
  ck_assert(same(key_of(graph, made, "gfx942"), key[CHANGE_COUNT]));
  set_nothing(graph, made);
  ck_assert(same(key_of(graph, made, "gfx942"), key[CHANGE_COUNT]));
}

/* The same kernel in a graph in which other nodes, and its own in another order, were made before. */
static void compare_orders(tj_job *job, void *data) {
  (void)data;
  tj_graph *first = tj_graph_create(job), *second = tj_graph_create(job);
  for (int64_t i = 101; i > 90; i--)
    tj_less(second, tj_int(second, 4096), tj_coordinate(second, "x", tj_int(second, i)));
  ck_assert(same(key_of(first, base_kernel(first), "host"), key_of(second, base_kernel(second), "host")));
}

/* An expression 90,000 deep takes no stack. */
static void write_deep(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job);
  hand_kernel *made = base_kernel(graph);
  const tj_node *deep = made->kernel.index;
  for (int64_t i = 0; i < 90000; i++)
    deep = tj_max(graph, tj_int(graph, i % 7), deep);
  made->step[0].value = deep;
  tj_bytes key = key_of(graph, made, "gfx942");
  ck_assert_uint_gt(key.size, 90000);
  ck_assert_uint_lt(key.size, 90000 * 30);
}

/* --- texts --- */

static void compare_texts(tj_job *job, void *data) {
  (void)data;
  const tj_target *target = tj_target_parse(job, "gfx942"), *other = tj_target_parse(job, "gfx942:xnack+");
  const tj_parameter_value fixed[] = {{"N", 64}, {"N", 65}, {"M", 64}};
  const tj_text_request requests[] = {
      {{"abc", 3}, NULL, 0, NULL, target},      {{"abd", 3}, NULL, 0, NULL, target},
      {{"ab", 2}, NULL, 0, NULL, target},       {{"abc", 3}, NULL, 0, "k", target},
      {{"abc", 3}, NULL, 0, "", target},        {{"abc", 3}, NULL, 0, NULL, other},
      {{"abc", 3}, fixed, 1, NULL, target},     {{"abc", 3}, fixed + 1, 1, NULL, target},
      {{"abc", 3}, fixed + 2, 1, NULL, target}, {{"abc", 3}, fixed, 2, NULL, target},
  };
  enum { REQUESTS = sizeof requests / sizeof *requests };
  for (size_t i = 0; i < REQUESTS; i++) {
    for (size_t k = 0; k < REQUESTS; k++)
      ck_assert_int_eq(same(tj_cache_text_key(job, "one", &requests[i]), tj_cache_text_key(job, "one", &requests[k])),
                       i == k);
    ck_assert(!same(tj_cache_text_key(job, "one", &requests[i]), tj_cache_text_key(job, "two", &requests[i])));
  }
}

START_TEST(the_compiler_knows_its_build) {
  char identity[TJ_COMPILER_IDENTITY_SIZE], again[TJ_COMPILER_IDENTITY_SIZE];
  tj_compiler_identity(identity);
  tj_compiler_identity(again);
  ck_assert_str_eq(identity, again);
  ck_assert_ptr_nonnull(strstr(identity, "tilejit " TJ_VERSION " "));
  ck_assert_ptr_nonnull(strstr(identity, "LLVM "));
  ck_assert_uint_gt(strspn(strstr(identity, TJ_VERSION) + sizeof TJ_VERSION, "0123456789abcdef"), 30);
}
END_TEST

#define BODY_TEST(name, body)                                                                                        \
  START_TEST(name) {                                                                                                 \
    tj_job job;                                                                                                      \
    tj_job_init(&job, NULL);                                                                                         \
    expect_success(&job, body, NULL);                                                                                \
    tj_job_destroy(&job);                                                                                            \
  }                                                                                                                  \
  END_TEST

BODY_TEST(every_field_of_a_kernel_is_in_its_key, compare_changes)
BODY_TEST(the_order_of_a_graph_is_not_in_the_key, compare_orders)
BODY_TEST(deep_expressions_have_keys, write_deep)
BODY_TEST(every_part_of_a_request_is_in_its_key, compare_texts)

int main(void) {
  const TTest *tests[] = {digests_are_those_of_blake2b,           every_field_of_a_kernel_is_in_its_key,
                          the_order_of_a_graph_is_not_in_the_key, deep_expressions_have_keys,
                          every_part_of_a_request_is_in_its_key,  the_compiler_knows_its_build};
  return run_suite(suite_of("cache_key", tests, sizeof tests / sizeof *tests));
}

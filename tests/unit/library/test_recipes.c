/* SPDX-License-Identifier: MIT */
/* Launches on memory that begins anywhere: offsets of buffers, addresses of others, and what tj_launch_prepare says
 * of them; on the host and on every simulated processor, through the public header alone. */
#include "tests/unit/support/library_support.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum { MOST_BYTES = 1 << 15, GUARD = 64, TEXT = 512 };

static const char *const devices[] = {
    "host",
#define SIMULATED(name, units) "sim:" name,
#include "base/machine/processor.def"
#undef SIMULATED
};

enum { DEVICES = sizeof devices / sizeof devices[0] };

/* A matrix of M rows of N elements that is transposed, from and to so many bytes behind where memory begins. */
typedef struct {
  const char *guards;
  const char *dtype;
  int64_t bytes, rows, columns;
  size_t source, destination;
} row;

static const row rows[] = {
    {"words, aligned", "b32", 4, 48, 64, 0, 256},
    {"words, each by itself", "b32", 4, 48, 64, 4, 12},
    {"words, odd extents", "b32", 4, 17, 35, 4, 20},
    {"bytes anywhere", "b8", 1, 64, 32, 3, 5},
    {"halves", "b16", 2, 32, 96, 6, 2},
    {"longs", "b64", 8, 24, 32, 8, 24},
    {"quads", "b128", 16, 16, 24, 16, 48},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

typedef struct {
  tj_context *context;
  tj_device *device;
  const row *row;
  char text[TEXT];
  unsigned char source[MOST_BYTES], result[MOST_BYTES];
} session;

static void expect(const session *s, tj_status status) {
  expect_ok(s->context, status, s->text);
}

static session *open_session(const char *device, const row *r) {
  session *s = calloc(1, sizeof *s);
  s->row = r;
  s->context = new_context(NULL);
  s->device = open_device(s->context, device);
  snprintf(s->text, TEXT,
           "param M in 1..4096, N in 1..4096\n# %s, %s\n"
           "kernel turned(src: %s @ (M,N):(N,1), dst: %s @ (M,N):(1,M)) = copy(src, dst)",
           r->guards, device, r->dtype, r->dtype);
  for (size_t i = 0; i < MOST_BYTES; i++)
    s->source[i] = (unsigned char)(i * 167 + i / 251);
  return s;
}

static void close_session(session *s) {
  tj_device_close(s->device);
  tj_context_destroy(s->context);
  free(s);
}

static size_t size_of(const row *r) {
  return (size_t)(r->rows * r->columns * r->bytes);
}

static tj_code *compile(const session *s, bool is_dynamic) {
  const tj_parameter_value fixed[] = {{"M", s->row->rows}, {"N", s->row->columns}};
  return compile_for(s->context, s->device, s->text, fixed, is_dynamic ? 0 : 2);
}

static tj_launch *new_launch(const session *s, const tj_code *code, bool is_dynamic) {
  tj_launch *launch;
  expect(s, tj_launch_create(s->context, code, &launch));
  if (is_dynamic) {
    expect(s, tj_launch_set_parameter(launch, "M", s->row->rows));
    expect(s, tj_launch_set_parameter(launch, "N", s->row->columns));
  }
  return launch;
}

static tj_buffer *new_buffer(const session *s, const void *data) {
  tj_buffer *buffer;
  expect(s, tj_buffer_create(s->context, s->device, MOST_BYTES, &buffer));
  expect(s, tj_buffer_write(buffer, 0, data, MOST_BYTES));
  return buffer;
}

static bool is_turned(const row *r, const unsigned char *from, const unsigned char *to) {
  size_t bytes = (size_t)r->bytes;
  for (int64_t i = 0; i < r->rows; i++) {
    for (int64_t j = 0; j < r->columns; j++) {
      if (memcmp(to + (size_t)(j * r->rows + i) * bytes, from + (size_t)(i * r->columns + j) * bytes, bytes) != 0)
        return false;
    }
  }
  return true;
}

/* That the result is the source turned, and everything around it as it was. */
static void expect_turned(const session *s) {
  const row *r = s->row;
  size_t others = 0;
  ck_assert_msg(is_turned(r, s->source + r->source, s->result + r->destination), "%s: wrong", s->text);
  for (size_t i = 0; i < MOST_BYTES; i++)
    others += (i < r->destination || i >= r->destination + size_of(r)) && s->result[i] != 0;
  ck_assert_msg(others == 0, "%s: %zu bytes around the destination were written", s->text, others);
}

/* --- recipes --- */

/* What the code object says of a kernel. */
static int64_t lds_bytes_of(const session *s, const tj_code *code, const char *symbol) {
  tj_blob text;
  size_t size;
  const void *bytes = tj_code_bytes(code, &size);
  expect(s, tj_code_disassemble(s->context, bytes, size, 1, &text));
  json_t *kernels = json_loads(text.data, 0, NULL);
  const json_t *lds = json_object_get(json_object_get(kernels, symbol), "lds_bytes");
  ck_assert_msg(json_is_integer(lds), "%s has no kernel %s", text.data, symbol);
  int64_t found = json_integer_value(lds);
  json_decref(kernels);
  tj_blob_release(s->context, &text);
  return found;
}

/* Words and halves of words are side by side; a half has its sign. */
static uint64_t value_in(const tj_recipe *recipe, const tj_kernarg *word) {
  uint64_t whole;
  int32_t half;
  memcpy(word->bytes == sizeof whole ? (void *)&whole : &half, (const char *)recipe->kernarg + word->offset,
         word->bytes);
  return word->bytes == sizeof whole ? whole : (uint64_t)half;
}

static void check_words(const tj_recipe *recipe) {
  size_t end = 0;
  for (size_t i = 0; i < recipe->word_count; i++) {
    const tj_kernarg *word = &recipe->word[i];
    ck_assert_uint_eq(word->offset, end);
    ck_assert(word->bytes == 8 || (word->bytes == 4 && word->kind == TJ_KERNARG_VALUE));
    end += word->bytes;
    ck_assert_uint_eq(value_in(recipe, word), word->value);
    ck_assert_int_eq(word->kind, i < 2 ? TJ_KERNARG_POINTER : TJ_KERNARG_VALUE);
    ck_assert_uint_gt(strlen(word->name), 0);
  }
  ck_assert_uint_eq(recipe->kernarg_bytes, end);
  ck_assert_str_eq(recipe->word[0].name, "src");
  ck_assert_str_eq(recipe->word[1].name, "dst");
}

static void check_recipe(const session *s, const tj_code *code, tj_launch *launch, bool is_dynamic) {
  const tj_recipe *recipe;
  expect(s, tj_launch_prepare(launch, &recipe));
  check_words(recipe);
  ck_assert(recipe->grid[1] == 1 && recipe->grid[2] == 1 && recipe->block[1] == 1 && recipe->block[2] == 1);
  ck_assert_uint_eq(recipe->grid[0] % recipe->block[0], 0);
  if (is_dynamic) {
    ck_assert_str_eq(recipe->word[2].name, "M");
    ck_assert_uint_eq(recipe->word[2].value, (uint64_t)s->row->rows);
    ck_assert_str_eq(recipe->word[3].name, "N");
  }
  if (strcmp(tj_code_target(code), "host") != 0)
    ck_assert_int_eq(recipe->lds_bytes, lds_bytes_of(s, code, recipe->symbol));
  for (size_t i = 0; i < 2; i++)
    ck_assert_uint_eq(recipe->word[i].alignment, (size_t)s->row->bytes);
}

/* --- offsets and addresses --- */

static void run_at_offsets(session *s, bool is_dynamic) {
  tj_code *code = compile(s, is_dynamic);
  tj_launch *launch = new_launch(s, code, is_dynamic);
  check_recipe(s, code, launch, is_dynamic);
  memset(s->result, 0, MOST_BYTES);
  tj_buffer *from = new_buffer(s, s->source), *to = new_buffer(s, s->result);
  expect(s, tj_launch_bind_buffer_at(launch, "src", from, s->row->source));
  expect(s, tj_launch_bind_buffer_at(launch, "dst", to, s->row->destination));
  expect(s, tj_launch_run(launch, s->device));
  expect(s, tj_buffer_read(to, 0, s->result, MOST_BYTES));
  expect_turned(s);
  tj_buffer_destroy(from);
  tj_buffer_destroy(to);
  tj_launch_destroy(launch);
  tj_code_destroy(code);
}

/* Each row on the host and on one simulated processor, the second on all. */
START_TEST(buffers_begin_anywhere) {
  int number = _i / DEVICES, device = _i % DEVICES;
  if (number != 1 && device != 0 && device != 1 + number % (DEVICES - 1))
    return;
  session *s = open_session(devices[device], &rows[number]);
  run_at_offsets(s, false);
  run_at_offsets(s, true);
  close_session(s);
}
END_TEST

/* The address of a buffer on its device, as recipes tell it. */
static uint64_t address_of(const session *s, const tj_code *code, tj_buffer *buffer, size_t offset) {
  const tj_recipe *recipe;
  tj_launch *launch = new_launch(s, code, true);
  expect(s, tj_launch_bind_buffer_at(launch, "src", buffer, offset));
  expect(s, tj_launch_prepare(launch, &recipe));
  ck_assert(recipe->word[0].is_bound && !recipe->word[1].is_bound);
  uint64_t address = recipe->word[0].value;
  tj_launch_destroy(launch);
  return address;
}

START_TEST(pointers_are_memory_of_others) {
  session *s = open_session(devices[_i], &rows[1]);
  tj_code *code = compile(s, true);
  tj_launch *launch = new_launch(s, code, true);
  tj_buffer *from = new_buffer(s, s->source), *to = new_buffer(s, s->result);
  uint64_t source = address_of(s, code, from, s->row->source), destination = address_of(s, code, to, 0);
  ck_assert_uint_eq(source % 256, s->row->source);
  expect(s, tj_launch_bind_pointer(launch, "src", (void *)(uintptr_t)source, size_of(s->row)));
  expect(s, tj_launch_bind_pointer(launch, "dst", (void *)(uintptr_t)(destination + s->row->destination),
                                   size_of(s->row)));
  tj_fence *fence;
  expect(s, tj_launch_submit(launch, s->device, &fence));
  expect(s, tj_fence_wait(fence, NULL));
  tj_fence_destroy(fence);
  expect(s, tj_buffer_read(to, 0, s->result, MOST_BYTES));
  expect_turned(s);
  tj_launch_destroy(launch);
  tj_buffer_destroy(from);
  tj_buffer_destroy(to);
  tj_code_destroy(code);
  close_session(s);
}
END_TEST

START_TEST(memory_of_the_process_is_the_hosts) {
  session *s = open_session("host", &rows[3]);
  tj_code *code = compile(s, true);
  tj_launch *launch = new_launch(s, code, true);
  expect(s, tj_launch_bind_pointer(launch, "src", s->source + s->row->source, size_of(s->row)));
  expect(s, tj_launch_bind_pointer(launch, "dst", s->result + s->row->destination, size_of(s->row)));
  expect(s, tj_launch_run(launch, s->device));
  expect_turned(s);
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  close_session(s);
}
END_TEST

/* Destinations that are not worth caching are stored by lines where they are aligned, and by another kernel where
 * they are not. */
START_TEST(large_destinations_begin_anywhere) {
  enum { EXTENT = 3072, LINE = 256 };
  const row large = {"large", "b32", 4, EXTENT, EXTENT, 0, 0};
  session *s = open_session("host", &large);
  tj_code *code = compile(s, true);
  size_t elements = (size_t)EXTENT * EXTENT;
  uint32_t *source = malloc(4 * elements);
  char *memory = aligned_alloc(LINE, 4 * elements + LINE);
  for (size_t i = 0; i < elements; i++)
    source[i] = (uint32_t)i * 2654435761u;
  for (size_t offset = 0; offset <= 12; offset += 4) {
    tj_launch *launch = new_launch(s, code, true);
    const tj_recipe *recipe;
    expect(s, tj_launch_bind_pointer(launch, "src", source, 4 * elements));
    expect(s, tj_launch_bind_pointer(launch, "dst", memory + offset, 4 * elements));
    expect(s, tj_launch_prepare(launch, &recipe));
    for (size_t i = 0; i < 2; i++)
      ck_assert_uint_eq(recipe->word[i].value % recipe->word[i].alignment, 0);
    expect(s, tj_launch_run(launch, s->device));
    ck_assert(is_turned(&large, (const unsigned char *)source, (const unsigned char *)memory + offset));
    tj_launch_destroy(launch);
  }
  free(source);
  free(memory);
  tj_code_destroy(code);
  close_session(s);
}
END_TEST

/* --- what does not fit --- */

START_TEST(bindings_are_checked) {
  session *s = open_session(devices[_i], &rows[1]);
  tj_code *code = compile(s, true);
  tj_launch *launch = new_launch(s, code, true);
  tj_buffer *buffer = new_buffer(s, s->source);
  const tj_recipe *recipe;
  size_t size = size_of(s->row);
  int32_t array[1];
  tj_context *c = s->context;
  expect_code(c, tj_launch_bind_buffer_at(launch, "src", buffer, MOST_BYTES + 1), 6002, "begins at byte 32769");
  expect_code(c, tj_launch_bind_buffer_at(launch, "src", buffer, MOST_BYTES - size + 1), 6002, "'src' needs");
  expect_code(c, tj_launch_bind_pointer(launch, "src", array, size - 1), 6002, "'src' needs");
  expect_code(c, tj_launch_bind_pointer(launch, "src", NULL, size), 6016, "the address of 'src' is none");
  expect_code(c, tj_launch_bind_pointer(launch, "x", array, size), 4001, "no argument 'x'");
  expect(s, tj_launch_bind_buffer_at(launch, "src", buffer, 2));
  expect_code(c, tj_launch_prepare(launch, &recipe), 6016, "'src', 0x");
  expect_code(c, tj_launch_prepare(launch, &recipe), 6016, "no multiple of 4 bytes");
  expect(s, tj_launch_bind_buffer_at(launch, "src", buffer, 0));
  expect(s, tj_launch_bind_buffer_at(launch, "dst", buffer, size - 4));
  expect_code(c, tj_launch_prepare(launch, &recipe), 4001, "share memory");
  expect_code(c, tj_launch_run(launch, s->device), 4001, "share memory");
  expect(s, tj_launch_bind_buffer_at(launch, "dst", buffer, 2));
  expect_code(c, tj_launch_run(launch, s->device), 4001, "share memory");
  expect(s, tj_launch_bind_pointer(launch, "dst", (void *)2, size));
  expect_code(c, tj_launch_run(launch, s->device), 6016, "'dst', 0x2, is no multiple of 4 bytes");
  expect(s, tj_launch_bind_buffer_at(launch, "dst", buffer, size));
  expect(s, tj_launch_run(launch, s->device));
  unsigned char *host = malloc(size);
  expect(s, tj_launch_bind(launch, "dst", host, size));
  expect_code(c, tj_launch_prepare(launch, &recipe), 4001, "'dst' of a launch that is prepared has host memory");
  free(host);
  tj_launch_destroy(launch);
  tj_buffer_destroy(buffer);
  tj_code_destroy(code);
  close_session(s);
}
END_TEST

/* Grids are those of packets: 2^32 work-items do not fit. */
START_TEST(grids_fit_packets) {
  static const char text[] = "param M in 1..1099511627776\nkernel k(dst: b8 @ M:1, src: b8 @ M:0) = copy(src, dst)";
  tj_context *context = new_context(NULL);
  tj_device *device = open_device(context, "sim:gfx942");
  tj_code *code = compile_for(context, device, text, NULL, 0);
  tj_launch *launch;
  const tj_recipe *recipe;
  expect_ok(context, tj_launch_create(context, code, &launch), text);
  expect_ok(context, tj_launch_set_parameter(launch, "M", 1), text);
  expect_ok(context, tj_launch_prepare(launch, &recipe), text);
  expect_ok(context, tj_launch_set_parameter(launch, "M", INT64_C(1) << 40), text);
  expect_code(context, tj_launch_prepare(launch, &recipe), 6008, "more than one dispatch holds");
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  tj_device_close(device);
  tj_context_destroy(context);
}
END_TEST

/* The device's scratch memory is no recipe's, which may run beside the device's launches. */
static void has_no_scratch_of_runs(tj_context *context, tj_launch *launch, tj_device *device) {
  enum { NUMBERS = 1 << 10 };
  _Alignas(256) float x[NUMBERS] = {0};
  float s = 1;
  const tj_recipe *recipe;
  expect_ok(context, tj_launch_bind(launch, "x", x, sizeof x), "x");
  expect_ok(context, tj_launch_bind(launch, "s", &s, sizeof s), "s");
  expect_ok(context, tj_launch_run(launch, device), "run");
  expect_ok(context, tj_launch_bind_pointer(launch, "x", x, sizeof x), "x");
  expect_ok(context, tj_launch_bind_pointer(launch, "s", &s, sizeof s), "s");
  expect_ok(context, tj_launch_prepare(launch, &recipe), "recipe");
  ck_assert(s == 0 && recipe->word[2].value == 0);
}

/* Few long rows have work for every compute unit of a large GPU, and two kernels of one argument block. */
START_TEST(long_rows_are_split) {
  static const char text[] = "param N in 1..1073741824\n"
                             "kernel k(x: f32 @ (1, N):(N, 1), s: f32 @ (1, 1):(1, 1)) = { s = sum(x, 1) }";
  enum { COMPUTE_UNITS = 304 };
  tj_context *context = new_context(NULL);
  tj_device *device = open_device(context, "sim:gfx942");
  tj_code *code = compile_for(context, device, text, NULL, 0);
  tj_launch *launch;
  const tj_recipe *recipe;
  expect_ok(context, tj_launch_create(context, code, &launch), text);
  expect_ok(context, tj_launch_set_parameter(launch, "N", 1 << 24), text);
  expect_ok(context, tj_launch_prepare(launch, &recipe), text);
  ck_assert_uint_ge(recipe->grid[0] / recipe->block[0], COMPUTE_UNITS);
  ck_assert_uint_ge(recipe->scratch_bytes, 4 * recipe->grid[0] / recipe->block[0]);
  ck_assert_int_eq(recipe->word[2].kind, TJ_KERNARG_SCRATCH);
  ck_assert(!recipe->word[2].is_bound);
  ck_assert_ptr_nonnull(recipe->next);
  ck_assert_uint_eq(recipe->next->grid[0], recipe->next->block[0]);
  ck_assert_ptr_eq(recipe->next->kernarg, recipe->kernarg);
  ck_assert_ptr_null(recipe->next->next);
  expect_ok(context, tj_launch_set_parameter(launch, "N", 1 << 10), text);
  expect_ok(context, tj_launch_prepare(launch, &recipe), text);
  ck_assert_ptr_null(recipe->next);
  has_no_scratch_of_runs(context, launch, device);
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  tj_device_close(device);
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("recipes");
  TCase *tcase = tcase_create("recipes");
  tcase_set_timeout(tcase, SUITE_SECONDS);
  tcase_add_loop_test(tcase, buffers_begin_anywhere, 0, ROWS * DEVICES);
  tcase_add_loop_test(tcase, pointers_are_memory_of_others, 0, 3);
  tcase_add_test(tcase, memory_of_the_process_is_the_hosts);
  tcase_add_test(tcase, large_destinations_begin_anywhere);
  tcase_add_loop_test(tcase, bindings_are_checked, 0, 3);
  tcase_add_test(tcase, grids_fit_packets);
  tcase_add_test(tcase, long_rows_are_split);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}

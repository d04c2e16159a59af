/* SPDX-License-Identifier: MIT */
/* Launches that are not waited for: buffers, fences, their order, failures, and devices that close meanwhile; on the
 * host and on the simulator, through the public header alone. */
#include "tests/unit/support/library_support.h"

#include <stdbool.h>
#include <stdio.h>

enum { ROWS = 24, COLUMNS = 40, ELEMENTS = ROWS * COLUMNS, BYTES = ELEMENTS * 4, IN_FLIGHT = 16 };
enum { LONG_ROWS = 512, LONG_COLUMNS = 512, LONG_BYTES = LONG_ROWS * LONG_COLUMNS * 4 };

static const char program_text[] =
    "param M in 1..512, N in 1..512\n"
    "kernel transposed(src: i32 @ (M,N):(N,1), dst: i32 @ (M,N):(1,M)) = copy(src, dst)";

static const char *const devices[] = {"host", "sim:gfx942", "sim:gfx1100"};

enum { DEVICES = sizeof devices / sizeof devices[0] };

/* --- what every test needs --- */

typedef struct {
  tj_context *context;
  tj_device *device;
  tj_code *code;
} session;

static void expect(const session *s, tj_status status) {
  expect_ok(s->context, status, program_text);
}

static session open_session(const char *device, const tj_allocator *allocator) {
  session s = {.context = new_context(allocator)};
  s.device = open_device(s.context, device);
  s.code = compile_for(s.context, s.device, program_text, NULL, 0);
  return s;
}

static void close_session(session *s) {
  tj_code_destroy(s->code);
  tj_device_close(s->device);
  tj_context_destroy(s->context);
}

static tj_buffer *new_buffer(const session *s, size_t bytes) {
  tj_buffer *buffer;
  expect(s, tj_buffer_create(s->context, s->device, bytes, &buffer));
  ck_assert_uint_eq(tj_buffer_size(buffer), bytes);
  return buffer;
}

static tj_buffer *new_matrix(const session *s, int32_t first) {
  int32_t data[ELEMENTS];
  for (int i = 0; i < ELEMENTS; i++)
    data[i] = first + i;
  tj_buffer *buffer = new_buffer(s, BYTES);
  expect(s, tj_buffer_write(buffer, 0, data, BYTES));
  return buffer;
}

static tj_launch *new_launch(const session *s, int64_t rows, int64_t columns) {
  tj_launch *launch;
  expect(s, tj_launch_create(s->context, s->code, &launch));
  expect(s, tj_launch_set_parameter(launch, "M", rows));
  expect(s, tj_launch_set_parameter(launch, "N", columns));
  return launch;
}

/* A transposition of `rows` rows from one buffer to the other, in flight. */
static tj_fence *submit(const session *s, int64_t rows, tj_buffer *from, tj_buffer *to) {
  tj_launch *launch = new_launch(s, rows, ELEMENTS / rows);
  tj_fence *fence;
  expect(s, tj_launch_bind_buffer(launch, "src", from));
  expect(s, tj_launch_bind_buffer(launch, "dst", to));
  expect(s, tj_launch_submit(launch, s->device, &fence));
  tj_launch_destroy(launch);
  return fence;
}

/* That the buffer holds ROWS rows of first, first + 1, …, or their columns. */
static void expect_matrix(const session *s, tj_buffer *buffer, int32_t first, bool is_transposed) {
  int32_t data[ELEMENTS];
  expect(s, tj_buffer_read(buffer, 0, data, BYTES));
  for (int i = 0; i < ELEMENTS; i++) {
    int expected = is_transposed ? i % ROWS * COLUMNS + i / ROWS : i;
    ck_assert_msg(data[i] == first + expected, "element %d is %d, not %d", i, data[i], first + expected);
  }
}

/* --- targets --- */

/* Code, the agent of the simulator that it is to run on, and why it does not; NULL: it does. */
static const struct {
  const char *code, *agent, *reason;
} target_rows[] = {
    {"gfx942", "gfx942:sramecc+:xnack-", NULL},
    {"gfx942", "gfx942:sramecc-:xnack+", NULL},
    {"gfx942:xnack-:sramecc+", "gfx942:sramecc+:xnack-", NULL},
    {"gfx942:xnack+", "gfx942:xnack+", NULL},
    {"gfx1100", "gfx1100", NULL},
    {"gfx942:xnack+", "gfx942:xnack-", "the code needs xnack+, the device has xnack-"},
    {"gfx942:sramecc-", "gfx942", "the code needs sramecc-, the device has sramecc+"},
    {"gfx90a", "gfx942", "the code is for gfx90a, the device is gfx942"},
    {"host", "gfx942", "the code is for host, the device is gfx942"},
};

START_TEST(code_runs_where_its_target_id_allows) {
  setenv("TILEJIT_HSASIM_AGENTS", target_rows[_i].agent, 1);
  char processor[16], name[32];
  snprintf(processor, sizeof processor, "%s", target_rows[_i].agent);
  processor[strcspn(processor, ":")] = '\0';
  snprintf(name, sizeof name, "sim:%s", processor);
  session s = {.context = new_context(NULL)};
  s.device = open_device(s.context, name);
  tj_program *program = new_program(s.context, program_text, NULL, 0);
  tj_compile_options options = {.target = target_rows[_i].code};
  expect(&s, tj_code_compile(program, &options, &s.code));
  tj_program_destroy(program);
  tj_buffer *from = new_matrix(&s, 3), *to = new_buffer(&s, BYTES);
  if (target_rows[_i].reason == NULL) {
    tj_fence *fence = submit(&s, ROWS, from, to);
    expect(&s, tj_fence_wait(fence, NULL));
    tj_fence_destroy(fence);
    expect_matrix(&s, to, 3, true);
  } else {
    tj_launch *launch = new_launch(&s, ROWS, COLUMNS);
    expect(&s, tj_launch_bind_buffer(launch, "src", from));
    expect(&s, tj_launch_bind_buffer(launch, "dst", to));
    expect_code(s.context, tj_launch_run(launch, s.device), 6009, target_rows[_i].reason);
    tj_launch_destroy(launch);
  }
  tj_buffer_destroy(from);
  tj_buffer_destroy(to);
  close_session(&s);
  unsetenv("TILEJIT_HSASIM_AGENTS");
}
END_TEST

/* --- buffers --- */

START_TEST(buffers_are_memory) {
  session s = open_session(devices[_i], NULL);
  tj_buffer *buffer = new_matrix(&s, 5);
  int32_t value = 77, data[3];
  expect(&s, tj_buffer_write(buffer, 8, &value, 4));
  expect(&s, tj_buffer_read(buffer, 4, data, sizeof data));
  ck_assert(data[0] == 6 && data[1] == 77 && data[2] == 8);
  expect_code(s.context, tj_buffer_read(buffer, BYTES - 4, data, 8), 6002, "buffer");
  expect_code(s.context, tj_buffer_write(buffer, SIZE_MAX, data, 8), 6002, "buffer");
  expect(&s, tj_buffer_write(buffer, BYTES, NULL, 0));
  tj_buffer *none = new_buffer(&s, 0), *huge;
  expect_code(s.context, tj_buffer_create(s.context, s.device, SIZE_MAX / 2, &huge), 6010, "no memory");
  tj_buffer_destroy(none);
  tj_buffer_destroy(NULL);
  tj_buffer_destroy(buffer);
  close_session(&s);
}
END_TEST

START_TEST(runs_take_buffers_and_arrays) {
  session s = open_session(devices[_i], NULL);
  int32_t source[ELEMENTS], result[ELEMENTS] = {0};
  for (int i = 0; i < ELEMENTS; i++)
    source[i] = 3 + i;
  tj_buffer *middle = new_buffer(&s, BYTES);
  tj_launch *launch = new_launch(&s, ROWS, COLUMNS), *back = new_launch(&s, COLUMNS, ROWS);
  expect(&s, tj_launch_bind(launch, "src", source, BYTES));
  expect(&s, tj_launch_bind_buffer(launch, "dst", middle));
  expect(&s, tj_launch_run(launch, s.device));
  expect_matrix(&s, middle, 3, true);
  expect(&s, tj_launch_bind_buffer(back, "src", middle));
  expect(&s, tj_launch_bind(back, "dst", result, BYTES));
  expect(&s, tj_launch_run(back, s.device));
  ck_assert_mem_eq(result, source, BYTES);
  tj_launch_destroy(launch);
  tj_launch_destroy(back);
  tj_buffer_destroy(middle);
  close_session(&s);
}
END_TEST

/* --- order --- */

START_TEST(launches_chain) {
  session s = open_session(devices[_i], NULL);
  tj_buffer *a = new_matrix(&s, 100), *b = new_buffer(&s, BYTES), *c = new_buffer(&s, BYTES);
  tj_fence *fence[] = {submit(&s, ROWS, a, b), submit(&s, COLUMNS, b, c), submit(&s, ROWS, c, a)};
  uint64_t nanoseconds = 0;
  expect(&s, tj_fence_wait(fence[2], &nanoseconds));
  ck_assert_uint_gt(nanoseconds, 0);
  for (int i = 0; i < 3; i++) {
    ck_assert_int_eq(tj_fence_is_done(fence[i]), 1);
    tj_fence_destroy(fence[i]);
  }
  expect_matrix(&s, b, 100, true);
  expect_matrix(&s, c, 100, false);
  expect_matrix(&s, a, 100, true);
  tj_buffer_destroy(a);
  tj_buffer_destroy(b);
  tj_buffer_destroy(c);
  close_session(&s);
}
END_TEST

/* Back and forth between two buffers: any launch out of turn would leave something else. */
START_TEST(fences_are_asked_in_any_order) {
  session s = open_session(devices[_i], NULL);
  tj_buffer *buffer[] = {new_matrix(&s, 9), new_buffer(&s, BYTES)};
  tj_fence *fence[IN_FLIGHT];
  for (int i = 0; i < IN_FLIGHT; i++)
    fence[i] = submit(&s, i % 2 == 0 ? ROWS : COLUMNS, buffer[i % 2], buffer[1 - i % 2]);
  for (int i = 0; i < IN_FLIGHT; i++)
    expect(&s, tj_fence_wait(fence[i * 7 % IN_FLIGHT], NULL));
  expect(&s, tj_fence_wait(fence[3], NULL));
  for (int i = 0; i < IN_FLIGHT; i++)
    tj_fence_destroy(fence[i * 5 % IN_FLIGHT]);
  expect_matrix(&s, buffer[0], 9, false);
  expect_matrix(&s, buffer[1], 9, true);
  tj_buffer_destroy(buffer[0]);
  tj_buffer_destroy(buffer[1]);
  close_session(&s);
}
END_TEST

START_TEST(fences_become_done_by_themselves) {
  session s = open_session(devices[_i], NULL);
  tj_buffer *a = new_matrix(&s, 1), *b = new_buffer(&s, BYTES);
  tj_fence *fence = submit(&s, ROWS, a, b);
  while (tj_fence_is_done(fence) == 0) {
  }
  tj_fence_destroy(fence);
  expect_matrix(&s, b, 1, true);
  tj_buffer_destroy(a);
  tj_buffer_destroy(b);
  close_session(&s);
}
END_TEST

/* --- failures --- */

START_TEST(launches_refuse_what_does_not_fit) {
  session s = open_session(devices[_i], NULL), other = open_session(devices[_i], NULL);
  tj_buffer *a = new_matrix(&s, 0), *small = new_buffer(&s, BYTES - 1), *foreign = new_matrix(&other, 0);
  int32_t array[ELEMENTS];
  tj_fence *fence = NULL;
  tj_launch *launch = new_launch(&s, ROWS, COLUMNS);
  expect(&s, tj_launch_bind_buffer(launch, "src", a));
  expect_code(s.context, tj_launch_bind_buffer(launch, "dst", small), 6002,
              "'dst' needs 3840 bytes, the array has 3839");
  expect_code(s.context, tj_launch_submit(launch, s.device, &fence), 6002, "'dst'");
  expect_code(s.context, tj_launch_bind_buffer(launch, "x", a), 4001, "no argument 'x'");
  expect(&s, tj_launch_bind_buffer(launch, "dst", a));
  expect_code(s.context, tj_launch_submit(launch, s.device, &fence), 4001, "share memory");
  expect_code(s.context, tj_launch_run(launch, s.device), 4001, "share memory");
  expect(&s, tj_launch_bind_buffer(launch, "dst", foreign));
  expect_code(s.context, tj_launch_submit(launch, s.device, &fence), 4001, "of another device");
  expect(&s, tj_launch_bind(launch, "dst", array, sizeof array));
  expect_code(s.context, tj_launch_submit(launch, s.device, &fence), 4001,
              "'dst' of a launch that is submitted has no buffer");
  ck_assert_ptr_null(fence);
  expect(&s, tj_launch_run(launch, s.device));
  ck_assert_int_eq(array[1], COLUMNS);
  expect_code(s.context, tj_launch_bind(launch, "dst", NULL, BYTES), 6016, "the address of 'dst' is none");
  expect_code(s.context, tj_launch_bind(launch, NULL, array, BYTES), 4001, "no argument ''");
  expect_code(s.context, tj_launch_set_parameter(launch, NULL, 1), 2026, "no parameter ''");
  expect(&s, tj_launch_bind(launch, "src", array, BYTES));
  expect(&s, tj_launch_bind(launch, "dst", array, BYTES));
  expect_code(s.context, tj_launch_run(launch, s.device), 4001, "share memory");
  expect(&s, tj_launch_bind_buffer(launch, "src", a));
  tj_launch_destroy(launch);
  tj_buffer_destroy(a);
  tj_buffer_destroy(small);
  tj_buffer_destroy(foreign);
  close_session(&other);
  close_session(&s);
}
END_TEST

/* The simulator stops kernels that execute more instructions than they may. */
static void forbid_instructions(bool is_forbidden) {
  if (is_forbidden)
    setenv("TILEJIT_HSASIM_BUDGET", "2", 1);
  else
    unsetenv("TILEJIT_HSASIM_BUDGET");
}

START_TEST(fences_tell_failures) {
  session s = open_session("sim:gfx942", NULL);
  tj_buffer *a = new_matrix(&s, 0), *b = new_buffer(&s, BYTES);
  tj_fence *good = submit(&s, ROWS, a, b);
  expect(&s, tj_fence_wait(good, NULL));
  forbid_instructions(true);
  tj_fence *bad = submit(&s, ROWS, a, b);
  expect_code(s.context, tj_fence_wait(bad, NULL), 6008, "infinite loop");
  forbid_instructions(false);
  expect_code(s.context, tj_fence_wait(bad, NULL), 6008, "kernel transposed");
  ck_assert_int_eq(tj_fence_is_done(bad), 1);
  expect(&s, tj_fence_wait(good, NULL));
  tj_fence *next = submit(&s, ROWS, a, b);
  expect(&s, tj_fence_wait(next, NULL));
  expect_matrix(&s, b, 0, true);
  tj_fence_destroy(bad);
  tj_fence_destroy(good);
  tj_fence_destroy(next);
  tj_buffer_destroy(a);
  tj_buffer_destroy(b);
  close_session(&s);
}
END_TEST

START_TEST(runs_tell_only_their_own_failures) {
  session s = open_session("sim:gfx1100", NULL);
  tj_buffer *a = new_matrix(&s, 0), *b = new_buffer(&s, BYTES);
  forbid_instructions(true);
  tj_fence *bad = submit(&s, ROWS, a, b);
  while (tj_fence_is_done(bad) == 0) {
  }
  forbid_instructions(false);
  expect_matrix(&s, a, 0, false);
  tj_launch *launch = new_launch(&s, ROWS, COLUMNS);
  expect(&s, tj_launch_bind_buffer(launch, "src", a));
  expect(&s, tj_launch_bind_buffer(launch, "dst", b));
  expect(&s, tj_launch_run(launch, s.device));
  expect_code(s.context, tj_fence_wait(bad, NULL), 6008, "infinite loop");
  expect_matrix(&s, b, 0, true);
  tj_launch_destroy(launch);
  tj_fence_destroy(bad);
  tj_buffer_destroy(a);
  tj_buffer_destroy(b);
  close_session(&s);
}
END_TEST

/* --- what launches share --- */

/* The blocks that a device holds for what it has loaded are there once, however many launches are in flight. */
START_TEST(launches_of_one_code_share_what_is_loaded) {
  meter m = {.left = -1};
  session s = open_session(devices[_i], &(tj_allocator){metered_allocate, metered_release, &m});
  tj_buffer *a = new_matrix(&s, 2), *b = new_buffer(&s, BYTES);
  long before = m.live;
  tj_fence *fence[IN_FLIGHT] = {submit(&s, ROWS, a, b)};
  long loaded = m.live - before - 1;
  ck_assert_int_gt(loaded, 0);
  for (int i = 1; i < IN_FLIGHT; i++)
    fence[i] = submit(&s, ROWS, a, b);
  ck_assert_int_eq(m.live, before + loaded + IN_FLIGHT);
  for (int i = 0; i < IN_FLIGHT; i++)
    tj_fence_destroy(fence[i]);
  ck_assert_int_eq(m.live, before + loaded);
  expect_matrix(&s, b, 2, true);
  tj_code *code = s.code;
  s.code = NULL;
  tj_context_set_cache(s.context, NULL);
  long with_code = m.live;
  tj_code_destroy(code);
  ck_assert_int_lt(m.live, with_code - loaded);
  tj_buffer_destroy(a);
  tj_buffer_destroy(b);
  close_session(&s);
  ck_assert_int_eq(m.live, 0);
}
END_TEST

/* A launch of ROWS rows that is over at once, and one in flight behind it that takes long. */
static tj_fence *submit_long(const session *s, tj_buffer *from, tj_buffer *to) {
  tj_launch *launch = new_launch(s, LONG_ROWS, LONG_COLUMNS);
  tj_fence *fence;
  expect(s, tj_launch_bind_buffer(launch, "src", from));
  expect(s, tj_launch_bind_buffer(launch, "dst", to));
  expect(s, tj_launch_submit(launch, s->device, &fence));
  tj_launch_destroy(launch);
  return fence;
}

/* Whether a fence is destroyed while the launch behind its own is still in flight. */
static bool outruns(const session *s, tj_buffer *small[2], tj_buffer *large[2]) {
  tj_fence *first = submit(s, ROWS, small[0], small[1]), *second = submit_long(s, large[0], large[1]);
  tj_fence_destroy(first);
  bool is_running = tj_fence_is_done(second) == 0;
  expect(s, tj_fence_wait(second, NULL));
  tj_fence_destroy(second);
  return is_running;
}

/* The machine may be so busy that the later launch ends meanwhile, but not always. */
START_TEST(fences_wait_for_their_own_launch_only) {
  session s = open_session("sim:gfx942", NULL);
  tj_buffer *small[] = {new_matrix(&s, 1), new_buffer(&s, BYTES)};
  tj_buffer *large[] = {new_buffer(&s, LONG_BYTES), new_buffer(&s, LONG_BYTES)};
  int attempts = 1;
  while (!outruns(&s, small, large))
    ck_assert_int_lt(attempts++, 50);
  expect_matrix(&s, small[1], 1, true);
  for (int i = 0; i < 2; i++) {
    tj_buffer_destroy(small[i]);
    tj_buffer_destroy(large[i]);
  }
  close_session(&s);
}
END_TEST

/* --- closing --- */

/* Codes that go while others of the same device are in flight. */
START_TEST(codes_go_while_others_run) {
  session s = open_session(devices[_i], NULL);
  tj_buffer *a = new_matrix(&s, 6), *b = new_buffer(&s, BYTES);
  for (int i = 0; i < IN_FLIGHT; i++) {
    tj_parameter_value fixed[] = {{"M", ROWS}, {"N", COLUMNS}};
    session own = {s.context, s.device, compile_for(s.context, s.device, program_text, fixed, i % 2 == 0 ? 2 : 1)};
    tj_launch *launch;
    tj_fence *fixed_fence, *fence = submit(&s, ROWS, a, b);
    expect(&s, tj_launch_create(own.context, own.code, &launch));
    if (i % 2 != 0)
      expect(&s, tj_launch_set_parameter(launch, "N", COLUMNS));
    expect(&s, tj_launch_bind_buffer(launch, "src", a));
    expect(&s, tj_launch_bind_buffer(launch, "dst", b));
    expect(&s, tj_launch_submit(launch, own.device, &fixed_fence));
    tj_launch_destroy(launch);
    tj_code_destroy(own.code);
    tj_fence_destroy(fixed_fence);
    tj_fence_destroy(fence);
  }
  expect_matrix(&s, b, 6, true);
  tj_buffer_destroy(a);
  tj_buffer_destroy(b);
  close_session(&s);
}
END_TEST

START_TEST(devices_close_with_work_in_flight) {
  session s = open_session(devices[_i], NULL);
  tj_buffer *a = new_matrix(&s, 4), *b = new_buffer(&s, BYTES);
  tj_fence *fence[IN_FLIGHT];
  for (int i = 0; i < IN_FLIGHT; i++)
    fence[i] = submit(&s, ROWS, a, b);
  tj_code_destroy(s.code);
  tj_device_close(s.device);
  for (int i = 0; i < IN_FLIGHT; i++) {
    ck_assert_int_eq(tj_fence_is_done(fence[i]), 1);
    expect(&s, tj_fence_wait(fence[i], NULL));
    tj_fence_destroy(fence[i]);
  }
  tj_buffer_destroy(a);
  expect_matrix(&s, b, 4, true);
  tj_buffer_destroy(b);
  tj_context_destroy(s.context);
}
END_TEST

/* --- memory that runs out --- */

/* A launch in flight, as far as memory goes. */
static tj_status use_memory(const session *s) {
  tj_buffer *a = NULL, *b = NULL;
  tj_launch *launch = NULL;
  tj_fence *fence = NULL;
  tj_status status = tj_buffer_create(s->context, s->device, BYTES, &a);
  if (status == TJ_OK)
    status = tj_buffer_create(s->context, s->device, BYTES, &b);
  if (status == TJ_OK)
    status = tj_launch_create(s->context, s->code, &launch);
  if (status == TJ_OK)
    status = tj_launch_set_parameter(launch, "M", ROWS);
  if (status == TJ_OK)
    status = tj_launch_set_parameter(launch, "N", COLUMNS);
  if (status == TJ_OK)
    status = tj_launch_bind_buffer(launch, "src", a);
  if (status == TJ_OK)
    status = tj_launch_bind_buffer(launch, "dst", b);
  if (status == TJ_OK)
    status = tj_launch_submit(launch, s->device, &fence);
  if (status == TJ_OK)
    status = tj_fence_wait(fence, NULL);
  tj_fence_destroy(fence);
  tj_launch_destroy(launch);
  tj_buffer_destroy(a);
  tj_buffer_destroy(b);
  return status;
}

/* What the first launch has loaded stays, and no more. */
START_TEST(every_allocation_can_fail) {
  meter m = {.left = -1};
  session s = open_session(devices[_i], &(tj_allocator){metered_allocate, metered_release, &m});
  long refused = 0;
  for (tj_status status = TJ_ERROR_MEMORY; status != TJ_OK; refused++) {
    m.left = refused;
    status = use_memory(&s);
    m.left = -1;
    unsigned code = status == TJ_OK ? 0 : tj_context_diagnostic(s.context)->code;
    ck_assert_msg(code == 0 || code == 7001 || code == 6010, "TJ%04u", code);
    ck_assert_int_lt(refused, 1000);
  }
  ck_assert_int_gt(refused, 5);
  long live = m.live;
  expect(&s, use_memory(&s));
  ck_assert_int_eq(m.live, live);
  close_session(&s);
  ck_assert_int_eq(m.live, 0);
}
END_TEST

/* --- few long rows --- */

enum { LONG = 300000, SPLIT_LAUNCHES = 4 };

static void fill(float numbers[], unsigned seed) {
  for (unsigned i = 0; i < LONG; i++)
    numbers[i] = (float)((i * 2654435761u + seed) >> 16) / 1024.0f - 32.0f;
}

static float sum_of(tj_context *context, tj_launch *launch, tj_device *device, float numbers[]) {
  float sum = 0;
  expect_ok(context, tj_launch_bind(launch, "x", numbers, LONG * sizeof(float)), "x");
  expect_ok(context, tj_launch_bind(launch, "s", &sum, sizeof sum), "s");
  expect_ok(context, tj_launch_run(launch, device), "run");
  return sum;
}

/* Launches of several kernels that are in flight together: each has the sum that it has by itself, to the last bit.
 */
START_TEST(split_launches_are_in_flight_together) {
  static const char *const names[] = {"host", "sim:gfx942"};
  static const char text[] = "kernel k(x: f32 @ (1, 300000):(300000, 1), s: f32 @ (1, 1):(1, 1)) = { s = sum(x) }";
  tj_context *context = new_context(NULL);
  tj_device *device = open_device(context, names[_i]);
  tj_code *code = compile_for(context, device, text, NULL, 0);
  float *numbers = malloc(LONG * sizeof(float)), wanted[SPLIT_LAUNCHES], found[SPLIT_LAUNCHES];
  tj_launch *launch[SPLIT_LAUNCHES];
  tj_buffer *x[SPLIT_LAUNCHES], *s[SPLIT_LAUNCHES];
  tj_fence *fence[SPLIT_LAUNCHES];
  for (unsigned i = 0; i < SPLIT_LAUNCHES; i++) {
    expect_ok(context, tj_launch_create(context, code, &launch[i]), text);
    fill(numbers, i << 20);
    wanted[i] = sum_of(context, launch[i], device, numbers);
    expect_ok(context, tj_buffer_create(context, device, LONG * sizeof(float), &x[i]), text);
    expect_ok(context, tj_buffer_create(context, device, sizeof(float), &s[i]), text);
    expect_ok(context, tj_buffer_write(x[i], 0, numbers, LONG * sizeof(float)), text);
    expect_ok(context, tj_launch_bind_buffer(launch[i], "x", x[i]), text);
    expect_ok(context, tj_launch_bind_buffer(launch[i], "s", s[i]), text);
  }
  for (unsigned i = 0; i < SPLIT_LAUNCHES; i++)
    expect_ok(context, tj_launch_submit(launch[i], device, &fence[i]), text);
  for (unsigned i = SPLIT_LAUNCHES; i-- > 0;) {
    expect_ok(context, tj_fence_wait(fence[i], NULL), text);
    expect_ok(context, tj_buffer_read(s[i], 0, &found[i], sizeof found[i]), text);
    ck_assert_msg(memcmp(&found[i], &wanted[i], sizeof(float)) == 0, "%g, not %g", (double)found[i],
                  (double)wanted[i]);
    ck_assert(i == 0 || memcmp(&wanted[i], &wanted[i - 1], sizeof(float)) != 0);
    tj_fence_destroy(fence[i]);
    tj_launch_destroy(launch[i]);
    tj_buffer_destroy(x[i]);
    tj_buffer_destroy(s[i]);
  }
  free(numbers);
  tj_code_destroy(code);
  tj_device_close(device);
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  const TTest *const everywhere[] = {buffers_are_memory,
                                     runs_take_buffers_and_arrays,
                                     launches_chain,
                                     fences_are_asked_in_any_order,
                                     fences_become_done_by_themselves,
                                     launches_refuse_what_does_not_fit,
                                     launches_of_one_code_share_what_is_loaded,
                                     codes_go_while_others_run,
                                     devices_close_with_work_in_flight,
                                     every_allocation_can_fail};
  const TTest *const simulated[] = {fences_tell_failures, runs_tell_only_their_own_failures,
                                    fences_wait_for_their_own_launch_only};
  Suite *suite = suite_create("launches");
  TCase *tcase = tcase_create("launches");
  tcase_set_timeout(tcase, 300);
  for (size_t i = 0; i < sizeof everywhere / sizeof everywhere[0]; i++)
    tcase_add_loop_test(tcase, everywhere[i], 0, DEVICES);
  for (size_t i = 0; i < sizeof simulated / sizeof simulated[0]; i++)
    tcase_add_test(tcase, simulated[i]);
  tcase_add_loop_test(tcase, code_runs_where_its_target_id_allows, 0, sizeof target_rows / sizeof target_rows[0]);
  tcase_add_loop_test(tcase, split_launches_are_in_flight_together, 0, 2);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}

/* SPDX-License-Identifier: MIT */
/* What launches are told: parameters and shapes, what is refused of them, and launches that run again with others; on
 * the host and on the simulator, through the public header alone. */
#include "tests/unit/support/folder_support.h"
#include "tests/unit/support/library_support.h"

static const char *const devices[] = {"host", "sim:gfx942"};

enum { DEVICES = sizeof devices / sizeof devices[0], MOST = 64 * 64 };

static const char transposed[] = "param M in 1..64, N in 1..64\n"
                                 "kernel k(src: i32 @ (M,N):(N,1), dst: i32 @ (M,N):(1,M)) = copy(src, dst)";

/* --- what every test needs --- */

typedef struct {
  tj_context *context;
  tj_device *device;
  tj_code *code;
  tj_launch *launch;
} session;

static session open_session(const char *device, const char *text) {
  session s = {.context = new_context(NULL)};
  s.device = open_device(s.context, device);
  s.code = compile_for(s.context, s.device, text, NULL, 0);
  ck_assert_int_eq(tj_launch_create(s.context, s.code, &s.launch), TJ_OK);
  return s;
}

static void close_session(session *s) {
  tj_launch_destroy(s->launch);
  tj_code_destroy(s->code);
  tj_device_close(s->device);
  tj_context_destroy(s->context);
}

static void give(const session *s, const char *name, int64_t value) {
  expect_ok(s->context, tj_launch_set_parameter(s->launch, name, value), name);
}

static void refuse(const session *s, const char *name, int64_t value, unsigned code, const char *text) {
  expect_code(s->context, tj_launch_set_parameter(s->launch, name, value), code, text);
}

static tj_status tell(const session *s, const char *argument, int64_t rows, int64_t columns) {
  return tj_launch_set_shape(s->launch, argument, (int64_t[]){rows, columns}, 2);
}

static void expect_lengths(const session *s, int64_t rows, int64_t columns) {
  const tj_argument *argument;
  expect_ok(s->context, tj_launch_argument(s->launch, 0, &argument), "lengths");
  ck_assert_uint_eq(argument->rank, 2);
  ck_assert_int_eq(argument->lengths[0], rows);
  ck_assert_int_eq(argument->lengths[1], columns);
}

/* Runs the transposition with what has been told, and looks at every element. */
static void expect_transposed(const session *s, int64_t rows, int64_t columns) {
  static int32_t source[MOST], result[MOST];
  size_t bytes = (size_t)(rows * columns) * sizeof *source;
  for (int32_t i = 0; i < MOST; i++) {
    source[i] = 3 * i + 1;
    result[i] = -1;
  }
  expect_ok(s->context, tj_launch_bind(s->launch, "src", source, bytes), "src");
  expect_ok(s->context, tj_launch_bind(s->launch, "dst", result, bytes), "dst");
  expect_ok(s->context, tj_launch_run(s->launch, s->device), "run");
  for (int64_t i = 0; i < MOST; i++)
    ck_assert_int_eq(result[i], i < rows * columns ? source[i % rows * columns + i / rows] : -1);
}

/* --- parameters --- */

START_TEST(parameters_are_looked_at_when_they_are_given) {
  session s = open_session("host", "param M in 1..64 multiple 4, N in M..64, unused in 2..8 multiple 2\n"
                                   "kernel k(src: i32 @ (M,N):(N,1), dst: i32 @ (M,N):(1,M)) = copy(src, dst)");
  refuse(&s, "K", 1, 2026, "no parameter 'K'");
  refuse(&s, "M", 0, 2025, "'M' = 0 is outside");
  refuse(&s, "M", 68, 2025, "'M' = 68 is outside");
  refuse(&s, "M", INT64_MIN, 2025, "'M'");
  refuse(&s, "M", 6, 2025, "'M' = 6 is no multiple of 4");
  refuse(&s, "N", 65, 2025, "'N' = 65 is outside");
  refuse(&s, "unused", 1, 2025, "'unused' = 1 is outside");
  refuse(&s, "unused", 3, 2025, "'unused' = 3 is no multiple of 2");
  give(&s, "unused", 4);
  const tj_argument *argument;
  expect_code(s.context, tj_launch_argument(s.launch, 0, &argument), 6007, "'M' has no value");
  give(&s, "M", 8);
  give(&s, "N", 7);
  expect_code(s.context, tj_launch_argument(s.launch, 0, &argument), 2025, "'N' = 7 is outside");
  refuse(&s, "N", 65, 2025, "'N' = 65 is outside");
  give(&s, "M", 4);
  expect_lengths(&s, 4, 7);
  close_session(&s);
}
END_TEST

/* 2^54 + 2^30 + 1 is nearer to 2^54 + 2^31 than to 2^54; as a double it would lie in the middle. */
START_TEST(integers_given_for_floats_are_rounded_once) {
  session s = open_session("host", "kernel k(a: f32, y: f32 @ 1:1) = { y = a }");
  float y = 0;
  give(&s, "a", 18014399583223809);
  expect_ok(s.context, tj_launch_bind(s.launch, "y", &y, sizeof y), "y");
  expect_ok(s.context, tj_launch_run(s.launch, s.device), "run");
  ck_assert(y == 18014400656965632.0f);
  close_session(&s);
}
END_TEST

START_TEST(launches_run_again_with_other_parameters) {
  session s = open_session(devices[_i], transposed);
  static const int64_t sizes[][2] = {{3, 5}, {48, 64}, {64, 48}, {1, 2}, {33, 7}};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    give(&s, "M", sizes[i][0]);
    give(&s, "N", sizes[i][1]);
    expect_transposed(&s, sizes[i][0], sizes[i][1]);
  }
  give(&s, "M", 64);
  expect_code(s.context, tj_launch_run(s.launch, s.device), 6002, "'src' needs 1792 bytes, the array has 924");
  close_session(&s);
}
END_TEST

/* Transpositions of N/K rows of K elements. */
static const char *const divided[] = {
    "param K in 1..64, N in 1..4096 multiple K\n"
    "kernel k(src: i32 @ packed((N)),\n"
    "         dst: i32 @ transform(packed((K,N/K)), [merge(N/K,K)], [[1,0]], [[0]])) = copy(src, dst)",
    "param K in 1..64, N in 1..4096 multiple K\n"
    "kernel k(src: i32 @ transform(packed((N)), [unmerge(N/K,K)], [[0]], [[0,1]]),\n"
    "         dst: i32 @ (N/K,K):(1,N/K)) = copy(src, dst)",
};

enum { DIVIDED = sizeof divided / sizeof divided[0] };

/* N is held against K as soon as both have values, whichever came first, and again where either changes. */
static void check_multiples(const session *s) {
  give(s, "N", 20);
  give(s, "K", 6);
  expect_code(s->context, tj_launch_run(s->launch, s->device), 2025, "'N' = 20 is no multiple of 6");
  give(s, "K", 4);
  expect_transposed(s, 5, 4);
  refuse(s, "K", 0, 2025, "'K' = 0 is outside");
  give(s, "K", 64);
  expect_code(s->context, tj_launch_run(s->launch, s->device), 2025, "'N' = 20 is no multiple of 64");
  give(s, "N", 4096);
  expect_transposed(s, 64, 64);
  give(s, "K", 1);
  expect_transposed(s, 4096, 1);
}

START_TEST(multiples_of_parameters_are_looked_at) {
  for (size_t i = 0; i < DIVIDED; i++) {
    session s = open_session(devices[_i], divided[i]);
    check_multiples(&s);
    close_session(&s);
  }
}
END_TEST

START_TEST(shapes_are_multiples_of_parameters) {
  session s = open_session("host", divided[0]);
  give(&s, "K", 8);
  expect_ok(s.context, tj_launch_set_shape(s.launch, "src", (int64_t[]){24}, 1), "src");
  expect_transposed(&s, 3, 8);
  expect_ok(s.context, tj_launch_set_shape(s.launch, "src", (int64_t[]){20}, 1), "src");
  expect_code(s.context, tj_launch_run(s.launch, s.device), 2025, "'N' = 20 is no multiple of 8");
  close_session(&s);
}
END_TEST

START_TEST(multiples_may_be_fixed) {
  session s = {.context = new_context(NULL)};
  s.device = open_device(s.context, "host");
  s.code = compile_for(s.context, s.device, divided[1], &(tj_parameter_value){"K", 6}, 1);
  ck_assert_int_eq(tj_launch_create(s.context, s.code, &s.launch), TJ_OK);
  refuse(&s, "N", 20, 2025, "'N' = 20 is no multiple of 6");
  give(&s, "N", 24);
  expect_transposed(&s, 4, 6);
  close_session(&s);
}
END_TEST

/* --- shapes --- */

START_TEST(shapes_give_parameters) {
  session s = open_session(devices[_i], transposed);
  expect_ok(s.context, tell(&s, "src", 5, 6), "src");
  expect_lengths(&s, 5, 6);
  expect_transposed(&s, 5, 6);
  expect_ok(s.context, tell(&s, "src", 40, 30), "larger");
  expect_transposed(&s, 40, 30);
  expect_ok(s.context, tell(&s, "src", 7, 9), "another before the run");
  expect_ok(s.context, tell(&s, "src", 9, 7), "another before the run");
  expect_lengths(&s, 9, 7);
  give(&s, "M", 2);
  expect_lengths(&s, 2, 7);
  expect_transposed(&s, 2, 7);
  close_session(&s);
}
END_TEST

START_TEST(contradictory_shapes_are_refused) {
  session s = open_session("host", "param M in 1..64, N in 2..64 multiple 2\n"
                                   "kernel k(src: i32 @ (M,N):(N,1), dst: i32 @ (M,N):(N,1)) = copy(src, dst)");
  expect_code(s.context, tell(&s, "src", -1, 6), 6015, "a length of -1");
  expect_code(s.context, tell(&s, "src", 0, 6), 2025, "'M' = 0 is outside");
  expect_code(s.context, tell(&s, "src", 4, 7), 2025, "'N' = 7 is no multiple of 2");
  expect_ok(s.context, tell(&s, "src", 4, 6), "src");
  expect_code(s.context, tell(&s, "dst", 5, 6), 6015, "'M' is 4 by the shape of 'src', and 5 by that of 'dst'");
  expect_code(s.context, tell(&s, "dst", 4, 8), 6015, "'N' is 6 by the shape of 'src', and 8 by that of 'dst'");
  expect_lengths(&s, 4, 6);
  expect_ok(s.context, tell(&s, "dst", 4, 6), "the same");
  expect_ok(s.context, tj_launch_set_shape(s.launch, "src", (int64_t[]){48}, 1), "no matrix");
  expect_lengths(&s, 4, 6);
  int32_t data[2][64];
  expect_ok(s.context, tj_launch_bind(s.launch, "src", data[0], sizeof data[0]), "src");
  expect_ok(s.context, tj_launch_bind(s.launch, "dst", data[1], sizeof data[1]), "dst");
  expect_ok(s.context, tj_launch_run(s.launch, s.device), "run");
  expect_ok(s.context, tell(&s, "src", 5, 6), "the shape of the earlier run gives way");
  expect_lengths(&s, 5, 6);
  expect_code(s.context, tell(&s, "dst", 4, 6), 6015, "'M' is 5 by the shape of 'src', and 4 by that of 'dst'");
  give(&s, "M", 3);
  expect_ok(s.context, tell(&s, "dst", 4, 6), "M is given");
  expect_lengths(&s, 3, 6);
  close_session(&s);
}
END_TEST

START_TEST(one_shape_may_contradict_itself) {
  session s = open_session("host", "param M in 1..64\n"
                                   "kernel k(src: i32 @ (M,M):(M,1), dst: i32 @ (M,M):(1,M)) = copy(src, dst)");
  expect_code(s.context, tell(&s, "src", 4, 5), 6015, "'M' is 5 by the shape of 'src', and 4 by that of 'src'");
  expect_ok(s.context, tell(&s, "src", 5, 5), "square");
  expect_transposed(&s, 5, 5);
  close_session(&s);
}
END_TEST

/* --- races --- */

static const char strided[] = "param M in 1..64, N in 1..64, ld in 0..64\n"
                              "kernel k(src: i32 @ (M,N):(N,1), dst: i32 @ (M,N):(ld,1)) = copy(src, dst)";

/* TJ4010 that names two coordinates of rows that overlap, and runs of rows that do not. */
static void check_races(const session *s) {
  static const struct {
    int64_t rows, columns, distance;
    const char *text; /* NULL: no race */
  } cases[] = {
      {4, 8, 8, NULL},
      {4, 8, 7, "coordinates (0,7) and (1,0) of 'dst' are both element 7, and have different sources"},
      {1, 8, 7, NULL},
      {4, 8, 64, NULL},
      {64, 64, 63, "coordinates (0,63) and (1,0) of 'dst' are both element 63"},
      {2, 1, 0, "coordinates (0,0) and (1,0) of 'dst' are both element 0"},
      {64, 1, 1, NULL},
  };
  static int32_t data[2][2 * MOST];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    give(s, "M", cases[i].rows);
    give(s, "N", cases[i].columns);
    give(s, "ld", cases[i].distance);
    expect_ok(s->context, tj_launch_bind(s->launch, "src", data[0], sizeof data[0]), "src");
    expect_ok(s->context, tj_launch_bind(s->launch, "dst", data[1], sizeof data[1]), "dst");
    if (cases[i].text == NULL)
      expect_ok(s->context, tj_launch_run(s->launch, s->device), "run");
    else
      expect_code(s->context, tj_launch_run(s->launch, s->device), 4010, cases[i].text);
  }
}

START_TEST(launches_refuse_races) {
  session s = open_session(devices[_i], strided);
  check_races(&s);
  tj_buffer *buffer[2];
  tj_fence *fence;
  for (int i = 0; i < 2; i++)
    expect_ok(s.context, tj_buffer_create(s.context, s.device, 2 * MOST * 4, &buffer[i]), "buffer");
  give(&s, "M", 4);
  give(&s, "N", 3);
  give(&s, "ld", 2);
  expect_ok(s.context, tj_launch_bind_buffer(s.launch, "src", buffer[0]), "src");
  expect_ok(s.context, tj_launch_bind_buffer(s.launch, "dst", buffer[1]), "dst");
  expect_code(s.context, tj_launch_submit(s.launch, s.device, &fence), 4010, "(0,2) and (1,0)");
  give(&s, "ld", 3);
  expect_ok(s.context, tj_launch_submit(s.launch, s.device, &fence), "submit");
  tj_fence_destroy(fence);
  tj_buffer_destroy(buffer[0]);
  tj_buffer_destroy(buffer[1]);
  close_session(&s);
}
END_TEST

/* Code that comes from the disk decides as the code did that went there. */
static void check_cached(const char *device, const char *text, void (*check)(const session *s)) {
  static const tj_code_origin origins[] = {TJ_CODE_COMPILED, TJ_CODE_FROM_DISK};
  make_folder();
  unsetenv("TILEJIT_CACHE");
  for (size_t i = 0; i < sizeof origins / sizeof origins[0]; i++) {
    tj_cache *cache;
    session s = {.context = new_context(NULL)};
    ck_assert_int_eq(tj_cache_create(NULL, &(tj_cache_options){.directory = folder}, &cache), TJ_OK);
    tj_context_set_cache(s.context, cache);
    s.device = open_device(s.context, device);
    s.code = compile_for(s.context, s.device, text, NULL, 0);
    ck_assert_int_eq(tj_code_origin_of(s.code), origins[i]);
    ck_assert_int_eq(tj_launch_create(s.context, s.code, &s.launch), TJ_OK);
    check(&s);
    close_session(&s);
    tj_cache_destroy(cache);
  }
  setenv("TILEJIT_CACHE", "off", 1);
  remove_folder();
}

START_TEST(cached_launches_refuse_races) {
  check_cached(devices[_i], strided, check_races);
}
END_TEST

START_TEST(cached_launches_look_at_multiples) {
  check_cached(devices[_i], divided[1], check_multiples);
}
END_TEST

int main(void) {
  const TTest *const everywhere[] = {launches_run_again_with_other_parameters,
                                     shapes_give_parameters,
                                     launches_refuse_races,
                                     cached_launches_refuse_races,
                                     multiples_of_parameters_are_looked_at,
                                     cached_launches_look_at_multiples};
  const TTest *const once[] = {parameters_are_looked_at_when_they_are_given,
                               integers_given_for_floats_are_rounded_once,
                               contradictory_shapes_are_refused,
                               one_shape_may_contradict_itself,
                               shapes_are_multiples_of_parameters,
                               multiples_may_be_fixed};
  Suite *suite = suite_of("launch_values", once, sizeof once / sizeof once[0]);
  TCase *tcase = tcase_create("devices");
  tcase_set_timeout(tcase, SUITE_SECONDS);
  for (size_t i = 0; i < sizeof everywhere / sizeof everywhere[0]; i++)
    tcase_add_loop_test(tcase, everywhere[i], 0, DEVICES);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}

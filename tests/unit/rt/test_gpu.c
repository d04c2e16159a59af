/* SPDX-License-Identifier: MIT */
/* What GPUs ask of their drivers: which functions, in which order, with the device entered and locked or not. */
#include "tests/unit/support/suite.h"

#include "rt/driver.h"
#include "rt/gpu.h"

#include <stdio.h>

typedef struct {
  tj_rt_gpu gpu;
  tj_rt_flight flight;
  uint32_t polls; /* how often the launch in flight is looked at before it has ended */
} fake_gpu;

/* The calls since the device was opened, in words: with "*" where the device is locked, "(" where it is entered, ")"
 * where it is left. */
static char trace[512];

static void tell(const char *what) {
  size_t length = strlen(trace);
  snprintf(trace + length, sizeof trace - length, "%s%s", length > 0 ? " " : "", what);
}

static void tell_call(tj_rt_gpu *gpu, const char *what) {
  char word[64];
  bool is_locked = pthread_mutex_trylock(&gpu->lock) != 0;
  if (!is_locked)
    pthread_mutex_unlock(&gpu->lock);
  snprintf(word, sizeof word, "%s%s", what, is_locked ? "*" : "");
  tell(word);
}

/* --- the driver --- */

static void enter(tj_rt_gpu *gpu) {
  (void)gpu;
  tell("(");
}

static void leave(tj_rt_gpu *gpu) {
  (void)gpu;
  tell(")");
}

static void close_queue(tj_rt_gpu *gpu) {
  tell_call(gpu, "close");
}

static void leave_for_good(tj_rt_gpu *gpu) {
  tell_call(gpu, "leave_for_good");
}

static void end_all(tj_rt_gpu *gpu, tj_status status) {
  tj_rt_error error = {TJ_LAUNCH, "given up"};
  while (!tj_rt_flight_is_empty(gpu->flight))
    tj_rt_flight_end(gpu->flight, status, &error, 1);
}

static void drain(tj_rt_gpu *gpu) {
  tell_call(gpu, "drain");
  end_all(gpu, TJ_OK);
}

static void give_up(tj_rt_gpu *gpu) {
  tell_call(gpu, "give_up");
  end_all(gpu, TJ_ERROR_SYSTEM);
}

static void progress(tj_rt_gpu *gpu) {
  fake_gpu *fake = (fake_gpu *)gpu;
  tell_call(gpu, "progress");
  if (fake->polls == 0)
    end_all(gpu, TJ_OK);
  else
    fake->polls--;
}

static tj_status allocate(tj_rt_gpu *gpu, size_t size, uint64_t *address, tj_rt_error *error) {
  (void)size, (void)error;
  tell_call(gpu, "allocate");
  *address = 4096;
  return TJ_OK;
}

static void release(tj_rt_gpu *gpu, uint64_t address) {
  ck_assert_uint_eq(address, 4096);
  tell_call(gpu, "release");
}

static tj_status copy_now(tj_rt_gpu *gpu, uint64_t to, uint64_t from, size_t size, tj_rt_error *error) {
  (void)to, (void)from, (void)size, (void)error;
  tell_call(gpu, "copy_now");
  return TJ_OK;
}

static tj_status find(tj_rt_gpu *gpu, tj_rt_kernel *kernel, const tj_rt_code *code, tj_rt_error *error) {
  (void)kernel;
  tell_call(gpu, "find");
  return code->symbol != NULL ? TJ_OK : tj_rt_failed(error, TJ_ERROR_INPUT, TJ_DEVICE_TARGET, "no kernel");
}

static tj_status launch(tj_rt_gpu *gpu, const tj_rt_kernel *kernel, const tj_rt_dispatch *dispatch,
                        tj_rt_error *error) {
  (void)kernel, (void)error;
  tell_call(gpu, "launch");
  tj_rt_flight_begin(gpu->flight, dispatch->completion, false);
  return TJ_OK;
}

static tj_status copy(tj_rt_gpu *gpu, const tj_rt_copy *asked, tj_rt_error *error) {
  (void)error;
  tell_call(gpu, "copy");
  tj_rt_flight_begin(gpu->flight, asked->completion, true);
  return TJ_OK;
}

static void lose(tj_rt_gpu *gpu, const char *why) {
  tj_rt_error error;
  tj_rt_failed(&error, TJ_ERROR_SYSTEM, TJ_LAUNCH, "%s", why);
  tell_call(gpu, "lose");
  if (tj_rt_flight_lose(gpu->flight, &error))
    tj_rt_flight_lost(gpu->flight);
}

static uint64_t sign_of(tj_rt_gpu *gpu, uint64_t number) {
  tell_call(gpu, "sign_of");
  return number;
}

static void await(tj_rt_gpu *gpu, uint64_t sign, bool is_short) {
  (void)sign;
  tell_call(gpu, is_short ? "await_shortly" : "await");
}

static void measure(tj_rt_gpu *gpu, uint64_t *done, uint64_t *total) {
  tell_call(gpu, "measure");
  *done = 3, *total = 4;
}

static size_t no_counters(tj_rt_gpu *gpu, tj_rt_counter counters[], size_t capacity) {
  (void)counters, (void)capacity;
  tell_call(gpu, "counters");
  return 0;
}

static const tj_rt_gpu_driver driver = {
    .kernel_bytes = sizeof(tj_rt_kernel),
    .enter = enter,
    .leave = leave,
    .close = close_queue,
    .leave_for_good = leave_for_good,
    .allocate = allocate,
    .release = release,
    .copy_now = copy_now,
    .find = find,
    .launch = launch,
    .copy = copy,
    .progress = progress,
    .drain = drain,
    .give_up = give_up,
    .lose = lose,
    .sign_of = sign_of,
    .await = await,
    .measure = measure,
    .counters = no_counters,
};

static tj_status load_module(void *data, tj_rt_module *module, tj_rt_error *error) {
  (void)module, (void)error;
  tell_call(data, "load");
  return TJ_OK;
}

static void unload_module(void *data, tj_rt_module *module) {
  (void)module;
  tell_call(data, "unload");
}

static tj_rt_device *open_fake(uint32_t polls) {
  static const tj_rt_loader loader = {load_module, unload_module};
  tj_allocator allocator = tj_rt_allocator(NULL);
  fake_gpu *fake = allocator.allocate(allocator.user, sizeof *fake);
  ck_assert_ptr_nonnull(fake);
  *fake = (fake_gpu){.polls = polls};
  tj_rt_flight_open(&fake->flight);
  tj_rt_gpu_begin(&fake->gpu, &driver, &fake->flight, &loader, fake, &allocator);
  trace[0] = '\0';
  return &fake->gpu.head;
}

/* --- what is asked of devices --- */

static const tj_rt_code code = {.symbol = "f", .code_object = {"code", 4}};
static tj_rt_error error;

static void allocates(tj_rt_device *device) {
  tj_rt_buffer buffer;
  ck_assert_int_eq(tj_rt_allocate(device, 0, &buffer, &error), TJ_OK);
  ck_assert_uint_eq(buffer.address, 4096);
}

static void releases(tj_rt_device *device) {
  tj_rt_release(device, &(tj_rt_buffer){.address = 4096, .size = 8, .handle = device});
}

static void releases_nothing(tj_rt_device *device) {
  tj_rt_release(device, &(tj_rt_buffer){.size = 0});
}

static void releases_what_is_borrowed(tj_rt_device *device) {
  tj_rt_buffer buffer = tj_rt_borrow(8192, 8);
  tj_rt_release(device, &buffer);
}

static void copies_by_the_host(tj_rt_device *device) {
  char bytes[8] = {0};
  tj_rt_buffer buffer = tj_rt_borrow(8192, sizeof bytes);
  ck_assert_int_eq(tj_rt_write(device, &buffer, 0, (tj_bytes){bytes, sizeof bytes}, &error), TJ_OK);
  ck_assert_int_eq(tj_rt_read(device, &buffer, 0, bytes, sizeof bytes, &error), TJ_OK);
}

static void is_lost(tj_rt_device *device) {
  char bytes[8] = {0};
  tj_rt_kernel *kernel;
  tj_rt_buffer allocated, buffer = tj_rt_borrow(8192, sizeof bytes);
  tj_rt_lose(device, "gone");
  ck_assert_int_eq(tj_rt_allocate(device, 8, &allocated, &error), TJ_ERROR_SYSTEM);
  ck_assert_int_eq(tj_rt_load(device, &code, &kernel, &error), TJ_ERROR_SYSTEM);
  ck_assert_int_eq(tj_rt_write(device, &buffer, 0, (tj_bytes){bytes, sizeof bytes}, &error), TJ_ERROR_SYSTEM);
  ck_assert_int_eq(tj_rt_read(device, &buffer, 0, bytes, sizeof bytes, &error), TJ_ERROR_SYSTEM);
  ck_assert_str_eq(error.text, "gone");
}

static void loads(tj_rt_device *device) {
  tj_rt_kernel *kernel;
  ck_assert_int_eq(tj_rt_load(device, &code, &kernel, &error), TJ_OK);
  tj_rt_unload(device, kernel);
}

static void loads_what_is_not_there(tj_rt_device *device) {
  tj_rt_kernel *kernel;
  ck_assert_int_eq(tj_rt_load(device, &(tj_rt_code){.code_object = code.code_object}, &kernel, &error),
                   TJ_ERROR_INPUT);
  ck_assert_ptr_null(kernel);
}

static void launches(tj_rt_device *device, tj_rt_completion *completion) {
  tj_rt_kernel *kernel;
  ck_assert_int_eq(tj_rt_load(device, &code, &kernel, &error), TJ_OK);
  trace[0] = '\0';
  tj_rt_dispatch dispatch = {NULL, 1, 1, completion};
  ck_assert_int_eq(tj_rt_launch(device, kernel, &dispatch, &error), TJ_OK);
  tj_rt_unload(device, kernel);
}

static void unloads_what_runs(tj_rt_device *device) {
  launches(device, NULL);
}

static void copies_in_order(tj_rt_device *device) {
  uint64_t nanoseconds;
  tj_rt_copy asked = {device, device, 8, NULL};
  ck_assert_int_eq(tj_rt_copy_memory(device, &asked, &error), TJ_OK);
  ck_assert_int_eq(tj_rt_wait(device, &nanoseconds, &error), TJ_OK);
  ck_assert_uint_eq(nanoseconds, 0);
}

static bool refuse(void *data, uint64_t done, uint64_t total) {
  (void)data;
  ck_assert_uint_eq(done, 3);
  ck_assert_uint_eq(total, 4);
  return false;
}

static bool agree(void *data, uint64_t done, uint64_t total) {
  return !refuse(data, done, total);
}

static void watches(tj_rt_device *device, bool (*goes_on)(void *, uint64_t, uint64_t), tj_status expected) {
  tj_rt_completion completion = {.is_done = true};
  tj_rt_copy asked = {device, device, 8, &completion};
  tj_rt_watch watch = {goes_on, NULL};
  ck_assert_int_eq(tj_rt_copy_memory(device, &asked, &error), TJ_OK);
  ck_assert_int_eq(tj_rt_finish_watched(device, &completion, &watch, &error), expected);
}

static void is_watched(tj_rt_device *device) {
  watches(device, agree, TJ_OK);
}

static void is_given_up(tj_rt_device *device) {
  watches(device, refuse, TJ_ERROR_SYSTEM);
}

/* Whoever holds the lock sees to what has ended. */
static void does_not_wait_to_look(tj_rt_device *device) {
  tj_rt_completion completion = {.is_done = false};
  pthread_mutex_lock(&((tj_rt_gpu *)device)->lock);
  ck_assert(!tj_rt_is_done(device, &completion));
  pthread_mutex_unlock(&((tj_rt_gpu *)device)->lock);
  tell("then");
  ck_assert(!tj_rt_is_done(device, &completion));
}

/* Nothing is waited for where nothing is counted. */
static void counts_nothing(tj_rt_device *device) {
  ck_assert_uint_eq(tj_rt_counters(device, NULL, 0), 0);
}

static const struct {
  void (*ask)(tj_rt_device *device);
  const char *calls;
  uint32_t polls;
} rows[] = {
    {allocates, "( allocate )", 0},
    {releases, "( drain* release* )", 0},
    {releases_nothing, "", 0},
    {releases_what_is_borrowed, "( drain* )", 0},
    {copies_by_the_host, "( drain* copy_now* ) ( drain* copy_now* )", 0},
    {is_lost, "lose ( drain* ) ( drain* )", 0},
    {loads, "( load find ) ( progress* ) ( unload )", 0},
    {loads_what_is_not_there, "( load find unload )", 0},
    {unloads_what_runs, "( launch* ) ( progress* sign_of* measure* ) ( await ) ( progress* ) ( unload )", 1},
    {copies_in_order, "( copy* ) ( drain* )", 0},
    {is_watched, "( copy* ) ( progress* sign_of* measure* ) ( await_shortly ) ( progress* )", 1},
    {is_given_up, "( copy* ) ( progress* sign_of* measure* ) ( give_up* ) ( await ) ( progress* )", 1},
    {does_not_wait_to_look, "then ( progress* )", 0},
    {counts_nothing, "( counters* )", 0},
};

START_TEST(drivers_are_asked) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tj_rt_device *device = open_fake(rows[i].polls);
    rows[i].ask(device);
    ck_assert_msg(strcmp(trace, rows[i].calls) == 0, "row %zu: \"%s\", not \"%s\"", i, trace, rows[i].calls);
    trace[0] = '\0';
    tj_rt_close(device);
    ck_assert_str_eq(trace, "( drain* close* ) leave_for_good");
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {drivers_are_asked};
  return run_suite(suite_of("gpu", tests, sizeof tests / sizeof tests[0]));
}

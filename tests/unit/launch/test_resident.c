/* SPDX-License-Identifier: MIT */
/* Kernels that stay on devices, on devices that only count: each is loaded once, and unloaded when its machine code
 * goes or its device closes, whichever is first, also when both happen at once. */
#include "launch/image/resident.h"
#include "tests/unit/support/harness.h"

#include <pthread.h>

enum { MACHINES = 3, DEVICES = 2, NUMBERS = 2, ROUNDS = 3000 };

/* --- devices that count --- */

struct tj_rt_kernel {
  const char *symbol;
};

typedef struct {
  tj_rt_device head;
  atomic_int loads, unloads;
  atomic_bool is_closed, refuses;
  tj_device_residents residents;
} counting_device;

static tj_status load(tj_rt_device *device, const tj_rt_code *code, tj_rt_kernel **kernel, tj_rt_error *error) {
  counting_device *d = (counting_device *)device;
  if (d->refuses)
    return tj_rt_failed(error, TJ_ERROR_SYSTEM, TJ_DEVICE_TARGET, "refused");
  ck_assert(!d->is_closed);
  d->loads++;
  *kernel = malloc(sizeof **kernel);
  (*kernel)->symbol = code->symbol;
  return TJ_OK;
}

static void unload(tj_rt_device *device, tj_rt_kernel *kernel) {
  counting_device *d = (counting_device *)device;
  ck_assert(!d->is_closed);
  d->unloads++;
  free(kernel);
}

static const tj_rt_operations operations = {.load = load, .unload = unload};

/* Memory for residents that can run out. */
static void *allocate(void *user, size_t size) {
  return *(const bool *)user ? malloc(size) : NULL;
}

static void release(void *user, void *block) {
  (void)user;
  free(block);
}

static bool has_memory = true;

static void open_device(counting_device *d) {
  *d = (counting_device){.head = {.operations = &operations}};
  tj_device_residents_open(&d->residents, &d->head, &(tj_allocator){allocate, release, &has_memory});
}

static void close_device(counting_device *d) {
  tj_device_residents_close(&d->residents);
  d->is_closed = true;
}

static int loaded_on(counting_device *d) {
  return d->loads - d->unloads;
}

static const char *const symbols[] = {"first", "second"};

static tj_rt_kernel *kernel_on(tj_machine_residents *machine, counting_device *d, uint32_t number) {
  tj_rt_kernel *kernel = NULL;
  tj_rt_error error;
  tj_rt_code code = {.symbol = symbols[number]};
  ck_assert_int_eq(tj_resident_kernel(machine, &d->residents, number, &code, &kernel, &error), TJ_OK);
  ck_assert_str_eq(kernel->symbol, symbols[number]);
  return kernel;
}

/* --- one at a time --- */

typedef struct {
  tj_machine_residents machine[MACHINES];
  counting_device device[DEVICES];
} setting;

/* Every kernel on every device. */
static void open_all(setting *s) {
  for (int m = 0; m < MACHINES; m++)
    tj_machine_residents_open(&s->machine[m]);
  for (int d = 0; d < DEVICES; d++)
    open_device(&s->device[d]);
  for (uint32_t i = 0; i < MACHINES * DEVICES * NUMBERS; i++)
    kernel_on(&s->machine[i % MACHINES], &s->device[i / MACHINES % DEVICES], i / MACHINES / DEVICES);
}

START_TEST(kernels_are_loaded_once) {
  setting s;
  open_all(&s);
  tj_rt_kernel *first = kernel_on(&s.machine[0], &s.device[0], 0);
  for (int i = 0; i < 10; i++)
    ck_assert_ptr_eq(kernel_on(&s.machine[0], &s.device[0], 0), first);
  ck_assert_ptr_ne(kernel_on(&s.machine[0], &s.device[0], 1), first);
  ck_assert_ptr_ne(kernel_on(&s.machine[1], &s.device[0], 0), first);
  ck_assert_ptr_ne(kernel_on(&s.machine[0], &s.device[1], 0), first);
  for (int d = 0; d < DEVICES; d++)
    ck_assert_int_eq(s.device[d].loads, MACHINES * NUMBERS);
  for (int m = 0; m < MACHINES; m++)
    tj_machine_residents_close(&s.machine[m]);
  for (int d = 0; d < DEVICES; d++) {
    ck_assert_int_eq(loaded_on(&s.device[d]), 0);
    close_device(&s.device[d]);
  }
}
END_TEST

START_TEST(machine_code_goes_first) {
  setting s;
  open_all(&s);
  tj_rt_kernel *other = kernel_on(&s.machine[2], &s.device[1], 1);
  tj_machine_residents_close(&s.machine[1]);
  for (int d = 0; d < DEVICES; d++)
    ck_assert_int_eq(loaded_on(&s.device[d]), (MACHINES - 1) * NUMBERS);
  ck_assert_ptr_eq(kernel_on(&s.machine[2], &s.device[1], 1), other);
  tj_machine_residents_open(&s.machine[1]);
  kernel_on(&s.machine[1], &s.device[0], 0);
  ck_assert_int_eq(s.device[0].loads, MACHINES * NUMBERS + 1);
  for (int d = 0; d < DEVICES; d++) {
    close_device(&s.device[d]);
    ck_assert_int_eq(loaded_on(&s.device[d]), 0);
  }
  for (int m = 0; m < MACHINES; m++)
    tj_machine_residents_close(&s.machine[m]);
}
END_TEST

START_TEST(devices_go_first) {
  setting s;
  open_all(&s);
  close_device(&s.device[0]);
  ck_assert_int_eq(loaded_on(&s.device[0]), 0);
  ck_assert_int_eq(loaded_on(&s.device[1]), MACHINES * NUMBERS);
  open_device(&s.device[0]);
  kernel_on(&s.machine[0], &s.device[0], 0);
  ck_assert_int_eq(s.device[0].loads, 1);
  for (int m = 0; m < MACHINES; m++)
    tj_machine_residents_close(&s.machine[m]);
  for (int d = 0; d < DEVICES; d++) {
    ck_assert_int_eq(loaded_on(&s.device[d]), 0);
    close_device(&s.device[d]);
  }
}
END_TEST

START_TEST(what_is_refused_does_not_stay) {
  tj_machine_residents machine;
  counting_device device;
  tj_rt_kernel *kernel = NULL;
  tj_rt_error error;
  tj_rt_code code = {.symbol = symbols[0]};
  tj_machine_residents_open(&machine);
  open_device(&device);
  device.refuses = true;
  ck_assert_int_eq(tj_resident_kernel(&machine, &device.residents, 0, &code, &kernel, &error), TJ_ERROR_SYSTEM);
  ck_assert_int_eq(error.code, TJ_DEVICE_TARGET);
  device.refuses = false;
  has_memory = false;
  ck_assert_int_eq(tj_resident_kernel(&machine, &device.residents, 0, &code, &kernel, &error), TJ_ERROR_MEMORY);
  has_memory = true;
  ck_assert_ptr_null(kernel);
  ck_assert_int_eq(device.loads, 0);
  kernel_on(&machine, &device, 0);
  ck_assert_int_eq(device.loads, 1);
  tj_machine_residents_close(&machine);
  close_device(&device);
  ck_assert_int_eq(device.unloads, 1);
}
END_TEST

/* --- at once --- */

static void *close_machine_in_thread(void *machine) {
  tj_machine_residents_close(machine);
  return NULL;
}

/* The device is gone in every sense once it has closed. */
static void *close_device_in_thread(void *device) {
  close_device(device);
  ck_assert_int_eq(loaded_on(device), 0);
  memset(device, 0x5a, sizeof(counting_device));
  return NULL;
}

START_TEST(both_go_at_once) {
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t thread[MACHINES + DEVICES];
    setting s;
    open_all(&s);
    for (int m = 0; m < MACHINES; m++)
      ck_assert_int_eq(pthread_create(&thread[m], NULL, close_machine_in_thread, &s.machine[m]), 0);
    for (int d = 0; d < DEVICES; d++)
      ck_assert_int_eq(pthread_create(&thread[MACHINES + d], NULL, close_device_in_thread, &s.device[d]), 0);
    for (int i = 0; i < MACHINES + DEVICES; i++)
      pthread_join(thread[i], NULL);
  }
}
END_TEST

typedef struct {
  tj_machine_residents *shared;
  counting_device *device;
} asking;

/* Asks for kernels of machine code that all threads share, and of some that is the thread's own. */
static void *ask_in_thread(void *data) {
  const asking *a = data;
  for (int round = 0; round < ROUNDS; round++) {
    tj_machine_residents own;
    tj_machine_residents_open(&own);
    tj_rt_kernel *kernel = kernel_on(&own, a->device, 0);
    kernel_on(a->shared, a->device, 1);
    ck_assert_ptr_eq(kernel_on(&own, a->device, 0), kernel);
    tj_machine_residents_close(&own);
  }
  return NULL;
}

START_TEST(threads_ask_at_once) {
  enum { THREADS = 4 };
  pthread_t thread[THREADS];
  tj_machine_residents shared;
  counting_device device;
  tj_machine_residents_open(&shared);
  open_device(&device);
  asking a = {&shared, &device};
  for (int i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&thread[i], NULL, ask_in_thread, &a), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(thread[i], NULL);
  ck_assert_int_eq(device.loads, THREADS * ROUNDS + 1);
  ck_assert_int_eq(loaded_on(&device), 1);
  close_device(&device);
  tj_machine_residents_close(&shared);
  ck_assert_int_eq(loaded_on(&device), 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {kernels_are_loaded_once,       machine_code_goes_first, devices_go_first,
                                what_is_refused_does_not_stay, both_go_at_once,         threads_ask_at_once};
  return run_suite(suite_of("resident", tests, sizeof tests / sizeof tests[0]));
}

/* SPDX-License-Identifier: MIT */
/* What tests of the library through its public header share: contexts, devices and code, or why there are none;
 * failures by their code; memory that runs out. */
#ifndef TJ_TESTS_LIBRARY_SUPPORT_H
#define TJ_TESTS_LIBRARY_SUPPORT_H

#include "tests/unit/support/suite.h"
#include "tilejit/tilejit.h"

#include <stdbool.h>
#include <string.h>

/* --- failures --- */

/* Ends the test with what went wrong where. */
static inline _Noreturn void fail_with(const tj_context *context, const char *where) {
  const tj_diagnostic *d = tj_context_diagnostic(context);
  ck_abort_msg("TJ%04u: %s\n%s", d != NULL ? d->code : 0, d != NULL ? d->message : "no diagnostic", where);
}

static inline void expect_ok(const tj_context *context, tj_status status, const char *where) {
  if (status != TJ_OK)
    fail_with(context, where);
}

/* The code of a call that must have failed, with a diagnostic that says what would make it right. */
static inline unsigned failure_of(const tj_context *context, tj_status status) {
  ck_assert_int_ne(status, TJ_OK);
  const tj_diagnostic *d = tj_context_diagnostic(context);
  ck_assert_ptr_nonnull(d);
  ck_assert_int_eq(d->status, status);
  ck_assert_uint_gt(strlen(d->note), 0);
  return d->code;
}

static inline void expect_code(const tj_context *context, tj_status status, unsigned code, const char *text) {
  unsigned found = failure_of(context, status);
  const char *message = tj_context_diagnostic(context)->message;
  ck_assert_msg(found == code && strstr(message, text) != NULL, "TJ%04u with '%s' was expected, not TJ%04u: %s", code,
                text, found, message);
}

/* --- contexts, devices, code --- */

/* `allocator` may be NULL. */
static inline tj_context *new_context(const tj_allocator *allocator) {
  tj_context *context;
  ck_assert_int_eq(tj_context_create(allocator, &context), TJ_OK);
  return context;
}

/* The device that kernels are tested on. */
static inline const char *tested_device(void) {
  const char *name = getenv("TILEJIT_TEST_DEVICE");
  return name != NULL ? name : "host";
}

/* --- elements --- */

/* Whether bits of an element type, f16 and so on, are no number. */
static inline bool is_nan_of(const char *dtype, uint64_t bits) {
  static const struct {
    const char *dtype;
    uint64_t exponent, sign;
  } floats[] = {{"f16", 0x7c00, 0x8000},
                {"bf16", 0x7f80, 0x8000},
                {"f32", 0x7f800000, 0x80000000},
                {"f64", 0x7ff0000000000000, 0x8000000000000000}};
  for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
    if (strcmp(floats[i].dtype, dtype) == 0)
      return (bits & ~floats[i].sign) > floats[i].exponent;
  }
  return false;
}

/* Whether two elements are the same: in each bit, unless neither is a number, whose bits are the machine's. */
static inline bool is_same_element(const char *dtype, const void *a, const void *b, size_t bytes) {
  uint64_t bits[2] = {0, 0};
  if (memcmp(a, b, bytes) == 0)
    return true;
  memcpy(&bits[0], a, bytes < 8 ? bytes : 8);
  memcpy(&bits[1], b, bytes < 8 ? bytes : 8);
  return is_nan_of(dtype, bits[0]) && is_nan_of(dtype, bits[1]);
}

static inline tj_device *open_device(tj_context *context, const char *name) {
  tj_device *device;
  expect_ok(context, tj_device_open(context, name, &device), name);
  return device;
}

static inline tj_program *new_program(tj_context *context, const char *text, const tj_parameter_value fixed[],
                                      size_t fixed_count) {
  tj_program *program;
  expect_ok(context, tj_program_create(context, "test", text, strlen(text), fixed, fixed_count, &program), text);
  return program;
}

/* The code of a program's only kernel for a device. */
static inline tj_code *compile_for(tj_context *context, const tj_device *device, const char *text,
                                   const tj_parameter_value fixed[], size_t fixed_count) {
  tj_code *code;
  tj_compile_options options = {.target = tj_device_target(device)};
  tj_program *program = new_program(context, text, fixed, fixed_count);
  expect_ok(context, tj_code_compile(program, &options, &code), text);
  tj_program_destroy(program);
  return code;
}

/* --- memory that runs out --- */

/* Allows a number of allocations, then refuses all; a negative number allows any. Counts the blocks that are held. */
typedef struct {
  long left, live;
} meter;

static inline void *metered_allocate(void *user, size_t size) {
  meter *m = user;
  if (m->left == 0)
    return NULL;
  m->left--;
  void *block = malloc(size);
  m->live += block != NULL;
  return block;
}

static inline void metered_release(void *user, void *block) {
  meter *m = user;
  m->live--;
  free(block);
}

static inline tj_allocator metered(meter *m) {
  return (tj_allocator){metered_allocate, metered_release, m};
}

#endif

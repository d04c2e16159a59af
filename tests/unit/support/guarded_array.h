/* SPDX-License-Identifier: MIT */
/* Arrays of launches, between zones that kernels must leave as they are. */
#ifndef TJ_TESTS_GUARDED_ARRAY_H
#define TJ_TESTS_GUARDED_ARRAY_H

#include "tests/unit/support/library_support.h"
#include "tests/unit/support/random_source.h"

enum { GUARD = 256, POISON = 0xa5 };

typedef struct {
  unsigned char *all, *data; /* all: the zones, too */
  size_t size;
  int64_t count; /* of elements */
} guarded_array;

/* An array of an argument that begins so many bytes behind a cache line, bound; each byte is POISON. The text is told
 * where that fails. */
static inline guarded_array bind_guarded_at(const tj_context *context, tj_launch *launch, size_t index, size_t begin,
                                            const char *text) {
  enum { LINE = 64 };
  const tj_argument *argument;
  expect_ok(context, tj_launch_argument(launch, index, &argument), text);
  guarded_array made = {.size = (size_t)argument->element_count * argument->element_bytes,
                        .count = argument->element_count};
  size_t all = made.size + begin + 2 * GUARD;
  made.all = aligned_alloc(LINE, (all + LINE - 1) / LINE * LINE);
  made.data = made.all + GUARD + begin;
  memset(made.all, POISON, all);
  expect_ok(context, tj_launch_bind(launch, argument->name, made.data, made.size), text);
  return made;
}

/* One that begins where allocated memory does. */
static inline guarded_array bind_guarded(const tj_context *context, tj_launch *launch, size_t index,
                                         const char *text) {
  enum { ALLOCATED = 16 };
  return bind_guarded_at(context, launch, index, ALLOCATED, text);
}

/* The same of random bytes. */
static inline guarded_array bind_random(const tj_context *context, tj_launch *launch, size_t index, const char *text,
                                        random_source *random) {
  guarded_array made = bind_guarded(context, launch, index, text);
  for (size_t i = 0; i < made.size; i++)
    made.data[i] = (unsigned char)random_next(random);
  return made;
}

/* An array of the same bytes, bound to nothing. */
static inline guarded_array copy_guarded(const guarded_array *a) {
  guarded_array made = {.all = malloc(a->size + 2 * GUARD), .size = a->size, .count = a->count};
  made.data = made.all + GUARD;
  memcpy(made.all, a->data - GUARD, a->size + 2 * GUARD);
  return made;
}

/* Ends the test where a byte of the zones has changed. */
static inline void release_guarded(guarded_array *a, const char *text) {
  for (size_t i = 0; i < GUARD; i++) {
    ck_assert_msg(a->data[-(ptrdiff_t)i - 1] == POISON, "a byte %zu before the buffer has changed\n%s", i + 1, text);
    ck_assert_msg(a->data[a->size + i] == POISON, "a byte %zu after the buffer has changed\n%s", i, text);
  }
  free(a->all);
}

#endif

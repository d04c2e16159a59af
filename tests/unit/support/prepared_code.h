/* SPDX-License-Identifier: MIT */
/* Code of bytes that may be anything: all that is asked of it before a kernel starts is asked, whatever it answers.
 */
#ifndef TJ_TESTS_PREPARED_CODE_H
#define TJ_TESTS_PREPARED_CODE_H

#include "tilejit/runtime.h"

#include <stdlib.h>

enum { PREPARED_EXTENT = 8, PREPARED_MOST_BYTES = 1 << 20 };

static inline void bind_anything(tj_launch *launch, size_t number) {
  const tj_argument *argument;
  if (tj_launch_argument(launch, number, &argument) != TJ_OK)
    return;
  size_t bytes;
  if (__builtin_mul_overflow((size_t)argument->element_count, argument->element_bytes, &bytes) ||
      bytes > PREPARED_MOST_BYTES)
    bytes = PREPARED_MOST_BYTES;
  char *data = calloc(bytes + 1, 1);
  if (data != NULL && number % 2 == 0)
    tj_launch_bind(launch, argument->name, data, bytes);
  else if (data != NULL)
    tj_launch_bind_pointer(launch, argument->name, data, bytes);
  free(data);
}

/* False where there was no memory for a launch. */
static inline int prepare_anything(tj_context *context, const tj_code *code) {
  const int64_t shape[] = {PREPARED_EXTENT, PREPARED_EXTENT};
  const tj_recipe *recipe;
  tj_launch *launch;
  if (tj_launch_create(context, code, &launch) != TJ_OK)
    return 0;
  for (size_t i = 0; i < tj_code_argument_count(code); i++)
    tj_launch_set_shape(launch, tj_code_argument(code, i).name, shape, 2);
  for (size_t i = 0; i < tj_code_parameter_count(code); i++)
    tj_launch_set_parameter(launch, tj_code_parameter(code, i).name, PREPARED_EXTENT);
  (void)tj_launch_prepare(launch, &recipe);
  for (size_t i = 0; i <= tj_code_argument_count(code); i++)
    bind_anything(launch, i);
  (void)tj_launch_prepare(launch, &recipe);
  tj_launch_destroy(launch);
  return 1;
}

/* The same of all that is in a bundle. */
static inline int prepare_everything(tj_context *context, tj_bundle *bundle) {
  for (size_t i = 0; i < tj_bundle_count(bundle); i++) {
    tj_bundle_entry entry = tj_bundle_entry_of(bundle, i);
    tj_code *code;
    if (tj_bundle_code(bundle, entry.kernel, entry.target, &code) != TJ_OK)
      continue;
    int is_prepared = prepare_anything(context, code);
    tj_code_destroy(code);
    if (!is_prepared)
      return 0;
  }
  return 1;
}

#endif

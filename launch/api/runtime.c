/* SPDX-License-Identifier: MIT */
/* What the library for running kernels has in the place of the compiler: contexts of nothing else. */
#include "launch/api/context.h"

tj_status tj_context_create(const tj_allocator *allocator, tj_context **context) {
  return tj_context_make(allocator, sizeof **context, NULL, context);
}

/* SPDX-License-Identifier: MIT */
/* Contexts of the whole library: those of launches, with what compilations keep from one to the next. */
#ifndef TJ_JIT_COMPILER_H
#define TJ_JIT_COMPILER_H

#include "jit/compile/codegen.h"
#include "launch/api/context.h"

typedef struct {
  tj_context context;             /* first: a pointer to it is one to this */
  tj_idle_codegens idle_codegens; /* owned */
  tj_cache *cache;                /* retained; NULL: none, or not yet */
  bool has_cache;                 /* it has been chosen */
  tj_rt_vault vault;              /* in the cache */
} tj_compiler;

static inline tj_compiler *tj_compiler_of(tj_context *context) {
  return (tj_compiler *)context;
}

/* The cache of the context's compilations, borrowed; NULL where there is none. */
tj_cache *tj_context_cache(tj_context *context);

#endif

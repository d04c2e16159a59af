/* SPDX-License-Identifier: MIT */
/* Element types: look-ups in the one table. */
#include "base/number/dtype.h"

#include <stddef.h>
#include <string.h>

typedef struct {
  const char *name;
  const char *numpy;
  uint32_t bits;
  tj_dtype_class class;
  tj_dtype raw;
} row;

static const row rows[TJ_DTYPE_COUNT] = {
#define DTYPE(name, bits, class, raw, llvm, numpy) {#name, numpy, bits, TJ_CLASS_##class, TJ_DTYPE_##raw},
    TJ_DTYPES(DTYPE)
#undef DTYPE
};

const char *tj_dtype_name(tj_dtype dtype) {
  return rows[dtype].name;
}

uint32_t tj_dtype_bits(tj_dtype dtype) {
  return rows[dtype].bits;
}

tj_dtype_class tj_dtype_class_of(tj_dtype dtype) {
  return rows[dtype].class;
}

const char *tj_dtype_numpy(tj_dtype dtype) {
  return rows[dtype].numpy;
}

bool tj_dtype_find(const char *name, tj_dtype *dtype) {
  for (size_t i = 0; i < TJ_DTYPE_COUNT; i++) {
    if (strcmp(rows[i].name, name) == 0) {
      *dtype = (tj_dtype)i;
      return true;
    }
  }
  return false;
}

bool tj_dtype_converts(tj_dtype from, tj_dtype to) {
  bool are_numbers = rows[from].class != TJ_CLASS_BITS && rows[to].class != TJ_CLASS_BITS;
  return are_numbers || rows[from].bits == rows[to].bits;
}

tj_dtype tj_dtype_raw(tj_dtype dtype) {
  return rows[dtype].raw;
}

tj_dtype tj_dtype_narrower(tj_dtype from, tj_dtype to) {
  return tj_dtype_bits(from) < tj_dtype_bits(to) ? from : to;
}

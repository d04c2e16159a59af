/* SPDX-License-Identifier: MIT */
/* Element types, one table. */
#ifndef TJ_BASE_DTYPE_H
#define TJ_BASE_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { TJ_CLASS_SIGNED, TJ_CLASS_UNSIGNED, TJ_CLASS_FLOAT, TJ_CLASS_BITS } tj_dtype_class;

/* DTYPE(name, bits, class, raw, llvm, numpy): `raw` is what elements are until somebody converts them, the bits of
 * the same width; `llvm` the member of tj_emitter that is their type; `numpy` the type string of .npy files, "" where
 * NumPy has none. */
#define TJ_DTYPES(DTYPE)                                                                                             \
  DTYPE(i8, 8, SIGNED, b8, i8, "|i1")                                                                                \
  DTYPE(u8, 8, UNSIGNED, b8, i8, "|u1")                                                                              \
  DTYPE(i16, 16, SIGNED, b16, i16, "<i2")                                                                            \
  DTYPE(u16, 16, UNSIGNED, b16, i16, "<u2")                                                                          \
  DTYPE(i32, 32, SIGNED, b32, i32, "<i4")                                                                            \
  DTYPE(u32, 32, UNSIGNED, b32, i32, "<u4")                                                                          \
  DTYPE(i64, 64, SIGNED, b64, i64, "<i8")                                                                            \
  DTYPE(u64, 64, UNSIGNED, b64, i64, "<u8")                                                                          \
  DTYPE(f16, 16, FLOAT, b16, f16, "<f2")                                                                             \
  DTYPE(bf16, 16, FLOAT, b16, bf16, "")                                                                              \
  DTYPE(f32, 32, FLOAT, b32, f32, "<f4")                                                                             \
  DTYPE(f64, 64, FLOAT, b64, f64, "<f8")                                                                             \
  DTYPE(b8, 8, BITS, b8, i8, "|u1")                                                                                  \
  DTYPE(b16, 16, BITS, b16, i16, "<u2")                                                                              \
  DTYPE(b32, 32, BITS, b32, i32, "<u4")                                                                              \
  DTYPE(b64, 64, BITS, b64, i64, "<u8")                                                                              \
  DTYPE(b128, 128, BITS, b128, b128, "|V16")

typedef enum {
#define DTYPE(name, ...) TJ_DTYPE_##name,
  TJ_DTYPES(DTYPE)
#undef DTYPE
      TJ_DTYPE_COUNT
} tj_dtype;

const char *tj_dtype_name(tj_dtype dtype);
uint32_t tj_dtype_bits(tj_dtype dtype);
tj_dtype_class tj_dtype_class_of(tj_dtype dtype);
const char *tj_dtype_numpy(tj_dtype dtype);
bool tj_dtype_find(const char *name, tj_dtype *dtype);

/* Whether values convert from one to the other: numbers to numbers; raw bits to the same width only. */
bool tj_dtype_converts(tj_dtype from, tj_dtype to);

/* The raw bits of the same width. */
tj_dtype tj_dtype_raw(tj_dtype dtype);

/* The one of fewer bits; `to`, where they are as wide: what a conversion on the way is best held in. */
tj_dtype tj_dtype_narrower(tj_dtype from, tj_dtype to);

#endif

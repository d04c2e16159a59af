/* SPDX-License-Identifier: MIT */
/* Element types, one table. */
#ifndef TJ_LOWER_DTYPE_H
#define TJ_LOWER_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { TJ_CLASS_SIGNED, TJ_CLASS_UNSIGNED, TJ_CLASS_FLOAT, TJ_CLASS_BITS } tj_dtype_class;

/* DTYPE(name, bits, class, numpy): `numpy` is the type string of .npy files, "" where NumPy has none. */
#define TJ_DTYPES(DTYPE)                                                                                             \
  DTYPE(i8, 8, SIGNED, "|i1")                                                                                        \
  DTYPE(u8, 8, UNSIGNED, "|u1")                                                                                      \
  DTYPE(i16, 16, SIGNED, "<i2")                                                                                      \
  DTYPE(u16, 16, UNSIGNED, "<u2")                                                                                    \
  DTYPE(i32, 32, SIGNED, "<i4")                                                                                      \
  DTYPE(u32, 32, UNSIGNED, "<u4")                                                                                    \
  DTYPE(i64, 64, SIGNED, "<i8")                                                                                      \
  DTYPE(u64, 64, UNSIGNED, "<u8")                                                                                    \
  DTYPE(f16, 16, FLOAT, "<f2")                                                                                       \
  DTYPE(bf16, 16, FLOAT, "")                                                                                         \
  DTYPE(f32, 32, FLOAT, "<f4")                                                                                       \
  DTYPE(f64, 64, FLOAT, "<f8")                                                                                       \
  DTYPE(b8, 8, BITS, "|u1")                                                                                          \
  DTYPE(b16, 16, BITS, "<u2")                                                                                        \
  DTYPE(b32, 32, BITS, "<u4")                                                                                        \
  DTYPE(b64, 64, BITS, "<u8")                                                                                        \
  DTYPE(b128, 128, BITS, "|V16")

typedef enum {
#define DTYPE(name, bits, class, numpy) TJ_DTYPE_##name,
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

/* The raw bits of the same width: what elements are until somebody converts them. */
tj_dtype tj_dtype_raw(tj_dtype dtype);

/* The one of fewer bits; `to`, where they are as wide: what a conversion on the way is best held in. */
tj_dtype tj_dtype_narrower(tj_dtype from, tj_dtype to);

#endif

/* SPDX-License-Identifier: MIT */
/* A run of bytes, and reading little-endian integers out of bytes that are not trusted. */
#ifndef TJ_BASE_BYTES_H
#define TJ_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Borrowed bytes. `data` may be NULL when `size` is 0, and need not be aligned. */
typedef struct {
  const void *data;
  size_t size;
} tj_bytes;

/* Whether `length` bytes from `offset` on lie inside; never overflows. */
static inline bool tj_bytes_contain(tj_bytes bytes, uint64_t offset, uint64_t length) {
  return offset <= bytes.size && length <= bytes.size - offset;
}

/* The `length` bytes from `offset` on, which must lie inside. */
static inline tj_bytes tj_bytes_slice(tj_bytes bytes, uint64_t offset, uint64_t length) {
  return (tj_bytes){length == 0 ? NULL : (const unsigned char *)bytes.data + offset, (size_t)length};
}

/* Integers of 1, 2, 4 and 8 bytes at `offset`, which must lie inside. */
static inline uint8_t tj_bytes_u8(tj_bytes bytes, size_t offset) {
  return ((const unsigned char *)bytes.data)[offset];
}

static inline uint16_t tj_bytes_u16(tj_bytes bytes, size_t offset) {
  const unsigned char *at = (const unsigned char *)bytes.data + offset;
  return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t tj_bytes_u32(tj_bytes bytes, size_t offset) {
  return tj_bytes_u16(bytes, offset) | (uint32_t)tj_bytes_u16(bytes, offset + 2) << 16;
}

static inline uint64_t tj_bytes_u64(tj_bytes bytes, size_t offset) {
  return tj_bytes_u32(bytes, offset) | (uint64_t)tj_bytes_u32(bytes, offset + 4) << 32;
}

/* Whether the bytes are exactly those of a zero-terminated string, without its zero. */
static inline bool tj_bytes_are(tj_bytes bytes, const char *string) {
  size_t length = strlen(string);
  return bytes.size == length && (length == 0 || memcmp(bytes.data, string, length) == 0);
}

#endif

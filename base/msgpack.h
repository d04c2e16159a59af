/* SPDX-License-Identifier: MIT */
/* MessagePack: reading values one after another out of untrusted bytes.
 *
 * A reader walks forward; a container is its head, followed by its elements (an array of n: n values; a map of n:
 * n pairs). Nothing is allocated and nothing recurses: skipping a value of any nesting is a loop bounded by the
 * bytes. */
#ifndef TJ_BASE_MSGPACK_H
#define TJ_BASE_MSGPACK_H

#include "base/bytes.h"

typedef enum {
  TJ_MSGPACK_NIL,
  TJ_MSGPACK_BOOLEAN,
  TJ_MSGPACK_UNSIGNED, /* 0 … 2^64-1, from signed encodings too */
  TJ_MSGPACK_NEGATIVE, /* -2^63 … -1 */
  TJ_MSGPACK_FLOAT,
  TJ_MSGPACK_STRING,
  TJ_MSGPACK_BINARY,
  TJ_MSGPACK_ARRAY,
  TJ_MSGPACK_MAP,
  TJ_MSGPACK_EXTENSION
} tj_msgpack_kind;

typedef struct {
  tj_msgpack_kind kind;
  uint32_t count; /* elements of an array, pairs of a map */
  union {
    bool boolean;
    uint64_t integer; /* negative: in two's complement */
    double real;
    tj_bytes bytes; /* a string (not checked for UTF-8), binary data, an extension's data */
  };
} tj_msgpack_value;

typedef struct {
  tj_bytes bytes;
  size_t next; /* the offset of the next value */
} tj_msgpack_reader;

/* The next value, or the head of a container. False, with nothing read: the bytes end, or are no MessagePack. */
bool tj_msgpack_next(tj_msgpack_reader *reader, tj_msgpack_value *value);

/* Passes over the next value with everything in it. False: the bytes end, or are no MessagePack. */
bool tj_msgpack_skip(tj_msgpack_reader *reader);

#endif

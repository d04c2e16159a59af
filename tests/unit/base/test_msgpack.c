/* SPDX-License-Identifier: MIT */
/* MessagePack: every encoding, every truncation, and containers that promise more than there is. */
#include "base/msgpack.h"

#include "tests/unit/support/harness.h"

#include <string.h>

typedef struct {
  const char *bytes;
  size_t size;
  tj_msgpack_kind kind;
  uint64_t integer; /* or the boolean, or the length of the bytes, or the count */
} value_row;

#define ROW(bytes, kind, integer)                                                                                    \
  { bytes, sizeof(bytes) - 1, TJ_MSGPACK_##kind, (uint64_t)(integer) }

static const value_row values[] = {
    ROW("\xc0", NIL, 0),
    ROW("\xc2", BOOLEAN, 0),
    ROW("\xc3", BOOLEAN, 1),
    ROW("\x00", UNSIGNED, 0),
    ROW("\x7f", UNSIGNED, 127),
    ROW("\xff", NEGATIVE, -1),
    ROW("\xe0", NEGATIVE, -32),
    ROW("\xcc\xff", UNSIGNED, 255),
    ROW("\xcd\x01\x02", UNSIGNED, 0x102),
    ROW("\xce\x01\x02\x03\x04", UNSIGNED, 0x1020304),
    ROW("\xcf\xff\xff\xff\xff\xff\xff\xff\xff", UNSIGNED, UINT64_MAX),
    ROW("\xd0\x80", NEGATIVE, -128),
    ROW("\xd0\x7f", UNSIGNED, 127),
    ROW("\xd1\xff\xfe", NEGATIVE, -2),
    ROW("\xd2\x80\x00\x00\x00", NEGATIVE, INT32_MIN),
    ROW("\xd3\x80\x00\x00\x00\x00\x00\x00\x00", NEGATIVE, INT64_MIN),
    ROW("\xa0", STRING, 0),
    ROW("\xa3"
        "abc",
        STRING, 3),
    ROW("\xd9\x01"
        "a",
        STRING, 1),
    ROW("\xda\x00\x01"
        "a",
        STRING, 1),
    ROW("\xdb\x00\x00\x00\x01"
        "a",
        STRING, 1),
    ROW("\xc4\x02\x00\xff", BINARY, 2),
    ROW("\xc5\x00\x01\x00", BINARY, 1),
    ROW("\xc6\x00\x00\x00\x01\x00", BINARY, 1),
    ROW("\x90", ARRAY, 0),
    ROW("\xdc\x00\x00", ARRAY, 0),
    ROW("\xdd\x00\x00\x00\x00", ARRAY, 0),
    ROW("\x80", MAP, 0),
    ROW("\xde\x00\x00", MAP, 0),
    ROW("\xdf\x00\x00\x00\x00", MAP, 0),
    ROW("\xd4\x05\xaa", EXTENSION, 1),
    ROW("\xd8\x05"
        "0123456789abcdef",
        EXTENSION, 16),
    ROW("\xc7\x02\x05\xaa\xbb", EXTENSION, 2),
    ROW("\xc8\x00\x01\x05\xaa", EXTENSION, 1),
    ROW("\xc9\x00\x00\x00\x00\x05", EXTENSION, 0),
};

static uint64_t payload(const tj_msgpack_value *value) {
  switch (value->kind) {
  case TJ_MSGPACK_BOOLEAN:
    return value->boolean;
  case TJ_MSGPACK_UNSIGNED:
  case TJ_MSGPACK_NEGATIVE:
    return value->integer;
  case TJ_MSGPACK_ARRAY:
  case TJ_MSGPACK_MAP:
    return value->count;
  case TJ_MSGPACK_NIL:
  case TJ_MSGPACK_FLOAT:
    return 0;
  default:
    return value->bytes.size;
  }
}

/* A copy that ends where the bytes end, so that sanitizers see a byte too many. */
static tj_bytes exact_copy(const void *data, size_t size) {
  void *copy = malloc(size == 0 ? 1 : size);
  memcpy(copy, data, size);
  return (tj_bytes){copy, size};
}

START_TEST(every_encoding_is_read) {
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    tj_msgpack_reader reader = {{values[i].bytes, values[i].size}, 0}, skipping = reader;
    tj_msgpack_value value;
    ck_assert_msg(tj_msgpack_next(&reader, &value), "row %zu", i);
    ck_assert_msg(value.kind == values[i].kind, "row %zu has kind %d", i, (int)value.kind);
    ck_assert_msg(payload(&value) == values[i].integer, "row %zu", i);
    ck_assert_uint_eq(reader.next, values[i].size);
    ck_assert(!tj_msgpack_next(&reader, &value));
    ck_assert(tj_msgpack_skip(&skipping));
    ck_assert_uint_eq(skipping.next, values[i].size);
  }
}
END_TEST

START_TEST(every_truncation_is_refused_without_moving) {
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    for (size_t size = 0; size < values[i].size; size++) {
      tj_bytes bytes = exact_copy(values[i].bytes, size);
      tj_msgpack_reader reader = {bytes, 0};
      tj_msgpack_value value;
      ck_assert_msg(!tj_msgpack_next(&reader, &value), "row %zu cut to %zu", i, size);
      ck_assert(!tj_msgpack_skip(&reader));
      ck_assert_uint_eq(reader.next, 0);
      free((void *)(uintptr_t)bytes.data);
    }
}
END_TEST

START_TEST(floats_have_their_values) {
  tj_msgpack_reader reader = {{"\xca\x3f\xc0\x00\x00\xcb\xbf\xe0\x00\x00\x00\x00\x00\x00", 14}, 0};
  tj_msgpack_value value;
  ck_assert(tj_msgpack_next(&reader, &value) && value.kind == TJ_MSGPACK_FLOAT);
  ck_assert(value.real == 1.5);
  ck_assert(tj_msgpack_next(&reader, &value) && value.kind == TJ_MSGPACK_FLOAT);
  ck_assert(value.real == -0.5);
}
END_TEST

START_TEST(skipping_passes_over_everything_inside) {
  static const char nested[] = "\x82\xa1"
                               "a\x93\x01\x92\xc0\xc3\xa1"
                               "b\xa1"
                               "c\x80\x07";
  tj_msgpack_reader reader = {{nested, sizeof nested - 1}, 0};
  tj_msgpack_value value;
  ck_assert(tj_msgpack_skip(&reader));
  ck_assert(tj_msgpack_next(&reader, &value));
  ck_assert_uint_eq(value.integer, 7);
}
END_TEST

START_TEST(depth_needs_no_stack) {
  enum { DEPTH = 1000 * 1000 };
  char *bytes = malloc(DEPTH + 1);
  memset(bytes, '\x91', DEPTH);
  bytes[DEPTH] = '\xc0';
  tj_msgpack_reader whole = {{bytes, DEPTH + 1}, 0}, cut = {{bytes, DEPTH}, 0};
  ck_assert(tj_msgpack_skip(&whole));
  ck_assert(!tj_msgpack_skip(&cut));
  free(bytes);
}
END_TEST

static const value_row refused[] = {
    ROW("\xc1", NIL, 0),
    ROW("\xdd\xff\xff\xff\xff\xc0", NIL, 0),
    ROW("\xdf\xff\xff\xff\xff\xc0\xc0", NIL, 0),
    ROW("\xdb\xff\xff\xff\xff"
        "a",
        NIL, 0),
    ROW("\xc9\xff\xff\xff\xff\x05"
        "a",
        NIL, 0),
    ROW("\x92\xc0\xc1", NIL, 0),
};

START_TEST(false_promises_are_refused) {
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    tj_msgpack_reader reader = {{refused[i].bytes, refused[i].size}, 0};
    ck_assert_msg(!tj_msgpack_skip(&reader), "row %zu", i);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      every_encoding_is_read,   every_truncation_is_refused_without_moving,
      floats_have_their_values, skipping_passes_over_everything_inside,
      depth_needs_no_stack,     false_promises_are_refused,
  };
  return run_suite(suite_of("msgpack", tests, sizeof tests / sizeof *tests));
}

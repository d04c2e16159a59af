/* SPDX-License-Identifier: MIT */
/* Decoding MessagePack: one table row per first byte or range of first bytes. */
#include "base/msgpack.h"

/* What follows a first byte: a number of `width` bytes, then as many bytes as it says, or as `extra` says. */
typedef enum {
  FORM_INVALID,
  FORM_NIL,
  FORM_BOOLEAN,     /* in the first byte */
  FORM_FIX_INTEGER, /* in the first byte */
  FORM_UNSIGNED,
  FORM_SIGNED,
  FORM_FLOAT,
  FORM_FIX_LENGTH, /* the length or count is in the first byte */
  FORM_LENGTH      /* the length or count follows */
} form;

typedef struct {
  uint8_t first, last;
  form form;
  uint8_t width;
  tj_msgpack_kind kind;
  uint8_t extra; /* an extension's type byte, which its length does not count */
} encoding;

static const encoding encodings[] = {
    {0x00, 0x7f, FORM_FIX_INTEGER, 0, TJ_MSGPACK_UNSIGNED, 0},
    {0x80, 0x8f, FORM_FIX_LENGTH, 4, TJ_MSGPACK_MAP, 0},
    {0x90, 0x9f, FORM_FIX_LENGTH, 4, TJ_MSGPACK_ARRAY, 0},
    {0xa0, 0xbf, FORM_FIX_LENGTH, 5, TJ_MSGPACK_STRING, 0},
    {0xc0, 0xc0, FORM_NIL, 0, TJ_MSGPACK_NIL, 0},
    {0xc1, 0xc1, FORM_INVALID, 0, TJ_MSGPACK_NIL, 0},
    {0xc2, 0xc3, FORM_BOOLEAN, 0, TJ_MSGPACK_BOOLEAN, 0},
    {0xc4, 0xc4, FORM_LENGTH, 1, TJ_MSGPACK_BINARY, 0},
    {0xc5, 0xc5, FORM_LENGTH, 2, TJ_MSGPACK_BINARY, 0},
    {0xc6, 0xc6, FORM_LENGTH, 4, TJ_MSGPACK_BINARY, 0},
    {0xc7, 0xc7, FORM_LENGTH, 1, TJ_MSGPACK_EXTENSION, 1},
    {0xc8, 0xc8, FORM_LENGTH, 2, TJ_MSGPACK_EXTENSION, 1},
    {0xc9, 0xc9, FORM_LENGTH, 4, TJ_MSGPACK_EXTENSION, 1},
    {0xca, 0xca, FORM_FLOAT, 4, TJ_MSGPACK_FLOAT, 0},
    {0xcb, 0xcb, FORM_FLOAT, 8, TJ_MSGPACK_FLOAT, 0},
    {0xcc, 0xcc, FORM_UNSIGNED, 1, TJ_MSGPACK_UNSIGNED, 0},
    {0xcd, 0xcd, FORM_UNSIGNED, 2, TJ_MSGPACK_UNSIGNED, 0},
    {0xce, 0xce, FORM_UNSIGNED, 4, TJ_MSGPACK_UNSIGNED, 0},
    {0xcf, 0xcf, FORM_UNSIGNED, 8, TJ_MSGPACK_UNSIGNED, 0},
    {0xd0, 0xd0, FORM_SIGNED, 1, TJ_MSGPACK_UNSIGNED, 0},
    {0xd1, 0xd1, FORM_SIGNED, 2, TJ_MSGPACK_UNSIGNED, 0},
    {0xd2, 0xd2, FORM_SIGNED, 4, TJ_MSGPACK_UNSIGNED, 0},
    {0xd3, 0xd3, FORM_SIGNED, 8, TJ_MSGPACK_UNSIGNED, 0},
    {0xd4, 0xd8, FORM_FIX_LENGTH, 0, TJ_MSGPACK_EXTENSION, 1},
    {0xd9, 0xd9, FORM_LENGTH, 1, TJ_MSGPACK_STRING, 0},
    {0xda, 0xda, FORM_LENGTH, 2, TJ_MSGPACK_STRING, 0},
    {0xdb, 0xdb, FORM_LENGTH, 4, TJ_MSGPACK_STRING, 0},
    {0xdc, 0xdc, FORM_LENGTH, 2, TJ_MSGPACK_ARRAY, 0},
    {0xdd, 0xdd, FORM_LENGTH, 4, TJ_MSGPACK_ARRAY, 0},
    {0xde, 0xde, FORM_LENGTH, 2, TJ_MSGPACK_MAP, 0},
    {0xdf, 0xdf, FORM_LENGTH, 4, TJ_MSGPACK_MAP, 0},
    {0xe0, 0xff, FORM_FIX_INTEGER, 0, TJ_MSGPACK_NEGATIVE, 0},
};

static const encoding *encoding_of(uint8_t first) {
  const encoding *row = encodings;
  while (first > row->last)
    row++;
  return row;
}

/* A big-endian number of `width` bytes at the reader. */
static bool read_number(tj_msgpack_reader *reader, uint8_t width, uint64_t *number) {
  if (!tj_bytes_contain(reader->bytes, reader->next, width))
    return false;
  *number = 0;
  for (uint8_t i = 0; i < width; i++)
    *number = *number << 8 | tj_bytes_u8(reader->bytes, reader->next++);
  return true;
}

static void set_signed(tj_msgpack_value *value, uint64_t number, uint8_t width) {
  unsigned unused = 64u - 8u * width;
  value->integer = (uint64_t)((int64_t)(number << unused) >> unused);
  value->kind = (int64_t)value->integer < 0 ? TJ_MSGPACK_NEGATIVE : TJ_MSGPACK_UNSIGNED;
}

static void set_float(tj_msgpack_value *value, uint64_t number, uint8_t width) {
  if (width == sizeof(float)) {
    uint32_t bits = (uint32_t)number;
    float real;
    memcpy(&real, &bits, sizeof real);
    value->real = (double)real;
  } else {
    memcpy(&value->real, &number, sizeof value->real);
  }
}

static uint64_t length_in_first(const encoding *row, uint8_t first) {
  if (row->kind == TJ_MSGPACK_EXTENSION)
    return UINT64_C(1) << (first - row->first);
  return first - row->first;
}

static bool take_length(tj_msgpack_reader *reader, tj_msgpack_value *value, const encoding *row, uint64_t length) {
  if (row->kind == TJ_MSGPACK_ARRAY || row->kind == TJ_MSGPACK_MAP) {
    value->count = (uint32_t)length;
    return true;
  }
  if (!tj_bytes_contain(reader->bytes, reader->next, length + row->extra))
    return false;
  value->bytes = tj_bytes_slice(reader->bytes, reader->next + row->extra, length);
  reader->next += length + row->extra;
  return true;
}

static bool decode(tj_msgpack_reader *reader, tj_msgpack_value *value, const encoding *row, uint8_t first) {
  uint64_t number = 0;
  *value = (tj_msgpack_value){.kind = row->kind};
  bool is_fixed = row->form == FORM_FIX_LENGTH;
  if (!is_fixed && !read_number(reader, row->width, &number))
    return false;
  switch (row->form) {
  case FORM_INVALID:
    return false;
  case FORM_NIL:
    return true;
  case FORM_BOOLEAN:
    value->boolean = first != row->first;
    return true;
  case FORM_FIX_INTEGER:
    set_signed(value, first, 1);
    return true;
  case FORM_UNSIGNED:
    value->integer = number;
    return true;
  case FORM_SIGNED:
    set_signed(value, number, row->width);
    return true;
  case FORM_FLOAT:
    set_float(value, number, row->width);
    return true;
  case FORM_FIX_LENGTH:
    return take_length(reader, value, row, length_in_first(row, first));
  case FORM_LENGTH:
    return take_length(reader, value, row, number);
  }
  return false;
}

bool tj_msgpack_next(tj_msgpack_reader *reader, tj_msgpack_value *value) {
  tj_msgpack_reader ahead = *reader;
  if (ahead.next >= ahead.bytes.size)
    return false;
  uint8_t first = tj_bytes_u8(ahead.bytes, ahead.next++);
  if (!decode(&ahead, value, encoding_of(first), first))
    return false;
  *reader = ahead;
  return true;
}

static uint64_t elements_of(const tj_msgpack_value *value) {
  switch (value->kind) {
  case TJ_MSGPACK_ARRAY:
    return value->count;
  case TJ_MSGPACK_MAP:
    return 2 * (uint64_t)value->count;
  default:
    return 0;
  }
}

bool tj_msgpack_skip(tj_msgpack_reader *reader) {
  tj_msgpack_reader ahead = *reader;
  tj_msgpack_value value;
  for (uint64_t pending = 1; pending != 0; pending--) {
    if (!tj_msgpack_next(&ahead, &value))
      return false;
    pending += elements_of(&value);
  }
  *reader = ahead;
  return true;
}

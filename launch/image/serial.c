/* SPDX-License-Identifier: MIT */
/* Values as bytes, and back. */
#include "launch/image/serial.h"

/* --- writing --- */

static void write_integer(tj_text *text, uint64_t value, unsigned bytes) {
  char *little = tj_text_room(text, bytes);
  for (unsigned i = 0; i < bytes; i++)
    little[i] = (char)(value >> (8 * i));
  tj_text_end(text, bytes);
}

void tj_write_u8(tj_text *text, uint8_t value) {
  write_integer(text, value, 1);
}

void tj_write_u32(tj_text *text, uint32_t value) {
  write_integer(text, value, 4);
}

void tj_write_u64(tj_text *text, uint64_t value) {
  write_integer(text, value, 8);
}

/* Seven bits in a byte, the low ones first; the highest bit of a byte says that there are more. */
enum { NUMBER_BITS = 7, MOST_NUMBER_BYTES = 10, MORE = 1 << NUMBER_BITS };

void tj_write_number(tj_text *text, uint64_t value) {
  char *bytes = tj_text_room(text, MOST_NUMBER_BYTES);
  unsigned count = 0;
  for (; value >= MORE; value >>= NUMBER_BITS)
    bytes[count++] = (char)(value | MORE);
  bytes[count++] = (char)value;
  tj_text_end(text, count);
}

void tj_write_bytes(tj_text *text, tj_bytes bytes) {
  tj_write_u64(text, bytes.size);
  if (bytes.size > 0)
    tj_text_add(text, bytes.data, bytes.size);
}

void tj_write_string(tj_text *text, const char *string) {
  tj_write_bytes(text, (tj_bytes){string, strlen(string) + 1});
}

/* --- reading --- */

void tj_read_expect(tj_reader *reader, bool holds) {
  reader->is_failed = reader->is_failed || !holds;
}

/* The place of the next `size` bytes, which is behind the reader then; NULL where there are not so many. */
static const unsigned char *take(tj_reader *reader, uint64_t size) {
  if (reader->is_failed || !tj_bytes_contain(reader->bytes, reader->at, size)) {
    reader->is_failed = true;
    return NULL;
  }
  const unsigned char *place = (const unsigned char *)reader->bytes.data + reader->at;
  reader->at += (size_t)size;
  return place;
}

uint8_t tj_read_u8(tj_reader *reader) {
  const unsigned char *place = take(reader, 1);
  return place != NULL ? *place : 0;
}

uint32_t tj_read_u32(tj_reader *reader) {
  const unsigned char *place = take(reader, 4);
  return place != NULL ? tj_bytes_u32((tj_bytes){place, 4}, 0) : 0;
}

uint64_t tj_read_u64(tj_reader *reader) {
  const unsigned char *place = take(reader, 8);
  return place != NULL ? tj_bytes_u64((tj_bytes){place, 8}, 0) : 0;
}

/* No number has two forms: its last byte is not 0, unless it is the only one. */
uint64_t tj_read_number(tj_reader *reader) {
  uint64_t value = 0;
  for (unsigned i = 0; i < MOST_NUMBER_BYTES; i++) {
    uint64_t byte = tj_read_u8(reader), bits = byte & (MORE - 1);
    value |= bits << (NUMBER_BITS * i);
    tj_read_expect(reader, value >> (NUMBER_BITS * i) == bits);
    if (byte < MORE) {
      tj_read_expect(reader, byte > 0 || i == 0);
      return reader->is_failed ? 0 : value;
    }
  }
  tj_read_expect(reader, false);
  return 0;
}

tj_bytes tj_read_bytes(tj_reader *reader) {
  uint64_t size = tj_read_u64(reader);
  const unsigned char *place = take(reader, size);
  return (tj_bytes){place, place != NULL ? (size_t)size : 0};
}

const char *tj_read_string(tj_reader *reader) {
  tj_bytes bytes = tj_read_bytes(reader);
  bool is_string =
      bytes.size > 0 && memchr(bytes.data, '\0', bytes.size) == (const char *)bytes.data + bytes.size - 1;
  tj_read_expect(reader, is_string);
  return is_string ? bytes.data : "";
}

uint32_t tj_read_count(tj_reader *reader, size_t least) {
  uint32_t count = tj_read_u32(reader);
  bool fits = !reader->is_failed && count <= (reader->bytes.size - reader->at) / least;
  tj_read_expect(reader, fits);
  return fits ? count : 0;
}

uint32_t tj_read_below(tj_reader *reader, uint32_t end) {
  uint32_t value = tj_read_u32(reader);
  tj_read_expect(reader, value < end);
  return value < end ? value : 0;
}

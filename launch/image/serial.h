/* SPDX-License-Identifier: MIT */
/* Serial form: values as bytes that can leave the process, and back.
 *
 * Integers are little-endian. Strings and runs of bytes carry their size in front; strings end in a zero byte
 * besides, so that a reader can hand them out in place. Writing grows a tj_text. Reading trusts nothing: whatever
 * lies outside of the bytes reads as 0 or "", and leaves the reader failed, which is looked at once, at the end. */
#ifndef TJ_LAUNCH_SERIAL_H
#define TJ_LAUNCH_SERIAL_H

#include "base/bytes.h"
#include "base/text.h"

void tj_write_u8(tj_text *text, uint8_t value);
void tj_write_u32(tj_text *text, uint32_t value);
void tj_write_u64(tj_text *text, uint64_t value);
void tj_write_number(tj_text *text, uint64_t value); /* in as few bytes as it takes, seven bits in each */
void tj_write_string(tj_text *text, const char *string);
void tj_write_bytes(tj_text *text, tj_bytes bytes);

/* Begins as {bytes}. */
typedef struct {
  tj_bytes bytes; /* borrowed, and so are strings and runs read from it */
  size_t at;
  bool is_failed;
} tj_reader;

uint8_t tj_read_u8(tj_reader *reader);
uint32_t tj_read_u32(tj_reader *reader);
uint64_t tj_read_u64(tj_reader *reader);
uint64_t tj_read_number(tj_reader *reader);
const char *tj_read_string(tj_reader *reader);
tj_bytes tj_read_bytes(tj_reader *reader);

/* A number of things that follow, each at least `least` bytes long; 0, and a failed reader, where so many cannot
 * follow. So a count never asks for more memory than a few times the bytes. */
uint32_t tj_read_count(tj_reader *reader, size_t least);

/* An integer less than `end`; 0, and a failed reader, for others. */
uint32_t tj_read_below(tj_reader *reader, uint32_t end);

/* Fails the reader unless `holds`. */
void tj_read_expect(tj_reader *reader, bool holds);

#endif

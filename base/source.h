/* SPDX-License-Identifier: MIT */
/* Source text and spans. A span is a pair of byte offsets; line and column are computed only when reporting. */
#ifndef TJ_BASE_SOURCE_H
#define TJ_BASE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

/* A text with the name by which diagnostics call it. Borrowed pointers; `text` need not end in a zero byte. */
typedef struct {
  const char *name;
  const char *text;
  size_t length;
  const struct tj_source_piece *piece; /* what the text is joined from (base/join.h); none: it is one text */
  uint32_t piece_count;
} tj_source;

/* The bytes begin … end-1 of a text that was joined from others: from which one they come, and where they stand
 * there. Pieces are in order; what lies between two is blamed on the end of the first. */
typedef struct tj_source_piece {
  uint32_t begin, end;
  tj_source from;
  uint32_t origin;
} tj_source_piece;

/* The bytes begin … end-1 of a source. begin == end marks a point; both UINT32_MAX: no place (TJ_NOWHERE). */
typedef struct {
  uint32_t begin;
  uint32_t end;
} tj_span;

#define TJ_NOWHERE ((tj_span){UINT32_MAX, UINT32_MAX})

/* Where a byte stands, and in which text: line and column count from 1, columns in bytes; the line's text without its
 * newline. */
typedef struct {
  const char *name;
  uint32_t line;
  uint32_t column;
  const char *text;
  size_t length;
} tj_location;

/* One text. */
static inline tj_source tj_source_of(const char *name, const char *text, size_t length) {
  return (tj_source){.name = name, .text = text, .length = length};
}

static inline int tj_span_is_somewhere(tj_span span) {
  return span.begin != UINT32_MAX;
}

/* The piece that a byte is blamed on; NULL where the source is one text. */
const tj_source_piece *tj_source_piece_at(const tj_source *source, uint32_t offset);
/* In the piece that it comes from, where the text is joined. */
tj_location tj_source_locate(const tj_source *source, uint32_t offset);

#endif

/* SPDX-License-Identifier: MIT */
/* Byte offsets to line and column, in the text that they come from. */
#include "base/source.h"

static tj_location locate_in_text(const tj_source *source, uint32_t offset) {
  size_t end = offset < source->length ? offset : source->length;
  size_t start = 0;
  uint32_t line = 1;
  for (size_t i = 0; i < end; i++) {
    if (source->text[i] != '\n')
      continue;
    line++;
    start = i + 1;
  }
  size_t stop = end;
  while (stop < source->length && source->text[stop] != '\n')
    stop++;
  if (stop > end && source->text[stop - 1] == '\r')
    stop--;
  return (tj_location){source->name, line, (uint32_t)(end - start) + 1, source->text + start, stop - start};
}

const tj_source_piece *tj_source_piece_at(const tj_source *source, uint32_t offset) {
  const tj_source_piece *piece = source->piece_count > 0 ? source->piece : NULL;
  for (uint32_t i = 1; i < source->piece_count && source->piece[i].begin <= offset; i++)
    piece = &source->piece[i];
  return piece;
}

tj_location tj_source_locate(const tj_source *source, uint32_t offset) {
  const tj_source_piece *piece = tj_source_piece_at(source, offset);
  if (piece == NULL)
    return locate_in_text(source, offset);
  uint32_t inside = offset < piece->begin ? 0 : (offset < piece->end ? offset : piece->end) - piece->begin;
  return locate_in_text(&piece->from, piece->origin + inside);
}

/* SPDX-License-Identifier: MIT */
/* Byte offsets to line and column, in the text that they come from. */
#include "base/source.h"

tj_location tj_source_locate(const tj_source *source, uint32_t offset) {
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
  return (tj_location){source->name, line, (uint32_t)(end - start) + 1, source->text + start, stop - start};
}

tj_location tj_pieces_locate(const tj_source_piece pieces[], uint32_t count, uint32_t offset) {
  const tj_source_piece *piece = pieces;
  for (uint32_t i = 1; i < count && pieces[i].begin <= offset; i++)
    piece = &pieces[i];
  uint32_t inside = offset < piece->begin ? 0 : (offset < piece->end ? offset : piece->end) - piece->begin;
  return tj_source_locate(&piece->from, piece->origin + inside);
}

/* SPDX-License-Identifier: MIT */
/* Byte offsets to line and column. */
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
  return (tj_location){line, (uint32_t)(end - start) + 1, source->text + start, stop - start};
}

/* SPDX-License-Identifier: MIT */
/* Joining texts into the source of a job. */
#include "base/join.h"

tj_join tj_join_begin(tj_job *job, size_t most) {
  return (tj_join){tj_text_begin(job), TJ_NEW_ARRAY(job, tj_source_piece, most + 1), 0};
}

void tj_join_piece(tj_join *join, const tj_source *from, size_t begin, size_t end) {
  uint32_t at = (uint32_t)join->text.length;
  tj_text_add(&join->text, from->text + begin, end - begin);
  join->piece[join->count++] = (tj_source_piece){at, at + (uint32_t)(end - begin), *from, (uint32_t)begin};
}

void tj_join_source(tj_join *join, const tj_source *from, size_t begin, size_t end) {
  size_t at = begin;
  if (from->piece_count == 0) {
    tj_join_piece(join, from, begin, end);
    return;
  }
  for (uint32_t i = 0; i < from->piece_count; i++) {
    const tj_source_piece *piece = &from->piece[i];
    size_t first = piece->begin > at ? piece->begin : at, last = piece->end < end ? piece->end : end;
    if (first >= last)
      continue;
    tj_text_add(&join->text, from->text + at, first - at);
    tj_join_piece(join, &piece->from, piece->origin + first - piece->begin, piece->origin + last - piece->begin);
    at = last;
  }
  tj_text_add(&join->text, from->text + at, end - at);
}

void tj_join_between(tj_join *join, const char *text) {
  tj_text_string(&join->text, text);
}

void tj_join_end(tj_join *join, const char *name) {
  tj_job *job = join->text.job;
  job->source = (tj_source){name, join->text.data, join->text.length, join->piece, join->count};
}

/* SPDX-License-Identifier: MIT */
/* Joining texts into the source of a job, such that diagnostics find their places in the texts themselves. */
#ifndef TJ_BASE_JOIN_H
#define TJ_BASE_JOIN_H

#include "base/text.h"

/* Start with tj_join_begin(job, most pieces). */
typedef struct {
  tj_text text;
  tj_source_piece *piece;
  uint32_t count;
} tj_join;

tj_join tj_join_begin(tj_job *job, size_t most);
/* Adds the bytes begin … end-1 of a text, which the job must keep. */
void tj_join_piece(tj_join *join, const tj_source *from, size_t begin, size_t end);
/* The same of a source that may itself be joined: its pieces keep their names. */
void tj_join_source(tj_join *join, const tj_source *from, size_t begin, size_t end);
/* Adds text that comes from nowhere: separators. */
void tj_join_between(tj_join *join, const char *text);
/* Makes the whole the source of the job. */
void tj_join_end(tj_join *join, const char *name);

#endif

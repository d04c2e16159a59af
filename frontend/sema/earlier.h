/* SPDX-License-Identifier: MIT */
/* What earlier programs, and the texts that they import, define for those that follow: parameters, values and
 * functions, kept as items, which are evaluated again with a program that mentions them.
 *
 * A later definition of a name hides an earlier one from the programs after it. An item that was defined with the
 * earlier one keeps it: items know by number which others they mention, and are evaluated in the order of numbers.
 *
 * Each text sees what it defines itself, and what the texts see that it imports. Programs are all one text.
 *
 * Memory is the job's; items live as long as it. One thread at a time. */
#ifndef TJ_FRONTEND_EARLIER_H
#define TJ_FRONTEND_EARLIER_H

#include "frontend/text/ast.h"

typedef struct {
  const tj_item *item;
  const tj_source *source; /* what its spans refer to */
  const uint32_t *needs;   /* numbers of the items that it mentions, all less than its own */
  uint32_t need_count;
  uint32_t text;  /* which one defines it */
  uint32_t next;  /* 1 + the number of the next item of its bucket, which is earlier; 0: none */
  uint32_t visit; /* the last collection that has it */
} tj_earlier_item;

/* One text, by the name that its reader gave. */
typedef struct {
  const char *name;
  uint64_t sees; /* a bit for each text whose definitions it sees */
  bool is_open;  /* its imports are being read */
} tj_earlier_text;

enum { TJ_EARLIER_BUCKETS = 4096, TJ_EARLIER_TEXTS = 64 };

typedef struct {
  tj_job *job;
  tj_earlier_text text[TJ_EARLIER_TEXTS]; /* the first: the programs */
  uint32_t text_count;
  size_t imported; /* bytes */
  tj_earlier_item *item;
  uint32_t count, capacity;
  uint32_t visit;
  uint32_t bucket[TJ_EARLIER_BUCKETS]; /* 1 + the number of the latest item by name; 0: none */
} tj_earlier;

tj_earlier *tj_earlier_create(tj_job *job);

/* Reads the texts that a program imports, and what those import, each once, with job->importer. `job`, which may be
 * another than theirs, is the program's: it fails with TJ2040, TJ2041, TJ7006, TJ7008, or as parsing does; then
 * nothing is added. (import.c) */
void tj_earlier_import(tj_earlier *earlier, tj_job *job, const tj_program_ast *program);

/* Adds the items of a text that are no kernels; job->source is the text. */
void tj_earlier_add_items(tj_earlier *earlier, uint32_t text, const tj_program_ast *program);
/* Takes back what was added since there were so many items. */
void tj_earlier_remove_items(tj_earlier *earlier, uint32_t count);

/* Parses job->source, which is kept as it is, and adds the items that are no kernels. */
void tj_earlier_add(tj_earlier *earlier);

/* Whether a parameter has, or had, that name. */
bool tj_earlier_has_parameter(const tj_earlier *earlier, const char *name);

/* What a program mentions, and what that mentions, in the order of definition; in the memory of `job`. */
const tj_earlier_item *const *tj_earlier_needed(tj_earlier *earlier, tj_job *job, const tj_program_ast *program,
                                                uint32_t *count);

#endif

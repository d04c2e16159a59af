/* SPDX-License-Identifier: MIT */
/* Items of earlier programs: adding them, and finding those that a program needs. */
#include "frontend/sema/earlier.h"

#include "frontend/text/parser.h"

#include <stdlib.h>
#include <string.h>

/* --- names --- */

static uint32_t bucket_of(const char *name) {
  uint32_t hash = 2166136261u;
  for (; *name != '\0'; name++)
    hash = (hash ^ (unsigned char)*name) * 16777619u;
  return hash % TJ_EARLIER_BUCKETS;
}

static bool is_seen(const tj_earlier_item *item, uint64_t sees, const char *name) {
  return (sees >> item->text & 1) != 0 && strcmp(item->item->name, name) == 0;
}

/* 1 + the number of the first item of that name in a bucket from `entry` on, which is the latest; 0: none. */
static uint32_t find_from(const tj_earlier *earlier, uint32_t entry, uint64_t sees, const char *name) {
  while (entry != 0 && !is_seen(&earlier->item[entry - 1], sees, name))
    entry = earlier->item[entry - 1].next;
  return entry;
}

static uint32_t find(const tj_earlier *earlier, uint64_t sees, const char *name) {
  return find_from(earlier, earlier->bucket[bucket_of(name)], sees, name);
}

bool tj_earlier_has_parameter(const tj_earlier *earlier, const char *name) {
  uint64_t sees = earlier->text[0].sees;
  uint32_t entry = find(earlier, sees, name);
  while (entry != 0 && earlier->item[entry - 1].item->kind != TJ_ITEM_PARAM)
    entry = find_from(earlier, earlier->item[entry - 1].next, sees, name);
  return entry != 0;
}

/* --- what is mentioned --- */

/* Numbers of items, each once: `visit` marks those that are there. */
typedef struct {
  tj_earlier *earlier;
  tj_job *job;
  uint64_t sees; /* texts */
  uint32_t *number;
  uint32_t count, capacity;
} collection;

static collection begin(tj_earlier *earlier, tj_job *job, uint32_t text) {
  earlier->visit++;
  return (collection){.earlier = earlier, .job = job, .sees = earlier->text[text].sees};
}

static void include(collection *c, uint32_t number) {
  tj_earlier_item *item = &c->earlier->item[number];
  if (item->visit == c->earlier->visit)
    return;
  item->visit = c->earlier->visit;
  if (c->count == c->capacity) {
    uint32_t *larger = TJ_NEW_ARRAY(c->job, uint32_t, c->capacity * 2 + 8);
    if (c->count > 0)
      memcpy(larger, c->number, c->count * sizeof *larger);
    c->number = larger;
    c->capacity = c->capacity * 2 + 8;
  }
  c->number[c->count++] = number;
}

static void include_named(const tj_ast *name, void *data) {
  collection *c = data;
  uint32_t entry = find(c->earlier, c->sees, name->name);
  if (entry != 0)
    include(c, entry - 1);
}

static int compare(const void *a, const void *b) {
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return (left > right) - (left < right);
}

const tj_earlier_item *const *tj_earlier_needed(tj_earlier *earlier, tj_job *job, const tj_program_ast *program,
                                                uint32_t *count) {
  collection c = begin(earlier, job, 0);
  for (uint32_t i = 0; i < program->item_count; i++)
    tj_item_each_name(job, &program->item[i], include_named, &c);
  tj_ast_each_name(job, program->value, include_named, &c);
  for (uint32_t i = 0; i < c.count; i++) {
    const tj_earlier_item *item = &earlier->item[c.number[i]];
    for (uint32_t k = 0; k < item->need_count; k++)
      include(&c, item->needs[k]);
  }
  if (c.count > 0)
    qsort(c.number, c.count, sizeof *c.number, compare);
  const tj_earlier_item **needed = TJ_NEW_ARRAY(job, const tj_earlier_item *, c.count + 1);
  for (uint32_t i = 0; i < c.count; i++)
    needed[i] = &earlier->item[c.number[i]];
  *count = c.count;
  return needed;
}

/* --- adding --- */

tj_earlier *tj_earlier_create(tj_job *job) {
  tj_earlier *earlier = TJ_NEW(job, tj_earlier);
  earlier->job = job;
  earlier->text[0].sees = 1;
  earlier->text_count = 1;
  return earlier;
}

static void add_item(tj_earlier *earlier, uint32_t text, const tj_source *source, const tj_item *item) {
  if (earlier->count == earlier->capacity) {
    tj_earlier_item *larger = TJ_NEW_ARRAY(earlier->job, tj_earlier_item, (size_t)earlier->capacity * 2 + 8);
    if (earlier->count > 0)
      memcpy(larger, earlier->item, earlier->count * sizeof *larger);
    earlier->item = larger;
    earlier->capacity = earlier->capacity * 2 + 8;
  }
  collection c = begin(earlier, earlier->job, text);
  tj_item_each_name(earlier->job, item, include_named, &c);
  uint32_t *bucket = &earlier->bucket[bucket_of(item->name)];
  earlier->item[earlier->count] = (tj_earlier_item){item, source, c.number, c.count, .text = text, .next = *bucket};
  *bucket = ++earlier->count;
}

void tj_earlier_add_items(tj_earlier *earlier, uint32_t text, const tj_program_ast *program) {
  const tj_source *source = tj_arena_copy(&earlier->job->arena, &earlier->job->source, sizeof *source);
  for (uint32_t i = 0; i < program->item_count; i++) {
    tj_item_kind kind = program->item[i].kind;
    if (kind != TJ_ITEM_KERNEL && kind != TJ_ITEM_IMPORT)
      add_item(earlier, text, source, &program->item[i]);
  }
}

void tj_earlier_remove_items(tj_earlier *earlier, uint32_t count) {
  while (earlier->count > count) {
    const tj_earlier_item *last = &earlier->item[--earlier->count];
    earlier->bucket[bucket_of(last->item->name)] = last->next;
  }
}

void tj_earlier_add(tj_earlier *earlier) {
  tj_earlier_add_items(earlier, 0, tj_parse(earlier->job));
}

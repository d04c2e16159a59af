/* SPDX-License-Identifier: MIT */
/* Cuts texts where their last expressions begin, and joins the parts such that diagnostics find their places. */
#include "jit/compile/expressions.h"

#include "base/join.h"
#include "frontend/text/parser.h"

#include <string.h>

/* A text cut where its last expression begins: its items are the bytes before `items_end`. */
typedef struct {
  tj_source source;
  uint32_t items_end, item_count;
  tj_span value;
} parts;

static const tj_program_ast *parse(tj_job *job, const char *name, const char *text) {
  job->source = tj_source_of(name, text, strlen(text));
  return tj_parse(job);
}

static parts split(tj_job *job, const char *name, const char *text) {
  const tj_program_ast *ast = parse(job, name, text);
  uint32_t item_count = ast->item_count - ast->dynamic_count;
  if (ast->value == NULL)
    return (parts){job->source, (uint32_t)job->source.length, item_count, TJ_NOWHERE};
  uint32_t end = ast->value->span.begin;
  while (end > 0 && strchr(" \t\n;", text[end - 1]) != NULL)
    end--;
  return (parts){job->source, end, item_count, ast->value->span};
}

static bool have_same_items(const parts *a, const parts *b) {
  return a->items_end == b->items_end && memcmp(a->source.text, b->source.text, a->items_end) == 0;
}

static bool has_items_of_earlier(const parts of[], uint32_t number) {
  for (uint32_t i = 0; i < number; i++) {
    if (have_same_items(&of[i], &of[number]))
      return true;
  }
  return false;
}

static void join_items(tj_join *join, const parts *of) {
  tj_join_piece(join, &of->source, 0, of->items_end);
  tj_join_between(join, "\n");
}

void tj_join_expressions(tj_job *job, const char *declarations, const tj_named_text text[], uint32_t count,
                         const char *purpose) {
  parts *of = TJ_NEW_ARRAY(job, parts, count), before;
  uint32_t items = 0;
  for (uint32_t i = 0; i < count; i++) {
    of[i] = split(job, text[i].name, text[i].text);
    items += of[i].item_count;
    if (!tj_span_is_somewhere(of[i].value))
      tj_fail(job, TJ_NOTHING_TO_EVALUATE, "%s has no expression %s", text[i].name, purpose);
  }
  before = split(job, TJ_DECLARATIONS_NAME, declarations != NULL ? declarations : "");
  tj_join join = tj_join_begin(job, 2 * count + 1);
  join_items(&join, &before);
  for (uint32_t i = 0; i < count; i++) {
    if (!has_items_of_earlier(of, i))
      join_items(&join, &of[i]);
  }
  for (uint32_t i = 0; i < count; i++) {
    tj_join_between(&join, i > 0 ? ", " : before.item_count + items > 0 ? ";[" : "[");
    tj_join_piece(&join, &of[i].source, of[i].value.begin, of[i].value.end);
  }
  tj_join_between(&join, "]");
  tj_join_end(&join, "the expressions");
}

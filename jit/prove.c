/* SPDX-License-Identifier: MIT */
/* Proving two texts equal: one program of the items of both, whose value is the pair of their expressions. */
#include "frontend/parser.h"
#include "ir/equivalence.h"
#include "ir/print.h"
#include "jit/context.h"
#include "jit/pipeline.h"
#include "jit/report_proof.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
  const char *declarations, *a, *b;
  bool equal;
  tj_text text;
} proof;

/* A text cut where its last expression begins. */
typedef struct {
  const char *items, *value;
  uint32_t item_count;
} parts;

static void set_source(tj_job *job, const char *name, const char *text) {
  job->source = (tj_source){name, text, strlen(text)};
}

static parts split(tj_job *job, const char *name, const char *text) {
  set_source(job, name, text);
  const tj_program_ast *ast = tj_parse(job);
  if (ast->value == NULL)
    tj_fail(job, TJ_NOTHING_TO_EVALUATE, "%s has no expression to compare", name);
  uint32_t begin = ast->value->span.begin, end = ast->value->span.end;
  while (begin > 0 && strchr(" \t\n;", text[begin - 1]) != NULL)
    begin--;
  return (parts){tj_string_copy(job, text, begin),
                 tj_string_copy(job, text + ast->value->span.begin, end - ast->value->span.begin), ast->item_count};
}

static uint32_t count_declarations(tj_job *job, const char *text) {
  set_source(job, "the declarations", text);
  return tj_parse(job)->item_count;
}

/* The items of all three, then the pair of values. */
static const char *joined(tj_job *job, const proof *p) {
  const char *declarations = p->declarations != NULL ? p->declarations : "";
  parts a = split(job, "the first expression", p->a), b = split(job, "the second expression", p->b);
  const char *more = strcmp(a.items, b.items) == 0 ? "" : b.items;
  bool has_items = count_declarations(job, declarations) + a.item_count + b.item_count > 0;
  return tj_string_format(job, "%s\n%s\n%s\n%s[%s, %s]", declarations, a.items, more, has_items ? ";" : "", a.value,
                          b.value);
}

static void write_verdict(proof *p, const tj_equivalence *found) {
  if (found->verdict == TJ_UNDECIDED)
    tj_fail(p->text.job, TJ_UNDECIDED_EQUALITY, "neither the rules nor %" PRIu64 " cases decide it; %s",
            found->case_count, found->why_not);
  tj_verdict_print(found, &p->text);
  tj_text_char(&p->text, '\n');
}

static void prove(tj_job *job, void *data) {
  proof *p = data;
  const char *text = joined(job, p);
  set_source(job, "<both expressions>", text);
  tj_graph *graph = tj_graph_create(job);
  const tj_value *both = tj_pipeline_evaluate(graph, NULL, NULL, 0).values->value;
  tj_equivalence found = tj_equivalence_of(graph, both->item[0], both->item[1]);
  p->text = tj_text_begin(job);
  p->equal = tj_is_equal(found.verdict);
  write_verdict(p, &found);
}

tj_status tj_prove(tj_context *context, const char *declarations, const char *a, const char *b, int *equal,
                   tj_blob *text) {
  tj_job job;
  tj_job_init(&job, &context->allocator);
  proof p = {.declarations = declarations, .a = a, .b = b};
  tj_status status = tj_context_run(context, &job, prove, &p);
  if (status == TJ_OK)
    status = tj_context_blob(context, p.text.data, p.text.length, text);
  if (status == TJ_OK)
    *equal = p.equal;
  tj_job_destroy(&job);
  return status;
}

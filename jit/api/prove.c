/* SPDX-License-Identifier: MIT */
/* Proving two texts equal: one program of the items of both, whose value is the pair of their expressions. */
#include "base/join.h"
#include "frontend/text/parser.h"
#include "ir/index/print.h"
#include "ir/value/equivalence.h"
#include "jit/compile/pipeline.h"
#include "jit/inspect/report_proof.h"
#include "launch/api/context.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
  const char *declarations, *a, *b;
  const tj_parameter_value *fixed;
  size_t fixed_count;
  bool equal;
  tj_text text;
} proof;

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
  if (ast->value == NULL)
    return (parts){job->source, (uint32_t)job->source.length, ast->item_count, TJ_NOWHERE};
  uint32_t end = ast->value->span.begin;
  while (end > 0 && strchr(" \t\n;", text[end - 1]) != NULL)
    end--;
  return (parts){job->source, end, ast->item_count, ast->value->span};
}

/* The same of a text that must have an expression. */
static parts split_compared(tj_job *job, const char *name, const char *text) {
  parts found = split(job, name, text);
  if (!tj_span_is_somewhere(found.value))
    tj_fail(job, TJ_NOTHING_TO_EVALUATE, "%s has no expression to compare", name);
  return found;
}

static bool have_same_items(const parts *a, const parts *b) {
  return a->items_end == b->items_end && memcmp(a->source.text, b->source.text, a->items_end) == 0;
}

static void join_items(tj_join *join, const parts *of) {
  tj_join_piece(join, &of->source, 0, of->items_end);
  tj_join_between(join, "\n");
}

/* The items of all three, then the pair of values: the job's source. What the declarations end in is passed over. */
static void join(tj_job *job, const proof *p) {
  const char *declarations = p->declarations != NULL ? p->declarations : "";
  parts a = split_compared(job, "the first expression", p->a), b = split_compared(job, "the second expression", p->b);
  parts before = split(job, TJ_DECLARATIONS_NAME, declarations);
  tj_join both = tj_join_begin(job, 5);
  join_items(&both, &before);
  join_items(&both, &a);
  if (!have_same_items(&a, &b))
    join_items(&both, &b);
  tj_join_between(&both, before.item_count + a.item_count + b.item_count > 0 ? ";[" : "[");
  tj_join_piece(&both, &a.source, a.value.begin, a.value.end);
  tj_join_between(&both, ", ");
  tj_join_piece(&both, &b.source, b.value.begin, b.value.end);
  tj_join_between(&both, "]");
  tj_join_end(&both, "both expressions");
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
  join(job, p);
  tj_graph *graph = tj_graph_create(job);
  const tj_value *both = tj_pipeline_evaluate(graph, NULL, p->fixed, p->fixed_count).values->value;
  tj_equivalence found = tj_equivalence_of(graph, both->item[0], both->item[1]);
  p->text = tj_text_begin(job);
  p->equal = tj_is_equal(found.verdict);
  write_verdict(p, &found);
}

tj_status tj_prove(tj_context *context, const char *declarations, const char *a, const char *b,
                   const tj_parameter_value fixed[], size_t fixed_count, int *equal, tj_blob *text) {
  tj_job job;
  tj_job_init(&job, &context->allocator);
  proof p = {.declarations = declarations, .a = a, .b = b, .fixed = fixed, .fixed_count = fixed_count};
  tj_status status = tj_context_run(context, &job, prove, &p);
  if (status == TJ_OK)
    status = tj_context_blob(context, p.text.data, p.text.length, text);
  if (status == TJ_OK)
    *equal = p.equal;
  tj_job_destroy(&job);
  return status;
}

/* SPDX-License-Identifier: MIT */
/* tj_check_dma: texts to a request, its plan, a report. */
#include "base/machine/target_id.h"
#include "ir/simplify/simplify.h"
#include "jit/api/texts.h"
#include "jit/dma/program_dma.h"

#include <inttypes.h>

/* A question, and what is made of it in a job. */
typedef struct {
  const tj_dma_question *question;
  tj_text text;
  bool holds;
} asking;

typedef struct {
  tj_dma_request request;
  const tj_value *at;
  tj_span at_span;
  const tj_program_values *program;
} asked;

static const tj_dma_engine *engine_of(tj_job *job, const char *target) {
  tj_target_id id;
  tj_target_reason reason;
  const tj_dma_engine *engine = NULL;
  if (target != NULL && tj_target_id_parse(target, &id, &reason))
    engine = tj_dma_engine_of(id.processor);
  if (engine == NULL) {
    tj_note(job, "targets that move tensors by an engine of their own are gfx1250, sm_90, sm_100, …");
    tj_fail(job, TJ_UNKNOWN_TARGET, "%s has no tensor DMA", target == NULL ? "no target" : target);
  }
  return engine;
}

static asked asked_of(tj_job *job, const tj_dma_question *question, const char *dtype) {
  asked a = {.at_span = TJ_NOWHERE};
  const tj_asked_text text[] = {{{"dma", question->tensor}, &a.request.tensor, &a.request.tensor_span},
                                {{"tile", question->tile}, &a.request.tile, &a.request.tile_span},
                                {{"lds", question->lds}, &a.request.lds, &a.request.lds_span},
                                {{"at", question->at}, &a.at, &a.at_span}};
  a.request.engine = engine_of(job, question->target);
  a.request.element_bytes = tj_asked_element_bytes(job, dtype);
  a.request.graph = tj_graph_create(job);
  a.program = tj_evaluate_texts(a.request.graph, question->declarations, question->fixed, question->fixed_count, text,
                                sizeof text / sizeof *text);
  return a;
}

static const tj_node *mode_length(tj_graph *graph, const tj_dma_plan *plan, uint32_t mode) {
  const tj_tuple *shape = tj_tuple_mode(plan->coordinates->layout.shape, mode);
  return tj_simplified(graph, tj_tuple_product(graph, shape));
}

static int64_t origin_along(const asked *a, const tj_dma_plan *plan, uint32_t mode) {
  tj_graph *graph = a->request.graph;
  const tj_tuple *entry = tj_tuple_mode(a->at->tuple, mode);
  if (entry->kind != TJ_TUPLE_INTEGER)
    tj_fail(graph->job, TJ_WRONG_TYPE, "a tile begins at integers");
  int64_t at = tj_constant_value(graph, entry->value, "a coordinate of the tile");
  int64_t extent = tj_tuple_mode(a->request.tile->tuple, mode)->value->value;
  const tj_node *length = mode_length(graph, plan, mode);
  if (at < 0 || at % extent != 0 || (tj_is_constant(length) && at >= length->value)) {
    tj_note(graph->job, "along mode %" PRIu32 " tiles begin at multiples of %" PRId64 ", inside of the tensor", mode,
            extent);
    tj_fail(graph->job, TJ_COORDINATE_RANGE, "no tile begins at %" PRId64 " along mode %" PRIu32, at, mode);
  }
  return at;
}

/* Where the tile begins that is told of: zeros where the question does not say. */
static const int64_t *origin_of(const asked *a, const tj_dma_plan *plan, uint32_t rank) {
  tj_job *job = a->request.graph->job;
  int64_t *origin = TJ_NEW_ARRAY(job, int64_t, rank);
  job->here = a->at_span;
  if (a->at != NULL && a->at->kind != TJ_VALUE_TUPLE)
    tj_fail(job, TJ_WRONG_TYPE, "a tile begins at a coordinate, not at %s", tj_value_kind_name(a->at->kind));
  if (a->at != NULL && tj_tuple_rank(a->at->tuple) != rank)
    tj_fail(job, TJ_COORDINATE_STRUCTURE, "a tile begins at a coordinate of %" PRIu32 " integers", rank);
  for (uint32_t i = 0; i < rank; i++)
    origin[i] = a->at == NULL || plan->obstacle != NULL ? 0 : origin_along(a, plan, i);
  return origin;
}

static void answer(tj_job *job, void *data) {
  asking *to = data;
  const char *dtype = to->question->dtype != NULL ? to->question->dtype : TJ_ASKED_DTYPE;
  asked a = asked_of(job, to->question, dtype);
  tj_dma_plan plan = tj_dma_plan_of(&a.request);
  uint32_t rank = tj_tuple_rank(a.request.tile->tuple);
  const tj_dma_report report = {.request = &a.request,
                                .plan = &plan,
                                .target = to->question->target,
                                .dtype = dtype,
                                .at = origin_of(&a, &plan, rank),
                                .rank = rank,
                                .parameter = a.program->parameter,
                                .parameter_count = a.program->parameter_count};
  to->text = tj_text_begin(job);
  to->holds = plan.obstacle == NULL;
  if (to->question->function != NULL && to->holds)
    tj_dma_write_functions(&report, to->question->function, &to->text);
  else if (to->question->as_program && to->holds)
    tj_dma_write_program(&report, &to->text);
  else
    tj_dma_write_report(&report, to->question->form, &to->text);
}

tj_status tj_check_dma(tj_context *context, const tj_dma_question *question, int *holds, tj_blob *text) {
  asking a = {.question = question};
  tj_status status = tj_answer(context, answer, &a, &a.text, text);
  if (status == TJ_OK)
    *holds = a.holds;
  return status;
}

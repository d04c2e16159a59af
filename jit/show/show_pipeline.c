/* SPDX-License-Identifier: MIT */
/* Pictures without a grid: the pipeline of a view or an adaptor, and the bits of a swizzle. */
#include "jit/show/show.h"

#include "ir/index/print.h"
#include "ir/simplify/simplify.h"

#include <inttypes.h>
#include <string.h>

/* --- pipelines --- */

typedef struct {
  tj_graph *graph;
  tj_job *job;
  tj_pipeline_step *step;
  uint32_t step_count;
} pipeline_builder;

static const char *transform_text(tj_job *job, const tj_transform *transform) {
  tj_text text = tj_text_begin(job);
  tj_transform_print(&text, transform);
  return text.data;
}

static const char *length_text(tj_graph *graph, const tj_node *length) {
  return length != NULL ? tj_node_text(graph->job, tj_simplified(graph, length)) : NULL;
}

static const char *const *length_texts(tj_graph *graph, const tj_node *const lengths[], uint32_t count) {
  const char **texts = TJ_NEW_ARRAY(graph->job, const char *, count + 1);
  for (uint32_t i = 0; i < count; i++)
    texts[i] = length_text(graph, lengths[i]);
  return texts;
}

static const uint32_t *numbers_from(tj_job *job, uint32_t first, uint32_t count) {
  uint32_t *numbers = TJ_NEW_ARRAY(job, uint32_t, count + 1);
  for (uint32_t i = 0; i < count; i++)
    numbers[i] = first + i;
  return numbers;
}

static const char *buffer_text(tj_graph *graph, const tj_view *view) {
  const char *size = length_text(graph, view->space_size), *offset = length_text(graph, view->offset);
  const char *plural = strcmp(size, "1") == 0 ? "" : "s";
  if (tj_is_int(view->offset, 0))
    return tj_string_format(graph->job, "a buffer of %s element%s", size, plural);
  return tj_string_format(graph->job, "a buffer of %s element%s, from element %s on", size, plural, offset);
}

/* The numbers of the transform(…) that each stage of a view belongs to. */
static const uint32_t *levels_of_stages(tj_job *job, const tj_view *view) {
  uint32_t *level = TJ_NEW_ARRAY(job, uint32_t, view->stage_count), depth = 0;
  for (const tj_view *v = view; v->below != NULL; v = v->below)
    depth++;
  for (const tj_view *v = view; v->below != NULL; v = v->below, depth--)
    for (uint32_t i = v->below->stage_count; i < v->stage_count; i++)
      level[i] = depth;
  return level;
}

/* The first of the stages before `end` that belong to the same transform(…). */
static uint32_t first_of_level(const uint32_t level[], uint32_t end) {
  uint32_t first = end - 1;
  while (first > 0 && level[first - 1] == level[end - 1])
    first--;
  return first;
}

static tj_pipeline_step step_of_stage(tj_graph *graph, const tj_stage *stage, uint32_t level) {
  return (tj_pipeline_step){.transform = transform_text(graph->job, stage->transform),
                            .upper = stage->upper_id,
                            .lower = stage->lower_id,
                            .upper_count = stage->transform->upper_count,
                            .lower_count = stage->transform->lower_count,
                            .stage = level};
}

static const tj_pipeline *pipeline_of_view(tj_graph *graph, const tj_view *view) {
  static const uint32_t buffer_number = 0;
  const uint32_t *level = levels_of_stages(graph->job, view);
  tj_pipeline_step *steps = TJ_NEW_ARRAY(graph->job, tj_pipeline_step, view->stage_count);
  uint32_t made = 0;
  for (uint32_t end = view->stage_count; end > 0;) {
    uint32_t first = first_of_level(level, end);
    for (uint32_t i = first; i < end; i++)
      steps[made++] = step_of_stage(graph, &view->stage[i], level[i]);
    end = first;
  }
  tj_pipeline *pipeline = TJ_NEW(graph->job, tj_pipeline);
  *pipeline = (tj_pipeline){.step = steps, .step_count = view->stage_count};
  pipeline->top = view->visible;
  pipeline->top_count = view->rank;
  pipeline->bottom = &buffer_number;
  pipeline->bottom_count = 1;
  pipeline->length = length_texts(graph, view->hidden_length, view->hidden_count);
  pipeline->dimension_count = view->hidden_count;
  pipeline->buffer = buffer_text(graph, view);
  return pipeline;
}

/* The stages of an adaptor, the lowest first. */
static const tj_adaptor *const *stages_of_adaptor(tj_job *job, const tj_adaptor *adaptor) {
  const tj_adaptor **stages = TJ_NEW_ARRAY(job, const tj_adaptor *, adaptor->stage_count);
  for (uint32_t i = adaptor->stage_count; i-- > 0; adaptor = adaptor->below)
    stages[i] = adaptor;
  return stages;
}

static const uint32_t *shifted(tj_job *job, const uint32_t numbers[], uint32_t count, uint32_t by) {
  uint32_t *sums = TJ_NEW_ARRAY(job, uint32_t, count + 1);
  for (uint32_t i = 0; i < count; i++)
    sums[i] = numbers[i] + by;
  return sums;
}

/* The steps of one stage, whose lower dimensions begin with number `lower` and whose upper ones with `upper`. */
static void add_adaptor_stage(pipeline_builder *self, const tj_adaptor *stage, uint32_t number, uint32_t lower,
                              uint32_t upper) {
  self->step_count -= stage->step_count;
  for (uint32_t i = 0; i < stage->step_count; i++) {
    const tj_view_step *step = &stage->step[i];
    tj_pipeline_step *made = &self->step[self->step_count + i];
    made->transform = transform_text(self->job, step->transform);
    made->upper = shifted(self->job, step->upper, step->upper_count, upper);
    made->lower = shifted(self->job, step->lower, step->lower_count, lower);
    made->upper_count = step->upper_count;
    made->lower_count = step->lower_count;
    made->stage = number;
  }
}

static const tj_pipeline *pipeline_of_adaptor(tj_graph *graph, const tj_adaptor *adaptor) {
  tj_job *job = graph->job;
  const tj_adaptor *const *stages = stages_of_adaptor(job, adaptor);
  uint32_t step_count = 0, dimension_count = adaptor->bottom_rank;
  for (uint32_t i = 0; i < adaptor->stage_count; i++) {
    step_count += stages[i]->step_count;
    dimension_count += stages[i]->rank;
  }
  const tj_node **lengths = TJ_NEW_ARRAY(job, const tj_node *, dimension_count + 1);
  pipeline_builder self = {graph, job, TJ_NEW_ARRAY(job, tj_pipeline_step, step_count + 1), step_count};
  uint32_t lower = 0, upper = adaptor->bottom_rank;
  for (uint32_t i = 0; i < adaptor->bottom_rank; i++)
    lengths[i] = adaptor->bottom_length[i];
  for (uint32_t i = 0; i < adaptor->stage_count; i++) {
    for (uint32_t k = 0; k < stages[i]->rank; k++)
      lengths[upper + k] = stages[i]->length[k];
    add_adaptor_stage(&self, stages[i], i, lower, upper);
    lower = upper;
    upper += stages[i]->rank;
  }
  tj_pipeline *pipeline = TJ_NEW(job, tj_pipeline);
  *pipeline = (tj_pipeline){.step = self.step, .step_count = step_count};
  pipeline->top = numbers_from(job, lower, adaptor->rank);
  pipeline->top_count = adaptor->rank;
  pipeline->bottom = numbers_from(job, 0, adaptor->bottom_rank);
  pipeline->bottom_count = adaptor->bottom_rank;
  pipeline->length = length_texts(graph, lengths, dimension_count);
  pipeline->dimension_count = dimension_count;
  return pipeline;
}

const tj_pipeline *tj_show_pipeline(tj_graph *graph, const tj_value *value) {
  if (value->kind == TJ_VALUE_VIEW)
    return pipeline_of_view(graph, value->view);
  if (value->kind == TJ_VALUE_ADAPTOR)
    return pipeline_of_adaptor(graph, value->adaptor);
  if (value->kind == TJ_VALUE_DISTRIBUTION)
    return pipeline_of_adaptor(graph, tj_distribution_adaptor(graph, value->distribution));
  return NULL;
}

/* --- swizzles --- */

static uint32_t add_field(tj_bit_run runs[], uint32_t count, uint32_t low, uint32_t bits, int32_t partner) {
  for (uint32_t bit = low + bits; bit-- > low;)
    runs[count++] = (tj_bit_run){bit, bit, partner};
  return count;
}

static uint32_t add_gap(tj_bit_run runs[], uint32_t count, uint32_t low, uint32_t end) {
  if (low < end)
    runs[count++] = (tj_bit_run){end - 1, low, 0};
  return count;
}

static const tj_bits *bits_of(tj_job *job, tj_swizzle swizzle) {
  uint32_t size = (uint32_t)swizzle.bits, distance = (uint32_t)(swizzle.shift < 0 ? -swizzle.shift : swizzle.shift);
  uint32_t low = (uint32_t)swizzle.base, high = low + distance, count = 0;
  tj_bit_run *runs = TJ_NEW_ARRAY(job, tj_bit_run, 2 * size + 2);
  count = add_field(runs, count, high, size, swizzle.shift < 0 ? -(int32_t)distance : 0);
  count = add_gap(runs, count, low + size, high);
  count = add_field(runs, count, low, size, swizzle.shift > 0 ? (int32_t)distance : 0);
  count = add_gap(runs, count, 0, low);
  tj_bits *bits = TJ_NEW(job, tj_bits);
  *bits = (tj_bits){runs, count, size, swizzle.shift > 0 ? high : low, swizzle.shift > 0 ? low : high};
  return bits;
}

static const char *field_text(tj_job *job, uint32_t low, uint32_t count) {
  return count == 1 ? tj_string_format(job, "bit %u", low)
                    : tj_string_format(job, "bits %u-%u", low, low + count - 1);
}

/* What the grid of a period shows; its cells are the chunks of 2^base integers that a swizzle moves as one. */
static const char *note_of_swizzle(tj_job *job, tj_swizzle swizzle, const tj_bits *bits, bool has_grid) {
  if (bits->count == 0)
    return "the identity: no bit changes";
  const char *change = tj_string_format(job, "%s XORed into %s", field_text(job, bits->from, bits->count),
                                        field_text(job, bits->to, bits->count));
  if (!has_grid)
    return change;
  if (swizzle.base == 0)
    return tj_string_format(job, "%s; the grid is one period", change);
  return tj_string_format(job, "%s; the grid is one period, in chunks of %" PRId64 " indices", change,
                          (int64_t)1 << swizzle.base);
}

/* The swizzle on chunk numbers: one row for each value of the upper bits. */
static const tj_value *chunks_of(tj_graph *graph, tj_swizzle swizzle) {
  int32_t distance = swizzle.shift < 0 ? -swizzle.shift : swizzle.shift;
  int64_t columns = (int64_t)1 << distance;
  const tj_tuple *shape[] = {tj_tuple_constant(graph, (int64_t)1 << swizzle.bits), tj_tuple_constant(graph, columns)};
  const tj_tuple *stride[] = {tj_tuple_constant(graph, columns), tj_tuple_constant(graph, 1)};
  tj_layout layout = tj_layout_make(graph, tj_tuple_list(graph, shape, 2), tj_tuple_list(graph, stride, 2));
  return tj_value_of_parts(graph, tj_swizzle_make(graph, swizzle.bits, 0, swizzle.shift), tj_tuple_constant(graph, 0),
                           layout);
}

void tj_show_swizzle(const tj_show_request *request, tj_picture *picture) {
  enum { MOST_BITS = 16 };
  tj_swizzle swizzle = request->value->swizzle;
  int32_t distance = swizzle.shift < 0 ? -swizzle.shift : swizzle.shift;
  bool has_grid = swizzle.bits > 0 && swizzle.bits + distance <= MOST_BITS;
  if (has_grid) {
    tj_show_request chunks = *request;
    chunks.value = chunks_of(request->graph, swizzle);
    tj_show_grid(&chunks, picture);
  }
  picture->bits = bits_of(request->graph->job, swizzle);
  picture->note = note_of_swizzle(request->graph->job, swizzle, picture->bits, has_grid);
}

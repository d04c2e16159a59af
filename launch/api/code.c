/* SPDX-License-Identifier: MIT */
/* What a compiled kernel is, and what it takes: its parameters and arguments, as far as they are known before any has
 * a value. */
#include "launch/api/code.h"

void tj_code_destroy(tj_code *code) {
  if (code == NULL)
    return;
  tj_image_release(code->image);
  tj_context_release(code->context, code);
}

/* --- machine code --- */

const tj_machine_part *tj_code_require(tj_job *job, const tj_code *code, uint32_t number, tj_part_order *order) {
  return tj_machine_require(job, code->image->machine, code->image->plan, number, order->context->make_part, order);
}

typedef struct {
  const tj_code *code;
  tj_bytes bytes;
} completion;

static void complete(tj_job *job, void *data) {
  completion *c = data;
  c->bytes = tj_code_require(job, c->code, TJ_ALL_VARIANTS, &(tj_part_order){.context = c->code->context})->bytes;
}

const void *tj_code_bytes(const tj_code *code, size_t *size) {
  tj_job job;
  tj_job_init(&job, &code->context->allocator);
  completion c = {.code = code};
  (void)tj_job_run(&job, complete, &c);
  tj_job_destroy(&job);
  *size = c.bytes.size;
  return c.bytes.data;
}

/* --- what it is --- */

const char *tj_code_kernel(const tj_code *code) {
  return code->image->plan->kernel;
}

const char *tj_code_target(const tj_code *code) {
  return code->image->plan->target;
}

tj_code_origin tj_code_origin_of(const tj_code *code) {
  return code->origin;
}

tj_code_times tj_code_times_of(const tj_code *code) {
  return code->times;
}

/* --- what it takes --- */

size_t tj_code_argument_count(const tj_code *code) {
  return code->image->plan->buffer_count;
}

const char *tj_code_argument_name(const tj_code *code, size_t index) {
  const tj_launch_plan *plan = code->image->plan;
  return index < plan->buffer_count ? plan->buffer[index].name : NULL;
}

/* The value of an expression that no parameter decides. */
static bool constant_of(const tj_launch_plan *plan, tj_expression expression, int64_t *value) {
  if (expression == TJ_NO_EXPRESSION || plan->step[expression].op != TJ_OP_CONSTANT)
    return false;
  *value = plan->step[expression].value;
  return true;
}

size_t tj_code_parameter_count(const tj_code *code) {
  return code->image->plan->parameter_count;
}

tj_parameter_info tj_code_parameter(const tj_code *code, size_t index) {
  const tj_launch_plan *plan = code->image->plan;
  if (index >= plan->parameter_count)
    return (tj_parameter_info){0};
  const tj_launch_parameter *from = &plan->parameter[index];
  tj_parameter_info parameter = {.name = from->name,
                                 .low = INT64_MIN,
                                 .high = INT64_MAX,
                                 .multiple = 1,
                                 .is_fixed = from->is_fixed,
                                 .is_needed = index < plan->passed_count};
  parameter.has_low = constant_of(plan, from->low, &parameter.low);
  parameter.has_high = constant_of(plan, from->high, &parameter.high);
  (void)constant_of(plan, from->multiple, &parameter.multiple);
  return parameter;
}

tj_argument tj_code_argument(const tj_code *code, size_t index) {
  const tj_launch_plan *plan = code->image->plan;
  if (index >= plan->buffer_count)
    return (tj_argument){0};
  const tj_launch_buffer *buffer = &plan->buffer[index];
  tj_argument argument = {.name = buffer->name,
                          .dtype = tj_dtype_name(buffer->dtype),
                          .numpy = tj_dtype_numpy(buffer->dtype),
                          .element_bytes = tj_dtype_bits(buffer->dtype) / 8,
                          .element_count = -1,
                          .is_read = buffer->is_read,
                          .is_written = buffer->is_written,
                          .is_row_major = buffer->is_row_major,
                          .is_column_major = buffer->is_column_major,
                          .rank = buffer->rank};
  (void)constant_of(plan, buffer->element_count, &argument.element_count);
  return argument;
}

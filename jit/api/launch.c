/* SPDX-License-Identifier: MIT */
/* Launches: parameters and arrays of one run, and the run, waited for or not. All that is known of the kernel is its
 * launch plan. */
#include "base/target_id.h"
#include "jit/api/buffer.h"
#include "jit/api/code.h"
#include "jit/api/fence.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

/* What is bound to one argument. */
typedef struct {
  const int64_t *shape; /* of the array; NULL: not told */
  size_t rank;
  bool has_run;      /* the shape is that of an earlier run */
  void *data;        /* host memory; NULL: none */
  tj_buffer *buffer; /* memory of a device, in its place; NULL: none */
  size_t bytes;      /* of either */
} bound_array;

enum { MOST_COUNTERS = 64 };

struct tj_launch {
  tj_context *context;
  const tj_code *code;
  tj_job job;              /* messages, shapes, argument blocks */
  int64_t *value;          /* of the plan's parameters, by number */
  bool *bound;             /* those that have one, given or taken from shapes */
  bool *given;             /* those whose value is given */
  bool is_resolved;        /* all parameters have values that agree with their facts */
  bool is_race_free;       /* as far as the plan tells, with these values */
  tj_launch_value *result; /* of the plan's expressions, once that is so */
  bound_array *array;      /* one for each of the plan's buffers */
  tj_argument argument;    /* what tj_launch_argument last described */
  uint64_t nanoseconds;
  tj_rt_counter counter[MOST_COUNTERS];
  size_t counter_count;
};

static const tj_launch_plan *plan_of(const tj_launch *launch) {
  return launch->code->image->plan;
}

/* --- creation --- */

static void prepare(tj_job *job, void *data) {
  tj_launch *launch = data;
  const tj_launch_plan *plan = plan_of(launch);
  launch->value = TJ_NEW_ARRAY(job, int64_t, plan->parameter_count + 1);
  launch->bound = TJ_NEW_ARRAY(job, bool, plan->parameter_count + 1);
  launch->given = TJ_NEW_ARRAY(job, bool, plan->parameter_count + 1);
  launch->result = TJ_NEW_ARRAY(job, tj_launch_value, plan->step_count + 1);
  launch->array = TJ_NEW_ARRAY(job, bound_array, plan->buffer_count + 1);
}

tj_status tj_launch_create(tj_context *context, const tj_code *code, tj_launch **launch) {
  tj_launch *made = tj_context_allocate(context, sizeof *made);
  if (made == NULL)
    return TJ_ERROR_MEMORY;
  made->context = context;
  made->code = code;
  tj_job_init(&made->job, &context->allocator);
  tj_status status = tj_context_run(context, &made->job, prepare, made);
  if (status == TJ_OK)
    *launch = made;
  else
    tj_launch_destroy(made);
  return status;
}

void tj_launch_destroy(tj_launch *launch) {
  if (launch == NULL)
    return;
  tj_job_destroy(&launch->job);
  tj_context_release(launch->context, launch);
}

/* --- calls that may fail --- */

typedef struct {
  tj_launch *launch;
  const char *name;
  int64_t value;
  const int64_t *shape;
  size_t index, rank;
  void *data;
  tj_buffer *buffer;
  size_t bytes;
} request;

static tj_status perform(tj_launch *launch, void (*body)(tj_job *job, void *data), request r) {
  r.launch = launch;
  return tj_context_run(launch->context, &launch->job, body, &r);
}

static size_t find_buffer(tj_job *job, const tj_launch_plan *plan, const char *name) {
  for (uint32_t i = 0; i < plan->buffer_count; i++) {
    if (strcmp(plan->buffer[i].name, name) == 0)
      return i;
  }
  tj_fail(job, TJ_KERNEL_ARGUMENT, "kernel '%s' has no argument '%s'", plan->kernel, name);
}

/* --- facts --- */

/* The value of an expression of a launch that is resolved, or of what is bound so far. */
static int64_t evaluate(tj_launch *launch, tj_expression expression) {
  const tj_launch_value *result = &launch->result[expression];
  if (result->status != TJ_EVAL_OK)
    tj_fail_eval(&launch->job, result->status);
  return result->value;
}

/* A bound of a parameter; false where there is none, or others decide it that have no value yet. Without values, only
 * constants are known. */
static bool known_bound(tj_launch *launch, tj_expression bound, bool has_values, int64_t *value) {
  if (bound == TJ_NO_EXPRESSION)
    return false;
  const tj_launch_step *step = &plan_of(launch)->step[bound];
  if (step->op == TJ_OP_CONSTANT) {
    *value = step->value;
    return true;
  }
  if (!has_values || launch->result[bound].status == TJ_EVAL_UNBOUND)
    return false;
  *value = evaluate(launch, bound);
  return true;
}

static void check_facts(tj_launch *launch, uint32_t number, int64_t value, bool has_values) {
  const tj_launch_parameter *parameter = &plan_of(launch)->parameter[number];
  int64_t low = value, high = value;
  (void)known_bound(launch, parameter->low, has_values, &low);
  (void)known_bound(launch, parameter->high, has_values, &high);
  if (value < low || value > high)
    tj_fail(&launch->job, TJ_PARAMETER_RANGE, "'%s' = %" PRId64 " is outside its declared range", parameter->name,
            value);
  if (value % parameter->multiple != 0)
    tj_fail(&launch->job, TJ_PARAMETER_RANGE, "'%s' = %" PRId64 " is no multiple of %" PRId64, parameter->name, value,
            parameter->multiple);
}

/* --- parameters --- */

static void bind_parameter(tj_launch *launch, uint32_t number, int64_t value) {
  launch->value[number] = value;
  launch->bound[number] = true;
  launch->is_resolved = launch->is_race_free = false;
}

/* Any parameter of the program that is not fixed may be given, also one that this kernel does not use. */
static void set_parameter(tj_job *job, void *data) {
  const request *r = data;
  const tj_launch_plan *plan = plan_of(r->launch);
  for (uint32_t i = 0; i < plan->parameter_count; i++) {
    if (strcmp(plan->parameter[i].name, r->name) != 0)
      continue;
    if (plan->parameter[i].is_fixed)
      tj_fail(job, TJ_UNKNOWN_PARAMETER, "parameter '%s' is fixed at compile time", r->name);
    check_facts(r->launch, i, r->value, false);
    bind_parameter(r->launch, i, r->value);
    r->launch->given[i] = true;
    return;
  }
  tj_fail(job, TJ_UNKNOWN_PARAMETER, "the program has no parameter '%s'", r->name);
}

tj_status tj_launch_set_parameter(tj_launch *launch, const char *name, int64_t value) {
  return perform(launch, set_parameter, (request){.name = name, .value = value});
}

/* --- shapes --- */

/* Whether an argument's shape says the value of a parameter that is not given: as its length `mode`. */
static bool says_parameter(const tj_launch *launch, uint32_t buffer, const bound_array *array, uint32_t mode,
                           uint32_t *parameter) {
  const tj_launch_buffer *of = &plan_of(launch)->buffer[buffer];
  if (array->shape == NULL || !of->is_row_major || of->rank != array->rank)
    return false;
  const tj_launch_step *extent = &plan_of(launch)->step[of->extent[mode]];
  if (extent->op != TJ_OP_SYMBOL || launch->given[extent->parameter])
    return false;
  *parameter = extent->parameter;
  return true;
}

/* A length of an array, and the parameter that it is. */
typedef struct {
  uint32_t buffer, parameter;
  int64_t length;
} saying;

/* What an array says of a parameter that is not what another says; false where they agree. */
static bool contradicts(const tj_launch *launch, uint32_t buffer, const bound_array *array, const saying *other,
                        saying *found) {
  for (uint32_t i = 0; i < plan_of(launch)->buffer[buffer].rank; i++) {
    found->buffer = buffer;
    if (says_parameter(launch, buffer, array, i, &found->parameter) && found->parameter == other->parameter &&
        array->shape[i] != other->length) {
      found->length = array->shape[i];
      return true;
    }
  }
  return false;
}

/* Shapes of earlier runs give way; those that are told for one run must agree. */
static void check_saying(tj_launch *launch, const bound_array *told, const saying *is) {
  const tj_launch_plan *plan = plan_of(launch);
  saying other;
  check_facts(launch, is->parameter, is->length, false);
  for (uint32_t i = 0; i < plan->buffer_count; i++) {
    const bound_array *array = i == is->buffer ? told : &launch->array[i];
    if (!array->has_run && contradicts(launch, i, array, is, &other))
      tj_fail(&launch->job, TJ_ARRAY_SHAPE,
              "'%s' is %" PRId64 " by the shape of '%s', and %" PRId64 " by that of '%s'",
              plan->parameter[is->parameter].name, other.length, plan->buffer[i].name, is->length,
              plan->buffer[is->buffer].name);
  }
}

static void forget_earlier(tj_launch *launch, const saying *is) {
  saying other;
  for (uint32_t i = 0; i < plan_of(launch)->buffer_count; i++) {
    if (contradicts(launch, i, &launch->array[i], is, &other))
      launch->array[i].shape = NULL;
  }
}

/* What was taken from shapes is taken anew. */
static void forget_lengths(tj_launch *launch) {
  for (uint32_t i = 0; i < plan_of(launch)->parameter_count; i++)
    launch->bound[i] = launch->given[i];
  launch->is_resolved = launch->is_race_free = false;
}

static void check_lengths(tj_job *job, const request *r) {
  for (size_t i = 0; i < r->rank; i++) {
    if (r->shape[i] < 0)
      tj_fail(job, TJ_ARRAY_SHAPE, "the array of '%s' has a length of %" PRId64, r->name, r->shape[i]);
  }
}

static void set_shape(tj_job *job, void *data) {
  const request *r = data;
  tj_launch *launch = r->launch;
  saying is = {.buffer = (uint32_t)find_buffer(job, plan_of(launch), r->name)};
  bound_array told = launch->array[is.buffer];
  uint32_t rank = plan_of(launch)->buffer[is.buffer].rank;
  check_lengths(job, r);
  told.shape = tj_arena_copy(&job->arena, r->shape, r->rank * sizeof *r->shape);
  told.rank = r->rank;
  told.has_run = false;
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t i = 0; i < rank; i++) {
      if (!says_parameter(launch, is.buffer, &told, i, &is.parameter))
        continue;
      is.length = told.shape[i];
      if (pass == 0)
        check_saying(launch, &told, &is);
      else
        forget_earlier(launch, &is);
    }
  }
  launch->array[is.buffer] = told;
  forget_lengths(launch);
}

tj_status tj_launch_set_shape(tj_launch *launch, const char *argument, const int64_t shape[], size_t rank) {
  return perform(launch, set_shape, (request){.name = argument, .shape = shape, .rank = rank});
}

/* Takes parameters that are not given from an array's shape. */
static void infer_from(tj_launch *launch, uint32_t buffer) {
  const bound_array *array = &launch->array[buffer];
  uint32_t parameter;
  for (uint32_t i = 0; i < plan_of(launch)->buffer[buffer].rank; i++) {
    if (says_parameter(launch, buffer, array, i, &parameter) && !launch->bound[parameter])
      bind_parameter(launch, parameter, array->shape[i]);
  }
}

/* Gives every parameter a value, checks it against what the code was compiled for, and evaluates the plan. */
static void resolve(tj_launch *launch) {
  const tj_launch_plan *plan = plan_of(launch);
  for (uint32_t i = 0; i < plan->buffer_count; i++)
    infer_from(launch, i);
  if (launch->is_resolved)
    return;
  for (uint32_t i = 0; i < plan->passed_count; i++) {
    if (!launch->bound[i])
      tj_fail(&launch->job, TJ_MISSING_PARAMETER, "parameter '%s' has no value", plan->parameter[i].name);
  }
  tj_launch_plan_evaluate(plan, launch->value, launch->bound, launch->result);
  for (uint32_t i = 0; i < plan->parameter_count; i++) {
    if (launch->bound[i])
      check_facts(launch, i, launch->value[i], true);
  }
  launch->is_resolved = true;
}

/* --- arguments --- */

static void describe_argument(tj_job *job, void *data) {
  const request *r = data;
  tj_launch *launch = r->launch;
  const tj_launch_plan *plan = plan_of(launch);
  if (r->index >= plan->buffer_count)
    tj_fail(job, TJ_KERNEL_ARGUMENT, "kernel '%s' has %" PRIu32 " arguments", plan->kernel, plan->buffer_count);
  resolve(launch);
  const tj_launch_buffer *buffer = &plan->buffer[r->index];
  int64_t *lengths = TJ_NEW_ARRAY(job, int64_t, buffer->rank + 1);
  for (uint32_t i = 0; i < buffer->rank; i++)
    lengths[i] = evaluate(launch, buffer->extent[i]);
  launch->argument = (tj_argument){.name = buffer->name,
                                   .dtype = tj_dtype_name(buffer->dtype),
                                   .numpy = tj_dtype_numpy(buffer->dtype),
                                   .element_bytes = tj_dtype_bits(buffer->dtype) / 8,
                                   .element_count = evaluate(launch, buffer->element_count),
                                   .is_read = buffer->is_read,
                                   .is_written = buffer->is_written,
                                   .is_row_major = buffer->is_row_major,
                                   .is_column_major = buffer->is_column_major,
                                   .lengths = lengths,
                                   .rank = buffer->rank};
}

tj_status tj_launch_argument(tj_launch *launch, size_t index, const tj_argument **argument) {
  tj_status status = perform(launch, describe_argument, (request){.index = index});
  if (status == TJ_OK)
    *argument = &launch->argument;
  return status;
}

static size_t needed_bytes(tj_launch *launch, const tj_launch_buffer *buffer) {
  int64_t elements = evaluate(launch, buffer->element_count);
  size_t bytes;
  if (__builtin_mul_overflow(elements, tj_dtype_bits(buffer->dtype) / 8, &bytes))
    tj_fail(&launch->job, TJ_BUFFER_SIZE, "'%s' needs more bytes than there are addresses", buffer->name);
  return bytes;
}

static void check_size(tj_launch *launch, const tj_launch_buffer *buffer, const bound_array *array) {
  size_t needed = needed_bytes(launch, buffer);
  if (array->bytes < needed)
    tj_fail(&launch->job, TJ_BUFFER_SIZE, "'%s' needs %zu bytes, the array has %zu", buffer->name, needed,
            array->bytes);
}

static void bind_array(tj_job *job, void *data) {
  const request *r = data;
  tj_launch *launch = r->launch;
  size_t index = find_buffer(job, plan_of(launch), r->name);
  resolve(launch);
  launch->array[index].data = r->data;
  launch->array[index].buffer = r->buffer;
  launch->array[index].bytes = r->bytes;
  check_size(launch, &plan_of(launch)->buffer[index], &launch->array[index]);
}

tj_status tj_launch_bind(tj_launch *launch, const char *argument, void *data, size_t bytes) {
  return perform(launch, bind_array, (request){.name = argument, .data = data, .bytes = bytes});
}

tj_status tj_launch_bind_buffer(tj_launch *launch, const char *argument, tj_buffer *buffer) {
  return perform(launch, bind_array, (request){.name = argument, .buffer = buffer, .bytes = tj_buffer_size(buffer)});
}

/* --- the run --- */

/* What a run holds on a device, given back at its end; of a launch that is not waited for, the buffers are the
 * caller's. */
typedef struct {
  tj_launch *launch;
  tj_device *owner;
  tj_rt_device *device;
  tj_rt_buffer *buffer;  /* of each argument */
  uint32_t buffer_count; /* how many there are so far */
  tj_rt_kernel *kernel;  /* borrowed */
  uint64_t *block;       /* the argument block */
  tj_rt_completion *completion;
  bool is_cancelled;
  tj_rt_error error;
} dispatch;

static void expect(dispatch *d, tj_status status) {
  if (status == TJ_ERROR_MEMORY)
    tj_fail_out_of_memory(&d->launch->job);
  if (status != TJ_OK)
    tj_fail_system(&d->launch->job, d->error.code, "%s", d->error.text);
}

/* Kernels rely on what they write being written through one argument only. */
static void check_sharing(dispatch *d, uint32_t number) {
  const tj_launch_plan *plan = plan_of(d->launch);
  const bound_array *array = d->launch->array;
  for (uint32_t i = 0; i < number; i++) {
    bool is_written = plan->buffer[i].is_written || plan->buffer[number].is_written;
    if (array[i].buffer == array[number].buffer && is_written)
      tj_fail(&d->launch->job, TJ_KERNEL_ARGUMENT, "arguments '%s' and '%s' have one buffer, and it is written",
              plan->buffer[i].name, plan->buffer[number].name);
  }
}

/* The caller's buffer of an argument. */
static tj_rt_buffer borrow(dispatch *d, uint32_t number) {
  const tj_buffer *buffer = d->launch->array[number].buffer;
  if (buffer->device != d->owner)
    tj_fail(&d->launch->job, TJ_KERNEL_ARGUMENT, "the buffer of argument '%s' is of another device",
            plan_of(d->launch)->buffer[number].name);
  check_sharing(d, number);
  return buffer->memory;
}

/* A buffer of the run with a copy of the argument's host memory. */
static void upload(dispatch *d, uint32_t number) {
  const bound_array *array = &d->launch->array[number];
  expect(d, tj_rt_allocate(d->device, array->bytes, &d->buffer[number], &d->error));
  d->buffer_count = number + 1;
  expect(d, tj_rt_write(d->device, &d->buffer[number], 0, (tj_bytes){array->data, array->bytes}, &d->error));
}

static void provide_buffers(dispatch *d) {
  const tj_launch_plan *plan = plan_of(d->launch);
  d->buffer = TJ_NEW_ARRAY(&d->launch->job, tj_rt_buffer, plan->buffer_count + 1);
  for (uint32_t i = 0; i < plan->buffer_count; i++) {
    const bound_array *array = &d->launch->array[i];
    if (array->data == NULL && array->buffer == NULL)
      tj_fail(&d->launch->job, TJ_KERNEL_ARGUMENT, "argument '%s' has no array", plan->buffer[i].name);
    check_size(d->launch, &plan->buffer[i], array);
    if (array->buffer != NULL)
      d->buffer[i] = borrow(d, i);
    else
      upload(d, i);
    d->buffer_count = i + 1;
  }
}

static uint64_t word_value(const dispatch *d, const tj_launch_word *word) {
  switch (word->kind) {
  case TJ_WORD_BUFFER:
    return d->buffer[word->of].address;
  case TJ_WORD_PARAMETER:
    return (uint64_t)d->launch->value[word->of];
  case TJ_WORD_DERIVED:
    return tj_derived_word(word->derived, evaluate(d->launch, word->of));
  case TJ_WORD_KIND_COUNT:
    break;
  }
  return 0;
}

static void fill_block(dispatch *d) {
  const tj_launch_plan *plan = plan_of(d->launch);
  d->block = TJ_NEW_ARRAY(&d->launch->job, uint64_t, plan->word_count + 1);
  for (uint32_t i = 0; i < plan->word_count; i++)
    d->block[i] = word_value(d, &plan->word[i]);
}

/* The number of the first variant whose condition holds. */
static uint32_t choose_variant(tj_launch *launch) {
  const tj_launch_plan *plan = plan_of(launch);
  for (uint32_t i = 0; i < plan->variant_count; i++) {
    tj_expression condition = plan->variant[i].condition;
    if (condition == TJ_NO_EXPRESSION || evaluate(launch, condition) != 0)
      return i;
  }
  tj_fail(&launch->job, TJ_INTERNAL, "no variant of kernel '%s' serves these parameters", plan->kernel);
}

static void load_variant(dispatch *d, uint32_t number) {
  tj_machine *machine = d->launch->code->image->machine;
  const tj_launch_plan *plan = plan_of(d->launch);
  tj_rt_code code = {.symbol = plan->variant[number].symbol, .argument_bytes = tj_launch_argument_bytes(plan)};
  if (machine->host != NULL)
    code.entry = tj_host_code_entry(machine->host, number);
  else
    code.code_object = machine->bytes;
  expect(d, tj_resident_kernel(&machine->residents, &d->owner->residents, number, &code, &d->kernel, &d->error));
}

static void start(dispatch *d) {
  uint32_t number = choose_variant(d->launch);
  const tj_launch_variant *variant = &plan_of(d->launch)->variant[number];
  int64_t items = evaluate(d->launch, variant->count);
  if (items < 1)
    tj_fail(&d->launch->job, TJ_INTERNAL, "kernel '%s' has %" PRId64 " work-items", plan_of(d->launch)->kernel,
            items);
  uint64_t count = (uint64_t)items;
  uint64_t workgroups = count / variant->workgroup_size + (count % variant->workgroup_size != 0);
  load_variant(d, number);
  tj_rt_dispatch packet = {d->block, workgroups, variant->workgroup_size, d->completion};
  expect(d, tj_rt_launch(d->device, d->kernel, &packet, &d->error));
}

static bool goes_on(void *data, uint64_t done, uint64_t total) {
  dispatch *d = data;
  d->is_cancelled = !tj_tell(&d->launch->job.listener, TJ_WAITING_FOR_LAUNCH, done, total);
  return !d->is_cancelled;
}

static void finish(dispatch *d) {
  const tj_rt_watch watch = {goes_on, d};
  tj_status status = tj_rt_finish_watched(d->device, d->completion, &watch, &d->error);
  if (d->is_cancelled)
    tj_fail_cancelled(&d->launch->job);
  expect(d, status);
  d->launch->nanoseconds = d->completion->nanoseconds;
  size_t counters = tj_rt_counters(d->device, d->launch->counter, MOST_COUNTERS);
  d->launch->counter_count = counters < MOST_COUNTERS ? counters : MOST_COUNTERS;
}

static void download(dispatch *d) {
  const tj_launch_plan *plan = plan_of(d->launch);
  for (uint32_t i = 0; i < plan->buffer_count; i++) {
    const bound_array *array = &d->launch->array[i];
    if (plan->buffer[i].is_written && array->buffer == NULL)
      expect(d, tj_rt_read(d->device, &d->buffer[i], 0, array->data, array->bytes, &d->error));
  }
}

/* --- races --- */

/* A coordinate in the form's structure. */
static const char *coordinate_text(tj_job *job, const tj_launch_race *race, const int64_t at[]) {
  tj_text text = tj_text_begin(job);
  uint32_t mode = 0;
  for (const char *c = race->form; *c != '\0'; c++) {
    if (*c == '_' && mode < race->modes)
      tj_text_integer(&text, at[mode++]);
    else
      tj_text_char(&text, *c);
  }
  return text.data;
}

/* The element of the destination at a coordinate. */
static const char *element_text(const tj_launch *launch, tj_job *job, const tj_launch_race *race,
                                const int64_t at[]) {
  bool is_known = race->base != TJ_NO_EXPRESSION && launch->result[race->base].status == TJ_EVAL_OK;
  int64_t element = is_known ? launch->result[race->base].value : 0, step;
  for (uint32_t i = 0; i < race->modes; i++) {
    int64_t stride = launch->result[race->mode[i].side[0].stride].value;
    is_known =
        is_known && !__builtin_mul_overflow(stride, at[i], &step) && !__builtin_add_overflow(element, step, &element);
  }
  return is_known ? tj_string_format(job, "both element %" PRId64, element) : "one element";
}

/* Refuses parameters by which two coordinates store different sources to one element. */
static void check_races(tj_launch *launch) {
  const tj_launch_plan *plan = plan_of(launch);
  const tj_launch_race *race = plan->race;
  int64_t first[TJ_RACE_MODES], second[TJ_RACE_MODES];
  tj_job *job = &launch->job;
  if (race == NULL || launch->is_race_free)
    return;
  if (tj_launch_race_decide(race, launch->result, first, second) == TJ_RACE_FOUND)
    tj_fail(job, TJ_DESTINATION_RACE, "coordinates %s and %s of '%s' are %s, and have different sources",
            coordinate_text(job, race, first), coordinate_text(job, race, second),
            plan->buffer[race->destination].name, element_text(launch, job, race, first));
  launch->is_race_free = true;
}

/* --- runs --- */

static void check_target(dispatch *d, const char *device_target) {
  tj_target_reason reason;
  if (!tj_target_allows(plan_of(d->launch)->target, device_target, &reason))
    tj_fail(&d->launch->job, TJ_DEVICE_TARGET, "%s", reason.text);
}

static void prepare_dispatch(dispatch *d) {
  check_target(d, d->device->info.target);
  resolve(d->launch);
  check_races(d->launch);
  provide_buffers(d);
  for (uint32_t i = 0; i < plan_of(d->launch)->buffer_count; i++)
    d->launch->array[i].has_run = true;
  fill_block(d);
}

static void run(tj_job *job, void *data) {
  (void)job;
  dispatch *d = data;
  prepare_dispatch(d);
  start(d);
  finish(d);
  download(d);
}

tj_status tj_launch_run(tj_launch *launch, tj_device *device) {
  tj_rt_completion completion = {.is_done = true};
  dispatch d = {.launch = launch, .owner = device, .device = device->rt, .completion = &completion};
  tj_status status = tj_context_run(launch->context, &launch->job, run, &d);
  for (uint32_t i = 0; i < d.buffer_count; i++) {
    if (launch->array[i].buffer == NULL)
      tj_rt_release(d.device, &d.buffer[i]);
  }
  return status;
}

/* --- launches that are not waited for --- */

/* Host memory would have to be copied back when the kernel has ended, which nobody waits for. */
static void require_buffers(const dispatch *d) {
  const tj_launch_plan *plan = plan_of(d->launch);
  for (uint32_t i = 0; i < plan->buffer_count; i++) {
    if (d->launch->array[i].buffer == NULL)
      tj_fail(&d->launch->job, TJ_KERNEL_ARGUMENT, "argument '%s' of a launch that is submitted has no buffer",
              plan->buffer[i].name);
  }
}

static void submit(tj_job *job, void *data) {
  (void)job;
  dispatch *d = data;
  require_buffers(d);
  prepare_dispatch(d);
  start(d);
}

tj_status tj_launch_submit(tj_launch *launch, tj_device *device, tj_fence **fence) {
  tj_context_forget(launch->context);
  tj_fence *made = tj_fence_create(launch->context, device, launch->code->image);
  if (made == NULL)
    return TJ_ERROR_MEMORY;
  dispatch d = {.launch = launch, .owner = device, .device = device->rt, .completion = &made->completion};
  tj_status status = tj_context_run(launch->context, &launch->job, submit, &d);
  if (status == TJ_OK)
    *fence = made;
  else
    tj_fence_destroy(made);
  return status;
}

uint64_t tj_launch_nanoseconds(const tj_launch *launch) {
  return launch->nanoseconds;
}

size_t tj_launch_counter_count(const tj_launch *launch) {
  return launch->counter_count;
}

uint64_t tj_launch_counter(const tj_launch *launch, size_t index, const char **name) {
  *name = launch->counter[index].name;
  return launch->counter[index].value;
}

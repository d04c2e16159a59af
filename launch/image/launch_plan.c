/* SPDX-License-Identifier: MIT */
/* Launch plans as bytes, and evaluated. */
#include "launch/image/launch_plan.h"

#include "base/dma/decode.h"

/* --- writing --- */

static void write_step(tj_text *text, const tj_launch_step *step) {
  tj_write_u8(text, (uint8_t)step->op);
  if (step->op == TJ_OP_CONSTANT)
    tj_write_u64(text, (uint64_t)step->value);
  else if (step->op == TJ_OP_SYMBOL)
    tj_write_u32(text, step->parameter);
  for (unsigned i = 0; i < tj_op_arity(step->op); i++)
    tj_write_u32(text, step->arg[i]);
}

static void write_parameter(tj_text *text, const tj_launch_parameter *parameter) {
  tj_write_string(text, parameter->name);
  tj_write_u32(text, parameter->low);
  tj_write_u32(text, parameter->high);
  tj_write_u32(text, parameter->multiple);
  tj_write_u32(text, parameter->choice_count);
  for (uint32_t i = 0; i < parameter->choice_count; i++)
    tj_write_u64(text, (uint64_t)parameter->choice[i]);
  tj_write_u8(text, parameter->is_fixed);
  tj_write_u8(text, parameter->number_bits);
}

static void write_buffer(tj_text *text, const tj_launch_buffer *buffer) {
  tj_write_string(text, buffer->name);
  tj_write_u32(text, buffer->dtype);
  tj_write_u8(text, buffer->is_read);
  tj_write_u8(text, buffer->is_written);
  tj_write_u8(text, buffer->is_row_major);
  tj_write_u8(text, buffer->is_column_major);
  tj_write_u32(text, buffer->element_count);
  tj_write_u32(text, buffer->rank);
  for (uint32_t i = 0; i < buffer->rank; i++)
    tj_write_u32(text, buffer->extent[i]);
}

static void write_word(tj_text *text, const tj_launch_word *word) {
  tj_write_u8(text, (uint8_t)word->kind);
  tj_write_u8(text, (uint8_t)word->derived);
  tj_write_u8(text, word->is_upper);
  tj_write_u32(text, word->of);
}

/* The rank is 0 where there is no map. */
static void write_map(tj_text *text, const tj_launch_map *map) {
  tj_write_u32(text, map != NULL ? map->rank : 0);
  if (map == NULL)
    return;
  tj_write_u32(text, map->buffer);
  tj_write_u32(text, map->element_bytes);
  tj_write_u32(text, map->swizzle);
  tj_write_u32(text, map->offset);
  for (uint32_t d = 0; d < map->rank; d++) {
    tj_write_u32(text, map->extent[d]);
    tj_write_u32(text, map->box[d]);
    if (d > 0)
      tj_write_u32(text, map->stride[d - 1]);
  }
}

static void write_variant(tj_text *text, const tj_launch_variant *variant, uint32_t buffer_count) {
  tj_write_string(text, variant->symbol);
  tj_write_u8(text, variant->follows);
  tj_write_u32(text, variant->condition);
  tj_write_u32(text, variant->count);
  tj_write_u32(text, variant->workgroup_size);
  tj_write_u32(text, variant->lds_bytes);
  for (uint32_t i = 0; i < buffer_count; i++)
    tj_write_u32(text, variant->alignment[i]);
  write_map(text, variant->map);
}

/* The number of modes is 0 where there is no race. */
static void write_race(tj_text *text, const tj_launch_race *race) {
  tj_write_u32(text, race != NULL ? race->modes : 0);
  if (race == NULL)
    return;
  tj_write_u32(text, race->sources);
  tj_write_u32(text, race->destination);
  tj_write_string(text, race->form);
  tj_write_u32(text, race->base);
  for (uint32_t i = 0; i < race->modes; i++) {
    for (uint32_t k = 0; k <= race->sources; k++) {
      tj_write_u32(text, race->mode[i].side[k].begin);
      tj_write_u32(text, race->mode[i].side[k].end);
      tj_write_u32(text, race->mode[i].side[k].stride);
    }
  }
}

static void write_tile(tj_text *text, const tj_launch_tile *tile) {
  for (uint32_t i = 0; i < TJ_TILE_WORDS; i++)
    tj_write_u32(text, tile->tile.word[i]);
  for (uint32_t i = 0; i < TJ_TILE_INPUTS; i++) {
    if (tj_launch_has_input(&tile->tile, i))
      tj_write_u32(text, tile->input[i]);
  }
}

void tj_launch_plan_write(tj_text *text, const tj_launch_plan *plan) {
  tj_write_u32(text, TJ_LAUNCH_PLAN_VERSION);
  tj_write_string(text, plan->kernel);
  tj_write_string(text, plan->target);
  tj_write_u32(text, plan->parameter_count);
  tj_write_u32(text, plan->passed_count);
  tj_write_u32(text, plan->tile_count);
  tj_write_u32(text, plan->step_count);
  for (uint32_t i = 0; i < plan->step_count; i++)
    write_step(text, &plan->step[i]);
  for (uint32_t i = 0; i < plan->tile_count; i++)
    write_tile(text, &plan->tile[i]);
  for (uint32_t i = 0; i < plan->parameter_count; i++)
    write_parameter(text, &plan->parameter[i]);
  tj_write_u32(text, plan->buffer_count);
  for (uint32_t i = 0; i < plan->buffer_count; i++)
    write_buffer(text, &plan->buffer[i]);
  tj_write_u32(text, plan->word_count);
  for (uint32_t i = 0; i < plan->word_count; i++)
    write_word(text, &plan->word[i]);
  tj_write_u32(text, plan->scratch_bytes);
  tj_write_u32(text, plan->variant_count);
  for (uint32_t i = 0; i < plan->variant_count; i++)
    write_variant(text, &plan->variant[i], plan->buffer_count);
  write_race(text, plan->race);
}

/* --- reading --- */

/* The least bytes of each, as they are written. */
enum {
  STEP_BYTES = 5,
  PARAMETER_BYTES = 27,
  BUFFER_BYTES = 25,
  EXTENT_BYTES = 4,
  CHOICE_BYTES = 8,
  WORD_BYTES = 7,
  VARIANT_BYTES = 30
};

typedef struct {
  tj_job *job;
  tj_reader *reader;
  tj_launch_plan *plan;
} reading;

static bool read_truth(reading *r) {
  uint8_t value = tj_read_u8(r->reader);
  tj_read_expect(r->reader, value <= 1);
  return value == 1;
}

static tj_expression read_expression(reading *r) {
  return tj_read_below(r->reader, r->plan->step_count);
}

static tj_expression read_optional_expression(reading *r) {
  uint32_t value = tj_read_u32(r->reader);
  tj_read_expect(r->reader, value < r->plan->step_count || value == TJ_NO_EXPRESSION);
  return value;
}

static tj_launch_step read_step(reading *r, uint32_t number) {
  uint8_t op = tj_read_u8(r->reader);
  tj_read_expect(r->reader, op < TJ_OP_COUNT);
  tj_launch_step step = {.op = op < TJ_OP_COUNT ? (tj_op)op : TJ_OP_CONSTANT};
  if (step.op == TJ_OP_CONSTANT)
    step.value = (int64_t)tj_read_u64(r->reader);
  else if (step.op == TJ_OP_SYMBOL)
    step.parameter = tj_read_below(r->reader, r->plan->parameter_count + r->plan->tile_count * TJ_TILE_NUMBERS);
  for (unsigned i = 0; i < tj_op_arity(step.op); i++)
    step.arg[i] = tj_read_below(r->reader, number);
  return step;
}

static void read_steps(reading *r) {
  uint32_t count = tj_read_count(r->reader, STEP_BYTES);
  tj_launch_step *step = TJ_NEW_ARRAY(r->job, tj_launch_step, count + 1);
  for (uint32_t i = 0; i < count; i++)
    step[i] = read_step(r, i);
  r->plan->step = step;
  r->plan->step_count = count;
}

static tj_launch_tile read_tile(reading *r) {
  tj_launch_tile tile = {.tile = {.modes = 1}};
  for (uint32_t i = 0; i < TJ_TILE_WORDS; i++) {
    uint32_t word = tj_read_u32(r->reader);
    tj_read_expect(r->reader, tj_tile_allows(i, word));
    tile.tile.word[i] = word;
  }
  for (uint32_t i = 0; i < TJ_TILE_INPUTS && !r->reader->is_failed; i++) {
    if (tj_launch_has_input(&tile.tile, i))
      tile.input[i] = read_expression(r);
  }
  return tile;
}

static void read_tiles(reading *r) {
  tj_launch_tile *tile = TJ_NEW_ARRAY(r->job, tj_launch_tile, r->plan->tile_count + 1);
  for (uint32_t i = 0; i < r->plan->tile_count; i++)
    tile[i] = read_tile(r);
  r->plan->tile = tile;
}

static void read_choices(reading *r, tj_launch_parameter *parameter) {
  parameter->choice_count = tj_read_count(r->reader, CHOICE_BYTES);
  int64_t *choice = TJ_NEW_ARRAY(r->job, int64_t, parameter->choice_count + 1);
  for (uint32_t i = 0; i < parameter->choice_count; i++)
    choice[i] = (int64_t)tj_read_u64(r->reader);
  parameter->choice = choice;
}

static tj_launch_parameter read_parameter(reading *r) {
  tj_launch_parameter parameter = {.name = tj_read_string(r->reader)};
  parameter.low = read_optional_expression(r);
  parameter.high = read_optional_expression(r);
  parameter.multiple = read_optional_expression(r);
  read_choices(r, &parameter);
  parameter.is_fixed = read_truth(r);
  parameter.number_bits = tj_read_u8(r->reader);
  tj_read_expect(r->reader, parameter.number_bits == 0 || parameter.number_bits == 32 || parameter.number_bits == 64);
  return parameter;
}

static void read_parameters(reading *r) {
  tj_launch_parameter *parameter = TJ_NEW_ARRAY(r->job, tj_launch_parameter, r->plan->parameter_count + 1);
  for (uint32_t i = 0; i < r->plan->parameter_count; i++)
    parameter[i] = read_parameter(r);
  r->plan->parameter = parameter;
}

static void read_extents(reading *r, tj_launch_buffer *buffer) {
  buffer->rank = tj_read_count(r->reader, EXTENT_BYTES);
  tj_expression *extent = TJ_NEW_ARRAY(r->job, tj_expression, buffer->rank + 1);
  for (uint32_t i = 0; i < buffer->rank; i++)
    extent[i] = read_expression(r);
  buffer->extent = extent;
}

static tj_launch_buffer read_buffer(reading *r) {
  tj_launch_buffer buffer = {.name = tj_read_string(r->reader)};
  buffer.dtype = (tj_dtype)tj_read_below(r->reader, TJ_DTYPE_COUNT);
  buffer.is_read = read_truth(r);
  buffer.is_written = read_truth(r);
  buffer.is_row_major = read_truth(r);
  buffer.is_column_major = read_truth(r);
  buffer.element_count = read_expression(r);
  read_extents(r, &buffer);
  return buffer;
}

static void read_buffers(reading *r) {
  uint32_t count = tj_read_count(r->reader, BUFFER_BYTES);
  tj_launch_buffer *buffer = TJ_NEW_ARRAY(r->job, tj_launch_buffer, count + 1);
  for (uint32_t i = 0; i < count; i++)
    buffer[i] = read_buffer(r);
  r->plan->buffer = buffer;
  r->plan->buffer_count = count;
}

static tj_launch_word read_word(reading *r) {
  uint8_t kind = tj_read_u8(r->reader), derived = tj_read_u8(r->reader);
  bool is_upper = read_truth(r);
  const uint32_t end[] = {
      [TJ_WORD_BUFFER] = r->plan->buffer_count,
      [TJ_WORD_PARAMETER] = r->plan->passed_count,
      [TJ_WORD_DERIVED] = r->plan->step_count,
      [TJ_WORD_SCRATCH] = 1,
  };
  tj_read_expect(r->reader, kind < TJ_WORD_KIND_COUNT && derived <= TJ_DERIVED_SHIFT64);
  uint32_t of = tj_read_below(r->reader, kind < TJ_WORD_KIND_COUNT ? end[kind] : 0);
  return (tj_launch_word){(tj_launch_word_kind)kind, (tj_derived_kind)derived, is_upper, of};
}

static bool is_value(const tj_launch_word *word) {
  return word->kind == TJ_WORD_DERIVED && word->derived == TJ_DERIVED_VALUE;
}

/* Whether the first is the lower half of a word, and the other its upper half. */
static bool are_halves(const tj_launch_word word[2]) {
  return !word[0].is_upper && is_value(&word[0]) && is_value(&word[1]);
}

static void read_words(reading *r) {
  uint32_t count = tj_read_count(r->reader, WORD_BYTES);
  tj_launch_word *word = TJ_NEW_ARRAY(r->job, tj_launch_word, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    word[i] = read_word(r);
    tj_read_expect(r->reader, !word[i].is_upper || (i > 0 && are_halves(&word[i - 1])));
  }
  r->plan->word = word;
  r->plan->word_count = count;
}

static const uint32_t *read_alignments(reading *r) {
  uint32_t *alignment = TJ_NEW_ARRAY(r->job, uint32_t, r->plan->buffer_count + 1);
  for (uint32_t i = 0; i < r->plan->buffer_count; i++) {
    alignment[i] = tj_read_u32(r->reader);
    tj_read_expect(r->reader, alignment[i] != 0 && (alignment[i] & (alignment[i] - 1)) == 0);
  }
  return alignment;
}

static const tj_launch_map *read_map(reading *r) {
  uint32_t rank = tj_read_below(r->reader, TJ_TENSOR_MAP_DIMENSIONS + 1);
  if (rank == 0)
    return NULL;
  tj_launch_map *map = TJ_NEW(r->job, tj_launch_map);
  map->rank = rank;
  map->buffer = tj_read_below(r->reader, r->plan->buffer_count);
  map->element_bytes = tj_read_u32(r->reader);
  map->swizzle = tj_read_u32(r->reader);
  map->offset = read_expression(r);
  for (uint32_t d = 0; d < rank; d++) {
    map->extent[d] = read_expression(r);
    map->box[d] = tj_read_u32(r->reader);
    if (d > 0)
      map->stride[d - 1] = read_expression(r);
  }
  tj_read_expect(r->reader, tj_dma_allows_boxes(map->element_bytes, map->swizzle, map->box, rank));
  return map;
}

static tj_launch_variant read_variant(reading *r) {
  tj_launch_variant variant = {.symbol = tj_read_string(r->reader)};
  variant.follows = read_truth(r);
  variant.condition = read_optional_expression(r);
  variant.count = read_expression(r);
  variant.workgroup_size = tj_read_u32(r->reader);
  variant.lds_bytes = tj_read_u32(r->reader);
  variant.alignment = read_alignments(r);
  variant.map = read_map(r);
  tj_read_expect(r->reader, variant.workgroup_size >= 1);
  return variant;
}

static void read_variants(reading *r) {
  r->plan->scratch_bytes = tj_read_u32(r->reader);
  uint32_t count = tj_read_count(r->reader, VARIANT_BYTES);
  tj_read_expect(r->reader, count >= 1);
  tj_launch_variant *variant = TJ_NEW_ARRAY(r->job, tj_launch_variant, count + 1);
  uint32_t followers = 0;
  for (uint32_t i = 0; i < count; i++) {
    variant[i] = read_variant(r);
    followers = variant[i].follows ? followers + 1 : 0;
    tj_read_expect(r->reader, followers < TJ_LAUNCH_MOST_KERNELS);
  }
  tj_read_expect(r->reader, followers == 0);
  r->plan->variant = variant;
  r->plan->variant_count = count;
}

static void read_race_side(reading *r, tj_launch_race_side *side) {
  side->begin = read_expression(r);
  side->end = read_expression(r);
  side->stride = read_expression(r);
}

static void read_race(reading *r) {
  uint32_t modes = tj_read_below(r->reader, TJ_RACE_MODES + 1);
  if (modes == 0)
    return;
  tj_launch_race *race = TJ_NEW(r->job, tj_launch_race);
  race->modes = modes;
  race->sources = tj_read_below(r->reader, TJ_RACE_SOURCES + 1);
  race->destination = tj_read_below(r->reader, r->plan->buffer_count);
  race->form = tj_read_string(r->reader);
  race->base = read_optional_expression(r);
  tj_launch_race_mode *mode = TJ_NEW_ARRAY(r->job, tj_launch_race_mode, modes);
  for (uint32_t i = 0; i < modes; i++) {
    for (uint32_t k = 0; k <= race->sources; k++)
      read_race_side(r, &mode[i].side[k]);
  }
  race->mode = mode;
  r->plan->race = race;
}

const tj_launch_plan *tj_launch_plan_read(tj_job *job, tj_reader *reader) {
  reading r = {job, reader, TJ_NEW(job, tj_launch_plan)};
  tj_read_expect(reader, tj_read_u32(reader) == TJ_LAUNCH_PLAN_VERSION);
  r.plan->kernel = tj_read_string(reader);
  r.plan->target = tj_read_string(reader);
  r.plan->parameter_count = tj_read_count(reader, PARAMETER_BYTES);
  r.plan->passed_count = tj_read_below(reader, r.plan->parameter_count + 1);
  r.plan->tile_count = tj_read_below(reader, TJ_LAUNCH_MOST_TILES + 1);
  read_steps(&r);
  read_tiles(&r);
  read_parameters(&r);
  read_buffers(&r);
  read_words(&r);
  read_variants(&r);
  read_race(&r);
  return reader->is_failed ? NULL : r.plan;
}

/* --- evaluating --- */

static tj_launch_value evaluate_operation(const tj_launch_step *step, const tj_launch_value values[]) {
  int64_t args[3];
  for (unsigned i = 0; i < tj_op_arity(step->op); i++) {
    const tj_launch_value *arg = &values[step->arg[i]];
    if (arg->status != TJ_EVAL_OK)
      return (tj_launch_value){.status = arg->status};
    args[i] = arg->value;
  }
  tj_launch_value result = {0};
  result.status = tj_eval_operation(step->op, args, &result.value);
  return result;
}

/* What is chosen of a tile, once, where a step first speaks of it. */
typedef struct {
  bool is_known;
  tj_tile_choice choice;
  tj_eval_status status; /* of its inputs */
} chosen_tile;

/* Chooses by the values of steps before number `step`. */
static chosen_tile choose_tile(const tj_launch_tile *tile, uint32_t step, const tj_launch_value values[]) {
  tj_tile_domain domain = {.extent = {0}};
  chosen_tile chosen = {.is_known = true};
  for (uint32_t i = 0; i < TJ_TILE_INPUTS && chosen.status == TJ_EVAL_OK; i++) {
    if (!tj_launch_has_input(&tile->tile, i))
      continue;
    chosen.status = tile->input[i] < step ? values[tile->input[i]].status : TJ_EVAL_UNBOUND;
    domain.input[i] = chosen.status == TJ_EVAL_OK ? values[tile->input[i]].value : 0;
  }
  if (chosen.status == TJ_EVAL_OK)
    chosen.choice = tj_tile_choose(&tile->tile, &domain);
  return chosen;
}

static tj_launch_value evaluate_choice(const tj_launch_plan *plan, uint32_t step, const tj_launch_value values[],
                                       chosen_tile chosen[]) {
  uint32_t number = tj_launch_number(plan, &plan->step[step]), tile = number / TJ_TILE_NUMBERS;
  if (!chosen[tile].is_known)
    chosen[tile] = choose_tile(&plan->tile[tile], step, values);
  return (tj_launch_value){chosen[tile].choice.number[number % TJ_TILE_NUMBERS], chosen[tile].status};
}

void tj_launch_plan_evaluate(const tj_launch_plan *plan, const int64_t parameter[], const bool bound[],
                             tj_launch_value values[]) {
  chosen_tile chosen[TJ_LAUNCH_MOST_TILES];
  for (uint32_t i = 0; i < plan->tile_count; i++)
    chosen[i].is_known = false;
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const tj_launch_step *step = &plan->step[i];
    if (step->op == TJ_OP_CONSTANT)
      values[i] = (tj_launch_value){step->value, TJ_EVAL_OK};
    else if (tj_launch_is_parameter(plan, step))
      values[i] =
          (tj_launch_value){parameter[step->parameter], bound[step->parameter] ? TJ_EVAL_OK : TJ_EVAL_UNBOUND};
    else if (step->op == TJ_OP_SYMBOL)
      values[i] = evaluate_choice(plan, i, values, chosen);
    else
      values[i] = evaluate_operation(step, values);
  }
}

bool tj_launch_parameter_lists(const tj_launch_parameter *parameter, int64_t value) {
  for (uint32_t i = 0; i < parameter->choice_count; i++) {
    if (parameter->choice[i] == value)
      return true;
  }
  return parameter->choice_count == 0;
}

bool tj_launch_plan_allows(const tj_launch_variant *variant, const tj_launch_value values[]) {
  tj_expression condition = variant->condition;
  bool holds =
      condition == TJ_NO_EXPRESSION || (values[condition].status == TJ_EVAL_OK && values[condition].value != 0);
  return holds && !variant->follows;
}

/* --- races --- */

static bool number_of(const tj_launch_value values[], tj_expression expression, int64_t *number) {
  *number = values[expression].value;
  return values[expression].status == TJ_EVAL_OK;
}

tj_race_verdict tj_launch_race_decide(const tj_launch_race *race, const tj_launch_value values[],
                                      int64_t first[TJ_RACE_MODES], int64_t second[TJ_RACE_MODES]) {
  tj_race_strides strides = {.modes = race->modes, .sources = race->sources};
  for (uint32_t i = 0; i < race->modes; i++) {
    for (uint32_t k = 0; k <= race->sources; k++) {
      const tj_launch_race_side *of = &race->mode[i].side[k];
      tj_race_side *side = &strides.side[i][k];
      if (!number_of(values, of->begin, &side->begin) || !number_of(values, of->end, &side->end) ||
          !number_of(values, of->stride, &side->stride))
        return TJ_RACE_UNDECIDED;
    }
  }
  return tj_race_decide(&strides, first, second);
}

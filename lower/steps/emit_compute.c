/* SPDX-License-Identifier: MIT */
/* Computations of arrays: inputs from slots, or a copy's elements on their way; functions of them; the result as an
 * element of its slots' or its buffer's type, rounded once. */
#include "lower/emit/emit_array.h"
#include "lower/kernel/arithmetic.h"
#include "lower/steps/steps.h"

#include <math.h>
#include <string.h>

typedef struct {
  tj_emitter *emitter;
  uint32_t width;
  const tj_computation *inputs; /* that are in slots; NULL: none is */
  LLVMValueRef *made;           /* by number of array, of its type; NULL: not yet */
} computation;

static LLVMValueRef as_array(const computation *c, const tj_array *array, tj_dtype wanted);

/* --- leaves --- */

static LLVMValueRef repeated(const computation *c, LLVMValueRef number) {
  return tj_emit_repeated(c->emitter, number, c->width);
}

/* Whether results become floats of 16 bits, of which the optimizer would make the numbers that it sees. */
static bool hides_numbers(const tj_kernel *kernel) {
  for (uint32_t i = 0; i < kernel->buffer_count; i++) {
    if (kernel->buffer[i].is_written && tj_dtype_class_of(kernel->buffer[i].dtype) == TJ_CLASS_FLOAT &&
        tj_dtype_bits(kernel->buffer[i].dtype) == 16)
      return true;
  }
  return false;
}

static LLVMValueRef hidden_number(tj_emitter *emitter, double value) {
  float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  return tj_emit_hidden(emitter, LLVMConstInt(emitter->i32, bits, false), TJ_DTYPE_f32);
}

/* What the beginning of the function has of an array; NULL: nothing. */
static LLVMValueRef shared_number(const computation *c, const tj_array *array) {
  return c->emitter->steps->number != NULL ? c->emitter->steps->number[array->number] : NULL;
}

static LLVMValueRef number(const computation *c, const tj_array *array, tj_dtype dtype) {
  tj_emitter *emitter = c->emitter;
  LLVMValueRef shared = shared_number(c, array);
  if (dtype != TJ_DTYPE_f32 || !hides_numbers(emitter->kernel))
    return repeated(c, LLVMConstReal(tj_emit_dtype(emitter, dtype), array->real));
  return repeated(c, shared != NULL ? shared : hidden_number(emitter, array->real));
}

/* An element of another lane, word by word. */
static LLVMValueRef across(tj_emitter *emitter, LLVMValueRef element, uint32_t bits, uint32_t distance) {
  LLVMValueRef (*emit_across)(tj_emitter *, LLVMValueRef, uint32_t) = emitter->target->family->emit_across;
  if (bits == 32)
    return emit_across(emitter, element, distance);
  LLVMValueRef low = LLVMBuildTrunc(emitter->builder, element, emitter->i32, "");
  LLVMValueRef shift = tj_emit_int(emitter, 64, 32);
  LLVMValueRef high =
      LLVMBuildTrunc(emitter->builder, LLVMBuildLShr(emitter->builder, element, shift, ""), emitter->i32, "");
  low = LLVMBuildZExt(emitter->builder, emit_across(emitter, low, distance), emitter->i64, "");
  high = LLVMBuildZExt(emitter->builder, emit_across(emitter, high, distance), emitter->i64, "");
  return LLVMBuildOr(emitter->builder, LLVMBuildShl(emitter->builder, high, shift, ""), low, "");
}

/* A number of the launch; NaN becomes one whose lower half is 0, where that is said of all. */
static LLVMValueRef with_short_nan(tj_emitter *emitter, LLVMValueRef number, tj_dtype dtype) {
  if (!emitter->has_short_nans || dtype != TJ_DTYPE_f32)
    return number;
  LLVMValueRef is_nan = LLVMBuildFCmp(emitter->builder, LLVMRealUNO, number, number, "");
  return LLVMBuildSelect(emitter->builder, is_nan, LLVMConstReal(LLVMTypeOf(number), NAN), number, "");
}

static bool find_input(const computation *c, const tj_array *array, uint32_t *input) {
  for (*input = 0; c->inputs != NULL && *input < c->inputs->count; ++*input) {
    if (c->inputs->input[*input] == array)
      return true;
  }
  return false;
}

static bool is_extreme(int op) {
  return op == TJ_ARRAY_min || op == TJ_ARRAY_max || op == TJ_ARRAY_LARGER || op == TJ_ARRAY_FARTHER;
}

/* Whether bf16 in slots are better f32 from the beginning: where the greater ones are looked for, LLVM looks among
 * bf16, two at once; otherwise it takes words apart to extend them. */
static bool has_words_of_bfloats(const computation *c, tj_dtype held, tj_dtype wanted) {
  const tj_array *array = c->inputs->array;
  uint32_t input;
  return c->emitter->target->has_bfloat_arithmetic && held == TJ_DTYPE_bf16 && wanted == TJ_DTYPE_f32 &&
         array != NULL && !find_input(c, array, &input) && !is_extreme((int)array->op) &&
         !is_extreme(c->inputs->combine);
}

/* An array whose elements are in slots, of its own type. */
static LLVMValueRef from_slots(const computation *c, uint32_t input, tj_dtype wanted) {
  const tj_computation *compute = c->inputs;
  tj_emitter *emitter = c->emitter;
  uint32_t slot = compute->slot[input], width = compute->varies[input] ? c->width : 1;
  tj_dtype held = tj_slot_dtype(emitter->kernel, slot);
  LLVMValueRef value = tj_emit_slots(emitter, slot, width);
  if (compute->across > 0)
    value = across(emitter, value, tj_dtype_bits(held), compute->across);
  if (tj_dtype_class_of(held) == TJ_CLASS_BITS)
    held = compute->input[input]->dtype;
  value = tj_emit_numbers(emitter, value, held);
  if (compute->input[input] != NULL && compute->input[input]->op == TJ_ARRAY_SCALAR)
    value = with_short_nan(emitter, value, held);
  value = width % 2 == 0 && has_words_of_bfloats(c, held, wanted) ? tj_emit_floats_of_words(emitter, value)
                                                                  : tj_emit_converted(emitter, value, held, wanted);
  return width < c->width ? repeated(c, value) : value;
}

/* --- functions --- */

enum { MOST_DEPTH = 6 /* of sums and products */ };

/* Whether floats are integers, infinities or NaNs, as far as so many arguments within each other show: sums and
 * products of integers are, since those that are rounded are large. */
static bool is_whole(const tj_array *array, unsigned depth) {
  switch (array->op) {
  case TJ_ARRAY_EXPONENT:
  case TJ_ARRAY_floor:
  case TJ_ARRAY_round:
  case TJ_ARRAY_INTEGER:
  case TJ_ARRAY_INDEX:
    return true;
  case TJ_ARRAY_NUMBER:
    return array->real == trunc(array->real);
  case TJ_ARRAY_neg:
  case TJ_ARRAY_abs:
    return depth > 0 && is_whole(array->arg[0], depth - 1);
  case TJ_ARRAY_add:
  case TJ_ARRAY_sub:
  case TJ_ARRAY_mul:
  case TJ_ARRAY_min:
  case TJ_ARRAY_max:
    return depth > 0 && is_whole(array->arg[0], depth - 1) && is_whole(array->arg[1], depth - 1);
  default:
    return false;
  }
}

/* Whether all elements of a vector have one number for their second argument. */
static bool has_one_second(const computation *c, const tj_array *array) {
  uint32_t input;
  if (tj_array_arity(array->op) != 2 || c->width == 1)
    return false;
  const tj_array *second = array->arg[1];
  return second->op == TJ_ARRAY_NUMBER || shared_number(c, second) != NULL ||
         (find_input(c, second, &input) && !c->inputs->varies[input]);
}

/* Whether quotients by a number are products with its reciprocal, to the last bit: both are powers of two. */
static bool has_exact_reciprocal(const tj_array *array) {
  enum { MOST_EXPONENT = 125 };
  int exponent = 0;
  return array->op == TJ_ARRAY_NUMBER && fabs(frexp(array->real, &exponent)) == 0.5 && exponent >= -MOST_EXPONENT &&
         exponent <= MOST_EXPONENT;
}

static LLVMValueRef reciprocal_of(const computation *c, const tj_array *array, tj_dtype dtype) {
  return repeated(c, LLVMConstReal(tj_emit_dtype(c->emitter, dtype), 1 / array->real));
}

/* Differences are sums with the other sign, which is made once: machines add two numbers at once. */
static LLVMValueRef emit_differences(const computation *c, tj_dtype dtype, LLVMValueRef from, LLVMValueRef numbers) {
  LLVMBuilderRef builder = c->emitter->builder;
  LLVMValueRef first = tj_emit_part(c->emitter, numbers, 0, 1);
  LLVMValueRef operand[] = {from, repeated(c, LLVMBuildFNeg(builder, first, ""))};
  return tj_emit_operation(c->emitter, TJ_OPERATION_ADD, dtype, operand);
}

/* Where the number is that all elements of a vector have: in a lane of a vector; or nowhere, as a constant. */
static tj_slot_value place_of_number(const computation *c, const tj_array *array) {
  uint32_t input;
  if (shared_number(c, array) != NULL)
    return (tj_slot_value){shared_number(c, array), 1, 0};
  if (array->op != TJ_ARRAY_NUMBER && find_input(c, array, &input) && c->inputs->across == 0)
    return c->emitter->steps->slot[c->inputs->slot[input]];
  return (tj_slot_value){NULL, 1, 0};
}

/* The builder goes behind an instruction, where whoever has its result has what is made of it. */
static void go_behind(const computation *c, LLVMValueRef instruction) {
  LLVMValueRef next = LLVMGetNextInstruction(instruction);
  while (next != NULL && LLVMIsAPHINode(next) != NULL)
    next = LLVMGetNextInstruction(next);
  if (next != NULL)
    LLVMPositionBuilderBefore(c->emitter->builder, next);
}

/* A divisor, and the vector whose lane its number was made of. */
struct tj_known_divisor {
  LLVMValueRef of;
  uint32_t lane;
  tj_divisor divisor;
  const struct tj_known_divisor *next; /* that was made before */
};

static bool is_divisor(const struct tj_known_divisor *known, const tj_slot_value *place, tj_dtype dtype,
                       bool has_bounds) {
  return known->of == place->value && known->lane == place->lane && known->divisor.dtype == dtype &&
         known->divisor.has_bounds == has_bounds;
}

static const tj_divisor *find_divisor(const tj_emitter *emitter, const tj_slot_value *place, tj_dtype dtype,
                                      bool has_bounds) {
  const struct tj_known_divisor *each = emitter->steps->divisor;
  while (each != NULL && !is_divisor(each, place, dtype, has_bounds))
    each = each->next;
  return each != NULL ? &each->divisor : NULL;
}

/* The divisor that all elements of a vector have, which is made once for all vectors. */
static const tj_divisor *divisor_of(const computation *c, const tj_array *array, tj_dtype dtype, bool has_bounds) {
  tj_emitter *emitter = c->emitter;
  tj_slot_value place = place_of_number(c, array);
  bool is_shared = place.value != NULL && LLVMIsAInstruction(place.value) != NULL;
  const tj_divisor *known = is_shared ? find_divisor(emitter, &place, dtype, has_bounds) : NULL;
  if (known != NULL)
    return known;
  computation one = *c;
  one.width = 1;
  struct tj_known_divisor *made = TJ_NEW(emitter->job, struct tj_known_divisor);
  *made = (struct tj_known_divisor){.of = place.value,
                                    .lane = place.lane,
                                    .divisor = {.dtype = dtype, .has_bounds = has_bounds},
                                    .next = emitter->steps->divisor};
  LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
  if (is_shared)
    go_behind(c, place.value);
  made->divisor.number = as_array(&one, array, dtype);
  tj_emit_divisor(emitter, &made->divisor);
  LLVMPositionBuilderAtEnd(emitter->builder, here);
  emitter->steps->divisor = is_shared ? made : emitter->steps->divisor;
  return &made->divisor;
}

/* A number of 4 bits in a byte: the array's first argument; the second tells which half. */
static LLVMValueRef emit_half(const computation *c, const tj_array *array) {
  LLVMTypeRef integer = array->dtype == TJ_DTYPE_f64 ? c->emitter->i64 : c->emitter->i32;
  LLVMValueRef byte = as_array(c, array->arg[0], TJ_DTYPE_u8), half = as_array(c, array->arg[1], array->dtype);
  byte = LLVMBuildZExt(c->emitter->builder, byte, tj_emit_like(byte, integer), "");
  return tj_emit_array_function(c->emitter, array->op, array->dtype, (LLVMValueRef[]){byte, half});
}

static LLVMValueRef emit_function(const computation *c, const tj_array *array) {
  LLVMValueRef argument[TJ_ARRAY_MOST_ARGUMENTS];
  if (tj_array_takes_byte(array->op))
    return emit_half(c, array);
  for (uint32_t i = 0; i < tj_array_arity(array->op); i++)
    argument[i] = as_array(c, array->arg[i], array->dtype);
  if (array->op == TJ_ARRAY_CAST)
    return tj_emit_numbers(c->emitter, tj_emit_number_bits(c->emitter, argument[0], array->dtype), array->dtype);
  if (array->op == TJ_ARRAY_exp2 && is_whole(array->arg[0], MOST_DEPTH))
    return tj_emit_recipe(c->emitter, tj_whole_exp2_recipe, array->dtype, argument[0]);
  if (array->op == TJ_ARRAY_exp && tj_array_is_below_largest(array->arg[0]))
    return tj_emit_array_function(c->emitter, TJ_ARRAY_LOW_EXP, array->dtype, argument);
  if (array->op == TJ_ARRAY_sub && has_one_second(c, array) && array->arg[1]->op != TJ_ARRAY_NUMBER)
    return emit_differences(c, array->dtype, argument[0], argument[1]);
  if (array->op == TJ_ARRAY_div && has_exact_reciprocal(array->arg[1]))
    return tj_emit_operation(c->emitter, TJ_OPERATION_MUL, array->dtype,
                             (LLVMValueRef[]){argument[0], reciprocal_of(c, array->arg[1], array->dtype)});
  if (array->op == TJ_ARRAY_div && has_one_second(c, array))
    return tj_emit_quotients(c->emitter, argument[0], divisor_of(c, array->arg[1], array->dtype, false));
  return tj_emit_array_function(c->emitter, array->op, array->dtype, argument);
}

/* The array as elements of a type. */
static LLVMValueRef as_array(const computation *c, const tj_array *array, tj_dtype wanted) {
  uint32_t input;
  if (array->op == TJ_ARRAY_NUMBER && tj_dtype_class_of(wanted) == TJ_CLASS_FLOAT && tj_dtype_bits(wanted) >= 32)
    return number(c, array, wanted);
  if (array->op == TJ_ARRAY_NUMBER)
    return tj_emit_converted(c->emitter, number(c, array, TJ_DTYPE_f64), TJ_DTYPE_f64, wanted);
  if (shared_number(c, array) != NULL)
    return repeated(c, tj_emit_converted(c->emitter, shared_number(c, array), array->dtype, wanted));
  if (find_input(c, array, &input))
    return from_slots(c, input, wanted);
  if (c->made[array->number] == NULL)
    c->made[array->number] = emit_function(c, array);
  return tj_emit_converted(c->emitter, c->made[array->number], array->dtype, wanted);
}

/* --- copies --- */

/* A number that the launch brings, of its type, from the word that has its bits. */
static LLVMValueRef scalar_of(tj_emitter *emitter, const tj_array *array) {
  uint32_t i = 0;
  while (emitter->kernel->parameter[i] != array->integer)
    i++;
  LLVMTypeRef bits = tj_emit_dtype(emitter, tj_dtype_raw(array->dtype));
  LLVMValueRef word = LLVMBuildIntCast2(emitter->builder, emitter->parameter[i], bits, false, "");
  LLVMValueRef number = LLVMBuildBitCast(emitter->builder, word, tj_emit_dtype(emitter, array->dtype), "");
  return with_short_nan(emitter, number, array->dtype);
}

static LLVMValueRef integer_of(tj_emitter *emitter, const tj_array *array) {
  const tj_node *node = tj_arithmetic_integer(emitter->graph, emitter->kernel, array);
  tj_width width = tj_width_of(&node, 1);
  LLVMValueRef value = tj_emit_operand(emitter, node, width);
  return LLVMBuildIntCast2(emitter->builder, value, emitter->i64, width.is_signed, "");
}

/* The only element of an argument, of its type. */
static LLVMValueRef single_of(tj_emitter *emitter, const tj_array *array, uint32_t buffer) {
  LLVMTypeRef type = tj_emit_vector_type(emitter, array->dtype, 1);
  LLVMValueRef bits = LLVMBuildLoad2(emitter->builder, type, emitter->steps->buffer[buffer], "single");
  LLVMSetAlignment(bits, tj_element_bytes(emitter->kernel, buffer));
  return tj_emit_numbers(emitter, bits, array->dtype);
}

static LLVMValueRef number_of(tj_emitter *emitter, const tj_array *array) {
  switch (array->op) {
  case TJ_ARRAY_NUMBER:
    return hides_numbers(emitter->kernel) ? hidden_number(emitter, array->real) : NULL;
  case TJ_ARRAY_SCALAR:
    return scalar_of(emitter, array);
  case TJ_ARRAY_INTEGER:
    return integer_of(emitter, array);
  default:
    return NULL;
  }
}

/* Whether an array is a function of numbers alone, of which not all are constants. */
static bool is_function_of_numbers(const tj_array *array, LLVMValueRef const number[]) {
  uint32_t arity = tj_array_arity(array->op), variables = 0;
  bool are_numbers = !tj_array_is_reduction(array->op);
  for (uint32_t i = 0; i < arity; i++) {
    bool is_constant = array->arg[i]->op == TJ_ARRAY_NUMBER;
    variables += !is_constant && number[array->arg[i]->number] != NULL;
    are_numbers = are_numbers && (is_constant || number[array->arg[i]->number] != NULL);
  }
  return are_numbers && variables > 0;
}

/* What is made of numbers that all elements have in common is made once. */
static void emit_functions_of_numbers(tj_emitter *emitter, const bool is_part[], LLVMValueRef number[]) {
  const tj_array_program *program = emitter->kernel->arithmetic.program;
  computation c = {emitter, 1, NULL, TJ_NEW_ARRAY(emitter->job, LLVMValueRef, program->count)};
  for (uint32_t i = 0; i < program->count; i++) {
    if (is_part[i] && number[i] == NULL && is_function_of_numbers(program->array[i], number))
      number[i] = emit_function(&c, program->array[i]);
  }
}

void tj_emit_arithmetic_numbers(tj_emitter *emitter) {
  const tj_arithmetic *arithmetic = &emitter->kernel->arithmetic;
  const tj_array_program *program = arithmetic->program;
  if (arithmetic->when == TJ_COMPUTED_NEVER)
    return;
  LLVMValueRef *number = TJ_NEW_ARRAY(emitter->job, LLVMValueRef, program->count);
  const bool *is_part = tj_array_stored_parts(emitter->graph, program);
  for (uint32_t i = 0; i < program->count; i++)
    number[i] = is_part[i] ? number_of(emitter, program->array[i]) : NULL;
  for (uint32_t i = 0; i < arithmetic->single_count; i++)
    number[arithmetic->single[i]->number] = single_of(emitter, arithmetic->single[i], arithmetic->single_buffer[i]);
  emitter->steps->number = number;
  emit_functions_of_numbers(emitter, is_part, number);
}

LLVMValueRef tj_emit_arithmetic(tj_emitter *emitter, const tj_array *value, const LLVMValueRef numbers[],
                                tj_dtype to) {
  const tj_arithmetic *arithmetic = &emitter->kernel->arithmetic;
  uint32_t width = tj_emit_width(numbers[0]);
  computation c = {emitter, width, NULL, TJ_NEW_ARRAY(emitter->job, LLVMValueRef, arithmetic->program->count)};
  for (uint32_t i = 0; i < arithmetic->count; i++)
    c.made[arithmetic->element[i]->number] = numbers[i];
  return as_array(&c, value, to);
}

/* --- steps --- */

/* With what the slots have, or in its place; where it is not valid, they keep that. */
static LLVMValueRef combined(tj_emitter *emitter, const tj_kernel_step *step, LLVMValueRef value, tj_dtype dtype) {
  bool is_always = tj_is_int(step->access.valid, 1), combines = step->compute->combine != TJ_ARRAY_OP_COUNT;
  if (is_always && !combines)
    return value;
  LLVMValueRef before = tj_emit_numbers(emitter, tj_emit_slots(emitter, step->slot, step->width), dtype);
  LLVMValueRef argument[] = {before, value};
  if (combines)
    value = tj_emit_array_function(emitter, (tj_array_op)step->compute->combine, dtype, argument);
  if (is_always)
    return value;
  return LLVMBuildSelect(emitter->builder, tj_emit_truth(emitter, step->access.valid), value, before, "");
}

/* Whether an array is there already: in slots, or as a number that all elements have in common. */
static bool is_made(const computation *c, const tj_array *array) {
  uint32_t input;
  return find_input(c, array, &input) || shared_number(c, array) != NULL;
}

/* How a step makes quotients of f32 by one number, as shorter floats at once, if it does. */
static tj_quotients quotients_of(const computation *c, const tj_kernel_step *step, tj_dtype to) {
  const tj_array *array = step->compute->array;
  bool are_quotients = array != NULL && array->op == TJ_ARRAY_div && array->dtype == TJ_DTYPE_f32 &&
                       step->compute->combine == TJ_ARRAY_OP_COUNT && tj_is_int(step->access.valid, 1);
  if (!are_quotients || is_made(c, array) || !has_one_second(c, array) || has_exact_reciprocal(array->arg[1]))
    return TJ_QUOTIENTS_WHOLE;
  return tj_emit_quotients_of(c->emitter, to);
}

static LLVMValueRef short_quotients(const computation *c, const tj_array *array, tj_dtype to, tj_quotients kind) {
  LLVMValueRef dividend = as_array(c, array->arg[0], array->dtype);
  const tj_divisor *divisor = divisor_of(c, array->arg[1], array->dtype, kind == TJ_QUOTIENTS_BETWEEN);
  return tj_emit_short_quotients(c->emitter, dividend, divisor, to);
}

/* Whether a step passes small floats on to slots of their type: as numbers, infinite ones would become finite. */
static bool passes_codes_on(const computation *c, const tj_kernel_step *step, tj_dtype dtype, uint32_t *input) {
  const tj_computation *compute = step->compute;
  return tj_dtype_is_small_float(dtype) && compute->array != NULL && compute->across == 0 &&
         compute->combine == TJ_ARRAY_OP_COUNT && tj_is_int(step->access.valid, 1) &&
         find_input(c, compute->array, input) && tj_slot_dtype(c->emitter->kernel, compute->slot[*input]) == dtype;
}

LLVMValueRef tj_emit_computed(tj_emitter *emitter, const tj_kernel_step *step) {
  const tj_computation *compute = step->compute;
  uint32_t arrays = compute->array != NULL ? compute->array->number + 1 : 1, input;
  computation c = {emitter, step->width, compute, TJ_NEW_ARRAY(emitter->job, LLVMValueRef, arrays)};
  tj_dtype dtype = tj_slot_dtype(emitter->kernel, step->slot);
  if (passes_codes_on(&c, step, dtype, &input)) {
    bool varies = compute->varies[input];
    LLVMValueRef codes = tj_emit_slots(emitter, compute->slot[input], varies ? step->width : 1);
    return varies ? codes : repeated(&c, codes);
  }
  const tj_quotients kind = quotients_of(&c, step, dtype);
  if (kind != TJ_QUOTIENTS_WHOLE)
    return short_quotients(&c, compute->array, dtype, kind);
  LLVMValueRef value = compute->array != NULL ? as_array(&c, compute->array, dtype) : from_slots(&c, 0, dtype);
  return tj_emit_number_bits(emitter, combined(emitter, step, value, dtype), dtype);
}

/* SPDX-License-Identifier: MIT */
/* Functions of a kernel's arguments: their types, and what is known of each.
 *
 * An argument stands for a word of the argument block, or for half a one. An integer that fits in 32 bits is an i32,
 * so that LLVM knows the upper half to be of no use. Where LLVM lays the arguments out as the block, all integers are
 * one argument, the memory that each is loaded from. A tensor map is the last argument, by value. */
#include "lower/steps/steps.h"

#include <string.h>

enum { HALF_BYTES = 4, WORD_BYTES = 8 };

/* A word of the argument block, or half a one. */
typedef struct {
  LLVMTypeRef type;
  uint32_t offset; /* in the block, in bytes */
  const char *name;
  const tj_kernel_buffer *buffer; /* NULL: an integer */
  const tj_facts *facts;          /* of the integer; NULL: any */
} argument_word;

typedef struct {
  argument_word *word;
  unsigned count;
  uint32_t bytes; /* of the block */
} argument_list;

static void add_word(argument_list *list, argument_word word) {
  word.offset = list->bytes;
  list->word[list->count++] = word;
  list->bytes += WORD_BYTES;
}

static void add_node(const tj_emitter *emitter, argument_list *list, const tj_node *node, const char *name) {
  LLVMTypeRef type = tj_emit_int_type(emitter, tj_width_of(&node, 1).bits);
  add_word(list, (argument_word){.type = type, .name = name, .facts = &node->facts});
}

static void add_bits(const tj_emitter *emitter, argument_list *list, const char *name) {
  add_word(list, (argument_word){.type = emitter->i64, .name = name});
}

/* The word that was added last is the upper half of the one before. */
static void make_upper(argument_list *list) {
  argument_word *word = &list->word[list->count - 1];
  word->offset = word[-1].offset + HALF_BYTES;
  list->bytes -= WORD_BYTES;
}

static void add_derived(const tj_emitter *emitter, argument_list *list, const tj_derived *derived) {
  if (derived->kind == TJ_DERIVED_VALUE && derived->node != NULL)
    add_node(emitter, list, derived->node, "derived");
  else
    add_bits(emitter, list, "magic");
  if (derived->is_upper)
    make_upper(list);
}

static argument_list list_arguments(const tj_emitter *emitter, unsigned extra) {
  const tj_kernel *kernel = emitter->kernel;
  argument_list list = {TJ_NEW_ARRAY(emitter->job, argument_word, tj_kernel_arguments(kernel) + extra), 0, 0};
  for (uint32_t i = 0; i < kernel->buffer_count; i++)
    add_word(&list,
             (argument_word){.type = emitter->pointer, .name = kernel->buffer[i].name, .buffer = &kernel->buffer[i]});
  for (uint32_t i = 0; i < kernel->parameter_count; i++)
    add_node(emitter, &list, kernel->parameter[i], kernel->parameter[i]->symbol->name);
  for (uint32_t i = 0; i < kernel->derived_count; i++)
    add_derived(emitter, &list, &kernel->derived[i]);
  for (unsigned i = 0; i < extra; i++)
    add_bits(emitter, &list, "extra");
  return list;
}

/* How many words are arguments of their own: the buffers are first. */
static unsigned passed_words(const tj_emitter *emitter, const argument_list *list, tj_emit_words words) {
  return words == TJ_WORDS_LOADED ? emitter->kernel->buffer_count : list->count;
}

static LLVMTypeRef function_type(const tj_emitter *emitter, const argument_list *list, tj_emit_words words) {
  LLVMTypeRef *types = TJ_NEW_ARRAY(emitter->job, LLVMTypeRef, (size_t)list->count + 2);
  unsigned count = 0, passed = passed_words(emitter, list, words);
  for (unsigned i = 0; i < passed; i++)
    types[count++] = list->word[i].type;
  if (passed < list->count)
    types[count++] = LLVMPointerTypeInContext(emitter->context, TJ_CONSTANT_ADDRESS_SPACE);
  if (emitter->kernel->map != NULL)
    types[count++] = LLVMPointerTypeInContext(emitter->context, 0);
  return LLVMFunctionType(emitter->nothing, types, count, false);
}

static void describe_buffer(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index,
                            const tj_kernel_buffer *buffer) {
  tj_emit_flag_attribute(emitter, function, index, "noalias", 0);
  tj_emit_flag_attribute(emitter, function, index, "captures", 0);
  tj_emit_flag_attribute(emitter, function, index, "align", tj_dtype_bits(buffer->dtype) / 8);
  if (!buffer->is_written)
    tj_emit_flag_attribute(emitter, function, index, buffer->is_read ? "readonly" : "readnone", 0);
  else if (!buffer->is_read)
    tj_emit_flag_attribute(emitter, function, index, "writeonly", 0);
}

/* Names the argument, as a code object does too, says what is known of it, and returns it. */
static LLVMValueRef describe_argument(tj_emitter *emitter, LLVMValueRef function, unsigned position,
                                      const argument_word *word) {
  LLVMAttributeIndex index = position + 1;
  tj_emit_flag_attribute(emitter, function, index, "noundef", 0);
  if (word->buffer != NULL)
    describe_buffer(emitter, function, index, word->buffer);
  else if (word->facts != NULL)
    tj_emit_facts_attribute(emitter, function, index, LLVMGetIntTypeWidth(word->type), word->facts);
  LLVMValueRef argument = LLVMGetParam(function, position);
  LLVMSetValueName2(argument, word->name, strlen(word->name));
  return argument;
}

/* From so many bytes behind `memory` on. */
static LLVMValueRef load_word(tj_emitter *emitter, LLVMValueRef memory, uint32_t offset, const argument_word *word) {
  LLVMValueRef halves = tj_emit_int(emitter, 64, offset / HALF_BYTES);
  LLVMValueRef address = LLVMBuildInBoundsGEP2(emitter->builder, emitter->i32, memory, &halves, 1, "");
  LLVMValueRef loaded = LLVMBuildLoad2(emitter->builder, word->type, address, word->name);
  LLVMSetAlignment(loaded, offset % WORD_BYTES == 0 ? WORD_BYTES : HALF_BYTES);
  tj_emit_known_load(emitter, loaded, word->facts);
  return loaded;
}

/* The words from the `first` one on, which are the function's last argument. They are all loaded at once: LLVM would
 * move each to the block that needs it, and have that wait, but past what may write it does not. */
static void load_words(tj_emitter *emitter, LLVMValueRef function, const argument_list *list, unsigned first,
                       LLVMValueRef arguments[]) {
  const uint32_t begin = list->word[first].offset;
  LLVMTypeRef memory = LLVMArrayType2(emitter->i64, (list->bytes - begin) / WORD_BYTES);
  LLVMValueRef block = LLVMGetParam(function, first);
  tj_emit_memory_attribute(emitter, function, first + 1, memory);
  tj_emit_flag_attribute(emitter, function, first + 1, "align", 8);
  for (unsigned i = first; i < list->count; i++)
    arguments[i] = load_word(emitter, block, list->word[i].offset - begin, &list->word[i]);
  tj_emit_intrinsic(emitter, "llvm.sideeffect", NULL, 0, NULL, 0);
}

static void take_arguments(tj_emitter *emitter, LLVMValueRef function, const argument_list *list,
                           tj_emit_words words) {
  const tj_kernel *kernel = emitter->kernel;
  LLVMValueRef *arguments = TJ_NEW_ARRAY(emitter->job, LLVMValueRef, list->count);
  unsigned passed = passed_words(emitter, list, words);
  const bool is_nameless = LLVMContextShouldDiscardValueNames(emitter->context);
  LLVMContextSetDiscardValueNames(emitter->context, false);
  for (unsigned i = 0; i < passed; i++)
    arguments[i] = describe_argument(emitter, function, i, &list->word[i]);
  LLVMContextSetDiscardValueNames(emitter->context, is_nameless);
  if (passed < list->count)
    load_words(emitter, function, list, passed, arguments);
  emitter->steps->buffer = arguments;
  emitter->parameter = emitter->steps->buffer + kernel->buffer_count;
  emitter->derived = emitter->parameter + kernel->parameter_count;
  emitter->steps->extra = emitter->derived + kernel->derived_count;
}

/* The tensor map, which lies where the launch has put it. */
static void take_map(tj_emitter *emitter, LLVMValueRef function) {
  if (emitter->kernel->map == NULL)
    return;
  unsigned last = LLVMCountParams(function);
  tj_emit_value_attribute(emitter, function, last, LLVMArrayType2(emitter->i8, TJ_TENSOR_MAP_BYTES));
  tj_emit_flag_attribute(emitter, function, last, "align", TJ_TENSOR_MAP_ALIGNMENT);
  tj_emit_flag_attribute(emitter, function, last, "readonly", 0);
  emitter->steps->map = LLVMGetParam(function, last - 1);
}

static void begin_steps(tj_emitter *emitter) {
  emitter->steps = TJ_NEW(emitter->job, tj_steps);
  *emitter->steps = (tj_steps){.slot = TJ_NEW_ARRAY(emitter->job, tj_slot_value, emitter->kernel->slot_count + 1)};
}

LLVMValueRef tj_emit_function(tj_emitter *emitter, const char *name, unsigned extra, tj_emit_words words) {
  argument_list list = list_arguments(emitter, extra);
  LLVMValueRef function = LLVMAddFunction(emitter->module, name, function_type(emitter, &list, words));
  tj_emit_function_flag(emitter, function, "nounwind");
  tj_emit_function_flag(emitter, function, "mustprogress");
  tj_emit_function_flag(emitter, function, "willreturn");
  emitter->function = function;
  begin_steps(emitter);
  LLVMPositionBuilderAtEnd(emitter->builder, tj_emit_block(emitter, "entry"));
  take_arguments(emitter, function, &list, words);
  take_map(emitter, function);
  return function;
}

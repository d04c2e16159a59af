/* SPDX-License-Identifier: MIT */
/* Decoding: LLVM turns bytes into text; the text's mnemonic is looked up, its operands and modifiers are read, and
 * its operands get their roles by the form of the operation. */
#include "rt/sim/isa/decode.h"

#include "base/text.h"
#include "rt/sim/isa/effects.h"
#include "rt/sim/isa/modifier.h"
#include "rt/sim/isa/operand.h"
#include "rt/sim/isa/table.h"
#include "rt/sim/isa/valu.h"
#include "rt/sim/machine/wave.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_CAPACITY = 512, MNEMONIC_CAPACITY = 64, WORD = 4 };

/* --- LLVM --- */

static void initialize(void) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUDisassembler();
}

void *tj_sim_disassembler_open(const tj_processor *processor, uint32_t lanes) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, initialize);
  bool is_wide = processor->major >= 10 && lanes == 64;
  return LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", processor->name,
                                     is_wide ? "+wavefrontsize64,-wavefrontsize32" : "", NULL, 0, NULL, NULL);
}

void tj_sim_disassembler_close(void *disassembler) {
  if (disassembler != NULL)
    LLVMDisasmDispose(disassembler);
}

/* --- words of the text --- */

/* Where a piece of text ends: at one of `ends` outside of brackets, or at the end. */
static size_t piece_length(const char *text, const char *ends) {
  int depth = 0;
  size_t length = 0;
  for (; text[length] != '\0'; length++) {
    char c = text[length];
    if (depth == 0 && strchr(ends, c) != NULL)
      break;
    depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
  }
  return length;
}

static const char *skip_spaces(const char *text) {
  return text + strspn(text, " \t");
}

static void explain(tj_job *job, tj_sim_instruction *instruction, const char *what, const char *text, size_t length) {
  if (instruction->problem == NULL)
    instruction->problem = tj_string_format(job, "the simulator does not know the %s %.*s", what, (int)length, text);
  instruction->operation = NULL;
}

/* hwreg(HW_REG_MODE, 0, 2) is symbolic in the text, and plain in the encoding. */
static bool read_hardware_register(const char *text, tj_bytes encoding, tj_sim_operand *operand) {
  static const char name[] = "hwreg(";
  if (strncmp(text, name, sizeof name - 1) != 0 || encoding.size < WORD)
    return false;
  *operand = (tj_sim_operand){.place = TJ_SIM_CONSTANT, .constant = tj_bytes_u16(encoding, 0)};
  return true;
}

/* One operand and the modifiers that follow it without a comma. Returns what is after it and its comma. */
static const char *read_piece(tj_job *job, const char *text, tj_bytes encoding, tj_sim_instruction *instruction) {
  size_t length = piece_length(text, ", \t");
  tj_sim_operand *operand = &instruction->operand[instruction->operand_count];
  if (instruction->operand_count == TJ_SIM_OPERANDS ||
      !(read_hardware_register(text, encoding, operand) || tj_sim_read_operand(text, length, operand)))
    explain(job, instruction, "operand", text, length);
  else
    instruction->operand_count++;
  text = skip_spaces(text + length);
  while (*text != '\0' && *text != ',') {
    length = piece_length(text, ", \t");
    if (!tj_sim_read_modifier(job, tj_string_copy(job, text, length), instruction))
      explain(job, instruction, "modifier", text, length);
    text = skip_spaces(text + length);
  }
  return *text == ',' ? skip_spaces(text + 1) : text;
}

/* Takes the encoding off the end of a mnemonic, and the prefix of dual issue off its beginning. */
static void strip_encoding(char *mnemonic, tj_sim_instruction *instruction) {
  static const char *const suffixes[] = {"_dpp", "_e32", "_e64", "_sdwa", "_dpp8"};
  bool again = true;
  while (again) {
    again = false;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
      size_t length = strlen(mnemonic), tail = strlen(suffixes[i]);
      if (length <= tail || strcmp(mnemonic + length - tail, suffixes[i]) != 0)
        continue;
      mnemonic[length - tail] = '\0';
      instruction->is_sdwa = instruction->is_sdwa || strcmp(suffixes[i], "_sdwa") == 0;
      again = true;
    }
  }
  static const char dual[] = "v_dual_";
  if (strncmp(mnemonic, dual, sizeof dual - 1) == 0)
    memmove(mnemonic + 2, mnemonic + sizeof dual - 1, strlen(mnemonic + sizeof dual - 1) + 1);
}

/* --- roles --- */

/* For each form: the operands before the sources, and what they are; what follows the sources. */
static const struct {
  int8_t destination, mask_out;
  uint8_t first_source;
  bool reads_mask;
} roles[] = {
    [TJ_SIM_FORM_VECTOR] = {0, -1, 1, false},     [TJ_SIM_FORM_FUSED] = {0, -1, 1, false},
    [TJ_SIM_FORM_ACCUMULATE] = {0, -1, 1, false}, [TJ_SIM_FORM_UPDATE] = {0, -1, 1, false},
    [TJ_SIM_FORM_PACKED] = {0, -1, 1, false},     [TJ_SIM_FORM_MIXED] = {0, -1, 1, false},
    [TJ_SIM_FORM_MIXED_HIGH] = {0, -1, 1, false}, [TJ_SIM_FORM_CARRY_OUT] = {0, 1, 2, false},
    [TJ_SIM_FORM_CARRY] = {0, 1, 2, true},        [TJ_SIM_FORM_SELECT] = {0, -1, 1, true},
    [TJ_SIM_FORM_COMPARE] = {-1, 0, 1, false},    [TJ_SIM_FORM_COMPARE_EXEC] = {-1, 0, 1, false},
    [TJ_SIM_FORM_RESULT] = {0, -1, 1, false},     [TJ_SIM_FORM_TEST] = {-1, -1, 0, false},
};

static bool has_roles(const tj_sim_operation *operation) {
  return operation->form < TJ_SIM_FORM_OTHER;
}

static uint8_t count_sources(const tj_sim_operation *operation) {
  uint8_t count = 0;
  while (count < 3 && operation->type[1 + count] != TJ_SIM_NONE)
    count++;
  return count;
}

static void assign_roles(tj_sim_instruction *instruction) {
  const tj_sim_operation *operation = instruction->operation;
  instruction->destination = roles[operation->form].destination;
  instruction->mask_out = roles[operation->form].mask_out;
  instruction->first_source = roles[operation->form].first_source;
  instruction->source_count = count_sources(operation);
  if (operation->form == TJ_SIM_FORM_COMPARE_EXEC && instruction->operand_count == instruction->source_count) {
    instruction->mask_out = -1;
    instruction->first_source = 0;
  }
  int after = instruction->first_source + instruction->source_count;
  bool has_mask = roles[operation->form].reads_mask && after < instruction->operand_count;
  instruction->mask_in = has_mask ? (int8_t)after : -1;
}

static bool is_float(uint8_t type) {
  return type == TJ_SIM_F16 || type == TJ_SIM_BF16 || type == TJ_SIM_F32 || type == TJ_SIM_F64;
}

static bool has_all_operands(const tj_sim_instruction *instruction) {
  if (!has_roles(instruction->operation))
    return instruction->operand_count >= instruction->operation->least_operands;
  int expected = instruction->first_source + instruction->source_count + (instruction->mask_in >= 0 ? 1 : 0);
  bool is_complete = instruction->operand_count == expected;
  bool is_carry = instruction->operation->form == TJ_SIM_FORM_CARRY;
  return is_complete && (!is_carry || instruction->mask_in >= 0);
}

/* --- constants --- */

/* The bits of a constant as an operand of some type. */
static uint64_t constant_bits(const tj_sim_operand *operand, uint8_t type) {
  unsigned bits = tj_sim_type_bits(type);
  if (operand->is_float && type == TJ_SIM_BF16)
    return bfloat_bits((float)operand->number);
  if (operand->is_float)
    return bits == 16   ? put_F16((_Float16)operand->number)
           : bits == 64 ? put_F64(operand->number)
                        : put_F32((float)operand->number);
  if (!operand->is_literal || operand->constant > UINT32_MAX)
    return operand->constant;
  if (type == TJ_SIM_F64)
    return operand->constant << 32;
  return type == TJ_SIM_I64 ? (uint64_t)(int64_t)(int32_t)operand->constant : operand->constant;
}

static void settle_constants(tj_sim_instruction *instruction) {
  for (unsigned i = 0; i < instruction->source_count; i++) {
    tj_sim_operand *operand = &instruction->operand[instruction->first_source + i];
    if (operand->place == TJ_SIM_CONSTANT)
      operand->constant = constant_bits(operand, instruction->operation->type[1 + i]);
  }
  for (unsigned i = 0; !has_roles(instruction->operation) && i < instruction->operand_count; i++) {
    tj_sim_operand *operand = &instruction->operand[i];
    if (operand->place == TJ_SIM_CONSTANT)
      operand->constant = constant_bits(operand, TJ_SIM_U32);
  }
}

/* --- modifiers that need the roles --- */

static void settle_halves(tj_sim_instruction *instruction) {
  bool names_destination = instruction->op_sel_count == instruction->source_count + 1;
  unsigned last = instruction->op_sel >> instruction->source_count & 1;
  instruction->op_sel = (uint8_t)(instruction->op_sel & ((1u << instruction->source_count) - 1));
  if (names_destination)
    instruction->op_sel = (uint8_t)(instruction->op_sel | last << 3);
  bool is_packed = instruction->operation->form == TJ_SIM_FORM_PACKED;
  if (is_packed && !instruction->has_op_sel_hi)
    instruction->op_sel_hi = 7;
}

static void find_plain_sources(tj_sim_instruction *instruction) {
  instruction->has_plain_sources = (instruction->op_sel & 7) == 0;
  for (unsigned i = 0; i < instruction->source_count; i++) {
    const tj_sim_operand *operand = &instruction->operand[instruction->first_source + i];
    if (operand->part != TJ_SIM_WHOLE || operand->absolute || operand->negate || operand->extend)
      instruction->has_plain_sources = false;
  }
}

/* Integers are clamped by an operation of its own, where there is one. */
static void settle_clamp(tj_sim_instruction *instruction) {
  char name[MNEMONIC_CAPACITY];
  uint8_t type = instruction->operation->type[0];
  if (!instruction->has_clamp || is_float(type))
    return;
  snprintf(name, sizeof name, "%s_clamp", instruction->operation->name);
  const tj_sim_operation *clamped = tj_sim_find(name);
  if (clamped == NULL)
    return;
  instruction->operation = clamped;
  instruction->has_clamp = false;
}

/* Other clamped integers are not simulated. */
static bool can_finish(const tj_sim_instruction *instruction) {
  uint8_t type = instruction->operation->type[0];
  return is_float(type) || (!instruction->has_clamp && instruction->scale == 0);
}

/* --- banks --- */

enum { SOURCES = 3 };

/* The first operand that is in the bank of source 0. */
static unsigned first_in_banks(const tj_sim_instruction *instruction) {
  const tj_sim_operation *operation = instruction->operation;
  bool is_memory = operation->class == TJ_SIM_CLASS_VMEM || operation->class == TJ_SIM_CLASS_LDS;
  if (has_roles(operation))
    return instruction->first_source;
  if (is_memory && operation->execute != tj_sim_execute_buffer)
    return tj_sim_has_result(instruction) || operation->transfer == TJ_SIM_DIRECT ? 1 : 0;
  return 1;
}

static void settle_banks(tj_sim_instruction *instruction) {
  unsigned first = first_in_banks(instruction);
  for (unsigned i = 0; i < TJ_SIM_OPERANDS; i++)
    instruction->operand[i].bank = i < first             ? TJ_SIM_BANK_DESTINATION
                                   : i < first + SOURCES ? (uint8_t)(TJ_SIM_BANK_SOURCE_1 * (i - first))
                                                         : TJ_SIM_BANK_FIRST;
}

static void settle(tj_job *job, tj_sim_instruction *instruction, const char *text) {
  instruction->destination = instruction->mask_out = instruction->mask_in = -1;
  if (has_roles(instruction->operation))
    assign_roles(instruction);
  if (!has_all_operands(instruction)) {
    explain(job, instruction, "form", text, strlen(text));
    return;
  }
  tj_sim_apply_selections(instruction);
  settle_constants(instruction);
  if (!has_roles(instruction->operation))
    return;
  settle_clamp(instruction);
  settle_halves(instruction);
  find_plain_sources(instruction);
  if (!can_finish(instruction))
    explain(job, instruction, "modifiers of", text, strlen(text));
}

/* --- one instruction --- */

/* ds_swizzle's pattern is symbolic in the text, and plain in the encoding. */
static void read_swizzle(tj_sim_instruction *instruction, tj_bytes encoding) {
  instruction->offset = encoding.size >= 2 ? tj_bytes_u16(encoding, 0) : 0;
}

static void read_operands(tj_job *job, const char *text, tj_bytes encoding, tj_sim_instruction *instruction) {
  bool is_swizzle = instruction->operation->execute == tj_sim_execute_lds_swizzle;
  if (is_swizzle) {
    const char *offset = strstr(text, " offset:");
    text = offset == NULL ? text : tj_string_copy(job, text, (size_t)(offset - text));
  }
  while (*text != '\0')
    text = read_piece(job, text, encoding, instruction);
  if (is_swizzle)
    read_swizzle(instruction, encoding);
}

static tj_sim_instruction read_single(tj_job *job, const char *text, tj_bytes encoding) {
  tj_sim_instruction instruction = {.text = text, .target = UINT32_MAX, .bytes = (uint32_t)encoding.size};
  char mnemonic[MNEMONIC_CAPACITY];
  size_t length = strcspn(text, " \t");
  if (length >= sizeof mnemonic) {
    explain(job, &instruction, "instruction", text, length);
    return instruction;
  }
  memcpy(mnemonic, text, length);
  mnemonic[length] = '\0';
  strip_encoding(mnemonic, &instruction);
  const tj_sim_operation *operation = instruction.operation = tj_sim_find(mnemonic);
  if (operation == NULL)
    explain(job, &instruction, "instruction", text, length);
  else if (operation->execute == tj_sim_execute_wait)
    tj_sim_read_wait(text, &instruction);
  else if (operation->form != TJ_SIM_FORM_IGNORED)
    read_operands(job, skip_spaces(text + length), encoding, &instruction);
  if (instruction.operation != NULL && operation->form != TJ_SIM_FORM_IGNORED)
    settle(job, &instruction, text);
  if (instruction.operation != NULL) {
    settle_banks(&instruction);
    tj_sim_find_effects(&instruction);
  }
  return instruction;
}

tj_sim_instruction tj_sim_read_instruction(tj_job *job, const char *text, tj_bytes encoding) {
  const char *second = strstr(text, " :: ");
  if (second == NULL)
    return read_single(job, text, encoding);
  tj_sim_instruction first = read_single(job, tj_string_copy(job, text, (size_t)(second - text)), encoding);
  tj_sim_instruction *pair = TJ_NEW(job, tj_sim_instruction);
  *pair = read_single(job, second + 4, encoding);
  first.text = text;
  first.pair = pair;
  bool is_simulated = first.operation != NULL && pair->operation != NULL &&
                      first.operation->execute == tj_sim_execute_vector &&
                      pair->operation->execute == tj_sim_execute_vector;
  if (!is_simulated) {
    first.operation = NULL;
    first.problem = first.problem != NULL   ? first.problem
                    : pair->problem != NULL ? pair->problem
                                            : "the simulator does not know this pair of instructions";
  }
  return first;
}

/* LLVM's text, tabs as spaces, without spaces at its ends. */
static const char *tidy(tj_job *job, char *text) {
  char *begin = text + strspn(text, " \t");
  size_t length = strlen(begin);
  while (length > 0 && (begin[length - 1] == ' ' || begin[length - 1] == '\t'))
    length--;
  for (size_t i = 0; i < length; i++)
    begin[i] = begin[i] == '\t' ? ' ' : begin[i];
  return tj_string_copy(job, begin, length);
}

static size_t disassemble(void *disassembler, const uint8_t *at, size_t left, uint64_t address,
                          char text[TEXT_CAPACITY]) {
  return LLVMDisasmInstruction(disassembler, (uint8_t *)(uintptr_t)at, left, address, text, TEXT_CAPACITY);
}

/* The comparisons of gfx10 that write exec and nothing else have a field for a destination all the same. LLVM wants
 * exec's number in it, and left 0 there until version 16. */
static size_t disassemble_old(void *disassembler, const uint8_t *at, size_t left, uint64_t address,
                              char text[TEXT_CAPACITY]) {
  enum { VOP3 = 0xd4, PREFIX_BITS = 0xfc, EXEC = 0x7e, LONGEST = 3 * WORD };
  uint8_t now[LONGEST] = {0};
  if (left < 2 * WORD || (at[3] & PREFIX_BITS) != VOP3 || at[0] != 0)
    return 0;
  size_t size = left < LONGEST ? left : LONGEST;
  memcpy(now, at, size);
  now[0] = EXEC;
  size = disassemble(disassembler, now, size, address, text);
  return strstr(text, "v_cmpx_") != NULL ? size : 0;
}

static tj_sim_instruction decode_one(tj_job *job, void *disassembler, const uint8_t *at, size_t left) {
  char text[TEXT_CAPACITY] = "";
  uint64_t address = (uint64_t)(uintptr_t)at;
  size_t size = disassemble(disassembler, at, left, address, text);
  if (size == 0)
    size = disassemble_old(disassembler, at, left, address, text);
  tj_sim_instruction instruction;
  if (size == 0 || size > left) {
    size = left < WORD ? left : WORD;
    instruction = (tj_sim_instruction){.text = "(no instruction)",
                                       .problem = "these bytes are no instruction",
                                       .target = UINT32_MAX,
                                       .bytes = (uint32_t)size};
  } else {
    instruction = tj_sim_read_instruction(job, tidy(job, text), (tj_bytes){at, size});
  }
  instruction.address = address;
  return instruction;
}

/* --- a program --- */

/* Whether the first operand says where it leads; jumps and calls take that from registers. */
static bool is_branch(const tj_sim_operation *operation) {
  return operation != NULL && operation->class == TJ_SIM_CLASS_BRANCH && operation->execute != tj_sim_execute_jump &&
         operation->execute != tj_sim_execute_call;
}

/* Branches are relative to the next instruction, in words. */
static void settle_branch(tj_sim_instruction *instruction, const tj_sim_program *program, const uint32_t *index) {
  if (!is_branch(instruction->operation))
    return;
  int64_t words = (int16_t)instruction->operand[0].constant;
  int64_t offset = (int64_t)(instruction->address + instruction->bytes - program->address) + words * WORD;
  if (offset >= 0 && (uint64_t)offset < program->size)
    instruction->target = index[offset / WORD];
}

const tj_sim_program *tj_sim_decode(tj_job *job, void *disassembler, tj_bytes code) {
  size_t words = code.size / WORD;
  tj_sim_program *program = TJ_NEW(job, tj_sim_program);
  tj_sim_instruction *instruction = TJ_NEW_ARRAY(job, tj_sim_instruction, words);
  uint32_t *index = TJ_NEW_ARRAY(job, uint32_t, words);
  memset(index, 0xff, words * sizeof *index);
  uint32_t count = 0;
  const uint8_t *begin = code.data;
  for (size_t offset = 0; offset + WORD <= code.size; offset += instruction[count++].bytes) {
    tj_spend(job, 1);
    index[offset / WORD] = count;
    instruction[count] = decode_one(job, disassembler, begin + offset, code.size - offset);
  }
  *program = (tj_sim_program){instruction, count, (uint64_t)(uintptr_t)begin, code.size, index};
  for (uint32_t i = 0; i < count; i++)
    settle_branch(&instruction[i], program, index);
  return program;
}

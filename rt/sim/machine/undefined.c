/* SPDX-License-Identifier: MIT */
/* Executing instructions on a wave and on its twin, and comparing. */
#include "rt/sim/machine/undefined.h"

#include "rt/sim/machine/wave.h"

/* What unwritten registers hold, by the parity of their lane or number: no sensible address, and a number so small
 * that comparisons tell it from its complement, which is what the twin's hold. */
static const uint32_t unwritten[] = {6, 0xa5a5a5a5};

/* --- which registers an operand is --- */

typedef struct {
  unsigned first, end;
} registers;

static bool is_vector(const tj_sim_operand *operand) {
  return operand->place == TJ_SIM_VECTOR || operand->place == TJ_SIM_ACCUMULATOR;
}

/* The vector registers of an operand that the kernel has. */
static registers vectors_of(const tj_sim_wave *wave, const tj_sim_operand *operand) {
  unsigned first = tj_sim_first_register(wave, operand);
  unsigned end = first + operand->width;
  return (registers){first, end < wave->vector_count ? end : wave->vector_count};
}

static bool has_undefined(const tj_sim_wave *wave, const tj_sim_operand *operand, uint64_t lanes) {
  const tj_sim_undefined *undefined = wave->undefined;
  if (is_vector(operand)) {
    registers r = vectors_of(wave, operand);
    for (unsigned i = r.first; i < r.end; i++) {
      if ((undefined->vector[i] & lanes) != 0)
        return true;
    }
    return false;
  }
  if (operand->place != TJ_SIM_SCALAR)
    return false;
  if (operand->index >= TJ_SIM_SCC)
    return operand->index == TJ_SIM_SCC    ? undefined->scc
           : operand->index == TJ_SIM_VCCZ ? undefined->scalar[TJ_SIM_VCC] || undefined->scalar[TJ_SIM_VCC + 1]
                                           : false;
  for (unsigned i = operand->index; i < operand->index + operand->width; i++) {
    if (undefined->scalar[i])
      return true;
  }
  return false;
}

static void define_operand(tj_sim_wave *wave, const tj_sim_operand *operand, uint64_t lanes) {
  if (is_vector(operand)) {
    registers r = vectors_of(wave, operand);
    for (unsigned i = r.first; i < r.end; i++)
      wave->undefined->vector[i] &= ~lanes;
  } else if (operand->place == TJ_SIM_SCALAR) {
    for (unsigned i = operand->index; i < operand->index + operand->width; i++)
      wave->undefined->scalar[i] = false;
  }
}

/* --- the start of a wave --- */

/* Names that are no registers, and what hardware sets, are never undefined. */
static bool is_register(unsigned index) {
  return index <= TJ_SIM_M0 || (index >= TJ_SIM_FLAT_SCRATCH && index < TJ_SIM_SCC);
}

static void fill(tj_sim_wave *wave, uint32_t flipped) {
  for (unsigned i = 0; i < TJ_SIM_SCALARS; i++)
    wave->scalar[i] = unwritten[i & 1] ^ flipped;
  for (unsigned i = 0; i < wave->vector_count; i++) {
    for (unsigned lane = 0; lane < TJ_SIM_LANES; lane++)
      wave->vector[i][lane] = unwritten[lane & 1] ^ flipped;
  }
}

void tj_sim_forget_registers(tj_sim_wave *wave) {
  fill(wave, 0);
  wave->scc = false;
  tj_sim_undefined *undefined = wave->undefined;
  if (undefined == NULL)
    return;
  fill(undefined->twin, UINT32_MAX);
  memset(undefined->vector, 0xff, wave->vector_count * sizeof *undefined->vector);
  for (unsigned i = 0; i < TJ_SIM_SCALARS; i++)
    undefined->scalar[i] = is_register(i);
  undefined->twin->scc = undefined->scc = true;
}

void tj_sim_define_scalar(tj_sim_wave *wave, unsigned index) {
  if (wave->undefined != NULL)
    wave->undefined->scalar[index] = false;
}

void tj_sim_define_vector(tj_sim_wave *wave, unsigned index, uint64_t lanes) {
  if (wave->undefined != NULL)
    wave->undefined->vector[index] &= ~lanes;
}

/* --- twice --- */

/* Gives the twin what the wave has, except where it is undefined. */
static void align_scalars(const tj_sim_wave *wave, tj_sim_wave *twin) {
  const tj_sim_undefined *undefined = wave->undefined;
  for (unsigned i = 0; i < TJ_SIM_SCALARS; i++)
    twin->scalar[i] = undefined->scalar[i] ? twin->scalar[i] : wave->scalar[i];
  twin->scc = undefined->scc ? twin->scc : wave->scc;
  twin->banks = wave->banks;
  twin->state = wave->state;
  twin->next = wave->next;
}

static void align_vectors(const tj_sim_wave *wave, tj_sim_wave *twin, const tj_sim_instruction *instruction) {
  for (unsigned k = 0; k < instruction->operand_count; k++) {
    if (!is_vector(&instruction->operand[k]))
      continue;
    registers r = vectors_of(wave, &instruction->operand[k]);
    for (unsigned i = r.first; i < r.end; i++) {
      uint64_t kept = wave->undefined->vector[i];
      for (unsigned lane = 0; lane < wave->lanes; lane++)
        twin->vector[i][lane] = (kept >> lane & 1) != 0 ? twin->vector[i][lane] : wave->vector[i][lane];
    }
  }
}

static uint64_t differing_lanes(const tj_sim_wave *wave, const tj_sim_wave *twin, unsigned index) {
  uint64_t lanes = 0;
  for (unsigned lane = 0; lane < wave->lanes; lane++)
    lanes |= (uint64_t)(wave->vector[index][lane] != twin->vector[index][lane]) << lane;
  return lanes;
}

static void compare_vectors(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  for (unsigned k = 0; k < instruction->operand_count; k++) {
    if (!is_vector(&instruction->operand[k]))
      continue;
    registers r = vectors_of(wave, &instruction->operand[k]);
    for (unsigned i = r.first; i < r.end; i++)
      wave->undefined->vector[i] = differing_lanes(wave, wave->undefined->twin, i);
  }
}

/* What cannot be undefined: where the wave goes on, and with which lanes. */
static void compare_control(tj_sim_wave *wave, const tj_sim_wave *twin) {
  uint64_t exec = tj_sim_exec(wave), other = tj_sim_exec(twin);
  if (exec != other)
    tj_sim_wave_fail(wave, exec ^ other, "which lanes go on depends on registers that nothing has written");
  else if (wave->next != twin->next || wave->state != twin->state)
    tj_sim_wave_fail(wave, 0, "where the wave goes on depends on registers that nothing has written");
}

static void compare_scalars(tj_sim_wave *wave) {
  tj_sim_undefined *undefined = wave->undefined;
  for (unsigned i = 0; i < TJ_SIM_SCALARS; i++)
    undefined->scalar[i] = wave->scalar[i] != undefined->twin->scalar[i];
  undefined->scc = wave->scc != undefined->twin->scc;
}

/* A branch on whether the mask is zero. Bits that nothing has written may all be zero, which neither wave's are:
 * where the wave has bits set, the twin has those that surely are. */
static void branch_on_mask(const tj_sim_wave *wave, tj_sim_wave *twin, const tj_sim_instruction *instruction) {
  const uint32_t *own = &wave->scalar[TJ_SIM_VCC];
  uint32_t *mask = &twin->scalar[TJ_SIM_VCC], kept[] = {mask[0], mask[1]};
  bool is_set = (own[0] | (wave->lanes == 64 ? own[1] : 0)) != 0;
  for (unsigned i = 0; is_set && i < 2; i++)
    mask[i] &= own[i];
  instruction->operation->execute(twin, instruction);
  memcpy(mask, kept, sizeof kept);
}

static void execute_twice(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  tj_sim_wave *twin = wave->undefined->twin;
  align_scalars(wave, twin);
  for (const tj_sim_instruction *i = instruction; i != NULL; i = i->pair)
    align_vectors(wave, twin, i);
  instruction->operation->execute(wave, instruction);
  if (wave->state == TJ_SIM_FAILED)
    return;
  if (instruction->effects.reads_vcc && instruction->operation->class == TJ_SIM_CLASS_BRANCH)
    branch_on_mask(wave, twin, instruction);
  else
    instruction->operation->execute(twin, instruction);
  compare_scalars(wave);
  for (const tj_sim_instruction *i = instruction; i != NULL; i = i->pair)
    compare_vectors(wave, i);
  compare_control(wave, twin);
}

/* --- arithmetic and control --- */

static bool reads_undefined(const tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  const tj_sim_effects *effects = &instruction->effects;
  const tj_sim_undefined *undefined = wave->undefined;
  uint64_t lanes = effects->crosses_lanes ? tj_sim_all_lanes(wave) : tj_sim_exec(wave);
  uint8_t class = instruction->operation->class;
  if (undefined->scc && (class == TJ_SIM_CLASS_SALU || class == TJ_SIM_CLASS_BRANCH))
    return true;
  if (effects->reads_vcc && (undefined->scalar[TJ_SIM_VCC] || undefined->scalar[TJ_SIM_VCC + 1]))
    return true;
  for (unsigned i = 0; i < instruction->operand_count; i++) {
    bool is_read = (effects->overwritten >> i & 1) == 0;
    if (is_read && has_undefined(wave, &instruction->operand[i], lanes))
      return true;
  }
  return instruction->pair != NULL && reads_undefined(wave, instruction->pair);
}

static void define_overwritten(tj_sim_wave *wave, const tj_sim_instruction *instruction, uint64_t lanes) {
  for (unsigned i = 0; i < instruction->operand_count; i++) {
    if ((instruction->effects.overwritten >> i & 1) != 0)
      define_operand(wave, &instruction->operand[i], lanes);
  }
  if (instruction->pair != NULL)
    define_overwritten(wave, instruction->pair, lanes);
}

/* --- memory --- */

static void fail_at(tj_sim_wave *wave, const tj_sim_operand *operand, uint64_t lanes, const char *what) {
  static const char names[] = {[TJ_SIM_SCALAR] = 's', [TJ_SIM_VECTOR] = 'v', [TJ_SIM_ACCUMULATOR] = 'a'};
  if (operand->place == TJ_SIM_SCALAR && operand->index >= TJ_SIM_VCC)
    tj_sim_wave_fail(wave, lanes, "%s depends on a register that nothing has written", what);
  else
    tj_sim_wave_fail(wave, lanes, "%s, from %c%u on, depends on a register that nothing has written", what,
                     names[operand->place], operand->index);
}

static uint64_t undefined_lanes(const tj_sim_wave *wave, const tj_sim_operand *operand) {
  uint64_t lanes = 0;
  if (is_vector(operand)) {
    registers r = vectors_of(wave, operand);
    for (unsigned i = r.first; i < r.end; i++)
      lanes |= wave->undefined->vector[i];
  }
  return lanes & tj_sim_exec(wave);
}

/* Addresses, and the operands of atomics. Without a lane, only scalar memory is accessed. */
static bool check_addresses(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  const tj_sim_effects *effects = &instruction->effects;
  unsigned skipped = effects->overwritten | effects->partly_overwritten | effects->stored;
  uint64_t exec = tj_sim_exec(wave);
  if (exec == 0 && instruction->operation->class != TJ_SIM_CLASS_SMEM)
    return true;
  for (unsigned i = 0; i < instruction->operand_count; i++) {
    const tj_sim_operand *operand = &instruction->operand[i];
    if ((skipped >> i & 1) != 0 || !has_undefined(wave, operand, exec))
      continue;
    bool is_atomic = instruction->operation->transfer == TJ_SIM_ATOMIC;
    fail_at(wave, operand, undefined_lanes(wave, operand), is_atomic ? "an operand" : "the address");
    return false;
  }
  return true;
}

static bool takes_high_half(const tj_sim_operation *operation, const tj_sim_operand *operand) {
  return operation->transfer == TJ_SIM_STORE_HIGH || operation->transfer == TJ_SIM_LOAD_HIGH ||
         operation->transfer == TJ_SIM_LOAD_HIGH_SIGNED || operand->part == TJ_SIM_HIGH_HALF;
}

/* A load into one half of a register leaves the other as it was. */
static void define_half(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  registers r = vectors_of(wave, &instruction->operand[0]);
  if (r.first >= r.end)
    return;
  uint32_t kept = takes_high_half(instruction->operation, &instruction->operand[0]) ? 0xffff : 0xffff0000;
  uint32_t *own = wave->vector[r.first], *other = wave->undefined->twin->vector[r.first];
  for (uint64_t left = wave->undefined->vector[r.first] & tj_sim_exec(wave); left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    other[lane] = (other[lane] & kept) | (own[lane] & ~kept);
    if (other[lane] == own[lane])
      wave->undefined->vector[r.first] &= ~(1ull << lane);
  }
}

static uint64_t differing_in(const tj_sim_wave *wave, unsigned index, uint64_t lanes, uint32_t mask) {
  const uint32_t *own = wave->vector[index], *other = wave->undefined->twin->vector[index];
  uint64_t found = 0;
  for (uint64_t left = wave->undefined->vector[index] & lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    found |= (uint64_t)(((own[lane] ^ other[lane]) & mask) != 0) << lane;
  }
  return found;
}

static uint32_t half_mask(unsigned number) {
  return number % 2 == 0 ? 0xffff : 0xffff0000;
}

/* The lanes of those in which all bits of the mask differ. */
static uint64_t unwritten_in(const tj_sim_wave *wave, unsigned index, uint64_t lanes, uint32_t mask) {
  const uint32_t *own = wave->vector[index], *other = wave->undefined->twin->vector[index];
  uint64_t found = 0;
  for (uint64_t left = wave->undefined->vector[index] & lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    found |= (uint64_t)(((own[lane] ^ other[lane]) & mask) == mask) << lane;
  }
  return found;
}

uint64_t tj_sim_padding(const tj_sim_wave *wave, const tj_sim_operand *operand, unsigned number, uint64_t lanes) {
  if (wave->undefined == NULL)
    return 0;
  registers r = vectors_of(wave, operand);
  unsigned index = r.first + number / 2;
  uint64_t written = 0;
  for (unsigned i = r.first; i < r.end; i++)
    written |= lanes & ~wave->undefined->vector[i];
  return index < r.end ? unwritten_in(wave, index, written, half_mask(number)) : 0;
}

bool tj_sim_check_stored(tj_sim_wave *wave, const tj_sim_instruction *instruction, const tj_sim_operand *operand,
                         uint64_t lanes) {
  const tj_sim_operation *operation = instruction->operation;
  if (wave->undefined == NULL || !has_undefined(wave, operand, lanes))
    return true;
  uint32_t mask = operation->bytes >= 4 ? UINT32_MAX : (1u << 8 * operation->bytes) - 1;
  mask = takes_high_half(operation, operand) ? mask << 16 : mask;
  registers r = vectors_of(wave, operand);
  uint64_t found = 0;
  for (unsigned i = 0; i < 2 * (r.end - r.first); i++)
    found |=
        differing_in(wave, r.first + i / 2, lanes, mask & half_mask(i)) & ~tj_sim_padding(wave, operand, i, lanes);
  if (found != 0)
    fail_at(wave, operand, found, "what is stored");
  return found == 0;
}

static void execute_memory(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  if (!check_addresses(wave, instruction))
    return;
  uint64_t exec = tj_sim_exec(wave);
  instruction->operation->execute(wave, instruction);
  if (wave->state == TJ_SIM_FAILED)
    return;
  define_overwritten(wave, instruction, exec);
  if (instruction->effects.partly_overwritten != 0)
    define_half(wave, instruction);
}

void tj_sim_execute_tracked(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  if (instruction->effects.moves_memory) {
    execute_memory(wave, instruction);
  } else if (reads_undefined(wave, instruction)) {
    execute_twice(wave, instruction);
  } else {
    uint64_t exec = tj_sim_exec(wave);
    instruction->operation->execute(wave, instruction);
    define_overwritten(wave, instruction, exec);
  }
}

/* SPDX-License-Identifier: MIT */
/* LDS: loads, stores, atomics, and the exchanges between lanes that go through its crossbar. */
#include "rt/sim/transfer/lds.h"

#include "rt/sim/transfer/transfer.h"

/* --- the table --- */

#define TRANSFER(name, kind, size)
#define PAIR(name, kind, size, unit)
#define TRANSPOSED(name, size, bits, from)                                                                           \
  static unsigned owner_of_##name(unsigned lane, unsigned e) {                                                       \
    return from;                                                                                                     \
  }
#define ATOMIC(name, type, operation)                                                                                \
  static uint64_t combine_##name(uint64_t old, uint64_t operand, uint64_t compare) {                                 \
    const type##_t a = get_##type(old), b = get_##type(operand);                                                     \
    (void)a, (void)compare;                                                                                          \
    return put_##type(operation);                                                                                    \
  }
#define COMPARE_AND_SWAP(name, type, compared)
#include "rt/sim/transfer/lds.def"
#undef TRANSFER
#undef PAIR
#undef TRANSPOSED
#undef ATOMIC
#undef COMPARE_AND_SWAP

static uint64_t compare_and_swap(uint64_t old, uint64_t operand, uint64_t compare) {
  return old == compare ? operand : old;
}

const tj_sim_operation tj_sim_lds_operations[] = {
#define ROW(suffix, how, kind, size, ...)                                                                            \
  {.name = "ds_" #suffix,                                                                                            \
   .execute = tj_sim_execute_##how,                                                                                  \
   .class = TJ_SIM_CLASS_LDS,                                                                                        \
   .form = TJ_SIM_FORM_OTHER,                                                                                        \
   .transfer = TJ_SIM_##kind,                                                                                        \
   .bytes = size __VA_ARGS__},
#define TRANSFER(name, kind, size) ROW(name, lds, kind, size)
#define PAIR(name, kind, size, unit) ROW(name, lds_pair, kind, size, , .step = unit / (size))
#define TRANSPOSED(name, size, bits, from)                                                                           \
  ROW(name, lds_transposed, LOAD, size, , .step = bits, .owner = owner_of_##name)
#define ATOMIC(suffix, type, operation) ROW(suffix, lds, ATOMIC, sizeof(type##_t), , .combine = combine_##suffix)
#define COMPARE_AND_SWAP(suffix, type, compared)                                                                     \
  ROW(suffix, lds, ATOMIC, sizeof(type##_t), , .combine = compare_and_swap, .step = compared)
#include "rt/sim/transfer/lds.def"
#undef TRANSFER
#undef PAIR
#undef TRANSPOSED
#undef ATOMIC
#undef COMPARE_AND_SWAP
    ROW(permute_b32, lds_permute, LOAD, 4) ROW(bpermute_b32, lds_bpermute, LOAD, 4)
        ROW(swizzle_b32, lds_swizzle, LOAD, 4)
#undef ROW
};

const size_t tj_sim_lds_operation_count = sizeof tj_sim_lds_operations / sizeof tj_sim_lds_operations[0];

/* --- loads, stores, atomics --- */

/* Notes one lane's access. NULL, or what is wrong with it. */
static const char *note(const tj_sim_wave *wave, const tj_sim_operation *operation, uint32_t address) {
  tj_sim_shadow_access access = operation->transfer == TJ_SIM_ATOMIC ? TJ_SIM_SHADOW_COMBINE
                                : tj_sim_is_store(operation)         ? TJ_SIM_SHADOW_WRITE
                                                                     : TJ_SIM_SHADOW_READ;
  return tj_sim_shadow_note(wave->group->shadow + address, operation->bytes, access, wave->group->barriers + 1,
                            wave->number);
}

/* Checks the lanes' accesses against those of other waves. */
static void check_order(tj_sim_wave *wave, const tj_sim_operation *operation, const uint32_t at[TJ_SIM_LANES]) {
  const char *problem = NULL;
  uint64_t lanes = 0;
  for (uint64_t left = tj_sim_exec(wave); left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    const char *found = note(wave, operation, at[lane]);
    lanes |= found != NULL ? 1ull << lane : 0;
    problem = problem == NULL ? found : problem;
  }
  if (problem != NULL) {
    unsigned lane = (unsigned)__builtin_ctzll(lanes);
    tj_sim_wave_fail(wave, lanes, "%u bytes at LDS address %u (lane %u): %s", operation->bytes, at[lane], lane,
                     problem);
  }
}

/* Where the lanes' bytes are: an address register and an offset. */
static bool open_addresses(tj_sim_wave *wave, const tj_sim_instruction *instruction, const tj_sim_operand *operand,
                           uint32_t offset, uint32_t at[TJ_SIM_LANES]) {
  const uint32_t *row = tj_sim_row(wave, operand, 0);
  uint32_t bytes = instruction->operation->bytes, size = wave->group->lds_bytes;
  uint64_t outside = 0;
  for (uint64_t left = row == NULL ? 0 : tj_sim_exec(wave); left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    at[lane] = row[lane] + offset;
    if (at[lane] > size || bytes > size - at[lane])
      outside |= 1ull << lane;
  }
  if (outside != 0) {
    unsigned lane = (unsigned)__builtin_ctzll(outside);
    tj_sim_wave_fail(wave, outside, "%u bytes at LDS address %u (lane %u): the workgroup has %u bytes", bytes,
                     at[lane], lane, size);
  }
  if (wave->state != TJ_SIM_FAILED && wave->group->shadow != NULL)
    check_order(wave, instruction->operation, at);
  return wave->state != TJ_SIM_FAILED;
}

static void count_lds(const tj_sim_wave *wave, const tj_sim_operation *operation, const uint32_t at[TJ_SIM_LANES]) {
  tj_sim_count_lds(wave->group->counters, wave->group->processor->name, at, tj_sim_exec(wave), operation->bytes,
                   tj_sim_is_store(operation));
}

/* What was stored of registers that nothing has written is still unwritten. */
static void forget_padding(const tj_sim_wave *wave, const tj_sim_operation *operation, const tj_sim_operand *operand,
                           const uint32_t at[TJ_SIM_LANES]) {
  for (unsigned i = 0; wave->group->shadow != NULL && 2 * i < operation->bytes; i++) {
    for (uint64_t left = tj_sim_padding(wave, operand, i, tj_sim_exec(wave)); left != 0; left &= left - 1)
      tj_sim_shadow_forget(wave->group->shadow + at[__builtin_ctzll(left)] + 2 * i, 2);
  }
}

/* One address a lane. Registers from `first` of the data operand on. */
static void access_lds(tj_sim_wave *wave, const tj_sim_instruction *instruction, const tj_sim_operand *address,
                       const tj_sim_operand *operand, unsigned first, uint32_t offset) {
  const tj_sim_operation *operation = instruction->operation;
  tj_sim_data data;
  uint32_t at[TJ_SIM_LANES];
  if (!open_addresses(wave, instruction, address, offset, at) ||
      !tj_sim_open_data(wave, operand, first, operation->bytes, &data) ||
      (tj_sim_is_store(operation) && !tj_sim_check_stored(wave, instruction, operand, tj_sim_exec(wave))))
    return;
  count_lds(wave, operation, at);
  for (uint64_t left = tj_sim_exec(wave); left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    tj_sim_move(operation, &data, lane, wave->group->lds + at[lane]);
  }
  if (tj_sim_is_store(operation))
    forget_padding(wave, operation, operand, at);
}

/* The operand of an atomic, followed by what it compares with, if it does. */
static bool open_combination(tj_sim_wave *wave, const tj_sim_instruction *instruction, const tj_sim_operand *operand,
                             tj_sim_data *data) {
  const tj_sim_operation *operation = instruction->operation;
  unsigned compared = operation->step, words = operation->bytes / 4;
  tj_sim_data other;
  if (compared == 0)
    return tj_sim_open_data(wave, &operand[1], 0, operation->bytes, data);
  if (!tj_sim_open_data(wave, &operand[3 - compared], 0, operation->bytes, data) ||
      !tj_sim_open_data(wave, &operand[compared], 0, operation->bytes, &other))
    return false;
  for (unsigned i = 0; i < words; i++)
    data->row[words + i] = other.row[i];
  return true;
}

/* Atomics take their operand, and return what was there when the text has one operand more. */
static void combine_lds(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  const tj_sim_operation *operation = instruction->operation;
  bool returns = tj_sim_returns_old(instruction);
  const tj_sim_operand *operand = &instruction->operand[returns ? 1 : 0];
  tj_sim_data data, result = {{0}, 0};
  uint32_t at[TJ_SIM_LANES];
  if (!open_addresses(wave, instruction, &operand[0], (uint32_t)instruction->offset, at) ||
      !open_combination(wave, instruction, operand, &data) ||
      (returns && !tj_sim_open_data(wave, &instruction->operand[0], 0, operation->bytes, &result)))
    return;
  count_lds(wave, operation, at);
  for (uint64_t left = tj_sim_exec(wave); left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    if (at[lane] % operation->bytes != 0) {
      tj_sim_wave_fail(wave, 1ull << lane, "LDS address %u is not aligned for an atomic operation", at[lane]);
      return;
    }
    uint64_t old = tj_sim_combine_memory(operation, &data, lane, wave->group->lds + at[lane]);
    if (returns)
      tj_sim_return_old(operation, &result, lane, old);
  }
}

void tj_sim_execute_lds(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  const tj_sim_operand *operand = instruction->operand;
  bool is_store = tj_sim_is_store(instruction->operation);
  if (instruction->operation->transfer == TJ_SIM_ATOMIC)
    combine_lds(wave, instruction);
  else
    access_lds(wave, instruction, &operand[is_store ? 0 : 1], &operand[is_store ? 1 : 0], 0,
               (uint32_t)instruction->offset);
}

/* Two addresses a lane. A load whose destination overlaps its address reads the address first. */
void tj_sim_execute_lds_pair(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  const tj_sim_operation *operation = instruction->operation;
  const tj_sim_operand *operand = instruction->operand;
  uint32_t unit = (uint32_t)operation->step * operation->bytes;
  uint32_t offset[2] = {instruction->offset0 * unit, instruction->offset1 * unit};
  if (tj_sim_is_store(operation)) {
    access_lds(wave, instruction, &operand[0], &operand[1], 0, offset[0]);
    access_lds(wave, instruction, &operand[0], &operand[2], 0, offset[1]);
    return;
  }
  uint32_t at[2][TJ_SIM_LANES];
  tj_sim_data data[2];
  for (unsigned i = 0; i < 2; i++) {
    if (!open_addresses(wave, instruction, &operand[1], offset[i], at[i]) ||
        !tj_sim_open_data(wave, &operand[0], i * operation->bytes / 4, operation->bytes, &data[i]))
      return;
    count_lds(wave, operation, at[i]);
  }
  for (uint64_t left = tj_sim_exec(wave); left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    for (unsigned i = 0; i < 2; i++)
      tj_sim_move(operation, &data[i], lane, wave->group->lds + at[i][lane]);
  }
}

/* Lanes turn around what they load together. */
void tj_sim_execute_lds_transposed(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  const tj_sim_operation *operation = instruction->operation;
  unsigned elements = 1u << operation->step, size = operation->bytes / elements;
  uint32_t at[TJ_SIM_LANES];
  tj_sim_data data;
  if (tj_sim_exec(wave) != tj_sim_all_lanes(wave)) {
    tj_sim_wave_fail(wave, ~tj_sim_exec(wave), "loads that transpose need all lanes");
    return;
  }
  if (!open_addresses(wave, instruction, &instruction->operand[1], (uint32_t)instruction->offset, at) ||
      !tj_sim_open_data(wave, &instruction->operand[0], 0, operation->bytes, &data))
    return;
  count_lds(wave, operation, at);
  for (unsigned lane = 0; lane < wave->lanes; lane++) {
    unsigned char gathered[16];
    for (unsigned e = 0; e < elements; e++) {
      const unsigned char *loaded = wave->group->lds + at[operation->owner(lane, e)];
      memcpy(gathered + e * size, loaded + (lane & (elements - 1)) * size, size);
    }
    tj_sim_move(operation, &data, lane, gathered);
  }
}

/* --- exchanges between lanes --- */

typedef struct {
  uint32_t *to;
  const uint32_t *address, *data;
  uint64_t exec;
} exchange;

static bool open_exchange(tj_sim_wave *wave, const tj_sim_instruction *instruction, exchange *e) {
  e->to = tj_sim_row(wave, &instruction->operand[0], 0);
  e->address = tj_sim_row(wave, &instruction->operand[1], 0);
  e->data = tj_sim_row(wave, &instruction->operand[2], 0);
  e->exec = tj_sim_exec(wave);
  return wave->state != TJ_SIM_FAILED;
}

static unsigned lane_of(const tj_sim_wave *wave, const tj_sim_instruction *instruction, uint32_t address) {
  return (address + (uint32_t)instruction->offset) / 4 & (wave->lanes - 1);
}

static void write_row(uint32_t *to, const uint32_t value[TJ_SIM_LANES], uint64_t exec) {
  for (; exec != 0; exec &= exec - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(exec);
    to[lane] = value[lane];
  }
}

/* Each lane fetches, where lanes that exec has switched off give zero; or sends, and lanes that nobody sends to get
 * zero. */
static void exchange_lanes(tj_sim_wave *wave, const tj_sim_instruction *instruction, bool fetches) {
  exchange e;
  uint32_t value[TJ_SIM_LANES] = {0};
  if (!open_exchange(wave, instruction, &e))
    return;
  for (uint64_t left = e.exec; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left), other = lane_of(wave, instruction, e.address[lane]);
    if (!fetches)
      value[other] = e.data[lane];
    else if ((e.exec >> other & 1) != 0)
      value[lane] = e.data[other];
  }
  write_row(e.to, value, e.exec);
}

void tj_sim_execute_lds_permute(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  exchange_lanes(wave, instruction, false);
}

void tj_sim_execute_lds_bpermute(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  exchange_lanes(wave, instruction, true);
}

/* The lane that a lane reads by a swizzle's pattern: bit 15 set, one of four in each quad; else the lane's low five
 * bits through an and, an or and a xor mask. */
static unsigned swizzled(uint32_t pattern, unsigned lane) {
  if ((pattern & 0x8000) != 0)
    return (lane & ~3u) | (pattern >> 2 * (lane & 3) & 3);
  unsigned low = ((lane & 31 & pattern) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31);
  return (lane & ~31u) | low;
}

void tj_sim_execute_lds_swizzle(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  uint32_t *to = tj_sim_row(wave, &instruction->operand[0], 0);
  const uint32_t *data = tj_sim_row(wave, &instruction->operand[1], 0);
  uint32_t value[TJ_SIM_LANES] = {0};
  uint64_t exec = wave->state == TJ_SIM_FAILED ? 0 : tj_sim_exec(wave);
  for (uint64_t left = exec; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    unsigned from = swizzled((uint32_t)instruction->offset, lane);
    value[lane] = (exec >> from & 1) != 0 ? data[from] : 0;
  }
  write_row(to, value, exec);
}

/* SPDX-License-Identifier: MIT */
/* Vector memory: global, flat, scratch and buffer instructions. Each first finds where every lane's bytes are, fails
 * when some lane's are nowhere, and then moves them all. */
#include "rt/sim/transfer/global.h"

#include "rt/sim/transfer/transfer.h"

#include <inttypes.h>

/* --- the table --- */

#define TRANSFER(name, kind, size)
#define ATOMIC(name, type, operation)                                                                                \
  static uint64_t combine_##name(uint64_t old, uint64_t operand, uint64_t compare) {                                 \
    const type##_t a = get_##type(old), b = get_##type(operand), c = get_##type(compare);                            \
    (void)a, (void)c;                                                                                                \
    return put_##type(operation);                                                                                    \
  }
#include "rt/sim/transfer/transfer.def"
#undef TRANSFER
#undef ATOMIC

const tj_sim_operation tj_sim_memory_operations[] = {
#define ROW(space, suffix, kind, size, ...)                                                                          \
  {.name = #space "_" #suffix,                                                                                       \
   .execute = tj_sim_execute_##space,                                                                                \
   .class = TJ_SIM_CLASS_VMEM,                                                                                       \
   .form = TJ_SIM_FORM_OTHER,                                                                                        \
   .transfer = TJ_SIM_##kind,                                                                                        \
   .bytes = size __VA_ARGS__},
#define EVERYWHERE(...)                                                                                              \
  ROW(global, __VA_ARGS__) ROW(flat, __VA_ARGS__) ROW(scratch, __VA_ARGS__) ROW(buffer, __VA_ARGS__)
#define TRANSFER(name, kind, size) EVERYWHERE(name, kind, size)
#define ATOMIC(suffix, type, operation) EVERYWHERE(suffix, ATOMIC, sizeof(type##_t), , .combine = combine_##suffix)
#include "rt/sim/transfer/transfer.def"
#undef TRANSFER
#undef ATOMIC
#undef EVERYWHERE
#undef ROW
#define DIRECT(suffix, size)                                                                                         \
  {.name = "global_load_lds_" #suffix,                                                                               \
   .execute = tj_sim_execute_global,                                                                                 \
   .class = TJ_SIM_CLASS_VMEM,                                                                                       \
   .form = TJ_SIM_FORM_OTHER,                                                                                        \
   .transfer = TJ_SIM_DIRECT,                                                                                        \
   .bytes = size},
    DIRECT(dword, 4) DIRECT(dwordx4, 16)
#undef DIRECT
#define ASYNC(suffix, size)                                                                                          \
  {.name = "global_load_async_to_lds_" #suffix,                                                                      \
   .execute = tj_sim_execute_async,                                                                                  \
   .class = TJ_SIM_CLASS_VMEM,                                                                                       \
   .form = TJ_SIM_FORM_OTHER,                                                                                        \
   .transfer = TJ_SIM_DIRECT,                                                                                        \
   .bytes = size,                                                                                                    \
   .least_operands = 3},
        ASYNC(b8, 1) ASYNC(b32, 4) ASYNC(b64, 8) ASYNC(b128, 16)
#undef ASYNC
#define TENSOR(mnemonic, kind)                                                                                       \
  {.name = #mnemonic,                                                                                                \
   .execute = tj_sim_execute_tensor,                                                                                 \
   .class = TJ_SIM_CLASS_VMEM,                                                                                       \
   .form = TJ_SIM_FORM_OTHER,                                                                                        \
   .transfer = TJ_SIM_##kind,                                                                                        \
   .least_operands = 2},
            TENSOR(tensor_load_to_lds, DIRECT) TENSOR(tensor_store_from_lds, STORE)
#undef TENSOR
};

const size_t tj_sim_memory_operation_count = sizeof tj_sim_memory_operations / sizeof tj_sim_memory_operations[0];

/* --- operands --- */

/* One execution of an instruction: its operands by their roles, and where each lane's bytes are. */
typedef struct {
  const tj_sim_operand *result, *address, *data, *base; /* NULL: there is none */
  uint64_t lanes;                                       /* that exec has on */
  uint64_t zeros;                                       /* of them, those that move nothing, and load zeros */
  uint64_t at[TJ_SIM_LANES];
} access;

/* Loads have a destination, but for those into LDS, and an address; stores an address and data; atomics both, if they
 * return what was there. */
static access open_access(const tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  const tj_sim_operation *operation = instruction->operation;
  const tj_sim_operand *next = instruction->operand;
  access a = {.lanes = tj_sim_exec(wave)};
  a.result = tj_sim_has_result(instruction) ? next++ : NULL;
  next += operation->execute == tj_sim_execute_async; /* the place in LDS */
  a.address = next++;
  a.data = operation->transfer == TJ_SIM_ATOMIC || tj_sim_is_store(operation) ? next++ : NULL;
  a.base = next;
  return a;
}

static bool is_row(const tj_sim_operand *operand) {
  return operand->place == TJ_SIM_VECTOR || operand->place == TJ_SIM_ACCUMULATOR;
}

/* --- moving --- */

static void fail_lanes(tj_sim_wave *wave, const access *a, uint64_t lanes, unsigned bytes, const char *why) {
  unsigned first = (unsigned)__builtin_ctzll(lanes);
  tj_sim_wave_fail(wave, lanes, "%u bytes at 0x%" PRIx64 " (lane %u): %s", bytes, a->at[first], first, why);
}

/* Checks every lane's address. Atomics need alignment. */
static bool check_lanes(tj_sim_wave *wave, const tj_sim_operation *operation, const access *a) {
  bool is_atomic = operation->transfer == TJ_SIM_ATOMIC;
  bool is_written = is_atomic || tj_sim_is_store(operation);
  uint64_t outside = 0, misaligned = 0;
  for (uint64_t left = a->lanes & ~a->zeros; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    if (tj_sim_memory_at(wave->group->memory, a->at[lane], operation->bytes, is_written) == NULL)
      outside |= 1ull << lane;
    if (is_atomic && a->at[lane] % operation->bytes != 0)
      misaligned |= 1ull << lane;
  }
  if (outside != 0)
    tj_sim_wave_fault(wave, outside, operation->bytes, a->at[__builtin_ctzll(outside)], is_written);
  else if (misaligned != 0)
    fail_lanes(wave, a, misaligned, operation->bytes, "not aligned for an atomic operation");
  return outside == 0 && misaligned == 0;
}

static void count_access(const tj_sim_wave *wave, const tj_sim_operation *operation, const access *a) {
  uint64_t packed[TJ_SIM_LANES];
  uint32_t count = 0;
  for (uint64_t left = a->lanes & ~a->zeros; left != 0; left &= left - 1)
    packed[count++] = a->at[__builtin_ctzll(left)];
  tj_sim_count_access(wave->group->counters, wave->group->line_bytes, packed, count, operation->bytes,
                      operation->transfer == TJ_SIM_ATOMIC || tj_sim_is_store(operation));
}

static void move_lanes(tj_sim_wave *wave, const tj_sim_instruction *instruction, const access *a) {
  const tj_sim_operation *operation = instruction->operation;
  tj_sim_data data, result = {{0}, 0};
  bool is_atomic = operation->transfer == TJ_SIM_ATOMIC;
  bool compares = is_atomic && strstr(operation->name, "cmpswap") != NULL;
  if (!tj_sim_open_data(wave, a->data != NULL ? a->data : a->result, 0, operation->bytes * (compares ? 2u : 1u),
                        &data))
    return;
  if (is_atomic && a->result != NULL && !tj_sim_open_data(wave, a->result, 0, operation->bytes, &result))
    return;
  for (uint64_t left = a->lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    unsigned char *memory = (unsigned char *)(uintptr_t)a->at[lane];
    uint64_t old = 0;
    if ((a->zeros >> lane & 1) != 0 && !is_atomic && a->data == NULL)
      tj_sim_load_zeros(operation, &data, lane);
    if ((a->zeros >> lane & 1) != 0)
      continue;
    if (is_atomic)
      old = tj_sim_combine_memory(operation, &data, lane, memory);
    else
      tj_sim_move(operation, &data, lane, memory);
    if (is_atomic && a->result != NULL)
      tj_sim_return_old(operation, &result, lane, old);
  }
}

static void perform(tj_sim_wave *wave, const tj_sim_instruction *instruction, const access *a) {
  if (wave->state == TJ_SIM_FAILED || a->lanes == 0 || !check_lanes(wave, instruction->operation, a))
    return;
  if (tj_sim_is_store(instruction->operation) &&
      !tj_sim_check_stored(wave, instruction, a->data, a->lanes & ~a->zeros))
    return;
  count_access(wave, instruction->operation, a);
  if (instruction->operation->transfer == TJ_SIM_DIRECT)
    tj_sim_move_direct(wave, instruction, a->at);
  else
    move_lanes(wave, instruction, a);
}

/* --- spaces --- */

/* Of the register of an offset, in bytes. */
static uint64_t offset_in(const tj_sim_wave *wave, const tj_sim_instruction *instruction, uint32_t word) {
  uint64_t offset = tj_sim_has_signed_offsets(wave->group->processor) ? (uint64_t)(int64_t)(int32_t)word : word;
  return offset * (instruction->scales_offset ? instruction->operation->bytes : 1u);
}

/* An address of 64 bits in two registers, or a base in scalar registers and an offset of 32 bits. */
void tj_sim_execute_global(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  access a = open_access(wave, instruction);
  bool has_base = a.base->place == TJ_SIM_SCALAR && a.base->index != TJ_SIM_NULL;
  uint64_t base = has_base ? tj_sim_read_scalar(wave, a.base, 64) : 0;
  const uint32_t *low = tj_sim_row(wave, a.address, 0);
  const uint32_t *high = has_base ? NULL : tj_sim_row(wave, a.address, 1);
  if (wave->state == TJ_SIM_FAILED)
    return;
  for (uint64_t left = a.lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    uint64_t address =
        high == NULL ? offset_in(wave, instruction, low[lane]) : low[lane] | (uint64_t)high[lane] << 32;
    a.at[lane] = base + address + (uint64_t)instruction->offset;
  }
  perform(wave, instruction, &a);
}

void tj_sim_execute_async(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  tj_sim_execute_global(wave, instruction);
}

void tj_sim_execute_flat(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  tj_sim_execute_global(wave, instruction);
}

static unsigned char *scratch_of(const tj_sim_wave *wave, unsigned lane) {
  return wave->scratch + (size_t)lane * wave->group->scratch_bytes;
}

/* Turns offsets in a lane's scratch into addresses, and moves. Scratch is no range of the memory table. */
static void perform_in_scratch(tj_sim_wave *wave, const tj_sim_instruction *instruction, access *a) {
  const tj_sim_operation *operation = instruction->operation;
  uint64_t outside = 0;
  for (uint64_t left = a->lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    uint64_t size = wave->group->scratch_bytes;
    if (a->at[lane] > size || operation->bytes > size - a->at[lane])
      outside |= 1ull << lane;
  }
  if (outside != 0) {
    fail_lanes(wave, a, outside, operation->bytes, "not inside the work-item's scratch memory");
    return;
  }
  for (uint64_t left = a->lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    a->at[lane] = (uint64_t)(uintptr_t)(scratch_of(wave, lane) + a->at[lane]);
  }
  move_lanes(wave, instruction, a);
}

void tj_sim_execute_scratch(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  access a = open_access(wave, instruction);
  uint64_t base = a.base->place == TJ_SIM_SCALAR ? (uint32_t)tj_sim_read_scalar(wave, a.base, 32) : 0;
  const uint32_t *row = is_row(a.address) ? tj_sim_row(wave, a.address, 0) : NULL;
  for (uint64_t left = wave->state == TJ_SIM_FAILED ? 0 : a.lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    a.at[lane] = (uint32_t)(base + (row != NULL ? offset_in(wave, instruction, row[lane]) : 0) +
                            (uint64_t)instruction->offset);
  }
  if (wave->state != TJ_SIM_FAILED)
    perform_in_scratch(wave, instruction, &a);
}

/* A buffer resource, four scalar registers. */
typedef struct {
  uint64_t base;
  uint32_t stride, records;
  uint32_t check;  /* from gfx10 on: what is held against the records */
  bool is_scratch; /* swizzled: the lanes' dwords are interleaved */
} resource;

static resource read_resource(const tj_sim_wave *wave, const tj_sim_operand *operand) {
  const uint32_t *word = &wave->scalar[operand->index];
  return (resource){.base = word[0] | (uint64_t)(word[1] & 0xffff) << 32,
                    .stride = word[1] >> 16 & 0x3fff,
                    .records = word[2],
                    .check = word[3] >> 28 & 3,
                    .is_scratch = word[1] >> 31 != 0};
}

/* Offset and index of a lane: registers of the address operand, in this order. */
static void read_buffer_address(tj_sim_wave *wave, const tj_sim_instruction *instruction,
                                const tj_sim_operand *operand, unsigned lane, uint64_t *index, uint64_t *offset) {
  unsigned next = 0;
  *index = 0;
  *offset = (uint64_t)instruction->offset;
  const uint32_t *row = instruction->has_index ? tj_sim_row(wave, operand, next++) : NULL;
  *index = row != NULL ? row[lane] : 0;
  row = instruction->has_offset ? tj_sim_row(wave, operand, next) : NULL;
  *offset += row != NULL ? row[lane] : 0;
}

/* Bytes from an offset on, and the first that is beyond. */
typedef struct {
  uint64_t begin, bytes, end;
} extent;

/* Records are bytes where there is no stride or no index, and else elements. Of bytes, gfx9 counts those that the
 * scalar offset skips, later processors do not. */
static extent extent_of(const tj_sim_wave *wave, const resource *r, uint64_t offset, uint64_t bytes,
                        uint64_t scalar) {
  enum { FIRST_WITHOUT_SCALAR = 10 };
  bool counts_scalar = wave->group->processor->major < FIRST_WITHOUT_SCALAR;
  uint64_t skipped = counts_scalar ? scalar : 0;
  return (extent){offset, bytes, r->records > skipped ? r->records - skipped : 0};
}

/* Whether a lane's bytes are within the resource. Documents do not say the same for all processors of bytes that are
 * in part, nor of offsets that do not fit in 32 bits: there the wave fails. */
static bool is_in_bounds(tj_sim_wave *wave, const resource *r, bool has_index, uint64_t index, extent e,
                         unsigned lane) {
  enum { RAW = 3, FIRST_WITH_CHECK = 10 };
  bool is_raw = r->stride == 0 || !has_index;
  if (!is_raw)
    return index < r->records && e.begin + e.bytes <= r->stride;
  if (wave->group->processor->major >= FIRST_WITH_CHECK && r->check != RAW)
    tj_sim_wave_fail(wave, 1ull << lane, "a resource of bytes whose word 3 does not say so (OOB_SELECT is %u)",
                     r->check);
  else if (e.begin > UINT32_MAX)
    tj_sim_wave_fail(wave, 1ull << lane, "an offset of more than 32 bits into a resource");
  else if (e.begin < e.end && e.begin + e.bytes > e.end)
    tj_sim_wave_fail(wave, 1ull << lane,
                     "%u bytes at offset %" PRIu64 " of a resource (lane %u), of which %" PRIu64 " are within it",
                     (unsigned)e.bytes, e.begin, lane, e.end - e.begin);
  return e.begin < e.end;
}

void tj_sim_execute_buffer(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  const tj_sim_operand *operand = instruction->operand;
  const tj_sim_operation *operation = instruction->operation;
  bool has_data = operation->transfer == TJ_SIM_ATOMIC || tj_sim_is_store(operation);
  access a = {.lanes = tj_sim_exec(wave), .address = &operand[1]};
  a.data = has_data ? &operand[0] : NULL;
  a.result = !has_data || instruction->returns_old ? &operand[0] : NULL;
  resource r = read_resource(wave, &operand[2]);
  uint64_t base = (uint32_t)tj_sim_read_scalar(wave, &operand[3], 32);
  for (uint64_t left = a.lanes; left != 0 && wave->state != TJ_SIM_FAILED; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    uint64_t index, offset;
    read_buffer_address(wave, instruction, a.address, lane, &index, &offset);
    a.at[lane] = r.is_scratch ? base / wave->lanes + offset : r.base + base + index * r.stride + offset;
    if (!r.is_scratch && !is_in_bounds(wave, &r, instruction->has_index, index,
                                       extent_of(wave, &r, offset, operation->bytes, base), lane))
      a.zeros |= 1ull << lane;
  }
  if (wave->state == TJ_SIM_FAILED)
    return;
  if (r.is_scratch)
    perform_in_scratch(wave, instruction, &a);
  else
    perform(wave, instruction, &a);
}

/* SPDX-License-Identifier: MIT */
/* Bytes between memory and registers: widths, extension, halves of registers, atomic combination. */
#include "rt/sim/transfer/transfer.h"

bool tj_sim_open_data(tj_sim_wave *wave, const tj_sim_operand *operand, unsigned first, unsigned bytes,
                      tj_sim_data *data) {
  *data = (tj_sim_data){.part = operand->part};
  for (unsigned i = 0; i < TJ_SIM_DATA_ROWS && 4 * i < bytes; i++)
    data->row[i] = tj_sim_row(wave, operand, first + i);
  return wave->state != TJ_SIM_FAILED;
}

static void put_half(uint32_t *to, uint32_t value, bool is_high) {
  *to = is_high ? (*to & 0xffff) | value << 16 : (*to & 0xffff0000) | (value & 0xffff);
}

static void store_lane(const tj_sim_operation *operation, const tj_sim_data *data, unsigned lane,
                       unsigned char *memory) {
  uint32_t words[TJ_SIM_DATA_ROWS];
  for (unsigned i = 0; 4 * i < operation->bytes; i++)
    words[i] = data->row[i][lane];
  if (operation->transfer == TJ_SIM_STORE_HIGH || data->part == TJ_SIM_HIGH_HALF)
    words[0] >>= 16;
  memcpy(memory, words, operation->bytes);
}

static void load_words(const tj_sim_operation *operation, const tj_sim_data *data, unsigned lane,
                       const unsigned char *memory) {
  for (unsigned i = 0; 4 * i < operation->bytes; i++)
    memcpy(&data->row[i][lane], memory + 4 * (size_t)i, 4);
}

static void load_small(const tj_sim_operation *operation, const tj_sim_data *data, unsigned lane,
                       const unsigned char *memory) {
  uint32_t value = 0;
  memcpy(&value, memory, operation->bytes);
  bool is_signed = operation->transfer == TJ_SIM_LOAD_SIGNED || operation->transfer == TJ_SIM_LOAD_LOW_SIGNED ||
                   operation->transfer == TJ_SIM_LOAD_HIGH_SIGNED;
  value = is_signed ? (uint32_t)extend(value, 8u * operation->bytes) : value;
  if (operation->transfer == TJ_SIM_LOAD || operation->transfer == TJ_SIM_LOAD_SIGNED)
    data->row[0][lane] = value;
  else
    put_half(&data->row[0][lane], value & 0xffff,
             operation->transfer >= TJ_SIM_LOAD_HIGH || data->part == TJ_SIM_HIGH_HALF);
}

void tj_sim_move(const tj_sim_operation *operation, const tj_sim_data *data, unsigned lane, unsigned char *memory) {
  if (tj_sim_is_store(operation))
    store_lane(operation, data, lane, memory);
  else if (operation->bytes >= 4)
    load_words(operation, data, lane, memory);
  else
    load_small(operation, data, lane, memory);
}

void tj_sim_load_zeros(const tj_sim_operation *operation, const tj_sim_data *data, unsigned lane) {
  unsigned char zeros[TJ_SIM_TRANSFER_BYTES] = {0};
  tj_sim_move(operation, data, lane, zeros);
}

/* Register `first` of the data, and the one after it for 8 bytes. */
static uint64_t lane_value(const tj_sim_operation *operation, const tj_sim_data *data, unsigned first,
                           unsigned lane) {
  if (data->row[first] == NULL)
    return 0;
  uint64_t low = data->row[first][lane];
  return operation->bytes == 8 ? low | (uint64_t)data->row[first + 1][lane] << 32 : low;
}

uint64_t tj_sim_combine_memory(const tj_sim_operation *operation, const tj_sim_data *data, unsigned lane,
                               unsigned char *memory) {
  uint64_t operand = lane_value(operation, data, 0, lane);
  uint64_t compare = lane_value(operation, data, operation->bytes / 4, lane);
  if (operation->bytes == 8) {
    uint64_t *at = (uint64_t *)(void *)memory, old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(at, &old, operation->combine(old, operand, compare), true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
    }
    return old;
  }
  uint32_t *at = (uint32_t *)(void *)memory, old = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(at, &old, (uint32_t)operation->combine(old, operand, compare), true,
                                      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
  return old;
}

void tj_sim_return_old(const tj_sim_operation *operation, const tj_sim_data *data, unsigned lane, uint64_t old) {
  data->row[0][lane] = (uint32_t)old;
  if (operation->bytes == 8)
    data->row[1][lane] = (uint32_t)(old >> 32);
}

/* SPDX-License-Identifier: MIT */
/* Effects: which operands are overwritten whole, which are stored, which lanes are looked at. What is not said to be
 * overwritten counts as read. */
#include "rt/sim/isa/effects.h"

#include "rt/sim/isa/valu.h"

/* Instructions whose lanes read or write registers of other lanes, by their functions. */
static void (*const crossing[])(tj_sim_wave *, const tj_sim_instruction *) = {
    tj_sim_execute_lds_permute,          tj_sim_execute_lds_bpermute, tj_sim_execute_lds_swizzle,
    tj_sim_execute_first_lane,           tj_sim_execute_read_lane,    tj_sim_execute_write_lane,
    tj_sim_execute_permute_rows,         tj_sim_execute_swap_rows_16, tj_sim_execute_swap_rows_32,
    tj_sim_execute_permute_rows_crossed, tj_sim_execute_swap_halves,  tj_sim_execute_matrix,
};

static bool crosses_lanes(const tj_sim_instruction *instruction) {
  bool crosses = instruction->exchange != NULL;
  for (size_t i = 0; i < sizeof crossing / sizeof crossing[0]; i++)
    crosses = crosses || instruction->operation->execute == crossing[i];
  return crosses;
}

/* Memory and LDS, and not the exchanges that only use LDS's crossbar. */
static bool moves_memory(const tj_sim_operation *operation) {
  bool is_exchange = operation->execute == tj_sim_execute_lds_permute ||
                     operation->execute == tj_sim_execute_lds_bpermute ||
                     operation->execute == tj_sim_execute_lds_swizzle;
  bool is_memory = operation->class == TJ_SIM_CLASS_VMEM || operation->class == TJ_SIM_CLASS_SMEM ||
                   operation->class == TJ_SIM_CLASS_LDS;
  return is_memory && !is_exchange;
}

static bool reads_vcc(const tj_sim_instruction *instruction) {
  const tj_sim_operation *operation = instruction->operation;
  return (operation->form == TJ_SIM_FORM_SELECT && instruction->mask_in < 0) ||
         operation->execute == tj_sim_execute_branch_vccz || operation->execute == tj_sim_execute_branch_vccnz;
}

static uint8_t bit(int operand) {
  return operand < 0 ? 0 : (uint8_t)(1u << operand);
}

/* Vector results of 16 bits, and those of selected bytes or lanes, leave the rest of their register as it was. */
static uint8_t overwritten_by_arithmetic(const tj_sim_instruction *instruction) {
  const tj_sim_operation *operation = instruction->operation;
  bool keeps = operation->form == TJ_SIM_FORM_ACCUMULATE || operation->form == TJ_SIM_FORM_UPDATE ||
               instruction->is_sdwa || instruction->exchange != NULL;
  bool is_narrow = tj_sim_type_bits(operation->type[0]) < 32 && operation->form != TJ_SIM_FORM_PACKED;
  return (uint8_t)((keeps || is_narrow ? 0 : bit(instruction->destination)) | bit(instruction->mask_out));
}

static bool is_partial(const tj_sim_operation *operation) {
  return operation->bytes < 4 && operation->transfer >= TJ_SIM_LOAD_LOW &&
         operation->transfer <= TJ_SIM_LOAD_HIGH_SIGNED;
}

static bool is_buffer(const tj_sim_operation *operation) {
  return operation->execute == tj_sim_execute_buffer;
}

static void find_memory_effects(tj_sim_instruction *instruction) {
  const tj_sim_operation *operation = instruction->operation;
  tj_sim_effects *effects = &instruction->effects;
  bool is_lds = operation->class == TJ_SIM_CLASS_LDS;
  if (operation->execute == tj_sim_execute_tensor)
    return;
  if (tj_sim_is_store(operation))
    effects->stored = is_buffer(operation) ? 1 : is_lds ? (uint8_t)~1u : 2;
  else if (operation->transfer == TJ_SIM_ATOMIC)
    effects->overwritten = tj_sim_returns_old(instruction) && !is_buffer(operation);
  else if (is_partial(operation))
    effects->partly_overwritten = 1;
  else
    effects->overwritten = tj_sim_has_result(instruction);
}

void tj_sim_find_effects(tj_sim_instruction *instruction) {
  const tj_sim_operation *operation = instruction->operation;
  tj_sim_effects *effects = &instruction->effects;
  effects->crosses_lanes = crosses_lanes(instruction);
  effects->moves_memory = moves_memory(operation);
  effects->reads_vcc = reads_vcc(instruction);
  if (effects->moves_memory)
    find_memory_effects(instruction);
  else if (operation->form < TJ_SIM_FORM_OTHER)
    effects->overwritten = overwritten_by_arithmetic(instruction);
}

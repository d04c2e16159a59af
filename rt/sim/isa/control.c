/* SPDX-License-Identifier: MIT */
/* Program control: branches, barriers, the end; and instructions that only concern time. */
#include "rt/sim/machine/wave.h"

static void go_to(tj_sim_wave *wave, uint32_t index) {
  if (index == UINT32_MAX)
    tj_sim_wave_fail(wave, 0, "the branch leads to no instruction of the kernel");
  else
    wave->next = index;
}

static void branch_if(tj_sim_wave *wave, const tj_sim_instruction *instruction, bool condition) {
  if (condition)
    go_to(wave, instruction->target);
}

static bool is_vcc_zero(const tj_sim_wave *wave) {
  return tj_sim_read_scalar(wave, &(tj_sim_operand){.place = TJ_SIM_SCALAR, .index = TJ_SIM_VCCZ}, 32) != 0;
}

void tj_sim_execute_branch(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  branch_if(wave, instruction, true);
}

void tj_sim_execute_branch_scc0(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  branch_if(wave, instruction, !wave->scc);
}

void tj_sim_execute_branch_scc1(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  branch_if(wave, instruction, wave->scc);
}

void tj_sim_execute_branch_vccz(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  branch_if(wave, instruction, is_vcc_zero(wave));
}

void tj_sim_execute_branch_vccnz(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  branch_if(wave, instruction, !is_vcc_zero(wave));
}

void tj_sim_execute_branch_execz(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  branch_if(wave, instruction, tj_sim_exec(wave) == 0);
}

void tj_sim_execute_branch_execnz(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  branch_if(wave, instruction, tj_sim_exec(wave) != 0);
}

/* The index of the instruction at an address; UINT32_MAX where there is none. */
static uint32_t instruction_at(const tj_sim_program *program, uint64_t address) {
  uint64_t offset = address - program->address;
  bool is_inside = address >= program->address && offset < program->size && offset % 4 == 0;
  return is_inside ? program->index[offset / 4] : UINT32_MAX;
}

static uint64_t following(const tj_sim_instruction *instruction) {
  return instruction->address + instruction->bytes;
}

void tj_sim_execute_jump(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  go_to(wave, instruction_at(wave->group->program, tj_sim_read_scalar(wave, &instruction->operand[0], 64)));
}

void tj_sim_execute_call(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  uint64_t to = tj_sim_read_scalar(wave, &instruction->operand[1], 64);
  tj_sim_write_scalar(wave, &instruction->operand[0], following(instruction), 64);
  go_to(wave, instruction_at(wave->group->program, to));
}

void tj_sim_execute_address(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  tj_sim_write_scalar(wave, &instruction->operand[0], following(instruction), 64);
}

/* Time is counted in instructions of the workgroup. */
void tj_sim_execute_time(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  tj_sim_write_scalar(wave, &instruction->operand[0], UINT64_MAX - wave->group->budget, 64);
}

/* --- hardware registers --- */

/* The mode of floating-point arithmetic: rounding to nearest in bits 0 to 3, denormals kept in bits 4 to 7. Others
 * are not simulated. */
enum { REGISTER_MODE = 1, MODE = 0xf0, MODE_OF_FLOATS = 0xff };

/* What gfx1250 tells of a wave: bits 6 to 9 are the cluster of workgroups that it is in; there are none. */
enum { REGISTER_STATUS_2 = 28 };

/* A field of a hardware register, as an instruction encodes it. */
typedef struct {
  unsigned number, shift;
  uint32_t mask;
} hardware_field;

static hardware_field field_of(const tj_sim_operand *operand) {
  unsigned bits = (unsigned)operand->constant, width = (bits >> 11 & 31) + 1;
  return (hardware_field){bits & 63, bits >> 6 & 31, (uint32_t)((1ull << width) - 1)};
}

static bool is_cluster(hardware_field field) {
  return field.number == REGISTER_STATUS_2 && field.shift == 6 && field.mask == 15;
}

static void check_mode(tj_sim_wave *wave, uint32_t changed, uint32_t value) {
  if (((value ^ MODE) & changed & MODE_OF_FLOATS) != 0)
    tj_sim_wave_fail(wave, 0, "the floating-point mode is set to one that is not simulated");
}

void tj_sim_execute_get_hardware(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  hardware_field field = field_of(&instruction->operand[1]);
  if (field.number == REGISTER_MODE)
    tj_sim_write_scalar(wave, &instruction->operand[0], (uint32_t)MODE >> field.shift & field.mask, 32);
  else if (tj_sim_has_clusters(wave->group->processor) && is_cluster(field))
    tj_sim_write_scalar(wave, &instruction->operand[0], 0, 32);
  else
    tj_sim_wave_fail(wave, 0, "the simulator does not have this hardware register");
}

void tj_sim_execute_set_hardware(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  hardware_field field = field_of(&instruction->operand[0]);
  uint32_t value = (uint32_t)tj_sim_read_scalar(wave, &instruction->operand[1], 32) & field.mask;
  if (field.number == REGISTER_MODE)
    check_mode(wave, field.mask << field.shift, value << field.shift);
  else
    tj_sim_wave_fail(wave, 0, "the simulator does not have this hardware register");
}

/* The mode has the banks of vector registers in bits 12 to 19, that of the destination first. Whichever bits of the
 * mode a constant is for, gfx1250 takes the banks from it, too; LLVM relies on that. */
void tj_sim_execute_set_hardware_constant(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  enum { BANKS = 12, OF_SOURCES = 2, OF_DESTINATION = 6 };
  uint8_t banks = (uint8_t)((uint32_t)tj_sim_read_scalar(wave, &instruction->operand[1], 32) >> BANKS);
  tj_sim_execute_set_hardware(wave, instruction);
  if (field_of(&instruction->operand[0]).number == REGISTER_MODE &&
      wave->group->processor->registers == TJ_REGISTERS_LARGE)
    wave->banks = (uint8_t)(banks >> OF_SOURCES | banks << OF_DESTINATION);
}

void tj_sim_execute_set_denormals(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  check_mode(wave, 0xf0, (uint32_t)instruction->operand[0].constant << 4);
}

void tj_sim_execute_set_rounding(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  check_mode(wave, 0xf, (uint32_t)instruction->operand[0].constant);
}

/* The lower byte; the upper one is what they were before. */
void tj_sim_execute_set_banks(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  wave->banks = (uint8_t)instruction->operand[0].constant;
}

void tj_sim_execute_nothing(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  (void)wave;
  (void)instruction;
}

void tj_sim_execute_barrier(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  (void)instruction;
  wave->state = TJ_SIM_AT_BARRIER;
}

/* LDS is somebody else's then, from which the engine may still take, and where it may still put. */
void tj_sim_execute_end(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  (void)instruction;
  if (wave->loads.queue[TJ_SIM_WAIT_TENSOR].count > 0)
    tj_sim_wave_fail(wave, 0, "the wave ends before the kernel has waited for its tensor instructions");
  else
    wave->state = TJ_SIM_ENDED;
}

void tj_sim_execute_trap(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  (void)instruction;
  tj_sim_wave_fail(wave, 0, "the kernel traps");
}

/* SPDX-License-Identifier: MIT */
/* Scalar arithmetic: what is computed is in salu.def; here is how it gets at its operands. */
#include "rt/sim/isa/salu.h"

#include "rt/sim/isa/valu.h"

#define SALU(name, form, result_type, a_type, b_type, ...)                                                           \
  SALU3(name, form, result_type, a_type, b_type, NONE, __VA_ARGS__)
#define SALU3(name, form, result_type, a_type, b_type, c_type, ...)                                                  \
  static void scalar_##name(tj_sim_scalar *scalar) {                                                                 \
    const a_type##_t a = get_##a_type(scalar->source[0]);                                                            \
    const b_type##_t b = get_##b_type(scalar->source[1]);                                                            \
    const c_type##_t c = get_##c_type(scalar->source[2]);                                                            \
    bool scc = scalar->scc;                                                                                          \
    uint64_t exec = scalar->exec;                                                                                    \
    result_type##_t r = get_##result_type(scalar->result);                                                           \
    __VA_ARGS__;                                                                                                     \
    (void)a, (void)b, (void)c;                                                                                       \
    scalar->result = put_##result_type(r);                                                                           \
    scalar->scc = scc;                                                                                               \
    scalar->exec = exec;                                                                                             \
  }
#include "rt/sim/isa/salu.def"
#undef SALU3

const tj_sim_operation tj_sim_scalar_operations[] = {
#define SALU3(mnemonic, layout, result_type, a, b, c, ...)                                                           \
  {.name = #mnemonic,                                                                                                \
   .execute = tj_sim_execute_scalar,                                                                                 \
   .class = TJ_SIM_CLASS_SALU,                                                                                       \
   .form = TJ_SIM_FORM_##layout,                                                                                     \
   .type = {TJ_SIM_##result_type, TJ_SIM_##a, TJ_SIM_##b, TJ_SIM_##c},                                               \
   .scalar = scalar_##mnemonic},
#include "rt/sim/isa/salu.def"
#undef SALU3
#undef SALU
};

const size_t tj_sim_scalar_operation_count = sizeof tj_sim_scalar_operations / sizeof tj_sim_scalar_operations[0];

void tj_sim_execute_scalar(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  const tj_sim_operation *operation = instruction->operation;
  tj_sim_scalar scalar = {.exec = tj_sim_exec(wave), .scc = wave->scc};
  uint64_t exec = scalar.exec;
  for (unsigned i = 0; i < instruction->source_count; i++)
    scalar.source[i] = tj_sim_read_scalar(wave, &instruction->operand[instruction->first_source + i],
                                          tj_sim_type_bits(operation->type[1 + i]));
  unsigned bits = tj_sim_type_bits(operation->type[0]);
  const tj_sim_operand *destination =
      instruction->destination < 0 ? NULL : &instruction->operand[instruction->destination];
  if (destination != NULL)
    scalar.result = tj_sim_read_scalar(wave, destination, bits);
  operation->scalar(&scalar);
  wave->scc = scalar.scc;
  if (destination != NULL)
    tj_sim_write_scalar(wave, destination, scalar.result, bits);
  if (scalar.exec != exec)
    tj_sim_set_exec(wave, scalar.exec);
}

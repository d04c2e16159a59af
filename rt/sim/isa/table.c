/* SPDX-License-Identifier: MIT */
/* The tables of all instructions, and the look-up in them. */
#include "rt/sim/isa/table.h"

#include "rt/sim/isa/matrix.h"
#include "rt/sim/isa/salu.h"
#include "rt/sim/isa/valu.h"
#include "rt/sim/transfer/global.h"
#include "rt/sim/transfer/lds.h"

static const tj_sim_operation control_operations[] = {
#define CONTROL(mnemonic, function, kind, operands)                                                                  \
  {.name = #mnemonic,                                                                                                \
   .execute = tj_sim_execute_##function,                                                                             \
   .class = TJ_SIM_CLASS_##kind,                                                                                     \
   .form = (operands) == 0 ? TJ_SIM_FORM_IGNORED : TJ_SIM_FORM_OTHER,                                                \
   .least_operands = operands},
#define SCALAR_LOAD(mnemonic, function, kind, size)                                                                  \
  {.name = #mnemonic,                                                                                                \
   .execute = tj_sim_execute_##function,                                                                             \
   .class = TJ_SIM_CLASS_SMEM,                                                                                       \
   .form = TJ_SIM_FORM_OTHER,                                                                                        \
   .transfer = TJ_SIM_##kind,                                                                                        \
   .bytes = size,                                                                                                    \
   .least_operands = 3},
#include "rt/sim/isa/control.def"
#undef CONTROL
#undef SCALAR_LOAD
};

static const struct {
  const char *name, *known;
} aliases[] = {
#define ALIAS(name, known) {#name, #known},
#include "rt/sim/isa/alias.def"
#undef ALIAS
};

static const tj_sim_operation *find_in(const tj_sim_operation *row, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(row[i].name, name) == 0)
      return &row[i];
  }
  return NULL;
}

static const char *known_name(const char *name) {
  for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
    if (strcmp(aliases[i].name, name) == 0)
      return aliases[i].known;
  }
  return name;
}

const tj_sim_operation *tj_sim_find(const char *mnemonic) {
  const struct {
    const tj_sim_operation *row;
    size_t count;
  } tables[] = {{control_operations, sizeof control_operations / sizeof control_operations[0]},
                {tj_sim_scalar_operations, tj_sim_scalar_operation_count},
                {tj_sim_vector_operations, tj_sim_vector_operation_count},
                {tj_sim_memory_operations, tj_sim_memory_operation_count},
                {tj_sim_lds_operations, tj_sim_lds_operation_count},
                {tj_sim_matrix_operations, tj_sim_matrix_operation_count}};
  const char *name = known_name(mnemonic);
  const tj_sim_operation *found = NULL;
  for (size_t i = 0; found == NULL && i < sizeof tables / sizeof tables[0]; i++)
    found = find_in(tables[i].row, tables[i].count, name);
  return found;
}

/* SPDX-License-Identifier: MIT */
/* The table of matrix instructions. */
#ifndef TJ_RT_SIM_MATRIX_H
#define TJ_RT_SIM_MATRIX_H

#include "rt/sim/machine/wave.h"

typedef enum {
  TJ_SIM_MATRIX_F64,
  TJ_SIM_MATRIX_F32,
  TJ_SIM_MATRIX_F16,
  TJ_SIM_MATRIX_BF16,
  TJ_SIM_MATRIX_FP8,
  TJ_SIM_MATRIX_BF8,
  TJ_SIM_MATRIX_FP6,
  TJ_SIM_MATRIX_BF6,
  TJ_SIM_MATRIX_FP4,
  TJ_SIM_MATRIX_I32,
  TJ_SIM_MATRIX_I8,
  TJ_SIM_MATRIX_IU8,
  TJ_SIM_MATRIX_IU4,
  TJ_SIM_MATRIX_F8F6F4
} tj_sim_matrix_element;

/* A row of matrix.def. */
typedef struct tj_sim_matrix {
  bool is_wmma, is_sparse;
  uint8_t rows, tiles, depth, blocks;
  uint8_t turn[2];              /* of A, of B */
  uint8_t scaled;               /* columns that a scale is of; 0: none */
  uint8_t result, addend, a, b; /* tj_sim_matrix_element */
} tj_sim_matrix;

extern const tj_sim_operation tj_sim_matrix_operations[];
extern const size_t tj_sim_matrix_operation_count;

#endif

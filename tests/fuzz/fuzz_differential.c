/* SPDX-License-Identifier: MIT */
/* Any bytes, as the decisions of random_program.h: kernels as the compiler maps them. */
#include "tests/fuzz/differential.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static random_program p;
  size_t chosen = size > 0 ? data[0] % SIMULATED : 0;
  write_random_program(&p, data + (size > 0), size - (size > 0), simulated[chosen].wave);
  if (p.is_too_long)
    return 0;
  try_on(&p, 0);
  try_on(&p, 1 + chosen);
  return 0;
}

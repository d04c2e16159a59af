/* SPDX-License-Identifier: MIT */
#include "lower/kernel/launched_tile.h"

tj_eval_status tj_choose_launched(const tj_kernel *kernel, const tj_bindings *bindings, int64_t symbol[]) {
  const tj_launched_tile *launched = kernel->launched;
  if (launched == NULL)
    return TJ_EVAL_OK;
  tj_tile_domain domain;
  tj_tile_choice choice = {.is_worth = 0};
  tj_eval_status status = tj_eval_nodes(launched->input, TJ_TILE_INPUTS, bindings, domain.input);
  if (status == TJ_EVAL_OK)
    choice = tj_tile_choose(&launched->tile, &domain);
  for (uint32_t i = 0; i < TJ_TILE_NUMBERS; i++) {
    if (!tj_is_constant(launched->number[i]))
      symbol[launched->number[i]->symbol->index] = choice.number[i];
  }
  return status;
}

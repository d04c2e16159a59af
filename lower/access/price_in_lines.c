/* SPDX-License-Identifier: MIT */
/* Sums of a price, and all of it in one number: cache lines, and what in them conflicts, idle lanes and room in LDS
 * are worth. */
#include "lower/access/price.h"

#include "base/machine/processor.h"
#include "base/number/cost.h"

#include <math.h>

/* --- machines --- */

tj_price_machine tj_price_machine_of(const tj_target *target) {
  const tj_compute_unit *unit = tj_compute_unit_of(target->processor);
  return (tj_price_machine){target->wave_size,
                            tj_uniform_lanes(target),
                            tj_cache_line_bytes(target->processor),
                            tj_sector_bytes(target->processor),
                            tj_line_costs_of(tj_sector_bytes(target->processor) > 0),
                            unit != NULL ? unit->lds_bytes : target->lds_bytes,
                            tj_bank_model_of(target->processor),
                            target->has_float_sums};
}

/* --- sums --- */

bool tj_price_is_whole(const tj_price *price) {
  return price->counted_workgroups == price->workgroups && price->counted_trips == price->trips;
}

static tj_cost sum_where(const tj_price *price, bool is_lds) {
  tj_cost sum = {0};
  for (uint32_t i = 0; i < price->access_count; i++) {
    if ((price->access[i].buffer == TJ_LDS) == is_lds && !price->access[i].is_scalar)
      tj_cost_add(&sum, &price->access[i].cost);
  }
  return sum;
}

tj_cost tj_price_of_memory(const tj_price *price) {
  return sum_where(price, false);
}

tj_cost tj_price_of_lds(const tj_price *price) {
  return sum_where(price, true);
}

/* --- one number --- */

double tj_cost_of_conflicts(const tj_line_costs *costs, double cycles, double least) {
  return cycles > least ? costs->any_conflict + costs->conflicts * (cycles - least) / least : 0;
}

double tj_cycles_that_cost(const tj_line_costs *costs, double cost, double least) {
  static const double ROUNDING = 1e-6;
  const double any = costs->any_conflict, more = (cost - any) / costs->conflicts;
  return cost > any ? ceil(least * (1 + more) - ROUNDING) : cost > 0 ? least + 1 : 0;
}

double tj_cost_of_touching(const tj_line_costs *costs, const tj_touched *touched, bool is_store, double line_sectors,
                           double wave_lines) {
  double partial = is_store ? touched->sectors - touched->least_sectors : 0;
  return costs->lines * touched->lines + costs->runs * touched->runs * wave_lines +
         (costs->sectors * touched->sectors + costs->partial_sectors * partial) / line_sectors;
}

/* Lines that as many instructions could move with a vector for every lane. */
static double room_of(const tj_price_machine *machine, int64_t instructions) {
  enum { VECTOR_BYTES = 16 };
  return (double)instructions * machine->wave_size * VECTOR_BYTES / machine->line_bytes;
}

/* What vector accesses of memory touch. */
static double cost_of_memory(const tj_price *price, const tj_price_machine *machine) {
  const uint32_t sector = machine->sector_bytes > 0 ? machine->sector_bytes : machine->line_bytes;
  double cost = 0;
  for (uint32_t i = 0; i < price->access_count; i++) {
    const tj_access_price *access = &price->access[i];
    const tj_cost *of = &access->cost;
    if (access->buffer == TJ_LDS || access->is_scalar)
      continue;
    tj_touched touched = {(double)of->lines, (double)of->sectors, (double)of->least_sectors, (double)of->runs};
    cost += tj_cost_of_touching(machine->costs, &touched, access->is_store, (double)machine->line_bytes / sector,
                                room_of(machine, 1));
  }
  return cost;
}

double tj_price_in_lines(const tj_price *price, const tj_price_machine *machine) {
  const tj_line_costs *costs = machine->costs;
  tj_cost memory = tj_price_of_memory(price), lds = tj_price_of_lds(price);
  double lines = cost_of_memory(price, machine),
         idle = room_of(machine, memory.instructions) - (double)memory.least_lines;
  double counted = (double)price->counted_workgroups * (double)price->counted_trips;
  double waves = (double)price->counted_workgroups * price->workgroup_size / machine->wave_size;
  double cost = lines * (1 + tj_cost_of_conflicts(costs, (double)lds.cycles, (double)lds.least_cycles));
  if (machine->shared_lds > 0)
    cost += lines * costs->lds * price->lds_bytes / machine->shared_lds;
  cost += costs->idle_lanes * (idle > 0 ? idle : 0) + costs->lds_vectors * room_of(machine, lds.instructions);
  cost += costs->prologue * 2 * waves * room_of(machine, 1);
  return cost * (double)price->workgroups * (double)price->trips / counted;
}

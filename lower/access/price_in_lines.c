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

double tj_cost_of_conflicts(double cycles, double least) {
  const tj_line_costs *cost = &tj_cost_in_lines;
  return cycles > least ? cost->any_conflict + cost->conflicts * (cycles - least) / least : 0;
}

double tj_cycles_that_cost(double cost, double least) {
  static const double ROUNDING = 1e-6;
  const double any = tj_cost_in_lines.any_conflict, more = (cost - any) / tj_cost_in_lines.conflicts;
  return cost > any ? ceil(least * (1 + more) - ROUNDING) : cost > 0 ? least + 1 : 0;
}

double tj_cost_of_touching(const tj_touched *touched, bool is_store, uint32_t line_bytes, uint32_t sector_bytes) {
  double partial = is_store ? touched->sectors - touched->least_sectors : 0;
  return touched->lines + tj_cost_in_lines.partial_sectors * partial * sector_bytes / line_bytes;
}

/* What vector accesses of memory touch. */
static double lines_of_memory(const tj_price *price, const tj_price_machine *machine) {
  double lines = 0;
  for (uint32_t i = 0; i < price->access_count; i++) {
    const tj_access_price *access = &price->access[i];
    const tj_cost *cost = &access->cost;
    if (access->buffer == TJ_LDS || access->is_scalar)
      continue;
    tj_touched touched = {(double)cost->lines, (double)cost->sectors, (double)cost->least_sectors};
    lines += tj_cost_of_touching(&touched, access->is_store, machine->line_bytes, machine->sector_bytes);
  }
  return lines;
}

/* Lines that as many instructions could move with a vector for every lane. */
static double room_of(const tj_price_machine *machine, int64_t instructions) {
  enum { VECTOR_BYTES = 16 };
  return (double)instructions * machine->wave_size * VECTOR_BYTES / machine->line_bytes;
}

double tj_price_in_lines(const tj_price *price, const tj_price_machine *machine) {
  tj_cost memory = tj_price_of_memory(price), lds = tj_price_of_lds(price);
  double lines = lines_of_memory(price, machine),
         idle = room_of(machine, memory.instructions) - (double)memory.least_lines;
  double counted = (double)price->counted_workgroups * (double)price->counted_trips;
  double waves = (double)price->counted_workgroups * price->workgroup_size / machine->wave_size;
  double cost = lines * (1 + tj_cost_of_conflicts((double)lds.cycles, (double)lds.least_cycles));
  if (machine->shared_lds > 0)
    cost += lines * tj_cost_in_lines.lds * price->lds_bytes / machine->shared_lds;
  cost += tj_cost_in_lines.idle_lanes * (idle > 0 ? idle : 0) +
          tj_cost_in_lines.lds_vectors * room_of(machine, lds.instructions);
  cost += tj_cost_in_lines.prologue * 2 * waves * room_of(machine, 1);
  return cost * (double)price->workgroups * (double)price->trips / counted;
}

/* SPDX-License-Identifier: MIT */
/* Occupancy from a kernel's registers and LDS. */
#include "jit/isa/occupancy.h"

static uint64_t round_up(uint64_t n, uint64_t unit) {
  return (n + unit - 1) / unit * unit;
}

static void limit(tj_occupancy *occupancy, uint64_t waves, const char *by) {
  if (waves < occupancy->waves)
    *occupancy = (tj_occupancy){.waves = (uint32_t)waves, .limited_by = by};
}

tj_occupancy tj_occupancy_of(const tj_compute_unit *unit, const tj_isa_stats *stats, uint32_t workgroup_size) {
  tj_occupancy occupancy = {.waves = unit->waves, .limited_by = "waves"};
  uint64_t vgprs = round_up(stats->vgprs == 0 ? 1 : stats->vgprs, unit->vgpr_granule);
  uint64_t lanes = stats->wave_size == 0 ? 64 : stats->wave_size;
  uint64_t all = unit->sgprs == 0 && lanes == 64 ? unit->vgprs / 2 : unit->vgprs;
  limit(&occupancy, all / vgprs, "vector registers");
  if (unit->sgprs > 0 && stats->sgprs > 0)
    limit(&occupancy, unit->sgprs / round_up(stats->sgprs, unit->sgpr_granule), "scalar registers");
  uint64_t waves_of_group = (workgroup_size + lanes - 1) / lanes;
  uint64_t workgroups = (uint64_t)occupancy.waves * unit->simds / waves_of_group;
  if (stats->lds_bytes + unit->lds_reserved > 0) {
    uint64_t with_lds = tj_workgroups_in_lds(unit, (uint32_t)stats->lds_bytes);
    limit(&occupancy, with_lds * waves_of_group / unit->simds, "LDS");
    workgroups = with_lds < workgroups ? with_lds : workgroups;
  }
  if (unit->workgroups > 0) {
    limit(&occupancy, unit->workgroups * waves_of_group / unit->simds, "workgroups");
    workgroups = unit->workgroups < workgroups ? unit->workgroups : workgroups;
  }
  occupancy.workgroups = (uint32_t)workgroups;
  return occupancy;
}

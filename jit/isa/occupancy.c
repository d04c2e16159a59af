/* SPDX-License-Identifier: MIT */
/* Occupancy from a kernel's registers and LDS, by the rows of occupancy.def. */
#include "jit/isa/occupancy.h"

#include <string.h>

static const struct {
  const char *prefix;
  tj_gpu gpu;
} gpus[] = {
#define GPU(prefix, ...) {prefix, {__VA_ARGS__}},
#include "jit/isa/occupancy.def"
#undef GPU
};

const tj_gpu *tj_gpu_of(const char *processor) {
  for (size_t i = 0; i < sizeof gpus / sizeof gpus[0]; i++) {
    if (strncmp(processor, gpus[i].prefix, strlen(gpus[i].prefix)) == 0)
      return &gpus[i].gpu;
  }
  return NULL;
}

static uint64_t round_up(uint64_t n, uint64_t unit) {
  return (n + unit - 1) / unit * unit;
}

static void limit(tj_occupancy *occupancy, uint64_t waves, const char *by) {
  if (waves < occupancy->waves)
    *occupancy = (tj_occupancy){(uint32_t)waves, by};
}

tj_occupancy tj_occupancy_of(const tj_gpu *gpu, const tj_isa_stats *stats, uint32_t workgroup_size) {
  tj_occupancy occupancy = {gpu->waves, "waves"};
  uint64_t vgprs = round_up(stats->vgprs == 0 ? 1 : stats->vgprs, gpu->vgpr_granule);
  uint64_t lanes = stats->wave_size == 0 ? 64 : stats->wave_size;
  uint64_t all = gpu->sgprs == 0 && lanes == 64 ? gpu->vgprs / 2 : gpu->vgprs;
  limit(&occupancy, all / vgprs, "vector registers");
  if (gpu->sgprs > 0 && stats->sgprs > 0)
    limit(&occupancy, gpu->sgprs / round_up(stats->sgprs, gpu->sgpr_granule), "scalar registers");
  if (stats->lds_bytes > 0) {
    uint64_t waves_of_group = (workgroup_size + lanes - 1) / lanes;
    limit(&occupancy, gpu->lds_bytes / stats->lds_bytes * waves_of_group / gpu->simds, "LDS");
  }
  return occupancy;
}

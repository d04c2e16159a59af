/* SPDX-License-Identifier: MIT */
/* First launches, without their runs. */
#include "first_launch.h"

static tj_status compile(tj_launch *launch, const tj_code *code, int64_t extent) {
  tj_status status = TJ_OK;
  for (size_t i = 0; status == TJ_OK && i < tj_code_parameter_count(code); i++)
    status = tj_launch_set_parameter(launch, tj_code_parameter(code, i).name, extent);
  return status == TJ_OK ? tj_launch_compile(launch) : status;
}

tj_status first_launch(tj_context *context, const tj_code *code, int64_t extent, tj_code_times *times) {
  tj_launch *launch;
  tj_status status = tj_launch_create(context, code, &launch);
  if (status != TJ_OK)
    return status;
  status = compile(launch, code, extent);
  *times = tj_launch_times(launch);
  tj_launch_destroy(launch);
  return status;
}

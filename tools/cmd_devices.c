/* SPDX-License-Identifier: MIT */
/* tilejit devices: what kernels can run on. */
#include "command.h"

static int run(const arguments *given) {
  return print_library_text(given, tj_device_list);
}

static const option options[] = {{NULL, NULL, NULL}};

const command command_devices = {
    "devices", "List the devices that kernels can run on",
    "",        "The host uses all cores that the process may run on, or as many as TILEJIT_HOST_THREADS says.",
    options,   run};

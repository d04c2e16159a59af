/* SPDX-License-Identifier: MIT */
/* tilejit devices: what kernels can run on. */
#include "listing.h"

static int run(const arguments *given) {
  static const char *const columns[] = {"name", "description", NULL};
  return print_listing(given, &(listing){tj_device_list, '\t', columns});
}

static const option options[] = {{0}};
static const operand operands[] = {{0}};

const command command_devices = {
    "devices",
    "List the devices that kernels can run on",
    "The host uses all cores that the process may run on, or as many as TILEJIT_HOST_THREADS says.\n\n"
    "--json prints an array of objects: name, description.",
    NULL,
    options,
    operands,
    run};

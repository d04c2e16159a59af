/* SPDX-License-Identifier: MIT */
/* tilejit devices: what kernels can run on. */
#include "tools/commands/listing.h"

static tj_status list_as_text(tj_context *context, tj_blob *text) {
  return tj_device_list(context, TJ_DEVICES_TEXT, text);
}

static tj_status list_as_json(tj_context *context, tj_blob *text) {
  return tj_device_list(context, TJ_DEVICES_JSON, text);
}

static int run(const arguments *given) {
  return print_listing(given, &(listing){.text_of = list_as_text, .json_of = list_as_json});
}

static const option options[] = {{0}};
static const operand operands[] = {{0}};

const command command_devices = {
    "devices",
    "List the devices that kernels can run on",
    "A line for each device: its name, the target to compile for, what it is, its cores or compute units, its\n"
    "memory, and where it has them its PCI bus and UUID, by which GPUs that are alike differ.\n\n"
    "The host uses all cores that the process may run on, or as many as TILEJIT_HOST_THREADS says. hsa:0, hsa:1 and\n"
    "so on are the GPUs of the HSA runtime, libhsa-runtime64.so.1 or the library that TILEJIT_HSA_LIBRARY names;\n"
    "cuda:0, cuda:1 and so on are those of the CUDA driver, libcuda.so.1 or what TILEJIT_CUDA_LIBRARY names; sim:\n"
    "and a target stand for simulated GPUs.\n\n"
    "--json prints an array of objects: name, target, description, parallelism, memory (bytes), bus, uuid.",
    NULL,
    options,
    operands,
    run};

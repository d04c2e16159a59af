/* tilejit devices: what kernels can run on. */
#include "command.h"

static int run(const arguments *given) {
  if (given->operand_count != 0)
    return fail_usage("devices takes no operands");
  tj_context *context = open_context();
  if (context == NULL)
    return TJ_ERROR_SYSTEM;
  tj_blob text;
  int status;
  tj_status done = tj_device_list(context, &text);
  if (done == TJ_OK) {
    status = write_output(NULL, text.data, text.size);
    tj_blob_release(context, &text);
  } else {
    status = fail_library(context, done);
  }
  tj_context_destroy(context);
  return status;
}

static const option options[] = {{NULL, NULL, NULL}};

const command command_devices = {"devices", "List the devices that kernels can run on", "", "", options, run};

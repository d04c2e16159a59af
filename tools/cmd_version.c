/* SPDX-License-Identifier: MIT */
/* tilejit version: its own version and those of what it is built on. */
#include "command.h"

static int run(const arguments *given) {
  return print_library_text(given, tj_version_text);
}

static const option options[] = {{NULL, NULL, NULL}};

const command command_version = {"version", "Print the version", "", "", options, run};

/* SPDX-License-Identifier: MIT */
/* tilejit version: its own version and those of what it is built on. */
#include "tools/commands/listing.h"

static int run(const arguments *given) {
  static const char *const columns[] = {"name", "version", NULL};
  return print_listing(given, &(listing){.text_of = tj_version_text, .separator = ' ', .names = columns});
}

static const option options[] = {{0}};
static const operand operands[] = {{0}};

const command command_version = {
    "version", "Print the version", "--json prints an array of objects: name, version.", NULL, options, operands,
    run};

/* SPDX-License-Identifier: MIT */
/* tilejit help: what there is, and one subcommand. */
#include "help.h"
#include "report.h"

static int print_command(const command *of, bool as_json) {
  if (as_json)
    return print_json(command_json(of));
  print_command_help(of, stdout);
  return 0;
}

static int print_everything(bool as_json) {
  if (as_json)
    return print_json(all_json());
  print_overview(stdout);
  return 0;
}

static int run(const arguments *given) {
  bool as_json = option_given(given, "json");
  if (given->operand_count == 0)
    return print_everything(as_json);
  const command *found = find_command(given->operand[0]);
  if (found != NULL)
    return print_command(found, as_json);
  return fail_usage("there is no command '%s'; see tilejit help", given->operand[0]);
}

static const option options[] = {{0}};

static const operand operands[] = {{"TOPIC", VALUE_TOPIC, "a command; without it, all of them", NULL, 0, 1}, {0}};

const command command_help = {"help",
                              "Tell of a command",
                              "--json prints the tables that help, manual pages and completions are made from: of "
                              "one command an object, without\n"
                              "TOPIC all of them.",
                              NULL,
                              options,
                              operands,
                              run};

/* SPDX-License-Identifier: MIT */
/* The tilejit command: finds the subcommand, and lets it run. */
#include "command.h"

#include <string.h>

extern const command command_eval, command_simplify, command_compile, command_disasm, command_run, command_prove,
    command_check, command_show, command_devices, command_cache, command_version;

static const command *const commands[] = {&command_eval,    &command_simplify, &command_compile, &command_disasm,
                                          &command_run,     &command_prove,    &command_check,   &command_show,
                                          &command_devices, &command_cache,    &command_version};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_help(FILE *out) {
  fputs("usage: tilejit COMMAND [options] …\n\n"
        "A JIT compiler for tensor layouts and coordinate transforms.\n\ncommands:\n",
        out);
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
  fputs("\ntilejit COMMAND --help tells more. Exit status: 0 done; 1 the input is wrong; 2 usage; 3 the device or "
        "the system failed.\n",
        out);
}

static const command *find_command(const char *name) {
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    if (strcmp(commands[i]->name, name) == 0)
      return commands[i];
  }
  return NULL;
}

static bool asks_for_help(int count, char **words) {
  for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++) {
    if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0)
      return true;
  }
  return false;
}

static int run_command(const command *found, int count, char **words) {
  arguments given;
  int status = TJ_ERROR_USAGE;
  if (arguments_parse(found, count, words, &given))
    status = found->run(&given);
  arguments_free(&given);
  if (fflush(stdout) != 0 && status == 0)
    status = fail_tool(TJ_ERROR_SYSTEM, 6005, "check the free space", "cannot write standard output");
  return status;
}

int main(int count, char **words) {
  if (count < 2) {
    print_help(stderr);
    return TJ_ERROR_USAGE;
  }
  const char *name = words[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
    print_help(stdout);
    return 0;
  }
  const command *found = find_command(strcmp(name, "--version") == 0 ? "version" : name);
  if (found == NULL)
    return fail_usage("there is no command '%s'; see tilejit --help", name);
  if (asks_for_help(count - 2, words + 2)) {
    command_print_help(found, stdout);
    return 0;
  }
  return run_command(found, count - 2, words + 2);
}

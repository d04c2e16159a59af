/* SPDX-License-Identifier: MIT */
/* The tilejit command: finds the subcommand, and lets it run; completes lines for shells. */
#include "tools/call/command.h"
#include "tools/help/complete.h"
#include "tools/help/help.h"
#include "tools/report/progress.h"
#include "tools/report/report.h"

#include <string.h>

/* Whether a word stands among the options. */
static bool has_word(int count, char **words, const char *word) {
  for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++) {
    if (strcmp(words[i], word) == 0)
      return true;
  }
  return false;
}

static int run_command(const command *found, int count, char **words) {
  arguments given;
  int status = arguments_parse(found, count, words, &given);
  if (status == 0)
    status = found->run(&given);
  arguments_free(&given);
  return is_interrupted() ? EXIT_INTERRUPTED : status;
}

static int fail_command(const char *word) {
  const command *nearest = nearest_command(word);
  if (nearest != NULL)
    return fail_usage("there is no command '%s': did you mean %s?", word, nearest->name);
  return fail_usage("there is no command '%s'; see tilejit help", word);
}

static const char *command_name(const char *word) {
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
    return "help";
  return strcmp(word, "--version") == 0 ? "version" : word;
}

static int dispatch(int count, char **words) {
  if (count < 2) {
    print_overview(stderr);
    return TJ_ERROR_USAGE;
  }
  if (strcmp(words[1], COMPLETE_COMMAND) == 0)
    return complete_line(count - 2, words + 2);
  const command *found = find_command(command_name(words[1]));
  if (found == NULL)
    return fail_command(words[1]);
  if (has_word(count - 2, words + 2, "--help") || has_word(count - 2, words + 2, "-h"))
    return help_command(found, has_word(count, words, "--json"));
  return run_command(found, count - 2, words + 2);
}

int main(int count, char **words) {
  report_as(has_word(count, words, "--json") ? REPORT_JSON : REPORT_TEXT);
  int status = dispatch(count, words);
  if ((fflush(stdout) != 0 || ferror(stdout) != 0) && status == 0)
    return fail_tool(TJ_ERROR_SYSTEM, 6005, "check the free space", "cannot write standard output");
  return status;
}

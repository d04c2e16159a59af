/* SPDX-License-Identifier: MIT */
/* Help, from the tables of the subcommands: for people, and as JSON for what makes manual pages and completions. */
#ifndef TILEJIT_TOOLS_HELP_H
#define TILEJIT_TOOLS_HELP_H

#include "tools/call/command.h"

#include <jansson.h>
#include <stdio.h>

/* Every subcommand with its summary. */
void print_overview(FILE *out);
void print_command_help(const command *of, FILE *out);
/* The same on standard output, or its table as JSON. Returns the exit status. */
int help_command(const command *of, bool as_json);

/* {"name","summary","usage","details","operands":[{"name","kind","help","words","least","most"}…],
 * "options":[{"name","dashes","value","kind","help","words","repeats"}…]}; value and kind are null for flags, words
 * null where any value will do. */
json_t *command_json(const command *of);
/* {"commands":[…],"kinds":[{"name","description"}…],"functions":[name…]} */
json_t *all_json(tj_context *context);

/* The command whose name a misspelt one is; NULL where none is near. */
const command *nearest_command(const char *word);

#endif

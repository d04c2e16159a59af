/* SPDX-License-Identifier: MIT */
/* tilejit help: what there is, one subcommand, or one function of the language. */
#include "tools/help/help.h"
#include "tools/input/input.h"
#include "tools/report/report.h"

#include <string.h>

#define FUNCTIONS_TOPIC "functions"

static int print_everything(tj_context *context, bool as_json) {
  if (as_json)
    return print_json(all_json(context));
  print_overview(stdout);
  return 0;
}

/* What the library says of the name is the advice, unless a command is called nearly so. */
static int fail_topic(tj_context *context, const char *topic) {
  const command *nearest = nearest_command(topic);
  const tj_diagnostic *found = tj_context_diagnostic(context);
  if (nearest != NULL)
    return fail_usage("there is neither a command nor a function '%s': did you mean the command %s?", topic,
                      nearest->name);
  bool names_one = found != NULL && strchr(found->note, '\'') != NULL;
  return fail_usage("there is neither a command nor a function '%s': %s", topic,
                    names_one ? found->note : "tilejit help functions lists those of the language");
}

static int print_list(tj_context *context, tj_status listed, tj_blob *list) {
  return listed == TJ_OK ? write_blob(context, list) : fail_library(context, listed);
}

static int print_functions(tj_context *context, tj_language_form form) {
  tj_blob list;
  int status = print_list(context, tj_language_functions(context, form, &list), &list);
  if (status != 0 || form == TJ_LANGUAGE_JSON)
    return status;
  return print_list(context, tj_language_words(context, &list), &list);
}

static int print_topic(tj_context *context, const char *topic, bool as_json) {
  tj_language_form form = as_json ? TJ_LANGUAGE_JSON : TJ_LANGUAGE_TEXT;
  tj_blob text;
  if (strcmp(topic, FUNCTIONS_TOPIC) == 0)
    return print_functions(context, form);
  tj_status found = tj_language_function(context, topic, form, &text);
  if (found == TJ_OK)
    return write_blob(context, &text);
  return found == TJ_ERROR_INPUT ? fail_topic(context, topic) : fail_library(context, found);
}

static int run(const arguments *given) {
  bool as_json = option_given(given, "json");
  const char *topic = given->operand_count > 0 ? given->operand[0] : NULL;
  const command *found = topic != NULL ? find_command(topic) : NULL;
  if (found != NULL)
    return help_command(found, as_json);
  tj_context *context = open_context();
  if (context == NULL)
    return TJ_ERROR_SYSTEM;
  int status = topic != NULL ? print_topic(context, topic, as_json) : print_everything(context, as_json);
  tj_context_destroy(context);
  return status;
}

static const option options[] = {{0}};

static const operand operands[] = {
    {"TOPIC", VALUE_TOPIC, "a command, a function, or " FUNCTIONS_TOPIC "; without it, all commands", NULL, 0, 1},
    {0}};

const command command_help = {
    "help",
    "Tell of a command, or of a function of the language",
    "Of a function: its form, what it gives, an example and its value, and what CuTe and CK Tile call it. TOPIC may "
    "be\n"
    "one of those names, too, or a word of kernels' bodies and array statements, as copy and exp are.\n" FUNCTIONS_TOPIC
    " lists them all.\n\n"
    "--json prints the tables that help, manual pages and completions are made from: of one command or function an\n"
    "object, without TOPIC all commands and the names of functions.",
    NULL,
    options,
    operands,
    run};

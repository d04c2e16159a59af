/* SPDX-License-Identifier: MIT */
/* How a call ends that fails: an error on standard error, as text, or with --json as one object,
 *
 *     {"code":"TJ2003","message":…,"note":…,"place":{"file":…,"line":1,"column":1,"span":[1,8],"text":…}}
 *
 * where span is the columns from the first to the one behind the last, text the source line, place null where the
 * error has none, and code "usage" for a wrong use of the command; and an exit status. */
#ifndef TILEJIT_TOOLS_REPORT_H
#define TILEJIT_TOOLS_REPORT_H

#include "tilejit/tilejit.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* How errors are printed from now on. */
typedef enum { REPORT_TEXT, REPORT_JSON, REPORT_NOTHING } report_form;
void report_as(report_form form);

/* Whether colours go to a stream: it is a terminal, and NO_COLOR is not set. */
bool has_colour(FILE *stream);

/* Prints a usage error and returns its exit status. */
int fail_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints an error of the tool itself, as the library's are printed, and returns its exit status. */
int fail_tool(int status, unsigned code, const char *note, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int fail_memory(void);
int fail_interrupted(void);
void print_diagnostic(const tj_diagnostic *diagnostic);
/* Prints the context's diagnostic and returns the exit status for `status`. */
int fail_library(tj_context *context, tj_status status);
int exit_status(tj_status status);

/* Adds an item, or a member, which it takes over. Where there is no memory, *array or *object becomes NULL, and
 * everything in it is given back. */
void add_item(json_t **array, json_t *item);
void add_member(json_t **object, const char *key, json_t *value);

/* A diagnostic as the object above; NULL where there is no memory. */
json_t *diagnostic_json(const tj_diagnostic *diagnostic);

/* Prints a value on a line of standard output, and gives it up; NULL is taken for exhausted memory. Returns the exit
 * status. */
int print_json(json_t *value);

#endif

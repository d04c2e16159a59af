/* SPDX-License-Identifier: MIT */
/* Texts of the library that list things, one a line, as they are or as JSON. */
#ifndef TILEJIT_TOOLS_LISTING_H
#define TILEJIT_TOOLS_LISTING_H

#include "tools/call/command.h"

typedef struct {
  tj_status (*text_of)(tj_context *context, tj_blob *text);
  tj_status (*json_of)(tj_context *context, tj_blob *text); /* the library's own JSON; NULL: it is made of the text */
  char separator;                                           /* of the columns of a line */
  const char *const *names;                                 /* of the columns, in JSON; ends in NULL */
} listing;

/* Prints it; with --json, as an array with an object for each line or thing. Returns the exit status. */
int print_listing(const arguments *given, const listing *list);

#endif

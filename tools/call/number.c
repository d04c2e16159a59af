/* SPDX-License-Identifier: MIT */
/* Parses numbers and pairs of them. */
#include "tools/call/number.h"

#include "tools/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool parse_number(const char **text, int64_t *number) {
  char *end;
  errno = 0;
  *number = strtoll(*text, &end, 10);
  bool parsed = errno == 0 && end != *text && *number > 0;
  *text = end;
  return parsed;
}

static const char *skip(const char *text, const char *characters) {
  return text + strspn(text, characters);
}

static bool parse_pair(const char *text, int64_t pair[2]) {
  bool has_parenthesis = *(text = skip(text, " ")) == '(';
  text += has_parenthesis;
  if (!parse_number(&text, &pair[0]))
    return false;
  text = skip(text, " ");
  if (*text != ',' && *text != 'x')
    return false;
  text++;
  if (!parse_number(&text, &pair[1]))
    return false;
  text = skip(text, " ");
  if (has_parenthesis && *text++ != ')')
    return false;
  return *skip(text, " ") == '\0';
}

int parse_tile(const arguments *given, int64_t tile[2]) {
  const char *text = option_value(given, "tile");
  return text == NULL || parse_pair(text, tile) ? 0 : fail_usage("--tile %s: the form is (M,N) or MxN", text);
}

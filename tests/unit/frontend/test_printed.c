/* SPDX-License-Identifier: MIT */
/* What CuTe prints around a layout is left out; what could be meant is not. */
#include "frontend/text/printed.h"
#include "tests/unit/support/suite.h"

#include <string.h>

static const struct {
  const char *text, *part;
} rows[] = {
    {"(4,8):(8,1)", "(4,8):(8,1)"},
    {"", ""},
    {"%% Layout: (_4,_8):(_8,_1)\n\\documentclass[convert]{standalone}\n", " (_4,_8):(_8,_1)"},
    {"\n%% Layout: 4:1", " 4:1"},
    {"% Layout: 4:1", "% Layout: 4:1"},
    {"(2,2):(2,1)\n      0   1 \n    +---+---+\n 0  | 0 | 1 |\n    +---+---+\n 1  | 2 | 3 |\n    +---+---+\n",
     "(2,2):(2,1)"},
    {"ptr[32b](0x7f00) o (_2,_2):(_2,_1):\n  1.00e+00  0.5\n  2 -3\n", "ptr[32b](0x7f00) o (_2,_2):(_2,_1)"},
    {"ptr[32b](0x7f00) o (_2,_1):(_1,_0): \n  nan\n  0\n-----\n  inf\n", "ptr[32b](0x7f00) o (_2,_1):(_1,_0)"},
    /* Numbers and marks that are a program. */
    {"(4,8):\n(8,1)", "(4,8):\n(8,1)"},
    {"4:\n8", "4:\n8"},
    {"get([4,5],0):\nM0", "get([4,5],0):\nM0"},
    {"1\n+ 2", "1\n+ 2"},
    {"1\n+ 2 | 3 - 4", "1\n+ 2 | 3 - 4"},
    {"  LayoutA_TV: (4,8):(8,1)", " (4,8):(8,1)"},
    {"ThrID :4:1", "4:1"},
    {"ThrID:\n4", "ThrID:\n4"},
    {"ThrIDs: 4", "ThrIDs: 4"},
    {"TV Layout Src:   (1,4):(0,1)", "   (1,4):(0,1)"},
};

START_TEST(parts_are_what_is_meant) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tj_span part = tj_printed_part(rows[i].text, strlen(rows[i].text));
    size_t length = part.end - part.begin;
    ck_assert_msg(length == strlen(rows[i].part) && memcmp(rows[i].text + part.begin, rows[i].part, length) == 0,
                  "row %zu: '%.*s', not '%s'", i, (int)length, rows[i].text + part.begin, rows[i].part);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {parts_are_what_is_meant};
  return run_suite(suite_of("printed", tests, sizeof tests / sizeof *tests));
}

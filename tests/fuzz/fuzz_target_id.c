/* SPDX-License-Identifier: MIT */
/* Any bytes: lines of target IDs, which are read or refused. What is read has a canonical text that reads back to
 * itself, and code of it runs on itself; what runs where features are left open runs with them fixed, too. */
#include "base/machine/target_id.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 256 };

static void expect(bool holds) {
  if (!holds)
    abort();
}

static void check_refusal(const tj_target_reason *reason) {
  expect(reason->code == TJ_UNKNOWN_TARGET || reason->code == TJ_UNKNOWN_FEATURE);
  expect(reason->text[0] != '\0' && memchr(reason->text, '\0', sizeof reason->text) != NULL);
}

static void check_id(const tj_target_id *id) {
  char text[TJ_TARGET_ID_SIZE], again[TJ_TARGET_ID_SIZE];
  tj_target_id copy, open = *id;
  tj_target_reason reason;
  tj_target_id_write(id, text);
  expect(tj_target_id_parse(text, &copy, &reason));
  tj_target_id_write(&copy, again);
  expect(strcmp(text, again) == 0);
  expect(tj_target_id_allows(id, &copy, &reason));
  bool is_open = true;
  for (unsigned i = 0; i < TJ_TARGET_FEATURE_COUNT; i++) {
    is_open = is_open && id->feature[i] == TJ_FEATURE_ANY;
    open.feature[i] = TJ_FEATURE_ANY;
  }
  expect(tj_target_id_allows(&open, id, &reason));
  expect(tj_target_id_allows(id, &open, &reason) == is_open);
}

static void check_line(const char *text) {
  tj_target_id id;
  tj_target_reason reason;
  if (tj_target_id_parse(text, &id, &reason))
    check_id(&id);
  else
    check_refusal(&reason);
  const char *part = tj_target_id_in_isa(text);
  expect(part == NULL || (part >= text && part <= text + strlen(text)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  while (size > 0) {
    char line[LONGEST];
    const uint8_t *end = memchr(data, '\n', size);
    size_t length = end != NULL ? (size_t)(end - data) : size;
    size_t kept = length < LONGEST - 1 ? length : LONGEST - 1;
    memcpy(line, data, kept);
    line[kept] = '\0';
    check_line(line);
    data += end != NULL ? length + 1 : length;
    size -= end != NULL ? length + 1 : length;
  }
  return 0;
}

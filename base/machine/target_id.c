/* SPDX-License-Identifier: MIT */
/* Reading, writing and comparing target IDs. */
#include "base/machine/target_id.h"

#include "base/machine/host_level.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST "host"

static const char cubin[] = "cubin";

enum { LONGEST_QUOTE = 40 };

static const char *const names[TJ_TARGET_FEATURE_COUNT] = {
#define FEATURE(name, constant) #name,
    TJ_TARGET_FEATURES(FEATURE)
#undef FEATURE
};

const char *tj_target_feature_name(tj_target_feature feature) {
  return names[feature];
}

__attribute__((format(printf, 3, 4))) static bool refuse(tj_target_reason *reason, tj_problem_code code,
                                                         const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  reason->code = code;
  vsnprintf(reason->text, sizeof reason->text, format, arguments);
  va_end(arguments);
  return false;
}

/* --- reading --- */

/* How much of a word messages quote. */
static int quoted(size_t length) {
  return length < LONGEST_QUOTE ? (int)length : LONGEST_QUOTE;
}

static bool read_processor(const char *text, size_t length, tj_target_id *id, tj_target_reason *reason) {
  if (length == 0)
    return refuse(reason, TJ_UNKNOWN_TARGET, "the target ID names no processor");
  if (length >= sizeof id->processor)
    return refuse(reason, TJ_UNKNOWN_TARGET, "unknown processor %.*s", quoted(length), text);
  memcpy(id->processor, text, length);
  return true;
}

/* The number of a feature; TJ_TARGET_FEATURE_COUNT: there is none of that name. */
static unsigned find_feature(const char *text, size_t length) {
  unsigned feature = 0;
  while (feature < TJ_TARGET_FEATURE_COUNT &&
         (strlen(names[feature]) != length || memcmp(names[feature], text, length) != 0))
    feature++;
  return feature;
}

/* The number of sm_NUMBER; 0 of other processors, and of those whose code no later one runs: sm_90a. */
static uint32_t ptx_number(const char *processor) {
  enum { MOST_DIGITS = 4 };
  const char *digits = processor + 3;
  size_t length = strncmp(processor, "sm_", 3) == 0 ? strspn(digits, "0123456789") : 0;
  return length > 0 && length <= MOST_DIGITS && digits[length] == '\0' ? (uint32_t)strtoul(digits, NULL, 10) : 0;
}

/* One feature and its sign, such as xnack+; or what code of NVIDIA's is. */
static bool read_feature(const char *text, size_t length, tj_target_id *id, tj_target_reason *reason) {
  if (length == strlen(cubin) && memcmp(text, cubin, length) == 0 && ptx_number(id->processor) != 0 &&
      !id->is_cubin) {
    id->is_cubin = true;
    return true;
  }
  char sign = length > 0 ? text[length - 1] : '\0';
  if (sign != '+' && sign != '-')
    return refuse(reason, TJ_UNKNOWN_FEATURE, "the feature %.*s has no sign, + or -", quoted(length), text);
  unsigned feature = find_feature(text, length - 1);
  if (feature == TJ_TARGET_FEATURE_COUNT)
    return refuse(reason, TJ_UNKNOWN_FEATURE, "unknown feature %.*s", quoted(length - 1), text);
  if (id->feature[feature] != TJ_FEATURE_ANY)
    return refuse(reason, TJ_UNKNOWN_FEATURE, "the feature %s is given twice", names[feature]);
  id->feature[feature] = sign == '+' ? TJ_FEATURE_ON : TJ_FEATURE_OFF;
  return true;
}

bool tj_target_id_parse(const char *text, tj_target_id *id, tj_target_reason *reason) {
  size_t length = strcspn(text, ":");
  *id = (tj_target_id){0};
  *reason = (tj_target_reason){0};
  for (unsigned i = 0; i < TJ_TARGET_FEATURE_COUNT; i++)
    id->feature[i] = TJ_FEATURE_ANY;
  bool is_read = read_processor(text, length, id, reason);
  for (const char *at = text + length; is_read && *at == ':'; at += length) {
    at++;
    length = strcspn(at, ":");
    is_read = read_feature(at, length, id, reason);
  }
  return is_read;
}

const char *tj_target_id_in_isa(const char *name) {
  const char *separator = strstr(name, "--");
  return separator != NULL ? separator + 2 : NULL;
}

/* --- writing --- */

static bool is_fixed(tj_feature feature) {
  return feature == TJ_FEATURE_ON || feature == TJ_FEATURE_OFF;
}

static char sign_of(tj_feature feature) {
  return feature == TJ_FEATURE_ON ? '+' : '-';
}

void tj_target_id_write(const tj_target_id *id, char text[TJ_TARGET_ID_SIZE]) {
  int length =
      snprintf(text, TJ_TARGET_ID_SIZE, "%s%s%s", id->processor, id->is_cubin ? ":" : "", id->is_cubin ? cubin : "");
  for (unsigned i = 0; i < TJ_TARGET_FEATURE_COUNT; i++) {
    if (is_fixed(id->feature[i]))
      length +=
          snprintf(text + length, TJ_TARGET_ID_SIZE - (size_t)length, ":%s%c", names[i], sign_of(id->feature[i]));
  }
}

/* --- comparing --- */

static bool refuse_feature(unsigned feature, tj_feature needed, tj_feature had, tj_target_reason *reason) {
  const char *name = names[feature];
  if (!is_fixed(had))
    return refuse(reason, TJ_DEVICE_TARGET, "the code needs %s%c, of which the device says nothing", name,
                  sign_of(needed));
  return refuse(reason, TJ_DEVICE_TARGET, "the code needs %s%c, the device has %s%c", name, sign_of(needed), name,
                sign_of(had));
}

/* PTX runs on later processors, too, cubins on those of the same major number. */
static bool is_processor_for(const tj_target_id *code, const char *device) {
  uint32_t number = ptx_number(code->processor), had = ptx_number(device);
  return strcmp(code->processor, device) == 0 ||
         (number != 0 && number <= had && (!code->is_cubin || number / 10 == had / 10));
}

/* Whether the host runs code for a level. */
static bool host_allows(const tj_target_id *code, tj_target_reason *reason) {
  if (tj_host_has(tj_host_level_find(code->processor)))
    return true;
  return refuse(reason, TJ_DEVICE_TARGET, "the code is for %s, which this processor is not", code->processor);
}

bool tj_target_id_allows(const tj_target_id *code, const tj_target_id *device, tj_target_reason *reason) {
  *reason = (tj_target_reason){0};
  if (strcmp(device->processor, HOST) == 0 && tj_host_level_find(code->processor) >= 0)
    return host_allows(code, reason);
  if (!is_processor_for(code, device->processor))
    return refuse(reason, TJ_DEVICE_TARGET, "the code is %s%s, the device is %s",
                  code->is_cubin ? "a cubin for " : "for ", code->processor, device->processor);
  for (unsigned i = 0; i < TJ_TARGET_FEATURE_COUNT; i++) {
    if (is_fixed(code->feature[i]) && code->feature[i] != device->feature[i])
      return refuse_feature(i, code->feature[i], device->feature[i], reason);
  }
  return true;
}

bool tj_target_allows(const char *code, const char *device, tj_target_reason *reason) {
  tj_target_id code_id, device_id;
  return tj_target_id_parse(code, &code_id, reason) && tj_target_id_parse(device, &device_id, reason) &&
         tj_target_id_allows(&code_id, &device_id, reason);
}

bool tj_target_is_host(const char *text) {
  return strcmp(text, HOST) == 0 || tj_host_level_find(text) >= 0;
}

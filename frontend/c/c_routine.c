/* SPDX-License-Identifier: MIT */
/* Functions that round down, known by their bodies, as operations of index expressions. */
#include "frontend/c/c_run.h"

#include <string.h>

typedef enum {
#define ROUTINE(name, text, meaning, body) name,
#include "base/number/c_routine.def"
#undef ROUTINE
  ROUTINE_COUNT
} routine;

static const char *const bodies[] = {
#define ROUTINE(name, text, meaning, body) "return " body ";",
#include "base/number/c_routine.def"
#undef ROUTINE
};

static bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Whether the body behind the opening brace is that text, and nothing else. */
static bool has_body(const tj_source *source, uint32_t begin, const char *body) {
  size_t length = strlen(body), end;
  while (begin < source->length && is_space(source->text[begin]))
    begin++;
  if (source->length - begin <= length || memcmp(source->text + begin, body, length) != 0)
    return false;
  for (end = begin + length; end < source->length && is_space(source->text[end]);)
    end++;
  return end < source->length && source->text[end] == '}';
}

static routine routine_of(const tj_c_run *run) {
  int found = 0;
  while (found < ROUTINE_COUNT && !has_body(&run->file->source, run->function->body, bodies[found]))
    found++;
  return (routine)found;
}

/* int32_t or int64_t throughout, of a and b. */
static bool has_signature(const tj_c_function *function) {
  const tj_c_field *parameter = function->parameter;
  bool is_signed = function->kind == TJ_C_KIND_INT32 || function->kind == TJ_C_KIND_INT64;
  return is_signed && !function->is_auto && function->state == NULL && function->parameter_count == 2 &&
         parameter[0].kind == function->kind && parameter[1].kind == function->kind &&
         strcmp(parameter[0].name, "a") == 0 && strcmp(parameter[1].name, "b") == 0;
}

bool tj_c_call_routine(tj_c_run *run, tj_c_integer *value) {
  tj_graph *graph = run->place->graph;
  if (!has_signature(run->function))
    return false;
  routine found = routine_of(run);
  const tj_node *a = run->variable[0].value.node, *b = run->variable[1].value.node;
  bool is_positive = b->facts.low > 0, is_negative = b->facts.high < 0;
  bool is_shift = b->facts.low >= 0 && b->facts.high < (run->function->kind == TJ_C_KIND_INT32 ? 31 : 63);
  if (found == ROUTINE_COUNT || (found == FLOOR_SHIFT     ? !is_shift
                                 : found >= SIGNED_DIVIDE ? !is_positive && !is_negative
                                                          : !is_positive))
    return false;
  const tj_node *node = found == FLOOR_SHIFT                              ? tj_shr(graph, a, b)
                        : found == FLOOR_DIVIDE || found == SIGNED_DIVIDE ? tj_div(graph, a, b)
                                                                          : tj_mod(graph, a, b);
  *value = tj_c_settled(run->place, node, run->function->kind);
  return true;
}

/* SPDX-License-Identifier: MIT */
/* Functions in C by name, called with coordinates and parameters, and what they return held against a value. */
#include "jit/inspect/c_proof.h"

#include "base/text.h"
#include "ir/simplify/simplify.h"

#include <string.h>

/* --- functions by name --- */

const tj_c_function *tj_c_proof_find(const tj_c_proof *p, const char *ending) {
  return tj_c_file_find(p->file, tj_string_format(p->graph->job, "%s%s", p->name, ending));
}

const tj_c_function *tj_c_proof_need(const tj_c_proof *p, const char *ending) {
  const tj_c_function *function = tj_c_proof_find(p, ending);
  if (function == NULL)
    tj_fail(p->graph->job, TJ_C_FUNCTION, "%s has no function %s%s", p->file->source.name, p->name, ending);
  return function;
}

/* The name without an ending such as _valid. */
static const char *stem_of(tj_job *job, const char *name, bool is_walk, bool has_several) {
  static const char *const endings[] = {"_valid", "_init", "_next", "_offset"};
  size_t length = strlen(name), digits = length;
  for (size_t i = 0; i < (is_walk ? sizeof endings / sizeof *endings : 1); i++) {
    size_t ending = strlen(endings[i]);
    if (length > ending && strcmp(name + length - ending, endings[i]) == 0)
      return tj_string_copy(job, name, length - ending);
  }
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
    digits--;
  bool is_numbered = has_several && digits < length && digits > 1 && name[digits - 1] == '_';
  return is_numbered ? tj_string_copy(job, name, digits - 1) : name;
}

const char *tj_c_proof_only_name(const tj_c_proof *p, bool is_walk, bool has_several) {
  tj_job *job = p->graph->job;
  const char *only = NULL;
  for (uint32_t i = 0; i < p->file->function_count; i++) {
    const char *name = p->file->function[i].name;
    if (strncmp(name, "tilejit_", 8) == 0)
      continue;
    const char *stem = stem_of(job, name, is_walk, has_several);
    if (only != NULL && strcmp(only, stem) != 0) {
      tj_note(job, "say which with --function");
      tj_fail(job, TJ_C_FUNCTION, "%s has the functions %s and %s, among others", p->file->source.name, only, stem);
    }
    only = stem;
  }
  if (only == NULL)
    tj_fail(job, TJ_C_FUNCTION, "%s has no function", p->file->source.name);
  return only;
}

/* --- arguments --- */

static const tj_node *parameter_named(const tj_c_proof *p, const char *name) {
  for (uint32_t i = 0; i < p->values->parameter_count; i++) {
    if (strcmp(p->values->parameter[i].name, name) == 0)
      return p->values->parameter[i].node;
  }
  return NULL;
}

uint32_t tj_c_proof_parameters(const tj_c_proof *p) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < p->values->parameter_count; i++)
    count += !tj_is_constant(p->values->parameter[i].node);
  return count;
}

uint32_t tj_c_proof_coordinates(const tj_c_proof *p, const tj_c_function *function) {
  uint32_t count = function->parameter_count;
  while (count > 0 && parameter_named(p, function->parameter[count - 1].name) != NULL)
    count--;
  return count;
}

static void check_argument(const tj_c_proof *p, const tj_c_function *function, const tj_node *node,
                           const tj_c_field *parameter) {
  tj_graph *graph = p->graph;
  tj_c_place place = {.graph = graph, .reached = tj_int(graph, 1)};
  const tj_node *held = tj_c_convert(&place, (tj_c_integer){node, TJ_C_KIND_INT64}, parameter->kind).node;
  if (held != node && tj_simplified(graph, held) != tj_simplified(graph, node))
    tj_fail(graph->job, TJ_C_FUNCTION, "%s: argument %s is %s, which does not hold what it has to", function->name,
            parameter->name, tj_c_kind_name(parameter->kind));
}

/* The arguments: coordinates, then all parameters in order, or those that have these names. */
static const tj_node **arguments_of(const tj_c_proof *p, const tj_c_function *function,
                                    const tj_node *const coordinate[], uint32_t rank) {
  tj_job *job = p->graph->job;
  const tj_node **argument = TJ_NEW_ARRAY(job, const tj_node *, (size_t)function->parameter_count + 1);
  bool has_all = function->parameter_count == rank + tj_c_proof_parameters(p);
  for (uint32_t i = 0, next = 0; i < function->parameter_count; i++) {
    const tj_c_field *parameter = &function->parameter[i];
    while (i >= rank && has_all && tj_is_constant(p->values->parameter[next].node))
      next++;
    argument[i] = i < rank  ? coordinate[i]
                  : has_all ? p->values->parameter[next++].node
                            : parameter_named(p, parameter->name);
    if (argument[i] == NULL)
      tj_fail(job, TJ_C_FUNCTION, "%s: argument %s is none of the value's %u coordinates, and no parameter",
              function->name, parameter->name, rank);
    check_argument(p, function, argument[i], parameter);
  }
  if (function->parameter_count < rank)
    tj_fail(job, TJ_C_FUNCTION, "%s takes %u arguments, and the value has %u coordinates", function->name,
            function->parameter_count, rank);
  return argument;
}

const tj_node *tj_c_proof_call(tj_c_proof *p, const tj_c_function *function, const tj_c_meaning *at,
                               tj_c_integer state[]) {
  if (state == NULL && function->state != NULL)
    tj_fail(p->graph->job, TJ_C_FUNCTION, "%s takes a struct, which only functions of walks do", function->name);
  const tj_node **argument = arguments_of(p, function, at->coordinate, at->rank);
  const tj_node *value = tj_c_call(p->file, function, &p->place, argument, state).node;
  if (state == NULL && value == NULL)
    tj_fail(p->graph->job, TJ_C_FUNCTION, "%s returns nothing", function->name);
  return value;
}

const tj_node *tj_c_proof_component(tj_c_proof *p, const tj_c_function *function, const tj_c_meaning *at,
                                    tj_c_integer state[]) {
  const uint32_t first = p->place.condition_count;
  const tj_node *value = tj_c_proof_call(p, function, at, state);
  for (uint32_t i = first; at->valid != NULL && i < p->place.condition_count; i++) {
    const tj_node **holds = &p->place.condition[i].holds;
    *holds = tj_select(p->graph, at->valid, *holds, tj_int(p->graph, 1));
  }
  return value;
}

/* --- comparing --- */

typedef struct {
  const tj_tuple **left, **right;
  uint32_t count;
} pairs;

static pairs begin_pairs(const tj_c_proof *p, uint32_t most) {
  size_t room = (size_t)most + p->place.condition_count + 1;
  return (pairs){TJ_NEW_ARRAY(p->graph->job, const tj_tuple *, room),
                 TJ_NEW_ARRAY(p->graph->job, const tj_tuple *, room), 0};
}

static void add_pair(const tj_c_proof *p, pairs *to, const tj_node *left, const tj_node *right) {
  to->left[to->count] = tj_tuple_integer(p->graph, left);
  to->right[to->count++] = tj_tuple_integer(p->graph, right);
}

/* Adds a pair that counts where a truth holds; NULL: everywhere. */
static void add_guarded(const tj_c_proof *p, pairs *to, const tj_node *where, const tj_node *left,
                        const tj_node *right, const tj_node *elsewhere) {
  if (where == NULL || tj_is_int(where, 1))
    add_pair(p, to, left, right);
  else
    add_pair(p, to, tj_select(p->graph, where, left, elsewhere), tj_select(p->graph, where, right, elsewhere));
}

/* Says which condition of C does not hold in the case. */
static void tell_undefined(const tj_c_proof *p, tj_equivalence *found, uint32_t first) {
  for (uint32_t i = 0; found->right.leaf != NULL && i < p->place.condition_count; i++) {
    const tj_c_condition *condition = &p->place.condition[i];
    if (found->right.leaf[first + i] != 0)
      continue;
    tj_location at = tj_source_locate(&p->file->source, condition->span.begin);
    found->right.instead = tj_string_format(p->graph->job, "nothing that C defines: %s, at %s:%u:%u",
                                            condition->otherwise, at.name, at.line, at.column);
    return;
  }
}

tj_equivalence tj_c_proof_compare(tj_c_proof *p, const tj_c_meaning *is, const tj_node *there,
                                  const tj_node *const returned[], const tj_node *returned_valid) {
  tj_graph *graph = p->graph;
  const tj_node *zero = tj_int(graph, 0), *one = tj_int(graph, 1);
  const tj_node *where = is->valid != NULL ? tj_c_both(graph, there, is->valid) : there;
  pairs all = begin_pairs(p, is->count + 1);
  for (uint32_t i = 0; i < is->count; i++)
    add_guarded(p, &all, where, is->component[i], returned[i], zero);
  if (returned_valid != NULL)
    add_guarded(p, &all, there, is->valid != NULL ? is->valid : one, returned_valid, zero);
  uint32_t before = all.count;
  for (uint32_t i = 0; i < p->place.condition_count; i++)
    add_guarded(p, &all, there, one, p->place.condition[i].holds, one);
  const tj_value *left = tj_value_of_tuple(graph, tj_tuple_list(graph, all.left, all.count));
  const tj_value *right = tj_value_of_tuple(graph, tj_tuple_list(graph, all.right, all.count));
  tj_equivalence found = (p->is_refuting ? tj_equivalence_by_cases : tj_equivalence_of)(graph, left, right);
  if (found.verdict != TJ_DIFFERENT)
    return found;
  tell_undefined(p, &found, before);
  found.left.is_valid = returned_valid == NULL || (found.left.leaf != NULL && found.left.leaf[is->count] != 0);
  found.right.is_valid = returned_valid == NULL || (found.right.leaf != NULL && found.right.leaf[is->count] != 0);
  found.leaf_count = is->count;
  return found;
}

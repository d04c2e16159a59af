/* SPDX-License-Identifier: MIT */
/* Tries facts: evaluates the program as if some of its parameters were declared as multiples, and asks again how wide
 * its vectors surely are. */
#include "jit/inspect/suggest_access.h"

#include "base/text.h"
#include "frontend/sema/sema.h"
#include "ir/index/print.h"
#include "ir/index/substitute.h"
#include "ir/index/walk.h"
#include "ir/simplify/simplify.h"
#include "jit/inspect/report.h"

#include <string.h>

enum { WIDEST = 16 };

/* --- facts that are tried --- */

/* The program as if the parameters of some items were multiples of `width`. */
typedef struct {
  tj_program *program;
  const bool *is_multiple; /* by item */
  uint32_t width;
  tj_vector found;
} assumption;

static const tj_ast *integer_ast(tj_job *job, int64_t value, tj_span span) {
  tj_ast *ast = TJ_NEW(job, tj_ast);
  *ast = (tj_ast){.kind = TJ_AST_INTEGER, .integer = value, .span = span};
  return ast;
}

/* Its multiple is a constant, or it has none. */
static bool may_be_multiple(const tj_item *item) {
  if (item->kind != TJ_ITEM_PARAM || item->multiple == NULL)
    return item->kind == TJ_ITEM_PARAM;
  return item->multiple->kind == TJ_AST_INTEGER && item->multiple->integer > 0 &&
         item->multiple->integer <= INT64_MAX / WIDEST;
}

/* The least of what is declared and of a power of two. */
static int64_t common_multiple(int64_t declared, uint32_t width) {
  while (declared % width != 0)
    declared *= 2;
  return declared;
}

static void assume(tj_job *job, void *data) {
  assumption *a = data;
  const tj_program_ast *ast = a->program->evaluated.ast;
  tj_program_ast assumed = *ast;
  tj_item *item = TJ_NEW_ARRAY(job, tj_item, ast->item_count + 1);
  for (uint32_t i = 0; i < ast->item_count; i++) {
    item[i] = ast->item[i];
    if (!a->is_multiple[i])
      continue;
    int64_t declared = item[i].multiple != NULL ? item[i].multiple->integer : 1;
    item[i].multiple = integer_ast(job, common_multiple(declared, a->width), item[i].span);
  }
  assumed.item = item;
  tj_graph *graph = tj_graph_create(job);
  const tj_program_values *values =
      tj_evaluate_after(NULL, graph, &assumed, a->program->fixed, a->program->fixed_count);
  a->found = tj_widest_vector(graph, values->value, a->width);
}

/* Whether vectors are so wide then; false, too, where a parameter cannot be such a multiple. */
static bool suffices(assumption *a) {
  tj_job *job = &a->program->job;
  tj_span here = job->here;
  bool is_evaluated = tj_job_try(job, assume, a);
  job->here = here;
  return is_evaluated && a->found.elements >= a->width;
}

/* Leaves out what is not needed of what suffices. */
static void reduce(assumption *a, bool is_multiple[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (!is_multiple[i])
      continue;
    is_multiple[i] = false;
    is_multiple[i] = !suffices(a);
  }
  suffices(a);
}

/* --- why no fact does --- */

/* How far the second element along a mode is from the first, wherever that is. */
static const tj_node *distance_along(tj_graph *graph, const tj_map *map, uint32_t leaf) {
  uint32_t count;
  const tj_node *from = tj_tuple_leaves(graph, map->input, &count)[leaf]->value;
  const tj_node *to = tj_add(graph, from, tj_int(graph, 1)), *next = map->output->value;
  tj_substitute(graph, &(tj_substitution){&from, &to, 1}, &next, 1);
  return tj_simplified(graph, tj_sub(graph, next, map->output->value));
}

/* Whether it is the same at all coordinates. */
static bool is_even(tj_graph *graph, const tj_map *map, const tj_node *distance) {
  uint32_t count;
  const tj_tuple *const *input = tj_tuple_leaves(graph, map->input, &count);
  tj_walk walk = tj_walk_nodes(graph, &distance, 1);
  for (uint32_t i = 0; i < walk.count; i++) {
    for (uint32_t k = 0; k < count; k++) {
      if (walk.node[i] == input[k]->value)
        return false;
    }
  }
  return true;
}

static void explain_mode(tj_text *text, tj_graph *graph, const tj_map *map, uint32_t mode, uint32_t leaf) {
  const tj_node *distance = distance_along(graph, map, leaf);
  if (tj_is_int(distance, 1))
    tj_text_format(text, "not all runs along mode %u begin at multiples, or end with the mode", mode);
  else if (is_even(graph, map, distance))
    tj_text_format(text, "neighbours along mode %u are %s apart", mode, tj_node_brief(graph->job, distance));
  else
    tj_text_format(text, "neighbours along mode %u are not always side by side", mode);
}

static const char *explain(tj_graph *graph, const tj_value *value) {
  tj_map map = tj_map_of_value(graph, value);
  tj_text text = tj_text_begin(graph->job);
  for (uint32_t mode = 0, leaf = 0; mode < tj_tuple_rank(map.domain); mode++) {
    tj_text_string(&text, mode > 0 ? "; " : "");
    explain_mode(&text, graph, &map, mode, leaf);
    leaf += tj_tuple_leaf_count(tj_tuple_mode(map.domain, mode));
  }
  return text.data;
}

/* --- findings --- */

static tj_finding *tell(const tj_check *check, uint32_t elements, const char *about, const char *text,
                        tj_findings *findings) {
  tj_finding *finding = tj_find(findings, about, TJ_FINDING_FACT, "%u element%s of %s, %u bytes%s", elements,
                                elements > 1 ? "s" : "", check->dtype, elements * check->element_bytes, text);
  tj_finding_number(finding, "elements", elements);
  tj_finding_number(finding, "bytes", elements * check->element_bytes);
  return finding;
}

/* ", along mode 1, with param N multiple 8" */
static const char *conditions_of(const assumption *a) {
  const tj_program_ast *ast = a->program->evaluated.ast;
  tj_text text = tj_text_begin(&a->program->job);
  tj_text_format(&text, " along mode %u, with param ", a->found.mode);
  for (uint32_t i = 0, told = 0; i < ast->item_count; i++) {
    if (a->is_multiple[i])
      tj_text_format(&text, "%s%s multiple %u", told++ > 0 ? ", " : "", ast->item[i].name, a->width);
  }
  return text.data;
}

static bool suggest_width(tj_program *program, const tj_check *check, uint32_t width, tj_findings *findings) {
  const tj_program_ast *ast = program->evaluated.ast;
  bool *is_multiple = TJ_NEW_ARRAY(&program->job, bool, ast->item_count + 1);
  assumption a = {.program = program, .is_multiple = is_multiple, .width = width};
  for (uint32_t i = 0; i < ast->item_count; i++)
    is_multiple[i] = may_be_multiple(&ast->item[i]);
  if (!suffices(&a))
    return false;
  reduce(&a, is_multiple, ast->item_count);
  tell(check, width, "wider", conditions_of(&a), findings);
  return true;
}

void tj_suggest_access_of(tj_program *program, const tj_check *check, tj_findings *findings) {
  const tj_value *value = tj_report_value(program);
  uint32_t most = WIDEST / check->element_bytes;
  tj_vector widest = tj_widest_vector(program->graph, value, most);
  const char *along = tj_string_format(&program->job, " along mode %u", widest.mode);
  tell(check, widest.elements, "vector", widest.elements > 1 ? along : "", findings);
  for (uint32_t width = 2 * widest.elements; width <= most; width *= 2) {
    if (suggest_width(program, check, width, findings))
      continue;
    tell(check, width, "wider",
         tj_string_format(&program->job, " with no multiples of parameters: %s", explain(program->graph, value)),
         findings);
    return;
  }
}

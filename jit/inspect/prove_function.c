/* SPDX-License-Identifier: MIT */
/* Calls functions in C with a value's coordinates, and compares what comes back with the value. */
#include "jit/inspect/prove_function.h"

#include "base/text.h"
#include "ir/index/eval.h"
#include "ir/simplify/simplify.h"
#include "ir/value/expressions.h"
#include "ir/view/move.h"

#include <string.h>

enum { MOST_PLACES = 1024 };

typedef struct {
  tj_graph *graph;
  const tj_program_values *values;
  const tj_c_file *file;
  const char *name;
  tj_c_place place; /* with the conditions of what is compared next */
} proof;

/* What a value is at coordinates, which may be fewer than leaves. */
typedef struct {
  const tj_node *const *coordinate;
  uint32_t rank;
  const tj_node *const *component;
  uint32_t count;
  const tj_node *valid; /* NULL: everywhere */
} meaning;

/* --- functions by name --- */

static const tj_c_function *find(const proof *p, const char *ending) {
  return tj_c_file_find(p->file, tj_string_format(p->graph->job, "%s%s", p->name, ending));
}

static const tj_c_function *need(const proof *p, const char *ending) {
  const tj_c_function *function = find(p, ending);
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

/* What all functions of the file are called but those that help, whose names begin with tilejit_. */
static const char *only_name(const proof *p, bool is_walk, bool has_several) {
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

static const tj_node *parameter_named(const proof *p, const char *name) {
  for (uint32_t i = 0; i < p->values->parameter_count; i++) {
    if (strcmp(p->values->parameter[i].name, name) == 0)
      return p->values->parameter[i].node;
  }
  return NULL;
}

/* How many parameters of the program are no constants. */
static uint32_t open_parameters(const proof *p) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < p->values->parameter_count; i++)
    count += !tj_is_constant(p->values->parameter[i].node);
  return count;
}

/* How many of the arguments are coordinates: those before the ones that are named like parameters. */
static uint32_t coordinates_of(const proof *p, const tj_c_function *function) {
  uint32_t count = function->parameter_count;
  while (count > 0 && parameter_named(p, function->parameter[count - 1].name) != NULL)
    count--;
  return count;
}

static void check_argument(const proof *p, const tj_c_function *function, const tj_node *node,
                           const tj_c_field *parameter) {
  tj_graph *graph = p->graph;
  tj_c_place place = {.graph = graph, .reached = tj_int(graph, 1)};
  const tj_node *held = tj_c_convert(&place, (tj_c_integer){node, TJ_C_KIND_INT64}, parameter->kind).node;
  if (held != node && tj_simplified(graph, held) != tj_simplified(graph, node))
    tj_fail(graph->job, TJ_C_FUNCTION, "%s: argument %s is %s, which does not hold what it has to", function->name,
            parameter->name, tj_c_kind_name(parameter->kind));
}

/* The arguments: coordinates, then all parameters in order, or those that have these names. */
static const tj_node **arguments_of(const proof *p, const tj_c_function *function, const tj_node *const coordinate[],
                                    uint32_t rank) {
  tj_job *job = p->graph->job;
  const tj_node **argument = TJ_NEW_ARRAY(job, const tj_node *, (size_t)function->parameter_count + 1);
  bool has_all = function->parameter_count == rank + open_parameters(p);
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

static const tj_node *call(proof *p, const tj_c_function *function, const meaning *at, tj_c_integer state[]) {
  if (state == NULL && function->state != NULL)
    tj_fail(p->graph->job, TJ_C_FUNCTION, "%s takes a struct, which only functions of walks do", function->name);
  const tj_node **argument = arguments_of(p, function, at->coordinate, at->rank);
  const tj_node *value = tj_c_call(p->file, function, &p->place, argument, state).node;
  if (state == NULL && value == NULL)
    tj_fail(p->graph->job, TJ_C_FUNCTION, "%s returns nothing", function->name);
  return value;
}

/* --- values --- */

static meaning meaning_of_expressions(const tj_expressions *e) {
  return (meaning){e->coordinate, e->rank, e->root, e->leaf_count, e->has_predicate ? e->root[e->leaf_count] : NULL};
}

/* A layout at a coordinate of each of its modes, or, where there is but one coordinate, at an index. */
static meaning meaning_by_modes(tj_graph *graph, const tj_value *value, uint32_t rank) {
  const tj_tuple *shape = tj_value_layout(value)->shape;
  const tj_node **coordinate = TJ_NEW_ARRAY(graph->job, const tj_node *, rank);
  const tj_tuple **item = TJ_NEW_ARRAY(graph->job, const tj_tuple *, rank);
  for (uint32_t i = 0; i < rank; i++) {
    const tj_node *extent = tj_tuple_product(graph, rank == 1 ? shape : tj_tuple_mode(shape, i));
    coordinate[i] = tj_coordinate(graph, rank == 1 ? "i" : tj_string_format(graph->job, "i%u", i), extent);
    item[i] = tj_tuple_integer(graph, coordinate[i]);
  }
  const tj_tuple *at = tj_value_at(graph, value, rank == 1 ? item[0] : tj_tuple_list(graph, item, rank));
  tj_expressions e = tj_expressions_of(graph, tj_value_of_tuple(graph, tj_tuple_expand_basis(graph, at)));
  return (meaning){coordinate, rank, e.root, e.leaf_count, NULL};
}

/* The value at as many coordinates as the function takes. */
static meaning meaning_for(const proof *p, const tj_expressions *e, const tj_c_function *function) {
  const tj_value *value = p->values->value;
  uint32_t given = coordinates_of(p, function), leaves = e->rank;
  bool is_whole = function->parameter_count == leaves + open_parameters(p) || given == leaves;
  if (is_whole || tj_value_layout(value) == NULL)
    return meaning_of_expressions(e);
  if (given == 1 || given == tj_tuple_rank(tj_value_layout(value)->shape))
    return meaning_by_modes(p->graph, value, given);
  return meaning_of_expressions(e);
}

/* --- comparing --- */

typedef struct {
  const tj_tuple **left, **right;
  uint32_t count;
} pairs;

static pairs begin_pairs(const proof *p, uint32_t most) {
  size_t room = (size_t)most + p->place.condition_count + 1;
  return (pairs){TJ_NEW_ARRAY(p->graph->job, const tj_tuple *, room),
                 TJ_NEW_ARRAY(p->graph->job, const tj_tuple *, room), 0};
}

static void add_pair(const proof *p, pairs *to, const tj_node *left, const tj_node *right) {
  to->left[to->count] = tj_tuple_integer(p->graph, left);
  to->right[to->count++] = tj_tuple_integer(p->graph, right);
}

/* Adds a pair that counts where a truth holds; NULL: everywhere. */
static void add_guarded(const proof *p, pairs *to, const tj_node *where, const tj_node *left, const tj_node *right,
                        const tj_node *elsewhere) {
  if (where == NULL || tj_is_int(where, 1))
    add_pair(p, to, left, right);
  else
    add_pair(p, to, tj_select(p->graph, where, left, elsewhere), tj_select(p->graph, where, right, elsewhere));
}

/* Says which condition of C does not hold in the case. */
static void tell_undefined(const proof *p, tj_equivalence *found, uint32_t first) {
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

/* What functions return, `returned`, and `returned_valid`, which may be NULL, against what a value is, as far as it
 * is `there`. The conditions are those of the former. */
static tj_equivalence compare(proof *p, const meaning *is, const tj_node *there, const tj_node *const returned[],
                              const tj_node *returned_valid) {
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
    add_guarded(p, &all, where, one, p->place.condition[i].holds, one);
  tj_equivalence found = tj_equivalence_of(graph, tj_value_of_tuple(graph, tj_tuple_list(graph, all.left, all.count)),
                                           tj_value_of_tuple(graph, tj_tuple_list(graph, all.right, all.count)));
  if (found.verdict != TJ_DIFFERENT)
    return found;
  tell_undefined(p, &found, before);
  found.left.is_valid = returned_valid == NULL || (found.left.leaf != NULL && found.left.leaf[is->count] != 0);
  found.right.is_valid = returned_valid == NULL || (found.right.leaf != NULL && found.right.leaf[is->count] != 0);
  found.leaf_count = is->count;
  return found;
}

/* --- functions of maps and tuples --- */

static tj_equivalence prove_map(proof *p) {
  tj_job *job = p->graph->job;
  tj_expressions e = tj_expressions_of(p->graph, p->values->value);
  if (p->name == NULL)
    p->name = only_name(p, false, e.leaf_count != 1);
  const tj_c_function *first = need(p, e.leaf_count == 1 ? "" : "_0"), *valid = find(p, "_valid");
  tj_expressions_simplify(p->graph, &e);
  meaning is = meaning_for(p, &e, first);
  const tj_node **returned = TJ_NEW_ARRAY(job, const tj_node *, (size_t)is.count + 1);
  for (uint32_t i = 0; i < is.count; i++)
    returned[i] = call(p, is.count == 1 ? first : need(p, tj_string_format(job, "_%u", i)), &is, NULL);
  return compare(p, &is, tj_int(p->graph, 1), returned, valid != NULL ? call(p, valid, &is, NULL) : NULL);
}

/* --- functions of walks --- */

typedef struct {
  const tj_c_function *init, *next, *offset, *valid;
} walk_functions;

static walk_functions functions_of_walk(const proof *p) {
  walk_functions of = {need(p, "_init"), need(p, "_next"), need(p, "_offset"), find(p, "_valid")};
  const tj_c_function *all[] = {of.init, of.next, of.offset, of.valid};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i] != NULL && (all[i]->state == NULL || all[i]->state != of.init->state))
      tj_fail(p->graph->job, TJ_C_FUNCTION, "%s does not take a pointer to the struct of the walk first",
              all[i]->name);
  }
  return of;
}

static const tj_node **starts_of(tj_graph *graph, const tj_path *path, const tj_expressions *e) {
  const tj_node **start = TJ_NEW_ARRAY(graph->job, const tj_node *, path->view->rank + 1);
  for (uint32_t i = 0; i < path->view->rank; i++)
    start[i] = tj_coordinate(graph, e->coordinate[i]->symbol->name, path->start_lengths[i]);
  return start;
}

/* The place after a number of steps. */
static tj_cursor place_of(tj_graph *graph, const tj_path *path, const tj_node *const start[], int64_t steps) {
  const tj_node **at = TJ_NEW_ARRAY(graph->job, const tj_node *, path->view->rank + 1);
  for (uint32_t i = 0; i < path->view->rank; i++)
    at[i] = tj_add(graph, start[i], tj_mul(graph, tj_int(graph, steps), path->step[i]));
  return tj_cursor_at(graph, path->view, at);
}

/* How many places there are at most. */
static int64_t places_of(const proof *p, const tj_path *path) {
  int64_t most = tj_simplified(p->graph, path->trips)->facts.high;
  if (most > MOST_PLACES) {
    tj_note(p->graph->job, "say count=, or give parameters ranges or values");
    tj_fail(p->graph->job, TJ_UNDECIDED_EQUALITY, "walks are followed through at most %d places", MOST_PLACES);
  }
  return most;
}

/* The same verdict about one more place. */
static void add_verdict(tj_equivalence *all, const tj_equivalence *found) {
  uint64_t count = all->case_count + found->case_count;
  bool is_weaker = found->verdict == TJ_EQUAL_BY_SMT || all->verdict == TJ_EQUAL_BY_RULES;
  if (is_weaker)
    *all = *found;
  all->case_count = count;
}

static void add_place_to_case(proof *p, tj_equivalence *found, int64_t steps) {
  tj_job *job = p->graph->job;
  const tj_node **symbol = TJ_NEW_ARRAY(job, const tj_node *, (size_t)found->symbol_count + 1);
  int64_t *value = TJ_NEW_ARRAY(job, int64_t, (size_t)found->symbol_count + 1);
  for (uint32_t i = 0; i < found->symbol_count; i++) {
    symbol[i] = found->symbol[i];
    value[i] = found->value[i];
  }
  symbol[found->symbol_count] =
      tj_symbol_create(p->graph, "steps", TJ_SYMBOL_COORDINATE, tj_int(p->graph, 0), NULL, 1);
  value[found->symbol_count++] = steps;
  found->symbol = symbol;
  found->value = value;
}

/* A place that C has come to, against the view's. */
static tj_equivalence compare_place(proof *p, const walk_functions *of, const tj_path *path,
                                    const tj_node *const start[], int64_t steps, tj_c_integer state[]) {
  tj_cursor cursor = place_of(p->graph, path, start, steps);
  const tj_node *offset = tj_cursor_offset(p->graph, &cursor), *valid = tj_cursor_valid(p->graph, &cursor);
  const tj_node *is_there = tj_simplified(p->graph, tj_less(p->graph, tj_int(p->graph, steps), path->trips));
  const meaning is = {NULL, 0, &offset, 1, valid};
  const tj_node *returned = call(p, of->offset, &is, state);
  const tj_node *returned_valid = of->valid != NULL ? call(p, of->valid, &is, state) : NULL;
  if (returned == NULL)
    tj_fail(p->graph->job, TJ_C_FUNCTION, "%s returns nothing", of->offset->name);
  tj_equivalence found = compare(p, &is, is_there, &returned, returned_valid);
  p->place.condition_count = 0;
  return found;
}

static void simplify_state(tj_graph *graph, const tj_c_struct *of, tj_c_integer state[]) {
  for (uint32_t i = 0; i < of->field_count; i++)
    state[i].node = state[i].node != NULL ? tj_simplified(graph, state[i].node) : NULL;
}

static tj_c_integer *new_state(tj_job *job, const tj_c_struct *of) {
  tj_c_integer *state = TJ_NEW_ARRAY(job, tj_c_integer, (size_t)of->field_count + 1);
  for (uint32_t i = 0; i < of->field_count; i++)
    state[i].kind = of->field[i].kind;
  return state;
}

static tj_equivalence prove_walk(proof *p) {
  const tj_path *path = p->values->value->walk;
  tj_graph *graph = p->graph;
  if (p->name == NULL)
    p->name = only_name(p, true, false);
  walk_functions of = functions_of_walk(p);
  tj_expressions e = tj_expressions_of(graph, tj_value_of_view(graph, path->view));
  const tj_node **start = starts_of(graph, path, &e);
  const meaning begins = {start, path->view->rank, NULL, 0, NULL}, goes_on = {NULL, 0, NULL, 0, NULL};
  tj_c_integer *state = new_state(graph->job, of.init->state);
  tj_equivalence all = {.verdict = TJ_EQUAL_BY_RULES};
  int64_t places = places_of(p, path);
  call(p, of.init, &begins, state);
  for (int64_t steps = 0; steps < places; steps++) {
    if (steps > 0)
      call(p, of.next, &goes_on, state);
    simplify_state(graph, of.init->state, state);
    tj_equivalence found = compare_place(p, &of, path, start, steps, state);
    if (!tj_is_equal(found.verdict)) {
      if (found.verdict == TJ_DIFFERENT)
        add_place_to_case(p, &found, steps);
      return found;
    }
    add_verdict(&all, &found);
  }
  return all;
}

tj_equivalence tj_prove_function(tj_graph *graph, const tj_program_values *values, const tj_c_file *file,
                                 const char *name) {
  proof p = {.graph = graph, .values = values, .file = file, .name = name};
  if (values->value == NULL)
    tj_fail(graph->job, TJ_NOTHING_TO_EVALUATE, "the program has no expression to compare with functions");
  graph->job->here = values->value_span;
  p.place = (tj_c_place){.graph = graph, .reached = tj_int(graph, 1)};
  return values->value->kind == TJ_VALUE_WALK ? prove_walk(&p) : prove_map(&p);
}

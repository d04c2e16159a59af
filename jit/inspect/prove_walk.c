/* SPDX-License-Identifier: MIT */
/* Functions of walks: an invariant of their struct, proved where they begin and from each place to the next; places
 * one after the other where no invariant is found. */
#include "jit/inspect/prove_walk.h"

#include "ir/index/facts.h"
#include "ir/index/substitute.h"
#include "ir/index/walk.h"
#include "ir/simplify/simplify.h"
#include "ir/value/expressions.h"
#include "ir/view/advance.h"
#include "ir/view/move.h"
#include "ir/view/structure.h"

#include <string.h>

enum { MOST_PLACES = 1024, MOST_REFUTED = 16 };

typedef struct {
  const tj_c_function *init, *next, *offset, *valid;
} walk_functions;

static walk_functions functions_of_walk(const tj_c_proof *p) {
  walk_functions of = {tj_c_proof_need(p, "_init"), tj_c_proof_need(p, "_next"), tj_c_proof_need(p, "_offset"),
                       tj_c_proof_find(p, "_valid")};
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

typedef struct {
  tj_c_proof *p;
  walk_functions of;
  const tj_path *path;
  const tj_node **start;
  int64_t places; /* at most */
} walk_proof;

static const tj_c_struct *struct_of(const walk_proof *w) {
  return w->of.init->state;
}

static tj_c_integer *new_state(const walk_proof *w) {
  const tj_c_struct *of = struct_of(w);
  tj_c_integer *state = TJ_NEW_ARRAY(w->p->graph->job, tj_c_integer, (size_t)of->field_count + 1);
  for (uint32_t i = 0; i < of->field_count; i++)
    state[i].kind = of->field[i].kind;
  return state;
}

static void simplify_state(const walk_proof *w, tj_c_integer state[]) {
  for (uint32_t i = 0; i < struct_of(w)->field_count; i++)
    state[i].node = state[i].node != NULL ? tj_simplified(w->p->graph, state[i].node) : NULL;
}

static void begin(const walk_proof *w, tj_c_integer state[]) {
  const tj_c_meaning at = {w->start, w->path->view->rank, NULL, 0, NULL};
  tj_c_proof_call(w->p, w->of.init, &at, state);
}

static void go_on(const walk_proof *w, tj_c_integer state[]) {
  const tj_c_meaning nowhere = {NULL, 0, NULL, 0, NULL};
  tj_c_proof_call(w->p, w->of.next, &nowhere, state);
}

static void forget_conditions(const walk_proof *w) {
  w->p->place.condition_count = 0;
}

/* Replaces symbols in expressions, and in what C asks for. */
static void put_in_place(const walk_proof *w, const tj_substitution *of_symbols, const tj_node *node[],
                         uint32_t count) {
  tj_c_place *place = &w->p->place;
  tj_substitute(w->p->graph, of_symbols, node, count);
  for (uint32_t i = 0; i < place->condition_count; i++)
    tj_substitute(w->p->graph, of_symbols, &place->condition[i].holds, 1);
}

/* What the view is at a cursor, as far as it is `there`, against what the functions make of the struct; `in_place` is
 * put in the place of symbols, and may be NULL. */
static tj_equivalence compare_at(const walk_proof *w, const tj_cursor *cursor, const tj_node *there,
                                 tj_c_integer state[], const tj_substitution *in_place) {
  tj_graph *graph = w->p->graph;
  const tj_node *offset = tj_cursor_offset(graph, cursor), *valid = tj_cursor_valid(graph, cursor);
  const tj_c_meaning is = {NULL, 0, &offset, 1, valid};
  const tj_node *returned[2] = {tj_c_proof_component(w->p, w->of.offset, &is, state), NULL};
  if (returned[0] == NULL)
    tj_fail(graph->job, TJ_C_FUNCTION, "%s returns nothing", w->of.offset->name);
  if (w->of.valid != NULL)
    returned[1] = tj_c_proof_call(w->p, w->of.valid, &is, state);
  put_in_place(w, in_place, returned, w->of.valid != NULL ? 2 : 1);
  tj_equivalence found = tj_c_proof_compare(w->p, &is, there, returned, returned[1]);
  forget_conditions(w);
  return found;
}

/* The same verdict about more. */
static void add_verdict(tj_equivalence *all, const tj_equivalence *found) {
  uint64_t count = all->case_count + found->case_count;
  bool is_weaker = found->verdict == TJ_EQUAL_BY_SMT || all->verdict == TJ_EQUAL_BY_RULES;
  if (is_weaker)
    *all = *found;
  all->case_count = count;
}

/* --- an invariant --- */

/* By field of the struct: what it is where the walk begins, at any place, and at the place after that; and the symbol
 * that stands for it at any place, with the facts of the walk. */
typedef struct {
  const tj_node **first, **now, **next, **symbol;
  tj_advance place;
  const tj_view *view;
} invariant;

enum { LOOKED_AT = 4 };

/* The first places: fields, and hidden indices of the view. */
typedef struct {
  tj_c_integer *state[LOOKED_AT];
  const tj_node **index[LOOKED_AT];
  uint32_t count;
} first_places;

static const tj_node **index_after(const walk_proof *w, const tj_view *view, int64_t steps) {
  tj_graph *graph = w->p->graph;
  const tj_node **at = TJ_NEW_ARRAY(graph->job, const tj_node *, (size_t)view->rank + 1);
  for (uint32_t i = 0; i < view->rank; i++)
    at[i] = tj_add(graph, w->start[i], tj_mul(graph, tj_int(graph, steps), w->path->step[i]));
  return tj_cursor_at(graph, view, at).index;
}

static first_places look_at_places(const walk_proof *w, const tj_view *view) {
  first_places found = {.count = w->places < LOOKED_AT ? (uint32_t)w->places : LOOKED_AT};
  for (uint32_t k = 0; k < found.count; k++) {
    found.state[k] = new_state(w);
    if (k > 0)
      memcpy(found.state[k], found.state[k - 1], struct_of(w)->field_count * sizeof *found.state[k]);
    (k > 0 ? go_on : begin)(w, found.state[k]);
    simplify_state(w, found.state[k]);
    found.index[k] = index_after(w, view, k);
  }
  forget_conditions(w);
  return found;
}

static bool agree(const tj_node *a, const tj_node *b) {
  for (int i = 0; i < TJ_SAMPLE_COUNT; i++) {
    if (a->sample[i] != b->sample[i] && a->sample[i] != TJ_NO_SAMPLE && b->sample[i] != TJ_NO_SAMPLE)
      return false;
  }
  return true;
}

static bool agree_everywhere(const first_places *places, uint32_t field, uint32_t id) {
  for (uint32_t k = 0; k < places->count; k++) {
    if (!agree(places->state[k][field].node, places->index[k][id]))
      return false;
  }
  return true;
}

/* The hidden index that a field seems to be; the first that it surely begins as, if there is one. */
static bool find_index(tj_graph *graph, const first_places *places, uint32_t field, uint32_t id_count, uint32_t *id) {
  bool is_found = false;
  for (uint32_t i = 0; i < id_count; i++) {
    if (!agree_everywhere(places, field, i))
      continue;
    bool is_sure = tj_simplified(graph, places->index[0][i]) == places->state[0][field].node;
    if (is_sure || !is_found)
      *id = i;
    is_found = true;
    if (is_sure)
      return true;
  }
  return is_found;
}

/* Whether no step changes what a field begins as. */
static bool is_kept(const walk_proof *w, const first_places *places, uint32_t field) {
  const tj_node *first = places->state[0][field].node;
  tj_walk walk = tj_walk_nodes(w->p->graph, &first, 1);
  for (uint32_t i = 0; i < w->path->view->rank; i++) {
    if (!tj_is_int(w->path->step[i], 0) && tj_walk_find(&walk, w->start[i]) != TJ_NO_POSITION)
      return false;
  }
  for (uint32_t k = 1; k < places->count; k++) {
    if (!agree(first, places->state[k][field].node))
      return false;
  }
  return true;
}

/* The coordinate at any place. */
static const tj_node **at_place(const walk_proof *w, const invariant *of) {
  const tj_node **at = TJ_NEW_ARRAY(w->p->graph->job, const tj_node *, (size_t)of->view->rank + 1);
  for (uint32_t i = 0; i < of->view->rank; i++)
    at[i] = of->place.now[of->view->visible[i]];
  return at;
}

/* Finds what every field is; false where that is neither a hidden index nor what it begins as. */
static bool find_invariant(const walk_proof *w, invariant *of) {
  tj_graph *graph = w->p->graph;
  const tj_path *path = w->path;
  const tj_c_struct *fields = struct_of(w);
  const tj_node *const *reach =
      tj_view_reach(graph, of->view, path->start_lengths, path->step, tj_coordinate(graph, "steps", path->trips));
  const first_places places = look_at_places(w, of->view);
  of->place = tj_view_advance(graph, of->view, reach, path->step);
  for (uint32_t i = 0; i < fields->field_count; i++) {
    uint32_t id;
    if (places.state[0][i].node == NULL)
      return false;
    if (find_index(graph, &places, i, of->view->hidden_count, &id)) {
      of->first[i] = places.index[0][id];
      of->now[i] = of->place.now[id];
      of->next[i] = of->place.next[id];
      of->symbol[i] = tj_hidden_symbol(graph, of->view, id, fields->field[i].name, reach[id]);
    } else if (is_kept(w, &places, i)) {
      of->first[i] = of->now[i] = places.state[0][i].node;
      put_in_place(w, &(tj_substitution){w->start, at_place(w, of), path->view->rank}, &of->now[i], 1);
      of->next[i] = of->symbol[i] = of->now[i];
    } else
      return false;
  }
  return true;
}

static const tj_node **nodes_of(const walk_proof *w, const tj_c_integer state[]) {
  const tj_node **node = TJ_NEW_ARRAY(w->p->graph->job, const tj_node *, (size_t)struct_of(w)->field_count + 1);
  for (uint32_t i = 0; i < struct_of(w)->field_count; i++)
    node[i] = state[i].node;
  return node;
}

/* The fields against what they have to be. */
static tj_equivalence compare_fields(const walk_proof *w, const tj_node *const expected[], const tj_c_integer state[],
                                     const tj_substitution *in_place) {
  const uint32_t count = struct_of(w)->field_count;
  const tj_c_meaning is = {NULL, 0, expected, count, NULL};
  const tj_node **node = nodes_of(w, state);
  put_in_place(w, in_place, node, count);
  tj_equivalence found = tj_c_proof_compare(w->p, &is, tj_int(w->p->graph, 1), node, NULL);
  forget_conditions(w);
  return found;
}

static tj_c_integer *state_of_symbols(const walk_proof *w, const invariant *of) {
  tj_c_integer *state = new_state(w);
  for (uint32_t i = 0; i < struct_of(w)->field_count; i++)
    state[i].node = of->symbol[i];
  return state;
}

/* Whether the fields are as the invariant says where the walk begins, and, if they are at a place, what the functions
 * make of them there is the view, and they are at the next one: functions that read may change the struct. */
static bool is_proved_by_induction(const walk_proof *w, tj_equivalence *proved) {
  tj_job *job = w->p->graph->job;
  const uint32_t count = struct_of(w)->field_count;
  invariant of = {.view = tj_view_structured(w->p->graph, w->path->view, NULL)};
  const tj_node ***parts[] = {&of.first, &of.now, &of.next, &of.symbol};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    *parts[i] = TJ_NEW_ARRAY(job, const tj_node *, (size_t)count + 1);
  if (!find_invariant(w, &of))
    return false;
  const tj_substitution in_place = {of.symbol, of.now, count};
  tj_c_integer *state = new_state(w);
  begin(w, state);
  *proved = compare_fields(w, of.first, state, NULL);
  if (!tj_is_equal(proved->verdict))
    return false;
  state = state_of_symbols(w, &of);
  tj_cursor cursor = tj_cursor_at(w->p->graph, w->path->view, at_place(w, &of));
  tj_equivalence read = compare_at(w, &cursor, tj_int(w->p->graph, 1), state, &in_place);
  add_verdict(proved, &read);
  if (!tj_is_equal(read.verdict))
    return false;
  go_on(w, state);
  tj_equivalence next = compare_fields(w, of.next, state, &in_place);
  add_verdict(proved, &next);
  proved->is_inductive = true;
  return tj_is_equal(next.verdict);
}

/* --- places, one after the other --- */

static void add_place_to_case(tj_c_proof *p, tj_equivalence *found, int64_t steps) {
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

/* A place that the functions have come to, against the view's. */
static tj_equivalence compare_place(const walk_proof *w, int64_t steps, tj_c_integer state[]) {
  tj_graph *graph = w->p->graph;
  const tj_cursor cursor = {w->path->view, index_after(w, w->path->view, steps)};
  return compare_at(w, &cursor, tj_simplified(graph, tj_less(graph, tj_int(graph, steps), w->path->trips)), state,
                    NULL);
}

/* Ends at the first place that differs or, unless the aim is to refute, is not decided. */
static tj_equivalence follow(const walk_proof *w, int64_t places) {
  tj_equivalence all = {.verdict = TJ_EQUAL_BY_RULES};
  tj_c_integer *state = new_state(w);
  for (int64_t steps = 0; steps < places; steps++) {
    (steps > 0 ? go_on : begin)(w, state);
    simplify_state(w, state);
    tj_equivalence found = compare_place(w, steps, state);
    if (found.verdict == TJ_DIFFERENT)
      add_place_to_case(w->p, &found, steps);
    if (found.verdict == TJ_DIFFERENT || (found.verdict == TJ_UNDECIDED && !w->p->is_refuting))
      return found;
    add_verdict(&all, &found);
  }
  return all;
}

static tj_equivalence refute(const walk_proof *w) {
  w->p->is_refuting = true;
  tj_equivalence found = follow(w, w->places < MOST_REFUTED ? w->places : MOST_REFUTED);
  w->p->is_refuting = false;
  return found;
}

tj_equivalence tj_prove_walk(tj_c_proof *p) {
  const tj_path *path = p->values->value->walk;
  tj_graph *graph = p->graph;
  if (p->name == NULL)
    p->name = tj_c_proof_only_name(p, true, false);
  const tj_expressions e = tj_expressions_of(graph, tj_value_of_view(graph, path->view));
  const walk_proof w = {p, functions_of_walk(p), path, starts_of(graph, path, &e),
                        tj_simplified(graph, path->trips)->facts.high};
  tj_equivalence proved;
  if (is_proved_by_induction(&w, &proved))
    return proved;
  const tj_equivalence refuted = refute(&w);
  if (refuted.verdict == TJ_DIFFERENT)
    return refuted;
  if (w.places <= MOST_PLACES)
    return follow(&w, w.places);
  tj_note(graph->job, "say count=, or give parameters ranges or values");
  tj_fail(graph->job, TJ_UNDECIDED_EQUALITY,
          "the fields of %s are no indices of the view, and walks are followed through at most %d places",
          struct_of(&w)->name, MOST_PLACES);
}

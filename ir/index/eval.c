/* SPDX-License-Identifier: MIT */
/* The oracle for index expressions: the values of operations (base/number/op.h), one after another.
 *
 * An evaluator lists the nodes of its roots once, arguments first, with the places of their arguments, so that a
 * run is one loop however deep or shared the expression is. It knows nothing of facts or of the simplifier. */
#include "ir/index/eval.h"

#include "base/integer.h"
#include "base/number/power.h"

#include <stdlib.h>
#include <string.h>

/* --- evaluators --- */

typedef struct {
  const tj_node *node;
  uint32_t arg[3]; /* places of the arguments in `entry` */
  int64_t value;
  bool varies;   /* from lane to lane */
  bool is_moved; /* from the run of lanes before, in all lanes by as much: */
  int64_t distance;
} entry;

typedef struct {
  int64_t value[TJ_EVAL_LANES];
} lane_values;

struct tj_evaluator {
  entry *entry;
  size_t count, capacity;
  uint32_t *slot; /* open addressing by node id: 1 + place in `entry`, 0 free */
  size_t slot_count;
  uint32_t *root;
  size_t root_count;
  lane_values *lane;   /* by place in `entry`; NULL until lanes are run */
  uint32_t lane_count; /* of the last run of lanes; 0: there was none, or it did not succeed */
  bool is_next;        /* it was on as many lanes as the one before it */
};

static uint32_t *find_slot(const tj_evaluator *evaluator, const tj_node *node) {
  size_t at = (node->id * UINT32_C(2654435769)) & (evaluator->slot_count - 1);
  while (evaluator->slot[at] != 0 && evaluator->entry[evaluator->slot[at] - 1].node != node)
    at = (at + 1) & (evaluator->slot_count - 1);
  return &evaluator->slot[at];
}

static bool rebuild_slots(tj_evaluator *evaluator, size_t slot_count) {
  uint32_t *slot = calloc(slot_count, sizeof *slot);
  if (slot == NULL)
    return false;
  free(evaluator->slot);
  evaluator->slot = slot;
  evaluator->slot_count = slot_count;
  for (size_t i = 0; i < evaluator->count; i++)
    *find_slot(evaluator, evaluator->entry[i].node) = (uint32_t)i + 1;
  return true;
}

static bool grow(tj_evaluator *evaluator) {
  size_t capacity = evaluator->capacity == 0 ? 64 : evaluator->capacity * 2;
  entry *larger = realloc(evaluator->entry, capacity * sizeof *larger);
  if (larger == NULL)
    return false;
  evaluator->entry = larger;
  evaluator->capacity = capacity;
  return rebuild_slots(evaluator, capacity * 2);
}

static bool add_node(tj_evaluator *evaluator, const tj_node *node) {
  if (evaluator->count == evaluator->capacity && !grow(evaluator))
    return false;
  uint32_t *slot = find_slot(evaluator, node);
  if (*slot != 0)
    return true;
  evaluator->entry[evaluator->count] = (entry){.node = node};
  *slot = (uint32_t)++evaluator->count;
  return true;
}

static int compare_entries(const void *a, const void *b) {
  uint32_t left = ((const entry *)a)->node->id, right = ((const entry *)b)->node->id;
  return (left > right) - (left < right);
}

static void link_arguments(tj_evaluator *evaluator, entry *user) {
  for (unsigned i = 0; i < tj_op_arity(user->node->op); i++)
    user->arg[i] = *find_slot(evaluator, user->node->arg[i]) - 1;
  if (tj_is_constant(user->node))
    user->value = user->node->value;
}

static bool collect(tj_evaluator *evaluator, const tj_node *const roots[], size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!add_node(evaluator, roots[i]))
      return false;
  for (size_t next = 0; next < evaluator->count; next++) {
    const tj_node *node = evaluator->entry[next].node;
    for (unsigned i = 0; i < tj_op_arity(node->op); i++)
      if (!add_node(evaluator, node->arg[i]))
        return false;
  }
  if (evaluator->count == 0)
    return true;
  qsort(evaluator->entry, evaluator->count, sizeof *evaluator->entry, compare_entries);
  return rebuild_slots(evaluator, evaluator->slot_count);
}

tj_eval_status tj_evaluator_create(const tj_node *const roots[], size_t count, tj_evaluator **evaluator) {
  tj_evaluator *made = calloc(1, sizeof *made);
  *evaluator = made;
  if (made == NULL)
    return TJ_EVAL_NO_MEMORY;
  made->root = calloc(count + 1, sizeof *made->root);
  made->root_count = count;
  if (made->root == NULL || !collect(made, roots, count)) {
    tj_evaluator_destroy(made);
    *evaluator = NULL;
    return TJ_EVAL_NO_MEMORY;
  }
  for (size_t i = 0; i < made->count; i++)
    link_arguments(made, &made->entry[i]);
  for (size_t i = 0; i < count; i++)
    made->root[i] = *find_slot(made, roots[i]) - 1;
  return TJ_EVAL_OK;
}

void tj_evaluator_destroy(tj_evaluator *evaluator) {
  if (evaluator == NULL)
    return;
  free(evaluator->entry);
  free(evaluator->slot);
  free(evaluator->root);
  free(evaluator->lane);
  free(evaluator);
}

static tj_eval_status symbol_value(const tj_symbol *symbol, const tj_bindings *bindings, int64_t *value) {
  if (symbol->index >= bindings->count || (bindings->bound != NULL && !bindings->bound[symbol->index]))
    return TJ_EVAL_UNBOUND;
  *value = bindings->value[symbol->index];
  return TJ_EVAL_OK;
}

static tj_eval_status run_entry(tj_evaluator *evaluator, entry *at, const tj_bindings *bindings) {
  if (at->node->op == TJ_OP_CONSTANT)
    return TJ_EVAL_OK;
  if (at->node->op == TJ_OP_SYMBOL)
    return symbol_value(at->node->symbol, bindings, &at->value);
  const entry *entries = evaluator->entry;
  int64_t args[3] = {entries[at->arg[0]].value, entries[at->arg[1]].value, entries[at->arg[2]].value};
  return tj_eval_operation(at->node->op, args, &at->value);
}

tj_eval_status tj_evaluator_run(tj_evaluator *evaluator, const tj_bindings *bindings, int64_t values[]) {
  evaluator->lane_count = 0;
  for (size_t i = 0; i < evaluator->count; i++) {
    tj_eval_status status = run_entry(evaluator, &evaluator->entry[i], bindings);
    if (status != TJ_EVAL_OK)
      return status;
  }
  for (size_t i = 0; i < evaluator->root_count; i++)
    values[i] = evaluator->entry[evaluator->root[i]].value;
  return TJ_EVAL_OK;
}

/* --- lanes --- */

static void spread(lane_values *of, int64_t value) {
  for (uint32_t i = 0; i < TJ_EVAL_LANES; i++)
    of->value[i] = value;
}

static bool make_lanes(tj_evaluator *evaluator) {
  if (evaluator->lane != NULL)
    return true;
  evaluator->lane = malloc((evaluator->count + 1) * sizeof *evaluator->lane);
  for (size_t i = 0; i < evaluator->count && evaluator->lane != NULL; i++) {
    if (tj_is_constant(evaluator->entry[i].node))
      spread(&evaluator->lane[i], evaluator->entry[i].value);
  }
  return evaluator->lane != NULL;
}

/* An operation that cannot fail but by overflow, which is looked for afterwards. */
static tj_eval_status add_lanes(const int64_t a[], const int64_t b[], uint32_t lanes, int64_t sum[]) {
  uint64_t overflow = 0;
  for (uint32_t i = 0; i < lanes; i++) {
    uint64_t wrapped = (uint64_t)a[i] + (uint64_t)b[i];
    overflow |= ((uint64_t)a[i] ^ wrapped) & ((uint64_t)b[i] ^ wrapped);
    sum[i] = (int64_t)wrapped;
  }
  return overflow >> 63 != 0 ? TJ_EVAL_OVERFLOW : TJ_EVAL_OK;
}

static tj_eval_status multiply_lanes(const int64_t a[], const int64_t b[], uint32_t lanes, int64_t product[]) {
  bool overflows = false;
  for (uint32_t i = 0; i < lanes; i++)
    overflows |= __builtin_mul_overflow(a[i], b[i], &product[i]);
  return overflows ? TJ_EVAL_OVERFLOW : TJ_EVAL_OK;
}

static tj_eval_status operate_lanes(tj_op op, const int64_t *const arg[3], uint32_t lanes, int64_t value[]) {
  tj_eval_status status = TJ_EVAL_OK;
  for (uint32_t i = 0; i < lanes && status == TJ_EVAL_OK; i++)
    status = tj_eval_operation(op, (int64_t[]){arg[0][i], arg[1][i], arg[2][i]}, &value[i]);
  return status;
}

/* By a power of two, which most divisors are. */
static void divide_by_power(bool is_quotient, const int64_t a[], int64_t power, uint32_t lanes, int64_t value[]) {
  const uint32_t shift = tj_log2(power);
  for (uint32_t i = 0; i < lanes; i++)
    value[i] = is_quotient ? a[i] >> shift : a[i] & (power - 1);
}

static void divide_by(bool is_quotient, const int64_t a[], int64_t divisor, uint32_t lanes, int64_t value[]) {
  for (uint32_t i = 0; i < lanes; i++)
    value[i] = is_quotient ? tj_floor_div(a[i], divisor) : tj_floor_mod(a[i], divisor);
}

/* Quotients and remainders by what is the same in all lanes, and at least 1. */
static bool divide_lanes(const entry *of, const entry *entries, const int64_t a[], uint32_t lanes, int64_t value[]) {
  const entry *divisor = &entries[of->arg[1]];
  const bool is_quotient = of->node->op == TJ_OP_DIV;
  if (divisor->varies || divisor->value < 1 || (!is_quotient && of->node->op != TJ_OP_MOD))
    return false;
  if (tj_is_power_of_two(divisor->value))
    divide_by_power(is_quotient, a, divisor->value, lanes, value);
  else
    divide_by(is_quotient, a, divisor->value, lanes, value);
  return true;
}

static tj_eval_status run_varying(const tj_evaluator *evaluator, const entry *at, uint32_t lanes, int64_t value[]) {
  const lane_values *all = evaluator->lane;
  const int64_t *arg[] = {all[at->arg[0]].value, all[at->arg[1]].value, all[at->arg[2]].value};
  switch (at->node->op) {
  case TJ_OP_ADD:
    return add_lanes(arg[0], arg[1], lanes, value);
  case TJ_OP_MUL:
    return multiply_lanes(arg[0], arg[1], lanes, value);
  default:
    return divide_lanes(at, evaluator->entry, arg[0], lanes, value) ? TJ_EVAL_OK
                                                                    : operate_lanes(at->node->op, arg, lanes, value);
  }
}

static const tj_lane_values *find_given(const tj_node *node, const tj_lane_values given[], uint32_t count) {
  for (uint32_t i = 0; i < count && node->op == TJ_OP_SYMBOL; i++) {
    if (given[i].symbol == node->symbol->index)
      return &given[i];
  }
  return NULL;
}

static bool has_varying_argument(const entry *entries, const entry *at) {
  bool varies = false;
  for (unsigned i = 0; i < tj_op_arity(at->node->op); i++)
    varies = varies || entries[at->arg[i]].varies;
  return varies;
}

/* --- from run to run --- */

static void set_distance(entry *of, bool is_known, int64_t distance) {
  of->is_moved = is_known;
  of->distance = is_known ? distance : 0;
}

static bool stays(const entry *at) {
  return at->is_moved && at->distance == 0;
}

static bool arguments_stay(const entry *entries, const entry *at) {
  bool stay = true;
  for (unsigned i = 0; i < tj_op_arity(at->node->op); i++)
    stay = stay && stays(&entries[at->arg[i]]);
  return stay;
}

/* Whether a product moves as a factor does: the other one is the same in all lanes. */
static bool product_moves(const entry *factor, const entry *other, int64_t *distance) {
  return factor->is_moved && stays(other) && !other->varies &&
         !__builtin_mul_overflow(factor->distance, other->value, distance);
}

/* Whether what is divided moves by whole multiples, and by how many. */
static bool moves_by_multiples(const entry *divided, const entry *divisor, int64_t *multiples) {
  if (!divided->is_moved || !stays(divisor) || divisor->varies || divisor->value <= 0 ||
      divided->distance % divisor->value != 0)
    return false;
  *multiples = divided->distance / divisor->value;
  return true;
}

/* Whether all lanes of an operation move by as much, as their arguments tell. */
static bool operation_moves(const entry *entries, const entry *at, int64_t *distance) {
  const entry *a = &entries[at->arg[0]], *b = &entries[at->arg[1]];
  int64_t multiples = 0;
  *distance = 0;
  switch (at->node->op) {
  case TJ_OP_ADD:
    return a->is_moved && b->is_moved && !__builtin_add_overflow(a->distance, b->distance, distance);
  case TJ_OP_MUL:
    return product_moves(a, b, distance) || product_moves(b, a, distance);
  case TJ_OP_DIV:
    return moves_by_multiples(a, b, distance);
  case TJ_OP_MOD:
    return moves_by_multiples(a, b, &multiples);
  default:
    return false;
  }
}

/* Whether lanes have moved by as much from values that are known. */
static bool lanes_move(const int64_t from[], const int64_t to[], uint32_t lanes, int64_t *distance) {
  bool moves = !__builtin_sub_overflow(to[0], from[0], distance);
  for (uint32_t i = 1; i < lanes && moves; i++)
    moves = (uint64_t)to[i] - (uint64_t)from[i] == (uint64_t)*distance && (to[i] >= from[i]) == (*distance >= 0);
  return moves;
}

/* As add_lanes, of the same number in all lanes. */
static tj_eval_status move_lanes(int64_t value[], uint32_t lanes, int64_t distance) {
  uint64_t overflow = 0;
  for (uint32_t i = 0; i < lanes; i++) {
    uint64_t wrapped = (uint64_t)value[i] + (uint64_t)distance;
    overflow |= ((uint64_t)value[i] ^ wrapped) & ((uint64_t)distance ^ wrapped);
    value[i] = (int64_t)wrapped;
  }
  return overflow >> 63 != 0 ? TJ_EVAL_OVERFLOW : TJ_EVAL_OK;
}

static void run_given(entry *at, const tj_lane_values *own, bool is_known, uint32_t lanes, int64_t value[]) {
  int64_t distance = 0;
  is_known = is_known && lanes_move(value, own->value, lanes, &distance);
  set_distance(at, is_known, distance);
  if (!stays(at))
    memcpy(value, own->value, lanes * sizeof value[0]);
}

static tj_eval_status run_alike(tj_evaluator *evaluator, entry *at, const tj_bindings *bindings, bool is_known,
                                lane_values *value) {
  const int64_t before = at->value;
  int64_t distance = 0;
  tj_eval_status status = run_entry(evaluator, at, bindings);
  is_known = is_known && !__builtin_sub_overflow(at->value, before, &distance);
  set_distance(at, is_known, distance);
  if (!stays(at))
    spread(value, at->value);
  return status;
}

static tj_eval_status run_operation(tj_evaluator *evaluator, entry *at, bool is_known, uint32_t lanes,
                                    int64_t value[]) {
  int64_t distance = 0;
  is_known = is_known && operation_moves(evaluator->entry, at, &distance);
  set_distance(at, is_known, distance);
  return is_known ? move_lanes(value, lanes, distance) : run_varying(evaluator, at, lanes, value);
}

/* An entry in all lanes, which is no constant. */
static tj_eval_status run_in_lanes(tj_evaluator *evaluator, entry *at, const tj_bindings *bindings,
                                   const tj_lane_values *own, uint32_t lanes) {
  lane_values *value = &evaluator->lane[at - evaluator->entry];
  const bool varies = own != NULL || has_varying_argument(evaluator->entry, at),
             is_known = evaluator->is_next && varies == at->varies;
  at->varies = varies;
  if (own == NULL)
    return varies ? run_operation(evaluator, at, is_known, lanes, value->value)
                  : run_alike(evaluator, at, bindings, is_known, value);
  run_given(at, own, is_known, lanes, value->value);
  return TJ_EVAL_OK;
}

tj_eval_status tj_evaluator_run_lanes(tj_evaluator *evaluator, const tj_bindings *bindings,
                                      const tj_lane_values given[], uint32_t given_count, uint32_t lanes) {
  tj_eval_status status = make_lanes(evaluator) ? TJ_EVAL_OK : TJ_EVAL_NO_MEMORY;
  const bool is_next = lanes > 0 && evaluator->lane_count == lanes;
  evaluator->is_next = is_next;
  evaluator->lane_count = 0;
  for (size_t i = 0; i < evaluator->count && status == TJ_EVAL_OK; i++) {
    entry *at = &evaluator->entry[i];
    if (is_next && at->node->op != TJ_OP_SYMBOL && arguments_stay(evaluator->entry, at))
      set_distance(at, true, 0);
    else if (!tj_is_constant(at->node))
      status = run_in_lanes(evaluator, at, bindings, find_given(at->node, given, given_count), lanes);
  }
  evaluator->lane_count = status == TJ_EVAL_OK ? lanes : 0;
  return status;
}

const int64_t *tj_evaluator_lanes(const tj_evaluator *evaluator, size_t root) {
  return evaluator->lane[evaluator->root[root]].value;
}

bool tj_evaluator_moved(const tj_evaluator *evaluator, size_t root, int64_t *distance) {
  const entry *at = &evaluator->entry[evaluator->root[root]];
  *distance = at->distance;
  return evaluator->is_next && at->is_moved;
}

size_t tj_evaluator_node_count(const tj_evaluator *evaluator) {
  return evaluator->count;
}

const tj_node *tj_evaluator_node(const tj_evaluator *evaluator, size_t index) {
  return evaluator->entry[index].node;
}

int64_t tj_evaluator_value(const tj_evaluator *evaluator, size_t index) {
  return evaluator->entry[index].value;
}

tj_eval_status tj_eval_nodes(const tj_node *const roots[], size_t count, const tj_bindings *bindings,
                             int64_t values[]) {
  tj_evaluator *evaluator;
  tj_eval_status status = tj_evaluator_create(roots, count, &evaluator);
  if (status == TJ_EVAL_OK)
    status = tj_evaluator_run(evaluator, bindings, values);
  tj_evaluator_destroy(evaluator);
  return status;
}

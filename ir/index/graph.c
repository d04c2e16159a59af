/* SPDX-License-Identifier: MIT */
/* The graph of index expressions: hash-consing, constructors, their checks and their folding of constants.
 *
 * Nodes are found by open addressing on operation and arguments; symbols are never looked up, since each is new.
 * What operations compute is eval.c's, what is known of their results facts.c's. */
#include "ir/index/graph.h"

#include "ir/index/cost.h"
#include "ir/index/eval.h"
#include "ir/index/facts.h"
#include "ir/index/print.h"
#include "ir/index/sample.h"

#include <string.h>

enum { FIRST_BUCKETS = 256, WORK_OF_NODE = 8 };

static const struct {
  const char *name, *text;
} op_rows[] = {
#define OP(name, arity, text, kind, doc) {#name, text},
#include "base/number/op.def"
#undef OP
};

const char *tj_op_text(tj_op op) {
  return op_rows[op].text;
}

const char *tj_op_name(tj_op op) {
  return op_rows[op].name;
}

tj_graph *tj_graph_create(tj_job *job) {
  tj_graph *graph = TJ_NEW(job, tj_graph);
  graph->job = job;
  graph->bucket = TJ_NEW_ARRAY(job, tj_bucket, FIRST_BUCKETS);
  graph->bucket_count = FIRST_BUCKETS;
  return graph;
}

/* --- hash-consing --- */

static uint32_t mix(uint32_t hash, uint64_t value) {
  uint64_t mixed = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(mixed >> 32) ^ (uint32_t)mixed;
}

static uint32_t hash_constant(int64_t value) {
  return mix(TJ_OP_CONSTANT, (uint64_t)value);
}

static uint32_t hash_operation(tj_op op, const tj_node *const args[], unsigned arity) {
  uint32_t hash = mix((uint32_t)op, args[0]->id);
  for (unsigned i = 1; i < arity; i++)
    hash = mix(hash, args[i]->id);
  return hash;
}

static void insert(tj_bucket *bucket, uint32_t bucket_count, tj_bucket entry) {
  uint32_t at = entry.hash & (bucket_count - 1);
  while (bucket[at].node != NULL)
    at = (at + 1) & (bucket_count - 1);
  bucket[at] = entry;
}

static void grow(tj_graph *graph) {
  uint32_t count = graph->bucket_count * 4;
  tj_bucket *bucket = TJ_NEW_ARRAY(graph->job, tj_bucket, count);
  for (uint32_t i = 0; i < graph->bucket_count; i++)
    if (graph->bucket[i].node != NULL)
      insert(bucket, count, graph->bucket[i]);
  graph->bucket = bucket;
  graph->bucket_count = count;
}

static tj_node *new_node(tj_graph *graph, tj_op op) {
  tj_spend(graph->job, 1);
  graph->work += WORK_OF_NODE;
  tj_node *node = TJ_NEW(graph->job, tj_node);
  node->op = op;
  node->id = node->rank = graph->node_count++;
  return node;
}

static const tj_node *remember(tj_graph *graph, const tj_node *node, uint32_t hash) {
  if (graph->node_count > graph->bucket_count / 2)
    grow(graph);
  insert(graph->bucket, graph->bucket_count, (tj_bucket){node, hash});
  return node;
}

/* The entry for a hash at a place or after it, or the empty one that ends the search. */
static const tj_bucket *entry_from(const tj_graph *graph, uint32_t hash, uint32_t *at) {
  const tj_bucket *entry;
  do
    entry = &graph->bucket[(*at)++ & (graph->bucket_count - 1)];
  while (entry->node != NULL && entry->hash != hash);
  return entry;
}

const tj_node *tj_int(tj_graph *graph, int64_t value) {
  const uint32_t hash = hash_constant(value);
  uint32_t at = hash;
  for (const tj_bucket *entry = entry_from(graph, hash, &at); entry->node != NULL;
       entry = entry_from(graph, hash, &at))
    if (tj_is_int(entry->node, value))
      return entry->node;
  tj_node *node = new_node(graph, TJ_OP_CONSTANT);
  node->value = value;
  node->facts = tj_facts_of_constant(value);
  tj_sample_constant(value, node->sample);
  return remember(graph, node, hash);
}

static bool is_operation_on(const tj_node *node, tj_op op, const tj_node *const args[], unsigned arity) {
  bool is_same = node->op == op;
  for (unsigned i = 0; i < arity && is_same; i++)
    is_same = node->arg[i] == args[i];
  return is_same;
}

static uint32_t saturating_sum(uint32_t a, uint32_t b) {
  uint32_t sum;
  return __builtin_add_overflow(a, b, &sum) ? UINT32_MAX : sum;
}

static bool fits_32_bits(int64_t low, int64_t high) {
  return low >= INT32_MIN && high <= INT32_MAX;
}

static bool is_sampled_narrow(const tj_node *node) {
  for (int i = 0; i < TJ_SAMPLE_COUNT; i++)
    if (!fits_32_bits(node->sample[i], node->sample[i]))
      return false;
  return true;
}

/* Sums and products of arguments that share symbols: what the bounds of symbols allow them to be together. That is
 * looked for where the facts of parameters mention others, and where it may make 32 bits of more. */
static void bound_sum_or_product(tj_graph *graph, tj_node *node) {
  const bool is_sum_or_product = node->op == TJ_OP_ADD || node->op == TJ_OP_MUL;
  if (!is_sum_or_product || (node->arg[0]->symbols & node->arg[1]->symbols) == 0)
    return;
  if (fits_32_bits(node->facts.low, node->facts.high) ? !graph->has_relations : !is_sampled_narrow(node))
    return;
  const tj_range range = tj_range_by_bounds(graph, tj_linear_of(graph, node));
  tj_facts known = node->facts;
  known.low = range.low > known.low && range.low <= INT64_MAX ? (int64_t)range.low : known.low;
  known.high = range.high < known.high && range.high >= INT64_MIN ? (int64_t)range.high : known.high;
  tj_sharpen_facts(node, &known);
}

/* Quotients of what has a symbolic divisor, which is at least that where it is at least 1. */
static void bound_quotient(tj_graph *graph, tj_node *node) {
  if (node->op != TJ_OP_DIV || node->arg[0]->op != TJ_OP_SYMBOL || node->arg[0]->symbol->divisor == NULL ||
      node->facts.low != 0 || node->arg[1]->facts.low < 1 || !tj_prove_less_equal(graph, node->arg[1], node->arg[0]))
    return;
  tj_facts known = node->facts;
  known.low = 1;
  tj_sharpen_facts(node, &known);
}

static void derive_facts(tj_graph *graph, tj_node *node) {
  const tj_facts *facts[3] = {NULL, NULL, NULL};
  for (unsigned i = 0; i < tj_op_arity(node->op); i++)
    facts[i] = &node->arg[i]->facts;
  node->facts = tj_facts_of_operation(node->op, facts);
  bound_sum_or_product(graph, node);
  bound_quotient(graph, node);
}

/* Without facts. */
static tj_node *new_operation(tj_graph *graph, tj_op op, const tj_node *const args[], unsigned arity) {
  uint32_t symbols = 0, depth = 0, weight = tj_op_weight(op, args);
  for (unsigned i = 0; i < arity; i++) {
    symbols |= args[i]->symbols;
    depth = args[i]->depth > depth ? args[i]->depth : depth;
    weight = saturating_sum(weight, args[i]->weight);
  }
  tj_node *node = new_node(graph, op);
  memcpy(node->arg, args, arity * sizeof *args);
  node->depth = depth + 1;
  node->weight = weight;
  node->symbols = symbols;
  tj_sample_operation(op, args, node->sample);
  return node;
}

static const tj_node *find_operation(const tj_graph *graph, tj_op op, const tj_node *const args[], unsigned arity,
                                     uint32_t hash) {
  uint32_t at = hash;
  const tj_bucket *entry = entry_from(graph, hash, &at);
  while (entry->node != NULL && !is_operation_on(entry->node, op, args, arity))
    entry = entry_from(graph, hash, &at);
  return entry->node;
}

/* The operation, which has these facts where it is a new one; NULL: what follows from its arguments. */
static const tj_node *operation_with(tj_graph *graph, tj_op op, const tj_node *const args[], const tj_facts *facts) {
  unsigned arity = tj_op_arity(op);
  const uint32_t hash = hash_operation(op, args, arity);
  const tj_node *found = find_operation(graph, op, args, arity, hash);
  if (found != NULL)
    return found;
  tj_node *node = new_operation(graph, op, args, arity);
  if (facts != NULL)
    node->facts = *facts;
  else
    derive_facts(graph, node);
  return remember(graph, node, hash);
}

const tj_node *tj_node_make(tj_graph *graph, tj_op op, const tj_node *const args[]) {
  return operation_with(graph, op, args, NULL);
}

const tj_node *tj_node_restore(tj_graph *graph, tj_op op, const tj_node *const args[], const tj_facts *facts) {
  return operation_with(graph, op, args, facts);
}

/* --- symbols --- */

static const char *bound_text(tj_graph *graph, const tj_node *bound) {
  return bound == NULL ? "" : tj_node_brief(graph->job, bound);
}

unsigned tj_symbol_parts(const tj_symbol *symbol, const tj_node *part[TJ_MOST_SYMBOL_PARTS]) {
  const tj_node *const all[] = {symbol->low, symbol->high, symbol->divisor};
  unsigned count = 0;
  for (unsigned i = 0; i < TJ_MOST_SYMBOL_PARTS; i++)
    if (all[i] != NULL)
      part[count++] = all[i];
  return count;
}

bool tj_symbol_step(const tj_symbol *symbol, int64_t divisor, int64_t *step) {
  int64_t common = symbol->multiple, rest = symbol->divisor == NULL ? common : divisor;
  *step = symbol->multiple;
  if (rest < 1)
    return false;
  while (rest != 0) {
    const int64_t next = common % rest;
    common = rest;
    rest = next;
  }
  int64_t joint;
  if (symbol->divisor != NULL && __builtin_mul_overflow(symbol->multiple, divisor / common, &joint))
    return false;
  *step = symbol->divisor != NULL ? joint : *step;
  return true;
}

static void check_satisfiable(tj_graph *graph, const tj_symbol *symbol) {
  int64_t low = symbol->low == NULL ? INT64_MIN : symbol->low->facts.low;
  int64_t high = symbol->high == NULL ? INT64_MAX : symbol->high->facts.high;
  int64_t multiple = symbol->multiple;
  if (symbol->divisor != NULL && low >= 1 && low < symbol->divisor->facts.low)
    low = symbol->divisor->facts.low;
  (void)tj_symbol_step(symbol, symbol->divisor == NULL ? 1 : tj_facts_content(&symbol->divisor->facts), &multiple);
  __int128 first = low;
  __int128 rest = first % multiple;
  first += rest > 0 ? multiple - rest : -rest;
  if (low != INT64_MIN && high != INT64_MAX && (low > high || first > high))
    tj_fail(graph->job, TJ_EMPTY_RANGE, "no integer satisfies %s in %s..%s multiple %s", symbol->name,
            bound_text(graph, symbol->low), bound_text(graph, symbol->high),
            symbol->divisor != NULL ? tj_node_brief(graph->job, symbol->divisor)
                                    : tj_string_format(graph->job, "%lld", (long long)symbol->multiple));
}

static void check_multiple(tj_graph *graph, const tj_symbol *symbol) {
  if (symbol->multiple < 1)
    tj_fail(graph->job, TJ_EMPTY_RANGE, "%s is declared a multiple of %lld, which is not at least 1", symbol->name,
            (long long)symbol->multiple);
  if (symbol->divisor != NULL && symbol->divisor->facts.low < 1)
    tj_fail(graph->job, TJ_EMPTY_RANGE, "%s is declared a multiple of %s, which may be less than 1", symbol->name,
            tj_node_brief(graph->job, symbol->divisor));
}

typedef struct tj_names tj_names;
struct tj_names {
  const char *name;
  const tj_names *before;
};

static bool is_parameter(tj_graph *graph, const char *name) {
  uint64_t compared = 1;
  const tj_names *of = graph->parameters;
  for (; of != NULL && strcmp(of->name, name) != 0; of = of->before)
    compared++;
  tj_spend(graph->job, compared);
  return of != NULL;
}

/* Text tells symbols by their names alone: no coordinate has that of a parameter. */
static const char *name_of(tj_graph *graph, const tj_symbol *symbol) {
  const char *name = symbol->name;
  if (symbol->kind == TJ_SYMBOL_PARAMETER) {
    tj_names all = {name, graph->parameters};
    graph->parameters = tj_arena_copy(&graph->job->arena, &all, sizeof all);
    return name;
  }
  while (is_parameter(graph, name))
    name = tj_string_format(graph->job, "%s_", name);
  return name;
}

/* The symbol itself; a divisor that is a constant becomes part of its multiple. */
static const tj_symbol *new_symbol(tj_graph *graph, tj_symbol declared) {
  tj_symbol *symbol = TJ_NEW(graph->job, tj_symbol);
  *symbol = declared;
  symbol->name = name_of(graph, symbol);
  check_multiple(graph, symbol);
  if (declared.divisor != NULL && tj_is_constant(declared.divisor)) {
    (void)tj_symbol_step(&declared, declared.divisor->value, &symbol->multiple);
    symbol->divisor = NULL;
  }
  check_satisfiable(graph, symbol);
  symbol->index = graph->symbol_count++;
  return symbol;
}

const tj_node *tj_symbol_declare(tj_graph *graph, tj_symbol declared) {
  const tj_symbol *symbol = new_symbol(graph, declared);
  const tj_node *part[TJ_MOST_SYMBOL_PARTS];
  const unsigned parts = tj_symbol_parts(symbol, part);
  tj_node *node = new_node(graph, TJ_OP_SYMBOL);
  node->symbol = symbol;
  node->rank += symbol->kind == TJ_SYMBOL_PARAMETER ? TJ_RANK_OF_PARAMETERS : 0;
  node->symbols = UINT32_C(1) << (symbol->index % 32);
  for (unsigned i = 0; i < parts; i++)
    node->symbols |= part[i]->symbols;
  node->facts = tj_facts_of_symbol(symbol);
  graph->has_choices |= symbol->choice_count > 0;
  graph->has_relations |= symbol->kind == TJ_SYMBOL_PARAMETER && (node->symbols & (node->symbols - 1)) != 0;
  tj_sample_symbol(symbol, node->sample);
  return node;
}

const tj_node *tj_symbol_create(tj_graph *graph, const char *name, tj_symbol_kind kind, const tj_node *low,
                                const tj_node *high, int64_t multiple) {
  return tj_symbol_declare(graph,
                           (tj_symbol){.name = name, .kind = kind, .low = low, .high = high, .multiple = multiple});
}

const tj_node *tj_symbol_of_facts(tj_graph *graph, const char *name, const tj_facts *facts) {
  const tj_node *symbol = tj_symbol_create(graph, name, TJ_SYMBOL_COORDINATE, NULL, NULL, 1);
  tj_node *node = (tj_node *)(uintptr_t)symbol;
  node->facts = *facts;
  for (int i = 0; i < TJ_SAMPLE_COUNT; i++)
    node->sample[i] = TJ_NO_SAMPLE;
  return node;
}

const tj_node *tj_coordinate(tj_graph *graph, const char *name, const tj_node *extent) {
  const tj_node *last = tj_add(graph, extent, tj_int(graph, -1));
  return tj_symbol_create(graph, name, TJ_SYMBOL_COORDINATE, tj_int(graph, 0), last, 1);
}

/* --- constructors --- */

static void check_divisor(tj_graph *graph, const tj_node *divisor) {
  if (tj_is_int(divisor, 0))
    tj_fail(graph->job, TJ_DIVISION_BY_ZERO, "division by zero");
  if (!tj_facts_nonzero(&divisor->facts))
    tj_fail(graph->job, TJ_DIVISION_BY_ZERO, "the divisor %s may be zero", tj_node_brief(graph->job, divisor));
}

static void check_bit_operand(tj_graph *graph, tj_op op, const tj_node *operand) {
  if (!tj_facts_nonnegative(&operand->facts))
    tj_fail(graph->job, TJ_NEGATIVE_BITS, "the operand %s of %s may be negative", tj_node_brief(graph->job, operand),
            tj_op_text(op));
}

static void check_shift(tj_graph *graph, tj_op op, const tj_node *amount) {
  if (amount->facts.low < 0 || amount->facts.high > 62)
    tj_fail(graph->job, TJ_BAD_SHIFT, "the amount %s of %s may be outside 0 to 62", tj_node_brief(graph->job, amount),
            tj_op_text(op));
}

static void check_condition(tj_graph *graph, const tj_node *condition) {
  if (condition->facts.low < 0 || condition->facts.high > 1)
    tj_fail(graph->job, TJ_WRONG_TYPE, "the condition %s of select may be other than 0 and 1",
            tj_node_brief(graph->job, condition));
}

static void check_depth(tj_graph *graph, const tj_node *const args[], unsigned arity) {
  for (unsigned i = 0; i < arity; i++)
    if (args[i]->depth >= TJ_MAX_NODE_DEPTH)
      tj_fail(graph->job, TJ_DEPTH_LIMIT, "an index expression is more than %d operations deep", TJ_MAX_NODE_DEPTH);
}

void tj_check_operation(tj_graph *graph, tj_op op, const tj_node *const args[]) {
  check_depth(graph, args, tj_op_arity(op));
  switch (op) {
  case TJ_OP_DIV:
  case TJ_OP_MOD:
    check_divisor(graph, args[1]);
    return;
  case TJ_OP_AND:
  case TJ_OP_OR:
  case TJ_OP_XOR:
    check_bit_operand(graph, op, args[0]);
    check_bit_operand(graph, op, args[1]);
    return;
  case TJ_OP_SHL:
  case TJ_OP_SHR:
    check_shift(graph, op, args[1]);
    return;
  case TJ_OP_SELECT:
    check_condition(graph, args[0]);
    return;
  default:
    return;
  }
}

bool tj_is_defined(tj_op op, const tj_node *const args[]) {
  const tj_facts *facts[3] = {NULL, NULL, NULL};
  for (unsigned i = 0; i < tj_op_arity(op); i++)
    facts[i] = &args[i]->facts;
  return tj_facts_define(op, facts);
}

void tj_sharpen_facts(const tj_node *node, const tj_facts *known) {
  if (tj_op_arity(node->op) > 0 && memcmp(&node->facts, known, sizeof *known) != 0)
    ((tj_node *)(uintptr_t)node)->facts = tj_facts_meet(&node->facts, known);
}

/* Folds an operation on constants. */
static const tj_node *folded(tj_graph *graph, tj_op op, const tj_node *const args[], unsigned arity) {
  int64_t values[3], result;
  for (unsigned i = 0; i < arity; i++)
    values[i] = args[i]->value;
  tj_eval_status status = tj_eval_operation(op, values, &result);
  if (status != TJ_EVAL_OK)
    tj_fail_eval(graph->job, status);
  return tj_int(graph, result);
}

static const tj_node *construct(tj_graph *graph, tj_op op, const tj_node *const args[]) {
  unsigned arity = tj_op_arity(op), constants = 0;
  for (unsigned i = 0; i < arity; i++)
    constants += tj_is_constant(args[i]);
  tj_check_operation(graph, op, args);
  return constants == arity ? folded(graph, op, args, arity) : tj_node_make(graph, op, args);
}

static const tj_node *construct2(tj_graph *graph, tj_op op, const tj_node *a, const tj_node *b) {
  const tj_node *args[3] = {a, b, NULL};
  return construct(graph, op, args);
}

const tj_node *tj_add(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return construct2(graph, TJ_OP_ADD, a, b);
}

const tj_node *tj_sub(tj_graph *graph, const tj_node *a, const tj_node *b) {
  int64_t difference;
  if (tj_is_constant(a) && tj_is_constant(b) && !__builtin_sub_overflow(a->value, b->value, &difference))
    return tj_int(graph, difference);
  return tj_add(graph, a, tj_mul(graph, tj_int(graph, -1), b));
}

const tj_node *tj_mul(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return construct2(graph, TJ_OP_MUL, a, b);
}

const tj_node *tj_div(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return construct2(graph, TJ_OP_DIV, a, b);
}

const tj_node *tj_mod(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return construct2(graph, TJ_OP_MOD, a, b);
}

const tj_node *tj_min(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return construct2(graph, TJ_OP_MIN, a, b);
}

const tj_node *tj_max(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return construct2(graph, TJ_OP_MAX, a, b);
}

const tj_node *tj_and(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return construct2(graph, TJ_OP_AND, a, b);
}

const tj_node *tj_or(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return construct2(graph, TJ_OP_OR, a, b);
}

const tj_node *tj_xor(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return construct2(graph, TJ_OP_XOR, a, b);
}

const tj_node *tj_shl(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return construct2(graph, TJ_OP_SHL, a, b);
}

const tj_node *tj_shr(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return construct2(graph, TJ_OP_SHR, a, b);
}

const tj_node *tj_less(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return construct2(graph, TJ_OP_LESS, a, b);
}

const tj_node *tj_less_equal(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (tj_is_constant(a) && tj_is_constant(b))
    return tj_int(graph, a->value <= b->value);
  return tj_less(graph, a, tj_add(graph, b, tj_int(graph, 1)));
}

const tj_node *tj_equal(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return construct2(graph, TJ_OP_EQUAL, a, b);
}

const tj_node *tj_not(tj_graph *graph, const tj_node *truth) {
  return tj_equal(graph, truth, tj_int(graph, 0));
}

const tj_node *tj_select(tj_graph *graph, const tj_node *condition, const tj_node *then, const tj_node *otherwise) {
  const tj_node *args[3] = {condition, then, otherwise};
  return construct(graph, TJ_OP_SELECT, args);
}

int64_t tj_constant_value(tj_graph *graph, const tj_node *node, const char *what) {
  if (!tj_is_constant(node))
    tj_fail(graph->job, TJ_NOT_CONSTANT, "%s must be a constant, not %s", what, tj_node_brief(graph->job, node));
  return node->value;
}

/* SPDX-License-Identifier: MIT */
/* Index expressions as text.
 *
 * A text is written without recursion: a stack holds what is still to be written, nodes with the precedence that
 * they meet, and pieces of text. Whatever is written in full is work, so it is spent: sharing can make the text of a
 * small graph too long to write. docs/ir.md specifies both forms; read.c reads them back. */
#include "ir/index/print.h"

#include "ir/index/walk.h"

#include <string.h>

/* How tightly each operator binds; `left` and `right` are what its operands must at least bind. Functions and
 * leaves bind tightest. */
enum { LOOSEST = 0, SUM = 7, PRODUCT = 8, NEGATIVE = 9, TIGHTEST = 10 };

static int precedence_of_op(tj_op op) {
  switch (op) {
  case TJ_OP_OR:
    return 1;
  case TJ_OP_XOR:
    return 2;
  case TJ_OP_AND:
    return 3;
  case TJ_OP_EQUAL:
    return 4;
  case TJ_OP_LESS:
    return 5;
  case TJ_OP_SHL:
  case TJ_OP_SHR:
    return 6;
  case TJ_OP_ADD:
    return SUM;
  case TJ_OP_MUL:
  case TJ_OP_DIV:
  case TJ_OP_MOD:
    return PRODUCT;
  default:
    return TIGHTEST;
  }
}

/* Something still to be written: a node, or when there is none, the text. */
typedef struct {
  const tj_node *node;
  const char *text;
  int precedence; /* the node goes in parentheses when it binds less tightly */
} item;

typedef struct {
  tj_text *text;
  item *stack;
  size_t count, capacity;
  size_t limit;       /* stop when the text gets longer */
  const char **named; /* by node id, below named_count: the name to write in place of the node */
  uint32_t named_count;
} printer;

static void push(printer *out, item next) {
  if (out->count == out->capacity) {
    size_t capacity = out->capacity == 0 ? 64 : out->capacity * 2;
    item *larger = TJ_NEW_ARRAY(out->text->job, item, capacity);
    if (out->count > 0)
      memcpy(larger, out->stack, out->count * sizeof *larger);
    out->stack = larger;
    out->capacity = capacity;
  }
  out->stack[out->count++] = next;
}

static void push_text(printer *out, const char *text) {
  push(out, (item){.text = text});
}

static void push_node(printer *out, const tj_node *node, int precedence) {
  push(out, (item){.node = node, .precedence = precedence});
}

static bool is_negation(const tj_node *node) {
  return node->op == TJ_OP_MUL && tj_is_int(node->arg[0], -1) && !tj_is_constant(node->arg[1]);
}

/* x * -c, with a c that can be written after a minus. */
static bool is_negative_multiple(const tj_node *node) {
  return node->op == TJ_OP_MUL && tj_is_constant(node->arg[1]) && node->arg[1]->value < -1 &&
         node->arg[1]->value != INT64_MIN && !tj_is_constant(node->arg[0]);
}

/* x * c as it is written without parentheses: after a minus it would be read as x * -c. */
static bool reads_as_multiple(const tj_node *node) {
  return node->op == TJ_OP_MUL && tj_is_constant(node->arg[1]) && node->arg[1]->value >= 0;
}

static const char *const spaced[] = {
#define OP(name, arity, text, kind, doc) " " text " ",
#include "base/number/op.def"
#undef OP
};

static const char *operator_text(tj_op op) {
  return precedence_of_op(op) == PRODUCT ? tj_op_text(op) : spaced[op];
}

static bool is_named(const printer *out, const tj_node *node) {
  return node->id < out->named_count && out->named[node->id] != NULL;
}

/* What follows the left operand of a sum, in reverse; false where it is an ordinary sum. */
static bool push_subtraction(printer *out, const tj_node *right) {
  if (is_named(out, right))
    return false;
  if (tj_is_constant(right) && right->value < 0 && right->value != INT64_MIN) {
    push_text(out, tj_string_format(out->text->job, " - %lld", -(long long)right->value));
    return true;
  }
  if (is_negation(right)) {
    bool ambiguous = reads_as_multiple(right->arg[1]) && !is_named(out, right->arg[1]);
    push_node(out, right->arg[1], ambiguous ? TIGHTEST : PRODUCT);
    push_text(out, " - ");
    return true;
  }
  if (is_negative_multiple(right)) {
    push_text(out, tj_string_format(out->text->job, "*%lld", -(long long)right->arg[1]->value));
    push_node(out, right->arg[0], PRODUCT);
    push_text(out, " - ");
    return true;
  }
  return false;
}

static void push_call(printer *out, const tj_node *node) {
  unsigned arity = tj_op_arity(node->op);
  push_text(out, ")");
  for (unsigned i = arity; i-- > 0;) {
    push_node(out, node->arg[i], LOOSEST);
    push_text(out, i > 0 ? "," : "(");
  }
  push_text(out, tj_op_text(node->op));
}

static void push_infix(printer *out, const tj_node *node) {
  int precedence = precedence_of_op(node->op);
  if (node->op != TJ_OP_ADD || !push_subtraction(out, node->arg[1])) {
    push_node(out, node->arg[1], precedence + 1);
    push_text(out, operator_text(node->op));
  }
  push_node(out, node->arg[0], precedence);
}

static void push_operation(printer *out, const tj_node *node, int precedence) {
  int own = is_negation(node) ? NEGATIVE : precedence_of_op(node->op);
  if (own < precedence)
    push_text(out, ")");
  if (is_negation(node)) {
    push_node(out, node->arg[1], TIGHTEST);
    push_text(out, "-");
  } else if (own == TIGHTEST) {
    push_call(out, node);
  } else {
    push_infix(out, node);
  }
  if (own < precedence)
    push_text(out, "(");
}

static void write_node(printer *out, const tj_node *node, int precedence) {
  tj_spend(out->text->job, 1);
  if (is_named(out, node))
    tj_text_string(out->text, out->named[node->id]);
  else if (tj_is_constant(node))
    tj_text_integer(out->text, node->value);
  else if (node->op == TJ_OP_SYMBOL)
    tj_text_string(out->text, node->symbol->name);
  else
    push_operation(out, node, precedence);
}

static void write_all(printer *out) {
  while (out->count > 0 && out->text->length <= out->limit) {
    item next = out->stack[--out->count];
    if (next.node == NULL)
      tj_text_string(out->text, next.text);
    else
      write_node(out, next.node, next.precedence);
  }
  out->count = 0;
}

void tj_node_print(tj_text *text, const tj_node *node) {
  printer out = {.text = text, .limit = SIZE_MAX};
  push_node(&out, node, LOOSEST);
  write_all(&out);
}

const char *tj_node_text(tj_job *job, const tj_node *node) {
  tj_text text = tj_text_begin(job);
  tj_node_print(&text, node);
  return text.data;
}

static void print_brief(tj_text *text, const tj_node *node, int precedence, size_t most) {
  tj_text whole = tj_text_begin(text->job);
  printer out = {.text = &whole, .limit = most};
  push_node(&out, node, precedence);
  write_all(&out);
  if (whole.length <= most)
    tj_text_string(text, whole.data);
  else
    tj_text_format(text, "%.*s…", (int)most, whole.data);
}

void tj_node_print_brief(tj_text *text, const tj_node *node, size_t most) {
  print_brief(text, node, LOOSEST, most);
}

void tj_node_print_term(tj_text *text, const tj_node *node, size_t most) {
  print_brief(text, node, SUM, most);
}

const char *tj_node_brief(tj_job *job, const tj_node *node) {
  enum { LINE = 100 };
  tj_text text = tj_text_begin(job);
  tj_node_print_brief(&text, node, LINE);
  return text.data;
}

/* --- the graph form --- */

/* Operations nested deeper than this on one line get a line of their own. */
enum { DEEPEST_ON_A_LINE = 24 };

typedef struct {
  tj_graph *graph;
  tj_walk walk;
  const char **name;    /* by node id */
  uint32_t *users;      /* by place in the walk */
  const char **claimed; /* names of symbols: open addressing, a power of two */
  uint32_t claimed_count;
  printer out;
} graph_printer;

static bool is_reserved(const char *name) {
  static const char *const reserved[] = {"param", "coordinate", "root", "in",    "multiple",
                                         "among", "min",        "max",  "select"};
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
    if (strcmp(name, reserved[i]) == 0)
      return true;
  return false;
}

static uint32_t hash_name(const char *name) {
  uint32_t hash = 2166136261;
  for (; *name != '\0'; name++)
    hash = (hash ^ (unsigned char)*name) * 16777619;
  return hash;
}

/* Enters a name in the table of those in use; false where it is there already. */
static bool claim_name(graph_printer *in, const char *name) {
  uint32_t at = hash_name(name) & (in->claimed_count - 1);
  for (; in->claimed[at] != NULL; at = (at + 1) & (in->claimed_count - 1))
    if (strcmp(in->claimed[at], name) == 0)
      return false;
  in->claimed[at] = name;
  return true;
}

static void declare_symbol(graph_printer *in, uint32_t place) {
  const tj_node *node = in->walk.node[place];
  const tj_symbol *symbol = node->symbol;
  tj_text *text = in->out.text;
  in->name[node->id] = !is_reserved(symbol->name) && claim_name(in, symbol->name)
                           ? symbol->name
                           : tj_string_format(text->job, "%s.%u", symbol->name, symbol->index);
  tj_text_format(text, "%s %s", symbol->kind == TJ_SYMBOL_PARAMETER ? "param" : "coordinate", in->name[node->id]);
  if (symbol->low != NULL || symbol->high != NULL) {
    push_node(&in->out, symbol->low == NULL ? node : symbol->low, LOOSEST);
    tj_text_string(text, " in ");
    if (symbol->low != NULL)
      write_all(&in->out);
    in->out.count = 0;
    tj_text_string(text, "..");
    if (symbol->high != NULL)
      push_node(&in->out, symbol->high, LOOSEST);
    write_all(&in->out);
  }
  if (symbol->multiple > 1)
    tj_text_format(text, " multiple %lld", (long long)symbol->multiple);
  if (symbol->divisor != NULL) {
    in->out.count = 0;
    tj_text_string(text, " multiple ");
    push_node(&in->out, symbol->divisor, LOOSEST);
    write_all(&in->out);
  }
  for (uint32_t i = 0; i < symbol->choice_count; i++)
    tj_text_format(text, "%s%lld", i == 0 ? " among " : " ", (long long)symbol->choice[i]);
  tj_text_char(text, '\n');
}

/* Places by node id, and users by place: those among the walk's operations, and roots. */
static void count_users(graph_printer *in, const tj_node *const roots[], size_t count) {
  uint32_t *place = TJ_NEW_ARRAY(in->graph->job, uint32_t, in->out.named_count + 1);
  for (uint32_t i = 0; i < in->walk.count; i++) {
    const tj_node *node = in->walk.node[i];
    place[node->id] = i;
    for (unsigned k = 0; k < tj_op_arity(node->op); k++)
      in->users[place[node->arg[k]->id]]++;
  }
  for (size_t i = 0; i < count; i++)
    in->users[place[roots[i]->id]]++;
}

static void define_node(graph_printer *in, const tj_node *node) {
  const char *name = tj_string_format(in->graph->job, "$%u", node->id);
  tj_text_format(in->out.text, "%s = ", name);
  push_node(&in->out, node, LOOSEST);
  write_all(&in->out);
  tj_text_char(in->out.text, '\n');
  in->name[node->id] = name;
}

/* How deep a node is nested below the nearest lines of their own. */
static uint32_t nesting_of(const graph_printer *in, const uint32_t *nesting, const tj_node *node) {
  uint32_t deepest = 0;
  for (unsigned k = 0; k < tj_op_arity(node->op); k++) {
    uint32_t below = in->name[node->arg[k]->id] != NULL ? 0 : nesting[node->arg[k]->id];
    deepest = below > deepest ? below : deepest;
  }
  return deepest + 1;
}

static void define_nodes(graph_printer *in) {
  uint32_t *nesting = TJ_NEW_ARRAY(in->graph->job, uint32_t, in->out.named_count + 1);
  for (uint32_t i = 0; i < in->walk.count; i++) {
    const tj_node *node = in->walk.node[i];
    if (node->op == TJ_OP_SYMBOL)
      declare_symbol(in, i);
    if (tj_op_arity(node->op) == 0)
      continue;
    nesting[node->id] = nesting_of(in, nesting, node);
    if (in->users[i] > 1 || (in->users[i] > 0 && nesting[node->id] > DEEPEST_ON_A_LINE))
      define_node(in, node);
  }
}

void tj_graph_print(tj_text *text, tj_graph *graph, const tj_node *const roots[], size_t count) {
  graph_printer in = {.graph = graph, .walk = tj_walk_with_bounds(graph, roots, count)};
  uint32_t ids = in.walk.count == 0 ? 0 : in.walk.node[in.walk.count - 1]->id + 1;
  in.name = TJ_NEW_ARRAY(graph->job, const char *, ids + 1);
  in.users = TJ_NEW_ARRAY(graph->job, uint32_t, in.walk.count + 1);
  in.out = (printer){.text = text, .limit = SIZE_MAX, .named = in.name, .named_count = ids};
  for (in.claimed_count = 16; in.claimed_count < 2 * in.walk.count;)
    in.claimed_count *= 2;
  in.claimed = TJ_NEW_ARRAY(graph->job, const char *, in.claimed_count);
  count_users(&in, roots, count);
  define_nodes(&in);
  for (size_t i = 0; i < count; i++) {
    tj_text_string(text, "root ");
    push_node(&in.out, roots[i], LOOSEST);
    write_all(&in.out);
    tj_text_char(text, '\n');
  }
}

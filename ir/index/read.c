/* SPDX-License-Identifier: MIT */
/* Reading index expressions: the graph form of docs/ir.md, exactly as print.c writes it, and as people write it.
 *
 * Operations become nodes as they stand, without folding, so that what was printed is read back as the same graph;
 * but they are checked as the constructors check them. Parentheses nest at most DEEPEST deep. */
#include "ir/index/choices.h"
#include "ir/index/print.h"

#include <string.h>

enum { DEEPEST = 256 };

typedef enum { TOKEN_END, TOKEN_INTEGER, TOKEN_NAME, TOKEN_DEFINED, TOKEN_PUNCTUATION } token_kind;

typedef struct {
  token_kind kind;
  const char *text; /* in the source */
  uint32_t length;
  uint64_t value; /* TOKEN_INTEGER */
} token;

typedef struct {
  const char *name;
  const tj_node *node;
} definition;

typedef struct {
  tj_graph *graph;
  tj_job *job;
  const tj_source *source;
  size_t next; /* byte after the token */
  token token;
  int nesting;
  definition *definition; /* symbols and $n */
  size_t definition_count, definition_capacity;
  const tj_node **root;
  size_t root_count, root_capacity;
} reader;

/* --- tokens --- */

static tj_span span_of(const reader *in) {
  uint32_t begin = (uint32_t)(in->token.text - in->source->text);
  return (tj_span){begin, begin + in->token.length};
}

_Noreturn static void fail_at_token(reader *in, const char *expected) {
  if (in->token.kind == TOKEN_END)
    tj_fail_at(in->job, span_of(in), TJ_UNEXPECTED_TOKEN, "%s was expected before the end", expected);
  tj_fail_at(in->job, span_of(in), TJ_UNEXPECTED_TOKEN, "%s was expected, not '%.*s'", expected,
             (int)in->token.length, in->token.text);
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static char byte_at(const reader *in, size_t at) {
  return at < in->source->length ? in->source->text[at] : '\0';
}

static void skip_space(reader *in) {
  for (;; in->next++) {
    char c = byte_at(in, in->next);
    if (c == '#')
      while (in->next < in->source->length && byte_at(in, in->next) != '\n')
        in->next++;
    else if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
      return;
    if (in->next >= in->source->length)
      return;
  }
}

static void read_digits(reader *in) {
  uint64_t value = 0;
  while (is_digit(byte_at(in, in->next))) {
    const uint64_t digit = (uint64_t)(byte_at(in, in->next) - '0');
    if (__builtin_mul_overflow(value, UINT64_C(10), &value) || __builtin_add_overflow(value, digit, &value) ||
        value > (uint64_t)INT64_MAX + 1)
      tj_fail_at(in->job, span_of(in), TJ_UNEXPECTED_TOKEN, "an integer does not fit in 64 bits");
    in->next++;
  }
  in->token.value = value;
}

/* Names may end in .7, which sets apart symbols of one name. */
static void read_name(reader *in) {
  while (is_name_start(byte_at(in, in->next)) || is_digit(byte_at(in, in->next)))
    in->next++;
  if (byte_at(in, in->next) != '.' || !is_digit(byte_at(in, in->next + 1)))
    return;
  in->next++;
  while (is_digit(byte_at(in, in->next)))
    in->next++;
}

static void read_punctuation(reader *in) {
  static const char *const pairs[] = {"..", "<<", ">>", "=="};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (byte_at(in, in->next) == pairs[i][0] && byte_at(in, in->next + 1) == pairs[i][1]) {
      in->next += 2;
      return;
    }
  in->next++;
}

static void advance(reader *in) {
  skip_space(in);
  in->token = (token){TOKEN_END, in->source->text + in->next, 0, 0};
  const size_t begin = in->next;
  const char c = byte_at(in, begin);
  if (begin >= in->source->length)
    return;
  if (is_digit(c)) {
    in->token.kind = TOKEN_INTEGER;
    read_digits(in);
  } else if (is_name_start(c)) {
    in->token.kind = TOKEN_NAME;
    read_name(in);
  } else if (c == '$') {
    in->token.kind = TOKEN_DEFINED;
    in->next++;
    read_digits(in);
  } else {
    in->token.kind = TOKEN_PUNCTUATION;
    read_punctuation(in);
  }
  in->token.length = (uint32_t)(in->next - begin);
}

static bool at(const reader *in, const char *text) {
  return in->token.kind != TOKEN_END && in->token.length == strlen(text) &&
         memcmp(in->token.text, text, in->token.length) == 0;
}

static bool accept(reader *in, const char *text) {
  if (!at(in, text))
    return false;
  advance(in);
  return true;
}

static void expect(reader *in, const char *text) {
  if (!accept(in, text))
    fail_at_token(in, text);
}

/* --- names --- */

static const char *token_text(reader *in) {
  return tj_string_copy(in->job, in->token.text, in->token.length);
}

static void define(reader *in, const char *name, const tj_node *node) {
  if (in->definition_count == in->definition_capacity) {
    size_t capacity = in->definition_capacity == 0 ? 16 : in->definition_capacity * 2;
    definition *larger = TJ_NEW_ARRAY(in->job, definition, capacity);
    if (in->definition_count > 0)
      memcpy(larger, in->definition, in->definition_count * sizeof *larger);
    in->definition = larger;
    in->definition_capacity = capacity;
  }
  in->definition[in->definition_count++] = (definition){name, node};
}

static bool is_token(const reader *in, const char *name) {
  return strncmp(name, in->token.text, in->token.length) == 0 && name[in->token.length] == '\0';
}

/* The newest definition of the name; looking far back is work. */
static const tj_node *look_up(reader *in) {
  for (size_t i = in->definition_count; i-- > 0;)
    if (is_token(in, in->definition[i].name)) {
      tj_spend(in->job, in->definition_count - i);
      advance(in);
      return in->definition[i].node;
    }
  tj_spend(in->job, in->definition_count);
  fail_at_token(in, "a symbol that is declared");
}

/* --- expressions --- */

/* An operand, and whether it ends in a factor that is a literal, outside parentheses: x*4. */
typedef struct {
  const tj_node *node;
  bool is_literal_multiple;
} operand;

static operand read_expression(reader *in, int precedence);

static const tj_node *make(reader *in, tj_op op, const tj_node *a, const tj_node *b, const tj_node *c) {
  const tj_node *args[3] = {a, b, c};
  in->job->here = span_of(in);
  tj_check_operation(in->graph, op, args);
  return tj_node_make(in->graph, op, args);
}

static const tj_node *read_call(reader *in, tj_op op) {
  const tj_node *args[3] = {NULL, NULL, NULL};
  advance(in);
  expect(in, "(");
  for (unsigned i = 0; i < tj_op_arity(op); i++) {
    if (i > 0)
      expect(in, ",");
    args[i] = read_expression(in, 0).node;
  }
  expect(in, ")");
  return make(in, op, args[0], args[1], args[2]);
}

static const tj_node *read_literal(reader *in, bool is_negative) {
  const uint64_t value = in->token.value;
  if (!is_negative && value > INT64_MAX)
    fail_at_token(in, "an integer of 64 bits");
  advance(in);
  return tj_int(in->graph, (int64_t)(is_negative ? 0 - value : value));
}

static const tj_node *read_primary(reader *in) {
  if (in->token.kind == TOKEN_INTEGER)
    return read_literal(in, false);
  if (at(in, "min"))
    return read_call(in, TJ_OP_MIN);
  if (at(in, "max"))
    return read_call(in, TJ_OP_MAX);
  if (at(in, "select"))
    return read_call(in, TJ_OP_SELECT);
  if (in->token.kind == TOKEN_NAME || in->token.kind == TOKEN_DEFINED)
    return look_up(in);
  if (!accept(in, "("))
    fail_at_token(in, "an expression");
  const tj_node *node = read_expression(in, 0).node;
  expect(in, ")");
  return node;
}

static const tj_node *read_unary(reader *in) {
  if (++in->nesting > DEEPEST)
    tj_fail_at(in->job, span_of(in), TJ_DEPTH_LIMIT, "more than %d levels of parentheses", DEEPEST);
  const tj_node *node;
  if (!accept(in, "-"))
    node = read_primary(in);
  else if (in->token.kind == TOKEN_INTEGER)
    node = read_literal(in, true);
  else
    node = make(in, TJ_OP_MUL, tj_int(in->graph, -1), read_unary(in), NULL);
  in->nesting--;
  return node;
}

typedef struct {
  const char *text;
  tj_op op;
  int precedence;
} infix;

enum { SUM = 7, PRODUCT = 8 };

static const infix *infix_at(const reader *in) {
  static const infix operators[] = {{"|", TJ_OP_OR, 1},        {"^", TJ_OP_XOR, 2},       {"&", TJ_OP_AND, 3},
                                    {"==", TJ_OP_EQUAL, 4},    {"<", TJ_OP_LESS, 5},      {"<<", TJ_OP_SHL, 6},
                                    {">>", TJ_OP_SHR, 6},      {"+", TJ_OP_ADD, SUM},     {"-", TJ_OP_COUNT, SUM},
                                    {"*", TJ_OP_MUL, PRODUCT}, {"/", TJ_OP_DIV, PRODUCT}, {"%", TJ_OP_MOD, PRODUCT}};
  if (in->token.kind != TOKEN_PUNCTUATION)
    return NULL;
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (at(in, operators[i].text))
      return &operators[i];
  return NULL;
}

/* a - 5 is a + -5, a - x*5 is a + x*-5, and any other a - b is a + -1*b. */
static const tj_node *subtract(reader *in, const tj_node *a, operand b) {
  tj_graph *graph = in->graph;
  if (tj_is_constant(b.node) && b.is_literal_multiple && b.node->value > INT64_MIN)
    return make(in, TJ_OP_ADD, a, tj_int(graph, -b.node->value), NULL);
  if (b.is_literal_multiple && b.node->op == TJ_OP_MUL && b.node->arg[1]->value > INT64_MIN)
    return make(in, TJ_OP_ADD, a, make(in, TJ_OP_MUL, b.node->arg[0], tj_int(graph, -b.node->arg[1]->value), NULL),
                NULL);
  return make(in, TJ_OP_ADD, a, make(in, TJ_OP_MUL, tj_int(graph, -1), b.node, NULL), NULL);
}

static operand read_expression(reader *in, int precedence) {
  bool is_literal = in->token.kind == TOKEN_INTEGER;
  operand left = {read_unary(in), is_literal};
  for (const infix *next = infix_at(in); next != NULL && next->precedence >= precedence; next = infix_at(in)) {
    advance(in);
    is_literal = in->token.kind == TOKEN_INTEGER;
    const operand right = read_expression(in, next->precedence + 1);
    if (next->op == TJ_OP_COUNT)
      left.node = subtract(in, left.node, right);
    else
      left.node = make(in, next->op, left.node, right.node, NULL);
    left.is_literal_multiple = next->op == TJ_OP_MUL && is_literal && tj_is_constant(right.node);
  }
  return left;
}

/* --- items --- */

/* What the symbol is a multiple of: a constant, an expression, or one after the other. */
static void read_multiples(reader *in, tj_symbol *declared) {
  declared->multiple = 1;
  if (!accept(in, "multiple"))
    return;
  declared->divisor = read_expression(in, 0).node;
  if (!tj_is_constant(declared->divisor))
    return;
  declared->multiple = declared->divisor->value;
  declared->divisor = accept(in, "multiple") ? read_expression(in, 0).node : NULL;
}

/* The few values that a symbol may have, ascending: among 64 128. */
static void read_choices(reader *in, tj_symbol *declared) {
  if (!accept(in, "among"))
    return;
  int64_t *choice = TJ_NEW_ARRAY(in->job, int64_t, TJ_MOST_CASES);
  while (in->token.kind == TOKEN_INTEGER || at(in, "-")) {
    const tj_node *value = read_unary(in);
    uint32_t count = declared->choice_count;
    if (!tj_is_constant(value) || count == TJ_MOST_CASES || (count > 0 && value->value <= choice[count - 1]))
      fail_at_token(in, "values that ascend");
    choice[declared->choice_count++] = value->value;
  }
  if (declared->choice_count == 0)
    fail_at_token(in, "a value");
  declared->choice = choice;
}

static bool at_definition(const reader *in) {
  reader ahead = *in;
  if (in->token.kind != TOKEN_DEFINED)
    return false;
  advance(&ahead);
  return at(&ahead, "=");
}

/* Whether a declaration goes on with something else than its last bound, or ends. */
static bool lacks_high_bound(const reader *in) {
  static const char *const next[] = {",", ";", "multiple", "among", "root", "param", "coordinate"};
  for (size_t i = 0; i < sizeof next / sizeof *next; i++)
    if (at(in, next[i]))
      return true;
  return in->token.kind == TOKEN_END || at_definition(in);
}

static void read_declaration(reader *in, tj_symbol_kind kind) {
  tj_symbol declared = {.kind = kind};
  if (in->token.kind != TOKEN_NAME)
    fail_at_token(in, "a name");
  declared.name = token_text(in);
  advance(in);
  if (accept(in, "in")) {
    declared.low = at(in, "..") ? NULL : read_expression(in, 0).node;
    expect(in, "..");
    declared.high = lacks_high_bound(in) ? NULL : read_expression(in, 0).node;
  }
  in->job->here = span_of(in);
  read_multiples(in, &declared);
  read_choices(in, &declared);
  define(in, declared.name, tj_symbol_declare(in->graph, declared));
}

static void read_declarations(reader *in, tj_symbol_kind kind) {
  advance(in);
  read_declaration(in, kind);
  while (accept(in, ","))
    read_declaration(in, kind);
}

static void read_definition(reader *in) {
  const char *name = token_text(in);
  advance(in);
  expect(in, "=");
  define(in, name, read_expression(in, 0).node);
}

static void add_root(reader *in, const tj_node *node) {
  if (in->root_count == in->root_capacity) {
    size_t capacity = in->root_capacity == 0 ? 8 : in->root_capacity * 2;
    const tj_node **larger = TJ_NEW_ARRAY(in->job, const tj_node *, capacity);
    if (in->root_count > 0)
      memcpy(larger, in->root, in->root_count * sizeof *larger);
    in->root = larger;
    in->root_capacity = capacity;
  }
  in->root[in->root_count++] = node;
}

static void read_item(reader *in) {
  if (at(in, "param"))
    read_declarations(in, TJ_SYMBOL_PARAMETER);
  else if (at(in, "coordinate"))
    read_declarations(in, TJ_SYMBOL_COORDINATE);
  else if (in->token.kind == TOKEN_DEFINED)
    read_definition(in);
  else if (accept(in, "root"))
    add_root(in, read_expression(in, 0).node);
  else
    fail_at_token(in, "param, coordinate, root or a definition");
  accept(in, ";");
}

size_t tj_graph_read(tj_graph *graph, const tj_source *source, const tj_node ***roots) {
  reader in = {.graph = graph, .job = graph->job, .source = source};
  for (advance(&in); in.token.kind != TOKEN_END;)
    read_item(&in);
  *roots = in.root;
  return in.root_count;
}

/* SPDX-License-Identifier: MIT */
/* Random programs: what is printed parses back to the same AST, and a changed AST compares as different.
 *
 * The generator builds only what can be written: an operand never holds a looser operator than its place allows, as
 * parentheses are tuples of one. The seed is printed; TILEJIT_SEED sets it. */
#include "frontend/text/lexer.h"
#include "tests/unit/support/ast_support.h"

#include <inttypes.h>
#include <stdio.h>

enum { PROGRAMS = 20000, APPLICATION = 11, UNARY = 9, ADDITIVE = 7, LOOSEST = 1 };

typedef struct {
  tj_job *job;
  uint64_t state;
} generator;

/* A number below `bound`, by xorshift. */
static uint32_t random_below(generator *g, uint32_t bound) {
  g->state ^= g->state << 13;
  g->state ^= g->state >> 7;
  g->state ^= g->state << 17;
  return (uint32_t)((g->state >> 11) % bound);
}

static const tj_ast *random_expression(generator *g, int loosest, bool shifts, uint32_t depth);

static tj_ast *new_ast(generator *g, tj_ast_kind kind, uint32_t count) {
  tj_ast *ast = TJ_NEW(g->job, tj_ast);
  ast->kind = kind;
  ast->count = count;
  ast->item = TJ_NEW_ARRAY(g->job, const tj_ast *, count + 1);
  return ast;
}

static void set_item(tj_ast *ast, uint32_t i, const tj_ast *item) {
  ((const tj_ast **)(uintptr_t)ast->item)[i] = item;
}

static const char *random_name(generator *g) {
  static const char *const known[] = {"M", "in", "multiple", "oo", "_a", "__", "Sw3", "x0", "f32"};
  if (random_below(g, 2) == 0)
    return known[random_below(g, sizeof known / sizeof *known)];
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  char name[8] = {0};
  uint32_t length = 1 + random_below(g, sizeof name - 1);
  for (uint32_t i = 0; i < length; i++)
    name[i] = letters[random_below(g, i == 0 ? 52 : 63)];
  return tj_is_reserved(name) ? "P" : tj_string_copy(g->job, name, length);
}

static const tj_ast *random_integer(generator *g) {
  tj_ast *ast = new_ast(g, TJ_AST_INTEGER, 0);
  uint32_t magnitude = random_below(g, 64);
  ast->integer =
      (int64_t)(((uint64_t)random_below(g, UINT32_MAX) << 32 | random_below(g, UINT32_MAX)) >> 1) >> magnitude;
  return ast;
}

static const tj_ast *random_decimal(generator *g) {
  tj_ast *ast = new_ast(g, TJ_AST_DECIMAL, 0);
  ast->name = tj_string_format(g->job, "%" PRIu32 ".%" PRIu32 "%s", random_below(g, 100), random_below(g, 1000),
                               random_below(g, 2) == 0 ? "" : "e-7");
  return ast;
}

static const tj_ast *random_leaf(generator *g) {
  uint32_t choice = random_below(g, 9);
  if (choice == 8)
    return random_decimal(g);
  if (choice < 5)
    return random_integer(g);
  tj_ast *ast = new_ast(g, choice < 7 ? TJ_AST_NAME : TJ_AST_UNDERSCORE, 0);
  if (ast->kind == TJ_AST_NAME)
    ast->name = random_name(g);
  return ast;
}

static tj_ast *random_group(generator *g, tj_ast_kind kind, uint32_t least, uint32_t depth) {
  bool tiler = kind == TJ_AST_TILER, swizzle = kind == TJ_AST_SWIZZLE;
  tj_ast *ast = new_ast(g, kind, swizzle ? 3 : least + random_below(g, 4));
  for (uint32_t i = 0; i < ast->count; i++)
    set_item(ast, i, random_expression(g, swizzle ? ADDITIVE : LOOSEST, !tiler && !swizzle, depth));
  return ast;
}

/* An expression in parentheses; operators only, as the parser takes (4) and (M) for tuples. */
static const tj_ast *random_parentheses(generator *g, uint32_t depth) {
  const tj_ast *inside = random_expression(g, LOOSEST, true, depth);
  tj_ast *ast = new_ast(g, tj_ast_is_bare(inside) ? TJ_AST_TUPLE : TJ_AST_GROUP, 1);
  set_item(ast, 0, inside);
  return ast;
}

static const tj_ast *random_named(generator *g, const tj_ast *value) {
  tj_ast *named = new_ast(g, TJ_AST_NAMED, 1);
  named->name = random_name(g);
  set_item(named, 0, value);
  return named;
}

static const tj_ast *random_argument(generator *g, uint32_t depth) {
  const tj_ast *value = random_expression(g, LOOSEST, true, depth);
  return random_below(g, 4) == 0 ? random_named(g, value) : value;
}

static const tj_ast *random_application(generator *g, uint32_t depth) {
  static const tj_ast_kind groups[] = {TJ_AST_TUPLE, TJ_AST_SWIZZLE};
  const tj_ast *applied;
  uint32_t choice = random_below(g, 7);
  if (choice == 6) {
    applied = random_parentheses(g, depth);
  } else if (choice < 2) {
    applied = random_group(g, groups[choice], 0, depth);
  } else if (choice == 2) {
    applied = random_application(g, depth);
  } else {
    tj_ast *name = new_ast(g, TJ_AST_NAME, 0);
    name->name = random_name(g);
    applied = name;
  }
  tj_ast *ast = new_ast(g, TJ_AST_APPLY, 1 + random_below(g, 4));
  set_item(ast, 0, applied);
  for (uint32_t i = 1; i < ast->count; i++)
    set_item(ast, i, random_argument(g, depth));
  return ast;
}

static const tj_ast *random_operand(generator *g, uint32_t depth) {
  if (depth == 0)
    return random_leaf(g);
  switch (random_below(g, 9)) {
  case 8:
    return random_parentheses(g, depth - 1);
  case 0:
  case 1:
    return random_group(g, TJ_AST_TUPLE, 0, depth - 1);
  case 2:
    return random_group(g, TJ_AST_LIST, 0, depth - 1);
  case 3:
    return random_group(g, TJ_AST_TILER, 1, depth - 1);
  case 4:
    return random_group(g, TJ_AST_SWIZZLE, 3, depth - 1);
  case 5:
    return random_application(g, depth - 1);
  default:
    return random_leaf(g);
  }
}

static const tj_ast *random_negation(generator *g, bool shifts, uint32_t depth) {
  if (random_below(g, 10) == 0) {
    tj_ast *least = new_ast(g, TJ_AST_INTEGER, 0);
    least->integer = INT64_MIN;
    return least;
  }
  tj_ast *ast = new_ast(g, TJ_AST_NEGATE, 1);
  set_item(ast, 0, random_expression(g, UNARY, shifts, depth));
  return ast;
}

static const tj_operator operators[] = {
#define OPERATOR(name, text, precedence) TJ_OPERATOR_##name,
    TJ_OPERATORS(OPERATOR)
#undef OPERATOR
};

static const tj_ast *random_binary(generator *g, tj_operator op, bool shifts, uint32_t depth) {
  tj_ast *ast = new_ast(g, TJ_AST_BINARY, 2);
  int precedence = tj_operator_precedence(op);
  ast->op = op;
  set_item(ast, 0, random_expression(g, precedence, shifts, depth));
  set_item(ast, 1, random_expression(g, precedence + 1, shifts, depth));
  return ast;
}

/* An expression that can stand where operators bind at least as tightly as `loosest`. */
static const tj_ast *random_expression(generator *g, int loosest, bool shifts, uint32_t depth) {
  if (depth == 0 || random_below(g, 3) == 0)
    return random_operand(g, depth);
  if (loosest <= UNARY && random_below(g, 8) == 0)
    return random_negation(g, shifts, depth - 1);
  tj_operator op = operators[random_below(g, sizeof operators / sizeof *operators)];
  bool shift = op == TJ_OPERATOR_SHL || op == TJ_OPERATOR_SHR;
  if (tj_operator_precedence(op) < loosest || (shift && !shifts))
    return random_operand(g, depth);
  return random_binary(g, op, shifts, depth - 1);
}

enum { EXPRESSION_DEPTH = 6 };

static const tj_ast *random_top(generator *g) {
  return random_expression(g, LOOSEST, true, random_below(g, EXPRESSION_DEPTH));
}

static void random_parameter(generator *g, tj_item *item) {
  if (random_below(g, 2) == 0) {
    item->low = random_top(g);
    item->high = random_top(g);
  }
  if (random_below(g, 2) == 0)
    item->multiple = random_top(g);
}

static void random_function(generator *g, tj_item *item) {
  item->parameter_count = 1 + random_below(g, 3);
  tj_ast_parameter *parameters = TJ_NEW_ARRAY(g->job, tj_ast_parameter, item->parameter_count);
  for (uint32_t i = 0; i < item->parameter_count; i++) {
    parameters[i].name = tj_string_format(g->job, "%s_%u", random_name(g), i);
    parameters[i].value = random_below(g, 2) == 0 ? random_top(g) : NULL;
  }
  item->parameter = parameters;
}

/* In the place of a body. */
static void random_statements(generator *g, tj_item *item) {
  item->statement_count = random_below(g, 4);
  tj_ast_statement *statements = TJ_NEW_ARRAY(g->job, tj_ast_statement, item->statement_count + 1);
  for (uint32_t i = 0; i < item->statement_count; i++)
    statements[i] = (tj_ast_statement){.is_let = random_below(g, 2) == 0,
                                       .name = random_name(g),
                                       .value = random_top(g),
                                       .option = random_below(g, 2) == 0 ? random_named(g, random_top(g)) : NULL};
  item->statement = statements;
  item->body = NULL;
  item->mapping = random_below(g, 2) == 0 ? random_top(g) : NULL;
}

static void random_kernel(generator *g, tj_item *item) {
  item->argument_count = 1 + random_below(g, 3);
  tj_ast_argument *arguments = TJ_NEW_ARRAY(g->job, tj_ast_argument, item->argument_count);
  for (uint32_t i = 0; i < item->argument_count; i++)
    arguments[i] = (tj_ast_argument){.name = random_name(g), .dtype = random_name(g), .view = random_top(g)};
  item->argument = arguments;
  if (random_below(g, 2) == 0)
    random_statements(g, item);
}

static const tj_program_ast *random_program(generator *g) {
  tj_program_ast *program = TJ_NEW(g->job, tj_program_ast);
  program->item_count = random_below(g, 4);
  tj_item *items = TJ_NEW_ARRAY(g->job, tj_item, program->item_count + 1);
  for (uint32_t i = 0; i < program->item_count; i++) {
    items[i].kind = (tj_item_kind)random_below(g, TJ_ITEM_IMPORT + 1);
    items[i].name = random_name(g);
    if (items[i].kind == TJ_ITEM_PARAM)
      random_parameter(g, &items[i]);
    else if (items[i].kind != TJ_ITEM_IMPORT)
      items[i].body = random_top(g);
    if (items[i].kind == TJ_ITEM_FUNCTION)
      random_function(g, &items[i]);
    if (items[i].kind == TJ_ITEM_KERNEL)
      random_kernel(g, &items[i]);
  }
  program->item = items;
  program->value = random_below(g, 4) == 0 ? NULL : random_top(g);
  return program;
}

/* A copy of the expression in which one node on the way down differs. */
static const tj_ast *changed(generator *g, const tj_ast *ast) {
  tj_ast *copy = TJ_NEW(g->job, tj_ast);
  *copy = *ast;
  if (ast->count != 0 && random_below(g, 3) != 0) {
    uint32_t i = random_below(g, ast->count);
    copy->item = tj_arena_copy(&g->job->arena, ast->item, ast->count * sizeof *ast->item);
    set_item(copy, i, changed(g, ast->item[i]));
  } else if (ast->kind == TJ_AST_INTEGER) {
    copy->integer ^= 1;
  } else if (ast->kind == TJ_AST_DECIMAL) {
    copy->name = tj_string_format(g->job, "%s0", ast->name);
  } else if (ast->kind == TJ_AST_NAME || ast->kind == TJ_AST_NAMED) {
    copy->name = tj_string_format(g->job, "%sx", ast->name);
  } else if (ast->kind == TJ_AST_BINARY) {
    copy->op = ast->op == TJ_OPERATOR_ADD ? TJ_OPERATOR_SUB : TJ_OPERATOR_ADD;
  } else {
    copy->kind = ast->kind == TJ_AST_LIST ? TJ_AST_TUPLE : TJ_AST_LIST;
  }
  return copy;
}

static void check_one(tj_job *job, void *data) {
  uint64_t seed = *(const uint64_t *)data;
  generator g = {job, seed * 0x9e3779b97f4a7c15u | 1};
  const tj_program_ast *program = random_program(&g);
  tj_text text = tj_text_begin(job);
  tj_ast_print(&text, program);
  tj_parsing parsing = {text.data, text.length, NULL};
  parse_body(job, &parsing);
  ck_assert_msg(tj_ast_equal(program, parsing.program), "seed %" PRIu64 ": %s", seed, text.data);
  if (program->value == NULL)
    return;
  tj_program_ast different = *program;
  different.value = changed(&g, program->value);
  ck_assert_msg(!tj_ast_equal(&different, parsing.program), "seed %" PRIu64 ": %s", seed, text.data);
}

START_TEST(printed_programs_parse_back) {
  const char *chosen = getenv("TILEJIT_SEED");
  uint64_t first = chosen != NULL ? strtoull(chosen, NULL, 10) : 1;
  printf("seeds from %" PRIu64 " (TILEJIT_SEED)\n", first);
  for (uint64_t i = 0; i < PROGRAMS; i++) {
    uint64_t seed = first + i;
    tj_job job;
    tj_job_init(&job, NULL);
    if (tj_job_run(&job, check_one, &seed) != TJ_OK)
      ck_abort_msg("seed %" PRIu64 ": %s in %.*s", seed, job.problem.message, (int)job.source.length,
                   job.source.text);
    tj_job_destroy(&job);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {printed_programs_parse_back};
  return run_suite(suite_of("ast_round_trip", tests, sizeof tests / sizeof *tests));
}

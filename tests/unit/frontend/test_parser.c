/* SPDX-License-Identifier: MIT */
/* The grammar: structure, spans, messages for what it does not allow, and limits. */
#include "tests/unit/support/ast_support.h"

#include <stdio.h>

START_TEST(expressions_have_this_structure) {
  static const struct {
    const char *text, *dump;
  } cases[] = {
      {"42", "42"},
      {"_42", "42"},
      {"0x2a", "42"},
      {"-0.5+1.5e3", "(+ (neg 0.5) 1.5e3)"},
      {"M", "M"},
      {"_", "_"},
      {"()", "(tuple)"},
      {"(1)", "(tuple 1)"},
      {"((1,2),3)", "(tuple (tuple 1 2) 3)"},
      {"[]", "(list)"},
      {"[1,[2]]", "(list 1 (list 2))"},
      /* precedence */
      {"1+2*3", "(+ 1 (* 2 3))"},
      {"1*2+3", "(+ (* 1 2) 3)"},
      {"1-2-3", "(- (- 1 2) 3)"},
      {"8/4/2%3", "(% (/ (/ 8 4) 2) 3)"},
      {"1<<2+3", "(<< 1 (+ 2 3))"},
      {"a>>1<<2", "(<< (>> a 1) 2)"},
      {"a|b^c&d<<1", "(| a (^ b (& c (<< d 1))))"},
      {"a&b^c|d", "(| (^ (& a b) c) d)"},
      {"(4,8):(8,1)", "(: (tuple 4 8) (tuple 8 1))"},
      {"M*2:N|1", "(: (* M 2) (| N 1))"},
      {"A o B o C", "(o (o A B) C)"},
      {"4:1 o 2:1", "(o (: 4 1) (: 2 1))"},
      {"Sw<3,4,3> o 0 o (8,64):(64,1)", "(o (o (swizzle 3 4 3) 0) (: (tuple 8 64) (tuple 64 1)))"},
      {"1@0", "(@ 1 0)"},
      {"2@1@0", "(@ (@ 2 1) 0)"},
      {"-1@0", "(neg (@ 1 0))"},
      {"2*1@0", "(* 2 (@ 1 0))"},
      {"(3,(2,3)):(1@0,(1@0@1,1@1@1))",
       "(: (tuple 3 (tuple 2 3)) (tuple (@ 1 0) (tuple (@ (@ 1 0) 1) (@ (@ 1 1) 1))))"},
      /* minus */
      {"-1", "(neg 1)"},
      {"--1", "(neg (neg 1))"},
      {"-a*b", "(* (neg a) b)"},
      {"a*-b", "(* a (neg b))"},
      {"a - -b", "(- a (neg b))"},
      {"4:-1", "(: 4 (neg 1))"},
      {"_-1", "(neg 1)"},
      {"4:_-1", "(: 4 (neg 1))"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"1 - 9223372036854775807", "(- 1 9223372036854775807)"},
      /* parentheses: tuples of one, and groups */
      {"(4)", "(tuple 4)"},
      {"(-4)", "(tuple (neg 4))"},
      {"(1@0)", "(tuple (@ 1 0))"},
      {"(-1@0@1)", "(tuple (neg (@ (@ 1 0) 1)))"},
      {"(M)", "(tuple M)"},
      {"(_)", "(tuple _)"},
      {"((4))", "(tuple (tuple 4))"},
      {"((4,8))", "(tuple (tuple 4 8))"},
      {"(M+1)", "(group (+ M 1))"},
      {"((M+1))", "(group (group (+ M 1)))"},
      {"(-M)", "(group (neg M))"},
      {"(M@0)", "(group (@ M 0))"},
      {"(f(1))", "(group (apply f 1))"},
      {"(M+1,)", "(tuple (+ M 1))"},
      {"(4,)", "(tuple 4)"},
      {"((M+1),)", "(tuple (group (+ M 1)))"},
      {"((M+1,),8)", "(tuple (tuple (+ M 1)) 8)"},
      {"((M+1),8)", "(tuple (group (+ M 1)) 8)"},
      {"(M+1)*2", "(* (group (+ M 1)) 2)"},
      /* application */
      {"f()", "(apply f)"},
      {"f(1, 2)", "(apply f 1 2)"},
      {"L(_, j)", "(apply L _ j)"},
      {"f(1)(2)", "(apply (apply f 1) 2)"},
      {"(4:1)(2)", "(apply (group (: 4 1)) 2)"},
      {"Sw<1,0,3>(8)", "(apply (swizzle 1 0 3) 8)"},
      {"-f(1)", "(neg (apply f 1))"},
      {"A o B(1)", "(o A (apply B 1))"},
      {"packed((3,4), offset=3)", "(apply packed (tuple 3 4) (named offset 3))"},
      {"f(in=1, multiple=2:3)", "(apply f (named in 1) (named multiple (: 2 3)))"},
      {"transform(V, [merge((4,5))], [[0,1]], [[0]])",
       "(apply transform V (list (apply merge (tuple 4 5))) (list (list 0 1)) (list (list 0)))"},
      {"in + multiple", "(+ in multiple)"},
      /* tilers */
      {"<4:1>", "(tiler (: 4 1))"},
      {"<4:1, 2:1>", "(tiler (: 4 1) (: 2 1))"},
      {"<4:1, <2:1, 2:1>>", "(tiler (: 4 1) (tiler (: 2 1) (: 2 1)))"},
      {"<<4:1>, 2:1>", "(tiler (tiler (: 4 1)) (: 2 1))"},
      {"<<<4>>>", "(tiler (tiler (tiler 4)))"},
      {"<(1<<2):1>", "(tiler (: (group (<< 1 2)) 1))"},
      {"<f(8>>1)>", "(tiler (apply f (>> 8 1)))"},
      {"<Sw<1,0,3> o 0 o 4:1>", "(tiler (o (o (swizzle 1 0 3) 0) (: 4 1)))"},
      {"<Sw<1,0,-3>>", "(tiler (swizzle 1 0 (neg 3)))"},
      {"logical_divide(A, <2:1, 4:1>)", "(apply logical_divide A (tiler (: 2 1) (: 4 1)))"},
      {"a << <4>", "(<< a (tiler 4))"},
      {"Sw<1+1, M*2, -S>", "(swizzle (+ 1 1) (* M 2) (neg S))"},
      {"Sw<(1<<2),0,4>", "(swizzle (group (<< 1 2)) 0 4)"},
      {"4 # four\n:\t1;", "(: 4 1)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    const tj_program_ast *program = parse_text(&job, cases[i].text);
    ck_assert_uint_eq(program->item_count, 0);
    tj_text text = tj_text_begin(&job);
    dump(&text, program->value);
    ck_assert_str_eq(text.data, cases[i].dump);
    tj_job_destroy(&job);
  }
}
END_TEST

START_TEST(programs_print_like_this) {
  static const struct {
    const char *text, *printed;
  } cases[] = {
      {"", ""},
      {"# nothing\n", ""},
      {"1", "1\n"},
      {"1;", "1\n"},
      {"let A=4:1", "let A = 4:1;\n"},
      {"let A = 4:1 let B = A o A; A", "let A = 4:1;\nlet B = A o A;\nA\n"},
      {"param M in 1..65536 multiple 64, N in 1..M*2, K multiple 8, P ; M",
       "param M in 1..65536 multiple 64;\nparam N in 1..M * 2;\nparam K multiple 8;\nparam P;\nM\n"},
      {"param in in -1..1;in", "param in in -1..1;\nin\n"},
      {"param multiple multiple 2", "param multiple multiple 2;\n"},
      {"param i in 0..9; (i*4)/2", "param i in 0..9;\n(i * 4) / 2\n"},
      {"kernel t(src:f32@A,dst:f32 @ (4,8):(8,1)) = copy(src,dst, fill=-1)",
       "kernel t(src: f32 @ A, dst: f32 @ (4,8):(8,1)) = copy(src, dst, fill=-1);\n"},
      {"kernel k(in: i8 @ A o B) = offsets(in, A) let B = 1; ",
       "kernel k(in: i8 @ A o B) = offsets(in, A);\nlet B = 1;\n"},
      {"((2,4), 8):((1,16),2)", "((2,4),8):((1,16),2)\n"},
      {"[ 1,2 ];", "[1, 2]\n"},
      {"<<4:1>,2:1>", "<<4:1>, 2:1>\n"},
      {"Sw<3 , 4,-3>o 0 o 8:1", "Sw<3,4,-3> o 0 o 8:1\n"},
      {"_-3@0 + _7", "-3@0 + 7\n"},
      {"-9223372036854775808@1", "-9223372036854775808@1\n"},
      {"let A = f\n(1)", "let A = f(1);\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    tj_text text = tj_text_begin(&job);
    tj_ast_print(&text, parse_text(&job, cases[i].text));
    ck_assert_str_eq(text.data, cases[i].printed);
    tj_job_destroy(&job);
  }
}
END_TEST

/* The spans of the value and of its items, where it has any. */
START_TEST(spans_cover_constructs) {
  static const struct {
    const char *text;
    tj_span value, first, second;
  } cases[] = {
      {" 42 ", {1, 3}, {0, 0}, {0, 0}},      {" (1 , 22) ", {1, 9}, {2, 3}, {6, 8}},
      {"a + b*c ", {0, 7}, {0, 1}, {4, 7}},  {"- a@0 ", {0, 5}, {2, 5}, {0, 0}},
      {"_-1", {0, 3}, {2, 3}, {0, 0}},       {"f ( x , 1 )", {0, 11}, {0, 1}, {4, 5}},
      {"f(a = 1)", {0, 8}, {0, 1}, {2, 7}},  {"Sw <1, 0, 3 > ", {0, 13}, {4, 5}, {7, 8}},
      {"< 4:1, 2>", {0, 9}, {2, 5}, {7, 8}}, {"- 9223372036854775808 ", {0, 21}, {0, 0}, {0, 0}},
      {"[1,2]#3", {0, 5}, {1, 2}, {3, 4}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    const tj_ast *value = parse_text(&job, cases[i].text)->value;
    const tj_span spans[] = {value->span, value->count > 0 ? value->item[0]->span : (tj_span){0, 0},
                             value->count > 1 ? value->item[1]->span : (tj_span){0, 0}};
    const tj_span expected[] = {cases[i].value, cases[i].first, cases[i].second};
    for (int k = 0; k < 3; k++)
      ck_assert_msg(spans[k].begin == expected[k].begin && spans[k].end == expected[k].end, "'%s': %d: %u..%u",
                    cases[i].text, k, spans[k].begin, spans[k].end);
    tj_job_destroy(&job);
  }
}
END_TEST

static void check_span(tj_span span, const char *text, const char *covered) {
  size_t length = span.end - span.begin;
  ck_assert_msg(length == strlen(covered) && memcmp(text + span.begin, covered, length) == 0, "'%.*s', not '%s'",
                (int)length, text + span.begin, covered);
}

START_TEST(items_have_spans) {
  static const char text[] = "param M in 1..4 multiple 2, N ; let A = 4:1 kernel k(s: f32 @ A, d: b8 @ B) = f(s);";
  tj_job job;
  tj_job_init(&job, NULL);
  const tj_program_ast *program = parse_text(&job, text);
  ck_assert_uint_eq(program->item_count, 4);
  ck_assert_ptr_null(program->value);
  static const struct {
    tj_item_kind kind;
    const char *span, *name;
  } expected[] = {
      {TJ_ITEM_PARAM, "param M in 1..4 multiple 2", "M"},
      {TJ_ITEM_PARAM, "N", "N"},
      {TJ_ITEM_LET, "let A = 4:1", "A"},
      {TJ_ITEM_KERNEL, "kernel k(s: f32 @ A, d: b8 @ B) = f(s)", "k"},
  };
  for (uint32_t i = 0; i < 4; i++) {
    ck_assert_int_eq(program->item[i].kind, expected[i].kind);
    ck_assert_str_eq(program->item[i].name, expected[i].name);
    check_span(program->item[i].span, text, expected[i].span);
    check_span(program->item[i].name_span, text, expected[i].name);
  }
  const tj_item *kernel = &program->item[3];
  ck_assert_uint_eq(kernel->argument_count, 2);
  check_span(kernel->argument[1].span, text, "d: b8 @ B");
  check_span(kernel->argument[1].dtype_span, text, "b8");
  ck_assert_str_eq(kernel->argument[1].name, "d");
  ck_assert_str_eq(kernel->argument[1].dtype, "b8");
  ck_assert_ptr_null(program->item[1].low);
  ck_assert_ptr_null(program->item[1].multiple);
  tj_job_destroy(&job);
}
END_TEST

START_TEST(what_the_grammar_refuses) {
  static const struct {
    const char *text;
    tj_problem_code code;
    uint32_t begin, end;
    const char *message, *note; /* NULL: not looked at */
  } cases[] = {
      {"(1,2,)", TJ_UNEXPECTED_TOKEN, 5, 6, "expected an expression after ',', found ')'",
       "only a tuple of one ends in a comma, as in (x,): remove the comma, or add what should follow it"},
      {"[1,]", TJ_UNEXPECTED_TOKEN, 3, 4, NULL, NULL},
      {"<4:1,>", TJ_UNEXPECTED_TOKEN, 5, 6, NULL, NULL},
      {"f(1,)", TJ_UNEXPECTED_TOKEN, 4, 5, NULL, NULL},
      {"(,1)", TJ_UNEXPECTED_TOKEN, 1, 2, "expected an expression after '(', found ','", NULL},
      {"(1", TJ_UNEXPECTED_END, 2, 2, "end of text: expected ',' or ')' to close the '(' at 1:1", NULL},
      {"(1 # c\n\n", TJ_UNEXPECTED_END, 2, 2, NULL, NULL},
      {"\n f(1;", TJ_UNEXPECTED_TOKEN, 5, 6, "expected ',' or ')' to close the '(' at 2:3, found ';'", NULL},
      {"(1]", TJ_UNEXPECTED_TOKEN, 2, 3, "expected ',' or ')' to close the '(' at 1:1, found ']'", NULL},
      {"[1)", TJ_UNEXPECTED_TOKEN, 2, 3, "expected ',' or ']' to close the '[' at 1:1, found ')'", NULL},
      {"<1)", TJ_UNEXPECTED_TOKEN, 2, 3, "expected ',' or '>' to close the '<' at 1:1, found ')'", NULL},
      {"1)", TJ_UNEXPECTED_TOKEN, 1, 2, "expected an operator or the end, found ')'",
       "no bracket is open here: remove the ')'"},
      {"let A = 1]", TJ_UNEXPECTED_TOKEN, 9, 10, "expected an operator, ';', an item or the end, found ']'", NULL},
      {"1 +", TJ_UNEXPECTED_END, 3, 3, "end of text: expected an expression after '+'", NULL},
      {"1 + * 2", TJ_UNEXPECTED_TOKEN, 4, 5, "expected an expression after '+', found '*'", NULL},
      {"* 2", TJ_UNEXPECTED_TOKEN, 0, 1, "expected an item or an expression, found '*'", NULL},
      {";", TJ_UNEXPECTED_TOKEN, 0, 1, "expected an item or an expression, found ';'", NULL},
      {"1 2", TJ_UNEXPECTED_TOKEN, 2, 3, "expected an operator or the end, found '2'",
       "an operator is missing, or a ; and let before the name of a definition"},
      {"4(1)", TJ_UNEXPECTED_TOKEN, 1, 2, NULL,
       "an integer cannot be applied; multiply with *; a layout that is applied stands in parentheses, as in "
       "(4:1)(2)"},
      {"1; 2", TJ_UNEXPECTED_TOKEN, 3, 4, NULL, NULL},
      {"1; let A = 2", TJ_UNEXPECTED_TOKEN, 3, 6, "expected an operator or the end, found the keyword 'let'",
       "a bare expression comes last; put the items before it"},
      {"1, 2", TJ_UNEXPECTED_TOKEN, 1, 2, NULL, "a tuple stands in parentheses, as in (4,8)"},
      {"let A = 4:1 A", TJ_UNEXPECTED_TOKEN, 12, 13, "expected an operator, ';', an item or the end, found 'A'",
       "put a ; before the program's last expression"},
      {"param M in 1..4 M", TJ_UNEXPECTED_TOKEN, 16, 17, NULL, "put a ; before the program's last expression"},
      {"1 = 4", TJ_UNEXPECTED_TOKEN, 2, 3, NULL, "a definition begins with let, as in let A = (4,8):(8,1)"},
      {"let = 4", TJ_UNEXPECTED_TOKEN, 4, 5, "expected a name after let, found '='", NULL},
      {"let o = 4", TJ_UNEXPECTED_TOKEN, 4, 5, "expected a name after let, found the keyword 'o'",
       "o composes two layouts, as in A o B, and cannot be a name"},
      {"let Sw = 4", TJ_UNEXPECTED_TOKEN, 4, 6, NULL, NULL},
      {"let let = 4", TJ_UNEXPECTED_TOKEN, 4, 7, NULL,
       "param, let, kernel and import begin an item, and cannot be names"},
      {"let A : 4", TJ_UNEXPECTED_TOKEN, 6, 7, "expected '=' and a definition, found ':'",
       "write let A = (4,8):(8,1), or let f(x, y) = x + y"},
      {"let A", TJ_UNEXPECTED_END, 5, 5, NULL, NULL},
      {"let", TJ_UNEXPECTED_END, 3, 3, "end of text: expected a name after let", NULL},
      {"o 1", TJ_UNEXPECTED_TOKEN, 0, 1, NULL, "o composes two layouts, as in A o B, and cannot be a name"},
      {"1 == 2", TJ_UNEXPECTED_TOKEN, 2, 3, NULL,
       "there is no ==: equal(A, B) compares two maps, eq(a, b) elements of arrays"},
      {"f(a == b)", TJ_UNEXPECTED_TOKEN, 5, 6, NULL,
       "there is no ==: equal(A, B) compares two maps, eq(a, b) elements of arrays"},
      {"a // b", TJ_UNEXPECTED_TOKEN, 3, 4, NULL,
       "division is a single /, and rounds down; comments begin with #, or with // where no value stands before"},
      {"2**3", TJ_UNEXPECTED_TOKEN, 2, 3, NULL, "there is no power operator; 1 << n is the n-th power of two"},
      {"a && b", TJ_UNEXPECTED_TOKEN, 3, 4, NULL, "the bitwise and is a single &"},
      {"a < b", TJ_UNEXPECTED_TOKEN, 2, 3, NULL,
       "the language has no comparisons but lt(a, b), le, gt, ge, eq and ne; < and > enclose tilers <A, "
       "B>, "
       "and shifts are << and >>"},
      {"a <= b", TJ_UNEXPECTED_TOKEN, 2, 3, NULL,
       "there is no <=: le(a, b) compares elements of arrays, and param states a range"},
      {"a < < b", TJ_UNEXPECTED_TOKEN, 2, 3, NULL, NULL},
      {"0..9", TJ_UNEXPECTED_TOKEN, 1, 3, NULL, "a range stands only after in, as in param i in 0..9"},
      {"<1<<2>", TJ_UNEXPECTED_TOKEN, 2, 3, NULL, NULL},
      {"<>", TJ_UNEXPECTED_TOKEN, 0, 2, "a tiler has at least one mode", NULL},
      {"Sw", TJ_UNEXPECTED_END, 2, 2, NULL, NULL},
      {"Sw(1,2,3)", TJ_UNEXPECTED_TOKEN, 2, 3, "expected '<' after Sw, as in Sw<3,4,3>, found '('", NULL},
      {"Sw<1,2>", TJ_UNEXPECTED_TOKEN, 0, 7, "a swizzle has three numbers, B, M and S, not 2", NULL},
      {"Sw<1,2,3,4>", TJ_UNEXPECTED_TOKEN, 0, 11, NULL, NULL},
      {"Sw<1,2:3,3>", TJ_UNEXPECTED_TOKEN, 6, 7, NULL, NULL},
      {"1@-1", TJ_UNEXPECTED_TOKEN, 2, 3, "expected an expression after '@', found '-'", NULL},
      {"9223372036854775808", TJ_BAD_NUMBER, 0, 19, "'9223372036854775808' is too large", NULL},
      {"1 - 9223372036854775808", TJ_BAD_NUMBER, 4, 23, NULL, NULL},
      {"param 4", TJ_UNEXPECTED_TOKEN, 6, 7, "expected a parameter's name, found '4'", NULL},
      {"param M in 4", TJ_UNEXPECTED_END, 12, 12, "end of text: expected '..' between the bounds of a range", NULL},
      {"param M in 4:8", TJ_UNEXPECTED_END, 14, 14, NULL, NULL},
      {"param M in 1,4", TJ_UNEXPECTED_TOKEN, 12, 13, "expected '..' between the bounds of a range, found ','", NULL},
      {"param M = 4", TJ_UNEXPECTED_TOKEN, 8, 9, NULL,
       "a parameter gets its value when it is bound; define a constant with let"},
      {"param M multiple 4 in 0..8", TJ_UNEXPECTED_TOKEN, 19, 21, NULL,
       "the range comes first, and once: param M in 1..4096 multiple 64"},
      {"param M,", TJ_UNEXPECTED_END, 8, 8, "end of text: expected a parameter's name", NULL},
      {"kernel k() = 1", TJ_UNEXPECTED_TOKEN, 9, 10, "expected an argument's name, found ')'", NULL},
      {"kernel k = 1", TJ_UNEXPECTED_TOKEN, 9, 10, "expected '(' and the kernel's arguments, found '='", NULL},
      {"kernel k(a = f32 @ A) = 1", TJ_UNEXPECTED_TOKEN, 11, 12, NULL,
       "a kernel's argument is written name: dtype @ view, as in src: f32 @ A"},
      {"kernel k(a: f32 : A) = 1", TJ_UNEXPECTED_TOKEN, 16, 17, NULL,
       "a kernel's argument is written name: dtype @ view, as in src: f32 @ A"},
      {"kernel k(a: 32 @ A) = 1", TJ_UNEXPECTED_TOKEN, 12, 14, "expected an element type, such as f32, found '32'",
       NULL},
      {"kernel k(a: f32 @ A,) = 1", TJ_UNEXPECTED_TOKEN, 20, 21, NULL,
       "only a tuple of one ends in a comma, as in (x,): remove the comma, or add what should follow it"},
      {"kernel k(a: f32 @ A; b: f32 @ B) = 1", TJ_UNEXPECTED_TOKEN, 19, 20,
       "expected ')' or ',' after a kernel's argument, found ';'", NULL},
      {"kernel k(a: f32 @ A) copy(a)", TJ_UNEXPECTED_TOKEN, 21, 25, NULL,
       "write kernel K(src: f32 @ A, dst: f32 @ B) = copy(src, dst)"},
      {"(a = 1)", TJ_UNEXPECTED_TOKEN, 3, 4, NULL, NULL},
      {"[1,2](0)", TJ_UNEXPECTED_TOKEN, 5, 6, NULL, NULL},
      {"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz b", TJ_UNEXPECTED_TOKEN, 53, 54, NULL, NULL},
      {"1 abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", TJ_UNEXPECTED_TOKEN, 2, 54,
       "expected an operator or the end, found 'abcdefghijklmnopqrstuvwxyzabcdefghijklmn…'", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    tj_parsing parsing = {cases[i].text, strlen(cases[i].text), NULL};
    ck_assert_msg(tj_job_run(&job, parse_body, &parsing) != TJ_OK, "'%s' was accepted", cases[i].text);
    ck_assert_msg(job.problem.code == cases[i].code, "'%s': %s", cases[i].text, job.problem.message);
    ck_assert_msg(job.problem.span.begin == cases[i].begin && job.problem.span.end == cases[i].end,
                  "'%s': %u..%u: %s", cases[i].text, job.problem.span.begin, job.problem.span.end,
                  job.problem.message);
    if (cases[i].message != NULL)
      ck_assert_str_eq(job.problem.message, cases[i].message);
    if (cases[i].note != NULL)
      ck_assert_str_eq(job.problem.note, cases[i].note);
    tj_job_destroy(&job);
  }
}
END_TEST

/* `begin` repeated `count` times, `middle`, and `end` repeated as often. */
static char *repeated(const char *begin, const char *middle, const char *end, size_t count) {
  size_t begin_length = strlen(begin), middle_length = strlen(middle), end_length = strlen(end);
  char *text = malloc(count * (begin_length + end_length) + middle_length + 1);
  char *at = text;
  for (size_t i = 0; i < count; i++, at += begin_length)
    memcpy(at, begin, begin_length);
  memcpy(at, middle, middle_length);
  at += middle_length;
  for (size_t i = 0; i < count; i++, at += end_length)
    memcpy(at, end, end_length);
  *at = '\0';
  return text;
}

/* Each parses at the limit, fails one level beyond it, and fails as fast far beyond it. A repetition has `levels`
 * levels of nesting, the middle `inner`. */
START_TEST(nesting_is_limited) {
  static const struct {
    const char *begin, *middle, *end;
    size_t levels, inner;
  } cases[] = {
      {"(", "1", ")", 1, 0},         {"[", "1", "]", 1, 0},
      {"<", "1", ">", 1, 0},         {"-", "1", "", 1, 0},
      {"f(", "1", ")", 1, 0},        {"(", "()", ")", 1, 1},
      {"[", "[]", "]", 1, 1},        {"f(a=", "1", ")", 1, 0},
      {"", "f", "(1)", 1, 0},        {"-f(", "1", ")", 2, 0},
      {"1@(", "0", ")", 1, 0},       {"Sw<", "1", ",0,1>", 1, 0},
      {"<4,", "1", ">", 1, 0},       {"1+(2*", "3", ")", 1, 0},
      {"1:(a o (", "1", "))", 2, 0}, {"a o b:c|d^e&f<<g+h*i@(", "1", ")", 1, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    static const size_t beyond[] = {1, 1000, 100000};
    size_t most = (TJ_MAX_NESTING - cases[i].inner) / cases[i].levels;
    tj_job job;
    tj_job_init(&job, NULL);
    char *text = repeated(cases[i].begin, cases[i].middle, cases[i].end, most);
    const tj_program_ast *program = parse_text(&job, text);
    ck_assert_uint_eq(program->value->height, TJ_MAX_NESTING);
    free(text);
    for (size_t k = 0; k < sizeof beyond / sizeof *beyond; k++) {
      text = repeated(cases[i].begin, cases[i].middle, cases[i].end, most + beyond[k]);
      tj_parsing parsing = {text, strlen(text), NULL};
      expect_failure(&job, TJ_DEPTH_LIMIT, parse_body, &parsing);
      ck_assert_str_eq(job.problem.message, "nested more than 256 levels deep");
      free(text);
    }
    tj_job_destroy(&job);
  }
}
END_TEST

/* Application chains inside arguments of application chains add up. */
START_TEST(nesting_adds_up_over_application_chains) {
  char *chain = repeated("", "f(x)", "(1)", 200);
  char *text = malloc(strlen(chain) * 2 + 10);
  sprintf(text, "%s", chain);
  char *inner = strstr(text, "x");
  sprintf(inner, "%s%s", chain, strstr(chain, "x") + 1);
  tj_job job;
  tj_job_init(&job, NULL);
  tj_parsing parsing = {text, strlen(text), NULL};
  expect_failure(&job, TJ_DEPTH_LIMIT, parse_body, &parsing);
  tj_job_destroy(&job);
  free(text);
  free(chain);
}
END_TEST

static void print_and_compare(tj_job *job, void *data) {
  const tj_program_ast *program = data;
  tj_text text = tj_text_begin(job);
  tj_ast_print(&text, program);
  job->source = tj_source_of("printed", text.data, text.length);
  ck_assert(tj_ast_equal(tj_parse(job), program));
}

START_TEST(long_chains_need_no_stack) {
  static const char *const links[] = {" + b", "-1",     " o A", ":1", "|x", "^(1,2)", "&-1",
                                      "<<1",  ">>f(1)", "*2",   "@0", "%3", "/[1]",   " + c * 2"};
  for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
    char *text = repeated("", "a", links[i], 100000);
    tj_job job;
    tj_job_init(&job, NULL);
    const tj_program_ast *program = parse_text(&job, text);
    ck_assert_uint_le(program->value->height, 1);
    expect_success(&job, print_and_compare, (void *)(uintptr_t)program);
    tj_job_destroy(&job);
    free(text);
  }
}
END_TEST

START_TEST(long_lists_are_read) {
  static const struct {
    const char *begin, *link, *end;
    uint32_t items, values;
  } cases[] = {{"(1", ",(2)", ")", 0, 100001},
               {"[1", ",2", "]", 0, 100001},
               {"f(1", ",a=2", ")", 0, 100002},
               {"param M", ",N in 1..2", "", 100001, 0},
               {"let A = 1", " let B = 2;", "", 100001, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *links = repeated(cases[i].link, "", "", 100000);
    char *text = malloc(strlen(links) + 100);
    sprintf(text, "%s%s%s", cases[i].begin, links, cases[i].end);
    tj_job job;
    tj_job_init(&job, NULL);
    const tj_program_ast *program = parse_text(&job, text);
    ck_assert_uint_eq(program->item_count, cases[i].items);
    if (cases[i].values != 0)
      ck_assert_uint_eq(program->value->count, cases[i].values);
    expect_success(&job, print_and_compare, (void *)(uintptr_t)program);
    tj_job_destroy(&job);
    free(text);
    free(links);
  }
}
END_TEST

START_TEST(memory_can_run_out) {
  char *text = repeated("(1,[2]),f(", "1", ")", 200);
  for (size_t limit = 0; limit < 200000; limit += 997) {
    tj_job job;
    tj_job_init(&job, NULL);
    job.arena.limit = limit;
    tj_parsing parsing = {text, strlen(text), NULL};
    if (tj_job_run(&job, parse_body, &parsing) != TJ_OK)
      ck_assert(job.problem.code == TJ_MEMORY_LIMIT || job.problem.code == TJ_UNEXPECTED_TOKEN);
    tj_job_destroy(&job);
  }
  free(text);
}
END_TEST

START_TEST(comparison_tells_apart) {
  static const char *const different[] = {
      "",
      "1",
      "2",
      "(1)",
      "(1,1)",
      "[1]",
      "<1>",
      "-1",
      "M",
      "N",
      "_",
      "1+1",
      "1-1",
      "1+1+1",
      "1+(1+1)",
      "f(1)",
      "f(a=1)",
      "f(b=1)",
      "g(1)",
      "f(1)(1)",
      "Sw<1,2,3>",
      "Sw<1,2,4>",
      "let A = 1",
      "let B = 1",
      "let A = 2",
      "let A = 1; 1",
      "param A",
      "param B",
      "param A in 0..1",
      "param A in 0..2",
      "param A in 1..1",
      "param A in 0..1 multiple 2",
      "param A multiple 2",
      "param A, B",
      "kernel k(a: f32 @ A) = f(a)",
      "kernel l(a: f32 @ A) = f(a)",
      "kernel k(b: f32 @ A) = f(a)",
      "kernel k(a: f16 @ A) = f(a)",
      "kernel k(a: f32 @ B) = f(a)",
      "kernel k(a: f32 @ A, a: f32 @ A) = f(a)",
      "kernel k(a: f32 @ A) = g(a)",
  };
  enum { COUNT = sizeof different / sizeof *different };
  tj_job job;
  tj_job_init(&job, NULL);
  const tj_program_ast *first[COUNT], *second[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    first[i] = parse_text(&job, different[i]);
    second[i] = parse_text(&job, different[i]);
  }
  for (size_t i = 0; i < COUNT; i++)
    for (size_t k = 0; k < COUNT; k++)
      ck_assert_msg(tj_ast_equal(first[i], second[k]) == (i == k), "'%s' and '%s'", different[i], different[k]);
  tj_job_destroy(&job);
}
END_TEST

START_TEST(operators_bind_as_the_table_says) {
  ck_assert_int_lt(tj_operator_precedence(TJ_OPERATOR_COMPOSE), tj_operator_precedence(TJ_OPERATOR_LAYOUT));
  ck_assert_int_eq(tj_operator_precedence(TJ_OPERATOR_SHL), tj_operator_precedence(TJ_OPERATOR_SHR));
  ck_assert_int_gt(tj_operator_precedence(TJ_OPERATOR_BASIS), tj_operator_precedence(TJ_OPERATOR_MOD));
  ck_assert_str_eq(tj_operator_text(TJ_OPERATOR_COMPOSE), "o");
}
END_TEST

int main(void) {
  const TTest *const tests[] = {expressions_have_this_structure,
                                programs_print_like_this,
                                spans_cover_constructs,
                                items_have_spans,
                                what_the_grammar_refuses,
                                nesting_is_limited,
                                nesting_adds_up_over_application_chains,
                                long_chains_need_no_stack,
                                long_lists_are_read,
                                memory_can_run_out,
                                comparison_tells_apart,
                                operators_bind_as_the_table_says};
  return run_suite(suite_of("parser", tests, sizeof tests / sizeof *tests));
}

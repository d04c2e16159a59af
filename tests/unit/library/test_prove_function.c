/* SPDX-License-Identifier: MIT */
/* Functions in C against values, through the public header: what C's arithmetic gives, held against this compiler's;
 * arguments in all ways; what differs, what is undefined, and what is not understood. */
#include "tests/unit/support/library_support.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

/* The verdict's text; or the code of the failure, as in "TJ1006 1:5". */
static void verdict_of(const char *program, const char *code, const char *name, char text[static 400]) {
  tj_context *context = new_context(NULL);
  tj_program *value = NULL;
  tj_program_piece piece = {"f.c", code, strlen(code)};
  tj_blob blob;
  int equal;
  tj_status status = tj_program_create(context, "v", program, strlen(program), NULL, 0, &value);
  expect_ok(context, status, program);
  status = tj_program_prove_function(value, &piece, name, TJ_PROOF_TEXT, &equal, &blob);
  if (status == TJ_OK) {
    snprintf(text, 400, "%.*s", (int)strcspn(blob.data, "\n"), blob.data);
    ck_assert_int_eq(equal, strncmp(text, "equal", 5) == 0);
    tj_blob_release(context, &blob);
  } else {
    const tj_diagnostic *d = tj_context_diagnostic(context);
    snprintf(text, 400, "TJ%04u %s %u:%u: %s", d->code, d->file, d->line, d->column, d->message);
  }
  tj_program_destroy(value);
  tj_context_destroy(context);
}

static void expect(const char *program, const char *code, const char *verdict) {
  char text[400];
  verdict_of(program, code, NULL, text);
  ck_assert_msg(strncmp(text, verdict, strlen(verdict)) == 0, "%s\n%s\ngives: %s\n  not: %s", program, code, text,
                verdict);
}

/* --- arithmetic --- */

/* Each expression is compiled here, and read there, of three types of operands. */
#define EXPRESSIONS(E)                                                                                               \
  E(a + b * 3 - b)                                                                                                   \
  E(a / b)                                                                                                           \
  E(a % b)                                                                                                           \
  E(a / -b + a % -b)                                                                                                 \
  E(~a & 0xff)                                                                                                       \
  E((a ^ b) | (a & b))                                                                                               \
  E(a >> 2)                                                                                                          \
  E((a & 1023) << 3)                                                                                                 \
  E((uint32_t)a >> 3)                                                                                                \
  E((uint32_t)a * 2654435761u)                                                                                       \
  E((uint8_t)a + (int8_t)a + (uint16_t)(a * 3) - (short)b)                                                           \
  E(a < b ? a : b)                                                                                                   \
  E((a < 0) + (a <= b) * 2 + (a > b) * 4 + (a >= 7) * 8 + (a == b) * 16 + (a != 5) * 32)                             \
  E((a < 0 && b < a) || !(a - b))                                                                                    \
  E(-a + +b)                                                                                                         \
  E((unsigned)(a - b) > 0u ? 1 : 2)                                                                                  \
  E((int64_t)a * 3000000000 / (b + 100))                                                                             \
  E((long long)(unsigned)a % 1000)                                                                                   \
  E(0x1f + 017 + a * 10)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
static int64_t compiled(size_t number, int32_t a, int32_t b) {
  size_t at = 0;
#define E(expression)                                                                                                \
  if (at++ == number)                                                                                                \
    return (int64_t)(expression);
  EXPRESSIONS(E)
#undef E
  ck_abort_msg("there is no expression %zu", number);
}
#pragma GCC diagnostic pop

static const char *const expressions[] = {
#define E(expression) #expression,
    EXPRESSIONS(E)
#undef E
};

START_TEST(arithmetic_of_c) {
  static const int32_t operands[][2] = {{7, 3}, {-7, 3}, {7, -3}, {-7, -3}, {0, 5}, {-1, 1}, {40000, 9}, {-300, 77}};
  for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
    for (size_t k = 0; k < sizeof operands / sizeof *operands; k++) {
      int32_t a = operands[k][0], b = operands[k][1];
      char program[200], code[600];
      snprintf(program, sizeof program, "param a in %d..%d, b in %d..%d; %" PRId64, a, a, b, b, compiled(i, a, b));
      snprintf(code, sizeof code, "static int64_t f(int32_t a, int32_t b) { return (int64_t)(%s); }", expressions[i]);
      expect(program, code, "equal");
    }
  }
}
END_TEST

/* --- functions that are equal --- */

static const struct {
  const char *program, *code;
} equal[] = {
    {"Sw<3,0,3> o 0 o (8,8):(8,1)", "int f(int i, int j) { return i * 8 + (i ^ j); }"},
    {"Sw<3,0,3> o 0 o (8,8):(8,1)", "int f(int at) { int i = at % 8, j = at / 8; return 8 * i + (j ^ i); }"},
    {"((2,4),8):((1,16),2)", "int f(int i, int j) { return (i & 1) + (i >> 1) * 16 + 2 * j; }"},
    {"((2,4),8):((1,16),2)", "int f(int a, int b, int j) { return a + b * 16 + 2 * j; }"},
    {"param M in 1..99, N in 1..99; (M,N):(N,1)", "int f(int i, int j, int N) { return i * N + j; }"},
    {"param M in 1..99, N in 1..99; (M,N):(N,1)",
     "int f(int i, int j, int rows, int columns) { return i * columns + j; }"},
    {"param M in 1..65536, N in 1..65536; (M,N):(N,1)", "size_t f(size_t i, size_t j, int N) { return i * N + j; }"},
    {"(4,8):(8,1)", "enum { A = 7, W };\nint f(int i, int j) { int r = i; r *= W; r += j; return r; }"},
    {"(4,8):(8,1)",
     "static constexpr int W = 4 * 2;\nconstexpr auto f(int i, int j) { const auto r = i * W; return r + j; }"},
    {"4:1", "long f(int i) { return 0xffffffff + 1 + i; }"},               /* of 32 bits, which wrap */
    {"4:1", "long f(int i) { return 4294967295 + 1 + i - 0x100000000; }"}, /* of 64 bits */
    {"pad(5, 2, 3)", "int f(int i) { return i - 2; }\nint f_valid(int i) { if (i < 2) return 0; else if (i >= 7) "
                     "return false; return 1; }"},
    {"pad(5, 2, 3)", "int f(int i) { return i < 2 ? 99 : i - 2; }"}, /* what is not valid is anything */
    {"make_identity_layout((4,5))",
     "int f_0(int i, int j) { (void)j; return i; }\nint f_1(int i, int j) { return j; }"},
    {"4:2", "#define TWO 2\n/* a helper */ int twice(int i) { return min(i + i, 99); }\nint f(int i); // "
            "declared\nint f(int i) { return twice(i); }"},
    {"walk(packed((5,7)), step=(0,2), count=3)",
     "struct W { int at, j; };\nvoid f_init(W *w, int i, int j) { w->at = i * 7 + j; w->j = j; }\n"
     "void f_next(struct W *w) { w->at += 2; w->j += 2; }\nint f_offset(const W *w) { return w->at; }\n"
     "bool f_valid(const W *w) { return w->j < 7; }"},
};

START_TEST(equal_functions) {
  for (size_t i = 0; i < sizeof equal / sizeof *equal; i++) {
    char text[400];
    verdict_of(equal[i].program, equal[i].code, "f", text);
    ck_assert_msg(strncmp(text, "equal: ", 7) == 0, "%s\n%s\ngives: %s", equal[i].program, equal[i].code, text);
  }
}
END_TEST

/* --- functions that are not --- */

static const struct {
  const char *program, *code, *verdict;
} different[] = {
    {"(4,8):(8,1)", "int f(int i, int j) { return i * 8 + j + (i == 3 && j > 5); }",
     "different: at i0 = 3, i1 = 6: 30 and 31"},
    {"(4,8):(8,1)", "int f(int i) { return i; }", "different: at i = 1: 8 and 1"},
    {"pad(5, 2, 3)", "int f(int i) { return i - 2; }\nint f_valid(int i) { return i > 2; }",
     "different: at i = 2: 0 and not valid"},
    {"pad(5, 2, 3)", /* f_valid is called everywhere, f is not */
     "int f(int i) { return i < 8 ? i - 2 : 1 << 31; }\n"
     "int f_valid(int i) { return i >= 2 && (i < 8 ? i : 1 << 31) < 7; }",
     "different: at i = 8: not valid and nothing that C defines: int32_t overflows, at f.c:2:54"},
    {"(8,8):(1000000000,1)", "long f(int i, int j) { return i * 1000000000 + j; }",
     "different: at i0 = 3, i1 = 0: 3000000000 and nothing that C defines: int32_t overflows, at f.c:1:33"},
    {"4:1", "int f(int i) { if (i < 3) return i; }",
     "different: at i = 3: 3 and nothing that C defines: the function ends without a value"},
    {"4:1", "int f(int i) { assert(i < 3); return i; }",
     "different: at i = 3: 3 and nothing that C defines: what is assumed does not hold, at f.c:1:22"},
    {"walk(packed((5,7)), step=(0,2), count=3)",
     "typedef struct { int at; } W;\nvoid f_init(W *w, int i, int j) { w->at = i * 7 + j; }\n"
     "void f_next(W *w) { w->at += w->at < 4 ? 2 : 3; }\nint f_offset(const W *w) { return w->at; }",
     "different: at i0 = 0, i1 = 4, steps = 1: 6 and 7"},
    {"walk(transform(packed(5), [pad(5,2,3)], [[0]], [[0]]), step=1, count=10, starts=1)", /* f_next, too */
     "typedef struct { int at; } W;\nvoid f_init(W *w, int i) { w->at = i - 2; }\n"
     "void f_next(W *w) { w->at += w->at == -2 ? 2147483647 + w->at + 4 - 2147483647 - 1 : 1; }\n"
     "int f_offset(const W *w) { return w->at; }\nint f_valid(const W *w) { return w->at >= 0 && w->at < 5; }",
     "different: at steps = 1: not valid and nothing that C defines: int32_t overflows, at f.c:3:63"},
    {"walk(packed(65536), step=1, count=4096)", /* reading changes the struct */
     "typedef struct { long at; } W;\nvoid f_init(W *w, int i) { w->at = i; }\n"
     "void f_next(W *w) { w->at++; }\nlong f_offset(W *w) { w->at++; return w->at - 1; }",
     "different: at i = 0, steps = 1: 1 and 2"},
};

/* A walk of any number of steps, and what becomes of its functions with another line in f_next, or in f_init. */
static void verdict_of_walk(const char *begins, const char *goes_on, char text[static 400]) {
  char code[800];
  snprintf(code, sizeof code,
           "typedef struct { long at; int column, kept; } W;\n"
           "void f_init(W *w, int i, int N) { w->at = i; w->column = i %% N; w->kept = %s; }\n"
           "void f_next(W *w, int N) { int t = w->column + w->kept; %s }\n"
           "long f_offset(const W *w) { return w->at; }\n",
           begins, goes_on);
  verdict_of("param N in 8..65536 multiple 8; walk(transform(strided((65536,N), (2*N,1)), [merge(65536,N)], [[0,1]], "
             "[[0]]), step=7, count=4*N, starts=N)",
             code, "f", text);
}

static const struct {
  const char *begins, *goes_on, *verdict;
} inductive[] = {
    {"7", "w->at += 7 + (t < N ? 0 : N); w->column = t < N ? t : t - N;", "equal: by induction: "},
    {"8", "w->at += 7 + (t < N ? 0 : N); w->column = t < N ? t : t - N;", "different: at N = "},
    {"7", "w->at += 7 + (t <= N ? 0 : N); w->column = t < N ? t : t - N;", "different: at N = 8, i = 1, steps = 1: "},
    {"7", "w->at += 7 + (t < N ? 0 : N); w->column = t < N ? t : 0;", "different: at N = 8, i = 2, steps = 2: "},
    {"7", "w->at += 8 + (t < N ? 0 : N); w->column = t < N ? t : t - N;", "different: at N = 8, i = 0, steps = 1: "},
};

START_TEST(walks_of_any_number_of_steps) {
  for (size_t i = 0; i < sizeof inductive / sizeof *inductive; i++) {
    char text[400];
    verdict_of_walk(inductive[i].begins, inductive[i].goes_on, text);
    ck_assert_msg(strncmp(text, inductive[i].verdict, strlen(inductive[i].verdict)) == 0, "%s\ngives: %s\n  not: %s",
                  inductive[i].goes_on, text, inductive[i].verdict);
  }
}
END_TEST

START_TEST(different_functions) {
  for (size_t i = 0; i < sizeof different / sizeof *different; i++)
    expect(different[i].program, different[i].code, different[i].verdict);
}
END_TEST

/* --- what is refused --- */

static const struct {
  const char *program, *code, *failure;
} refused[] = {
    {"4:1", "int f(int i) { for (;;) i++; return i; }", "TJ1006 f.c 1:16: 'for' is not followed"},
    {"4:1", "int f(int i) { return a[i]; }", "TJ1006 f.c 1:23: 'a' is not declared"},
    {"4:1", "int f(int *i) { return *i; }", "TJ1006 f.c 1:7: parameter i is no integer"},
    {"4:1", "float f(int i) { return i; }", "TJ1006 f.c 1:1: expected a function, a struct or a constant"},
    {"4:1", "int f(int i) { return 1.5 * i; }", "TJ1006 f.c 1:23: this is no integer of C"},
    {"4:1", "int f(int i) { int k; return k + i; }", "TJ1006 f.c 1:30: 'k' has no value yet"},
    {"4:1", "int f(int i) { int k; if (i < 2) k = 1; return k; }", "TJ1006 f.c 1:48: 'k' has no value yet"},
    {"4:1", "int f(int i) { return i", "TJ1006 f.c 1:24: expected '}', and the text ends"},
    {"4:1", "int f(int i) { return f(i); }", "TJ7002 f.c 1:"},
    {"4:1", "int f(int i) { return 4 / i; }", "TJ2009 f.c 1:25: the divisor may be 0"},
    {"4:1", "int f(int i) { return i ? 99999999999999999999 : 0; }", "TJ1006 f.c 1:27: the integer is more"},
    {"4:1", "int f(int i) { return i @ 2; }", "TJ1006 f.c 1:25: no token of C begins here"},
    {"4:1", "/* int f(int i) { return i; }", "TJ1006 f.c 1:1: the comment does not end"},
    {"4:1", "int f(int i) { return i; } int f(int i) { return i; }", "TJ1006 f.c 1:32: function f is defined twice"},
    {"4:1", "int f(int i) { return i; } int g(int i) { return i; }", "TJ2034 v 1:1: f.c has the functions f and g"},
    {"4:1", "int f(int i, int M) { return i; }", "TJ2034 v 1:1: f: argument M is none"},
    {"(4,4):(1,4)", "int f(int i, int j, int k) { return i; }", "TJ2034 v 1:1: f: argument k is none"},
    {"300:1", "int f(uint8_t i) { return i; }", "TJ2034 v 1:1: f: argument i is uint8_t"},
    {"4:1", "static const int k = 1 << 31;\nint f(int i) { return i; }", "TJ1006 f.c 1:24: int32_t overflows"},
    {"walk(packed(8), step=1, count=2)",
     "typedef struct { int at; } W;\nvoid f_init(W *w, int i) { if (i < 2) return; w->at = i; }\n"
     "void f_next(W *w) { w->at++; }\nint f_offset(W *w) { return w->at; }",
     "TJ1006 f.c 3:26: what is changed has no value yet"},
    {"4:1", "", "TJ2034 v 1:1: f.c has no function"},
    {"make_identity_layout((4,5))", "int f_0(int i, int j) { return i; }", "TJ2034 v 1:1: f.c has no function f_1"},
    {"walk(packed((5,7)), step=(0,2))", "int f_init(int i, int j) { return i; }",
     "TJ2034 v 1:1: f.c has no function f_next"},
    {"param N in 1..65536; walk(packed((5,N)), step=(0,2))",
     "typedef struct { long at; } W;\nvoid f_init(W *w, int i, int j, int N) { w->at = 3 * ((long)i * N + j); }\n"
     "void f_next(W *w) { w->at += 6; }\nlong f_offset(W *w) { return w->at / 3; }",
     "TJ2033 v 1:22: the fields of W are no indices of the view, and walks are followed through at most 1024 places"},
};

START_TEST(refused_functions) {
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    expect(refused[i].program, refused[i].code, refused[i].failure);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {arithmetic_of_c, equal_functions, different_functions, walks_of_any_number_of_steps,
                                refused_functions};
  return run_suite(suite_of("functions in C", tests, sizeof tests / sizeof tests[0]));
}

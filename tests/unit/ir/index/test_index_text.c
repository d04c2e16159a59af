/* SPDX-License-Identifier: MIT */
/* Index expressions as text: printing, the graph form, reading back, and what is wrong with bad text. */
#include "tests/unit/support/index_support.h"

static void run(void (*body)(tj_job *, void *), void *data) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, body, data);
  tj_job_destroy(&job);
}

/* --- one expression --- */

typedef struct {
  const char *text; /* as written, after the declarations */
  const char *printed;
} print_row;

static const char declarations[] = "param M in 1..9, N in 1..9; coordinate i in 0..9, j in 0..9; root ";

static void check_print(tj_job *job, void *data) {
  const print_row *row = data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *node = read_root(graph, tj_string_format(job, "%s%s", declarations, row->text));
  ck_assert_str_eq(tj_node_text(job, node), row->printed);
}

START_TEST(printing) {
  print_row rows[] = {
      {"i", "i"},
      {"-5", "-5"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"i+j*3", "i + j*3"},
      {"(i+j)*3", "(i + j)*3"},
      {"i/3%4", "i/3%4"},
      {"i/(3%4)", "i/(3%4)"},
      {"i*(j*M)", "i*(j*M)"},
      {"i*j*M", "i*j*M"},
      {"i+(j+M)", "i + (j + M)"},
      {"i-j-3", "i - j - 3"},
      {"i-(j-3)", "i - (j - 3)"},
      {"i-j*3", "i - j*3"},
      {"i-(j*3)", "i - (j*3)"}, /* another node: i + -1*(j*3) */
      {"i-j*M", "i - j*M"},
      {"i-j/3", "i - j/3"},
      {"i+j*-3", "i - j*3"},
      {"i+-3*j", "i + -3*j"},
      {"-i", "-i"},
      {"-i*3", "-i*3"},
      {"-(i*3)", "-(i*3)"},
      {"i/-M", "i/-M"},
      {"-(-i)", "-(-i)"},
      {"min(i,max(j,3))", "min(i,max(j,3))"},
      {"select(i<3,i,j)", "select(i < 3,i,j)"},
      {"i&j|3^N", "i & j | 3 ^ N"},
      {"i&(j|3)", "i & (j | 3)"},
      {"(i&j)+3", "(i & j) + 3"},
      {"i<<2>>1", "i << 2 >> 1"},
      {"1<<(i%3)", "1 << i%3"},
      {"(i<j)==0", "i < j == 0"},
      {"i<(j==0)", "i < (j == 0)"},
      {"i<3 & 0<j", "i < 3 & 0 < j"},
      {"# a comment\n i # and another\n", "i"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    run(check_print, &rows[i]);
}
END_TEST

/* --- the graph form --- */

static const char *graph_text(tj_graph *graph, const tj_node *const roots[], size_t count) {
  tj_text text = tj_text_begin(graph->job);
  tj_graph_print(&text, graph, roots, count);
  return text.data;
}

/* Printing, reading into a new graph and printing again gives the same, up to the numbers of nodes. */
static const char *without_numbers(tj_job *job, const char *text) {
  tj_text result = tj_text_begin(job);
  for (; *text != '\0'; text++) {
    tj_text_char(&result, *text);
    while (*text == '$' && text[1] >= '0' && text[1] <= '9')
      memmove((char *)(uintptr_t)(text + 1), text + 2, strlen(text + 2) + 1);
  }
  return result.data;
}

static void check_round_trip(tj_job *job, void *data) {
  const char *text = data;
  tj_graph *first = tj_graph_create(job), *second = tj_graph_create(job);
  const tj_node **roots, **again;
  const size_t count = read_roots(first, text, &roots);
  const char *printed = graph_text(first, roots, count);
  ck_assert_uint_eq(read_roots(second, tj_string_format(job, "%s", printed), &again), count);
  const char *printed_again = graph_text(second, again, count);
  ck_assert_str_eq(without_numbers(job, tj_string_format(job, "%s", printed)),
                   without_numbers(job, tj_string_format(job, "%s", printed_again)));
  for (size_t i = 0; i < count; i++)
    ck_assert_uint_eq(roots[i]->depth, again[i]->depth);
}

START_TEST(round_trips) {
  static const char *const texts[] = {
      "root 5",
      "param M in 1..65536 multiple 64; coordinate i in 0..M - 1, j in 0..23; root (i*24 + j)/24 root i*24 + j - M*3",
      "param a, b in 3.., c in ..7 multiple 4; root a + b*c - a",
      "param x; param y in x..x + 4; root y",
      "param x in 1..9; param y in 1..99 multiple x*2; root y",
      "param x in 1..9, y in 1..99 multiple 4 multiple x; param z multiple y/x; root z",
      "param K in 64..128 multiple 64 among 64 128, k in -5..5 among -5 0 5; root K*k",
      "coordinate x in 5..; $3 = x | 16; root $3%$3%32", /* a definition after an open bound */
      "coordinate i in 0..5; root i - (i - (i*i*-7)) root -(-i) root -i*3 root -(i*3)",
      "coordinate i in 0..5; root min(i,select(i < 3,i*i,i << 2)) root (i & 5 | 3 ^ i) >> 1 root i == 4",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    run(check_round_trip, (void *)(uintptr_t)texts[i]);
}
END_TEST

static void check_shared_form(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *M = tj_symbol_create(graph, "M", TJ_SYMBOL_PARAMETER, tj_int(graph, 1), NULL, 8);
  const tj_node *i = tj_coordinate(graph, "i", M), *k = tj_coordinate(graph, "i", tj_int(graph, 5));
  const tj_node *min = tj_symbol_create(graph, "min", TJ_SYMBOL_PARAMETER, NULL, tj_int(graph, 3), 1);
  const tj_node *sum = tj_add(graph, i, k);
  const tj_node *roots[2] = {tj_mul(graph, sum, sum), min};
  const char *expected = tj_string_format(job,
                                          "param M in 1.. multiple 8\n"
                                          "coordinate i in 0..M - 1\n"
                                          "coordinate i.2 in 0..4\n"
                                          "param min.3 in ..3\n"
                                          "$%u = i + i.2\n"
                                          "root $%u*$%u\n"
                                          "root min.3\n",
                                          sum->id, sum->id, sum->id);
  ck_assert_str_eq(graph_text(graph, roots, 2), expected);
}

START_TEST(shared_form) {
  run(check_shared_form, NULL);
}
END_TEST

/* A chain as deep as a graph may be is printed in lines that nest little, and read back. */
static void check_deep(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job), *again = tj_graph_create(job);
  const tj_node *node = tj_coordinate(graph, "i", tj_int(graph, 9)), **roots;
  for (int i = 0; i < 3000; i++)
    node = tj_div(graph, tj_int(graph, i), tj_add(graph, tj_max(graph, node, tj_int(graph, 0)), tj_int(graph, 1)));
  const char *text = graph_text(graph, &node, 1);
  ck_assert_uint_eq(read_roots(again, text, &roots), 1);
  ck_assert_uint_eq(roots[0]->depth, node->depth);
}

START_TEST(deep_form) {
  run(check_deep, NULL);
}
END_TEST

/* --- long text --- */

static void check_brief(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *i = tj_coordinate(graph, "i", tj_int(graph, 9)), *node = i;
  for (int n = 0; n < 200; n++)
    node = tj_add(graph, node, node);
  const char *brief = tj_node_brief(job, node);
  ck_assert_uint_lt(strlen(brief), 120);
  ck_assert(strstr(brief, "…") != NULL);
  ck_assert_str_eq(tj_node_brief(job, i), "i");
}

/* 2^200 operations, written in full, are more work than a job may do. */
static void print_exploding(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *node = tj_coordinate(graph, "i", tj_int(graph, 9));
  for (int n = 0; n < 200; n++)
    node = tj_add(graph, node, node);
  job->fuel = 100000;
  tj_node_text(job, node);
}

START_TEST(long_text) {
  tj_job job;
  run(check_brief, NULL);
  tj_job_init(&job, NULL);
  expect_failure(&job, TJ_WORK_LIMIT, print_exploding, NULL);
  tj_job_destroy(&job);
}
END_TEST

/* --- bad text --- */

typedef struct {
  const char *text;
  uint32_t at; /* the byte that is blamed */
} error_row;

static void read_all(tj_job *job, void *data) {
  const error_row *row = data;
  const tj_node **roots;
  read_roots(tj_graph_create(job), row->text, &roots);
}

START_TEST(bad_text) {
  error_row rows[] = {
      {"root ", 5},
      {"root 5 +", 8},
      {"root (5", 7},
      {"root x", 5},
      {"root $7", 5},
      {"7", 0},
      {"root 5)", 6},
      {"param 5", 6},
      {"param a in 5; root a", 12},
      {"param a multiple b", 17},
      {"param a in 1..9 among; root a", 21},
      {"param a in 1..9 among 4 3; root a", 25},
      {"root min(1)", 10},
      {"root select(1,2)", 15},
      {"root 9223372036854775808", 5},
      {"root 99999999999999999999", 5},
      {"root 5 ? 3", 7},
      {"$3 5", 3},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    expect_failure(&job, TJ_UNEXPECTED_TOKEN, read_all, &rows[i]);
    ck_assert_msg(job.problem.span.begin == rows[i].at, "%s: byte %u", rows[i].text, job.problem.span.begin);
    tj_job_destroy(&job);
  }
}
END_TEST

START_TEST(deep_text) {
  enum { DEEP = 100000 };
  char *text = malloc(DEEP + 6);
  memcpy(text, "root ", 5);
  for (int kind = 0; kind < 2; kind++) {
    tj_job job;
    memset(text + 5, kind == 0 ? '(' : '-', DEEP);
    text[DEEP + 5] = '\0';
    error_row row = {text, 0};
    tj_job_init(&job, NULL);
    expect_failure(&job, TJ_DEPTH_LIMIT, read_all, &row);
    tj_job_destroy(&job);
  }
  free(text);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {printing, round_trips, shared_form, deep_form, long_text, bad_text, deep_text};
  return run_suite(suite_of("index_text", tests, sizeof tests / sizeof *tests));
}

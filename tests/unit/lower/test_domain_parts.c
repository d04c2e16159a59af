/* SPDX-License-Identifier: MIT */
/* What source and destination have in common: the modes of a copy's domain, as extent, stride in the source, stride
 * in the destination, for dimensions that are merged, nested or broken, with known extents and with ones of the
 * launch. */
#include "ir/index/print.h"
#include "lower/kernel/domain.h"
#include "tests/unit/support/harness.h"
#include "tests/unit/support/plan_support.h"

typedef struct {
  const char *text, *modes; /* "?": a stride that is not known */
} row;

#define KERNEL(source, destination) "kernel k(s: f32 @ " source ", d: f32 @ " destination ") = copy(s, d)"
#define SIZES "param n in 1..4096, k in 1..1024\n"
#define MERGED(shape, first, second) "transform(packed(" shape "), [" first ", " second "], "

static const row rows[] = {
    /* dimensions as they are, smallest stride of the destination first */
    {KERNEL("(8,6):(6,1)", "(8,6):(1,8)"), "8 6 1, 6 1 8"},
    {KERNEL("packed((8,6))", "strided((8,6),(10,1))"), "6 1 1, 8 6 10"},
    /* what both sides run through alike is one */
    {KERNEL("(8,6,5):(30,5,1)", "(8,6,5):(1,40,8)"), "8 30 1, 30 1 8"},
    {KERNEL("packed((8,6))", "packed((8,6))"), "48 1 1"},
    /* nested modes: the finer side's leaves */
    {KERNEL("((4,2),6):((1,24),4)", "(8,6):(6,1)"), "6 4 1, 4 1 6, 2 24 24"},
    /* a merge against a dimension: its parts */
    {KERNEL(MERGED("(4,6,5)", "merge(4,5)", "pass_through(6)") "[[0,2],[1]], [[0],[1]])", "(20,6):(1,20)"),
     "5 1 1, 4 30 5, 6 5 20"},
    /* a merge against a merge: what both can be taken apart into */
    {KERNEL(MERGED("(4,6,5)", "merge(4,6)", "pass_through(5)") "[[0,1],[2]], [[0],[1]])",
            MERGED("(5,12,2)", "merge(12,2)", "pass_through(5)") "[[1,2],[0]], [[0],[1]])"),
     "24 5 1, 5 1 24"},
    {KERNEL(MERGED("(6,5,4)", "merge(4,6)", "pass_through(5)") "[[2,0],[1]], [[0],[1]])",
            MERGED("(2,5,12)", "merge(12,2)", "pass_through(5)") "[[2,0],[1]], [[0],[1]])"),
     "3 40 1, 40 1 3"},
    /* extents of the launch: a preshuffle's merges */
    {SIZES KERNEL("packed((n*16,k*64))",
                  MERGED("(n,k,4,16,16)", "merge(n,16)", "merge(k,4,16)") "[[0,3],[1,2,4]], [[0],[1]])"),
     "16 1 1, 16 k*64 16, k*4 16 256, n k*1024 k*1024"},
    /* factors that facts do not show to divide each other: dimensions as they are */
    {"param n in 2..4096, k in 2..1024\n" KERNEL(
         MERGED("(n,7,k)", "merge(n,k)", "pass_through(7)") "[[0,2],[1]], [[0],[1]])",
         MERGED("(k,7,n)", "merge(k,n)", "pass_through(7)") "[[0,2],[1]], [[0],[1]])"),
     "k*n 1 1, 7 k n"},
};

static void print_stride(tj_text *text, const tj_node *stride) {
  if (stride != NULL)
    tj_node_print(text, stride);
  else
    tj_text_char(text, '?');
}

static void check_row(tj_job *job, void *data) {
  const row *r = data;
  tj_graph *graph = tj_graph_create(job);
  const tj_domain *domain = planned_kernel(graph, r->text)->domain;
  tj_text text = tj_text_begin(job);
  for (uint32_t m = 0; m < domain->count; m++) {
    tj_text_string(&text, m > 0 ? ", " : "");
    tj_node_print(&text, domain->mode[m].extent);
    tj_text_char(&text, ' ');
    print_stride(&text, domain->mode[m].source_stride);
    tj_text_char(&text, ' ');
    print_stride(&text, domain->mode[m].destination_stride);
  }
  ck_assert_msg(strcmp(text.data, r->modes) == 0, "%s\n%s\ninstead of\n%s", r->text, text.data, r->modes);
}

START_TEST(domains_have_these_modes) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, check_row, (void *)(uintptr_t)&rows[_i]);
  tj_job_destroy(&job);
}
END_TEST

int main(void) {
  return run_suite(suite_of_cases("domain_parts", domains_have_these_modes, (int)(sizeof rows / sizeof rows[0])));
}

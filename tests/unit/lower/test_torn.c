/* SPDX-License-Identifier: MIT */
/* Which sides of a copy are torn by views, as is found before any tile is made: pads tear where masks begin, steps
 * that are known never do, and what only the launch knows is not judged. */
#include "lower/tile/torn.h"
#include "tests/unit/support/harness.h"
#include "tests/unit/support/plan_support.h"

typedef struct {
  const char *text;
  bool is_source_torn, is_destination_torn;
} row;

#define PADDED(extent, before) "transform(packed((8," extent ")), [pass_through(8), pad(" extent ", " before ", 2)], "
#define AS_THEY_ARE "[[0],[1]], [[0],[1]])"
#define KERNEL(source, destination) "kernel k(s: f32 @ " source ", d: f32 @ " destination ") = copy(s, d)"

static const row rows[] = {
    /* layouts are whole, whatever their strides */
    {KERNEL("(8,6):(6,1)", "(8,6):(1,8)"), false, false},
    {KERNEL("(8,6):(12,2)", "(8,6):(6,1)"), false, false},
    /* a pad of one element: the second element of a row has a mask that the first has not */
    {KERNEL(PADDED("29", "1") AS_THEY_ARE, "packed((8,32))"), true, false},
    {KERNEL("packed((8,32))", PADDED("29", "1") AS_THEY_ARE), false, true},
    /* a pad of whole vectors */
    {KERNEL(PADDED("26", "4") AS_THEY_ARE, "packed((8,32))"), false, false},
    /* windows, at whose edge both the pixel and the tap step out */
    {"let windows = transform(transform(packed((32,)), [pad(32,1,1)], [[0]], [[0]]), [embed((3,32),(1,1))],"
     " [[0]], [[0,1]])\n" KERNEL("windows", "packed((3,32))"),
     true, false},
    /* extents of the launch */
    {"param n in 8..64\n" KERNEL(PADDED("n", "1") AS_THEY_ARE, "packed((8,n+3))"), false, false},
};

static void check_row(tj_job *job, void *data) {
  const row *r = data;
  tj_graph *graph = tj_graph_create(job);
  tj_coordinates shared = {0};
  const tj_domain *domain = planned_kernel(graph, r->text)->domain;
  ck_assert_msg(tj_is_torn(graph, &shared, domain, true, 0) == r->is_source_torn, "source of %s", r->text);
  ck_assert_msg(tj_is_torn(graph, &shared, domain, false, 1) == r->is_destination_torn, "destination of %s", r->text);
}

START_TEST(torn_sides_are_found) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, check_row, (void *)(uintptr_t)&rows[_i]);
  tj_job_destroy(&job);
}
END_TEST

int main(void) {
  return run_suite(suite_of_cases("torn", torn_sides_are_found, (int)(sizeof rows / sizeof rows[0])));
}

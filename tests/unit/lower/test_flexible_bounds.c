/* SPDX-License-Identifier: MIT */
/* What pads mask, with sizes of the launch: which predicates become bounds of sums of digits and strides, so that
 * tiles are served whose shape the launch chooses, and which tiles have steps without masks. */
#include "ir/value/mapping.h"
#include "lower/mapping/mapping.h"
#include "tests/unit/support/harness.h"
#include "tests/unit/support/plan_support.h"

typedef struct {
  const char *what, *text;
  bool load_is_masked, store_is_masked; /* at edges; tiles within the bounds have no masks */
  uint32_t least, most;                 /* elements that accesses of the served kernels move */
} row;

#define SIZES "param H in 1..512, W in 1..512, C in 8..64 multiple 8, p in 0..7, q in 0..7\n"
#define VIEW(name, base, h, w)                                                                                       \
  "let " name " = transform(" base ", [" h ", " w ", pass_through(C)], [[0],[1],[2]], [[0],[1],[2]])\n"
#define COPY(source, destination) "kernel k(s: f16 @ " source ", d: f16 @ " destination ") = copy(s, d)"
#define IMAGE "packed((H,W,C))"

static const row rows[] = {
    {"no pad", SIZES COPY(IMAGE, IMAGE), false, false, 8, 8},
    {"before and after", SIZES VIEW("v", IMAGE, "pad(H,p,q)", "pass_through(W)") COPY("v", "packed((H+p+q,W,C))"),
     true, false, 8, 8},
    {"before only", SIZES VIEW("v", IMAGE, "pad(H,p,0)", "pass_through(W)") COPY("v", "packed((H+p,W,C))"), true,
     false, 8, 8},
    {"two modes", SIZES VIEW("v", IMAGE, "pad(H,p,q)", "pad(W,1,q)") COPY("v", "packed((H+p+q,W+1+q,C))"), true,
     false, 8, 8},
    {"of the destination", SIZES VIEW("v", IMAGE, "pad(H,p,q)", "pass_through(W)") COPY("packed((H+p+q,W,C))", "v"),
     false, true, 8, 8},
    {"nothing at all", SIZES VIEW("v", IMAGE, "pad(H,0,0)", "pass_through(W)") COPY("v", IMAGE), false, false, 8, 8},
    {"windows: two modes in one sum",
     SIZES VIEW("v", IMAGE, "pad(H,1,1)", "pass_through(W)") "let w = transform(v, [embed((3,H),(1,1)), "
                                                             "pass_through(W), pass_through(C)], [[0],[1],[2]], "
                                                             "[[0,1],[2],[3]])\n" COPY("w", "packed((3,H,W,C))"),
     true, false, 8, 8},
    {"along vectors",
     SIZES "let v = transform(" IMAGE ", [pass_through(H), pass_through(W), pad(C,p,q)], [[0],[1],[2]], "
           "[[0],[1],[2]])\n" COPY("v", "packed((H,W,C+p+q))"),
     true, false, 8, 8},
    {"along vectors, turned around",
     SIZES "let v = transform(" IMAGE ", [pass_through(H), pass_through(W), pad(C,p,q)], [[0],[1],[2]], "
           "[[0],[1],[2]])\n" COPY("v", "(H,W,C+p+q):(1,H,H*W)"),
     true, false, 1, 8},
    {"along vectors, by whole ones",
     "param H in 1..512, W in 1..512, C in 8..64 multiple 8, p in 0..8 multiple 8\nlet v = transform(" IMAGE
     ", [pass_through(H), pass_through(W), right_pad(C,p)], [[0],[1],[2]], [[0],[1],[2]])\n" COPY(
         "v", "packed((H,W,C+p))"),
     true, false, 8, 8},
    {"along vectors, never by whole ones, turned around",
     SIZES "let v = transform(" IMAGE ", [pass_through(H), pass_through(W), pad(C,1,1)], [[0],[1],[2]], "
           "[[0],[1],[2]])\n" COPY("v", "(H,W,C+2):(1,H,H*W)"),
     true, false, 1, 1},
    {"along vectors, of the destination",
     SIZES "let v = transform(" IMAGE ", [pass_through(H), pass_through(W), pad(C,p,q)], [[0],[1],[2]], "
           "[[0],[1],[2]])\n" COPY("packed((H,W,C+p+q))", "v"),
     false, true, 8, 8},
};

static bool is_masked(const tj_kernel_step step[], uint32_t count, tj_step_kind kind, const tj_kernel_step inner[]) {
  bool is_masked = false;
  for (uint32_t i = 0; i < count; i++)
    is_masked = is_masked || (step[i].kind == kind && inner != NULL && step[i].access.valid != inner[i].access.valid);
  return is_masked;
}

static void check_row(tj_job *job, void *data) {
  const row *r = data;
  tj_graph *graph = tj_graph_create(job);
  const tj_kernel *made = tj_map_copy(graph, planned_kernel(graph, r->text), tj_target_parse(job, "gfx942"));
  const tj_kernel *kernel = made->faster;
  while (kernel != NULL && (kernel->mapping == NULL || !kernel->mapping->is_launched))
    kernel = kernel->faster;
  ck_assert_msg(kernel != NULL, "%s", r->what);
  ck_assert_msg(kernel->step[0].width == r->least, "%s: elements one by one", r->what);
  ck_assert_msg((kernel->inner != NULL) == (r->load_is_masked || r->store_is_masked), "%s: inner steps", r->what);
  ck_assert_msg(is_masked(kernel->step, kernel->step_count, TJ_STEP_LOAD, kernel->inner_step) == r->load_is_masked,
                "%s: loads", r->what);
  ck_assert_msg(is_masked(kernel->step, kernel->step_count, TJ_STEP_STORE, kernel->inner_step) == r->store_is_masked,
                "%s: stores", r->what);
  while (kernel->faster != NULL)
    kernel = kernel->faster;
  ck_assert_msg(kernel->step[0].width == r->most, "%s: vectors", r->what);
}

START_TEST(pads_are_bounds) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, check_row, (void *)(uintptr_t)&rows[_i]);
  tj_job_destroy(&job);
}
END_TEST

int main(void) {
  return run_suite(suite_of_cases("flexible_bounds", pads_are_bounds, (int)(sizeof rows / sizeof rows[0])));
}

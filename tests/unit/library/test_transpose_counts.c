/* SPDX-License-Identifier: MIT */
/* What the 57 transpositions cost on simulated GPUs, held against limits: cache lines, LDS cycles, bytes a lane,
 * and the arithmetic of shapes that are fixed and of those that only the launch knows. Counts, no time: they are the
 * same on every machine, and bench_transpose --table tells where they come from. A limit is to be lowered whenever a
 * mapping gets better. */
#include "bench/transpose_counts.h"
#include "tests/unit/support/harness.h"

/* Ratios are to the least: lines by the bytes of each instruction, each byte once, needed lines by the bytes of both
 * tensors. */
typedef struct {
  const char *device, *type;
  double mean_lines, worst_lines, mean_needed, worst_needed, lds_cycles;
  int lds, wide; /* cases, at least: no conflicts in LDS but unavoidable ones; 16 bytes a lane throughout */
  double valu, dynamic_valu; /* thousands of instructions; 0: not measured */
  double dynamic_lines;
  int dynamic_lds, direct; /* cases, at least: no conflicts in LDS; straight into LDS */
} limits;

/* The aims: lines 1.10 and 1.35, of dynamic shapes 1.15; VALU of these 1.15 of those of fixed ones. */
static const limits all_limits[] = {
    {"sim:gfx942", "f32", 1.014, 1.084, 1.021, 1.157, 1.0, 57, 57, 762.5, 1018.3, 1.076, 57, 0},
    {"sim:gfx942", "f16", 1.063, 1.270, 1.085, 1.290, 1.0, 57, 57, 424.9, 709.9, 1.145, 56, 0},
    {"sim:gfx950", "f32", 1.007, 1.051, 1.009, 1.156, 1.0, 57, 57, 0, 0, 0, 0, 36},
    {"sim:gfx950", "f16", 1.058, 1.203, 1.084, 1.228, 1.007, 54, 57, 0, 0, 0, 0, 7},
    {"sim:gfx1250", "f32", 1.006, 1.073, 1.011, 1.196, 1.0, 57, 57, 0, 0, 0, 0, 44},
};

enum { ELEMENTS = 300000, LIMITS = sizeof all_limits / sizeof *all_limits };

typedef struct {
  int cases, lds, wide, direct;
  double lines, needed, worst_lines, worst_needed;
  const char *worst_case;
  uint64_t lds_cycles, ideal_lds_cycles, valu;
} sums;

static void open_run(transpose_run *run, const limits *l) {
  *run = (transpose_run){.type = l->type, .asks_why = l->direct > 0};
  ck_assert_int_eq(tj_context_create(NULL, &run->context), TJ_OK);
  if (tj_device_open(run->context, l->device, &run->device) != TJ_OK)
    ck_abort_msg("%s", tj_context_diagnostic(run->context)->message);
}

static void close_run(const transpose_run *run) {
  tj_device_close(run->device);
  tj_context_destroy(run->context);
}

/* Whether the layout in LDS was chosen for as many cycles as there are. */
static bool is_as_planned(const transpose_counts *c) {
  if (c->lds_cycles == c->ideal_lds_cycles)
    return true;
  return c->planned_ideal > 0 && c->lds_cycles % c->planned_cycles == 0 &&
         c->lds_cycles / c->planned_cycles * c->planned_ideal == c->ideal_lds_cycles;
}

/* What goes straight into LDS is in no register before, and has no conflicts but those that others have, too; of what
 * goes there otherwise, it is said why. */
static void check_direct(const transpose_run *run, const transposition *t, const transpose_counts *c) {
  if (c->direct_loads > 0)
    ck_assert_msg(c->lds_stores == 0 && c->register_loads == 0,
                  "%s of %s: %llu stores into LDS, %llu loads of registers", t->permutation, run->type,
                  (unsigned long long)c->lds_stores, (unsigned long long)c->register_loads);
  else if (run->asks_why && run->full == NULL)
    ck_assert_msg((c->lds_cycles > 0) == (c->indirect[0] != '\0'), "%s of %s: %s", t->permutation, run->type,
                  c->indirect);
}

static void add_case(const transpose_run *run, const transposition *t, sums *sum) {
  char problem[COUNTS_TEXT];
  transpose_counts c;
  if (!count_transposition(run, t, &c, problem))
    ck_abort_msg("%s", problem);
  ck_assert_msg(c.divisions == 0, "%s of %s divides %llu times", t->permutation, run->type,
                (unsigned long long)c.divisions);
  ck_assert_msg(run->full != NULL || is_as_planned(&c), "%s of %s: %llu LDS cycles, %llu without conflicts; %s",
                t->permutation, run->type, (unsigned long long)c.lds_cycles, (unsigned long long)c.ideal_lds_cycles,
                c.conflicts);
  check_direct(run, t, &c);
  double lines = lines_ratio(&c), needed = (double)counted_lines(&c) / (double)c.needed_lines;
  sum->worst_case = lines > sum->worst_lines ? t->permutation : sum->worst_case;
  sum->worst_lines = lines > sum->worst_lines ? lines : sum->worst_lines;
  sum->worst_needed = needed > sum->worst_needed ? needed : sum->worst_needed;
  sum->lines += lines;
  sum->needed += needed;
  sum->cases++;
  sum->direct += c.direct_loads > 0;
  sum->lds += c.lds_cycles == c.ideal_lds_cycles || c.is_unavoidable;
  sum->wide += wide_share(&c.load) == 1 && wide_share(&c.store) == 1;
  sum->lds_cycles += c.lds_cycles;
  sum->ideal_lds_cycles += c.ideal_lds_cycles;
  sum->valu += c.valu;
}

static void hold(const limits *l, const char *what, double found, double most) {
  ck_assert_msg(found <= most, "%s on %s: %s: %.4f, at most %.4f", l->type, l->device, what, found, most);
}

/* All cases, with their shapes fixed, or passed at launch. */
static sums sums_of(const limits *l, bool is_dynamic) {
  transpose_run run;
  sums sum = {.cases = 0};
  open_run(&run, l);
  for (int i = 0; i < TRANSPOSITION_COUNT; i++) {
    transposition t = transposition_shrunken(&transpositions[i], ELEMENTS);
    run.full = is_dynamic ? &transpositions[i] : NULL;
    add_case(&run, &t, &sum);
  }
  close_run(&run);
  return sum;
}

static double thousands(uint64_t count) {
  return (double)count / 1000;
}

/* Shapes passed at launch. */
static void hold_dynamic(const limits *l) {
  sums dynamic = sums_of(l, true);
  hold(l, "VALU of dynamic shapes, thousands", thousands(dynamic.valu), l->dynamic_valu);
  hold(l, "lines of dynamic shapes, mean", dynamic.lines / dynamic.cases, l->dynamic_lines);
  ck_assert_int_ge(dynamic.lds, l->dynamic_lds);
}

START_TEST(transpositions_keep_to_limits) {
  const limits *l = &all_limits[_i];
  sums sum = sums_of(l, false);
  hold(l, "lines, mean", sum.lines / sum.cases, l->mean_lines);
  hold(l, sum.worst_case, sum.worst_lines, l->worst_lines);
  hold(l, "lines against those needed, mean", sum.needed / sum.cases, l->mean_needed);
  hold(l, "lines against those needed, worst", sum.worst_needed, l->worst_needed);
  hold(l, "LDS cycles", (double)sum.lds_cycles / (double)sum.ideal_lds_cycles, l->lds_cycles);
  ck_assert_int_ge(sum.lds, l->lds);
  ck_assert_int_ge(sum.wide, l->wide);
  ck_assert_int_ge(sum.direct, l->direct);
  if (l->dynamic_valu == 0)
    return;
  hold(l, "VALU, thousands", thousands(sum.valu), l->valu);
  hold_dynamic(l);
}
END_TEST

int main(void) {
  return run_suite(suite_of_cases("transpose counts", transpositions_keep_to_limits, LIMITS));
}

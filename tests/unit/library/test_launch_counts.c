/* SPDX-License-Identifier: MIT */
/* What copies of merged and padded views cost on a simulated GPU, with their parameters fixed and with all of them
 * passed at launch, held against limits: VALU instructions and cache lines, of launches to those of fixed ones. Both
 * move the same bytes. Counts, no time: they are the same on every machine. A limit is to be lowered whenever a
 * mapping gets better. */
#include "tests/unit/support/library_support.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { PARAMETERS = 24, ARGUMENTS = 2 };

typedef struct {
  const char *name, *text;
  tj_parameter_value parameter[PARAMETERS]; /* up to one without a name */
  double fixed_lines;                       /* of fixed parameters, to the least */
  double valu, lines;                       /* of passed ones, to fixed ones */
} row;

#define BLOCKS "param n in 1..4096, k in 1..1024\n"
#define BLOCK_SOURCE "src: b8 @ packed((n*16, k*64))"

static const row rows[] = {
    {"a weight preshuffle, merged",
     BLOCKS "let shuffled = transform(packed((n,k,4,16,16)), [merge(n,16), merge(k,4,16)], [[0,3],[1,2,4]], "
            "[[0],[1]])\nkernel k(" BLOCK_SOURCE ", dst: b8 @ shuffled) = copy(src, dst)",
     {{"n", 32}, {"k", 64}},
     1.0,
     0.5,
     1.5},
    {"its source unmerged",
     BLOCKS
     "let blocks = transform(packed((n*16,k*64)), [unmerge(n,16), unmerge(k,4,16)], [[0],[1]], [[0,3],[1,2,4]])\n"
     "kernel k(src: b8 @ blocks, dst: b8 @ packed((n,k,4,16,16))) = copy(src, dst)",
     {{"n", 32}, {"k", 64}},
     1.0,
     0.5,
     1.5},
};

typedef struct {
  uint64_t valu, lines, least_lines;
  unsigned char *result;
  size_t bytes;
} counts;

static uint64_t counted(const tj_launch *launch, const char *wanted) {
  for (size_t i = 0; i < tj_launch_counter_count(launch); i++) {
    const char *name;
    uint64_t value = tj_launch_counter(launch, i, &name);
    if (strcmp(name, wanted) == 0)
      return value;
  }
  ck_abort_msg("there is no counter %s", wanted);
}

/* The source holds bytes that tell neighbours apart; the destination, which comes last, nothing. */
static void bind_arrays(tj_context *context, tj_launch *launch, unsigned char *data[ARGUMENTS], size_t *last_bytes) {
  for (size_t i = 0; i < ARGUMENTS; i++) {
    const tj_argument *argument;
    expect_ok(context, tj_launch_argument(launch, i, &argument), "argument");
    *last_bytes = (size_t)argument->element_count * argument->element_bytes;
    data[i] = calloc(1, *last_bytes);
    for (size_t k = 0; i == 0 && k < *last_bytes; k++)
      data[i][k] = (unsigned char)(k * 7 + k / 251);
    expect_ok(context, tj_launch_bind(launch, argument->name, data[i], *last_bytes), argument->name);
  }
}

static size_t parameter_count(const row *r) {
  size_t count = 0;
  while (r->parameter[count].name != NULL)
    count++;
  return count;
}

static counts counts_of(tj_context *context, const tj_device *device, const row *r, bool is_fixed) {
  counts c = {0};
  unsigned char *data[ARGUMENTS];
  tj_launch *launch;
  tj_code *code = compile_for(context, device, r->text, r->parameter, is_fixed ? parameter_count(r) : 0);
  expect_ok(context, tj_launch_create(context, code, &launch), r->name);
  for (size_t i = 0; !is_fixed && i < parameter_count(r); i++)
    expect_ok(context, tj_launch_set_parameter(launch, r->parameter[i].name, r->parameter[i].value), r->name);
  bind_arrays(context, launch, data, &c.bytes);
  expect_ok(context, tj_launch_run(launch, (tj_device *)device), r->name);
  c.valu = counted(launch, "valu");
  c.lines = counted(launch, "load_lines") + counted(launch, "store_lines");
  c.least_lines = counted(launch, "least_load_lines") + counted(launch, "least_store_lines");
  c.result = data[ARGUMENTS - 1];
  free(data[0]);
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  return c;
}

static void hold(const row *r, const char *what, uint64_t found, uint64_t against, double limit) {
  double ratio = (double)found / (double)against;
  ck_assert_msg(ratio <= limit, "%s: %s: %llu to %llu, %.3f, at most %.3f", r->name, what, (unsigned long long)found,
                (unsigned long long)against, ratio, limit);
}

START_TEST(launches_keep_to_limits) {
  const row *r = &rows[_i];
  tj_context *context = new_context(NULL);
  tj_device *device = open_device(context, "sim:gfx942");
  counts fixed = counts_of(context, device, r, true), passed = counts_of(context, device, r, false);
  ck_assert_uint_eq(fixed.bytes, passed.bytes);
  ck_assert_mem_eq(fixed.result, passed.result, fixed.bytes);
  hold(r, "lines of fixed parameters, to the least", fixed.lines, fixed.least_lines, r->fixed_lines);
  hold(r, "VALU of passed parameters, to fixed ones", passed.valu, fixed.valu, r->valu);
  hold(r, "lines of passed parameters, to fixed ones", passed.lines, fixed.lines, r->lines);
  free(fixed.result);
  free(passed.result);
  tj_device_close(device);
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  return run_suite(suite_of_cases("launch counts", launches_keep_to_limits, sizeof rows / sizeof *rows));
}

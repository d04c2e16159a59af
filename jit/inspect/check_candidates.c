/* SPDX-License-Identifier: MIT */
/* Candidates: the mappings that a copy could have, by price. Each takes the way of a mapping that is given, down to
 * machine code, so that what is told of it is what it comes to in the program. */
#include "jit/inspect/check.h"

#include "base/machine/processor.h"
#include "base/text.h"
#include "ir/value/mapping.h"
#include "lower/access/price.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/mapping/mapping.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *mapping;
  tj_price price;
  double lines;       /* all of the price */
  tj_isa_stats stats; /* without vgprs where there is no machine code */
  uint32_t residents; /* workgroups of a compute unit; 0: not known */
  uint32_t number;
} candidate;

typedef struct {
  const tj_check *check;
  tj_compilation *compilation;
  tj_price_machine machine;
  const char *chosen;
  tj_findings *findings;
} listing;

static const char *text_of(tj_job *job, const tj_mapping *mapping) {
  tj_text text = tj_text_begin(job);
  if (mapping != NULL)
    tj_mapping_print(&text, mapping);
  return text.data;
}

/* The kernel with that mapping, compiled. */
static candidate make_candidate(const listing *l, const tj_kernel_definition *definition, const tj_mapping *mapping) {
  tj_kernel_definition given = *definition;
  tj_compilation *c = l->compilation;
  given.mapping = mapping;
  tj_compilation_dispose(c);
  *c = (tj_compilation){.graph = c->graph,
                        .values = c->values,
                        .idle_codegens = c->idle_codegens,
                        .options = c->options,
                        .definition = &given};
  bool has_stats = tj_pipeline_has_stats(c->graph->job, l->check->target);
  tj_pipeline_compile(c, has_stats ? TJ_EMIT_STATS : TJ_EMIT_LLVM);
  candidate made = {.mapping = text_of(c->graph->job, mapping),
                    .price = tj_price_kernel(c->graph, c->kernel, &l->machine, NULL, TJ_CHECK_MOST_ACCESSES),
                    .stats = {.has_no_counts = true}};
  made.lines = tj_price_in_lines(&made.price, &l->machine);
  const tj_compute_unit *unit = tj_compute_unit_of(c->target->processor);
  if (has_stats)
    made.stats = tj_pipeline_stats(c, c->kernel);
  if (has_stats && unit != NULL)
    made.residents = tj_occupancy_of(unit, &made.stats, c->kernel->workgroup_size).workgroups;
  return made;
}

static int by_price(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->lines != y->lines)
    return x->lines < y->lines ? -1 : 1;
  return x->number < y->number ? -1 : 1;
}

/* --- what is said of one --- */

static void print_candidate(const listing *l, tj_text *text, const candidate *made) {
  tj_cost memory = tj_price_of_memory(&made->price), lds = tj_price_of_lds(&made->price);
  tj_text_format(
      text, "%s%.0f lines in all; %" PRId64 " instructions touch %" PRId64 " cache lines, %" PRId64 " at least; ",
      strcmp(made->mapping, l->chosen) == 0 ? "chosen; " : "", made->lines, memory.instructions, memory.lines,
      memory.least_lines);
  if (made->price.lds_bytes > 0)
    tj_text_format(text, "%" PRId64 " of LDS take %" PRId64 " cycles, %" PRId64 " at least; ", lds.instructions,
                   lds.cycles, lds.least_cycles);
  if (!made->stats.has_no_counts)
    tj_text_format(text, "%" PRIu64 " vector ALU instructions, ", made->stats.valu);
  if (made->stats.vgprs > 0)
    tj_text_format(text, "%" PRIu64 " vector registers, ", made->stats.vgprs);
  tj_text_format(text, "%u bytes of LDS; %" PRId64 " workgroups of %u", made->price.lds_bytes, made->price.workgroups,
                 made->price.workgroup_size);
  if (made->residents > 0)
    tj_text_format(text, ", %u a compute unit", made->residents);
  if (!tj_price_is_whole(&made->price))
    tj_text_format(text, "; counted were %" PRId64 " of them", made->price.counted_workgroups);
  tj_text_format(text, ": %s", made->mapping);
}

static int64_t rounded(double lines) {
  return lines < 0x1p62 ? (int64_t)(lines + 0.5) : INT64_MAX;
}

static void add_numbers(tj_finding *finding, const candidate *made) {
  tj_cost memory = tj_price_of_memory(&made->price), lds = tj_price_of_lds(&made->price);
  const struct {
    const char *name;
    int64_t value;
  } numbers[] = {{"price", rounded(made->lines)},
                 {"instructions", memory.instructions},
                 {"lines", memory.lines},
                 {"least_lines", memory.least_lines},
                 {"lds_instructions", lds.instructions},
                 {"cycles", lds.cycles},
                 {"ideal", lds.least_cycles},
                 {"lds_bytes", made->price.lds_bytes},
                 {"workgroups", made->price.workgroups},
                 {"workgroup_size", made->price.workgroup_size},
                 {"counted_workgroups", made->price.counted_workgroups},
                 {"residents", made->residents}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    tj_finding_number(finding, numbers[i].name, numbers[i].value);
  if (!made->stats.has_no_counts)
    tj_finding_number(finding, "valu", (int64_t)made->stats.valu);
  if (made->stats.vgprs > 0)
    tj_finding_number(finding, "vgprs", (int64_t)made->stats.vgprs);
}

static void report_candidate(const listing *l, const candidate *made, uint32_t rank) {
  tj_job *job = l->findings->job;
  tj_text text = tj_text_begin(job);
  print_candidate(l, &text, made);
  tj_finding *finding =
      tj_find(l->findings, tj_string_format(job, "candidate %u", rank), TJ_FINDING_FACT, "%s", text.data);
  finding->mapping = made->mapping;
  add_numbers(finding, made);
}

/* --- all of them --- */

/* Why there is nothing to choose from; NULL: there is. */
static const char *reason_for_none(const listing *l, const tj_kernel *flat) {
  if (l->check->target->wave_size == 1)
    return "mappings for the host have no price";
  if (flat->arrays != NULL)
    return "rows of arrays have the mapping that suits their length";
  if (flat->step[0].kind == TJ_STEP_VALUE)
    return "the kernel copies nothing";
  if (tj_price_kernel(l->check->graph, flat, &l->machine, NULL, 1).status == TJ_EVAL_UNBOUND)
    return "the launch chooses the tile; give parameters their values with --set";
  return NULL;
}

static bool is_among(const candidate made[], uint32_t count, const char *mapping) {
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(made[i].mapping, mapping) == 0)
      return true;
  }
  return false;
}

/* Shapes are found in the order of a coarser price: more are looked at than are told. Some come to the same. */
static void list(const listing *l, const tj_kernel_definition *definition, tj_kernel *flat, uint32_t most) {
  tj_job *job = l->findings->job;
  uint32_t room = 2 * most;
  const tj_mapping **mapping = TJ_NEW_ARRAY(job, const tj_mapping *, room);
  candidate *made = TJ_NEW_ARRAY(job, candidate, room);
  uint32_t found = tj_list_candidates(l->check->graph, flat, l->check->target, mapping, room), count = 0;
  for (uint32_t i = 0; i < found; i++) {
    if (is_among(made, count, text_of(job, mapping[i])))
      continue;
    made[count] = make_candidate(l, definition, mapping[i]);
    made[count].number = count;
    count += made[count].price.status == TJ_EVAL_OK;
  }
  qsort(made, count, sizeof *made, by_price);
  for (uint32_t i = 0; i < count && i < most; i++)
    report_candidate(l, &made[i], i + 1);
}

/* Of the kernel without a mapping; of statements of several sources, the copy that they are. */
static tj_kernel *flat_copy(const tj_check *check, const tj_compilation *compilation,
                            const tj_kernel_definition *definition) {
  tj_kernel_definition any = *definition;
  any.mapping = NULL;
  tj_compilation flat = {
      .graph = check->graph, .values = compilation->values, .options = compilation->options, .definition = &any};
  tj_pipeline_compile(&flat, TJ_EMIT_SIMPLIFIED);
  tj_kernel *copy = flat.kernel->copy;
  if (copy == NULL)
    return flat.kernel;
  tj_kernel_simplify(check->graph, copy, NULL);
  return copy;
}

void tj_check_candidates(const tj_check *check, tj_compilation *compilation, const tj_kernel_definition *definition,
                         uint32_t most, tj_findings *findings) {
  tj_job *job = findings->job;
  listing l = {check, compilation, tj_price_machine_of(check->target), text_of(job, compilation->kernel->mapping),
               findings};
  tj_kernel *flat = flat_copy(check, compilation, definition);
  const char *reason = reason_for_none(&l, flat);
  if (reason != NULL)
    tj_find(findings, "candidates", TJ_FINDING_UNKNOWN, "%s", reason);
  else
    list(&l, definition, flat, most);
}

/* SPDX-License-Identifier: MIT */
/* What the 57 transpositions of transpositions.h cost on a simulated GPU, in counts that need no clock: cache lines
 * touched against the least, LDS cycles against those without conflicts, bytes a lane, vector arithmetic with shapes
 * known at launch against fixed ones. docs/benchmarks.md tells what each number means.
 *
 * Prints one JSON object, or with --table lines to read. A kernel that does not run, and a wrong element, end it. */
#include "failing.h"
#include "transpose_counts.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: bench_transpose [--device sim:gfx942] [--types f32,f16] [--case PERMUTATION] [--elements 300000]\n"
    "                       [--headroom 0] [--form static|dynamic|both] [--table]\n";

typedef struct {
  const char *device, *only; /* only: NULL for all */
  measured measured;
  int headroom;
  int64_t elements;
  bool is_table;
} settings;

/* Over the cases of one type. */
typedef struct {
  double lines, worst_lines, needed, worst_needed; /* ratios, the first and third summed */
  uint64_t lds_cycles, ideal_lds_cycles;
  int cases, ideal_cases, unavoidable_cases, wide_cases;
  uint64_t valu, divisions;
  double compile_milliseconds;
} summary;

static double needed_ratio(const transpose_counts *c) {
  return (double)counted_lines(c) / (double)c->needed_lines;
}

static bool is_wide(const transpose_counts *c) {
  return wide_share(&c->load) == 1 && wide_share(&c->store) == 1;
}

static void add(summary *s, const transpose_counts *c) {
  s->cases++;
  s->lines += lines_ratio(c);
  s->worst_lines = fmax(s->worst_lines, lines_ratio(c));
  s->needed += needed_ratio(c);
  s->worst_needed = fmax(s->worst_needed, needed_ratio(c));
  s->lds_cycles += c->lds_cycles;
  s->ideal_lds_cycles += c->ideal_lds_cycles;
  s->ideal_cases += c->lds_cycles == c->ideal_lds_cycles;
  s->unavoidable_cases += c->is_unavoidable;
  s->wide_cases += is_wide(c);
  s->valu += c->valu;
  s->divisions += c->divisions;
  s->compile_milliseconds += c->compile_milliseconds;
}

/* --- JSON --- */

static json_t *side_object(const side_counts *side) {
  json_t *bytes = json_object();
  for (int i = 0; i < COUNTS_WIDTHS; i++) {
    char width[8];
    snprintf(width, sizeof width, "%u", counts_width[i]);
    if (side->bytes[i] > 0)
      json_object_set_new(bytes, width, json_integer((json_int_t)side->bytes[i]));
  }
  return json_pack("{s:I,s:I,s:i,s:f,s:o}", "lines", (json_int_t)side->lines, "least_lines",
                   (json_int_t)side->least_lines, "narrowest", (int)narrowest(side), "wide_share", wide_share(side),
                   "bytes_by_width", bytes);
}

static json_t *counts_object(const transpose_counts *c) {
  json_t *object = json_pack(
      "{s:f,s:f,s:o,s:o,s:I,s:I,s:I,s:I,s:I,s:f}", "lines_ratio", lines_ratio(c), "needed_ratio", needed_ratio(c),
      "load", side_object(&c->load), "store", side_object(&c->store), "lds_cycles", (json_int_t)c->lds_cycles,
      "ideal_lds_cycles", (json_int_t)c->ideal_lds_cycles, "valu", (json_int_t)c->valu, "salu", (json_int_t)c->salu,
      "divisions", (json_int_t)c->divisions, "compile_milliseconds", c->compile_milliseconds);
  if (c->conflicts[0] != '\0') {
    json_object_set_new(object, "conflicts", json_string(c->conflicts));
    json_object_set_new(object, "unavoidable", json_boolean(c->is_unavoidable));
  }
  return object;
}

static json_t *summary_object(const summary *s) {
  double cases = fmax(1, s->cases);
  return json_pack("{s:i,s:f,s:f,s:f,s:f,s:i,s:i,s:I,s:I,s:i,s:I,s:I,s:f}", "cases", s->cases, "mean_lines_ratio",
                   s->lines / cases, "worst_lines_ratio", s->worst_lines, "mean_needed_ratio", s->needed / cases,
                   "worst_needed_ratio", s->worst_needed, "cases_with_ideal_lds", s->ideal_cases,
                   "cases_with_unavoidable_conflicts", s->unavoidable_cases, "lds_cycles", (json_int_t)s->lds_cycles,
                   "ideal_lds_cycles", (json_int_t)s->ideal_lds_cycles, "cases_all_16_bytes_a_lane", s->wide_cases,
                   "valu", (json_int_t)s->valu, "divisions", (json_int_t)s->divisions, "mean_compile_milliseconds",
                   s->compile_milliseconds / cases);
}

/* --- the table --- */

static void print_heading(const settings *s, const char *type) {
  printf("%s on %s; each tensor about %lld elements\n", type, s->device, (long long)s->elements);
  printf("%-7s %-21s %-7s %6s %6s %6s %7s %9s %9s %6s %5s %5s %5s %9s %4s %7s\n", "perm", "shape", "extents", "lines",
         "load", "store", "needed", "LDS", "ideal", "ratio", "load", "store", "wide", "VALU", "div", "compile");
}

static double side_ratio(const side_counts *side) {
  return (double)side->lines / fmax(1, (double)side->least_lines);
}

static void print_row(const transposition *t, const char *form, const transpose_counts *c) {
  char shape[SHAPE_TEXT];
  transposition_write_shape(shape, t);
  double ratio = c->ideal_lds_cycles > 0 ? (double)c->lds_cycles / (double)c->ideal_lds_cycles : 1;
  printf("%-7s %-21s %-7s %6.3f %6.3f %6.3f %7.3f %9llu %9llu %6.3f %4uB %4uB %4.0f%% %9llu %4llu %5.1fms%s%s\n",
         t->permutation, shape, form, lines_ratio(c), side_ratio(&c->load), side_ratio(&c->store), needed_ratio(c),
         (unsigned long long)c->lds_cycles, (unsigned long long)c->ideal_lds_cycles, ratio, narrowest(&c->load),
         narrowest(&c->store), 50 * (wide_share(&c->load) + wide_share(&c->store)), (unsigned long long)c->valu,
         (unsigned long long)c->divisions, c->compile_milliseconds, c->conflicts[0] != '\0' ? "  " : "",
         c->conflicts);
}

static void print_summary(const char *form, const summary *s) {
  double cases = fmax(1, s->cases);
  printf("%s: lines %.3f mean, %.3f worst; of what is needed %.3f mean, %.3f worst; LDS ideal in %d of %d cases, "
         "conflicts unavoidable in %d, "
         "%.3f of the ideal cycles; 16 bytes a lane throughout in %d; VALU %llu; divisions %llu; compile %.1f ms\n",
         form, s->lines / cases, s->worst_lines, s->needed / cases, s->worst_needed, s->ideal_cases, s->cases,
         s->unavoidable_cases, (double)s->lds_cycles / fmax(1, (double)s->ideal_lds_cycles), s->wide_cases,
         (unsigned long long)s->valu, (unsigned long long)s->divisions, s->compile_milliseconds / cases);
}

/* --- measuring --- */

/* The two forms of one type's kernels. */
typedef struct {
  summary fixed, dynamic;
  double ratios; /* of vector arithmetic, dynamic to fixed, summed */
} totals;

/* full: NULL for fixed shapes. */
static transpose_counts count_form(transpose_run run, const settings *s, const transposition *t,
                                   const transposition *full, summary *sum, json_t *object) {
  const char *form = full != NULL ? "dynamic" : "static";
  char problem[COUNTS_TEXT];
  transpose_counts counts;
  run.full = full;
  if (!count_transposition(&run, t, &counts, problem))
    fail(problem);
  add(sum, &counts);
  json_object_set_new(object, form, counts_object(&counts));
  if (s->is_table)
    print_row(t, form, &counts);
  return counts;
}

static json_t *measure_case(const transpose_run *run, const settings *s, const transposition *full, totals *all) {
  char full_shape[SHAPE_TEXT], shape[SHAPE_TEXT];
  transposition t = transposition_shrunken(full, s->elements);
  transposition_write_shape(full_shape, full);
  transposition_write_shape(shape, &t);
  transpose_counts fixed = {.valu = 0}, dynamic = {.valu = 0};
  json_t *object = json_pack("{s:s,s:s,s:s}", "permutation", t.permutation, "shape", shape, "full_shape", full_shape);
  if (measured_has_form(&s->measured, "static"))
    fixed = count_form(*run, s, &t, NULL, &all->fixed, object);
  if (measured_has_form(&s->measured, "dynamic"))
    dynamic = count_form(*run, s, &t, full, &all->dynamic, object);
  if (strcmp(s->measured.form, "both") != 0)
    return object;
  double ratio = (double)dynamic.valu / (double)fixed.valu;
  all->ratios += ratio;
  json_object_set_new(object, "valu_ratio", json_real(ratio));
  return object;
}

static json_t *totals_object(const settings *s, const totals *all) {
  json_t *object = json_object();
  if (measured_has_form(&s->measured, "static"))
    json_object_set_new(object, "static", summary_object(&all->fixed));
  if (measured_has_form(&s->measured, "dynamic"))
    json_object_set_new(object, "dynamic", summary_object(&all->dynamic));
  if (strcmp(s->measured.form, "both") != 0 || all->fixed.cases == 0)
    return object;
  json_object_set_new(object, "valu_ratio", json_real((double)all->dynamic.valu / (double)all->fixed.valu));
  json_object_set_new(object, "mean_valu_ratio", json_real(all->ratios / all->fixed.cases));
  return object;
}

static void print_totals(const settings *s, const totals *all) {
  if (measured_has_form(&s->measured, "static"))
    print_summary("static", &all->fixed);
  if (measured_has_form(&s->measured, "dynamic"))
    print_summary("dynamic", &all->dynamic);
  if (strcmp(s->measured.form, "both") == 0 && all->fixed.cases > 0)
    printf("VALU dynamic/static: %.3f of the sums, %.3f mean of the ratios\n",
           (double)all->dynamic.valu / (double)all->fixed.valu, all->ratios / all->fixed.cases);
  putchar('\n');
}

static json_t *measure_type(const transpose_run *run, const settings *s) {
  json_t *cases = json_array();
  totals all = {.ratios = 0};
  if (s->is_table)
    print_heading(s, run->type);
  for (int i = 0; i < TRANSPOSITION_COUNT; i++) {
    const transposition *t = &transpositions[i];
    if (s->only != NULL && strcmp(s->only, t->permutation) != 0)
      continue;
    json_array_append_new(cases, measure_case(run, s, t, &all));
    if (isatty(STDERR_FILENO) && !s->is_table)
      fprintf(stderr, "\r%s: %d of %d ", run->type, i + 1, (int)TRANSPOSITION_COUNT);
  }
  if (s->is_table)
    print_totals(s, &all);
  return json_pack("{s:o,s:o}", "summary", totals_object(s, &all), "cases", cases);
}

static json_t *measure(const settings *s) {
  transpose_run run = {.headroom = s->headroom};
  if (tj_context_create(NULL, &run.context) != TJ_OK)
    fail("out of memory");
  tj_context_set_cache(run.context, NULL);
  if (tj_device_open(run.context, s->device, &run.device) != TJ_OK)
    fail(tj_context_diagnostic(run.context)->message);
  json_t *types = json_object();
  for (int i = 0; i < s->measured.type_count; i++) {
    run.type = s->measured.type[i];
    json_object_set_new(types, run.type, measure_type(&run, s));
  }
  tj_device_close(run.device);
  tj_context_destroy(run.context);
  return json_pack("{s:s,s:s,s:I,s:i,s:o}", "benchmark", "transpose", "device", s->device, "elements",
                   (json_int_t)s->elements, "headroom", s->headroom, "types", types);
}

/* --- the command line --- */

static bool parse_option(const char *name, char *value, settings *s) {
  if (strcmp(name, "--device") == 0)
    s->device = value;
  else if (strcmp(name, "--case") == 0)
    s->only = value;
  else if (strcmp(name, "--form") == 0)
    s->measured.form = value;
  else if (strcmp(name, "--elements") == 0)
    s->elements = strtoll(value, NULL, 10);
  else if (strcmp(name, "--headroom") == 0)
    s->headroom = (int)strtol(value, NULL, 10);
  else
    return strcmp(name, "--types") == 0 && measured_parse_types(&s->measured, value);
  return true;
}

static bool parse(int count, char **words, settings *s) {
  for (int i = 1; i < count; i++) {
    if (strcmp(words[i], "--table") == 0)
      s->is_table = true;
    else if (i + 1 == count || !parse_option(words[i], words[i + 1], s))
      return false;
    else
      i++;
  }
  bool is_form = measured_has_form(&s->measured, "static") || measured_has_form(&s->measured, "dynamic");
  return is_form && s->elements > 0 && s->headroom >= 0 && s->headroom < 16;
}

int main(int count, char **words) {
  char types[] = "f32,f16";
  settings s = {.device = "sim:gfx942", .measured = {.form = "both"}, .elements = 300000};
  measured_parse_types(&s.measured, types);
  if (!parse(count, words, &s)) {
    fputs(usage, stderr);
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  json_t *report = measure(&s);
  if (!s.is_table) {
    json_dumpf(report, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(5));
    putchar('\n');
  }
  json_decref(report);
  return 0;
}

/* SPDX-License-Identifier: MIT */
/* The mappings that `check --candidates` tells: cheapest first, the chosen one among them; each, written into the
 * program, costs what was told of it. */
#include "tests/unit/support/paste_support.h"

#include <jansson.h>

enum { CANDIDATES = 4 };

/* `none`: the beginning of the reason why there are no candidates; NULL: there are at least so many. */
typedef struct {
  const char *family, *text, *target, *none;
  size_t least;
} row;

static const row rows[] = {
    {"turned in LDS", "kernel k(src: f32 @ (200,168):(168,1), dst: f32 @ (200,168):(1,200)) = copy(src, dst)",
     "gfx942", NULL, CANDIDATES},
    {"turned in LDS, waves of 32",
     "kernel k(src: f16 @ (96,75,3):(225,3,1), dst: f16 @ (96,75,3):(1,96,7200)) = copy(src, dst)", "gfx1201", NULL,
     CANDIDATES},
    {"in registers", "kernel k(src: f32 @ (64,60):(60,1), dst: f32 @ (64,60):(64,1)) = copy(src, dst)", "gfx942",
     NULL, 2},
    {"given",
     "kernel k(src: f32 @ (64,64):(64,1), dst: f32 @ (64,64):(1,64)) = copy(src, dst, mapping=mapping("
     "load=((8,32),4):((4@1,1@0),1@1), store=((8,32),4):((4@0,1@1),1@0)))",
     "gfx942", NULL, 2},
    {"no neighbours", "kernel k(src: f32 @ 100:3, dst: f32 @ 100:5) = copy(src, dst)", "gfx942", NULL, 1},
    {"gather",
     "kernel k(src: f16 @ (512,64):(64,1), idx: i32 @ 128:1, dst: f16 @ (128,64):(64,1)) = copy(src, dst, "
     "gather=[idx, 0])",
     "gfx942", NULL, 1},
    {"shapes of the launch", "param N in 1..1000 kernel k(src: f32 @ N:1, dst: f32 @ N:1) = copy(src, dst)", "gfx942",
     "the launch chooses the tile", 0},
    {"offsets", "kernel k(dst: i32 @ 8:1) = offsets(dst, 8:3)", "gfx942", "the kernel copies nothing", 0},
    {"blocks", "kernel k(src: f32 @ 100:1, dst: f32 @ 100:1) = copy(src, dst)", "host",
     "mappings for the host have no price", 0},
};

static json_t *checked(tj_context *context, const char *text, const char *target, size_t candidates) {
  tj_program *program = new_program(context, text, NULL, 0);
  tj_check_options options = {.target = target, .form = TJ_CHECK_JSON, .candidates = candidates};
  tj_blob report;
  int holds;
  expect_ok(context, tj_program_check(program, &options, &holds, &report), text);
  json_t *object = json_loadb(report.data, report.size, 0, NULL);
  tj_blob_release(context, &report);
  tj_program_destroy(program);
  return object;
}

static const json_t *findings_of(const json_t *report, size_t section) {
  return json_object_get(json_array_get(json_object_get(report, "checks"), section), "findings");
}

static json_int_t number_of(const json_t *finding, const char *name) {
  return json_integer_value(json_object_get(json_object_get(finding, "numbers"), name));
}

/* What a kernel's own findings say of the same. */
static json_int_t sum_of(const json_t *findings, const char *name, bool of_lds) {
  json_int_t sum = 0;
  size_t i;
  const json_t *finding;
  json_array_foreach(findings, i, finding) {
    const char *about = json_string_value(json_object_get(finding, "about"));
    bool is_access = strncmp(about, "load ", 5) == 0 || strncmp(about, "store ", 6) == 0;
    if (is_access && (strstr(about, " LDS") != NULL) == of_lds)
      sum += number_of(finding, name);
  }
  return sum;
}

static void expect_told(const json_t *candidate, const json_t *findings, const char *text) {
  static const struct {
    const char *told, *found;
    bool of_lds;
  } sums[] = {
      {"instructions", "instructions", false},    {"lines", "lines", false},  {"least_lines", "least_lines", false},
      {"lds_instructions", "instructions", true}, {"cycles", "cycles", true}, {"ideal", "ideal", true}};
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
    ck_assert_msg(number_of(candidate, sums[i].told) == sum_of(findings, sums[i].found, sums[i].of_lds), "%s of %s",
                  sums[i].told, text);
}

/* The candidate, written into the program. */
static void check_pasted(tj_context *context, const row *r, const json_t *candidate) {
  pasted_program p = {.text = r->text, .target = r->target};
  char *text = with_mapping(&p, json_string_value(json_object_get(candidate, "mapping")));
  json_t *report = checked(context, text, r->target, 0);
  expect_told(candidate, findings_of(report, 0), text);
  json_decref(report);
  free(text);
}

static void check_candidates(tj_context *context, const row *r, const json_t *findings) {
  size_t i, chosen = 0;
  json_int_t price = 0;
  const json_t *candidate;
  ck_assert_uint_ge(json_array_size(findings), r->least);
  ck_assert_uint_le(json_array_size(findings), CANDIDATES);
  json_array_foreach(findings, i, candidate) {
    ck_assert_int_ge(number_of(candidate, "price"), price);
    price = number_of(candidate, "price");
    ck_assert_int_ge(price, number_of(candidate, "lines"));
    ck_assert_int_ge(number_of(candidate, "residents"), 1);
    chosen += strncmp(json_string_value(json_object_get(candidate, "text")), "chosen; ", 8) == 0;
    check_pasted(context, r, candidate);
  }
  ck_assert_uint_eq(chosen, strstr(r->text, "mapping=") == NULL);
}

START_TEST(candidates_cost_what_is_told) {
  const row *r = &rows[_i];
  tj_context *context = new_context(NULL);
  json_t *report = checked(context, r->text, r->target, CANDIDATES);
  const json_t *findings = findings_of(report, json_array_size(json_object_get(report, "checks")) - 1);
  const char *text = json_string_value(json_object_get(json_array_get(findings, 0), "text"));
  if (r->none != NULL)
    ck_assert_msg(strncmp(text, r->none, strlen(r->none)) == 0, "%s: %s", r->family, text);
  else
    check_candidates(context, r, findings);
  json_decref(report);
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  return run_suite(suite_of_cases("candidates", candidates_cost_what_is_told, (int)(sizeof rows / sizeof *rows)));
}

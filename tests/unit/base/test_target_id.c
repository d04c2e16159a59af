/* SPDX-License-Identifier: MIT */
/* Target IDs: what is read, what is refused and why, and which code runs on which device. */
#include "base/machine/target_id.h"

#include "tests/unit/support/harness.h"

#include <string.h>

/* --- reading --- */

START_TEST(texts_have_a_canonical_form) {
  static const char *const rows[][2] = {
      {"gfx942", "gfx942"},
      {"host", "host"},
      {"gfx942:sramecc+:xnack-", "gfx942:sramecc+:xnack-"},
      {"gfx942:xnack-:sramecc+", "gfx942:sramecc+:xnack-"},
      {"gfx90a:xnack+", "gfx90a:xnack+"},
      {"gfx9-4-generic:sramecc-", "gfx9-4-generic:sramecc-"},
      {"a-processor-of-31-letters-aaaaa", "a-processor-of-31-letters-aaaaa"},
      {"a-processor-of-31-letters-aaaaa:xnack-:sramecc-", "a-processor-of-31-letters-aaaaa:sramecc-:xnack-"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tj_target_id id;
    tj_target_reason reason;
    char text[TJ_TARGET_ID_SIZE];
    ck_assert_msg(tj_target_id_parse(rows[i][0], &id, &reason), "%s: %s", rows[i][0], reason.text);
    ck_assert_int_eq(reason.code, 0);
    tj_target_id_write(&id, text);
    ck_assert_str_eq(text, rows[i][1]);
  }
}
END_TEST

START_TEST(what_is_no_target_id_is_refused) {
  static const struct {
    const char *text;
    tj_problem_code code;
    const char *reason;
  } rows[] = {
      {"", TJ_UNKNOWN_TARGET, "names no processor"},
      {":xnack+", TJ_UNKNOWN_TARGET, "names no processor"},
      {"a-processor-of-32-letters-aaaaaa", TJ_UNKNOWN_TARGET, "unknown processor a-processor-of-32-"},
      {"gfx942:", TJ_UNKNOWN_FEATURE, "no sign"},
      {"gfx942::xnack+", TJ_UNKNOWN_FEATURE, "no sign"},
      {"gfx942:xnack", TJ_UNKNOWN_FEATURE, "the feature xnack has no sign"},
      {"gfx942:xnack+:", TJ_UNKNOWN_FEATURE, "no sign"},
      {"gfx942:+", TJ_UNKNOWN_FEATURE, "unknown feature"},
      {"gfx942:xnack++", TJ_UNKNOWN_FEATURE, "unknown feature xnack+"},
      {"gfx942:XNACK+", TJ_UNKNOWN_FEATURE, "unknown feature XNACK"},
      {"gfx942:xnac+", TJ_UNKNOWN_FEATURE, "unknown feature xnac"},
      {"gfx942:xnack+:xnack+", TJ_UNKNOWN_FEATURE, "xnack is given twice"},
      {"gfx942:xnack+:sramecc+:xnack-", TJ_UNKNOWN_FEATURE, "xnack is given twice"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tj_target_id id;
    tj_target_reason reason;
    ck_assert_msg(!tj_target_id_parse(rows[i].text, &id, &reason), "%s was read", rows[i].text);
    ck_assert_msg(reason.code == rows[i].code && strstr(reason.text, rows[i].reason) != NULL, "%s: TJ%04d: %s",
                  rows[i].text, (int)reason.code, reason.text);
  }
}
END_TEST

START_TEST(isa_names_end_in_a_target_id) {
  ck_assert_str_eq(tj_target_id_in_isa("amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"), "gfx942:sramecc+:xnack-");
  ck_assert_str_eq(tj_target_id_in_isa("amdgcn-amd-amdhsa--gfx9-4-generic"), "gfx9-4-generic");
  ck_assert_ptr_null(tj_target_id_in_isa("amdgcn-amd-amdhsa"));
  ck_assert_ptr_null(tj_target_id_in_isa(""));
}
END_TEST

/* --- compatibility --- */

/* Code, device, and a part of the reason; NULL: the code runs there. */
static const char *const pairs[][3] = {
    {"gfx942", "gfx942", NULL},
    {"gfx942", "gfx942:sramecc+:xnack-", NULL},
    {"gfx942", "gfx942:sramecc-:xnack+", NULL},
    {"gfx942:xnack-", "gfx942:sramecc+:xnack-", NULL},
    {"gfx942:sramecc+", "gfx942:sramecc+:xnack-", NULL},
    {"gfx942:xnack-:sramecc+", "gfx942:sramecc+:xnack-", NULL},
    {"gfx1100", "gfx1100", NULL},
    {"host", "host", NULL},
    {"x86-64-v3", "x86-64-v3", NULL},
    {"x86-64-v3", "gfx942:sramecc+:xnack-", "the code is for x86-64-v3, the device is gfx942"},
    {"x86-64-v5", "host", "the code is for x86-64-v5, the device is host"},
    {"x86-64-v3:xnack+", "gfx942:sramecc+:xnack-", "the code is for x86-64-v3"},
    {"gfx942:xnack+", "gfx942:sramecc+:xnack-", "needs xnack+, the device has xnack-"},
    {"gfx942:xnack-", "gfx942:sramecc+:xnack+", "needs xnack-, the device has xnack+"},
    {"gfx942:sramecc-", "gfx942:sramecc+:xnack-", "needs sramecc-, the device has sramecc+"},
    {"gfx942:sramecc+:xnack+", "gfx942:sramecc+:xnack-", "needs xnack+"},
    {"gfx942:xnack-", "gfx942", "of which the device says nothing"},
    {"gfx942:sramecc+", "gfx942:xnack-", "of which the device says nothing"},
    {"gfx90a", "gfx942", "the code is for gfx90a, the device is gfx942"},
    {"gfx90a", "gfx90", "the code is for gfx90a"},
    {"gfx90", "gfx90a", "the code is for gfx90"},
    {"gfx942", "host", "the device is host"},
    {"host", "gfx942:sramecc+:xnack-", "the device is gfx942"},
    {"sm_90", "sm_90", NULL},
    {"sm_80", "sm_90", NULL},
    {"sm_90", "sm_100", NULL},
    {"sm_100", "sm_90", "the code is for sm_100, the device is sm_90"},
    {"sm_90a", "sm_100", "the code is for sm_90a"},
    {"sm_90a", "sm_90a", NULL},
    {"sm_90:cubin", "sm_90", NULL},
    {"sm_80:cubin", "sm_86", NULL},
    {"sm_86:cubin", "sm_80", "the code is a cubin for sm_86, the device is sm_80"},
    {"sm_80:cubin", "sm_90", "the code is a cubin for sm_80, the device is sm_90"},
    {"sm_100:cubin", "sm_103", NULL},
    {"sm_90:cubin:cubin", "sm_90", "the feature cubin has no sign"},
    {"gfx942:cubin", "gfx942", "the feature cubin has no sign"},
    {"sm_", "sm_90", "the code is for sm_"},
    {"sm_80", "gfx942", "the device is gfx942"},
    {"gfx942:xnack", "gfx942:xnack", "no sign"},
    {"", "", "names no processor"},
};

START_TEST(code_runs_where_its_target_id_allows) {
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    tj_target_reason reason;
    bool allows = tj_target_allows(pairs[i][0], pairs[i][1], &reason);
    ck_assert_msg(allows == (pairs[i][2] == NULL), "%s on %s: '%s'", pairs[i][0], pairs[i][1], reason.text);
    if (allows)
      ck_assert_int_eq(reason.code, 0);
    else
      ck_assert_msg(strstr(reason.text, pairs[i][2]) != NULL, "%s on %s: '%s'", pairs[i][0], pairs[i][1],
                    reason.text);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {texts_have_a_canonical_form, what_is_no_target_id_is_refused,
                                isa_names_end_in_a_target_id, code_runs_where_its_target_id_allows};
  return run_suite(suite_of("target_id", tests, sizeof tests / sizeof tests[0]));
}

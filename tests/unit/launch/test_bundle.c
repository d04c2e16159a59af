/* SPDX-License-Identifier: MIT */
/* Bundles: what is found in them, for which targets; that none is accepted of which a byte is wrong; and that bytes
 * whose checksum has been made right do no harm before a kernel starts. */
#include "tests/unit/support/forged_entry.h"
#include "tests/unit/support/library_support.h"
#include "tests/unit/support/prepared_code.h"

enum { BUNDLE = 6017, BUNDLE_KERNEL = 6018, BUNDLE_CODE = 6019, FILE_READ = 6004 };

static const char forth[] = "param M in 1..4096, N in 1..4096\n"
                            "kernel forth(src: f32 @ (M,N):(N,1), dst: f32 @ (M,N):(1,M)) = copy(src, dst)";
static const char back[] = "kernel back(src: i8 @ 64:1, dst: i8 @ 64:1) = copy(src, dst)";

/* Code that is put into bundles: text, target. */
typedef struct {
  const char *text, *target;
} made_code;

static const made_code forth_and_back[] = {
    {forth, "gfx90a"},         {forth, "gfx942"}, {forth, "gfx942:xnack-"}, {forth, "x86-64-v3"},
    {back, "gfx942:sramecc+"}, {back, "gfx1100"}, {back, "sm_80"},          {back, "sm_90"},
};
static const made_code one_for_both[] = {{back, "x86-64-v3"}, {back, "gfx1100"}};

enum { MOST_CODES = 8 };

static tj_status try_bundle(tj_context *context, const made_code code[], size_t count, tj_blob *bundle) {
  tj_code *made[MOST_CODES] = {NULL};
  for (size_t i = 0; i < count; i++)
    expect_ok(context,
              tj_code_compile_text(context, "test", code[i].text, strlen(code[i].text), NULL, 0,
                                   &(tj_compile_options){NULL, code[i].target}, &made[i]),
              code[i].target);
  tj_status status = tj_bundle_write(context, (const tj_code *const *)made, count, bundle);
  for (size_t i = 0; i < count; i++)
    tj_code_destroy(made[i]);
  return status;
}

static tj_blob make_bundle(tj_context *context, const made_code code[], size_t count) {
  tj_blob bundle;
  expect_ok(context, try_bundle(context, code, count, &bundle), "a bundle");
  return bundle;
}

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* --- what is found --- */

/* A kernel, NULL for the only one, a target, and the target of the code that is found; or a part of the message. */
static const struct {
  const char *kernel, *target, *found, *message;
} choices[] = {
    {"forth", "gfx90a:sramecc+:xnack-", "gfx90a", NULL},
    {"forth", "gfx90a", "gfx90a", NULL},
    {"forth", "gfx942:sramecc+:xnack-", "gfx942:xnack-", NULL},
    {"forth", "gfx942:sramecc+:xnack+", "gfx942", NULL},
    {"forth", "host", "x86-64-v3", NULL},
    {"forth", "x86-64-v3", "x86-64-v3", NULL},
    {"back", "gfx942:sramecc+:xnack-", "gfx942:sramecc+", NULL},
    {"back", "sm_86", "sm_80", NULL},
    {"back", "sm_100", "sm_90", NULL},
    {"back", "sm_75", NULL, "none of which runs on sm_75"},
    {"back", "gfx942:sramecc-:xnack-", NULL,
     "'back' for gfx942:sramecc+, gfx1100, sm_80, sm_90, none of which runs on"},
    {"back", "host", NULL, "none of which runs on host"},
    {"forth", "gfx1100", NULL, "none of which runs on gfx1100"},
    {"sideways", "gfx1100", NULL, "no kernel 'sideways'"},
    {NULL, "gfx1100", NULL, "several kernels, among them 'forth' and 'back'"},
};

START_TEST(code_is_found_by_kernel_and_target) {
  tj_context *context = new_context(NULL);
  tj_blob bytes = make_bundle(context, forth_and_back, COUNT_OF(forth_and_back));
  tj_bundle *bundle;
  expect_ok(context, tj_bundle_open(context, bytes.data, bytes.size, &bundle), "open");
  tj_blob_release(context, &bytes);
  for (size_t i = 0; i < COUNT_OF(choices); i++) {
    tj_code *code;
    tj_status status = tj_bundle_code(bundle, choices[i].kernel, choices[i].target, &code);
    if (choices[i].found == NULL) {
      expect_code(context, status, BUNDLE_KERNEL, choices[i].message);
      continue;
    }
    expect_ok(context, status, choices[i].target);
    ck_assert_str_eq(tj_code_target(code), choices[i].found);
    ck_assert_str_eq(tj_code_kernel(code), choices[i].kernel);
    ck_assert_int_eq(tj_code_origin_of(code), TJ_CODE_FROM_BUNDLE);
    ck_assert(prepare_anything(context, code));
    tj_code_destroy(code);
  }
  tj_bundle_destroy(bundle);
  tj_context_destroy(context);
}
END_TEST

START_TEST(entries_are_told_in_order) {
  tj_context *context = new_context(NULL);
  tj_blob bytes = make_bundle(context, forth_and_back, COUNT_OF(forth_and_back));
  tj_bundle *bundle;
  expect_ok(context, tj_bundle_open(context, bytes.data, bytes.size, &bundle), "open");
  ck_assert_uint_eq(tj_bundle_count(bundle), COUNT_OF(forth_and_back));
  for (size_t i = 0; i < COUNT_OF(forth_and_back); i++) {
    tj_bundle_entry entry = tj_bundle_entry_of(bundle, i);
    ck_assert_str_eq(entry.target, forth_and_back[i].target);
    ck_assert_str_eq(entry.kernel, forth_and_back[i].text == forth ? "forth" : "back");
    ck_assert_uint_gt(entry.bytes, 0);
  }
  ck_assert_ptr_null(tj_bundle_entry_of(bundle, COUNT_OF(forth_and_back)).kernel);
  tj_bundle_destroy(bundle);
  tj_blob_release(context, &bytes);
  tj_context_destroy(context);
}
END_TEST

/* Code of a bundle in another bundle, and code that outlives its bundle. */
START_TEST(code_goes_from_bundle_to_bundle) {
  tj_context *context = new_context(NULL);
  tj_blob first = make_bundle(context, one_for_both, COUNT_OF(one_for_both)), second;
  tj_bundle *bundle;
  tj_code *code[COUNT_OF(one_for_both)];
  expect_ok(context, tj_bundle_open(context, first.data, first.size, &bundle), "open");
  for (size_t i = 0; i < COUNT_OF(one_for_both); i++)
    expect_ok(context, tj_bundle_code(bundle, NULL, one_for_both[i].target, &code[i]), one_for_both[i].target);
  tj_bundle_destroy(bundle);
  expect_ok(context, tj_bundle_write(context, (const tj_code *const *)code, COUNT_OF(code), &second), "again");
  ck_assert_uint_eq(first.size, second.size);
  ck_assert_mem_eq(first.data, second.data, first.size);
  for (size_t i = 0; i < COUNT_OF(code); i++)
    tj_code_destroy(code[i]);
  tj_blob_release(context, &first);
  tj_blob_release(context, &second);
  tj_context_destroy(context);
}
END_TEST

/* --- what cannot be in one --- */

static const struct {
  made_code code[2];
  const char *message;
} impossible[] = {
    {{{back, "gfx90a"}, {back, "gfx90a"}}, "two kernels 'back' for gfx90a"},
    {{{back, "gfx90a"}, {back, "host"}}, "'back' is for this processor alone"},
};

START_TEST(what_cannot_be_in_a_bundle_is_refused) {
  tj_context *context = new_context(NULL);
  for (size_t i = 0; i < COUNT_OF(impossible); i++) {
    tj_blob bundle;
    expect_code(context, try_bundle(context, impossible[i].code, 2, &bundle), BUNDLE_CODE, impossible[i].message);
  }
  tj_context_destroy(context);
}
END_TEST

START_TEST(files_that_cannot_be_read_are_told) {
  tj_context *context = new_context(NULL);
  tj_bundle *bundle;
  expect_code(context, tj_bundle_open_file(context, "/nowhere/k.tjb", &bundle), FILE_READ, "/nowhere/k.tjb: No such");
  expect_code(context, tj_bundle_open_file(context, "/", &bundle), FILE_READ, "/: ");
  expect_code(context, tj_bundle_open_file(context, "/dev/null", &bundle), FILE_READ, "/dev/null: ");
  tj_context_destroy(context);
}
END_TEST

/* --- bytes that are wrong --- */

/* Takes everything out of it. True where it was accepted. */
static bool exhaust(tj_context *context, const void *bytes, size_t size) {
  tj_bundle *bundle;
  tj_status status = tj_bundle_open(context, bytes, size, &bundle);
  if (status != TJ_OK) {
    ck_assert_uint_eq(failure_of(context, status), BUNDLE);
    return false;
  }
  ck_assert(prepare_everything(context, bundle));
  tj_bundle_destroy(bundle);
  return true;
}

START_TEST(bundles_with_a_wrong_byte_are_refused) {
  tj_context *context = new_context(NULL);
  tj_blob bytes = make_bundle(context, one_for_both, COUNT_OF(one_for_both));
  ck_assert(exhaust(context, bytes.data, bytes.size));
  for (size_t i = 0; i < bytes.size; i++) {
    bytes.data[i] ^= (char)(1 << i % 8);
    ck_assert_msg(!exhaust(context, bytes.data, bytes.size), "byte %zu is wrong, and nobody says so", i);
    bytes.data[i] ^= (char)(1 << i % 8);
  }
  for (size_t size = 0; size < bytes.size; size++)
    ck_assert_msg(!exhaust(context, bytes.data, size), "%zu bytes are enough", size);
  ck_assert_msg(!exhaust(context, bytes.data, bytes.size + 1), "one more is");
  tj_blob_release(context, &bytes);
  tj_context_destroy(context);
}
END_TEST

/* Each byte is replaced, and the checksum too: what is refused is refused with a diagnostic, what is not is looked at
 * up to the launch. */
START_TEST(forged_bundles_do_no_harm) {
  static const unsigned char replacements[] = {0x01, 0x80, 0xff};
  tj_context *context = new_context(NULL);
  tj_blob bytes = make_bundle(context, one_for_both, COUNT_OF(one_for_both));
  size_t accepted = 0;
  for (size_t i = 0; i < bytes.size; i++) {
    unsigned char *at = (unsigned char *)&bytes.data[i], was = *at;
    for (size_t k = 0; k < sizeof replacements; k++) {
      *at = was ^ replacements[k];
      make_checksum_right(bytes.data, bytes.size);
      accepted += exhaust(context, bytes.data, bytes.size);
    }
    *at = was;
  }
  ck_assert_uint_gt(accepted, 0);
  tj_blob_release(context, &bytes);
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {code_is_found_by_kernel_and_target, entries_are_told_in_order,
                                code_goes_from_bundle_to_bundle,    what_cannot_be_in_a_bundle_is_refused,
                                files_that_cannot_be_read_are_told, bundles_with_a_wrong_byte_are_refused,
                                forged_bundles_do_no_harm};
  return run_suite(suite_of("bundle", tests, COUNT_OF(tests)));
}

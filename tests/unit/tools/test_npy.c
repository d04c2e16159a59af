/* SPDX-License-Identifier: MIT */
/* .npy files as bytes: what is read of each form, and why others are refused. The files are the fuzz target's corpus.
 */
#include "tests/unit/support/suite.h"
#include "tools/input/npy.h"

#include <stdio.h>
#include <string.h>

enum { LARGEST = 4096 };

/* A file that is refused with a reason; or read, with these many dimensions and bytes. */
static const struct {
  const char *name, *reason, *dtype;
  size_t rank, bytes;
} rows[] = {
    {"matrix.npy", NULL, "<f4", 2, 24},
    {"fortran.npy", NULL, "<f4", 2, 24},
    {"vector.npy", NULL, "|u1", 1, 5},
    {"scalar.npy", NULL, "<f8", 0, 8},
    {"empty.npy", NULL, "<i8", 2, 0},
    {"version2.npy", NULL, "<i2", 1, 6},
    {"version3.npy", NULL, "<u4", 2, 4},
    {"raw.npy", NULL, "|V16", 1, 32},
    {"dates.npy", NULL, "<M8[ns]", 1, 8},
    {"truncated.npy", "it is shorter than its shape says", NULL, 0, 0},
    {"truncated_header.npy", "it has no .npy header", NULL, 0, 0},
    {"empty_file.npy", "it has no .npy header", NULL, 0, 0},
    {"no_magic.npy", "it has no .npy header", NULL, 0, 0},
    {"big_endian.npy", "its element type is not supported", NULL, 0, 0},
    {"objects.npy", "its element type is not supported", NULL, 0, 0},
    {"characters.npy", "its element type is not supported", NULL, 0, 0},
    {"long_type.npy", "its element type is not supported", NULL, 0, 0},
    {"no_type.npy", "its element type is not supported", NULL, 0, 0},
    {"records.npy", "its element type is not supported", NULL, 0, 0},
    {"no_shape.npy", "its shape is malformed", NULL, 0, 0},
    {"bare_shape.npy", "its shape is malformed", NULL, 0, 0},
    {"open_shape.npy", "its shape is malformed", NULL, 0, 0},
    {"no_order.npy", "its order is malformed", NULL, 0, 0},
    {"order_number.npy", "its order is malformed", NULL, 0, 0},
    {"negative.npy", "its shape is malformed", NULL, 0, 0},
    {"many_dimensions.npy", "its shape is malformed", NULL, 0, 0},
    {"overflow.npy", "it is shorter than its shape says", NULL, 0, 0},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static size_t read_whole(const char *name, char data[LARGEST]) {
  char path[1024];
  snprintf(path, sizeof path, "%s/fuzz/corpus/npy/%s", TILEJIT_TEST_DATA, name);
  FILE *file = fopen(path, "rb");
  ck_assert_msg(file != NULL, "%s", path);
  size_t size = fread(data, 1, LARGEST, file);
  fclose(file);
  return size;
}

START_TEST(files_are_read_or_refused) {
  char data[LARGEST];
  npy_array array;
  size_t size = read_whole(rows[_i].name, data), begin;
  const char *reason = npy_parse(data, size, &array, &begin);
  if (rows[_i].reason != NULL) {
    ck_assert_msg(reason != NULL, "%s is read", rows[_i].name);
    ck_assert_str_eq(reason, rows[_i].reason);
    return;
  }
  ck_assert_msg(reason == NULL, "%s: %s", rows[_i].name, reason);
  ck_assert_str_eq(array.dtype, rows[_i].dtype);
  ck_assert_uint_eq(array.rank, rows[_i].rank);
  ck_assert_uint_eq(array.size, rows[_i].bytes);
  ck_assert_uint_eq(size - begin, array.size);
  ck_assert_int_eq(array.is_fortran, strcmp(rows[_i].name, "fortran.npy") == 0);
}
END_TEST

/* Every byte that is cut off is missed. */
START_TEST(shorter_files_are_refused) {
  char data[LARGEST];
  npy_array array;
  size_t whole = read_whole("matrix.npy", data), begin;
  for (size_t size = 0; size < whole; size++) {
    char *exact = malloc(size + 1);
    memcpy(exact, data, size);
    ck_assert_msg(npy_parse(exact, size, &array, &begin) != NULL, "%zu of %zu bytes are read", size, whole);
    free(exact);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_of_cases("npy", files_are_read_or_refused, ROWS);
  TCase *cut = tcase_create("cut");
  tcase_add_test(cut, shorter_files_are_refused);
  suite_add_tcase(suite, cut);
  return run_suite(suite);
}

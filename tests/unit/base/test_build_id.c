/* SPDX-License-Identifier: MIT */
/* Build IDs, of this program and of files of the test's own. */
#include "base/build_id.h"
#include "tests/unit/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int here = 1; /* in this program */

START_TEST(what_is_loaded_has_the_build_id_of_its_file) {
  char of_place[TJ_BUILD_ID_SIZE], of_file[TJ_BUILD_ID_SIZE];
  tj_build_id_of_place(&here, of_place);
  tj_build_id_of_file("/proc/self/exe", of_file);
  ck_assert_str_ne(of_place, "");
  ck_assert_str_eq(of_place, of_file);
}
END_TEST

START_TEST(libraries_have_others) {
  char of_program[TJ_BUILD_ID_SIZE], of_library[TJ_BUILD_ID_SIZE];
  void *in_library;
  void *(*function)(size_t) = malloc;
  memcpy(&in_library, &function, sizeof in_library);
  tj_build_id_of_place(&here, of_program);
  tj_build_id_of_place(in_library, of_library);
  ck_assert_str_ne(of_library, "");
  ck_assert_str_ne(of_program, of_library);
}
END_TEST

/* Bytes that are no ELF file, or damaged ones: their size and time tell them apart. */
static const struct {
  const char *bytes;
  size_t size;
} others[] = {
    {"", 0},
    {"text", 4},
    {"\177ELF", 4},
    {"\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\76\0\1\0\0\0\0\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377\0\0\0\0\0\0\0"
     "\0"
     "\0\0\0\0\100\0\70\0\377\377\0\0\0\0\0\0",
     64},
};

START_TEST(other_files_are_told_apart_by_size_and_time) {
  char path[] = "/tmp/tilejit_build_XXXXXX", id[TJ_BUILD_ID_SIZE], expected[TJ_BUILD_ID_SIZE];
  int file = mkstemp(path);
  ck_assert_int_ge(file, 0);
  ck_assert_int_eq(write(file, others[_i].bytes, others[_i].size), (ssize_t)others[_i].size);
  struct timespec times[] = {{1, 0}, {1234567890, 42}};
  ck_assert_int_eq(futimens(file, times), 0);
  close(file);
  tj_build_id_of_file(path, id);
  snprintf(expected, sizeof expected, "%zu-1234567890.000000042", others[_i].size);
  ck_assert_str_eq(id, expected);
  unlink(path);
}
END_TEST

START_TEST(files_that_are_not_there_have_none) {
  char id[TJ_BUILD_ID_SIZE] = "x";
  tj_build_id_of_file("/nowhere", id);
  ck_assert_str_eq(id, "");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("build_id");
  TCase *plain = tcase_create("plain");
  tcase_add_test(plain, what_is_loaded_has_the_build_id_of_its_file);
  tcase_add_test(plain, libraries_have_others);
  tcase_add_loop_test(plain, other_files_are_told_apart_by_size_and_time, 0, sizeof others / sizeof *others);
  tcase_add_test(plain, files_that_are_not_there_have_none);
  suite_add_tcase(suite, plain);
  return run_suite(suite);
}

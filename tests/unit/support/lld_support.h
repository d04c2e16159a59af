/* SPDX-License-Identifier: MIT */
/* LLD's ELF linker as a program, where it is installed: what it makes is what loaders of GPUs are used to. */
#ifndef TJ_TESTS_LLD_SUPPORT_H
#define TJ_TESTS_LLD_SUPPORT_H

#include "base/bytes.h"
#include "base/job.h"
#include "tests/unit/support/folder_support.h"

#ifdef TILEJIT_LLD
enum { HAS_LLD = 1 };
#else
enum { HAS_LLD = 0 };
#define TILEJIT_LLD ""
#endif

static inline void write_object(const char *path, tj_bytes object) {
  FILE *file = fopen(path, "wb");
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_eq(fwrite(object.data, 1, object.size, file), object.size);
  fclose(file);
}

static inline tj_bytes read_linked(tj_job *job, const char *path) {
  FILE *file = fopen(path, "rb");
  ck_assert_ptr_nonnull(file);
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *data = TJ_NEW_ARRAY(job, char, size);
  ck_assert_uint_eq(fread(data, 1, size, file), size);
  fclose(file);
  return (tj_bytes){data, size};
}

/* The shared object that LLD makes of an object, in the job's arena. */
static inline tj_bytes link_with_lld(tj_job *job, tj_bytes object) {
  char input[PATH_SIZE + 8], output[PATH_SIZE + 8], command[4 * PATH_SIZE];
  make_folder();
  snprintf(input, sizeof input, "%s/in.o", folder);
  snprintf(output, sizeof output, "%s/out", folder);
  snprintf(command, sizeof command, "'%s' -shared --no-undefined --discard-all -o '%s' '%s'", TILEJIT_LLD, output,
           input);
  write_object(input, object);
  ck_assert_int_eq(system(command), 0);
  tj_bytes linked = read_linked(job, output);
  remove_folder();
  return linked;
}

#endif

/* SPDX-License-Identifier: MIT */
/* The simulator's reader of code objects: whole ones, and damaged ones, which are refused or read but never make it
 * crash, hang, or look outside of their bytes. */
#include "tests/unit/support/harness.h"
#include "tests/unit/support/objects.h"

#include "jit/compile/link.h"
#include "rt/sim/isa/decode.h"
#include "rt/sim/load/image.h"
#include "tests/unit/support/processors.h"

enum { PROCESSORS = SIMULATED_COUNT, FLIPS = 4000 };

typedef struct {
  const char *processor;
  tj_bytes bytes;
  tj_sim_image *image;
} session;

static void make(tj_job *job, void *data) {
  session *s = data;
  s->bytes = tj_link(job, make_amdgpu_object(job, kernels_ir, s->processor));
}

/* As the runtime does it: reads, loads, decodes. */
static void read_image(tj_job *job, void *data) {
  session *s = data;
  s->image = tj_sim_image_read(job, s->bytes);
  if (s->image->size > 1 << 24)
    return;
  tj_sim_image_load(s->image, TJ_NEW_ARRAY(job, unsigned char, s->image->size + 1));
  for (uint32_t lanes = 32; lanes <= 64; lanes += 32) {
    void *disassembler = tj_sim_disassembler_open(s->image->object->processor, lanes);
    tj_sim_image_decode(job, s->image, disassembler, lanes);
    tj_sim_disassembler_close(disassembler);
  }
}

START_TEST(whole_code_objects) {
  for (size_t p = 0; p < PROCESSORS; p++) {
    tj_job job;
    tj_job_init(&job, NULL);
    session s = {.processor = simulated[p]};
    expect_success(&job, make, &s);
    expect_success(&job, read_image, &s);
    ck_assert_str_eq(s.image->object->processor->name, simulated[p]);
    ck_assert_uint_eq(s.image->object->kernel_count, 2);
    const tj_sim_kernel *kernel = tj_sim_image_kernel(s.image, "store.kd");
    ck_assert_ptr_nonnull(kernel);
    ck_assert_ptr_null(tj_sim_image_kernel(s.image, "stor"));
    ck_assert_uint_eq(kernel->code->descriptor.group_segment_bytes, 1024);
    ck_assert_uint_eq(kernel->code->descriptor.kernarg_bytes, 12);
    ck_assert_uint_eq(kernel->code->descriptor.wave_size, tj_processor_wave_size(s.image->object->processor));
    ck_assert_uint_gt(kernel->program->count, 10);
    for (uint32_t i = 0; i < kernel->program->count; i++)
      ck_assert_msg(kernel->program->instruction[i].operation != NULL, "%s: %s", simulated[p],
                    kernel->program->instruction[i].problem);
    tj_job_destroy(&job);
  }
}
END_TEST

START_TEST(code_objects_have_a_target) {
  tj_job job;
  tj_job_init(&job, NULL);
  session s = {.processor = "gfx942"};
  expect_success(&job, make, &s);
  expect_success(&job, read_image, &s);
  char target[TJ_TARGET_ID_SIZE];
  tj_target_id_write(&s.image->target, target);
  ck_assert_str_eq(target, "gfx942");
  tj_job_destroy(&job);
}
END_TEST

/* Changes one byte at a word that occurs in the file, as far behind it as said. */
static void damage(session *s, const char *word, size_t behind, uint8_t to) {
  unsigned char *bytes = (unsigned char *)(uintptr_t)s->bytes.data;
  size_t length = strlen(word), at = 0;
  while (at + length < s->bytes.size && memcmp(bytes + at, word, length) != 0)
    at++;
  ck_assert_uint_lt(at + length + behind, s->bytes.size);
  ck_assert_uint_ne(bytes[at + length + behind], to);
  bytes[at + length + behind] = to;
}

/* Metadata that say something else than the descriptors or the header. */
START_TEST(notes_must_agree) {
  static const struct {
    const char *word;
    size_t behind;
    uint8_t to;
    const char *expected;
  } rows[] = {
      {".group_segment_fixed_size", 2, 5, "kernel store: its metadata has LDS bytes of 1029 instead of 1024"},
      {".kernarg_segment_size", 0, 16, "kernel store: its metadata has an argument block of 16 instead of 12"},
      {".private_segment_fixed_size", 0, 8, "kernel store: its metadata has scratch bytes of 8 instead of 0"},
      {".wavefront_size", 0, 32, "kernel store: its metadata has a wave size of 32 instead of 64"},
      {"-gfx94", 0, '0', "its metadata are for amdgcn-amd-amdhsa--gfx940"},
      {".symbol", 1, 'b', "does not exist"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    session s = {.processor = "gfx942"};
    expect_success(&job, make, &s);
    damage(&s, rows[i].word, rows[i].behind, rows[i].to);
    expect_failure(&job, TJ_CODE_OBJECT, read_image, &s);
    ck_assert_msg(strstr(job.problem.message, rows[i].expected) != NULL, "%s: %s", rows[i].word, job.problem.message);
    tj_job_destroy(&job);
  }
}
END_TEST

/* Reads a damaged copy, which is exactly as long as it says, so that sanitizers see a byte too far. */
static void read_damaged(const void *bytes, size_t size) {
  unsigned char *copy = malloc(size > 0 ? size : 1);
  memcpy(copy, bytes, size);
  tj_job job;
  tj_job_init(&job, NULL);
  session s = {.bytes = {copy, size}};
  tj_status status = tj_job_run(&job, read_image, &s);
  ck_assert_msg(status == TJ_OK || job.problem.code == TJ_CODE_OBJECT || job.problem.code == TJ_MEMORY_LIMIT ||
                    job.problem.code == TJ_WORK_LIMIT,
                "TJ%04d: %s", (int)job.problem.code, job.problem.message);
  tj_job_destroy(&job);
  free(copy);
}

START_TEST(damaged_code_objects) {
  tj_job job;
  tj_job_init(&job, NULL);
  session s = {.processor = "gfx1100"};
  expect_success(&job, make, &s);
  for (size_t size = 0; size < s.bytes.size; size += size < 1024 ? 1 : 37)
    read_damaged(s.bytes.data, size);
  uint64_t state = 3;
  unsigned char *copy = malloc(s.bytes.size);
  for (int i = 0; i < FLIPS; i++) {
    memcpy(copy, s.bytes.data, s.bytes.size);
    for (int k = 0; k <= i % 3; k++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      size_t at = (size_t)(state >> 33) % (i % 2 == 0 ? 600 : s.bytes.size);
      copy[at] = (unsigned char)(copy[at] ^ 1u << (state >> 20 & 7));
    }
    read_damaged(copy, s.bytes.size);
  }
  free(copy);
  tj_job_destroy(&job);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {whole_code_objects, code_objects_have_a_target, notes_must_agree,
                                damaged_code_objects};
  return run_suite(suite_of("sim_image", tests, sizeof tests / sizeof tests[0]));
}

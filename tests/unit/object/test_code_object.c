/* SPDX-License-Identifier: MIT */
/* Code objects: what is read of each processor's, what is refused and why, and that no damage gets past the checks.
 */
#include "object/code_object.h"

#include "jit/compile/link.h"
#include "tests/unit/support/harness.h"
#include "tests/unit/support/lld_support.h"
#include "tests/unit/support/objects.h"

/* What the two kernels of objects.h are on each processor. */
typedef struct {
  const char *processor;
  uint32_t mach;
  uint32_t wave_size;
  uint32_t vgpr_granule;
  bool has_accum_offset;
  bool has_private_segment_buffer;
  const char *target_id;
} processor_row;

static const processor_row rows[] = {
    {"gfx90a", 0x3f, 64, 8, true, true, "gfx90a"},     {"gfx942", 0x4c, 64, 8, true, false, "gfx942"},
    {"gfx950", 0x4f, 64, 8, true, false, "gfx950"},    {"gfx1030", 0x36, 32, 8, false, true, "gfx1030"},
    {"gfx1100", 0x41, 32, 8, false, false, "gfx1100"}, {"gfx1201", 0x4e, 32, 8, false, false, "gfx1201"},
    {"gfx908", 0x30, 64, 4, false, true, "gfx908"},    {"gfx11-generic", 0x54, 32, 8, false, false, "gfx11-generic"},
};

static const size_t row_count = sizeof rows / sizeof *rows;

static const char *ir_of(const processor_row *row, tj_job *job) {
  if (strstr(row->processor, "generic") == NULL)
    return kernels_ir;
  tj_text ir = tj_text_begin(job);
  tj_text_add(&ir, kernels_ir, (size_t)(strstr(kernels_ir, "i32 500}") - kernels_ir));
  tj_text_string(&ir, "i32 600}\n");
  return ir.data;
}

static tj_bytes make_linked(tj_job *job, const processor_row *row) {
  return tj_link(job, make_amdgpu_object(job, ir_of(row, job), row->processor));
}

static void check_target(const tj_code_object *object, const processor_row *row) {
  bool is_generic = strstr(row->processor, "generic") != NULL;
  ck_assert_str_eq(object->processor->name, row->processor);
  ck_assert_uint_eq(object->processor->mach, row->mach);
  ck_assert_str_eq(object->target_id, row->target_id);
  ck_assert_uint_eq(object->code_object_version, is_generic ? 6 : 5);
  ck_assert_uint_eq(object->generic_version, is_generic ? 1 : 0);
  ck_assert_ptr_nonnull(strstr(object->metadata_target, row->processor));
  ck_assert_uint_eq(tj_processor_vgpr_granule(object->processor, row->wave_size), row->vgpr_granule);
}

static void check_store_descriptor(const tj_kernel_code *kernel, const processor_row *row) {
  const tj_kernel_descriptor *descriptor = &kernel->descriptor;
  ck_assert_uint_eq(descriptor->kernarg_bytes, 12);
  ck_assert_uint_eq(descriptor->group_segment_bytes, 1024);
  ck_assert_uint_eq(descriptor->private_segment_bytes, 0);
  ck_assert_uint_eq(descriptor->wave_size, row->wave_size);
  ck_assert_uint_eq(descriptor->vgprs % row->vgpr_granule, 0);
  ck_assert_uint_ge(descriptor->vgprs, kernel->metadata->vgprs);
  ck_assert_uint_ge(descriptor->sgprs, kernel->metadata->sgprs);
  ck_assert_int_eq(descriptor->accum_offset != 0, row->has_accum_offset);
  ck_assert_int_eq(descriptor->has_private_segment_buffer, row->has_private_segment_buffer);
  ck_assert(descriptor->has_kernarg_pointer);
  ck_assert(descriptor->has_workgroup_id[0] && !descriptor->has_workgroup_id[1] && !descriptor->has_workgroup_id[2]);
  ck_assert_uint_eq(descriptor->workitem_id_dimensions, 1);
  ck_assert_uint_eq(descriptor->float_denorm_16_64, 3);
  ck_assert_uint_ge(descriptor->user_sgprs, row->has_private_segment_buffer ? 6 : 2);
}

static void check_store_metadata(const tj_kernel_metadata *metadata, const processor_row *row) {
  ck_assert_ptr_nonnull(metadata);
  ck_assert_str_eq(metadata->name, "store");
  ck_assert_str_eq(metadata->symbol, "store.kd");
  ck_assert_uint_eq(metadata->wave_size, row->wave_size);
  ck_assert_uint_eq(metadata->max_flat_workgroup_size, 256);
  ck_assert_uint_eq(metadata->kernarg_alignment, 8);
  ck_assert_uint_eq(metadata->argument_count, 2);
  ck_assert_str_eq(metadata->argument[0].value_kind, "global_buffer");
  ck_assert_str_eq(metadata->argument[0].address_space, "global");
  ck_assert_uint_eq(metadata->argument[0].size, 8);
  ck_assert_str_eq(metadata->argument[1].value_kind, "by_value");
  ck_assert_uint_eq(metadata->argument[1].offset, 8);
  ck_assert(!metadata->argument[1].is_hidden);
}

static void parse_processor(tj_job *job, void *data) {
  const processor_row *row = data;
  const tj_code_object *object = tj_code_object_parse(job, make_linked(job, row));
  check_target(object, row);
  ck_assert_uint_eq(object->kernel_count, 2);
  const tj_kernel_code *store = tj_code_object_kernel(object, "store"), *hidden;
  ck_assert_ptr_nonnull(store);
  ck_assert_uint_ge(store->code.size, 64);
  ck_assert_ptr_eq(tj_code_object_at(object, store->entry_address).data, store->code.data);
  check_store_metadata(store->metadata, row);
  check_store_descriptor(store, row);
  hidden = tj_code_object_kernel(object, "hidden");
  ck_assert_uint_gt(hidden->metadata->argument_count, 1);
  ck_assert(hidden->metadata->argument[hidden->metadata->argument_count - 1].is_hidden);
  ck_assert_ptr_null(tj_code_object_kernel(object, "stor"));
  ck_assert_ptr_null(tj_code_object_kernel(object, "store.kd"));
  ck_assert_ptr_nonnull(tj_code_object_symbol(object, "store.kd"));
  ck_assert_ptr_null(tj_code_object_symbol(object, "nothing"));
}

START_TEST(processors_are_read) {
  for (size_t i = 0; i < row_count; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    processor_row row = rows[i];
    expect_success(&job, parse_processor, &row);
    tj_job_destroy(&job);
  }
}
END_TEST

static void check_segments(tj_job *job, void *data) {
  (void)data;
  const tj_code_object *object = tj_code_object_parse(job, make_linked(job, &rows[1]));
  uint32_t executable = 0, writable = 0;
  for (uint32_t i = 0; i < object->segment_count; i++) {
    executable += object->segment[i].is_executable;
    writable += object->segment[i].is_writable;
    ck_assert(object->segment[i].is_readable);
    ck_assert(!object->segment[i].is_writable || !object->segment[i].is_executable);
  }
  ck_assert_uint_eq(executable, 1);
  ck_assert_uint_eq(writable, 1);
  ck_assert_uint_eq(object->relocation_count, 0);
  ck_assert_uint_eq(tj_code_object_at(object, UINT64_MAX).size, 0);
}

START_TEST(segments_are_read) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, check_segments, NULL);
  tj_job_destroy(&job);
}
END_TEST

static const char relocated_ir[] = "target triple = \"amdgcn-amd-amdhsa\"\n"
                                   "@there = protected addrspace(1) global i32 7\n"
                                   "@table = protected addrspace(1) global [2 x ptr addrspace(1)] [ptr addrspace(1) "
                                   "@there, ptr addrspace(1) null]\n";

static void parse_relocations(tj_job *job, void *data) {
  (void)data;
  tj_bytes linked = link_with_lld(job, make_amdgpu_object(job, relocated_ir, "gfx942"));
  const tj_code_object *object = tj_code_object_parse(job, linked);
  ck_assert_uint_eq(object->relocation_count, 1);
  ck_assert_uint_eq(object->relocation[0].address, tj_code_object_symbol(object, "table")->address);
  ck_assert_uint_eq(object->relocation[0].type, 13);
  ck_assert_uint_eq((uint64_t)object->relocation[0].addend, tj_code_object_symbol(object, "there")->address);
}

START_TEST(relocations_are_read) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, parse_relocations, NULL);
  tj_job_destroy(&job);
}
END_TEST

static const char *const target_ids[][2] = {
    {"", "gfx90a"},
    {"+xnack", "gfx90a:xnack+"},
    {"-xnack,+sramecc", "gfx90a:sramecc+:xnack-"},
    {"+sramecc", "gfx90a:sramecc+"},
};

static void parse_target_id(tj_job *job, void *data) {
  const char *const *row = data;
  tj_bytes object = make_object(job, kernels_ir, "amdgcn-amd-amdhsa", "gfx90a", row[0]);
  ck_assert_str_eq(tj_code_object_parse(job, tj_link(job, object))->target_id, row[1]);
}

START_TEST(target_ids_are_read) {
  for (size_t i = 0; i < sizeof target_ids / sizeof *target_ids; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    expect_success(&job, parse_target_id, (void *)(uintptr_t)target_ids[i]);
    tj_job_destroy(&job);
  }
}
END_TEST

/* A check of a code object that the compiler made. */
typedef struct {
  const char *kernel;
  uint32_t kernarg_bytes;
  const char *complaint; /* part of the message; NULL: it passes */
} check_row;

static const check_row checks[] = {
    {"store", 12, NULL},
    {"store", 16, "instead of 16"},
    {"shop", 12, "kernel shop is not in the code object"},
    {"hidden", 8, "instead of 8"},
    {"hidden", 264, "hidden argument"},
};

typedef struct {
  tj_bytes linked;
  check_row row;
} check_case;

static void check_made(tj_job *job, void *data) {
  const check_case *c = data;
  tj_code_object_check(job, tj_code_object_parse(job, c->linked), c->row.kernel, c->row.kernarg_bytes);
}

START_TEST(what_the_compiler_made_is_checked) {
  tj_job job;
  tj_job_init(&job, NULL);
  tj_bytes linked = tj_link(&job, make_amdgpu_object(&job, kernels_ir, "gfx942"));
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
    check_case c = {linked, checks[i]};
    if (checks[i].complaint == NULL) {
      expect_success(&job, check_made, &c);
      continue;
    }
    expect_failure(&job, TJ_CODEGEN, check_made, &c);
    ck_assert_msg(strstr(job.problem.message, checks[i].complaint) != NULL, "%s", job.problem.message);
  }
  tj_job_destroy(&job);
}
END_TEST

static void parse_bytes(tj_job *job, void *data) {
  tj_code_object_parse(job, *(tj_bytes *)data);
}

/* A linked object whose bytes tests may change; kept outside of arenas, so that sanitizers know its bounds. */
typedef struct {
  unsigned char *data;
  size_t size;
} specimen;

static void fill_specimen(tj_job *job, void *data) {
  specimen *made = data;
  tj_bytes linked = make_linked(job, &rows[1]);
  made->data = malloc(linked.size);
  made->size = linked.size;
  memcpy(made->data, linked.data, linked.size);
}

static specimen make_specimen(void) {
  specimen made = {NULL, 0};
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, fill_specimen, &made);
  tj_job_destroy(&job);
  return made;
}

/* One field of the header, or of the first program header, changed; and what is said of it. */
typedef struct {
  size_t offset;
  size_t width;
  uint64_t value;
  const char *complaint;
} damage_row;

enum { PROGRAM_HEADERS = 64, PROGRAM_HEADER = 56, FIRST_LOAD = PROGRAM_HEADERS + PROGRAM_HEADER };

static const damage_row damages[] = {
    {0, 1, 0x7e, "not an ELF file"},
    {4, 1, 1, "not a 64-bit"},
    {5, 1, 2, "little-endian"},
    {7, 1, 0, "OS ABI is 0"},
    {8, 1, 0, "ABI version is 0"},
    {8, 1, 9, "ABI version is 9"},
    {16, 2, 1, "not linked"},
    {18, 2, 62, "machine 62"},
    {32, 8, UINT64_MAX - 8, "program header table reaches past"},
    {40, 8, UINT64_MAX, "section table reaches past"},
    {48, 4, 0x5ff, "e_flags 0x5ff"},
    {54, 2, 55, "entries of 55 bytes"},
    {56, 2, 0xffff, "program header table reaches past"},
    {58, 2, 63, "entries of 63 bytes"},
    {60, 2, 0xffff, "section table reaches past"},
    {FIRST_LOAD + 8, 8, UINT64_MAX, "contents of a segment reaches past"},
    {FIRST_LOAD + 32, 8, UINT64_MAX, "contents of a segment reaches past"},
    {FIRST_LOAD + 40, 8, 1, "more bytes in the file than in memory"},
    {FIRST_LOAD + 40, 8, 0x100000, "segments overlap"},
    {FIRST_LOAD + 16, 8, UINT64_MAX - 16, "past the end of the address space"},
    {FIRST_LOAD + 48, 8, 3, "not a power of two"},
    {FIRST_LOAD, 4, 0, "descriptor of kernel"},
};

static void put(unsigned char *at, size_t width, uint64_t value) {
  for (size_t i = 0; i < width; i++)
    at[i] = (unsigned char)(value >> 8 * i);
}

START_TEST(damage_is_named) {
  specimen whole = make_specimen();
  unsigned char *changed = malloc(whole.size);
  tj_job job;
  tj_job_init(&job, NULL);
  for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
    memcpy(changed, whole.data, whole.size);
    put(changed + damages[i].offset, damages[i].width, damages[i].value);
    tj_bytes bytes = {changed, whole.size};
    expect_failure(&job, TJ_CODE_OBJECT, parse_bytes, &bytes);
    ck_assert_msg(strstr(job.problem.message, damages[i].complaint) != NULL, "row %zu: %s", i, job.problem.message);
  }
  tj_job_destroy(&job);
  free(changed);
  free(whole.data);
}
END_TEST

/* A string table without its last zero, in place of each of the file's. */
START_TEST(string_tables_must_end_in_zero) {
  enum { SECTION = 64, STRINGS = 3 };
  specimen whole = make_specimen();
  tj_bytes bytes = {whole.data, whole.size};
  uint64_t table = tj_bytes_u64(bytes, 40);
  int refused = 0;
  for (uint64_t i = 0; i < tj_bytes_u16(bytes, 60); i++) {
    tj_bytes entry = tj_bytes_slice(bytes, table + i * SECTION, SECTION);
    if (tj_bytes_u32(entry, 4) != STRINGS)
      continue;
    uint64_t last = tj_bytes_u64(entry, 24) + tj_bytes_u64(entry, 32) - 1;
    whole.data[last] = 'x';
    tj_job job;
    tj_job_init(&job, NULL);
    if (tj_job_run(&job, parse_bytes, &bytes) != TJ_OK)
      refused += strstr(job.problem.message, "does not end in a zero byte") != NULL;
    tj_job_destroy(&job);
    whole.data[last] = 0;
  }
  ck_assert_int_eq(refused, 1);
  free(whole.data);
}
END_TEST

/* Metadata, and what is said of it; NULL: it is read. */
typedef struct {
  const char *bytes;
  size_t size;
  const char *complaint;
} metadata_row;

#define METADATA(bytes, complaint)                                                                                   \
  { bytes, sizeof(bytes) - 1, complaint }
#define KERNELS                                                                                                      \
  "\x81\xae"                                                                                                         \
  "amdhsa.kernels"
#define NAME                                                                                                         \
  "\xa5"                                                                                                             \
  ".name"

static const metadata_row metadata_rows[] = {
    METADATA("\x80", NULL),
    METADATA("\x81\xc0\xc0", NULL),
    METADATA("\x82\xa5"
             "other\x92\x01\x80\xad"
             "amdhsa.target\xa1"
             "t",
             NULL),
    METADATA(KERNELS "\x90", NULL),
    METADATA(KERNELS "\x91\x81" NAME "\xa1"
                     "k",
             NULL),
    METADATA(KERNELS "\x91\x81\xa5"
                     ".args\x91\x80",
             NULL),
    METADATA("", "ends too early"),
    METADATA("\x90", "the metadata is not a map"),
    METADATA("\x81", "more elements than bytes"),
    METADATA("\x81\xa1"
             "x",
             "ends too early"),
    METADATA("\x81\xa1"
             "x\xc1",
             "ends too early, or is not MessagePack"),
    METADATA(KERNELS "\x80", "amdhsa.kernels is not an array"),
    METADATA(KERNELS "\xdd\xff\xff\xff\xff\x80", "amdhsa.kernels has more elements than bytes"),
    METADATA(KERNELS "\x91\x01", "a kernel is not a map"),
    METADATA(KERNELS "\x91\x81" NAME "\x01", ".name is not a string"),
    METADATA(KERNELS "\x91\x81" NAME "\xa2"
                     "k\0",
             ".name is not a string"),
    METADATA(KERNELS "\x91\x81\xab"
                     ".vgpr_count\xff",
             ".vgpr_count is not an unsigned"),
    METADATA(KERNELS "\x91\x81\xab"
                     ".vgpr_count\xcf\x00\x00\x00\x01\x00\x00\x00\x00",
             ".vgpr_count is not an unsigned"),
    METADATA(KERNELS "\x91\x81\xb4"
                     ".reqd_workgroup_size\x92\x01\x01",
             ".reqd_workgroup_size is not an array of three"),
    METADATA(KERNELS "\x91\x81\xb3"
                     ".uses_dynamic_stack\x01",
             ".uses_dynamic_stack is not a boolean"),
    METADATA(KERNELS "\x91\x81\xa5"
                     ".args\x91\xc0",
             "an argument is not a map"),
};

static void read_metadata(tj_job *job, void *data) {
  const metadata_row *row = data;
  tj_metadata_read(job, (tj_bytes){row->bytes, row->size});
}

/* Numbers of a kernel's metadata: where tj_kernel_metadata keeps each, and how many there are in a row. */
static const struct {
  const char *key;
  size_t offset;
  unsigned count;
} numbers[] = {
    {".kernarg_segment_size", offsetof(tj_kernel_metadata, kernarg_bytes), 1},
    {".kernarg_segment_align", offsetof(tj_kernel_metadata, kernarg_alignment), 1},
    {".group_segment_fixed_size", offsetof(tj_kernel_metadata, group_segment_bytes), 1},
    {".private_segment_fixed_size", offsetof(tj_kernel_metadata, private_segment_bytes), 1},
    {".sgpr_count", offsetof(tj_kernel_metadata, sgprs), 1},
    {".vgpr_count", offsetof(tj_kernel_metadata, vgprs), 1},
    {".agpr_count", offsetof(tj_kernel_metadata, agprs), 1},
    {".sgpr_spill_count", offsetof(tj_kernel_metadata, sgpr_spills), 1},
    {".vgpr_spill_count", offsetof(tj_kernel_metadata, vgpr_spills), 1},
    {".wavefront_size", offsetof(tj_kernel_metadata, wave_size), 1},
    {".max_flat_workgroup_size", offsetof(tj_kernel_metadata, max_flat_workgroup_size), 1},
    {".reqd_workgroup_size", offsetof(tj_kernel_metadata, required_workgroup_size), 3},
};

enum { NUMBER_KEYS = sizeof numbers / sizeof numbers[0], FIRST_NUMBER = 200 };

/* A kernel whose numbers are 200 and on, in the order of the keys, or in the opposite one. */
static tj_bytes write_numbers(tj_job *job, bool is_reversed) {
  tj_text text = tj_text_begin(job);
  tj_text_add(&text, KERNELS "\x91\xde\0", sizeof(KERNELS "\x91\xde\0") - 1);
  tj_text_format(&text, "%c", NUMBER_KEYS);
  for (unsigned i = 0; i < NUMBER_KEYS; i++) {
    unsigned key = is_reversed ? NUMBER_KEYS - 1 - i : i;
    size_t length = strlen(numbers[key].key);
    tj_text_format(&text, "\xd9%c%s", (int)length, numbers[key].key);
    if (numbers[key].count > 1)
      tj_text_format(&text, "%c", 0x90 + (int)numbers[key].count);
    for (unsigned n = 0; n < numbers[key].count; n++)
      tj_text_format(&text, "\xcc%c", FIRST_NUMBER + (int)(key + n));
  }
  return (tj_bytes){text.data, text.length};
}

static void read_numbers(tj_job *job, void *data) {
  (void)data;
  for (unsigned order = 0; order < 2; order++) {
    const tj_metadata *metadata = tj_metadata_read(job, write_numbers(job, order == 1));
    ck_assert_uint_eq(metadata->kernel_count, 1);
    for (unsigned key = 0; key < NUMBER_KEYS; key++) {
      const uint32_t *field = (const uint32_t *)(const void *)((const char *)metadata->kernel + numbers[key].offset);
      for (unsigned n = 0; n < numbers[key].count; n++)
        ck_assert_msg(field[n] == FIRST_NUMBER + key + n, "%s: %u", numbers[key].key, field[n]);
    }
  }
}

START_TEST(metadata_goes_where_it_belongs) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, read_numbers, NULL);
  tj_job_destroy(&job);
}
END_TEST

START_TEST(metadata_is_checked) {
  for (size_t i = 0; i < sizeof metadata_rows / sizeof *metadata_rows; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    metadata_row row = metadata_rows[i];
    if (row.complaint == NULL) {
      expect_success(&job, read_metadata, &row);
    } else {
      expect_failure(&job, TJ_CODE_OBJECT, read_metadata, &row);
      ck_assert_msg(strstr(job.problem.message, row.complaint) != NULL, "row %zu: %s", i, job.problem.message);
    }
    tj_job_destroy(&job);
  }
}
END_TEST

/* Register fields of descriptors, and what they allocate. */
typedef struct {
  const char *processor;
  uint32_t rsrc1, rsrc3;
  uint16_t properties;
  uint32_t wave_size, vgprs, sgprs, accum_offset;
} registers_row;

enum { WAVE32 = 1 << 10 };

static const registers_row registers_rows[] = {
    {"gfx803", 0x000 | 3 << 6, 0, 0, 64, 4, 32, 0},
    {"gfx900", 0x03f | 12 << 6, 0, 0, 64, 256, 112, 0},
    {"gfx908", 0x001, 0, 0, 64, 8, 16, 0},
    {"gfx90a", 0x03f, 63, 0, 64, 512, 16, 256},
    {"gfx942", 0x001, 1, 0, 64, 16, 16, 8},
    {"gfx942", 0x001, 1, WAVE32, 64, 16, 16, 8},
    {"gfx1030", 0x002, 0, WAVE32, 32, 24, 128, 0},
    {"gfx1030", 0x002, 0, 0, 64, 12, 128, 0},
    {"gfx1201", 0x01f | 15 << 6, 0, WAVE32, 32, 256, 128, 0},
    {"gfx1250", 0x03f, 0, WAVE32, 32, 1024, 128, 0},
};

START_TEST(registers_are_counted_in_granules) {
  for (size_t i = 0; i < sizeof registers_rows / sizeof *registers_rows; i++) {
    const registers_row *row = &registers_rows[i];
    unsigned char bytes[TJ_KERNEL_DESCRIPTOR_SIZE] = {0};
    tj_kernel_descriptor descriptor;
    put(bytes + 48, 4, row->rsrc1);
    put(bytes + 44, 4, row->rsrc3);
    put(bytes + 56, 2, row->properties);
    const tj_processor *processor = tj_processor_by_name(row->processor);
    ck_assert_ptr_null(tj_kernel_descriptor_decode((tj_bytes){bytes, sizeof bytes}, processor, &descriptor));
    ck_assert_msg(descriptor.wave_size == row->wave_size && descriptor.vgprs == row->vgprs &&
                      descriptor.sgprs == row->sgprs && descriptor.accum_offset == row->accum_offset,
                  "row %zu: wave size %u, %u vgprs, %u sgprs, accum_offset %u", i, descriptor.wave_size,
                  descriptor.vgprs, descriptor.sgprs, descriptor.accum_offset);
  }
}
END_TEST

START_TEST(a_bundle_is_recognised) {
  static const char bundle[] = "__CLANG_OFFLOAD_BUNDLE__\0\0\0\0\0\0\0";
  tj_bytes bytes = {bundle, sizeof bundle};
  tj_job job;
  tj_job_init(&job, NULL);
  expect_failure(&job, TJ_CODE_OBJECT, parse_bytes, &bytes);
  ck_assert_ptr_nonnull(strstr(job.problem.message, "bundle"));
  ck_assert_ptr_nonnull(strstr(job.problem.note, "clang-offload-bundler"));
  tj_job_destroy(&job);
}
END_TEST

START_TEST(every_truncation_is_refused) {
  specimen whole = make_specimen();
  for (size_t size = 0; size < whole.size; size++) {
    unsigned char *cut = malloc(size == 0 ? 1 : size);
    memcpy(cut, whole.data, size);
    tj_bytes bytes = {cut, size};
    tj_job job;
    tj_job_init(&job, NULL);
    expect_failure(&job, TJ_CODE_OBJECT, parse_bytes, &bytes);
    tj_job_destroy(&job);
    free(cut);
  }
  free(whole.data);
}
END_TEST

static bool lies_inside(tj_bytes part, tj_bytes whole) {
  const char *begin = part.data, *end = begin + part.size, *base = whole.data;
  return part.size == 0 || (begin >= base && end <= base + whole.size);
}

/* Whatever parses keeps what code_object.h promises. */
static void parse_and_hold_to_promises(tj_job *job, void *data) {
  tj_bytes bytes = *(tj_bytes *)data;
  const tj_code_object *object = tj_code_object_parse(job, bytes);
  uint64_t end = 0;
  for (uint32_t i = 0; i < object->segment_count; i++) {
    const tj_segment *segment = &object->segment[i];
    ck_assert(lies_inside(segment->bytes, bytes) && segment->bytes.size <= segment->memory_size);
    ck_assert(segment->address >= end);
    end = segment->address + segment->memory_size;
    ck_assert(end >= segment->address);
  }
  for (uint32_t i = 0; i < object->kernel_count; i++) {
    const tj_kernel_code *kernel = &object->kernel[i];
    ck_assert(lies_inside(kernel->code, bytes) && kernel->code.size != 0);
    ck_assert_uint_eq(kernel->entry_address % 256, 0);
    ck_assert(kernel->descriptor.wave_size == 32 || kernel->descriptor.wave_size == 64);
  }
  for (uint32_t i = 0; i < object->symbol_count; i++)
    ck_assert(lies_inside((tj_bytes){object->symbol[i].name, strlen(object->symbol[i].name) + 1}, bytes));
}

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

START_TEST(no_flipped_bytes_get_past_the_checks) {
  enum { ROUNDS = 40000 };
  static const unsigned char telling[] = {0, 1, 0x7f, 0x80, 0xff};
  specimen whole = make_specimen();
  unsigned char *changed = malloc(whole.size);
  uint64_t random = 0x9e3779b97f4a7c15;
  int accepted = 0;
  for (int round = 0; round < ROUNDS; round++) {
    memcpy(changed, whole.data, whole.size);
    for (uint64_t flips = 1 + next_random(&random) % 4; flips != 0; flips--) {
      uint64_t r = next_random(&random);
      changed[(r >> 16) % whole.size] = r % 2 != 0 ? (unsigned char)(r >> 8) : telling[(r >> 8) % sizeof telling];
    }
    tj_bytes bytes = {changed, whole.size};
    tj_job job;
    tj_job_init(&job, NULL);
    if (tj_job_run(&job, parse_and_hold_to_promises, &bytes) == TJ_OK)
      accepted++;
    else
      ck_assert_msg(job.problem.code == TJ_CODE_OBJECT, "TJ%04d: %s", (int)job.problem.code, job.problem.message);
    tj_job_destroy(&job);
  }
  ck_assert_int_gt(accepted, ROUNDS / 10);
  ck_assert_int_lt(accepted, ROUNDS);
  free(changed);
  free(whole.data);
}
END_TEST

START_TEST(processors_are_found_by_either_name) {
  for (size_t i = 0; i < tj_processor_count; i++) {
    const tj_processor *processor = tj_processor_by_name(tj_processors[i].name);
    ck_assert_ptr_eq(processor, &tj_processors[i]);
    ck_assert_ptr_eq(tj_processor_by_mach(processor->mach), processor);
  }
  ck_assert_ptr_null(tj_processor_by_name("gfx94"));
  ck_assert_ptr_null(tj_processor_by_name(""));
  ck_assert_ptr_null(tj_processor_by_mach(0));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      processors_are_read,
      segments_are_read,
      target_ids_are_read,
      what_the_compiler_made_is_checked,
      damage_is_named,
      string_tables_must_end_in_zero,
      metadata_is_checked,
      metadata_goes_where_it_belongs,
      registers_are_counted_in_granules,
      a_bundle_is_recognised,
      every_truncation_is_refused,
      no_flipped_bytes_get_past_the_checks,
      processors_are_found_by_either_name,
      relocations_are_read, /* the last one: left out without LLD */
  };
  return run_suite(suite_of("code_object", tests, sizeof tests / sizeof *tests - !HAS_LLD));
}

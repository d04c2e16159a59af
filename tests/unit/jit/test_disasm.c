/* SPDX-License-Identifier: MIT */
/* Disassembly and statistics: classes and notes by mnemonic, listings of each processor's kernels, counts that agree
 * with them, and code that is no code. */
#include "jit/isa/disasm.h"

#include "jit/compile/link.h"
#include "jit/isa/stats.h"
#include "tests/unit/support/harness.h"
#include "tests/unit/support/objects.h"
#include "tests/unit/support/processors.h"

typedef struct {
  const char *text;
  const char *class;
  uint8_t cost;
  const char *note;
} instruction_row;

static const instruction_row instructions[] = {
    {"v_add_u32_e32 v0, v1, v2", "valu", 1, ""},
    {"v_mul_lo_u32 v0, v1, v2", "valu", 4, ""},
    {"v_mul_hi_u32 v0, v1, v2", "valu", 4, ""},
    {"v_mul_u64_e32 v[0:1], v[2:3], v[4:5]", "valu", 16, ""},
    {"v_mad_u32 v0, v1, v2, v3", "valu", 4, ""},
    {"v_mul_hi_i32 v0, v1, v2", "valu", 4, ""},
    {"v_mad_u64_u32 v[0:1], s[0:1], v2, v3, v[4:5]", "valu", 4, ""},
    {"v_mad_i64_i32 v[0:1], s[0:1], v2, v3, v[4:5]", "valu", 4, ""},
    {"v_mul_u32_u24_e32 v0, v1, v2", "valu", 1, ""},
    {"v_mul_f32_e32 v0, v1, v2", "valu", 1, ""},
    {"v_dual_mov_b32 v0, 0 :: v_dual_mov_b32 v1, 1", "valu", 1, ""},
    {"v_mfma_f32_4x4x4_16b_f16 v[0:3], v[4:5], v[6:7], 0", "valu", 2, ""},
    {"v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], 0", "valu", 4, ""},
    {"v_mfma_f32_16x16x16f16 a[0:3], v[4:5], v[6:7], 0", "valu", 8, ""},
    {"v_mfma_f32_16x16x4_f32 v[0:3], v4, v5, 0", "valu", 8, ""},
    {"v_mfma_f32_16x16x8_xf32 v[0:3], v[4:5], v[6:7], 0", "valu", 4, ""},
    {"v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0", "valu", 8, ""},
    {"v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], 0", "valu", 16, ""},
    {"v_mfma_f32_32x32x4_2b_bf16 v[0:31], v[32:33], v[34:35], 0", "valu", 16, ""},
    {"v_mfma_i32_32x32x16_i8 a[0:15], v[0:1], v[2:3], 0", "valu", 8, ""},
    {"v_mfma_f64_16x16x4_f64 v[0:7], v[8:9], v[10:11], 0", "valu", 8, ""},
    {"v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], 0", "valu", 8, ""},
    {"v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[16:23], v[24:31], 0, v32, v33", "valu", 16, ""},
    {"v_smfmac_f32_32x32x16_f16 v[0:15], v[16:17], v[18:21], v22", "valu", 8, ""},
    {"v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", "valu", 32, ""},
    {"v_wmma_i32_16x16x16_iu4 v[0:7], v[8:9], v[10:11], v[0:7]", "valu", 16, ""},
    {"v_swmmac_f32_16x16x32_f16 v[0:7], v[8:11], v[12:19], v20", "valu", 16, ""},
    {"v_accvgpr_read_b32 v0, a0", "valu", 1, ""},
    {"v_nop", "valu", 1, ""},
    {"s_nop 1", "wait", 0, ""},
    {"s_code_end", "padding", 0, ""},
    {"s_and_saveexec_b64 s[4:5], vcc", "salu", 0, ""},
    {"s_setreg_b32 hwreg(HW_REG_MODE), s0", "salu", 0, ""},
    {"s_cbranch_execz 49", "branch", 0, ""},
    {"s_setpc_b64 s[30:31]", "branch", 0, ""},
    {"s_endpgm", "control", 0, ""},
    {"s_barrier", "control", 0, ""},
    {"s_load_dwordx16 s[0:15], s[0:1], 0x0", "smem", 0, "scalar load, 64 bytes"},
    {"s_load_b64 s[0:1], s[0:1], 0x0", "smem", 0, "scalar load, 8 bytes"},
    {"s_buffer_load_dword s0, s[0:3], 0x0", "smem", 0, "scalar buffer load, 4 bytes"},
    {"s_memtime s[0:1]", "smem", 0, "scalar clock"},
    {"global_load_dwordx4 v[0:3], v[0:1], off", "vmem", 0, "global load, 16 bytes a lane"},
    {"global_load_b128 v[0:3], v[0:1], off", "vmem", 0, "global load, 16 bytes a lane"},
    {"global_store_byte v[0:1], v2, off", "vmem", 0, "global store, 1 byte a lane"},
    {"global_load_short_d16_hi v2, v[0:1], off", "vmem", 0, "global load, 2 bytes a lane"},
    {"global_load_lds_dwordx4 v[0:1], off", "vmem", 0, "global load to LDS, 16 bytes a lane"},
    {"buffer_load_dword v0, s[0:3], 0 offen lds", "vmem", 0, "buffer load to LDS, 4 bytes a lane"},
    {"global_atomic_add_u32 v[0:1], v2, off", "vmem", 0, "global atomic, 4 bytes a lane"},
    {"global_atomic_pk_add_f16 v[0:1], v2, off", "vmem", 0, "global atomic, 4 bytes a lane"},
    {"buffer_store_dwordx3 v[0:2], v3, s[0:3], 0 offen", "vmem", 0, "buffer store, 12 bytes a lane"},
    {"scratch_load_dword v0, off, s0", "vmem", 0, "scratch load, 4 bytes a lane"},
    {"buffer_wbl2 sc1", "vmem", 0, "buffer cache write-back"},
    {"ds_read_b64 v[0:1], v2", "lds", 0, "LDS load, 8 bytes a lane"},
    {"ds_read2st64_b32 v[0:1], v2 offset1:1", "lds", 0, "LDS load, 2 times 4 bytes a lane"},
    {"ds_store_2addr_b64 v0, v[1:2], v[3:4]", "lds", 0, "LDS store, 2 times 8 bytes a lane"},
    {"ds_add_u32 v0, v1", "lds", 0, "LDS atomic, 4 bytes a lane"},
    {"ds_bpermute_b32 v0, v1, v2", "lds", 0, "LDS exchange between lanes, 4 bytes a lane"},
    {"ds_read_b64_tr_b16 v[0:1], v2", "lds", 0, "LDS load, 8 bytes a lane"},
    {"exp mrt0 v0, v0, v0, v0 done vm", "export", 0, ""},
    {"s_waitcnt vmcnt(0)", "wait", 0, "for all vector memory"},
    {"s_waitcnt vmcnt(2) lgkmcnt(0)", "wait", 0,
     "for vector memory, but the last 2; for all LDS, scalar memory, messages"},
    {"s_waitcnt_vscnt null, 0x0", "wait", 0, "for all vector stores"},
    {"s_wait_loadcnt 0x3", "wait", 0, "for vector loads, but the last 3"},
    {"s_wait_loadcnt_dscnt 0x102", "wait", 0, "for vector loads, but the last 1; for LDS, but the last 2"},
    {"s_wait_alu depctr_va_vdst(0)", "wait", 0, ""},
    {"s_delay_alu instid0(VALU_DEP_1)", "wait", 0, ""},
    {"frobnicate v0", "unknown", 0, ""},
};

static void compare_notes(tj_job *job, void *data) {
  (void)data;
  for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
    const instruction_row *row = &instructions[i];
    tj_instruction_kind kind = tj_instruction_classify(row->text);
    ck_assert_msg(strcmp(tj_instruction_class_name(kind.class), row->class) == 0, "%s is %s", row->text,
                  tj_instruction_class_name(kind.class));
    ck_assert_msg(kind.cost == row->cost, "%s costs %u", row->text, kind.cost);
    ck_assert_str_eq(tj_instruction_annotate(job, row->text), row->note);
  }
}

START_TEST(mnemonics_have_classes_and_notes) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, compare_notes, NULL);
  tj_job_destroy(&job);
}
END_TEST

static const size_t processor_count = SIMULATED_COUNT;

static const tj_code_object *make_code_object(tj_job *job, const char *processor) {
  return tj_code_object_parse(job, tj_link(job, make_amdgpu_object(job, kernels_ir, processor)));
}

static void list_kernel(tj_job *job, void *data) {
  const tj_code_object *object = make_code_object(job, data);
  const tj_kernel_code *kernel = tj_code_object_kernel(object, "store");
  tj_listing listing = tj_disassemble_kernel(job, object, kernel);
  uint64_t address = kernel->entry_address;
  size_t ends = 0, branches = 0;
  for (size_t i = 0; i < listing.count; i++) {
    const tj_instruction *instruction = &listing.instruction[i];
    ck_assert_uint_eq(instruction->address, address);
    ck_assert_msg(instruction->kind.class != TJ_CLASS_UNKNOWN, "%s", instruction->text);
    address += instruction->encoding.size;
    ends += strcmp(instruction->text, "s_endpgm") == 0;
    branches += instruction->has_target;
    if (instruction->has_target)
      ck_assert_uint_lt(instruction->target - kernel->entry_address, kernel->code.size);
  }
  ck_assert_uint_eq(address, kernel->entry_address + kernel->code.size);
  ck_assert_uint_eq(ends, 1);
  ck_assert_uint_eq(branches, 1);
}

START_TEST(listings_cover_the_code) {
  for (size_t i = 0; i < processor_count; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    expect_success(&job, list_kernel, (void *)(uintptr_t)simulated[i]);
    tj_job_destroy(&job);
  }
}
END_TEST

static size_t count_of_class(tj_listing listing, tj_instruction_class class) {
  size_t count = 0;
  for (size_t i = 0; i < listing.count; i++)
    count += listing.instruction[i].kind.class == class;
  return count;
}

/* A matrix instruction, the nops that its result is waited for with, and those behind the end. */
static const char mfma_ir[] =
    "target triple = \"amdgcn-amd-amdhsa\"\n"
    "define amdgpu_kernel void @k() {\n"
    "  call void asm sideeffect \"v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], 0\\0As_nop 7\\0As_nop 2\\0A"
    "v_mov_b32 v4, v0\\0As_endpgm\\0As_nop 0\\0As_nop 0\", \"~{v0},~{v1},~{v2},~{v3},~{v4},~{v5},~{v6},~{v7}\"()\n"
    "  ret void\n}\n";

static void count_mfma(tj_job *job, void *data) {
  (void)data;
  tj_bytes linked = tj_link(job, make_amdgpu_object(job, mfma_ir, "gfx942"));
  const tj_code_object *object = tj_code_object_parse(job, linked);
  tj_isa_stats stats = tj_isa_stats_of(job, object, "k");
  tj_listing listing = tj_disassemble_kernel(job, object, tj_code_object_kernel(object, "k"));
  ck_assert_uint_eq(count_of_class(listing, TJ_CLASS_PADDING), 2);
  ck_assert_uint_eq(count_of_class(listing, TJ_CLASS_WAIT), 2);
  ck_assert_uint_eq(stats.valu, 2);
  ck_assert_uint_eq(stats.cost, 5);
  ck_assert_uint_eq(stats.instructions, listing.count - 2);
}

START_TEST(nops_that_wait_count_and_matrices_cost_their_passes) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, count_mfma, NULL);
  tj_job_destroy(&job);
}
END_TEST

static void compare_stats(tj_job *job, void *data) {
  const char *processor = data;
  const tj_code_object *object = make_code_object(job, processor);
  const tj_kernel_code *kernel = tj_code_object_kernel(object, "store");
  tj_listing listing = tj_disassemble_kernel(job, object, kernel);
  tj_isa_stats stats = tj_isa_stats_of(job, object, "store");
  ck_assert_uint_eq(stats.instructions, listing.count - count_of_class(listing, TJ_CLASS_PADDING));
  ck_assert_uint_eq(stats.valu, count_of_class(listing, TJ_CLASS_VALU));
  ck_assert_uint_eq(stats.salu, count_of_class(listing, TJ_CLASS_SALU));
  ck_assert_uint_eq(stats.smem, count_of_class(listing, TJ_CLASS_SMEM));
  ck_assert_uint_eq(stats.lds, 2);
  ck_assert_uint_eq(stats.vmem, 1);
  ck_assert_uint_eq(stats.branch, 1);
  bool multiplies_64_bits = strcmp(processor, "gfx1250") == 0;
  ck_assert_uint_eq(stats.cost, stats.valu + (multiplies_64_bits ? 15 : 3));
  ck_assert_uint_eq(stats.lds_bytes, 1024);
  ck_assert_uint_eq(stats.code_bytes, kernel->code.size);
  ck_assert_uint_eq(stats.wave_size, strncmp(processor, "gfx9", 4) == 0 ? 64 : 32);
  ck_assert_uint_eq(stats.vgprs, kernel->metadata->vgprs);
  ck_assert_uint_eq(stats.sgprs, kernel->metadata->sgprs);
  tj_isa_stats hidden = tj_isa_stats_of(job, object, "hidden"), both = tj_isa_stats_of(job, object, NULL);
  ck_assert_uint_eq(both.instructions, stats.instructions + hidden.instructions);
  ck_assert_uint_eq(both.code_bytes, stats.code_bytes + hidden.code_bytes);
  ck_assert_uint_eq(both.vgprs, stats.vgprs > hidden.vgprs ? stats.vgprs : hidden.vgprs);
  ck_assert_uint_eq(both.wave_size, stats.wave_size);
}

START_TEST(statistics_agree_with_listings) {
  for (size_t i = 0; i < processor_count; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    expect_success(&job, compare_stats, (void *)(uintptr_t)simulated[i]);
    tj_job_destroy(&job);
  }
}
END_TEST

/* Options, and what a listing on gfx942 then has and has not. */
typedef struct {
  tj_disassembly_options options;
  const char *has[8];
  const char *has_not[4];
} listing_row;

static const listing_row listing_rows[] = {
    {{0},
     {"; kernel store, gfx942, waves of 64\n", "0: 8 bytes global global_buffer out\n", "store:\n", "L0:\n",
      "; branch\n", "; kernel hidden", "by_value n\n", "bytes of LDS a workgroup"},
     {"instructions ", "BF810000"}},
    {{.kernel = "store"}, {"store:\n"}, {"hidden"}},
    {{.kernel = "store", .with_stats = true}, {";   instructions ", " lds 2 "}, {NULL}},
    {{.with_encoding = true}, {"; BF810000", "branch", "hidden:"}, {NULL}},
    {{.without_notes = true}, {"s_cbranch_execz L0\n", "s_endpgm\n"}, {"; valu", "; lds"}},
};

static void print_listing(tj_job *job, void *data) {
  const listing_row *row = data;
  tj_text text = tj_text_begin(job);
  tj_disassemble(&text, make_code_object(job, "gfx942"), row->options);
  for (size_t i = 0; i < 8 && row->has[i] != NULL; i++)
    ck_assert_msg(strstr(text.data, row->has[i]) != NULL, "no \"%s\" in\n%s", row->has[i], text.data);
  for (size_t i = 0; i < 4 && row->has_not[i] != NULL; i++)
    ck_assert_msg(strstr(text.data, row->has_not[i]) == NULL, "\"%s\" in\n%s", row->has_not[i], text.data);
}

START_TEST(listings_say_what_options_ask) {
  for (size_t i = 0; i < sizeof listing_rows / sizeof *listing_rows; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    listing_row row = listing_rows[i];
    expect_success(&job, print_listing, &row);
    tj_job_destroy(&job);
  }
}
END_TEST

/* Labels, the second and the third of which several branches lead to. */
static const char branches_ir[] = "target triple = \"amdgcn-amd-amdhsa\"\n"
                                  "define amdgpu_kernel void @branches() {\n"
                                  "  call void asm sideeffect \"s_cbranch_scc0 1f\\0As_cbranch_scc1 2f\\0A"
                                  "s_cbranch_scc0 2f\\0A1:\\0As_nop 1\\0A2:\\0As_nop 2\\0A3:\\0As_cbranch_scc0 3b\\0A"
                                  "s_branch 3b\", \"\"()\n"
                                  "  ret void\n}\n";

static void print_branches(tj_job *job, void *data) {
  (void)data;
  static const char *const has[] = {
      "s_cbranch_scc0 L0\n", "s_cbranch_scc1 L1\n", "s_cbranch_scc0 L1\nL0:\n", "L1:\n", "L2:\n",
      "s_cbranch_scc0 L2\n", "s_branch L2\n"};
  tj_text text = tj_text_begin(job);
  tj_bytes linked = tj_link(job, make_amdgpu_object(job, branches_ir, "gfx942"));
  tj_disassemble(&text, tj_code_object_parse(job, linked), (tj_disassembly_options){.without_notes = true});
  for (size_t i = 0; i < sizeof has / sizeof *has; i++)
    ck_assert_msg(strstr(text.data, has[i]) != NULL, "no \"%s\" in\n%s", has[i], text.data);
}

START_TEST(branches_share_labels) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, print_branches, NULL);
  tj_job_destroy(&job);
}
END_TEST

static void print_unknown_kernel(tj_job *job, void *data) {
  (void)data;
  tj_text text = tj_text_begin(job);
  tj_disassemble(&text, make_code_object(job, "gfx942"), (tj_disassembly_options){.kernel = "nothing"});
}

static void count_unknown_kernel(tj_job *job, void *data) {
  (void)data;
  tj_isa_stats_of(job, make_code_object(job, "gfx942"), "nothing");
}

START_TEST(unknown_kernels_are_refused) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_failure(&job, TJ_UNKNOWN_KERNEL, print_unknown_kernel, NULL);
  expect_failure(&job, TJ_UNKNOWN_KERNEL, count_unknown_kernel, NULL);
  tj_job_destroy(&job);
}
END_TEST

/* A copy of a code object in which the code of `store` is overwritten with `filler`. */
static const tj_code_object *with_code(tj_job *job, const char *processor, unsigned char filler) {
  const tj_code_object *object = make_code_object(job, processor);
  const tj_kernel_code *kernel = tj_code_object_kernel(object, "store");
  size_t offset = (size_t)((const char *)kernel->code.data - (const char *)object->bytes.data);
  unsigned char *bytes = tj_arena_copy(&job->arena, object->bytes.data, object->bytes.size);
  memset(bytes + offset, filler, kernel->code.size);
  return tj_code_object_parse(job, (tj_bytes){bytes, object->bytes.size});
}

static void list_what_is_no_code(tj_job *job, void *data) {
  const tj_code_object *object = with_code(job, data, 0xff);
  const tj_kernel_code *kernel = tj_code_object_kernel(object, "store");
  tj_text text = tj_text_begin(job);
  tj_disassemble(&text, object, (tj_disassembly_options){.kernel = "store", .with_stats = true});
  ck_assert_msg(strstr(text.data, ".long 0xffffffff") != NULL, "%s", text.data);
  ck_assert_uint_eq(tj_isa_stats_of(job, object, "store").instructions, 0);
  ck_assert_uint_eq(tj_isa_stats_of(job, object, "store").code_bytes, kernel->code.size);
}

START_TEST(what_is_no_code_is_shown_as_data) {
  for (size_t i = 0; i < processor_count; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    expect_success(&job, list_what_is_no_code, (void *)(uintptr_t)simulated[i]);
    tj_job_destroy(&job);
  }
}
END_TEST

/* Words that LLVM's disassembler crashes on; encoding.c names the kinds. */
typedef struct {
  const char *processor;
  uint32_t word[2];
} harmful_row;

static const harmful_row harmful[] = {
    {"gfx90a", {0xe97f4d20, 0xff05e6ea}},  {"gfx942", {0xe8597500, 0xff9ec1fd}},
    {"gfx942", {0xd04639ff, 0x44e4fdfe}},  {"gfx942", {0xd207f9f8, 0x2e4dffc1}},
    {"gfx942", {0xd3f1e166, 0x60f460ff}},  {"gfx90a", {0x431de8f9, 0xf0b18f29}},
    {"gfx90a", {0x64773cf9, 0x4b4710aa}},  {"gfx1030", {0x119a72f9, 0x8ff18618}},
    {"gfx1201", {0xbec450ff, 0x21b25c7c}},
};

static void put_word(unsigned char *at, uint32_t word) {
  for (unsigned i = 0; i < 4; i++)
    at[i] = (unsigned char)(word >> 8 * i);
}

/* The words at the start of the code, and the first of them at its very end, where a literal would be missing. */
static void list_harmful_code(tj_job *job, void *data) {
  const harmful_row *row = data;
  const tj_code_object *object = with_code(job, row->processor, 0);
  const tj_kernel_code *kernel = tj_code_object_kernel(object, "store");
  unsigned char *code = (unsigned char *)(uintptr_t)kernel->code.data;
  put_word(code, row->word[0]);
  put_word(code + 4, row->word[1]);
  put_word(code + kernel->code.size - 4, 0x808000ff);
  tj_listing listing = tj_disassemble_kernel(job, object, kernel);
  ck_assert_str_eq(listing.instruction[0].text, "");
  ck_assert_str_eq(listing.instruction[listing.count - 1].text, "");
}

START_TEST(what_llvm_crashes_on_is_shown_as_data) {
  for (size_t i = 0; i < sizeof harmful / sizeof *harmful; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    harmful_row row = harmful[i];
    expect_success(&job, list_harmful_code, &row);
    tj_job_destroy(&job);
  }
}
END_TEST

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static size_t listed_bytes(tj_listing listing) {
  size_t size = 0;
  for (size_t i = 0; i < listing.count; i++)
    size += listing.instruction[i].encoding.size;
  return size;
}

/* Random words in place of the code: each either decodes or is shown as data, and all of it is covered. */
static void list_random_code(tj_job *job, void *data) {
  uint64_t random = 0x2545f4914f6cdd1d;
  const tj_code_object *object = with_code(job, data, 0);
  const tj_kernel_code *kernel = tj_code_object_kernel(object, "store");
  unsigned char *code = (unsigned char *)(uintptr_t)kernel->code.data;
  for (int round = 0; round < 200; round++) {
    for (size_t i = 0; i < kernel->code.size; i++)
      code[i] = (unsigned char)(next_random(&random) >> 24);
    ck_assert_uint_eq(listed_bytes(tj_disassemble_kernel(job, object, kernel)), kernel->code.size);
  }
  tj_text text = tj_text_begin(job);
  tj_disassemble(&text, object, (tj_disassembly_options){.with_stats = true, .with_encoding = true});
}

START_TEST(random_code_is_listed) {
  for (size_t i = 0; i < processor_count; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    expect_success(&job, list_random_code, (void *)(uintptr_t)simulated[i]);
    tj_job_destroy(&job);
  }
}
END_TEST

static void list_old_processor(tj_job *job, void *data) {
  (void)data;
  tj_text text = tj_text_begin(job);
  tj_disassemble(&text, make_code_object(job, "gfx701"), (tj_disassembly_options){0});
}

START_TEST(processors_without_disassembler_are_refused) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_failure(&job, TJ_DISASSEMBLY, list_old_processor, NULL);
  tj_job_destroy(&job);
}
END_TEST

static void list_without_fuel(tj_job *job, void *data) {
  (void)data;
  const tj_code_object *object = make_code_object(job, "gfx942");
  job->fuel = 3;
  tj_disassemble_kernel(job, object, tj_code_object_kernel(object, "store"));
}

START_TEST(work_is_bounded) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_failure(&job, TJ_WORK_LIMIT, list_without_fuel, NULL);
  tj_job_destroy(&job);
}
END_TEST

static const char host_ir[] = "define i64 @twice(i64 %x) {\n"
                              "  %y = mul i64 %x, %x\n"
                              "  %z = xor i64 %y, %x\n"
                              "  ret i64 %z\n"
                              "}\n"
                              "define void @nothing() {\n"
                              "  ret void\n"
                              "}\n";

static void count_host(tj_job *job, void *data) {
  (void)data;
  tj_bytes object = make_host_object(job, host_ir);
  tj_isa_stats twice = tj_isa_stats_of_host(job, object, "twice", NULL);
  tj_isa_stats nothing = tj_isa_stats_of_host(job, object, "nothing", NULL);
  tj_isa_stats all = tj_isa_stats_of_host(job, object, NULL, NULL);
  tj_isa_stats both = tj_isa_stats_of_host(job, object, "twice", "nothing");
  ck_assert_uint_ge(twice.instructions, 3);
  ck_assert_uint_ge(twice.code_bytes, twice.instructions);
  ck_assert_uint_eq(nothing.instructions, 1);
  ck_assert_uint_eq(all.instructions, twice.instructions + nothing.instructions);
  ck_assert_uint_eq(all.code_bytes, twice.code_bytes + nothing.code_bytes);
  ck_assert_uint_eq(both.code_bytes, all.code_bytes);
  ck_assert_uint_eq(all.valu + all.salu + all.vgprs + all.wave_size + all.cost, 0);
}

static void count_unknown_host_function(tj_job *job, void *data) {
  (void)data;
  tj_isa_stats_of_host(job, make_host_object(job, host_ir), "thrice", "twice");
}

static void count_host_in_code_object(tj_job *job, void *data) {
  (void)data;
  tj_isa_stats_of_host(job, make_amdgpu_object(job, kernels_ir, "gfx942"), NULL, NULL);
}

START_TEST(host_functions_are_counted) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, count_host, NULL);
  expect_failure(&job, TJ_UNKNOWN_KERNEL, count_unknown_host_function, NULL);
  expect_failure(&job, TJ_DISASSEMBLY, count_host_in_code_object, NULL);
  tj_job_destroy(&job);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      mnemonics_have_classes_and_notes,
      listings_cover_the_code,
      nops_that_wait_count_and_matrices_cost_their_passes,
      statistics_agree_with_listings,
      listings_say_what_options_ask,
      branches_share_labels,
      unknown_kernels_are_refused,
      what_is_no_code_is_shown_as_data,
      what_llvm_crashes_on_is_shown_as_data,
      random_code_is_listed,
      processors_without_disassembler_are_refused,
      work_is_bounded,
      host_functions_are_counted,
  };
  return run_suite(suite_of("disasm", tests, sizeof tests / sizeof *tests));
}

/* SPDX-License-Identifier: MIT */
/* Devices behind HSA, on the simulator: kernels made of LLVM IR on every processor, launches in flight, failures that
 * name the instruction, libraries and agents that are not there. */
#include "tests/unit/support/harness.h"
#include "tests/unit/support/objects.h"
#include "tests/unit/support/processors.h"

#include "jit/compile/link.h"
#include "rt/hsa/hsa_agent.h"
#include "rt/hsa/hsa_code.h"

#include <math.h>
#include <stdio.h>

enum { PROCESSORS = SIMULATED_COUNT, ITEMS = 1024, WORKGROUP = 256 };

/* --- kernels --- */

#define ATTRIBUTES                                                                                                   \
  "attributes #0 = { \"amdgpu-flat-work-group-size\"=\"256,256\" \"uniform-work-group-size\"=\"true\" "              \
  "\"amdgpu-no-implicitarg-ptr\" \"amdgpu-no-dispatch-ptr\" \"amdgpu-no-queue-ptr\" \"amdgpu-no-dispatch-id\" "      \
  "\"amdgpu-no-heap-ptr\" \"amdgpu-no-hostcall-ptr\" \"amdgpu-no-workgroup-id-y\" \"amdgpu-no-workgroup-id-z\" "     \
  "\"amdgpu-no-workitem-id-y\" \"amdgpu-no-workitem-id-z\" }\n"                                                      \
  "!llvm.module.flags = !{!0}\n"                                                                                     \
  "!0 = !{i32 1, !\"amdhsa_code_object_version\", i32 500}\n"

/* A kernel k(out, in, n) whose body has %i, the work-item's number, %from and %to, its addresses of 8-byte elements.
 */
#define KERNEL(body)                                                                                                 \
  "target triple = \"amdgcn-amd-amdhsa\"\n"                                                                          \
  "@lds = internal addrspace(3) global [256 x i64] poison\n"                                                         \
  "declare i32 @llvm.amdgcn.workgroup.id.x()\n"                                                                      \
  "declare i32 @llvm.amdgcn.workitem.id.x()\n"                                                                       \
  "declare void @llvm.amdgcn.s.barrier()\n"                                                                          \
  "define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in, i64 %n) #0 {\n"                         \
  "entry:\n"                                                                                                         \
  "  %group = call i32 @llvm.amdgcn.workgroup.id.x()\n"                                                              \
  "  %item = call i32 @llvm.amdgcn.workitem.id.x()\n"                                                                \
  "  %base = shl i32 %group, 8\n"                                                                                    \
  "  %number = or i32 %base, %item\n"                                                                                \
  "  %i = zext i32 %number to i64\n"                                                                                 \
  "  %from = getelementptr i64, ptr addrspace(1) %in, i64 %i\n"                                                      \
  "  %to = getelementptr i64, ptr addrspace(1) %out, i64 %i\n" body "}\n" ATTRIBUTES

/* The body of a kernel that computes %r from %v, its own element, and %w = %n. */
#define VALUE(body)                                                                                                  \
  KERNEL("  %v = load i64, ptr addrspace(1) %from\n" body "  store i64 %r, ptr addrspace(1) %to\n  ret void\n")

typedef struct {
  const char *name;
  const char *ir;
  int64_t (*expected)(const int64_t *in, int64_t n, int64_t i);
} kernel_row;

static int64_t add_n(const int64_t *in, int64_t n, int64_t i) {
  return in[i] + n;
}

static int64_t quotient_64(const int64_t *in, int64_t n, int64_t i) {
  return in[i] / n;
}

static int64_t remainder_64(const int64_t *in, int64_t n, int64_t i) {
  return (int64_t)((uint64_t)in[i] % (uint64_t)n);
}

static int64_t quotient_32(const int64_t *in, int64_t n, int64_t i) {
  return (int32_t)in[i] / (int32_t)n;
}

static int64_t quotient_f64(const int64_t *in, int64_t n, int64_t i) {
  double q = (double)in[i] / (double)n;
  int64_t bits;
  memcpy(&bits, &q, 8);
  return bits;
}

static int64_t quotient_f32(const int64_t *in, int64_t n, int64_t i) {
  float q = (float)(int32_t)in[i] / (float)(int32_t)n;
  int32_t bits;
  memcpy(&bits, &q, 4);
  return bits;
}

static int64_t through_lds(const int64_t *in, int64_t n, int64_t i) {
  (void)n;
  return in[i ^ 255];
}

static int64_t loop_sum(const int64_t *in, int64_t n, int64_t i) {
  int64_t sum = 0;
  for (int64_t k = 0; k < (i & 15) + n; k++)
    sum = (int64_t)((uint64_t)sum * 31 + (uint64_t)in[k]);
  return sum;
}

static int64_t from_scratch(const int64_t *in, int64_t n, int64_t i) {
  return in[(i + n) & 15];
}

static int64_t ones_of(const int64_t *in, int64_t n, int64_t i) {
  (void)n;
  return __builtin_popcountll((uint64_t)in[i]) + 100 * __builtin_clzll((uint64_t)in[i] | 1);
}

static const kernel_row kernels[] = {
    {"sum", VALUE("  %r = add i64 %v, %n\n"), add_n},
    {"quotients of 64 bits", VALUE("  %r = sdiv i64 %v, %n\n"), quotient_64},
    {"unsigned remainders of 64 bits", VALUE("  %r = urem i64 %v, %n\n"), remainder_64},
    {"quotients of 32 bits",
     VALUE("  %a = trunc i64 %v to i32\n  %b = trunc i64 %n to i32\n  %q = sdiv i32 %a, %b\n  %r = sext i32 %q to "
           "i64\n"),
     quotient_32},
    {"quotients of doubles",
     VALUE("  %a = sitofp i64 %v to double\n  %b = sitofp i64 %n to double\n  %q = fdiv double %a, %b\n"
           "  %r = bitcast double %q to i64\n"),
     quotient_f64},
    {"quotients of floats",
     VALUE("  %x = trunc i64 %v to i32\n  %y = trunc i64 %n to i32\n  %a = sitofp i32 %x to float\n"
           "  %b = sitofp i32 %y to float\n  %q = fdiv float %a, %b\n  %s = bitcast float %q to i32\n"
           "  %r = sext i32 %s to i64\n"),
     quotient_f32},
    {"LDS",
     VALUE("  %mine = getelementptr [256 x i64], ptr addrspace(3) @lds, i32 0, i32 %item\n"
           "  store i64 %v, ptr addrspace(3) %mine\n"
           "  fence syncscope(\"workgroup\") release\n  call void @llvm.amdgcn.s.barrier()\n"
           "  fence syncscope(\"workgroup\") acquire\n"
           "  %j = xor i32 %item, 255\n"
           "  %theirs = getelementptr [256 x i64], ptr addrspace(3) @lds, i32 0, i32 %j\n"
           "  %r = load i64, ptr addrspace(3) %theirs\n"),
     through_lds},
    {"loop",
     KERNEL("  %low = and i64 %i, 15\n  %count = add i64 %low, %n\n  br label %loop\n"
            "loop:\n"
            "  %k = phi i64 [ 0, %entry ], [ %next, %loop ]\n  %sum = phi i64 [ 0, %entry ], [ %more, %loop ]\n"
            "  %at = getelementptr i64, ptr addrspace(1) %in, i64 %k\n  %x = load i64, ptr addrspace(1) %at\n"
            "  %wide = mul i64 %sum, 31\n  %more = add i64 %wide, %x\n  %next = add i64 %k, 1\n"
            "  %again = icmp slt i64 %next, %count\n  br i1 %again, label %loop, label %done\n"
            "done:\n  store i64 %more, ptr addrspace(1) %to\n  ret void\n"),
     loop_sum},
    {"scratch",
     KERNEL("  %stack = alloca [16 x i64], align 8, addrspace(5)\n  br label %loop\n"
            "loop:\n"
            "  %k = phi i64 [ 0, %entry ], [ %next, %loop ]\n"
            "  %at = getelementptr i64, ptr addrspace(1) %in, i64 %k\n  %x = load i64, ptr addrspace(1) %at\n"
            "  %k32 = trunc i64 %k to i32\n"
            "  %slot = getelementptr [16 x i64], ptr addrspace(5) %stack, i32 0, i32 %k32\n"
            "  store volatile i64 %x, ptr addrspace(5) %slot\n  %next = add i64 %k, 1\n"
            "  %again = icmp slt i64 %next, 16\n  br i1 %again, label %loop, label %done\n"
            "done:\n  %sum = add i64 %i, %n\n  %j = and i64 %sum, 15\n  %j32 = trunc i64 %j to i32\n"
            "  %other = getelementptr [16 x i64], ptr addrspace(5) %stack, i32 0, i32 %j32\n"
            "  %r = load volatile i64, ptr addrspace(5) %other\n"
            "  store i64 %r, ptr addrspace(1) %to\n  ret void\n"),
     from_scratch},
    {"counting bits",
     VALUE("  %ones = call i64 @llvm.ctpop.i64(i64 %v)\n  %odd = or i64 %v, 1\n"
           "  %zeros = call i64 @llvm.ctlz.i64(i64 %odd, i1 true)\n  %scaled = mul i64 %zeros, 100\n"
           "  %r = add i64 %ones, %scaled\n"),
     ones_of},
};

#define FAILING(body) KERNEL(body "  ret void\n")

static const char out_of_bounds[] = FAILING("  %far = getelementptr i64, ptr addrspace(1) %to, i64 1\n"
                                            "  store i64 1, ptr addrspace(1) %far\n");
static const char unknown_instruction[] =
    FAILING("  call void asm sideeffect \"v_cubeid_f32 v7, v7, v7, v7\", \"~{v7}\"()\n");
static const char infinite_loop[] = KERNEL("  br label %loop\nloop:\n  store volatile i64 1, ptr addrspace(1) %to\n"
                                           "  br label %loop\n");
#define MINE                                                                                                         \
  "  %mine = getelementptr [256 x i64], ptr addrspace(3) @lds, i32 0, i32 %item\n"                                   \
  "  %j = xor i32 %item, 128\n"                                                                                      \
  "  %theirs = getelementptr [256 x i64], ptr addrspace(3) @lds, i32 0, i32 %j\n"
/* The second of the registers that numbers of work-items come in, which the kernel does not ask for. */
static const char unasked[] = KERNEL("  %r = call i32 asm sideeffect \"\", \"={v1}\"()\n"
                                     "  store i32 %r, ptr addrspace(1) %out\n  ret void\n");

static const char unwritten[] = FAILING(MINE "  %r = load volatile i64, ptr addrspace(3) %mine\n"
                                             "  store i64 %r, ptr addrspace(1) %to\n");
static const char race_of_writes[] = FAILING(MINE "  store volatile i64 1, ptr addrspace(3) %mine\n"
                                                  "  store volatile i64 2, ptr addrspace(3) %theirs\n");
static const char race_of_a_read[] = FAILING(MINE "  store volatile i64 1, ptr addrspace(3) %mine\n"
                                                  "  call void @llvm.amdgcn.s.barrier()\n"
                                                  "  %r = load volatile i64, ptr addrspace(3) %mine\n"
                                                  "  store volatile i64 %r, ptr addrspace(3) %theirs\n");
static const char step_kernel[] = VALUE("  %old = load i64, ptr addrspace(1) %to\n  %x = mul i64 %old, 3\n"
                                        "  %r = add i64 %x, %n\n");

/* --- running --- */

typedef struct {
  const char *ir, *processor;
  tj_bytes code;
} compilation;

static void compile(tj_job *job, void *data) {
  compilation *c = data;
  c->code = tj_link(job, make_amdgpu_object(job, c->ir, c->processor));
}

typedef struct {
  tj_job job;
  tj_rt_device *device;
  tj_rt_kernel *kernel;
  tj_rt_buffer in, out;
  tj_rt_error error;
  int64_t source[ITEMS], result[ITEMS];
} session;

static void expect(session *s, tj_status status) {
  ck_assert_msg(status == TJ_OK, "TJ%04d: %s", (int)s->error.code, s->error.text);
}

static void expect_code(session *s, tj_status status, tj_problem_code code, const char *text) {
  ck_assert_msg(status != TJ_OK, "nothing failed");
  ck_assert_msg(s->error.code == code, "TJ%04d, not TJ%04d: %s", (int)s->error.code, (int)code, s->error.text);
  ck_assert_msg(strstr(s->error.text, text) != NULL, "'%s' does not say '%s'", s->error.text, text);
}

static void fill_source(int64_t source[ITEMS]) {
  uint64_t state = 7;
  for (int i = 0; i < ITEMS; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    source[i] = (int64_t)state >> (i % 60);
  }
}

static void open_buffers(session *s) {
  fill_source(s->source);
  expect(s, tj_rt_allocate(s->device, sizeof s->source, &s->in, &s->error));
  expect(s, tj_rt_allocate(s->device, sizeof s->result, &s->out, &s->error));
  expect(s, tj_rt_write(s->device, &s->in, 0, (tj_bytes){s->source, sizeof s->source}, &s->error));
  expect(s, tj_rt_write(s->device, &s->out, 0, (tj_bytes){s->result, sizeof s->result}, &s->error));
}

static session *open_session(const char *ir, const char *processor) {
  session *s = calloc(1, sizeof *s);
  char name[32];
  tj_job_init(&s->job, NULL);
  compilation c = {.ir = ir, .processor = processor};
  expect_success(&s->job, compile, &c);
  snprintf(name, sizeof name, "sim:%s", processor);
  expect(s, tj_rt_open(name, NULL, &s->device, &s->error));
  tj_rt_code code = {.symbol = "k", .code_object = c.code, .argument_words = 3};
  expect(s, tj_rt_load(s->device, &code, &s->kernel, &s->error));
  open_buffers(s);
  return s;
}

static void close_session(session *s) {
  tj_rt_unload(s->device, s->kernel);
  tj_rt_release(s->device, &s->in);
  tj_rt_release(s->device, &s->out);
  tj_rt_close(s->device);
  tj_job_destroy(&s->job);
  free(s);
}

static tj_status start(session *s, int64_t n) {
  uint64_t arguments[] = {s->out.address, s->in.address, (uint64_t)n};
  tj_rt_dispatch dispatch = {arguments, ITEMS / WORKGROUP, WORKGROUP, NULL};
  return tj_rt_launch(s->device, s->kernel, &dispatch, &s->error);
}

static void finish(session *s) {
  uint64_t nanoseconds = 0;
  expect(s, tj_rt_wait(s->device, &nanoseconds, &s->error));
  ck_assert_uint_gt(nanoseconds, 0);
  expect(s, tj_rt_read(s->device, &s->out, 0, s->result, sizeof s->result, &s->error));
}

/* --- kernels give what C gives --- */

static void run_row(const kernel_row *row, const char *processor) {
  static const int64_t divisors[] = {1, 7, 24, 100};
  session *s = open_session(row->ir, processor);
  for (size_t d = 0; d < sizeof divisors / sizeof divisors[0]; d++) {
    expect(s, start(s, divisors[d]));
    finish(s);
    for (int64_t i = 0; i < ITEMS; i++) {
      int64_t expected = row->expected(s->source, divisors[d], i);
      ck_assert_msg(s->result[i] == expected, "%s on %s, n = %lld: element %lld is %llx, not %llx", row->name,
                    processor, (long long)divisors[d], (long long)i, (unsigned long long)s->result[i],
                    (unsigned long long)expected);
    }
  }
  close_session(s);
}

START_TEST(kernels_agree_with_c) {
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
    for (size_t p = 0; p < PROCESSORS; p++)
      run_row(&kernels[i], simulated[p]);
  }
}
END_TEST

START_TEST(launches_keep_their_order) {
  enum { LAUNCHES = 150 };
  session *s = open_session(step_kernel, "gfx942");
  uint64_t expected = 0;
  for (int64_t k = 0; k < LAUNCHES; k++) {
    expect(s, start(s, k));
    expected = expected * 3 + (uint64_t)k;
  }
  finish(s);
  for (int i = 0; i < ITEMS; i++)
    ck_assert_uint_eq((uint64_t)s->result[i], expected);
  close_session(s);
}
END_TEST

START_TEST(closing_waits_for_work_in_flight) {
  session *s = open_session(step_kernel, "gfx1100");
  for (int64_t k = 0; k < 20; k++)
    expect(s, start(s, k));
  close_session(s);
}
END_TEST

/* --- what is loaded --- */

static const char two_kernels[] =
    "target triple = \"amdgcn-amd-amdhsa\"\n"
    "define amdgpu_kernel void @j(ptr addrspace(1) %out) #0 {\n  store i64 1, ptr addrspace(1) %out\n  ret void\n}\n"
    "define amdgpu_kernel void @k(ptr addrspace(1) %out) #0 {\n  store i64 2, ptr addrspace(1) %out\n  ret "
    "void\n}\n" ATTRIBUTES;

typedef struct {
  tj_hsa hsa;
  tj_hsa_place place;
  tj_rt_modules modules;
  tj_rt_error error;
} code_session;

static void open_codes(code_session *s) {
  tj_hsa_agents agents;
  setenv("TILEJIT_HSASIM_AGENTS", "gfx942", 1);
  tj_hsa_library simulator = {TILEJIT_HSASIM, "simulator library", TJ_SIMULATOR_LIBRARY};
  ck_assert_int_eq(tj_hsa_open(&s->hsa, &simulator, &s->error), TJ_OK);
  ck_assert_int_eq(tj_hsa_init(&s->hsa, &s->error), TJ_OK);
  ck_assert_int_eq(tj_hsa_find_agents(&s->hsa, &agents, &s->error), TJ_OK);
  unsetenv("TILEJIT_HSASIM_AGENTS");
  tj_job job;
  tj_job_init(&job, NULL);
  s->place = (tj_hsa_place){&s->hsa, agents.gpu[0].agent, job.allocator};
  tj_rt_modules_open(&s->modules, &tj_hsa_loader, &s->place, &job.allocator);
}

static tj_rt_module *retain(code_session *s, tj_bytes bytes) {
  tj_rt_module *executable = NULL;
  tj_status status = tj_rt_module_retain(&s->modules, &(tj_rt_code){.code_object = bytes}, &executable, &s->error);
  ck_assert_msg(status == TJ_OK, "%s", s->error.text);
  return executable;
}

START_TEST(kernels_share_an_executable) {
  code_session s = {0};
  tj_job job;
  tj_job_init(&job, NULL);
  compilation c = {.ir = two_kernels, .processor = "gfx942"};
  expect_success(&job, compile, &c);
  tj_bytes other = {tj_arena_copy(&job.arena, c.code.data, c.code.size), c.code.size};
  open_codes(&s);
  tj_rt_module *first = retain(&s, c.code), *copy = retain(&s, other);
  ck_assert_ptr_eq(retain(&s, c.code), first);
  ck_assert_ptr_ne(copy, first);
  tj_hsa_kernel j, k;
  ck_assert_int_eq(tj_hsa_find_kernel(&s.place, first, "j", &j, &s.error), TJ_OK);
  ck_assert_int_eq(tj_hsa_find_kernel(&s.place, first, "k", &k, &s.error), TJ_OK);
  ck_assert_uint_ne(j.object, k.object);
  tj_rt_module_release(&s.modules, copy);
  tj_rt_module_release(&s.modules, first);
  ck_assert_ptr_eq(s.modules.first, first);
  ck_assert_int_eq(tj_hsa_find_kernel(&s.place, first, "i", &k, &s.error), TJ_ERROR_SYSTEM);
  tj_rt_module_release(&s.modules, first);
  ck_assert_ptr_null(s.modules.first);
  tj_rt_modules_close(&s.modules);
  s.hsa.shut_down();
  tj_job_destroy(&job);
}
END_TEST

static tj_status start_one(session *s, tj_rt_kernel *kernel, tj_rt_completion *completion) {
  uint64_t arguments[] = {s->out.address, s->in.address, 5};
  tj_rt_dispatch dispatch = {arguments, ITEMS / WORKGROUP, WORKGROUP, completion};
  return tj_rt_launch(s->device, kernel, &dispatch, &s->error);
}

/* Whether a kernel is unloaded while another, launched behind it, is still running. */
static bool outruns(session *s, tj_bytes quick_code) {
  tj_rt_completion quick_end, slow_end;
  tj_rt_kernel *quick;
  tj_rt_code code = {.symbol = "k", .code_object = quick_code, .argument_words = 3};
  expect(s, tj_rt_load(s->device, &code, &quick, &s->error));
  expect(s, start_one(s, quick, &quick_end));
  expect(s, start_one(s, s->kernel, &slow_end));
  tj_rt_unload(s->device, quick);
  ck_assert(atomic_load(&quick_end.is_done));
  bool is_running = !tj_rt_is_done(s->device, &slow_end);
  expect(s, tj_rt_finish(s->device, &quick_end, &s->error));
  expect_code(s, tj_rt_finish(s->device, &slow_end, &s->error), TJ_LAUNCH, "infinite loop");
  return is_running;
}

/* The machine may be so busy that the slow kernel ends meanwhile, but not always. */
START_TEST(kernels_are_unloaded_while_others_run) {
  session *s = open_session(infinite_loop, "gfx942");
  compilation c = {.ir = step_kernel, .processor = "gfx942"};
  expect_success(&s->job, compile, &c);
  int attempts = 1;
  while (!outruns(s, c.code))
    ck_assert_int_lt(attempts++, 50);
  close_session(s);
}
END_TEST

/* --- failures --- */

START_TEST(failures_name_the_instruction) {
  static const struct {
    const char *ir;
    const char *expected[4];
  } rows[] = {
      {out_of_bounds, {"kernel k, pc 0x", "global_store_", "not memory that the kernel may write", "lanes 0x8"}},
      {unknown_instruction, {"kernel k, pc 0x", "v_cubeid_f32", "does not know the instruction", "workgroup"}},
      {unwritten, {"kernel k, pc 0x", "ds_", "LDS address", "nothing has been written there"}},
      {unasked, {"kernel k, pc 0x", "global_store_", "what is stored", "a register that nothing has written"}},
      {race_of_writes, {"ds_", "another wave has written there", "no barrier", "lanes 0x"}},
      {race_of_a_read, {"ds_", "another wave has written there", "no barrier", "lanes 0x"}},
      {infinite_loop, {"kernel k, pc 0x", "infinite loop", "workgroup", "wave"}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (size_t p = 0; p < PROCESSORS; p++) {
      session *s = open_session(rows[i].ir, simulated[p]);
      expect(s, start(s, 0));
      tj_status status = tj_rt_wait(s->device, NULL, &s->error);
      for (size_t k = 0; k < 4; k++)
        expect_code(s, status, TJ_LAUNCH, rows[i].expected[k]);
      expect(s, tj_rt_wait(s->device, NULL, &s->error));
      expect(s, tj_rt_read(s->device, &s->out, 0, s->result, sizeof s->result, &s->error));
      close_session(s);
    }
  }
}
END_TEST

START_TEST(devices_survive_failures) {
  session *s = open_session(out_of_bounds, "gfx950");
  compilation c = {.ir = kernels[0].ir, .processor = "gfx950"};
  tj_rt_kernel *good, *bad = s->kernel;
  expect_success(&s->job, compile, &c);
  tj_rt_code code = {.symbol = "k", .code_object = c.code, .argument_words = 3};
  expect(s, tj_rt_load(s->device, &code, &good, &s->error));
  for (int round = 0; round < 3; round++) {
    s->kernel = bad;
    expect(s, start(s, 0));
    expect_code(s, tj_rt_read(s->device, &s->out, 0, s->result, 8, &s->error), TJ_LAUNCH, "kernel k");
    s->kernel = good;
    expect(s, start(s, 5));
    finish(s);
    ck_assert_int_eq(s->result[17], s->source[17] + 5);
  }
  tj_rt_unload(s->device, bad);
  close_session(s);
}
END_TEST

/* What was launched before a kernel that fails has run, what comes behind it has run or says why not, and nobody else
 * is told. */
START_TEST(completions_tell_who_failed) {
  enum { LAUNCHES = 24, BAD = 8 };
  session *s = open_session(step_kernel, "gfx942");
  compilation c = {.ir = out_of_bounds, .processor = "gfx942"};
  tj_rt_kernel *bad;
  tj_rt_completion completion[LAUNCHES];
  expect_success(&s->job, compile, &c);
  tj_rt_code code = {.symbol = "k", .code_object = c.code, .argument_words = 3};
  expect(s, tj_rt_load(s->device, &code, &bad, &s->error));
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < LAUNCHES; i++)
      expect(s, start_one(s, i == BAD ? bad : s->kernel, &completion[i]));
    expect_code(s, tj_rt_finish(s->device, &completion[BAD], &s->error), TJ_LAUNCH, "global_store_");
    for (int i = LAUNCHES - 1; i >= 0; i--) {
      tj_status status = tj_rt_finish(s->device, &completion[i], &s->error);
      ck_assert(tj_rt_is_done(s->device, &completion[i]));
      ck_assert_msg(i >= BAD || status == TJ_OK, "launch %d: %s", i, s->error.text);
      if (i > BAD && status != TJ_OK)
        expect_code(s, status, TJ_LAUNCH, "did not run: a launch before it failed");
    }
    expect(s, tj_rt_wait(s->device, NULL, &s->error));
  }
  tj_rt_unload(s->device, bad);
  close_session(s);
}
END_TEST

/* As under ROCr, which ends the process where nobody takes the event. The device is lost, others are not. */
START_TEST(a_fault_of_memory_loses_the_device) {
  setenv("TILEJIT_HSASIM_FAULTS", "event", 1);
  session *s = open_session(out_of_bounds, "gfx942"), *other = open_session(kernels[0].ir, "gfx1100");
  tj_rt_completion bad, behind;
  tj_rt_buffer none;
  tj_rt_kernel *kernel;
  compilation c = {.ir = kernels[0].ir, .processor = "gfx942"};
  expect_success(&s->job, compile, &c);
  tj_rt_code code = {.symbol = "k", .code_object = c.code, .argument_words = 3};
  expect(s, start_one(s, s->kernel, &bad));
  if (start_one(s, s->kernel, &behind) == TJ_OK)
    ck_assert_int_ne(tj_rt_finish(s->device, &behind, &s->error), TJ_OK);
  expect_code(s, tj_rt_finish(s->device, &bad, &s->error), TJ_LAUNCH, "a kernel left its memory: fault at page 0x");
  expect_code(s, tj_rt_finish(s->device, &bad, &s->error), TJ_LAUNCH, "the page is not present");
  for (int again = 0; again < 2; again++) {
    expect_code(s, start(s, 1), TJ_LAUNCH, "the device is lost");
    expect_code(s, tj_rt_wait(s->device, NULL, &s->error), TJ_LAUNCH, "the device is lost");
    expect_code(s, tj_rt_read(s->device, &s->out, 0, s->result, 8, &s->error), TJ_LAUNCH, "the device is lost");
    expect_code(s, tj_rt_write(s->device, &s->out, 0, (tj_bytes){s->result, 8}, &s->error), TJ_LAUNCH, "is lost");
    expect_code(s, tj_rt_allocate(s->device, 8, &none, &s->error), TJ_LAUNCH, "the device is lost");
    expect_code(s, tj_rt_load(s->device, &code, &kernel, &s->error), TJ_LAUNCH, "the device is lost");
  }
  expect(other, start(other, 3));
  finish(other);
  ck_assert_int_eq(other->result[9], other->source[9] + 3);
  close_session(s);
  close_session(other);
  s = open_session(kernels[0].ir, "gfx942");
  expect(s, start(s, 3));
  finish(s);
  close_session(s);
  unsetenv("TILEJIT_HSASIM_FAULTS");
}
END_TEST

START_TEST(code_of_another_processor_is_refused) {
  session *s = open_session(kernels[0].ir, "gfx942");
  compilation c = {.ir = kernels[0].ir, .processor = "gfx90a"};
  tj_rt_kernel *kernel;
  expect_success(&s->job, compile, &c);
  tj_rt_code code = {.symbol = "k", .code_object = c.code, .argument_words = 3};
  expect_code(s, tj_rt_load(s->device, &code, &kernel, &s->error), TJ_DEVICE_TARGET, "another processor");
  c.processor = "gfx942";
  expect_success(&s->job, compile, &c);
  code.code_object = c.code;
  code.symbol = "l";
  expect_code(s, tj_rt_load(s->device, &code, &kernel, &s->error), TJ_HSA_CALL, "no symbol");
  code.code_object.size /= 2;
  expect_code(s, tj_rt_load(s->device, &code, &kernel, &s->error), TJ_DEVICE_TARGET, "damaged");
  code.code_object.size = 0;
  expect_code(s, tj_rt_load(s->device, &code, &kernel, &s->error), TJ_DEVICE_TARGET, "not for a GPU");
  close_session(s);
}
END_TEST

START_TEST(memory_runs_out) {
  session *s = open_session(kernels[0].ir, "gfx942");
  tj_rt_buffer buffer;
  expect_code(s, tj_rt_allocate(s->device, (size_t)1 << 60, &buffer, &s->error), TJ_DEVICE_MEMORY, "no memory");
  expect_code(s, tj_rt_allocate(s->device, SIZE_MAX, &buffer, &s->error), TJ_DEVICE_MEMORY, "no memory");
  ck_assert(buffer.address == 0 && buffer.size == 0);
  expect(s, tj_rt_allocate(s->device, 0, &buffer, &s->error));
  tj_rt_release(s->device, &buffer);
  close_session(s);
}
END_TEST

START_TEST(too_large_launches_are_refused) {
  session *s = open_session(kernels[0].ir, "gfx942");
  uint64_t arguments[3] = {0};
  tj_rt_dispatch dispatch = {arguments, (uint64_t)1 << 32, WORKGROUP, NULL};
  expect_code(s, tj_rt_launch(s->device, s->kernel, &dispatch, &s->error), TJ_LAUNCH, "more than one dispatch holds");
  dispatch = (tj_rt_dispatch){arguments, 1, 0, NULL};
  expect_code(s, tj_rt_launch(s->device, s->kernel, &dispatch, &s->error), TJ_LAUNCH, "workgroups of 0 work-items");
  dispatch = (tj_rt_dispatch){arguments, 1, (uint32_t)UINT16_MAX + 1, NULL};
  expect_code(s, tj_rt_launch(s->device, s->kernel, &dispatch, &s->error), TJ_LAUNCH, "more than one dispatch holds");
  close_session(s);
}
END_TEST

/* --- libraries and agents --- */

static void expect_open(const char *name, tj_problem_code code, const char *text) {
  tj_rt_device *device = NULL;
  tj_rt_error error = {0};
  tj_status status = tj_rt_open(name, NULL, &device, &error);
  ck_assert_msg(status != TJ_OK && device == NULL, "%s was opened", name);
  ck_assert_msg(error.code == code && strstr(error.text, text) != NULL, "%s: TJ%04d: %s", name, (int)error.code,
                error.text);
}

START_TEST(devices_that_are_not_there) {
  expect_open("sim:gfx999", TJ_UNKNOWN_DEVICE, "unknown device");
  expect_open("sim:", TJ_UNKNOWN_DEVICE, "unknown device");
  setenv("TILEJIT_HSA_LIBRARY", "libtilejit-no-such-library.so", 1);
  expect_open("hsa:0", TJ_HSA_LIBRARY, "no HSA library");
  setenv("TILEJIT_HSA_LIBRARY", "libm.so.6", 1);
  expect_open("hsa:0", TJ_HSA_LIBRARY, "has no function hsa_");
  unsetenv("TILEJIT_HSA_LIBRARY");
  setenv("TILEJIT_HSASIM_AGENTS", "", 1);
  expect_open("sim:gfx942", TJ_NO_AGENT, "no GPU agent");
  setenv("TILEJIT_HSASIM_AGENTS", "gfx1100,gfx942", 1);
  expect_open("sim:gfx90a", TJ_UNKNOWN_DEVICE, "unknown device");
  unsetenv("TILEJIT_HSASIM_AGENTS");
}
END_TEST

START_TEST(libraries_that_do_not_open) {
  static const struct {
    tj_hsa_library library;
    const char *text;
  } cases[] = {
      {{"libtilejit-nowhere.so", "HSA library", TJ_HSA_LIBRARY}, "no HSA library: libtilejit-nowhere.so: "},
      {{"libtilejit-nowhere.so", "simulator library", TJ_SIMULATOR_LIBRARY},
       "no simulator library: libtilejit-nowhere.so: "},
      {{"libm.so.6", "simulator library", TJ_SIMULATOR_LIBRARY},
       "the simulator library libm.so.6 has no function hsa_"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tj_hsa hsa;
    tj_rt_error error;
    ck_assert_int_eq(tj_hsa_open(&hsa, &cases[i].library, &error), TJ_ERROR_SYSTEM);
    ck_assert_int_eq(error.code, cases[i].library.missing);
    ck_assert_msg(strstr(error.text, cases[i].text) == error.text, "%s", error.text);
  }
}
END_TEST

/* Each device has one name. */
START_TEST(device_names_are_strict) {
  static const char *const none[] = {"hsa",     "hsa:",   "hsa:x",  "hsa:00",         "hsa:01",
                                     "hsa:0x0", "hsa:+0", "hsa: 0", "hsa:0:",         "hsa:1 ",
                                     "hsa:-1",  "sim",    "sim:",   "hsa:9999999999", "host:0",
                                     "hosts",   "hsa0",   "",       "sim:gfx942:",    "sim:gfx942:xnack"};
  setenv("TILEJIT_HSA_LIBRARY", TILEJIT_HSASIM, 1);
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
    expect_open(none[i], TJ_UNKNOWN_DEVICE, "unknown device");
  expect_open("hsa:00", TJ_UNKNOWN_DEVICE, "GPUs are hsa:0, hsa:1");
  expect_open("sim", TJ_UNKNOWN_DEVICE, "sim:gfx942");
  unsetenv("TILEJIT_HSA_LIBRARY");
}
END_TEST

static void expect_target(const char *name, const char *target) {
  tj_rt_device *device;
  tj_rt_error error = {0};
  ck_assert_msg(tj_rt_open(name, NULL, &device, &error) == TJ_OK, "%s: %s", name, error.text);
  ck_assert_str_eq(device->info.target, target);
  tj_rt_close(device);
}

START_TEST(agents_with_features) {
  setenv("TILEJIT_HSASIM_AGENTS", "gfx942:xnack+ gfx1100:xnack+,gfx942,gfx90a:sramecc-:xnack+,gfx1100", 1);
  expect_target("sim:gfx942", "gfx942:sramecc+:xnack+");
  expect_target("sim:gfx942:xnack-", "gfx942:sramecc+:xnack-");
  expect_target("sim:gfx942:xnack+:sramecc+", "gfx942:sramecc+:xnack+");
  expect_target("sim:gfx90a", "gfx90a:sramecc-:xnack+");
  expect_target("sim:gfx1100", "gfx1100");
  expect_open("sim:gfx942:sramecc-", TJ_UNKNOWN_DEVICE, "unknown device");
  tj_rt_info info[8];
  size_t count = tj_rt_list(info, 8), first = count - 4;
  static const char *const names[] = {"sim:gfx942", "sim:gfx942:sramecc+:xnack-", "sim:gfx90a", "sim:gfx1100"};
  for (size_t i = 0; i < 4; i++)
    ck_assert_str_eq(info[first + i].name, names[i]);
  unsetenv("TILEJIT_HSASIM_AGENTS");
}
END_TEST

/* Two GPUs of one kind differ in where they are, and in who they are. */
START_TEST(gpus_are_told_apart) {
  tj_rt_info info[8];
  setenv("TILEJIT_HSA_LIBRARY", TILEJIT_HSASIM, 1);
  setenv("TILEJIT_HSASIM_AGENTS", "gfx942,gfx942", 1);
  ck_assert_uint_ge(tj_rt_list(info, 8), 3);
  const tj_rt_info *first = &info[1], *second = &info[2];
  ck_assert_str_eq(first->name, "hsa:0");
  ck_assert_str_eq(second->name, "hsa:1");
  ck_assert_str_eq(first->target, "gfx942:sramecc+:xnack-");
  ck_assert_str_eq(first->description, second->description);
  ck_assert_str_eq(first->bus, "0000:02:00.0");
  ck_assert_str_eq(second->bus, "0000:03:00.0");
  ck_assert_str_eq(first->uuid, "GPU-0000000000000002");
  ck_assert_str_eq(second->uuid, "GPU-0000000000000003");
  ck_assert_uint_eq(first->parallelism, 304);
  ck_assert_uint_gt(first->memory, 0);
  unsetenv("TILEJIT_HSA_LIBRARY");
  unsetenv("TILEJIT_HSASIM_AGENTS");
}
END_TEST

/* Whatever is installed here: a GPU, no GPU, or no library; each has its own outcome. */
START_TEST(the_installed_library) {
  tj_rt_device *device = NULL;
  tj_rt_error error = {0};
  tj_status status = tj_rt_open("hsa:0", NULL, &device, &error);
  if (status != TJ_OK) {
    ck_assert_int_eq(status, TJ_ERROR_SYSTEM);
    ck_assert_msg(error.code == TJ_HSA_LIBRARY || error.code == TJ_NO_AGENT, "TJ%04d: %s", (int)error.code,
                  error.text);
  }
  tj_rt_close(device);
}
END_TEST

START_TEST(the_simulator_as_the_hsa_library) {
  tj_rt_info info[32];
  tj_rt_device *device;
  tj_rt_error error;
  setenv("TILEJIT_HSA_LIBRARY", TILEJIT_HSASIM, 1);
  setenv("TILEJIT_HSASIM_AGENTS", "gfx1100, gfx942", 1);
  ck_assert_int_eq(tj_rt_open("hsa:1", NULL, &device, &error), TJ_OK);
  ck_assert_str_eq(device->info.target, "gfx942:sramecc+:xnack-");
  tj_rt_close(device);
  expect_open("hsa:2", TJ_UNKNOWN_DEVICE, "unknown device");
  size_t count = tj_rt_list(info, 32);
  ck_assert_uint_eq(count, 5);
  ck_assert_str_eq(info[1].name, "hsa:0");
  ck_assert_str_eq(info[1].target, "gfx1100");
  ck_assert_str_eq(info[4].name, "sim:gfx942");
  unsetenv("TILEJIT_HSA_LIBRARY");
  unsetenv("TILEJIT_HSASIM_AGENTS");
}
END_TEST

int main(void) {
  setenv("TILEJIT_HSASIM_BUDGET", "200000", 1);
  const TTest *const tests[] = {kernels_agree_with_c,
                                launches_keep_their_order,
                                closing_waits_for_work_in_flight,
                                kernels_share_an_executable,
                                kernels_are_unloaded_while_others_run,
                                failures_name_the_instruction,
                                devices_survive_failures,
                                completions_tell_who_failed,
                                a_fault_of_memory_loses_the_device,
                                code_of_another_processor_is_refused,
                                memory_runs_out,
                                too_large_launches_are_refused,
                                devices_that_are_not_there,
                                libraries_that_do_not_open,
                                device_names_are_strict,
                                agents_with_features,
                                gpus_are_told_apart,
                                the_installed_library,
                                the_simulator_as_the_hsa_library};
  return run_suite(suite_of("hsa", tests, sizeof tests / sizeof tests[0]));
}

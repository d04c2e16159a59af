/* SPDX-License-Identifier: MIT */
/* Products of matrices as kernel writers write them, in LLVM IR: tiles go to LDS, waves load their parts of A and B
 * from there and add up products by matrix instructions, along K in a loop. Compiled, linked and run on simulated
 * devices, they are what a plain product in the same order of sums gives, bit by bit. */
#include "jit/compile/link.h"
#include "rt/device.h"
#include "tests/unit/support/harness.h"
#include "tests/unit/support/objects.h"

#include <math.h>
#include <stdio.h>

enum { TEXT = 8192, STEPS = 3, MOST_TILE = 32, MOST_DEPTH = 32 };

/* A wave has `k` neighbours of a row of A, or a column of B, in each lane, in an argument of that type. */
typedef struct {
  const char *processor, *intrinsic, *element, *argument, *result;
  unsigned rows, k, lanes;
  bool is_wmma, repeats; /* lanes from 16 on have what those before have */
} microkernel;

static const microkernel microkernels[] = {
    {"gfx90a", "llvm.amdgcn.mfma.f32.32x32x8f16", "half", "<4 x half>", "<16 x float>", 32, 4, 64, false, false},
    {"gfx942", "llvm.amdgcn.mfma.f32.32x32x8f16", "half", "<4 x half>", "<16 x float>", 32, 4, 64, false, false},
    {"gfx942", "llvm.amdgcn.mfma.f32.16x16x16f16", "half", "<4 x half>", "<4 x float>", 16, 4, 64, false, false},
    {"gfx950", "llvm.amdgcn.mfma.f32.16x16x32.f16", "half", "<8 x half>", "<4 x float>", 16, 8, 64, false, false},
    {"gfx950", "llvm.amdgcn.mfma.f32.32x32x16.f16", "half", "<8 x half>", "<16 x float>", 32, 8, 64, false, false},
    {"gfx1100", "llvm.amdgcn.wmma.f32.16x16x16.f16", "half", "<16 x half>", "<8 x float>", 16, 16, 32, true, true},
    {"gfx1201", "llvm.amdgcn.wmma.f32.16x16x16.f16", "half", "<8 x half>", "<8 x float>", 16, 8, 32, true, false},
};

enum { MICROKERNELS = sizeof microkernels / sizeof microkernels[0] };

static unsigned depth_of(const microkernel *m) {
  return m->repeats ? m->k : m->k * (m->lanes / m->rows);
}

/* --- IR --- */

static void write_type_suffix(const microkernel *m, char suffix[64]) {
  if (m->is_wmma)
    snprintf(suffix, 64, ".v%uf32.v%uf16", 8u, m->k);
  else
    suffix[0] = '\0';
}

/* Each lane brings `k` neighbours of its row of A and of B to LDS, and takes them from there; the wave then has the
 * tile's `depth` columns. A and B are row by row, as long as all steps; D is what lanes hold, one after the other. */
static void write_ir(const microkernel *m, char text[TEXT]) {
  char suffix[64], more[64] = "";
  unsigned bytes = 2 * m->k * m->lanes;
  write_type_suffix(m, suffix);
  if (!m->is_wmma)
    snprintf(more, sizeof more, ", i32, i32, i32");
  snprintf(
      text, TEXT,
      "target triple = \"amdgcn-amd-amdhsa\"\n"
      "@a = internal addrspace(3) global [%u x i8] poison, align 16\n"
      "@b = internal addrspace(3) global [%u x i8] poison, align 16\n"
      "declare i32 @llvm.amdgcn.workitem.id.x()\n"
      "declare void @llvm.amdgcn.s.barrier()\n"
      "declare %s @%s%s(%s, %s, %s%s)\n"
      "define amdgpu_kernel void @product(ptr addrspace(1) %%x, ptr addrspace(1) %%y, ptr addrspace(1) %%d) #0 {\n"
      "entry:\n"
      "  %%lane = call i32 @llvm.amdgcn.workitem.id.x()\n"
      "  %%row = and i32 %%lane, %u\n"
      "  %%part = lshr i32 %%lane, %u\n"
      "  %%first = mul i32 %%part, %u\n"
      "  %%begin = mul i32 %%row, %u\n"
      "  %%start = add i32 %%begin, %%first\n"
      "  %%la = getelementptr %s, ptr addrspace(3) @a, i32 %%lane\n"
      "  %%lb = getelementptr %s, ptr addrspace(3) @b, i32 %%lane\n"
      "  br label %%loop\n"
      "loop:\n"
      "  %%step = phi i32 [ 0, %%entry ], [ %%next, %%loop ]\n"
      "  %%c = phi %s [ zeroinitializer, %%entry ], [ %%sum, %%loop ]\n"
      "  %%along = mul i32 %%step, %u\n"
      "  %%at = add i32 %%start, %%along\n"
      "  %%xp = getelementptr %s, ptr addrspace(1) %%x, i32 %%at\n"
      "  %%yp = getelementptr %s, ptr addrspace(1) %%y, i32 %%at\n"
      "  %%xv = load %s, ptr addrspace(1) %%xp, align 8\n"
      "  %%yv = load %s, ptr addrspace(1) %%yp, align 8\n"
      "  store %s %%xv, ptr addrspace(3) %%la, align 8\n"
      "  store %s %%yv, ptr addrspace(3) %%lb, align 8\n"
      "  fence syncscope(\"workgroup\") release\n"
      "  call void @llvm.amdgcn.s.barrier()\n"
      "  fence syncscope(\"workgroup\") acquire\n"
      "  %%av = load %s, ptr addrspace(3) %%la, align 8\n"
      "  %%bv = load %s, ptr addrspace(3) %%lb, align 8\n"
      "  %%sum = call %s @%s%s(%s %%av, %s %%bv, %s %%c%s)\n"
      "  %%next = add i32 %%step, 1\n"
      "  %%more = icmp ult i32 %%next, %u\n"
      "  br i1 %%more, label %%loop, label %%done\n"
      "done:\n"
      "  %%dp = getelementptr %s, ptr addrspace(1) %%d, i32 %%lane\n"
      "  store %s %%sum, ptr addrspace(1) %%dp, align 16\n"
      "  ret void\n"
      "}\n"
      "attributes #0 = { \"amdgpu-flat-work-group-size\"=\"%u,%u\" \"uniform-work-group-size\"=\"true\" "
      "\"amdgpu-no-implicitarg-ptr\" }\n"
      "!llvm.module.flags = !{!0}\n"
      "!0 = !{i32 1, !\"amdhsa_code_object_version\", i32 500}\n",
      bytes, bytes, m->result, m->intrinsic, suffix, m->argument, m->argument, m->result, more, m->rows - 1,
      (unsigned)__builtin_ctz(m->rows), m->repeats ? 0 : m->k, STEPS * depth_of(m), m->argument, m->argument,
      m->result, depth_of(m), m->element, m->element, m->argument, m->argument, m->argument, m->argument, m->argument,
      m->argument, m->result, m->intrinsic, suffix, m->argument, m->argument, m->result,
      m->is_wmma ? "" : ", i32 0, i32 0, i32 0", STEPS, m->result, m->result, m->lanes, m->lanes);
}

/* --- runs --- */

typedef struct {
  const microkernel *of;
  _Float16 a[MOST_TILE * MOST_DEPTH * STEPS], b[MOST_TILE * MOST_DEPTH * STEPS];
  float d[64 * 16];
} session;

static void expect(tj_status status, const tj_rt_error *error, const char *what) {
  ck_assert_msg(status == TJ_OK, "%s: TJ%04d: %s", what, (int)error->code, error->text);
}

static void run_on_device(tj_job *job, void *data) {
  session *s = data;
  const microkernel *m = s->of;
  char text[TEXT], name[32];
  size_t operand = (size_t)m->rows * depth_of(m) * STEPS * sizeof *s->a, result = (size_t)m->rows * m->rows * 4;
  const tj_bytes given[] = {{(const unsigned char *)s->a, operand}, {(const unsigned char *)s->b, operand}};
  tj_rt_buffer buffer[3];
  tj_rt_device *device;
  tj_rt_kernel *kernel;
  tj_rt_error error;
  uint64_t block[3];
  write_ir(m, text);
  tj_bytes linked = tj_link(job, make_amdgpu_object(job, text, m->processor));
  snprintf(name, sizeof name, "sim:%s", m->processor);
  expect(tj_rt_open(name, NULL, &device, &error), &error, name);
  const tj_rt_code code = {.symbol = "product", .code_object = linked, .argument_bytes = sizeof block};
  expect(tj_rt_load(device, &code, &kernel, &error), &error, name);
  for (int i = 0; i < 3; i++) {
    expect(tj_rt_allocate(device, i < 2 ? operand : result, &buffer[i], &error), &error, name);
    if (i < 2)
      expect(tj_rt_write(device, &buffer[i], 0, given[i], &error), &error, name);
    block[i] = buffer[i].address;
  }
  const tj_rt_dispatch dispatch = {block, 1, m->lanes, NULL};
  expect(tj_rt_launch(device, kernel, &dispatch, &error), &error, name);
  expect(tj_rt_wait(device, NULL, &error), &error, m->intrinsic);
  expect(tj_rt_read(device, &buffer[2], 0, s->d, result, &error), &error, name);
  for (int i = 0; i < 3; i++)
    tj_rt_release(device, &buffer[i]);
  tj_rt_unload(device, kernel);
  tj_rt_close(device);
}

static float product_at(const session *s, unsigned row, unsigned column) {
  unsigned length = STEPS * depth_of(s->of);
  float sum = 0;
  for (unsigned k = 0; k < length; k++)
    sum = fmaf((float)s->a[row * length + k], (float)s->b[column * length + k], sum);
  return sum;
}

/* Where lanes have rows of D, as AMD's documents draw it. */
static unsigned row_of(const microkernel *m, unsigned lane, unsigned element) {
  if (m->repeats)
    return 2 * element + lane / 16;
  if (m->is_wmma)
    return element + 8 * (lane / 16);
  return element % 4 + 4 * (lane / m->rows) + element / 4 * 8;
}

START_TEST(microkernels_give_products) {
  static session s;
  tj_job job;
  uint32_t state = 1;
  s.of = &microkernels[_i];
  for (size_t i = 0; i < sizeof s.a / sizeof s.a[0]; i++) {
    state = state * 1664525 + 1013904223;
    s.a[i] = (_Float16)((float)(state >> 8) * 0x1p-24f - 0.5f);
    state = state * 1664525 + 1013904223;
    s.b[i] = (_Float16)((float)(state >> 8) * 0x1p-24f - 0.5f);
  }
  tj_job_init(&job, NULL);
  expect_success(&job, run_on_device, &s);
  tj_job_destroy(&job);
  unsigned elements = s.of->rows * s.of->rows / s.of->lanes;
  for (unsigned lane = 0; lane < s.of->lanes; lane++) {
    for (unsigned i = 0; i < elements; i++) {
      float wanted = product_at(&s, row_of(s.of, lane, i), lane % s.of->rows), found = s.d[lane * elements + i];
      ck_assert_msg(memcmp(&wanted, &found, sizeof wanted) == 0, "%s: lane %u, element %u is %.9g, not %.9g",
                    s.of->intrinsic, lane, i, (double)found, (double)wanted);
    }
  }
}
END_TEST

int main(void) {
  return run_suite(suite_of_cases("sim_microkernels", microkernels_give_products, MICROKERNELS));
}

/* SPDX-License-Identifier: MIT */
/* Products of matrices as kernel writers write them, in LLVM IR: tiles go to LDS, waves load their parts of A and B
 * from there and add up products by matrix instructions, along K in a loop, dense, sparse and scaled ones. Compiled,
 * linked and run on simulated devices, they are what a plain product in the same order of sums gives, bit by bit. */
#include "jit/compile/link.h"
#include "rt/device.h"
#include "tests/unit/support/harness.h"
#include "tests/unit/support/objects.h"

#include <math.h>
#include <stdio.h>

enum { TEXT = 16384, STEPS = 3, MOST_TILE = 32, MOST_DEPTH = 128, LANES = 64 };

typedef enum {
  DENSE,
  SPARSE,
  SCALED_LANES, /* a scale for 32 columns in byte 0 of each lane, along rows and then along columns */
  SCALED_ROWS   /* four bytes along columns, in the lanes of a row */
} kind_of_product;

/* A wave has runs of neighbours of a row of A, or of a column of B, in each lane: `a_runs` of `a_run` elements, which
 * lanes of a row take in turns. Arguments name the operands. */
typedef struct {
  const char *processor, *intrinsic, *arguments;
  kind_of_product kind;
  unsigned rows, lanes;
  unsigned a_run, a_runs, b_run, b_runs;
} microkernel;

static const microkernel microkernels[] = {
    {"gfx90a", "mfma.f32.32x32x8f16", "<4 x half> %av, <4 x half> %bv, <16 x float> %c, i32 0, i32 0, i32 0", DENSE,
     32, 64, 4, 1, 4, 1},
    {"gfx942", "mfma.f32.32x32x8f16", "<4 x half> %av, <4 x half> %bv, <16 x float> %c, i32 0, i32 0, i32 0", DENSE,
     32, 64, 4, 1, 4, 1},
    {"gfx942", "mfma.f32.16x16x16f16", "<4 x half> %av, <4 x half> %bv, <4 x float> %c, i32 0, i32 0, i32 0", DENSE,
     16, 64, 4, 1, 4, 1},
    {"gfx942", "smfmac.f32.16x16x32.f16", "<4 x half> %av, <8 x half> %bv, <4 x float> %c, i32 %x, i32 0, i32 0",
     SPARSE, 16, 64, 4, 1, 8, 1},
    {"gfx950", "mfma.f32.16x16x32.f16", "<8 x half> %av, <8 x half> %bv, <4 x float> %c, i32 0, i32 0, i32 0", DENSE,
     16, 64, 8, 1, 8, 1},
    {"gfx950", "mfma.f32.32x32x16.f16", "<8 x half> %av, <8 x half> %bv, <16 x float> %c, i32 0, i32 0, i32 0", DENSE,
     32, 64, 8, 1, 8, 1},
    {"gfx950", "smfmac.f32.32x32x32.f16", "<8 x half> %av, <16 x half> %bv, <16 x float> %c, i32 %x, i32 0, i32 0",
     SPARSE, 32, 64, 8, 1, 8, 2},
    {"gfx950", "mfma.scale.f32.16x16x128.f8f6f4.v8i32.v8i32",
     "<8 x i32> %av, <8 x i32> %bv, <4 x float> %c, i32 0, i32 0, i32 0, i32 %x, i32 0, i32 %y", SCALED_LANES, 16, 64,
     16, 2, 16, 2},
    {"gfx1100", "wmma.f32.16x16x16.f16.v8f32.v16f16", "<16 x half> %av, <16 x half> %bv, <8 x float> %c", DENSE, 16,
     32, 16, 1, 16, 1},
    {"gfx1201", "wmma.f32.16x16x16.f16.v8f32.v8f16", "<8 x half> %av, <8 x half> %bv, <8 x float> %c", DENSE, 16, 32,
     8, 1, 8, 1},
    {"gfx1201", "swmmac.f32.16x16x32.f16.v8f32.v8f16.v16f16.i16",
     "<8 x half> %av, <16 x half> %bv, <8 x float> %c, i16 %x", SPARSE, 16, 32, 4, 2, 8, 2},
    {"gfx1250", "wmma.f32.16x16x32.f16.v8f32.v16f16",
     "i1 0, <16 x half> %av, i1 0, <16 x half> %bv, i16 0, <8 x float> %c, i1 0, i1 0", DENSE, 16, 32, 8, 2, 8, 2},
    {"gfx1250", "swmmac.f32.16x16x64.f16.v8f32.v16f16.v32f16.i32",
     "i1 0, <16 x half> %av, i1 0, <32 x half> %bv, <8 x float> %c, i32 %x, i1 0, i1 0", SPARSE, 16, 32, 8, 2, 16, 2},
    {"gfx1250", "wmma.scale.f32.16x16x128.f8f6f4.v8f32.v16i32.v16i32",
     "i32 0, <16 x i32> %av, i32 0, <16 x i32> %bv, i16 0, <8 x float> %c, i32 0, i32 0, i32 %x, i32 0, i32 0, i32 "
     "%y, i1 0, "
     "i1 0",
     SCALED_ROWS, 16, 32, 16, 4, 16, 4},
};

enum { MICROKERNELS = sizeof microkernels / sizeof microkernels[0] };

/* On gfx11, lanes from 16 on have what those before have. */
static unsigned parts_of(const microkernel *m) {
  return strcmp(m->processor, "gfx1100") == 0 ? 1 : m->lanes / m->rows;
}

static unsigned depth_of(const microkernel *m) {
  return m->b_run * m->b_runs * parts_of(m);
}

/* Columns that A has of them. */
static unsigned length_of(const microkernel *m) {
  return m->a_run * m->a_runs * parts_of(m);
}

static bool is_scaled(const microkernel *m) {
  return m->kind == SCALED_LANES || m->kind == SCALED_ROWS;
}

static unsigned element_bytes(const microkernel *m) {
  return is_scaled(m) ? 1 : 2;
}

/* --- IR --- */

/* The type of an operand among the arguments, or without a name the types of all. */
static void write_types(const microkernel *m, const char *name, char types[256]) {
  *types = '\0';
  for (const char *at = m->arguments; at[0] != '\0'; at += strspn(at, ", ")) {
    size_t length = strcspn(at, ","), type = length;
    while (at[type - 1] != ' ')
      type--;
    bool is_wanted = name == NULL || (strlen(name) == length - type && strncmp(at + type, name, length - type) == 0);
    if (is_wanted)
      snprintf(types + strlen(types), 256 - strlen(types), "%s%.*s", *types != '\0' ? ", " : "", (int)type - 1, at);
    at += length;
  }
}

/* A lane brings the runs of an operand to its place in LDS, side by side, and takes them from there. */
static void write_moves(const microkernel *m, char operand, char text[TEXT]) {
  unsigned run = operand == 'a' ? m->a_run : m->b_run, runs = operand == 'a' ? m->a_runs : m->b_runs;
  unsigned bytes = run * element_bytes(m), length = run * runs * parts_of(m) * element_bytes(m);
  char *to = text + strlen(text);
  to += sprintf(to,
                "  %%%c.rows = mul i32 %%row, %u\n"
                "  %%%c.steps = mul i32 %%step, %u\n"
                "  %%%c.parts = mul i32 %%part, %u\n"
                "  %%%c.begin = add i32 %%%c.rows, %%%c.steps\n"
                "  %%%c.first = add i32 %%%c.begin, %%%c.parts\n"
                "  %%%c.place = mul i32 %%lane, %u\n",
                operand, STEPS * length, operand, length, operand, bytes, operand, operand, operand, operand, operand,
                operand, operand, bytes * runs);
  for (unsigned i = 0; i < runs; i++)
    to += sprintf(to,
                  "  %%%c.from%u = add i32 %%%c.first, %u\n"
                  "  %%%c.to%u = add i32 %%%c.place, %u\n"
                  "  %%%c.source%u = getelementptr i8, ptr addrspace(1) %%%c, i32 %%%c.from%u\n"
                  "  %%%c.target%u = getelementptr i8, ptr addrspace(3) @%c, i32 %%%c.to%u\n"
                  "  %%%c.run%u = load <%u x i8>, ptr addrspace(1) %%%c.source%u, align 8\n"
                  "  store <%u x i8> %%%c.run%u, ptr addrspace(3) %%%c.target%u, align 8\n",
                  operand, i, operand, i * parts_of(m) * bytes, operand, i, operand, i * bytes, operand, i, operand,
                  operand, i, operand, i, operand, operand, i, operand, i, bytes, operand, i, bytes, operand, i,
                  operand, i);
}

/* What stands beside A, or B: for each step and lane, in eight bytes. */
static void write_beside(const microkernel *m, const char *name, char text[TEXT]) {
  char type[256];
  write_types(m, name, type);
  if (*type != '\0')
    sprintf(text + strlen(text),
            "  %s.place = add i32 %%steps.of.lanes, %%lane\n"
            "  %s.from = getelementptr i64, ptr addrspace(1) %s.all, i32 %s.place\n"
            "  %s = load %s, ptr addrspace(1) %s.from, align 8\n",
            name, name, name, name, name, type, name);
}

static void write_ir(const microkernel *m, char text[TEXT]) {
  char types[256], a[256], b[256], d[256];
  write_types(m, NULL, types);
  write_types(m, "%av", a);
  write_types(m, "%bv", b);
  write_types(m, "%c", d);
  sprintf(text,
          "target triple = \"amdgcn-amd-amdhsa\"\n"
          "@a = internal addrspace(3) global [%u x i8] poison, align 16\n"
          "@b = internal addrspace(3) global [%u x i8] poison, align 16\n"
          "declare i32 @llvm.amdgcn.workitem.id.x()\n"
          "declare void @llvm.amdgcn.s.barrier()\n"
          "declare %s @llvm.amdgcn.%s(%s)\n"
          "define amdgpu_kernel void @product(ptr addrspace(1) %%a, ptr addrspace(1) %%b, ptr addrspace(1) %%x.all, "
          "ptr addrspace(1) %%y.all, ptr addrspace(1) %%d) #0 {\n"
          "entry:\n"
          "  %%lane = call i32 @llvm.amdgcn.workitem.id.x()\n"
          "  %%row = and i32 %%lane, %u\n"
          "  %%group = udiv i32 %%lane, %u\n"
          "  %%part = urem i32 %%group, %u\n"
          "  br label %%loop\n"
          "loop:\n"
          "  %%step = phi i32 [ 0, %%entry ], [ %%next, %%loop ]\n"
          "  %%c = phi %s [ zeroinitializer, %%entry ], [ %%sum, %%loop ]\n"
          "  %%steps.of.lanes = mul i32 %%step, %u\n",
          m->a_run * m->a_runs * element_bytes(m) * m->lanes, m->b_run * m->b_runs * element_bytes(m) * m->lanes, d,
          m->intrinsic, types, m->rows - 1, m->rows, parts_of(m), d, m->lanes);
  write_moves(m, 'a', text);
  write_moves(m, 'b', text);
  write_beside(m, "%x", text);
  write_beside(m, "%y", text);
  sprintf(text + strlen(text),
          "  fence syncscope(\"workgroup\") release\n"
          "  call void @llvm.amdgcn.s.barrier()\n"
          "  fence syncscope(\"workgroup\") acquire\n"
          "  %%a.kept = getelementptr i8, ptr addrspace(3) @a, i32 %%a.place\n"
          "  %%b.kept = getelementptr i8, ptr addrspace(3) @b, i32 %%b.place\n"
          "  %%av = load %s, ptr addrspace(3) %%a.kept, align 8\n"
          "  %%bv = load %s, ptr addrspace(3) %%b.kept, align 8\n"
          "  %%sum = call %s @llvm.amdgcn.%s(%s)\n"
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
          a, b, d, m->intrinsic, m->arguments, STEPS, d, d, m->lanes, m->lanes);
}

/* --- operands --- */

/* Numbers, and what memory has of them. */
typedef struct {
  const microkernel *of;
  float a[MOST_TILE * MOST_DEPTH * STEPS], b[MOST_TILE * MOST_DEPTH * STEPS];
  unsigned char a_bytes[2 * MOST_TILE * MOST_DEPTH * STEPS], b_bytes[2 * MOST_TILE * MOST_DEPTH * STEPS];
  uint8_t which[MOST_TILE * MOST_DEPTH * STEPS]; /* of four columns of B, those of A are */
  uint64_t x[STEPS * LANES], y[STEPS * LANES];
  float d[LANES * 16];
} session;

static uint32_t random_number(uint32_t *state) {
  *state = *state * 1664525 + 1013904223;
  return *state >> 8;
}

/* An element, and its bytes: halves from -0.5 to 0.5, and small f8e4m3. */
static float set_element(const microkernel *m, uint32_t *state, unsigned char *bytes) {
  static const struct {
    unsigned char code;
    float value;
  } small[] = {{0x00, 0}, {0x30, 0.5f}, {0x38, 1},     {0x3c, 1.5f},
               {0x44, 3}, {0xb8, -1},   {0xc2, -2.5f}, {0x21, 0.140625f}};
  uint32_t number = random_number(state);
  if (is_scaled(m)) {
    *bytes = small[number / 64 % 8].code;
    return small[number / 64 % 8].value;
  }
  _Float16 half = (_Float16)((float)number * 0x1p-24f - 0.5f);
  memcpy(bytes, &half, sizeof half);
  return (float)half;
}

/* Two of four columns. On gfx1250 turns of a row have the same ones, as sources differ about whose they are. */
static void set_which(session *s, uint32_t *state) {
  static const uint8_t pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  unsigned length = length_of(s->of), turn = strcmp(s->of->processor, "gfx1250") == 0 ? s->of->a_run : length;
  for (unsigned i = 0; i < s->of->rows * STEPS * length; i += 2) {
    const uint8_t *pair = pairs[random_number(state) / 64 % 6];
    bool is_first = i % length < turn;
    s->which[i] = is_first ? pair[0] : s->which[i - turn];
    s->which[i + 1] = is_first ? pair[1] : s->which[i + 1 - turn];
  }
}

/* Two bits for each element that a lane has. */
static uint64_t indices_of(const session *s, unsigned step, unsigned lane) {
  const microkernel *m = s->of;
  unsigned row = lane % m->rows, part = lane / m->rows, length = length_of(m);
  uint64_t bits = 0;
  for (unsigned i = 0; i < m->a_run * m->a_runs; i++) {
    unsigned column = (i / m->a_run * parts_of(m) + part) * m->a_run + i % m->a_run;
    bits |= (uint64_t)s->which[(row * STEPS + step) * length + column] << 2 * i;
  }
  return bits;
}

static int exponent_of(unsigned step, unsigned row, unsigned number) {
  return (int)((3 * step + row + 5 * number) % 7) - 3;
}

static uint64_t scales_of(const session *s, unsigned step, unsigned lane) {
  const microkernel *m = s->of;
  uint64_t bytes = 0;
  for (unsigned i = 0; i < 4; i++) {
    unsigned number = m->kind == SCALED_ROWS ? i : lane / m->rows;
    bytes |= (uint64_t)(127 + exponent_of(step, lane % m->rows, number)) << 8 * i;
  }
  return bytes;
}

static void set_operands(session *s) {
  uint32_t state = 1;
  size_t bytes = element_bytes(s->of);
  for (size_t i = 0; i < MOST_TILE * MOST_DEPTH * STEPS; i++) {
    s->a[i] = set_element(s->of, &state, s->a_bytes + bytes * i);
    s->b[i] = set_element(s->of, &state, s->b_bytes + bytes * i);
  }
  set_which(s, &state);
  for (unsigned step = 0; step < STEPS; step++) {
    for (unsigned lane = 0; lane < s->of->lanes; lane++) {
      unsigned place = step * s->of->lanes + lane;
      s->x[place] = s->of->kind == SPARSE ? indices_of(s, step, lane) : scales_of(s, step, lane);
      s->y[place] = scales_of(s, step + 1, lane);
    }
  }
}

/* --- runs --- */

static void expect(tj_status status, const tj_rt_error *error, const char *what) {
  ck_assert_msg(status == TJ_OK, "%s: TJ%04d: %s", what, (int)error->code, error->text);
}

static void run_on_device(tj_job *job, void *data) {
  session *s = data;
  const microkernel *m = s->of;
  char text[TEXT], name[32];
  size_t elements = (size_t)m->rows * STEPS * element_bytes(m), result = (size_t)m->rows * m->rows * 4;
  const tj_bytes given[] = {{s->a_bytes, elements * length_of(m)},
                            {s->b_bytes, elements * depth_of(m)},
                            {(const unsigned char *)s->x, sizeof s->x},
                            {(const unsigned char *)s->y, sizeof s->y}};
  tj_rt_buffer buffer[5];
  tj_rt_device *device;
  tj_rt_kernel *kernel;
  tj_rt_error error;
  uint64_t block[5];
  write_ir(m, text);
  tj_bytes linked = tj_link(job, make_amdgpu_object(job, text, m->processor));
  snprintf(name, sizeof name, "sim:%s", m->processor);
  expect(tj_rt_open(name, NULL, &device, &error), &error, name);
  const tj_rt_code code = {.symbol = "product", .code_object = linked, .argument_words = sizeof block / 8};
  expect(tj_rt_load(device, &code, &kernel, &error), &error, name);
  for (int i = 0; i < 5; i++) {
    expect(tj_rt_allocate(device, i < 4 ? given[i].size : result, &buffer[i], &error), &error, name);
    if (i < 4)
      expect(tj_rt_write(device, &buffer[i], 0, given[i], &error), &error, name);
    block[i] = buffer[i].address;
  }
  const tj_rt_dispatch dispatch = {block, 1, m->lanes, NULL};
  expect(tj_rt_launch(device, kernel, &dispatch, &error), &error, name);
  expect(tj_rt_wait(device, NULL, &error), &error, m->intrinsic);
  expect(tj_rt_read(device, &buffer[4], 0, s->d, result, &error), &error, name);
  for (int i = 0; i < 5; i++)
    tj_rt_release(device, &buffer[i]);
  tj_rt_unload(device, kernel);
  tj_rt_close(device);
}

static float product_at(const session *s, unsigned row, unsigned column) {
  const microkernel *m = s->of;
  unsigned length = length_of(m), depth = depth_of(m);
  float sum = 0;
  for (unsigned i = 0; i < STEPS * length; i++) {
    unsigned step = i / length, k = i % length;
    if (m->kind == SPARSE)
      k = k / 2 * 4 + s->which[row * STEPS * length + i];
    float a = s->a[row * STEPS * length + i], b = s->b[(column * STEPS + step) * depth + k];
    int exponent = exponent_of(step, row, k / 32) + exponent_of(step + 1, column, k / 32);
    sum = is_scaled(m) ? (float)((double)sum + ldexp((double)a * (double)b, exponent)) : fmaf(a, b, sum);
  }
  return sum;
}

/* Where lanes have rows of D, as AMD's documents draw it. */
static unsigned row_of(const microkernel *m, unsigned lane, unsigned element) {
  if (parts_of(m) == 1)
    return 2 * element + lane / 16;
  if (m->lanes == 32)
    return element + 8 * (lane / 16);
  return element % 4 + 4 * (lane / m->rows) + element / 4 * 8;
}

START_TEST(microkernels_give_products) {
  static session s;
  tj_job job;
  s.of = &microkernels[_i];
  set_operands(&s);
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

/* SPDX-License-Identifier: MIT */
/* How long a kernel takes from text to code object in memory, stage by stage, in a warm process without a cache: up
 * to the variant that a launch takes, where there are several. In turns with it, since the clock of a processor
 * changes within seconds, how long LLVM takes for an empty kernel as it comes (llvm_floor.c), and with the passes
 * that are run here for one that does next to nothing (the floor). And, for AMD's GPUs, clang as a subprocess for the
 * same kernel in OpenCL C. Of the static transpositions of f32 there is the mean. Kernels of arrays
 * (array_programs.c) stand beside a copy of the same shape, in turns with it, which turns around where one of their
 * destinations does.
 *
 * usage: bench_compile [ITERATIONS [TARGET]]. Prints one JSON object: medians in microseconds, and ratios. */
#include "array_programs.h"
#include "first_launch.h"
#include "llvm_floor.h"
#include "timing.h"
#include "transpositions.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ITERATIONS = 1000, CLANG_ITERATIONS = 3 };

/* A kernel in both languages, and the extent of a launch along each of its parameters. */
typedef struct {
  const char *name, *tile, *opencl;
  int64_t extent;
} sample;

#define OPENCL_INDEX "long n = (long)__builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();\n"

static const sample samples[] = {
    {"transpose",
     "param M in 1..32768, N in 1..32768\n"
     "kernel transpose(src: f32 @ (M,N):(N,1), dst: f32 @ (M,N):(1,M)) = copy(src, dst)",
     "__attribute__((reqd_work_group_size(256, 1, 1)))\n"
     "kernel void transpose(global const float *restrict src, global float *restrict dst, long M, long N) "
     "{\n" OPENCL_INDEX "if (n < M * N) dst[n] = src[(n % M) * N + n / M]; }",
     2000},
    {"permute",
     "kernel permute(src: f16 @ (96,75,96,75):(1,96,7200,691200), "
     "dst: f16 @ (96,75,96,75):(540000,96,1,7200)) = copy(src, dst)",
     "__attribute__((reqd_work_group_size(256, 1, 1)))\n"
     "kernel void permute(global const short *restrict src, global short *restrict dst) {\n" OPENCL_INDEX
     "if (n < 51840000) { long a = n % 96, b = n / 96 % 75, c = n / 7200 % 96, d = n / 691200;\n"
     "  dst[a * 540000 + b * 96 + c + d * 7200] = src[n]; } }",
     0},
    {"offsets_merge",
     "let merged = transform(packed((4,6,5)), [merge(4,6,5)], [[0,1,2]], [[0]])\n"
     "let view = transform(merged, [unmerge(8,15)], [[0]], [[0,1]])\n"
     "kernel offsets_merge(dst: i32 @ packed((8,15))) = offsets(dst, view)",
     "__attribute__((reqd_work_group_size(256, 1, 1)))\n"
     "kernel void offsets_merge(global int *restrict dst) {\n" OPENCL_INDEX
     "if (n < 120) { int i = n / 15, j = n % 15, x = i * 15 + j;\n"
     "  dst[n] = (x / 30) * 30 + (x / 5 % 6) * 5 + x % 5; } }",
     0},
    {"im2col",
     "let padded = transform(packed((4,32,32)), [pass_through(4), pad(32,1,1), pad(32,1,1)],"
     " [[0],[1],[2]], [[0],[1],[2]])\n"
     "let windows = transform(padded, [pass_through(4), embed((3,32),(1,1)), embed((3,32),(1,1))],"
     " [[0],[1],[2]], [[0],[1,2],[3,4]])\n"
     "let matrix = transform(windows, [merge(32,32), merge(4,3,3)], [[2,4],[0,1,3]], [[0],[1]])\n"
     "kernel im2col(src: f16 @ matrix, dst: f16 @ packed((1024, 36))) = copy(src, dst)",
     "__attribute__((reqd_work_group_size(256, 1, 1)))\n"
     "kernel void im2col(global const short *restrict src, global short *restrict dst) {\n" OPENCL_INDEX
     "if (n < 1024 * 36) { int p = n / 36, q = n % 36, oh = p / 32, ow = p % 32, c = q / 9, kh = q / 3 % 3,\n"
     "  kw = q % 3, h = oh + kh - 1, w = ow + kw - 1;\n"
     "  dst[n] = h >= 0 && h < 32 && w >= 0 && w < 32 ? src[c * 1024 + h * 32 + w] : 0; } }",
     0},
};

enum { SAMPLE_COUNT = sizeof samples / sizeof *samples };

/* What each work-item of it does is store its number. */
static const sample floor_sample = {"floor", "kernel floor(dst: i32 @ packed((256,))) = offsets(dst, packed((256,)))",
                                    NULL, 0};

/* Durations of one compilation, in microseconds. */
enum { PARSE, PLAN, SIMPLIFY, LOWER, PASSES, CODEGEN, LINK, CHECK, TOTAL, STAGE_COUNT };
static const char *const stage_names[] = {"parse",   "plan", "simplify", "lower", "passes",
                                          "codegen", "link", "check",    "total"};

static void stop(tj_context *context) {
  const tj_diagnostic *diagnostic = tj_context_diagnostic(context);
  fprintf(stderr, "bench_compile: TJ%04u: %s\n", diagnostic->code, diagnostic->message);
  exit(1);
}

static void compile_once(tj_context *context, const sample *s, const char *target, double durations[STAGE_COUNT]) {
  tj_program *program;
  tj_code *code;
  double begin = now();
  if (tj_program_create(context, s->name, s->tile, strlen(s->tile), NULL, 0, &program) != TJ_OK)
    stop(context);
  durations[PARSE] = now() - begin;
  if (tj_code_compile(program, &(tj_compile_options){s->name, target}, &code) != TJ_OK)
    stop(context);
  tj_code_times late;
  if (first_launch(context, code, s->extent, &late) != TJ_OK)
    stop(context);
  durations[TOTAL] = now() - begin;
  tj_code_times times = tj_code_times_of(code);
  const uint64_t stages[] = {times.plan,
                             times.simplify,
                             times.lower + late.lower,
                             times.passes + late.passes,
                             times.codegen + late.codegen,
                             times.link + late.link,
                             times.check + late.check};
  for (int i = PLAN; i <= CHECK; i++)
    durations[i] = (double)stages[i - PLAN] / 1e3;
  tj_code_destroy(code);
  tj_program_destroy(program);
}

/* Microseconds of `clang-22` making a code object of the sample's OpenCL C, which is written for AMD's GPUs; negative
 * for other targets, and where clang is missing. */
static double time_clang(const sample *s, const char *target) {
  char source[] = "/tmp/bench_compile_XXXXXX.cl", output[sizeof source + 8], cpu[64];
  int file = mkstemps(source, 3);
  if (file < 0)
    return -1;
  ssize_t written = write(file, s->opencl, strlen(s->opencl));
  close(file);
  snprintf(output, sizeof output, "%s.hsaco", source);
  snprintf(cpu, sizeof cpu, "-mcpu=%s", target);
  double begin = now();
  pid_t child = written > 0 ? fork() : -1;
  if (child == 0) {
    execlp("clang-22", "clang-22", "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", cpu, "-nogpulib",
           "-O3", source, "-o", output, (char *)NULL);
    _exit(127);
  }
  int status = 1;
  if (child > 0)
    waitpid(child, &status, 0);
  double duration = status == 0 ? now() - begin : -1;
  unlink(source);
  unlink(output);
  return duration;
}

static double fastest_clang(const sample *s, const char *target) {
  if (strncmp(target, "gfx", 3) != 0)
    return -1;
  double best = -1;
  for (int i = 0; i < CLANG_ITERATIONS; i++) {
    double duration = time_clang(s, target);
    if (duration >= 0 && (best < 0 || duration < best))
      best = duration;
  }
  return best;
}

/* What is compiled, and how often. */
typedef struct {
  tj_context *context;
  const char *target;
  size_t iterations;
  const llvm_floor *floor;
} bench;

/* Of the empty kernel of LLVM there is the total alone. */
static const sample llvm_sample = {"llvm", NULL, NULL, 0};

static void take_once(const bench *b, const sample *s, double durations[STAGE_COUNT]) {
  if (s != &llvm_sample) {
    compile_once(b->context, s, b->target, durations);
    return;
  }
  memset(durations, 0, STAGE_COUNT * sizeof *durations);
  durations[TOTAL] = llvm_floor_once(b->floor);
}

enum { MOST_SAMPLES = 3, IN_A_ROW = 5 };

/* The median of each stage of each sample. They take turns, some times in a row behind one that is not counted. */
static void measure_stages(const bench *b, const sample *const turns_of[], int count, double medians[][STAGE_COUNT]) {
  static double durations[MOST_SAMPLES][STAGE_COUNT][MOST_ITERATIONS];
  double once[STAGE_COUNT];
  for (size_t done = 0; done < b->iterations; done += IN_A_ROW) {
    for (int i = 0; i < count; i++) {
      take_once(b, turns_of[i], once);
      for (size_t n = done; n < b->iterations && n < done + IN_A_ROW; n++) {
        take_once(b, turns_of[i], once);
        for (int k = 0; k < STAGE_COUNT; k++)
          durations[i][k][n] = once[k];
      }
    }
  }
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < STAGE_COUNT; k++)
      medians[i][k] = median(durations[i][k], b->iterations);
  }
}

static json_t *stages_of(const double medians[STAGE_COUNT]) {
  json_t *stages = json_object();
  for (int k = 0; k < STAGE_COUNT; k++)
    json_object_set_new(stages, stage_names[k], json_real(medians[k]));
  return stages;
}

/* Durations of a kernel, and of LLVM in the same turns. */
typedef struct {
  double stages[STAGE_COUNT], of_llvm, floor;
} compiled;

static compiled measure_beside_llvm(const bench *b, const sample *s) {
  double medians[3][STAGE_COUNT];
  measure_stages(b, (const sample *const[]){&llvm_sample, &floor_sample, s}, 3, medians);
  compiled m = {.of_llvm = medians[0][TOTAL], .floor = medians[1][PASSES] + medians[1][CODEGEN]};
  memcpy(m.stages, medians[2], sizeof m.stages);
  return m;
}

static json_t *ratios_of(const compiled *m) {
  double total = m->stages[TOTAL];
  return json_pack("{s:f,s:f,s:f,s:f}", "llvm_floor", m->of_llvm, "floor", m->floor, "llvm_ratio", total / m->of_llvm,
                   "floor_ratio", total / m->floor);
}

static json_t *measure(const bench *b, const sample *s) {
  compiled m = measure_beside_llvm(b, s);
  double ours = 0, clang = fastest_clang(s, b->target);
  for (int k = 0; k < STAGE_COUNT; k++) {
    bool is_ours = k == PARSE || k == PLAN || k == SIMPLIFY || k == LOWER || k == CHECK;
    ours += is_ours ? m.stages[k] : 0;
  }
  json_t *result = json_pack("{s:s,s:o,s:f}", "kernel", s->name, "microseconds", stages_of(m.stages), "ours", ours);
  json_object_update_new(result, ratios_of(&m));
  if (clang >= 0)
    json_object_update_new(result, json_pack("{s:f,s:f}", "clang", clang, "clang_ratio", clang / m.stages[TOTAL]));
  return result;
}

static json_t *measure_kernels(const bench *b) {
  json_t *results = json_array();
  for (int i = 0; i < SAMPLE_COUNT; i++)
    json_array_append_new(results, measure(b, &samples[i]));
  return results;
}

/* --- transpositions --- */

/* The mean of what the transpositions of f32 take, each the median of some times, in the place of one kernel. */
static json_t *measure_transpositions(const bench *b) {
  compiled mean = {{0}, 0, 0};
  for (int i = 0; i < TRANSPOSITION_COUNT; i++) {
    char text[TRANSPOSITION_TEXT];
    transposition_write(text, &transpositions[i], NULL, "f32");
    compiled m = measure_beside_llvm(b, &(sample){"transpose", text, NULL, 0});
    mean.stages[TOTAL] += m.stages[TOTAL] / TRANSPOSITION_COUNT;
    mean.of_llvm += m.of_llvm / TRANSPOSITION_COUNT;
    mean.floor += m.floor / TRANSPOSITION_COUNT;
  }
  json_t *result = json_pack("{s:f}", "mean", mean.stages[TOTAL]);
  json_object_update_new(result, ratios_of(&mean));
  return result;
}

/* --- arrays --- */

static bool turns(const array_program *p) {
  bool is_turned = false;
  for (const array_argument *a = p->argument; a->name != NULL; a++)
    is_turned = is_turned || a->form == TURNED;
  return is_turned;
}

/* A kernel of rows in bf16, beside the copy. */
static json_t *measure_rows(const bench *b, const array_program *p, const array_program *copy, bool is_dynamic) {
  enum { ROWS = 32768, COLUMNS = 8192 };
  char text[2][PROGRAM_TEXT];
  double medians[2][STAGE_COUNT];
  array_program_write(text[0], copy, "bf16", ROWS, COLUMNS, is_dynamic);
  array_program_write(text[1], p, "bf16", ROWS, COLUMNS, is_dynamic);
  const sample beside = {"k", text[0], NULL, COLUMNS}, rows = {"k", text[1], NULL, COLUMNS};
  measure_stages(b, (const sample *const[]){&beside, &rows}, 2, medians);
  return json_pack("{s:s,s:s,s:o,s:s,s:f,s:f}", "kernel", p->name, "form", is_dynamic ? "dynamic" : "static",
                   "microseconds", stages_of(medians[1]), "beside", copy->name, "copy", medians[0][TOTAL],
                   "copy_ratio", medians[1][TOTAL] / medians[0][TOTAL]);
}

static json_t *measure_arrays(const bench *b) {
  static const array_program copies[] = {
      {"copy", "kernel k(x: * @ (M, N):(N, 1), y: * @ (M, N):(N, 1)) = { y = x }", NULL, 0, {{0}}, NULL},
      {"turning copy", "kernel k(x: * @ (M, N):(N, 1), y: * @ (M, N):(1, M)) = { y = x }", NULL, 0, {{0}}, NULL}};
  json_t *results = json_array();
  for (int dynamic = 0; dynamic < 2; dynamic++) {
    for (size_t i = 0; i < array_program_count; i++) {
      const array_program *p = &array_programs[i];
      json_array_append_new(results, measure_rows(b, p, &copies[turns(p)], dynamic));
    }
  }
  return results;
}

int main(int count, char **words) {
  size_t iterations = count > 1 ? strtoul(words[1], NULL, 10) : 100;
  const char *target = count > 2 ? words[2] : "gfx942";
  if (iterations < 1 || iterations > MOST_ITERATIONS) {
    fprintf(stderr, "usage: bench_compile [ITERATIONS (1 to %d) [TARGET]]\n", MOST_ITERATIONS);
    return 2;
  }
  llvm_floor *floor = llvm_floor_open(target);
  tj_context *context;
  if (floor == NULL || tj_context_create(NULL, &context) != TJ_OK) {
    fprintf(stderr, "bench_compile: no code for %s\n", target);
    llvm_floor_close(floor);
    return 3;
  }
  tj_context_set_cache(context, NULL);
  const bench b = {context, target, iterations, floor};
  json_t *report = json_pack("{s:s,s:s,s:i,s:o,s:o,s:o}", "benchmark", "compile", "target", target, "iterations",
                             (int)iterations, "kernels", measure_kernels(&b), "transpositions",
                             measure_transpositions(&b), "arrays", measure_arrays(&b));
  json_dumpf(report, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(5));
  putchar('\n');
  json_decref(report);
  tj_context_destroy(context);
  llvm_floor_close(floor);
  return 0;
}

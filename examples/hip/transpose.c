/* SPDX-License-Identifier: MIT */
/* Kernels of tilejit in a HIP program: HIP has the memory, the streams, the events and the graph, tilejit writes the
 * code and says how each launch is made.
 *
 *     transpose ROWS COLUMNS
 *
 * A matrix is transposed by a kernel that is compiled for its shape, and back by one that serves every shape: on two
 * streams, of which the second waits for an event of the first; and in a graph, whose second kernel is given other
 * addresses between two runs. Each result is compared with what it should be. Exit status 0: all elements are right.
 */
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__
#endif
#include <hip/hip_runtime_api.h>
#include <tilejit/tilejit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

static const char program_text[] =
    "param M in 1..65536, N in 1..65536\n"
    "kernel transpose(src: f32 @ (M, N):(N, 1), dst: f32 @ (M, N):(1, M)) = copy(src, dst)\n";

/* --- failures --- */

static void expect_hip(hipError_t error, const char *call) {
  if (error == hipSuccess)
    return;
  fprintf(stderr, "%s: %s\n", call, hipGetErrorString(error));
  exit(1);
}

#define HIP(call) expect_hip(call, #call)

static void expect(const tj_context *context, tj_status status) {
  if (status == TJ_OK)
    return;
  char text[1024] = "out of memory\n";
  const tj_diagnostic *diagnostic = context != NULL ? tj_context_diagnostic(context) : NULL;
  if (diagnostic != NULL)
    tj_diagnostic_format(diagnostic, 0, text, sizeof text);
  fputs(text, stderr);
  exit((int)status);
}

/* --- kernels --- */

/* Code of tilejit as a module of HIP's, and a launch that says how it is used. */
typedef struct {
  tj_code *code;
  tj_launch *launch;
  hipModule_t module;
} kernel;

/* For these values of the parameters, or for all of them. */
static kernel compile(tj_context *context, const char *target, const tj_parameter_value *values, size_t count) {
  kernel k;
  size_t bytes;
  tj_program *program;
  const tj_compile_options options = {.target = target};
  expect(context,
         tj_program_create(context, "transpose", program_text, strlen(program_text), values, count, &program));
  expect(context, tj_code_compile(program, &options, &k.code));
  expect(context, tj_launch_create(context, k.code, &k.launch));
  tj_program_destroy(program);
  HIP(hipModuleLoadData(&k.module, tj_code_bytes(k.code, &bytes)));
  return k;
}

static void destroy(kernel *k) {
  HIP(hipModuleUnload(k->module));
  tj_launch_destroy(k->launch);
  tj_code_destroy(k->code);
}

static const tj_recipe *prepare(tj_context *context, const kernel *k, const float *from, float *to, size_t bytes) {
  const tj_recipe *recipe;
  expect(context, tj_launch_bind_pointer(k->launch, "src", (void *)from, bytes));
  expect(context, tj_launch_bind_pointer(k->launch, "dst", to, bytes));
  expect(context, tj_launch_prepare(k->launch, &recipe));
  return recipe;
}

static hipFunction_t find_function(const kernel *k, const tj_recipe *recipe) {
  hipFunction_t function;
  HIP(hipModuleGetFunction(&function, k->module, recipe->symbol));
  return function;
}

static unsigned groups(const tj_recipe *recipe, unsigned axis) {
  return (unsigned)(recipe->grid[axis] / recipe->block[axis]);
}

/* HIP copies the argument block before this returns. */
static void launch(const kernel *k, const tj_recipe *recipe, hipStream_t stream) {
  size_t size = recipe->kernarg_bytes;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, (void *)recipe->kernarg, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   HIP_LAUNCH_PARAM_END};
  HIP(hipModuleLaunchKernel(find_function(k, recipe), groups(recipe, 0), groups(recipe, 1), groups(recipe, 2),
                            (unsigned)recipe->block[0], (unsigned)recipe->block[1], (unsigned)recipe->block[2], 0,
                            stream, NULL, extra));
}

/* --- what is transposed --- */

typedef struct {
  size_t rows, columns, bytes;
  float *source, *result;      /* the host's */
  float *from, *across, *back; /* the device's */
} matrix;

static matrix open_matrix(size_t rows, size_t columns) {
  matrix m = {.rows = rows, .columns = columns, .bytes = rows * columns * sizeof(float)};
  m.source = malloc(m.bytes);
  m.result = malloc(m.bytes);
  if (m.source == NULL || m.result == NULL)
    exit(1);
  for (size_t i = 0; i < rows * columns; i++)
    m.source[i] = (float)(i + 1);
  HIP(hipMalloc((void **)&m.from, m.bytes));
  HIP(hipMalloc((void **)&m.across, m.bytes));
  HIP(hipMalloc((void **)&m.back, m.bytes));
  return m;
}

static void close_matrix(matrix *m) {
  HIP(hipFree(m->from));
  HIP(hipFree(m->across));
  HIP(hipFree(m->back));
  free(m->source);
  free(m->result);
}

/* Says how many elements of the device's block differ from the source, or from its transpose, and returns it. */
static size_t count_wrong(const matrix *m, const float *block, int is_transposed, const char *what) {
  size_t wrong = 0;
  HIP(hipMemcpy(m->result, block, m->bytes, hipMemcpyDeviceToHost));
  for (size_t i = 0; i < m->rows; i++) {
    for (size_t j = 0; j < m->columns; j++) {
      float found = m->result[is_transposed ? j * m->rows + i : i * m->columns + j];
      wrong += found != m->source[i * m->columns + j];
    }
  }
  printf("%s: %zu of %zu elements wrong\n", what, wrong, m->rows * m->columns);
  return wrong;
}

/* --- two streams --- */

static size_t run_on_streams(tj_context *context, const matrix *m, const kernel *there, const kernel *back) {
  hipStream_t first, second;
  hipEvent_t begin, end;
  float milliseconds;
  HIP(hipStreamCreate(&first));
  HIP(hipStreamCreate(&second));
  HIP(hipEventCreate(&begin));
  HIP(hipEventCreate(&end));
  HIP(hipMemsetAsync(m->across, 0xff, m->bytes, first));
  HIP(hipMemsetAsync(m->back, 0xff, m->bytes, second));
  HIP(hipMemcpyAsync(m->from, m->source, m->bytes, hipMemcpyHostToDevice, first));
  HIP(hipEventRecord(begin, first));
  launch(there, prepare(context, there, m->from, m->across, m->bytes), first);
  HIP(hipEventRecord(end, first));
  HIP(hipStreamWaitEvent(second, end, 0));
  launch(back, prepare(context, back, m->across, m->back, m->bytes), second);
  HIP(hipStreamSynchronize(second));
  HIP(hipEventElapsedTime(&milliseconds, begin, end));
  size_t wrong = count_wrong(m, m->across, 1, "on a stream, transposed");
  wrong += count_wrong(m, m->back, 0, "on another stream, and back");
  wrong += milliseconds < 0;
  HIP(hipEventDestroy(begin));
  HIP(hipEventDestroy(end));
  HIP(hipStreamDestroy(first));
  HIP(hipStreamDestroy(second));
  return wrong;
}

/* --- a graph --- */

/* A node's parameters point to one another, so they stay where they are. */
typedef struct {
  void *extra[5];
  size_t size;
  hipKernelNodeParams parameters;
} node;

static void fill_node(node *n, const kernel *k, const tj_recipe *recipe) {
  n->size = recipe->kernarg_bytes;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, (void *)recipe->kernarg, HIP_LAUNCH_PARAM_BUFFER_SIZE, &n->size,
                   HIP_LAUNCH_PARAM_END};
  memcpy(n->extra, extra, sizeof extra);
  n->parameters = (hipKernelNodeParams){
      .blockDim = {(unsigned)recipe->block[0], (unsigned)recipe->block[1], (unsigned)recipe->block[2]},
      .extra = n->extra,
      .func = (void *)find_function(k, recipe),
      .gridDim = {groups(recipe, 0), groups(recipe, 1), groups(recipe, 2)},
  };
}

static size_t run_in_graph(tj_context *context, const matrix *m, const kernel *there, const kernel *back) {
  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t executable;
  hipGraphNode_t filled, transposed, returned;
  node n;
  hipMemsetParams fill = {.dst = m->across, .elementSize = 4, .value = 0, .width = m->bytes / 4, .height = 1};
  HIP(hipStreamCreate(&stream));
  HIP(hipGraphCreate(&graph, 0));
  HIP(hipGraphAddMemsetNode(&filled, graph, NULL, 0, &fill));
  fill_node(&n, there, prepare(context, there, m->from, m->across, m->bytes));
  HIP(hipGraphAddKernelNode(&transposed, graph, &filled, 1, &n.parameters));
  fill_node(&n, back, prepare(context, back, m->across, m->back, m->bytes));
  HIP(hipGraphAddKernelNode(&returned, graph, &transposed, 1, &n.parameters));
  HIP(hipGraphInstantiate(&executable, graph, NULL, NULL, 0));
  HIP(hipMemset(m->back, 0xff, m->bytes));
  HIP(hipGraphLaunch(executable, stream));
  HIP(hipStreamSynchronize(stream));
  size_t wrong = count_wrong(m, m->across, 1, "in a graph, transposed");
  wrong += count_wrong(m, m->back, 0, "in a graph, and back");
  HIP(hipMemset(m->from, 0, m->bytes));
  HIP(hipMemcpy(m->back, m->source, m->bytes, hipMemcpyHostToDevice));
  fill_node(&n, there, prepare(context, there, m->back, m->across, m->bytes));
  HIP(hipGraphExecKernelNodeSetParams(executable, transposed, &n.parameters));
  fill_node(&n, back, prepare(context, back, m->across, m->from, m->bytes));
  HIP(hipGraphExecKernelNodeSetParams(executable, returned, &n.parameters));
  HIP(hipGraphLaunch(executable, stream));
  HIP(hipStreamSynchronize(stream));
  wrong += count_wrong(m, m->from, 0, "in the graph, with other addresses");
  HIP(hipGraphExecDestroy(executable));
  HIP(hipGraphDestroy(graph));
  HIP(hipStreamDestroy(stream));
  return wrong;
}

/* --- the whole --- */

int main(int count, char **words) {
  long rows = count == 3 ? strtol(words[1], NULL, 10) : 0, columns = count == 3 ? strtol(words[2], NULL, 10) : 0;
  if (rows < 1 || rows > MOST || columns < 1 || columns > MOST) {
    fprintf(stderr, "usage: transpose ROWS COLUMNS    each in 1..%d\n", MOST);
    return TJ_ERROR_USAGE;
  }
  tj_context *context = NULL;
  hipDeviceProp_t device;
  HIP(hipGetDeviceProperties(&device, 0));
  expect(context, tj_context_create(NULL, &context));
  const tj_parameter_value shape[] = {{"M", rows}, {"N", columns}};
  kernel there = compile(context, device.gcnArchName, shape, 2);
  kernel back = compile(context, device.gcnArchName, NULL, 0);
  expect(context, tj_launch_set_parameter(back.launch, "M", columns));
  expect(context, tj_launch_set_parameter(back.launch, "N", rows));
  matrix m = open_matrix((size_t)rows, (size_t)columns);
  printf("%ld x %ld on %s\n", rows, columns, device.gcnArchName);
  size_t wrong = run_on_streams(context, &m, &there, &back) + run_in_graph(context, &m, &there, &back);
  close_matrix(&m);
  destroy(&there);
  destroy(&back);
  tj_context_destroy(context);
  return wrong > 0 ? 1 : 0;
}

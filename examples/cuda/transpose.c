/* SPDX-License-Identifier: MIT */
/* Kernels of tilejit in a CUDA program: CUDA has the context, the memory and the stream.
 *
 *     transpose ROWS COLUMNS
 *
 * A matrix is transposed, and back, on the program's stream, in two ways: tilejit launches there, on a device that is
 * attached to the stream; and the program launches itself, as a recipe tells. Each result is compared with what it
 * should be. Exit status 0: all elements are right. A cudaStream_t of the runtime would do as well as a CUstream. */
#include <cuda.h>
#include <tilejit/tilejit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

static const char program_text[] =
    "param M in 1..65536, N in 1..65536\n"
    "kernel transpose(src: f32 @ (M, N):(N, 1), dst: f32 @ (M, N):(1, M)) = copy(src, dst)\n";

/* --- failures --- */

static void expect_cuda(CUresult result, const char *call) {
  const char *text = NULL;
  if (result == CUDA_SUCCESS)
    return;
  cuGetErrorString(result, &text);
  fprintf(stderr, "%s: %s\n", call, text != NULL ? text : "unknown error");
  exit(3);
}

#define CUDA(call) expect_cuda(call, #call)

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

/* --- what is transposed --- */

typedef struct {
  CUstream stream;
  size_t rows, columns, bytes;
  float *source, *result;         /* the host's */
  CUdeviceptr from, across, back; /* the device's */
} matrix;

static matrix open_matrix(size_t rows, size_t columns) {
  matrix m = {.rows = rows, .columns = columns, .bytes = rows * columns * sizeof(float)};
  m.source = malloc(m.bytes);
  m.result = malloc(m.bytes);
  if (m.source == NULL || m.result == NULL)
    exit(3);
  for (size_t i = 0; i < rows * columns; i++)
    m.source[i] = (float)(i + 1);
  CUDA(cuStreamCreate(&m.stream, CU_STREAM_NON_BLOCKING));
  CUDA(cuMemAlloc(&m.from, m.bytes));
  CUDA(cuMemAlloc(&m.across, m.bytes));
  CUDA(cuMemAlloc(&m.back, m.bytes));
  return m;
}

static void close_matrix(matrix *m) {
  CUDA(cuMemFree(m->from));
  CUDA(cuMemFree(m->across));
  CUDA(cuMemFree(m->back));
  CUDA(cuStreamDestroy(m->stream));
  free(m->source);
  free(m->result);
}

/* The source is there, and nothing of an earlier result. */
static void begin(const matrix *m) {
  CUDA(cuMemcpyHtoDAsync(m->from, m->source, m->bytes, m->stream));
  CUDA(cuMemsetD8Async(m->across, 0xff, m->bytes, m->stream));
  CUDA(cuMemsetD8Async(m->back, 0xff, m->bytes, m->stream));
}

/* Says how many elements differ from the source, or from its transpose, and returns it. */
static size_t count_wrong(const matrix *m, CUdeviceptr block, int is_transposed, const char *what) {
  size_t wrong = 0;
  CUDA(cuMemcpyDtoHAsync(m->result, block, m->bytes, m->stream));
  CUDA(cuStreamSynchronize(m->stream));
  for (size_t i = 0; i < m->rows; i++) {
    for (size_t j = 0; j < m->columns; j++) {
      float found = m->result[is_transposed ? j * m->rows + i : i * m->columns + j];
      wrong += found != m->source[i * m->columns + j];
    }
  }
  printf("%s: %zu of %zu elements wrong\n", what, wrong, m->rows * m->columns);
  return wrong;
}

/* --- kernels --- */

typedef struct {
  tj_context *context;
  tj_device *device; /* attached to the matrix's stream */
  tj_code *code;
  tj_launch *launch;
  CUmodule module;
} kernel;

/* The driver reads PTX up to a zero byte, which the code does not have. */
static CUmodule load(const tj_code *code) {
  size_t bytes;
  const void *ptx = tj_code_bytes(code, &bytes);
  char *text = calloc(bytes + 1, 1);
  CUmodule module;
  if (text == NULL)
    exit(3);
  memcpy(text, ptx, bytes);
  CUDA(cuModuleLoadData(&module, text));
  free(text);
  return module;
}

static kernel open_kernel(const matrix *m) {
  kernel k = {0};
  const tj_cuda_attachment attachment = {.stream = m->stream};
  expect(k.context, tj_context_create(NULL, &k.context));
  expect(k.context, tj_device_attach_cuda(k.context, &attachment, &k.device));
  const tj_compile_options options = {.target = tj_device_target(k.device)};
  expect(k.context, tj_code_compile_text(k.context, "transpose", program_text, strlen(program_text), NULL, 0,
                                         &options, &k.code));
  expect(k.context, tj_launch_create(k.context, k.code, &k.launch));
  k.module = load(k.code);
  return k;
}

static void close_kernel(kernel *k) {
  CUDA(cuModuleUnload(k->module));
  tj_launch_destroy(k->launch);
  tj_code_destroy(k->code);
  tj_device_close(k->device);
  tj_context_destroy(k->context);
}

static void bind(const kernel *k, size_t rows, size_t columns, CUdeviceptr from, CUdeviceptr to, size_t bytes) {
  expect(k->context, tj_launch_set_parameter(k->launch, "M", (int64_t)rows));
  expect(k->context, tj_launch_set_parameter(k->launch, "N", (int64_t)columns));
  expect(k->context, tj_launch_bind_pointer(k->launch, "src", (void *)from, bytes));
  expect(k->context, tj_launch_bind_pointer(k->launch, "dst", (void *)to, bytes));
}

/* tilejit launches: work of the stream, in order with the program's, and with nobody waiting. */
static void submit(const kernel *k) {
  tj_fence *fence;
  expect(k->context, tj_launch_submit(k->launch, k->device, &fence));
  tj_fence_destroy(fence);
}

enum { MOST_WORDS = 64 };

/* The program launches: a parameter for each word. Shared memory that the code does not lay out itself is the
 * launch's to give. */
static void launch(const kernel *k, CUstream stream) {
  const tj_recipe *recipe;
  CUfunction function;
  int laid_out;
  expect(k->context, tj_launch_prepare(k->launch, &recipe));
  CUDA(cuModuleGetFunction(&function, k->module, recipe->symbol));
  CUDA(cuFuncGetAttribute(&laid_out, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
  int given = (int)recipe->lds_bytes > laid_out ? (int)recipe->lds_bytes - laid_out : 0;
  CUDA(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, given));
  void *parameter[MOST_WORDS];
  for (size_t i = 0; i < recipe->word_count && i < MOST_WORDS; i++)
    parameter[i] = (char *)recipe->kernarg + recipe->word[i].offset;
  CUDA(cuLaunchKernel(function, (unsigned)(recipe->grid[0] / recipe->block[0]), 1, 1, recipe->block[0], 1, 1,
                      (unsigned)given, stream, parameter, NULL));
}

static size_t run(const matrix *m, const kernel *k, int by_recipe) {
  begin(m);
  bind(k, m->rows, m->columns, m->from, m->across, m->bytes);
  by_recipe ? launch(k, m->stream) : submit(k);
  bind(k, m->columns, m->rows, m->across, m->back, m->bytes);
  by_recipe ? launch(k, m->stream) : submit(k);
  return count_wrong(m, m->across, 1, by_recipe ? "by a recipe, transposed" : "by tilejit, transposed") +
         count_wrong(m, m->back, 0, by_recipe ? "by a recipe, and back" : "by tilejit, and back");
}

/* --- the whole --- */

int main(int count, char **words) {
  long rows = count == 3 ? strtol(words[1], NULL, 10) : 0, columns = count == 3 ? strtol(words[2], NULL, 10) : 0;
  if (rows < 1 || rows > MOST || columns < 1 || columns > MOST) {
    fprintf(stderr, "usage: transpose ROWS COLUMNS    each in 1..%d\n", MOST);
    return TJ_ERROR_USAGE;
  }
  CUdevice device;
  CUcontext context;
  CUDA(cuInit(0));
  CUDA(cuDeviceGet(&device, 0));
  CUDA(cuDevicePrimaryCtxRetain(&context, device));
  CUDA(cuCtxSetCurrent(context));
  matrix m = open_matrix((size_t)rows, (size_t)columns);
  kernel k = open_kernel(&m);
  printf("%ld x %ld on %s\n", rows, columns, tj_device_target(k.device));
  size_t wrong = run(&m, &k, 0) + run(&m, &k, 1);
  close_kernel(&k);
  close_matrix(&m);
  CUDA(cuDevicePrimaryCtxRelease(device));
  return wrong > 0 ? 1 : 0;
}

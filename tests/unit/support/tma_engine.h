/* SPDX-License-Identifier: MIT */
/* Who moves boxes between memory and LDS by a tensor map, byte by byte: the decoder, or the TMA of an NVIDIA GPU, by
 * its driver and a kernel for each number of dimensions. Memory and LDS begin as noise, so that what is not to be
 * written is seen, too. */
#ifndef TJ_TESTS_TMA_ENGINE_H
#define TJ_TESTS_TMA_ENGINE_H

#include "base/dma/decode.h"
#include "base/library.h"
#include "rt/cuda/cuda_library.h"
#include "tests/unit/support/suite.h"

#include <stdio.h>
#include <string.h>

enum {
  TMA_MEMORY_BYTES = 1 << 20,
  TMA_TENSOR_AT = 4096,       /* in memory; tensor maps have the tensor at 0 */
  TMA_LDS_BYTES = 144 * 1024, /* at most */
  TMA_NOISES = 4096,          /* of LDS, by number */
  TMA_NOISE_STEP = 16,        /* bytes between one and the next */
  TMA_NOISE_BYTES = TMA_LDS_BYTES + TMA_NOISES * TMA_NOISE_STEP
};

typedef struct tma_engine tma_engine;

typedef struct {
  bool (*set_map)(tma_engine *engine, const tj_tensor_map *map); /* false: there is no such map */
  void (*start_memory)(tma_engine *engine);
  void (*start_lds)(tma_engine *engine, uint32_t number);
  bool (*load)(tma_engine *engine, const int32_t coordinate[], uint32_t place); /* false: it did not end */
  bool (*store)(tma_engine *engine, const int32_t coordinate[], uint32_t place);
  void (*read_memory)(tma_engine *engine);
  void (*read_lds)(tma_engine *engine);
} tma_operations;

typedef struct {
  tj_cuda cuda;
  tj_rt_error error;
  tj_cuda_context context;
  tj_cuda_stream stream;
  tj_cuda_module module;
  tj_cuda_function load[TJ_TENSOR_MAP_DIMENSIONS + 1], store[TJ_TENSOR_MAP_DIMENSIONS + 1];
  int (*encode)(void *map, int type, uint32_t rank, void *address, const uint64_t extent[], const uint64_t stride[],
                const uint32_t box[], const uint32_t element_stride[], int interleave, int swizzle, int promotion,
                int fill);
  uint64_t memory, lds, memory_noise, lds_noise; /* addresses */
  _Alignas(64) uint8_t map[128];
} tma_gpu;

struct tma_engine {
  const tma_operations *operations;
  tma_gpu *gpu; /* NULL: the decoder */
  tj_tensor_map map;
  uint32_t lds_bytes; /* in use: a multiple of 16 */
  uint8_t memory_noise[TMA_MEMORY_BYTES], lds_noise[TMA_NOISE_BYTES];
  uint8_t memory[TMA_MEMORY_BYTES], lds[TMA_LDS_BYTES]; /* as they were read */
};

static inline const uint8_t *tma_noise_of_lds(const tma_engine *engine, uint32_t number) {
  return engine->lds_noise + (size_t)number % TMA_NOISES * TMA_NOISE_STEP;
}

/* --- the decoder --- */

static inline bool tma_visit_none(const tj_dma_element *element, void *data) {
  (void)element;
  (void)data;
  return false;
}

static inline bool tma_decoder_set_map(tma_engine *engine, const tj_tensor_map *map) {
  static const int32_t origin[TJ_TENSOR_MAP_DIMENSIONS];
  engine->map = *map;
  return tj_dma_decode_map(map, origin, 0, tma_visit_none, NULL);
}

static inline void tma_decoder_start_memory(tma_engine *engine) {
  memcpy(engine->memory, engine->memory_noise, sizeof engine->memory);
}

static inline void tma_decoder_start_lds(tma_engine *engine, uint32_t number) {
  memcpy(engine->lds, tma_noise_of_lds(engine, number), engine->lds_bytes);
}

static inline void tma_check_element(const tma_engine *engine, const tj_dma_element *element) {
  ck_assert_uint_le(element->lds + element->element_bytes, engine->lds_bytes);
  ck_assert((element->is_filled && !element->is_stored) ||
            element->address + element->element_bytes <= TMA_MEMORY_BYTES - (uint64_t)TMA_TENSOR_AT);
}

static inline bool tma_load_element(const tj_dma_element *element, void *data) {
  tma_engine *engine = data;
  tma_check_element(engine, element);
  if (element->is_filled)
    memset(engine->lds + element->lds, 0, element->element_bytes);
  else
    memcpy(engine->lds + element->lds, engine->memory + TMA_TENSOR_AT + element->address, element->element_bytes);
  return true;
}

static inline bool tma_store_element(const tj_dma_element *element, void *data) {
  tma_engine *engine = data;
  tma_check_element(engine, element);
  if (element->is_stored)
    memcpy(engine->memory + TMA_TENSOR_AT + element->address, engine->lds + element->lds, element->element_bytes);
  return true;
}

static inline bool tma_decoder_load(tma_engine *engine, const int32_t coordinate[], uint32_t place) {
  return tj_dma_decode_map(&engine->map, coordinate, place, tma_load_element, engine);
}

static inline bool tma_decoder_store(tma_engine *engine, const int32_t coordinate[], uint32_t place) {
  return tj_dma_can_store(&engine->map, coordinate) &&
         tj_dma_decode_map(&engine->map, coordinate, place, tma_store_element, engine);
}

static inline void tma_decoder_read(tma_engine *engine) {
  (void)engine;
}

static const tma_operations tma_decoder = {tma_decoder_set_map, tma_decoder_start_memory, tma_decoder_start_lds,
                                           tma_decoder_load,    tma_decoder_store,        tma_decoder_read,
                                           tma_decoder_read};

/* --- a GPU's kernels --- */

/* Both take shared memory from `image`, whose `size` bytes are a multiple of 16, and act on what lies at `place` in
 * it. A load waits for so many bytes, gives all of shared memory back, and says behind it whether they came. */
static const char tma_head[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".extern .shared .align 1024 .b8 tile[];\n";

#define TMA_BEGIN(NAME)                                                                                              \
  ".visible .entry " NAME "%u(.param .align 64 .b8 map[128], .param .s32 at0, .param .s32 at1, .param .s32 at2,\n"   \
  "    .param .s32 at3, .param .s32 at4, .param .u64 image, .param .u32 size, .param .u32 place, .param .u32 bytes)" \
  "\n{\n"                                                                                                            \
  "  .reg .pred past, other, done, late;\n"                                                                          \
  "  .reg .b32 thread, base, bytes_, size_, i, to, tries, barrier, c0, c1, c2, c3, c4, w0, w1, w2, w3;\n"            \
  "  .reg .b64 image_, here, offset, tensor, state;\n"                                                               \
  "  ld.param.s32 c0, [at0];\n  ld.param.s32 c1, [at1];\n  ld.param.s32 c2, [at2];\n"                                \
  "  ld.param.s32 c3, [at3];\n  ld.param.s32 c4, [at4];\n"                                                           \
  "  ld.param.u64 image_, [image];\n  cvta.to.global.u64 image_, image_;\n"                                          \
  "  ld.param.u32 size_, [size];\n  ld.param.u32 bytes_, [bytes];\n"                                                 \
  "  mov.u64 tensor, map;\n  cvta.param.u64 tensor, tensor;\n"                                                       \
  "  mov.u32 thread, %%tid.x;\n  setp.ne.u32 other, thread, 0;\n"                                                    \
  "  mov.u32 base, tile;\n  add.u32 barrier, base, size_;\n"                                                         \
  "  shl.b32 i, thread, 4;\n"                                                                                        \
  "FILL:\n"                                                                                                          \
  "  setp.ge.u32 past, i, size_;\n  @past bra FILLED;\n"                                                             \
  "  cvt.u64.u32 offset, i;\n  add.u64 here, image_, offset;\n  add.u32 to, base, i;\n"                              \
  "  ld.global.v4.u32 {w0, w1, w2, w3}, [here];\n  st.shared.v4.u32 [to], {w0, w1, w2, w3};\n"                       \
  "  add.u32 i, i, 2048;\n  bra FILL;\n"                                                                             \
  "FILLED:\n"                                                                                                        \
  "  ld.param.u32 to, [place];\n  add.u32 to, to, base;\n"

static const char tma_load_kernel[] =
    TMA_BEGIN("load") "  @other bra READY;\n"
                      "  mbarrier.init.shared::cta.b64 [barrier], 1;\n"
                      "READY:\n"
                      "  fence.proxy.async.shared::cta;\n"
                      "  bar.sync 0;\n"
                      "  @other bra WAIT;\n"
                      "  mbarrier.arrive.expect_tx.shared::cta.b64 state, [barrier], bytes_;\n"
                      "  cp.async.bulk.tensor.%ud.shared::cluster.global.mbarrier::complete_tx::bytes [to], [tensor, "
                      "{%s}], [barrier];\n"
                      "WAIT:\n"
                      "  mov.u32 tries, 0;\n"
                      "AGAIN:\n"
                      "  mbarrier.test_wait.parity.shared::cta.b64 done, [barrier], 0;\n"
                      "  add.u32 tries, tries, 1;\n"
                      "  setp.gt.u32 late, tries, 1000000;\n"
                      "  @late bra GIVE;\n"
                      "  @!done bra AGAIN;\n"
                      "GIVE:\n"
                      "  bar.sync 0;\n"
                      "  shl.b32 i, thread, 4;\n"
                      "COPY:\n"
                      "  setp.ge.u32 past, i, size_;\n  @past bra COPIED;\n"
                      "  cvt.u64.u32 offset, i;\n  add.u64 here, image_, offset;\n  add.u32 to, base, i;\n"
                      "  ld.shared.v4.u32 {w0, w1, w2, w3}, [to];\n  st.global.v4.u32 [here], {w0, w1, w2, w3};\n"
                      "  add.u32 i, i, 2048;\n  bra COPY;\n"
                      "COPIED:\n"
                      "  @other ret;\n"
                      "  cvt.u64.u32 offset, size_;\n  add.u64 here, image_, offset;\n"
                      "  selp.u32 w0, 0, 1, done;\n  st.global.u32 [here], w0;\n"
                      "  ret;\n}\n";

static const char tma_store_kernel[] =
    TMA_BEGIN("store") "  fence.proxy.async.shared::cta;\n"
                       "  bar.sync 0;\n"
                       "  @other ret;\n"
                       "  cp.async.bulk.tensor.%ud.global.shared::cta.bulk_group [tensor, {%s}], [to];\n"
                       "  cp.async.bulk.commit_group;\n"
                       "  cp.async.bulk.wait_group 0;\n"
                       "  ret;\n}\n";

enum { TMA_THREADS = 128, TMA_BARRIER_BYTES = 16, TMA_TEXT_BYTES = 1 << 16 };

/* The kernels load1, store1 … load5, store5. */
static inline void tma_write_kernels(char text[TMA_TEXT_BYTES]) {
  size_t length = (size_t)snprintf(text, TMA_TEXT_BYTES, "%s", tma_head);
  static const char coordinates[] = "c0, c1, c2, c3, c4";
  for (unsigned rank = 1; rank <= TJ_TENSOR_MAP_DIMENSIONS; rank++) {
    char list[sizeof coordinates];
    snprintf(list, sizeof list, "%.*s", (int)(4 * rank - 2), coordinates);
    length += (size_t)snprintf(text + length, TMA_TEXT_BYTES - length, tma_load_kernel, rank, rank, list);
    length += (size_t)snprintf(text + length, TMA_TEXT_BYTES - length, tma_store_kernel, rank, rank, list);
  }
  ck_assert_uint_lt(length, TMA_TEXT_BYTES);
}

/* --- a GPU --- */

static inline void tma_expect(const tma_gpu *gpu, tj_status status) {
  ck_assert_msg(status == TJ_OK, "TJ%04d: %s", (int)gpu->error.code, gpu->error.text);
}

/* Calls a function of the driver's table; a failure is one of the test. */
#define TMA_CALL(GPU, NAME, ...) tma_expect(GPU, tj_cuda_##NAME(&(GPU)->cuda, &(GPU)->error, __VA_ARGS__))

static inline void tma_copy(tma_gpu *gpu, uint64_t to, uint64_t from, size_t bytes) {
  TMA_CALL(gpu, copy_async, to, from, bytes, gpu->stream);
}

static inline void tma_read(tma_gpu *gpu, void *to, uint64_t from, size_t bytes) {
  tma_copy(gpu, (uint64_t)(uintptr_t)to, from, bytes);
  TMA_CALL(gpu, stream_synchronize, gpu->stream);
}

static inline bool tma_gpu_set_map(tma_engine *engine, const tj_tensor_map *map) {
  tma_gpu *gpu = engine->gpu;
  int type = map->element_bytes == 8 ? 4 : (int)map->element_bytes / 2; /* UINT8, UINT16, UINT32; UINT64 */
  int swizzle = map->swizzle == 0 ? 0 : __builtin_ctz(map->swizzle) - 4;
  engine->map = *map;
  return gpu->encode(gpu->map, type, map->rank, (void *)(uintptr_t)(gpu->memory + TMA_TENSOR_AT + map->address),
                     map->extent, map->stride, map->box, map->element_stride, 0, swizzle, 0, 0) == TJ_CUDA_SUCCESS;
}

static inline void tma_gpu_start_memory(tma_engine *engine) {
  tma_copy(engine->gpu, engine->gpu->memory, engine->gpu->memory_noise, TMA_MEMORY_BYTES);
}

static inline void tma_gpu_start_lds(tma_engine *engine, uint32_t number) {
  tma_gpu *gpu = engine->gpu;
  tma_copy(gpu, gpu->lds, gpu->lds_noise + (uint64_t)number % TMA_NOISES * TMA_NOISE_STEP, engine->lds_bytes);
}

/* Bytes of a box in LDS: along dimension 0 the engine has no strides. */
static inline uint32_t tma_box_bytes(const tj_tensor_map *map) {
  uint32_t bytes = map->element_bytes * map->box[0];
  for (uint32_t k = 1; k < map->rank; k++)
    bytes *= (map->box[k] + map->element_stride[k] - 1) / map->element_stride[k];
  return bytes;
}

static inline void tma_launch(tma_engine *engine, tj_cuda_function function, const int32_t coordinate[],
                              uint32_t place) {
  tma_gpu *gpu = engine->gpu;
  int32_t at[TJ_TENSOR_MAP_DIMENSIONS] = {0};
  uint32_t bytes = tma_box_bytes(&engine->map), size = engine->lds_bytes;
  memcpy(at, coordinate, engine->map.rank * sizeof *at);
  void *parameters[] = {gpu->map, &at[0], &at[1], &at[2], &at[3], &at[4], &gpu->lds, &size, &place, &bytes};
  TMA_CALL(gpu, launch_kernel, function, 1, 1, 1, TMA_THREADS, 1, 1, size + TMA_BARRIER_BYTES, gpu->stream,
           parameters, NULL);
}

static inline bool tma_gpu_load(tma_engine *engine, const int32_t coordinate[], uint32_t place) {
  uint32_t is_late;
  tma_launch(engine, engine->gpu->load[engine->map.rank], coordinate, place);
  tma_read(engine->gpu, &is_late, engine->gpu->lds + engine->lds_bytes, sizeof is_late);
  return is_late == 0;
}

static inline bool tma_gpu_store(tma_engine *engine, const int32_t coordinate[], uint32_t place) {
  tma_launch(engine, engine->gpu->store[engine->map.rank], coordinate, place);
  return true;
}

static inline void tma_gpu_read_memory(tma_engine *engine) {
  tma_read(engine->gpu, engine->memory, engine->gpu->memory, TMA_MEMORY_BYTES);
}

static inline void tma_gpu_read_lds(tma_engine *engine) {
  tma_read(engine->gpu, engine->lds, engine->gpu->lds, engine->lds_bytes);
}

static const tma_operations tma_driver = {tma_gpu_set_map, tma_gpu_start_memory, tma_gpu_start_lds, tma_gpu_load,
                                          tma_gpu_store,   tma_gpu_read_memory,  tma_gpu_read_lds};

static inline tj_cuda_function tma_find(tma_gpu *gpu, const char *name, uint32_t rank) {
  char symbol[16];
  tj_cuda_function function;
  snprintf(symbol, sizeof symbol, "%s%u", name, rank);
  TMA_CALL(gpu, module_get_function, &function, gpu->module, symbol);
  TMA_CALL(gpu, function_set_attribute, function, TJ_CUDA_FUNCTION_DYNAMIC_SHARED_BYTES,
           TMA_LDS_BYTES + TMA_BARRIER_BYTES);
  return function;
}

static inline uint64_t tma_allocate(tma_gpu *gpu, const uint8_t *from, size_t bytes) {
  uint64_t address;
  TMA_CALL(gpu, memory_allocate, &address, bytes);
  if (from != NULL)
    tma_copy(gpu, address, (uint64_t)(uintptr_t)from, bytes);
  return address;
}

/* False: it is too old to have the engine. */
static inline bool tma_open_gpu(tma_engine *engine, int number) {
  static tma_gpu gpu;
  static char kernels[TMA_TEXT_BYTES];
  int device, capability;
  tma_expect(&gpu, tj_cuda_open(&gpu.cuda, NULL, &gpu.error));
  gpu.encode = (__typeof__(gpu.encode))tj_library_function_of(gpu.cuda.handle, "cuTensorMapEncodeTiled");
  ck_assert_msg(gpu.encode != NULL, "the driver makes no tensor maps");
  TMA_CALL(&gpu, device_get, &device, number);
  TMA_CALL(&gpu, device_get_attribute, &capability, TJ_CUDA_CAPABILITY_MAJOR, device);
  if (capability < 9)
    return false;
  TMA_CALL(&gpu, primary_context_retain, &gpu.context, device);
  TMA_CALL(&gpu, context_push, gpu.context);
  TMA_CALL(&gpu, stream_create, &gpu.stream, TJ_CUDA_STREAM_NON_BLOCKING);
  tma_write_kernels(kernels);
  TMA_CALL(&gpu, module_load, &gpu.module, kernels, 0, NULL, NULL);
  for (uint32_t rank = 1; rank <= TJ_TENSOR_MAP_DIMENSIONS; rank++) {
    gpu.load[rank] = tma_find(&gpu, "load", rank);
    gpu.store[rank] = tma_find(&gpu, "store", rank);
  }
  gpu.memory = tma_allocate(&gpu, NULL, TMA_MEMORY_BYTES);
  gpu.lds = tma_allocate(&gpu, NULL, TMA_LDS_BYTES + TMA_BARRIER_BYTES);
  gpu.memory_noise = tma_allocate(&gpu, engine->memory_noise, sizeof engine->memory_noise);
  gpu.lds_noise = tma_allocate(&gpu, engine->lds_noise, sizeof engine->lds_noise);
  engine->operations = &tma_driver;
  engine->gpu = &gpu;
  return true;
}

/* --- either --- */

static inline void tma_make_noise(uint8_t noise[], size_t bytes, uint64_t state) {
  for (size_t i = 0; i < bytes; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    noise[i] = (uint8_t)(state >> 56);
  }
}

/* The GPU that TILEJIT_TEST_DEVICE names; without a name the decoder. NULL: that GPU has no TMA. */
static inline tma_engine *tma_open(void) {
  static tma_engine engine;
  const char *name = getenv("TILEJIT_TEST_DEVICE");
  int number;
  engine.operations = &tma_decoder;
  tma_make_noise(engine.memory_noise, sizeof engine.memory_noise, 1);
  tma_make_noise(engine.lds_noise, sizeof engine.lds_noise, 2);
  bool has_gpu = name != NULL && sscanf(name, "cuda:%d", &number) == 1;
  return has_gpu && !tma_open_gpu(&engine, number) ? NULL : &engine;
}

static inline void tma_close(tma_engine *engine) {
  tma_gpu *gpu = engine->gpu;
  if (gpu == NULL)
    return;
  const uint64_t memory[] = {gpu->memory, gpu->lds, gpu->memory_noise, gpu->lds_noise};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
    TMA_CALL(gpu, memory_free, memory[i]);
  TMA_CALL(gpu, module_unload, gpu->module);
  TMA_CALL(gpu, stream_destroy, gpu->stream);
  TMA_CALL(gpu, context_pop, &gpu->context);
}

#endif

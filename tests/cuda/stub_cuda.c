/* SPDX-License-Identifier: MIT */
/* The stub of the CUDA driver. */
#include "tests/cuda/stub_cuda.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The driver's header, which has the prototypes, is not there to be included. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define EXPORT __attribute__((visibility("default")))

enum { OUT_OF_MEMORY = 2, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700, INVALID_PTX = 218, INVALID = 1 };
enum { MAP_BYTES = 128, MAP_ALIGNMENT = 64, MAP_TEXT = 512 };
enum { MOST_WORK = 4096, CALL_BYTES = 65536, MOST_FAILURES = 8, MOST_CONTEXTS = 8, STATIC_LIMIT = 48 * 1024 };

typedef struct {
  uint64_t number; /* of the work that records it; 0: none does */
  bool has_time;
} event;

typedef struct {
  char text[65536];
} module;

typedef struct {
  char name[64];
  bool has_map;
  size_t laid_out, most_dynamic;
} function;

/* A piece of work of the one stream. */
typedef struct {
  enum { RECORD, COPY, ADD, FAULT, NOTHING } kind;
  void *to;
  const void *from;
  size_t size;
  uint32_t *element;
  uint32_t amount;
} work;

static struct {
  int devices, capability, version;
  stub_cuda_objects objects;
  char calls[CALL_BYTES];
  struct {
    char function[48];
    int left, result;
  } failure[MOST_FAILURES];
  work work[MOST_WORK];
  uint64_t asked, done; /* pieces of work */
  bool is_lost;
  size_t dynamic_bytes, most_dynamic_bytes;
  void *context[MOST_CONTEXTS]; /* those that are current, one above the other */
  void *stream, *place;
  void *map_address;
  char map_text[MAP_TEXT];
  unsigned char map[MAP_BYTES];
  function function[64];
  int functions;
} gpu = {.devices = 1, .capability = 90, .version = 13000};

/* --- for tests --- */

EXPORT void stub_cuda_reset(int devices, int capability) {
  memset(&gpu, 0, sizeof gpu);
  gpu.devices = devices;
  gpu.capability = capability;
  gpu.version = 13000;
}

EXPORT void stub_cuda_fail(const char *name, int number, int result) {
  for (int i = 0; i < MOST_FAILURES; i++) {
    if (gpu.failure[i].left > 0)
      continue;
    snprintf(gpu.failure[i].function, sizeof gpu.failure[i].function, "%s", name);
    gpu.failure[i].left = number;
    gpu.failure[i].result = result;
    return;
  }
  abort();
}

EXPORT void stub_cuda_set_version(int version) {
  gpu.version = version;
}

EXPORT stub_cuda_objects stub_cuda_count(void) {
  return gpu.objects;
}

EXPORT const char *stub_cuda_calls(void) {
  return gpu.calls;
}

EXPORT int stub_cuda_place(void) {
  return (int)((int *)gpu.place - &gpu.devices) - 10;
}

EXPORT void *stub_cuda_map_address(void) {
  return gpu.map_address;
}

EXPORT const char *stub_cuda_map(void) {
  return gpu.map_text;
}

EXPORT void *stub_cuda_stream(void) {
  return gpu.stream;
}

EXPORT size_t stub_cuda_dynamic_bytes(void) {
  return gpu.dynamic_bytes;
}

EXPORT size_t stub_cuda_most_dynamic_bytes(void) {
  return gpu.most_dynamic_bytes;
}

/* The result that a call is to give. */
static int result_of(const char *name) {
  for (int i = 0; i < MOST_FAILURES; i++) {
    if (gpu.failure[i].left > 0 && strcmp(gpu.failure[i].function, name) == 0 && --gpu.failure[i].left == 0)
      return gpu.failure[i].result;
  }
  return 0;
}

/* Notes a call; its result. */
static int note(const char *name) {
  size_t length = strlen(gpu.calls);
  snprintf(gpu.calls + length, sizeof gpu.calls - length, "%s ", name);
  return result_of(name);
}

/* --- work --- */

static int add_work(work piece) {
  if (gpu.is_lost)
    return ILLEGAL_ADDRESS;
  if (gpu.asked - gpu.done == MOST_WORK)
    abort();
  gpu.work[gpu.asked++ % MOST_WORK] = piece;
  return 0;
}

static void do_next(void) {
  const work *piece = &gpu.work[gpu.done++ % MOST_WORK];
  if (gpu.is_lost)
    return;
  if (piece->kind == COPY)
    memcpy(piece->to, piece->from, piece->size);
  for (size_t i = 0; piece->kind == ADD && i < piece->size; i++)
    piece->element[i] += piece->amount;
  gpu.is_lost = piece->kind == FAULT;
}

static int lost_or_done(void) {
  return gpu.is_lost ? ILLEGAL_ADDRESS : 0;
}

static int do_until(uint64_t number) {
  while (gpu.done < number)
    do_next();
  return lost_or_done();
}

/* --- the driver's functions --- */

EXPORT int cuInit(unsigned flags) {
  (void)flags;
  int result = note("init");
  return result != 0 ? result : gpu.devices < 0 ? 100 : 0;
}

EXPORT int cuGetErrorName(int result, const char **text) {
  *text = result == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OF_THE_STUB";
  return 0;
}

EXPORT int cuGetErrorString(int result, const char **text) {
  *text = result == ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : "the stub was told to";
  return 0;
}

EXPORT int cuDeviceGetCount(int *count) {
  *count = gpu.devices;
  return note("count");
}

EXPORT int cuDeviceGet(int *device, int number) {
  *device = number + 10;
  return 0;
}

EXPORT int cuDeviceGetName(char *name, int size, int device) {
  snprintf(name, (size_t)size, "Stub %d", device);
  return 0;
}

EXPORT int cuDeviceGetUuid(unsigned char uuid[16], int device) {
  for (int i = 0; i < 16; i++)
    uuid[i] = (unsigned char)(device + i);
  return 0;
}

EXPORT int cuDeviceGetPCIBusId(char *text, int size, int device) {
  snprintf(text, (size_t)size, "0000:%02x:00.0", device);
  return 0;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? gpu.capability / 10 : attribute == 76 ? gpu.capability % 10 : 132;
  return 0;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  (void)device;
  *bytes = (size_t)80 << 30;
  return 0;
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
  int result = result_of("retain");
  *context = &gpu.devices + device;
  gpu.objects.contexts += result == 0;
  return result;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  gpu.objects.contexts--;
  return 0;
}

EXPORT int cuCtxPushCurrent_v2(void *context) {
  if (context == NULL || gpu.objects.current == MOST_CONTEXTS)
    return INVALID;
  gpu.context[gpu.objects.current++] = context;
  return 0;
}

EXPORT int cuCtxGetCurrent(void **context) {
  *context = gpu.objects.current > 0 ? gpu.context[gpu.objects.current - 1] : NULL;
  return result_of("current");
}

EXPORT int cuCtxPopCurrent_v2(void **context) {
  cuCtxGetCurrent(context);
  gpu.objects.current -= *context != NULL;
  return *context != NULL ? 0 : INVALID;
}

EXPORT int cuCtxGetDevice(int *device) {
  void *context;
  cuCtxGetCurrent(&context);
  *device = context != NULL ? (int)((int *)context - &gpu.devices) : 0;
  return context != NULL ? result_of("device") : INVALID;
}

/* Whatever acts on the current context finds none outside of a push and a pop. */
static int note_current(const char *name) {
  return gpu.objects.current > 0 ? note(name) : INVALID;
}

EXPORT int cuMemAlloc_v2(uint64_t *address, size_t size) {
  int result = note_current("allocate");
  if (result != 0)
    return result;
  gpu.place = gpu.context[gpu.objects.current - 1];
  void *block = aligned_alloc(256, (size + 255) / 256 * 256);
  *address = (uint64_t)(uintptr_t)block;
  gpu.objects.buffers += block != NULL;
  return block != NULL ? 0 : OUT_OF_MEMORY;
}

EXPORT int cuMemFree_v2(uint64_t address) {
  free((void *)(uintptr_t)address);
  gpu.objects.buffers--;
  return note_current("free");
}

EXPORT int cuMemcpyAsync(uint64_t to, uint64_t from, size_t size, void *stream) {
  (void)stream;
  int result = note_current("copy");
  return result != 0
             ? result
             : add_work((work){
                   .kind = COPY, .to = (void *)(uintptr_t)to, .from = (const void *)(uintptr_t)from, .size = size});
}

EXPORT int cuStreamCreate(void **stream, unsigned flags) {
  (void)flags;
  int result = note_current("stream");
  *stream = result == 0 ? &gpu.asked : NULL;
  gpu.objects.streams += result == 0;
  return result;
}

EXPORT int cuStreamDestroy_v2(void *stream) {
  (void)stream;
  gpu.objects.streams--;
  return note_current("no-stream");
}

EXPORT int cuStreamSynchronize(void *stream) {
  (void)stream;
  int result = note_current("synchronize");
  return result != 0 ? result : do_until(gpu.asked);
}

EXPORT int cuEventCreate(void **made, unsigned flags) {
  enum { DISABLE_TIMING = 2 };
  int result = gpu.objects.current > 0 ? result_of("event") : INVALID;
  *made = result == 0 ? calloc(1, sizeof(event)) : NULL;
  if (*made != NULL)
    ((event *)*made)->has_time = (flags & DISABLE_TIMING) == 0;
  gpu.objects.events += result == 0;
  return result;
}

EXPORT int cuEventDestroy_v2(void *gone) {
  free(gone);
  gpu.objects.events--;
  return 0;
}

EXPORT int cuEventRecord(void *recorded, void *stream) {
  (void)stream;
  int result = gpu.objects.current > 0 ? result_of("record") : INVALID;
  if (result == 0)
    result = add_work((work){.kind = RECORD});
  if (result == 0)
    ((event *)recorded)->number = gpu.asked;
  return result;
}

EXPORT int cuEventQuery(void *asked) {
  if (gpu.objects.current == 0)
    return INVALID;
  if (gpu.done < ((const event *)asked)->number)
    do_next();
  return gpu.is_lost ? ILLEGAL_ADDRESS : gpu.done < ((const event *)asked)->number ? NOT_READY : 0;
}

EXPORT int cuEventSynchronize(void *awaited) {
  return gpu.objects.current > 0 ? do_until(((const event *)awaited)->number) : INVALID;
}

/* A millisecond for each piece of work between. */
EXPORT int cuEventElapsedTime(float *milliseconds, void *begin, void *end) {
  if (!((const event *)begin)->has_time || !((const event *)end)->has_time)
    return INVALID;
  *milliseconds = (float)(((const event *)end)->number - ((const event *)begin)->number);
  return lost_or_done();
}

EXPORT int cuDriverGetVersion(int *version) {
  *version = gpu.version;
  return 0;
}

/* Whether a text has a kernel; the log says where it has none. */
static bool compiles(const char *text, unsigned count, const int *options, void **values) {
  bool is_ptx = strstr(text, "add") != NULL || strstr(text, "fault") != NULL;
  for (unsigned i = 0; i < count && !is_ptx; i++) {
    if (options[i] == 5)
      snprintf(values[i], 64, "ptxas: line 1: no kernel\nand more");
  }
  return is_ptx;
}

/* An ELF file for NVIDIA's GPUs, without sections, and a text behind its header. */
typedef struct {
  unsigned count;
  const int *option;
  void **value;
  unsigned char image[64 + 65536];
  size_t size;
} linking;

EXPORT int cuLinkCreate_v2(unsigned count, int *options, void **values, void **made) {
  static const unsigned char magic[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x41, 8};
  int result = note_current("link");
  linking *link = result == 0 ? calloc(1, sizeof *link) : NULL;
  if (link == NULL)
    return result != 0 ? result : OUT_OF_MEMORY;
  link->count = count;
  link->option = options;
  link->value = values;
  memcpy(link->image, magic, sizeof magic);
  link->image[18] = 190;
  gpu.objects.links++;
  *made = link;
  return 0;
}

EXPORT int cuLinkAddData_v2(void *given, int type, void *data, size_t size, const char *name, unsigned count,
                            int *options, void **values) {
  (void)name, (void)options, (void)values;
  linking *link = given;
  int result = note_current("add-data");
  if (result != 0)
    return result;
  if (type != 1 || count != 0 || size > sizeof link->image - 64 || ((const char *)data)[size - 1] != '\0')
    return INVALID;
  if (!compiles(data, link->count, link->option, link->value))
    return INVALID_PTX;
  memcpy(link->image + 64, data, size);
  link->size = 64 + size;
  return 0;
}

EXPORT int cuLinkComplete(void *given, void **image, size_t *size) {
  linking *link = given;
  *image = link->image;
  *size = link->size;
  return note_current("complete");
}

EXPORT int cuLinkDestroy(void *gone) {
  free(gone);
  gpu.objects.links--;
  return 0;
}

EXPORT int cuModuleLoadDataEx(void **loaded, const void *image, unsigned count, int *options, void **values) {
  int result = note_current("load");
  const char *text = memcmp(image, "\177ELF", 4) == 0 ? (const char *)image + 64 : image;
  if (result == 0 && !compiles(text, count, options, values))
    result = INVALID_PTX;
  if (result != 0)
    return result;
  module *made = calloc(1, sizeof *made);
  snprintf(made->text, sizeof made->text, "%s", text);
  *loaded = made;
  gpu.objects.modules++;
  return 0;
}

EXPORT int cuModuleUnload(void *gone) {
  free(gone);
  gpu.objects.modules--;
  return note_current("unload");
}

EXPORT int cuModuleGetFunction(void **found, void *loaded, const char *name) {
  const char *text = ((const module *)loaded)->text, *shared = strstr(text, "shared ");
  int result = note_current("find");
  if (result != 0 || strstr(text, name) == NULL)
    return result != 0 ? result : NOT_FOUND;
  function *made = &gpu.function[gpu.functions++ % 64];
  *made = (function){.laid_out = shared != NULL ? strtoul(shared + 7, NULL, 10) : 0};
  snprintf(made->name, sizeof made->name, "%s", name);
  char map[96];
  snprintf(map, sizeof map, "%s_param_2[%d]", name, MAP_BYTES);
  made->has_map = strstr(text, map) != NULL;
  *found = made;
  return 0;
}

EXPORT int cuFuncGetAttribute(int *value, int attribute, void *of) {
  *value = attribute == 1 ? (int)((const function *)of)->laid_out : 0;
  return 0;
}

EXPORT int cuFuncSetAttribute(void *of, int attribute, int value) {
  if (attribute == 8)
    ((function *)of)->most_dynamic = gpu.most_dynamic_bytes = (size_t)value;
  return note_current("reserve");
}

static bool is_allowed(const function *f, size_t dynamic_bytes) {
  return f->laid_out + dynamic_bytes <= STATIC_LIMIT || dynamic_bytes <= f->most_dynamic;
}

static size_t write_list(char *text, size_t at, const char *begin, const uint64_t wide[], const uint32_t narrow[],
                         uint32_t count) {
  at += (size_t)snprintf(text + at, MAP_TEXT - at, "%s(", begin);
  for (uint32_t i = 0; i < count; i++)
    at += (size_t)snprintf(text + at, MAP_TEXT - at, "%s%llu", i > 0 ? "," : "",
                           (unsigned long long)(wide != NULL ? wide[i] : narrow[i]));
  return at + (size_t)snprintf(text + at, MAP_TEXT - at, ")");
}

/* A map is a number of its own, and nothing else. */
EXPORT int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t extent[],
                                  const uint64_t stride[], const uint32_t box[], const uint32_t step[],
                                  int interleave, int swizzle, int promotion, int fill) {
  static unsigned char number;
  int result = note_current("encode");
  if (result != 0)
    return result;
  if ((uintptr_t)map % MAP_ALIGNMENT != 0 || (uintptr_t)address % 16 != 0 || rank < 1 || rank > 5)
    return INVALID;
  size_t at = (size_t)snprintf(gpu.map_text, MAP_TEXT, "%d", type);
  at = write_list(gpu.map_text, at, " ", extent, NULL, rank);
  at = write_list(gpu.map_text, at, ":", stride, NULL, rank - 1);
  at = write_list(gpu.map_text, at, " ", NULL, box, rank);
  at = write_list(gpu.map_text, at, " ", NULL, step, rank);
  snprintf(gpu.map_text + at, MAP_TEXT - at, " %d %d %d %d", interleave, swizzle, promotion, fill);
  gpu.map_address = address;
  memset(gpu.map, ++number, MAP_BYTES);
  memcpy(map, gpu.map, MAP_BYTES);
  return 0;
}

static int add_launch(const function *f, void *const parameters[], size_t threads) {
  if (f->has_map)
    return memcmp(parameters[2], gpu.map, MAP_BYTES) == 0 ? add_work((work){.kind = NOTHING}) : INVALID;
  if (strcmp(f->name, "fault") == 0)
    return add_work((work){.kind = FAULT});
  return add_work((work){.kind = ADD,
                         .element = (uint32_t *)*(void *const *)parameters[0],
                         .amount = *(const uint32_t *)parameters[1],
                         .size = threads});
}

EXPORT int cuLaunchKernel(void *of, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **parameters,
                          void **extra) {
  const function *f = of;
  int result = note_current("launch");
  gpu.stream = stream;
  gpu.dynamic_bytes = shared_bytes;
  if (result != 0)
    return result;
  gpu.place = gpu.context[gpu.objects.current - 1];
  if (parameters == NULL || extra != NULL || grid_y * grid_z * block_y * block_z != 1 || !is_allowed(f, shared_bytes))
    return INVALID;
  return add_launch(f, parameters, (size_t)grid_x * block_x);
}

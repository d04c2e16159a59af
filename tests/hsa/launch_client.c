/* SPDX-License-Identifier: MIT */
/* A program that launches a kernel and knows nothing of tilejit: a code object, the recipe that `tilejit launch
 * --json` printed, and HSA, which is whatever library it is linked to.
 *
 *     launch_client PROCESSOR CODE.hsaco RECIPE.json ARGUMENT=FROM:TO…
 *
 * Each argument's memory is as long as the file FROM, and holds what is in there; after the launch it is written to
 * TO. PROCESSOR is what the name of the agent's ISA contains. Exit status 1, and a line on standard error, where
 * anything fails. */
#include "../client_files.h"

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUE_SIZE = 64, KERNARG_ALIGNMENT = 64 };

static void expect(hsa_status_t status, const char *what) {
  if (status != HSA_STATUS_SUCCESS && status != HSA_STATUS_INFO_BREAK)
    fail(what);
}

/* --- the recipe --- */

static json_t *member(const json_t *object, const char *name) {
  json_t *found = json_object_get(object, name);
  if (found == NULL)
    fail(name);
  return found;
}

static uint64_t number(const json_t *object, const char *name) {
  return (uint64_t)json_integer_value(member(object, name));
}

static uint64_t number_at(const json_t *object, const char *name, size_t index) {
  return (uint64_t)json_integer_value(json_array_get(member(object, name), index));
}

/* --- agents and memory --- */

typedef struct {
  const char *processor;
  hsa_agent_t cpu, gpu;
  bool matches;
  hsa_amd_memory_pool_t kernarg, local;
} machine;

static hsa_status_t look_at_isa(hsa_isa_t isa, void *data) {
  machine *m = data;
  char name[256] = "";
  hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name);
  const char *found = strstr(name, m->processor);
  size_t length = strlen(m->processor);
  m->matches = m->matches || (found != NULL && (found[length] == '\0' || found[length] == ':'));
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t look_at_agent(hsa_agent_t agent, void *data) {
  machine *m = data;
  hsa_device_type_t type;
  hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  if (type == HSA_DEVICE_TYPE_CPU)
    m->cpu = agent;
  m->matches = false;
  if (type == HSA_DEVICE_TYPE_GPU)
    hsa_agent_iterate_isas(agent, look_at_isa, m);
  if (m->matches && m->gpu.handle == 0)
    m->gpu = agent;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t look_at_pool(hsa_amd_memory_pool_t pool, void *data) {
  machine *m = data;
  hsa_amd_segment_t segment;
  uint32_t flags = 0;
  hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
  if (segment != HSA_AMD_SEGMENT_GLOBAL)
    return HSA_STATUS_SUCCESS;
  hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
  if (m->kernarg.handle == 0 && (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) != 0)
    m->kernarg = pool;
  if (m->local.handle == 0 && (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) != 0)
    m->local = pool;
  return HSA_STATUS_SUCCESS;
}

static machine find_machine(const char *processor) {
  machine m = {.processor = processor};
  expect(hsa_iterate_agents(look_at_agent, &m), "agents");
  if (m.gpu.handle == 0)
    fail("no such agent");
  hsa_amd_agent_iterate_memory_pools(m.gpu, look_at_pool, &m);
  hsa_amd_memory_pool_t local = m.local;
  hsa_amd_agent_iterate_memory_pools(m.cpu, look_at_pool, &m);
  m.local = local;
  return m;
}

static void *allocate(hsa_amd_memory_pool_t pool, size_t size) {
  void *block;
  expect(hsa_amd_memory_pool_allocate(pool, size > 0 ? size : 1, 0, &block), "memory");
  return block;
}

/* --- arguments --- */

typedef struct {
  const char *name, *from, *to;
  bytes data;
  void *memory; /* the device's */
} argument;

static argument open_argument(const machine *m, char *word) {
  char *from = strchr(word, '='), *to = from != NULL ? strchr(from, ':') : NULL;
  if (to == NULL)
    fail("ARGUMENT=FROM:TO");
  *from++ = *to++ = '\0';
  argument a = {.name = word, .from = from, .to = to, .data = read_file(from)};
  a.memory = allocate(m->local, a.data.size);
  expect(hsa_memory_copy(a.memory, a.data.data, a.data.size), "a copy to the device");
  return a;
}

static void close_argument(argument *a) {
  expect(hsa_memory_copy(a->data.data, a->memory, a->data.size), "a copy from the device");
  write_file(a->to, a->data);
  hsa_amd_memory_pool_free(a->memory);
  free(a->data.data);
}

static uint64_t address_of(const argument arguments[], int count, const char *name) {
  for (int i = 0; i < count; i++) {
    if (strcmp(arguments[i].name, name) == 0)
      return (uint64_t)(uintptr_t)arguments[i].memory;
  }
  fail(name);
}

/* The argument block, word by word. */
static void *make_kernarg(const machine *m, const json_t *recipe, const argument arguments[], int count) {
  char *block = allocate(m->kernarg, number(recipe, "kernarg_bytes"));
  expect(hsa_amd_agents_allow_access(1, &m->gpu, NULL, block), "access to the argument block");
  size_t i;
  const json_t *word;
  json_array_foreach(member(recipe, "kernarg"), i, word) {
    bool is_pointer = strcmp(json_string_value(member(word, "kind")), "pointer") == 0;
    uint64_t value = is_pointer ? address_of(arguments, count, json_string_value(member(word, "argument")))
                                : number(word, "value");
    memcpy(block + number(word, "offset"), &value, number(word, "bytes"));
  }
  return block;
}

/* --- the launch --- */

static hsa_executable_t load(const machine *m, const bytes *code) {
  hsa_code_object_reader_t reader;
  hsa_executable_t executable;
  expect(hsa_code_object_reader_create_from_memory(code->data, code->size, &reader), "the code object");
  expect(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable),
         "an executable");
  expect(hsa_executable_load_agent_code_object(executable, m->gpu, reader, NULL, NULL), "loading");
  expect(hsa_executable_freeze(executable, NULL), "freezing");
  expect(hsa_code_object_reader_destroy(reader), "the code object's reader");
  return executable;
}

static hsa_executable_symbol_t find_kernel(const machine *m, hsa_executable_t executable, const json_t *recipe) {
  char name[512];
  hsa_executable_symbol_t symbol;
  snprintf(name, sizeof name, "%s.kd", json_string_value(member(recipe, "symbol")));
  expect(hsa_executable_get_symbol_by_name(executable, name, &m->gpu, &symbol), name);
  return symbol;
}

static void fill_packet(hsa_kernel_dispatch_packet_t *packet, const json_t *recipe, hsa_executable_symbol_t kernel) {
  uint32_t group;
  packet->workgroup_size_x = (uint16_t)number_at(recipe, "block", 0);
  packet->workgroup_size_y = (uint16_t)number_at(recipe, "block", 1);
  packet->workgroup_size_z = (uint16_t)number_at(recipe, "block", 2);
  packet->grid_size_x = (uint32_t)number_at(recipe, "grid", 0);
  packet->grid_size_y = (uint32_t)number_at(recipe, "grid", 1);
  packet->grid_size_z = (uint32_t)number_at(recipe, "grid", 2);
  packet->group_segment_size = (uint32_t)number(recipe, "lds_bytes");
  hsa_executable_symbol_get_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &packet->kernel_object);
  hsa_executable_symbol_get_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
                                 &packet->private_segment_size);
  hsa_executable_symbol_get_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &group);
  if (group != packet->group_segment_size)
    fail("the recipe's lds_bytes are not the code object's");
}

static void queue_failed(hsa_status_t status, hsa_queue_t *queue, void *data) {
  (void)status, (void)queue, (void)data;
  fail("the queue failed");
}

static void dispatch(const machine *m, const json_t *recipe, hsa_executable_symbol_t kernel, void *kernarg) {
  hsa_queue_t *queue;
  hsa_signal_t done;
  expect(
      hsa_queue_create(m->gpu, QUEUE_SIZE, HSA_QUEUE_TYPE_SINGLE, queue_failed, NULL, UINT32_MAX, UINT32_MAX, &queue),
      "a queue");
  expect(hsa_signal_create(1, 0, NULL, &done), "a signal");
  uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
  hsa_kernel_dispatch_packet_t *packet = (hsa_kernel_dispatch_packet_t *)queue->base_address + index % queue->size;
  fill_packet(packet, recipe, kernel);
  packet->kernarg_address = kernarg;
  packet->completion_signal = done;
  uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  uint32_t setup = 3 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
  __atomic_store_n((uint32_t *)(void *)packet, header | setup << 16, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
  while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) != 0) {
  }
  hsa_signal_destroy(done);
  hsa_queue_destroy(queue);
}

int main(int count, char **words) {
  enum { FIRST = 4 };
  if (count <= FIRST)
    fail("PROCESSOR CODE.hsaco RECIPE.json ARGUMENT=FROM:TO…");
  expect(hsa_init(), "the runtime");
  machine m = find_machine(words[1]);
  bytes code = read_file(words[2]);
  json_t *recipe = json_load_file(words[3], 0, NULL);
  if (number(member(recipe, "code"), "bytes") != code.size)
    fail("the recipe is of another code object");
  int argument_count = count - FIRST;
  argument *arguments = calloc((size_t)argument_count, sizeof *arguments);
  for (int i = 0; i < argument_count; i++)
    arguments[i] = open_argument(&m, words[FIRST + i]);
  hsa_executable_t executable = load(&m, &code);
  void *kernarg = make_kernarg(&m, recipe, arguments, argument_count);
  dispatch(&m, recipe, find_kernel(&m, executable, recipe), kernarg);
  for (int i = 0; i < argument_count; i++)
    close_argument(&arguments[i]);
  hsa_amd_memory_pool_free(kernarg);
  hsa_executable_destroy(executable);
  free(arguments);
  free(code.data);
  json_decref(recipe);
  return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 1;
}

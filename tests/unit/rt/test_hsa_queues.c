/* SPDX-License-Identifier: MIT */
/* Queues of the simulated HSA runtime in the hands of a client of HSA: what kernels may touch, priorities and times,
 * packets that wait for values; and what else such clients ask for: the loader's extension, which agents are visible,
 * what there is not. */
#include "tests/unit/support/hsa_support.h"
#include "tests/unit/support/library_support.h"

#include "rt/sim/hsa/hsasim.h"

#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_loader.h>
#include <stdbool.h>
#include <stdio.h>

/* --- kernels --- */

enum { ELEMENTS = 1 << 18 };

static const char program_text[] = "kernel move(src: i32 @ 262144:1, dst: i32 @ 262144:1) = copy(src, dst)";

/* A kernel on gpu[0]; the library compiles it, and does no more. */
typedef struct {
  tj_context *context;
  tj_code *code;
  tj_launch *launch;
  const tj_recipe *recipe;
  hsa_executable_t executable;
  hsa_executable_symbol_t symbol;
  void *kernarg;
} kernel;

static kernel load_kernel(const machine *m, const char *target, void *from, void *to) {
  kernel k = {.context = new_context(NULL)};
  size_t size;
  char symbol[64];
  hsa_code_object_reader_t reader;
  tj_program *program = new_program(k.context, program_text, NULL, 0);
  tj_compile_options options = {.target = target};
  expect_ok(k.context, tj_code_compile(program, &options, &k.code), program_text);
  tj_program_destroy(program);
  expect_ok(k.context, tj_launch_create(k.context, k.code, &k.launch), "launch");
  expect_ok(k.context, tj_launch_bind_pointer(k.launch, "src", from, ELEMENTS * 4), "src");
  expect_ok(k.context, tj_launch_bind_pointer(k.launch, "dst", to, ELEMENTS * 4), "dst");
  expect_ok(k.context, tj_launch_prepare(k.launch, &k.recipe), "recipe");
  const void *bytes = tj_code_bytes(k.code, &size);
  expect(hsa_code_object_reader_create_from_memory(bytes, size, &reader), "reader");
  expect(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &k.executable),
         "executable");
  expect(hsa_executable_load_agent_code_object(k.executable, m->gpu[0], reader, NULL, NULL), "load");
  expect(hsa_executable_freeze(k.executable, NULL), "freeze");
  hsa_code_object_reader_destroy(reader);
  snprintf(symbol, sizeof symbol, "%s.kd", k.recipe->symbol);
  expect(hsa_executable_get_symbol_by_name(k.executable, symbol, &m->gpu[0], &k.symbol), symbol);
  k.kernarg = allocate(m->kernarg, k.recipe->kernarg_bytes);
  memcpy(k.kernarg, k.recipe->kernarg, k.recipe->kernarg_bytes);
  return k;
}

static void unload(kernel *k) {
  hsa_amd_memory_pool_free(k->kernarg);
  hsa_executable_destroy(k->executable);
  tj_launch_destroy(k->launch);
  tj_code_destroy(k->code);
  tj_context_destroy(k->context);
}

static void submit(hsa_queue_t *queue, const void *packet, uint16_t type, uint16_t setup) {
  enum { PACKET = 64, HEADER = 4 };
  uint32_t header = (uint32_t)type << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER | (uint32_t)setup << 16;
  uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
  char *slot = (char *)queue->base_address + index % queue->size * PACKET;
  memcpy(slot + HEADER, (const char *)packet + HEADER, PACKET - HEADER);
  __atomic_store_n((uint32_t *)(void *)slot, header, __ATOMIC_RELEASE);
  hsa_signal_store_relaxed(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void dispatch(hsa_queue_t *queue, const kernel *k, hsa_signal_t done) {
  hsa_kernel_dispatch_packet_t packet = {.workgroup_size_x = (uint16_t)k->recipe->block[0],
                                         .workgroup_size_y = 1,
                                         .workgroup_size_z = 1,
                                         .grid_size_x = (uint32_t)k->recipe->grid[0],
                                         .grid_size_y = 1,
                                         .grid_size_z = 1,
                                         .group_segment_size = k->recipe->lds_bytes,
                                         .kernarg_address = k->kernarg,
                                         .completion_signal = done};
  hsa_executable_symbol_get_info(k->symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &packet.kernel_object);
  hsa_executable_symbol_get_info(k->symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
                                 &packet.private_segment_size);
  submit(queue, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, 1);
}

typedef struct {
  hsa_signal_t told;
  char text[512];
} failure;

static void note_failure(hsa_status_t status, hsa_queue_t *queue, void *data) {
  (void)queue;
  failure *f = data;
  const char *text;
  ck_assert_ptr_ne(f, NULL);
  hsa_status_string(status, &text);
  snprintf(f->text, sizeof f->text, "%s", text);
  hsa_signal_store_screlease(f->told, 0);
}

static hsa_queue_t *new_queue(hsa_agent_t agent, failure *f) {
  hsa_queue_t *queue;
  expect(hsa_queue_create(agent, 16, HSA_QUEUE_TYPE_MULTI, note_failure, f, UINT32_MAX, UINT32_MAX, &queue), "queue");
  return queue;
}

/* A kernel reaches what its agent has been allowed to, and the queue's callback can ask what happened otherwise. */
START_TEST(kernels_reach_what_is_allowed) {
  static const struct {
    bool is_local, is_allowed; /* the target's memory is the agent's, or the CPU's; the arguments are allowed */
    const char *text;
  } rows[] = {{true, true, NULL}, {false, true, "the kernel may write"}, {true, false, "the kernel may read"}};
  machine m = open_machine("gfx90a");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    int32_t *from = allocate(m.local, ELEMENTS * 4),
            *to = allocate(rows[i].is_local ? m.local : m.system, ELEMENTS * 4);
    kernel k = load_kernel(&m, "gfx90a", from, to);
    failure f = {.told = new_signal(1)};
    hsa_signal_t done = new_signal(1);
    hsa_queue_t *queue = new_queue(m.gpu[0], &f);
    if (rows[i].is_allowed)
      expect(hsa_amd_agents_allow_access(1, &m.gpu[0], NULL, k.kernarg), "arguments");
    memset(from, 1, ELEMENTS * 4);
    memset(to, 2, ELEMENTS * 4);
    dispatch(queue, &k, done);
    wait_for_zero(rows[i].text == NULL ? done : f.told);
    ck_assert_msg(rows[i].text == NULL || strstr(f.text, rows[i].text) != NULL, "row %zu: %s", i, f.text);
    ck_assert_int_eq(to[0], rows[i].text == NULL ? 0x01010101 : 0x02020202);
    hsa_queue_destroy(queue);
    unload(&k);
    hsa_signal_destroy(done);
    hsa_signal_destroy(f.told);
    hsa_amd_memory_pool_free(from);
    hsa_amd_memory_pool_free(to);
  }
  hsa_shut_down();
}
END_TEST

/* What runs in a queue of a high priority, others of the agent wait for. */
START_TEST(priorities_go_before) {
  machine m = open_machine("gfx90a");
  void *from = allocate(m.local, ELEMENTS * 4), *to = allocate(m.local, ELEMENTS * 4);
  kernel k = load_kernel(&m, "gfx90a", from, to);
  hsa_queue_t *high = new_queue(m.gpu[0], NULL), *low = new_queue(m.gpu[0], NULL);
  hsa_signal_t first = new_signal(1), second = new_signal(1);
  hsa_amd_profiling_dispatch_time_t high_time, low_time;
  uint64_t begun = 0, total;
  expect(hsa_amd_agents_allow_access(1, &m.gpu[0], NULL, k.kernarg), "arguments");
  expect(hsa_amd_queue_set_priority(high, HSA_AMD_QUEUE_PRIORITY_HIGH), "priority");
  expect(hsa_amd_profiling_set_profiler_enabled(high, 1), "times");
  expect(hsa_amd_profiling_set_profiler_enabled(low, 1), "times");
  dispatch(high, &k, first);
  while (begun == 0)
    tj_hsasim_progress(high, &begun, &total);
  dispatch(low, &k, second);
  wait_for_zero(second);
  wait_for_zero(first);
  expect(hsa_amd_profiling_get_dispatch_time(m.gpu[0], first, &high_time), "times");
  expect(hsa_amd_profiling_get_dispatch_time(m.gpu[0], second, &low_time), "times");
  ck_assert(high_time.end <= low_time.start);
  ck_assert_int_ne(hsa_amd_queue_set_priority(low, (hsa_amd_queue_priority_t)3), HSA_STATUS_SUCCESS);
  hsa_queue_destroy(high);
  hsa_queue_destroy(low);
  hsa_signal_destroy(first);
  hsa_signal_destroy(second);
  unload(&k);
  hsa_amd_memory_pool_free(from);
  hsa_amd_memory_pool_free(to);
  hsa_shut_down();
}
END_TEST

/* --- packets that wait for a value --- */

START_TEST(packets_wait_for_values) {
  static const struct {
    hsa_signal_condition_t condition;
    int64_t value, mask, first, second;
  } rows[] = {
      {HSA_SIGNAL_CONDITION_EQ, 5, -1, 4, 5},
      {HSA_SIGNAL_CONDITION_GTE, 5, -1, 4, 9},
      {HSA_SIGNAL_CONDITION_NE, 0, 8, 7, 15},
      {HSA_SIGNAL_CONDITION_LT, 1, 15, 1, 16},
  };
  machine m = open_machine("gfx90a");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    failure f = {.told = new_signal(1)};
    hsa_queue_t *queue = new_queue(m.gpu[0], &f);
    hsa_signal_t waited = new_signal(rows[i].first), done = new_signal(1);
    hsa_amd_barrier_value_packet_t packet = {.signal = waited,
                                             .value = rows[i].value,
                                             .mask = rows[i].mask,
                                             .cond = rows[i].condition,
                                             .completion_signal = done};
    submit(queue, &packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC, HSA_AMD_PACKET_TYPE_BARRIER_VALUE);
    ck_assert_int_eq(wait_until_below(done, 1, A_WHILE / 10), 1);
    hsa_signal_store_relaxed(waited, rows[i].second);
    wait_for_zero(done);
    submit(queue, &packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC, 77);
    wait_for_zero(f.told);
    hsa_queue_destroy(queue);
    hsa_signal_destroy(waited);
    hsa_signal_destroy(done);
    hsa_signal_destroy(f.told);
  }
  hsa_shut_down();
}
END_TEST

/* A queue can be destroyed while it waits for what never comes. */
START_TEST(queues_end_while_they_wait) {
  machine m = open_machine("gfx90a");
  hsa_queue_t *queue = new_queue(m.gpu[0], NULL);
  hsa_signal_t never = new_signal(1);
  hsa_barrier_and_packet_t packet = {.dep_signal = {never}};
  submit(queue, &packet, HSA_PACKET_TYPE_BARRIER_AND, 0);
  expect(hsa_queue_destroy(queue), "the queue's end");
  hsa_signal_destroy(never);
  hsa_shut_down();
}
END_TEST

/* --- what is where --- */

START_TEST(loader_knows_what_is_loaded) {
  machine m = open_machine("gfx90a");
  void *from = allocate(m.local, ELEMENTS * 4), *to = allocate(m.local, ELEMENTS * 4);
  kernel k = load_kernel(&m, "gfx90a", from, to);
  hsa_ven_amd_loader_1_00_pfn_t loader;
  hsa_executable_t executable;
  uint64_t object;
  const void *host;
  size_t count = 0;
  bool is_there;
  expect(hsa_system_extension_supported(HSA_EXTENSION_AMD_LOADER, 1, 0, &is_there), "extension");
  ck_assert(is_there);
  expect(hsa_system_extension_supported(HSA_EXTENSION_IMAGES, 1, 0, &is_there), "extension");
  ck_assert(!is_there);
  expect(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof loader, &loader), "table");
  expect(hsa_executable_symbol_get_info(k.symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object), "object");
  const void *address = (const void *)(uintptr_t)object;
  expect(loader.hsa_ven_amd_loader_query_host_address(address, &host), "address");
  expect(loader.hsa_ven_amd_loader_query_executable(address, &executable), "executable");
  ck_assert_uint_eq(executable.handle, k.executable.handle);
  ck_assert_int_ne(loader.hsa_ven_amd_loader_query_executable(&count, &executable), HSA_STATUS_SUCCESS);
  expect(loader.hsa_ven_amd_loader_query_segment_descriptors(NULL, &count), "segments");
  ck_assert_uint_gt(count, 0);
  hsa_ven_amd_loader_segment_descriptor_t *segment = calloc(count, sizeof *segment);
  expect(loader.hsa_ven_amd_loader_query_segment_descriptors(segment, &count), "segments");
  bool is_found = false;
  for (size_t i = 0; i < count; i++) {
    const char *base = segment[i].segment_base;
    is_found = is_found || (base <= (const char *)host && (const char *)host < base + segment[i].segment_size);
    ck_assert_ptr_eq(segment[i].code_object_storage_base, tj_code_bytes(k.code, &(size_t){0}));
    ck_assert_uint_le(segment[i].code_object_storage_offset, segment[i].code_object_storage_size);
  }
  ck_assert(is_found);
  free(segment);
  unload(&k);
  hsa_amd_memory_pool_free(from);
  hsa_amd_memory_pool_free(to);
  hsa_shut_down();
}
END_TEST

/* --- which agents are visible --- */

static const struct {
  const char *agents, *visible, *targets; /* NULL: not set */
} visibility_rows[] = {
    {"gfx90a gfx942 gfx1100", NULL, "gfx90a@2 gfx942@3 gfx1100@4 "},
    {"gfx90a gfx942 gfx1100", "1", "gfx942@3 "},
    {"gfx90a gfx942 gfx1100", "2,0", "gfx1100@4 gfx90a@2 "},
    {"gfx90a gfx942 gfx1100", " 2 , 1 ", "gfx1100@4 gfx942@3 "},
    {"gfx90a gfx942 gfx1100", "", ""},
    {"gfx90a gfx942 gfx1100", "1,7,0", "gfx942@3 "},
    {"gfx90a gfx942 gfx1100", "1,-1,0", "gfx942@3 "},
    {"gfx90a gfx942 gfx1100", "1,1,0", "gfx942@3 "},
    {"gfx90a gfx942 gfx1100", "1,x,0", "gfx942@3 "},
    {"gfx90a gfx942 gfx1100", "0x2,,0", "gfx1100@4 "},
    {"gfx90a gfx942 gfx1100", "GPU-0000000000000003,0", "gfx942@3 gfx90a@2 "},
    {"gfx90a gfx942 gfx1100", "gpu-0000000000000004", "gfx1100@4 "},
    {"gfx90a gfx942 gfx1100", "GPU-0", ""},
    {"gfx90a gfx942 gfx1100", "GPU-0000000000000009", ""},
    {"gfx90a gfx942 gfx1100", "GPU-00000000000000030", ""},
};

static hsa_status_t name_agent(hsa_agent_t agent, void *data) {
  char name[64], *text = data;
  uint32_t place;
  hsa_device_type_t type;
  hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, name);
  hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_BDFID, &place);
  if (type == HSA_DEVICE_TYPE_GPU)
    snprintf(text + strlen(text), 200 - strlen(text), "%s@%u ", name, place >> 8);
  return HSA_STATUS_SUCCESS;
}

START_TEST(agents_are_selected) {
  for (size_t i = 0; i < sizeof visibility_rows / sizeof visibility_rows[0]; i++) {
    char text[200] = "";
    unsetenv("ROCR_VISIBLE_DEVICES");
    if (visibility_rows[i].visible != NULL)
      setenv("ROCR_VISIBLE_DEVICES", visibility_rows[i].visible, 1);
    open_machine(visibility_rows[i].agents);
    expect(hsa_iterate_agents(name_agent, text), "agents");
    ck_assert_msg(strcmp(text, visibility_rows[i].targets) == 0, "'%s': %s", visibility_rows[i].visible, text);
    hsa_shut_down();
  }
  unsetenv("ROCR_VISIBLE_DEVICES");
}
END_TEST

/* A selection is of the machine's GPUs where no list says that the simulated ones are these. */
START_TEST(selection_is_of_a_list) {
  char all[200] = "", selected[200] = "";
  unsetenv("TILEJIT_HSASIM_AGENTS");
  expect(hsa_init(), "init");
  expect(hsa_iterate_agents(name_agent, all), "agents");
  hsa_shut_down();
  setenv("ROCR_VISIBLE_DEVICES", "1", 1);
  expect(hsa_init(), "init");
  expect(hsa_iterate_agents(name_agent, selected), "agents");
  hsa_shut_down();
  unsetenv("ROCR_VISIBLE_DEVICES");
  ck_assert_str_eq(all, selected);
}
END_TEST

/* --- what there is not --- */

START_TEST(images_are_refused) {
  machine m = open_machine("gfx90a");
  hsa_ext_sampler_t sampler;
  hsa_ext_image_t image = {0};
  hsa_amd_ipc_memory_t handle;
  bool has_svm = true;
  ck_assert_int_eq(hsa_ext_sampler_create(m.gpu[0], NULL, &sampler), HSA_STATUS_ERROR);
  ck_assert_int_eq(hsa_ext_image_destroy(m.gpu[0], image), HSA_STATUS_ERROR);
  ck_assert_int_eq(hsa_amd_ipc_memory_create(NULL, 0, &handle), HSA_STATUS_ERROR);
  expect(hsa_system_get_info((hsa_system_info_t)HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED, &has_svm), "SVM");
  ck_assert(!has_svm);
  hsa_shut_down();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {kernels_reach_what_is_allowed, priorities_go_before,        packets_wait_for_values,
                                queues_end_while_they_wait,    loader_knows_what_is_loaded, agents_are_selected,
                                selection_is_of_a_list,        images_are_refused};
  return run_suite(suite_of("hsa_queues", tests, sizeof tests / sizeof tests[0]));
}

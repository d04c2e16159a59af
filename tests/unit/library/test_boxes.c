/* SPDX-License-Identifier: MIT */
/* Copies whose tiles an engine brings into LDS, mappings with dma=1, or takes out of it, with dma_store=1, on a
 * simulated gfx1250, or on the GPU of NVIDIA's that TILEJIT_TEST_DEVICE names: against loops over coordinates. Tiles
 * at edges, sources that are padded at their ends, layouts in LDS of every order, with pads, swizzles and without,
 * shapes that only the launch knows; random ones, of which some have no plan. */
#include "tests/unit/support/box_cases.h"
#include "tests/unit/support/library_support.h"
#include "tests/unit/support/suite.h"

#include <stdio.h>

enum { POISON = 0x5a };

static const char *device_name(void) {
  const char *name = getenv("TILEJIT_TEST_DEVICE");
  return name != NULL ? name : "sim:gfx1250";
}

static bool takes_maps(void) {
  return strncmp(device_name(), "cuda:", 5) == 0;
}

/* --- runs --- */

typedef struct {
  uint8_t *data;
  size_t size;
} array;

/* Exactly what the kernel wants: the simulator knows where memory ends. */
static array bind(tj_context *context, tj_launch *launch, const char *name, int64_t elements, size_t bytes) {
  array a = {.size = (size_t)elements * bytes};
  a.data = malloc(a.size);
  for (size_t i = 0; i < a.size; i++)
    a.data[i] = name[0] == 's' ? (uint8_t)(1 + (i * 7 + i / 251) % 255) : POISON;
  expect_ok(context, tj_launch_bind(launch, name, a.data, a.size), name);
  return a;
}

static void check_elements(const box_case *c, const array *source, const array *destination, const char *text) {
  int64_t at[MOST_MODES] = {0};
  uint8_t zeros[16] = {0};
  do {
    box_element e = box_element_at(c, at);
    const uint8_t *expected = e.is_there ? source->data + (size_t)e.source * c->bytes : zeros;
    ck_assert_msg(memcmp(destination->data + (size_t)e.destination * c->bytes, expected, c->bytes) == 0,
                  "%s: element (%ld,%ld,%ld)\n%s", c->what, (long)at[0], (long)at[1], (long)at[2], text);
  } while (box_next(c, at));
}

/* What an engine moves does not go through registers. */
static void check_assembly(const char *ways, const char *assembly, const char *text) {
  bool brings = strncmp(ways, "dma=1", 5) == 0;
  bool stores = strstr(ways, "dma_store=1") != NULL;
  ck_assert_msg(!brings || (strstr(assembly, "tensor_load_to_lds") != NULL &&
                            strstr(assembly, "global_load") == NULL && strstr(assembly, "ds_store") == NULL),
                "%s\n%s", text, assembly);
  ck_assert_msg(!stores || (strstr(assembly, "tensor_store_from_lds") != NULL &&
                            strstr(assembly, "global_store") == NULL && strstr(assembly, "ds_load") == NULL),
                "%s\n%s", text, assembly);
}

/* Nothing comes through registers. */
static void check_code(tj_context *context, const char *ways, const tj_code *code, const char *text) {
  size_t size;
  tj_blob assembly;
  const void *bytes = tj_code_bytes(code, &size);
  if (takes_maps()) {
    ck_assert_msg(memmem(bytes, size, "cp.async.bulk.tensor", 20) != NULL &&
                      memmem(bytes, size, "ld.global", 9) == NULL && memmem(bytes, size, "st.shared", 9) == NULL,
                  "%s\n%.*s", text, (int)size, (const char *)bytes);
    return;
  }
  expect_ok(context, tj_code_disassemble(context, bytes, size, 0, &assembly), text);
  check_assembly(ways, assembly.data, text);
  tj_blob_release(context, &assembly);
}

static void run_code(tj_context *context, tj_device *device, const box_case *c, const tj_code *code,
                     const char *text) {
  int64_t stride[MOST_MODES];
  tj_launch *launch;
  box_column_strides(c, stride);
  expect_ok(context, tj_launch_create(context, code, &launch), text);
  for (int m = 0; m < 2 && c->is_dynamic; m++)
    expect_ok(context, tj_launch_set_parameter(launch, m == 0 ? "M" : "N", c->extent[m]), text);
  array source = bind(context, launch, "s", box_reach(c, c->valid, c->stride), c->bytes),
        destination = bind(context, launch, "d", box_reach(c, c->extent, stride), c->bytes);
  expect_ok(context, tj_launch_run(launch, device), text);
  check_elements(c, &source, &destination, text);
  tj_launch_destroy(launch);
  free(source.data);
  free(destination.data);
}

/* False where there is no plan: TJ4020. */
static bool check_case(const box_case *c, const char *ways) {
  enum { NO_PLAN = 4020 };
  char text[BOX_TEXT];
  tj_context *context = new_context(NULL);
  tj_device *device = open_device(context, device_name());
  box_write_program(text, c, ways, takes_maps());
  tj_program *program = new_program(context, text, NULL, 0);
  tj_compile_options options = {.target = tj_device_target(device)};
  tj_code *code = NULL;
  tj_status status = tj_code_compile(program, &options, &code);
  if (status != TJ_OK)
    ck_assert_msg(failure_of(context, status) == NO_PLAN, "%s\n%s", tj_context_diagnostic(context)->message, text);
  else
    check_code(context, ways, code, text);
  if (status == TJ_OK)
    run_code(context, device, c, code, text);
  tj_code_destroy(code);
  tj_program_destroy(program);
  tj_device_close(device);
  tj_context_destroy(context);
  return status == TJ_OK;
}

START_TEST(boxes_are_copied) {
  const box_case *c = takes_maps() ? &map_cases[_i] : &box_cases[_i];
  ck_assert_msg(check_case(c, "dma=1"), "%s: there is no plan", c->what);
}
END_TEST

START_TEST(random_boxes_are_copied) {
  random_source random = random_begin(1);
  int planned = 0;
  for (int i = 0; i < RANDOM_TILES; i++) {
    char mapping[BOX_TEXT];
    box_case c = random_box(&random, takes_maps(), mapping);
    planned += check_case(&c, "dma=1");
  }
  ck_assert_int_ge(planned, RANDOM_TILES / 2);
}
END_TEST

START_TEST(boxes_are_stored) {
  ck_assert_msg(check_case(&stored_cases[_i].box, stored_cases[_i].ways), "%s: there is no plan",
                stored_cases[_i].box.what);
}
END_TEST

START_TEST(random_boxes_are_stored) {
  static const char *const ways[] = {"dma_store=1", "dma=1, dma_store=1"};
  random_source random = random_begin(2);
  int planned = 0;
  for (int i = 0; i < RANDOM_TILES; i++) {
    char mapping[BOX_TEXT];
    box_case c = random_box(&random, false, mapping);
    planned += check_case(&c, ways[i % 2]);
  }
  ck_assert_int_ge(planned, RANDOM_TILES / 4);
}
END_TEST

int main(void) {
  Suite *suite = suite_of_cases("boxes", boxes_are_copied, takes_maps() ? MAP_CASES : BOX_CASES);
  TCase *tcase = tcase_create("random");
  tcase_set_timeout(tcase, 300);
  tcase_add_test(tcase, random_boxes_are_copied);
  tcase_add_loop_test(tcase, boxes_are_stored, 0, takes_maps() ? 0 : STORED_CASES);
  if (!takes_maps())
    tcase_add_test(tcase, random_boxes_are_stored);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}

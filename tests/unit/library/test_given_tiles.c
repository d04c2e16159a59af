/* SPDX-License-Identifier: MIT */
/* Mappings of a tile alone, whose other parts are chosen: on simulated GPUs they move what loops move, between zones
 * that nothing touches; what is printed of them has that tile, and pasted into the program gives the same code. */
#include "tests/unit/support/guarded_array.h"
#include "tests/unit/support/paste_support.h"

enum { TEXT = 400 };

/* A matrix of M rows of N elements, whose destination has columns side by side, or rows further apart. */
typedef struct {
  int m, n, bytes;
  bool turns;
  const char *tile;
} given_tile;

static const given_tile tiles[] = {
    {128, 96, 4, true, "(64,32)"},    {128, 96, 4, true, "(16,16)"},  {128, 96, 2, true, "(128,32)"},
    {100, 60, 4, true, "(64,64)"},    {100, 60, 4, true, "(30,12)"},  {98, 75, 4, true, "(33,25)"},
    {256, 128, 2, true, "(256,128)"}, /* in passes */
    {48, 40, 4, true, "(64,128)"},    /* longer than either mode */
    {100, 60, 4, false, "(16,60)"},   {100, 64, 2, false, "(10,64)"}, {97, 128, 4, false, "(1,128)"},
};

static void write_copy(const given_tile *t, char text[TEXT]) {
  int rows = t->turns ? 1 : t->n + 8, columns = t->turns ? t->m : 1;
  snprintf(text, TEXT,
           "kernel k(src: b%d @ (%d,%d):(%d,1), dst: b%d @ (%d,%d):(%d,%d)) = copy(src, dst, "
           "mapping=mapping(tile=%s))",
           8 * t->bytes, t->m, t->n, t->n, 8 * t->bytes, t->m, t->n, rows, columns, t->tile);
}

static void copy_by_loops(const given_tile *t, const guarded_array *from, const guarded_array *to) {
  for (int i = 0; i < t->m; i++) {
    for (int j = 0; j < t->n; j++) {
      int place = t->turns ? i + j * t->m : i * (t->n + 8) + j;
      memcpy(to->data + place * t->bytes, from->data + (i * t->n + j) * t->bytes, (size_t)t->bytes);
    }
  }
}

static void expect_moved(tj_context *context, const given_tile *t, const char *text, const char *target) {
  random_source random = random_begin(7);
  char name[32];
  tj_device *device;
  tj_launch *launch;
  tj_code *code;
  tj_program *program = new_program(context, text, NULL, 0);
  tj_compile_options options = {"k", target};
  snprintf(name, sizeof name, "sim:%s", target);
  expect_ok(context, tj_device_open(context, name, &device), name);
  expect_ok(context, tj_code_compile(program, &options, &code), text);
  expect_ok(context, tj_launch_create(context, code, &launch), text);
  guarded_array from = bind_random(context, launch, 0, text, &random);
  guarded_array to = bind_random(context, launch, 1, text, &random), expected = copy_guarded(&to);
  expect_ok(context, tj_launch_run(launch, device), text);
  copy_by_loops(t, &from, &expected);
  for (size_t i = 0; i < to.size; i++)
    ck_assert_msg(to.data[i] == expected.data[i], "%s: byte %zu is %02x, not %02x\n%s", target, i, to.data[i],
                  expected.data[i], text);
  tj_launch_destroy(launch);
  release_guarded(&from, text);
  release_guarded(&to, text);
  release_guarded(&expected, text);
  tj_code_destroy(code);
  tj_program_destroy(program);
  tj_device_close(device);
}

static void expect_tile(tj_context *context, const pasted_program *p, const char *tile) {
  char begin[64], *reason, *mapping = printed_mapping(context, p);
  snprintf(begin, sizeof begin, "mapping(tile=%s, load=", tile);
  ck_assert_msg(strncmp(mapping, begin, strlen(begin)) == 0, "%s: %s\n%s", p->target, mapping, p->text);
  ck_assert_msg(pastes_back(context, p, TJ_EMIT_HSACO, &reason), "%s: %s", p->target, p->text);
  free(mapping);
}

START_TEST(tiles_are_completed) {
  static const char *const targets[] = {"gfx942", "gfx950", "gfx1100", "gfx1250"};
  tj_context *context = new_context(NULL);
  char text[TEXT];
  write_copy(&tiles[_i], text);
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    expect_tile(context, &(pasted_program){.text = text, .kernel = "k", .target = targets[i]}, tiles[_i].tile);
    expect_moved(context, &tiles[_i], text, targets[i]);
  }
  tj_context_destroy(context);
}
END_TEST

/* The tile that is chosen for a copy, given alone, is completed to what was chosen with it. */
START_TEST(chosen_tiles_are_completed_alike) {
  tj_context *context = new_context(NULL);
  pasted_program chosen = {
      .text = "kernel k(src: f32 @ (608,608):(608,1), dst: f32 @ (608,608):(1,608)) = copy(src, dst)",
      .kernel = "k",
      .target = "gfx942"};
  char *mapping = printed_mapping(context, &chosen), tile[64];
  snprintf(tile, sizeof tile, "%.*s)", (int)(strstr(mapping, ", load=") - mapping), mapping);
  char *text = with_mapping(&chosen, tile);
  pasted_program given = chosen;
  given.text = text;
  char *completed = printed_mapping(context, &given);
  ck_assert_str_eq(completed, mapping);
  expect_same(context, &chosen, text, TJ_EMIT_HSACO);
  free(completed);
  free(text);
  free(mapping);
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  Suite *suite = suite_of_cases("given tiles", tiles_are_completed, sizeof tiles / sizeof *tiles);
  TCase *more = tcase_create("more");
  tcase_add_test(more, chosen_tiles_are_completed_alike);
  suite_add_tcase(suite, more);
  return run_suite(suite);
}

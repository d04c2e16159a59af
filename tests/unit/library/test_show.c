/* SPDX-License-Identifier: MIT */
/* Pictures through the public header: their forms, what is drawn, and what cannot be. */
#include "tests/unit/support/library_support.h"

#include <jansson.h>

/* --- helpers --- */

/* The picture of an expression; released by the caller with its context. */
static tj_blob picture_of(tj_context *context, const char *text, tj_show_options options) {
  tj_program *program = new_program(context, text, NULL, 0);
  tj_blob blob;
  expect_ok(context, tj_program_show(program, &options, &blob), text);
  tj_program_destroy(program);
  ck_assert_uint_eq(blob.size, strlen(blob.data));
  return blob;
}

static void expect_text(const char *text, tj_show_options options, const char *expected) {
  tj_context *context = new_context(NULL);
  tj_blob blob = picture_of(context, text, options);
  ck_assert_str_eq(blob.data, expected);
  tj_blob_release(context, &blob);
  tj_context_destroy(context);
}

static json_t *json_of(const char *text, tj_show_options options) {
  tj_context *context = new_context(NULL);
  options.form = TJ_SHOW_JSON;
  tj_blob blob = picture_of(context, text, options);
  json_error_t error;
  json_t *json = json_loads(blob.data, 0, &error);
  if (json == NULL)
    ck_abort_msg("%s: %s in %s", text, error.text, blob.data);
  tj_blob_release(context, &blob);
  tj_context_destroy(context);
  return json;
}

static json_t *panel_of(json_t *picture, size_t panel) {
  return json_array_get(json_object_get(picture, "panels"), panel);
}

static json_t *cell_of(json_t *picture, size_t panel, size_t cell) {
  return json_array_get(json_object_get(panel_of(picture, panel), "cells"), cell);
}

static int64_t integer_of(json_t *object, const char *key) {
  ck_assert_msg(json_is_integer(json_object_get(object, key)), "%s", key);
  return json_integer_value(json_object_get(object, key));
}

/* --- text --- */

START_TEST(a_layout_as_text) {
  expect_text("(2,3):(3,1)", (tj_show_options){0},
              "(2,3):(3,1)\n"
              "    0   1   2\n"
              "  +---+---+---+\n"
              "0 | 0 | 1 | 2 |\n"
              "  +---+---+---+\n"
              "1 | 3 | 4 | 5 |\n"
              "  +---+---+---+\n");
}
END_TEST

/* 20 columns do not fit into 50 characters; 8 do. */
START_TEST(wide_text_is_broken_into_blocks) {
  tj_context *context = new_context(NULL);
  tj_blob blob = picture_of(context, "(2,20):(20,1)", (tj_show_options){.width = 50});
  size_t line = 0, blocks = 0, longest = 0;
  for (const char *c = blob.data; *c != '\0'; c++) {
    line = *c == '\n' ? 0 : line + 1;
    longest = line > longest ? line : longest;
  }
  for (const char *c = blob.data; (c = strstr(c, "\n0 |")) != NULL; c++)
    blocks++;
  ck_assert_uint_le(longest, 50);
  ck_assert_uint_eq(blocks, 3);
  tj_blob_release(context, &blob);
  tj_context_destroy(context);
}
END_TEST

START_TEST(what_is_not_valid_is_marked) {
  expect_text("transform(packed((3)), [pad(3,1,1)], [[0]], [[0]])", (tj_show_options){0},
              "transform(packed((3)), [pad(3,1,1)], [[0]], [[0]])\n"
              "\n"
              "coordinate  #2[5]\n"
              "   stage 1  #2[5]  pad(3,1,1)  -> #1[3]\n"
              "   stage 0  #1[3]  unmerge(3)  -> #0[3]\n"
              "    offset  #0 in a buffer of 3 elements\n"
              "\n"
              "   0   1   2   3   4\n"
              " +---+---+---+---+---+\n"
              " | x | 0 | 1 | 2 | x |\n"
              " +---+---+---+---+---+\n");
}
END_TEST

START_TEST(a_swizzle_shows_its_bits) {
  expect_text("Sw<1,1,1>", (tj_show_options){0},
              "Sw<1,1,1>\n"
              "bit 2 XORed into bit 1; the grid is one period, in chunks of 2 indices\n"
              "\n"
              "bit   2      1   0\n"
              " in  b2     b1  b0\n"
              "out  b2  b1^b2  b0\n"
              "\n"
              "    0   1\n"
              "  +---+---+\n"
              "0 | 0 | 1 |\n"
              "  +---+---+\n"
              "1 | 3 | 2 |\n"
              "  +---+---+\n");
}
END_TEST

/* --- cells agree with tables --- */

/* Rows of maps whose pictures hold every coordinate once, in panels, with the values that the table has. */
static const char *const maps[] = {
    "(4,8):(8,1)",
    "((2,4),(2,4)):((1,16),(4,32))",
    "Sw<3,0,3> o 0 o (8,8):(8,1)",
    "(2,3,4,2):(1,2,6,24)",
    "((3,2),(2,(3,2))):((7,1),(100,(20,1000)))",
    "(100):(3)",
    "7:1",
    "(3,4):(-1,5)",
    "packed((2,3,4))",
    "transform(packed((2,3,4)), [pass_through(2),pad(3,1,2),pad(4,1,1)], [[0],[1],[2]], [[0],[1],[2]])",
    "merge(3,4)",
    "(4,(2,3)):(1@0,(1@0@1,1@1@1))",
};

static void count_cell(json_t *cell, json_t *seen) {
  char *key = json_dumps(json_object_get(cell, "coordinate"), JSON_COMPACT | JSON_ENCODE_ANY);
  ck_assert_msg(json_object_get(seen, key) == NULL, "%s is drawn twice", key);
  json_object_set(seen, key, json_object_get(cell, "value"));
  free(key);
}

/* All values of a picture, sorted as text. */
static json_t *values_of_picture(json_t *picture) {
  json_t *seen = json_object();
  for (size_t panel = 0; panel_of(picture, panel) != NULL; panel++)
    for (size_t i = 0; cell_of(picture, panel, i) != NULL; i++)
      count_cell(cell_of(picture, panel, i), seen);
  return seen;
}

static json_t *table_of(const char *text) {
  tj_context *context = new_context(NULL);
  tj_program *program = new_program(context, text, NULL, 0);
  tj_blob blob;
  ck_assert_int_eq(tj_program_table(program, TJ_TABLE_VALUES, &blob), TJ_OK);
  json_t *table = json_loads(blob.data, 0, NULL);
  tj_blob_release(context, &blob);
  tj_program_destroy(program);
  tj_context_destroy(context);
  return table;
}

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **sorted_texts(json_t *values[], size_t count) {
  char **texts = calloc(count + 1, sizeof *texts);
  for (size_t i = 0; i < count; i++)
    texts[i] = json_dumps(values[i], JSON_COMPACT | JSON_ENCODE_ANY);
  qsort(texts, count, sizeof *texts, compare_texts);
  return texts;
}

static void expect_same_values(const char *text, json_t *picture, json_t *table) {
  json_t *seen = values_of_picture(picture), **drawn, **expected, *value;
  const char *key;
  size_t count = json_array_size(table), n = 0;
  ck_assert_msg(json_object_size(seen) == count, "%s: %zu cells for %zu coordinates", text, json_object_size(seen),
                count);
  drawn = calloc(count, sizeof(json_t *));
  expected = calloc(count, sizeof(json_t *));
  json_object_foreach(seen, key, value) drawn[n++] = value;
  for (size_t i = 0; i < count; i++)
    expected[i] = json_array_get(table, i);
  char **a = sorted_texts(drawn, count), **b = sorted_texts(expected, count);
  for (size_t i = 0; i < count; i++) {
    ck_assert_msg(strcmp(a[i], b[i]) == 0, "%s: %s drawn, not %s", text, a[i], b[i]);
    free(a[i]);
    free(b[i]);
  }
  free(a);
  free(b);
  free(drawn);
  free(expected);
  json_decref(seen);
}

START_TEST(every_coordinate_is_drawn_once_with_its_value) {
  json_t *picture = json_of(maps[_i], (tj_show_options){0}), *table = table_of(maps[_i]);
  expect_same_values(maps[_i], picture, table);
  json_decref(picture);
  json_decref(table);
}
END_TEST

/* The first submode is fastest. */
START_TEST(rows_run_colexicographically) {
  json_t *picture = json_of("((3,2),2):((10,1),100)", (tj_show_options){0});
  static const int64_t expected[] = {0, 10, 20, 1, 11, 21};
  for (size_t row = 0; row < 6; row++)
    ck_assert_int_eq(integer_of(cell_of(picture, 0, row * 2), "value"), expected[row]);
  json_decref(picture);
}
END_TEST

/* Rows and columns: mode 0 and 1 of a layout, the last two dimensions of a view. */
START_TEST(cells_stand_at_their_coordinates) {
  json_t *layout = json_of("(2,(2,3),2):(6,(3,1),100)", (tj_show_options){0});
  json_t *cell = cell_of(layout, 1, 1 * 6 + 4);
  ck_assert_int_eq(integer_of(cell, "row"), 1);
  ck_assert_int_eq(integer_of(cell, "column"), 4);
  ck_assert_int_eq(integer_of(cell, "value"), 6 + 2 * 1 + 100);
  ck_assert_str_eq(json_string_value(json_object_get(panel_of(layout, 1), "caption")), "(_,_,1)");
  ck_assert_str_eq(json_string_value(json_array_get(json_object_get(panel_of(layout, 1), "column_coordinates"), 4)),
                   "(0,2)");
  json_decref(layout);
  json_t *view = json_of("packed((2,3,4))", (tj_show_options){0});
  cell = cell_of(view, 1, 2 * 4 + 3);
  ck_assert_int_eq(integer_of(cell, "value"), 23);
  ck_assert_str_eq(json_string_value(json_object_get(panel_of(view, 1), "caption")), "(1,_,_)");
  json_decref(view);
  view = json_of("packed((2,3,1,2))", (tj_show_options){0});
  ck_assert_int_eq(integer_of(cell_of(view, 1, 0), "value"), 2);
  ck_assert_str_eq(json_string_value(json_object_get(panel_of(view, 1), "caption")), "(0,1,_,_)");
  json_decref(view);
}
END_TEST

/* --- owners --- */

START_TEST(threads_own_what_the_layout_says) {
  json_t *picture = json_of("((4,2),(2,2)):((2,8),(1,16))", (tj_show_options){.tile = {8, 4}});
  json_t *owner = json_array_get(json_object_get(cell_of(picture, 0, 3 * 4 + 2), "owners"), 0);
  ck_assert_int_eq(integer_of(owner, "thread"), 1 /* 1·2 + 1·1 + 1·16 = 19 is (3,2) of (8,4) */);
  ck_assert_int_eq(integer_of(owner, "value"), 3);
  json_decref(picture);
}
END_TEST

START_TEST(replicated_elements_have_all_their_owners) {
  json_t *picture = json_of("((4,2),2):((2,0),1)", (tj_show_options){.tile = {8, 2}});
  json_t *owners = json_object_get(cell_of(picture, 0, 2 * 2), "owners");
  ck_assert_uint_eq(json_array_size(owners), 2);
  ck_assert_int_eq(integer_of(json_array_get(owners, 0), "thread"), 1);
  ck_assert_int_eq(integer_of(json_array_get(owners, 1), "thread"), 5);
  ck_assert_uint_eq(json_array_size(json_object_get(cell_of(picture, 0, 1), "owners")), 0);
  json_decref(picture);
}
END_TEST

START_TEST(basis_strides_name_the_place_in_the_tile) {
  json_t *picture = json_of("(4,2):(1@1,1@0)", (tj_show_options){.tile = {2, 4}});
  json_t *owner = json_array_get(json_object_get(cell_of(picture, 0, 1 * 4 + 3), "owners"), 0);
  ck_assert_int_eq(integer_of(owner, "thread"), 3);
  ck_assert_int_eq(integer_of(owner, "value"), 1);
  json_decref(picture);
}
END_TEST

static const char distribution[] = "distribution(rs=[], hs=[[2,2],[2,4]], ps_major=[[1],[2]], ps_minor=[[0],[0]], "
                                   "ys_major=[1,2], ys_minor=[1,1])";

/* x0 = 2·warp + y0, x1 = 4·lane + y1, register 4·y0 + y1. */
START_TEST(distributions_show_warp_lane_and_register) {
  json_t *picture = json_of(distribution, (tj_show_options){0});
  for (size_t place = 0; place < 32; place++) {
    size_t x0 = place / 8, x1 = place % 8;
    json_t *owners = json_object_get(cell_of(picture, 0, place), "owners"), *owner = json_array_get(owners, 0);
    ck_assert_uint_eq(json_array_size(owners), 1);
    ck_assert_int_eq(integer_of(owner, "warp"), (int64_t)(x0 / 2));
    ck_assert_int_eq(integer_of(owner, "lane"), (int64_t)(x1 / 4));
    ck_assert_int_eq(integer_of(owner, "register"), (int64_t)(4 * (x0 % 2) + x1 % 4));
  }
  json_decref(picture);
}
END_TEST

/* --- forms --- */

static size_t count_of(const char *text, const char *word) {
  size_t count = 0;
  for (; (text = strstr(text, word)) != NULL; text++)
    count++;
  return count;
}

/* Every element that opens also closes: the SVG is well-formed, as far as tags go. */
static void expect_balanced(const char *svg) {
  static const char *const elements[][2] = {{"<svg ", "</svg>"},     {"<g>", "</g>"},
                                            {"<title>", "</title>"}, {"<style>", "</style>"},
                                            {"<defs>", "</defs>"},   {"<pattern ", "</pattern>"},
                                            {"<text", "</text>"}};
  for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
    ck_assert_msg(count_of(svg, elements[i][0]) == count_of(svg, elements[i][1]), "%s", elements[i][0]);
  ck_assert_uint_eq(count_of(svg, "<svg "), 1);
}

START_TEST(svg_has_a_cell_for_each_coordinate) {
  tj_context *context = new_context(NULL);
  tj_blob blob = picture_of(context, "Sw<3,0,3> o 0 o (8,8):(8,1)", (tj_show_options){.form = TJ_SHOW_SVG});
  expect_balanced(blob.data);
  ck_assert_uint_eq(count_of(blob.data, "<g>"), 64);
  ck_assert_uint_eq(count_of(blob.data, "Sw<"), 0);
  ck_assert_uint_eq(count_of(blob.data, "Sw&lt;3,0,3&gt; o 0 o (8,8):(8,1)"), 2);
  tj_blob_release(context, &blob);
  tj_context_destroy(context);
}
END_TEST

START_TEST(latex_has_a_cell_for_each_coordinate) {
  tj_context *context = new_context(NULL);
  tj_blob blob = picture_of(context, "transform(packed((3)), [pad(3,1,1)], [[0]], [[0]])",
                            (tj_show_options){.form = TJ_SHOW_LATEX});
  ck_assert_uint_eq(count_of(blob.data, "\n\\cell{"), 3);
  ck_assert_uint_eq(count_of(blob.data, "\n\\hatched{"), 2);
  ck_assert_uint_eq(count_of(blob.data, "pass_through"), 0);
  ck_assert_ptr_nonnull(strstr(blob.data, "\\end{document}"));
  tj_blob_release(context, &blob);
  tj_context_destroy(context);
}
END_TEST

/* Colours differ where the keys do, and not where they do not. */
START_TEST(colours_follow_their_key) {
  json_t *cycle = json_of("16:1", (tj_show_options){.colour = TJ_SHOW_COLOUR_CYCLE});
  json_t *none = json_of("16:1", (tj_show_options){.colour = TJ_SHOW_COLOUR_NONE});
  json_t *index = json_of("16:1", (tj_show_options){0});
  for (size_t i = 0; i < 16; i++) {
    ck_assert_str_eq(json_string_value(json_object_get(cell_of(none, 0, i), "color")), "#ffffff");
    for (size_t k = 0; k < 16; k++) {
      const char *a = json_string_value(json_object_get(cell_of(cycle, 0, i), "color"));
      const char *b = json_string_value(json_object_get(cell_of(cycle, 0, k), "color"));
      ck_assert_msg((strcmp(a, b) == 0) == (i % 8 == k % 8), "%zu %zu: %s %s", i, k, a, b);
      a = json_string_value(json_object_get(cell_of(index, 0, i), "color"));
      b = json_string_value(json_object_get(cell_of(index, 0, k), "color"));
      ck_assert_msg((strcmp(a, b) == 0) == (i == k), "%zu %zu: %s %s", i, k, a, b);
    }
  }
  json_decref(cycle);
  json_decref(none);
  json_decref(index);
}
END_TEST

/* --- what cannot be drawn --- */

static const struct {
  const char *text;
  tj_show_options options;
  unsigned code;
} failures[] = {
    {"3", {0}, 2024},
    {"let a = 3", {0}, 2022},
    {"param M in 1..9; (M,2):(2,1)", {0}, 2023},
    {"(256,257):(1,256)", {0}, 7005},
    {"(1073741824,4):(1,0)", {0}, 7005},
    {"packed((256,257))", {.form = TJ_SHOW_SVG}, 7005},
    {"param M in 1..9; packed((M,2))", {.form = TJ_SHOW_JSON}, 2023},
    {"(4,2):(1,4)", {.tile = {4, -1}}, 2012},
    {"(4,2):(1,4)", {.tile = {0, 1}}, 2012},
    {"(4,2):(1,4)", {.tile = {4, 1}}, 2014},
    {"(4,2):(1,-4)", {.tile = {4, 2}}, 2014},
    {"(4,2):(1@0,2@1)", {.tile = {4, 2}}, 2014},
    {"(4,2,2):(1,4,8)", {.tile = {4, 4}}, 2005},
    {"packed((4,2))", {.tile = {4, 2}}, 2005},
    {"Sw<1,0,1>", {.tile = {4, 2}}, 2005},
    {"(4,2):(1,4)", {.tile = {65537, 1}}, 7005},
    {"(4,2):(1,4)", {.colour = TJ_SHOW_COLOUR_THREAD}, 2005},
    {"(4,2):(1,4)", {.tile = {4, 2}, .colour = TJ_SHOW_COLOUR_INDEX}, 2005},
    {"(4,2):(1,4)", {.form = TJ_SHOW_FORM_COUNT}, 2005},
    {"(4,2):(1,4)", {.colour = TJ_SHOW_COLOUR_COUNT}, 2005},
};

START_TEST(what_cannot_be_drawn) {
  tj_context *context = new_context(NULL);
  tj_program *program = new_program(context, failures[_i].text, NULL, 0);
  tj_blob blob = {0};
  tj_status status = tj_program_show(program, &failures[_i].options, &blob);
  ck_assert_msg(status == TJ_ERROR_INPUT, "%s is drawn", failures[_i].text);
  ck_assert_ptr_null(blob.data);
  const tj_diagnostic *diagnostic = tj_context_diagnostic(context);
  ck_assert_uint_eq(diagnostic->code, failures[_i].code);
  ck_assert((diagnostic->code == 7005) == (strstr(diagnostic->note, "a picture has at most") != NULL));
  tj_program_destroy(program);
  tj_context_destroy(context);
}
END_TEST

/* As text, a view whose grid cannot be drawn still has its pipeline. */
START_TEST(pipelines_need_no_grid) {
  expect_text("param M in 1..9; packed((M,2), offset=5)", (tj_show_options){0},
              "packed((M,2),offset=5)\n"
              "the grid is left out: it depends on parameters\n"
              "\n"
              "coordinate  #1[M] #2[2]\n"
              "   stage 0  #1[M] #2[2]  unmerge(M,2)  -> #0[M*2]\n"
              "    offset  #0 in a buffer of M*2 elements, from element 5 on\n");
}
END_TEST

START_TEST(the_largest_picture_is_drawn) {
  static const tj_show_form forms[] = {TJ_SHOW_TEXT, TJ_SHOW_SVG, TJ_SHOW_LATEX, TJ_SHOW_JSON};
  tj_context *context = new_context(NULL);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    tj_blob blob = picture_of(context, "(256,256):(1,256)", (tj_show_options){.form = forms[i]});
    ck_assert_uint_gt(blob.size, 65536 * 5);
    tj_blob_release(context, &blob);
  }
  tj_context_destroy(context);
}
END_TEST

/* --- memory that runs out --- */

typedef struct {
  size_t left; /* allocations until the one that fails */
} scarce;

static void *allocate_scarcely(void *user, size_t size) {
  scarce *memory = user;
  return memory->left-- == 0 ? NULL : malloc(size);
}

static void release_scarcely(void *user, void *block) {
  (void)user;
  free(block);
}

/* Draws with the given number of allocations before one fails. */
static tj_status draw_scarcely(const char *text, tj_show_form form, size_t left) {
  scarce memory = {left};
  tj_allocator allocator = {allocate_scarcely, release_scarcely, &memory};
  tj_show_options options = {.form = form};
  tj_context *context = NULL;
  tj_program *program = NULL;
  tj_blob blob = {0};
  tj_status status = tj_context_create(&allocator, &context);
  if (status == TJ_OK)
    status = tj_program_create(context, "test", text, strlen(text), NULL, 0, &program);
  if (status == TJ_OK && (status = tj_program_show(program, &options, &blob)) == TJ_OK)
    tj_blob_release(context, &blob);
  tj_program_destroy(program);
  tj_context_destroy(context);
  return status;
}

/* Suggestions say the same of a question without anybody. */
START_TEST(banks_are_of_those_who_store_or_load) {
  tj_context *context = new_context(NULL);
  tj_lds_question question = {.lds = "(32,32):(32,1)", .target = "gfx942", .tile = {32, 32}};
  tj_blob blob;
  expect_code(context, tj_show_lds(context, &question, NULL, &blob), 2022, "nobody stores or loads");
  question.lds = NULL;
  expect_code(context, tj_suggest_lds_layouts(context, &question, &blob), 2022, "nobody stores or loads");
  tj_context_destroy(context);
}
END_TEST

START_TEST(every_allocation_may_fail) {
  static const char *const texts[] = {"(64,64):(64,1)", "Sw<3,0,3>", distribution, "packed((2,32,32))"};
  size_t failed = 0;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    for (tj_show_form form = 0; form < TJ_SHOW_FORM_COUNT; form++) {
      tj_status status;
      for (size_t left = 0; (status = draw_scarcely(texts[i], form, left)) != TJ_OK; left++, failed++)
        ck_assert_int_eq(status, TJ_ERROR_MEMORY);
    }
  }
  ck_assert_uint_ge(failed, 50);
}
END_TEST

int main(void) {
  enum { MAPS = sizeof maps / sizeof *maps, FAILURES = sizeof failures / sizeof *failures };
  Suite *suite = suite_create("show");
  TCase *tcase = tcase_create("show");
  tcase_set_timeout(tcase, 300);
  tcase_add_test(tcase, a_layout_as_text);
  tcase_add_test(tcase, wide_text_is_broken_into_blocks);
  tcase_add_test(tcase, what_is_not_valid_is_marked);
  tcase_add_test(tcase, a_swizzle_shows_its_bits);
  tcase_add_loop_test(tcase, every_coordinate_is_drawn_once_with_its_value, 0, MAPS);
  tcase_add_test(tcase, rows_run_colexicographically);
  tcase_add_test(tcase, cells_stand_at_their_coordinates);
  tcase_add_test(tcase, threads_own_what_the_layout_says);
  tcase_add_test(tcase, replicated_elements_have_all_their_owners);
  tcase_add_test(tcase, basis_strides_name_the_place_in_the_tile);
  tcase_add_test(tcase, distributions_show_warp_lane_and_register);
  tcase_add_test(tcase, svg_has_a_cell_for_each_coordinate);
  tcase_add_test(tcase, latex_has_a_cell_for_each_coordinate);
  tcase_add_test(tcase, colours_follow_their_key);
  tcase_add_loop_test(tcase, what_cannot_be_drawn, 0, FAILURES);
  tcase_add_test(tcase, pipelines_need_no_grid);
  tcase_add_test(tcase, the_largest_picture_is_drawn);
  tcase_add_test(tcase, banks_are_of_those_who_store_or_load);
  tcase_add_test(tcase, every_allocation_may_fail);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}

/* SPDX-License-Identifier: MIT */
/* Layout algebra: rows for what each operation does and refuses, and properties of random layouts by the oracle. */
#include "tests/unit/support/layout_support.h"

static void expect_layout(reader *self, tj_layout layout, const text_row *row) {
  expect_text(tj_layout_text(self->graph->job, layout), row->expected, row->guards);
}

#define LAYOUT(i) read_layout(self, row->args[i])
#define TUPLE(i) read_tuple(self, row->args[i])
#define OPTIONAL_TUPLE(i) (row->args[i] == NULL ? NULL : TUPLE(i))
#define TILER(i) read_tiler(self, row->args[i])
#define NUMBER(i) ((uint32_t)atoi(row->args[i]))
#define LAYOUT_ROW(name, value)                                                                                      \
  static void name(reader *self, const void *data) {                                                                 \
    const text_row *row = data;                                                                                      \
    tj_graph *graph = self->graph;                                                                                   \
    expect_layout(self, value, row);                                                                                 \
  }
#define TUPLE_ROW(name, value)                                                                                       \
  static void name(reader *self, const void *data) {                                                                 \
    const text_row *row = data;                                                                                      \
    tj_graph *graph = self->graph;                                                                                   \
    expect_text(tj_tuple_text(graph->job, value), row->expected, row->guards);                                       \
  }

/* <A;B> by mode, a layout, or a tuple of extents and underscores. */
static const tj_tiler *read_tiler(reader *self, const char *text) {
  const tj_tiler *modes[8];
  uint32_t count = 0;
  if (*text != '<')
    return strchr(text, ':') != NULL ? tj_tiler_of_layout(self->graph, read_layout(self, text))
                                     : tj_tiler_of_tuple(self->graph, read_tuple(self, text));
  while (*text != '>') {
    text++;
    modes[count++] = tj_tiler_of_layout(self->graph, read_layout_part(self, &text));
  }
  return tj_tiler_of_modes(self->graph, modes, count);
}

/* --- coalescing --- */

LAYOUT_ROW(coalesce_row, row->args[1] == NULL ? tj_layout_coalesce(graph, LAYOUT(0))
                                              : tj_layout_coalesce_by(graph, LAYOUT(0), TUPLE(1)))

START_TEST(coalescing) {
  static const text_row rows[] = {
      {"modes that continue", {"(2,(1,6)):(1,(6,2))"}, "12:1"},
      {"modes that do not", {"(2,3):(3,1)"}, "(2,3):(3,1)"},
      {"all ones", {"(1,(1,1)):(5,(6,7))"}, "1:0"},
      {"last extent 1 is dropped", {"(4,1):(1,7)"}, "4:1"},
      {"zeros continue zeros", {"(2,3):(0,0)"}, "6:0"},
      {"zero does not continue another stride", {"(2,3):(0,1)"}, "(2,3):(0,1)"},
      {"an integer", {"4:2"}, "4:2"},
      {"rank 0", {"():()"}, "1:0"},
      {"basis strides continue in their mode", {"(2,3):(1@0,2@0)"}, "6:1@0"},
      {"and not across modes", {"(2,3):(1@0,2@1)"}, "(2,3):(1@0,2@1)"},
      {"symbols that are known to continue", {"(M,N):(1,M)"}, "M*N:1"},
      {"symbols that are not", {"(M,N):(N,1)"}, "(M,N):(N,1)"},
      {"by mode", {"((2,4),(3,5)):((1,2),(5,1))", "(0,0)"}, "(8,(3,5)):(1,(5,1))"},
      {"by the first mode", {"((2,4),(3,1)):((1,2),(5,1))", "(0)"}, "(8,(3,1)):(1,(5,1))"},
      {"by a nested profile", {"((2,(1,4)),3):((1,(9,2)),8)", "((0,0),0)"}, "((2,4),3):((1,2),8)"},
      {"an integer layout by mode", {"4:2", "(0)"}, "(4):(2)"},
      {"a profile of too many modes", {"(2,3):(1,2)", "(0,0,0)"}, "TJ2028"},
  };
  RUN_TEXT_ROWS(rows, coalesce_row);
}
END_TEST

/* --- composition --- */

LAYOUT_ROW(compose_row, tj_layout_compose_tiler(graph, LAYOUT(0), TILER(1)))

START_TEST(composition) {
  static const text_row rows[] = {
      {"through an integer layout", {"20:2", "(5,4):(4,1)"}, "(5,4):(8,2)"},
      {"splits a mode", {"(10,2):(16,4)", "(5,4):(1,5)"}, "(5,(2,2)):(16,(80,4))"},
      {"skips a mode", {"(4,8):(100,1)", "4:4"}, "4:1"},
      {"skips part of a mode", {"(4,8):(100,1)", "4:2"}, "(2,2):(200,1)"},
      {"ends inside a mode without dividing it", {"(8,2):(1,100)", "3:3"}, "3:3"},
      {"stride 0", {"(4,8):(100,1)", "(3,2):(0,1)"}, "(3,2):(0,100)"},
      {"extent 1", {"(4,8):(100,1)", "1:1"}, "1:1"},
      {"the last mode goes on", {"(4,2):(1,100)", "6:4"}, "6:100"},
      {"also where its extent is 1", {"(4,1):(1,100)", "3:4"}, "3:100"},
      {"keeps the right-hand structure", {"16:1", "((2,(2)),4):((1,(2)),4)"}, "((2,(2)),4):((1,(2)),4)"},
      {"negative strides through one mode", {"20:2", "4:-1"}, "4:-2"},
      {"basis strides on the right choose modes", {"(4,8):(100,1)", "(2,3):(1@1,1@0)"}, "(2,3):(1,100)"},
      {"basis strides inside modes", {"((4,2),8):((1,4),100)", "(8,2):(1@0,4@1)"}, "(8,2):(1,400)"},
      {"deep basis strides", {"((4,2),8):((1,7),100)", "(2,2):(1@1@0,1@1)"}, "(2,2):(7,100)"},
      {"basis strides on the left", {"(4,8):(1@0,1@1)", "(2,4):(1,8)"}, "(2,4):(1@0,2@1)"},
      {"basis strides on both sides", {"(4,8):(1@1,1@0)", "(2,3):(1@1,2@0)"}, "(2,3):(1@0,2@1)"},
      {"by mode", {"(4,8):(8,1)", "<(2):(1);4:2>"}, "((2),4):((8),2)"},
      {"by extents", {"(4,8):(8,1)", "(2,4)"}, "(2,4):(8,1)"},
      {"a tiler of fewer modes drops the rest", {"(4,8):(8,1)", "(2)"}, "(2):(8)"},
      {"underscore keeps a mode", {"(4,(2,4)):(8,(1,2))", "(_,4)"}, "(4,4):(8,1)"},
      {"symbols, by extents", {"(M,N):(N,1)", "(64,64)"}, "(64,64):(N,1)"},
      {"a symbolic stride", {"N:2", "4:M"}, "4:M*2"},
      {"a symbol that 64 divides", {"(K,8):(8,1)", "128:64"}, "TJ2015"},
      {"skips a symbolic mode", {"(M,N):(1,K)", "N:M"}, "N:K"},
      {"takes all of a symbolic mode", {"(K,N):(1,9999)", "K:1"}, "K:1"},
      {"stride and shape do not divide each other", {"(8,4):(4,1)", "4:3"}, "TJ2003"},
      {"stride above the shape", {"(8,4):(4,1)", "2:12"}, "TJ2003"},
      {"also for extent 1, as in CuTe", {"(8,4):(4,1)", "1:12"}, "TJ2003"},
      {"(5,3):(7,1) o 7:1", {"(5,3):(7,1)", "7:1"}, "TJ2004"},
      {"shape at a stride", {"(8,4):(4,1)", "6:2"}, "TJ2004"},
      {"modes that carry together", {"(4,4):(1,100)", "(4,4):(1,1)"}, "TJ2029"},
      {"modes that just do not", {"(4,4):(1,100)", "(2,3):(1,1)"}, "(2,3):(1,1)"},
      {"negative strides through several modes", {"(4,4):(1,100)", "4:-1"}, "4:-1"},
      {"negative strides that go on", {"(4,4):(1,100)", "(2,8):(-4,-1)"}, "(2,(4,2)):(-100,(-1,-100))"},
      {"all strides negative", {"(4,4):(1,100)", "(2,4):(-4,-1)"}, "(2,4):(-100,-1)"},
      {"strides of both signs", {"(4,4):(1,100)", "(2,4):(4,-1)"}, "TJ2003"},
      {"strides of both signs, each in a part of its own", {"(4,8):(100,1)", "(2,3):(-1@1,1@0)"}, "(2,3):(-1,100)"},
      {"needs a fact", {"(M,4):(4,1)", "128:1"}, "TJ2015"},
      {"too many modes", {"(4,8):(8,1)", "(2,3):(1@0,1@2)"}, "TJ2028"},
      {"too many tiles", {"(4,8):(8,1)", "(2,2,2)"}, "TJ2028"},
      {"empty tile", {"(4,8):(8,1)", "(0,2)"}, "TJ2012"},
  };
  RUN_TEXT_ROWS(rows, compose_row);
}
END_TEST

typedef struct {
  const char *a, *b, *message;
} message_row;

static void compose_to_fail(reader *self, const void *data) {
  const message_row *row = data;
  tj_layout_compose(self->graph, read_layout(self, row->a), read_layout(self, row->b));
}

START_TEST(composition_messages) {
  static const message_row rows[] = {
      {"(8,4):(4,1)", "4:3", "composition: stride 3 of the right-hand mode does not divide the left-hand shape 8"},
      {"(8,4):(4,1)", "2:12",
       "composition: stride 12 of the right-hand mode is not a multiple of the left-hand shape 8"},
      {"(5,3):(7,1)", "7:1", "composition: shape 7 of the right-hand mode is not divisible by the left-hand shape 5"},
      {"(8,4):(4,1)", "6:2",
       "composition: shape 6 of the right-hand mode is not divisible by 4, the left-hand shape 8 at stride 2"},
      {"(4,4):(1,100)", "(4,4):(1,1)", "composition: right-hand modes reach 6 in a left-hand shape of 4"},
      {"(M,4):(4,1)", "4:64", "composition: needs M divisible by 64; M is in 1..65536"},
      {"(64,4):(4,1)", "M:1", "composition: needs M divisible by 64; M is in 1..65536"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    row_call call = {compose_to_fail, &rows[i]};
    ck_assert_int_ne(tj_job_run(&job, run_row_body, &call), TJ_OK);
    ck_assert_str_eq(job.problem.message, rows[i].message);
    tj_job_destroy(&job);
  }
}
END_TEST

/* --- complement and inverses --- */

LAYOUT_ROW(complement_row, tj_layout_complement(graph, LAYOUT(0), OPTIONAL_TUPLE(1)))
LAYOUT_ROW(right_inverse_row, tj_layout_right_inverse(graph, LAYOUT(0)))
LAYOUT_ROW(left_inverse_row, tj_layout_left_inverse(graph, LAYOUT(0)))
LAYOUT_ROW(nullspace_row, tj_layout_nullspace(graph, LAYOUT(0)))
LAYOUT_ROW(distribute_row, tj_domain_distribute(graph, TUPLE(0), TUPLE(1)))

START_TEST(complements) {
  static const text_row rows[] = {
      {"what follows", {"4:1", "24"}, "6:4"},
      {"what lies between", {"6:4", "24"}, "4:1"},
      {"both", {"(2,2):(1,6)", "24"}, "(3,2):(2,12)"},
      {"order of modes does not matter", {"(2,2):(6,1)", "24"}, "(3,2):(2,12)"},
      {"of a layout of stride 0", {"4:0", "24"}, "24:1"},
      {"of its own cosize", {"(2,2):(1,6)"}, "3:2"},
      {"nothing left", {"24:1", "24"}, "1:0"},
      {"rounds up", {"4:1", "22"}, "6:4"},
      {"of a shape", {"4:1", "(8,3)"}, "6:4"},
      {"symbols", {"64:1", "K"}, "K/64:64"},
      {"a symbolic stride", {"4:K", "256"}, "K:1"},
      {"overlapping modes", {"(4,4):(1,2)", "24"}, "TJ2030"},
      {"negative stride", {"4:-1", "24"}, "TJ2030"},
      {"basis strides", {"4:1@0", "24"}, "TJ2005"},
      {"unknown order", {"(2,2):(M,N)", "24"}, "TJ2015"},
      {"of nothing", {"4:1", "0"}, "TJ2012"},
      {"of a shape with an extent 0", {"4:1", "(8,0)"}, "TJ2012"},
  };
  RUN_TEXT_ROWS(rows, complement_row);
}
END_TEST

START_TEST(inverses) {
  static const text_row right[] = {
      {"row-major", {"(4,8):(8,1)"}, "(8,4):(4,1)"},
      {"what is contiguous from 0", {"(4,2):(1,5)"}, "4:1"},
      {"nothing", {"(4,2):(2,16)"}, "1:0"},
      {"symbols", {"(M,N):(N,1)"}, "(N,M):(M,1)"},
      {"basis strides", {"(4,2):(1@0,1@1)"}, "TJ2005"},
  };
  static const text_row left[] = {
      {"row-major", {"(4,8):(8,1)"}, "(8,4):(4,1)"},
      {"with holes", {"(4,2):(1,5)"}, "(5,2):(1,4)"},
      {"strides that do not divide", {"(2,2):(2,5)"}, "TJ2030"},
      {"with even holes", {"(4,2):(1,8)"}, "(8,2):(1,4)"},
      {"modes of stride 0", {"(3,4):(0,2)"}, "(2,4):(0,3)"},
      {"symbols", {"(M,N):(N,1)"}, "(N,M):(M,1)"},
      {"symbols of unknown order", {"(M,N):(M,N)"}, "TJ2015"},
      {"a constant stride", {"(M,8):(8,1)"}, "(8,M):(M,1)"},
      {"negative stride", {"4:-1"}, "TJ2030"},
  };
  static const text_row null[] = {
      {"stride 0", {"(3,4,2):(1,0,0)"}, "(4,2):(3,12)"},
      {"one mode", {"((3,4),2):((1,0),5)"}, "4:3"},
      {"none", {"(3,4):(1,3)"}, "1:0"},
  };
  static const text_row distribute[] = {
      {"over modes", {"(15,14)", "6"}, "(3,2):(1,15)"},
      {"not all found", {"(15,14)", "4"}, "2:15"},
      {"none left for later modes", {"(4,4)", "4"}, "4:1"},
      {"symbols", {"(M,4)", "4"}, "TJ2020"},
      {"extent 0", {"(0,4)", "4"}, "TJ2012"},
      {"size 0", {"(2,4)", "0"}, "TJ2012"},
  };
  RUN_TEXT_ROWS(right, right_inverse_row);
  RUN_TEXT_ROWS(left, left_inverse_row);
  RUN_TEXT_ROWS(null, nullspace_row);
  RUN_TEXT_ROWS(distribute, distribute_row);
}
END_TEST

/* --- tiling --- */

LAYOUT_ROW(logical_divide_row, tj_layout_divide(graph, LAYOUT(0), TILER(1), TJ_TILED_LOGICAL))
LAYOUT_ROW(zipped_divide_row, tj_layout_divide(graph, LAYOUT(0), TILER(1), TJ_TILED_ZIPPED))
LAYOUT_ROW(flat_divide_row, tj_layout_divide(graph, LAYOUT(0), TILER(1), TJ_TILED_FLAT))
LAYOUT_ROW(flat_product_row, tj_layout_multiply(graph, LAYOUT(0), TILER(1), TJ_TILED_FLAT))
LAYOUT_ROW(tile_to_shape_row, tj_tile_to_shape(graph, LAYOUT(0), TUPLE(1), OPTIONAL_TUPLE(2)))

START_TEST(divides) {
  static const text_row logical[] = {
      {"by a layout", {"(4,2,3):(2,1,8)", "4:2"}, "((2,2),(2,3)):((4,1),(2,8))"},
      {"by mode", {"(9,(4,8)):(59,(13,1))", "<3:3;(2,4):(1,8)>"}, "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))"},
      {"modes that a tile does not divide", {"(5,2):(1,100)", "2:1"}, "(2,(3,2)):(1,(2,100))"},
      {"symbols by extents", {"(M,N):(N,1)", "(64,8)"}, "((64,(M + 63)/64),(8,(N + 7)/8)):((N,64*N),(1,8))"},
      {"symbols that extents divide", {"K:1", "64"}, "(64,K/64):(1,64)"},
      {"a tile that may not fit", {"(M,N):(N,1)", "128:1"}, "TJ2015"},
      {"a tile that fits", {"(K,N):(N,1)", "64:1"}, "(64,(K/64,N)):(N,(64*N,1))"},
      {"a tile that carries", {"(6,2):(1,10)", "(4,2):(1,5)"}, "TJ2029"},
      {"a tile across a mode", {"(6,2):(1,100)", "8:1"}, "TJ2004"},
      {"underscore", {"(4,6):(6,1)", "(_,2)"}, "(4,(2,3)):(6,(1,2))"},
      {"too many modes", {"(4,6):(6,1)", "(2,2,2)"}, "TJ2028"},
  };
  static const text_row zipped[] = {
      {"gathers tiles and rests", {"(4,6,5):(30,5,1)", "(2,3)"}, "((2,3),(2,2,5)):((30,5),(60,15,1))"},
      {"nested tilers", {"((4,6),5):((1,4),24)", "((2,3),5)"}, "(((2,3),5),((2,2),1)):(((1,4),24),((2,12),0))"},
      {"underscore has no tile", {"(4,6):(6,1)", "(_,2)"}, "TJ2028"},
  };
  static const text_row flat[] = {
      {"all modes side by side", {"(4,6,5):(30,5,1)", "(2,3)"}, "(2,3,2,2,5):(30,5,60,15,1)"},
  };
  RUN_TEXT_ROWS(logical, logical_divide_row);
  RUN_TEXT_ROWS(zipped, zipped_divide_row);
  RUN_TEXT_ROWS(flat, flat_divide_row);
}
END_TEST

START_TEST(products) {
  static const text_row flat[] = {
      {"all modes side by side", {"(2,5):(5,1)", "(3,4)"}, "(2,5,3,4):(5,1,1,5)"},
  };
  static const text_row to_shape[] = {
      {"repeats", {"(2,2):(1,2)", "(4,6)"}, "((2,2),(2,3)):((1,4),(2,8))"},
      {"in another order", {"(2,2):(1,2)", "(4,6)", "(1,0)"}, "((2,2),(2,3)):((1,12),(2,4))"},
      {"symbols", {"(8,8):(8,1)", "(K,8)"}, "((8,K/8),(8,1)):((8,64),(1,0))"},
      {"does not divide", {"(2,4):(1,2)", "(4,6)"}, "TJ2031"},
      {"is not known to divide", {"(2,4):(1,2)", "(4,M)"}, "TJ2015"},
      {"ranks", {"(2,4,1):(1,2,0)", "(4,4)"}, "TJ2028"},
  };
  RUN_TEXT_ROWS(flat, flat_product_row);
  RUN_TEXT_ROWS(to_shape, tile_to_shape_row);
}
END_TEST

static void local_tile_row(reader *self, const void *data) {
  const text_row *row = data;
  const tj_tuple *offset;
  tj_layout tile = tj_local_tile(self->graph, LAYOUT(0), TILER(1), TUPLE(2), &offset);
  tj_text text = tj_text_begin(self->graph->job);
  tj_layout_print(&text, tile);
  tj_text_format(&text, " + %s", tj_tuple_text(self->graph->job, offset));
  expect_text(text.data, row->expected, row->guards);
}

static void local_partition_row(reader *self, const void *data) {
  const text_row *row = data;
  const tj_tuple *offset;
  tj_layout part = tj_local_partition(self->graph, LAYOUT(0), LAYOUT(1), read_node(self, row->args[2]), &offset);
  tj_text text = tj_text_begin(self->graph->job);
  tj_layout_print(&text, part);
  tj_text_format(&text, " + %s", tj_tuple_text(self->graph->job, offset));
  expect_text(text.data, row->expected, row->guards);
}

START_TEST(tiles) {
  static const text_row tile_rows[] = {
      {"at a coordinate", {"(8,12):(12,1)", "(4,3)", "(1,2)"}, "(4,3):(12,1) + 54"},
      {"a whole row of tiles", {"(8,12):(12,1)", "(4,3)", "(1,_)"}, "(4,3,4):(12,1,3) + 48"},
      {"missing coordinates are underscores", {"(8,12):(12,1)", "(4,3)", "(1)"}, "(4,3,4):(12,1,3) + 48"},
      {"at an index", {"(8,12):(12,1)", "(4,3)", "3"}, "(4,3):(12,1) + 51"},
      {"symbols", {"(K,12):(12,1)", "(64,3)", "(i,2)"}, "(64,3):(12,1) + i*768 + 6"},
  };
  static const text_row partition_rows[] = {
      {"column-major threads", {"(8,12):(12,1)", "(2,4):(1,2)", "3"}, "(4,3):(24,4) + 13"},
      {"row-major threads", {"(8,12):(12,1)", "(2,4):(4,1)", "5"}, "(4,3):(24,4) + 13"},
      {"one mode", {"24:1", "(4):(1)", "i"}, "((6)):((4)) + i%4"},
  };
  RUN_TEXT_ROWS(tile_rows, local_tile_row);
  RUN_TEXT_ROWS(partition_rows, local_partition_row);
}
END_TEST

/* --- modes, orders, casts --- */

LAYOUT_ROW(take_row, tj_layout_take(graph, LAYOUT(0), NUMBER(1), NUMBER(2)))
LAYOUT_ROW(group_row, tj_layout_group(graph, LAYOUT(0), NUMBER(1), NUMBER(2)))
LAYOUT_ROW(select_row, tj_layout_select(graph, LAYOUT(0), (const uint32_t[]){NUMBER(1), NUMBER(2)}, 2))
LAYOUT_ROW(append_row, tj_layout_append(graph, LAYOUT(0), LAYOUT(1), NUMBER(2)))
LAYOUT_ROW(prepend_row, tj_layout_prepend(graph, LAYOUT(0), LAYOUT(1), NUMBER(2)))
LAYOUT_ROW(replace_row, tj_layout_replace(graph, LAYOUT(0), NUMBER(1), LAYOUT(2)))
LAYOUT_ROW(dice_row, tj_layout_dice(graph, TUPLE(0), LAYOUT(1)))
LAYOUT_ROW(unflatten_row, tj_layout_unflatten(graph, LAYOUT(0), TUPLE(1)))

START_TEST(modes) {
  static const text_row take_rows[] = {
      {"a range", {"(2,3,4):(1,2,6)", "1", "3"}, "(3,4):(2,6)"},
      {"one stays in a tuple", {"(2,3,4):(1,2,6)", "1", "2"}, "(3):(2)"},
      {"beyond the end", {"(2,3,4):(1,2,6)", "1", "4"}, "TJ2028"},
  };
  static const text_row group_rows[] = {
      {"a range", {"(2,3,4,5):(1,2,6,24)", "1", "3"}, "(2,(3,4),5):(1,(2,6),24)"},
      {"nothing", {"(2,3,4):(1,2,6)", "1", "1"}, "(2,3,4):(1,2,6)"},
      {"reversed", {"(2,3,4):(1,2,6)", "2", "1"}, "TJ2028"},
  };
  static const text_row select_rows[] = {
      {"any order", {"(2,3,4):(1,2,6)", "2", "0"}, "(4,2):(6,1)"},
      {"outside", {"(2,3,4):(1,2,6)", "0", "3"}, "TJ2028"},
  };
  static const text_row append_rows[] = {
      {"one", {"(2,3):(1,2)", "5:7", "0"}, "(2,3,5):(1,2,7)"},
      {"to a rank", {"2:1", "1:0", "3"}, "(2,1,1):(1,0,0)"},
      {"enough already", {"2:1", "1:0", "1"}, "2:1"},
      {"too many already", {"(2,3):(1,2)", "1:0", "1"}, "TJ2028"},
  };
  static const text_row prepend_rows[] = {
      {"one", {"(2,3):(1,2)", "5:7", "0"}, "(5,2,3):(7,1,2)"},
      {"to a rank", {"2:1", "1:0", "3"}, "(1,1,2):(0,0,1)"},
  };
  static const text_row replace_rows[] = {
      {"a mode", {"(2,3,4):(1,2,6)", "1", "(5,6):(7,8)"}, "(2,(5,6),4):(1,(7,8),6)"},
      {"outside", {"(2,3):(1,2)", "2", "5:1"}, "TJ2028"},
  };
  static const text_row dice_rows[] = {
      {"integers stay", {"(1,_,(2,_))", "(2,3,(4,5)):(1,2,(6,24))"}, "(2,4):(1,6)"},
      {"structure", {"(1,_)", "(2,3,4):(1,2,6)"}, "TJ2027"},
  };
  static const text_row unflatten_rows[] = {
      {"to a profile", {"(2,3,4):(1,2,6)", "((0,0),0)"}, "((2,3),4):((1,2),6)"},
      {"leaves", {"(2,3,4):(1,2,6)", "(0,0)"}, "TJ2011"},
  };
  RUN_TEXT_ROWS(take_rows, take_row);
  RUN_TEXT_ROWS(group_rows, group_row);
  RUN_TEXT_ROWS(select_rows, select_row);
  RUN_TEXT_ROWS(append_rows, append_row);
  RUN_TEXT_ROWS(prepend_rows, prepend_row);
  RUN_TEXT_ROWS(replace_rows, replace_row);
  RUN_TEXT_ROWS(dice_rows, dice_row);
  RUN_TEXT_ROWS(unflatten_rows, unflatten_row);
}
END_TEST

LAYOUT_ROW(ordered_row, tj_layout_ordered(graph, TUPLE(0), TUPLE(1)))
LAYOUT_ROW(like_row, tj_layout_like(graph, LAYOUT(0)))
TUPLE_ROW(row_major_row, tj_compact_row_major(graph, TUPLE(0)))

START_TEST(orders) {
  static const text_row ordered_rows[] = {
      {"by rank", {"(2,2,2,2)", "(0,2,3,1)"}, "(2,2,2,2):(1,4,8,2)"},
      {"of nested modes", {"((2,3),4)", "(1,0)"}, "((2,3),4):((4,8),1)"},
      {"symbols", {"(M,N)", "(1,0)"}, "(M,N):(N,1)"},
      {"structure", {"(2,3)", "(0,(1,2))"}, "TJ2011"},
      {"symbolic order", {"(2,3)", "(0,M)"}, "TJ2020"},
  };
  static const text_row like_rows[] = {
      {"compact in the same order", {"(2,3,4):(40,1,10)"}, "(2,3,4):(12,1,3)"},
      {"stride 0 stays", {"(2,2,2,2):(0,2,4,1)"}, "(2,2,2,2):(0,2,4,1)"},
  };
  static const text_row row_major_rows[] = {
      {"last mode fastest", {"(2,(3,1),4)"}, "(12,(4,0),1)"},
      {"symbols", {"(M,N)"}, "(N,1)"},
  };
  RUN_TEXT_ROWS(ordered_rows, ordered_row);
  RUN_TEXT_ROWS(like_rows, like_row);
  RUN_TEXT_ROWS(row_major_rows, row_major_row);
}
END_TEST

LAYOUT_ROW(upcast_row, tj_layout_upcast(graph, LAYOUT(0), NUMBER(1)))
LAYOUT_ROW(downcast_row, tj_layout_downcast(graph, LAYOUT(0), NUMBER(1)))
LAYOUT_ROW(recast_row, tj_layout_recast(graph, LAYOUT(0), NUMBER(1), NUMBER(2)))

START_TEST(casts) {
  static const text_row up[] = {
      {"contiguous", {"(16,8):(8,1)", "2"}, "(16,4):(4,1)"},
      {"a stride below the width", {"(4,4):(2,8)", "4"}, "(2,4):(1,2)"},
      {"negative", {"(8,4):(-1,8)", "4"}, "(2,4):(-1,2)"},
      {"stride 0", {"(8,4):(1,0)", "4"}, "(2,4):(1,0)"},
      {"symbolic stride", {"(8,4):(1,K)", "4"}, "(2,4):(1,K/4)"},
      {"does not divide", {"(8,4):(1,6)", "4"}, "TJ2031"},
      {"is not known to divide", {"(8,4):(1,M)", "4"}, "TJ2015"},
      {"by 0", {"8:1", "0"}, "TJ2012"},
  };
  static const text_row down[] = {
      {"contiguous", {"(16,4):(4,1)", "2"}, "(16,8):(8,1)"},
      {"nothing is contiguous", {"(4,4):(2,8)", "2"}, "TJ2031"},
  };
  static const text_row re[] = {
      {"wider", {"(16,8):(8,1)", "16", "32"}, "(16,4):(4,1)"},
      {"narrower", {"(16,4):(4,1)", "32", "16"}, "(16,8):(8,1)"},
      {"the same", {"(4,4):(2,8)", "16", "16"}, "(4,4):(2,8)"},
      {"neither", {"(4,6):(6,1)", "16", "24"}, "(4,4):(4,1)"},
  };
  RUN_TEXT_ROWS(up, upcast_row);
  RUN_TEXT_ROWS(down, downcast_row);
  RUN_TEXT_ROWS(re, recast_row);
}
END_TEST

TUPLE_ROW(ceil_div_row, tj_tuple_ceil_div(graph, TUPLE(0), TUPLE(1)))
TUPLE_ROW(shape_div_row, tj_shape_div(graph, TUPLE(0), TUPLE(1)))
TUPLE_ROW(round_up_row, tj_tuple_round_up(graph, TUPLE(0), TUPLE(1)))
TUPLE_ROW(gcd_row, tj_tuple_constant(graph, tj_tuple_gcd(graph, TUPLE(0), TUPLE(1))))

START_TEST(division_of_shapes) {
  static const text_row ceil_rows[] = {
      {"integers", {"7", "2"}, "4"},
      {"by mode, missing modes are 1", {"(7,9)", "(2)"}, "(4,9)"},
      {"through", {"(4,6,5)", "8"}, "(1,3,5)"},
      {"by the size of a tuple", {"24", "(2,3)"}, "4"},
      {"symbols", {"M", "64"}, "(M + 63)/64"},
      {"through symbols", {"(M,K)", "64"}, "((M + 63)/64,(K - 1)/(63/M + 1) + 1)"},
      {"too many modes", {"(7)", "(2,3)"}, "TJ2011"},
      {"by 0", {"7", "0"}, "TJ2012"},
      {"by the least integer", {"7", "-9223372036854775808"}, "TJ2012"},
      {"by what may be 0", {"7", "i"}, "TJ2015"},
  };
  static const text_row shape_rows[] = {
      {"through", {"(4,5,6)", "40"}, "(1,1,3)"}, {"does not divide", {"6", "4"}, "TJ2031"},
      {"ranks", {"(4,6)", "(2)"}, "TJ2011"},     {"symbol", {"K", "16"}, "K/16"},
      {"unknown", {"M", "16"}, "TJ2015"},        {"by 0", {"6", "0"}, "TJ2012"},
  };
  static const text_row round_rows[] = {
      {"integers", {"7", "4"}, "8"},
      {"by mode", {"(7,9)", "(4,2)"}, "(8,10)"},
      {"symbols", {"K", "64"}, "K/64*64"},
      {"structure", {"(7,9)", "4"}, "TJ2011"},
      {"by a negative integer", {"7", "-4"}, "TJ2012"},
  };
  static const text_row gcd_rows[] = {
      {"integers", {"12", "18"}, "6"},
      {"tuples", {"(12,(18,30))", "9"}, "3"},
      {"zero", {"0", "5"}, "5"},
      {"negative", {"-12", "-18"}, "6"},
      {"least integer", {"-9223372036854775808", "0"}, "TJ2010"},
      {"symbols", {"M", "4"}, "TJ2020"},
  };
  RUN_TEXT_ROWS(ceil_rows, ceil_div_row);
  RUN_TEXT_ROWS(shape_rows, shape_div_row);
  RUN_TEXT_ROWS(round_rows, round_up_row);
  RUN_TEXT_ROWS(gcd_rows, gcd_row);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      coalescing, composition, composition_messages, complements, inverses, divides, products, tiles, modes,
      orders,     casts,       division_of_shapes};
  return run_suite(suite_of("algebra", tests, sizeof tests / sizeof *tests));
}

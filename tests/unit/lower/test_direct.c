/* SPDX-License-Identifier: MIT */
/* Tiles that go from memory straight into LDS: which mappings may, their steps against the copy's definition, and
 * machine code on simulated GPUs against the same. */
#include "lower/lds/direct.h"

#include "frontend/sema/sema.h"
#include "frontend/text/parser.h"
#include "ir/value/value.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/mapping/mapped.h"
#include "lower/plan/plan.h"
#include "tests/unit/support/gpu_support.h"
#include "tests/unit/support/kernel_interpreter.h"

static const tj_program_values *read_program(tj_graph *graph, const char *text) {
  graph->job->source = tj_source_of("test", text, strlen(text));
  return tj_evaluate(graph, tj_parse(graph->job), NULL, 0);
}

/* --- obstacles --- */

#define SIDE "load=((16,4),(4,4)):((4@1,1@0),(1@1,4@0))"

static const struct {
  const char *what, *mapping;
  uint32_t lanes, vector;
  const char *obstacle; /* what the reason says; NULL: there is none */
} places[] = {
    {"rows one after the other", "mapping(" SIDE ", lds=(16,64):(64,1), direct=1)", 64, 4, NULL},
    {"the same one by one", "mapping(load=(64,16):(1@1,1@0), lds=(16,64):(64,1), direct=1)", 64, 1, NULL},
    {"gaps within a wave's run", "mapping(" SIDE ", lds=(16,64):(68,1), direct=1)", 64, 4,
     "slot 0 of work-items 15 and 16 of a wave is 8 elements apart in LDS, not 4"},
    {"gaps between waves' runs", "mapping(" SIDE ", lds=((4,4),64):((64,272),1), direct=1)", 64, 4, NULL},
    {"the same gaps, shorter waves", "mapping(" SIDE ", lds=(16,64):(68,1), direct=1)", 16, 4, NULL},
    {"columns one after the other", "mapping(" SIDE ", lds=(16,64):(1,16), direct=1)", 64, 4,
     "the 4 elements from slot 0 of load on are no aligned neighbours in LDS"},
    {"vectors that begin anywhere", "mapping(" SIDE ", lds=coord_tensor(2,(16,64):(64,1)), direct=1)", 64, 4,
     "lds begins beyond 0"},
    {"lanes along rows", "mapping(load=((4,16),(4,4)):((1@0,4@1),(1@1,4@0)), lds=(16,64):(64,1), direct=1)", 64, 4,
     "slot 0 of work-items 0 and 1 of a wave is 64 elements apart in LDS, not 4"},
    {"vectors that change places", "mapping(" SIDE ", lds=Sw<4,2,4> o 0 o (16,64):(64,1), direct=1)", 64, 4, NULL},
    {"elements that change places", "mapping(" SIDE ", lds=Sw<4,1,5> o 0 o (16,64):(64,1), direct=1)", 64, 4,
     "the swizzle of lds parts the 4 elements that a work-item loads at a time"},
    {"gaps that change places", "mapping(" SIDE ", lds=Sw<4,2,4> o 0 o (16,64):(80,1), direct=1)", 64, 4,
     "lds has gaps, which its swizzle moves among the elements"},
    {"units that are not whole",
     "mapping(tile=(4,12), load=((3,4),4):((4@1,1@0),1@1), lds=Sw<3,2,3> o 0 o "
     "(4,12):(12,1), direct=1)",
     64, 4, "lds has gaps, which its swizzle moves among the elements"},
    {"passes", "mapping(load=((16,4),(4,8)):((4@1,1@0),(1@1,4@0)), lds=(32,32):(32,1), passes=2, direct=1)", 64, 4,
     "slot 0 of work-items 7 and 8 of a wave is -28 elements apart in LDS, not 4"},
    {"passes of whole waves",
     "mapping(tile=(16,128), load=((16,4),(4,4,2)):((4@1,1@0),(1@1,4@0,64@1)), lds=(16,64):(64,1), passes=2, "
     "direct=1)",
     64, 4, NULL},
    {"the index of the tile", "mapping(" SIDE ", lds=1024:1, direct=1)", 64, 4,
     "lds has not a mode for each of the tile's"},
    {"modes that are longer than the tile's", "mapping(" SIDE ", lds=(17,64):(64,1), direct=1)", 64, 4, NULL},
    {"rows that are longer", "mapping(" SIDE ", lds=(16,68):(68,1), direct=1)", 64, 4,
     "slot 0 of work-items 15 and 16 of a wave is 8 elements apart in LDS, not 4"},
    {"few slots", "mapping(load=(64,2):(2@0,1@0), lds=(128,):(1,), direct=1)", 64, 4,
     "the 2 slots of load are not loaded 4 at a time"},
    {"some lanes have nothing",
     "mapping(tile=(9,8), load=((2,5),(4,2)):((4@1,1@0),(1@1,5@0)), overlap=(3,0), lds=(9,8):(8,1), direct=1)", 64, 4,
     NULL},
};

static void find_obstacle(tj_job *job, void *data) {
  size_t row = *(const size_t *)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_mapping *mapping = read_program(graph, places[row].mapping)->value->mapping;
  const tj_direct_form form = {places[row].lanes, tj_mapping_work_items(graph, &mapping->load), places[row].vector};
  const char *obstacle = tj_direct_obstacle(graph, mapping, &form), *expected = places[row].obstacle;
  bool is_same = obstacle == NULL || expected == NULL ? obstacle == expected : strcmp(obstacle, expected) == 0;
  ck_assert_msg(is_same, "%s: %s", places[row].what, obstacle != NULL ? obstacle : "no obstacle");
}

START_TEST(places_of_a_wave_lie_side_by_side) {
  for (size_t row = 0; row < sizeof places / sizeof *places; row++) {
    tj_job job;
    tj_job_init(&job, NULL);
    expect_success(&job, find_obstacle, &row);
    tj_job_destroy(&job);
  }
}
END_TEST

/* --- kernels --- */

#define LONG                                                                                                         \
  "tile=(64,1024), load=((16,16),(4,4,16)):((4@1,1@0),(1@1,16@0,64@1)), "                                            \
  "store=((16,16),(4,4,16)):((4@0,4@1),(1@0,1@1,64@1)), lds=Sw<4,2,6> o 0 o (64,64):(64,1), "

/* Matrices of rows × columns, row by row, become matrices column by column. */
static const struct {
  const char *what, *target, *type;
  uint32_t rows, columns;
  const char *mapping;
} kernels[] = {
    {"blocks that the store side turns around", "gfx950", "f32", 128, 128,
     "tile=(128,64), load=((16,16),(4,8)):((4@1,1@0),(1@1,16@0)), store=((32,8),(4,4,2)):((4@0,4@1),(1@0,1@1,32@1)), "
     "lds=Sw<4,2,6> o 0 o (128,64):(64,1)"},
    {"tiles at the edge", "gfx950", "f32", 100, 84,
     "tile=(64,64), load=((16,16),(4,4)):((4@1,1@0),(1@1,16@0)), store=((16,16),(4,4)):((4@0,4@1),(1@0,1@1)), "
     "lds=Sw<4,2,6> o 0 o (64,64):(64,1)"},
    {"tiles that are moved back", "gfx950", "f32", 100, 84,
     "tile=(64,64), load=((16,16),(4,4)):((4@1,1@0),(1@1,16@0)), store=((16,16),(4,4)):((4@0,4@1),(1@0,1@1)), "
     "lds=Sw<4,2,6> o 0 o (64,64):(64,1), overlap=1"},
    {"rows of three quarters of the banks", "gfx950", "f32", 64, 48,
     "tile=(64,48), load=((12,16),(4,4)):((4@1,1@0),(1@1,16@0)), store=((16,12),(4,4)):((4@0,4@1),(1@0,1@1)), "
     "lds=Sw<2,2,4> o 0 o (64,48):(48,1)"},
    {"rows that are not in order", "gfx950", "f32", 64, 64,
     "tile=(64,64), load=((16,16),(4,4)):((4@1,4@0),(1@1,1@0)), store=((16,16),(4,4)):((4@0,4@1),(1@0,1@1)), "
     "lds=Sw<4,2,4> o 0 o ((4,16),64):((1024,64),1)"},
    {"loaders that are fewer than work-items", "gfx950", "f32", 40, 32,
     "tile=(40,32), load=((8,5),(4,8)):((4@1,1@0),(1@1,5@0)), store=((10,8),(4,4)):((4@0,4@1),(1@0,1@1)), "
     "lds=(40,32):(32,1)"},
    {"slots beyond the tile", "gfx950", "f32", 36, 32,
     "tile=(36,32), load=((8,8),(4,5)):((4@1,1@0),(1@1,8@0)), store=((9,8),(4,4)):((4@0,4@1),(1@0,1@1)), "
     "lds=(36,32):(32,1), overlap=(4,4)"},
    {"halves", "gfx950", "f16", 64, 64,
     "tile=(64,64), load=((8,32),(8,2)):((8@1,1@0),(1@1,32@0)), store=((8,8),(8,8)):((8@0,8@1),(1@0,1@1)), "
     "lds=Sw<3,3,6> o 0 o (64,64):(64,1)"},
    {"bytes", "gfx950", "u8", 64, 64,
     "tile=(64,64), load=((4,64),16):((16@1,1@0),1@1), store=((16,16),(4,4)):((4@0,4@1),(1@0,1@1)), "
     "lds=(64,64):(64,1)"},
    {"words alone", "gfx942", "f32", 64, 64,
     "tile=(64,64), load=((64,4),16):((1@1,1@0),4@0), store=((16,16),(4,4)):((4@0,1@1),(1@0,16@1)), "
     "lds=Sw<5,0,6> o 0 o (64,64):(64,1)"},
    {"words where vectors would be torn", "gfx950", "f32", 64, 64,
     "tile=(64,64), load=((64,4),16):((1@1,1@0),4@0), store=((16,16),(4,4)):((4@0,1@1),(1@0,16@1)), "
     "lds=Sw<5,0,6> o 0 o (64,64):(64,1)"},
    {"pairs of halves", "gfx942", "f16", 64, 64,
     "tile=(64,64), load=((32,8),(2,8)):((2@1,1@0),(1@1,8@0)), store=((16,16),(4,4)):((4@0,1@1),(1@0,16@1)), "
     "lds=(64,64):(64,1)"},
    {"lanes along columns, with gaps", "gfx1250", "f32", 64, 64,
     "tile=(64,64), load=((16,16),(4,4)):((4@0,4@1),(1@1,1@0)), store=((16,16),(4,4)):((4@0,4@1),(1@0,1@1)), "
     "lds=(64,64):(68,1)"},
    {"lanes of tiles at the edge", "gfx1250", "f32", 100, 84,
     "tile=(64,64), load=((16,16),(4,4)):((4@1,1@0),(1@1,16@0)), store=((16,16),(4,4)):((4@0,4@1),(1@0,1@1)), "
     "lds=Sw<3,2,6> o 0 o (64,64):(68,1)"},
    {"lanes of tiles that are moved back", "gfx1250", "f32", 100, 84,
     "tile=(64,64), load=((16,16),(4,4)):((4@1,1@0),(1@1,16@0)), store=((16,16),(4,4)):((4@0,4@1),(1@0,1@1)), "
     "lds=Sw<4,2,4> o 0 o (64,64):(64,1), overlap=1"},
    {"pairs of words that change places", "gfx1250", "f32", 64, 64,
     "tile=(64,64), load=((16,16),(4,4)):((4@1,1@0),(1@1,16@0)), store=((16,16),(4,4)):((4@0,4@1),(1@0,1@1)), "
     "lds=Sw<4,1,6> o 0 o (64,64):(64,1)"},
    {"words that turn around on their way", "gfx1250", "f32", 64, 64,
     "tile=(64,64), load=((16,16),(4,4)):((4@1,1@0),(1@1,16@0)), store=((16,16),(4,4)):((4@0,1@1),(1@0,16@1)), "
     "lds=(64,64):(1,68)"},
    {"bytes that turn around on their way", "gfx1250", "u8", 64, 64,
     "tile=(64,64), load=((4,64),16):((16@1,1@0),1@1), store=((4,64),16):((16@0,1@1),1@0), lds=(64,64):(1,80)"},
    {"parts of waves", "gfx1250", "f32", 36, 32,
     "tile=(36,32), load=((8,8),(4,5)):((4@1,1@0),(1@1,8@0)), store=((9,8),(4,4)):((4@0,4@1),(1@0,1@1)), "
     "lds=(36,32):(36,1), overlap=(4,4)"},
    {"a loop of few passes", "gfx950", "f32", 128, 512,
     "tile=(64,256), load=((16,16),(4,4,4)):((4@1,1@0),(1@1,16@0,64@1)), "
     "store=((16,16),(4,4,4)):((4@0,4@1),(1@0,1@1,64@1)), lds=Sw<4,2,6> o 0 o (64,64):(64,1), passes=4"},
    {"passes, two at a time", "gfx950", "f32", 128, 512,
     "tile=(64,256), load=((16,16),(4,4,4)):((4@1,1@0),(1@1,16@0,64@1)), "
     "store=((16,16),(4,4,4)):((4@0,4@1),(1@0,1@1,64@1)), lds=Sw<4,2,6> o 0 o (64,64):(64,1), passes=4, buffers=2"},
    {"passes, three at a time", "gfx950", "f32", 64, 640,
     "tile=(64,320), load=((16,16),(4,4,5)):((4@1,1@0),(1@1,16@0,64@1)), "
     "store=((16,16),(4,4,5)):((4@0,4@1),(1@0,1@1,64@1)), lds=Sw<4,2,6> o 0 o (64,64):(64,1), passes=5, buffers=3"},
    {"passes, all at a time", "gfx950", "f32", 64, 256,
     "tile=(64,256), load=((16,16),(4,4,4)):((4@1,1@0),(1@1,16@0,64@1)), "
     "store=((16,16),(4,4,4)):((4@0,4@1),(1@0,1@1,64@1)), lds=Sw<4,2,6> o 0 o (64,64):(64,1), passes=4, buffers=4"},
    {"passes of tiles at the edge", "gfx950", "f32", 100, 340,
     "tile=(64,256), load=((16,16),(4,4,4)):((4@1,1@0),(1@1,16@0,64@1)), "
     "store=((16,16),(4,4,4)):((4@0,4@1),(1@0,1@1,64@1)), lds=Sw<4,2,6> o 0 o (64,64):(64,1), passes=4, buffers=2"},
    {"passes of tiles at the edge whose stores have bounds", "gfx950", "f32", 100, 100,
     "tile=(64,128), load=((16,16),(4,4,2)):((4@1,1@0),(1@1,16@0,64@1)), "
     "store=((16,16),(4,4,2)):((4@0,4@1),(1@0,1@1,64@1)), lds=Sw<4,2,6> o 0 o (64,64):(64,1), passes=2"},
    {"passes of tiles at the edge that tears vectors", "gfx950", "f32", 99, 100,
     "tile=(64,128), load=((16,16),(4,4,2)):((4@1,1@0),(1@1,16@0,64@1)), "
     "store=((16,16),(4,4,2)):((4@0,4@1),(1@0,1@1,64@1)), lds=Sw<4,2,6> o 0 o (64,64):(64,1), passes=2"},
    {"passes of tiles that are moved back", "gfx950", "f32", 100, 340,
     "tile=(64,256), load=((16,16),(4,4,4)):((4@1,1@0),(1@1,16@0,64@1)), "
     "store=((16,16),(4,4,4)):((4@0,4@1),(1@0,1@1,64@1)), lds=Sw<4,2,6> o 0 o (64,64):(64,1), passes=4, buffers=2, "
     "overlap=1"},
    {"passes of elements that are stored one by one", "gfx950", "u8", 64, 128,
     "tile=(64,128), load=((4,64),(16,2)):((16@1,1@0),(1@1,64@1)), "
     "store=((16,16),(4,4,2)):((4@0,4@1),(1@0,1@1,64@1)), lds=(64,64):(64,1), passes=2, buffers=2"},
    {"passes of halves", "gfx950", "f16", 64, 256,
     "tile=(64,256), load=((8,32),(8,2,4)):((8@1,1@0),(1@1,32@0,64@1)), "
     "store=((8,8),(8,8,4)):((8@0,8@1),(1@0,1@1,64@1)), lds=Sw<3,3,6> o 0 o (64,64):(64,1), passes=4, buffers=2"},
    {"passes of words", "gfx942", "f32", 64, 256,
     "tile=(64,256), load=((64,4),(16,4)):((1@1,1@0),(4@0,64@1)), "
     "store=((16,16),(4,4,4)):((4@0,1@1),(1@0,16@1,64@1)), lds=Sw<5,0,6> o 0 o (64,64):(64,1), passes=4, buffers=2"},
    {"passes of lanes, two at a time", "gfx1250", "f32", 128, 512,
     "tile=(64,256), load=((16,16),(4,4,4)):((4@1,1@0),(1@1,16@0,64@1)), "
     "store=((16,16),(4,4,4)):((4@0,4@1),(1@0,1@1,64@1)), lds=(64,64):(68,1), passes=4, buffers=2"},
    {"passes of lanes, three at a time, at the edge", "gfx1250", "f32", 100, 340,
     "tile=(64,256), load=((16,16),(4,4,4)):((4@1,1@0),(1@1,16@0,64@1)), "
     "store=((16,16),(4,4,4)):((4@0,4@1),(1@0,1@1,64@1)), lds=(64,64):(68,1), passes=4, buffers=3"},
    {"passes of lanes that are in several", "gfx1250", "f32", 64, 256,
     "tile=(64,128), load=((32,8),(4,8)):((4@1,1@0),(1@1,8@0)), store=((16,16),(4,4,2)):((4@0,4@1),(1@0,1@1,64@1)), "
     "lds=(64,64):(68,1), passes=2, buffers=2"},
    {"parts that end anywhere", "gfx1250", "f32", 36, 192,
     "tile=(36,64), load=((9,16),(4,4)):((4@0,1@1),(1@0,16@1)), store=((9,16),(4,4)):((4@0,1@1),(1@0,16@1)), "
     "lds=(36,16):(1,37), passes=4, buffers=2"},
    {"a loop of passes, two at a time", "gfx950", "f32", 128, 2048, LONG "passes=16, buffers=2"},
    {"a loop of passes, one at a time", "gfx950", "f32", 64, 1024, LONG "passes=16"},
    {"a loop of passes, three at a time, and four behind it", "gfx950", "f32", 64, 1024, LONG "passes=16, buffers=3"},
    {"a loop of passes of tiles at the edge", "gfx950", "f32", 100, 1400, LONG "passes=16, buffers=3"},
    {"a loop of passes of which the domain ends", "gfx950", "f32", 64, 160, LONG "passes=16, buffers=2"},
    {"a loop of passes of tiles that are moved back", "gfx950", "f32", 100, 1400,
     LONG "passes=16, buffers=2, overlap=1"},
    {"a loop of passes of pieces that are moved back", "gfx950", "f32", 64, 1400,
     LONG "passes=16, buffers=2, overlap=(0,32)"},
    {"a loop of passes by digits that are parts of slots'", "gfx950", "f32", 64, 1024,
     "tile=(64,1024), load=((16,16),(4,16,4)):((4@1,1@0),(1@1,64@1,16@0)), "
     "store=((16,16),(4,64)):((4@0,1@1),(1@0,16@1)), "
     "lds=Sw<4,2,6> o 0 o (64,64):(64,1), passes=16, buffers=2"},
    {"a loop of passes of halves", "gfx950", "f16", 64, 1024,
     "tile=(64,512), load=((8,32),(8,2,8)):((8@1,1@0),(1@1,32@0,64@1)), "
     "store=((8,8),(8,8,8)):((8@0,8@1),(1@0,1@1,64@1)), lds=Sw<3,3,6> o 0 o (64,64):(64,1), passes=8, buffers=2"},
    {"a loop of passes of words", "gfx942", "f32", 64, 704,
     "tile=(64,704), load=((64,4),(16,11)):((1@1,1@0),(4@0,64@1)), "
     "store=((16,16),(4,4,11)):((4@0,1@1),(1@0,16@1,64@1)), lds=Sw<5,0,6> o 0 o (64,64):(64,1), passes=11, "
     "buffers=2"},
    {"a loop of passes whose last stores are left out", "gfx942", "f32", 64, 100,
     "tile=(64,1024), load=((64,4),(16,16)):((1@1,1@0),(4@0,64@1)), "
     "store=((16,16),(4,4,16)):((4@0,1@1),(1@0,16@1,64@1)), lds=Sw<5,0,6> o 0 o (64,64):(64,1), passes=16, "
     "buffers=2"},
    {"a loop of passes of lanes", "gfx1250", "f32", 100, 1400,
     "tile=(64,1024), load=((16,16),(4,4,16)):((4@1,1@0),(1@1,16@0,64@1)), "
     "store=((16,16),(4,4,16)):((4@0,4@1),(1@0,1@1,64@1)), lds=(64,64):(68,1), passes=16, buffers=3"},
    {"passes that work-items tell apart", "gfx1250", "f32", 64, 512,
     "tile=(64,512), load=((128,2),(4,32)):((4@1,1@0),(1@1,2@0)), "
     "store=((16,16),(4,4,8)):((4@0,4@1),(1@0,1@1,64@1)), lds=(64,64):(68,1), passes=8, buffers=2"},
};

enum { KERNELS = sizeof kernels / sizeof *kernels, MOST_TEXT = 1024 };

static tj_kernel *make_direct(tj_graph *graph, int row, const char *target) {
  char *text = TJ_NEW_ARRAY(graph->job, char, MOST_TEXT);
  uint32_t rows = kernels[row].rows, columns = kernels[row].columns;
  const char *type = kernels[row].type;
  snprintf(text, MOST_TEXT,
           "kernel k(s: %s @ (%u,%u):(%u,1), d: %s @ (%u,%u):(1,%u)) = copy(s, d, mapping=mapping(%s, direct=1))",
           type, rows, columns, columns, type, rows, columns, rows, kernels[row].mapping);
  const tj_program_values *values = read_program(graph, text);
  tj_kernel *flat = tj_plan_kernel(graph, values, &values->kernel[0]);
  tj_kernel_simplify(graph, flat, NULL);
  tj_kernel *kernel = tj_map_as_given(graph, flat, tj_target_parse(graph->job, target));
  ck_assert_msg(tj_kernel_has_step(kernel, TJ_STEP_DIRECT), "%s: nothing goes straight into LDS", kernels[row].what);
  bool loops = strncmp(kernels[row].what, "a loop", 6) == 0;
  ck_assert_msg(tj_kernel_has_step(kernel, TJ_STEP_LOOP) == loops, "%s: the loop", kernels[row].what);
  return kernel;
}

/* Elements of both matrices are numbered as they lie. */
static uint32_t source_of(int row, uint32_t stored) {
  return stored % kernels[row].rows * kernels[row].columns + stored / kernels[row].rows;
}

/* Tiles that are moved back store elements twice, which is no fault of theirs. */
static void interpret_kernel(tj_job *job, void *data) {
  int row = *(const int *)data;
  tj_graph *graph = tj_graph_create(job);
  tj_kernel *kernel = make_direct(graph, row, kernels[row].target);
  int64_t *symbol = TJ_NEW_ARRAY(job, int64_t, graph->symbol_count);
  interpreter run;
  if (strstr(kernels[row].what, "moved back") != NULL)
    return;
  open_interpreter(&run, kernel, kernels[row].what, symbol, graph->symbol_count);
  run.keeps_slots = true;
  run.has_unaligned = true;
  interpret(&run);
  for (uint32_t i = 0; i < kernels[row].rows * kernels[row].columns; i++)
    ck_assert_msg(run.buffer[1].value[i] == source_of(row, i) + 1, "%s: element %u", kernels[row].what, i);
  close_interpreter(&run);
}

START_TEST(steps_copy) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, interpret_kernel, &_i);
  tj_job_destroy(&job);
}
END_TEST

/* Elements are the low bytes of their numbers, scattered. */
static void write_elements(uint8_t bytes[], uint32_t count, uint32_t size) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t number = i * 2654435761u >> 7;
    memcpy(bytes + (size_t)i * size, &number, size);
  }
}

typedef struct {
  gpu run;
  int row;
} kernel_on_gpu;

static void launch_kernel(tj_job *job, void *data) {
  kernel_on_gpu *on = data;
  tj_graph *graph = tj_graph_create(job);
  tj_kernel *kernel = make_direct(graph, on->row, on->run.target);
  load_on_gpu(graph, &on->run, kernel);
  uint32_t count = kernels[on->row].rows * kernels[on->row].columns, size = tj_dtype_bits(kernel->carried) / 8;
  uint8_t *source = TJ_NEW_ARRAY(job, uint8_t, (size_t)count * size);
  uint8_t *destination = TJ_NEW_ARRAY(job, uint8_t, (size_t)count * size);
  write_elements(source, count, size);
  symbol_values values = {0};
  run_on_gpu(&on->run, kernel, (host_bytes[]){{source, (size_t)count * size}, {destination, (size_t)count * size}},
             &values);
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *from = source + (size_t)source_of(on->row, i) * size;
    ck_assert_msg(memcmp(destination + (size_t)i * size, from, size) == 0, "%s: element %u", kernels[on->row].what,
                  i);
  }
}

START_TEST(machine_code_copies) {
  kernel_on_gpu on = {.row = _i};
  tj_job job;
  open_gpu(&on.run, kernels[_i].target, 1);
  tj_job_init(&job, NULL);
  expect_success(&job, launch_kernel, &on);
  tj_rt_unload(on.run.device, on.run.loaded);
  tj_job_destroy(&job);
  close_gpu(&on.run);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("direct");
  TCase *tcase = tcase_create("direct");
  tcase_set_timeout(tcase, 300);
  tcase_add_test(tcase, places_of_a_wave_lie_side_by_side);
  tcase_add_loop_test(tcase, steps_copy, 0, KERNELS);
  tcase_add_loop_test(tcase, machine_code_copies, 0, KERNELS);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}

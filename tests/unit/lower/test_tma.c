/* SPDX-License-Identifier: MIT */
/* Tiles that are loaded and stored by TMA: what the plans' tensor maps and coordinates leave in LDS and in memory, by
 * the definitions of tensor and layout; and boxes of any tensor map, by the decoder. By an NVIDIA GPU where
 * TILEJIT_TEST_DEVICE names one, as in cuda:0; else the decoder takes its place. */
#include "tests/unit/support/dma_cases.h"
#include "tests/unit/support/tma_engine.h"

enum { PLANS = 2000, MAPS = 600, PLACE_STEP = 1024 };

static tma_engine *engine;

/* What did not hold, of which the first few are told. */
typedef struct {
  int count;
  char text[4000];
} findings;

static void tell(findings *f, const char *format, ...) {
  size_t length = strlen(f->text);
  va_list list;
  va_start(list, format);
  if (f->count++ < 12)
    vsnprintf(f->text + length, sizeof f->text - length, format, list);
  va_end(list);
}

static void expect_none(const findings *f) {
  ck_assert_msg(f->count == 0, "%d findings:\n%s", f->count, f->text);
}

/* Memory and LDS as they have to be. */
static uint8_t wanted_memory[TMA_MEMORY_BYTES], wanted_lds[TMA_LDS_BYTES];
/* Of each byte of memory, whether a tile has stored there. */
static bool is_stored[TMA_MEMORY_BYTES];

static void differs(findings *f, const char *said, const char *where, const uint8_t left[], const uint8_t wanted[],
                    size_t bytes) {
  size_t at = 0, count = 0;
  for (size_t i = bytes; i-- > 0;) {
    if (left[i] != wanted[i]) {
      at = i;
      count++;
    }
  }
  if (count > 0)
    tell(f, "%s: %zu bytes of %s, first %zu: %02x, not %02x\n", said, count, where, at, left[at], wanted[at]);
}

/* --- planned tiles --- */

typedef struct {
  int tiles, stored, overrunning;
  int by_rank[TJ_TENSOR_MAP_DIMENSIONS + 1], by_swizzle[4], by_bytes[5];
  findings wrong;
} tally;

/* A plan's case on the engine. */
typedef struct {
  const dma_case *c;
  const char *said;
  dma_instruction instruction;
  lds_image image;
  tally *t;
  int64_t grid[4];
  uint32_t place; /* of the tile in LDS */
} planned;

static void want_image(planned *p, const int64_t origin[]) {
  const tj_dma_plan *plan = p->instruction.plan;
  const tj_value *lds = p->c->request.lds;
  if (lds == NULL)
    lds = tj_value_of_layout(p->c->graph, plan->lds.layout);
  want_tile(p->c, lds, origin, plan->unit_bytes, &p->image);
}

static void run_tile(planned *p, const int64_t origin[], bool is_load) {
  const tma_operations *operations = engine->operations;
  for (int64_t n = 0; n < p->instruction.plan->instructions; n++) {
    dma_issue issue = issue_of(&p->instruction, origin, n);
    uint32_t place = p->place + (uint32_t)issue.lds;
    bool ends = is_load ? operations->load(engine, issue.coordinate, place)
                        : operations->store(engine, issue.coordinate, place);
    if (!ends)
      tell(&p->t->wrong, "%s: instruction %d does not end\n", p->said, (int)n);
  }
}

static bool next_tile(planned *p, int64_t at[], int64_t origin[]) {
  bool goes_on = advance(at, p->grid, p->c->rank);
  for (uint32_t m = 0; m < p->c->rank; m++)
    origin[m] = at[m] * p->c->tile[m];
  return goes_on;
}

static void load_tile(planned *p, const int64_t origin[], uint32_t number) {
  uint32_t unit = p->instruction.plan->unit_bytes;
  want_image(p, origin);
  memcpy(wanted_lds, tma_noise_of_lds(engine, number), engine->lds_bytes);
  for (int64_t i = 0; i < MOST_LDS_ELEMENTS; i++) {
    uint8_t *to = wanted_lds + p->place + i * unit;
    if (p->image.at[i] == LDS_FILL)
      memset(to, 0, unit);
    else if (p->image.at[i] != LDS_NOTHING)
      memcpy(to, engine->memory_noise + TMA_TENSOR_AT + p->image.at[i], unit);
  }
  engine->operations->start_lds(engine, number);
  run_tile(p, origin, true);
  engine->operations->read_lds(engine);
  p->t->tiles++;
  differs(&p->t->wrong, p->said, "LDS", engine->lds, wanted_lds, engine->lds_bytes);
}

static void load_tiles(planned *p) {
  int64_t at[4] = {0}, origin[4] = {0};
  uint32_t number = 0;
  engine->operations->start_memory(engine);
  do
    load_tile(p, origin, number++);
  while (next_tile(p, at, origin));
}

/* False where elements of the tensor meet, so that the last to be stored is not known. */
static bool store_wanted(planned *p, const int64_t origin[], uint32_t number) {
  uint32_t unit = p->instruction.plan->unit_bytes;
  const uint8_t *from = tma_noise_of_lds(engine, number) + p->place;
  want_image(p, origin);
  for (int64_t i = 0; i < MOST_LDS_ELEMENTS; i++) {
    if (p->image.at[i] < 0)
      continue;
    int64_t to = TMA_TENSOR_AT + p->image.at[i];
    if (is_stored[to])
      return false;
    memset(is_stored + to, true, unit);
    memcpy(wanted_memory + to, from + i * unit, unit);
  }
  return true;
}

/* Whether all boxes of a tile may be stored. */
static bool can_store(planned *p, const int64_t origin[]) {
  bool can = true;
  for (int64_t n = 0; n < p->instruction.plan->instructions && can; n++)
    can = tj_dma_can_store(&engine->map, issue_of(&p->instruction, origin, n).coordinate);
  return can;
}

/* An obstacle to stores is none where they write what they have to, and nothing else. */
static void compare_stored(planned *p) {
  const char *obstacle = p->instruction.plan->store_obstacle;
  engine->operations->read_memory(engine);
  p->t->stored++;
  if (obstacle == NULL)
    differs(&p->t->wrong, p->said, "memory", engine->memory, wanted_memory, sizeof wanted_memory);
  else if (memcmp(engine->memory, wanted_memory, sizeof wanted_memory) == 0)
    tell(&p->t->wrong, "%s: stores, but: %s\n", p->said, obstacle);
  p->t->overrunning += obstacle != NULL;
}

static void store_tiles(planned *p) {
  int64_t at[4] = {0}, origin[4] = {0};
  uint32_t number = 0;
  memcpy(wanted_memory, engine->memory_noise, sizeof wanted_memory);
  memset(is_stored, 0, sizeof is_stored);
  engine->operations->start_memory(engine);
  do {
    bool is_refused = p->instruction.plan->store_obstacle != NULL && !can_store(p, origin);
    if (is_refused || !store_wanted(p, origin, number))
      return;
    engine->operations->start_lds(engine, number++);
    run_tile(p, origin, false);
  } while (next_tile(p, at, origin));
  compare_stored(p);
}

/* Whether all that the tiles have of the tensor is in the engine's memory. */
static bool fits_memory(planned *p) {
  int64_t at[4] = {0}, origin[4] = {0};
  do {
    want_image(p, origin);
    for (int64_t i = 0; i < MOST_LDS_ELEMENTS; i++)
      if (p->image.at[i] > TMA_MEMORY_BYTES - TMA_TENSOR_AT - 16)
        return false;
  } while (next_tile(p, at, origin));
  return true;
}

static void count_plan(tally *t, const dma_case *c, const tj_tensor_map *map) {
  t->by_rank[map->rank]++;
  t->by_swizzle[map->swizzle == 0 ? 0 : __builtin_ctz(map->swizzle) - 4]++;
  t->by_bytes[__builtin_ctz(c->request.element_bytes)]++;
}

static void move_tiles(const dma_case *c, const tj_dma_plan *plan, const char *said, tally *t) {
  static planned p;
  p = (planned){.c = c, .said = said, .t = t, .place = (uint32_t)(t->tiles % 3) * PLACE_STEP};
  begin_instruction(&p.instruction, c->graph, plan, c->length, c->tile);
  grid_of(c, p.grid);
  tj_tensor_map map = map_of(c->graph, &p.instruction);
  engine->lds_bytes = (p.place + (uint32_t)tj_dma_lds_bytes(c->graph, plan) + 256) / 16 * 16;
  ck_assert_uint_le(engine->lds_bytes, TMA_LDS_BYTES);
  if (fits_memory(&p)) {
    if (engine->operations->set_map(engine, &map)) {
      count_plan(t, c, &map);
      load_tiles(&p);
      store_tiles(&p);
    } else {
      tell(&t->wrong, "%s: no such tensor map\n", said);
    }
  }
  tj_evaluator_destroy(p.instruction.evaluator);
}

typedef struct {
  uint64_t seed;
  tally *t;
} random_plan;

/* Rows long enough for elements of few bytes. */
static dma_case random_large_case(view_source *from) {
  uint32_t element_bytes = 1u << random_between(from, 0, 3);
  const dma_spread spread = {100, 8192, 4, 1, 16 / element_bytes, false, false};
  return random_case_of(from, "sm_90", &spread, element_bytes);
}

static void run_random_plan(tj_job *job, void *data) {
  const random_plan *is = data;
  job->fuel = UINT64_MAX;
  view_source from = {tj_graph_create(job), is->seed};
  dma_case c = is->seed % 4 == 0 ? random_small_case(&from, "sm_90") : random_large_case(&from);
  tj_dma_plan plan = tj_dma_plan_of(&c.request);
  if (plan.obstacle == NULL)
    move_tiles(&c, &plan, say_case(&c, is->seed), is->t);
}

START_TEST(random_tiles_are_moved) {
  static tally t;
  for (uint64_t i = 0; i < PLANS; i++) {
    tj_job job;
    random_plan is = {0x9e3779b97f4a7c15u * (i + 1), &t};
    tj_job_init(&job, NULL);
    expect_success(&job, run_random_plan, &is);
    tj_job_destroy(&job);
  }
  ck_assert_int_ge(t.stored - t.overrunning, PLANS / 10);
  for (uint32_t i = 0; i < 4; i++)
    ck_assert_int_ge(t.by_swizzle[i], PLANS / 200);
  for (uint32_t i = 0; i < 5; i++)
    ck_assert_int_ge(t.by_bytes[i], PLANS / 100);
  expect_none(&t.wrong);
  ck_assert_int_ge(t.overrunning, PLANS / 100);
}
END_TEST

/* --- named tiles --- */

static const struct {
  const char *tensor, *lds;
  uint32_t element_bytes;
  int64_t tile[4];
  uint32_t instructions;
} tiles[] = {
    /* rows, at the edges of which tiles have more than the tensor */
    {"(200,136):(136,1)", NULL, 2, {64, 64}, 1},
    {"(200,136):(144,1)", NULL, 4, {64, 32}, 1},
    {"(200,144):(144,1)", NULL, 1, {64, 128}, 1},
    {"(136,200):(1,136)", NULL, 8, {16, 100}, 1},
    {"(64,64):(64,1)", NULL, 16, {16, 24}, 1},
    /* each swizzle */
    {"(200,136):(136,1)", "Sw<3,3,3> o 0 o (64,64):(64,1)", 2, {64, 64}, 1},
    {"(200,136):(136,1)", "Sw<2,3,3> o 0 o (64,32):(32,1)", 2, {64, 32}, 1},
    {"(200,136):(136,1)", "Sw<1,3,3> o 0 o (64,16):(16,1)", 2, {64, 16}, 1},
    {"(200,136):(136,1)", "Sw<3,2,3> o 0 o (64,32):(32,1)", 4, {64, 32}, 1},
    {"(200,144):(144,1)", "Sw<3,4,3> o 0 o (64,128):(128,1)", 1, {64, 128}, 1},
    {"(200,136):(136,1)", "Sw<2,1,3> o 0 o (64,8):(8,1)", 8, {64, 8}, 1},
    /* rows shorter than the swizzle's, which begin at those */
    {"(200,136):(136,1)", "Sw<3,3,3> o 0 o (64,16):(64,1)", 2, {64, 16}, 1},
    {"(200,136):(136,1)", "Sw<2,3,3> o 0 o (64,8):(32,1)", 2, {64, 8}, 1},
    {"(60,40,24):(960,24,1)", "Sw<3,2,3> o 0 o (4,40,24):(1280,32,1)", 4, {4, 40, 24}, 1},
    /* wider tiles: columns are two dimensions */
    {"(128,256):(256,1)", "Sw<3,3,3> o 0 o (64,(64,2)):(64,(1,4096))", 2, {64, 128}, 1},
    /* three to five dimensions, in any order of strides; tiles that repeat instructions */
    {"(40,30,20):(1,40,1216)", NULL, 2, {16, 7, 3}, 1},
    {"(40,20,30):(1,1216,40)", "(16,3,7):(1,16,48)", 4, {16, 3, 7}, 1},
    {"(16,(5,3),(4,6)):(1,(16,96),(1920,320))", NULL, 2, {16, 15, 4}, 1},
    {"(16,3,4,5):(1,80,16,256)", "(16,2,4,5):(1,16,32,128)", 4, {16, 2, 4, 5}, 1},
    /* windows of three rows, which share them */
    {"(64,30,3):(1,64,64)", "(32,4,3):(1,32,128)", 2, {32, 4, 3}, 1},
};

typedef struct {
  size_t row;
  tally *t;
} named_tile;

static void move_named_tile(reader *self, const void *data) {
  const named_tile *is = data;
  size_t i = is->row;
  tj_graph *graph = self->graph;
  graph->job->fuel = UINT64_MAX;
  tj_layout tensor = read_layout(self, tiles[i].tensor);
  dma_case c = {.graph = graph, .rank = tj_tuple_rank(tensor.shape), .length = tensor.shape};
  memcpy(c.tile, tiles[i].tile, sizeof c.tile);
  int64_t length[4];
  for (uint32_t m = 0; m < c.rank; m++)
    length[m] = tj_tuple_product(graph, tj_tuple_mode(tensor.shape, m))->value;
  c.length = constants_tuple(graph, length, c.rank);
  c.request = (tj_dma_request){.graph = graph,
                               .engine = tj_dma_engine_of("sm_90"),
                               .element_bytes = tiles[i].element_bytes,
                               .tensor = tj_value_of_layout(graph, tensor),
                               .tile = tj_value_of_tuple(graph, constants_tuple(graph, c.tile, c.rank)),
                               .lds = read_lds(self, tiles[i].lds),
                               .tensor_span = TJ_NOWHERE};
  tj_dma_plan plan = tj_dma_plan_of(&c.request);
  ck_assert_msg(plan.obstacle == NULL, "%s: %s", say_case(&c, i), plan.obstacle);
  ck_assert_msg(plan.instructions == tiles[i].instructions, "%s: %d instructions", say_case(&c, i),
                (int)plan.instructions);
  move_tiles(&c, &plan, say_case(&c, i), is->t);
}

START_TEST(named_tiles_are_moved) {
  static tally t;
  int planned_tensors = 0;
  for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
    run_row(move_named_tile, &(named_tile){i, &t}, (tj_problem_code)0);
  for (uint32_t rank = 1; rank <= TJ_TENSOR_MAP_DIMENSIONS; rank++)
    planned_tensors += t.by_rank[rank];
  ck_assert_int_eq(planned_tensors, sizeof tiles / sizeof *tiles);
  expect_none(&t.wrong);
}
END_TEST

/* --- any tensor map --- */

typedef struct {
  tj_tensor_map map;
  int32_t coordinate[TJ_TENSOR_MAP_DIMENSIONS];
  uint32_t place, lds_bytes;
} random_box;

static uint64_t rounded_up(uint64_t number, uint64_t to) {
  return (number + to - 1) / to * to;
}

static void give_map_strides(view_source *from, tj_tensor_map *map) {
  uint32_t order[TJ_TENSOR_MAP_DIMENSIONS];
  uint64_t next = rounded_up(map->extent[0] * map->element_bytes, 16);
  shuffle_numbers(from, order, map->rank - 1);
  for (uint32_t i = 0; i + 1 < map->rank; i++) {
    uint32_t k = order[i];
    map->stride[k] = next + 16 * (uint64_t)random_between(from, 0, 2);
    if (random_between(from, 0, 7) == 0)
      map->stride[k] = 16 * (uint64_t)random_between(from, 0, 40);
    next = map->stride[k] * map->extent[k + 1];
  }
}

/* Half of the boxes begin inside, so that they can be stored. */
static void give_coordinate(view_source *from, random_box *b) {
  const tj_tensor_map *map = &b->map;
  bool is_inside = random_between(from, 0, 1) == 0;
  for (uint32_t k = 0; k < map->rank; k++)
    b->coordinate[k] =
        (int32_t)random_between(from, is_inside ? 0 : -(int64_t)map->box[k] - 1, (int64_t)map->extent[k] + 1) /
        (random_between(from, 0, 1) == 0 ? 1 : 4);
  int32_t unit = 16 / (int32_t)map->element_bytes;
  b->coordinate[0] = b->coordinate[0] / unit * unit;
}

static random_box random_box_of(view_source *from) {
  random_box b = {.map = {.rank = (uint32_t)random_between(from, 1, 5),
                          .element_bytes = 1u << random_between(from, 0, 3),
                          .address = 16 * (uint64_t)random_between(from, 0, 3)}};
  int64_t swizzle = random_between(from, 0, 3);
  b.map.swizzle = swizzle == 0 ? 0 : 16u << swizzle;
  uint32_t most_row = b.map.swizzle == 0 ? 512 : b.map.swizzle;
  if (most_row > 256 * b.map.element_bytes)
    most_row = 256 * b.map.element_bytes;
  b.map.box[0] = 16 * (uint32_t)random_between(from, 1, most_row / 16) / b.map.element_bytes;
  b.map.extent[0] = (uint64_t)random_between(from, 1, 2 * b.map.box[0]);
  b.map.element_stride[0] = (uint32_t)random_between(from, 1, 2);
  for (uint32_t k = 1; k < b.map.rank; k++) {
    bool has_step = random_between(from, 0, 2) == 0;
    b.map.extent[k] = (uint64_t)random_between(from, 1, 14 / b.map.rank + 3);
    b.map.box[k] = (uint32_t)random_between(from, 1, 14 / b.map.rank + 1);
    b.map.element_stride[k] = has_step ? (uint32_t)random_between(from, 1, 8) : 1;
  }
  give_map_strides(from, &b.map);
  give_coordinate(from, &b);
  b.place = 128 * (uint32_t)random_between(from, 0, 9);
  uint32_t row = b.map.box[0] * b.map.element_bytes, rows = tma_box_bytes(&b.map) / row;
  b.lds_bytes = (uint32_t)rounded_up(b.place + rows * (b.map.swizzle > row ? b.map.swizzle : row) + 1024, 16);
  return b;
}

static bool fits_engine(const random_box *b) {
  uint64_t last = b->map.address + b->map.extent[0] * b->map.element_bytes;
  for (uint32_t k = 1; k < b->map.rank; k++)
    last += (b->map.extent[k] - 1) * b->map.stride[k - 1];
  return last <= TMA_MEMORY_BYTES - TMA_TENSOR_AT && b->lds_bytes <= TMA_LDS_BYTES;
}

static const char *say_box(const random_box *b, int number, char text[512]) {
  int length = snprintf(text, 512, "map %d: %u bytes, swizzle %u, address %d, place %u;", number,
                        b->map.element_bytes, b->map.swizzle, (int)b->map.address, b->place);
  for (uint32_t k = 0; k < b->map.rank; k++)
    length += snprintf(text + length, 512 - (size_t)length, " (%d of %d by %d, box %u step %u)", b->coordinate[k],
                       (int)b->map.extent[k], k == 0 ? 0 : (int)b->map.stride[k - 1], b->map.box[k],
                       b->map.element_stride[k]);
  return text;
}

/* What a box has to do to LDS or to memory, by the decoder. */
typedef struct {
  bool is_load, meets;
} wanted_box;

static bool want_element(const tj_dma_element *element, void *data) {
  wanted_box *want = data;
  uint64_t at = TMA_TENSOR_AT + element->address;
  ck_assert_uint_le(element->lds + element->element_bytes, engine->lds_bytes);
  if (want->is_load && element->is_filled)
    memset(wanted_lds + element->lds, 0, element->element_bytes);
  else if (want->is_load)
    memcpy(wanted_lds + element->lds, engine->memory_noise + at, element->element_bytes);
  else if (element->is_stored) {
    want->meets = want->meets || is_stored[at];
    memset(is_stored + at, true, element->element_bytes);
    memcpy(wanted_memory + at, wanted_lds + element->lds, element->element_bytes);
  }
  return true;
}

static void load_box(const random_box *b, uint32_t number, const char *said, findings *wrong) {
  wanted_box want = {.is_load = true};
  memcpy(wanted_lds, tma_noise_of_lds(engine, number), engine->lds_bytes);
  ck_assert(tj_dma_decode_map(&b->map, b->coordinate, b->place, want_element, &want));
  engine->operations->start_lds(engine, number);
  if (!engine->operations->load(engine, b->coordinate, b->place))
    tell(wrong, "%s: does not end\n", said);
  engine->operations->read_lds(engine);
  differs(wrong, said, "LDS", engine->lds, wanted_lds, engine->lds_bytes);
}

static void store_box(const random_box *b, uint32_t number, const char *said, findings *wrong) {
  wanted_box want = {.is_load = false};
  memcpy(wanted_lds, tma_noise_of_lds(engine, number), engine->lds_bytes);
  memcpy(wanted_memory, engine->memory_noise, sizeof wanted_memory);
  memset(is_stored, 0, sizeof is_stored);
  ck_assert(tj_dma_decode_map(&b->map, b->coordinate, b->place, want_element, &want));
  if (want.meets)
    return;
  engine->operations->start_memory(engine);
  engine->operations->start_lds(engine, number);
  engine->operations->store(engine, b->coordinate, b->place);
  engine->operations->read_memory(engine);
  differs(wrong, said, "memory", engine->memory, wanted_memory, sizeof wanted_memory);
}

/* On a GPU: the decoder is no oracle of its own. */
START_TEST(boxes_are_decoded_right) {
  static findings loads, stores, maps;
  view_source from = {NULL, 99};
  for (int i = 0; i < MAPS; i++) {
    char text[512];
    random_box b = random_box_of(&from);
    while (!fits_engine(&b))
      b = random_box_of(&from);
    const char *said = say_box(&b, i, text);
    engine->lds_bytes = b.lds_bytes;
    if (!tma_decoder_set_map(engine, &b.map) || !engine->operations->set_map(engine, &b.map)) {
      tell(&maps, "%s: no such map\n", said);
      continue;
    }
    engine->operations->start_memory(engine);
    load_box(&b, (uint32_t)i, said, &loads);
    if (tj_dma_can_store(&b.map, b.coordinate))
      store_box(&b, (uint32_t)i + 1, said, &stores);
  }
  ck_assert_msg(maps.count + loads.count + stores.count == 0, "%d maps, %d loads, %d stores\n%s%s%s", maps.count,
                loads.count, stores.count, maps.text, loads.text, stores.text);
}
END_TEST

/* --- ends of rows --- */

enum { ENDED_ROWS = 2, PITCH = 512 };

/* Boxes of three rows, of which two are the tensor's, and the bytes that a store writes of those: not only the
 * tensor's. */
static const struct {
  uint32_t element_bytes, swizzle;
  uint64_t extent;
  int32_t begin;
  uint32_t box, written;
} ends[] = {
    {8, 0, 27, 24, 24, 32}, /* 24 bytes are the tensor's */
    {4, 0, 10, 0, 12, 48},  /* 40 */
    {1, 64, 20, 0, 32, 32}, /* 20 */
    {2, 32, 2, 0, 8, 16},   /* 4 */
    {2, 0, 5, 0, 24, 16},   /* 10: of what is further behind, nothing */
    {1, 0, 17, 16, 16, 16}, /* 1 */
    {2, 0, 16, 0, 24, 32},  /* all of them, and no more */
    {2, 0, 16, 16, 8, 0},   /* none */
    {1, 0, 20, 32, 16, 0},
};

static void want_rows(size_t i, uint32_t row_bytes) {
  for (uint32_t r = 0; r < ENDED_ROWS; r++)
    memcpy(wanted_memory + TMA_TENSOR_AT + r * PITCH + (uint32_t)ends[i].begin * ends[i].element_bytes,
           tma_noise_of_lds(engine, (uint32_t)i) + r * row_bytes, ends[i].written);
}

START_TEST(stores_write_whole_units) {
  static findings wrong;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    const tj_tensor_map map = {.element_bytes = ends[i].element_bytes,
                               .rank = 2,
                               .extent = {ends[i].extent, ENDED_ROWS},
                               .stride = {PITCH},
                               .box = {ends[i].box, ENDED_ROWS + 1},
                               .element_stride = {1, 1},
                               .swizzle = ends[i].swizzle};
    char said[64];
    uint32_t row_bytes = ends[i].box * ends[i].element_bytes;
    snprintf(said, sizeof said, "end %zu", i);
    engine->lds_bytes = 1024;
    ck_assert(engine->operations->set_map(engine, &map));
    memcpy(wanted_memory, engine->memory_noise, sizeof wanted_memory);
    want_rows(i, row_bytes < map.swizzle ? map.swizzle : row_bytes);
    engine->operations->start_memory(engine);
    engine->operations->start_lds(engine, (uint32_t)i);
    engine->operations->store(engine, (const int32_t[]){ends[i].begin, 0}, 0);
    engine->operations->read_memory(engine);
    differs(&wrong, said, "memory", engine->memory, wanted_memory, sizeof wanted_memory);
  }
  expect_none(&wrong);
}
END_TEST

/* --- what is no tensor map --- */

static const tj_tensor_map good = {.element_bytes = 2,
                                   .rank = 3,
                                   .extent = {100, 20, 7},
                                   .stride = {208, 4160},
                                   .box = {32, 4, 2},
                                   .element_stride = {1, 1, 1},
                                   .swizzle = 64};

/* One field is another than in a good map. */
static const struct {
  size_t field;
  uint64_t value;
  uint32_t bytes;
  bool is_map;
} changes[] = {
#define FIELD(NAME, VALUE, IS_MAP)                                                                                   \
  { offsetof(tj_tensor_map, NAME), VALUE, sizeof(((tj_tensor_map *)0)->NAME), IS_MAP }
    FIELD(rank, 3, true),
    FIELD(rank, 1, true),
    FIELD(rank, 0, false),
    FIELD(rank, 6, false),
    FIELD(address, 16, true),
    FIELD(address, 8, false),
    FIELD(extent[0], 1, true),
    FIELD(extent[0], 0, false),
    FIELD(extent[1], 0, false),
    FIELD(extent[2], UINT64_C(1) << 32, true),
    FIELD(extent[2], (UINT64_C(1) << 32) + 1, false),
    FIELD(stride[0], 16, true), /* rows that overlap */
    FIELD(stride[0], 216, false),
    FIELD(stride[1], 48, true), /* no multiple of the stride before it */
    FIELD(stride[1], 0, true),
    FIELD(stride[1], (UINT64_C(1) << 40) - 16, true),
    FIELD(stride[1], UINT64_C(1) << 40, false),
    FIELD(box[0], 8, true),
    FIELD(box[0], 4, false),
    FIELD(box[0], 20, false),
    FIELD(box[0], 40, false), /* more than a row of the swizzle */
    FIELD(box[1], 256, true),
    FIELD(box[1], 257, false),
    FIELD(box[1], 0, false),
    FIELD(element_stride[1], 8, true),
    FIELD(element_stride[1], 9, false),
    FIELD(element_stride[1], 0, false),
    FIELD(element_stride[0], 2, true), /* ignored */
    FIELD(swizzle, 0, true),
    FIELD(swizzle, 32, false),
#undef FIELD
};

START_TEST(maps_are_refused) {
  static findings wrong;
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    tj_tensor_map map = good;
    memcpy((char *)&map + changes[i].field, &changes[i].value, changes[i].bytes);
    bool decodes = tma_decoder_set_map(engine, &map), is_made = engine->operations->set_map(engine, &map);
    if (decodes != changes[i].is_map || is_made != changes[i].is_map)
      tell(&wrong, "change %zu: decoder %d, engine %d, not %d\n", i, decodes, is_made, changes[i].is_map);
  }
  expect_none(&wrong);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {random_tiles_are_moved, named_tiles_are_moved, maps_are_refused,
                                stores_write_whole_units, boxes_are_decoded_right};
  enum { SKIPPED = 77 };
  engine = tma_open();
  if (engine == NULL)
    return SKIPPED;
  int status = run_suite(suite_of("tma", tests, sizeof tests / sizeof *tests - (engine->gpu == NULL)));
  tma_close(engine);
  return status;
}

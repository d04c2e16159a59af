/* SPDX-License-Identifier: MIT */
/* Random tiles of tensors for engines that move boxes: what a tile has to be in LDS by the definitions of its maps,
 * and what the instructions of a plan leave there by the decoder. */
#ifndef TJ_TESTS_DMA_CASES_H
#define TJ_TESTS_DMA_CASES_H

#include "base/text.h"
#include "ir/index/eval.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "lower/dma/encode.h"
#include "tests/unit/support/random_views.h"

enum { MOST_LDS_ELEMENTS = 1 << 14, MOST_GRID = 96, DMA_LEAVES = 12, LDS_NOTHING = -2, LDS_FILL = -1 };

typedef struct {
  tj_graph *graph;
  tj_dma_request request;
  const tj_tuple *length; /* of the tensor's modes */
  uint32_t rank;
  int64_t tile[4];
} dma_case;

/* --- random cases --- */

typedef struct {
  int64_t extent[DMA_LEAVES], stride[DMA_LEAVES];
  uint32_t mode[DMA_LEAVES], count;
} random_leaves;

/* How strides and tiles are spread: more often than not such that an engine can use them. */
typedef struct {
  int64_t most_extent, most_tile;
  uint32_t most_modes, most_digits;
  int64_t unit;    /* elements of which strides often are multiples */
  bool repeats;    /* strides may be 0 */
  bool cuts_edges; /* LDS may have digits of modes that tiles do not divide, or that are padded; and these one element
                    */
} dma_spread;

static inline void give_strides(view_source *from, random_leaves *l, const dma_spread *spread) {
  int64_t unit = spread->unit;
  uint32_t order[DMA_LEAVES];
  int64_t next = random_between(from, 0, 7) == 0 ? random_between(from, 1, 3) : 1;
  shuffle_numbers(from, order, l->count);
  for (uint32_t i = 0; i < l->count; i++) {
    l->stride[order[i]] = spread->repeats && random_between(from, 0, 15) == 0 ? 0 : next;
    next *= l->extent[order[i]];
    if (random_between(from, 0, 2) == 0)
      next += random_between(from, 0, 4);
    if (random_between(from, 0, 3) != 0)
      next = (next + unit - 1) / unit * unit;
  }
}

/* The leaves of each mode as that mode. */
static inline tj_layout layout_of(tj_graph *graph, const random_leaves *l, uint32_t rank) {
  tj_layout mode[4];
  for (uint32_t m = 0; m < rank; m++) {
    const tj_tuple *extent[DMA_LEAVES], *stride[DMA_LEAVES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->count; i++) {
      if (l->mode[i] != m)
        continue;
      extent[count] = tj_tuple_constant(graph, l->extent[i]);
      stride[count++] = tj_tuple_constant(graph, l->stride[i]);
    }
    mode[m] = tj_layout_of_leaves(graph, extent, stride, count);
  }
  return tj_layout_concat(graph, mode, rank);
}

static inline const tj_value *random_layout_tensor(view_source *from, const dma_spread *spread, uint32_t rank) {
  random_leaves l = {.count = 0};
  int64_t multiple = spread->unit > 8 ? spread->unit : 8;
  for (uint32_t m = 0; m < rank; m++) {
    for (int64_t digits = random_between(from, 1, spread->most_digits); digits > 0; digits--) {
      l.extent[l.count] = random_between(from, spread->cuts_edges ? 1 : 2, spread->most_extent);
      if (random_between(from, 0, 2) == 0)
        l.extent[l.count] = (l.extent[l.count] + multiple - 1) / multiple * multiple;
      l.mode[l.count++] = m;
    }
  }
  give_strides(from, &l, spread);
  return tj_value_of_layout(from->graph, layout_of(from->graph, &l, rank));
}

/* A strided view, with pads around some dimensions. */
static inline const tj_value *random_view_tensor(view_source *from, const dma_spread *spread, uint32_t rank) {
  random_leaves l = {.count = rank};
  tj_graph *graph = from->graph;
  tj_view_step step[4];
  static const uint32_t number[4] = {0, 1, 2, 3};
  for (uint32_t m = 0; m < rank; m++)
    l.extent[m] = random_between(from, spread->cuts_edges ? 1 : 2, spread->most_extent);
  give_strides(from, &l, spread);
  const tj_node *offset = random_between(from, 0, 3) == 0 ? tj_int(graph, random_between(from, 0, 3) * 8) : NULL;
  const tj_view *view = tj_view_strided(graph, constants_tuple(graph, l.extent, rank),
                                        constants_tuple(graph, l.stride, rank), offset, -1, -1);
  for (uint32_t m = 0; m < rank; m++) {
    bool is_padded = random_between(from, 0, 1) == 0;
    const tj_tuple *pad[3] = {tj_tuple_constant(graph, l.extent[m]),
                              tj_tuple_constant(graph, is_padded ? random_between(from, 0, 2) : 0),
                              tj_tuple_constant(graph, is_padded ? random_between(from, 0, 3) : 0)};
    step[m] = (tj_view_step){tj_transform_make(graph, TJ_TRANSFORM_PAD, pad, 3), &number[m], &number[m], 1, 1};
  }
  return tj_value_of_view(graph, tj_view_transform(graph, view, step, rank));
}

static inline int64_t divisor_at_random(view_source *from, int64_t of) {
  int64_t divisor = random_between(from, 1, of);
  while (of % divisor != 0)
    divisor--;
  return divisor;
}

static inline int64_t random_tile(view_source *from, int64_t length, int64_t most) {
  int64_t tile = length;
  if (random_between(from, 0, 2) == 0)
    tile = random_between(from, 1, length + 2);
  else if (random_between(from, 0, 1) == 0)
    tile = divisor_at_random(from, length);
  return tile <= most ? tile : divisor_at_random(from, length <= most ? length : most);
}

/* A layout of the tile by digits in any order, with a pad somewhere, or swizzled. */
static inline const tj_value *random_lds(view_source *from, const dma_case *c, const dma_spread *spread,
                                         bool is_swizzled) {
  random_leaves l = {.count = 0};
  uint32_t order[DMA_LEAVES];
  int64_t next = 1;
  for (uint32_t m = 0; m < c->rank; m++) {
    bool is_whole =
        c->request.tensor->kind == TJ_VALUE_LAYOUT && tj_tuple_mode(c->length, m)->value->value % c->tile[m] == 0;
    bool is_cut = (is_whole || spread->cuts_edges) && random_between(from, 0, 2) == 0;
    int64_t inner = is_cut ? divisor_at_random(from, c->tile[m]) : c->tile[m];
    for (int64_t k = 0, left = c->tile[m]; k < 2 && (k == 0 || left > 1); k++, left /= inner) {
      l.extent[l.count] = k == 0 ? inner : left;
      l.mode[l.count++] = m;
    }
  }
  shuffle_numbers(from, order, l.count);
  for (uint32_t i = 0; i < l.count; i++) {
    l.stride[order[i]] = next;
    next *= l.extent[order[i]];
    if (!is_swizzled && random_between(from, 0, 5) == 0)
      next += random_between(from, 1, 2) * (c->request.element_bytes < 4 ? 4 / c->request.element_bytes : 1);
  }
  tj_layout layout = layout_of(from->graph, &l, c->rank);
  if (!is_swizzled)
    return tj_value_of_layout(from->graph, layout);
  tj_composed *composed = TJ_NEW(from->graph->job, tj_composed);
  *composed = (tj_composed){{(int32_t)random_between(from, 1, 3), 4 - __builtin_ctz(c->request.element_bytes), 3},
                            tj_tuple_constant(from->graph, 0),
                            layout};
  return tj_value_of_composed(from->graph, composed);
}

static inline dma_case random_case(view_source *from, const tj_dma_engine *engine, const dma_spread *spread,
                                   uint32_t element_bytes) {
  tj_graph *graph = from->graph;
  dma_case c = {.graph = graph, .rank = (uint32_t)random_between(from, 1, spread->most_modes)};
  bool is_view = random_between(from, 0, 2) == 0;
  const tj_value *tensor =
      is_view ? random_view_tensor(from, spread, c.rank) : random_layout_tensor(from, spread, c.rank);
  c.request = (tj_dma_request){
      .graph = graph, .engine = engine, .element_bytes = element_bytes, .tensor = tensor, .tensor_span = TJ_NOWHERE};
  const tj_tuple *item[4], *extent[4];
  int64_t room = spread->most_tile;
  for (uint32_t m = 0; m < c.rank; m++) {
    const tj_tuple *whole = is_view ? tj_view_lengths(graph, tensor->view) : tensor->layout.shape;
    int64_t length = tj_tuple_product(graph, tj_tuple_mode(whole, m))->value;
    c.tile[m] = random_tile(from, length, room);
    room = room / c.tile[m] > 0 ? room / c.tile[m] : 1;
    item[m] = tj_tuple_constant(graph, c.tile[m]);
    extent[m] = tj_tuple_constant(graph, length);
  }
  c.length = tj_tuple_list(graph, extent, c.rank);
  c.request.tile = tj_value_of_tuple(graph, tj_tuple_list(graph, item, c.rank));
  return c;
}

/* How many tiles there are along each mode; their product. */
static inline int64_t grid_of(const dma_case *c, int64_t grid[]) {
  int64_t count = 1;
  for (uint32_t m = 0; m < c->rank; m++) {
    grid[m] = (tj_tuple_mode(c->length, m)->value->value + c->tile[m] - 1) / c->tile[m];
    count *= grid[m];
  }
  return count;
}

/* A case of few tiles, with a layout in LDS or without. */
static inline dma_case random_case_of(view_source *from, const char *processor, const dma_spread *spread,
                                      uint32_t element_bytes) {
  const tj_dma_engine *engine = tj_dma_engine_of(processor);
  dma_case c = random_case(from, engine, spread, element_bytes);
  int64_t grid[4];
  while (grid_of(&c, grid) > MOST_GRID)
    c = random_case(from, engine, spread, element_bytes);
  int64_t kind = random_between(from, 0, 2);
  if (kind > 0)
    c.request.lds = random_lds(from, &c, spread, engine->kind == TJ_DMA_TENSOR_MAP && kind == 2);
  return c;
}

/* Of elements of any size. */
static inline dma_case random_small_case(view_source *from, const char *processor) {
  uint32_t element_bytes = 1u << random_between(from, 0, 4);
  bool is_map = tj_dma_engine_of(processor)->kind == TJ_DMA_TENSOR_MAP;
  const dma_spread spread = {12, 1024, 3, 3, is_map ? (element_bytes < 16 ? 16 / element_bytes : 1) : 4, true, true};
  return random_case_of(from, processor, &spread, element_bytes);
}

/* "(64,16):(1,64)", or "Sw<3,3,3> o 0 o (64,16):(1,64)"; NULL: none. */
static inline const tj_value *read_lds(reader *self, const char *text) {
  if (text == NULL)
    return NULL;
  if (text[0] != 'S')
    return tj_value_of_layout(self->graph, read_layout(self, text));
  tj_composed *composed = TJ_NEW(self->graph->job, tj_composed);
  *composed = (tj_composed){{text[3] - '0', text[5] - '0', text[7] - '0'},
                            tj_tuple_constant(self->graph, 0),
                            read_layout(self, strchr(text, '('))};
  return tj_value_of_composed(self->graph, composed);
}

/* --- saying what failed --- */

static inline const char *say_case(const dma_case *c, uint64_t seed) {
  tj_text text = tj_text_begin(c->graph->job);
  tj_text_format(&text, "%s, seed %llu, %u bytes: ", c->request.engine->processor, (unsigned long long)seed,
                 c->request.element_bytes);
  tj_value_print(&text, c->request.tensor);
  tj_text_string(&text, " tile ");
  tj_value_print(&text, c->request.tile);
  if (c->request.lds != NULL) {
    tj_text_string(&text, " lds ");
    tj_value_print(&text, c->request.lds);
  }
  return text.data;
}

/* --- what a tile has to be --- */

/* Of each unit of LDS the address that it has to have the bytes of, LDS_FILL or LDS_NOTHING. */
typedef struct {
  uint32_t unit_bytes;
  int64_t count;
  int64_t at[MOST_LDS_ELEMENTS];
  bool is_twice, is_outside;
} lds_image;

static inline void clear_image(lds_image *image, uint32_t unit_bytes) {
  image->unit_bytes = unit_bytes;
  image->is_twice = image->is_outside = false;
  for (int64_t i = 0; i < MOST_LDS_ELEMENTS; i++)
    image->at[i] = LDS_NOTHING;
}

static inline void put_unit(lds_image *image, int64_t place, int64_t address) {
  image->is_outside = image->is_outside || place < 0 || place >= MOST_LDS_ELEMENTS;
  if (image->is_outside)
    return;
  image->is_twice = image->is_twice || image->at[place] != LDS_NOTHING;
  image->at[place] = address;
}

/* A linear coordinate of each mode, as leaves of a layout's domain. */
static inline void split_coordinate(const tj_tuple *mode, int64_t coordinate, int64_t leaf[], uint32_t *count) {
  if (!tj_tuple_is_list(mode)) {
    leaf[(*count)++] = coordinate % mode->value->value;
    return;
  }
  for (uint32_t i = 0; i < mode->count; i++) {
    int64_t size = 1;
    const tj_tuple *item = mode->item[i];
    if (tj_tuple_is_list(item)) {
      for (uint32_t k = 0; k < item->count; k++)
        size *= item->item[k]->value->value;
    } else {
      size = item->value->value;
    }
    split_coordinate(item, coordinate % size, leaf, count);
    coordinate /= size;
  }
}

static inline int64_t layout_at(tj_graph *graph, tj_layout layout, const int64_t coordinate[], uint32_t rank) {
  int64_t leaf[2 * DMA_LEAVES], value;
  uint32_t count = 0;
  for (uint32_t m = 0; m < rank; m++)
    split_coordinate(tj_tuple_mode(layout.shape, m), coordinate[m], leaf, &count);
  tj_oracle_layout(graph, layout, leaf, &value);
  return value;
}

static inline int64_t value_at(tj_graph *graph, const tj_value *value, const int64_t coordinate[], uint32_t rank,
                               bool *valid) {
  *valid = true;
  if (value->kind == TJ_VALUE_VIEW)
    return tj_oracle_view(graph, value->view, coordinate, valid);
  if (value->kind == TJ_VALUE_LAYOUT)
    return layout_at(graph, value->layout, coordinate, rank);
  int64_t leaf[2 * DMA_LEAVES], result;
  uint32_t count = 0;
  for (uint32_t m = 0; m < rank; m++)
    split_coordinate(tj_tuple_mode(value->composed->layout.shape, m), coordinate[m], leaf, &count);
  tj_oracle_composed(graph, value->composed, leaf, &result);
  return result;
}

static inline bool advance(int64_t at[], const int64_t end[], uint32_t rank) {
  for (uint32_t m = 0; m < rank; m++) {
    if (++at[m] < end[m])
      return true;
    at[m] = 0;
  }
  return false;
}

static inline void want_tile(const dma_case *c, const tj_value *lds, const int64_t origin[], uint32_t unit_bytes,
                             lds_image *image) {
  int64_t at[4] = {0};
  int64_t units = c->request.element_bytes / unit_bytes;
  clear_image(image, unit_bytes);
  do {
    int64_t coordinate[4];
    bool valid = true, known;
    for (uint32_t m = 0; m < c->rank; m++) {
      coordinate[m] = origin[m] + at[m];
      valid = valid && coordinate[m] < tj_tuple_mode(c->length, m)->value->value;
    }
    int64_t element = valid ? value_at(c->graph, c->request.tensor, coordinate, c->rank, &valid) : 0;
    int64_t place = value_at(c->graph, lds, at, c->rank, &known);
    for (int64_t u = 0; u < units; u++)
      put_unit(image, place * units + u, valid ? (element * units + u) * unit_bytes : LDS_FILL);
  } while (advance(at, c->tile, c->rank));
}

/* --- what a plan's instructions leave --- */

static inline bool put_element(const tj_dma_element *element, void *data) {
  lds_image *image = data;
  image->is_outside =
      image->is_outside || element->lds % image->unit_bytes != 0 || element->element_bytes != image->unit_bytes;
  put_unit(image, (int64_t)(element->lds / image->unit_bytes),
           element->is_filled ? LDS_FILL : (int64_t)element->address);
  return true;
}

enum { DMA_OUTPUTS = TJ_TENSOR_DESCRIPTOR_DWORDS + TJ_DMA_MOST_PLACES + 1, DMA_SYMBOLS = 256 };

/* An instruction of a plan as expressions of its tile's place, ready to be evaluated. */
typedef struct {
  const tj_dma_plan *plan;
  uint32_t first; /* of the symbols: the tile's coordinate, and the instruction's number behind it */
  uint32_t rank;
  int64_t value[DMA_SYMBOLS]; /* of symbols; of parameters to be set */
  tj_bindings bindings;
  tj_evaluator *evaluator;
} dma_instruction;

/* Symbols have the facts that callers must keep, so that simplification uses them. */
static inline void begin_instruction(dma_instruction *of, tj_graph *graph, const tj_dma_plan *plan,
                                     const tj_tuple *length, const int64_t extent[]) {
  *of = (dma_instruction){.plan = plan, .first = graph->symbol_count, .rank = tj_tuple_rank(length)};
  const tj_node *tile[4], *output[DMA_OUTPUTS], *zero = tj_int(graph, 0);
  for (uint32_t m = 0; m < of->rank; m++) {
    const tj_node *last = tj_terse_sub(graph, tj_tuple_mode(length, m)->value, tj_int(graph, 1));
    tile[m] = tj_symbol_create(graph, "c", TJ_SYMBOL_COORDINATE, zero, last, extent[m]);
  }
  const tj_node *last = tj_int(graph, plan->instructions - 1);
  const tj_dma_place place = {tile, tj_symbol_create(graph, "n", TJ_SYMBOL_COORDINATE, zero, last, 1), zero, zero};
  tj_dma_instruction is = tj_dma_instruction_of(graph, plan, &place);
  for (uint32_t i = 0; i < DMA_OUTPUTS; i++)
    output[i] = i < TJ_TENSOR_DESCRIPTOR_DWORDS ? is.dword[i] : zero;
  for (uint32_t d = 0; d < plan->dimension_count; d++)
    output[TJ_TENSOR_DESCRIPTOR_DWORDS + d] = is.coordinate[d];
  output[DMA_OUTPUTS - 1] = is.lds;
  tj_simplify(graph, output, DMA_OUTPUTS, NULL);
  ck_assert_uint_le(graph->symbol_count, DMA_SYMBOLS);
  of->bindings = (tj_bindings){of->value, NULL, graph->symbol_count};
  ck_assert_int_eq(tj_evaluator_create(output, DMA_OUTPUTS, &of->evaluator), TJ_EVAL_OK);
}

/* The plan's tensor map with the values that parameters have. */
static inline tj_tensor_map map_of(tj_graph *graph, const dma_instruction *of) {
  tj_dma_plan fixed = *of->plan;
  for (uint32_t d = 0; d < fixed.rank; d++) {
    const tj_node *node[2] = {fixed.dimension[d].extent, fixed.dimension[d].stride};
    int64_t value[2];
    ck_assert_int_eq(tj_eval_nodes(node, 2, &of->bindings, value), TJ_EVAL_OK);
    fixed.dimension[d].extent = tj_int(graph, value[0]);
    fixed.dimension[d].stride = tj_int(graph, value[1]);
  }
  return tj_dma_tensor_map(&fixed, 0);
}

/* The numbers of an instruction of the tile that begins at `origin`. */
typedef struct {
  int32_t coordinate[TJ_DMA_MOST_PLACES];
  uint32_t dword[TJ_TENSOR_DESCRIPTOR_DWORDS];
  uint64_t lds;
} dma_issue;

static inline dma_issue issue_of(dma_instruction *of, const int64_t origin[], int64_t number) {
  dma_issue issue = {.lds = 0};
  int64_t output[DMA_OUTPUTS];
  for (uint32_t m = 0; m < of->rank; m++)
    of->value[of->first + m] = origin[m];
  of->value[of->first + of->rank] = number;
  ck_assert_int_eq(tj_evaluator_run(of->evaluator, &of->bindings, output), TJ_EVAL_OK);
  for (uint32_t i = 0; i < TJ_TENSOR_DESCRIPTOR_DWORDS; i++)
    issue.dword[i] = (uint32_t)output[i];
  for (uint32_t d = 0; d < of->plan->dimension_count; d++)
    issue.coordinate[d] = (int32_t)output[TJ_TENSOR_DESCRIPTOR_DWORDS + d];
  issue.lds = (uint64_t)output[DMA_OUTPUTS - 1];
  return issue;
}

static inline bool run_instruction(dma_instruction *of, const int64_t origin[], int64_t number,
                                   const tj_tensor_map *map, lds_image *image) {
  dma_issue issue = issue_of(of, origin, number);
  return of->plan->engine->kind == TJ_DMA_DESCRIPTOR
             ? tj_dma_decode_descriptor(issue.dword, put_element, image)
             : tj_dma_decode_map(map, issue.coordinate, issue.lds, put_element, image);
}

static inline bool run_plan(tj_graph *graph, dma_instruction *of, const int64_t origin[], lds_image *image) {
  bool done = true;
  tj_tensor_map map = {.rank = 0};
  clear_image(image, of->plan->unit_bytes);
  if (of->plan->engine->kind == TJ_DMA_TENSOR_MAP)
    map = map_of(graph, of);
  for (int64_t n = 0; n < of->plan->instructions && done; n++)
    done = run_instruction(of, origin, n, &map, image);
  return done;
}

/* Compares all tiles of a case with what the instructions leave. */
static inline void check_tiles(const dma_case *c, dma_instruction *instruction, const char *said) {
  static lds_image wanted, left;
  const tj_dma_plan *plan = instruction->plan;
  int64_t grid[4], at[4] = {0};
  const tj_value *lds = c->request.lds != NULL ? c->request.lds : tj_value_of_layout(c->graph, plan->lds.layout);
  grid_of(c, grid);
  do {
    int64_t origin[4];
    for (uint32_t m = 0; m < c->rank; m++)
      origin[m] = at[m] * c->tile[m];
    want_tile(c, lds, origin, plan->unit_bytes, &wanted);
    ck_assert_msg(!wanted.is_twice && !wanted.is_outside, "%s: the layout in LDS, %s", said,
                  tj_layout_text(c->graph->job, plan->lds.layout));
    ck_assert_msg(run_plan(c->graph, instruction, origin, &left), "%s: no instruction", said);
    ck_assert_msg(!left.is_twice && !left.is_outside, "%s: written twice, or outside", said);
    for (int64_t i = 0; i < MOST_LDS_ELEMENTS; i++)
      ck_assert_msg(wanted.at[i] == left.at[i], "%s: tile (%d,%d,%d): LDS %d has %d, not %d", said, (int)at[0],
                    (int)at[1], (int)at[2], (int)i, (int)left.at[i], (int)wanted.at[i]);
  } while (advance(at, grid, c->rank));
}

static inline void check_plan(const dma_case *c, const tj_dma_plan *plan, uint64_t seed) {
  dma_instruction instruction;
  begin_instruction(&instruction, c->graph, plan, c->length, c->tile);
  check_tiles(c, &instruction, say_case(c, seed));
  tj_evaluator_destroy(instruction.evaluator);
}

#endif

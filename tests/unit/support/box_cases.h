/* SPDX-License-Identifier: MIT */
/* Copies whose tiles an engine brings into LDS, mappings with dma=1: by tensor descriptors, and by tensor maps; or
 * takes out of it, with dma_store=1. Tiles
 * at edges, sources that are padded at their ends, layouts in LDS of every order, with pads, swizzles and without,
 * shapes that only the launch knows; random ones, of which some have no plan. */
#ifndef TJ_TESTS_BOX_CASES_H
#define TJ_TESTS_BOX_CASES_H

#include "tests/unit/support/random_nodes.h"

#include <stdio.h>
#include <string.h>

enum { MOST_MODES = 3, BOX_TEXT = 2048, RANDOM_TILES = 60 };

/* The source has `valid` elements along each mode; the copy goes on to `extent`, by zeros. The destination is column
 * by column. */
typedef struct {
  const char *what, *type;
  size_t bytes;
  uint32_t rank;
  int64_t extent[MOST_MODES], valid[MOST_MODES], stride[MOST_MODES];
  const char *mapping; /* NULL: it is chosen */
  bool is_dynamic;     /* a matrix by rows, whose shape is passed */
} box_case;

#define STORE "store=((16,16),(4,4)):((4@0,1@1),(1@0,16@1)), "
#define PARTS "store=((16,16),(4,4,4)):((4@0,1@1),(1@0,16@1,64@1)), "
#define LONG "store=((16,16),(4,4,16)):((4@0,1@1),(1@0,16@1,64@1)), "
#define CUBE "tile=(8,16,32), store=((8,16),(32)):((1@0,1@1),(1@2)), "

static const box_case box_cases[] = {
    {"rows with pads",
     "f32",
     4,
     2,
     {128, 64},
     {128, 64},
     {64, 1},
     "tile=(64,64), " STORE "lds=(64,64):(65,1)",
     false},
    {"tiles at edges",
     "f32",
     4,
     2,
     {100, 84},
     {100, 84},
     {84, 1},
     "tile=(64,64), " STORE "lds=(64,64):(68,1)",
     false},
    {"columns in LDS",
     "f32",
     4,
     2,
     {100, 84},
     {100, 84},
     {84, 1},
     "tile=(64,64), " STORE "lds=(64,64):(1,68)",
     false},
    {"rows that lie apart",
     "f32",
     4,
     2,
     {70, 40},
     {70, 40},
     {200, 1},
     "tile=(64,64), " STORE "lds=(64,64):(64,1)",
     false},
    {"every other element",
     "f32",
     4,
     2,
     {64, 40},
     {64, 40},
     {200, 2},
     "tile=(64,64), " STORE "lds=(64,64):(65,1)",
     false},
    {"halves", "f16", 2, 2, {130, 96}, {130, 96}, {96, 1}, "tile=(64,64), " STORE "lds=(64,64):(72,1)", false},
    {"bytes", "u8", 1, 2, {130, 97}, {130, 97}, {97, 1}, "tile=(64,64), " STORE "lds=(64,64):(68,1)", false},
    {"elements of 8 bytes",
     "u64",
     8,
     2,
     {50, 70},
     {50, 70},
     {70, 1},
     "tile=(32,32), store=((8,32),(4)):((4@0,1@1),(1@0)), lds=(32,32):(33,1)",
     false},
    {"elements of 16 bytes",
     "b128",
     16,
     2,
     {50, 70},
     {50, 70},
     {70, 1},
     "tile=(16,16), store=((16,16),(1)):((1@0,1@1),(0)), lds=(16,16):(16,1)",
     false},
    {"three modes", "f32", 4, 3, {20, 36, 50}, {20, 36, 50}, {1800, 50, 1}, CUBE "lds=(8,16,32):(512,32,1)", false},
    {"three modes, another first in LDS",
     "f32",
     4,
     3,
     {20, 36, 50},
     {20, 36, 50},
     {1800, 50, 1},
     CUBE "lds=(8,16,32):(1,264,8)",
     false},
    {"rows that repeat, gathered with pads between them",
     "f32",
     4,
     3,
     {20, 36, 50},
     {20, 36, 50},
     {50, 0, 1},
     CUBE "lds=(8,16,32):(528,33,1)",
     false},
    {"a mode in two parts in LDS",
     "f32",
     4,
     2,
     {64, 64},
     {64, 64},
     {64, 1},
     "tile=(64,64), " STORE "lds=((2,32),64):((1,128),2)",
     false},
    {"several instructions",
     "f32",
     4,
     2,
     {100, 64},
     {100, 64},
     {64, 1},
     "tile=(64,64), " STORE "lds=((4,16),64):((1100,65),1)",
     false},
    {"one mode", "f32", 4, 1, {1000}, {1000}, {1}, "tile=(256), store=(64,4):(4@0,1@0), lds=(256,):(1,)", false},
    {"less than a wave", "f32", 4, 1, {90}, {90}, {1}, "tile=(32), store=(8,4):(4@0,1@0), lds=(32,):(1,)", false},
    {"a tile of a slot each", "f32", 4, 1, {45}, {45}, {1}, "tile=(64), store=(64,1):(1@0,0)", false},
    {"rows behind the end",
     "f32",
     4,
     2,
     {64, 64},
     {62, 64},
     {64, 1},
     "tile=(64,64), " STORE "lds=(64,64):(65,1)",
     false},
    {"tiles behind both ends",
     "f32",
     4,
     2,
     {256, 128},
     {90, 70},
     {70, 1},
     "tile=(64,64), " STORE "lds=(64,64):(65,1)",
     false},
    {"pads behind the last whole tile",
     "f32",
     4,
     2,
     {66, 33},
     {64, 32},
     {32, 1},
     "tile=(8,64), store=((4,16),(2,4)):((2@0,4@1),(1@0,1@1)), lds=(8,64):(64,1)",
     false},
    {"pads of whole tiles",
     "f32",
     4,
     2,
     {128, 128},
     {64, 64},
     {64, 1},
     "tile=(64,64), " STORE "lds=(64,64):(65,1)",
     false},
    {"passes, one at a time",
     "f32",
     4,
     2,
     {128, 512},
     {128, 512},
     {512, 1},
     "tile=(64,256), " PARTS "lds=(64,64):(65,1), passes=4",
     false},
    {"passes, two at a time, at edges",
     "f32",
     4,
     2,
     {100, 340},
     {100, 340},
     {340, 1},
     "tile=(64,256), " PARTS "lds=(64,64):(68,1), passes=4, buffers=2",
     false},
    {"passes of several instructions, three at a time",
     "f32",
     4,
     2,
     {100, 340},
     {100, 340},
     {340, 1},
     "tile=(64,256), " PARTS "lds=((4,16),64):((1100,65),1), passes=4, buffers=3",
     false},
    {"passes, all at a time, columns in LDS",
     "f32",
     4,
     2,
     {100, 340},
     {100, 340},
     {340, 1},
     "tile=(64,256), " PARTS "lds=(64,64):(1,68), passes=4, buffers=4",
     false},
    {"a loop of passes, two at a time, at edges",
     "f32",
     4,
     2,
     {100, 1400},
     {100, 1400},
     {1400, 1},
     "tile=(64,1024), " LONG "lds=(64,64):(68,1), passes=16, buffers=2",
     false},
    {"a loop of passes of several instructions, three at a time",
     "f32",
     4,
     2,
     {100, 1400},
     {100, 1400},
     {1400, 1},
     "tile=(64,1024), " LONG "lds=((4,16),64):((1100,65),1), passes=16, buffers=3",
     false},
    {"a loop of passes of sources that end in it, one at a time",
     "f32",
     4,
     2,
     {100, 1024},
     {90, 700},
     {700, 1},
     "tile=(64,1024), " LONG "lds=(64,64):(68,1), passes=16",
     false},
    {"a layout that is chosen",
     "f32",
     4,
     2,
     {100, 84},
     {100, 84},
     {84, 1},
     "tile=(64,64), store=((16,16),(4,4)):((4@0,1@1),(1@0,16@1))",
     false},
    {"one without gaps",
     "f32",
     4,
     2,
     {100, 84},
     {100, 84},
     {84, 1},
     "tile=(64,48), store=((16,12),(4,4)):((4@0,4@1),(1@0,1@1))",
     false},
    {"a shape that is passed",
     "f32",
     4,
     2,
     {100, 777},
     {100, 777},
     {777, 1},
     "tile=(64,64), " STORE "lds=(64,64):(68,1)",
     true},
    {"one that is a single tile",
     "u16",
     2,
     2,
     {3, 5},
     {3, 5},
     {5, 1},
     "tile=(64,64), " STORE "lds=(64,64):(66,1)",
     true},
    {"rows that end within vectors, chosen", "f32", 4, 2, {512, 64}, {500, 61}, {61, 1}, NULL, false},
    {"bytes that end within tiles, chosen", "u8", 1, 2, {256, 128}, {200, 100}, {100, 1}, NULL, false},
};

/* Of descriptors that store, without pads in LDS; `ways` are the mapping's. */
static const struct {
  const char *ways;
  box_case box;
} stored_cases[] = {
    {"dma_store=1",
     {"rows in LDS", "f32", 4, 2, {128, 64}, {128, 64}, {64, 1}, "tile=(64,64), " STORE "lds=(64,64):(64,1)", false}},
    {"dma_store=1",
     {"tiles at edges, columns in LDS",
      "f32",
      4,
      2,
      {100, 84},
      {100, 84},
      {84, 1},
      "tile=(64,64), " STORE "lds=(64,64):(1,64)",
      false}},
    {"dma_store=1",
     {"bytes", "u8", 1, 2, {130, 97}, {130, 97}, {97, 1}, "tile=(64,64), " STORE "lds=(64,64):(1,64)", false}},
    {"dma_store=1",
     {"three modes", "f16", 2, 3, {20, 36, 50}, {20, 36, 50}, {1800, 50, 1}, CUBE "lds=(8,16,32):(1,8,128)", false}},
    {"dma_store=1",
     {"zeros behind the source's end",
      "f32",
      4,
      2,
      {256, 128},
      {90, 70},
      {70, 1},
      "tile=(64,64), " STORE "lds=(64,64):(1,64)",
      false}},
    {"dma_store=1",
     {"a shape that is passed",
      "f32",
      4,
      2,
      {100, 777},
      {100, 777},
      {777, 1},
      "tile=(64,64), " STORE "lds=(64,64):(1,64)",
      true}},
    {"dma=1, dma_store=1",
     {"there and back by the engine",
      "f32",
      4,
      2,
      {100, 84},
      {100, 84},
      {84, 1},
      "tile=(64,64), " STORE "lds=(64,64):(1,64)",
      false}},
    {"direct=1, dma_store=1",
     {"there by lanes",
      "f32",
      4,
      2,
      {100, 84},
      {100, 84},
      {84, 1},
      "tile=(64,64), load=((16,16),(4,4)):((4@1,1@0),(1@1,16@0)), lds=(64,64):(64,1)",
      false}},
};

#define BLOCKS "store=((16,16),(4,4)):((4@0,4@1),(1@0,1@1))"

/* For tensor maps: rows begin at multiples of 16 bytes. */
static const box_case map_cases[] = {
    {"rows one after the other",
     "f32",
     4,
     2,
     {128, 64},
     {128, 64},
     {64, 1},
     "tile=(64,64), " STORE "lds=(64,64):(64,1)",
     false},
    {"tiles at edges, in a layout that is chosen",
     "f32",
     4,
     2,
     {100, 84},
     {100, 84},
     {84, 1},
     "tile=(64,64), " BLOCKS,
     false},
    {"rows of 128 bytes, swizzled",
     "f32",
     4,
     2,
     {100, 84},
     {100, 84},
     {84, 1},
     "tile=(64,64), " BLOCKS ", lds=Sw<3,2,3> o 0 o (64,(32,2)):(32,(1,2048))",
     false},
    {"rows of 64 bytes, swizzled",
     "f32",
     4,
     2,
     {100, 84},
     {100, 84},
     {84, 1},
     "tile=(64,64), " BLOCKS ", lds=Sw<2,2,3> o 0 o (64,(16,4)):(16,(1,1024))",
     false},
    {"rows of 32 bytes, swizzled",
     "f32",
     4,
     2,
     {100, 84},
     {100, 84},
     {84, 1},
     "tile=(64,64), " BLOCKS ", lds=Sw<1,2,3> o 0 o (64,(8,8)):(8,(1,512))",
     false},
    {"rows that lie apart", "f32", 4, 2, {70, 40}, {70, 40}, {200, 1}, "tile=(64,64), " BLOCKS, false},
    {"halves",
     "f16",
     2,
     2,
     {130, 96},
     {130, 96},
     {96, 1},
     "tile=(64,64), store=((8,8),(8,8)):((8@0,8@1),(1@0,1@1))",
     false},
    {"halves, swizzled by 128 bytes",
     "f16",
     2,
     2,
     {130, 96},
     {130, 96},
     {96, 1},
     "tile=(64,64), store=((8,8),(8,8)):((8@0,8@1),(1@0,1@1)), lds=Sw<3,3,3> o 0 o (64,64):(64,1)",
     false},
    {"bytes", "u8", 1, 2, {130, 112}, {130, 112}, {112, 1}, "tile=(64,64), " STORE "lds=(64,64):(64,1)", false},
    {"elements of 8 bytes",
     "u64",
     8,
     2,
     {50, 70},
     {50, 70},
     {70, 1},
     "tile=(32,32), store=((16,16),(2,2)):((2@0,2@1),(1@0,1@1))",
     false},
    {"elements of 16 bytes",
     "b128",
     16,
     2,
     {50, 70},
     {50, 70},
     {70, 1},
     "tile=(16,16), store=((16,16),(1)):((1@0,1@1),(0)), lds=(16,16):(16,1)",
     false},
    {"three modes", "f32", 4, 3, {20, 36, 52}, {20, 36, 52}, {1872, 52, 1}, CUBE "lds=(8,16,32):(512,32,1)", false},
    {"three modes, the outer ones turned around in LDS",
     "f32",
     4,
     3,
     {20, 36, 52},
     {20, 36, 52},
     {1872, 52, 1},
     CUBE "lds=(8,16,32):(32,256,1)",
     false},
    {"rows that repeat", "f32", 4, 3, {20, 32, 52}, {20, 32, 52}, {52, 0, 1}, CUBE "lds=(8,16,32):(32,256,1)", false},
    {"several instructions",
     "f32",
     4,
     2,
     {100, 64},
     {100, 64},
     {64, 1},
     "tile=(64,64), " STORE "lds=((4,16),64):((1024,64),1)",
     false},
    {"one mode", "f32", 4, 1, {1000}, {1000}, {1}, "tile=(256), store=(64,4):(4@0,1@0), lds=(256,):(1,)", false},
    {"a tile of a slot each", "f32", 4, 1, {45}, {45}, {1}, "tile=(64), store=(64,1):(1@0,0)", false},
    {"more shared memory than code lays out",
     "f32",
     4,
     2,
     {300, 200},
     {300, 200},
     {200, 1},
     "tile=(128,128), store=((32,8),(4,16)):((4@0,16@1),(1@0,1@1))",
     false},
    {"rows behind the end", "f32", 4, 2, {64, 64}, {62, 64}, {64, 1}, "tile=(64,64), " BLOCKS, false},
    {"tiles behind both ends", "f32", 4, 2, {256, 128}, {90, 72}, {72, 1}, "tile=(64,64), " BLOCKS, false},
    {"pads behind the last whole tile",
     "f32",
     4,
     2,
     {66, 33},
     {64, 32},
     {32, 1},
     "tile=(8,32), store=((4,16),(2,2)):((2@0,2@1),(1@0,1@1)), lds=(8,32):(32,1)",
     false},
    {"pads of whole tiles", "f32", 4, 2, {128, 128}, {64, 64}, {64, 1}, "tile=(64,64), " BLOCKS, false},
    {"a shape that is passed", "f32", 4, 2, {100, 776}, {100, 776}, {776, 1}, "tile=(64,64), " BLOCKS, true},
    {"one that is a single tile",
     "u16",
     2,
     2,
     {3, 8},
     {3, 8},
     {8, 1},
     "tile=(64,64), " STORE "lds=(64,64):(64,1)",
     true},
};

enum {
  BOX_CASES = sizeof box_cases / sizeof *box_cases,
  STORED_CASES = sizeof stored_cases / sizeof *stored_cases,
  MAP_CASES = sizeof map_cases / sizeof *map_cases
};

/* --- programs --- */

static inline size_t box_write_list(char *text, size_t at, const int64_t value[], uint32_t count, const char *end) {
  for (uint32_t m = 0; m < count; m++)
    at += (size_t)snprintf(text + at, BOX_TEXT - at, "%s%lld", m > 0 ? "," : "(", (long long)value[m]);
  return at + (size_t)snprintf(text + at, BOX_TEXT - at, "%s%s", count == 1 ? "," : "", end);
}

static inline void box_column_strides(const box_case *c, int64_t stride[MOST_MODES]) {
  stride[0] = 1;
  for (uint32_t m = 1; m < c->rank; m++)
    stride[m] = stride[m - 1] * c->extent[m - 1];
}

/* Padded where it ends before the copy does; then it is packed. */
static inline size_t box_write_source(char *text, size_t at, const box_case *c) {
  if (memcmp(c->extent, c->valid, sizeof c->extent) == 0) {
    at = box_write_list(text, at, c->extent, c->rank, "):");
    return box_write_list(text, at, c->stride, c->rank, ")");
  }
  return at + (size_t)snprintf(text + at, BOX_TEXT - at,
                               "transform(packed((%lld,%lld)), [right_pad(%lld,%lld), right_pad(%lld,%lld)], "
                               "[[0],[1]], [[0],[1]])",
                               (long long)c->valid[0], (long long)c->valid[1], (long long)c->valid[0],
                               (long long)(c->extent[0] - c->valid[0]), (long long)c->valid[1],
                               (long long)(c->extent[1] - c->valid[1]));
}

/* With dma=1, or other ways. For tensor maps, rows of a matrix that is passed are multiples of 16 bytes. */
static inline void box_write_program(char text[BOX_TEXT], const box_case *c, const char *ways, bool is_map) {
  int64_t stride[MOST_MODES];
  if (c->is_dynamic) {
    snprintf(text, BOX_TEXT,
             "param M in 1..65536, N in 1..65536%s kernel k(s: %s @ (M,N):(N,1), d: %s @ (M,N):(1,M)) = "
             "copy(s, d, mapping=mapping(%s, %s))",
             is_map ? " multiple 8" : "", c->type, c->type, c->mapping, ways);
    return;
  }
  box_column_strides(c, stride);
  size_t at = (size_t)snprintf(text, BOX_TEXT, "kernel k(s: %s @ ", c->type);
  at = box_write_source(text, at, c);
  at += (size_t)snprintf(text + at, BOX_TEXT - at, ", d: %s @ ", c->type);
  at = box_write_list(text, at, c->extent, c->rank, "):");
  at = box_write_list(text, at, stride, c->rank, ")");
  if (c->mapping == NULL)
    snprintf(text + at, BOX_TEXT - at, ") = copy(s, d)");
  else
    snprintf(text + at, BOX_TEXT - at, ") = copy(s, d, mapping=mapping(%s, %s))", c->mapping, ways);
}

static inline int64_t box_reach(const box_case *c, const int64_t extent[], const int64_t stride[]) {
  int64_t last = 0;
  for (uint32_t m = 0; m < c->rank; m++)
    last += (extent[m] - 1) * stride[m];
  return last + 1;
}

static inline bool box_next(const box_case *c, int64_t at[MOST_MODES]) {
  for (uint32_t m = 0; m < c->rank; m++) {
    if (++at[m] < c->extent[m])
      return true;
    at[m] = 0;
  }
  return false;
}

/* An element of the copy: its places in source and destination, and whether the source has it. */
typedef struct {
  int64_t source, destination;
  bool is_there;
} box_element;

static inline box_element box_element_at(const box_case *c, const int64_t at[MOST_MODES]) {
  int64_t stride[MOST_MODES] = {0};
  box_element e = {0, 0, true};
  box_column_strides(c, stride);
  for (uint32_t m = 0; m < c->rank; m++) {
    e.source += at[m] * c->stride[m];
    e.destination += at[m] * stride[m];
    e.is_there = e.is_there && at[m] < c->valid[m];
  }
  return e;
}

/* --- random tiles --- */

/* Modes one after the other in some order, perhaps with room between, in whole units. */
static inline void box_choose_strides(random_source *random, uint32_t rank, const int64_t extent[], int64_t unit,
                                      int64_t stride[]) {
  static const int64_t gaps[] = {0, 0, 0, 1, 2, 4, 8};
  uint32_t order[MOST_MODES];
  int64_t step = 1;
  random_order(random, order, rank);
  for (uint32_t i = 0; i < rank; i++) {
    stride[order[i]] = step;
    step = step * extent[order[i]] + gaps[random_below(random, sizeof gaps / sizeof *gaps)];
    step = (step + unit - 1) / unit * unit;
  }
}

/* A layout of the tile in LDS; of tensor maps, where it is not chosen, in the order of the source. */
static inline size_t box_write_lds(char *text, size_t at, random_source *random, const box_case *c,
                                   const int64_t tile[], bool is_map) {
  int64_t stride[MOST_MODES];
  if (is_map && random_below(random, 3) > 0)
    return at;
  if (!is_map)
    box_choose_strides(random, c->rank, tile, 1, stride);
  for (uint32_t m = 0; m < c->rank && is_map; m++) {
    stride[m] = 1;
    for (uint32_t k = 0; k < c->rank; k++)
      stride[m] *= c->stride[k] < c->stride[m] || (c->stride[k] == c->stride[m] && k < m) ? tile[k] : 1;
  }
  at += (size_t)snprintf(text + at, BOX_TEXT - at, ", lds=");
  at = box_write_list(text, at, tile, c->rank, "):");
  return box_write_list(text, at, stride, c->rank, ")");
}

enum { MOST_RANDOM = 16384 /* elements of a tile */ };

/* A case whose mapping is written to `mapping`. */
static inline box_case random_box(random_source *random, bool is_map, char mapping[BOX_TEXT]) {
  static const struct {
    const char *name;
    size_t bytes;
  } types[] = {{"u8", 1}, {"f16", 2}, {"f32", 4}, {"u64", 8}};
  uint32_t type = random_below(random, 4), rank = 1 + random_below(random, MOST_MODES);
  box_case c = {.what = "random", .type = types[type].name, .bytes = types[type].bytes, .rank = rank};
  int64_t tile[MOST_MODES], size = 1, unit = is_map ? 16 / (int64_t)c.bytes : 1;
  for (uint32_t m = 0; m < rank; m++) {
    int64_t least = rank == 1 ? 64 : unit > 4 ? unit : 4;
    tile[m] = least << random_below(random, 3);
    while (size * tile[m] > MOST_RANDOM >> (4 * (rank - 1 - m)) && tile[m] > least)
      tile[m] /= 2;
    size *= tile[m];
    c.extent[m] = c.valid[m] = 1 + random_below(random, (uint32_t)(3 * tile[m]));
  }
  box_choose_strides(random, rank, c.extent, unit, c.stride);
  size_t at = (size_t)snprintf(mapping, BOX_TEXT, "tile=");
  at = box_write_list(mapping, at, tile, rank, ")");
  int64_t items = size < 64 ? size : 64;
  at += (size_t)snprintf(mapping + at, BOX_TEXT - at, ", store=(%lld,%lld):(1,%lld)", (long long)items,
                         (long long)(size / items), (long long)items);
  box_write_lds(mapping, at, random, &c, tile, is_map);
  c.mapping = mapping;
  return c;
}

#endif

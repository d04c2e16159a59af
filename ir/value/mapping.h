/* SPDX-License-Identifier: MIT */
/* Mappings: how a copy is shared out among workgroups, work-items and what these hold.
 *
 * Tiles of one shape cover the domain of a copy, mode by mode; a workgroup moves one tile. A work-item holds elements
 * of it in slots: `load` and `store` say which, as layouts from (item, slot) to the coordinate in the tile. Where the
 * two differ, elements change work-items in LDS. A mapping is checked when it is made, and so covers its tile once;
 * whether it fits a target is lower/mapping/mapped.h's to say. Mappings are constant, immutable, and live in the
 * graph's job.
 */
#ifndef TJ_IR_MAPPING_H
#define TJ_IR_MAPPING_H

#include "ir/index/substitute.h"
#include "ir/layout/leaves.h"
#include "ir/map/distribution.h"

/* Numbers that a launch chooses from its shapes, in the tile and the sides of a mapping: how many steps work-items
 * take along a mode of the tile, and how many their slots do. */
typedef enum { TJ_MAPPING_ITEMS, TJ_MAPPING_SLOTS, TJ_MAPPING_SHARES } tj_mapping_share_kind;

enum {
  TJ_MAPPING_MOST_ITEMS = 65536,
  TJ_MAPPING_MOST_SLOTS = 256,        /* that go through registers element by element */
  TJ_MAPPING_MOST_ELEMENTS = 1 << 20, /* of a tile */
  TJ_MAPPING_MOST_LDS = 1 << 24       /* elements that a part of a tile takes in LDS */
};

enum { TJ_MAPPING_INDEX = UINT32_MAX }; /* in the place of a mode: the tile's colexicographic index */

/* A leaf of a side's layout: `extent` values, each `step` along a mode of the tile. */
typedef struct {
  int64_t extent, step;
  uint32_t mode;
} tj_mapping_digit;

enum { TJ_MAPPING_MOST_DIGITS = TJ_MOST_LEAVES };

/* The digits of items, or of slots, under construction: begins as {.count = 0}. */
typedef struct {
  tj_mapping_digit digit[TJ_MAPPING_MOST_DIGITS];
  uint32_t count;
  bool lacks_some; /* for which there was no room */
} tj_mapping_digits;

/* What work-items hold as they load, or as they store. */
typedef struct {
  tj_layout layout; /* (item, slot) → coordinate in the tile: basis elements of its modes, or the colexicographic
                       index; of rank 2. Modes of stride 0 repeat elements: the first holder passes them on */
  const tj_mapping_digit *digit; /* its leaves, those of the item first */
  uint32_t digit_count, item_digits;
  uint32_t items, slots;
  const struct tj_value *as; /* the number of a work-item → that of the item that it is, one to one; NULL: the same */
  uint32_t lanes;            /* of the wave that it is made for; 0: of any */
} tj_mapping_side;

typedef struct tj_mapping {
  const tj_layout *domain; /* the modes that tiles are cut from → coordinates of the operands' own modes, in basis
                              elements of these; NULL: the operands' modes as they are */
  const tj_tuple *tile;    /* extents of the tile by mode of the domain: constants, a flat list */
  tj_mapping_side load, store;
  const struct tj_value *lds; /* layout or composed layout, coordinate in the tile, or in a pass's part of it →
                                 element of LDS; NULL: chosen */
  uint32_t
      passes;     /* equal parts along the last mode of several coordinates that go through LDS one after the other */
  uint32_t ahead; /* for how many of them LDS has room besides the one whose turn it is: fewer than all */
  const int64_t *overlap; /* by mode: of how many elements are the pieces of a tile that are moved back inside where
                             they would end beyond the domain, the whole tile or a divisor of it; 0: what is beyond is
                             masked. NULL: 0 for all */
  const tj_layout *order; /* the workgroup's number → coordinate of its tile; NULL: the last mode fastest */
  bool is_launched;       /* some leaves are numbers that a launch chooses: of the sides the layouts alone are known;
                             tiles are cut to what the domain has, and moved back inside; of overlap nothing is said */
  bool is_open;           /* the tile and its domain are all that is said; the rest is to be chosen: of the sides and
                             other parts nothing is known */
  bool streams;           /* what is stored bypasses the caches */
  bool is_direct;  /* load's elements go from memory straight into LDS: work-items load what lies there where `load`
                      says, lds taken without its swizzle */
  bool by_dma;     /* an engine brings the tile into LDS; nobody loads what `load` says */
  bool dma_stores; /* an engine takes the tile out of LDS; nobody stores what `store` says */
} tj_mapping;

/* What a mapping is made of; NULL for what is not given. */
typedef struct {
  const tj_layout *domain;
  const tj_tuple *tile;
  const tj_layout *load, *store; /* of one alone, the other is the same; without any, both are chosen for the tile,
                                    and so is what else a mapping says */
  const struct tj_value *lds;
  const struct tj_value *load_as, *store_as;
  int64_t passes, buffers;
  const tj_tuple *overlap; /* 0, 1 for whole tiles, or the pieces by mode */
  const tj_layout *order;
  bool streams, is_direct, by_dma, dma_stores;
} tj_mapping_parts;

/* TJ4020 for parts that are missing or of the wrong form, TJ4021 where load or store leave the tile or do not cover
 * it once, TJ4016 for tiles and sides that are too large. */
const tj_mapping *tj_mapping_make(tj_graph *graph, const tj_mapping_parts *parts);

/* items(mode) and slots(mode): the symbol, of which a graph has one. */
const tj_node *tj_mapping_share(tj_graph *graph, tj_mapping_share_kind kind, uint32_t mode);
/* Whether parts have such numbers, and the mapping made of them. TJ4020 for parts that it cannot have, TJ4021 where
 * digits along a mode do not go on to where others begin. (mapping_launched.c) */
bool tj_mapping_is_launched(tj_graph *graph, const tj_mapping_parts *parts);
const tj_mapping *tj_mapping_make_launched(tj_graph *graph, const tj_mapping_parts *parts);
/* Whether work-items hold the same on both sides of such mappings. */
bool tj_mapping_is_same(tj_graph *graph, const tj_mapping *a, const tj_mapping *b);
/* TJ4020: the launch cannot choose the numbers of another mapping than this one. */
_Noreturn void tj_mapping_fail_launched(tj_graph *graph, const tj_mapping *possible);

/* TJ4020 for a domain that has not a mode for each of the tile's, or that does not step through the operands'. */
void tj_mapping_check_domain(tj_graph *graph, const tj_layout *domain, uint32_t rank);

/* Tiles that travel as distributions say: loaded as `from` does, stored as `to` does. TJ4015 where the Ps are neither
 * one, the lane, nor two, wave and lane. */
const tj_mapping *tj_mapping_of_distributions(tj_graph *graph, const tj_distribution *from,
                                              const tj_distribution *to);

int64_t tj_mapping_extent(const tj_mapping *mapping, uint32_t mode);
uint32_t tj_mapping_rank(const tj_mapping *mapping);

/* A mapping of tiles of these extents, of which nothing is checked; its sides are not set. */
tj_mapping *tj_mapping_of_tile(tj_graph *graph, const tj_layout *domain, const tj_tuple *tile);

/* Whether elements go into LDS, or out of it, and not through registers. */
bool tj_mapping_skips_registers(const tj_mapping *mapping);

/* Whether a mapping of known tiles says no more than its domain, its tile, load and store. */
bool tj_mapping_is_plain(const tj_mapping *mapping);

/* A side of that layout, of which nothing is checked. */
tj_mapping_side tj_mapping_side_of(tj_graph *graph, tj_layout layout, const struct tj_value *as);

/* Another digit; one of one value is left out. */
void tj_mapping_add_digit(tj_mapping_digits *digits, int64_t extent, int64_t step, uint32_t mode);
/* The mode of a layout that the digits are. */
tj_layout tj_mapping_mode_of_digits(tj_graph *graph, const tj_mapping_digits *digits);
/* The side of such items and slots, of which nothing is checked; one of no items and no slots where some digits are
 * lacking. */
tj_mapping_side tj_mapping_side_of_digits(tj_graph *graph, const tj_mapping_digits *items,
                                          const tj_mapping_digits *slots, const struct tj_value *as);

/* Work-items of a workgroup of the side: its items, rounded up to what `as` exchanges with each other. */
uint32_t tj_mapping_work_items(tj_graph *graph, const tj_mapping_side *side);

/* How many numbers a map of items exchanges with each other; 0: it is none that is one to one. */
int64_t tj_mapping_block(tj_graph *graph, const struct tj_value *as);

/* The digits along a mode, largest step first, by place; returns how many. Those that do not step are left out. */
uint32_t tj_mapping_digits_along(const tj_mapping_digit digit[], uint32_t digit_count, uint32_t mode,
                                 uint32_t found[]);

/* Whether values of a side are the tile's index; of one that is always 0 nobody can tell, and it does not matter. */
bool tj_mapping_gives_index(const tj_mapping_digit digit[], uint32_t digit_count);

int64_t tj_mapping_overlap(const tj_mapping *mapping, uint32_t mode);
/* The mode of which each pass has a part. */
uint32_t tj_mapping_pass_mode(const tj_mapping *mapping);

/* The item that a work-item is on a side, and its digits there, by leaf: of the last one no more than there are where
 * it `stays_inside`. */
const tj_node *tj_mapping_item(tj_graph *graph, const tj_mapping_side *side, const tj_node *work_item);
const tj_node *const *tj_mapping_item_digits(tj_graph *graph, const tj_mapping_side *side, const tj_node *item,
                                             bool stays_inside);

/* Where the element of a slot is in the tile. Digits that would lead beyond the tile, or to where the next larger
 * digit begins, begin earlier; or they are left out, and then `is_there` says whether there is such an element. */
typedef struct {
  const tj_node *const *digit; /* by mode */
  const tj_node *is_there;     /* truth */
} tj_mapping_place;

tj_mapping_place tj_mapping_at(tj_graph *graph, const tj_mapping *mapping, const tj_mapping_side *side,
                               const tj_node *const item_digits[], uint32_t slot, bool leaves_out);

/* Whether coordinates are sums of what items and slots add: no digit would lead beyond the tile, nor to where the
 * next larger one begins. */
bool tj_mapping_adds_up(tj_graph *graph, const tj_mapping *mapping, const tj_mapping_side *side);
/* Adds what a slot adds to the coordinates of slot 0, by mode. */
void tj_mapping_add_slot(const tj_mapping_side *side, uint32_t slot, int64_t place[]);

/* The element of LDS, in a part of the tile, that `lds` gives to a coordinate there, by mode: before its swizzle, of
 * 0 bits where it has none. */
const tj_node *tj_mapping_lds_at(tj_graph *graph, const tj_mapping *mapping, const tj_node *const within[]);
tj_swizzle tj_mapping_lds_swizzle(const tj_mapping *mapping);
/* Whether the layout of `lds` has a mode for each of the tile's, and not the part's index for its coordinate. */
bool tj_mapping_lds_is_by_mode(tj_graph *graph, const tj_mapping *mapping);
/* The extents of what goes through LDS in one pass: along a mode, and all of them. */
int64_t tj_mapping_part_extent(const tj_mapping *mapping, uint32_t mode);
const tj_tuple *tj_mapping_part(tj_graph *graph, const tj_mapping *mapping);
/* The mapping of the part of the first pass, whose slots those of other passes are like, further along the mode of
 * passes by as much as a part is long; nothing of it is moved back. NULL where they are not alike. (mapping_pass.c)
 */
const tj_mapping *tj_mapping_of_pass(tj_graph *graph, const tj_mapping *mapping);
/* How many elements of LDS a part of the tile takes; and from where on there the next one lies, where several are
 * there at a time. */
int64_t tj_mapping_lds_elements(tj_graph *graph, const tj_mapping *mapping);
int64_t tj_mapping_lds_pitch(tj_graph *graph, const tj_mapping *mapping);
/* How many parts are there at a time on a target that takes the tile in so many passes, in the mapping's or in one;
 * and how many elements of LDS all of them take. */
uint32_t tj_mapping_lds_parts(const tj_mapping *mapping, uint32_t passes);
int64_t tj_mapping_lds_size(tj_graph *graph, const tj_mapping *mapping, uint32_t passes);

/* The tile, by mode, that a workgroup takes, where there are `tiles` along each mode, in terms of what is assumed;
 * NULL for nothing. TJ4023 where the order does not surely reach every tile once. */
const tj_node *const *tj_mapping_tile(tj_graph *graph, const tj_mapping *mapping, const tj_node *const tiles[],
                                      const tj_substitution *assumed, const tj_node *workgroup);

/* mapping(domain=…, tile=(32,128), load=…, store=…, load_as=…, store_as=…, lds=…, passes=1, buffers=1, overlap=0,
 * order=…, stream=1, direct=1, dma=1); parts that are not given are left out. */
void tj_mapping_print(tj_text *text, const tj_mapping *mapping);

#endif

/* SPDX-License-Identifier: MIT */
/* What the launch chooses of a tile (base/number/tile.h): by which numbers, and under which names. */
#include "base/integer.h"
#include "base/machine/processor.h"
#include "ir/simplify/simplify.h"
#include "lower/flexible/flexible_maker.h"
#include "lower/kernel/arithmetic.h"

static uint32_t least_bytes(const tj_flexible *f, uint32_t side) {
  return tj_domain_least_bytes(f->domain, f->kernel, tj_flexible_buffer(f, side), side == TJ_FLEXIBLE_SOURCE);
}

/* --- what it is chosen by --- */

static void set_axes(const tj_flexible *f, tj_tile *tile) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++)
    tile->axis[i] = f->axis[i].mode;
  for (uint32_t m = 0; m < f->domain->count; m++) {
    for (uint32_t i = 0; i < TJ_TILE_FOLLOWING; i++) {
      if (tile->axis[i] == f->order[TJ_FLEXIBLE_DESTINATION][m])
        tile->after[count++] = i;
    }
  }
  while (count < TJ_TILE_FOLLOWING)
    tile->after[count++] = TJ_TILE_FOLLOWING;
}

uint32_t tj_flexible_lanes(const tj_target *target) {
  return tj_sector_bytes(target->processor) > 0 ? 2 * target->wave_size : target->wave_size;
}

static void set_constants(const tj_flexible *f, tj_tile *tile) {
  set_axes(f, tile);
  tile->modes = f->domain->count;
  tile->loaded_bytes = least_bytes(f, TJ_FLEXIBLE_SOURCE);
  tile->stored_bytes = least_bytes(f, TJ_FLEXIBLE_DESTINATION);
  tile->line_bytes = tj_cache_line_bytes(f->target->processor);
  tile->vector_bytes = f->target->vector_bytes;
  tile->lanes = tj_flexible_lanes(f->target);
  tile->loaded = f->width[TJ_FLEXIBLE_SOURCE];
  tile->stored = f->width[TJ_FLEXIBLE_DESTINATION];
  tile->is_given = f->given != NULL;
  for (uint32_t i = 0; i < TJ_TILE_WORDS; i++) {
    if (!tj_tile_allows(i, tile->word[i]))
      tj_fail(f->graph->job, TJ_INTERNAL, "a launch cannot choose a tile by this");
  }
}

static void set_inputs(const tj_flexible *f, tj_launched_tile *launched) {
  for (uint32_t i = 0; i < TJ_TILE_INPUTS; i++) {
    uint32_t m = i % TJ_TILE_MODES, of = i / TJ_TILE_MODES;
    const tj_node *input = tj_int(f->graph, 0);
    if (m < f->domain->count)
      input = of == 0 ? f->mode[m].extent.launch : f->mode[m].stride[of - 1].launch;
    launched->input[i] = input;
  }
}

/* --- what is chosen --- */

/* The numbers that inputs decide which are constant: all, or how many vectors a run has. */
static uint32_t known_numbers(const tj_launched_tile *launched) {
  bool turns = launched->tile.kind == TJ_TILE_TURNED, is_known = true;
  for (uint32_t i = 0; i < TJ_TILE_INPUTS; i++)
    is_known = is_known && tj_is_constant(launched->input[i]);
  bool has_run = !turns && tj_is_constant(launched->input[launched->tile.axis[TJ_TILE_LOADED]]);
  return is_known ? TJ_TILE_NUMBERS : has_run ? 1 : 0;
}

static tj_tile_choice choice_of(const tj_launched_tile *launched) {
  tj_tile_domain domain;
  for (uint32_t i = 0; i < TJ_TILE_INPUTS; i++)
    domain.input[i] = tj_is_constant(launched->input[i]) ? launched->input[i]->value : 1;
  return tj_tile_choose(&launched->tile, &domain);
}

/* There are no more items along an axis than the most that its extent may be. */
static void limits_of(const tj_launched_tile *launched, tj_tile_choice *least, tj_tile_choice *most) {
  tj_tile_limits(&launched->tile, least, most);
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++) {
    uint32_t mode = launched->tile.axis[i];
    if (mode != TJ_TILE_NONE)
      most->items[i] = tj_least(most->items[i], launched->input[mode]->facts.high);
  }
}

static void set_numbers(const tj_flexible *f, tj_launched_tile *launched) {
  uint32_t known = known_numbers(launched);
  tj_tile_choice least, most, choice = choice_of(launched);
  limits_of(launched, &least, &most);
  for (uint32_t i = 0; i < TJ_TILE_NUMBERS; i++) {
    const char *name = i < TJ_TILE_AXES ? "items" : i < 2 * TJ_TILE_AXES ? "log" : "worth";
    bool is_known = i < known || least.number[i] == most.number[i];
    const tj_node *low = tj_int(f->graph, least.number[i]), *high = tj_int(f->graph, most.number[i]);
    launched->number[i] = is_known ? tj_int(f->graph, choice.number[i])
                                   : tj_symbol_create(f->graph, name, TJ_SYMBOL_COORDINATE, low, high, 1);
  }
  if (launched->tile.kind == TJ_TILE_STAGED)
    launched->number[TJ_TILE_AXES + TJ_TILE_NEXT_STORED] = launched->number[TJ_TILE_AXES + TJ_TILE_NEXT_LOADED];
}

static bool is_same(const tj_launched_tile *a, const tj_launched_tile *b) {
  bool is = true;
  for (uint32_t i = 0; i < TJ_TILE_WORDS; i++)
    is = is && a->tile.word[i] == b->tile.word[i];
  for (uint32_t i = 0; i < TJ_TILE_INPUTS; i++)
    is = is && a->input[i] == b->input[i];
  return is;
}

/* Of variants that only differ in their vectors' alignment. */
static const tj_launched_tile *found_among(const tj_kernel *variant, const tj_launched_tile *launched) {
  for (; variant != NULL; variant = variant->faster) {
    if (variant->launched != NULL && is_same(variant->launched, launched))
      return variant->launched;
  }
  return NULL;
}

static tj_launched_tile *made_tile(const tj_flexible *f, const tj_tile *tile) {
  tj_launched_tile *made = TJ_NEW(f->graph->job, tj_launched_tile);
  made->tile = *tile;
  set_inputs(f, made);
  return made;
}

const tj_node *tj_flexible_choose(tj_flexible *f, tj_tile tile) {
  tj_tile_choice least, most;
  set_constants(f, &tile);
  tj_launched_tile *made = made_tile(f, &tile);
  f->kernel->launched = found_among(f->flat, made);
  if (f->kernel->launched == NULL) {
    set_numbers(f, made);
    f->kernel->launched = made;
  }
  const tj_node *const *number = f->kernel->launched->number;
  limits_of(f->kernel->launched, &least, &most);
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++)
    f->axis[i] = (tj_flexible_axis){.mode = tile.axis[i],
                                    .items = number[i],
                                    .log = number[TJ_TILE_AXES + i],
                                    .most = most.items[i],
                                    .most_log = most.log[i],
                                    .has_slots = least.log[i] < most.log[i]};
  return number[TJ_TILE_NUMBERS - 1];
}

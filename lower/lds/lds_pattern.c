/* SPDX-License-Identifier: MIT */
/* Patterns of accesses, found by keys: first by where the access has its rows and columns from, which many share;
 * then by what these are. */
#include "lower/lds/lds_pattern.h"

#include "base/number/keys.h"

enum { WIDEST = 16 };

/* What a tile's accesses are put together from. Accesses of a family borrow the same rows and columns. */
typedef struct {
  const tj_stage_tile *tile;
  tj_stage_pattern *pattern;
  tj_keys families, patterns;
  tj_stage_instance *family; /* as one that begins at row 0, column 0 would be */
} finder;

/* --- widths --- */

uint32_t tj_stage_narrowest(const tj_stage_tile *tile) {
  return tile->element_bytes < TJ_BANK_BYTES ? TJ_BANK_BYTES / tile->element_bytes : 1;
}

/* The largest power of two that divides the access's length and, in its direction, all its starts. */
static uint32_t aligned_elements(const tj_stage_tile *tile, const tj_stage_access *access) {
  uint32_t bits = access->elements | WIDEST / tile->element_bytes;
  for (uint64_t left = access->active; left != 0; left &= left - 1) {
    uint32_t lane = (uint32_t)__builtin_ctzll(left);
    bits |= access->direction == TJ_STAGE_ROW ? tj_stage_column(access, lane) : tj_stage_row(access, lane);
  }
  return bits & -bits;
}

uint32_t tj_stage_widest(const tj_stage_patterns *patterns, tj_stage_direction direction) {
  uint32_t vector = tj_stage_narrowest(patterns->tile);
  for (uint32_t i = 0; i < patterns->count; i++) {
    const tj_stage_pattern *pattern = &patterns->pattern[i];
    if (pattern->access->direction == direction && pattern->aligned > vector)
      vector = pattern->aligned;
  }
  return vector;
}

uint32_t tj_stage_instructions(const tj_stage_patterns *patterns, tj_stage_direction direction, uint32_t vector) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < patterns->count; i++) {
    const tj_stage_pattern *pattern = &patterns->pattern[i];
    count += pattern->instances * (pattern->access->elements / tj_stage_pattern_vector(pattern, direction, vector));
  }
  return count;
}

/* --- patterns --- */

/* What rows, or columns, are rounded down to. */
static uint32_t unit_of(const tj_stage_tile *tile, const tj_stage_access *access, tj_stage_direction direction) {
  return access->direction == direction ? WIDEST / tile->element_bytes : tj_stage_narrowest(tile);
}

static uint32_t row_unit(const tj_stage_tile *tile, const tj_stage_access *access) {
  return unit_of(tile, access, TJ_STAGE_COLUMN);
}

static uint32_t column_unit(const tj_stage_tile *tile, const tj_stage_access *access) {
  return unit_of(tile, access, TJ_STAGE_ROW);
}

static uint64_t key_of_kind(const tj_stage_access *access) {
  uint64_t key = tj_key_mix(access->elements, access->active);
  return tj_key_mix(key, (access->is_store ? 2u : 0u) + (access->direction == TJ_STAGE_ROW ? 1u : 0u));
}

static uint64_t key_of_family(const tj_stage_tile *tile, const tj_stage_access *access) {
  uint64_t key = tj_key_mix(key_of_kind(access), (uintptr_t)access->row);
  key = tj_key_mix(key, (uintptr_t)access->column);
  return tj_key_mix(key, (uint64_t)(access->at_row % row_unit(tile, access)) << 32 |
                             access->at_column % column_unit(tile, access));
}

/* A number for where lanes begin, as seen from a row and a column. */
static uint64_t key_of_pattern(const tj_stage_access *access, uint32_t row, uint32_t column) {
  uint64_t key = key_of_kind(access);
  for (uint64_t left = access->active; left != 0; left &= left - 1) {
    uint32_t lane = (uint32_t)__builtin_ctzll(left);
    key = tj_key_mix(key, (uint64_t)(tj_stage_row(access, lane) - row) << 32 |
                              (uint32_t)(tj_stage_column(access, lane) - column));
  }
  return key;
}

static tj_stage_pattern new_pattern(finder *f, const tj_stage_access *access, uint32_t row, uint32_t column) {
  enum { WIDTHS = 5 }; /* 1, 2, 4, 8 or 16 elements */
  tj_job *job = f->patterns.job;
  return (tj_stage_pattern){.access = access,
                            .row = row,
                            .column = column,
                            .aligned = aligned_elements(f->tile, access),
                            .wanted = {TJ_NEW_ARRAY(job, struct tj_stage_wanted *, WIDTHS),
                                       TJ_NEW_ARRAY(job, struct tj_stage_wanted *, WIDTHS)}};
}

/* The pattern of the first access of a family. */
static tj_stage_instance found(finder *f, const tj_stage_access *access) {
  tj_spend(f->patterns.job, (uint64_t)__builtin_popcountll(access->active));
  uint32_t lane = access->active != 0 ? (uint32_t)__builtin_ctzll(access->active) : 0;
  uint32_t row = access->active != 0 ? tj_stage_row(access, lane) : 0,
           column = access->active != 0 ? tj_stage_column(access, lane) : 0;
  row -= row % row_unit(f->tile, access);
  column -= column % column_unit(f->tile, access);
  uint32_t known = f->patterns.count, number = tj_key_number(&f->patterns, key_of_pattern(access, row, column));
  if (number == known)
    f->pattern[number] = new_pattern(f, access, row, column);
  return (tj_stage_instance){number, row - access->at_row, column - access->at_column};
}

static tj_stage_instance instance_of(finder *f, const tj_stage_access *access) {
  uint32_t known = f->families.count, number = tj_key_number(&f->families, key_of_family(f->tile, access));
  if (number == known)
    f->family[number] = found(f, access);
  tj_stage_instance instance = f->family[number];
  return (tj_stage_instance){instance.pattern, instance.row + access->at_row, instance.column + access->at_column};
}

tj_stage_patterns tj_stage_patterns_of(tj_job *job, const tj_stage_tile *tile) {
  uint32_t count = tile->access_count;
  finder f = {.tile = tile,
              .pattern = tj_arena_raw(&job->arena, count + 1, sizeof(tj_stage_pattern)),
              .families = tj_keys_make(job),
              .patterns = tj_keys_make(job),
              .family = tj_arena_raw(&job->arena, count + 1, sizeof(tj_stage_instance))};
  tj_stage_instance *instance = tj_arena_raw(&job->arena, count + 1, sizeof *instance);
  for (uint32_t i = 0; i < count; i++) {
    instance[i] = instance_of(&f, &tile->access[i]);
    f.pattern[instance[i].pattern].instances++;
  }
  tj_spend(job, count);
  return (tj_stage_patterns){tile, f.pattern, f.patterns.count, instance};
}

/* The search for LDS layouts: candidates in order of what they cost besides cycles, so that the first one that takes
 * as few cycles as the pigeonhole allows is the best. A candidate is given up as soon as it cannot win.
 *
 * The pigeonhole: a layout keeps `vector` elements together and aligned, so a word stays at its place within its
 * vector; of the words that one phase wants, those at one place share the banks of that place. */
#include "lower/stage.h"

#include "base/text.h"

#include <stdlib.h>

enum { WIDEST = 16, MOST_CANDIDATES = 512, MOST_WORDS = TJ_BANK_LANES * 4 };

/* One LDS instruction: each lane moves `bytes` from (row[lane] + row_step, column[lane] + column_step) on. */
typedef struct {
  const tj_stage_access *access;
  uint32_t row_step, column_step;
  uint32_t bytes;
  uint32_t least; /* cycles, by the pigeonhole */
} instruction;

/* All accesses as instructions, in layouts of one direction. */
typedef struct {
  tj_job *job;
  const tj_bank_model *model;
  const tj_stage_tile *tile;
  tj_stage_direction direction;
  uint32_t vector;
  instruction *instruction;
  uint32_t count;
  uint32_t least; /* cycles of all */
} stream;

typedef struct {
  tj_stage_layout layout;
  uint32_t address_cost; /* operations that make an address */
  uint32_t number;
} candidate;

static bool is_power_of_two(uint32_t n) {
  return (n & (n - 1)) == 0;
}

static uint32_t round_up(uint32_t n, uint32_t unit) {
  return (n + unit - 1) / unit * unit;
}

static uint32_t log2_of(uint32_t power) {
  return (uint32_t)__builtin_ctz(power);
}

/* --- layouts --- */

uint32_t tj_stage_offset_at(const tj_stage_layout *layout, uint32_t row, uint32_t column) {
  bool by_row = layout->direction == TJ_STAGE_ROW;
  uint32_t at = by_row ? row * layout->pitch + column : column * layout->pitch + row;
  uint32_t mask = (1u << layout->swizzle.bits) - 1;
  return at ^ (at >> layout->swizzle.shift & mask << layout->swizzle.base);
}

const tj_node *tj_stage_offset(tj_graph *graph, const tj_stage_layout *layout, const tj_node *row,
                               const tj_node *column) {
  bool by_row = layout->direction == TJ_STAGE_ROW;
  const tj_node *pitch = tj_int(graph, layout->pitch);
  const tj_node *at = tj_add(graph, tj_mul(graph, by_row ? row : column, pitch), by_row ? column : row);
  return layout->swizzle.bits == 0 ? at : tj_swizzle_apply(graph, layout->swizzle, at);
}

tj_composed tj_stage_composed(tj_graph *graph, const tj_stage_layout *layout, uint32_t rows, uint32_t columns) {
  const tj_tuple *pitch = tj_tuple_constant(graph, layout->pitch), *one = tj_tuple_constant(graph, 1);
  bool by_row = layout->direction == TJ_STAGE_ROW;
  const tj_tuple *extents[] = {tj_tuple_constant(graph, rows), tj_tuple_constant(graph, columns)};
  const tj_tuple *strides[] = {by_row ? pitch : one, by_row ? one : pitch};
  tj_layout plain = tj_layout_make(graph, tj_tuple_list(graph, extents, 2), tj_tuple_list(graph, strides, 2));
  return (tj_composed){layout->swizzle, tj_tuple_constant(graph, 0), plain};
}

/* --- instructions --- */

/* The largest power of two that divides the access's length and, in its direction, all its starts. */
static uint32_t aligned_elements(const tj_stage_tile *tile, const tj_stage_access *access) {
  const uint32_t *start = access->direction == TJ_STAGE_ROW ? access->column : access->row;
  uint32_t bits = access->elements | WIDEST / tile->element_bytes;
  for (uint64_t left = access->active; left != 0; left &= left - 1)
    bits |= start[__builtin_ctzll(left)];
  return bits & -bits;
}

uint32_t tj_stage_vector(const tj_stage_layout *layout, const tj_stage_tile *tile, const tj_stage_access *access) {
  return access->direction == layout->direction ? aligned_elements(tile, access) : 1;
}

/* What layouts of a direction must keep together: the widest aligned access along it, and whole words. */
static uint32_t vector_of(const tj_stage_tile *tile, tj_stage_direction direction) {
  uint32_t vector = tile->element_bytes < TJ_BANK_BYTES ? TJ_BANK_BYTES / tile->element_bytes : 1;
  for (uint32_t i = 0; i < tile->access_count; i++) {
    if (tile->access[i].direction != direction)
      continue;
    uint32_t aligned = aligned_elements(tile, &tile->access[i]);
    vector = aligned > vector ? aligned : vector;
  }
  return vector;
}

/* --- the pigeonhole --- */

/* Words of a tile, each once: which row or column across the direction, and which word along it. */
typedef struct {
  uint32_t across[MOST_WORDS], along[MOST_WORDS];
  uint32_t count;
} word_set;

static void insert_word(word_set *set, uint32_t across, uint32_t along) {
  for (uint32_t i = 0; i < set->count; i++) {
    if (set->across[i] == across && set->along[i] == along)
      return;
  }
  set->across[set->count] = across;
  set->along[set->count++] = along;
}

/* The words at each place within their vectors, and so the cycles that the fullest place needs. */
static uint32_t least_of_words(const word_set *set, uint32_t places, uint32_t banks) {
  uint32_t at_place[WIDEST / TJ_BANK_BYTES] = {0}, least = 0;
  for (uint32_t i = 0; i < set->count; i++) {
    uint32_t cycles = (++at_place[set->along[i] % places] + banks / places - 1) / (banks / places);
    least = cycles > least ? cycles : least;
  }
  return least;
}

static uint32_t least_of_phase(const stream *s, const instruction *in, uint32_t phase) {
  const tj_stage_access *access = in->access;
  word_set set;
  set.count = 0;
  for (uint64_t left = access->active; left != 0; left &= left - 1) {
    uint32_t lane = (uint32_t)__builtin_ctzll(left);
    if (tj_bank_phase(s->model, access->is_store, in->bytes, lane) != phase)
      continue;
    uint32_t row = access->row[lane] + in->row_step, column = access->column[lane] + in->column_step;
    bool by_row = s->direction == TJ_STAGE_ROW;
    uint32_t first = (by_row ? column : row) * s->tile->element_bytes;
    for (uint32_t word = first / TJ_BANK_BYTES; word <= (first + in->bytes - 1) / TJ_BANK_BYTES; word++)
      insert_word(&set, by_row ? row : column, word);
  }
  return least_of_words(&set, s->vector * s->tile->element_bytes / TJ_BANK_BYTES, s->model->banks);
}

static uint32_t least_of_instruction(const stream *s, const instruction *in) {
  uint32_t least = 0;
  for (uint32_t phase = 0; phase < TJ_BANK_MOST_PHASES; phase++)
    least += least_of_phase(s, in, phase);
  return least;
}

static void add_instructions(stream *s, const tj_stage_access *access) {
  tj_stage_layout of_direction = {.direction = s->direction};
  uint32_t vector = tj_stage_vector(&of_direction, s->tile, access);
  bool by_row = access->direction == TJ_STAGE_ROW;
  for (uint32_t at = 0; at < access->elements; at += vector) {
    instruction *in = &s->instruction[s->count++];
    *in = (instruction){.access = access,
                        .row_step = by_row ? 0 : at,
                        .column_step = by_row ? at : 0,
                        .bytes = vector * s->tile->element_bytes};
    in->least = least_of_instruction(s, in);
    s->least += in->least;
  }
}

static stream make_stream(tj_job *job, const tj_bank_model *model, const tj_stage_tile *tile,
                          tj_stage_direction direction) {
  stream s = {job, model, tile, direction, .vector = vector_of(tile, direction)};
  uint32_t most = 0;
  for (uint32_t i = 0; i < tile->access_count; i++)
    most += tile->access[i].elements;
  tj_spend(job, (uint64_t)most * TJ_BANK_LANES);
  s.instruction = TJ_NEW_ARRAY(job, instruction, most);
  for (uint32_t i = 0; i < tile->access_count; i++)
    add_instructions(&s, &tile->access[i]);
  return s;
}

/* --- cycles --- */

static uint32_t cycles_of(const stream *s, const instruction *in, const tj_stage_layout *layout) {
  const tj_stage_access *access = in->access;
  uint32_t address[TJ_BANK_LANES];
  for (uint64_t left = access->active; left != 0; left &= left - 1) {
    uint32_t lane = (uint32_t)__builtin_ctzll(left);
    address[lane] = s->tile->element_bytes * tj_stage_offset_at(layout, access->row[lane] + in->row_step,
                                                                access->column[lane] + in->column_step);
  }
  return tj_bank_cycles(s->model, access->is_store, in->bytes, address, access->active);
}

/* Cycles of the whole stream; `enough` or more once it is sure that they are not fewer. */
static uint32_t cycles_below(const stream *s, const tj_stage_layout *layout, uint32_t enough) {
  uint32_t cycles = s->least;
  for (uint32_t i = 0; i < s->count && cycles < enough; i++) {
    tj_spend(s->job, TJ_BANK_LANES);
    cycles += cycles_of(s, &s->instruction[i], layout) - s->instruction[i].least;
  }
  return cycles;
}

/* --- candidates --- */

typedef struct {
  candidate item[MOST_CANDIDATES];
  uint32_t count;
} candidate_list;

static void add_candidate(candidate_list *list, const stream *s, uint32_t pitch, tj_swizzle swizzle) {
  const tj_stage_tile *tile = s->tile;
  uint32_t lines = s->direction == TJ_STAGE_ROW ? tile->rows : tile->columns;
  uint64_t elements = round_up(lines * pitch, 1u << (swizzle.bits > 0 ? swizzle.base + swizzle.bits : 0));
  if (list->count == MOST_CANDIDATES || elements * tile->element_bytes > tile->limit)
    return;
  candidate *c = &list->item[list->count];
  c->layout = (tj_stage_layout){s->direction, pitch, swizzle, s->vector, (uint32_t)elements * tile->element_bytes};
  c->address_cost = (is_power_of_two(pitch) ? 1u : 2u) + (swizzle.bits > 0 ? 2u : 0u);
  c->number = list->count++;
}

/* Swizzles that leave vectors whole and reach no further than the banks. */
static void add_swizzles(candidate_list *list, const stream *s, uint32_t pitch, uint32_t bank_row) {
  uint32_t lines = s->direction == TJ_STAGE_ROW ? s->tile->rows : s->tile->columns;
  uint32_t top = log2_of(bank_row), first = log2_of(s->vector), size = lines * pitch;
  for (uint32_t bits = 1; first + bits <= top; bits++) {
    for (uint32_t base = first; base + bits <= top; base++) {
      for (uint32_t shift = bits; size >> (base + shift) > 0; shift++)
        add_candidate(list, s, pitch, (tj_swizzle){(int32_t)bits, (int32_t)base, (int32_t)shift});
    }
  }
}

static int by_cost(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->layout.bytes != y->layout.bytes)
    return x->layout.bytes < y->layout.bytes ? -1 : 1;
  if (x->address_cost != y->address_cost)
    return x->address_cost < y->address_cost ? -1 : 1;
  return x->number < y->number ? -1 : 1;
}

/* Plain; padded by one vector, up to a whole turn of the banks; swizzled. Empty where the plain one does not fit. */
static candidate_list *list_candidates(const stream *s) {
  const tj_stage_tile *tile = s->tile;
  candidate_list *list = TJ_NEW(s->job, candidate_list);
  uint32_t pitch = round_up(s->direction == TJ_STAGE_ROW ? tile->columns : tile->rows, s->vector);
  uint32_t bank_row = s->model->banks * TJ_BANK_BYTES / tile->element_bytes;
  for (uint32_t padding = 0; padding < bank_row; padding += s->vector)
    add_candidate(list, s, pitch + padding, (tj_swizzle){0, 0, 0});
  add_swizzles(list, s, pitch, bank_row);
  qsort(list->item, list->count, sizeof list->item[0], by_cost);
  return list;
}

/* --- the choice --- */

typedef struct {
  const candidate *best; /* NULL: nothing fits */
  const candidate *plain;
  uint32_t cycles;
  uint32_t tried;
} outcome;

/* Candidates come in order of cost, so only fewer cycles win. */
static outcome search_direction(const stream *s) {
  const candidate_list *list = list_candidates(s);
  outcome o = {.best = NULL, .cycles = UINT32_MAX};
  for (uint32_t i = 0; i < list->count && o.cycles > s->least; i++, o.tried++) {
    uint32_t cycles = cycles_below(s, &list->item[i].layout, o.cycles);
    o.best = cycles < o.cycles ? &list->item[i] : o.best;
    o.cycles = cycles < o.cycles ? cycles : o.cycles;
  }
  for (uint32_t i = 0; i < list->count; i++)
    o.plain = list->item[i].number == 0 ? &list->item[i] : o.plain;
  return o;
}

/* Whether b's layout is to be preferred to a's. */
static bool is_better(const stream *a, const outcome *of_a, const stream *b, const outcome *of_b) {
  if (of_a->best == NULL || of_b->best == NULL)
    return of_a->best == NULL && of_b->best != NULL;
  if (of_a->cycles != of_b->cycles)
    return of_b->cycles < of_a->cycles;
  if (a->count != b->count)
    return b->count < a->count;
  if (of_a->best->layout.bytes != of_b->best->layout.bytes)
    return of_b->best->layout.bytes < of_a->best->layout.bytes;
  return of_b->best->address_cost < of_a->best->address_cost;
}

static void count_sides(const stream *s, tj_stage_choice *choice) {
  for (uint32_t i = 0; i < s->count; i++) {
    const instruction *in = &s->instruction[i];
    uint32_t cycles = cycles_of(s, in, &choice->layout);
    uint32_t ideal = tj_bank_ideal(s->model, in->access->is_store, in->bytes, in->access->active);
    *(in->access->is_store ? &choice->store_cycles : &choice->load_cycles) += cycles;
    *(in->access->is_store ? &choice->store_ideal : &choice->load_ideal) += ideal;
  }
}

static void describe_layout(tj_text *text, const candidate *chosen, const candidate *plain) {
  const tj_stage_layout *layout = &chosen->layout;
  if (layout->swizzle.bits > 0)
    tj_swizzle_print(text, layout->swizzle);
  else if (layout->pitch > plain->layout.pitch)
    tj_text_format(text, "%ss padded by %u to %u elements", layout->direction == TJ_STAGE_ROW ? "row" : "column",
                   layout->pitch - plain->layout.pitch, layout->pitch);
  else
    tj_text_string(text, "plain");
}

/* What is said of conflicts that remain: that nothing can be done, or that nothing was found. */
static void describe_conflicts(tj_text *text, const stream *s, const outcome *o, uint32_t ideal) {
  uint32_t places = s->vector * s->tile->element_bytes / TJ_BANK_BYTES;
  if (o->cycles == ideal)
    return;
  if (o->cycles > s->least)
    tj_text_format(text, "; the best of %u layouts, at least %u are needed", o->tried, s->least);
  else
    tj_text_format(
        text, "; conflicts are unavoidable: vectors of %u bytes leave %u of %u banks to words at one place of them",
        places * TJ_BANK_BYTES, s->model->banks / places, s->model->banks);
}

static const char *give_reason(const stream *s, const outcome *o, const tj_stage_choice *choice) {
  tj_text text = tj_text_begin(s->job);
  uint32_t ideal = choice->store_ideal + choice->load_ideal;
  describe_layout(&text, o->best, o->plain);
  if (o->cycles == ideal)
    tj_text_format(&text, ": %u cycles, free of conflicts", o->cycles);
  else
    tj_text_format(&text, ": %u cycles, %u without conflicts", o->cycles, ideal);
  if (choice->plain_cycles > o->cycles)
    tj_text_format(&text, "; plain would take %u", choice->plain_cycles);
  describe_conflicts(&text, s, o, ideal);
  return text.data;
}

bool tj_stage_search(tj_job *job, const tj_bank_model *model, const tj_stage_tile *tile, tj_stage_choice *choice) {
  stream streams[2];
  outcome outcomes[2];
  for (unsigned d = 0; d < 2; d++) {
    streams[d] = make_stream(job, model, tile, d == 0 ? TJ_STAGE_ROW : TJ_STAGE_COLUMN);
    outcomes[d] = search_direction(&streams[d]);
  }
  unsigned chosen = is_better(&streams[0], &outcomes[0], &streams[1], &outcomes[1]) ? 1 : 0;
  const stream *s = &streams[chosen];
  const outcome *o = &outcomes[chosen];
  if (o->best == NULL)
    return false;
  *choice = (tj_stage_choice){.layout = o->best->layout, .instructions = s->count, .least_cycles = s->least};
  choice->plain_cycles = cycles_below(s, &o->plain->layout, UINT32_MAX);
  count_sides(s, choice);
  choice->reason = give_reason(s, o, choice);
  return true;
}

/* SPDX-License-Identifier: MIT */
/* An instruction at the banks of LDS: rows as long as all banks, those that it touches; in each word the lanes that
 * want it, and the phase that serves them. Words for which a bank has to be asked more than once in a phase are
 * marked. */
#include "jit/show/show.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_LANE_WORDS = 5, MOST_WANTED = TJ_BANK_LANES * MOST_LANE_WORDS };

/* A word that a lane wants. */
typedef struct {
  uint32_t word, lane, phase;
} wanted_word;

/* All words of an instruction, by word, then by lane; and the rows of banks that have them. */
typedef struct {
  tj_job *job;
  const tj_lds_wave_access *access;
  uint32_t banks;
  wanted_word wanted[MOST_WANTED];
  uint32_t count;
  uint32_t row[MOST_WANTED]; /* numbers of rows, ascending */
  uint32_t row_count;
} bank_access;

static int by_word(const void *a, const void *b) {
  const wanted_word *x = a, *y = b;
  if (x->word != y->word)
    return x->word < y->word ? -1 : 1;
  return x->lane < y->lane ? -1 : x->lane > y->lane;
}

static void add_lane(bank_access *at, uint32_t lane, uint32_t phase) {
  uint32_t begin = at->access->address[lane], end = begin + at->access->bytes;
  for (uint32_t word = begin / TJ_BANK_BYTES; word * TJ_BANK_BYTES < end; word++)
    at->wanted[at->count++] = (wanted_word){word, lane, phase};
}

static void gather_words(const tj_lds_check *check, bank_access *at) {
  uint64_t lanes[TJ_BANK_MOST_PHASES];
  tj_bank_phases(check->memory.banks, at->access->is_store, at->access->bytes, at->access->active, lanes);
  for (uint32_t phase = 0; phase < TJ_BANK_MOST_PHASES; phase++) {
    for (uint64_t left = lanes[phase]; left != 0; left &= left - 1)
      add_lane(at, (uint32_t)__builtin_ctzll(left), phase);
  }
  qsort(at->wanted, at->count, sizeof *at->wanted, by_word);
}

static void gather_rows(bank_access *at) {
  for (uint32_t i = 0; i < at->count; i++) {
    uint32_t row = at->wanted[i].word / at->banks;
    if (at->row_count == 0 || at->row[at->row_count - 1] != row)
      at->row[at->row_count++] = row;
  }
}

/* --- cells --- */

/* Whether the bank is wanted for another word in a phase in which this one is. */
static bool is_in_conflict(const bank_access *at, const wanted_word *one) {
  for (uint32_t i = 0; i < at->count; i++) {
    const wanted_word *other = &at->wanted[i];
    if (other->phase == one->phase && other->word != one->word && other->word % at->banks == one->word % at->banks)
      return true;
  }
  return false;
}

static const char *lanes_text(const bank_access *at, const wanted_word first[], uint32_t count) {
  tj_text text = tj_text_begin(at->job);
  tj_text_format(&text, "L%" PRIu32, first->lane);
  if (count > 1)
    tj_text_format(&text, "%s%" PRIu32, count == 2 ? "," : "..", first[count - 1].lane);
  return text.data;
}

/* The cell of a word that lanes want: `count` of them, from `first` on. */
static void fill_cell(const bank_access *at, const wanted_word first[], uint32_t count, tj_cell *cell) {
  cell->state = TJ_CELL_VALID;
  cell->fill = tj_colour_category(first->phase, 1);
  cell->owner_count = count;
  cell->owner = TJ_NEW_ARRAY(at->job, int64_t, 2 * (size_t)count);
  for (uint32_t i = 0; i < count; i++) {
    cell->owner[2 * i] = first[i].lane;
    cell->owner[2 * i + 1] = first[i].phase;
    cell->is_marked = cell->is_marked || is_in_conflict(at, &first[i]);
  }
  cell->line[0] = lanes_text(at, first, count);
  cell->line[1] = tj_string_format(at->job, "p%" PRIu32, first->phase);
}

static tj_cell *cells_of(const bank_access *at) {
  tj_cell *cell = TJ_NEW_ARRAY(at->job, tj_cell, (size_t)at->row_count * at->banks);
  for (uint32_t i = 0; i < at->row_count * at->banks; i++) {
    int64_t *coordinate = TJ_NEW_ARRAY(at->job, int64_t, 2);
    coordinate[0] = at->row[i / at->banks];
    coordinate[1] = i % at->banks;
    cell[i] = (tj_cell){.state = TJ_CELL_EMPTY, .coordinate = coordinate, .fill = 0xffffff};
  }
  for (uint32_t i = 0, row = 0, count = 1; i < at->count; i += count, count = 1) {
    const wanted_word *first = &at->wanted[i];
    while (i + count < at->count && first[count].word == first->word)
      count++;
    while (at->row[row] != first->word / at->banks)
      row++;
    fill_cell(at, first, count, &cell[row * at->banks + first->word % at->banks]);
  }
  return cell;
}

/* --- panels --- */

static tj_panel panel_of(const tj_lds_check *check, bool is_store) {
  tj_job *job = check->graph->job;
  tj_lds_wave_access access = tj_lds_worst_access(check, is_store);
  bank_access *at = TJ_NEW(job, bank_access);
  *at = (bank_access){.job = job, .access = &access, .banks = check->memory.banks->banks};
  gather_words(check, at);
  gather_rows(at);
  tj_panel panel = {.caption = tj_string_format(job, "%s: %s", is_store ? "store" : "load", access.text),
                    .row = tj_axis_of_numbers(job, at->row_count),
                    .column = tj_axis_of_numbers(job, at->banks),
                    .cell = cells_of(at)};
  for (uint32_t i = 0; i < at->row_count; i++)
    panel.row.label[i] = tj_number_text(job, (int64_t)at->row[i] * at->banks * TJ_BANK_BYTES);
  panel.column.group = 8;
  return panel;
}

void tj_show_banks(const tj_lds_check *check, tj_picture *picture) {
  static const char *const fields[] = {"lane", "phase"};
  tj_graph *graph = check->graph;
  tj_panel *panel = TJ_NEW_ARRAY(graph->job, tj_panel, 2);
  if (check->store != NULL)
    panel[picture->panel_count++] = panel_of(check, true);
  if (check->load != NULL)
    panel[picture->panel_count++] = panel_of(check, false);
  const tj_tuple *shape[] = {tj_tuple_constant(graph, 1 << 20), tj_tuple_constant(graph, check->memory.banks->banks)};
  picture->panel = panel;
  picture->domain = tj_tuple_list(graph, shape, 2);
  picture->field = fields;
  picture->field_count = 2;
  picture->has_marks = true;
  picture->note = tj_string_format(graph->job,
                                   "%s: rows of %u banks, from the byte on that stands before them; lane L wants a "
                                   "word in phase p; marked: its bank is wanted for another one in that phase",
                                   check->target, check->memory.banks->banks);
  picture->colour = "the phase";
}

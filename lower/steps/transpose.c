/* SPDX-License-Identifier: MIT */
/* Blocks of elements that turn around in registers.
 *
 * A store whose elements are one lane each of many loaded vectors would take them apart element by element. Where a
 * machine permutes whole vectors, the vectors change places with their lanes instead: short ones are first joined to
 * the length of the result. Groups of 16 bytes are then interleaved as often as it takes, which machines do within
 * such groups at the least cost; in groups of other lengths, pairs exchange halves of ever shorter groups of lanes.
 * Where a machine permutes the bytes of words, these are the vectors: words of 2 or 4 vectors, whose parts change
 * places, are 2 or 4 words of the result. All lanes of the block change places at once, so that the stores that
 * follow find whole vectors in their slots. */
#include "lower/steps/transpose.h"

enum { MOST_LANES = 64, WORD_BYTES = 4 };

/* count vectors of `width` elements each, or words of as many. */
typedef struct {
  LLVMValueRef vector[MOST_LANES];
  uint32_t count, width;
} block;

/* --- permutations --- */

static LLVMValueRef permuted(tj_emitter *emitter, LLVMValueRef a, LLVMValueRef b, const uint32_t lane[],
                             uint32_t count) {
  LLVMValueRef index[MOST_LANES];
  for (uint32_t i = 0; i < count; i++)
    index[i] = LLVMConstInt(emitter->i32, lane[i], false);
  return LLVMBuildShuffleVector(emitter->builder, a, b, LLVMConstVector(index, count), "");
}

/* Lanes first … first+count-1 of the two together. */
static LLVMValueRef cut(tj_emitter *emitter, LLVMValueRef a, LLVMValueRef b, uint32_t first, uint32_t count) {
  uint32_t lane[MOST_LANES];
  for (uint32_t i = 0; i < count; i++)
    lane[i] = first + i;
  return permuted(emitter, a, b, lane, count);
}

/* Joins vectors until they have `width` elements: vector i, that which stands as many places after it as it has
 * elements, and so on, in this order. */
static void join(tj_emitter *emitter, block *b, uint32_t width) {
  for (uint32_t places = b->width; b->width < width; b->width *= 2) {
    b->count /= 2;
    for (uint32_t i = 0; i < b->count; i++) {
      uint32_t first = i / places * 2 * places + i % places;
      b->vector[i] = cut(emitter, b->vector[first], b->vector[first + places], 0, 2 * b->width);
    }
  }
}

/* Exchanges the odd groups of `half` lanes of `upper` with the even ones of `lower`. */
static void exchange(tj_emitter *emitter, LLVMValueRef *upper, LLVMValueRef *lower, uint32_t width, uint32_t half) {
  uint32_t even[MOST_LANES], odd[MOST_LANES];
  for (uint32_t lane = 0; lane < width; lane++) {
    bool is_odd = (lane & half) != 0;
    even[lane] = is_odd ? width + lane - half : lane;
    odd[lane] = is_odd ? width + lane : lane + half;
  }
  LLVMValueRef a = *upper, b = *lower;
  *upper = permuted(emitter, a, b, even, width);
  *lower = permuted(emitter, a, b, odd, width);
}

/* Lanes of two words, of as many each as are chosen. */
static LLVMValueRef permuted_word(tj_emitter *emitter, LLVMValueRef a, LLVMValueRef b, const uint32_t lane[],
                                  uint32_t count) {
  uint8_t byte[WORD_BYTES];
  uint32_t bytes = WORD_BYTES / count;
  for (uint32_t i = 0; i < WORD_BYTES; i++)
    byte[i] = (uint8_t)(lane[i / bytes] * bytes + i % bytes);
  return emitter->target->family->emit_bytes(emitter, a, b, byte);
}

/* Pairs the lanes of two vectors, or words, within each group of `group` lanes: the first half of them, or the
 * second. */
static LLVMValueRef interleaved(tj_emitter *emitter, LLVMValueRef a, LLVMValueRef b, uint32_t width, uint32_t group,
                                bool is_second) {
  uint32_t from[MOST_LANES];
  for (uint32_t lane = 0; lane < width; lane++) {
    uint32_t within = lane % group, first = lane - within + (is_second ? group / 2 : 0);
    from[lane] = first + within / 2 + (within % 2 == 0 ? 0 : width);
  }
  bool is_word = LLVMTypeOf(a) == emitter->i32;
  return is_word ? permuted_word(emitter, a, b, from, width) : permuted(emitter, a, b, from, width);
}

/* Each group of as many lanes as there are vectors changes places with them: a round of interleaving moves one bit of
 * a vector's number to the lane's. */
static void turn_within_groups(tj_emitter *emitter, block *b) {
  uint32_t half = b->count / 2;
  for (uint32_t round = 1; round < b->count; round *= 2) {
    block next = *b;
    for (uint32_t i = 0; i < half; i++) {
      LLVMValueRef upper = b->vector[i], lower = b->vector[i + half];
      next.vector[2 * i] = interleaved(emitter, upper, lower, b->width, b->count, false);
      next.vector[2 * i + 1] = interleaved(emitter, upper, lower, b->width, b->count, true);
    }
    *b = next;
  }
}

/* The same, for groups of any length. */
static void turn_by_halves(tj_emitter *emitter, block *b) {
  for (uint32_t half = b->count / 2; half > 0; half /= 2) {
    for (uint32_t i = 0; i < b->count; i++) {
      if ((i & half) == 0)
        exchange(emitter, &b->vector[i], &b->vector[i + half], b->width, half);
    }
  }
}

static void turn(tj_emitter *emitter, block *b) {
  LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(b->vector[0]));
  bool is_integer = LLVMGetTypeKind(element) == LLVMIntegerTypeKind;
  if (is_integer && b->count * LLVMGetIntTypeWidth(element) == 8 * TJ_PERMUTED_BYTES)
    turn_within_groups(emitter, b);
  else
    turn_by_halves(emitter, b);
}

/* --- slots --- */

/* The loaded vectors of which a store's slots are the same lane each; false where they are something else. */
static bool find_rows(const tj_emitter *emitter, const tj_kernel_step *store, block *rows) {
  const tj_slot_value *first = &emitter->steps->slot[store->slot];
  *rows = (block){.count = store->width, .width = first->width};
  if (store->width < 2 || store->width > MOST_LANES || first->width < 2 || first->width > MOST_LANES)
    return false;
  for (uint32_t i = 0; i < store->width; i++) {
    const tj_slot_value *slot = &emitter->steps->slot[store->slot + i * store->slot_step];
    bool is_vector = LLVMGetTypeKind(LLVMTypeOf(slot->value)) == LLVMVectorTypeKind;
    if (!is_vector || slot->width != first->width || slot->lane != first->lane ||
        (i > 0 && slot->value == first->value))
      return false;
    rows->vector[i] = slot->value;
  }
  return true;
}

/* From here on, lane c of row r is lane r of column c. */
static void replace_slots(tj_emitter *emitter, const block *rows, const LLVMValueRef column[]) {
  for (uint32_t s = 0; s < emitter->kernel->slot_count; s++) {
    tj_slot_value *slot = &emitter->steps->slot[s];
    for (uint32_t r = 0; r < rows->count && slot->width == rows->width; r++) {
      if (slot->value == rows->vector[r]) {
        *slot = (tj_slot_value){column[slot->lane], rows->count, r};
        break;
      }
    }
  }
}

/* --- whole vectors --- */

static void turn_vectors(tj_emitter *emitter, const block *rows, LLVMValueRef column[]) {
  uint32_t columns = rows->width < rows->count ? rows->width : rows->count;
  for (uint32_t first = 0; first < rows->width; first += columns) {
    block part = {.count = rows->count, .width = columns};
    for (uint32_t r = 0; r < rows->count; r++) {
      LLVMValueRef row = rows->vector[r];
      part.vector[r] = columns == rows->width ? row : cut(emitter, row, row, first, columns);
    }
    join(emitter, &part, rows->count);
    turn(emitter, &part);
    for (uint32_t c = 0; c < columns; c++)
      column[first + c] = part.vector[c];
  }
}

/* --- words --- */

/* Whether words come as such: what is not aligned may have been loaded element by element. */
static bool has_words(const tj_emitter *emitter) {
  const tj_target *target = emitter->target;
  return target->family->emit_bytes != NULL && (emitter->kernel->is_aligned || !target->needs_aligned_vectors);
}

/* How many elements a word has; 0: they are no parts of words. */
static uint32_t elements_of_word(const tj_emitter *emitter, const block *rows) {
  LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(rows->vector[0]));
  if (!has_words(emitter) || LLVMGetTypeKind(element) != LLVMIntegerTypeKind)
    return 0;
  uint32_t bytes = LLVMGetIntTypeWidth(element) / 8, count = bytes > 0 ? WORD_BYTES / bytes : 0;
  return count > 1 && rows->count % count == 0 && rows->width % count == 0 ? count : 0;
}

static LLVMValueRef as_words(tj_emitter *emitter, LLVMValueRef vector, uint32_t count) {
  return LLVMBuildBitCast(emitter->builder, vector, LLVMVectorType(emitter->i32, count), "");
}

/* The block of as many vectors as a word has elements, from `row` on: their words of number `word`. */
static block words_at(tj_emitter *emitter, LLVMValueRef words[], uint32_t row, uint32_t word, uint32_t count) {
  block part = {.count = count, .width = count};
  for (uint32_t i = 0; i < count; i++)
    part.vector[i] = LLVMBuildExtractElement(emitter->builder, words[row + i], tj_emit_int(emitter, 32, word), "");
  return part;
}

static void add_words(tj_emitter *emitter, const block *part, LLVMValueRef column[], uint32_t place) {
  for (uint32_t i = 0; i < part->count; i++)
    column[i] =
        LLVMBuildInsertElement(emitter->builder, column[i], part->vector[i], tj_emit_int(emitter, 32, place), "");
}

static void turn_words(tj_emitter *emitter, const block *rows, LLVMValueRef column[], uint32_t count) {
  LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(rows->vector[0]));
  LLVMValueRef words[MOST_LANES];
  for (uint32_t r = 0; r < rows->count; r++)
    words[r] = as_words(emitter, rows->vector[r], rows->width / count);
  for (uint32_t c = 0; c < rows->width; c++)
    column[c] = LLVMGetPoison(LLVMVectorType(emitter->i32, rows->count / count));
  for (uint32_t r = 0; r < rows->count; r += count) {
    for (uint32_t c = 0; c < rows->width; c += count) {
      block part = words_at(emitter, words, r, c / count, count);
      turn_within_groups(emitter, &part);
      add_words(emitter, &part, column + c, r / count);
    }
  }
  for (uint32_t c = 0; c < rows->width; c++)
    column[c] = LLVMBuildBitCast(emitter->builder, column[c], LLVMVectorType(element, rows->count), "");
}

void tj_emit_transposed(tj_emitter *emitter, const tj_kernel_step *store) {
  block rows;
  LLVMValueRef column[MOST_LANES];
  if (emitter->kernel->slot_dtype != NULL || !find_rows(emitter, store, &rows))
    return;
  uint32_t count = elements_of_word(emitter, &rows);
  if (count > 0)
    turn_words(emitter, &rows, column, count);
  else if (emitter->target->has_vector_permutations)
    turn_vectors(emitter, &rows, column);
  else
    return;
  replace_slots(emitter, &rows, column);
}

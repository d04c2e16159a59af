/* SPDX-License-Identifier: MIT */
/* Random pairs of distributions of one wave, or a few, of elements of 8 to 64 bits: copies from one to the other on a
 * simulated device have every element in its place, at the edges of their domains too; and none goes through LDS
 * where elements stay in their waves, and a bound on what lanes need says that they are cheaper. */
#include "tests/unit/support/library_support.h"

#include <stdio.h>

enum { PAIRS = 168, MOST_BITS = 13, TEXT = 2048, PART = 128, LONG_TEXT = 3 * TEXT };

typedef struct {
  uint64_t state;
} random_source;

static uint32_t below(random_source *random, uint32_t limit) {
  random->state = random->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(random->state >> 33) % limit;
}

/* --- pairs --- */

/* Digits of two of a tile's dimensions; the first `lanes` of an order are of the lane, the others of the element.
 * With `odd`, elements have a digit of three besides. */
typedef struct {
  uint32_t bits[2];                /* of each dimension */
  uint32_t waves, lanes, elements; /* bits */
  uint32_t order[2][MOST_BITS];    /* of loading, and of storing: numbers of digits, those of dimension 0 first */
  bool odd;
  uint32_t element_bytes;
  uint32_t extent[2]; /* of the domain */
} pair;

static void swap_digits(random_source *random, uint32_t order[], uint32_t count) {
  uint32_t a = below(random, count), b = below(random, count), kept = order[a];
  order[a] = order[b];
  order[b] = kept;
}

static uint32_t tile_extent(const pair *p, uint32_t dimension) {
  return (1u << p->bits[dimension]) * (dimension == 1 && p->odd ? 3 : 1);
}

/* Elements that are neighbours as they are loaded are those of neighbouring lanes as they are stored. */
static void turn(pair *p) {
  uint32_t first = p->waves + p->lanes, count = first + p->elements;
  p->bits[0] = p->bits[0] < count - p->elements ? p->bits[0] : count - p->elements;
  p->bits[1] = count - p->bits[0];
  for (uint32_t i = 0; i < count; i++)
    p->order[0][i] = p->order[1][i] = i;
  for (uint32_t i = 0; i < p->elements; i++) {
    p->order[1][first - p->elements + i] = first + i;
    p->order[1][first + i] = first - p->elements + i;
  }
}

static pair random_pair(random_source *random, uint32_t lane_bits) {
  bool odd = below(random, 4) == 0;
  pair p = {.waves = odd ? 0 : below(random, 3), .lanes = lane_bits, .elements = below(random, 5), .odd = odd};
  uint32_t count = p.waves + p.lanes + p.elements, swaps = below(random, 8) == 0 ? 40 : below(random, 5);
  p.bits[0] = below(random, count + 1);
  p.bits[1] = count - p.bits[0];
  p.element_bytes = 1u << below(random, 4);
  for (uint32_t i = 0; i < count; i++)
    p.order[0][i] = i;
  for (uint32_t i = 0; i < 40; i++)
    swap_digits(random, p.order[0], count);
  memcpy(p.order[1], p.order[0], sizeof p.order[0]);
  for (uint32_t i = 0; i < swaps; i++)
    swap_digits(random, p.order[1], count);
  if (below(random, 4) == 0)
    turn(&p);
  for (uint32_t d = 0; d < 2; d++)
    p.extent[d] = tile_extent(&p, d) + (below(random, 2) == 0 ? below(random, tile_extent(&p, d) + 1) : 0);
  return p;
}

/* Bits that are of the lane on one side and of the element on the other. */
static uint32_t crossing_bits(const pair *p) {
  uint32_t crossing = 0;
  for (uint32_t i = p->waves; i < p->waves + p->lanes; i++) {
    bool stays = false;
    for (uint32_t k = p->waves; k < p->waves + p->lanes; k++)
      stays |= p->order[0][i] == p->order[1][k];
    crossing += !stays;
  }
  return crossing;
}

/* Whether lanes are surely cheaper: each crossing bit takes a choice for every register before a permutation and
 * after it, permutations two cycles and their addresses one; LDS moves each register in two cycles, or one, twice,
 * and has its workgroup wait for a barrier. */
static bool lanes_are_cheaper(const pair *p, const char *device) {
  enum { BARRIER = 8, WORD = 4 };
  uint32_t elements = (p->odd ? 3u : 1u) << p->elements, bytes = elements * p->element_bytes;
  uint32_t registers = p->element_bytes < WORD ? elements : bytes / WORD, words = (bytes + WORD - 1) / WORD;
  uint32_t parts = p->odd ? 3 : 1, cycles = strcmp(device, "sim:gfx950") == 0 ? 1 : 2;
  bool stays = memcmp(p->order[0], p->order[1], p->waves * sizeof p->order[0][0]) == 0;
  return stays && crossing_bits(p) * 2 * (registers + parts) + 3 * registers <= 2 * cycles * words + BARRIER;
}

/* --- texts --- */

static void write_digit(const pair *p, uint32_t digit, char *dimension, size_t dimension_size, char *place,
                        size_t place_size, const char *separator) {
  bool is_first = digit < p->bits[0];
  size_t used[] = {strlen(dimension), strlen(place)};
  snprintf(dimension + used[0], dimension_size - used[0], "%s%d", separator, is_first ? 1 : 2);
  snprintf(place + used[1], place_size - used[1], "%s%u", separator, is_first ? digit : digit - p->bits[0]);
}

static void write_lengths(const pair *p, char text[PART]) {
  size_t used = 0;
  for (uint32_t d = 0; d < 2; d++) {
    used += (size_t)snprintf(text + used, PART - used, "%s[", d > 0 ? "," : "");
    for (uint32_t i = 0; i < p->bits[d]; i++)
      used += (size_t)snprintf(text + used, PART - used, "%s2", i > 0 ? "," : "");
    if (p->bits[d] == 0 || (d == 1 && p->odd))
      used += (size_t)snprintf(text + used, PART - used, "%s%d", p->bits[d] > 0 ? "," : "", d == 1 && p->odd ? 3 : 1);
    used += (size_t)snprintf(text + used, PART - used, "]");
  }
}

/* A dimension without bits has a digit of one, or of three. */
static void write_distribution(const pair *p, int side, char text[TEXT]) {
  char lengths[PART], lane[2][PART] = {"", ""}, element[2][PART] = {"", ""};
  char wave[2][PART] = {"", ""};
  uint32_t count = p->waves + p->lanes + p->elements;
  write_lengths(p, lengths);
  for (uint32_t i = 0; i < count; i++) {
    char(*part)[PART] = i < p->waves ? wave : i < p->waves + p->lanes ? lane : element;
    write_digit(p, p->order[side][i], part[0], PART, part[1], PART, part[0][0] != '\0' ? "," : "");
  }
  for (uint32_t d = 0; d < 2; d++) {
    if (p->bits[d] > 0 && (d == 0 || !p->odd))
      continue;
    size_t used[] = {strlen(element[0]), strlen(element[1])};
    const char *separator = used[0] > 0 ? "," : "";
    snprintf(element[0] + used[0], PART - used[0], "%s%u", separator, d + 1);
    snprintf(element[1] + used[1], PART - used[1], "%s%u", separator, p->bits[d]);
  }
  const char *first = p->waves > 0 ? "[" : "", *last = p->waves > 0 ? "]," : "";
  snprintf(text, TEXT,
           "distribution(hs=[%s], ps_major=[%s%s%s[%s]], ps_minor=[%s%s%s[%s]], ys_major=[%s], ys_minor=[%s])",
           lengths, first, wave[0], last, lane[0], first, wave[1], last, lane[1], element[0], element[1]);
}

static void write_program(const pair *p, char text[LONG_TEXT]) {
  char from[TEXT], to[TEXT];
  write_distribution(p, 0, from);
  write_distribution(p, 1, to);
  snprintf(
      text, LONG_TEXT,
      "let A = %s\nlet B = %s\nkernel k(s: b%u @ (%u,%u):(%u,1), d: b%u @ (%u,%u):(1,%u)) = shuffle(s, d, from=A, "
      "to=B)",
      from, to, 8 * p->element_bytes, p->extent[0], p->extent[1], p->extent[1], 8 * p->element_bytes, p->extent[0],
      p->extent[1], p->extent[0]);
}

/* --- runs --- */

typedef struct {
  bool has_lds, transposes;
} way;

static way way_of(tj_context *context, const tj_device *device, const char *text) {
  tj_compile_options options = {.target = tj_device_target(device)};
  tj_program *program = new_program(context, text, NULL, 0);
  tj_blob blob;
  expect_ok(context, tj_program_emit(program, &options, TJ_EMIT_TILED, &blob), text);
  way found = {strstr(blob.data, "barrier") != NULL, strstr(blob.data, "transposed") != NULL};
  ck_assert_msg(found.has_lds == (strstr(blob.data, "lds") != NULL), "%s", blob.data);
  tj_blob_release(context, &blob);
  tj_program_destroy(program);
  return found;
}

static void run_pair(tj_context *context, tj_device *device, const char *text, const pair *p) {
  tj_code *code = compile_for(context, device, text, NULL, 0);
  tj_launch *launch;
  uint32_t rows = p->extent[0], columns = p->extent[1], bytes = p->element_bytes;
  size_t size = (size_t)rows * columns * bytes;
  unsigned char *source = malloc(size), *destination = calloc(size, 1);
  for (size_t i = 0; i < size; i++)
    source[i] = (unsigned char)(i * 2654435761u >> 13);
  expect_ok(context, tj_launch_create(context, code, &launch), text);
  expect_ok(context, tj_launch_bind(launch, "s", source, size), text);
  expect_ok(context, tj_launch_bind(launch, "d", destination, size), text);
  expect_ok(context, tj_launch_run(launch, device), text);
  for (uint32_t row = 0; row < rows; row++) {
    for (uint32_t column = 0; column < columns; column++)
      ck_assert_msg(memcmp(source + (size_t)(row * columns + column) * bytes,
                           destination + (size_t)(column * rows + row) * bytes, bytes) == 0,
                    "element (%u,%u) of\n%s", row, column, text);
  }
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  free(source);
  free(destination);
}

START_TEST(pairs_of_distributions_are_exchanged) {
  const char *name = tested_device();
  tj_context *context = new_context(NULL);
  tj_device *device = open_device(context, name);
  random_source random = {.state = 7};
  uint32_t between_lanes = 0, transposed = 0, lane_bits = strncmp(name, "sim:gfx9", 8) == 0 ? 6 : 5;
  for (const char *c = name; *c != '\0'; c++)
    random.state = random.state * 31 + (unsigned char)*c;
  for (int i = 0; i < PAIRS; i++) {
    char text[LONG_TEXT];
    pair p = random_pair(&random, lane_bits);
    write_program(&p, text);
    run_pair(context, device, text, &p);
    if (strcmp(name, "host") == 0)
      continue;
    way found = way_of(context, device, text);
    ck_assert_msg(!found.has_lds || !lanes_are_cheaper(&p, name), "LDS is not needed for\n%s", text);
    between_lanes += !found.has_lds;
    transposed += found.transposes;
  }
  ck_assert(strcmp(name, "host") == 0 || between_lanes > PAIRS / 4);
  ck_assert_int_eq(transposed > 0, strcmp(name, "sim:gfx950") == 0);
  tj_device_close(device);
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  return run_suite(suite_of("exchanges", (const TTest *const[]){pairs_of_distributions_are_exchanged}, 1));
}

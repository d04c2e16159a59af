/* SPDX-License-Identifier: MIT */
/* Lines of all lanes, each put into a set; or counted one after the other, where addresses ascend. */
#include "base/machine/cache_line.h"

#include <stdbool.h>

enum { NUMBERS = 4 * TJ_LINE_LANES };

/* A set of numbers: open addressing, twice as large as two for each lane. */
typedef struct {
  uint64_t number[NUMBERS]; /* and 1; 0: empty */
  uint32_t count;
} number_set;

/* Where the number is, or would be. */
static uint32_t place_of(const number_set *set, uint64_t number) {
  uint32_t at = (uint32_t)(number * 0x9e3779b97f4a7c15u >> 56) % NUMBERS;
  while (set->number[at] != 0 && set->number[at] != number + 1)
    at = (at + 1) % NUMBERS;
  return at;
}

static void insert(number_set *set, uint64_t number) {
  const uint32_t at = place_of(set, number);
  set->count += set->number[at] == 0 ? 1 : 0;
  set->number[at] = number + 1;
}

/* Numbers before which there is none. */
static uint64_t runs_of(const number_set *set) {
  uint64_t runs = 0;
  for (uint32_t i = 0; i < NUMBERS; i++) {
    const uint64_t number = set->number[i] - 1;
    runs += set->number[i] != 0 && (number == 0 || set->number[place_of(set, number - 1)] == 0);
  }
  return runs;
}

static uint64_t lines_of(uint64_t bytes, uint32_t line_bytes) {
  return bytes / line_bytes + (bytes % line_bytes != 0);
}

static tj_line_count count_run(uint64_t address, uint64_t bytes, uint32_t line_bytes) {
  return (tj_line_count){lines_of(address % line_bytes + bytes, line_bytes), 1, lines_of(bytes, line_bytes)};
}

static bool ascend(const uint64_t address[], uint32_t lanes) {
  uint32_t i = 1;
  while (i < lanes && address[i - 1] <= address[i])
    i++;
  return i == lanes;
}

/* A line is new where it is beyond the last one before. */
static tj_line_count count_ascending(const uint64_t address[], uint32_t lanes, uint64_t bytes, uint32_t line_bytes) {
  uint64_t last = (address[0] + bytes - 1) / line_bytes, places = 1, runs = 1;
  uint64_t lines = 1 + (uint64_t)(last != address[0] / line_bytes);
  for (uint32_t i = 1; i < lanes; i++) {
    const uint64_t begin = address[i] / line_bytes, end = (address[i] + bytes - 1) / line_bytes;
    lines += (uint64_t)(begin > last) + (uint64_t)(end > begin && end > last);
    places += address[i] != address[i - 1];
    runs += begin > last + 1;
    last = end;
  }
  return (tj_line_count){lines, runs, lines_of(places * bytes, line_bytes)};
}

tj_line_count tj_count_lines(const uint64_t address[], uint32_t lanes, uint64_t bytes, uint32_t line_bytes) {
  if (lanes == 1)
    return count_run(address[0], bytes, line_bytes);
  if (ascend(address, lanes))
    return count_ascending(address, lanes, bytes, line_bytes);
  number_set line = {.count = 0}, place = {.count = 0};
  for (uint32_t i = 0; i < lanes; i++) {
    insert(&place, address[i]);
    insert(&line, address[i] / line_bytes);
    insert(&line, (address[i] + bytes - 1) / line_bytes);
  }
  return (tj_line_count){line.count, runs_of(&line), lines_of(place.count * bytes, line_bytes)};
}

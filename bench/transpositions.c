/* SPDX-License-Identifier: MIT */
/* The table of transpositions, and what follows from a shape and a permutation alone. */
#include "transpositions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT_BITS = 7, RESIDUE = 1 << ALIGNMENT_BITS, LEAST_EXTENT = 3, LEAST_RUN = 512 };

const transposition transpositions[TRANSPOSITION_COUNT] = {
    {"10", {7264, 7264}},
    {"10", {43408, 1216}},
    {"10", {1216, 43408}},
    {"021", {368, 384, 384}},
    {"021", {2144, 64, 384}},
    {"021", {368, 64, 2307}},
    {"102", {384, 384, 355}},
    {"102", {2320, 384, 59}},
    {"102", {384, 2320, 59}},
    {"210", {384, 355, 384}},
    {"210", {2320, 59, 384}},
    {"210", {384, 59, 2320}},
    {"0321", {80, 96, 75, 96}},
    {"0321", {464, 16, 75, 96}},
    {"0321", {80, 16, 75, 582}},
    {"2130", {96, 75, 96, 75}},
    {"2130", {608, 12, 96, 75}},
    {"2130", {96, 12, 608, 75}},
    {"2031", {96, 75, 96, 75}},
    {"2031", {608, 12, 96, 75}},
    {"2031", {96, 12, 608, 75}},
    {"1032", {96, 96, 75, 75}},
    {"1032", {608, 96, 12, 75}},
    {"1032", {96, 608, 12, 75}},
    {"3210", {96, 75, 75, 96}},
    {"3210", {608, 12, 75, 96}},
    {"3210", {96, 12, 75, 608}},
    {"04213", {32, 48, 28, 28, 48}},
    {"04213", {176, 8, 28, 28, 48}},
    {"04213", {32, 8, 28, 28, 298}},
    {"32140", {48, 28, 28, 48, 28}},
    {"32140", {352, 4, 28, 48, 28}},
    {"32140", {48, 4, 28, 352, 28}},
    {"20413", {48, 28, 48, 28, 28}},
    {"20413", {352, 4, 48, 28, 28}},
    {"20413", {48, 4, 352, 28, 28}},
    {"13042", {48, 48, 28, 28, 28}},
    {"13042", {352, 48, 4, 28, 28}},
    {"13042", {48, 352, 4, 28, 28}},
    {"43210", {48, 28, 28, 28, 48}},
    {"43210", {352, 4, 28, 28, 48}},
    {"43210", {48, 4, 28, 28, 352}},
    {"032541", {16, 32, 15, 32, 15, 15}},
    {"032541", {48, 10, 15, 32, 15, 15}},
    {"032541", {16, 10, 15, 103, 15, 15}},
    {"320514", {32, 15, 15, 32, 15, 15}},
    {"320514", {112, 5, 15, 32, 15, 15}},
    {"320514", {32, 5, 15, 112, 15, 15}},
    {"204153", {32, 15, 32, 15, 15, 15}},
    {"204153", {112, 5, 32, 15, 15, 15}},
    {"204153", {32, 5, 112, 15, 15, 15}},
    {"325104", {32, 15, 15, 32, 15, 15}},
    {"325104", {112, 5, 15, 32, 15, 15}},
    {"325104", {32, 5, 15, 112, 15, 15}},
    {"543210", {32, 15, 15, 15, 15, 32}},
    {"543210", {112, 5, 15, 15, 15, 32}},
    {"543210", {32, 5, 15, 15, 15, 112}},
};

int transposition_modes(const transposition *t) {
  return (int)strlen(t->permutation);
}

int64_t transposition_size(const transposition *t) {
  int64_t size = 1;
  for (int m = 0; m < transposition_modes(t); m++)
    size *= t->extent[m];
  return size;
}

void transposition_strides(const transposition *t, const run_gaps *gaps, int64_t source[TRANSPOSITION_MODES],
                           int64_t destination[TRANSPOSITION_MODES]) {
  const int modes = transposition_modes(t);
  int64_t from = 1, to = 1;
  for (int m = 0; m < modes; m++) {
    int mode = t->permutation[m] - '0';
    source[m] = from;
    from *= t->extent[m] + (m == 0 && gaps != NULL ? gaps->source : 0);
    destination[mode] = to;
    to *= t->extent[mode] + (m == 0 && gaps != NULL ? gaps->destination : 0);
  }
}

element_places transposition_places(const transposition *t, const run_gaps *gaps, int64_t index) {
  int64_t from[TRANSPOSITION_MODES], to[TRANSPOSITION_MODES];
  element_places places = {0, 0};
  const int modes = transposition_modes(t);
  transposition_strides(t, gaps, from, to);
  for (int m = 0; m < modes; m++) {
    places.source += index % t->extent[m] * from[m];
    places.destination += index % t->extent[m] * to[m];
    index /= t->extent[m];
  }
  return places;
}

/* --- smaller shapes --- */

transposition transposition_halved(const transposition *t, int64_t elements) {
  transposition result = *t;
  while (transposition_size(&result) > elements) {
    int longest = 0;
    for (int m = 1; m < transposition_modes(t); m++)
      longest = result.extent[m] > result.extent[longest] ? m : longest;
    if (result.extent[longest] == 1)
      break;
    result.extent[longest] /= 2;
  }
  return result;
}

static int64_t alignment(int64_t stride) {
  int64_t power = stride & -stride;
  return power < RESIDUE ? power : RESIDUE;
}

static bool is_aligned_alike(const transposition *a, const transposition *b) {
  int64_t source[2][TRANSPOSITION_MODES], destination[2][TRANSPOSITION_MODES];
  transposition_strides(a, NULL, source[0], destination[0]);
  transposition_strides(b, NULL, source[1], destination[1]);
  for (int m = 0; m < transposition_modes(a); m++) {
    if (alignment(source[0][m]) != alignment(source[1][m]) ||
        alignment(destination[0][m]) != alignment(destination[1][m]))
      return false;
  }
  return true;
}

/* How far apart the elements of a mode lie, in the tensor where they lie closer. */
static int64_t reach(const transposition *t, int mode) {
  int64_t source[TRANSPOSITION_MODES], destination[TRANSPOSITION_MODES];
  transposition_strides(t, NULL, source, destination);
  return source[mode] < destination[mode] ? source[mode] : destination[mode];
}

/* The outermost mode that has not been looked at, the longest of several; -1: none but contiguous ones. */
static int outermost(const transposition *t, unsigned seen) {
  int found = -1;
  for (int m = 0; m < transposition_modes(t); m++) {
    if ((seen >> m & 1) != 0 || reach(t, m) == 1)
      continue;
    if (found < 0 || reach(t, m) > reach(t, found) ||
        (reach(t, m) == reach(t, found) && t->extent[m] > t->extent[found]))
      found = m;
  }
  return found;
}

/* Shrinks one mode as far as is wanted and allowed. */
static void shrink_outer(const transposition *full, transposition *t, int mode, int64_t elements) {
  int64_t before = t->extent[mode], rest = transposition_size(t) / before;
  int64_t extent = elements / rest > LEAST_EXTENT ? elements / rest : LEAST_EXTENT;
  for (; extent < before; extent++) {
    t->extent[mode] = extent;
    if (is_aligned_alike(full, t))
      return;
  }
  t->extent[mode] = before;
}

static void shrink_runs(transposition *t, int64_t elements) {
  while (transposition_size(t) > elements) {
    int longest = -1;
    for (int m = 0; m < transposition_modes(t); m++) {
      if (reach(t, m) == 1 && t->extent[m] - RESIDUE >= LEAST_RUN &&
          (longest < 0 || t->extent[m] > t->extent[longest]))
        longest = m;
    }
    if (longest < 0)
      return;
    t->extent[longest] -= RESIDUE;
  }
}

transposition transposition_shrunken(const transposition *t, int64_t elements) {
  transposition result = *t;
  unsigned seen = 0;
  for (int mode = outermost(t, seen); mode >= 0 && transposition_size(&result) > elements;
       mode = outermost(t, seen)) {
    shrink_outer(t, &result, mode, elements);
    seen |= 1u << mode;
  }
  shrink_runs(&result, elements);
  return result;
}

/* --- programs --- */

static size_t write_tuple(char *text, size_t size, const int64_t value[], int count) {
  size_t at = 0;
  for (int m = 0; m < count; m++)
    at += (size_t)snprintf(text + at, size - at, "%s%lld", m > 0 ? "," : "", (long long)value[m]);
  return at;
}

void transposition_write_shape(char text[SHAPE_TEXT], const transposition *t) {
  write_tuple(text, SHAPE_TEXT, t->extent, transposition_modes(t));
}

void transposition_write(char text[TRANSPOSITION_TEXT], const transposition *t, const run_gaps *gaps,
                         const char *type) {
  int64_t source[TRANSPOSITION_MODES], destination[TRANSPOSITION_MODES];
  char shape[SHAPE_TEXT], from[SHAPE_TEXT], to[SHAPE_TEXT];
  transposition_strides(t, gaps, source, destination);
  transposition_write_shape(shape, t);
  write_tuple(from, sizeof from, source, transposition_modes(t));
  write_tuple(to, sizeof to, destination, transposition_modes(t));
  snprintf(text, TRANSPOSITION_TEXT, "kernel transpose(src: %s @ (%s):(%s), dst: %s @ (%s):(%s)) = copy(src, dst)",
           type, shape, from, type, shape, to);
}

/* The step of `mode` where modes follow each other in memory in `order`: "(D1+5)*D0". */
static void write_stride(char text[SHAPE_TEXT], const char *order, char mode, int64_t gap) {
  size_t at = (size_t)snprintf(text, SHAPE_TEXT, "%s", order[0] == mode ? "1" : "");
  for (int i = 0; order[i] != mode; i++) {
    if (i == 0 && gap > 0)
      at += (size_t)snprintf(text + at, SHAPE_TEXT - at, order[1] == mode ? "D%c+%lld" : "(D%c+%lld)", order[i],
                             (long long)gap);
    else
      at += (size_t)snprintf(text + at, SHAPE_TEXT - at, "%sD%c", i > 0 ? "*" : "", order[i]);
  }
}

/* The layout whose modes, in the source's order, follow each other in memory in `order`. */
static void write_layout(char *text, size_t size, int modes, const char *order, int64_t gap) {
  size_t at = (size_t)snprintf(text, size, "(");
  for (int m = 0; m < modes; m++)
    at += (size_t)snprintf(text + at, size - at, "%sD%d", m > 0 ? "," : "", m);
  at += (size_t)snprintf(text + at, size - at, "):(");
  for (int m = 0; m < modes; m++) {
    char stride[SHAPE_TEXT];
    write_stride(stride, order, (char)('0' + m), gap);
    at += (size_t)snprintf(text + at, size - at, "%s%s", m > 0 ? "," : "", stride);
  }
  snprintf(text + at, size - at, ")");
}

static int64_t power_from(int64_t extent) {
  int64_t power = 1;
  while (power < extent)
    power *= 2;
  return power;
}

void transposition_write_dynamic(char text[TRANSPOSITION_TEXT], const transposition *full, const run_gaps *gaps,
                                 const char *type, int headroom) {
  int modes = transposition_modes(full);
  char from[2 * SHAPE_TEXT], to[2 * SHAPE_TEXT];
  write_layout(from, sizeof from, modes, "012345", gaps != NULL ? gaps->source : 0);
  write_layout(to, sizeof to, modes, full->permutation, gaps != NULL ? gaps->destination : 0);
  size_t at = (size_t)snprintf(text, TRANSPOSITION_TEXT, "param ");
  for (int m = 0; m < modes; m++)
    at += (size_t)snprintf(text + at, TRANSPOSITION_TEXT - at, "%sD%d in 1..%lld", m > 0 ? ", " : "", m,
                           (long long)power_from(full->extent[m]) << headroom);
  snprintf(text + at, TRANSPOSITION_TEXT - at, "\nkernel transpose(src: %s @ %s, dst: %s @ %s) = copy(src, dst)",
           type, from, type, to);
}

bool measured_parse_types(measured *m, char *list) {
  m->type_count = 0;
  for (char *type = strtok(list, ","); type != NULL; type = strtok(NULL, ",")) {
    if (m->type_count == MEASURED_TYPES || bytes_of_type(type) == 0)
      return false;
    m->type[m->type_count++] = type;
  }
  return m->type_count > 0;
}

bool measured_has_form(const measured *m, const char *form) {
  return strcmp(m->form, "both") == 0 || strcmp(m->form, form) == 0;
}

size_t bytes_of_type(const char *type) {
  size_t digits = strcspn(type, "0123456789");
  long bits = strtol(type + digits, NULL, 10);
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 ? (size_t)bits / 8 : 0;
}

/* SPDX-License-Identifier: MIT */
/* Races among strides, decided on integers.
 *
 * Two coordinates of one element differ by a step that moves the destination by 0. So the search is for steps, mode
 * by mode from the largest stride on: what the smaller strides cannot make up for is not tried. Strides that nest
 * leave nothing to try; two strides have one shortest step. Each step found is then asked for two coordinates at
 * which the sources differ. */
#include "base/number/race.h"

#include "base/integer.h"

#include <stdbool.h>

enum { MOST_TRIED = 1 << 14 };

/* Beyond it, sums of products might not fit in 128 bits. */
static const int64_t largest = INT64_C(1) << 56;

typedef __int128 wide;

typedef struct {
  const tj_race_strides *strides;
  uint32_t order[TJ_RACE_MODES]; /* modes that move the destination, by stride, the largest first */
  uint32_t count;
  wide reach[TJ_RACE_MODES + 1]; /* how far order[i …] move it together */
  int64_t step[TJ_RACE_MODES];   /* of each mode */
  uint32_t tried;
  int64_t *first, *second;
} search;

static int64_t magnitude(int64_t a) {
  return a < 0 ? -a : a;
}

static const tj_race_side *destination(const search *s, uint32_t mode) {
  return &s->strides->side[mode][0];
}

/* --- the sources of a step --- */

typedef struct {
  int64_t begin, end;
} interval;

static bool is_empty(interval of) {
  return of.begin >= of.end;
}

/* Coordinates of a mode that are valid in the destination before and after the step. */
static interval stepped(const search *s, uint32_t mode) {
  const tj_race_side *to = destination(s, mode);
  int64_t step = s->step[mode];
  return (interval){tj_greatest(to->begin, to->begin - step), tj_least(to->end, to->end - step)};
}

/* Those of them at which the source is valid, `step` further on. */
static interval sourced(const search *s, uint32_t mode, uint32_t source, int64_t step) {
  const tj_race_side *from = &s->strides->side[mode][1 + source];
  interval of = stepped(s, mode);
  return (interval){tj_greatest(of.begin, from->begin - step), tj_least(of.end, from->end - step)};
}

static wide moved(const search *s, uint32_t source) {
  wide sum = 0;
  for (uint32_t mode = 0; mode < s->strides->modes; mode++)
    sum += (wide)s->step[mode] * s->strides->side[mode][1 + source].stride;
  return sum;
}

/* The first coordinates at which the source is valid before the step (`after`: after it); false where none are. */
static bool place_valid(search *s, uint32_t source, bool after) {
  for (uint32_t mode = 0; mode < s->strides->modes; mode++) {
    interval at = sourced(s, mode, source, after ? s->step[mode] : 0);
    if (is_empty(at))
      return false;
    s->first[mode] = at.begin;
  }
  return true;
}

/* The same where it is not valid at the other end. */
static bool place_at_edge(search *s, uint32_t source, bool after) {
  if (!place_valid(s, source, after))
    return false;
  for (uint32_t mode = 0; mode < s->strides->modes; mode++) {
    int64_t step = s->step[mode];
    interval at = sourced(s, mode, source, after ? step : 0), other = sourced(s, mode, source, after ? 0 : step);
    if (is_empty(other) || at.begin < other.begin)
      return true;
    if (other.end < at.end) {
      s->first[mode] = other.end;
      return true;
    }
  }
  return false;
}

/* Whether two coordinates that the step joins have different sources. */
static bool differs(search *s) {
  bool found = false;
  for (uint32_t mode = 0; mode < s->strides->modes; mode++) {
    if (is_empty(stepped(s, mode)))
      return false;
  }
  for (uint32_t source = 0; source < s->strides->sources && !found; source++) {
    bool (*place)(search *, uint32_t, bool) = moved(s, source) != 0 ? place_valid : place_at_edge;
    found = place(s, source, false) || place(s, source, true);
  }
  for (uint32_t mode = 0; mode < s->strides->modes && found; mode++)
    s->second[mode] = s->first[mode] + s->step[mode];
  return found;
}

/* --- steps --- */

/* Along one mode that does not move the destination. */
static bool try_still_modes(search *s) {
  for (uint32_t mode = 0; mode < s->strides->modes; mode++) {
    const tj_race_side *to = destination(s, mode);
    if (to->stride != 0 || to->end - to->begin < 2)
      continue;
    s->step[mode] = 1;
    if (differs(s))
      return true;
    s->step[mode] = 0;
  }
  return false;
}

static int64_t last_step(const search *s, uint32_t mode) {
  return destination(s, mode)->end - destination(s, mode)->begin - 1;
}

static void set_step(search *s, uint32_t mode, int64_t step) {
  s->step[mode] = destination(s, mode)->stride < 0 ? -step : step;
}

/* The shortest step along two modes, the one forward, the other back. */
static bool try_pair(search *s, uint32_t a, uint32_t b) {
  int64_t of_a = magnitude(destination(s, a)->stride), of_b = magnitude(destination(s, b)->stride);
  int64_t divisor = (int64_t)tj_gcd((uint64_t)of_a, (uint64_t)of_b);
  if (of_b / divisor > last_step(s, a) || of_a / divisor > last_step(s, b))
    return false;
  set_step(s, a, of_b / divisor);
  set_step(s, b, -(of_a / divisor));
  if (differs(s))
    return true;
  s->step[a] = s->step[b] = 0;
  return false;
}

static bool try_pairs(search *s) {
  for (uint32_t i = 0; i < s->count; i++) {
    for (uint32_t k = i + 1; k < s->count; k++) {
      if (try_pair(s, s->order[i], s->order[k]))
        return true;
    }
  }
  return false;
}

static wide floor_quotient(wide a, wide b) {
  return a / b - (a % b != 0 && a < 0);
}

/* Steps along order[at …] that move the destination by `rest`; the first that is not 0 goes forward. */
static bool try_steps(search *s, uint32_t at, wide rest, bool is_started) {
  if (at == s->count)
    return is_started && rest == 0 && differs(s);
  uint32_t mode = s->order[at];
  wide stride = magnitude(destination(s, mode)->stride), last = last_step(s, mode);
  wide low = -floor_quotient(s->reach[at + 1] - rest, stride), high = floor_quotient(rest + s->reach[at + 1], stride);
  low = low < -last ? -last : low;
  low = !is_started && low < 0 ? 0 : low;
  high = high > last ? last : high;
  for (wide step = low; step <= high && s->tried < MOST_TRIED; step++) {
    s->tried++;
    set_step(s, mode, (int64_t)step);
    if (try_steps(s, at + 1, rest - step * stride, is_started || step != 0))
      return true;
  }
  s->step[mode] = 0;
  return false;
}

/* --- what needs no search --- */

static bool is_manageable(const search *s) {
  for (uint32_t mode = 0; mode < s->strides->modes; mode++) {
    for (uint32_t side = 0; side <= s->strides->sources; side++) {
      const tj_race_side *of = &s->strides->side[mode][side];
      const int64_t number[] = {of->begin, of->end, of->stride};
      for (unsigned i = 0; i < sizeof number / sizeof number[0]; i++) {
        if (number[i] > largest || number[i] < -largest)
          return false;
      }
    }
  }
  return true;
}

static bool has_coordinates(const search *s) {
  for (uint32_t mode = 0; mode < s->strides->modes; mode++) {
    if (destination(s, mode)->begin >= destination(s, mode)->end)
      return false;
  }
  return true;
}

static void sort_modes(search *s) {
  for (uint32_t mode = 0; mode < s->strides->modes; mode++) {
    if (destination(s, mode)->stride == 0 || last_step(s, mode) == 0)
      continue;
    uint32_t at = s->count++;
    int64_t stride = magnitude(destination(s, mode)->stride);
    for (; at > 0 && magnitude(destination(s, s->order[at - 1])->stride) < stride; at--)
      s->order[at] = s->order[at - 1];
    s->order[at] = mode;
  }
  s->reach[s->count] = 0;
  for (uint32_t i = s->count; i-- > 0;)
    s->reach[i] = s->reach[i + 1] + (wide)last_step(s, s->order[i]) * magnitude(destination(s, s->order[i])->stride);
}

static bool strides_nest(const search *s) {
  for (uint32_t i = 0; i < s->count; i++) {
    if (magnitude(destination(s, s->order[i])->stride) <= s->reach[i + 1])
      return false;
  }
  return true;
}

static bool is_whole(const search *s, uint32_t mode, uint32_t source) {
  const tj_race_side *to = destination(s, mode), *from = &s->strides->side[mode][1 + source];
  return from->begin <= to->begin && to->end <= from->end;
}

/* Whether every source is valid throughout, and moves in one proportion to the destination: then what does not move
 * the one does not move the other. */
static bool sources_follow(const search *s) {
  for (uint32_t source = 0; source < s->strides->sources; source++) {
    for (uint32_t mode = 0; mode < s->strides->modes; mode++) {
      if (!is_whole(s, mode, source))
        return false;
    }
    for (uint32_t i = 1; i < s->count; i++) {
      const tj_race_side *a = s->strides->side[s->order[0]], *b = s->strides->side[s->order[i]];
      if ((wide)a[0].stride * b[1 + source].stride != (wide)b[0].stride * a[1 + source].stride)
        return false;
    }
  }
  return true;
}

tj_race_verdict tj_race_decide(const tj_race_strides *strides, int64_t first[TJ_RACE_MODES],
                               int64_t second[TJ_RACE_MODES]) {
  search s = {.strides = strides, .first = first, .second = second};
  if (!is_manageable(&s))
    return TJ_RACE_UNDECIDED;
  if (!has_coordinates(&s))
    return TJ_RACE_NONE;
  sort_modes(&s);
  if (try_still_modes(&s))
    return TJ_RACE_FOUND;
  if (strides_nest(&s) || sources_follow(&s))
    return TJ_RACE_NONE;
  if (try_pairs(&s))
    return TJ_RACE_FOUND;
  if (s.count <= 2)
    return TJ_RACE_NONE;
  if (try_steps(&s, 0, 0, false))
    return TJ_RACE_FOUND;
  return s.tried < MOST_TRIED ? TJ_RACE_NONE : TJ_RACE_UNDECIDED;
}

/* SPDX-License-Identifier: MIT */
/* Lines of runs: those of a run that begins anywhere at a multiple of its grain, and one more for each cut that is
 * not where a line ends. */
#include "base/number/run.h"

#include "base/integer.h"
#include "base/number/power.h"

enum { MANY = 1 << 20 /* bytes or coordinates: more are priced alike */ };

tj_run tj_run_of_element(int64_t bytes, int64_t line) {
  return (tj_run){.bytes = bytes, .grain = line, .goes_on = true};
}

void tj_run_along(tj_run *run, const tj_run_step *step, int64_t part, bool is_whole) {
  bool goes_on = run->goes_on && step->continues;
  if (goes_on)
    run->bytes = tj_least(run->bytes, MANY) * tj_least(part, MANY);
  if (goes_on && !is_whole)
    run->grain = tj_least(run->grain, step->grain * tj_power_in(tj_least(part, MANY)));
  if (!goes_on && !(is_whole && part == 1))
    run->grain = tj_least(run->grain, step->grain);
  run->goes_on = goes_on && is_whole;
}

/* Parts of so many bytes, which mostly are a power of two: there are many shapes to price. */
static int64_t parts_of(int64_t bytes, int64_t part) {
  return tj_is_power_of_two(part) ? (bytes + part - 1) >> tj_log2(part) : tj_divided_up(bytes, part);
}

/* Bytes of lines that instructions touch in vain at the ends of as many runs as they have lanes: instructions end
 * within a run at multiples of what both have in common. */
static int64_t touched_by_cuts(const tj_run *run, int64_t line, int64_t vector, int64_t lanes) {
  int64_t vectors = parts_of(run->bytes, vector), common = tj_least(tj_power_in(vectors), lanes);
  return (vectors - common) * (line - tj_least(tj_least(run->grain, common * vector), line));
}

int64_t tj_run_lines(const tj_run *run, int64_t line, int64_t vector, int64_t lanes) {
  int64_t grain = tj_least(run->grain, line), runs = lanes > 0 ? lanes : 1;
  int64_t touched = (parts_of(run->bytes, grain) * grain + line - grain) * runs;
  touched += lanes > 0 ? touched_by_cuts(run, line, vector, lanes) : 0;
  return touched * TJ_RUN_PARTS / (run->bytes * runs);
}

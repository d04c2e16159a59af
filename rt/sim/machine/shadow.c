/* SPDX-License-Identifier: MIT */
/* LDS accesses against those before them. */
#include "rt/sim/machine/shadow.h"

#include <stddef.h>

static const char *note_read(tj_sim_shadow *s, uint32_t time, uint16_t wave) {
  if (s->write_time == 0)
    return "nothing has been written there";
  if (s->write_time == time && s->writer != wave)
    return "another wave has written there, and no barrier lies between";
  s->many_readers = s->read_time == time && (s->many_readers || s->reader != wave);
  s->read_time = time;
  s->reader = wave;
  return NULL;
}

static const char *note_write(tj_sim_shadow *s, uint32_t time, uint16_t wave) {
  if (s->write_time == time && s->writer != wave)
    return "another wave has written there, and no barrier lies between";
  if (s->read_time == time && (s->many_readers || s->reader != wave))
    return "another wave has read there, and no barrier lies between";
  s->write_time = time;
  s->writer = wave;
  s->is_atomic = false;
  return NULL;
}

/* Atomic operations of several waves need no order among themselves. */
static const char *note_combination(tj_sim_shadow *s, uint32_t time, uint16_t wave) {
  if (s->write_time == 0)
    return "nothing has been written there";
  if (s->write_time == time && s->is_atomic) {
    s->writer = s->writer == wave ? wave : UINT16_MAX;
    return NULL;
  }
  const char *problem = note_write(s, time, wave);
  s->is_atomic = problem == NULL;
  return problem;
}

const char *tj_sim_shadow_note(tj_sim_shadow shadow[], uint32_t bytes, tj_sim_shadow_access access, uint32_t time,
                               uint16_t wave) {
  const char *problem = NULL;
  for (uint32_t i = 0; i < bytes && problem == NULL; i++) {
    if (shadow[i].expected != 0)
      problem = "a load from memory writes there, and nobody has waited for it";
    else if (access == TJ_SIM_SHADOW_READ)
      problem = note_read(&shadow[i], time, wave);
    else if (access == TJ_SIM_SHADOW_WRITE)
      problem = note_write(&shadow[i], time, wave);
    else
      problem = note_combination(&shadow[i], time, wave);
  }
  return problem;
}

const char *tj_sim_shadow_expect(tj_sim_shadow shadow[], uint32_t bytes, uint32_t time, uint16_t wave,
                                 uint32_t load) {
  const char *problem = tj_sim_shadow_note(shadow, bytes, TJ_SIM_SHADOW_WRITE, time, wave);
  for (uint32_t i = 0; i < bytes && problem == NULL; i++)
    shadow[i].expected = load;
  return problem;
}

void tj_sim_shadow_arrive(tj_sim_shadow shadow[], uint32_t bytes, uint32_t time, uint16_t wave, uint32_t load) {
  for (uint32_t i = 0; i < bytes; i++) {
    if (shadow[i].expected != load)
      continue;
    shadow[i].expected = 0;
    shadow[i].write_time = time;
    shadow[i].writer = wave;
  }
}

void tj_sim_shadow_forget(tj_sim_shadow shadow[], uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i++)
    shadow[i].write_time = 0;
}

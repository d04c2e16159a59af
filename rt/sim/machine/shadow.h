/* SPDX-License-Identifier: MIT */
/* What is known of each byte of a workgroup's LDS: who wrote and read it last, and between which barriers. From it
 * follow reads of what nobody has written, and accesses of two waves whose order no barrier decides. */
#ifndef TJ_RT_SIM_SHADOW_H
#define TJ_RT_SIM_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

/* Times count barriers from 1; 0: never. Waves are numbered in their workgroup. */
typedef struct {
  uint32_t write_time, read_time;
  uint16_t writer, reader;
  bool is_atomic;    /* the last write was */
  bool many_readers; /* several waves have read it since the barrier */
  uint32_t expected; /* the load from memory that will write it, for which nobody has waited; 0: none */
} tj_sim_shadow;

typedef enum { TJ_SIM_SHADOW_READ, TJ_SIM_SHADOW_WRITE, TJ_SIM_SHADOW_COMBINE } tj_sim_shadow_access;

/* Notes an access to `bytes` bytes. NULL, or what is wrong with it. */
const char *tj_sim_shadow_note(tj_sim_shadow shadow[], uint32_t bytes, tj_sim_shadow_access access, uint32_t time,
                               uint16_t wave);

/* Notes that a load from memory, which has a number of its own, will write bytes; NULL, or what is wrong with it. And
 * that those of a range that it writes have come. */
const char *tj_sim_shadow_expect(tj_sim_shadow shadow[], uint32_t bytes, uint32_t time, uint16_t wave, uint32_t load);
void tj_sim_shadow_arrive(tj_sim_shadow shadow[], uint32_t bytes, uint32_t time, uint16_t wave, uint32_t load);

/* Makes the bytes count as unwritten. */
void tj_sim_shadow_forget(tj_sim_shadow shadow[], uint32_t bytes);

#endif

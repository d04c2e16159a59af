/* SPDX-License-Identifier: MIT */
/* What libtilejit-hsasim exports beyond HSA. Whoever loads it as an HSA library may look these functions up, and must
 * do without them where another library stands in its place. */
#ifndef TJ_RT_SIM_HSASIM_H
#define TJ_RT_SIM_HSASIM_H

#include <hsa/hsa.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers of tj_hsasim_counters, in order: COUNTER(field, what is counted). */
#define TJ_HSASIM_COUNTERS(COUNTER)                                                                                  \
  COUNTER(waves, "waves")                                                                                            \
  COUNTER(valu, "vector arithmetic")                                                                                 \
  COUNTER(salu, "scalar arithmetic")                                                                                 \
  COUNTER(vmem, "vector memory")                                                                                     \
  COUNTER(smem, "scalar memory")                                                                                     \
  COUNTER(lds, "LDS")                                                                                                \
  COUNTER(branch, "branches")                                                                                        \
  COUNTER(control, "waits, barriers, ends")                                                                          \
  COUNTER(lanes_idle, "lanes of vector arithmetic that were switched off")                                           \
  COUNTER(lanes_total, "lanes of vector arithmetic")                                                                 \
  COUNTER(memory_accesses, "vector memory instructions with a lane at least, and tensor instructions")               \
  COUNTER(cache_lines, "cache lines that they touched")                                                              \
  COUNTER(least_cache_lines, "cache lines that these bytes need, each once")                                         \
  COUNTER(memory_bytes, "bytes that they moved")                                                                     \
  COUNTER(lds_cycles, "cycles of LDS accesses, by the phase model")                                                  \
  COUNTER(least_lds_cycles, "the same without bank conflicts")                                                       \
  COUNTER(load_lines, "cache lines touched by what only loads")                                                      \
  COUNTER(least_load_lines, "cache lines that the loaded bytes need")                                                \
  COUNTER(store_lines, "cache lines touched by stores and atomics")                                                  \
  COUNTER(least_store_lines, "cache lines that the stored bytes need")                                               \
  COUNTER(load_bytes_1, "bytes moved by what only loads, 1 byte a lane")                                             \
  COUNTER(load_bytes_2, "2 bytes a lane")                                                                            \
  COUNTER(load_bytes_4, "4 bytes a lane")                                                                            \
  COUNTER(load_bytes_8, "8 bytes a lane")                                                                            \
  COUNTER(load_bytes_12, "12 bytes a lane")                                                                          \
  COUNTER(load_bytes_16, "16 bytes a lane")                                                                          \
  COUNTER(store_bytes_1, "bytes moved by stores and atomics, 1 byte a lane")                                         \
  COUNTER(store_bytes_2, "2 bytes a lane")                                                                           \
  COUNTER(store_bytes_4, "4 bytes a lane")                                                                           \
  COUNTER(store_bytes_8, "8 bytes a lane")                                                                           \
  COUNTER(store_bytes_12, "12 bytes a lane")                                                                         \
  COUNTER(store_bytes_16, "16 bytes a lane")

/* Why the queue has stopped: kernel, program counter, instruction, lanes. Writes at most `size` bytes,
 * zero-terminated; returns the length of the whole text, 0 while the queue runs. */
__attribute__((visibility("default"))) size_t tj_hsasim_message(const hsa_queue_t *queue, char *text, size_t size);

/* How many workgroups of the dispatch that runs have begun, and of how many; 0 of 0 where none runs. */
__attribute__((visibility("default"))) void tj_hsasim_progress(const hsa_queue_t *queue, uint64_t *done,
                                                               uint64_t *total);

/* The sums of the counters over the dispatches since the last call, at most `count` of them; returns how many there
 * are. */
__attribute__((visibility("default"))) size_t tj_hsasim_counters(const hsa_queue_t *queue, uint64_t counters[],
                                                                 size_t count);

#endif

/* SPDX-License-Identifier: MIT */
/* Libraries that transpose tensors on the host, each as one way to run a transposition. Which of them there are is
 * decided when the benchmarks are configured: TILEJIT_BENCH_DNNL, TILEJIT_BENCH_OPENBLAS. */
#ifndef TILEJIT_BENCH_PEERS_H
#define TILEJIT_BENCH_PEERS_H

#include "transpositions.h"

enum { MOST_PEERS = 4 };

/* A transposition that a library is ready to run on two arrays. */
typedef struct peer_plan peer_plan;

typedef struct {
  const char *name;
  bool has_threads; /* it uses the threads that it is given; else one core, whatever is asked for */
  /* NULL where the library has no such transposition, of elements of this type. */
  peer_plan *(*plan)(const transposition *t, const char *type, void *source, void *destination, int threads);
  void (*run)(peer_plan *plan);
  void (*release)(peer_plan *plan);
} peer;

/* The peers that there are, in an array that ends with a name of NULL. */
extern const peer peers[MOST_PEERS];

#endif

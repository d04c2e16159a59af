/* SPDX-License-Identifier: MIT */
/* What oneDNN has for rows of f32 on the host, for the benchmark of arrays: softmax; and layer normalization, which
 * subtracts the mean besides, in the place of rmsnorm. There where the benchmarks are configured with it:
 * TILEJIT_BENCH_DNNL. */
#ifndef TILEJIT_BENCH_ROW_PEERS_H
#define TILEJIT_BENCH_ROW_PEERS_H

#include <stdint.h>

typedef struct row_peer row_peer;

/* Ready to run on arrays of rows * columns; NULL: oneDNN has nothing like the program, or is not there. */
row_peer *row_peer_open(const char *program, int64_t rows, int64_t columns, void *source, void *destination,
                        int threads);
/* What it is called there. */
const char *row_peer_name(const row_peer *peer);
void row_peer_run(row_peer *peer);
void row_peer_close(row_peer *peer);

#endif

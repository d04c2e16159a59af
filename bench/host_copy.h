/* SPDX-License-Identifier: MIT */
/* What this host copies with memcpy: the measure of what kernels on it reach. */
#ifndef TJ_BENCH_HOST_COPY_H
#define TJ_BENCH_HOST_COPY_H

#include <stddef.h>

enum { MOST_COPY_THREADS = 256 };

/* Seconds of a memcpy of everything: whole by one thread, or by several, which take chunks of it in turn, as those of
 * the host device do, MOST_COPY_THREADS at most. A negative
 * number: no thread could be started. */
double time_memcpy(void *to, const void *from, size_t bytes, int threads);

#endif

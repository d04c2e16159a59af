/* SPDX-License-Identifier: MIT */
/* memcpy by threads that take chunks in turn. */
#include "host_copy.h"

#include "timing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

typedef struct {
  char *to;
  const char *from;
  size_t bytes;
  atomic_size_t next;
} shared_copy;

static void *copy_chunks(void *data) {
  const size_t chunk = (size_t)8 << 20;
  shared_copy *copy = data;
  for (;;) {
    size_t begin = atomic_fetch_add(&copy->next, chunk);
    if (begin >= copy->bytes)
      return NULL;
    memcpy(copy->to + begin, copy->from + begin, copy->bytes - begin < chunk ? copy->bytes - begin : chunk);
  }
}

double time_memcpy(void *to, const void *from, size_t bytes, int threads) {
  pthread_t thread[MOST_COPY_THREADS];
  shared_copy copy = {.to = to, .from = from, .bytes = bytes};
  int started = 1, wanted = threads < MOST_COPY_THREADS ? threads : MOST_COPY_THREADS;
  double begin = now();
  while (started < wanted && pthread_create(&thread[started], NULL, copy_chunks, &copy) == 0)
    started++;
  if (threads == 1)
    memcpy(to, from, bytes);
  else
    copy_chunks(&copy);
  for (int i = 1; i < started; i++)
    pthread_join(thread[i], NULL);
  return started < wanted ? -1 : (now() - begin) / 1e6;
}

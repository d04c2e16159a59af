/* SPDX-License-Identifier: MIT */
/* What Emscripten's headers do not declare, and its compiler does not know; included before every file that is
 * compiled for a page. */
#ifndef TJ_PLAYGROUND_ABSENT_H
#define TJ_PLAYGROUND_ABSENT_H

#include <stdlib.h>

typedef int (*tj_comparison)(const void *a, const void *b, void *context);

/* As glibc has it. */
void qsort_r(void *base, size_t count, size_t size, tj_comparison compare, void *context);

char *__wrap_dlerror(void);

/* Of code that is about to run: a page makes none. */
#define __builtin___clear_cache(begin, end) ((void)(begin), (void)(end))

#endif

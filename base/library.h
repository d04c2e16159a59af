/* SPDX-License-Identifier: MIT */
/* Shared libraries that are opened when they are first needed: where they are, and their functions.
 *
 * Thread safety: any thread, any function. */
#ifndef TJ_BASE_LIBRARY_H
#define TJ_BASE_LIBRARY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { TJ_LIBRARY_PATH_SIZE = 4096 + 64 };

/* The path of the library `file`, for dlopen. It is looked for beside the file that this code is in (a library, or
 * the program that it is linked into), in the folders near it where a build or an installation puts libraries, and in
 * `folder`, NULL being the one where the build was configured to install libraries. Where it is in none of them, the
 * path is `file` itself, which has the dynamic linker look. */
void tj_library_find(const char *file, const char *folder, char path[TJ_LIBRARY_PATH_SIZE]);

/* A function of a library that dlopen has opened; NULL: it has none of that name. */
typedef void (*tj_library_function)(void);
tj_library_function tj_library_function_of(void *handle, const char *name);

/* Whether a library is open in this process, which has one state for each. Failures are not kept: what was missing
 * may be there next time. */
typedef struct {
  pthread_mutex_t lock;
  atomic_bool is_open;
} tj_library_once;

#define TJ_LIBRARY_ONCE                                                                                              \
  { .lock = PTHREAD_MUTEX_INITIALIZER }

enum { TJ_LIBRARY_MESSAGE_SIZE = 256 };

/* Whether the library is open; where it is not yet, `load` opens it, or writes why it cannot. */
bool tj_library_load_once(tj_library_once *once, bool (*load)(char message[TJ_LIBRARY_MESSAGE_SIZE]),
                          char message[TJ_LIBRARY_MESSAGE_SIZE]);

#endif

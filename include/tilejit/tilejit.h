/* tilejit: a just-in-time compiler for tensor layouts and coordinate transforms. */
#ifndef TILEJIT_H
#define TILEJIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a call ended. The values 0 to 3 are also the exit statuses of the tilejit command. */
typedef enum {
  TJ_OK = 0,
  TJ_ERROR_INPUT = 1,  /* the program, or a value given for it, is wrong */
  TJ_ERROR_USAGE = 2,  /* the call itself is wrong */
  TJ_ERROR_SYSTEM = 3, /* the device or the system failed */
  TJ_ERROR_MEMORY = 4  /* the allocator refused */
} tj_status;

/* Where a context gets its memory. Both functions get `user`, and may be called from any thread that uses a
 * context created with this allocator. allocate returns NULL when there is no memory, else a block aligned for any
 * object; release takes what allocate returned, never NULL. */
typedef struct {
  void *(*allocate)(void *user, size_t size);
  void (*release)(void *user, void *block);
  void *user;
} tj_allocator;

#ifdef __cplusplus
}
#endif

#endif

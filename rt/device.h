/* SPDX-License-Identifier: MIT */
/* Devices: memory and launches, whatever the machine behind them.
 *
 * A device runs kernels that are already machine code; it knows neither index expressions nor LLVM. Functions return
 * a status and describe a failure in a tj_rt_error; none leaves by longjmp, prints or exits.
 *
 * Order: what is asked of one device happens in the order in which it is asked. tj_rt_launch may return before
 * the kernel has run; tj_rt_wait, and reading or releasing a buffer, wait for it. A failure of a kernel that runs
 * behind the caller's back is reported by the wait or read that follows, or, where the launch was given a completion,
 * by that alone. Launches that were in flight behind one that failed do not run, and their completions say so. A GPU
 * whose kernel touches memory that is not there is lost: the launch, and every later call but releasing, unloading
 * and closing, gives TJ6008.
 *
 * Thread safety: any function may be called from any thread, except that closing a device must be the last call, and
 * releasing a buffer or unloading a kernel the last one that names it.
 *
 * How to add a kind of device: write rt/NAME.c with a table of operations and `const tj_rt_driver tj_rt_driver_NAME`,
 * and add the row DRIVER(NAME) to driver.def.
 *
 * (The public header's tj_rt_device is what jit/ makes of a tj_rt_device.) */
#ifndef TJ_RT_DEVICE_H
#define TJ_RT_DEVICE_H

#include "base/bytes.h"
#include "base/diag.h"
#include "tilejit/runtime.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>

/* What went wrong. `code` is one of TJ60xx. */
typedef struct {
  tj_problem_code code;
  char text[512];
} tj_rt_error;

typedef struct tj_rt_device tj_rt_device;
typedef struct tj_rt_kernel tj_rt_kernel; /* a kernel that is loaded on one device */

/* Memory that a device's kernels reach. `address` is what goes into an argument block. */
typedef struct {
  uint64_t address;
  size_t size;      /* bytes */
  void *handle;     /* the driver's; NULL: there is nothing to give back */
  bool is_borrowed; /* the memory is somebody else's */
} tj_rt_buffer;

/* Runs workgroups begin … end-1 of a kernel for the host. */
typedef void (*tj_rt_entry)(const void *arguments, uint64_t workgroup_begin, uint64_t workgroup_end);

/* What a driver has made of a code, by who made it for what: "sm_90 by 13000". */
typedef struct {
  tj_bytes code;
  const char *maker;
} tj_rt_linked_key;

/* Where drivers keep what they make of codes, for other processes to find. Called while a kernel is being loaded, by
 * the thread that loads it. */
typedef struct {
  /* False where nothing is kept at all. `made` gets what was kept, empty where there is none, in a block that
   * `release` gives back. */
  bool (*find)(void *data, const tj_rt_linked_key *key, tj_bytes *made, void **block);
  void (*release)(void *data, void *block);
  void (*keep)(void *data, const tj_rt_linked_key *key, tj_bytes made);
  void (*reject)(void *data, const tj_rt_linked_key *key); /* what was found is of no use */
  void *data;
} tj_rt_vault;

/* A kernel as compiled. Its code is borrowed until tj_rt_unload, `entry` included, its symbol for the call. Kernels
 * with the same bytes, in one place, share what a device makes of them. */
typedef struct {
  const char *symbol;       /* the kernel's name in the code object */
  tj_bytes code_object;     /* for GPUs: a linked code object, PTX, or a cubin; empty for the host */
  tj_rt_entry entry;        /* for the host; NULL for GPUs */
  uint32_t argument_words;  /* of an argument block, of 8 bytes each */
  bool has_map;             /* behind them: base/machine/argument_block.h */
  uint32_t lds_bytes;       /* of a workgroup, for code that does not say it itself: PTX */
  const tj_rt_vault *vault; /* borrowed for the call; NULL: none */
} tj_rt_code;

/* How one launch ends: for the caller to keep in one place until it is done, and to look at through tj_rt_is_done and
 * tj_rt_finish. */
typedef struct {
  atomic_bool is_done; /* what follows is there to be read */
  tj_status status;
  uint64_t nanoseconds; /* on the device */
  uint64_t number;      /* the driver's */
  tj_rt_error error;
} tj_rt_completion;

/* Whom to ask while a launch is waited for, now and then: how far it is, of `total`, which is 0 where the device does
 * not know; false where the launch is to be given up. */
typedef struct {
  bool (*goes_on)(void *data, uint64_t done, uint64_t total);
  void *data;
} tj_rt_watch;

/* One launch. The argument block is copied before the call returns; it must be 8-byte aligned. */
typedef struct {
  const void *arguments;
  uint64_t workgroup_count;     /* 0: nothing runs */
  uint32_t workgroup_size;      /* work-items; as the kernel was compiled for */
  tj_rt_completion *completion; /* NULL: nobody asks for this launch by itself */
} tj_rt_dispatch;

/* Whether the grid is one that a packet of a GPU's queue holds; and what to say where it is not. */
static inline bool tj_rt_fits_packet(uint64_t workgroup_count, uint32_t workgroup_size) {
  return workgroup_size > 0 && workgroup_size <= UINT16_MAX && workgroup_count <= UINT32_MAX / workgroup_size;
}
#define TJ_RT_NO_PACKET "%" PRIu64 " workgroups of %" PRIu32 " work-items are more than one dispatch holds"

#define TJ_RT_NO_MAPS "kernels of %s take no tensor maps"

/* A copy between places that the device reaches: its buffers, or the process's memory. They do not overlap. */
typedef struct {
  void *to;
  const void *from;
  size_t size;                  /* 0: nothing happens */
  tj_rt_completion *completion; /* as of a launch */
} tj_rt_copy;

/* What to know of a device without opening it. */
typedef struct {
  char name[80];        /* host, hsa:0, sim:gfx942, cuda:0: what tj_rt_open takes */
  char target[64];      /* what to compile for: host, gfx942:sramecc+:xnack- */
  char description[96]; /* of the hardware, for people: its marketing name */
  char bus[16];         /* where it is on the PCI bus: 0000:c1:00.0; "" where it is not */
  char uuid[48];        /* GPU- and 16 hexadecimal digits, or 32 in five groups; "" where it has none */
  uint32_t parallelism; /* cores, or compute units */
  uint64_t memory;      /* bytes; 0: unknown */
} tj_rt_info;

/* A number that a device counts. `name` is static. */
typedef struct {
  const char *name;
  uint64_t value;
} tj_rt_counter;

/* A driver's functions, none NULL but `counters`, `encode_map`, and `progress`, `finish` and `lose` where launches
 * end before they return: what the wrappers below of the same names do, after their checks (ranges are inside
 * buffers, out-parameters are cleared, launches have workgroups). */
typedef struct {
  void (*close)(tj_rt_device *device);
  tj_status (*allocate)(tj_rt_device *device, size_t size, tj_rt_buffer *buffer, tj_rt_error *error);
  void (*release)(tj_rt_device *device, tj_rt_buffer *buffer);
  tj_status (*write)(tj_rt_device *device, const tj_rt_buffer *buffer, size_t offset, tj_bytes from,
                     tj_rt_error *error);
  tj_status (*read)(tj_rt_device *device, const tj_rt_buffer *buffer, size_t offset, void *to, size_t size,
                    tj_rt_error *error);
  tj_status (*load)(tj_rt_device *device, const tj_rt_code *code, tj_rt_kernel **kernel, tj_rt_error *error);
  void (*unload)(tj_rt_device *device, tj_rt_kernel *kernel);
  tj_status (*launch)(tj_rt_device *device, tj_rt_kernel *kernel, const tj_rt_dispatch *dispatch, tj_rt_error *error);
  tj_status (*copy)(tj_rt_device *device, const tj_rt_copy *copy, tj_rt_error *error);
  void (*lose)(tj_rt_device *device, const char *why);
  tj_status (*wait)(tj_rt_device *device, uint64_t *nanoseconds, tj_rt_error *error);
  void (*progress)(tj_rt_device *device); /* completes what has ended, without waiting */
  void (*finish)(tj_rt_device *device, tj_rt_completion *completion,
                 const tj_rt_watch *watch); /* waits until it is done,
                                             * or given up */
  size_t (*counters)(tj_rt_device *device, tj_rt_counter counters[], size_t capacity);
  tj_status (*encode_map)(tj_rt_device *device, const tj_tensor_map *map, void *encoded, tj_rt_error *error);
} tj_rt_operations;

/* The head of every driver's device. */
struct tj_rt_device {
  const tj_rt_operations *operations;
  tj_rt_info info;
};

/* A kind of device: tj_rt_driver_NAME, where NAME is the row of driver.def. */
typedef struct {
  const char *prefix; /* of its devices' names: all of `host`, or what comes before the colon of `hsa:0` */
  /* Opens the device of that name; TJ6001 where there is none. */
  tj_status (*open)(const char *name, const tj_allocator *allocator, tj_rt_device **device, tj_rt_error *error);
  /* Writes the first `capacity` of its devices; returns how many there are. */
  size_t (*list)(tj_rt_info info[], size_t capacity);
} tj_rt_driver;

/* Opens a device by name. allocator NULL: malloc and free. TJ6001 for a name that no device has. The device is the
 * caller's, to be closed. */
tj_status tj_rt_open(const char *name, const tj_allocator *allocator, tj_rt_device **device, tj_rt_error *error);

/* A device on an agent of the HSA runtime, and on a queue of it. */
typedef struct {
  const char *library; /* as for dlopen; NULL: that of the devices hsa:N */
  uint64_t agent;      /* the handle of an hsa_agent_t */
  void *queue;         /* an hsa_queue_t, borrowed; NULL: one is made */
} tj_rt_attachment;

/* Opens such a device. TJ6001 where the runtime has no such GPU agent. (hsa.c) */
tj_status tj_rt_attach(const tj_rt_attachment *attachment, const tj_allocator *allocator, tj_rt_device **device,
                       tj_rt_error *error);

/* A device on a context of the CUDA driver, and on a stream of it. */
typedef struct {
  const char *library; /* as for dlopen; NULL: that of the devices cuda:N */
  void *context;       /* a CUcontext, borrowed; NULL: the thread's current one */
  void *stream;        /* a CUstream, borrowed, NULL being the default one */
  bool has_own_stream; /* one is made in its place */
} tj_rt_cuda_attachment;

/* Opens such a device. TJ6001 where there is no context. (cuda.c) */
tj_status tj_rt_attach_cuda(const tj_rt_cuda_attachment *attachment, const tj_allocator *allocator,
                            tj_rt_device **device, tj_rt_error *error);

/* Tells that nothing in flight ends any more, and why: the device is lost, as after a fault of memory. */
void tj_rt_lose(tj_rt_device *device, const char *why);

/* Waits for all that was launched, and gives everything back, except buffers and kernels, which must be gone. NULL:
 * nothing happens. */
void tj_rt_close(tj_rt_device *device);

/* Describes all devices: writes the first `capacity`, returns how many there are. */
size_t tj_rt_list(tj_rt_info info[], size_t capacity);

/* `size` bytes of uninitialised memory, aligned to 256 bytes. 0 bytes are allowed. TJ6010. */
tj_status tj_rt_allocate(tj_rt_device *device, size_t size, tj_rt_buffer *buffer, tj_rt_error *error);
/* Waits for what is in flight. */
void tj_rt_release(tj_rt_device *device, tj_rt_buffer *buffer);
/* A buffer of memory that somebody else has allocated where the device reaches it, for as long as the buffer is not
 * released. */
tj_rt_buffer tj_rt_borrow(uint64_t address, size_t size);

/* TJ6002 where the range is not inside the buffer. */
tj_status tj_rt_check_range(const tj_rt_buffer *buffer, size_t offset, size_t size, tj_rt_error *error);

/* Copy between a buffer, from `offset` on, and the caller's memory. The copy is complete on return. TJ6002 where
 * the range is not inside the buffer. */
tj_status tj_rt_write(tj_rt_device *device, const tj_rt_buffer *buffer, size_t offset, tj_bytes from,
                      tj_rt_error *error);
tj_status tj_rt_read(tj_rt_device *device, const tj_rt_buffer *buffer, size_t offset, void *to, size_t size,
                     tj_rt_error *error);

/* Makes a kernel ready to be launched, many times. TJ6009 for code of another kind of device. */
tj_status tj_rt_load(tj_rt_device *device, const tj_rt_code *code, tj_rt_kernel **kernel, tj_rt_error *error);
/* Waits until the kernel no longer runs, and for no other. NULL: nothing happens. */
void tj_rt_unload(tj_rt_device *device, tj_rt_kernel *kernel);

/* Writes a tensor map, TJ_TENSOR_MAP_BYTES aligned to TJ_TENSOR_MAP_ALIGNMENT, as kernels of the device take it.
 * TJ6009 where they take none. */
tj_status tj_rt_encode_map(tj_rt_device *device, const tj_tensor_map *map, void *encoded, tj_rt_error *error);

/* Runs a kernel. TJ6008. */
tj_status tj_rt_launch(tj_rt_device *device, tj_rt_kernel *kernel, const tj_rt_dispatch *dispatch,
                       tj_rt_error *error);
/* Copies, in the order of launches. May return before the copy is made. TJ6008 where it fails. */
tj_status tj_rt_copy_memory(tj_rt_device *device, const tj_rt_copy *copy, tj_rt_error *error);
/* Whether a launch has ended; does not wait. */
bool tj_rt_is_done(tj_rt_device *device, tj_rt_completion *completion);
/* Returns when a launch has ended, with how. Others may launch meanwhile. TJ6008 where it ended badly, or did not run
 * because one before it had. */
tj_status tj_rt_finish(tj_rt_device *device, tj_rt_completion *completion, tj_rt_error *error);
/* The same under the eyes of a watch: what it gives up ends with TJ6008, and so do launches that are in flight behind
 * it. */
tj_status tj_rt_finish_watched(tj_rt_device *device, tj_rt_completion *completion, const tj_rt_watch *watch,
                               tj_rt_error *error);
/* Returns when all that was launched has ended, with the time that the kernels launched since the last wait took on
 * the device; `nanoseconds` may be NULL. TJ6008 where one ended badly. */
tj_status tj_rt_wait(tj_rt_device *device, uint64_t *nanoseconds, tj_rt_error *error);

/* What the kernels launched since the last call were measured by, beyond time: simulated devices count instructions,
 * cache lines and bank conflicts. Waits for them. Writes the first `capacity`, returns how many there are; 0 where
 * the device counts nothing. */
size_t tj_rt_counters(tj_rt_device *device, tj_rt_counter counters[], size_t capacity);

/* Describes a failure: sets code and text, returns `status`. For drivers. */
tj_status tj_rt_failed(tj_rt_error *error, tj_status status, tj_problem_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif

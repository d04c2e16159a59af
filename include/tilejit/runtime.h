/* SPDX-License-Identifier: MIT */
/* tilejit, the half that runs compiled kernels: devices, buffers, launches, and bundles of code.
 *
 * libtilejit-runtime has these functions and needs no compiler; libtilejit has them too, and those of tilejit.h,
 * which includes this header. A program links one of the two.
 *
 *     context ─ bundle ─ code ─ launch ─ device     tj_bundle_…, tj_code_…, tj_launch_…, tj_device_…
 *                                 ├─ buffer ┘       tj_buffer_…
 *                                 └─ fence          tj_fence_…
 *
 * Conventions
 * - Every function that can fail returns a tj_status; results come through out-parameters, which stand last and are
 *   written only on TJ_OK. What went wrong is described by tj_context_diagnostic. The library never prints, exits,
 *   aborts or raises signals, and keeps no state outside of the objects below.
 * - Ownership: what a _create, _open or _compile function gives belongs to the caller, who gives it to the matching
 *   _destroy or _close, which takes NULL. Everything else that is returned by pointer is borrowed, for as long as its
 *   docstring says. Text and byte results are blobs, released with tj_blob_release.
 * - Threads: contexts are independent of each other. A context and the programs, bundles, launches, buffers and
 *   fences made with it are used by one thread at a time. Code is immutable and may be shared by threads; a device
 *   may be shared by threads.
 * - Strings are UTF-8. Integers of the language are 64-bit signed. */
#ifndef TILEJIT_RUNTIME_H
#define TILEJIT_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TJ_API __attribute__((visibility("default")))
#else
#define TJ_API
#endif

#define TJ_VERSION "0.1.0"

/* How a call ended. The values 0 to 3 are also the exit statuses of the tilejit command. */
typedef enum {
  TJ_OK = 0,
  TJ_ERROR_INPUT = 1,    /* the program, or a value given for it, is wrong */
  TJ_ERROR_USAGE = 2,    /* the call itself is wrong */
  TJ_ERROR_SYSTEM = 3,   /* the device or the system failed */
  TJ_ERROR_MEMORY = 4,   /* the allocator refused */
  TJ_ERROR_CANCELLED = 5 /* the function of tj_context_set_progress ended the work */
} tj_status;

/* Where a context gets its memory. Both functions get `user`, and may be called from any thread that uses a context
 * created with this allocator, or code or a device of such a one. allocate returns NULL when there is no memory, else
 * a block aligned for any object; release takes what allocate returned, never NULL. Memory inside LLVM comes from
 * malloc all the same, and LLVM ends the process where that has none. */
typedef struct {
  void *(*allocate)(void *user, size_t size);
  void (*release)(void *user, void *block);
  void *user;
} tj_allocator;

/* --- contexts and diagnostics --- */

typedef struct tj_context tj_context;

/* A context. `allocator` is copied; NULL means malloc and free. Up to 4 MiB that a program had are kept for the next
 * one. Fails only with TJ_ERROR_MEMORY. */
TJ_API tj_status tj_context_create(const tj_allocator *allocator, tj_context **context);
TJ_API void tj_context_destroy(tj_context *context);

/* One problem: `code` is the number of TJnnnn (docs/errors.md). line and column count from 1; line 0 means that
 * there is no place, and then source_line is "". `length` is how many bytes of source_line are to blame, at least 1.
 * `note` says what would make it right. */
typedef struct {
  tj_status status;
  unsigned code;
  const char *file;
  uint32_t line, column, length;
  const char *message;
  const char *note;
  const char *source_line;
} tj_diagnostic;

/* Why the last call on the context, or on anything made with it, failed; NULL where it did not. Borrowed until the
 * next such call. */
TJ_API const tj_diagnostic *tj_context_diagnostic(const tj_context *context);

/* What long work is about: "cases tried", how many of them are done, and of how many; total 0 where that is not
 * known. `what` is static. */
typedef struct {
  const char *what;
  uint64_t done, total;
} tj_progress;

/* Returns 0 where the work is to go on. Otherwise it ends soon, so long as further calls return the same: the call of
 * the library that the work belongs to gives TJ_ERROR_CANCELLED and TJ7007, and leaves nothing behind. */
typedef int (*tj_progress_function)(void *user, const tj_progress *progress);

/* Has calls on a context, or on anything made with it, tell their progress from now on; NULL: they tell nobody. The
 * function is called by the thread that has called the library, before the call returns, up to some thousand times a
 * second: by work that is bounded by its cost, by proofs, and while a launch is waited for (of a simulated device,
 * "workgroups executed"). It must not call the library with this context. A launch that is cancelled takes those that
 * are in flight behind it with it, as one that fails does. What the host runs, and LLVM, are not interrupted. */
TJ_API void tj_context_set_progress(tj_context *context, tj_progress_function function, void *user);

/* A diagnostic as compilers print it: file:line:column: error: TJnnnn: message, the source line, a caret under what
 * is to blame, the note. Writes at most `size` bytes, zero-terminated, and returns the length of the whole text. With
 * `colour`, ANSI colours. Of NULL, which tj_context_diagnostic gives where nothing has failed, the text is empty. */
TJ_API size_t tj_diagnostic_format(const tj_diagnostic *diagnostic, int colour, char *buffer, size_t size);

/* Bytes that belong to the caller. `data` ends in a zero byte that `size` does not count. */
typedef struct {
  char *data;
  size_t size;
} tj_blob;

TJ_API void tj_blob_release(tj_context *context, tj_blob *blob);

/* --- compiled kernels --- */

/* A kernel's machine code for one target, and all that launching it takes. It must not outlive its context.
 *
 * Of a kernel with several variants, of which a launch takes the first that its parameters and addresses allow, each
 * is compiled when a launch first takes it, and is then kept as the code is. What comes from bundles has all of them.
 */
typedef struct tj_code tj_code;

TJ_API void tj_code_destroy(tj_code *code);

/* The code object's bytes (host: the relocatable object), with every variant of the kernel: those that no launch has
 * taken yet are compiled for it, all in one. NULL, and a size of 0, where that fails, which leaves no diagnostic, as
 * threads share the code: tj_launch_compile tells why. Borrowed from the code. */
TJ_API const void *tj_code_bytes(const tj_code *code, size_t *size);
TJ_API const char *tj_code_kernel(const tj_code *code);
TJ_API const char *tj_code_target(const tj_code *code);

/* Where code came from. */
typedef enum {
  TJ_CODE_COMPILED,    /* LLVM made it now */
  TJ_CODE_FROM_MEMORY, /* the text was found in memory, */
  TJ_CODE_FROM_DISK,   /* or on disk */
  TJ_CODE_FROM_KERNEL, /* the text was new, its kernel was found in memory or on disk */
  TJ_CODE_FROM_BUNDLE  /* tj_bundle_code */
} tj_code_origin;

TJ_API tj_code_origin tj_code_origin_of(const tj_code *code);

/* Where the time of a compilation went, in nanoseconds of wall time, by stage. Variants that wait for launches have
 * had none of the stages from `passes` on. */
typedef struct {
  uint64_t cache; /* looking there, and keeping the result */
  uint64_t plan, simplify, lower, passes, codegen, link, check, load;
} tj_code_times;

TJ_API tj_code_times tj_code_times_of(const tj_code *code);

/* One argument, as it is once all parameters are known. */
typedef struct {
  const char *name;
  const char *dtype; /* as in the program: f32 */
  const char *numpy; /* NumPy's type string: <f4; |u1 of floats of 8 bits; "" of bf16 */
  size_t element_bytes;
  int64_t element_count; /* the least number of elements of a buffer */
  int is_read, is_written;
  int is_row_major;    /* the view is plain row-major: `lengths` is the natural shape of the array */
  int is_column_major; /* the same with the first mode fastest: the array is one in Fortran order. Both where modes of
                          length 1 leave one */
  const int64_t *lengths;
  size_t rank;
} tj_argument;

TJ_API size_t tj_code_argument_count(const tj_code *code);
/* Borrowed from the code; NULL beyond the last argument. */
TJ_API const char *tj_code_argument_name(const tj_code *code, size_t index);
/* The same as far as it is known before parameters have values: `lengths` is NULL, and element_count -1 where a
 * parameter decides it. `name` is NULL beyond the last argument. Strings are borrowed from the code. */
TJ_API tj_argument tj_code_argument(const tj_code *code, size_t index);

/* A parameter of the program that the code was compiled from. */
typedef struct {
  const char *name;
  int has_low, has_high; /* there is a least value, a greatest, that no other parameter decides: */
  int64_t low, high;     /* inclusive; where there is none, those of the type */
  int64_t multiple;      /* values are multiples of it; 1: of any, or other parameters decide it */
  int is_fixed;          /* it was given a value when the code was compiled, and takes none */
  int is_needed;         /* the kernel depends on it: a launch needs its value */
} tj_parameter_info;

TJ_API size_t tj_code_parameter_count(const tj_code *code);
/* `name` is NULL beyond the last parameter. Borrowed from the code. */
TJ_API tj_parameter_info tj_code_parameter(const tj_code *code, size_t index);

/* --- bundles --- */

/* Compiled kernels, each for several targets, as bytes: what `tilejit bundle` writes to a file. Where they are opened
 * no compiler is needed.
 *
 * The bytes may come from anybody: they have a checksum, and each is checked besides, so that damaged bundles are
 * refused and hostile ones do no more harm than the code in them. That code runs, in this process where it is for the
 * host: bundles are to be trusted as shared libraries are. A bundle is used by one thread at a time, its codes by
 * any. */
typedef struct tj_bundle tj_bundle;

/* Opens `size` bytes, which are copied; TJ6017 where they are no whole bundle, or of another version of tilejit. */
TJ_API tj_status tj_bundle_open(tj_context *context, const void *bytes, size_t size, tj_bundle **bundle);
/* The same of a file; TJ6004 where it cannot be read. */
TJ_API tj_status tj_bundle_open_file(tj_context *context, const char *path, tj_bundle **bundle);
/* Its codes live on. */
TJ_API void tj_bundle_destroy(tj_bundle *bundle);

/* The code of a kernel for a target. Strings are borrowed from the bundle. */
typedef struct {
  const char *kernel;
  const char *target; /* gfx942; of hosts a level of processors, x86-64-v3 */
  size_t bytes;       /* that it takes in the bundle */
} tj_bundle_entry;

TJ_API size_t tj_bundle_count(const tj_bundle *bundle);
/* In the order in which they were put there; `kernel` is NULL beyond the last. */
TJ_API tj_bundle_entry tj_bundle_entry_of(const tj_bundle *bundle, size_t index);

/* The code of a kernel for a target, such as that of a device (tj_device_target): code for gfx942 runs on
 * gfx942:sramecc+:xnack-, code for x86-64-v3 on hosts that have this level; where several run there, that which is
 * made for fewest. kernel NULL: the only name that the bundle has. TJ6018 where there is no such code, TJ6017 where
 * it is damaged. */
TJ_API tj_status tj_bundle_code(tj_bundle *bundle, const char *kernel, const char *target, tj_code **code);

/* What "host" stands for in bundles: a target for each level of processors, least first; NULL beyond the last.
 * Static. */
TJ_API const char *tj_bundle_host_target(size_t index);

/* A bundle of codes that have been compiled, or come from other bundles. TJ6019 where two are of one kernel and one
 * target, and for code of the target "host": it runs on this processor alone, so bundles have levels. */
TJ_API tj_status tj_bundle_write(tj_context *context, const tj_code *const codes[], size_t count, tj_blob *bundle);

/* --- devices --- */

typedef struct tj_device tj_device;

typedef enum {
  TJ_DEVICES_TEXT, /* a line each: name, target, what it is, cores or compute units, memory, PCI bus, UUID */
  TJ_DEVICES_JSON  /* [{"name","target","description","parallelism","memory","bus","uuid"}…] */
} tj_device_list_form;

/* The devices that can be opened. `name` is what tj_device_open takes, `target` what to compile for; `parallelism`
 * counts cores or compute units, `memory` bytes; what a device does not have or tell is null, or left out of text. */
TJ_API tj_status tj_device_list(tj_context *context, tj_device_list_form form, tj_blob *text);

/* What a device is; strings are borrowed from it, and "" where there is nothing to say. */
typedef struct {
  const char *name;        /* what tj_device_open takes: hsa:0; of an attached device, what it would take */
  const char *target;      /* what to compile for */
  const char *description; /* of the hardware, for people */
  const char *bus;         /* where it is on the PCI bus: 0000:c1:00.0 */
  const char *uuid;        /* GPU- and 16 hexadecimal digits, or 32 in five groups */
  uint32_t parallelism;    /* cores, or compute units */
  uint64_t memory;         /* bytes; 0: unknown */
} tj_device_properties;

/* Opens a device by its name: "host", "hsa:0" for the first GPU of the HSA runtime, "cuda:0" for that of the CUDA
 * driver, "sim:gfx942" for a simulated one. Each has one name. TJ6001 for a name that no device has. */
TJ_API tj_status tj_device_open(tj_context *context, const char *name, tj_device **device);
/* An agent and a queue of the HSA runtime that the application has. */
typedef struct {
  const char *library; /* the runtime, as for dlopen: the one that the application uses. NULL: what hsa:N uses */
  uint64_t agent;      /* the handle of a GPU's hsa_agent_t */
  void *queue;         /* an hsa_queue_t of that agent; NULL: the device makes a queue of its own */
} tj_hsa_attachment;

/* Opens a device on an agent of the application's, so that memory and kernels of both are on one GPU of one runtime;
 * and, where `queue` is not NULL, on a queue of the application's: launches and copies of the device become packets
 * of it, ordered with what the application puts there. The queue is borrowed until the device has shut down. Packets
 * are written by whichever thread calls the device, so a queue of type HSA_QUEUE_TYPE_SINGLE must not be written to
 * by the application at the same time. Times are those of the queue's profiling, 0 where that is not enabled. What
 * runs is not interrupted when a launch is cancelled: that is waited for. TJ6011 where the runtime does not open,
 * TJ6001 where it has no such GPU agent. */
TJ_API tj_status tj_device_attach(tj_context *context, const tj_hsa_attachment *hsa, tj_device **device);

/* A context and a stream of the CUDA driver that the application has. The runtime's are the driver's: a cudaStream_t
 * is a CUstream, and cudaSetDevice makes the device's primary context current. */
typedef struct {
  const char *library; /* the driver, as for dlopen; NULL: what cuda:N uses */
  void *context;       /* a CUcontext; NULL: the one that is current for the calling thread */
  void *stream; /* a CUstream of that context; NULL: its default stream, which waits for others and they for it */
  int has_own_stream; /* not 0: `stream` is not looked at, the device makes one of its own */
} tj_cuda_attachment;

/* Opens a device on a context of the application's, so that memory, streams and events of both are of one kind; and
 * on a stream of the application's: launches and copies of the device are ordered with what the application puts
 * there. Context and stream are borrowed until the device has shut down. A stream that is being captured, and the
 * default stream of each thread, are not to be attached: recipes are launched there. Times are 0 on a stream of the
 * application's, whose own events measure it: those that take a launch's time cost the GPU 2 microseconds. What runs
 * is not interrupted when a launch is cancelled: that is waited for. TJ6020 where the driver does not open, TJ6001
 * where no context is given and none is current, or the stream is that of each thread. */
TJ_API tj_status tj_device_attach_cuda(tj_context *context, const tj_cuda_attachment *cuda, tj_device **device);

/* Tells a device that nothing in flight will end any more, and why: to be called from the function that the
 * application has given to hsa_queue_create for failures, which the runtime tells to nobody else. From any thread,
 * also while others use the device. It is lost, as after a fault of memory: waits end, and every call but those that
 * destroy and close gives TJ6008. On the host nothing happens. */
TJ_API void tj_device_lose(tj_device *device, const char *why);

/* Waits for work in flight. Buffers and fences of the device keep it: they may still be asked and are still to be
 * destroyed, and with the last of them the device shuts down. */
TJ_API void tj_device_close(tj_device *device);
/* The target to compile for. Borrowed from the device. */
TJ_API const char *tj_device_target(const tj_device *device);
TJ_API tj_device_properties tj_device_properties_of(const tj_device *device);

/* --- buffers --- */

/* Memory of one device that outlives launches, so that several of them work on it without copies. Any number of
 * launches may be in flight on it: what is asked of one device happens in the order in which it is asked, copies
 * included. */
typedef struct tj_buffer tj_buffer;

/* `bytes` of uninitialised memory, aligned to 256 bytes; 0 is allowed. TJ6010 where the device has no more. */
TJ_API tj_status tj_buffer_create(tj_context *context, tj_device *device, size_t bytes, tj_buffer **buffer);
/* Gives memory back to its owner. */
typedef void (*tj_release_function)(void *user);

/* A buffer of `bytes` of memory that somebody else has allocated where the device reaches it, from `address` on, as
 * in tj_launch_bind_pointer: hipMalloc's, or of an HSA pool of the device's agent; cudaMalloc's; on the host, any
 * memory of the process. It stays its owner's, and must be there until the buffer is destroyed: `release`, unless it
 * is NULL, is then called once, by the thread that destroys it, when what was in flight on the device has ended. It
 * must not call the library with this context. TJ6016 where the address is NULL and bytes is not 0; then `release` is
 * not called, nor after any other failure. */
TJ_API tj_status tj_buffer_import(tj_context *context, tj_device *device, void *address, size_t bytes,
                                  tj_release_function release, void *user, tj_buffer **buffer);

/* Waits for launches and copies in flight. */
TJ_API void tj_buffer_destroy(tj_buffer *buffer);
TJ_API size_t tj_buffer_size(const tj_buffer *buffer);
/* The address of its first byte on the device, for other runtimes of the process; valid until the buffer is
 * destroyed. */
TJ_API void *tj_buffer_address(const tj_buffer *buffer);

/* Copy `bytes` between a buffer, from its byte `offset` on, and host memory; both wait for launches in flight, whose
 * failures only their fences tell. TJ6002 where the range is not inside the buffer. */
TJ_API tj_status tj_buffer_write(tj_buffer *buffer, size_t offset, const void *data, size_t bytes);
TJ_API tj_status tj_buffer_read(tj_buffer *buffer, size_t offset, void *data, size_t bytes);

/* Copies `bytes` from a buffer to another of the same device or of any other, or within one, and waits. TJ6002 where
 * a range is not inside its buffer, TJ6016 where the ranges overlap. */
TJ_API tj_status tj_buffer_copy(tj_buffer *to, size_t to_offset, tj_buffer *from, size_t from_offset, size_t bytes);

/* How a launch or a copy that is not waited for ends. */
typedef struct tj_fence tj_fence;

/* Start a copy and do not wait for it. It happens after what was asked of the device before, and before what is asked
 * of it later; the fence tells when it has ended, with its time, or why it failed, as that of a launch does. `data`
 * is borrowed until then, buffers must not be destroyed before. The same failures as above; TJ4001 where `to` and
 * `from` are of two devices. On the host a copy has ended when this returns. */
TJ_API tj_status tj_buffer_submit_write(tj_buffer *buffer, size_t offset, const void *data, size_t bytes,
                                        tj_fence **fence);
TJ_API tj_status tj_buffer_submit_read(tj_buffer *buffer, size_t offset, void *data, size_t bytes, tj_fence **fence);
TJ_API tj_status tj_buffer_submit_copy(tj_buffer *to, size_t to_offset, tj_buffer *from, size_t from_offset,
                                       size_t bytes, tj_fence **fence);

/* --- launches --- */

/* A launch gathers what one run of a kernel needs: parameters, then arrays. */
typedef struct tj_launch tj_launch;

TJ_API tj_status tj_launch_create(tj_context *context, const tj_code *code, tj_launch **launch);
TJ_API void tj_launch_destroy(tj_launch *launch);

/* Gives a parameter its value, in the place of one it had: TJ2026 where the program has no such parameter, TJ2025
 * where the value contradicts its declared facts. Bounds that other parameters decide are looked at when these have
 * values, by the functions below that need them. A value that is refused changes nothing. */
TJ_API tj_status tj_launch_set_parameter(tj_launch *launch, const char *name, int64_t value);
/* The same for a number of a kernel of arrays, `alpha: f32`, which is rounded to its type. An integer may be given to
 * it by tj_launch_set_parameter as well; TJ2025 where the parameter is one. */
TJ_API tj_status tj_launch_set_number(tj_launch *launch, const char *name, double number);

/* Tells the shape of the array that will be bound to an argument, in the place of one told before. Parameters that
 * are not given a value are taken from shapes where the argument's view is plain row-major with these parameters as
 * lengths: TJ6015 where two shapes, or two lengths of this one, say different values of such a parameter, and where a
 * length is negative; TJ2025 where the value contradicts its declared facts. Shapes of earlier runs give way to what
 * is told since. A shape that is refused changes nothing. */
TJ_API tj_status tj_launch_set_shape(tj_launch *launch, const char *argument, const int64_t shape[], size_t rank);

/* Borrowed from the launch until the next call on it. TJ6007 where a parameter has no value yet. */
TJ_API tj_status tj_launch_argument(tj_launch *launch, size_t index, const tj_argument **argument);

/* Binds host memory to an argument: borrowed until the run ends. TJ6002 where it is too small, TJ6016 where it is
 * NULL. */
TJ_API tj_status tj_launch_bind(tj_launch *launch, const char *argument, void *data, size_t bytes);

/* Binds a buffer instead, from its beginning or from byte `offset` on: borrowed until the last run or submission of
 * the launch returns. TJ6002 where what is left of it is too small, or the offset is beyond its end. Runs and
 * submissions give TJ4001 where it is of another device, and TJ6016 where the offset is not aligned as the kernel
 * needs it (tj_launch_prepare tells). */
TJ_API tj_status tj_launch_bind_buffer(tj_launch *launch, const char *argument, tj_buffer *buffer);
TJ_API tj_status tj_launch_bind_buffer_at(tj_launch *launch, const char *argument, tj_buffer *buffer, size_t offset);

/* Binds `bytes` of memory that somebody else has allocated where the device reaches it, by its address there: what
 * hipMalloc or hsa_amd_memory_pool_allocate gave, or a place inside; on the host, any memory of the process. It is
 * used where it is, and must be there until the last launch with it has ended. Whether it is memory, and the
 * device's, is not checked. TJ6002 where it is too small, TJ6016 where the address is NULL; runs, submissions and
 * tj_launch_prepare give TJ6016 where it is not aligned as the kernel needs it. */
TJ_API tj_status tj_launch_bind_pointer(tj_launch *launch, const char *argument, void *address, size_t bytes);

/* What is bound to two arguments may not overlap where the kernel writes one of them: runs, submissions and
 * tj_launch_prepare give TJ4001. */

/* Runs the kernel and waits for it. TJ4010 where the parameters let two coordinates of the destination store
 * different sources to one element, which the kernel does not allow. Host memory is copied to the device, and, where
 * the kernel writes it, back, so that elements that the kernel does not store keep their value. Buffers are used
 * where they are. */
TJ_API tj_status tj_launch_run(tj_launch *launch, tj_device *device);

/* --- recipes --- */

typedef enum {
  TJ_KERNARG_POINTER,   /* the address of an argument */
  TJ_KERNARG_VALUE,     /* an integer: a parameter, or what is computed of parameters once a launch */
  TJ_KERNARG_SCRATCH,   /* the address of the launch's scratch memory, for the caller to write */
  TJ_KERNARG_TENSOR_MAP /* a CUtensorMap of an argument, for the caller to write */
} tj_kernarg_kind;

enum { TJ_TENSOR_MAP_DIMENSIONS = 5, TJ_TENSOR_MAP_BYTES = 128, TJ_TENSOR_MAP_ALIGNMENT = 64 };

/* What cuTensorMapEncodeTiled of the CUDA driver is given, without interleaving. */
typedef struct {
  uint32_t element_bytes, rank; /* the type is that of unsigned integers of so many bytes: 1, 2, 4 or 8 */
  uint64_t address;
  uint64_t extent[TJ_TENSOR_MAP_DIMENSIONS];
  uint64_t stride[TJ_TENSOR_MAP_DIMENSIONS]; /* bytes, of dimensions 1 and up: [0] is of dimension 1 */
  uint32_t box[TJ_TENSOR_MAP_DIMENSIONS];
  uint32_t element_stride[TJ_TENSOR_MAP_DIMENSIONS]; /* [0] is ignored */
  uint32_t swizzle;                                  /* bytes of its rows: 0, 32, 64 or 128 */
} tj_tensor_map;

/* A word of a kernel's argument block, or half a one, which lies `bytes` long at `offset`, its least significant byte
 * first. */
typedef struct {
  const char *name; /* the argument or the parameter; of what is computed, how: "(M + 63) / 64", "magic31(N)" */
  tj_kernarg_kind kind;
  size_t offset, bytes;
  size_t alignment; /* of addresses: what they must be a multiple of, in bytes; of values 1 */
  int is_bound;     /* of pointers: `value` is the address bound to the argument, not 0; of values 1; of others 0 */
  uint64_t value;   /* negative integers modulo 2^64; of tensor maps 0 */
  const tj_tensor_map *map; /* of tensor maps, of the argument at the address that is bound to it; where none is, at
                               0, and the argument's is to be added. NULL: it is none */
} tj_kernarg;

/* All that it takes to launch a kernel without tj_launch_run: docs/launching.md. */
typedef struct tj_recipe {
  const char *symbol;  /* the kernel in the code object; its descriptor has the name with .kd behind it */
  uint64_t grid[3];    /* work-items along x, y and z: whole workgroups */
  uint32_t block[3];   /* work-items of a workgroup */
  uint32_t lds_bytes;  /* of a workgroup, all of which the code object itself declares */
  const void *kernarg; /* the argument block: kernarg_bytes, 8-byte aligned */
  size_t kernarg_bytes;
  const tj_kernarg *word; /* what it holds, in the order of offsets */
  size_t word_count;
  size_t scratch_bytes; /* of memory on the device that the launch has to itself until its last kernel has ended, of
                           any content before and after; 0: it needs none */
  const struct tj_recipe *next; /* the kernel to launch behind this one, when it has ended: with the same argument
                                   block, and another symbol, grid and block; NULL: there is none */
} tj_recipe;

/* The recipe of one launch with the parameters and the memory that are bound. Arguments without memory have 0 in the
 * argument block, for the caller to write addresses that have their word's alignment. All checks of tj_launch_run
 * that need no device are made: TJ6007, TJ2025, TJ4010, TJ6002, TJ6016; TJ4001 where host memory is bound, or what
 * overlaps; TJ6008 where the grid is larger than a GPU's packet holds. Where parameters or addresses allow several
 * kernels of the code, the recipe is of the fastest. Borrowed from the launch until the next call on it. Of code for
 * the host, `symbol` is a function of the object that takes the argument block and the numbers of the first workgroup
 * and of the one behind the last: void (const void *, uint64_t, uint64_t). */
TJ_API tj_status tj_launch_prepare(tj_launch *launch, const tj_recipe **recipe);

/* Compiles the variant that the launch takes with the parameters and the memory that are bound, where it waits, so
 * that runs and submissions need not; memory that is not bound is taken to be aligned. TJ6007, TJ2025; TJ4006 where
 * an integer may not fit in 64 bits, TJ5003 where LLVM fails, as runs and submissions then do. */
TJ_API tj_status tj_launch_compile(tj_launch *launch);
/* Where the time of the last tj_launch_compile, run or submission of the launch went, as far as it compiled: zeros
 * where nothing waited. */
TJ_API tj_code_times tj_launch_times(const tj_launch *launch);

/* --- launches in flight --- */

/* Starts the kernel and does not wait for it: any number of launches may be in flight on a device; they run one after
 * another, in the order in which they are submitted. Every argument must have a buffer or a pointer: TJ4001 for host
 * memory. Races give TJ4010, as in tj_launch_run. The launch may be changed, submitted again and destroyed at once,
 * its code too.
 * On the host a launch has ended when this returns. On other devices it waits while 64 launches are in flight. */
TJ_API tj_status tj_launch_submit(tj_launch *launch, tj_device *device, tj_fence **fence);

/* Whether the launch has ended, 1 or 0; does not wait. */
TJ_API int tj_fence_is_done(tj_fence *fence);
/* Waits for the launch, or the copy; as often as wanted, in any order of fences. `nanoseconds`, which may be NULL,
 * gets the time that its kernel took. TJ6008 where the kernel failed, with the device's words; what its buffers hold
 * is then unspecified. Launches that were in flight behind it do not run, and their fences give TJ6008 and say so;
 * the device serves those that are submitted once a failure has been told. Only a GPU whose kernel has touched memory
 * that is not there is lost: every call but those that destroy and close gives TJ6008 from then on. */
TJ_API tj_status tj_fence_wait(tj_fence *fence, uint64_t *nanoseconds);
/* Waits for the launch, not for others. A failure that was not asked for is forgotten. */
TJ_API void tj_fence_destroy(tj_fence *fence);

/* Nanoseconds that the kernel of the last run took, copies excluded. */
TJ_API uint64_t tj_launch_nanoseconds(const tj_launch *launch);

/* What a simulated device counted in the last run: waves, instructions by class, cache lines touched and needed,
 * cycles of LDS with and without bank conflicts. 0 on other devices. */
TJ_API size_t tj_launch_counter_count(const tj_launch *launch);
/* The value of counter `index`, which must be less than their count. `name` is static. */
TJ_API uint64_t tj_launch_counter(const tj_launch *launch, size_t index, const char **name);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* A library with the functions of the CUDA driver that are used, whose one GPU is a queue of this process: for tests
 * of what is asked of a driver, in which order, and what becomes of failures. It compiles nothing.
 *
 * A stream's work waits until somebody synchronizes with it; each query of an event does one piece of it. Memory is
 * the process's. Modules are texts: a kernel NAME is there where the text has the word NAME, and does what its name
 * says,
 *
 *     add         to each 32-bit element of the buffer in its first word, what its second word says
 *     fault       nothing, and the context is lost
 *
 * with as many elements as there are threads. A kernel has two words; where the text has NAME_param_2[128], also a
 * tensor map, and does nothing: its launch fails but with the map that was made last. The text `shared N` is N bytes
 * of shared memory that the code lays out; a text without any kernel is no PTX. What is linked of a text is a header
 * of ELF and the text. Thread safety: none.
 */
#ifndef TJ_TESTS_STUB_CUDA_H
#define TJ_TESTS_STUB_CUDA_H

#include <stddef.h>

/* What there is of each kind at the moment. */
typedef struct {
  int contexts, current, streams, events, links, modules, buffers;
} stub_cuda_objects;

/* Forgets calls and failures; `devices` GPUs, of a capability such as 90. At first there is one of 90. */
void stub_cuda_reset(int devices, int capability);
/* The call of that number to a function from now on, 1 for the next one, gives this result. */
void stub_cuda_fail(const char *function, int number, int result);
/* The version of the driver; 13000 at first. */
void stub_cuda_set_version(int version);
stub_cuda_objects stub_cuda_count(void);
/* The calls since the last reset, names with a blank behind each, without queries and what concerns contexts. */
const char *stub_cuda_calls(void);
/* The device of the last launch or allocation, by its number. */
int stub_cuda_place(void);
/* What the last tensor map was made with: its address, and "type (extents):(strides) (box) (element strides)
 * interleave swizzle promotion fill". */
void *stub_cuda_map_address(void);
const char *stub_cuda_map(void);
/* The stream of the last launch. */
void *stub_cuda_stream(void);
/* Shared memory that the last launch was given, and the most that its kernel was made ready for. */
size_t stub_cuda_dynamic_bytes(void);
size_t stub_cuda_most_dynamic_bytes(void);

#endif

/* SPDX-License-Identifier: MIT */
/* Memory that can be had but for one allocation: malloc and its kin as the objects of this program call them, those
 * of the library among them, and jansson's; and every block of an arena. LLVM and the C library keep their own.
 *
 * The program is linked with --wrap for each of these functions (tests/CMakeLists.txt), and so is a library that it
 * opens. Any thread may allocate. */
#ifndef TJ_TESTS_FAILING_MEMORY_H
#define TJ_TESTS_FAILING_MEMORY_H

#include <stddef.h>

/* The allocation of that number, from 0 on, fails, and those after it succeed; negative: none fails. Counts begin
 * anew. */
void fail_allocation(long number);

/* The same where none fails; and the first allocation of each path is remembered: of the callers from the
 * allocation outwards, as far as makes places differ that share a helper. */
void trace_allocations(void);
/* The numbers of these, in order. They are borrowed until the next trace. */
size_t first_of_paths(const long **number);

/* Ends that: allocations succeed, and are not counted. `held` gets the blocks that were allocated meanwhile and have
 * not been given back. Returns how many allocations there were, the one that failed included. */
long stop_failing(long *held);

#endif

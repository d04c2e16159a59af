/* SPDX-License-Identifier: MIT */
/* Memory that can be had but for one allocation: malloc and its kin as the objects of this program call them, those
 * of the library among them, and jansson's. LLVM and the C library keep their own.
 *
 * The program is linked with --wrap for each of these functions (tests/CMakeLists.txt). Any
 * thread may allocate. */
#ifndef TJ_TESTS_FAILING_MEMORY_H
#define TJ_TESTS_FAILING_MEMORY_H

/* The allocation of that number, from 0 on, fails, and those after it succeed; negative: none fails. Counts begin
 * anew. */
void fail_allocation(long number);

/* Ends that: allocations succeed, and are not counted. `held` gets the blocks that were allocated meanwhile and have
 * not been given back. Returns how many allocations there were, the one that failed included. */
long stop_failing(long *held);

#endif

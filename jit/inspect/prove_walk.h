/* SPDX-License-Identifier: MIT */
/* Proving that functions in C walk through a view. */
#ifndef TJ_JIT_PROVE_WALK_H
#define TJ_JIT_PROVE_WALK_H

#include "jit/inspect/c_proof.h"

/* Whether NAME_init, NAME_next, NAME_offset and, where it is there, NAME_valid give what the view is at each place of
 * the program's walk. By induction, for any number of steps, where every field of the struct is found to be a hidden
 * index of the view at the place, or to stay as it begins; otherwise from place to place, where there are at most
 * 1024.
 */
tj_equivalence tj_prove_walk(tj_c_proof *p);

#endif

/* SPDX-License-Identifier: MIT */
/* Instruction selection of whole functions, LLVM's GlobalISel, in those functions that ask for it: it takes less time
 * than selection of blocks one by one. */
#ifndef TJ_LLVM_SELECTION_H
#define TJ_LLVM_SELECTION_H

#include <llvm/Pass.h>

namespace tilejit {

/* Goes before GlobalISel: functions without the attribute TJ_SELECTED_WHOLE are left to the other selection. */
llvm::Pass *create_choice_of_selection();

/* Goes behind either selection, and ends copies that cost an instruction each, or more. GlobalISel copies constants to
 * registers of lanes: where an instruction takes one from a register of the wave, and takes no other from there, it
 * does. And it copies carries to a register and back. The other selection copies constants of 64 bits, which LLVM's
 * peephole optimizer would make moves of constants that no move has room for. */
llvm::Pass *create_end_of_copies();

} // namespace tilejit

#endif

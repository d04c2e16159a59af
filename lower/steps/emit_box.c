/* SPDX-License-Identifier: MIT */
/* Boxes that an engine brings into LDS, or takes out of it: some work-items, as many as the target wants, give it
 * what it is to do. */
#include "lower/steps/steps.h"

static LLVMValueRef emit_word(tj_emitter *emitter, const tj_node *word) {
  LLVMValueRef value = tj_emit_operand(emitter, word, tj_width_of(&word, 1));
  return LLVMBuildIntCast2(emitter->builder, value, emitter->i32, false, "");
}

void tj_emit_box(tj_emitter *emitter, const tj_kernel_step *step) {
  const tj_target_family *family = emitter->target->family;
  LLVMValueRef *word = TJ_NEW_ARRAY(emitter->job, LLVMValueRef, step->word_count);
  for (uint32_t i = 0; i < step->word_count; i++)
    word[i] = emit_word(emitter, step->word[i]);
  LLVMBasicBlockRef issue = tj_emit_block(emitter, "issue"), after = tj_emit_block(emitter, "issued");
  LLVMBuildCondBr(emitter->builder, family->emit_issues(emitter, step->number), issue, after);
  LLVMPositionBuilderAtEnd(emitter->builder, issue);
  family->emit_box(emitter, step, word);
  LLVMBuildBr(emitter->builder, after);
  LLVMPositionBuilderAtEnd(emitter->builder, after);
}

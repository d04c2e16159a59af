/* SPDX-License-Identifier: MIT */
/* Questions whose parts are texts: evaluated as one program, answered with a text. */
#ifndef TJ_JIT_TEXTS_H
#define TJ_JIT_TEXTS_H

#include "base/text.h"
#include "ir/value/value.h"
#include "jit/compile/expressions.h"

/* A text of a question, and where its value goes. */
typedef struct {
  tj_named_text text; /* the text NULL: it is not given */
  const tj_value **value;
  tj_span *span;
} tj_asked_text;

/* The values of the texts that are given, in the graph; they see the declarations (may be NULL). Gives the program
 * that they are. */
const tj_program_values *tj_evaluate_texts(tj_graph *graph, const char *declarations,
                                           const tj_parameter_value fixed[], size_t fixed_count,
                                           const tj_asked_text asked[], uint32_t count);

/* Bytes of an element of the type: TJ4002 for an unknown one. */
uint32_t tj_asked_element_bytes(tj_job *job, const char *dtype);

#define TJ_ASKED_DTYPE "f32" /* of questions that name none */

/* Runs answer(job, data), which writes its text through `written`, and gives it to the caller as a blob. */
tj_status tj_answer(tj_context *context, void (*answer)(tj_job *job, void *data), void *data, const tj_text *written,
                    tj_blob *text);

#endif

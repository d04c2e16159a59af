/* SPDX-License-Identifier: MIT */
/* Reports: values, tables, expressions and statistics as the text and JSON that users see. */
#ifndef TJ_JIT_REPORT_H
#define TJ_JIT_REPORT_H

#include "base/json.h"
#include "jit/compile/program.h"

/* The value of the program's last expression; TJ2022 where there is none. */
const tj_value *tj_report_value(tj_program *program);

void tj_report_table(tj_program *program, tj_table_form form, tj_text *text);
/* Where `proved` is not NULL, with a proof: it says whether that holds. */
void tj_report_simplify(tj_program *program, tj_simplify_form form, bool *proved, tj_text *text);

/* Every parameter, definition and kernel. */
void tj_report_values(tj_program *program, tj_text *text);

/* Its declaration, with its facts; "param M = 3" where it is fixed. */
void tj_parameter_print(tj_text *text, const tj_parameter *parameter);

/* The index expressions of a kernel, one a line. */
void tj_report_kernel(tj_program *program, const tj_kernel *kernel, tj_text *text);

/* Each variant of a kernel for a target: when it is taken, its mapping, its steps. */
void tj_report_tiled(const tj_kernel *kernel, const tj_target *target, tj_text *text);

/* "address of dst % 64 = 0": what a variant needs of its buffers beyond the alignment of their elements, each after
 * " & " unless the text is empty. */
void tj_report_alignment(const tj_kernel *variant, tj_text *text);

/* One JSON object. `ir` NULL: of code that was compiled elsewhere. */
void tj_report_stats(tj_isa_stats stats, const tj_ir_stats *ir, tj_json *json);

#endif

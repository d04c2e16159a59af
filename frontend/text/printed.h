/* SPDX-License-Identifier: MIT */
/* What CuTe prints around a layout: labels before it, tables behind it. */
#ifndef TJ_FRONTEND_PRINTED_H
#define TJ_FRONTEND_PRINTED_H

#include "base/job.h"

#include <stddef.h>

/* The part of a text that is a program, where the rest is what CuTe prints around a value: "%% Layout:" with the
 * picture behind it (print_latex), the table of print_layout, the elements of print_tensor, or the label of a line
 * of an atom. Otherwise the whole text. */
tj_span tj_printed_part(const char *text, size_t length);

#endif

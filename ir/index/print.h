/* SPDX-License-Identifier: MIT */
/* Index expressions as text: printing and reading back.
 *
 * The text is the language's own: infix operators with C's precedence, min(a,b), max(a,b), select(c,a,b), symbols
 * by name; a - b for a + -1*b. */
#ifndef TJ_IR_PRINT_H
#define TJ_IR_PRINT_H

#include "base/text.h"
#include "ir/index/graph.h"

void tj_node_print(tj_text *text, const tj_node *node);
const char *tj_node_text(tj_job *job, const tj_node *node);
/* Cut off with … where it would be longer than `most` bytes, which are at most INT_MAX. */
void tj_node_print_brief(tj_text *text, const tj_node *node, size_t most);
/* The same for messages: cut off with … where it would be longer than a line. */
const char *tj_node_brief(tj_job *job, const tj_node *node);
/* Brief as a term of a sum: in parentheses where it binds less tightly. */
void tj_node_print_term(tj_text *text, const tj_node *node, size_t most);

/* The whole graph form of docs/ir.md, which shows sharing: declarations of symbols with their facts, one line for
 * each node that has several users, then the roots. */
void tj_graph_print(tj_text *text, tj_graph *graph, const tj_node *const roots[], size_t count);

/* Reads the graph form back into `graph`, appending to the arena an array of roots. Fails with TJ1003 and a span of
 * job->source. */
size_t tj_graph_read(tj_graph *graph, const tj_source *source, const tj_node ***roots);

#endif

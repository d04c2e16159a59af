/* The common domain of a copy: which coordinates of source and destination a linear coordinate stands for. */
#ifndef TJ_LOWER_DOMAIN_H
#define TJ_LOWER_DOMAIN_H

#include "lower/operand.h"

/* The coordinates of both operands for linear coordinate `index`, which runs over the destination so that its
 * elements come in the order in which they lie in memory, as far as that is known. TJ4003 where the domains are not
 * compatible. */
void tj_common_coordinates(tj_graph *graph, const tj_operand *source, const tj_operand *destination,
                           const tj_node *index, const tj_tuple **at_source, const tj_tuple **at_destination);

_Noreturn void tj_fail_domains(tj_graph *graph, const tj_operand *source, const tj_operand *destination);

#endif

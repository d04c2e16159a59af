/* SPDX-License-Identifier: MIT */
/* The common domain of a copy: the modes that source and destination have in common, and which element of each a
 * coordinate stands for. */
#ifndef TJ_LOWER_DOMAIN_H
#define TJ_LOWER_DOMAIN_H

#include "lower/kernel/operand.h"

/* A mode is a run of leaves, first fastest, which both operands step through evenly. The strides are what mappings
 * are chosen by, not what they are proved by: NULL where unknown, and of a swizzled or transformed operand only
 * roughly right. */
typedef struct {
  const tj_node *extent;
  const tj_node *source_stride, *destination_stride; /* elements that one step moves */
  uint32_t first_leaf, leaf_count;                   /* in tj_domain.leaf */
} tj_mode;

/* Of one side. */
static inline const tj_node *tj_mode_stride(const tj_mode *mode, bool of_source) {
  return of_source ? mode->source_stride : mode->destination_stride;
}

/* The operands of a copy. Further sources and destinations are layouts of plain modes, as many as the others have,
 * and as long. */
typedef struct {
  const tj_operand *source, *destination;
  const tj_operand *other; /* further sources, then further destinations */
  uint32_t other_count;
} tj_sides;

/* How an operand's coordinates are made of leaves. */
typedef struct {
  const tj_view *view;    /* whose dimensions they are: the operand's, or below its merges; NULL: a layout's */
  const uint32_t *parts;  /* of each top-level mode: what it is merged from, or a list of; 1: it itself */
  const uint32_t *leaves; /* of each part, those of the first mode first, of these the fastest */
} tj_domain_side;

typedef struct tj_domain {
  const tj_operand *source, *destination;
  const tj_operand *other; /* of which modes stand for leaves */
  uint32_t other_count;
  const tj_mode *mode;
  uint32_t count;
  const tj_node *size;

  const tj_tuple *profile;           /* whose leaves the modes are made of; a list of the operands' own modes, those
                                        that are merged as what all merges have in common; or the shape of the finer
                                        layout */
  const tj_domain_side *side;        /* source and destination, of the former; NULL: of the latter */
  const uint32_t *leaf;              /* places in the profile */
  const tj_node *const *leaf_extent; /* by place in the profile */
  uint32_t leaf_total;

  const struct tj_substitution *assumed; /* of symbols, in whose terms extents and strides are, and what is at digits;
                                            NULL: nothing */
  const struct tj_domain *linear_of; /* whose linear coordinate, first mode fastest, the only mode is; NULL: modes are
                                        those of the operands */
} tj_domain;

/* The modes of the finer of two layouts of compatible shapes, otherwise the top-level modes, which must agree,
 * TJ4003, and of these what their lists and merges have in common. Those of one coordinate are left out; the others
 * are sorted by the strides of the destination, smallest first, as far as these can be compared, and merged where
 * all operands allow. */
tj_domain tj_domain_of_modes(tj_graph *graph, const tj_sides *sides);

/* Whether every element of a side is surely valid, at the origin and the sum of digits times strides. So it is where
 * strides are an operand's own: a layout's, where modes are leaves of the finer layout, and runs of leaves that were
 * shown to step evenly; or those of a buffer's dimensions, which nothing transforms but what merges them, and none of
 * whose elements may be outside of the buffer. */
bool tj_domain_has_own_strides(tj_graph *graph, const tj_domain *domain, bool of_source);

/* The offset of an operand where the coordinates of `modes`, by bit, are 0, if at any coordinates it surely is that
 * and the sum of these times strides: of offset `any`, at symbols of which a mode each has one. NULL: it may not be.
 */
const tj_node *tj_domain_origin(tj_graph *graph, const tj_domain *domain, uint32_t operand, uint64_t modes,
                                const tj_node *const coordinate[], const tj_node *any);

/* Whether every element of an operand is valid, and along `modes` at the sum of digits times strides. */
bool tj_domain_is_even(tj_graph *graph, const tj_domain *domain, uint32_t operand, uint64_t modes);

/* The modes in the order in which a side steps through them, smallest stride first, as far as strides are known and
 * can be compared; of products that cannot be, the one of fewer factors counts as less. Strides of 1 come first,
 * those of 0 last. */
void tj_domain_sort(tj_graph *graph, const tj_domain *domain, bool of_source, uint32_t order[]);

/* Whether all extents are numbers. */
bool tj_domain_is_known(const tj_domain *domain);

/* Whether a side has neighbours along a mode. */
bool tj_domain_has_neighbours(const tj_domain *domain, uint32_t mode, bool of_source);

/* One mode of all elements of a domain in its own order, which lie side by side in both operands: of a copy between
 * equal maps, whatever they are made of. */
const tj_domain *tj_domain_of_equals(tj_graph *graph, const tj_domain *domain, const tj_node *size);

/* The modes of the finer layout, or the top-level modes, as they are written. */
tj_domain tj_domain_as_written(tj_graph *graph, const tj_operand *source, const tj_operand *destination);

/* The top-level modes as they are, all of them, first mode first: TJ4003 where they do not agree. */
tj_domain tj_domain_of_dimensions(tj_graph *graph, const tj_sides *sides);

/* The modes that a layout gives: a mode for each of its own, of basis elements of those that tj_domain_of_modes has,
 * or of lists of them. TJ4024 where it leaves one out, has one twice, or not as long as it is. */
tj_domain tj_domain_as_given(tj_graph *graph, const tj_sides *sides, const tj_layout *layout);

/* The same with a mode for each leaf: predicates may tell apart what offsets do not. */
tj_domain tj_domain_unmerged(tj_graph *graph, const tj_domain *domain);

/* What a layout gives to one mode, as several: merged where both operands allow, in the layout's order. */
tj_domain tj_domain_in_order(tj_graph *graph, const tj_sides *sides, const tj_layout *layout);

/* The layout that gives the domain; and the one that gives one mode of all of them, first fastest. NULL where that is
 * what operands have anyway. */
const tj_layout *tj_domain_layout(tj_graph *graph, const tj_domain *domain);
const tj_layout *tj_domain_linear_layout(tj_graph *graph, const tj_domain *domain);

/* The digits of a linear coordinate, the first mode fastest. */
const tj_node *const *tj_domain_digits(tj_graph *graph, const tj_domain *domain, const tj_node *index);

/* Lets facts know that a quotient is below `extent`, as what is left of a coordinate after the other digits is:
 * intervals do not see that where parameters divide. */
void tj_bound_digit(tj_graph *graph, const tj_node *digit, const tj_node *extent);
/* The same of the last leaf of each mode, at digits that are within the domain. */
void tj_domain_bound_digits(tj_graph *graph, const tj_domain *domain, const tj_node *const digit[]);

/* The element of an operand, in its buffer, at a digit of each mode. */
tj_access tj_domain_at(tj_graph *graph, const tj_domain *domain, uint32_t operand, uint32_t buffer,
                       const tj_node *const digit[]);
/* How far a step along a mode moves an operand; NULL: unknown. */
const tj_node *tj_domain_stride(const tj_domain *domain, uint32_t operand, uint32_t mode);
/* Whether a further source or destination has neighbours along the same mode as the source. */
bool tj_domain_other_is_straight(const tj_domain *domain, uint32_t number);
/* The least bytes of an element of what moves on the side of a buffer: of that, and of further destinations that go
 * with it. Runs of each have to fill lines. */
uint32_t tj_domain_least_bytes(const tj_domain *domain, const tj_kernel *kernel, uint32_t buffer, bool of_source);

/* The element of the source or the destination, or of an operand of its shape, at a coordinate of each leaf of the
 * profile. */
tj_access tj_domain_at_leaves(tj_graph *graph, const tj_domain *domain, const tj_operand *operand, bool is_source,
                              uint32_t buffer, const tj_node *const leaf[]);

_Noreturn void tj_fail_domains(tj_graph *graph, const tj_operand *source, const tj_operand *destination);

#endif

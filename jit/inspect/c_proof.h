/* SPDX-License-Identifier: MIT */
/* What proofs about functions in C have in common: finding functions by name, calling them, comparing what comes
 * back.
 */
#ifndef TJ_JIT_C_PROOF_H
#define TJ_JIT_C_PROOF_H

#include "frontend/c/c_file.h"
#include "ir/value/equivalence.h"

typedef struct {
  tj_graph *graph;
  const tj_program_values *values;
  const tj_c_file *file;
  const char *name;
  tj_c_place place; /* with the conditions of what is compared next */
  bool is_refuting; /* cases alone are tried, and no solver asked */
} tj_c_proof;

/* What a value is at coordinates, which may be fewer than leaves. */
typedef struct {
  const tj_node *const *coordinate;
  uint32_t rank;
  const tj_node *const *component;
  uint32_t count;
  const tj_node *valid; /* NULL: everywhere */
} tj_c_meaning;

/* The function NAME with an ending such as _valid; NULL where there is none. */
const tj_c_function *tj_c_proof_find(const tj_c_proof *p, const char *ending);
/* The same; TJ2034 where there is none. */
const tj_c_function *tj_c_proof_need(const tj_c_proof *p, const char *ending);
/* What all functions of the file are called but those that help, whose names begin with tilejit_. TJ2034 where they
 * are not called one name. */
const char *tj_c_proof_only_name(const tj_c_proof *p, bool is_walk, bool has_several);

/* How many parameters of the program are no constants. */
uint32_t tj_c_proof_parameters(const tj_c_proof *p);
/* How many of the arguments are coordinates: those before the ones that are named like parameters. */
uint32_t tj_c_proof_coordinates(const tj_c_proof *p, const tj_c_function *function);

/* What a function returns at a coordinate, and, where it takes one, of a struct, which it may change. */
const tj_node *tj_c_proof_call(tj_c_proof *p, const tj_c_function *function, const tj_c_meaning *at,
                               tj_c_integer state[]);
/* The same of what is called only where the value is valid, and may do what C does not define elsewhere. */
const tj_node *tj_c_proof_component(tj_c_proof *p, const tj_c_function *function, const tj_c_meaning *at,
                                    tj_c_integer state[]);

/* What functions return, `returned`, and `returned_valid`, which may be NULL, against what a value is, as far as it
 * is `there`. The conditions are those of the former, and are gone afterwards. */
tj_equivalence tj_c_proof_compare(tj_c_proof *p, const tj_c_meaning *is, const tj_node *there,
                                  const tj_node *const returned[], const tj_node *returned_valid);

#endif

/* SPDX-License-Identifier: MIT */
/* Checks: what is said of maps and kernels, and whether what must hold does.
 *
 * A check makes a list of findings (check_map.c of maps, check_threads.c of distributions, check_kernel.c of
 * kernels, check_candidates.c of what else their mappings could be, check_lds.c of layouts in LDS); report_findings.c
 * writes it as text or JSON. Findings live in the job. */
#ifndef TJ_JIT_CHECK_H
#define TJ_JIT_CHECK_H

#include "base/machine/bank.h"
#include "ir/value/map_image.h"
#include "jit/compile/pipeline.h"
#include "jit/isa/occupancy.h"

typedef enum { TJ_FINDING_FACT, TJ_FINDING_YES, TJ_FINDING_NO, TJ_FINDING_UNKNOWN } tj_finding_verdict;

enum {
  TJ_FINDING_NUMBERS = 16,
  TJ_CHECK_MOST_CANDIDATES = 64,
  TJ_CHECK_MOST_ACCESSES = 1 << 21 /* of lanes, beyond which some workgroups stand for the others */
};

/* One line: "injective: yes", "load src: 16 bytes a lane, …". */
typedef struct {
  const char *about;
  tj_finding_verdict verdict;
  const char *text;        /* "" where the verdict says all */
  const char *instruction; /* that it is of; NULL: of none */
  const char *mapping;     /* that it is about, to be written into a program; NULL: none */
  bool must_hold;
  struct {
    const char *name;
    int64_t value;
  } number[TJ_FINDING_NUMBERS];
  uint32_t number_count;
} tj_finding;

typedef struct {
  tj_job *job;
  tj_finding *item;
  uint32_t count, capacity;
} tj_findings;

/* Appends a finding, which is good until the next. */
tj_finding *tj_find(tj_findings *findings, const char *about, tj_finding_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void tj_finding_number(tj_finding *finding, const char *name, int64_t value);

/* Which of the phases that cycles of LDS are counted by have been measured. */
void tj_find_phases(tj_findings *findings, const tj_bank_model *model);

/* What a check is asked for. */
typedef struct {
  tj_graph *graph;
  const tj_target *target; /* NULL: none is named */
  const char *dtype;       /* of elements of maps */
  uint32_t element_bytes;
  bool is_threads; /* a layout is a (thread, value) layout */
} tj_check;

/* Runs of neighbouring elements, a power of two, along a leaf of a mode: from coordinates that are multiples of
 * `elements` on, elements are side by side, from a multiple on, and all of a run are valid, or none is. */
typedef struct {
  uint32_t mode, leaf, elements;
} tj_vector;

/* The widest that a layout, a swizzled layout or a view surely has, up to `most` elements, a power of two. */
tj_vector tj_widest_vector(tj_graph *graph, const tj_value *map, uint32_t most);

void tj_check_map(const tj_check *check, const tj_value *map, tj_findings *findings);
/* Whether no two coordinates have the same value. */
void tj_check_injective(const tj_check *check, const tj_value *map, tj_findings *findings);
/* How a wave reads the tile that a distribution, or a (thread, value) layout, hands out. */
void tj_check_threads(const tj_check *check, const tj_value *map, tj_findings *findings);
/* What holds of a kernel whichever of its variants a launch takes; `destination` is the map that it stores by, and
 * `launch` what the values of a launch decide of races, where they do: `race` says which there is, or is "". */
void tj_check_destination(const tj_check *check, const tj_kernel *kernel, const tj_value *destination,
                          tj_race_verdict launch, const char *race, tj_findings *findings);
/* A variant of a kernel, with these values of its parameters, by number; NULL: none are known. */
void tj_check_variant(const tj_check *check, const tj_kernel *variant, const int64_t parameter[],
                      tj_findings *findings);
/* What its machine code occupies, by figures of that. */
void tj_check_machine_code(const tj_check *check, const tj_kernel *variant, tj_isa_stats stats,
                           tj_findings *findings);

/* The `most` mappings of least price that a kernel could have, each compiled and priced as if its definition gave it.
 * `compilation` is of the kernel as it is, and of one of them afterwards. */
void tj_check_candidates(const tj_check *check, tj_compilation *compilation, const tj_kernel_definition *definition,
                         uint32_t most, tj_findings *findings);

#endif

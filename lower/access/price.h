/* SPDX-License-Identifier: MIT */
/* What a kernel costs on a machine, in numbers: the cache lines that its accesses touch, the cycles of LDS that they
 * take, how many instructions they are.
 *
 * Nothing is estimated. The offsets and predicates of the kernel's steps are evaluated for the work-items of its
 * waves, as a launch with these parameters would run them, and counted as the simulator counts (base/machine/bank.h,
 * base/machine/cache_line.h). What a kernel is priced by are its own accesses: arithmetic and registers are the
 * machine code's to tell. Where a kernel is large, some of its workgroups stand for the others. */
#ifndef TJ_LOWER_PRICE_H
#define TJ_LOWER_PRICE_H

#include "base/machine/bank.h"
#include "base/number/cost.h"
#include "ir/index/eval.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"

typedef struct {
  uint32_t wave_size;
  uint32_t uniform_lanes; /* tj_uniform_lanes */
  uint32_t line_bytes;
  uint32_t sector_bytes; /* of the parts of lines that memory moves; 0: lines are moved whole */
  const tj_line_costs *costs;
  uint32_t shared_lds;       /* bytes that the workgroups of a compute unit share; 0: there is no LDS */
  const tj_bank_model *bank; /* NULL: cycles of LDS are not counted */
  bool has_float_sums;       /* as of tj_target */
} tj_price_machine;

tj_price_machine tj_price_machine_of(const tj_target *target);

/* Buffers begin where a cache line does. */
typedef struct {
  int64_t instructions;           /* of waves of which a lane makes the access at least */
  int64_t lines, least_lines;     /* of memory: touched by each instruction, and that its bytes need, each once */
  int64_t cycles, least_cycles;   /* of LDS: taken, and taken without conflicts */
  int64_t sectors, least_sectors; /* of memory: the same as of lines, where these have sectors, */
  int64_t runs;                   /* and the runs of neighbours that an instruction's sectors are */
} tj_cost;

static inline void tj_cost_add(tj_cost *sum, const tj_cost *cost) {
  sum->instructions += cost->instructions;
  sum->lines += cost->lines;
  sum->least_lines += cost->least_lines;
  sum->sectors += cost->sectors;
  sum->least_sectors += cost->least_sectors;
  sum->runs += cost->runs;
  sum->cycles += cost->cycles;
  sum->least_cycles += cost->least_cycles;
}

/* Accesses of one buffer by vectors of one size. */
typedef struct {
  bool is_store;
  bool is_direct;   /* from memory straight into LDS: both places, of which that in memory has the instructions */
  bool is_box;      /* by an engine: of the words of its instructions, which are no accesses of lanes */
  bool is_scalar;   /* made once for a wave, by instructions of which no lines are counted */
  uint32_t buffer;  /* or TJ_LDS */
  uint32_t bytes;   /* of a lane */
  int64_t accesses; /* of a work-item, on all trips of its loop */
  tj_cost cost;
} tj_access_price;

/* In the job's arena. */
typedef struct {
  tj_eval_status status; /* not TJ_EVAL_OK: an expression has no value, and there is no price */
  tj_access_price *access;
  uint32_t access_count;
  uint32_t workgroup_size, lds_bytes;        /* of a workgroup */
  int64_t workgroups, trips;                 /* that a launch has */
  int64_t counted_workgroups, counted_trips; /* that the costs are of; a work-item takes the first trips */
} tj_price;

/* The price for these values of the kernel's parameters, by number; NULL: none has one, and where accesses depend on
 * some, there is no price. A launch that makes more than about `most`
 * accesses, those of each lane counted, is sampled: workgroups evenly, and of the trips of a loop the first ones. */
tj_price tj_price_kernel(tj_graph *graph, const tj_kernel *kernel, const tj_price_machine *machine,
                         const int64_t parameter[], int64_t most);

/* The same without values of parameters: the kernel's accesses, without costs. */
tj_price tj_price_of_widths(tj_graph *graph, const tj_kernel *kernel, const tj_price_machine *machine);

/* Whether every work-item was counted. */
bool tj_price_is_whole(const tj_price *price);

/* The sum over vector accesses of memory, or of LDS. */
tj_cost tj_price_of_memory(const tj_price *price);
tj_cost tj_price_of_lds(const tj_price *price);

/* What conflicts in LDS cost, in parts of the cache lines that have to be touched. */
double tj_cost_of_conflicts(const tj_line_costs *costs, double cycles, double least);

/* The fewest cycles that cost so much. */
double tj_cycles_that_cost(const tj_line_costs *costs, double cost, double least);

/* What a side's accesses touch. */
typedef struct {
  double lines, sectors, least_sectors, runs;
} tj_touched;

/* What that costs in cache lines, of which each has so many sectors, and whole vectors of a wave fill so many. */
double tj_cost_of_touching(const tj_line_costs *costs, const tj_touched *touched, bool is_store, double line_sectors,
                           double wave_lines);

/* All of the price of a launch in one number, in cache lines: that by which mappings of a kernel are compared. */
double tj_price_in_lines(const tj_price *price, const tj_price_machine *machine);

#endif

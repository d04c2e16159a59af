/* SPDX-License-Identifier: MIT */
/* Kernels as LLVM IR: what their steps do, with the function, loops and branches around them, in the vocabulary of
 * lower/emit/emit.h.
 *
 * A family's emit_kernel (lower/machine/target.h) begins a function (tj_emit_function), emits what the launch brings
 * (tj_emit_launch_nodes, tj_emit_arithmetic_numbers), what a workgroup has, and for each work-item
 * (tj_emit_begin_item) its steps, phase by phase between barriers. Of GPUs, tj_emit_grid does all of that but the
 * first.
 *
 * Slots are names: what a step gives them stays where it is, as raw bits, in the vector that was loaded or computed,
 * until other steps take it. An access that may not be valid stands behind a branch, unless it is bounded by a
 * resource; the expressions that it needs, and what its place has in common with others, are emitted before that.
 *
 * What has been made so far is in tj_steps, in the job's arena. */
#ifndef TJ_LOWER_STEPS_H
#define TJ_LOWER_STEPS_H

#include "ir/array/array.h"
#include "lower/emit/emit.h"

/* What a slot holds: an element, or one of a vector's. */
typedef struct {
  LLVMValueRef value; /* of the carried type, or a vector of it */
  uint32_t width;     /* elements of the vector; 1: none */
  uint32_t lane;      /* which one the slot is */
} tj_slot_value;

struct tj_origin;        /* emit_address.c */
struct tj_scaled;        /* the same */
struct tj_bounded;       /* emit_bounded.c */
struct tj_known_divisor; /* emit_compute.c */
struct tj_trips;         /* emit_loop.c */
struct tj_loaded;        /* emit_step.c */

/* Where a wave's first lane is in LDS, where a lane is at an origin. */
typedef struct {
  LLVMValueRef origin, first; /* NULL: none has been emitted */
  uint32_t bytes;             /* of a lane */
  LLVMBasicBlockRef block;    /* where that is */
} tj_wave_place;

/* What the steps of the function that is being emitted have. */
typedef struct tj_steps {
  LLVMValueRef *buffer;      /* among its arguments: pointers to the buffers, */
  LLVMValueRef *extra;       /* i64s that the family asked for, */
  LLVMValueRef map;          /* pointer to the kernel's tensor map; NULL: it has none */
  LLVMValueRef lds;          /* pointer to the workgroup's own elements; NULL: there are none, or they begin at 0 */
  LLVMValueRef *number;      /* by array of a copy's program: numbers that are the same for all elements; NULL: others
                                are constants, or in slots */
  tj_slot_value *slot;       /* by number */
  struct tj_origin **origin; /* by position of the offset; the last: of constants */
  struct tj_scaled *scaled;  /* offsets, by position */
  struct tj_bounded *bounded; /* resources, and offsets into them; NULL: none so far */
  const tj_node *shared_mask; /* holds for all work-items that are here; NULL: nothing is known to */
  tj_wave_place wave_place;
  struct tj_loaded *loaded;               /* since the phase began; the last first */
  const struct tj_known_divisor *divisor; /* the last one that was made; NULL: there is none */
  struct tj_trips *trips;                 /* of the LOOP step that is open; NULL: none is */
  bool keeps_loops;                       /* LLVM is not to vectorise loops */
} tj_steps;

/* --- functions (emit_function.c) --- */

/* How the argument block's words come to a function: as an argument each; or buffers as an argument each, and
 * integers loaded from where the last argument points: for a kernel of AMD's GPUs, LLVM takes as long for an integer
 * among its arguments as for ten instructions. */
typedef enum { TJ_WORDS_PASSED, TJ_WORDS_LOADED } tj_emit_words;

/* Adds a function of the kernel's arguments (buffers, parameters, derived words), and of `extra` i64 arguments after
 * them, with what is known of each; begins its entry block, and the emitter's steps. */
LLVMValueRef tj_emit_function(tj_emitter *emitter, const char *name, unsigned extra, tj_emit_words words);

/* --- loops of work-items (emit_loop.c) --- */

/* From here on, `symbol`, which tells work-items apart, has this value: what depends on it, and places, have to be
 * emitted anew. */
void tj_emit_begin_item(tj_emitter *emitter, const tj_node *symbol, LLVMValueRef value);
/* All steps of a flat kernel's work-item, with the loop around them. */
void tj_emit_item(tj_emitter *emitter);
/* The loop of a LOOP step, up to its AGAIN. */
void tj_emit_begin_trips(tj_emitter *emitter, const tj_kernel_step *loop);
void tj_emit_end_trips(tj_emitter *emitter);
/* The branch at the end of a loop: back to its body where it goes on. */
void tj_emit_loop_end(tj_emitter *emitter, LLVMValueRef goes_on, LLVMBasicBlockRef body, LLVMBasicBlockRef done);

/* --- steps (emit_step.c) --- */

/* Steps of a work-item, without barriers; and, after them, all that follow. */
typedef struct {
  const tj_kernel_step *step;
  uint32_t count, following;
} tj_phase;

/* The phase that begins with steps[begin]: up to the next barrier, or the end. */
tj_phase tj_emit_phase(const tj_kernel_step steps[], uint32_t begin, uint32_t count);
/* Emits its steps. The builder ends where they have ended. */
void tj_emit_steps(tj_emitter *emitter, tj_phase phase);

/* --- tiles (emit_step.c) --- */

/* The branch between a tile that is all inside the domain and one at its edge. */
typedef struct {
  LLVMBasicBlockRef edge, end; /* NULL: the kernel does not tell them apart */
} tj_tile_branch;

/* What is emitted next is for inner tiles, if the kernel tells them apart, */
tj_tile_branch tj_emit_begin_inner(tj_emitter *emitter);
/* from here on for the others, */
void tj_emit_begin_edge(tj_emitter *emitter, const tj_tile_branch *branch);
/* and from here on for both. */
void tj_emit_end_tile(tj_emitter *emitter, const tj_tile_branch *branch);

/* --- addresses (emit_address.c) --- */

/* The type of the elements of a buffer, or of LDS. */
tj_dtype tj_emit_access_dtype(const tj_emitter *emitter, const tj_access *access);
/* The address of an access but for its displacement: emitted where it is first asked for, which comes before all
 * other places that do, until origins are forgotten. */
LLVMValueRef tj_emit_origin(tj_emitter *emitter, const tj_access *access);
void tj_emit_forget_origins(tj_emitter *emitter);
/* At the beginning of what the mask of some steps decides about: keeps the branch around loads that waves of which no
 * lane is left would make otherwise. */
void tj_emit_keep_branch(tj_emitter *emitter, const tj_kernel_step step[], uint32_t count);
/* The base of an access to a buffer, which the whole workgroup shares, moved by bytes: of a sum of elements, LLVM
 * scales each term. */
LLVMValueRef tj_emit_base(tj_emitter *emitter, const tj_access *access);
/* The offset of an access in bytes, an i32, which it has to fit in. */
LLVMValueRef tj_emit_byte_offset(tj_emitter *emitter, const tj_access *access);
/* The address of an access, whose origin has been emitted, or is emitted here under the same condition. */
LLVMValueRef tj_emit_address(tj_emitter *emitter, const tj_access *access);

/* --- accesses within the bounds of a resource (emit_bounded.c) --- */

/* Where a resource has the bytes of an access: from an offset and a scalar on, i32s that are not negative together.
 */
typedef struct tj_bounded_place {
  LLVMValueRef resource, offset, scalar;
} tj_bounded_place;

/* What all masks of a tile, which are resources', demand of a work-item by what the launch brings: a branch around
 * them all serves waves of which none takes part. NULL: nothing, or some masks are none of a resource's. */
const tj_node *tj_emit_shared_mask(const tj_emitter *emitter, const tj_kernel_step step[], uint32_t count);

/* What an access that is bounded loads, of a type of so many bytes; zeros where it is not valid. */
LLVMValueRef tj_emit_bounded_load(tj_emitter *emitter, const tj_access *access, LLVMTypeRef type, uint32_t bytes);
void tj_emit_bounded_store(tj_emitter *emitter, const tj_access *access, LLVMValueRef value, uint32_t bytes,
                           bool is_streamed);

/* --- slots (emit_slots.c) --- */

/* Elements are raw bits wherever they are held or moved: floats would be changed by machines that do not have them.
 */
LLVMTypeRef tj_emit_raw_type(tj_emitter *emitter, tj_dtype dtype);
/* The type of so many of them; of one, its own. */
LLVMTypeRef tj_emit_vector_type(tj_emitter *emitter, tj_dtype dtype, uint32_t width);

/* The slots of a step as raw bits, a vector where they are several; and these as the step's slots. */
LLVMValueRef tj_emit_step_slots(tj_emitter *emitter, const tj_kernel_step *step);
void tj_emit_give_slots(tj_emitter *emitter, const tj_kernel_step *step, LLVMValueRef vector);
/* The same of those from `slot` on. */
LLVMValueRef tj_emit_slots(tj_emitter *emitter, uint32_t slot, uint32_t width);
void tj_emit_set_slots(tj_emitter *emitter, uint32_t slot, uint32_t width, LLVMValueRef vector);

/* --- computations (emit_compute.c) --- */

/* Emits the numbers of a copy's arithmetic, behind what the launch's nodes are; and what a statement says, from the
 * elements of its sources as numbers, one of each or vectors, to others. */
void tj_emit_arithmetic_numbers(tj_emitter *emitter);
LLVMValueRef tj_emit_arithmetic(tj_emitter *emitter, const tj_array *value, const LLVMValueRef numbers[],
                                tj_dtype to);
/* What a COMPUTE step gives its slots, as raw bits: an element, or a vector. */
LLVMValueRef tj_emit_computed(tj_emitter *emitter, const tj_kernel_step *step);

/* --- lanes (emit_exchange.c) --- */

/* The number of the lane that each lane of a wave reads by a map. */
LLVMValueRef tj_emit_lane_read(tj_emitter *emitter, const tj_lane_map *map);
/* Slots of lanes become those of others, as the step's exchange says. */
void tj_emit_exchange(tj_emitter *emitter, const tj_kernel_step *step);

/* --- straight into LDS (emit_direct.c, emit_box.c) --- */

void tj_emit_direct(tj_emitter *emitter, const tj_kernel_step *step);
/* Has LLVM know which buffer of LDS an instruction of such a step reaches, where there are several into which loads
 * may be on their way: it waits for those of all others otherwise. */
void tj_emit_lds_scope(tj_emitter *emitter, const tj_kernel_step *step, LLVMValueRef instruction);
/* How many instructions that a wave surely gives may still be under way at a barrier behind which what it waits for
 * is in LDS: of those that go straight there; with `stores`, of those that store to memory, too. */
uint32_t tj_emit_left_at_barrier(const tj_emitter *emitter, tj_phase before, bool stores);
void tj_emit_box(tj_emitter *emitter, const tj_kernel_step *step);

/* --- runs (emit_run.c) --- */

/* Elements side by side: pointers to the first, and how many there are, at least one. */
typedef struct {
  LLVMValueRef to, from, count;
  LLVMValueRef ahead;            /* as many to fetch, for a run to come; NULL: none */
  uint32_t to_bytes, from_bytes; /* of an element */
} tj_run;

/* Brings the line at an address close, to be read or written. */
void tj_emit_prefetch(tj_emitter *emitter, LLVMValueRef address, bool to_write);
/* Copy elements of one type; past the caches. The builder ends in a new block. */
void tj_emit_run(tj_emitter *emitter, const tj_run *run);
void tj_emit_stream(tj_emitter *emitter, const tj_run *run);

/* Elements of a run that move together. */
typedef struct {
  LLVMValueRef to, from; /* pointers to the first */
  uint32_t width;
  bool is_streamed; /* past the caches, aligned */
} tj_run_part;

/* Emits loops over the elements: `emit` for vectors of them, `width` at a time, and for those that are left one by
 * one. Where vectors are streamed, they begin where the destination is aligned for them. */
void tj_emit_parts_of_run(tj_emitter *emitter, const tj_run *run, uint32_t width, bool is_streamed,
                          void (*emit)(tj_emitter *emitter, const tj_run_part *part, void *data), void *data);

/* --- kernels of GPUs (emit_grid.c) --- */

/* How a family's workgroups and work-items are numbered. */
typedef struct {
  LLVMValueRef (*emit_workgroup)(tj_emitter *emitter, uint64_t limit); /* an i32, below `limit`; 0: any */
  LLVMValueRef (*emit_item)(tj_emitter *emitter);                      /* an i32, below the workgroup's size */
  void (*emit_barrier)(tj_emitter *emitter, tj_phase before);          /* all steps before the one that comes then */
} tj_grid;

/* Emits all that is inside a kernel's function, its end included. */
void tj_emit_grid(tj_emitter *emitter, const tj_grid *grid);

#endif

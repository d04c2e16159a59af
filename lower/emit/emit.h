/* SPDX-License-Identifier: MIT */
/* Emitting LLVM IR: one struct for all of LLVM's handles, and the vocabulary in which kernels are written, so that
 * LLVM's own builder calls do not spread.
 *
 * A kernel's expressions are emitted level by level: first the nodes that depend on parameters alone, in the
 * function's entry, then those of a workgroup, then the others, each where the first step of a work-item needs it. So
 * every value dominates its uses, and facts hold wherever an expression is computed: parameters are checked at
 * launch, and work-items beyond the count never get there. Facts become LLVM facts: nuw, nsw, exact, disjoint,
 * ranges.
 *
 * What is allocated lives in the job's arena or in the module; an emitter owns nothing. */
#ifndef TJ_LOWER_EMIT_H
#define TJ_LOWER_EMIT_H

#include "base/text.h"
#include "ir/index/facts.h"
#include "lower/emit/module.h"
#include "lower/kernel/kernel_nodes.h"
#include "lower/machine/width.h"

/* Of what a workgroup has to itself. */
enum { TJ_LOCAL_ADDRESS_SPACE = 3, TJ_CONSTANT_ADDRESS_SPACE = 4 };

/* What a slot holds: an element, or one of a vector's. */
typedef struct {
  LLVMValueRef value; /* of the carried type, or a vector of it */
  uint32_t width;     /* elements of the vector; 1: none */
  uint32_t lane;      /* which one the slot is */
} tj_slot_value;

/* An offset in bytes, as an i32; NULL: not emitted. */
typedef struct {
  LLVMValueRef value;
  uint32_t bytes;          /* of an element */
  LLVMValueRef extended;   /* the value as an i64; NULL: not emitted */
  LLVMBasicBlockRef block; /* where that is */
  LLVMValueRef opaque;     /* the value, for what differs from it by constants; NULL: not emitted */
} tj_scaled_offset;

struct tj_origin;    /* emit_address.c */
struct tj_bounded;   /* emit_bounded.c */
struct tj_trips;     /* emit_loop.c */
struct tj_loaded;    /* emit_step.c */
struct tj_intrinsic; /* emit.c */

/* Where a wave's first lane is in LDS, where a lane is at an origin. */
typedef struct {
  LLVMValueRef origin, first; /* NULL: none has been emitted */
  uint32_t bytes;             /* of a lane */
  LLVMBasicBlockRef block;    /* where that is */
} tj_wave_place;

/* A number that many are divided by, and what that takes (emit_quotient.c). */
typedef struct tj_divisor {
  const struct tj_divisor *next; /* that was made before */
  LLVMValueRef of;               /* the vector whose lane the number was made of */
  uint32_t lane;
  tj_dtype dtype;
  LLVMValueRef number, reciprocal, below, rest, is_usual;
} tj_divisor;

/* A node's value: an i1 for truths, an i32, or an i64. */
typedef struct tj_emitter {
  tj_job *job;
  tj_graph *graph;
  const tj_target *target;
  const tj_kernel *kernel;
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  LLVMTypeRef i1, i8, i16, i32, i64, f16, bf16, f32, f64, b128, pointer, nothing; /* pointer: to a buffer */

  LLVMValueRef function;   /* the one being emitted */
  LLVMValueRef *buffer;    /* its parameters: pointers to the buffers, */
  LLVMValueRef *parameter; /* integers for the parameters, */
  LLVMValueRef *derived;   /* integers for the derived words, */
  LLVMValueRef *extra;     /* i64s that the family asked for */
  LLVMValueRef map;        /* pointer to the kernel's tensor map; NULL: it has none */
  tj_kernel_nodes nodes;
  LLVMValueRef *value;        /* by position in the walk; NULL: not emitted, or a constant */
  tj_level level;             /* of what is being emitted */
  struct tj_origin **origin;  /* by position of the offset; the last: of constants */
  tj_scaled_offset *scaled;   /* by position */
  struct tj_bounded *bounded; /* resources, and offsets into them; NULL: none so far */
  const tj_node *shared_mask; /* holds for all work-items that are here; NULL: nothing is known to */
  tj_slot_value *slot;        /* by number */
  struct tj_loaded *loaded;   /* since the phase began; the last first */
  struct tj_trips *trips;     /* emit_loop.c: of the LOOP step that is open; NULL: none is */
  LLVMValueRef *number;      /* by array of a copy's program: numbers that are the same for all elements; NULL: others
                                are constants, or in slots */
  const tj_divisor *divisor; /* the last one that was made; NULL: there is none */
  bool has_short_nans;       /* the lower halves of NaNs in f32 are 0 */
  LLVMValueRef infinity;     /* an f32 that the optimizer knows nothing of; NULL: none yet */
  tj_wave_place wave_place;
  LLVMValueRef lds;       /* pointer to the workgroup's own elements; NULL: there are none, or they begin at 0 */
  tj_width index_width;   /* of the linear coordinate, beyond the count included, and of the count */
  bool is_selected_whole; /* by GlobalISel (llvm/passes.h) */
  bool keeps_loops;       /* LLVM is not to vectorise them */
  struct tj_intrinsic *intrinsic; /* emit.c: those that are declared */
} tj_emitter;

/* An emitter for a module that has a context and a builder. TJ4006 where an expression may not fit in 64 bits, TJ7003
 * where there are too many operations. (emit_kernel.c) */
void tj_emitter_init(tj_emitter *emitter, tj_graph *graph, tj_module *module, const tj_kernel *kernel,
                     const tj_target *target);

/* --- functions (emit_function.c) --- */

/* How the argument block's words come to a function: as an argument each; or buffers as an argument each, and
 * integers loaded from where the last argument points: for a kernel of AMD's GPUs, LLVM takes as long for an integer
 * among its arguments as for ten instructions. */
typedef enum { TJ_WORDS_PASSED, TJ_WORDS_LOADED } tj_emit_words;

/* Adds a function of the kernel's arguments (buffers, parameters, derived words), and of `extra` i64 arguments after
 * them, with what is known of each; begins its entry block. */
LLVMValueRef tj_emit_function(tj_emitter *emitter, const char *name, unsigned extra, tj_emit_words words);
LLVMBasicBlockRef tj_emit_block(tj_emitter *emitter, const char *name);

/* --- functions by themselves (emit_bitcode.c) --- */

/* Adds a function of LLVM for each of the function's results. */
void tj_emit_index_functions(tj_graph *graph, tj_module *module, const tj_function *function,
                             const tj_target *target);

/* --- attributes (emit.c) --- */

/* An attribute of the function's argument index - 1. */
void tj_emit_flag_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index, const char *name,
                            uint64_t value);
/* It is in low … end-1, modulo 2^bits. */
void tj_emit_range_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index, unsigned bits,
                             uint64_t low, uint64_t end);
void tj_emit_function_flag(tj_emitter *emitter, LLVMValueRef function, const char *name);
void tj_emit_text_attribute(tj_emitter *emitter, LLVMValueRef function, const char *name, const char *value);
/* One of an argument, as above. */
void tj_emit_argument_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index,
                                const char *name);
/* It is among what the facts say: low … high, as an integer of so many bits. */
void tj_emit_facts_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index, unsigned bits,
                             const tj_facts *facts);
/* The function's argument index - 1 points to memory that the caller has, of a type, which nobody writes. */
void tj_emit_memory_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index,
                              LLVMTypeRef memory);
/* The function's argument index - 1 is a value of a type, which lies in memory and which nobody writes. */
void tj_emit_value_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index, LLVMTypeRef value);
/* A node of such parts that says something of an instruction. */
void tj_emit_metadata(tj_emitter *emitter, LLVMValueRef instruction, const char *name, LLVMMetadataRef parts[],
                      unsigned count);
/* What is loaded is among what the facts say; NULL: anything. */
void tj_emit_known_load(tj_emitter *emitter, LLVMValueRef load, const tj_facts *facts);
/* Has a store bypass the caches, which wait for whole lines. */
void tj_emit_streamed(tj_emitter *emitter, LLVMValueRef store);
/* The value of a call is in low … end-1. */
void tj_emit_call_range(tj_emitter *emitter, LLVMValueRef call, unsigned bits, uint64_t low, uint64_t end);
void tj_emit_module_flag(tj_emitter *emitter, const char *name, uint32_t value);
LLVMValueRef tj_emit_intrinsic(tj_emitter *emitter, const char *name, LLVMTypeRef overloads[],
                               unsigned overload_count, LLVMValueRef arguments[], unsigned argument_count);
/* One that is overloaded by the type of its first argument. */
LLVMValueRef tj_emit_typed_intrinsic(tj_emitter *emitter, const char *name, LLVMValueRef arguments[],
                                     unsigned argument_count);

/* --- integers (emit.c) --- */

LLVMTypeRef tj_emit_int_type(const tj_emitter *emitter, unsigned bits);
LLVMValueRef tj_emit_int(tj_emitter *emitter, unsigned bits, int64_t value);
/* Sets nuw and nsw on an addition, a multiplication or a shift of integers of that width. */
void tj_emit_no_wrap(LLVMValueRef instruction, tj_width width);
/* An integer of whose bits LLVM's optimizer knows nothing; for instruction selection it is the value itself. */
LLVMValueRef tj_emit_opaque(tj_emitter *emitter, LLVMValueRef value);

/* The branch at the end of a loop: back to its body where it goes on. */
void tj_emit_loop_end(tj_emitter *emitter, LLVMValueRef goes_on, LLVMBasicBlockRef body, LLVMBasicBlockRef done);
/* A value that is not negative as a type at least as wide. */
LLVMValueRef tj_emit_extended(tj_emitter *emitter, LLVMValueRef value, LLVMTypeRef type);
LLVMValueRef tj_emit_binary_intrinsic(tj_emitter *emitter, const char *name, LLVMValueRef a, LLVMValueRef b);

/* --- nodes (emit_node.c) --- */

/* Emits what depends on parameters alone. */
void tj_emit_launch_nodes(tj_emitter *emitter);
/* Emits what depends on them and the workgroup, whose number's type is that of its symbol's facts. */
void tj_emit_workgroup_nodes(tj_emitter *emitter, LLVMValueRef workgroup);
/* From here on, `symbol`, which tells work-items apart, has this value, and what depends on it has none yet. */
void tj_emit_begin_item(tj_emitter *emitter, const tj_node *symbol, LLVMValueRef value);
/* Emits all that a trip of the work-item's loop shares with the others, but for what is looked up later. */
void tj_emit_item_nodes(tj_emitter *emitter);
/* From here on, a symbol that changes from trip to trip has this value. */
void tj_emit_carried(tj_emitter *emitter, const tj_node *symbol, LLVMValueRef value);
/* From here on, `symbol`, which a step of the work-item looks up, has this value. */
void tj_emit_looked_up(tj_emitter *emitter, const tj_node *symbol, LLVMValueRef value);
/* Emits what is marked, by position, and has no value yet. */
void tj_emit_marked_nodes(tj_emitter *emitter, const bool *mark);
/* The value of a node as an integer of `width`, which its facts must fit. */
LLVMValueRef tj_emit_operand(tj_emitter *emitter, const tj_node *node, tj_width width);
/* The value of a truth as an i1. */
LLVMValueRef tj_emit_truth(tj_emitter *emitter, const tj_node *node);

/* --- ranges (emit_range.c) --- */

/* Whether a conjunction of two truths is one comparison: that a value is above something that is the same for a
 * workgroup, and below something. */
bool tj_emits_range(const tj_emitter *emitter, const tj_node *node);
/* That comparison, as an i1; NULL: it is none. */
LLVMValueRef tj_emit_range(tj_emitter *emitter, const tj_node *node);

/* --- sums (emit_sum.c) --- */

LLVMValueRef tj_emit_sum(tj_emitter *emitter, const tj_node *node);

/* --- divisions (emit_divide.c) --- */

LLVMValueRef tj_emit_quotient(tj_emitter *emitter, const tj_node *node);
LLVMValueRef tj_emit_remainder(tj_emitter *emitter, const tj_node *node);
/* a * b, as cheap as facts and target allow. */
LLVMValueRef tj_emit_product(tj_emitter *emitter, const tj_node *node);
/* Whether the same times 2^log is one cheap instruction, because one factor is a workgroup's, and the other is not;
 * that, or NULL. */
bool tj_emits_shifted_product(const tj_emitter *emitter, const tj_node *node, unsigned log);
LLVMValueRef tj_emit_shifted_product(tj_emitter *emitter, const tj_node *node, unsigned log);

/* --- conversions (convert.c, small_float.c, float8.c) --- */

LLVMTypeRef tj_emit_dtype(tj_emitter *emitter, tj_dtype dtype);
/* The type of such elements as numbers: small floats are f32 (tj_dtype_is_small_float). */
LLVMTypeRef tj_emit_number_type(tj_emitter *emitter, tj_dtype dtype);
/* Elements, one or a vector of them, from raw bits to numbers, and back: small floats are rounded to the nearest,
 * ties to even, and saturate. */
LLVMValueRef tj_emit_numbers(tj_emitter *emitter, LLVMValueRef bits, tj_dtype dtype);
LLVMValueRef tj_emit_number_bits(tj_emitter *emitter, LLVMValueRef numbers, tj_dtype dtype);
/* Whether the target has conversions of its own from a small float, or to one (float8.c), and these. */
bool tj_emit_reads_float8(const tj_emitter *emitter, tj_dtype dtype);
bool tj_emit_writes_float8(const tj_emitter *emitter, tj_dtype dtype);
LLVMValueRef tj_emit_read_float8(tj_emitter *emitter, LLVMValueRef codes, tj_dtype dtype);
LLVMValueRef tj_emit_write_float8(tj_emitter *emitter, LLVMValueRef values, tj_dtype dtype);
/* Conversion of a number: integers to integers keep the low bits; floats to integers round to zero and saturate, NaN
 * to 0; anything to floats rounds to nearest, ties to even, small floats when they become bits. */
LLVMValueRef tj_emit_converted(tj_emitter *emitter, LLVMValueRef number, tj_dtype from, tj_dtype to);
/* The lanes of a vector; 1 of an element. */
uint32_t tj_emit_width(LLVMValueRef value);
/* The type of elements, or a vector of as many as `value` has; a constant as often. */
LLVMTypeRef tj_emit_like(LLVMValueRef value, LLVMTypeRef element);
LLVMValueRef tj_emit_splat(LLVMValueRef like, LLVMValueRef constant);
/* A vector of so many lanes that all have the number; of one lane, the number. */
LLVMValueRef tj_emit_repeated(tj_emitter *emitter, LLVMValueRef number, uint32_t width);
/* A number of which the optimizer knows nothing, from an integer of its bits. */
LLVMValueRef tj_emit_hidden(tj_emitter *emitter, LLVMValueRef bits, tj_dtype dtype);
/* The bits of the integer `value` as an element, rounded, or cut off, where it does not fit. */
LLVMValueRef tj_emit_element(tj_emitter *emitter, int64_t value, tj_dtype dtype);

/* --- addresses (emit_address.c) --- */

/* The type of the elements of a buffer, or of LDS. */
tj_dtype tj_emit_access_dtype(const tj_emitter *emitter, const tj_access *access);
/* The address of an access but for its displacement: emitted where it is first asked for, which comes before all
 * other places that do, until origins are forgotten. */
LLVMValueRef tj_emit_origin(tj_emitter *emitter, const tj_access *access);
void tj_emit_forget_origins(tj_emitter *emitter);
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

/* --- vectors and slots (emit_slots.c) --- */

/* Elements are raw bits wherever they are held or moved: floats would be changed by machines that do not have them.
 */
LLVMTypeRef tj_emit_raw_type(tj_emitter *emitter, tj_dtype dtype);
/* The type of so many of them; of one, its own. */
LLVMTypeRef tj_emit_vector_type(tj_emitter *emitter, tj_dtype dtype, uint32_t width);
/* An element of a vector of `width`; and the vector with another in its place. */
LLVMValueRef tj_emit_element_at(tj_emitter *emitter, LLVMValueRef vector, uint32_t width, uint32_t lane);
LLVMValueRef tj_emit_with_element(tj_emitter *emitter, LLVMValueRef vector, LLVMValueRef element, uint32_t lane);

/* The slots of a step as raw bits, a vector where they are several; and these as the step's slots. */
LLVMValueRef tj_emit_step_slots(tj_emitter *emitter, const tj_kernel_step *step);
void tj_emit_give_slots(tj_emitter *emitter, const tj_kernel_step *step, LLVMValueRef vector);
/* The same of those from `slot` on. */
LLVMValueRef tj_emit_slots(tj_emitter *emitter, uint32_t slot, uint32_t width);
void tj_emit_set_slots(tj_emitter *emitter, uint32_t slot, uint32_t width, LLVMValueRef vector);

/* --- steps (emit_step.c) --- */

/* The loop of a LOOP step, up to its AGAIN. (emit_loop.c) */
void tj_emit_begin_trips(tj_emitter *emitter, const tj_kernel_step *loop);
void tj_emit_end_trips(tj_emitter *emitter);

/* Steps of a work-item, without barriers; and, after them, all that follow. */
typedef struct {
  const tj_kernel_step *step;
  uint32_t count, following;
} tj_phase;

/* The phase that begins with steps[begin]: up to the next barrier, or the end. */
tj_phase tj_emit_phase(const tj_kernel_step steps[], uint32_t begin, uint32_t count);
/* Emits its steps. The builder ends where they have ended. */
void tj_emit_steps(tj_emitter *emitter, tj_phase phase);

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

/* All steps of a flat kernel's work-item, with the loop around them. (emit_loop.c) */
void tj_emit_item(tj_emitter *emitter);

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

/* --- kernels of GPUs (emit_grid.c) --- */

/* How a family's workgroups and work-items are numbered. */
typedef struct {
  LLVMValueRef (*emit_workgroup)(tj_emitter *emitter, uint64_t limit); /* an i32, below `limit`; 0: any */
  LLVMValueRef (*emit_item)(tj_emitter *emitter);                      /* an i32, below the workgroup's size */
  void (*emit_barrier)(tj_emitter *emitter, tj_phase before);          /* all steps before the one that comes then */
} tj_grid;

/* Emits all that is inside a kernel's function, its end included. */
void tj_emit_grid(tj_emitter *emitter, const tj_grid *grid);

/* --- kernels (emit_kernel.c) --- */

/* More workgroups than any launch has, or 0 where the count has no bound. */
uint64_t tj_emit_workgroup_limit(const tj_emitter *emitter);

#endif

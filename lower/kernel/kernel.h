/* SPDX-License-Identifier: MIT */
/* Kernels: what a compiled kernel does, in index expressions alone.
 *
 * Work-items run in workgroups of workgroup_size. Each takes the same steps, in order: it loads vectors of elements
 * into slots, its registers, and stores slots; between them it may meet the others of its workgroup at barriers, to
 * pass elements on through LDS. Two kinds of kernels differ in how work-items know who they are. In a flat kernel
 * each has a linear coordinate, 0 <= index < count, and the last workgroup may be partial; its steps may stand in a
 * loop, which carries integers from trip to trip. In a tiled kernel each has the number of its workgroup and its own
 * within it; all workgroups are whole.
 *
 * plan.c makes kernels from views, flat ones that move one element a work-item; derive.c moves work from work-items
 * to the launch; lower/steps makes LLVM IR of them. */
#ifndef TJ_LOWER_KERNEL_H
#define TJ_LOWER_KERNEL_H

#include "base/machine/argument_block.h"
#include "base/number/dtype.h"
#include "base/number/magic.h"
#include "base/number/tile.h"
#include "ir/layout/layout.h"

typedef struct {
  const char *name;
  tj_dtype dtype;
  bool is_read, is_written;
  bool is_scratch; /* no argument of the definition: the launch's own memory, of any content before and after */
  const tj_node *element_count; /* elements that the view addresses: 1 + the largest offset of its base */
  const tj_node *const *extent; /* of the view's top-level modes */
  uint32_t rank;
  bool is_row_major;    /* the view is plain row-major: `extent` is the natural shape of an array */
  bool is_column_major; /* column-major: the same, the first mode fastest; both where modes of 1 leave one */
} tj_kernel_buffer;

/* In the place of a buffer: the workgroup's own memory. */
enum { TJ_LDS = UINT32_MAX };

/* Elements of a buffer, or of LDS, from `base` + `offset` + `displacement` on, which lies inside the buffer wherever
 * `valid` holds. */
typedef struct {
  uint32_t buffer;
  bool is_bounded; /* its mask is the bounds of a resource: where not valid, zeros are loaded, and nothing is stored
                      (bounded.h) */
  const tj_node *base; /* the same for all work-items of a workgroup; NULL: 0 */
  const tj_node *offset;
  const tj_node *valid; /* truth; the constant 1: always */
  int64_t displacement; /* not negative */
} tj_access;

typedef enum {
  TJ_STEP_VALUE,  /* the slot is the value of an expression, as an element of the type that the store writes */
  TJ_STEP_LOAD,   /* the slots are elements, converted to the carried type; where not valid, the fill */
  TJ_STEP_STORE,  /* the elements become the slots, converted from the carried type; where not valid, nothing */
  TJ_STEP_LOOKUP, /* the symbol `value` is the element, an integer, where that is in 0 … limit - 1; otherwise, and
                     where not valid, `limit` */
  TJ_STEP_RUN,    /* `limit` elements, at least 1, become those of `from`, converted to the carried type and from it,
                     if the access is valid. On the host */
  TJ_STEP_DIRECT, /* `width` elements from `from` on become those of LDS at the access, if that is valid, after a
                     barrier that waits for them; unless machines let each lane say where, lanes of a wave that are
                     side by side have places that are */
  TJ_STEP_PREFETCH, /* the elements will be loaded by somebody soon; nothing happens that could be seen */
  TJ_STEP_COMPUTE,  /* the slots become what `compute` says of others; where not valid, they stay as they are */
  TJ_STEP_BOX, /* an engine brings a box of a buffer into LDS, as `word` says; all is there after a barrier that waits
                  for it */
  TJ_STEP_EXCHANGE, /* slots of work-items become what others of their wave had, as `exchange` says; the others have
                       nothing from there on */
  TJ_STEP_LOOP,     /* the steps up to AGAIN happen `limit` times, which may be none; the symbol `value` is the trip,
                       and the slots go from trip to trip, in vectors of slot_step */
  TJ_STEP_AGAIN,
  TJ_STEP_BARRIER /* the whole workgroup has got here, and sees what was stored to LDS, and all that goes straight
                     there but for what the last `number` steps bring; slots stay as they are, unless the target takes
                     each phase for all work-items in turn (keeps_slots) */
} tj_step_kind;

/* An array's elements, made of those of others, which are in slots: lane k of a step's slots is made of slot + k of
 * what varies among them, of slot of what does not. */
typedef struct {
  const struct tj_array *array; /* NULL: the first input itself */
  int combine; /* the tj_array_op by which it is put together with what the slots had; TJ_ARRAY_OP_COUNT: it is not */
  const struct tj_array *const *input;
  const uint32_t *slot;
  const bool *varies;
  uint32_t count;
  uint32_t across; /* the input is that of the lane whose number in its wave differs by this power of two; within so
                      many lanes side by side, all have the same. 0: each lane has its own */
} tj_computation;

/* Element k of a load or store, at access.offset + k, is slot `slot + k * slot_step`, modulo 2^32: slots may go
 * backwards. All `width` elements are valid, or none is. */
typedef struct tj_kernel_step {
  tj_step_kind kind;
  tj_access access; /* of LOAD, STORE, RUN, DIRECT and LOOKUP; of BOX the buffer alone */
  tj_access from;   /* of RUN and DIRECT: the first element; valid where the access is */
  tj_access ahead;  /* of RUN: from where on as many elements may be fetched, for a run to come; offset NULL: none */
  const tj_node *value; /* of VALUE; of LOOKUP and LOOP: a symbol, which this step gives its value; of EXCHANGE
                           that of the work-item */
  const tj_node *limit; /* of LOOKUP: at least 1; of RUN and LOOP */
  const tj_computation *compute;      /* of COMPUTE */
  const struct tj_exchange *exchange; /* of EXCHANGE (lanes/exchange.h) */
  const tj_node **word; /* of BOX: what the instruction is given, of a buffer at address 0 (dma/dma.h); with a
                           tensor map the coordinates of the box, and its place in LDS in bytes */
  uint32_t word_count;  /* of BOX: how many */
  uint32_t number;      /* of BOX: among those of a part of the tile; of DIRECT, and of LOAD from LDS: which of
                           its buffers there; of BARRIER: how many DIRECT and BOX steps need not have ended */
  uint32_t width;       /* a power of two; 1 for VALUE; of RUN: the greatest limit */
  uint32_t slot, slot_step;
  bool is_taken;     /* of BOX: the engine takes it out of LDS to the buffer; what is there has been waited for */
  bool adds;         /* of STORE: to what is there, each element at once: an f32, or an integer of 32 bits */
  bool transposes;   /* of LOAD from LDS: elements change lanes on their way (tile/transposed_side.h) */
  bool is_kept;      /* of STORE: worth caching, even where the kernel's other stores are not */
  uint32_t multiple; /* in kernels that are aligned: of so many elements its first one's number is a multiple, by the
                        kernel's condition; 0: as far as facts show */
} tj_kernel_step;

/* Whether the step has to do with elements of a buffer, or of LDS. */
static inline bool tj_step_has_access(const tj_kernel_step *step) {
  return step->kind <= TJ_STEP_PREFETCH && step->kind != TJ_STEP_VALUE;
}

/* Whether the step moves elements from one place to another without slots. */
static inline bool tj_step_has_two_places(const tj_kernel_step *step) {
  return step->kind == TJ_STEP_RUN || step->kind == TJ_STEP_DIRECT;
}

/* The tensor map of a buffer, which the launch makes: of numbers, and expressions of parameters. Instructions are
 * given coordinates in it. */
typedef struct {
  uint32_t buffer;
  uint32_t element_bytes, rank, swizzle; /* as of tj_tensor_map, like those that follow */
  uint32_t alignment;                    /* of the tensor's address, in bytes */
  const tj_node *offset;                 /* from the buffer's address to that, in bytes */
  const tj_node *extent[TJ_TENSOR_MAP_DIMENSIONS], *stride[TJ_TENSOR_MAP_DIMENSIONS];
  uint32_t box[TJ_TENSOR_MAP_DIMENSIONS];
  uint32_t barrier; /* where in LDS, in bytes, behind all boxes, their bytes are counted */
} tj_box_map;

/* Bytes of a box in LDS. */
static inline uint32_t tj_box_bytes(const tj_box_map *map) {
  uint32_t bytes = map->element_bytes;
  for (uint32_t d = 0; d < map->rank; d++)
    bytes *= map->box[d];
  return bytes;
}

static inline size_t tj_words_of_steps(const tj_kernel_step step[], uint32_t count) {
  size_t words = 0;
  for (uint32_t i = 0; i < count; i++)
    words += step[i].word_count;
  return words;
}

/* The step that gives slot 0 the value of an expression. */
static inline tj_kernel_step tj_step_of_value(const tj_node *value) {
  return (tj_kernel_step){.kind = TJ_STEP_VALUE, .value = value, .width = 1, .slot_step = 1};
}

/* What the launch computes for the argument block: a word, or a half of one. */
typedef struct {
  tj_derived_kind kind;
  bool is_upper;       /* it is the upper half of the word of which the one before is the lower half */
  const tj_node *node; /* an expression of parameters; at least 1 where it is divided by. NULL: another variant's */
} tj_derived;

/* A name for an expression: the symbol's facts say more of it than it shows. */
typedef struct {
  const tj_node *symbol, *value; /* the value mentions no other binding, except launched ones */
  bool is_launched;              /* the value is one of parameters alone, which the launch computes */
} tj_kernel_binding;

/* When elements become what is stored: as they leave their buffer, or as they enter it. */
typedef enum { TJ_COMPUTED_NEVER, TJ_COMPUTED_LOADING, TJ_COMPUTED_STORING } tj_computed;

/* What elements of a copy become on the way: what a program of one statement says, a function of the source's
 * elements, or of those of several sources. The first of these is the one that mappings load; what is stored takes
 * the others as they are, from slots of their own, `slots` further on from source to source. A program of several
 * statements has that of the destination first; it names buffers by their numbers. (arithmetic.h) */
typedef struct {
  tj_computed when;
  uint32_t count, slots;                  /* of sources; 0 slots: there is only one */
  const struct tj_array_program *program; /* NULL: elements are only converted */
  const struct tj_array *const *element;  /* by source: which array of the program stands for its elements */
  const uint32_t *buffer;                 /* by source, then by further destination, in the statements' order */
  const tj_node *const *parameter;        /* those that the program speaks of, in the place of the kernel's own */
  const struct tj_array *const *single;   /* arrays of one element, which all that is stored has in common */
  const uint32_t *single_buffer;          /* by such an array, of which the buffer's first element is the one */
  uint32_t single_count;
} tj_arithmetic;

/* An integer that a loop carries: before its first trip it is `initial`, an expression of the work-item; after each
 * trip it becomes `next`, an expression of what the loop carries. */
typedef struct {
  const tj_node *symbol, *initial, *next;
} tj_carried;

/* A counted loop around the steps of a flat kernel: each work-item takes them `trips` times. What is carried changes
 * at the end of a trip, all at once. (loop.h) */
typedef struct {
  const tj_node *counter; /* the symbol of the trip: 0 <= counter < trips */
  const tj_node *trips;   /* at least 1; an expression of parameters */
  tj_carried *carried;
  uint32_t carried_count;
} tj_loop;

/* What is known of coordinates that store different sources to one element. */
typedef enum {
  TJ_RACES_NONE,       /* there are none */
  TJ_RACES_AT_LAUNCH,  /* parameters decide */
  TJ_RACES_UNDECIDED,  /* none were found where it was looked */
  TJ_RACES_OF_INDICES, /* indices that the launch brings have to differ */
  TJ_RACES_MEANT       /* the kernel's definition allows them */
} tj_races;

/* A tile whose shape the launch chooses: by what expressions of parameters come to; of what is chosen, each number
 * has a symbol, or is constant. */
typedef struct {
  tj_tile tile;
  const tj_node *input[TJ_TILE_INPUTS];   /* 0 beyond the domain's modes */
  const tj_node *number[TJ_TILE_NUMBERS]; /* symbols are made after the inputs */
} tj_launched_tile;

typedef struct tj_kernel {
  const char *name;
  const tj_kernel_buffer *buffer;
  uint32_t buffer_count;
  const tj_node *const *parameter; /* symbols that are passed at launch, as 64-bit integers */
  uint32_t parameter_count;
  const tj_derived *derived; /* what tj_kernel_derive found; none before */
  uint32_t derived_count;
  const tj_node *index;     /* flat: the symbol of the linear coordinate; tiled: NULL */
  const tj_node *workgroup; /* tiled: the symbols of the workgroup's number, */
  const tj_node *item;      /* and of the work-item's within it */
  const tj_node *count;     /* of work-items: an expression of parameters; tiled: a multiple of workgroup_size */
  uint32_t workgroup_size;
  const tj_node *items; /* tiled, on the host: how many work-items of a workgroup, the first ones, take the steps;
                           at least 1; NULL: all */
  tj_kernel_binding *binding; /* tiled: of what is the same for a workgroup, or for the launch */
  uint32_t binding_count;
  const tj_launched_tile *launched; /* tiled: what bindings, count and condition may speak of; NULL: nothing */
  tj_loop *loop;                    /* flat: around all steps; NULL: none */
  tj_kernel_step *step;
  uint32_t step_count;
  const tj_node *inner;       /* tiled: truth, whether the workgroup's tile is all inside the domain; NULL: never */
  tj_kernel_step *inner_step; /* what its work-items then do in the place of `step`: the same without masks */
  uint32_t inner_step_count;
  uint32_t slot_count;
  tj_dtype carried;                     /* the type of elements in slots and in LDS */
  const tj_dtype *slot_dtype;           /* that of each slot, of a kernel of arrays; NULL: the carried one */
  const struct tj_array_kernel *arrays; /* what such a kernel does; NULL: it is another */
  uint32_t lds_elements;                /* of a workgroup; 0: none */
  const tj_box_map *map;                /* that its boxes are of; NULL: they have descriptors, or there are none */
  bool is_streamed;                     /* what is stored to buffers is not worth caching */
  bool follows;             /* is launched behind the kernel whose `faster` it is, with the same arguments, and
                               never by itself: it goes on with what that has begun */
  bool is_aligned;          /* its vectors rely on addresses of buffers that are multiples of them */
  int64_t fill;             /* in the source's element type; for floats, converted to it */
  tj_arithmetic arithmetic; /* of a copy, of the fill too */
  const char *tile;         /* its shape in words; NULL: no mapping chose one */
  const struct tj_stage_choice *stage; /* how a tile lies in LDS, and why; NULL: it stays in registers */
  const char *indirect; /* why what goes through LDS does not go there straight from memory; NULL: it does, or nobody
                           has asked */
  const struct tj_domain *domain; /* of a flat copy: what its coordinates are; NULL for other kernels */
  const tj_layout *elements;      /* of a flat copy: the linear coordinate → the operands' modes, as the domain of a
                                     mapping; NULL: they have one mode, which it is */
  const struct tj_mapping *mapping; /* how a copy, or rows, are shared out; NULL: no mapping says it */
  tj_races races;
  const struct tj_race *race;     /* what decides, where the launch does; else NULL */
  const struct tj_mapped *mapped; /* the mapping that a copy, or rows, were given; NULL: one is chosen */
  struct tj_kernel *copy;   /* of arrays: does the same, as a flat copy of several sources; NULL: there is none */
  struct tj_kernel *faster; /* does the same in less time, where `condition` holds; NULL: there is none. It has the
                                     same buffers and parameters, of which its own symbols know more */
  const tj_node *condition; /* truth, of this kernel's parameters */
} tj_kernel;

/* The first element of an access of the kernel: base + offset + displacement, without bindings. */
const tj_node *tj_access_element(tj_graph *graph, const tj_kernel *kernel, const tj_access *access);
/* Its predicate, without bindings. */
const tj_node *tj_access_valid(tj_graph *graph, const tj_kernel *kernel, const tj_access *access);

/* Whether accesses with such a mask happen in any case; NULL: there is none. */
static inline bool tj_is_always(const tj_node *valid) {
  return valid == NULL || (tj_is_constant(valid) && valid->value != 0);
}

/* Whether what a step stores is to bypass the caches. */
static inline bool tj_step_is_streamed(const tj_kernel *kernel, const tj_kernel_step *step) {
  return kernel->is_streamed && step->kind == TJ_STEP_STORE && step->access.buffer != TJ_LDS && !step->is_kept;
}

/* Whether one of some steps is of a kind. */
static inline bool tj_steps_have(const tj_kernel_step step[], uint32_t count, tj_step_kind kind) {
  uint32_t i = 0;
  while (i < count && step[i].kind != kind)
    i++;
  return i < count;
}

/* Whether a kernel has a step of a kind, but for those of its inner tiles. */
static inline bool tj_kernel_has_step(const tj_kernel *kernel, tj_step_kind kind) {
  return tj_steps_have(kernel->step, kernel->step_count, kind);
}

/* Boxes that an engine brings for a workgroup, or takes out of LDS. */
static inline uint32_t tj_kernel_boxes(const tj_kernel *kernel, bool are_taken) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < kernel->step_count; i++)
    count += kernel->step[i].kind == TJ_STEP_BOX && kernel->step[i].is_taken == are_taken;
  return count;
}

/* Bytes of an element of a buffer, or of LDS. */
static inline uint32_t tj_element_bytes(const tj_kernel *kernel, uint32_t buffer) {
  return tj_dtype_bits(buffer == TJ_LDS ? kernel->carried : kernel->buffer[buffer].dtype) / 8;
}

/* The last of a kernel's faster ones; where there is none, the kernel itself. */
static inline const tj_kernel *tj_fastest_variant(const tj_kernel *kernel) {
  const tj_kernel *fastest = kernel;
  for (; kernel != NULL; kernel = kernel->faster)
    fastest = kernel->follows ? fastest : kernel;
  return fastest;
}

enum { TJ_MOST_KERNELS = 4 /* of a launch, one behind the other */ };

/* The last of those that are launched behind a kernel; where there is none, the kernel itself. */
static inline tj_kernel *tj_last_behind(tj_kernel *kernel) {
  while (kernel->faster != NULL && kernel->faster->follows)
    kernel = kernel->faster;
  return kernel;
}

/* Whether there are faster ones. */
static inline bool tj_kernel_has_variants(const tj_kernel *kernel) {
  return tj_fastest_variant(kernel) != kernel;
}

/* Steps of a flat copy: what is stored last is what the first step loads, or is made of that and others. */
static inline const tj_kernel_step *tj_flat_load(const tj_kernel *flat) {
  return &flat->step[0];
}
static inline const tj_kernel_step *tj_flat_store(const tj_kernel *flat) {
  return &flat->step[flat->step_count - 1];
}

/* Operands by number: source, destination, further sources, further destinations. */
enum { TJ_OPERAND_SOURCE, TJ_OPERAND_DESTINATION, TJ_OPERAND_OTHERS };

/* The buffer of a flat copy's operand. */
static inline uint32_t tj_flat_buffer(const tj_kernel *flat, uint32_t operand) {
  if (operand >= TJ_OPERAND_OTHERS)
    return flat->arithmetic.buffer[1 + operand - TJ_OPERAND_OTHERS];
  return (operand == TJ_OPERAND_SOURCE ? tj_flat_load(flat) : tj_flat_store(flat))->access.buffer;
}

/* Whether one of a copy's further sources and destinations is a source: these come first. */
static inline bool tj_is_other_source(const tj_kernel *kernel, uint32_t number) {
  return 1 + number < kernel->arithmetic.count;
}

static inline bool tj_is_source(const tj_kernel *kernel, uint32_t operand) {
  return operand == TJ_OPERAND_SOURCE ||
         (operand >= TJ_OPERAND_OTHERS && tj_is_other_source(kernel, operand - TJ_OPERAND_OTHERS));
}

/* The slots of one source. */
static inline uint32_t tj_source_slots(const tj_kernel *kernel) {
  return kernel->arithmetic.slots > 0 ? kernel->arithmetic.slots : kernel->slot_count;
}

/* Whether a step loads or stores what is in a slot, of whichever source. */
static inline bool tj_step_has_slot(const tj_kernel *kernel, const tj_kernel_step *step, uint32_t slot) {
  bool takes_all = kernel->arithmetic.slots > 0 && step->kind == TJ_STEP_STORE && step->access.buffer != TJ_LDS;
  slot = takes_all ? slot % kernel->arithmetic.slots : slot;
  for (uint32_t k = 0; k < step->width; k++) {
    if (step->slot + k * step->slot_step == slot)
      return true;
  }
  return false;
}

/* The type of the elements in a slot. */
static inline tj_dtype tj_slot_dtype(const tj_kernel *kernel, uint32_t slot) {
  return kernel->slot_dtype != NULL ? kernel->slot_dtype[slot] : kernel->carried;
}

/* What the launch has to know of a node in the kernel's place: the value of a launched binding, or the node itself.
 */
const tj_node *tj_launched_value(const tj_kernel *kernel, const tj_node *node);

/* What the kernel's argument block holds: pointers to the buffers, then the parameters, then what is derived. */
static inline uint32_t tj_kernel_arguments(const tj_kernel *kernel) {
  return kernel->buffer_count + kernel->parameter_count + kernel->derived_count;
}

/* Its words, of 8 bytes each. A tensor map follows them, where the kernel has one. */
static inline uint32_t tj_kernel_words(const tj_kernel *kernel) {
  uint32_t words = tj_kernel_arguments(kernel);
  for (uint32_t i = 0; i < kernel->derived_count; i++)
    words -= kernel->derived[i].is_upper;
  return words;
}

static inline uint32_t tj_kernel_argument_bytes(const tj_kernel *kernel) {
  return tj_argument_bytes(tj_kernel_words(kernel), kernel->map != NULL);
}

/* Of LDS, of a workgroup. */
static inline uint32_t tj_kernel_lds_bytes(const tj_kernel *kernel) {
  return kernel->lds_elements * (tj_dtype_bits(kernel->carried) / 8);
}

/* Finds what the launch can compute: divisors for which it can give magic numbers, and costly expressions of
 * parameters alone; of a kernel and its faster ones, which get one list. Call it after simplification, before
 * lowering; a kernel without it is right, but slower. */
void tj_kernel_derive(tj_graph *graph, tj_kernel *kernel);
/* Whether a derived value may be half a word: 32 bits have it, with its sign. What is NULL may. */
bool tj_is_half_word(const tj_derived *derived);
/* Puts derived values of 32 bits side by side, two in a word, so that scalar loads have many at once. Call it after
 * tj_kernel_derive. */
void tj_kernel_pack_words(tj_graph *graph, tj_kernel *kernel);
/* Whether a launch has room for all that work-items of a kernel, of its faster ones and of another one have by name.
 */
bool tj_kernel_words_fit(tj_graph *graph, const tj_kernel *kernel, const tj_kernel *more);

#endif

/* SPDX-License-Identifier: MIT */
/* Launch plans: what a launch needs to know of a kernel once it is machine code.
 *
 * A plan stands by itself: it refers neither to the program nor to its index graph, and can be written as bytes and
 * read back, here or in another process. Every code has one, fresh or cached, and launch.c knows nothing else of a
 * kernel.
 *
 *     parameters   what the program calls them, and the facts that the code relies on
 *     buffers      the kernel's arguments: element types, extents, sizes
 *     words        the argument block, one 8-byte word after another, the same for all variants; behind them, a
 *                  variant's tensor map
 *     variants     the kernels of the machine code that do the work, each under its condition
 *     race         what parameters decide about two coordinates that store to one element, if anything
 *     steps        the expressions that the others refer to by number
 *     tiles        what a launch chooses the shapes of tiles by, for expressions that speak of these
 *
 * How to add a variant: another row of `variant` in tj_launch_plan_make (jit/compile/launch_plan_make.c), with its
 * condition before those that hold more often. How to add a field: the struct, its making there, write and read in
 * launch_plan.c, and TJ_LAUNCH_PLAN_VERSION.
 *
 * Thread safety: a plan is immutable once made. */
#ifndef TJ_LAUNCH_LAUNCH_PLAN_H
#define TJ_LAUNCH_LAUNCH_PLAN_H

#include "base/machine/argument_block.h"
#include "base/number/dtype.h"
#include "base/number/magic.h"
#include "base/number/op.h"
#include "base/number/race.h"
#include "base/number/tile.h"
#include "launch/image/serial.h"

enum { TJ_LAUNCH_PLAN_VERSION = 16 }; /* of the bytes that tj_launch_plan_write makes */

/* The number of a step: the expression that ends there. */
typedef uint32_t tj_expression;
#define TJ_NO_EXPRESSION UINT32_MAX

/* One operation; its arguments are earlier steps. */
typedef struct {
  tj_op op;
  union {
    int64_t value;        /* TJ_OP_CONSTANT */
    uint32_t parameter;   /* TJ_OP_SYMBOL: its number; beyond all parameters, TJ_TILE_NUMBERS for each tile */
    tj_expression arg[3]; /* else: as many as the operation's arity */
  };
} tj_launch_step;

/* A parameter of the program. Those that the kernel depends on come first: `passed_count` of them, whose values go
 * into the argument block. The others may be given what their facts allow, unless fixed, and change nothing. */
typedef struct {
  const char *name;
  tj_expression low, high; /* inclusive; TJ_NO_EXPRESSION: unbounded */
  tj_expression multiple;  /* the value is a multiple of it; TJ_NO_EXPRESSION: any integer */
  const int64_t *choice;   /* the value is one of these */
  uint32_t choice_count;   /* 0: any that the other facts allow */
  bool is_fixed;           /* at compile time: it cannot be given */
  uint8_t number_bits;     /* 32, 64: the value is the bits of a float of so many; 0: it is an integer */
} tj_launch_parameter;

typedef struct {
  const char *name;
  tj_dtype dtype;
  bool is_read, is_written;
  bool is_row_major, is_column_major; /* `extent` is the natural shape of an array, in that order */
  tj_expression element_count;
  const tj_expression *extent;
  uint32_t rank;
} tj_launch_buffer;

typedef enum {
  TJ_WORD_BUFFER,    /* the address of buffer number `of` */
  TJ_WORD_PARAMETER, /* the value of parameter number `of` */
  TJ_WORD_DERIVED,   /* tj_derived_word(derived, the value of expression `of`) */
  TJ_WORD_SCRATCH,   /* the address of scratch memory; `of` is 0 */
  TJ_WORD_KIND_COUNT
} tj_launch_word_kind;

/* A word of the argument block, or half a one. */
typedef struct {
  tj_launch_word_kind kind;
  tj_derived_kind derived;
  bool is_upper; /* it is the upper half of the word of which the one before is the lower half */
  uint32_t of;
} tj_launch_word;

/* A tensor map that the launch makes: as of tj_tensor_map, without element strides. */
typedef struct {
  uint32_t buffer;
  uint32_t element_bytes, rank, swizzle;
  tj_expression offset; /* bytes from the buffer's address to the tensor's */
  tj_expression extent[TJ_TENSOR_MAP_DIMENSIONS], stride[TJ_TENSOR_MAP_DIMENSIONS];
  uint32_t box[TJ_TENSOR_MAP_DIMENSIONS];
} tj_launch_map;

/* A kernel of the machine code. A launch runs the first variant that follows none, whose condition is not 0 and whose
 * alignments its addresses have; and then those that follow it, with the same argument block. */
typedef struct {
  const char *symbol;        /* its name there */
  bool follows;              /* the variant with the next number: it goes on where that has ended */
  tj_expression condition;   /* TJ_NO_EXPRESSION: always */
  tj_expression count;       /* of work-items; in workgroups of workgroup_size, the last one partial */
  uint32_t workgroup_size;   /* >= 1 */
  uint32_t lds_bytes;        /* of a workgroup: the whole of what the packet of a dispatch reserves */
  const uint32_t *alignment; /* of each buffer: what its address is a multiple of, in bytes; a power of two */
  const tj_launch_map *map;  /* NULL: it has none */
} tj_launch_variant;

enum { TJ_LAUNCH_MOST_KERNELS = 4 /* of one launch */ };

typedef struct {
  tj_expression begin, end, stride;
} tj_launch_race_side;

typedef struct {
  tj_launch_race_side side[TJ_RACE_SIDES];
} tj_launch_race_mode;

/* The numbers of base/number/race.h. A launch that finds a race by them does not happen. */
typedef struct {
  uint32_t destination; /* number of the buffer */
  const char *form;     /* a coordinate, with _ in the place of each mode's */
  tj_expression base;   /* the element at coordinate 0; TJ_NO_EXPRESSION: elements are not told */
  uint32_t modes, sources;
  const tj_launch_race_mode *mode;
} tj_launch_race;

enum { TJ_LAUNCH_MOST_TILES = 16 };

/* A tile whose shape the launch chooses, in numbers: for steps that come after its inputs. */
typedef struct {
  tj_tile tile;
  tj_expression input[TJ_TILE_INPUTS]; /* of a tj_tile_domain; not of modes beyond the tile's */
} tj_launch_tile;

typedef struct {
  const char *kernel, *target; /* their names */
  const tj_launch_step *step;
  uint32_t step_count;
  const tj_launch_tile *tile;
  uint32_t tile_count; /* <= TJ_LAUNCH_MOST_TILES */
  const tj_launch_parameter *parameter;
  uint32_t parameter_count, passed_count;
  const tj_launch_buffer *buffer;
  uint32_t buffer_count;
  const tj_launch_word *word;
  uint32_t word_count;
  uint32_t scratch_bytes; /* of memory that a launch has to itself, of any content before and after; 0: none */
  const tj_launch_variant *variant;
  uint32_t variant_count;     /* >= 1 */
  const tj_launch_race *race; /* NULL: there is none, whatever the parameters are, or races are meant */
} tj_launch_plan;

void tj_launch_plan_write(tj_text *text, const tj_launch_plan *plan);

/* The plan that was written, in the job's arena; its strings are borrowed from the reader's bytes. NULL where these
 * bytes are none, whatever else they are. */
const tj_launch_plan *tj_launch_plan_read(tj_job *job, tj_reader *reader);

/* Whether a step is the value of a parameter, not a number that is chosen. */
static inline bool tj_launch_is_parameter(const tj_launch_plan *plan, const tj_launch_step *step) {
  return step->op == TJ_OP_SYMBOL && step->parameter < plan->parameter_count;
}

/* Which number of all tiles' it is, for a TJ_OP_SYMBOL that is no parameter. */
static inline uint32_t tj_launch_number(const tj_launch_plan *plan, const tj_launch_step *step) {
  return step->parameter - plan->parameter_count;
}

/* Whether a tile of so many modes has such an input. */
static inline bool tj_launch_has_input(const tj_tile *tile, uint32_t input) {
  return input % TJ_TILE_MODES < tile->modes;
}

/* What an expression comes to; a value only where the status is TJ_EVAL_OK. */
typedef struct {
  int64_t value;
  tj_eval_status status;
} tj_launch_value;

/* Whether a parameter has a value where its values are listed. */
bool tj_launch_parameter_lists(const tj_launch_parameter *parameter, int64_t value);

/* The value of every step, for parameters by number, into values[0 … step_count-1]. A step whose arguments fail fails
 * as they do, which harms only who asks for it. */
void tj_launch_plan_evaluate(const tj_launch_plan *plan, const int64_t parameter[], const bool bound[],
                             tj_launch_value values[]);

/* Whether a launch may begin with a variant: it follows none, and the values of steps meet its condition. */
bool tj_launch_plan_allows(const tj_launch_variant *variant, const tj_launch_value values[]);

/* What the values of steps decide about races. TJ_RACE_UNDECIDED also where a number does not fit in 64 bits. */
tj_race_verdict tj_launch_race_decide(const tj_launch_race *race, const tj_launch_value values[],
                                      int64_t first[TJ_RACE_MODES], int64_t second[TJ_RACE_MODES]);

/* The variant that a launch begins with which comes to one. */
static inline uint32_t tj_launch_first(const tj_launch_plan *plan, uint32_t variant) {
  while (plan->variant[variant].follows)
    variant++;
  return variant;
}

/* How many kernels a launch has that begins with a variant: they have its number, and those before it. */
static inline uint32_t tj_launch_kernels(const tj_launch_plan *plan, uint32_t variant) {
  uint32_t count = 1;
  while (count <= variant && plan->variant[variant - count].follows)
    count++;
  return count;
}

/* Words of the argument block, of 8 bytes each. */
static inline uint32_t tj_launch_block_words(const tj_launch_plan *plan) {
  uint32_t words = plan->word_count;
  for (uint32_t i = 0; i < plan->word_count; i++)
    words -= plan->word[i].is_upper;
  return words;
}

/* Of the block of a variant. */
static inline uint32_t tj_launch_argument_bytes(const tj_launch_plan *plan, const tj_launch_variant *variant) {
  return tj_argument_bytes(tj_launch_block_words(plan), variant->map != NULL);
}

#endif

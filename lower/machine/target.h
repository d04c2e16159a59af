/* SPDX-License-Identifier: MIT */
/* Targets: what kernels are compiled for.
 *
 * A target is a row of target.def's families made specific: AMDGPU with a processor and features, or this host with
 * its CPU. Everything that lowering and code generation need to know of a machine is in tj_target; everything that
 * differs in form between families is a function of the family's row.
 *
 * How to add a target: write lower/target/NAME.c, which defines `const tj_target_family tj_family_NAME`; add the row
 * TARGET(NAME, …) to target.def and the file to CMakeLists.txt; have llvm/llvm.c initialise LLVM's part for it.
 * What LLVM makes for it is one of tj_object_kind; where it is none, add the kind, and its way to
 * jit/compile/pipeline.c. */
#ifndef TJ_LOWER_TARGET_H
#define TJ_LOWER_TARGET_H

#include "base/job.h"
#include "base/machine/direct_load.h"
#include "base/machine/lane.h"
#include "base/machine/processor.h"
#include "base/machine/resource.h"
#include "base/number/dtype.h"
#include "base/text.h"
#include "llvm/passes.h"

#include <llvm-c/Types.h>
#include <stdbool.h>

/* The processor that LLVM is asked about, name and features, once there is code to generate. */
#define TJ_THIS_CPU "native"

/* Lanes of so many bytes are the cheapest to change places among. */
enum { TJ_PERMUTED_BYTES = 16 };

struct tj_emitter;       /* lower/emit/emit.h */
struct tj_bounded_place; /* lower/steps/steps.h */
struct tj_kernel;        /* lower/kernel/kernel.h */
struct tj_kernel_nodes;  /* lower/kernel/kernel_nodes.h */
struct tj_kernel_step;   /* the same */

typedef struct tj_target_family tj_target_family;

/* What the object file holds, and so what happens to it next. */
typedef enum {
  TJ_OBJECT_CODE_OBJECT, /* to be linked into a code object */
  TJ_OBJECT_PTX,         /* assembly, which the device's driver takes */
  TJ_OBJECT_CUBIN,       /* the same, of which machine code is to be made */
  TJ_OBJECT_HOST         /* to be loaded into this process */
} tj_object_kind;

/* Strings live in the job's arena or are static. */
typedef struct {
  const tj_target_family *family;
  const char *name;         /* canonical: gfx90a:sramecc+:xnack-, host */
  const char *triple;       /* LLVM's: amdgcn-amd-amdhsa */
  const char *processor;    /* LLVM's: gfx90a; TJ_THIS_CPU */
  const char *features;     /* LLVM's: +sramecc,-xnack; of TJ_THIS_CPU what tells it from others (host_cpu.h) */
  const char *map_features; /* those of code with tensor maps; NULL: the same */
  const char *passes;       /* the LLVM passes that pay on this target's kernels, as LLVM's pass builder reads them */
  tj_idle_passes idle_passes; /* those from IR to machine code that find nothing in them */
  tj_object_kind object;
  uint32_t code_object_version;  /* 4, 6; 0 without code objects */
  uint32_t wave_size;            /* work-items of a wave; 1 on the host */
  uint32_t lds_bytes;            /* of a workgroup; 0 without LDS */
  uint32_t static_lds_bytes;     /* how many code may lay out itself; where it wants more, the launch does */
  uint32_t workgroup_limit;      /* most work-items of a workgroup */
  bool keeps_slots;              /* work-items still have their slots after a barrier */
  uint32_t slot_bytes;           /* of tiles that are fast: what a work-item holds in registers, at most, */
  uint32_t slot_limit;           /* in so many slots, */
  uint32_t tile_bytes;           /* and a workgroup */
  uint32_t group_of_rows;        /* work-items of a workgroup that has rows of whole waves, where one row has fewer */
  uint32_t group_of_costly_rows; /* the same, where much is computed of each column */
  uint32_t row_columns;          /* of a work-item that keeps a part of a row, where several waves take it */
  uint32_t long_row;             /* columns from which on three buffers do not halve these; 0: they always do */
  uint32_t cache_bytes;     /* where rows that are taken again are found, for each work-item that runs at once; 0:
                               none is known to be so large */
  bool follows_destination; /* workgroups beside one another take tiles that are neighbours in the destination */
  uint32_t vector_bytes;    /* widest memory access of one work-item */
  uint32_t global_address_space; /* of buffers */
  const tj_direct_loads *direct; /* from memory straight into LDS; NULL: no such instruction */
  bool has_register_banks;       /* instructions name one of 256 vector registers, and a mode says in which bank */
  bool transposes_lds;         /* loads of 8 bytes from LDS may turn around elements of 1 and 2 bytes between lanes */
  bool has_unaligned_vectors;  /* accesses of global memory by vectors need the alignment of an element only */
  bool needs_aligned_vectors;  /* where addresses are no multiples of them, vectors are moved in parts */
  uint32_t displacement_limit; /* bytes below which an access adds a constant to its address for nothing */
  uint32_t block_bytes;        /* of a vector register, for blocks.h; 0: work-items are too small for blocks */
  bool has_vector_permutations; /* vectors change places with their lanes cheaper than element by element */
  bool packs_words;             /* what a launch computes in 32 bits is half a word of the argument block */
  bool has_lds_at_zero;         /* a workgroup's LDS has addresses from 0 on */
  bool has_plain_atomic_stores; /* a word that is stored atomically, in no order, is stored like any other */
  bool has_32_bit_offsets;      /* addresses are a base and an unsigned 32-bit byte offset */
  bool has_signed_offsets;      /* they are signed, which LLVM 22 does not mind of numbers from 2^31 on, and may be
                                 * scaled by the machine, which it does not mind of numbers that wrap around */
  bool has_cheap_small_product; /* products of 24-bit integers are cheaper than others */
  bool has_extremes;            /* minimum and maximum of f32, which are NaN where an operand is, are instructions */
  bool has_division;            /* a division of f32 is an instruction, or as short to say */
  bool has_fast_doubles;        /* f64, and conversions between it and f32, are as fast as f32 */
  uint32_t float_lanes;         /* f32 that are added and multiplied at once; 0: LLVM takes vectors apart */
  bool has_float_scaling;       /* an instruction multiplies floats by powers of two, and rounds once */
  bool has_kept_loads;          /* loads may ask caches to keep what they load rather than what is stored */
  bool has_float_sums;          /* memory adds an f32 to another, at once with other work-items */
  bool has_bfloat_arithmetic;   /* of bf16, without rounding f32 */
  bool has_bfloat_rounding;     /* an instruction makes bfloat of float */
  bool has_short_sums;          /* an instruction multiplies and adds in f32, and makes f16 of that */
  bool has_bfloat_sums;         /* or bfloat */
  bool takes_sums_for_signs;    /* LLVM 22 takes +0 - x for -x where an instruction negates operands, of x = 0, too */
  bool keeps_nans;              /* NaNs of arithmetic have an operand's bits, or those of the plain quiet one */
  const tj_buffer_resource *resource; /* whose bounds accesses may have for masks; NULL: none */
  bool saturates_float8;              /* write_float8 does */
  tj_floats8 floats8;                 /* which floats of 8 bits read_float8 and write_float8 convert */
} tj_target;

/* Whether what LLVM makes is PTX, of which machine code may still be made. */
static inline bool tj_target_has_ptx(const tj_target *target) {
  return target->object == TJ_OBJECT_PTX || target->object == TJ_OBJECT_CUBIN;
}

/* How many elements of so many bytes the target's widest access moves. */
static inline uint32_t tj_target_widest(const tj_target *target, uint32_t bytes) {
  return bytes < target->vector_bytes ? target->vector_bytes / bytes : 1;
}

/* A family: how its targets are named, and the form of its kernels. */
struct tj_target_family {
  const char *name;
  const char *device_scope; /* of atomic operations that all work-items see, as LLVM calls it; "": of all threads */
  /* Writes a line for each target, features left open: its name, a tab, what it is. */
  void (*list)(tj_text *text);
  /* Whether `text` names a target of this family, right or wrong. */
  bool (*claims)(const char *text);
  /* The target that a claimed text names. TJ5001, TJ5002. */
  tj_target (*parse)(tj_job *job, const char *text);
  /* The name in the object file of a kernel called `name`. */
  const char *(*symbol)(tj_job *job, const char *name);
  /* The register of so many bits, 16 to 64, as constraints of inline assembly have it. */
  const char *(*register_of)(unsigned bits, bool varies);
  /* Whether LLVM selects a kernel's instructions with GlobalISel (llvm/passes.h). NULL: of none. */
  bool (*selects_whole)(const tj_target *target, const struct tj_kernel *kernel, const struct tj_kernel_nodes *nodes);
  /* Emits the kernel's function: entry, index, loop or guard, around what work-items do (lower/steps/steps.h). */
  void (*emit_kernel)(struct tj_emitter *emitter);
  /* The two f32 that codes of a float of 8 bits in the lower or upper half of a word stand for. NULL, as the next
   * one, where no target of the family has such conversions. */
  LLVMValueRef (*read_float8)(struct tj_emitter *emitter, LLVMValueRef word, bool is_upper, tj_dtype dtype);
  /* The word with the codes of two f32 in that half: rounded once, NaN where they are, saturated if
   * saturates_float8; otherwise they are within the form's limits. */
  LLVMValueRef (*write_float8)(struct tj_emitter *emitter, LLVMValueRef word, bool is_upper, LLVMValueRef low,
                               LLVMValueRef high, tj_dtype dtype);
  /* An i32 that is the same for all lanes of a wave, so that LLVM knows that it is: what is loaded from there is
   * loaded once for the wave. NULL where no target of the family has loads for waves. */
  LLVMValueRef (*emit_uniform)(struct tj_emitter *emitter, LLVMValueRef value);
  /* The address in LDS that the first lane of the wave has where a lane's is `address`, and those of others lie
   * `bytes` apart in the order of their numbers. NULL, as the next ones, where nothing goes straight into LDS. */
  LLVMValueRef (*emit_first_of_wave)(struct tj_emitter *emitter, LLVMValueRef address, uint32_t bytes);
  /* Loads as many bytes for each lane, from its address in memory, into LDS: from the wave's `to` on, or to the
   * lane's.
   */
  LLVMValueRef (*emit_direct_load)(struct tj_emitter *emitter, LLVMValueRef from, LLVMValueRef to, uint32_t bytes);
  /* Whether a work-item is to issue the box of a number: boxes are shared out among waves, and all lanes of a wave
   * have one answer where it issues as a whole. NULL, as the next one, where no engine brings boxes. */
  LLVMValueRef (*emit_issues)(struct tj_emitter *emitter, uint32_t number);
  /* Has the engine bring a box as a step's words say, which are 32 bits each: of a buffer at 0, or of the kernel's
   * tensor map. Box 0 is given before the others that a work-item gives. */
  void (*emit_box)(struct tj_emitter *emitter, const struct tj_kernel_step *step, LLVMValueRef word[]);
  /* What the lanes that are `distance` apart hold, each of the other: a power of two below the wave's size. Within
   * `distance` lanes side by side, all hold the same 32 bits. NULL where waves have one work-item. */
  LLVMValueRef (*emit_across)(struct tj_emitter *emitter, LLVMValueRef word, uint32_t distance);
  /* Has LLVM leave instructions on their side of this place. NULL where it takes no order of its own. */
  void (*emit_boundary)(struct tj_emitter *emitter);
  /* What other lanes hold, by one instruction that the target has. NULL where waves have one work-item. */
  LLVMValueRef (*emit_lanes)(struct tj_emitter *emitter, LLVMValueRef word, const tj_lane_step *step);
  /* Has lanes of the first word in which the bit is set change places with those of the second in which it is not.
   * NULL where no target of the family has a row in lane.def for that. */
  void (*emit_swap)(struct tj_emitter *emitter, LLVMValueRef word[2], uint32_t bit);
  /* Loads elements of so many bits from LDS, 8 bytes, as lower/tile/transposed_side.h says. NULL where no target of
   * the family transposes_lds. */
  LLVMValueRef (*emit_transposing_load)(struct tj_emitter *emitter, LLVMValueRef pointer, unsigned bits);
  /* The lower 32 bits of a * b for unsigned or signed 24-bit integers; NULL unless has_cheap_small_product. */
  LLVMValueRef (*emit_small_product)(struct tj_emitter *emitter, LLVMValueRef a, LLVMValueRef b, bool is_signed);
  /* A word of four bytes, the low one first, of those of two words: `b` has bytes 4 to 7. NULL where elements that
   * are smaller than words do not turn around in registers. */
  LLVMValueRef (*emit_bytes)(struct tj_emitter *emitter, LLVMValueRef a, LLVMValueRef b, const uint8_t byte[4]);
  /* The larger of two f32; where one is NaN, the other or NaN. NULL where no target of the family has an instruction
   * for that but those that has_extremes means. */
  LLVMValueRef (*emit_larger)(struct tj_emitter *emitter, LLVMValueRef a, LLVMValueRef b);
  /* So many words, 1, 2 or 4 as a vector, of memory that is only read, which caches are to keep. NULL where no target
   * of the family has_kept_loads. */
  LLVMValueRef (*emit_kept_load)(struct tj_emitter *emitter, LLVMValueRef address, uint32_t words);
  /* The resource of so many bytes, an i32, from an address on; what it has in a place, of a type of words, bytes or
   * 16 bits; and such a value there. NULL where no target of the family has resources. */
  LLVMValueRef (*emit_resource)(struct tj_emitter *emitter, LLVMValueRef address, LLVMValueRef bytes);
  LLVMValueRef (*emit_bounded_load)(struct tj_emitter *emitter, const struct tj_bounded_place *place,
                                    LLVMTypeRef type);
  void (*emit_bounded_store)(struct tj_emitter *emitter, const struct tj_bounded_place *place, LLVMValueRef value,
                             bool is_streamed);
};

/* Work-items of a wave, where code may say that they have the same; 1: it may not. */
static inline uint32_t tj_uniform_lanes(const tj_target *target) {
  return target->family->emit_uniform != NULL ? target->wave_size : 1;
}

/* The target that a text names: `gfx942`, `gfx90a:xnack-:sramecc+`, `host`. TJ5001 for an unknown target, TJ5002 for
 * a feature that is unknown, repeated, or not the processor's. */
const tj_target *tj_target_parse(tj_job *job, const char *text);

/* Every target, as the families list theirs. */
void tj_target_list_all(tj_text *text);

/* The name in the object file of a kernel called `name`: what to look up there. */
const char *tj_target_symbol(tj_job *job, const tj_target *target, const char *name);

#endif

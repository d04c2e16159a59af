/* AMDGPU code objects: what a loader, a simulator and a reader need to know of the ELF file that a GPU runs.
 *
 * tj_code_object_parse takes bytes that nobody vouches for, and either describes them completely or fails with
 * TJ5005 and the reason; whatever it returns has been checked: every slice lies inside the bytes, every kernel has
 * its descriptor and its code. The description borrows the bytes (they must outlive it) and lives in the job's
 * arena; it is never changed afterwards, so threads may share it.
 *
 * Facts of the format are those of LLVM's "User Guide for AMDGPU Backend" and of the ELF specification. */
#ifndef TJ_JIT_CODE_OBJECT_H
#define TJ_JIT_CODE_OBJECT_H

#include "base/bytes.h"
#include "base/job.h"

/* One row of processor.def. */
typedef struct {
  uint32_t mach;    /* EF_AMDGPU_MACH of e_flags */
  const char *name; /* as LLVM calls it: gfx942, gfx11-generic */
  uint8_t major;    /* the generation: 6 … 12 */
  uint8_t minor;
  uint8_t stepping;
} tj_processor;

/* A target feature that a code object may require to be on or off, or leave open. */
typedef enum { TJ_FEATURE_UNSUPPORTED, TJ_FEATURE_ANY, TJ_FEATURE_OFF, TJ_FEATURE_ON } tj_feature;

/* A loadable segment: `bytes` go to `address`, zeros follow up to memory_size. Addresses count from the load base. */
typedef struct {
  uint64_t address;
  uint64_t memory_size;
  uint64_t alignment; /* a power of two */
  tj_bytes bytes;     /* bytes.size <= memory_size */
  bool is_readable, is_writable, is_executable;
} tj_segment;

typedef enum { TJ_SYMBOL_OTHER, TJ_SYMBOL_FUNCTION, TJ_SYMBOL_OBJECT } tj_symbol_kind;

/* A defined symbol. Its address and size need not lie in a segment. */
typedef struct {
  const char *name;
  uint64_t address;
  uint64_t size;
  tj_symbol_kind kind;
  bool is_global;
} tj_symbol;

/* A dynamic relocation, for loaders. `symbol` is NULL when it refers to none, or to one without definition. */
typedef struct {
  uint64_t address;
  uint32_t type; /* R_AMDGPU_… */
  const tj_symbol *symbol;
  int64_t addend;
} tj_relocation;

/* The 64-byte kernel descriptor: the raw words, and what they say on this code object's processor. */
typedef struct {
  uint32_t group_segment_bytes;   /* fixed LDS of a workgroup */
  uint32_t private_segment_bytes; /* fixed scratch of a work-item */
  uint32_t kernarg_bytes;
  int64_t entry_offset; /* from the descriptor to the code */
  uint32_t rsrc1, rsrc2, rsrc3;
  uint16_t properties;
  uint16_t kernarg_preload;

  uint32_t wave_size;              /* 32 or 64 */
  uint32_t vgprs;                  /* allocated to a wave, AGPRs included; in units of the processor's granule */
  uint32_t accum_offset;           /* gfx90a, gfx94x, gfx950: the first AGPR among them; otherwise 0 */
  uint32_t sgprs;                  /* allocated to a wave, VCC and the like included; gfx10 and later: always 128 */
  uint32_t user_sgprs;             /* user data registers that are set up before the wave starts */
  uint32_t workitem_id_dimensions; /* 1 … 3: VGPRs set up with work-item ids */
  uint32_t float_round_32, float_round_16_64, float_denorm_32, float_denorm_16_64; /* 2 bits each, as MODE has them */
  uint32_t kernarg_preload_length, kernarg_preload_offset;                         /* in dwords */

  bool has_workgroup_id[3], has_workgroup_info;
  bool has_private_segment; /* scratch set up; its wave offset in an SGPR before gfx11 (and gfx94x) */
  bool has_private_segment_buffer, has_dispatch_pointer, has_queue_pointer, has_kernarg_pointer, has_dispatch_id;
  bool has_flat_scratch_init, has_private_segment_size, uses_dynamic_stack;
  bool dx10_clamp, ieee_mode, fp16_overflow;
  bool is_workgroup_processor_mode, is_memory_ordered, has_forward_progress; /* gfx10 and later */
  bool is_threadgroup_split;                                                 /* gfx90a, gfx94x, gfx950 */
} tj_kernel_descriptor;

/* An argument, as the metadata says. Strings are "" where the metadata has none. */
typedef struct {
  const char *name;
  uint32_t offset;
  uint32_t size;
  const char *value_kind;    /* by_value, global_buffer, hidden_block_count_x … */
  const char *address_space; /* global, local, … */
  bool is_hidden;            /* set up by the dispatcher, not by the kernel's caller */
} tj_kernel_argument;

/* A kernel in the metadata note. */
typedef struct {
  const char *name;
  const char *symbol; /* of the descriptor: name.kd */
  uint32_t kernarg_bytes, kernarg_alignment;
  uint32_t group_segment_bytes, private_segment_bytes;
  uint32_t sgprs, vgprs, agprs; /* used, not allocated */
  uint32_t sgpr_spills, vgpr_spills;
  uint32_t wave_size;
  uint32_t max_flat_workgroup_size;
  uint32_t required_workgroup_size[3]; /* 0: not required */
  bool uses_dynamic_stack;
  const tj_kernel_argument *argument;
  uint32_t argument_count;
} tj_kernel_metadata;

/* A kernel: a function, its descriptor, its metadata. */
typedef struct {
  const char *name;
  uint64_t descriptor_address;
  uint64_t entry_address;
  tj_bytes code; /* from the entry on: the function symbol's size, or to the end of the segment without one */
  tj_kernel_descriptor descriptor;
  const tj_kernel_metadata *metadata; /* NULL: the note does not speak of it */
} tj_kernel_code;

typedef struct {
  tj_bytes bytes;
  const tj_processor *processor;
  tj_feature xnack, sramecc;
  uint32_t generic_version;     /* of a …-generic processor; 0 otherwise */
  uint32_t code_object_version; /* 2 … 6 */
  const char *target_id;        /* gfx90a:sramecc+:xnack- */
  const char *metadata_target;  /* amdhsa.target of the metadata; "" without one */
  const tj_segment *segment;
  uint32_t segment_count;
  const tj_symbol *symbol; /* in the file's order */
  uint32_t symbol_count;
  const tj_relocation *relocation;
  uint32_t relocation_count;
  const tj_kernel_code *kernel; /* in the order of their addresses */
  uint32_t kernel_count;
} tj_code_object;

/* Describes a code object (a shared object for amdgcn-amd-amdhsa), or fails with TJ5005. */
const tj_code_object *tj_code_object_parse(tj_job *job, tj_bytes bytes);

/* The kernel of that name, or NULL. */
const tj_kernel_code *tj_code_object_kernel(const tj_code_object *object, const char *name);

/* The symbol of that name, or NULL. */
const tj_symbol *tj_code_object_symbol(const tj_code_object *object, const char *name);

/* The file's bytes at `address`, up to the end of what the segment there holds in the file; empty when nothing is. */
tj_bytes tj_code_object_at(const tj_code_object *object, uint64_t address);

/* Checks what the compiler has just made: the kernel is there with descriptor and metadata, which agree with each
 * other, its argument block has kernarg_bytes, and none of its arguments is hidden. Fails with TJ5003. */
void tj_code_object_check(tj_job *job, const tj_code_object *object, const char *kernel, uint32_t kernarg_bytes);

/* The processor with that EF_AMDGPU_MACH, or that name; NULL when there is none. */
const tj_processor *tj_processor_by_mach(uint32_t mach);
const tj_processor *tj_processor_by_name(const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/* Decoded instructions: what a wave executes, without any text to look at.
 *
 * An instruction is an operation (a row of a table) and its operands, in the order of LLVM's assembly text. Decoding
 * checks everything that execution relies on: register numbers and widths, the number of operands, modifiers that
 * the operation does not support. Instructions are immutable and shared by all waves. */
#ifndef TJ_RT_SIM_INSTRUCTION_H
#define TJ_RT_SIM_INSTRUCTION_H

#include "rt/sim/machine/arithmetic.h"

#include <stddef.h>

typedef struct tj_sim_wave tj_sim_wave;
typedef struct tj_sim_instruction tj_sim_instruction;

/* Scalar registers by number: s0 to s105, then what follows. */
enum {
  TJ_SIM_VCC = 106,
  TJ_SIM_TTMP = 108,
  TJ_SIM_M0 = 124,
  TJ_SIM_NULL = 125,
  TJ_SIM_EXEC = 126,
  TJ_SIM_FLAT_SCRATCH = 128,
  TJ_SIM_XNACK_MASK = 130,
  TJ_SIM_SCC = 132,
  TJ_SIM_VCCZ = 133,
  TJ_SIM_EXECZ = 134,
  TJ_SIM_SHARED_BASE = 136,
  TJ_SIM_SHARED_LIMIT = 138,
  TJ_SIM_PRIVATE_BASE = 140,
  TJ_SIM_PRIVATE_LIMIT = 142,
  TJ_SIM_SCALARS = 144 + 16 /* so that operands of up to 16 registers stay inside */
};

enum { TJ_SIM_LANES = 64, TJ_SIM_OPERANDS = 6 };

typedef enum {
  TJ_SIM_ABSENT, /* "off", and operands that are not there */
  TJ_SIM_CONSTANT,
  TJ_SIM_SCALAR,
  TJ_SIM_VECTOR,
  TJ_SIM_ACCUMULATOR
} tj_sim_place;

/* Which bytes of a register an operand is, and how they are widened. */
typedef enum { TJ_SIM_WHOLE, TJ_SIM_LOW_HALF, TJ_SIM_HIGH_HALF, TJ_SIM_BYTE_0 } tj_sim_part; /* BYTE_0 + n: byte n */

/* Vector registers beyond 255 have no numbers in encodings: an instruction says two bits of them for each of four
 * operands of those that follow it. Which bits an operand has, by the field of its encoding; others are in bank 0. */
enum {
  TJ_SIM_BANK_SOURCE_0 = 0, /* or an address */
  TJ_SIM_BANK_SOURCE_1 = 2, /* or data */
  TJ_SIM_BANK_SOURCE_2 = 4, /* or the other data */
  TJ_SIM_BANK_DESTINATION = 6,
  TJ_SIM_BANK_FIRST = 8,
  TJ_SIM_BANK_REGISTERS = 256
};

typedef struct {
  uint8_t place;
  uint8_t width;  /* in registers */
  uint8_t part;   /* tj_sim_part: halves (v0.h), and what an SDWA instruction selects */
  uint16_t index; /* the first register; of a vector register, within its bank */
  uint8_t bank;   /* where a wave's banks say the operand's (wave.h) */
  bool negate, absolute, extend;
  bool is_float;   /* a constant with a decimal point, whose bits the operand's type decides */
  bool is_literal; /* a constant in hexadecimal: 32 bits of the encoding */
  uint64_t constant;
  double number;
} tj_sim_operand;

/* One lane of a vector instruction: raw bits in, raw bits out. */
typedef struct {
  uint64_t source[3];
  uint64_t result; /* before: what the destination held */
  uint32_t table;  /* of bitop3 */
  bool is_fnuz;    /* floats of 8 bits are FNUZ's */
  bool carry;      /* the lane's bit of the mask that is read */
  bool flag;       /* the lane's bit of the mask that is written */
} tj_sim_lane;

/* A scalar instruction: raw bits in, raw bits out. */
typedef struct {
  uint64_t source[3];
  uint64_t result;
  uint64_t exec;
  bool scc;
} tj_sim_scalar;

/* Classes that are counted. */
typedef enum {
  TJ_SIM_CLASS_VALU,
  TJ_SIM_CLASS_SALU,
  TJ_SIM_CLASS_VMEM,
  TJ_SIM_CLASS_SMEM,
  TJ_SIM_CLASS_LDS,
  TJ_SIM_CLASS_BRANCH,
  TJ_SIM_CLASS_CONTROL,
  TJ_SIM_CLASS_COUNT
} tj_sim_class;

/* Which operands an instruction's text has, in order. */
typedef enum {
  TJ_SIM_FORM_VECTOR,       /* destination, sources */
  TJ_SIM_FORM_FUSED,        /* the same; 16-bit results never touch the other half */
  TJ_SIM_FORM_ACCUMULATE,   /* the same; the destination is a source too */
  TJ_SIM_FORM_PACKED,       /* the same, for each of two elements */
  TJ_SIM_FORM_MIXED,        /* the same; each source is a float of 32 or 16 bits */
  TJ_SIM_FORM_MIXED_HIGH,   /* the same; the result goes to the high half */
  TJ_SIM_FORM_CARRY_OUT,    /* destination, mask written, sources */
  TJ_SIM_FORM_CARRY,        /* destination, mask written, sources, mask read */
  TJ_SIM_FORM_SELECT,       /* destination, sources, mask read, which is VCC where the text does not say */
  TJ_SIM_FORM_COMPARE,      /* mask written, sources */
  TJ_SIM_FORM_COMPARE_EXEC, /* the same, and exec; the mask is left out from gfx10 on */
  TJ_SIM_FORM_RESULT,       /* scalar destination, sources */
  TJ_SIM_FORM_UPDATE,       /* the same; the destination is a source too */
  TJ_SIM_FORM_TEST,         /* scalar sources */
  TJ_SIM_FORM_OTHER,        /* the executing function knows */
  TJ_SIM_FORM_IGNORED       /* operands that do not matter here */
} tj_sim_form;

/* What a memory instruction does with the bytes of one lane. */
typedef enum {
  TJ_SIM_LOAD,
  TJ_SIM_LOAD_SIGNED, /* sign-extended to 32 bits */
  TJ_SIM_LOAD_LOW,    /* into the low half, zero-extended to 16 bits; the other half is kept */
  TJ_SIM_LOAD_LOW_SIGNED,
  TJ_SIM_LOAD_HIGH,
  TJ_SIM_LOAD_HIGH_SIGNED,
  TJ_SIM_STORE,
  TJ_SIM_STORE_HIGH, /* from the high half */
  TJ_SIM_ATOMIC,
  TJ_SIM_DIRECT /* into LDS, from memory */
} tj_sim_transfer;

typedef uint64_t (*tj_sim_combine)(uint64_t old, uint64_t operand, uint64_t compare);

/* A row of a table. */
typedef struct {
  const char *name;
  void (*execute)(tj_sim_wave *wave, const tj_sim_instruction *instruction);
  uint8_t class;
  uint8_t form;
  uint8_t type[4]; /* tj_sim_type: of the result, of the sources */
  union {
    void (*lane)(tj_sim_lane *lane);
    void (*scalar)(tj_sim_scalar *scalar);
    tj_sim_combine combine;
    unsigned (*owner)(unsigned lane, unsigned element); /* of loads that transpose: who loads what a lane then has */
    const struct tj_sim_matrix *matrix;
  };
  uint8_t transfer;       /* tj_sim_transfer */
  uint8_t bytes;          /* that one lane moves by one address */
  uint8_t least_operands; /* that the text must have */
  uint8_t step; /* LDS instructions of two addresses: the unit of their offsets; LDS's compare-and-swap: which of its
                 * data operands, 1 or 2, is compared */
} tj_sim_operation;

/* What an SDWA instruction makes of the bytes of its destination that it does not select. */
enum { TJ_SIM_UNUSED_ZERO, TJ_SIM_UNUSED_SIGN, TJ_SIM_UNUSED_KEPT };

/* DPP: how lanes of source 0 are exchanged. */
typedef struct {
  bool fills_with_zero;  /* lanes without a source read zero, and are written */
  bool fetches_inactive; /* lanes that exec has switched off are sources all the same */
  uint8_t row_mask, bank_mask;
  int8_t from[TJ_SIM_LANES]; /* the lane that each lane reads; -1: there is none */
} tj_sim_exchange;

/* What an instruction does to its operands: sets of them, by their numbers. */
typedef struct {
  uint8_t overwritten;        /* whole registers are written, and not read before */
  uint8_t partly_overwritten; /* one half is, and the other kept */
  uint8_t stored;             /* is stored to memory */
  bool moves_memory;          /* to or from memory or LDS */
  bool crosses_lanes;         /* looks at registers of lanes that exec has switched off */
  bool reads_vcc;             /* without naming it */
} tj_sim_effects;

struct tj_sim_instruction {
  const tj_sim_operation *operation; /* NULL: `problem` says why it cannot be executed */
  const char *problem;
  const char *text; /* LLVM's */
  uint64_t address; /* where it is, in memory */
  uint32_t bytes;   /* of its encoding */
  uint32_t target;  /* of a branch: the index of the instruction there; UINT32_MAX: none */
  uint8_t operand_count;
  uint8_t first_source; /* the operand that is source 0 */
  uint8_t source_count;
  int8_t destination, mask_out, mask_in; /* operands; -1: none */
  tj_sim_effects effects;
  tj_sim_operand operand[TJ_SIM_OPERANDS];
  int64_t offset;
  uint32_t offset0, offset1; /* LDS instructions of two addresses */
  uint8_t op_sel, op_sel_hi; /* bit i: of source i; bit 3 of op_sel: of the destination */
  uint8_t neg_lo, neg_hi;
  uint8_t scale; /* the result is multiplied by 2 or 4, or halved (3) */
  bool has_clamp, has_index, has_offset, returns_old, goes_to_lds;
  bool scales_offset;     /* the register of the offset counts units of what a lane moves */
  bool has_plain_sources; /* no modifiers: what the registers hold is what is computed with */
  bool is_sdwa;
  uint8_t destination_part, source_part[2], unused; /* of SDWA */
  uint8_t
      op_sel_count; /* how many bits the text gives; one more than there are sources: the last is the destination's */
  bool has_op_sel_hi;
  uint32_t table;
  uint8_t matrix_a, matrix_block, matrix_b; /* cbsz, abid, blgp; of WMMA matrix_a_fmt, index_key, matrix_b_fmt */
  uint8_t upper_scales;                     /* bit i: scales of source i are the upper half of a wave's */
  uint8_t wait[5];                 /* of a wait: how many loads of each counter may stay in flight (waits.h) */
  const tj_sim_exchange *exchange; /* DPP; NULL: none */
  const tj_sim_instruction *pair;  /* the second half of a dual-issue instruction */
};

/* Whether an atomic instruction returns what was there: by a modifier, or in LDS by having an operand more. */
static inline bool tj_sim_returns_old(const tj_sim_instruction *instruction) {
  const tj_sim_operation *operation = instruction->operation;
  unsigned least = operation->step != 0 ? 3 : 2;
  return operation->class == TJ_SIM_CLASS_LDS ? instruction->operand_count > least : instruction->returns_old;
}

static inline bool tj_sim_is_store(const tj_sim_operation *operation) {
  return operation->transfer == TJ_SIM_STORE || operation->transfer == TJ_SIM_STORE_HIGH;
}

/* Whether a memory instruction writes registers. */
static inline bool tj_sim_has_result(const tj_sim_instruction *instruction) {
  const tj_sim_operation *operation = instruction->operation;
  if (operation->transfer == TJ_SIM_ATOMIC)
    return tj_sim_returns_old(instruction);
  return operation->transfer != TJ_SIM_DIRECT && !tj_sim_is_store(operation);
}

/* A kernel's instructions, in the order of their addresses. */
typedef struct {
  const tj_sim_instruction *instruction;
  uint32_t count;
  uint64_t address, size; /* of the code, in memory */
  const uint32_t *index;  /* of the instruction at each word of the code; UINT32_MAX: none begins there */
} tj_sim_program;

#endif

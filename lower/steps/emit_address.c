/* SPDX-License-Identifier: MIT */
/* Where accesses are: the base that a workgroup shares, an offset, and what accesses that begin at one place are
 * displaced by. Base and offset are emitted once for all of them, the displacement is a constant of each, which
 * machines add for nothing. */
#include "lower/steps/steps.h"

#include "ir/index/linear.h"

/* Bases and origins emitted so far, in a list for each offset. */
struct tj_origin {
  uint32_t buffer;
  const tj_node *base, *offset; /* offset NULL: of the base itself */
  LLVMValueRef address;
  struct tj_origin *next;
};

/* An offset in bytes, as an i32; NULL: not emitted. */
struct tj_scaled {
  LLVMValueRef value;
  uint32_t bytes;          /* of an element */
  LLVMValueRef extended;   /* the value as an i64; NULL: not emitted */
  LLVMBasicBlockRef block; /* where that is */
  LLVMValueRef opaque;     /* the value, for what differs from it by constants; NULL: not emitted */
};

tj_dtype tj_emit_access_dtype(const tj_emitter *emitter, const tj_access *access) {
  const tj_kernel *kernel = emitter->kernel;
  return access->buffer == TJ_LDS ? kernel->carried : kernel->buffer[access->buffer].dtype;
}

static LLVMTypeRef element_type(tj_emitter *emitter, const tj_access *access) {
  return tj_emit_dtype(emitter, tj_dtype_raw(tj_emit_access_dtype(emitter, access)));
}

/* On the way to an element, and inside its buffer all along unless the base may be before it, where elements there
 * are not valid. */
static LLVMValueRef moved(tj_emitter *emitter, const tj_access *access, LLVMTypeRef type, LLVMValueRef address,
                          LLVMValueRef distance) {
  bool may_leave = access->base != NULL && access->base->facts.low < 0;
  return may_leave ? LLVMBuildGEP2(emitter->builder, type, address, &distance, 1, "")
                   : LLVMBuildInBoundsGEP2(emitter->builder, type, address, &distance, 1, "");
}

/* --- offsets --- */

static bool fits_32_bits(const tj_node *offset, uint32_t bytes) {
  return offset->facts.low >= 0 && offset->facts.high <= (int64_t)(UINT32_MAX / bytes);
}

/* Terms of a sum, as far as there is room to take sums among them apart. */
enum { MOST_TERMS = 16 };
typedef struct {
  const tj_node *term[MOST_TERMS];
  uint32_t count;
} terms;

static terms terms_of(const tj_node *sum) {
  terms all = {.term = {sum}, .count = 1};
  for (uint32_t i = 0; i < all.count; i++) {
    while (all.term[i]->op == TJ_OP_ADD && all.count < MOST_TERMS) {
      all.term[all.count++] = all.term[i]->arg[1];
      all.term[i] = all.term[i]->arg[0];
    }
  }
  return all;
}

static bool has_shifted_product(const tj_emitter *emitter, const terms *all, unsigned log) {
  uint32_t i = 0;
  while (i < all->count && !tj_emits_shifted_product(emitter, all->term[i], log))
    i++;
  return i < all->count;
}

static LLVMValueRef plus(tj_emitter *emitter, LLVMValueRef sum, LLVMValueRef term) {
  return sum == NULL ? term : LLVMBuildAdd(emitter->builder, sum, term, "");
}

/* A sum, of which products by what the workgroup has take as many bytes of it: they add what there is so far, which
 * leaves nothing to be shifted. LLVM would rather add three numbers at once, which takes an instruction more, unless
 * it is kept from it. NULL: there are none. */
static LLVMValueRef sum_of_products(tj_emitter *emitter, const tj_node *node, unsigned log) {
  const terms all = terms_of(node);
  if (!has_shifted_product(emitter, &all, log))
    return NULL;
  LLVMValueRef product[MOST_TERMS], sum = NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; i < all.count; i++) {
    product[count] = tj_emit_shifted_product(emitter, all.term[i], log);
    if (product[count] != NULL)
      count++;
    else
      sum = plus(emitter, sum, tj_emit_operand(emitter, all.term[i], (tj_width){32, true, false}));
  }
  if (sum != NULL)
    sum = LLVMBuildShl(emitter->builder, sum, LLVMConstInt(emitter->i32, log, false), "");
  for (uint32_t i = 0; i < count; i++)
    sum = plus(emitter, i > 0 ? tj_emit_hidden(emitter, sum, TJ_DTYPE_u32) : sum, product[i]);
  return sum;
}

static LLVMValueRef shifted_offset(tj_emitter *emitter, const tj_node *node, uint32_t bytes) {
  LLVMValueRef products = sum_of_products(emitter, node, (unsigned)__builtin_ctz(bytes));
  if (products != NULL)
    return products;
  LLVMValueRef log = LLVMConstInt(emitter->i32, (unsigned)__builtin_ctz(bytes), false);
  LLVMValueRef scaled =
      LLVMBuildShl(emitter->builder, tj_emit_operand(emitter, node, tj_width_of(&node, 1)), log, "");
  tj_emit_no_wrap(scaled, (tj_width){32, false, true});
  return scaled;
}

/* The value is the first argument's but for a constant, and both fit. */
static bool is_changed_by_constant(const tj_node *node, uint32_t bytes) {
  return (node->op == TJ_OP_XOR || node->op == TJ_OP_ADD) && tj_is_constant(node->arg[1]) &&
         node->arg[1]->value >= 0 && fits_32_bits(node->arg[0], bytes);
}

static LLVMValueRef scaled_offset(tj_emitter *emitter, const tj_node *node, uint32_t bytes);

/* What several offsets differ from by constants, once for all of them. LLVM's optimizer would look at all that it is
 * made of for each; and where it found that no sum reaches 2^31, it would add the constants to addresses of 64 bits,
 * which takes three instructions where one adds them to the offset. */
static LLVMValueRef opaque_offset(tj_emitter *emitter, const tj_node *node, uint32_t bytes) {
  uint32_t position = tj_kernel_nodes_find(&emitter->nodes, node);
  if (position == TJ_NO_POSITION || !emitter->target->has_32_bit_offsets)
    return shifted_offset(emitter, node, bytes);
  LLVMValueRef offset = scaled_offset(emitter, node, bytes);
  struct tj_scaled *scaled = &emitter->steps->scaled[position];
  if (scaled->opaque == NULL)
    scaled->opaque = tj_emit_opaque(emitter, offset);
  return scaled->opaque;
}

/* The offset of so many elements behind a node's, which fits. */
static LLVMValueRef offset_behind(tj_emitter *emitter, const tj_node *node, int64_t elements, uint32_t bytes) {
  LLVMValueRef distance = LLVMConstInt(emitter->i32, (uint64_t)elements * bytes, false);
  LLVMValueRef sum = LLVMBuildAdd(emitter->builder, opaque_offset(emitter, node, bytes), distance, "");
  tj_emit_no_wrap(sum, (tj_width){32, false, true});
  return sum;
}

static LLVMValueRef changed_offset(tj_emitter *emitter, const tj_node *node, uint32_t bytes) {
  const int64_t constant = node->arg[1]->value;
  if (node->op != TJ_OP_XOR)
    return offset_behind(emitter, node->arg[0], constant, bytes);
  LLVMValueRef bits = LLVMConstInt(emitter->i32, (uint64_t)constant * bytes, false);
  return LLVMBuildXor(emitter->builder, scaled_offset(emitter, node->arg[0], bytes), bits, "");
}

/* An offset in bytes, in 32 bits. What several offsets have in common that differ in some bits, or by constants, is
 * scaled once. */
static LLVMValueRef scaled_offset(tj_emitter *emitter, const tj_node *node, uint32_t bytes) {
  uint32_t position = tj_kernel_nodes_find(&emitter->nodes, node);
  if (position == TJ_NO_POSITION)
    return shifted_offset(emitter, node, bytes);
  struct tj_scaled *scaled = &emitter->steps->scaled[position];
  if (scaled->value == NULL || scaled->bytes != bytes)
    *scaled = (struct tj_scaled){.value = is_changed_by_constant(node, bytes) ? changed_offset(emitter, node, bytes)
                                                                              : shifted_offset(emitter, node, bytes),
                                 .bytes = bytes};
  return scaled->value;
}

/* An offset of up to so many elements, an i32 in bytes, as an i64: where machines take offsets for signed, LLVM is
 * told which are not negative as such. */
static LLVMValueRef extended(tj_emitter *emitter, LLVMValueRef offset, int64_t elements, uint32_t bytes) {
  LLVMValueRef number = tj_emit_extended(emitter, offset, emitter->i64);
  if (emitter->target->has_signed_offsets && elements <= INT32_MAX / (int64_t)bytes &&
      LLVMIsAInstruction(number) != NULL)
    LLVMSetNNeg(number, true);
  return number;
}

/* The same in 64 bits, once for all that is emitted in a block. */
static LLVMValueRef extended_offset(tj_emitter *emitter, const tj_node *node, uint32_t bytes) {
  LLVMValueRef offset = scaled_offset(emitter, node, bytes);
  uint32_t position = tj_kernel_nodes_find(&emitter->nodes, node);
  if (position == TJ_NO_POSITION)
    return extended(emitter, offset, node->facts.high, bytes);
  struct tj_scaled *scaled = &emitter->steps->scaled[position];
  LLVMBasicBlockRef block = LLVMGetInsertBlock(emitter->builder);
  if (scaled->extended == NULL || scaled->block != block)
    scaled->extended = extended(emitter, offset, node->facts.high, bytes);
  scaled->block = block;
  return scaled->extended;
}

/* --- origins --- */

/* The part of an address that the whole workgroup shares: it costs each work-item nothing. */
static LLVMValueRef emit_base(tj_emitter *emitter, const tj_access *access) {
  if (access->buffer == TJ_LDS)
    return emitter->steps->lds;
  LLVMValueRef buffer = emitter->steps->buffer[access->buffer];
  if (access->base == NULL || tj_is_int(access->base, 0))
    return buffer;
  LLVMValueRef base = tj_emit_operand(emitter, access->base, (tj_width){64, true, access->base->facts.low >= 0});
  return moved(emitter, access, element_type(emitter, access), buffer, base);
}

static bool begins_at_zero(const tj_emitter *emitter, const tj_access *access) {
  return access->buffer == TJ_LDS && emitter->steps->lds == NULL;
}

/* Of LDS that begins at 0, an offset is the address: of pointers into an array, LLVM would compare each with each
 * other by all that is known of their bits, and find out nothing that machines gain from. */
static LLVMValueRef lds_address(tj_emitter *emitter, const tj_access *access) {
  LLVMTypeRef pointer = LLVMPointerTypeInContext(emitter->context, TJ_LOCAL_ADDRESS_SPACE);
  return LLVMBuildIntToPtr(emitter->builder, tj_emit_byte_offset(emitter, access), pointer, "");
}

/* An offset in elements that is added as it is. */
static LLVMValueRef moved_by_elements(tj_emitter *emitter, const tj_access *access, LLVMValueRef base,
                                      tj_width width) {
  LLVMValueRef offset = tj_emit_operand(emitter, access->offset, width);
  if (access->buffer != TJ_LDS && width.is_unsigned)
    offset = tj_emit_extended(emitter, offset, emitter->i64);
  return moved(emitter, access, element_type(emitter, access), base, offset);
}

/* Whether it is of a wave, which loads the element once, and not of the workgroup, which LLVM sees by itself. */
static bool is_of_wave(const tj_emitter *emitter, const tj_access *access) {
  return emitter->target->family->emit_uniform != NULL && !emitter->kernel->buffer[access->buffer].is_written &&
         tj_kernel_nodes_find(&emitter->nodes, access->offset) != TJ_NO_POSITION &&
         tj_kernel_nodes_level(&emitter->nodes, access->offset) > TJ_LEVEL_WORKGROUP &&
         tj_kernel_nodes_is_scalar_load(&emitter->nodes, access->offset, access->valid);
}

/* LLVM takes the branch away where it leads around few instructions that it thinks nobody minds, such as those of
 * scalars; of assembly, it does not know. */
void tj_emit_keep_branch(tj_emitter *emitter, const tj_kernel_step step[], uint32_t count) {
  if (emitter->target->family->emit_uniform == NULL ||
      !tj_kernel_nodes_have_masked_scalars(&emitter->nodes, step, count))
    return;
  LLVMTypeRef type = LLVMFunctionType(emitter->nothing, NULL, 0, false);
  LLVMValueRef nothing = LLVMGetInlineAsm(type, "", 0, "", 0, true, false, LLVMInlineAsmDialectATT, false);
  LLVMBuildCall2(emitter->builder, type, nothing, NULL, 0, "");
}

static LLVMValueRef uniform_offset(tj_emitter *emitter, const tj_node *node, uint32_t bytes) {
  LLVMValueRef offset = emitter->target->family->emit_uniform(emitter, scaled_offset(emitter, node, bytes));
  return extended(emitter, offset, node->facts.high, bytes);
}

/* Where the byte offset fits in 32 bits, it is computed there: machines add it to a base for nothing. Each block
 * extends it anew, and each origin adds all of its base at once: LLVM selects instructions block by block, and takes
 * more of them where it does not see what has been extended, or added, in another one. */
static LLVMValueRef emit_origin(tj_emitter *emitter, const tj_access *access, LLVMValueRef base) {
  const tj_node *node = access->offset;
  bool is_lds = access->buffer == TJ_LDS, has_32_bits = emitter->target->has_32_bit_offsets;
  uint32_t bytes = tj_dtype_bits(tj_emit_access_dtype(emitter, access)) / 8;
  if (!fits_32_bits(node, bytes))
    return moved_by_elements(emitter, access, base, (tj_width){64, true, node->facts.low >= 0});
  if (!is_lds && !has_32_bits)
    return moved_by_elements(emitter, access, base, tj_width_of(&node, 1));
  LLVMValueRef offset = is_lds                        ? scaled_offset(emitter, node, bytes)
                        : is_of_wave(emitter, access) ? uniform_offset(emitter, node, bytes)
                                                      : extended_offset(emitter, node, bytes);
  return moved(emitter, access, emitter->i8, base, offset);
}

/* --- what has been emitted --- */

/* The list of an offset's origins; constants, and bases, have one together. */
static struct tj_origin **list_of(const tj_emitter *emitter, const tj_node *offset) {
  uint32_t position = offset != NULL ? tj_kernel_nodes_find(&emitter->nodes, offset) : TJ_NO_POSITION;
  return &emitter->steps->origin[position != TJ_NO_POSITION ? position : emitter->nodes.walk.count];
}

static LLVMValueRef find(const tj_emitter *emitter, const tj_access *access, const tj_node *offset) {
  for (const struct tj_origin *each = *list_of(emitter, offset); each != NULL; each = each->next) {
    if (each->buffer == access->buffer && each->base == access->base && each->offset == offset)
      return each->address;
  }
  return NULL;
}

static LLVMValueRef keep(tj_emitter *emitter, const tj_access *access, const tj_node *offset, LLVMValueRef address) {
  struct tj_origin **list = list_of(emitter, offset), *kept = TJ_NEW(emitter->job, struct tj_origin);
  *kept = (struct tj_origin){access->buffer, access->base, offset, address, *list};
  *list = kept;
  return address;
}

/* --- constants of bases --- */

/* Of the part of an address that the workgroup shares, a constant that it ends with is better added to the
 * work-item's offset, if that still fits in 32 bits: one instruction, where addresses take several. */
static int64_t moved_constant(const tj_emitter *emitter, const tj_access *access) {
  if (access->base == NULL || access->buffer == TJ_LDS || !emitter->target->has_32_bit_offsets ||
      tj_kernel_nodes_find(&emitter->nodes, access->offset) == TJ_NO_POSITION || is_of_wave(emitter, access))
    return 0;
  const int64_t constant = tj_part_sum(access->base).constant;
  const int64_t most = UINT32_MAX / tj_element_bytes(emitter->kernel, access->buffer);
  bool fits = constant > 0 && constant <= most && access->offset->facts.low >= 0 &&
              access->offset->facts.high <= most - constant;
  return fits ? constant : 0;
}

void tj_emit_forget_origins(tj_emitter *emitter) {
  uint32_t count = emitter->nodes.walk.count;
  emitter->steps->origin = TJ_NEW_ARRAY(emitter->job, struct tj_origin *, count + 1);
  emitter->steps->scaled = TJ_NEW_ARRAY(emitter->job, struct tj_scaled, count + 1);
  emitter->steps->bounded = NULL;
}

static LLVMValueRef base_of(tj_emitter *emitter, const tj_access *access) {
  LLVMValueRef base = find(emitter, access, NULL);
  return base != NULL ? base : keep(emitter, access, NULL, emit_base(emitter, access));
}

LLVMValueRef tj_emit_base(tj_emitter *emitter, const tj_access *access) {
  LLVMValueRef buffer = emitter->steps->buffer[access->buffer];
  if (access->base == NULL || tj_is_int(access->base, 0))
    return buffer;
  unsigned log = (unsigned)__builtin_ctz(tj_element_bytes(emitter->kernel, access->buffer));
  LLVMValueRef base = tj_emit_operand(emitter, access->base, (tj_width){64, true, access->base->facts.low >= 0});
  base = LLVMBuildShl(emitter->builder, base, LLVMConstInt(emitter->i64, log, false), "");
  return moved(emitter, access, emitter->i8, buffer, base);
}

LLVMValueRef tj_emit_byte_offset(tj_emitter *emitter, const tj_access *access) {
  uint32_t bytes = tj_element_bytes(emitter->kernel, access->buffer);
  if (fits_32_bits(access->offset, bytes))
    return scaled_offset(emitter, access->offset, bytes);
  LLVMValueRef log = LLVMConstInt(emitter->i32, (unsigned)__builtin_ctz(bytes), false);
  return LLVMBuildShl(emitter->builder, tj_emit_operand(emitter, access->offset, (tj_width){32, true, false}), log,
                      "");
}

static LLVMValueRef emit_place(tj_emitter *emitter, const tj_access *access) {
  if (begins_at_zero(emitter, access))
    return lds_address(emitter, access);
  int64_t constant = moved_constant(emitter, access);
  if (constant == 0)
    return emit_origin(emitter, access, base_of(emitter, access));
  const uint32_t bytes = tj_element_bytes(emitter->kernel, access->buffer);
  tj_access without = *access;
  without.base = tj_part_sum(access->base).rest;
  LLVMValueRef offset = offset_behind(emitter, access->offset, constant, bytes);
  return moved(emitter, &without, emitter->i8, base_of(emitter, &without),
               extended(emitter, offset, access->offset->facts.high + constant, bytes));
}

LLVMValueRef tj_emit_origin(tj_emitter *emitter, const tj_access *access) {
  LLVMValueRef address = find(emitter, access, access->offset);
  if (address != NULL)
    return address;
  return keep(emitter, access, access->offset, emit_place(emitter, access));
}

LLVMValueRef tj_emit_address(tj_emitter *emitter, const tj_access *access) {
  LLVMValueRef origin = tj_emit_origin(emitter, access);
  if (access->displacement == 0)
    return origin;
  LLVMTypeRef index = access->buffer == TJ_LDS ? emitter->i32 : emitter->i64;
  LLVMValueRef distance = LLVMConstInt(index, (uint64_t)access->displacement, false);
  return moved(emitter, access, element_type(emitter, access), origin, distance);
}

/* SPDX-License-Identifier: MIT */
/* Accesses whose mask the bounds of a resource are: no branch is around them. Where one is not valid, its offset is
 * beyond the resource, which begins at the access's base and is as long as resources are here, or as a comparison of
 * the offset says that is its mask; the bytes of what is valid are all within it (lower/access/bounded.h). A resource
 * is made once for a base, an offset selected once for a mask; what accesses are displaced by goes into the
 * instruction, as far as it has room, and into a scalar. */
#include "ir/index/cost.h"
#include "ir/index/facts.h"
#include "ir/index/linear.h"
#include "lower/access/bounded.h"
#include "lower/steps/steps.h"

/* Truths that all have to hold: of work-items, and of workgroups. */
enum { MASK_PARTS = 16 };
typedef struct {
  const tj_node *of_item[MASK_PARTS], *of_all[MASK_PARTS];
  uint32_t item_count, all_count;
} mask;

/* Made so far: a resource, where there is no offset, or an offset in bytes. */
struct tj_bounded {
  uint32_t buffer;
  const tj_node *base, *end, *offset;
  uint32_t unit; /* of a resource: whole ones of so many bytes are before its end */
  mask mask;
  LLVMValueRef value;
  struct tj_bounded *next;
};

/* --- masks --- */

/* False where there are too many parts. What one comparison finds is one part. */
static bool split_mask(const tj_emitter *emitter, const tj_node *valid, mask *parts) {
  if (tj_is_always(valid) || valid == emitter->steps->shared_mask)
    return true;
  bool is_of_all = !tj_is_constant(valid) && emitter->target->resource->counts_scalar &&
                   tj_kernel_nodes_level(&emitter->nodes, valid) <= TJ_LEVEL_WORKGROUP;
  if (valid->op == TJ_OP_AND && !is_of_all && !tj_emits_range(emitter, valid))
    return split_mask(emitter, valid->arg[0], parts) && split_mask(emitter, valid->arg[1], parts);
  const tj_node **part = is_of_all ? parts->of_all : parts->of_item;
  uint32_t *count = is_of_all ? &parts->all_count : &parts->item_count;
  if (*count == MASK_PARTS)
    return false;
  part[(*count)++] = valid;
  return true;
}

static mask mask_of(const tj_emitter *emitter, const tj_node *valid) {
  mask parts = {.item_count = 0};
  return split_mask(emitter, valid, &parts) ? parts : (mask){.of_item = {valid}, .item_count = 1};
}

/* Whether the offset is no other one in 32 bits, where nothing is valid. */
static bool is_narrow(const tj_emitter *emitter, const tj_access *access) {
  const int64_t most = UINT32_MAX / tj_element_bytes(emitter->kernel, access->buffer);
  return access->offset->facts.high <= most && access->offset->facts.low >= -most;
}

/* An access's: what the workgroup has, too, must put an offset beyond that may come to anything in 32 bits. */
static mask mask_of_access(const tj_emitter *emitter, const tj_access *access) {
  mask parts = mask_of(emitter, access->valid);
  bool fits = is_narrow(emitter, access) || parts.all_count == 0;
  return fits ? parts : (mask){.of_item = {access->valid}, .item_count = 1};
}

static bool demands(const mask *parts, const tj_node *truth) {
  uint32_t i = 0;
  while (i < parts->item_count && parts->of_item[i] != truth)
    i++;
  return i < parts->item_count;
}

static bool all_demand(const tj_emitter *emitter, const tj_kernel_step step[], uint32_t count, const tj_node *truth) {
  bool do_all = true;
  for (uint32_t i = 0; i < count && do_all; i++) {
    const mask parts = mask_of(emitter, step[i].access.valid);
    do_all = demands(&parts, truth);
  }
  return do_all;
}

/* Whether it compares with what the launch brings: of constants, workgroups have no more waves than they need. */
static bool is_launched(const tj_emitter *emitter, const tj_node *truth) {
  return truth->op == TJ_OP_LESS && !tj_is_constant(truth->arg[1]) &&
         tj_kernel_nodes_level(&emitter->nodes, truth->arg[1]) <= TJ_LEVEL_LAUNCH;
}

const tj_node *tj_emit_shared_mask(const tj_emitter *emitter, const tj_kernel_step step[], uint32_t count) {
  bool are_bounded = count > 0;
  for (uint32_t i = 0; i < count && are_bounded; i++)
    are_bounded = tj_step_has_access(&step[i]) && step[i].access.is_bounded;
  if (!are_bounded)
    return NULL;
  const mask parts = mask_of(emitter, step[0].access.valid);
  for (uint32_t i = 0; i < parts.item_count; i++) {
    if (is_launched(emitter, parts.of_item[i]) && all_demand(emitter, step, count, parts.of_item[i]))
      return parts.of_item[i];
  }
  return NULL;
}

static bool is_same_mask(const mask *a, const mask *b) {
  bool is_same = a->item_count == b->item_count;
  for (uint32_t i = 0; i < a->item_count && is_same; i++)
    is_same = a->of_item[i] == b->of_item[i];
  return is_same;
}

/* What is selected: the offset of an access in bytes, or what it skips. */
typedef struct {
  LLVMValueRef bytes;
  const tj_node *offset; /* NULL: it is not the offset */
  unsigned log;          /* of an element's bytes */
} selection;

/* What the workgroup has, in bytes; NULL: that is not sure to fit. */
static LLVMValueRef shared_bytes(tj_emitter *emitter, const tj_node *node, unsigned log) {
  int64_t most = INT32_MAX >> log;
  bool is_shared = tj_is_constant(node) || tj_kernel_nodes_level(&emitter->nodes, node) < TJ_LEVEL_ITEM;
  if (!is_shared || node->facts.low < -most || node->facts.high > most)
    return NULL;
  LLVMValueRef elements = tj_emit_operand(emitter, node, (tj_width){32, true, false});
  return LLVMBuildShl(emitter->builder, elements, LLVMConstInt(emitter->i32, log, false), "");
}

/* A truth, of the offset itself by its bytes: elements nobody needs. */
static LLVMValueRef truth_of(tj_emitter *emitter, const tj_node *truth, const selection *s) {
  bool compares = truth->op == TJ_OP_LESS && s->offset != NULL && s->offset->facts.low >= 0 &&
                  s->offset->facts.high <= INT32_MAX >> s->log;
  if (!compares || (truth->arg[0] != s->offset && truth->arg[1] != s->offset))
    return tj_emit_truth(emitter, truth);
  bool is_first = truth->arg[0] == s->offset;
  LLVMValueRef bound = shared_bytes(emitter, truth->arg[is_first], s->log);
  if (bound == NULL)
    return tj_emit_truth(emitter, truth);
  return LLVMBuildICmp(emitter->builder, LLVMIntSLT, is_first ? s->bytes : bound, is_first ? bound : s->bytes, "");
}

/* The value where all of the truths hold, and else what is beyond any resource: many accesses add a constant to it,
 * and no optimizer has to ask for each what it is made of. */
static LLVMValueRef selected(tj_emitter *emitter, const tj_node *const part[], uint32_t count, const selection *s) {
  LLVMValueRef beyond = LLVMConstInt(emitter->i32, (uint64_t)TJ_RESOURCE_BYTES, false), truth = NULL;
  for (uint32_t i = 0; i < count; i++) {
    LLVMValueRef next = truth_of(emitter, part[i], s);
    truth = truth == NULL ? next : LLVMBuildAnd(emitter->builder, truth, next, "");
  }
  if (truth == NULL)
    return s->bytes;
  return tj_emit_opaque(emitter, LLVMBuildSelect(emitter->builder, truth, s->bytes, beyond, ""));
}

/* --- what is made once --- */

static LLVMValueRef find(const tj_emitter *emitter, const struct tj_bounded *wanted) {
  for (const struct tj_bounded *each = emitter->steps->bounded; each != NULL; each = each->next) {
    if (each->buffer == wanted->buffer && each->base == wanted->base && each->end == wanted->end &&
        each->unit == wanted->unit && each->offset == wanted->offset && is_same_mask(&each->mask, &wanted->mask))
      return each->value;
  }
  return NULL;
}

static LLVMValueRef keep(tj_emitter *emitter, struct tj_bounded made, LLVMValueRef value) {
  struct tj_bounded *kept = TJ_NEW(emitter->job, struct tj_bounded);
  made.value = value;
  made.next = emitter->steps->bounded;
  *kept = made;
  emitter->steps->bounded = kept;
  return value;
}

static unsigned log_of(const tj_emitter *emitter, const tj_access *access) {
  return (unsigned)__builtin_ctz(tj_element_bytes(emitter->kernel, access->buffer));
}

/* The resource from an anchor on, as long as they are, or up to the end of the last whole unit before an end. */
static LLVMValueRef resource_of(tj_emitter *emitter, const tj_access *access, const tj_node *anchor,
                                const tj_node *end, uint32_t unit) {
  struct tj_bounded wanted = {.buffer = access->buffer, .base = anchor, .end = end, .unit = unit};
  LLVMValueRef found = find(emitter, &wanted);
  if (found != NULL)
    return found;
  LLVMValueRef base = tj_emit_base(emitter, &(tj_access){.buffer = access->buffer, .base = anchor});
  LLVMValueRef bytes = LLVMConstInt(emitter->i32, (uint64_t)TJ_RESOURCE_BYTES, false);
  if (end != NULL)
    bytes = LLVMBuildShl(emitter->builder, tj_emit_operand(emitter, end, (tj_width){32, true, false}),
                         LLVMConstInt(emitter->i32, log_of(emitter, access), false), "");
  if (unit > 0)
    bytes = LLVMBuildAnd(emitter->builder, bytes, LLVMConstInt(emitter->i32, ~(uint64_t)(unit - 1), false), "");
  return keep(emitter, wanted, emitter->target->family->emit_resource(emitter, base, bytes));
}

/* What constants add to `factor` times a sum, also within what a remainder is subtracted from. */
static int64_t constants_of(const tj_node *node, int64_t factor, unsigned levels) {
  int64_t a, b, sum;
  if (tj_is_constant(node))
    return __builtin_mul_overflow(node->value, factor, &sum) ? INT64_MAX : sum;
  if (levels == 0)
    return 0;
  switch (node->op) {
  case TJ_OP_ADD:
    a = constants_of(node->arg[0], factor, levels - 1);
    b = constants_of(node->arg[1], factor, levels - 1);
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
  case TJ_OP_MUL:
    return tj_is_constant(node->arg[1]) && !__builtin_mul_overflow(node->arg[1]->value, factor, &a)
               ? constants_of(node->arg[0], a, levels - 1)
               : 0;
  case TJ_OP_MOD:
    return tj_exponent_of(node->arg[1]) < 0 ? constants_of(node->arg[0], factor, levels - 1) : 0;
  default:
    return 0;
  }
}

/* Whether an offset may begin before its base without its constants: instruction selection would put these into the
 * instruction, whose sums do not wrap around. */
static bool needs_constants(const tj_node *offset) {
  enum { MOST_LEVELS = 8 };
  return offset->facts.low < constants_of(offset, 1, MOST_LEVELS);
}

/* A constant behind all else goes into the instruction all the same, where the rest does not begin before the base.
 */
static LLVMValueRef whole_offset(tj_emitter *emitter, const tj_access *access) {
  const tj_parted_sum sum = tj_part_sum(access->offset);
  const bool is_apart = sum.constant > 0 && sum.rest->facts.low >= 0;
  tj_access hidden = *access;
  if (!needs_constants(access->offset))
    return tj_emit_byte_offset(emitter, access);
  hidden.offset = is_apart ? sum.rest : access->offset;
  LLVMValueRef offset = tj_emit_hidden(emitter, tj_emit_byte_offset(emitter, &hidden), TJ_DTYPE_i32);
  if (!is_apart)
    return offset;
  const uint64_t bytes = (uint64_t)sum.constant << log_of(emitter, access);
  return LLVMBuildAdd(emitter->builder, offset, LLVMConstInt(emitter->i32, bytes, false), "");
}

static LLVMValueRef offset_of(tj_emitter *emitter, const tj_access *access, const mask *parts) {
  struct tj_bounded wanted = {.buffer = access->buffer, .offset = access->offset, .mask = *parts};
  LLVMValueRef found = find(emitter, &wanted);
  if (found != NULL)
    return found;
  const selection offset = {whole_offset(emitter, access), access->offset, log_of(emitter, access)};
  return keep(emitter, wanted, selected(emitter, parts->of_item, parts->item_count, &offset));
}

/* What the scalar of an access skips: parts of its base, and so many bytes. */
static LLVMValueRef scalar_of(tj_emitter *emitter, const tj_access *access, const tj_base_parts *base,
                              int64_t bytes) {
  LLVMValueRef scalar = bytes > 0 || base->count == 0 ? LLVMConstInt(emitter->i32, (uint64_t)bytes, false) : NULL;
  LLVMValueRef log = LLVMConstInt(emitter->i32, log_of(emitter, access), false);
  for (uint32_t i = 0; i < base->count; i++) {
    LLVMValueRef part = tj_emit_operand(emitter, base->part[i], (tj_width){32, true, true});
    part = LLVMBuildShl(emitter->builder, part, log, "");
    scalar = scalar != NULL ? LLVMBuildAdd(emitter->builder, part, scalar, "") : part;
  }
  return scalar;
}

/* --- ends --- */

/* Whether a sum has a negated part; what it has beside that. */
static bool is_less_part(const tj_node **sum, const tj_node *part) {
  const tj_node *all = *sum;
  for (uint32_t i = 0; i < 2 && all->op == TJ_OP_ADD; i++) {
    const tj_node *less = all->arg[i];
    if (less->op == TJ_OP_MUL && ((tj_is_int(less->arg[0], -1) && less->arg[1] == part) ||
                                  (tj_is_int(less->arg[1], -1) && less->arg[0] == part))) {
      *sum = all->arg[1 - i];
      return true;
    }
  }
  return false;
}

static bool is_last_of(const tj_node *node, const tj_node *offset, uint32_t width) {
  if (width == 1)
    return node == offset;
  bool is_sum = node->op == TJ_OP_ADD;
  return is_sum && ((node->arg[0] == offset && tj_is_int(node->arg[1], width - 1)) ||
                    (node->arg[1] == offset && tj_is_int(node->arg[0], width - 1)));
}

/* Whether vectors of which none begins within another one may be partly before an end. */
static bool has_parts(const tj_access *access, uint32_t width, const tj_node *end) {
  return width > 1 && tj_facts_divisible(&access->offset->facts, width) && !tj_facts_divisible(&end->facts, width);
}

/* Where a resource ends that masks as a truth does: that an access's last element is before what its workgroup has,
 * less what the scalar skips. NULL: that is no such truth. */
static const tj_node *end_of(const tj_emitter *emitter, const tj_access *access, uint32_t width,
                             const tj_base_parts *base, const tj_node *truth) {
  if (!emitter->target->resource->counts_scalar || truth->op != TJ_OP_LESS || access->displacement != 0 ||
      access->offset->facts.low < 0 || !is_narrow(emitter, access) ||
      !is_last_of(truth->arg[0], access->offset, width))
    return NULL;
  const tj_node *end = truth->arg[1];
  for (uint32_t i = 0; i < base->count; i++) {
    if (!is_less_part(&end, base->part[i]))
      return NULL;
  }
  bool is_shared = tj_is_constant(end) || tj_kernel_nodes_level(&emitter->nodes, end) <= TJ_LEVEL_WORKGROUP;
  bool fits = end->facts.low >= 0 && end->facts.high <= (TJ_RESOURCE_BYTES - 1) >> log_of(emitter, access);
  bool is_torn = base->count > 0 && has_parts(access, width, end);
  return is_shared && fits && !is_torn ? end : NULL;
}

/* Takes one out of a mask. */
static const tj_node *take_end(const tj_emitter *emitter, const tj_access *access, uint32_t width,
                               const tj_base_parts *base, mask *parts) {
  for (uint32_t i = 0; i < parts->item_count; i++) {
    const tj_node *end = end_of(emitter, access, width, base, parts->of_item[i]);
    if (end != NULL) {
      parts->of_item[i] = parts->of_item[--parts->item_count];
      return end;
    }
  }
  return NULL;
}

/* The displacement goes into the instruction as far as it has room, the rest of it into the scalar. No sum wraps
 * around, signed or not: what is valid is below TJ_RESOURCE_BYTES, and what is not is that number or below. LLVM
 * would look for that in all that each offset is made of. */
static tj_bounded_place place_of(tj_emitter *emitter, const tj_access *access, uint32_t moved) {
  int64_t bytes = access->displacement << log_of(emitter, access);
  int64_t within = bytes % emitter->target->resource->immediate_end;
  tj_base_parts base = tj_split_base(access->base);
  mask parts = mask_of_access(emitter, access);
  const uint32_t width = moved >> log_of(emitter, access);
  const tj_node *end = take_end(emitter, access, width, &base, &parts);
  const uint32_t unit = end != NULL && has_parts(access, width, end) ? moved : 0;
  LLVMValueRef scalar = scalar_of(emitter, access, &base, bytes - within);
  tj_bounded_place place = {.resource = resource_of(emitter, access, base.anchor, end, unit),
                            .offset = offset_of(emitter, access, &parts),
                            .scalar =
                                selected(emitter, parts.of_all, parts.all_count, &(selection){.bytes = scalar})};
  if (within > 0) {
    place.offset =
        LLVMBuildAdd(emitter->builder, place.offset, LLVMConstInt(emitter->i32, (uint64_t)within, false), "");
    tj_emit_no_wrap(place.offset, (tj_width){32, true, true});
  }
  return place;
}

/* --- accesses --- */

/* What resources move so many bytes as. */
static LLVMTypeRef moved_type(tj_emitter *emitter, uint32_t bytes) {
  enum { WORD = 4 };
  if (bytes < WORD)
    return bytes == 1 ? emitter->i8 : emitter->i16;
  return bytes == WORD ? emitter->i32 : LLVMVectorType(emitter->i32, bytes / WORD);
}

LLVMValueRef tj_emit_bounded_load(tj_emitter *emitter, const tj_access *access, LLVMTypeRef type, uint32_t bytes) {
  tj_bounded_place place = place_of(emitter, access, bytes);
  LLVMValueRef moved = emitter->target->family->emit_bounded_load(emitter, &place, moved_type(emitter, bytes));
  return LLVMBuildBitCast(emitter->builder, moved, type, "element");
}

void tj_emit_bounded_store(tj_emitter *emitter, const tj_access *access, LLVMValueRef value, uint32_t bytes,
                           bool is_streamed) {
  tj_bounded_place place = place_of(emitter, access, bytes);
  LLVMValueRef moved = LLVMBuildBitCast(emitter->builder, value, moved_type(emitter, bytes), "");
  emitter->target->family->emit_bounded_store(emitter, &place, moved, is_streamed);
}

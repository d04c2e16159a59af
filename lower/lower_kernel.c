/* What one work-item does: the kernel's expressions, then its load, conversion and store, where they are valid.
 *
 * An access that is not valid must not happen at all, since its offset may be anywhere: it stands behind a branch.
 * Only a load that is valid wherever the store is shares the store's. */
#include "lower/emit.h"

/* --- conditions --- */

/* A block that is entered where `valid` holds, until end_where. */
typedef struct {
  LLVMBasicBlockRef before, after; /* NULL: always entered */
} gate;

static gate begin_where(tj_emitter *emitter, const tj_node *valid, const char *name) {
  if (tj_is_constant(valid) && valid->value != 0)
    return (gate){NULL, NULL};
  LLVMBasicBlockRef inside = tj_emit_block(emitter, name);
  gate where = {LLVMGetInsertBlock(emitter->builder), tj_emit_block(emitter, "after")};
  LLVMBuildCondBr(emitter->builder, tj_emit_truth(emitter, valid), inside, where.after);
  LLVMPositionBuilderAtEnd(emitter->builder, inside);
  return where;
}

static void end_where(tj_emitter *emitter, gate where) {
  if (where.after == NULL)
    return;
  LLVMBuildBr(emitter->builder, where.after);
  LLVMPositionBuilderAtEnd(emitter->builder, where.after);
}

/* The value that the block gave, or `otherwise` where it was not entered. Call it right after end_where. */
static LLVMValueRef either(tj_emitter *emitter, gate where, LLVMValueRef value, LLVMBasicBlockRef given_by,
                           LLVMValueRef otherwise) {
  if (where.after == NULL)
    return value;
  LLVMValueRef phi = LLVMBuildPhi(emitter->builder, LLVMTypeOf(value), "element");
  LLVMAddIncoming(phi, &value, &given_by, 1);
  LLVMAddIncoming(phi, &otherwise, &where.before, 1);
  return phi;
}

/* Whether `fact` is among the truths that `truth` is the conjunction of, as far as a few steps show. */
static bool surely_implies(const tj_node *truth, const tj_node *fact, unsigned steps) {
  if (truth == fact || (tj_is_constant(fact) && fact->value != 0))
    return true;
  return steps > 0 && truth->op == TJ_OP_AND &&
         (surely_implies(truth->arg[0], fact, steps - 1) || surely_implies(truth->arg[1], fact, steps - 1));
}

/* --- accesses --- */

static uint32_t element_bytes(const tj_emitter *emitter, const tj_access *access) {
  return tj_dtype_bits(emitter->kernel->buffer[access->buffer].dtype) / 8;
}

static unsigned log2_of(uint32_t power) {
  return (unsigned)__builtin_ctz(power);
}

/* Where the byte offset fits in 32 bits, it is computed there: machines add it to a base for nothing. */
static LLVMValueRef emit_address(tj_emitter *emitter, const tj_access *access) {
  LLVMValueRef base = emitter->buffer[access->buffer];
  uint32_t bytes = element_bytes(emitter, access);
  LLVMTypeRef type = tj_emit_dtype(emitter, emitter->kernel->buffer[access->buffer].dtype);
  const tj_facts *facts = &access->offset->facts;
  bool is_small = facts->low >= 0 && facts->high <= (int64_t)(UINT32_MAX / bytes);
  tj_width width = tj_width_of(&access->offset, 1);
  if (!is_small)
    width = (tj_width){64, true, facts->low >= 0};
  LLVMValueRef offset = tj_emit_operand(emitter, access->offset, width);
  if (is_small && emitter->target->has_32_bit_offsets) {
    offset = LLVMBuildShl(emitter->builder, offset, LLVMConstInt(emitter->i32, log2_of(bytes), false), "");
    tj_emit_no_wrap(offset, (tj_width){32, false, true});
    type = emitter->i8;
  }
  offset = facts->low < 0 ? offset : tj_emit_extended(emitter, offset, emitter->i64);
  return LLVMBuildInBoundsGEP2(emitter->builder, type, base, &offset, 1, "");
}

static LLVMValueRef emit_load(tj_emitter *emitter) {
  const tj_access *load = &emitter->kernel->load;
  LLVMTypeRef type = tj_emit_dtype(emitter, emitter->kernel->buffer[load->buffer].dtype);
  LLVMValueRef element = LLVMBuildLoad2(emitter->builder, type, emit_address(emitter, load), "element");
  LLVMSetAlignment(element, element_bytes(emitter, load));
  return element;
}

/* The element that the load gives, or the fill. */
static LLVMValueRef emit_source(tj_emitter *emitter) {
  const tj_kernel *kernel = emitter->kernel;
  if (surely_implies(kernel->store.valid, kernel->load.valid, 16))
    return emit_load(emitter);
  LLVMValueRef fill = tj_emit_element(emitter, kernel->fill, kernel->buffer[kernel->load.buffer].dtype);
  if (tj_is_int(kernel->load.valid, 0))
    return fill;
  gate valid = begin_where(emitter, kernel->load.valid, "load");
  LLVMValueRef element = emit_load(emitter);
  LLVMBasicBlockRef given_by = LLVMGetInsertBlock(emitter->builder);
  end_where(emitter, valid);
  return either(emitter, valid, element, given_by, fill);
}

/* The value of the kernel's expression as an element of the destination: its low bits, or the nearest float. */
static LLVMValueRef emit_computed(tj_emitter *emitter, tj_dtype to) {
  const tj_node *node = emitter->kernel->value;
  tj_width width = tj_width_of(&node, 1);
  LLVMValueRef value = tj_emit_operand(emitter, node, width);
  if (tj_dtype_class_of(to) == TJ_CLASS_BITS)
    return LLVMBuildIntCast2(emitter->builder, value, tj_emit_dtype(emitter, to), width.is_signed, "");
  tj_dtype narrow = width.is_signed ? TJ_DTYPE_i32 : TJ_DTYPE_u32;
  return tj_emit_convert(emitter, value, width.bits == 32 ? narrow : TJ_DTYPE_i64, to);
}

static LLVMValueRef emit_stored(tj_emitter *emitter) {
  const tj_kernel *kernel = emitter->kernel;
  tj_dtype to = kernel->buffer[kernel->store.buffer].dtype;
  if (!kernel->is_copy)
    return emit_computed(emitter, to);
  return tj_emit_convert(emitter, emit_source(emitter), kernel->buffer[kernel->load.buffer].dtype, to);
}

void tj_emit_work_item(tj_emitter *emitter, LLVMValueRef index) {
  const tj_access *store = &emitter->kernel->store;
  tj_emit_varying_nodes(emitter, index);
  gate valid = begin_where(emitter, store->valid, "store");
  LLVMValueRef stored = emit_stored(emitter);
  LLVMValueRef instruction = LLVMBuildStore(emitter->builder, stored, emit_address(emitter, store));
  LLVMSetAlignment(instruction, element_bytes(emitter, store));
  end_where(emitter, valid);
}

/* --- emitters --- */

uint64_t tj_emit_workgroup_limit(const tj_emitter *emitter) {
  int64_t count = emitter->kernel->count->facts.high, size = emitter->kernel->workgroup_size;
  return count == INT64_MAX ? 0 : (uint64_t)(count / size + (count % size != 0));
}

/* The linear coordinate runs to the end of the last workgroup, which may be beyond the count. */
static tj_width index_width(const tj_emitter *emitter) {
  int64_t end;
  uint64_t workgroups = tj_emit_workgroup_limit(emitter);
  bool overflows = __builtin_mul_overflow(workgroups, emitter->kernel->workgroup_size, &end);
  if (workgroups == 0 || overflows)
    return (tj_width){64, false, true};
  tj_width width = tj_width_of_range(0, end > 0 ? end - 1 : 0);
  return emitter->kernel->count->facts.high <= UINT32_MAX ? width : (tj_width){64, true, true};
}

static void check_symbols(const tj_emitter *emitter) {
  const tj_walk *walk = &emitter->nodes.walk;
  for (uint32_t i = 0; i < walk->count; i++) {
    bool is_known = walk->node[i]->op != TJ_OP_SYMBOL || walk->node[i] == emitter->kernel->index;
    for (uint32_t j = 0; j < emitter->kernel->parameter_count && !is_known; j++)
      is_known = walk->node[i] == emitter->kernel->parameter[j];
    if (!is_known)
      tj_fail(emitter->job, TJ_MISSING_PARAMETER, "%s is neither a parameter of kernel %s nor its coordinate",
              walk->node[i]->symbol->name, emitter->kernel->name);
  }
}

/* LLVM takes time that grows with the square of what it compiles. */
static void check_size(const tj_emitter *emitter) {
  enum { MOST_OPERATIONS = 1024 };
  uint32_t operations = 0;
  for (uint32_t i = 0; i < emitter->nodes.walk.count; i++)
    operations += tj_op_arity(emitter->nodes.walk.node[i]->op) > 0;
  if (operations > MOST_OPERATIONS)
    tj_fail(emitter->job, TJ_WORK_LIMIT, "kernel %s takes %u operations for each work-item, more than %d",
            emitter->kernel->name, operations, MOST_OPERATIONS);
}

static void init_types(tj_emitter *emitter) {
  emitter->i1 = LLVMInt1TypeInContext(emitter->context);
  emitter->i8 = LLVMInt8TypeInContext(emitter->context);
  emitter->i16 = LLVMInt16TypeInContext(emitter->context);
  emitter->i32 = LLVMInt32TypeInContext(emitter->context);
  emitter->i64 = LLVMInt64TypeInContext(emitter->context);
  emitter->f16 = LLVMHalfTypeInContext(emitter->context);
  emitter->bf16 = LLVMBFloatTypeInContext(emitter->context);
  emitter->f32 = LLVMFloatTypeInContext(emitter->context);
  emitter->f64 = LLVMDoubleTypeInContext(emitter->context);
  emitter->b128 = LLVMVectorType(emitter->i32, 4);
  emitter->pointer = LLVMPointerTypeInContext(emitter->context, emitter->target->global_address_space);
  emitter->nothing = LLVMVoidTypeInContext(emitter->context);
}

void tj_emitter_init(tj_emitter *emitter, tj_graph *graph, tj_module *module, const tj_kernel *kernel,
                     const tj_target *target) {
  *emitter = (tj_emitter){
      .job = graph->job,
      .graph = graph,
      .target = target,
      .kernel = kernel,
      .context = module->context,
      .module = module->module,
      .builder = module->builder,
      .nodes = tj_kernel_nodes_of(graph, kernel),
  };
  check_size(emitter);
  check_symbols(emitter);
  tj_check_widths(graph, emitter->nodes.root, emitter->nodes.root_count);
  tj_kernel_nodes_schedule(graph, &emitter->nodes);
  emitter->value = TJ_NEW_ARRAY(graph->job, LLVMValueRef, emitter->nodes.walk.count);
  emitter->index_width = index_width(emitter);
  init_types(emitter);
}

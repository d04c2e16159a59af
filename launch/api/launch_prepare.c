/* SPDX-License-Identifier: MIT */
/* What a dispatch consists of: the variant that parameters and addresses allow, its grid, its argument block; for the
 * library's own devices, and as a recipe for others. */
#include "launch/api/launch.h"

#include "base/machine/target_id.h"
#include "launch/image/launch_plan_text.h"

#include <inttypes.h>

/* --- variants --- */

/* The number of the first buffer whose address is not aligned for the variant; how many there are, where all are. */
static uint32_t find_misaligned(const tj_launch_plan *plan, const tj_launch_variant *variant,
                                const uint64_t address[]) {
  uint32_t i = 0;
  while (i < plan->buffer_count && address[i] % variant->alignment[i] == 0)
    i++;
  return i;
}

/* The last variant that parameters allow asks for the least. */
static uint32_t choose_variant(tj_launch *launch, const uint64_t address[]) {
  const tj_launch_plan *plan = tj_plan_of(launch);
  uint32_t last = plan->variant_count, wrong = 0;
  for (uint32_t i = 0; i < plan->variant_count; i++) {
    if (!tj_launch_plan_allows(&plan->variant[i], launch->result))
      continue;
    last = i;
    wrong = find_misaligned(plan, &plan->variant[i], address);
    if (wrong == plan->buffer_count)
      return i;
  }
  if (last == plan->variant_count)
    tj_fail(&launch->job, TJ_INTERNAL, "no variant of kernel '%s' serves these parameters", plan->kernel);
  tj_fail(&launch->job, TJ_POINTER, "the address of '%s', 0x%" PRIx64 ", is no multiple of %" PRIu32 " bytes",
          plan->buffer[wrong].name, address[wrong], plan->variant[last].alignment[wrong]);
}

/* --- the argument block --- */

static uint64_t word_value(tj_launch *launch, const tj_launch_word *word, const uint64_t address[],
                           uint64_t scratch) {
  switch (word->kind) {
  case TJ_WORD_BUFFER:
    return address[word->of];
  case TJ_WORD_PARAMETER:
    return (uint64_t)launch->value[word->of];
  case TJ_WORD_DERIVED:
    return tj_derived_word(word->derived, tj_launch_evaluate(launch, word->of));
  case TJ_WORD_SCRATCH:
    return scratch;
  case TJ_WORD_KIND_COUNT:
    break;
  }
  return 0;
}

enum { HALF_BITS = 32 };

/* An upper half shares the word of the one before. */
static void fill_block(tj_launch *launch, const uint64_t address[], uint64_t scratch) {
  const tj_launch_plan *plan = tj_plan_of(launch);
  uint64_t *next = launch->block;
  for (uint32_t i = 0; i < plan->word_count; i++) {
    uint64_t value = word_value(launch, &plan->word[i], address, scratch);
    if (plan->word[i].is_upper)
      next[-1] = (uint32_t)next[-1] | value << HALF_BITS;
    else
      *next++ = value;
  }
}

/* --- tensor maps --- */

static void make_map(tj_launch *launch, const tj_launch_map *map, const uint64_t address[]) {
  launch->map = (tj_tensor_map){.element_bytes = map->element_bytes,
                                .rank = map->rank,
                                .address = address[map->buffer] + (uint64_t)tj_launch_evaluate(launch, map->offset),
                                .swizzle = map->swizzle};
  for (uint32_t d = 0; d < map->rank; d++) {
    launch->map.extent[d] = (uint64_t)tj_launch_evaluate(launch, map->extent[d]);
    launch->map.box[d] = map->box[d];
    launch->map.element_stride[d] = 1;
    if (d > 0)
      launch->map.stride[d - 1] = (uint64_t)tj_launch_evaluate(launch, map->stride[d - 1]);
  }
}

/* --- all of it, and the grid --- */

static uint64_t count_workgroups(tj_launch *launch, const tj_launch_variant *variant) {
  int64_t items = tj_launch_evaluate(launch, variant->count);
  if (items < 1)
    tj_fail(&launch->job, TJ_INTERNAL, "kernel '%s' has %" PRId64 " work-items", tj_plan_of(launch)->kernel, items);
  uint64_t count = (uint64_t)items;
  return count / variant->workgroup_size + (count % variant->workgroup_size != 0);
}

static tj_prepared_kernel prepared_kernel(tj_launch *launch, uint32_t variant) {
  return (tj_prepared_kernel){variant, count_workgroups(launch, &tj_plan_of(launch)->variant[variant])};
}

tj_prepared_launch tj_launch_ready(tj_launch *launch, const uint64_t address[], uint64_t scratch) {
  uint32_t first = choose_variant(launch, address);
  tj_prepared_launch prepared = {.count = tj_launch_kernels(tj_plan_of(launch), first)};
  for (uint32_t i = 0; i < prepared.count; i++)
    prepared.kernel[i] = prepared_kernel(launch, first - i);
  fill_block(launch, address, scratch);
  const tj_launch_map *map = tj_plan_of(launch)->variant[first].map;
  if (map != NULL)
    make_map(launch, map, address);
  return prepared;
}

/* --- machine code --- */

const tj_machine_part *tj_launch_require(tj_launch *launch, uint32_t variant) {
  tj_part_order order = {launch->context, launch->times};
  const tj_machine_part *part = tj_code_require(&launch->job, launch->code, variant, &order);
  launch->times = order.times;
  return part;
}

/* Memory of the library's own is aligned for any variant, and so is what is not bound yet. */
static void compile(tj_job *job, void *data) {
  (void)job;
  tj_launch *launch = ((const tj_launch_request *)data)->launch;
  tj_launch_resolve(launch);
  for (uint32_t i = 0; i < tj_plan_of(launch)->buffer_count; i++)
    launch->address[i] = launch->memory[i].address;
  uint32_t first = choose_variant(launch, launch->address), count = tj_launch_kernels(tj_plan_of(launch), first);
  launch->times = (tj_code_times){0};
  for (uint32_t i = 0; i < count; i++)
    (void)tj_launch_require(launch, first - i);
}

tj_status tj_launch_compile(tj_launch *launch) {
  return tj_launch_perform(launch, compile, (tj_launch_request){0});
}

tj_code_times tj_launch_times(const tj_launch *launch) {
  return launch->times;
}

/* --- recipes --- */

/* The address that is bound to an argument; 0: none is, yet. */
static uint64_t bound_address(tj_launch *launch, uint32_t number) {
  const tj_bound_memory *memory = &launch->memory[number];
  if (memory->kind == TJ_BOUND_NOTHING)
    return 0;
  tj_launch_check_memory(launch, number);
  if (memory->kind == TJ_BOUND_ARRAY) {
    tj_note(&launch->job, "bind a buffer or a pointer, or nothing yet");
    tj_fail(&launch->job, TJ_KERNEL_ARGUMENT, "argument '%s' of a launch that is prepared has host memory",
            tj_plan_of(launch)->buffer[number].name);
  }
  return memory->address;
}

static tj_kernarg_kind kind_of(tj_launch_word_kind kind) {
  switch (kind) {
  case TJ_WORD_BUFFER:
    return TJ_KERNARG_POINTER;
  case TJ_WORD_SCRATCH:
    return TJ_KERNARG_SCRATCH;
  default:
    return TJ_KERNARG_VALUE;
  }
}

/* Names of words do not change from one recipe to the next. */
static void name_words(tj_launch *launch) {
  const tj_launch_plan *plan = tj_plan_of(launch);
  if (launch->word != NULL)
    return;
  tj_kernarg *word = TJ_NEW_ARRAY(&launch->job, tj_kernarg, plan->word_count + 2);
  size_t end = 0;
  for (uint32_t i = 0; i < plan->word_count; i++) {
    bool is_half = plan->word[i].is_upper || (i + 1 < plan->word_count && plan->word[i + 1].is_upper);
    word[i] = (tj_kernarg){.name = tj_launch_word_name(&launch->job, plan, &plan->word[i]),
                           .offset = end,
                           .bytes = is_half ? sizeof(uint32_t) : sizeof(uint64_t),
                           .kind = kind_of(plan->word[i].kind)};
    end += word[i].bytes;
  }
  word[plan->word_count] = (tj_kernarg){.offset = tj_map_offset(tj_launch_block_words(plan)),
                                        .bytes = TJ_TENSOR_MAP_BYTES,
                                        .alignment = TJ_TENSOR_MAP_ALIGNMENT,
                                        .kind = TJ_KERNARG_TENSOR_MAP,
                                        .map = &launch->map};
  launch->word = word;
}

/* What the block has there; of half a word, with its sign. */
static uint64_t value_at(const tj_launch *launch, const tj_kernarg *word) {
  const uint64_t whole = launch->block[word->offset / sizeof(uint64_t)];
  if (word->bytes == sizeof(uint64_t))
    return whole;
  return (uint64_t)(int32_t)(word->offset % sizeof(uint64_t) == 0 ? whole : whole >> HALF_BITS);
}

enum { SCRATCH_ALIGNMENT = 256 };

static void describe_words(tj_launch *launch, const tj_launch_variant *variant) {
  const tj_launch_plan *plan = tj_plan_of(launch);
  name_words(launch);
  for (uint32_t i = 0; i < plan->word_count; i++) {
    tj_kernarg *word = &launch->word[i];
    bool is_pointer = word->kind == TJ_KERNARG_POINTER;
    word->value = value_at(launch, word);
    word->alignment = is_pointer ? variant->alignment[plan->word[i].of] : 1;
    word->is_bound = !is_pointer || launch->memory[plan->word[i].of].kind != TJ_BOUND_NOTHING;
    if (word->kind == TJ_KERNARG_SCRATCH) {
      word->alignment = SCRATCH_ALIGNMENT;
      word->is_bound = 0;
    }
  }
  if (variant->map != NULL)
    launch->word[plan->word_count].name = plan->buffer[variant->map->buffer].name;
}

/* As AQL packets hold them. */
static void check_grid(tj_launch *launch, const tj_launch_variant *variant, uint64_t workgroups) {
  if (!tj_target_is_host(tj_plan_of(launch)->target) && !tj_rt_fits_packet(workgroups, variant->workgroup_size))
    tj_fail_system(&launch->job, TJ_LAUNCH, TJ_RT_NO_PACKET, workgroups, variant->workgroup_size);
}

static tj_recipe recipe_of(tj_launch *launch, const tj_prepared_kernel *kernel) {
  const tj_launch_plan *plan = tj_plan_of(launch);
  const tj_launch_variant *variant = &plan->variant[kernel->variant];
  check_grid(launch, variant, kernel->workgroups);
  return (tj_recipe){.symbol = variant->symbol,
                     .grid = {kernel->workgroups * variant->workgroup_size, 1, 1},
                     .block = {variant->workgroup_size, 1, 1},
                     .lds_bytes = variant->lds_bytes,
                     .kernarg = launch->block,
                     .kernarg_bytes = tj_launch_argument_bytes(plan, variant),
                     .word = launch->word,
                     .word_count = plan->word_count + (variant->map != NULL),
                     .scratch_bytes = plan->scratch_bytes};
}

static void prepare(tj_job *job, void *data) {
  (void)job;
  tj_launch *launch = ((const tj_launch_request *)data)->launch;
  const tj_launch_plan *plan = tj_plan_of(launch);
  tj_launch_resolve(launch);
  tj_launch_check_races(launch);
  for (uint32_t i = 0; i < plan->buffer_count; i++)
    launch->address[i] = bound_address(launch, i);
  tj_launch_check_sharing(launch);
  tj_prepared_launch prepared = tj_launch_ready(launch, launch->address, 0);
  describe_words(launch, &plan->variant[prepared.kernel[0].variant]);
  for (uint32_t i = prepared.count; i-- > 0;) {
    launch->recipe[i] = recipe_of(launch, &prepared.kernel[i]);
    launch->recipe[i].next = i + 1 < prepared.count ? &launch->recipe[i + 1] : NULL;
  }
}

tj_status tj_launch_prepare(tj_launch *launch, const tj_recipe **recipe) {
  tj_status status = tj_launch_perform(launch, prepare, (tj_launch_request){0});
  if (status == TJ_OK)
    *recipe = launch->recipe;
  return status;
}

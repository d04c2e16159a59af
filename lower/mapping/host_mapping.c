/* SPDX-License-Identifier: MIT */
/* Choosing mappings for CPUs.
 *
 * A block is as many cache lines of the source as a register file holds. Where source and destination are contiguous
 * along the same mode, it is a few vectors that stay as they are, or whole rows; otherwise rows along the source's
 * mode, which are stored as columns along the destination's. Workgroups take tiles of blocks in the order of the
 * source, so that what follows can be fetched ahead. The tile is so large that both sides see more than one line in a
 * row, and so small that few pages are in use at a time.
 *
 * What is not worth caching bypasses the caches, which only pays line by line, and more where neighbouring lines
 * follow each other. Columns that fill lines go straight from registers; other tiles are put together in LDS first,
 * in the order of the destination, which gets them in runs as long as there are.
 *
 * Shapes that are known at launch only have kernels for sizes from a pair on, and twice as many each, up to a small
 * block; from a whole one on; and for large destinations whose columns have whole lines. Vectors that are streamed as
 * they are have to be aligned, so what does that has another kernel beside it, for destinations that begin elsewhere.
 *
 * What is chosen is a mapping, and kernels are made of mappings alone: those that are given go the same way. */
#include "lower/mapping/host_mapping.h"

#include "base/number/parts.h"
#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"
#include "lower/blocks/blocks.h"
#include "lower/blocks/rows.h"
#include "lower/kernel/alignment.h"
#include "lower/kernel/variant.h"
#include "lower/shape/block_mapping.h"

#include <inttypes.h>

enum { LINES_EXTENT = 32 /* of modes that the launch brings, for tiles whose columns are streamed */ };

/* --- sides --- */

/* Whether one load goes to stores alone. */
static bool is_plain(const tj_kernel *flat) {
  bool is_plain = flat->step_count >= 2 && flat->step[0].kind == TJ_STEP_LOAD;
  for (uint32_t i = 1; i < flat->step_count; i++)
    is_plain = is_plain && flat->step[i].kind == TJ_STEP_STORE;
  return is_plain;
}

/* Whether there are further destinations: these have no rows by themselves. */
static bool has_further(const tj_block_copy *copy) {
  return copy->domain->other_count > 0;
}

/* Describes the copy; false where neighbours do not move in blocks or rows. */
static bool describe(tj_block_copy *copy) {
  return is_plain(copy->flat) && tj_block_describe(copy) &&
         tj_domain_has_neighbours(copy->domain, copy->problem.order[TJ_SOURCE][0], true) &&
         tj_domain_has_neighbours(copy->domain, copy->problem.order[TJ_DESTINATION][0], false);
}

static const tj_kernel_buffer *stored_buffer(const tj_block_copy *copy) {
  return &copy->flat->buffer[tj_flat_buffer(copy->flat, TJ_OPERAND_DESTINATION)];
}

/* Elements of a destination so large that nothing of it would be in a cache when it is read again. */
static int64_t least_streamed(const tj_block_copy *copy) {
  return TJ_BLOCK_STREAM_BYTES * INT64_C(8) / tj_dtype_bits(stored_buffer(copy)->dtype);
}

static bool is_large(const tj_block_copy *copy) {
  return stored_buffer(copy)->element_count->facts.low >= least_streamed(copy);
}

static bool can_be_large(const tj_block_copy *copy) {
  return stored_buffer(copy)->element_count->facts.high >= least_streamed(copy);
}

/* --- kernels of mappings --- */

/* What vectors that are stored past the caches are long, along mode *mode; 1: they are not stored from registers. */
static int64_t streamed_vector(const tj_mapping *mapping, uint32_t *mode) {
  const tj_mapping_side *store = &mapping->store;
  if (!mapping->streams || mapping->lds != NULL || store->digit_count == store->item_digits)
    return 1;
  *mode = store->digit[store->item_digits].mode;
  return store->digit[store->item_digits].extent;
}

/* What tiles that reach so far demand of extents: that none is shorter, and that the one of mode `vectored` has whole
 * vectors. Nothing where no parameters would do. */
static tj_demands demand_extents(const tj_block_copy *copy, const int64_t reach[], uint32_t vectored,
                                 int64_t vector) {
  tj_demands demands = {NULL, 0};
  for (uint32_t m = copy->domain->count; m-- > 0;) {
    const tj_node *extent = copy->domain->mode[m].extent;
    int64_t multiple = m == vectored && !tj_facts_divisible(&extent->facts, vector) ? vector : 1;
    int64_t low = tj_greatest(extent->facts.low, reach[m]);
    if (!tj_is_constant(extent) && (low > extent->facts.low || multiple > 1))
      demands = tj_demands_with(copy->graph, &demands, (tj_demand){extent, multiple, low, INT64_MAX});
  }
  return tj_can_be_met(&demands) ? demands : (tj_demands){NULL, 0};
}

/* What a mapping demands: that its tiles fit, and that vectors which bypass the caches never overlap. */
static tj_demands demands_of(const tj_block_copy *copy, const tj_mapping *mapping) {
  int64_t reach[TJ_SHAPE_MOST_MODES];
  uint32_t vectored = UINT32_MAX;
  int64_t vector = streamed_vector(mapping, &vectored);
  for (uint32_t m = 0; m < copy->domain->count; m++)
    reach[m] = tj_mapping_extent(mapping, m);
  return demand_extents(copy, reach, vectored, vector);
}

/* The kernel of a mapping, for parameters that meet its demands; NULL where there is none. */
static tj_kernel *make(tj_block_copy copy, const tj_domain *domain, const tj_mapping *mapping, tj_demands *demands) {
  copy.domain = domain;
  *demands = demands_of(&copy, mapping);
  copy.domain = tj_assumed_domain(copy.graph, domain, demands);
  if (!describe(&copy))
    return NULL;
  return tj_block_kernel(&copy, mapping);
}

/* --- blocks --- */

/* What blocks are wanted for. */
typedef struct {
  bool is_large;    /* the destination is assumed to be */
  bool is_anywhere; /* the destination may begin at any element: no vector of it can be streamed as it is */
  bool is_of_lines; /* or there is no kernel: columns have whole lines */
  int64_t least;    /* rows and columns that will do; 0: as many as there should be */
} wishes;

/* Whether a block is smaller than it should be along a mode that may well be longer. */
static bool is_stunted(const tj_shape_mode *mode, int64_t size, int64_t wanted) {
  return size < 2 || (!tj_shape_is_fixed(mode) && size < wanted);
}

static bool is_worth_it(const tj_shape_problem *problem, const tj_block_shape *block, int64_t least) {
  const tj_shape_mode *along = &problem->mode[block->along], *across = &problem->mode[block->across];
  if (!tj_shape_turns(problem))
    return tj_block_columns(problem) == 1 || !is_stunted(along, block->width, tj_block_lanes(problem));
  return !is_stunted(along, block->width * block->panels, least > 0 ? least : tj_block_columns(problem)) &&
         !is_stunted(across, block->depth, least > 0 ? least : tj_block_rows(problem));
}

/* Whether a further destination takes columns, too. */
static bool turns_further(const tj_block_copy *copy) {
  bool turns = false;
  for (uint32_t i = 0; i < copy->domain->other_count; i++)
    turns = turns || !tj_domain_other_is_straight(copy->domain, i);
  return turns;
}

/* Whether the destination takes the elements as they are carried, in runs that are put together. */
static bool may_be_staged(const tj_block_copy *copy) {
  return copy->flat->carried == stored_buffer(copy)->dtype && copy->flat->arithmetic.when != TJ_COMPUTED_STORING &&
         !turns_further(copy);
}

/* The kernel of tiles that are chosen; NULL where there is none. */
static tj_kernel *make_shape(const tj_block_copy *copy, const tj_block_shape *shape, tj_demands *demands) {
  const tj_domain *domain = copy->flat->domain;
  return make(*copy, domain, tj_mapping_of_blocks(copy->graph, domain, &copy->problem, shape), demands);
}

/* The kernel of the best blocks, and what it demands. What is not worth caching goes past the caches: straight from
 * registers, where columns fill lines; otherwise by way of LDS, in long runs. NULL where the blocks would be single
 * elements, or are not what they should be, or not of the lines that they are wanted to be of. */
static tj_kernel *map_blocks(tj_block_copy *copy, const wishes *wished, tj_demands *demands) {
  if (!describe(copy))
    return NULL;
  tj_block_shape direct = tj_choose_block(&copy->problem), staged = direct;
  if (!is_worth_it(&copy->problem, &direct, wished->least))
    return NULL;
  int64_t stored = tj_shape_turns(&copy->problem) ? direct.depth : direct.width;
  bool is_whole = tj_block_has_whole_vectors(copy, stored) && !wished->is_anywhere;
  bool streams = wished->is_large || is_large(copy);
  if (wished->is_of_lines && !is_whole)
    return NULL;
  bool is_staged = streams && !is_whole && may_be_staged(copy) && tj_choose_staged_tile(&copy->problem, &staged);
  tj_kernel *kernel = is_staged ? make_shape(copy, &staged, demands) : NULL;
  tj_choose_block_tile(&copy->problem, streams && is_whole, &direct);
  return kernel != NULL ? kernel : make_shape(copy, &direct, demands);
}

/* The kernel of a mapping of rows for all launches. */
static tj_kernel *make_rows(const tj_block_copy *copy, bool streams) {
  const tj_mapping *mapping = tj_row_mapping(copy, streams);
  bool is_fixed =
      !mapping->is_launched && tj_is_constant(tj_block_extent(copy, copy->problem.order[TJ_DESTINATION][0]));
  tj_demands demands;
  return is_fixed ? make(*copy, copy->flat->domain, mapping, &demands) : tj_block_kernel(copy, mapping);
}

/* Rows, as long as they are, or in pieces; NULL where they are not surely contiguous. Where the launch has to find
 * out whether the destination is large, with a faster kernel that bypasses the caches. */
static tj_kernel *map_rows(const tj_block_copy *copy) {
  const tj_node *streams = tj_rows_are_streamed(copy);
  tj_kernel *kernel = make_rows(copy, tj_is_int(streams, 1));
  if (kernel == NULL || tj_is_constant(streams))
    return kernel;
  kernel->faster = make_rows(copy, true);
  kernel->condition = streams;
  if (kernel->faster != NULL)
    kernel->faster->name = tj_string_format(copy->graph->job, "%s.streams", kernel->name);
  return kernel;
}

/* --- parameters --- */

/* So many elements of rows and of columns are wanted, and of these a multiple. */
static tj_demands want(const tj_block_copy *copy, int64_t row, int64_t column, int64_t multiple) {
  int64_t extent[TJ_SHAPE_MOST_MODES];
  for (uint32_t m = 0; m < copy->domain->count; m++)
    extent[m] = 1;
  uint32_t across = copy->problem.order[TJ_DESTINATION][0];
  extent[copy->problem.order[TJ_SOURCE][0]] = row;
  extent[across] = column;
  return demand_extents(copy, extent, across, multiple);
}

/* The kernel of blocks that suit parameters of these demands, and what it demands itself; NULL where there is none.
 */
static tj_kernel *map_wanted(tj_block_copy copy, const wishes *wished, const tj_demands *wanted,
                             tj_demands *demands) {
  copy.domain = tj_assumed_domain(copy.graph, copy.flat->domain, wanted);
  return map_blocks(&copy, wished, demands);
}

/* Whether the kernel relies on where a buffer begins. */
static bool is_aligned(const tj_kernel *kernel) {
  bool is_aligned = false;
  for (uint32_t i = 0; i < kernel->buffer_count; i++)
    is_aligned = is_aligned || tj_buffer_alignment(kernel, i) > tj_element_bytes(kernel, i);
  return is_aligned;
}

/* Kernels for sizes of the launch: what serves all of these, and the last of what is offered in its place. */
typedef struct {
  tj_kernel *general, *last;
} sizes;

/* Offers blocks for shapes that have so many rows and columns, if these will do `least`. Where they demand nothing,
 * they serve all: no launch would take what was before them. */
static void offer_blocks(const tj_block_copy *copy, sizes *offered, int64_t extent, int64_t least,
                         const char *suffix) {
  tj_demands some = want(copy, extent, extent, 1), demands;
  tj_kernel *blocks = map_wanted(*copy, &(wishes){.least = least}, &some, &demands);
  if (blocks == NULL)
    return;
  if (demands.count > 0 || is_aligned(blocks))
    tj_offer_faster(copy->graph, offered->last, blocks, &demands, suffix);
  else
    offered->general = blocks;
  offered->last = blocks;
}

/* Blocks of a few elements, small ones, and whole ones. */
static void offer_sizes(const tj_block_copy *copy, sizes *offered) {
  int64_t columns = tj_block_columns(&copy->problem), least = 2;
  for (; least < columns; least *= 2)
    offer_blocks(copy, offered, least, least, tj_string_format(copy->graph->job, "least%" PRId64, least));
  offer_blocks(copy, offered, columns, columns, "small");
  offer_blocks(copy, offered, tj_block_lanes(&copy->problem), 0, "blocks");
}

/* Whole lines straight from registers, for large destinations. */
static void offer_lines(const tj_block_copy *copy, tj_kernel *blocks) {
  static const wishes wished = {.is_large = true, .is_of_lines = true};
  tj_graph *graph = copy->graph;
  int64_t lanes = tj_block_lanes(&copy->problem), least = tj_greatest(lanes, LINES_EXTENT);
  tj_demands some = want(copy, least, least, 1), all = want(copy, least, least, lanes), demands;
  tj_kernel *lines = can_be_large(copy) ? map_wanted(*copy, &wished, all.count > 0 ? &all : &some, &demands) : NULL;
  if (lines == NULL)
    return;
  tj_offer_faster(graph, blocks, lines, &demands, "lines");
  const tj_node *is_enough =
      tj_less_equal(graph, tj_int(graph, least_streamed(copy)), stored_buffer(copy)->element_count);
  blocks->condition = tj_simplified(graph, tj_and(graph, blocks->condition, is_enough));
}

/* The chosen kernel for all launches, whose destinations begin anywhere; NULL where there is none. */
static tj_kernel *map_anywhere(tj_block_copy copy) {
  tj_demands demands;
  tj_kernel *kernel = map_blocks(&copy, &(wishes){.is_anywhere = true}, &demands);
  return kernel != NULL && demands.count == 0 ? kernel : NULL;
}

/* Puts a kernel that serves all before one that relies on where the destination begins. */
static tj_kernel *serve_anywhere(const tj_block_copy *copy, tj_kernel *anywhere, tj_kernel *aligned) {
  static const tj_demands nothing;
  if (anywhere != NULL)
    tj_offer_faster(copy->graph, anywhere, aligned, &nothing, "lines");
  return anywhere;
}

static tj_block_copy begin(tj_graph *graph, const tj_kernel *flat, const tj_domain *domain, const tj_target *target) {
  return (tj_block_copy){.graph = graph, .flat = flat, .domain = domain, .target = target};
}

tj_kernel *tj_map_on_host(tj_graph *graph, tj_kernel *flat, const tj_target *target) {
  tj_block_copy copy = begin(graph, flat, flat->domain, target);
  tj_demands demands;
  if (!describe(&copy))
    return NULL;
  bool turns = tj_shape_turns(&copy.problem);
  if (has_further(&copy) && !turns)
    return NULL;
  if (tj_block_has_rows(&copy.problem))
    return map_rows(&copy);
  tj_kernel *blocks = map_blocks(&copy, &(wishes){.least = 0}, &demands);
  if (blocks == NULL && !turns)
    return map_rows(&copy);
  if (blocks != NULL && is_aligned(blocks))
    return serve_anywhere(&copy, map_anywhere(copy), blocks);
  sizes offered = {blocks, blocks};
  if (blocks == NULL) {
    offered = (sizes){flat, flat};
    offer_sizes(&copy, &offered);
  }
  if (offered.last == flat)
    return NULL;
  if (!offered.last->is_streamed)
    offer_lines(&copy, offered.last);
  return offered.general;
}

/* --- mappings that are given --- */

tj_kernel *tj_map_launched_on_host(tj_graph *graph, const tj_kernel *flat, const tj_mapping *given,
                                   const tj_target *target) {
  tj_block_copy copy = begin(graph, flat, flat->domain, target);
  if (!describe(&copy) || has_further(&copy) || tj_shape_turns(&copy.problem))
    return NULL;
  const tj_mapping *possible = tj_row_mapping(&copy, given->streams);
  if (!possible->is_launched)
    return NULL;
  if (!tj_mapping_is_same(graph, given, possible))
    tj_mapping_fail_launched(graph, possible);
  return given->streams && !tj_is_constant(tj_rows_are_streamed(&copy)) ? map_rows(&copy)
                                                                        : tj_block_kernel(&copy, given);
}

tj_kernel *tj_map_as_given_on_host(tj_graph *graph, tj_kernel *flat, const tj_mapped *mapped,
                                   const tj_target *target) {
  tj_block_copy copy = begin(graph, flat, mapped->domain, target), own = begin(graph, flat, flat->domain, target);
  tj_demands demands;
  if (tj_mapping_skips_registers(mapped->mapping) || !describe(&copy))
    return NULL;
  tj_kernel *given = make(copy, mapped->domain, mapped->mapping, &demands);
  if (given == NULL)
    return NULL;
  bool has_rows = demands.count > 0 && given->step[given->step_count - 1].kind == TJ_STEP_RUN;
  tj_kernel *rows = has_rows ? tj_block_kernel(&copy, mapped->mapping) : NULL;
  if (rows != NULL)
    return rows;
  if (demands.count > 0)
    tj_offer_faster(graph, flat, given, &demands, "blocks");
  if (demands.count > 0 || !is_aligned(given))
    return demands.count > 0 ? flat : given;
  tj_kernel *anywhere = describe(&own) ? map_anywhere(own) : NULL;
  return serve_anywhere(&own, anywhere != NULL ? anywhere : flat, given);
}

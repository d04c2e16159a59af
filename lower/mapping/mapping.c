/* SPDX-License-Identifier: MIT */
/* Choosing tiles, and who takes what of them.
 *
 * The shape of a tile is chosen in numbers (tile_shape.h): where both sides are contiguous along the same mode, the
 * work-items may load and store the same elements and keep them in registers; otherwise, or where their runs would be
 * short, the tile turns around in LDS. What the numbers promise is then made of expressions (tile_mapping.h,
 * tiling.h), and taken where it holds. */
#include "lower/mapping/mapping.h"

#include "base/machine/bank.h"
#include "base/machine/processor.h"
#include "base/text.h"
#include "ir/index/facts.h"
#include "ir/index/print.h"
#include "lower/access/cost.h"
#include "lower/access/price.h"
#include "lower/flexible/flexible.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/kernel/variant.h"
#include "lower/lds/direct.h"
#include "lower/mapping/coarse.h"
#include "lower/mapping/flat_mapping.h"
#include "lower/mapping/host_mapping.h"
#include "lower/mapping/mapped.h"
#include "lower/tile/gather_vectors.h"
#include "lower/tile/lds_choice.h"
#include "lower/tile/lds_transit.h"
#include "lower/tile/tile_mapping.h"
#include "lower/tile/tile_order.h"
#include "lower/tile/torn.h"

#include <inttypes.h>
#include <math.h>

enum { LEAST_TURN = 4 }; /* lanes that LDS serves together, whatever they access */

typedef struct {
  tj_graph *graph;
  const tj_domain *domain;
  const tj_target *target;
  const tj_kernel *flat;
  const tj_layout *layout; /* that gives the domain, in what is not assumed */
  const tj_substitution *assumed;
  uint64_t fuel;          /* of the job when the search began: what was spent before is not the search's */
  tj_coordinates *shared; /* by the candidates of the search */
  uint32_t made;          /* kernels, so far */
  double dearest; /* what conflicts in LDS cost less of in kernels that are wanted; 0: they may cost anything */
  tj_shape_problem problem;
  tj_tile_shape shape;
  tj_side_name lies_as; /* in LDS: in the order of whose modes */
  bool by_dma;          /* with shape.is_direct: an engine loads */
} mapping;

/* --- modes by side --- */

static const tj_node *stride_on(const mapping *map, uint32_t mode, tj_side_name side) {
  return tj_mode_stride(&map->domain->mode[mode], side == TJ_SOURCE);
}

/* Whether `next` goes on where `mode` ends. */
static bool continues(const mapping *map, uint32_t mode, uint32_t next, tj_side_name side) {
  const tj_node *stride = stride_on(map, mode, side), *further = stride_on(map, next, side);
  return stride != NULL && further != NULL &&
         tj_prove_equal(map->graph, tj_mul(map->graph, stride, map->domain->mode[mode].extent), further);
}

/* --- the problem in numbers --- */

static uint32_t element_bytes(const mapping *map, tj_side_name side) {
  return tj_element_bytes(map->flat, tj_flat_buffer(map->flat, side));
}

static int64_t grain_of(const mapping *map, uint32_t mode, tj_side_name side) {
  const tj_node *stride = stride_on(map, mode, side);
  int64_t bytes = map->problem.bytes[side], elements = 1;
  while (stride != NULL && elements * bytes < map->problem.line_bytes &&
         tj_facts_divisible(&stride->facts, 2 * elements))
    elements *= 2;
  return elements * bytes;
}

static void describe_side(mapping *map, tj_side_name side) {
  tj_shape_problem *problem = &map->problem;
  problem->bytes[side] =
      tj_domain_least_bytes(map->domain, map->flat, tj_flat_buffer(map->flat, side), side == TJ_SOURCE);
  problem->width[side] = tj_target_widest(map->target, element_bytes(map, side));
  tj_domain_sort(map->graph, map->domain, side == TJ_SOURCE, problem->order[side]);
  for (uint32_t i = 0; i < problem->count; i++) {
    uint32_t mode = problem->order[side][i];
    problem->mode[mode].grain[side] = grain_of(map, mode, side);
    problem->mode[mode].continues[side] = i > 0 && continues(map, problem->order[side][i - 1], mode, side);
  }
}

/* How many work-items LDS serves at a time with a vector each; 1 on machines without banks. */
static int64_t phase_of(const tj_target *target) {
  const tj_bank_model *model = tj_bank_model_of(target->processor);
  return model != NULL ? tj_bank_phase_lanes(model, false, target->vector_bytes) : 1;
}

static void describe(mapping *map) {
  enum { PARTS_OF_LDS = 16 }; /* one of them is for padding */
  tj_shape_problem *problem = &map->problem;
  uint32_t sources = map->flat->arithmetic.count > 1 ? map->flat->arithmetic.count : 1;
  problem->count = map->domain->count;
  problem->carried_bytes = tj_dtype_bits(map->flat->carried) / 8;
  problem->lds_bytes = map->target->lds_bytes - map->target->lds_bytes / PARTS_OF_LDS;
  problem->lds_phase = phase_of(map->target);
  problem->line_bytes = tj_cache_line_bytes(map->target->processor);
  problem->sector_bytes = tj_sector_bytes(map->target->processor);
  problem->wave_size = map->target->wave_size;
  problem->slot_bytes = map->target->slot_bytes / sources;
  problem->slot_limit = map->target->slot_limit / sources;
  problem->tile_bytes = map->target->tile_bytes;
  problem->workgroup_limit = map->target->workgroup_limit;
  for (uint32_t m = 0; m < problem->count; m++) {
    const tj_node *extent = map->domain->mode[m].extent;
    problem->mode[m].extent = extent->facts.high;
    problem->mode[m].is_exact = tj_is_constant(extent);
  }
  describe_side(map, TJ_SOURCE);
  describe_side(map, TJ_DESTINATION);
  problem->may_stage = problem->lds_bytes > 0;
  problem->may_pass = map->target->keeps_slots;
}

/* Whether vectors may move on both sides, as far as strides tell. */
static bool is_mappable(const mapping *map) {
  uint32_t loaded = map->problem.order[TJ_SOURCE][0], stored = map->problem.order[TJ_DESTINATION][0];
  return tj_domain_has_neighbours(map->domain, loaded, true) &&
         tj_domain_has_neighbours(map->domain, stored, false) && (map->problem.may_stage || loaded == stored);
}

/* --- kernels --- */

/* "128 of 608 × 32 of 608 for 256 work-items in blocks of 4 × 4". */
static const char *describe_shape(const mapping *map) {
  const tj_tile_shape *shape = &map->shape;
  const tj_shape_problem *problem = &map->problem;
  tj_text text = tj_text_begin(map->graph->job);
  for (uint32_t i = 0; i < problem->count; i++) {
    uint32_t mode = problem->order[TJ_DESTINATION][i];
    tj_text_format(&text, "%s%" PRId64 " of ", i > 0 ? " × " : "", shape->extent[mode]);
    tj_node_print(&text, map->domain->mode[mode].extent);
  }
  tj_text_format(&text, " for %" PRId64 " work-items", shape->work_items);
  if (shape->is_staged && !shape->is_direct)
    tj_text_format(&text, " in blocks of %" PRId64 " × %" PRId64, shape->unit[problem->order[TJ_SOURCE][0]],
                   shape->depth);
  if (shape->passes > 1)
    tj_text_format(&text, " in %" PRId64 " passes", shape->passes);
  return text.data;
}

static const tj_layout *order_of(const mapping *map) {
  int64_t *reach = TJ_NEW_ARRAY(map->graph->job, int64_t, map->domain->count);
  for (uint32_t m = 0; m < map->domain->count; m++)
    reach[m] = tj_shape_room(&map->shape, m);
  return tj_order_of_tiles(map->graph, map->domain, reach,
                           tj_tile_sequence(map->graph, map->flat, map->domain, reach, map->problem.order[TJ_SOURCE],
                                            map->problem.order[TJ_DESTINATION]));
}

/* That work-items load straight into LDS at a time. */
static uint32_t direct_bytes(const mapping *map) {
  return tj_direct_widest(map->target->direct, UINT32_MAX);
}

/* Whether what goes straight into LDS has no place of its own there. */
static bool lies_side_by_side(const mapping *map) {
  return !map->by_dma && !map->target->direct->is_by_lane;
}

static tj_lds_problem lds_problem_of(const mapping *map, const tj_mapping *made) {
  return (tj_lds_problem){.mapping = made,
                          .target = map->target,
                          .work_items = tj_mapped_work_items(map->graph, made),
                          .element_bytes = (uint32_t)map->problem.carried_bytes,
                          .passes = map->target->keeps_slots ? made->passes : 1,
                          .order = map->shape.is_direct ? map->problem.order[map->lies_as] : NULL,
                          .columns = tj_shape_columns(&map->problem, map->lies_as),
                          .is_direct = map->shape.is_direct,
                          .is_brought = map->by_dma,
                          .is_packed = map->shape.is_direct && lies_side_by_side(map),
                          .may_stay = !map->shape.is_direct,
                          .dearest = map->dearest};
}

/* Has work-items load what lies side by side in the layout that was chosen; false where that has no vectors. */
static bool load_side_by_side(const mapping *map, tj_mapping *made, tj_lds_choice *shared) {
  tj_graph *graph = map->graph;
  tj_stage_choice *choice = TJ_NEW(graph->job, tj_stage_choice);
  uint32_t wave = map->target->wave_size, bytes = direct_bytes(map),
           vector = bytes / (uint32_t)map->problem.carried_bytes;
  uint32_t items = tj_mapping_work_items(graph, &made->store);
  *choice = *shared->choice;
  made->load = tj_direct_load(graph, made, vector, (items + wave - 1) / wave * wave);
  const tj_stage_direct direct = {tj_bank_model_of(map->target->processor), wave, made->load.items,
                                  made->load.slots / vector, bytes};
  tj_stage_add_direct(graph->job, &direct, choice);
  shared->choice = choice;
  return made->load.items > 0;
}

/* Has what was shared out go straight into the layout that was chosen; false where that has no vectors. */
static bool load_straight(const mapping *map, tj_lds_choice *shared) {
  tj_mapping *made = TJ_NEW(map->graph->job, tj_mapping);
  *made = *shared->mapping;
  made->is_direct = true;
  shared->mapping = made;
  return !lies_side_by_side(map) || load_side_by_side(map, made, shared);
}

/* Has an engine bring what work-items would load. */
static void bring(tj_mapping *made) {
  made->load = made->store;
  made->overlap = NULL;
  made->by_dma = true;
}

/* How the shape is shared out, and where it is in LDS; false where it does not fit there. Work-items store in their
 * order; or, `in_phases`, in one in which those whom LDS serves at a time are neighbours. */
static bool share_out(const mapping *map, bool in_phases, tj_lds_choice *shared) {
  tj_graph *graph = map->graph;
  const tj_value *as = in_phases ? tj_staging_order(graph, map->target) : NULL;
  tj_mapping *made = tj_mapping_of_shape(graph, &map->problem, &map->shape, map->layout, as);
  if (map->target->follows_destination)
    made->order = order_of(map);
  if (map->by_dma)
    bring(made);
  tj_lds_problem problem = lds_problem_of(map, made);
  *shared = (tj_lds_choice){made, NULL};
  return !map->shape.is_staged || (tj_choose_lds(graph, &problem, shared) &&
                                   (!map->shape.is_direct || map->by_dma || load_straight(map, shared)));
}

/* Cycles of LDS that conflicts cost a workgroup. */
static uint32_t conflicts_of(const tj_stage_choice *stage) {
  return stage == NULL ? 0 : stage->store_cycles + stage->load_cycles - stage->store_ideal - stage->load_ideal;
}

/* The same in parts of the cache lines that have to be touched. */
static double cost_of_conflicts(const tj_stage_choice *stage) {
  return stage == NULL
             ? 0
             : tj_cost_of_conflicts(stage->store_cycles + stage->load_cycles, stage->store_ideal + stage->load_ideal);
}

/* Whether so little has been counted of layouts in LDS that the search may go on to another mapping. */
static bool may_go_on(const mapping *map) {
  enum { PARTS_OF_FUEL = 10 };
  return map->fuel - map->graph->job->fuel < TJ_DEFAULT_FUEL / PARTS_OF_FUEL;
}

/* What is shared out, if anything is, or the same with fewer conflicts; whether that was found. */
static bool calm_down(const mapping *map, bool in_phases, tj_lds_choice *shared) {
  bool is_any = shared->mapping != NULL;
  mapping calmer = *map;
  tj_lds_choice other;
  if ((is_any && conflicts_of(shared->choice) == 0) || !may_go_on(map) ||
      (in_phases && tj_staging_order(map->graph, map->target) == NULL))
    return false;
  calmer.dearest = is_any ? cost_of_conflicts(shared->choice) : map->dearest;
  if (!share_out(&calmer, in_phases, &other) ||
      (is_any && conflicts_of(other.choice) >= conflicts_of(shared->choice)))
    return false;
  *shared = other;
  return true;
}

/* Whether blocks of a shape have conflicts on their way into LDS, or out of it where they turn around behind it, that
 * turns of less than half a phase might mend. */
static bool may_turn(const mapping *map, const tj_lds_choice *shared) {
  const tj_stage_choice *stage = shared->choice;
  bool has_conflicts =
      shared->mapping == NULL || (stage != NULL && (map->shape.is_direct ? stage->load_cycles > stage->load_ideal
                                                                         : stage->store_cycles > stage->store_ideal));
  return has_conflicts && map->shape.depth > 1 && map->shape.turn > LEAST_TURN;
}

/* How the shape is shared out with the fewest conflicts; false where it does not fit, or they are too dear. Columns
 * take short turns within phases only where it helps: a wave's loads touch more lines for it. */
static bool share_out_calmly(mapping *map, tj_lds_choice *shared) {
  if (!share_out(map, false, shared)) {
    if (map->dearest == 0)
      return false;
    shared->mapping = NULL;
  }
  if (may_turn(map, shared)) {
    mapping turned = *map;
    turned.shape.turn = LEAST_TURN;
    map->shape.turn = calm_down(&turned, false, shared) ? LEAST_TURN : map->shape.turn;
  }
  calm_down(map, true, shared);
  return shared->mapping != NULL;
}

/* The kernel of a shape, through registers or straight into LDS; NULL where it does not fit, or is too dear. One that
 * others may be better than is a draft. */
static tj_kernel *make_one_way(mapping *map) {
  tj_lds_choice shared;
  if (!share_out_calmly(map, &shared))
    return NULL;
  tj_mapped mapped = {.domain = map->domain,
                      .mapping = shared.mapping,
                      .choice = shared.choice,
                      .shared = map->shared,
                      .is_draft = map->made > 0 || conflicts_of(shared.choice) > 0};
  tj_kernel *kernel = tj_tile_as_mapped(map->graph, map->flat, &mapped, map->assumed, map->target);
  map->made++;
  if (kernel == NULL || !tj_kernel_fits(map->graph, kernel))
    return NULL;
  kernel->tile = describe_shape(map);
  return kernel;
}

/* Counted, where the launch brings no parameters. */
static tj_price price_of(const mapping *map, const tj_kernel *kernel) {
  enum { MOST_ACCESSES = 1 << 16 };
  if (kernel->parameter_count > 0)
    return (tj_price){.status = TJ_EVAL_UNBOUND};
  tj_price_machine machine = tj_price_machine_of(map->target);
  return tj_price_kernel(map->graph, kernel, &machine, NULL, MOST_ACCESSES);
}

/* What a kernel costs, in the terms in which its shape is priced: counted, or where only a launch could, guessed. */
static double cost_of(const mapping *map, const tj_tile_shape *shape, const tj_kernel *kernel) {
  int64_t bytes = map->problem.bytes[TJ_SOURCE] + map->problem.bytes[TJ_DESTINATION]; /* of an element */
  for (uint32_t i = 0; i < map->domain->other_count; i++)
    bytes += tj_element_bytes(map->flat, tj_flat_buffer(map->flat, TJ_OPERAND_OTHERS + i));
  tj_price_machine machine = tj_price_machine_of(map->target);
  tj_price price = price_of(map, kernel);
  if (price.status == TJ_EVAL_OK)
    return tj_price_in_lines(&price, &machine) * machine.line_bytes /
           ((double)map->domain->size->value * (double)bytes);
  return shape->cost + cost_of_conflicts(kernel->stage);
}

/* Why a shape's elements do not go straight into LDS, before anything is tried: a clause. NULL: they might; "": no
 * elements go through LDS, or the target has no such loads of vectors. */
static const char *obstacle_of_direct(const mapping *map) {
  const tj_shape_problem *problem = &map->problem;
  const tj_kernel_step *load = tj_flat_load(map->flat);
  int64_t bytes = map->shape.unit[problem->order[TJ_SOURCE][0]] * problem->carried_bytes;
  if (!map->shape.is_staged || direct_bytes(map) < map->target->vector_bytes)
    return "";
  if (map->flat->arithmetic.when == TJ_COMPUTED_LOADING ||
      map->flat->buffer[load->access.buffer].dtype != map->flat->carried)
    return "elements become others before they are in LDS";
  if (!tj_is_always(load->access.valid))
    return "some elements are not in the source, and the fill comes from registers";
  if (map->shape.passes > 1)
    return "elements wait for their pass, which they can do in registers alone";
  if (bytes != direct_bytes(map))
    return tj_string_format(map->graph->job, "work-items load %" PRId64 " neighbours of %" PRId64 " bytes",
                            map->shape.unit[problem->order[TJ_SOURCE][0]], problem->carried_bytes);
  return NULL;
}

/* A kernel that may go straight into LDS in the place of the usual one, or why none does. */
typedef struct {
  tj_kernel *usual, *kernel;
  tj_price price; /* of the usual one */
  const char *obstacle;
} direct_offer;

/* Whether a kernel of a price has more conflicts than the usual one: as planned, or as its accesses are counted,
 * whose vectors may be narrower. */
static bool has_more_conflicts(const direct_offer *offer, const tj_kernel *kernel, const tj_price *price) {
  tj_cost cost = tj_price_of_lds(price), usual = tj_price_of_lds(&offer->price);
  return conflicts_of(kernel->stage) > conflicts_of(offer->usual->stage) ||
         (cost.cycles - cost.least_cycles) * offer->price.counted_workgroups >
             (usual.cycles - usual.least_cycles) * price->counted_workgroups;
}

/* What is said of a kernel that is worse than the usual one, or that there is none. */
typedef struct {
  const char *missing, *conflicts, *lines;
} direct_faults;

static const direct_faults faults_side_by_side = {
    "no layout without gaps in LDS serves the vectors that the source shows",
    "layouts without gaps in LDS have bank conflicts here, which a padding avoids",
    "what lies side by side in LDS is farther apart in memory"};
static const direct_faults faults_by_lane = {
    "no layout in LDS serves the vectors that the source shows",
    "tiles that turn around behind LDS have bank conflicts here, which those that do before it have not",
    "tiles that turn around behind LDS have other work-items store their vectors"};

/* Why a kernel is worse than the usual one: conflicts, or lines of memory; NULL: it is not. */
static const char *fault_of(const mapping *map, const direct_offer *offer, const tj_kernel *kernel) {
  const direct_faults *faults = lies_side_by_side(map) ? &faults_side_by_side : &faults_by_lane;
  if (kernel == NULL)
    return faults->missing;
  if (tj_kernel_boxes(kernel) > 1)
    return "a tile takes several boxes";
  tj_price price = price_of(map, kernel);
  if (has_more_conflicts(offer, kernel, &price))
    return faults->conflicts;
  int64_t lines = tj_price_of_memory(&price).lines, usual = tj_price_of_memory(&offer->price).lines;
  if (lines * offer->price.counted_workgroups <= usual * price.counted_workgroups)
    return NULL;
  return tj_string_format(map->graph->job,
                          "%s: %" PRId64 " cache lines of %" PRId64 " workgroups, and %" PRId64 " of %" PRId64
                          " through registers",
                          faults->lines, lines, price.counted_workgroups, usual, offer->price.counted_workgroups);
}

/* Offers the kernel that lies in LDS as a side does. */
static void offer_one(mapping *map, tj_side_name side, bool by_dma, direct_offer *offer) {
  mapping straight = *map;
  straight.shape.is_direct = true;
  straight.lies_as = side;
  straight.by_dma = by_dma;
  straight.dearest = 0;
  straight.fuel = map->graph->job->fuel;
  tj_kernel *kernel = make_one_way(&straight);
  const char *fault = fault_of(&straight, offer, kernel);
  if (fault == NULL)
    offer->kernel = kernel;
  offer->obstacle = fault == NULL || offer->obstacle == NULL ? fault : offer->obstacle;
  map->made = straight.made;
}

/* Offers what work-items may load straight into LDS. Where tiles turn around, what lies there in the order of the
 * source is long for waves that load; where they do not, what lies in that of the destination for those that store.
 */
static void offer_direct(mapping *map, direct_offer *offer) {
  bool turns = map->problem.order[TJ_SOURCE][0] != map->problem.order[TJ_DESTINATION][0];
  offer_one(map, turns ? TJ_SOURCE : TJ_DESTINATION, false, offer);
  if (offer->kernel == NULL)
    offer_one(map, turns ? TJ_DESTINATION : TJ_SOURCE, false, offer);
}

/* Whether an engine could bring what work-items cannot load straight into LDS: a source that ends before the copy
 * does, on zeros. */
static bool may_be_brought(const mapping *map) {
  return map->shape.is_staged && map->shape.passes == 1 && map->target->family->emit_box != NULL &&
         !tj_is_always(tj_flat_load(map->flat)->access.valid) && map->flat->fill == 0;
}

/* Offers what may go straight into LDS. What this takes is no work of the search for shapes. */
static void offer_straight(mapping *map, direct_offer *offer) {
  uint64_t before = map->graph->job->fuel;
  bool is_loaded = offer->obstacle == NULL;
  if (!is_loaded && !may_be_brought(map))
    return;
  offer->price = price_of(map, offer->usual);
  if (is_loaded)
    offer_direct(map, offer);
  else
    offer_one(map, TJ_SOURCE, true, offer);
  map->fuel -= before - map->graph->job->fuel;
}

/* The kernel of a shape, straight into LDS where that is as good; NULL where it does not fit, or is too dear. */
static tj_kernel *make_kernel(mapping *map) {
  direct_offer offer = {.usual = make_one_way(map), .obstacle = obstacle_of_direct(map)};
  if (offer.usual == NULL)
    return NULL;
  offer_straight(map, &offer);
  if (offer.kernel != NULL)
    return offer.kernel;
  offer.usual->indirect = offer.obstacle[0] != '\0' ? offer.obstacle : NULL;
  return offer.usual;
}

enum { MOST_SHAPES = 16 };

/* Whether it is worth while to look at the next of the best shapes: at a few in any case, at more only where what was
 * found costs half as much again as what has to be touched, as it does with conflicts in tiles of short runs. */
static bool is_worth_while(const mapping *map, const tj_tile_shape *next, uint32_t tried, double least) {
  enum { FEW_SHAPES = 5 };
  static const double MUCH = 1.5;
  return tried == 0 || (next->cost < least && (tried < FEW_SHAPES || least > MUCH) && may_go_on(map));
}

/* The best kernel of the best shapes, and its shape: the first that has no conflicts in LDS, of which the prices of
 * shapes know nothing, or the cheapest up to there. Layouts in LDS whose conflicts take a shape's price beyond what
 * was found are not looked for; where kernels are counted, they may cost that much less than their shapes. NULL where
 * the first shape does not fit. */
static tj_kernel *make_best(mapping *map) {
  tj_tile_shape shape[MOST_SHAPES];
  uint32_t count = tj_choose_tile_shapes(&map->problem, shape, MOST_SHAPES);
  tj_tile_shape best = count > 0 ? shape[0] : map->shape;
  tj_kernel *kernel = NULL;
  double least = INFINITY;
  for (uint32_t i = 0; i < count && is_worth_while(map, &shape[i], i, least); i++) {
    map->shape = shape[i];
    map->dearest = kernel != NULL ? least - (1 - tj_parts_of_cost.shape_doubt) * shape[i].cost : 0;
    tj_kernel *next = make_kernel(map);
    if (next == NULL && kernel == NULL)
      break;
    if (next == NULL)
      continue;
    bool is_calm_at_once = i == 0 && conflicts_of(next->stage) == 0;
    double cost = is_calm_at_once ? 0 : cost_of(map, &shape[i], next);
    if (cost < least) {
      kernel = next;
      least = cost;
      best = shape[i];
    }
  }
  map->shape = best;
  map->dearest = 0;
  return kernel;
}

/* Whether a side's vectors are as wide as its work-items meant them to be; if not, they will mean no more. */
static bool meets_width(mapping *map, tj_side_name side, int64_t narrowest) {
  uint32_t first = map->problem.order[side][0];
  int64_t *width = &map->problem.width[side];
  int64_t meant = map->shape.unit[first] < *width ? map->shape.unit[first] : *width;
  if (narrowest >= meant)
    return true;
  *width = narrowest;
  return false;
}

static bool meets_widths(mapping *map, const tj_kernel *kernel) {
  bool loaded = meets_width(map, TJ_SOURCE, tj_narrowest_access(kernel, tj_flat_buffer(map->flat, TJ_SOURCE)));
  bool stored =
      meets_width(map, TJ_DESTINATION, tj_narrowest_access(kernel, tj_flat_buffer(map->flat, TJ_DESTINATION)));
  return loaded && stored;
}

/* Whether vectors move on both sides: what is gained on one alone does not pay for the code. */
static bool is_vectored(const mapping *map, const tj_kernel *kernel) {
  return tj_narrowest_access(kernel, tj_flat_buffer(map->flat, TJ_SOURCE)) > 1 &&
         tj_narrowest_access(kernel, tj_flat_buffer(map->flat, TJ_DESTINATION)) > 1;
}

/* Asks for less of LDS, after a tile that did not fit there. False: there is nothing less to ask for. */
static bool ask_for_less(tj_shape_problem *problem) {
  if (!problem->may_pass)
    problem->lds_bytes /= 2;
  problem->may_pass = false;
  return problem->lds_bytes > 0;
}

/* Asks for cuts at powers of two, after one at which neighbours did not show: where a cut is a multiple of what views
 * divide by, remainders simplify apart from their quotients. False: there is nothing else to ask for. */
static bool ask_for_powers(tj_shape_problem *problem) {
  bool is_new = false;
  for (uint32_t m = 0; m < problem->count; m++) {
    is_new = is_new || problem->mode[m].is_exact;
    problem->mode[m].is_exact = false;
  }
  return is_new;
}

static bool is_torn(const mapping *map, tj_side_name side) {
  return tj_is_torn(map->graph, map->shared, map->domain, side == TJ_SOURCE, tj_flat_buffer(map->flat, side));
}

/* Whether the best tile stays in registers. */
static bool is_best_straight(const mapping *map) {
  tj_tile_shape best;
  return tj_choose_tile_shapes(&map->problem, &best, 1) > 0 && !best.is_staged;
}

/* Whether a tile that stays in registers is not worth its code; where views tear vectors, that shows before it is
 * made. */
static bool is_rejected(const mapping *map, const tj_kernel *kernel) {
  return kernel != NULL && !map->shape.is_staged && !is_vectored(map, kernel);
}

/* What becomes of the best kernel. Where others were made before it, it is made once more: its code is that of its
 * mapping alone. */
static tj_kernel *finish(const mapping *map, tj_kernel *kernel) {
  tj_mapped mapped = {.domain = map->domain};
  if (map->made > 1)
    return tj_tile_again(map->graph, map->flat, &mapped, map->assumed, map->target, kernel);
  if (conflicts_of(kernel->stage) > 0)
    tj_kernel_simplify(map->graph, kernel, NULL);
  return kernel;
}

/* The kernel of the best tile; NULL where none fits, or a tile is not worth its code. Work-items take neighbours only
 * where the vectors of these are as wide as they were meant to be. */
static tj_kernel *make_tiled(mapping *map) {
  bool are_torn = is_torn(map, TJ_SOURCE) || is_torn(map, TJ_DESTINATION), is_done = false;
  tj_kernel *kernel = NULL;
  while (!is_done) {
    bool is_hopeless = are_torn && is_best_straight(map);
    kernel = is_hopeless ? NULL : make_best(map);
    if (is_hopeless || is_rejected(map, kernel)) {
      if (!ask_for_powers(&map->problem))
        return NULL;
      continue;
    }
    is_done = kernel != NULL ? meets_widths(map, kernel) : !map->shape.is_staged || !ask_for_less(&map->problem);
  }
  return kernel != NULL ? finish(map, kernel) : NULL;
}

/* --- copies --- */

/* What the best tile demands of extents that are not known. */
static tj_demands find_demands(mapping *map) {
  bool is_known = true;
  for (uint32_t m = 0; m < map->problem.count; m++)
    is_known = is_known && map->problem.mode[m].is_exact;
  if (is_known || tj_choose_tile_shapes(&map->problem, &map->shape, 1) == 0)
    return (tj_demands){NULL, 0};
  return tj_find_demands(map->graph, map->flat->domain, 1, map->shape.extent);
}

/* Offers a kernel for parameters that meet the demands. */
static void add_faster(const mapping *map, tj_kernel *general, const tj_demands *demands) {
  tj_substitution assumed = tj_assume(map->graph, demands);
  mapping under = *map;
  under.assumed = &assumed;
  under.domain = tj_assumed_domain(map->graph, map->flat->domain, &assumed);
  describe(&under);
  tj_kernel *faster = make_tiled(&under);
  if (faster != NULL)
    tj_offer_faster(map->graph, general, faster, demands,
                    tj_string_format(map->graph->job, "%s.vectors", map->flat->name));
}

/* False where no tile is to be looked for. */
static bool begin(mapping *map, tj_graph *graph, const tj_kernel *flat, const tj_target *target) {
  static const tj_substitution nothing;
  *map = (mapping){.graph = graph,
                   .domain = flat->domain,
                   .target = target,
                   .flat = flat,
                   .assumed = &nothing,
                   .fuel = graph->job->fuel,
                   .lies_as = TJ_DESTINATION,
                   .shared = TJ_NEW(graph->job, tj_coordinates)};
  if (map->domain == NULL || map->domain->count == 0 || map->domain->count > TJ_SHAPE_MOST_MODES)
    return false;
  map->layout = tj_domain_layout(graph, map->domain);
  describe(map);
  return is_mappable(map);
}

static void join_equals(tj_graph *graph, tj_kernel *flat) {
  if (tj_copies_equals(flat))
    flat->domain = tj_domain_of_equals(graph, flat->domain, flat->count);
}

static tj_kernel *map_gather(tj_graph *graph, tj_kernel *flat, const tj_target *target) {
  tj_kernel *kernel = tj_gather_widest(graph, flat, target);
  if (kernel->faster != NULL)
    kernel->faster->mapping = tj_mapping_of_flat(graph, kernel->faster);
  return kernel;
}

tj_kernel *tj_map_copy(tj_graph *graph, tj_kernel *flat, const tj_target *target) {
  if (tj_is_gather(flat))
    return map_gather(graph, flat, target);
  join_equals(graph, flat);
  tj_kernel *blocked = target->block_bytes > 0 ? tj_map_on_host(graph, flat, target) : NULL;
  if (blocked != NULL)
    return blocked;
  mapping map;
  if (tj_offer_flexible(graph, flat, target, NULL))
    return flat;
  if (!begin(&map, graph, flat, target)) {
    tj_kernel *coarse = tj_map_coarsely(graph, flat, target);
    return coarse != NULL ? coarse : flat;
  }
  tj_demands demands = find_demands(&map);
  tj_kernel *tiled = demands.count == 0 ? make_tiled(&map) : NULL;
  if (demands.count > 0)
    add_faster(&map, flat, &demands);
  if (tiled == NULL && flat->faster == NULL)
    tiled = tj_map_coarsely(graph, flat, target);
  return tiled != NULL ? tiled : flat;
}

uint32_t tj_list_candidates(tj_graph *graph, tj_kernel *flat, const tj_target *target, const tj_mapping *candidate[],
                            uint32_t most) {
  tj_tile_shape *shape = TJ_NEW_ARRAY(graph->job, tj_tile_shape, most);
  const tj_kernel *whole = tj_is_gather(flat) ? tj_gather_widest(graph, flat, target) : flat;
  const tj_mapping *alone = tj_mapping_of_flat(graph, whole);
  uint32_t shapes = 0, count = 0;
  mapping map;
  join_equals(graph, flat);
  if (begin(&map, graph, flat, target) && make_tiled(&map) != NULL)
    shapes = tj_choose_tile_shapes(&map.problem, shape, most);
  for (uint32_t i = 0; i < shapes; i++) {
    tj_job_refuel(graph->job);
    map.fuel = graph->job->fuel;
    map.shape = shape[i];
    const tj_kernel *kernel = make_kernel(&map);
    if (kernel != NULL)
      candidate[count++] = kernel->mapping;
  }
  if (alone != NULL && count < most)
    candidate[count++] = alone;
  return count;
}

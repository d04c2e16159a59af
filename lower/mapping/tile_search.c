/* SPDX-License-Identifier: MIT */
/* Kernels of the shapes that are worth it, and the best of them. How a shape is shared out, and where it lies in LDS,
 * is found in numbers; what the numbers promise is then made of expressions (tile_mapping.h, tiling.h), and taken
 * where it holds. */
#include "lower/mapping/tile_search.h"

#include "base/machine/bank.h"
#include "base/number/cost.h"
#include "base/text.h"
#include "ir/index/print.h"
#include "lower/access/price.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/kernel/variant.h"
#include "lower/lds/direct.h"
#include "lower/mapping/mapped.h"
#include "lower/shape/lds_choice.h"
#include "lower/shape/tile_mapping.h"
#include "lower/shape/tile_order.h"
#include "lower/tile/lds_transit.h"
#include "lower/tile/torn.h"

#include <inttypes.h>
#include <math.h>

enum { LEAST_TURN = 4 }; /* lanes that LDS serves together, whatever they access */

/* --- sharing out --- */

static const tj_layout *order_of(const tj_tile_search *search) {
  int64_t *reach = TJ_NEW_ARRAY(search->graph->job, int64_t, search->domain->count);
  for (uint32_t m = 0; m < search->domain->count; m++)
    reach[m] = tj_shape_room(&search->shape, m);
  return tj_order_of_tiles(search->graph, search->domain, reach,
                           tj_tile_sequence(search->graph, search->flat, search->domain, reach,
                                            search->problem.order[TJ_SOURCE], search->problem.order[TJ_DESTINATION]));
}

/* That work-items load straight into LDS at a time. */
static uint32_t direct_bytes(const tj_tile_search *search) {
  return tj_direct_widest(search->target->direct, UINT32_MAX);
}

/* Whether what goes straight into LDS has no place of its own there. */
static bool lies_side_by_side(const tj_tile_search *search) {
  return !search->by_dma && !search->target->direct->is_by_lane;
}

static tj_lds_problem lds_problem_of(const tj_tile_search *search, const tj_mapping *made) {
  return (tj_lds_problem){.mapping = made,
                          .target = search->target,
                          .work_items = tj_mapped_work_items(search->graph, made),
                          .element_bytes = (uint32_t)search->problem.carried_bytes,
                          .passes = search->target->keeps_slots ? made->passes : 1,
                          .order = search->shape.is_direct ? search->problem.order[search->lies_as] : NULL,
                          .columns = tj_shape_columns(&search->problem, search->lies_as),
                          .is_direct = search->shape.is_direct,
                          .is_brought = search->by_dma,
                          .is_packed = search->shape.is_direct && lies_side_by_side(search),
                          .may_stay = !search->shape.is_direct,
                          .is_calm = search->is_calm,
                          .dearest = search->dearest};
}

/* Has work-items load what lies side by side in the layout that was chosen; false where that has no vectors. */
static bool load_side_by_side(const tj_tile_search *search, tj_mapping *made, tj_lds_choice *shared) {
  tj_graph *graph = search->graph;
  tj_stage_choice *choice = TJ_NEW(graph->job, tj_stage_choice);
  uint32_t wave = search->target->wave_size, bytes = direct_bytes(search),
           vector = bytes / (uint32_t)search->problem.carried_bytes;
  uint32_t items = tj_mapping_work_items(graph, &made->store);
  *choice = *shared->choice;
  made->load = tj_direct_load(graph, made, vector, (items + wave - 1) / wave * wave);
  const tj_stage_direct direct = {tj_bank_model_of(search->target->processor), wave, made->load.items,
                                  made->load.slots / vector, bytes};
  tj_stage_add_direct(graph->job, &direct, choice);
  shared->choice = choice;
  return made->load.items > 0;
}

/* Has what was shared out go straight into the layout that was chosen; false where that has no vectors. */
static bool load_straight(const tj_tile_search *search, tj_lds_choice *shared) {
  tj_mapping *made = TJ_NEW(search->graph->job, tj_mapping);
  *made = *shared->mapping;
  made->is_direct = true;
  shared->mapping = made;
  return !lies_side_by_side(search) || load_side_by_side(search, made, shared);
}

/* Has an engine bring what work-items would load. */
static void bring(tj_mapping *made) {
  made->load = made->store;
  made->overlap = NULL;
  made->by_dma = true;
}

/* How the shape is shared out, and where it is in LDS; false where it does not fit there. Work-items store in their
 * order; or, `in_phases`, in one in which those whom LDS serves at a time are neighbours. */
static bool share_out(const tj_tile_search *search, bool in_phases, tj_lds_choice *shared) {
  tj_graph *graph = search->graph;
  const tj_value *as = in_phases ? tj_staging_order(graph, search->target) : NULL;
  tj_mapping *made = tj_mapping_of_shape(graph, &search->problem, &search->shape, search->layout, as);
  if (search->target->follows_destination)
    made->order = order_of(search);
  if (search->by_dma)
    bring(made);
  tj_lds_problem problem = lds_problem_of(search, made);
  *shared = (tj_lds_choice){made, NULL};
  return !search->shape.is_staged || (tj_choose_lds(graph, &problem, shared) &&
                                      (!search->shape.is_direct || search->by_dma || load_straight(search, shared)));
}

/* --- conflicts --- */

/* Cycles of LDS that conflicts cost a workgroup. */
static uint32_t conflicts_of(const tj_stage_choice *stage) {
  return stage == NULL ? 0 : stage->store_cycles + stage->load_cycles - stage->store_ideal - stage->load_ideal;
}

/* The same in parts of the cache lines that have to be touched. */
static double cost_of_conflicts(const tj_tile_search *search, const tj_stage_choice *stage) {
  return stage == NULL ? 0
                       : tj_cost_of_conflicts(search->problem.costs, stage->store_cycles + stage->load_cycles,
                                              stage->store_ideal + stage->load_ideal);
}

/* Whether so little has been counted of layouts in LDS that the search may go on to another mapping. */
static bool may_go_on(const tj_tile_search *search) {
  enum { PARTS_OF_FUEL = 10 };
  return search->fuel - search->graph->job->fuel < TJ_DEFAULT_FUEL / PARTS_OF_FUEL;
}

/* What is shared out, if anything is, or the same with fewer conflicts; whether that was found. */
static bool calm_down(const tj_tile_search *search, bool in_phases, tj_lds_choice *shared) {
  bool is_any = shared->mapping != NULL;
  tj_tile_search calmer = *search;
  tj_lds_choice other;
  if ((is_any && conflicts_of(shared->choice) == 0) || !may_go_on(search) ||
      (in_phases && tj_staging_order(search->graph, search->target) == NULL))
    return false;
  calmer.dearest = is_any ? cost_of_conflicts(search, shared->choice) : search->dearest;
  if (!share_out(&calmer, in_phases, &other) ||
      (is_any && conflicts_of(other.choice) >= conflicts_of(shared->choice)))
    return false;
  *shared = other;
  return true;
}

/* Whether blocks of a shape have conflicts on their way into LDS, or out of it where they turn around behind it, that
 * turns of less than half a phase might mend. */
static bool may_turn(const tj_tile_search *search, const tj_lds_choice *shared) {
  const tj_stage_choice *stage = shared->choice;
  bool has_conflicts = shared->mapping == NULL ||
                       (stage != NULL && (search->shape.is_direct ? stage->load_cycles > stage->load_ideal
                                                                  : stage->store_cycles > stage->store_ideal));
  return has_conflicts && search->shape.depth > 1 && search->shape.turn > LEAST_TURN;
}

/* How the shape is shared out with the fewest conflicts; false where it does not fit, or they are too dear. Columns
 * take short turns within phases only where it helps: a wave's loads touch more lines for it. */
static bool share_out_calmly(tj_tile_search *search, tj_lds_choice *shared) {
  if (!share_out(search, false, shared)) {
    if (search->dearest == 0 && !search->is_calm)
      return false;
    shared->mapping = NULL;
  }
  const bool may_be_turned = may_turn(search, shared);
  tj_tile_search turned = *search;
  turned.shape.turn = LEAST_TURN;
  if (may_be_turned && calm_down(&turned, false, shared))
    search->shape.turn = LEAST_TURN;
  calm_down(search, true, shared);
  if (may_be_turned && search->shape.turn != LEAST_TURN && calm_down(&turned, true, shared))
    search->shape.turn = LEAST_TURN;
  return shared->mapping != NULL;
}

/* --- kernels of a shape --- */

/* "128 of 608 × 32 of 608 for 256 work-items in blocks of 4 × 4". */
static const char *describe_shape(const tj_tile_search *search) {
  const tj_tile_shape *shape = &search->shape;
  const tj_shape_problem *problem = &search->problem;
  tj_text text = tj_text_begin(search->graph->job);
  for (uint32_t i = 0; i < problem->count; i++) {
    uint32_t mode = problem->order[TJ_DESTINATION][i];
    tj_text_format(&text, "%s%" PRId64 " of ", i > 0 ? " × " : "", shape->extent[mode]);
    tj_node_print(&text, search->domain->mode[mode].extent);
  }
  tj_text_format(&text, " for %" PRId64 " work-items", shape->work_items);
  if (shape->is_staged && !shape->is_direct)
    tj_text_format(&text, " in blocks of %" PRId64 " × %" PRId64, shape->unit[problem->order[TJ_SOURCE][0]],
                   shape->depth);
  if (shape->passes > 1)
    tj_text_format(&text, " in %" PRId64 " passes", shape->passes);
  return text.data;
}

/* Why a shape's elements do not go straight into LDS, before anything is tried: a clause. NULL: they might; "": no
 * elements go through LDS, or the target has no such loads of vectors. */
static const char *obstacle_of_direct(const tj_tile_search *search) {
  const tj_shape_problem *problem = &search->problem;
  int64_t bytes = search->shape.unit[problem->order[TJ_SOURCE][0]] * problem->carried_bytes;
  if (!search->shape.is_staged || direct_bytes(search) < search->target->vector_bytes)
    return "";
  const char *obstacle = tj_direct_obstacle_of_loads(search->flat, tj_flat_load(search->flat)->access.valid);
  if (obstacle == NULL && search->shape.passes > 1)
    return "the tile goes through LDS in passes, which wait in registers unless a mapping says otherwise";
  if (obstacle == NULL && bytes != direct_bytes(search))
    return tj_string_format(search->graph->job, "work-items load %" PRId64 " neighbours of %" PRId64 " bytes",
                            search->shape.unit[problem->order[TJ_SOURCE][0]], problem->carried_bytes);
  return obstacle;
}

/* Whether another kernel may be better than the first one. */
static bool is_first_in_doubt(const tj_tile_search *search, const tj_stage_choice *stage) {
  return conflicts_of(stage) > 0 || obstacle_of_direct(search) == NULL;
}

/* The kernel of what is shared out, through registers or straight into LDS; NULL where it does not fit. One that
 * others may be better than is a draft. */
static tj_kernel *make_shared(tj_tile_search *search, const tj_lds_choice *shared) {
  tj_mapped mapped = {.domain = search->domain,
                      .mapping = shared->mapping,
                      .choice = shared->choice,
                      .shared = search->shared,
                      .is_draft = search->made > 0 || is_first_in_doubt(search, shared->choice)};
  tj_kernel *kernel = tj_tile_as_mapped(search->graph, search->flat, &mapped, search->target);
  search->made++;
  if (kernel == NULL || !tj_kernel_fits(search->graph, kernel))
    return NULL;
  kernel->tile = describe_shape(search);
  return kernel;
}

/* A kernel, and what is counted of it. */
typedef struct {
  tj_kernel *kernel; /* NULL: there is none */
  tj_price price;
  bool is_priced;
} priced_kernel;

/* Counted once, where the launch brings no parameters. */
static const tj_price *price_of(const tj_tile_search *search, priced_kernel *priced) {
  enum { MOST_ACCESSES = 1 << 16 };
  tj_price_machine machine = tj_price_machine_of(search->target);
  if (!priced->is_priced)
    priced->price = priced->kernel->parameter_count > 0
                        ? (tj_price){.status = TJ_EVAL_UNBOUND}
                        : tj_price_kernel(search->graph, priced->kernel, &machine, NULL, MOST_ACCESSES);
  priced->is_priced = true;
  return &priced->price;
}

/* --- straight into LDS --- */

/* A kernel that may go straight into LDS in the place of the usual one, or why none does. */
typedef struct {
  priced_kernel usual, straight;
  const char *obstacle;
} direct_offer;

/* Whether more conflicts are planned than the usual kernel has. */
static bool plans_more_conflicts(const direct_offer *offer, const tj_stage_choice *choice) {
  return conflicts_of(choice) > conflicts_of(offer->usual.kernel->stage);
}

/* Whether a kernel of a price has more conflicts than the usual one, as its accesses are counted, whose vectors may
 * be narrower than planned. */
static bool has_more_conflicts(const direct_offer *offer, const tj_price *price) {
  tj_cost cost = tj_price_of_lds(price), usual = tj_price_of_lds(&offer->usual.price);
  return (cost.cycles - cost.least_cycles) * offer->usual.price.counted_workgroups >
         (usual.cycles - usual.least_cycles) * price->counted_workgroups;
}

/* What is said of a kernel that is worse than the usual one, or that there is none. */
typedef struct {
  const char *missing, *conflicts, *lines;
} direct_faults;

static const direct_faults faults_side_by_side = {
    "no layout without gaps in LDS serves the vectors that the source shows",
    "no layout without gaps in LDS has as few bank conflicts as others have here",
    "what lies side by side in LDS is farther apart in memory"};
static const direct_faults faults_by_lane = {
    "no layout in LDS serves the vectors that the source shows",
    "no tile that turns around behind LDS has as few bank conflicts as those that do before it",
    "tiles that turn around behind LDS have other work-items store their vectors"};

/* Makes the kernel of a shape. Why it is worse than the usual one, or would be: conflicts, or lines of memory; NULL:
 * it is not. */
static const char *make_offered(tj_tile_search *search, direct_offer *offer, priced_kernel *made) {
  const direct_faults *faults = lies_side_by_side(search) ? &faults_side_by_side : &faults_by_lane;
  tj_lds_choice shared;
  if (!share_out_calmly(search, &shared))
    return search->is_calm ? faults->conflicts : faults->missing;
  if (plans_more_conflicts(offer, shared.choice))
    return faults->conflicts;
  *made = (priced_kernel){.kernel = make_shared(search, &shared)};
  if (made->kernel == NULL)
    return faults->missing;
  if (tj_kernel_boxes(made->kernel, false) > 1)
    return "a tile takes several boxes";
  const tj_price *price = price_of(search, made), *of_usual = price_of(search, &offer->usual);
  if (has_more_conflicts(offer, price))
    return faults->conflicts;
  int64_t lines = tj_price_of_memory(price).lines, usual = tj_price_of_memory(of_usual).lines;
  if (lines * of_usual->counted_workgroups <= usual * price->counted_workgroups)
    return NULL;
  return tj_string_format(search->graph->job,
                          "%s: %" PRId64 " cache lines of %" PRId64 " workgroups, and %" PRId64 " of %" PRId64
                          " through registers",
                          faults->lines, lines, price->counted_workgroups, usual, of_usual->counted_workgroups);
}

/* Whether an engine could bring what work-items cannot load straight into LDS: a source that ends before the copy
 * does, on zeros. Tensor maps want addresses that not every source has. */
static bool may_be_brought(const tj_tile_search *search) {
  const tj_dma_engine *engine = tj_dma_engine_of(search->target->processor);
  return search->shape.is_staged && search->shape.passes == 1 && engine != NULL &&
         engine->kind == TJ_DMA_DESCRIPTOR && !tj_is_always(tj_flat_load(search->flat)->access.valid) &&
         search->flat->fill == 0;
}

/* A way straight into LDS: in the order of whose modes elements lie there, and who brings them. */
typedef struct {
  tj_side_name side;
  bool by_dma;
} straight_way;

/* The ways that something may go, where `obstacle` is that of work-items. What is loaded as a vector lies side by side
 * in LDS. So tiles that turn around lie there in the order of the source; of others, what lies in that of the
 * destination is long for waves that store, what lies in that of the source for those that load. */
static uint32_t list_ways(const tj_tile_search *search, const char *obstacle, straight_way way[TJ_SIDES]) {
  if (obstacle != NULL) {
    way[0] = (straight_way){TJ_SOURCE, true};
    return may_be_brought(search) ? 1 : 0;
  }
  uint32_t count = 0;
  if (!tj_shape_turns(&search->problem))
    way[count++] = (straight_way){TJ_DESTINATION, false};
  way[count++] = (straight_way){TJ_SOURCE, false};
  return count;
}

static tj_tile_search search_that_way(const tj_tile_search *search, straight_way way) {
  tj_tile_search straight = *search;
  straight.shape.is_direct = true;
  straight.lies_as = way.side;
  straight.by_dma = way.by_dma;
  straight.dearest = 0;
  straight.fuel = search->graph->job->fuel;
  return straight;
}

static void offer_one(tj_tile_search *search, straight_way way, direct_offer *offer) {
  tj_tile_search straight = search_that_way(search, way);
  priced_kernel made;
  straight.is_calm = conflicts_of(offer->usual.kernel->stage) == 0;
  const char *fault = make_offered(&straight, offer, &made);
  if (fault == NULL)
    offer->straight = made;
  offer->obstacle = fault == NULL || offer->obstacle == NULL ? fault : offer->obstacle;
  search->made = straight.made;
}

/* Offers what may go straight into LDS, the first way that is as good. What this takes is no work of the search for
 * shapes. */
static void offer_straight(tj_tile_search *search, direct_offer *offer) {
  const uint64_t before = search->graph->job->fuel;
  straight_way way[TJ_SIDES];
  const uint32_t count = list_ways(search, offer->obstacle, way);
  for (uint32_t i = 0; i < count && offer->straight.kernel == NULL; i++)
    offer_one(search, way[i], offer);
  search->fuel -= before - search->graph->job->fuel;
}

/* Whether something has a kernel without conflicts on a way straight into LDS: what is planned in numbers may have no
 * vectors there. */
static bool may_be_calm_straight(tj_tile_search *search) {
  straight_way way[TJ_SIDES];
  const uint32_t count = list_ways(search, obstacle_of_direct(search), way);
  bool is_calm = false;
  for (uint32_t i = 0; i < count && !is_calm; i++) {
    tj_tile_search straight = search_that_way(search, way[i]);
    tj_lds_choice shared;
    straight.is_calm = true;
    is_calm = share_out_calmly(&straight, &shared) && make_shared(&straight, &shared) != NULL;
    search->made = straight.made;
  }
  return is_calm;
}

/* The kernel of what is shared out through registers, or of the same straight into LDS where that is as good. */
static tj_kernel *make_best_way(tj_tile_search *search, const tj_lds_choice *shared) {
  direct_offer offer = {.usual.kernel = make_shared(search, shared), .obstacle = obstacle_of_direct(search)};
  if (offer.usual.kernel == NULL)
    return NULL;
  offer_straight(search, &offer);
  if (offer.straight.kernel != NULL)
    return offer.straight.kernel;
  offer.usual.kernel->indirect = offer.obstacle[0] != '\0' ? offer.obstacle : NULL;
  return offer.usual.kernel;
}

tj_kernel *tj_search_shape(tj_tile_search *search) {
  tj_lds_choice shared;
  return share_out_calmly(search, &shared) ? make_best_way(search, &shared) : NULL;
}

/* --- the best shape --- */

enum { MOST_SHAPES = 16, MOST_FAILED = 3 };

/* A shape that is shared out, and what its kernel is thought to cost. */
typedef struct {
  const tj_tile_shape *shape;
  tj_tile_shape as_shared;
  tj_lds_choice shared;
  tj_kernel *kernel; /* NULL: it has not been made */
  double thought;
} entrant;

typedef struct {
  tj_tile_search *search;
  tj_tile_shape shape[MOST_SHAPES]; /* by price, which is the least that a kernel of theirs is thought to cost */
  uint32_t count;
  uint32_t entered;     /* shapes that have entered, in layouts without conflicts where any conflict is dear, */
  bool has_conflicting; /* and whether the first one has in layouts with conflicts */
  uint32_t failed;      /* shapes that might have gone straight into LDS without conflicts, until they were made */
  entrant best;         /* of those that entered; what it is thought to cost is infinite where there is none */
} contest;

/* Has the search find layouts with whatever conflicts. */
static void allow_conflicts(tj_tile_search *search) {
  search->is_calm = false;
  search->dearest = 0;
}

static tj_kernel *make_entrant(tj_tile_search *search, const entrant *e) {
  search->shape = e->as_shared;
  allow_conflicts(search);
  return make_best_way(search, &e->shared);
}

/* Shares out what has no layout without conflicts through registers, but might have one straight into LDS: the kernel
 * tells, as that must not touch more lines for it. */
static bool share_out_straight(tj_tile_search *search, entrant *e) {
  search->shape = *e->shape;
  if (!may_be_calm_straight(search))
    return false;
  allow_conflicts(search);
  if (!share_out_calmly(search, &e->shared))
    return false;
  e->as_shared = search->shape;
  e->kernel = make_entrant(search, e);
  return e->kernel != NULL;
}

/* Shares a shape out, in layouts without conflicts or in any. */
static void enter(contest *c, const tj_tile_shape *shape, bool is_calm) {
  tj_tile_search *search = c->search;
  entrant e = {.shape = shape};
  search->shape = *shape;
  search->is_calm = is_calm;
  search->dearest = c->best.thought < INFINITY ? c->best.thought - shape->cost : 0;
  const bool is_shared = share_out_calmly(search, &e.shared);
  e.as_shared = search->shape;
  if (!is_shared && (!is_calm || c->failed == MOST_FAILED || !share_out_straight(search, &e)))
    return;
  c->failed += e.kernel != NULL && conflicts_of(e.kernel->stage) > 0;
  e.thought = shape->cost + cost_of_conflicts(search, e.kernel != NULL ? e.kernel->stage : e.shared.choice);
  c->best = e.thought < c->best.thought ? e : c->best;
}

/* Goes on to the best entrant, in the order of what is the least that entrants are thought to cost: all shapes
 * without conflicts, and the first one with conflicts, too; others are rarely better, and the layouts of the fewest
 * conflicts take long to find. Where a conflict is no dearer than its cycles, all of any layout. */
static bool find_best(contest *c) {
  const double any_conflict = c->search->problem.costs->any_conflict;
  c->best.thought = INFINITY;
  while (true) {
    const double next = c->entered < c->count ? c->shape[c->entered].cost : INFINITY;
    const bool may_conflict = any_conflict > 0 && !c->has_conflicting && c->count > 0;
    const double conflicting = may_conflict ? c->shape[0].cost + any_conflict : INFINITY;
    if (c->best.thought <= (next < conflicting ? next : conflicting))
      return c->best.thought < INFINITY;
    if (next < conflicting) {
      enter(c, &c->shape[c->entered++], any_conflict > 0);
      continue;
    }
    c->has_conflicting = true;
    c->search->fuel = c->search->graph->job->fuel; /* what had none without took is not held against it */
    enter(c, &c->shape[0], false);
  }
}

/* The kernel of the best shape that has one; NULL where none has. */
static tj_kernel *make_best(tj_tile_search *search) {
  contest *c = TJ_NEW(search->graph->job, contest);
  tj_kernel *kernel = NULL;
  c->search = search;
  c->count = tj_choose_tile_shapes(&search->problem, c->shape, MOST_SHAPES);
  while (kernel == NULL && find_best(c))
    kernel = c->best.kernel != NULL ? c->best.kernel : make_entrant(search, &c->best);
  search->shape = kernel != NULL ? *c->best.shape : c->count > 0 ? c->shape[0] : search->shape;
  allow_conflicts(search);
  return kernel;
}

/* --- the best tile --- */

/* Whether a side's vectors are as wide as its work-items meant them to be; if not, they will mean no more. */
static bool meets_width(tj_tile_search *search, tj_side_name side, int64_t narrowest) {
  uint32_t first = search->problem.order[side][0];
  int64_t *width = &search->problem.width[side];
  int64_t meant = search->shape.unit[first] < *width ? search->shape.unit[first] : *width;
  if (narrowest >= meant)
    return true;
  *width = narrowest;
  return false;
}

static bool meets_widths(tj_tile_search *search, const tj_kernel *kernel) {
  bool loaded = meets_width(search, TJ_SOURCE, tj_narrowest_access(kernel, tj_flat_buffer(search->flat, TJ_SOURCE)));
  bool stored =
      meets_width(search, TJ_DESTINATION, tj_narrowest_access(kernel, tj_flat_buffer(search->flat, TJ_DESTINATION)));
  return loaded && stored;
}

/* Whether vectors move on both sides: what is gained on one alone does not pay for the code. */
static bool is_vectored(const tj_tile_search *search, const tj_kernel *kernel) {
  return tj_narrowest_access(kernel, tj_flat_buffer(search->flat, TJ_SOURCE)) > 1 &&
         tj_narrowest_access(kernel, tj_flat_buffer(search->flat, TJ_DESTINATION)) > 1;
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
  for (uint32_t m = 0; m < problem->count && problem->tile == NULL; m++) {
    is_new = is_new || tj_shape_is_fixed(&problem->mode[m]);
    problem->mode[m].least = 0;
  }
  return is_new;
}

static bool is_torn(const tj_tile_search *search, tj_side_name side) {
  return tj_is_torn(search->graph, search->shared, search->domain, side == TJ_SOURCE,
                    tj_flat_buffer(search->flat, side));
}

/* Whether the best tile stays in registers. */
static bool is_best_straight(const tj_tile_search *search) {
  tj_tile_shape best;
  return tj_choose_tile_shapes(&search->problem, &best, 1) > 0 && !best.is_staged;
}

/* Whether a tile that stays in registers is not worth its code; where views tear vectors, that shows before it is
 * made. */
static bool is_rejected(const tj_tile_search *search, const tj_kernel *kernel) {
  return kernel != NULL && !search->shape.is_staged && !is_vectored(search, kernel);
}

/* What becomes of the best kernel. Where others were made before it, it is made once more: its code is that of its
 * mapping alone. */
static tj_kernel *finish(const tj_tile_search *search, tj_kernel *kernel) {
  tj_mapped mapped = {.domain = search->domain};
  if (search->made > 1)
    return tj_tile_again(search->graph, search->flat, &mapped, search->target, kernel);
  if (is_first_in_doubt(search, kernel->stage))
    tj_kernel_simplify(search->graph, kernel, NULL);
  return kernel;
}

tj_kernel *tj_search_tiles(tj_tile_search *search) {
  bool are_torn = is_torn(search, TJ_SOURCE) || is_torn(search, TJ_DESTINATION), is_done = false;
  tj_kernel *kernel = NULL;
  while (!is_done) {
    bool is_hopeless = are_torn && is_best_straight(search);
    kernel = is_hopeless ? NULL : make_best(search);
    if (is_hopeless || is_rejected(search, kernel)) {
      if (!ask_for_powers(&search->problem))
        return NULL;
      continue;
    }
    is_done =
        kernel != NULL ? meets_widths(search, kernel) : !search->shape.is_staged || !ask_for_less(&search->problem);
  }
  return kernel != NULL ? finish(search, kernel) : NULL;
}

/* SPDX-License-Identifier: MIT */
/* Tiles that travel as distributions say: which accesses are vectors, what stays in registers; and random
 * distributions, on random layouts and views of static and dynamic extents, element by element against the tables of
 * the oracle, without races. */
#include "frontend/sema/sema.h"
#include "frontend/text/parser.h"
#include "ir/value/table.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/mapping/mapped.h"
#include "lower/plan/plan.h"
#include "tests/unit/support/kernel_interpreter.h"
#include "tests/unit/support/random_nodes.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT = 8192 };

/* Everything between text and the mapped kernel. */
static const tj_program_values *read_program(tj_graph *graph, const char *text, const tj_parameter_value *fixed) {
  graph->job->source = tj_source_of("test", text, strlen(text));
  const tj_program_ast *ast = tj_parse(graph->job);
  return tj_evaluate(graph, ast, fixed, fixed != NULL ? 1 : 0);
}

static const tj_kernel *map_program(tj_graph *graph, const tj_program_values *values, const char *target) {
  tj_kernel *flat = tj_plan_kernel(graph, values, &values->kernel[0]);
  tj_kernel_simplify(graph, flat, NULL);
  return tj_map_as_given(graph, flat, tj_target_parse(graph->job, target));
}

/* --- vectors --- */

#define A_BLOCK                                                                                                      \
  "let A = distribution(hs=[[2,4,32],[2,8]], ps_major=[[1],[2,1]], ps_minor=[[1],[0,2]], "                           \
  "ys_major=[1,2], ys_minor=[0,1])\n"
#define A_SHARED                                                                                                     \
  "let A = distribution(rs=[2], hs=[[2,2,32],[4,2,8]], ps_major=[[1,0],[2,1]], ps_minor=[[1,0],[1,2]], "             \
  "ys_major=[1,2,2], ys_minor=[0,0,2])\n"
#define C_BLOCK                                                                                                      \
  "let C = distribution(hs=[[2,2,4,2,4],[2,2,32]], ps_major=[[1,2],[1,2]], ps_minor=[[1,1],[3,2]], "                 \
  "ys_major=[1,2,1,1], ys_minor=[0,0,2,4])\n"
#define WIDE "param M in 1..65536, K in 8..65536 multiple 8\n"
#define NARROW "param M in 1..65536, K in 8..65536 multiple 4\n"
#define ANY "param M in 1..65536, K in 8..65536\n"
#define F16(body) "kernel k(s: f16 @ (M,K):(K,1), d: f16 @ (M,K):(K,1)) = " body
#define TURNED(body) "kernel k(s: f16 @ (M,K):(1,M), d: f16 @ (M,K):(K,1)) = " body

typedef struct {
  const char *what, *text, *target;
  uint32_t load, store;         /* widths of the accesses to buffers */
  uint32_t lds_store, lds_load; /* to LDS; 0: registers alone */
  uint32_t faster;              /* width of the loads where parameters are multiples of vectors; 0: no such kernel */
} vector_case;

static const vector_case vector_cases[] = {
    {"rows of halves", WIDE A_BLOCK F16("copy(s, d, through=A)"), "gfx942", 8, 8, 0, 0, 0},
    {"the same on the host", WIDE A_BLOCK F16("copy(s, d, through=A)"), "host", 8, 8, 0, 0, 0},
    {"rows at multiples of 4", NARROW A_BLOCK F16("copy(s, d, through=A)"), "gfx942", 4, 4, 0, 0, 8},
    {"rows of any length", ANY A_BLOCK F16("copy(s, d, through=A)"), "gfx942", 1, 1, 0, 0, 8},
    {"replication leaves vectors whole", WIDE A_SHARED F16("copy(s, d, through=A)"), "gfx90a", 8, 8, 0, 0, 0},
    {"a side that turns", WIDE A_BLOCK TURNED("copy(s, d, through=A)"), "gfx942", 1, 8, 0, 0, 0},
    {"a Y that is not the last",
     WIDE "let D = distribution(hs=[[4,4],[16,8]], ps_major=[[1,2]], ps_minor=[[0,0]], ys_major=[2,1], "
          "ys_minor=[1,1])\n" F16("copy(s, d, through=D)"),
     "gfx950", 8, 8, 0, 0, 0},
    {"another Y on each side",
     "let D = distribution(hs=[[8,8],[8,8]], ps_major=[[1,2]], ps_minor=[[0,0]], ys_major=[1,2], ys_minor=[1,1])\n"
     "kernel k(s: f16 @ (256,256):(1,256), d: f16 @ (256,256):(256,1)) = copy(s, d, through=D)",
     "gfx942", 8, 8, 0, 0, 0},
    {"an accumulator by columns",
     "param N in 4..4096 multiple 4\n" C_BLOCK
     "kernel k(s: f32 @ (N,N):(1,N), d: f32 @ (N,N):(1,N)) = copy(s, d, through=C)",
     "gfx942", 4, 4, 0, 0, 0},
    {"an accumulator, turned for rows", WIDE C_BLOCK F16("shuffle(s, d, from=C, to=warp_raked((128,128), 256, 8))"),
     "gfx942", 1, 8, 1, 8, 0},
    {"one encoding", WIDE A_BLOCK F16("shuffle(s, d, from=A, to=A)"), "gfx942", 8, 8, 0, 0, 0},
    {"the same elements in another order of registers",
     WIDE "let D = distribution(hs=[[4,4],[16,8]], ps_major=[[1,2]], ps_minor=[[0,0]], ys_major=[2,1], "
          "ys_minor=[1,1])\n"
          "let E = distribution(hs=[[4,2,2],[16,8]], ps_major=[[],[1,2]], ps_minor=[[],[0,0]], ys_major=[1,2,1], "
          "ys_minor=[2,1,1])\n" F16("shuffle(s, d, from=D, to=E)"),
     "gfx942", 8, 8, 0, 0, 0},
    {"columns on both sides go through LDS by columns",
     "let D = distribution(hs=[[8,8],[64]], ps_major=[[1,2]], ps_minor=[[0,0]], ys_major=[1], ys_minor=[1])\n"
     "let E = distribution(hs=[[8,8],[64]], ps_major=[[2,1]], ps_minor=[[0,0]], ys_major=[1], ys_minor=[1])\n"
     "kernel k(s: f16 @ (256,256):(1,256), d: f16 @ (256,256):(1,256)) = shuffle(s, d, from=D, to=E)",
     "host", 8, 8, 8, 8, 0},
    {"rows among the lanes, or among the waves",
     WIDE F16("shuffle(s, d, from=thread_raked((64,64), 256, 8), to=block_raked((64,64), 256, 8))"), "gfx942", 8, 8,
     8, 8, 0},
};

static uint32_t width_of(const tj_kernel *kernel, tj_step_kind kind, bool of_lds) {
  uint32_t width = 0;
  for (uint32_t i = 0; i < kernel->step_count; i++) {
    const tj_kernel_step *step = &kernel->step[i];
    if (step->kind != kind || (step->access.buffer == TJ_LDS) != of_lds)
      continue;
    ck_assert(width == 0 || width == step->width);
    width = step->width;
  }
  return width;
}

static void check_vectors(tj_job *job, void *data) {
  const vector_case *c = data;
  tj_graph *graph = tj_graph_create(job);
  const tj_kernel *kernel = map_program(graph, read_program(graph, c->text, NULL), c->target);
  uint32_t found[] = {width_of(kernel, TJ_STEP_LOAD, false), width_of(kernel, TJ_STEP_STORE, false),
                      width_of(kernel, TJ_STEP_STORE, true), width_of(kernel, TJ_STEP_LOAD, true)};
  uint32_t expected[] = {c->load, c->store, c->lds_store, c->lds_load};
  for (int i = 0; i < 4; i++)
    ck_assert_msg(found[i] == expected[i], "%s: width %d is %u, not %u", c->what, i, found[i], expected[i]);
  ck_assert_int_eq(kernel->lds_elements > 0, c->lds_store > 0);
  uint32_t faster = kernel->faster != NULL ? width_of(kernel->faster, TJ_STEP_LOAD, false) : 0;
  ck_assert_msg(faster == c->faster, "%s: the faster kernel's width is %u, not %u", c->what, faster, c->faster);
}

START_TEST(vectors_go_along_the_best_y) {
  tj_job job;
  tj_job_init(&job, NULL);
  vector_case c = vector_cases[_i];
  expect_success(&job, check_vectors, &c);
  tj_job_destroy(&job);
}
END_TEST

/* --- random distributions --- */

enum { MOST_DIGITS = 32, MOST_RANK = 3, MOST_ELEMENTS = 2048 };

/* A length of R (major 0) or H, and who owns it: a P, or the Ys after the last P. */
typedef struct {
  uint32_t length, major, owner;
} owned_digit;

typedef struct {
  owned_digit digit[MOST_DIGITS];
  uint32_t order[MOST_DIGITS]; /* in which owners list their digits */
  uint32_t count, rank, p_count;
} encoding;

static void shuffle_digits(random_source *source, encoding *e) {
  for (uint32_t i = 0; i < e->count; i++)
    e->order[i] = i;
  for (uint32_t i = e->count; i > 1; i--) {
    uint32_t j = random_below(source, i), kept = e->order[i - 1];
    e->order[i - 1] = e->order[j];
    e->order[j] = kept;
  }
}

static void add_digit(random_source *source, encoding *e, uint32_t length, uint32_t owner) {
  uint32_t major = random_below(source, 7) == 0 ? 0 : 1 + random_below(source, e->rank);
  uint32_t at = random_below(source, e->count + 1);
  memmove(e->digit + at + 1, e->digit + at, (e->count - at) * sizeof *e->digit);
  e->digit[at] = (owned_digit){length, major, owner};
  e->count++;
}

/* Digits of an owner that together have `product`, a power of two. */
static void add_power(random_source *source, encoding *e, uint32_t product, uint32_t owner) {
  while (product > 1) {
    uint32_t length = 2u << random_below(source, 3);
    length = length < product ? length : product;
    add_digit(source, e, length, owner);
    product /= length;
  }
}

static void add_some(random_source *source, encoding *e, uint32_t most, uint32_t owner) {
  for (uint32_t length; (length = 1 + random_below(source, 5)) <= most && random_below(source, 4) > 0; most /= length)
    add_digit(source, e, length, owner);
}

/* One P or two, of which the last has `lanes` indices; 0: any. */
static encoding random_encoding(random_source *source, uint32_t lanes) {
  encoding e = {.rank = 1 + random_below(source, MOST_RANK), .p_count = 1 + random_below(source, 2)};
  uint32_t ys = e.p_count, lane = e.p_count - 1;
  if (lanes > 0)
    add_power(source, &e, lanes, lane);
  else
    add_some(source, &e, 24, lane);
  if (lane > 0)
    add_some(source, &e, 6, 0);
  if (random_below(source, 2) == 0)
    add_power(source, &e, 2u << random_below(source, 3), ys);
  add_some(source, &e, 16, ys);
  shuffle_digits(source, &e);
  return e;
}

/* Exchanges the owners of digits of one length: the same tile, the same number of threads. */
static encoding exchanged(random_source *source, const encoding *e) {
  encoding other = *e;
  for (uint32_t i = 0; i < 8 && e->count > 0; i++) {
    owned_digit *a = &other.digit[random_below(source, e->count)], *b = &other.digit[random_below(source, e->count)];
    uint32_t owner = a->owner;
    if (a->length != b->length)
      continue;
    a->owner = b->owner;
    b->owner = owner;
  }
  if (random_below(source, 2) == 0)
    shuffle_digits(source, &other);
  return other;
}

static uint32_t extent_of(const encoding *e, uint32_t dimension) {
  uint32_t extent = 1;
  for (uint32_t i = 0; i < e->count; i++)
    extent *= e->digit[i].major == dimension + 1 ? e->digit[i].length : 1;
  return extent;
}

static uint32_t minor_of(const encoding *e, uint32_t digit) {
  uint32_t minor = 0;
  for (uint32_t i = 0; i < digit; i++)
    minor += e->digit[i].major == e->digit[digit].major;
  return minor;
}

/* --- programs --- */

typedef struct {
  char text[TEXT];
  size_t length;
} writer;

__attribute__((format(printf, 2, 3))) static void say(writer *w, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(w->text + w->length, TEXT - w->length, format, arguments);
  va_end(arguments);
  w->length += (size_t)length;
  ck_assert_uint_lt(w->length, TEXT);
}

static void say_lengths(writer *w, const encoding *e, uint32_t major) {
  const char *comma = "";
  say(w, "[");
  for (uint32_t i = 0; i < e->count; i++) {
    if (e->digit[i].major == major) {
      say(w, "%s%u", comma, e->digit[i].length);
      comma = ",";
    }
  }
  say(w, "]");
}

static void say_owned(writer *w, const encoding *e, uint32_t owner, bool majors) {
  const char *comma = "";
  say(w, "[");
  for (uint32_t i = 0; i < e->count; i++) {
    uint32_t at = e->order[i];
    if (e->digit[at].owner == owner) {
      say(w, "%s%u", comma, majors ? e->digit[at].major : minor_of(e, at));
      comma = ",";
    }
  }
  say(w, "]");
}

static void say_distribution(writer *w, const char *name, const encoding *e) {
  say(w, "let %s = distribution(rs=", name);
  say_lengths(w, e, 0);
  for (uint32_t i = 0; i < e->rank; i++) {
    say(w, i == 0 ? ", hs=[" : ",");
    say_lengths(w, e, i + 1);
  }
  for (int majors = 1; majors >= 0; majors--) {
    for (uint32_t p = 0; p < e->p_count; p++) {
      say(w, p > 0 ? "," : majors ? "], ps_major=[" : "], ps_minor=[");
      say_owned(w, e, p, majors);
    }
  }
  say(w, "], ys_major=");
  say_owned(w, e, e->p_count, true);
  say(w, ", ys_minor=");
  say_owned(w, e, e->p_count, false);
  say(w, ")\n");
}

/* The domain: each dimension is a base, perhaps a parameter, and what pads add to it. */
typedef struct {
  char base[MOST_RANK][16], extent[MOST_RANK][32];
  uint32_t before[MOST_RANK], after[MOST_RANK];
  uint32_t rank;
} domain_text;

static domain_text random_domain(random_source *source, const encoding *e, bool is_dynamic, int64_t m) {
  domain_text d = {.rank = e->rank};
  for (uint32_t i = 0; i < e->rank; i++) {
    uint32_t extent = extent_of(e, i), pads = random_below(source, 2) * random_below(source, 6);
    d.before[i] = random_below(source, pads + 1);
    d.after[i] = pads - d.before[i];
    int64_t base = i == 0 ? m : random_below(source, 2) ? 2 * extent : 1 + random_below(source, 2 * extent);
    if (i == 0 && is_dynamic)
      snprintf(d.base[i], sizeof d.base[i], "M");
    else
      snprintf(d.base[i], sizeof d.base[i], "%ld", (long)base);
    snprintf(d.extent[i], sizeof d.extent[i], pads > 0 ? "%s+%u" : "%s", d.base[i], pads);
  }
  return d;
}

static void say_extents(writer *w, const domain_text *d, bool bases) {
  for (uint32_t i = 0; i < d->rank; i++)
    say(w, "%s%s", i == 0 ? "(" : ",", bases ? d->base[i] : d->extent[i]);
  say(w, ")");
}

/* Strides along dimensions in any order, with gaps. */
static void say_layout(random_source *source, writer *w, const domain_text *d) {
  char stride[MOST_RANK][256] = {""}, next[256] = "1";
  uint32_t first = random_below(source, d->rank), turn = 1 + random_below(source, 2);
  for (uint32_t i = 0; i < d->rank; i++) {
    uint32_t at = (first + (turn == 1 ? i : d->rank - i)) % d->rank, gap = random_below(source, 2) * 8;
    memcpy(stride[at], next, sizeof next);
    snprintf(next, sizeof next, "(%s+%u)*%.190s", d->extent[at], gap, stride[at]);
  }
  say_extents(w, d, false);
  for (uint32_t i = 0; i < d->rank; i++)
    say(w, "%s%s", i == 0 ? ":(" : ",", stride[i]);
  say(w, ")");
}

static void say_padded(writer *w, const domain_text *d) {
  say(w, "transform(packed(");
  say_extents(w, d, true);
  for (uint32_t i = 0; i < d->rank; i++)
    say(w, "%spad(%s,%u,%u)", i == 0 ? "), [" : ",", d->base[i], d->before[i], d->after[i]);
  for (int side = 0; side < 2; side++) {
    for (uint32_t i = 0; i < d->rank; i++)
      say(w, "%s[%u]", i == 0 ? "], [" : ",", i);
  }
  say(w, "])");
}

static void say_view(random_source *source, writer *w, const domain_text *d) {
  uint32_t which = random_below(source, 3);
  if (which == 0) {
    say_padded(w, d);
    return;
  }
  say(w, which == 1 ? "packed(" : "aligned(");
  say_extents(w, d, false);
  say(w, which == 1 ? ")" : ", 8)");
}

/* --- against the oracle --- */

typedef struct {
  random_source source;
  const char *target;
  uint32_t lanes;
  bool is_shuffle;
  char text[TEXT];
  int64_t m;
  uint32_t staged, exchanged, vectors, inner, faster; /* how many kernels had these, or ran steps for tiles inside
                                                       * the domain, or as faster ones */
} session;

/* The destination, element by element, from the views' definitions. */
static void check_result(tj_graph *graph, const session *run, const interpreter *found) {
  tj_parameter_value fixed = {"M", run->m};
  const tj_program_values *values = read_program(graph, run->text, &fixed);
  const tj_kernel_definition *kernel = &values->kernel[0];
  tj_table source = tj_table_open(graph, kernel->argument[0].view, 1 << 20);
  tj_table destination = tj_table_open(graph, kernel->argument[1].view, 1 << 20);
  element_memory expected = new_memory(found->buffer[1].count);
  for (int64_t i = 0; i < source.size; i++, tj_table_advance(&source), tj_table_advance(&destination)) {
    bool has_source = tj_table_evaluate(&source);
    if (tj_table_evaluate(&destination))
      expected.value[destination.result[0]] = has_source ? source.result[0] + 1 : kernel->fill;
  }
  for (int64_t i = 0; i < expected.count; i++)
    ck_assert_msg(found->buffer[1].value[i] == expected.value[i], "%s: %s: M=%ld: element %ld is %ld, not %ld",
                  run->target, run->text, (long)run->m, (long)i, (long)found->buffer[1].value[i],
                  (long)expected.value[i]);
  free_memory(&expected);
}

/* The values of a kernel's parameters, and of those that a faster kernel has in their place. */
static int64_t *bind_parameters(tj_graph *graph, const session *run, const tj_kernel *kernel) {
  int64_t *symbols = TJ_NEW_ARRAY(graph->job, int64_t, graph->symbol_count);
  for (; kernel != NULL; kernel = kernel->faster) {
    for (uint32_t i = 0; i < kernel->parameter_count; i++)
      symbols[kernel->parameter[i]->symbol->index] = run->m;
  }
  return symbols;
}

static void run_kernel(tj_graph *graph, session *run, const tj_kernel *kernel, const tj_kernel *slowest) {
  int64_t *symbols = bind_parameters(graph, run, slowest);
  interpreter machine;
  open_interpreter(&machine, kernel, run->text, symbols, graph->symbol_count);
  machine.has_unaligned = tj_target_parse(graph->job, run->target)->has_unaligned_vectors;
  interpret(&machine);
  check_result(graph, run, &machine);
  run->inner += machine.inner_groups > 0;
  close_interpreter(&machine);
}

static bool holds(tj_graph *graph, const session *run, const tj_kernel *kernel) {
  const int64_t *symbols = bind_parameters(graph, run, kernel);
  int64_t value = 0;
  tj_bindings bindings = {.value = symbols, .count = graph->symbol_count};
  ck_assert_int_eq(tj_eval_nodes(&kernel->condition, 1, &bindings, &value), TJ_EVAL_OK);
  return value != 0;
}

static bool has_exchange(const tj_kernel *kernel) {
  for (uint32_t i = 0; i < kernel->step_count; i++) {
    if (kernel->step[i].kind == TJ_STEP_EXCHANGE)
      return true;
  }
  return false;
}

static void run_one(tj_job *job, void *data) {
  session *run = data;
  tj_graph *graph = tj_graph_create(job);
  const tj_program_values *values = read_program(graph, run->text, NULL);
  const tj_kernel *kernel = map_program(graph, values, run->target);
  run->staged += kernel->lds_elements > 0;
  run->exchanged += has_exchange(kernel);
  run->vectors += width_of(kernel, TJ_STEP_LOAD, false) > 1 || width_of(kernel, TJ_STEP_STORE, false) > 1;
  run_kernel(graph, run, kernel, kernel);
  if (kernel->faster != NULL && holds(graph, run, kernel)) {
    run->faster++;
    run_kernel(graph, run, kernel->faster, kernel);
  }
}

static void make_program(session *run) {
  random_source *source = &run->source;
  encoding from, to;
  do
    from = random_encoding(source, run->lanes);
  while (extent_of(&from, 0) * extent_of(&from, 1) * extent_of(&from, 2) > MOST_ELEMENTS);
  to = run->is_shuffle ? exchanged(source, &from) : from;
  uint32_t multiple = 1u << random_below(source, 4);
  run->m = multiple * (1 + (int64_t)random_below(source, 2 * extent_of(&from, 0) / multiple + 1));
  domain_text d = random_domain(source, &from, random_below(source, 4) > 0, run->m);
  writer w = {.length = 0};
  static const char *const types[] = {"i8", "f16", "f32", "b64", "b128"};
  const char *type = types[random_below(source, 5)];
  bool of_layouts = random_below(source, 2);
  say(&w, "param M in 1..1000000 multiple %u\n", random_below(source, 2) ? multiple : 1);
  say_distribution(&w, "D", &from);
  say_distribution(&w, "E", &to);
  say(&w, "kernel k(s: %s @ ", type);
  (of_layouts ? say_layout : say_view)(source, &w, &d);
  say(&w, ", d: %s @ ", type);
  (of_layouts ? say_layout : say_view)(source, &w, &d);
  say(&w, run->is_shuffle ? ") = shuffle(s, d, from=D, to=E, fill=%d)" : ") = copy(s, d, through=D, fill=%d)",
      type[0] == 'b' ? 5 : -5);
  memcpy(run->text, w.text, sizeof run->text);
}

static const struct {
  const char *target;
  uint32_t lanes;
  uint32_t kernels;
} targets[] = {{"host", 0, 400}, {"gfx942", 64, 60}, {"gfx1100", 32, 60}};

enum { TARGETS = sizeof targets / sizeof targets[0] };

START_TEST(random_distributions_agree_with_the_oracle) {
  bool is_shuffle = _i % 2;
  session run = {.source = random_begin(20261121 + (uint64_t)_i), .is_shuffle = is_shuffle};
  run.target = targets[_i / 2].target;
  run.lanes = targets[_i / 2].lanes;
  for (uint32_t i = 0; i < targets[_i / 2].kernels; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    make_program(&run);
    expect_success(&job, run_one, &run);
    tj_job_destroy(&job);
  }
  ck_assert_uint_gt(run.vectors, targets[_i / 2].kernels / 20);
  ck_assert_uint_ge(run.faster, targets[_i / 2].kernels / 100);
  ck_assert_uint_gt(run.inner, targets[_i / 2].kernels / 100);
  uint32_t changes_hands = run.staged + run.exchanged;
  ck_assert(is_shuffle ? changes_hands > targets[_i / 2].kernels / 4 : changes_hands == 0);
  ck_assert_int_eq(run.exchanged > 0, is_shuffle && run.lanes > 0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("distributed");
  TCase *cases = tcase_create("distributed");
  tcase_set_timeout(cases, 500);
  tcase_add_loop_test(cases, vectors_go_along_the_best_y, 0, sizeof vector_cases / sizeof vector_cases[0]);
  tcase_add_loop_test(cases, random_distributions_agree_with_the_oracle, 0, 2 * TARGETS);
  suite_add_tcase(suite, cases);
  return run_suite(suite);
}

/* SPDX-License-Identifier: MIT */
/* Symbols for what decides an instruction, its numbers as expressions of these, and both as text. */
#include "jit/dma/program_dma.h"

#include "ir/index/print.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "jit/inspect/report.h"
#include "lower/c/c_expression.h"
#include "lower/c/emit_c.h"
#include "lower/dma/encode.h"

#include <inttypes.h>
#include <string.h>

/* --- an instruction of any tile --- */

typedef struct {
  const tj_dma_report *report;
  tj_graph *graph;
  tj_parameter *parameter;
  uint32_t parameter_count, tensor_parameters; /* the tensor's stand first */
  const tj_node *output[TJ_TENSOR_DESCRIPTOR_DWORDS];
  uint32_t output_count;
} program;

static void take_parameters(program *p) {
  const tj_dma_report *r = p->report;
  enum { ADDRESS_LDS_AND_NUMBER = 3 };
  p->parameter =
      TJ_NEW_ARRAY(p->graph->job, tj_parameter, (size_t)r->parameter_count + r->rank + ADDRESS_LDS_AND_NUMBER);
  for (uint32_t i = 0; i < r->parameter_count; i++) {
    if (!tj_is_constant(r->parameter[i].node))
      p->parameter[p->parameter_count++] = r->parameter[i];
  }
  p->tensor_parameters = p->parameter_count;
}

/* A name like that, which no parameter of the tensor has. */
static const char *free_name(const program *p, const char *name) {
  for (uint32_t i = 0; i < p->report->parameter_count;) {
    bool is_taken = strcmp(name, p->report->parameter[i].name) == 0;
    name = is_taken ? tj_string_format(p->graph->job, "%s_", name) : name;
    i = is_taken ? 0 : i + 1;
  }
  return name;
}

static const tj_node *add_parameter(program *p, const char *name, const tj_node *last, int64_t multiple) {
  tj_graph *graph = p->graph;
  name = free_name(p, name);
  const tj_node *symbol = tj_symbol_create(graph, name, TJ_SYMBOL_COORDINATE, tj_int(graph, 0), last, multiple);
  p->parameter[p->parameter_count++] = (tj_parameter){name, symbol};
  return symbol;
}

/* A tile's first coordinate along a mode: 0 where there is one tile. */
static const tj_node *add_coordinate(program *p, uint32_t mode) {
  const tj_dma_report *r = p->report;
  tj_graph *graph = p->graph;
  const tj_tuple *shape = tj_tuple_mode(r->plan->coordinates->layout.shape, mode);
  const tj_node *last = tj_terse_sub(graph, tj_tuple_product(graph, shape), tj_int(graph, 1));
  int64_t extent = tj_tuple_mode(r->request->tile->tuple, mode)->value->value;
  last = tj_simplified(graph, last);
  if (tj_decide_less(graph, last, tj_int(graph, extent)) == TJ_YES)
    return tj_int(graph, 0);
  return add_parameter(p, tj_string_format(graph->job, "c%" PRIu32, mode), last, extent);
}

static void take_outputs(program *p, const tj_dma_instruction *instruction) {
  const tj_dma_report *r = p->report;
  p->output_count = tj_dma_is_map(r) ? r->plan->rank + 1 : tj_dma_dwords(r->plan);
  for (uint32_t i = 0; i < p->output_count; i++)
    p->output[i] = !tj_dma_is_map(r)   ? instruction->dword[i]
                   : i < r->plan->rank ? instruction->coordinate[i]
                                       : instruction->lds;
  tj_simplify(p->graph, p->output, p->output_count, NULL);
}

static program program_of(const tj_dma_report *r) {
  tj_graph *graph = r->request->graph;
  program p = {.report = r, .graph = graph};
  const tj_node **tile = TJ_NEW_ARRAY(graph->job, const tj_node *, r->rank);
  tj_dma_place place = {tile, tj_int(graph, 0), tj_int(graph, 0), tj_int(graph, 0)};
  take_parameters(&p);
  if (!tj_dma_is_map(r)) {
    place.address = add_parameter(&p, "address", tj_int(graph, (INT64_C(1) << 57) - 1), 1);
    place.lds = add_parameter(&p, "lds", tj_int(graph, (1 << 30) - 1), 1);
  }
  for (uint32_t m = 0; m < r->rank; m++)
    tile[m] = add_coordinate(&p, m);
  if (r->plan->instructions > 1)
    place.number = add_parameter(&p, "n", tj_int(graph, r->plan->instructions - 1), 1);
  tj_dma_instruction instruction = tj_dma_instruction_of(graph, r->plan, &place);
  take_outputs(&p, &instruction);
  return p;
}

void tj_dma_write_program(const tj_dma_report *report, tj_text *text) {
  program p = program_of(report);
  for (uint32_t i = 0; i < p.parameter_count; i++)
    tj_parameter_print(text, &p.parameter[i]);
  for (uint32_t i = 0; i < p.output_count; i++) {
    tj_text_string(text, i == 0 ? ";\n(" : ",\n ");
    tj_node_print(text, p.output[i]);
  }
  tj_text_string(text, ")\n");
}

/* --- functions in C --- */

static tj_function *function_of(const program *p, const char *name, const tj_node *const value[], uint32_t count,
                                uint32_t parameter_count) {
  tj_graph *graph = p->graph;
  tj_program_values values = {.parameter = p->parameter,
                              .parameter_count = parameter_count,
                              .value = tj_value_of_tuple(graph, tj_tuple_integers(graph, value, count)),
                              .value_span = TJ_NOWHERE};
  tj_function *function = tj_function_of(graph, &values, name);
  tj_function_simplify(graph, function);
  return function;
}

/* What of a tensor map depends on the tensor: its extents, its strides, and how far it begins behind its address; in
 * bytes but for extents. */
typedef struct {
  const tj_function *function; /* of those that are no constants; NULL: there are none */
  const tj_node *value[2 * TJ_TENSOR_MAP_DIMENSIONS];
  const char *text[2 * TJ_TENSOR_MAP_DIMENSIONS];
  uint32_t rank, count;
} map_sizes;

static const char *call_text(const map_sizes *sizes, tj_job *job, uint32_t result) {
  tj_text text = tj_text_begin(job);
  tj_text_format(&text, "(cuuint64_t)%s(", sizes->function->result[result].name);
  for (uint32_t i = 0; i < sizes->function->argument_count; i++)
    tj_text_format(&text, "%s%s", i == 0 ? "" : ", ", sizes->function->argument[i].name);
  tj_text_char(&text, ')');
  return text.data;
}

static map_sizes sizes_of(const program *p, const char *name) {
  tj_graph *graph = p->graph;
  const tj_dma_plan *plan = p->report->plan;
  const tj_node *unit = tj_int(graph, plan->unit_bytes), *variable[2 * TJ_TENSOR_MAP_DIMENSIONS];
  map_sizes sizes = {.rank = plan->rank};
  for (uint32_t d = 0; d < plan->rank; d++)
    sizes.value[sizes.count++] = plan->dimension[d].extent;
  for (uint32_t d = 1; d < plan->rank; d++)
    sizes.value[sizes.count++] = tj_terse_mul(graph, plan->dimension[d].stride, unit);
  sizes.value[sizes.count++] = tj_terse_mul(graph, plan->base, unit);
  tj_simplify(graph, sizes.value, sizes.count, NULL);
  uint32_t variables = 0, next = 0;
  for (uint32_t i = 0; i < sizes.count; i++)
    if (!tj_is_constant(sizes.value[i]))
      variable[variables++] = sizes.value[i];
  if (variables > 0)
    sizes.function =
        function_of(p, tj_string_format(graph->job, "%s_size", name), variable, variables, p->tensor_parameters);
  for (uint32_t i = 0; i < sizes.count; i++)
    sizes.text[i] = tj_is_constant(sizes.value[i]) ? tj_string_format(graph->job, "%" PRId64, sizes.value[i]->value)
                                                   : call_text(&sizes, graph->job, next++);
  return sizes;
}

static void write_list(tj_text *text, const char *type, const char *name, const char *const item[], uint32_t count) {
  tj_text_format(text, "  const %s %s[] = {", type, name);
  for (uint32_t i = 0; i < count; i++)
    tj_text_format(text, "%s%s", i == 0 ? "" : ", ", item[i]);
  tj_text_string(text, "};\n");
}

/* The driver wants a list of strides of a map of one dimension, too, and looks at none of it. */
static void write_lists(const program *p, const map_sizes *sizes, tj_text *text) {
  static const char *const one[] = {"1", "1", "1", "1", "1"}, *const none[] = {"0"};
  const char *box[TJ_TENSOR_MAP_DIMENSIONS];
  for (uint32_t d = 0; d < sizes->rank; d++)
    box[d] = tj_string_format(p->graph->job, "%" PRId64, p->report->plan->dimension[d].box);
  write_list(text, "cuuint64_t", free_name(p, "extent"), sizes->text, sizes->rank);
  write_list(text, "cuuint64_t", free_name(p, "stride"), sizes->rank == 1 ? none : sizes->text + sizes->rank,
             sizes->rank == 1 ? 1 : sizes->rank - 1);
  write_list(text, "cuuint32_t", free_name(p, "box"), box, sizes->rank);
  write_list(text, "cuuint32_t", free_name(p, "step"), one, sizes->rank);
}

static void write_map(const program *p, const char *name, tj_text *text) {
  const tj_dma_plan *plan = p->report->plan;
  const char *map = free_name(p, "map"), *address = free_name(p, "address");
  map_sizes sizes = sizes_of(p, name);
  if (sizes.function != NULL) {
    tj_text_char(text, '\n');
    tj_emit_c(text, p->graph, sizes.function);
  }
  tj_text_format(text,
                 "\n#ifdef CUDA_VERSION\n/* The map of the tensor at `%s`, a multiple of %u. */\n"
                 "static inline CUresult %s_map(CUtensorMap *%s, void *%s",
                 address, plan->engine->stride_unit, name, map, address);
  for (uint32_t i = 0; sizes.function != NULL && i < sizes.function->argument_count; i++)
    tj_text_format(text, ", %s %s", tj_c_type_name(tj_c_type_of(sizes.function->argument[i].symbol)),
                   sizes.function->argument[i].name);
  tj_text_string(text, ") {\n");
  write_lists(p, &sizes, text);
  tj_text_format(text,
                 "  return cuTensorMapEncodeTiled(%s, CU_TENSOR_MAP_DATA_TYPE_UINT%u, %" PRIu32
                 ", (char *)%s + %s, %s, %s, %s, %s,\n"
                 "                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_%s,\n"
                 "                                CU_TENSOR_MAP_L2_PROMOTION_NONE, "
                 "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);\n}\n#endif\n",
                 map, 8 * plan->unit_bytes, plan->rank, address, sizes.text[sizes.count - 1], free_name(p, "extent"),
                 free_name(p, "stride"), free_name(p, "box"), free_name(p, "step"),
                 tj_dma_swizzle_name(plan->swizzle));
}

void tj_dma_write_functions(const tj_dma_report *report, const char *name, tj_text *text) {
  program p = program_of(report);
  tj_emit_c(text, p.graph, function_of(&p, name, p.output, p.output_count, p.parameter_count));
  if (tj_dma_is_map(report))
    write_map(&p, name, text);
}

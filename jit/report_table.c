/* Tables: the values of a map over its whole domain, by the oracle that knows only definitions. */
#include "jit/report.h"

#include "ir/map.h"

#include <inttypes.h>

enum { TABLE_LIMIT = 1 << 24 };

/* A map as the oracle sees it. */
typedef struct {
  tj_graph *graph;
  const tj_value *value;
  const tj_tuple *output; /* the codomain's structure */
  bool row_major;
  uint32_t rank;
  int64_t *extent; /* of the domain's leaves */
  int64_t *coordinate;
  int64_t *result; /* leaves of the codomain */
  int64_t size;
  bool has_validity;
} table;

/* --- the domain --- */

static void measure_domain(table *t, const tj_tuple *domain) {
  tj_job *job = t->graph->job;
  const tj_tuple *const *leaves = tj_tuple_leaves(t->graph, domain, &t->rank);
  t->extent = TJ_NEW_ARRAY(job, int64_t, t->rank + 1);
  t->coordinate = TJ_NEW_ARRAY(job, int64_t, t->rank + 1);
  t->size = 1;
  for (uint32_t i = 0; i < t->rank; i++) {
    if (!tj_is_constant(leaves[i]->value))
      tj_fail(job, TJ_DOMAIN_NOT_CONSTANT, "the domain %s is not constant", tj_tuple_text(job, domain));
    t->extent[i] = leaves[i]->value->value;
    if (__builtin_mul_overflow(t->size, t->extent[i], &t->size) || t->size > TABLE_LIMIT)
      tj_fail(job, TJ_TABLE_LIMIT, "the domain %s has more than %d coordinates", tj_tuple_text(job, domain),
              TABLE_LIMIT);
  }
}

static table open_table(tj_program *program) {
  table t = {.graph = program->graph, .value = tj_report_value(program)};
  program->job.here = program->evaluated.values->value_span;
  tj_map map = tj_map_of_value(t.graph, t.value);
  t.output = map.output;
  t.row_major = map.row_major;
  t.has_validity = t.value->kind == TJ_VALUE_VIEW || t.value->kind == TJ_VALUE_TRANSFORM ||
                   t.value->kind == TJ_VALUE_ADAPTOR;
  t.result = TJ_NEW_ARRAY(&program->job, int64_t, tj_tuple_leaf_count(map.output) + 1);
  measure_domain(&t, map.domain);
  return t;
}

/* The next coordinate in the map's own order. */
static void advance(table *t) {
  for (uint32_t i = 0; i < t->rank; i++) {
    uint32_t mode = t->row_major ? t->rank - 1 - i : i;
    if (++t->coordinate[mode] < t->extent[mode])
      return;
    t->coordinate[mode] = 0;
  }
}

/* --- the values --- */

/* Writes the values at the current coordinate to t->result; returns whether it is valid. */
static bool evaluate(table *t) {
  bool valid = true;
  switch (t->value->kind) {
  case TJ_VALUE_LAYOUT:
    tj_oracle_layout(t->graph, t->value->layout, t->coordinate, t->result);
    break;
  case TJ_VALUE_COMPOSED:
    t->result[0] = tj_oracle_composed(t->graph, t->value->composed, t->coordinate);
    break;
  case TJ_VALUE_TRANSFORM:
    tj_oracle_transform(t->graph, t->value->transform, t->coordinate, t->result, &valid);
    break;
  case TJ_VALUE_ADAPTOR:
    tj_oracle_adaptor(t->graph, t->value->adaptor, t->coordinate, t->result, &valid);
    break;
  default:
    t->result[0] = tj_oracle_view(t->graph, t->value->view, t->coordinate, &valid);
    break;
  }
  return valid;
}

static const int64_t *print_structured(tj_text *text, const tj_tuple *structure, const int64_t *values) {
  if (!tj_tuple_is_list(structure)) {
    tj_text_integer(text, *values);
    return values + 1;
  }
  tj_text_char(text, '[');
  for (uint32_t i = 0; i < structure->count; i++) {
    if (i > 0)
      tj_text_char(text, ',');
    values = print_structured(text, structure->item[i], values);
  }
  tj_text_char(text, ']');
  return values;
}

static void print_integers(tj_text *text, const int64_t values[], uint32_t count) {
  tj_text_char(text, '[');
  for (uint32_t i = 0; i < count; i++)
    tj_text_format(text, "%s%" PRId64, i > 0 ? "," : "", values[i]);
  tj_text_char(text, ']');
}

/* Prints the values as an array; collects validity, a character for each, where `valid` is given. */
static void print_values(table *t, tj_text *text, tj_text *valid) {
  tj_text_char(text, '[');
  for (int64_t n = 0; n < t->size; n++) {
    tj_spend(t->graph->job, 1);
    bool is_valid = evaluate(t);
    if (n > 0)
      tj_text_char(text, ',');
    print_structured(text, t->output, t->result);
    if (valid != NULL)
      tj_text_string(valid, n > 0 ? is_valid ? ",1" : ",0" : is_valid ? "1" : "0");
    advance(t);
  }
  tj_text_char(text, ']');
}

void tj_report_table(tj_program *program, tj_table_form form, tj_text *text) {
  table t = open_table(program);
  if (form == TJ_TABLE_VALUES) {
    print_values(&t, text, NULL);
    return;
  }
  tj_text valid = tj_text_begin(&program->job);
  tj_text_string(text, "{\"lengths\":");
  print_integers(text, t.extent, t.rank);
  tj_text_string(text, ",\"values\":");
  print_values(&t, text, &valid);
  if (t.has_validity)
    tj_text_format(text, ",\"valid\":[%s]", valid.data);
  tj_text_char(text, '}');
}

/* SPDX-License-Identifier: MIT */
/* Reports of tables: a map's values over its whole domain as JSON. */
#include "jit/inspect/report.h"

#include "ir/value/table.h"

#include <inttypes.h>

/* A table has as much fuel for each STRETCH entries as a job has: what bounds it is how many it has. */
enum { TABLE_LIMIT = 1 << 24, STRETCH = 1 << 16 };

static void print_integers(tj_text *text, const int64_t values[], uint32_t count) {
  tj_text_char(text, '[');
  for (uint32_t i = 0; i < count; i++)
    tj_text_format(text, "%s%" PRId64, i > 0 ? "," : "", values[i]);
  tj_text_char(text, ']');
}

/* Prints the values as an array; collects validity, a character for each, where `valid` is given. */
static void print_values(tj_table *table, tj_text *text, tj_text *valid) {
  tj_text_char(text, '[');
  for (int64_t n = 0; n < table->size; n++) {
    if (n % STRETCH == 0)
      tj_job_refuel(table->graph->job);
    bool is_valid = tj_table_evaluate(table);
    if (n > 0)
      tj_text_char(text, ',');
    tj_table_print(text, table->output, table->result);
    if (valid != NULL)
      tj_text_string(valid, n > 0 ? is_valid ? ",1" : ",0" : is_valid ? "1" : "0");
    tj_table_advance(table);
  }
  tj_text_char(text, ']');
}

void tj_report_table(tj_program *program, tj_table_form form, tj_text *text) {
  const tj_value *value = tj_report_value(program);
  program->job.here = program->evaluated.values->value_span;
  tj_table table = tj_table_open(program->graph, value, TABLE_LIMIT);
  if (form == TJ_TABLE_VALUES) {
    print_values(&table, text, NULL);
    return;
  }
  tj_text valid = tj_text_begin(&program->job);
  tj_text_string(text, "{\"lengths\":");
  print_integers(text, table.extent, table.rank);
  tj_text_string(text, ",\"values\":");
  print_values(&table, text, &valid);
  if (table.has_validity)
    tj_text_format(text, ",\"valid\":[%s]", valid.data);
  tj_text_char(text, '}');
}

/* SPDX-License-Identifier: MIT */
/* Declarations of a file: structs, functions without their bodies, constants. */
#include "frontend/c/c_file.h"

#include "base/text.h"
#include "frontend/c/c_run.h"

#include <string.h>

enum { MOST_DECLARATIONS = 1024, MOST_FIELDS = 256 };

typedef struct {
  tj_c_reader reader;
  tj_c_file *file;
  tj_c_struct *structs;
  tj_c_function *functions;
  tj_c_constant *constants;
} declarations;

/* The number of one more, of `count`. */
static uint32_t one_more(declarations *d, uint32_t *count) {
  if (*count == MOST_DECLARATIONS)
    tj_fail(d->reader.job, TJ_WORK_LIMIT, "the file declares more than %d", MOST_DECLARATIONS);
  return (*count)++;
}

/* --- structs --- */

/* Behind the opening brace, up to the closing one. */
static void read_fields(declarations *d, tj_c_struct *into) {
  tj_c_reader *reader = &d->reader;
  tj_c_field *field = TJ_NEW_ARRAY(reader->job, tj_c_field, MOST_FIELDS);
  into->field = field;
  while (!tj_c_accept(reader, TJ_C_MARK1('}'))) {
    tj_c_kind kind = tj_c_read_kind(reader);
    do {
      if (into->field_count == MOST_FIELDS)
        tj_fail(reader->job, TJ_WORK_LIMIT, "the struct has more than %d fields", MOST_FIELDS);
      field[into->field_count++] = (tj_c_field){tj_c_read_name(reader, "the name of a field"), kind};
    } while (tj_c_accept(reader, TJ_C_MARK1(',')));
    tj_c_expect(reader, TJ_C_MARK1(';'), "';' behind a field");
  }
}

/* Behind the word struct. */
static void read_struct(declarations *d, bool is_typedef) {
  tj_c_reader *reader = &d->reader;
  tj_c_struct made = {.name = NULL};
  if (reader->token.kind == TJ_C_NAME)
    made.name = tj_c_read_name(reader, "a name");
  tj_c_expect(reader, TJ_C_MARK1('{'), "'{'");
  read_fields(d, &made);
  if (is_typedef)
    made.name = tj_c_read_name(reader, "the name of the type");
  if (made.name == NULL)
    tj_c_fail_expected(reader, "the name of the struct");
  tj_c_expect(reader, TJ_C_MARK1(';'), "';' behind the struct");
  d->structs[one_more(d, &d->file->struct_count)] = made;
  reader->struct_count = d->file->struct_count;
}

/* --- functions --- */

static void read_parameter(declarations *d, tj_c_function *function, tj_c_field *parameter) {
  tj_c_reader *reader = &d->reader;
  tj_c_type_read type;
  tj_span span = reader->token.span;
  if (!tj_c_read_type(reader, &type))
    tj_c_fail_expected(reader, "a type of integers");
  bool is_indirect = tj_c_accept(reader, TJ_C_MARK1('*')) || tj_c_accept(reader, TJ_C_MARK1('&'));
  tj_c_skip_specifiers(reader);
  const char *name = tj_c_read_name(reader, "the name of a parameter");
  bool is_state =
      type.form == TJ_C_IS_STRUCT && is_indirect && function->parameter_count == 0 && function->state == NULL;
  if (is_state) {
    function->state = type.of;
    function->state_name = name;
    return;
  }
  if (type.form != TJ_C_IS_INTEGER || is_indirect || tj_c_is(reader, TJ_C_MARK1('[')))
    tj_fail_at(reader->job, span, TJ_C_TEXT, "parameter %s is no integer", name);
  if (function->parameter_count == MOST_FIELDS)
    tj_fail(reader->job, TJ_WORK_LIMIT, "the function has more than %d parameters", MOST_FIELDS);
  parameter[function->parameter_count++] = (tj_c_field){name, type.kind};
}

/* Behind the opening parenthesis. */
static void read_parameters(declarations *d, tj_c_function *function) {
  tj_c_reader *reader = &d->reader;
  tj_c_field *parameter = TJ_NEW_ARRAY(reader->job, tj_c_field, MOST_FIELDS);
  function->parameter = parameter;
  uint32_t begin = reader->token.span.begin;
  if (tj_c_accept_word(reader, "void") && tj_c_accept(reader, TJ_C_MARK1(')')))
    return;
  tj_c_go(reader, begin);
  if (tj_c_accept(reader, TJ_C_MARK1(')')))
    return;
  do
    read_parameter(d, function, parameter);
  while (tj_c_accept(reader, TJ_C_MARK1(',')));
  tj_c_expect(reader, TJ_C_MARK1(')'), "')' behind the parameters");
}

static void add_function(declarations *d, const tj_c_function *function) {
  if (tj_c_file_find(d->file, function->name) != NULL)
    tj_fail_at(d->reader.job, function->span, TJ_C_TEXT, "function %s is defined twice", function->name);
  d->functions[one_more(d, &d->file->function_count)] = *function;
}

/* Behind the opening parenthesis. */
static void read_function(declarations *d, tj_c_function function) {
  tj_c_reader *reader = &d->reader;
  read_parameters(d, &function);
  tj_c_skip_specifiers(reader);
  if (tj_c_accept(reader, TJ_C_MARK1(';')))
    return;
  function.body = reader->token.span.end;
  tj_c_expect(reader, TJ_C_MARK1('{'), "'{'");
  tj_c_skip_block(reader);
  add_function(d, &function);
}

/* --- constants --- */

/* C says what a constant is, or there is none. */
static void check_defined(declarations *d, const tj_c_place *place) {
  if (place->condition_count > 0)
    tj_fail_at(d->reader.job, place->condition[0].span, TJ_C_TEXT, "%s", place->condition[0].otherwise);
}

/* Behind the equals sign. */
static void read_constant(declarations *d, const char *name, const tj_c_type_read *type) {
  tj_c_place place = {.graph = d->file->graph, .reached = tj_int(d->file->graph, 1)};
  tj_c_run run = {.reader = d->reader, .file = d->file, .place = &place};
  tj_c_integer value = tj_c_expression_of_run(&run);
  if (type->form == TJ_C_IS_INTEGER)
    value = tj_c_convert(&place, value, type->kind);
  check_defined(d, &place);
  d->reader.token = run.reader.token;
  d->constants[one_more(d, &d->file->constant_count)] = (tj_c_constant){name, value};
  tj_c_expect(&d->reader, TJ_C_MARK1(';'), "';' behind the constant");
}

/* Behind the word enum. */
static void read_enumeration(declarations *d) {
  tj_c_reader *reader = &d->reader;
  tj_graph *graph = d->file->graph;
  tj_c_place place = {.graph = graph, .reached = tj_int(graph, 1)};
  tj_c_integer value = {tj_int(graph, 0), TJ_C_KIND_INT32}, one = {tj_int(graph, 1), TJ_C_KIND_INT32};
  if (reader->token.kind == TJ_C_NAME)
    tj_c_take(reader);
  tj_c_expect(reader, TJ_C_MARK1('{'), "'{'");
  while (!tj_c_accept(reader, TJ_C_MARK1('}'))) {
    const char *name = tj_c_read_name(reader, "a name");
    if (tj_c_accept(reader, TJ_C_MARK1('='))) {
      tj_c_run run = {.reader = *reader, .file = d->file, .place = &place};
      value = tj_c_expression_of_run(&run);
      check_defined(d, &place);
      reader->token = run.reader.token;
    }
    d->constants[one_more(d, &d->file->constant_count)] = (tj_c_constant){name, value};
    value = tj_c_compute(&place, TJ_C_ADD, value, one);
    if (!tj_c_accept(reader, TJ_C_MARK1(',')) && !tj_c_is(reader, TJ_C_MARK1('}')))
      tj_c_fail_expected(reader, "',' or '}'");
  }
  tj_c_expect(reader, TJ_C_MARK1(';'), "';' behind the enumeration");
}

/* --- files --- */

static void read_declaration(declarations *d) {
  tj_c_reader *reader = &d->reader;
  tj_c_type_read type;
  bool is_typedef = tj_c_accept_word(reader, "typedef");
  uint32_t begin = reader->token.span.begin;
  if (tj_c_accept_word(reader, "enum")) {
    read_enumeration(d);
    return;
  }
  bool is_struct = tj_c_accept_word(reader, "struct");
  if (is_struct && reader->token.kind == TJ_C_NAME)
    tj_c_take(reader);
  is_struct = is_struct && tj_c_is(reader, TJ_C_MARK1('{'));
  tj_c_go(reader, begin);
  if (is_struct) {
    tj_c_accept_word(reader, "struct");
    read_struct(d, is_typedef);
    return;
  }
  if (!tj_c_read_type(reader, &type))
    tj_c_fail_expected(reader, "a function, a struct or a constant of integers");
  tj_span span = reader->token.span;
  const char *name = tj_c_read_name(reader, "the name of a function or a constant");
  if (tj_c_accept(reader, TJ_C_MARK1('=')))
    read_constant(d, name, &type);
  else if (tj_c_accept(reader, TJ_C_MARK1('(')))
    read_function(d, (tj_c_function){.name = name,
                                     .span = span,
                                     .has_value = type.form != TJ_C_IS_VOID,
                                     .is_auto = type.form == TJ_C_IS_AUTO,
                                     .kind = type.kind});
  else
    tj_c_fail_expected(reader, "'(' or '='");
}

/* extern "C" { … } is passed over, but for what it holds; so are lone semicolons. */
static void read_declarations(declarations *d) {
  tj_c_reader *reader = &d->reader;
  uint32_t open = 0;
  while (reader->token.kind != TJ_C_END) {
    uint32_t begin = reader->token.span.begin;
    bool is_linkage = tj_c_accept_word(reader, "extern") && reader->token.kind == TJ_C_STRING;
    if (!is_linkage) {
      tj_c_go(reader, begin);
      if (open > 0 && tj_c_accept(reader, TJ_C_MARK1('}')))
        open--;
      else if (!tj_c_accept(reader, TJ_C_MARK1(';')))
        read_declaration(d);
      continue;
    }
    tj_c_take(reader);
    open += tj_c_accept(reader, TJ_C_MARK1('{'));
  }
  if (open > 0)
    tj_c_fail_expected(reader, "'}'");
}

tj_c_file *tj_c_file_read(tj_graph *graph, const tj_source *source) {
  tj_job *job = graph->job;
  tj_c_file *file = TJ_NEW(job, tj_c_file);
  declarations d = {.file = file,
                    .structs = TJ_NEW_ARRAY(job, tj_c_struct, MOST_DECLARATIONS),
                    .functions = TJ_NEW_ARRAY(job, tj_c_function, MOST_DECLARATIONS),
                    .constants = TJ_NEW_ARRAY(job, tj_c_constant, MOST_DECLARATIONS)};
  *file = (tj_c_file){
      .graph = graph, .source = *source, .structs = d.structs, .function = d.functions, .constant = d.constants};
  d.reader = (tj_c_reader){.job = job, .structs = d.structs};
  tj_source before = job->source;
  job->source = *source;
  tj_c_go(&d.reader, 0);
  read_declarations(&d);
  job->source = before;
  return file;
}

const tj_c_function *tj_c_file_find(const tj_c_file *file, const char *name) {
  for (uint32_t i = 0; i < file->function_count; i++) {
    if (strcmp(file->function[i].name, name) == 0)
      return &file->function[i];
  }
  return NULL;
}

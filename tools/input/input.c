/* SPDX-License-Identifier: MIT */
/* Files, and the programs that FILE, -e and --set make. */
#include "tools/input/input.h"

#include "tools/input/import.h"
#include "tools/report/progress.h"
#include "tools/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

tj_context *open_context(void) {
  tj_context *context;
  if (tj_context_create(NULL, &context) != TJ_OK) {
    fail_memory();
    return NULL;
  }
  watch_progress(context);
  import_files(context, NULL);
  return context;
}

/* --- files --- */

enum { FILE_STEP = 64 * 1024 };

static int fail_read(const char *path, int error) {
  return fail_tool(TJ_ERROR_INPUT, 6004, "check the path and its permissions", "cannot read %s: %s", path,
                   strerror(error));
}

static int read_stream(FILE *in, const char *path, size_t most, char **data, size_t *size) {
  char *buffer = NULL;
  size_t capacity = 0, used = 0, got;
  do {
    if (capacity - used < FILE_STEP) {
      capacity = capacity * 2 + FILE_STEP;
      char *larger = realloc(buffer, capacity);
      if (larger == NULL) {
        free(buffer);
        return fail_tool(TJ_ERROR_SYSTEM, 7001, "free memory", "out of memory reading %s", path);
      }
      buffer = larger;
    }
    got = fread(buffer + used, 1, capacity - used - 1, in);
    used += got;
  } while (got > 0 && used <= most);
  if (used > most) {
    free(buffer);
    return fail_read(path, EFBIG);
  }
  if (ferror(in)) {
    int error = errno;
    free(buffer);
    return fail_read(path, error);
  }
  buffer[used] = '\0';
  *data = buffer;
  *size = used;
  return 0;
}

static int read_up_to(const char *path, size_t most, char **data, size_t *size) {
  if (strcmp(path, "-") == 0)
    return read_stream(stdin, "standard input", most, data, size);
  FILE *in = fopen(path, "rb");
  if (in == NULL)
    return fail_read(path, errno);
  int status = read_stream(in, path, most, data, size);
  fclose(in);
  return status;
}

int read_file(const char *path, char **data, size_t *size) {
  return read_up_to(path, LONGEST_FILE, data, size);
}

int read_array_file(const char *path, char **data, size_t *size) {
  return read_up_to(path, SIZE_MAX, data, size);
}

static int fail_write(const char *path, int error) {
  return fail_tool(TJ_ERROR_SYSTEM, 6005, "check the path, its permissions and the free space", "cannot write %s: %s",
                   path, strerror(error));
}

/* What is there of a file that could not be written; devices and pipes stay. */
static void remove_part(const char *path) {
  struct stat found;
  if (stat(path, &found) == 0 && S_ISREG(found.st_mode))
    remove(path);
}

int write_file(const char *path, const void *data, size_t size) {
  if (is_interrupted())
    return fail_interrupted();
  FILE *out = fopen(path, "wb");
  if (out == NULL)
    return fail_write(path, errno);
  bool written = fwrite(data, 1, size, out) == size;
  int error = errno;
  if (fclose(out) != 0 && written) {
    written = false;
    error = errno;
  }
  if (written)
    return 0;
  remove_part(path);
  return fail_write(path, error);
}

const char *output_path(const arguments *given) {
  const char *path = option_value(given, "o");
  return path != NULL && strcmp(path, "-") != 0 ? path : NULL;
}

int write_output(const char *path, const void *data, size_t size) {
  if (path != NULL)
    return write_file(path, data, size);
  if (is_interrupted())
    return fail_interrupted();
  clear_progress();
  if (fwrite(data, 1, size, stdout) != size || fflush(stdout) != 0)
    return fail_write("standard output", errno);
  return 0;
}

/* --- what is given --- */

const option program_input[] = {
    {"f", VALUE_FILE, "FILE", "the same as FILE", NULL, false},
    {"e", VALUE_EXPRESSION, "EXPR", "a program's text; after FILE, with what it defines", NULL, false},
    {"set", VALUE_PARAMETER, "P=V", "fix a parameter", NULL, true},
    {0}};

const option expression_input[] = {
    {"f", VALUE_FILE, "FILE", "a program; EXPR is evaluated after what it defines; - is standard input", NULL, false},
    {"e", VALUE_EXPRESSION, "EXPR", "the same as EXPR", NULL, false},
    {"set", VALUE_PARAMETER, "P=V", "fix a parameter", NULL, true},
    {0}};

const option comparison_input[] = {{"f", VALUE_FILE, "FILE",
                                    "a program; A and B are evaluated after what it defines; - is standard input",
                                    NULL, false},
                                   {"e", VALUE_EXPRESSION, "EXPR", "the same as A or B", NULL, true},
                                   {"set", VALUE_PARAMETER, "P=V", "fix a parameter", NULL, true},
                                   {0}};

const option code_input[] = {{"f", VALUE_CODE_OBJECT, "FILE", "the same as FILE", NULL, false}, {0}};

static int fail_form(const arguments *given, const char *what) {
  return fail_usage("%s takes %s; see tilejit %s --help", given->command->name, what, given->command->name);
}

static bool ends_in_tile(const char *word) {
  size_t length = strlen(word);
  return length >= 5 && strcmp(word + length - 5, ".tile") == 0;
}

bool is_file_operand(const command *of, const char *word) {
  return of->operands[0].kind != VALUE_EXPRESSION || strcmp(word, "-") == 0 || ends_in_tile(word);
}

static bool add_file(input *found, const char *path) {
  bool is_first = found->file == NULL;
  found->file = path;
  return is_first;
}

static bool add_expression(input *found, unsigned most, const char *text) {
  if (found->expression_count >= most)
    return false;
  found->expression[found->expression_count++] = text;
  return true;
}

static const char *const expressions_of[] = {"one FILE", "one expression", "two expressions"};

int sort_input(const arguments *given, unsigned most, input *found) {
  *found = (input){0};
  bool has_one_file = true, has_few_expressions = true;
  for (size_t i = 0; i < given->option_count; i++) {
    const struct given_option *o = &given->option[i];
    if (strcmp(o->name, "f") == 0)
      has_one_file = add_file(found, o->value) && has_one_file;
    else if (strcmp(o->name, "e") == 0)
      has_few_expressions = add_expression(found, most, o->value) && has_few_expressions;
  }
  for (size_t i = 0; i < given->operand_count; i++) {
    const char *word = given->operand[i];
    if (is_file_operand(given->command, word))
      has_one_file = add_file(found, word) && has_one_file;
    else
      has_few_expressions = add_expression(found, most, word) && has_few_expressions;
  }
  if (!has_one_file)
    return fail_form(given, "one FILE");
  if (!has_few_expressions)
    return fail_form(given, expressions_of[most]);
  return 0;
}

int input_of(const arguments *given, unsigned most, input *found) {
  int status = sort_input(given, most, found);
  if (status != 0)
    return status;
  if (found->file == NULL && found->expression_count == 0)
    return fail_form(given, most > 0 ? "a FILE, an expression, or both" : "a FILE");
  return 0;
}

/* --- programs --- */

int load_program_text(const input *from, program_text *program) {
  *program = (program_text){0};
  if (from->file != NULL) {
    tj_program_piece *piece = &program->piece[program->count++];
    int status = read_file(from->file, &program->file, &piece->length);
    if (status != 0)
      return status;
    piece->name = from->file;
    piece->text = program->file;
  }
  if (from->expression_count > 0) {
    const char *text = from->expression[0];
    program->piece[program->count++] = (tj_program_piece){EXPRESSION_NAME, text, strlen(text)};
  }
  return 0;
}

bool parse_integer(const char *text, int64_t *value) {
  char *end;
  errno = 0;
  *value = strtoll(text, &end, 0);
  return errno == 0 && end != text && *end == '\0';
}

/* NAME=INTEGER, which an option of that name gives; the parameter's name is malloc'd. */
static int parse_parameter(const char *option_name, const char *word, parameter_list *list) {
  const char *equals = strchr(word, '=');
  int64_t value;
  if (equals == NULL || equals == word)
    return fail_usage("--%s %s: the form is NAME=INTEGER", option_name, word);
  if (!parse_integer(equals + 1, &value))
    return fail_usage("--%s %s: '%s' is no integer of 64 bits", option_name, word, equals + 1);
  char *name = strndup(word, (size_t)(equals - word));
  if (name == NULL)
    return fail_memory();
  list->value[list->count++] = (tj_parameter_value){name, value};
  return 0;
}

int parse_parameters(const arguments *given, const char *name, parameter_list *list) {
  *list = (parameter_list){.value = calloc(given->option_count + 1, sizeof *list->value)};
  if (list->value == NULL)
    return fail_memory();
  int status = 0;
  for (size_t i = 0; status == 0 && i < given->option_count; i++) {
    if (strcmp(given->option[i].name, name) == 0)
      status = parse_parameter(name, given->option[i].value, list);
  }
  return status;
}

int parse_passed(const char *word, passed_value *passed) {
  const char *equals = strchr(word, '=');
  char *end;
  if (equals == NULL || equals == word)
    return fail_usage("--arg %s: the form is NAME=NUMBER", word);
  passed->is_integer = parse_integer(equals + 1, &passed->integer);
  passed->number = strtod(equals + 1, &end);
  if (!passed->is_integer && (end == equals + 1 || *end != '\0'))
    return fail_usage("--arg %s: '%s' is not a number", word, equals + 1);
  passed->name = strndup(word, (size_t)(equals - word));
  return passed->name != NULL ? 0 : fail_memory();
}

void free_parameters(parameter_list *list) {
  for (size_t i = 0; i < list->count; i++)
    free((char *)list->value[i].name);
  free(list->value);
}

static int create_program(tj_context *context, const arguments *given, const program_text *text,
                          tj_program **program) {
  parameter_list fixed;
  int status = parse_parameters(given, "set", &fixed);
  if (status == 0) {
    tj_status created = tj_program_create_of(context, text->piece, text->count, fixed.value, fixed.count, program);
    if (created != TJ_OK)
      status = fail_library(context, created);
  }
  free_parameters(&fixed);
  return status;
}

int with_text(const arguments *given, text_work work, void *data) {
  input from;
  int status = input_of(given, 1, &from);
  if (status != 0)
    return status;
  program_text text;
  status = load_program_text(&from, &text);
  if (status != 0)
    return status;
  status = work(given, &text, data);
  free(text.file);
  return status;
}

typedef struct {
  program_work work;
  void *data;
} work_on_program;

static int work_on_text(const arguments *given, const program_text *text, void *data) {
  const work_on_program *on = data;
  tj_context *context = open_context();
  if (context == NULL)
    return TJ_ERROR_SYSTEM;
  tj_program *program = NULL;
  int status = create_program(context, given, text, &program);
  if (status == 0) {
    tj_status done = on->work(context, program, on->data, &status);
    if (done != TJ_OK)
      status = fail_library(context, done);
  }
  tj_program_destroy(program);
  tj_context_destroy(context);
  return status;
}

int with_program(const arguments *given, program_work work, void *data) {
  return with_text(given, work_on_text, &(work_on_program){work, data});
}

int with_program_of(const arguments *given, const input *from, program_work work, void *data) {
  program_text text;
  int status = load_program_text(from, &text);
  if (status != 0)
    return status;
  status = work_on_text(given, &text, &(work_on_program){work, data});
  free(text.file);
  return status;
}

int with_program_and(const arguments *given, const char *expression, program_work work, void *data) {
  input from;
  program_text text;
  int status = sort_input(given, 1, &from);
  if (status == 0)
    status = load_program_text(&from, &text);
  if (status != 0)
    return status;
  text.piece[text.count++] = (tj_program_piece){EXPRESSION_NAME, expression, strlen(expression)};
  status = work_on_text(given, &text, &(work_on_program){work, data});
  free(text.file);
  return status;
}

/* --- what the library gives --- */

int write_blob(tj_context *context, tj_blob *blob) {
  int status = write_output(NULL, blob->data, blob->size);
  tj_blob_release(context, blob);
  return status;
}

static json_t *add_made(json_t *told, const char *path, const tj_blob *made) {
  if (path == NULL) {
    add_member(&told, "text", json_stringn(made->data, made->size));
  } else {
    add_member(&told, "bytes", json_integer((json_int_t)made->size));
    add_member(&told, "output", json_string(path));
  }
  return told;
}

int write_made(tj_context *context, const arguments *given, json_t *told, tj_blob *made) {
  const char *path = output_path(given);
  bool as_json = option_given(given, "json");
  int status = as_json && path == NULL ? 0 : write_output(path, made->data, made->size);
  if (as_json && status == 0)
    status = print_json(add_made(told, path, made));
  else
    json_decref(told);
  tj_blob_release(context, made);
  return status;
}

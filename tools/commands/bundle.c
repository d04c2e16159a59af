/* SPDX-License-Identifier: MIT */
/* tilejit bundle: every kernel of some programs, compiled for some targets, as one file. */
#include "tools/input/input.h"
#include "tools/report/report.h"

#include <stdlib.h>
#include <string.h>

/* Codes that have been made so far. */
typedef struct {
  tj_context *context;
  const arguments *given;
  parameter_list fixed;
  tj_code **code;
  size_t count;
} bundle;

/* --- compiling --- */

/* What a program is compiled to: kernels, each for the targets that are given. */
typedef struct {
  tj_compile_options *option;
  size_t count, capacity;
} option_list;

static int add_option(option_list *list, const char *kernel, const char *target) {
  if (list->count == list->capacity) {
    size_t capacity = 2 * list->capacity + 16;
    tj_compile_options *larger = realloc(list->option, capacity * sizeof *larger);
    if (larger == NULL)
      return fail_memory();
    list->option = larger;
    list->capacity = capacity;
  }
  list->option[list->count++] = (tj_compile_options){kernel, target};
  return 0;
}

/* `host` is every level of processors that hosts have. */
static int add_target(option_list *list, const char *kernel, const char *target) {
  if (strcmp(target, "host") != 0)
    return add_option(list, kernel, target);
  int status = 0;
  const char *level;
  for (size_t i = 0; status == 0 && (level = tj_bundle_host_target(i)) != NULL; i++)
    status = add_option(list, kernel, level);
  return status;
}

static int add_kernel(const bundle *b, option_list *list, const char *kernel) {
  int status = 0;
  for (size_t i = 0; status == 0 && i < b->given->option_count; i++) {
    if (strcmp(b->given->option[i].name, "target") == 0)
      status = add_target(list, kernel, b->given->option[i].value);
  }
  return status;
}

/* A program without kernels has the one that its value makes. */
static int list_options(const bundle *b, const tj_program *program, option_list *list) {
  size_t count = tj_program_kernel_count(program);
  int status = count == 0 ? add_kernel(b, list, NULL) : 0;
  for (size_t i = 0; status == 0 && i < count; i++)
    status = add_kernel(b, list, tj_program_kernel_name(program, i));
  return status;
}

static int compile_options(bundle *b, tj_program *program, const option_list *list) {
  tj_code **larger = realloc(b->code, (b->count + list->count + 1) * sizeof *larger);
  if (larger == NULL)
    return fail_memory();
  b->code = larger;
  tj_status status = tj_program_compile_all(program, list->option, list->count, b->code + b->count);
  if (status != TJ_OK)
    return fail_library(b->context, status);
  b->count += list->count;
  return 0;
}

static int compile_program(bundle *b, tj_program *program) {
  option_list list = {NULL, 0, 0};
  int status = list_options(b, program, &list);
  if (status == 0)
    status = compile_options(b, program, &list);
  free(list.option);
  return status;
}

static int compile_text(bundle *b, const char *path, const char *text, size_t length) {
  tj_program *program;
  tj_status created = tj_program_create(b->context, path, text, length, b->fixed.value, b->fixed.count, &program);
  if (created != TJ_OK)
    return fail_library(b->context, created);
  int status = compile_program(b, program);
  tj_program_destroy(program);
  return status;
}

static int compile_file(bundle *b, const char *path) {
  char *text;
  size_t length;
  int status = read_file(path, &text, &length);
  if (status != 0)
    return status;
  status = compile_text(b, path, text, length);
  free(text);
  return status;
}

static int write_bundle(const bundle *b) {
  tj_blob made;
  tj_status status = tj_bundle_write(b->context, (const tj_code *const *)b->code, b->count, &made);
  if (status != TJ_OK)
    return fail_library(b->context, status);
  return write_made(b->context, b->given, json_object(), &made);
}

/* --- telling --- */

static json_t *entry_json(const tj_bundle_entry *entry) {
  return json_pack("{s:s,s:s,s:I}", "kernel", entry->kernel, "target", entry->target, "bytes",
                   (json_int_t)entry->bytes);
}

static int print_entries(const arguments *given, const tj_bundle *opened) {
  bool as_json = option_given(given, "json");
  json_t *list = as_json ? json_array() : NULL;
  for (size_t i = 0; i < tj_bundle_count(opened); i++) {
    tj_bundle_entry entry = tj_bundle_entry_of(opened, i);
    if (as_json)
      add_item(&list, entry_json(&entry));
    else
      printf("%-24s %-24s %8zu bytes\n", entry.kernel, entry.target, entry.bytes);
  }
  return as_json ? print_json(list) : 0;
}

static int print_bundle(tj_context *context, const arguments *given) {
  char *bytes;
  size_t size;
  tj_bundle *opened;
  int status = read_file(given->operand[0], &bytes, &size);
  if (status != 0)
    return status;
  tj_status found = tj_bundle_open(context, bytes, size, &opened);
  free(bytes);
  if (found != TJ_OK)
    return fail_library(context, found);
  status = print_entries(given, opened);
  tj_bundle_destroy(opened);
  return status;
}

/* --- the command --- */

static int make_bundle(tj_context *context, const arguments *given) {
  bundle b = {.context = context, .given = given};
  int status = parse_parameters(given, "set", &b.fixed);
  for (size_t i = 0; status == 0 && i < given->operand_count; i++)
    status = compile_file(&b, given->operand[i]);
  if (status == 0)
    status = write_bundle(&b);
  for (size_t i = 0; i < b.count; i++)
    tj_code_destroy(b.code[i]);
  free(b.code);
  free_parameters(&b.fixed);
  return status;
}

/* 0, or the exit status after printing what is wrong with the options. */
static int check_options(const arguments *given) {
  bool lists = option_given(given, "list");
  if (lists && (option_given(given, "target") || option_given(given, "o") || option_given(given, "set")))
    return fail_usage("--list takes a bundle and nothing else");
  if (lists && given->operand_count > 1)
    return fail_usage("--list takes one bundle");
  if (!lists && option_value(given, "target") == NULL)
    return fail_usage("bundle needs --target: host, or a GPU such as gfx942 or sm_90; as often as there are targets");
  if (!lists && option_value(given, "o") == NULL)
    return fail_usage("bundle needs -o: the file to write");
  if (!lists && option_given(given, "json") && output_path(given) == NULL)
    return fail_usage("a bundle is binary: give a file with -o");
  return 0;
}

static int run(const arguments *given) {
  int status = check_options(given);
  tj_context *context = status == 0 ? open_context() : NULL;
  if (context == NULL)
    return status != 0 ? status : TJ_ERROR_SYSTEM;
  status = option_given(given, "list") ? print_bundle(context, given) : make_bundle(context, given);
  tj_context_destroy(context);
  return status;
}

static const option options[] = {
    {"target", VALUE_TARGET, "T", "host, x86-64-v3, gfx942, gfx90a:xnack-, …", NULL, true},
    {"set", VALUE_PARAMETER, "P=V", "fix a parameter of every FILE", NULL, true},
    {"o", VALUE_OUTPUT, "OUT", "the file to write; - is standard output", NULL, false},
    {"list", VALUE_NONE, NULL, "print what a bundle has: kernels, targets, bytes", NULL, false},
    {0}};

static const operand operands[] = {
    {"FILE", VALUE_FILE, "programs; with --list a bundle; - is standard input", NULL, 1, MANY_OPERANDS}, {0}};

const command command_bundle = {
    "bundle",
    "Compile kernels for several targets into one file",
    "Every kernel of every FILE is compiled for every target; a FILE without kernels is compiled as offsets(dst, "
    "V),\n"
    "as in tilejit compile. Programs that are linked with libtilejit-runtime alone open the file, find the code "
    "that\n"
    "fits a device, and run it or prepare launches: include/tilejit/runtime.h, docs/embedding.md.\n"
    "\n"
    "host stands for x86-64-v3 and x86-64-v4: code for each level of processors, of which a machine takes the best\n"
    "that it has. Names of kernels must differ, since they are found by them.\n"
    "\n"
    "--json prints {\"bytes\", \"output\"}; with --list, an array of {\"kernel\", \"target\", \"bytes\"}.",
    NULL,
    options,
    operands,
    run};

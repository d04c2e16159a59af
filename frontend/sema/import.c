/* SPDX-License-Identifier: MIT */
/* Imports: reading the texts that a program imports, through the reader of whoever uses the library. */
#include "frontend/sema/earlier.h"
#include "frontend/text/lexer.h"
#include "frontend/text/parser.h"

#include <string.h>

/* --- what a reader does --- */

struct tj_import {
  tj_job *job;
  const char *name, *text; /* what is given; borrowed while it is copied */
  size_t length;
  tj_source source; /* in the job's memory; its text is NULL where none is given */
  const char *reason;
  tj_status status;
};

static void copy_text(tj_job *job, void *data) {
  tj_import *import = data;
  const char *name = tj_string_copy(job, import->name, strlen(import->name));
  import->source = tj_source_of(name, tj_string_copy(job, import->text, import->length), import->length);
}

static void copy_reason(tj_job *job, void *data) {
  tj_import *import = data;
  import->reason = tj_string_copy(job, import->text, import->length);
}

tj_status tj_import_give(tj_import *import, const char *name, const char *text, size_t length) {
  import->name = name;
  import->text = text;
  import->length = length;
  import->status = tj_job_run(import->job, copy_text, import);
  return import->status;
}

tj_status tj_import_refuse(tj_import *import, const char *reason) {
  import->text = reason;
  import->length = strlen(reason);
  import->status = tj_job_run(import->job, copy_reason, import);
  return TJ_ERROR_INPUT;
}

enum { FUEL_PER_IMPORT = 10 * 1000 };

/* The text that an import names. */
static tj_source read_text(tj_job *job, const tj_item *item) {
  job->here = item->name_span;
  tj_spend(job, FUEL_PER_IMPORT);
  if (job->importer.function == NULL) {
    tj_note(job, "set a function that reads with tj_context_set_reader");
    tj_fail(job, TJ_IMPORT, "nobody reads \"%s\"", item->name);
  }
  tj_import import = {.job = job};
  const char *importer = tj_source_locate(&job->source, item->span.begin).name;
  tj_status status = job->importer.function(job->importer.user, importer, item->name, &import);
  if (import.status != TJ_OK)
    tj_fail_as(job, job);
  if (status == TJ_ERROR_MEMORY)
    tj_fail_out_of_memory(job);
  if (status != TJ_OK || import.source.text == NULL)
    tj_fail(job, TJ_IMPORT, "cannot import \"%s\"%s%s", item->name, import.reason != NULL ? ": " : "",
            import.reason != NULL ? import.reason : "");
  return import.source;
}

/* --- texts --- */

static void import_items(tj_earlier *earlier, uint32_t into, const tj_program_ast *program);

/* The number of the text of that name; text_count where there is none. */
static uint32_t find_text(const tj_earlier *earlier, const char *name) {
  uint32_t text = 1;
  while (text < earlier->text_count && strcmp(earlier->text[text].name, name) != 0)
    text++;
  return text;
}

static void check_limits(tj_earlier *earlier, const tj_source *source) {
  if (earlier->text_count == TJ_EARLIER_TEXTS)
    tj_fail(earlier->job, TJ_IMPORT_LIMIT, "'%s' is one text too many", source->name);
  if (source->length > TJ_MAX_SOURCE - earlier->imported)
    tj_fail(earlier->job, TJ_SOURCE_LIMIT, "what is imported has more than %d bytes", TJ_MAX_SOURCE);
}

static void add_text(tj_earlier *earlier, const tj_item *item, const tj_source *source) {
  tj_job *job = earlier->job;
  check_limits(earlier, source);
  uint32_t text = earlier->text_count++;
  earlier->imported += source->length;
  earlier->text[text] = (tj_earlier_text){source->name, UINT64_C(1) << text, true};
  const tj_open_call import = {NULL, job->source, item->span, job->calls};
  job->calls = &import;
  job->source = *source;
  const tj_program_ast *program = tj_parse(job);
  import_items(earlier, text, program);
  tj_earlier_add_items(earlier, text, program);
  job->source = import.source;
  job->calls = import.outer;
  earlier->text[text].is_open = false;
}

static void import_items(tj_earlier *earlier, uint32_t into, const tj_program_ast *program) {
  for (uint32_t i = 0; i < program->item_count; i++) {
    const tj_item *item = &program->item[i];
    if (item->kind != TJ_ITEM_IMPORT)
      continue;
    tj_source source = read_text(earlier->job, item);
    uint32_t text = find_text(earlier, source.name);
    if (text == earlier->text_count)
      add_text(earlier, item, &source);
    else if (earlier->text[text].is_open)
      tj_fail(earlier->job, TJ_IMPORT_CYCLE, "'%s' imports itself", source.name);
    earlier->text[into].sees |= earlier->text[text].sees;
  }
}

/* --- programs --- */

typedef struct {
  tj_earlier *earlier;
  const tj_program_ast *program;
} importing;

static void import_all(tj_job *job, void *data) {
  (void)job;
  const importing *i = data;
  import_items(i->earlier, 0, i->program);
}

static void import_in_job_of(tj_earlier *earlier, tj_job *job, const tj_program_ast *program) {
  tj_job *own = earlier->job;
  tj_earlier_text programs = earlier->text[0];
  uint32_t texts = earlier->text_count, items = earlier->count;
  size_t imported = earlier->imported;
  importing i = {earlier, program};
  own->source = job->source;
  own->fuel = job->fuel;
  own->next_tell = job->next_tell;
  own->listener = job->listener;
  own->importer = job->importer;
  if (tj_job_run(own, import_all, &i) != TJ_OK) {
    earlier->text[0] = programs;
    earlier->text_count = texts;
    earlier->imported = imported;
    tj_earlier_remove_items(earlier, items);
    tj_fail_as(job, own);
  }
  job->fuel = own->fuel;
  job->next_tell = own->next_tell;
}

void tj_earlier_import(tj_earlier *earlier, tj_job *job, const tj_program_ast *program) {
  if (earlier->job == job)
    import_items(earlier, 0, program);
  else
    import_in_job_of(earlier, job, program);
}

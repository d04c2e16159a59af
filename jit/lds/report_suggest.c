/* SPDX-License-Identifier: MIT */
/* Writes suggestions: each an expression, and what speaks for it. */
#include "jit/lds/report_suggest.h"

#include "base/json.h"

#include <inttypes.h>

static const char *layout_text(tj_job *job, const tj_suggestion *one) {
  tj_text text = tj_text_begin(job);
  tj_value_print(&text, one->layout);
  return text.data;
}

static int64_t cycles_of(const tj_suggestion *one) {
  return one->store.cost.cycles + one->load.cost.cycles;
}

static int64_t least_of(const tj_suggestion *one) {
  return one->store.cost.least + one->load.cost.least;
}

/* --- text --- */

static void print_side(tj_text *text, const char *name, const tj_suggested_side *side) {
  if (side->instruction == NULL)
    return;
  tj_text_format(text, "    %s: %" PRId64 " %s%s, %" PRId64 " cycles", name, side->cost.instructions,
                 side->instruction, side->kinds > 1 ? " and others" : "", side->cost.cycles);
  if (side->cost.cycles > side->cost.least)
    tj_text_format(text, ", %" PRId64 " without conflicts", side->cost.least);
  if (side->operations >= 0)
    tj_text_format(text, "; %" PRId64 " operation%s for the addresses of a thread", side->operations,
                   side->operations == 1 ? "" : "s");
  tj_text_char(text, '\n');
}

static void print_one(tj_job *job, tj_text *text, const tj_suggestion *one) {
  tj_text_format(text, "  %s\n    %" PRId64 " cycles", layout_text(job, one), cycles_of(one));
  if (cycles_of(one) == least_of(one))
    tj_text_string(text, ", free of conflicts");
  if (one->is_least)
    tj_text_string(text, "; no layout takes fewer");
  tj_text_format(text, "; %u bytes, room for %u workgroup%s on a compute unit\n", one->bytes, one->workgroups,
                 one->workgroups == 1 ? "" : "s");
  print_side(text, "store", &one->store);
  print_side(text, "load", &one->load);
}

static void print_text(const tj_lds_check *check, const tj_suggestions *found, tj_text *text) {
  tj_text_format(text, "tile (%" PRId64 ",%" PRId64 ") of %s in LDS of %s: the best of %u layouts\n", found->rows,
                 found->columns, check->dtype, check->target, found->tried);
  for (uint32_t i = 0; i < found->count; i++)
    print_one(check->graph->job, text, &found->of[i]);
}

/* --- JSON --- */

static void write_side(tj_json *json, const char *name, const tj_suggested_side *side) {
  if (side->instruction == NULL)
    return;
  tj_json_key(json, name);
  tj_json_open(json, '{');
  tj_json_member(json, "instruction", side->instruction);
  tj_json_number(json, "instructions", side->cost.instructions);
  tj_json_number(json, "cycles", side->cost.cycles);
  tj_json_number(json, "least", side->cost.least);
  if (side->operations >= 0)
    tj_json_number(json, "operations", side->operations);
  tj_json_close(json, '}');
}

static void write_one(tj_job *job, tj_json *json, const tj_suggestion *one) {
  tj_json_open(json, '{');
  tj_json_member(json, "layout", layout_text(job, one));
  tj_json_number(json, "cycles", cycles_of(one));
  tj_json_number(json, "least", least_of(one));
  tj_json_key(json, "is_least");
  tj_json_boolean(json, one->is_least);
  tj_json_number(json, "bytes", one->bytes);
  tj_json_number(json, "workgroups", one->workgroups);
  write_side(json, "store", &one->store);
  write_side(json, "load", &one->load);
  tj_json_close(json, '}');
}

static void write_json(const tj_lds_check *check, const tj_suggestions *found, tj_text *text) {
  tj_json json = tj_json_begin(text);
  tj_json_open(&json, '{');
  tj_json_key(&json, "tile");
  tj_json_open(&json, '[');
  tj_json_integer(&json, found->rows);
  tj_json_integer(&json, found->columns);
  tj_json_close(&json, ']');
  tj_json_member(&json, "target", check->target);
  tj_json_number(&json, "tried", found->tried);
  tj_json_key(&json, "layouts");
  tj_json_open(&json, '[');
  for (uint32_t i = 0; i < found->count; i++)
    write_one(check->graph->job, &json, &found->of[i]);
  tj_json_close(&json, ']');
  tj_json_close(&json, '}');
  tj_text_char(text, '\n');
}

void tj_suggestions_report(const tj_lds_check *check, const tj_suggestions *found, tj_check_form form,
                           tj_text *text) {
  if (form == TJ_CHECK_JSON)
    write_json(check, found, text);
  else
    print_text(check, found, text);
}

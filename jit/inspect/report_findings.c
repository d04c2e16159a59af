/* SPDX-License-Identifier: MIT */
/* Sections of findings: judged, printed, written as JSON. */
#include "jit/inspect/report_findings.h"

#include "base/json.h"
#include "jit/inspect/example.h"

#include <inttypes.h>
#include <string.h>

tj_section *tj_sections_add(tj_sections *sections, uint32_t subject, const char *title) {
  if (sections->count == sections->capacity) {
    sections->capacity = 2 * sections->capacity + 8;
    tj_section *larger = TJ_NEW_ARRAY(sections->job, tj_section, sections->capacity);
    for (uint32_t i = 0; i < sections->count; i++)
      larger[i] = sections->item[i];
    sections->item = larger;
  }
  tj_section *made = &sections->item[sections->count++];
  *made = (tj_section){.title = title, .subject = subject, .findings = {.job = sections->job}};
  return made;
}

/* --- what must hold --- */

/* Marks what a section finds about a word that is required; false where it finds nothing. */
static bool require_of(tj_section *s, const char *word, bool *holds) {
  bool is_known = false;
  for (uint32_t i = 0; i < s->findings.count; i++) {
    tj_finding *finding = &s->findings.item[i];
    if (strcmp(finding->about, word) != 0 || finding->verdict == TJ_FINDING_FACT)
      continue;
    is_known = finding->must_hold = true;
    *holds &= finding->verdict == TJ_FINDING_YES;
  }
  return is_known;
}

/* A word that is required of a value or a kernel holds where something was found about it, and all of that holds. */
static void require(const tj_sections *c, uint32_t first, uint32_t end, const char *word, bool *holds) {
  bool is_known = false;
  for (uint32_t i = first; i < end; i++)
    is_known |= !c->item[i].is_exempt && require_of(&c->item[i], word, holds);
  if (is_known)
    return;
  tj_find(&c->item[first].findings, word, TJ_FINDING_UNKNOWN, "nothing is known about that here")->must_hold = true;
  *holds = false;
}

static uint32_t end_of_subject(const tj_sections *c, uint32_t first) {
  uint32_t end = first;
  while (end < c->count && c->item[end].subject == c->item[first].subject)
    end++;
  return end;
}

/* What must hold whether it is required or not. */
static bool holds_anyhow(const tj_findings *findings) {
  bool holds = true;
  for (uint32_t i = 0; i < findings->count; i++)
    holds &= !(findings->item[i].must_hold && findings->item[i].verdict == TJ_FINDING_NO);
  return holds;
}

bool tj_sections_judge(tj_sections *sections, const char *const word[], size_t count) {
  bool holds = true;
  for (uint32_t s = 0; s < sections->count; s++)
    holds &= holds_anyhow(&sections->item[s].findings);
  for (uint32_t first = 0, end; first < sections->count; first = end) {
    end = end_of_subject(sections, first);
    for (size_t i = 0; i < count; i++)
      require(sections, first, end, word[i], &holds);
  }
  return holds;
}

/* --- text --- */

static const char *const verdict_texts[] = {
    [TJ_FINDING_FACT] = NULL, [TJ_FINDING_YES] = "yes", [TJ_FINDING_NO] = "no", [TJ_FINDING_UNKNOWN] = "unknown"};

static void print_finding(tj_text *text, const tj_finding *finding) {
  const char *verdict = verdict_texts[finding->verdict];
  tj_text_format(text, "  %s: %s", finding->about, verdict != NULL ? verdict : "");
  tj_text_format(text, "%s%s", verdict != NULL && finding->text[0] != '\0' ? ": " : "", finding->text);
  tj_text_string(text, finding->must_hold && finding->verdict != TJ_FINDING_YES ? "  [must hold]\n" : "\n");
}

/* ", at M=256, N=128". Numbers of the launch change nothing of what is found. */
static void print_parameters(tj_text *text, const tj_section *s) {
  const char *before = ", at ";
  for (uint32_t i = 0; s->parameter != NULL && i < s->plan->passed_count; i++) {
    if (s->plan->parameter[i].number_bits > 0)
      continue;
    tj_text_format(text, "%s%s=%" PRId64, before, s->plan->parameter[i].name, s->parameter[i]);
    before = ", ";
  }
}

static void print_title(tj_text *text, const tj_section *s) {
  tj_text_string(text, s->title);
  if (s->variant != NULL)
    tj_text_format(text, ", %s%s", s->condition != NULL ? "where " : "otherwise",
                   s->condition != NULL ? s->condition : "");
  print_parameters(text, s);
  tj_text_char(text, '\n');
}

static void print_text(const tj_sections *c, tj_text *text) {
  for (uint32_t s = 0; s < c->count; s++) {
    print_title(text, &c->item[s]);
    for (uint32_t i = 0; i < c->item[s].findings.count; i++)
      print_finding(text, &c->item[s].findings.item[i]);
  }
}

/* --- JSON --- */

static void write_numbers(tj_json *json, const tj_finding *finding) {
  tj_json_key(json, "numbers");
  tj_json_open(json, '{');
  for (uint32_t i = 0; i < finding->number_count; i++)
    tj_json_number(json, finding->number[i].name, (int64_t)finding->number[i].value);
  tj_json_close(json, '}');
}

static void write_finding(tj_json *json, const tj_finding *finding) {
  tj_json_open(json, '{');
  tj_json_member(json, "about", finding->about);
  if (finding->instruction != NULL)
    tj_json_member(json, "instruction", finding->instruction);
  if (finding->mapping != NULL)
    tj_json_member(json, "mapping", finding->mapping);
  if (finding->verdict != TJ_FINDING_FACT)
    tj_json_member(json, "verdict", verdict_texts[finding->verdict]);
  if (finding->must_hold) {
    tj_json_key(json, "must_hold");
    tj_json_boolean(json, true);
  }
  tj_json_member(json, "text", finding->text);
  if (finding->number_count > 0)
    write_numbers(json, finding);
  tj_json_close(json, '}');
}

static void write_parameters(tj_json *json, const tj_section *s) {
  tj_json_key(json, "parameters");
  tj_json_open(json, '{');
  for (uint32_t i = 0; i < s->plan->passed_count; i++) {
    const tj_launch_parameter *parameter = &s->plan->parameter[i];
    tj_json_number(json, parameter->name, parameter->number_bits > 0 ? TJ_EXAMPLE_NUMBER : s->parameter[i]);
  }
  tj_json_close(json, '}');
}

static void write_section(tj_json *json, const tj_section *s) {
  tj_json_open(json, '{');
  tj_json_member(json, "of", s->title);
  if (s->variant != NULL)
    tj_json_member(json, "variant", s->variant);
  if (s->condition != NULL)
    tj_json_member(json, "condition", s->condition);
  if (s->parameter != NULL && s->plan->passed_count > 0)
    write_parameters(json, s);
  tj_json_key(json, "findings");
  tj_json_open(json, '[');
  for (uint32_t i = 0; i < s->findings.count; i++)
    write_finding(json, &s->findings.item[i]);
  tj_json_close(json, ']');
  tj_json_close(json, '}');
}

static void write_json(const tj_sections *c, bool holds, tj_text *text) {
  tj_json json = tj_json_begin(text);
  tj_json_open(&json, '{');
  tj_json_key(&json, "checks");
  tj_json_open(&json, '[');
  for (uint32_t s = 0; s < c->count; s++)
    write_section(&json, &c->item[s]);
  tj_json_close(&json, ']');
  tj_json_key(&json, "holds");
  tj_json_boolean(&json, holds);
  tj_json_close(&json, '}');
  tj_text_char(text, '\n');
}

void tj_sections_report(const tj_sections *sections, tj_check_form form, bool holds, tj_text *text) {
  if (form == TJ_CHECK_JSON)
    write_json(sections, holds, text);
  else
    print_text(sections, text);
}

/* SPDX-License-Identifier: MIT */
/* Proving what the simplifier did, expression by expression, and writing verdicts. */
#include "jit/inspect/report_proof.h"

#include <inttypes.h>

static const char *const verdict_names[] = {
    [TJ_EQUAL_BY_RULES] = "rules",  [TJ_EQUAL_BY_CASES] = "cases", [TJ_EQUAL_BY_SMT] = "smt",
    [TJ_EQUAL_AS_IS] = "unchanged", [TJ_DIFFERENT] = "different",  [TJ_DIFFERENT_DOMAINS] = "domains",
    [TJ_UNDECIDED] = "undecided",
};

tj_proof tj_proof_of(tj_graph *graph, const tj_node *const before[], const tj_node *const after[], uint32_t count,
                     bool has_predicate) {
  tj_equivalence *verdict = TJ_NEW_ARRAY(graph->job, tj_equivalence, count);
  const tj_node *valid = has_predicate ? before[count - 1] : NULL, *zero = tj_int(graph, 0);
  for (uint32_t i = 0; i < count; i++) {
    bool is_guarded = has_predicate && i + 1 < count && before[i] != after[i];
    const tj_node *left = is_guarded ? tj_select(graph, valid, before[i], zero) : before[i];
    const tj_node *right = is_guarded ? tj_select(graph, valid, after[i], zero) : after[i];
    verdict[i] = tj_equivalence_of_nodes(graph, left, right);
  }
  return (tj_proof){verdict, count, has_predicate};
}

bool tj_proof_holds(const tj_proof *proof) {
  for (uint32_t i = 0; i < proof->count; i++)
    if (!tj_is_equal(proof->verdict[i].verdict))
      return false;
  return true;
}

static bool is_predicate(const tj_proof *proof, uint32_t index) {
  return proof->has_predicate && index + 1 == proof->count;
}

static void print_side(tj_text *text, const tj_sided_value *side, uint32_t count) {
  if (side->instead != NULL || !side->is_valid) {
    tj_text_string(text, side->instead != NULL ? side->instead : "not valid");
    return;
  }
  tj_text_string(text, count == 1 ? "" : "(");
  tj_text_string(text, tj_integers_text(text->job, side->leaf, count, ","));
  tj_text_string(text, count == 1 ? "" : ")");
}

static void print_case(tj_text *text, const tj_equivalence *found) {
  tj_text_string(text, found->symbol_count > 0 ? "different: at " : "different");
  for (uint32_t i = 0; i < found->symbol_count; i++)
    tj_text_format(text, "%s%s = %" PRId64, i > 0 ? ", " : "", found->symbol[i]->symbol->name, found->value[i]);
  if (found->left.leaf == NULL || found->right.leaf == NULL)
    return;
  tj_text_string(text, ": ");
  print_side(text, &found->left, found->leaf_count);
  tj_text_string(text, " and ");
  print_side(text, &found->right, found->leaf_count);
}

void tj_verdict_print(const tj_equivalence *found, tj_text *text) {
  const char *by = found->is_inductive ? "by induction: " : "";
  switch (found->verdict) {
  case TJ_EQUAL_BY_RULES:
    tj_text_format(text, "equal: %sboth simplify to the same expressions", by);
    if (found->case_count > 0)
      tj_text_format(text, ", in each of %" PRIu64 " cases", found->case_count);
    return;
  case TJ_EQUAL_BY_CASES:
    tj_text_format(text, "equal: %sin each of %" PRIu64 " cases", by, found->case_count);
    return;
  case TJ_EQUAL_BY_SMT:
    tj_text_format(text, "equal: %sproved by Z3", by);
    return;
  case TJ_EQUAL_AS_IS:
    tj_text_string(text, "equal: unchanged");
    return;
  case TJ_DIFFERENT_DOMAINS:
    tj_text_format(text, "different: %s", found->why_not);
    return;
  case TJ_DIFFERENT:
    print_case(text, found);
    return;
  case TJ_UNDECIDED:
    tj_text_format(text, "undecided: neither %" PRIu64 " cases decide it nor a solver: %s", found->case_count,
                   found->why_not);
  }
}

void tj_proof_print(const tj_proof *proof, tj_text *text) {
  const uint32_t components = proof->count - (proof->has_predicate ? 1 : 0);
  for (uint32_t i = 0; i < proof->count; i++) {
    if (is_predicate(proof, i))
      tj_text_string(text, "proof of valid: ");
    else if (components > 1)
      tj_text_format(text, "proof of component %" PRIu32 ": ", i);
    else
      tj_text_string(text, "proof: ");
    tj_verdict_print(&proof->verdict[i], text);
    tj_text_char(text, '\n');
  }
}

static void write_case(tj_json *json, const tj_equivalence *found) {
  tj_json_key(json, "counterexample");
  tj_json_open(json, '{');
  for (uint32_t i = 0; i < found->symbol_count; i++)
    tj_json_number(json, found->symbol[i]->symbol->name, found->value[i]);
  tj_json_close(json, '}');
}

static void write_side(tj_json *json, const tj_sided_value *side, uint32_t count) {
  if (side->instead != NULL || side->leaf == NULL || !side->is_valid) {
    tj_json_string(json, side->instead != NULL ? side->instead : side->leaf == NULL ? "beyond 64 bits" : "not valid");
    return;
  }
  tj_json_open(json, '[');
  for (uint32_t i = 0; i < count; i++)
    tj_json_integer(json, side->leaf[i]);
  tj_json_close(json, ']');
}

void tj_verdict_write(const tj_equivalence *found, tj_json *json) {
  tj_json_member(json, "verdict", verdict_names[found->verdict]);
  if (found->is_inductive) {
    tj_json_key(json, "induction");
    tj_json_boolean(json, true);
  }
  if (found->verdict == TJ_EQUAL_BY_CASES)
    tj_json_number(json, "cases", (int64_t)found->case_count);
  if (found->verdict == TJ_DIFFERENT)
    write_case(json, found);
  if (found->verdict == TJ_DIFFERENT && found->leaf_count > 0) {
    tj_json_key(json, "values");
    tj_json_open(json, '[');
    write_side(json, &found->left, found->leaf_count);
    write_side(json, &found->right, found->leaf_count);
    tj_json_close(json, ']');
  }
  if (found->verdict == TJ_UNDECIDED || found->verdict == TJ_DIFFERENT_DOMAINS)
    tj_json_member(json, "why", found->why_not);
}

void tj_proof_write(const tj_proof *proof, tj_json *json) {
  tj_json_open(json, '[');
  for (uint32_t i = 0; i < proof->count; i++) {
    tj_json_open(json, '{');
    if (is_predicate(proof, i))
      tj_json_member(json, "of", "valid");
    else
      tj_json_number(json, "of", i);
    tj_verdict_write(&proof->verdict[i], json);
    tj_json_close(json, '}');
  }
  tj_json_close(json, ']');
}

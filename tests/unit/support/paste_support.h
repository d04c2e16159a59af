/* SPDX-License-Identifier: MIT */
/* What tests of printed mappings share: the mapping that a kernel's last stage before code prints, written into its
 * program, has to give the same code. */
#ifndef TJ_TESTS_PASTE_SUPPORT_H
#define TJ_TESTS_PASTE_SUPPORT_H

#include "tests/unit/support/library_support.h"

#include <stdbool.h>
#include <stdio.h>

/* A program whose last item is a kernel: a copy, a shuffle, or statements, which end the text. */
typedef struct {
  const char *text;
  const tj_parameter_value *fixed;
  size_t fixed_count;
  const char *kernel, *target;
} pasted_program;

static inline tj_blob emitted(tj_context *context, const pasted_program *p, const char *text, tj_emit stage) {
  tj_program *program = new_program(context, text, p->fixed, p->fixed_count);
  tj_blob made;
  tj_compile_options options = {p->kernel, p->target};
  expect_ok(context, tj_program_emit(program, &options, stage, &made), text);
  tj_program_destroy(program);
  return made;
}

/* The text after "mapping" in the last variant, the fastest: a mapping, or the reason why there is none. */
static inline char *printed_mapping(tj_context *context, const pasted_program *p) {
  static const char name[] = "\n  mapping      ";
  tj_blob tiled = emitted(context, p, p->text, TJ_EMIT_TILED);
  const char *begin = strstr(tiled.data, name);
  ck_assert_msg(begin != NULL, "no mapping line\n%s\n%s", p->text, tiled.data);
  for (const char *next = begin; next != NULL; next = strstr(next + 1, name))
    begin = next;
  begin += sizeof name - 1;
  size_t length = strcspn(begin, "\n");
  char *copy = malloc(length + 1);
  memcpy(copy, begin, length);
  copy[length] = '\0';
  tj_blob_release(context, &tiled);
  return copy;
}

/* The program with this mapping in the place of what said how elements are shared out. */
static inline char *with_mapping(const pasted_program *p, const char *mapping) {
  static const char *const replaced[] = {", mapping=", ", through=", ", from="};
  const char *body = strstr(p->text, "= shuffle("), *last = p->text + strlen(p->text) - 1;
  bool is_closed = *last != '}';
  const char *end = is_closed ? strrchr(p->text, ')') : last + 1;
  for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
    const char *at = strstr(p->text, replaced[i]);
    end = at != NULL && at < end ? at : end;
  }
  size_t size = strlen(p->text) + strlen(mapping) + 16;
  char *made = malloc(size);
  if (body != NULL)
    snprintf(made, size, "%.*s= copy(%.*s, mapping=%s)", (int)(body - p->text), p->text, (int)(end - body - 10),
             body + 10, mapping);
  else
    snprintf(made, size, "%.*s, mapping=%s%s", (int)(end - p->text), p->text, mapping, is_closed ? ")" : "");
  return made;
}

static inline void expect_same(tj_context *context, const pasted_program *p, const char *text, tj_emit stage) {
  tj_blob first = emitted(context, p, p->text, stage), second = emitted(context, p, text, stage);
  ck_assert_msg(first.size == second.size && memcmp(first.data, second.data, first.size) == 0,
                "%s: the code of this differs:\n%s\nand of this:\n%s", p->target, p->text, text);
  tj_blob_release(context, &first);
  tj_blob_release(context, &second);
}

/* Prints, pastes and compares what `stage` gives; and what is printed of what was pasted. False where there is no
 * mapping to print, with the reason in *reason, which the caller frees. */
static inline bool pastes_back(tj_context *context, const pasted_program *p, tj_emit stage, char **reason) {
  char *mapping = printed_mapping(context, p);
  *reason = mapping;
  if (strncmp(mapping, "mapping(", 8) != 0)
    return false;
  char *text = with_mapping(p, mapping);
  pasted_program again = *p;
  again.text = text;
  char *printed = printed_mapping(context, &again);
  ck_assert_str_eq(printed, mapping);
  expect_same(context, p, text, stage);
  free(printed);
  free(text);
  free(mapping);
  *reason = NULL;
  return true;
}

/* The variant of printed text that begins with its kernel's name; *next: the one after it, or NULL. */
static inline char *variant_from(const char *begin, const char **next) {
  *next = strstr(begin, "\nkernel ");
  size_t length = *next != NULL ? (size_t)(*next - begin) + 1 : strlen(begin);
  *next = *next != NULL ? *next + 1 : NULL;
  char *text = malloc(length + 1);
  memcpy(text, begin, length);
  text[length] = '\0';
  return text;
}

/* Pastes a variant's mapping: a variant of what comes of it has the same mapping and the same steps. */
static inline void variant_pastes_back(tj_context *context, const pasted_program *p, const char *variant,
                                       bool is_last) {
  const char *body = strstr(variant, "\n  mapping      mapping(");
  if (body == NULL)
    return;
  const char *mapping = body + sizeof "\n  mapping      " - 1;
  char *copy = strndup(mapping, strcspn(mapping, "\n"));
  char *text = with_mapping(p, copy);
  tj_blob tiled = emitted(context, p, text, TJ_EMIT_TILED);
  ck_assert_msg(strstr(tiled.data, body) != NULL, "%s\nhas no variant with the steps of\n%.1000s\nbut\n%.1000s", text,
                variant, tiled.data);
  tj_blob_release(context, &tiled);
  if (is_last)
    expect_same(context, p, text, TJ_EMIT_LLVM);
  free(text);
  free(copy);
}

/* The same for each variant that has a mapping; the last of kernels without parameters gives the same code, too.
 * Returns how many have none. */
static inline int variants_paste_back(tj_context *context, const pasted_program *p, bool has_parameters) {
  tj_blob tiled = emitted(context, p, p->text, TJ_EMIT_TILED);
  int without = 0;
  for (const char *begin = tiled.data, *next; begin != NULL; begin = next) {
    char *variant = variant_from(begin, &next);
    without += strstr(variant, "\n  mapping      none") != NULL;
    variant_pastes_back(context, p, variant, next == NULL && !has_parameters);
    free(variant);
  }
  tj_blob_release(context, &tiled);
  return without;
}

#endif

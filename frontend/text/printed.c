/* SPDX-License-Identifier: MIT */
/* What CuTe prints around a layout is recognised by its whole form, so that nothing is passed over that could be
 * meant: labels are those of a table, and what follows a layout is left out only where it is numbers and lines to the
 * end. */
#include "frontend/text/printed.h"

#include <stdbool.h>
#include <string.h>

/* Labels of lines, in the C++ prints of tiled MMAs, tiled copies and their atoms, and in those of the DSL. */
static const char *const labels[] = {
    "ThrID",         "Shape_MNK",     "LayoutA_TV",      "LayoutB_TV",      "LayoutC_TV",     "ThrLayoutVMNK",
    "Thr VMNK",      "ValLayoutSrc",  "ValLayoutDst",    "ValLayoutRef",    "TiledLayout_TV", "PermutationMNK",
    "Tiler_MN",      "Shape MNK",     "TV Layout A",     "TV Layout B",     "TV Layout C",    "Thr Layout VMNK",
    "TV Layout Src", "TV Layout Dst", "TV Layout tiled", "Permutation MNK", "Tiler MN",
};

static bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n');
}

static bool begins_with(const char *text, size_t length, const char *prefix) {
  size_t size = strlen(prefix);
  return size <= length && memcmp(text, prefix, size) == 0;
}

static size_t skip_blanks(const char *text, size_t begin, size_t end) {
  while (begin < end && is_blank(text[begin]))
    begin++;
  return begin;
}

static size_t end_of_line(const char *text, size_t begin, size_t end) {
  const char *newline = memchr(text + begin, '\n', end - begin);
  return newline != NULL ? (size_t)(newline - text) : end;
}

/* Behind a label, blanks and a colon that begin at `begin`; `begin` where they are not there, or end the line. */
static size_t skip_label(const char *text, size_t begin, size_t end) {
  for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
    if (!begins_with(text + begin, end - begin, labels[i]))
      continue;
    size_t colon = skip_blanks(text, begin + strlen(labels[i]), end);
    if (colon < end && text[colon] == ':' && skip_blanks(text, colon + 1, end) < end_of_line(text, colon, end))
      return colon + 1;
  }
  return begin;
}

/* Whether the text from `begin` on has no other characters, and `needed` somewhere. */
static bool is_made_of(const char *text, size_t begin, size_t end, const char *allowed, const char *needed) {
  bool has_needed = false;
  for (size_t i = begin; i < end; i++) {
    if (!is_blank(text[i]) && text[i] != '\n' && strchr(allowed, text[i]) == NULL)
      return false;
    has_needed = has_needed || begins_with(text + i, end - i, needed);
  }
  return has_needed;
}

/* Where the table of print_layout begins, or the elements of print_tensor with the colon before them; `end` where
 * neither is there. */
static size_t begin_of_table(const char *text, size_t begin, size_t end) {
  size_t line = end_of_line(text, begin, end), last = line;
  if (line == end)
    return end;
  if (is_made_of(text, line, end, "0123456789+-|", "+---"))
    return line;
  while (last > begin && is_blank(text[last - 1]))
    last--;
  bool is_tensor = last > begin && text[last - 1] == ':' && memchr(text + begin, '[', last - begin) != NULL;
  return is_tensor && is_made_of(text, line, end, "0123456789.+-eE=nainf", "0") ? last - 1 : end;
}

tj_span tj_printed_part(const char *text, size_t length) {
  static const char latex[] = "%% Layout:";
  size_t begin = 0;
  while (begin < length && (is_blank(text[begin]) || text[begin] == '\n'))
    begin++;
  if (begins_with(text + begin, length - begin, latex)) {
    begin += strlen(latex);
    return (tj_span){(uint32_t)begin, (uint32_t)end_of_line(text, begin, length)};
  }
  begin = skip_label(text, begin, length);
  return (tj_span){(uint32_t)begin, (uint32_t)begin_of_table(text, begin, length)};
}

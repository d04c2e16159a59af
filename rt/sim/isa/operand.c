/* SPDX-License-Identifier: MIT */
/* Operands: registers by name, register ranges, constants, and the signs around them. */
#include "rt/sim/isa/operand.h"

#include "base/number/plain_locale.h"

#include <stdlib.h>

/* Text that is read from the front; characters before `at` are done with. */
typedef struct {
  const char *at, *end;
} cursor;

static bool take(cursor *in, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(in->end - in->at) < length || memcmp(in->at, word, length) != 0)
    return false;
  in->at += length;
  return true;
}

/* Takes a suffix off the end. */
static bool take_last(cursor *in, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(in->end - in->at) < length || memcmp(in->end - length, word, length) != 0)
    return false;
  in->end -= length;
  return true;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool read_decimal(cursor *in, unsigned *number) {
  const char *begin = in->at;
  *number = 0;
  while (in->at < in->end && is_digit(*in->at) && *number < 10000)
    *number = *number * 10 + (unsigned)(*in->at++ - '0');
  return in->at > begin;
}

/* --- registers --- */

/* Registers with numbers: name, place, the number of the first, how many there are. */
static const struct {
  const char *prefix;
  tj_sim_place place;
  unsigned first, count;
} files[] = {{"v", TJ_SIM_VECTOR, 0, 1024},
             {"a", TJ_SIM_ACCUMULATOR, 0, 512},
             {"ttmp", TJ_SIM_SCALAR, TJ_SIM_TTMP, 16},
             {"s", TJ_SIM_SCALAR, 0, 106}};

/* Registers with names: how many registers wide. */
static const struct {
  const char *name;
  uint8_t index, width;
} named[] = {{"vcc", TJ_SIM_VCC, 2},
             {"vcc_lo", TJ_SIM_VCC, 1},
             {"vcc_hi", TJ_SIM_VCC + 1, 1},
             {"exec", TJ_SIM_EXEC, 2},
             {"exec_lo", TJ_SIM_EXEC, 1},
             {"exec_hi", TJ_SIM_EXEC + 1, 1},
             {"m0", TJ_SIM_M0, 1},
             {"null", TJ_SIM_NULL, 1},
             {"scc", TJ_SIM_SCC, 1},
             {"src_scc", TJ_SIM_SCC, 1},
             {"src_vccz", TJ_SIM_VCCZ, 1},
             {"src_execz", TJ_SIM_EXECZ, 1},
             {"flat_scratch", TJ_SIM_FLAT_SCRATCH, 2},
             {"flat_scratch_lo", TJ_SIM_FLAT_SCRATCH, 1},
             {"flat_scratch_hi", TJ_SIM_FLAT_SCRATCH + 1, 1},
             {"xnack_mask", TJ_SIM_XNACK_MASK, 2},
             {"xnack_mask_lo", TJ_SIM_XNACK_MASK, 1},
             {"xnack_mask_hi", TJ_SIM_XNACK_MASK + 1, 1},
             {"src_shared_base", TJ_SIM_SHARED_BASE, 2},
             {"src_shared_limit", TJ_SIM_SHARED_LIMIT, 2},
             {"src_private_base", TJ_SIM_PRIVATE_BASE, 2},
             {"src_private_limit", TJ_SIM_PRIVATE_LIMIT, 2}};

/* 7 or [4:7], to the end of the text. */
static bool read_numbers(cursor in, unsigned *first, unsigned *last) {
  bool is_range = take(&in, "[");
  if (!read_decimal(&in, first))
    return false;
  *last = *first;
  if (is_range && !((take(&in, ":") && read_decimal(&in, last) && take(&in, "]")) || take(&in, "]")))
    return false;
  return in.at == in.end && *first <= *last;
}

static bool read_numbered(cursor in, tj_sim_operand *operand) {
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    cursor rest = in;
    unsigned first, last;
    if (!take(&rest, files[i].prefix) || !read_numbers(rest, &first, &last) || last >= files[i].count)
      continue;
    operand->place = (uint8_t)files[i].place;
    operand->index = (uint16_t)(files[i].first + first);
    operand->width = (uint8_t)(last - first + 1);
    return true;
  }
  return false;
}

static bool read_named(cursor in, tj_sim_operand *operand) {
  size_t length = (size_t)(in.end - in.at);
  if (length == 3 && memcmp(in.at, "off", 3) == 0)
    return true;
  for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
    if (strlen(named[i].name) != length || memcmp(in.at, named[i].name, length) != 0)
      continue;
    operand->place = TJ_SIM_SCALAR;
    operand->index = named[i].index;
    operand->width = named[i].width;
    return true;
  }
  return false;
}

/* v3.l and v3.h. */
static void read_half(cursor *in, tj_sim_operand *operand) {
  if (take_last(in, ".l"))
    operand->part = TJ_SIM_LOW_HALF;
  else if (take_last(in, ".h"))
    operand->part = TJ_SIM_HIGH_HALF;
}

/* --- constants --- */

enum { LONGEST_NUMBER = 40 };

static bool read_constant(cursor in, tj_sim_operand *operand) {
  char text[LONGEST_NUMBER], *end;
  size_t length = (size_t)(in.end - in.at);
  if (length == 0 || length >= sizeof text)
    return false;
  memcpy(text, in.at, length);
  text[length] = '\0';
  operand->place = TJ_SIM_CONSTANT;
  operand->is_literal = strstr(text, "0x") != NULL;
  operand->is_float = !operand->is_literal && strchr(text, '.') != NULL;
  if (operand->is_float)
    operand->number = tj_read_decimal(text, &end);
  else if (text[0] == '-')
    operand->constant = (uint64_t)strtoll(text, &end, 0);
  else
    operand->constant = strtoull(text, &end, 0);
  return *end == '\0';
}

/* lit64(0xff): all 64 bits of it are in the encoding. */
static bool read_wide_constant(cursor in, tj_sim_operand *operand) {
  if (!take(&in, "lit64(") || !take_last(&in, ")") || !read_constant(in, operand))
    return false;
  operand->is_literal = false;
  return true;
}

/* lit(0x0): a literal of what an instruction could have without one, such as a distance that is known late. */
static bool read_needless_literal(cursor in, tj_sim_operand *operand) {
  return take(&in, "lit(") && take_last(&in, ")") && read_constant(in, operand);
}

static bool starts_number(cursor in) {
  if (in.at < in.end && *in.at == '-')
    in.at++;
  return in.at < in.end && is_digit(*in.at);
}

/* --- signs --- */

/* Takes what surrounds a register: -x, |x|, neg(x), abs(x), sext(x), in any nesting. */
static void read_signs(cursor *in, tj_sim_operand *operand) {
  static const struct {
    const char *open, *close;
  } pairs[] = {{"|", "|"}, {"abs(", ")"}, {"sext(", ")"}, {"neg(", ")"}};
  bool *flags[] = {&operand->absolute, &operand->absolute, &operand->extend, &operand->negate};
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    cursor inner = *in;
    if (!take(&inner, pairs[i].open) || !take_last(&inner, pairs[i].close))
      continue;
    *flags[i] = true;
    *in = inner;
    read_signs(in, operand);
    return;
  }
  if (!starts_number(*in) && take(in, "-")) {
    operand->negate = true;
    read_signs(in, operand);
  }
}

bool tj_sim_read_operand(const char *text, size_t length, tj_sim_operand *operand) {
  cursor in = {text, text + length};
  *operand = (tj_sim_operand){0};
  read_signs(&in, operand);
  if (starts_number(in))
    return read_constant(in, operand);
  read_half(&in, operand);
  return read_named(in, operand) || read_numbered(in, operand) || read_wide_constant(in, operand) ||
         read_needless_literal(in, operand);
}

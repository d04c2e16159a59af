/* SPDX-License-Identifier: MIT */
/* Modifiers: a table of names, and for each what it sets. */
#include "rt/sim/isa/modifier.h"

#include <stdlib.h>

enum { LONGEST_LIST = 8 };

/* The numbers of [1,0,3]; or one number. Returns how many; -1 where the text is something else. */
static int read_list(const char *text, long number[LONGEST_LIST]) {
  int count = 0;
  bool is_list = *text == '[';
  text += is_list ? 1 : 0;
  while (count < LONGEST_LIST) {
    char *end;
    number[count] = strtol(text, &end, 0);
    if (end == text)
      return -1;
    count++;
    text = end;
    if (*text != ',')
      break;
    text++;
  }
  return strcmp(text, is_list ? "]" : "") == 0 ? count : -1;
}

static bool read_number(const char *text, long *number) {
  long list[LONGEST_LIST];
  bool is_number = *text != '[' && read_list(text, list) == 1;
  *number = is_number ? list[0] : 0;
  return is_number;
}

static bool read_bits(const char *text, uint8_t *bits) {
  long list[LONGEST_LIST];
  int count = read_list(text, list);
  *bits = 0;
  for (int i = 0; i < count; i++)
    *bits = (uint8_t)(*bits | (list[i] != 0 ? 1 << i : 0));
  return count > 0;
}

/* --- lanes --- */

/* The instruction's exchange, made when first needed. */
static tj_sim_exchange *exchange_of(tj_job *job, tj_sim_instruction *instruction) {
  if (instruction->exchange == NULL) {
    tj_sim_exchange *made = TJ_NEW(job, tj_sim_exchange);
    made->row_mask = made->bank_mask = 15;
    for (int lane = 0; lane < TJ_SIM_LANES; lane++)
      made->from[lane] = (int8_t)lane;
    instruction->exchange = made;
  }
  return (tj_sim_exchange *)(uintptr_t)instruction->exchange;
}

static bool read_quad(tj_sim_exchange *exchange, const char *text) {
  long list[LONGEST_LIST];
  if (read_list(text, list) != 4)
    return false;
  for (int lane = 0; lane < TJ_SIM_LANES; lane++)
    exchange->from[lane] = (int8_t)((lane & ~3) | (int)(list[lane & 3] & 3));
  return true;
}

static bool read_eight(tj_sim_exchange *exchange, const char *text) {
  long list[LONGEST_LIST];
  if (read_list(text, list) != 8)
    return false;
  for (int lane = 0; lane < TJ_SIM_LANES; lane++)
    exchange->from[lane] = (int8_t)((lane & ~7) | (int)(list[lane & 7] & 7));
  return true;
}

/* The lane that a lane reads in a named pattern with an amount; -1: none. */
static int pattern_source(const char *name, int lane, int amount) {
  int row = lane & ~15, place = lane & 15;
  if (strcmp(name, "row_shl") == 0)
    return place + amount < 16 ? lane + amount : -1;
  if (strcmp(name, "row_shr") == 0)
    return place - amount >= 0 ? lane - amount : -1;
  if (strcmp(name, "row_ror") == 0)
    return row | ((place - amount) & 15);
  if (strcmp(name, "row_share") == 0 || strcmp(name, "row_newbcast") == 0)
    return row | (amount & 15);
  if (strcmp(name, "row_xmask") == 0)
    return row | (place ^ (amount & 15));
  if (strcmp(name, "row_mirror") == 0)
    return row | (15 - place);
  if (strcmp(name, "row_half_mirror") == 0)
    return row | (place & 8) | (7 - (place & 7));
  if (strcmp(name, "wave_shl") == 0)
    return lane + 1 < TJ_SIM_LANES ? lane + 1 : -1;
  if (strcmp(name, "wave_shr") == 0)
    return lane - 1;
  if (strcmp(name, "wave_rol") == 0)
    return (lane + 1) % TJ_SIM_LANES;
  if (strcmp(name, "wave_ror") == 0)
    return (lane + TJ_SIM_LANES - 1) % TJ_SIM_LANES;
  if (strcmp(name, "row_bcast") == 0)
    return amount == 15 ? (row == 0 ? -1 : row - 1) : (lane < 32 ? -1 : 31);
  return -2;
}

static bool read_pattern(tj_sim_exchange *exchange, const char *name, int amount) {
  if (pattern_source(name, 0, amount) < -1)
    return false;
  for (int lane = 0; lane < TJ_SIM_LANES; lane++)
    exchange->from[lane] = (int8_t)pattern_source(name, lane, amount);
  return true;
}

static bool is_pattern(const char *name) {
  return pattern_source(name, 0, 0) >= -1;
}

/* Lane exchanges and their masks. */
static bool read_exchange(tj_job *job, const char *name, const char *value, tj_sim_instruction *instruction) {
  long number = 0;
  if (strcmp(name, "quad_perm") == 0)
    return read_quad(exchange_of(job, instruction), value);
  if (strcmp(name, "dpp8") == 0) {
    exchange_of(job, instruction)->fills_with_zero = true;
    return read_eight(exchange_of(job, instruction), value);
  }
  if (*value != '\0' && !read_number(value, &number))
    return false;
  if (is_pattern(name))
    return read_pattern(exchange_of(job, instruction), name, (int)(number & 15));
  tj_sim_exchange *exchange = exchange_of(job, instruction);
  if (strcmp(name, "row_mask") == 0)
    exchange->row_mask = (uint8_t)number;
  else if (strcmp(name, "bank_mask") == 0)
    exchange->bank_mask = (uint8_t)number;
  else if (strcmp(name, "bound_ctrl") == 0)
    exchange->fills_with_zero = true;
  else if (strcmp(name, "fi") == 0)
    exchange->fetches_inactive = number != 0;
  else
    return false;
  return true;
}

/* --- selections --- */

static bool read_selection(const char *value, uint8_t *part) {
  static const struct {
    const char *name;
    uint8_t part;
  } parts[] = {{"DWORD", TJ_SIM_WHOLE},      {"WORD_0", TJ_SIM_LOW_HALF},   {"WORD_1", TJ_SIM_HIGH_HALF},
               {"BYTE_0", TJ_SIM_BYTE_0},    {"BYTE_1", TJ_SIM_BYTE_0 + 1}, {"BYTE_2", TJ_SIM_BYTE_0 + 2},
               {"BYTE_3", TJ_SIM_BYTE_0 + 3}};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    if (strcmp(parts[i].name, value) == 0) {
      *part = parts[i].part;
      return true;
    }
  }
  return false;
}

static bool read_unused(const char *value, uint8_t *unused) {
  static const char *const names[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  for (uint8_t i = 0; i < 3; i++) {
    if (strcmp(names[i], value) == 0) {
      *unused = i;
      return true;
    }
  }
  return false;
}

static bool read_sdwa(const char *name, const char *value, tj_sim_instruction *instruction) {
  if (strcmp(name, "dst_sel") == 0)
    return read_selection(value, &instruction->destination_part);
  if (strcmp(name, "dst_unused") == 0)
    return read_unused(value, &instruction->unused);
  if (strcmp(name, "src0_sel") == 0)
    return read_selection(value, &instruction->source_part[0]);
  if (strcmp(name, "src1_sel") == 0)
    return read_selection(value, &instruction->source_part[1]);
  return false;
}

void tj_sim_apply_selections(tj_sim_instruction *instruction) {
  for (unsigned i = 0; instruction->is_sdwa && i < 2 && i < instruction->source_count; i++)
    instruction->operand[instruction->first_source + i].part = instruction->source_part[i];
}

/* --- all others --- */

/* Caches and orders of memory, and caches of registers: without meaning where every access is complete before the
 * next begins. */
static bool is_about_caches(const char *name) {
  static const char *const names[] = {"slc", "dlc", "sc1", "nt", "scc", "scope", "matrix_a_reuse", "matrix_b_reuse"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(names[i], name) == 0)
      return true;
  }
  return false;
}

static bool read_flag(const char *name, const char *value, tj_sim_instruction *instruction) {
  if (strcmp(name, "clamp") == 0)
    instruction->has_clamp = true;
  else if (strcmp(name, "idxen") == 0)
    instruction->has_index = true;
  else if (strcmp(name, "offen") == 0)
    instruction->has_offset = true;
  else if (strcmp(name, "scale_offset") == 0)
    instruction->scales_offset = true;
  else if (strcmp(name, "glc") == 0 || strcmp(name, "sc0") == 0)
    instruction->returns_old = true;
  else if (strcmp(name, "th") == 0)
    instruction->returns_old = strstr(value, "RETURN") != NULL;
  else
    return is_about_caches(name);
  return true;
}

static bool read_lists(const char *name, const char *value, tj_sim_instruction *instruction) {
  if (strcmp(name, "op_sel") == 0) {
    long list[LONGEST_LIST];
    int count = read_list(value, list);
    instruction->op_sel_count = (uint8_t)(count > 0 ? count : 0);
    return read_bits(value, &instruction->op_sel);
  }
  if (strcmp(name, "op_sel_hi") == 0) {
    instruction->has_op_sel_hi = true;
    return read_bits(value, &instruction->op_sel_hi);
  }
  if (strcmp(name, "neg_lo") == 0)
    return read_bits(value, &instruction->neg_lo);
  return strcmp(name, "neg_hi") == 0 && read_bits(value, &instruction->neg_hi);
}

/* Which byte of its only source a conversion takes. */
static bool read_byte(const char *name, long number, tj_sim_instruction *instruction) {
  bool takes_byte = strncmp(instruction->operation->name, "v_cvt_f32_", sizeof "v_cvt_f32_" - 1) == 0;
  if (strcmp(name, "byte_sel") != 0 || !takes_byte || instruction->operand_count != 2)
    return false;
  instruction->operand[1].part = (uint8_t)(TJ_SIM_BYTE_0 + (number & 3));
  return true;
}

static bool read_numbers(const char *name, const char *value, tj_sim_instruction *instruction) {
  long number;
  if (!read_number(value, &number))
    return false;
  if (strcmp(name, "offset") == 0)
    instruction->offset = number;
  else if (strcmp(name, "offset0") == 0)
    instruction->offset0 = (uint32_t)number & 255;
  else if (strcmp(name, "offset1") == 0)
    instruction->offset1 = (uint32_t)number & 255;
  else if (strcmp(name, "bitop3") == 0)
    instruction->table = (uint32_t)number & 255;
  else if (strcmp(name, "cbsz") == 0)
    instruction->matrix_a = (uint8_t)(number & 7);
  else if (strcmp(name, "abid") == 0 || strcmp(name, "index_key") == 0)
    instruction->matrix_block = (uint8_t)(number & 15);
  else if (strcmp(name, "blgp") == 0)
    instruction->matrix_b = (uint8_t)(number & 7);
  else if (strcmp(name, "mul") == 0 && (number == 2 || number == 4))
    instruction->scale = number == 2 ? 1 : 2;
  else if (strcmp(name, "div") == 0 && number == 2)
    instruction->scale = 3;
  else
    return read_byte(name, number, instruction);
  return true;
}

/* What WMMA of gfx1250 says of its source 0, a, or 1, b: a type, and in which half of a wave its scales are. */
static bool read_matrix_names(const char *name, const char *value, tj_sim_instruction *instruction) {
  static const char *const formats[] = {"MATRIX_FMT_FP8", "MATRIX_FMT_BF8", "MATRIX_FMT_FP6", "MATRIX_FMT_BF6",
                                        "MATRIX_FMT_FP4"};
  bool is_b = strncmp(name, "matrix_b", sizeof "matrix_b" - 1) == 0;
  const char *rest = name + sizeof "matrix_b" - 1;
  if (!is_b && strncmp(name, "matrix_a", sizeof "matrix_a" - 1) != 0)
    return false;
  for (uint8_t i = 0; strcmp(rest, "_fmt") == 0 && i < sizeof formats / sizeof formats[0]; i++) {
    if (strcmp(value, formats[i]) == 0) {
      *(is_b ? &instruction->matrix_b : &instruction->matrix_a) = i;
      return true;
    }
  }
  if (strcmp(rest, "_scale") != 0 || strcmp(value, "MATRIX_SCALE_ROW1") != 0)
    return false;
  instruction->upper_scales = (uint8_t)(instruction->upper_scales | (is_b ? 2 : 1));
  return true;
}

bool tj_sim_read_modifier(tj_job *job, const char *text, tj_sim_instruction *instruction) {
  char name[32];
  size_t length = strcspn(text, ":");
  if (length >= sizeof name)
    return false;
  memcpy(name, text, length);
  name[length] = '\0';
  const char *value = text[length] == ':' ? text + length + 1 : "";
  return read_flag(name, value, instruction) || read_numbers(name, value, instruction) ||
         read_lists(name, value, instruction) || read_sdwa(name, value, instruction) ||
         read_matrix_names(name, value, instruction) || read_exchange(job, name, value, instruction);
}

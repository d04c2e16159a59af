/* SPDX-License-Identifier: MIT */
/* Classes and annotations of instructions, by their mnemonics. */
#include "jit/isa/instruction.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *prefix;
  tj_instruction_kind kind;
} class_row;

static const class_row classes[] = {
#define CLASS(prefix, class, cost) {prefix, {TJ_CLASS_##class, cost}},
#include "jit/isa/instruction_class.def"
#undef CLASS
};

static const char *const class_names[TJ_CLASS_COUNT] = {
    [TJ_CLASS_VALU] = "valu",       [TJ_CLASS_SALU] = "salu",       [TJ_CLASS_VMEM] = "vmem",
    [TJ_CLASS_SMEM] = "smem",       [TJ_CLASS_LDS] = "lds",         [TJ_CLASS_BRANCH] = "branch",
    [TJ_CLASS_EXPORT] = "export",   [TJ_CLASS_WAIT] = "wait",       [TJ_CLASS_CONTROL] = "control",
    [TJ_CLASS_PADDING] = "padding", [TJ_CLASS_UNKNOWN] = "unknown",
};

const char *tj_instruction_class_name(tj_instruction_class class) {
  return class_names[class];
}

static bool begins_with(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

tj_instruction_kind tj_instruction_classify(const char *text) {
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
    if (begins_with(text, classes[i].prefix))
      return classes[i].kind;
  return (tj_instruction_kind){TJ_CLASS_UNKNOWN, 0};
}

/* A word of a mnemonic: what stands between underscores. */
typedef struct {
  const char *begin;
  size_t length;
} mnemonic_word;

/* The word from `at` on, and where the next begins; NULL at the mnemonic's end. */
static const char *next_word(const char *at, mnemonic_word *out) {
  *out = (mnemonic_word){at, strcspn(at, "_ ")};
  return at[out->length] == '_' ? at + out->length + 1 : NULL;
}

static bool word_is(mnemonic_word word, const char *text) {
  return strlen(text) == word.length && memcmp(word.begin, text, word.length) == 0;
}

/* Bytes that a word of a memory instruction's mnemonic stands for. */
typedef struct {
  const char *word;
  uint32_t bytes;
} width_row;

static const width_row widths[] = {
    {"ubyte", 1},  {"sbyte", 1},    {"byte", 1},    {"u8", 1},        {"i8", 1},       {"b8", 1},    {"ushort", 2},
    {"sshort", 2}, {"short", 2},    {"u16", 2},     {"i16", 2},       {"b16", 2},      {"f16", 2},   {"bf16", 2},
    {"dword", 4},  {"b32", 4},      {"u32", 4},     {"i32", 4},       {"f32", 4},      {"b64", 8},   {"u64", 8},
    {"i64", 8},    {"f64", 8},      {"dwordx2", 8}, {"b96", 12},      {"dwordx3", 12}, {"b128", 16}, {"dwordx4", 16},
    {"b256", 32},  {"dwordx8", 32}, {"b512", 64},   {"dwordx16", 64}, {"x2", 8},
};

static uint32_t width_of_word(mnemonic_word word) {
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
    if (word_is(word, widths[i].word))
      return widths[i].bytes;
  return 0;
}

/* What the words of a memory instruction say together. */
typedef struct {
  const char *action; /* load, store, atomic … */
  uint32_t bytes;     /* of one access of one lane; 0: the mnemonic does not tell */
  uint32_t accesses;  /* 2 for read2 and the like */
  bool is_packed;     /* pk: two of the named type */
} transfer;

/* Words that tell what a memory instruction does, and to how many addresses. */
typedef struct {
  const char *word;
  const char *action;
  uint32_t accesses;
} action_row;

static const action_row actions[] = {
    {"load", "load", 1},
    {"read", "load", 1},
    {"store", "store", 1},
    {"write", "store", 1},
    {"atomic", "atomic", 1},
    {"gather4", "gather", 1},
    {"sample", "sample", 1},
    {"prefetch", "prefetch", 1},
    {"permute", "exchange between lanes", 1},
    {"bpermute", "exchange between lanes", 1},
    {"swizzle", "exchange between lanes", 1},
    {"wrxchg", "atomic", 1},
    {"wrxchg2", "atomic", 2},
    {"wrxchg2st64", "atomic", 2},
    {"read2", "load", 2},
    {"read2st64", "load", 2},
    {"write2", "store", 2},
    {"write2st64", "store", 2},
    {"2addr", NULL, 2},
    {"stride64", NULL, 2},
    {"wb", "cache write-back", 1},
    {"wbl2", "cache write-back", 1},
    {"inv", "cache invalidation", 1},
    {"invl2", "cache invalidation", 1},
    {"wbinvl1", "cache invalidation", 1},
    {"gws", "global wave sync", 1},
    {"memtime", "clock", 1},
    {"memrealtime", "clock", 1},
};

static void take_action(transfer *movement, mnemonic_word word) {
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
    if (!word_is(word, actions[i].word))
      continue;
    if (movement->action == NULL)
      movement->action = actions[i].action;
    if (actions[i].accesses > movement->accesses)
      movement->accesses = actions[i].accesses;
  }
}

static transfer movement_of(const char *text) {
  transfer movement = {.accesses = 1};
  mnemonic_word word;
  for (const char *at = text; at != NULL;) {
    at = next_word(at, &word);
    take_action(&movement, word);
    movement.is_packed |= word_is(word, "pk");
    if (movement.bytes == 0)
      movement.bytes = width_of_word(word);
  }
  if (movement.is_packed)
    movement.bytes *= 2;
  return movement;
}

/* Where a memory instruction goes, by its prefix; what it does when no word of it says so. */
typedef struct {
  const char *prefix;
  const char *place;
  const char *default_action;
  bool is_per_lane;
} place_row;

static const place_row places[] = {
    {"global_", "global", NULL, true},
    {"flat_", "flat", NULL, true},
    {"scratch_", "scratch", NULL, true},
    {"buffer_", "buffer", NULL, true},
    {"tbuffer_", "buffer", NULL, true},
    {"image_", "image", NULL, true},
    {"ds_nop", NULL, NULL, false},
    {"ds_gws_", "data share", NULL, false},
    {"ds_", "LDS", "atomic", true},
    {"s_buffer_", "scalar buffer", NULL, false},
    {"s_scratch_", "scalar scratch", NULL, false},
    {"s_", "scalar", NULL, false},
};

static const place_row *place_of(const char *text) {
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (begins_with(text, places[i].prefix))
      return &places[i];
  return NULL;
}

/* Loads that go to LDS and not to registers: global_load_lds_dword, and buffer loads with the modifier lds. */
static bool goes_to_lds(const char *text) {
  return strstr(text, "_lds_") != NULL || strstr(text, " lds") != NULL;
}

static const char *annotate_memory(tj_job *job, const char *text) {
  const place_row *place = place_of(text);
  transfer movement = movement_of(text);
  if (place == NULL || place->place == NULL)
    return "";
  const char *action = movement.action != NULL ? movement.action : place->default_action;
  if (action == NULL)
    return place->place;
  tj_text out = tj_text_begin(job);
  tj_text_format(&out, "%s %s", place->place, action);
  if (goes_to_lds(text))
    tj_text_string(&out, " to LDS");
  if (movement.bytes == 0)
    return out.data;
  tj_text_string(&out, ", ");
  if (movement.accesses > 1)
    tj_text_format(&out, "%u times ", movement.accesses);
  tj_text_format(&out, "%u byte%s%s", movement.bytes, movement.bytes == 1 ? "" : "s",
                 place->is_per_lane ? " a lane" : "");
  return out.data;
}

/* A counter that waits name, and what it counts. */
typedef struct {
  const char *name;
  const char *counts;
} counter_row;

static const counter_row counters[] = {
    {"vmcnt", "vector memory"},
    {"vscnt", "vector stores"},
    {"lgkmcnt", "LDS, scalar memory, messages"},
    {"expcnt", "exports"},
    {"loadcnt", "vector loads"},
    {"storecnt", "vector stores"},
    {"dscnt", "LDS"},
    {"kmcnt", "scalar memory, messages"},
    {"samplecnt", "samples"},
    {"bvhcnt", "ray intersections"},
    {"asynccnt", "asynchronous copies"},
    {"tensorcnt", "tensor copies"},
};

static const char *what_counter_counts(mnemonic_word name) {
  for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
    if (word_is(name, counters[i].name))
      return counters[i].counts;
  return NULL;
}

static void say_limit(tj_text *text, const char *counts, unsigned long limit) {
  if (text->length != 0)
    tj_text_string(text, "; ");
  if (limit == 0)
    tj_text_format(text, "for all %s", counts);
  else
    tj_text_format(text, "for %s, but the last %lu", counts, limit);
}

/* s_waitcnt vmcnt(0) lgkmcnt(1) */
static void say_named_counters(tj_text *out, const char *text) {
  for (const char *open = strchr(text, '('); open != NULL; open = strchr(open + 1, '(')) {
    const char *name = open;
    while (name > text && isalpha((unsigned char)name[-1]))
      name--;
    const char *counts = what_counter_counts((mnemonic_word){name, (size_t)(open - name)});
    if (counts != NULL)
      say_limit(out, counts, strtoul(open + 1, NULL, 0));
  }
}

/* s_wait_loadcnt 0x2, s_waitcnt_vscnt null, 0x0: the counter is in the mnemonic, the limit the last operand. Two
 * counters share an operand as s_wait_loadcnt_dscnt 0x302 does, the first in the high byte. */
static void say_counters_in_mnemonic(tj_text *out, const char *text) {
  const char *counts[2];
  size_t count = 0;
  mnemonic_word word;
  for (const char *at = text; at != NULL && count < 2;) {
    at = next_word(at, &word);
    counts[count] = what_counter_counts(word);
    count += counts[count] != NULL;
  }
  const char *operand = strrchr(text, ' ');
  if (operand == NULL)
    return;
  unsigned long limit = strtoul(operand + 1, NULL, 0);
  if (count == 2)
    say_limit(out, counts[0], limit >> 8 & 0xff);
  if (count != 0)
    say_limit(out, counts[count - 1], limit & 0xff);
}

static const char *annotate_wait(tj_job *job, const char *text) {
  tj_text out = tj_text_begin(job);
  if (strchr(text, '(') != NULL)
    say_named_counters(&out, text);
  else
    say_counters_in_mnemonic(&out, text);
  return out.data;
}

const char *tj_instruction_annotate(tj_job *job, const char *text) {
  switch (tj_instruction_classify(text).class) {
  case TJ_CLASS_VMEM:
  case TJ_CLASS_SMEM:
  case TJ_CLASS_LDS:
    return annotate_memory(job, text);
  case TJ_CLASS_WAIT:
    return annotate_wait(job, text);
  default:
    return "";
  }
}

/* SPDX-License-Identifier: MIT */
/* Any bytes, as the decisions of random_program.h and of how a mapping changes: a kernel that copies gets the mapping
 * that the compiler prints for it, or one of a few, with some of what it says changed. It is refused, or the kernel
 * does what the evaluator says. */
#include "tests/fuzz/differential.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAPPING_TEXT = 2048, MOST_FIELDS = 16, MOST_CHANGES = 4 };

/* A mapping as text, and its fields: name=value. */
typedef struct {
  char field[MOST_FIELDS][MAPPING_TEXT];
  uint32_t count;
} mapping_text;

/* --- the mapping to begin with --- */

static const char *const templates[] = {
    "tile=(32,32), load=((8,32),4):((4@1,1@0),1@1), store=((8,32),4):((4@0,1@1),1@0)",
    "tile=(64,64), load=((16,16),(4,4)):((4@1,1@0),(1@1,16@0)), store=((16,16),(4,4)):((4@0,4@1),(1@0,1@1)), "
    "lds=(64,64):(64,1)",
    "tile=(16,16), load=((4,16),(4,4)):((4@1,1@0),(1@1,16@1)), store=((4,16),(4,4)):((4@0,1@1),(1@0,16@1)), "
    "lds=(16,16):(16,1), passes=4",
    "tile=(256), load=(256,1):(1@0,0)",
    "tile=(128), load=(32,4):(4@0,1@0)",
    "tile=(8,8), load=((2,8),4):((4@1,1@0),1@1), store=((8,2),4):((1@1,4@0),1@0)",
};

enum { TEMPLATES = sizeof templates / sizeof templates[0] };

static void split_fields(mapping_text *m, const char *text, size_t length) {
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= length && m->count < MOST_FIELDS; i++) {
    char c = i < length ? text[i] : ',';
    depth += (c == '(' || c == '[' || c == '<') - (c == ')' || c == ']' || c == '>');
    if (c != ',' || depth > 0)
      continue;
    while (begin < i && text[begin] == ' ')
      begin++;
    snprintf(m->field[m->count++], MAPPING_TEXT, "%.*s", (int)(i - begin), text + begin);
    begin = i + 1;
  }
}

/* The mapping of a variant that is printed for a target; false where there is none. */
static bool print_mapping(random_program *p, size_t which, mapping_text *m) {
  static const char before[] = "  mapping      mapping(";
  tj_parameter_value fixed[] = {{"M", p->m}, {"N", p->n}};
  tj_compile_options options = {.target = tj_device_target(device_of(which))};
  uint32_t chosen = decide(p, 3);
  tj_program *program;
  tj_blob listing;
  if (tj_program_create(context, "fuzz", p->text, p->length, fixed, p->is_dynamic ? 0 : 2, &program) != TJ_OK)
    return false;
  bool is_printed = tj_program_emit(program, &options, TJ_EMIT_TILED, &listing) == TJ_OK;
  const char *at = is_printed ? strstr(listing.data, before) : NULL;
  for (uint32_t i = 0; at != NULL && i < chosen && strstr(at + 1, before) != NULL; i++)
    at = strstr(at + 1, before);
  if (at != NULL)
    split_fields(m, at + sizeof before - 1, strcspn(at + sizeof before - 1, "\n") - 1);
  if (is_printed)
    tj_blob_release(context, &listing);
  tj_program_destroy(program);
  return at != NULL;
}

/* --- changes --- */

/* What a mapping may say besides; %s is the tile. */
static const char *const additions[] = {
    "passes=2",
    "passes=4",
    "passes=8",
    "buffers=2",
    "buffers=3",
    "stream=1",
    "direct=1",
    "dma=1",
    "overlap=1",

    "dma_store=1",
    "lds=%s:(32,1)",
    "lds=%s:(1,32)",
    "lds=%s:(33,1)",
    "lds=%s:(64,1)",
    "lds=Sw<2,2,3> o 0 o %s:(32,1)",
    "lds=Sw<3,0,4> o 0 o %s:(64,1)",
    "order=(2,2):(1@1,1@0)",
    "load_as=(8,8):(8,1)",
    "store_as=Sw<2,0,3>",
};

enum { ADDITIONS = sizeof additions / sizeof additions[0] };

static bool is_named(const char *field, const char *name) {
  size_t length = strlen(name);
  return strncmp(field, name, length) == 0 && field[length] == '=';
}

static const char *tile_of(const mapping_text *m) {
  for (uint32_t i = 0; i < m->count; i++) {
    if (is_named(m->field[i], "tile"))
      return m->field[i] + 5;
  }
  return "(32,32)";
}

static void remove_field(mapping_text *m, uint32_t which) {
  memmove(m->field[which], m->field[which + 1], (size_t)(m->count - which - 1) * MAPPING_TEXT);
  m->count--;
}

/* In the place of what the mapping said of the same. */
static void add_field(random_program *p, mapping_text *m) {
  const char *chosen = additions[decide(p, ADDITIONS)], *tile = strstr(chosen, "%s");
  char made[MAPPING_TEXT], name[16];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(chosen, "="), chosen);
  if (tile != NULL)
    snprintf(made, sizeof made, "%.*s%.1000s%s", (int)(tile - chosen), chosen, tile_of(m), tile + 2);
  else
    snprintf(made, sizeof made, "%s", chosen);
  for (uint32_t i = 0; i < m->count; i++) {
    if (is_named(m->field[i], name))
      remove_field(m, i);
  }
  if (m->count < MOST_FIELDS)
    memcpy(m->field[m->count++], made, sizeof made);
}

/* One of the field's integers becomes another. */
static void change_integer(random_program *p, char *field) {
  uint32_t skipped = decide(p, 8);
  char *at = strchr(field, '=') != NULL ? strchr(field, '=') : field;
  for (uint32_t i = 0; i < skipped && *(at + strcspn(at, "0123456789")) != '\0'; i++) {
    at += strcspn(at, "0123456789");
    at += strspn(at, "0123456789");
  }
  at += strcspn(at, "0123456789");
  if (*at == '\0')
    return;
  long long value = strtoll(at, NULL, 10);
  const long long others[] = {value * 2, value / 2, value + 1, 0, 1, 2, 4, 8, 16, 64, value * 4, 3};
  char rest[MAPPING_TEXT];
  snprintf(rest, sizeof rest, "%s", at + strspn(at, "0123456789"));
  snprintf(at, MAPPING_TEXT - (size_t)(at - field), "%lld%s", others[decide(p, 12)], rest);
}

/* What one field says, another says. */
static void give_value(random_program *p, mapping_text *m) {
  char *to = m->field[decide(p, m->count)], *from = m->field[decide(p, m->count)];
  char made[2 * MAPPING_TEXT];
  snprintf(made, sizeof made, "%.*s%s", (int)strcspn(to, "="), to, from + strcspn(from, "="));
  snprintf(to, MAPPING_TEXT, "%.*s", MAPPING_TEXT - 1, made);
}

static void change(random_program *p, mapping_text *m) {
  uint32_t how = decide(p, 6);
  if (how == 0 || m->count == 0)
    add_field(p, m);
  else if (how == 1)
    remove_field(m, decide(p, m->count));
  else if (how == 2)
    give_value(p, m);
  else
    change_integer(p, m->field[decide(p, m->count)]);
}

/* --- the program with the mapping --- */

static void put_mapping(random_program *p, const mapping_text *m) {
  p->length -= 1; /* the parenthesis after the copy */
  put(p, ", mapping=mapping(");
  for (uint32_t i = 0; i < m->count; i++)
    put(p, "%s%s", i > 0 ? ", " : "", m->field[i]);
  put(p, "))\n");
}

static bool begin_mapping(random_program *p, size_t which, mapping_text *m) {
  uint32_t chosen = decide(p, 2 * TEMPLATES);
  if (chosen >= TEMPLATES)
    return print_mapping(p, which, m);
  split_fields(m, templates[chosen], strlen(templates[chosen]));
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static random_program p;
  static mapping_text m;
  size_t chosen = size > 0 ? data[0] % (1 + SIMULATED) : 0;
  begin_random_program(&p, data + (size > 0), size - (size > 0), chosen > 0 ? simulated[chosen - 1].wave : 1);
  if (decide(&p, 4) == 3)
    put_gather(&p);
  else
    put_copy(&p, KERNEL_COPY);
  m.count = 0;
  if (p.is_too_long || !begin_mapping(&p, chosen, &m))
    return 0;
  for (uint32_t left = decide(&p, MOST_CHANGES + 1); left > 0; left--)
    change(&p, &m);
  put_mapping(&p, &m);
  if (!p.is_too_long)
    try_on(&p, chosen);
  return 0;
}

/* SPDX-License-Identifier: MIT */
/* Programs of one random kernel, from bytes: each byte is a decision, and where they end all others are the first
 * choice, so that what has few bytes is simple, and that a changed byte changes the program somewhere.
 *
 * The kernel copies between random layouts and views, straight, with indices looked up, or through distributions; or
 * it stores offsets of a view, each once or along walks. Views are made from the top down, so that they have the
 * lengths that are needed. Not all programs are right; all are well-formed, and hold for M and N as decided. */
#ifndef TJ_TESTS_RANDOM_PROGRAM_H
#define TJ_TESTS_RANDOM_PROGRAM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PROGRAM_TEXT = 8192, NUMBER_TEXT = 96, MOST_DIMENSIONS = 8, MOST_ELEMENTS = 4096, MOST_STAGES = 3 };

/* An integer of the program: its text, and its value for the M and N decided. */
typedef struct {
  char text[NUMBER_TEXT];
  int64_t value;
} number;

typedef struct {
  number of[MOST_DIMENSIONS];
  uint32_t rank;
} number_list;

typedef struct {
  const uint8_t *data;
  size_t size, at;
  int64_t m, n;
  bool is_dynamic; /* M and N are passed at launch */
  uint32_t wave;   /* work-items of a wave */
  char text[PROGRAM_TEXT];
  size_t length;
  bool is_too_long; /* for some text */
} random_program;

static inline uint32_t decide(random_program *p, uint32_t below) {
  return below > 1 && p->at < p->size ? p->data[p->at++] % below : 0;
}

static inline void put(random_program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void put(random_program *p, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  p->length += (size_t)vsnprintf(p->text + p->length, sizeof p->text - p->length, format, arguments);
  va_end(arguments);
  if (p->length >= sizeof p->text) {
    p->is_too_long = true;
    p->length = sizeof p->text - 1;
  }
}

/* --- numbers --- */

static inline number constant(int64_t value) {
  number made = {.value = value};
  snprintf(made.text, sizeof made.text, "%lld", (long long)value);
  return made;
}

static inline bool is_constant(const number *a) {
  return strchr(a->text, 'M') == NULL && strchr(a->text, 'N') == NULL;
}

/* a op b, where op is one of + - *. */
static inline number combined(random_program *p, const number *a, char op, const number *b) {
  number made = {.value = op == '+' ? a->value + b->value : op == '-' ? a->value - b->value : a->value * b->value};
  if (is_constant(a) && is_constant(b))
    return constant(made.value);
  int length = snprintf(made.text, sizeof made.text, "(%s)%c(%s)", a->text, op, b->text);
  p->is_too_long = p->is_too_long || length >= (int)sizeof made.text;
  return made;
}

static inline number plus(random_program *p, const number *a, int64_t b) {
  number other = constant(b);
  return b == 0 ? *a : combined(p, a, '+', &other);
}

static inline void put_list(random_program *p, const number_list *list) {
  for (uint32_t i = 0; i < list->rank; i++)
    put(p, "%s%s", i > 0 ? ", " : "", list->of[i].text);
}

static inline int64_t volume_of(const number_list *list) {
  int64_t product = 1;
  for (uint32_t i = 0; i < list->rank; i++)
    product *= list->of[i].value;
  return product;
}

/* --- domains --- */

static inline number decide_extent(random_program *p) {
  static const int64_t sizes[] = {4, 1, 2, 3, 8, 5, 16, 7, 32, 64, 24, 33};
  uint32_t choice = decide(p, 16);
  if (choice < 12)
    return constant(sizes[choice]);
  number parameter = {.value = choice % 2 == 0 ? p->m : p->n};
  snprintf(parameter.text, sizeof parameter.text, choice % 2 == 0 ? "M" : "N");
  return parameter;
}

static inline number_list decide_domain(random_program *p) {
  number_list domain = {.rank = 1 + decide(p, 4)};
  for (uint32_t i = 0; i < domain.rank; i++) {
    domain.of[i] = constant(1);
    number extent = decide_extent(p);
    if (volume_of(&(number_list){.rank = i}) * extent.value <= MOST_ELEMENTS)
      domain.of[i] = extent;
  }
  while (volume_of(&domain) > MOST_ELEMENTS)
    domain.of[--domain.rank] = constant(1);
  return domain;
}

/* --- strides --- */

/* From the dimension that is fastest to the slowest: neighbours, gaps, for sources also broadcasts. */
static inline number_list decide_strides(random_program *p, const number_list *lengths, bool is_source) {
  static const int64_t gaps[] = {0, 0, 0, 1, 3, 4, 16};
  number_list strides = {.rank = lengths->rank};
  number next = constant(decide(p, 8) == 7 ? 2 : 1);
  uint32_t first = decide(p, lengths->rank), direction = decide(p, 2) == 0 ? 1 : lengths->rank - 1;
  if (lengths->rank == 1)
    direction = 0;
  bool has_order = direction == 1 || lengths->rank > 1;
  for (uint32_t k = 0; k < lengths->rank; k++) {
    uint32_t i = has_order ? (first + k * direction) % lengths->rank : k;
    bool is_broadcast = is_source && decide(p, 8) == 7;
    strides.of[i] = is_broadcast ? constant(0) : next;
    number room = combined(p, &next, '*', &lengths->of[i]);
    if (!is_broadcast)
      next = plus(p, &room, gaps[decide(p, 7)]);
  }
  return strides;
}

/* --- layouts --- */

/* A tuple; nested: the second and the third are a tuple of their own. */
static inline void put_tuple(random_program *p, const number_list *list, bool is_nested) {
  for (uint32_t i = 0; i < list->rank; i++)
    put(p, "%s%s%s%s", i == 0 ? "(" : ",", is_nested && i == 1 ? "(" : "", list->of[i].text,
        is_nested && i == 2 ? ")" : "");
  put(p, ")");
}

static inline void put_layout(random_program *p, const number_list *lengths, bool is_source, bool is_nested) {
  if (decide(p, 4) == 3) {
    uint32_t bits = 1 + decide(p, 3), shift = bits + decide(p, 3);
    put(p, "Sw<%u,%u,%u> o %u o ", bits, decide(p, 4), shift, decide(p, 3));
  }
  number_list strides = decide_strides(p, lengths, is_source);
  put_tuple(p, lengths, is_nested);
  put(p, ":");
  put_tuple(p, &strides, is_nested);
}

/* --- views --- */

static inline void put_base(random_program *p, const number_list *lengths, bool is_source) {
  uint32_t kind = decide(p, 3), offset = decide(p, 4) == 3 ? decide(p, 9) : 0;
  number_list strides = decide_strides(p, lengths, is_source);
  put(p, "%s((", kind == 0 ? "packed" : kind == 1 ? "strided" : "aligned");
  put_list(p, lengths);
  put(p, ")");
  number begin = constant(offset);
  if (kind == 1) {
    uint32_t turned = decide(p, 2 * lengths->rank + 2);
    if (turned < lengths->rank && decide(p, 2) == 1) {
      number last = plus(p, &lengths->of[turned], -1), zero = constant(0);
      number way = combined(p, &last, '*', &strides.of[turned]);
      begin = combined(p, &begin, '+', &way);
      strides.of[turned] = combined(p, &zero, '-', &strides.of[turned]);
    }
    put(p, ", (");
    put_list(p, &strides);
    put(p, ")");
  }
  if (kind == 2)
    put(p, ", %u", 1 + decide(p, 8));
  put(p, begin.value != 0 || !is_constant(&begin) ? ", offset=%s)" : ")", begin.text);
}

enum { MOST_UPPER = 2, MOST_LOWER = 2, MOST_STEPS = MOST_DIMENSIONS + 1, STEP_TEXT = 256 };

typedef struct {
  char transform[STEP_TEXT];
  uint32_t upper[MOST_UPPER], lower[MOST_LOWER], upper_count, lower_count;
} stage_step;

/* A stage in the making, from the upper dimensions to the lower ones. */
typedef struct {
  random_program *program;
  const number_list *upper;
  uint32_t taken;
  bool is_source;
  number_list lower;
  stage_step step[MOST_STEPS];
  uint32_t step_count;
} view_stage;

/* One more step, of the next so many upper dimensions. */
static inline stage_step *add_step(view_stage *s, uint32_t upper_count, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline stage_step *add_step(view_stage *s, uint32_t upper_count, const char *format, ...) {
  stage_step *step = &s->step[s->step_count++];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(step->transform, sizeof step->transform, format, arguments);
  va_end(arguments);
  s->program->is_too_long = s->program->is_too_long || length >= (int)sizeof step->transform;
  for (uint32_t i = 0; i < upper_count; i++)
    step->upper[step->upper_count++] = s->taken++;
  return step;
}

static inline void add_lower(view_stage *s, stage_step *step, number length) {
  step->lower[step->lower_count++] = s->lower.rank;
  s->lower.of[s->lower.rank++] = length;
}

static inline void add_pad(view_stage *s, const number *length) {
  uint32_t left = decide(s->program, 3), right = decide(s->program, 3), kind = decide(s->program, 3);
  int64_t cut = kind == 0 ? left + right : kind == 1 ? left : right;
  if (length->value <= cut)
    left = right = 0, cut = 0;
  number lower = plus(s->program, length, -cut);
  stage_step *step = kind == 0   ? add_step(s, 1, "pad(%s, %u, %u)", lower.text, left, right)
                     : kind == 1 ? add_step(s, 1, "left_pad(%s, %u)", lower.text, left)
                                 : add_step(s, 1, "right_pad(%s, %u)", lower.text, right);
  add_lower(s, step, lower);
}

static inline void add_slice(view_stage *s, const number *length) {
  uint32_t before = decide(s->program, 4), after = decide(s->program, 4);
  number end = plus(s->program, length, before), lower = plus(s->program, &end, after);
  add_lower(s, add_step(s, 1, "slice(%s, %u, %s)", lower.text, before, end.text), lower);
}

static inline void add_merge(view_stage *s, const number *length) {
  int64_t factor = is_constant(length) ? 1 + decide(s->program, 8) : 1;
  while (length->value % factor != 0)
    factor--;
  number first = factor == 1 ? *length : constant(length->value / factor), second = constant(factor);
  stage_step *step = add_step(s, 1, "merge(%s, %s)", first.text, second.text);
  add_lower(s, step, first);
  add_lower(s, step, second);
}

static inline void add_modulo(view_stage *s, const number *length) {
  number lower =
      s->is_source ? constant(1 + decide(s->program, 12)) : plus(s->program, length, decide(s->program, 3));
  add_lower(s, add_step(s, 1, "modulo(%s, %s)", lower.text, length->text), lower);
}

/* A table of stretches that are even, and jumps. */
static inline void add_indexing(view_stage *s, const number *length) {
  char table[STEP_TEXT / 2];
  int64_t entry = 0, largest = 0;
  size_t used = 0;
  for (int64_t i = 0; i < length->value && used < sizeof table; i++) {
    entry = decide(s->program, 3) == 2 ? decide(s->program, 12) : entry + 1;
    largest = entry > largest ? entry : largest;
    used += (size_t)snprintf(table + used, sizeof table - used, "%s%lld", i > 0 ? "," : "", (long long)entry);
  }
  add_lower(s, add_step(s, 1, "indexing(%s, (%s))", length->text, table), constant(largest + 1));
}

/* Of two upper dimensions. */
static inline void add_pair(view_stage *s, const number *a, const number *b) {
  random_program *p = s->program;
  uint32_t kind = decide(p, 4);
  if (kind < 2) {
    stage_step *step = add_step(s, 2, "%s(%s, %s)", kind == 0 ? "xor" : "cyclic_shift", a->text, b->text);
    add_lower(s, step, *a);
    add_lower(s, step, *b);
  } else if (kind == 2) {
    add_lower(s, add_step(s, 2, "unmerge(%s, %s)", a->text, b->text), combined(p, a, '*', b));
  } else {
    number fast = constant(1 + decide(p, 2)), room = combined(p, b, '*', &fast);
    number slow = plus(p, &room, decide(p, 3)), last_a = plus(p, a, -1), last_b = plus(p, b, -1);
    number far_a = combined(p, &last_a, '*', &slow), far_b = combined(p, &last_b, '*', &fast);
    number last = combined(p, &far_a, '+', &far_b), lower = plus(p, &last, 1);
    add_lower(s, add_step(s, 2, "embed((%s,%s), (%s,%s))", a->text, b->text, slow.text, fast.text), lower);
  }
}

static inline void add_some_step(view_stage *s) {
  const number *length = &s->upper->of[s->taken];
  bool has_pair = s->taken + 1 < s->upper->rank;
  switch (decide(s->program, s->is_source ? 10 : 8)) {
  case 1:
    add_pad(s, length);
    return;
  case 2:
    add_slice(s, length);
    return;
  case 3:
  case 4:
    if (has_pair) {
      add_pair(s, length, length + 1);
      return;
    }
    break;
  case 5:
    add_merge(s, length);
    return;
  case 6:
    add_modulo(s, length);
    return;
  case 7:
    add_lower(s, add_step(s, 1, "offset(%s, %d)", length->text, (int)decide(s->program, 3) - 1), *length);
    return;
  case 8:
    if (is_constant(length) && length->value <= 12) {
      add_indexing(s, length);
      return;
    }
    break;
  case 9:
    add_step(s, 1, "insert(%s)", length->text);
    return;
  default:
    break;
  }
  add_lower(s, add_step(s, 1, "pass_through(%s)", length->text), *length);
}

/* A dimension at whose index `i` the view stays. */
static inline void add_freeze(view_stage *s) {
  uint32_t index = decide(s->program, 3);
  add_lower(s, add_step(s, 0, "freeze(%u)", index), constant(index + 1 + decide(s->program, 3)));
}

static inline void put_numbers(random_program *p, const uint32_t numbers[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    put(p, "%s%u", i > 0 ? "," : "", numbers[i]);
}

static inline void put_steps(random_program *p, const view_stage *s) {
  put(p, ", [");
  for (uint32_t i = 0; i < s->step_count; i++)
    put(p, "%s%s", i > 0 ? ", " : "", s->step[i].transform);
  put(p, "], [");
  for (uint32_t i = 0; i < s->step_count; i++) {
    put(p, "%s[", i > 0 ? ", " : "");
    put_numbers(p, s->step[i].lower, s->step[i].lower_count);
    put(p, "]");
  }
  put(p, "], [");
  for (uint32_t i = 0; i < s->step_count; i++) {
    put(p, "%s[", i > 0 ? ", " : "");
    put_numbers(p, s->step[i].upper, s->step[i].upper_count);
    put(p, "]");
  }
  put(p, "])");
}

/* The lower dimensions in another order: the one numbered i is numbered i + by. */
static inline void rotate_lower(view_stage *s, uint32_t by) {
  number_list before = s->lower;
  for (uint32_t i = 0; i < before.rank; i++)
    s->lower.of[(i + by) % before.rank] = before.of[i];
  for (uint32_t i = 0; i < s->step_count; i++)
    for (uint32_t k = 0; k < s->step[i].lower_count; k++)
      s->step[i].lower[k] = (s->step[i].lower[k] + by) % before.rank;
}

static inline void put_view(random_program *p, const number_list *lengths, bool is_source) {
  view_stage stage[MOST_STAGES];
  uint32_t count = decide(p, MOST_STAGES + 1), made = 0;
  const number_list *below = lengths;
  while (made < count && 2 * below->rank < MOST_DIMENSIONS) {
    view_stage *s = &stage[made++];
    *s = (view_stage){.program = p, .upper = below, .is_source = is_source};
    while (s->taken < below->rank)
      add_some_step(s);
    if (s->lower.rank == 0 || decide(p, 8) == 7)
      add_freeze(s);
    rotate_lower(s, decide(p, s->lower.rank));
    below = &s->lower;
    put(p, "transform(");
  }
  put_base(p, below, is_source);
  while (made-- > 0)
    put_steps(p, &stage[made]);
}

static inline void put_side(random_program *p, const number_list *lengths, bool is_source, bool is_nested) {
  if (!is_nested && decide(p, 2) == 1)
    put_view(p, lengths, is_source);
  else
    put_layout(p, lengths, is_source, is_nested);
}

/* --- distributions --- */

/* What each tile dimension is made of: waves, what a thread holds, lanes; and how the lanes are replicated. */
typedef struct {
  uint32_t waves[MOST_DIMENSIONS], held[MOST_DIMENSIONS], lanes[MOST_DIMENSIONS], replicas;
} tile_digits;

static inline tile_digits decide_tile(random_program *p, uint32_t rank) {
  tile_digits digits = {.replicas = decide(p, 4) == 3 ? 2 : 1};
  uint32_t lanes = p->wave / digits.replicas;
  for (uint32_t i = 0; i < rank; i++) {
    uint32_t part = i + 1 < rank ? 1u << decide(p, 5) : lanes;
    digits.lanes[i] = part > lanes ? lanes : part;
    lanes /= digits.lanes[i];
    digits.waves[i] = 1 + (decide(p, 4) == 3 ? 1 : 0);
    digits.held[i] = 1 + decide(p, 4);
  }
  return digits;
}

/* Places of the waves, of what is held, and of the lanes in each list of hs. */
static inline void put_distribution(random_program *p, const char *name, const tile_digits *digits, uint32_t rank) {
  static const uint32_t places[][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const uint32_t *place[MOST_DIMENSIONS];
  put(p, "let %s = distribution(rs=[%u], hs=[", name, digits->replicas);
  for (uint32_t i = 0; i < rank; i++) {
    place[i] = places[decide(p, 6)];
    uint32_t list[3];
    list[place[i][0]] = digits->waves[i];
    list[place[i][1]] = digits->held[i];
    list[place[i][2]] = digits->lanes[i];
    put(p, "%s[%u,%u,%u]", i > 0 ? "," : "", list[0], list[1], list[2]);
  }
  const char *const lists[] = {"], ps_major=[[", "],[0,",          "]], ps_minor=[[",
                               "],[0,",          "]], ys_major=[", "], ys_minor=["};
  const uint32_t digit[] = {0, 2, 0, 2, 1, 1};
  for (uint32_t l = 0; l < 6; l++) {
    bool is_minor = l == 2 || l == 3 || l == 5;
    put(p, "%s", lists[l]);
    for (uint32_t i = 0; i < rank; i++)
      put(p, "%s%u", i > 0 ? "," : "", is_minor ? place[i][digit[l]] : i + 1);
  }
  put(p, "])\n");
}

/* --- kernels --- */

typedef enum { KERNEL_COPY, KERNEL_THROUGH, KERNEL_SHUFFLE, KERNEL_GATHER, KERNEL_OFFSETS, KERNEL_WALK } kernel_kind;

static inline const char *decide_type(random_program *p, const char *const types[], uint32_t count) {
  return types[decide(p, count)];
}

static inline void put_types(random_program *p, const char *types[2]) {
  static const char *const raw[] = {"b32", "b8", "b16", "b64", "b128"};
  static const char *const numbers[] = {"f32",      "i8",         "u8",     "i16",       "u16",  "i32",
                                        "u32",      "i64",        "u64",    "f16",       "bf16", "f64",
                                        "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz"};
  types[0] = types[1] = raw[0];
  if (decide(p, 3) != 2) {
    types[0] = types[1] = decide_type(p, raw, 5);
    return;
  }
  types[0] = decide_type(p, numbers, 16);
  types[1] = decide_type(p, numbers, 16);
}

static inline void put_fill(random_program *p, const char *type) {
  if (type[0] != 'b' || type[1] == 'f')
    put(p, ", fill=%d", (int)decide(p, 9) - 2);
}

static inline void put_copy(random_program *p, kernel_kind kind) {
  number_list domain = decide_domain(p);
  bool is_nested = kind == KERNEL_COPY && domain.rank > 2 && decide(p, 4) == 3;
  const char *types[2];
  put_types(p, types);
  if (kind != KERNEL_COPY) {
    tile_digits digits = decide_tile(p, domain.rank);
    put_distribution(p, "D", &digits, domain.rank);
    put_distribution(p, "E", &digits, domain.rank);
  }
  put(p, "kernel k(s: %s @ ", types[0]);
  put_side(p, &domain, true, is_nested);
  put(p, ",\n d: %s @ ", types[1]);
  put_side(p, &domain, false, is_nested);
  static const char *const bodies[] = {"copy(s, d", "copy(s, d, through=D", "shuffle(s, d, from=D, to=E"};
  put(p, ") =\n %s", bodies[kind]);
  if (decide(p, 3) == 2)
    put_fill(p, types[1]);
  put(p, ")");
}

static inline void put_gather(random_program *p) {
  static const char *const index_types[] = {"i32", "u8", "i8", "i16", "u16", "u32", "i64", "u64"};
  number_list domain = decide_domain(p), source = domain, indices = {.rank = 1};
  uint32_t dimension = decide(p, domain.rank);
  source.of[dimension] = decide_extent(p);
  indices.of[0] = domain.of[dimension];
  const char *types[2];
  put_types(p, types);
  put(p, "kernel k(s: %s @ ", types[0]);
  put_side(p, &source, true, false);
  put(p, ",\n i: %s @ ", decide_type(p, index_types, 8));
  put_side(p, &indices, true, false);
  put(p, ",\n d: %s @ ", types[1]);
  put_side(p, &domain, false, false);
  put(p, ") =\n copy(s, d, gather=[i, %u]", dimension);
  if (decide(p, 3) == 2)
    put_fill(p, types[1]);
  put(p, ")");
}

static inline void put_offsets(random_program *p, bool is_walk) {
  number_list domain = decide_domain(p), starts = domain;
  number count = constant(is_walk ? 1 + decide(p, 6) : 1);
  for (uint32_t i = 0; is_walk && i < domain.rank; i++)
    starts.of[i] = constant(1 + decide(p, 4));
  put(p, "kernel k(d: %s @ packed((", decide(p, 2) == 0 ? "i64" : "i32");
  put_list(p, &starts);
  put(p, ", %s))) =\n offsets(d, ", count.text);
  if (is_walk)
    put_view(p, &domain, true);
  else
    put_side(p, &domain, true, false);
  for (uint32_t i = 0; is_walk && i < domain.rank; i++)
    put(p, "%s%d", i == 0 ? ", step=(" : ",", (int)decide(p, 7) - 3 + (i == 0));
  if (is_walk) {
    put(p, "), count=%s, starts=(", count.text);
    put_list(p, &starts);
    put(p, ")");
  }
  put(p, ")");
}

/* Parameters, before the kernel; for code that runs in waves of so many work-items. */
static inline void begin_random_program(random_program *p, const uint8_t *data, size_t size, uint32_t wave) {
  static const int64_t sizes[] = {16, 8, 13, 1, 33, 48, 7, 64, 32};
  *p = (random_program){.data = data, .size = size, .wave = wave};
  p->m = sizes[decide(p, 9)];
  p->n = sizes[decide(p, 9)];
  p->is_dynamic = decide(p, 2) == 1;
  put(p, "param M in 1..64, N in 1..64\n");
}

/* Writes p->text. */
static inline void write_random_program(random_program *p, const uint8_t *data, size_t size, uint32_t wave) {
  begin_random_program(p, data, size, wave);
  kernel_kind kind = (kernel_kind)decide(p, KERNEL_WALK + 1);
  if (kind <= KERNEL_SHUFFLE)
    put_copy(p, kind);
  else if (kind == KERNEL_GATHER)
    put_gather(p);
  else
    put_offsets(p, kind == KERNEL_WALK);
  put(p, "\n");
}

#endif

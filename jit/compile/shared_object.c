/* SPDX-License-Identifier: MIT */
/* Writing shared objects. What is loaded is one run of the file: a section's address is its offset, but for the pages
 * that keep segments of different rights apart. */
#include "jit/compile/shared_object.h"

enum { HEADER_SIZE = 64, SEGMENT_SIZE = 56, SECTION_SIZE = 64, SYMBOL_SIZE = 24, PAGE = 4096 };

/* Sections in their order: their names, types, flags, alignment (0: the part's), and sizes of entries. */
#define SECTIONS(X)                                                                                                  \
  X(NONE, "", 0, 0, 0, 0)                                                                                            \
  X(NOTE, ".note", 7, ALLOCATED, 0, 0)                                                                               \
  X(SYMBOLS, ".dynsym", 11, ALLOCATED, 8, SYMBOL_SIZE)                                                               \
  X(GNU_HASH, ".gnu.hash", 0x6ffffff6, ALLOCATED, 8, 0)                                                              \
  X(HASH, ".hash", 5, ALLOCATED, 4, 4)                                                                               \
  X(NAMES, ".dynstr", 3, ALLOCATED, 1, 0)                                                                            \
  X(CONSTANTS, ".rodata", 1, ALLOCATED, 0, 0)                                                                        \
  X(CODE, ".text", 1, ALLOCATED | EXECUTABLE, 0, 0)                                                                  \
  X(DYNAMIC, ".dynamic", 6, ALLOCATED | WRITABLE, 8, 16)                                                             \
  X(PADDING, ".relro_padding", 8, ALLOCATED | WRITABLE, 1, 0)                                                        \
  X(ALL_SYMBOLS, ".symtab", 2, 0, 8, SYMBOL_SIZE)                                                                    \
  X(SECTION_NAMES, ".shstrtab", 3, 0, 1, 0)                                                                          \
  X(ALL_NAMES, ".strtab", 3, 0, 1, 0)

enum {
  WRITABLE = TJ_ELF_SECTION_WRITABLE,
  ALLOCATED = TJ_ELF_SECTION_ALLOCATED,
  EXECUTABLE = TJ_ELF_SECTION_EXECUTABLE
};

typedef enum {
#define X(id, name, type, flags, alignment, entry) id,
  SECTIONS(X)
#undef X
      SECTION_COUNT
} section_id;

static const struct {
  const char *name;
  uint32_t type, flags;
  uint64_t alignment, entry;
} descriptions[] = {
#define X(id, name, type, flags, alignment, entry) {name, type, flags, alignment, entry},
    SECTIONS(X)
#undef X
};

enum { SEGMENT_COUNT = 8, DYNAMIC_COUNT = 7 };
static const char dynamic_name[] = "_DYNAMIC";

typedef struct {
  uint64_t address, offset, size, alignment;
} placed;

/* A symbol that others see. */
typedef struct {
  const tj_elf_symbol *from;
  section_id section;
  uint32_t name, hash; /* where the name begins among the names, and its GNU hash */
} exported;

typedef struct {
  tj_job *job;
  tj_shared_object *shared;
  exported *symbol; /* in the order of their buckets */
  placed section[SECTION_COUNT];
  uint32_t buckets, words; /* of the GNU hash table, and of its filter */
  size_t headers;          /* where the section headers are */
} writer;

static const section_id places[] = {
    [TJ_SHARED_NOTE] = NOTE, [TJ_SHARED_CONSTANTS] = CONSTANTS, [TJ_SHARED_CODE] = CODE};

void tj_write_little(unsigned char *at, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; i++)
    at[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t round_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

/* --- hashing --- */

static uint32_t gnu_hash(const char *name) {
  uint32_t hash = 5381;
  for (; *name != '\0'; name++)
    hash = hash * 33 + (unsigned char)*name;
  return hash;
}

static uint32_t system_v_hash(const char *name) {
  uint32_t hash = 0;
  for (; *name != '\0'; name++) {
    hash = (hash << 4) + (unsigned char)*name;
    hash = (hash ^ ((hash & 0xf0000000) >> 24)) & 0x0fffffff;
  }
  return hash;
}

/* The filter has 12 bits a symbol, in 64-bit words, of which the count is a power of two. */
static void size_gnu_hash(writer *w) {
  uint32_t count = w->shared->symbol_count;
  w->buckets = count >= 4 ? count / 4 : 1;
  w->words = 1;
  while (count > 0 && w->words <= count * 12 / 64)
    w->words *= 2;
}

/* --- symbols --- */

static section_id section_of(const tj_shared_object *shared, const tj_elf_symbol *symbol) {
  tj_shared_part part = 0;
  while (shared->part[part].section != symbol->section)
    part++;
  return places[part];
}

static exported *list_symbols(const writer *w) {
  const tj_shared_object *shared = w->shared;
  exported *list = TJ_NEW_ARRAY(w->job, exported, shared->symbol_count);
  uint32_t name = 1;
  for (uint32_t i = 0; i < shared->symbol_count; i++) {
    const tj_elf_symbol *symbol = shared->symbol[i];
    list[i] = (exported){symbol, section_of(shared, symbol), name, gnu_hash(symbol->name)};
    name += (uint32_t)strlen(symbol->name) + 1;
  }
  return list;
}

/* The GNU hash table wants the symbols of a bucket side by side. */
static void sort_symbols(writer *w) {
  uint32_t count = w->shared->symbol_count, sorted = 0;
  exported *list = list_symbols(w);
  w->symbol = TJ_NEW_ARRAY(w->job, exported, count);
  for (uint32_t bucket = 0; bucket < w->buckets; bucket++) {
    for (uint32_t i = 0; i < count; i++) {
      if (list[i].hash % w->buckets == bucket)
        w->symbol[sorted++] = list[i];
    }
  }
}

/* --- layout --- */

static uint64_t names_size(const tj_shared_object *shared) {
  uint64_t size = 1;
  for (uint32_t i = 0; i < shared->symbol_count; i++)
    size += strlen(shared->symbol[i]->name) + 1;
  return size;
}

static uint64_t section_names_size(void) {
  uint64_t size = 0;
  for (section_id id = 0; id < SECTION_COUNT; id++)
    size += strlen(descriptions[id].name) + 1;
  return size;
}

static void take_part(writer *w, section_id id, tj_shared_part part) {
  const tj_shared_section *from = &w->shared->part[part];
  uint64_t alignment = from->alignment > 0 ? from->alignment : 1;
  if (alignment > PAGE || (alignment & (alignment - 1)) != 0)
    tj_fail(w->job, TJ_LINK, "a section is aligned to %llu bytes", (unsigned long long)alignment);
  w->section[id].alignment = alignment;
  w->section[id].size = from->bytes.size;
}

static void size_sections(writer *w) {
  uint64_t count = w->shared->symbol_count;
  for (section_id id = 0; id < SECTION_COUNT; id++)
    w->section[id].alignment = descriptions[id].alignment;
  take_part(w, NOTE, TJ_SHARED_NOTE);
  take_part(w, CONSTANTS, TJ_SHARED_CONSTANTS);
  take_part(w, CODE, TJ_SHARED_CODE);
  w->section[SYMBOLS].size = (count + 1) * SYMBOL_SIZE;
  w->section[GNU_HASH].size = 16 + 8 * (uint64_t)w->words + 4 * (w->buckets + count);
  w->section[HASH].size = 8 + 8 * (count + 1);
  w->section[NAMES].size = names_size(w->shared);
  w->section[DYNAMIC].size = DYNAMIC_COUNT * 16;
  w->section[ALL_SYMBOLS].size = (count + 2) * SYMBOL_SIZE;
  w->section[SECTION_NAMES].size = section_names_size();
  w->section[ALL_NAMES].size = names_size(w->shared) + sizeof dynamic_name;
}

/* Code and the dynamic section begin segments: in memory on a page of their own, in the file right away. */
static void place_sections(writer *w) {
  uint64_t address = HEADER_SIZE + SEGMENT_COUNT * SEGMENT_SIZE, offset = address;
  for (section_id id = NOTE; id < SECTION_COUNT; id++) {
    placed *section = &w->section[id];
    if (id == CODE || id == DYNAMIC)
      address = round_up(address, PAGE) + address % PAGE;
    if (id == PADDING)
      section->size = round_up(address, PAGE) - address;
    address = round_up(address, section->alignment);
    offset = round_up(offset, section->alignment);
    section->address = (descriptions[id].flags & ALLOCATED) != 0 ? address : 0;
    section->offset = offset;
    address += section->size;
    offset += id == PADDING ? 0 : section->size;
  }
  w->headers = round_up(offset, 8);
  w->shared->size = w->headers + SECTION_COUNT * SECTION_SIZE;
}

/* --- contents --- */

static unsigned char *contents(const writer *w, section_id id) {
  return w->shared->data + w->section[id].offset;
}

static unsigned char *put(unsigned char *at, uint64_t value, size_t size) {
  tj_write_little(at, value, size);
  return at + size;
}

static void write_header(const writer *w) {
  const tj_elf *object = w->shared->object;
  unsigned char *at = w->shared->data;
  memcpy(at, object->bytes.data, 16);
  at = put(put(put(at + 16, TJ_ELF_SHARED, 2), object->machine, 2), 1, 4);
  at = put(put(put(at, 0, 8), HEADER_SIZE, 8), w->headers, 8);
  at = put(put(put(put(at, object->flags, 4), HEADER_SIZE, 2), SEGMENT_SIZE, 2), SEGMENT_COUNT, 2);
  put(put(put(at, SECTION_SIZE, 2), SECTION_COUNT, 2), SECTION_NAMES, 2);
}

/* A segment from one section to another, both included. */
static unsigned char *put_segment(const writer *w, unsigned char *at, uint32_t type, uint32_t rights,
                                  section_id first, section_id last, uint64_t alignment) {
  const placed *begin = &w->section[first], *end = &w->section[last];
  uint64_t in_file = end->offset + (last == PADDING ? 0 : end->size) - begin->offset;
  at = put(put(put(at, type, 4), rights, 4), begin->offset, 8);
  at = put(put(at, begin->address, 8), begin->address, 8);
  return put(put(put(at, in_file, 8), end->address + end->size - begin->address, 8), alignment, 8);
}

static void write_segments(const writer *w) {
  enum { DYNAMIC_SEGMENT = 2, HEADERS_SEGMENT = 6, STACK = 0x6474e551, READ_ONLY = 0x6474e552 };
  enum { R = TJ_ELF_SEGMENT_READABLE, W = TJ_ELF_SEGMENT_WRITABLE, E = TJ_ELF_SEGMENT_EXECUTABLE };
  writer whole = *w;
  whole.section[NONE] = (placed){.address = HEADER_SIZE, .offset = HEADER_SIZE, .size = SEGMENT_COUNT * SEGMENT_SIZE};
  unsigned char *at = w->shared->data + HEADER_SIZE;
  at = put_segment(&whole, at, HEADERS_SEGMENT, R, NONE, NONE, 8);
  at = put_segment(w, at, TJ_ELF_SEGMENT_LOAD, R, NONE, CONSTANTS, PAGE);
  at = put_segment(w, at, TJ_ELF_SEGMENT_LOAD, R | E, CODE, CODE, PAGE);
  at = put_segment(w, at, TJ_ELF_SEGMENT_LOAD, R | W, DYNAMIC, PADDING, PAGE);
  at = put_segment(w, at, DYNAMIC_SEGMENT, R | W, DYNAMIC, DYNAMIC, 8);
  at = put_segment(w, at, READ_ONLY, R, DYNAMIC, PADDING, 1);
  at = put_segment(w, at, STACK, R | W, NONE, NONE, 0);
  put_segment(w, at, TJ_ELF_SEGMENT_NOTE, R, NOTE, NOTE, w->section[NOTE].alignment);
}

static void write_parts(writer *w) {
  for (tj_shared_part part = 0; part < TJ_SHARED_PARTS; part++) {
    tj_shared_section *from = &w->shared->part[part];
    from->address = w->section[places[part]].address;
    from->placed = contents(w, places[part]);
    memcpy(from->placed, from->bytes.data, from->bytes.size);
  }
}

static unsigned char *put_symbol(const writer *w, unsigned char *at, const exported *symbol) {
  const tj_elf_symbol *from = symbol->from;
  at = put(put(put(at, symbol->name, 4), (uint64_t)from->binding << 4 | from->type, 1), from->visibility, 1);
  at = put(put(at, symbol->section, 2), w->section[symbol->section].address + from->value, 8);
  return put(at, from->size, 8);
}

static void write_symbols(const writer *w) {
  tj_elf_symbol dynamic = {.visibility = TJ_ELF_VISIBILITY_HIDDEN};
  exported itself = {&dynamic, DYNAMIC, (uint32_t)w->section[NAMES].size, 0};
  unsigned char *seen = contents(w, SYMBOLS) + SYMBOL_SIZE;
  unsigned char *all = put_symbol(w, contents(w, ALL_SYMBOLS) + SYMBOL_SIZE, &itself);
  for (uint32_t i = 0; i < w->shared->symbol_count; i++) {
    seen = put_symbol(w, seen, &w->symbol[i]);
    all = put_symbol(w, all, &w->symbol[i]);
  }
}

static void write_names(const writer *w) {
  unsigned char *names = contents(w, NAMES), *all = contents(w, ALL_NAMES), *at = contents(w, SECTION_NAMES);
  for (uint32_t i = 0; i < w->shared->symbol_count; i++)
    memcpy(names + w->symbol[i].name, w->symbol[i].from->name, strlen(w->symbol[i].from->name));
  memcpy(all, names, w->section[NAMES].size);
  memcpy(all + w->section[NAMES].size, dynamic_name, sizeof dynamic_name);
  for (section_id id = 0; id < SECTION_COUNT; id++) {
    size_t size = strlen(descriptions[id].name) + 1;
    memcpy(at, descriptions[id].name, size);
    at += size;
  }
}

/* Buckets and chains, of which the first symbol, which is none, has one. */
static void write_hash(const writer *w) {
  uint32_t count = w->shared->symbol_count + 1;
  unsigned char *bucket = put(put(contents(w, HASH), count, 4), count, 4), *chain = bucket + 4 * (size_t)count;
  for (uint32_t i = 1; i < count; i++) {
    unsigned char *of_name = bucket + 4 * (size_t)(system_v_hash(w->symbol[i - 1].from->name) % count);
    memcpy(chain + 4 * (size_t)i, of_name, 4);
    put(of_name, i, 4);
  }
}

static void add_bit(unsigned char *word, uint32_t bit) {
  word[bit / 8] = (unsigned char)(word[bit / 8] | 1u << bit % 8);
}

/* A filter, buckets, and hashes, the lowest bit of which ends a bucket. */
static void write_gnu_hash(const writer *w) {
  enum { SHIFT = 26, WORD = 64, FIRST = 1 };
  uint32_t count = w->shared->symbol_count;
  unsigned char *at = put(put(contents(w, GNU_HASH), w->buckets, 4), FIRST, 4);
  unsigned char *filter = put(put(at, w->words, 4), SHIFT, 4), *bucket = filter + 8 * (size_t)w->words;
  unsigned char *hashes = bucket + 4 * (size_t)w->buckets;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t hash = w->symbol[i].hash, of = hash % w->buckets;
    unsigned char *word = filter + 8 * (size_t)(hash / WORD & (w->words - 1));
    add_bit(word, hash % WORD);
    add_bit(word, (hash >> SHIFT) % WORD);
    bool begins = i == 0 || w->symbol[i - 1].hash % w->buckets != of;
    bool ends = i + 1 == count || w->symbol[i + 1].hash % w->buckets != of;
    if (begins)
      put(bucket + 4 * (size_t)of, i + FIRST, 4);
    put(hashes + 4 * (size_t)i, (hash & ~1u) | ends, 4);
  }
}

static void write_dynamic(const writer *w) {
  enum { OF_HASH = 4, OF_NAMES = 5, OF_SYMBOLS = 6, NAMES_SIZE = 10, ENTRY_SIZE = 11, OF_GNU_HASH = 0x6ffffef5 };
  const uint64_t entries[DYNAMIC_COUNT][2] = {
      {OF_SYMBOLS, w->section[SYMBOLS].address},   {ENTRY_SIZE, SYMBOL_SIZE},
      {OF_NAMES, w->section[NAMES].address},       {NAMES_SIZE, w->section[NAMES].size},
      {OF_GNU_HASH, w->section[GNU_HASH].address}, {OF_HASH, w->section[HASH].address},
  };
  unsigned char *at = contents(w, DYNAMIC);
  for (size_t i = 0; i < DYNAMIC_COUNT; i++)
    at = put(put(at, entries[i][0], 8), entries[i][1], 8);
}

/* The section that a table of symbols, or of their hashes, or the dynamic section refers to. */
static section_id link_of(section_id id) {
  return id == SYMBOLS || id == DYNAMIC ? NAMES
         : id == GNU_HASH || id == HASH ? SYMBOLS
         : id == ALL_SYMBOLS            ? ALL_NAMES
                                        : NONE;
}

static void write_section_headers(const writer *w) {
  unsigned char *at = w->shared->data + w->headers;
  uint32_t name = 0;
  for (section_id id = 0; id < SECTION_COUNT; id++) {
    const placed *section = &w->section[id];
    uint32_t locals = id == SYMBOLS ? 1 : id == ALL_SYMBOLS ? 2 : 0;
    at = put(put(put(at, name, 4), descriptions[id].type, 4), descriptions[id].flags, 8);
    at = put(put(put(at, section->address, 8), section->offset, 8), section->size, 8);
    at = put(put(put(at, link_of(id), 4), locals, 4), section->alignment, 8);
    at = put(at, descriptions[id].entry, 8);
    name += (uint32_t)strlen(descriptions[id].name) + 1;
  }
}

void tj_shared_object_write(tj_job *job, tj_shared_object *shared) {
  writer w = {.job = job, .shared = shared};
  size_gnu_hash(&w);
  sort_symbols(&w);
  size_sections(&w);
  place_sections(&w);
  shared->data = TJ_NEW_ARRAY(job, unsigned char, shared->size);
  write_header(&w);
  write_segments(&w);
  write_parts(&w);
  write_symbols(&w);
  write_names(&w);
  write_hash(&w);
  write_gnu_hash(&w);
  write_dynamic(&w);
  write_section_headers(&w);
}

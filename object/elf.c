/* SPDX-License-Identifier: MIT */
/* Reading ELF headers and tables with every offset checked before it is used. */
#include "object/elf.h"

enum { HEADER_SIZE = 64, SECTION_SIZE = 64, SEGMENT_SIZE = 56, SYMBOL_SIZE = 24 };
enum { SECTION_SYMBOLS = 2, SECTION_STRINGS = 3, SECTION_DYNAMIC_SYMBOLS = 11 };
enum { CLASS_64 = 2, LITTLE_ENDIAN_DATA = 1, SECTION_NULL = 0 };

typedef struct {
  tj_job *job;
  tj_problem_code code; /* what failures are called */
  tj_bytes bytes;
} reader;

static tj_bytes slice(const reader *in, uint64_t offset, uint64_t length, const char *what) {
  if (!tj_bytes_contain(in->bytes, offset, length))
    tj_fail(in->job, in->code, "the %s reaches past the end of the file", what);
  return tj_bytes_slice(in->bytes, offset, length);
}

/* A table of `count` entries: its bytes, and a unit of fuel for each entry. */
static tj_bytes table(const reader *in, uint64_t offset, uint32_t count, uint32_t entry_size, const char *what) {
  tj_spend(in->job, count);
  return slice(in, offset, (uint64_t)count * entry_size, what);
}

static void check_identification(const reader *in) {
  if (in->bytes.size < HEADER_SIZE || memcmp(in->bytes.data, "\177ELF", 4) != 0)
    tj_fail(in->job, in->code, "it is not an ELF file");
  if (tj_bytes_u8(in->bytes, 4) != CLASS_64 || tj_bytes_u8(in->bytes, 5) != LITTLE_ENDIAN_DATA)
    tj_fail(in->job, in->code, "it is not a 64-bit little-endian ELF file");
}

static void check_entry_size(const reader *in, uint32_t count, uint32_t size, uint32_t expected, const char *what) {
  if (count != 0 && size != expected)
    tj_fail(in->job, in->code, "the %s has entries of %u bytes instead of %u", what, size, expected);
}

static tj_elf_section read_section(const reader *in, tj_bytes entry) {
  tj_elf_section section = {.type = tj_bytes_u32(entry, 4),
                            .flags = tj_bytes_u64(entry, 8),
                            .address = tj_bytes_u64(entry, 16),
                            .link = tj_bytes_u32(entry, 40),
                            .info = tj_bytes_u32(entry, 44),
                            .alignment = tj_bytes_u64(entry, 48),
                            .entry_size = tj_bytes_u64(entry, 56),
                            .size = tj_bytes_u64(entry, 32)};
  if (section.type != SECTION_NULL && section.type != TJ_ELF_SECTION_NO_BITS)
    section.bytes = slice(in, tj_bytes_u64(entry, 24), tj_bytes_u64(entry, 32), "contents of a section");
  return section;
}

static void read_sections(const reader *in, tj_elf *elf) {
  uint32_t count = tj_bytes_u16(in->bytes, 60);
  check_entry_size(in, count, tj_bytes_u16(in->bytes, 58), SECTION_SIZE, "section table");
  tj_bytes entries = table(in, tj_bytes_u64(in->bytes, 40), count, SECTION_SIZE, "section table");
  tj_elf_section *section = TJ_NEW_ARRAY(in->job, tj_elf_section, count);
  for (uint32_t i = 0; i < count; i++)
    section[i] = read_section(in, tj_bytes_slice(entries, (uint64_t)i * SECTION_SIZE, SECTION_SIZE));
  elf->section = section;
  elf->section_count = count;
}

static tj_elf_segment read_segment(const reader *in, tj_bytes entry) {
  tj_elf_segment segment = {.type = tj_bytes_u32(entry, 0),
                            .flags = tj_bytes_u32(entry, 4),
                            .address = tj_bytes_u64(entry, 16),
                            .memory_size = tj_bytes_u64(entry, 40),
                            .alignment = tj_bytes_u64(entry, 48)};
  segment.bytes = slice(in, tj_bytes_u64(entry, 8), tj_bytes_u64(entry, 32), "contents of a segment");
  return segment;
}

static void read_segments(const reader *in, tj_elf *elf) {
  uint32_t count = tj_bytes_u16(in->bytes, 56);
  check_entry_size(in, count, tj_bytes_u16(in->bytes, 54), SEGMENT_SIZE, "program header table");
  tj_bytes entries = table(in, tj_bytes_u64(in->bytes, 32), count, SEGMENT_SIZE, "program header table");
  tj_elf_segment *segment = TJ_NEW_ARRAY(in->job, tj_elf_segment, count);
  for (uint32_t i = 0; i < count; i++)
    segment[i] = read_segment(in, tj_bytes_slice(entries, (uint64_t)i * SEGMENT_SIZE, SEGMENT_SIZE));
  elf->segment = segment;
  elf->segment_count = count;
}

/* A string table that ends in a zero byte, so that every offset inside begins a terminated string. */
static tj_bytes read_string_table(const reader *in, const tj_elf *elf, uint32_t index) {
  if (index >= elf->section_count || elf->section[index].type != SECTION_STRINGS)
    tj_fail(in->job, in->code, "a symbol table has no string table");
  tj_bytes strings = elf->section[index].bytes;
  if (strings.size == 0 || tj_bytes_u8(strings, strings.size - 1) != 0)
    tj_fail(in->job, in->code, "a string table does not end in a zero byte");
  return strings;
}

static tj_elf_symbol read_symbol(const reader *in, tj_bytes entry, tj_bytes strings) {
  uint32_t name = tj_bytes_u32(entry, 0);
  if (name >= strings.size)
    tj_fail(in->job, in->code, "a symbol's name lies outside the string table");
  uint8_t info = tj_bytes_u8(entry, 4);
  return (tj_elf_symbol){.name = (const char *)strings.data + name,
                         .type = info & 15,
                         .binding = (uint8_t)(info >> 4),
                         .visibility = tj_bytes_u8(entry, 5) & 3,
                         .section = tj_bytes_u16(entry, 6),
                         .value = tj_bytes_u64(entry, 8),
                         .size = tj_bytes_u64(entry, 16)};
}

static tj_elf_symbols read_symbols(const reader *in, const tj_elf *elf, uint32_t section) {
  tj_bytes entries = elf->section[section].bytes;
  if (entries.size % SYMBOL_SIZE != 0 || entries.size / SYMBOL_SIZE > UINT32_MAX)
    tj_fail(in->job, in->code, "a symbol table has part of an entry");
  tj_elf_symbols symbols = {.count = (uint32_t)(entries.size / SYMBOL_SIZE)};
  tj_spend(in->job, symbols.count);
  tj_bytes strings = read_string_table(in, elf, elf->section[section].link);
  tj_elf_symbol *symbol = TJ_NEW_ARRAY(in->job, tj_elf_symbol, symbols.count);
  for (uint32_t i = 0; i < symbols.count; i++)
    symbol[i] = read_symbol(in, tj_bytes_slice(entries, (uint64_t)i * SYMBOL_SIZE, SYMBOL_SIZE), strings);
  symbols.symbol = symbol;
  return symbols;
}

static uint32_t find_section(const tj_elf *elf, uint32_t type) {
  for (uint32_t i = 0; i < elf->section_count; i++)
    if (elf->section[i].type == type)
      return i;
  return 0;
}

static void read_symbol_table(const reader *in, tj_elf *elf) {
  elf->symbol_table = find_section(elf, SECTION_SYMBOLS);
  if (elf->symbol_table == 0)
    elf->symbol_table = find_section(elf, SECTION_DYNAMIC_SYMBOLS);
  if (elf->symbol_table == 0)
    return;
  tj_elf_symbols symbols = read_symbols(in, elf, elf->symbol_table);
  elf->symbol = symbols.symbol;
  elf->symbol_count = symbols.count;
}

const tj_elf *tj_elf_read(tj_job *job, tj_bytes bytes, tj_problem_code code) {
  reader in = {job, code, bytes};
  check_identification(&in);
  tj_elf *elf = TJ_NEW(job, tj_elf);
  *elf = (tj_elf){.bytes = bytes,
                  .os_abi = tj_bytes_u8(bytes, 7),
                  .abi_version = tj_bytes_u8(bytes, 8),
                  .type = tj_bytes_u16(bytes, 16),
                  .machine = tj_bytes_u16(bytes, 18),
                  .flags = tj_bytes_u32(bytes, 48)};
  read_sections(&in, elf);
  read_segments(&in, elf);
  read_symbol_table(&in, elf);
  return elf;
}

tj_elf_symbols tj_elf_symbols_of(tj_job *job, const tj_elf *elf, uint32_t section, tj_problem_code code) {
  reader in = {job, code, elf->bytes};
  if (section >= elf->section_count ||
      (elf->section[section].type != SECTION_SYMBOLS && elf->section[section].type != SECTION_DYNAMIC_SYMBOLS))
    tj_fail(job, code, "a relocation table has no symbol table");
  return read_symbols(&in, elf, section);
}

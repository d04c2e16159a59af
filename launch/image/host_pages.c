/* SPDX-License-Identifier: MIT */
/* Laying out, relocating and protecting objects that stand by themselves. The ELF reader has checked that sections
 * and symbols lie inside the file; what they say is checked here. */
#include "launch/image/host_pages.h"

#include "object/elf.h"

#include <sys/mman.h>
#include <unistd.h>

enum { RELOCATION_SIZE = 24, DISTANCE_SIZE = 4, MOST_DISTANCES = 2 };

/* Distances are 32 bits, so that no two places may be farther apart. */
static const uint64_t largest = 1u << 30;

struct tj_host_layout {
  const tj_elf *elf;
  uint64_t *offset;   /* of each section from the first page; meaningless for those that are not allocated */
  uint64_t stubs;     /* where the stubs begin, which follow the code */
  uint64_t code_size; /* of the pages with code, which come first */
  uint64_t size;      /* of all pages */
};

/* The relocations of this machine that are 32 bits wide and mean: from the place to the symbol, plus the addend. */
static const struct {
  uint16_t machine;
  uint32_t type[MOST_DISTANCES];
} distances[] = {
#ifdef __x86_64__
    {TJ_ELF_MACHINE_X86_64, {2 /* PC32 */, 4 /* PLT32: to a function */}},
#endif
    {0, {0}},
};

enum { ROWS = sizeof distances / sizeof distances[0] };

static bool is_distance(uint16_t machine, uint32_t type) {
  for (size_t i = 0; i < ROWS; i++) {
    if (distances[i].machine == machine)
      return type == distances[i].type[0] || type == distances[i].type[1];
  }
  return false;
}

static bool is_of_this_machine(const tj_elf *elf) {
  return elf->type == TJ_ELF_RELOCATABLE && is_distance(elf->machine, distances[0].type[0]);
}

/* --- functions of this process --- */

/* What compilers call without being asked to. */
static const struct {
  const char *name;
  uintptr_t address;
} functions[] = {
    {"memcpy", (uintptr_t)memcpy},
    {"memmove", (uintptr_t)memmove},
    {"memset", (uintptr_t)memset},
};

/* They may lie farther away than a distance holds, so each has a stub: code that jumps to the address behind it. */
enum { FUNCTIONS = sizeof functions / sizeof functions[0], STUB_SIZE = 16, STUB_JUMP = 6 };

static const unsigned char jump[STUB_JUMP] = {0xff, 0x25, 0, 0, 0, 0}; /* x86-64: jmp *0(%rip) */

static bool find_stub(const tj_host_layout *layout, const char *name, uint64_t *offset) {
  uint64_t i = 0;
  while (i < FUNCTIONS && strcmp(functions[i].name, name) != 0)
    i++;
  *offset = layout->stubs + i * STUB_SIZE;
  return i < FUNCTIONS;
}

static void write_stubs(const tj_host_layout *layout, unsigned char *base) {
  for (size_t i = 0; i < FUNCTIONS; i++) {
    unsigned char *stub = base + layout->stubs + i * STUB_SIZE;
    memcpy(stub, jump, STUB_JUMP);
    memcpy(stub + STUB_JUMP, &functions[i].address, sizeof functions[i].address);
  }
}

/* --- where sections go --- */

static bool has(const tj_elf_section *section, uint64_t flag) {
  return (section->flags & flag) != 0;
}

static bool can_be_placed(const tj_elf_section *section, uint64_t page) {
  bool is_aligned = section->alignment <= page && (section->alignment & (section->alignment - 1)) == 0;
  return is_aligned && !has(section, TJ_ELF_SECTION_WRITABLE) && section->type != TJ_ELF_SECTION_NO_BITS;
}

static uint64_t round_up(uint64_t value, uint64_t to) {
  return to > 1 ? (value + to - 1) / to * to : value;
}

/* Places the allocated sections, with code or without, from the end on. */
static bool place(tj_host_layout *layout, bool is_code, uint64_t page) {
  for (uint32_t i = 0; i < layout->elf->section_count; i++) {
    const tj_elf_section *section = &layout->elf->section[i];
    if (!has(section, TJ_ELF_SECTION_ALLOCATED) || has(section, TJ_ELF_SECTION_EXECUTABLE) != is_code)
      continue;
    if (!can_be_placed(section, page))
      return false;
    layout->offset[i] = round_up(layout->size, section->alignment);
    layout->size = layout->offset[i] + section->bytes.size;
    if (layout->size > largest)
      return false;
  }
  return true;
}

/* Code and stubs, to the end of their last page. */
static bool place_code(tj_host_layout *layout, uint64_t page) {
  if (!place(layout, true, page) || layout->size == 0)
    return false;
  layout->stubs = round_up(layout->size, STUB_SIZE);
  layout->size = layout->code_size = round_up(layout->stubs + FUNCTIONS * STUB_SIZE, page);
  return true;
}

static bool place_constants(tj_host_layout *layout, uint64_t page) {
  bool is_placed = place(layout, false, page);
  layout->size = round_up(layout->size, page);
  return is_placed;
}

/* Fuel is spent here on what the relocations will take. */
static void spend(tj_job *job, const tj_elf *elf) {
  for (uint32_t i = 0; i < elf->section_count; i++)
    tj_spend(job, 1 + elf->section[i].bytes.size / RELOCATION_SIZE);
}

const tj_host_layout *tj_host_layout_of(tj_job *job, tj_bytes object) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  tj_host_layout *layout = TJ_NEW(job, tj_host_layout);
  layout->elf = tj_elf_read(job, object, TJ_CODEGEN);
  layout->offset = TJ_NEW_ARRAY(job, uint64_t, layout->elf->section_count + 1);
  spend(job, layout->elf);
  bool is_placed = is_of_this_machine(layout->elf) && place_code(layout, page) && place_constants(layout, page);
  return is_placed ? layout : NULL;
}

/* --- relocations --- */

/* Whether the symbol is in a section that is placed, or has a stub; then where. */
static bool find_symbol(const tj_host_layout *layout, const tj_elf_symbol *symbol, uint64_t *offset) {
  const tj_elf *elf = layout->elf;
  if (symbol->section == TJ_ELF_SECTION_UNDEFINED)
    return find_stub(layout, symbol->name, offset);
  if (symbol->section >= elf->section_count || !has(&elf->section[symbol->section], TJ_ELF_SECTION_ALLOCATED) ||
      symbol->value > elf->section[symbol->section].bytes.size)
    return false;
  *offset = layout->offset[symbol->section] + symbol->value;
  return true;
}

/* One entry of a table, for a place in the section of that number. */
static bool relocate(const tj_host_layout *layout, unsigned char *base, uint32_t target, tj_bytes entry) {
  const tj_elf *elf = layout->elf;
  uint64_t at = tj_bytes_u64(entry, 0), addend = tj_bytes_u64(entry, 16), from, to;
  uint32_t type = tj_bytes_u32(entry, 8), symbol = tj_bytes_u32(entry, 12);
  if (!is_distance(elf->machine, type) || !tj_bytes_contain(elf->section[target].bytes, at, DISTANCE_SIZE) ||
      symbol >= elf->symbol_count || !find_symbol(layout, &elf->symbol[symbol], &to))
    return false;
  from = layout->offset[target] + at;
  int64_t distance = (int64_t)(to + addend - from);
  int32_t narrow = (int32_t)distance;
  memcpy(base + from, &narrow, sizeof narrow);
  return narrow == distance;
}

static bool relocate_section(const tj_host_layout *layout, unsigned char *base, const tj_elf_section *table) {
  const tj_elf *elf = layout->elf;
  if (table->info >= elf->section_count || !has(&elf->section[table->info], TJ_ELF_SECTION_ALLOCATED))
    return true;
  if (table->type != TJ_ELF_SECTION_RELA || table->link != elf->symbol_table)
    return false;
  for (size_t i = 0; i < table->bytes.size / RELOCATION_SIZE; i++) {
    if (!relocate(layout, base, table->info, tj_bytes_slice(table->bytes, i * RELOCATION_SIZE, RELOCATION_SIZE)))
      return false;
  }
  return true;
}

static bool relocate_all(const tj_host_layout *layout, unsigned char *base) {
  for (uint32_t i = 0; i < layout->elf->section_count; i++) {
    const tj_elf_section *section = &layout->elf->section[i];
    bool is_table = section->type == TJ_ELF_SECTION_RELA || section->type == TJ_ELF_SECTION_REL;
    if (is_table && !relocate_section(layout, base, section))
      return false;
  }
  return true;
}

/* --- mapping --- */

static void copy_sections(const tj_host_layout *layout, unsigned char *base) {
  for (uint32_t i = 0; i < layout->elf->section_count; i++) {
    const tj_elf_section *section = &layout->elf->section[i];
    if (has(section, TJ_ELF_SECTION_ALLOCATED) && section->bytes.size > 0)
      memcpy(base + layout->offset[i], section->bytes.data, section->bytes.size);
  }
  write_stubs(layout, base);
}

static bool protect(const tj_host_layout *layout, unsigned char *base) {
  size_t constants = layout->size - layout->code_size;
  __builtin___clear_cache((char *)base, (char *)base + layout->code_size);
  return mprotect(base, layout->code_size, PROT_READ | PROT_EXEC) == 0 &&
         (constants == 0 || mprotect(base + layout->code_size, constants, PROT_READ) == 0);
}

static bool find_function(const tj_host_layout *layout, const char *name, uint64_t *offset) {
  const tj_elf *elf = layout->elf;
  for (uint32_t i = 0; i < elf->symbol_count; i++) {
    const tj_elf_symbol *symbol = &elf->symbol[i];
    if (symbol->type == TJ_ELF_SYMBOL_FUNCTION && symbol->section != TJ_ELF_SECTION_UNDEFINED &&
        strcmp(symbol->name, name) == 0)
      return find_symbol(layout, symbol, offset) && *offset < layout->stubs;
  }
  return false;
}

static bool find_functions(const tj_host_layout *layout, const unsigned char *base, const char *const symbol[],
                           uint32_t count, uintptr_t address[]) {
  for (uint32_t i = 0; i < count; i++) {
    uint64_t offset;
    if (!find_function(layout, symbol[i], &offset))
      return false;
    address[i] = (uintptr_t)base + offset;
  }
  return true;
}

bool tj_host_pages_map(tj_host_pages *pages, const tj_host_layout *layout, const char *const symbol[], uint32_t count,
                       uintptr_t address[]) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
  unsigned char *base = mmap(NULL, layout->size, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (base == MAP_FAILED)
    return false;
  *pages = (tj_host_pages){base, layout->size};
  copy_sections(layout, base);
  if (relocate_all(layout, base) && protect(layout, base) && find_functions(layout, base, symbol, count, address))
    return true;
  tj_host_pages_unmap(pages);
  return false;
}

void tj_host_pages_unmap(tj_host_pages *pages) {
  if (pages->size > 0)
    munmap(pages->base, pages->size);
  *pages = (tj_host_pages){0};
}

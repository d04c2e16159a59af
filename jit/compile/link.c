/* SPDX-License-Identifier: MIT */
/* Linking: sections of the object are taken by what they are for, laid out, relocated; shared_object.c writes the
 * rest around them. */
#include "jit/compile/link.h"

#include "jit/compile/shared_object.h"

/* --- sections --- */

/* The part of the shared object that a section of the object becomes; SHARED_PARTS: none. */
static tj_shared_part part_of(tj_job *job, const tj_elf_section *section) {
  if ((section->flags & TJ_ELF_SECTION_ALLOCATED) == 0 || section->bytes.size == 0)
    return TJ_SHARED_PARTS;
  if ((section->flags & TJ_ELF_SECTION_WRITABLE) != 0)
    tj_fail(job, TJ_LINK, "the object has writable data");
  if (section->type == TJ_ELF_SECTION_NOTE)
    return TJ_SHARED_NOTE;
  return (section->flags & TJ_ELF_SECTION_EXECUTABLE) != 0 ? TJ_SHARED_CODE : TJ_SHARED_CONSTANTS;
}

static void take_section(tj_job *job, tj_shared_object *shared, const tj_elf *object, uint32_t index) {
  const tj_elf_section *section = &object->section[index];
  if (section->type == TJ_ELF_SECTION_NO_BITS && (section->flags & TJ_ELF_SECTION_ALLOCATED) != 0)
    tj_fail(job, TJ_LINK, "the object has writable data");
  tj_shared_part part = part_of(job, section);
  if (part == TJ_SHARED_PARTS)
    return;
  if (shared->part[part].section != 0)
    tj_fail(job, TJ_LINK, "the object has two sections of one kind");
  shared->part[part] =
      (tj_shared_section){.section = index, .alignment = section->alignment, .bytes = section->bytes};
}

static void take_sections(tj_job *job, tj_shared_object *shared, const tj_elf *object) {
  for (uint32_t i = 0; i < object->section_count; i++)
    take_section(job, shared, object, i);
  for (tj_shared_part part = 0; part < TJ_SHARED_PARTS; part++) {
    if (shared->part[part].section == 0)
      tj_fail(job, TJ_LINK, "the object lacks code, a description of its kernels, or a note");
  }
}

/* --- symbols --- */

static const tj_shared_section *section_of(const tj_shared_object *shared, const tj_elf_symbol *symbol) {
  for (tj_shared_part part = 0; part < TJ_SHARED_PARTS; part++) {
    if (symbol->section != TJ_ELF_SECTION_UNDEFINED && shared->part[part].section == symbol->section)
      return &shared->part[part];
  }
  return NULL;
}

static void take_symbols(tj_job *job, tj_shared_object *shared, const tj_elf *object) {
  shared->symbol = TJ_NEW_ARRAY(job, const tj_elf_symbol *, object->symbol_count);
  for (uint32_t i = 0; i < object->symbol_count; i++) {
    const tj_elf_symbol *symbol = &object->symbol[i];
    bool is_seen = symbol->binding != TJ_ELF_BIND_LOCAL && symbol->visibility != TJ_ELF_VISIBILITY_HIDDEN;
    if (is_seen && section_of(shared, symbol) != NULL)
      shared->symbol[shared->symbol_count++] = symbol;
  }
}

/* --- relocations --- */

enum { RELOCATION_SIZE = 24, REL32 = 4, REL64 = 5, REL32_LOW = 10, REL32_HIGH = 11 };

static void write_distance(tj_job *job, unsigned char *at, tj_bytes target, size_t offset, uint32_t type,
                           uint64_t distance) {
  size_t size = type == REL64 ? 8 : 4;
  if (type != REL32 && type != REL64 && type != REL32_LOW && type != REL32_HIGH)
    tj_fail(job, TJ_LINK, "the object has relocations of type %u", type);
  if (!tj_bytes_contain(target, offset, size))
    tj_fail(job, TJ_LINK, "a relocation reaches past the end of its section");
  tj_write_little(at + offset, type == REL32_HIGH ? distance >> 32 : distance, size);
}

static void relocate(tj_job *job, const tj_shared_object *shared, const tj_shared_section *target, tj_bytes entry,
                     tj_elf_symbols symbols) {
  uint64_t offset = tj_bytes_u64(entry, 0), info = tj_bytes_u64(entry, 8);
  if (info >> 32 >= symbols.count)
    tj_fail(job, TJ_LINK, "a relocation refers to a symbol that is not there");
  const tj_elf_symbol *symbol = &symbols.symbol[info >> 32];
  const tj_shared_section *section = section_of(shared, symbol);
  if (section == NULL)
    tj_fail(job, TJ_LINK, "the symbol %s is not defined", symbol->name);
  uint64_t value = section->address + symbol->value + tj_bytes_u64(entry, 16);
  write_distance(job, target->placed, target->bytes, offset, (uint32_t)info, value - (target->address + offset));
}

static void relocate_section(tj_job *job, const tj_shared_object *shared, const tj_elf *object,
                             const tj_elf_section *table) {
  tj_elf_symbol of_target = {.section = (uint16_t)table->info};
  const tj_shared_section *target = table->info <= UINT16_MAX ? section_of(shared, &of_target) : NULL;
  if (target == NULL)
    return;
  tj_elf_symbols symbols = tj_elf_symbols_of(job, object, table->link, TJ_LINK);
  for (size_t at = 0; at + RELOCATION_SIZE <= table->bytes.size; at += RELOCATION_SIZE)
    relocate(job, shared, target, tj_bytes_slice(table->bytes, at, RELOCATION_SIZE), symbols);
}

tj_bytes tj_link(tj_job *job, tj_bytes bytes) {
  const tj_elf *object = tj_elf_read(job, bytes, TJ_LINK);
  if (object->machine != TJ_ELF_MACHINE_AMDGPU || object->type != TJ_ELF_RELOCATABLE)
    tj_fail(job, TJ_LINK, "the object is not an AMDGPU relocatable");
  tj_shared_object shared = {.object = object};
  take_sections(job, &shared, object);
  take_symbols(job, &shared, object);
  tj_shared_object_write(job, &shared);
  for (uint32_t i = 0; i < object->section_count; i++) {
    if (object->section[i].type == TJ_ELF_SECTION_RELA)
      relocate_section(job, &shared, object, &object->section[i]);
  }
  return (tj_bytes){shared.data, shared.size};
}

/* SPDX-License-Identifier: MIT */
/* Describing cubins: kernels are the functions of the symbol table, what they occupy stands in .nv.info. */
#include "object/cubin.h"

#include "object/elf.h"

enum { MACHINE_OFFSET = 18, MACHINE_END = 20 };

/* Types of sections; attributes of .nv.info, each a format, a kind, and a length or a value. */
enum { SECTION_INFO = 0x70000000 };
enum { FORMAT_SIZED = 4, ATTRIBUTE_BYTES = 4, SYMBOL_VALUE_BYTES = 8 };
enum { ATTRIBUTE_FRAME_SIZE = 0x11, ATTRIBUTE_REGISTERS = 0x2f };

/* From this version of the ABI on, flags have the capability in their second byte. */
enum { ABI_OF_SECOND_BYTE = 8 };

/* What a driver keeps of shared memory for itself, where a cubin names it: sections begin behind it. */
static const char reserved_symbol[] = "__nv_reservedSMEM_offset_0_alias";
enum { RESERVED_BYTES = 1024 };

bool tj_is_cubin(tj_bytes bytes) {
  return bytes.size >= MACHINE_END && memcmp(bytes.data, "\177ELF", 4) == 0 &&
         tj_bytes_u16(bytes, MACHINE_OFFSET) == TJ_ELF_MACHINE_CUDA;
}

static uint32_t capability_of(const tj_elf *elf) {
  return elf->abi_version >= ABI_OF_SECOND_BYTE ? elf->flags >> 8 & 0xff : elf->flags & 0xff;
}

/* --- .nv.info --- */

static void take_attribute(const tj_elf *elf, uint8_t kind, tj_bytes value, tj_cubin_kernel of_symbol[]) {
  if (value.size != SYMBOL_VALUE_BYTES || tj_bytes_u32(value, 0) >= elf->symbol_count)
    return;
  tj_cubin_kernel *kernel = &of_symbol[tj_bytes_u32(value, 0)];
  if (kind == ATTRIBUTE_REGISTERS)
    kernel->registers = tj_bytes_u32(value, 4);
  if (kind == ATTRIBUTE_FRAME_SIZE)
    kernel->local_bytes = tj_bytes_u32(value, 4);
}

static void take_attributes(tj_job *job, const tj_elf *elf, tj_bytes info, tj_cubin_kernel of_symbol[]) {
  for (size_t at = 0; tj_bytes_contain(info, at, ATTRIBUTE_BYTES);) {
    bool is_sized = tj_bytes_u8(info, at) == FORMAT_SIZED;
    size_t size = is_sized ? tj_bytes_u16(info, at + 2) : 0;
    if (!tj_bytes_contain(info, at + ATTRIBUTE_BYTES, size))
      tj_fail(job, TJ_CUBIN, "an attribute reaches past the end of .nv.info");
    tj_spend(job, 1);
    if (is_sized)
      take_attribute(elf, tj_bytes_u8(info, at + 1), tj_bytes_slice(info, at + ATTRIBUTE_BYTES, size), of_symbol);
    at += ATTRIBUTE_BYTES + size;
  }
}

/* --- sections --- */

static uint32_t reserved_bytes(const tj_elf *elf) {
  for (uint32_t i = 0; i < elf->symbol_count; i++)
    if (strcmp(elf->symbol[i].name, reserved_symbol) == 0)
      return RESERVED_BYTES;
  return 0;
}

/* Shared memory is a section without contents that belongs to that of the code. */
static uint32_t shared_bytes_of(tj_job *job, const tj_elf *elf, uint32_t code) {
  for (uint32_t i = 0; i < elf->section_count; i++) {
    const tj_elf_section *section = &elf->section[i];
    if (section->type != TJ_ELF_SECTION_NO_BITS || section->info != code)
      continue;
    uint32_t reserved = reserved_bytes(elf);
    if (section->size > UINT32_MAX || section->size < reserved)
      tj_fail(job, TJ_CUBIN, "a kernel's shared memory has %llu bytes", (unsigned long long)section->size);
    return (uint32_t)section->size - reserved;
  }
  return 0;
}

/* Names that begin with $ are ptxas's own, of divisions and the like, which kernels call. */
static bool is_kernel(const tj_elf *elf, const tj_elf_symbol *symbol) {
  return symbol->name[0] != '$' && symbol->type == TJ_ELF_SYMBOL_FUNCTION && symbol->binding != TJ_ELF_BIND_LOCAL &&
         symbol->section != TJ_ELF_SECTION_UNDEFINED && symbol->section < elf->section_count;
}

static tj_cubin_kernel describe(tj_job *job, const tj_elf *elf, const tj_elf_symbol *symbol,
                                tj_cubin_kernel occupied) {
  tj_bytes section = elf->section[symbol->section].bytes;
  if (!tj_bytes_contain(section, symbol->value, symbol->size))
    tj_fail(job, TJ_CUBIN, "the code of %s reaches past the end of its section", symbol->name);
  tj_spend(job, elf->section_count + elf->symbol_count);
  occupied.name = symbol->name;
  occupied.code = tj_bytes_slice(section, symbol->value, symbol->size);
  occupied.shared_bytes = shared_bytes_of(job, elf, symbol->section);
  return occupied;
}

const tj_cubin *tj_cubin_parse(tj_job *job, tj_bytes bytes) {
  const tj_elf *elf = tj_elf_read(job, bytes, TJ_CUBIN);
  if (elf->machine != TJ_ELF_MACHINE_CUDA)
    tj_fail(job, TJ_CUBIN, "it is an ELF file for another machine than NVIDIA's GPUs");
  tj_cubin_kernel *of_symbol = TJ_NEW_ARRAY(job, tj_cubin_kernel, elf->symbol_count);
  for (uint32_t i = 0; i < elf->symbol_count; i++)
    of_symbol[i] = (tj_cubin_kernel){0};
  for (uint32_t i = 0; i < elf->section_count; i++)
    if (elf->section[i].type == SECTION_INFO && elf->section[i].info == 0)
      take_attributes(job, elf, elf->section[i].bytes, of_symbol);
  tj_cubin *cubin = TJ_NEW(job, tj_cubin);
  *cubin = (tj_cubin){.capability = capability_of(elf), .kernel = of_symbol};
  for (uint32_t i = 0; i < elf->symbol_count; i++)
    if (is_kernel(elf, &elf->symbol[i]))
      of_symbol[cubin->kernel_count++] = describe(job, elf, &elf->symbol[i], of_symbol[i]);
  return cubin;
}

const tj_cubin_kernel *tj_cubin_find(const tj_cubin *cubin, const char *name) {
  for (uint32_t i = 0; i < cubin->kernel_count; i++)
    if (strcmp(cubin->kernel[i].name, name) == 0)
      return &cubin->kernel[i];
  return NULL;
}

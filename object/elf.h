/* SPDX-License-Identifier: MIT */
/* ELF files: sections, segments, symbols and relocations of 64-bit little-endian files, read out of untrusted bytes.
 *
 * Whatever is returned has been checked to lie inside the bytes, which it borrows. What the contents mean is left to
 * code_object.c (AMDGPU shared objects), cubin.c (NVIDIA's), host_pages.c and stats.c (host objects) and link.c. */
#ifndef TJ_OBJECT_ELF_H
#define TJ_OBJECT_ELF_H

#include "base/bytes.h"
#include "base/job.h"

enum { TJ_ELF_RELOCATABLE = 1, TJ_ELF_SHARED = 3 };
enum {
  TJ_ELF_MACHINE_X86_64 = 62,
  TJ_ELF_MACHINE_AARCH64 = 183,
  TJ_ELF_MACHINE_CUDA = 190,
  TJ_ELF_MACHINE_AMDGPU = 224
};
enum { TJ_ELF_SECTION_RELA = 4, TJ_ELF_SECTION_NOTE = 7, TJ_ELF_SECTION_NO_BITS = 8, TJ_ELF_SECTION_REL = 9 };
enum { TJ_ELF_SECTION_WRITABLE = 1, TJ_ELF_SECTION_ALLOCATED = 2, TJ_ELF_SECTION_EXECUTABLE = 4 };
enum { TJ_ELF_SEGMENT_LOAD = 1, TJ_ELF_SEGMENT_NOTE = 4 };
enum { TJ_ELF_SEGMENT_EXECUTABLE = 1, TJ_ELF_SEGMENT_WRITABLE = 2, TJ_ELF_SEGMENT_READABLE = 4 };
enum { TJ_ELF_SYMBOL_OBJECT = 1, TJ_ELF_SYMBOL_FUNCTION = 2 };
enum { TJ_ELF_BIND_LOCAL = 0 };
enum { TJ_ELF_VISIBILITY_HIDDEN = 2 };
enum { TJ_ELF_SECTION_UNDEFINED = 0 };

typedef struct {
  uint32_t type;
  uint64_t flags;
  uint64_t address;
  uint32_t link;
  uint32_t info; /* of relocations: the section that they are for */
  uint64_t alignment;
  uint64_t entry_size;
  uint64_t size;  /* in memory */
  tj_bytes bytes; /* empty for sections that hold nothing in the file */
} tj_elf_section;

typedef struct {
  uint32_t type;
  uint32_t flags;
  uint64_t address;
  uint64_t memory_size;
  uint64_t alignment;
  tj_bytes bytes;
} tj_elf_segment;

typedef struct {
  const char *name; /* zero-terminated, inside the file */
  uint64_t value;
  uint64_t size;
  uint8_t type;
  uint8_t binding;
  uint8_t visibility;
  uint16_t section;
} tj_elf_symbol;

typedef struct {
  tj_bytes bytes;
  uint16_t type;
  uint16_t machine;
  uint8_t os_abi;
  uint8_t abi_version;
  uint32_t flags;
  const tj_elf_section *section;
  uint32_t section_count;
  const tj_elf_segment *segment;
  uint32_t segment_count;
  const tj_elf_symbol *symbol; /* of the symbol table; without one, of the dynamic symbol table */
  uint32_t symbol_count;
  uint32_t symbol_table; /* its section; 0: there is none */
} tj_elf;

/* Reads a whole file into the job's arena, or fails with `code` and the reason. */
const tj_elf *tj_elf_read(tj_job *job, tj_bytes bytes, tj_problem_code code);

/* The symbols of one section of symbols, which must be a checked one (type SYMTAB or DYNSYM). */
typedef struct {
  const tj_elf_symbol *symbol;
  uint32_t count;
} tj_elf_symbols;

tj_elf_symbols tj_elf_symbols_of(tj_job *job, const tj_elf *elf, uint32_t section, tj_problem_code code);

#endif

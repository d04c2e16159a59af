/* SPDX-License-Identifier: MIT */
/* The one shape of ELF shared object that kernels come in: a note, symbols that others see with two tables to find
 * them by, constants; then code; then a dynamic section. */
#ifndef TJ_JIT_SHARED_OBJECT_H
#define TJ_JIT_SHARED_OBJECT_H

#include "object/elf.h"

/* What comes out of the relocatable object. */
typedef enum { TJ_SHARED_NOTE, TJ_SHARED_CONSTANTS, TJ_SHARED_CODE, TJ_SHARED_PARTS } tj_shared_part;

typedef struct {
  uint32_t section; /* its number in the relocatable object; 0: none yet */
  uint64_t alignment;
  tj_bytes bytes;
  uint64_t address;      /* in the shared object, */
  unsigned char *placed; /* and where its bytes are there */
} tj_shared_section;

typedef struct {
  const tj_elf *object;
  tj_shared_section part[TJ_SHARED_PARTS];
  const tj_elf_symbol **symbol; /* what others see; each in one of the parts */
  uint32_t symbol_count;
  unsigned char *data; /* the shared object, in the job's arena */
  size_t size;
} tj_shared_object;

/* Lays out and writes the shared object: `data`, `size`, and the addresses of its parts, whose bytes are those of the
 * relocatable object. TJ5004 where a part cannot be aligned. */
void tj_shared_object_write(tj_job *job, tj_shared_object *shared);

/* Writes the `size` low bytes of a value. */
void tj_write_little(unsigned char *at, uint64_t value, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* Objects that stand by themselves, in pages of this process: code that can be executed and constants that can be
 * read, none of which can be written any more.
 *
 * An object stands by itself when all that it refers to is in it, by distance, or is one of a few functions that
 * every process has: memcpy and its like. It then runs wherever it lies. One that calls other functions, has
 * variables or asks for a relocation that is no distance does not, nor does any object of a machine without a row in
 * the table of relocations.
 *
 * How to add a machine: a row of `distances` in host_pages.c, for its relocations that hold a distance, and the jump
 * of its stubs. How to add a function: a row of `functions`. */
#ifndef TJ_LAUNCH_HOST_PAGES_H
#define TJ_LAUNCH_HOST_PAGES_H

#include "base/bytes.h"
#include "base/job.h"

typedef struct {
  void *base;
  size_t size; /* 0: none are mapped */
} tj_host_pages;

/* Where the sections of an object go. */
typedef struct tj_host_layout tj_host_layout;

/* The layout of an object, in the job's arena; NULL where it does not stand by itself, as far as its sections tell.
 * Borrows the object. Fails with TJ5003 where it is no ELF file. */
const tj_host_layout *tj_host_layout_of(tj_job *job, tj_bytes object);

/* Maps an object, and finds the addresses of its functions symbol[0 … count-1]. False, with nothing mapped, where it
 * does not stand by itself, lacks a function, or the system has no pages. */
bool tj_host_pages_map(tj_host_pages *pages, const tj_host_layout *layout, const char *const symbol[], uint32_t count,
                       uintptr_t address[]);

void tj_host_pages_unmap(tj_host_pages *pages);

#endif

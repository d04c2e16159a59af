/* SPDX-License-Identifier: MIT */
/* What instructions of a plan of tensor DMA are given, for all tiles: as a program, as functions in C. */
#ifndef TJ_JIT_PROGRAM_DMA_H
#define TJ_JIT_PROGRAM_DMA_H

#include "jit/dma/report_dma.h"

/* A program whose value is a tuple: the dwords of a descriptor; or the coordinates of a box, and its place in LDS
 * behind the tile's. Its parameters are those of the tensor, where tiles begin and, of several instructions, which
 * one; of a descriptor, also the tensor's address and the tile's in LDS. There is a plan. */
void tj_dma_write_program(const tj_dma_report *report, tj_text *text);

/* The same as functions in C, NAME_0 and so on; of tensor maps also NAME_map, which makes the map where cuda.h has
 * been included. TJ4012 where `name` cannot name a function. */
void tj_dma_write_functions(const tj_dma_report *report, const char *name, tj_text *text);

#endif

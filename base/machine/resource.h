/* SPDX-License-Identifier: MIT */
/* Buffer resources of AMD's processors: the rows of resource.def. Immutable; any thread may read them. */
#ifndef TJ_BASE_RESOURCE_H
#define TJ_BASE_RESOURCE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint32_t major, minor;  /* of the first processors that have it */
  uint32_t word3;         /* 0: resources have another form */
  uint32_t immediate_end; /* bytes below which an instruction adds a constant to its offset, */
  uint32_t address_end;   /* and one without a resource to its address of 64 bits */
  uint32_t streamed;      /* cache policy of stores that stream */
  bool counts_scalar;     /* whether what an instruction's scalar skips is held against the range */
} tj_buffer_resource;

/* How many bytes a resource reaches over here; offsets from there on are beyond it, whatever constant is added. */
#define TJ_RESOURCE_BYTES (INT64_C(1) << 31)

/* Of a processor's generation; NULL where it has none of this form. */
const tj_buffer_resource *tj_buffer_resource_of(uint32_t major, uint32_t minor);

#endif

/* SPDX-License-Identifier: MIT */
/* Machine code of a kernel, whose variants are made together or each when a launch first takes it.
 *
 *     part i                of variant i alone
 *     part variant_count    of all of them: what bundles hold, and what others get to launch
 *
 * A part that is not there waits: `kernel` is what a compiler makes it of, steps and index expressions before any is
 * lowered. Code without a kernel has all its variants in one part. A part that is there stays as it is and where it
 * is; so launches look for theirs without a lock, and those that need one that waits make it one after the other.
 * libtilejit-runtime has no compiler, and gets no code of which a part waits.
 *
 * The machine code may serve several images: kernels that are written differently and mean the same. It counts
 * references; any thread may retain and release it. Its memory comes from the allocator given at creation, which must
 * serve until the last reference is gone. */
#ifndef TJ_LAUNCH_MACHINE_H
#define TJ_LAUNCH_MACHINE_H

#include "launch/image/host_code.h"
#include "launch/image/launch_plan.h"
#include "launch/image/resident.h"

#include <stdatomic.h>

enum { TJ_MACHINE_VERSION = 3 }; /* of the bytes that tj_machine_write makes */

/* In the place of a variant's number: all variants, in one part. */
enum { TJ_ALL_VARIANTS = UINT32_MAX };

typedef struct {
  tj_host_code *host; /* the host's, loaded; NULL for GPUs, whose devices load `bytes` */
  tj_bytes bytes;     /* the code object; on the host, the relocatable object; in this block of memory */
  uint32_t first;     /* the number of its first variant */
} tj_machine_part;

typedef struct {
  tj_allocator allocator;
  atomic_uint references;
  tj_machine_residents residents; /* its kernels on devices */
  pthread_mutex_t making;         /* of parts that wait */
  uint32_t variant_count;
  tj_bytes kernel;                   /* all variants (jit/kernel/kernel_bytes.h), in this block; empty: none waits */
  _Atomic(tj_machine_part *) part[]; /* owned; variant_count + 1 */
} tj_machine;

/* Machine code of all variants, with one reference; the plan's symbols are looked up in the host's, which `linker`
 * loads where it does not stand by itself (host_code.h). The bytes are copied. Fails as the job: TJ5003 where the
 * host's code does not load. */
tj_machine *tj_machine_load(tj_job *job, const tj_allocator *allocator, tj_bytes bytes, const tj_launch_plan *plan,
                            const tj_host_linker *linker);
/* Machine code of which every part waits, with one reference. The bytes are copied. */
tj_machine *tj_machine_wait(tj_job *job, const tj_allocator *allocator, tj_bytes kernel, const tj_launch_plan *plan);

tj_machine *tj_machine_retain(tj_machine *machine);
void tj_machine_release(tj_machine *machine); /* takes NULL */

/* Machine code as bytes: what waits, or else the part of all variants. */
void tj_machine_write(tj_text *text, const tj_machine *machine);
/* The machine code that was written, with one reference. NULL where the bytes are none; fails as tj_machine_load
 * without a linker. */
tj_machine *tj_machine_read(tj_job *job, const tj_allocator *allocator, tj_reader *reader,
                            const tj_launch_plan *plan);

/* About how much memory it takes now. */
size_t tj_machine_size(const tj_machine *machine);

/* --- parts --- */

/* The part that has a variant; NULL: it waits. */
const tj_machine_part *tj_machine_find(const tj_machine *machine, uint32_t number);

/* Where the host's code of one of the part's variants begins. */
static inline tj_host_entry tj_machine_entry(const tj_machine_part *part, uint32_t number) {
  return tj_host_code_entry(part->host, number - part->first);
}

/* Whether what there is can be loaded by another process, without a linker. */
bool tj_machine_stands_by_itself(const tj_machine *machine);
bool tj_machine_part_stands_by_itself(const tj_machine_part *part);

/* A part from its bytes, for the machine code of that plan. Fails as tj_machine_load. */
tj_machine_part *tj_machine_part_load(tj_job *job, const tj_allocator *allocator, tj_bytes bytes,
                                      const tj_launch_plan *plan, uint32_t number, const tj_host_linker *linker);
void tj_machine_part_release(const tj_allocator *allocator, tj_machine_part *part); /* takes NULL */

/* Who makes parts that wait, with the machine code's allocator, on any thread. Fails as the job. */
typedef tj_machine_part *(*tj_part_maker)(tj_job *job, void *user, const tj_machine *machine,
                                          const tj_launch_plan *plan, uint32_t number);

/* The part that has a variant, made where it waits; `maker` NULL: nobody makes any. Fails as the maker does. */
const tj_machine_part *tj_machine_require(tj_job *job, tj_machine *machine, const tj_launch_plan *plan,
                                          uint32_t number, tj_part_maker maker, void *user);

#endif

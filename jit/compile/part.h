/* SPDX-License-Identifier: MIT */
/* Parts of machine code that have waited (launch/image/machine.h): compiled when they are needed, or found on disk.
 */
#ifndef TJ_JIT_PART_H
#define TJ_JIT_PART_H

#include "launch/image/machine.h"

/* A tj_part_maker: `order` is a tj_part_order, to whose times it adds. TJ5003; TJ7007 where the job's listener does
 * not want it begun. */
tj_machine_part *tj_part_make(tj_job *job, void *order, const tj_machine *machine, const tj_launch_plan *plan,
                              uint32_t number);

#endif

/* SPDX-License-Identifier: MIT */
/* What the drivers share: their rows, declared. */
#ifndef TJ_RT_DRIVER_H
#define TJ_RT_DRIVER_H

#include "rt/device.h"

#define DRIVER(name) extern const tj_rt_driver tj_rt_driver_##name;
#include "rt/driver.def"
#undef DRIVER

/* The number of PREFIX:NUMBER, of which there is one way to write each; false where it is none. */
bool tj_rt_read_number(const char *name, unsigned long *number);

/* The allocator given, or malloc and free where it is NULL. */
tj_allocator tj_rt_allocator(const tj_allocator *allocator);

#endif

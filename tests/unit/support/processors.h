/* SPDX-License-Identifier: MIT */
/* The simulated processors, from the table, so that tests keep no list of their own. */
#ifndef TJ_TEST_PROCESSORS_H
#define TJ_TEST_PROCESSORS_H

static const char *const simulated[] = {
#define SIMULATED(name, units) name,
#include "base/machine/processor.def"
};

enum { SIMULATED_COUNT = sizeof simulated / sizeof simulated[0] };

#endif

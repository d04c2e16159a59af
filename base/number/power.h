/* SPDX-License-Identifier: MIT */
/* Powers of two. */
#ifndef TJ_BASE_POWER_H
#define TJ_BASE_POWER_H

#include <stdbool.h>
#include <stdint.h>

static inline bool tj_is_power_of_two(int64_t number) {
  return number > 0 && (number & (number - 1)) == 0;
}

#endif

/* SPDX-License-Identifier: MIT */
/* What the files of the target families share: their rows, declared. */
#ifndef TJ_LOWER_FAMILY_H
#define TJ_LOWER_FAMILY_H

#include "lower/machine/target.h"

#define TARGET(name, description) extern const tj_target_family tj_family_##name;
#include "lower/machine/target.def"
#undef TARGET

#endif

/* SPDX-License-Identifier: MIT */
/* Z3 as a library that is opened when it is first asked: its functions by z3.def, under their own names.
 *
 * The library is the one that TILEJIT_Z3_LIBRARY names; otherwise it is looked for where the dynamic linker looks,
 * then where the build has found it. It stays in the process.
 *
 * Thread safety: any thread. */
#ifndef TJ_IR_Z3_LIBRARY_H
#define TJ_IR_Z3_LIBRARY_H

#include "base/library.h"

#include <z3.h>

typedef struct {
#define FUNCTION(name) __typeof__(Z3_##name) *name;
#include "ir/value/z3.def"
#undef FUNCTION
} tj_z3_functions;

/* Set by tj_z3_load, never changed afterwards. */
extern tj_z3_functions tj_z3;

/* Z3_mk_eq is tj_z3.mk_eq, and so on. */
#include "ir/value/z3_names.h"

/* Makes Z3's functions callable; false, and why in `message`, where there is no Z3. Cheap after the first call. */
bool tj_z3_load(char message[TJ_LIBRARY_MESSAGE_SIZE]);

#endif

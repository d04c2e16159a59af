/* SPDX-License-Identifier: MIT */
/* Z3's shared library: found, opened once. */
#include "ir/value/z3_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { FLAGS = RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE };

tj_z3_functions tj_z3;

static void *open_library(void) {
  const char *chosen = getenv("TILEJIT_Z3_LIBRARY");
  if (chosen != NULL && *chosen != '\0')
    return dlopen(chosen, FLAGS);
  void *handle = dlopen(TILEJIT_Z3_FILE, FLAGS);
  return handle != NULL ? handle : dlopen(TILEJIT_Z3_PATH, FLAGS);
}

/* The name of the first function that is missing; NULL: none. */
static const char *find_functions(void *handle, tj_z3_functions *z3) {
  const char *missing = NULL;
#define FUNCTION(name)                                                                                               \
  z3->name = (__typeof__(z3->name))tj_library_function_of(handle, "Z3_" #name);                                      \
  if (z3->name == NULL && missing == NULL)                                                                           \
    missing = "Z3_" #name;
#include "ir/value/z3.def"
#undef FUNCTION
  return missing;
}

static bool load(char message[TJ_LIBRARY_MESSAGE_SIZE]) {
  tj_z3_functions z3;
  void *handle = open_library();
  const char *missing = handle != NULL ? find_functions(handle, &z3) : NULL;
  if (handle == NULL)
    snprintf(message, TJ_LIBRARY_MESSAGE_SIZE, "no Z3 library: %s", dlerror());
  else if (missing != NULL)
    snprintf(message, TJ_LIBRARY_MESSAGE_SIZE, "the Z3 library has no function %s", missing);
  else
    tj_z3 = z3;
  return handle != NULL && missing == NULL;
}

bool tj_z3_load(char message[TJ_LIBRARY_MESSAGE_SIZE]) {
  static tj_library_once once = TJ_LIBRARY_ONCE;
  return tj_library_load_once(&once, load, message);
}

/* SPDX-License-Identifier: MIT */
/* LLVM's shared library: found, opened once, its registries initialised. */
#include "llvm/llvm.h"

#include "base/build_id.h"

#include <dlfcn.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASSES "libtilejit-passes.so"
#define TEXT(name) #name
#define TEXT_OF(name) TEXT(name)

enum { FLAGS = RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE };

tj_llvm_functions tj_llvm;

/* --- finding --- */

static const char *chosen_library(void) {
  const char *chosen = getenv("TILEJIT_LLVM_LIBRARY");
  return chosen != NULL && *chosen != '\0' ? chosen : NULL;
}

static void find_library(char path[TJ_LIBRARY_PATH_SIZE]) {
  const char *chosen = chosen_library();
  if (chosen == NULL)
    tj_library_find(TILEJIT_LLVM_FILE, TILEJIT_LLVM_FOLDER, path);
  else
    snprintf(path, TJ_LIBRARY_PATH_SIZE, "%s", chosen);
}

/* The LLVM that the process has, since it must not have two; NULL: none. */
static void *open_present(void) {
  return dlopen(TILEJIT_LLVM_FILE, FLAGS | RTLD_NOLOAD);
}

static void *open_library(char message[TJ_LIBRARY_MESSAGE_SIZE]) {
  void *handle = open_present();
  if (handle != NULL)
    return handle;
  char path[TJ_LIBRARY_PATH_SIZE];
  find_library(path);
  handle = dlopen(path, FLAGS);
  if (handle == NULL)
    snprintf(message, TJ_LIBRARY_MESSAGE_SIZE, "no LLVM library: %s", dlerror());
  else if (open_present() == NULL)
    snprintf(message, TJ_LIBRARY_MESSAGE_SIZE, "the library %.150s is not " TILEJIT_LLVM_FILE, path);
  return open_present();
}

/* --- opening --- */

/* The name of the first function that is missing; NULL: none. */
static const char *find_functions(void *handle, tj_llvm_functions *llvm) {
  const char *missing = NULL;
#define FUNCTION(name)                                                                                               \
  llvm->name = (__typeof__(llvm->name))tj_library_function_of(handle, "LLVM" #name);                                 \
  if (llvm->name == NULL && missing == NULL)                                                                         \
    missing = "LLVM" #name;
#include "llvm/llvm.def"
#undef FUNCTION
  return missing;
}

static const char *const initializers[] = {
    "LLVMInitializeAMDGPUTargetInfo", "LLVMInitializeAMDGPUTarget",       "LLVMInitializeAMDGPUTargetMC",
    "LLVMInitializeAMDGPUAsmPrinter", "LLVMInitializeAMDGPUDisassembler", "LLVMInitializeNVPTXTargetInfo",
    "LLVMInitializeNVPTXTarget",      "LLVMInitializeNVPTXTargetMC",      "LLVMInitializeNVPTXAsmPrinter",
    TEXT_OF(LLVM_NATIVE_TARGETINFO),  TEXT_OF(LLVM_NATIVE_TARGET),        TEXT_OF(LLVM_NATIVE_TARGETMC),
    TEXT_OF(LLVM_NATIVE_ASMPRINTER),  TEXT_OF(LLVM_NATIVE_DISASSEMBLER),
};

/* The name of the first initialiser that is missing, as where LLVM was built without a target; NULL: all have run. */
static const char *initialize(void *handle) {
  for (size_t i = 0; i < sizeof initializers / sizeof *initializers; i++) {
    tj_library_function run = tj_library_function_of(handle, initializers[i]);
    if (run == NULL)
      return initializers[i];
    run();
  }
  return NULL;
}

static const tj_pass_functions *find_passes(void) {
  char path[TJ_LIBRARY_PATH_SIZE];
  tj_library_find(PASSES, NULL, path);
  void *handle = dlopen(path, FLAGS);
  return handle != NULL ? dlsym(handle, TJ_PASS_FUNCTIONS) : NULL;
}

static bool load(char message[TJ_LIBRARY_MESSAGE_SIZE]) {
  void *handle = open_library(message);
  if (handle == NULL)
    return false;
  tj_llvm_functions llvm;
  const char *missing = find_functions(handle, &llvm);
  if (missing == NULL)
    missing = initialize(handle);
  if (missing != NULL) {
    snprintf(message, TJ_LIBRARY_MESSAGE_SIZE, "the LLVM library has no function %s", missing);
    return false;
  }
  llvm.passes = find_passes();
  tj_llvm = llvm;
  return true;
}

bool tj_llvm_load(char message[TJ_LIBRARY_MESSAGE_SIZE]) {
  static tj_library_once once = TJ_LIBRARY_ONCE;
  return tj_library_load_once(&once, load, message);
}

void tj_llvm_open(tj_job *job) {
  char message[TJ_LIBRARY_MESSAGE_SIZE];
  if (!tj_llvm_load(message))
    tj_fail_system(job, TJ_LLVM_LIBRARY, "%s", message);
}

/* --- telling builds apart --- */

static void find_build_id(char build[TJ_BUILD_ID_SIZE]) {
  char path[TJ_LIBRARY_PATH_SIZE], message[TJ_LIBRARY_MESSAGE_SIZE];
  void *handle = open_present();
  find_library(path);
  if (handle == NULL && strchr(path, '/') == NULL && tj_llvm_load(message))
    handle = open_present();
  if (handle != NULL)
    tj_build_id_of_place(dlsym(handle, "LLVMGetVersion"), build);
  else
    tj_build_id_of_file(path, build);
}

void tj_llvm_identify(char text[TJ_LLVM_IDENTITY_SIZE]) {
  char library[TJ_BUILD_ID_SIZE], passes[TJ_BUILD_ID_SIZE], path[TJ_LIBRARY_PATH_SIZE];
  find_build_id(library);
  tj_library_find(PASSES, NULL, path);
  tj_build_id_of_file(path, passes);
  snprintf(text, TJ_LLVM_IDENTITY_SIZE, "LLVM " LLVM_VERSION_STRING " %s, passes %s", library, passes);
}

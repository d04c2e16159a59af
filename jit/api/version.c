/* SPDX-License-Identifier: MIT */
/* Versions of the library and of what it is built on. */
#include "launch/api/context.h"
#include "llvm/llvm.h"

static void write_versions(tj_text *text, const void *data) {
  (void)data;
  unsigned major, minor, patch;
  char message[TJ_LIBRARY_MESSAGE_SIZE];
  tj_text_format(text, "tilejit %s\n", TJ_VERSION);
  if (tj_llvm_load(message)) {
    LLVMGetVersion(&major, &minor, &patch);
    tj_text_format(text, "LLVM %u.%u.%u\n", major, minor, patch);
  } else {
    tj_text_format(text, "%s\n", message);
  }
}

tj_status tj_version_text(tj_context *context, tj_blob *text) {
  return tj_context_write(context, write_versions, NULL, text);
}

/* SPDX-License-Identifier: MIT */
/* Versions of the library and of what it is built on. */
#include "launch/api/context.h"

#include <inttypes.h>
#include <llvm-c/Core.h>

static void write_versions(tj_text *text, const void *data) {
  (void)data;
  unsigned major, minor, patch;
  LLVMGetVersion(&major, &minor, &patch);
  tj_text_format(text, "tilejit %s\nLLVM %u.%u.%u\n", TJ_VERSION, major, minor, patch);
}

tj_status tj_version_text(tj_context *context, tj_blob *text) {
  return tj_context_write(context, write_versions, NULL, text);
}

/* SPDX-License-Identifier: MIT */
// The one C++ file: LLD's in-process ELF linker, for which LLVM has no C API, behind the function of jit/compile/lld.h.
// Only file names and messages cross over; link.c makes the files and reads the result. LLD's global state is set up
// and torn down within each call, one call at a time. No exception leaves: LLVM is built without them, and what the
// standard library may throw is caught here.
#include "jit/compile/lld.h"

#include <lld/Common/CommonLinkerContext.h>
#include <lld/Common/Driver.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <cstring>
#include <mutex>

LLD_HAS_DRIVER(elf)

namespace {

std::mutex one_link_at_a_time;

void copy_message(llvm::StringRef text, char *message, size_t capacity) {
  size_t length = std::min(text.size(), capacity - 1);
  std::memcpy(message, text.data(), length);
  message[length] = '\0';
}

bool link_once(const char *const *argument, size_t count, llvm::raw_ostream &log) {
  std::lock_guard<std::mutex> lock(one_link_at_a_time);
  bool linked = lld::elf::link(llvm::ArrayRef<const char *>(argument, count), log, log, /*exitEarly=*/false,
                               /*disableOutput=*/false);
  lld::CommonLinkerContext::destroy();
  return linked;
}

} // namespace

extern "C" bool tj_lld_link(const char *const *argument, size_t count, char *message, size_t capacity) {
  try {
    llvm::SmallString<256> text;
    llvm::raw_svector_ostream log(text);
    bool linked = link_once(argument, count, log);
    copy_message(text, message, capacity);
    return linked;
  } catch (...) {
    copy_message("the linker threw an exception", message, capacity);
    return false;
  }
}

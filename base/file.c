/* SPDX-License-Identifier: MIT */
/* Reading and writing on, where the system stops or is interrupted. */
#include "base/file.h"

#include <errno.h>
#include <unistd.h>

bool tj_file_read(int file, void *to, size_t size) {
  for (char *at = to; size > 0;) {
    errno = 0;
    ssize_t got = read(file, at, size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    at += got;
    size -= (size_t)got;
  }
  return true;
}

bool tj_file_write(int file, tj_bytes bytes) {
  const char *from = bytes.data;
  for (size_t left = bytes.size; left > 0;) {
    ssize_t put = write(file, from, left);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return false;
    from += put;
    left -= (size_t)put;
  }
  return true;
}

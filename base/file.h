/* SPDX-License-Identifier: MIT */
/* Whole runs of bytes from and to files, which the system may hand over in parts. */
#ifndef TJ_BASE_FILE_H
#define TJ_BASE_FILE_H

#include "base/bytes.h"

/* Reads exactly `size` bytes. False where there are not so many; errno says why, 0 for the file's end. */
bool tj_file_read(int file, void *to, size_t size);

/* Writes all. False with errno. */
bool tj_file_write(int file, tj_bytes bytes);

#endif

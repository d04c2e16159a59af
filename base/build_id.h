/* SPDX-License-Identifier: MIT */
/* What tells the builds of a library or a program apart: the build ID that its linker has written, in hexadecimal, or
 * else the size and the time of its file. */
#ifndef TJ_BASE_BUILD_ID_H
#define TJ_BASE_BUILD_ID_H

enum { TJ_BUILD_ID_SIZE = 64 };

/* Of a file; "" where it cannot be read. */
void tj_build_id_of_file(const char *path, char text[TJ_BUILD_ID_SIZE]);

/* Of what has been loaded to where `place` is, whatever has become of its file. */
void tj_build_id_of_place(const void *place, char text[TJ_BUILD_ID_SIZE]);

#endif

/* SPDX-License-Identifier: MIT */
/* Entries: what files hold of compiled kernels, of the cache and of bundles.
 *
 *      0  "tilejit\n"        8  version      12  kind
 *     16  size of the key   24  size of the payload
 *     32  checksum of bytes 0 … 31, the key and the payload
 *     48  the key, the payload
 *
 * The checksum tells damage, not malice: whoever reads a payload checks it besides. */
#ifndef TJ_LAUNCH_ENTRY_H
#define TJ_LAUNCH_ENTRY_H

#include "base/bytes.h"
#include "base/digest.h"

enum { TJ_ENTRY_VERSION = 1, TJ_ENTRY_HEADER_BYTES = 48 };

typedef enum {
  TJ_ENTRY_TEXT,   /* of the cache: the image that the text of its key compiles to */
  TJ_ENTRY_KERNEL, /* of the cache: the machine code that the kernel of its key compiles to */
  TJ_ENTRY_BUNDLE, /* images (bundle.h); without a key */
  TJ_ENTRY_PART,   /* of the cache: a part of a kernel's machine code, by the IR that it is made of */
  TJ_ENTRY_LINKED  /* of the cache: what a device's driver has made of the code of its key */
} tj_entry_kind;

typedef struct {
  tj_bytes key, payload; /* in the file's bytes */
} tj_entry;

typedef enum {
  TJ_ENTRY_WHOLE,
  TJ_ENTRY_FOREIGN,       /* no entry, or of another kind */
  TJ_ENTRY_OTHER_VERSION, /* of the form of files */
  TJ_ENTRY_DAMAGED
} tj_entry_state;

/* Takes a file apart; `entry` gets what it holds only where it is whole. */
tj_entry_state tj_entry_read(tj_bytes file, tj_entry_kind kind, tj_entry *entry);

/* What a file begins with; the key and the payload follow. */
void tj_entry_header(unsigned char header[TJ_ENTRY_HEADER_BYTES], tj_entry_kind kind, const tj_entry *entry);

#endif

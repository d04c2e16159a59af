/* SPDX-License-Identifier: MIT */
/* Files of compiled kernels whose checksum fits whatever is in them. */
#ifndef TJ_TESTS_FORGED_ENTRY_H
#define TJ_TESTS_FORGED_ENTRY_H

#include "base/digest.h"
#include "launch/image/entry.h"

/* The header has room for it. */
static inline void make_checksum_right(void *file, size_t size) {
  enum { CHECKSUM_AT = TJ_ENTRY_HEADER_BYTES - TJ_DIGEST_BYTES };
  unsigned char *at = file;
  tj_digesting digesting = tj_digest_begin();
  tj_digest_add(&digesting, (tj_bytes){at, CHECKSUM_AT});
  tj_digest_add(&digesting, (tj_bytes){at + TJ_ENTRY_HEADER_BYTES, size - TJ_ENTRY_HEADER_BYTES});
  tj_digest checksum = tj_digest_end(&digesting);
  memcpy(at + CHECKSUM_AT, checksum.byte, sizeof checksum.byte);
}

#endif

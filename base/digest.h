/* SPDX-License-Identifier: MIT */
/* Digests: 128 bits that tell byte sequences apart, for keys and checksums.
 *
 * The function is BLAKE2b (RFC 7693) with a result of 16 bytes: nobody finds two sequences of one digest by accident,
 * and short of 2^64 attempts not on purpose either. */
#ifndef TJ_BASE_DIGEST_H
#define TJ_BASE_DIGEST_H

#include "base/bytes.h"

enum { TJ_DIGEST_BYTES = 16, TJ_DIGEST_BLOCK = 128 };

typedef struct {
  unsigned char byte[TJ_DIGEST_BYTES];
} tj_digest;

/* A digest in the making: begin, add any number of times, end. */
typedef struct {
  uint64_t state[8];
  uint64_t count; /* bytes that went into the state */
  unsigned char block[TJ_DIGEST_BLOCK];
  size_t filled;
} tj_digesting;

tj_digesting tj_digest_begin(void);
void tj_digest_add(tj_digesting *digesting, tj_bytes bytes);
tj_digest tj_digest_end(tj_digesting *digesting);

/* The digest of one run of bytes. */
tj_digest tj_digest_of(tj_bytes bytes);

static inline bool tj_digest_equal(tj_digest a, tj_digest b) {
  return memcmp(a.byte, b.byte, TJ_DIGEST_BYTES) == 0;
}

#endif

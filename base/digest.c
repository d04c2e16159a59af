/* SPDX-License-Identifier: MIT */
/* BLAKE2b without a key, as RFC 7693 defines it. */
#include "base/digest.h"

static const uint64_t initial[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

/* Which words of the block each round mixes in. */
static const unsigned char schedule[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline uint64_t rotated(uint64_t value, unsigned by) {
  return value >> by | value << (64 - by);
}

static inline void mix(uint64_t v[16], unsigned a, unsigned b, unsigned c, unsigned d, uint64_t x, uint64_t y) {
  v[a] += v[b] + x;
  v[d] = rotated(v[d] ^ v[a], 32);
  v[c] += v[d];
  v[b] = rotated(v[b] ^ v[c], 24);
  v[a] += v[b] + y;
  v[d] = rotated(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = rotated(v[b] ^ v[c], 63);
}

static inline void mix_round(uint64_t v[16], const uint64_t word[16], const unsigned char order[16]) {
  mix(v, 0, 4, 8, 12, word[order[0]], word[order[1]]);
  mix(v, 1, 5, 9, 13, word[order[2]], word[order[3]]);
  mix(v, 2, 6, 10, 14, word[order[4]], word[order[5]]);
  mix(v, 3, 7, 11, 15, word[order[6]], word[order[7]]);
  mix(v, 0, 5, 10, 15, word[order[8]], word[order[9]]);
  mix(v, 1, 6, 11, 12, word[order[10]], word[order[11]]);
  mix(v, 2, 7, 8, 13, word[order[12]], word[order[13]]);
  mix(v, 3, 4, 9, 14, word[order[14]], word[order[15]]);
}

static void compress(tj_digesting *d, const unsigned char block[TJ_DIGEST_BLOCK], bool is_last) {
  uint64_t v[16], word[16];
  for (size_t i = 0; i < 16; i++)
    word[i] = tj_bytes_u64((tj_bytes){block, TJ_DIGEST_BLOCK}, 8 * i);
  memcpy(v, d->state, sizeof d->state);
  memcpy(v + 8, initial, sizeof initial);
  v[12] ^= d->count;
  v[14] ^= is_last ? UINT64_MAX : 0;
#pragma GCC unroll 12
  for (unsigned round = 0; round < 12; round++)
    mix_round(v, word, schedule[round % 10]);
  for (unsigned i = 0; i < 8; i++)
    d->state[i] ^= v[i] ^ v[i + 8];
}

tj_digesting tj_digest_begin(void) {
  tj_digesting d = {.count = 0};
  memcpy(d.state, initial, sizeof initial);
  d.state[0] ^= 0x01010000 ^ TJ_DIGEST_BYTES;
  return d;
}

/* The last block is compressed by tj_digest_end, so a full one waits until more comes. */
void tj_digest_add(tj_digesting *d, tj_bytes bytes) {
  const unsigned char *from = bytes.data;
  for (size_t left = bytes.size; left > 0;) {
    if (d->filled == TJ_DIGEST_BLOCK) {
      d->count += TJ_DIGEST_BLOCK;
      compress(d, d->block, false);
      d->filled = 0;
    }
    size_t room = TJ_DIGEST_BLOCK - d->filled, part = left < room ? left : room;
    memcpy(d->block + d->filled, from, part);
    d->filled += part;
    from += part;
    left -= part;
  }
}

tj_digest tj_digest_end(tj_digesting *d) {
  tj_digest digest;
  memset(d->block + d->filled, 0, TJ_DIGEST_BLOCK - d->filled);
  d->count += d->filled;
  compress(d, d->block, true);
  for (size_t i = 0; i < TJ_DIGEST_BYTES; i++)
    digest.byte[i] = (unsigned char)(d->state[i / 8] >> (8 * (i % 8)));
  return digest;
}

tj_digest tj_digest_of(tj_bytes bytes) {
  tj_digesting d = tj_digest_begin();
  tj_digest_add(&d, bytes);
  return tj_digest_end(&d);
}

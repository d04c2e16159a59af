/* SPDX-License-Identifier: MIT */
/* Headers of entries, made and checked. */
#include "launch/image/entry.h"

enum { VERSION_AT = 8, KIND_AT = 12, KEY_SIZE_AT = 16, PAYLOAD_SIZE_AT = 24, CHECKSUM_AT = 32 };

static const char magic[8] = {'t', 'i', 'l', 'e', 'j', 'i', 't', '\n'};

static tj_digest checksum_of(const void *header, const tj_entry *entry) {
  tj_digesting digesting = tj_digest_begin();
  tj_digest_add(&digesting, (tj_bytes){header, CHECKSUM_AT});
  tj_digest_add(&digesting, entry->key);
  tj_digest_add(&digesting, entry->payload);
  return tj_digest_end(&digesting);
}

tj_entry_state tj_entry_read(tj_bytes file, tj_entry_kind kind, tj_entry *entry) {
  if (file.size < sizeof magic || memcmp(file.data, magic, sizeof magic) != 0)
    return TJ_ENTRY_FOREIGN;
  if (file.size < TJ_ENTRY_HEADER_BYTES)
    return TJ_ENTRY_DAMAGED;
  if (tj_bytes_u32(file, VERSION_AT) != TJ_ENTRY_VERSION)
    return TJ_ENTRY_OTHER_VERSION;
  if (tj_bytes_u32(file, KIND_AT) != (uint32_t)kind)
    return TJ_ENTRY_FOREIGN;
  uint64_t key_size = tj_bytes_u64(file, KEY_SIZE_AT), payload_size = tj_bytes_u64(file, PAYLOAD_SIZE_AT);
  uint64_t rest = file.size - TJ_ENTRY_HEADER_BYTES;
  if (key_size > rest || payload_size != rest - key_size)
    return TJ_ENTRY_DAMAGED;
  tj_entry found = {tj_bytes_slice(file, TJ_ENTRY_HEADER_BYTES, key_size),
                    tj_bytes_slice(file, TJ_ENTRY_HEADER_BYTES + key_size, payload_size)};
  tj_digest checksum = checksum_of(file.data, &found);
  if (memcmp(checksum.byte, (const char *)file.data + CHECKSUM_AT, TJ_DIGEST_BYTES) != 0)
    return TJ_ENTRY_DAMAGED;
  *entry = found;
  return TJ_ENTRY_WHOLE;
}

static void put_integer(unsigned char *to, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++)
    to[i] = (unsigned char)(value >> (8 * i));
}

void tj_entry_header(unsigned char header[TJ_ENTRY_HEADER_BYTES], tj_entry_kind kind, const tj_entry *entry) {
  memcpy(header, magic, sizeof magic);
  put_integer(header + VERSION_AT, TJ_ENTRY_VERSION, 4);
  put_integer(header + KIND_AT, (uint64_t)kind, 4);
  put_integer(header + KEY_SIZE_AT, entry->key.size, 8);
  put_integer(header + PAYLOAD_SIZE_AT, entry->payload.size, 8);
  tj_digest checksum = checksum_of(header, entry);
  memcpy(header + CHECKSUM_AT, checksum.byte, TJ_DIGEST_BYTES);
}

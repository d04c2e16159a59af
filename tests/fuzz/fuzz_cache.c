/* SPDX-License-Identifier: MIT */
/* Any bytes, as a file of the cache with the checksum made right: the entry is refused and removed, or what it holds
 * becomes code, of which launches find out all that they ask before the kernel starts. */
#include "base/digest.h"
#include "jit/cache/cache.h"
#include "jit/cache/cache_sweep.h"
#include "launch/api/code.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of the form of files; see jit/cache/cache_disk.c. */
enum { KIND_AT = 12, KEY_SIZE_AT = 16, CHECKSUM_AT = 32, HEADER_BYTES = 48 };

enum { PATH_SIZE = 512, LARGEST_BUFFER = 1 << 20 };

static char folder[PATH_SIZE];
static tj_context *context;
static tj_cache *cache;

static void remove_folder(void) {
  tj_cache_clear(cache);
  tj_context_destroy(context);
  tj_cache_destroy(cache);
  char path[PATH_SIZE + 16];
  snprintf(path, sizeof path, "%s/.written", folder);
  unlink(path);
  rmdir(folder);
}

static void open_cache(void) {
  const char *base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/tilejit_fuzz_XXXXXX", base != NULL ? base : "/tmp");
  unsetenv("TILEJIT_CACHE");
  tj_cache_options options = {.directory = folder, .memory_bytes = TJ_CACHE_NONE};
  if (mkdtemp(folder) == NULL || tj_cache_create(NULL, &options, &cache) != TJ_OK ||
      tj_context_create(NULL, &context) != TJ_OK || cache->disk.folder < 0)
    abort();
  atexit(remove_folder);
}

/* --- the file --- */

static void make_checksum_right(unsigned char *file, size_t size) {
  tj_digesting digesting = tj_digest_begin();
  tj_digest_add(&digesting, (tj_bytes){file, CHECKSUM_AT});
  tj_digest_add(&digesting, (tj_bytes){file + HEADER_BYTES, size - HEADER_BYTES});
  tj_digest checksum = tj_digest_end(&digesting);
  memcpy(file + CHECKSUM_AT, checksum.byte, sizeof checksum.byte);
}

/* The key that the file says it has. */
static tj_cache_key key_of(tj_bytes file) {
  uint64_t size = tj_bytes_u64(file, KEY_SIZE_AT);
  bool is_inside = tj_bytes_contain(file, HEADER_BYTES, size);
  return tj_cache_key_of(tj_bytes_slice(file, HEADER_BYTES, is_inside ? size : 0));
}

static void write_file(tj_entry_kind kind, const tj_cache_key *key, tj_bytes bytes) {
  char path[PATH_SIZE + TJ_ENTRY_NAME_SIZE];
  int length = snprintf(path, sizeof path, "%s/", folder);
  for (size_t i = 0; i < TJ_DIGEST_BYTES; i++)
    length += snprintf(path + length, sizeof path - (size_t)length, "%02x", key->digest.byte[i]);
  snprintf(path + length, sizeof path - (size_t)length, kind == TJ_ENTRY_TEXT ? ".text" : ".kernel");
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || write(file, bytes.data, bytes.size) != (ssize_t)bytes.size || close(file) != 0)
    abort();
}

/* --- what it holds --- */

static void describe_and_bind(tj_launch *launch, size_t number) {
  const tj_argument *argument;
  if (tj_launch_argument(launch, number, &argument) != TJ_OK)
    return;
  size_t bytes;
  if (__builtin_mul_overflow((size_t)argument->element_count, argument->element_bytes, &bytes) ||
      bytes > LARGEST_BUFFER)
    bytes = LARGEST_BUFFER;
  char *data = calloc(bytes + 1, 1);
  if (data != NULL)
    tj_launch_bind(launch, argument->name, data, bytes);
  free(data);
}

static void prepare_launch(tj_image *image) {
  const tj_code code = {.context = context, .image = image};
  const int64_t shape[] = {8, 8};
  tj_launch *launch;
  if (tj_launch_create(context, &code, &launch) != TJ_OK)
    abort();
  for (uint32_t i = 0; i < image->plan->buffer_count; i++)
    tj_launch_set_shape(launch, image->plan->buffer[i].name, shape, 2);
  for (uint32_t i = 0; i < image->plan->parameter_count; i++)
    tj_launch_set_parameter(launch, image->plan->parameter[i].name, 8);
  for (uint32_t i = 0; i <= image->plan->buffer_count; i++)
    describe_and_bind(launch, i);
  tj_launch_destroy(launch);
}

static void find_text(const tj_cache_key *key) {
  tj_code_origin origin;
  tj_image *image = tj_cache_find_text(cache, key, &origin);
  if (image != NULL)
    prepare_launch(image);
  tj_image_release(image);
}

static void find_kernel(const tj_cache_key *key) {
  const tj_launch_variant variant = {.symbol = "tilejit_k", .condition = TJ_NO_EXPRESSION, .workgroup_size = 1};
  const tj_launch_plan plan = {.kernel = "k", .target = "host", .variant = &variant, .variant_count = 1};
  tj_machine_release(tj_cache_find_kernel(cache, key, &plan));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (cache == NULL)
    open_cache();
  unsigned char *file = malloc(size + 1);
  if (size < HEADER_BYTES || file == NULL) {
    free(file);
    return 0;
  }
  memcpy(file, data, size);
  make_checksum_right(file, size);
  const tj_bytes bytes = {file, size};
  tj_entry_kind kind = tj_bytes_u32(bytes, KIND_AT) == TJ_ENTRY_KERNEL ? TJ_ENTRY_KERNEL : TJ_ENTRY_TEXT;
  tj_cache_key key = key_of(bytes);
  write_file(kind, &key, bytes);
  if (kind == TJ_ENTRY_TEXT)
    find_text(&key);
  else
    find_kernel(&key);
  tj_cache_clear(cache);
  free(file);
  return 0;
}

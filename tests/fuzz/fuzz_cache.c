/* SPDX-License-Identifier: MIT */
/* Any bytes, as a file of the cache with the checksum made right: the entry is refused and removed, or what it holds
 * becomes code, of which launches find out all that they ask before the kernel starts; and variants that wait are
 * read and lowered. */
#include "jit/cache/cache.h"
#include "jit/cache/cache_sweep.h"
#include "launch/api/code.h"
#include "tests/unit/support/forged_entry.h"
#include "tests/unit/support/lowered_bytes.h"
#include "tests/unit/support/prepared_code.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of the form of files: launch/image/entry.h. */
enum { KIND_AT = 12, KEY_SIZE_AT = 16 };

enum { PATH_SIZE = 512 };

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

/* The key that the file says it has. */
static tj_cache_key key_of(tj_bytes file) {
  uint64_t size = tj_bytes_u64(file, KEY_SIZE_AT);
  bool is_inside = tj_bytes_contain(file, TJ_ENTRY_HEADER_BYTES, size);
  return tj_cache_key_of(tj_bytes_slice(file, TJ_ENTRY_HEADER_BYTES, is_inside ? size : 0));
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

static void lower_waiting(const tj_machine *machine, const char *target) {
  if (machine->kernel.size > 0)
    lower_bytes(target, machine->kernel);
}

static void find_text(const tj_cache_key *key) {
  tj_code_origin origin;
  tj_image *image = tj_cache_find_text(cache, key, &origin);
  const tj_code code = {.context = context, .image = image};
  if (image != NULL && !prepare_anything(context, &code))
    abort();
  if (image != NULL)
    lower_waiting(image->machine, image->plan->target);
  tj_image_release(image);
}

static void find_kernel(const tj_cache_key *key) {
  const tj_launch_variant variant = {.symbol = "tilejit_k", .condition = TJ_NO_EXPRESSION, .workgroup_size = 1};
  const tj_launch_plan plan = {.kernel = "k", .target = "host", .variant = &variant, .variant_count = 1};
  tj_machine *machine = tj_cache_find_kernel(cache, key, &plan);
  if (machine != NULL)
    lower_waiting(machine, plan.target);
  tj_machine_release(machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (cache == NULL)
    open_cache();
  unsigned char *file = malloc(size + 1);
  if (size < TJ_ENTRY_HEADER_BYTES || file == NULL) {
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

/* SPDX-License-Identifier: MIT */
/* Any bytes, as a bundle with the checksum made right: it is refused, or what it holds becomes code, of which
 * launches find out all that they ask before the kernel starts. No compiler is linked. */
#include "tests/unit/support/forged_entry.h"
#include "tests/unit/support/prepared_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tj_context *context;
  tj_bundle *bundle;
  unsigned char *file = malloc(size + 1);
  if (file == NULL || tj_context_create(NULL, &context) != TJ_OK)
    abort();
  memcpy(file, data, size);
  if (size >= TJ_ENTRY_HEADER_BYTES)
    make_checksum_right(file, size);
  if (tj_bundle_open(context, file, size, &bundle) == TJ_OK) {
    if (!prepare_everything(context, bundle))
      abort();
    tj_bundle_destroy(bundle);
  }
  tj_context_destroy(context);
  free(file);
  return 0;
}

/* SPDX-License-Identifier: MIT */
/* The rows of resource.def, and finding them. */
#include "base/machine/resource.h"

#include <stddef.h>

static const tj_buffer_resource rows[] = {
#define RESOURCE(major, minor, word3, end, address_end, streamed, counts)                                            \
  {major, minor, word3, end, address_end, streamed, counts},
#define NO_RESOURCE(major, minor) {major, minor, 0, 0, 0, 0, false},
#include "base/machine/resource.def"
};

const tj_buffer_resource *tj_buffer_resource_of(uint32_t major, uint32_t minor) {
  const tj_buffer_resource *found = NULL;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].major < major || (rows[i].major == major && rows[i].minor <= minor))
      found = &rows[i];
  }
  return found != NULL && found->word3 != 0 ? found : NULL;
}

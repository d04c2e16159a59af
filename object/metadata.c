/* SPDX-License-Identifier: MIT */
/* Reading code object metadata: tables of keys, and one loop over a map's pairs that serves them all. Keys that no
 * table has are passed over, as the format asks. */
#include "object/metadata.h"

#include "base/msgpack.h"
#include "base/text.h"

typedef struct {
  tj_job *job;
  tj_msgpack_reader from;
} reader;

/* A key, how its value is read, and where in the struct at hand it goes. */
typedef struct {
  const char *key;
  void (*read)(reader *in, const char *key, void *field);
  size_t offset;
} key_row;

static _Noreturn void fail_not(reader *in, const char *key, const char *what) {
  tj_fail(in->job, TJ_CODE_OBJECT, "metadata: %s is not %s", key, what);
}

static tj_msgpack_value read_value(reader *in) {
  tj_msgpack_value value;
  if (!tj_msgpack_next(&in->from, &value))
    tj_fail(in->job, TJ_CODE_OBJECT, "metadata: it ends too early, or is not MessagePack");
  return value;
}

/* The head of a container, of which every element has at least one byte. */
static uint32_t read_head(reader *in, const char *key, tj_msgpack_kind kind, const char *what) {
  tj_msgpack_value value = read_value(in);
  if (value.kind != kind)
    fail_not(in, key, what);
  if (value.count > in->from.bytes.size - in->from.next)
    tj_fail(in->job, TJ_CODE_OBJECT, "metadata: %s has more elements than bytes", key);
  tj_spend(in->job, value.count);
  return value.count;
}

static void read_string(reader *in, const char *key, void *field) {
  tj_msgpack_value value = read_value(in);
  if (value.kind != TJ_MSGPACK_STRING || (value.bytes.size != 0 && memchr(value.bytes.data, 0, value.bytes.size)))
    fail_not(in, key, "a string");
  *(const char **)field = tj_string_copy(in->job, value.bytes.data, value.bytes.size);
}

static void read_u32(reader *in, const char *key, void *field) {
  tj_msgpack_value value = read_value(in);
  if (value.kind != TJ_MSGPACK_UNSIGNED || value.integer > UINT32_MAX)
    fail_not(in, key, "an unsigned 32-bit integer");
  *(uint32_t *)field = (uint32_t)value.integer;
}

static void read_boolean(reader *in, const char *key, void *field) {
  tj_msgpack_value value = read_value(in);
  if (value.kind != TJ_MSGPACK_BOOLEAN)
    fail_not(in, key, "a boolean");
  *(bool *)field = value.boolean;
}

static void read_three(reader *in, const char *key, void *field) {
  if (read_head(in, key, TJ_MSGPACK_ARRAY, "an array") != 3)
    fail_not(in, key, "an array of three");
  for (size_t i = 0; i < 3; i++)
    read_u32(in, key, (uint32_t *)field + i);
}

static const key_row *find_row(const key_row *rows, size_t count, tj_bytes key) {
  for (size_t i = 0; i < count; i++)
    if (tj_bytes_are(key, rows[i].key))
      return &rows[i];
  return NULL;
}

/* Reads a map into the struct at `to`, by the table. */
static void read_map(reader *in, const char *what, const key_row *rows, size_t row_count, void *to) {
  uint32_t pairs = read_head(in, what, TJ_MSGPACK_MAP, "a map");
  for (uint32_t i = 0; i < pairs; i++) {
    tj_msgpack_value key = read_value(in);
    const key_row *row = key.kind == TJ_MSGPACK_STRING ? find_row(rows, row_count, key.bytes) : NULL;
    if (row != NULL)
      row->read(in, row->key, (char *)to + row->offset);
    else if (!tj_msgpack_skip(&in->from))
      tj_fail(in->job, TJ_CODE_OBJECT, "metadata: it ends too early, or is not MessagePack");
  }
}

#define ROWS(table) table, sizeof(table) / sizeof *(table)

static const key_row argument_rows[] = {
    {".name", read_string, offsetof(tj_metadata_argument, name)},
    {".offset", read_u32, offsetof(tj_metadata_argument, offset)},
    {".size", read_u32, offsetof(tj_metadata_argument, size)},
    {".value_kind", read_string, offsetof(tj_metadata_argument, value_kind)},
    {".address_space", read_string, offsetof(tj_metadata_argument, address_space)},
};

static void read_argument(reader *in, tj_metadata_argument *argument) {
  *argument = (tj_metadata_argument){.name = "", .value_kind = "", .address_space = ""};
  read_map(in, "an argument", ROWS(argument_rows), argument);
  argument->is_hidden = strncmp(argument->value_kind, "hidden_", strlen("hidden_")) == 0;
}

static void read_arguments(reader *in, const char *key, void *field) {
  tj_kernel_metadata *kernel = field;
  uint32_t count = read_head(in, key, TJ_MSGPACK_ARRAY, "an array");
  tj_metadata_argument *argument = TJ_NEW_ARRAY(in->job, tj_metadata_argument, count);
  for (uint32_t i = 0; i < count; i++)
    read_argument(in, &argument[i]);
  kernel->argument = argument;
  kernel->argument_count = count;
}

static const key_row kernel_rows[] = {
    {".name", read_string, offsetof(tj_kernel_metadata, name)},
    {".symbol", read_string, offsetof(tj_kernel_metadata, symbol)},
    {".kernarg_segment_size", read_u32, offsetof(tj_kernel_metadata, kernarg_bytes)},
    {".kernarg_segment_align", read_u32, offsetof(tj_kernel_metadata, kernarg_alignment)},
    {".group_segment_fixed_size", read_u32, offsetof(tj_kernel_metadata, group_segment_bytes)},
    {".private_segment_fixed_size", read_u32, offsetof(tj_kernel_metadata, private_segment_bytes)},
    {".sgpr_count", read_u32, offsetof(tj_kernel_metadata, sgprs)},
    {".vgpr_count", read_u32, offsetof(tj_kernel_metadata, vgprs)},
    {".agpr_count", read_u32, offsetof(tj_kernel_metadata, agprs)},
    {".sgpr_spill_count", read_u32, offsetof(tj_kernel_metadata, sgpr_spills)},
    {".vgpr_spill_count", read_u32, offsetof(tj_kernel_metadata, vgpr_spills)},
    {".wavefront_size", read_u32, offsetof(tj_kernel_metadata, wave_size)},
    {".max_flat_workgroup_size", read_u32, offsetof(tj_kernel_metadata, max_flat_workgroup_size)},
    {".reqd_workgroup_size", read_three, offsetof(tj_kernel_metadata, required_workgroup_size)},
    {".uses_dynamic_stack", read_boolean, offsetof(tj_kernel_metadata, uses_dynamic_stack)},
    {".args", read_arguments, 0},
};

static void read_kernels(reader *in, const char *key, void *field) {
  tj_metadata *metadata = field;
  uint32_t count = read_head(in, key, TJ_MSGPACK_ARRAY, "an array");
  tj_kernel_metadata *kernel = TJ_NEW_ARRAY(in->job, tj_kernel_metadata, count);
  for (uint32_t i = 0; i < count; i++) {
    kernel[i] = (tj_kernel_metadata){.name = "", .symbol = ""};
    read_map(in, "a kernel", ROWS(kernel_rows), &kernel[i]);
  }
  metadata->kernel = kernel;
  metadata->kernel_count = count;
}

static const key_row metadata_rows[] = {
    {"amdhsa.target", read_string, offsetof(tj_metadata, target)},
    {"amdhsa.kernels", read_kernels, 0},
};

const tj_metadata *tj_metadata_read(tj_job *job, tj_bytes bytes) {
  reader in = {job, {bytes, 0}};
  tj_metadata *metadata = TJ_NEW(job, tj_metadata);
  metadata->target = "";
  read_map(&in, "the metadata", ROWS(metadata_rows), metadata);
  return metadata;
}

/* SPDX-License-Identifier: MIT */
/* Reading a code object's metadata, and holding it against the header's flags and the kernels' descriptors. Keys that
 * have no meaning here are passed over. */
#include "rt/sim/load/notes.h"

#include "base/msgpack.h"

enum { NOTE_HEADER = 12, NOTE_METADATA = 32, LONGEST_TEXT = 256 };

/* --- the note --- */

static uint64_t round_up_to_4(uint32_t size) {
  return ((uint64_t)size + 3) & ~UINT64_C(3);
}

tj_bytes tj_sim_find_metadata(tj_job *job, tj_bytes notes) {
  uint64_t at = 0;
  while (tj_bytes_contain(notes, at, NOTE_HEADER)) {
    tj_bytes header = tj_bytes_slice(notes, at, NOTE_HEADER);
    uint32_t name_size = tj_bytes_u32(header, 0), size = tj_bytes_u32(header, 4);
    uint64_t name = at + NOTE_HEADER, data = name + round_up_to_4(name_size);
    if (!tj_bytes_contain(notes, name, name_size) || !tj_bytes_contain(notes, data, size))
      tj_fail(job, TJ_CODE_OBJECT, "a note reaches past the end of its segment");
    bool is_vendors = name_size == sizeof "AMDGPU" && tj_bytes_are(tj_bytes_slice(notes, name, 6), "AMDGPU");
    if (is_vendors && tj_bytes_u32(header, 8) == NOTE_METADATA)
      return tj_bytes_slice(notes, data, size);
    tj_spend(job, 1);
    at = data + round_up_to_4(size);
  }
  return (tj_bytes){NULL, 0};
}

/* --- values --- */

typedef struct {
  tj_job *job;
  const tj_sim_image *image;
  tj_msgpack_reader from;
} reader;

static tj_msgpack_value read_value(reader *in) {
  tj_msgpack_value value;
  if (!tj_msgpack_next(&in->from, &value))
    tj_fail(in->job, TJ_CODE_OBJECT, "its metadata end too early, or are no MessagePack");
  return value;
}

static void skip_value(reader *in) {
  if (!tj_msgpack_skip(&in->from))
    tj_fail(in->job, TJ_CODE_OBJECT, "its metadata end too early, or are no MessagePack");
}

static uint32_t read_count(reader *in, tj_msgpack_kind kind) {
  tj_msgpack_value value = read_value(in);
  if (value.kind != kind || value.count > in->from.bytes.size)
    tj_fail(in->job, TJ_CODE_OBJECT, "its metadata are not structured as they should be");
  tj_spend(in->job, value.count);
  return value.count;
}

static void read_text(reader *in, char text[LONGEST_TEXT]) {
  tj_msgpack_value value = read_value(in);
  if (value.kind != TJ_MSGPACK_STRING || value.bytes.size >= LONGEST_TEXT)
    tj_fail(in->job, TJ_CODE_OBJECT, "a name in its metadata is no string, or too long");
  if (value.bytes.size > 0)
    memcpy(text, value.bytes.data, value.bytes.size);
  text[value.bytes.size] = '\0';
}

static uint64_t read_number(reader *in) {
  tj_msgpack_value value = read_value(in);
  if (value.kind != TJ_MSGPACK_UNSIGNED)
    tj_fail(in->job, TJ_CODE_OBJECT, "a size in its metadata is no unsigned integer");
  return value.integer;
}

static bool is_key(const tj_msgpack_value *key, const char *name) {
  return key->kind == TJ_MSGPACK_STRING && tj_bytes_are(key->bytes, name);
}

/* --- the target --- */

/* As amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-. */
static void check_target(reader *in) {
  char name[LONGEST_TEXT], said[TJ_TARGET_ID_SIZE] = "", expected[TJ_TARGET_ID_SIZE];
  tj_target_id id;
  tj_target_reason reason;
  read_text(in, name);
  const char *target = tj_target_id_in_isa(name);
  if (target != NULL && tj_target_id_parse(target, &id, &reason))
    tj_target_id_write(&id, said);
  tj_target_id_write(&in->image->target, expected);
  if (strcmp(said, expected) != 0)
    tj_fail(in->job, TJ_CODE_OBJECT, "its metadata are for %.100s, its header is for %s", name, expected);
}

/* --- kernels --- */

/* The sizes that metadata and descriptor both have. */
enum { KERNARG, GROUP, PRIVATE, LANES, SIZES };

static const struct {
  const char *key, *what;
} sizes[SIZES] = {
    [KERNARG] = {".kernarg_segment_size", "an argument block"},
    [GROUP] = {".group_segment_fixed_size", "LDS"},
    [PRIVATE] = {".private_segment_fixed_size", "scratch memory"},
    [LANES] = {".wavefront_size", "waves"},
};

static const tj_sim_kernel *read_kernel(reader *in, uint64_t found[SIZES]) {
  char symbol[LONGEST_TEXT] = "";
  uint32_t pairs = read_count(in, TJ_MSGPACK_MAP);
  for (uint32_t i = 0; i < pairs; i++) {
    tj_msgpack_value key = read_value(in);
    unsigned size = 0;
    while (size < SIZES && !is_key(&key, sizes[size].key))
      size++;
    if (size < SIZES)
      found[size] = read_number(in);
    else if (is_key(&key, ".symbol"))
      read_text(in, symbol);
    else
      skip_value(in);
  }
  const tj_sim_kernel *kernel = tj_sim_image_kernel(in->image, symbol);
  if (kernel == NULL)
    tj_fail(in->job, TJ_CODE_OBJECT, "its metadata have the kernel %.100s, which does not exist", symbol);
  return kernel;
}

static void check_kernel(reader *in) {
  uint64_t found[SIZES] = {0};
  const tj_sim_kernel *kernel = read_kernel(in, found);
  const tj_sim_descriptor *d = &kernel->descriptor;
  const uint64_t expected[SIZES] = {
      [KERNARG] = d->kernarg_bytes, [GROUP] = d->group_bytes, [PRIVATE] = d->private_bytes, [LANES] = d->lanes};
  for (unsigned i = 0; i < SIZES; i++) {
    if (found[i] != expected[i])
      tj_fail(in->job, TJ_CODE_OBJECT, "kernel %.100s: %s of %llu by its metadata, of %llu by its descriptor",
              kernel->name, sizes[i].what, (unsigned long long)found[i], (unsigned long long)expected[i]);
  }
}

static void check_kernels(reader *in) {
  uint32_t count = read_count(in, TJ_MSGPACK_ARRAY);
  tj_spend(in->job, (uint64_t)count * in->image->kernel_count);
  if (count != in->image->kernel_count)
    tj_fail(in->job, TJ_CODE_OBJECT, "its metadata have %u kernels, its symbols %u", count, in->image->kernel_count);
  for (uint32_t i = 0; i < count; i++)
    check_kernel(in);
}

void tj_sim_check_metadata(tj_job *job, const tj_sim_image *image, tj_bytes metadata) {
  reader in = {job, image, {metadata, 0}};
  uint32_t pairs = read_count(&in, TJ_MSGPACK_MAP);
  for (uint32_t i = 0; i < pairs; i++) {
    tj_msgpack_value key = read_value(&in);
    if (is_key(&key, "amdhsa.target"))
      check_target(&in);
    else if (is_key(&key, "amdhsa.kernels"))
      check_kernels(&in);
    else
      skip_value(&in);
  }
}

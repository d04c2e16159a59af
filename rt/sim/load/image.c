/* SPDX-License-Identifier: MIT */
/* Reading ELF files of AMDGPU code, and making images of them. */
#include "rt/sim/load/image.h"

#include "base/text.h"
#include "rt/sim/isa/decode.h"
#include "rt/sim/load/descriptor.h"
#include "rt/sim/load/notes.h"

#include <stdio.h>

/* Sizes of the ELF file's tables' entries, and the constants that matter here. */
enum { HEADER = 64, SECTION = 64, SEGMENT = 56, SYMBOL = 24, RELOCATION = 24 };
enum { MACHINE_AMDGPU = 224, ABI_HSA = 64, OLDEST_ABI = 2, NEWEST_ABI = 4, TYPE_SHARED = 3 };
enum {
  SEGMENT_LOAD = 1,
  SEGMENT_NOTE = 4,
  EXECUTABLE = 1,
  WRITABLE = 2,
  SECTION_SYMBOLS = 2,
  SECTION_RELOCATIONS = 4,
  SECTION_DYNAMIC = 11
};
enum { SECTION_IN_MEMORY = 2, SYMBOL_OBJECT = 1, SYMBOL_FUNCTION = 2 };
enum { RELOCATION_ABS64 = 3, RELOCATION_ABS32 = 6, RELOCATION_RELATIVE = 13 };
enum { FLAG_MACHINE = 0xff, XNACK_SHIFT = 8, SRAMECC_SHIFT = 10 };

static const uint64_t largest_image = 1u << 30;

typedef struct {
  tj_job *job;
  tj_bytes file;
  tj_sim_image *image;
  tj_bytes symbols, strings; /* of the symbol table in use */
  tj_bytes metadata;         /* empty: there are none */
} reader;

static tj_bytes slice(const reader *in, uint64_t offset, uint64_t length) {
  if (!tj_bytes_contain(in->file, offset, length))
    tj_fail(in->job, TJ_CODE_OBJECT, "a part of it reaches past the end of the file");
  return tj_bytes_slice(in->file, offset, length);
}

/* --- headers --- */

/* The processor and the features of the header's flags. */
static void read_target(reader *in, uint32_t flags) {
  in->image->processor = tj_sim_processor_of(flags & FLAG_MACHINE);
  if (in->image->processor == NULL)
    tj_fail(in->job, TJ_CODE_OBJECT, "its processor is not simulated");
  tj_target_id *target = &in->image->target;
  snprintf(target->processor, sizeof target->processor, "%s", in->image->processor->name);
  target->feature[TJ_TARGET_XNACK] = (tj_feature)(flags >> XNACK_SHIFT & 3);
  target->feature[TJ_TARGET_SRAMECC] = (tj_feature)(flags >> SRAMECC_SHIFT & 3);
}

static void read_header(reader *in) {
  tj_bytes f = in->file;
  if (f.size < HEADER || memcmp(f.data, "\177ELF\2\1", 6) != 0)
    tj_fail(in->job, TJ_CODE_OBJECT, "it is not a 64-bit little-endian ELF file");
  if (tj_bytes_u16(f, 18) != MACHINE_AMDGPU || tj_bytes_u8(f, 7) != ABI_HSA || tj_bytes_u16(f, 16) != TYPE_SHARED)
    tj_fail(in->job, TJ_CODE_OBJECT, "it is not a shared object for amdgcn-amd-amdhsa");
  if (tj_bytes_u8(f, 8) < OLDEST_ABI || tj_bytes_u8(f, 8) > NEWEST_ABI)
    tj_fail(in->job, TJ_CODE_OBJECT, "its code object version is not 4, 5 or 6");
  read_target(in, tj_bytes_u32(f, 48));
}

/* A table of the file: `count` entries of `size` bytes. */
static tj_bytes read_table(const reader *in, uint64_t offset, uint32_t count, uint32_t entry_size, uint32_t size) {
  if (count > 0 && entry_size != size)
    tj_fail(in->job, TJ_CODE_OBJECT, "a table has entries of %u bytes instead of %u", entry_size, size);
  return slice(in, offset, (uint64_t)count * size);
}

static tj_bytes entry(tj_bytes table, uint32_t number, uint32_t size) {
  return tj_bytes_slice(table, (uint64_t)number * size, size);
}

/* --- segments --- */

static void add_segment(reader *in, tj_bytes header) {
  tj_sim_image *image = in->image;
  tj_sim_segment *segment = &image->segment[image->segment_count];
  *segment = (tj_sim_segment){.address = tj_bytes_u64(header, 16),
                              .memory_size = tj_bytes_u64(header, 40),
                              .bytes = slice(in, tj_bytes_u64(header, 8), tj_bytes_u64(header, 32)),
                              .is_writable = (tj_bytes_u32(header, 4) & WRITABLE) != 0,
                              .is_executable = (tj_bytes_u32(header, 4) & EXECUTABLE) != 0};
  if (segment->bytes.size > segment->memory_size)
    tj_fail(in->job, TJ_CODE_OBJECT, "a segment has more bytes than memory");
  uint64_t end;
  if (__builtin_add_overflow(segment->address, segment->memory_size, &end) || end > largest_image)
    tj_fail(in->job, TJ_CODE_OBJECT, "its image is too large");
  image->size = end > image->size ? end : image->size;
  image->segment_count++;
}

static void read_segments(reader *in) {
  uint32_t count = tj_bytes_u16(in->file, 56);
  tj_bytes table = read_table(in, tj_bytes_u64(in->file, 32), count, tj_bytes_u16(in->file, 54), SEGMENT);
  in->image->segment = TJ_NEW_ARRAY(in->job, tj_sim_segment, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    tj_bytes header = entry(table, i, SEGMENT);
    if (tj_bytes_u32(header, 0) == SEGMENT_LOAD)
      add_segment(in, header);
    else if (tj_bytes_u32(header, 0) == SEGMENT_NOTE && in->metadata.size == 0)
      in->metadata = tj_sim_find_metadata(in->job, slice(in, tj_bytes_u64(header, 8), tj_bytes_u64(header, 32)));
  }
}

static const tj_sim_segment *segment_at(const tj_sim_image *image, uint64_t address) {
  for (uint32_t i = 0; i < image->segment_count; i++) {
    const tj_sim_segment *segment = &image->segment[i];
    if (address >= segment->address && address - segment->address < segment->bytes.size)
      return segment;
  }
  return NULL;
}

/* The file's bytes of a segment from an address on. */
static tj_bytes bytes_at(const tj_sim_image *image, uint64_t address) {
  const tj_sim_segment *segment = segment_at(image, address);
  if (segment == NULL)
    return (tj_bytes){NULL, 0};
  uint64_t offset = address - segment->address;
  return tj_bytes_slice(segment->bytes, offset, segment->bytes.size - offset);
}

/* --- sections, of which symbols and relocations count --- */

typedef struct {
  tj_bytes table;
  uint32_t count;
} sections;

static sections open_sections(const reader *in) {
  uint32_t count = tj_bytes_u16(in->file, 60);
  return (sections){read_table(in, tj_bytes_u64(in->file, 40), count, tj_bytes_u16(in->file, 58), SECTION), count};
}

static uint32_t section_type(tj_bytes header) {
  return tj_bytes_u32(header, 4);
}

static tj_bytes section_bytes(const reader *in, tj_bytes header) {
  return slice(in, tj_bytes_u64(header, 24), tj_bytes_u64(header, 32));
}

static tj_bytes linked_section(const reader *in, const sections *all, tj_bytes header) {
  uint32_t link = tj_bytes_u32(header, 40);
  if (link >= all->count)
    tj_fail(in->job, TJ_CODE_OBJECT, "a section refers to one that does not exist");
  return entry(all->table, link, SECTION);
}

static void check_strings(const reader *in) {
  tj_bytes s = in->strings;
  if (s.size == 0 || tj_bytes_u8(s, s.size - 1) != 0)
    tj_fail(in->job, TJ_CODE_OBJECT, "a string table does not end in a zero byte");
}

static void open_symbols(reader *in, const sections *all, tj_bytes header) {
  in->symbols = section_bytes(in, header);
  in->strings = section_bytes(in, linked_section(in, all, header));
  check_strings(in);
}

/* --- symbols --- */

typedef struct {
  const char *name;
  uint32_t type, section;
  uint64_t value, size;
} symbol;

static uint32_t count_symbols(const reader *in) {
  return (uint32_t)(in->symbols.size / SYMBOL);
}

static symbol read_symbol(const reader *in, uint32_t number) {
  if (number >= count_symbols(in))
    tj_fail(in->job, TJ_CODE_OBJECT, "a relocation's symbol does not exist");
  tj_bytes row = entry(in->symbols, number, SYMBOL);
  uint32_t name = tj_bytes_u32(row, 0);
  if (name >= in->strings.size)
    tj_fail(in->job, TJ_CODE_OBJECT, "a symbol's name lies outside of its string table");
  return (symbol){(const char *)in->strings.data + name, tj_bytes_u8(row, 4) & 15u, tj_bytes_u16(row, 6),
                  tj_bytes_u64(row, 8), tj_bytes_u64(row, 16)};
}

/* --- relocations --- */

static void add_relocation(reader *in, tj_bytes row) {
  tj_sim_image *image = in->image;
  uint32_t type = tj_bytes_u32(row, 8), number = tj_bytes_u32(row, 12);
  uint64_t value = tj_bytes_u64(row, 16);
  if (type == RELOCATION_ABS64 || type == RELOCATION_ABS32) {
    symbol s = read_symbol(in, number);
    if (s.section == 0)
      tj_fail(in->job, TJ_CODE_OBJECT, "the symbol %.100s is not defined", s.name);
    value += s.value;
  } else if (type != RELOCATION_RELATIVE) {
    tj_fail(in->job, TJ_CODE_OBJECT, "it has a relocation of type %u, which is not supported", type);
  }
  tj_sim_relocation relocation = {tj_bytes_u64(row, 0), value, type == RELOCATION_ABS32 ? 4 : 8, true};
  if (relocation.address > image->size || relocation.bytes > image->size - relocation.address)
    tj_fail(in->job, TJ_CODE_OBJECT, "a relocation lies outside of the image");
  image->relocation[image->relocation_count++] = relocation;
}

static bool has_relocations(tj_bytes header) {
  return section_type(header) == SECTION_RELOCATIONS && (tj_bytes_u64(header, 8) & SECTION_IN_MEMORY) != 0;
}

static uint32_t count_relocations(const reader *in, const sections *all) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < all->count; i++) {
    tj_bytes header = entry(all->table, i, SECTION);
    count += has_relocations(header) ? section_bytes(in, header).size / RELOCATION : 0;
  }
  tj_spend(in->job, count);
  return (uint32_t)count;
}

static void read_relocations(reader *in, const sections *all) {
  in->image->relocation = TJ_NEW_ARRAY(in->job, tj_sim_relocation, count_relocations(in, all) + 1u);
  for (uint32_t i = 0; i < all->count; i++) {
    tj_bytes header = entry(all->table, i, SECTION);
    if (!has_relocations(header))
      continue;
    open_symbols(in, all, linked_section(in, all, header));
    tj_bytes rows = section_bytes(in, header);
    for (uint32_t k = 0; k < rows.size / RELOCATION; k++)
      add_relocation(in, entry(rows, k, RELOCATION));
  }
}

/* --- kernels --- */

static bool is_descriptor(const symbol *s) {
  size_t length = strlen(s->name);
  return s->type == SYMBOL_OBJECT && length > 3 && strcmp(s->name + length - 3, ".kd") == 0;
}

/* How long the code at an address is: as its function symbol says, or to the end of its segment. */
static uint64_t code_size(const reader *in, uint64_t address) {
  tj_bytes code = bytes_at(in->image, address);
  for (uint32_t i = 0; i < count_symbols(in); i++) {
    symbol s = read_symbol(in, i);
    if (s.type == SYMBOL_FUNCTION && s.value == address && s.size > 0 && s.size <= code.size)
      return s.size;
  }
  return code.size;
}

static void add_kernel(reader *in, const symbol *s) {
  tj_bytes descriptor = bytes_at(in->image, s->value);
  if (descriptor.size < TJ_SIM_DESCRIPTOR_SIZE)
    tj_fail(in->job, TJ_CODE_OBJECT, "the descriptor %.100s lies outside of the image", s->name);
  uint64_t code = s->value + tj_bytes_u64(descriptor, 16);
  const tj_sim_segment *segment = segment_at(in->image, code);
  if (segment == NULL || !segment->is_executable || code % 4 != 0)
    tj_fail(in->job, TJ_CODE_OBJECT, "the code of %.100s lies outside of the executable segments", s->name);
  tj_spend(in->job, count_symbols(in));
  in->image->kernel[in->image->kernel_count++] =
      (tj_sim_kernel){.name = tj_string_copy(in->job, s->name, strlen(s->name) - 3),
                      .descriptor_address = s->value,
                      .code_address = code,
                      .code_size = code_size(in, code),
                      .descriptor = tj_sim_descriptor_read(descriptor, in->image->processor)};
}

static void read_kernels(reader *in, const sections *all) {
  for (uint32_t i = 0; i < all->count; i++) {
    tj_bytes header = entry(all->table, i, SECTION);
    if (section_type(header) == SECTION_DYNAMIC)
      open_symbols(in, all, header);
  }
  uint32_t count = count_symbols(in);
  tj_spend(in->job, count);
  in->image->kernel = TJ_NEW_ARRAY(in->job, tj_sim_kernel, count + 1u);
  for (uint32_t i = 0; i < count; i++) {
    symbol s = read_symbol(in, i);
    if (is_descriptor(&s))
      add_kernel(in, &s);
  }
}

tj_sim_image *tj_sim_image_read(tj_job *job, tj_bytes bytes) {
  reader in = {.job = job, .file = bytes, .image = TJ_NEW(job, tj_sim_image)};
  read_header(&in);
  read_segments(&in);
  sections all = open_sections(&in);
  read_relocations(&in, &all);
  in.symbols = in.strings = (tj_bytes){NULL, 0};
  read_kernels(&in, &all);
  if (in.metadata.size > 0)
    tj_sim_check_metadata(job, in.image, in.metadata);
  return in.image;
}

/* --- loading --- */

static void relocate(const tj_sim_image *image, const tj_sim_relocation *r) {
  uint64_t value = r->value + (uint64_t)(uintptr_t)image->memory;
  memcpy(image->memory + r->address, &value, r->bytes);
}

void tj_sim_image_load(tj_job *job, tj_sim_image *image, unsigned char *memory) {
  (void)job;
  image->memory = memory;
  memset(memory, 0, image->size);
  for (uint32_t i = 0; i < image->segment_count; i++) {
    const tj_sim_segment *segment = &image->segment[i];
    if (segment->bytes.size > 0)
      memcpy(memory + segment->address, segment->bytes.data, segment->bytes.size);
  }
  for (uint32_t i = 0; i < image->relocation_count; i++)
    relocate(image, &image->relocation[i]);
}

void tj_sim_image_decode(tj_job *job, tj_sim_image *image, void *disassembler, uint32_t lanes) {
  for (uint32_t i = 0; i < image->kernel_count; i++) {
    tj_sim_kernel *kernel = &image->kernel[i];
    if (kernel->descriptor.lanes == lanes)
      kernel->program = tj_sim_decode(job, disassembler,
                                      (tj_bytes){image->memory + kernel->code_address, (size_t)kernel->code_size});
  }
}

/* --- kernels by name --- */

const tj_sim_kernel *tj_sim_image_kernel(const tj_sim_image *image, const char *name) {
  size_t length = strlen(name);
  if (length > 3 && strcmp(name + length - 3, ".kd") == 0)
    length -= 3;
  for (uint32_t i = 0; i < image->kernel_count; i++) {
    const char *candidate = image->kernel[i].name;
    if (strlen(candidate) == length && memcmp(candidate, name, length) == 0)
      return &image->kernel[i];
  }
  return NULL;
}

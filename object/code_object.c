/* SPDX-License-Identifier: MIT */
/* Parsing and checking code objects: the header, then segments, symbols, relocations, metadata, kernels. */
#include "object/code_object.h"

#include "base/text.h"
#include "object/elf.h"

#include <stdio.h>
#include <stdlib.h>

enum { OS_ABI_AMDGPU_HSA = 64, FIRST_ABI_VERSION = 1, LAST_ABI_VERSION = 4, ABI_VERSION_OF_V3 = 1 };
enum { FLAG_MACH = 0xff, FLAG_XNACK_V3 = 0x100, FLAG_SRAMECC_V3 = 0x200, XNACK_SHIFT = 8, SRAMECC_SHIFT = 10 };
enum { GENERIC_VERSION_SHIFT = 24 };
enum { SYMBOL_FROM_SECTION = 3, SYMBOL_FROM_FILE = 4, SECTION_ABSOLUTE = 0xfff1, RELOCATION_SIZE = 24 };
enum { MAX_SEGMENTS = 64 };
enum { NOTE_HEADER = 12, NOTE_METADATA = 32, CODE_ALIGNMENT = 256 };

static const char descriptor_suffix[] = ".kd";
static const char bundle_magic[] = "__CLANG_OFFLOAD_BUNDLE__";

static void check_not_bundle(tj_job *job, tj_bytes bytes) {
  size_t length = strlen(bundle_magic);
  if (bytes.size >= length && memcmp(bytes.data, bundle_magic, length) == 0) {
    tj_note(job, "take the code object out with clang-offload-bundler --unbundle");
    tj_fail(job, TJ_CODE_OBJECT, "it is a bundle of code objects, not a code object");
  }
}

static void check_header(tj_job *job, const tj_elf *elf) {
  if (elf->machine != TJ_ELF_MACHINE_AMDGPU)
    tj_fail(job, TJ_CODE_OBJECT, "it is an ELF file for machine %u, not for AMDGPU (%u)", elf->machine,
            TJ_ELF_MACHINE_AMDGPU);
  if (elf->type != TJ_ELF_SHARED)
    tj_fail(job, TJ_CODE_OBJECT, "it is not linked: an ELF file of type %u, not a shared object (%u)", elf->type,
            TJ_ELF_SHARED);
  if (elf->os_abi != OS_ABI_AMDGPU_HSA)
    tj_fail(job, TJ_CODE_OBJECT, "its OS ABI is %u, not HSA (%u)", elf->os_abi, OS_ABI_AMDGPU_HSA);
  if (elf->abi_version < FIRST_ABI_VERSION || elf->abi_version > LAST_ABI_VERSION)
    tj_fail(job, TJ_CODE_OBJECT, "its ABI version is %u; code object versions 3 to 6 have %u to %u", elf->abi_version,
            FIRST_ABI_VERSION, LAST_ABI_VERSION);
}

static void read_target(tj_job *job, const tj_elf *elf, tj_code_object *object) {
  uint32_t flags = elf->flags;
  object->processor = tj_processor_by_mach(flags & FLAG_MACH);
  if (object->processor == NULL)
    tj_fail(job, TJ_CODE_OBJECT, "its processor (e_flags 0x%x) is not known", flags);
  object->code_object_version = elf->abi_version + 2u;
  if (elf->abi_version == ABI_VERSION_OF_V3) {
    object->xnack = (flags & FLAG_XNACK_V3) != 0 ? TJ_FEATURE_ON : TJ_FEATURE_UNSUPPORTED;
    object->sramecc = (flags & FLAG_SRAMECC_V3) != 0 ? TJ_FEATURE_ON : TJ_FEATURE_UNSUPPORTED;
  } else {
    object->xnack = (tj_feature)(flags >> XNACK_SHIFT & 3);
    object->sramecc = (tj_feature)(flags >> SRAMECC_SHIFT & 3);
  }
  object->generic_version = elf->abi_version == LAST_ABI_VERSION ? flags >> GENERIC_VERSION_SHIFT : 0;
}

static const char *target_id(tj_job *job, const tj_code_object *object) {
  tj_target_id id = {.feature = {[TJ_TARGET_SRAMECC] = object->sramecc, [TJ_TARGET_XNACK] = object->xnack}};
  char text[TJ_TARGET_ID_SIZE];
  snprintf(id.processor, sizeof id.processor, "%s", object->processor->name);
  tj_target_id_write(&id, text);
  return tj_string_copy(job, text, strlen(text));
}

static void check_segment(tj_job *job, const tj_elf_segment *segment, uint64_t end_of_previous) {
  uint64_t end;
  if (segment->bytes.size > segment->memory_size)
    tj_fail(job, TJ_CODE_OBJECT, "a segment has more bytes in the file than in memory");
  if (__builtin_add_overflow(segment->address, segment->memory_size, &end))
    tj_fail(job, TJ_CODE_OBJECT, "a segment reaches past the end of the address space");
  if (segment->address < end_of_previous)
    tj_fail(job, TJ_CODE_OBJECT, "its segments overlap, or are not in the order of their addresses");
  if ((segment->alignment & (segment->alignment - 1)) != 0)
    tj_fail(job, TJ_CODE_OBJECT, "a segment's alignment is not a power of two");
}

static void read_segments(tj_job *job, const tj_elf *elf, tj_code_object *object) {
  tj_segment *segment = TJ_NEW_ARRAY(job, tj_segment, MAX_SEGMENTS);
  uint64_t end = 0;
  for (uint32_t i = 0; i < elf->segment_count; i++) {
    const tj_elf_segment *from = &elf->segment[i];
    if (from->type != TJ_ELF_SEGMENT_LOAD)
      continue;
    if (object->segment_count == MAX_SEGMENTS)
      tj_fail(job, TJ_CODE_OBJECT, "it has more than %u loadable segments", MAX_SEGMENTS);
    check_segment(job, from, end);
    end = from->address + from->memory_size;
    segment[object->segment_count++] = (tj_segment){.address = from->address,
                                                    .memory_size = from->memory_size,
                                                    .alignment = from->alignment == 0 ? 1 : from->alignment,
                                                    .bytes = from->bytes,
                                                    .is_readable = (from->flags & TJ_ELF_SEGMENT_READABLE) != 0,
                                                    .is_writable = (from->flags & TJ_ELF_SEGMENT_WRITABLE) != 0,
                                                    .is_executable = (from->flags & TJ_ELF_SEGMENT_EXECUTABLE) != 0};
  }
  object->segment = segment;
}

static bool is_place(const tj_elf_symbol *symbol) {
  return symbol->section != TJ_ELF_SECTION_UNDEFINED && symbol->section != SECTION_ABSOLUTE &&
         symbol->type != SYMBOL_FROM_SECTION && symbol->type != SYMBOL_FROM_FILE && symbol->name[0] != '\0';
}

static tj_object_symbol_kind kind_of(const tj_elf_symbol *symbol) {
  switch (symbol->type) {
  case TJ_ELF_SYMBOL_FUNCTION:
    return TJ_SYMBOL_FUNCTION;
  case TJ_ELF_SYMBOL_OBJECT:
    return TJ_SYMBOL_OBJECT;
  default:
    return TJ_SYMBOL_OTHER;
  }
}

static void read_symbols(tj_job *job, const tj_elf *elf, tj_code_object *object) {
  tj_object_symbol *symbol = TJ_NEW_ARRAY(job, tj_object_symbol, elf->symbol_count);
  for (uint32_t i = 0; i < elf->symbol_count; i++) {
    const tj_elf_symbol *from = &elf->symbol[i];
    if (is_place(from))
      symbol[object->symbol_count++] = (tj_object_symbol){.name = from->name,
                                                          .address = from->value,
                                                          .size = from->size,
                                                          .kind = kind_of(from),
                                                          .is_global = from->binding != TJ_ELF_BIND_LOCAL};
  }
  object->symbol = symbol;
}

static bool is_relocation_table(const tj_elf_section *section) {
  return section->type == TJ_ELF_SECTION_RELA && (section->flags & TJ_ELF_SECTION_ALLOCATED) != 0;
}

static tj_relocation read_relocation(tj_job *job, tj_bytes entry, tj_elf_symbols symbols) {
  tj_relocation relocation = {.address = tj_bytes_u64(entry, 0),
                              .type = tj_bytes_u32(entry, 8),
                              .addend = (int64_t)tj_bytes_u64(entry, 16),
                              .symbol = ""};
  uint32_t index = tj_bytes_u32(entry, 12);
  if (index == 0)
    return relocation;
  if (index >= symbols.count)
    tj_fail(job, TJ_CODE_OBJECT, "a relocation refers to a symbol that does not exist");
  relocation.symbol = symbols.symbol[index].name;
  relocation.symbol_address = symbols.symbol[index].value;
  relocation.is_defined = symbols.symbol[index].section != TJ_ELF_SECTION_UNDEFINED;
  return relocation;
}

static void read_relocation_table(tj_job *job, const tj_elf *elf, const tj_elf_section *section,
                                  tj_relocation *relocation) {
  tj_elf_symbols symbols = {NULL, 0};
  if (section->link != 0)
    symbols = tj_elf_symbols_of(job, elf, section->link, TJ_CODE_OBJECT);
  for (size_t at = 0; at < section->bytes.size; at += RELOCATION_SIZE)
    *relocation++ = read_relocation(job, tj_bytes_slice(section->bytes, at, RELOCATION_SIZE), symbols);
}

static uint32_t count_relocations(tj_job *job, const tj_elf_section *section) {
  if (section->bytes.size % RELOCATION_SIZE != 0 || section->bytes.size / RELOCATION_SIZE > UINT32_MAX)
    tj_fail(job, TJ_CODE_OBJECT, "a relocation table has part of an entry");
  tj_spend(job, section->bytes.size / RELOCATION_SIZE);
  return (uint32_t)(section->bytes.size / RELOCATION_SIZE);
}

static void read_relocations(tj_job *job, const tj_elf *elf, tj_code_object *object) {
  const tj_elf_section *only = NULL;
  for (uint32_t i = 0; i < elf->section_count; i++) {
    if (!is_relocation_table(&elf->section[i]))
      continue;
    if (only != NULL)
      tj_fail(job, TJ_CODE_OBJECT, "it has more than one table of dynamic relocations");
    only = &elf->section[i];
  }
  if (only == NULL)
    return;
  object->relocation_count = count_relocations(job, only);
  tj_relocation *relocation = TJ_NEW_ARRAY(job, tj_relocation, object->relocation_count);
  read_relocation_table(job, elf, only, relocation);
  object->relocation = relocation;
}

static uint64_t round_up_to_4(uint32_t size) {
  return ((uint64_t)size + 3) & ~UINT64_C(3);
}

/* The description of the AMDGPU metadata note among `notes`; empty when it is not there. */
static tj_bytes find_note(tj_job *job, tj_bytes notes) {
  uint64_t at = 0;
  while (tj_bytes_contain(notes, at, NOTE_HEADER)) {
    tj_bytes header = tj_bytes_slice(notes, at, NOTE_HEADER);
    uint32_t name_size = tj_bytes_u32(header, 0), size = tj_bytes_u32(header, 4);
    uint64_t name_at = at + NOTE_HEADER, data_at = name_at + round_up_to_4(name_size);
    if (!tj_bytes_contain(notes, name_at, name_size) || !tj_bytes_contain(notes, data_at, size))
      tj_fail(job, TJ_CODE_OBJECT, "a note reaches past the end of its segment");
    bool is_ours = name_size == sizeof "AMDGPU" && tj_bytes_are(tj_bytes_slice(notes, name_at, 6), "AMDGPU");
    if (is_ours && tj_bytes_u32(header, 8) == NOTE_METADATA)
      return tj_bytes_slice(notes, data_at, size);
    at = data_at + round_up_to_4(size);
    tj_spend(job, 1);
  }
  return (tj_bytes){NULL, 0};
}

static tj_bytes find_metadata(tj_job *job, const tj_elf *elf) {
  tj_bytes found = {NULL, 0};
  for (uint32_t i = 0; i < elf->segment_count && found.size == 0; i++)
    if (elf->segment[i].type == TJ_ELF_SEGMENT_NOTE)
      found = find_note(job, elf->segment[i].bytes);
  for (uint32_t i = 0; i < elf->section_count && found.size == 0; i++)
    if (elf->section[i].type == TJ_ELF_SECTION_NOTE)
      found = find_note(job, elf->section[i].bytes);
  return found;
}

static const tj_segment *segment_at(const tj_code_object *object, uint64_t address) {
  for (uint32_t i = 0; i < object->segment_count; i++) {
    const tj_segment *segment = &object->segment[i];
    if (address >= segment->address && address - segment->address < segment->bytes.size)
      return segment;
  }
  return NULL;
}

tj_bytes tj_code_object_at(const tj_code_object *object, uint64_t address) {
  const tj_segment *segment = segment_at(object, address);
  if (segment == NULL)
    return (tj_bytes){NULL, 0};
  uint64_t offset = address - segment->address;
  return tj_bytes_slice(segment->bytes, offset, segment->bytes.size - offset);
}

/* The length of the kernel's name when the symbol is its descriptor; otherwise 0. */
static size_t length_of_kernel_name(tj_job *job, const tj_object_symbol *symbol) {
  if (symbol->kind != TJ_SYMBOL_OBJECT)
    return 0;
  size_t length = strlen(symbol->name), suffix = strlen(descriptor_suffix);
  tj_spend(job, length / 8);
  return length > suffix && strcmp(symbol->name + length - suffix, descriptor_suffix) == 0 ? length - suffix : 0;
}

/* The functions among the symbols, in the order of their addresses. */
typedef struct {
  const tj_object_symbol **symbol;
  uint32_t count;
} function_table;

static int compare_addresses(const void *left, const void *right) {
  const tj_object_symbol *a = *(const tj_object_symbol *const *)left, *b = *(const tj_object_symbol *const *)right;
  return (a->address > b->address) - (a->address < b->address);
}

static function_table collect_functions(tj_job *job, const tj_code_object *object) {
  function_table table = {TJ_NEW_ARRAY(job, const tj_object_symbol *, object->symbol_count), 0};
  for (uint32_t i = 0; i < object->symbol_count; i++)
    if (object->symbol[i].kind == TJ_SYMBOL_FUNCTION)
      table.symbol[table.count++] = &object->symbol[i];
  qsort(table.symbol, table.count, sizeof *table.symbol, compare_addresses);
  return table;
}

static const tj_object_symbol *function_at(const function_table *table, uint64_t address) {
  const tj_object_symbol wanted = {.address = address}, *key = &wanted;
  const tj_object_symbol **found = bsearch(&key, table->symbol, table->count, sizeof key, compare_addresses);
  return found == NULL ? NULL : *found;
}

static void read_descriptor(tj_job *job, const tj_code_object *object, const tj_object_symbol *symbol,
                            tj_kernel_code *kernel) {
  tj_bytes bytes = tj_code_object_at(object, symbol->address);
  if (bytes.size < TJ_KERNEL_DESCRIPTOR_SIZE || symbol->size != TJ_KERNEL_DESCRIPTOR_SIZE)
    tj_fail(job, TJ_CODE_OBJECT, "the descriptor of kernel %s is not %u bytes in a segment", kernel->name,
            TJ_KERNEL_DESCRIPTOR_SIZE);
  const char *reason = tj_kernel_descriptor_decode(bytes, object->processor, &kernel->descriptor);
  if (reason != NULL)
    tj_fail(job, TJ_CODE_OBJECT, "the descriptor of kernel %s: %s", kernel->name, reason);
  kernel->descriptor_address = symbol->address;
  kernel->entry_address = symbol->address + (uint64_t)kernel->descriptor.entry_offset;
}

static void read_code(tj_job *job, const tj_code_object *object, const function_table *functions,
                      tj_kernel_code *kernel) {
  const tj_segment *segment = segment_at(object, kernel->entry_address);
  if (segment == NULL || !segment->is_executable || kernel->entry_address % CODE_ALIGNMENT != 0)
    tj_fail(job, TJ_CODE_OBJECT, "kernel %s does not start at a multiple of %u in an executable segment",
            kernel->name, CODE_ALIGNMENT);
  tj_bytes code = tj_code_object_at(object, kernel->entry_address);
  const tj_object_symbol *function = function_at(functions, kernel->entry_address);
  if (function != NULL && function->size > code.size)
    tj_fail(job, TJ_CODE_OBJECT, "the code of kernel %s reaches past the end of its segment", kernel->name);
  if (function != NULL && function->size != 0)
    code.size = (size_t)function->size;
  kernel->code = code;
}

static int compare_entries(const void *left, const void *right) {
  const tj_kernel_code *a = left, *b = right;
  if (a->entry_address != b->entry_address)
    return a->entry_address < b->entry_address ? -1 : 1;
  return (a->descriptor_address > b->descriptor_address) - (a->descriptor_address < b->descriptor_address);
}

static uint32_t count_kernels(tj_job *job, const tj_code_object *object) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < object->symbol_count; i++)
    count += length_of_kernel_name(job, &object->symbol[i]) != 0;
  return count;
}

static tj_kernel_code *read_kernels(tj_job *job, tj_code_object *object) {
  function_table functions = collect_functions(job, object);
  tj_kernel_code *kernels = TJ_NEW_ARRAY(job, tj_kernel_code, count_kernels(job, object));
  for (uint32_t i = 0; i < object->symbol_count; i++) {
    const tj_object_symbol *symbol = &object->symbol[i];
    size_t length = length_of_kernel_name(job, symbol);
    if (length == 0)
      continue;
    tj_kernel_code *kernel = &kernels[object->kernel_count++];
    kernel->name = tj_string_copy(job, symbol->name, length);
    read_descriptor(job, object, symbol, kernel);
    read_code(job, object, &functions, kernel);
  }
  qsort(kernels, object->kernel_count, sizeof *kernels, compare_entries);
  object->kernel = kernels;
  return kernels;
}

/* Kernels in the order of their names' hashes: finding one takes no more than a few comparisons of names, however
 * long names are. */
typedef struct {
  uint64_t hash;
  tj_kernel_code *kernel;
} name_entry;

static uint64_t hash_name(tj_job *job, const char *name, size_t length) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
  tj_spend(job, length / 8);
  return hash;
}

static int compare_hashes(const void *left, const void *right) {
  const name_entry *a = left, *b = right;
  return (a->hash > b->hash) - (a->hash < b->hash);
}

static const name_entry *index_kernels(tj_job *job, tj_kernel_code *kernels, uint32_t count) {
  name_entry *index = TJ_NEW_ARRAY(job, name_entry, count);
  for (uint32_t i = 0; i < count; i++)
    index[i] = (name_entry){hash_name(job, kernels[i].name, strlen(kernels[i].name)), &kernels[i]};
  qsort(index, count, sizeof *index, compare_hashes);
  for (uint32_t i = 1; i < count; i++)
    if (index[i].hash == index[i - 1].hash)
      tj_fail(job, TJ_CODE_OBJECT, "kernel %s has two descriptors", index[i].kernel->name);
  return index;
}

static void attach_metadata(tj_job *job, tj_kernel_code *kernels, uint32_t count, const tj_metadata *metadata) {
  const name_entry *index = index_kernels(job, kernels, count);
  for (uint32_t i = 0; i < metadata->kernel_count; i++) {
    const char *symbol = metadata->kernel[i].symbol;
    size_t length = strlen(symbol), suffix = strlen(descriptor_suffix);
    if (length <= suffix || strcmp(symbol + length - suffix, descriptor_suffix) != 0)
      tj_fail(job, TJ_CODE_OBJECT, "metadata: the symbol of a kernel does not end in %s", descriptor_suffix);
    const name_entry wanted = {.hash = hash_name(job, symbol, length - suffix)};
    const name_entry *found = bsearch(&wanted, index, count, sizeof wanted, compare_hashes);
    if (found == NULL || strlen(found->kernel->name) != length - suffix ||
        strncmp(found->kernel->name, symbol, length - suffix) != 0)
      tj_fail(job, TJ_CODE_OBJECT, "metadata: kernel descriptor %s does not exist", symbol);
    found->kernel->metadata = &metadata->kernel[i];
  }
}

static void read_metadata(tj_job *job, const tj_elf *elf, tj_code_object *object, tj_kernel_code *kernels) {
  tj_bytes note = find_metadata(job, elf);
  object->metadata_target = "";
  if (note.size == 0)
    return;
  const tj_metadata *metadata = tj_metadata_read(job, note);
  object->has_metadata = true;
  object->metadata_target = metadata->target;
  attach_metadata(job, kernels, object->kernel_count, metadata);
}

const tj_code_object *tj_code_object_parse(tj_job *job, tj_bytes bytes) {
  check_not_bundle(job, bytes);
  const tj_elf *elf = tj_elf_read(job, bytes, TJ_CODE_OBJECT);
  check_header(job, elf);
  tj_code_object *object = TJ_NEW(job, tj_code_object);
  object->bytes = bytes;
  read_target(job, elf, object);
  object->target_id = target_id(job, object);
  read_segments(job, elf, object);
  read_symbols(job, elf, object);
  read_relocations(job, elf, object);
  tj_kernel_code *kernels = read_kernels(job, object);
  read_metadata(job, elf, object, kernels);
  return object;
}

const tj_kernel_code *tj_code_object_kernel(const tj_code_object *object, const char *name) {
  for (uint32_t i = 0; i < object->kernel_count; i++)
    if (strcmp(object->kernel[i].name, name) == 0)
      return &object->kernel[i];
  return NULL;
}

const tj_object_symbol *tj_code_object_symbol(const tj_code_object *object, const char *name) {
  for (uint32_t i = 0; i < object->symbol_count; i++)
    if (strcmp(object->symbol[i].name, name) == 0)
      return &object->symbol[i];
  return NULL;
}

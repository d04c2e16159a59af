/* SPDX-License-Identifier: MIT */
/* Classified instructions of a kernel, and the listing that people read. */
#include "jit/isa/disasm.h"

#include "jit/isa/decode.h"
#include "jit/isa/stats.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

enum { FIRST_DECODABLE_GENERATION = 8, FIRST_GENERATION_WITH_WAVE32 = 10, WORD = 4 };
enum { NOTE_COLUMN = 56, ENCODING_WIDTH = 26, CLASS_WIDTH = 7 };

/* The encodings of instructions that branch by a signed count of words in their low half: SOPP, and SOPK, whose bits
 * are those of SOP1, SOPC and SOPP too, apart from these three. */
static bool has_branch_offset(uint32_t word) {
  uint32_t top9 = word >> 23, top4 = word >> 28;
  return top9 == 0x17f || (top4 == 0xb && top9 != 0x17d && top9 != 0x17e);
}

static void find_branch_target(tj_instruction *instruction) {
  if (instruction->kind.class != TJ_CLASS_BRANCH || instruction->encoding.size != WORD)
    return;
  uint32_t word = tj_bytes_u32(instruction->encoding, 0);
  if (!has_branch_offset(word))
    return;
  int64_t words = (int16_t)(word & 0xffff);
  instruction->has_target = true;
  instruction->target = instruction->address + WORD + (uint64_t)(words * WORD);
}

static tj_instruction classify(const tj_decoded *decoded) {
  tj_instruction instruction = {.address = decoded->address, .encoding = decoded->encoding, .text = decoded->text};
  if (instruction.text == NULL) {
    instruction.text = "";
    instruction.kind.class = TJ_CLASS_UNKNOWN;
    return instruction;
  }
  instruction.kind = tj_instruction_classify(instruction.text);
  find_branch_target(&instruction);
  return instruction;
}

/* A stretch of code: a kernel, or another function. */
typedef struct {
  const char *name;
  uint64_t address;
  tj_bytes code;
  uint32_t wave_size;
} stretch;

static stretch stretch_of_kernel(const tj_kernel_code *kernel) {
  return (stretch){kernel->name, kernel->entry_address, kernel->code, kernel->descriptor.wave_size};
}

static const char *wave_features(const tj_processor *processor, uint32_t wave_size) {
  if (processor->major < FIRST_GENERATION_WITH_WAVE32)
    return "";
  return wave_size == 32 ? "+wavefrontsize32,-wavefrontsize64" : "-wavefrontsize32,+wavefrontsize64";
}

static bool is_named(const tj_instruction *instruction, const char *name) {
  return strncmp(instruction->text, name, strlen(name)) == 0;
}

/* Nops that wait are instructions; those behind an end, up to what follows, fill lines of the instruction cache. */
static void mark_padding(tj_instruction instruction[], size_t count) {
  bool is_behind = false;
  for (size_t i = 0; i < count; i++) {
    is_behind = is_named(&instruction[i], "s_endpgm") || (is_behind && is_named(&instruction[i], "s_nop"));
    if (is_behind && is_named(&instruction[i], "s_nop"))
      instruction[i].kind.class = TJ_CLASS_PADDING;
  }
}

static tj_listing list(tj_job *job, const tj_code_object *object, stretch code) {
  const tj_processor *processor = object->processor;
  if (processor->major < FIRST_DECODABLE_GENERATION)
    tj_fail(job, TJ_DISASSEMBLY, "LLVM does not disassemble code for %s", processor->name);
  tj_decode_target target = {"amdgcn-amd-amdhsa", processor->name, wave_features(processor, code.wave_size), WORD,
                             processor};
  tj_decoding decoding = tj_decode(job, target, code.code, code.address);
  tj_instruction *instruction = TJ_NEW_ARRAY(job, tj_instruction, decoding.count);
  for (size_t i = 0; i < decoding.count; i++)
    instruction[i] = classify(&decoding.instruction[i]);
  mark_padding(instruction, decoding.count);
  return (tj_listing){instruction, decoding.count};
}

tj_listing tj_disassemble_kernel(tj_job *job, const tj_code_object *object, const tj_kernel_code *kernel) {
  return list(job, object, stretch_of_kernel(kernel));
}

/* Where labels stand, in the order of their addresses: the branch targets inside a stretch. */
typedef struct {
  uint64_t *address;
  size_t count;
} label_table;

static int compare_labels(const void *left, const void *right) {
  const uint64_t *a = left, *b = right;
  return (*a > *b) - (*a < *b);
}

static label_table collect_labels(tj_job *job, tj_listing listing, stretch code) {
  label_table labels = {TJ_NEW_ARRAY(job, uint64_t, listing.count), 0};
  for (size_t i = 0; i < listing.count; i++) {
    const tj_instruction *branch = &listing.instruction[i];
    if (branch->has_target && branch->target - code.address < code.code.size)
      labels.address[labels.count++] = branch->target;
  }
  qsort(labels.address, labels.count, sizeof *labels.address, compare_labels);
  size_t unique = 0;
  for (size_t i = 0; i < labels.count; i++)
    if (unique == 0 || labels.address[i] != labels.address[unique - 1])
      labels.address[unique++] = labels.address[i];
  labels.count = unique;
  return labels;
}

static const uint64_t *find_label(label_table labels, uint64_t address) {
  return bsearch(&address, labels.address, labels.count, sizeof address, compare_labels);
}

/* Text out of the file, with whatever a terminal would not print as question marks. */
static void add_printable(tj_text *text, const char *string) {
  for (; *string != '\0'; string++)
    tj_text_char(text, isprint((unsigned char)*string) ? *string : '?');
}

static void add_argument(tj_text *text, const tj_metadata_argument *argument) {
  tj_text_format(text, ";   %4" PRIu32 ": %" PRIu32 " bytes", argument->offset, argument->size);
  const char *const words[] = {argument->address_space, argument->value_kind, argument->name};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (words[i][0] == '\0')
      continue;
    tj_text_char(text, ' ');
    add_printable(text, words[i]);
  }
  tj_text_char(text, '\n');
}

static void add_workgroup_size(tj_text *text, const tj_kernel_metadata *metadata) {
  const uint32_t *size = metadata->required_workgroup_size;
  if (size[0] != 0)
    tj_text_format(text, ";   workgroups of %" PRIu32 " x %" PRIu32 " x %" PRIu32 " work-items\n", size[0], size[1],
                   size[2]);
  else
    tj_text_format(text, ";   workgroups of at most %" PRIu32 " work-items\n", metadata->max_flat_workgroup_size);
}

static void add_metadata(tj_text *text, const tj_kernel_code *kernel) {
  const tj_kernel_metadata *metadata = kernel->metadata;
  const tj_kernel_descriptor *descriptor = &kernel->descriptor;
  if (metadata == NULL) {
    tj_text_format(text, ";   allocates %" PRIu32 " vgprs, %" PRIu32 " sgprs; no metadata\n", descriptor->vgprs,
                   descriptor->sgprs);
    return;
  }
  tj_text_format(text, ";   uses %" PRIu32 " vgprs, %" PRIu32 " agprs, %" PRIu32 " sgprs; ", metadata->vgprs,
                 metadata->agprs, metadata->sgprs);
  tj_text_format(text, "allocates %" PRIu32 " vgprs, %" PRIu32 " sgprs; ", descriptor->vgprs, descriptor->sgprs);
  tj_text_format(text, "spills %" PRIu32 " vgprs, %" PRIu32 " sgprs\n", metadata->vgpr_spills, metadata->sgpr_spills);
  add_workgroup_size(text, metadata);
}

static void add_kernel_header(tj_text *text, const tj_code_object *object, const tj_kernel_code *kernel) {
  const tj_kernel_descriptor *descriptor = &kernel->descriptor;
  tj_text_string(text, "; kernel ");
  add_printable(text, kernel->name);
  tj_text_format(text, ", %s, waves of %" PRIu32 "\n", object->target_id, descriptor->wave_size);
  tj_text_format(text, ";   %zu bytes of code at 0x%" PRIx64 "\n", kernel->code.size, kernel->entry_address);
  add_metadata(text, kernel);
  tj_text_format(text, ";   %" PRIu32 " bytes of LDS a workgroup, %" PRIu32 " bytes of scratch a work-item\n",
                 descriptor->group_segment_bytes, descriptor->private_segment_bytes);
  tj_text_format(text, ";   %" PRIu32 " bytes of arguments\n", descriptor->kernarg_bytes);
  for (uint32_t i = 0; kernel->metadata != NULL && i < kernel->metadata->argument_count; i++)
    add_argument(text, &kernel->metadata->argument[i]);
}

static void add_stats(tj_text *text, tj_isa_stats stats) {
  tj_text_string(text, ";  ");
#define FIGURE(name, meaning) tj_text_format(text, " " #name " %" PRIu64, stats.name);
  TJ_ISA_STATS(FIGURE)
#undef FIGURE
  tj_text_char(text, '\n');
}

static void add_encoding(tj_text *text, tj_bytes encoding) {
  size_t start = text->length;
  for (size_t at = 0; at + WORD <= encoding.size; at += WORD)
    tj_text_format(text, "%s%08" PRIX32, at == 0 ? "" : " ", tj_bytes_u32(encoding, at));
  while (text->length - start < ENCODING_WIDTH + 2)
    tj_text_char(text, ' ');
}

static void add_bytes(tj_text *text, tj_bytes bytes) {
  if (bytes.size == WORD)
    tj_text_format(text, ".long 0x%08" PRIx32, tj_bytes_u32(bytes, 0));
  else
    for (size_t i = 0; i < bytes.size; i++)
      tj_text_format(text, "%s0x%02x", i == 0 ? ".byte " : ", ", tj_bytes_u8(bytes, i));
}

/* A branch's mnemonic, whatever registers it has, and in place of its offset the label there, or the symbol. */
static void add_branch(tj_text *text, const tj_code_object *object, const tj_instruction *branch,
                       label_table labels) {
  const char *offset = strrchr(branch->text, ' ');
  tj_text_add(text, branch->text, offset == NULL ? strlen(branch->text) : (size_t)(offset - branch->text));
  const uint64_t *label = find_label(labels, branch->target);
  if (label != NULL) {
    tj_text_format(text, " L%zu", (size_t)(label - labels.address));
    return;
  }
  for (uint32_t i = 0; i < object->symbol_count; i++)
    if (object->symbol[i].address == branch->target) {
      tj_text_char(text, ' ');
      add_printable(text, object->symbol[i].name);
      return;
    }
  tj_text_format(text, " 0x%" PRIx64, branch->target);
}

static void add_operation(tj_text *text, const tj_code_object *object, const tj_instruction *instruction,
                          label_table labels) {
  if (instruction->kind.class == TJ_CLASS_UNKNOWN && instruction->text[0] == '\0')
    add_bytes(text, instruction->encoding);
  else if (instruction->has_target)
    add_branch(text, object, instruction, labels);
  else
    tj_text_string(text, instruction->text);
}

static void add_notes(tj_text *text, const tj_instruction *instruction, tj_disassembly_options options) {
  if (options.with_encoding)
    add_encoding(text, instruction->encoding);
  if (options.without_notes)
    return;
  const char *note = tj_instruction_annotate(text->job, instruction->text);
  tj_text_format(text, "%-*s  %s", CLASS_WIDTH, tj_instruction_class_name(instruction->kind.class), note);
}

static void trim(tj_text *text) {
  while (text->length != 0 && text->data[text->length - 1] == ' ')
    text->data[--text->length] = '\0';
}

static void add_line(tj_text *text, const tj_code_object *object, const tj_instruction *instruction, uint64_t offset,
                     label_table labels, tj_disassembly_options options) {
  size_t start = text->length;
  tj_text_format(text, "  %04" PRIx64 "  ", offset);
  add_operation(text, object, instruction, labels);
  if (options.with_encoding || !options.without_notes) {
    while (text->length - start < NOTE_COLUMN)
      tj_text_char(text, ' ');
    tj_text_string(text, " ; ");
    add_notes(text, instruction, options);
    trim(text);
  }
  tj_text_char(text, '\n');
}

static void add_code(tj_text *text, const tj_code_object *object, stretch code, tj_listing listing,
                     tj_disassembly_options options) {
  label_table labels = collect_labels(text->job, listing, code);
  add_printable(text, code.name);
  tj_text_string(text, ":\n");
  for (size_t i = 0; i < listing.count; i++) {
    const tj_instruction *instruction = &listing.instruction[i];
    const uint64_t *label = find_label(labels, instruction->address);
    if (label != NULL)
      tj_text_format(text, "L%zu:\n", (size_t)(label - labels.address));
    add_line(text, object, instruction, instruction->address - code.address, labels, options);
  }
  tj_text_char(text, '\n');
}

static void add_kernel(tj_text *text, const tj_code_object *object, const tj_kernel_code *kernel,
                       tj_disassembly_options options) {
  tj_listing listing = tj_disassemble_kernel(text->job, object, kernel);
  add_kernel_header(text, object, kernel);
  if (options.with_stats)
    add_stats(text, tj_isa_stats_of_listing(kernel, listing));
  add_code(text, object, stretch_of_kernel(kernel), listing, options);
}

static bool is_kernel(const tj_code_object *object, const tj_object_symbol *function) {
  for (uint32_t i = 0; i < object->kernel_count; i++)
    if (object->kernel[i].entry_address == function->address)
      return true;
  return false;
}

/* The code of a function that is no kernel; its waves are as large as those of the kernels that call it. */
static bool find_function(const tj_code_object *object, const tj_object_symbol *symbol, stretch *code) {
  tj_bytes bytes = tj_code_object_at(object, symbol->address);
  if (symbol->kind != TJ_SYMBOL_FUNCTION || symbol->size == 0 || symbol->size > bytes.size ||
      is_kernel(object, symbol))
    return false;
  uint32_t wave_size = object->kernel_count != 0 ? object->kernel[0].descriptor.wave_size : 64;
  *code = (stretch){symbol->name, symbol->address, {bytes.data, (size_t)symbol->size}, wave_size};
  return true;
}

static void add_functions(tj_text *text, const tj_code_object *object, tj_disassembly_options options) {
  for (uint32_t i = 0; i < object->symbol_count; i++) {
    stretch code;
    tj_spend(text->job, object->kernel_count + 1);
    if (!find_function(object, &object->symbol[i], &code))
      continue;
    tj_text_format(text, "; function, %s\n;   %zu bytes of code at 0x%" PRIx64 "\n", object->target_id,
                   code.code.size, code.address);
    add_code(text, object, code, list(text->job, object, code), options);
  }
}

void tj_disassemble(tj_text *text, const tj_code_object *object, tj_disassembly_options options) {
  if (options.kernel != NULL) {
    const tj_kernel_code *kernel = tj_code_object_kernel(object, options.kernel);
    if (kernel == NULL)
      tj_fail(text->job, TJ_UNKNOWN_KERNEL, "the code object has no kernel %s", options.kernel);
    add_kernel(text, object, kernel, options);
    return;
  }
  for (uint32_t i = 0; i < object->kernel_count; i++)
    add_kernel(text, object, &object->kernel[i], options);
  add_functions(text, object, options);
}

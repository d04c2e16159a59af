/* SPDX-License-Identifier: MIT */
/* Counting instructions by class, of code objects and of host objects. */
#include "jit/isa/stats.h"

#include "jit/isa/decode.h"
#include "object/elf.h"

#include <string.h>

static uint64_t *figure_of_class(tj_isa_stats *stats, tj_instruction_class class) {
  switch (class) {
  case TJ_CLASS_VALU:
    return &stats->valu;
  case TJ_CLASS_SALU:
    return &stats->salu;
  case TJ_CLASS_VMEM:
    return &stats->vmem;
  case TJ_CLASS_SMEM:
    return &stats->smem;
  case TJ_CLASS_LDS:
    return &stats->lds;
  case TJ_CLASS_BRANCH:
    return &stats->branch;
  default:
    return NULL;
  }
}

static void count(tj_isa_stats *stats, const tj_instruction *instruction) {
  if (instruction->kind.class == TJ_CLASS_PADDING || instruction->text[0] == '\0')
    return;
  uint64_t *figure = figure_of_class(stats, instruction->kind.class);
  if (figure != NULL)
    ++*figure;
  stats->instructions++;
  stats->cost += instruction->kind.cost;
}

tj_isa_stats tj_isa_stats_of_listing(const tj_kernel_code *kernel, tj_listing listing) {
  const tj_kernel_descriptor *descriptor = &kernel->descriptor;
  tj_isa_stats stats = {.vgprs = kernel->metadata != NULL ? kernel->metadata->vgprs : descriptor->vgprs,
                        .sgprs = kernel->metadata != NULL ? kernel->metadata->sgprs : descriptor->sgprs,
                        .lds_bytes = descriptor->group_segment_bytes,
                        .scratch_bytes = descriptor->private_segment_bytes,
                        .code_bytes = kernel->code.size,
                        .wave_size = descriptor->wave_size};
  for (size_t i = 0; i < listing.count; i++)
    count(&stats, &listing.instruction[i]);
  return stats;
}

static uint64_t larger(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

static void accumulate(tj_isa_stats *total, tj_isa_stats more) {
  tj_isa_stats before = *total;
#define ADD(name, meaning) total->name += more.name;
  TJ_ISA_STATS(ADD)
#undef ADD
  total->vgprs = larger(before.vgprs, more.vgprs);
  total->sgprs = larger(before.sgprs, more.sgprs);
  total->lds_bytes = larger(before.lds_bytes, more.lds_bytes);
  total->scratch_bytes = larger(before.scratch_bytes, more.scratch_bytes);
  total->wave_size = larger(before.wave_size, more.wave_size);
  total->has_no_counts = before.has_no_counts || more.has_no_counts;
}

tj_isa_stats tj_isa_stats_of(tj_job *job, const tj_code_object *object, const char *kernel) {
  tj_isa_stats total = {0};
  bool is_found = kernel == NULL;
  for (uint32_t i = 0; i < object->kernel_count; i++) {
    const tj_kernel_code *code = &object->kernel[i];
    if (kernel != NULL && strcmp(code->name, kernel) != 0)
      continue;
    accumulate(&total, tj_isa_stats_of_listing(code, tj_disassemble_kernel(job, object, code)));
    is_found = true;
  }
  if (!is_found)
    tj_fail(job, TJ_UNKNOWN_KERNEL, "the code object has no kernel %s", kernel);
  return total;
}

tj_isa_stats tj_isa_stats_of_cubin(tj_job *job, const tj_cubin *cubin, const char *kernel) {
  enum { WARP_SIZE = 32 };
  tj_isa_stats total = {0};
  if (kernel != NULL && tj_cubin_find(cubin, kernel) == NULL)
    tj_fail(job, TJ_UNKNOWN_KERNEL, "the cubin has no kernel %s", kernel);
  for (uint32_t i = 0; i < cubin->kernel_count; i++) {
    const tj_cubin_kernel *code = &cubin->kernel[i];
    if (kernel == NULL || strcmp(code->name, kernel) == 0)
      accumulate(&total, (tj_isa_stats){.vgprs = code->registers,
                                        .lds_bytes = code->shared_bytes,
                                        .scratch_bytes = code->local_bytes,
                                        .code_bytes = code->code.size,
                                        .wave_size = WARP_SIZE,
                                        .has_no_counts = true});
  }
  return total;
}

/* The host machines whose objects can be counted, with what their assemblers call nops and padding. */
typedef struct {
  uint16_t machine;
  tj_decode_target target;
  const char *padding[6];
} host_machine;

static const host_machine host_machines[] = {
    {TJ_ELF_MACHINE_X86_64, {"x86_64-unknown-linux-gnu", "", "", 1, NULL}, {"nop", "data16 nop", "cs nop", "int3"}},
    {TJ_ELF_MACHINE_AARCH64, {"aarch64-unknown-linux-gnu", "", "", 4, NULL}, {"nop", "udf #0"}},
};

static const host_machine *host_machine_of(tj_job *job, const tj_elf *elf) {
  for (size_t i = 0; i < sizeof host_machines / sizeof *host_machines; i++)
    if (host_machines[i].machine == elf->machine)
      return &host_machines[i];
  tj_fail(job, TJ_DISASSEMBLY, "instructions of ELF machine %u cannot be counted", elf->machine);
}

static bool is_host_padding(const host_machine *machine, const char *text) {
  const size_t capacity = sizeof machine->padding / sizeof *machine->padding;
  for (size_t i = 0; i < capacity && machine->padding[i] != NULL; i++)
    if (strncmp(text, machine->padding[i], strlen(machine->padding[i])) == 0)
      return true;
  return strcmp(text, "xchgw %ax, %ax") == 0;
}

/* The bytes of a function of a relocatable object: its value counts from the start of its section. */
static tj_bytes function_bytes(tj_job *job, const tj_elf *elf, const tj_elf_symbol *symbol) {
  if (symbol->section >= elf->section_count ||
      !tj_bytes_contain(elf->section[symbol->section].bytes, symbol->value, symbol->size))
    tj_fail(job, TJ_DISASSEMBLY, "function %s lies outside its section", symbol->name);
  return tj_bytes_slice(elf->section[symbol->section].bytes, symbol->value, symbol->size);
}

static void count_host_function(tj_job *job, const host_machine *machine, tj_bytes code, tj_isa_stats *stats) {
  tj_decoding decoding = tj_decode(job, machine->target, code, 0);
  for (size_t i = 0; i < decoding.count; i++) {
    const char *text = decoding.instruction[i].text;
    if (text != NULL && !is_host_padding(machine, text))
      stats->instructions++;
  }
  stats->code_bytes += code.size;
}

static bool is_named(const tj_elf_symbol *function, const char *name) {
  return name != NULL && strcmp(function->name, name) == 0;
}

tj_isa_stats tj_isa_stats_of_host(tj_job *job, tj_bytes object, const char *symbol, const char *work) {
  const tj_elf *elf = tj_elf_read(job, object, TJ_DISASSEMBLY);
  const host_machine *machine = host_machine_of(job, elf);
  if (elf->type != TJ_ELF_RELOCATABLE)
    tj_fail(job, TJ_DISASSEMBLY, "it is not a relocatable object");
  tj_isa_stats stats = {0};
  bool is_found = symbol == NULL;
  for (uint32_t i = 0; i < elf->symbol_count; i++) {
    const tj_elf_symbol *function = &elf->symbol[i];
    const bool is_wanted = symbol == NULL || is_named(function, symbol) || is_named(function, work);
    if (function->type != TJ_ELF_SYMBOL_FUNCTION || function->section == TJ_ELF_SECTION_UNDEFINED || !is_wanted)
      continue;
    count_host_function(job, machine, function_bytes(job, elf, function), &stats);
    is_found = is_found || is_named(function, symbol);
  }
  if (!is_found)
    tj_fail(job, TJ_UNKNOWN_KERNEL, "the object has no function %s", symbol);
  return stats;
}

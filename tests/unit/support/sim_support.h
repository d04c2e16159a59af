/* SPDX-License-Identifier: MIT */
/* What tests of the simulator share: assembling, and one wave whose registers and memory a test sets and looks at. */
#ifndef TJ_TESTS_SIM_SUPPORT_H
#define TJ_TESTS_SIM_SUPPORT_H

#include "tests/unit/support/harness.h"

#include "base/bytes.h"
#include "base/machine/processor.h"
#include "rt/sim/isa/decode.h"
#include "rt/sim/machine/wave.h"
#include "tests/unit/support/processors.h"

#include <llvm-c/Core.h>
#include <llvm-c/Object.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <stdio.h>

enum { SIM_VECTORS = 80, SIM_LDS_BYTES = 4096, SIM_SCRATCH_BYTES = 256, SIM_MEMORY_BYTES = 4096 };

/* --- assembling --- */

static inline LLVMMemoryBufferRef assemble_object(const char *processor, const char *text) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmPrinter();
  LLVMInitializeAMDGPUAsmParser();
  char *message = NULL;
  LLVMTargetRef target;
  if (LLVMGetTargetFromTriple("amdgcn-amd-amdhsa", &target, &message))
    ck_abort_msg("%s", message);
  LLVMTargetMachineRef machine = LLVMCreateTargetMachine(target, "amdgcn-amd-amdhsa", processor, "",
                                                         LLVMCodeGenLevelNone, LLVMRelocPIC, LLVMCodeModelDefault);
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext("test", context);
  LLVMSetTarget(module, "amdgcn-amd-amdhsa");
  LLVMSetModuleInlineAsm2(module, text, strlen(text));
  LLVMMemoryBufferRef object;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &object))
    ck_abort_msg("%s: %s", text, message);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  LLVMDisposeTargetMachine(machine);
  return object;
}

/* The bytes of the object's .text, in the job's arena. */
static inline tj_bytes text_section(tj_job *job, LLVMMemoryBufferRef object) {
  char *message = NULL;
  LLVMBinaryRef binary = LLVMCreateBinary(object, NULL, &message);
  LLVMSectionIteratorRef section = LLVMObjectFileCopySectionIterator(binary);
  tj_bytes bytes = {NULL, 0};
  for (; !LLVMObjectFileIsSectionIteratorAtEnd(binary, section); LLVMMoveToNextSection(section)) {
    const char *name = LLVMGetSectionName(section);
    if (name == NULL || strcmp(name, ".text") != 0)
      continue;
    bytes.size = LLVMGetSectionSize(section);
    bytes.data = tj_arena_copy(&job->arena, LLVMGetSectionContents(section), bytes.size);
  }
  LLVMDisposeSectionIterator(section);
  LLVMDisposeBinary(binary);
  return bytes;
}

/* --- a wave --- */

typedef struct {
  tj_job job;
  tj_sim_group group;
  tj_sim_wave wave;
  tj_sim_memory memory;
  tj_sim_counters counters;
  const char *processor;
  const char *text;
  uint32_t vector[SIM_VECTORS][TJ_SIM_LANES];
  tj_sim_wave twin; /* in use after sim_track */
  tj_sim_undefined undefined;
  uint32_t twin_vector[SIM_VECTORS][TJ_SIM_LANES];
  unsigned char lds[SIM_LDS_BYTES];
  unsigned char scratch[SIM_SCRATCH_BYTES * TJ_SIM_LANES];
  _Alignas(64) unsigned char global[SIM_MEMORY_BYTES]; /* what kernels may touch */
} sim_machine;

static inline void sim_assemble(tj_job *job, void *data) {
  sim_machine *m = data;
  LLVMMemoryBufferRef object = assemble_object(m->processor, m->text);
  tj_bytes code = text_section(job, object);
  LLVMDisposeMemoryBuffer(object);
  void *disassembler = tj_sim_disassembler_open(m->group.processor, m->wave.lanes);
  m->group.program = tj_sim_decode(job, disassembler, code);
  tj_sim_disassembler_close(disassembler);
}

/* A machine of the processor's own wave size, with everything zero and all lanes on; `text` is assembled. */
static inline sim_machine *sim_open(const char *processor, const char *text) {
  sim_machine *m = aligned_alloc(64, (sizeof *m + 63) / 64 * 64);
  memset(m, 0, sizeof *m);
  tj_job_init(&m->job, NULL);
  m->processor = processor;
  m->text = text;
  m->group = (tj_sim_group){.processor = tj_sim_processor_named(processor),
                            .line_bytes = tj_cache_line_bytes(processor),
                            .memory = &m->memory,
                            .counters = &m->counters,
                            .lds = m->lds,
                            .lds_bytes = SIM_LDS_BYTES,
                            .scratch_bytes = SIM_SCRATCH_BYTES,
                            .budget = 100000};
  ck_assert_ptr_nonnull(m->group.processor);
  m->wave.group = &m->group;
  m->wave.lanes = tj_processor_wave_size(m->group.processor);
  m->wave.vector = m->vector;
  m->wave.vector_count = SIM_VECTORS;
  m->wave.first_accumulator = SIM_VECTORS / 2;
  m->wave.scratch = m->scratch;
  tj_sim_range global = tj_sim_range_of(m->global, sizeof m->global, true);
  ck_assert(tj_sim_memory_add(&global));
  ck_assert(tj_sim_memory_snapshot(&m->memory, tj_sim_all_agents));
  tj_sim_set_exec(&m->wave, tj_sim_all_lanes(&m->wave));
  expect_success(&m->job, sim_assemble, m);
  return m;
}

static inline void sim_close(sim_machine *m) {
  tj_sim_memory_remove(m->global, false);
  tj_sim_memory_release(&m->memory);
  tj_job_destroy(&m->job);
  free(m);
}

/* From now on, registers that nothing has written count as such; all of them, to begin with. */
static inline void sim_track(sim_machine *m) {
  uint64_t exec = tj_sim_exec(&m->wave);
  m->twin = m->wave;
  m->twin.vector = m->twin_vector;
  m->wave.undefined = &m->undefined;
  m->undefined.twin = &m->twin;
  tj_sim_forget_registers(&m->wave);
  tj_sim_set_exec(&m->wave, exec);
}

/* Runs to the end of the program; reports why it does not get there. */
static inline void sim_run(sim_machine *m) {
  tj_sim_wave_run(&m->wave);
  ck_assert_msg(m->wave.state == TJ_SIM_ENDED, "%s: %s (%s)", m->processor, m->wave.failure, m->text);
}

/* Runs, and checks that it stops with a message that contains `expected`. */
static inline void sim_run_failing(sim_machine *m, const char *expected) {
  tj_sim_wave_run(&m->wave);
  ck_assert_msg(m->wave.state == TJ_SIM_FAILED, "%s: no failure (%s)", m->processor, m->text);
  ck_assert_msg(strstr(m->wave.failure, expected) != NULL, "%s: '%s' does not say '%s'", m->processor,
                m->wave.failure, expected);
}

static inline void sim_set_all(sim_machine *m, unsigned reg, uint64_t value, bool is_pair) {
  for (unsigned lane = 0; lane < TJ_SIM_LANES; lane++) {
    m->vector[reg][lane] = (uint32_t)value;
    if (is_pair)
      m->vector[reg + 1][lane] = (uint32_t)(value >> 32);
  }
}

static inline uint64_t sim_pair(const sim_machine *m, unsigned reg, unsigned lane) {
  return m->vector[reg][lane] | (uint64_t)m->vector[reg + 1][lane] << 32;
}

static inline uint64_t sim_scalar_pair(const sim_machine *m, unsigned reg) {
  return m->wave.scalar[reg] | (uint64_t)m->wave.scalar[reg + 1] << 32;
}

/* `text` with every VCC as the processor's name for its mask register, and s_endpgm after it. */
static inline const char *sim_program(char *to, size_t size, const char *text, unsigned lanes) {
  size_t length = 0;
  while (*text != '\0' && length + 16 < size) {
    if (strncmp(text, "VCC", 3) == 0) {
      length += (size_t)snprintf(to + length, size - length, "%s", lanes == 32 ? "vcc_lo" : "vcc");
      text += 3;
    } else {
      to[length++] = *text++;
    }
  }
  snprintf(to + length, size - length, "\ns_endpgm\n");
  return to;
}

/* Which processors a row is for. */
enum { G9 = 1, G10 = 2, G11 = 4, G12 = 8, ALL = 15, NEWER = 14, OLDER = 3, OCP = 32, FNUZ = 64, G1250 = 128 };

/* The bit of a simulated processor's generation, that beside its floats of 8 bits', and the lanes of its waves. */
static inline unsigned sim_generation(size_t number) {
  return 1u << (tj_processor_by_name(simulated[number])->major - 9);
}

static inline unsigned sim_processors(size_t number) {
  const tj_processor *processor = tj_processor_by_name(simulated[number]);
  return sim_generation(number) | 16u << processor->floats8 | (tj_sim_has_clusters(processor) ? G1250 : 0);
}

static inline unsigned sim_lanes(size_t number) {
  return tj_processor_wave_size(tj_processor_by_name(simulated[number]));
}

#endif

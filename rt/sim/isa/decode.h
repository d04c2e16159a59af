/* SPDX-License-Identifier: MIT */
/* Decoding: machine code as instructions that waves can execute. */
#ifndef TJ_RT_SIM_DECODE_H
#define TJ_RT_SIM_DECODE_H

#include "base/bytes.h"
#include "base/job.h"
#include "rt/sim/machine/instruction.h"
#include "rt/sim/machine/processor.h"

/* LLVM's disassembler for a processor and a wave size; NULL where LLVM has none. Closed with
 * tj_sim_disassembler_close, outside of jobs. */
void *tj_sim_disassembler_open(const tj_processor *processor, uint32_t lanes);
void tj_sim_disassembler_close(void *disassembler);

/* The instructions of `code`, which stands in memory where it will run. In the job's arena. What cannot be executed
 * becomes an instruction that says so when a wave reaches it. */
const tj_sim_program *tj_sim_decode(tj_job *job, void *disassembler, tj_bytes code);

/* Reads one instruction's text, as LLVM prints it. `encoding` are its bytes. For decoding and for tests. */
tj_sim_instruction tj_sim_read_instruction(tj_job *job, const char *text, tj_bytes encoding);

#endif

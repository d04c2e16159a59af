/* SPDX-License-Identifier: MIT */
/* The command lines of ptxas and nvdisasm, and whether what comes out is what was asked for. */
#include "jit/tool/nvidia.h"

#include "base/machine/processor.h"
#include "base/text.h"
#include "jit/tool/tool.h"
#include "object/cubin.h"

bool tj_can_assemble_ptx(tj_job *job) {
  return tj_tool_path(job, TJ_TOOL_PTXAS) != NULL;
}

tj_bytes tj_assemble_ptx(tj_job *job, const char *processor, tj_bytes ptx) {
  const char *name = tj_string_format(job, "--gpu-name=%s", processor);
  const char *const words[] = {name, TJ_TOOL_INPUT, "-o", TJ_TOOL_OUTPUT, NULL};
  tj_bytes made = tj_tool_output(job, &(tj_tool_run){.tool = TJ_TOOL_PTXAS, .words = words, .input = ptx});
  tj_shared_memory memory;
  if (!tj_is_cubin(made) || !tj_shared_memory_of(processor, &memory) ||
      tj_cubin_parse(job, made)->capability != memory.generation)
    tj_fail_system(job, TJ_TOOL, "what ptxas makes is no cubin for %s", processor);
  return made;
}

tj_bytes tj_disassemble_cubin(tj_job *job, tj_bytes cubin) {
  const char *const words[] = {"-c", TJ_TOOL_INPUT, NULL};
  return tj_tool_output(job, &(tj_tool_run){.tool = TJ_TOOL_NVDISASM, .words = words, .input = cubin});
}

/* SPDX-License-Identifier: MIT */
/* Bytes of kernels that wait to be compiled, which may be any: they are read and lowered, or refused. */
#ifndef TJ_TESTS_LOWERED_BYTES_H
#define TJ_TESTS_LOWERED_BYTES_H

#include "jit/kernel/kernel_bytes.h"
#include "launch/image/machine.h"
#include "lower/emit/module.h"

typedef struct {
  const char *target;
  tj_bytes bytes;
  tj_module module;
} lowered_bytes;

static inline void lower_in_job(tj_job *job, void *data) {
  lowered_bytes *l = data;
  tj_graph *graph = tj_graph_create(job);
  const tj_target *target = tj_target_parse(job, l->target);
  tj_kernel *kernel = tj_kernel_read(graph, target, l->bytes, TJ_ALL_VARIANTS);
  tj_module_lower(graph, &l->module, kernel, target);
}

/* Whether they are a kernel that can be lowered. */
static inline bool lower_bytes(const char *target, tj_bytes bytes) {
  tj_job job;
  tj_job_init(&job, NULL);
  lowered_bytes l = {.target = target, .bytes = bytes};
  tj_status status = tj_job_run(&job, lower_in_job, &l);
  tj_module_dispose(&l.module);
  tj_job_destroy(&job);
  return status == TJ_OK;
}

#endif

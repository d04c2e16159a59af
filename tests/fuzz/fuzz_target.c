/* SPDX-License-Identifier: MIT */
/* Any bytes, as a target: refused as none, or a target whose canonical name is that of the same target. The same of
 * target IDs, which need not be targets; whatever their code runs on has the same processor, itself included. */
#include "base/machine/target_id.h"
#include "lower/machine/target.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
  char *text;
  bool is_target; /* from then on, nothing may fail */
} reading;

static void require_same(const char *a, const char *b) {
  if (strcmp(a, b) != 0)
    abort();
}

static void parse_twice(tj_job *job, void *data) {
  reading *r = data;
  const tj_target *target = tj_target_parse(job, r->text);
  r->is_target = true;
  const tj_target *again = tj_target_parse(job, target->name);
  require_same(target->name, again->name);
  require_same(target->processor, again->processor);
  require_same(target->features, again->features);
}

static void require(bool is_so) {
  if (!is_so)
    abort();
}

static void read_target_id(const char *text) {
  tj_target_id id, again, device;
  tj_target_reason reason;
  char name[TJ_TARGET_ID_SIZE], name_again[TJ_TARGET_ID_SIZE];
  if (!tj_target_id_parse(text, &id, &reason)) {
    require(reason.code == TJ_UNKNOWN_TARGET || reason.code == TJ_UNKNOWN_FEATURE);
    return;
  }
  tj_target_id_write(&id, name);
  require(tj_target_id_parse(name, &again, &reason));
  tj_target_id_write(&again, name_again);
  require_same(name, name_again);
  require(tj_target_id_allows(&id, &again, &reason));
  require(tj_target_id_parse("gfx90a:sramecc+:xnack-", &device, &reason));
  if (tj_target_id_allows(&id, &device, &reason))
    require_same(id.processor, device.processor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  reading r = {.text = strndup((const char *)data, size)};
  tj_job job;
  tj_job_init(&job, NULL);
  tj_status status = tj_job_run(&job, parse_twice, &r);
  bool is_refused = job.problem.code == TJ_UNKNOWN_TARGET || job.problem.code == TJ_UNKNOWN_FEATURE;
  if (status != TJ_OK && (r.is_target || !is_refused))
    abort();
  tj_job_destroy(&job);
  read_target_id(r.text);
  free(r.text);
  return 0;
}

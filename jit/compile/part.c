/* SPDX-License-Identifier: MIT */
/* Parts of machine code that have waited: the cache on disk first, then the rest of the pipeline. */
#include "jit/compile/part.h"

#include "base/clock.h"
#include "jit/cache/cache.h"
#include "jit/compile/compiler.h"
#include "jit/compile/pipeline.h"

typedef struct {
  tj_compilation compilation;
  tj_cache_key key;
} making;

static bool recall(tj_compilation *c, tj_cache_key *key) {
  if (c->cache == NULL)
    return false;
  *key = tj_cache_key_of(tj_cache_part_key(c->job, c->cache->identity, c->target, c->waiting, c->number));
  c->part = tj_cache_find_part(c->cache, key, c->waiting, c->plan, c->number);
  return c->part != NULL;
}

static void make(tj_job *job, void *data) {
  making *m = data;
  tj_compilation *c = &m->compilation;
  uint64_t begin = tj_nanoseconds();
  c->target = tj_target_parse(job, c->plan->target);
  bool is_known = recall(c, &m->key);
  uint64_t looked = tj_nanoseconds();
  if (!is_known)
    tj_pipeline_complete(c);
  uint64_t made = tj_nanoseconds();
  if (!is_known && c->cache != NULL)
    tj_cache_keep_part(c->cache, &m->key, c->part);
  c->times.cache += looked - begin + tj_nanoseconds() - made;
}

tj_machine_part *tj_part_make(tj_job *job, void *order, const tj_machine *machine, const tj_launch_plan *plan,
                              uint32_t number) {
  tj_part_order *asked = order;
  if (!tj_tell(&job->listener, "variants compiled", 0, 1))
    tj_fail_cancelled(job);
  making m = {.compilation = {.cache = tj_context_cache(asked->context),
                              .idle_codegens = &tj_compiler_of(asked->context)->idle_codegens,
                              .job = job,
                              .waiting = machine,
                              .number = number,
                              .plan = plan,
                              .times = asked->times}};
  tj_status status = tj_job_run(job, make, &m);
  tj_machine_part *part = m.compilation.part;
  if (status == TJ_OK)
    m.compilation.part = NULL;
  tj_compilation_dispose(&m.compilation);
  if (status != TJ_OK)
    tj_fail_as(job, job);
  asked->times = m.compilation.times;
  return part;
}

/* SPDX-License-Identifier: MIT */
/* Machine code: creation, reference counts, and parts that come when they are needed. */
#include "launch/image/machine.h"

#include "base/machine/target_id.h"

#include <stdio.h>

/* --- parts --- */

typedef struct {
  tj_machine_part *part;
  const tj_launch_plan *plan;
  const tj_host_linker *linker;
  uint32_t count; /* of variants */
} loading;

static void load_host_code(tj_job *job, void *data) {
  loading *l = data;
  const char **symbol = TJ_NEW_ARRAY(job, const char *, l->count);
  for (uint32_t i = 0; i < l->count; i++)
    symbol[i] = l->plan->variant[l->part->first + i].symbol;
  l->part->host = tj_host_code_load(job, l->part->bytes, l->linker, symbol, l->count);
}

static tj_machine_part *create_part(const tj_allocator *allocator, tj_bytes bytes, uint32_t first) {
  tj_machine_part *part = allocator->allocate(allocator->user, sizeof *part + bytes.size);
  if (part == NULL)
    return NULL;
  if (bytes.size > 0)
    memcpy(part + 1, bytes.data, bytes.size);
  *part = (tj_machine_part){.bytes = {part + 1, bytes.size}, .first = first};
  return part;
}

enum { LONGEST_REASON = 512 };

/* Ends the job's body as that of another job ended, which goes. */
static _Noreturn void fail_as(tj_job *job, tj_job *failed) {
  char message[LONGEST_REASON], note[LONGEST_REASON];
  tj_status status = failed->status;
  tj_problem_code code = failed->problem.code;
  snprintf(message, sizeof message, "%s", failed->problem.message);
  snprintf(note, sizeof note, "%s", failed->problem.note);
  tj_job_destroy(failed);
  if (status == TJ_ERROR_MEMORY)
    tj_fail_out_of_memory(job);
  if (status == TJ_ERROR_CANCELLED)
    tj_fail_cancelled(job);
  tj_note(job, "%s", note);
  if (status == TJ_ERROR_SYSTEM)
    tj_fail_system(job, code, "%s", message);
  tj_fail(job, code, "%s", message);
}

/* Loading runs in a job of the machine code's allocator, since the handle outlives `job`. */
tj_machine_part *tj_machine_part_load(tj_job *job, const tj_allocator *allocator, tj_bytes bytes,
                                      const tj_launch_plan *plan, uint32_t number, const tj_host_linker *linker) {
  bool is_whole = number == TJ_ALL_VARIANTS;
  tj_machine_part *part = create_part(allocator, bytes, is_whole ? 0 : number);
  if (part == NULL)
    tj_fail_out_of_memory(job);
  if (!tj_target_is_host(plan->target))
    return part;
  tj_job inner;
  tj_job_init(&inner, allocator);
  loading l = {part, plan, linker, is_whole ? plan->variant_count : 1};
  if (tj_job_run(&inner, load_host_code, &l) != TJ_OK) {
    tj_machine_part_release(allocator, part);
    fail_as(job, &inner);
  }
  tj_job_destroy(&inner);
  return part;
}

void tj_machine_part_release(const tj_allocator *allocator, tj_machine_part *part) {
  if (part == NULL)
    return;
  tj_host_code_unload(part->host);
  allocator->release(allocator->user, part);
}

bool tj_machine_part_stands_by_itself(const tj_machine_part *part) {
  return part->host == NULL || tj_host_code_stands_by_itself(part->host);
}

/* --- machine code --- */

static tj_machine *create(tj_job *job, const tj_allocator *allocator, tj_bytes kernel, const tj_launch_plan *plan) {
  size_t parts = (size_t)plan->variant_count + 1, size = sizeof(tj_machine) + parts * sizeof(tj_machine_part *);
  tj_machine *machine = allocator->allocate(allocator->user, size + kernel.size);
  if (machine == NULL)
    tj_fail_out_of_memory(job);
  memset(machine, 0, size);
  if (kernel.size > 0)
    memcpy((char *)machine + size, kernel.data, kernel.size);
  machine->allocator = *allocator;
  atomic_init(&machine->references, 1);
  machine->variant_count = plan->variant_count;
  machine->kernel = (tj_bytes){(char *)machine + size, kernel.size};
  for (size_t i = 0; i < parts; i++)
    atomic_init(&machine->part[i], NULL);
  pthread_mutex_init(&machine->making, NULL);
  tj_machine_residents_open(&machine->residents);
  return machine;
}

tj_machine *tj_machine_wait(tj_job *job, const tj_allocator *allocator, tj_bytes kernel, const tj_launch_plan *plan) {
  return create(job, allocator, kernel, plan);
}

typedef struct {
  tj_machine *machine;
  tj_bytes bytes;
  const tj_launch_plan *plan;
  const tj_host_linker *linker;
} whole_loading;

static void load_whole(tj_job *job, void *data) {
  const whole_loading *l = data;
  tj_machine_part *part =
      tj_machine_part_load(job, &l->machine->allocator, l->bytes, l->plan, TJ_ALL_VARIANTS, l->linker);
  atomic_init(&l->machine->part[l->plan->variant_count], part);
}

tj_machine *tj_machine_load(tj_job *job, const tj_allocator *allocator, tj_bytes bytes, const tj_launch_plan *plan,
                            const tj_host_linker *linker) {
  whole_loading l = {create(job, allocator, (tj_bytes){NULL, 0}, plan), bytes, plan, linker};
  if (tj_job_run(job, load_whole, &l) == TJ_OK)
    return l.machine;
  tj_machine_release(l.machine);
  tj_fail_as(job, job);
}

tj_machine *tj_machine_retain(tj_machine *machine) {
  atomic_fetch_add_explicit(&machine->references, 1, memory_order_relaxed);
  return machine;
}

/* What is in a place: 0 … variant_count. */
static tj_machine_part *part_at(const tj_machine *machine, uint32_t place) {
  return atomic_load_explicit(&machine->part[place], memory_order_acquire);
}

void tj_machine_release(tj_machine *machine) {
  if (machine == NULL || atomic_fetch_sub_explicit(&machine->references, 1, memory_order_acq_rel) != 1)
    return;
  tj_machine_residents_close(&machine->residents);
  for (uint32_t i = 0; i <= machine->variant_count; i++)
    tj_machine_part_release(&machine->allocator, part_at(machine, i));
  pthread_mutex_destroy(&machine->making);
  machine->allocator.release(machine->allocator.user, machine);
}

void tj_machine_write(tj_text *text, const tj_machine *machine) {
  bool waits = machine->kernel.size > 0;
  tj_write_u8(text, waits);
  tj_write_bytes(text, waits ? machine->kernel : part_at(machine, machine->variant_count)->bytes);
}

tj_machine *tj_machine_read(tj_job *job, const tj_allocator *allocator, tj_reader *reader,
                            const tj_launch_plan *plan) {
  uint8_t waits = tj_read_u8(reader);
  tj_bytes bytes = tj_read_bytes(reader);
  if (reader->is_failed || waits > 1 || bytes.size == 0)
    return NULL;
  return waits == 1 ? tj_machine_wait(job, allocator, bytes, plan)
                    : tj_machine_load(job, allocator, bytes, plan, NULL);
}

bool tj_machine_stands_by_itself(const tj_machine *machine) {
  bool stands = true;
  for (uint32_t i = 0; i <= machine->variant_count; i++) {
    const tj_machine_part *part = part_at(machine, i);
    stands = stands && (part == NULL || tj_machine_part_stands_by_itself(part));
  }
  return stands;
}

size_t tj_machine_size(const tj_machine *machine) {
  size_t size = sizeof *machine + machine->kernel.size;
  for (uint32_t i = 0; i <= machine->variant_count; i++) {
    const tj_machine_part *part = part_at(machine, i);
    size += sizeof part;
    if (part != NULL)
      size += sizeof *part + part->bytes.size + (part->host != NULL ? tj_host_code_size(part->host) : 0);
  }
  return size;
}

/* --- parts that wait --- */

const tj_machine_part *tj_machine_find(const tj_machine *machine, uint32_t number) {
  const tj_machine_part *whole = part_at(machine, machine->variant_count);
  return whole != NULL || number == TJ_ALL_VARIANTS ? whole : part_at(machine, number);
}

typedef struct {
  tj_machine *machine;
  const tj_launch_plan *plan;
  uint32_t number;
  tj_part_maker maker;
  void *user;
} requirement;

static void make_part(tj_job *job, void *data) {
  const requirement *r = data;
  if (tj_machine_find(r->machine, r->number) != NULL)
    return;
  tj_machine_part *part = r->maker(job, r->user, r->machine, r->plan, r->number);
  uint32_t place = r->number == TJ_ALL_VARIANTS ? r->machine->variant_count : r->number;
  atomic_store_explicit(&r->machine->part[place], part, memory_order_release);
}

/* Making runs in a job of its own, whose memory goes at once; whoever comes second waits, and finds the part. */
const tj_machine_part *tj_machine_require(tj_job *job, tj_machine *machine, const tj_launch_plan *plan,
                                          uint32_t number, tj_part_maker maker, void *user) {
  const tj_machine_part *part = tj_machine_find(machine, number);
  if (part != NULL)
    return part;
  if (maker == NULL)
    tj_fail(job, TJ_INTERNAL, "kernel '%s' has no machine code, and nothing here compiles it", plan->kernel);
  tj_job inner;
  tj_job_init(&inner, &job->allocator);
  inner.listener = job->listener;
  bool is_whole = number == TJ_ALL_VARIANTS || machine->variant_count == 1;
  requirement r = {machine, plan, is_whole ? TJ_ALL_VARIANTS : number, maker, user};
  pthread_mutex_lock(&machine->making);
  tj_status status = tj_job_run(&inner, make_part, &r);
  pthread_mutex_unlock(&machine->making);
  if (status != TJ_OK)
    fail_as(job, &inner);
  tj_job_destroy(&inner);
  return tj_machine_find(machine, number);
}

/* SPDX-License-Identifier: MIT */
/* Tensor DMA: a descriptor in scalar registers says which elements of a tensor go where in LDS, or come from there.
 * It is the wave that asks, whichever of its lanes are on. What is loaded is there once the kernel has waited for it
 * (waits.h); until then nobody may touch it. */
#include "base/dma/decode.h"
#include "rt/sim/machine/wave.h"

#include <string.h>

/* One transfer while it is under way. */
typedef struct {
  tj_sim_wave *wave;
  bool is_store;
  uint64_t begin, end; /* of what it has touched of LDS */
  tj_dma_touched touched;
} transfer;

enum { GROUPS = 4, PADS = 1 << 20 /* in dword 4, the first of group 1 */ };

static const char *lds_problem(const transfer *t, const tj_dma_element *element) {
  const tj_sim_group *group = t->wave->group;
  uint32_t time = group->barriers + 1, bytes = element->element_bytes;
  if (element->lds > group->lds_bytes || bytes > group->lds_bytes - element->lds)
    return "the workgroup has less LDS";
  if (group->shadow == NULL)
    return NULL;
  tj_sim_shadow *shadow = group->shadow + element->lds;
  return t->is_store ? tj_sim_shadow_note(shadow, bytes, TJ_SIM_SHADOW_READ, time, t->wave->number)
                     : tj_sim_shadow_expect(shadow, bytes, time, t->wave->number, group->lds_loads);
}

static void move(const transfer *t, const tj_dma_element *element) {
  unsigned char *lds = t->wave->group->lds + element->lds;
  unsigned char *memory = (unsigned char *)(uintptr_t)element->address;
  if (element->is_filled)
    memset(lds, 0, element->element_bytes);
  else
    memcpy(t->is_store ? memory : lds, t->is_store ? lds : memory, element->element_bytes);
}

/* An element beyond the tensor is zero where it is loaded, and not stored. Each counts as an instruction: descriptors
 * may have more of them than anybody waits for. */
static bool visit(const tj_dma_element *element, void *data) {
  transfer *t = data;
  uint32_t bytes = element->element_bytes;
  if (!tj_sim_spend(t->wave))
    return false;
  if (t->is_store && !element->is_stored)
    return true;
  if (!element->is_filled && tj_sim_memory_at(t->wave->group->memory, element->address, bytes, t->is_store) == NULL) {
    tj_sim_wave_fault(t->wave, 0, bytes, element->address, t->is_store);
    return false;
  }
  const char *problem = lds_problem(t, element);
  if (problem != NULL) {
    tj_sim_wave_fail(t->wave, 0, "%u bytes at LDS address %llu: %s", bytes, (unsigned long long)element->lds,
                     problem);
    return false;
  }
  move(t, element);
  t->begin = element->lds < t->begin ? element->lds : t->begin;
  t->end = element->lds + bytes > t->end ? element->lds + bytes : t->end;
  tj_dma_touch(&t->touched, element);
  return true;
}

/* The dwords of the groups that the instruction names; zeros for the others. */
static void read_descriptor(const tj_sim_wave *wave, const tj_sim_instruction *instruction,
                            uint32_t dword[TJ_TENSOR_DESCRIPTOR_DWORDS]) {
  static const uint32_t first[GROUPS] = {0, 4, 12, 16};
  memset(dword, 0, TJ_TENSOR_DESCRIPTOR_DWORDS * sizeof *dword);
  for (unsigned g = 0; g < GROUPS && g < instruction->operand_count; g++) {
    const tj_sim_operand *operand = &instruction->operand[g];
    for (unsigned i = 0; operand->index != TJ_SIM_NULL && i < operand->width; i++)
      dword[first[g] + i] = wave->scalar[operand->index + i];
  }
}

/* Rows that are stored twice are what nobody says. */
static bool has_rows_twice(const uint32_t dword[TJ_TENSOR_DESCRIPTOR_DWORDS]) {
  uint32_t rows = tj_dma_gathered_rows(dword);
  for (uint32_t i = 0; i < rows && rows <= TJ_DMA_MOST_ROWS; i++) {
    for (uint32_t k = 0; k < i; k++) {
      if (tj_dma_row_index(dword, i) == tj_dma_row_index(dword, k))
        return true;
    }
  }
  return false;
}

void tj_sim_execute_tensor(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  transfer t = {.wave = wave,
                .is_store = instruction->operation->transfer == TJ_SIM_STORE,
                .begin = UINT64_MAX,
                .touched = {.line_bytes = wave->group->line_bytes}};
  uint32_t dword[TJ_TENSOR_DESCRIPTOR_DWORDS];
  read_descriptor(wave, instruction, dword);
  wave->group->lds_loads++;
  uint32_t element_bytes = 1u << (dword[4] >> 16 & 3);
  if (t.is_store)
    dword[4] &= ~(uint32_t)PADS;
  if (t.is_store && has_rows_twice(dword))
    tj_sim_wave_fail(wave, 0, "a row of memory is stored twice by one instruction");
  else if (!tj_dma_decode_descriptor(dword, visit, &t))
    tj_sim_wave_fail(wave, 0, "this is no descriptor that a program may give");
  if (wave->state == TJ_SIM_FAILED)
    return;
  tj_dma_touch_no_more(&t.touched);
  tj_sim_count_box(wave->group->counters, &t.touched, element_bytes, t.is_store);
  tj_sim_issue_lds_load(wave, TJ_SIM_WAIT_TENSOR, t.begin, t.is_store ? 0 : t.end);
}

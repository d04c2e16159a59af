/* SPDX-License-Identifier: MIT */
/* Images of code objects: what can be simulated of them, their memory, their relocations, their kernels. */
#include "rt/sim/load/image.h"

#include "rt/sim/isa/decode.h"

#include <stdio.h>

enum { OLDEST_VERSION = 4 };
enum { RELOCATION_ABS64 = 3, RELOCATION_ABS32 = 6, RELOCATION_RELATIVE = 13 };

static const uint64_t largest_image = 1u << 30;

/* --- reading --- */

static void check_target(tj_job *job, const tj_code_object *object) {
  if (tj_sim_processor_named(object->processor->name) == NULL)
    tj_fail(job, TJ_CODE_OBJECT, "its processor is not simulated");
  if (object->code_object_version < OLDEST_VERSION)
    tj_fail(job, TJ_CODE_OBJECT, "its code object version is not 4, 5 or 6");
}

static uint64_t size_of(tj_job *job, const tj_code_object *object) {
  uint64_t size = 0;
  for (uint32_t i = 0; i < object->segment_count; i++)
    size = object->segment[i].address + object->segment[i].memory_size;
  if (size > largest_image)
    tj_fail(job, TJ_CODE_OBJECT, "its image is too large");
  return size;
}

static uint32_t bytes_of(const tj_relocation *relocation) {
  return relocation->type == RELOCATION_ABS32 ? 4 : 8;
}

static void check_relocation(tj_job *job, const tj_relocation *relocation, uint64_t size) {
  bool has_symbol = relocation->type == RELOCATION_ABS64 || relocation->type == RELOCATION_ABS32;
  if (!has_symbol && relocation->type != RELOCATION_RELATIVE)
    tj_fail(job, TJ_CODE_OBJECT, "it has a relocation of type %u, which is not supported", relocation->type);
  if (has_symbol && !relocation->is_defined)
    tj_fail(job, TJ_CODE_OBJECT, "the symbol %.100s is not defined", relocation->symbol);
  if (relocation->address > size || bytes_of(relocation) > size - relocation->address)
    tj_fail(job, TJ_CODE_OBJECT, "a relocation lies outside of the image");
}

static tj_target_id target_of(const tj_code_object *object) {
  tj_target_id target = {.feature = {[TJ_TARGET_XNACK] = object->xnack, [TJ_TARGET_SRAMECC] = object->sramecc}};
  snprintf(target.processor, sizeof target.processor, "%s", object->processor->name);
  return target;
}

tj_sim_image *tj_sim_image_read(tj_job *job, tj_bytes bytes) {
  const tj_code_object *object = tj_code_object_parse(job, bytes);
  tj_sim_image *image = TJ_NEW(job, tj_sim_image);
  check_target(job, object);
  tj_code_object_agree(job, object, TJ_CODE_OBJECT);
  *image = (tj_sim_image){.object = object, .target = target_of(object), .size = size_of(job, object)};
  for (uint32_t i = 0; i < object->relocation_count; i++)
    check_relocation(job, &object->relocation[i], image->size);
  image->kernel = TJ_NEW_ARRAY(job, tj_sim_kernel, object->kernel_count + 1u);
  for (uint32_t i = 0; i < object->kernel_count; i++)
    image->kernel[i].code = &object->kernel[i];
  return image;
}

/* --- loading --- */

static void relocate(const tj_sim_image *image, const tj_relocation *relocation) {
  uint64_t place = relocation->type == RELOCATION_RELATIVE ? 0 : relocation->symbol_address;
  uint64_t value = (uint64_t)(uintptr_t)image->memory + place + (uint64_t)relocation->addend;
  memcpy(image->memory + relocation->address, &value, bytes_of(relocation));
}

void tj_sim_image_load(tj_sim_image *image, unsigned char *memory) {
  const tj_code_object *object = image->object;
  image->memory = memory;
  memset(memory, 0, image->size);
  for (uint32_t i = 0; i < object->segment_count; i++) {
    const tj_segment *segment = &object->segment[i];
    if (segment->bytes.size > 0)
      memcpy(memory + segment->address, segment->bytes.data, segment->bytes.size);
  }
  for (uint32_t i = 0; i < object->relocation_count; i++)
    relocate(image, &object->relocation[i]);
}

void tj_sim_image_decode(tj_job *job, tj_sim_image *image, void *disassembler, uint32_t lanes) {
  for (uint32_t i = 0; i < image->object->kernel_count; i++) {
    const tj_kernel_code *code = image->kernel[i].code;
    tj_bytes bytes = {image->memory + code->entry_address, code->code.size};
    if (code->descriptor.wave_size == lanes)
      image->kernel[i].program = tj_sim_decode(job, disassembler, bytes);
  }
}

/* --- kernels by name --- */

const tj_sim_kernel *tj_sim_image_kernel(const tj_sim_image *image, const char *name) {
  size_t length = strlen(name);
  if (length > 3 && strcmp(name + length - 3, ".kd") == 0)
    length -= 3;
  for (uint32_t i = 0; i < image->object->kernel_count; i++) {
    const char *candidate = image->kernel[i].code->name;
    if (strlen(candidate) == length && memcmp(candidate, name, length) == 0)
      return &image->kernel[i];
  }
  return NULL;
}

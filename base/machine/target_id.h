/* SPDX-License-Identifier: MIT */
/* Target IDs: a processor and the features that code fixes or a device has, as in gfx90a:sramecc+:xnack-.
 *
 * LLVM's "User Guide for AMDGPU Backend" defines them: features may stand in any order, each once; the canonical form
 * has them in the alphabet's. A feature that is left out of the ID of code may be on or off where it runs. `host` is
 * a target ID without features, and so are NVIDIA's processors, sm_90, whose code is PTX, or with sm_90:cubin machine
 * code, and the levels of processors that a host may have (host_level.def). This is the one reader of them: for
 * compilation, for launches, for simulated agents and for what code objects say of themselves. Which processors there
 * are, and which features each has, is not known here.
 *
 * Pure functions, but for what they ask this processor; texts are not trusted: nothing is read past their zero, and
 * none is too long. */
#ifndef TJ_BASE_TARGET_ID_H
#define TJ_BASE_TARGET_ID_H

#include "base/diag.h"

#include <stdbool.h>
#include <stdint.h>

/* A feature of code or of a device. The values are those of two bits of the flags of code objects since version 4. */
typedef enum {
  TJ_FEATURE_UNSUPPORTED, /* the processor does not have it; texts do not tell this from any */
  TJ_FEATURE_ANY,
  TJ_FEATURE_OFF,
  TJ_FEATURE_ON
} tj_feature;

/* FEATURE(name, constant), in canonical order. */
#define TJ_TARGET_FEATURES(FEATURE) FEATURE(sramecc, SRAMECC) FEATURE(xnack, XNACK)

typedef enum {
#define FEATURE(name, constant) TJ_TARGET_##constant,
  TJ_TARGET_FEATURES(FEATURE)
#undef FEATURE
      TJ_TARGET_FEATURE_COUNT
} tj_target_feature;

enum { TJ_PROCESSOR_SIZE = 32, TJ_TARGET_ID_SIZE = 64, TJ_TARGET_REASON_SIZE = 192 };

typedef struct {
  char processor[TJ_PROCESSOR_SIZE];
  tj_feature feature[TJ_TARGET_FEATURE_COUNT];
  bool is_cubin; /* code of an NVIDIA processor is machine code, not PTX */
} tj_target_id;

/* Why a text is no target ID, or why code does not run on a device. `code` 0: there is no reason. */
typedef struct {
  tj_problem_code code; /* TJ5001, TJ5002 for texts; TJ6009 for devices */
  char text[TJ_TARGET_REASON_SIZE];
} tj_target_reason;

/* Reads a text; features that it leaves out are TJ_FEATURE_ANY. False with a reason: TJ5001 where the processor is
 * missing or too long to be one, TJ5002 where a feature is unknown, without sign, or repeated. */
bool tj_target_id_parse(const char *text, tj_target_id *id, tj_target_reason *reason);

/* The canonical text. */
void tj_target_id_write(const tj_target_id *id, char text[TJ_TARGET_ID_SIZE]);

/* Whether code of one target ID runs on a device of another: the processors are the same, or NVIDIA's, the device's
 * not before the code's, as PTX allows, and for cubins of the same major number; and the device has each feature that
 * the code fixes as the code fixes it. Or the device is the host, which has the level that the code is for. False
 * with a reason. */
bool tj_target_id_allows(const tj_target_id *code, const tj_target_id *device, tj_target_reason *reason);

/* The same of texts. Texts that are no target IDs are no reason to run code. */
bool tj_target_allows(const char *code, const char *device, tj_target_reason *reason);

/* Whether it is that of code for a processor, not for a GPU: `host`, or a level. */
bool tj_target_is_host(const char *text);

/* The target ID in the name that HSA gives an ISA, and code objects their target: what follows the triple in
 * amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-. NULL where there is none. */
const char *tj_target_id_in_isa(const char *name);

/* sramecc, xnack. */
const char *tj_target_feature_name(tj_target_feature feature);

#endif

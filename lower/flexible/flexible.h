/* SPDX-License-Identifier: MIT */
/* Flexible tiles: copies whose extents and strides are known at the launch only, close to static ones.
 *
 * One tiled kernel serves all extents. Its tiles are boxes of up to six modes whose lengths the launch chooses from
 * the extents, so that little of a tile is empty, both sides see long runs, and no tile reaches beyond the domain:
 * the last one along a mode is moved back inside, and some elements are moved twice. So there are no masks but those
 * of views that pad, which are bounds of sums of digits and strides; tiles that are within all of them have none, or
 * scalars have them (flexible_scalar.c), and then those of the last tile's rows that are beyond the domain, too. The
 * launch also names every extent and stride, and states its conditions on them; so work-items compute a 32-bit offset
 * each, and a number for each sum that is bounded, and all else is the same for a workgroup. */
#ifndef TJ_LOWER_FLEXIBLE_H
#define TJ_LOWER_FLEXIBLE_H

#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"

/* Whom a flexible kernel serves. */
typedef enum {
  TJ_FLEXIBLE_SERVES_NONE,
  TJ_FLEXIBLE_SERVES_WHOLE_VECTORS, /* launches whose pads and extents along vectors are whole ones */
  TJ_FLEXIBLE_SERVES_MOST
} tj_flexible_service;

/* Offers the flexible kernel in the place of a flat copy, where the launch's parameters allow: with the modes and
 * vectors of the given mapping, NULL for those that are chosen. There is none where nothing depends on parameters,
 * offsets are no sums of digits and strides, or a side has no neighbours. TJ4020 for a given mapping of another form.
 */
tj_flexible_service tj_offer_flexible(tj_graph *graph, tj_kernel *flat, const tj_target *target,
                                      const struct tj_mapping *given);

#endif

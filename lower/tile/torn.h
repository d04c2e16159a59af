/* SPDX-License-Identifier: MIT */
/* Sides of which views tear all vectors, found in numbers, before expressions of any tile are made. */
#ifndef TJ_LOWER_TORN_H
#define TJ_LOWER_TORN_H

#include "lower/kernel/domain.h"
#include "lower/tile/coordinates.h"

/* Whether no elements that lie beside each other move together: along every mode in which a side has neighbours, an
 * example was found of a first element that is masked where the second is not, or of two that are apart. False: not
 * known. `shared` as of tilings. */
bool tj_is_torn(tj_graph *graph, tj_coordinates *shared, const tj_domain *domain, bool of_source, uint32_t buffer);

#endif

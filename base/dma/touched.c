/* SPDX-License-Identifier: MIT */
/* Runs of a box, counted as each ends. */
#include "base/dma/touched.h"

#include "base/machine/cache_line.h"

void tj_dma_touch_no_more(tj_dma_touched *touched) {
  if (touched->begin == touched->end)
    return;
  tj_line_count lines = tj_count_lines(&touched->begin, 1, touched->end - touched->begin, touched->line_bytes);
  touched->bytes += touched->end - touched->begin;
  touched->lines += lines.touched;
  touched->least_lines += lines.least;
  touched->begin = touched->end = 0;
}

void tj_dma_touch(tj_dma_touched *touched, const tj_dma_element *element) {
  if (element->is_filled)
    return;
  if (touched->end != element->address || touched->begin == touched->end) {
    tj_dma_touch_no_more(touched);
    touched->begin = element->address;
  }
  touched->end = element->address + element->element_bytes;
}

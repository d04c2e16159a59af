/* SPDX-License-Identifier: MIT */
/* Colours of pictures: a gradient and eight hues that people with any kind of colour vision can tell apart.
 *
 * The hues are those of Okabe and Ito, mixed with white so that black text can be read on them; the gradient goes
 * from light yellow over green to dark blue, so that its lightness alone tells the order. */
#include "jit/show/show.h"

#include <math.h>

typedef struct {
  double red, green, blue; /* 0 to 1 */
} colour;

static colour colour_of(uint32_t rgb) {
  return (colour){(rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0};
}

static uint32_t byte_of(double part) {
  return (uint32_t)(part * 255.0 + 0.5);
}

static uint32_t rgb_of(colour c) {
  return byte_of(c.red) << 16 | byte_of(c.green) << 8 | byte_of(c.blue);
}

/* `a` where amount is 0, `b` where it is 1. */
static colour mixed(colour a, colour b, double amount) {
  return (colour){a.red + (b.red - a.red) * amount, a.green + (b.green - a.green) * amount,
                  a.blue + (b.blue - a.blue) * amount};
}

uint32_t tj_colour_gradient(int64_t key, int64_t least, int64_t greatest) {
  static const uint32_t stops[] = {0xffffe3, 0xeaf7bf, 0xcaebbf, 0xa3dbc1, 0x7ccac8, 0x64b4d3, 0x649ed2, 0x6f8acc};
  enum { LAST = sizeof stops / sizeof *stops - 1 };
  if (greatest <= least)
    return stops[1];
  double place = ((double)key - (double)least) / ((double)greatest - (double)least) * LAST;
  int stop = place >= LAST ? LAST - 1 : place > 0 ? (int)place : 0;
  return rgb_of(mixed(colour_of(stops[stop]), colour_of(stops[stop + 1]), place - stop));
}

/* Blue and vermillion get less white, which sets them off from sky blue and orange. */
static uint32_t hue_with_white(int64_t hue, double white) {
  static const uint32_t hues[] = {0x56b4e9, 0xe69f00, 0x009e73, 0xf0e442, 0xcc79a7, 0x0072b2, 0xd55e00, 0x8c8c8c};
  double share = (hue & 7) == 5 || (hue & 7) == 6 ? 0.8 * white : white;
  return rgb_of(mixed(colour_of(hues[hue & 7]), colour_of(0xffffff), share));
}

uint32_t tj_colour_category(int64_t hue, int64_t shade) {
  static const double white[] = {0.45, 0.70, 0.22, 0.85};
  return hue_with_white(hue, white[shade & 3]);
}

uint32_t tj_colour_shaded(int64_t hue, int64_t shade, int64_t shade_count) {
  double place = shade_count > 1 ? (double)shade / (double)(shade_count - 1) : 0.5;
  return hue_with_white(hue, 0.82 - 0.67 * place);
}

static double linear(double part) {
  return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4);
}

uint32_t tj_colour_on(uint32_t fill) {
  colour c = colour_of(fill);
  double luminance = 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
  return luminance > 0.179 ? 0x000000 : 0xffffff;
}

/* SPDX-License-Identifier: MIT */
/* Fields of groups, then loops over what they say. */
#include "base/dma/decode.h"

enum { GROUP0 = 0, GROUP1 = 4 * 32, GROUP2 = 12 * 32, GROUP3 = 16 * 32, RANK = TJ_TENSOR_MAP_DIMENSIONS };
enum { WIDE_INDICES = GROUP0 + 30, GATHER = GROUP0 + 31, ITERATE = GROUP1 + 19 };

/* --- AMD --- */

typedef struct {
  uint64_t address, lds, element_bytes;
  uint64_t valid[RANK], tile[RANK];
  uint64_t stride[RANK]; /* elements; [0] is 1 */
  uint64_t iterations, address_step, lds_step;
  uint64_t interval, pad; /* bytes; 0: none */
} descriptor;

/* `count` bits from bit `first` on, at most 64. */
static uint64_t bits_of(const uint32_t dword[], unsigned first, unsigned count) {
  uint64_t value = 0;
  for (unsigned i = 0; i < count; i++)
    value |= (uint64_t)(dword[(first + i) / 32] >> (first + i) % 32 & 1) << i;
  return value;
}

static bool is_valid(const uint32_t dword[]) {
  bool has_type = bits_of(dword, GROUP0 + 126, 2) == 2, is_one = bits_of(dword, GROUP0, 2) == 1;
  bool is_clear = bits_of(dword, GROUP0 + 2, 28) == 0 && bits_of(dword, GROUP0 + 121, 5) == 0;
  return has_type && is_one && is_clear;
}

/* --- gathers --- */

static bool gathers(const uint32_t dword[]) {
  return bits_of(dword, GATHER, 1) != 0;
}

static unsigned index_bits(const uint32_t dword[]) {
  return bits_of(dword, WIDE_INDICES, 1) != 0 ? 32 : 16;
}

/* A gather has rows of one dimension, as many as indices, which take the place of what else groups 2 and 3 say. */
static bool is_gather(const uint32_t dword[], const descriptor *d) {
  return bits_of(dword, ITERATE, 1) == 0 && d->tile[2] == 0 &&
         d->tile[1] <= TJ_DMA_MOST_ROWS * 16 / index_bits(dword);
}

uint32_t tj_dma_gathered_rows(const uint32_t dword[TJ_TENSOR_DESCRIPTOR_DWORDS]) {
  return gathers(dword) ? (uint32_t)bits_of(dword, GROUP1 + 128, 16) : 0;
}

uint32_t tj_dma_row_index(const uint32_t dword[TJ_TENSOR_DESCRIPTOR_DWORDS], uint32_t row) {
  return (uint32_t)bits_of(dword, GROUP2 + row * index_bits(dword), index_bits(dword));
}

/* --- descriptors --- */

static bool is_plain(const uint32_t dword[]) {
  return bits_of(dword, WIDE_INDICES, 1) == 0 && bits_of(dword, GROUP3 + 96, 32) == 0;
}

static void read_iterations(const uint32_t dword[], descriptor *d) {
  d->iterations = bits_of(dword, GROUP2 + 112, 16) + 1;
  d->lds_step = bits_of(dword, GROUP2 + 32, 32);
  d->address_step = bits_of(dword, GROUP2 + 64, 48);
}

static void read_upper_dimensions(const uint32_t dword[], descriptor *d) {
  d->valid[3] = bits_of(dword, GROUP2 + 32, 32);
  d->stride[3] = bits_of(dword, GROUP2 + 64, 48);
  d->tile[3] = bits_of(dword, GROUP2 + 112, 16);
  d->stride[4] = bits_of(dword, GROUP3, 48);
  d->valid[4] = bits_of(dword, GROUP3 + 48, 32);
  d->tile[4] = bits_of(dword, GROUP3 + 80, 16);
}

static descriptor read(const uint32_t dword[]) {
  descriptor d = {.lds = bits_of(dword, GROUP0 + 32, 32), .address = bits_of(dword, GROUP0 + 64, 57)};
  d.element_bytes = UINT64_C(1) << bits_of(dword, GROUP1 + 16, 2);
  d.valid[0] = bits_of(dword, GROUP1 + 48, 32);
  d.valid[1] = bits_of(dword, GROUP1 + 80, 32);
  d.tile[0] = bits_of(dword, GROUP1 + 112, 16);
  d.tile[1] = bits_of(dword, GROUP1 + 128, 16);
  d.tile[2] = bits_of(dword, GROUP1 + 144, 16);
  d.stride[0] = 1;
  d.stride[1] = bits_of(dword, GROUP1 + 160, 48);
  d.stride[2] = bits_of(dword, GROUP1 + 208, 48);
  if (bits_of(dword, GROUP1 + 20, 1) != 0) {
    d.interval = UINT64_C(8) << bits_of(dword, GROUP1 + 22, 3);
    d.pad = 4 * (bits_of(dword, GROUP1 + 25, 7) + 1);
  }
  d.iterations = 1;
  if (gathers(dword))
    return d;
  d.valid[2] = bits_of(dword, GROUP2, 32);
  if (bits_of(dword, ITERATE, 1) != 0)
    read_iterations(dword, &d);
  else
    read_upper_dimensions(dword, &d);
  return d;
}

/* Where the next element goes in LDS, and how many bytes have gone there since the last pad. */
typedef struct {
  uint64_t lds, stored;
  tj_dma_visitor visit;
  void *data;
} mover;

static bool move_element(const descriptor *d, mover *to, uint64_t address, bool is_inside) {
  const tj_dma_element element = {address, to->lds, (uint32_t)d->element_bytes, !is_inside, is_inside};
  if (!to->visit(&element, to->data))
    return false;
  to->lds += d->element_bytes;
  to->stored += d->element_bytes;
  if (d->interval != 0 && to->stored >= d->interval) {
    to->stored = 0;
    to->lds += d->pad;
  }
  return true;
}

static bool move_tile(const descriptor *d, uint64_t address, mover to) {
  uint64_t count = d->tile[0], at[RANK] = {0};
  for (unsigned k = 1; k < RANK; k++)
    if (d->tile[k] != 0 && __builtin_mul_overflow(count, d->tile[k], &count))
      count = UINT64_MAX;
  for (uint64_t n = 0; n < count; n++) {
    uint64_t offset = 0;
    bool is_inside = true;
    for (unsigned k = 0; k < RANK; k++) {
      offset += at[k] * d->stride[k];
      is_inside = is_inside && (d->tile[k] == 0 || at[k] < d->valid[k]);
    }
    if (!move_element(d, &to, address + offset * d->element_bytes, is_inside))
      return false;
    for (unsigned k = 0; k < RANK && ++at[k] >= d->tile[k]; k++)
      at[k] = 0;
  }
  return true;
}

/* Rows whose index is no row of the tensor are zeros. */
static void move_rows(const descriptor *d, const uint32_t dword[], mover to) {
  for (uint32_t row = 0; row < d->tile[1]; row++) {
    uint64_t index = tj_dma_row_index(dword, row), first = d->address + index * d->stride[1] * d->element_bytes;
    for (uint64_t x = 0; x < d->tile[0]; x++) {
      if (!move_element(d, &to, first + x * d->element_bytes, x < d->valid[0] && index < d->valid[1]))
        return;
    }
  }
}

bool tj_dma_decode_descriptor(const uint32_t dword[TJ_TENSOR_DESCRIPTOR_DWORDS], tj_dma_visitor visit, void *data) {
  descriptor d = read(dword);
  if (!is_valid(dword) || !(gathers(dword) ? is_gather(dword, &d) : is_plain(dword)))
    return false;
  mover to = {.lds = d.lds, .visit = visit, .data = data};
  bool goes_on = !gathers(dword);
  if (gathers(dword))
    move_rows(&d, dword, to);
  for (uint64_t i = 0; i < d.iterations && goes_on; i++) {
    to.lds = d.lds + i * d.lds_step * d.element_bytes;
    goes_on = move_tile(&d, d.address + i * d.address_step * d.element_bytes, to);
  }
  return true;
}

/* --- NVIDIA --- */

static bool is_swizzle(uint32_t bytes) {
  return bytes == 0 || bytes == 32 || bytes == 64 || bytes == 128;
}

bool tj_dma_allows_boxes(uint32_t element_bytes, uint32_t swizzle, const uint32_t box[], uint32_t rank) {
  bool allows = rank >= 1 && rank <= RANK && is_swizzle(swizzle) && element_bytes <= 8 &&
                __builtin_popcount(element_bytes) == 1;
  for (uint32_t k = 0; k < rank && allows; k++)
    allows = box[k] >= 1 && box[k] <= 256;
  uint64_t row = allows ? (uint64_t)box[0] * element_bytes : 0;
  return allows && row % 16 == 0 && (swizzle == 0 || row <= swizzle);
}

static bool is_map(const tj_tensor_map *map) {
  bool is_good = tj_dma_allows_boxes(map->element_bytes, map->swizzle, map->box, map->rank) && map->address % 16 == 0;
  for (uint32_t k = 0; is_good && k < map->rank; k++)
    is_good = map->extent[k] >= 1 && map->extent[k] <= UINT64_C(1) << 32 && map->element_stride[k] >= 1 &&
              map->element_stride[k] <= 8;
  for (uint32_t k = 0; is_good && k + 1 < map->rank; k++)
    is_good = map->stride[k] % 16 == 0 && map->stride[k] < UINT64_C(1) << 40;
  return is_good;
}

/* Bits 4 and up, as many as rows of the swizzle have of 16 bytes, with those from bit 7 on. */
static uint64_t swizzled(uint64_t lds, uint32_t row) {
  uint64_t chunks = row / 16;
  return chunks == 0 ? lds : lds ^ (lds >> 7 & (chunks - 1)) << 4;
}

/* Rows of a box that is swizzled begin at those of the swizzle. */
static uint64_t place_in_lds(const tj_tensor_map *map, uint64_t number, uint64_t row_length) {
  uint64_t row_bytes = map->swizzle == 0 ? row_length * map->element_bytes : map->swizzle;
  return number / row_length * row_bytes + number % row_length * map->element_bytes;
}

/* Elements of a row that stores write: all of its units of 16 bytes. An H100 does so, whoever owns what lies behind.
 */
static uint64_t stored_row(const tj_tensor_map *map) {
  return (map->extent[0] * map->element_bytes + 15) / 16 * 16 / map->element_bytes;
}

/* Whether an element is the tensor's, if rows have so many. */
static bool is_within(const tj_tensor_map *map, const int64_t place[], uint64_t row) {
  bool is_inside = true;
  for (uint32_t k = 0; k < map->rank; k++)
    is_inside = is_inside && place[k] >= 0 && (uint64_t)place[k] < (k == 0 ? row : map->extent[k]);
  return is_inside;
}

bool tj_dma_decode_map(const tj_tensor_map *map, const int32_t coordinate[], uint64_t lds, tj_dma_visitor visit,
                       void *data) {
  if (!is_map(map) || lds % 128 != 0 || (int64_t)coordinate[0] * map->element_bytes % 16 != 0)
    return false;
  uint64_t length[RANK] = {map->box[0]}, at[RANK] = {0}, count = map->box[0];
  for (uint32_t k = 1; k < map->rank; k++) {
    length[k] = (map->box[k] + map->element_stride[k] - 1) / map->element_stride[k];
    count *= length[k];
  }
  for (uint64_t n = 0; n < count; n++) {
    uint64_t address = map->address;
    int64_t place[RANK];
    for (uint32_t k = 0; k < map->rank; k++) {
      place[k] = (int64_t)(k == 0 ? at[0] : at[k] * map->element_stride[k]) + coordinate[k];
      address += (uint64_t)place[k] * (k == 0 ? map->element_bytes : map->stride[k - 1]);
    }
    bool is_inside = is_within(map, place, map->extent[0]), is_stored = is_within(map, place, stored_row(map));
    uint64_t to = swizzled(lds + place_in_lds(map, n, length[0]), map->swizzle);
    if (!visit(&(tj_dma_element){address, to, map->element_bytes, !is_inside, is_stored}, data))
      break;
    for (uint32_t k = 0; k < map->rank && ++at[k] == length[k]; k++)
      at[k] = 0;
  }
  return true;
}

bool tj_dma_can_store(const tj_tensor_map *map, const int32_t coordinate[]) {
  bool is_inside = true;
  for (uint32_t k = 0; k < map->rank; k++)
    is_inside = is_inside && coordinate[k] >= 0;
  return is_inside;
}

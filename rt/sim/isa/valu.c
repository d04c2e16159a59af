/* SPDX-License-Identifier: MIT */
/* Vector arithmetic: what every lane computes is in valu.def; here is how lanes get at their operands.
 *
 * An instruction is computed for all lanes of exec before any result is written, so that sources that come from other
 * lanes, and dual-issue pairs, see the registers as they were. */
#include "rt/sim/isa/valu.h"

#include "rt/sim/machine/small_float.h"

/* --- what one lane computes --- */

#define VALU(name, form, result_type, a_type, b_type, c_type, ...)                                                   \
  static void lane_##name(tj_sim_lane *lane) {                                                                       \
    const a_type##_t a = get_##a_type(lane->source[0]);                                                              \
    const b_type##_t b = get_##b_type(lane->source[1]);                                                              \
    const c_type##_t c = get_##c_type(lane->source[2]);                                                              \
    const bool carry = lane->carry;                                                                                  \
    const uint32_t table = lane->table;                                                                              \
    const bool is_fnuz = lane->is_fnuz;                                                                              \
    bool flag = false;                                                                                               \
    result_type##_t r = get_##result_type(lane->result);                                                             \
    __VA_ARGS__;                                                                                                     \
    (void)a, (void)b, (void)c, (void)carry, (void)table, (void)is_fnuz;                                              \
    lane->result = put_##result_type(r);                                                                             \
    lane->flag = flag;                                                                                               \
  }
#include "rt/sim/isa/valu.def"
#undef VALU

const tj_sim_operation tj_sim_vector_operations[] = {
#define VALU(mnemonic, layout, result_type, a, b, c, ...)                                                            \
  {.name = #mnemonic,                                                                                                \
   .execute = tj_sim_execute_vector,                                                                                 \
   .class = TJ_SIM_CLASS_VALU,                                                                                       \
   .form = TJ_SIM_FORM_##layout,                                                                                     \
   .type = {TJ_SIM_##result_type, TJ_SIM_##a, TJ_SIM_##b, TJ_SIM_##c},                                               \
   .lane = lane_##mnemonic},
#include "rt/sim/isa/valu.def"
#undef VALU
};

const size_t tj_sim_vector_operation_count = sizeof tj_sim_vector_operations / sizeof tj_sim_vector_operations[0];

static const uint8_t type_bits[] = {
#define TYPE(name, c, bits) bits,
    TJ_SIM_TYPES(TYPE)
#undef TYPE
};

unsigned tj_sim_type_bits(uint8_t type) {
  return type_bits[type];
}

/* --- sources --- */

/* Where the lanes of one source are: rows of registers, or one value for all. */
typedef struct {
  const uint32_t *low, *high;
  uint64_t value;
  const tj_sim_operand *operand;
  unsigned bits;   /* of the type */
  unsigned number; /* of the source */
} lane_source;

/* Packed instructions on 32-bit elements have register pairs as operands. */
static unsigned operand_bits(const tj_sim_operation *operation, unsigned bits) {
  return operation->form == TJ_SIM_FORM_PACKED && bits == 32 ? 64 : bits;
}

static bool open_source(tj_sim_wave *wave, const tj_sim_instruction *instruction, unsigned number,
                        lane_source *source) {
  const tj_sim_operation *operation = instruction->operation;
  const tj_sim_operand *operand = &instruction->operand[instruction->first_source + number];
  unsigned bits = type_bits[operation->type[1 + number]];
  unsigned width = operand_bits(operation, bits);
  *source = (lane_source){.operand = operand, .bits = bits, .number = number};
  if (operand->place != TJ_SIM_VECTOR && operand->place != TJ_SIM_ACCUMULATOR) {
    source->value = tj_sim_read_scalar(wave, operand, width);
    return true;
  }
  source->low = tj_sim_row(wave, operand, 0);
  source->high = width == 64 ? tj_sim_row(wave, operand, 1) : NULL;
  return wave->state != TJ_SIM_FAILED;
}

static uint64_t raw_lane(const lane_source *source, unsigned lane) {
  if (source->low == NULL)
    return source->value;
  return source->high == NULL ? source->low[lane] : source->low[lane] | (uint64_t)source->high[lane] << 32;
}

/* The part of a register that an operand names, widened. */
static uint64_t select_part(const tj_sim_operand *operand, uint64_t raw) {
  if (operand->part == TJ_SIM_WHOLE)
    return raw;
  unsigned shift = operand->part >= TJ_SIM_BYTE_0      ? 8u * (unsigned)(operand->part - TJ_SIM_BYTE_0)
                   : operand->part == TJ_SIM_HIGH_HALF ? 16
                                                       : 0;
  unsigned width = operand->part >= TJ_SIM_BYTE_0 ? 8 : 16;
  uint64_t part = extract(raw, shift, width);
  return operand->extend ? (uint32_t)extend(part, width) : part;
}

static uint64_t change_sign(uint64_t raw, unsigned bits, bool is_absolute, bool is_negated) {
  uint64_t sign = 1ull << (bits - 1);
  raw = is_absolute ? raw & ~sign : raw;
  return is_negated ? raw ^ sign : raw;
}

static bool bit_of(unsigned set, unsigned number) {
  return (set >> number & 1) != 0;
}

/* A source of an ordinary instruction: part, half, sign. */
static uint64_t modified_lane(const tj_sim_instruction *instruction, const lane_source *source, uint64_t raw) {
  const tj_sim_operand *operand = source->operand;
  raw = select_part(operand, raw);
  bool takes_high =
      source->bits == 16 && operand->part == TJ_SIM_WHOLE && bit_of(instruction->op_sel, source->number);
  raw = takes_high ? raw >> 16 : raw;
  return change_sign(raw, source->bits, operand->absolute, operand->negate);
}

/* A source of a packed instruction's element 0 or 1. */
static uint64_t packed_lane(const tj_sim_instruction *instruction, const lane_source *source, uint64_t raw,
                            unsigned element) {
  unsigned choice = element == 0 ? instruction->op_sel : instruction->op_sel_hi;
  unsigned negation = element == 0 ? instruction->neg_lo : instruction->neg_hi;
  raw = bit_of(choice, source->number) ? raw >> source->bits : raw;
  return change_sign(extract(raw, 0, source->bits), source->bits, false, bit_of(negation, source->number));
}

/* A source that is a float of 32 bits, or with its bit of op_sel_hi the half that op_sel chooses. */
static uint64_t mixed_lane(const tj_sim_instruction *instruction, const lane_source *source, uint64_t raw) {
  if (bit_of(instruction->op_sel_hi, source->number)) {
    uint64_t half = bit_of(instruction->op_sel, source->number) ? raw >> 16 : raw;
    bool is_bfloat = instruction->operation->type[1 + source->number] == TJ_SIM_MIXB;
    raw = is_bfloat ? extract(half, 0, 16) << 16 : put_F32((float)get_F16(half));
  }
  bool is_negated = source->operand->negate != bit_of(instruction->neg_lo, source->number);
  return change_sign(raw, 32, source->operand->absolute || bit_of(instruction->neg_hi, source->number), is_negated);
}

/* --- results --- */

static double scaled(const tj_sim_instruction *instruction, double value) {
  static const double factors[] = {1, 2, 4, 0.5};
  value *= factors[instruction->scale];
  if (instruction->has_clamp)
    value = !(value > 0) ? 0 : value > 1 ? 1 : value;
  return value;
}

static uint64_t finished(const tj_sim_instruction *instruction, uint64_t raw) {
  switch (instruction->operation->type[0]) {
  case TJ_SIM_F16:
    return put_F16((_Float16)scaled(instruction, (double)get_F16(raw)));
  case TJ_SIM_BF16:
    return bfloat_bits((float)scaled(instruction, (double)bfloat((uint16_t)raw)));
  case TJ_SIM_F32:
    return put_F32((float)scaled(instruction, (double)get_F32(raw)));
  case TJ_SIM_F64:
    return put_F64(scaled(instruction, get_F64(raw)));
  default:
    return raw;
  }
}

static uint32_t into_half(uint32_t old, uint64_t value, bool is_high) {
  return is_high ? (old & 0xffff) | (uint32_t)value << 16 : (old & 0xffff0000) | ((uint32_t)value & 0xffff);
}

/* 16-bit results: the half that the operand or op_sel names, the other half kept; gfx9's plain ones clear it. */
static uint32_t with_half(const tj_sim_wave *wave, const tj_sim_instruction *instruction, uint32_t old,
                          uint64_t value) {
  const tj_sim_operand *destination = &instruction->operand[instruction->destination];
  bool is_high = destination->part == TJ_SIM_HIGH_HALF || bit_of(instruction->op_sel, 3) ||
                 instruction->operation->form == TJ_SIM_FORM_MIXED_HIGH;
  uint8_t form = instruction->operation->form;
  bool clears = wave->group->processor->major < 10 && (form == TJ_SIM_FORM_VECTOR || form == TJ_SIM_FORM_ACCUMULATE);
  return into_half(clears && !is_high ? 0 : old, value, is_high);
}

/* SDWA: a byte or half of the destination; the rest is zero, the sign, or kept. */
static uint64_t with_part(const tj_sim_instruction *instruction, uint32_t old, uint64_t value) {
  unsigned part = instruction->destination_part;
  if (part == TJ_SIM_WHOLE)
    return value;
  bool is_byte = part >= TJ_SIM_BYTE_0;
  unsigned shift = is_byte ? 8 * (part - TJ_SIM_BYTE_0) : part == TJ_SIM_HIGH_HALF ? 16 : 0;
  unsigned width = is_byte ? 8 : 16;
  uint32_t field = (uint32_t)extract(value, 0, width) << shift;
  uint32_t mask = (uint32_t)((1ull << width) - 1) << shift;
  if (instruction->unused == TJ_SIM_UNUSED_KEPT)
    return (old & ~mask) | field;
  return instruction->unused == TJ_SIM_UNUSED_SIGN ? (uint32_t)extend(value, width) << shift : field;
}

/* Where results go. */
typedef struct {
  uint32_t *low, *high;
  unsigned bits;
} lane_result;

static bool open_result(tj_sim_wave *wave, const tj_sim_instruction *instruction, lane_result *result) {
  *result = (lane_result){0};
  if (instruction->destination < 0)
    return true;
  const tj_sim_operation *operation = instruction->operation;
  const tj_sim_operand *operand = &instruction->operand[instruction->destination];
  result->bits = type_bits[operation->type[0]];
  result->low = tj_sim_row(wave, operand, 0);
  if (operand_bits(operation, result->bits) == 64)
    result->high = tj_sim_row(wave, operand, 1);
  return wave->state != TJ_SIM_FAILED;
}

static void write_lane(const tj_sim_wave *wave, const tj_sim_instruction *instruction, const lane_result *result,
                       unsigned lane, uint64_t value) {
  bool is_packed = instruction->operation->form == TJ_SIM_FORM_PACKED;
  if (instruction->is_sdwa)
    value = with_part(instruction, result->low[lane], value);
  else if (result->bits == 16 && !is_packed)
    value = with_half(wave, instruction, result->low[lane], value);
  result->low[lane] = (uint32_t)value;
  if (result->high != NULL)
    result->high[lane] = (uint32_t)(value >> 32);
}

/* --- an instruction --- */

/* A vector instruction between computing and writing. */
typedef struct {
  lane_source source[3];
  lane_result result;
  uint64_t written; /* lanes */
  uint64_t flags;
  uint64_t value[TJ_SIM_LANES];
} computation;

static bool open_operands(tj_sim_wave *wave, const tj_sim_instruction *instruction, computation *state) {
  for (unsigned i = 0; i < instruction->source_count; i++) {
    if (!open_source(wave, instruction, i, &state->source[i]))
      return false;
  }
  return open_result(wave, instruction, &state->result);
}

/* The raw bits of source 0 in a lane that reads it from another; false: the lane is not written. */
static bool exchanged(const tj_sim_exchange *exchange, const lane_source *source, uint64_t exec, unsigned lane,
                      uint64_t *raw) {
  if (!bit_of(exchange->row_mask, lane / 16) || !bit_of(exchange->bank_mask, lane % 16 / 4))
    return false;
  int from = exchange->from[lane];
  bool is_valid = from >= 0 && (exchange->fetches_inactive || (exec >> from & 1) != 0);
  *raw = is_valid ? raw_lane(source, (unsigned)from) : 0;
  return is_valid || exchange->fills_with_zero;
}

static uint64_t old_value(const lane_result *result, const tj_sim_instruction *instruction, unsigned lane) {
  if (result->low == NULL)
    return 0;
  uint32_t low = result->low[lane];
  bool is_high = result->bits == 16 && instruction->operand[instruction->destination].part == TJ_SIM_HIGH_HALF;
  return result->high == NULL ? (is_high ? low >> 16 : low) : low | (uint64_t)result->high[lane] << 32;
}

static bool fetch(const tj_sim_instruction *instruction, const computation *state, uint64_t exec, unsigned lane,
                  uint64_t raw[3]) {
  for (unsigned i = 0; i < instruction->source_count; i++)
    raw[i] = raw_lane(&state->source[i], lane);
  return instruction->exchange == NULL || exchanged(instruction->exchange, &state->source[0], exec, lane, &raw[0]);
}

static void compute_lane(const tj_sim_instruction *instruction, const computation *state, const uint64_t raw[3],
                         tj_sim_lane *lane) {
  bool is_mixed =
      instruction->operation->form == TJ_SIM_FORM_MIXED || instruction->operation->form == TJ_SIM_FORM_MIXED_HIGH;
  for (unsigned i = 0; i < instruction->source_count; i++) {
    if (is_mixed)
      lane->source[i] = mixed_lane(instruction, &state->source[i], raw[i]);
    else if (instruction->has_plain_sources)
      lane->source[i] = raw[i];
    else
      lane->source[i] = modified_lane(instruction, &state->source[i], raw[i]);
  }
  instruction->operation->lane(lane);
  if (instruction->scale != 0 || instruction->has_clamp)
    lane->result = finished(instruction, lane->result);
}

static void compute_packed(const tj_sim_instruction *instruction, const computation *state, const uint64_t raw[3],
                           tj_sim_lane *lane) {
  unsigned bits = state->result.bits;
  uint64_t whole = 0;
  for (unsigned element = 0; element < 2; element++) {
    for (unsigned i = 0; i < instruction->source_count; i++)
      lane->source[i] = packed_lane(instruction, &state->source[i], raw[i], element);
    instruction->operation->lane(lane);
    if (instruction->has_clamp)
      lane->result = finished(instruction, lane->result);
    whole |= extract(lane->result, 0, bits) << element * bits;
  }
  lane->result = whole;
}

static bool compute(tj_sim_wave *wave, const tj_sim_instruction *instruction, computation *state) {
  state->written = 0;
  state->flags = 0;
  if (!open_operands(wave, instruction, state))
    return false;
  uint64_t exec = tj_sim_exec(wave);
  uint64_t carry = instruction->mask_in < 0 ? wave->scalar[TJ_SIM_VCC] | (uint64_t)wave->scalar[TJ_SIM_VCC + 1] << 32
                                            : tj_sim_read_mask(wave, &instruction->operand[instruction->mask_in]);
  bool is_packed = instruction->operation->form == TJ_SIM_FORM_PACKED;
  bool is_fnuz = wave->group->processor->floats8 == TJ_FLOATS8_FNUZ;
  for (uint64_t left = exec; left != 0; left &= left - 1) {
    unsigned number = (unsigned)__builtin_ctzll(left);
    uint64_t raw[3];
    if (!fetch(instruction, state, exec, number, raw))
      continue;
    tj_sim_lane lane = {.result = old_value(&state->result, instruction, number),
                        .table = instruction->table,
                        .is_fnuz = is_fnuz,
                        .carry = (carry >> number & 1) != 0};
    (is_packed ? compute_packed : compute_lane)(instruction, state, raw, &lane);
    state->value[number] = lane.result;
    state->flags |= (uint64_t)lane.flag << number;
    state->written |= 1ull << number;
  }
  return true;
}

static void write_results(tj_sim_wave *wave, const tj_sim_instruction *instruction, const computation *state) {
  for (uint64_t left = state->result.low == NULL ? 0 : state->written; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    write_lane(wave, instruction, &state->result, lane, state->value[lane]);
  }
  if (instruction->mask_out >= 0)
    tj_sim_write_mask(wave, &instruction->operand[instruction->mask_out], state->flags);
  if (instruction->operation->form == TJ_SIM_FORM_COMPARE_EXEC)
    tj_sim_set_exec(wave, state->flags);
}

void tj_sim_execute_vector(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  computation state;
  if (!compute(wave, instruction, &state))
    return;
  if (instruction->pair != NULL)
    tj_sim_execute_vector(wave, instruction->pair);
  write_results(wave, instruction, &state);
}

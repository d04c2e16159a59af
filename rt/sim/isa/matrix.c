/* SPDX-License-Identifier: MIT */
/* Matrix instructions: where lanes hold their elements, and products of them.
 *
 * Operands become matrices of numbers, which doubles hold exactly. Elements of floats are added to C one after the
 * other, in the order of A's columns, each product and sum rounded once, to f32, or f64; D's are rounded to their
 * type at the end. GPUs add up several products at a time, in an order that is not documented: where sums are exact
 * in any order, results are theirs, otherwise they differ from them by roundings. Integers wrap, or are clamped at
 * the end. */
#include "rt/sim/isa/matrix.h"

#include "rt/sim/machine/small_float.h"

enum { MOST_ELEMENTS = 2048, MOST_RESULTS = 32, MOST_REGISTERS = 32, WMMA_ROWS = 16 };

typedef struct {
  tj_sim_wave *wave;
  const tj_sim_instruction *instruction;
  const tj_sim_matrix *shape;
  double a[MOST_ELEMENTS], b[MOST_ELEMENTS]; /* by row of A, or column of B; each with its elements side by side */
} product;

/* --- elements --- */

static const uint8_t element_bits[] = {
    [TJ_SIM_MATRIX_F64] = 64, [TJ_SIM_MATRIX_F32] = 32, [TJ_SIM_MATRIX_F16] = 16, [TJ_SIM_MATRIX_BF16] = 16,
    [TJ_SIM_MATRIX_FP8] = 8,  [TJ_SIM_MATRIX_BF8] = 8,  [TJ_SIM_MATRIX_FP6] = 6,  [TJ_SIM_MATRIX_BF6] = 6,
    [TJ_SIM_MATRIX_FP4] = 4,  [TJ_SIM_MATRIX_I32] = 32, [TJ_SIM_MATRIX_I8] = 8,   [TJ_SIM_MATRIX_IU8] = 8,
    [TJ_SIM_MATRIX_IU4] = 4};

/* A float without infinities and NaN: sign, exponent, mantissa. */
static double finite_float(uint32_t code, unsigned exponent_bits, unsigned mantissa_bits) {
  uint32_t mantissa = code & ((1u << mantissa_bits) - 1), sign = code >> (exponent_bits + mantissa_bits);
  int exponent = (int)(code >> mantissa_bits & ((1u << exponent_bits) - 1)), bias = (1 << (exponent_bits - 1)) - 1;
  uint32_t hidden = exponent > 0 ? 1u << mantissa_bits : 0;
  double value = ldexp(mantissa + hidden, (exponent > 0 ? exponent : 1) - bias - (int)mantissa_bits);
  return sign != 0 ? -value : value;
}

static double number_of(uint64_t code, unsigned type, bool is_fnuz, bool is_signed) {
  switch (type) {
  case TJ_SIM_MATRIX_F64:
    return get_F64(code);
  case TJ_SIM_MATRIX_F32:
    return get_F32(code);
  case TJ_SIM_MATRIX_F16:
    return (double)get_F16(code);
  case TJ_SIM_MATRIX_BF16:
    return float_of((uint32_t)code << 16);
  case TJ_SIM_MATRIX_FP8:
    return small_float((uint32_t)code, fp8_dtype(is_fnuz));
  case TJ_SIM_MATRIX_BF8:
    return small_float((uint32_t)code, bf8_dtype(is_fnuz));
  case TJ_SIM_MATRIX_FP6:
    return finite_float((uint32_t)code, 2, 3);
  case TJ_SIM_MATRIX_BF6:
    return finite_float((uint32_t)code, 3, 2);
  case TJ_SIM_MATRIX_FP4:
    return finite_float((uint32_t)code, 2, 1);
  case TJ_SIM_MATRIX_I32:
  case TJ_SIM_MATRIX_I8:
    return (double)extend(code, element_bits[type]);
  default:
    return is_signed ? (double)extend(code, element_bits[type]) : (double)code;
  }
}

static bool is_integer(unsigned type) {
  return type == TJ_SIM_MATRIX_I32 || type >= TJ_SIM_MATRIX_I8;
}

/* The type of source 0 or 1, which may be what a modifier says. */
static unsigned type_of(const product *p, unsigned source) {
  static const uint8_t formats[] = {TJ_SIM_MATRIX_FP8, TJ_SIM_MATRIX_BF8, TJ_SIM_MATRIX_FP6, TJ_SIM_MATRIX_BF6,
                                    TJ_SIM_MATRIX_FP4};
  unsigned type = source == 0 ? p->shape->a : p->shape->b;
  unsigned format = source == 0 ? p->instruction->matrix_a : p->instruction->matrix_b;
  return type == TJ_SIM_MATRIX_F8F6F4 ? formats[format] : type;
}

/* --- registers --- */

/* Elements of an operand, packed in its registers; or a constant, which all of them are. */
typedef struct {
  const uint32_t *row[MOST_REGISTERS];
  unsigned count;
  double constant;
} operand_rows;

static bool open_operand(const product *p, unsigned number, unsigned type, unsigned bits, operand_rows *rows) {
  const tj_sim_operand *operand = &p->instruction->operand[number];
  *rows = (operand_rows){.count = (bits + 31) / 32};
  if (operand->place == TJ_SIM_CONSTANT) {
    rows->count = 0;
    rows->constant = operand->is_float ? operand->number : number_of(operand->constant, type, false, true);
    return true;
  }
  bool is_vector = operand->place == TJ_SIM_VECTOR || operand->place == TJ_SIM_ACCUMULATOR;
  if (!is_vector || operand->width < rows->count || rows->count > MOST_REGISTERS) {
    tj_sim_wave_fail(p->wave, 0, "a matrix is not in as many registers as it has elements");
    return false;
  }
  for (unsigned i = 0; i < rows->count; i++)
    rows->row[i] = tj_sim_row(p->wave, operand, i);
  return p->wave->state != TJ_SIM_FAILED;
}

/* Bits `bits` of a lane's registers from bit `at` on. */
static uint64_t bits_at(const operand_rows *rows, unsigned lane, unsigned at, unsigned bits) {
  uint64_t low = rows->row[at / 32][lane] >> at % 32, next = at % 32;
  unsigned have = 32 - (unsigned)next;
  if (have < bits)
    low |= (uint64_t)rows->row[at / 32 + 1][lane] << have;
  return extract(low, 0, bits);
}

/* --- A and B --- */

/* What a lane's elements of source 0 or 1 are multiplied by: a power of two, whose exponent is one of four bytes. */
typedef struct {
  const uint32_t *row;
  unsigned shift;
} scale_rows;

static bool open_scale(const product *p, unsigned source, scale_rows *scale) {
  enum { FIRST_SCALE = 4 };
  const tj_sim_instruction *instruction = p->instruction;
  unsigned low = instruction->op_sel >> source & 1, high = instruction->op_sel_hi >> source & 1;
  *scale = (scale_rows){NULL, 8 * (low + 2 * high)};
  if (!p->shape->is_scaled)
    return true;
  bool has_scale = instruction->operand_count > FIRST_SCALE + source &&
                   instruction->operand[FIRST_SCALE + source].place == TJ_SIM_VECTOR;
  scale->row = has_scale ? tj_sim_row(p->wave, &instruction->operand[FIRST_SCALE + source], 0) : NULL;
  if (!has_scale)
    tj_sim_wave_fail(p->wave, 0, "scales of matrices that are not in vector registers are not simulated");
  return p->wave->state != TJ_SIM_FAILED;
}

static double scaled(const scale_rows *scale, unsigned lane, double value) {
  enum { BIAS = 127, NAN_CODE = 255 };
  unsigned code = scale->row != NULL ? scale->row[lane] >> scale->shift & 255 : BIAS;
  return code == NAN_CODE ? NAN : ldexp(value, (int)code - BIAS);
}

/* The parts of A's columns that lanes share out. */
static unsigned parts_of(const product *p) {
  const tj_sim_matrix *shape = p->shape;
  if (!shape->is_wmma)
    return p->wave->lanes / (shape->rows * shape->blocks);
  return p->wave->group->processor->major < 12 ? 1 : 2;
}

/* Lanes run along rows, then along blocks, then along columns, of which each holds neighbours, or a turn of them
 * after the other. Those that are left hold the same again. */
static unsigned place_of(const product *p, unsigned lane, unsigned element) {
  const tj_sim_matrix *shape = p->shape;
  unsigned rest = lane / shape->rows, parts = parts_of(p), part = rest / shape->blocks % parts;
  unsigned row = lane % shape->rows + rest % shape->blocks * shape->rows;
  unsigned turn = shape->turn != 0 ? shape->turn : shape->depth / parts;
  return row * shape->depth + (element / turn * parts + part) * turn + element % turn;
}

static bool is_denormal(double value, unsigned type) {
  double least = type == TJ_SIM_MATRIX_F16 ? 0x1p-14 : 0x1p-126;
  return value != 0 && fabs(value) < least;
}

/* gfx90a has some of its matrix instructions flush denormals. */
static bool may_flush(const product *p, double value, unsigned type) {
  const tj_processor *processor = p->wave->group->processor;
  bool flushes = processor->major == 9 && processor->minor == 0 && p->shape->result == TJ_SIM_MATRIX_F32 &&
                 p->shape->a != TJ_SIM_MATRIX_F32;
  if (!flushes || !is_denormal(value, type))
    return false;
  tj_sim_wave_fail(p->wave, 0, "a denormal in a product of matrices, which %s may take for 0", processor->name);
  return true;
}

static bool read_matrix(product *p, unsigned source, double to[MOST_ELEMENTS]) {
  const tj_sim_matrix *shape = p->shape;
  unsigned type = type_of(p, source), bits = element_bits[type], count = shape->depth / parts_of(p);
  bool is_fnuz = p->wave->group->processor->floats8 == TJ_FLOATS8_FNUZ;
  bool is_signed = (p->instruction->neg_lo >> source & 1) != 0;
  operand_rows rows;
  scale_rows scale;
  if (!open_operand(p, 1 + source, type, bits * count, &rows) || rows.count == 0 || !open_scale(p, source, &scale))
    return false;
  for (unsigned lane = 0; lane < p->wave->lanes; lane++) {
    bool is_repeated = lane >= (unsigned)shape->rows * shape->blocks * parts_of(p);
    for (unsigned i = 0; i < count; i++) {
      uint64_t code = bits_at(&rows, lane, i * bits, bits);
      if (is_repeated && code != bits_at(&rows, lane - WMMA_ROWS, i * bits, bits)) {
        tj_sim_wave_fail(p->wave, UINT64_C(1) << lane, "lanes hold other elements of a matrix than those 16 before");
        return false;
      }
      double value = number_of(code, type, is_fnuz, is_signed);
      if (may_flush(p, value, type))
        return false;
      to[place_of(p, lane, i)] = scaled(&scale, lane, value);
    }
  }
  return true;
}

/* --- C and D --- */

typedef struct {
  unsigned row, column, block;
} position;

/* Of the elements of a lane: lanes run along columns; registers hold four rows, or of f64 one, of as many as the
 * lanes that are left have together. */
static position result_at(const product *p, unsigned lane, unsigned element) {
  const tj_sim_matrix *shape = p->shape;
  unsigned rest = lane / shape->rows, groups = p->wave->lanes / shape->rows;
  position at = {.column = lane % shape->rows};
  if (shape->is_wmma) {
    at.row = p->wave->group->processor->major < 12 ? 2 * element + rest : element + 8 * rest;
  } else if (shape->result == TJ_SIM_MATRIX_F64) {
    at.block = rest % shape->blocks;
    at.row = rest / shape->blocks + groups / shape->blocks * element;
  } else {
    unsigned four = rest + groups * (element / 4), fours = shape->rows / 4u;
    at.row = four % fours * 4 + element % 4;
    at.block = four / fours;
  }
  return at;
}

static unsigned result_count(const product *p) {
  return (unsigned)p->shape->rows * p->shape->rows * p->shape->blocks / p->wave->lanes;
}

/* Of results of 16 bits, gfx11 has one in each register, in the half that op_sel says, and others two. */
static unsigned result_stride(const product *p) {
  bool is_sparse = element_bits[p->shape->result] == 16 && p->wave->group->processor->major < 12;
  return is_sparse ? 32 : element_bits[p->shape->result];
}

static unsigned result_shift(const product *p) {
  return element_bits[p->shape->result] == 16 && (p->instruction->op_sel & 4) != 0 ? 16 : 0;
}

static double sum_of(const product *p, position at, double sum) {
  const tj_sim_matrix *shape = p->shape;
  const double *a = p->a + (at.row + at.block * shape->rows) * shape->depth;
  const double *b = p->b + (at.column + at.block * shape->rows) * shape->depth;
  for (unsigned k = 0; k < shape->depth; k++) {
    if (is_integer(shape->result))
      sum += a[k] * b[k];
    else if (shape->is_scaled)
      sum = (float)(sum + a[k] * b[k]);
    else
      sum = shape->result == TJ_SIM_MATRIX_F64 ? fma(a[k], b[k], sum) : fmaf((float)a[k], (float)b[k], (float)sum);
  }
  return sum;
}

static uint64_t code_of(const product *p, double value) {
  switch (p->shape->result) {
  case TJ_SIM_MATRIX_F64:
    return put_F64(value);
  case TJ_SIM_MATRIX_F32:
    return put_F32((float)value);
  case TJ_SIM_MATRIX_F16:
    return half_bits((float)value);
  case TJ_SIM_MATRIX_BF16:
    return bfloat_bits((float)value);
  default:
    return p->instruction->has_clamp ? (uint32_t)(int32_t)saturate(value, INT32_MIN, INT32_MAX)
                                     : (uint32_t)(int64_t)value;
  }
}

/* --- an instruction --- */

static bool is_simulated(const product *p) {
  const tj_sim_instruction *instruction = p->instruction;
  bool has_formats = p->shape->a == TJ_SIM_MATRIX_F8F6F4;
  bool is_plain =
      instruction->matrix_block == 0 && (has_formats ? instruction->matrix_a <= 4 && instruction->matrix_b <= 4
                                                     : instruction->matrix_a == 0 && instruction->matrix_b == 0);
  bool has_signs = p->shape->a == TJ_SIM_MATRIX_IU8 || p->shape->a == TJ_SIM_MATRIX_IU4;
  bool is_positive = instruction->neg_hi == 0 && (has_signs || instruction->neg_lo == 0);
  bool has_lanes = p->wave->lanes == (p->shape->is_wmma ? 32 : 64);
  if (is_plain && is_positive && has_lanes && (is_integer(p->shape->result) || !instruction->has_clamp))
    return true;
  tj_sim_wave_fail(p->wave, 0,
                   has_lanes ? "these modifiers of a matrix instruction are not simulated"
                             : "this matrix instruction is not simulated for waves of 64 lanes");
  return false;
}

/* C in the place of D's element of a lane. */
static double addend(const product *p, const operand_rows *c, unsigned lane, unsigned element) {
  if (c->count == 0)
    return c->constant;
  uint64_t code = bits_at(c, lane, element * result_stride(p) + result_shift(p), element_bits[p->shape->result]);
  return number_of(code, p->shape->result, false, true);
}

static void put_bits(uint32_t *to[], unsigned lane, unsigned at, unsigned bits, uint64_t code) {
  uint32_t mask = bits >= 32 ? UINT32_MAX : (1u << bits) - 1;
  to[at / 32][lane] = (to[at / 32][lane] & ~(mask << at % 32)) | (uint32_t)code << at % 32;
  if (bits == 64)
    to[at / 32 + 1][lane] = (uint32_t)(code >> 32);
}

/* All elements of D, before any is written. */
static bool compute(const product *p, const operand_rows *c, uint64_t code[TJ_SIM_LANES][MOST_RESULTS]) {
  for (unsigned lane = 0; lane < p->wave->lanes; lane++) {
    for (unsigned i = 0; i < result_count(p); i++) {
      double value = sum_of(p, result_at(p, lane, i), addend(p, c, lane, i));
      if (may_flush(p, value, TJ_SIM_MATRIX_F32))
        return false;
      code[lane][i] = code_of(p, value);
    }
  }
  return true;
}

void tj_sim_execute_matrix(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  product p = {.wave = wave, .instruction = instruction, .shape = instruction->operation->matrix};
  uint64_t code[TJ_SIM_LANES][MOST_RESULTS];
  uint32_t *to[MOST_REGISTERS];
  operand_rows c, d;
  if (!is_simulated(&p))
    return;
  unsigned count = result_count(&p), stride = result_stride(&p), bits = element_bits[p.shape->result];
  if (!read_matrix(&p, 0, p.a) || !read_matrix(&p, 1, p.b) ||
      !open_operand(&p, 3, p.shape->result, count * stride, &c) ||
      !open_operand(&p, 0, p.shape->result, count * stride, &d) || !compute(&p, &c, code))
    return;
  for (unsigned i = 0; i < d.count; i++)
    to[i] = tj_sim_row(wave, &instruction->operand[0], i);
  for (unsigned lane = 0; lane < wave->lanes; lane++) {
    for (unsigned i = 0; i < count; i++)
      put_bits(to, lane, i * stride + result_shift(&p), bits, code[lane][i]);
  }
}

/* --- the table --- */

static const tj_sim_matrix shapes[] = {
#define MFMA(name, rows, depth, blocks, result, a, b)                                                                \
  {false, false, rows, depth, blocks, 0, TJ_SIM_MATRIX_##result, TJ_SIM_MATRIX_##a, TJ_SIM_MATRIX_##b},
#define SCALED(name, rows, depth)                                                                                    \
  {false, true, rows, depth, 1, 0, TJ_SIM_MATRIX_F32, TJ_SIM_MATRIX_F8F6F4, TJ_SIM_MATRIX_F8F6F4},
#define WMMA(name, depth, result, a, b)                                                                              \
  {true, false, WMMA_ROWS, depth, 1, 0, TJ_SIM_MATRIX_##result, TJ_SIM_MATRIX_##a, TJ_SIM_MATRIX_##b},
#define WMMA_IN_TURNS(name, depth, turn, result, a, b)                                                               \
  {true, false, WMMA_ROWS, depth, 1, turn, TJ_SIM_MATRIX_##result, TJ_SIM_MATRIX_##a, TJ_SIM_MATRIX_##b},
#include "rt/sim/isa/matrix.def"
};

enum {
#define MFMA(name, ...) NUMBER_##name,
#define SCALED(name, ...) NUMBER_##name,
#define WMMA(name, ...) NUMBER_##name,
#define WMMA_IN_TURNS(name, ...) NUMBER_##name,
#include "rt/sim/isa/matrix.def"
};

#define ROW(mnemonic)                                                                                                \
  {.name = #mnemonic,                                                                                                \
   .execute = tj_sim_execute_matrix,                                                                                 \
   .class = TJ_SIM_CLASS_VALU,                                                                                       \
   .form = TJ_SIM_FORM_OTHER,                                                                                        \
   .matrix = &shapes[NUMBER_##mnemonic],                                                                             \
   .least_operands = 4},
const tj_sim_operation tj_sim_matrix_operations[] = {
#define MFMA(name, ...) ROW(name)
#define SCALED(name, ...) ROW(name)
#define WMMA(name, ...) ROW(name)
#define WMMA_IN_TURNS(name, ...) ROW(name)
#include "rt/sim/isa/matrix.def"
};
#undef ROW

const size_t tj_sim_matrix_operation_count = sizeof tj_sim_matrix_operations / sizeof tj_sim_matrix_operations[0];

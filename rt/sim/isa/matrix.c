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

enum { MOST_ELEMENTS = 4096, MOST_RESULTS = 32, MOST_REGISTERS = 32, WMMA_ROWS = 16 };

/* Elements are by row of A, or column of B, each with its own side by side: those of sparse rows without the others.
 */
typedef struct {
  tj_sim_wave *wave;
  const tj_sim_instruction *instruction;
  const tj_sim_matrix *shape;
  double a[MOST_ELEMENTS], b[MOST_ELEMENTS];
  uint8_t column[MOST_ELEMENTS]; /* where elements of A stand in their row */
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

/* --- where lanes hold A and B --- */

/* The parts of A's columns that lanes share out. */
static unsigned parts_of(const product *p) {
  const tj_sim_matrix *shape = p->shape;
  if (!shape->is_wmma)
    return p->wave->lanes / (shape->rows * shape->blocks);
  return p->wave->group->processor->major < 12 ? 1 : 2;
}

/* Elements of a row of A, or of a column of B. */
static unsigned length_of(const product *p, unsigned source) {
  return p->shape->is_sparse && source == 0 ? p->shape->depth / 2u : p->shape->depth;
}

/* Elements that a lane holds. */
static unsigned count_of(const product *p, unsigned source) {
  return (source == 0 ? p->shape->tiles : 1u) * length_of(p, source) / parts_of(p);
}

/* Columns that a lane has before it is the others' turn. Floats of 8 bits in the place of others come in turns of 16,
 * shorter ones of 32. */
static unsigned turn_of(const product *p, unsigned source) {
  unsigned declared = source == 0 ? p->shape->a : p->shape->b;
  if (declared == TJ_SIM_MATRIX_F8F6F4 || declared == TJ_SIM_MATRIX_FP4)
    return element_bits[type_of(p, source)] == 8 ? 16 : 32;
  return p->shape->turn[source] != 0 ? p->shape->turn[source] : length_of(p, source) / parts_of(p);
}

/* Lanes run along rows, then along blocks, then along columns, of which each holds neighbours, or a turn of them
 * after the other; then it holds those of the next tile. Lanes that are left hold the same again. */
static unsigned place_of(const product *p, unsigned source, unsigned lane, unsigned element) {
  const tj_sim_matrix *shape = p->shape;
  unsigned rest = lane / shape->rows, parts = parts_of(p), part = rest / shape->blocks % parts;
  unsigned length = length_of(p, source), turn = turn_of(p, source), tile = element / (length / parts);
  unsigned row = lane % shape->rows + (rest % shape->blocks + tile) * shape->rows, i = element % (length / parts);
  return row * length + (i / turn * parts + part) * turn + i % turn;
}

/* --- scales --- */

/* What elements of source 0 or 1 are multiplied by: powers of two, whose exponents are bytes. MFMA has one byte of
 * each lane, that modifiers say, for the columns in turn that lanes of its row have; WMMA has all bytes of one half
 * of the wave, or of both for 32 rows. */
typedef struct {
  const uint32_t *row[2];
  unsigned lane, byte; /* of row 0 and column 0 */
} scale_rows;

static bool open_scale(const product *p, unsigned source, scale_rows *scale) {
  enum { FIRST_SCALE = 4, FEW_COLUMNS = 16 };
  const tj_sim_instruction *instruction = p->instruction;
  unsigned half = instruction->upper_scales >> source & 1, low = instruction->op_sel >> source & 1;
  bool has_both = source == 0 && p->shape->tiles > 1;
  *scale = (scale_rows){.lane = has_both ? 0 : half * WMMA_ROWS,
                        .byte = low + 2u * (instruction->op_sel_hi >> source & 1u)};
  if (p->shape->scaled == 0)
    return true;
  const tj_sim_operand *operand = &instruction->operand[FIRST_SCALE + source];
  unsigned width = p->shape->scaled == FEW_COLUMNS ? 2 : 1;
  bool has_scale =
      instruction->operand_count > FIRST_SCALE + source && operand->place == TJ_SIM_VECTOR && operand->width == width;
  for (unsigned i = 0; has_scale && i < width; i++)
    scale->row[i] = tj_sim_row(p->wave, operand, i);
  if (!has_scale)
    tj_sim_wave_fail(p->wave, 0, "scales of matrices that are not in vector registers are not simulated");
  return p->wave->state != TJ_SIM_FAILED;
}

static unsigned scale_code(const product *p, const scale_rows *scale, unsigned row, unsigned column) {
  unsigned number = column / p->shape->scaled, lane = row + p->shape->rows * number, byte = scale->byte;
  if (p->shape->is_wmma) {
    lane = row + scale->lane;
    byte = number;
  }
  return scale->row[byte / 4][lane] >> 8 * (byte % 4) & 255;
}

static double scaled(const product *p, const scale_rows *scale, unsigned row, unsigned column, double value) {
  enum { BIAS = 127, NAN_CODE = 255 };
  unsigned code = p->shape->scaled == 0 ? BIAS : scale_code(p, scale, row, column);
  return code == NAN_CODE ? NAN : ldexp(value, (int)code - BIAS);
}

/* --- sparse rows --- */

/* Two bits for each element that a lane has of A: which of four columns it is in. A register may have sets. */
static bool open_index(const product *p, operand_rows *index, unsigned *first) {
  const tj_sim_instruction *instruction = p->instruction;
  unsigned bits = 2 * count_of(p, 0), set = instruction->matrix_a != 0 ? 0 : instruction->matrix_block;
  *first = set * bits;
  if (!p->shape->is_sparse)
    return true;
  if (set != 0 && *first + bits > 32) {
    tj_sim_wave_fail(p->wave, 0, "this set of indices of a sparse matrix is not simulated");
    return false;
  }
  return open_operand(p, 3, TJ_SIM_MATRIX_I32, *first + bits, index);
}

static unsigned index_at(const operand_rows *index, unsigned first, unsigned lane, unsigned element) {
  return (unsigned)bits_at(index, lane, first + 2 * element, 2);
}

/* Of gfx1250, CK Tile has lanes' indices as those of their own elements, and AMD's emulator in the order of columns,
 * half of them in each half of the wave. */
static bool is_known(const product *p, const operand_rows *index, unsigned lane, unsigned element) {
  const tj_processor *processor = p->wave->group->processor;
  unsigned turn = turn_of(p, 0), other = lane % WMMA_ROWS + element / turn * WMMA_ROWS;
  if (!p->shape->is_wmma || processor->minor < 5)
    return true;
  return index_at(index, 0, lane, element) == index_at(index, 0, other, lane / WMMA_ROWS * turn + element % turn);
}

static bool read_index(product *p, const operand_rows *index, unsigned first, unsigned lane, unsigned element) {
  unsigned place = place_of(p, 0, lane, element), length = length_of(p, 0), column = place % length;
  p->column[place] = (uint8_t)column;
  if (!p->shape->is_sparse)
    return true;
  unsigned low = index_at(index, first, lane, element & ~1u), high = index_at(index, first, lane, element | 1);
  p->column[place] = (uint8_t)(column / 2 * 4 + (element % 2 == 0 ? low : high));
  const char *problem = low >= high ? "indices of a sparse matrix do not grow"
                        : !is_known(p, index, lane, element)
                            ? "whose indices of a sparse matrix these are is not known"
                            : NULL;
  if (problem != NULL)
    tj_sim_wave_fail(p->wave, UINT64_C(1) << lane, "%s", problem);
  return problem == NULL;
}

/* --- A and B --- */

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

static bool is_repetition(const product *p, const operand_rows *rows, unsigned lane, unsigned at, unsigned bits) {
  if (bits_at(rows, lane, at, bits) == bits_at(rows, lane - WMMA_ROWS, at, bits))
    return true;
  tj_sim_wave_fail(p->wave, UINT64_C(1) << lane, "lanes hold other elements of a matrix than those 16 before");
  return false;
}

static bool read_matrix(product *p, unsigned source, double to[MOST_ELEMENTS]) {
  const tj_sim_matrix *shape = p->shape;
  unsigned type = type_of(p, source), bits = element_bits[type], count = count_of(p, source), first;
  unsigned length = length_of(p, source), holders = shape->rows * shape->blocks * parts_of(p);
  bool is_fnuz = p->wave->group->processor->floats8 == TJ_FLOATS8_FNUZ;
  bool is_signed = (p->instruction->neg_lo >> source & 1) != 0;
  operand_rows rows, index;
  scale_rows scale;
  if (!open_operand(p, 1 + source, type, bits * count, &rows) || rows.count == 0 || !open_scale(p, source, &scale) ||
      !open_index(p, &index, &first))
    return false;
  for (unsigned lane = 0; lane < p->wave->lanes; lane++) {
    for (unsigned i = 0; i < count; i++) {
      unsigned place = place_of(p, source, lane, i);
      double value = number_of(bits_at(&rows, lane, i * bits, bits), type, is_fnuz, is_signed);
      if ((lane >= holders && !is_repetition(p, &rows, lane, i * bits, bits)) || may_flush(p, value, type) ||
          (source == 0 && !read_index(p, &index, first, lane, i)))
        return false;
      to[place] = scaled(p, &scale, place / length, place % length, value);
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
  if (shape->is_wmma && p->wave->group->processor->major < 12) {
    at.row = 2 * element + rest;
  } else if (shape->is_wmma) {
    at.row = element % 8 + 8 * rest + element / 8 * WMMA_ROWS;
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
  return (unsigned)p->shape->rows * p->shape->tiles * p->shape->rows * p->shape->blocks / p->wave->lanes;
}

/* Of results of 16 bits, gfx11 has one in each register, in the half that op_sel says, and others two. */
static unsigned result_stride(const product *p, unsigned type) {
  bool is_alone = element_bits[type] == 16 && p->wave->group->processor->major < 12;
  return is_alone ? 32 : element_bits[type];
}

static unsigned result_shift(const product *p) {
  return element_bits[p->shape->result] == 16 && (p->instruction->op_sel & 4) != 0 ? 16 : 0;
}

static double sum_of(const product *p, position at, double sum) {
  const tj_sim_matrix *shape = p->shape;
  unsigned length = length_of(p, 0), first = (at.row + at.block * shape->rows) * length;
  const double *b = p->b + (at.column + at.block * shape->rows) * shape->depth;
  for (unsigned k = first; k < first + length; k++) {
    double left = p->a[k], right = b[p->column[k]];
    if (is_integer(shape->result))
      sum += left * right;
    else if (shape->scaled != 0)
      sum = (float)(sum + left * right);
    else
      sum = shape->result == TJ_SIM_MATRIX_F64 ? fma(left, right, sum) : fmaf((float)left, (float)right, (float)sum);
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

static bool has_known_formats(const product *p) {
  const tj_sim_instruction *instruction = p->instruction;
  bool is_same = (element_bits[type_of(p, 0)] == 8) == (element_bits[type_of(p, 1)] == 8);
  if (p->shape->a != TJ_SIM_MATRIX_F8F6F4)
    return p->shape->is_sparse || (instruction->matrix_a == 0 && instruction->matrix_b == 0);
  return p->shape->scaled != 0 || !p->shape->is_wmma || is_same;
}

/* What stands for a broadcast is of sparse matrices the set of indices. Of WMMA that does not scale, sources differ
 * about which elements of 8 bits meet which of fewer. */
static bool is_simulated(const product *p) {
  const tj_sim_instruction *instruction = p->instruction;
  bool has_signs = p->shape->a == TJ_SIM_MATRIX_IU8 || p->shape->a == TJ_SIM_MATRIX_IU4;
  bool is_positive = instruction->neg_hi == 0 && (has_signs || instruction->neg_lo == 0);
  bool is_plain = (instruction->matrix_block == 0 || p->shape->is_sparse) && is_positive &&
                  (is_integer(p->shape->result) || !instruction->has_clamp);
  bool has_lanes = p->wave->lanes == (p->shape->is_wmma ? 32 : 64);
  bool has_formats = instruction->matrix_a <= 4 && instruction->matrix_b <= 4 && has_known_formats(p);
  if (is_plain && has_formats && has_lanes)
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
  unsigned type = p->shape->addend, at = element * result_stride(p, type) + result_shift(p);
  return number_of(bits_at(c, lane, at, element_bits[type]), type, false, true);
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
  unsigned count = result_count(&p), stride = result_stride(&p, p.shape->result);
  unsigned addend_bits = count * result_stride(&p, p.shape->addend);
  if (!read_matrix(&p, 0, p.a) || !read_matrix(&p, 1, p.b) ||
      !open_operand(&p, p.shape->is_sparse ? 0 : 3, p.shape->addend, addend_bits, &c) ||
      !open_operand(&p, 0, p.shape->result, count * stride, &d) || !compute(&p, &c, code))
    return;
  for (unsigned i = 0; i < d.count; i++)
    to[i] = tj_sim_row(wave, &instruction->operand[0], i);
  for (unsigned lane = 0; lane < wave->lanes; lane++) {
    for (unsigned i = 0; i < count; i++)
      put_bits(to, lane, i * stride + result_shift(&p), element_bits[p.shape->result], code[lane][i]);
  }
}

/* --- the table --- */

static const tj_sim_matrix shapes[] = {
#define MATRIX(name, is_wmma, is_sparse, rows, tiles, depth, blocks, turn_a, turn_b, scaled, d, c, a, b)             \
  {is_wmma,                                                                                                          \
   is_sparse,                                                                                                        \
   rows,                                                                                                             \
   tiles,                                                                                                            \
   depth,                                                                                                            \
   blocks,                                                                                                           \
   {turn_a, turn_b},                                                                                                 \
   scaled,                                                                                                           \
   TJ_SIM_MATRIX_##d,                                                                                                \
   TJ_SIM_MATRIX_##c,                                                                                                \
   TJ_SIM_MATRIX_##a,                                                                                                \
   TJ_SIM_MATRIX_##b},
#include "rt/sim/isa/matrix.def"
};

enum {
#define MATRIX(name, ...) NUMBER_##name,
#include "rt/sim/isa/matrix.def"
};

const tj_sim_operation tj_sim_matrix_operations[] = {
#define MATRIX(mnemonic, ...)                                                                                        \
  {.name = #mnemonic,                                                                                                \
   .execute = tj_sim_execute_matrix,                                                                                 \
   .class = TJ_SIM_CLASS_VALU,                                                                                       \
   .form = TJ_SIM_FORM_OTHER,                                                                                        \
   .matrix = &shapes[NUMBER_##mnemonic],                                                                             \
   .least_operands = 4},
#include "rt/sim/isa/matrix.def"
};

const size_t tj_sim_matrix_operation_count = sizeof tj_sim_matrix_operations / sizeof tj_sim_matrix_operations[0];

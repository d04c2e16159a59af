/* SPDX-License-Identifier: MIT */
/* Operations as text, by the table of operations. */
#include "lower/c/c_machine.h"

#include "lower/c/c_expression.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef const tj_c_machine machine;

/* --- text with $ --- */

static const char *word_of(char letter, bool is_double) {
  switch (letter) {
  case 'r':
    return is_double ? "double" : "float";
  case 'u':
    return is_double ? "uint64_t" : "uint32_t";
  case 'i':
    return is_double ? "int64_t" : "int32_t";
  case 'w':
    return is_double ? "63" : "31";
  case 't':
    return is_double ? "f64" : "f32";
  case 'm':
    return is_double ? "d" : "f";
  default:
    return is_double ? "" : "f";
  }
}

/* The pattern with operands in the places of digits, and words in those of letters. */
static const char *expanded(tj_job *job, const char *pattern, bool is_double, const char *const operand[]) {
  tj_text text = tj_text_begin(job);
  for (const char *c = pattern; *c != '\0'; c++) {
    if (*c != '$')
      tj_text_char(&text, *c);
    else if (*++c >= '0' && *c <= '9')
      tj_text_string(&text, operand[*c - '0']);
    else
      tj_text_string(&text, word_of(*c, is_double));
  }
  return text.data;
}

/* --- numbers --- */

tj_c_piece tj_c_number(tj_job *job, double value, bool is_double) {
  float single = (float)value;
  double number = is_double ? value : (double)single;
  if (isnan(number))
    return (tj_c_piece){is_double ? "tilejit_of_bits_f64(0x7ff8000000000000ULL)" : "tilejit_of_bits_f32(0x7fc00000u)",
                        TJ_C_ATOM};
  const char *sign = signbit(number) ? "-" : "";
  int binding = signbit(number) ? TJ_C_UNARY : TJ_C_ATOM;
  if (isinf(number))
    return (tj_c_piece){tj_string_format(job, "%s%s", sign,
                                         is_double ? "tilejit_of_bits_f64(0x7ff0000000000000ULL)"
                                                   : "tilejit_of_bits_f32(0x7f800000u)"),
                        binding};
  const char *digits = tj_string_format(job, is_double ? "%.17g" : "%.9g", number);
  const char *point = strpbrk(digits, ".e") == NULL ? ".0" : "";
  return (tj_c_piece){tj_string_format(job, "%s%s%s", digits, point, is_double ? "" : "f"), binding};
}

static tj_term new_term(tj_job *job, tj_c_piece piece, tj_array_kind kind) {
  tj_term term = TJ_NEW(job, struct tj_term);
  *term = (struct tj_term){.piece = piece, .kind = kind};
  return term;
}

static tj_term real(const tj_array_machine *base, double value) {
  machine *m = (machine *)base;
  return new_term(m->job, tj_c_number(m->job, value, base->is_double), TJ_KIND_REAL);
}

static tj_term integer(const tj_array_machine *base, uint64_t value) {
  machine *m = (machine *)base;
  const char *text = base->is_double ? tj_string_format(m->job, "%" PRIu64 "ULL", value)
                                     : tj_string_format(m->job, "%" PRIu32 "u", (uint32_t)value);
  return new_term(m->job, (tj_c_piece){text, TJ_C_ATOM}, TJ_KIND_INTEGER);
}

/* --- operations --- */

static const struct {
  const char *text;
  uint32_t arity;
  tj_array_kind kind;
  int binding, place;
} rows[TJ_OPERATION_COUNT] = {
#define OPERATION(name, kind, arity, c, binding, place) {c, arity, TJ_KIND_##kind, TJ_C_##binding, TJ_C_##place},
#include "ir/array/array_operation.def"
#undef OPERATION
};

const char *tj_c_term_text(tj_job *job, const struct tj_term *term, int binding) {
  return term->rounded != NULL ? term->rounded : tj_c_placed(job, term->piece, binding);
}

/* Whether an operation's result is no part of a sum: its operands are rounded by themselves in any case. */
static bool takes_products(tj_array_operation operation) {
  return operation == TJ_OPERATION_MUL || operation == TJ_OPERATION_DIV || rows[operation].kind == TJ_KIND_TRUTH;
}

/* Sums and products are of the left one first, as C has them. */
static int place_of(tj_array_operation operation, uint32_t operand) {
  int binding = rows[operation].binding;
  return operand == 0 && (binding == TJ_C_SUM || binding == TJ_C_PRODUCT) ? binding : rows[operation].place;
}

static const char *operand_text(machine *m, tj_array_operation operation, const tj_term operand[], uint32_t i) {
  return takes_products(operation) ? tj_c_placed(m->job, operand[i]->piece, place_of(operation, i))
                                   : tj_c_term_text(m->job, operand[i], place_of(operation, i));
}

static tj_term named(machine *m, tj_term term, uint32_t number) {
  bool is_double = m->machine.is_double;
  const char *name = tj_string_format(m->job, "t%u", number), *text = tj_c_term_text(m->job, term, TJ_C_TERNARY);
  tj_text_format(m->statements, "  const %s %s = %s;\n", word_of(term->kind == TJ_KIND_REAL ? 'r' : 'u', is_double),
                 name, text);
  return new_term(m->job, (tj_c_piece){name, TJ_C_ATOM}, term->kind);
}

static tj_term apply(const tj_array_machine *base, tj_array_operation operation, const tj_term operand[]) {
  machine *m = (machine *)base;
  const char *text[TJ_OPERATION_MOST_OPERANDS];
  uint32_t arity = rows[operation].arity, number = (*m->count)++;
  tj_spend(m->job, 1);
  for (uint32_t i = 0; i < arity; i++)
    text[i] = operand_text(m, operation, operand, i);
  tj_array_kind kind = rows[operation].kind == TJ_KIND_ANY ? operand[arity - 1]->kind : rows[operation].kind;
  tj_c_piece piece = {expanded(m->job, rows[operation].text, base->is_double, text), rows[operation].binding};
  tj_term made = new_term(m->job, piece, kind);
  if (operation == TJ_OPERATION_MUL)
    made->rounded = expanded(m->job, "tilejit_product_$t($0, $1)", base->is_double, text);
  return m->statements != NULL && kind != TJ_KIND_TRUTH ? named(m, made, number) : made;
}

tj_c_machine tj_c_machine_of(tj_job *job, bool is_double, tj_text *statements, uint32_t *count) {
  return (tj_c_machine){.machine = {.is_double = is_double, .real = real, .integer = integer, .apply = apply},
                        .job = job,
                        .statements = statements,
                        .count = count};
}

/* --- functions of the table --- */

static const char *function_name(tj_job *job, tj_array_op op, bool is_double) {
  const char *name = op == TJ_ARRAY_EXPONENT ? "exponent" : tj_array_op_name(op);
  return tj_string_format(job, "tilejit_%s_%s", name, is_double ? "f64" : "f32");
}

/* The function's own arguments. */
static void set_parameters(tj_job *job, tj_array_op op, tj_term parameter[]) {
  static const char *const names[] = {"a", "b", "c"};
  for (uint32_t i = 0; i < TJ_ARRAY_MOST_ARGUMENTS; i++) {
    bool is_byte = i == 0 && tj_array_takes_byte(op);
    parameter[i] = new_term(job, (tj_c_piece){names[i], TJ_C_ATOM}, is_byte ? TJ_KIND_INTEGER : TJ_KIND_REAL);
  }
}

/* Its steps, and what it returns; how many operations it takes. */
static tj_term steps_of(tj_job *job, tj_array_op op, bool is_double, tj_text *statements, uint32_t *count) {
  tj_term parameter[TJ_ARRAY_MOST_ARGUMENTS];
  *count = 0;
  set_parameters(job, op, parameter);
  tj_c_machine m = tj_c_machine_of(job, is_double, statements, count);
  return tj_array_recipe(&m.machine, op, parameter);
}

static bool is_written_out(tj_job *job, tj_array_op op, bool is_double) {
  enum { MOST_OPERATIONS = 2 };
  tj_text statements = tj_text_begin(job);
  uint32_t count;
  (void)steps_of(job, op, is_double, &statements, &count);
  return count <= MOST_OPERATIONS;
}

struct tj_term tj_c_function(tj_job *job, tj_array_op op, bool is_double, const struct tj_term argument[]) {
  uint32_t arity = tj_array_arity(op), count = 0;
  tj_term operand[TJ_ARRAY_MOST_ARGUMENTS];
  for (uint32_t i = 0; i < arity; i++)
    operand[i] = tj_arena_copy(&job->arena, &argument[i], sizeof *argument);
  if (is_written_out(job, op, is_double)) {
    tj_c_machine m = tj_c_machine_of(job, is_double, NULL, &count);
    return *tj_array_recipe(&m.machine, op, operand);
  }
  tj_text call = tj_text_begin(job);
  tj_text_format(&call, "%s(", function_name(job, op, is_double));
  for (uint32_t i = 0; i < arity; i++)
    tj_text_format(&call, "%s%s", i > 0 ? ", " : "", tj_c_term_text(job, operand[i], TJ_C_TERNARY));
  tj_text_char(&call, ')');
  return (struct tj_term){{call.data, TJ_C_ATOM}, TJ_KIND_REAL, NULL};
}

static void write_function(tj_text *text, tj_array_op op, bool is_double) {
  tj_job *job = text->job;
  tj_text statements = tj_text_begin(job);
  uint32_t count;
  tj_term result = steps_of(job, op, is_double, &statements, &count);
  tj_text_format(text, "TILEJIT_FUNCTION %s %s(", word_of('r', is_double), function_name(job, op, is_double));
  for (uint32_t i = 0; i < tj_array_arity(op); i++)
    tj_text_format(text, "%s%s %c", i > 0 ? ", " : "",
                   word_of(i == 0 && tj_array_takes_byte(op) ? 'u' : 'r', is_double), (char)('a' + i));
  tj_text_format(text, ") {\n%s  return %s;\n}\n", statements.data, result->piece.text);
}

/* --- conversions --- */

static bool is_float(tj_dtype dtype) {
  return tj_dtype_class_of(dtype) == TJ_CLASS_FLOAT;
}

static bool is_short_float(tj_dtype dtype) {
  return is_float(dtype) && tj_dtype_bits(dtype) <= 16;
}

const char *tj_c_dtype(tj_dtype dtype) {
  static const char *const names[TJ_DTYPE_COUNT] = {
      [TJ_DTYPE_i8] = "int8_t",    [TJ_DTYPE_u8] = "uint8_t",   [TJ_DTYPE_i16] = "int16_t",
      [TJ_DTYPE_u16] = "uint16_t", [TJ_DTYPE_i32] = "int32_t",  [TJ_DTYPE_u32] = "uint32_t",
      [TJ_DTYPE_i64] = "int64_t",  [TJ_DTYPE_u64] = "uint64_t", [TJ_DTYPE_f64] = "double",
  };
  return names[dtype] != NULL ? names[dtype] : "float";
}

static struct tj_term cast(tj_job *job, struct tj_term term, const char *type) {
  const char *text = tj_c_placed(job, term.piece, TJ_C_UNARY);
  return (struct tj_term){{tj_string_format(job, "(%s)%s", type, text), TJ_C_UNARY}, TJ_KIND_REAL, NULL};
}

static struct tj_term called(tj_job *job, const char *name, struct tj_term term) {
  const char *text = tj_string_format(job, "%s(%s)", name, term.piece.text);
  return (struct tj_term){{text, TJ_C_ATOM}, TJ_KIND_REAL, NULL};
}

/* Integers that f32 may not hold are rounded to odd first, as f64 are; before that, those that f64 may not hold are
 * made such that it does. */
static struct tj_term as_float(tj_job *job, struct tj_term term, tj_dtype from) {
  if (!is_float(from) && tj_dtype_bits(from) <= 16)
    return cast(job, term, "float");
  if (!is_float(from) && tj_dtype_bits(from) == 64)
    term = called(job, from == TJ_DTYPE_i64 ? "tilejit_sticky_i64" : "tilejit_sticky_u64", term);
  if (!is_float(from))
    term = cast(job, term, "double");
  return !is_float(from) || from == TJ_DTYPE_f64 ? called(job, "tilejit_odd_f32", term) : term;
}

struct tj_term tj_c_converted(tj_job *job, struct tj_term term, tj_dtype from, tj_dtype to) {
  if (from == to || (is_short_float(from) && to == TJ_DTYPE_f32))
    return term;
  if (is_short_float(to))
    return called(job, tj_string_format(job, "tilejit_%s", tj_dtype_name(to)), as_float(job, term, from));
  if (is_float(to) || !is_float(from))
    return cast(job, term, tj_c_dtype(to));
  const char *arithmetic = from == TJ_DTYPE_f64 ? "f64" : "f32";
  return called(job, tj_string_format(job, "tilejit_%s_of_%s", tj_dtype_name(to), arithmetic), term);
}

static const char *code_type(tj_dtype dtype) {
  return tj_c_dtype(tj_dtype_bits(dtype) == 16 ? TJ_DTYPE_u16 : TJ_DTYPE_u8);
}

/* Numbers of codes, codes of numbers, and numbers as the type holds them. */
static void write_number(tj_text *text, tj_dtype dtype) {
  tj_job *job = text->job;
  tj_text statements = tj_text_begin(job);
  tj_float_form form = tj_dtype_form(dtype);
  uint32_t count = 0;
  tj_c_machine m = tj_c_machine_of(job, false, &statements, &count);
  tj_term code = new_term(job, (tj_c_piece){"(uint32_t)code", TJ_C_UNARY}, TJ_KIND_INTEGER);
  tj_term number = tj_float_recipe(&m.machine, &form, code);
  const char *name = tj_dtype_name(dtype);
  tj_text_format(text, "TILEJIT_FUNCTION float tilejit_%s_number(%s code) {\n%s  return %s;\n}\n", name,
                 code_type(dtype), statements.data, number->piece.text);
}

/* Small floats of which some are infinite: rounding makes none of them, loading may. */
static bool keeps_infinities(tj_dtype dtype) {
  return tj_dtype_is_small_float(dtype) && tj_dtype_form(dtype).specials == TJ_SPECIALS_IEEE;
}

static void write_infinities(tj_text *text, const tj_float_form *form) {
  uint32_t code = tj_float_largest(form) + 1, sign = (uint32_t)1 << (form->exponent + form->mantissa);
  const char *largest = tj_c_number(text->job, FLT_MAX, false).text;
  tj_text_format(text, "  if (fabs(x) > %s)\n    return x < 0 ? %" PRIu32 " : %" PRIu32 ";\n", largest, code + sign,
                 code);
}

static void write_code(tj_text *text, tj_dtype dtype) {
  tj_job *job = text->job;
  tj_text statements = tj_text_begin(job);
  tj_float_form form = tj_dtype_form(dtype);
  uint32_t count = 0;
  tj_c_machine m = tj_c_machine_of(job, false, &statements, &count);
  tj_term number = new_term(job, (tj_c_piece){"x", TJ_C_ATOM}, TJ_KIND_REAL);
  tj_term code = tj_float_code_recipe(&m.machine, &form, !tj_dtype_is_small_float(dtype), number);
  const char *name = tj_dtype_name(dtype), *type = code_type(dtype);
  tj_text_format(text, "TILEJIT_FUNCTION %s tilejit_%s_code(float x) {\n", type, name);
  if (keeps_infinities(dtype))
    write_infinities(text, &form);
  tj_text_format(text, "%s  return (%s)%s;\n}\n", statements.data, type, code->piece.text);
}

static void write_short(tj_text *text, tj_dtype dtype) {
  const char *name = tj_dtype_name(dtype);
  tj_text_format(text, "TILEJIT_FUNCTION float tilejit_%s(float x) {\n", name);
  if (keeps_infinities(dtype)) {
    const char *largest = tj_c_number(text->job, tj_float_limit(dtype), false).text;
    tj_text_format(text, "  if (fabs(x) > %s)\n    return x < 0 ? -%s : %s;\n", largest, largest, largest);
  }
  tj_text_format(text, "  return tilejit_%s_number(tilejit_%s_code(x));\n}\n", name, name);
}

static void write_odd(tj_text *text) {
  tj_text_string(text, "TILEJIT_FUNCTION float tilejit_odd_f32(double x) {\n"
                       "  const float nearest = (float)x;\n"
                       "  const double back = (double)nearest;\n"
                       "  const uint32_t bits = tilejit_bits_f32(nearest);\n"
                       "  if (back == x || x != x || (bits & 1u) != 0)\n"
                       "    return nearest;\n"
                       "  return tilejit_of_bits_f32(fabs(back) > fabs(x) ? bits - 1u : bits + 1u);\n"
                       "}\n");
}

static void write_sticky(tj_text *text, bool is_signed) {
  const char *type = is_signed ? "int64_t" : "uint64_t";
  tj_text_format(text, "TILEJIT_FUNCTION %s tilejit_sticky_%s(%s x) {\n", type, is_signed ? "i64" : "u64", type);
  tj_text_format(text, "  const %s rest = x & 2047;\n", type);
  tj_text_format(text, "  if (%sx <= 9007199254740992LL)\n    return x;\n",
                 is_signed ? "x >= -9007199254740992LL && " : "");
  tj_text_string(text, "  return rest == 0 ? x : (x - rest) | 2048;\n}\n");
}

/* Toward zero, to the ends of the type's range beyond them, and NaN to 0. */
static void write_saturation(tj_text *text, tj_dtype to, bool is_double) {
  uint32_t bits = tj_dtype_bits(to);
  bool is_signed = tj_dtype_class_of(to) == TJ_CLASS_SIGNED;
  uint64_t greatest = UINT64_MAX >> (64 - bits + is_signed);
  const char *type = tj_c_dtype(to), *end = tj_c_number(text->job, ldexp(1, (int)bits - is_signed), is_double).text;
  tj_text_format(text, "TILEJIT_FUNCTION %s tilejit_%s_of_%s(%s x) {\n", type, tj_dtype_name(to),
                 is_double ? "f64" : "f32", word_of('r', is_double));
  if (is_signed)
    tj_text_format(text, "  if (x <= -%s)\n    return -%" PRIu64 " - 1;\n", end, greatest);
  tj_text_format(text, "  if (x >= %s)\n    return %" PRIu64 "%s;\n", end, greatest, is_signed ? "" : "u");
  tj_text_format(text, "  return x %s ? (%s)x : 0;\n}\n", is_signed ? "== x" : "> 0", type);
}

/* --- all that may be called --- */

typedef enum { ROUTINE, NUMBER, CODE, SHORT, ODD, STICKY, SATURATION, FUNCTION } callee_kind;

typedef struct {
  const char *name;
  callee_kind kind;
  uint32_t number; /* of the routine, the type or the function */
  bool is_double;  /* or is signed */
} callee;

typedef struct {
  tj_job *job;
  callee *all;
  uint32_t count;
} library;

static const struct {
  const char *name, *doc, *signature, *body;
} routines[] = {
#define ARRAY_ROUTINE(name, doc, signature, body) {#name, doc, signature, body},
#include "lower/c/c_array_routine.def"
#undef ARRAY_ROUTINE
};

enum {
  ROUTINE_COUNT = sizeof routines / sizeof *routines,
  MOST_OF_TYPE = 5, /* to and from short floats 3, to integers 2 */
  OTHER_CONVERSIONS = 3,
  MOST_CALLEES = 2 * ROUTINE_COUNT + OTHER_CONVERSIONS + MOST_OF_TYPE * TJ_DTYPE_COUNT + 2 * TJ_ARRAY_OP_COUNT
};

static void add(library *l, const char *name, callee_kind kind, uint32_t number, bool is_double) {
  l->all[l->count++] = (callee){name, kind, number, is_double};
}

static void add_short(library *l, tj_dtype dtype) {
  const char *name = tj_dtype_name(dtype);
  add(l, tj_string_format(l->job, "tilejit_%s_number", name), NUMBER, dtype, false);
  add(l, tj_string_format(l->job, "tilejit_%s_code", name), CODE, dtype, false);
  add(l, tj_string_format(l->job, "tilejit_%s", name), SHORT, dtype, false);
}

static void add_conversions(library *l) {
  add(l, "tilejit_odd_f32", ODD, 0, false);
  add(l, "tilejit_sticky_u64", STICKY, 0, false);
  add(l, "tilejit_sticky_i64", STICKY, 0, true);
  for (uint32_t i = 0; i < TJ_DTYPE_COUNT; i++) {
    if (is_short_float((tj_dtype)i))
      add_short(l, (tj_dtype)i);
    for (int twice = 0; twice < 2 && tj_dtype_class_of((tj_dtype)i) <= TJ_CLASS_UNSIGNED; twice++)
      add(l, tj_string_format(l->job, "tilejit_%s_of_%s", tj_dtype_name((tj_dtype)i), twice ? "f64" : "f32"),
          SATURATION, i, twice);
  }
}

/* Later ones may call earlier ones. */
static library library_of(tj_job *job) {
  library l = {job, TJ_NEW_ARRAY(job, callee, MOST_CALLEES), 0};
  for (uint32_t i = 0; i < 2 * ROUTINE_COUNT; i++)
    add(&l, tj_string_format(job, "tilejit_%s_%s", routines[i / 2].name, i % 2 ? "f64" : "f32"), ROUTINE, i / 2,
        i % 2);
  add_conversions(&l);
  for (uint32_t op = TJ_ARRAY_CAST; op < TJ_ARRAY_OP_COUNT; op++) {
    for (int twice = 0; twice < 2 && (op == TJ_ARRAY_EXPONENT || op > TJ_ARRAY_SMALLEST); twice++)
      add(&l, function_name(job, (tj_array_op)op, twice), FUNCTION, op, twice);
  }
  return l;
}

static const char *doc_of(tj_job *job, const callee *c) {
  static const char *const functions[TJ_ARRAY_OP_COUNT] = {
      [TJ_ARRAY_EXPONENT] = "floor(log2(a)), exact",
#define ARRAY_FUNCTION(name, text, arity, single, twice, traits, doc) [TJ_ARRAY_##name] = doc,
#include "ir/array/array_function.def"
#undef ARRAY_FUNCTION
  };
  const tj_dtype dtype = (tj_dtype)c->number; /* of numbers, codes and what is short */
  switch (c->kind) {
  case ROUTINE:
    return routines[c->number].doc;
  case NUMBER:
    return tj_string_format(job, "The number that a code of %s stands for.", tj_dtype_name(dtype));
  case CODE:
    return tj_string_format(
        job, "The code of %s that is nearest, of two the even one; infinite ones keep theirs if it has any.",
        tj_dtype_name(dtype));
  case SHORT:
    return tj_string_format(job, "The nearest number of %s.", tj_dtype_name(dtype));
  case ODD:
    return "As a float; what it does not hold is the one of two with an odd last bit, to be rounded once more.";
  case STICKY:
    return "An integer that a double holds, and that is rounded as this one is to far fewer bits.";
  case SATURATION:
    return "Toward zero; the end of the range beyond it; 0 where it is NaN.";
  case FUNCTION:
    break;
  }
  return functions[c->number];
}

static void write_callee(tj_text *text, const callee *c) {
  switch (c->kind) {
  case ROUTINE:
    tj_text_format(text, "TILEJIT_FUNCTION %s {\n%s}\n",
                   expanded(text->job, routines[c->number].signature, c->is_double, NULL),
                   expanded(text->job, routines[c->number].body, c->is_double, NULL));
    break;
  case NUMBER:
    write_number(text, (tj_dtype)c->number);
    break;
  case CODE:
    write_code(text, (tj_dtype)c->number);
    break;
  case SHORT:
    write_short(text, (tj_dtype)c->number);
    break;
  case ODD:
    write_odd(text);
    break;
  case STICKY:
    write_sticky(text, c->is_double);
    break;
  case SATURATION:
    write_saturation(text, (tj_dtype)c->number, c->is_double);
    break;
  case FUNCTION:
    write_function(text, (tj_array_op)c->number, c->is_double);
    break;
  }
}

/* Once in a file, however many of such texts it includes. */
static void write_guarded(tj_text *text, const callee *c) {
  const char *guard = c->name + strlen("tilejit_");
  tj_text_format(text, "#ifndef TILEJIT_HAS_%s\n#define TILEJIT_HAS_%s\n/* %s */\n", guard, guard,
                 doc_of(text->job, c));
  write_callee(text, c);
  tj_text_string(text, "#endif\n\n");
}

void tj_c_write_called(tj_text *text, const char *caller) {
  tj_job *job = text->job;
  library l = library_of(job);
  const char **written = TJ_NEW_ARRAY(job, const char *, l.count);
  tj_text callers = tj_text_begin(job);
  tj_text_string(&callers, caller);
  for (uint32_t i = l.count; i-- > 0;) {
    tj_text definition = tj_text_begin(job);
    tj_spend(job, callers.length / 64 + 1);
    if (strstr(callers.data, tj_string_format(job, "%s(", l.all[i].name)) == NULL)
      continue;
    write_guarded(&definition, &l.all[i]);
    tj_text_string(&callers, definition.data);
    written[i] = definition.data;
  }
  for (uint32_t i = 0; i < l.count; i++)
    tj_text_string(text, written[i] != NULL ? written[i] : "");
}

/* SPDX-License-Identifier: MIT */
/* Properties of the layout algebra as the language has it, on random inputs: each function is the operation of its
 * name, and what functions and `o` make of swizzled layouts, coordinate tensors and linear maps has the values that
 * its parts have. */
#include "frontend/sema/sema.h"
#include "frontend/text/parser.h"
#include "tests/unit/support/property_support.h"

enum { CASES = 600 };

/* --- texts --- */

/* In a text, $ and a letter stand for an input: $a $b layouts, $s $t tuples, $c a coordinate of $a by mode, $k its
 * second entry, $i an index of $a, $n a small power of two, $m a mode of $a, $w $v swizzles. */
static void print_input(const property_case *self, tj_text *text, char letter) {
  switch (letter) {
  case 'a':
    tj_text_format(text, "(%s)", tj_layout_text(self->job, self->a));
    break;
  case 'b':
    tj_text_format(text, "(%s)", tj_layout_text(self->job, self->b));
    break;
  case 's':
    tj_tuple_print(text, self->tuple);
    break;
  case 't':
    tj_tuple_print(text, self->other);
    break;
  case 'c':
    tj_tuple_print(text, self->offset);
    break;
  case 'i':
    tj_text_format(text, "%lld", (long long)self->number);
    break;
  case 'n':
    tj_text_format(text, "%lld", (long long)self->count);
    break;
  case 'k':
    tj_tuple_print(text, self->offset->item[1]);
    break;
  case 'm':
    tj_text_format(text, "%u", self->begin);
    break;
  case 'w':
    tj_swizzle_print(text, self->swizzle);
    break;
  case 'v':
    tj_swizzle_print(text, self->other_swizzle);
    break;
  default:
    ck_abort_msg("no input %c", letter);
  }
}

static const char *filled_in(const property_case *self, const char *form) {
  tj_text text = tj_text_begin(self->job);
  for (; *form != '\0'; form++) {
    if (*form == '$')
      print_input(self, &text, *++form);
    else
      tj_text_char(&text, *form);
  }
  return text.data;
}

static const tj_value *evaluated(const property_case *self, const char *form) {
  const char *text = filled_in(self, form);
  self->job->source = tj_source_of("property", text, strlen(text));
  return tj_evaluate(self->graph, tj_parse(self->job), NULL, 0)->value;
}

static const char *value_text(const property_case *self, const tj_value *value) {
  tj_text text = tj_text_begin(self->job);
  tj_value_print(&text, value);
  return text.data;
}

/* --- inputs --- */

static void complete_inputs(property_case *self) {
  const tj_tuple *coordinate[3];
  int64_t a[4], b[4];
  for (uint32_t i = 0; i < 3; i++)
    coordinate[i] = integer(self, random_below(&self->state, (uint32_t)product_of(self->a.shape->item[i])));
  self->offset = tj_tuple_list(self->graph, coordinate, 3);
  for (uint32_t i = 0; i < 4; i++) {
    a[i] = random_power(&self->state, 4);
    b[i] = random_power(&self->state, 2);
  }
  uint64_t structure = next_random(&self->state) | 1;
  self->tuple = structured(self, structure, a, 4);
  self->other = structured(self, structure, b, 4);
  self->number = random_below(&self->state, (uint32_t)product_of(self->a.shape));
  self->count = random_power(&self->state, 2);
  self->begin = random_below(&self->state, 3);
  self->swizzle = random_swizzle(self, SWIZZLE_BITS);
  self->other_swizzle = random_swizzle(self, SWIZZLE_BITS);
}

static void prepare_any(property_case *self) {
  self->a = random_compact_modes(self, 3, 2);
  self->b = random_compact(self, 2);
  complete_inputs(self);
}

/* Of powers of two, so that swizzles of them are linear. */
static void prepare_even(property_case *self) {
  int64_t extent[4], stride[4];
  tj_layout modes[3];
  for (uint32_t i = 0; i < 4; i++)
    extent[i] = 2 * random_power(&self->state, 2);
  compact_strides(&self->state, extent, stride, 4);
  for (uint32_t i = 0; i < 3; i++)
    modes[i] = layout_of(self, extent + i, stride + i, i == 2 ? 2 : 1);
  self->a = side_by_side(self, modes, 3);
  for (uint32_t i = 0; i < 2; i++)
    extent[i] = random_power(&self->state, 2);
  compact_strides(&self->state, extent, stride, 2);
  self->b = layout_of(self, extent, stride, 2);
  complete_inputs(self);
}

/* --- functions --- */

/* What a call gives, by the operation that it stands for. */
typedef struct {
  const char *call;
  const tj_value *(*operation)(const property_case *self);
} function_row;

#define G self->graph
#define A self->a
#define B self->b
#define S self->tuple
#define T self->other

#define GIVES_LAYOUT(name, expression)                                                                               \
  static const tj_value *name(const property_case *self) {                                                           \
    return tj_value_of_layout(G, expression);                                                                        \
  }
#define GIVES_TUPLE(name, expression)                                                                                \
  static const tj_value *name(const property_case *self) {                                                           \
    return tj_value_of_tuple(G, expression);                                                                         \
  }
#define GIVES_INTEGER(name, expression)                                                                              \
  static const tj_value *name(const property_case *self) {                                                           \
    return tj_value_of_tuple(G, integer(self, expression));                                                          \
  }
/* By mode: 1 of the first, $n of the second. */
static const tj_tiler *by_mode(const property_case *self) {
  const tj_tuple *extents[] = {integer(self, 1), integer(self, self->count)};
  return tj_tiler_of_tuple(G, tj_tuple_list(G, extents, 2));
}

#define GIVES_BOTH(name, operation)                                                                                  \
  GIVES_LAYOUT(divide_##name, tj_layout_divide(G, A, by_mode(self), operation))                                      \
  GIVES_LAYOUT(multiply_##name, tj_layout_multiply(G, A, by_mode(self), operation))

GIVES_BOTH(logical, TJ_TILED_LOGICAL)
GIVES_BOTH(zipped, TJ_TILED_ZIPPED)
GIVES_BOTH(tiled, TJ_TILED_TILED)
GIVES_BOTH(flat, TJ_TILED_FLAT)
GIVES_LAYOUT(
    divide_by_mode,
    tj_layout_divide(
        G, A,
        tj_tiler_of_tuple(G, tj_tuple_list(G, (const tj_tuple *[]){integer(self, self->count), tj_tuple_any(G)}, 2)),
        TJ_TILED_LOGICAL))
GIVES_LAYOUT(divide_by_layout, tj_layout_divide(G, A, tj_tiler_of_layout(G, B), TJ_TILED_LOGICAL))
GIVES_LAYOUT(recast_both, tj_layout_recast(G, A, 12, 8))
GIVES_LAYOUT(blocked, tj_layout_blocked_product(G, A, B))
GIVES_LAYOUT(raked, tj_layout_raked_product(G, A, B))
GIVES_LAYOUT(tile_to_shape, tj_tile_to_shape(G, B, S, NULL))
GIVES_LAYOUT(compose, tj_layout_compose(G, A, B))
GIVES_LAYOUT(coalesce, tj_layout_coalesce(G, A))
GIVES_LAYOUT(coalesce_by, tj_layout_coalesce_by(G, A, tj_tuple_list(G, (const tj_tuple *[]){integer(self, 1)}, 1)))
GIVES_LAYOUT(filter, tj_layout_filter(G, A))
GIVES_LAYOUT(filter_by, tj_layout_filter_by(G, A, tj_tuple_list(G, (const tj_tuple *[]){integer(self, 1)}, 1)))
GIVES_LAYOUT(filter_zeros, tj_layout_filter_zeros(G, A))
GIVES_LAYOUT(complement, tj_layout_complement(G, B, NULL))
GIVES_LAYOUT(complement_to, tj_layout_complement(G, B, S))
GIVES_LAYOUT(right_inverse, tj_layout_right_inverse(G, A))
GIVES_LAYOUT(left_inverse, tj_layout_left_inverse(G, A))
GIVES_LAYOUT(nullspace, tj_layout_nullspace(G, A))
GIVES_LAYOUT(max_common, tj_layout_max_common(G, A, B))
GIVES_TUPLE(max_common_vector, tj_tuple_integer(G, tj_layout_max_common_vector(G, A, B)))
GIVES_LAYOUT(distribute, tj_domain_distribute(G, S, T))
GIVES_LAYOUT(upcast, tj_layout_upcast(G, A, self->count))
GIVES_LAYOUT(downcast, tj_layout_downcast(G, A, self->count))
GIVES_LAYOUT(recast, tj_layout_recast(G, A, 8, 4 * self->count))
GIVES_LAYOUT(group, tj_layout_group(G, A, self->begin, 3))
GIVES_LAYOUT(take, tj_layout_take(G, A, self->begin, 3))
GIVES_LAYOUT(select_modes, tj_layout_select(G, A, (const uint32_t[]){2, self->begin}, 2))
GIVES_LAYOUT(append, tj_layout_append(G, A, B, 5))
GIVES_LAYOUT(append_one, tj_layout_append(G, A, B, 0))
GIVES_LAYOUT(prepend, tj_layout_prepend(G, A, B, 5))
GIVES_LAYOUT(replace, tj_layout_replace(G, A, self->begin, B))
GIVES_LAYOUT(flatten_layout, tj_layout_flatten(G, A))
GIVES_LAYOUT(unflatten, tj_layout_unflatten(G, tj_layout_flatten(G, A), A.shape))
GIVES_LAYOUT(dice, tj_layout_dice(G, self->offset, A))
GIVES_LAYOUT(reversed_layout, A)
GIVES_TUPLE(reversed, tj_tuple_reverse(G, S))
GIVES_TUPLE(flat_tuple, tj_tuple_flatten(G, S))
GIVES_TUPLE(tuple_group, tj_layout_group(G, (tj_layout){S, S}, 0, 1).shape)
GIVES_TUPLE(tuple_append, tj_layout_append(G, (tj_layout){S, S}, (tj_layout){T, T}, 0).shape)
GIVES_LAYOUT(ordered, tj_layout_ordered(G, A.shape, tj_layout_of_shape(G, tj_tuple_product_each(G, A.shape)).stride))
GIVES_LAYOUT(like, tj_layout_like(G, A))
GIVES_LAYOUT(identity, tj_layout_identity(G, S))
GIVES_LAYOUT(of_shape, tj_layout_of_shape(G, S))
GIVES_LAYOUT(made, tj_layout_make(G, S, T))
GIVES_TUPLE(column_major, tj_layout_of_shape(G, S).stride)
GIVES_TUPLE(row_major, tj_compact_row_major(G, S))
GIVES_TUPLE(in_order, tj_compact_order(G, S, T))
GIVES_TUPLE(coshape, tj_layout_coshape(G, A))
GIVES_TUPLE(coprofile, tj_layout_coprofile(G, tj_layout_identity(G, S)))
GIVES_TUPLE(cosize, tj_tuple_integer(G, tj_layout_cosize(G, A)))
GIVES_TUPLE(mode_size, tj_tuple_integer(G, tj_tuple_product(G, A.shape->item[self->begin])))
GIVES_TUPLE(mode_shape, A.shape->item[self->begin])
GIVES_TUPLE(mode_stride, A.stride->item[self->begin])
GIVES_INTEGER(size, product_of(A.shape))
GIVES_INTEGER(rank, rank_of(S))
GIVES_INTEGER(depth, S->depth)
GIVES_TUPLE(crd2idx, tj_crd2idx(G, self->offset, A.shape, A.stride))
GIVES_TUPLE(crd2idx_compact, tj_crd2idx(G, self->offset, A.shape, NULL))
GIVES_TUPLE(idx2crd, tj_idx2crd(G, integer(self, self->number), A.shape, NULL))
GIVES_TUPLE(idx2crd_by, tj_idx2crd(G, integer(self, self->number), A.shape, A.stride))
GIVES_TUPLE(crd2crd, tj_idx2crd(G, tj_crd2idx(G, self->offset, A.shape, NULL), B.shape, NULL))
GIVES_TUPLE(shape_div, tj_shape_div(G, S, T))
GIVES_TUPLE(ceil_div, tj_tuple_ceil_div(G, S, T))
GIVES_TUPLE(round_up, tj_tuple_round_up(G, S, T))
GIVES_INTEGER(gcd, tj_tuple_gcd(G, S, T))
GIVES_INTEGER(congruent, same_structure(A.shape, S))
GIVES_INTEGER(compatible, tj_tuple_compatible(G, S, A.shape))
GIVES_INTEGER(weakly_congruent, tj_tuple_weakly_congruent(T, A.shape))

static const tj_value *part(const property_case *self, tj_layout layout, const tj_tuple *offset) {
  if (tj_is_int(offset->value, 0))
    return tj_value_of_layout(G, layout);
  tj_composed *tensor = TJ_NEW(self->job, tj_composed);
  *tensor = tj_coord_tensor(G, offset, layout);
  return tj_value_of_composed(G, tensor);
}

static const tj_value *local_tile(const property_case *self) {
  const tj_tuple *offset, *extents[] = {integer(self, self->count), integer(self, 1)};
  const tj_tiler *tiler = tj_tiler_of_tuple(G, tj_tuple_list(G, extents, 2));
  const tj_tuple *at[] = {integer(self, 0), self->offset->item[1]};
  tj_layout tile = tj_local_tile(G, A, tiler, tj_tuple_list(G, at, 2), &offset);
  return part(self, tile, offset);
}

static const tj_value *local_partition(const property_case *self) {
  const tj_tuple *offset;
  tj_layout threads = mode_of_integers(self, 2, 1);
  threads = pair_of(self, threads, mode_of_integers(self, 2, 2));
  tj_layout made = tj_local_partition(G, A, threads, tj_int(G, self->number % 4), &offset);
  return part(self, made, offset);
}

static const tj_value *sliced(const property_case *self) {
  const tj_tuple *offset, *coordinate[] = {tj_tuple_any(G), self->offset->item[1], tj_tuple_any(G)};
  tj_layout made = tj_layout_slice(G, A, tj_tuple_list(G, coordinate, 3), &offset);
  return tj_value_of_layout(G, made);
}

typedef struct {
  const property_case *self;
  const tj_value *value;
} attempt;

static void attempt_operation(tj_job *job, void *data) {
  (void)job;
  attempt *made = data;
  made->value = ((const function_row *)made->self->row)->operation(made->self);
}

static void attempt_call(tj_job *job, void *data) {
  (void)job;
  attempt *made = data;
  made->value = evaluated(made->self, ((const function_row *)made->self->row)->call);
}

/* Both give the same, or are refused alike. */
static void check_function(property_case *self) {
  const function_row *row = self->row;
  attempt operation = {self, NULL}, call = {self, NULL};
  tj_status expected = tj_job_run(self->job, attempt_operation, &operation);
  tj_problem_code refusal = self->job->problem.code;
  tj_status status = tj_job_run(self->job, attempt_call, &call);
  const char *text = filled_in(self, row->call);
  if (status != expected)
    ck_abort_msg("%s: %s", text, status == TJ_OK ? "succeeds" : self->job->problem.message);
  if (status != TJ_OK) {
    ck_assert_msg(refusal == self->job->problem.code, "%s: TJ%04d", text, (int)self->job->problem.code);
    return;
  }
  const char *actual = value_text(self, call.value), *wanted = value_text(self, operation.value);
  if (strcmp(actual, wanted) != 0)
    ck_abort_msg("%s: %s, not %s", text, actual, wanted);
}

static const function_row functions[] = {
    {"logical_divide($a, (1, $n))", divide_logical},
    {"zipped_divide($a, (1, $n))", divide_zipped},
    {"tiled_divide($a, (1, $n))", divide_tiled},
    {"flat_divide($a, (1, $n))", divide_flat},
    {"logical_divide($a, ($n, _))", divide_by_mode},
    {"logical_product($a, (1, $n))", multiply_logical},
    {"zipped_product($a, (1, $n))", multiply_zipped},
    {"tiled_product($a, (1, $n))", multiply_tiled},
    {"flat_product($a, (1, $n))", multiply_flat},
    {"logical_divide($a, $b)", divide_by_layout},
    {"recast($a, 12, 8)", recast_both},
    {"blocked_product($a, $b)", blocked},
    {"raked_product($a, $b)", raked},
    {"tile_to_shape($b, $s)", tile_to_shape},
    {"composition($a, $b)", compose},
    {"$a o $b", compose},
    {"coalesce($a)", coalesce},
    {"coalesce($a, (1))", coalesce_by},
    {"filter($a)", filter},
    {"filter($a, (1))", filter_by},
    {"filter_zeros($a)", filter_zeros},
    {"complement($b)", complement},
    {"complement($b, $s)", complement_to},
    {"right_inverse($a)", right_inverse},
    {"left_inverse($a)", left_inverse},
    {"inverse($a)", left_inverse},
    {"nullspace($a)", nullspace},
    {"max_common_layout($a, $b)", max_common},
    {"max_common_vector($a, $b)", max_common_vector},
    {"domain_distribute($s, $t)", distribute},
    {"upcast($a, $n)", upcast},
    {"downcast($a, $n)", downcast},
    {"recast($a, 8, 4 * $n)", recast},
    {"group($a, $m, 3)", group},
    {"take($a, $m, 3)", take},
    {"select($a, 2, $m)", select_modes},
    {"append($a, $b, 5)", append},
    {"append($a, $b)", append_one},
    {"prepend($a, $b, 5)", prepend},
    {"replace($a, $m, $b)", replace},
    {"flatten($a)", flatten_layout},
    {"unflatten(flatten($a), shape($a))", unflatten},
    {"dice($c, $a)", dice},
    {"reverse($a)", reversed_layout},
    {"reverse($s)", reversed},
    {"flatten($s)", flat_tuple},
    {"group($s, 0, 1)", tuple_group},
    {"append($s, $t)", tuple_append},
    {"make_ordered_layout(shape($a), compact_col_major((size($a, 0), size($a, 1), size($a, 2))))", ordered},
    {"make_layout_like($a)", like},
    {"make_identity_layout($s)", identity},
    {"layout($s)", of_shape},
    {"layout($s, $t)", made},
    {"compact_col_major($s)", column_major},
    {"compact_row_major($s)", row_major},
    {"compact_order($s, $t)", in_order},
    {"coshape($a)", coshape},
    {"coprofile(make_identity_layout($s))", coprofile},
    {"cosize($a)", cosize},
    {"size($a, $m)", mode_size},
    {"shape($a, $m)", mode_shape},
    {"stride($a, $m)", mode_stride},
    {"size($a)", size},
    {"rank($s)", rank},
    {"depth($s)", depth},
    {"crd2idx($c, shape($a), stride($a))", crd2idx},
    {"crd2idx($c, shape($a))", crd2idx_compact},
    {"idx2crd($i, shape($a))", idx2crd},
    {"idx2crd($i, shape($a), stride($a))", idx2crd_by},
    {"crd2crd(crd2idx($c, shape($a)), shape($a), shape($b))", crd2crd},
    {"shape_div($s, $t)", shape_div},
    {"ceil_div($s, $t)", ceil_div},
    {"round_up($s, $t)", round_up},
    {"gcd($s, $t)", gcd},
    {"congruent($a, $s)", congruent},
    {"compatible($s, $a)", compatible},
    {"weakly_congruent($t, $a)", weakly_congruent},
    {"local_tile($a, ($n, 1), (0, $k))", local_tile},
    {"local_partition($a, (2, 2):(1, 2), $i % 4)", local_partition},
    {"$a(_, $k, _)", sliced},
};

START_TEST(calls) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    const property same = {functions[i].call, prepare_any, operate_nothing, check_function, CASES, CASES, {NO_CODE}};
    run_property_of(&same, &functions[i]);
  }
}
END_TEST

/* --- laws --- */

/* Two texts that have the same value wherever the first has one; in at least so many cases it has. */
typedef struct {
  const char *left, *right;
  unsigned least;
} law_row;

static void operate_law(property_case *self) {
  const law_row *row = self->row;
  self->answer = evaluated(self, row->left)->tuple;
}

static void check_law(property_case *self) {
  const law_row *row = self->row;
  const tj_value *right = evaluated(self, row->right);
  if (right->kind != TJ_VALUE_TUPLE || !same_tuple(self->answer, right->tuple))
    ck_abort_msg("%s is %s, and %s is %s", filled_in(self, row->left), tj_tuple_text(self->job, self->answer),
                 filled_in(self, row->right), value_text(self, right));
}

static const law_row laws[] = {
    {"($w o $a)($i)", "$w($a($i))", CASES},
    {"($w o $v)($i)", "$w($v($i))", CASES},
    {"($w o $v o $a)($i)", "$w($v($a($i)))", CASES},
    {"($a o $w)($i % 4)", "$a($w($i % 4))", 530},
    {"($a o $w o $b)($i % size($b))", "$a($w($b($i % size($b))))", 530},
    {"($w o $a o $b)($i % size($b))", "$w($a($b($i % size($b))))", CASES},
    {"($w o $a o $v)($i % 4)", "$w($a($v($i % 4)))", 520},
    {"(linear($w) o $a)($i)", "$w($a($i))", CASES},
    {"linear($w o $a)($i)", "$w($a($i))", CASES},
    {"(linear($w) o linear($v))($i)", "$w($v($i))", CASES},
    {"inverse($w)($w($i))", "$i", CASES},
    {"inverse($w o $v)(($w o $v)($i))", "$i", CASES},
    {"inverse($w o $a)(($w o $a)($i))", "$i", 560},
    {"inverse($a)($a($i))", "$i", CASES},
    {"left_inverse($w o $a)(($w o $a)($i))", "$i", CASES},
    {"($w o $a)(right_inverse($w o $a)($i % size(right_inverse($w o $a))))", "$i % size(right_inverse($w o $a))",
     CASES},
    {"nullspace($w o (4, 4):(1, 0))(1)", "4", CASES},
    {"coord_tensor($i, $a)($c)", "$i + $a($c)", CASES},
    {"coord_tensor($i, coord_tensor(5, $a))($c)", "$i + 5 + $a($c)", CASES},
    {"coord_tensor($c, make_identity_layout(size($a, 0), size($a, 1), size($a, 2)))($c)", "$c + $c", CASES},
    {"domain_offset($c, $a)($i)", "$a($c) + $a($i)", CASES},
    {"domain_offset($c, $w o $a)(0)", "$w($a($c))", CASES},
    {"domain_offset($c, coord_tensor(7, $a))($i)", "7 + $a($c) + $a($i)", CASES},
    {"($w o 1 o $a)(_, $k, _)($i % size($a, 0))", "$w(1 + $a($i % size($a, 0), $k, 0))", CASES},
    {"coord_tensor(5, $a)(_, $k, _)($i % size($a, 0))", "5 + $a($i % size($a, 0), $k, 0)", CASES},
    {"local_tile($w o $a, ($n, 1), (0, $k))(0)", "$w($a(0, $k, 0))", CASES},
    {"local_tile(coord_tensor(9, $a), ($n, 1), (0, $k))(0)", "9 + $a(0, $k, 0)", CASES},
    {"local_partition($w o $a, (1, 1, 1):(0, 0, 0), 0)($i)", "$w($a($i))", CASES},
    {"local_tile(coord_tensor(9, $a), ($n, 5, 1), (0, 7, $k), (1, _, 1))(0)", "9 + $a(0, $k, 0)", CASES},
    {"shape(local_tile($a, ($n, 5, 1), (0, 7, $k), (1, _, 1)))", "shape(local_tile($a, ($n, 1), (0, $k)))", CASES},
    {"local_partition(coord_tensor(9, $a), (2, 3, 2):(1, 5, 2), $i % 4, (1, _, 1))(0)",
     "local_partition(coord_tensor(9, $a), (2, 2):(1, 2), $i % 4)(0)", CASES},
    {"flatten($w o $a)($i)", "$w($a($i))", CASES},
    {"coalesce($w o $a)($i)", "$w($a($i))", CASES},
    {"filter($w o $a)($i)", "$w($a($i))", CASES},
    {"filter(coord_tensor(3, $a))($i)", "3 + $a($i)", CASES},
    {"group($w o $a, 0, 2)($i)", "$w($a($i))", CASES},
    {"select(coord_tensor(3, $a), $m)(0)", "3", CASES},
    {"logical_divide($w o $a, $b)((0, 0))", "$w(0)", CASES},
    {"logical_divide($w o $a, $b)(1)", "$w(logical_divide($a, $b)(1))", CASES},
    {"zipped_divide(coord_tensor(3, $a), $b)(1)", "3 + zipped_divide($a, $b)(1)", CASES},
    {"logical_product($w o $a, $b)($i)", "$w(logical_product($a, $b)($i))", CASES},
    {"blocked_product($w o $a, $b)($i)", "$w(blocked_product($a, $b)($i))", CASES},
    {"raked_product($w o $a, $b)($i)", "$w(raked_product($a, $b)($i))", CASES},
    {"tile_to_shape($w o $b, $s)($i)", "$w(tile_to_shape($b, $s)($i))", 480},
    {"downcast($w, $n)($i * $n + 1 % $n)", "$w($i) * $n + 1 % $n", CASES},
    {"upcast($w, $n)($i)", "$w($i * $n) / $n", CASES},
    {"recast($w, 8, 8 * $n)($i)", "upcast($w, $n)($i)", CASES},
    {"recast($w, 8 * $n, 8)($i)", "downcast($w, $n)($i)", CASES},
    {"recast($w, 8, 8)($i)", "$w($i)", CASES},
    {"downcast($w o $a, $n)($c)", "downcast($w, $n)(downcast($a, $n)($c))", CASES},
    {"upcast($w o $n * 3 * $n o $a, $n)(0)", "upcast($w, $n)(3 * $n)", CASES},
    {"downcast(coord_tensor($i, $a), $n)(0)", "$i * $n", CASES},
    {"upcast(coord_tensor($i * $n, $a), $n)(0)", "$i", CASES},
    {"recast(coord_tensor($i * $n, $a), 8, 8 * $n)(0)", "$i", CASES},
    {"size($w o $a)", "size($a)", CASES},
    {"param P in 1..4; size(right_inverse(($n, 4):(P, 1)))", "4", CASES},
    {"rank(linear($a))", "rank(linear($a))", CASES},
    {"layout(linear($a))($i)", "$a($i)", CASES},
    {"linear($a)($i)", "$a($i)", CASES},
    {"crd2crd($c, shape($a), size($a))", "crd2idx($c, shape($a))", CASES},
    {"dice($c, $a)(0)", "0", CASES},
    {"min($i, $i + 1, $i + 2)", "$i", CASES},
    {"max($i + 2, $i, $i + 1)", "$i + 2", CASES},
    {"rank(linear((8, $n):(1, 0)))", "3", CASES},
    {"tile_to_shape((2, 2):(1, 2), (4, 8), (1, 0))(2, 0)", "16", CASES},
};

START_TEST(laws_of_values) {
  for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
    const property law = {laws[i].left,
                          prepare_even,
                          operate_law,
                          check_law,
                          CASES,
                          laws[i].least,
                          {TJ_COMPOSITION_STRIDE, TJ_COMPOSITION_SHAPE, TJ_COMPOSITION_OVERLAP, TJ_NOT_LINEAR,
                           TJ_NOT_DIVISIBLE, TJ_NOT_INJECTIVE}};
    run_property_of(&law, &laws[i]);
  }
}
END_TEST

/* --- refusals --- */

typedef struct {
  const char *text;
  tj_problem_code code;
} refusal_row;

static void prepare_refusal(property_case *self) {
  prepare_even(self);
  self->refusal = ((const refusal_row *)self->row)->code;
}

static void operate_refusal(property_case *self) {
  evaluated(self, ((const refusal_row *)self->row)->text);
}

static const refusal_row refusals[] = {
    {"group($a, -1 - $m, 3)", TJ_RANK},
    {"take($a, $m, 65537 + $i)", TJ_RANK},
    {"select($a, 0, 3 + $m)", TJ_RANK},
    {"size($a, 3 + $m)", TJ_RANK},
    {"shape($a, -1 - $m)", TJ_RANK},
    {"layout(linear($w) o linear($v) o linear($w))", TJ_NOT_LINEAR},
    {"coord_tensor((_, $i), $a)", TJ_WRONG_TYPE},
    {"upcast(coord_tensor($i * 4 + 1, 8:8), 2 * $n)", TJ_NOT_DIVISIBLE},
    {"param M in 1..64; upcast(coord_tensor(M, 8:4), 2 * $n)", TJ_NEEDS_FACT},
    {"param M in 1..64; tile_to_shape((2, 4):(4, 1), (2 * $n, M))", TJ_NEEDS_FACT},
    {"param M in 1..64; shape_div(M, 2 * $n)", TJ_NEEDS_FACT},
    {"param M in 1..8; complement((2, 2):(1, M))", TJ_NEEDS_FACT},
    {"domain_distribute($s, 1 - $n)", TJ_BAD_SHAPE},
    {"domain_distribute(($n, 1 - $n), $t)", TJ_BAD_SHAPE},
    {"recast($a, 8 - 8 * $n, 8)", TJ_BAD_SHAPE},
    {"recast($a, 8, 8 - 8 * $n)", TJ_BAD_SHAPE},
};

START_TEST(refused) {
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    const property row = {refusals[i].text, prepare_refusal, operate_refusal, operate_nothing, 60, 0, {NO_CODE}};
    run_property_of(&row, &refusals[i]);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {calls, laws_of_values, refused};
  return run_suite(suite_of("algebra_properties_text", tests, sizeof tests / sizeof *tests));
}

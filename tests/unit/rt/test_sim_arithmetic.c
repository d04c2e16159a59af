/* SPDX-License-Identifier: MIT */
/* The simulator's arithmetic, an instruction a row, at the edges: zero, minus one, the least integer, shifts by the
 * width and more, carries, numbers that are none. Each row runs on every processor that has the instruction. */
#include "tests/unit/support/sim_support.h"

#include <stdio.h>

/* Operands are in v[0:1], v[2:3] and v[4:5], or in s[0:1], s[2:3] and s[4:5]; the result in v[8:9] or s[8:9]. */
typedef struct {
  const char *text;
  unsigned processors;
  uint64_t a, b, c;
  uint64_t result;
  int flag; /* of the mask VCC, or scc; -1: not looked at */
} row;

#define INT_LEAST 0x80000000u
#define LONG_LEAST 0x8000000000000000u
#define ONES UINT64_MAX

/* --- vector --- */

static const row vector_rows[] = {
    {"v_add_u32 v8, v0, v2", G9, 0xffffffff, 2, 0, 1, -1},
    {"v_add_nc_u32 v8, v0, v2", NEWER, 0xffffffff, 2, 0, 1, -1},
    {"v_sub_u32 v8, v0, v2", G9, 0, 1, 0, 0xffffffff, -1},
    {"v_subrev_u32 v8, v0, v2", G9, 0, 1, 0, 1, -1},
    {"v_add_co_u32 v8, VCC, v0, v2", ALL, 0xffffffff, 1, 0, 0, 1},
    {"v_add_co_u32 v8, VCC, v0, v2", ALL, 0xfffffffe, 1, 0, 0xffffffff, 0},
    {"v_add_co_u32 v8, VCC, v0, v2", ALL, 5, 0, 0, 5, 0},
    {"v_sub_co_u32 v8, VCC, v0, v2", ALL, 0, 1, 0, 0xffffffff, 1},
    {"v_sub_co_u32 v8, VCC, v0, v2", ALL, 1, 1, 0, 0, 0},
    {"v_addc_co_u32 v8, VCC, v0, v2, VCC", G9, 0xffffffff, 0, 0, 0xffffffff, 0},
    {"v_cmp_eq_u32 VCC, v4, v4\nv_addc_co_u32 v8, VCC, v0, v2, VCC", G9, 0xffffffff, 0, 0, 0, 1},
    {"v_cmp_eq_u32 VCC, v4, v4\nv_add_co_ci_u32 v8, VCC, v0, v2, VCC", NEWER, 0xffffffff, 0xffffffff, 0, 0xffffffff,
     1},
    {"v_cmp_eq_u32 VCC, v4, v4\nv_subb_co_u32 v8, VCC, v0, v2, VCC", G9, 0, 0, 0, 0xffffffff, 1},
    {"v_cmp_eq_u32 VCC, v4, v4\nv_sub_co_ci_u32 v8, VCC, v0, v2, VCC", NEWER, 5, 4, 0, 0, 0},
    {"v_mul_lo_u32 v8, v0, v2", ALL, 0x80000001, 3, 0, 0x80000003, -1},
    {"v_mul_hi_u32 v8, v0, v2", ALL, 0xffffffff, 0xffffffff, 0, 0xfffffffe, -1},
    {"v_mul_hi_i32 v8, v0, v2", ALL, INT_LEAST, INT_LEAST, 0, 0x40000000, -1},
    {"v_mul_hi_i32 v8, v0, v2", ALL, 0xffffffff, 1, 0, 0xffffffff, -1},
    {"v_mul_u32_u24 v8, v0, v2", ALL, 0xff000003, 5, 0, 15, -1},
    {"v_mul_i32_i24 v8, v0, v2", ALL, 0x00ffffff, 5, 0, 0xfffffffb, -1},
    {"v_mul_hi_u32_u24 v8, v0, v2", ALL, 0xffffff, 0xffffff, 0, 0xffff, -1},
    {"v_mul_hi_i32_i24 v8, v0, v2", ALL, 0xffffff, 2, 0, 0xffffffff, -1},
    {"v_mad_u32_u24 v8, v0, v2, v4", ALL, 0x01000002, 3, 0xffffffff, 5, -1},
    {"v_mad_i32_i24 v8, v0, v2, v4", ALL, 0xffffff, 3, 1, 0xfffffffe, -1},
    {"v_mad_u64_u32 v[8:9], VCC, v0, v2, v[4:5]", OLDER | G11, 0xffffffff, 0xffffffff, ONES, 0xfffffffe00000000, 1},
    {"v_mad_co_u64_u32 v[8:9], VCC, v0, v2, v[4:5]", G12, 0xffffffff, 2, 7, 0x200000005, 0},
    {"v_mad_i64_i32 v[8:9], VCC, v0, v2, v[4:5]", OLDER | G11, 0xffffffff, 5, 3, (uint64_t)-2, -1},
    {"v_lshlrev_b32 v8, v0, v2", ALL, 33, 3, 0, 6, -1},
    {"v_lshrrev_b32 v8, v0, v2", ALL, 31, INT_LEAST, 0, 1, -1},
    {"v_lshrrev_b32 v8, v0, v2", ALL, 32, INT_LEAST, 0, INT_LEAST, -1},
    {"v_ashrrev_i32 v8, v0, v2", ALL, 31, INT_LEAST, 0, 0xffffffff, -1},
    {"v_lshlrev_b64 v[8:9], v0, v[2:3]", ALL, 65, 3, 0, 6, -1},
    {"v_lshrrev_b64 v[8:9], v0, v[2:3]", ALL, 63, LONG_LEAST, 0, 1, -1},
    {"v_ashrrev_i64 v[8:9], v0, v[2:3]", ALL, 63, LONG_LEAST, 0, ONES, -1},
    {"v_lshl_add_u64 v[8:9], v[0:1], 3, v[4:5]", 0, 0, 0, 0, 0, -1},
    {"v_lshl_add_u32 v8, v0, v2, v4", ALL, 1, 35, 1, 9, -1},
    {"v_add_lshl_u32 v8, v0, v2, v4", ALL, 0xffffffff, 3, 4, 32, -1},
    {"v_lshl_or_b32 v8, v0, v2, v4", ALL, 1, 4, 3, 19, -1},
    {"v_and_or_b32 v8, v0, v2, v4", ALL, 0xff, 0x3c, 1, 0x3d, -1},
    {"v_or3_b32 v8, v0, v2, v4", ALL, 1, 2, 4, 7, -1},
    {"v_add3_u32 v8, v0, v2, v4", ALL, 0xffffffff, 1, 7, 7, -1},
    {"v_bfe_u32 v8, v0, v2, v4", ALL, 0xdeadbeef, 8, 8, 0xbe, -1},
    {"v_bfe_u32 v8, v0, v2, v4", ALL, 0xdeadbeef, 8, 0, 0, -1},
    {"v_bfe_i32 v8, v0, v2, v4", ALL, 0xdeadbeef, 8, 8, 0xffffffbe, -1},
    {"v_bfi_b32 v8, v0, v2, v4", ALL, 0xff00, 0x1234, 0xabcd, 0x12cd, -1},
    {"v_bfrev_b32 v8, v0", ALL, 1, 0, 0, INT_LEAST, -1},
    {"v_not_b32 v8, v0", ALL, 0, 0, 0, 0xffffffff, -1},
    {"v_ffbh_u32 v8, v0", OLDER, 0, 0, 0, 0xffffffff, -1},
    {"v_ffbh_u32 v8, v0", OLDER, 1, 0, 0, 31, -1},
    {"v_clz_i32_u32 v8, v0", G11 | G12, INT_LEAST, 0, 0, 0, -1},
    {"v_ffbh_i32 v8, v0", OLDER, 0xffffffff, 0, 0, 0xffffffff, -1},
    {"v_ffbh_i32 v8, v0", OLDER, 0xfffffffe, 0, 0, 31, -1},
    {"v_ffbl_b32 v8, v0", OLDER, 8, 0, 0, 3, -1},
    {"v_bcnt_u32_b32 v8, v0, v2", ALL, 0xf0f0, 100, 0, 108, -1},
    {"v_alignbit_b32 v8, v0, v2, v4", ALL, 1, 0, 1, INT_LEAST, -1},
    {"v_alignbyte_b32 v8, v0, v2, v4", ALL, 0x11, 0x22334455, 1, 0x11223344, -1},
    {"v_perm_b32 v8, v0, v2, v4", ALL, 0x77665544, 0x33221100, 0x07000c05, 0x77000055, -1},
    {"v_perm_b32 v8, v0, v2, v4", ALL, 0x80000000, 0, 0x0d0b0a08, 0xffff0000, -1},
    {"v_min_i32 v8, v0, v2", ALL, INT_LEAST, 0x7fffffff, 0, INT_LEAST, -1},
    {"v_min_u32 v8, v0, v2", ALL, INT_LEAST, 0x7fffffff, 0, 0x7fffffff, -1},
    {"v_max_i32 v8, v0, v2", ALL, 0xffffffff, 0, 0, 0, -1},
    {"v_max_u32 v8, v0, v2", ALL, 0xffffffff, 0, 0, 0xffffffff, -1},
    {"v_med3_i32 v8, v0, v2, v4", ALL, 5, 0xffffffff, 3, 3, -1},
    {"v_med3_u32 v8, v0, v2, v4", ALL, 5, 0xffffffff, 3, 5, -1},
    {"v_sad_u32 v8, v0, v2, v4", ALL, 3, 10, 1, 8, -1},
    {"v_cmp_gt_u32 VCC, v2, v0\nv_cndmask_b32 v8, v0, v2, VCC", ALL, 3, 10, 0, 10, 1},
    {"v_cmp_lt_i32 VCC, v0, v2", ALL, 0xffffffff, 0, 0, 0, 1},
    {"v_cmp_lt_u32 VCC, v0, v2", ALL, 0xffffffff, 0, 0, 0, 0},
    {"v_cmp_ne_u64 VCC, v[0:1], v[2:3]", ALL, 0x100000000, 0, 0, 0, 1},
    {"v_cmp_lt_i64 VCC, v[0:1], v[2:3]", ALL, LONG_LEAST, 0, 0, 0, 1},
    {"v_cmp_gt_u64 VCC, v[0:1], v[2:3]", ALL, LONG_LEAST, 0, 0, 0, 1},
    {"v_cmp_lt_u32 VCC, 0x80000000, v0", ALL, 0x80000001, 0, 0, 0, 1},
    {"v_cmp_lt_i64 VCC, -1, v[0:1]", ALL, 0, 0, 0, 0, 1},
    {"v_cmp_eq_f32 VCC, v0, v0", ALL, 0x7fc00000, 0, 0, 0, 0},
    {"v_cmp_u_f32 VCC, v0, v2", ALL, 0x7fc00000, 0, 0, 0, 1},
    {"v_cmp_nlt_f32 VCC, v0, v2", ALL, 0x7fc00000, 0, 0, 0, 1},
    {"v_cmp_eq_f32 VCC, v0, v2", ALL, INT_LEAST, 0, 0, 0, 1},
    {"v_cmp_lt_f64 VCC, v[0:1], 1.0", ALL, 0x3fe0000000000000, 0, 0, 0, 1},
    {"v_cmp_class_f32 VCC, v0, v2", ALL, 0x80000000, 0x20, 0, 0, 1},
    {"v_cmp_class_f32 VCC, v0, v2", ALL, 0x7f800000, 0x204, 0, 0, 1},
    {"v_add_f32 v8, v0, 1.0", ALL, 0x40000000, 0, 0, 0x40400000, -1},
    {"v_add_f32 v8, -v0, |v2|", ALL, 0x40000000, 0xbf800000, 0, 0xbf800000, -1},
    {"v_mul_f32 v8, v0, v2 mul:2", ALL & ~G12, 0x40000000, 0x3f800000, 0, 0x40800000, -1},
    {"v_add_f32 v8, v0, v2 clamp", ALL, 0x40000000, 0x3f800000, 0, 0x3f800000, -1},
    {"v_fma_f32 v8, v0, v2, v4", ALL, 0x3f800001, 0x3f800001, 0xbf800002, 0x28800000, -1},
    {"v_div_scale_f32 v8, VCC, v2, v2, v4", ALL, 0, 0x00800000, 0x7f000000, 0x20800000, 1},
    {"v_div_scale_f32 v8, VCC, v4, v2, v4", ALL, 0, 0x00800000, 0x7f000000, 0x7f000000, 1},
    {"v_div_scale_f32 v8, VCC, v4, v2, v4", ALL, 0, 0x7f000000, 0x3f800000, 0x5f800000, 1},
    {"v_div_scale_f32 v8, VCC, v2, v2, v4", ALL, 0, 0x7f000000, 0x3f800000, 0x7f000000, 1},
    {"v_div_scale_f32 v8, VCC, v2, v2, v4", ALL, 0, 0x00000001, 0x3f800000, 0x15000000, 1},
    {"v_cmp_eq_u32 VCC, v4, v4\nv_div_fmas_f32 v8, v0, v2, v4", ALL, 0, 0, 0x5f000000, 0x7f000000, 1},
    {"v_cmp_eq_u32 VCC, v4, v4\nv_div_fmas_f32 v8, v0, v2, v4", ALL, 0, 0, 0x20000001, 0x00400000, 1},
    {"v_cmp_ne_u32 VCC, v4, v4\nv_div_fmas_f32 v8, v0, v2, v4", ALL, 0x3f800000, 0x40000000, 0x40400000, 0x40a00000,
     0},
    {"v_div_fixup_f32 v8, v0, v2, v4", ALL, 0x3f800000, 0, 0x3f800000, 0x7f800000, -1},
    {"v_div_fixup_f32 v8, v0, v2, v4", ALL, 0x7fc00000, 0x0a9d2a4f, 0xfafa4a1c, 0xff800000, -1},
    {"v_div_fixup_f32 v8, v0, v2, v4", ALL, 0x7fc00000, 0xff7fffff, 0x00000001, 0x80000000, -1},
    {"v_div_fixup_f32 v8, v0, v2, v4", ALL, 0x00000001, 0x4b800000, 0x00800000, 0x00000001, -1},
    {"v_div_fixup_f64 v[8:9], v[0:1], v[2:3], v[4:5]", ALL, 0x7ff8000000000000, 0x7fefffffffffffff, 1, 0, -1},
    /* -0 is smaller than 0; where one is NaN, the other comes */
    {"v_min_f32 v8, v0, v2", ALL, 0, 0x80000000, 0, 0x80000000, -1},
    {"v_min_f32 v8, v0, v2", ALL, 0x80000000, 0, 0, 0x80000000, -1},
    {"v_max_f32 v8, v0, v2", ALL, 0, 0x80000000, 0, 0, -1},
    {"v_max_f32 v8, v0, v2", ALL, 0x80000000, 0, 0, 0, -1},
    {"v_min_f16 v8, v0, v2", ALL, 0, 0x8000, 0, 0x8000, -1},
    {"v_min_f16 v8, v0, v2", ALL, 0x8000, 0, 0, 0x8000, -1},
    {"v_max_f16 v8, v0, v2", ALL, 0, 0x8000, 0, 0, -1},
    {"v_max_f16 v8, v0, v2", ALL, 0x8000, 0, 0, 0, -1},
    {"v_min_f32 v8, v0, v2", ALL, 0x7fc00000, 0x3f800000, 0, 0x3f800000, -1},
    {"v_max_f32 v8, v0, v2", ALL, 0x3f800000, 0x7fc00000, 0, 0x3f800000, -1},
    {"v_min_f64 v[8:9], v[0:1], v[2:3]", ALL, 0, LONG_LEAST, 0, LONG_LEAST, -1},
    {"v_max_f64 v[8:9], v[0:1], v[2:3]", ALL, LONG_LEAST, 0, 0, 0, -1},
    {"v_pk_min_f16 v8, v0, v2", ALL, 0x80000000, 0x00008000, 0, 0x80008000, -1},
    {"v_pk_max_f16 v8, v0, v2", ALL, 0x80000000, 0x00008000, 0, 0, -1},
    {"v_min3_f32 v8, v0, v2, v4", ALL, 0, 0x80000000, 0, 0x80000000, -1},
    {"v_max3_f32 v8, v0, v2, v4", ALL, 0x80000000, 0, 0x80000000, 0, -1},
    {"v_med3_f32 v8, v0, v2, v4", ALL, 0, 0x80000000, 0x80000000, 0x80000000, -1},
    {"v_med3_f32 v8, v0, v2, v4", ALL, 0x80000000, 0, 0, 0, -1},
    {"v_min3_f16 v8, v0, v2, v4", ALL, 0, 0x8000, 0, 0x8000, -1},
    {"v_max3_f16 v8, v0, v2, v4", ALL, 0x8000, 0, 0x8000, 0, -1},
    {"v_med3_f16 v8, v0, v2, v4", ALL, 0, 0x8000, 0x8000, 0x8000, -1},
    {"v_minmax_f32 v8, v0, v2, v4", G11, 0, 0x80000000, 0, 0, -1},
    {"v_maxmin_f32 v8, v0, v2, v4", G11, 0, 0x80000000, 0x80000000, 0x80000000, -1},
    {"v_minmax_f16 v8, v0, v2, v4", G11, 0, 0x8000, 0, 0, -1},
    {"v_maxmin_f16 v8, v0, v2, v4", G11, 0, 0x8000, 0x8000, 0x8000, -1},
    {"v_pk_min_num_bf16 v8, v0, v2", G1250, 0x80000000, 0x00008000, 0, 0x80008000, -1},
    {"v_pk_max_num_bf16 v8, v0, v2", G1250, 0x80000000, 0x00008000, 0, 0, -1},
    {"v_minimum_f32 v8, v0, v2", G12, 0x7fc00000, 0x3f800000, 0, 0x7fc00000, -1},
    {"v_minimum_f32 v8, v0, v2", G12, 0, 0x80000000, 0, 0x80000000, -1},
    {"v_maximum_f32 v8, v0, v2", G12, 0x80000000, 0, 0, 0, -1},
    {"v_maximum_f32 v8, v0, -v2", G12, 0x40000000, 0xc0400000, 0, 0x40400000, -1},
    {"v_minimum_f16 v8, v0, v2", G12, 0x7e00, 0x3c00, 0, 0x7e00, -1},
    {"v_maximum_f16 v8, v0, v2", G12, 0x8000, 0, 0, 0, -1},
    {"v_maximum_f16 v8, v0, v2", G12, 0x3c00, 0x4000, 0, 0x4000, -1},
    {"v_minimum3_f16 v8, v0, v2, v4", G12, 0x4200, 0x4000, 0x3c00, 0x3c00, -1},
    {"v_maximum3_f16 v8, v0, v2, v4", G12, 0x4000, 0x3c00, 0x7e00, 0x7e00, -1},
    {"v_pk_minimum_f16 v8, v0, v2", G12, 0x3c008000, 0x7e000000, 0, 0x7e008000, -1},
    {"v_pk_maximum_f16 v8, v0, v2", G12, 0x3c008000, 0x40000000, 0, 0x40000000, -1},
    {"v_minimum3_f32 v8, v0, v2, v4", G12, 0x40400000, 0x40000000, 0x3f800000, 0x3f800000, -1},
    {"v_maximum3_f32 v8, v0, v2, v4", G12, 0x40000000, 0x3f800000, 0x7fc00000, 0x7fc00000, -1},
    {"v_minimummaximum_f32 v8, v0, v2, v4", G12, 0x40400000, 0x40000000, 0x40800000, 0x40800000, -1},
    {"v_minimummaximum_f32 v8, v0, v2, v4", G12, 0x40400000, 0x40000000, 0x3f800000, 0x40000000, -1},
    {"v_minimummaximum_f32 v8, v0, v2, v4", G12, 0x7fc00000, 0x40000000, 0x3f800000, 0x7fc00000, -1},
    {"v_maximumminimum_f32 v8, v0, v2, v4", G12, 0x40400000, 0x40000000, 0x40800000, 0x40400000, -1},
    {"v_maximumminimum_f32 v8, v0, v2, v4", G12, 0x40400000, 0x40000000, 0x3f800000, 0x3f800000, -1},
    {"v_maximumminimum_f32 v8, v0, v2, v4", G12, 0x80000000, 0, 0x7fc00000, 0x7fc00000, -1},
    {"v_minimum_f64 v[8:9], v[0:1], v[2:3]", G12, 0, LONG_LEAST, 0, LONG_LEAST, -1},
    {"v_maximum_f64 v[8:9], v[0:1], v[2:3]", G12, 0x3ff0000000000000, 0x4000000000000000, 0, 0x4000000000000000, -1},
    {"v_mul_f64 v[8:9], v[0:1], 2.0", ALL, 0x3ff8000000000000, 0, 0, 0x4008000000000000, -1},
    {"v_add_f64 v[8:9], v[0:1], v[2:3]", ALL, 0x3ff0000000000000, 0x3ff0000000000000, 0, 0x4000000000000000, -1},
    {"v_ldexp_f64 v[8:9], v[0:1], v2", ALL, 0x3ff0000000000000, 32, 0, 0x41f0000000000000, -1},
    {"v_rcp_f32 v8, v0", ALL, 0x40800000, 0, 0, 0x3e800000, -1},
    {"v_rcp_iflag_f32 v8, v0", ALL, 0, 0, 0, 0x7f800000, -1},
    {"v_cvt_u32_f32 v8, v0", ALL, 0xbf800000, 0, 0, 0, -1},
    {"v_cvt_u32_f32 v8, v0", ALL, 0x4f800000, 0, 0, 0xffffffff, -1},
    {"v_cvt_i32_f32 v8, v0", ALL, 0x7fc00000, 0, 0, 0, -1},
    {"v_cvt_i32_f32 v8, v0", ALL, 0xcf800000, 0, 0, INT_LEAST, -1},
    {"v_cvt_i32_f32 v8, v0", ALL, 0xbfc00000, 0, 0, 0xffffffff, -1},
    {"v_cvt_f32_u32 v8, v0", ALL, 0xffffffff, 0, 0, 0x4f800000, -1},
    {"v_cvt_f32_i32 v8, v0", ALL, 0xffffffff, 0, 0, 0xbf800000, -1},
    {"v_cvt_f32_u32 v8, v0", ALL, 16777217, 0, 0, 0x4b800000, -1},
    {"v_cvt_f64_i32 v[8:9], v0", ALL, INT_LEAST, 0, 0, 0xc1e0000000000000, -1},
    {"v_cvt_u32_f64 v8, v[0:1]", ALL, 0x41efffffffe00000, 0, 0, 0xffffffff, -1},
    {"v_cvt_f32_ubyte2 v8, v0", ALL, 0x00ff0000, 0, 0, 0x437f0000, -1},
    {"v_cvt_pk_u16_u32 v8, v0, v2", ALL, 70000, 3, 0, 0x3ffff, -1},
    {"v_cvt_pk_i16_i32 v8, v0, v2", ALL, 40000, (uint32_t)-40000, 0, 0x80007fff, -1},
    {"v_cvt_pkrtz_f16_f32 v8, v0, v2", G9 | G10, 0x3f8003ff, 0x477fffff, 0, 0x7bff3c00, -1},
    {"v_frexp_exp_i32_f32 v8, v0", ALL, 0x41000000, 0, 0, 4, -1},
    {"v_frexp_mant_f32 v8, v0", ALL, 0x41000000, 0, 0, 0x3f000000, -1},
    {"v_floor_f32 v8, v0", ALL, 0xbfc00000, 0, 0, 0xc0000000, -1},
    {"v_trunc_f32 v8, v0", ALL, 0xbfc00000, 0, 0, 0xbf800000, -1},
    {"v_rndne_f32 v8, v0", ALL, 0x40200000, 0, 0, 0x40000000, -1},
    {"v_add_u16 v8, v0, v2", G9, 0xffffffff, 2, 0, 1, -1},
    {"v_mul_lo_u16 v8, v0, v2", G9, 0x1234ffff, 3, 0, 0xfffd, -1},
    {"v_lshlrev_b16 v8, 8, v0", G9, 0x12345678, 0, 0, 0x7800, -1},
    {"v_mov_b32 v8, v2\nv_lshlrev_b16 v8, 8, v0", G10, 0x12345678, 0xabcd0000, 0, 0xabcd7800, -1},
    {"v_mov_b32 v8, v2\nv_lshlrev_b16 v8.h, 8, v0.l", G11, 0x12345678, 0xabcd1234, 0, 0x78001234, -1},
    {"v_pack_b32_f16 v8, v0, v2 op_sel:[1,0]", G9 | G10 | G12, 0x12345678, 0xabcd0001, 0, 0x00011234, -1},
    {"v_cvt_f16_f32 v8, v0", G9, 0x477ff000, 0, 0, 0x7c00, -1},
    {"v_cvt_f32_f16 v8, v0", G9 | G10, 0x0001, 0, 0, 0x33800000, -1},
    {"v_add_f16 v8, v0, v2", G9, 0x3c00, 0x3c00, 0, 0x4000, -1},
    {"v_pk_add_u16 v8, v0, v2", ALL, 0xffff0001, 0x00010001, 0, 0x00000002, -1},
    {"v_pk_add_u16 v8, v0, v2 op_sel:[1,0] op_sel_hi:[0,1]", ALL, 0x00050001, 0x00010001, 0, 0x00020006, -1},
    {"v_pk_sub_i16 v8, v0, v2", ALL, 0, 0x00010001, 0, 0xffffffff, -1},
    {"v_pk_add_f16 v8, v0, v2 neg_lo:[1,0]", ALL, 0x3c003c00, 0x3c003c00, 0, 0x40000000, -1},
    {"v_pk_fma_f32 v[8:9], v[0:1], v[2:3], v[4:5]", G9, 0x400000003f800000, 0x4000000040000000, 0x3f80000000000000,
     0x40a0000040000000, -1},
    {"v_pk_mov_b32 v[8:9], v[0:1], v[2:3] op_sel:[1,0]", G9, 0x1111111122222222, 0x3333333344444444, 0,
     0x4444444411111111, -1},
    {"v_pk_mov_b32 v[8:9], v[0:1], v[2:3] op_sel:[0,1]", G9, 0x1111111122222222, 0x3333333344444444, 0,
     0x3333333322222222, -1},
    {"v_mov_b32_sdwa v8, v0 dst_sel:DWORD src0_sel:BYTE_2", OLDER & ~G9, 0x12345678, 0, 0, 0x34, -1},
    {"v_mov_b32 v8, v2\nv_mov_b32_sdwa v8, v0 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0", G10,
     0x12345678, 0xabcdef01, 0, 0x5678ef01, -1},
    {"v_add_u32_sdwa v8, sext(v0), v2 dst_sel:DWORD src0_sel:BYTE_0 src1_sel:WORD_1", G9, 0xff, 0x00070000, 0, 6, -1},
    {"v_cvt_f32_f16_sdwa v8, v0 dst_sel:DWORD src0_sel:WORD_1", G9, 0x3c000000, 0, 0, 0x3f800000, -1},
    {"v_dual_mov_b32 v8, v0 :: v_dual_add_nc_u32 v9, v2, v5", G11 | G12, 7, 8, 0x100000000, 0x900000007, -1},
    {"v_mov_b32 v8, 1\nv_mov_b32 v9, 2\nv_dual_mov_b32 v8, v9 :: v_dual_mov_b32 v9, v8", G11 | G12, 0, 0, 0,
     0x100000002, -1},
    {"v_xad_u32 v8, v0, v2, v4", ALL, 5, 3, 1, 7, -1},
    {"v_add_u32 v8, v0, v2 clamp", G9, 0xffffffff, 2, 0, 0xffffffff, -1},
    {"v_sub_u32 v8, v0, v2 clamp", G9, 1, 2, 0, 0, -1},
    {"v_add_nc_i32 v8, v0, v2 clamp", NEWER, 0x7fffffff, 2, 0, 0x7fffffff, -1},
    {"v_sub_i32 v8, v0, v2 clamp", G9, INT_LEAST, 1, 0, INT_LEAST, -1},
    {"v_pk_add_i16 v8, v0, v2 clamp", ALL, 0x7fff8000, 0x0001ffff, 0, 0x7fff8000, -1},
    {"v_pk_sub_u16 v8, v0, v2 clamp", ALL, 0x00050001, 0x00030002, 0, 0x00020000, -1},
    {"v_mad_legacy_u16 v8, v0, v2, v4", G9, 0xffff0003, 5, 2, 17, -1},
    {"v_cvt_pk_i16_f32 v8, v0, v2", G11 | G12, 0xbfc00000, 0x47800000, 0, 0x7fffffff, -1},
    {"v_cvt_pk_u16_f32 v8, v0, v2", G11 | G12, 0xbfc00000, 0x47800000, 0, 0xffff0000, -1},
    {"v_cvt_pknorm_i16_f32 v8, v0, v2", G9 | G10, 0x3f800000, 0xc0000000, 0, 0x80017fff, -1},
    {"v_sad_u8 v8, v0, v2, v4", ALL, 0x01ff0305, 0x02000407, 10, 10 + 1 + 255 + 1 + 2, -1},
    {"v_msad_u8 v8, v0, v2, v4", ALL, 0x01ff0305, 0x02000407, 10, 10 + 1 + 1 + 2, -1},
    {"v_lerp_u8 v8, v0, v2, v4", ALL, 0x01ff0305, 0x02010404, 0x01000100, 0x02800404, -1},
    {"v_dot4_u32_u8 v8, v0, v2, v4", G9 | G10, 0xff010203, 0xff010203, 5, 255 * 255 + 1 + 4 + 9 + 5, -1},
    {"v_dot4_i32_i8 v8, v0, v2, v4", G9 | G10, 0xff010203, 0x02010203, 5, 17, -1},
    {"v_minmax_f32 v8, v0, v2, v4", G11, 0x3f800000, 0x40000000, 0x3fc00000, 0x3fc00000, -1},
    {"v_maxmin_num_f32 v8, v0, v2, v4", G12, 0x3f800000, 0x40000000, 0x3fc00000, 0x3fc00000, -1},
    {"v_max3_f16 v8, v0, v2, v4", G10 | G12, 0x3c00, 0xc000, 0x4000, 0x4000, -1},
    {"v_med3_i16 v8, v0, v2, v4", G10 | G12, 5, 0xffff, 3, 3, -1},
    {"v_cvt_pk_fp8_f32 v8, v0, v2", OCP, 0x3f800000, 0xc3e00000, 0, 0xfe38, -1},
    {"v_cvt_pk_fp8_f32 v8, v0, v2", OCP, 0x43e80001, 0x7fc00000, 0, 0x7f7f, -1},
    {"v_cvt_pk_fp8_f32 v8, v0, v2", OCP, 0x41880000, 0x41980000, 0, 0x5a58, -1},
    {"v_cvt_pk_fp8_f32 v8, v0, v2", OCP, 0x3a800000, 0x3a800001, 0, 0x0100, -1},
    {"v_cvt_pk_fp8_f32 v8, v0, v2", OCP, 0x80000000, 0x3c700000, 0, 0x0880, -1},
    {"v_cvt_pk_fp8_f32 v8, v0, v2", FNUZ, 0x3f800000, 0xc3700000, 0, 0xff40, -1},
    {"v_cvt_pk_fp8_f32 v8, v0, v2", FNUZ, 0x43780000, 0x80000000, 0, 0x0080, -1},
    {"v_cvt_pk_fp8_f32 v8, v0, v2", FNUZ, 0x7fc00000, 0xba000000, 0, 0x0080, -1},
    {"v_mov_b32 v8, v4\nv_cvt_pk_fp8_f32 v8, v0, v2", OCP, 0x3f800000, 0x40000000, 0x12345678, 0x12344038, -1},
    {"v_mov_b32 v8, v4\nv_cvt_pk_fp8_f32 v8, v0, v2 op_sel:[0,0,1]", OCP | FNUZ, 0, 0, 0x12345678, 0x5678, -1},
    {"v_cvt_pk_bf8_f32 v8, v0, v2", OCP, 0x3f800000, 0x47800000, 0, 0x7c3c, -1},
    {"v_cvt_pk_bf8_f32 v8, v0, v2", OCP, 0xff800000, 0x7fc00000, 0, 0x7ffc, -1},
    {"v_cvt_pk_bf8_f32 v8, v0, v2", FNUZ, 0x3f800000, 0x47800000, 0, 0x8040, -1},
    {"v_cvt_f32_fp8 v8, v0", OCP, 0x38b8, 0, 0, 0xbf800000, -1},
    {"v_cvt_f32_fp8 v8, v0", FNUZ, 0x40c0, 0, 0, 0xbf800000, -1},
    {"v_cvt_f32_bf8_sdwa v8, v0 src0_sel:BYTE_2", FNUZ, 0xff400000, 0, 0, 0x3f800000, -1},
    {"v_cvt_f32_bf8 v8, v0 byte_sel:3", G12, 0x3c000000, 0, 0, 0x3f800000, -1},
    {"v_cvt_pk_f32_fp8 v[8:9], v0", OCP, 0xb87e, 0, 0, 0xbf80000043e00000, -1},
    {"v_cvt_pk_f32_fp8 v[8:9], v0", OCP, 0x0180, 0, 0, 0x3b00000080000000, -1},
    {"v_cvt_pk_f32_fp8 v[8:9], v0", FNUZ, 0xc07f, 0, 0, 0xbf80000043700000, -1},
    {"v_cvt_pk_f32_fp8 v[8:9], v0 op_sel:[1,0]", G12, 0x01380000, 0, 0, 0x3b0000003f800000, -1},
    {"v_cvt_pk_f32_fp8_sdwa v[8:9], v0 src0_sel:WORD_1", FNUZ, 0x01400000, 0, 0, 0x3a8000003f800000, -1},
    {"v_cvt_pk_f32_bf8 v[8:9], v0", OCP, 0xfc7b, 0, 0, 0xff80000047600000, -1},
    {"v_cvt_pk_f32_bf8 v[8:9], v0", FNUZ, 0x01c0, 0, 0, 0x37000000bf800000, -1},
    {"v_exp_f32 v8, v0", ALL, 0x40400000, 0, 0, 0x41000000, -1},
    {"v_log_f32 v8, v0", ALL, 0x41000000, 0, 0, 0x40400000, -1},
    {"v_mul_legacy_f32 v8, v0, v2", OLDER & ~G9, 0, 0x7f800000, 0, 0, -1},
    {"v_pk_minimum3_f16 v8, v0, v2, v4", G1250, 0x3c004000, 0x38004200, 0x7e003c00, 0x7e003c00, -1},
    {"v_pk_maximum3_f16 v8, v0, v2, v4 neg_lo:[1,0,0]", G1250, 0x3c004000, 0x38004200, 0x3a003c00, 0x3c004200, -1},
    {"v_pk_add_bf16 v8, v0, v2", G1250, 0x3f803f80, 0x3b803c00, 0, 0x3f803f81, -1}, /* ties to even, and not */
    {"v_pk_add_bf16 v8, v0, 1.0", G1250, 0x3f804000, 0, 0, 0x3f804040, -1},
    {"v_pk_mul_bf16 v8, v0, v2 neg_hi:[1,0]", G1250, 0x3fc03fc0, 0x3fc03fc0, 0, 0xc0104010, -1},
    /* 7 * 37 lies between 258 and 260, and 2^-40 decides */
    {"v_pk_fma_bf16 v8, v0, v2, v4", G1250, 0x40e040e0, 0x42144214, 0xab802b80, 0x43814382, -1},
    {"v_pk_fma_bf16 v8, v0, v2, v4", G1250, 0x3f813f81, 0x3f81bf81, 0x3f803f80, 0x4001bc80, -1},
    {"v_pk_min_num_bf16 v8, v0, v2", G1250, 0x7fc03f80, 0x40004000, 0, 0x40003f80, -1},
    {"v_pk_max_num_bf16 v8, v0, v2", G1250, 0x7fc03f80, 0x40004000, 0, 0x40004000, -1},
    {"v_sqrt_bf16 v8, v0", G1250, 0x4080, 0, 0, 0x4000, -1},
    {"v_exp_bf16 v8, v0", G1250, 0x4040, 0, 0, 0x4100, -1},
    {"v_log_bf16 v8, v0", G1250, 0x4100, 0, 0, 0x4040, -1},
    {"v_rcp_bf16 v8, v0", G1250, 0x4080, 0, 0, 0x3e80, -1},
    {"v_rsq_bf16 v8, v0", G1250, 0x4080, 0, 0, 0x3f00, -1},
    {"v_mad_u32 v8, v0, v2, v4", G1250, 0x80000001, 3, 0xffffffff, 0x80000002, -1},
    {"v_mad_nc_u64_u32 v[8:9], v0, v2, v[4:5]", G1250, 0xffffffff, 0xffffffff, ONES, 0xfffffffe00000000, -1},
    {"v_mad_nc_i64_i32 v[8:9], v0, v2, v[4:5]", G1250, 0xffffffff, 5, 3, (uint64_t)-2, -1},
    {"v_mul_u64 v[8:9], v[0:1], v[2:3]", G1250, ONES, 3, 0, (uint64_t)-3, -1},
    {"v_add_nc_u64 v[8:9], v[0:1], v[2:3]", G1250, ONES, 2, 0, 1, -1},
    {"v_add_nc_u64 v[8:9], lit64(0x80000000), v[2:3]", G1250, 0, 0, 0, 0x80000000, -1},
    {"v_sub_nc_u64 v[8:9], v[0:1], v[2:3]", G1250, 0, 1, 0, ONES, -1},
    {"v_min_u64 v[8:9], v[0:1], v[2:3]", G1250, LONG_LEAST, 1, 0, 1, -1},
    {"v_max_u64 v[8:9], v[0:1], v[2:3]", G1250, LONG_LEAST, 1, 0, LONG_LEAST, -1},
    {"v_min_i64 v[8:9], v[0:1], v[2:3]", G1250, LONG_LEAST, 1, 0, LONG_LEAST, -1},
    {"v_max_i64 v[8:9], v[0:1], v[2:3]", G1250, LONG_LEAST, 1, 0, 1, -1},
    {"v_dual_mov_b32 v11, 0 :: v_dual_bitop2_b32 v8, v0, v2 bitop3:0x40", G1250, 0xff, 0xf0f, 0, 0xf, -1},
    {"v_dual_mov_b32 v11, 0 :: v_dual_bitop2_b32 v8, v0, v2 bitop3:0x14", G1250, 0xff, 0xf0f, 0, 0xff0, -1},
    {"v_fmamk_f64 v[8:9], v[0:1], 0x40080000, v[4:5]", G1250, 0x4000000000000000, 0, 0x3ff0000000000000,
     0x401c000000000000, -1},
    {"v_fmaak_f64 v[8:9], v[0:1], v[2:3], 0x3ff0000000000001", G1250, 0x4000000000000000, 0, 0, 0x3ff0000000000001,
     -1},
    {"v_fma_mix_f32_bf16 v8, v0, v2, v4 op_sel:[1,0,0] op_sel_hi:[1,0,1]", G1250, 0x40000000, 0x40400000, 0x3f80,
     0x40e00000, -1},
    {"v_fma_mixlo_bf16 v8, v0, v2, v4", G1250, 0x3f810000, 0x3f800000, 0x3b800000, 0x3f82, -1},
    {"v_permlane64_b32 v8, v0", G11 | G12, 5, 0, 0, 0, -1},
};

static void run_vector_row(const row *r, const char *processor, unsigned lanes) {
  char text[512];
  sim_machine *m = sim_open(processor, sim_program(text, sizeof text, r->text, lanes));
  sim_set_all(m, 0, r->a, true);
  sim_set_all(m, 2, r->b, true);
  sim_set_all(m, 4, r->c, true);
  uint64_t exec = 0x5555555555555555 & tj_sim_all_lanes(&m->wave);
  tj_sim_set_exec(&m->wave, exec);
  m->wave.scalar[TJ_SIM_VCC] = m->wave.scalar[TJ_SIM_VCC + 1] = 0;
  sim_run(m);
  ck_assert_msg(sim_pair(m, 8, 2) == r->result, "%s: %s: 0x%llx, not 0x%llx", processor, r->text,
                (unsigned long long)sim_pair(m, 8, 2), (unsigned long long)r->result);
  ck_assert_msg(sim_pair(m, 8, 3) == 0, "%s: %s: a lane that is off was written", processor, r->text);
  if (r->flag >= 0)
    ck_assert_msg((sim_scalar_pair(m, TJ_SIM_VCC) & tj_sim_all_lanes(&m->wave)) == (r->flag ? exec : 0),
                  "%s: %s: the mask is 0x%llx", processor, r->text,
                  (unsigned long long)sim_scalar_pair(m, TJ_SIM_VCC));
  sim_close(m);
}

START_TEST(vector_instructions) {
  for (size_t i = 0; i < sizeof vector_rows / sizeof vector_rows[0]; i++) {
    for (size_t p = 0; p < SIMULATED_COUNT; p++) {
      if ((vector_rows[i].processors & sim_processors(p)) != 0)
        run_vector_row(&vector_rows[i], simulated[p], sim_lanes(p));
    }
  }
}
END_TEST

/* --- scalar --- */

static const row scalar_rows[] = {
    {"s_add_u32 s8, s0, s2", ALL, 0xffffffff, 1, 0, 0, 1},
    {"s_add_u32 s8, s0, s2\ns_addc_u32 s9, s1, s3", ALL, 0xffffffffffffffff, 1, 0, 0, 1},
    {"s_add_u32 s8, s0, lit(0x0)\ns_addc_u32 s9, s1, lit(0x1)", ALL, 0x1fffffffe, 0, 0, 0x2fffffffe, 0},
    {"s_add_i32 s8, s0, s2", ALL, 0x7fffffff, 1, 0, INT_LEAST, 1},
    {"s_add_i32 s8, s0, s2", ALL, 0xffffffff, 1, 0, 0, 0},
    {"s_sub_u32 s8, s0, s2", ALL, 0, 1, 0, 0xffffffff, 1},
    {"s_sub_i32 s8, s0, s2", ALL, INT_LEAST, 1, 0, 0x7fffffff, 1},
    {"s_sub_u32 s8, s0, s2\ns_subb_u32 s9, s1, s3", ALL, 0, 1, 0, ONES, 1},
    {"s_mul_i32 s8, s0, s2", ALL, 0xffffffff, 3, 0, 0xfffffffd, -1},
    {"s_mul_hi_u32 s8, s0, s2", ALL, 0xffffffff, 0xffffffff, 0, 0xfffffffe, -1},
    {"s_mul_hi_i32 s8, s0, s2", ALL, INT_LEAST, 2, 0, 0xffffffff, -1},
    {"s_mul_u64 s[8:9], s[0:1], s[2:3]", G12, ONES, 3, 0, (uint64_t)-3, -1},
    {"s_lshl_b32 s8, s0, s2", ALL, 1, 33, 0, 2, 1},
    {"s_lshr_b32 s8, s0, s2", ALL, 1, 1, 0, 0, 0},
    {"s_ashr_i32 s8, s0, s2", ALL, INT_LEAST, 31, 0, 0xffffffff, 1},
    {"s_lshl_b64 s[8:9], s[0:1], s2", ALL, 1, 65, 0, 2, 1},
    {"s_lshr_b64 s[8:9], s[0:1], s2", ALL, LONG_LEAST, 63, 0, 1, 1},
    {"s_ashr_i64 s[8:9], s[0:1], s2", ALL, LONG_LEAST, 63, 0, ONES, 1},
    {"s_bfe_u32 s8, s0, 0x80008", ALL, 0xdeadbeef, 0, 0, 0xbe, 1},
    {"s_bfe_i32 s8, s0, 0x80008", ALL, 0xdeadbeef, 0, 0, 0xffffffbe, 1},
    {"s_bfe_u64 s[8:9], s[0:1], 0x200010", ALL, 0x1234567890abcdef, 0, 0, 0x567890ab, 1},
    {"s_bfm_b32 s8, s0, s2", ALL, 4, 8, 0, 0xf00, -1},
    {"s_and_b64 s[8:9], s[0:1], s[2:3]", ALL, ONES, LONG_LEAST, 0, LONG_LEAST, 1},
    {"s_andn2_b32 s8, s0, s2", OLDER, 0xff, 0x0f, 0, 0xf0, 1},
    {"s_xor_b32 s8, s0, s0", ALL, 5, 0, 0, 0, 0},
    {"s_not_b64 s[8:9], s[0:1]", ALL, ONES, 0, 0, 0, 0},
    {"s_abs_i32 s8, s0", ALL, INT_LEAST, 0, 0, INT_LEAST, 1},
    {"s_min_i32 s8, s0, s2", ALL, 0xffffffff, 1, 0, 0xffffffff, 1},
    {"s_max_u32 s8, s0, s2", ALL, 0xffffffff, 1, 0, 0xffffffff, 1},
    {"s_sext_i32_i8 s8, s0", ALL, 0x80, 0, 0, 0xffffff80, -1},
    {"s_sext_i32_i16 s8, s0", ALL, 0x8000, 0, 0, 0xffff8000, -1},
    {"s_brev_b32 s8, s0", ALL, 1, 0, 0, INT_LEAST, -1},
    {"s_bcnt1_i32_b64 s8, s[0:1]", ALL, ONES, 0, 0, 64, 1},
    {"s_movk_i32 s8, 0x8000", ALL, 0, 0, 0, 0xffff8000, -1},
    {"s_mov_b32 s8, s0\ns_addk_i32 s8, 0xffff", ALL, 5, 0, 0, 4, 0},
    {"s_mov_b32 s8, s0\ns_mulk_i32 s8, 0xffff", ALL, 5, 0, 0, 0xfffffffb, -1},
    {"s_cmp_lt_i32 s0, s2", ALL, 0xffffffff, 0, 0, 0, 1},
    {"s_cmp_lt_u32 s0, s2", ALL, 0xffffffff, 0, 0, 0, 0},
    {"s_cmp_eq_u64 s[0:1], s[2:3]", ALL, LONG_LEAST, 0, 0, 0, 0},
    {"s_cmpk_eq_i32 s0, 0xffff", ALL & ~G12, 0xffffffff, 0, 0, 0, 1},
    {"s_cmpk_eq_u32 s0, 0xffff", ALL & ~G12, 0xffffffff, 0, 0, 0, 0},
    {"s_cmp_eq_u32 s0, s0\ns_cselect_b32 s8, s0, s2", ALL, 3, 4, 0, 3, 1},
    {"s_cmp_lg_u32 s0, s0\ns_cselect_b64 s[8:9], s[0:1], s[2:3]", ALL, 3, ONES, 0, ONES, 0},
    {"s_bitset1_b32 s8, s0", ALL, 33, 0, 0, 2, -1},
    {"s_bitcmp1_b32 s0, s2", ALL, 4, 2, 0, 0, 1},
    {"s_lshl2_add_u32 s8, s0, s2", ALL, 0x40000000, 1, 0, 1, 1},
    {"s_pack_lh_b32_b16 s8, s0, s2", ALL, 0x12345678, 0x9abcdef0, 0, 0x9abc5678, -1},
    {"s_mov_b64 s[8:9], -1", ALL, 0, 0, 0, ONES, -1},
    {"s_mov_b32 s8, 1.0", ALL, 0, 0, 0, 0x3f800000, -1},
    {"s_ff1_i32_b64 s8, s[0:1]", OLDER, 0x100000000, 0, 0, 32, -1},
    {"s_flbit_i32_b32 s8, s0", OLDER, 1, 0, 0, 31, -1},
    {"s_fmaak_f32 s8, s0, s2, 0x40400000", G12, 0x40000000, 0x40000000, 0, 0x40e00000, -1},
    {"s_fmamk_f32 s8, s0, 0x40400000, s2", G12, 0x40000000, 0x3f800000, 0, 0x40e00000, -1},
    {"s_max_num_f32 s8, s0, s2", G12, 0x40000000, 0x7fc00000, 0, 0x40000000, -1},
    {"s_min_num_f32 s8, s0, s2", G12, 0, 0x80000000, 0, 0x80000000, -1},
    {"s_max_num_f16 s8, s0, s2", G12, 0x8000, 0, 0, 0, -1},
    {"s_cmp_nlt_f32 s0, s2", G12, 0x40000000, 0x7fc00000, 0, 0, 1},
    {"s_cvt_hi_f32_f16 s8, s0", G12, 0x3c000000, 0, 0, 0x3f800000, -1},
    {"s_mul_f16 s8, s0, s2", G12, 0x4000, 0x4200, 0, 0x4600, -1},
    {"s_bcnt0_i32_b64 s8, s[0:1]", ALL, 7, 0, 0, 61, 1},
    {"s_getreg_b32 s8, hwreg(HW_REG_MODE, 4, 4)", ALL, 0, 0, 0, 15, -1},
    {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15", ALL, 0, 0, 0, 0, -1},
};

static void run_scalar_row(const row *r, const char *processor, unsigned lanes) {
  char text[512];
  sim_machine *m = sim_open(processor, sim_program(text, sizeof text, r->text, lanes));
  const uint64_t operands[] = {r->a, r->b, r->c};
  for (unsigned i = 0; i < 3; i++) {
    m->wave.scalar[2 * i] = (uint32_t)operands[i];
    m->wave.scalar[2 * i + 1] = (uint32_t)(operands[i] >> 32);
  }
  sim_run(m);
  ck_assert_msg(sim_scalar_pair(m, 8) == r->result, "%s: %s: 0x%llx, not 0x%llx", processor, r->text,
                (unsigned long long)sim_scalar_pair(m, 8), (unsigned long long)r->result);
  if (r->flag >= 0)
    ck_assert_msg(m->wave.scc == (r->flag != 0), "%s: %s: scc is %d", processor, r->text, m->wave.scc);
  sim_close(m);
}

START_TEST(scalar_instructions) {
  for (size_t i = 0; i < sizeof scalar_rows / sizeof scalar_rows[0]; i++) {
    for (size_t p = 0; p < SIMULATED_COUNT; p++) {
      if ((scalar_rows[i].processors & sim_generation(p)) != 0)
        run_scalar_row(&scalar_rows[i], simulated[p], sim_lanes(p));
    }
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {vector_instructions, scalar_instructions};
  return run_suite(suite_of("sim_arithmetic", tests, sizeof tests / sizeof tests[0]));
}

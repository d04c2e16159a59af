#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Kernels of arrays against NumPy: functions within their bounds, programs and examples within what these add up to.

    run_arrays.py --tilejit PATH --library PATH --functions ir/array/array_function.def --examples examples [DEVICE…]

A reference is computed in fractions of 64 bits from definitions alone. Errors are in units in the last place of the
result's type. What bf16 holds is compared as 16-bit words. Each program runs with its extents in the program and at
the launch; the devices are host and simulated GPUs. Few long rows, which workgroups share, are among the shapes. They
run in this process, by the Python package, which costs a sixth of starting the command for each.
"""
import argparse
import concurrent.futures
import json
import math
import pathlib
import re
import subprocess
import sys

import numpy

import emitter

WIDE = numpy.longdouble
NUMPY = {"f16": "f2", "f32": "f4", "f64": "f8", "i32": "i4", "i8": "i1", "u8": "u1", "i64": "i8", "bf16": "u2"}
GUARD = 0xA5
erf = numpy.vectorize(math.erf, otypes=[WIDE])


def sigmoid(x):
    small = numpy.exp(-abs(x))
    return numpy.where(x < 0, small, 1) / (1 + small)


def half(code_of):
    """The number in a half of a byte."""
    def number(byte, is_upper):
        byte = numpy.clip(numpy.trunc(numpy.nan_to_num(byte.astype("f8"), posinf=255, neginf=0)), 0, 255).astype("i4")
        return code_of[numpy.where(is_upper != 0, byte >> 4, byte & 15)]
    return number


def packed(code_of):
    """The byte of two numbers: of the nearest codes, of two the even one."""
    def nearest(x):
        far = abs(numpy.clip(numpy.nan_to_num(x.astype("f8")), -99, 99)[:, None] - code_of)
        far[numpy.signbit(x) & ~numpy.isnan(x) & (code_of[8] == 0), :8] += 0.01
        return numpy.argmin(far + numpy.arange(16) % 2 * 1e-9, axis=1)
    return lambda x, y: nearest(x) + 16 * nearest(y)


UNSIGNED, SIGNED = numpy.arange(16.0), numpy.array([*range(8), *range(-8, 0)], "f8")
TINY = numpy.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
# By name: what a function is.
FUNCTIONS = {
    "abs": abs, "floor": numpy.floor, "round": numpy.rint, "sqrt": numpy.sqrt, "rsqrt": lambda x: 1 / numpy.sqrt(x),
    "exp": numpy.exp, "exp2": numpy.exp2, "log": numpy.log, "log2": numpy.log2, "tanh": numpy.tanh,
    "sigmoid": sigmoid, "erf": lambda x: erf(x.astype("f8")),
    "minimum": numpy.minimum, "maximum": numpy.maximum,
    "lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "select": lambda x, y, z: numpy.where(x != 0, y, z),
    "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "/": lambda x, y: x / y,
    "neg": lambda x: -x,
    "u4": half(UNSIGNED), "i4": half(SIGNED), "f4e2m1": half(TINY),
    "pack_u4": packed(UNSIGNED), "pack_i4": packed(SIGNED), "pack_f4e2m1": packed(TINY),
}


def softmax(x):
    power = numpy.exp(x - x.max(1, keepdims=True))
    return power / power.sum(1, keepdims=True)


def norm(x, w, b):
    centred = x - x.mean(1, keepdims=True)
    return centred / numpy.sqrt((centred ** 2).mean(1, keepdims=True) + WIDE(1e-5)) * w + b


ROWS, COLUMNS = "@ (M,N):(N,1)", "@ (M,N):(1,M)"
# Name, arguments and statements; the reference of each output, from inputs by name; tolerance in units of the result.
PROGRAMS = [
    ("sum of a row and a matrix", f"x: f32 {ROWS}, b: f32 @ (1,N):(0,1), y: f32 {ROWS}", "y = x + b",
     {"y": lambda x, b: x.astype("f4") + b.astype("f4")}, 0.5),
    ("a column", f"x: f16 {ROWS}, s: f32 @ (M,1):(1,1), y: f16 {ROWS}", "y = x * s", {"y": lambda x, s: x * s}, 0.51),
    ("two destinations", f"x: f32 {ROWS}, y: f64 {ROWS}, z: f16 {ROWS}", "let a = x * 0.5\n y = a\n z = a + 1",
     {"y": lambda x: x / 2, "z": lambda x: (x / 2).astype("f4") + numpy.float32(1)}, 0.5),
    ("bf16", f"x: f32 {ROWS}, y: bf16 {ROWS}", "y = x / 3", {"y": lambda x: x.astype("f4") / numpy.float32(3)}, 0.5),
    ("transposed", f"x: f32 {COLUMNS}, y: f32 {ROWS}", "y = -x", {"y": lambda x: -x}, 0),
    ("of two layouts", f"x: f32 {COLUMNS}, b: f16 {ROWS}, y: f32 {ROWS}", "y = x * 0.5 + b",
     {"y": lambda x, b: x.astype("f4") / 2 + b.astype("f4")}, 0.5),
    ("a row and a column, turned", f"b: f32 @ (1,N):(0,1), x: f16 {ROWS}, s: f32 @ (M,1):(1,0), y: f16 {COLUMNS}",
     "y = (x + b) * s", {"y": lambda b, x, s: (x.astype("f4") + b.astype("f4")) * s.astype("f4")}, 0.5),
    ("as it is and turned", f"x: f16 {ROWS}, y: f16 {ROWS}, z: f16 {COLUMNS}", "y = x * 3\n z = y",
     {"y": lambda x: x * 3, "z": lambda x: x * 3}, 0.51),
    ("as it is and turned, by a number in memory",
     f"x: f16 {ROWS}, a: f32 @ (1,1):(0,1), y: f16 {ROWS}, z: f16 {COLUMNS}", "y = x / a\n z = y",
     {"y": lambda x, a: x / a, "z": lambda x, a: x / a}, 0.51),
    ("turned, by two numbers in memory", f"a: f64 @ (1,1):(1,1), x: f32 {ROWS}, b: f16 @ (1,1):(0,0), y: f64 {COLUMNS}",
     "y = x * a - b", {"y": lambda a, x, b: x.astype("f8") * a.astype("f8") - b.astype("f8")}, 0.5),
    ("to four", f"x: f32 {COLUMNS}, y: f64 {COLUMNS}, z: f16 {ROWS}, v: f32 {ROWS}, w: i8 {COLUMNS}",
     "let a = x * 0.5\n y = a\n z = a + 1\n v = z - x\n w = x",
     {"y": lambda x: x / 2, "z": lambda x: (x / 2).astype("f4") + numpy.float32(1),
      "v": lambda x: ((x / 2).astype("f4") + numpy.float32(1)).astype("f2").astype("f4") - x.astype("f4"),
      "w": lambda x: numpy.trunc(x)}, 0.5),
    ("of many", f"x: f16 {ROWS}, b: f32 {ROWS}, c: i8 {ROWS}, d: f32 {COLUMNS}, y: f32 {ROWS}",
     "y = select(gt(x, 0), b, c) + d",
     {"y": lambda x, b, c, d: numpy.where(x > 0, b, c).astype("f4") + d.astype("f4")}, 0.5),
    ("past the caches", f"x: f32 {ROWS}, y: f16 {ROWS}", "y = x * 3", {"y": lambda x: x * 3}, 0.51),
    ("largest, of one column, too", f"x: f32 {ROWS}, w: f32 @ (M,1):(1,1), y: f32 {ROWS}",
     "y = x - max(x, 0, 1) + min(w, 0, 1)",
     {"y": lambda x, w: x.astype("f4") - x.max().astype("f4") + w.min().astype("f4")}, 0.5),
    ("sums of one column, too", f"x: f32 {ROWS}, w: f32 @ (M,1):(1,1), y: f32 {ROWS}",
     "y = sum(w, 0, 1) - mean(w) + mean(x, 0, 1) - x",
     {"y": lambda x, w: x.astype(WIDE).mean() - x.astype(WIDE) + w.astype(WIDE).sum() - w.astype(WIDE).mean()}, "sum"),
    ("integers", f"x: i32 {ROWS}, y: i8 {ROWS}, z: i64 {ROWS}", "y = x\n z = x + index(1) - index(0)",
     {"y": lambda x: x.astype("i4"), "z": lambda x: x + numpy.arange(x.shape[1]) - numpy.arange(x.shape[0])[:, None]},
     0),
    ("arguments by name", f"x: f32 {ROWS}, y: f32 {ROWS}", "y = f(b=4, a=x) - f(x)", {"y": lambda x: x * 2}, 0),
    ("parameters", f"x: f64 {ROWS}, y: f64 {ROWS}", "y = x / N + 0.1", {"y": lambda x: x / x.shape[1] + WIDE(0.1)}, "sum"),
    ("powers", f"x: f32 {ROWS}, y: f32 {ROWS}", "y = exp2(-floor(x * 20) + 1)",
     {"y": lambda x: numpy.exp2(1 - numpy.floor((x.astype("f4") * numpy.float32(20)).astype(WIDE)))}, 0.5),
    ("in place", f"x: f32 {ROWS}", "x = x * 3", {"x": lambda x: x.astype("f4") * numpy.float32(3)}, 0),
    ("in place, exchanged", f"x: f32 {ROWS}, y: f32 {COLUMNS}", "let a = x\n x = y * 2\n y = a",
     {"x": lambda x, y: y * 2, "y": lambda x, y: x}, 0),
    ("in place, sums that go on", f"x: f32 {ROWS}, s: f32 @ (M,1):(1,1)", "s = s * 4 + max(x, 1)",
     {"s": lambda x, s: (s * 4).astype("f4") + x.max(1, keepdims=True).astype("f4")}, 0.5),
    ("what was stored", f"x: f32 {ROWS}, h: f16 {ROWS}, y: f32 {ROWS}", "h = x\n y = h * 2",
     {"h": lambda x: x, "y": lambda x: x.astype("f2").astype("f4") * 2}, 0.5),
    ("what was stored, repeated", f"x: f32 {ROWS}, y: f16 {ROWS}, s: f32 @ (M,1):(1,1)", "y = max(x, 1)\n s = sum(y, 1)",
     {"y": lambda x: numpy.repeat(x.max(1, keepdims=True), x.shape[1], 1),
      "s": lambda x: x.max(1, keepdims=True).astype("f2").astype(WIDE) * x.shape[1]}, "sum"),
    ("sums of indices", f"x: f32 {ROWS}, s: f32 @ (M,1):(1,1)", "s = sum(max(x, 1) * index(1), 1)",
     {"s": lambda x: x.max(1, keepdims=True) * (x.shape[1] * (x.shape[1] - 1) // 2)}, "sum"),
    ("numbers of the launch", f"x: f64 {ROWS}, y: f64 {ROWS}, z: i8 {ROWS}", "y = x * (1 / N)\n z = M",
     {"y": lambda x: x / x.shape[1], "z": lambda x: numpy.full(x.shape, min(x.shape[0], 127), WIDE)}, 1.51),
    ("padded", "x: f32 @ transform(packed((M,N)), [pass_through(M), pad(N,1,2)], [[0],[1]], [[0],[1]]), "
               "y: f32 @ packed((M,N+3))", "y = x + 1",
     {"y": lambda x: numpy.pad(x.astype("f4"), ((0, 0), (1, 2))) + numpy.float32(1)}, 0.5),
    ("row sums", f"x: f32 {ROWS}, s: f32 @ (M,1):(1,1)", "s = sum(x, 1)", {"s": lambda x: x.sum(1, keepdims=True)},
     "sum"),
    ("column extremes", f"x: f32 {ROWS}, s: f32 @ (1,N):(0,1), t: f32 @ (1,N):(0,1)", "s = max(x, 0)\n t = min(x, 0)",
     {"s": lambda x: x.max(0, keepdims=True), "t": lambda x: x.min(0, keepdims=True)}, 0),
    ("all", f"x: f64 {ROWS}, s: f64 @ (1,1):(1,1)", "s = mean(x)", {"s": lambda x: x.mean().reshape(1, 1)}, "sum"),
    ("softmax", f"x: f16 {ROWS}, y: f16 {ROWS}", "let e = exp(x - max(x, 1))\n y = e / sum(e, 1)",
     {"y": softmax}, 0.51),
    ("softmax in place", f"x: f32 {ROWS}", "let e = exp(x - max(x, 1))\n x = e / sum(e, 1)", {"x": softmax}, "sum"),
    ("layernorm", f"x: f32 {ROWS}, w: f32 @ (1,N):(0,1), b: f32 @ (1,N):(0,1), y: f32 {ROWS}",
     "let c = x - mean(x, 1)\n y = c * rsqrt(mean(c * c, 1) + 0.00001) * w + b", {"y": norm}, "norm"),
    ("statistics", f"x: f32 {ROWS}, y: f32 {ROWS}, m: f32 @ (M,1):(1,1)", "m = mean(x, 1)\n y = x - mean(x, 1)",
     {"m": lambda x: x.mean(1, keepdims=True), "y": lambda x: x - x.mean(1, keepdims=True)}, "norm"),
]

# By name: the mapping of a program whose extents are known, on the host.
MAPPINGS = {"past the caches": "domain=((N,M)):((1@1,1@0)), tile=(N), load=(1,N):(0,1@0), stream=1",
            "as it is and turned": "tile=(8,8), load=(8,8):(1@1,1@0), store=(8,8):(1@0,1@1)",
            "a row and a column, turned": "tile=(8,8), load=(8,8):(1@1,1@0), store=(8,8):(1@0,1@1)"}


def bf16(array):
    """The nearest float whose lower 16 bits are zero."""
    bits = array.astype("f4").view("u4")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view("f4")


def rms(x, r, w, **_):
    total = (x + r).astype("f4").astype(WIDE)
    return total / numpy.sqrt((total ** 2).mean(1, keepdims=True) + WIDE(1e-6)) * w


def scales(x, **_):
    return numpy.maximum(abs(x).max(1, keepdims=True), WIDE(1e-12)) / 448


def exponents(x):
    """Of groups' scales: the largest element's, less that of the largest number of f8e4m3fn."""
    return numpy.floor(numpy.log2(numpy.maximum(abs(x).max(2, keepdims=True), WIDE(1e-30)))) - 8


def rotated(sign):
    """The first or the second of the numbers that have been turned by an angle."""
    return lambda a, b, c, s: a * c - b * s if sign < 0 else a * s + b * c


def scaled_by_largest(x, amax):
    return numpy.clip(x * (448 / numpy.maximum(amax, WIDE(1e-12)).astype("f4")), -448, 448)


def shuffled(w):
    """Blocks of 16 rows of 64 bytes, in these columns of vectors of 16 bytes."""
    return w.reshape(w.shape[0] // 16, 16, w.shape[1] // 64, 4, 16).transpose(0, 2, 3, 1, 4)


ROW, COLUMN, WEIGHT = "MN", "M1", "1N"
PAIRS, ANGLES, GROUPS, SCALES = "THD", "T1D", "MGL", "MG1"
# Files of examples, and kernels of those that have several: inputs by name with type and shape, numbers, and outputs with
# type, shape, reference, tolerance.
EXAMPLES = [
    ("softmax", {"x": ("f16", ROW)}, {}, {"y": ("f16", ROW, softmax, 0.51)}),
    ("layernorm", {"x": ("f16", ROW), "w": ("f16", WEIGHT), "b": ("f16", WEIGHT)}, {"eps": 1e-5},
     {"y": ("f16", ROW, norm, 0.6)}),
    ("rmsnorm", {"x": ("bf16", ROW), "r": ("bf16", ROW), "w": ("bf16", WEIGHT)}, {"eps": 1e-6},
     {"h": ("bf16", ROW, lambda x, r, **_: x + r, 0.51), "y": ("bf16", ROW, rms, 0.51)}),
    ("cast_transpose:amax", {"x": ("bf16", ROW)}, {}, {"amax": ("f32", "11", lambda x: abs(x).max().reshape(1, 1), 0)}),
    ("cast_transpose:cast_transpose", {"x": ("bf16", ROW), "amax": ("f32", "11")}, {},
     {key: ("f8e4m3fn", ROW, scaled_by_largest, 0.51) for key in ("y", "t")}),
    ("quantize", {"x": ("bf16", ROW)}, {},
     {"s": ("f32", COLUMN, scales, 0.51), "q": ("f8e4m3fn", ROW, lambda x: x / scales(x), 0.51)}),
    ("rope", {"a": ("f16", PAIRS), "b": ("f16", PAIRS), "c": ("f32", ANGLES), "s": ("f32", ANGLES)}, {},
     {"p": ("f16", PAIRS, rotated(-1), 0.6), "q": ("f16", PAIRS, rotated(1), 0.6)}),
    ("dequantize", {"q": ("u8", "MGS1"), "s": ("f16", "MG11")}, {},
     {"y": ("bf16", "MGSP", lambda q, s: (numpy.concatenate([q % 16, q // 16], 3) - 8) * s, 0.51)}),
    ("mx", {"x": ("bf16", GROUPS)}, {},
     {"s": ("e8m0", SCALES, lambda x: 2.0 ** exponents(x), 0),
      "q": ("f8e4m3fn", GROUPS, lambda x: numpy.clip(x / 2.0 ** exponents(x), -448, 448), 0.51)}),
]
EXAMPLES += [
    ("concat", {"a": ("f16", "MA"), "b": ("f16", "MB")}, {},
     {"y": ("f16", "MC", lambda a, b: numpy.concatenate([a, b], 1), 0)}),
    ("embedding", {"table": ("f8e4m3fn", "VN"), "scales": ("f32", "V1"), "ids": ("i32", "M")}, {},
     {"y": ("bf16", ROW, lambda table, scales, ids: gathered(table, ids, 0) * gathered(scales, ids, 0), 0.51)}),
    ("kv_read", {"cache": ("f8e4m3fn", "PSEF"), "table": ("i32", "B")}, {"scale": 0.75},
     {"keys": ("f16", "BSEF", lambda cache, table: gathered(cache, table, 0) * WIDE(0.75), 0.51)}),
    ("preshuffle", {"w": ("u8", "XY")}, {}, {"s": ("u8", "XY", shuffled, 0)}),
]
# What is read several times, or in parts of lines, which SHARED counts; and what leaves pieces to another kernel.
UNCOUNTED = {"rope", "concat", "dequantize", "cast_transpose:amax"}
# Examples of odd rows, and those of which some inputs are for several elements: extents and numbers, bytes of all arrays
# but places, and how much may move, with extents in the program and at the launch: bytes to all of these; cache lines to
# the least of accesses so wide, and to the least of all bytes.
GFX942, GFX1201 = "sim:gfx942", "sim:gfx1201"
SHARED = [
    ("softmax", {"M": 1024, "N": 7}, {}, 2 * 2 * 1024 * 7,
     {GFX942: ((1, 1, 1), (1, 1, 1)), GFX1201: ((1, 1, 1), (1, 1, 1))}),
    ("softmax", {"M": 1024, "N": 33}, {}, 2 * 2 * 1024 * 33,
     {GFX942: ((1, 1, 1.04), (1, 1, 1.04)), GFX1201: ((1, 1, 1.04), (1, 1, 1.04))}),
    ("softmax", {"M": 65, "N": 301}, {}, 2 * 2 * 65 * 301,
     {GFX942: ((1, 1.01, 1.06), (1, 1.01, 1.06)), GFX1201: ((1, 1.01, 1.06), (1, 1.01, 1.06))}),
    ("softmax", {"M": 16, "N": 1001}, {}, 2 * 2 * 16 * 1001,
     {GFX942: ((1, 1, 1.02), (1, 1, 1.02)), GFX1201: ((1, 1, 1.02), (1, 1, 1.02))}),
    ("layernorm", {"M": 16, "N": 1001}, {"eps": 1}, 2 * 2 * 16 * 1001 + 2 * 2 * 1001,
     {GFX942: ((1.07, 1, 1.09), (1.07, 1, 1.09)), GFX1201: ((1.07, 1, 1.09), (1.07, 1, 1.09))}),
    ("rmsnorm", {"M": 16, "N": 1001}, {"eps": 1}, 4 * 2 * 16 * 1001 + 2 * 1001,
     {GFX942: ((1.05, 1, 1.08), (1.05, 1, 1.08)), GFX1201: ((1.05, 1, 1.08), (1.05, 1, 1.08))}),
    ("softmax", {"M": 16, "N": 6001}, {}, 2 * 2 * 16 * 6001,
     {GFX942: ((1, 1.01, 1.02), (1, 1.01, 1.02)), GFX1201: ((1, 1.01, 1.03), (1, 1.01, 1.03))}),
    ("layernorm", {"M": 16, "N": 6001}, {"eps": 1}, 2 * 2 * 16 * 6001 + 2 * 2 * 6001,
     {GFX942: ((1.89, 1.06, 2.02), (1.89, 1.06, 2.02)), GFX1201: ((1.89, 1.12, 2.14), (1.89, 1.12, 2.14))}),
    ("rmsnorm", {"M": 16, "N": 6001}, {"eps": 1}, 4 * 2 * 16 * 6001 + 2 * 6001,
     {GFX942: ((1.24, 1.04, 1.29), (1.24, 1.04, 1.29)), GFX1201: ((1.24, 1.06, 1.33), (1.24, 1.06, 1.33))}),
    ("quantize", {"M": 16, "N": 6001}, {}, 3 * 16 * 6001 + 4 * 16,
     {GFX942: ((1, 1.02, 1.05), (1, 1.02, 1.05)), GFX1201: ((1, 1.02, 1.06), (1, 1.02, 1.06))}),
    ("layernorm", {"M": 1024, "N": 7}, {"eps": 1}, 2 * 2 * 1024 * 7 + 2 * 2 * 7,
     {GFX942: ((1.01, 1, 1.08), (1.01, 1, 1.08)), GFX1201: ((1.01, 1, 1.08), (1.01, 1, 1.08))}),
    ("rmsnorm", {"M": 1024, "N": 7}, {"eps": 1}, 4 * 2 * 1024 * 7 + 2 * 7,
     {GFX942: ((1.01, 1, 1.05), (1.01, 1, 1.05)), GFX1201: ((1.01, 1, 1.05), (1.01, 1, 1.05))}),
    ("quantize", {"M": 1024, "N": 7}, {}, 3 * 1024 * 7 + 4 * 1024,
     {GFX942: ((1, 1, 1.05), (1, 1, 1.05)), GFX1201: ((1, 1, 1.05), (1, 1, 1.05))}),
    ("quantize", {"M": 16, "N": 1001}, {}, 3 * 16 * 1001 + 4 * 16,
     {GFX942: ((1, 1, 1.04), (1, 1, 1.04)), GFX1201: ((1, 1, 1.04), (1, 1, 1.04))}),
    ("embedding", {"M": 1024, "N": 7, "V": 1024}, {}, 3 * 1024 * 7,
     {GFX942: ((4.05, 1.29, 3.91), (7.1, 1.15, 6.96)), GFX1201: ((4.05, 1.15, 6.96), (7.1, 1.04, 10.11))}),
    ("embedding", {"M": 16, "N": 1001, "V": 16}, {}, 3 * 16 * 1001,
     {GFX942: ((1, 1.1, 1.21), (1, 1.1, 1.21)), GFX1201: ((1, 1.13, 1.29), (1, 1.13, 1.29))}),
    ("rope", {"T": 16, "H": 32, "D": 64}, {}, 4 * 2 * 16 * 32 * 64 + 2 * 4 * 16 * 64,
     {GFX942: ((1.22, 1, 1.04), (1.22, 1, 1.04)), GFX1201: ((1.22, 1, 1.1), (1.22, 1, 1.1))}),
    ("rope", {"T": 16, "H": 3, "D": 512}, {}, 4 * 2 * 16 * 3 * 512 + 2 * 4 * 16 * 512,
     {GFX942: ((1, 1, 1), (1, 1, 1)), GFX1201: ((1, 1, 1), (1, 1, 1))}),
    ("rope", {"T": 16, "H": 5, "D": 512}, {}, 4 * 2 * 16 * 5 * 512 + 2 * 4 * 16 * 512,
     {GFX942: ((1.17, 1, 1.17), (1.17, 1, 1.17)), GFX1201: ((1.17, 1, 1.17), (1.17, 1, 1.17))}),
    ("concat", {"M": 64, "A": 3, "B": 4}, {}, 2 * 2 * 64 * 7,
     {GFX942: ((1, 1, 1), (1, 1, 1)), GFX1201: ((1, 1, 1), (1, 1, 1))}),
    ("concat", {"M": 64, "A": 24, "B": 24}, {}, 2 * 2 * 64 * 48,
     {GFX942: ((1, 1, 1), (1, 1, 1)), GFX1201: ((1, 1, 1), (1, 1, 1))}),
    ("concat", {"M": 64, "A": 33, "B": 31}, {}, 2 * 2 * 64 * 64,
     {GFX942: ((1, 1, 1.05), (1, 1, 1.03)), GFX1201: ((1, 1, 1.05), (1, 1, 1.03))}),
    ("concat", {"M": 16, "A": 999, "B": 9}, {}, 2 * 2 * 16 * 1008,
     {GFX942: ((1, 1.01, 1.02), (1, 1.01, 1.02)), GFX1201: ((1, 1.01, 1.02), (1, 1.01, 1.02))}),
    ("concat", {"M": 16, "A": 1024, "B": 64}, {}, 2 * 2 * 16 * 1088,
     {GFX942: ((1, 1, 1), (1, 1, 1)), GFX1201: ((1, 1, 1), (1, 1, 1))}),
    ("concat", {"M": 16, "A": 3001, "B": 2003}, {}, 2 * 2 * 16 * 5004,
     {GFX942: ((1, 1.12, 1.18), (1, 1.12, 1.18)), GFX1201: ((1, 1.24, 1.3), (1, 1.24, 1.3))}),
    ("kv_append", {"T": 16, "S": 32}, {}, 2 * 2 * 16 * 1024,
     {GFX942: ((1, 1, 1), (1, 1, 1)), GFX1201: ((1, 1, 1), (1, 1, 1))}),
    ("kv_rope", {"T": 16, "S": 32}, {"scale": 1}, 16 * 1024 * (2 * 2 + 1) + 2 * 4 * 16 * 64,
     {GFX942: ((1.28, 1, 1), (1.28, 1, 1)), GFX1201: ((1.28, 1, 1.1), (1.28, 1, 1.1))}),
    ("dequantize", {"M": 16, "G": 32}, {}, 16 * 32 * (16 + 2 + 64),
     {GFX942: ((1.08, 1, 1.08), (1.08, 1, 1.08)), GFX1201: ((1.08, 1, 1.18), (1.08, 1, 1.18))}),
    ("preshuffle", {"R": 33, "K": 17}, {}, 2 * 33 * 17 * 1024,
     {GFX942: ((1, 1, 1), (1.26, 2.02, 2.51)), GFX1201: ((1, 1, 1), (1.06, 1.06, 1.12))}),
    ("preshuffle", {"R": 5, "K": 3}, {}, 2 * 5 * 3 * 1024,
     {GFX942: ((1, 1, 1), (1.6, 1.5, 2.4)), GFX1201: ((1, 1, 1), (1.34, 1, 1.17))}),
]
SHAPES = [(1, 1), (3, 40), (5, 7), (300, 1), (1, 300), (2, 2049), (17, 256)]
# Of examples: on all GPUs, one column, one row, odd rows; on those on which all else runs, also one row that is longer
# than LDS.
SHAPES_OF_EXAMPLES = [(300, 1), (1, 301), (2, 2049)]
MORE_SHAPES_OF_EXAMPLES = [(1, 1), (3, 40), (5, 64), (1, 90001)]
MORE_GPUS = {"sim:gfx942": ("sim:gfx90a", "sim:gfx950"), "sim:gfx1201": ("sim:gfx1030", "sim:gfx1100", "sim:gfx1250")}
LONG = [(2, 70001)]
# Rows that are split, and by name, programs that reduce them: elsewhere, and on the host.
FEW, FEW_OF_HOST = (2, 140001), (3, 300001)
FEW_PROGRAMS = ["row sums", "all", "softmax", "softmax in place", "layernorm", "statistics"]


def unit(reference, dtype):
    if dtype in ("i32", "i8", "i64", "u8", "e8m0"):
        return WIDE(1)
    if dtype == "bf16":
        return unit(reference, "f32") * 2 ** 16
    if dtype == "f8e4m3fn":
        exponent = numpy.floor(numpy.log2(numpy.maximum(abs(reference), WIDE(2) ** -6)))
        return WIDE(2) ** (exponent - 3)
    kind = NUMPY[dtype]
    spacing = numpy.spacing(abs(reference).astype(kind))
    return numpy.maximum(spacing, numpy.finfo(kind).smallest_subnormal).astype(WIDE)


def widened(array, dtype):
    if dtype == "bf16":
        return (array.astype("u4") << 16).view("f4").astype(WIDE)
    if dtype == "e8m0":
        return WIDE(2) ** (array.view("u1").astype(WIDE) - 127)
    if dtype == "f8e4m3fn":
        bits = array.view("u1").astype("i4")
        exponent, fraction = bits >> 3 & 15, bits & 7
        size = numpy.where(exponent == 0, fraction * 2.0 ** -9, (8 + fraction) * 2.0 ** (exponent - 10))
        return numpy.where(bits >> 7 == 1, -size, size).astype(WIDE)
    return array.astype(WIDE)


def errors(found, reference, dtype):
    """In units in the last place; 0 where both are the same number, or none."""
    found = widened(found, dtype).reshape(reference.shape)
    limit = WIDE(numpy.finfo(NUMPY[dtype]).max) if dtype in ("f16", "f32", "f64") else WIDE(numpy.inf)
    with numpy.errstate(all="ignore"):
        reference = reference.astype(WIDE)
        far = abs(found - reference) / unit(reference, dtype)
    beyond = numpy.isinf(found) & (abs(reference) >= limit) & (numpy.sign(found) == numpy.sign(reference))
    same = (found == reference) | (numpy.isnan(found) & numpy.isnan(reference)) | beyond
    return numpy.where(same, 0, far)


def guarded(array):
    """A copy in the same order, and the bytes that it stands in: its neighbours are GUARD."""
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    around = numpy.full(array.nbytes + 512, GUARD, "u1")
    copy = around[256:256 + array.nbytes].view(array.dtype).reshape(array.shape, order=order)
    copy[...] = array
    return copy, around


class Runner:
    """Runs kernels by the library, those whose extents come at the launch compiled once. What the command alone tells is
    asked from it."""
    def __init__(self, tilejit, library):
        self.tilejit, self.package, self.kernels = tilejit, emitter.package_of(library), {}

    def kernel_of(self, text, device, fixed, name):
        if fixed:
            return self.package.kernel(text, name, device=device, fixed=fixed)
        if (text, name, device) not in self.kernels:
            self.kernels[text, name, device] = self.package.kernel(text, name, device=device)
        return self.kernels[text, name, device]

    def run(self, text, device, extents, inputs, outputs, fixed, numbers=(), kernel=None):
        given = {key: guarded(array) for key, array in inputs.items()}
        arrays = {key: array for key, (array, _) in given.items()}
        try:
            kernel = self.kernel_of(text, device, extents if fixed else None, kernel)
            made = kernel(**arrays, **({} if fixed else extents), **dict(numbers))
        except self.package.Error as error:
            return str(error).splitlines()[0]
        left_out = [key for key in kernel.arguments if key not in arrays]
        arrays.update(zip(left_out, made if len(left_out) > 1 else [made]))
        for key, (array, around) in given.items():
            if (around[:256] != GUARD).any() or (around[256 + array.nbytes:] != GUARD).any():
                return f"something is written outside of {key}"
        return {key: arrays[key] for key in outputs}


def arguments_of(text):
    return dict(re.findall(r"(\w+): (\w+) @", text))


def random_array(generator, dtype, shape):
    if dtype in ("i32", "i8", "i64"):
        return generator.integers(-100, 100, shape).astype(NUMPY[dtype])
    return (generator.standard_normal(shape) * 3).astype(NUMPY[dtype])


def shape_of(name, arguments, rows, columns):
    part = re.search(rf"\b{name}: \w+ @ \((\w+),(\w+)\)", arguments)
    if part is None:
        return rows, columns
    return tuple({"M": rows, "N": columns, "1": 1}[extent] for extent in part.groups())


def tolerance_of(kind, reference, columns):
    """Of sums: each addition rounds once; partial sums are as large as what is added."""
    if kind == "sum":
        return 16 + 2 * columns ** 0.5
    return 64 + columns ** 0.5 if kind == "norm" else kind


def check_program(runner, device, row, shape, fixed):
    name, arguments, body, references, kind = row
    types = arguments_of(arguments)
    generator = numpy.random.default_rng(len(name))
    inputs = {key: random_array(generator, dtype, shape_of(key, arguments, *shape)) for key, dtype in types.items()
              if key not in references or name.startswith(("in place", "softmax in"))}
    for key in inputs:
        if f"{key}: {types[key]} {COLUMNS}" in arguments:
            inputs[key] = numpy.asfortranarray(inputs[key])
    longest = 100000 if max(shape) <= 100000 else 10000000
    text = f"param M in 1..{max(4096, shape[0])}, N in 1..{longest}\nlet f(a, b=2) = a * b\nkernel k({arguments}) = {{\n {body}\n}}\n"
    if name in MAPPINGS and device == "host" and fixed and 1 not in shape:
        text = text.rstrip() + f", mapping=mapping({MAPPINGS[name]})\n"
    found = runner.run(text, device, {"M": shape[0], "N": shape[1]}, inputs, references, fixed)
    if isinstance(found, str):
        return f"{name} {shape} {device} {'fixed' if fixed else 'at launch'}: {found}"
    wide = {key: array.astype(WIDE) for key, array in inputs.items()}
    for key, function in references.items():
        reference = function(**wide)
        worst = float(errors(found[key], reference, types[key]).max())
        if kind in ("sum", "norm"):  # units of the largest: what cancels is no smaller than what it is made of
            scale = numpy.full(reference.shape, abs(reference).max() + 1)
            worst = float((abs(widened(found[key], types[key]).reshape(reference.shape) - reference) /
                           unit(scale, types[key])).max())
        if not worst <= tolerance_of(kind, reference, shape[1]):
            return f"{name} {shape} {device} {'fixed' if fixed else 'at launch'}: {key} is off by {worst} units"
    return None


def check_example(runner, device, row, folder, shape, fixed):
    name, inputs, numbers, outputs = row
    heads = 8 if shape[1] % 2 == 0 else 5 if shape[1] % 3 == 0 else 3
    extents = {"M": shape[0], "N": shape[1], "1": 1, "T": shape[0], "H": heads, "D": min(shape[1], 512),
               "G": shape[1] // 32 + 1, "L": 32, "A": min(shape[1], 3001), "B": 9, "C": min(shape[1], 3001) + 9,
               "S": 16, "P": 2, "V": 5, "E": 8, "F": 128, "R": min(shape[0], 99), "K": shape[1] // 64 + 1}
    extents.update(X=16 * extents["R"], Y=64 * extents["K"])
    generator = numpy.random.default_rng(len(name))
    arrays, wide = {}, {}
    for key, (dtype, form) in inputs.items():
        array = generator.standard_normal([extents[mode] for mode in form]) * (3 if dtype != "u8" else 0)
        array += generator.integers(0, 256, array.shape) if dtype == "u8" else 0
        if dtype == "f8e4m3fn":
            arrays[key] = numpy.minimum(abs(array) * 20, 126).astype("u1")
        elif dtype == "bf16":
            arrays[key] = (bf16(array).view("u4") >> 16).astype("u2")
        else:
            arrays[key] = array.astype(NUMPY[dtype])
        wide[key] = widened(arrays[key], dtype)
    file, _, kernel = name.partition(":")
    text = (folder / f"{file}.tile").read_text(encoding="utf-8")
    parameters = {key: extents[key] for key in re.findall(r"(\w+) in \d", text)}
    found = runner.run(text, device, parameters, arrays, outputs, fixed, numbers, kernel or None)
    said = f"examples/{name} {shape} {device} {'fixed' if fixed else 'at launch'}"
    if isinstance(found, str):
        return f"{said}: {found}"
    for key, (dtype, form, function, limit) in outputs.items():
        reference = function(**wide)
        scale = abs(reference).max() if name in ("layernorm", "rope") else 0  # what cancels
        far = abs(widened(found[key], dtype).reshape(reference.shape) - reference)
        worst = float((far / unit(numpy.maximum(abs(reference), scale), dtype)).max())
        if not worst <= limit:
            return f"{said}: {key} is off by {worst} units"
    return None


def counters_of(runner, device, name, folder, extents, numbers, fixed):
    """The simulator's counters of a launch of an example, or what went wrong."""
    file, _, kernel = name.partition(":")
    path = folder / f"{file}.tile"
    command = [runner.tilejit, "run", str(path), "--device", device, "--stats"]
    command += ["--kernel", kernel] if kernel else []
    for key in re.findall(r"(\w+) in \d", path.read_text(encoding="utf-8")):
        command += ["--set" if fixed else "--arg", f"{key}={extents[key]}"]
    for key, value in numbers.items():
        command += ["--arg", f"{key}={value}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.stderr.strip() if result.returncode != 0 else json.loads(result.stdout)["counters"]


def check_counts(runner, device, row, folder, fixed):
    """Rows that fit into registers, and what turns around, are read once and stored once, in whole lines, and no banks of
    LDS conflict."""
    name, inputs, numbers, outputs = row
    rows, columns = (512, 768) if name.startswith("cast_transpose") else (16, 1024)
    extents = {"M": rows, "N": columns, "G": columns // 32, "V": rows, "B": 3, "P": 4, "R": 32, "K": 16}
    counters = counters_of(runner, device, name, folder, extents, numbers, fixed)
    if isinstance(counters, str):
        return counters
    bits = {"f16": 16, "bf16": 16, "f32": 32, "i32": 32, "f8e4m3fn": 8, "e8m0": 8, "u8": 8}
    elements = {ROW: rows * columns, COLUMN: rows, WEIGHT: rows * columns,  # each row reads all weights
                GROUPS: rows * columns, SCALES: rows * columns // 32,
                "VN": rows * columns, "PSEF": 3 * 16384, "BSEF": 3 * 16384, "XY": 512 * 1024,
                "V1": 0, "M": 0, "B": 0, "11": 0}  # by scalars
    least = sum(elements[form] * bits[dtype] // 8 for dtype, form, *_ in (*inputs.values(), *outputs.values()))
    wanted = {"memory_bytes": least, "cache_lines": counters["least_cache_lines"],
              "lds_cycles": counters["least_lds_cycles"]}
    said = f"examples/{name} on {device} {'fixed' if fixed else 'at launch'}"
    return next((f"{said}: {key} is {counters[key]}, not {value}"
                 for key, value in wanted.items() if counters[key] != value), None)


def check_shared(runner, device, row, folder, fixed):
    """What is for several elements is read not much more often than once, in lines that are almost whole. The least is
    moved: counters below it would be of other arrays."""
    name, extents, numbers, least, limits = row
    counters = counters_of(runner, device, name, folder, extents, numbers, fixed)
    if isinstance(counters, str):
        return counters
    found = (counters["memory_bytes"] / least, counters["cache_lines"] / counters["least_cache_lines"],
             counters["cache_lines"] / (least / 128))
    said = f"examples/{name} {extents} on {device} {'fixed' if fixed else 'at launch'}"
    if counters["lds_cycles"] > counters["least_lds_cycles"]:
        return f"{said}: banks of LDS conflict"
    most = limits[device][0 if fixed else 1]
    shown = [round(each, 3) for each in found]
    return None if all(1 <= each <= limit for each, limit in zip(found, most)) else f"{said}: {shown}, at most {most}"


WAVES = {"host": 1, "sim:gfx942": 64, "sim:gfx1201": 32, "sim:gfx1250": 32}


def halves(parts):
    while parts.shape[1] > 1:
        half = (parts.shape[1] + 1) // 2
        parts[:, :parts.shape[1] - half] += parts[:, half:]
        parts = parts[:, :half]
    return parts


FEW_WAVES = 8  # whose results are put together in halves, as those of more are that are no power of two


def in_pairs(each, lanes):
    distance = 1
    while distance < lanes:
        each = each + each[:, numpy.arange(each.shape[1]) ^ distance]
        distance *= 2
    return each


def parts_of(row, width, piece, has_ends, head):
    """Of each piece of a row, its columns in vectors and its others. `head`: columns before the first vector; None:
    vectors begin with the piece."""
    ends = row[:0]
    if head is not None:
        behind = head + (len(row) - head) // width * width
        ends, row = numpy.concatenate([row[:head], row[behind:]]), row[head:]
    for at in range(0, len(row), piece):
        part = row[at:at + piece]
        columns = len(part) // width * width if has_ends else len(part)
        yield part[:columns], ends if head is not None else part[columns:]
        ends = ends[:0]


def sum_in_order(vectors, ends, lanes, width, wave):
    """The order that docs/arrays.md tells of."""
    padded = numpy.full((-(-len(vectors) // (lanes * width)), lanes, width), -0.0, vectors.dtype)
    padded.reshape(-1)[:len(vectors)] = vectors
    own = numpy.full((lanes, width), -0.0, vectors.dtype)
    for turn in padded:
        own = own + turn
    own[:len(ends), 0] += ends
    each = in_pairs(halves(own).reshape(1, lanes), min(wave, lanes))
    waves = each[:, ::wave]
    are_few = waves.shape[1] <= FEW_WAVES or waves.shape[1] & waves.shape[1] - 1
    return (halves(waves) if are_few else in_pairs(waves, waves.shape[1]))[0, 0]


# Reductions, and over which modes of three.
REDUCTIONS = [(name, modes) for name in ("sum", "mean", "max", "min")
              for modes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))]


def check_modes(runner, device, row, fixed):
    """What is reduced over some modes has extent 1 there, alone and where it meets the whole array."""
    name, modes = row
    extents = {"A": 5, "B": 7, "C": 33}
    kept = [key for mode, key in enumerate(extents) if mode not in modes]
    shape = ", ".join(key if key in kept else "1" for key in extents)
    strides = ", ".join("*".join(["1", *[after for after in kept if after > key]]) for key in extents)
    form, over = "@ (A, B, C):(B*C, C, 1)", ", ".join(map(str, modes))
    text = (f"param A in 1..99, B in 1..99, C in 1..999\nkernel k(x: f32 {form}, s: f32 @ ({shape}):({strides}), "
            f"y: f32 {form}) = {{ s = {name}(x, {over}); y = x - {name}(x, {over}) }}\n")
    x = numpy.random.default_rng(len(modes)).standard_normal(list(extents.values())).astype("f4")
    said = f"{name} over {over} on {device} {'fixed' if fixed else 'at launch'}"
    found = runner.run(text, device, extents, {"x": x}, ["s", "y"], fixed)
    if isinstance(found, str):
        return f"{said}: {found}"
    reduced = getattr(numpy, name)(x.astype(WIDE), axis=modes, keepdims=True)
    most = 0 if name in ("max", "min") else 2e-5
    far = max(abs(found["s"].reshape(reduced.shape) - reduced).max(),
              abs(found["y"].reshape(x.shape) - (x - reduced.astype("f4"))).max())
    return None if far <= most else f"{said}: off by {far}"


SPLIT = 131072, 262144  # columns from which rows are, elsewhere, and on the host


# Rows shared out by hand on GPUs: several a workgroup, of few lanes, in loops, lanes that are no waves, vectors and not.
ROW_MAPPINGS = ["tile=(4,256), load=((16,4),(4,4)):((4@1,1@0),(1@1,64@1))", "tile=(1,128), load=(64,2):(2@1,1@1)",
                "tile=(3,64), load=((16,3),(2,2)):((2@1,1@0),(1@1,32@1))", "tile=(2,512), load=((512,2),1):((1@1,1@0),0)",
                "tile=(1,600), load=(8,(1,75)):(1@1,(0,8@1))",
                "tile=(8,384), load=((32,4),(4,3,2)):((4@1,1@0),(1@1,128@1,4@0)), lds=(8,384):(384,1)"]


def check_row_mapping(runner, device, given):
    x = numpy.random.default_rng(len(given)).standard_normal((17, 260)).astype("f4")
    text = (f"kernel k(x: f32 @ (17,260):(260,1), y: f32 @ (17,260):(260,1), s: f32 @ (17,1):(1,1)) = "
            f"{{ y = exp(x - max(x, 1)) * 2; s = sum(x * x, 1) }}, mapping=mapping({given})\n")
    found = runner.run(text, device, {}, {"x": x}, ["y", "s"], True)
    if isinstance(found, str):
        return f"{given} on {device}: {found}"
    wide = x.astype(WIDE)
    wanted = {"y": numpy.exp(wide - wide.max(1, keepdims=True)) * 2, "s": (wide * wide).sum(1, keepdims=True)}
    far = {key: errors(found[key], reference, "f32").max() for key, reference in wanted.items()}
    return f"{given} on {device}: {far} units" if max(far.values()) > 20 else None


def check_order(runner, device, dtype, shape):
    """Sums are the same to the last bit as when they are put together as documented."""
    text = f"kernel k(x: {dtype} @ {shape}:({shape[1]},1), s: {dtype} @ ({shape[0]},1):(1,1)) = {{ s = sum(x, 1) }}\n"
    x = (numpy.random.default_rng(7).standard_normal(shape) * 1000).astype(NUMPY[dtype])
    found = runner.run(text, device, {}, {"x": x}, ["s"], True)
    said = f"sums of {shape} {dtype} on {device}"
    if isinstance(found, str):
        return f"{said}: {found}"
    tiled = subprocess.run([runner.tilejit, "compile", "-e", text, "--stop-after", "tiled", "--target",
                            device.replace("sim:", "")], capture_output=True, text=True, check=True).stdout
    found_shape = re.search(r"lanes (\d+), columns of each (\d+) times (\d+)", tiled).groups()
    lanes, repeats, width = (int(number) for number in found_shape)
    width *= repeats if device == "host" else 1
    split = re.search(r"in pieces of (\d+)", tiled)
    if (split is not None) != (shape[1] >= SPLIT[device == "host"]):
        return f"{said}: rows of {shape[1]} are {'' if split else 'not '}split"
    begins = re.search(r"from multiples of (\d+) on", tiled)
    wanted = numpy.zeros((shape[0], 1), x.dtype)
    for number, row in enumerate(x):
        head = -number * len(row) % int(begins[1]) if begins else None
        parts = parts_of(row, width, int(split[1]) if split else len(row), device != "host", head)
        sums = [sum_in_order(*part, lanes, width, WAVES[device]) for part in parts]
        wanted[number] = sum_in_order(numpy.array(sums), x[0, :0], lanes, width, WAVES[device]) if split else sums[0]
    return None if (found["s"] == wanted).all() else f"{said}, {lanes} lanes of {width}: {found['s']}, not {wanted}"


LONG_SOFTMAX = """param M in 1..64, N in 1..100000
kernel k(x: {0} @ (M, N):(N, 1), y: f32 @ (M, N):(N, 1), l: {1} @ (M, 1):(1, 1)) = {{
  let m = max(x, 1); let s = sum(exp(x - m), 1); y = exp(x - m) / s; l = m + log(s)
}}"""


def check_long_softmax(runner, device, dtype):
    """Rows in loops: the sum of exponentials goes with the largest, whatever comes first, and memory is read twice."""
    rows, columns = 6, 9001
    x = (numpy.random.default_rng(3).standard_normal((rows, columns)) * 20).astype(NUMPY[dtype])
    x[1] = numpy.sort(x[1])  # the largest comes last, and lanes begin with what they forget
    x[2, :8000] = -numpy.inf
    x[3] = -numpy.inf
    x[4, 8500] = numpy.inf
    x[5, 17] = numpy.nan
    result = "f64" if dtype == "f64" else "f32"
    found = runner.run(LONG_SOFTMAX.format(dtype, result), device, {"M": rows, "N": columns}, {"x": x}, ["y", "l"], False)
    if isinstance(found, str):
        return f"long softmax of {dtype} on {device}: {found}"
    wide = x.astype(WIDE)
    most = wide.max(1, keepdims=True)
    with numpy.errstate(all="ignore"):
        power = numpy.exp(wide - most)
        total = power.sum(1, keepdims=True)
        wanted = {"y": (power / total, "f32"), "l": (most + numpy.log(total), result)}
    for key, (reference, kind) in wanted.items():
        worst = errors(found[key], reference, kind)
        worst = worst[~((abs(reference) < 2e-38) & (abs(found[key].reshape(reference.shape) - reference) < 1e-44))]
        if not (worst <= 100).all():  # of arguments down to -160, whose own rounding is that of the result, 80 times
            return f"long softmax of {dtype} on {device}: {key} is off by {numpy.nanmax(worst)} units"
    return None


LONG_NORM = """param M in 1..64, N in 1..65536
kernel k(x: {0} @ (M,N):(N,1), y: f32 @ (M,N):(N,1), l: {1} @ (M,1):(1,1)) = {{
  let c = x - mean(x, 1)
  l = mean(c * c, 1)
  y = c * rsqrt(mean(c * c, 1))
}}"""


def check_long_norm(runner, device, dtype, columns):
    """Rows in loops: the sum of squared differences goes with that of which the mean is made, wherever elements are,
    and whatever the first ones are."""
    x = numpy.random.default_rng(columns).standard_normal((8, columns))
    x[1] += 1000
    x[2, :1] = 20000
    x[3, :columns // 100 + 1] -= 20000
    x[4] += numpy.arange(columns) / 10
    x[5] = numpy.sort(x[5]) * 1e-3 + 3
    x[6, columns // 2] = numpy.inf
    x[7, columns - 1] = numpy.nan
    x = x.astype(NUMPY[dtype])
    result = "f64" if dtype == "f64" else "f32"
    found = runner.run(LONG_NORM.format(dtype, result), device, {"M": len(x), "N": columns}, {"x": x}, ["y", "l"], False)
    said = f"long rows of {dtype} on {device}, {columns} columns"
    if isinstance(found, str):
        return f"{said}: {found}"
    with numpy.errstate(all="ignore"):
        apart = x.astype(WIDE) - x.astype(WIDE).mean(1, keepdims=True)
        variance = (apart ** 2).mean(1, keepdims=True)
        reference = apart / numpy.sqrt(variance)
    if not (errors(found["l"], variance, result) <= 64).all():
        return f"{said}: variances are {found['l'].ravel()}, not {variance.ravel()}"
    unit_of_largest = numpy.finfo("f4").eps * abs(x).max(1, keepdims=True) / numpy.sqrt(variance)
    far = abs(found["y"].reshape(x.shape) - reference) > 16 * numpy.maximum(unit_of_largest, 1e-6)
    wrong = far | (numpy.isnan(reference) != numpy.isnan(found["y"].reshape(x.shape)))
    return f"{said}: {numpy.argwhere(wrong)[:3]} are wrong" if wrong.any() else None


# Processors of which some have quotients of f32 by way of f64, where one alone is the device that is tested.
QUOTIENTS = {"sim:gfx942": ("sim:gfx90a", "sim:gfx942", "sim:gfx950")}


def quotient_cases(number):
    """Rows, and a number for each, whose quotients are hard to round: unusual ones, tiny ones, and such near the middle
    between two numbers."""
    rows, columns, bits = 112, 520, number.replace("f", "u")
    generator = numpy.random.default_rng(5)
    x = generator.integers(0, numpy.iinfo(bits).max, (rows, columns), bits).view(number)
    x[48:88] = generator.standard_normal((40, columns))
    least, tiny, largest = (getattr(numpy.finfo(number), key) for key in ("smallest_subnormal", "tiny", "max"))
    unusual = numpy.array([0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, least, -least, 2.0 ** -64, 2.0 ** -65, tiny,
                           -tiny / 3, -1.5, largest, -largest], number)
    x[::2, ::37] = generator.choice(unusual, x[::2, ::37].shape)
    x[1::8, ::3] = 0
    b = generator.integers(0, numpy.iinfo(bits).max, (rows, 1), bits).view(number)
    b[:40, 0] = generator.uniform(1, 2, 40) * 2.0 ** generator.integers(-32, 32, 40)
    b[40:60, 0] = 2 - numpy.finfo(number).eps * generator.integers(1, 9, 20)
    b[60:80, 0] = generator.integers(1, 300, 20)
    x[40:60] = ((1 + generator.integers(0, 1 << 20, (20, columns)) * 2.0 ** -20 + numpy.finfo(number).eps / 2) *
                b[40:60]).astype(number)  # quotients near the middle between two numbers
    b[80:88, 0] = 2 * generator.integers(1, 1 << 22, 8)
    x[80:88] = b[80:88] / 2 * generator.choice([1, 3, 5, 7], (8, columns)).astype(number) * least  # and in it, tiny
    b[96:96 + len(unusual), 0] = unusual
    x[96:, 1::2] = generator.choice(unusual, x[96:, 1::2].shape)
    return x, b


def shortened(x, stored):
    """The bits of floats of 32 bits as shorter ones; NaN is 0."""
    if stored == "f16":
        return numpy.where(numpy.isnan(x), 0, x.astype("f2").view("u2"))
    if stored == "bf16":
        return numpy.where(numpy.isnan(x), 0, bf16(x).view("u4") >> 16).astype("u2")
    value = widened(numpy.arange(127, dtype="u1"), stored).astype("f8")
    middle = (value[1:] + value[:-1]) / 2
    below, above = (numpy.searchsorted(middle, abs(x.astype("f8")), side) for side in ("left", "right"))
    nearest = numpy.where(below % 2 == 0, below, above)
    return numpy.where(numpy.isnan(x), 0, nearest + 128 * numpy.signbit(x)).astype("u1")


SHORT = {"f16": 10, "bf16": 7, "f8e4m3fn": 3}  # by name: bits of their fractions


def check_short_quotients(runner, device, stored):
    """Quotients of f32 by one number that become shorter floats are rounded twice, each time to the nearest."""
    x, b = quotient_cases("f4")
    x = x[:, :512]  # in registers
    generator, near = numpy.random.default_rng(6), slice(0, 40)  # the middle between two short ones
    middle = (1 + (generator.integers(0, 1 << SHORT[stored], x[near].shape) + 0.5) * 2.0 ** -SHORT[stored])
    x[near] = numpy.nextafter((middle * b[near]).astype("f4"), generator.choice([0, 9e9], x[near].shape).astype("f4"))
    x[near, ::2] = (middle * b[near])[:, ::2]
    shape = f"@ ({x.shape[0]},{x.shape[1]}):({x.shape[1]},1)"
    text = f"kernel k(x: f32 {shape}, b: f32 {shape}, y: {stored} {shape}) = {{ y = x / max(b, 1) }}\n"
    said = f"quotients as {stored} on {device}"
    found = runner.run(text, device, {}, {"x": x, "b": numpy.tile(b, (1, x.shape[1]))}, ["y"], True)
    if isinstance(found, str):
        return f"{said}: {found}"
    with numpy.errstate(all="ignore"):
        quotient = x / b
        wanted = shortened(quotient, stored)
    found = found["y"].view("u1" if stored == "f8e4m3fn" else "u2").reshape(x.shape)
    wrong = numpy.argwhere((found != wanted) & ~numpy.isnan(quotient))
    if not len(wrong):
        return None
    first = tuple(wrong[0])
    return f"{said}: {x[first]} / {b[first[0], 0]} is {wanted[first]:x}, not {found[first]:x}"


def check_quotients(runner, device, dtype):
    """Quotients of a row by one number are rounded once, whatever both are, and so are differences, with the signs of
    zeros."""
    number, bits = NUMPY[dtype], NUMPY[dtype].replace("f", "u")
    x, b = quotient_cases(number)
    rows, columns = x.shape
    shape = f"@ ({rows},{columns}):({columns},1)"
    text = (f"kernel k(x: {dtype} {shape}, b: {dtype} {shape}, y: {dtype} {shape}, d: {dtype} {shape}, "
            f"h: {dtype} {shape}) = {{\n  y = x / max(b, 1); d = x - max(b, 1); h = x / 8 }}\n")
    said = f"quotients of {dtype} on {device}"
    results = runner.run(text, device, {}, {"x": x, "b": numpy.tile(b, (1, columns))}, ["y", "d", "h"], True)
    if isinstance(results, str):
        return f"{said}: {results}"
    with numpy.errstate(all="ignore"):
        exact = {"y": (x / b, "/", b), "d": (x - b, "-", b), "h": (x / numpy.array(8, number), "/", numpy.full_like(b, 8))}
    for key, (wanted, sign, by) in exact.items():
        found = results[key].reshape(wanted.shape)
        is_right = (found.view(bits) == wanted.view(bits)) | (numpy.isnan(found) & numpy.isnan(wanted))
        if not is_right.all():
            first = tuple(numpy.argwhere(~is_right)[0])
            return f"{said}: {x[first]} {sign} {by[first[0], 0]} is {wanted[first]}, not {found[first]}"
    return None


# Types that a number is stored as, and read again, in the place of f32; those of which AMD's processors have no conversions.
STORED = ["f16", "bf16", "f8e4m3fnuz", "f8e5m2fnuz", "e8m0"]


def check_signs(runner, device, stored, count, step):
    """What is rounded to a short float, and what is read of one, has its sign: zeros, too, and where its negative is
    needed as well. Products of f16 are as exact."""
    generator = numpy.random.default_rng(count)
    x = generator.choice([1.5, -2, 0.25, 3, 0, -0.0, -1], count).astype("f2")
    z = generator.choice([2, -0.5, 4, -0.0, 1, -8], count).astype("f2")
    place = f"@ ({count}):({step})"
    text = (f"kernel k(x: f16 {place}, z: f16 {place}, p: {stored} {place}, q: {stored} {place}, n: f32 {place}, "
            f"m: f32 {place}, d: f32 {place}) = {{ p = x * z; q = -(x * z); n = -p; m = p * 4; d = p / 3 }}\n")
    apart = {"x": numpy.repeat(x, step), "z": numpy.repeat(z, step)}
    found = runner.run(text, device, {}, apart, ["p", "q", "n", "m", "d"], True)
    said = f"signs of {stored} on {device}, {count} by {step}"
    if isinstance(found, str):
        return f"{said}: {found}"
    found = {key: array.reshape(-1)[::step] for key, array in found.items()}
    product = x.astype("f4") * z.astype("f4")
    if stored == "e8m0":
        product = numpy.where(product > 0, product, numpy.float32(2) ** -127)
        product = numpy.exp2(numpy.floor(numpy.log2(product / numpy.float32(1.5))) + 1).astype("f4")
    if stored.endswith("fnuz"):
        product = product + numpy.float32(0)
    wanted = {"n": -product, "m": product * numpy.float32(4), "d": product / numpy.float32(3)}
    if stored == "f16":
        wanted.update(p=product.astype("f2"), q=-product.astype("f2"))
    if stored == "bf16":
        wanted.update((key, (array.view("u4") >> 16).astype("u2")) for key, array in (("p", product), ("q", -product)))
    for key, array in wanted.items():
        if found[key].tobytes() != array.tobytes():
            at = numpy.argmax(found[key] != array)
            return f"{said}: {key} of {x[at]} and {z[at]} is {found[key][at]}, not {array[at]}"
    return None


# y = what it says; z has no NaN. max(x) may leave NaNs out in the first one alone.
NANS = {"softmax": "let e = exp(x - max(x, 1))\n y = e / sum(e, 1)",
        "seen": "y = max(x, 1)",
        "sizes": "y = max(abs(x), 1)",
        "another sum": "y = exp(x - max(x, 1)) / sum(exp(z), 1)",
        "chosen": "y = exp(x - max(x, 1)) / sum(select(gt(x, 0), x, 1), 1)",
        "less": "y = x - max(x, 1)",
        "rounded": "y = x * 2"}


def check_nans(runner, device, dtype, name, columns, fixed):
    """A NaN of any bits is in all that is made of its row, and nothing else is NaN."""
    bits, rows = numpy.dtype(NUMPY[dtype].replace("f", "u")), 10
    is_bfloat = dtype == "bf16"
    infinity = {"bf16": 0x7f80, "f16": 0x7c00, "f32": 0x7f800000}[dtype]
    sign = 1 << (8 * bits.itemsize - 1)
    z = numpy.random.default_rng(11).standard_normal((rows, columns)).astype("f4")
    z = (z.view("u4") >> 16).astype("u2") if is_bfloat else z.astype(NUMPY[dtype])
    x = z.view(bits).copy()
    x[1, columns // 2], x[2, 0], x[3, -1], x[4, 3] = infinity + 1, sign - 1, 2 * sign - 1, infinity | sign | 2
    x[5, 0], x[6, -1] = infinity, infinity | sign
    x[7], x[8] = infinity | sign, 2 * sign - 1
    x[9, :-1] = infinity | sign
    result = "f32" if name in ("seen", "sizes") else "bf16" if name == "rounded" else dtype
    one = name in ("seen", "sizes")
    text = ("param M in 1..64, N in 1..100000\n" +
            f"kernel k(x: {dtype} @ (M,N):(N,1), z: {dtype} @ (M,N):(N,1), " +
            (f"y: {result} @ (M,1):(1,1)" if one else f"y: {result} @ (M,N):(N,1)") + f") = {{ {NANS[name]} }}\n")
    given = {"x": x.view(NUMPY[dtype]), "z": z}
    if "z" not in NANS[name]:
        text, given = text.replace(f"z: {dtype} @ (M,N):(N,1), ", ""), {"x": given["x"]}
    said = f"NaNs of {dtype} in {name} of {columns} columns on {device}"
    found = runner.run(text, device, {"M": rows, "N": columns}, given, ["y"], fixed)
    if isinstance(found, str):
        return f"{said}: {found}"
    x, z = (widened(a, dtype).astype("f8") for a in (x.view(NUMPY[dtype]), z))
    most = x.max(1, keepdims=True)
    power = numpy.exp(x - most)
    wanted = {"softmax": lambda: power / power.sum(1, keepdims=True), "seen": lambda: most,
              "sizes": lambda: abs(x).max(1, keepdims=True),
              "another sum": lambda: power / numpy.exp(z).sum(1, keepdims=True),
              "chosen": lambda: power / numpy.where(x > 0, x, 1).sum(1, keepdims=True),
              "less": lambda: x - most, "rounded": lambda: x * 2}[name]()
    y = widened(found["y"], result).astype("f8").reshape(wanted.shape)
    far = ~((numpy.isnan(y) & numpy.isnan(wanted)) | (y == wanted) | (abs(y - wanted) <= 2e-2 * abs(wanted) + 1e-6))
    if far.any():
        first = tuple(numpy.argwhere(far)[0])
        return f"{said}: {first} is {y[first]}, not {wanted[first]}"
    return None


def check_halves(runner, device):
    """Every byte is the two numbers of 4 bits that it is packed of."""
    x = numpy.arange(256, dtype="u1")
    for name, codes in (("u4", UNSIGNED), ("i4", SIGNED), ("f4e2m1", TINY)):
        text = (f"kernel k(x: u8 @ (256):(1), a: f32 @ (256):(1), b: f32 @ (256):(1), y: u8 @ (256):(1)) = {{\n"
                f" a = {name}(x, 0)\n b = {name}(x, 1)\n y = pack_{name}({name}(x, 0), {name}(x, 1)) }}\n")
        found = runner.run(text, device, {}, {"x": x}, ["a", "b", "y"], True)
        if isinstance(found, str):
            return f"bytes of {name} on {device}: {found}"
        wanted = {"a": codes[x & 15].astype("f4"), "b": codes[x >> 4].astype("f4"), "y": x}
        for key, array in wanted.items():
            if found[key].tobytes() != array.tobytes():
                return f"bytes of {name} on {device}: {key} is {found[key]}, not {array}"
        complaint = check_small(runner, device, name)
        if complaint is not None:
            return complaint
    return None


def check_codes(runner, device, dtype):
    """What is stored as it was loaded has its bits, infinite numbers and NaNs among them."""
    x, i = numpy.arange(256, dtype="u1"), numpy.arange(256, dtype="i4")
    text = (f"kernel k(x: {dtype} @ (256):(1), i: i32 @ (256):(1), y: {dtype} @ (256):(1), z: {dtype} @ (256):(1), "
            f"g: {dtype} @ (256):(1), s: f32 @ (1):(0)) = {{ y = x\n z = x\n g = gather(x, i)\n s = max(abs(index(0)), 0) }}\n")
    found = runner.run(text, device, {}, {"x": x, "i": i}, ["y", "z", "g"], True)
    if isinstance(found, str):
        return f"codes of {dtype} on {device}: {found}"
    for key, array in found.items():
        if array.tobytes() != x.tobytes():
            return f"codes of {dtype} on {device}: {key} is {array.view('u1')}"
    return None


def check_small(runner, device, name):
    """A byte as a number has no sign, not even where it is 0 and made of -0."""
    x = numpy.array([-0.0, 0.0, -0.25, numpy.nan], "f4")
    text = f"kernel k(x: f32 @ (4):(1), y: f32 @ (4):(1)) = {{ y = pack_{name}(x, x) }}\n"
    found = runner.run(text, device, {}, {"x": x}, ["y"], True)
    if isinstance(found, str):
        return f"small numbers as {name} on {device}: {found}"
    wanted = numpy.array([136, 0, 136, 0] if name == "f4e2m1" else [0, 0, 0, 0], "f4")
    if found["y"].tobytes() != wanted.tobytes():
        return f"small numbers as {name} on {device}: {found['y']}, not {wanted}"
    return None


def check_zeros(runner, device):
    """0 - 0 is 0 for whatever takes it, as -0 + 0 is; and what is a byte of an integer of the launch saturates."""
    x = numpy.array([0, -0.0, 1, -2, 0, 4, numpy.inf, 0], "f4")
    text = ("param M in 1..65536\nkernel k(x: f32 @ (8):(1), y: f32 @ (8):(1), z: f16 @ (8):(1), h: f32 @ (8):(1), "
            "v: f32 @ (8):(1), w: f32 @ (8):(1), u: f32 @ (8):(1)) = "
            "{ y = 1 / (0 - x); z = 0 - x; h = u4(M, 1); v = (-x + 0) * 3; w = 0 + -x + -x; "
            "u = (index(0) * 0 - x) * 4 }\n")
    found = runner.run(text, device, {"M": 512}, {"x": x}, ["y", "z", "h", "v", "w", "u"], False)
    if isinstance(found, str):
        return f"zeros on {device}: {found}"
    with numpy.errstate(divide="ignore"):
        wanted = {"y": 1 / (0 - x), "z": (0 - x).astype("f2"), "h": numpy.full(8, 15, "f4"),
                  "v": (-x + 0) * numpy.float32(3), "w": 0 + -x + -x, "u": (0 - x) * 4}
    for key, array in wanted.items():
        if found[key].tobytes() != array.tobytes():
            return f"zeros on {device}: {key} is {found[key]}, not {array}"
    return None


def check_common_quotients(runner, device):
    """Quotients that all elements have in common, as short floats: of sums of rows, and of a single number."""
    rows = numpy.arange(32, dtype="f4").reshape(2, 16)
    thirds = numpy.repeat((rows.sum(1, keepdims=True) / 3).astype("f2"), 16, 1)
    nearest = numpy.full(1024, 89, "u1")  # 160, of 512 / 3
    for text, x, wanted in (
            ("x: f32 @ (2,16):(16,1), y: f16 @ (2,16):(16,1)) = { y = sum(x, 1) / 3 }", rows, thirds),
            ("x: f32 @ 1:1, y: f8e5m2 @ 1024:1) = { y = 2 * x / 3 }", numpy.array([256], "f4"), nearest)):
        found = runner.run(f"kernel k({text}\n", device, {}, {"x": x}, ["y"], True)
        if isinstance(found, str):
            return f"common quotients on {device}: {found}"
        if found["y"].tobytes() != wanted.tobytes():
            return f"common quotients on {device}: {found['y']}, not {wanted}"
    return None


def check_exponents(runner, device, dtype):
    """floor(log2(x)) is exact, of neighbours of powers of two, too."""
    kind = numpy.finfo(dtype)
    powers = numpy.ldexp(numpy.ones(1, dtype), numpy.arange(kind.minexp - kind.nmant, kind.maxexp))
    above = numpy.nextafter(powers, numpy.array(numpy.inf, dtype))
    x = numpy.concatenate([powers, above, numpy.nextafter(powers, numpy.array(0, dtype)),
                           numpy.array([0, -1, numpy.inf, numpy.nan, 3], dtype)]).astype(dtype)
    wanted = numpy.where(x > 0, numpy.frexp(x)[1] - 1, numpy.where(x == 0, -numpy.inf, numpy.nan))
    wanted[numpy.isinf(x)] = numpy.inf
    name = {"f4": "f32", "f8": "f64"}[dtype]
    text = f"kernel k(x: {name} @ ({x.size}):(1), y: {name} @ ({x.size}):(1)) = {{ y = floor(log2(x)) }}\n"
    found = runner.run(text, device, {}, {"x": x}, ["y"], True)
    if isinstance(found, str):
        return f"exponents of {name} on {device}: {found}"
    wrong = ~((found["y"] == wanted) | (numpy.isnan(wanted) & numpy.isnan(found["y"])))
    return f"exponents of {name} on {device}: {found['y'][wrong][:4]} of {x[wrong][:4]}" if wrong.any() else None


def check_long_counts(runner, device, program):
    """Rows of softmax and of layernorm that are longer than registers are read twice and stored once, in whole lines.
    """
    rows, columns = 2, 40000
    command = [runner.tilejit, "run", "-e", program.format("f32", "f32"), "--device", device, "--stats", "--arg",
               f"M={rows}", "--arg", f"N={columns}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        return result.stderr.strip()
    counters = json.loads(result.stdout)["counters"]
    found = counters["memory_bytes"], counters["cache_lines"] - counters["least_cache_lines"]
    wanted = 3 * rows * columns * 4 + rows * 4, 0
    return None if found == wanted else f"long rows on {device}: bytes, and lines too many: {found}, not {wanted}"


def check_conditions(runner, device, multiple):
    """No two kernels of rows of a length that the launch brings are for the same launches: one would never be taken.
    """
    text = (f"param M in 1..1048576, N in 1..1000000 multiple {multiple}\n"
            f"kernel k(x: bf16 {ROWS}, y: bf16 {ROWS}) = {{ y = x / sum(x, 1) }}")
    tiled = subprocess.run([runner.tilejit, "compile", "-e", text, "--stop-after", "tiled", "--target",
                            device.replace("sim:", "")], capture_output=True, text=True, check=True).stdout
    found = [when for when in re.findall(r"^ *when +(.*)$", tiled, re.M) if "has run" not in when]
    is_right = len(found) > 2 and len(set(found)) == len(found)
    return None if is_right else f"kernels on {device}, rows of a multiple of {multiple}: {found}"


# Statements that are copies, and how many bytes they move for each of M x N elements.
COPIES = [
    (f"x: bf16 {ROWS}, y: f8e4m3fn {COLUMNS}", "y = x * 3", 3),
    (f"x: f16 {ROWS}, b: f16 {COLUMNS}, y: f16 {COLUMNS}", "y = x * 0.5 + b", 6),
    (f"x: f16 {ROWS}, b: f16 {ROWS}, w: f16 @ (1,N):(0,1), y: f16 {ROWS}", "y = (x + b) * w", 6),
    (f"x: f32 {ROWS}, w: f32 @ (1,N):(0,1), s: f32 @ (M,1):(1,1), y: f32 {COLUMNS}", "y = (x + w) * s", 8),
    (f"x: bf16 {ROWS}, q: f8e4m3fn {ROWS}, t: f8e4m3fn {COLUMNS}", "q = x * 3; t = q", 4),
    (f"x: f16 {ROWS}, s: f32 @ (1,1):(0,0), q: f16 {ROWS}, t: f16 {COLUMNS}", "q = x / s; t = x * s", 6),
    (f"x: f32 {ROWS}, q: f16 {ROWS}, t: f32 {COLUMNS}", "q = x; t = x + q", 10),
    (f"x: f16 {COLUMNS}, y: f16 {COLUMNS}, z: bf16 {ROWS}, v: f16 {ROWS}", "y = x * 2; z = x + 1; v = x", 8),
]


def check_copy(runner, device, row, fixed):
    """Whole lines, no conflicts in LDS; what is the same for a row or a column comes once a tile, about."""
    arguments, body, bytes_each = row
    rows, columns = 512, 768
    program = f"param M in 1..4096, N in 1..4096\nkernel k({arguments}) = {{ {body} }}"
    how = "--set" if fixed else "--arg"
    result = subprocess.run([runner.tilejit, "run", "-e", program, "--device", device, how, f"M={rows}", how,
                             f"N={columns}", "--stats"], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        return result.stderr.strip()
    counters = json.loads(result.stdout)["counters"]
    least = rows * columns * bytes_each
    most = least * (1.4 if "(1,N)" in arguments else 1)
    if not least <= counters["memory_bytes"] <= most:
        return f"{body} on {device}: {counters['memory_bytes']} bytes, not {least}"
    if counters["cache_lines"] > 1.1 * counters["least_cache_lines"]:
        return f"{body} on {device}: {counters['cache_lines']} lines, not {counters['least_cache_lines']}"
    if counters["lds_cycles"] > counters["least_lds_cycles"]:
        return f"{body} on {device}: conflicts in LDS"
    return None


# Kernels whose destinations are indexed: arguments, the body, and by destination what of the source is stored there, the
# dimension, and whether it is added. Each is stored along the dimension of the first one, or as it is.
def same(x):
    return x


def largest(x):
    return abs(x).max(1, keepdims=True)


SCATTERS = [
    ("src: f32 @ (M,N):(N,1), i: i32 @ M:1, dst: f32 @ (S,N):(N,1)", "copy(src, dst, scatter=i)", {"dst": (same, 0, False)}),
    ("src: f16 @ (M,8,N):(8*N,N,1), i: i64 @ M:1, dst: f16 @ (S,8,N):(8*N,N,1)", "copy(src, dst, scatter=[i, 0])",
     {"dst": (same, 0, False)}),
    ("src: f16 @ (M,N):(N,1), i: i16 @ N:1, dst: f32 @ (M,S):(1,M)", "copy(src, dst, scatter=[i, 1], scale=2)",
     {"dst": (lambda x: x * 2, 1, False)}),
    ("src: f32 @ packed((M,N)), i: u16 @ packed((M)), dst: f32 @ packed((S,N))", "copy(src, dst, scatter=i)",
     {"dst": (same, 0, False)}),
    ("src: f32 @ (M,N):(N,1), i: i32 @ M:1, dst: f32 @ (S,N):(N,1)", "copy(src, dst, scatter_add=i)",
     {"dst": (same, 0, True)}),
    ("src: i8 @ (M,N):(1,M), i: i32 @ N:1, dst: i32 @ (M,S):(S,1)", "copy(src, dst, scatter_add=[i, 1])",
     {"dst": (same, 1, True)}),
    ("src: f16 @ (M,8,N):(8*N,N,1), i: i64 @ M:1, dst: i8 @ (S,8,N):(8*N,N,1)", "{ dst = src * 2, scatter=i }",
     {"dst": (lambda x: x * 2, 0, False)}),
    ("src: f32 @ packed((M,N)), i: u16 @ packed((N)), dst: f16 @ packed((M,S)), z: f32 @ (M,N):(1,M)",
     "{ dst = src + 1, scatter=[i, 1]; z = src - 1 }",
     {"dst": (lambda x: x + 1, 1, False), "z": (lambda x: x - 1, None, False)}),
    ("src: f32 @ (M,N):(N,1), i: i32 @ M:1, dst: f32 @ (S,N):(N,1), a: f32 @ (S,1):(1,1), z: f32 @ (M,N):(N,1)",
     "{ let m = max(abs(src), 1); a = m, scatter=i; dst = src - m, scatter=i; z = m - src }",
     {"dst": (lambda x: x - largest(x), 0, False), "a": (largest, 0, False), "z": (lambda x: largest(x) - x, None, False)}),
    ("src: f32 @ (M,N):(N,1), i: i32 @ N:1, dst: f32 @ (M,S):(S,1)", "{ dst = src - max(abs(src), 1), scatter=[i, 1] }",
     {"dst": (lambda x: x - largest(x), 1, False)}),
    ("src: f32 @ (M,N):(N,1), i: i32 @ N:1, dst: f32 @ (1,S):(S,1)", "{ dst = sum(src, 0), scatter=[i, 1] }",
     {"dst": (lambda x: x.sum(0, keepdims=True), 1, False)}),
    ("src: f16 @ (M,N):(N,1), i: i32 @ M:1, dst: f32 @ (S,N):(N,1), a: i32 @ (S,1):(1,1)",
     "{ dst = src * 2, scatter_add=i; a = sum(src, 1), scatter_add=i }",
     {"dst": (lambda x: x * 2, 0, True), "a": (lambda x: x.sum(1, keepdims=True), 0, True)}),
]


def scattered(source, indices, into, dimension, adds):
    """What NumPy makes of it: indices that are none of the dimension's are left out."""
    found = (indices >= 0) & (indices < into.shape[dimension])
    result = numpy.moveaxis(into.copy(), dimension, 0)
    part, to = numpy.moveaxis(source, dimension, 0)[found], indices[found]
    if adds:
        numpy.add.at(result, to, part.astype(into.dtype))
    else:
        result[to] = part.astype(into.dtype)
    return numpy.moveaxis(result, 0, dimension)


def indices_of(generator, dtype, count, most, repeat):
    """Places of 0 … most - 1, which differ unless they may repeat, and some that are none."""
    indices = generator.integers(0, min(most, 4), count) if repeat else generator.permutation(most)[:count]
    indices[generator.random(count) < 0.2] = most + 1
    indices = indices.astype({"u16": "u2", "i16": "i2"}.get(dtype) or NUMPY[dtype])
    if indices.dtype.kind == "i":
        indices[generator.random(count) < 0.2] = -1
    return indices


def run_indexed(runner, device, text, extents, inputs, wanted, fixed):
    """What is wrong about what the kernel stores, or None."""
    kernel = text.splitlines()[-1]
    said = f"{kernel} {extents} on {device} {'fixed' if fixed else 'at launch'}"
    parameters = {key: extents[key] for key in extents if re.search(rf"\b{key}\b", kernel)}
    found = runner.run(text, device, parameters, inputs, wanted, fixed)
    if isinstance(found, str):
        return f"{said}: {found}"
    return next((f"{said}: elements of {key} differ" for key, array in wanted.items()
                 if not (found[key].reshape(array.shape) == array).all()), None)


def check_scatter(runner, device, row, shape, fixed):
    """Numbers are such that sums are exact in any order. What nobody stores stays; guards of the simulator and the
    host see to it that nothing is written outside."""
    arguments, body, destinations = row
    types = dict(re.findall(r"(\w+): (\w+) @", arguments))
    _, dimension, adds = destinations["dst"]
    generator = numpy.random.default_rng(len(arguments) + shape[0])
    extents = {"M": shape[0], "N": shape[1], "S": shape[dimension] + 5}
    indices = indices_of(generator, types["i"], shape[dimension], extents["S"], adds)
    middle = [8] if ",8," in arguments else []
    source = generator.integers(-50, 50, [shape[0], *middle, shape[1]]).astype(NUMPY[types["src"]])
    inputs, wanted = {"src": source, "i": indices}, {}
    for key, (function, along, adds) in destinations.items():
        stored = function(source.astype("f8"))
        if along is None:
            wanted[key] = stored
            continue
        there = [extents["S"] if mode == along else extent for mode, extent in enumerate(stored.shape)]
        inputs[key] = generator.integers(-50, 50, there).astype(NUMPY[types[key]])
        wanted[key] = scattered(stored, indices.astype("i8"), inputs[key], along, adds)
    for key in inputs:
        is_turned = re.search(rf"\b{key}: \w+ @ \(M,\w\):\(1,M\)", arguments) is not None
        inputs[key] = numpy.asarray(inputs[key], order="F" if is_turned else "C")
    sizes = "M in 1..4096, N in 1..4096, S in 1..8192"
    text = f"param {sizes}\nkernel k({arguments}) = {body}\n"
    return run_indexed(runner, device, text, extents, inputs, wanted, fixed)


# Kernels of views that have columns of a row, A from the first one on or B up to the last one: arguments of a type, the
# body, and each destination as a function of the inputs. Rows of such views adjoin in memory, whatever A and B are.
VIEWS = """param M in 1..4096, A in 1..65536, B in 1..65536
let left = transform(packed((M, A)), [pass_through(M), right_pad(A, B)], [[0], [1]], [[0], [1]])
let right = transform(packed((M, B)), [pass_through(M), left_pad(B, A)], [[0], [1]], [[0], [1]])
"""
VIEWED = [
    ("a: T @ left, b: T @ right, y: T @ packed((M,A+B))", "y = select(lt(index(1), A), a, b)",
     {"y": lambda a, b: numpy.concatenate([a, b], 1)}),
    ("x: T @ packed((M,A+B)), a: T @ left, b: T @ right", "a = x + 1; b = x * 2",
     {"a": lambda a, b, x: x[:, :a.shape[1]] + 1, "b": lambda a, b, x: x[:, a.shape[1]:] * 2}),
    ("a: T @ left, r: T @ (M,1):(1,1), s: T @ (M,1):(1,1), y: T @ packed((M,A+B))", "s = r + 1; y = a + r",
     {"s": lambda r, **_: r + 1, "y": lambda a, b, r: padded_right(a, b) + r}),
    ("a: T @ left, b: T @ right, r: T @ (M,1):(1,1), y: T @ packed((M,A+B))", "r = r + 1; y = select(lt(index(1), A), a, b)",
     {"r": lambda r, **_: r + 1, "y": lambda a, b, r: numpy.concatenate([a, b], 1)}),
    # Where A = B, rows of a and of b are as long, in other columns.
    ("a: T @ left, b: T @ right, x: T @ packed((M,A+B)), y: T @ packed((M,A+B))", "b = x; y = a + x",
     {"b": lambda a, b, x: x[:, a.shape[1]:], "y": lambda a, b, x: padded_right(a, b) + x}),
    ("a: T @ left, b: T @ right, y: T @ packed((M,A+B))", "y = max(a, 1) - min(b, 1) + a",
     {"y": lambda a, b: padded_right(a, b).max(1, keepdims=True) - padded_left(a, b).min(1, keepdims=True)
      + padded_right(a, b)}),
]
SHAPES_OF_VIEWS = [(5, 3, 4), (9, 24, 24), (33, 1, 1), (3, 999, 9), (17, 64, 65), (2, 129, 130), (4, 151, 151)]


def padded_right(a, b):
    return numpy.concatenate([a, 0 * b], 1)


def padded_left(a, b):
    return numpy.concatenate([0 * a, b], 1)


def check_view(runner, device, row, dtype, shape, fixed):
    """Numbers are such that results are exact in each type."""
    arguments, body, destinations = row
    extents = dict(zip("MAB", shape))
    forms = {"left": shape[:2], "right": shape[::2], "packed((M,A+B))": (shape[0], sum(shape[1:])),
             "(M,1):(1,1)": (shape[0], 1)}
    generator = numpy.random.default_rng(sum(shape))
    given = {key: generator.integers(0, 60, forms[form]).astype(NUMPY[dtype])
             for key, form in re.findall(r"(\w+): T @ (\w+\(\(M,A\+B\)\)|\S+?)(?:, |$)", arguments)}
    used = {key: array for key, array in given.items() if key not in ("s", "y")}
    sizes = {"a": numpy.zeros(forms["left"]), "b": numpy.zeros(forms["right"])}
    wanted = {key: function(**{**sizes, **used}).astype(NUMPY[dtype]) for key, function in destinations.items()}
    text = f"{VIEWS}kernel k({arguments.replace('T', dtype)}) = {{ {body} }}\n"
    return run_indexed(runner, device, text, extents, given, wanted, fixed)


def check_permuted(runner, device):
    """Rows go where a table says, which holds each of them once."""
    x, rows = numpy.arange(4 * 37, dtype="f4").reshape(4, 37), [2, 0, 3, 1]
    text = ("kernel k(x: f32 @ (4,37):(37,1), y: f32 @ transform(packed((4,37)), [indexing(4, (2,0,3,1)), "
            "pass_through(37)], [[0],[1]], [[0],[1]])) = { y = x - max(x, 1) }\n")
    wanted = numpy.zeros_like(x)
    wanted[rows] = x - x.max(1, keepdims=True)
    return run_indexed(runner, device, text, {}, {"x": x}, {"y": wanted}, True)


def check_banks(runner):
    """Lanes of gfx1250 that hold more than fits in the first 256 of their registers, on both sides of barriers."""
    generator = numpy.random.default_rng(4)
    x = {f"x{k}": generator.integers(-8, 8, (8, 1000)).astype("f8") for k in range(4)}
    types = {**{key: "f64" for key in [*x, "y"]}, "z": "f32"}
    arguments = ", ".join(f"{key}: {dtype} @ (8,1000):(1000,1)" for key, dtype in types.items())
    text = (f"kernel k({arguments}) = {{ let a = {' + '.join(f'({key} - max({key}, 1))' for key in x)}; "
            f"let b = {' * '.join(x)}; y = a - max(a, 1) + b; z = a - min(b, 1) }}\n")
    a = sum(array - array.max(1, keepdims=True) for array in x.values())
    b = numpy.prod(list(x.values()), axis=0)
    wanted = {"y": a - a.max(1, keepdims=True) + b, "z": (a - b.min(1, keepdims=True)).astype("f4")}
    return run_indexed(runner, "sim:gfx1250", text, {}, x, wanted, True)


# Kernels that read through indices: arguments, the body, by name what is read of an argument through which indices along
# which dimension, and each destination as a function of that and of the other inputs.
GATHERS = [
    ("t: f16 @ (S,N):(N,1), i: i32 @ M:1, s: f32 @ (M,1):(1,1), y: f32 @ (M,N):(N,1)", "y = gather(t, i) * s",
     {"g": ("t", "i", 0)}, {"y": lambda g, s, **_: g * s}),
    ("t: f16 @ (S,8,N):(8*N,N,1), i: i64 @ M:1, x: i8 @ (M,8,N):(8*N,N,1), y: f32 @ (M,8,N):(8*N,N,1)",
     "y = gather(t, [i, 0]) + x", {"g": ("t", "i", 0)}, {"y": lambda g, x, **_: g + x}),
    ("t: f32 @ packed((S,N)), i: u16 @ packed((M)), j: i16 @ M:1, y: f32 @ packed((M,N))",
     "y = gather(t, i) - 2 * gather(t, j)", {"g": ("t", "i", 0), "h": ("t", "j", 0)}, {"y": lambda g, h, **_: g - 2 * h}),
    ("t: f16 @ (M,S):(S,1), u: i8 @ (1,S):(0,1), i: i32 @ N:1, y: f32 @ (M,N):(1,M)",
     "y = gather(t, [i, 1]) * gather(u, [i, 1])", {"g": ("t", "i", 1), "h": ("u", "i", 1)},
     {"y": lambda g, h, **_: g * h}),
    ("t: f16 @ (S,N):(N,1), i: i32 @ M:1, y: f32 @ (M,N):(N,1), s: f32 @ (M,1):(1,1)",
     "let g = gather(t, i); y = g - max(g, 1); s = sum(g, 1)", {"g": ("t", "i", 0)},
     {"y": lambda g, **_: g - g.max(1, keepdims=True), "s": lambda g, **_: g.sum(1, keepdims=True)}),
    ("t: f32 @ (M,S):(S,1), i: i64 @ N:1, y: f32 @ (M,N):(N,1)",
     "y = gather(t, [i, 1]) - max(gather(t, [i, 1]), 1)", {"g": ("t", "i", 1)},
     {"y": lambda g, **_: g - g.max(1, keepdims=True)}),
    ("t: f32 @ (S,N):(N,1), i: i32 @ M:1, w: i8 @ (M,1):(1,0), s: f32 @ (1,N):(0,1)", "s = sum(gather(t, i) * w, 0)",
     {"g": ("t", "i", 0)}, {"s": lambda g, w, **_: (g * w).sum(0, keepdims=True)}),
    ("x: f32 @ (M,N):(N,1), t: f32 @ (S,N):(N,1), i: i32 @ 1:1, y: f32 @ (M,N):(N,1)", "y = x + gather(t, i)",
     {"g": ("t", "i", 0)}, {"y": lambda x, g, **_: x + g}),
    ("t: f32 @ (M,N):(N,1), i: i32 @ M:1, y: f32 @ (M,N):(N,1)", "y = gather(t, i) - t", {"g": ("t", "i", 0)},
     {"y": lambda g, t, **_: g - t}),
    ("t: f16 @ (S,N):(N,1), i: i32 @ M:1, x: f32 @ (M,N):(N,1), y: f32 @ (S,N):(N,1)",
     "y = gather(t, i) + x, scatter=i", {"g": ("t", "i", 0)}, {"y": lambda g, x, **_: g + x}),
]
# Of these, those whose rows may be long: in loops, and shared by workgroups.
LONG_GATHERS, LONG_ROWS = GATHERS[4:6], [(3, 40000), (1, 300001)]


def gathered(table, indices, dimension):
    """What NumPy makes of it: 0 where indices are none of the dimension's."""
    indices = indices.astype("i8")
    found = (indices >= 0) & (indices < table.shape[dimension])
    part = numpy.moveaxis(table.take(numpy.where(found, indices, 0), dimension), dimension, 0).copy()
    part[~found] = 0
    return numpy.moveaxis(part, 0, dimension)


def shape_in(arguments, name, extents):
    form = re.search(rf"\b{name}: \w+ @ (?:packed\()?\(?([\w,]+)", arguments)[1]
    return [extents.get(mode) or int(mode) for mode in form.split(",")]


def check_gather(runner, device, row, shape, fixed):
    """Numbers are such that results are exact; guards see to it that indices which are none are not followed."""
    arguments, body, reads, destinations = row
    types, dimension = arguments_of(arguments), next(iter(reads.values()))[2]
    extents = {"M": shape[0], "N": shape[1], "S": shape[dimension] + 5}
    generator = numpy.random.default_rng(len(arguments) + shape[0])
    table_of = {indices: table for table, indices, _ in reads.values()}
    inputs, wanted = {}, {}
    for key in [key for key in types if key not in destinations]:
        there = shape_in(arguments, key, extents)
        if key in table_of:
            most = shape_in(arguments, table_of[key], extents)[dimension]
            inputs[key] = indices_of(generator, types[key], there[0], most, "scatter" not in body)
        else:
            inputs[key] = generator.integers(-50, 50, there).astype(NUMPY[types[key]])
    wide = {key: array.astype("f8") for key, array in inputs.items()}
    wide.update((key, gathered(wide[table], inputs[indices], along))
                for key, (table, indices, along) in reads.items())
    for key, function in destinations.items():
        wanted[key] = function(**wide)
        if "scatter" in body:
            inputs[key] = generator.integers(-50, 50, shape_in(arguments, key, extents)).astype(NUMPY[types[key]])
            wanted[key] = scattered(wanted[key], inputs["i"].astype("i8"), inputs[key], dimension, False)
    sizes = "M in 1..4096, N in 1..1000000, S in 1..1000005"
    text = f"param {sizes}\nkernel k({arguments}) = {{ {body} }}\n"
    return run_indexed(runner, device, text, extents, inputs, wanted, fixed)


def turned(k, c, s):
    """Heads whose halves a, b become a c - b s and b c + a s."""
    a, b = k[:, :, :1].astype(WIDE), k[:, :, 1:].astype(WIDE)
    return numpy.concatenate([a * c - b * s, b * c + a * s], 2)


def check_append(runner, device, folder, name, fixed):
    """Examples that append keys to a cache: each is where places say, and what is stored nowhere stays."""
    generator = numpy.random.default_rng(5)
    keys, cache = (generator.standard_normal((count, 8, 2, 64)).astype("f2") for count in (9, 30))
    places = generator.permutation(30)[:9].astype("i4")
    places[[2, 5]] = -1, 30
    inputs, numbers, kept, wanted = {"keys": keys, "places": places, "cache": cache}, {}, cache, keys
    if name == "kv_rope":
        c, s = (generator.standard_normal((9, 1, 1, 64)).astype("f4") for _ in range(2))
        kept, wanted = generator.integers(0, 127, cache.shape).astype("u1"), turned(keys, c, s) * 16
        inputs = {"k": keys, "r": keys, "c": c, "s": s, "places": places, "cache": kept}
        numbers = {"scale": 16}
    text = (folder / f"{name}.tile").read_text(encoding="utf-8")
    said = f"examples/{name}.tile on {device} {'fixed' if fixed else 'at launch'}"
    found = runner.run(text, device, {"T": 9, "S": 30}, inputs, ["cache"], fixed, numbers)
    if isinstance(found, str):
        return f"{said}: {found}"
    dtype, stored = "f8e4m3fn" if kept.dtype == "u1" else "f16", (places >= 0) & (places < 30)
    found = found["cache"].reshape(kept.shape)
    others = numpy.setdiff1d(numpy.arange(30), places)
    if not (found[others].view(kept.dtype) == kept[others]).all():
        return f"{said}: what nobody stores has changed"
    worst = float(errors(found[places[stored]], numpy.clip(wanted[stored], -448, 448), dtype).max())
    return None if worst <= 0.51 else f"{said}: off by {worst} units"


def table_of_functions(path):
    row = re.compile(r'^ARRAY_FUNCTION\((\w+), "([^"]+)", (\d), "([\d.]+)", "([\d.]+)"', re.MULTILINE)
    return [(name, text, int(arity), float(single), float(twice))
            for name, text, arity, single, twice in row.findall(pathlib.Path(path).read_text(encoding="utf-8"))]


def any_numbers(generator, dtype, count):
    """Bits of all kinds, numbers of usual size, and those at which functions change."""
    kind = NUMPY[dtype]
    bits = generator.integers(0, 2 ** (8 * numpy.dtype(kind).itemsize) - 1, count // 2, dtype=kind.replace("f", "u"))
    usual = generator.standard_normal(count - count // 2) * generator.choice([0.01, 0.3, 1, 3, 20, 100],
                                                                             count - count // 2)
    edges = [0, -0.0, math.inf, -math.inf, math.nan, 1, -1, 88.72, 88.73, -87.4, -103.9, -104, 128, -126, -149, -150,
             709.7, -745.1, 1023.9, -1074, 4, 6, 1e-40, 2 / 3, 4 / 3, 0.625, 0.5, 1.5, 2.5, -0.5]
    return numpy.concatenate([bits.view(kind), usual.astype(kind), numpy.array(edges, kind)])


def check_function(runner, device, row, dtype, count):
    name, text, arity, single, twice = row
    generator = numpy.random.default_rng(arity + len(name))
    inputs = {f"x{i}": any_numbers(generator, dtype, count) for i in range(arity)}
    if arity > 1:
        inputs["x1"][: count // 8] = inputs["x0"][: count // 8]
    form = {1: f"{text}(x0)", 2: f"x0 {text} x1", 3: ""}[arity] if not text.isidentifier() else \
        f"{text}({', '.join(inputs)})"
    arguments = ", ".join(f"{key}: {dtype} @ (N):(1)" for key in (*inputs, "y"))
    program = f"param N in 1..4194304\nkernel k({arguments}) = {{ y = {form} }}\n"
    found = runner.run(program, device, {"N": len(inputs["x0"])}, inputs, ["y"], True)
    if isinstance(found, str):
        return f"{name} of {dtype} on {device}: {found}"
    with numpy.errstate(all="ignore"):
        wide = [array.astype(WIDE) for array in inputs.values()]
        reference = FUNCTIONS["neg" if name == "neg" else text](*wide).astype(WIDE)
    error = errors(found["y"], reference, dtype)
    worst = numpy.argmax(numpy.where(numpy.isnan(error), numpy.inf, error))
    if not error[worst] <= (single if dtype == "f32" else twice):
        at = ", ".join(str(array[worst]) for array in inputs.values())
        return f"{name} of {dtype} on {device}: {error[worst]:.3f} units at {at}: {found['y'][worst]}"
    return None


def ignore_errors():
    """Of NumPy, in this thread: infinities and NaNs are asked for."""
    numpy.seterr(all="ignore")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tilejit", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--functions", required=True)
    parser.add_argument("--examples", type=pathlib.Path, required=True)
    parser.add_argument("device", nargs="*", default=["host"])
    given = parser.parse_args()
    runner = Runner(given.tilejit, given.library)
    with concurrent.futures.ThreadPoolExecutor(2, initializer=ignore_errors) as pool:
        waiting = []
        for device in given.device:
            is_host = device == "host"
            for row in table_of_functions(given.functions):
                for dtype in ("f32", "f64"):
                    waiting.append(pool.submit(check_function, runner, device, row, dtype, 20000 if is_host else 400))
            for dtype in ("f16", "f32", "f64"):
                waiting.append(pool.submit(check_long_softmax, runner, device, dtype))
                for columns in (5, 301, 9001, 33004, 33007):
                    waiting.append(pool.submit(check_long_norm, runner, device, dtype, columns))
            for mapping in ROW_MAPPINGS if not is_host else []:
                waiting.append(pool.submit(check_row_mapping, runner, device, mapping))
            for dtype in ("bf16", "f32"):
                for name in NANS:
                    for columns, fixed in ((40, True), (9001, False)):
                        waiting.append(pool.submit(check_nans, runner, device, dtype, name, columns, fixed))
            waiting.append(pool.submit(check_halves, runner, device))
            for dtype in ("f8e5m2", "f8e5m2fnuz", "f8e4m3fn", "f8e4m3fnuz", "e8m0"):
                waiting.append(pool.submit(check_codes, runner, device, dtype))
            waiting.append(pool.submit(check_zeros, runner, device))
            waiting.append(pool.submit(check_common_quotients, runner, device))
            for on in (device, "sim:gfx1250") if device == "sim:gfx1201" else (device,):
                waiting += [pool.submit(check_short_quotients, runner, on, stored) for stored in SHORT]
                for stored in STORED:
                    for count, step in ((1, 1), (31, 1), (64, 1), (3, 2), (64, 2)):
                        waiting.append(pool.submit(check_signs, runner, on, stored, count, step))
            for dtype in ("f4", "f8"):
                waiting.append(pool.submit(check_exponents, runner, device, dtype))
            for on in QUOTIENTS.get(device, (device,)):
                for dtype in ("f32", "f64"):
                    waiting.append(pool.submit(check_quotients, runner, on, dtype))
            for dtype in ("f32", "f64") if device in WAVES else []:
                for shape in [(3, 7), (5, 200), (2, 1000), (3, 1003), (3, 4096), (3, 5120), (2, 9001), (1, 50001), FEW_OF_HOST if is_host else FEW]:
                    waiting.append(pool.submit(check_order, runner, device, dtype, shape))
            for row in PROGRAMS:
                for shape in SHAPES + LONG if is_host else SHAPES[1:6]:
                    for fixed in (True, False):
                        if is_host or fixed or shape in SHAPES[2:6:3]:
                            waiting.append(pool.submit(check_program, runner, device, row, shape, fixed))
            for name in ("kv_append", "kv_rope"):
                for fixed in (True, False):
                    waiting.append(pool.submit(check_append, runner, device, given.examples, name, fixed))
            for row in [row for row in PROGRAMS if row[0] in FEW_PROGRAMS]:
                for fixed in (True, False):
                    waiting.append(pool.submit(check_program, runner, device, row, FEW_OF_HOST if is_host else FEW,
                                               fixed))
            for row in REDUCTIONS:
                for fixed in (True, False):
                    waiting.append(pool.submit(check_modes, runner, device, row, fixed))
            extremes = next(row for row in PROGRAMS if row[0] == "column extremes")
            waiting.append(pool.submit(check_program, runner, device, extremes, (300001, 2), True))
            for row in SCATTERS:
                for shape in SHAPES[1:7]:
                    for on in (device, "sim:gfx1030") if device == "sim:gfx1201" else (device,):
                        for fixed in (True, False):
                            waiting.append(pool.submit(check_scatter, runner, on, row, shape, fixed))
            waiting.append(pool.submit(check_permuted, runner, device))
            if device == "sim:gfx1201":
                waiting.append(pool.submit(check_banks, runner))
            for row in VIEWED:
                for dtype in ("f16", "u8", "f64"):
                    for shape in SHAPES_OF_VIEWS:
                        for fixed in (True, False):
                            waiting.append(pool.submit(check_view, runner, device, row, dtype, shape, fixed))
            for row in GATHERS:
                for shape in SHAPES[1:7] + (LONG_ROWS if row in LONG_GATHERS else []):
                    for fixed in (True, False):
                        waiting.append(pool.submit(check_gather, runner, device, row, shape, fixed))
            for row in EXAMPLES:
                for on in (device, *MORE_GPUS.get(device, ())):
                    more = MORE_SHAPES_OF_EXAMPLES if on == device else []
                    for shape in SHAPES + LONG[:1] if is_host else SHAPES_OF_EXAMPLES + more:
                        for fixed in (True, False):
                            waiting.append(pool.submit(check_example, runner, on, row, given.examples, shape, fixed))
            for row in [row for row in EXAMPLES if row[0] not in UNCOUNTED] if device.startswith("sim:") else []:
                for fixed in (True, False):
                    waiting.append(pool.submit(check_counts, runner, device, row, given.examples, fixed))
            for row in [row for row in SHARED if device in row[-1]]:
                for fixed in (True, False):
                    waiting.append(pool.submit(check_shared, runner, device, row, given.examples, fixed))
            if device == "sim:gfx942":
                for program in (LONG_SOFTMAX, LONG_NORM):
                    waiting.append(pool.submit(check_long_counts, runner, device, program))
            for on in ("sim:gfx942", "sim:gfx1201", "sm_90", "host") if device == "sim:gfx942" else ():
                for multiple in (1, 4, 8, 64):
                    waiting.append(pool.submit(check_conditions, runner, on, multiple))
            for row in COPIES if device == "sim:gfx942" else []:
                for fixed in (True, False):
                    waiting.append(pool.submit(check_copy, runner, device, row, fixed))
        problems = [problem for problem in (each.result() for each in waiting) if problem is not None]
    for problem in problems:
        print(problem)
    print(f"{len(waiting) - len(problems)} of {len(waiting)} agree")
    return 1 if problems or not waiting else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Derives ir/array/array_polynomial.def: polynomials of exponentials, logarithms and their kin, for f32 and f64.

    array_coefficients.py > ir/array/array_polynomial.def

Each interpolates its function at the Chebyshev points of its interval, in 60 digits, which comes within a small
factor of the best polynomial; coefficients are then rounded to the type. Needs Debian's python3-mpmath.
"""
import struct

from mpmath import mp, mpf, cos, pi, log, sqrt, tanh, erf, erfc

mp.dps = 60


def fit(function, low, high, degree):
    """Coefficients, lowest first, of the interpolation at Chebyshev points: a near-best polynomial."""
    count = degree + 1
    points = [(mpf(low) + high) / 2 + (mpf(high) - low) / 2 * cos(pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    # Newton's divided differences, then the powers.
    difference = [function(x) for x in points]
    for order in range(1, count):
        for k in range(count - 1, order - 1, -1):
            difference[k] = (difference[k] - difference[k - 1]) / (points[k] - points[k - order])
    powers = [mpf(0)] * count
    for k in range(count - 1, -1, -1):
        powers = [(powers[i - 1] if i > 0 else mpf(0)) - points[k] * powers[i] for i in range(count)]
        powers[0] += difference[k]
    return powers


LOG2 = log(mpf(2))
half = LOG2 / 2 * mpf("1.01")


def exp_tail(r):  # e^r = 1 + r + r^2 q(r)
    return sum(r ** k / mp.factorial(k + 2) for k in range(40))


def exp2_tail(r):  # 2^r = 1 + r q(r)
    return sum(LOG2 ** (k + 1) * r ** k / mp.factorial(k + 1) for k in range(50))


def log_tail(f):  # log(1 + f) = f + f^2 q(f)
    if abs(f) < mpf("0.05"):
        return sum((-1) ** (k + 1) * f ** k / (k + 2) for k in range(60))
    return (log(1 + f) - f) / f ** 2


def tanh_tail(z):  # tanh(x) = x + x^3 q(x^2)
    x = sqrt(z)
    if x < mpf("1e-6"):
        return -mpf(1) / 3 + 2 * z / 15
    mp.dps += 30
    value = (tanh(x) - x) / x ** 3
    mp.dps -= 30
    return value


def erf_tail(z):  # erf(x) = x + x q(x^2)
    x = sqrt(z)
    if x < mpf("1e-15"):
        return 2 / sqrt(pi) - 1
    return erf(x) / x - 1


def erfc_log(x):  # erfc(x) = exp(q(x - 2))
    return log(erfc(x + 2))


ROWS = [  # name, function, low, high, degree in f32, degree in f64, what it is
    ("exp", exp_tail, -half, half, 4, 10, "exp(r) = 1 + r + r^2 q(r), |r| <= log(2) / 2"),
    ("exp2", exp2_tail, -mpf("0.5001"), mpf("0.5001"), 6, 12, "2^r = 1 + r q(r), |r| <= 1/2"),
    ("log", log_tail, -mpf("0.3334"), mpf("0.3334"), 8, 21, "log(1 + f) = f + f^2 q(f), 2/3 <= 1 + f <= 4/3"),
    ("tanh", tanh_tail, mpf(0), mpf("0.392"), 4, 11, "tanh(x) = x + x^3 q(x^2), |x| <= 0.625"),
    ("erf", erf_tail, mpf(0), mpf("1.002"), 6, 14, "erf(x) = x + x q(x^2), |x| <= 1"),
    ("erfc", erfc_log, -mpf("1.001"), mpf(2), 8, None, "erfc(x) = exp(q(x - 2)), 1 <= x <= 4"),
    ("erfc", erfc_log, -mpf("1.001"), mpf(4), None, 24, "the same, 1 <= x <= 6"),
]


def single(x):
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def number(x, is_single):
    return float.hex(single(x) if is_single else float(x))


def emit(name, kind, powers, is_single):
    items = ", ".join(number(p, is_single) for p in powers)
    line = f"POLYNOMIAL({name}_{kind}, {items})"
    out, width = "", 0
    for word in line.split(" "):
        if width + len(word) + 1 > 115:
            out, width = out + "\n           ", 11
        out += (" " if out else "") + word
        width += len(word) + 1
    print(out)


print("""/* SPDX-License-Identifier: MIT */
/* Polynomials, POLYNOMIAL(name, coefficients from that of degree 0 on), of which array_recipe.c makes functions;
 * made by scripts/array_coefficients.py. */
""")
for name, function, low, high, of_single, of_double, what in ROWS:
    print(f"/* {what} */")
    if of_single is not None:
        emit(name, "single", fit(function, low, high, of_single), True)
    if of_double is not None:
        emit(name, "double", fit(function, low, high, of_double), False)

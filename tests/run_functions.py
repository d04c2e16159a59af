#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls the functions that `tilejit compile --function` emits, at every coordinate, and compares with `tilejit eval`.

    run_functions.py --tilejit PATH --library PATH --cc CC --cxx CXX [--clang CLANG] [--nvcc NVCC]

Walks step through their views, and compare at each place. Each map of the table below, and each of a number of random
expressions, becomes C, which is compiled as C99 with its assumptions checked by assert and, where the compiler can, with
the undefined-behaviour sanitizer; as C++17, optimised; and an object file for the host, linked with its header. All must
print the oracle's table. With clang also: the bitcode is linked into a HIP kernel for gfx942, where nothing of it may be
left to call, and LLVM's verifier reads the text. Statements of kernels (statements.py) become C that must give what the
host stores, also where the compiler may multiply and add at once; with nvcc and a GPU, on that, too. Exit status 1 when
anything differs.
"""

import argparse
import dataclasses
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from random import Random

import emitter
import statements

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"]
SECONDS = 120


@dataclasses.dataclass
class Case:
    """A map or a tuple; its parameters as they are declared; values at which it is tried."""

    text: str
    parameters: dict = dataclasses.field(default_factory=dict)
    values: list = dataclasses.field(default_factory=lambda: [{}])
    row_major: bool = False

    @property
    def program(self):
        declared = [f"param {name} in {facts}; " for name, facts in self.parameters.items()]
        return "".join(declared) + self.text


def view(text, parameters=None, values=None):
    return Case(text, parameters or {}, values or [{}], row_major=True)


IM2COL = ("transform(transform(transform(packed((2, H, 5, 3)), [pass_through(2), pad(H, 1, 1), pad(5, 1, 1), "
          "pass_through(3)], [[0],[1],[2],[3]], [[0],[1],[2],[3]]), [pass_through(2), embed((3, H), (1, 1)), "
          "embed((3, 5), (1, 1)), pass_through(3)], [[0],[1],[2],[3]], [[0],[1,2],[3,4],[5]]), "
          "[merge(2, H, 5), merge(3, 3, 3)], [[0,2,4],[1,3,5]], [[0],[1]])")

TILES = ("transform(transform(packed((ceil_div(M, 16), ceil_div(N, 16), 16, 16)), [merge(ceil_div(M, 16), 16), "
         "merge(ceil_div(N, 16), 16)], [[0,2],[1,3]], [[0],[1]]), [slice(round_up(M, 16), 0, M), "
         "slice(round_up(N, 16), 0, N)], [[0],[1]], [[0],[1]])")

CASES = {
    "row_major": Case("(4,8):(8,1)"),
    "one_mode": Case("7:3"),
    "constant": Case("1:0"),
    "hierarchical": Case("((2,2),(3,4)):((1,6),(2,12))"),
    "negative_strides": Case("(5,7):(-1,-10)"),
    "swizzle": Case("Sw<2,1,3> o 0 o (8,16):(16,1)"),
    "swizzle_offset": Case("Sw<3,0,3> o 5 o (8,8):(8,1)"),
    "composed": Case("composition((8,4):(4,1), (2,(4,4)):(1,(2,8)))"),
    "basis": Case("(3,(2,3)):(1@0,(1@0@1,1@1@1))"),
    "identity": Case("make_identity_layout((4,5))"),
    "symbolic": Case("(M,N):(N,1)", {"M": "1..65536", "N": "1..65536"},
                     [{"M": 3, "N": 5}, {"M": 1, "N": 1}, {"M": 7, "N": 2}]),
    "large_strides": Case("(M,4):(N,3000000000)", {"M": "1..65536", "N": "1..1000000"}, [{"M": 5, "N": 1000000}]),
    "above_int32": Case("(2,3):(3000000000,7)"),
    "symbolic_swizzle": Case("Sw<2,0,2> o 0 o (M,16):(16,1)", {"M": "4..4096 multiple 4"}, [{"M": 4}, {"M": 12}]),
    "packed": view("packed((3,4,5))"),
    "merge": view("transform(packed((3,4,5)), [merge(3,4,5)], [[0,1,2]], [[0]])"),
    "merge_symbolic": view("transform(packed((A,B,C)), [merge(A,B,C)], [[0,1,2]], [[0]])",
                           {"A": "1..100", "B": "1..100", "C": "1..100"},
                           [{"A": 2, "B": 3, "C": 4}, {"A": 5, "B": 1, "C": 7}]),
    "unmerge": view("transform(packed((60)), [unmerge(3,4,5)], [[0]], [[0,1,2]])"),
    "pad": view("transform(packed((3,4)), [pad(3,1,2), pad(4,2,0)], [[0],[1]], [[0],[1]])"),
    "im2col": view(IM2COL.replace("H", "4")),
    "im2col_symbolic": view(IM2COL, {"H": "1..512"}, [{"H": 1}, {"H": 6}]),
    "tiles": view(TILES, {"M": "1..65536", "N": "1..65536"}, [{"M": 17, "N": 33}, {"M": 1, "N": 16}]),
    "xor_rows": view("transform(packed((8,8)), [xor(8,8)], [[0,1]], [[0,1]])"),
    "cyclic": view("transform(packed((S,10)), [cyclic_shift(S,10)], [[0,1]], [[0,1]])", {"S": "1..16"},
                   [{"S": s} for s in (1, 3, 16)]),
    "transform": view("merge(2,3,4)"),
    "pad_alone": view("pad(5, 2, 3)"),
    "distribution": view("distribution(rs=[], hs=[[2,2],[2,3]], ps_major=[[1],[2]], ps_minor=[[0],[0]], "
                         "ys_major=[1,2], ys_minor=[1,1])"),
    "tuple": Case("(a / b, a % b, max(a, b) - min(a, 3), a / 8, a % 8)", {"a": "-40..40", "b": "1..9"},
                  [{"a": a, "b": b} for a in (-40, -17, -9, -8, -1, 0, 1, 7, 8, 40) for b in (1, 2, 7, 9)]),
    "negative_divisors": Case("(a / b, a % b)", {"a": "-2147483648..2147483647", "b": "-9..-1"},
                   [{"a": a, "b": b} for a in (-2**31, -2**31 + 1, -7, -1, 0, 1, 8, 2**31 - 1) for b in (-9, -2, -1)]),
    "wide": Case("(a / 1000, a % 1000, a * 3 - b, (a + b) / 16, min(a, b))",
                 {"a": "-1000000000000..1000000000000", "b": "-5..4000000000"},
                 [{"a": a, "b": b} for a in (-10**12, -1001, -1, 0, 999, 10**12) for b in (-5, 0, 4 * 10**9)]),
    "no_arguments": Case("(3, 5 - 7)"),
    "names": Case("(int + 2*t0 + 4*t1_ + 8*names_0, class - names)",
                  {"int": "0..9", "t0": "0..9", "t1_": "0..9", "names_0": "0..9", "class": "0..9", "names": "0..9"},
                  [{"int": 1, "t0": 2, "t1_": 3, "names_0": 4, "class": 5, "names": 6}]),
    "qualified": Case("(m::k,4):(m_k,m::k)", {"m::k": "1..9", "m_k": "1..9"}, [{"m::k": 3, "m_k": 5}]),
    "clash": Case("(4,i0):(i0,1)", {"i0": "1..64"}, [{"i0": 5}]),
}


@dataclasses.dataclass
class Walk:
    """A walk from each start of a box through a view."""

    view: Case
    step: tuple
    count: int = None  # None: until all have left the view
    starts: tuple = None  # None: the whole view

    @property
    def parts(self):
        text = f"step={self.step}".replace(" ", "")
        text += f", count={self.count}" if self.count else ""
        return text + (f", starts={self.starts}".replace(" ", "") if self.starts else "")

    @property
    def program(self):
        declared = self.view.program[:-len(self.view.text)]
        return f"{declared}walk({self.view.text}, {self.parts})"


WALKS = {
    "walk_flat": Walk(view("packed((5,7))"), (0, 2)),
    "walk_back": Walk(view("packed((5,7))"), (0, -3)),
    "walk_merge": Walk(view("transform(strided((M,24), (32,1)), [merge(M,24)], [[0,1]], [[0]])", {"M": "1..65536"},
                            [{"M": 1}, {"M": 5}]), (16,), 9, (16,)),
    "walk_im2col": Walk(view(IM2COL, {"H": "1..512"}, [{"H": 1}, {"H": 6}]), (0, 4)),
    "walk_pixels": Walk(view(IM2COL.replace("H", "4")), (7, 5), 6),
    "walk_xor": Walk(view("transform(packed((8,8)), [xor(8,8)], [[0,1]], [[0,1]])"), (1, 3)),
    "walk_tiles": Walk(view(TILES, {"M": "1..65536", "N": "1..65536"}, [{"M": 17, "N": 33}]), (0, 5), 8, (17, 4)),
    "walk_still": Walk(view("packed((3,4))"), (0, 0), 2),
    "walk_wide": Walk(view("strided((3,4), (3000000000,7))"), (1, 1)),
}


OPERANDS = {"x": (-100, 100), "y": (0, 60), "z": (1, 9), "w": (-9, -2), "v": (-10**10, 10**10), "k": (0, 5)}


def random_expression(random, depth):
    if depth == 0 or random.random() < 0.1:
        return random.choice([*OPERANDS, *OPERANDS, str(random.choice((0, 1, 2, 3, 8, 100, -1, -7, 2**31, -2**31)))])
    a, b = random_expression(random, depth - 1), random_expression(random, depth - 1)
    kind = random.choice(("infix", "infix", "infix", "divide", "bits", "shift", "extremum"))
    if kind == "divide":
        return f"({a} {random.choice('/%')} {random.choice(('z', 'w', '8', '7', '-3', '(z*z + 1)'))})"
    if kind == "bits":
        return f"(({a} % 64) {random.choice('&|^')} ({b} % 32))"
    if kind == "shift":
        return f"({a} {random.choice(('<<', '>>'))} {random.choice(('k', '2'))})"
    if kind == "extremum":
        return f"{random.choice(('min', 'max'))}({a}, {b})"
    return f"({a} {random.choice('+-*')} {b})"


def random_cases(count):
    """Tuples of four random expressions, at values that include the ends of all ranges."""
    random = Random(20)
    for number in range(count):
        values = [{name: random.choice((low, high, random.randint(low, high), random.randint(low, high)))
                   for name, (low, high) in OPERANDS.items()} for _ in range(8)]
        facts = {name: f"{low}..{high}" for name, (low, high) in OPERANDS.items()}
        expressions = ", ".join(random_expression(random, random.randint(2, 5)) for _ in range(4))
        yield f"random_{number}", Case(f"({expressions})", facts, values)


class Failure(Exception):
    """Something did not do what it should."""


def run(words, folder, data=None):
    """Runs a program that must succeed, and gives its output."""
    process = subprocess.run([str(word) for word in words], cwd=folder, input=data, capture_output=True, text=True,
                             timeout=SECONDS, check=False)
    if process.returncode != 0:
        raise Failure(f"{' '.join(map(str, words))[:600]}\nended with {process.returncode}:\n"
                      f"{process.stdout[-3000:]}{process.stderr[-3000:]}")
    return process.stdout


def leaves_of(value):
    return [leaf for item in value for leaf in leaves_of(item)] if isinstance(value, list) else [value]


def coordinates_of(lengths, row_major):
    """Every coordinate, in the order of `eval --table`."""
    if row_major:
        return list(itertools.product(*map(range, lengths)))
    return [reversed_one[::-1] for reversed_one in itertools.product(*map(range, reversed(lengths)))]


@dataclasses.dataclass
class Table:
    """What a map is at the values of its parameters."""

    coordinates: list
    values: list
    valid: list


class Tester:
    def __init__(self, given, folder):
        self.tilejit = pathlib.Path(given.tilejit).resolve()
        self.emitter = emitter.Emitter(given.library)
        self.folder = folder

    def text(self, name, case, form):
        """The file with the functions in C, or their declarations, which the command writes."""
        file = self.folder / f"{name}.{'c.h' if form == 'c' else 'h'}"
        if not file.exists():
            walk = ["--walk", case.parts] if isinstance(case, Walk) else []
            run([self.tilejit, "compile", "-e", case.view.program if walk else case.program, "--emit", form,
                 "--function", name, "-o", file, *walk], self.folder)
        return file

    def compile(self, name, case, form, target):
        """The file with the functions that LLVM makes."""
        file = self.folder / f"{name}.{'ll' if form == 'llvm' else form}"
        file.write_bytes(self.emitter.function(case.program, name, form, target))
        return file

    def table(self, case, values):
        settings = [f"--set={name}={value}" for name, value in values.items()]
        if case.text.startswith("(") and ":" not in case.text:
            text = run([self.tilejit, "eval", *settings, case.program], self.folder)
            value = [int(word) for word in text.strip("()\n").split(",")]
            return Table([()], [value], [None])
        table = json.loads(run([self.tilejit, "eval", "--table", "--json", *settings, case.program], self.folder))
        lengths = leaves_of(table["lengths"])
        count = len(table["values"])
        return Table(coordinates_of(lengths, case.row_major), list(map(leaves_of, table["values"])),
                     table.get("valid", [None] * count))

    def can_compile(self, case):
        """Whether facts show that the case is defined everywhere, and fits in 64 bits."""
        words = [self.tilejit, "compile", "-e", case.program, "--emit", "c"]
        process = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
        if process.returncode not in (0, 1) or (process.returncode == 1 and "error: TJ" not in process.stderr):
            raise Failure(f"{case.program} ended with {process.returncode}: {process.stderr}")
        return process.returncode == 0

    def tuples(self, cases):
        """The tables of tuples, all by one run of the command."""
        lines = ["; ".join([*(f"let {name} = {value}" for name, value in values.items()), case.text])
                 for case in cases for values in case.values]
        output = run([self.tilejit, "eval", "-"], self.folder, "\n".join(lines) + "\n").splitlines()
        bare = (line.replace("(", "").replace(")", "") for line in output)
        return [Table([()], [[int(word) for word in line.split(",")]], [None]) for line in bare]

    def check_text(self, output, expected):
        """Compares the printed values; what is not valid may have any."""
        lines = output.splitlines()
        if len(lines) != len(expected):
            raise Failure(f"{len(lines)} lines were printed, not {len(expected)}")
        for line, (call, values, valid) in zip(lines, expected):
            printed = [int(word) for word in line.split()]
            flag = printed.pop() if valid is not None else None
            if flag != valid or (valid != 0 and printed != values):
                raise Failure(f"{call}: {values}, valid: {valid}; but the function says {line}")


def literal(word):
    return str(word) if word > -2**31 else f"({word + 1} - 1)"


def rows_of(rows):
    """C for a table of integers; of which no row is empty."""
    return ", ".join("{" + ", ".join(["0", *map(literal, row)]) + "}" for row in rows)


def words_of(begin, end):
    return [f"row[{k + 1}]" for k in range(begin, end)]


def calls_of(name, tables):
    """C that prints, at each coordinate of each (values of parameters, table), components and validity; and what it
    should print."""
    table = tables[0][1]
    count, rank = len(table.values[0]), len(table.coordinates[0]) + len(tables[0][0])
    names = [name] if count == 1 else [f"{name}_{k}" for k in range(count)]
    names += [f"{name}_valid"] if table.valid[0] is not None else []
    arguments = ", ".join(f"(long long){function}({', '.join(words_of(0, rank))})" for function in names)
    code = f'    printf("{" ".join(["%lld"] * len(names))}\\n", {arguments});\n'
    rows, expected = [], []
    for values, at in tables:
        for coordinate, found, valid in zip(at.coordinates, at.values, at.valid):
            rows.append((*coordinate, *values.values()))
            expected.append((f"{name}{rows[-1]}", found, valid))
    return (rows, code), expected


def steps_of(name, walk, table, values):
    """C that prints, for each start, offset and validity at all of its places; and what it should print."""
    at = {coordinate: (value[0], valid) for coordinate, value, valid in
          zip(table.coordinates, table.values, table.valid)}
    lengths = [max(axis) + 1 for axis in zip(*table.coordinates)]
    leaves = [-(-length // abs(step)) for length, step in zip(lengths, walk.step) if step != 0]
    count = walk.count or min(leaves)
    rank = len(lengths)
    begin = ", ".join(["&walk", *words_of(0, rank + len(values))])
    there = ", ".join(["&walk", *words_of(rank, rank + len(values))])
    code = (f"    {name}_walk walk;\n    {name}_init({begin});\n    for (int k = 0; k < {count}; k++) {{\n"
            f'      printf("%lld %lld\\n", (long long){name}_offset({there}), (long long){name}_valid({there}));\n'
            f"      {name}_next({there});\n    }}\n")
    rows, expected = [], []
    for start in itertools.product(*map(range, walk.starts or lengths)):
        rows.append((*start, *values.values()))
        for k in range(count):
            place = tuple(s + k * step for s, step in zip(start, walk.step))
            value, valid = at.get(place, (0, 0))
            expected.append((f"{name} at {place}", [value], valid))
    return (rows, code), expected


# What is called has its own types: here all integers are of 64 bits, and fit.
PROGRAM = """#include <assert.h>
#include <stdio.h>
{headers}#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
{parts}int main(void) {{
{calls}  return 0;
}}
"""

PART = """static void part_{number}(void) {{
  static const long long rows[][{words}] = {{{rows}}};
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {{
    const long long *row = rows[i];
    (void)row;
{code}  }}
}}
"""


def program_of(headers, calls):
    """A program of (rows, what is done with each)."""
    return PROGRAM.format(headers="".join(f'#include "{header.name}"\n' for header in headers),
                          parts="".join(PART.format(number=number, words=len(rows[0]) + 1, rows=rows_of(rows), code=code)
                                        for number, (rows, code) in enumerate(calls)),
                          calls="".join(f"  part_{number}();\n" for number in range(len(calls))))


def has_sanitizer(given, folder):
    probe = folder / "probe.c"
    probe.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    words = [given.cc, "-fsanitize=undefined", str(probe), "-o", str(folder / "probe")]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def add_random_cases(tester, calls, expected):
    """What facts allow of the random cases; their tuples' tables come at once."""
    cases = {name: case for name, case in random_cases(40) if tester.can_compile(case)}
    if len(cases) < 25:
        raise Failure(f"only {len(cases)} random cases are defined everywhere")
    tables = iter(tester.tuples(cases.values()))
    for name, case in cases.items():
        call, outcomes = calls_of(name, [(values, next(tables)) for values in case.values])
        calls.append(call)
        expected.extend(outcomes)
    return cases


def check_on_host(given, tester, folder):
    calls, expected = [], []
    for name, case in CASES.items():
        call, outcomes = calls_of(name, [(values, tester.table(case, values)) for values in case.values])
        calls.append(call)
        expected.extend(outcomes)
    for name, walk in WALKS.items():
        for values in walk.view.values:
            call, outcomes = steps_of(name, walk, tester.table(walk.view, values), values)
            calls.append(call)
            expected.extend(outcomes)
    cases = CASES | WALKS | add_random_cases(tester, calls, expected)
    sources = [tester.text(name, case, "c") for name, case in cases.items()]
    headers = [tester.text(name, case, "header") for name, case in cases.items()]
    objects = [tester.compile(name, case, "obj", "host") for name, case in cases.items()]
    (folder / "by_source.c").write_text(program_of(sources, calls), encoding="utf-8")
    (folder / "by_object.c").write_text(program_of(headers, calls), encoding="utf-8")
    sanitize = ["-fsanitize=undefined", "-fno-sanitize-recover=all"] if has_sanitizer(given, folder) else []
    check = ["-DTILEJIT_ASSUME(fact)=assert(fact)", "-O0"]
    for words in ([given.cc, "-std=c99", *WARNINGS, *check, *sanitize, "by_source.c"],
                  [given.cxx, "-x", "c++", "-std=c++17", *WARNINGS, "-O1", "by_source.c"],
                  [given.cc, "-std=c99", *WARNINGS, "-O0", "by_object.c", *objects],
                  [given.cxx, "-x", "c++", "-std=c++17", *WARNINGS, "-O0", "by_object.c", "-x", "none", *objects]):
        run([*words, "-o", folder / "program"], folder)
        tester.check_text(run([folder / "program"], folder), expected)
    return len(cases), len(expected)


HIP = """#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __global__ __attribute__((global))
{headers}namespace source {{
{sources}}}
{kernels}"""

KERNEL = """extern "C" __global__ void kernel_{name}(const int *arguments, int *by_bitcode, int *by_source) {{
  unsigned i = __builtin_amdgcn_workitem_id_x();
  by_bitcode[i] = (int)({calls});
  by_source[i] = (int)({source_calls});
}}
"""


WALKING_KERNEL = """extern "C" __global__ void kernel_{name}(const int *arguments, int *by_bitcode, int *by_source) {{
  unsigned i = __builtin_amdgcn_workitem_id_x();
  {name}_walk walk;
  source::{name}_walk source_walk;
  {name}_init(&walk{begin});
  source::{name}_init(&source_walk{begin});
  for (int k = 0; k < arguments[1]; k++) {{
    by_bitcode[i] += {name}_valid(&walk{there}) ? (int){name}_offset(&walk{there}) : -1;
    by_source[i] += source::{name}_valid(&source_walk{there}) ? (int)source::{name}_offset(&source_walk{there}) : -1;
    {name}_next(&walk{there});
    source::{name}_next(&source_walk{there});
  }}
}}
"""


def walking_kernel_of(name, walk):
    rank, parameters = len(walk.step), len(walk.view.parameters)
    given = [f", arguments[i + {k}]" for k in range(rank + parameters)]
    return WALKING_KERNEL.format(name=name, begin="".join(given), there="".join(given[rank:]))


def kernel_of(name, header):
    """A kernel that calls each function of the header, as it was compiled and as its source is."""
    signatures = [line.split(" ", 2)[2] for line in header.read_text(encoding="utf-8").splitlines()
                  if line.startswith("TILEJIT_DECLARATION ")]
    counts = {signature.split("(")[0]: 0 if "(void)" in signature else signature.count(",") + 1
              for signature in signatures}
    calls = [f"{function}({', '.join(f'arguments[i + {k}]' for k in range(count))})"
             for function, count in counts.items()]
    return KERNEL.format(name=name, calls=" + ".join(calls), source_calls=" + ".join(f"source::{c}" for c in calls))


def check_in_hip(given, tester, folder):
    """Whatever is called must have become part of the kernels, from the bitcode as from the C."""
    sources, headers, kernels, link = [], [], [], []
    for name, case in (CASES | WALKS).items():
        sources.append(tester.text(name, case, "c"))
        headers.append(tester.text(name, case, "header"))
        kernels.append(walking_kernel_of(name, case) if name in WALKS else kernel_of(name, headers[-1]))
        link += ["-Xclang", "-mlink-bitcode-file", "-Xclang", tester.compile(name, case, "bc", "gfx942")]
    include = lambda files: "".join(f'#include "{file.name}"\n' for file in files)
    (folder / "kernels.hip").write_text(
        HIP.format(headers=include(headers), sources=include(sources), kernels="".join(kernels)), encoding="utf-8")
    run([given.clang, "-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx942", "-O2",
         *link, "-S", "kernels.hip", "-o", "kernels.s"], folder)
    assembly = (folder / "kernels.s").read_text(encoding="utf-8")
    for name in CASES | WALKS:
        if f"\nkernel_{name}:" not in assembly:
            raise Failure(f"there is no kernel for {name}")
        if re.search(rf"^{name}(_[0-9]+|_valid|_init|_next|_offset)?:", assembly, flags=re.M):
            raise Failure(f"something of {name} is left outside of its kernel")
    for mark in ("s_swappc", "s_setpc", "s_getpc"):
        if mark in assembly:
            raise Failure(f"the kernels call functions ({mark})")


def check_text_of_llvm(given, tester, folder):
    """What is emitted as text is read back, verified, and made into assembly."""
    for target, options in (("host", []), ("gfx1100", ["--target=amdgcn-amd-amdhsa", "-mcpu=gfx1100", "-nogpulib"])):
        texts = [tester.compile(name, case, "llvm", target) for name, case in (CASES | WALKS).items()]
        run([given.clang, *options, "-Wno-override-module", "-S", *texts], folder)


def has_gpu():
    """Whether there is one of NVIDIA's."""
    found = shutil.which("nvidia-smi")
    return found is not None and subprocess.run([found, "-L"], capture_output=True, check=False).returncode == 0


def check_statements(given, tested, folder):
    """Each compiler's program must store what kernels do: as strict C, as C++ and C with all that the processor has, and
    with nvcc as CUDA, on a GPU."""
    sanitize = ["-fsanitize=undefined", "-fno-sanitize-recover=all"] if has_sanitizer(given, folder) else []
    ways = [[given.cc, "-std=c99", *WARNINGS, "-DTILEJIT_ASSUME(fact)=assert(fact)", "-O0", *sanitize],
            [given.cxx, "-x", "c++", "-std=c++17", *WARNINGS, "-O2", "-march=native"]]
    ways += [[given.clang, "-std=gnu17", *WARNINGS, "-O1", "-march=native"]] if given.clang else []
    ways += [[given.nvcc, "-x", "cu", "-std=c++17", "-arch=native"]] if given.nvcc and has_gpu() else []
    for words in ways:
        for program in tested.programs():
            (folder / "statements.c").write_text(program, encoding="utf-8")
            run([*words, "statements.c", "-lm", "-o", "statements"], folder)
            run([folder / "statements"], folder)
        for difference in tested.differences():
            raise Failure(f"{' '.join(words[:3])}: {difference}")


def check_statements_in_hip(given, tested, folder):
    """Functions of statements must become part of kernels whole: they call nothing, in LDS or from a library."""
    for program in tested.programs():
        (folder / "statements.hip").write_text(program, encoding="utf-8")
        run([given.clang, "-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx942", "-O1",
             "-include", "__clang_hip_runtime_wrapper.h", "-S", "statements.hip", "-o", "statements.s"], folder)
        assembly = (folder / "statements.s").read_text(encoding="utf-8")
        for name in re.findall(r"^KERNEL (\w+)", program, flags=re.M):
            if f"\n{name}:" not in assembly:
                raise Failure(f"there is no kernel {name}")
        if "s_swappc" in assembly:
            raise Failure("kernels of statements call functions")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libtilejit.so")
    for name in ("tilejit", "cc", "cxx"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--clang")
    parser.add_argument("--nvcc")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            tester = Tester(given, folder)
            print("%d maps at %d coordinates, in four forms" % check_on_host(given, tester, folder))
            (folder / "of_statements").mkdir()
            tested = statements.Statements(pathlib.Path(given.tilejit).resolve(), folder / "of_statements", run)
            check_statements(given, tested, folder / "of_statements")
            print(f"statements of {len(tested.expected)} destinations")
            if given.clang:
                check_in_hip(given, tester, folder)
                check_text_of_llvm(given, tester, folder)
                check_statements_in_hip(given, tested, folder / "of_statements")
                print("linked into kernels, and verified")
        except Failure as failure:
            print(failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

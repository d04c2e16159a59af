#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what a place of a walk takes to the table of docs/embedding.md: vector instructions in a loop on gfx942.

    run_walk_cost.py --tilejit PATH --clang CLANG --document FILE [--ck FOLDER]

Each case below is a descriptor as CK Tile's kernels make it, in CK Tile's C++, and a step. The functions that `tilejit
compile --walk` emits, as C and as bitcode, go into a kernel whose loop takes the offset at each place, or -1 where it is
not valid, and goes on; clang compiles it, and the loop's vector instructions are counted. Each must take as many as the
table says, and no more than the table says of CK Tile. With the folder of CK Tile's headers (`include` of
composable_kernel), the same text is compiled with them, the same loop made of their coordinates, and the last column is
measured too; what they include of HIP are stand-ins. Prints the table. Exit status 1 when it is not the document's, or a
row has more than CK Tile's.
"""

import argparse
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile

SECONDS = 120


@dataclasses.dataclass
class Case:
    """A descriptor, whose text both compilers read, and a walk through it."""

    parameters: dict
    text: str
    step: str
    count: str
    starts: str

    @property
    def declared(self):
        return "".join(f"param {name} in {facts}; " for name, facts in self.parameters.items())

    @property
    def walk(self):
        return f"step={self.step}, count={self.count}, starts={self.starts}"

    @property
    def program(self):
        """One whose value is the walk."""
        before, returned = self.text.split("return ")
        return f"{self.declared}{before}walk({returned.rstrip(';')}, {self.walk})"


GEMM = {"M": "1..32768", "N": "1..32768", "K": "64..8192 multiple 64"}
PADDED = {"M": "1..32768", "K": "1..8192"}
IMAGE = {"N": "1..64", "H": "1..224", "W": "1..224", "C": "32..1024 multiple 32"}
ATTENTION = {"L": "128..32768 multiple 128", "D": "64..256 multiple 64", "S": "64..4096 multiple 64"}

NAIVE = "return make_naive_tensor_descriptor(make_tuple({}), make_tuple({}), number<8>{{}}, number<1>{{}});"

GEMM_PADDED = """
const auto naive = make_naive_tensor_descriptor(make_tuple(M, K), make_tuple(K, 1), number<8>{}, number<1>{});
return transform_tensor_descriptor(
    naive,
    make_tuple(make_right_pad_transform(M, integer_least_multiple(M, 128) - M),
               make_right_pad_transform(K, integer_least_multiple(K, 64) - K)),
    make_tuple(sequence<0>{}, sequence<1>{}),
    make_tuple(sequence<0>{}, sequence<1>{}));"""

GEMM_SPLIT = """
const auto naive = make_naive_tensor_descriptor(make_tuple(M, K), make_tuple(K, 1), number<8>{}, number<1>{});
return transform_tensor_descriptor(
    naive,
    make_tuple(make_unmerge_transform(make_tuple(K / 8, number<8>{})), make_pass_through_transform(M)),
    make_tuple(sequence<1>{}, sequence<0>{}),
    make_tuple(sequence<0, 2>{}, sequence<1>{}));"""

LDS_PADDED = """
const auto packs = make_naive_tensor_descriptor(
    make_tuple(number<8>{}, number<128>{}, number<8>{}), make_tuple(number<129 * 8>{}, number<8>{}, number<1>{}),
    number<8>{}, number<1>{});
return transform_tensor_descriptor(
    packs,
    make_tuple(make_pass_through_transform(number<128>{}),
               make_merge_transform(make_tuple(number<8>{}, number<8>{}))),
    make_tuple(sequence<1>{}, sequence<0, 2>{}),
    make_tuple(sequence<0>{}, sequence<1>{}));"""

LDS_XOR = """
const auto lines = make_naive_tensor_descriptor(
    make_tuple(number<64>{}, number<8>{}, number<8>{}), make_tuple(number<64>{}, number<8>{}, number<1>{}),
    number<8>{}, number<1>{});
const auto exchanged = transform_tensor_descriptor(
    lines,
    make_tuple(make_xor_transform(make_tuple(number<64>{}, number<8>{})), make_pass_through_transform(number<8>{})),
    make_tuple(sequence<0, 1>{}, sequence<2>{}),
    make_tuple(sequence<0, 1>{}, sequence<2>{}));
return transform_tensor_descriptor(
    exchanged,
    make_tuple(make_pass_through_transform(number<64>{}),
               make_merge_transform_v3_division_mod(make_tuple(number<8>{}, number<8>{}))),
    make_tuple(sequence<0>{}, sequence<1, 2>{}),
    make_tuple(sequence<0>{}, sequence<1>{}));"""

CONVOLUTION = """
const auto image = make_naive_tensor_descriptor(
    make_tuple(N, H, W, C), make_tuple(H * W * C, W * C, C, 1), number<8>{}, number<1>{});
const auto padded = transform_tensor_descriptor(
    image,
    make_tuple(make_pass_through_transform(N), make_pad_transform(H, 1, 1), make_pad_transform(W, 1, 1),
               make_pass_through_transform(C)),
    make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}, sequence<3>{}),
    make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}, sequence<3>{}));
const auto windows = transform_tensor_descriptor(
    padded,
    make_tuple(make_pass_through_transform(N), make_embed_transform(make_tuple(Y, H), make_tuple(1, 1)),
               make_embed_transform(make_tuple(X, W), make_tuple(1, 1)), make_pass_through_transform(C)),
    make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}, sequence<3>{}),
    make_tuple(sequence<0>{}, sequence<1, 2>{}, sequence<3, 4>{}, sequence<5>{}));
return transform_tensor_descriptor(
    windows,
    make_tuple(make_merge_transform(make_tuple(N, H, W)), make_merge_transform(make_tuple(Y, X, C))),
    make_tuple(sequence<0, 2, 4>{}, sequence<1, 3, 5>{}),
    make_tuple(sequence<0>{}, sequence<1>{}));"""

CONVOLUTION_1X1 = """
const auto image = make_naive_tensor_descriptor(
    make_tuple(N, H, W, C), make_tuple(H * W * C, W * C, C, 1), number<8>{}, number<1>{});
return transform_tensor_descriptor(
    image,
    make_tuple(make_merge_transform(make_tuple(N, H, W)), make_pass_through_transform(C)),
    make_tuple(sequence<0, 1, 2>{}, sequence<3>{}),
    make_tuple(sequence<0>{}, sequence<1>{}));"""

V_TRANSPOSED = """
const auto naive = make_naive_tensor_descriptor(make_tuple(L, D), make_tuple(S, 1), number<8>{}, number<1>{});
return transform_tensor_descriptor(
    naive,
    make_tuple(make_pass_through_transform(D), make_pass_through_transform(L)),
    make_tuple(sequence<1>{}, sequence<0>{}),
    make_tuple(sequence<0>{}, sequence<1>{}));"""

K_PADDED = """
const auto naive = make_naive_tensor_descriptor(make_tuple(L, D), make_tuple(S, 1), number<8>{}, number<1>{});
return transform_tensor_descriptor(
    naive,
    make_tuple(make_right_pad_transform(L, integer_least_multiple(L, 128) - L),
               make_right_pad_transform(D, integer_least_multiple(D, 32) - D)),
    make_tuple(sequence<0>{}, sequence<1>{}),
    make_tuple(sequence<0>{}, sequence<1>{}));"""

K_BUFFERS = """
const auto copied = make_naive_tensor_descriptor(
    make_tuple(number<3>{}, number<8>{}, number<4>{}, number<4>{}, number<4>{}, number<8>{}),
    make_tuple(number<4352>{}, number<544>{}, number<136>{}, number<32>{}, number<8>{}, number<1>{}),
    number<8>{}, number<1>{});
return transform_tensor_descriptor(
    copied,
    make_tuple(make_merge_transform(make_tuple(number<3>{}, number<8>{}, number<4>{}, number<4>{})),
               make_merge_transform(make_tuple(number<4>{}, number<8>{}))),
    make_tuple(sequence<0, 1, 3, 2>{}, sequence<4, 5>{}),
    make_tuple(sequence<0>{}, sequence<1>{}));"""

V_LDS = """
const auto padded = make_naive_tensor_descriptor(
    make_tuple(number<4>{}, number<2>{}, number<64>{}, number<8>{}),
    make_tuple(number<1152>{}, number<576>{}, number<8>{}, number<1>{}), number<8>{}, number<1>{});
return transform_tensor_descriptor(
    padded,
    make_tuple(make_merge_transform(make_tuple(number<2>{}, number<64>{})),
               make_merge_transform(make_tuple(number<4>{}, number<8>{}))),
    make_tuple(sequence<1, 2>{}, sequence<0, 3>{}),
    make_tuple(sequence<0>{}, sequence<1>{}));"""

THREE = "constexpr index_t Y = 3; constexpr index_t X = 3;" + CONVOLUTION
FILTER = IMAGE | {"Y": "1..7", "X": "1..7"}
IMAGES = IMAGE | {"N": "128..256 multiple 128"}

CASES = {
    "GEMM: A by rows": Case(GEMM, NAIVE.format("M, K", "K, 1"), "(0, 64)", "K / 64", "(M, 64)"),
    "GEMM: B by columns": Case(GEMM, NAIVE.format("N, K", "1, N"), "(0, 64)", "K / 64", "(N, 64)"),
    "GEMM: A in tiles, padded": Case(PADDED, GEMM_PADDED, "(0, 64)", "(K + 63) / 64", "(M, 64)"),
    "GEMM: A in packs of K": Case(GEMM, GEMM_SPLIT, "(8, 0, 0)", "K / 64", "(8, M, 8)"),
    "GEMM: A in LDS, padded, along K": Case({}, LDS_PADDED, "(0, 16)", "4", "(128, 16)"),
    "GEMM: A in LDS, exchanged by xor, along K": Case({}, LDS_XOR, "(0, 16)", "4", "(64, 16)"),
    "GEMM: A in LDS, exchanged by xor, along M": Case({}, LDS_XOR, "(16, 0)", "4", "(16, 64)"),
    "convolution: image, 3 x 3, along K": Case(IMAGE, THREE, "(0, 32)", "9 * C / 32", "(N * H * W, 32)"),
    "convolution: image, any filter, along K":
        Case(FILTER, CONVOLUTION, "(0, 32)", "Y * X * C / 32", "(N * H * W, 32)"),
    "convolution: image, 3 x 3, along pixels":
        Case(IMAGES, THREE, "(128, 0)", "N * H * W / 128", "(128, 9 * C)"),
    "convolution: image, 1 x 1, along K": Case(IMAGE, CONVOLUTION_1X1, "(0, 32)", "C / 32", "(N * H * W, 32)"),
    "convolution: image, 1 x 1, along pixels":
        Case(IMAGES, CONVOLUTION_1X1, "(128, 0)", "N * H * W / 128", "(128, C)"),
    "attention: K along keys": Case(ATTENTION, NAIVE.format("L, D", "S, 1"), "(128, 0)", "L / 128", "(128, D)"),
    "attention: V, transposed, along keys": Case(ATTENTION, V_TRANSPOSED, "(0, 32)", "L / 32", "(D, 32)"),
    "attention: K in tiles, padded, along keys":
        Case({"L": "1..32768", "D": "1..256", "S": "1..4096"}, K_PADDED, "(128, 0)", "(L + 127) / 128", "(128, D)"),
    "attention: K in LDS, along buffers": Case({}, K_BUFFERS, "(128, 0)", "3", "(128, 32)"),
    "attention: K in LDS, along the head": Case({}, K_BUFFERS, "(0, 8)", "4", "(384, 8)"),
    "attention: V in LDS, along keys": Case({}, V_LDS, "(0, 16)", "2", "(128, 16)"),
    "attention: V in LDS, along the head": Case({}, V_LDS, "(32, 0)", "4", "(32, 32)"),
}

# Starts come from memory, so that nothing is known of them but what the walk says. A statement of assembly takes the
# place of what would be loaded, at no instruction.
KERNEL = """
extern "C" __global__ void kernel({parameters}const int *at, int count) {{
  unsigned i = __builtin_amdgcn_workitem_id_x();
  {begin}
#pragma clang loop unroll(disable)
  for (int k = 0; k < count; k++) {{
    asm volatile("; place %0" : : "v"({valid} ? {offset} : -1));
    {go_on}
  }}
}}
"""

STAND_INS = """
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
static inline __device__ __host__ unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)(((unsigned long long)a * b) >> 32);
}
static inline __device__ int __clz(int x) { return __builtin_clz(x); }
extern "C" __device__ float __ocml_exp_f32(float);
static inline __device__ float __logf(float x) { return __builtin_logf(x); }
__device__ float exp2f(float);
namespace std { __device__ float expf(float); __device__ float logf(float); }
static inline __device__ void __syncthreads() { __builtin_amdgcn_s_barrier(); }
struct stand_in_index { unsigned x, y, z; };
static __device__ stand_in_index threadIdx, blockIdx;
template <class... T> static inline __device__ int printf(const char *, T...) { return 0; }
"""

ATTRIBUTES = "".join(f"#define __{name}__ __attribute__(({name}))\n" for name in ("host", "device", "global", "shared"))

DESCRIPTORS = """
#include "ck_tile/core/config.hpp"
#include "ck_tile/core/algorithm/coordinate_transform.hpp"
#include "ck_tile/core/tensor/tensor_descriptor.hpp"
#include "ck_tile/core/tensor/tensor_coordinate.hpp"
using namespace ck_tile;
"""


class Failure(Exception):
    """Something did not do what it should."""


def run(words, folder):
    process = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, timeout=SECONDS,
                             check=False)
    if process.returncode != 0:
        raise Failure(f"{' '.join(map(str, words))}\nended with {process.returncode}:\n{process.stderr[-3000:]}")
    return process.stdout


def vector_instructions(clang, folder, source, *options):
    """In the loop around the place."""
    (folder / "kernel.hip").write_text(source, encoding="utf-8")
    assembly = run([clang, "-x", "hip", "--cuda-device-only", "--offload-arch=gfx942", "-nogpuinc", "-nogpulib", "-O3",
                    "-std=c++17", "-w", *options, "-S", "kernel.hip", "-o", "-"], folder)
    before, after = assembly.split("; place", 1)
    label = next(name for name in reversed(re.findall(r"^(\.LBB\w+):", before, flags=re.M))
                 if re.search(rf"s_cbranch_\w+ {name}\n", after))
    body = before.split(f"{label}:")[1] + "; place" + re.split(rf"s_cbranch_\w+ {label}\n", after)[0]
    return len(re.findall(r"^\s+v_", body, flags=re.M))


def emitted(given, folder, case, form, *options):
    """The file of the walk's functions in one form."""
    file = folder / f"walk.{form}"
    run([given.tilejit, "compile", "-e", case.declared + case.text, "--emit", form, *options, "--function", "at",
         "--walk", case.walk, "-o", file], folder)
    return file


def ours(given, folder, case):
    """Of the C, and of the bitcode."""
    parameters = "".join(f", {name}" for name in case.parameters)
    coordinate = "".join(f", at[i + {k}]" for k in range(case.step.count(",") + 1))
    kernel = KERNEL.format(
        parameters="".join(f"int {name}, " for name in case.parameters),
        begin=f"at_walk walk; at_init(&walk{coordinate}{parameters});", valid=f"at_valid(&walk{parameters})",
        offset=f"at_offset(&walk{parameters})", go_on=f"at_next(&walk{parameters});")
    source, header = (emitted(given, folder, case, form).read_text(encoding="utf-8") for form in ("c", "header"))
    code = emitted(given, folder, case, "bc", "--target", "gfx942")
    return (vector_instructions(given.clang, folder, ATTRIBUTES + source + kernel),
            vector_instructions(given.clang, folder, ATTRIBUTES + header + kernel, "-Xclang", "-mlink-bitcode-file",
                                "-Xclang", code))


def theirs(given, folder, case):
    headers = folder / "hip"
    headers.mkdir(exist_ok=True)
    for name in ("version", "fp16", "bf16", "fp8"):
        (headers / f"hip_{name}.h").write_text("#pragma once\n", encoding="utf-8")
    (headers / "hip_runtime.h").write_text(STAND_INS, encoding="utf-8")
    parameters = ", ".join(f"int {name}" for name in case.parameters)
    names = ", ".join(case.parameters)
    coordinate = ", ".join(f"at[i + {k}]" for k in range(case.step.count(",") + 1))
    kernel = KERNEL.format(
        parameters=parameters + ", " * bool(parameters),
        begin=f"const auto d = descriptor({names}); auto c = make_tensor_coordinate(d, make_multi_index({coordinate}));",
        valid="coordinate_has_valid_offset_assuming_top_index_is_valid(d, c)", offset="c.get_offset()",
        go_on=f"move_tensor_coordinate(d, c, make_multi_index{case.step});")
    source = f"{DESCRIPTORS}__device__ auto descriptor({parameters}) {{ {case.text} }}\n{kernel}"
    return vector_instructions(given.clang, folder, ATTRIBUTES + source, "-D__HIPCC__", f"-I{folder}", f"-I{given.ck}")


def rows_of(document):
    """(case, of the C, of the bitcode, of CK Tile), as the document has them."""
    found = re.findall(r"^\| (\w+: [^|]+) \| (\d+) \| (\d+) \| (\d+) \|$", document.read_text(encoding="utf-8"), flags=re.M)
    return [(name, *map(int, counts)) for name, *counts in found]


def measured(given, recorded):
    """The same rows; of CK Tile as recorded, where its headers are not given."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case_name, case in CASES.items():
            of_them = theirs(given, folder, case) if given.ck else recorded.get(case_name, -1)
            yield (case_name, *ours(given, folder, case), of_them)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tilejit", "clang", "document"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    parser.add_argument("--ck", type=pathlib.Path)
    given = parser.parse_args()
    given.tilejit = given.tilejit.resolve()
    known = rows_of(given.document)
    try:
        rows = list(measured(given, {name: counts[-1] for name, *counts in known}))
    except Failure as failure:
        print(failure)
        return 1
    for row in rows:
        print("| %s | %d | %d | %d |" % row)
    more = [name for name, *of_us, of_them in rows if max(of_us) > of_them]
    print(*(f"{name}: more than CK Tile's" for name in more), sep="\n", end="")
    if rows != known:
        print("the document's table differs")
    return rows != known or bool(more)


if __name__ == "__main__":
    sys.exit(main())

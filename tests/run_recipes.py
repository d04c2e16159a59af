#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Launches kernels by what `tilejit launch --json` prints, in a program that knows HSA and nothing of tilejit.

    run_recipes.py --tilejit PATH --client PATH

The client is tests/hsa/launch_client.c. Each row of KERNELS runs on every simulated processor, with its parameters
passed at launch and fixed at compile time; every byte of the results is compared with what Python computes. Exit status
1 when anything differs.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import typing

PROCESSORS = ("gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201")
MEMBERS = ["symbol", "grid", "block", "lds_bytes", "kernarg_bytes", "kernarg", "code"]


def transposed(source, m, n):
    """Words of an (m, n) matrix in row-major order, in column-major order."""
    return b"".join(source[4 * (i * n + j):4 * (i * n + j + 1)] for j in range(n) for i in range(m))


def padded(source, m, n):
    """Rows of n halves, with the fill behind each."""
    return b"".join(source[2 * n * i:2 * n * (i + 1)] + struct.pack("<3H", 7, 7, 7) for i in range(m))


def offsets(_, m, n):
    """Offsets of (m, n):(n, 1), first mode fastest."""
    return b"".join(struct.pack("<q", i * n + j) for j in range(n) for i in range(m))


@dataclasses.dataclass
class Kernel:
    """A kernel of two parameters, what it makes of them, and the values to launch it with."""

    text: str
    has_source: bool
    element_bytes: int
    expected: typing.Callable
    sizes: tuple


KERNELS = {
    "transposed": Kernel("param M in 1..32768, N in 1..32768\n"
                         "kernel transposed(src: f32 @ (M,N):(N,1), dst: f32 @ (M,N):(1,M)) = copy(src, dst)",
                         True, 4, transposed, ((60, 44), (3, 5))),
    "padded": Kernel("param M in 1..4096, N in 1..4096\n"
                     "let rows = transform(packed((M,N)), [pass_through(M), right_pad(N, 3)], [[0],[1]], [[0],[1]])\n"
                     "kernel padded(src: u16 @ rows, dst: u16 @ packed((M,N+3))) = copy(src, dst, fill=7)",
                     True, 2, padded, ((9, 35),)),
    "numbered": Kernel("param M in 1..2147483647, N in 1..1073741824\n"
                       "kernel numbered(dst: i64 @ (M,N):(1,M)) = offsets(dst, (M,N):(N,1))",
                       False, 8, offsets, ((11, 23),)),
}


class Failure(Exception):
    """What went wrong, in words."""


def output_of(command, **options):
    done = subprocess.run(command, capture_output=True, check=False, **options)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr.decode()}")
    return done.stdout


def check_form(recipe):
    """Whether the object has the members of its definition, and the argument block no gaps."""
    if list(recipe) != MEMBERS or list(recipe["code"]) != ["target", "bytes"]:
        raise Failure(f"the recipe has the members {list(recipe)}")
    offset = 0
    for word in recipe["kernarg"]:
        members = ["argument", "value", "alignment"] if word["kind"] == "pointer" else ["name", "value"]
        if list(word) != ["offset", "bytes", "kind", *members] or word["offset"] != offset:
            raise Failure(f"a word of the argument block is {word}")
        offset += word["bytes"]
    if offset != recipe["kernarg_bytes"]:
        raise Failure(f"{offset} bytes of {recipe['kernarg_bytes']} are described")
    if any(grid % block for grid, block in zip(recipe["grid"], recipe["block"])):
        raise Failure("workgroups are not whole")


class Bench:
    """A folder in which kernels are compiled, and launched by the client."""

    def __init__(self, given, folder, processor):
        self.given, self.folder, self.processor = given, folder, processor

    def tilejit(self, command, name, options, *more):
        program = self.folder / f"{name}.tile"
        program.write_text(KERNELS[name].text, encoding="utf-8")
        return output_of([self.given.tilejit, command, program, "--target", self.processor, *options, *more])

    def compile(self, name, fixed):
        self.tilejit("compile", name, fixed, "--emit", "hsaco", "-o", self.folder / "code.hsaco")

    def recipe(self, name, fixed, passed):
        text = self.tilejit("launch", name, fixed, *passed, "--json")
        (self.folder / "recipe.json").write_bytes(text)
        recipe = json.loads(text)
        check_form(recipe)
        return recipe

    def launch(self, name, m, n):
        """Launches what was compiled, with the recipe, and compares."""
        kernel, count = KERNELS[name], m * n
        source = bytes((i * 167 + i // 251) % 256 for i in range(count * kernel.element_bytes))
        expected = kernel.expected(source, m, n)
        files = {"dst": b"\xa5" * len(expected)} | ({"src": source} if kernel.has_source else {})
        for argument, data in files.items():
            (self.folder / argument).write_bytes(data)
        output_of([self.given.client, self.processor, "code.hsaco", "recipe.json",
                   *(f"{argument}={argument}:{argument}.out" for argument in files)], cwd=self.folder)
        if (self.folder / "dst.out").read_bytes() != expected:
            raise Failure("the result is wrong")
        if kernel.has_source and (self.folder / "src.out").read_bytes() != source:
            raise Failure("the source was written")


def options_of(option, m, n):
    return [f"--{option}", f"M={m}", f"--{option}", f"N={n}"]


def run_kernel(bench, name):
    """Launches a kernel dynamically and statically. Gives the symbols that the recipes named."""
    symbols = set()
    bench.compile(name, [])
    for m, n in KERNELS[name].sizes:
        symbols.add(bench.recipe(name, [], options_of("arg", m, n))["symbol"])
        bench.launch(name, m, n)
    m, n = KERNELS[name].sizes[0]
    bench.compile(name, options_of("set", m, n))
    bench.recipe(name, options_of("set", m, n), [])
    bench.launch(name, m, n)
    return symbols


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilejit", required=True, help="the command")
    parser.add_argument("--client", required=True, help="the client")
    given = parser.parse_args()
    given.tilejit, given.client = (str(pathlib.Path(path).resolve()) for path in (given.tilejit, given.client))
    complaints = []
    for processor in PROCESSORS:
        for name, kernel in KERNELS.items():
            with tempfile.TemporaryDirectory() as folder:
                os.environ |= {"TILEJIT_CACHE": "on", "XDG_CACHE_HOME": folder}
                try:
                    symbols = run_kernel(Bench(given, pathlib.Path(folder), processor), name)
                    if len(symbols) != len(kernel.sizes):
                        raise Failure(f"the sizes were to have different kernels, not {sorted(symbols)}")
                except Failure as failure:
                    complaints.append(f"{processor}: {name}: {failure}")
    print(*complaints, sep="\n")
    print(f"{len(PROCESSORS) * len(KERNELS)} kernels, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

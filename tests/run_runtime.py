#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs kernels of a bundle in a program that is linked with libtilejit-runtime alone.

    run_runtime.py --tilejit PATH --root FOLDER --client PATH --library libtilejit-runtime.so [--strip STRIP]
    run_runtime.py --tilejit PATH --root FOLDER --cmake CMAKE --cc CC --simulator libtilejit-hsasim.so --work FOLDER

The client is tests/runtime/runtime_client.c. Each row of KERNELS runs on every device of DEVICES; every byte that it
writes is compared with what `tilejit run` computes on the host, and what it prepares with what `tilejit launch` prints.
The second form builds the library where no LLVM is found and by a C compiler alone, and the client against it. Exit
status 1 when anything differs.
"""

import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

TARGETS = ("host", "gfx90a", "gfx942", "gfx1100")
DEVICES = ("host", "sim:gfx90a", "sim:gfx942", "sim:gfx1100")
MOST_BYTES = 400 * 1024
DAMAGE_STEP = 191

# Kernel, the file that has it, parameters.
KERNELS = (
    ("walk", "examples/conv_walk.tile", {"N": 1, "H": 5, "W": 6, "C": 32}),
    ("each", "examples/conv_walk.tile", {"N": 1, "H": 3, "W": 4, "C": 32}),
    ("im2col", "examples/im2col.tile", {"H": 10, "W": 11}),
    ("swizzle", "examples/swizzle.tile", {}),
    ("unswizzle", "examples/swizzle.tile", {}),
    ("transpose", "examples/transpose.tile", {"M": 130, "N": 77}),
    ("rows", "examples/walk.tile", {"M": 40}),
    ("widen", "tests/runtime/more.tile", {"M": 9, "N": 24}),
    ("bytes", "tests/runtime/more.tile", {"M": 65, "N": 136}),
    ("numbered", "tests/runtime/more.tile", {"M": 3, "N": 16}),
)


class Failure(Exception):
    """What went wrong, in words."""


def output_of(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False, text=True)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def npy(kind, count, data):
    """An array of one dimension, as a file of NumPy's."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count},), }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def elements_of(file):
    data = file.read_bytes()
    return data[10 + struct.unpack("<H", data[8:10])[0]:]


class Bench:
    """A folder with the bundle of all kernels, where the client runs them."""

    def __init__(self, given, client, folder):
        self.given, self.client, self.folder = given, client, folder
        self.bundle = folder / "kernels.tjb"

    def make_bundle(self):
        files = dict.fromkeys(self.given.root / file for _, file, _ in KERNELS)
        targets = [f"--target={target}" for target in TARGETS]
        output_of(self.given.tilejit, "bundle", *files, *targets, "-o", self.bundle)
        listed = json.loads(output_of(self.given.tilejit, "bundle", "--list", self.bundle, "--json"))
        if {entry["kernel"] for entry in listed} != {name for name, _, _ in KERNELS}:
            raise Failure(f"the bundle has {listed}")

    def arguments_of(self, name, parameters):
        """Name, NumPy's type, size in bytes, and whether it is read: of each argument."""
        for line in output_of(self.client, "describe", self.bundle, name, "gfx942", *parameters).splitlines():
            argument, kind, count, is_read, _ = line.split()
            yield argument, kind, int(count), int(is_read)

    def expected(self, name, file, parameters, arguments):
        """Files of what the arguments hold before and after: those before are made here."""
        words = []
        for argument, kind, count, is_read in arguments:
            size = count * int(kind[2:])
            before = bytes((i * 7 + i // 97) % 97 for i in range(size)) if is_read else bytes(size)
            (self.folder / f"{argument}.before").write_bytes(before)
            (self.folder / f"{argument}.npy").write_bytes(npy(kind, count, before))
            words += [f"--{'in' if is_read else 'out'}={argument}={self.folder / argument}.npy"]
        output_of(self.given.tilejit, "run", self.given.root / file, "--kernel", name,
                  *(f"--arg={word}" for word in parameters), *words)
        return {argument: elements_of(self.folder / f"{argument}.npy") for argument, *_ in arguments}

    def check_runs(self, name, file, parameters):
        arguments = list(self.arguments_of(name, parameters))
        expected = self.expected(name, file, parameters, arguments)
        for device in DEVICES:
            files = [f"{argument}={self.folder / argument}.before:{self.folder / argument}.after"
                     for argument, *_ in arguments]
            output_of(self.client, "run", self.bundle, name, device, *parameters, *files)
            for argument, data in expected.items():
                if (self.folder / f"{argument}.after").read_bytes() != data:
                    raise Failure(f"{name} on {device}: '{argument}' holds something else than after tilejit run")

    def check_recipe(self, name, file, parameters, target):
        recipe = json.loads(output_of(self.given.tilejit, "launch", self.given.root / file, "--kernel", name,
                                      "--target", target, *(f"--arg={word}" for word in parameters), "--json"))
        block = b"".join((word["value"] or 0).to_bytes(word["bytes"], "little", signed=True)
                         for word in recipe["kernarg"])
        wanted = " ".join(map(str, [recipe["symbol"], *recipe["grid"], *recipe["block"], recipe["lds_bytes"],
                                    block.hex()]))
        found = output_of(self.client, "prepare", self.bundle, name, target, *parameters).strip()
        if found != wanted:
            raise Failure(f"{name} for {target} is prepared as\n{found}\nnot as\n{wanted}")

    def check(self):
        self.make_bundle()
        for name, file, values in KERNELS:
            parameters = [f"{parameter}={value}" for parameter, value in values.items()]
            self.check_runs(name, file, parameters)
            for target in TARGETS[1:]:
                self.check_recipe(name, file, parameters, target)
        return output_of(self.client, "damage", self.bundle, DAMAGE_STEP).strip()


def check_needs(given):
    """The library and the client need nothing but the C library; and the size of the library."""
    for binary in (given.client, given.library):
        needed = output_of("ldd", binary)
        if any(word in needed for word in ("LLVM", "jansson", "stdc++", "z3", "libtilejit.so")):
            raise Failure(f"{binary} needs\n{needed}")
    with tempfile.TemporaryDirectory() as folder:
        stripped = pathlib.Path(folder) / "stripped"
        output_of(given.strip, "-o", stripped, given.library)
        if stripped.stat().st_size > MOST_BYTES:
            raise Failure(f"{given.library} has {stripped.stat().st_size} bytes, stripped")


def build_alone(given):
    """The library built by itself, and the client; both in a folder, with the simulator."""
    given.work.mkdir(parents=True, exist_ok=True)
    out = given.work / "build"
    output_of(given.cmake, "-S", given.root, "-B", out, "-DTILEJIT_RUNTIME_ONLY=ON", f"-DCMAKE_C_COMPILER={given.cc}",
              "-DCMAKE_CXX_COMPILER=/nonexistent/c++", "-DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON")
    cache = (out / "CMakeCache.txt").read_text(encoding="utf-8")
    if "LLVM_DIR" in cache or "JANSSON" in cache:
        raise Failure("a build of the runtime library alone looks for LLVM or jansson")
    output_of(given.cmake, "--build", out, "--parallel", "2")
    simulator = out / given.simulator.name
    if not simulator.exists():
        simulator.symlink_to(given.simulator)
    client = out / "runtime_client"
    output_of(given.cc, "-I", given.root / "include", "-o", client, given.root / "tests/runtime/runtime_client.c",
              "-L", out, "-ltilejit-runtime", f"-Wl,-rpath,{out}")
    return client


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tilejit", "root"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    for name in ("client", "library", "simulator", "work"):
        parser.add_argument(f"--{name}", type=pathlib.Path)
    for name in ("cmake", "cc", "strip"):
        parser.add_argument(f"--{name}")
    given = parser.parse_args()
    try:
        client = build_alone(given) if given.work else given.client
        if given.strip:
            check_needs(given)
        with tempfile.TemporaryDirectory() as folder:
            print(f"{len(KERNELS)} kernels on {len(DEVICES)} devices,", Bench(given, client, pathlib.Path(folder)).check())
    except Failure as failure:
        print(failure)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what is linked against what LLD makes of the same objects: every byte that a loader maps.

usage: run_link.py --library PATH --lld PATH --target TARGET FOLDER...

Takes every kernel of the .tile files below the folders that compiles for the target.
"""
import argparse
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import emitter

SEGMENT = struct.Struct("<IIQQQQQQ")


def kernels(folders):
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.tile")):
            for name in re.findall(r"^kernel\s+(\w+)\s*\(", path.read_text(encoding="utf-8"), re.MULTILINE):
                yield path, name


def loaded(code):
    """The program headers, and the bytes of every segment."""
    at, count = struct.unpack_from("<Q", code, 32)[0], struct.unpack_from("<H", code, 56)[0]
    headers = [SEGMENT.unpack_from(code, at + i * SEGMENT.size) for i in range(count)]
    end = max(offset + size for _, _, offset, _, _, size, _, _ in headers)
    return headers, code[at:end]


def is_same(compiler, options, folder, path, kernel):
    """Whether both link the kernel alike; None: it does not compile."""
    obj, theirs = folder / "kernel.o", folder / "theirs"
    try:
        obj.write_bytes(compiler.emit(path, "obj", options.target, kernel))
        ours = compiler.emit(path, "hsaco", options.target, kernel)
    except emitter.Refusal:
        return None
    subprocess.run([options.lld, "-shared", "--no-undefined", "--discard-all", "-o", theirs, obj], check=True)
    return loaded(ours) == loaded(theirs.read_bytes())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True, help="libtilejit.so")
    parser.add_argument("--lld", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("folders", nargs="+")
    options = parser.parse_args()
    compiler = emitter.Emitter(options.library)
    compared = differing = 0
    with tempfile.TemporaryDirectory() as folder:
        for path, kernel in kernels(options.folders):
            same = is_same(compiler, options, pathlib.Path(folder), path, kernel)
            compared += same is not None
            if same is False:
                differing += 1
                print(f"{path}: {kernel}: differs from what LLD makes")
    print(f"{compared} kernels, {differing} differ")
    return 1 if differing or not compared else 0


if __name__ == "__main__":
    sys.exit(main())

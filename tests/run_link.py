#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what the command links against what LLD makes of the same objects: every byte that a loader maps.

usage: run_link.py --tilejit PATH --lld PATH --target TARGET FOLDER...

Takes every kernel of the .tile files below the folders that compiles for the target.
"""
import argparse
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

SEGMENT = struct.Struct("<IIQQQQQQ")


def kernels(folders):
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.tile")):
            for name in re.findall(r"^kernel\s+(\w+)\s*\(", path.read_text(encoding="utf-8"), re.MULTILINE):
                yield path, name


def compile_to(options, path, kernel, form, output):
    words = [options.tilejit, "compile", str(path), "--kernel", kernel, "--target", options.target, "--emit", form,
             "-o", str(output)]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def loaded(code):
    """The program headers, and the bytes of every segment."""
    at, count = struct.unpack_from("<Q", code, 32)[0], struct.unpack_from("<H", code, 56)[0]
    headers = [SEGMENT.unpack_from(code, at + i * SEGMENT.size) for i in range(count)]
    end = max(offset + size for _, _, offset, _, _, size, _, _ in headers)
    return headers, code[at:end]


def is_same(options, folder, path, kernel):
    """Whether both link the kernel alike; None: it does not compile."""
    obj, ours, theirs = (folder / name for name in ("kernel.o", "ours", "theirs"))
    if not compile_to(options, path, kernel, "obj", obj) or not compile_to(options, path, kernel, "hsaco", ours):
        return None
    subprocess.run([options.lld, "-shared", "--no-undefined", "--discard-all", "-o", theirs, obj], check=True)
    return loaded(ours.read_bytes()) == loaded(theirs.read_bytes())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tilejit", required=True)
    parser.add_argument("--lld", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("folders", nargs="+")
    options = parser.parse_args()
    compared = differing = 0
    with tempfile.TemporaryDirectory() as folder:
        for path, kernel in kernels(options.folders):
            same = is_same(options, pathlib.Path(folder), path, kernel)
            compared += same is not None
            if same is False:
                differing += 1
                print(f"{path}: {kernel}: differs from what LLD makes")
    print(f"{compared} kernels, {differing} differ")
    return 1 if differing or not compared else 0


if __name__ == "__main__":
    sys.exit(main())

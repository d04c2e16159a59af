#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a random .npy matrix, or checks that one file is the transposition of another. Standard library only."""
import array
import ast
import random
import sys

MAGIC = b"\x93NUMPY\x01\x00"


def write(path, values, shape):
    header = repr({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(len(MAGIC) + 2 + len(header) + 1) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(MAGIC + len(header).to_bytes(2, "little") + header + values.tobytes())


def read(path):
    with open(path, "rb") as file:
        content = file.read()
    begin = 10 + int.from_bytes(content[8:10], "little")
    values = array.array("f")
    values.frombytes(content[begin:])
    return values, ast.literal_eval(content[10:begin].decode().strip())["shape"]


def make(path, rows, columns):
    random.seed(1)
    write(path, array.array("f", (random.random() for _ in range(rows * columns))), (rows, columns))
    print(f"wrote {rows} x {columns} random floats")


def check(source, result):
    values, (rows, columns) = read(source)
    transposed, shape = read(result)
    assert len(transposed) == rows * columns, f"{len(transposed)} elements"
    wrong = sum(transposed[j * rows + i] != values[i * columns + j] for i in range(rows) for j in range(columns))
    print(f"{rows * columns - wrong} of {rows * columns} elements are right; the first row of the result begins "
          f"{[round(x, 4) for x in transposed[:4]]}, the first column of the source "
          f"{[round(values[i * columns], 4) for i in range(4)]}")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        check(sys.argv[2], sys.argv[3])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The transpositions of bench_gpu, and what PyTorch makes of them, on an NVIDIA GPU: in one run, by one clock.

    bench_gpu_torch.py BENCH_GPU [--table] [--types f32,f16] [--case PERMUTATION] [--every 3] [--elements N]

BENCH_GPU is the program of bench_gpu.c, which says what the cases are. Every way of transposing puts its work on one
stream of PyTorch's, whose events measure it: ten launches one behind another, the best of five such rounds.

    static, dynamic  kernels of tilejit, for the one shape and for all
    permute          permute, and copy into memory that exists
    compiled         torch.compile of permute and contiguous, for the one shape

Parts are of the rate at which PyTorch copies an array of the largest case's size. Compilation is not in the times. What
each kernel stores is compared with what permute does. Prints one JSON object, or with --table lines to read.
"""

import math
import sys

import torch

import tilejit

from torch_clock import LAUNCHES, begin, best_microseconds, print_report

TYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "u8": torch.uint8}
FORMS = ("static", "dynamic")
WAYS = (*FORMS, "permute", "compiled")


def extents_of(case):
    return [int(extent) for extent in case["shape"].split(",")]


def random_array(extents, dtype):
    """Of numbers that are none of NaN. The last axis is the fastest one."""
    array = torch.empty(extents[::-1], dtype=dtype, device="cuda")
    array.view(torch.uint8).random_(0, 64)
    return array


def measure(case, dtype, device, ahead):
    """Microseconds by way."""
    extents = extents_of(case)
    last = len(extents) - 1
    axes = [last - int(digit) for digit in reversed(case["permutation"])]
    source = random_array(extents, dtype)
    wanted = source.permute(axes).contiguous()
    destination = torch.zeros_like(wanted)
    torch._dynamo.reset()  # each shape is compiled for itself, none for a family of them
    compiled = torch.compile(lambda array: array.permute(axes).contiguous(), dynamic=False)
    starts = {"permute": lambda: destination.copy_(source.permute(axes)), "compiled": lambda: compiled(source)}
    for form in FORMS:
        kernel = tilejit.kernel(case[form], device=device)
        given = {} if form == "static" else {f"D{mode}": extent for mode, extent in enumerate(extents)}
        arrays = source.flatten(), destination.flatten()
        starts[form] = lambda kernel=kernel, arrays=arrays, given=given: kernel.submit(*arrays, **given)
        destination.zero_()
        starts[form]().wait()
        if not torch.equal(destination, wanted):
            sys.exit(f"wrong elements: {form}, {name(case)}")
    return best_microseconds({way: starts[way] for way in WAYS}, ahead)


def name(case):
    return f"{case['permutation']} {case['shape']}"


def summary(cases, way):
    parts = [case[way]["part_of_copy"] for case in cases]
    geometric_mean = math.exp(sum(map(math.log, parts)) / len(parts))
    behind = [name(case) for case in cases if case[way]["microseconds"] > case["compiled"]["microseconds"]]
    return {"geometric_mean": geometric_mean, "least": min(parts), "behind_compiled": behind}


def measure_type(cases, dtype, device):
    largest = random_array([max(math.prod(extents_of(case)) for case in cases)], dtype)
    other = torch.empty_like(largest)
    size = dtype.itemsize

    def copy():
        other.copy_(largest)

    def copy_some():
        for _ in range(LAUNCHES):
            copy()

    rate = 2 * largest.numel() * size / best_microseconds({"copy": copy}, copy_some)["copy"]
    for number, case in enumerate(cases, 1):
        print(f"{dtype}: {number} of {len(cases)}", file=sys.stderr, flush=True)
        bytes_moved = 2 * math.prod(extents_of(case)) * size
        for way, time in measure(case, dtype, device, copy_some).items():
            case[way] = {"microseconds": time, "part_of_copy": bytes_moved / time / rate}
    return {"copy_gigabytes_per_second": rate / 1e3, "cases": cases, **{way: summary(cases, way) for way in WAYS}}


def print_type(element, result):
    print(f"{element}: PyTorch copies {result['copy_gigabytes_per_second']:.0f} GB/s")
    for case in result["cases"]:
        print(f"{element:4} {name(case):32}", *(f"{way} {case[way]['part_of_copy']:.3f}" for way in WAYS))
    for way in WAYS:
        print(f"{element} {way}: {result[way]['geometric_mean']:.3f} of copy, least {result[way]['least']:.3f},",
              f"behind torch.compile in {len(result[way]['behind_compiled'])} of {len(result['cases'])}")


def main():
    has_table, report, device = begin(__doc__.partition("\n")[0], "bench_gpu")
    for element, listed in report["types"].items():
        report["types"][element] = result = measure_type(listed["cases"], TYPES[element], device)
        if has_table:
            print_type(element, result)
    if not has_table:
        print_report(report)


main()

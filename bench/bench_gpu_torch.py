#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The transpositions of bench_gpu, and what PyTorch makes of the same ones, on one NVIDIA GPU in one run.

    bench_gpu_torch.py BENCH_GPU [--table] [options of bench_gpu]

BENCH_GPU is the program of bench_gpu.c, which runs first; its cases are then PyTorch's: permute and copy into memory
that exists, and torch.compile of permute and contiguous, each shape for itself. Times are the device's, by CUDA events:
ten launches in a round, the best of five rounds, as in bench_gpu; compilation is not in them. Prints one JSON object,
bench_gpu's with more in each case and type, or with --table lines to read. Rates are parts of the copy of bench_gpu.
"""

import argparse
import json
import math
import subprocess
import sys

import torch

WARM_UPS, ROUNDS, LAUNCHES = 3, 5, 10
TYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "u8": torch.uint8}
WAYS = ("static", "dynamic", "permute", "compiled")


def best_microseconds(start):
    """Of one call, in the mean of the best round."""
    for _ in range(WARM_UPS):
        start()
    best = math.inf
    for _ in range(ROUNDS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(LAUNCHES):
            start()
        end.record()
        end.synchronize()
        best = min(best, begin.elapsed_time(end) * 1e3 / LAUNCHES)
    return best


def arrays(case, dtype):
    """Source, axes of the destination among the source's, and destination. Here the last axis is the fastest."""
    extents = [int(extent) for extent in case["shape"].split(",")]
    last = len(extents) - 1
    axes = [last - int(digit) for digit in reversed(case["permutation"])]
    source = torch.empty(extents[::-1], dtype=dtype, device="cuda")
    source.view(torch.uint8).random_(0, 64)
    return source, axes, torch.empty([source.shape[axis] for axis in axes], dtype=dtype, device="cuda")


def measure(case, dtype, rate):
    """Adds PyTorch's times to a case. rate: of the copy, in gigabytes a second."""
    source, axes, destination = arrays(case, dtype)
    size = 2 * source.numel() * source.element_size()
    torch._dynamo.reset()  # each shape is compiled for itself, none for a family of them
    compiled = torch.compile(lambda array: array.permute(axes).contiguous(), dynamic=False)
    if not torch.equal(compiled(source), source.permute(axes)):
        sys.exit(f"torch.compile is wrong: {case['permutation']} of {case['shape']}")
    for way, start in (("permute", lambda: destination.copy_(source.permute(axes))),
                       ("compiled", lambda: compiled(source))):
        time = best_microseconds(start)
        case[way] = {"microseconds": time, "part_of_copy": size / time / 1e3 / rate}


def summary(parts):
    """Of parts of the copy."""
    return {"cases": len(parts), "geometric_mean": math.exp(sum(map(math.log, parts)) / len(parts)), "least": min(parts)}


def behind(cases, way):
    """The cases in which torch.compile is faster."""
    return [case for case in cases if case[way]["microseconds"] > case["compiled"]["microseconds"]]


def name(case):
    return f"{case['permutation']} {case['shape']}"


def print_type(element, result):
    print(f"{element}: the device copies {result['copy_gigabytes_per_second']:.0f} GB/s")
    for case in result["cases"]:
        print(f"{element:4} {name(case):32}", *(f"{way} {case[way]['part_of_copy']:.3f}" for way in WAYS))
    for way in WAYS:
        print(f"{element} {way}: {result[way]['geometric_mean']:.3f} of copy, least {result[way]['least']:.3f}")
    for way in ("static", "dynamic"):
        print(f"{element} {way}: behind torch.compile in {len(result['behind'][way])} of {len(result['cases'])} cases:",
              ", ".join(result["behind"][way]) or "none")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("bench_gpu")
    parser.add_argument("--table", action="store_true")
    options, given = parser.parse_known_args()
    command = [options.bench_gpu, *given, "--form", "both"]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    report["peer"] = f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}"
    for element, result in report["types"].items():
        for number, case in enumerate(result["cases"], 1):
            print(f"{element}: {number} of {len(result['cases'])}", file=sys.stderr, flush=True)
            measure(case, TYPES[element], result["copy_gigabytes_per_second"])
        for way in ("permute", "compiled"):
            result[way] = summary([case[way]["part_of_copy"] for case in result["cases"]])
        result["behind"] = {way: [name(case) for case in behind(result["cases"], way)] for way in ("static", "dynamic")}
        if options.table:
            print_type(element, result)
    if not options.table:
        json.dump(report, sys.stdout, indent=2)
        print()


main()

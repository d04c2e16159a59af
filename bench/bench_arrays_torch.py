#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The kernels of bench_arrays, and what PyTorch makes of the same, on an NVIDIA GPU: in one run, by one clock.

    bench_arrays_torch.py BENCH_ARRAYS [--table] [--shape 32768x8192] [--only NAME]

BENCH_ARRAYS is the program of bench_arrays.c, which says what the kernels are. Every way puts its work on one stream
of PyTorch's, whose events measure it: ten launches one behind another, the best of five such rounds.

    static, dynamic  kernels of tilejit, for the one shape and for all
    eager            what PyTorch does, operation by operation
    compiled         torch.compile of the same, for the one shape

Parts are bytes that have to move, each input and each output once, over the time, of the rate at which PyTorch copies
as many bytes. Compilation is not in the times. What kernels store is compared with what PyTorch does. Prints one JSON
object, or with --table lines to read.
"""

import sys

import torch
import torch.nn.functional

import tilejit

from torch_clock import LAUNCHES, begin, best_microseconds, print_report

FORMS = ("static", "dynamic")
WAYS = (*FORMS, "eager", "compiled")
SMALL = torch.float8_e4m3fn
TYPES = {"bf16": torch.bfloat16, "f32": torch.float32, "f8e4m3fn": torch.uint8, "e8m0": torch.uint8}
SHAPES = {"each": lambda rows, columns: (rows, columns), "turned": lambda rows, columns: (columns, rows),
          "row": lambda rows, columns: (rows, 1), "group": lambda rows, columns: (rows, columns // 32),
          "all rows": lambda rows, columns: (1, columns)}


def rmsnorm_of_sum(x, r, w):
    total = x.float() + r.float()
    scale = torch.rsqrt(total.pow(2).mean(-1, keepdim=True) + 1e-6)
    return total.to(x.dtype), (total * scale * w.float()).to(x.dtype)


def quantised_rows(x):
    scale = x.float().abs().amax(-1, keepdim=True).clamp_min(1e-12) / 448
    return (x.float() / scale).to(SMALL), scale


def quantised_groups(x):
    groups = x.float().view(x.shape[0], -1, 32)
    exponent = torch.floor(torch.log2(groups.abs().amax(-1, keepdim=True).clamp_min(1e-30))) - 8
    small = (groups * torch.exp2(-exponent)).clamp(-448, 448).to(SMALL)
    return small.view(x.shape), (exponent + 127).to(torch.uint8).squeeze(-1)


def cast_and_transposed(x):
    small = (x.float() * 16).clamp(-448, 448).to(SMALL)
    return small, small.t().contiguous()


# By the program's name: the same as a function of its inputs, which gives its outputs.
PEERS = {
    "softmax": lambda x: (torch.softmax(x, -1),),
    "rmsnorm": lambda x, w: (torch.nn.functional.rms_norm(x, (x.shape[-1],), w.view(-1), 1e-6),),
    "rmsnorm with residual": rmsnorm_of_sum,
    "row quantise": quantised_rows,
    "mx quantise": quantised_groups,
    "cast-transpose": cast_and_transposed,
}


def new_array(case, argument):
    shape = SHAPES[argument["form"]](case["rows"], case["columns"])
    array = torch.zeros(shape, dtype=TYPES[argument["type"]], device="cuda")
    return array if argument["is_output"] else array.normal_()


def as_numbers(array, argument):
    return (array.view(SMALL) if argument["type"] == "f8e4m3fn" else array).float()


def is_close(found, wanted, argument):
    """Whether arrays are the same but for the rounding of the last steps, that of small floats in few places."""
    found, wanted = as_numbers(found, argument), as_numbers(wanted, argument)
    step = 2.0 ** (-3 if argument["type"] == "f8e4m3fn" else -7)
    far = (found - wanted).abs() > step * wanted.abs() + 2.0 ** -9 * (argument["type"] == "f8e4m3fn") + 1e-30
    return not far.any()


def measure(case, device, ahead):
    """Microseconds by way."""
    arguments = case["arguments"]
    arrays = [new_array(case, argument) for argument in arguments]
    inputs = [array for array, argument in zip(arrays, arguments) if not argument["is_output"]]
    outputs = [(array, argument) for array, argument in zip(arrays, arguments) if argument["is_output"]]
    eager = PEERS[case["program"]]
    torch._dynamo.reset()  # each shape is compiled for itself, none for a family of them
    compiled = torch.compile(eager, dynamic=False)
    starts = {"eager": lambda: eager(*inputs), "compiled": lambda: compiled(*inputs)}
    wanted = eager(*inputs)
    names = [argument["name"] for argument in arguments]
    for form in FORMS:
        kernel = tilejit.kernel(case[form], device=device)
        given = dict(zip(names, (array.view(-1) for array in arrays))) | case["numbers"]
        if form == "dynamic":
            given |= {"M": case["rows"], "N": case["columns"]}
        for array, _ in outputs:
            array.zero_()
        kernel.submit(**given).wait()
        for (array, argument), right in zip(outputs, wanted):
            if not is_close(array, right.view(array.dtype), argument):
                sys.exit(f"wrong elements: {argument['name']} of {form} {name(case)}")
        starts[form] = lambda kernel=kernel, given=given: kernel.submit(**given)
    return best_microseconds({way: starts[way] for way in WAYS}, ahead)


def name(case):
    return f"{case['program']} {case['rows']}x{case['columns']}"


def measure_case(case, device, ahead):
    one, other = (torch.empty(case["bytes"] // 4, dtype=torch.bfloat16, device="cuda") for _ in range(2))
    rate = case["bytes"] / best_microseconds({"copy": lambda: other.copy_(one)}, ahead)["copy"]
    case["copy_gigabytes_per_second"] = rate / 1e3
    for way, time in measure(case, device, ahead).items():
        case[way] = {"microseconds": time, "part_of_copy": case["bytes"] / time / rate}


def main():
    has_table, report, device = begin(__doc__.partition("\n")[0], "bench_arrays", "--device", "cuda:0")
    one, other = (torch.empty(1 << 29, dtype=torch.uint8, device="cuda") for _ in range(2))

    def copy_long():
        for _ in range(2 * LAUNCHES):
            other.copy_(one)

    for case in report["cases"]:
        measure_case(case, device, copy_long)
        if has_table:
            print(f"{name(case):32} copy {case['copy_gigabytes_per_second']:.0f} GB/s",
                  *(f"{way} {case[way]['part_of_copy']:.3f}" for way in WAYS), flush=True)
    if not has_table:
        print_report(report)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What calling a kernel from Python costs beyond the library's own launch, on arrays of 1 KiB.

    bench_python.py BENCH_LAUNCH [ITERATIONS]

BENCH_LAUNCH is the program of bench_launch.c, which measures the same launches in C. The package comes from PYTHONPATH
or from where it is installed. Prints one JSON object: of batches of 100 calls, the median and the least time of
a call, in microseconds, by kind of array; and how much more that is than the library's. NumPy's arrays are measured
where NumPy is.
"""

import array
import json
import statistics
import subprocess
import sys
import time

import tilejit

BATCH = 100
TEXT = """param M in 1..4096, N in 1..4096
kernel transpose(src: f32 @ (M,N):(N,1), dst: f32 @ (M,N):(1,M)) = copy(src, dst)"""


class OnlyDlpack:
    """An array that speaks DLPack alone."""

    def __init__(self, owner):
        self.__dlpack__ = owner.__dlpack__


def pairs():
    """Source and destination, by what they are."""
    def square():
        return memoryview(array.array("f", range(256))).cast("B").cast("f", (16, 16))

    yield "memoryview", square(), square()
    try:
        import numpy
    except ImportError:
        return
    yield "numpy", numpy.zeros((16, 16), "f4"), numpy.zeros((16, 16), "f4")
    constant = numpy.zeros((16, 16), "f4")
    constant.flags.writeable = False
    yield "numpy, read-only source", constant, numpy.zeros((16, 16), "f4")
    yield "dlpack", OnlyDlpack(numpy.zeros((16, 16), "f4")), OnlyDlpack(numpy.zeros((16, 16), "f4"))


def measure(kernel, source, target, batches):
    """Microseconds of a call: the mean of each batch."""
    kernel(source, target)
    times = []
    for _ in range(batches):
        begin = time.perf_counter()
        for _ in range(BATCH):
            kernel(source, target)
        times.append((time.perf_counter() - begin) / BATCH * 1e6)
    return times


def main():
    iterations = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    own = json.loads(subprocess.run([sys.argv[1], str(iterations)], check=True, capture_output=True).stdout)
    kernel, calls = tilejit.kernel(TEXT), {}
    for name, source, target in pairs():
        times = measure(kernel, source, target, max(1, iterations // BATCH))
        median, least = statistics.median(times), min(times)
        calls[name] = {"median_us": round(median, 3), "least_us": round(least, 3),
                       "beyond_median_us": round(median - own["median_us"], 3),
                       "beyond_least_us": round(least - own["least_us"], 3)}
    print(json.dumps({"library": own, "python": calls}))


if __name__ == "__main__":
    main()

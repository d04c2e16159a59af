# SPDX-License-Identifier: MIT
"""What the benchmarks beside PyTorch have in common: the cases of a program that lists them, one stream of PyTorch's, and
times of what is put there, by its events."""

import argparse
import json
import subprocess
import sys

import torch

import tilejit

WARM_UPS, ROUNDS, LAUNCHES = 3, 5, 10


def begin(description, program, *words):
    """Whether a table was asked for; the report that the program has listed, for these words and what else was given;
    and the device on the stream that all is put on from now on."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(program)
    parser.add_argument("--table", action="store_true")
    options, given = parser.parse_known_args()
    listed = subprocess.run([getattr(options, program), *words, "--list", *given], check=True, stdout=subprocess.PIPE)
    stream = torch.cuda.Stream()
    torch.cuda.set_stream(stream)
    report = json.loads(listed.stdout)
    report["device"] = torch.cuda.get_device_name()
    report["peer"] = f"PyTorch {torch.__version__}"
    return options.table, report, tilejit.cuda_stream(stream.cuda_stream)


def print_report(report):
    json.dump(report, sys.stdout, indent=2)
    print()


def round_of(start, launches, ahead):
    """Microseconds of a call in the mean. Calls may return what is to be kept until their end."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    ahead()
    begin.record()
    kept = [start() for _ in range(launches)]
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3 / len(kept)


def best_microseconds(starts, ahead):
    """By name, of a call in the mean of the best round; rounds of one are between those of the others, so that all meet
    the same clocks and caches. `ahead` keeps the GPU busy until calls have been made, so that what they cost the CPU is
    not measured."""
    for start in starts.values():
        round_of(start, WARM_UPS, ahead)
    rounds = [{name: round_of(start, LAUNCHES, ahead) for name, start in starts.items()} for _ in range(ROUNDS)]
    return {name: min(times[name] for times in rounds) for name in starts}

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The HIP runtime of the system on simulated GPUs.

    run_hip.py --client PATH --example PATH --runtime FOLDER

The client is tests/hip/hip_client.c, the example examples/hip; the folder has the simulator as libhsa-runtime64.so.1.
Rows of RUNS succeed on the processors that HIP 5.2 knows; rows of NUMBERINGS are what selections of devices make of
HIP's numbers and of tilejit's. Exit status 1 when anything differs.
"""

import argparse
import os
import re
import subprocess
import sys

PROCESSORS = ("gfx90a", "gfx1030")
TARGETS = {"gfx90a": "gfx90a:sramecc+:xnack-", "gfx1030": "gfx1030"}

# What the client does, on which agents.
RUNS = [(word, processor) for word in ("fills", "values", "shared") for processor in PROCESSORS]
RUNS += [("threads", "gfx90a"), ("threads", "gfx90a gfx1030")]

SHAPES = ((100, 77), (64, 32), (1, 1))

# Three agents, on the buses 2, 3 and 4; what is set; the buses of HIP's devices, and of tilejit's hsa:N.
AGENTS = "gfx90a gfx1030 gfx90a"
NUMBERINGS = [
    ({}, [2, 3, 4], [2, 3, 4]),
    ({"HIP_VISIBLE_DEVICES": "2,0"}, [4, 2], [2, 3, 4]),
    ({"CUDA_VISIBLE_DEVICES": "1"}, [3], [2, 3, 4]),
    ({"ROCR_VISIBLE_DEVICES": "1"}, [3], [3]),
    ({"ROCR_VISIBLE_DEVICES": "2,1"}, [4, 3], [4, 3]),
    ({"ROCR_VISIBLE_DEVICES": "2,1", "HIP_VISIBLE_DEVICES": "1"}, [3], [4, 3]),
    ({"ROCR_VISIBLE_DEVICES": "GPU-0000000000000003"}, [3], [3]),
]


class Failure(Exception):
    """What went wrong, in words."""


def run(given, agents, words, environment=None, status=0):
    """What a program prints, both ways."""
    hidden = ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
    around = {name: value for name, value in os.environ.items() if name not in hidden}
    around.update(environment or {}, TILEJIT_HSASIM_AGENTS=agents, LD_LIBRARY_PATH=given.runtime)
    done = subprocess.run([str(word) for word in words], env=around, capture_output=True, text=True, timeout=120,
                          check=False)
    if done.returncode != status:
        raise Failure(f"{words} on {agents}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def check_example(given, processor):
    """Five comparisons of the example, none with a wrong element."""
    for rows, columns in SHAPES:
        said = run(given, processor, [given.example, rows, columns])
        right = re.findall(rf": 0 of {rows * columns} elements wrong$", said, re.MULTILINE)
        if len(right) != 5 or not said.startswith(f"{rows} x {columns} on {TARGETS[processor]}\n"):
            raise Failure(f"the example on {processor} says:\n{said}")


def check_numbering(given, environment, hip, hsa):
    """Both sides' devices, in order, by their places on the PCI bus."""
    targets = {2 + i: TARGETS[name] for i, name in enumerate(AGENTS.split())}
    expected = [f"{side}:{i} 0000:{bus:02x}:00.0 {targets[bus]}"
                for side, buses in (("hip", hip), ("hsa", hsa)) for i, bus in enumerate(buses)]
    said = run(given, AGENTS, [given.client, "devices"], environment).splitlines()
    if said != expected:
        raise Failure(f"{environment}: {said}, not {expected}")


def check_message(given):
    """HIP gives up with the simulator's words."""
    said = run(given, "gfx90a", [given.client, "stray"], status=-6)
    if not re.search(r"kernel transpose, pc 0x[0-9a-f]+, instruction `global_store_.*not memory that the kernel may write",
                     said):
        raise Failure(f"a kernel that leaves memory: {said}")


def main():
    """Everything, one after another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("client", "example", "runtime"):
        parser.add_argument(f"--{name}", required=True)
    given = parser.parse_args()
    try:
        for processor in PROCESSORS:
            check_example(given, processor)
        for word, agents in RUNS:
            run(given, agents, [given.client, word])
        for environment, hip, hsa in NUMBERINGS:
            check_numbering(given, environment, hip, hsa)
        check_message(given)
    except (Failure, subprocess.TimeoutExpired) as failure:
        print(f"run_hip.py: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

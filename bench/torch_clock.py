# SPDX-License-Identifier: MIT
"""Times of what is put on one stream of PyTorch's, by its events, for the benchmarks beside PyTorch."""

import math

import torch

WARM_UPS, ROUNDS, LAUNCHES = 3, 5, 10


def best_microseconds(start, ahead):
    """Of one call, in the mean of the best round. Calls may return what is to be kept until its end. `ahead` keeps the
    GPU busy until they have been made, so that what they cost the CPU is not measured."""
    best = math.inf
    for round_number in range(ROUNDS + 1):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        ahead()
        begin.record()
        kept = [start() for _ in range(LAUNCHES if round_number > 0 else WARM_UPS)]
        end.record()
        end.synchronize()
        if round_number > 0:
            best = min(best, begin.elapsed_time(end) * 1e3 / len(kept))
    return best

# SPDX-License-Identifier: MIT
"""Times of what is put on one stream of PyTorch's, by its events, for the benchmarks beside PyTorch."""

import torch

WARM_UPS, ROUNDS, LAUNCHES = 3, 5, 10


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

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the instructions of offsets kernels on gfx942, against CK Tile and clang -O3, and against the past.

usage: run_isa.py --library PATH [--update] ISA.jsonl CK.jsonl COUNTS.csv

ISA.jsonl has the peers' counts of descriptors of CK.jsonl, by name. In no case may `cost` (VALU instructions, where a
quarter-rate multiplication counts 4) exceed the best peer's, or registers by more than two; over all cases, what goes
beyond the kernel without arithmetic sums to at most 0.75 of the best peer's cost, and to no more VALU instructions.
COUNTS.csv has our own counts as they were last: a case that got worse fails, one that got better asks for
--update, which writes the file anew.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import sys

import emitter
from run_vectors import view_expression

FLOOR = 4  # of the kernel without arithmetic: its cost, and its VALU instructions
COST_RATIO, VALU_RATIO, MORE_REGISTERS = 0.75, 1.0, 2
FIELDS = ("cost", "valu", "vgprs")


def read_rows(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def count(compiler, view):
    try:
        stats = json.loads(compiler.emit(view, "stats", "gfx942"))
    except emitter.Refusal as refusal:
        sys.exit(f"{view}\n{refusal}")
    return {field: stats[field] for field in FIELDS}


def count_all(compiler, views):
    workers = int(os.environ.get("TILEJIT_JOBS", "2"))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda view: count(compiler, view), views))


def against_peers(rows, counts):
    """What fails of the bounds that rows set."""
    failures = []
    for row, ours in zip(rows, counts):
        best = row["best"]
        if ours["cost"] > best["cost"]:
            failures.append(f"{row['name']}: cost {ours['cost']}, the best peer's is {best['cost']}")
        if ours["vgprs"] > best["vgpr"] + MORE_REGISTERS:
            failures.append(f"{row['name']}: {ours['vgprs']} registers, the best peer needs {best['vgpr']}")
    for field, most in (("cost", COST_RATIO), ("valu", VALU_RATIO)):
        ratio = sum(o[field] - FLOOR for o in counts) / sum(r["best"][field] - FLOOR for r in rows)
        print(f"{field} beyond the floor: {ratio:.3f} of the best peer's, at most {most}")
        if ratio > most:
            failures.append(f"{field} beyond the floor is {ratio:.3f} of the best peer's, more than {most}")
    return failures


def against_past(path, names, counts):
    """What is worse than the file says, and whether anything is different."""
    with open(path, encoding="utf-8", newline="") as file:
        past = {row["name"]: {field: int(row[field]) for field in FIELDS} for row in csv.DictReader(file)}
    if set(past) != set(names):
        return [f"{path} is of other descriptors: run with --update"], True
    failures = [f"{name}: {field} {ours[field]}, was {past[name][field]}"
                for name, ours in zip(names, counts) for field in FIELDS if ours[field] > past[name][field]]
    return failures, any(past[name] != ours for name, ours in zip(names, counts))


def write_counts(path, names, counts):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", *FIELDS])
        writer.writerows([name, *(ours[field] for field in FIELDS)] for name, ours in zip(names, counts))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libtilejit.so")
    parser.add_argument("--update", action="store_true", help="write COUNTS.csv instead of comparing with it")
    parser.add_argument("isa")
    parser.add_argument("ck")
    parser.add_argument("counts")
    options = parser.parse_args()
    descriptors = {row["name"]: row for row in read_rows(options.ck) if row["kind"] == "descriptor"}
    rows = read_rows(options.isa)
    names = [row["name"] for row in rows]
    counts = count_all(emitter.Emitter(options.library), [view_expression(descriptors[name]) for name in names])
    failures = against_peers(rows, counts)
    if options.update:
        write_counts(options.counts, names, counts)
    else:
        worse, differs = against_past(options.counts, names, counts)
        failures += worse
        if differs and not worse:
            print("some counts got better: keep them with --update")
    for failure in failures:
        print(failure)
    print(f"{len(rows)} descriptors, {len(failures)} failures")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Proves that the functions which `tilejit compile --function` emits as C are the maps that they are made of.

    run_prove.py --tilejit PATH --examples FOLDER

The functions are those of run_functions.py, its random expressions and its walks among them, the walks of
run_walk_cost.py, and one of every map that the programs of a folder define. Each is emitted, read again by `tilejit
prove`, and must be equal; and then with one more added to what it returns, which must not be; a walk also with one
more added to the offset that it carries from place to place. What takes Z3 stays undecided where there is none. Exit
status 1 when anything is not so.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from run_functions import CASES, WALKS, random_cases
from run_walk_cost import CASES as MOVES

SECONDS = 120


def run(words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=SECONDS, check=False)


def names_of(program):
    """What a program defines with let, but functions."""
    return re.findall(r"^(?:let|constexpr|auto|const auto)[^(=\n]*?(\w+) =", program, flags=re.M)


def examples(folder):
    """Every definition of every program, as (name, words that say it)."""
    for file in sorted(folder.rglob("*.tile")):
        for name in names_of(file.read_text(encoding="utf-8")):
            yield f"{file.stem}_{name}", [file, "-e", name]


def functions(folder):
    for name, case in CASES.items():
        yield name, ["-e", case.program]
    for name, case in random_cases(40):
        yield name, ["-e", case.program]
    for name, walk in WALKS.items():
        yield name, ["-e", walk.program]
    for name, move in MOVES.items():
        yield re.sub(r"\W+", "_", name), ["-e", move.program]
    yield from examples(folder)


def one_more(code):
    """The same code, of which every function gives one more."""
    return re.sub(r"^  return (.*);$", r"  return 1 + (\1);", code, flags=re.M)


def one_further(code):
    """The same code of a walk, which goes one element further at each step; None where it carries no offset."""
    begun, going = code.split("Goes on by a step.", 1) if "Goes on by a step." in code else (code, "")
    changed, count = re.subn(r"^  walk->at = (.*);$", r"  walk->at = 1 + \1;", going, flags=re.M)
    return begun + "Goes on by a step." + changed if count else None


def prove(given, folder, name, words):
    """The verdict's text of a function; None where the value has none."""
    file = folder / f"{name}.c"
    made = run([given.tilejit, "compile", *words, "--emit", "c", "--function", name, "-o", file])
    if made.returncode != 0:
        return None if "error: TJ" in made.stderr else f"{made.returncode}: {made.stderr}"
    proved = run([given.tilejit, "prove", *words, file])
    if "error: TJ2033" in proved.stderr and "Z3 gave up" not in proved.stderr:
        return "undecided"
    if proved.returncode != 0 or not proved.stdout.startswith("equal: "):
        return f"{proved.returncode}: {proved.stdout}{proved.stderr}"
    code = file.read_text(encoding="utf-8")
    for broken in filter(None, (one_more(code), one_further(code))):
        file.write_text(broken, encoding="utf-8")
        refuted = run([given.tilejit, "prove", *words, file, "--function", name])
        if refuted.returncode != 1 or not refuted.stdout.startswith("different: "):
            return f"with one more: {refuted.returncode}: {refuted.stdout}{refuted.stderr}"
    return proved.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tilejit", required=True, type=pathlib.Path)
    parser.add_argument("--examples", required=True, type=pathlib.Path)
    given = parser.parse_args()
    counts, wrong = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for name, words in functions(given.examples):
            verdict = prove(given, pathlib.Path(folder), name, words)
            if verdict is None:
                continue
            kind = re.sub(r"[1-9]\d+", "N", verdict).strip() if verdict.startswith(("equal: ", "undec")) else "wrong"
            counts[kind] = counts.get(kind, 0) + 1
            if kind == "wrong":
                wrong.append(f"{name}: {' '.join(map(str, words))}\n{verdict}")
    for kind, count in sorted(counts.items()):
        print(f"{count:4} {kind}")
    print(*wrong, sep="\n", end="")
    sys.exit(bool(wrong) or sum(counts.values()) < 100)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks which of the large libraries the tilejit command opens, by what the dynamic linker tells, and what it says where
they are missing.

    run_opened.py --tilejit PATH [--z3]

--z3: the build has Z3. Exit status 1 when anything differs. Needs Python 3.9, and nothing else.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TURN = "kernel turn(src: f16 @ (64,96):(96,1), dst: f16 @ (64,96):(1,64)) = copy(src, dst)"
KERNEL = "param M in 1..64; kernel k(dst: i32 @ (M):(1)) = offsets(dst, (M):(2))"
HARD = "param M in 1..1000000, i in 0..1000000, j in 0..M-1; (i*M + j)/M"
LLVM = {"libLLVM", "libtilejit-passes"}
Z3 = {"libz3"}
NOTHING = set()

# Commands in order, with what they open. Debian's LLVM is itself linked with Z3, which is therefore not counted where
# LLVM is there.
OPENED = (
    (NOTHING, "eval", "1"),
    (NOTHING, "eval", "--table", "(3,2):(2,3)"),
    (NOTHING, "simplify", "--trace", "param i in 0..1023, j in 0..23; (i*24+j)/24"),
    (NOTHING, "prove", "param M in 1..512, N in 1..512; (M,N):(1,M)", "(M*N):(1)"),
    (NOTHING, "simplify", "--prove", "param x in 0..999; x/6*6 + x%6"),
    (Z3, "simplify", "--prove", HARD),
    (NOTHING, "show", "Sw<2,0,2> o (4,4):(4,1)"),
    (NOTHING, "show", "(8,8):(8,1)", "--as", "svg"),
    (NOTHING, "check", "-e", "(4,2):(1,3)", "--target", "gfx942"),
    (NOTHING, "compile", "k.tile", "--target", "gfx942", "--stop-after", "tiled"),
    (NOTHING, "compile", "k.tile", "--target", "host", "--stop-after", "tiled"),
    (NOTHING, "compile", "-e", "(4,2):(1,3)", "--emit", "c", "--function", "f"),
    (LLVM, "compile", "k.tile", "--target", "gfx942", "--emit", "hsaco", "-o", "k.hsaco"),
    (LLVM, "disasm", "k.hsaco"),
    (LLVM, "run", "k.tile", "--device", "host", "--arg", "M=3", "--out", "dst=a.npy"),
    (NOTHING, "run", "k.tile", "--device", "host", "--arg", "M=3", "--out", "dst=a.npy"),
    (NOTHING, "run", "said_differently.tile", "--device", "host", "--arg", "M=3", "--out", "dst=a.npy"),
    (LLVM, "launch", "k.tile", "--target", "gfx942", "--arg", "M=3", "--json"),
    (NOTHING, "launch", "k.tile", "--target", "gfx942", "--arg", "M=3", "--json"),
    (NOTHING, "cache", "stats"),
)

# What is said, and the exit status, where a variable names a library that is none.
MISSING = (
    ({"TILEJIT_LLVM_LIBRARY": "/nowhere.so"}, 0, r"^1$", "eval", "1"),
    ({"TILEJIT_LLVM_LIBRARY": "/nowhere.so"}, 3, r"TJ5012: no LLVM library: /nowhere\.so: .*\n(.*\n)*.*TILEJIT_LLVM_LIBRARY",
     "compile", "k.tile", "--target", "gfx942", "--emit", "asm"),
    ({"TILEJIT_LLVM_LIBRARY": "libm.so.6"}, 3, r"TJ5012: the library libm\.so\.6 is not libLLVM\.so",
     "compile", "k.tile", "--target", "host", "--emit", "asm"),
    ({"TILEJIT_LLVM_LIBRARY": "/nowhere.so"}, 3, r"TJ5012", "disasm", "k.hsaco"),
    ({"TILEJIT_LLVM_LIBRARY": "/nowhere.so"}, 0, r"^tilejit \d.*\nno LLVM library: /nowhere", "version"),
    ({"TILEJIT_CUDA_LIBRARY": "/nowhere.so"}, 3, r"TJ6020: no CUDA driver: /nowhere\.so: .*\n(.*\n)*.*TILEJIT_CUDA_LIBRARY",
     "run", "k.tile", "--device", "cuda:0", "--arg", "M=3", "--out", "dst=a.npy"),
    ({"TILEJIT_CUDA_LIBRARY": "/nowhere.so"}, 0, r"^$", "compile", "k.tile", "--target", "sm_90", "--emit", "ptx", "-o", "k.ptx"),
)
# What the command is not linked with.
NOT_NEEDED = ("LLVM", "z3", "cuda", "hsa", "amdhip", "stdc++")
MISSING_Z3 = (
    ({"TILEJIT_Z3_LIBRARY": "/nowhere.so"}, 1, r"undecided.*no Z3 library: /nowhere", "simplify", "--prove", HARD),
    ({"TILEJIT_Z3_LIBRARY": "libm.so.6"}, 1, r"undecided.*the Z3 library has no function Z3_", "simplify", "--prove", HARD),
)


class Failure(Exception):
    """Something did not do what it should."""


def run(folder, command, words, status=0, **extra):
    """Runs the command, which has to end with a status, and gives its output."""
    environment = {name: value for name, value in os.environ.items() if name not in ("TILEJIT_CACHE", "LD_PRELOAD")}
    process = subprocess.run([command, *words], cwd=folder, capture_output=True, text=True, timeout=300, check=False,
                             env={**environment, "XDG_CACHE_HOME": str(folder / "home"), **extra})
    if process.returncode != status:
        raise Failure(f"{' '.join(words)}\nended with {process.returncode}, not {status}:\n{process.stdout}{process.stderr}")
    return process.stdout + process.stderr


def opened_by(folder, command, words):
    """The large libraries that the dynamic linker has initialised, by their names before the dot."""
    run(folder, command, words, LD_DEBUG="files", LD_DEBUG_OUTPUT=str(folder / "linker"))
    told = "".join(path.read_text() for path in folder.glob("linker.*"))
    for path in folder.glob("linker.*"):
        path.unlink()
    if "calling init" not in told:
        raise Failure("the dynamic linker does not tell what it loads")
    found = set(re.findall(r"calling init: \S*/(libLLVM|libz3|libtilejit-\w+)[-.]\S*", told))
    return found - Z3 if "libLLVM" in found else found


def check_opened(folder, command, has_z3):
    for expected, *words in OPENED:
        if not has_z3:
            expected = expected - Z3
        found = opened_by(folder, command, words)
        if found != expected:
            raise Failure(f"{' '.join(words)}\nopens {sorted(found)}, not {sorted(expected)}")


def check_missing(folder, command, rows):
    for extra, status, pattern, *words in rows:
        said = run(folder, command, words, status, TILEJIT_CACHE="off", **extra)
        if not re.search(pattern, said):
            raise Failure(f"{' '.join(words)}\nwith {extra} says, without {pattern!r}:\n{said}")


def check_needed(command):
    needed = subprocess.run(["ldd", command], capture_output=True, text=True, check=True).stdout
    of_sanitizers = {"stdc++"} if re.search(r"lib[at]san|libubsan", needed) else set()
    if any(name in needed for name in set(NOT_NEEDED) - of_sanitizers):
        raise Failure(f"the command needs\n{needed}")


def check_without_passes(folder, command):
    """A command that stands alone compiles for every family, and what it compiles does the same."""
    alone = folder / "alone" / "tilejit"
    alone.parent.mkdir()
    shutil.copy(command, alone)
    for target, form in (("gfx942", "hsaco"), ("sm_90", "ptx"), ("host", "obj")):
        words = ["compile", "turn.tile", "--target", target, "--emit", form, "-o", "out"]
        if opened_by(folder, alone, words) != {"libLLVM"}:
            raise Failure("libtilejit-passes.so is installed where every program finds it")
    words = ["run", "turn.tile", "--device", "host", "--out"]
    run(folder, command, [*words, "dst=with.npy"])
    if opened_by(folder, alone, [*words, "dst=without.npy"]) != {"libLLVM"}:
        raise Failure("code that was made with other passes is taken from the cache")
    if (folder / "with.npy").read_bytes() != (folder / "without.npy").read_bytes():
        raise Failure("without libtilejit-passes.so results are others")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilejit", required=True)
    parser.add_argument("--z3", action="store_true")
    given = parser.parse_args()
    command = pathlib.Path(given.tilejit).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "k.tile").write_text(KERNEL + "\n", encoding="utf-8")
        (folder / "turn.tile").write_text(TURN + "\n", encoding="utf-8")
        (folder / "said_differently.tile").write_text("# the same\n" + KERNEL + "\n", encoding="utf-8")
        try:
            check_needed(command)
            check_opened(folder, command, given.z3)
            check_missing(folder, command, MISSING + (MISSING_Z3 if given.z3 else ()))
            check_without_passes(folder, command)
        except Failure as failure:
            print(failure)
            return 1
    print(f"{len(OPENED)} commands open what they need")
    return 0


if __name__ == "__main__":
    sys.exit(main())

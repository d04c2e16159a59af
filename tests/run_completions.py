#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completes lines of the tilejit command: by `tilejit complete`, and by the functions that shells load.

    run_completions.py --tilejit PATH --completions FOLDER

FOLDER has tilejit.bash, _tilejit and tilejit.fish. Each row of ROWS is a line and what its last word may be; the
shells get a line of each form. zsh and fish are asked where they are installed. Exit status 1 when anything differs.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = """param M in 1..64
kernel forth(src: f32 @ (M,4):(4,1), dst: f32 @ (M,4):(1,M)) = copy(src, dst)
kernel back(src: f32 @ (M,4):(1,M), dst: f32 @ (M,4):(4,1)) = copy(src, dst)
kernel four(dst: i32 @ 4:1) = offsets(dst, 4:1)
"""
PROCESSORS = pathlib.Path(__file__).parent.parent / "base" / "machine" / "processor.def"
SIMULATED = re.findall(r'^SIMULATED\("(\w+)"', PROCESSORS.read_text(encoding="utf-8"), re.MULTILINE)
FILES = [":files"]
KERNELS = ["forth", "back", "four"]

# The words behind `tilejit`, and what the last one may be.
ROWS = [
    # Commands.
    (["s"], ["simplify", "suggest", "show"]),
    (["c"], ["compile", "check", "cache"]),
    (["compl"], []),
    (["--"], ["--help", "--version"]),
    (["none", ""], []),
    # Options: those of the command, those of its input, those of all.
    (["eval", "--"], ["--as", "--table", "--set", "--json", "--help"]),
    (["eval", "-"], ["--as", "--table", "-f", "-e", "--set", "--json", "--help"]),
    (["run", "a.tile", "--s"], ["--stats", "--set"]),
    (["version", ""], ["--json", "--help"]),
    (["run", "--", "--s"], FILES),
    # Words.
    (["show", "--as", ""], ["text", "svg", "latex", "json"]),
    (["show", "--as=l"], ["--as=latex"]),
    (["show", "--as", "text", "--color", "t"], ["thread"]),
    (["cache", ""], ["stats", "clear"]),
    (["cache", "stats", "c"], []),
    # Targets, devices, types.
    (["compile", "--target", "h"], ["host"]),
    (["compile", "--target", "gfx94"], ["gfx942"]),
    (["check", "--target=gfx120"], ["--target=gfx1200", "--target=gfx1201"]),
    (["run", "--device", "h"], ["host"]),
    (["run", "--device", "sim:gfx9"], [f"sim:{name}" for name in SIMULATED if name.startswith("gfx9")]),
    (["check", "--dtype", "f"], ["f16", "f32", "f64", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz"]),
    (["check", "--dtype=bf"], ["--dtype=bf16"]),
    # Topics.
    (["help", "pr"], ["prove", "product_each", "prepend"]),
    (["help", "coal"], ["coalesce"]),
    # Files.
    (["run", ""], FILES),
    (["eval", ""], FILES),
    (["eval", "-f", "a"], FILES),
    (["eval", "-e", "a"], []),
    (["compile", "-o", ""], FILES),
    (["disasm", "a"], FILES),
    (["run", "--in", "sr"], []),
    (["run", "--in", "src=a"], FILES),
    (["run", "--set", ""], []),
    # Kernels of the file at hand, wherever it stands before.
    (["run", "some.tile", "--kernel", ""], KERNELS),
    (["compile", "--target", "gfx942", "some.tile", "--kernel", "f"], ["forth", "four"]),
    (["check", "-f", "some.tile", "--kernel=b"], ["--kernel=back"]),
    (["run", "--stats", "--set", "M=3", "some.tile", "--kernel", "b"], ["back"]),
    (["run", "-e", "kernel k(d: i32 @ 4:1) = offsets(d, 4:1)", "--kernel", ""], ["k"]),
    (["run", "some.tile", "-e", "kernel fifth(d: i32 @ 4:1) = offsets(d, 4:1)", "--kernel", "fi"], ["fifth"]),
    (["run", "--kernel", ""], []),
    (["run", "wrong.tile", "--kernel", ""], []),
    (["run", "missing.tile", "--kernel", ""], []),
    (["run", "-", "--kernel", ""], []),
]

# What is typed behind `tilejit`, and what bash puts behind the last : or = of it.
BASH_ROWS = [
    ("ev", ["eval"]),
    ("run some.tile --kernel ", KERNELS),
    ("run 'with space.tile' --kernel ", KERNELS),
    ("run with\\ space.tile --kernel f", ["forth", "four"]),
    ("run --device sim:", SIMULATED),
    ("run --device sim:gfx94", ["gfx942"]),
    ("run --device=sim:gfx94", ["gfx942"]),
    ("show --as=", ["text", "svg", "latex", "json"]),
    ("show --as=s", ["svg"]),
    ("run some", ["compopt -o default"]),
    ("run missing.tile --kernel ", []),
]

# Splits a line as bash does for completion functions, but for the words that a blank ends.
BASH = r"""
compopt() { echo "compopt $*"; }
source "$1"
complete -p tilejit | grep -q -e '-F _tilejit' || exit 1
COMP_LINE=$2; shift 2
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_POINT=${#COMP_LINE}
_tilejit "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" || exit 1
[[ ${#COMPREPLY[@]} == 0 ]] || printf '%s\n' "${COMPREPLY[@]}"
"""

ZSH_ROWS = [
    (["ev"], ["eval"]),
    (["run", "some.tile", "--kernel", ""], KERNELS),
    (["run", "'with space.tile'", "--kernel", "f"], ["forth", "four"]),
    (["run", "--device", "sim:gfx94"], ["sim:gfx942"]),
    (["run", "--in", "src=so"], ["prefix *=", "files"]),
    (["run", "missing.tile", "--kernel", ""], []),
]
ZSH = r"""
compadd() { print -rl -- "${(P@)@[-1]}"; }
compset() { print -r "prefix $2"; }
_files() { print files; }
file=$1; shift
words=("$@"); CURRENT=$#
source "$file"
exit 0
"""

FISH_ROWS = [
    ("ev", ["eval"]),
    ("run some.tile --kernel ", KERNELS),
    ("run 'with space.tile' --kernel f", ["forth", "four"]),
    ("run --device sim:gfx94", ["sim:gfx942"]),
    ("run --device=sim:gfx94", ["--device=sim:gfx942"]),
    ("run so", ["some.tile"]),
    ("run --in src=so", ["src=some.tile"]),
    ("run missing.tile --kernel ", []),
]


class Shells:
    """The command in the path of a folder that has some programs, and the shells that ask it."""

    def __init__(self, given, folder):
        self.completions = pathlib.Path(given.completions).resolve()
        self.folder = folder
        command = pathlib.Path(given.tilejit).resolve()
        self.environment = os.environ | {"PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
                                         "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "none"),
                                         "LC_ALL": "C.UTF-8"}

    def run(self, *words):
        process = subprocess.run([str(word) for word in words], cwd=self.folder, env=self.environment, timeout=60,
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return process.stdout.splitlines(), process.stderr, process.returncode

    def tilejit(self, words):
        lines, _, status = self.run("tilejit", "complete", "--", *words)
        return [line.split("\t")[0] for line in lines] + [f"status {status}"] * (status != 0)

    def checked(self, *words):
        """What a shell prints, which says nothing on standard error."""
        lines, errors, status = self.run(*words)
        return lines + errors.splitlines() + [f"status {status}"] * (status != 0)

    def bash(self, line):
        return self.checked("bash", "--norc", "--noprofile", "-c", BASH, "bash", self.completions / "tilejit.bash",
                            f"tilejit {line}", *bash_words(f"tilejit {line}"))

    def zsh(self, words):
        return self.checked("zsh", "-f", "-c", ZSH, "zsh", self.completions / "_tilejit", "tilejit", *words)

    def fish(self, line):
        script = "source $argv[1]; complete --do-complete $argv[2]"
        lines = self.checked("fish", "--no-config", "-c", script, self.completions / "tilejit.fish", f"tilejit {line}")
        return [text.split("\t")[0] for text in lines]


def bash_words(line):
    """A line as COMP_WORDS has it: broken at blanks, and before and behind : and =, but not inside of quotes."""
    words, quote, escaped = [""], "", False
    for character in line:
        if quote or escaped:
            words[-1] += character
            quote, escaped = "" if character == quote else quote, False
        elif character == " ":
            words.append("")
        elif character in ":=":
            words[-1:] = [*filter(None, words[-1:]), character, ""]
        else:
            words[-1] += character
            quote, escaped = character if character in "'\"" else "", character == "\\"
    return words[:-1] if words[-1] == "" and line[-1] in ":=" else words


def complaint(name, line, found, expected):
    return [] if sorted(found) == sorted(expected) else [f"{name}: {line}: {found}, not {expected}"]


def check_rows(name, complete, rows):
    for line, expected in rows:
        yield from complaint(name, line, complete(line), expected)


def check_tables(shells):
    """Every command, and every option of each, as the tables of help have them."""
    commands = json.loads(shells.run("tilejit", "help", "--json")[0][0])["commands"]
    yield from complaint("tilejit", "", shells.tilejit([""]), [command["name"] for command in commands])
    for command in commands:
        options = [option["dashes"] + option["name"] for option in command["options"]]
        yield from complaint("tilejit", command["name"], shells.tilejit([command["name"], "-"]), options)


def check_usage(shells):
    for words in (["complete"], ["complete", "--"], ["complete", "run"]):
        _, errors, status = shells.run("tilejit", *words)
        if status != 2 or "usage" not in errors and "complete takes" not in errors:
            yield f"{words}: status {status}: {errors}"


def check(given, folder):
    for name in ("some.tile", "with space.tile"):
        (folder / name).write_text(PROGRAM, encoding="utf-8")
    (folder / "wrong.tile").write_text(PROGRAM + "kernel", encoding="utf-8")
    shells = Shells(given, folder)
    yield from check_tables(shells)
    yield from check_usage(shells)
    yield from check_rows("tilejit", shells.tilejit, ROWS)
    for name, rows in (("bash", BASH_ROWS), ("zsh", ZSH_ROWS), ("fish", FISH_ROWS)):
        if shutil.which(name):
            yield from check_rows(name, getattr(shells, name), rows)
        else:
            print(f"{name} is not installed: not asked")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tilejit", "completions"):
        parser.add_argument(f"--{name}", required=True)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        complaints = list(check(given, pathlib.Path(folder)))
    print(*complaints, sep="\n")
    print(f"{len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

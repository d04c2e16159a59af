#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tilejit command where golden files do not reach: standard input, JSON errors, terminals, signals, arrays.

    run_command.py --tilejit PATH

Each function of the list TESTS makes runs and asserts what comes of them. Needs Python 3.9 and nothing else.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import traceback

SECONDS = 60


class Command:
    def __init__(self, tilejit):
        self.tilejit = os.path.abspath(tilejit)

    def run(self, *words, text="", status=0):
        """Standard output and standard error of a run that must end with this status."""
        process = subprocess.run([self.tilejit, *words], input=text, capture_output=True, text=True, timeout=SECONDS,
                                 check=False)
        assert process.returncode == status, f"{words}: exit status {process.returncode}\n{process.stderr}"
        return process.stdout, process.stderr


def equal(found, expected):
    assert found == expected, f"{found!r} instead of {expected!r}"


# Input.


def standard_input(command):
    for words in (["simplify", "-"], ["simplify", "-f", "-"], ["eval", "-f", "-"]):
        equal(command.run(*words, text="param i in 0..9;\n(i*4)/2\n")[0].replace(" ", ""), "i*2\n")
    equal(command.run("eval", "-", "-e", "A(1, 2)", text="let A = (4,8):(8,1)\n")[0], "10\n")
    equal(command.run("prove", "-", "A", "32:2", text="let A = (4,8):(1,4)\n", status=1)[0][:9], "different")
    assert "bijective: yes" in command.run("check", "-", text="(4,8):(8,1)\n")[0]
    assert "0 | 0 | 1 |" in command.run("show", "-", text="(1,2):(1,1)\n")[0]


def empty_lines(command):
    equal(command.run("eval", "-", text="1+1\n\n   \n# a comment\n  # another\n2+2 # beside\n")[0], "2\n4\n")


# Errors as JSON.


def json_errors(command):
    """One object on standard error, nothing on standard output."""
    place = {"file": "<expression>", "line": 1, "column": 8, "span": [8, 11], "text": "  1 +  foo"}
    cases = [
        (["eval", "  1 +  foo"], 1, "TJ2001", place),
        (["show", "  1 +  foo"], 1, "TJ2001", place),
        (["simplify", "  1 +  foo"], 1, "TJ2001", place),
        (["check", "-e", "  1 +  foo"], 1, "TJ2001", place),
        (["compile", "--emit", "ast", "-e", "(1"], 1, "TJ1004", None),
        (["prove", "1", "foo"], 1, "TJ2001", None),
        (["run", "/nonexistent.tile"], 1, "TJ6004", None),
        (["run", "-e", "kernel k(d: i32 @ 8:1) = offsets(d, 8:2)", "--device", "none"], 1, "TJ6001", None),
        (["disasm", "/dev/null"], 1, "TJ5005", None),
        (["eval", "--nonsense"], 2, "usage", None),
        (["nonsense"], 2, "usage", None),
        (["show", "8", "--as", "png"], 2, "usage", None),
        (["cache", "nonsense"], 2, "usage", None),
        (["help", "nonsense"], 2, "usage", None),
        (["version", "nonsense"], 2, "usage", None),
        (["devices", "nonsense"], 2, "usage", None),
    ]
    for words, status, code, where in cases:
        output, errors = command.run(*words, "--json", status=status)
        error = json.loads(errors)
        equal(output, "")
        equal(sorted(error), ["code", "message", "note", "place"])
        equal((words, error["code"]), (words, code))
        assert error["message"] and error["note"]
        if where is not None:
            equal(error["place"], where)


def json_lines(command):
    """What fails among lines has its error in its place."""
    output, errors = command.run("eval", "-", "--json", text="1+1\n2 +\n3\n", status=1)
    lines = [json.loads(line) for line in output.splitlines()]
    equal([lines[0], lines[1]["code"], lines[1]["place"]["column"], lines[2]],
          [{"value": "2"}, "TJ1004", 4, {"value": "3"}])
    equal(errors, "")


# The tables.


def tables(command):
    """Every kind of value has a description, every word is a choice, and every usage begins with its command."""
    dump = json.loads(command.run("help", "--json")[0])
    kinds = {kind["name"] for kind in dump["kinds"]}
    for entry in dump["commands"]:
        assert entry["usage"].startswith(entry["name"])
        equal(json.loads(command.run("help", entry["name"], "--json")[0]), entry)
        for row in entry["options"] + entry["operands"]:
            assert row["kind"] is None or row["kind"] in kinds, row
            equal(row["kind"] == "word", row["words"] is not None)
        assert {"json", "help"} <= {row["name"] for row in entry["options"]}


TESTS = [standard_input, empty_lines, json_errors, json_lines, tables]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilejit", required=True, help="the command to test")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        command = Command(options.tilejit)
        os.chdir(folder)
        for test in TESTS:
            try:
                test(command)
            except Exception:  # pylint: disable=broad-except
                failed += 1
                print(f"--- {test.__name__}\n{traceback.format_exc()}")
    print(f"{len(TESTS)} tests, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

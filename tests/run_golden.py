#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tilejit command on golden files, error tables and the examples of documents.

    run_golden.py --tilejit PATH golden FILE-OR-FOLDER…     tests/golden/README.md describes the files
    run_golden.py --tilejit PATH errors FILE-OR-FOLDER…     tests/errors/README.md describes the tables
    run_golden.py --tilejit PATH docs FILE…                 indented lines of the form `expression   → result`

Prints what differs, and a count; exit status 1 when anything differs. Needs Python 3.9 and nothing else.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SECONDS = 60
MOST_ERROR_BYTES = 8192
LIBRARIES = pathlib.Path(__file__).parent / "golden/imports"
CRASH_MARKS = ("Sanitizer", "runtime error:", "Assertion", "core dumped", "PLEASE submit a bug report")


@dataclasses.dataclass
class Outcome:
    """How one run of the command ended."""

    status: int
    output: str
    errors: str


@dataclasses.dataclass
class Problem:
    """A diagnostic that is expected: its code, its place as line:column, "-" for none, "" for any, and texts that its
    message or note has."""

    code: str
    place: str
    says: list


class Runner:
    def __init__(self, tilejit, folder):
        self.tilejit = os.path.abspath(tilejit)
        self.folder = folder

    def run(self, words, text=None):
        """Runs the command; `text` is its standard input."""
        environment = dict(os.environ, NO_COLOR="1", XDG_CACHE_HOME=str(self.folder / "cache"),
                           TILEJIT_PATH=str(LIBRARIES))
        process = subprocess.run([self.tilejit, *words], input=text or b"", capture_output=True, timeout=SECONDS,
                                 cwd=self.folder, env=environment, check=False)
        decode = lambda data: data.decode("utf-8", "replace")
        return Outcome(process.returncode, decode(process.stdout), decode(process.stderr))

    def file_with(self, data):
        """A new file that holds these bytes."""
        handle, path = tempfile.mkstemp(suffix=".tile", dir=self.folder)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        return path


# Judging outcomes. Each function gives a list of complaints.


def judge_health(outcome):
    complaints = [f"standard error has '{mark}':\n{outcome.errors}" for mark in CRASH_MARKS if mark in outcome.errors]
    if outcome.errors and not outcome.errors.endswith("\n"):
        complaints.append(f"standard error ends within a line: {outcome.errors[-80:]!r}")
    if outcome.status < 0 or outcome.status > 3:
        complaints.append(f"exit status {outcome.status}")
    return complaints


def judge_problem(outcome, problem, status=1):
    """Whether a run failed with one diagnostic, at its place, with its source line, caret and note."""
    complaints = judge_health(outcome)
    first, _, rest = outcome.errors.partition("\n")
    match = re.match(r"(?:(.*?):(\d+):(\d+): )?(?:.*?: )?error: (TJ\d{4}): (.+)", first)
    if outcome.status != status:
        complaints.append(f"exit status {outcome.status}, not {status}")
    if outcome.output:
        complaints.append(f"standard output is not empty: {outcome.output[:200]!r}")
    if match is None:
        return complaints + [f"no diagnostic, {problem.code} expected: {outcome.errors[:400]!r}"]
    place = f"{match[2]}:{match[3]}" if match[2] else "-"
    if match[4] != problem.code:
        complaints.append(f"{match[4]} instead of {problem.code}: {match[5]}")
    if problem.place and place != problem.place:
        complaints.append(f"at {place} instead of {problem.place}: {match[5]}")
    if place != "-" and not re.search(r"^[ |\d]*\^~*\s*$", rest, re.MULTILINE):
        complaints.append(f"no caret line: {rest!r}")
    if not re.search(r"note: \S", rest):
        complaints.append(f"no note: {rest!r}")
    complaints += [f"does not say {text!r}: {outcome.errors}" for text in problem.says if text not in outcome.errors]
    if len(outcome.errors.encode()) > MOST_ERROR_BYTES:
        complaints.append(f"the diagnostic has {len(outcome.errors)} characters")
    return complaints


def judge_lines(outcome, lines, patterns, status):
    complaints = judge_health(outcome)
    if outcome.status != status:
        complaints.append(f"exit status {outcome.status}, not {status}: {outcome.errors.strip()}")
    if lines is not None and outcome.output.splitlines() != lines:
        complaints.append("standard output is\n" + indent(outcome.output) + "instead of\n" + indent("\n".join(lines)))
    for pattern in patterns:
        if not re.search(pattern, outcome.output, re.MULTILINE):
            complaints.append(f"no line matches {pattern!r} in\n" + indent(outcome.output))
    return complaints


def indent(text):
    return "".join(f"    {line}\n" for line in text.splitlines()) or "    (nothing)\n"


QUOTED = re.compile(r'"([^"]*)"')


def read_problem(text):
    """`TJnnnn place "text"…`; place and texts may be missing."""
    code, _, place = QUOTED.sub("", text).strip().partition(" ")
    return Problem(code, place.strip(), QUOTED.findall(text))


# Golden files.

ITEM = re.compile(r"\s*(param|let|kernel|import)\b")
BESIDE = re.compile(r"^(.*?\S)\s*#(=|>|\?)\s*(.*?)\s*$|^(.*?\S)\s*#([\[{].*?)\s*$")


@dataclasses.dataclass
class Beside:
    """One line of a program with the expectation that stands beside it."""

    line: int
    program: str  # everything needed to evaluate it, on as many lines as the file has up to here
    kind: str  # = > ? [ {
    expected: str


@dataclasses.dataclass
class Command:
    """A `#!` line with the expectations that follow it."""

    line: int
    words: list
    lines: list
    patterns: list
    problem: Problem
    status: int


def separated(items):
    """Items of a program, such that an expression may follow."""
    body = "\n".join(line.split("#")[0].rstrip() for line in items)
    return body + ";" if body.strip() and not body.rstrip().endswith(";") else body


def read_golden(path):
    """The expectations of a golden file: those beside lines, and commands."""
    beside, commands, items = [], [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        stripped = line.strip()
        match = BESIDE.match(line)
        if stripped.startswith("#!"):
            commands.append(Command(number, shlex.split(stripped[2:]), None, [], None, 0))
        elif commands and stripped.startswith(("#=", "#~", "#?", "#exit")) and not (match and match[1]):
            read_expectation(commands[-1], stripped, path, number)
        elif match and not stripped.startswith("#"):
            code, kind, expected = (match[1], match[2], match[3]) if match[1] else (match[4], match[5][0], match[5])
            before = separated(items) if not ITEM.match(code) else "\n".join(i.split("#")[0] for i in items)
            beside.append(Beside(number, (before + "\n" if items else "") + code, kind, expected))
            items.append("")
            continue
        items.append("" if stripped.startswith("#") else line)
    return beside, commands


def read_expectation(command, line, path, number):
    if line.startswith("#="):
        command.lines = (command.lines or []) + [line[2:].removeprefix(" ")]
    elif line.startswith("#~"):
        command.patterns.append(line[2:].strip())
    elif line.startswith("#exit"):
        command.status = int(line[5:])
    elif line.startswith("#?"):
        command.problem = read_problem(line[2:])
        command.status = command.status or 1
    else:
        raise ValueError(f"{path}:{number}: {line}")


def check_values(runner, tests):
    """All `#=` expectations of a file in one run of `eval -`."""
    lines = [" ".join(test.program.split("\n")) for test in tests]
    outcome = runner.run(["eval", "-"], ("\n".join(lines) + "\n").encode())
    results = outcome.output.splitlines()
    complaints = judge_health(outcome)
    if len(results) != len(tests):
        complaints.append(f"{len(results)} lines of output for {len(tests)} expressions")
    failures = [(tests[0].line, complaint) for complaint in complaints]
    failures += [(test.line, f"{result}   instead of   {test.expected}")
                 for test, result in zip(tests, results) if result != test.expected]
    return failures


def check_table(runner, test):
    words = ["eval", "--table"] + (["--json"] if test.kind == "{" else []) + ["--", test.program]
    outcome = runner.run(words)
    complaints = judge_lines(outcome, None, [], 0)
    if not complaints and json.loads(outcome.output) != json.loads(test.expected):
        complaints.append(f"{outcome.output.strip()}   instead of   {test.expected}")
    return complaints


def check_beside(runner, test):
    if test.kind in "[{":
        return check_table(runner, test)
    if test.kind == ">":
        return judge_lines(runner.run(["simplify", "--", test.program]), test.expected.split(" ; "), [], 0)
    problem = read_problem(test.expected)
    if problem.place.startswith(":"):
        problem.place = f"{test.line}{problem.place}"
    return judge_problem(runner.run(["eval", "-f", runner.file_with(test.program.encode())]), problem)


def check_command(runner, path, command):
    words = [str(path) if word == "@" else word for word in command.words]
    outcome = runner.run(words)
    if command.problem:
        return judge_problem(outcome, command.problem, command.status)
    return judge_lines(outcome, command.lines, command.patterns, command.status)


def golden(runner, path):
    beside, commands = read_golden(path)
    values = [test for test in beside if test.kind == "="]
    failures = check_values(runner, values) if values else []
    for test in beside:
        if test.kind != "=":
            failures += [(test.line, complaint) for complaint in check_beside(runner, test)]
    for command in commands:
        failures += [(command.line, complaint) for complaint in check_command(runner, path, command)]
    return len(beside) + len(commands), failures


# Error tables.

ENTRY = re.compile(r"""(TJ\d{4}\s+\S+(?:\s+"[^"]*")*)\s*(.*?)\s*\| ?(.*)""")


def expand(text):
    """Bytes of a program as an error table writes it: {{nl}}, {{xff 00}}, {{1000*text}}."""

    def replacement(match):
        inside = match[1]
        if inside == "nl":
            return "\n"
        if inside.startswith("x"):
            return bytes.fromhex(inside[1:]).decode("utf-8", "surrogateescape")
        count, _, repeated = inside.partition("*")
        return repeated * int(count)

    return re.sub(r"\{\{(.*?)\}\}", replacement, text).encode("utf-8", "surrogateescape")


def check_entry(runner, match):
    problem, command, program = match.groups()
    status = 1
    words = shlex.split(command)
    if words and words[0].startswith("exit="):
        status = int(words.pop(0)[5:])
    words = words or ["eval", "-f", "@"]
    path = runner.file_with(expand(program))
    try:
        outcome = runner.run([re.sub(r"(^|=)@$", rf"\g<1>{path}", word) for word in words])
    except subprocess.TimeoutExpired:
        return [f"takes more than {SECONDS} seconds"]
    return judge_problem(outcome, read_problem(problem), status)


def errors(runner, path):
    entries, failures = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = ENTRY.fullmatch(line)
        if match:
            entries.append((number, match))
        elif line.strip() and not line.startswith("#"):
            failures.append((number, "neither an entry nor a comment"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        judged = pool.map(lambda entry: check_entry(runner, entry[1]), entries)
    for (number, match), complaints in zip(entries, judged):
        failures += [(number, f"{match[3][:60]}: {complaint}") for complaint in complaints]
    return len(entries), failures


# Examples of documents.


def read_examples(path):
    """Programs of indented lines `expression → result`, after the items of the same block."""
    tests, items = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("    "):
            items = []
            continue
        code, arrow, result = line.strip().partition("→")
        if not arrow:
            items.append(line)
            continue
        result = re.split(r"\s{3,}", result.strip())[0]
        tests.append(Beside(number, separated(items) + " " + code.strip(), "=", result))
    return tests


def docs(runner, path):
    tests = read_examples(path)
    return len(tests), check_values(runner, tests) if tests else []


def paths_of(names, pattern):
    for name in names:
        path = pathlib.Path(name)
        yield from sorted(path.rglob(pattern)) if path.is_dir() else [path]


def main():
    modes = {"golden": (golden, "*.tile"), "errors": (errors, "*.errors"), "docs": (docs, "*.md")}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilejit", required=True, help="the command to test")
    parser.add_argument("mode", choices=modes)
    parser.add_argument("path", nargs="+")
    options = parser.parse_args()
    check, pattern = modes[options.mode]
    total, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(options.tilejit, pathlib.Path(folder))
        for path in paths_of(options.path, pattern):
            count, failures = check(runner, path.resolve())
            total += count
            failed += len({line for line, _ in failures})
            for line, complaint in failures:
                print(f"{path}:{line}: {complaint}")
    print(f"{total} expectations, {failed} failed")
    return 1 if failed or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

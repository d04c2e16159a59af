#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installs the Python package in a new virtual environment, without a network, and tests it there.

    run_python.py --root ROOT --library LIBTILEJIT --work WORK

The package's tests run in the environment, which has no NumPy, and again with NumPy, by whichever Python has it; then
also the examples of README.md and docs/python.md: lines that begin with ">>> ", as doctest reads them. Exit status 1
when anything differs.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HELPFUL = ("TILEJIT_LIBRARY", "PYTHONPATH", "LD_LIBRARY_PATH", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL")
DOCUMENTS = ("README.md", "docs/python.md")
HOLDS = ("tilejit/libtilejit.so.0", "tilejit/libtilejit-hsasim.so", "tilejit/libtilejit-passes.so", "tilejit/py.typed", "tilejit/__init__.py",
         "tilejit/share/tilejit/atoms.tile")
EXAMPLES = """
import doctest, pathlib, sys
tried = failed = 0
for path in sys.argv[1:]:
    outcome = doctest.testfile(path, module_relative=False, encoding="utf-8",
                               optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    tried, failed = tried + outcome.attempted, failed + outcome.failed
print(tried, "examples")
sys.exit(failed > 0 or tried < 10)
"""


class Failure(Exception):
    """Something did not do what it should."""


def run(words, folder, status=0, **extra):
    """Runs a program in a folder, expects an exit status, and gives its output."""
    environment = {name: value for name, value in os.environ.items() if name not in HELPFUL} | extra
    process = subprocess.run([str(word) for word in words], cwd=folder, env=environment, text=True, timeout=300,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if process.returncode != status:
        raise Failure(f"{' '.join(map(str, words))}\nended with {process.returncode}:\n{process.stdout}")
    return process.stdout


def expect(text, pattern):
    if not re.search(pattern, text):
        raise Failure(f"expected {pattern!r} in:\n{text}")


def make_environment(given, work):
    """A virtual environment with the package in it; gives its Python and the folder of packages."""
    run([sys.executable, "-m", "venv", work / "venv"], work)
    python = work / "venv" / "bin" / "python"
    run([python, "-m", "pip", "install", "--no-cache-dir", "--disable-pip-version-check", given.root / "python"], work,
        PIP_NO_INDEX="1", TILEJIT_LIBRARY=str(given.library))
    packages = pathlib.Path(run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], work).strip())
    return python, packages


def check_files(packages):
    for name in HOLDS:
        if not (packages / name).is_file():
            raise Failure(f"the package has no {name}")
    metadata, = packages.glob("tilejit-*.dist-info/METADATA")
    expect(metadata.read_text(encoding="utf-8"), r"(?m)^Version: \d+\.\d+\.\d+$")


def check_missing(python, work):
    """Where the library is not, the error says what to do."""
    output = run([python, "-c", "import tilejit"], work, status=1, TILEJIT_LIBRARY=str(work / "nowhere.so"))
    expect(output, r"LibraryNotFound: TILEJIT_LIBRARY is .*nowhere\.so.*Build it with .* or set TILEJIT_LIBRARY")


def run_tests(python, given, work, **extra):
    output = run([python, "-m", "unittest", "discover", "-s", given.root / "python" / "tests"], work,
                 TILEJIT_HEADERS=str(given.root / "include" / "tilejit"), PYTHONDONTWRITEBYTECODE="1",
                 **extra)
    expect(output, r"Ran [1-9]\d+ tests")
    return re.search(r"Ran \d+ tests", output).group() + (", some skipped" if "skipped" in output else "")


def python_with_numpy(work):
    for candidate in dict.fromkeys([sys.executable, "/usr/bin/python3"]):
        if shutil.which(candidate) and "yes" in run([candidate, "-c", "try:\n import numpy\n print('yes')\nexcept "
                                                     "ImportError:\n pass"], work):
            return candidate
    return None


def check(given):
    work = given.work
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    python, packages = make_environment(given, work)
    check_files(packages)
    check_missing(python, work)
    print("without NumPy:", run_tests(python, given, work))
    with_numpy = python_with_numpy(work)
    if with_numpy is None:
        print("not tested with NumPy, which no Python here has")
        return
    print("with NumPy:", run_tests(with_numpy, given, work, PYTHONPATH=str(packages)))
    documents = [given.root / name for name in DOCUMENTS]
    print(run([with_numpy, "-c", EXAMPLES, *documents], given.root, PYTHONPATH=str(packages)).strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("root", "library", "work"):
        parser.add_argument(f"--{name}", required=True, type=lambda path: pathlib.Path(path).resolve())
    try:
        check(parser.parse_args())
    except Failure as failure:
        print(failure)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

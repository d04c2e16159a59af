# SPDX-License-Identifier: MIT
"""What stages of the compilation make of programs, for tests that ask for hundreds.

By the library, through the Python package: in this process, which opens LLVM once. Or by the command, which opens it
each time, where Python cannot open the library: that of sanitizers.
"""

import importlib
import os
import pathlib
import subprocess
import sys
import tempfile

SECONDS = 120


class Refusal(Exception):
    """The diagnostic of a program that does not compile."""


class CommandEmitter:
    """Makes what it is asked for by the command."""

    def __init__(self, tilejit):
        self.tilejit = tilejit

    def run(self, program, options):
        """The file that `tilejit compile` writes for a program: its file or its text."""
        words = [program] if isinstance(program, pathlib.Path) else ["-e", program]
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder) / "output"
            made = subprocess.run([self.tilejit, "compile", *words, *options, "-o", output], capture_output=True,
                                  text=True, timeout=SECONDS, check=False)
            if made.returncode == 1:
                raise Refusal(made.stderr.strip())
            if made.returncode != 0:
                raise RuntimeError(f"{program}: exit status {made.returncode}\n{made.stderr}")
            return output.read_bytes()

    def emit(self, program, stage, target, kernel=None):
        """What a stage makes of a kernel: obj, hsaco, ptx, stats."""
        named = ["--kernel", kernel] if kernel else []
        return self.run(program, ["--emit", stage, "--target", target, *named])

    def function(self, program, name, form, target):
        """The functions of a value for other compilers: obj, llvm, bc."""
        return self.run(program, ["--emit", form, "--target", target, "--function", name])


class LibraryEmitter:
    """Makes the same by the library."""

    STAGES = {"obj": "object", "bc": "bitcode"}

    def __init__(self, library):
        os.environ.update(TILEJIT_LIBRARY=library, TILEJIT_CACHE="off")
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
        self.package = importlib.import_module("tilejit")

    def bytes_of(self, function, *arguments, **options):
        """What a function of the package gives, as bytes."""
        try:
            made = function(*arguments, **options)
        except self.package.Error as error:
            raise Refusal(str(error)) from error
        return made.encode("utf-8") if isinstance(made, str) else made

    def emit(self, program, stage, target, kernel=None):
        """What a stage makes of a kernel: obj, hsaco, ptx, stats."""
        return self.bytes_of(self.package.emit, program, self.STAGES.get(stage, stage), target=target, kernel=kernel)

    def function(self, program, name, form, target):
        """The functions of a value for other compilers: obj, llvm, bc."""
        return self.bytes_of(self.package.function, program, name, self.STAGES.get(form, form), target=target)


def add_arguments(parser):
    """The options that say by what programs are compiled."""
    parser.add_argument("--tilejit", required=True, help="the command")
    parser.add_argument("--library", help="libtilejit.so, in the place of the command, where Python can open it")


def emitter_of(given):
    """Who compiles, by the options of a test."""
    return LibraryEmitter(given.library) if given.library else CommandEmitter(os.path.abspath(given.tilejit))

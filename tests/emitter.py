# SPDX-License-Identifier: MIT
"""What stages of the compilation make of programs, for tests that ask for hundreds: by the library, through the
Python package, in this process, which opens LLVM once.

Where the library is one of sanitizers, these are opened before it, with Python itself (LD_PRELOAD).
"""

import importlib
import os
import pathlib
import sys


class Refusal(Exception):
    """The diagnostic of a program that does not compile."""


def package_of(library):
    """The Python package, by a library. What only the start of this process needed is not for those that it starts: the
    command finds leaks, which Python has its own of."""
    for name in ("LD_PRELOAD", "ASAN_OPTIONS"):
        os.environ.pop(name, None)
    os.environ.update(TILEJIT_LIBRARY=library, TILEJIT_CACHE="off")
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
    return importlib.import_module("tilejit")


class Emitter:
    """Makes what it is asked for by the library."""

    STAGES = {"obj": "object", "bc": "bitcode"}

    def __init__(self, library):
        self.package = package_of(library)

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

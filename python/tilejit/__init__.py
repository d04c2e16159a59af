# SPDX-License-Identifier: MIT
"""tilejit: a just-in-time compiler for tensor layouts and coordinate transforms. docs/python.md is its guide."""

from __future__ import annotations

from typing import Any

from . import language
from ._binding import library as _library
from ._context import current as _current
from ._device import Buffer, Device, DeviceInfo, Fence, cuda_stream, device, devices
from ._errors import CancelledError, DeviceError, Error, InputError, OutOfMemoryError, UsageError
from ._kernel import Kernel, Recipe, Run, TensorMap, Word, kernel
from ._tell import (Check, Picture, Proof, Simplified, check, emit, function, prove, show, simplify, table)
from ._tile import Suggestion, check_dma, check_lds, suggest, suggest_lds
from ._value import Function, Layout, Value, evaluate, functions
from ._program import Fixed, Text

__all__ = ["Buffer", "CancelledError", "Check", "Device", "DeviceError", "DeviceInfo", "Error", "Fence", "Function",
           "InputError", "Kernel", "Layout", "OutOfMemoryError", "Picture", "Proof", "Recipe", "Run", "Simplified",
           "Suggestion", "TensorMap", "UsageError", "Value", "Word", "check", "check_dma", "check_lds", "cuda_stream",
           "device", "devices", "emit", "eval", "function", "functions", "kernel", "language", "prove", "show",
           "simplify", "suggest", "suggest_lds", "table", "version"]


def eval(text: Text, fixed: Fixed | None = None) -> Any:  # pylint: disable=redefined-builtin
    """The value of a program's last expression: an int, a tuple of ints, a Layout, or another Value."""
    return evaluate(text, fixed)


def version() -> str:
    """The library's version, and the versions of what it is built on, one line each."""
    context = _current()
    return context.text(_library.tj_version_text, context.handle)


__version__ = version().split()[1]

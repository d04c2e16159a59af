# SPDX-License-Identifier: MIT
"""Failures of the library as exceptions: one class for each way in which a call can end, all of them Error."""

from __future__ import annotations

import ctypes

from . import _binding
from ._binding import library

_LONGEST = 16384


class Error(Exception):
    """A call failed. `str()` is the diagnostic as compilers print it: place, message, source line, note.

    code         the number of TJnnnn in docs/errors.md
    message      what is wrong
    note         what would make it right
    file         what the text is called
    line, column where in the text, from 1; 0 where there is no place
    length       how many bytes of the line are to blame
    source_line  the line; "" where there is no place
    """

    code: int = 0
    message: str = ""
    note: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    length: int = 0
    source_line: str = ""


class InputError(Error, ValueError):
    """The program, or a value or an array given for it, is wrong."""


class UsageError(Error, ValueError):
    """The call itself is wrong."""


class DeviceError(Error, RuntimeError):
    """The device or the system failed."""


class OutOfMemoryError(Error, MemoryError):
    """There is no memory left."""


class CancelledError(Error):
    """The work was ended before it was done."""


_CLASSES = {_binding.ERROR_INPUT: InputError, _binding.ERROR_USAGE: UsageError, _binding.ERROR_SYSTEM: DeviceError,
            _binding.ERROR_MEMORY: OutOfMemoryError, _binding.ERROR_CANCELLED: CancelledError}


# What the library's notes say to whoever calls it in C, as it is called here.
_WORDS = {"tj_program_create": "fixed={…}", "tj_launch_set_parameter": "by its name in the call",
          "tj_launch_set_number": "its name in the call",
          "tj_device_list": "tilejit.devices()", "tj_program_show": "tilejit.show"}


def _in_words(text: str) -> str:
    for name, words in _WORDS.items():
        text = text.replace(name, words)
    return text


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


def error_of(context: int, status: int) -> Error:
    """The exception for the failure of the last call on a context."""
    address = library.tj_context_diagnostic(context)
    if not address:
        return _CLASSES.get(status, Error)(f"the library failed with {_binding.STATUS[status]}")
    diagnostic = _binding.Diagnostic.from_address(address)
    buffer = ctypes.create_string_buffer(_LONGEST)
    library.tj_diagnostic_format(address, 0, buffer, _LONGEST)
    error = _CLASSES.get(diagnostic.status, Error)(_in_words(_text(buffer.value)).rstrip("\n"))
    for name in ("code", "line", "column", "length"):
        setattr(error, name, getattr(diagnostic, name))
    for name in ("message", "note", "file", "source_line"):
        setattr(error, name, _text(getattr(diagnostic, name)))
    error.note = _in_words(error.note)
    return error


def argument_error(code: int, message: str, note: str) -> InputError:
    """An exception for what the package itself finds wrong with arrays and values, in the form of the library's."""
    error = InputError(f"tilejit: error: TJ{code:04}: {message}\n  note: {note}")
    error.code, error.message, error.note, error.file = code, message, note, "tilejit"
    return error

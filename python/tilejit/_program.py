# SPDX-License-Identifier: MIT
"""Programs: text, parsed and evaluated, and what the library tells of it."""

from __future__ import annotations

import ctypes
import numbers
import operator
import os
import pathlib
from typing import Any, Mapping, NamedTuple, Union

from . import _binding
from ._binding import CompileOptions, ParameterValue, library
from ._context import Context, Handle, current



class Source(NamedTuple):
    """A text, and what diagnostics call it: imports are looked for beside a file."""

    name: str
    text: bytes


Text = Union[str, "os.PathLike[str]", Source]
Fixed = Mapping[str, int]


def encoded(text: str | None) -> bytes | None:
    """Text for the library, which knows no zero bytes in names."""
    if text is None:
        return None
    if not isinstance(text, str):
        raise TypeError(f"a name is a str, not {type(text).__name__}")
    if "\0" in text:
        raise ValueError("a name with a zero byte")
    return text.encode("utf-8")


def source_of(text: Text) -> Source:
    """A text with its name: of a path, the file's."""
    if isinstance(text, Source):
        return text
    if isinstance(text, os.PathLike):
        path = pathlib.Path(text)
        return Source(str(path), path.read_bytes())
    if not isinstance(text, str):
        raise TypeError(f"a program is a str or a path, not {type(text).__name__}")
    return Source("<expression>", text.encode("utf-8"))


def fixed_values(fixed: Fixed | None) -> Any:
    """An array of tj_parameter_value."""
    items = list((fixed or {}).items())
    values = (ParameterValue * len(items))()
    for value, (name, number) in zip(values, items):
        value.name, value.value = encoded(name), checked_integer(number)
    return values


def checked_integer(number: Any) -> int:
    """An integer that the library's 64 bits hold."""
    value = operator.index(number)
    if not -(1 << 63) <= value < 1 << 63:
        raise OverflowError(f"{value} does not fit in 64 bits")
    return value


class Number(NamedTuple):
    """A float as its text: -0.0 is another one than 0.0, and nan the same as nan."""

    text: str


def checked_number(number: Any) -> int | Number:
    """An integer that the library's 64 bits hold, or another real number."""
    if isinstance(number, numbers.Real) and not isinstance(number, numbers.Integral):
        return Number(float(number).hex())
    return checked_integer(number)


class Program:
    """A tj_program."""

    __slots__ = ("context", "handle")

    def __init__(self, text: Text, fixed: Fixed | None = None) -> None:
        source, values, context = source_of(text), fixed_values(fixed), current()
        made = context.make(library.tj_program_create, context.handle, encoded(source.name), source.text,
                            len(source.text), values, len(values))
        self.context: Context = context
        self.handle = Handle(context, made, library.tj_program_destroy)

    def text(self, function: _binding.Function, *arguments: Any) -> str:
        """The text that a function of the program gives."""
        return self.context.text(function, self.handle.value, *arguments)

    def value(self) -> str:
        """The canonical text of the program's value."""
        return self.text(library.tj_program_value)

    def emit(self, stage: str, kernel: str | None = None, target: str | None = None) -> bytes:
        """What a stage of the compilation makes: a name of TJ_EMIT_… in lower case."""
        options = CompileOptions(encoded(kernel), encoded(target))
        number = _binding.number("TJ_EMIT_", stage)
        return self.context.bytes(library.tj_program_emit, self.handle.value, ctypes.byref(options), number)

    def declarations(self) -> dict[str, str]:
        """The declaration of each parameter, by name."""
        lines = self.emit("values", target="host").decode("utf-8").splitlines()
        return {line.split()[1]: line for line in lines if line.startswith("param ")}

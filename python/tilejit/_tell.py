# SPDX-License-Identifier: MIT
"""What the library finds out about values and kernels: simplified forms, proofs, checks, tables, pictures."""

from __future__ import annotations

import ctypes
import html
import json
import os
import pathlib
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence, Union

from . import _binding
from ._binding import CheckOptions, FunctionOptions, ShowOptions, library
from ._context import current
from ._program import Fixed, Program, Text, encoded, fixed_values, source_of
from ._value import Value

Expression = Union[Text, Value]


def program_of(expression: Expression, fixed: Fixed | None) -> Program:
    """The program of a text or a value."""
    return Program(expression.program() if isinstance(expression, Value) else expression, fixed)


@dataclass(frozen=True)
class Simplified:
    """Index expressions, simplified. `str()` is the text.

    data    {"inputs", "before": {"text", "ops"}, "after", "rules"}, and with a proof "proof"
    proved  whether each is proved equal to what it replaces; None where that was not asked for
    """

    text: str
    data: dict[str, Any] = field(repr=False)
    proved: bool | None = None

    def __str__(self) -> str:
        return self.text


def simplify(expression: Expression, *, trace: bool = False, prove: bool = False,
             fixed: Fixed | None = None) -> Simplified:
    """The index expressions of a program's value in less arithmetic; with `trace`, every rewrite."""
    program = program_of(expression, fixed)
    function, arguments, proved = library.tj_program_simplify, [], ctypes.c_int(-1)
    if prove:
        function, arguments = library.tj_program_simplify_proved, [ctypes.byref(proved)]

    def form(name: str) -> str:
        return program.text(function, _binding.number("TJ_SIMPLIFY_", name), *arguments)

    data, text = json.loads(form("JSON")), form("TRACE" if trace else "TEXT")
    return Simplified(text, data, bool(proved.value) if prove else None)


@dataclass(frozen=True)
class Proof:
    """Whether two values are equal, and why or where not. True where they are."""

    equal: bool
    text: str

    def __bool__(self) -> bool:
        return self.equal

    def __str__(self) -> str:
        return self.text


def prove(a: Expression, b: Expression, declarations: str | None = None) -> Proof:
    """Whether two values are the same for all parameters and at every coordinate. InputError with the code 2033 where
    that is not decided."""
    def text_of(expression: Expression) -> str:
        return expression.program() if isinstance(expression, Value) else source_of(expression).text.decode("utf-8")

    context, equal = current(), ctypes.c_int()
    text = context.text(library.tj_prove, context.handle, encoded(declarations), encoded(text_of(a)),
                        encoded(text_of(b)), None, 0, 0, ctypes.byref(equal))
    return Proof(bool(equal.value), text)


@dataclass(frozen=True)
class Check:
    """What is known of a map or of kernels: docs/check.md. True where all that must hold does.

    data  {"checks": [{"of", "findings": [{"about", "verdict", "text", "numbers"}…]}…], "holds"}
    """

    holds: bool
    text: str
    data: dict[str, Any] = field(repr=False)

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.text


def required_names(require: Sequence[str]) -> Any:
    """An array of the names of findings."""
    if isinstance(require, str):
        raise TypeError(f"require is a list of names: [{require!r}]")
    return (ctypes.c_char_p * len(require))(*map(encoded, require))


def check(expression: Expression, *, kernel: str | None = None, target: str | None = None, dtype: str | None = None,
          threads: bool = False, require: Sequence[str] = (), fixed: Fixed | None = None,
          passed: Mapping[str, float] | None = None, candidates: int = 0) -> Check:
    """Bijectivity, coalescing, vector widths, bank conflicts, occupancy. `require` names findings that must hold;
    `passed` are parameters and numbers of a launch, for which costs of kernels are told; `candidates` is how many
    mappings that a kernel could have are told by price."""
    program, holds, required = program_of(expression, fixed), ctypes.c_int(), required_names(require)
    if candidates < 0:
        raise ValueError(f"{candidates} candidates")
    given = passed or {}
    numbers = [encoded(name) for name, value in given.items() if isinstance(value, float)]
    values = fixed_values({name: value for name, value in given.items() if not isinstance(value, float)})
    options = CheckOptions(encoded(kernel), encoded(target), encoded(dtype), int(threads), required, len(required),
                           parameter=values, parameter_count=len(values), candidates=candidates,
                           number=(ctypes.c_char_p * len(numbers))(*numbers), number_count=len(numbers))

    def form(name: str) -> str:
        options.form = _binding.number("TJ_CHECK_", name)
        return program.text(library.tj_program_check, ctypes.byref(options), ctypes.byref(holds))

    text, data = form("TEXT"), json.loads(form("JSON"))
    return Check(bool(holds.value), text, data)


def table(expression: Expression, fixed: Fixed | None = None) -> list[Any]:
    """The values of a map over its domain: first mode fastest for layouts, last dimension fastest for views."""
    form = _binding.number("TJ_TABLE_", "VALUES")
    return json.loads(program_of(expression, fixed).text(library.tj_program_table, form))


class Picture:
    """A picture of a map. `str()` is text for terminals; notebooks display the SVG."""

    def __init__(self, program: Program, options: dict[str, Any]) -> None:
        self._program = program
        self._options = options

    def _form(self, name: str, **more: Any) -> str:
        options = ShowOptions(form=_binding.number("TJ_SHOW_", name), **self._options, **more)
        return self._program.text(library.tj_program_show, ctypes.byref(options))

    @property
    def svg(self) -> str:
        """One self-contained SVG document."""
        return self._form("SVG")

    @property
    def latex(self) -> str:
        """One standalone LaTeX document."""
        return self._form("LATEX")

    @property
    def data(self) -> dict[str, Any]:
        """Grids, their labels, and every cell."""
        return json.loads(self._form("JSON"))

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes a file, in the form of its suffix: .svg, .tex, .json, .txt."""
        forms = {".svg": "SVG", ".tex": "LATEX", ".json": "JSON", ".txt": "TEXT"}
        suffix = pathlib.Path(path).suffix
        if suffix not in forms:
            raise ValueError(f"{path}: pictures are {', '.join(forms)}")
        pathlib.Path(path).write_text(self._form(forms[suffix]) + "\n", encoding="utf-8")

    def __str__(self) -> str:
        return self._form("TEXT")

    __repr__ = __str__

    def _repr_svg_(self) -> str | None:
        return _drawn(lambda: self.svg)

    def _repr_html_(self) -> str | None:
        return _drawn(lambda: f'<div style="overflow:auto">{_element(self.svg)}</div>') or \
            f"<pre>{html.escape(str(self))}</pre>"


def _element(document: str) -> str:
    """An SVG document as an element of HTML: without what stands before it."""
    return document[document.index("<svg"):]


def _drawn(draw: Any) -> str | None:
    """What is drawn; None for what has no picture, such as an integer or what is too large."""
    try:
        return draw()
    except ValueError:
        return None


def show(expression: Expression, *, color: str = "default", width: int = 0, tile: tuple[int, int] = (0, 0),
         ansi: bool = False, fixed: Fixed | None = None) -> Picture:
    """A picture of a program's value. `color` is what colours say: index, cycle, thread, value, none. With `tile`, the
    value is a (thread, value) layout onto it."""
    options = {"colour": _binding.number("TJ_SHOW_COLOUR_", color), "width": width,
               "tile": (ctypes.c_int64 * 2)(*tile), "ansi": int(ansi)}
    return Picture(program_of(expression, fixed), options)


_BINARY = ("object", "hsaco", "bitcode")


def _decoded(stage: str, output: bytes) -> Any:
    return output if stage in _BINARY else output.decode("utf-8")


def emit(program: Expression, stage: str, *, target: str = "host", kernel: str | None = None,
         fixed: Fixed | None = None) -> Any:
    """What a stage of the compilation makes of a kernel: ast, values, index, simplified, tiled, llvm, asm, stats as
    str, object and hsaco as bytes."""
    return _decoded(stage, program_of(program, fixed).emit(stage, kernel, target))


def function(expression: Expression, name: str, form: str = "c", *, target: str | None = None,
             kernel: str | None = None, fixed: Fixed | None = None) -> Any:
    """The index arithmetic of a value as functions for other compilers (docs/embedding.md): c, header, llvm, asm as
    str, bitcode and object as bytes. Or, as c, the arithmetic of a kernel's statements: of the only one where the
    program has no value."""
    program = program_of(expression, fixed)
    options = FunctionOptions(name=encoded(name), target=encoded(target), kernel=encoded(kernel))
    number = _binding.number("TJ_FUNCTION_", form)
    return _decoded(form, program.context.bytes(library.tj_program_function, program.handle.value,
                                                ctypes.byref(options), number))

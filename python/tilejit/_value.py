# SPDX-License-Identifier: MIT
"""Values of the language: layouts, swizzles, tilers, views, distributions, integers with parameters.

A Value is its canonical text, together with the declarations of the parameters in it. Its methods are the functions of
the language, as the library lists them: `A.logical_divide((4, 3))` is logical_divide(A, (4,3)). What comes out is an
int, a tuple of ints, or a Value again, which is a Layout where it is one.
"""

from __future__ import annotations

import functools
import json
import operator
import re
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping

from . import _binding
from ._binding import library
from ._context import current
from ._program import Fixed, Program, Text

_NAME = re.compile(r"[A-Za-z_]\w*")
_INTEGERS = re.compile(r"-?\d+|\((?:[-\d,\s()])*\)")


@dataclass(frozen=True)
class Function:
    """A function of the language: docs/language.md, section 7."""

    name: str
    group: str
    form: str
    named: tuple[str, ...]
    meaning: str
    example: str
    value: str
    cute: tuple[str, ...]
    ck: tuple[str, ...]

    def __str__(self) -> str:
        names = "".join(f"\n{vocabulary}: {', '.join(called)}" for vocabulary, called in
                        (("CuTe", self.cute), ("CK Tile", self.ck)) if called)
        return f"{self.form}: {self.meaning}\n\n{self.example} is {self.value}{names}"


@functools.lru_cache(maxsize=None)
def functions() -> Mapping[str, Function]:
    """Every function of the language, by name."""
    context = current()
    rows = json.loads(context.text(library.tj_language_functions, context.handle,
                                   _binding.number("TJ_LANGUAGE_", "JSON")))
    lists = ("named", "cute", "ck")
    return {row["name"]: Function(**{key: tuple(value) if key in lists else value for key, value in row.items()})
            for row in rows}


def written(value: Any) -> str:
    """A value in the language: ints, tuples, lists, None for the underscore, Values, and text as it stands."""
    if isinstance(value, str):
        return value
    if isinstance(value, Value):
        return value.text
    if value is None or value is Ellipsis:
        return "_"
    if isinstance(value, tuple):
        return f"({', '.join(map(written, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if not hasattr(value, "__index__"):
        raise TypeError(f"{value!r} is no value of the language: integers, tuples, lists, None, text and values are")
    return str(value.__index__())


def _operand(value: Any) -> str | None:
    """A value as it may stand beside any operator; None where its text has to have a name for that."""
    if isinstance(value, Layout):
        return f"({value.text})"
    return None if isinstance(value, (str, Value)) else written(value)


def declared(values: Any) -> dict[str, str]:
    """The declarations of all Values inside of arguments."""
    found: dict[str, str] = {}
    for value in values:
        if isinstance(value, Value):
            found.update(value.declarations)
        elif isinstance(value, (tuple, list)):
            found.update(declared(value))
    return found


def _needed(text: str, declarations: Mapping[str, str]) -> dict[str, str]:
    """The declarations of the names in a text, and of those that these mention, in their order."""
    names: set[str] = set()
    found = set(_NAME.findall(text)) & declarations.keys()
    while found - names:
        names |= found
        found = {name for known in names for name in _NAME.findall(declarations[known])} & declarations.keys()
    return {name: line for name, line in declarations.items() if name in names}


def _evaluated(program: Program, text: str, declarations: Mapping[str, str] | None) -> Any:
    if _INTEGERS.fullmatch(text):
        return _tuples(json.loads(text.replace("(", "[").replace(")", "]")))
    needed = program.declarations() if declarations is None else declarations
    return _made(Layout if _is_layout(text) else Value, text, needed)


def _made(kind: type[Value], text: str, declarations: Mapping[str, str]) -> Value:
    value = kind.__new__(kind)
    value.text, value.declarations = text, _needed(text, declarations)
    return value


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _is_layout(text: str) -> bool:
    """Whether a colon stands outside of brackets, which only layouts have, composed ones included."""
    depth = 0
    for character in text:
        depth += (character in "([<") - (character in ")]>")
        if character == ":" and depth == 0:
            return True
    return False


def evaluate(text: Text, fixed: Fixed | None = None) -> Any:
    """The value of a program's last expression."""
    program = Program(text, fixed)
    value = program.value()
    is_closed = isinstance(text, str) and "param" not in text and "import" not in text
    return _evaluated(program, value, {} if is_closed else None)


def _value_after(declarations: Mapping[str, str], lets: list[str], expression: str) -> Any:
    program = Program("".join(f"{item};\n" for item in [*declarations.values(), *lets]) + expression)
    return _evaluated(program, program.value(), declarations)


def compute(form: str, *values: Any) -> Any:
    """The value of an expression in which {0}, {1}, … stand for values."""
    lets, operands = [], []
    for number, value in enumerate(values):
        operand = _operand(value)
        if operand is None:
            operand = f"operand_{number}"
            lets.append(f"let {operand} = {written(value)}")
        operands.append(operand)
    return _value_after(declared(values), lets, form.format(*operands))


def call(name: str, *values: Any, **named: Any) -> Any:
    """A function of the language, applied."""
    given = [*map(written, values), *(f"{key}={written(value)}" for key, value in named.items())]
    return _value_after(declared([*values, *named.values()]), [], f"{name}({', '.join(given)})")


class Value:
    """A value of the language, by its canonical text."""

    __slots__ = ("text", "declarations")

    text: str
    declarations: Mapping[str, str]

    def __init__(self, text: str) -> None:
        made = evaluate(text)
        if not isinstance(made, type(self)):
            raise TypeError(f"{text} is no {type(self).__name__}")
        self.text, self.declarations = made.text, made.declarations

    def program(self) -> str:
        """A program whose value this is."""
        return "".join(f"{line}; " for line in self.declarations.values()) + self.text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.program()!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and self.program() == other.program()

    def __hash__(self) -> int:
        return hash(self.text)

    def __call__(self, *coordinate: Any) -> Any:
        """The value at a coordinate; with None or ... for a mode, the layout of what is left."""
        places = ", ".join(f"{{{number}}}" for number in range(1, len(coordinate) + 1))
        return compute(f"{{0}}({places})", self, *coordinate)

    def o(self, inner: Any) -> Any:
        """The composition: (A o B)(c) is A(B(c))."""
        return compute("{0} o {1}", self, inner)

    __matmul__ = o

    def __rmatmul__(self, outer: Any) -> Any:
        return compute("{0} o {1}", outer, self)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in functions():
            raise AttributeError(f"{type(self).__name__} has no {name!r}, and the language no such function")
        return bound(functions()[name], self)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *functions()})

    def _repr_svg_(self) -> str | None:
        from ._tell import show
        return show(self)._repr_svg_()


def bound(function: Function, *first: Any) -> Callable[..., Any]:
    """A function of the language as one of Python's, with its first arguments given."""
    made = functools.partial(call, function.name, *first)
    made.__doc__ = str(function)  # type: ignore[misc]
    return made


class Layout(Value):
    """A layout, or a composed one.

    Layout((4, 8), (8, 1)) has this shape and these strides, Layout((4, 8)) is compact and colexicographic, and
    Layout("(4,8):(8,1)") is what the text says. Leaves of shapes and strides may be text: "1@0", "M*2".
    """

    __slots__ = ()

    def __init__(self, shape: Any, stride: Any = None) -> None:
        if isinstance(shape, str) and stride is None:
            super().__init__(shape)
            return
        made = call("layout", shape) if stride is None else compute("{0}:{1}", shape, stride)
        self.text, self.declarations = made.text, made.declarations

    @property
    def shape(self) -> Any:
        """The extents of the modes."""
        return call("shape", self)

    @property
    def stride(self) -> Any:
        """The strides of the modes."""
        return call("stride", self)

    def __len__(self) -> int:
        return call("rank", self)

    def __getitem__(self, mode: int | slice) -> "Layout":
        """A mode; of a slice, the layout of these modes."""
        rank = len(self)
        if isinstance(mode, slice):
            return call("select", self, *range(rank)[mode])
        mode = operator.index(mode)
        if not -rank <= mode < rank:
            raise IndexError(f"{self} has {rank} modes")
        return compute("get({0}, {1})", self, mode % rank)

    def __iter__(self) -> Iterator["Layout"]:
        return (self[mode] for mode in range(len(self)))

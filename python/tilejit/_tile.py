# SPDX-License-Identifier: MIT
"""Tiles on their way: which layout of a tile in LDS serves those who store and load it, and how engines move boxes.

Expressions are text, values, or what values are made of: `check_lds(A, load="(64,4):(4,1)")`. Text sees the items of
`declarations`, which may define names and import atoms.
"""

from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass, field
from typing import Any, Sequence, Tuple

from . import _binding
from ._binding import DmaQuestion, LdsQuestion, library
from ._context import current
from ._program import Fixed, encoded, fixed_values
from ._tell import Check, Expression, program_of, required_names
from ._value import declared, written

_TEXT, _JSON = (_binding.number("TJ_CHECK_", name) for name in ("TEXT", "JSON"))


def _declarations(declarations: str | None, expressions: Sequence[Any]) -> bytes | None:
    """What the caller declares, and the parameters of values."""
    lines = [*declared(expressions).values(), *([declarations] if declarations else [])]
    return encoded("\n;\n".join(lines)) if lines else None


def _expression(value: Any) -> bytes | None:
    return None if value is None else encoded(written(value))


def _asked(function: _binding.Function, question: Any, *results: Any) -> Tuple[str, Any]:
    """What the library says to a question, as text and as data."""
    def form(number: int) -> str:
        context, question.form = current(), number
        return context.text(function, context.handle, ctypes.byref(question), *results)

    return form(_TEXT), json.loads(form(_JSON))


def _lds_question(lds: Any, store: Any, load: Any, declarations: str | None, fixed: Fixed | None,
                  **more: Any) -> LdsQuestion:
    if store is None and load is None:
        raise TypeError("somebody stores the tile or loads it: give store, load, or both")
    values = fixed_values(fixed)
    return LdsQuestion(_declarations(declarations, [lds, store, load]), _expression(lds), _expression(store),
                       _expression(load), fixed=values, fixed_count=len(values), **more)


def check_lds(lds: Any, *, store: Any = None, load: Any = None, target: str = "gfx942", dtype: str | None = None,
              require: Sequence[str] = (), declarations: str | None = None, fixed: Fixed | None = None) -> Check:
    """What the banks of LDS make of a tile that lies there by the map `lds`, from its coordinate to the element, and is
    stored and loaded by distributions or (thread, value) layouts: instructions, phases, cycles, lanes that meet.
    `require` may name "injective" and "conflict-free"."""
    names, holds = required_names(require), ctypes.c_int()
    question = _lds_question(lds, store, load, declarations, fixed, target=encoded(target), dtype=encoded(dtype),
                             require=names, require_count=len(names))
    text, data = _asked(library.tj_check_lds, question, ctypes.byref(holds))
    return Check(bool(holds.value), text, data)


@dataclass(frozen=True)
class Suggestion:
    """What serves best: docs/check.md. `str()` is the text.

    data  the JSON that `tilejit suggest` prints
    """

    text: str
    data: dict[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return self.text


def suggest_lds(*, store: Any = None, load: Any = None, tile: Tuple[int, int] = (0, 0), bytes: int = 0,
                target: str = "gfx942", dtype: str | None = None, declarations: str | None = None,
                fixed: Fixed | None = None) -> Suggestion:
    """The layouts of a tile in LDS that take the fewest cycles for those who store and load it, the best first; in at
    most so many bytes, where that is not 0. `tile` is its extents, where coordinates do not say them."""
    question = _lds_question(None, store, load, declarations, fixed, target=encoded(target), dtype=encoded(dtype),
                             bytes=bytes, tile=(ctypes.c_int64 * 2)(*tile))
    return Suggestion(*_asked(library.tj_suggest_lds_layouts, question))


def suggest(expression: Expression, *, dtype: str | None = None, fixed: Fixed | None = None) -> Suggestion:
    """How many elements of a layout or a view in memory surely move at once, and of what parameters would have to be
    multiples for wider accesses."""
    program = program_of(expression, fixed)

    def form(number: int) -> str:
        return program.text(library.tj_program_suggest, encoded(dtype), number)

    return Suggestion(form(_TEXT), json.loads(form(_JSON)))


def check_dma(tensor: Any, tile: Any, *, target: str, lds: Any = None, at: Any = None, dtype: str | None = None,
              declarations: str | None = None, fixed: Fixed | None = None) -> Check:
    """By which instructions the engine of a GPU moves tiles of a tensor between memory and LDS, or why it does not:
    tensor descriptors of gfx1250, tensor maps of sm_90 and later. True where it does."""
    values, holds = fixed_values(fixed), ctypes.c_int()
    question = DmaQuestion(_declarations(declarations, [tensor, tile, lds, at]), _expression(tensor),
                           _expression(tile), _expression(lds), _expression(at), encoded(target), encoded(dtype),
                           values, len(values))
    text, data = _asked(library.tj_check_dma, question, ctypes.byref(holds))
    return Check(bool(holds.value), text, data)

# SPDX-License-Identifier: MIT
"""Every function of the language, by its name: `language.complement(4, 24)`.

Arguments are ints, tuples, lists, Values, None for the underscore, or text in the language; named ones are given by
name. help(), dir() and `tilejit.functions()` tell what there is.
"""

from __future__ import annotations

from typing import Any, Callable

from . import _value


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("_") or name not in _value.functions():
        raise AttributeError(f"the language has no function {name!r}")
    return _value.bound(_value.functions()[name])


def __dir__() -> list[str]:
    return sorted(_value.functions())

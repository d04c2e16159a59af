# SPDX-License-Identifier: MIT
"""Layouts of kernels' arguments against arrays: what shapes and strides say of parameters, and whether they fit.

An argument's layout is its canonical text, `(M,N):(S,1)`. An array is compared with it mode by mode where it has as
many dimensions. A leaf is an integer, the name of a parameter, or None: something that is not looked into.
"""

from __future__ import annotations

import re
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from ._array import Key, item_bytes
from ._errors import argument_error

Leaf = Union[int, str, None]
_ARGUMENT = re.compile(r"  (\w+): \w+ @ (.+)")


class Modes(NamedTuple):
    """A layout's modes: extents, and strides in elements."""

    shape: Tuple[Leaf, ...]
    stride: Tuple[Leaf, ...]


def argument_layouts(values: str, kernel: str) -> dict[str, Modes]:
    """The layouts of a kernel's arguments, from the text of TJ_EMIT_VALUES; those that are no layouts are left out."""
    found, is_inside = {}, False
    for line in values.splitlines():
        argument = _ARGUMENT.fullmatch(line)
        if not line.startswith(" "):
            is_inside = line == f"kernel {kernel}"
        elif is_inside and argument:  # not a number of the launch
            modes = _modes(argument.group(2))
            if modes:
                found[argument.group(1)] = modes
    return found


def _modes(text: str) -> Modes | None:
    parts = _split(text, ":")
    if len(parts) != 2:
        return None
    shape, stride = map(_leaves, parts)
    return Modes(shape, stride) if len(shape) == len(stride) else None


def _split(text: str, separator: str) -> list[str]:
    """The parts of a text between separators that stand outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([<") - (character in ")]>")
        if character == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _leaves(text: str) -> tuple[Leaf, ...]:
    is_tuple = text.startswith("(") and text.endswith(")") and len(_split(text[1:-1], ")")) == 1
    return tuple(_leaf(part.strip()) for part in (_split(text[1:-1], ",") if is_tuple else [text]))


def _leaf(text: str) -> Leaf:
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return text if re.fullmatch(r"[A-Za-z_]\w*", text) else None


# --- arrays ---


def element_strides(key: Key) -> tuple[int, ...] | None:
    """An array's strides in elements; None where they are no whole numbers of them, or nothing is told."""
    if key.shape is None:
        return None
    if key.strides is None:
        strides, step = [], 1
        for length in reversed(key.shape):
            strides.append(step)
            step *= length
        return tuple(reversed(strides))
    item = item_bytes(key.dtype)
    return None if any(stride % item for stride in key.strides) else tuple(stride // item for stride in key.strides)


def _bind(leaf: Leaf, value: int, said: Dict[str, int]) -> bool:
    """Whether a leaf may have a value; if it is a parameter, it has it from then on."""
    if isinstance(leaf, str):
        return said.setdefault(leaf, value) == value
    return leaf is None or leaf == value


class Saying(NamedTuple):
    """What one array says of parameters: surely, and by strides of modes that have one element."""

    sure: Dict[str, int]
    unsure: Dict[str, int]


def saying_of(modes: Modes, key: Key, known: Mapping[str, int]) -> Saying | None:
    """What an array says of parameters; None where it cannot have this layout."""
    strides = element_strides(key)
    if strides is None or key.shape is None or len(strides) != len(modes.shape):
        return None
    sure: Dict[str, int] = dict(known)
    unsure: Dict[str, int] = {}
    for leaf, length in zip(modes.shape, key.shape):
        if not _bind(leaf, length, sure):
            return None
    for leaf, length, stride in zip(modes.stride, key.shape, strides):
        if length > 1 and not _bind(leaf, stride, sure):
            return None
        if length == 1 and isinstance(leaf, str):
            unsure.setdefault(leaf, stride)
    return Saying({name: value for name, value in sure.items() if name not in known}, unsure)


def fits(modes: Modes, key: Key, values: Mapping[str, int]) -> bool:
    """Whether an array surely has a layout, with the parameters' values."""
    leaves = [*modes.shape, *modes.stride]
    is_known = all(isinstance(leaf, int) or leaf in values for leaf in leaves)
    return is_known and saying_of(modes, key, values) is not None


def _refuse_contradiction(modes: Modes, argument: str, key: Key, given: Mapping[str, int]) -> None:
    """Names a parameter that an array contradicts, where it would have the layout if the parameter were not given."""
    said = saying_of(modes, key, {})
    for name, value in (said.sure if said else {}).items():
        if given.get(name, value) != value:
            raise argument_error(6015, f"'{name}' is {given[name]}, and {value} by the array of '{argument}'",
                                 f"pass arrays that agree, or do not give {name}")


def parameters_of(layouts: Mapping[str, Modes], arrays: Sequence[Tuple[str, Optional[Key]]],
                  given: Mapping[str, int]) -> dict[str, int]:
    """The parameters that shapes and strides of arrays say, by the names of the arguments."""
    values: Dict[str, int] = {}
    source: Dict[str, str] = {}
    weak: List[Dict[str, int]] = []
    for argument, key in arrays:
        said = None
        if key is not None and argument in layouts:
            said = saying_of(layouts[argument], key, given)
            if said is None:
                _refuse_contradiction(layouts[argument], argument, key, given)
        for name, value in (said.sure if said else {}).items():
            if values.setdefault(name, value) != value:
                raise argument_error(
                    6015, f"'{name}' is {values[name]} by the array of '{source[name]}', and {value} by that of "
                    f"'{argument}'", f"pass arrays that agree, or give {name}")
            source.setdefault(name, argument)
        weak += [said.unsure] if said else []
    for unsure in weak:
        for name, value in unsure.items():
            if name not in given:
                values.setdefault(name, value)
    return values

# SPDX-License-Identifier: MIT
"""Launches that are prepared: parameters set, each array held against its argument, and how addresses are bound.

It is done once for the types, shapes and strides of the arrays. Parameters that are not given are taken from the arrays
(_layout_text.py; tj_launch_set_shape for views).
"""

from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

from . import _binding
from ._array import DLPACK_FLOATS, DRIVERS, Key, item_bytes
from ._binding import library
from ._context import Context, Handle
from ._device import Buffer, Device
from ._errors import Error, argument_error
from ._layout_text import Modes, element_strides, fits, parameters_of, saying_of
from ._program import Number, encoded

_bind_host = library.tj_launch_bind
_bind_pointer = library.tj_launch_bind_pointer
_bind_buffer = library.tj_launch_bind_buffer


class Argument(NamedTuple):
    """An argument of a kernel, all parameters known: tj_argument of tilejit.h."""

    name: str
    dtype: str
    numpy: str
    element_bytes: int
    element_count: int
    is_read: bool
    is_written: bool
    is_row_major: bool
    is_column_major: bool
    lengths: Tuple[int, ...]


class Output(NamedTuple):
    """An array to be made for an argument that is not given."""

    number: int
    shape: Tuple[int, ...]
    dtype: str
    order: str


Step = Tuple[Any, bytes, Tuple[int, ...]]
NOTHING = (lambda *_: 0, b"", ())  # the step of an argument without an array


class Prepared:
    """A launch whose parameters are set, and how addresses are bound to its arguments."""

    __slots__ = ("launch", "value", "steps", "outputs")

    def __init__(self, launch: Handle, steps: List[Step], outputs: List[Output]) -> None:
        self.launch = launch
        self.value = launch.value
        self.steps = steps
        self.outputs = outputs


def _argument_of(context: Context, launch: Handle, index: int) -> Argument:
    address = context.make(library.tj_launch_argument, launch.value, index)
    raw = _binding.Argument.from_address(address)
    return Argument(raw.name.decode(), raw.dtype.decode(), raw.numpy.decode(), raw.element_bytes, raw.element_count,
                    bool(raw.is_read), bool(raw.is_written), bool(raw.is_row_major), bool(raw.is_column_major),
                    tuple(raw.lengths[:raw.rank]))


_NAMED = frozenset(DLPACK_FLOATS.values())


def _has_dtype(argument: Argument, dtype: str) -> bool:
    if dtype in ("", argument.dtype, argument.numpy):
        return True
    if argument.dtype == "bf16":
        return dtype in ("<u2", "<V2", "|V2")
    is_small_float = argument.dtype in _NAMED and dtype not in _NAMED
    is_bits = argument.dtype.startswith("b")
    return (is_bits or is_small_float) and item_bytes(dtype) == argument.element_bytes and dtype[0] != ">"


def _check_dtype(argument: Argument, key: Key) -> None:
    if not _has_dtype(argument, key.dtype):
        raise argument_error(6003, f"'{argument.name}' has elements of {argument.dtype}, the array of {key.dtype}",
                             "convert the array, or change the argument")
    if argument.is_written and key.is_read_only:
        raise argument_error(4001, f"the kernel writes '{argument.name}', the array is read-only",
                             "pass an array that can be written")


def _layout_error(name: str, key: Key) -> Error:
    return argument_error(
        6015, f"an array of the shape {key.shape} and the strides {element_strides(key) or key.strides} has not the "
        f"layout of '{name}'", "pass a copy that is contiguous in C order, or make the layout's strides parameters")


def _is_memory_of(argument: Argument, shape: Tuple[int, ...]) -> bool:
    """Whether an array in C order may be an argument's memory: of as many dimensions as the argument, 2 or more, it has
    these if that is row-major, and the other way round if it is column-major."""
    lengths = argument.lengths
    if len(shape) != len(lengths) or len(lengths) < 2 or not (argument.is_row_major or argument.is_column_major):
        return True
    return argument.is_row_major and shape == lengths or argument.is_column_major and shape == lengths[::-1]


def _is_column_major(argument: Argument, key: Key) -> bool:
    """Whether an array has the layout of an argument that is column-major."""
    expected, step = [], 1
    for length in argument.lengths:
        expected.append(step)
        step *= length
    strides = element_strides(key)
    is_alike = argument.is_column_major and key.shape == argument.lengths and strides is not None
    return is_alike and all(length == 1 or stride == wanted
                            for length, stride, wanted in zip(argument.lengths, strides or (), expected))


def _check_layout(argument: Argument, key: Key, modes: Modes | None, values: Mapping[str, int]) -> None:
    """An array in C order is memory; but it has the shape of a row-major argument of its rank. Any other has the very
    layout of the argument."""
    if key.shape is None:
        return
    if key.strides is None:
        if not (_is_memory_of(argument, key.shape) or _is_column_major(argument, key)):
            order = "" if argument.is_row_major else " in Fortran order"
            raise argument_error(
                6015, f"'{argument.name}' has the shape {argument.lengths}{order}, the array {key.shape} in C order",
                "pass an array of this shape and order, or a flat one")
    elif not (_is_column_major(argument, key) or (modes and fits(modes, key, values))):
        raise _layout_error(argument.name, key)


def _step(argument: Argument, key: Key, on: Device | None) -> Step:
    """How an address is bound to an argument: the function, the name, what comes behind the address. Without a device,
    addresses are those of the one on which somebody else launches the kernel."""
    name = argument.name.encode()
    if key.place == Buffer.PLACE:
        return _bind_buffer, name, ()
    if key.place is None:
        return (_bind_pointer if on is not None and on.target == "host" else _bind_host), name, (key.size(),)
    kind, number = key.place
    if on is not None and on.name != f"{DRIVERS.get(kind)}:{number}":
        raise argument_error(4001, f"the array of '{argument.name}' is in the memory of DLPack's device {key.place}, "
                             f"the kernel runs on {on.name}", "pass arrays of the kernel's device, or of the process")
    return _bind_pointer, name, (key.size(),)


def _output_of(argument: Argument, index: int) -> Output:
    if argument.is_read or not argument.is_written:
        raise argument_error(4001, f"argument '{argument.name}' has no array", "pass one")
    dtype = argument.numpy or f"<u{argument.element_bytes}"  # bits of what NumPy has no type for
    if argument.is_row_major:
        return Output(index, argument.lengths, dtype, "C")
    if argument.is_column_major:
        return Output(index, argument.lengths, dtype, "F")
    return Output(index, (argument.element_count,), dtype, "C")


class Kind(NamedTuple):
    """What of a kernel a launch is prepared with."""

    code: Handle
    device: Device | None
    names: Tuple[str, ...]
    layouts: Mapping[str, Modes]
    fixed: Mapping[str, int]


def _tell_parameters(kind: Kind, launch: Handle, keys: Sequence[Key | None],
                     told: Mapping[str, int | Number]) -> Dict[str, int]:
    """Gives a launch its parameters and numbers, and the shapes of arrays of views. Returns the parameters."""
    call = launch.context.call
    given = {name: value for name, value in told.items() if not isinstance(value, Number)}
    for name, number in told.items():
        if isinstance(number, Number):
            call(library.tj_launch_set_number, launch.value, encoded(name), float.fromhex(number.text))
    values = {**given, **parameters_of(kind.layouts, list(zip(kind.names, keys)), given)}
    for name, value in values.items():
        call(library.tj_launch_set_parameter, launch.value, encoded(name), value)
    for name, key in zip(kind.names, keys):
        if key is None or key.shape is None:
            continue
        if key.strides is None and name not in kind.layouts:
            shape = (ctypes.c_int64 * len(key.shape))(*key.shape)
            call(library.tj_launch_set_shape, launch.value, encoded(name), shape, len(key.shape))
        elif key.strides is not None and name in kind.layouts and not saying_of(kind.layouts[name], key, values):
            raise _layout_error(name, key)
    return values


def prepare(context: Context, kind: Kind, keys: Sequence[Key | None], given: Mapping[str, int | Number],
            makes_outputs: bool) -> Prepared:
    """A launch for arrays that look so. Arguments without one get an output, if the kernel only writes them, or, where
    none is to be made, nothing."""
    launch = Handle(context, context.make(library.tj_launch_create, context.handle, kind.code.value),
                    library.tj_launch_destroy, kind.code)
    values = _tell_parameters(kind, launch, keys, given)
    steps: List[Step] = []
    outputs: List[Output] = []
    for number, key in enumerate(keys):
        if key is None and not makes_outputs:
            steps.append(NOTHING)
            continue
        argument = _argument_of(context, launch, number)
        if key is None:
            output = _output_of(argument, number)
            outputs.append(output)
            key = Key(output.dtype, output.shape, None, False)
        else:
            _check_dtype(argument, key)
            _check_layout(argument, key, kind.layouts.get(argument.name), {**kind.fixed, **values})
        steps.append(_step(argument, key, kind.device))
    return Prepared(launch, steps, outputs)

# SPDX-License-Identifier: MIT
"""Kernels: compiled once, and called with arrays.

What depends on the arrays' types, shapes and strides is done once for each of them, and kept: a prepared launch, for
each thread its own. A call then binds addresses and runs. Without such a launch at hand, parameters are taken from the
arrays (_layout_text.py, and tj_launch_set_shape for views), and each array is held against its argument.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from . import _binding
from ._array import Key, ROCM, item_bytes, memory_of
from ._binding import CompileOptions, library
from ._context import Context, Handle, current
from ._device import Buffer, Device, Fence, device as open_device
from ._errors import Error, argument_error
from ._layout_text import Modes, argument_layouts, element_strides, fits, parameters_of, saying_of
from ._program import Fixed, Program, Text, checked_integer, encoded, fixed_values, source_of

_MOST_PREPARED = 64  # launches that a thread keeps of a kernel; the oldest makes room

_bind_host = library.tj_launch_bind
_bind_pointer = library.tj_launch_bind_pointer
_bind_buffer = library.tj_launch_bind_buffer
_run = library.tj_launch_run
_submit = library.tj_launch_submit
first_byte = ctypes.c_char.from_buffer
addressof = ctypes.addressof


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


class Run(NamedTuple):
    """What the last run took: nanoseconds of the kernel, and what a simulated device counted."""

    nanoseconds: int
    counters: Dict[str, int]


class _Output(NamedTuple):
    """An array to be made for an argument that is not given."""

    index: int
    shape: Tuple[int, ...]
    dtype: str
    order: str


class _Prepared:
    """A launch whose parameters are set, and how addresses are bound to its arguments."""

    __slots__ = ("launch", "value", "steps", "outputs")

    def __init__(self, launch: Handle, steps: List[Tuple[Any, bytes, Tuple[int, ...]]],
                 outputs: List[_Output]) -> None:
        self.launch = launch
        self.value = launch.value
        self.steps = steps
        self.outputs = outputs


class _State(threading.local):
    """What a thread keeps of a kernel."""

    def __init__(self) -> None:
        self.context: Context = current()
        self.prepared: Dict[Any, _Prepared] = {}
        self.last: _Prepared | None = None


# --- preparation ---


def _argument_of(context: Context, launch: Handle, index: int) -> Argument:
    address = context.make(library.tj_launch_argument, launch.value, index)
    raw = _binding.Argument.from_address(address)
    return Argument(raw.name.decode(), raw.dtype.decode(), raw.numpy.decode(), raw.element_bytes, raw.element_count,
                    bool(raw.is_read), bool(raw.is_written), bool(raw.is_row_major), bool(raw.is_column_major),
                    tuple(raw.lengths[:raw.rank]))


def _has_dtype(argument: Argument, dtype: str) -> bool:
    is_bits = argument.dtype.startswith("b") and argument.dtype != "bf16"
    if dtype == "" or dtype == argument.numpy:
        return True
    if argument.dtype == "bf16":
        return dtype in ("bf16", "<u2", "<V2", "|V2")
    return is_bits and item_bytes(dtype) == argument.element_bytes and dtype[0] != ">"


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


def _check_layout(argument: Argument, key: Key, modes: Modes | None, values: Fixed) -> None:
    """An array in C order is memory; but it has the shape of a row-major argument of its rank. Any other has the very
    layout of the argument."""
    if key.shape is None:
        return
    if key.strides is None:
        if argument.is_row_major and len(key.shape) == len(argument.lengths) > 1 and key.shape != argument.lengths:
            raise argument_error(6015, f"'{argument.name}' has the shape {argument.lengths}, the array {key.shape}",
                                 "pass an array of this shape, or a flat one")
    elif not (_is_column_major(argument, key) or (modes and fits(modes, key, values))):
        raise _layout_error(argument.name, key)


def _step(argument: Argument, key: Key, on: Device) -> tuple[Any, bytes, tuple[int, ...]]:
    """How an address is bound to an argument: the function, the name, what comes behind the address."""
    name = argument.name.encode()
    if key.place == Buffer.PLACE:
        return _bind_buffer, name, ()
    if key.place is None:
        return (_bind_pointer if on.target == "host" else _bind_host), name, (key.size(),)
    kind, number = key.place
    if kind != ROCM or on.name != f"hsa:{number}":
        raise argument_error(4001, f"the array of '{argument.name}' is in the memory of DLPack's device {key.place}, "
                             f"the kernel runs on {on.name}", "pass arrays of the kernel's device, or of the process")
    return _bind_pointer, name, (key.size(),)


def _output_of(argument: Argument, index: int) -> _Output:
    if argument.is_read or not argument.is_written:
        raise argument_error(4001, f"argument '{argument.name}' has no array", "pass one")
    if not argument.numpy:
        raise argument_error(4001, f"argument '{argument.name}' has no array, and NumPy no type {argument.dtype} to "
                             "make one", "pass one")
    if argument.is_row_major:
        return _Output(index, argument.lengths, argument.numpy, "C")
    if argument.is_column_major:
        return _Output(index, argument.lengths, argument.numpy, "F")
    return _Output(index, (argument.element_count,), argument.numpy, "C")


class Kernel:
    """A compiled kernel. Threads may share it.

    kernel(a, b) runs it on arrays, given in the order of the arguments or by name, and waits. Parameters are given by
    name; those that are not come from the arrays' shapes and strides. Arguments that the kernel only writes may be left
    out where NumPy is there: they are made, filled with zeros, and returned.

    name, target  of the kernel and of its code
    device        where it runs
    arguments     their names, in order
    text          the program
    origin        where the code came from: compiled, from_memory, from_disk, from_kernel
    """

    def __init__(self, text: Text, kernel: str | None = None, *, device: str = "host",
                 fixed: Fixed | None = None) -> None:
        context = current()
        name, source = source_of(text)
        values = fixed_values(fixed)
        self.device = open_device(device)
        options = CompileOptions(encoded(kernel), encoded(self.device.target))
        made = context.make(library.tj_code_compile_text, context.handle, encoded(name), source, len(source), values,
                            len(values), ctypes.byref(options))
        self._code = Handle(context, made, library.tj_code_destroy)
        self.text, self._fixed = source.decode("utf-8"), dict(fixed or {})
        self._layouts: Dict[str, Modes] | None = None
        self.name: str = library.tj_code_kernel(made).decode()
        self.target: str = library.tj_code_target(made).decode()
        self.origin = _binding.ENUMS["TJ_CODE_"][library.tj_code_origin_of(made)].lower()
        count = library.tj_code_argument_count(made)
        self.arguments: Tuple[str, ...] = tuple(library.tj_code_argument_name(made, i).decode() for i in range(count))
        self._count = count
        self._state = _State()

    @property
    def code(self) -> bytes:
        """The code object's bytes; for the host, the relocatable object's."""
        size = ctypes.c_size_t()
        return ctypes.string_at(library.tj_code_bytes(self._code.value, ctypes.byref(size)), size.value)

    def __repr__(self) -> str:
        return f"<tilejit.Kernel {self.name}({', '.join(self.arguments)}) for {self.target}>"

    # --- calls ---

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Runs the kernel and waits. Gives the arrays that were made for arguments left out: one, or a tuple."""
        parameters: Any = None
        if named or len(arrays) != self._count:
            arrays, parameters = self._sorted(arrays, named)
        state = self._state
        pointers, signature, keep = _look_at(arrays, parameters)
        prepared = state.prepared.get(signature)
        if prepared is None:
            prepared = self._prepare(state, signature)
        made = _make_outputs(prepared.outputs, pointers) if prepared.outputs else None
        context = state.context
        launch = prepared.value
        with context.lock:
            for (bind, name, extra), pointer in zip(prepared.steps, pointers):
                if bind(launch, name, pointer, *extra):
                    raise context.error(_binding.ERROR_INPUT)
            status = _run(launch, self.device.handle.value)
            if status:
                raise context.error(status)
        state.last = prepared
        if context.released:
            context.sweep()
        del keep
        return made if made is None or len(made) > 1 else made[0]

    def submit(self, *arrays: Any, **named: Any) -> Fence:
        """Starts the kernel and does not wait: launches on a device run in the order in which they are submitted.
        Arrays are Buffers or memory of the device, which on the host is any. The fence keeps them until the launch has
        ended."""
        arrays, parameters = self._sorted(arrays, named)
        if any(array is None for array in arrays):
            raise argument_error(4001, "a launch that is submitted makes no arrays", "pass an array for each argument")
        state = self._state
        pointers, signature, keep = _look_at(arrays, parameters)
        prepared = state.prepared.get(signature) or self._prepare(state, signature)
        context = state.context
        fence = ctypes.c_void_p()
        with context.lock:
            for (bind, name, extra), pointer in zip(prepared.steps, pointers):
                if bind(prepared.value, name, pointer, *extra):
                    raise context.error(_binding.ERROR_INPUT)
            status = _submit(prepared.value, self.device.handle.value, ctypes.byref(fence))
            if status:
                raise context.error(status)
        return Fence(context, fence.value or 0, (arrays, keep, self))

    def last_run(self) -> Run:
        """What this thread's last call of the kernel took."""
        last, context = self._state.last, self._state.context
        if last is None:
            raise RuntimeError("this thread has not called the kernel")
        counters = {}
        with context.lock:
            for index in range(library.tj_launch_counter_count(last.value)):
                name = ctypes.c_char_p()
                value = library.tj_launch_counter(last.value, index, ctypes.byref(name))
                counters[(name.value or b"").decode()] = value
            return Run(library.tj_launch_nanoseconds(last.value), counters)

    def _sorted(self, arrays: Sequence[Any], named: Dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
        """The arrays in the order of the arguments, None where there is none; and the parameters."""
        if len(arrays) > self._count:
            raise TypeError(f"{self.name} has {self._count} arguments, and got {len(arrays)} arrays")
        sorted_arrays: List[Any] = [*arrays, *[None] * (self._count - len(arrays))]
        parameters = {}
        for name, value in named.items():
            if name not in self.arguments:
                parameters[name] = checked_integer(value)
                continue
            index = self.arguments.index(name)
            if index < len(arrays):
                raise TypeError(f"{self.name} got two arrays for '{name}'")
            sorted_arrays[index] = value
        return tuple(sorted_arrays), tuple(sorted(parameters.items())) or None

    # --- launches ---

    def layouts(self) -> Dict[str, Modes]:
        """The layouts of the arguments, those that are layouts."""
        if self._layouts is None:
            values = Program(self.text, self._fixed).emit("values", self.name, self.target).decode("utf-8")
            self._layouts = argument_layouts(values, self.name)
        return self._layouts

    def _prepare(self, state: _State, signature: Tuple[Any, ...]) -> _Prepared:
        keys = list(map(_key_of, signature[1:]))
        prepared = self._prepared(state.context, keys, dict(signature[0] or ()))
        if len(state.prepared) >= _MOST_PREPARED:
            del state.prepared[next(iter(state.prepared))]
        state.prepared[signature] = prepared
        return prepared

    def _prepared(self, context: Context, keys: List[Key | None], given: Dict[str, int]) -> _Prepared:
        launch = Handle(context, context.make(library.tj_launch_create, context.handle, self._code.value),
                        library.tj_launch_destroy, self._code)
        layouts = self.layouts()
        values = {**given, **parameters_of(layouts, list(zip(self.arguments, keys)), given)}
        for name, value in values.items():
            context.call(library.tj_launch_set_parameter, launch.value, encoded(name), value)
        for name, key in zip(self.arguments, keys):
            if key is None or key.shape is None:
                continue
            if key.strides is None and name not in layouts:
                shape = (ctypes.c_int64 * len(key.shape))(*key.shape)
                context.call(library.tj_launch_set_shape, launch.value, encoded(name), shape, len(key.shape))
            elif key.strides is not None and name in layouts and not saying_of(layouts[name], key, values):
                raise _layout_error(name, key)
        steps, outputs = [], []
        for index, key in enumerate(keys):
            argument = _argument_of(context, launch, index)
            if key is None:
                output = _output_of(argument, index)
                outputs.append(output)
                key = Key(output.dtype, output.shape, None, False)
            _check_dtype(argument, key)
            if index not in [output.index for output in outputs]:
                _check_layout(argument, key, layouts.get(argument.name), {**self._fixed, **values})
            steps.append(_step(argument, key, self.device))
        return _Prepared(launch, steps, outputs)


def _key_of(part: Any) -> Key | None:
    """The key of an array, from a part of the signature."""
    if part is None or isinstance(part, Key):
        return part
    dtype, shape = part
    return Key(dtype.str, shape, None, False)


def _look_at(arrays: Sequence[Any], parameters: Any) -> tuple[list[int], tuple[Any, ...], list[Any]]:
    """The arrays' addresses; all else that a launch depends on, of which keys are made only where a launch is
    prepared; and what keeps the addresses. NumPy's arrays that are contiguous and can be written are quickest: they are
    buffers of ctypes."""
    pointers, signature, keep = [], [parameters], []
    ndarray = getattr(sys.modules.get("numpy"), "ndarray", None)
    for array in arrays:
        if type(array) is ndarray:
            try:
                pointer = addressof(first_byte(array))
                signature.append((array.dtype, array.shape))
                pointers.append(pointer)
                continue
            except (TypeError, ValueError):
                pass
        if array is None:
            pointer = 0
            signature.append(None)
        elif isinstance(array, Buffer):
            pointer = array.handle.value
            signature.append(array.key)
        else:
            memory = memory_of(array)
            pointer = memory.pointer
            signature.append(memory.key)
            keep.append(memory)
        pointers.append(pointer)
    return pointers, tuple(signature), keep


def _make_outputs(outputs: Sequence[_Output], pointers: List[int]) -> tuple[Any, ...]:
    """New arrays of zeros, with their addresses in place."""
    numpy = sys.modules.get("numpy") or _import_numpy()
    made = []
    for output in outputs:
        array = numpy.zeros(output.shape, output.dtype, output.order)
        pointers[output.index] = array.__array_interface__["data"][0]
        made.append(array)
    return tuple(made)


def _import_numpy() -> Any:
    try:
        import numpy
    except ImportError:
        raise argument_error(4001, "an argument has no array, and there is no NumPy to make one",
                             "pass an array for each argument, or install NumPy") from None
    return numpy


def kernel(text: Text, kernel: str | None = None, *, device: str = "host",  # pylint: disable=redefined-outer-name
           fixed: Fixed | None = None) -> Kernel:
    """Compiles a kernel of a program, given as text or as a path, for a device. `kernel` is its name where there are
    several; a program without one that ends in a map has the kernel offsets(dst, V). `fixed` parameters become
    constants of the code."""
    return Kernel(text, kernel, device=device, fixed=fixed)

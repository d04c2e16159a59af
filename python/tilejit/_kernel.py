# SPDX-License-Identifier: MIT
"""Kernels: compiled once, and called with arrays.

What depends on the arrays' types, shapes and strides is done once for each of them, and kept: a prepared launch
(_prepare.py), for each thread its own. A call then binds addresses and runs.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _binding
from ._array import Key, memory_of
from ._binding import CompileOptions, library
from ._context import Context, Handle, current
from ._device import Buffer, Device, Fence, device as open_device
from ._errors import argument_error
from ._layout_text import Modes, argument_layouts
from ._prepare import Kind, Output, Prepared, prepare
from ._program import Fixed, Program, Text, checked_number, encoded, fixed_values, source_of

_MOST_PREPARED = 64  # launches that a thread keeps of a kernel; the oldest makes room

_run = library.tj_launch_run
_submit = library.tj_launch_submit
_prepare = library.tj_launch_prepare
first_byte = ctypes.c_char.from_buffer
addressof = ctypes.addressof


class Run(NamedTuple):
    """What the last run took: nanoseconds of the kernel, and what a simulated device counted."""

    nanoseconds: int
    counters: Dict[str, int]


class TensorMap(NamedTuple):
    """What cuTensorMapEncodeTiled of the CUDA driver is given, with element strides of 1 and without interleaving.

    address  of the tensor; where the argument has none yet, what is to be added to it
    stride   bytes, of all dimensions but the first
    swizzle  bytes of its rows: 0, 32, 64 or 128
    """

    element_bytes: int
    address: int
    extent: Tuple[int, ...]
    stride: Tuple[int, ...]
    box: Tuple[int, ...]
    swizzle: int


class Word(NamedTuple):
    """A word of a kernel's argument block, or the tensor map behind them.

    name       the argument or the parameter; of what is computed, how
    kind       "pointer", "value", "scratch" or "tensor_map"
    offset     where it lies in the block, `bytes` long
    alignment  of pointers: what the address must be a multiple of
    is_bound   of pointers: whether `value` is the array's address, not 0
    map        of tensor maps: what is to be encoded there; otherwise None
    """

    name: str
    kind: str
    offset: int
    bytes: int
    alignment: int
    is_bound: bool
    value: int
    map: Optional[TensorMap]


class Recipe(NamedTuple):
    """All that it takes to launch a kernel without the library: docs/launching.md.

    symbol     of the kernel in the code object
    grid       work-items along x, y and z
    block      work-items of a workgroup
    lds_bytes  of a workgroup, which the code object itself declares
    kernarg    the argument block; where an array is missing, its address is 0
    words      what the block holds
    scratch_bytes
               of memory on the device that the launch has to itself, and whose address goes into the block
    next       the kernel to launch when this one has ended, with the same block; None: there is none
    """

    symbol: str
    grid: Tuple[int, int, int]
    block: Tuple[int, int, int]
    lds_bytes: int
    kernarg: bytes
    words: Tuple[Word, ...]
    scratch_bytes: int = 0
    next: Optional["Recipe"] = None


def _map(raw: _binding.TensorMap) -> TensorMap:
    rank = raw.rank
    return TensorMap(raw.element_bytes, raw.address, tuple(raw.extent[:rank]), tuple(raw.stride[:rank - 1]),
                     tuple(raw.box[:rank]), raw.swizzle)


def _word(raw: _binding.Kernarg) -> Word:
    return Word(raw.name.decode(), _binding.ENUMS["TJ_KERNARG_"][raw.kind].lower(), raw.offset, raw.bytes,
                raw.alignment, bool(raw.is_bound), raw.value, _map(raw.map.contents) if raw.map else None)


def _recipe(raw: _binding.Recipe) -> Recipe:
    x, y, z = raw.grid
    return Recipe(raw.symbol.decode(), (x, y, z), (raw.block[0], raw.block[1], raw.block[2]), raw.lds_bytes,
                  ctypes.string_at(raw.kernarg, raw.kernarg_bytes), tuple(map(_word, raw.word[:raw.word_count])),
                  raw.scratch_bytes, _recipe(_binding.Recipe.from_address(raw.next)) if raw.next else None)


class _State(threading.local):
    """What a thread keeps of a kernel."""

    def __init__(self) -> None:
        self.context: Context = current()
        self.prepared: Dict[Any, Prepared] = {}
        self.last: Prepared | None = None


class Kernel:
    """A compiled kernel. Threads may share it.

    kernel(a, b) runs it on arrays, given in the order of the arguments or by name, and waits. Parameters are given by
    name; those that are not come from the arrays' shapes and strides. Arguments that the kernel only writes may be left
    out where NumPy is there: they are made, filled with zeros, and returned.

    name, target  of the kernel and of its code
    device        where it runs; None where it was compiled for a target alone
    arguments     their names, in order
    origin        where the code came from: compiled, from_memory, from_disk, from_kernel
    """

    def __init__(self, text: Text, kernel: str | None = None, *, device: str | Device | None = None, target: str | None = None,
                 fixed: Fixed | None = None) -> None:
        if device is not None and target is not None:
            raise TypeError("a kernel is for a device, or for a target without one")
        device, context = device or (None if target else "host"), current()
        source, values = source_of(text), fixed_values(fixed)
        if not isinstance(device, (str, Device, type(None))):
            raise TypeError(f"a device is a name or a tilejit.Device, not {type(device).__name__}")
        self.device = open_device(device) if isinstance(device, str) else device
        options = CompileOptions(encoded(kernel), encoded(self.device.target if self.device else target))
        made = context.make(library.tj_code_compile_text, context.handle, encoded(source.name), source.text,
                            len(source.text), values, len(values), ctypes.byref(options))
        self._code = Handle(context, made, library.tj_code_destroy)
        self._source, self._fixed = source, dict(fixed or {})
        self._layouts: Dict[str, Modes] | None = None
        self.name: str = library.tj_code_kernel(made).decode()
        self.target: str = library.tj_code_target(made).decode()
        self.origin = _binding.ENUMS["TJ_CODE_"][library.tj_code_origin_of(made)].lower()
        count = library.tj_code_argument_count(made)
        self.arguments: Tuple[str, ...] = tuple(library.tj_code_argument_name(made, i).decode() for i in range(count))
        self._count = count
        self._state = _State()

    @property
    def text(self) -> str:
        """The program."""
        return self._source.text.decode("utf-8")

    @property
    def code(self) -> bytes:
        """The code object's bytes; for the host, the relocatable object's. RuntimeError where a variant that no launch
        has taken yet cannot be compiled, or memory ran out."""
        size = ctypes.c_size_t()
        address = library.tj_code_bytes(self._code.value, ctypes.byref(size))
        if not address:
            raise RuntimeError(f"a variant of kernel {self.name} cannot be compiled, or memory ran out")
        return ctypes.string_at(address, size.value)

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
        context, device = state.context, self._device()
        with context.lock:
            _bind(context, prepared, pointers)
            status = _run(prepared.value, device)
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
        context, device = state.context, self._device()
        fence = ctypes.c_void_p()
        with context.lock:
            _bind(context, prepared, pointers)
            status = _submit(prepared.value, device, ctypes.byref(fence))
            if status:
                raise context.error(status)
        return Fence(context, fence.value or 0, (arrays, keep, self))

    def recipe(self, *arrays: Any, **named: Any) -> Recipe:
        """What it takes to launch the kernel in a stream or on a queue of somebody else: docs/launching.md. Arrays are
        Buffers or memory of the device; those left out have 0 as their address, for the caller to write."""
        arrays, parameters = self._sorted(arrays, named)
        state = self._state
        pointers, signature, keep = _look_at(arrays, parameters)
        signature += ("recipe",)
        prepared = state.prepared.get(signature) or self._prepare(state, signature, is_recipe=True)
        context, address = state.context, ctypes.c_void_p()
        with context.lock:
            _bind(context, prepared, pointers)
            status = _prepare(prepared.value, ctypes.byref(address))
            if status:
                raise context.error(status)
            recipe = _recipe(_binding.Recipe.from_address(address.value or 0))
        del keep
        return recipe

    def _device(self) -> int:
        if self.device is None:
            raise RuntimeError(f"{self.name} was compiled for {self.target}, not for a device: recipe() is all it has")
        return self.device.value

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
                parameters[name] = self._checked_parameter(name, value)
                continue
            index = self.arguments.index(name)
            if index < len(arrays):
                raise TypeError(f"{self.name} got two arrays for '{name}'")
            sorted_arrays[index] = value
        return tuple(sorted_arrays), tuple(sorted(parameters.items())) or None

    def _checked_parameter(self, name: str, value: Any) -> int | Number:
        try:
            return checked_number(value)
        except TypeError:
            raise TypeError(f"{self.name} has no array '{name}', and {type(value).__name__} is no number for a "
                            f"parameter; its arrays are {', '.join(self.arguments)}") from None

    # --- launches ---

    def layouts(self) -> Dict[str, Modes]:
        """The layouts of the arguments, those that are layouts."""
        if self._layouts is None:
            values = Program(self._source, self._fixed).emit("values", self.name, self.target).decode("utf-8")
            self._layouts = argument_layouts(values, self.name)
        return self._layouts

    def _prepare(self, state: _State, signature: Tuple[Any, ...], is_recipe: bool = False) -> Prepared:
        keys, given = list(map(_key_of, signature[1:self._count + 1])), dict(signature[0] or ())
        kind = Kind(self._code, self.device, self.arguments, self.layouts(), self._fixed)
        prepared = prepare(state.context, kind, keys, given, not is_recipe)
        if len(state.prepared) >= _MOST_PREPARED:
            del state.prepared[next(iter(state.prepared))]
        state.prepared[signature] = prepared
        return prepared

def _bind(context: Context, prepared: Prepared, pointers: Sequence[int]) -> None:
    """Binds addresses to the arguments; the caller holds the context's lock."""
    launch = prepared.value
    for (bind, name, extra), pointer in zip(prepared.steps, pointers):
        status = bind(launch, name, pointer, *extra)
        if status:
            raise context.error(status)


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


def _make_outputs(outputs: Sequence[Output], pointers: List[int]) -> tuple[Any, ...]:
    """New arrays of zeros, with their addresses in place."""
    numpy = sys.modules.get("numpy") or _import_numpy()
    made = []
    for output in outputs:
        array = numpy.zeros(output.shape, output.dtype, output.order)
        pointers[output.number] = array.__array_interface__["data"][0]
        made.append(array)
    return tuple(made)


def _import_numpy() -> Any:
    try:
        import numpy
    except ImportError:
        raise argument_error(4001, "an argument has no array, and there is no NumPy to make one",
                             "pass an array for each argument, or install NumPy") from None
    return numpy


def kernel(text: Text, kernel: str | None = None, *,  # pylint: disable=redefined-outer-name
           device: str | Device | None = None, target: str | None = None, fixed: Fixed | None = None) -> Kernel:
    """Compiles a kernel of a program, given as text or as a path, for a device, the host where none is named; or for a
    target without a device, to be launched by others (Kernel.recipe). `kernel` is its name where there are several; a
    program without one that ends in a map has the kernel offsets(dst, V). `fixed` parameters become constants of the
    code."""
    return Kernel(text, kernel, device=device, target=target, fixed=fixed)

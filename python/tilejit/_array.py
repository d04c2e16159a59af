# SPDX-License-Identifier: MIT
"""Arrays of others as memory: where it lies, what its elements are, its shape and strides. Nothing is copied.

Three protocols, in this order: __array_interface__ (NumPy), __dlpack__ (PyTorch, JAX, CuPy and others, on devices too),
and the buffer protocol (bytearray, array.array, memoryview, mmap).
"""

from __future__ import annotations

import array
import ctypes
import functools
import math
import mmap
import struct
from typing import Any, NamedTuple, Tuple, Union

from ._errors import argument_error

_python = ctypes.pythonapi


class Memory(NamedTuple):
    """An array's memory. `key` is all that a launch depends on but the address."""

    pointer: int
    key: "Key"
    keep: Any


class Key(NamedTuple):
    """What an array looks like.

    dtype     NumPy's type string, a name of DLPACK_FLOATS, or "" for bytes that may be anything
    shape     None where it is not told: bytes
    strides   in bytes; None where elements follow one another in C order
    place     None for memory of the process, else DLPack's device type and number
    """

    dtype: str
    shape: Union[Tuple[int, ...], None]
    strides: Union[Tuple[int, ...], None]
    is_read_only: bool
    place: Union[Tuple[int, int], None] = None
    bytes: int = -1

    def size(self) -> int:
        """How many bytes there are: of a strided array, up to the last element."""
        if self.shape is None:
            return self.bytes
        if 0 in self.shape:
            return 0
        item = item_bytes(self.dtype)
        if self.strides is None:
            return math.prod(self.shape) * item
        return sum((length - 1) * stride for length, stride in zip(self.shape, self.strides)) + item


# Floats that NumPy does not have, by DLPack's kind and bits.
DLPACK_FLOATS = {(4, 16): "bf16", (10, 8): "f8e4m3fn", (11, 8): "f8e4m3fnuz", (12, 8): "f8e5m2", (13, 8): "f8e5m2fnuz",
                 (14, 8): "e8m0"}
_FLOAT_BYTES = {name: bits // 8 for (_, bits), name in DLPACK_FLOATS.items()}


def item_bytes(dtype: str) -> int:
    """Bytes of an element."""
    return _FLOAT_BYTES.get(dtype) or int(dtype[2:])


def _in_c_order(shape: tuple[int, ...], strides: tuple[int, ...], item: int) -> bool:
    expected = item
    for length, stride in zip(reversed(shape), reversed(strides)):
        if length != 1 and stride != expected:
            return 0 in shape
        expected *= length
    return True


def _strides(shape: tuple[int, ...], strides: tuple[int, ...] | None, item: int) -> tuple[int, ...] | None:
    return None if strides is None or _in_c_order(shape, strides, item) else strides


# --- NumPy ---


def _from_interface(interface: dict[str, Any], owner: Any) -> Memory:
    pointer, is_read_only = interface["data"]
    return Memory(pointer, Key(interface["typestr"], interface["shape"], interface["strides"], is_read_only), owner)


# --- DLPack ---

# DLPack's kinds of devices: memory of the process, and those whose devices have names here.
_HOST = (1, 3, 11)
DRIVERS = {2: "cuda", 10: "hsa", 13: "cuda"}
_INTEGER, _UNSIGNED, _FLOAT, _BOOLEAN = 0, 1, 2, 6
_KINDS = {_INTEGER: "i", _UNSIGNED: "u", _FLOAT: "f", _BOOLEAN: "b"}


# DLTensor, with which a DLManagedTensor begins: data, device type and number, rank, kind, bits and lanes of elements,
# addresses of shape and strides, offset in bytes.
_TENSOR = struct.Struct("@QiiiBBHQQQ")


_capsule_pointer = _python.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


@functools.lru_cache(maxsize=None)
def _dlpack_dtype(kind: int, bits: int, lanes: int) -> str:
    if lanes == 1 and (kind, bits) in DLPACK_FLOATS:
        return DLPACK_FLOATS[kind, bits]
    if kind not in _KINDS or lanes != 1 or bits % 8:
        raise argument_error(6003, f"an array of DLPack's type ({kind}, {bits}, {lanes})",
                             "integers and floats of whole bytes are taken")
    return f"{'|' if bits == 8 else '<'}{_KINDS[kind]}{bits // 8}"


def _integers(address: int, count: int) -> tuple[int, ...]:
    return struct.unpack(f"{count}q", ctypes.string_at(address, 8 * count))


def _from_dlpack(owner: Any) -> Memory:
    """The capsule stays ours and unused: it gives the tensor back when it goes."""
    capsule = owner.__dlpack__()
    data, kind_of_device, device, rank, kind, bits, lanes, shape_at, strides_at, offset = _TENSOR.unpack(
        ctypes.string_at(_capsule_pointer(capsule, b"dltensor"), _TENSOR.size))
    dtype, shape = _dlpack_dtype(kind, bits, lanes), _integers(shape_at, rank)
    item = item_bytes(dtype)
    strides = tuple(stride * item for stride in _integers(strides_at, rank)) if strides_at else None
    place = None if kind_of_device in _HOST else (kind_of_device, device)
    return Memory(data + offset, Key(dtype, shape, _strides(shape, strides, item), False, place), (capsule, owner))


# --- the buffer protocol ---


class _Buffer(ctypes.Structure):
    """Py_buffer"""

    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]


_get_buffer = _python.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.POINTER(_Buffer), ctypes.c_int]
_release_buffer = _python.PyBuffer_Release
_release_buffer.argtypes = [ctypes.POINTER(_Buffer)]
_release_buffer.restype = None
_SIMPLE = 0  # PyBUF_SIMPLE: the address of contiguous bytes
_STRIDED = 0x10 | 0x08  # PyBUF_STRIDES

# Letters of the struct module, by what they are.
_LETTERS = {"bhilqn": "i", "BHILQN": "u", "efd": "f", "?": "b"}
_UNTYPED = (bytes, bytearray, mmap.mmap)
_BUFFERS = (memoryview, array.array, *_UNTYPED)  # what surely speaks no other protocol


class _Hold:
    """A buffer that is asked for; given back with its last reference."""

    def __init__(self, view: memoryview) -> None:
        self._buffer = _Buffer()
        _get_buffer(view, ctypes.byref(self._buffer), _SIMPLE if view.c_contiguous else _STRIDED)
        self._release = _release_buffer
        self.pointer = self._buffer.buf or 0

    def __del__(self) -> None:
        if self._buffer.obj:
            self._release(ctypes.byref(self._buffer))


@functools.lru_cache(maxsize=None)
def _format_dtype(form: str, item: int) -> str:
    kind = next((kind for letters, kind in _LETTERS.items() if form[-1] in letters), None)
    if kind is None or form[:-1] not in ("", "@", "=", "<"):
        raise argument_error(6003, f"a buffer of the format {form!r}", "integers and floats of this machine are taken")
    return f"{'|' if item == 1 else '<'}{kind}{item}"


def _from_buffer(owner: Any) -> Memory:
    view = memoryview(owner)
    hold = _Hold(view)
    if isinstance(owner, _UNTYPED):
        return Memory(hold.pointer, Key("", None, None, view.readonly, None, view.nbytes), hold)
    dtype, shape = _format_dtype(view.format, view.itemsize), view.shape or ()
    strides = None if view.c_contiguous else view.strides
    return Memory(hold.pointer, Key(dtype, shape, strides, view.readonly), hold)


def memory_of(owner: Any) -> Memory:
    """The memory of an array. Whoever uses the address keeps the Memory."""
    if isinstance(owner, _BUFFERS):
        return _from_buffer(owner)
    interface = getattr(owner, "__array_interface__", None)
    if isinstance(interface, dict):
        return _from_interface(interface, owner)
    if hasattr(owner, "__dlpack__"):
        return _from_dlpack(owner)
    try:
        return _from_buffer(owner)
    except TypeError as error:
        raise TypeError(f"{type(owner).__name__} is no array: it has no __array_interface__, no __dlpack__ and no "
                        "buffer") from error

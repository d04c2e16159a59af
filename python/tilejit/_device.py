# SPDX-License-Identifier: MIT
"""Devices, their memory, and launches in flight."""

from __future__ import annotations

import ctypes
import json
import numbers
import os
import threading
from dataclasses import dataclass
from typing import Any

from . import _binding
from ._array import Key, Memory, memory_of
from ._binding import library
from ._context import Context, Handle, current
from ._errors import argument_error
from ._program import encoded


@dataclass(frozen=True)
class DeviceInfo:
    """A device that can be opened. None is what it does not have or tell.

    parallelism  cores, or compute units
    memory       bytes
    """

    name: str
    target: str
    description: str | None
    parallelism: int
    memory: int | None
    bus: str | None
    uuid: str | None


def devices() -> list[DeviceInfo]:
    """The devices that can be opened."""
    context = current()
    text = context.text(library.tj_device_list, context.handle, _binding.number("TJ_DEVICES_", "JSON"))
    return [DeviceInfo(**row) for row in json.loads(text)]


class Device:
    """A device that is open: tilejit.device(name) and tilejit.cuda_stream(stream) give it. Threads may share it."""

    def __init__(self, name: str, stream: _binding.CudaAttachment | None = None) -> None:
        self.name = name
        self._stream = stream
        self.handle: Handle | None = self._open()
        properties = library.tj_device_properties_of(self.value)
        self.name, self.target = properties.name.decode("utf-8"), properties.target.decode("utf-8")

    def _open(self) -> Handle:
        context = current()
        if self._stream is None:
            made = context.make(library.tj_device_open, context.handle, encoded(self.name))
        else:
            made = context.make(library.tj_device_attach_cuda, context.handle, ctypes.byref(self._stream))
        return Handle(context, made, library.tj_device_close)

    def forget(self) -> None:
        """In a process that was forked: the device's threads are the parent's, so the handle is left as it is."""
        if self.handle is not None:
            self.handle.counted.holders += 1
        self.handle = None

    @property
    def value(self) -> int:
        """The tj_device. After a fork the host is opened again; GPUs, simulated ones too, belong to the parent."""
        if self.handle is None:
            if self.target != "host":
                raise RuntimeError(f"{self.name} was opened before the process was forked: start processes by spawn")
            self.handle = self._open()
        return self.handle.value

    def buffer(self, source: Any) -> "Buffer":
        """Memory of the device: so many bytes, or a copy of an array."""
        if isinstance(source, numbers.Integral):
            if source < 0:
                raise ValueError(f"a buffer of {source} bytes")
            return Buffer(self, int(source), Key("", None, None, False))
        memory = memory_of(source)
        require_c_order(memory.key)
        made = Buffer(self, memory.key.size(), memory.key._replace(is_read_only=False))
        made._write(memory, 0)
        return made

    def __repr__(self) -> str:
        return f"<tilejit.Device {self.name} ({self.target})>"


_opened: dict[str, Device] = {}
_opening = threading.Lock()


def device(name: str = "host") -> Device:
    """A device by its name, such as "host", "hsa:0" or "sim:gfx942". It stays open as long as the process."""
    if not isinstance(name, str):
        raise TypeError(f"a device's name is a str, not {type(name).__name__}")
    with _opening:
        if name not in _opened:
            _opened[name] = Device(name)
        return _opened[name]


def cuda_stream(stream: int = 0, context: int | None = None) -> Device:
    """The NVIDIA GPU of a context, which by default is the one that is current for the thread, as a device whose launches
    and copies are work of a stream: a cudaStream_t or CUstream as an integer, 0 being the default stream, such as
    torch.cuda.current_stream().cuda_stream. Whose they are keeps both for as long as the device and what was submitted
    there are in use."""
    return Device("cuda", _binding.CudaAttachment(None, context, stream or None, 0))


def _after_fork() -> None:
    global _opening
    _opening = threading.Lock()
    for opened in _opened.values():
        opened.forget()


os.register_at_fork(after_in_child=_after_fork)


def require_c_order(key: Key) -> None:
    """Refuses what is not plain memory of the process."""
    if key.place is not None:
        raise argument_error(4001, "an array in the memory of a device stands for one in that of the process",
                             "copy it there first")
    if key.strides is not None:
        raise argument_error(6015, f"an array with the strides {key.strides} is not contiguous in C order",
                             "pass a contiguous copy")


class Buffer:
    """Memory of a device, which launches use where it is, without copies: Device.buffer makes it.

    It looks as the array that it was made from, with the same element type and shape. One thread uses it at a time.
    """

    PLACE = (-1, 0)  # in the place of DLPack's device, of which none has this number

    def __init__(self, owner: Device, size: int, key: Key) -> None:
        context: Context = current()
        self.device = owner
        self.key = key._replace(place=Buffer.PLACE, bytes=size)
        self.bytes = size
        self._context = context
        made = context.make(library.tj_buffer_create, context.handle, owner.value, size)
        self.handle = Handle(context, made, library.tj_buffer_destroy)

    def _write(self, memory: Memory, offset: int) -> None:
        self._context.call(library.tj_buffer_write, self.handle.value, offset, memory.pointer, memory.key.size())

    def write(self, source: Any, offset: int = 0) -> None:
        """Copies an array to the buffer, from a byte on. Waits for launches in flight."""
        memory = memory_of(source)
        require_c_order(memory.key)
        self._write(memory, offset)

    def read(self, into: Any = None, offset: int = 0) -> Any:
        """Copies the buffer, from a byte on, into an array, or into new bytes. Waits for launches in flight."""
        target = bytearray(self.bytes - offset) if into is None else into
        memory = memory_of(target)
        require_c_order(memory.key)
        if memory.key.is_read_only:
            raise argument_error(6003, "the array to read into is read-only", "pass one that can be written")
        self._context.call(library.tj_buffer_read, self.handle.value, offset, memory.pointer, memory.key.size())
        return target

    def __repr__(self) -> str:
        return f"<tilejit.Buffer of {self.bytes} bytes on {self.device.name}>"


class Fence:
    """How one submitted launch ends. It keeps what the launch uses until it has ended."""

    def __init__(self, context: Context, handle: int, keep: Any) -> None:
        self._context = context
        self._handle = Handle(context, handle, library.tj_fence_destroy)
        self._handle.keep(keep)

    @property
    def done(self) -> bool:
        """Whether the launch has ended; does not wait."""
        with self._context.lock:
            return bool(library.tj_fence_is_done(self._handle.value))

    def wait(self) -> int:
        """Waits for the launch. Gives the nanoseconds that its kernel took; raises what made it fail."""
        nanoseconds = ctypes.c_uint64()
        self._context.call(library.tj_fence_wait, self._handle.value, ctypes.byref(nanoseconds))
        self._handle.keep(None)
        return nanoseconds.value

# SPDX-License-Identifier: MIT
"""Contexts of the library, one for each thread, and the handles of what is made with them.

The library lets a context, and what was made with it, be used by one thread at a time. So every thread has a context
of its own, and every call holds its context's lock, which matters only where an object has been handed to another
thread. All contexts share one cache of compiled kernels.

Handles are given back when nothing refers to them any more: neither Python, which lets go of objects in any order,
in any thread and in the middle of calls, nor a handle that was made from them. So each counts its holders, and what
is let go of waits in its context's `released` until no call is under way.
"""

from __future__ import annotations

import collections
import ctypes
import os
import threading
import weakref
from typing import Any, Deque, List, Tuple

from ._binding import Blob, Function, library
from ._import import reader
from ._errors import Error, error_of

_thread = threading.local()


def _create(function: Function, *arguments: Any) -> int:
    made = ctypes.c_void_p()
    if function(*arguments, ctypes.byref(made)):
        raise MemoryError("no memory for the library")
    return made.value or 0


_cache = _create(library.tj_cache_create, None, None)


class _Counted:
    """What the library made, and how many hold it. The context's lock guards the count."""

    __slots__ = ("context", "value", "destroy", "owners", "holders", "keep")

    def __init__(self, context: "Context", value: int, destroy: Function, owners: Tuple["_Counted", ...]) -> None:
        self.context = context
        self.value = value
        self.destroy = destroy
        self.owners = owners
        self.holders = 1
        self.keep: Any = None
        for owner in owners:
            owner.hold()

    def hold(self) -> None:
        """One more holds it."""
        with self.context.lock:
            self.holders += 1

    def release(self) -> None:
        """One less holds it; with the last one it goes, and what it kept."""
        self.context.released.append(self)
        self.context.sweep()

    def drop(self) -> Tuple["_Counted", ...]:
        """The same, by a caller that has the lock, who then releases the owners that are given."""
        self.holders -= 1
        if self.holders > 0:
            return ()
        self.destroy(self.value)
        return self.owners


class Context:
    """A tj_context, its lock, and what waits to be given back."""

    __slots__ = ("handle", "lock", "released", "counted", "__weakref__")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.released: Deque[_Counted] = collections.deque()
        self.handle = _create(library.tj_context_create, None)
        self.counted = _Counted(self, self.handle, library.tj_context_destroy, ())
        library.tj_context_set_cache(self.handle, _cache)
        library.tj_context_set_reader(self.handle, reader, None)
        _contexts.add(self)

    def __del__(self) -> None:
        if hasattr(self, "counted"):
            self.counted.release()

    def error(self, status: int) -> Error:
        """The exception for the call that has just failed; the caller holds the lock."""
        return error_of(self.handle, status)

    def call(self, function: Function, *arguments: Any) -> None:
        """Calls a function that gives a status; raises Error where it fails."""
        with self.lock:
            status = function(*arguments)
            if status:
                raise self.error(status)
        if self.released:
            self.sweep()

    def make(self, function: Function, *arguments: Any) -> int:
        """The handle that a function gives by its last argument."""
        made = ctypes.c_void_p()
        self.call(function, *arguments, ctypes.byref(made))
        return made.value or 0

    def bytes(self, function: Function, *arguments: Any) -> bytes:
        """The blob that a function gives by its last argument."""
        blob = Blob()
        self.call(function, *arguments, ctypes.byref(blob))
        try:
            return ctypes.string_at(blob.data, blob.size)
        finally:
            with self.lock:
                library.tj_blob_release(self.handle, ctypes.byref(blob))

    def text(self, function: Function, *arguments: Any) -> str:
        """The same as text, without the line's end."""
        return self.bytes(function, *arguments).decode("utf-8").rstrip("\n")

    def sweep(self) -> None:
        """Gives back what was released, unless a call is under way: then whoever makes that call does."""
        owners: List[_Counted] = []
        while self.released and self.lock.acquire(blocking=False):
            try:
                while self.released:
                    owners += self.released.popleft().drop()
            finally:
                self.lock.release()
        for owner in owners:
            owner.release()


_contexts: "weakref.WeakSet[Context]" = weakref.WeakSet()


def _after_fork() -> None:
    """Locks of other threads, which the process does not have."""
    for context in list(_contexts):
        context.lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def current() -> Context:
    """The context of this thread."""
    try:
        return _thread.context
    except AttributeError:
        _thread.context = Context()
        return _thread.context


class Handle:
    """What the library made with a context, and perhaps from other handles, its owners, which it holds. Given back with
    its last reference; what is in `keep` stays alive until then."""

    __slots__ = ("value", "context", "counted")

    def __init__(self, context: Context, value: int, destroy: Function, *owners: "Handle") -> None:
        self.context = context
        self.value = value
        held = (context.counted, *(owner.counted for owner in owners))
        self.counted: _Counted = _Counted(context, value, destroy, held)

    def keep(self, kept: Any) -> None:
        """Keeps this, in the place of what it kept."""
        self.counted.keep = kept

    def __del__(self) -> None:
        if hasattr(self, "counted"):
            self.counted.release()

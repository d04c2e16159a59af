# SPDX-License-Identifier: MIT
"""Finds and reads the texts that programs import.

"x.tile" is a file beside the importing one, or in the current folder where the importing text is none. A name without
.tile is NAME.tile in one of the folders that the environment variable TILEJIT_PATH lists, or among the texts that come
with the library.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
from typing import Any, Iterator

from ._binding import ERROR_INPUT, ERROR_MEMORY, library
from ._locate import texts_folder

_SUFFIX = ".tile"
_TEXTS = texts_folder(pathlib.Path(library._name))
_Function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)


def _candidates(importer: str, path: str) -> Iterator[pathlib.Path]:
    if path.endswith(_SUFFIX):
        yield pathlib.Path(os.path.normpath(os.path.join(os.path.dirname(importer), path)))
        return
    for folder in filter(None, [*os.environ.get("TILEJIT_PATH", "").split(os.pathsep), str(_TEXTS or "")]):
        yield pathlib.Path(folder) / (path + _SUFFIX)


def _give(importer: bytes, path: bytes, into: Any) -> int:
    reason = "No such file or directory"
    for candidate in _candidates(importer.decode("utf-8", "replace"), path.decode("utf-8", "replace")):
        try:
            text = candidate.read_bytes()
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            continue
        return library.tj_import_give(into, os.fsencode(candidate), text, len(text))
    return library.tj_import_refuse(into, reason.encode("utf-8", "replace"))


def _read(_: Any, importer: bytes, path: bytes, into: Any) -> int:
    try:
        return _give(importer, path, into)
    except MemoryError:
        return ERROR_MEMORY
    except Exception:  # pylint: disable=broad-except
        return ERROR_INPUT


reader = _Function(_read)

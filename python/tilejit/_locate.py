# SPDX-License-Identifier: MIT
"""Finds libtilejit.so.0 and what belongs to it, for the package when it is imported and for wheels when they are built.

In this order: what the environment variable TILEJIT_LIBRARY names, a file or a folder; the folder of this file, where
a wheel puts the library; build folders of the repository that this file is in; what pkg-config and the dynamic linker
know. The libraries that it opens itself, of the simulated devices and of LLVM's passes, are expected beside it, where it
looks for them.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sysconfig
from typing import Iterator

LIBRARY = "libtilejit.so.0"
OPENED = ("libtilejit-hsasim.so", "libtilejit-passes.so")
VARIABLE = "TILEJIT_LIBRARY"

# Build folders that come first. Python does not load those with sanitizers as it comes: they are not looked at.
_PREFERRED = ("release", "dev")
_UNFIT = ("asan", "tsan", "fuzz")


class LibraryNotFound(ImportError):
    """There is no libtilejit.so.0 where it is looked for."""


def _missing(where: str) -> LibraryNotFound:
    return LibraryNotFound(
        f"{where}. Build it with scripts/setup and cmake --preset release && cmake --build --preset release, or "
        f"install it, or set {VARIABLE} to the path of {LIBRARY} or of the folder that it is in")


def _in_environment() -> pathlib.Path | None:
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    path = pathlib.Path(named)
    path = path / LIBRARY if path.is_dir() else path
    if not path.is_file():
        raise _missing(f"{VARIABLE} is {named}, where there is no {LIBRARY}")
    return path


def _build_folders(root: pathlib.Path) -> Iterator[pathlib.Path]:
    for name in _PREFERRED:
        yield root / "build" / name
    for folder in sorted((root / "build").glob("*")):
        if folder.name not in (*_PREFERRED, *_UNFIT):
            yield folder


def _beside() -> Iterator[pathlib.Path]:
    here = pathlib.Path(__file__).resolve().parent
    yield here
    root = here.parent.parent
    if (root / "include" / "tilejit" / "tilejit.h").is_file():
        yield from _build_folders(root)


def _installed() -> Iterator[pathlib.Path]:
    try:
        asked = subprocess.run(["pkg-config", "--variable=libdir", "tilejit"], capture_output=True, text=True,
                               check=False)
        if asked.returncode == 0:
            yield pathlib.Path(asked.stdout.strip())
    except OSError:
        pass
    for folder in (sysconfig.get_config_var("LIBDIR"), f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}",
                   "/usr/local/lib", "/usr/lib"):
        if folder:
            yield pathlib.Path(folder)


def texts_folder(library: pathlib.Path) -> pathlib.Path | None:
    """The folder of the texts that programs import by name, such as "atoms": share/tilejit beside a library, or up to
    two folders above it, where a wheel, a build and an installation have it. None where there is none."""
    folders = (folder / "share" / "tilejit" for folder in library.resolve().parents[:3])
    return next((folder for folder in folders if folder.is_dir()), None)


def library_path() -> pathlib.Path:
    """The path of libtilejit.so.0. LibraryNotFound says where it was looked for, and what to do."""
    named = _in_environment()
    if named:
        return named
    for folders in (_beside, _installed):
        for folder in folders():
            if (folder / LIBRARY).is_file():
                return folder / LIBRARY
    raise _missing(f"there is no {LIBRARY} beside the package, in a build folder, or in the system's folders")

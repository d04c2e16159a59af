# SPDX-License-Identifier: MIT
"""A build backend (PEP 517) that needs nothing but Python: wheels of the package tilejit with the libraries inside.

A wheel holds the package; libtilejit.so.0, found as tilejit/_locate.py says; the libraries that it opens, from beside it,
and the texts that programs import from share/tilejit, where these are. Its version is the library's. The wheel fits the
machine that the library was built for, and any Python 3.9 or later. A source distribution holds the package alone:
building it takes a library all the same.
"""

from __future__ import annotations

import base64
import ctypes
import hashlib
import importlib.util
import io
import pathlib
import sysconfig
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUMMARY = "A JIT compiler for tensor layouts and coordinate transforms"


def _locate():
    spec = importlib.util.spec_from_file_location("tilejit_locate", ROOT / "tilejit" / "_locate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Blob(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def _version(path):
    """The version that a library has of itself."""
    library = ctypes.CDLL(str(path))
    context, text = ctypes.c_void_p(), _Blob()
    if library.tj_context_create(None, ctypes.byref(context)) or library.tj_version_text(context, ctypes.byref(text)):
        raise OSError(f"{path} does not tell its version")
    version = ctypes.string_at(text.data, text.size).decode().split()[1]
    library.tj_blob_release(context, ctypes.byref(text))
    library.tj_context_destroy(context)
    return version


def _metadata(version):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return (f"Metadata-Version: 2.1\nName: tilejit\nVersion: {version}\nSummary: {SUMMARY}\nLicense: MIT\n"
            "Requires-Python: >=3.9\nProvides-Extra: numpy\nRequires-Dist: numpy; extra == 'numpy'\n"
            f"Description-Content-Type: text/markdown\n\n{readme}")


def _tag():
    return f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def _wheel_file():
    return f"Wheel-Version: 1.0\nGenerator: tilejit_build\nRoot-Is-Purelib: false\nTag: {_tag()}\n"


def _record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def _description(version):
    """The files that describe a wheel."""
    info = f"tilejit-{version}.dist-info"
    return [(f"{info}/METADATA", _metadata(version).encode()), (f"{info}/WHEEL", _wheel_file().encode())]


def _write_wheel(folder, version, files):
    """A wheel with these files, (name, bytes) each, and what describes it."""
    info, name = f"tilejit-{version}.dist-info", f"tilejit-{version}-{_tag()}.whl"
    files = [*files, *_description(version)]
    record = "".join(_record_line(*file) for file in files) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as wheel:
        for path, data in [*files, (f"{info}/RECORD", record.encode())]:
            entry = zipfile.ZipInfo(path)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return name


def _sources():
    return [path for path in sorted((ROOT / "tilejit").glob("*")) if path.suffix == ".py" or path.name == "py.typed"]


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """PEP 517: what describes the wheel, by itself."""
    version = _version(_locate().library_path())
    for name, data in _description(version):
        path = pathlib.Path(metadata_directory) / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    return f"tilejit-{version}.dist-info"


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517: a wheel with the libraries."""
    locate = _locate()
    library = locate.library_path()
    files = [(f"tilejit/{path.name}", path.read_bytes()) for path in _sources()]
    files.append((f"tilejit/{locate.LIBRARY}", library.read_bytes()))
    opened = (library.resolve().parent / name for name in locate.OPENED)
    files += [(f"tilejit/{path.name}", path.read_bytes()) for path in opened if path.is_file()]
    texts = locate.texts_folder(library)
    files += [(f"tilejit/share/tilejit/{path.name}", path.read_bytes()) for path in sorted(texts.glob("*.tile"))
              ] if texts else []
    return _write_wheel(wheel_directory, _version(library), files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 660: a wheel that points here; the library is looked for when the package is imported."""
    return _write_wheel(wheel_directory, _version(_locate().library_path()), [("tilejit.pth", f"{ROOT}\n".encode())])


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517: the package's sources."""
    version = _version(_locate().library_path())
    base = f"tilejit-{version}"
    with tarfile.open(pathlib.Path(sdist_directory) / f"{base}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path in (ROOT / "pyproject.toml", ROOT / "README.md", pathlib.Path(__file__), *_sources()):
            archive.add(path, f"{base}/{path.relative_to(ROOT)}")
        entry = tarfile.TarInfo(f"{base}/PKG-INFO")
        data = _metadata(version).encode()
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return f"{base}.tar.gz"

# SPDX-License-Identifier: MIT
"""Where the library is looked for, and what the build backend makes; the latter where the repository is at hand."""

import base64
import hashlib
import importlib.util
import os
import pathlib
import tarfile
import tempfile
import unittest
import unittest.mock
import zipfile

from tilejit import _binding, _locate

BACKEND = pathlib.Path(__file__).resolve().parents[1] / "backend" / "tilejit_build.py"
LIBRARY = pathlib.Path(_binding.library._name).resolve()


class Folders(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()

    def located(self, *files, named=None):
        for file in files:
            (self.root / file).parent.mkdir(parents=True, exist_ok=True)
            (self.root / file).touch()
        environment = {} if named is None else {_locate.VARIABLE: str(self.root / named)}
        here = self.root / "python" / "tilejit" / "_locate.py"
        with unittest.mock.patch.dict(os.environ, environment), unittest.mock.patch.object(_locate, "__file__", here):
            if named is None:
                os.environ.pop(_locate.VARIABLE, None)
            return _locate.library_path().relative_to(self.root).as_posix()

    def test_order(self):
        name, header = _locate.LIBRARY, "include/tilejit/tilejit.h"
        self.assertEqual(self.located(header, f"build/asan/{name}", f"build/mine/{name}"), f"build/mine/{name}")
        self.assertEqual(self.located(f"build/dev/{name}"), f"build/dev/{name}")
        self.assertEqual(self.located(f"build/release/{name}"), f"build/release/{name}")
        self.assertEqual(self.located(f"python/tilejit/{name}"), f"python/tilejit/{name}")
        self.assertEqual(self.located(f"other/{name}", named="other"), f"other/{name}")
        self.assertEqual(self.located("other/libmine.so", named="other/libmine.so"), "other/libmine.so")

    def test_texts(self):
        for library, share in [("wheel/tilejit", "wheel/tilejit"), ("root/build/dev", "root"),
                               ("prefix/lib/x86_64-linux-gnu", "prefix")]:
            (self.root / share / "share" / "tilejit").mkdir(parents=True)
            self.assertEqual(_locate.texts_folder(self.root / library / _locate.LIBRARY),
                             self.root / share / "share" / "tilejit")
        self.assertIsNone(_locate.texts_folder(self.root / "a" / "b" / "c" / _locate.LIBRARY))

    def test_missing(self):
        with self.assertRaisesRegex(_locate.LibraryNotFound, f"set {_locate.VARIABLE} to the path"):
            self.located(named="nowhere")


@unittest.skipUnless(BACKEND.is_file(), "the package is not in its repository")
class Backend(unittest.TestCase):

    def setUp(self):
        spec = importlib.util.spec_from_file_location("tilejit_build", BACKEND)
        self.backend = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.backend)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        environment = unittest.mock.patch.dict(os.environ, {_locate.VARIABLE: str(LIBRARY)})
        environment.start()
        self.addCleanup(environment.stop)

    def check_record(self, wheel):
        with zipfile.ZipFile(wheel) as files:
            record, = (name for name in files.namelist() if name.endswith("/RECORD"))
            lines = [line.split(",") for line in files.read(record).decode().splitlines()]
            self.assertEqual([name for name, _, _ in lines], files.namelist())
            for name, digest, size in lines[:-1]:
                data = files.read(name)
                expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, int(size)), (f"sha256={expected}", len(data)))
            return files.namelist()

    def test_wheel(self):
        name = self.backend.build_wheel(self.folder)
        self.assertRegex(name, r"^tilejit-\d+\.\d+\.\d+-py3-none-\w+\.whl$")
        files = self.check_record(self.folder / name)
        for wanted in ("__init__.py", "py.typed", _locate.LIBRARY, *_locate.OPENED):
            self.assertIn(f"tilejit/{wanted}", files)

    def test_editable(self):
        files = self.check_record(self.folder / self.backend.build_editable(self.folder))
        self.assertIn("tilejit.pth", files)

    def test_sources(self):
        """A source distribution has what building it takes, but for the library."""
        with tarfile.open(self.folder / self.backend.build_sdist(self.folder)) as archive:
            names = {name.partition("/")[2] for name in archive.getnames()}
        self.assertLessEqual({"PKG-INFO", "pyproject.toml", "README.md", "backend/tilejit_build.py",
                              "tilejit/__init__.py", "tilejit/py.typed"}, names)


if __name__ == "__main__":
    unittest.main()

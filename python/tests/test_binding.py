# SPDX-License-Identifier: MIT
"""The rows of _binding.py against the headers of include/tilejit, whose path TILEJIT_HEADERS names."""

import ctypes
import os
import pathlib
import re
import unittest

from tilejit import _binding

HEADERS = pathlib.Path(os.environ.get("TILEJIT_HEADERS") or
                       pathlib.Path(__file__).resolve().parents[2] / "include" / "tilejit")
SCALARS = {"double": "d", "tj_status": "s", "size_t": "z", "int64_t": "l", "uint64_t": "l", "int": "i", "void": "-",
            "tj_code_origin": "i", "tj_device_properties": "p"}
WIDTHS = {"size_t": ctypes.c_size_t, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
          "uint32_t": ctypes.c_uint32, "int": ctypes.c_int, "unsigned": ctypes.c_uint, "tj_status": ctypes.c_int}


def letter(declared, name_is_text):
    """The letter of an argument's or a result's type."""
    words = declared.replace("const ", "").split()
    if "*" in declared or "[" in declared:
        return "t" if words[0] == "char" and declared.count("*") == 1 and name_is_text else "h"
    if words[0].endswith("_function"):
        return "h"
    return SCALARS.get(words[0], "i")


@unittest.skipUnless(HEADERS.is_dir(), "there are no headers")
class Binding(unittest.TestCase):

    def setUp(self):
        texts = (HEADERS / name for name in ("runtime.h", "tilejit.h"))
        self.header = re.sub(r"/\*.*?\*/", "", "".join(text.read_text(encoding="utf-8") for text in texts),
                             flags=re.DOTALL)

    def test_functions(self):
        declared = dict((name, (result, arguments)) for result, name, arguments in
                        re.findall(r"TJ_API\s+([^;()]*?)\s*(tj_\w+)\(([^;]*)\);", self.header))
        for name, result, letters in _binding.FUNCTIONS:
            with self.subTest(name):
                of_header, arguments = declared[name]
                parts = [part.strip() for part in arguments.split(",")]
                wanted = "".join(letter(part, part.startswith("const char *")) for part in parts)
                self.assertEqual(wanted, letters)
                self.assertEqual(letter(of_header, True), result)

    def number_of(self, length):
        """A length of an array in the header: a number, or the name of one."""
        return int(length if length.isdigit() else re.search(rf"\b{length} = (\d+)", self.header).group(1))

    def test_structs(self):
        for name, struct in _binding.STRUCTS.items():
            with self.subTest(name):
                body = re.search(r"typedef struct (?:\w+ )?\{([^}]*)\} " + name + ";", self.header).group(1)
                fields = []
                for declaration in filter(None, (line.strip() for line in body.replace("\n", " ").split(";"))):
                    kind = declaration.replace("const ", "").split()[0]
                    for part in declaration.split(","):
                        field, _, length = re.search(r"(\w+)(\[(\w+)\])?$", part).groups()
                        count = self.number_of(length) if length else 1
                        item = ctypes.c_void_p if "*" in part else WIDTHS.get(kind, ctypes.c_int)
                        fields.append((field, count * ctypes.sizeof(item)))
                self.assertEqual(fields, [(field, ctypes.sizeof(kind)) for field, kind in struct._fields_])

    def test_enums(self):
        enums = [re.findall(r"\b(TJ_\w+)", body) for body in re.findall(r"typedef enum \{([^}]*)\}", self.header)]
        self.assertIn(list(_binding.STATUS), enums)
        for prefix, names in _binding.ENUMS.items():
            with self.subTest(prefix):
                self.assertTrue(any(enum[:len(names)] == [prefix + name for name in names] and
                                    all(rest.endswith("_COUNT") for rest in enum[len(names):]) for enum in enums))


if __name__ == "__main__":
    unittest.main()

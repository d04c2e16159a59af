#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the playground of its parts.

    make_page.py libraries OUT FILE…               texts that programs import, as rows {name, text, length} of C
    make_page.py page OUT SOURCE ENGINE.js ENGINE.wasm   one HTML file that needs no other, from SOURCE/index.html

In index.html, <!-- include NAME --> becomes the text of SOURCE/NAME, <!-- made engine.js --> the loader of the engine,
and <!-- made engine.wasm --> the engine itself, by gzip and base64. Exit status 1 where the page is larger than LARGEST bytes.
"""

import argparse
import base64
import gzip
import pathlib
import re
import sys

LARGEST = 1_500_000


def c_string(data):
    """A C string of bytes, in as many lines as they have."""
    return "\n".join('"' + "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}"
                                   for byte in line) + '"' for line in data.splitlines(keepends=True)) or '""'


def make_libraries(out, files):
    rows = []
    for path in sorted(files):
        data = path.read_bytes()
        rows.append(f'{{"tilejit/{path.name}", {c_string(data)}, {len(data)}}},\n')
    out.write_text("".join(rows), encoding="ascii")


def make_page(out, source, script, module):
    parts = {"engine.js": script.read_text(encoding="utf-8"),
             "engine.wasm": base64.b64encode(gzip.compress(module.read_bytes(), 9, mtime=0)).decode()}
    template = (source / "index.html").read_text(encoding="utf-8")
    page = re.sub(r"<!-- include (\S+) -->", lambda found: (source / found[1]).read_text(encoding="utf-8"), template)
    page = re.sub(r"<!-- made (engine\.\w+) -->", lambda found: parts[found[1]].replace("</script", "<\\/script"), page)
    out.write_text(page, encoding="utf-8")
    size, compressed = out.stat().st_size, len(gzip.compress(out.read_bytes(), 9, mtime=0))
    print(f"{out}: {size:,} bytes, {compressed:,} by gzip; the engine alone {module.stat().st_size:,}")
    return 0 if size <= LARGEST else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    libraries = commands.add_parser("libraries")
    libraries.add_argument("out", type=pathlib.Path)
    libraries.add_argument("files", type=pathlib.Path, nargs="+")
    page = commands.add_parser("page")
    for name in ("out", "source", "script", "module"):
        page.add_argument(name, type=pathlib.Path)
    given = parser.parse_args()
    if given.command == "libraries":
        return make_libraries(given.out, given.files)
    return make_page(given.out, given.source, given.script, given.module)


if __name__ == "__main__":
    sys.exit(main())

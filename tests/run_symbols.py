#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what the built library exports.

    run_symbols.py --nm NM --header tilejit.h --shared libtilejit.so --static libtilejit.a

The shared library defines the functions that the header declares, each with a symbol version TILEJIT_X.Y, and nothing
else. Every other name that the archive
gives a program is prefixed tj_, or is an inline function of C++, which the linker merges. Exit status 1 otherwise.
"""

import argparse
import re
import subprocess
import sys


def declared_in(header):
    """The functions of the header."""
    with open(header, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
    return set(re.findall(r"^TJ_API\s[^;(]*?(\w+)\(", text, flags=re.M))


def symbols_of(nm, library, *options):
    """(kind, name) of each global symbol that the library defines."""
    listing = subprocess.run([nm, "--defined-only", "--extern-only", *options, library], check=True,
                             capture_output=True, text=True).stdout
    return {(words[-2], words[-1]) for words in map(str.split, listing.splitlines()) if len(words) == 3}


VERSIONED = re.compile(r"(\w+)@@TILEJIT_\d+\.\d+")


def problems_of_shared(declared, symbols):
    nodes = {name for kind, name in symbols if kind == "A" and re.match(r"TILEJIT_\d+\.\d+", name)}
    names = {name for _, name in symbols} - nodes
    yield from (f"{name} has no version TILEJIT_X.Y" for name in sorted(names) if not VERSIONED.fullmatch(name))
    exported = {name.split("@")[0] for name in names}
    yield from (f"{name} is exported, and tilejit.h does not declare it" for name in sorted(exported - declared))
    yield from (f"{name} is declared in tilejit.h, and is not exported" for name in sorted(declared - exported))


def is_prefixed(kind, name):
    return name.startswith("tj_") or (kind in "WVu" and re.match(r"_Z|DW\.ref\.", name))


def problems_of_static(symbols):
    yield from (f"the archive defines {name} ({kind})" for kind, name in sorted(symbols)
                if not is_prefixed(kind, name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("nm", "header", "shared", "static"):
        parser.add_argument(f"--{name}", required=True)
    given = parser.parse_args()
    declared = declared_in(given.header)
    exported = symbols_of(given.nm, given.shared, "--dynamic", "--with-symbol-versions")
    archived = symbols_of(given.nm, given.static)
    if len(declared) < 30 or len(archived) < 300:
        sys.exit(f"found {len(declared)} declarations and {len(archived)} symbols: too few to be all")
    problems = [*problems_of_shared(declared, exported), *problems_of_static(archived)]
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{len(exported)} exported symbols, {len(archived)} names in the archive, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

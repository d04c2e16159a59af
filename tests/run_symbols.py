#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what the built library exports.

    run_symbols.py --nm NM --headers FOLDER --shared libtilejit.so --static libtilejit.a --runtime libtilejit-runtime.so

A shared library defines the functions that its headers declare, each with a symbol version, and nothing else: libtilejit
those of tilejit.h and runtime.h, libtilejit-runtime those of runtime.h. Every other name that the archive
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


def problems_of_shared(prefix, declared, symbols):
    version = prefix + r"_\d+\.\d+"
    nodes = {name for kind, name in symbols if kind == "A" and re.match(version, name)}
    names = {name for _, name in symbols} - nodes
    yield from (f"{name} has no version {prefix}_X.Y" for name in sorted(names)
                if not re.fullmatch(r"\w+@@" + version, name))
    exported = {name.split("@")[0] for name in names}
    yield from (f"{name} is exported, and no header declares it" for name in sorted(exported - declared))
    yield from (f"{name} is declared, and is not exported" for name in sorted(declared - exported))


def is_prefixed(kind, name):
    return name.startswith("tj_") or (kind in "WVu" and re.match(r"_Z|DW\.ref\.", name))


def problems_of_static(symbols):
    yield from (f"the archive defines {name} ({kind})" for kind, name in sorted(symbols)
                if not is_prefixed(kind, name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("nm", "headers", "shared", "static", "runtime"):
        parser.add_argument(f"--{name}", required=True)
    given = parser.parse_args()
    runtime = declared_in(f"{given.headers}/runtime.h")
    declared = declared_in(f"{given.headers}/tilejit.h") | runtime
    exported = symbols_of(given.nm, given.shared, "--dynamic", "--with-symbol-versions")
    of_runtime = symbols_of(given.nm, given.runtime, "--dynamic", "--with-symbol-versions")
    archived = symbols_of(given.nm, given.static)
    if len(runtime) < 30 or len(declared) < len(runtime) + 20 or len(archived) < 300:
        sys.exit(f"found {len(runtime)} of {len(declared)} declarations and {len(archived)} symbols: too few to be all")
    problems = [*problems_of_shared("TILEJIT", declared, exported),
                *problems_of_shared("TILEJIT_RUNTIME", runtime, of_runtime), *problems_of_static(archived)]
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{len(exported)} and {len(of_runtime)} exported symbols, {len(archived)} names in the archive, "
          f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds docs/ARCHITECTURE.md against the source: what each folder and room includes, and that every room is told of.

    run_rooms.py ROOT

A row of its first table is a folder, its job and the folders that it may include besides itself; a row of its second is
a room of a folder, which may include itself and the rooms of that folder in rows above. No file has 700 lines or more.
Exit status 1 when a file does what the tables do not allow.
"""

import argparse
import pathlib
import re
import sys

SOURCES = (".c", ".h", ".cpp", ".def")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
LONGEST = 699


def rows(text):
    """The rows of all tables whose first cell is a folder, as (folder, last cell)."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = re.fullmatch(r"`([\w/]+)/`", cells[0])
        if name:
            yield name.group(1), cells


def tables(root):
    """What may be included: of each folder the others, and the rooms of each folder in order."""
    allowed, rooms = {}, {}
    for name, cells in rows((root / "docs/ARCHITECTURE.md").read_text(encoding="utf-8")):
        if len(cells) == 3:
            allowed[name] = re.findall(r"`([\w/]+)/`", cells[2])
            if cells[2].startswith("all but"):
                allowed[name] = ["", *("!" + other for other in allowed[name])]
        else:
            rooms.setdefault(str(pathlib.PurePosixPath(name).parent), []).append(name)
    return allowed, rooms


def within(path, folder):
    return folder == "" or path == folder or path.startswith(folder + "/")


def folder_of(path, folders):
    return max((folder for folder in folders if within(path, folder)), key=len, default=None)


def may_include(folder, included, allowed):
    refused = [other[1:] for other in allowed[folder] if other.startswith("!")]
    granted = [folder, *(other for other in allowed[folder] if not other.startswith("!"))]
    return any(within(included, other) for other in granted) and not any(within(included, other) for other in refused)


def room_problem(name, included, rooms):
    room, other = str(pathlib.PurePosixPath(name).parent), str(pathlib.PurePosixPath(included).parent)
    order = next((order for order in rooms.values() if room in order), [])
    if room in order and other in order and order.index(other) > order.index(room):
        return f"{name}: {room} comes before {other}, and includes {included}"
    return None


def problems_of(root, path, allowed, rooms):
    name = path.relative_to(root).as_posix()
    text = path.read_text(encoding="utf-8")
    if text.count("\n") > LONGEST:
        yield f"{name}: {text.count(chr(10))} lines"
    folder = folder_of(name, allowed)
    parent = str(pathlib.PurePosixPath(name).parent)
    if folder in rooms and parent not in rooms[folder]:
        yield f"{name}: {parent} is no room of docs/ARCHITECTURE.md"
    for included in INCLUDE.findall(text):
        if "/" not in included or (root / "include" / included).exists():
            continue
        if not may_include(folder, included, allowed):
            yield f"{name}: {folder} may not include {included}"
        problem = room_problem(name, included, rooms)
        if problem:
            yield problem


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    root = parser.parse_args().root.resolve()
    allowed, rooms = tables(root)
    found = [f"{room}: no such room" for order in rooms.values() for room in order if not (root / room).is_dir()]
    count = 0
    for folder in allowed:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCES and folder_of(path.relative_to(root).as_posix(), allowed) == folder:
                count += 1
                found += problems_of(root, path, allowed, rooms)
    print("\n".join(found) or f"{count} files in {len(allowed)} folders and {sum(map(len, rooms.values()))} rooms")
    return 1 if found or not rooms or not count else 0


if __name__ == "__main__":
    sys.exit(main())

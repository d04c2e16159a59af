#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every file of the repository says under what licence it is.

    run_licences.py ROOT

A file has the SPDX line on its first line, after "#!" or "#compdef" on its second, or is named in REUSE.toml; not both. Exit
status 1 when a file lacks a licence, 77 where ROOT is no git repository or there is no git. Needs Python 3.11, for
TOML.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tomllib

TAG = re.compile(rb"(#|//|/\*|<!--|\.\\\") SPDX-License-Identifier: MIT( \*/| -->)?")
SKIPPED = 77


def files_of(root):
    """The files that are in the repository; None where git does not tell."""
    words = ["git", "-C", root, "ls-files", "-z",]
    try:
        listing = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return [name for name in listing.split("\0") if name and (root / name).is_file()]


def has_line(path):
    lines = path.read_bytes()[:4096].split(b"\n")
    if lines[0].startswith((b"#!/", b"#compdef ")):
        del lines[0]
    return bool(lines) and TAG.fullmatch(lines[0]) is not None


def pattern_of(glob):
    """REUSE's globs: * stays within a folder, ** does not."""
    parts = {"**": ".*", "*": "[^/]*"}
    return re.compile("".join(parts.get(part, re.escape(part)) for part in re.split(r"(\*\*|\*)", glob)))


def globs_of(root):
    for annotation in tomllib.loads((root / "REUSE.toml").read_text(encoding="utf-8"))["annotations"]:
        if annotation["SPDX-License-Identifier"] == "MIT":
            yield from annotation["path"]


def problems(root, files):
    patterns = {glob: pattern_of(glob) for glob in globs_of(root)}
    for glob, pattern in patterns.items():
        if not any(map(pattern.fullmatch, files)):
            yield f"REUSE.toml: no file is {glob}"
    for name in files:
        annotated = any(pattern.fullmatch(name) for pattern in patterns.values())
        lined = has_line(root / name)
        if not annotated and not lined:
            yield f"{name}: no licence: its first line, after any #!, is to be a comment, SPDX-License-Identifier: MIT"
        if annotated and lined:
            yield f"{name}: has an SPDX line, and is in REUSE.toml too"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    root = parser.parse_args().root
    files = files_of(root)
    if files is None:
        print("git does not tell the files of", root)
        return SKIPPED
    found = list(problems(root, files))
    print(*found, f"{len(files)} files, {len(found)} problems", sep="\n")
    return 1 if found or len(files) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())

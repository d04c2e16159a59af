#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installs the built library to a private prefix, and uses it as other projects do.

    run_install.py --cmake CMAKE --build BUILD --work WORK [--make MAKE] [--pkg-config PKG-CONFIG]

Runs the installed command, builds examples/embed by CMake and by pkg-config, against the shared and the static
library, and examples/bundle against the one that only runs kernels, and runs what it built on the host and on a simulated GPU, all without environment variables that would help
to find things. Exit status 1 when anything differs.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HELPFUL = ("LD_LIBRARY_PATH", "TILEJIT_HSA_LIBRARY", "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH", "DESTDIR")


class Failure(Exception):
    """Something did not do what it should."""


def run(words, status=0, **extra):
    """Runs a program, expects an exit status, and gives its output."""
    environment = {name: value for name, value in os.environ.items() if name not in HELPFUL} | extra
    process = subprocess.run([str(word) for word in words], env=environment, capture_output=True, text=True,
                             timeout=300, check=False)
    if process.returncode != status:
        raise Failure(f"{' '.join(map(str, words))}\nended with {process.returncode}, not {status}:\n"
                      f"{process.stdout}{process.stderr}")
    return process.stdout + process.stderr


def expect(text, pattern):
    if not re.search(pattern, text):
        raise Failure(f"expected {pattern!r} in:\n{text}")


COMPLETIONS = ("bash-completion/completions/tilejit", "zsh/site-functions/_tilejit",
               "fish/vendor_completions.d/tilejit.fish")


def check_command(prefix):
    command = prefix / "bin" / "tilejit"
    for name in COMPLETIONS:
        expect((prefix / "share" / name).read_text(encoding="utf-8"), r"complete -- ")
    expect(run([command, "eval", "((4,8):(8,1))(2,3)"]), r"^19$")
    expect(run([command, "devices"]), r"sim:gfx942")
    expect(run([command, "eval", 'import "atoms"; mma_shape(SM80_16x8x16_F32F16F16F32_TN)']), r"^\(16,8,16\)$")
    expect(run([command, "eval", "(4,"], status=1), r"TJ1004")


def check_documents(prefix):
    """Every link within the documents leads somewhere, pictures included."""
    folder = prefix / "share" / "doc" / "tilejit"
    found = [(document, target) for document in folder.rglob("*.md")
             for target in re.findall(r"\]\(([^)#: ]*[./][^)#: ]*)\)", document.read_text(encoding="utf-8"))]
    for document, target in found:
        if not (document.parent / target).exists():
            raise Failure(f"{document} links to {target}, which is not installed")
    for expected in ("docs/pictures/plain.svg", "docs/language.md", "CHANGELOG.md"):
        if (folder / "README.md", expected) not in found:
            raise Failure(f"the installed README.md does not link to {expected}")


def check_without_simulator(prefix):
    """The command says which library is missing, and how it is made."""
    (simulator,) = prefix.rglob("libtilejit-hsasim.so")
    away = simulator.with_suffix(".away")
    simulator.rename(away)
    example = prefix / "share" / "doc" / "tilejit" / "examples" / "transpose.tile"
    said = run([prefix / "bin" / "tilejit", "run", example, "--device", "sim:gfx942", "--arg", "M=4", "--arg", "N=4"],
               status=3)
    away.rename(simulator)
    expect(said, r"error: TJ6014: no simulator library: libtilejit-hsasim\.so: ")
    expect(said, r"note: build the target tilejit_hsasim, which makes libtilejit-hsasim\.so")


def check_program(program, devices):
    """Shapes with and without padding, and one that the program refuses."""
    for device in devices:
        for rows, columns in ((64, 32), (100, 77), (1, 1)):
            expect(run([program, rows, columns, device]),
                   rf"^{rows} x {columns} on {device} .*: 0 of {rows * columns} elements wrong")
    expect(run([program, 1, 1, "nowhere"], status=1), r"TJ6001")
    expect(run([program, 0, 1], status=2), r"usage")


def check_programs(folder):
    check_program(folder / "relayout", ("host", "sim:gfx942"))
    check_program(folder / "relayout_static", ("host",))


def build_by_cmake(given, prefix, source, out):
    run([given.cmake, "-S", source, "-B", out, f"-DCMAKE_PREFIX_PATH={prefix}"])
    run([given.cmake, "--build", out])


def check_bundle(given, prefix, work):
    """Kernels compiled by a project's build, run by its program, which needs no compiler; opened as a file, too."""
    source = prefix / "share" / "doc" / "tilejit" / "examples" / "bundle"
    out = work / "bundle"
    build_by_cmake(given, prefix, source, out)
    for device in ("host", "sim:gfx90a", "sim:gfx942", "sim:gfx1100"):
        expect(run([out / "transpose", 130, 77, device]), rf"^130 x 77 on {device}: 0 of 20020 elements wrong")
    expect(run([out / "transpose", 3, 5, "host", out / "kernels.tjb"]), r": 0 of 30 elements wrong")
    expect(run([out / "transpose", 3, 5, "sim:gfx950"], status=1), r"TJ6018: the bundle has kernel 'transpose' for .*gfx950")
    expect(run([out / "transpose", 3, 5, "host", source / "kernels.tile"], status=1), r"TJ6017: these bytes are no bundle")
    if re.search(r"LLVM|libtilejit\.so", run(["ldd", out / "transpose"])):
        raise Failure("the program that runs a bundle needs the compiler")
    (out / "kernels.tjb").unlink()
    run([given.cmake, "--build", out])
    if not (out / "kernels.tjb").exists():
        raise Failure("a bundle that is gone is not made again")


def check_versions(given, prefix, work):
    """A version that is not there is not found, nor is a component that does not exist."""
    for arguments, found in (("0.1", True), ("9.0", False), ("REQUIRED COMPONENTS static", True),
                             ("REQUIRED COMPONENTS fortran", False)):
        project = work / "version"
        shutil.rmtree(project, ignore_errors=True)
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\nproject(version LANGUAGES C)\n"
            f"find_package(tilejit {arguments})\n"
            "if(NOT tilejit_FOUND)\n  message(FATAL_ERROR \"not found\")\nendif()\n", encoding="utf-8")
        run([given.cmake, "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={prefix}"],
            status=0 if found else 1)


def build_by_make(given, prefix, source, out):
    out.mkdir()
    (pkgconfig,) = {file.parent for file in prefix.rglob("tilejit.pc")}
    run([given.make, "-f", source / "Makefile", f"OUT={out}", f"PKG_CONFIG={given.pkg_config}"],
        PKG_CONFIG_PATH=str(pkgconfig))


def check(given):
    work = pathlib.Path(given.work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    prefix = work / "prefix"
    run([given.cmake, "--install", given.build, "--prefix", prefix])
    check_command(prefix)
    check_documents(prefix)
    moved = work / "moved"
    prefix.rename(moved)
    check_command(moved)
    check_without_simulator(moved)
    source = moved / "share" / "doc" / "tilejit" / "examples" / "embed"
    build_by_cmake(given, moved, source, work / "cmake")
    check_programs(work / "cmake")
    check_bundle(given, moved, work)
    check_versions(given, moved, work)
    if given.make and given.pkg_config:
        build_by_make(given, moved, source, work / "make")
        check_programs(work / "make")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("cmake", "build", "work"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("make", "pkg-config"):
        parser.add_argument(f"--{name}")
    given = parser.parse_args()
    try:
        check(given)
    except Failure as failure:
        print(failure)
        return 1
    print("installed, found and used")
    return 0


if __name__ == "__main__":
    sys.exit(main())

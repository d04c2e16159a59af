#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tilejit command with programs in the place of NVIDIA's ptxas and nvdisasm: without them, with ones that fail,
and with ones that give a cubin made here, byte by byte.

    run_toolkit.py --tilejit PATH --client PATH --driver LIBRARY

The client is tests/runtime/runtime_client.c, the driver the stub of tests/cuda. Each function of the list TESTS makes runs and asserts what comes of them. Needs a shell, and no GPU.
"""

import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import traceback

SECONDS = 60
KERNEL = "kernel t(src: f32 @ (64,64):(64,1), dst: f32 @ (64,64):(1,64)) = copy(src, dst)"
SYMBOL = "tilejit_t"
ELEMENTS = 4096
ADD = f"param N in 1..9; kernel add(dst: i32 @ {ELEMENTS}:1) = offsets(dst, {ELEMENTS}:N)"
STRINGS, SYMBOLS, NO_BITS, INFO = 3, 2, 8, 0x70000000
REGISTERS, FRAME_SIZE = 0x2F, 0x11


def attribute(kind, symbol, value):
    return struct.pack("<BBHII", 4, kind, 8, symbol, value)


def cubin(capability=90, registers=40, frame=24, shared=4096, code=b"\0" * 256, symbol=SYMBOL):
    """A cubin with two kernels, whose code is the same, in section 4 and first in the file, where the stub of the driver
    looks at it; the second one has no figures."""
    strings = b"\0" + symbol.encode() + b"$aligned\0" + symbol.encode() + b"\0"
    symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", name, 0x12, 0, 4, 0, len(code))
                                   for name in (1, strings.rindex(symbol.encode())))
    info = attribute(REGISTERS, 1, registers) + struct.pack("<BBH", 2, 0x4C, 1) + attribute(FRAME_SIZE, 1, frame)
    sections = [(STRINGS, strings, 0, 0, 0), (SYMBOLS, symbols, 1, 1, 24), (INFO, info, 2, 0, 0), (1, code, 0, 0, 0),
                (NO_BITS, b"", 0, 4, 0)]
    body, table = code, bytes(64)
    for kind, content, link, owner, entry in sections:
        size = shared if kind == NO_BITS else len(content)
        at = 64 if content is code else 64 + len(body)
        table += struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, at, size, link, owner, 16, entry)
        body += b"" if content is code else content
    header = b"\x7fELF\x02\x01\x01\x41\x08" + bytes(7)
    header += struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 64 + len(body), capability << 8, 64, 0, 0, 64,
                          len(sections) + 1, 0)
    return header + body + table


class Command:
    def __init__(self, given):
        self.tilejit, self.client, self.driver = map(os.path.abspath, (given.tilejit, given.client, given.driver))

    def run(self, *words, status=0, **variables):
        """Standard output and standard error of a run, in whose environment PATH has no toolkit."""
        process = subprocess.run([self.tilejit, *words], capture_output=True, text=True, timeout=SECONDS, check=False,
                                 env={"PATH": "/nowhere", **variables})
        assert process.returncode == status, f"{words}: exit status {process.returncode}\n{process.stderr}"
        return process.stdout, process.stderr

    def launch(self, bundle, status=0):
        """Runs the only kernel of a bundle, by the library that only runs kernels."""
        pathlib.Path("from").write_bytes(bytes(ELEMENTS * 4))
        words = [self.client, "run", bundle, "add", "cuda:0", "N=5", "dst=from:to"]
        process = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False,
                                 env={"TILEJIT_CUDA_LIBRARY": self.driver})
        assert process.returncode == status, f"{words}: exit status {process.returncode}\n{process.stderr}"
        return process.stderr

    def compile(self, form, **options):
        return self.run("compile", "-e", KERNEL, "--target", "sm_90", "--emit", form, "-o", "made", **options)


def program(name, *lines):
    path = pathlib.Path(name).absolute()
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def expect(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in {text!r}"


def missing(command):
    """The system's failure, with the name of the variable; statistics too. What needs no machine code goes without."""
    pathlib.Path("given.cubin").write_bytes(cubin())
    for form in ("cubin", "stats"):
        expect(command.compile(form, status=3)[1], "TJ5009", "ptxas", "TILEJIT_PTXAS")
    expect(command.run("disasm", "given.cubin", status=3)[1], "TJ5009", "nvdisasm", "TILEJIT_NVDISASM")
    expect(command.compile("cubin", status=3, TILEJIT_PTXAS="/nowhere/ptxas")[1], "TJ5009", "/nowhere/ptxas")
    found = command.run("check", "-e", KERNEL, "--target", "sm_90", "--candidates", "1")[0]
    expect(found, "conflict-free: no: 384 cycles of LDS, 256 without", "candidate 1")
    assert "occupancy" not in found and "registers" not in found, found
    assert not pathlib.Path("made").exists()


def failing(command):
    """Its words, and nothing written."""
    for lines, words in ((["echo 'ptxas fatal: it is too late' >&2", "exit 255"], "ptxas fatal: it is too late"),
                         (["kill -SEGV $$"], "signal 11"), (["echo no cubin"], "no cubin for sm_90")):
        expect(command.compile("cubin", status=3, TILEJIT_PTXAS=program("failing", *lines))[1], "TJ5010", words)
    pathlib.Path("other.cubin").write_bytes(cubin(capability=80))
    expect(command.compile("cubin", status=3, TILEJIT_PTXAS=program("other", "/bin/cat other.cubin"))[1], "TJ5010")
    assert not pathlib.Path("made").exists()


def working(command):
    """ptxas has PTX as its input, and nvdisasm the cubin; statistics come from what the cubin says."""
    pathlib.Path("given.cubin").write_bytes(cubin())
    ptxas = program("ptxas", "/bin/cat > taken.ptx", 'echo "$@" > words', f"/bin/cat {os.getcwd()}/given.cubin")
    command.compile("cubin", TILEJIT_PTXAS=ptxas)
    assert pathlib.Path("made").read_bytes() == cubin()
    expect(pathlib.Path("taken.ptx").read_text(encoding="utf-8"), ".target sm_90", f".entry {SYMBOL}(")
    assert pathlib.Path("words").read_text() == "--gpu-name=sm_90 /proc/self/fd/0 -o /proc/self/fd/1\n"
    pathlib.Path("made").unlink()
    command.compile("stats", TILEJIT_PTXAS=ptxas)
    figures = json.loads(pathlib.Path("made").read_text(encoding="utf-8"))
    expected = {"vgprs": 40, "scratch_bytes": 24, "lds_bytes": 16496, "code_bytes": 256, "wave_size": 32, "valu": None}
    assert {name: figures[name] for name in expected} == expected, figures
    figures = json.loads(command.run("disasm", "--stats", "given.cubin")[0])[f"{SYMBOL}$aligned"]
    assert figures["lds_bytes"] == 4096, figures
    nvdisasm = program("nvdisasm", 'echo "$@"', "/usr/bin/wc -c")
    text = command.run("disasm", "given.cubin", TILEJIT_NVDISASM=nvdisasm)[0]
    assert text.split() == ["-c", "/proc/self/fd/0", str(len(cubin()))], text
    found = command.run("check", "-e", KERNEL, "--target", "sm_90", TILEJIT_PTXAS=ptxas)[0]
    expect(found, "registers: 40 vector", "occupancy: 12 of 16 waves a SIMD, limited by vector registers")


def bundled(command):
    """A bundle's cubin runs without a compiler, and goes before PTX; on later processors PTX runs."""
    text = b"tilejit_add adds shared 0"
    made = {"right": cubin(code=text + bytes(64), symbol="tilejit_add", shared=0),
            "foreign": cubin(code=b"no kernel", symbol="tilejit_add", shared=0),
            "other": cubin(code=text, symbol="tilejit_other", shared=0),
            "large": cubin(code=text, symbol="tilejit_add", shared=8192)}
    outcomes = {}
    pathlib.Path("add.tile").write_text(ADD, encoding="utf-8")
    for name, content in made.items():
        pathlib.Path(name).write_bytes(content)
        ptxas = program("ptxas", f"/bin/cat {os.getcwd()}/{name}")
        for targets in (["sm_90:cubin"], ["sm_80", "sm_90:cubin"], ["sm_90:cubin", "sm_80"]):
            words = [word for target in targets for word in ("--target", target)]
            command.run("bundle", "add.tile", *words, "-o", "made.tjb", TILEJIT_PTXAS=ptxas)
            outcomes[name] = command.launch("made.tjb", status=0 if name == "right" else 1)
            assert name != "right" or struct.unpack("<i", pathlib.Path("to").read_bytes()[:4]) == (5,)
    expect(outcomes["foreign"], "TJ6009")
    for name in ("other", "large"):
        expect(outcomes[name], "TJ6017", "tilejit_add")
    expect(command.run("bundle", "add.tile", "--target", "sm_90:cubin", "-o", "made.tjb", status=3)[1], "TJ5009")
    pathlib.Path("earlier").write_bytes(cubin(capability=80, code=b"no kernel", symbol="tilejit_add", shared=0))
    command.run("bundle", "add.tile", "--target", "sm_80:cubin", "--target", "sm_80", "-o", "made.tjb",
                TILEJIT_PTXAS=program("ptxas", f"/bin/cat {os.getcwd()}/earlier"))
    command.launch("made.tjb")


def damaged(command):
    """Cubins cut anywhere, and with any byte changed, are read or refused."""
    whole = cubin()
    for end in range(0, len(whole), 7):
        pathlib.Path("cut.cubin").write_bytes(whole[:end])
        expect(command.run("disasm", "--stats", "cut.cubin", status=1)[1], "TJ5011" if end >= 20 else "TJ5005")


TESTS = [missing, failing, working, bundled, damaged]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilejit", required=True, help="the command to test")
    parser.add_argument("--client", required=True, help="the program of tests/runtime")
    parser.add_argument("--driver", required=True, help="the stub of the CUDA driver")
    command = Command(parser.parse_args())
    failed = 0
    for test in TESTS:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                test(command)
            except Exception:  # every test is told of
                failed += 1
                print(f"{test.__name__}:")
                traceback.print_exc(file=sys.stdout)
            os.chdir("/")
    print(f"{len(TESTS)} tests, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tilejit command with caches of its own: what it says of them, and that kernels stay right.

    run_cache.py --tilejit PATH [--simulator]

--simulator: also on sim:gfx942. Exit status 1 when anything is wrong. Needs Python 3.9 and nothing else.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

PROGRAM = """param M in 1..32768, N in 1..32768
kernel transpose(src: f32 @ (M,N):(N,1), dst: f32 @ (M,N):(1,M)) = copy(src, dst)
"""


class Failure(Exception):
    pass


def expect(holds, what):
    if not holds:
        raise Failure(what)


class Command:
    def __init__(self, tilejit, folder):
        self.tilejit = os.path.abspath(tilejit)
        self.folder = folder
        self.cache = folder / "home" / "tilejit"
        self.program = folder / "transpose.tile"
        self.program.write_text(PROGRAM, encoding="utf-8")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("TILEJIT_CACHE")}
        self.environment["XDG_CACHE_HOME"] = str(folder / "home")

    def start(self, words, environment=None):
        return subprocess.Popen([self.tilejit, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**self.environment, **(environment or {})})

    def run(self, words, environment=None, status=0):
        process = self.start(words, environment)
        output, errors = process.communicate(timeout=60)
        expect(process.returncode == status, f"{words}: exit status {process.returncode}: {errors.decode()}")
        return output.decode()

    def words(self, device, out):
        return ["run", str(self.program), "--device", device, "--arg", "M=37", "--arg", "N=50", "--stats", "--out",
                f"dst={out}"]

    def origin(self, device="host", environment=None):
        """Runs the kernel, whose result must be right; says where its code came from."""
        out = self.folder / "out.npy"
        stats = json.loads(self.run(self.words(device, out), environment))
        self.check(out)
        return stats["origin"]

    def check(self, out):
        data = out.read_bytes()[-37 * 50 * 4:]
        expected = b"".join(int_as_f32(m * 50 + n) for n in range(50) for m in range(37))
        expect(data == expected, "the transposed array is wrong")

    def stats(self):
        return json.loads(self.run(["cache", "--json"]))


def int_as_f32(value):
    return struct.pack("<f", float(value))


def test_levels(command, devices):
    for device in devices:
        expect(command.origin(device) == "compiled", f"{device}: the first run compiles")
        expect(command.origin(device) == "disk", f"{device}: the second run finds the text")
        command.program.write_text(PROGRAM + f"# {device}\n", encoding="utf-8")
        expect(command.origin(device) == "kernel", f"{device}: another text finds the kernel")
        command.program.write_text(PROGRAM, encoding="utf-8")
    expect(command.stats()["entries"] == 4 * len(devices), "a kernel, a variant and two texts of each device")


def test_command(command):
    before = command.stats()
    expect(before["usable"] and not before["off"] and before["directory"] == str(command.cache), str(before))
    expect(before["limit"] == 256 << 20 and 0 < before["bytes"] < before["limit"], str(before))
    expect(f"{before['entries']} entries" in command.run(["cache", "stats"]), "stats for people")
    expect("TILEJIT_CACHE=off" in command.run(["cache", "--help"]), "help")
    command.run(["cache", "fill"], status=2)
    expect(f"removed {before['entries']} entries" in command.run(["cache", "clear"]), "clear says what it removed")
    expect(command.stats()["entries"] == 0 and command.origin() == "compiled", "clear removes all")
    cleared = json.loads(command.run(["cache", "clear", "--json"]))
    expect(cleared == command.stats() and cleared["entries"] == 0, f"clear --json says what is left: {cleared}")


def test_off(command):
    off = {"TILEJIT_CACHE": "off", "XDG_CACHE_HOME": str(command.folder / "nowhere")}
    expect(command.origin(environment=off) == command.origin(environment=off) == "compiled", "off: always compiled")
    expect(not (command.folder / "nowhere").exists(), "off: no folder")
    expect(json.loads(command.run(["cache", "--json"], off))["off"], "off is said")


def test_damage(command):
    for ending in ("text", "kernel"):
        for kind in ("flip", "truncate"):
            command.run(["cache", "clear"])
            command.origin()
            (entry,) = command.cache.glob(f"*.{ending}")
            data = bytearray(entry.read_bytes())
            data[-100] ^= 0x10
            entry.write_bytes(data if kind == "flip" else data[:-100])
            if ending == "kernel":
                next(command.cache.glob("*.text")).unlink()
            expected = "kernel" if ending == "text" else "compiled"
            expect(command.origin() == expected, f"{kind} of a {ending}: {expected}")
            expect(command.origin() == "disk", f"{kind} of a {ending}: repaired")


def test_processes(command):
    command.run(["cache", "clear"])
    for _ in range(4):
        outs = [command.folder / f"out{i}.npy" for i in range(4)]
        running = [command.start(command.words("host", out)) for out in outs]
        for process, out in zip(running, outs):
            errors = process.communicate(timeout=60)[1]
            expect(process.returncode == 0, errors.decode())
            command.check(out)
        for entry in command.cache.glob("*.*"):
            entry.unlink()


def test_killed(command):
    """Kills runs at some moment of their life; the next one is right."""
    random.seed(1)
    for i in range(25):
        for entry in command.cache.glob("*.text" if i % 2 else "*.kernel"):
            entry.unlink()
        process = command.start(command.words("host", command.folder / "killed.npy"))
        time.sleep(random.uniform(0, 0.06))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        expect(command.origin() in ("compiled", "kernel", "disk"), "a run after a killed one")
    command.run(["cache", "clear"])
    expect([f.name for f in command.cache.iterdir()] == [".written"], "clear removes what was left unwritten")


def test_limit(command):
    limit = {"TILEJIT_CACHE_DISK": "256K"}
    for i in range(8):
        command.program.write_text(PROGRAM.replace("32768", str(32768 + i)), encoding="utf-8")
        command.origin(environment=limit)
    expect(command.stats()["bytes"] <= 256 << 10, f"the limit holds: {command.stats()}")
    expect(command.origin(environment=limit) == "disk", "the newest stays")
    command.program.write_text(PROGRAM, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tilejit", required=True)
    parser.add_argument("--simulator", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = Command(given.tilejit, pathlib.Path(folder))
        try:
            test_levels(command, ["host"] + ["sim:gfx942"] * given.simulator)
            for test in (test_command, test_off, test_damage, test_processes, test_killed, test_limit):
                test(command)
        except Failure as failure:
            print(f"failed: {failure}")
            return 1
    print("the cache of the command: all as it should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tilejit command where golden files do not reach: standard input, JSON errors, terminals, signals, arrays.

    run_command.py --tilejit PATH

Each function of the list TESTS makes runs and asserts what comes of them. Needs Python 3.9 and nothing else.
"""

import argparse
import ast
import json
import os
import pathlib
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback

SECONDS = 60

# The proof of a sum of many terms, in 2^24 cases: it takes many seconds.
LONG_PROOF = ["prove",
              "param a in 0..4095, b in 0..4095; " + " + ".join(f"(a*b)%{k}*(a^b)" for k in range(4097, 4137)),
              "param a in 0..4095, b in 0..4095; (a*a*a+a)%2 + " +
              " + ".join(f"(b*a)%{k}*((a|b)-(a&b))" for k in range(4097, 4137))]
TRANSPOSE = ("param M in 1..9999, N in 1..9999; "
             "kernel t(src: i32 @ (M,N):(N,1), dst: i32 @ (M,N):(1,M)) = copy(src, dst)")


class Command:
    def __init__(self, tilejit):
        self.tilejit = os.path.abspath(tilejit)

    def run(self, *words, text="", status=0):
        """Standard output and standard error of a run that must end with this status."""
        process = subprocess.run([self.tilejit, *words], input=text, capture_output=True, text=True, timeout=SECONDS,
                                 check=False)
        assert process.returncode == status, f"{words}: exit status {process.returncode}\n{process.stderr}"
        return process.stdout, process.stderr

    def begin(self, *words, **streams):
        """A process that has begun, with streams as subprocess.Popen takes them."""
        return subprocess.Popen([self.tilejit, *words], **streams)


def equal(found, expected):
    assert found == expected, f"{found!r} instead of {expected!r}"


# Input.


def found_through_path(command):
    """Simulated GPUs lie near the program, whatever has its name where it runs."""
    os.mkdir("tilejit")
    path = os.pathsep.join([os.path.dirname(command.tilejit), os.environ.get("PATH", "")])
    process = subprocess.run(["tilejit", "devices"], env={**os.environ, "PATH": path}, capture_output=True, text=True,
                             timeout=SECONDS, check=False)
    assert "\nsim:gfx942 " in process.stdout, process.stdout + process.stderr


def standard_input(command):
    for words in (["simplify", "-"], ["simplify", "-f", "-"], ["eval", "-f", "-"]):
        equal(command.run(*words, text="param i in 0..9;\n(i*4)/2\n")[0].replace(" ", ""), "i*2\n")
    equal(command.run("eval", "-", "-e", "A(1, 2)", text="let A = (4,8):(8,1)\n")[0], "10\n")
    equal(command.run("prove", "-", "A", "32:2", text="let A = (4,8):(1,4)\n", status=1)[0][:9], "different")
    assert "bijective: yes" in command.run("check", "-", text="(4,8):(8,1)\n")[0]
    assert "0 | 0 | 1 |" in command.run("show", "-", text="(1,2):(1,1)\n")[0]


def earlier_expressions(command):
    """What FILE ends in gives way to EXPR; separators of its own do no harm."""
    for end in ("", ";\n", "; A(1,2)\n", "; A(1,2);\n"):
        program = "let A = (4,8):(8,1)" + end
        equal(command.run("eval", "-f", "-", "-e", "A(2,2)", text=program)[0], "18\n")
        equal(command.run("prove", "-f", "-", "A(2,2)", "18", text=program)[0],
              "equal: both simplify to the same expressions\n")
    assert "TJ1003" in command.run("eval", "4; 5", status=1)[1]
    assert "TJ1003" in command.run("eval", "4; let a = 5", status=1)[1]


def empty_lines(command):
    equal(command.run("eval", "-", text="1+1\n\n   \n# a comment\n  # another\n2+2 # beside\n")[0], "2\n4\n")


def zero_bytes(command):
    """A line ends at its newline, as a program ends with its file."""
    for line in ("1\0 + nonsense", "\0", " # beside\0"):
        for words in (["eval", "-", "--json"], ["eval", "-f", "-", "--json"]):
            assert "TJ1005" in "".join(command.run(*words, text=line + "\n", status=1)), (words, line)


def shared_definitions(command):
    """Lines see what earlier ones define, and may define it anew; what was defined before keeps what it was."""
    lines = ["let A = (4,8):(8,1)", "A(1, 2)", "param M in 1..8; A(M - 1, 0)", "let B = A o 4", "let A = 7",
             "A + B(1)", "M", "let A = A + 1; A", "B", "none", "let A = none", "A"]
    values = ["10", "M*8 - 8", "15", "M", "8", "(4):(8)"]
    output, _ = command.run("eval", "-", text="\n".join(lines), status=1)
    found = output.splitlines()
    equal([line for line in found if not line.startswith("error")], values[:5] + [found[5], "8"])
    equal([line[:13] for line in found if line.startswith("error")], ["error: TJ2001"] * 2)
    pathlib.Path("items.tile").write_text("param M in 1..8\nlet A = (4,8):(8,M)\n", encoding="utf-8")
    equal(command.run("eval", "-", "-f", "items.tile", "--set", "M=3", text="A\n1+1\nlet M = 5\nM\nA\n")[0],
          "(4,8):(8,3)\n2\n5\n(4,8):(8,3)\n")


def many_definitions(command):
    """A long batch whose lines all define and mention, in time and memory that grow with its length alone."""
    lines = ["let a0 = 0"] + [f"let a{i} = a{i - 1} + 1; let x = {i}; a{i} + x" for i in range(1, 2001)]
    equal(command.run("eval", "-", text="\n".join(lines))[0].splitlines()[-1], "4000")


# Errors as JSON.


def json_errors(command):
    """One object on standard error, nothing on standard output."""
    place = {"file": "<expression>", "line": 1, "column": 8, "span": [8, 11], "text": "  1 +  foo"}
    cases = [
        (["eval", "  1 +  foo"], 1, "TJ2001", place),
        (["show", "  1 +  foo"], 1, "TJ2001", place),
        (["simplify", "  1 +  foo"], 1, "TJ2001", place),
        (["check", "-e", "  1 +  foo"], 1, "TJ2001", place),
        (["compile", "--emit", "ast", "-e", "(1"], 1, "TJ1004", None),
        (["prove", "1", "foo"], 1, "TJ2001", None),
        (["run", "/nonexistent.tile"], 1, "TJ6004", None),
        (["run", "-e", "kernel k(d: i32 @ 8:1) = offsets(d, 8:2)", "--device", "none"], 1, "TJ6001", None),
        (["disasm", "/dev/null"], 1, "TJ5005", None),
        (["eval", "--nonsense"], 2, "usage", None),
        (["nonsense"], 2, "usage", None),
        (["show", "8", "--as", "png"], 2, "usage", None),
        (["cache", "nonsense"], 2, "usage", None),
        (["help", "nonsense"], 2, "usage", None),
        (["version", "nonsense"], 2, "usage", None),
        (["devices", "nonsense"], 2, "usage", None),
    ]
    for words, status, code, where in cases:
        output, errors = command.run(*words, "--json", status=status)
        error = json.loads(errors)
        equal(output, "")
        equal(sorted(error), ["code", "message", "note", "place"])
        equal((words, error["code"]), (words, code))
        assert error["message"] and error["note"]
        if where is not None:
            equal(error["place"], where)


def json_lines(command):
    """What fails among lines has its error in its place."""
    output, errors = command.run("eval", "-", "--json", text="1+1\n2 +\n3\n", status=1)
    lines = [json.loads(line) for line in output.splitlines()]
    equal([lines[0], lines[1]["code"], lines[1]["place"]["column"], lines[2]],
          [{"value": "2"}, "TJ1004", 4, {"value": "3"}])
    equal(errors, "")


def json_outputs(command):
    """One value on standard output, whatever is made and wherever it goes; none where what is made is no text."""
    pathlib.Path("k.tile").write_text("kernel k(d: i32 @ 8:1) = offsets(d, 8:1)\n", encoding="utf-8")
    dma = ["check", "--dma", "(1024,1024):(1024,1)", "--tile", "(32,64)", "--target", "sm_90", "--dtype", "f16"]
    compiling = ["compile", "k.tile", "--target", "gfx942", "--emit"]
    bundling = ["bundle", "k.tile", "--target", "gfx942"]
    made = {"output": "made", "bytes": None}
    cases = [
        (["show", "4:1"], None),
        (["show", "4:1", "--as", "svg"], {"as": "svg", "text": None}),
        (["show", "4:1", "--as", "svg", "-o", "made"], {"as": "svg", **made}),
        (["show", "4:1", "-o", "made"], {"as": "json", **made}),
        ([*compiling, "llvm"], {"emit": "llvm", "text": None}),
        ([*compiling, "llvm", "-o", "-"], {"emit": "llvm", "text": None}),
        ([*compiling, "hsaco", "-o", "made"], {"emit": "hsaco", **made}),
        ([*bundling, "-o", "made"], made),
        (["bundle", "--list", "made"], None),
        ([*dma, "--program"], {"text": None}),
        ([*dma, "--function", "f"], {"text": None}),
    ]
    for words, members in cases:
        value = json.loads(command.run(*words, "--json")[0])
        if members is not None:
            equal((words, sorted(value)), (words, sorted(members)))
            equal({name: value[name] for name in members if members[name]}, {n: m for n, m in members.items() if m})
            assert members != made or value["bytes"] == os.path.getsize("made")
    for words in ([*compiling, "hsaco"], [*compiling, "hsaco", "-o", "-"], [*bundling, "-o", "-"]):
        output, errors = command.run(*words, "--json", status=2)
        equal((output, json.loads(errors)["code"]), ("", "usage"))


def full_disk(command):
    """What cannot be written is an error, help too."""
    for words in (["eval", "1"], ["eval", "--help"], ["--help"], ["help", "eval", "--json"]):
        with open("/dev/full", "wb") as full:
            process = command.begin(*words, stdout=full, stderr=subprocess.PIPE)
            errors = process.communicate(timeout=SECONDS)[1]
        equal((words, process.returncode), (words, 3))
        assert b"TJ6005" in errors, errors


# The tables.


def tables(command):
    """Every kind of value has a description, every word is a choice, and every usage begins with its command."""
    dump = json.loads(command.run("help", "--json")[0])
    kinds = {kind["name"] for kind in dump["kinds"]}
    for entry in dump["commands"]:
        assert entry["usage"].startswith(entry["name"])
        equal(json.loads(command.run("help", entry["name"], "--json")[0]), entry)
        equal(json.loads(command.run(entry["name"], "--json", "--help")[0]), entry)
        equal(command.run(entry["name"], "--help"), command.run("help", entry["name"]))
        for row in entry["options"] + entry["operands"]:
            assert row["kind"] is None or row["kind"] in kinds, row
            equal(row["kind"] == "word", row["words"] is not None)
        assert {"json", "help"} <= {row["name"] for row in entry["options"]}


# Help.


def functions(command):
    """Each function has help of its own; misspelt topics get the nearest name."""
    for name in json.loads(command.run("help", "--json")[0])["functions"]:
        equal(json.loads(command.run("help", name, "--json")[0])["name"], name)
    assert "CuTe" in command.run("help", "coalesce")[0]
    assert command.run("help", "make_merge_transform")[0].startswith("merge(")
    for words, advice in [(["help", "evla"], "command eval"), (["evla"], "mean eval"), (["help", "coalsce"], "coalesce"),
                          (["help", "qqqqqqqq"], "help functions")]:
        assert advice in command.run(*words, status=2)[1], words


# Long work.


def catches_interrupt(process):
    """Whether the process has a handler of SIGINT, or has ended."""
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (signal.SIGINT - 1) & 1)
    return True


def interrupted(process, seconds):
    """Sends SIGINT some time after the work has begun, to a process that would go on for long; how it ends."""
    while process.poll() is None and not catches_interrupt(process):
        time.sleep(0.01)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=SECONDS)
    return process.returncode, output, errors


def cancellation(command):
    """Ctrl-C ends long work within moments: status 130, a diagnostic, no output, no files."""
    run = ["run", "-e", TRANSPOSE, "--device", "sim:gfx942", "--arg", "M=9999", "--arg", "N=9999", "--out", "dst=o.npy"]
    for words, seconds in [(run, 3), (LONG_PROOF, 0.5), (["eval", "--table", "(4096,4096):(4096,1)"], 0.1)]:
        process = command.begin(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        status, output, errors = interrupted(process, seconds)
        equal((words[0], status, output), (words[0], 130, b""))
        assert b"TJ7007" in errors, errors
        assert not os.path.exists("o.npy")
    process = command.begin(*LONG_PROOF, "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    equal(json.loads(interrupted(process, 0.5)[2])["code"], "TJ7007")


def on_terminal(command, words, until=None):
    """Everything that a run writes to a terminal; it is interrupted when it has written `until`."""
    master, slave = pty.openpty()
    process = command.begin(*words, stdin=slave, stdout=slave, stderr=slave)
    written = b""
    is_running = is_readable = True
    while is_running or is_readable:
        is_running = process.poll() is None
        is_readable = bool(select.select([master], [], [], 0.1)[0])
        if is_readable:
            written += os.read(master, 65536)
        if is_running and until is not None and until in written:
            process.send_signal(signal.SIGINT)
            until = None
    os.close(slave)  # not before: what is on its way to a terminal that nobody holds may be lost
    os.close(master)
    process.wait(SECONDS)
    return written.decode()


def progress(command):
    """A line on a terminal after a second, which is gone before the end; nothing for short work, nor elsewhere."""
    written = on_terminal(command, LONG_PROOF, b" of 16777216 (")
    assert "\rcases tried: " in written, written
    assert "\r\x1b[K" in written[written.rindex("cases tried"):written.index("TJ7007")], written
    equal(on_terminal(command, ["prove", "1", "1"]), "equal: both simplify to the same expressions\r\n")
    process = command.begin(*LONG_PROOF, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert b"cases tried" not in interrupted(process, 1.5)[2]


# Colours.


def colours(command):
    """Colours on terminals alone, and not with NO_COLOR; the picture is the same without them."""
    layout = "(2,4):(4,1)"
    plain, _ = command.run("show", layout)
    assert "\x1b" not in plain
    for words in (["show", layout], ["show", layout, "--color", "none"], ["eval", "1 +"]):
        os.environ.pop("NO_COLOR", None)
        has_colour = "\x1b[" in on_terminal(command, words)
        equal((words, has_colour), (words, "none" not in words))
        os.environ["NO_COLOR"] = "1"
        assert "\x1b[" not in on_terminal(command, words)
    equal(on_terminal(command, ["show", layout]).replace("\r\n", "\n"), plain)
    command.run("show", layout, "-o", "picture.txt")
    equal(pathlib.Path("picture.txt").read_text(encoding="utf-8"), plain)


# Arrays.


def write_array(path, values, shape, order, descr="<i4"):
    """Words of 32 bits, in the order in which they are stored, as elements of a type."""
    header = repr({"descr": descr, "fortran_order": order == "F", "shape": shape}).encode()
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header +
                                   struct.pack(f"<{len(values)}i", *values))


def read_array(path):
    """Shape, order, and values as stored."""
    content = pathlib.Path(path).read_bytes()
    begin = 10 + int.from_bytes(content[8:10], "little")
    header = ast.literal_eval(content[10:begin].decode())
    count = (len(content) - begin) // 4
    return header["shape"], "F" if header["fortran_order"] else "C", list(struct.unpack(f"<{count}i", content[begin:]))


def arrays(command):
    """Compact layouts have arrays of their shape, column-major ones in Fortran order, hierarchical ones too; inputs in
    Fortran order hold the same array."""
    rows, columns = 5, 3
    c_order = [10 * i + j for i in range(rows) for j in range(columns)]
    f_order = [10 * i + j for j in range(columns) for i in range(rows)]
    write_array("c.npy", c_order, (rows, columns), "C")
    write_array("f.npy", f_order, (rows, columns), "F")
    for name in ("c.npy", "f.npy"):
        command.run("run", "-e", TRANSPOSE, "--in", f"src={name}", "--out", "dst=d.npy")
        equal(read_array("d.npy"), ((rows, columns), "F", f_order))
    copies = {
        "(5,3):(3,1)": ((5, 3), "C", c_order),
        "(5,3):(1,5)": ((5, 3), "F", f_order),
        "((5,1),3):((3,7),1)": ((5, 3), "C", c_order),
        "packed((5,3))": ((5, 3), "C", c_order),
        "(5,3):(4,1)": ((19,), "C", None),
    }
    for layout, expected in copies.items():
        kernel = f"kernel k(src: i32 @ (5,3):(1,5), dst: i32 @ {layout}) = copy(src, dst)"
        command.run("run", "-e", kernel, "--in", "src=d.npy", "--out", "dst=e.npy")
        found = read_array("e.npy")
        equal(found[:2], expected[:2])
        assert expected[2] in (None, found[2]), (layout, found)
    equal(read_array("d.npy")[2], f_order)


def element_types(command):
    """Raw bits take any type of their width, bf16 the bits alone, other types themselves."""
    copy = "kernel k(src: {} @ 2:1, dst: b16 @ 2:1) = copy(src, dst)"
    for argument, taken in {"b16": "<f2 <i2 <u2 |V2", "bf16": "<u2 |V2", "f16": "<f2", "u16": "<u2"}.items():
        for descr in ("<f2", "<i2", "<u2", "|V2"):
            write_array("a.npy", [1], (2,), "C", descr)
            _, errors = command.run("run", "-e", copy.format(argument), "--in", "src=a.npy",
                                    status=0 if descr in taken.split() else 1)
            equal((argument, descr, "TJ6003" in errors), (argument, descr, descr not in taken.split()))


# Names.


def long_names(command):
    """The runtimes of GPUs know a kernel by any name that the language takes."""
    command.run("run", "-e", f"kernel {'k' * 1000}(d: i32 @ 2:1) = offsets(d, 2:1)", "--device", "sim:gfx942")


TESTS = [found_through_path, standard_input, earlier_expressions, empty_lines, zero_bytes, shared_definitions,
         many_definitions, json_errors, json_lines, json_outputs, full_disk, tables, functions, cancellation,
         progress, colours, arrays, element_types, long_names]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilejit", required=True, help="the command to test")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        command = Command(options.tilejit)
        os.chdir(folder)
        for test in TESTS:
            try:
                test(command)
            except Exception:  # pylint: disable=broad-except
                failed += 1
                print(f"--- {test.__name__}\n{traceback.format_exc()}")
    print(f"{len(TESTS)} tests, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

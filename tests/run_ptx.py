#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles every kernel of tests/golden and examples to PTX, which LLVM verifies on the way, for each NVIDIA processor
of the list; where ptxas is, it assembles all of one processor's and a third of the others', and no register spills.

    run_ptx.py --library PATH

TILEJIT_PTXAS names ptxas; without it, it is looked for in the PATH. A kernel whose mapping has waves of another size
than the processor's has to be refused with TJ4015, and where there is no TMA one whose tiles that brings, with TJ4020.
Prints what fails, and a count; exit status 1 when anything fails.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import emitter

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARIES = ROOT / "tests/golden/imports"
PROCESSORS = {"sm_80": "7.0", "sm_90": "7.8", "sm_120": "8.7"}
ASSEMBLED = "sm_90"
FIRST_OF_BOXES = 8.0  # the PTX with instructions of the TMA
BOX_FRAMES = {"0", "8"}  # bytes of a stack without spills, which ptxas gives kernels of sm_120 that have such ones
# Bytes that 1024 work-items, of which each has 64 registers at most, may spill where floats of 8 bits are converted
# without instructions for it.
MOST_SPILLED = {"sm_80": 80}
MOST_OF_CROWDED = 32  # bytes that work-items may spill of which more than 1024 are to be resident
MOST_OF_LONG = 24  # or of kernels for rows of any length, whose long ones pass by, 32 columns of each work-item at once
REFUSALS = ("a wave of {} has 32 lanes", "kernels of {} have no engine that brings tiles into LDS")
SECONDS = 60


def kernels():
    """Each file with the names of its kernels."""
    for path in sorted([*ROOT.glob("tests/golden/*.tile"), *ROOT.glob("examples/*.tile")]):
        names = re.findall(r"^kernel +(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        yield from ((path, name) for name in names)


def complaint_of_text(text, processor):
    """What is wrong with PTX, as far as text tells."""
    version = PROCESSORS[processor]
    if "cp.async.bulk.tensor" in text and float(version) < FIRST_OF_BOXES:
        version = str(FIRST_OF_BOXES)
    if f".version {version}\n" not in text:
        return f"not PTX {version}"
    if f".target {processor}\n" not in text or ".visible .entry tilejit_" not in text:
        return "no kernel for the processor"
    return None


def complaint_of_assembly(ptxas, folder, text, processor):
    """What is wrong with the machine code that ptxas makes of PTX, as far as ptxas tells."""
    assembled = subprocess.run([ptxas, f"-arch={processor}", "-v", str(text), "-o", "kernel.cubin"],
                               capture_output=True, text=True, timeout=SECONDS, cwd=folder, check=False)
    if assembled.returncode != 0:
        return assembled.stderr.strip()
    spills = re.findall(r"Function properties for (\S+)\s+(\d+) bytes stack frame, (\d+) bytes spill stores", assembled.stderr)
    registers = [int(count) for count in re.findall(r"Used (\d+) registers", assembled.stderr)]
    code = text.read_text(encoding="utf-8")
    frames = BOX_FRAMES if "cp.async.bulk.tensor" in code else {"0"}
    largest = set(re.findall(r"\.entry (\S+)\([^{]*\.reqntid 1024\n", code))
    sizes = re.findall(r"\.entry (\S+)\([^{]*\.reqntid (\d+)\n\.minnctapersm (\d+)\n", code)
    crowded = {kernel for kernel, items, groups in sizes if int(items) * int(groups) > 1024}
    if not spills or len(spills) != len(registers):
        return f"no properties: {assembled.stderr.strip()}"
    for kernel, frame, spilled in spills:
        if kernel in largest:
            most = MOST_SPILLED.get(processor, 0)
        elif kernel in crowded:
            most = MOST_OF_CROWDED
        else:
            most = MOST_OF_LONG if re.fullmatch(r"\w+(\$rows)?(\$aligned)?", kernel) else 0
        if int(spilled) > most or (most == 0 and frame not in frames):
            return f"{kernel} spills {spilled} bytes in a frame of {frame}: {assembled.stderr.strip()}"
    return None if all(0 < count <= 255 for count in registers) else f"registers: {registers}"


def check(compiler, ptxas, folder, path, name, processor):
    """What is wrong with one kernel; None: nothing. Without ptxas only its PTX is looked at."""
    try:
        text = compiler.emit(path, "ptx", processor, name)
    except emitter.Refusal as refusal:
        return None if any(known.format(processor) in str(refusal) for known in REFUSALS) else str(refusal)
    output = folder / "kernel.ptx"
    output.write_bytes(text)
    complaint = complaint_of_text(text.decode("utf-8"), processor)
    return complaint_of_assembly(ptxas, folder, output, processor) if complaint is None and ptxas else complaint


def is_assembled(number, processor):
    """ptxas takes longer than all before it: all kernels for one processor, every third for the others."""
    return processor == ASSEMBLED or number % len(PROCESSORS) == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libtilejit.so")
    compiler = emitter.Emitter(parser.parse_args().library)
    os.environ["TILEJIT_PATH"] = str(LIBRARIES)
    ptxas = os.environ.get("TILEJIT_PTXAS") or shutil.which("ptxas")
    count, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (path, name) in enumerate(kernels()):
            for processor in PROCESSORS:
                assembler = ptxas if is_assembled(number, processor) else None
                complaint = check(compiler, assembler, pathlib.Path(folder), path, name, processor)
                count += 1
                if complaint is not None:
                    failed += 1
                    print(f"{path.name}: {name} for {processor}: {complaint}")
    print(f"{count} kernels, {failed} wrong" + ("" if ptxas else "; no ptxas"))
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles every kernel of tests/golden and examples to PTX, which LLVM verifies on the way, for each NVIDIA processor
of the list; where ptxas is, to cubins, too, whose registers do not spill.

    run_ptx.py --tilejit PATH

TILEJIT_PTXAS names ptxas; without it, it is looked for in the PATH. A kernel whose mapping has waves of another size
than the processor's has to be refused with TJ4015. Prints what fails, and a count; exit status 1 when anything fails.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARIES = ROOT / "tests/golden/imports"
PROCESSORS = {"sm_80": "7.0", "sm_90": "7.8", "sm_120": "8.7"}
SECONDS = 60


def kernels():
    """Each file with the names of its kernels."""
    for path in sorted([*ROOT.glob("tests/golden/*.tile"), *ROOT.glob("examples/*.tile")]):
        names = re.findall(r"^kernel +(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        yield from ((path, name) for name in names)


def run(words, folder):
    return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, cwd=folder, check=False,
                          env=dict(os.environ, TILEJIT_PATH=str(LIBRARIES)))


def complaint_of_text(text, processor):
    """What is wrong with PTX, as far as text tells."""
    if f".version {PROCESSORS[processor]}\n" not in text:
        return f"not PTX {PROCESSORS[processor]}"
    if f".target {processor}\n" not in text or ".visible .entry tilejit_" not in text:
        return "no kernel for the processor"
    return None


def complaint_of_cubin(tilejit, folder, path, name, processor):
    """What is wrong with the machine code that ptxas makes."""
    output = folder / "kernel.cubin"
    compiled = run([tilejit, "compile", str(path), "--kernel", name, "--target", processor, "--emit", "cubin", "-o",
                    str(output)], folder)
    figures = run([tilejit, "disasm", "--stats", str(output)], folder)
    if compiled.returncode != 0 or figures.returncode != 0:
        return compiled.stderr.strip() + figures.stderr.strip()
    found = json.loads(figures.stdout)
    if f"tilejit_{name}" not in found:
        return "the cubin has no such kernel"
    return next((f"{kernel}: {row}" for kernel, row in found.items()
                 if row["scratch_bytes"] != 0 or not 0 < row["vgprs"] <= 255), None)


def check(tilejit, ptxas, folder, path, name, processor):
    """What is wrong with one kernel; None: nothing."""
    output = folder / "kernel.ptx"
    compiled = run([tilejit, "compile", str(path), "--kernel", name, "--target", processor, "--emit", "ptx", "-o",
                    str(output)], folder)
    if compiled.returncode == 1 and f"a wave of {processor} has 32 lanes" in compiled.stderr:
        return None
    if compiled.returncode != 0:
        return compiled.stderr.strip()
    complaint = complaint_of_text(output.read_text(encoding="utf-8"), processor)
    return complaint_of_cubin(tilejit, folder, path, name, processor) if complaint is None and ptxas else complaint


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilejit", required=True)
    tilejit = os.path.abspath(parser.parse_args().tilejit)
    ptxas = os.environ.get("TILEJIT_PTXAS") or shutil.which("ptxas")
    count, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for path, name in kernels():
            for processor in PROCESSORS:
                complaint = check(tilejit, ptxas, pathlib.Path(folder), path, name, processor)
                count += 1
                if complaint is not None:
                    failed += 1
                    print(f"{path.name}: {name} for {processor}: {complaint}")
    print(f"{count} kernels, {failed} wrong" + ("" if ptxas else "; no ptxas"))
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

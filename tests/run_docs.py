#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Types the command lines of documents, and compares what they print with what stands there.

    run_docs.py suite --root ROOT --build BUILD      all documents, with the commands of a build
    run_docs.py newcomer --root ROOT --work WORK     README.md alone, in a clean copy of the repository, building it

A line of a code block that begins with "$ " is a command, as a terminal shows it; lines that begin with "> " continue
it; what follows, up to the next command or the block's end, is all that it prints. In these lines "…" stands for any
text, and a line that is "…" alone for any lines: measured figures, and what would be too long. A command succeeds
unless one of its lines tells of an error or of a check that must hold.

The commands of a document run in one shell, one after the other, in a folder that has examples/ and scripts/; so later
ones see files and variables of earlier ones. Pictures in docs/pictures are compared with the files of their names that
the documents' commands make; links between files are followed, and what CONTRIBUTING.md says of files is looked up.
ELSEWHERE lists what the suite cannot run, and what runs it instead. Exit status 1 when anything differs, 77 when a copy
of the repository cannot be made.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

SKIPPED = 77
MARK = "=== the command ended with"
FAILING = re.compile(r"error: |\[must hold\]|^{\"code\":")
# A command in a code block without its "$ ", unless it is a form with optional parts.
UNMARKED = re.compile(r"    (tilejit|scripts/\w+|cmake|hipcc|python3|bench_\w+) [^\[]*")

# The newcomer types every line of README.md but the suite's, of which the newcomer is a part.
NEWCOMER_NEVER = ("scripts/test",)
# Beginnings of commands that the suite does not run, and who does.
ELSEWHERE = {
    "scripts/demo": "the test newcomer",
    "scripts/setup": "the test newcomer",
    "scripts/test": "whoever runs the tests",
    "scripts/fuzz": "whoever has the time",
    "ctest": "whoever runs the tests",
    "cmake --preset": "the test newcomer",
    "cmake --build": "the test newcomer",
    "cmake --install": "the test newcomer, and the test install",
    "cmake -S": "the test runtime.alone",
    "~/.local/bin/": "the test newcomer",
    "python3 -m venv": "the test newcomer, and the test python",
    "~/tilejit/bin/pip": "the test newcomer, and the test python",
    "hipcc": "nothing here: it needs ROCm's compiler; the test functions does the same with clang, where it is installed",
}


@dataclasses.dataclass
class Command:
    """A command of a document, the line it stands on, and what it should print."""

    line: int
    text: str
    expected: list


def commands_of(text):
    """The commands of a document's indented code blocks."""
    found, current, blanks = [], None, 0
    for number, line in enumerate(text.splitlines(), 1):
        inside = line[4:] if line.startswith("    ") else None
        if inside is None and line.strip():
            current = None
        elif inside is None:
            blanks += 1
            continue
        elif inside.startswith("$ "):
            current = Command(number, inside[2:], [])
            found.append(current)
        elif current and inside.startswith("> ") and not current.expected:
            current.text += "\n" + inside[2:]
        elif current:
            current.expected += [""] * blanks + [inside.rstrip()]
        blanks = 0
    return found


def pattern_of(lines):
    """A regular expression for output: "…" is any text of a line, alone on a line any lines."""
    parts = [r"(?:[^\n]*\n)*?" if line.strip() == "…" else
             ".*?".join(re.escape(part) for part in line.split("…")) + r"[ \t]*\n" for line in lines]
    return re.compile("".join(parts))


class Shell:
    """A shell that tells after each command how it ended."""

    def __init__(self, folder, path, home):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TILEJIT_")}
        environment |= {"PATH": os.pathsep.join([*map(str, path), os.environ["PATH"]]), "HOME": str(home),
                        "XDG_CACHE_HOME": f"{home}/.cache", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"} | kept_settings()
        self.process = subprocess.Popen(["bash"], cwd=folder, env=environment, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, text):
        """What a command prints on both outputs, and its exit status."""
        self.process.stdin.write(f"{{ {text}\n}} </dev/null\nprintf '\\n{MARK} %d\\n' $?\n")
        self.process.stdin.flush()
        output = ""
        for line in self.process.stdout:
            if line.startswith(MARK):
                output = output[:-1]
                return output + "\n" * (output != "" and not output.endswith("\n")), int(line[len(MARK):])
            output += line
        raise EOFError(f"the shell ended at: {text}\n{output}")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def kept_settings():
    return {name: os.environ[name] for name in ("TILEJIT_SKIP_SETUP",) if name in os.environ}


def complaint_of(command, output, status):
    """What is wrong with a command's outcome, or None."""
    fails = any(FAILING.search(line) for line in command.expected)
    if (status != 0) != fails:
        return f"exit status {status}\n{output}"
    if not pattern_of(command.expected).fullmatch(output.rstrip("\n") + "\n" if output.strip() else ""):
        expected = "".join(f"  {line}\n" for line in command.expected)
        return f"prints\n{output}instead of\n{expected}"
    return None


def check_document(path, shell, is_left_out):
    """Runs a document's commands. Gives how many ran, and complaints."""
    count, complaints = 0, []
    for command in commands_of(path.read_text(encoding="utf-8")):
        if is_left_out(command.text):
            continue
        count += 1
        complaint = complaint_of(command, *shell.run(command.text))
        if complaint:
            complaints.append(f"{path}:{command.line}: {command.text}\n{complaint}")
    return count, complaints


def check_pictures(folder, made):
    """Whether each picture is an SVG, and the file of its name that a command made."""
    for picture in sorted(folder.iterdir()):
        same = made / picture.name
        if xml.etree.ElementTree.parse(picture).getroot().tag != "{http://www.w3.org/2000/svg}svg":
            yield f"{picture}: no SVG"
        if not same.exists():
            yield f"{picture}: no command of the documents makes it"
        elif same.read_bytes() != picture.read_bytes():
            yield f"{picture}: differs from what its command makes"


def check_links(root, document):
    """Whether the files that a document points to are there."""
    prose = re.sub(r"`[^`]*`", "", document.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose):
        if "://" not in target and not (document.parent / target).exists():
            yield f"{document.relative_to(root)}: there is no {target}"


def check_marks(root, document):
    """Whether what looks like a command, and is no output, is one."""
    text = document.read_text(encoding="utf-8")
    outputs = {line for command in commands_of(text) for line in command.expected}
    for number, line in enumerate(text.splitlines(), 1):
        if UNMARKED.fullmatch(line) and line[4:] not in outputs:
            yield f"{document.relative_to(root)}:{number}: a command without $"


def check_additions(root):
    """Whether the files of CONTRIBUTING.md's table are there, and its second column's say how to add one."""
    rows = re.findall(r"^\| an? ([^|]*) \| `([^`]*)` \| ([^|]*) \| ([^|]*) \|$",
                      (root / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    for what, says_how, *others in rows:
        if "How to add a" not in (root / says_how).read_text(encoding="utf-8"):
            yield f"CONTRIBUTING.md: {says_how} does not say how to add a {what}"
        for path in re.findall(r"`([^`]*)`", " ".join(others)):
            if not (root / path).exists():
                yield f"CONTRIBUTING.md: there is no {path}"
    if not rows:
        yield "CONTRIBUTING.md: no table of what can be added"


def check_glossary(root):
    """Whether each word of the glossary is there once, in the order of the alphabet."""
    words = re.findall(r"^\| (?!word \|)([^|]*) \|", (root / "docs" / "GLOSSARY.md").read_text(encoding="utf-8"),
                       re.MULTILINE)
    for before, after in zip(words, words[1:]):
        if before.casefold() >= after.casefold():
            yield f"docs/GLOSSARY.md: {after} after {before}"


def begins_with(text, beginnings):
    return any(text.startswith(beginning) for beginning in beginnings)


def check_suite(given):
    root, build = pathlib.Path(given.root).resolve(), pathlib.Path(given.build).resolve()
    documents = [root / "README.md", root / "CONTRIBUTING.md", root / "tests" / "README.md",
                 *sorted((root / "docs").glob("*.md"))]
    total, complaints, left_out = 0, [], [*ELSEWHERE, *given.without]
    with tempfile.TemporaryDirectory() as made:
        for number, document in enumerate(documents):
            folder = pathlib.Path(made) / str(number)
            folder.mkdir()
            for name in ("examples", "scripts"):
                (folder / name).symlink_to(root / name)
            shell = Shell(folder, [build / "tools", build / "bench"], folder)
            count, wrong = check_document(document, shell, lambda text: begins_with(text, left_out))
            shell.close()
            total += count
            complaints += [*wrong, *check_links(root, document), *check_marks(root, document)]
            for file in folder.glob("*.svg"):
                shutil.copy(file, made)
        complaints += check_pictures(root / "docs" / "pictures", pathlib.Path(made))
    return total, [*complaints, *check_additions(root), *check_glossary(root)]


def copy_repository(root, clone):
    """What a clone of the repository would have if its files were committed as they are; False without git."""
    listing = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        return False
    for name in filter(None, listing.stdout.split("\0")):
        if (root / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, clone / name)
    return True


def use_quick_compilers(clone):
    """Compilers that do not optimise, which takes a third of the time; behind ccache, where it is, that knows files
    again in another copy of the repository."""
    launcher = clone.parent / "quickly"
    launcher.write_text(f'#!/bin/sh\nexec {"ccache" if shutil.which("ccache") else ""} "$@" -O0\n', encoding="utf-8")
    launcher.chmod(0o755)
    folder = os.environ.get("CCACHE_DIR") or pathlib.Path.home() / ".cache" / "ccache"
    os.environ.update(CMAKE_C_COMPILER_LAUNCHER=str(launcher), CMAKE_CXX_COMPILER_LAUNCHER=str(launcher),
                      CCACHE_DIR=str(folder), CCACHE_BASEDIR=str(clone), CCACHE_NOHASHDIR="1")


def check_newcomer(given):
    root, work = pathlib.Path(given.root).resolve(), pathlib.Path(given.work).resolve()
    shutil.rmtree(work, ignore_errors=True)
    clone, home = work / "tilejit", work / "home"
    clone.mkdir(parents=True)
    home.mkdir()
    if not copy_repository(root, clone):
        print("no git, or no repository: nothing to copy")
        sys.exit(SKIPPED)
    use_quick_compilers(clone)
    shell = Shell(clone, [], home)
    outcome = check_document(clone / "README.md", shell, lambda text: begins_with(text, NEWCOMER_NEVER))
    shell.close()
    shutil.rmtree(work)
    return outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", required=True, help="the repository")
    modes = parser.add_subparsers(required=True)
    suite = modes.add_parser("suite")
    suite.add_argument("--build", required=True, help="a folder that tilejit was built in")
    suite.add_argument("--without", action="append", default=[], help="the beginning of commands to leave out")
    suite.set_defaults(check=check_suite)
    newcomer = modes.add_parser("newcomer")
    newcomer.add_argument("--work", required=True, help="a folder for the copy, which is removed")
    newcomer.set_defaults(check=check_newcomer)
    given = parser.parse_args()
    total, complaints = given.check(given)
    print(*complaints, sep="\n")
    print(f"{total} commands, {len(complaints)} complaints")
    return 1 if complaints or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

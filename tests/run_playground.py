#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Uses the playground (docs/playground) in a headless Chromium, and compares what it gives with what the command gives.

    run_playground.py --root ROOT --tilejit PATH [--build BUILD]      BUILD is build/playground of the repository

What is compared: the command lines and expressions of documents that need no LLVM; the examples of all functions;
errors, with the text that is marked. What is held besides: the page's own examples have answers; nesting that is too deep
is an error, after which the page goes on; every control has a name, the tabs obey the keyboard, text has contrast, in
both colour schemes, on narrow pages and wide ones; nothing is loaded. It prints how long answers took, from the key on.

Exit status 1 when anything is wrong, 77 where Chromium or the page is missing. Where the page has been built, it is
brought up to date first.
"""

import argparse
import json
import pathlib
import re
import shlex
import statistics
import subprocess
import sys

import browser
import run_docs

SKIPPED = 77
OPTIONS = {"--target": "target", "--dtype": "dtype", "--store": "store", "--load": "load", "--lds": "lds",
           "--tile": "tile", "--dma": "dma", "--at": "at", "--color": "color", "--function": "function", "--walk": "walk"}
# Of whose lines all are compared but so many: those that take machine code, or a file that lines before them write, and
# those that write one.
DOCUMENTS = {"docs/tutorial.md": 2, "docs/dma.md": 3}
LINE = re.compile(r"^    (\S.*?)\s+→ (.*)$")


class Page:
    """The playground in a browser."""

    def __init__(self, chromium, file):
        self.chromium, self.file = chromium, file

    def open(self):
        self.chromium.call("Page.addScriptToEvaluateOnNewDocument", source=(
            "window.complaints = [];"
            "for (const kind of ['error', 'unhandledrejection', 'securitypolicyviolation'])"
            " window.addEventListener(kind, (e) => window.complaints.push(`${kind} ${e.message ?? e.reason ?? e.blockedURI}`));"))
        self.chromium.open(self.file.resolve().as_uri())
        self.chromium.wait_for("document.body.dataset.answers > 0")

    def show(self, state, how="page.open(state)"):
        """Opens a state, and waits for the answer: what its tab shows, what is copied, what is wrong."""
        return self.chromium.evaluate("""(async (state) => {
            const changed = () => new Promise((resolve) => new MutationObserver((_, observer) => { observer.disconnect(); resolve(); })
              .observe(document.body, {attributes: true}));
            while (page.engine.running !== null)
              await changed();
            const before = document.body.dataset.answers, answered = changed();
            %s;
            if (document.body.dataset.answers === before)
              await answered;
            const problem = document.getElementById("problem"), panel = document.querySelector("[role=tabpanel]:not([hidden])");
            return {copied: page.copied, problem: problem.hidden ? null : problem.textContent,
                    marked: document.querySelector(".marks mark")?.textContent ?? null,
                    invalid: document.querySelector("[aria-invalid]")?.name ?? null,
                    texts: [...panel.querySelectorAll("pre")].map((pre) => pre.textContent),
                    failure: panel.querySelector(".answer > .problem")?.textContent ?? null};
            })(%s)""" % (how, json.dumps(state)))


class Command:
    """The command, and what it prints."""

    def __init__(self, tilejit, root):
        self.tilejit, self.root = tilejit, root

    def run(self, *words):
        done = subprocess.run([self.tilejit, *words], capture_output=True, text=True, cwd=self.root, timeout=60, check=False)
        return (done.stdout or done.stderr).rstrip("\n")


# --- what documents type ---

def options_of(words):
    """A command line's operands, and its options as the page's fields; None where the page has none of them."""
    operands, fields, files = [], {}, []
    words = iter(words)
    for word in words:
        if word in OPTIONS:
            fields[OPTIONS[word]] = next(words)
        elif word in ("-e", "-f"):
            (operands if word == "-e" else files).append(next(words))
        elif word in ("--emit", "--stop-after", "--as"):
            fields[word] = next(words)
        elif word == "--program":
            fields["dma-as"] = "program"
        elif word.startswith(("-", ">")):
            return None
        else:
            (files if word.endswith(".tile") else operands).append(word)
    return operands, fields, files


def question_of(name, operands, fields, program):
    """The tab that answers a command line, and what is compared: the words that the command gets more, and how the page's
    outcome says the same. None where it takes LLVM."""
    text = lambda outcome: outcome["texts"][-1]
    copied = lambda outcome: outcome["copied"].rstrip("\n")
    if name == "eval":
        return {"view": "value"}, [], text
    if name == "show":
        return {"view": "picture", "text": "1"}, [], text
    if name == "prove":
        return {"view": "prove", "program": operands[0], "other": operands[1]}, [], copied
    if name == "check" and "dma" in fields:
        return {"view": "dma"}, [], text
    if name == "check" and "lds" in fields:
        return {"view": "conflicts"}, ["--json"], lambda outcome: copied(outcome).split("\n")[0]
    if name == "check" and "kernel" not in program:
        return {"view": "check"}, ["--json"], copied
    if name == "compile" and fields.get("--emit") == "c":
        return {"view": "function"}, [], text
    if name == "compile" and fields.get("--stop-after") == "tiled":
        return {"view": "kernel"}, [], text
    return None


def typed_commands(root, document):
    """Command lines without what they are piped into, and expressions."""
    for command in run_docs.commands_of(document):
        yield shlex.split(re.split(r" \|\|? ", command.text)[0])
    for line in document.splitlines():
        found = LINE.match(line)
        if found and not line.startswith("    $"):
            yield ["tilejit", "eval", found[1]]


def check_document(page, command, document):
    """How many of a document's lines were compared; those that were not; and complaints."""
    count, left, complaints = 0, [], []
    for words in typed_commands(command.root, document):
        parsed = options_of(words[2:]) if words[0] == "tilejit" else None
        operands, fields, files = parsed or ([], {}, [])
        if parsed is None or not all((command.root / file).exists() for file in files):
            left.append(shlex.join(words))
            continue
        program = "\n;\n".join([*((command.root / file).read_text(encoding="utf-8") for file in files), *operands])
        question = question_of(words[1], operands, fields, program)
        if question is None:
            left.append(shlex.join(words))
            continue
        state, more, said = question
        outcome = page.show({"program": program} | {k: v for k, v in fields.items() if not k.startswith("--")} | state)
        count += 1
        expected = command.run(*words[1:], *more)
        got = outcome["problem"] or (said(outcome) if outcome["texts"] or outcome["copied"] else "nothing")
        if got.rstrip("\n") != expected:
            complaints.append(f"{shlex.join(words)}\n  the page: {got[:2000]}\n  the command: {expected[:2000]}")
    return count, left, complaints


# --- further questions ---

ERRORS = [  # a program, what of it is marked
    ("(5,3):(7,1) o 7:1", "(5,3):(7,1) o 7:1"),
    ("let a = 4:1;\nlet b = colesce(a);\nb", "colesce"),
    ("# √ ≥ 2 bytes\nparam i in 0..9;\n(4,8):(8,1) o üx", None),
    ("(4,8", None),
    ("", None),
]


def check_errors(page, command):
    for program, marked in ERRORS:
        outcome, expected = page.show({"view": "value", "program": program}), command.run("eval", "-e", program)
        if outcome["problem"] != expected or outcome["invalid"] != "program":
            yield f"{program!r}: the page says {outcome['problem']!r}, the command {expected!r}"
        if marked is not None and outcome["marked"] != marked:
            yield f"{program!r}: {outcome['marked']!r} is marked, not {marked!r}"


FIELDS = [  # a state, the field that is to blame
    ({"view": "conflicts", "program": "let a = 4:1", "store": "(4,1):(1,1)", "lds": "b"}, "lds"),
    ({"view": "conflicts", "program": "let a = 4:1", "store": "b"}, "store"),
    ({"view": "prove", "program": "1", "other": "("}, "other"),
    ({"view": "picture", "program": "(4,8):(8,1)", "tile": "16"}, "tile"),
    ({"view": "value", "program": "param M; M", "set": "M"}, "set"),
    ({"view": "value", "program": "param M in 1..9; M", "set": "M=4"}, None),
    ({"view": "function", "program": "strided((8,8),(8,1))", "walk": "step=(0,"}, "walk"),
]


def check_fields(page):
    for state, blamed in FIELDS:
        outcome = page.show(state)
        if outcome["invalid"] != blamed or (outcome["problem"] is None) != (blamed is None):
            yield f"{state}: {outcome['invalid']} is to blame: {outcome['problem']}"
    if page.show({"view": "value", "program": "param M in 1..9, N in 1..9; (M,N)", "set": "M=4, N = 5"})["texts"] != ["(4,5)"]:
        yield "fixed parameters are not"
    table = page.show({"view": "value", "value-as": "table", "program": "param M in 1..9; M:1"})
    if "fix the parameters with the field below the program" not in table["problem"]:
        yield f"a note has not the page's words: {table['problem']}"
    kernel = page.show({"view": "check", "program": "kernel k(a: f32 @ 8:1, b: f32 @ 8:1) = copy(a, b)"})
    if "TJ5012" not in kernel["problem"] or "left to the command" not in kernel["problem"]:
        yield f"machine code: {kernel['problem']}"
    long = page.show({"view": "value", "value-as": "table", "program": "(512,512):(1,512)"})
    if len(long["texts"][0]) > 210000 or json.loads(long["copied"]) != list(range(512 * 512)):
        yield "a long answer is not cut where it is shown, or where it is copied"


def check_functions(page, functions):
    for row in functions:
        outcome = page.show({"view": "value", "program": row["example"]})
        if outcome["texts"] != [row["value"]]:
            yield f"{row['example']}: {outcome['problem'] or outcome['texts']}, not {row['value']}"


def deep_programs():
    """Names, states, and the diagnostic; None: an answer."""
    many = 100000
    for count in (257, many):
        for name, text in (("parentheses", "(" * count + "1" + ")" * count), ("lists", "[" * count + "1" + "]" * count),
                           ("signs", "-" * count + "1"), ("tuples", "(1," * count + "1" + ")" * count)):
            yield f"{count} {name}", {"view": "value", "program": text}, "TJ7002"
    terms = "param i in 0..9; i" + "/3*i" * many
    calls = "let f0(x) = x " + " ".join(f"let f{i + 1}(x) = f{i}(x)" for i in range(2000)) + "; f2000(1)"
    yield "calls", {"view": "value", "program": calls}, "TJ7002"
    for state in ({"view": "simplify"}, {"view": "simplify", "proved": "1"}, {"view": "function"}):
        yield f"terms, {state['view']}", state | {"program": terms}, "TJ7002"
    yield "terms, proof", {"view": "prove", "program": terms, "other": "1"}, "TJ7002"
    yield "a chain", {"view": "simplify", "program": "param i in 0..9; i" + "/3*i" * 20000, "simplify-as": "text"}, None
    yield "depth 240", {"view": "simplify", "program": "param i in 0..9; " + "(" * 240 + "i" + "%7+i)" * 240}, None
    yield "a large domain", {"view": "value", "value-as": "table", "program": "(1000000,1000000):(1,1000000)"}, "TJ7005"
    yield "much work", {"view": "value", "program": "let a = (2,2):(1,2) " + " ".join(
        f"let a{i + 1} = ({'a%d' % i if i else 'a'}, {'a%d' % i if i else 'a'})" for i in range(40)) + "; a40"}, "TJ7003"


def check_depth(page):
    for name, state, code in deep_programs():
        outcome = page.show(state)
        if outcome["failure"] or (code or "") not in (outcome["problem"] or ("" if code is None else "no problem")):
            yield f"{name}: {(outcome['failure'] or outcome['problem'] or 'an answer')[:200]}, not {code or 'an answer'}"
        if code is None and outcome["problem"] is not None:
            yield f"{name}: {outcome['problem'][:200]}"
    if page.show({"view": "value", "program": "1+1"})["texts"] != ["2"]:
        yield "the page does not go on"


def check_examples(page):
    """By their addresses, as if one after the other were followed."""
    for example in page.chromium.evaluate("EXAMPLES"):
        outcome = page.show(example["state"], "location.hash = page.address(state)")
        if page.chromium.evaluate("page.state") != example["state"]:
            yield f"the address of the example {example['name']} is read otherwise"
        if (outcome["problem"] is not None) != ("error" in example["name"]) or outcome["failure"]:
            yield f"the example {example['name']}: {outcome['problem'] or outcome['failure'] or 'no error'}"


# --- access ---

UNNAMED = """[...document.querySelectorAll("a, button, input, select, textarea, img, [tabindex='0']")]
    .filter((e) => !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.labels?.[0]?.textContent.trim()
      || e.alt || e.textContent.trim() || e.matches("pre")))
    .map((e) => e.outerHTML.slice(0, 120))"""

FAINT = """(() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
    if (c[3] !== 0) return c; } return [255, 255, 255]; };
  return [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && !e.closest("[aria-hidden], [inert]")
      && (e.matches("input, textarea, select") || [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())))
    .map((e) => { const a = light(parse(getComputedStyle(e).color)), b = light(ground(e));
      return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.outerHTML.slice(0, 100)]; })
    .filter(([ratio]) => ratio < 4.5).map(([ratio, text]) => `${ratio.toFixed(2)} ${text}`);
})()"""


def check_sizes(page):
    """In both colour schemes, on narrow pages and wide ones, with an error, findings and a picture."""
    states = [{"view": "value", "program": "(4,8"},
              {"view": "conflicts", "program": "", "store": "thread_raked((64,64), 256, 8)", "dtype": "f16", "lds": "(64,64):(1,64)"},
              {"view": "picture", "program": "(256,8):(8,1)", "text": "1"}, {"view": "language"}]
    for scheme in ("light", "dark"):
        page.chromium.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        for width in (400, 1400):
            page.chromium.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
            for state in states:
                page.show(state)
                where = f"{scheme}, {width} wide, {state['view']}"
                if page.chromium.evaluate("document.documentElement.scrollWidth") > width:
                    yield f"{where}: the page is wider than the window"
                yield from (f"{where}: too little contrast: {text}" for text in page.chromium.evaluate(FAINT))
                yield from (f"{where}: without a name: {text}" for text in page.chromium.evaluate(UNNAMED))


def press(page, key, code=0):
    for kind in ("keyDown", "keyUp"):
        page.chromium.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)


def check_keyboard(page):
    page.show({"view": "value", "program": "1"})
    page.chromium.evaluate("document.activeElement.blur()")
    order = []
    for _ in range(10):
        press(page, "Tab", 9)
        order.append(page.chromium.evaluate(
            "((e) => e.id || e.name || e.className || e.tagName.toLowerCase())(document.activeElement)"))
    expected = ["skip", "share", "program", "set", "tab-value", "value", "value-as", "pre", "copy", "a"]
    if order != expected:
        yield f"the order of focus is {order}, not {expected}"
    page.chromium.evaluate("document.getElementById('tab-value').focus()")
    for key, code, expected in (("ArrowRight", 39, "picture"), ("ArrowLeft", 37, "value"), ("End", 35, "language"), ("Home", 36, "value")):
        press(page, key, code)
        selected = page.chromium.evaluate("document.querySelector('[aria-selected=true]').getAttribute('aria-controls')")
        if selected != expected or page.chromium.evaluate("document.activeElement.id") != f"tab-{expected}":
            yield f"{key} leads to {selected}, not {expected}"
    page.show({"view": "value", "program": "3+4"})
    status = "document.getElementById('status').textContent"
    try:
        page.chromium.wait_for(f"{status} === '7'", 5)
    except browser.Failed:
        yield f"who listens hears {page.chromium.evaluate(status)!r}, not '7'"


LATE = """(async () => {  // a slow question, then one that needs no engine
  page.open({view: "value", "value-as": "table", program: "(2048,2048):(1,2048)"});
  page.change({view: "prove"});
  while (page.engine.running !== null)
    await new Promise((resolve) => setTimeout(resolve, 20));
  return [document.querySelector("#prove .answer").textContent, document.getElementById("problem").hidden];
})()"""


def check_order(page):
    text, is_right = page.chromium.evaluate(LATE)
    if "Write the expression" not in text or not is_right:
        yield f"an answer that comes too late is shown: {text!r}"


TIMED = """(async (letters) => {
  const times = [], program = document.getElementById("program");
  const answered = () => new Promise((resolve) => new MutationObserver((_, observer) => { observer.disconnect(); resolve(); })
    .observe(document.body, {attributes: true}));
  for (const letter of letters) {
    program.value += letter;
    const begin = performance.now(), done = answered();
    program.dispatchEvent(new Event("input", {bubbles: true}));
    await done;
    times.push(performance.now() - begin);
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  return [...times, Object.fromEntries(new URLSearchParams(location.hash.slice(1))).program === program.value];
})(%s)"""


def times_of(page, state, letters):
    """Milliseconds from each key to its answer; and whether the address has what was typed in the end."""
    page.show(state)
    *times, is_in_address = page.chromium.evaluate(TIMED % json.dumps(letters))
    return times, is_in_address


def check_typing(page):
    for state in ({"view": "value"}, {"view": "picture"}, {"view": "simplify"}, {"view": "check", "target": "gfx942"},
                  {"view": "function"},
                  {"view": "conflicts", "store": "thread_raked((64,64), 256, 8)", "load": "tv_layout(thread_raked((64,64), 256, 4))"}):
        times, is_in_address = times_of(page, {"program": "Sw<3,0,3> o 0 o (8,8):(8,1) # "} | state, " + (8,8):(1,8) o 64:1")
        if not is_in_address:
            yield f"{state['view']}: what was typed is not in the address"
        print(f"{state['view']}: {min(times):.0f} to {max(times):.0f} ms from a key to the answer, {statistics.median(times):.0f} of most")
    medians = {example["name"]: statistics.median(times_of(page, example["state"], " " * 5)[0])
               for example in page.chromium.evaluate("EXAMPLES")}
    slowest = max(medians, key=medians.get)
    print(f"{len(medians)} examples: at most {medians[slowest]:.0f} ms from a key to the answer, of '{slowest}'")


def check_loads(page):
    yield from page.chromium.evaluate("window.complaints")
    for address in page.chromium.evaluate("performance.getEntriesByType('resource').map((entry) => entry.name)"):
        if not address.startswith("blob:"):
            yield f"the page loads {address}"


def check(page, command):
    complaints = []
    for name, left_to_command in DOCUMENTS.items():
        count, left, wrong = check_document(page, command, (command.root / name).read_text(encoding="utf-8"))
        complaints += wrong
        if len(left) != left_to_command:
            complaints.append(f"{name}: {len(left)} lines are not compared, not {left_to_command}:\n  " + "\n  ".join(left))
        print(f"{count} lines of {name}, {len(left)} left to the command")
    functions = [row for row in json.loads(command.run("help", "--json", "functions")) if row["value"]]
    print(f"{len(functions)} functions")
    if len(functions) < 100:
        complaints.append("fewer functions than there are")
    for further in (check_functions(page, functions), check_errors(page, command), check_fields(page), check_depth(page), check_examples(page),
                    check_sizes(page), check_keyboard(page), check_order(page),
                    check_typing(page), check_loads(page)):
        complaints += further
    return complaints


def bring_up_to_date(build):
    """The page; None where it has never been built."""
    if not (build / "CMakeCache.txt").exists():
        return None
    made = subprocess.run(["cmake", "--build", build, "--target", "playground"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        sys.exit(f"the page cannot be built\n{made.stdout}{made.stderr}")
    print(made.stdout.splitlines()[-1])
    return build / "playground/index.html"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", required=True, type=pathlib.Path)
    parser.add_argument("--tilejit", required=True, type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path)
    given = parser.parse_args()
    root, program = given.root.resolve(), browser.find()
    if program is None:
        print("skipped: Chromium is not installed (scripts/setup playground)")
        return SKIPPED
    file = bring_up_to_date(given.build or root / "build/playground")
    if file is None:
        print("skipped: the page has not been built (cmake --preset playground)")
        return SKIPPED
    with browser.Browser(program) as chromium:
        page = Page(chromium, file)
        page.open()
        complaints = check(page, Command(given.tilejit.resolve(), root))
    print(*complaints, sep="\n")
    print(f"{len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

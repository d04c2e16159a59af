// SPDX-License-Identifier: MIT
// The tabs: what each asks of the engine, and how it shows the answers. Of a tab: its `title`; its `fields`; `questions`,
// from the options that these give; `missing`, what has to be given first, or null; and `show`, from those answers that
// have a text to elements, a line for those who listen, and a text to be copied.
"use strict";

// Text as it is; of more than browsers show at once, the beginning.
const MOST_LETTERS = 200000;
function code(text) {
  const whole = text.replace(/\n$/, ""), more = whole.length - MOST_LETTERS;
  return make("pre", { tabIndex: 0 }, more <= 0 ? whole : `${whole.slice(0, MOST_LETTERS)}\n… ${more} letters more, which copying gives`);
}

const firstLine = (text) => text.trim().split("\n", 1)[0];
const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

function showText([{ text }]) {
  return { elements: [code(text)], spoken: firstLine(text), copied: text };
}

// --- pictures ---

// The last picture, which is drawn anew where it differs.
const drawn = { svg: null, address: null, element: null };

function download(name, text, type) {
  const link = make("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"' };

function titleOf(picture) {
  const title = picture.match(/<title>([^<]*)<\/title>/)?.[1] ?? "the value";
  return title.replace(/&(amp|lt|gt|quot);/g, (entity, name) => ENTITIES[name]);
}

function pictureElement(svg) {
  if (drawn.svg === svg)
    return drawn.element;
  if (drawn.address !== null)
    URL.revokeObjectURL(drawn.address);
  drawn.svg = svg;
  drawn.address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  drawn.element = make("img", { src: drawn.address, alt: `Picture of ${titleOf(svg)}` });
  return drawn.element;
}

async function downloadLatex(options) {
  const outcome = await page.engine.ask([{ question: "show", options: { ...options, as: "latex" } }]);
  if (outcome?.answers?.[0].text)
    download("picture.tex", outcome.answers[0].text, "text/plain");
}

function showPicture([picture, text], options) {
  const image = pictureElement(picture.text);
  const whole = make("input", { type: "checkbox", checked: image.classList.contains("whole"),
    onchange: () => image.classList.toggle("whole", whole.checked) });
  const save = (form, onclick) => make("button", { type: "button", onclick }, `Save as ${form}`);
  const figure = make("figure", {}, image, make("p", {}, make("label", {}, whole, " full size"),
    save("SVG", () => download("picture.svg", picture.text, "image/svg+xml")), save("LaTeX", () => downloadLatex(options))));
  return { elements: [figure, ...(text === undefined ? [] : [code(text.text)])], spoken: `Picture of ${titleOf(picture.text)}`,
    copied: picture.text };
}

// --- findings ---

const MARKS = { yes: "✓ yes", no: "✗ no", unknown: "? unknown" };

function finding({ about, verdict, must_hold: must, text }) {
  const known = MARKS[verdict] !== undefined;
  const rest = known && text.startsWith(verdict) ? text.slice(verdict.length).replace(/^: /, "") : text;
  return make("li", {},
    make("span", { className: `verdict ${known ? verdict : ""}` }, known ? MARKS[verdict] : ""),
    make("span", { className: "about" }, about), rest === "" ? "" : `: ${rest}`, must ? " (must hold)" : "");
}

function findings(text) {
  const { checks } = JSON.parse(text);
  const all = checks.flatMap((check) => check.findings);
  const bad = all.filter((found) => found.verdict === "no");
  const elements = checks.flatMap((check) => [
    make("h2", {}, make("code", {}, [check.of, check.variant, check.condition].filter((part) => part).join(" · "))),
    make("ul", { className: "findings" }, ...check.findings.map(finding))]);
  const spoken = bad.length > 0 ? `${counted(bad.length, "finding")} not good: ${bad.map((found) => found.about).join(", ")}`
    : `${counted(all.length, "finding")}, none bad`;
  return { elements, spoken };
}

function showFindings([{ text }]) {
  return { ...findings(text), copied: text };
}

// --- shared memory ---

function side(name, of) {
  return of === undefined || of === null ? "" : `${name}: ${of.instructions} ${of.instruction}, ${of.cycles} cycles`
    + ` (${of.least} at least), ${of.operations} operations for addresses. `;
}

function suggestion(found) {
  const use = make("button", { type: "button", onclick: () => page.change({ lds: found.layout }) }, "Use");
  use.setAttribute("aria-label", `Use ${found.layout} as the layout in shared memory`);
  const cost = `${found.cycles} cycles${found.cycles === found.least ? ", free of conflicts" : `, ${found.least} without conflicts`}`
    + `${found.is_least ? "; no layout takes fewer" : ""}; ${found.bytes} bytes, room for ${counted(found.workgroups, "workgroup")}`
    + " on a compute unit";
  return make("li", {}, make("span", { className: "layout" }, found.layout), use, make("p", {}, cost),
    make("p", {}, side("store", found.store), side("load", found.load)));
}

function suggestions(text) {
  const { tile, target, tried, layouts } = JSON.parse(text);
  return {
    elements: [make("h2", {}, `The best of ${tried} layouts for a tile of (${tile}) on ${target}`),
      make("ol", { className: "suggestions" }, ...layouts.map(suggestion))],
    spoken: `best layout: ${layouts[0]?.layout}`,
  };
}

// What each bank gives in each phase, of the instruction that has the most conflicts.
const banks = (svg) => ({ elements: [make("figure", {}, pictureElement(svg))], spoken: "" });

function showConflicts(answers) {
  const shown = { suggest: suggestions, conflicts: findings, banks };
  const parts = answers.map(({ question, text }) => shown[question](text));
  return { elements: parts.flatMap((part) => part.elements), spoken: parts.map((part) => part.spoken).filter((line) => line).join("; "),
    copied: answers.filter(({ question }) => question !== "banks").map(({ text }) => text).join("\n") };
}

// --- proofs ---

function showProof([{ text, holds }]) {
  return { elements: [make("p", { className: holds ? "yes" : "no" }, make("strong", {}, holds ? "✓ " : "✗ "), text.trim())],
    spoken: firstLine(text), copied: text };
}

// --- the language ---

const namesOf = (row) => [row.name, ...row.cute, ...row.ck].map((name) => name.toLowerCase());

function showFunctions([{ text }], options) {
  const sought = (options.find ?? "").trim().toLowerCase();
  const found = JSON.parse(text).filter((row) => namesOf(row).some((name) => name.includes(sought))
    || (sought.length > 2 && row.meaning.toLowerCase().includes(sought)));
  const rows = found.flatMap((row) => [make("dt", {}, row.form),
    make("dd", {}, `${row.meaning}. `, ...(row.example ? [make("a", { href: page.address({ view: "value", program: row.example }) },
      row.example)] : []))]);
  return { elements: [make("dl", { className: "functions" }, ...rows)], spoken: counted(found.length, "function"),
    copied: found.map((row) => row.form).join("\n") };
}

// --- tabs ---

const asked = (question) => (options) => [{ question, options }];
const asJson = (question) => (options) => [{ question, options: { ...options, json: "1" } }];

const VIEWS = {
  value: {
    title: "Value",
    fields: [choice("value-as", "as", "Written as", ["", "tilejit"], ["table", "a table of its values"], ["cute", "CuTe C++"],
      ["cute-dsl", "CuTe Python DSL"], ["ck", "CK Tile C++"])],
    questions: asked("value"),
    show: showText,
  },
  picture: {
    title: "Picture",
    fields: [
      choice("color", "color", "Colours say", ["", "what suits the value"], ["index", "index"], ["cycle", "index modulo 8"],
        ["thread", "thread"], ["value", "value of the thread"], ["none", "nothing"]),
      tileOfTwo("Tile of a (thread, value) layout", "(16,8)"),
      box("text", "text", "also as text"),
    ],
    questions: (options) => ["svg", ...(options.text ? ["text"] : [])]
      .map((as) => ({ question: "show", options: { ...options, as } })),
    show: showPicture,
  },
  simplify: {
    title: "Simplification",
    fields: [choice("simplify-as", "as", "Show", ["", "each step"], ["text", "the result"]), box("proved", "prove", "try every case")],
    questions: asked("simplify"),
    show: showText,
  },
  check: {
    title: "Check",
    fields: [choice("about", "about", "About", ["", "the map"], ["global", "accesses to memory"]), target("none"), type,
      box("tv", "tv", "it is a (thread, value) layout")],
    questions: (options) => asJson(options.about || "check")(options),
    show: showFindings,
  },
  conflicts: {
    title: "Shared memory",
    fields: [
      expression("store", "Stored by", "a distribution or a (thread, value) layout"),
      expression("load", "Loaded by", "another one"),
      expression("lds", "Layout in shared memory", "none: layouts are suggested"),
      target("gfx942"), type, tileOfTwo("Tile, where they do not say", "(64,64)"),
    ],
    questions: (options) => [
      ...(options.lds ? [...asJson("conflicts")(options), { question: "banks", options: { ...options, as: "svg" } }] : []),
      ...asJson("suggest")(options)],
    show: showConflicts,
    isPartial: true, // where one of the questions has no answer, the other is shown
    missing: (options) => options.store || options.load ? null
      : "Say who stores the tile, who loads it, or both: distributions or (thread, value) layouts; the program may define them.",
  },
  dma: {
    title: "Tensor DMA",
    fields: [
      expression("dma", "Tensor in memory", "a layout or a view"),
      word("tile", "tile", "Tile", "(64,64)", 9),
      expression("lds", "Layout in shared memory", "that of memory"),
      target("gfx1250"), type, word("at", "at", "Instructions of the tile at", "(0,0)", 9),
      choice("dma-as", "as", "Write", ["", "the plan"], ["program", "what instructions are given, as a program"]),
    ],
    questions: (options) => asked("dma")({ target: "gfx1250", ...options }),
    show: showText,
    missing: (options) => options.dma && options.tile ? null
      : "Say which tensor, a layout or a view, and how large its tiles are: an extent for each of its modes.",
  },
  prove: {
    title: "Proof",
    fields: [field("other", "other", "The program's value is the same as that of",
      () => make("textarea", { rows: 3, spellcheck: false, autocomplete: "off" }), "wide")],
    questions: asked("prove"),
    show: showProof,
    missing: (options) => options.other ? null : "Write the expression that the program is compared with.",
  },
  function: {
    title: "C",
    fields: [word("function", "function", "Name", "at", 10), word("walk", "walk", "Walk", "step=(0,32)", 14),
      choice("function-as", "as", "Write", ["", "definitions"], ["header", "declarations"])],
    questions: (options) => asked("function")({ function: "at", ...options }),
    show: showText,
  },
  kernel: {
    title: "Kernel",
    fields: [target("gfx942"), choice("stage", "as", "Stage", ["", "tiled: who moves what"], ["ast", "program, parsed"],
      ["values", "its definitions"], ["index", "index expressions"], ["simplified", "index expressions, simplified"])],
    questions: (options) => asked("kernel")({ target: "gfx942", ...options }),
    show: showText,
  },
  language: {
    title: "Functions",
    fields: [field("find", "find", "Find a function, also by what CuTe or CK Tile calls it", () => typed({ type: "search" }), "wide")],
    questions: asked("functions"),
    show: showFunctions,
  },
};

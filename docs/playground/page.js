// SPDX-License-Identifier: MIT
// The page: what its fields say is its state, and its address, and asks the engine anew whenever it changes.
"use strict";

// The texts that diagnostics name, by the field that has them.
const FIELD_OF_FILE = { "<expression>": "program", "the declarations": "program", "the first expression": "program",
  "the second expression": "other", lds: "lds", store: "store", load: "load", walk: "walk", set: "set", tile: "tile", dma: "dma", at: "at" };
const SPEAK_AFTER_MILLISECONDS = 700;
const ADDRESS_AFTER_MILLISECONDS = 300;

const page = {
  state: {},
  engine: null,
  asked: 0, // questions so far: of all but the last one, answers come too late
  copied: "",
  speaking: 0, // timers
  addressing: 0,

  // --- state and address ---

  view() {
    return Object.hasOwn(VIEWS, this.state.view) ? this.state.view : "value";
  },

  address(state) {
    return "#" + new URLSearchParams(Object.entries(state).filter(([, value]) => value));
  },

  wholeAddress() {
    return location.href.split("#", 1)[0] + this.address(this.state);
  },

  readAddress() {
    const read = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    this.open(read.program === undefined && read.view === undefined ? EXAMPLES[0].state : read);
  },

  open(state) {
    clearTimeout(this.addressing);
    this.state = { ...state };
    this.forget();
    this.show();
  },

  change(changes) {
    Object.assign(this.state, changes);
    if (changes.view !== undefined)
      this.forget();
    this.addressLater();
    this.show();
  },

  // Browsers limit how often an address changes, and how long it is.
  addressLater() {
    clearTimeout(this.addressing);
    this.addressing = setTimeout(() => {
      try {
        history.replaceState(null, "", this.address(this.state));
      } catch (error) {
        document.getElementById("status").textContent = `The address stays as it was: ${error.message}`;
      }
    }, ADDRESS_AFTER_MILLISECONDS);
  },

  // --- fields ---

  fields: () => [...document.querySelectorAll("[name]:is(input, select, textarea)")],
  panel: (view) => document.getElementById(view),

  show() {
    for (const field of this.fields())
      this.fill(field, this.state[field.name] ?? "");
    for (const tab of document.querySelectorAll("[role=tab]")) {
      const selected = tab.id === `tab-${this.view()}`;
      tab.setAttribute("aria-selected", selected);
      tab.tabIndex = selected ? 0 : -1;
      this.panel(tab.getAttribute("aria-controls")).hidden = !selected;
    }
    this.ask();
  },

  fill(field, value) {
    if (field.type === "checkbox")
      field.checked = value !== "";
    else if (field.value !== value)
      field.value = value;
  },

  // The options that the panel's fields give, and the program.
  options(view) {
    const options = { program: this.state.program ?? "", set: this.state.set };
    for (const field of this.panel(view).querySelectorAll("[name]:is(input, select, textarea)")) {
      const value = field.type === "checkbox" ? (field.checked ? "1" : "") : field.value;
      if (value.trim() !== "")
        options[field.dataset.option] = value;
    }
    return options;
  },

  // A field that does not have its form.
  malformed(view) {
    return this.fields().find((field) => !field.validity.valid && (field.closest("[role=tabpanel]") ?? this.panel(view)).id === view);
  },

  // --- answers ---

  async ask() {
    const view = this.view(), options = this.options(view), missing = VIEWS[view].missing?.(options) ?? null;
    const begin = performance.now(), number = ++this.asked, malformed = this.malformed(view);
    if (malformed !== undefined) {
      this.mark({ problem: malformed.dataset.problem, file: malformed.name });
      this.keep(view, malformed.dataset.problem);
      return;
    }
    if (missing !== null) {
      this.mark(null);
      this.put(view, { elements: [make("p", {}, missing)], spoken: missing, copied: "" });
      return;
    }
    document.querySelector(".answers").ariaBusy = true;
    const outcome = await this.engine.ask(VIEWS[view].questions(options));
    if (outcome === null || number !== this.asked)
      return;
    this.receive(view, options, outcome);
    document.getElementById("time").textContent = `${(performance.now() - begin).toFixed(0)} ms`;
  },

  receive(view, options, { answers, failure }) {
    if (failure !== undefined) {
      this.mark(null);
      this.put(view, { elements: [make("p", { className: "problem" }, failure)], spoken: failure, copied: failure });
      return;
    }
    const wrong = answers.find(({ text }) => text === null), given = answers.filter(({ text }) => text !== null);
    this.mark(wrong ?? null);
    if (wrong === undefined || (VIEWS[view].isPartial && given.length > 0))
      this.put(view, VIEWS[view].show(given, options));
    else
      this.keep(view, wrong.problem ?? "no answer");
  },

  put(view, { elements, spoken, copied }) {
    const answer = this.panel(view).querySelector(".answer");
    answer.replaceChildren(...elements);
    this.setOld(answer, false);
    this.told(spoken, copied);
  },

  // Leaves what was there, as what it is: an answer to an earlier text.
  keep(view, problem) {
    this.setOld(this.panel(view).querySelector(".answer"), true);
    this.told(firstLine(problem), problem);
  },

  setOld(answer, is) {
    answer.classList.toggle("old", is);
    answer.inert = is;
  },

  told(spoken, copied) {
    this.copied = copied;
    document.querySelector(".answers").ariaBusy = false;
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => { document.getElementById("status").textContent = spoken; }, SPEAK_AFTER_MILLISECONDS);
    document.body.dataset.answers = Number(document.body.dataset.answers ?? 0) + 1;
  },

  forget() {
    for (const answer of document.querySelectorAll(".answer"))
      answer.replaceChildren();
  },

  // --- problems ---

  mark(answer) {
    const problem = document.getElementById("problem"), blamed = answer === null ? null : FIELD_OF_FILE[answer.file];
    problem.hidden = answer === null;
    problem.textContent = answer?.problem?.trimEnd() ?? "";
    for (const field of this.fields()) {
      const is = field.name === blamed && !field.closest("[role=tabpanel]")?.hidden;
      field.toggleAttribute("aria-invalid", false);
      if (is)
        field.setAttribute("aria-invalid", "true");
    }
    this.markSpan(blamed === "program" && answer.line > 0 ? answer : null);
  },

  // Lines, and bytes of a line, are the engine's units; letters are the page's.
  markSpan(answer) {
    const text = document.getElementById("program").value, marks = document.querySelector(".marks");
    const lines = text.split("\n"), line = answer === null ? undefined : lines[answer.line - 1];
    if (line === undefined) {
      marks.replaceChildren();
      return;
    }
    const bytes = new TextEncoder().encode(line), decoder = new TextDecoder();
    const letters = (from, to) => decoder.decode(bytes.slice(from, to));
    const begin = answer.column - 1, end = begin + answer.length;
    const before = lines.slice(0, answer.line - 1).map((whole) => whole + "\n").join("") + letters(0, begin);
    marks.replaceChildren(before, make("mark", {}, letters(begin, end) || " "), letters(end) + "\n" + lines.slice(answer.line).join("\n"));
    this.followScroll();
  },

  followScroll() {
    const program = document.getElementById("program"), marks = document.querySelector(".marks");
    marks.scrollTop = program.scrollTop;
    marks.scrollLeft = program.scrollLeft;
  },

  // --- controls ---

  moveTab(event) {
    const tabs = [...document.querySelectorAll("[role=tab]")], at = tabs.indexOf(event.target);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined || at < 0)
      return;
    event.preventDefault();
    const tab = tabs[(to + tabs.length) % tabs.length];
    tab.focus();
    tab.click();
  },

  async copy(text, button) {
    button.dataset.label ??= button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "The browser does not allow it";
    }
    document.getElementById("status").textContent = button.textContent;
    setTimeout(() => { button.textContent = button.dataset.label; }, 1500);
  },

  listen() {
    document.addEventListener("input", ({ target }) => {
      if (target.name)
        this.change({ [target.name]: target.type === "checkbox" ? (target.checked ? "1" : "") : target.value });
    });
    document.addEventListener("submit", (event) => event.preventDefault());
    document.querySelector("[role=tablist]").addEventListener("keydown", (event) => this.moveTab(event));
    document.querySelector("[role=tablist]").addEventListener("click", ({ target }) => {
      if (target.getAttribute("role") === "tab")
        this.change({ view: target.getAttribute("aria-controls") });
    });
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault();
      document.getElementById("program").focus();
    });
    document.getElementById("program").addEventListener("scroll", () => this.followScroll());
    document.getElementById("share").addEventListener("click", ({ target }) => this.copy(this.wholeAddress(), target));
    document.getElementById("copy").addEventListener("click", ({ target }) => this.copy(this.copied, target));
    window.addEventListener("hashchange", () => this.readAddress());
  },

  // A button and a panel for each tab.
  listTabs() {
    for (const [view, { title, fields }] of Object.entries(VIEWS)) {
      const tab = make("button", { type: "button", id: `tab-${view}` }, title);
      const panel = make("section", { id: view, tabIndex: 0, hidden: true },
        make("form", {}, ...fields.map((field) => field.make())), make("div", { className: "answer" }));
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", view);
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", tab.id);
      for (const control of panel.querySelectorAll("[name]"))
        control.setAttribute("aria-describedby", "problem");
      document.querySelector("[role=tablist]").append(tab);
      document.querySelector(".foot").before(panel);
    }
  },

  listExamples() {
    document.querySelector(".examples ul").append(
      ...EXAMPLES.map(({ name, state }) => make("li", {}, make("a", { href: this.address(state) }, name))));
  },

  // Targets and element types, as the engine lists them.
  async fillLists() {
    const outcome = await this.engine.ask([{ question: "targets", options: {} }, { question: "dtypes", options: {} }]);
    if (outcome.failure !== undefined)
      return;
    const [targets, dtypes] = outcome.answers.map(({ text }) => text.trim().split("\n").map((row) => row.split("\t")));
    document.getElementById("targets").append(...targets.map(([value, label]) => make("option", { value, label })));
    for (const list of document.querySelectorAll(".dtypes"))
      list.append(...dtypes.filter(([name]) => name !== "f32").map(([name]) => make("option", {}, name)));
  },

  async begin() {
    this.listTabs();
    this.listen();
    this.listExamples();
    this.engine = new Engine();
    try {
      await this.engine.module;
    } catch (error) {
      this.mark({ problem: `This browser cannot run the engine, which is WebAssembly: ${error}` });
      return;
    }
    await this.fillLists();
    this.readAddress();
  },
};

page.begin();

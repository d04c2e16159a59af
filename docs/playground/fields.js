// SPDX-License-Identifier: MIT
// The fields of tabs: what they are called in the address, which option of the engine they give, and what stands before
// them. A field that several tabs have is written once.
"use strict";

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// `name` is the field's in the address, `option` the engine's. The field that `control` makes stands behind the label,
// a box before it.
const field = (name, option, label, control, className = "") => ({ name, option, make: () => {
  const made = control();
  made.name = name;
  made.dataset.option = option;
  const words = made.type === "checkbox" ? [made, ` ${label}`] : [`${label} `, made];
  return make("label", { className: made.type === "checkbox" ? "box" : className }, ...words);
} });

const typed = (properties) => Object.assign(make("input", { autocomplete: "off", spellcheck: false }), properties);
const word = (name, option, label, placeholder, size) => field(name, option, label, () => typed({ placeholder, size }));
const expression = (name, label, placeholder) => field(name, name, label, () => typed({ placeholder }), "wide");
const box = (name, option, label) => field(name, option, label, () => make("input", { type: "checkbox" }));

// Of [value, words]…; the first value is that of a field that nobody has touched.
const choice = (name, option, label, ...choices) =>
  field(name, option, label, () => make("select", {}, ...choices.map(([value, words]) => make("option", { value }, words))));

const target = (placeholder) => field("target", "target", "Target", () => {
  const made = typed({ placeholder, size: 8 });
  made.setAttribute("list", "targets");
  return made;
});

const type = field("dtype", "dtype", "Type", () => make("select", { className: "dtypes" }, make("option", { value: "" }, "f32")));

const tileOfTwo = (label, placeholder) => field("tile", "tile", label, () => {
  const made = typed({ placeholder, size: 9, pattern: "\\s*\\(?\\s*\\d{1,9}\\s*,\\s*\\d{1,9}\\s*\\)?\\s*" });
  made.dataset.problem = `a tile is two extents, as in ${placeholder}`;
  return made;
});

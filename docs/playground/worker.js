// SPDX-License-Identifier: MIT
// The engine in a thread of its own: a first message brings the compiled module; each further one a list of questions,
// [{question, options}…], which is answered by one of their answers.
"use strict";

const OPTIONS = ["program", "set", "other", "lds", "store", "load", "tile", "dma", "at", "target", "dtype", "tv", "as", "color",
  "prove", "function", "walk", "json"];

let engine;

function withText(text, use) {
  if (text === undefined || text === null)
    return use(0);
  const size = engine.lengthBytesUTF8(text) + 1, address = engine._malloc(size);
  if (address === 0)
    throw new RangeError("no memory for the question");
  engine.stringToUTF8(text, address, size);
  try {
    return use(address);
  } finally {
    engine._free(address);
  }
}

const textAt = (address) => address === 0 ? null : engine.UTF8ToString(address);

function answer({ question, options }) {
  for (const name of OPTIONS)
    withText(name, (key) => withText(options[name], (value) => engine._engine_set(key, value)));
  const begin = performance.now();
  const status = withText(question, (name) => engine._engine_ask(name));
  return {
    question,
    status,
    milliseconds: performance.now() - begin,
    text: textAt(engine._engine_text()),
    holds: engine._engine_holds() !== 0,
    problem: textAt(engine._engine_diagnostic()),
    file: textAt(engine._engine_file()),
    line: engine._engine_line(),
    column: engine._engine_column(),
    length: engine._engine_length(),
  };
}

function instantiate(module) {
  return tilejitEngine({
    instantiateWasm: (imports, receive) => {
      WebAssembly.instantiate(module, imports).then((instance) => receive(instance, module));
      return {};
    },
  });
}

self.onmessage = async ({ data }) => {
  if (data.module !== undefined) {
    engine = await instantiate(data.module);
    self.postMessage({ ready: true });
    return;
  }
  try {
    self.postMessage({ number: data.number, answers: data.questions.map(answer) });
  } catch (error) {
    self.postMessage({ number: data.number, failure: String(error) });
  }
};

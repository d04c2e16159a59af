// SPDX-License-Identifier: MIT
// The engine as the page sees it: a worker that answers one request at a time. Of the requests that come meanwhile only
// the last one counts. A worker that fails, or takes too long, is ended, and a new one begins.
"use strict";

const LONGEST_MILLISECONDS = 15000;
const PATIENCE_MILLISECONDS = 1000; // with a request whose answer nobody waits for any more

async function compiledModule() {
  const text = atob(document.getElementById("engine-module").textContent.trim());
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(plain).arrayBuffer());
}

class Engine {
  constructor() {
    const script = document.getElementById("engine-script").textContent;
    this.script = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    this.module = compiledModule();
    this.running = null; // {number, questions, resolve}; once it is under way also {begin, timer}
    this.waiting = null;
    this.number = 0;
    this.start();
  }

  start() {
    this.worker = new Worker(this.script);
    const worker = this.worker;
    worker.onerror = (event) => this.finish({ failure: `the engine does not start: ${event.message}` });
    this.ready = this.module.then((module) => new Promise((resolve) => {
      worker.onmessage = resolve;
      worker.postMessage({ module });
    })).then(() => {
      worker.onmessage = ({ data }) => this.receive(data);
    });
  }

  restart() {
    this.worker.terminate();
    this.start();
  }

  // The answers to a list of questions; null where a later request took its place; {failure} where there are none.
  ask(questions) {
    return new Promise((resolve) => {
      this.waiting?.resolve(null);
      this.waiting = { number: ++this.number, questions, resolve };
      if (this.running === null)
        this.next();
      else if (this.running.begin !== undefined)
        this.limit(this.running, Math.max(0, this.running.begin + PATIENCE_MILLISECONDS - performance.now()), null);
    });
  }

  async next() {
    const request = this.waiting;
    this.waiting = null;
    this.running = request;
    if (request === null)
      return;
    await this.ready;
    request.begin = performance.now();
    const seconds = LONGEST_MILLISECONDS / 1000;
    this.limit(request, LONGEST_MILLISECONDS,
      { failure: `no answer in ${seconds} seconds; the command, which is faster, has no such limit` });
    this.worker.postMessage({ number: request.number, questions: request.questions });
  }

  limit(request, milliseconds, otherwise) {
    clearTimeout(request.timer);
    request.timer = setTimeout(() => {
      this.restart();
      this.finish(otherwise);
    }, milliseconds);
  }

  receive(data) {
    if (data.number !== this.running?.number)
      return;
    if (data.failure !== undefined)
      this.restart();
    this.finish(data.failure !== undefined ? { failure: data.failure } : { answers: data.answers });
  }

  finish(outcome) {
    const request = this.running;
    if (request === null)
      return;
    clearTimeout(request.timer);
    request.resolve(outcome);
    this.next();
  }
}

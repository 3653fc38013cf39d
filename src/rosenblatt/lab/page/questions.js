/** Questions to the engine: in workers where an answer may take longer than a frame, if the page has its own source. */

import { ANSWERS } from "./engine/engine.js";

/** Questions that may take long. Each kind has a worker of its own, so that none waits for another. */
const SLOW = ["run", "errors", "vc", "fewest", "csv"];

const PATIENCE = 15_000; // milliseconds

/** Return what went wrong, in words. @param {unknown} fault */
export function faultWords(fault) {
  return fault instanceof Error ? fault.message : String(fault);
}

/**
 * Return the answer to a question; an Error says in one sentence why there is none.
 * @param {string} question @param {any} body @returns {Promise<any>}
 */
export async function ask(question, body) {
  const helper = SLOW.includes(question) ? helperFor(question) : null;
  return helper ? helper.ask(body) : ANSWERS[question](body);
}

/** @type {Record<string, Helper>} */
const helpers = {};

/** Return the worker for a kind of question, or null where there is none. @param {string} question */
function helperFor(question) {
  const source = document.getElementById("program")?.textContent;
  if (source) helpers[question] ??= new Helper(question, source);
  return source ? helpers[question] : null;
}

/** A worker that runs the program of this very page, which answers questions where there is no document. */
class Helper {
  /** @type {{body: any, done: (answer: any) => void, failed: (fault: Error) => void}[]} */
  #asked = [];
  /** @type {Worker | null} Null where the browser allows no worker: the page then answers itself. */
  #worker = null;
  #timer = 0;

  /** @param {string} question @param {string} source */
  constructor(question, source) {
    this.question = question;
    this.url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    this.#start();
  }

  #start() {
    try {
      this.#worker = new Worker(this.url);
    } catch {
      return;
    }
    this.#worker.addEventListener("message", ({ data }) => {
      const [{ done, failed }] = this.#asked.splice(0, 1);
      this.#watch();
      if ("fault" in data) failed(new Error(data.fault));
      else done(data.answer);
    });
    this.#worker.addEventListener("error", () => {
      this.#worker = null;
      for (const { body, done } of this.#asked.splice(0)) done(this.ask(body));
    });
  }

  /** Give up on an answer that takes too long, and on those that wait for it. */
  #watch() {
    clearTimeout(this.#timer);
    if (!this.#asked.length) return;
    this.#timer = window.setTimeout(() => {
      this.#worker?.terminate();
      this.#start();
      const words = `No answer in ${PATIENCE / 1000} seconds: use fewer points, updates or passes.`;
      for (const { failed } of this.#asked.splice(0)) failed(new Error(words));
    }, PATIENCE);
  }

  /** @param {any} body @returns {Promise<any>} */
  async ask(body) {
    const worker = this.#worker;
    if (!worker) return ANSWERS[this.question](body);
    return new Promise((done, failed) => {
      this.#asked.push({ body, done, failed });
      if (this.#asked.length === 1) this.#watch();
      worker.postMessage({ question: this.question, body });
    });
  }
}

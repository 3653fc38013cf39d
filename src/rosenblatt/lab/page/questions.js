/** Questions to the engine: in workers where an answer may take longer than a frame, if the page has its own source. */

import { ANSWERS } from "./engine/engine.js";

/** Questions that may take long. Each kind has a worker of its own, so that none waits for another. */
const SLOW = ["run", "errors", "vc", "fewest"];

/** Return what went wrong, in words. @param {unknown} fault */
export function faultWords(fault) {
  return fault instanceof Error ? fault.message : String(fault);
}

/**
 * Return the answer to a question; an Error says in one sentence why there is none.
 * @param {string} question
 * @param {any} body
 * @returns {Promise<any>}
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

  /** @param {string} question @param {string} source */
  constructor(question, source) {
    this.question = question;
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    try {
      this.#worker = new Worker(url);
    } catch {
      return;
    }
    this.#worker.addEventListener("message", ({ data }) => {
      const { done, failed } = this.#asked[0];
      this.#asked.shift();
      if ("fault" in data) failed(new Error(data.fault));
      else done(data.answer);
    });
    this.#worker.addEventListener("error", () => {
      this.#worker = null;
      for (const { body, done } of this.#asked.splice(0)) done(this.ask(body));
    });
  }

  /** @param {any} body @returns {Promise<any>} */
  async ask(body) {
    const worker = this.#worker;
    if (!worker) return ANSWERS[this.question](body);
    return new Promise((done, failed) => {
      this.#asked.push({ body, done, failed });
      worker.postMessage({ question: this.question, body });
    });
  }
}

/** What a student has answered, kept by the browser where it keeps things, else until the page is closed. */

/** @import { HandedIn } from "./handed_in.js" */
/** @typedef {{answer: any, right: boolean}} Kept */

const KEY = "perceptron-lab-exercises";

/** Return what the browser has kept, or an empty object. @returns {any} */
function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return found && typeof found === "object" ? found : {};
  } catch {
    return {};
  }
}

export class Progress {
  constructor() {
    const { student, drafts, results } = kept();
    this.student = typeof student === "string" ? student : "";
    /** What stands in the fields of each exercise. @type {Map<string, any>} */
    this.drafts = new Map(Object.entries(drafts ?? {}));
    /** The last answer to each exercise that was checked; one that is right stays. @type {Map<string, Kept>} */
    this.results = new Map(Object.entries(results ?? {}).filter(([, one]) => one && typeof one === "object"));
  }

  /** Note what was checked. @param {string} name @param {any} answer @param {boolean} right */
  note(name, answer, right) {
    if (right || !this.isRight(name)) this.results.set(name, { answer, right });
    this.keep();
  }

  /** @param {string} name */
  isRight(name) {
    return this.results.get(name)?.right === true;
  }

  /** What can be handed in. @returns {HandedIn} */
  handedIn() {
    return { version: 1, student: this.student, results: [...this.results].map(([exercise, { answer }]) => ({ exercise, answer })) };
  }

  /** Keep it where the browser allows it. */
  keep() {
    const { student, drafts, results } = this;
    try {
      localStorage.setItem(KEY, JSON.stringify({ student, drafts: Object.fromEntries(drafts), results: Object.fromEntries(results) }));
    } catch {
      // a page in a frame may keep nothing: then it is known until the page is closed
    }
  }
}

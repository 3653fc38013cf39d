/** Lessons: steps of a sentence each, which drive the state; at the end, a question. */

import { button, make, rich, setText } from "./dom.js";
import { LESSONS } from "./lesson_texts.js";
import { DEFAULTS, asksForRun } from "./state.js";
import { counted, mostMistakes, number } from "./words.js";

/** @import { App, Run, Scene, State } from "./types.d.ts" */
/** @import { Lesson } from "./lesson_texts.js" */

/**
 * Return the state of a step of a lesson; without a place in the run, it is played.
 * @param {Lesson} lesson @param {number} step
 */
export function stepState(lesson, step) {
  const patches = lesson.steps.slice(0, step + 1).map(({ patch }) => patch ?? {});
  return { ...DEFAULTS, ...lesson.state, ...Object.assign({}, ...patches), lesson: lesson.id, at: lesson.steps[step].at };
}

/** Return what became of a run, in a few words. @param {Run} run @param {Lesson["outcome"]} kind */
function outcome(run, kind) {
  const updates = counted(run.updates.length, "update");
  const { bound } = run.theory.bound;
  if (kind === "bound") return bound === null ? updates : `${updates}, at most ${number(mostMistakes(bound))}`;
  const passes = counted(run.passes.length, "pass", "passes");
  return `${run.converged ? "done" : "stopped"} after ${updates}, ${passes}`;
}

/** Return the seed of a run, in words, where there is one. @param {State} state */
function seedWords({ order, seed }) {
  return order === "once" || order === "each" ? `, seed ${seed}` : "";
}

/** Make the card of the lessons. @param {HTMLElement} root @param {App} app */
export function createLessons(root, app) {
  /** @type {Card | null} */
  let card = null;
  /** @param {string} id */
  const start = (id) => {
    const lesson = LESSONS.find((each) => each.id === id);
    app.pause();
    if (!lesson) return app.change({ lesson: "", show: DEFAULTS.show }, { undo: true });
    app.stepBy = "update";
    app.brush = 1;
    card = new Card(lesson, app, start);
    card.go(0);
  };
  document.addEventListener("lab-run", () => card?.note(app));
  return {
    start,
    /** @param {Scene} scene */
    update({ state }) {
      const lesson = LESSONS.find(({ id }) => id === state.lesson);
      root.hidden = !lesson;
      root.classList.toggle("fixed", state.hide.includes("lessons")); // for a class: its text, without ways to others
      if (card?.lesson !== lesson) card = lesson ? new Card(lesson, app, start) : null;
      if (card && root.firstChild !== card.parts[0]) {
        root.replaceChildren(...card.parts);
        card.note(app);
      }
      card?.press(state);
    },
  };
}

/** What is shown of one lesson. */
class Card {
  /** @type {State | null} The state whose button is shown. */
  #seen = null;
  #step = 0;

  /** @param {Lesson} lesson @param {App} app @param {(id: string) => void} start */
  constructor(lesson, app, start) {
    this.lesson = lesson;
    this.app = app;
    /** What no button of the lesson changes, the seed aside: runs that differ in it are not of this lesson. */
    this.fixed = Object.entries(stepState(lesson, 0)).filter(([name]) => {
      return name !== "seed" && asksForRun({ [name]: 0 }) && ![...lesson.tries, ...lesson.steps].some(({ patch }) => patch && name in patch);
    });
    const place = LESSONS.indexOf(lesson);
    const following = LESSONS[place + 1];
    this.count = make("span", { className: "note" });
    this.words = make("p", { className: "say", id: "lesson-step", tabIndex: -1 });
    this.back = button("Back", () => this.go(this.#step - 1));
    const forward = () => (this.#step < lesson.steps.length ? this.go(this.#step + 1) : start(following?.id ?? ""));
    this.next = button("Next", forward, { className: "primary" });
    this.rows = lesson.tries.map(({ title, patch }) => {
      const tried = button(title, () => app.change({ ...patch, at: null }));
      const result = make("span", { className: "note" });
      return { button: tried, result, item: make("li", {}, tried, result) };
    });
    this.tries = make("ul", { className: lesson.outcome === "none" ? "row tries" : "tries" }, ...this.rows.map(({ item }) => item));
    const answer = make("details", { id: "lesson-answer" }, make("summary", {}, "The answer"), make("p", {}, ...rich(lesson.answer)));
    this.question = make("div", { className: "question" }, answer);
    const leave = button("Leave", () => start(""), { className: "plain", "aria-label": "Leave the lesson" });
    const title = make("h2", { id: "lesson-title" }, lesson.title);
    const head = make("div", { className: "row head" }, title, this.count, leave);
    this.parts = [head, this.words, this.tries, this.question, make("div", { className: "row" }, this.back, this.next)];
    this.#show(0);
  }

  /** Go to a step, which sets the state; behind the last one is the question. @param {number} step */
  go(step) {
    this.#show(step);
    const { hide, own } = this.app.state;
    if (step < this.lesson.steps.length) this.app.begin({ ...stepState(this.lesson, step), hide, own });
    requestAnimationFrame(() => this.words.focus());
  }

  /** @param {number} step */
  #show(step) {
    this.#step = step;
    const { steps, tries, question } = this.lesson;
    const asked = step === steps.length;
    const last = asked && LESSONS.at(-1) === this.lesson;
    setText(this.count, asked ? "a question" : `step ${step + 1} of ${steps.length}`);
    this.words.replaceChildren(...rich(asked ? question : steps[step].say));
    this.tries.hidden = !tries.length || step < steps.length - 1;
    this.question.hidden = !asked;
    this.back.disabled = step === 0;
    this.next.classList.toggle("beyond", asked);
    setText(this.next, !asked ? "Next" : last ? "Done" : "Next lesson");
  }

  /** Show which button stands for the state. @param {State} state */
  press(state) {
    if (state === this.#seen) return;
    this.#seen = state;
    this.lesson.tries.forEach(({ patch }, i) => {
      const parts = Object.entries(patch).filter(([name]) => name !== "show");
      this.rows[i].button.setAttribute("aria-pressed", String(has(state, parts, true)));
    });
  }

  /** Write down what became of the run in sight, beside the button that stands for it. @param {App} app */
  note({ run, learned }) {
    if (this.lesson.outcome === "none" || !learned) return;
    const ours = has(learned, this.fixed);
    this.lesson.tries.forEach(({ patch }, i) => {
      const { result } = this.rows[i];
      const parts = Object.entries(patch).filter(([name]) => asksForRun({ [name]: 0 }));
      if (!ours) setText(result, "");
      else if (run && has(learned, parts)) setText(result, outcome(run, this.lesson.outcome) + seedWords(learned));
    });
  }
}

/**
 * Return whether a state has these values.
 * @param {State} state @param {[string, unknown][]} values
 * @param {boolean} [anyClass] whether points may have other labels
 */
function has(state, values, anyClass = false) {
  /** @param {string} name @param {unknown} value */
  const text = (name, value) => {
    if (name !== "points") return JSON.stringify(value);
    const points = /** @type {State["points"]} */ (value);
    return JSON.stringify(points.map(([x, y, sign, test = false]) => [x, y, anyClass || sign, test]));
  };
  return values.every(([name, value]) => text(name, state[/** @type {keyof State} */ (name)]) === text(name, value));
}

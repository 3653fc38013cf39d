/** Lessons: a card with a text, buttons that set the state, and a question. */

import { make, setText } from "./dom.js";
import { LESSONS } from "./lesson_texts.js";
import { DEFAULTS, asksForRun } from "./state.js";
import { counted, mostMistakes, number } from "./words.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./lesson_texts.js").Lesson} Lesson */
/** @typedef {import("./types.d.ts").Run} Run */
/** @typedef {import("./types.d.ts").State} State */

/**
 * Return the state that a lesson begins with.
 * @param {Lesson} lesson
 * @returns {State}
 */
function lessonState(lesson) {
  return { ...DEFAULTS, ...lesson.state, lesson: lesson.id };
}

/**
 * Return what became of a run, in a few words.
 * @param {Run} run
 * @param {Lesson["outcome"]} kind
 */
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

/**
 * Make the card of the lessons.
 * @param {HTMLElement} root
 * @param {App} app
 */
export function createLessons(root, app) {
  /** @type {Card | null} */
  let card = null;
  let focus = false;
  /** @param {string} id */
  const start = (id) => {
    const lesson = LESSONS.find((each) => each.id === id);
    app.pause();
    if (!lesson) return app.change({ lesson: "", show: DEFAULTS.show }, { undo: true });
    app.stepBy = "update";
    app.selected = -1;
    app.brush = 1;
    app.preset = "";
    app.announce("");
    app.change({ ...lessonState(lesson), hide: app.state.hide });
    focus = true;
  };
  document.addEventListener("lab-run", () => card?.note(app));
  return {
    start,
    /** @param {import("./types.d.ts").Scene} scene */
    update({ state }) {
      const lesson = LESSONS.find(({ id }) => id === state.lesson);
      root.hidden = !lesson;
      root.classList.toggle("fixed", state.hide.includes("lessons")); // for a class: its text, without ways to others
      if (card?.lesson !== lesson) {
        card = lesson ? new Card(lesson, app, start) : null;
        root.replaceChildren(...(card ? card.parts : []));
        card?.note(app);
      }
      card?.press(state);
      if (focus) document.getElementById("lesson-title")?.focus();
      focus = false;
    },
  };
}

/** What is shown of one lesson. */
class Card {
  /**
   * @param {Lesson} lesson
   * @param {App} app
   * @param {(id: string) => void} start
   */
  constructor(lesson, app, start) {
    this.lesson = lesson;
    /** @type {{button: HTMLElement, result: HTMLElement}[]} */
    this.rows = [];
    /** What no button of the lesson changes, the seed aside: runs that differ in it are not of this lesson. */
    this.fixed = Object.entries(lessonState(lesson)).filter(([name]) => {
      return name !== "seed" && asksForRun({ [name]: 0 }) && !lesson.tries.some(({ patch }) => name in patch);
    });
    const place = LESSONS.indexOf(lesson);
    this.parts = [
      this.#head(place, start),
      make("h2", { id: "lesson-title", tabIndex: -1 }, lesson.title),
      make("p", {}, lesson.text),
      make("p", { className: "todo" }, make("strong", {}, "Try it. "), lesson.todo),
      ...(lesson.tries.length ? [this.#tries(app)] : []),
      this.#question(),
    ];
  }

  /** @param {App} app */
  #tries(app) {
    const list = make("ul", { className: this.lesson.outcome === "none" ? "row tries" : "tries" });
    for (const { title, patch } of this.lesson.tries) {
      const button = make("button", { type: "button" }, title);
      const result = make("span", { className: "note" });
      button.addEventListener("click", () => {
        app.pause();
        app.change({ ...patch, at: null });
      });
      this.rows.push({ button, result });
      list.append(make("li", {}, button, result));
    }
    return list;
  }

  #question() {
    const answer = make("p", { id: "lesson-answer", hidden: true }, this.lesson.answer);
    const button = make("button", { type: "button", "aria-expanded": "false", "aria-controls": "lesson-answer" });
    button.textContent = "Show the answer";
    button.addEventListener("click", () => {
      answer.hidden = !answer.hidden;
      button.setAttribute("aria-expanded", String(!answer.hidden));
      button.textContent = answer.hidden ? "Show the answer" : "Hide the answer";
    });
    return make("div", { className: "question" }, make("p", {}, this.lesson.question), button, answer);
  }

  /** @param {number} place @param {((id: string) => void) | null} start */
  #head(place, start) {
    const count = make("span", { className: "note" }, `Lesson ${place + 1} of ${LESSONS.length}`);
    if (!start) return count;
    /** @param {string} title @param {Lesson | undefined} lesson */
    const way = (title, lesson) => {
      const button = make("button", { type: "button", disabled: !lesson }, title);
      button.addEventListener("click", () => start(lesson?.id ?? ""));
      return button;
    };
    const leave = make("button", { type: "button", className: "plain" }, "Leave the lesson");
    leave.addEventListener("click", () => start(""));
    const ways = [way("Previous", LESSONS[place - 1]), way("Next", LESSONS[place + 1]), leave];
    return make("div", { className: "row head" }, count, ...ways);
  }

  /** Show which button stands for the state. @param {State} state */
  press(state) {
    if (state === this.seen) return;
    this.seen = state;
    this.lesson.tries.forEach(({ patch }, i) => {
      const parts = Object.entries(patch).filter(([name]) => name !== "show");
      this.rows[i]?.button.setAttribute("aria-pressed", String(has(state, parts, true)));
    });
  }

  /** Write down what became of the run in sight, beside the button that stands for it. @param {App} app */
  note({ run, learned }) {
    if (this.lesson.outcome === "none" || !learned) return;
    const ours = has(learned, this.fixed);
    this.lesson.tries.forEach(({ patch }, i) => {
      if (!this.rows[i]) return;
      const { result } = this.rows[i];
      const parts = Object.entries(patch).filter(([name]) => asksForRun({ [name]: 0 }));
      if (!ours) setText(result, "");
      else if (run && has(learned, parts)) setText(result, outcome(run, this.lesson.outcome) + seedWords(learned));
    });
  }

  /** The state whose button is shown. @type {State | null} */
  seen = null;
}

/**
 * Return whether a state has these values.
 * @param {State} state
 * @param {[string, unknown][]} values
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

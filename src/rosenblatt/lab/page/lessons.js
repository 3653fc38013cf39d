/** Lessons: a card with a text, buttons that set the state, and a question. */

import { make, setText } from "./dom.js";
import { LESSONS } from "./lesson_texts.js";
import { DEFAULTS } from "./state.js";
import { counted, number } from "./words.js";

export { LESSONS };

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./lesson_texts.js").Lesson} Lesson */
/** @typedef {import("./types.d.ts").Run} Run */
/** @typedef {import("./types.d.ts").State} State */

/**
 * Return the state that a lesson begins with.
 * @param {Lesson} lesson
 * @returns {State}
 */
export function lessonState(lesson) {
  return { ...DEFAULTS, ...lesson.state, lesson: lesson.id };
}

/**
 * Return what became of a run, in a few words.
 * @param {Run} run
 * @param {Lesson["outcome"]} kind
 */
export function outcome(run, kind) {
  const updates = counted(run.updates.length, "update");
  const { bound } = run.theory.bound;
  if (kind === "bound") return bound === null ? updates : `${updates}, at most ${number(Math.floor(bound + 1e-9))}`;
  const passes = counted(run.passes.length, "pass", "passes");
  return run.converged ? `done after ${updates}, ${passes}` : `stopped after ${updates}, ${passes}`;
}

/**
 * Make the card of the lessons.
 * @param {HTMLElement} root
 * @param {App} app
 */
export function createLessons(root, app) {
  /** @type {Card | null} */
  let card = null;
  /** @param {string} id */
  const start = (id) => {
    const lesson = LESSONS.find((each) => each.id === id);
    app.pause();
    if (!lesson) app.change({ lesson: "" });
    else app.change({ ...lessonState(lesson), hide: app.state.hide });
  };
  document.addEventListener("lab-run", () => card?.note(app));
  return {
    start,
    /** @param {import("./types.d.ts").Scene} scene */
    update({ state }) {
      const lesson = state.hide.includes("lessons") ? undefined : LESSONS.find(({ id }) => id === state.lesson);
      root.hidden = !lesson;
      if (card?.lesson === lesson) return;
      card = lesson ? new Card(lesson, app, start) : null;
      root.replaceChildren(...(card ? card.parts : []));
      card?.note(app);
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
    /** @type {HTMLElement[]} */
    this.results = [];
    const place = LESSONS.indexOf(lesson);
    this.parts = [
      this.#head(place, app.isRecording ? null : start),
      make("h2", { id: "lesson-title", tabIndex: -1 }, lesson.title),
      make("p", {}, lesson.text),
      make("p", { className: "todo" }, make("strong", {}, "Try it. "), lesson.todo),
      ...(lesson.tries.length && !app.isRecording ? [this.#tries(app)] : []),
      this.#question(),
    ];
  }

  /** @param {App} app */
  #tries(app) {
    const list = make("ul", { className: "tries" });
    for (const { title, patch } of this.lesson.tries) {
      const button = make("button", { type: "button" }, title);
      const result = make("span", { className: "note" });
      button.addEventListener("click", () => {
        app.pause();
        app.change({ ...patch, at: null });
      });
      this.results.push(result);
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
      button.addEventListener("click", () => {
        start(lesson?.id ?? "");
        requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById("lesson-title")?.focus()));
      });
      return button;
    };
    const leave = make("button", { type: "button", className: "plain" }, "Leave the lesson");
    leave.addEventListener("click", () => start(""));
    const ways = [way("Previous", LESSONS[place - 1]), way("Next", LESSONS[place + 1]), leave];
    return make("div", { className: "row head" }, count, ...ways);
  }

  /** Write down what became of the run in sight, beside the button that stands for it. @param {App} app */
  note({ run, learned, state }) {
    if (this.lesson.outcome === "none" || state.lesson !== this.lesson.id) return;
    this.lesson.tries.forEach(({ patch }, i) => {
      const here = learned !== null && matches(learned, patch);
      const row = this.results[i]?.parentElement;
      row?.querySelector("button")?.setAttribute("aria-pressed", String(here));
      if (here && run) setText(this.results[i], outcome(run, this.lesson.outcome));
    });
  }
}

/** @param {State} state @param {Partial<State>} patch */
function matches(state, patch) {
  return Object.entries(patch).every(([name, value]) => {
    return JSON.stringify(state[/** @type {keyof State} */ (name)]) === JSON.stringify(value);
  });
}

/** One exercise: its question, the fields of the answer, what the judge says, and what of it is drawn on the plane. */

import { copyButton } from "../dialogs.js";
import { button, make, setFormula, setText } from "../dom.js";
import { visitingOrder } from "../engine/orders.js";
import { counted } from "../words.js";
import { drawExercise, gripsOf, planeOf } from "./drawings.js";
import { createField } from "./fields.js";
import { judge } from "./judges.js";
import { trained } from "./runs.js";
import { EXERCISES, pointsField, pointsGiven } from "./table.js";

/** @import { App, Exercise, Frame, Judged, Point, View, XY } from "../types.d.ts" */
/** @import { Progress } from "./progress.js" */

const NEAR = 14; // pixels from what can be dragged that still count as on it
const EIGHTH = 1 / 8; // the grid of points, and of what is dragged

/** Return a number on a grid. @param {number} value @param {number} step */
const stepped = (value, step) => Number((Math.round(value / step) * step).toFixed(3)) + 0;

/** Return the numbers of a value, at any depth, on a grid. @param {any} value @param {number} step @returns {any} */
const allStepped = (value, step) => (Array.isArray(value) ? value.map((one) => allStepped(one, step)) : stepped(value, step));

/** Return a text in a paragraph, its vectors bold. @param {string} text @param {Record<string, any>} [properties] */
function paragraph(text, properties = {}) {
  const element = make("p", properties);
  setFormula(element, text);
  return element;
}

/**
 * Return how many passes or updates runs on the points of an answer make, where the exercise is about that.
 * @param {Exercise} exercise @param {Point[]} points @param {any} seed
 */
function countsOf({ name, given }, points, seed) {
  if (!points.length || !["4.2-permute", "4.5-order"].includes(name)) return "";
  const rows = points.map(([x, y, sign]) => /** @type {[number, number, number]} */ ([x, y, sign]));
  const listed = trained(rows, given.passes);
  if (name === "4.5-order") {
    const [updates, reverse] = [listed, trained(rows.toReversed(), given.passes)].map((run) => counted(run.updates.length, "update"));
    return `In the order of the list: ${updates}. In reverse: ${reverse}.`;
  }
  const passes = (/** @type {ReturnType<typeof trained>} */ run) => (run.clean ? counted(run.passes, "pass", "passes") : `no end in ${given.passes} passes`);
  const told = `In the order of the list: ${passes(listed)}.`;
  if (!Number.isInteger(seed) || seed < 0) return told;
  return `${told} With new orders: ${passes(trained(rows, given.passes, { order: (pass) => visitingOrder(rows.length, seed, pass) }))}.`;
}

/** Return the Python that judges the same answer, or a function. @param {Exercise} exercise @param {any} answer */
function pythonOf({ functions, name }, answer) {
  const heading = "from rosenblatt.exercises import check\n\n";
  if (!functions) return `${heading}check(${JSON.stringify(name)}, ${JSON.stringify(answer)})`;
  return heading + Object.entries(functions).map(([one, signature]) => {
    const returned = one === "algorithm-6" ? "-1 or +1" : "(w, b)";
    return `def ${signature}:  # returns ${returned}\n    ...\n\ncheck("${one}", ${signature.split("(")[0]})`;
  }).join("\n\n");
}

export class Card {
  /** What the judge said of what stands in the fields, until they change. @type {Judged | null} */
  #judged = null;
  /** The points on the plane that were seen last. @type {Point[] | null} */
  #seen = null;
  /** The points of the answer as they were shown last, as text. */
  #placed = "";
  /** Whether the pointer has dragged something since it was pressed. */
  #dragged = false;
  /** Whether fields are being filled, so that their changes are not those of a student. */
  #filling = false;

  /**
   * @param {Exercise} exercise @param {App} app @param {Progress} progress
   * @param {{leave: () => void, next: () => void}} ways to the list and to the next exercise
   */
  constructor(exercise, app, progress, { leave, next }) {
    this.exercise = exercise;
    this.app = app;
    this.progress = progress;
    this.plane = planeOf(exercise.name);
    this.caption = this.plane.caption;
    this.fields = Object.fromEntries(exercise.fields.map((field) => [field.name, createField({ field, exercise, app, changed: () => this.#changed() })]));
    this.result = make("div", { className: "result", role: "status" });
    this.tells = make("p", { className: "note" });
    this.code = make("pre", { tabIndex: 0 });
    this.checks = button("Check", () => this.check());
    this.next = button("Next exercise", next);
    this.element = make("div", { className: "exercise-card" }, ...this.#question(leave), ...this.#help());
    const draft = progress.drafts.get(exercise.name);
    this.fill(draft && typeof draft === "object" ? draft : this.plane.start ?? {});
  }

  /** Return the question, the fields, and what the judge says. @param {() => void} leave */
  #question(leave) {
    const { number, title, question } = this.exercise;
    const answer = make("div", { className: "answer" }, ...this.#parts());
    answer.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement) || event.target.placeholder) return;
      event.preventDefault();
      this.check();
    });
    return [
      make("div", { className: "row head" }, make("h2", { tabIndex: -1 }, `${number}. ${title}`), button("All exercises", leave, { className: "plain" })),
      paragraph(question),
      answer,
      this.tells,
      make("div", { className: "row" }, this.checks, this.next, button("Start over", () => this.#restart(), { className: "plain" })),
      this.result,
    ];
  }

  /** Return what is below: the hint, the text that asks, Python and a link. */
  #help() {
    const { name, quote, text, hint, functions } = this.exercise;
    const folded = (/** @type {string} */ title, /** @type {Node[]} */ ...parts) => make("details", {}, make("summary", {}, title), ...parts);
    const python = folded(functions ? "In Python, as a function" : "In Python", this.code, copyButton(() => this.code.textContent ?? "", "the Python"));
    python.open = Boolean(functions);
    const link = copyButton(() => `${location.href.split(/[?#]/)[0]}?exercise=${name}`, "a link to this exercise");
    return [
      folded("Hint", paragraph(hint)),
      folded(`What the text asks: ${text}`, make("blockquote", {}, quote)),
      python,
      make("p", { className: "row note" }, "A link that opens this exercise:", link),
    ];
  }

  /** Return the fields, those of a program in its lines. */
  #parts() {
    const { program } = this.exercise.given;
    if (!program) return Object.values(this.fields).map(({ element }) => element);
    const lines = program.filter(Boolean).map((/** @type {string} */ line) => {
      const depth = (line.length - line.trimStart().length) / 2;
      const parts = line.trim().split(/\{(\w+)\}/).map((part, i) => (i % 2 ? this.fields[part].element : part));
      return make("li", { className: depth ? `in-${depth}` : "" }, make("span", { className: "row" }, ...parts));
    });
    return [make("ol", { className: "program" }, ...lines)];
  }

  /** Return what stands in the fields. @returns {Record<string, any>} */
  get values() {
    return Object.fromEntries(Object.entries(this.fields).map(([name, field]) => [name, field.value()]));
  }

  /** Return the answer as it is handed in: the value of a single field, else all by their names. */
  get answer() {
    const { values } = this;
    return this.exercise.fields.length > 1 ? values : Object.values(values)[0];
  }

  /** Put values into the fields, points onto the plane. @param {Record<string, any>} values */
  fill(values) {
    this.#filling = true;
    const { name = "" } = pointsField(this.exercise) ?? {};
    if (name && Array.isArray(values[name])) this.app.change({ points: values[name].filter(isPoint) });
    this.#seen = null;
    this.#placed = JSON.stringify(this.app.state.points);
    for (const [key, field] of Object.entries(this.fields)) field.show(values[key]);
    this.#filling = false;
    this.#say(null);
  }

  /** Show an answer, and judge it. @param {any} answer */
  open(answer) {
    this.fill(this.exercise.fields.length > 1 ? answer ?? {} : { [this.exercise.fields[0].name]: answer });
    this.#say(judge(this.exercise, this.answer));
  }

  #restart() {
    this.fill(this.plane.start ?? {});
    if (pointsField(this.exercise)) this.app.change({ points: [] });
    this.#changed();
  }

  /** Judge what stands in the fields, and remember it. */
  check() {
    const judged = judge(this.exercise, this.answer);
    this.progress.note(this.exercise.name, this.answer, judged.right);
    this.#say(judged);
  }

  #changed() {
    if (this.#filling) return;
    if (!pointsField(this.exercise)) this.#seen = null; // a subset decides which points are blue
    this.progress.drafts.set(this.exercise.name, this.values);
    this.progress.keep();
    this.#say(null);
  }

  /** Show what a judge said, or nothing. @param {Judged | null} judged */
  #say(judged) {
    this.#judged = judged;
    this.result.className = `result ${judged ? (judged.right ? "right" : "not-yet") : ""}`;
    this.result.replaceChildren(...(judged ? [make("strong", {}, judged.right ? "Right." : "Not yet."), paragraph(judged.right ? this.#praise() : judged.text)] : []));
    this.checks.classList.toggle("primary", !judged?.right);
    this.next.classList.toggle("primary", judged?.right === true);
    for (const [name, { element }] of Object.entries(this.fields)) element.classList.toggle("wrong-field", judged?.field === name);
    setText(this.tells, countsOf(this.exercise, this.app.state.points, this.values.seed));
    setText(this.code, pythonOf(this.exercise, this.answer));
    this.app.refresh();
  }

  /** Return what is said of a right answer. */
  #praise() {
    const done = [...this.progress.results.values()].filter(({ right }) => right).length;
    return `${done} of ${EXERCISES.length} exercises done in this browser.`;
  }

  /** Keep the points of the exercise on the plane. @type {View["update"]} */
  update({ state }) {
    const field = pointsField(this.exercise);
    if (state.points === this.#seen) return;
    if (!field) {
      const points = pointsGiven(this.exercise, this.values.subset ?? []);
      if (JSON.stringify(points) !== JSON.stringify(state.points)) this.app.change({ points, picks: [] }, { undo: false });
      this.#seen = this.app.state.points;
      return;
    }
    const snapped = state.points.map(([x, y, sign]) => /** @type {Point} */ ([stepped(x, EIGHTH), stepped(y, EIGHTH), sign]));
    const text = JSON.stringify(snapped);
    if (text !== JSON.stringify(state.points)) this.app.change({ points: snapped }, { undo: false });
    this.#seen = this.app.state.points;
    this.fields[field.name].show(null);
    if (text === this.#placed) return;
    this.#placed = text;
    this.#changed();
  }

  /** @type {NonNullable<View["overlay"]>} */
  overlay(picture, frame) {
    const { counterexample, field } = this.#judged ?? { counterexample: null, field: null };
    drawExercise({ picture, frame, exercise: this.exercise, values: this.values, found: counterexample, field });
  }

  /** Take what can be dragged; null where points are placed instead. */
  get grab() {
    if (pointsField(this.exercise)) return undefined;
    return (/** @type {Frame} */ frame, /** @type {number} */ px, /** @type {number} */ py) => {
      this.#dragged = false;
      const far = (/** @type {{at?: number[], line?: number[]}} */ { at, line }) => {
        if (at) return Math.hypot(px - frame.pixel(at)[0], py - frame.pixel(at)[1]);
        const [[x, y], [w1, w2, b]] = [frame.point(px, py), line ?? []];
        return (Math.abs(w1 * x + w2 * y + b) / Math.hypot(w1, w2)) * frame.scale;
      };
      const near = gripsOf(this.exercise, this.values).filter((one) => far(one) <= NEAR);
      const grip = near.find(({ at }) => at) ?? near[0]; // a point before a line on which it lies
      if (!grip) return null;
      return (/** @type {XY} */ to) => {
        this.#dragged = true;
        this.fields[grip.field].show(allStepped(grip.moved(to), this.plane.step ?? EIGHTH));
        this.#changed();
      };
    };
  }

  /** Put the point at a pixel into the subset, or take it out. @param {Frame} frame @param {number} px @param {number} py */
  press(frame, px, py) {
    const field = this.exercise.fields.find(({ kind }) => kind === "subset");
    const row = this.app.state.points.findIndex((point) => Math.hypot(frame.pixel(point)[0] - px, frame.pixel(point)[1] - py) <= NEAR);
    if (field && row >= 0 && !this.#dragged) /** @type {any} */ (this.fields[field.name]).toggle(row);
  }
}

/** @param {any} row @returns {row is Point} */
const isPoint = (row) => Array.isArray(row) && row.length === 3 && row.every(Number.isFinite) && Math.abs(row[2]) === 1;

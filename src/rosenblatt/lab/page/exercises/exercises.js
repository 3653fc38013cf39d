/** The panel of exercises: the list of them and what can be handed in, one exercise, or what students handed in. */

import { copyButton, save } from "../dialogs.js";
import { button, make, setText, table } from "../dom.js";
import { Frame } from "../frame.js";
import { faultWords } from "../questions.js";
import { DEFAULTS, toFragment } from "../state.js";
import { counted } from "../words.js";
import { Card } from "./card.js";
import { planeOf } from "./drawings.js";
import { grade } from "./handed_in.js";
import { Progress } from "./progress.js";
import { EXERCISES, exerciseNamed, pointsField, pointsGiven } from "./table.js";

/** @import { App, Exercise, Panel, Scene, State } from "../types.d.ts" */
/** @typedef {{student: string, results: import("../types.d.ts").Judged[], answers: Map<string, any>}} Graded */

const ABOUT =
  "Questions from the margins of the texts. Each is judged at once by this page, as Python judges it, and a wrong answer " +
  "gets the smallest counterexample.";

/** @type {Panel} */
export const exercises = { id: "exercise", title: "Exercises", about: ABOUT, create: (root, app) => new Exercises(root, app) };

/** Return what of a state an exercise sets. @param {Exercise} exercise @param {State} state @returns {Partial<State> & {points: State["points"]}} */
function begun(exercise, { hide, own, seed }) {
  const points = pointsGiven(exercise, []);
  return { ...DEFAULTS, hide, own, seed, points, order: "fixed", view: planeOf(exercise.name).view, panel: "exercise", exercise: exercise.name, at: null };
}

/** Open an exercise. @param {App} app @param {string} name */
export function startExercise(app, name) {
  const exercise = exerciseNamed(name);
  if (exercise) app.begin(begun(exercise, app.state));
}

class Exercises {
  /** @type {Card | null} */
  #card = null;
  /** What students handed in, while it is shown. @type {Graded[]} */
  #graded = [];

  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.app = app;
    this.root = root;
    this.progress = new Progress();
    this.list = make("ol", { className: "exercises" });
    this.headline = make("p", { className: "headline" });
    this.name = make("input", { type: "text", id: "student", autocomplete: "name", maxLength: 200, value: this.progress.student });
    this.name.addEventListener("input", () => {
      this.progress.student = this.name.value;
      this.progress.keep();
    });
    this.handIn = make("fieldset", {}, make("legend", {}, "Hand in what you have checked"),
      make("div", { className: "row" },
        make("label", { className: "field" }, "Your name", this.name),
        button("Save a file", () => this.#save()),
        copyButton(() => `${location.href.split(/[?#]/)[0]}#${toFragment(this.progress.handedIn())}`, "a link to your answers")));
    const input = make("input", { type: "file", multiple: true, accept: ".json,application/json", hidden: true, "aria-label": "Files that students handed in" });
    input.addEventListener("change", () => {
      this.#read([...(input.files ?? [])]);
      input.value = ""; // the same files can be opened again
    });
    const lecturer = make("fieldset", {}, make("legend", {}, "For the lecturer"), button("Open what was handed in …", () => input.click()), input);
    this.overview = make("div", {}, this.headline, this.list, this.handIn, lecturer);
    this.results = make("div", { className: "handed-in", tabIndex: -1 });
    document.getElementById("plane-canvas")?.addEventListener("click", (event) => {
      if (app.shown !== this || !this.#card) return;
      const canvas = /** @type {HTMLCanvasElement} */ (event.currentTarget);
      this.#card.press(new Frame(app.state.view, canvas.clientWidth || 1), event.offsetX, event.offsetY);
    });
    document.addEventListener("lab-handed-in", () => this.#take());
    this.#take();
  }

  /** @param {Scene} scene */
  update(scene) {
    const exercise = exerciseNamed(scene.state.exercise);
    if (exercise && this.#card?.exercise !== exercise) this.#open(exercise);
    else if (!exercise) this.#card = null;
    const shown = this.#card?.element ?? (this.#graded.length ? this.results : this.overview);
    if (this.root.firstChild !== shown) {
      this.root.replaceChildren(shown);
      if (shown === this.overview) this.#drawList();
    }
    this.#card?.update(scene);
  }

  /** Make the card of an exercise; points that a link has for it go before those that the browser has kept. @param {Exercise} exercise */
  #open(exercise) {
    const { app } = this;
    const following = EXERCISES[EXERCISES.indexOf(exercise) + 1];
    const placed = pointsField(exercise) ? app.state.points : [];
    this.#card = new Card(exercise, app, this.progress, {
      leave: () => app.change({ exercise: "" }),
      next: () => (following ? startExercise(app, following.name) : app.change({ exercise: "" })),
    });
    if (placed.length) app.change({ points: placed });
    app.change({ view: planeOf(exercise.name).view });
    requestAnimationFrame(() => this.#card?.element.querySelector("h2")?.focus());
  }

  #drawList() {
    const right = EXERCISES.filter(({ name }) => this.progress.isRight(name)).length;
    setText(this.headline, right ? `${right} of ${EXERCISES.length} right` : `${EXERCISES.length} exercises from the margins of the texts`);
    this.handIn.hidden = !this.progress.results.size;
    this.list.replaceChildren(...EXERCISES.map(({ name, title }) => {
      const known = this.progress.results.get(name);
      const mark = known ? make("span", { className: "note" }, known.right ? "✓ right" : "not yet") : "";
      return make("li", {}, button(title, () => startExercise(this.app, name), { className: "plain" }), mark);
    }));
  }

  #save() {
    save("perceptron-exercises.json", `${JSON.stringify(this.progress.handedIn())}\n`, "application/json");
    this.app.announce("perceptron-exercises.json is in your downloads.");
  }

  // what students handed in

  /** @param {File[]} files */
  async #read(files) {
    this.app.notice("");
    const texts = await Promise.all(files.map(async (file) => /** @type {const} */ ([file.name, await file.text()])));
    this.#judge(texts.map(([name, text]) => ({ name, read: () => JSON.parse(text) })));
  }

  /** Judge what a link or a file of the page's had, if anything. */
  #take() {
    const { handedIn } = this.app;
    this.app.handedIn = [];
    if (handedIn.length) this.#judge(handedIn.map((data) => ({ name: "What was handed in", read: () => data })));
  }

  /** Judge what was handed in, and show it; a notice names what cannot be read. @param {{name: string, read: () => any}[]} sources */
  #judge(sources) {
    this.#graded = sources.flatMap(({ name, read }) => {
      try {
        const data = read();
        const graded = grade(data, EXERCISES);
        return [{ ...graded, answers: new Map((data.results ?? [data]).map((/** @type {any} */ { exercise, answer }) => [exercise, answer])) }];
      } catch (fault) {
        this.app.notice(`${name}: ${faultWords(fault)}`);
        return [];
      }
    });
    this.#drawGraded();
    this.app.change({ exercise: "" });
  }

  #drawGraded() {
    const tables = this.#graded.map(({ student, results, answers }) => {
      const right = results.filter((result) => result.right).length;
      const rows = results.map(({ exercise, right: done, text }) => {
        const { number, title } = /** @type {Exercise} */ (exerciseNamed(exercise));
        const open = button(`${number}. ${title}`, () => this.#show(exercise, answers.get(exercise)), { className: "plain" });
        return [open, done ? "right" : "not yet", text];
      });
      return table("handed", `${student || "No name"}: ${right} of ${counted(results.length, "answer")} right`, ["Exercise", "Judged", "Counterexample"], rows);
    });
    const back = button("All exercises", () => {
      this.#graded = [];
      this.app.refresh();
    });
    this.results.replaceChildren(make("p", { className: "headline" }, "Judged again from the answers"), ...tables.map((one) => make("div", { className: "wide" }, one)), back);
  }

  /** Show an answer that was handed in at its exercise. @param {string} name @param {any} answer */
  #show(name, answer) {
    startExercise(this.app, name);
    this.#open(/** @type {Exercise} */ (exerciseNamed(name)));
    this.#card?.open(answer);
  }

  // the plane

  get caption() {
    return this.#card?.caption;
  }

  get grab() {
    return this.#card?.grab;
  }

  /** @type {NonNullable<import("../types.d.ts").View["overlay"]>} */
  overlay(picture, frame, scene) {
    this.#card?.overlay(picture, frame, scene);
  }
}

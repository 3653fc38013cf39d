/** The VC game: which labellings of the points a family of shapes can cut out, and why not the others. */

import { button, make, setText } from "../dom.js";
import { ask, faultWords } from "../questions.js";
import { counted, number } from "../words.js";
import { LabellingGrid } from "./labelling_grid.js";
import { bitsOf, chosen, nextUncut, pointWords, startPoints } from "./labellings.js";
import { drawAnswer } from "./vc_drawing.js";

/** @import { App, Family, Panel, Point, Scene, State, View } from "../types.d.ts" */
/** @typedef {{points: [number, number][], family: Family, subset: number[]}} Question */
/**
 * @typedef {{count: number, of: number, cut: number[][], shattered: boolean, dimension: number, sauer: number,
 *   answer: import("./vc_drawing.js").Answer}} Found
 */

const MOST_POINTS = 7;

/** @type {Record<Family, {title: string, one: string, dimension: number, known: string}>} */
const FAMILIES = {
  halfspaces: {
    title: "Half-planes",
    one: "half-plane",
    dimension: 3,
    known:
      "Half-planes have VC dimension 3: three points that are not on one line are shattered, no four points are " +
      "(Radon's theorem).",
  },
  discs: {
    title: "Discs",
    one: "disc",
    dimension: 3,
    known:
      "Discs have VC dimension 3: three points that are not on one line are shattered, no four points are, although " +
      "lifted to x₁² + x₂² a disc is a half-space, and those have dimension 4.",
  },
  rectangles: {
    title: "Rectangles",
    one: "rectangle",
    dimension: 4,
    known:
      "Rectangles along the axes have VC dimension 4: the tips of a diamond are shattered; of five points, one lies " +
      "in the box of the other four.",
  },
};

const ABOUT =
  "A family of shapes shatters points if it cuts out each of their subsets; its VC dimension is the most points " +
  "that it shatters (Har-Peled, 30.3).";

/** @type {Panel} */
export const vc = { id: "vc", title: "VC game", about: ABOUT, create: (root, app) => new Game(root, app) };

class Game {
  caption = "The VC game looks at the points alone; the learner and its run are not drawn.";

  /** The question that was asked last, as text. */
  #asked = "";
  #asking = false;
  /** @type {{question: Question, rows: number[], found: Found} | null} */
  #known = null;
  /** @type {State["points"] | null} */
  #points = null;
  /** @type {Family | null} */
  #family = null;

  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.app = app;
    this.headline = make("p", { className: "headline", id: "vc-headline", "aria-live": "polite" });
    this.text = make("p", { id: "vc-text" });
    this.score = make("p", { id: "vc-score" });
    this.known = make("p", { className: "note", id: "vc-known" });
    this.next = button("Next labelling that cannot be cut", () => this.#goNext(), { id: "vc-next" });
    this.grid = new LabellingGrid((bits) => this.#label(bits));
    this.families = this.#makeFamilies();
    const starts = [3, 4, 5].map((count) => button(`${count} points`, () => this.#start(count), { id: `vc-start-${count}` }));
    const row = make("div", { className: "row starts" }, make("span", { className: "note" }, "Start with"), ...starts);
    root.append(this.families, this.headline, this.text, this.score, this.next, this.grid.element, row, this.known);
  }

  /** @param {Scene} scene */
  update({ state }) {
    if (state.points === this.#points && state.family === this.#family) return;
    [this.#points, this.#family] = [state.points, state.family];
    for (const input of this.families.querySelectorAll("input")) input.checked = input.value === state.family;
    setText(this.known, FAMILIES[state.family].known);
    this.#ask(state);
  }

  /** @type {NonNullable<View["overlay"]>} */
  overlay(picture, frame) {
    if (this.#known) drawAnswer(picture, frame, this.#known.found.answer, this.#known.question.points);
  }

  #makeFamilies() {
    const options = Object.entries(FAMILIES).map(([family, { title }]) => {
      const input = make("input", { type: "radio", name: "vc-family", value: family, id: `vc-${family}` });
      input.addEventListener("change", () => this.app.change({ family: /** @type {Family} */ (family) }));
      return make("label", { className: "check" }, input, title);
    });
    const legend = make("legend", {}, "Cut out the blue points, and no others, with");
    return make("fieldset", { className: "families" }, legend, ...options);
  }

  // questions

  /**
   * Ask about the points as they are; while an answer is on its way, only the latest question is asked next.
   * @param {State} state
   */
  async #ask(state) {
    const rows = trainingRows(state.points);
    if (!rows.length || rows.length > MOST_POINTS) {
      this.#known = null;
      this.#asked = "";
      this.#show(rows.length);
      return;
    }
    const question = questionOf(state, rows);
    const text = JSON.stringify(question);
    if (this.#asking || text === this.#asked) return;
    this.#asking = true;
    this.#asked = text;
    try {
      const found = await ask("vc", question);
      this.#known = { question, rows, found };
      this.#show(rows.length);
    } catch (fault) {
      this.#known = null;
      this.#show(rows.length, faultWords(fault));
    }
    this.#asking = false;
    this.app.refresh();
    this.#ask(this.app.state);
  }

  // what is said

  /** @param {number} n @param {string} [fault] */
  #show(n, fault = "") {
    const known = this.#known;
    for (const part of [this.score, this.grid.element, this.next]) part.hidden = !known;
    if (!known) {
      setText(this.headline, n ? `${counted(n, "point")} to train on` : "No points yet");
      const many = `The game takes at most ${MOST_POINTS} points. Remove some, or start afresh with a few.`;
      setText(this.text, fault || (n ? many : "Place up to seven points on the plane, or start with a few."));
      return;
    }
    const { question, rows, found } = known;
    const { one, dimension } = FAMILIES[question.family];
    const numbers = question.subset.map((i) => rows[i] + 1);
    setText(this.headline, found.answer.cut ? `A ${one} can` : `No ${one} can`);
    setText(this.text, wordsOf(found.answer, one, pointWords(numbers), rows));
    const verdict = found.shattered ? "shattered" : "not shattered";
    setText(
      this.score,
      `${found.count} of ${found.of} labellings: ${verdict}. ` +
        `A family of VC dimension ${dimension} cuts at most ${found.sauer} of them (Sauer's lemma).`,
    );
    this.next.disabled = found.shattered;
    this.grid.show(question.points, rows, new Set(found.cut.map(bitsOf)), bitsOf(question.subset));
  }

  // what is done

  /** Colour the points: the chosen ones blue. @param {number} bits */
  #label(bits) {
    const rows = trainingRows(this.app.state.points);
    const blue = new Set(chosen(bits, rows.length).map((i) => rows[i]));
    const points = this.app.state.points.map((point, i) => {
      if (!rows.includes(i)) return point;
      return /** @type {Point} */ ([point[0], point[1], blue.has(i) ? 1 : -1, ...point.slice(3)]);
    });
    this.app.change({ points });
  }

  #goNext() {
    if (!this.#known) return;
    const { question, found } = this.#known;
    const bits = nextUncut(this.grid.order, new Set(found.cut.map(bitsOf)), bitsOf(question.subset));
    if (bits >= 0) this.#label(bits);
  }

  /** @param {number} count */
  #start(count) {
    const { family, view } = this.app.state;
    this.app.change({ points: startPoints(family, count, view), picks: [] });
  }
}

/** Return the numbers of the points that are trained on. @param {Point[]} points */
function trainingRows(points) {
  return points.map((_, i) => i).filter((i) => !points[i][3]);
}

/** @param {State} state @param {number[]} rows @returns {Question} */
function questionOf({ points, family }, rows) {
  const subset = rows.map((_, i) => i).filter((i) => points[rows[i]][2] > 0);
  return { points: rows.map((i) => [points[i][0], points[i][1]]), family, subset };
}

/** @param {import("./vc_drawing.js").Answer} answer @param {string} one @param {string} blue @param {number[]} rows */
function wordsOf(answer, one, blue, rows) {
  if (!answer.cut) {
    const [these, those] = [answer.inside, answer.outside].map((part) => pointWords((part ?? []).map((i) => rows[i] + 1)));
    const partition = answer.point ? ` Radon's partition: ${these} against ${those}.` : "";
    const [inside, outside] = answer.heights ?? [0, 0];
    const heights = answer.heights ? ` Above the cross: blue at height ${number(inside)}, orange at ${number(outside)}.` : "";
    return `${answer.text}${partition}${heights}`;
  }
  if (answer.text) return answer.text;
  if (answer.shape.kind === "none") return `No point is blue: a ${one} away from all of them will do.`;
  if (answer.shape.kind === "all") return `All points are blue: a large ${one} will do.`;
  return `This ${one} holds ${blue}, and no other.`;
}

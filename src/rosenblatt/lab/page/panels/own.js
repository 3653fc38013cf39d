/** A line of one's own: dragged on the plane or typed, and compared with the line of the run. */

import { drawEdge, lineOf } from "../boundary.js";
import { button, make, numberField, rich, setText, table } from "../dom.js";
import { predicting, wrongPoints } from "../hypothesis.js";
import { sideOf } from "../engine/exact.js";
import { dot } from "../replay.js";
import { LARGEST } from "../state.js";
import { colors } from "../theme.js";
import { number, vector } from "../words.js";

/** @import { App, Panel, Scene, State, View } from "../types.d.ts" */

const LISTED = 30;
const NEAR = 14;
/** How its numbers are called. */
const FIGURES = [["wrong", "wrong"], ["margin", "margin: the least y a / ‖**w**‖"], ["length", "‖**w**‖"]];

const ABOUT =
  "A line of your own: **w** points to its +1 side, and b shifts it along **w**. Its margin is the distance of the " +
  "nearest point, −∞ where a point is wrong (A Course in Machine Learning, 4.5).";

/** @type {Panel} */
export const own = { id: "own", title: "Your line", about: ABOUT, create: (root, app) => new Own(root, app) };

class Own {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.app = app;
    this.headline = make("p", { className: "headline", id: "own-headline" });
    this.fields = ["w1", "w2", "b"].map((name, i) => {
      const field = numberField(name, -LARGEST, LARGEST, "any", (value) => this.#set(/** @type {State["own"]} */ (app.state.own.with(i, value))), (words) => app.notice(words));
      field.input.id = `own-${name}`;
      field.label.replaceChildren(make("span", {}, ["w₁ =", "w₂ =", "b ="][i]), field.input);
      return field;
    });
    const copy = button("Take the run's line", () => {
      const { moment, run } = app.scene();
      const line = run && moment ? lineOf(run.names, moment) : null;
      if (line) this.#set(line);
    });
    this.cells = FIGURES.map(([id]) => ["own", "run"].map((whose) => make("td", { id: `${whose}-${id}` })));
    const lines = FIGURES.map(([, title], i) => [make("th", { scope: "row" }, ...rich(title)), ...this.cells[i]]);
    const both = table("shares", make("span", { className: "unseen" }, "Both lines"), [make("td"), "your line", "the run's line"], lines);
    this.list = make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Activations" });
    const row = make("div", { className: "row" }, ...this.fields.map(({ label }) => label), copy);
    root.append(this.headline, row, both, this.list);
  }

  /** @param {State["own"]} line */
  #set(line) {
    this.app.change({ own: line });
  }

  /** @param {Scene} scene */
  update(scene) {
    const { state, run } = scene;
    const [w1, w2, b] = state.own;
    state.own.forEach((value, i) => this.fields[i].show(value));
    const points = state.points.filter((point) => !point[3]);
    const mine = measures([w1, w2], b, points.map(([x, y]) => [x, y]), points.map((point) => point[2]));
    const wrong = `${mine.wrong} of ${points.length} wrong: drag the line, or the arrow`;
    setText(this.headline, mine.wrong ? wrong : points.length ? "Every point is on its side" : "No points yet");
    const shown = predicting({ ...scene, beat: null });
    const theirs = run && shown !== "sum" ? measures(shown.w, shown.b, run.features, run.signs) : { wrong: count(wrongPoints(scene)) };
    this.#compare(0, mine);
    this.#compare(1, run ? theirs : {});
    const rows = points.slice(0, LISTED).map(([x, y, sign]) => [
      `${sign > 0 ? "●" : "▲"} ${vector([x, y])}`,
      number(w1 * x + w2 * y + b),
      sign * sideOf([w1, w2], [x, y], b) > 0 ? "right" : make("strong", {}, "wrong"),
    ]);
    const text = rows.flat().map((cell) => (typeof cell === "string" ? cell : cell.textContent)).join();
    if (this.list.dataset.text === text) return;
    this.list.dataset.text = text;
    this.list.replaceChildren(table("shares", "Activations of the points by your line", [], rows));
  }

  /** Write the figures of a line into its column. @param {number} column @param {{wrong?: number, margin?: number, length?: number}} figures */
  #compare(column, { wrong, margin, length }) {
    [wrong, margin, length].forEach((value, i) => setText(this.cells[i][column], value === undefined ? "–" : number(value)));
  }

  /** @type {NonNullable<View["overlay"]>} */
  overlay(picture, frame, { state }) {
    const [w1, w2, b] = state.own;
    const look = { stroke: colors().accent, width: 3 };
    drawEdge(picture, frame, w1, w2, b, look);
    const [from, to] = [frame.pixel([0, 0]), frame.pixel([w1, w2])];
    picture.arrow(...from, ...to, look);
    picture.label(to, "your w", { fill: colors().accent });
  }

  /** Take the tip of the arrow, which is w, or the line, which b shifts. @type {NonNullable<View["grab"]>} */
  grab(frame, px, py) {
    const [w1, w2, b] = this.app.state.own;
    const [tx, ty] = frame.pixel([w1, w2]);
    if (Math.hypot(px - tx, py - ty) <= NEAR) return ([x, y]) => this.#set([eighths(x), eighths(y), this.app.state.own[2]]);
    const [x, y] = frame.point(px, py);
    const far = (Math.abs(w1 * x + w2 * y + b) / Math.hypot(w1, w2)) * frame.scale;
    return far <= NEAR ? (to) => this.#set([w1, w2, eighths(-w1 * to[0] - w2 * to[1])]) : null;
  }
}

/** Round to a multiple of 1/8: such numbers are short, and add up without rounding. @param {number} value */
const eighths = (value) => Math.round(8 * value) / 8 + 0;

/** @param {boolean[]} flags */
const count = (flags) => flags.filter(Boolean).length;

/** Return how many points a line has wrong, its margin, and the length of w. @param {number[]} w @param {number} b @param {number[][]} features @param {number[]} signs */
function measures(w, b, features, signs) {
  const length = Math.sqrt(dot(w, w));
  const least = Math.min(...features.map((x, i) => signs[i] * (dot(w, x) + b)));
  const wrong = count(features.map((x, i) => signs[i] * sideOf(w, x, b) <= 0));
  return { wrong, margin: wrong ? -Infinity : least / length, length };
}

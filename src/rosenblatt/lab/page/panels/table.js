/** The points as a table that can be edited. */

import { button, choice, make, numberField, setText } from "../dom.js";
import { addPoint, removePoints } from "../editing.js";
import { LARGEST, withPoint } from "../state.js";
import { counted } from "../words.js";

/** @import { App, Panel, Point, Scene } from "../types.d.ts" */

const SHOWN_AT_FIRST = 100;
const CLASSES = { "1": "+1, disc", "-1": "−1, triangle" };
const HEADS = ["Point", "x₁", "x₂", "y", "Held out", "Times wrong", "Remove"];
const COUNTED = 5;

const ABOUT =
  "The points by number. Those held out are for testing: the learner never visits them.";

/** @type {Panel} */
export const table = { id: "table", title: "Points", about: ABOUT, create: (root, app) => new Table(root, app) };

class Table {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.app = app;
    /** @type {Row[]} */
    this.rows = [];
    this.all = false;
    /** @type {unknown[]} */
    this.drawn = [];
    this.count = make("p", { className: "note" });
    this.more = button("Show all", () => {
      this.all = true;
      app.refresh();
    });
    this.clear = button("Clear all", () => app.change({ points: [], picks: [] }));
    this.body = make("tbody");
    const heads = HEADS.map((title) => make("th", { scope: "col" }, make("span", {}, title)));
    const foot = make("tfoot", {}, this.#newRow());
    /** The title of the column that counts, and what the table says of it. */
    this.counted = /** @type {HTMLElement} */ (heads[COUNTED].firstChild);
    const label = (this.label = make("caption", { className: "unseen" }));
    const grid = make("table", {}, label, make("thead", {}, make("tr", {}, ...heads)), this.body, foot);
    const top = make("div", { className: "row" }, this.count, this.more, this.clear);
    root.append(top, make("div", { className: "scroll" }, grid));
  }

  /** @param {Scene} scene */
  update({ state, replay, moment }) {
    const { points } = state;
    const shown = this.all ? points.length : Math.min(points.length, SHOWN_AT_FIRST);
    const now = [points, replay, moment?.k, shown, this.app.selected];
    if (now.every((value, i) => value === this.drawn[i])) return;
    this.drawn = now;
    const all = counted(points.length, "point");
    setText(this.count, shown < points.length ? `The first ${shown} of ${all}` : all);
    this.more.hidden = shown === points.length;
    this.clear.disabled = points.length === 0;
    while (this.rows.length > shown) this.rows.pop()?.element.remove();
    while (this.rows.length < shown) {
      this.rows.push(new Row(this.rows.length, this));
      this.body.append(this.rows[this.rows.length - 1].element);
    }
    const many = replay?.run.rule; // these make updates on points that are right, too
    setText(this.counted, many ? "Updates" : HEADS[COUNTED]);
    setText(this.label, `Points: place, class, and how often each ${many ? "made an update" : "was a mistake"} so far`);
    const counts = replay && moment ? replay.counts(moment.k) : [];
    /** @type {Map<number, number>} */
    const wrong = new Map(replay?.run.rows.map((number, place) => [number, counts[place]]));
    this.rows.forEach((row, i) => row.show(points[i], wrong.get(i), i === this.app.selected));
  }

  /** Remove a point, and leave the focus where it was in the list. @param {number} number */
  remove(number) {
    const last = this.app.state.points.length === 1;
    if (number === this.rows.length - 1) (last ? this.add : this.rows[number - 1].remove).focus();
    removePoints(this.app, [number]);
  }

  #newRow() {
    const fields = ["x₁", "x₂"].map((name) => coordinate(this.app, `${name} of the new point`, () => {}));
    const [x, y] = fields.map(({ input }) => input);
    const sign = choice(CLASSES, () => {}, { "aria-label": "label of the new point" });
    const add = () => {
      const empty = [x, y].find((input) => input.value === "");
      if (empty) return empty.focus();
      this.app.notice("");
      if (addPoint(this.app, x.valueAsNumber, y.valueAsNumber, sign.value === "1" ? 1 : -1) < 0) return;
      x.value = y.value = "";
      x.focus();
    };
    this.add = button("Add", add);
    for (const input of [x, y]) input.addEventListener("keydown", (event) => event.key === "Enter" && (input.blur(), add()));
    const cells = [x, y, sign, this.add].map((part) => make("td", {}, part));
    cells[3].colSpan = 3;
    return make("tr", {}, make("th", { scope: "row" }, make("span", {}, "New")), ...cells);
  }

  /** @type {HTMLButtonElement} */
  add = make("button");
}

/** A row of the table, for the point with its number. */
class Row {
  /** @param {number} number @param {Table} table */
  constructor(number, table) {
    const { app } = table;
    const name = `point ${number + 1}`;
    /** @param {Parameters<typeof withPoint>[2]} patch */
    const set = (patch) => app.change(withPoint(app.state, number, patch));
    this.x = coordinate(app, `x₁ of ${name}`, (x) => set({ x }));
    this.y = coordinate(app, `x₂ of ${name}`, (y) => set({ y }));
    this.sign = choice(CLASSES, (value) => set({ sign: value === "1" ? 1 : -1 }), { "aria-label": `label of ${name}` });
    this.heldOut = make("input", { type: "checkbox", "aria-label": `hold out ${name}` });
    this.wrong = make("td", { className: "figure" });
    this.remove = button("×", () => table.remove(number), { "aria-label": `remove ${name}` });
    this.heldOut.addEventListener("change", () => set({ heldOut: this.heldOut.checked }));
    const cells = [this.x.input, this.y.input, this.sign, this.heldOut].map((part) => make("td", {}, part));
    const head = make("th", { scope: "row" }, String(number + 1));
    this.element = make("tr", {}, head, ...cells, this.wrong, make("td", {}, this.remove));
    this.element.addEventListener("focusin", () => {
      app.selected = number;
      app.refresh();
    });
  }

  /** @param {Point} point @param {number | undefined} wrong @param {boolean} selected */
  show([x, y, sign, heldOut = false], wrong, selected) {
    this.x.show(x);
    this.y.show(y);
    if (this.sign.value !== String(sign)) this.sign.value = String(sign);
    if (this.heldOut.checked !== heldOut) this.heldOut.checked = heldOut;
    setText(this.wrong, heldOut ? "–" : String(wrong ?? 0));
    this.element.classList.toggle("chosen", selected);
  }
}

/** Return a field for a coordinate. @param {App} app @param {string} title @param {(value: number) => void} changed */
function coordinate(app, title, changed) {
  const field = numberField(title, -LARGEST, LARGEST, "any", changed, (words) => app.notice(words));
  field.input.setAttribute("aria-label", title);
  return field;
}

/** All labellings of a few points as a grid of buttons, each a small picture. */

import { button, make, setAttribute } from "../dom.js";
import { chosen, labellings, pointWords, small } from "./labellings.js";

/** @typedef {{button: HTMLButtonElement, paths: SVGPathElement[]}} Cell */

const SIZE = 28;
const SVG = "http://www.w3.org/2000/svg";

export class LabellingGrid {
  /** @type {Cell[]} */
  #cells = [];
  /** @type {number[]} Labellings in the order of the buttons. */
  order = [];

  /** @param {(bits: number) => void} choose */
  constructor(choose) {
    this.choose = choose;
    this.element = make("div", { className: "labellings", role: "group", "aria-label": "All labellings" });
    this.element.addEventListener("keydown", (event) => this.#walk(event));
  }

  /**
   * Show the labellings of points.
   * @param {[number, number][]} points
   * @param {number[]} rows the numbers by which people know them, from 0
   * @param {Set<number>} cut @param {number} now
   */
  show(points, rows, cut, now) {
    const n = points.length;
    if (this.#cells.length !== 2 ** n) this.#build(n);
    const places = small(points, SIZE, 5);
    this.order.forEach((bits, i) => {
      const { button, paths } = this.#cells[i];
      const inside = chosen(bits, n);
      const can = cut.has(bits);
      const name = `${pointWords(inside.map((j) => rows[j] + 1))}: ${can ? "can" : "cannot"} be cut`;
      setAttribute(button, "aria-label", name);
      setAttribute(button, "title", name);
      setAttribute(button, "aria-pressed", String(bits === now));
      setAttribute(button, "class", can ? "" : "uncut");
      button.tabIndex = bits === now ? 0 : -1;
      setAttribute(paths[0], "d", places.filter((_, j) => !inside.includes(j)).map(triangle).join(""));
      setAttribute(paths[1], "d", inside.map((j) => disc(places[j])).join(""));
    });
  }

  /** @param {number} n */
  #build(n) {
    this.order = labellings(n);
    this.#cells = this.order.map((bits) => {
      const picture = document.createElementNS(SVG, "svg");
      picture.setAttribute("viewBox", `0 0 ${SIZE} ${SIZE}`);
      picture.setAttribute("aria-hidden", "true");
      const paths = ["out", "in", "strike"].map((name) => {
        const path = document.createElementNS(SVG, "path");
        path.setAttribute("class", name);
        picture.append(path);
        return path;
      });
      paths[2].setAttribute("d", `M1 ${SIZE - 1}L${SIZE - 1} 1`);
      return { button: button(picture, () => this.choose(bits)), paths };
    });
    this.element.replaceChildren(...this.#cells.map(({ button }) => button));
  }

  /** Arrow keys go from button to button: only one of them is reached by Tab. @param {KeyboardEvent} event */
  #walk(event) {
    const buttons = this.#cells.map(({ button }) => button);
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (event.target));
    const across = buttons.filter((button) => button.offsetTop === buttons[0].offsetTop).length;
    const end = buttons.length - 1 - at;
    /** @type {Record<string, number>} */
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across, Home: -at, End: end };
    const step = steps[event.key];
    if (at < 0 || step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const next = buttons[at + step];
    if (!next) return;
    for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
    next.focus();
  }
}

/** @param {[number, number]} place */
function disc([x, y]) {
  return `M${(x - 3.5).toFixed(1)} ${y.toFixed(1)}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0`;
}

/** @param {[number, number]} place */
function triangle([x, y]) {
  return `M${x.toFixed(1)} ${(y - 3.5).toFixed(1)}l3.5 6h-7z`;
}

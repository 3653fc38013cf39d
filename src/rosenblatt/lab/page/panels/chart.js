/** What the panels' charts share: an axis pair within a picture, labels that keep apart, and painting on demand. */

import { make, setAttribute } from "../dom.js";
import { ticks } from "../geometry.js";
import { Picture, fit, paint } from "../picture.js";
import { colors } from "../theme.js";
import { number } from "../words.js";

/** @import { Look, XY } from "../types.d.ts" */
/** @typedef {{left: number, top: number, right: number, bottom: number}} Room in pixels */

/** Return the number at a mark of an axis, in little room: 20,000 is 20K. @param {number} value */
export function tick(value) {
  if (Math.abs(value) < 1e4) return number(value);
  return value.toLocaleString("en", { notation: "compact" }).replace("-", "−");
}

/** A pair of axes. */
export class Chart {
  /**
   * @param {Picture} picture @param {Room} room
   * @param {XY} across the ends of the axis across
   * @param {XY} up the ends of the axis upwards
   */
  constructor(picture, room, across, up) {
    this.picture = picture;
    this.room = room;
    this.across = across;
    this.up = up;
  }

  /** Return the pixel of a value across. @param {number} value */
  x(value) {
    const { left, right } = this.room;
    return left + ((value - this.across[0]) / (this.across[1] - this.across[0] || 1)) * (right - left);
  }

  /** Return the pixel of a value upwards. @param {number} value */
  y(value) {
    const { top, bottom } = this.room;
    return bottom - ((value - this.up[0]) / (this.up[1] - this.up[0] || 1)) * (bottom - top);
  }

  /** Return the value across at a pixel. @param {number} px */
  valueAt(px) {
    const { left, right } = this.room;
    return this.across[0] + ((px - left) / (right - left || 1)) * (this.across[1] - this.across[0]);
  }

  /**
   * Draw the axes with round numbers.
   * @param {{title?: string, write?: (value: number) => string, count?: number, whole?: boolean}} [how]
   */
  axes({ title = "", write = tick, count = 3, whole = true } = {}) {
    const { picture, room } = this;
    const { faint, quiet } = colors();
    for (const value of ticks(this.up[0], this.up[1], count)) {
      picture.line(room.left, this.y(value), room.right, this.y(value), { stroke: faint });
      picture.text(room.left - 6, this.y(value) + 4, write(value), { anchor: "right" });
    }
    picture.line(room.left, room.bottom, room.right, room.bottom, { stroke: quiet });
    const wide = Math.max(3, Math.floor((room.right - room.left) / 56));
    for (const value of ticks(this.across[0], this.across[1], wide)) {
      if (whole && !Number.isInteger(value)) continue;
      picture.line(this.x(value), room.bottom, this.x(value), room.bottom + 4, { stroke: quiet });
      picture.text(this.x(value), room.bottom + 18, tick(value), { anchor: "center" });
    }
    if (title) picture.text(room.right, room.bottom + 34, title, { anchor: "right" });
  }

  /** Draw a curve through points. @param {XY[]} points @param {Look} look */
  curve(points, look) {
    this.picture.path(points.map(([x, y]) => [this.x(x), this.y(y)]), look);
  }

  /** Draw an upright line where the run is. @param {number} value */
  now(value) {
    const x = this.x(value);
    this.picture.line(x, this.room.top, x, this.room.bottom, { stroke: colors().accent, width: 2 });
  }
}

/**
 * Return places for labels, near those wanted, at least a gap apart and within two ends where they can be.
 * @param {number[]} wanted @param {number} gap @param {number} low @param {number} high
 */
export function spread(wanted, gap, low, high) {
  const order = wanted.map((_, i) => i).sort((i, j) => wanted[i] - wanted[j]);
  const out = [...wanted];
  order.forEach((i, n) => (out[i] = Math.max(wanted[i], n ? out[order[n - 1]] + gap : low)));
  let limit = high;
  for (const i of order.reverse()) {
    out[i] = Math.min(out[i], limit);
    limit = out[i] - gap;
  }
  return out;
}

/** Return a canvas that is read as a picture. @param {string} [className] */
export function pictureCanvas(className = "") {
  return make("canvas", { className, role: "img", "aria-label": "" });
}

/**
 * Paint a canvas and say what is to be seen on it.
 * @param {HTMLCanvasElement} canvas @param {string} words @param {(picture: Picture) => void} draw
 */
export function show(canvas, words, draw) {
  const { width, height } = fit(canvas);
  const picture = new Picture(width, height);
  draw(picture);
  paint(canvas, picture);
  setAttribute(canvas, "aria-label", words);
}

/** Return a function that says whether values, the colours or an element's width changed since its last call. */
export function watcher() {
  /** @type {unknown[]} */
  let last = [];
  /** @param {HTMLElement} root @param {unknown[]} now */
  return (root, now) => {
    const all = [root.clientWidth, devicePixelRatio, colors(), ...now];
    const same = all.length === last.length && all.every((value, i) => value === last[i]);
    last = all;
    return !same;
  };
}

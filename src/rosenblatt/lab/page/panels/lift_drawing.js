/** What the lift draws, from the back to the front. */

import { Picture } from "../picture.js";
import { colors } from "../theme.js";
import { TALL, crossing, inFront, lifted, planeInBox, project } from "./projection3d.js";

/** @import { Look, Point, XY } from "../types.d.ts" */
/** @import { Plane, Turn } from "./projection3d.js" */
/** @typedef {[number, number, number]} XYZ */
/** @typedef {{depth: number, front: boolean, draw: () => void}} Item */

const ROUND = 48;

/** A picture of the lift, which can say where a point is seen. */
export class LiftPicture extends Picture {
  /** @param {number} width @param {number} height @param {{turn: Turn, t: number, rim: number, plane: Plane | null}} what */
  constructor(width, height, { turn, t, rim, plane }) {
    super(width, height);
    this.turn = turn;
    this.t = t;
    this.rim = rim;
    this.plane = plane;
    // The floor turns within a circle of radius √2, the rim above it within one of radius 1.
    const [level, slope] = [t * TALL * Math.cos(turn.elevation), Math.sin(turn.elevation)];
    const [top, bottom] = [Math.max(level + slope, Math.SQRT2 * slope), -Math.SQRT2 * slope];
    this.scale = Math.min((width - 32) / (2 * Math.SQRT2), (height - 24) / (top - bottom));
    this.middle = (top + bottom) / 2;
  }

  /** Return the pixel of a place in the box. @param {XYZ} place @returns {XY} */
  pixel(place) {
    const [right, up] = project(this.turn, place);
    return [this.width / 2 + right * this.scale, this.height / 2 - (up - this.middle) * this.scale];
  }

  /** Return how far right and up a pixel is, in rims. @param {number} x @param {number} y @returns {XY} */
  seen(x, y) {
    return [(x - this.width / 2) / this.scale, (this.height / 2 - y) / this.scale + this.middle];
  }

  /** Return the pixel of a point of the plane, lifted. @param {{0: number, 1: number}} point */
  pixelOf(point) {
    return this.pixel(lifted([point[0] / this.rim, point[1] / this.rim], this.t));
  }

  /** Draw everything. @param {Point[]} points @param {number} selected */
  drawAll(points, selected) {
    const pieces = this.plane ? crossing(this.plane, this.t) : [];
    this.#drawFloor(pieces);
    /** @type {Item[]} */
    const items = [];
    this.#addBowl(items);
    points.forEach((point, i) => this.#addPoint(items, point, i === selected));
    for (const piece of pieces) this.#addCurve(items, piece);
    items.sort((p, q) => q.depth - p.depth);
    for (const item of items) if (!item.front) item.draw();
    this.#drawPlane();
    for (const item of items) if (item.front) item.draw();
  }

  /** @param {XY[][]} pieces */
  #drawFloor(pieces) {
    const { faint, quiet, surface, ink } = colors();
    const floor = /** @type {XYZ[]} */ ([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]);
    this.path(floor.map((corner) => this.pixel(corner)), { fill: surface, stroke: quiet, width: 1 }, true);
    for (const [from, to] of /** @type {[XYZ, XYZ][]} */ ([[[-1, 0, 0], [1, 0, 0]], [[0, -1, 0], [0, 1, 0]]])) {
      this.path([this.pixel(from), this.pixel(to)], { stroke: faint, width: 1 });
    }
    for (const [name, place] of /** @type {[string, XYZ][]} */ ([["x₁", [1.1, 0, 0]], ["x₂", [0, 1.1, 0]]])) {
      const [x, y] = this.pixel(place);
      this.text(x, y + 4, name, { anchor: "center" });
    }
    const look = { stroke: ink, width: 1, dash: [4, 4] };
    for (const piece of pieces) this.path(piece.map(([x, y]) => this.pixel([x, y, 0])), look);
  }

  /** @param {Item[]} items */
  #addBowl(items) {
    const look = { stroke: colors().quiet, width: 1, alpha: 0.3 };
    for (const radius of [0.25, 0.5, 0.75, 1]) {
      const ring = Array.from({ length: ROUND + 1 }, (_, i) => polar(radius, i / ROUND));
      this.#addStrokes(items, ring, look);
    }
    for (let i = 0; i < 12; i++) {
      const meridian = Array.from({ length: 13 }, (_, j) => polar(j / 12, i / 12));
      this.#addStrokes(items, meridian, look);
    }
  }

  /** @param {Item[]} items @param {XY[]} piece */
  #addCurve(items, piece) {
    this.#addStrokes(items, piece, { stroke: colors().ink, width: 2 }, true);
  }

  /**
   * Add a line on the bowl: parts of it on one side of the plane, three strokes long at most, are drawn as one.
   * @param {Item[]} items @param {XY[]} line @param {Look} look
   * @param {boolean} [front] whether all of it is in front of the plane
   */
  #addStrokes(items, line, look, front) {
    const places = line.map((point) => lifted(point, this.t));
    for (let i = 0; i + 1 < places.length; i += 3) {
      const part = places.slice(i, i + 4);
      const depth = project(this.turn, part[part.length >> 1])[2];
      const pixels = part.map((place) => this.pixel(place));
      items.push({ depth, front: front ?? this.#inFront(part[part.length >> 1]), draw: () => this.path(pixels, look) });
    }
  }

  /** @param {Item[]} items @param {Point} point @param {boolean} selected */
  #addPoint(items, point, selected) {
    const place = lifted([point[0] / this.rim, point[1] / this.rim], this.t);
    const [x, y] = this.pixel(place);
    const stem = { stroke: colors().quiet, width: 1, alpha: 0.6 };
    const cuts = [0, this.#heightOfPlane(place), place[2]].filter((z) => z >= 0 && z <= place[2]);
    for (let i = 0; i + 1 < cuts.length; i++) {
      const ends = [this.pixel([place[0], place[1], cuts[i]]), this.pixel([place[0], place[1], cuts[i + 1]])];
      const middle = /** @type {XYZ} */ ([place[0], place[1], (cuts[i] + cuts[i + 1]) / 2]);
      const depth = project(this.turn, middle)[2];
      items.push({ depth, front: this.#inFront(middle), draw: () => this.path(ends, stem) });
    }
    const draw = () => {
      if (selected) this.circle(x, y, 11, { stroke: colors().accent, width: 2 });
      this.mark(x, y, point[2], 5.5, point[3]);
    };
    items.push({ depth: project(this.turn, place)[2] - 0.01, front: this.#inFront(place), draw });
  }

  #drawPlane() {
    if (!this.plane) return;
    const pixels = planeInBox(this.plane, this.t).map((corner) => this.pixel(corner));
    if (pixels.length < 3) return;
    const alpha = Math.min(1, 4 * this.t);
    this.path(pixels, { fill: colors().quiet, alpha: 0.16 * alpha }, true);
    this.path(pixels, { stroke: colors().quiet, width: 1, alpha }, true);
  }

  /** @param {XYZ} place */
  #inFront(place) {
    return this.plane === null || inFront(this.turn, this.plane, place);
  }

  /** @param {XYZ} place */
  #heightOfPlane([x, y]) {
    if (!this.plane?.w3) return -1;
    const { w1, w2, w3, b } = this.plane;
    return -(w1 * x + w2 * y + b) / w3;
  }
}

/** @param {number} radius @param {number} share @returns {XY} */
function polar(radius, share) {
  return [radius * Math.cos(2 * Math.PI * share), radius * Math.sin(2 * Math.PI * share)];
}

/** The boundary of a hypothesis on the plane: a line, a circle, or the contour of scores on a grid. */

import { circleOfPlane, clip, contour, corners, lineInBox } from "./geometry.js";
import { Sums, gridPoints, linearScores, weightOf } from "./regions.js";
import { colors } from "./theme.js";
import { voteCells } from "./vote_cells.js";

/** @import { Frame, Look, Moment, Picture, Replay, Scene, Weights, XY } from "./types.d.ts" */

const SIZE = 96; // even: what is symmetric about the middle has its zeros between the points of the grid
const COARSE = 48; // for votes of very many weights

/**
 * Return the weights of x and y where no other feature counts, else null.
 * @param {string[]} names @param {Weights} weights @returns {[number, number, number] | null}
 */
export function lineOf(names, { w, b }) {
  if (names.some((name, i) => name !== "x" && name !== "y" && w[i] !== 0)) return null;
  return [weightOf(names, w, "x"), weightOf(names, w, "y"), b];
}

/**
 * Return the weights of x, y and x² + y² where no other feature counts, else null.
 * @param {string[]} names @param {Weights} weights
 */
export function circleOf(names, { w, b }) {
  if (names.some((name, i) => !["x", "y", "r2"].includes(name) && w[i] !== 0)) return null;
  return circleOfPlane(["x", "y", "r2"].map((name) => weightOf(names, w, name)), b);
}

/** Draws the regions and the boundary of linear weights, votes and kernels. */
export class Boundary {
  #sums = new Sums();
  #tints = document.createElement("canvas");
  /** The cells of the vote that was drawn last. @type {{replay: Replay | null, key: string, cells: ReturnType<typeof voteCells>}} */
  #vote = { replay: null, key: "", cells: null };

  /**
   * Draw a hypothesis: its two regions if `regions`, and its boundary.
   * @param {Picture} picture @param {Frame} frame @param {Scene} scene
   * @param {Weights | "sum"} hypothesis weights, or the sum of a vote or a kernel
   * @param {Look} look @param {boolean} regions
   */
  draw(picture, frame, scene, hypothesis, look, regions) {
    const names = scene.run?.names ?? [];
    const { replay, moment } = scene;
    const vote = hypothesis === "sum" && replay && moment ? this.#cellsOf(replay, moment, frame) : null;
    const line = hypothesis === "sum" ? null : lineOf(names, hypothesis);
    const circle = hypothesis === "sum" || line ? null : circleOf(names, hypothesis);
    if (scene.state.show.includes("graded") && regions) this.#drawScores(picture, frame, this.scores(scene, hypothesis), SIZE, look, true, true);
    else if (line) drawLine(picture, frame, line, look, regions);
    else if (vote) drawVote(picture, frame, vote, look, regions);
    else if (circle) drawCircle(picture, frame, circle, look, regions);
    else {
      const size = hypothesis === "sum" && (scene.moment?.k ?? 0) > 600 ? COARSE : SIZE;
      this.#drawScores(picture, frame, this.scores(scene, hypothesis, size), size, look, regions);
    }
  }

  /** @param {Replay} replay @param {Moment} moment @param {Frame} frame */
  #cellsOf(replay, moment, frame) {
    const key = `${moment.t} ${frame.box}`;
    if (replay !== this.#vote.replay || key !== this.#vote.key) this.#vote = { replay, key, cells: voteCells(replay, moment, frame.box) };
    return this.#vote.cells;
  }

  /**
   * Return the scores of a hypothesis over the square in sight.
   * @param {Scene} scene @param {Weights | "sum"} hypothesis @param {number} [size]
   */
  scores({ replay, moment, run, state }, hypothesis, size = SIZE) {
    if (!replay || !moment || !run) return new Float64Array(size * size);
    if (hypothesis === "sum") return this.#sums.at(replay, moment, state.view, size);
    return linearScores(run.names, hypothesis, gridPoints(state.view, size));
  }

  /**
   * @param {Picture} picture @param {Frame} frame @param {Float64Array} scores @param {number} size
   * @param {Look} look @param {boolean} regions @param {boolean} [graded] whether tints are deeper the farther from 0
   */
  #drawScores(picture, frame, scores, size, look, regions, graded = false) {
    const cell = frame.size / (size - 1);
    if (regions) {
      this.#tint(scores, size, graded);
      picture.image(this.#tints, -cell / 2, -cell / 2, size * cell, size * cell);
    }
    if (!look.stroke) return;
    for (const [p, q] of contour(scores, size)) {
      picture.line(p[0] * cell, p[1] * cell, q[0] * cell, q[1] * cell, look);
    }
  }

  /** @param {Float64Array} scores @param {number} size @param {boolean} graded */
  #tint(scores, size, graded) {
    const canvas = this.#tints;
    if (canvas.width !== size) [canvas.width, canvas.height] = [size, size];
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const tints = (graded ? ["positive", "negative"] : ["positive-tint", "negative-tint"]).map((name) => rgb(colors()[name]));
    const most = graded ? scores.reduce((so, score) => Math.max(so, Math.abs(score)), 0) : 1;
    const image = context.createImageData(size, size);
    for (let i = 0; i < scores.length; i++) {
      image.data.set(tints[scores[i] > 0 ? 0 : 1], 4 * i);
      image.data[4 * i + 3] = graded ? 140 * Math.sqrt(Math.abs(scores[i]) / (most || 1)) : 255;
    }
    context.putImageData(image, 0, 0);
  }
}

/** @param {Picture} picture @param {Frame} frame @param {NonNullable<ReturnType<typeof voteCells>>} vote @param {Look} look @param {boolean} regions */
function drawVote(picture, frame, { cells, edges }, look, regions) {
  const pixels = (/** @type {XY[]} */ points) => points.map((point) => frame.pixel(point));
  if (regions) {
    const [fill, under] = [colors()["positive-tint"], colors()["negative-tint"]];
    picture.path(pixels(corners(frame.box)), { fill: under }, true);
    for (const cell of cells) picture.path(pixels(cell), { fill, stroke: fill, width: 1 }, true); // no seams
  }
  if (look.stroke) for (const edge of edges) picture.path(pixels(edge), look);
}

/** @param {string} color as rgb(r, g, b) */
function rgb(color) {
  return (color.match(/\d+/g) ?? []).slice(0, 3).map(Number);
}

/**
 * Draw a line across the plane, and its two regions if `regions`.
 * @param {Picture} picture @param {Frame} frame @param {[number, number, number]} line @param {Look} look @param {boolean} regions
 */
export function drawLine(picture, frame, [w1, w2, b], look, regions) {
  if (regions && (w1 || w2 || b)) {
    const square = corners(frame.box);
    const pixels = (/** @type {XY[]} */ polygon) => polygon.map((point) => frame.pixel(point));
    picture.path(pixels(clip(square, w1, w2, b)), { fill: colors()["positive-tint"] }, true);
    picture.path(pixels(clip(square, -w1, -w2, -b)), { fill: colors()["negative-tint"] }, true);
  }
  drawEdge(picture, frame, w1, w2, b, look);
}

/**
 * Draw the line w1 x + w2 y + b = 0 across the plane.
 * @param {Picture} picture @param {Frame} frame @param {number} w1 @param {number} w2 @param {number} b @param {Look} look
 */
export function drawEdge(picture, frame, w1, w2, b, look) {
  const ends = lineInBox(w1, w2, b, frame.box);
  if (ends) picture.path(ends.map((end) => frame.pixel(end)), look);
}

/**
 * @param {Picture} picture @param {Frame} frame @param {{center: XY, radius: number, inside: boolean}} circle
 * @param {Look} look @param {boolean} regions
 */
function drawCircle(picture, frame, { center, radius, inside }, look, regions) {
  const [x, y] = frame.pixel(center);
  const r = radius * frame.scale;
  if (regions) {
    const [inner, outer] = inside ? ["positive-tint", "negative-tint"] : ["negative-tint", "positive-tint"];
    picture.path(corners(frame.box).map((point) => frame.pixel(point)), { fill: colors()[outer] }, true);
    picture.circle(x, y, r, { fill: colors()[inner] });
  }
  picture.circle(x, y, r, look);
}

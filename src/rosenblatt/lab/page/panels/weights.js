/** The weight space: each training point allows a half-plane, and w walks towards what all of them allow. */

import { make, setFormula, setText } from "../dom.js";
import { clip, corners, lineInBox, ticks } from "../geometry.js";
import { colors } from "../theme.js";
import { counted, number, vector, weightName } from "../words.js";
import { pictureCanvas, show, tick, watcher } from "./chart.js";
import { constraints, solutions, viewOf, weightList, weightNames } from "./cone.js";
import { showSupport, showWeights } from "./weight_lists.js";

/** @import { App, Box, Look, Moment, Panel, Picture, Replay, View, Weights, XY } from "../types.d.ts" */
/** @import { HalfPlane } from "./cone.js" */

/** With more points than this, their half-planes are shaded as one. */
const LAYERS = 80;

const SPREAD = " Dashed: one standard deviation of each weight around w; it shrinks as more is known.";

const ABOUT =
  "The space of weights: a training point allows **w** the half-space in which it is right, and an update steps " +
  "towards the half-space of its point.";

/** @type {Panel} */
export const weights = { id: "weights", title: "Weights", about: ABOUT, create };

/** @param {HTMLElement} root @param {App} _app @returns {View} */
function create(root, _app) {
  const changed = watcher();
  const headline = make("p", { className: "headline", id: "weights-headline" });
  const canvas = pictureCanvas();
  const note = make("p", { className: "note" });
  const lists = make("div");
  root.append(headline, canvas, note, lists);

  return {
    update({ replay, run, moment, waiting }) {
      if (!changed(root, [replay, moment?.t, waiting])) return;
      lists.hidden = note.hidden = !replay;
      canvas.hidden = !replay || run?.kind === "kernel" || weightNames(replay).length < 2;
      if (!replay || !run || !moment) return setText(headline, waiting || "No run yet.");
      if (run.kind === "kernel") return showSupport(replay, moment, { headline, note, lists });
      showWeights(lists, replay, moment);
      const names = weightNames(replay);
      setText(headline, `After ${counted(moment.k, "update")}, ${sliceOf(names, weightList(replay, moment))}`);
      if (canvas.hidden) return setFormula(note, "With one weight there is no picture: the sign of w decides.");
      const { width, height } = canvas.getBoundingClientRect();
      const plan = planOf(replay, moment, width, height);
      setFormula(note, noteOf(plan.cone.length > 0, names.length) + (plan.spread ? SPREAD : ""));
      const label = `The weight space: w is at ${vector(plan.now)} after ${counted(moment.k, "update")}.`;
      show(canvas, label, (picture) => draw(picture, replay, moment, plan));
    },
  };
}

/** @param {string[]} names @param {number[]} list */
function sliceOf(names, list) {
  if (names.length < 2) return "one weight";
  if (names.length === 2) return "all of the weight space";
  const at = names.slice(2).map((name, i) => `${weightName(name)} = ${number(list[i + 2])}`);
  return `the slice at ${at.join(", ")}`;
}

/** @param {boolean} some @param {number} count */
function noteOf(some, count) {
  const line = "Each point is a line; on its shaded side, w has that point wrong.";
  if (!some) return `${line} No w in sight has every point right${count > 2 ? " on this slice" : ""}.`;
  return count === 2
    ? `${line} What stays clear is a cone: there, w has every point right.`
    : `${line} What stays clear has every point right. The slice moves with the other weights.`;
}

/**
 * Return what is drawn, in weights and in pixels.
 * @param {Replay} replay @param {Moment} moment @param {number} width @param {number} height
 */
function planOf(replay, moment, width, height) {
  /** @param {Weights} one @returns {XY} */
  const pair = (one) => /** @type {XY} */ (weightList(replay, one).slice(0, 2));
  const { middle, half } = viewOf(replay.weights.map(pair));
  const scale = height / (2 * half);
  const wide = width / (2 * scale);
  /** @type {Box} */
  const box = [middle[0] - wide, middle[1] - half, middle[0] + wide, middle[1] + half];
  /** @param {XY} point @returns {XY} */
  const pixel = ([x, y]) => [(x - box[0]) * scale, (box[3] - y) * scale];
  const allowed = constraints(replay, moment);
  const walk = replay.weights.slice(0, moment.k + 1).map(pair);
  const spread = moment.variance ? pair(moment.variance).map(Math.sqrt) : null;
  return { box, pixel, allowed, cone: solutions(allowed, box), walk, now: walk[moment.k], spread };
}

/** @param {Picture} picture @param {Replay} replay @param {Moment} moment @param {ReturnType<typeof planOf>} plan */
function draw(picture, replay, moment, { box, pixel, allowed, cone, walk, now, spread }) {
  const { ink, quiet, faint, accent, surface, positive, negative } = colors();
  const frame = corners(box);
  picture.path(frame.map(pixel), { fill: faint, alpha: 0.55 }, true);
  if (allowed.length <= LAYERS) {
    const alpha = Math.min(0.06, 0.6 / allowed.length);
    for (const [u1, u2, c] of allowed) {
      picture.path(clip(frame, -u1, -u2, -c).map(pixel), { fill: ink, alpha }, true);
    }
  }
  picture.path(cone.map(pixel), { fill: surface }, true);
  const faded = allowed.length > LAYERS ? 0.15 : 0.35;
  for (const line of allowed) drawLine(picture, line, box, pixel, { stroke: quiet, width: 1, alpha: faded });
  drawAxes(picture, replay, box, pixel);
  if (moment.place >= 0) {
    drawLine(picture, allowed[moment.place], box, pixel, { stroke: moment.sign > 0 ? positive : negative, width: 2.5 });
  }
  if (spread) {
    const turns = Array.from({ length: 96 }, (_, i) => (Math.PI * i) / 48);
    const rim = turns.map((turn) => pixel([now[0] + spread[0] * Math.cos(turn), now[1] + spread[1] * Math.sin(turn)]));
    picture.path(rim, { stroke: accent, width: 1.5, dash: [5, 4] }, true);
  }
  const path = walk.map(pixel);
  picture.path(path, { stroke: ink, width: 1, alpha: path.length < 200 ? 0.6 : 0.3 });
  if (path.length < 200) for (const [x, y] of path) picture.circle(x, y, 2, { fill: ink });
  const [from, to] = [pixel([0, 0]), pixel(now)];
  picture.arrow(from[0], from[1], to[0], to[1], { stroke: accent, width: 2 });
  if (path.length > 1) picture.path(path.slice(-2), { stroke: ink, width: 3 });
  else picture.circle(to[0], to[1], 4, { fill: accent });
}

/** @param {Picture} picture @param {HalfPlane} line @param {Box} box @param {(point: XY) => XY} pixel @param {Look} look */
function drawLine(picture, [u1, u2, c], box, pixel, look) {
  const ends = lineInBox(u1, u2, c, box);
  if (ends) picture.path(ends.map(pixel), look);
}

/** @param {Picture} picture @param {Replay} replay @param {Box} box @param {(point: XY) => XY} pixel */
function drawAxes(picture, replay, box, pixel) {
  const { quiet, ink } = colors();
  const { width, height } = picture;
  const [x, y] = pixel([0, 0]);
  picture.line(0, y, width, y, { stroke: quiet });
  picture.line(x, 0, x, height, { stroke: quiet });
  const [first, second] = weightNames(replay);
  picture.text(width - 8, y - 8, weightName(first), { anchor: "right", fill: ink });
  const tight = x > width - 112;
  picture.text(tight ? x - 8 : x + 8, 16, weightName(second), { anchor: tight ? "right" : "left", fill: ink });
  const below = y > height - 24 ? y - 6 : y + 16;
  for (const value of ticks(box[0], box[2], Math.max(3, width / 96))) {
    const [at] = pixel([value, 0]);
    if (value && at > 16 && at < width - 16) picture.text(at, below, tick(value), { anchor: "center" });
  }
  for (const value of ticks(box[1], box[3], 5)) {
    const [, at] = pixel([0, value]);
    if (value && at > 32 && at < height - 8) picture.text(x - 6, at + 4, tick(value), { anchor: "right" });
  }
}

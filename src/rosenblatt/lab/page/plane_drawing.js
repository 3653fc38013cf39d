/** What the plane shows: regions, boundary, weights, margins, ghosts, the update in three beats, and the points. */

import { drawEdge, drawLine, lineOf } from "./boundary.js";
import { contour, lineInBox, ticks } from "./geometry.js";
import { predicting, wrongPoints } from "./hypothesis.js";
import { drawHull } from "./marks.js";
import { grow, neighbourScores, treeEdges } from "./others.js";
import { gridPoints } from "./regions.js";
import { dot } from "./replay.js";
import { showsRun } from "./state.js";
import { colors } from "./theme.js";
import { number } from "./words.js";

/** @import { Boundary, Frame, Moment, Picture, Point, Run, Scene, State, Weights, XY } from "./types.d.ts" */

const MOST_GHOSTS = 14;
const OTHERS_SIZE = 96; // of the grid on which the nearest neighbour is drawn

/**
 * Draw the plane but for points and cursor. What is learned has no part in the VC game.
 * @param {Picture} picture @param {Frame} frame @param {Scene} scene @param {Boundary} boundary
 */
export function drawPlane(picture, frame, scene, boundary) {
  const { state, replay, moment, run, beat } = scene;
  const shows = (/** @type {string} */ what) => state.show.includes(what);
  if (!replay || !moment || !run || !showsRun(state)) {
    drawAxes(picture, frame);
    return drawNumbers(picture, frame, state.points);
  }
  const shown = predicting(scene);
  if (state.panel === "own") drawLine(picture, frame, state.own, {}, shows("regions"));
  else boundary.draw(picture, frame, scene, shown, {}, shows("regions") && moment.k > 0);
  drawAxes(picture, frame);
  const aside = ["verdict", "own"].includes(state.panel); // what the panel draws should be seen
  if (shows("ghosts") && !aside) drawGhosts(picture, frame, scene);
  if (shows("hulls")) drawHulls(picture, frame, scene);
  if (shows("radius") || scene.symbol === "R") drawRadius(picture, frame, scene);
  if (shows("strip") || ["u", "γ"].includes(scene.symbol)) drawStrip(picture, frame, scene);
  if (run.rule && moment.k && !aside) drawThreshold(picture, frame, run, shown);
  if (shows("margins")) drawMargins(picture, frame, scene, shown);
  const other = { stroke: colors().ink, width: 1.5, dash: [8, 4] };
  if (shows("average") && run.kind === "linear" && moment.k) {
    boundary.draw(picture, frame, scene, moment.average, other, false);
  }
  if (shows("vote") && run.kind === "linear" && moment.k) {
    boundary.draw(picture, frame, scene, "sum", { ...other, dash: [2, 3] }, false);
  }
  drawOthers(picture, frame, state);
  const ordinary = aside ? colors().quiet : colors().ink;
  const lit = scene.symbol === "b" || scene.symbol === "a";
  const look = { stroke: beat === null && !lit ? ordinary : colors().accent, width: lit ? 4 : aside ? 1.5 : 2 };
  if (moment.k || beat !== null) boundary.draw(picture, frame, scene, shown, look, false);
  if (shown !== "sum" && !aside) drawArrows(picture, frame, scene, shown);
  drawNumbers(picture, frame, state.points);
}

/** @param {Picture} picture @param {Frame} frame */
function drawAxes(picture, frame) {
  const [x, y] = frame.pixel([0, 0]);
  const look = { stroke: colors().faint, width: 1 };
  picture.line(x, 0, x, frame.size, look);
  picture.line(0, y, frame.size, y, look);
}

/** Write the names of the axes, and numbers where no point is. @param {Picture} picture @param {Frame} frame @param {Point[]} points */
function drawNumbers(picture, frame, points) {
  if (points.length) drawScale(picture, frame, points);
}

/** @param {Picture} picture @param {Frame} frame @param {Point[]} points @param {[string, string]} [names] of the axes */
export function drawScale(picture, frame, points, [across, up] = ["x₁", "x₂"]) {
  const places = points.map((point) => frame.pixel(point));
  const free = (/** @type {number} */ x, /** @type {number} */ y) => places.every(([px, py]) => Math.hypot(px - x, py - y) > 14);
  const [left, bottom, right, top] = frame.box;
  const [ox, oy] = frame.pixel([0, 0]);
  picture.text(frame.size - 8, Math.min(Math.max(oy - 8, 20), frame.size - 8), across, { size: 15, anchor: "right", fill: colors().ink });
  picture.text(Math.min(Math.max(ox + 8, 8), frame.size - 24), 20, up, { size: 15, fill: colors().ink });
  const [baseline, edge] = [Math.min(Math.max(oy, 0), frame.size - 18), Math.min(Math.max(ox, 0), frame.size - 34)];
  for (const value of ticks(left, right, 6)) {
    if (value === 0) continue;
    const [x] = frame.pixel([value, 0]);
    if (x > 16 && x < frame.size - 16 && free(x, baseline + 10)) picture.text(x, baseline + 14, number(value), { size: 12, anchor: "center" });
  }
  for (const value of ticks(bottom, top, 6)) {
    if (value === 0) continue;
    const [, y] = frame.pixel([0, value]);
    if (y > 28 && y < frame.size - 16 && free(edge + 10, y)) picture.text(edge + 4, y + 4, number(value), { size: 12 });
  }
}

/** The boundaries of other learners on the points that were drawn last. @type {{points: Point[], view: string, neighbour: [XY, XY][], tree: [XY, XY][]}} */
let others = { points: [], view: "", neighbour: [], tree: [] };

/** Draw the boundaries of the nearest neighbour and of a decision tree. @param {Picture} picture @param {Frame} frame @param {State} state */
function drawOthers(picture, frame, { points, view, show }) {
  const shown = ["neighbour", "tree"].filter((name) => show.includes(name));
  if (!shown.length) return;
  if (others.points !== points || others.view !== String(view)) {
    const trained = points.filter((point) => !point[3]);
    const step = (2 * view[2]) / (OTHERS_SIZE - 1);
    const place = (/** @type {XY} */ [x, y]) => /** @type {XY} */ ([frame.left + x * step, frame.top - y * step]);
    const ends = contour(neighbourScores(trained, gridPoints(view, OTHERS_SIZE)), OTHERS_SIZE);
    const neighbour = ends.map(([p, q]) => /** @type {[XY, XY]} */ ([place(p), place(q)]));
    others = { points, view: String(view), neighbour, tree: treeEdges(grow(trained), frame.box) };
  }
  const look = { neighbour: { stroke: colors().quiet, width: 2 }, tree: { stroke: colors().quiet, width: 2, dash: [10, 3, 2, 3] } };
  for (const name of /** @type {("neighbour" | "tree")[]} */ (shown)) {
    const edges = others[name];
    for (const [p, q] of edges) picture.line(...frame.pixel(p), ...frame.pixel(q), look[name]);
    const middle = edges[Math.floor(edges.length / 2)];
    if (middle) picture.label(frame.pixel(middle[0]), name === "tree" ? "tree" : "nearest neighbour");
  }
}

/** Draw past boundaries, those that survived longest. @param {Picture} picture @param {Frame} frame @param {Scene} scene */
function drawGhosts(picture, frame, { replay, moment, run }) {
  if (!replay || !moment || run?.kind !== "linear" || moment.k < 2) return;
  const past = [];
  for (let k = 1; k < moment.k; k++) {
    const line = lineOf(run.names, replay.weights[k]);
    if (line) past.push({ line, survived: replay.updates[k] - replay.updates[k - 1] });
  }
  const longest = past.sort((p, q) => q.survived - p.survived).slice(0, MOST_GHOSTS);
  for (const { line, survived } of longest) {
    const alpha = 0.08 + (0.3 * survived) / longest[0].survived;
    drawEdge(picture, frame, ...line, { stroke: colors().ink, width: 1, alpha });
  }
}

/** @param {Picture} picture @param {Frame} frame @param {Scene} scene */
function drawHulls(picture, frame, { state }) {
  for (const sign of [1, -1]) {
    const points = state.points.filter((point) => point[2] === sign && !point[3]);
    drawHull(picture, frame, points, { stroke: colors().quiet, width: 1 });
  }
}

/** Draw the circle that holds all points: R, less the bias coordinate. @param {Picture} picture @param {Frame} frame @param {Scene} scene */
function drawRadius(picture, frame, { run, replay }) {
  if (!run || !replay || run.kind !== "linear" || run.names.join() !== "x,y") return;
  const radius = Math.max(...run.features.map((x) => Math.hypot(...x)));
  const [x, y] = frame.pixel([0, 0]);
  picture.circle(x, y, radius * frame.scale, { stroke: colors().quiet, width: 1, dash: [2, 4] });
  const far = run.features.find((z) => Math.hypot(...z) === radius) ?? [0, 0];
  const [fx, fy] = frame.pixel(far);
  picture.line(x, y, fx, fy, { stroke: colors().quiet, width: 1, dash: [2, 4] });
  const whole = `R = ${number(Math.hypot(radius, 1))}`;
  const name = replay.bias ? `‖x‖ = ${number(radius)}, ${whole}` : `R = ${number(radius)}`;
  picture.label([x + 0.75 * (fx - x), y + 0.75 * (fy - y)], name);
}

/** Draw the widest strip without points, in the space that is trained. @param {Picture} picture @param {Frame} frame @param {Scene} scene */
function drawStrip(picture, frame, { run }) {
  const bound = run?.theory.bound;
  if (!run || !bound?.w || bound.gamma === null) return;
  const line = lineOf(run.names, { w: bound.w, b: bound.b ?? 0 });
  if (!line || (!line[0] && !line[1])) return;
  const [w1, w2, b] = line;
  drawEdge(picture, frame, w1, w2, b, { stroke: colors().quiet, width: 1 });
  for (const side of [1, -1]) {
    drawEdge(picture, frame, w1, w2, b + side * bound.gamma, { stroke: colors().quiet, width: 1, dash: [4, 4] });
  }
  const ends = lineInBox(w1, w2, b, frame.box);
  if (!ends) return;
  const foot = [(3 * ends[0][0] + ends[1][0]) / 4, (3 * ends[0][1] + ends[1][1]) / 4];
  const square = w1 * w1 + w2 * w2;
  const tip = frame.pixel([foot[0] + (bound.gamma * w1) / square, foot[1] + (bound.gamma * w2) / square]);
  const [x, y] = frame.pixel(foot);
  picture.arrow(x, y, ...tip, { stroke: colors().quiet, width: 1.5 });
  picture.label([x, y], `u, γ = ${number(bound.gamma)}`);
}

/** Draw the two lines up to which a point makes updates. @param {Picture} picture @param {Frame} frame @param {Run} run @param {Weights | "sum"} shown */
function drawThreshold(picture, frame, { names, rule }, shown) {
  const line = shown === "sum" ? null : lineOf(names, shown);
  if (!rule?.threshold || !line) return;
  const [w1, w2, b] = line;
  const look = { stroke: colors().ink, width: 1, dash: [2, 4] };
  for (const side of [1, -1]) drawEdge(picture, frame, w1, w2, b - side * rule.threshold, look);
  const ends = lineInBox(w1, w2, b - rule.threshold, frame.box);
  if (!ends) return;
  const [x, y] = frame.pixel([0.92 * ends[0][0] + 0.08 * ends[1][0], 0.92 * ends[0][1] + 0.08 * ends[1][1]]);
  picture.label([x, y], `a = ${number(rule.threshold)}`);
}

/** Draw the margins of a line that has every point on its side. @param {Picture} picture @param {Frame} frame @param {Scene} scene @param {Weights | "sum"} shown */
function drawMargins(picture, frame, { run }, shown) {
  if (!run || shown === "sum") return;
  const line = lineOf(run.names, shown);
  if (!line || (!line[0] && !line[1])) return;
  const least = Math.min(...run.features.map((x, i) => run.signs[i] * (dot(shown.w, x) + shown.b)));
  if (least <= 0) return;
  for (const side of [1, -1]) {
    drawEdge(picture, frame, line[0], line[1], line[2] + side * least, { stroke: colors().ink, width: 1, dash: [6, 4] });
  }
  const ends = lineInBox(line[0], line[1], line[2] - least, frame.box);
  const [x, y] = frame.pixel(ends ? [(ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2] : [0, 0]);
  picture.label([x, y], `margin ${number(least / Math.hypot(line[0], line[1]))}`, { fill: colors().ink });
}

/**
 * Draw the weights that predict from the origin, and while an update is drawn, y x at the tip of w.
 * @param {Picture} picture @param {Frame} frame @param {Scene} scene @param {Weights} shown
 */
function drawArrows(picture, frame, { state, run, moment, beat, symbol }, shown) {
  if (!run || !moment || run.names.join() !== "x,y") return;
  const last = state.learner !== "averaged" && state.learner !== "pocket";
  const from = /** @type {XY} */ ([moment.before.w[0], moment.before.w[1]]);
  const to = /** @type {XY} */ (last ? [moment.w[0], moment.w[1]] : [shown.w[0], shown.w[1]]);
  const origin = frame.pixel([0, 0]);
  const inSight = origin[0] > 0 && origin[0] < frame.size && origin[1] > 0 && origin[1] < frame.size;
  const start = inSight ? origin : /** @type {XY} */ ([frame.size / 2, frame.size / 2]);
  let part = 1;
  const tip = (/** @type {XY} */ w) =>
    /** @type {XY} */ ([start[0] + (w[0] / part) * frame.scale, start[1] - (w[1] / part) * frame.scale]);
  const leaves = (/** @type {XY} */ w) => tip(w).some((place) => place < 16 || place > frame.size - 16);
  const longest = Math.max(Math.hypot(...from), Math.hypot(...to)) * frame.scale;
  while (run.rule && longest && longest / part < 32 && part > 1e-9) part /= 2; // their steps may be small
  while ((leaves(from) || leaves(to)) && part < 1e9) part *= 2;
  const moving = beat !== null && moment.updated && last;
  if (moving) drawBeat(picture, frame, moment, beat, tip(from), tip(to));
  if (!state.show.includes("arrow") && !moving) return;
  const [x, y] = tip(moving ? from : to);
  picture.arrow(...start, x, y, symbol === "w" ? { stroke: colors().accent, width: 4 } : { stroke: colors().ink, width: 2 });
  if (Math.hypot(x - start[0], y - start[1]) > 12) {
    const name = { averaged: "average w", pocket: "pocket w" }[/** @type {string} */ (state.learner)] ?? "w";
    const larger = part < 1 ? `${(1 / part).toLocaleString("en")} ` : "";
    const text = part > 1 ? `${name} / ${part.toLocaleString("en")}` : `${larger}${name}`;
    picture.label([x, y], text, { size: 17, bold: true, fill: colors().ink });
  }
}

/**
 * Draw the first two beats of an update: the band from the point to the line, and the step along y x at the tip of w.
 * @param {Picture} picture @param {Frame} frame @param {Moment} moment @param {number} beat @param {XY} from @param {XY} to
 */
function drawBeat(picture, frame, moment, beat, from, to) {
  const look = { stroke: colors().accent, width: 2 };
  const point = frame.pixel(moment.x);
  const [w1, w2] = moment.before.w;
  const length = w1 * w1 + w2 * w2;
  if (length > 0) {
    const score = w1 * moment.x[0] + w2 * moment.x[1] + moment.before.b;
    const foot = frame.pixel([moment.x[0] - (w1 * score) / length, moment.x[1] - (w2 * score) / length]);
    const share = Math.min(1, 2 * beat);
    const end = [point[0] + share * (foot[0] - point[0]), point[1] + share * (foot[1] - point[1])];
    picture.line(...point, end[0], end[1], { ...look, width: 1.5, dash: [4, 4] });
  }
  if (beat < 1) return;
  const share = Math.min(1, beat - 1);
  const [dx, dy] = [(to[0] - from[0]) * share, (to[1] - from[1]) * share];
  picture.arrow(...from, from[0] + dx, from[1] + dy, look);
  const size = moment.step === 1 ? "" : `${number(moment.step)} `;
  const what = `${moment.sign > 0 ? "+" : "−"} ${size}${moment.variance ? "S x" : "x"}`;
  if (share > 0.4) picture.label([from[0] + dx, from[1] + dy], what, { size: 15, bold: true, fill: colors().accent });
}

/**
 * Draw the points: each that is wrong in a thin ring, the one just visited in a larger one, the one selected in a box.
 * @param {Picture} picture @param {Frame} frame @param {Scene} scene @param {number} selected
 */
export function drawPoints(picture, frame, scene, selected) {
  const { state, replay, moment, run } = scene;
  const many = state.points.length > 150;
  const counts = run?.kind === "kernel" && replay && moment ? replay.counts(moment.k) : null;
  const sizes = new Map(counts ? run?.rows.map((row, i) => [row, counts[i] ? 5 + 2 * Math.sqrt(counts[i]) : 4]) : []);
  state.points.forEach((point, i) => {
    const [x, y] = frame.pixel(point);
    picture.mark(x, y, point[2], Math.min(14, sizes.get(i) ?? (many ? 4.5 : 6)), point[3] === true);
  });
  if (run && showsRun(state)) {
    wrongPoints(scene, state.panel === "own").forEach((wrong, place) => {
      const point = state.points[run.rows[place]];
      if (wrong && point) picture.circle(...frame.pixel(point), 9.5, { stroke: colors().ink, width: 1.25 });
    });
  }
  const visited = moment && showsRun(state) && state.panel !== "own" ? state.points[moment.number] : undefined;
  if (visited && moment) {
    const color = moment.updated ? colors().accent : colors().quiet;
    const dash = moment.updated && !moment.mistake ? [5, 3] : undefined; // right, but by too little
    if (["x", "y"].includes(scene.symbol)) picture.circle(...frame.pixel(visited), 14, { fill: colors().accent, alpha: 0.4 });
    picture.circle(...frame.pixel(visited), 14, { stroke: color, width: moment.updated ? 2.5 : 1.5, dash });
  }
  const chosen = state.points[selected];
  if (chosen) {
    const [x, y] = frame.pixel(chosen);
    const box = /** @type {XY[]} */ ([[x - 13, y - 13], [x + 13, y - 13], [x + 13, y + 13], [x - 13, y + 13]]);
    picture.path(box, { stroke: colors().ink, width: 1, dash: [3, 3] }, true);
  }
}

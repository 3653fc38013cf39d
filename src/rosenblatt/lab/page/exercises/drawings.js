/** What exercises draw on the plane: what stands in the fields, and the counterexample; and what of it can be dragged. */

import { drawEdge, drawLine } from "../boundary.js";
import { circleOfPlane, contour, lineInBox } from "../geometry.js";
import { drawRing } from "../marks.js";
import { drawScale } from "../plane_drawing.js";
import { gridPoints, linearScores } from "../regions.js";
import { colors } from "../theme.js";
import { counted, number, vector } from "../words.js";
import { activation as exactActivation, norm, words } from "./faults.js";
import { parse } from "./formulas.js";
import { COURSES } from "./judges.js";
import { trained } from "./runs.js";

/** @import { Exercise, Field, Frame, Look, Picture, XY } from "../types.d.ts" */
/**
 * What is drawn: the values that stand in the fields, and the counterexample of the last check, if any.
 * @typedef {{picture: Picture, frame: Frame, exercise: Exercise, values: Record<string, any>, found: Record<string, any> | null, field: string | null}} Sheet
 */
/**
 * @typedef {object} Plane
 * @property {[number, number, number]} view
 * @property {Record<string, any>} [start] what stands in the fields at first
 * @property {number} [step] of what is dragged
 * @property {[string, string]} [axes] what the axes are
 * @property {string} caption what is drawn, in words
 * @property {(sheet: Sheet) => void} draw
 */

const SIZE = 96; // of the grid of scores

/** Return a value that stands in a field as a number, NaN where it is none. @param {any} value */
export function numberOf(value) {
  try {
    return typeof value === "number" ? value : parse(String(value))({});
  } catch {
    return NaN;
  }
}

/** @param {any} values */
const numbersOf = (values) => /** @type {number[]} */ ((Array.isArray(values) ? values : []).map(numberOf));

/** Return a formula of a field, which is NaN while it is none. @param {Field | undefined} field @param {any} value */
function formulaOf(field, value) {
  try {
    return parse(String(value), field?.variables);
  } catch {
    return () => NaN;
  }
}

/** Return an activation, NaN while a weight is none. @param {number[]} weights @param {number[]} x */
const activation = (weights, x) => (weights.every(Number.isFinite) ? exactActivation(weights, x) : NaN);

const mine = () => ({ stroke: colors().accent, width: 3 });
const thin = () => ({ stroke: colors().quiet, width: 1.5 });
const dashed = () => ({ stroke: colors().quiet, width: 1.5, dash: [6, 4] });

/** @param {Sheet} sheet @param {number[]} place @param {string} text @param {string} [fill] */
const label = ({ picture, frame }, place, text, fill = colors().ink) => picture.label(frame.pixel(place), text, { fill });

/** Draw a line by its weights, with its arrow and a name at its tip. @param {Sheet} sheet @param {number[]} weights @param {string} name @param {Look} [look] */
function line({ picture, frame }, weights, name, look = mine()) {
  const [w1, w2, b = 0] = weights;
  if (![w1, w2, b].every(Number.isFinite)) return;
  drawEdge(picture, frame, w1, w2, b, look);
  const tip = frame.pixel([w1, w2]);
  picture.arrow(...frame.pixel([0, 0]), ...tip, look);
  if (w1 || w2) picture.label(tip, name, { fill: look.stroke });
}

/** Mark the point of a counterexample, and say what is there. @param {Sheet} sheet @param {number[]} place @param {string} text */
function mark(sheet, place, text) {
  drawRing(sheet.picture, sheet.frame, /** @type {XY} */ (place), colors().accent);
  label(sheet, place, text, colors().accent);
}

/** Mark the point of a counterexample with its activation. @param {Sheet} sheet */
function markFound(sheet) {
  const { found } = sheet;
  const place = found?.x ?? found?.point ?? found?.place;
  if (!found || !place) return;
  const told = found.ya !== undefined ? `y·a = ${words(found.ya)}` : found.activation !== undefined ? `a = ${words(found.activation)}` : "";
  mark(sheet, place.slice(0, 2), told || vector(place));
}

/** Draw points of a counterexample, hollow, since they are not those of the answer. @param {Sheet} sheet @param {[number[], number][]} points */
function hollow({ picture, frame }, points) {
  for (const [x, y] of points) picture.mark(...frame.pixel([x[0], x[1] ?? 0]), y, 6, true);
}

/** Write a text across the upper part of the plane. @param {Sheet} sheet @param {string} text @param {string} [fill] */
function banner({ picture, frame }, text, fill) {
  picture.text(frame.size / 2, frame.size / 6, text, { anchor: "center", size: 15, fill });
}

/** Write the values for which a formula is wrong. @param {Sheet} sheet */
function sample(sheet) {
  const { expected, got, ...at } = sheet.found ?? {};
  const where = Object.entries(at).map(([name, value]) => `${name} = ${words(value)}`).join(", ");
  banner(sheet, `${where}: yours ${words(got)}, expected ${words(expected)}`, colors().accent);
}

// exercises whose plane is not that of two features

/** @param {Sheet} sheet */
function courses(sheet) {
  const { picture, frame, exercise, values, found } = sheet;
  const { w, b } = exercise.given;
  const weights = numbersOf(found?.weights ?? values.weights);
  const [zx, zy] = frame.pixel([0, 0]);
  const tint = { fill: colors()["positive-tint"] };
  picture.path([[zx, 0], [frame.size, 0], [frame.size, zy], [zx, zy]], tint, true);
  picture.path([[0, zy], [zx, zy], [zx, frame.size], [0, frame.size]], { fill: colors()["negative-tint"] }, true);
  for (const answers of COURSES) {
    const [before, now] = [activation([...w, b], answers), activation(weights, answers.map((x) => -x))];
    if (!Number.isFinite(now)) return;
    picture.mark(...frame.pixel([before, now]), before > 0 ? 1 : -1);
    if (String(found?.answers) === String(answers)) mark(sheet, [before, now], answers.map((x) => (x ? "yes" : "no")).join(", "));
  }
}

/** @param {Sheet} sheet */
function thresholds(sheet) {
  const { picture, frame, exercise, values, found } = sheet;
  const b = formulaOf(exercise.fields[0], values.b);
  const [left, , right] = frame.box;
  /** @type {XY[]} */
  const curve = [];
  for (let i = 0; i <= 120; i++) {
    const theta = left + ((right - left) * i) / 120;
    const height = -b({ theta });
    if (Number.isFinite(height)) curve.push(frame.pixel([theta, height]));
  }
  picture.path(curve, mine());
  for (const [theta, total] of exercise.given.samples) picture.mark(...frame.pixel([theta, total]), total > theta ? 1 : -1);
  if (found) mark(sheet, [found.theta, found.sum], `b = ${words(found.b)}`);
}

/** The example of the exercise about an update: w, b and x, whose label is −1. */
const UPDATE = { w: [0, 2], b: 1, x: [2, 1] };

/** @param {Sheet} sheet */
function update(sheet) {
  const { exercise, values } = sheet;
  const { w, b, x } = UPDATE;
  if (sheet.found) sample(sheet);
  const [weight, bias, after] = exercise.fields.map((field) => formulaOf(field, values[field.name]));
  line(sheet, [...w, b], "w", thin());
  sheet.picture.mark(...sheet.frame.pixel(x), -1);
  const [a, s] = [activation([...w, b], x), x[0] ** 2 + x[1] ** 2];
  const now = [...w.map((value, i) => weight({ w: value, x: x[i], y: -1 })), bias({ b, y: -1 })];
  line(sheet, now, "your w′");
  const told = after({ a, s, y: -1 });
  const real = activation(now, x);
  const seen = Number.isNaN(real) ? "" : `, now ${number(real)}`;
  label(sheet, x, `a = ${number(a)}${seen}${Number.isNaN(told) ? "" : `; your a′ says ${number(told)}`}`);
}

/** @param {Sheet} sheet */
function argument(sheet) {
  const { picture, frame, found } = sheet;
  if (!found?.w) return banner(sheet, "Examples on which a step is false come here.");
  for (const [x, y] of found.points) {
    picture.mark(...frame.pixel([x, 0]), y);
    label(sheet, [x, 0], `y·a = ${words(y * (found.w[0] * x + found.b))}, a = ${words(found.w[0] * x + found.b)}`);
  }
}

/** @param {Sheet} sheet */
function proof(sheet) {
  const { picture, frame, exercise, found, field } = sheet;
  const broken = found?.points && found.value !== undefined;
  const run = exercise.given.runs.find((/** @type {any} */ one) => !broken || String(one.points) === String(found.points.flat(2)));
  const [ox, oy] = frame.pixel([0, 0]);
  const radius = Math.max(...run.points.map((/** @type {number[]} */ [x1, x2]) => Math.hypot(x1, x2)));
  picture.circle(ox, oy, radius * frame.scale, dashed());
  label(sheet, [-radius * 0.7, radius * 0.7], `R = ${number(radius)}`, colors().quiet);
  const unit = run.w_star.map((/** @type {number} */ value) => value / norm(run.w_star));
  line(sheet, [...unit, 0], "w*", thin());
  for (const [x1, x2, y] of run.points) picture.mark(...frame.pixel([x1, x2]), y);
  if (!broken) return found ? sample(sheet) : undefined;
  const { before, after } = trained(run.points, 1000, { bias: false }).updates[found.k - 1];
  picture.arrow(ox, oy, ...frame.pixel(before), thin());
  picture.arrow(ox, oy, ...frame.pixel(after), mine());
  const name = { growth: "‖w‖² grew by", norm: "‖w‖² =", dot: "w*·w =", bound: "k =" }[String(field)];
  label(sheet, after, `w after ${found.k}: ${name} ${words(found.value)}, bound ${words(found.bound)}`, colors().accent);
  if (field === "norm" && found.bound > 0) picture.circle(ox, oy, Math.sqrt(found.bound) * frame.scale, { stroke: colors().accent, width: 1.5, dash: [2, 3] });
}

/** @param {Sheet} sheet */
function program(sheet) {
  const { found } = sheet;
  if (!found) return banner(sheet, "The smallest counterexample comes here.");
  const lift = (/** @type {any} */ [w, b]) => [w[0], w[1] ?? 0, b];
  const pair = found.D ? { expected: lift(found.expected), got: lift(found.got) } : { got: lift([found.w, found.b]), expected: [0, 0, 0] };
  line(sheet, pair.expected, "expected w", dashed());
  line(sheet, pair.got, found.D ? "your w" : "w");
  if (found.D) {
    hollow(sheet, found.D);
    for (const [[x1, x2 = 0]] of found.D) {
      const [yours, expected] = [pair.got, pair.expected].map((weights) => number(activation(weights, [x1, x2])));
      label(sheet, [x1, x2], `a = ${yours}, expected ${expected}`, colors().accent);
    }
  } else mark(sheet, [found.x[0], 0], `predicted ${words(found.got)}, expected ${words(found.expected)}`);
}

/** @param {Sheet} sheet */
function xor(sheet) {
  const { picture, frame, values } = sheet;
  const [w1, w2, w3, b] = numbersOf(values.weights);
  const scores = linearScores(["x", "y", "xy"], { w: [w1, w2, w3], b }, gridPoints([0.5, 0.5, frame.size / frame.scale / 2], SIZE));
  const cell = frame.size / (SIZE - 1);
  for (const ends of contour(scores, SIZE)) picture.path(ends.map(([x, y]) => /** @type {XY} */ ([x * cell, y * cell])), mine());
  for (const [x1, x2, x3] of sheet.exercise.given.rows) {
    const a = activation([w1, w2, w3, b], [x1, x2, x3]);
    label(sheet, [x1, x2], `a = ${number(a)}`);
  }
  if (sheet.found) drawRing(picture, frame, sheet.found.x, colors().accent);
}

// exercises about lines and circles

/** @param {Sheet} sheet */
function unit(sheet) {
  const { w, b } = sheet.exercise.given;
  const { picture, frame } = sheet;
  line(sheet, [...w, b], "w", thin());
  picture.circle(...frame.pixel([0, 0]), frame.scale, dashed());
  line(sheet, numbersOf(sheet.values.weights), "w′");
  markFound(sheet);
}

/** @param {Sheet} sheet */
function lines(sheet) {
  const { picture, frame, values, exercise } = sheet;
  const { line: ends, positive } = exercise.given;
  const through = (/** @type {number[][]} */ [p, q], /** @type {Look} */ look) => {
    const [w1, w2] = [p[1] - q[1], q[0] - p[0]];
    drawEdge(picture, frame, w1, w2, -w1 * p[0] - w2 * p[1], look);
    for (const end of [p, q]) picture.circle(...frame.pixel(end), 6, { fill: colors().raised, stroke: look.stroke, width: 2 });
  };
  through(ends, dashed());
  label(sheet, ends[1], "the line of the second part", colors().quiet);
  label(sheet, positive, "its positive side", colors().quiet);
  picture.circle(...frame.pixel(positive), 3, { fill: colors().quiet });
  const places = (values.line ?? []).map(numbersOf);
  if (places.flat().every(Number.isFinite)) through(places, mine());
  const [x, y] = frame.pixel(numbersOf(values.positive));
  for (const [dx, dy] of [[7, 0], [0, 7]]) picture.line(x - dx, y - dy, x + dx, y + dy, mine());
  label(sheet, numbersOf(values.positive), "+", colors().accent);
  line(sheet, numbersOf(values.weights), "your w", { stroke: colors().ink, width: 2 });
  markFound(sheet);
}

/** @param {Sheet} sheet */
function margins(sheet) {
  const { exercise, found, picture, frame } = sheet;
  const { w, b, v, v_b } = exercise.given;
  drawLine(picture, frame, [w[0], w[1], b], { stroke: colors().ink, width: 2 }, true);
  drawEdge(picture, frame, v[0], v[1], v_b, dashed());
  const ends = lineInBox(v[0], v[1], v_b, frame.box);
  if (ends) label(sheet, ends[1].map((value) => 0.7 * value), "v·x = 0", colors().quiet);
  if (!found) return;
  const weights = found.ya === undefined ? [...w, b] : [...v, v_b];
  const far = activation(weights, found.x) / norm(weights.slice(0, 2)) ** 2;
  const foot = found.x.map((/** @type {number} */ value, /** @type {number} */ i) => value - far * weights[i]);
  picture.path([frame.pixel(found.x), frame.pixel(foot)], mine());
  mark(sheet, found.x, found.ya === undefined ? `expected ${words(found.expected)}` : `y·a = ${words(found.ya)}`);
}

/** @param {Sheet} sheet */
function cut(sheet) {
  const { picture, frame, exercise, found } = sheet;
  const { points, names } = exercise.given;
  if (found?.points) {
    const { shattered, subset } = found;
    banner(sheet, shattered ? "Every subset of the ringed points is cut" : "No shape cuts out those ringed in bold", colors().accent);
    found.points.forEach((/** @type {number[]} */ x, /** @type {number} */ i) => {
      const bold = shattered || subset.includes(i);
      picture.circle(...frame.pixel(x), 11, { stroke: bold ? colors().accent : colors().quiet, width: bold ? 3 : 1.5 });
    });
    return;
  }
  points.forEach((/** @type {number[]} */ point, /** @type {number} */ i) => label(sheet, point, names[i]));
  if (found) picture.circle(...frame.pixel(found.center), found.radius * frame.scale, mine());
}

/** @param {Sheet} sheet */
function circles(sheet) {
  const { picture, frame, values } = sheet;
  const [a, b, r] = numbersOf(values.circle);
  const [w1, w2, w3, bias] = numbersOf(values.plane);
  const over = circleOfPlane([w1, w2, w3], bias);
  if (over) {
    const top = [over.center[0], over.center[1] + over.radius];
    picture.circle(...frame.pixel(over.center), over.radius * frame.scale, { stroke: colors().ink, width: 1.5, dash: [6, 4] });
    label(sheet, top, `your plane, positive ${over.inside ? "inside" : "outside"}`);
  }
  if ([a, b, r].every(Number.isFinite)) {
    picture.circle(...frame.pixel([a, b]), r * frame.scale, mine());
    for (const grip of [[a, b], [a + r, b]]) picture.circle(...frame.pixel(grip), 6, { fill: colors().raised, stroke: colors().accent, width: 2 });
  }
  markFound(sheet);
}

/** @param {Sheet} sheet */
function notes(sheet) {
  const { picture, frame, exercise, values, found } = sheet;
  for (const row of values.rows ?? []) drawRing(picture, frame, exercise.given.points[row]);
  line(sheet, numbersOf(values.first), "first");
  line(sheet, numbersOf(values.second), "second", { stroke: colors().ink, width: 2 });
  if (found?.w) line(sheet, found.w, "separates them", { stroke: colors().accent, width: 2, dash: [2, 3] });
  markFound(sheet);
}

/** Return what a counterexample about runs counts, in words. @param {Record<string, any>} found */
function countsOf({ listed, permuted, reverse, updates, passes, bound }) {
  if (permuted !== undefined) return `As listed ${counted(listed, "pass", "passes")}, with new orders ${permuted}`;
  if (reverse !== undefined) return `As listed ${counted(listed, "update")}, in reverse ${reverse}${bound ? `; bound ${words(bound)}` : ""}`;
  if (updates !== undefined) return `${counted(updates, "update")}, none where w is right`;
  return passes ? `Mistakes left after ${passes} passes` : "";
}

/** Number the points, in the order of the visits; draw those of a counterexample that are others. @param {Sheet} sheet */
function listing(sheet) {
  const { picture, frame, exercise, values, field, found } = sheet;
  (values.points ?? []).forEach((/** @type {number[]} */ [x1, x2], /** @type {number} */ i) => label(sheet, [x1, x2], String(i + 1)));
  if (found?.points && ["why", "breaks"].includes(String(field))) hollow(sheet, found.points);
  banner(sheet, found ? countsOf(found) : "", colors().accent);
  if (found?.after) {
    picture.arrow(...frame.pixel([0, 0]), ...frame.pixel(found.before), thin());
    picture.arrow(...frame.pixel([0, 0]), ...frame.pixel(found.after), mine());
    label(sheet, found.after, `w after it: ‖w‖² grew by ${words(found.growth)}`, colors().accent);
  } else if (values.points?.length && exercise.given.passes > 10) {
    const { updates } = trained(values.points, exercise.given.passes);
    const [w1, w2, b] = updates[updates.length - 1]?.after ?? [0, 0, 0];
    drawEdge(picture, frame, w1, w2, b, thin());
  }
}

const PLACED = "The numbers are the order of the visits. The Algorithm tab plays a run on these points.";

/** @type {Record<string, Plane>} */
const PLANES = {
  "4.1-coding": {
    view: [0, 0, 10], start: { weights: [4, -6, 2, 1] }, axes: ["a before", "a now"], draw: courses,
    caption: "Each mark is a course. It is predicted as before where both activations have one sign, in the tinted quarters.",
  },
  "4.1-threshold": {
    view: [0, 0, 4.5], axes: ["θ", "w·x"], draw: thresholds,
    caption: "Blue is where w·x > θ: the first neuron fires. The second fires above your line, w·x = −b.",
  },
  "4.2-ties": { view: [0.5, 0.5, 3], draw: (sheet) => sheet.found && mark(sheet, sheet.exercise.given.points[sheet.found.row].slice(0, 2), "a = 0"), caption: "The four points." },
  "4.2-update": { view: [0, 0, 4], draw: update, caption: "For instance w = (0, 2), b = 1 and the triangle x = (2, 1), so s = 5: your w′ and b′ are drawn as you type." },
  "4.2-permute": { view: [0, 0, 6.25], draw: listing, caption: PLACED },
  "4.3-unit": { view: [0, 0, 5], start: { weights: [3, -4, 10] }, step: 0.1, draw: unit, caption: "Drag the tip of w′, or your line, or type. On the dashed circle w′ has length 1." },
  "4.5-positive": { view: [0, 0, 2.5], draw: argument, caption: "One feature, across: a step that is false has an example on which it fails." },
  "4.5-norm": { view: [0, 0, 6.5], draw: proof, caption: "One of the runs on which your bounds are tried, at every update." },
  "4.5-order": { view: [0, 0, 6.25], draw: listing, caption: PLACED },
  "4.6-current": { view: [0, 0, 6.25], draw: listing, caption: "The numbers are the order of the visits. This rule goes by the vote, and is not that of the other tabs." },
  "algorithm-7": { view: [0, 0, 3], draw: program, caption: "What a wrong program does to the smallest data set." },
  "4.12": { view: [0.5, 0.5, 1.25], start: { weights: [1, 1, 0, 0] }, draw: xor, caption: "The four inputs with their activations. Your boundary is drawn with x₃ = x₁x₂." },
  "algorithm-5": { view: [0, 0, 3], draw: program, caption: "What a wrong program does to the smallest data set." },
  "4.3-line": { view: [0, 0, 6], start: { line: [[-2, -2], [2, -2]], positive: [2, -3], weights: [1, 1, 0] }, draw: lines, caption: "Drag the two ends, the plus, the tip of your w, or its line; or type." },
  "4.5-margin": { view: [1, 1, 4.5], draw: margins, caption: "w·x + b = 0, and dashed v·x = 0." },
  "30.3": { view: [1.5, 1.5, 3.5], draw: cut, caption: "Blue is in the subset: press a point to put it in or take it out." },
  "30.2": { view: [1, 1.25, 5], start: { circle: [0, 0, 1], plane: [0, 0, -1, 1] }, draw: circles, caption: "Drag the middle of your circle, or its right end. Dashed is where your plane is 0." },
  "3.3": { view: [1, 1, 5], start: { first: [1, 1, 0], second: [1, 0, 0] }, draw: notes, caption: "Press points to choose them; drag the tips of the arrows and the lines, or type." },
};

/** Return what an exercise draws. @param {string} name */
export const planeOf = (name) => PLANES[name];

/** Draw an exercise. @param {Sheet} sheet */
export function drawExercise(sheet) {
  const { axes, draw } = planeOf(sheet.exercise.name);
  draw(sheet);
  if (!sheet.exercise.given.points && !sheet.values.points?.length) drawScale(sheet.picture, sheet.frame, [], axes);
}

/**
 * Return what can be dragged: where it is, or a line, and what of which field follows the pointer.
 * @param {Exercise} exercise @param {Record<string, any>} values
 * @returns {{at?: number[], line?: number[], field: string, moved: (to: XY) => any}[]}
 */
export function gripsOf({ fields }, values) {
  return fields.flatMap(({ name, kind, names = [] }) => {
    const now = kind === "line" ? (values[name] ?? []).map(numbersOf) : numbersOf(values[name]);
    if (!now.flat().every(Number.isFinite) || !now.length) return [];
    if (kind === "place") return [{ field: name, at: now, moved: (to) => to }];
    if (kind === "line") return now.map((/** @type {number[]} */ at, /** @type {number} */ i) => ({ field: name, at, moved: (/** @type {XY} */ to) => now.with(i, to) }));
    if (kind !== "weights") return [];
    const [first, second, third] = now;
    if (names.join() === "x1,x2,r") {
      return [
        { field: name, at: [first + third, second], moved: ([x, y]) => [first, second, Math.hypot(x - first, y - second)] },
        { field: name, at: [first, second], moved: (to) => [...to, third] },
      ];
    }
    if (names.join() !== "w1,w2,b") return [];
    return [
      { field: name, at: [first, second], moved: (to) => [...to, third] },
      { field: name, line: now, moved: ([x, y]) => [first, second, -first * x - second * y] },
    ];
  });
}

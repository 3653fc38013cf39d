/** A judge for each exercise, as in `rosenblatt.exercises`: null if all fields are right, else the smallest counterexample. */

import { dyadic, nearest, sideOf, sum, times } from "../engine/exact.js";
import { readAnswer } from "./answers.js";
import { activation, exact, fault, fieldOf, formulaFault, grid, norm, optionOf, prediction, signed, words } from "./faults.js";
import { judgeProgram } from "./programs.js";
import { badOrder, permute, proofBounds, ties, votedUpdates } from "./runs.js";

/** @import { Exercise, Fault, Judged } from "../types.d.ts" */
/** @typedef {Record<string, any>} Values */

const SAME_LINE = 1e-6; // weights are the same line if their unit vectors differ by at most this

/** Return whether an answer is right, and what is wrong with it. @param {Exercise} exercise @param {any} answer @returns {Judged} */
export function judge(exercise, answer) {
  let found;
  try {
    const values = readAnswer(exercise, answer);
    found = (JUDGES[exercise.name] ?? judgeProgram)(values, exercise);
  } catch (form) {
    return { exercise: exercise.name, right: false, text: /** @type {Error} */ (form).message, field: null, counterexample: null };
  }
  return { exercise: exercise.name, right: !found, ...(found ?? { text: "", field: null, counterexample: null }) };
}

/** Return the end of a sentence about an activation that has changed its sign. @param {number} before @param {number} now */
function otherSide(before, now) {
  const predicted = `expected the prediction ${signed(prediction(before))}, got ${signed(prediction(now))}`;
  return `had the activation ${words(before)} and now has ${words(now)}: ${predicted}.`;
}

/** The eight courses, each a list of three answers. */
export const COURSES = Array.from({ length: 8 }, (_, i) => [(i >> 2) & 1, (i >> 1) & 1, i & 1]);

/** @param {Values} values @param {Exercise} exercise */
function coding(values, exercise) {
  const { w, b, features } = exercise.given;
  const option = optionOf(exercise, "changes", values.changes);
  const changed = [...w.map((/** @type {number} */ value) => value * (option.w ?? 1)), b * (option.b ?? 1)];
  for (const [name, weights] of [["weights", values.weights], ["changes", changed]]) {
    for (const answers of COURSES) {
      const [before, now] = [activation([...w, b], answers), activation(weights, answers.map((x) => -x))];
      if (prediction(before) === prediction(now)) continue;
      const given = answers.map((x, i) => `${features[i]} = ${x ? "yes" : "no"}`).join(", ");
      const found = { answers, expected: prediction(before), activation: now, weights };
      return fault(name, `The course ${given} ${otherSide(before, now)}`, found);
    }
  }
  return null;
}

/** @param {Values} values @param {Exercise} exercise */
function threshold(values, { given }) {
  for (const [theta, total] of given.samples) {
    const b = values.b({ theta });
    if (sideOf([1], [total], b) > 0 === total > theta && !Number.isNaN(b)) continue;
    const text = `For θ = ${words(theta)} and w·x = ${words(total)}, w·x > θ is ${total > theta}, but b is ${words(b)} and w·x + b > 0 is ${total + b > 0}.`;
    return fault("b", text, { theta, sum: total, b });
  }
  return null;
}

/** Return what is wrong with the first formula that is wrong. @param {Values} values @param {Exercise} exercise */
function formulas(values, { fields }) {
  for (const field of fields) {
    const found = formulaFault(field, values[field.name]);
    if (found) return found;
  }
  return null;
}

/** @param {Values} values @param {Exercise} exercise */
function unit({ weights }, { given }) {
  const length = norm(weights.slice(0, -1));
  if (!(Math.abs(length - 1) <= given.tolerance)) {
    const point = grid(2).find((x) => activation(weights, x)) ?? [0, 0];
    const a = activation(weights, point);
    const distance = length ? Math.abs(a) / length : Infinity;
    const text =
      `w′ has length ${words(length)}, expected 1. So activations are no distances: ` +
      `${words(point)} has the activation ${words(a)}, and its distance to the boundary is ${words(distance)}.`;
    return fault("weights", text, { point, activation: a, distance });
  }
  const theirs = [...given.w, given.b];
  for (const x of grid(10)) {
    const [before, now] = [activation(theirs, x), activation(weights, x)];
    if (Math.abs(before) < 0.2 * norm(given.w) || prediction(before) === prediction(now)) continue;
    return fault("weights", `${words(x)} ${otherSide(before, now)}`, { point: x, expected: prediction(before), activation: now });
  }
  return null;
}

/** @param {Values} values @param {Exercise} exercise */
function positive({ steps }, exercise) {
  const options = exercise.fields[0].options ?? [];
  const textOf = (/** @type {string} */ id) => optionOf(exercise, "steps", id).text;
  for (const [k, step] of steps.entries()) {
    const option = optionOf(exercise, "steps", step);
    if (option.false) return falseStep(option);
    const needs = option.after?.find((/** @type {string} */ one) => !steps.slice(0, k).includes(one));
    if (needs) return fault("steps", `The step "${option.text}" needs "${textOf(needs)}" before it.`, { step, needs });
  }
  const missing = options.find(({ id, after }) => after && !steps.includes(id));
  return missing ? fault("steps", `A step is missing: "${missing.text}"`, { missing: missing.id }) : null;
}

/** @param {{id: string, text: string, false?: any}} option */
function falseStep({ id, text, false: given }) {
  const [x, y] = given.points[given.points.length - 1];
  const a = activation([...given.w, given.b], [x]);
  const sentence =
    `The step "${text}" is false: w = ${words(given.w)}, b = ${words(given.b)} separates the examples ` +
    `x = 1 with y = +1 and x = −1 with y = −1. The second has the activation ${words(a)}, and y·a = ${words(y * a)}.`;
  return fault("steps", sentence, { step: id, ...given, activation: a });
}

/** @param {Values} values @param {Exercise} exercise */
function xor({ weights }, { given }) {
  for (const [row, [x1, x2, x3, label]] of given.rows.entries()) {
    const a = activation(weights, [x1, x2, x3]);
    if (prediction(a) === label) continue;
    const text = `x₁ = ${x1}, x₂ = ${x2}, x₃ = ${x3}: w·x + b = ${words(a)} predicts ${signed(prediction(a))}, expected ${signed(label)}.`;
    return fault("weights", text, { row, x: [x1, x2, x3], label, activation: a });
  }
  return null;
}

/** Return the distance of a point from the boundary, with the sign of its activation; without a w it is infinite. @param {number[]} weights @param {number[]} place */
function distanceOf(weights, place) {
  const [length, a] = [norm(weights.slice(0, -1)), activation(weights, place)];
  return length ? a / length : a < 0 ? -Infinity : Infinity;
}

/** @param {string} name @param {number[]} weights @param {number[]} place @param {number} tolerance */
function offBoundary(name, weights, place, tolerance) {
  const [a, distance] = [activation(weights, place), distanceOf(weights, place)];
  if (Math.abs(distance) <= tolerance) return null;
  const text = `${words(place)} has the activation ${words(a)}, expected 0: it is ${words(Math.abs(distance))} from the boundary.`;
  return fault(name, text, { place, activation: a, distance });
}

/** @param {string} name @param {number[]} weights @param {number[]} place @param {number} tolerance */
function notPositive(name, weights, place, tolerance) {
  const [a, distance] = [activation(weights, place), distanceOf(weights, place)];
  if (distance >= tolerance) return null;
  const text = `${words(place)} has the activation ${words(a)}: expected a point clearly on the positive side.`;
  return fault(name, text, { place, activation: a, distance });
}

/** @param {Values} values @param {Exercise} exercise */
function lines({ line, positive: side, weights }, { given }) {
  const { tolerance, apart } = given;
  const theirs = [...given.w, given.b];
  const [first, second] = line;
  const distance = Math.hypot(first[0] - second[0], first[1] - second[1]);
  const tooNear = () => {
    if (distance >= apart) return null;
    const text = `${words(first)} and ${words(second)} are ${words(distance)} apart, expected at least ${apart}: take points that fix the line better.`;
    return fault("line", text, { line, distance });
  };
  return (
    offBoundary("line", theirs, first, tolerance) ??
    offBoundary("line", theirs, second, tolerance) ??
    tooNear() ??
    notPositive("positive", theirs, side, tolerance) ??
    offBoundary("weights", weights, given.line[0], tolerance) ??
    offBoundary("weights", weights, given.line[1], tolerance) ??
    notPositive("weights", weights, given.positive, tolerance)
  );
}

/** Return the point with the least y·a: its number, its features and y·a. @param {number[]} weights @param {number[][]} points */
function least(weights, points) {
  const signs = points.map(([x1, x2, y]) => y * activation(weights, [x1, x2]));
  const ya = Math.min(...signs);
  const row = signs.indexOf(ya);
  return { row, x: points[row].slice(0, 2), y: points[row][2], ya };
}

/** @param {Values} values @param {Exercise} exercise */
function margin(values, exercise) {
  const { given } = exercise;
  const nearestOne = least([...given.w, given.b], given.points);
  const length = norm(given.w);
  for (const [name, expected] of /** @type {[string, number][]} */ ([["margin", nearestOne.ya], ["distance", nearestOne.ya / length]])) {
    const got = values[name];
    if (Math.abs(got - expected) <= (fieldOf(exercise, name).tolerance ?? 0)) continue;
    const text =
      `The nearest point is ${words(nearestOne.x)}, with y(w·x + b) = ${words(nearestOne.ya)} and ‖w‖ = ${words(length)}: ` +
      `expected ${words(expected)}, got ${words(got)}.`;
    return fault(name, text, { row: nearestOne.row, x: nearestOne.x, expected, got });
  }
  if (values.other === -Infinity) return null;
  const { row, x, y, ya } = least([...given.v, given.v_b], given.points);
  const text =
    `${words(x)} with label ${signed(y)} has y(v·x) = ${words(ya)}, which is not above 0. So v does not separate the points: ` +
    `expected −∞, got ${words(values.other)}.`;
  return fault("other", text, { row, x, ya, expected: -Infinity, got: values.other });
}

const DIAMOND = [[1, 0], [-1, 0], [0, 1], [0, -1]];
/** For each family: its VC dimension, points that it shatters, and one point more with a subset that it cannot cut. */
const DIMENSIONS = [
  { name: "discs", right: 3, shattered: [[0, 0], [2, 0], [0, 2]], points: [[2, 0], [0, 2], [0, 0], [3, 3]], subset: [2, 3] },
  { name: "rectangles", right: 4, shattered: DIAMOND, points: [...DIAMOND, [0, 0]], subset: [0, 1, 2, 3] },
];

/** @param {Values} values @param {Exercise} exercise */
function shapes(values, exercise) {
  const { points, names } = exercise.given;
  const disc = discAround(values.subset, points);
  if (disc) {
    const held = values.subset.map((/** @type {number} */ row) => names[row]).join(", ") || "no point";
    const text = `The disc around ${words(disc.center)} with radius ${words(disc.radius)} holds ${held} and misses the others.`;
    return fault("subset", text, { subset: values.subset, ...disc });
  }
  const places = (/** @type {number[][]} */ of) => of.map(words).join(", ");
  for (const { name, right, shattered, points: more, subset } of DIMENSIONS) {
    const got = values[name];
    if (got < right) {
      const text = `${words(got)} is too small: ${name} cut every subset of the ${right} points ${places(shattered)}.`;
      return fault(name, text, { points: shattered, shattered: true });
    }
    if (got > right) {
      const text =
        `${words(got)} is too large: of ${more.length} points, some subset is never cut. Of ${places(more)}, ` +
        `for instance, not ${places(subset.map((i) => more[i]))}.`;
      return fault(name, text, { points: more, shattered: false, subset });
    }
  }
  return polygonFault(values.polygons, exercise);
}

/** Return a disc that holds exactly a subset of the points, its centre on a grid; null if there is none. @param {number[]} subset @param {number[][]} points */
function discAround(subset, points) {
  for (const center of grid(10, 0.5)) {
    const squares = points.map((point) => (point[0] - center[0]) ** 2 + (point[1] - center[1]) ** 2);
    const inside = Math.max(...subset.map((i) => squares[i]), subset.length ? -Infinity : 0);
    const others = squares.filter((_, i) => !subset.includes(i));
    const outside = others.length ? Math.min(...others) : inside + 1;
    if (inside < outside) return { center, radius: (Math.sqrt(inside) + Math.sqrt(outside)) / 2 };
  }
  return null;
}

/** @param {import("./formulas.js").Formula} formula @param {Exercise} exercise */
function polygonFault(formula, exercise) {
  const found = formulaFault(fieldOf(exercise, "polygons"), formula);
  if (!found) return null;
  const { k, expected: most, got } = found.counterexample;
  const onCircle = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => [Math.cos((2 * Math.PI * i) / n), Math.sin((2 * Math.PI * i) / n)]);
  if (got > most) {
    const text = `${found.text} Of ${most + 1} points on a circle, every second one cannot be cut: that needs ${k + 1} sides.`;
    const subset = Array.from({ length: k + 1 }, (_, i) => 2 * i);
    return fault("polygons", text, { k, got, points: onCircle(most + 1), shattered: false, subset });
  }
  const text = `${found.text} Polygons with ${k} sides cut every subset of ${most} points on a circle.`;
  return fault("polygons", text, { k, got, points: onCircle(most), shattered: true });
}

/** Return r² − (x₁ − a)² − (x₂ − b)², rounded once: it is positive inside. @param {number[]} circle @param {number[]} x */
function insideness([a, b, r], [x1, x2]) {
  const square = (/** @type {number[]} */ ...values) => {
    const whole = sum(values.map(dyadic));
    return times(whole, whole);
  };
  const [across, up] = [square(x1, -a), square(x2, -b)];
  const { n, e } = sum([square(r), { n: -across.n, e: across.e }, { n: -up.n, e: up.e }]);
  return nearest(n, 1n, e);
}

/** @param {Values} values @param {Exercise} exercise */
function circle({ circle: mine, plane }, { given }) {
  const [a, b, r] = mine;
  if (r <= 0) return fault("circle", `The radius is ${words(r)}, expected one above 0.`, { radius: r });
  for (const [row, [x1, x2, label]] of given.points.entries()) {
    const side = insideness(mine, [x1, x2]);
    if (side * label > 0) continue;
    const where = side > 0 ? "inside" : side === 0 ? "on the circle" : "outside";
    return fault("circle", `${words([x1, x2])} has the label ${signed(label)} and is ${where}.`, { row, x: [x1, x2], label, side });
  }
  for (const x of grid(5, 0.5)) {
    const far = Math.hypot(x[0] - a, x[1] - b);
    if (Math.abs(far - r) < given.tolerance) continue;
    const height = activation(plane, [...x, x[0] ** 2 + x[1] ** 2]);
    const side = far < r ? 1 : -1;
    if (prediction(height) === side) continue;
    const text =
      `${words(x)} is ${far < r ? "inside" : "outside"} the circle, and w·z + b is ${words(height)} there: ` +
      `expected a number ${far < r ? "above" : "below"} 0.`;
    return fault("plane", text, { x, side, activation: height });
  }
  return null;
}

/** @param {Values} values @param {Exercise} exercise */
function notes(values, exercise) {
  const { points, w_star, gamma } = exercise.given;
  const { rows } = values;
  const w = grid(10).find((one) => rows.every((/** @type {number} */ i) => points[i][2] * exact(one, points[i].slice(0, 2)) > 0));
  if (w) {
    const chosen = rows.map((/** @type {number} */ i) => words(points[i].slice(0, 2))).join(", ") || "no point";
    return fault("rows", `w = ${words(w)} without a bias has the right sign on ${chosen}: expected points on which none has.`, { rows, w });
  }
  const length = norm(w_star);
  const eta = gamma / length;
  if (!(Math.abs(values.eta - eta) <= (fieldOf(exercise, "eta").tolerance ?? 0))) {
    const near = w_star.map((/** @type {number} */ value) => (eta * value) / length);
    const text = `${words(near)} has w*·x = ${words(gamma)} and is ${words(eta)} from the boundary: expected that, got ${words(values.eta)}.`;
    return fault("eta", text, { x: near, distance: eta });
  }
  for (const name of ["first", "second"]) {
    const { row, x, y, ya } = least(values[name], points);
    if (ya <= 0) return fault(name, `${words(x)} with label ${signed(y)} has y(w·x + b) = ${words(ya)}: expected more than 0.`, { row, x, ya });
  }
  const [first, second] = [values.first, values.second].map((line) => line.map((/** @type {number} */ value) => value / norm(line)));
  if (norm(first.map((/** @type {number} */ value, /** @type {number} */ i) => value - second[i])) > SAME_LINE) return null;
  return fault("second", `Both are the same line: scaled to length 1, both are ${words(first)}. Expected two different ones.`, { unit: first });
}

/** @type {Record<string, (values: Values, exercise: Exercise) => Fault | null>} */
const JUDGES = {
  "4.1-coding": coding,
  "4.1-threshold": threshold,
  "4.2-ties": ties,
  "4.2-update": formulas,
  "4.2-permute": permute,
  "4.3-unit": unit,
  "4.5-positive": positive,
  "4.5-norm": proofBounds,
  "4.5-order": badOrder,
  "4.6-current": votedUpdates,
  "4.12": xor,
  "4.3-line": lines,
  "4.5-margin": margin,
  "30.3": shapes,
  "30.2": circle,
  "3.3": notes,
};

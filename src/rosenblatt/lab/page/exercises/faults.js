/** What is wrong with an answer, in the words of `rosenblatt.exercises`, and the arithmetic of the judges, which is exact. */

import { exactDot, nearest } from "../engine/exact.js";
import { parse } from "./formulas.js";

/** @import { Exercise, Fault, Field } from "../types.d.ts" */
/** @import { Formula } from "./formulas.js" */

const CLOSE = 1e-9; // two values of formulas are equal up to this, relative to the larger of 1 and the expected value

/** Return what is wrong with a field of an answer. @param {string} field @param {string} text @param {Record<string, any>} counterexample @returns {Fault} */
export const fault = (field, text, counterexample) => ({ field, text, counterexample });

/** Return a number, or a vector, as text: six digits that count, and real minus signs. @param {any} value @returns {string} */
export function words(value) {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return `(${value.map(words).join(", ")})`;
  if (Number.isNaN(value)) return "undefined";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const text = Math.abs(value) < 1e9 && Number.isInteger(value) ? String(value) : sixDigits(value);
  return text.replaceAll("-", "−");
}

/** Return a number as C's %.6g writes it. @param {number} value */
function sixDigits(value) {
  const [digits, power] = value.toExponential(5).split("e").map(Number);
  if (power >= -4 && power < 6) return String(Number(value.toPrecision(6)));
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** Return w·x, rounded once. @param {number[]} w @param {number[]} x @param {number} [b] */
export function exact(w, x, b = 0) {
  const { n, e } = exactDot(w, x, b);
  return nearest(n, 1n, e);
}

/** Return the activation of x for weights whose last number is the bias, rounded once. @param {number[]} weights @param {number[]} x */
export const activation = (weights, x) => exact(weights.slice(0, -1), x, weights[weights.length - 1]);

/** Return the prediction for an activation: only those above 0 are positive. @param {number} a */
export const prediction = (a) => (a > 0 ? 1 : -1);

/** Return a label as +1 or −1. @param {number} label */
export const signed = (label) => (label > 0 ? "+1" : "−1");

/** @param {number[]} w */
export const norm = (w) => Math.hypot(...w);

/** Return points with their labels as a list in words. @param {number[][]} points */
export const listed = (points) => points.map((row) => `${words(row.slice(0, -1))} ${signed(row[row.length - 1])}`).join(", ");

/** Return the points of a grid around the origin, the nearest first. @param {number} reach @param {number} [step] */
export function grid(reach, step = 1) {
  const n = reach / step;
  const marks = Array.from({ length: 2 * n + 1 }, (_, k) => (k - n) * step);
  const size = (/** @type {number[]} */ [x, y]) => x * x + y * y;
  return marks.flatMap((x) => marks.map((y) => [x, y])).sort((p, q) => size(p) - size(q) || p[0] - q[0] || p[1] - q[1]);
}

/** Return where a formula differs from that of its field, or null. @param {Field} part @param {Formula} formula */
export function formulaFault({ name, label, expected: right = "", variables = [], samples = [] }, formula) {
  const theirs = parse(right, variables);
  for (const sample of samples) {
    const at = Object.fromEntries(variables.map((variable, i) => [variable, sample[i]]));
    const [got, expected] = [formula(at), theirs(at)];
    if (Math.abs(got - expected) <= CLOSE * Math.max(1, Math.abs(expected))) continue;
    const where = Object.entries(at).map(([variable, value]) => `${variable} = ${words(value)}`).join(", ");
    return fault(name, `${label}: for ${where} it is ${words(got)}, expected ${words(expected)}.`, { ...at, expected, got });
  }
  return null;
}

/** Return a field of an exercise. @param {Exercise} exercise @param {string} name */
export const fieldOf = ({ fields }, name) => /** @type {Field} */ (fields.find((field) => field.name === name));

/** Return the option of a field that was chosen. @param {Exercise} exercise @param {string} name @param {string} chosen */
export const optionOf = (exercise, name, chosen) => fieldOf(exercise, name).options?.find(({ id }) => id === chosen) ?? { id: "", text: "" };

/** Numbers and sentences, with real minus signs. */

/** @typedef {import("./types.d.ts").Scene} Scene */
/** @typedef {import("./types.d.ts").Moment} Moment */

/** @type {Record<string, string>} */
export const FEATURE_NAMES = { x: "x", y: "y", xy: "xy", x2: "x²", y2: "y²", r2: "x² + y²" };

/** @type {Record<string, string>} */
export const LEARNER_NAMES = {
  perceptron: "Perceptron",
  averaged: "Averaged perceptron",
  voted: "Voted perceptron",
  pocket: "Pocket",
  restart: "Restart after each update",
  circle: "Lifted (circle)",
  kernel: "Kernel perceptron",
};

/** @type {Record<string, string>} */
export const ORDER_NAMES = {
  fixed: "as listed",
  once: "shuffled once",
  each: "shuffled each pass",
  pick: "I pick the next point",
};

/**
 * Return a number for people: up to four digits that count.
 * @param {number} value
 */
export function number(value) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "?";
  const size = Math.abs(value);
  if (size >= 1e7 || (size > 0 && size < 1e-3)) return minus(value.toExponential(2));
  const text = size >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(4)));
  return minus(text);
}

/**
 * Return a number to its last digit.
 * @param {number} value
 */
export function exact(value) {
  return minus(String(value));
}

/** @param {string} text */
function minus(text) {
  return text.replaceAll("-", "−");
}

/**
 * Return a vector for people.
 * @param {number[]} values
 * @param {(value: number) => string} [write]
 */
export function vector(values, write = number) {
  return `(${values.map(write).join(", ")})`;
}

/**
 * Return a number of things.
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/**
 * Return what a label looks like.
 * @param {number} sign
 */
export function classWords(sign) {
  return sign > 0 ? "blue disc" : "orange triangle";
}

/**
 * Return the most mistakes that a bound allows; a bound on an integer is rounded down, but not by its own rounding.
 * @param {number} bound
 */
export function mostMistakes(bound) {
  return Math.floor(bound * (1 + 1e-9));
}

/**
 * Return what just happened, with the numbers; it is what a screen reader says, too.
 * @param {Scene} scene
 */
export function sentence({ replay, run, moment, waiting, state }) {
  if (waiting || !replay || !run || !moment) return waiting;
  if (moment.t === 0) return startWords(run.kind === "linear", state.bias);
  const by = ["averaged", "voted", "pocket"].includes(state.learner) ? " by the last weights" : "";
  const words = moment.mistake ? mistakeWords(moment, replay.bias, run.kind, by) : rightWords(moment, by);
  return moment.t === replay.visits ? `${words} ${endWords(counted(moment.k, "update"), run.ended, run.converged, state.order === "pick")}` : words;
}

/** @param {boolean} linear @param {boolean} bias */
function startWords(linear, bias) {
  if (!linear) return "Start: no point counts yet, so every activation is 0, and the first point is a mistake.";
  return `Start: w = 0${bias ? ", b = 0" : ""}. An activation of 0 is a mistake, so the first point makes an update.`;
}

/** @param {Moment} moment @param {boolean} bias @param {string} kind @param {string} by */
function mistakeWords(moment, bias, kind, by) {
  const a = moment.activation > 0 ? "y·a" : `y·a = ${number(moment.activation)}`; // the library decides exactly
  const what = `Point ${moment.number + 1}, ${classWords(moment.sign)}: ${a} ≤ 0${by}, a mistake.`;
  if (kind === "kernel") return `${what} It joins the sum: its bump is added, ${moment.sign > 0 ? "upwards" : "downwards"}.`;
  const sign = moment.sign > 0 ? "+" : "−";
  const moved = `w ← ${vector(moment.before.w)} ${sign} ${vector(moment.x)} = ${vector(moment.w)}`;
  const shifted = bias ? `, b ← ${number(moment.before.b)} ${sign} 1 = ${number(moment.b)}` : "";
  return `${what} ${moved}${shifted}.`;
}

/** @param {Moment} moment @param {string} by */
function rightWords(moment, by) {
  const a = moment.activation > 0 ? `y·a = ${number(moment.activation)}` : "y·a";
  return `Point ${moment.number + 1}, ${classWords(moment.sign)}: ${a} > 0${by}, right; nothing changes.`;
}

/** @param {string} updates @param {string} ended @param {boolean} converged @param {boolean} picked */
function endWords(updates, ended, converged, picked) {
  if (converged) return `Done: ${ended}, after ${updates}.`;
  return picked ? "Pick the next point." : `Stopped at ${ended}, before a pass without a mistake.`;
}

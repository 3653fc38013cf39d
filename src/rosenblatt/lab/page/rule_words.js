/** Sentences about learners that also update where a point is right by too little. */

import { classWords, number, vector } from "./words.js";

/** @import { Moment, Rule } from "./types.d.ts" */

/** Return what is so before the first visit. @param {Rule} rule @param {boolean} bias */
export function startOfRule({ kind, threshold }, bias) {
  const zero = `Start: w = 0${bias ? ", b = 0" : ""}${kind === "arow" ? ", and every variance is 1" : ""}.`;
  return `${zero} A mistake makes an update, and so does a point that is right, but by ${little(kind, threshold)}.`;
}

/** Return how little is too little. @param {Rule["kind"]} kind @param {number} threshold */
function little(kind, threshold) {
  return kind === "margin" ? `no more than ${number(threshold)}` : "less than 1";
}

/**
 * Return what a visit did, and why.
 * @param {Rule} rule
 * @param {Moment} moment after the visit
 * @param {boolean} bias
 */
export function ruleWords(rule, moment, bias) {
  const what = `Point ${moment.number + 1}, ${classWords(moment.sign)}: ${sideWords(rule, moment)}`;
  if (moment.updated) return `${what}. ${updateWords(rule, moment, bias)}.`;
  return moment.mistake ? `${what}, but x = 0 says nothing about w; nothing changes.` : `${what}; nothing changes.`;
}

/** @param {Rule} rule @param {Moment} moment */
function sideWords({ kind, threshold }, { activation, mistake, updated }) {
  const value = number(activation);
  const a = `y·a = ${value}`;
  if (mistake) return `${activation > 0 ? "y·a" : a} ≤ 0, a mistake`; // the library decides exactly
  const enough = kind === "margin" ? ">" : "≥";
  if (!updated) return `${activation > threshold && value !== number(threshold) ? a : "y·a"} ${enough} ${number(threshold)}, right by enough`;
  const told = activation > 0 && value !== number(threshold);
  return `${told ? a : `0 < y·a ${kind === "margin" ? "≤" : "<"} ${number(threshold)}`}, right, but by ${little(kind, threshold)}`;
}

/** @param {Rule} rule @param {Moment} moment @param {boolean} bias */
function updateWords(rule, { sign, step, x, w, b, before, varianceBefore }, bias) {
  const plus = sign > 0 ? "+" : "−";
  const times = rule.kind === "margin" ? "" : number(step);
  const along = varianceBefore ? `(${x.map((value, i) => product(varianceBefore.w[i], value)).join(", ")})` : vector(x);
  const one = varianceBefore ? ` · ${number(varianceBefore.b)}` : "";
  const moved = `w ← ${vector(before.w)} ${plus} ${times ? `${times} ` : ""}${along} = ${vector(w)}`;
  const shifted = bias ? `, b ← ${number(before.b)} ${plus} ${times || "1"}${one} = ${number(b)}` : "";
  return `${stepWords(rule, step)}${moved}${shifted}`;
}

/** @param {number} variance @param {number} x */
function product(variance, x) {
  return `${number(variance)} · ${x < 0 ? `(${number(x)})` : number(x)}`;
}

/** Return how long a step is, and why. @param {Rule} rule @param {number} step */
function stepWords({ kind, loss, C }, step) {
  if (kind === "margin") return "";
  if (loss === "hinge" && step === C) return `Step C = ${number(step)}: `;
  const over = kind === "arow" ? "(v + r)" : loss === "squared_hinge" ? "(‖x‖² + 1/2C)" : "‖x‖²";
  return `Step (1 − y·a) / ${over} = ${number(step)}: `;
}

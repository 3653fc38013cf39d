/** The algorithms of the texts as lists of lines, with what each line did at a visit. */

import { labelWords, number, vector } from "../words.js";

/** @import { Moment, Run, State } from "../types.d.ts" */
/**
 * @typedef {object} Line
 * @property {number} depth
 * @property {string} text as `formula` reads it
 * @property {"" | "start" | "visit" | "update" | "after" | "end"} when it runs
 * @property {(moment: Moment, run: Run) => string} [tells] what it did
 */

/** @param {number} depth @param {string} text @param {Line["when"]} [when] @param {Line["tells"]} [tells] @returns {Line} */
const line = (depth, text, when = "", tells) => ({ depth, text, when, tells });

const plus = (/** @type {Moment} */ { sign }) => (sign > 0 ? "+" : "−");
const step = (/** @type {Moment} */ { step }) => (step === 1 ? "" : `${number(step)} · `);
const seen = (/** @type {Moment} */ m) => `point ${m.number + 1}: x = ${vector(m.x)}, y = ${labelWords(m.sign)}`;
const active = (/** @type {Moment} */ m) => `= ${number(m.sign * m.activation)}`;
const moved = (/** @type {Moment} */ m) =>
  m.variance ? `= ${vector(m.w)}` : `= ${vector(m.before.w)} ${plus(m)} ${step(m)}${vector(m.x)} = ${vector(m.w)}`;
const shifted = (/** @type {Moment} */ m) =>
  m.variance ? `= ${number(m.b)}` : `= ${number(m.before.b)} ${plus(m)} ${number(m.step)} = ${number(m.b)}`;

/** What makes an update, and by how much, for learners that are not content with a point that is right by a little. */
const RULES = {
  margin: { title: "Margin perceptron", test: "y a ≤ margin", step: "" },
  pa: { title: "Passive-aggressive", test: "y a < 1", step: "τ " },
  arow: { title: "AROW", test: "y a < 1", step: "τ Σ " },
};
const SIZES = {
  hinge: "τ ← min(C, (1 − y a) / ‖**x**‖^2)",
  squared_hinge: "τ ← (1 − y a) / (‖**x**‖^2 + 1/2C)",
  plain: "τ ← (1 − y a) / ‖**x**‖^2",
};

/** Return the algorithm of a state's learner. @param {State} state @returns {{title: string, source: string, lines: Line[]}} */
export function programOf(state) {
  const { learner, bias } = state;
  if (learner === "restart") return restart(bias);
  if (learner === "kernel") return kernel();
  if (learner === "circle" || (learner === "perceptron" && !bias)) return figure(learner === "circle", bias);
  const averaged = learner === "averaged";
  const rule = RULES[/** @type {keyof typeof RULES} */ (learner)];
  const test = (/** @type {Moment} */ m) => {
    const value = m.activation > 0 === m.mistake ? "" : `= ${number(m.activation)}: `; // exactly, it was on the other side
    return `${value}${m.updated ? (m.mistake ? "a mistake" : "right, but by too little") : "right, nothing changes"}`;
  };
  const a = bias ? "a ← **w** · **x** + b" : "a ← **w** · **x**";
  const sized = learner === "pa" ? SIZES[state.loss] : "τ ← (1 − y a) / (**x** · Σ **x** + r)";
  const grow = `**w** ← **w** + ${rule ? rule.step : ""}y **x**`;
  const lines = [
    line(0, `**w** ← 0${bias ? ", b ← 0" : ""}`, "start"),
    ...(averaged ? [line(0, `**u** ← 0${bias ? ", β ← 0" : ""}, c ← 1`, "start")] : []),
    ...(state.order === "pick" ? [] : [line(0, "for iter = 1 … MaxIter do", "visit", (m) => `pass ${m.pass}`)]),
    line(1, state.order === "pick" ? "for the (**x**, y) that you pick do" : "for all (**x**, y) ∈ **D** do", "visit", seen),
    line(2, a, "visit", active),
    line(2, `if ${rule ? rule.test : "y a ≤ 0"} then`, "visit", test),
    ...(rule && learner !== "margin" ? [line(3, sized, "update", (m) => `= ${number(m.step)}`)] : []),
    line(3, grow, "update", moved),
    ...(bias ? [line(3, `b ← b + ${learner === "margin" || !rule ? "" : "τ "}y`, "update", shifted)] : []),
    ...(learner === "arow" ? [line(3, "Σ shrinks along **x**", "update", (m) => `= ${vector(m.variance?.w ?? [])}`)] : []),
    ...(averaged ? [line(3, `**u** ← **u** + y c **x**${bias ? ", β ← β + y c" : ""}`, "update")] : []),
    ...(averaged ? [line(2, "c ← c + 1", "after", (m) => `= ${m.t + 1}`)] : []),
    ...(learner === "voted" ? [line(2, "this **w** survives: its count c grows by 1", "after", (m) => `= ${m.survived}`)] : []),
    ...(learner === "pocket" ? [line(1, "keep **w** if it has the fewest mistakes of all passes")] : []),
    line(0, returned(learner, bias), "end", (m, { predicting }) => {
      const { w, b } = predicting ?? m;
      return `= ${vector(w)}${bias ? `, ${number(b)}` : ""}`;
    }),
  ];
  return { ...titleOf(learner, rule?.title), lines };
}

/** @param {string} learner @param {boolean} bias */
function returned(learner, bias) {
  if (learner === "averaged") return `return **w** − **u**/c${bias ? ", b − β/c" : ""}`;
  if (learner === "voted") return "return all **w** with their counts: the sign of each votes c times";
  return learner === "pocket" ? "return the **w** that was kept" : `return **w**${bias ? ", b" : ""}`;
}

/** @param {string} learner @param {string | undefined} rule */
function titleOf(learner, rule) {
  if (rule) return { title: rule, source: "As algorithm 5 of A Course in Machine Learning, but for what makes an update, and how large it is." };
  if (learner === "averaged") return { title: "Algorithm 7: AveragedPerceptronTrain(D, MaxIter)", source: "A Course in Machine Learning, 4.6." };
  if (learner === "voted" || learner === "pocket") {
    return { title: learner === "voted" ? "Voted perceptron" : "Pocket", source: "It trains as algorithm 5 of A Course in Machine Learning, and differs in what it keeps." };
  }
  return { title: "Algorithm 5: PerceptronTrain(D, MaxIter)", source: "A Course in Machine Learning, 4.2." };
}

/** @param {boolean} lifted @param {boolean} bias @returns {{title: string, source: string, lines: Line[]}} */
function figure(lifted, bias) {
  const where = lifted ? "30.2, where x = (x₁, x₂, x₁² + x₂²) and a plane cuts out a circle" : "30.1: the line passes through the origin";
  return {
    title: lifted ? "Figure 30.2: the perceptron, on lifted points" : "Figure 30.2: the perceptron algorithm",
    source: `Har-Peled, ${where}${bias ? "; a last coordinate that is always 1 has the weight b" : ""}.`,
    lines: [
      line(0, "**w** ← 0, k ← 0", "start"),
      line(0, "repeat", "visit", (m) => `pass ${m.pass}`),
      line(1, "for (**x**, y) ∈ S do", "visit", seen),
      line(2, "if sign(⟨**w**, **x**⟩) ≠ y then", "visit", (m) => `sign of ${number(m.sign * m.activation)}: ${m.updated ? "a mistake" : "right"}`),
      line(3, "**w** ← **w** + y ∗ **x**", "update", (m) => `${moved(m)}${bias ? `, b = ${number(m.b)}` : ""}`),
      line(3, "k ← k + 1", "update", (m) => `= ${m.k}`),
      line(0, "until no mistakes are made in the classification", "end"),
      line(0, "return **w** and k", "end", (m) => `= ${vector(m.w)}${bias ? `, b = ${number(m.b)}` : ""}, ${m.k}`),
    ],
  };
}

/** @param {boolean} bias @returns {{title: string, source: string, lines: Line[]}} */
function restart(bias) {
  return {
    title: "Algorithm 1: basic perceptron algorithm",
    source: `Parametric learning and perceptrons${bias ? "; each x has a further feature that is always 1, whose weight is b" : ""}.`,
    lines: [
      line(0, "**w** ← 0, misclassifiedPoint ← True, k ← 0", "start"),
      line(0, "while misclassifiedPoint and k < K do", "visit", (m) => `k = ${m.k}`),
      line(1, "misclassifiedPoint ← False"),
      line(1, "for i = 0 to n − 1 do", "visit", seen),
      line(2, "if y_i (**w** · **x**_i) ≤ 0 then", "visit", (m) => `= ${number(m.activation)}: ${m.updated ? "a mistake" : "right"}`),
      line(3, "misclassifiedPoint ← True", "update"),
      line(3, "**w** ← **w** + y_i **x**_i", "update", moved),
      line(3, "k ← k + 1, break", "update", (m) => `= ${m.k}, from the first point again`),
      line(0, "return **w**", "end", (m) => `= ${vector(m.w)}`),
    ],
  };
}

/** @returns {{title: string, source: string, lines: Line[]}} */
function kernel() {
  return {
    title: "Kernel perceptron",
    source: "Algorithm 5 of A Course in Machine Learning, with w written as a sum over its mistakes; c counts those of each point.",
    lines: [
      line(0, "c_i ← 0 for all i", "start"),
      line(0, "for iter = 1 … MaxIter do", "visit", (m) => `pass ${m.pass}`),
      line(1, "for all (**x**, y) ∈ **D** do", "visit", seen),
      line(2, "a ← Σ c_i y_i K(**x**_i, **x**)", "visit", active),
      line(2, "if y a ≤ 0 then", "visit", (m) => (m.updated ? "a mistake" : "right, nothing changes")),
      line(3, "c_j ← c_j + 1, for this point j", "update"),
      line(0, "return c", "end"),
    ],
  };
}

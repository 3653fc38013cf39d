/** What just happened, in a sentence with the numbers; a screen reader says it, too. */

import { ruleWords, startOfRule } from "./rule_words.js";
import { classWords, counted, number, vector } from "./words.js";

/** @import { Moment, Run, Scene } from "./types.d.ts" */

/** Return what just happened. @param {Scene} scene */
export function sentence({ replay, run, moment, waiting, state }) {
  if (waiting || !replay || !run || !moment) return waiting;
  const { rule } = run;
  if (moment.t === 0) return rule ? startOfRule(rule, replay.bias) : startWords(run.kind === "linear", state.bias);
  const by = ["averaged", "voted", "pocket"].includes(state.learner) ? " by the last weights" : "";
  const plain = () => (moment.mistake ? mistakeWords(moment, replay.bias, run.kind, by) : rightWords(moment, by));
  const words = rule ? ruleWords(rule, moment, replay.bias) : plain();
  return moment.t === replay.visits ? `${words} ${endWords(run, moment.k, state.order === "pick")}` : words;
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

/** @param {Run} run @param {number} k @param {boolean} picked */
function endWords({ ended, converged, rule }, k, picked) {
  if (converged) return `Done: ${ended}, after ${counted(k, "update")}.`;
  return picked ? "Pick the next point." : `Stopped at ${ended}, before a pass without ${rule ? "an update" : "a mistake"}.`;
}

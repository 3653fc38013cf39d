/** Mistakes against the bound, and its proof as a squeeze. */

import { button, make, setFormula, setText, vectors } from "../dom.js";
import { formula } from "../formulas.js";
import { FEATURE_NAMES, counted, mostMistakes, number } from "../words.js";
import { pictureCanvas, show, watcher } from "./chart.js";
import { atMost, chain, squeezeOf } from "./squeeze.js";
import { drawSqueeze } from "./squeeze_picture.js";

/** @import { App, Moment, Panel, Rule, Run, View } from "../types.d.ts" */
/** @import { Squeeze } from "./squeeze.js" */

const ABOUT =
  "After k mistakes kγ ≤ **w**·**u** ≤ ‖**w**‖ ≤ √k R, with R the longest point and γ the widest margin, reached by " +
  "**u**. So there are at most R²/γ² of them (A Course in Machine Learning, 4.5; Har-Peled, theorem 30.1.1).";

/** @type {Panel} */
export const bound = { id: "bound", title: "Bound", about: ABOUT, create };

/** @param {HTMLElement} root @param {App} app @returns {View} */
function create(root, app) {
  /** @type {boolean | null} Whether the axis ends at the bound; null: where it is not far away. */
  let whole = null;
  const changed = watcher();
  const headline = make("p", { className: "headline", id: "bound-headline" });
  const why = make("p", { id: "bound-why" });
  const canvas = pictureCanvas();
  const links = make("p", { className: "chain", id: "bound-chain" });
  const words = make("dl", { className: "figures" });
  const far = button("Up to the bound", () => {
    whole = far.getAttribute("aria-pressed") !== "true";
    app.refresh();
  }, { "aria-pressed": "false" });
  const note = make("p", { className: "note" });
  const details = make("details", {}, make("summary", {}, "What R and γ are, and why it holds"), words, note);
  const body = make("div", {}, why, canvas, far, links, details);
  root.append(headline, body);

  return {
    update({ replay, run, moment, waiting }) {
      if (!changed(root, [replay, moment?.k, moment?.mistakes, whole, waiting])) return;
      body.hidden = !replay;
      if (!replay || !run || !moment) return setText(headline, waiting || "No run yet.");
      const squeeze = squeezeOf(replay);
      const limit = squeeze.bound;
      const near = limit !== null && limit <= 8 * Math.max(squeeze.K, 1);
      const toBound = limit !== null && (whole ?? near) && limit < 1e6;
      setText(headline, headlineOf(squeeze, moment, run.rule));
      setText(why, run.theory.bound.why);
      why.hidden = !why.textContent;
      const known = chain(squeeze, moment.k);
      links.hidden = known.length < 2;
      showChain(links, known);
      showWords(words, wordsOf(run, replay.bias, squeeze));
      setFormula(note, noteOf(squeeze, run.rule));
      far.hidden = limit === null || limit >= 1e6;
      far.setAttribute("aria-pressed", String(toBound));
      const label = `The squeeze over ${counted(squeeze.K, "update")}, now after ${moment.k}.`;
      show(canvas, label, (picture) => {
        drawSqueeze(picture, squeeze, moment.k, Math.max(1, squeeze.K, toBound ? 1.04 * Number(limit) : 0));
      });
    },
  };
}

/** @param {Squeeze} squeeze @param {Moment} moment @param {Rule | null} rule */
function headlineOf({ bound }, { k, mistakes: wrong }, rule) {
  const mistakes = rule ? `${counted(k, "update")} (${counted(wrong, "mistake")})` : counted(k, "mistake");
  if (bound === null) return `${mistakes}, and no finite bound`;
  const most = mostMistakes(bound);
  return `${mistakes} of at most ${most < 1e15 ? most.toLocaleString("en") : number(most)}`;
}

/** @param {Squeeze} squeeze @param {Rule | null} rule */
function noteOf({ gamma, along, most }, rule) {
  if (most === null && !along) return "‖w‖ after each update: nothing is proved about it.";
  if (most === null) return "What is left of the proof: w·u, the part of w along the best direction, is at most ‖w‖.";
  if (rule && gamma === null) return "The upper half of the proof still holds: an update adds at most Q² to ‖w‖².";
  if (gamma === null) return "The upper half of the proof still holds: a mistake adds at most R² to ‖w‖².";
  const least = `Each ${rule ? "update" : "mistake"} adds at least γ to ${along ? "w·u" : "w along the best direction"}`;
  const reason = "since y x·u ≥ γ for every point: that is what a margin of γ means";
  if (rule) {
    const upper = `and at most Q² to ‖w‖², since y w·x ≤ ${number(rule.threshold)}`;
    return `${least}, ${reason}; ${upper}. The room between closes at k = Q²/γ²: no more updates fit.`;
  }
  return `${least}, ${reason}; and at most R² to ‖w‖², since y w·x ≤ 0. The room between closes at k = R²/γ²: no more mistakes fit.`;
}

/**
 * Return where R and γ come from.
 * @param {Run} run @param {boolean} bias @param {Squeeze} squeeze @returns {[string, string][]}
 */
function wordsOf(run, bias, { R, gamma, longest, most, root }) {
  const kernel = run.kind === "kernel";
  const seen = [...run.names.map((name) => FEATURE_NAMES[name] ?? name), ...(bias ? ["1"] : [])].join(", ");
  const far = `the longest point as the learner sees it, (${seen}): point ${run.rows[longest] + 1}`;
  const other = bias ? ". The Verdict panel shows the geometric margin instead" : "";
  const wide = `the largest margin of any unit vector u on the points (${seen})${other}`;
  /** @type {[string, string][]} */
  const out = [[`R = ${number(R)}`, kernel ? "the longest point in the kernel's space: the largest √K(x, x)" : far]];
  const reached = "a margin in that space, which the run has reached";
  if (root === "Q" && most !== null) {
    const why = "√(R² + 2 · margin): an update of a point that is right by up to the margin adds twice that to ‖w‖², besides ‖x‖²";
    out.push([`Q = ${number(most)}`, why]);
  }
  if (gamma !== null) out.push([`γ = ${number(gamma)}`, kernel ? reached : wide]);
  return out;
}

/** @param {HTMLElement} root @param {[string, string][]} rows */
function showWords(root, rows) {
  const text = rows.flat().join();
  if (root.dataset.text === text) return;
  root.dataset.text = text;
  root.replaceChildren(...rows.flatMap(([term, meaning]) => [make("dt", {}, term), make("dd", {}, ...vectors(meaning))]));
}

/** @param {HTMLElement} root @param {{name: string, value: number}[]} links */
function showChain(root, links) {
  const parts = [];
  let holds = true;
  for (const [i, { name, value }] of links.entries()) {
    const fits = !i || atMost(links[i - 1].value, value);
    holds &&= fits;
    if (i) parts.push(make("span", { className: "sign" }, fits ? "≤" : ">"));
    parts.push(make("span", { className: "link" }, make("b", {}, number(value)), make("span", {}, ...formula(name))));
  }
  parts.push(make("span", { className: "holds" }, holds ? "holds" : "does not hold"));
  root.replaceChildren(...parts.flatMap((part) => [part, " "]));
}

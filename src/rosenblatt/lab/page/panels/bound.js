/** Mistakes against the bound, and its proof as a squeeze. */

import { make, setText } from "../dom.js";
import { colors } from "../theme.js";
import { FEATURE_NAMES, counted, number } from "../words.js";
import { Chart, pictureCanvas, show, spread, watcher } from "./chart.js";
import { atMost, chain, squeezeOf } from "./squeeze.js";

/** @typedef {import("../types.d.ts").Scene} Scene */
/** @typedef {import("../types.d.ts").Run} Run */
/** @typedef {import("../app.js").App} App */
/** @typedef {import("./squeeze.js").Squeeze} Squeeze */
/** @typedef {[number, number]} XY */

/** So many points are drawn of a curve at most. */
const FINE = 240;

/** @type {import("../types.d.ts").Panel} */
export const bound = { id: "bound", title: "Bound", create };

/** @param {HTMLElement} root @param {App} app @returns {import("../types.d.ts").View} */
function create(root, app) {
  let cosine = false;
  /** @type {boolean | null} Whether the axis ends at the bound; null: where it is not far away. */
  let whole = null;
  const changed = watcher();
  const headline = make("p", { className: "headline", id: "bound-headline" });
  const why = make("p", { id: "bound-why" });
  const canvas = pictureCanvas();
  const links = make("p", { className: "chain", id: "bound-chain" });
  const words = make("dl", { className: "figures" });
  /** @param {string} text @param {() => void} press */
  const button = (text, press) => {
    const made = make("button", { type: "button", "aria-pressed": "false" }, text);
    made.addEventListener("click", () => (press(), app.refresh()));
    return made;
  };
  /** @param {"radius" | "strip"} name */
  const toggle = (name) => {
    const { show } = app.state;
    app.change({ show: show.includes(name) ? show.filter((shown) => shown !== name) : [...show, name] });
  };
  const angle = button("Cosine", () => (cosine = !cosine));
  const far = button("Up to the bound", () => (whole = far.getAttribute("aria-pressed") !== "true"));
  const radius = button("Show R", () => toggle("radius"));
  const strip = button("Show γ", () => toggle("strip"));
  const note = make("p", { className: "note" });
  const body = make("div", {}, why, canvas, links, words, make("div", { className: "row" }, radius, strip, far, angle), note);
  root.append(headline, body);

  return {
    update({ replay, run, moment, waiting, state }) {
      if (!changed(root, [replay, moment?.k, cosine, whole, state.show, waiting])) return;
      body.hidden = !replay;
      if (!replay || !run || !moment) return setText(headline, waiting || "No run yet.");
      const squeeze = squeezeOf(replay);
      const limit = squeeze.bound;
      const near = limit !== null && limit <= 8 * Math.max(squeeze.K, 1);
      const toBound = limit !== null && (whole ?? near) && limit < 1e6;
      const angles = cosine && squeeze.cosine !== null;
      setText(headline, headlineOf(squeeze, moment.k));
      setText(why, run.theory.bound.why);
      why.hidden = !why.textContent;
      showChain(links, chain(squeeze, moment.k));
      showWords(words, wordsOf(run, replay.bias, squeeze));
      setText(note, angles ? COSINE_NOTE : noteOf(squeeze));
      angle.hidden = !squeeze.cosine;
      far.hidden = limit === null || limit >= 1e6 || angles;
      radius.hidden = strip.hidden = run.kind === "kernel";
      strip.hidden ||= squeeze.gamma === null;
      for (const [element, pressed] of /** @type {[HTMLElement, boolean][]} */ ([
        [angle, angles], [far, toBound], [radius, state.show.includes("radius")], [strip, state.show.includes("strip")],
      ])) element.setAttribute("aria-pressed", String(pressed));
      const label = `${angles ? "The cosine" : "The squeeze"} over ${counted(squeeze.K, "update")}, now after ${moment.k}.`;
      show(canvas, label, (picture) => {
        if (angles) drawCosine(picture, squeeze, moment.k);
        else drawSqueeze(picture, squeeze, moment.k, Math.max(1, squeeze.K, toBound ? 1.04 * Number(limit) : 0));
      });
    },
  };
}

const COSINE_NOTE =
  "The proof lifts only the floor √k γ/R. The cosine itself may fall at an update, but never below the floor.";

/** @param {Squeeze} squeeze @param {number} k */
function headlineOf({ bound }, k) {
  const mistakes = counted(k, "mistake");
  if (bound === null) return `${mistakes}, and no finite bound`;
  const most = Math.floor(bound + 1e-9 * bound);
  return `${mistakes} of at most ${most < 1e15 ? most.toLocaleString("en") : number(most)}`;
}

/** @param {Squeeze} squeeze */
function noteOf({ gamma, along }) {
  if (gamma === null) return "The upper half of the proof still holds: a mistake adds at most R² to ‖w‖².";
  const first = along ? "Each mistake adds at least γ to w·u" : "Each mistake adds at least γ to the length along the best direction";
  return `${first}, and at most R² to ‖w‖². The room between closes at k = R²/γ²: no more mistakes fit.`;
}

/**
 * Return where R and γ come from.
 * @param {Run} run @param {boolean} bias @param {Squeeze} squeeze @returns {[string, string][]}
 */
function wordsOf(run, bias, { R, gamma, longest }) {
  const kernel = run.kind === "kernel";
  const seen = [...run.names.map((name) => FEATURE_NAMES[name] ?? name), ...(bias ? ["1"] : [])].join(", ");
  const far = `the longest point as the learner sees it, (${seen}): point ${run.rows[longest] + 1}`;
  const wide = `the widest margin in that space, reached by u, which has length 1${bias ? "; w counts b as its last weight" : ""}`;
  /** @type {[string, string][]} */
  const out = [[`R = ${number(R)}`, kernel ? "the longest point in the kernel's space: the largest √K(x, x)" : far]];
  if (gamma !== null) out.push([`γ = ${number(gamma)}`, kernel ? "a margin in that space, which the run has reached" : wide]);
  return out;
}

/** @param {HTMLElement} root @param {[string, string][]} rows */
function showWords(root, rows) {
  const text = rows.flat().join();
  if (root.dataset.text === text) return;
  root.dataset.text = text;
  root.replaceChildren(...rows.flatMap(([term, meaning]) => [make("dt", {}, term), make("dd", {}, meaning)]));
}

/** @param {HTMLElement} root @param {{name: string, value: number}[]} links */
function showChain(root, links) {
  const parts = [];
  let holds = true;
  for (const [i, { name, value }] of links.entries()) {
    const fits = !i || atMost(links[i - 1].value, value);
    holds &&= fits;
    if (i) parts.push(make("span", { className: "sign" }, fits ? "≤" : ">"));
    parts.push(make("span", { className: "link" }, make("b", {}, number(value)), make("span", {}, name)));
  }
  parts.push(make("span", { className: "holds" }, holds ? "holds" : "does not hold"));
  root.replaceChildren(...parts.flatMap((part) => [part, " "]));
}

/** @param {number} end @param {(k: number) => number} height @returns {XY[]} */
function sampled(end, height) {
  return Array.from({ length: FINE + 1 }, (_, i) => end * (i / FINE) ** 2).map((k) => [k, height(k)]);
}

/** @param {number[]} values @returns {XY[]} */
function stepped(values) {
  const every = Math.ceil(values.length / 600);
  return /** @type {XY[]} */ (values.map((value, k) => [k, value])).filter(([k]) => k % every === 0 || k === values.length - 1);
}

/** @param {import("../picture.js").Picture} picture @param {Squeeze} squeeze @param {number} k @param {number} end */
function drawSqueeze(picture, { R, gamma, length, along, bound }, k, end) {
  const { ink, quiet, faint } = colors();
  const top = 1.05 * Math.max(Math.sqrt(end) * R, gamma === null ? 0 : end * gamma, 1e-9);
  const room = { left: 48, top: 8, right: picture.width - 52, bottom: picture.height - 40 };
  const chart = new Chart(picture, room, [0, end], [0, top]);
  const upper = sampled(end, (at) => Math.sqrt(at) * R);
  if (gamma !== null) {
    const closes = Math.min(end, bound ?? end);
    const rim = [...sampled(closes, (at) => Math.sqrt(at) * R), ...sampled(closes, (at) => at * gamma).reverse()];
    picture.path(rim.map(([x, y]) => [chart.x(x), chart.y(y)]), { fill: faint, alpha: 0.5 }, true);
  }
  chart.axes({ title: "updates k" });
  if (bound !== null && bound <= end) {
    const x = chart.x(bound);
    picture.line(x, room.top, x, room.bottom, { stroke: quiet, dash: [2, 3] });
    picture.text(x - 6, room.bottom - 8, "bound", { anchor: "right" });
  }
  /** @type {[string, number][]} */
  const ends = [["√k R", Math.sqrt(end) * R]];
  chart.curve(upper, { stroke: quiet, width: 1.5, dash: [6, 4] });
  if (gamma !== null) {
    chart.curve([[0, 0], [end, end * gamma]], { stroke: quiet, width: 1.5, dash: [2, 3] });
    ends.push(["kγ", end * gamma]);
  }
  if (along) chart.curve(stepped(along), { stroke: ink, width: 1 });
  chart.curve(stepped(length), { stroke: ink, width: 2 });
  const last = length.length - 1;
  if (last === end) {
    ends.push(["‖w‖", length[last]]);
    if (along) ends.push(["w·u", along[last]]);
  } else nameWithin(chart, last, length, along);
  const places = spread(ends.map(([, value]) => chart.y(value) + 4), 15, room.top + 8, room.bottom + 4);
  ends.forEach(([name], i) => picture.text(room.right + 6, places[i], name, { fill: name.includes("w") ? ink : quiet }));
  markNow(chart, k, [Math.sqrt(k) * R, length[k], ...(along ? [along[k]] : []), ...(gamma === null ? [] : [k * gamma])]);
}

/** Name the curves of w where they end, within the chart. @param {Chart} chart @param {number} last @param {number[]} length @param {number[] | null} along */
function nameWithin(chart, last, length, along) {
  const { ink } = colors();
  const wanted = [length[last], ...(along ? [along[last]] : [])].map((value) => chart.y(value) + 4);
  const places = spread(wanted, 15, chart.room.top + 8, chart.room.bottom - 4);
  ["‖w‖", "w·u"].slice(0, places.length).forEach((name, i) => {
    chart.picture.text(chart.x(last) + 6, places[i], name, { fill: ink });
  });
}

/** @param {import("../picture.js").Picture} picture @param {Squeeze} squeeze @param {number} k */
function drawCosine(picture, { K, R, gamma, cosine }, k) {
  if (!cosine || gamma === null) return;
  const { ink, quiet } = colors();
  const end = Math.max(1, K);
  const room = { left: 48, top: 12, right: picture.width - 64, bottom: picture.height - 40 };
  const low = Math.min(0, ...cosine);
  const chart = new Chart(picture, room, [0, end], [low, 1]);
  /** @param {number} at */
  const floor = (at) => (Math.sqrt(at) * gamma) / R;
  chart.axes({ title: "updates k", count: 4 });
  chart.curve(sampled(end, floor), { stroke: quiet, width: 1.5, dash: [2, 3] });
  chart.curve(stepped(cosine).slice(1), { stroke: ink, width: 2 });
  const places = spread([cosine[K], floor(end)].map((value) => chart.y(value) + 4), 15, room.top, room.bottom);
  picture.text(room.right + 6, places[0], "cosine", { fill: ink });
  picture.text(room.right + 6, places[1], "√k γ/R");
  markNow(chart, k, k ? [cosine[k], floor(k)] : []);
}

/** @param {Chart} chart @param {number} k @param {number[]} values */
function markNow(chart, k, values) {
  chart.now(k);
  const { accent, surface } = colors();
  for (const value of values) chart.picture.circle(chart.x(k), chart.y(value), 3.5, { fill: accent, stroke: surface });
}

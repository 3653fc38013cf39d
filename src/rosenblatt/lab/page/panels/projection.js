/** The training points projected on w, and the bias as a shift of the threshold (CIML, Figures 4.7 and 4.8). */

import { button, make, setFormula, setText } from "../dom.js";
import { colors } from "../theme.js";
import { counted, number } from "../words.js";
import { Chart, pictureCanvas, show, watcher } from "./chart.js";
import { levels, stripOf, wrongAt } from "./strip.js";

/** @import { App, Panel, Picture, Run, View } from "../types.d.ts" */
/** @import { Strip } from "./strip.js" */

const ABOUT =
  "Points lie at their places along **w**, and the learner says +1 to the right of the threshold: the bias alone " +
  "moves it (A Course in Machine Learning, 4.3).";

/** @type {Panel} */
export const projection = { id: "projection", title: "Projection", about: ABOUT, create };

/** @param {HTMLElement} root @param {App} app @returns {View} */
function create(root, app) {
  const changed = watcher();
  const headline = make("p", { className: "headline", id: "projection-headline" });
  const canvas = pictureCanvas("strip");
  const slider = make("input", { type: "range", min: "-100", max: "100", value: "0", id: "projection-shift" });
  const back = button("Back to the learned one", () => {
    slider.value = "0";
    slider.focus();
    app.refresh();
  });
  const controls = make("div", { className: "shift" }, make("label", {}, "Shift the threshold", slider), back);
  const note = make("p", { className: "note" });
  root.append(headline, canvas, controls, note);
  slider.addEventListener("input", () => app.refresh());
  /** @type {unknown} */
  let seen = null;

  return {
    update({ replay, run, moment, waiting }) {
      if (replay !== seen) slider.value = "0";
      seen = replay;
      const shift = Number(slider.value) / 100;
      if (!changed(root, [replay, moment?.k, shift, waiting])) return;
      const strip = replay && moment ? stripOf(replay, moment) : null;
      canvas.hidden = controls.hidden = note.hidden = !strip;
      if (!run || !replay || !moment) return setText(headline, waiting || "No run yet.");
      if (!strip) return setFormula(headline, nothing(run.kind, moment.k));
      const threshold = strip.threshold + shift * strip.half;
      const wrong = shift ? wrongAt(strip.places, run.signs, threshold) : strip.wrong;
      const count = `${wrong.filter(Boolean).length} of ${run.rows.length} wrong`;
      setText(headline, `With the ${shift ? "threshold here" : "learned threshold"}: ${count}`);
      back.disabled = !shift;
      slider.setAttribute("aria-valuetext", `threshold at ${number(threshold)}, ${count}`);
      setFormula(note, noteOf(run.kind, replay.bias, strip.threshold));
      const label = `${counted(run.rows.length, "point")} along w; threshold at ${number(threshold)}: ${count}.`;
      show(canvas, label, (picture) => {
        draw(picture, run, strip, wrong, threshold, shift !== 0);
      });
    },
  };
}

/** @param {string} kind @param {number} k */
function nothing(kind, k) {
  if (kind === "kernel") return "No point counts yet: there is nothing to project on until the first update.";
  if (k) return "w is 0 again: there is nothing to project on.";
  return "w = 0: there is nothing to project on until the first update.";
}

/** @param {string} kind @param {boolean} bias @param {number} threshold */
function noteOf(kind, bias, threshold) {
  if (kind === "kernel") return "Each point lies at its activation, and the threshold at 0. Ringed: wrong side.";
  const place = "Each point lies at w·x / ‖w‖, its place along w.";
  const where = bias
    ? `The bias alone shifts the threshold, to −b / ‖w‖ = ${number(threshold)}.`
    : "Without a bias the threshold stays at 0.";
  return `${place} ${where} Ringed: wrong side.`;
}

/**
 * Return the ends of the axis: all points, and the threshold if it is not too far off.
 * @param {Strip} strip @param {number} threshold @returns {[number, number]}
 */
function ends({ middle, half }, threshold) {
  const room = 1.08 * half;
  const low = Math.max(Math.min(middle - room, threshold - 0.1 * half), middle - 2.2 * half);
  return [low, Math.min(Math.max(middle + room, threshold + 0.1 * half), middle + 2.2 * half)];
}

/**
 * @param {Picture} picture @param {Run} run @param {Strip} strip
 * @param {boolean[]} wrong @param {number} threshold @param {boolean} shifted
 */
function draw(picture, run, strip, wrong, threshold, shifted) {
  const { ink, quiet, accent, faint } = colors();
  const { width, height } = picture;
  const axis = Math.round((height - 20) / 2) + 8;
  const room = { left: 12, top: 24, right: width - 12, bottom: height - 20 };
  const chart = new Chart(picture, room, ends(strip, threshold), [0, 1]);
  chart.axes({ count: 0, whole: false });
  picture.line(room.left, axis, room.right, axis, { stroke: faint });
  const xs = strip.places.map((place) => chart.x(place));
  const size = run.rows.length > 120 ? 3.5 : 5;
  for (const sign of [1, -1]) drawClass(picture, run, xs, wrong, sign, { axis, size, reach: axis - room.top - 12 });
  const x = chart.x(threshold);
  if (shifted) {
    const learned = chart.x(strip.threshold);
    picture.line(learned, room.top, learned, room.bottom, { stroke: quiet, dash: [4, 4] });
  }
  if (x < room.left || x > room.right) {
    const left = x < room.left;
    const [from, to] = left ? [room.left + 28, room.left] : [room.right - 28, room.right];
    picture.arrow(from, 12, to, 12, { stroke: accent, width: 2 });
    const text = `threshold at ${number(threshold)}, out of sight`;
    picture.text(left ? from + 8 : from - 8, 16, text, { anchor: left ? "left" : "right", fill: ink });
    return;
  }
  picture.line(x, 20, x, room.bottom, { stroke: accent, width: 2 });
  sides(picture, x, width);
}

/** @param {Picture} picture @param {number} x @param {number} width */
function sides(picture, x, width) {
  if (x > 60) {
    picture.text(x - 28, 16, "←", { anchor: "right" });
    picture.mark(x - 16, 12, -1, 5);
  }
  if (x < width - 60) {
    picture.mark(x + 16, 12, 1, 5);
    picture.text(x + 28, 16, "→");
  }
}

/**
 * Draw the points of a class, stacked away from the axis.
 * @param {Picture} picture @param {Run} run @param {number[]} xs @param {boolean[]} wrong @param {number} sign
 * @param {{axis: number, size: number, reach: number}} how
 */
function drawClass(picture, run, xs, wrong, sign, { axis, size, reach }) {
  const mine = run.signs.map((_, i) => i).filter((i) => run.signs[i] === sign);
  const stacked = levels(mine.map((i) => xs[i]), 2 * size + 1);
  const step = Math.min(2 * size + 4, reach / Math.max(1, ...stacked));
  mine.forEach((i, n) => {
    const y = axis - sign * (size + 6 + stacked[n] * step);
    picture.mark(xs[i], y, sign, size);
    if (wrong[i]) picture.circle(xs[i], y, size + 3, { stroke: colors().ink, width: 1.5 });
  });
}

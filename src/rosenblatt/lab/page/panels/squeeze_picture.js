/** The squeeze, drawn over the updates. */

import { colors } from "../theme.js";
import { Chart, spread } from "./chart.js";
import { chain } from "./squeeze.js";

/** @import { Picture, XY } from "../types.d.ts" */
/** @import { Squeeze } from "./squeeze.js" */

/** A curve by formula has so many parts, and one of a run so many at most. */
const FINE = 240;
const MOST = 600;

/** @param {number} end @param {(k: number) => number} height @returns {XY[]} */
function sampled(end, height) {
  return Array.from({ length: FINE + 1 }, (_, i) => end * (i / FINE) ** 2).map((k) => [k, height(k)]);
}

/** @param {number[]} values @returns {XY[]} */
function stepped(values) {
  const every = Math.ceil(values.length / MOST);
  const last = values.length - 1;
  return /** @type {XY[]} */ (values.map((value, k) => [k, value])).filter(([k]) => k % every === 0 || k === last);
}

/**
 * Draw k γ ≤ w·u ≤ ‖w‖ ≤ √k R over the updates, now after k of them.
 * @param {Picture} picture @param {Squeeze} squeeze @param {number} k
 * @param {number} end of the axis
 */
export function drawSqueeze(picture, squeeze, k, end) {
  const { most, root, least: gamma, length, along, bound } = squeeze;
  const { ink, quiet, faint } = colors();
  const highest = most === null ? Math.max(...length) : Math.sqrt(end) * most;
  const top = 1.05 * Math.max(highest, gamma === null ? 0 : end * gamma, 1e-9);
  const room = { left: 48, top: 8, right: picture.width - 52, bottom: picture.height - 40 };
  const chart = new Chart(picture, room, [0, end], [0, top]);
  const upper = (/** @type {number} */ at) => Math.sqrt(at) * (most ?? 0);
  if (gamma !== null) {
    const closes = Math.min(end, bound ?? end);
    const rim = [...sampled(closes, upper), ...sampled(closes, (at) => at * gamma).reverse()];
    picture.path(rim.map(([x, y]) => [chart.x(x), chart.y(y)]), { fill: faint, alpha: 0.5 }, true);
  }
  chart.axes({ title: "updates k" });
  if (bound !== null && bound <= end) {
    const x = chart.x(bound);
    picture.line(x, room.top, x, room.bottom, { stroke: quiet, dash: [2, 3] });
    picture.text(x - 6, room.bottom - 8, "bound", { anchor: "right" });
  }
  /** @type {[string, number][]} */
  const ends = most === null ? [] : [[`√k ${root}`, upper(end)]];
  if (most !== null) chart.curve(sampled(end, upper), { stroke: quiet, width: 1.5, dash: [6, 4] });
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
  ends.forEach(([name], i) => {
    picture.text(room.right + 6, places[i], name, { fill: name.includes("w") ? ink : quiet, bold: name.includes("w") });
  });
  markNow(chart, k, chain(squeeze, k).map(({ value }) => value));
}

/**
 * Name the curves of w where they end, within the chart.
 * @param {Chart} chart @param {number} last @param {number[]} length @param {number[] | null} along
 */
function nameWithin(chart, last, length, along) {
  const { ink } = colors();
  const wanted = [length[last], ...(along ? [along[last]] : [])].map((value) => chart.y(value) + 4);
  const places = spread(wanted, 15, chart.room.top + 8, chart.room.bottom - 4);
  ["‖w‖", "w·u"].slice(0, places.length).forEach((name, i) => {
    chart.picture.text(chart.x(last) + 6, places[i], name, { fill: ink, bold: true });
  });
}

/** @param {Chart} chart @param {number} k @param {number[]} values */
function markNow(chart, k, values) {
  chart.now(k);
  const { accent, surface } = colors();
  for (const value of values) chart.picture.circle(chart.x(k), chart.y(value), 3.5, { fill: accent, stroke: surface });
}

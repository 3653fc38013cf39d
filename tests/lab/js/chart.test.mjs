import assert from "node:assert/strict";
import { test } from "node:test";

import { Chart, spread, tick } from "../../../src/rosenblatt/lab/page/panels/chart.js";

test("labels that keep apart stay where they are wanted", () => {
  assert.deepEqual(spread([50, 10, 90], 15, 0, 100), [50, 10, 90]);
});

test("labels at one place are spread in their order, within the ends", () => {
  assert.deepEqual(spread([98, 98, 98], 15, 0, 100), [70, 85, 100]);
  assert.deepEqual(spread([-5, -5], 15, 0, 100), [0, 15]);
});

test("a chart's values and pixels belong together", () => {
  const room = { left: 40, top: 10, right: 140, bottom: 110 };
  const chart = new Chart(/** @type {any} */ (null), room, [0, 50], [0, 10]);
  assert.deepEqual([chart.x(25), chart.y(10), chart.y(0)], [90, 10, 110]);
  assert.equal(chart.valueAt(chart.x(12)), 12);
});

test("marks of an axis take little room", () => {
  assert.deepEqual([0.5, -2, 1500, -20000, 1e6].map(tick), ["0.5", "−2", "1,500", "−20K", "1M"]);
});

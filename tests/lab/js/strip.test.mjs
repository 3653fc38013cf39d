import assert from "node:assert/strict";
import { test } from "node:test";

import { levels, stripOf, wrongAt } from "../../../src/rosenblatt/lab/page/panels/strip.js";
import { Replay } from "../../../src/rosenblatt/lab/page/replay.js";
import { added } from "./runs.mjs";

const RUN = added({
  kind: "linear", names: ["x", "y"], rows: [0, 1], signs: [1, -1], features: [[3, 4], [0, 5]], visits: [0, 1],
  updates: [0], passes: [2], w: [3, 4], b: 1,
});
const OPTIONS = { bias: true, kernel: "poly", degree: 1, gamma: 1, coef0: 0 };

test("points lie at their distance along w, and the threshold where the activation is 0", () => {
  const replay = new Replay(RUN, OPTIONS);
  const strip = stripOf(replay, replay.at(1));
  assert.deepEqual(strip.places, [5, 4]);
  assert.equal(strip.threshold, -1 / 5);
  assert.deepEqual(strip.wrong, [false, true]);
});

test("with w = 0 there is nothing to project on", () => {
  const replay = new Replay(RUN, OPTIONS);
  assert.equal(stripOf(replay, replay.at(0)), null);
  const kernel = new Replay({ ...RUN, kind: "kernel" }, OPTIONS);
  assert.equal(stripOf(kernel, kernel.at(0)), null);
});

test("a kernel's points lie at their activations", () => {
  const replay = new Replay({ ...RUN, kind: "kernel" }, OPTIONS);
  const strip = stripOf(replay, replay.at(1));
  assert.deepEqual(strip.places, [25, 20]);
  assert.equal(strip.threshold, 0);
});

test("a point on the threshold is wrong", () => {
  assert.deepEqual(wrongAt([1, 2, 2, 3], [1, 1, -1, 1], 2), [true, true, true, false]);
});

test("marks of one level are a gap apart", () => {
  assert.deepEqual(levels([0, 1, 2, 30, 10], 10), [0, 1, 2, 0, 0]);
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { constraints, solutions, viewOf, weightNames } from "../../../src/rosenblatt/lab/page/panels/cone.js";
import { Replay } from "../../../src/rosenblatt/lab/page/replay.js";
import { added } from "./runs.mjs";

const OPTIONS = { kernel: "rbf", degree: 2, gamma: 1, coef0: 1 };
const BOX = [-1, -1, 1, 1];

function replayOf(names, features, signs, bias) {
  const run = added({ kind: "linear", names, rows: signs.map((_, i) => i), signs, features, visits: [], updates: [], passes: [] });
  return new Replay(run, { ...OPTIONS, bias });
}

test("a point allows the half-plane on its side, through 0 without a bias", () => {
  const replay = replayOf(["x", "y"], [[1, 2], [3, -1]], [1, -1], false);
  assert.deepEqual(constraints(replay, { w: [0, 0], b: 0 }).map((line) => line.map((value) => value + 0)), [[1, 2, 0], [-3, 1, 0]]);
});

test("the other weights and the bias shift it", () => {
  const replay = replayOf(["x", "y", "xy"], [[1, 2, 2]], [-1], true);
  assert.deepEqual(constraints(replay, { w: [7, 7, 3], b: 5 }), [[-1, -2, -11]]);
});

test("with one feature the bias is the second axis", () => {
  const replay = replayOf(["x"], [[4]], [-1], true);
  assert.deepEqual(weightNames(replay), ["x", "b"]);
  assert.deepEqual(constraints(replay, { w: [9], b: 9 }).map((line) => line.map((value) => value + 0)), [[-4, -1, 0]]);
});

test("solutions are what all constraints leave of the box", () => {
  const quarter = solutions([[1, 0, 0], [0, 1, 0]], BOX);
  assert.equal(quarter.length, 4);
  assert.ok(quarter.every(([x, y]) => x >= 0 && y >= 0));
});

test("there may be none, not even a line", () => {
  assert.deepEqual(solutions([[1, 0, 0], [-1, 0, 0]], BOX), []);
  assert.deepEqual(solutions([[0, 0, 0]], BOX), []);
  assert.deepEqual(solutions([[0, 0, -1]], BOX), []);
  assert.equal(solutions([[0, 0, 1]], BOX).length, 4);
});

test("the view holds the walk and 0", () => {
  const { middle, half } = viewOf([[0, 0], [4, -2]]);
  assert.deepEqual(middle, [2, -1]);
  assert.ok(half > 2);
  assert.equal(viewOf([[0, 0]]).half, 1);
});

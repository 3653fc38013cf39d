import assert from "node:assert/strict";
import { test } from "node:test";

import { atMost, chain, squeezeOf } from "../../../src/rosenblatt/lab/page/panels/squeeze.js";
import { Replay } from "../../../src/rosenblatt/lab/page/replay.js";
import { added } from "./runs.mjs";

const OPTIONS = { bias: false, kernel: "rbf", degree: 2, gamma: 1, coef0: 1 };

/** A run over given visits, all of them updates. */
function run(features, signs, visits, bound, { kind = "linear", bias = false } = {}) {
  const none = { R: null, gamma: null, bound: null, w: null, b: null, why: "" };
  return added({
    kind, names: ["x", "y"], rows: features.map((_, i) => i), signs, features, visits, updates: visits.map((_, i) => i),
    passes: [visits.length], w: [0, 0], b: 0, theory: { bound: { ...none, ...bound } },
  }, bias);
}

test("without a bias the numbers are those of the points", () => {
  const bound = { R: 5, gamma: 3, bound: 25 / 9, w: [1, 0], b: 0 };
  const squeeze = squeezeOf(new Replay(run([[3, 4], [-3, 0]], [1, -1], [0, 1], bound), OPTIONS));
  assert.deepEqual(squeeze.length, [0, 5, Math.sqrt(52)]);
  assert.deepEqual(squeeze.along, [0, 3, 6]);
  assert.equal(squeeze.longest, 0);
  assert.deepEqual(chain(squeeze, 1), [
    { name: "k γ", value: 3 }, { name: "**w** · **u**", value: 3 }, { name: "‖**w**‖", value: 5 }, { name: "√k R", value: 5 },
  ]);
});

test("the bias is a coordinate of w, of u and of the points", () => {
  const bound = { gamma: 1, bound: 9, w: [0.6, 0], b: 0.8 };
  const replay = new Replay(run([[2, 2], [0, 1]], [1, 1], [0, 1], bound, { bias: true }), { ...OPTIONS, bias: true });
  const squeeze = squeezeOf(replay);
  assert.equal(squeeze.R, 3);
  assert.deepEqual(squeeze.length, [0, 3, Math.sqrt(4 + 9 + 4)]);
  assert.deepEqual(squeeze.along, [0, 2, 0.6 * 2 + 1.6]);
});

test("without a bound the upper half of the proof is left", () => {
  const squeeze = squeezeOf(new Replay(run([[3, 4], [1, 0]], [1, -1], [0, 1], {}), OPTIONS));
  assert.equal(squeeze.R, 5);
  assert.equal(squeeze.along, null);
  assert.deepEqual(chain(squeeze, 2).map(({ name }) => name), ["‖**w**‖", "√k R"]);
});

test("lengths in the kernel's space are those of the features it stands for", () => {
  const options = { ...OPTIONS, kernel: "poly", degree: 1, coef0: 0 };
  const features = [[1, 2], [3, -1], [0, 2]];
  const visits = [0, 1, 2, 0];
  const signs = [1, -1, -1];
  const there = squeezeOf(new Replay(run(features, signs, visits, {}, { kind: "kernel" }), options)).length;
  const here = squeezeOf(new Replay(run(features, signs, visits, {}), OPTIONS)).length;
  there.forEach((value, k) => assert.ok(Math.abs(value - here[k]) < 1e-12));
});

test("a run's numbers are worked out once", () => {
  const replay = new Replay(run([[1, 0]], [1], [0], {}), OPTIONS);
  assert.equal(squeezeOf(replay), squeezeOf(replay));
});

test("at most forgives rounding alone", () => {
  assert.ok(atMost(1 + 1e-15, 1));
  assert.ok(!atMost(1.001, 1));
  assert.ok(!atMost(1e-3, 0));
});

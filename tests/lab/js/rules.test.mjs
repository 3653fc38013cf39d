/** Learners that also update where a point is right by too little: replays, sentences and what is left of the proof. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { chain, squeezeOf } from "../../../src/rosenblatt/lab/page/panels/squeeze.js";
import { Replay } from "../../../src/rosenblatt/lab/page/replay.js";
import { sentence } from "../../../src/rosenblatt/lab/page/sentences.js";
import { added } from "./runs.mjs";

const BASE = {
  kind: "linear", names: ["x", "y"], rows: [4, 7], signs: [1, -1], features: [[1, 2], [3, -1]],
  visits: [0, 1, 0, 1], passes: [2, 4], converged: false, ended: "the limit of 2 passes", pocket: null,
};
const NONE = { C: null, loss: null, r: null };

/** PA-I with C = 0.25: a step of 0.2 would do at first, then C is the limit. */
const PA = added({
  ...BASE, updates: [0, 1, 2],
  rule: { ...NONE, kind: "pa", threshold: 1, steps: [0.2, 0.25, 0.1], mistakes: [0, 1], C: 0.25, loss: "hinge" },
});
const MARGIN = added({ ...BASE, updates: [0, 1, 2], rule: { ...NONE, kind: "margin", threshold: 5, steps: [1, 1, 1], mistakes: [0, 1] } });
const VARIANCES = [{ w: [1, 1], b: 1 }, { w: [0.875, 0.5], b: 0.875 }, { w: [0.2, 0.4], b: 0.8 }];
const AROW = {
  ...BASE, updates: [0, 1], weights: [{ w: [0, 0], b: 0 }, { w: [0.5, 1], b: 0.5 }, { w: [-0.15625, 1.125], b: 0.28125 }],
  cached: VARIANCES, variances: VARIANCES,
  rule: { ...NONE, kind: "arow", threshold: 1, steps: [0.5, 0.25], mistakes: [0], r: 2 },
};

const OPTIONS = { bias: true, kernel: "rbf", degree: 2, gamma: 1, coef0: 1 };

/** @param {object} run @param {number} t @param {object} [other] of the moment */
function words(run, t, other = {}) {
  const replay = new Replay(run, OPTIONS);
  return sentence({ replay, run, moment: { ...replay.at(t), ...other }, waiting: "", state: { bias: true }, beat: null });
}

test("variances belong to their moment", () => {
  const replay = new Replay(AROW, OPTIONS);
  assert.deepEqual([replay.at(1).varianceBefore, replay.at(1).variance, replay.at(2).variance], VARIANCES);
  assert.equal(new Replay(PA, OPTIONS).at(1).variance, null);
});

test("mistakes and updates are told apart", () => {
  const replay = new Replay(PA, OPTIONS);
  const seen = [0, 1, 2, 3, 4].map((t) => replay.at(t));
  assert.deepEqual(seen.map(({ updated }) => updated), [false, true, true, true, false]);
  assert.deepEqual(seen.map(({ mistake }) => mistake), [false, true, true, false, false]);
  assert.deepEqual(seen.map(({ mistakes }) => mistakes), [0, 1, 2, 2, 2]);
  assert.deepEqual(seen.map(({ step }) => step), [0, 0.2, 0.25, 0.1, 0]);
});

test("the sentence says that a point was right, but by too little, and how long the step is", () => {
  assert.equal(
    words(PA, 1),
    "Point 5, blue disc: y·a = 0 ≤ 0, a mistake. Step (1 − y·a) / ‖x‖² = 0.2: w ← (0, 0) + 0.2 (1, 2) = (0.2, 0.4), b ← 0 + 0.2 = 0.2.",
  );
  assert.match(words(PA, 2), /a mistake\. Step C = 0\.25: w ← \(0\.2, 0\.4\) − 0\.25 \(3, −1\) = \(−0\.55, 0\.65\), b ← 0\.2 − 0\.25 = −0\.05\.$/);
  assert.match(words(PA, 3), /^Point 5, blue disc: y·a = 0\.7, right, but by less than 1\. Step \(1 − y·a\) \/ ‖x‖² = 0\.1: /);
  const squared = { ...PA, rule: { ...PA.rule, loss: "squared_hinge" } };
  assert.match(words(squared, 2), /Step \(1 − y·a\) \/ \(‖x‖² \+ 1\/2C\) = 0\.25: /);
  assert.match(words(MARGIN, 3), /^Point 5, blue disc: y·a = 4, right, but by no more than 5\. w ← \(−2, 3\) \+ \(1, 2\) = \(−1, 5\), b ← 0 \+ 1 = 1\.$/);
});

test("AROW's sentence has the variances", () => {
  assert.equal(
    words(AROW, 2, { activation: -0.5, mistake: true }),
    "Point 8, orange triangle: y·a = −0.5 ≤ 0, a mistake. Step (1 − y·a) / (v + r) = 0.25: " +
      "w ← (0.5, 1) − 0.25 (0.875 · 3, 0.5 · (−1)) = (−0.1563, 1.125), b ← 0.5 − 0.25 · 0.875 = 0.2813.",
  );
});

test("what changes nothing says why", () => {
  assert.match(words(PA, 4, { activation: 2.5 }), /^Point 8, orange triangle: y·a = 2\.5 ≥ 1, right by enough; nothing changes\./);
  assert.match(words(MARGIN, 4, { activation: 7 }), /y·a = 7 > 5, right by enough; nothing changes\./);
  assert.match(words(PA, 4, { activation: 0, mistake: true }), /y·a = 0 ≤ 0, a mistake, but x = 0 says nothing about w; nothing changes\./);
});

test("no sentence contradicts itself where a number is rounded: the library decides", () => {
  assert.match(words(PA, 3, { activation: 1 - 1e-9 }), /: 0 < y·a < 1, right, but by less than 1\./);
  assert.match(words(PA, 4, { activation: 1 - 1e-16 }), /: y·a ≥ 1, right by enough/);
  assert.match(words(MARGIN, 3, { activation: 5 + 1e-12 }), /: 0 < y·a ≤ 5, right, but by no more than 5\./);
  assert.match(words(MARGIN, 4, { activation: 5 }), /: y·a > 5, right by enough/);
  assert.match(words(PA, 2, { activation: 1e-17 }), /: y·a ≤ 0, a mistake\./);
  assert.match(words(PA, 3, { activation: 0 }), /: 0 < y·a < 1, right/);
});

test("start and end speak of updates", () => {
  assert.match(words(MARGIN, 0), /^Start: w = 0, b = 0\. A mistake makes an update, and so does a point that is right, but by no more than 5\.$/);
  assert.match(words(AROW, 0), /^Start: w = 0, b = 0, and every variance is 1\..* but by less than 1\.$/);
  assert.match(words(PA, 4, { activation: 2 }), /Stopped at the limit of 2 passes, before a pass without an update\.$/);
});

test("with a margin the chain ends with Q, and where steps differ only its middle is left", () => {
  const theory = { bound: { R: 3, gamma: 0.5, bound: 76, w: [0.6, 0], b: 0.8, why: "" } };
  const names = (run) => chain(squeezeOf(new Replay({ ...run, theory }, OPTIONS)), 2).map(({ name }) => name);
  assert.deepEqual(names(MARGIN), ["k γ", "**w** · **u**", "‖**w**‖", "√k Q"]);
  assert.deepEqual(names(PA), ["**w** · **u**", "‖**w**‖"]);
  assert.deepEqual(names(AROW), ["**w** · **u**", "‖**w**‖"]);
  const { most, least } = squeezeOf(new Replay({ ...MARGIN, theory }, OPTIONS));
  assert.deepEqual([most, least], [Math.sqrt(9 + 10), 0.5]);
});

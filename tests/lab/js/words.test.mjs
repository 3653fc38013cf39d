/** Numbers and sentences. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Replay } from "../../../src/rosenblatt/lab/page/replay.js";
import { sentence } from "../../../src/rosenblatt/lab/page/sentences.js";
import { counted, exact, number, vector } from "../../../src/rosenblatt/lab/page/words.js";
import { added } from "./runs.mjs";

test("numbers have four digits that count and real minus signs", () => {
  const told = [[0, "0"], [-0.5, "−0.5"], [1 / 3, "0.3333"], [12345.6, "12,346"], [-1e-4, "−1.00e−4"], [1e6, "1,000,000"]];
  for (const [value, text] of told) assert.equal(number(value), text);
  assert.deepEqual([number(Infinity), number(-Infinity), number(NaN)], ["∞", "−∞", "?"]);
});

test("an exact number is read back as it was", () => {
  for (const value of [0.1, -1 / 3, 1e-300, 2 ** 53, -5e-324]) {
    assert.equal(Number(exact(value).replaceAll("−", "-")), value);
  }
});

test("one thing, and many", () => {
  assert.deepEqual([counted(1, "update"), counted(2, "update"), counted(0, "pass", "passes")], ["1 update", "2 updates", "0 passes"]);
  assert.equal(counted(1234, "update"), "1,234 updates");
  assert.equal(vector([1, -2.5]), "(1, −2.5)");
});

const RUN = added({
  kind: "linear", names: ["x", "y"], rows: [4, 7], signs: [1, -1], features: [[1, 2], [3, -0.5]],
  visits: [0, 1, 0, 1], updates: [0, 1], passes: [2, 4], converged: true, ended: "a pass without a mistake",
  w: [-2, 2.5], b: 0, pocket: null,
});

/** @param {number} t @param {object} [changes] of the run @param {object} [other] of the moment */
function words(t, changes = {}, other = {}) {
  const run = { ...RUN, ...changes };
  const replay = new Replay(run, { bias: true, kernel: "rbf", degree: 2, gamma: 1, coef0: 1 });
  return sentence({ replay, run, moment: { ...replay.at(t), ...other }, waiting: "", state: { bias: true }, beat: null });
}

test("the sentence says what happened, with the numbers", () => {
  assert.match(words(0), /^Start: w = 0, b = 0\./);
  assert.equal(words(1), "Point 5, blue disc: y·a = 0 ≤ 0, a mistake. w ← (0, 0) + (1, 2) = (1, 2), b ← 0 + 1 = 1.");
  assert.equal(
    words(2), "Point 8, orange triangle: y·a = −3 ≤ 0, a mistake. w ← (1, 2) − (3, −0.5) = (−2, 2.5), b ← 1 − 1 = 0.",
  );
  assert.equal(words(3), "Point 5, blue disc: y·a = 3 > 0, right; nothing changes.");
});

test("no sentence says that 0 is above 0, or a number above 0 below it: the library decides exactly", () => {
  assert.equal(words(3, {}, { activation: 0 }), "Point 5, blue disc: y·a > 0, right; nothing changes.");
  assert.match(words(1, {}, { activation: 1e-17 }), /^Point 5, blue disc: y·a ≤ 0, a mistake\./);
});

test("whose weights it is about is said where others predict, and picks go on", () => {
  const told = (state) => {
    const replay = new Replay(RUN, { bias: true, kernel: "rbf", degree: 2, gamma: 1, coef0: 1 });
    const run = { ...RUN, converged: false };
    return sentence({ replay, run, moment: replay.at(4), waiting: "", state: { bias: true, ...state }, beat: null });
  };
  assert.match(told({ learner: "averaged" }), /> 0 by the last weights, right; nothing changes\./);
  assert.match(told({ order: "pick" }), /Pick the next point\.$/);
});

test("at the end it says why the run ended", () => {
  assert.match(words(4), /Done: a pass without a mistake, after 2 updates\.$/);
  assert.match(words(4, { converged: false, ended: "the limit of 2 passes" }), /Stopped at the limit of 2 passes, before a pass without a mistake\.$/);
});

test("a kernel's update joins the sum", () => {
  assert.match(words(1, { kind: "kernel" }), /It joins the sum: its bump is added, upwards\.$/);
});

test("what is missing is said as it is", () => {
  assert.equal(sentence({ replay: null, run: null, moment: null, waiting: "Place a point.", state: {}, beat: null }), "Place a point.");
});

/** Replays: each moment of a run is what CIML's algorithms 5 and 7 do by hand. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Replay } from "../../../src/rosenblatt/lab/page/replay.js";

const OPTIONS = { bias: true, kernel: "rbf", degree: 2, gamma: 0.5, coef0: 1 };

/** A run of the four points of `learning.run`'s example: updates at the first visits of points 0 and 2. */
const RUN = {
  kind: "linear",
  names: ["x", "y"],
  rows: [0, 2, 3, 5],
  signs: [1, 1, -1, -1],
  features: [[1, 1], [2, 0], [-1, 0], [0, -2]],
  visits: [0, 1, 2, 3, 0, 1, 2, 3],
  updates: [0, 2],
  passes: [4, 8],
  converged: true,
  w: [2, 1],
  b: 0,
  weights: [{ w: [0, 0], b: 0 }, { w: [1, 1], b: 1 }, { w: [2, 1], b: 0 }],
  cached: [{ w: [0, 0], b: 0 }, { w: [0, 0], b: 0 }, { w: [2, 0], b: -2 }],
  pocket: [{ w: [1, 1], b: 1, mistakes: 1 }, { w: [2, 1], b: 0, mistakes: 0 }],
};

test("each moment says what was visited and what came of it", () => {
  const replay = new Replay(RUN, OPTIONS);
  const start = replay.at(0);
  assert.deepEqual([start.t, start.k, start.place, start.number, start.mistake, start.x], [0, 0, -1, -1, false, []]);
  const first = replay.at(1);
  assert.deepEqual([first.k, first.number, first.mistake, first.activation], [1, 0, true, 0]);
  assert.deepEqual([first.before, first.w, first.b], [{ w: [0, 0], b: 0 }, [1, 1], 1]);
  const second = replay.at(2);
  assert.deepEqual([second.number, second.mistake, second.activation, second.survived], [2, false, 3, 2]);
  const third = replay.at(3);
  assert.deepEqual([third.number, third.sign, third.k, third.survived], [3, -1, 2, 1]);
  assert.ok(third.activation === 0, "a tie is a mistake");
  assert.deepEqual([replay.at(4).pass, replay.at(5).pass, replay.at(8).pass], [1, 2, 2]);
});

test("the average is the mean of the weights after every visit", () => {
  const replay = new Replay(RUN, OPTIONS);
  for (let t = 1; t <= replay.visits; t++) {
    const seen = Array.from({ length: t }, (_, i) => replay.at(i + 1));
    const { average } = seen[t - 1];
    for (const i of [0, 1]) {
      const mean = seen.reduce((sum, moment) => sum + moment.w[i], 0) / t;
      assert.ok(Math.abs(average.w[i] - mean) < 1e-12);
    }
    assert.ok(Math.abs(average.b - seen.reduce((sum, moment) => sum + moment.b, 0) / t) < 1e-12);
  }
});

test("steps go forward and back by update, example and pass", () => {
  const replay = new Replay(RUN, OPTIONS);
  const forward = { update: [1, 3, 8, 8], example: [1, 2, 3, 4], pass: [4, 8, 8, 8] };
  for (const [by, stops] of Object.entries(forward)) {
    let t = 0;
    for (const stop of stops) assert.equal((t = replay.step(t, by, 1)), stop);
  }
  const back = { update: [3, 1, 0, 0], example: [7, 6, 5, 4], pass: [4, 0, 0, 0] };
  for (const [by, stops] of Object.entries(back)) {
    let t = 8;
    for (const stop of stops) assert.equal((t = replay.step(t, by, -1)), stop);
  }
});

test("counts and the pocket belong to their moment", () => {
  const replay = new Replay(RUN, OPTIONS);
  assert.deepEqual(replay.counts(0), [0, 0, 0, 0]);
  assert.deepEqual(replay.counts(2), [1, 0, 1, 0]);
  assert.equal(replay.pocket(3), null);
  assert.equal(replay.pocket(4).mistakes, 1);
  assert.equal(replay.pocket(8).mistakes, 0);
});

test("a kernel's activation is the sum of its bumps", () => {
  const run = { ...RUN, kind: "kernel", w: [0, 0] };
  const rbf = new Replay(run, OPTIONS);
  assert.equal(rbf.score(1, 0), 0);
  assert.equal(rbf.score(1, 2), Math.exp(-0.5 * 2) - Math.exp(-0.5 * 9));
  const poly = new Replay(run, { ...OPTIONS, kernel: "poly", gamma: 2, degree: 3 });
  assert.equal(poly.kernel([1, 2], 3, -1), (2 * (3 - 2) + 1) ** 3);
});


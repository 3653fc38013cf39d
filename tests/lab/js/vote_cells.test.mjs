/** The cells of a vote: inside them, and nowhere else, the majority is for +1. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../../src/rosenblatt/lab/page/engine/engine.js";
import { Replay } from "../../../src/rosenblatt/lab/page/replay.js";
import { DEFAULTS } from "../../../src/rosenblatt/lab/page/state.js";
import { voteCells } from "../../../src/rosenblatt/lab/page/vote_cells.js";

const BOX = [-3, -3, 3, 3];

/** @param {number} seed */
function random(seed) {
  return () => ((seed = (1103515245 * seed + 12345) % 2 ** 31) / 2 ** 31) * 6 - 3;
}

/** Whether a point is in a convex polygon. */
const holds = (polygon, [x, y]) => polygon.every(([px, py], i) => {
  const [qx, qy] = polygon[(i + 1) % polygon.length];
  return (qx - px) * (y - py) - (qy - py) * (x - px) >= 0;
});

test("a point is in a cell exactly if it has the majority of the votes", () => {
  for (const seed of [1, 2, 3]) {
    const next = random(seed);
    const points = Array.from({ length: 16 }, (_, i) => [next(), next(), i % 2 ? 1 : -1]);
    const state = { ...DEFAULTS, points, learner: "voted", passes: 3, seed };
    const replay = new Replay(run(state), state);
    for (const t of [1, 7, replay.visits]) {
      const moment = replay.at(t);
      const { cells, edges } = voteCells(replay, moment, BOX);
      const votes = ([x, y]) => {
        let sum = 0;
        for (let visit = 1; visit <= t; visit++) {
          const { w, b } = replay.weights[replay.updatesAfter(visit)];
          sum += Math.sign(w[0] * x + w[1] * y + b);
        }
        return sum;
      };
      for (let i = 0; i < 200; i++) {
        const point = [next(), next()];
        assert.equal(cells.some((cell) => holds(cell, point)), votes(point) > 0);
      }
      for (const [[px, py], [qx, qy]] of edges) {
        const [x, y, dx, dy] = [(px + qx) / 2, (py + qy) / 2, 1e-7 * (qy - py), -1e-7 * (qx - px)];
        if (Math.hypot(qx - px, qy - py) > 1e-3) assert.ok(votes([x - dx, y - dy]) > 0 && votes([x + dx, y + dy]) <= 0);
      }
    }
  }
});

test("votes that no lines bound have no cells", () => {
  const state = { ...DEFAULTS, points: [[1, 1, 1], [-1, 2, -1]], learner: "voted", features: ["x", "xy"] };
  const replay = new Replay(run(state), state);
  assert.equal(voteCells(replay, replay.at(replay.visits), BOX), null);
});

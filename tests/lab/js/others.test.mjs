/** The nearest neighbour and the decision tree. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { randomBits } from "../../../src/rosenblatt/lab/page/engine/orders.js";
import { grow, leaves, neighbourScores, treeEdges } from "../../../src/rosenblatt/lab/page/others.js";

const BOX = [-5, -5, 5, 5];

/** @param {number} seed @param {number} n */
function cloud(seed, n) {
  const draw = randomBits(seed);
  const one = () => (draw() % 64) / 8 - 4;
  return Array.from({ length: n }, () => [one(), one(), draw() % 2 ? 1 : -1]);
}

/** @param {ReturnType<typeof grow>} tree @param {number[]} x */
function predicted(tree, x) {
  while (!("label" in tree)) tree = x[tree.axis] < tree.at ? tree.low : tree.high;
  return tree.label;
}

test("the nearest neighbour predicts the label of the nearest point", () => {
  const points = cloud(1, 20);
  const places = Float64Array.from({ length: 100 }, (_, i) => Math.sin(i) * 5);
  neighbourScores(points, places).forEach((score, i) => {
    const far = points.map(([x, y]) => Math.hypot(x - places[2 * i], y - places[2 * i + 1]));
    assert.equal(Math.sign(score), points[far.indexOf(Math.min(...far))][2]);
  });
  assert.deepEqual([...neighbourScores([[0, 0, 1]], Float64Array.of(3, 4))], [Infinity]);
});

test("a tree has every point right where no two in one place differ, XOR included", () => {
  const xor = [[0, 0, -1], [0, 1, 1], [1, 0, 1], [1, 1, -1]];
  for (const points of [xor, cloud(2, 12), cloud(3, 30)]) {
    const tree = grow(points);
    const right = points.filter((point) => predicted(tree, point) === point[2]).length;
    const clashes = points.filter(([x, y, sign]) => points.some((p) => p[0] === x && p[1] === y && p[2] !== sign)).length;
    assert.ok(right >= points.length - clashes);
  }
  assert.deepEqual(grow([[1, 1, 1], [1, 1, 1], [1, 1, -1]]), { label: 1 });
  assert.deepEqual(grow([]), { label: -1 });
});

test("the first split is the one after which labels are least mixed", () => {
  const { axis, at } = grow([[0, 0, -1], [1, 5, -1], [2, 1, -1], [3, 4, 1], [4, 2, 1]]);
  assert.deepEqual([axis, at], [0, 2.5]);
});

test("the leaves fill the box, and the prediction changes exactly at the edges", () => {
  const tree = grow(cloud(4, 25));
  const parts = leaves(tree, BOX);
  const area = parts.reduce((sum, { box: [left, bottom, right, top] }) => sum + (right - left) * (top - bottom), 0);
  assert.ok(Math.abs(area - 100) < 1e-9);
  const edges = treeEdges(tree, BOX);
  assert.ok(edges.length > 3);
  for (const [[x1, y1], [x2, y2]] of edges) {
    const middle = [(x1 + x2) / 2, (y1 + y2) / 2];
    const across = x1 === x2 ? [1e-6, 0] : [0, 1e-6];
    const sides = [1, -1].map((sign) => predicted(tree, [middle[0] + sign * across[0], middle[1] + sign * across[1]]));
    assert.notEqual(sides[0], sides[1]);
  }
});

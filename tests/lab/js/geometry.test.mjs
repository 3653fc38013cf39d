/** Plane geometry. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  circleOfPlane, clip, contour, corners, hull, lineInBox, ticks,
} from "../../../src/rosenblatt/lab/page/geometry.js";

const BOX = [-1, -1, 1, 1];

test("a line within a box ends on its sides", () => {
  assert.deepEqual(lineInBox(1, 0, 0, BOX), [[0, -1], [0, 1]]);
  const ends = lineInBox(1, -1, 0, BOX);
  assert.deepEqual(new Set(ends.map(String)), new Set(["-1,-1", "1,1"]));
  for (const [w1, w2, b] of [[1, 2, 0.5], [-3, 1, 1], [0.1, -0.2, 0.05]]) {
    for (const [x, y] of lineInBox(w1, w2, b, BOX)) {
      assert.ok(Math.abs(w1 * x + w2 * y + b) < 1e-12);
      assert.ok(Math.abs(Math.max(Math.abs(x), Math.abs(y)) - 1) < 1e-12);
    }
  }
});

test("where there is no line, or it misses the box, there are no ends", () => {
  assert.equal(lineInBox(0, 0, 1, BOX), null);
  assert.equal(lineInBox(1, 0, 5, BOX), null);
});

test("a clipped square is the half that counts", () => {
  const half = clip(corners(BOX), 1, 0, 0);
  assert.ok(half.every(([x]) => x >= 0));
  assert.equal(half.length, 4);
  assert.deepEqual(clip(corners(BOX), 0, 0, 1), corners(BOX));
  assert.deepEqual(clip(corners(BOX), 0, 0, -1), []);
});

test("a hull has the corners alone, against the clock", () => {
  assert.deepEqual(hull([[0, 0], [1, 1], [2, 0], [1, 0], [2, 2], [0, 2]]), [[0, 0], [2, 0], [2, 2], [0, 2]]);
  assert.deepEqual(hull([[1, 1]]), [[1, 1]]);
});

test("the circle below a lifted plane has its center and radius", () => {
  // -(x - 1)² - (y + 2)² + 9 = 2x - 4y - (x² + y²) + 4
  const circle = circleOfPlane([2, -4, -1], 4);
  assert.deepEqual(circle, { center: [1, -2], radius: 3, inside: true });
  assert.equal(circleOfPlane([-2, 4, 1], -4).inside, false);
  assert.equal(circleOfPlane([1, 1, 0], 1), null);
  assert.equal(circleOfPlane([0, 0, 1], 1), null);
});

test("the two lines of xy = 0 cross, and branches that come close do not", () => {
  const size = 8;
  const at = (shift) => Array.from({ length: size * size }, (_, i) => ((i % size) - 3.5) * (Math.floor(i / size) - 3.5) + shift);
  const middle = ([p, q]) => [p, q].every(([x, y]) => Math.abs(x - 3.5) <= 0.5 && Math.abs(y - 3.5) <= 0.5);
  const straight = contour(at(0), size).filter(middle);
  assert.deepEqual(straight.map(([p, q]) => p[0] === q[0] || p[1] === q[1]), [true, true]);
  const bent = contour(at(0.1), size).filter(middle);
  assert.deepEqual(bent.map(([p, q]) => p[0] === q[0] || p[1] === q[1]), [false, false]);
});

test("contours run where values change their sign", () => {
  const size = 9;
  const values = Array.from({ length: size * size }, (_, at) => (at % size) - 3.25);
  const segments = contour(values, size);
  assert.equal(segments.length, size - 1);
  for (const ends of segments) for (const [x] of ends) assert.ok(Math.abs(x - 3.25) < 1e-12);
  assert.deepEqual(contour(new Array(16).fill(0), 4), []);
  assert.equal(contour([1, -1, -1, 1], 2).length, 2, "a saddle has two segments");
});

test("ticks are round and within the axis", () => {
  assert.deepEqual(ticks(-1, 1, 4), [-1, -0.5, 0, 0.5, 1]);
  assert.ok(ticks(0, 37, 5).every((tick) => tick >= 0 && tick <= 37));
});

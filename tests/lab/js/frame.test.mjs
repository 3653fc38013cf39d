/** From points of the plane to pixels and back. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Frame } from "../../../src/rosenblatt/lab/page/frame.js";

test("corners of the view are corners of the square", () => {
  const frame = new Frame([2, -1, 4], 800);
  assert.deepEqual(frame.pixel([-2, 3]), [0, 0]);
  assert.deepEqual(frame.pixel([6, -5]), [800, 800]);
  assert.deepEqual(frame.pixel([2, -1]), [400, 400]);
  assert.deepEqual(frame.box, [-2, -5, 6, 3]);
});

test("a pixel's point has that pixel", () => {
  const frame = new Frame([0.3, 17, 2.5], 613);
  for (const [px, py] of [[0, 0], [1, 612], [306.5, 99]]) {
    const [x, y] = frame.pixel(frame.point(px, py));
    assert.ok(Math.abs(x - px) < 1e-9 && Math.abs(y - py) < 1e-9);
  }
});

test("rounding moves a point by less than a pixel", () => {
  for (const half of [1e-3, 0.7, 5, 1e6]) {
    const frame = new Frame([0, 0, half], 640);
    for (const [px, py] of [[13, 500], [320.4, 7.7]]) {
      const [x, y] = frame.pixel(frame.rounded(px, py));
      assert.ok(Math.hypot(x - px, y - py) < 1, `${half}: ${x}, ${y}`);
    }
  }
});

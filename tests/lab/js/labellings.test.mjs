import assert from "node:assert/strict";
import { test } from "node:test";

import {
  bitsOf, chosen, labellings, nextUncut, pointWords, small, startPoints,
} from "../../../src/rosenblatt/lab/page/panels/labellings.js";

test("every labelling is there once, from none to all", () => {
  const all = labellings(4);
  assert.equal(new Set(all).size, 16);
  assert.deepEqual([all[0], all[15]], [0, 15]);
  assert.deepEqual(all.slice(5, 8).map((bits) => chosen(bits, 4)), [[0, 1], [0, 2], [0, 3]]);
});

test("numbers and bits are the same thing", () => {
  for (const bits of labellings(5)) assert.equal(bitsOf(chosen(bits, 5)), bits);
});

test("the next labelling that is not cut comes round again", () => {
  const all = labellings(2);
  assert.equal(nextUncut(all, new Set([0, 3]), 0), 1);
  assert.equal(nextUncut(all, new Set([0, 3]), 2), 1);
  assert.equal(nextUncut(all, new Set([0, 1, 3]), 2), 2);
  assert.equal(nextUncut(all, new Set(all), 0), -1);
});

test("points in words", () => {
  assert.equal(pointWords([]), "no point");
  assert.equal(pointWords([3]), "point 3");
  assert.equal(pointWords([1, 3]), "points 1 and 3");
  assert.equal(pointWords([1, 3, 4]), "points 1, 3 and 4");
});

test("small pictures keep the shape and stay in their square", () => {
  assert.deepEqual(small([[0, 0], [4, 2]], 20, 4), [[4, 13], [16, 7]]);
  assert.deepEqual(small([[7, 7]], 20, 4), [[10, 10]]);
});

test("points to start with lie in the view", () => {
  for (const family of ["halfspaces", "discs", "rectangles"]) {
    for (const count of [3, 4, 5]) {
      for (const view of [[0, 0, 5], [100, -3, 0.01], [0, 0, 1e4]]) {
        const points = startPoints(family, count, view);
        assert.equal(points.length, count);
        assert.equal(new Set(points.map(([x, y]) => `${x} ${y}`)).size, count);
        for (const [x, y] of points) assert.ok(Math.max(Math.abs(x - view[0]), Math.abs(y - view[1])) < view[2]);
      }
    }
  }
});

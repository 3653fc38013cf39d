import assert from "node:assert/strict";
import { test } from "node:test";

import {
  TALL, crossing, inFront, lifted, planeInBox, planeOf, project, rimOf, turned, unproject,
} from "../../../src/rosenblatt/lab/page/panels/projection3d.js";

/** Assert that numbers agree to twelve digits. */
function near(left, right) {
  assert.equal(left.length, right.length);
  left.forEach((value, i) => assert.ok(Math.abs(value - right[i]) < 1e-9, `${left} and ${right}`));
}

const TURN = { azimuth: 0.6, elevation: 0.45 };

test("from straight above, without a turn, the lift is the plane", () => {
  const [right, up] = project({ azimuth: 0, elevation: Math.PI / 2 }, [0.3, -0.7, 1.1]);
  near([right, up], [0.3, -0.7]);
});

test("projecting keeps lengths: right, up and away are at right angles", () => {
  for (const point of [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.3, -0.4, 0.7]]) {
    near([Math.hypot(...project(TURN, point))], [Math.hypot(...point)]);
  }
});

test("higher points are seen higher, and points behind are farther away", () => {
  assert.ok(project(TURN, [0, 0, 1])[1] > project(TURN, [0, 0, 0])[1]);
  const flat = { azimuth: 0, elevation: 0.3 };
  assert.ok(project(flat, [0, 1, 0])[2] > project(flat, [0, -1, 0])[2]);
});

test("a point that is dragged nowhere stays where it is, raised or flat, at any turn", () => {
  for (const azimuth of [-3, -1, 0, 0.6, 2]) {
    for (const elevation of [0.1, 0.45, 1.2, Math.PI / 2]) {
      for (const t of [0, 1e-6, 0.3, 1]) {
        for (const point of [[0, 0], [0.5, 0.2], [-0.3, 0.8], [-0.6, -0.6], [0.1, -0.9]]) {
          const [right, up] = project({ azimuth, elevation }, lifted(point, t));
          near(unproject({ azimuth, elevation }, right, up, t, point), point);
        }
      }
    }
  }
});

test("a point that is dragged far away stays within the rim, and one below the bowl stays on its outline", () => {
  for (const [right, up] of [[5, 5], [-5, 0], [0, -5], [0.2, -3]]) {
    const point = unproject(TURN, right, up, 1, [0, 0]);
    assert.ok(Math.hypot(...point) <= 1 + 1e-12);
  }
});

test("turning goes all the way round, and stops at the floor and straight above", () => {
  const half = turned({ azimuth: 3, elevation: 0.4 }, 1, 0);
  near([half.azimuth], [4 - 2 * Math.PI]);
  assert.equal(turned(TURN, 0, 9).elevation, Math.PI / 2);
  assert.equal(turned(TURN, 0, -9).elevation, 0.1);
});

test("the rim holds every point and is round", () => {
  assert.equal(rimOf([]), 1);
  assert.equal(rimOf([[0, 0, 1]]), 1);
  assert.equal(rimOf([[3, 4, 1], [1, 1, -1]]), 5.25);
  assert.equal(rimOf([[0, 980, 1]]), 1250);
  near([rimOf([[0.03, 0, 1]])], [0.0325]);
});

test("the plane of a circle crosses the bowl above that circle, whatever the rim and the morph", () => {
  // (x - 1)² + (y + 1)² = 4 as x, y, r2: -2 x + 2 y + r2 - 2 = 0
  for (const t of [0.2, 1]) {
    const plane = planeOf(["x", "y", "r2"], { w: [-2, 2, 1], b: -2 }, 5, t);
    const pieces = crossing(plane, t);
    assert.equal(pieces.length, 1);
    for (const [x, y] of pieces[0]) {
      near([Math.hypot(5 * x - 1, 5 * y + 1)], [2]);
      const z = lifted([x, y], t)[2];
      near([plane.w1 * x + plane.w2 * y + plane.w3 * z + plane.b], [0]);
    }
  }
});

test("weights go with the names of the features, in any order, and others have no plane", () => {
  assert.deepEqual(planeOf(["r2", "x"], { w: [3, 2], b: 1 }, 1, 1), { w1: 2, w2: 0, w3: 3 / TALL, b: 1 });
  assert.equal(planeOf(["x", "y", "xy"], { w: [1, 1, 1], b: 0 }, 1, 1), null);
  assert.equal(planeOf(["x", "y", "r2"], { w: [0, 0, 0], b: 1 }, 1, 1), null);
  assert.equal(planeOf(["x", "y"], { w: [1, 1], b: 1 }, 1, 0), null);
});

test("the part of a plane in the box lies on the plane and in the box", () => {
  for (const w of [[-2, 2, 1], [0, 0, 1], [5, 1, 0.1], [1, 1, 0], [1, 0, 0]]) {
    for (const b of [-1.2, 0, 0.4]) {
      const plane = planeOf(["x", "y", "r2"], { w, b }, 2, 1);
      for (const [x, y, z] of planeInBox(plane, 1)) {
        near([plane.w1 * x + plane.w2 * y + plane.w3 * z + plane.b], [0]);
        assert.ok(Math.max(Math.abs(x), Math.abs(y)) <= 1 + 1e-9 && z >= -1e-9 && z <= TALL + 1e-9);
      }
    }
  }
  const level = planeOf(["r2"], { w: [1], b: -1 }, 2, 1);
  assert.equal(planeInBox(level, 1).length, 4);
  assert.deepEqual(planeInBox(planeOf(["r2"], { w: [1], b: 1 }, 2, 1), 1), []);
});

test("a crossing above an upright plane is the line below it", () => {
  const [line] = crossing(planeOf(["x", "y"], { w: [1, 0], b: -1 }, 2, 1), 1);
  for (const [x] of line) near([x], [0.5]);
});

test("a plane below the bowl cuts no circle, and a circle beyond the rim is not drawn", () => {
  assert.deepEqual(crossing(planeOf(["r2"], { w: [1], b: 1 }, 2, 1), 1), []);
  assert.deepEqual(crossing(planeOf(["r2"], { w: [1], b: -9 }, 2, 1), 1), []);
});

test("what is above a level plane is in front of it for who looks down", () => {
  const plane = planeOf(["r2"], { w: [-1], b: 1 }, 1, 1);
  assert.equal(inFront(TURN, plane, [0, 0, TALL]), true);
  assert.equal(inFront(TURN, plane, [0, 0, 0]), false);
});

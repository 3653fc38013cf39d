/** Changes to the list of points that keep the picks right. */

/** @typedef {import("./types.d.ts").Point} Point */
/** @typedef {import("./types.d.ts").State} State */

/**
 * Return the change that removes a point.
 * @param {State} state
 * @param {number} number
 * @returns {Partial<State>}
 */
export function withoutPoint({ points, picks }, number) {
  const left = picks.filter((pick) => pick !== number).map((pick) => (pick > number ? pick - 1 : pick));
  return { points: points.filter((_, i) => i !== number), picks: left };
}

/**
 * Return the change that puts another point in the place of one.
 * @param {State} state
 * @param {number} number
 * @param {{x?: number, y?: number, sign?: 1 | -1, heldOut?: boolean}} patch
 * @returns {Partial<State>}
 */
export function withPoint({ points }, number, patch) {
  const [oldX, oldY, oldSign, oldHeldOut = false] = points[number];
  const { x = oldX, y = oldY, sign = oldSign, heldOut = oldHeldOut } = patch;
  return { points: points.map((point, i) => (i === number ? makePoint(x, y, sign, heldOut) : point)) };
}

/**
 * Return a point as the state has it.
 * @param {number} x @param {number} y @param {1 | -1} sign @param {boolean} heldOut
 * @returns {Point}
 */
export function makePoint(x, y, sign, heldOut) {
  return heldOut ? [x, y, sign, true] : [x, y, sign];
}

/**
 * Return points as CSV.
 * @param {Point[]} points
 */
export function toCsv(points) {
  const lines = points.map(([x, y, sign, heldOut = false]) => `${x},${y},${sign},${heldOut}`);
  return ["x,y,label,held_out", ...lines, ""].join("\n");
}

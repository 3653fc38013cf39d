/** The points of the lessons. */

/** @import { Point } from "./types.d.ts" */

/** @type {Point[]} */
export const FOUR = [[4, 2, 1], [1, 1, -1], [-2, 1, -1], [3, -1, 1]];

/** @type {Point[]} Discs first, triangles after them. */
export const SORTED = [
  [1.6, 0.8, 1], [3, 1.9, 1], [3.1, 0.9, 1], [2.9, 2.5, 1], [3.4, 1.4, 1], [2.3, 1.1, 1], [3, 1.7, 1], [2.9, 1.3, 1],
  [2.8, 1, 1], [2.2, 3.5, 1], [2.9, 2, 1], [3.7, 1.9, 1], [2.5, 1.7, 1], [1.2, 1.1, -1], [0.3, 0, -1], [0.2, 0.4, -1],
  [0.1, 0, -1], [-0.1, 1.7, -1], [0.2, -0.1, -1], [1.3, 0.1, -1], [-0.4, 0, -1], [0.1, 2.5, -1], [0.4, -0.3, -1],
  [0.8, 1.6, -1], [0.9, -0.7, -1], [0.2, -0.6, -1],
];

/** Return two groups of six with a gap of 2 (0.3 + shift) between them. @param {number} shift @returns {Point[]} */
export function gap(shift) {
  const group = [[0.3, 2.5], [0.9, 1], [0.6, -1.2], [0.3, -2.6], [1.6, 0.2], [2.2, 1.4]];
  /** @param {number} value */
  const rounded = (value) => Number(value.toFixed(2));
  /** @type {Point[]} */
  const discs = group.map(([x, y]) => [rounded(x + shift), y, 1]);
  /** @type {Point[]} */
  const triangles = group.map(([x, y]) => [rounded(-x - shift), rounded(0.4 - y), -1]);
  return [...discs, ...triangles];
}

/** @type {Point[]} */
export const BEYOND = [
  [3, 3, 1], [4, 2, 1], [2, 4, 1], [4, 4, 1], [3.5, 1.5, 1],
  [1, 1, -1], [2, 0.5, -1], [0.5, 2, -1], [1.5, 1.5, -1], [0.5, 0.5, -1],
];

/** @type {Point[]} Clouds on both sides of x + y = 0; points 3, 4 and 21 have the wrong label, ten are held out. */
export const NOISY = [
  [1.4, 0.1, 1], [1.8, 1.8, 1], [-0.7, -0.2, 1], [1.2, 0.7, -1], [1.1, 0.2, 1], [1.9, 1.7, 1], [1.2, 2, 1],
  [1.5, 0.2, 1], [1.4, 0.1, 1], [1.9, 1, 1], [0.9, 0.4, 1, true], [2.2, 0.9, 1, true], [0.7, 0.7, 1, true],
  [1.6, 1.3, 1, true], [1.5, 1.4, 1, true], [0.8, -1.4, -1], [-1.6, -1.7, -1], [-0.5, 0, -1], [-1.2, -1.8, -1],
  [-1.8, -0.4, -1], [-0.4, -0.5, 1], [-1.7, -0.8, -1], [-1, -0.8, -1], [-0.3, -0.8, -1], [-0.5, -0.9, -1],
  [-0.8, -0.4, -1, true], [-2.4, -1.3, -1, true], [-1.5, -1.6, -1, true], [-1.3, 0.3, -1, true],
  [-1.9, -0.1, -1, true],
];

/** @type {Point[]} */
export const XOR = [[1, 1, 1], [-1, -1, 1], [1, -1, -1], [-1, 1, -1]];

/** @type {Point[]} XOR of 0 and 1. */
export const XOR01 = [[0, 1, 1], [1, 0, 1], [0, 0, -1], [1, 1, -1]];

/** @type {Point[]} A disc, and a ring around it whose middle is (0.4, 0.3). */
export const RING = [
  [0.7, 0.3, 1], [0, -0.1, 1], [0.5, 1, 1], [0.9, -0.4, 1], [-0.5, 0.5, 1], [1.3, 0.9, 1], [0.1, -0.8, 1],
  [-0.2, 1.4, 1], [1.6, -0.2, 1], [-0.9, -0.2, 1], [1, 1.6, 1], [3.4, 0.3, -1], [3.1, 1.5, -1], [2.3, 2.4, -1],
  [1.2, 2.9, -1], [0.1, 2.9, -1], [-1, 2.7, -1], [-1.9, 1.9, -1], [-2.2, 0.8, -1], [-2.2, -0.2, -1],
  [-2.1, -1.5, -1], [-1.1, -2.2, -1], [0.1, -2.4, -1], [1.3, -2.4, -1], [2.5, -2, -1], [3.2, -0.9, -1],
];

/** @type {Point[]} Two arms; each triangle is a disc turned half around the origin. */
export const SPIRAL = [
  [0.3, 0.2], [0.3, 0.5], [0.2, 0.7], [-0.1, 0.9], [-0.5, 1], [-1, 0.9], [-1.4, 0.6], [-1.7, 0], [-1.8, -0.6],
  [-1.6, -1.4], [-1.2, -2], [-0.4, -2.5], [0.6, -2.7], [1.6, -2.5],
].flatMap(([x, y]) => /** @type {Point[]} */ ([[x, y, 1], [0 - x, 0 - y, -1]]));

/** @type {Point[]} */
export const TRIANGLE = [[-1, -0.6, 1], [1, -0.6, 1], [0, 1.2, -1]];

/** @type {Point[]} */
export const IN_LINE = [[-1.2, 0, 1], [0, 0, -1], [1.2, 0, 1]];

/** @type {Point[]} */
export const INSIDE = [[-1.4, -1, 1], [1.4, -1, 1], [0, 1.4, 1], [0, -0.2, -1]];

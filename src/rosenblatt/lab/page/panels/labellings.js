/** The labellings of a few points: which of them are chosen, as the bits of a number. */

/** @import { XY } from "../types.d.ts" */

/** Return all labellings of n points, those with fewer chosen points first. @param {number} n @returns {number[]} */
export function labellings(n) {
  const all = Array.from({ length: 2 ** n }, (_, bits) => bits);
  return all.sort((p, q) => chosen(p, n).length - chosen(q, n).length || first(p, q, n));
}

/** @param {number} p @param {number} q @param {number} n */
function first(p, q, n) {
  const [a, b] = [chosen(p, n), chosen(q, n)];
  const place = a.findIndex((value, i) => value !== b[i]);
  return place < 0 ? 0 : a[place] - b[place];
}

/** Return the numbers of the chosen points. @param {number} bits @param {number} n */
export function chosen(bits, n) {
  return Array.from({ length: n }, (_, i) => i).filter((i) => (bits >> i) & 1);
}

/** Return the labelling that chooses these points. @param {number[]} numbers */
export function bitsOf(numbers) {
  return numbers.reduce((bits, i) => bits | (1 << i), 0);
}

/**
 * Return the labelling after `bits` that is not among those that are cut, or -1 where all are cut.
 * @param {number[]} all @param {Set<number>} cut @param {number} bits
 */
export function nextUncut(all, cut, bits) {
  const from = all.indexOf(bits);
  const rest = [...all.slice(from + 1), ...all.slice(0, from + 1)];
  return rest.find((one) => !cut.has(one)) ?? -1;
}

/** Return the chosen points in words. @param {number[]} numbers of points as people count them */
export function pointWords(numbers) {
  if (!numbers.length) return "no point";
  if (numbers.length === 1) return `point ${numbers[0]}`;
  return `points ${numbers.slice(0, -1).join(", ")} and ${numbers[numbers.length - 1]}`;
}

/**
 * Return points in a square of a size, with room at its edges, their shape kept and y upwards.
 * @param {{0: number, 1: number}[]} points @param {number} size @param {number} room @returns {XY[]}
 */
export function small(points, size, room) {
  const [xs, ys] = [points.map((point) => point[0]), points.map((point) => point[1])];
  const middle = [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2];
  const extent = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)) || 1;
  const scale = (size - 2 * room) / extent;
  return points.map((point) => [size / 2 + (point[0] - middle[0]) * scale, size / 2 - (point[1] - middle[1]) * scale]);
}

/** Points to start with, of size about 1: [x, y] of each, by family and number. */
const STARTS = /** @type {Record<string, Record<number, XY[]>>} */ ({
  halfspaces: {
    3: [[0, 0.9], [-0.9, -0.6], [0.9, -0.6]],
    4: [[-0.8, 0.8], [0.8, 0.8], [0.8, -0.8], [-0.8, -0.8]],
    5: [[0, 1], [0.95, 0.3], [0.6, -0.8], [-0.6, -0.8], [-0.95, 0.3]],
  },
  rectangles: {
    3: [[0, 0.9], [-0.9, -0.3], [0.7, -0.8]],
    4: [[0, 1], [1, 0], [0, -1], [-1, 0]],
    5: [[0, 1], [1, 0], [0, -1], [-1, 0], [0.2, 0.1]],
  },
});

/**
 * Return points to start the game with, for a view, every second one chosen.
 * @param {string} family
 * @param {number} count 3, 4 or 5
 * @param {[number, number, number]} view @returns {[number, number, 1 | -1][]}
 */
export function startPoints(family, count, [x, y, half]) {
  const shape = (STARTS[family] ?? STARTS.halfspaces)[count];
  const digits = Math.max(0, 2 - Math.floor(Math.log10(half)));
  return shape.map(([u, v], i) => [
    Number((x + 0.6 * half * u).toFixed(digits)),
    Number((y + 0.6 * half * v).toFixed(digits)),
    i % 2 ? -1 : 1,
  ]);
}

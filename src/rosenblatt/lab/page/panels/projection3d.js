/**
 * The lift in three dimensions: points of the plane at the height x² + y², seen from afar (no perspective).
 *
 * Lengths are in units of the rim: the floor is the square from -1 to 1, the bowl is Z = TALL · (X² + Y²), and t,
 * from 0 to 1, says how far everything is raised.
 */

import { circleOfPlane, clip, corners, lineInBox } from "../geometry.js";
import { weightOf } from "../regions.js";

/** @import { XY } from "../types.d.ts" */
/** @typedef {[number, number, number]} XYZ */
/** @typedef {{azimuth: number, elevation: number}} Turn */
/** @typedef {{w1: number, w2: number, w3: number, b: number}} Plane w1 X + w2 Y + w3 Z + b = 0 */

/** The height of the bowl's rim where it is raised all the way. */
export const TALL = 1.5;

/** @type {[number, number, number, number]} */
const FLOOR = [-1, -1, 1, 1];

/**
 * Return the radius of a rim that holds all points; it is a round number, so that small moves leave it alone.
 * @param {{0: number, 1: number}[]} points
 */
export function rimOf(points) {
  const reach = 1.05 * points.reduce((most, point) => Math.max(most, Math.hypot(point[0], point[1])), 0) || 1;
  const power = 10 ** Math.floor(Math.log10(reach));
  return (power * Math.ceil((4 * reach) / power)) / 4;
}

/**
 * Return a turn within its limits: all the way round, and from almost level to straight down.
 * @param {Turn} turn
 * @param {number} right by how much, in radians
 * @param {number} up @returns {Turn}
 */
export function turned({ azimuth, elevation }, right, up) {
  const round = 2 * Math.PI;
  const wrapped = (((azimuth + right + Math.PI) % round) + round) % round;
  return { azimuth: wrapped - Math.PI, elevation: Math.max(0.1, Math.min(Math.PI / 2, elevation + up)) };
}

/**
 * Return where a point is seen: to the right, up, and how far away. From straight above without a turn it is the plane.
 * @param {Turn} turn @param {XYZ} point @returns {XYZ}
 */
export function project({ azimuth, elevation }, [x, y, z]) {
  const [cos, sin] = [Math.cos(azimuth), Math.sin(azimuth)];
  const [right, away] = [cos * x + sin * y, cos * y - sin * x];
  const [level, up] = [Math.cos(elevation), Math.sin(elevation)];
  return [right, up * away + level * z, level * away - up * z];
}

/**
 * Return the point of the floor whose lift is seen at (right, up): of two such points that nearest to `from`.
 *
 * Below the outline of the bowl there is none; the outline counts then. Points stay within the rim.
 * @param {Turn} turn @param {number} right @param {number} up @param {number} t @param {XY} from @returns {XY}
 */
export function unproject({ azimuth, elevation }, right, up, t, from) {
  const [cos, sin] = [Math.cos(azimuth), Math.sin(azimuth)];
  const before = cos * from[1] - sin * from[0];
  const a = t * TALL * Math.cos(elevation);
  const b = Math.sin(elevation);
  const c = a * right * right - up;
  let away = -c / b;
  if (a > 1e-9) {
    const root = Math.sqrt(Math.max(0, b * b - 4 * a * c));
    // The second root of the two by their product, which is c / a: no digits are lost where a is small.
    const far = root + b > 0 ? (-2 * c) / (b + root) : 0;
    const near = -(b + root) / (2 * a);
    away = Math.abs(far - before) <= Math.abs(near - before) ? far : near;
  }
  const shrink = Math.min(1, 1 / Math.max(Math.hypot(right, away), 1e-12));
  return [shrink * (cos * right - sin * away), shrink * (sin * right + cos * away)];
}

/** Return the lift of a point of the floor. @param {XY} point @param {number} t @returns {XYZ} */
export function lifted([x, y], t) {
  return [x, y, t * TALL * (x * x + y * y)];
}

/**
 * Return a learned plane in units of the rim, raised by t > 0, or null where there is none: the features are others, or
 * all weights are zero.
 * @param {string[]} names @param {{w: number[], b: number}} weights @param {number} rim @param {number} t @returns {Plane | null}
 */
export function planeOf(names, { w, b }, rim, t) {
  if (!(t > 0) || names.some((name) => !["x", "y", "r2"].includes(name))) return null;
  const of = (/** @type {string} */ name) => weightOf(names, w, name);
  const plane = { w1: of("x") * rim, w2: of("y") * rim, w3: (of("r2") * rim * rim) / (TALL * t), b };
  return plane.w1 || plane.w2 || plane.w3 ? plane : null;
}

/**
 * Return the corners of the part of a plane in the box of height t · TALL above the floor.
 * @param {Plane} plane @param {number} t @returns {XYZ[]}
 */
export function planeInBox({ w1, w2, w3, b }, t) {
  const top = t * TALL;
  if (!w3) {
    const ends = lineInBox(w1, w2, b, FLOOR);
    if (!ends) return [];
    const [[x1, y1], [x2, y2]] = ends;
    return [[x1, y1, 0], [x2, y2, 0], [x2, y2, top], [x1, y1, top]];
  }
  const [u, v, h] = [-w1 / w3, -w2 / w3, -b / w3];
  const low = clip(corners(FLOOR), u, v, h);
  return clip(low, -u, -v, top - h).map(([x, y]) => [x, y, u * x + v * y + h]);
}

/**
 * Return the points of the floor below which plane and bowl cross, in pieces that stay within the rim: a circle, or a
 * line where the plane is upright.
 * @param {Plane} plane @param {number} t @returns {XY[][]}
 */
export function crossing({ w1, w2, w3, b }, t) {
  const a = w3 * t * TALL;
  /** @type {XY[]} */
  let points = [];
  if (!a) {
    const ends = lineInBox(w1, w2, b, FLOOR);
    if (!ends) return [];
    const [[x1, y1], [x2, y2]] = ends;
    points = Array.from({ length: 65 }, (_, i) => [x1 + ((x2 - x1) * i) / 64, y1 + ((y2 - y1) * i) / 64]);
  } else {
    const circle = circleOfPlane([w1, w2, a], b);
    if (!circle) return [];
    points = arc(circle.center, circle.radius);
  }
  /** @type {XY[][]} */
  const pieces = [];
  let last = false;
  for (const point of points) {
    const held = Math.hypot(point[0], point[1]) <= 1 + 1e-9;
    if (held && last) pieces[pieces.length - 1].push(point);
    else if (held) pieces.push([point]);
    last = held;
  }
  return pieces.filter((piece) => piece.length > 1);
}

/**
 * Return points of a circle, all round or, where it is large, along the part near the floor.
 * @param {XY} center @param {number} radius @returns {XY[]}
 */
function arc([x, y], radius) {
  const distance = Math.hypot(x, y);
  const part = radius > 2 && distance > 1 ? Math.min(Math.PI, Math.asin(Math.min(1, 1 / distance)) * 1.2) : Math.PI;
  const middle = distance ? Math.atan2(-y, -x) : 0;
  return Array.from({ length: 145 }, (_, i) => {
    const angle = middle + part * (i / 72 - 1);
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
}

/** Return whether a point is on the viewer's side of a plane. @param {Turn} turn @param {Plane} plane @param {XYZ} point */
export function inFront({ azimuth, elevation }, { w1, w2, w3, b }, [x, y, z]) {
  const [level, up] = [Math.cos(elevation), Math.sin(elevation)];
  const towards = level * (Math.sin(azimuth) * w1 - Math.cos(azimuth) * w2) + up * w3;
  return towards * (w1 * x + w2 * y + w3 * z + b) >= 0;
}

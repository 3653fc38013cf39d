/** The table of exercises, which the page has as JSON. */

/** @import { Exercise, Field, Point } from "../types.d.ts" */

/** @type {Exercise[]} */
export const EXERCISES = typeof document === "undefined" ? [] : JSON.parse(document.getElementById("exercises")?.textContent || "[]");

/** Return an exercise by its name, or undefined. @param {string} name */
export const exerciseNamed = (name) => EXERCISES.find((one) => one.name === name);

/** Return the field of an exercise that is a list of points, which students place on the plane. @param {Exercise | undefined} exercise @returns {Field | undefined} */
export const pointsField = (exercise) => exercise?.fields.find(({ kind }) => kind === "points");

/** Return the points that an exercise has on the plane, those of a subset as blue discs where points have no labels. @param {Exercise} exercise @param {number[]} subset @returns {Point[]} */
export function pointsGiven({ given }, subset) {
  const rows = /** @type {number[][]} */ (given.points ?? given.rows ?? []);
  return rows.map((row, i) => {
    const label = row.length > 2 ? row[row.length - 1] : subset.includes(i) ? 1 : -1;
    return [row[0], row[1], /** @type {1 | -1} */ (label)];
  });
}

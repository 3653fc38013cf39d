/** The form of answers: each field's value in plain numbers, or an Error with one sentence about what is wrong with its form. */

import { parse } from "./formulas.js";

/** @import { Exercise, Field } from "../types.d.ts" */

const MOST = 1e9; // the largest number of an answer
const GRID = 8, REACH = 100; // coordinates of points are multiples of 1/8 up to 100, whose sums floats hold exactly

/** Return the value of each field of an answer. @param {Exercise} exercise @param {any} answer @returns {Record<string, any>} */
export function readAnswer(exercise, answer) {
  const { fields } = exercise;
  const given = fields.length === 1 ? { [fields[0].name]: answer } : answer;
  const names = fields.map(({ name }) => name);
  if (!given || typeof given !== "object" || Object.keys(given).sort().join() !== [...names].sort().join()) {
    throw new Error(`The answer must have ${names.join(", ")}.`);
  }
  return Object.fromEntries(fields.map((field) => [field.name, KINDS[field.kind](field, given[field.name], exercise)]));
}

/** Throw that a field expected something else. @param {Field} field @param {string} expected @returns {never} */
function refuse(field, expected) {
  throw new Error(`${field.label}: expected ${expected}.`);
}

/** Return a finite number: one, or a text with a formula without variables. @param {Field} field @param {any} value @returns {number} */
function finite(field, value) {
  let found = value;
  if (typeof value === "string") {
    try {
      found = parse(value)({});
    } catch (fault) {
      refuse(field, value.trim() ? `a number, but ${/** @type {Error} */ (fault).message}` : "a number, and it is still empty");
    }
  }
  if (typeof found !== "number") refuse(field, "a number");
  if (!(Math.abs(found) <= MOST)) refuse(field, "a number of at most 1,000,000,000 in size");
  return found;
}

/** Return a list; an Error says so if it is none, or has not as many items. @param {Field} field @param {any} value @param {string} expected @param {number} [count] @returns {any[]} */
function items(field, value, expected, count) {
  if (!Array.isArray(value) || (count ?? value.length) !== value.length) refuse(field, expected);
  return value;
}

/** @param {Field} field @param {any} value */
function place(field, value) {
  return items(field, value, "a point [x1, x2]", 2).map((x) => finite(field, x));
}

/** @param {Field} field @param {any} value */
function choice(field, value) {
  if (!field.options?.some(({ id }) => id === value)) refuse(field, "one of the options");
  return value;
}

/** @param {Field} field @param {any} value */
function point(field, value) {
  const [x1, x2, y] = items(field, value, "points [x1, x2, y]", 3).map((item) => finite(field, item));
  if (Math.abs(y) !== 1) refuse(field, "labels −1 or 1");
  for (const x of [x1, x2]) {
    if (!Number.isInteger(x * GRID) || Math.abs(x) > REACH) refuse(field, `coordinates that are multiples of 1/${GRID} from −${REACH} to ${REACH}`);
  }
  return [x1, x2, y];
}

/** @type {Record<string, (field: Field, value: any, exercise: Exercise) => any>} */
const KINDS = {
  number(field, value) {
    const { whole, least = 0, most = 0 } = field;
    if (!whole && ["-inf", "-∞", "−∞"].includes(value)) return -Infinity;
    const found = finite(field, value);
    if (whole && !(Number.isInteger(found) && least <= found && found <= most)) refuse(field, `an integer from ${least} to ${most}`);
    return found;
  },
  weights(field, value) {
    const names = field.names ?? [];
    return items(field, value, `${names.length} numbers ${names.join(", ")}`, names.length).map((item) => finite(field, item));
  },
  formula(field, value) {
    if (typeof value !== "string") {
      const constant = finite(field, value);
      return () => constant;
    }
    if (!value.trim()) refuse(field, "a formula, and it is still empty");
    try {
      return parse(value, field.variables);
    } catch (fault) {
      return refuse(field, `a formula, but ${/** @type {Error} */ (fault).message}`);
    }
  },
  choice,
  order(field, value) {
    const steps = items(field, value, "a list of steps").map((item) => choice(field, item));
    if (new Set(steps).size < steps.length) refuse(field, "each step once");
    return steps;
  },
  subset(field, value, { given }) {
    const rows = items(field, value, "a list of row numbers");
    const n = given.points.length;
    if (new Set(rows).size < rows.length || rows.some((row) => !Number.isInteger(row) || row < 0 || row >= n)) refuse(field, "different points of those given");
    return [...rows].sort((a, b) => a - b);
  },
  points(field, value) {
    const { least = 0, most = 0 } = field;
    const rows = items(field, value, "a list of points [x1, x2, y]");
    if (rows.length < least || rows.length > most) refuse(field, `${least} to ${most} points, got ${rows.length}`);
    return rows.map((row) => point(field, row));
  },
  place,
  line(field, value) {
    const places = items(field, value, "two points [x1, x2]", 2).map((item) => place(field, item));
    if (String(places[0]) === String(places[1])) refuse(field, "two different points");
    return places;
  },
};

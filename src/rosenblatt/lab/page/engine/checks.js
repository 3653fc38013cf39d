/** What a state may hold: states come from addresses and files, which anyone can write. */

import { DEFAULTS, LARGEST, MOST_PICKS, MOST_POINTS, MOST_UPDATES, NARROWEST } from "../state.js";
import { LEARNER_NAMES, ORDER_NAMES, FEATURE_NAMES } from "../words.js";
import { MOST_VISITS } from "./learners.js";

/** @import { State } from "../types.d.ts" */
/** Throws an Error that names the field unless the value is allowed. @typedef {(name: string, value: any) => void} Check */

/** Return a value on one line, for a message. @param {unknown} value */
function shorten(value) {
  let text = "something that is nested too deeply";
  try {
    text = typeof value === "number" ? String(value) : String(JSON.stringify(value) ?? value);
  } catch {
    // lists in lists in lists: the text above says so
  }
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** @param {string} name @param {string} expected @param {unknown} value */
function refuse(name, expected, value) {
  throw new Error(`'${name}' must be ${expected}, got ${shorten(value)}.`);
}

/** @param {number} least @param {number} most @returns {Check} */
const number = (least, most) => (name, value) => {
  if (typeof value !== "number" || !(least <= value && value <= most)) refuse(name, `a number from ${least} to ${most}`, value);
};

/** @param {number} least @param {number} most @returns {Check} */
const integer = (least, most) => (name, value) => {
  if (!Number.isInteger(value) || value < least || value > most) refuse(name, `an integer from ${least} to ${most}`, value);
};

/** @param {string[]} allowed @returns {Check} */
const word = (allowed) => (name, value) => {
  if (typeof value !== "string" || !allowed.includes(value)) refuse(name, allowed.map((one) => `'${one}'`).join(" or "), value);
};

/** @param {number} most @param {Check} check @returns {Check} */
const list = (most, check) => (name, value) => {
  if (!Array.isArray(value) || value.length > most) refuse(name, `a list of at most ${most.toLocaleString("en")}`, Array.isArray(value) ? value.length : value);
  for (const item of value) check(name, item);
};

/** @param {string[]} allowed @returns {Check} */
const words = (allowed) => (name, value) => {
  list(allowed.length, word(allowed))(name, value);
  if (new Set(value).size < value.length) refuse(name, "words that differ", value);
};

/** @type {Check} */
const shortName = (name, value) => {
  if (typeof value !== "string" || value.length > 40) refuse(name, "a short name", value);
};

/** @type {Check} */
const flag = (name, value) => {
  if (typeof value !== "boolean") refuse(name, "true or false", value);
};

/** @type {Check} */
const point = (name, value) => {
  if (!Array.isArray(value) || (value.length !== 3 && value.length !== 4)) refuse(name, "lists [x, y, label] or [x, y, label, held_out]", value);
  const [x, y, label, heldOut = false] = value;
  if ((label !== 1 && label !== -1) || typeof heldOut !== "boolean") refuse(name, "lists with a label of 1 or -1, and true or false after it", value);
  for (const coordinate of [x, y]) number(-LARGEST, LARGEST)(name, coordinate);
};

/** @type {Check} */
const view = (name, value) => {
  if (!Array.isArray(value) || value.length !== 3) refuse(name, "the middle and half the width of a square", value);
  for (const middle of value.slice(0, 2)) number(-LARGEST, LARGEST)(name, middle);
  number(NARROWEST, 4 * LARGEST)(name, value[2]);
};

/** @type {Record<string, Check>} */
const FIELDS = {
  version: (name, value) => value === DEFAULTS.version || refuse(name, String(DEFAULTS.version), value),
  points: list(MOST_POINTS, point),
  learner: word(Object.keys(LEARNER_NAMES)),
  features: words(Object.keys(FEATURE_NAMES)),
  bias: flag,
  order: word(Object.keys(ORDER_NAMES)),
  seed: integer(0, 2 ** 31 - 1),
  picks: list(MOST_PICKS, integer(0, MOST_POINTS)),
  kernel: word(["poly", "rbf"]),
  degree: integer(1, 9),
  gamma: number(1e-6, 1e6),
  coef0: number(0, 1e6),
  margin: number(0, 1e6),
  C: number(1e-6, 1e6),
  loss: word(["hinge", "squared_hinge", "plain"]),
  r: number(1e-6, 1e6),
  passes: integer(1, 10_000),
  updates: integer(1, MOST_UPDATES),
  view,
  at: (name, value) => value === null || integer(0, MOST_VISITS)(name, value),
  panel: word(["algorithm", "own", "projection", "weights", "error", "verdict", "lift", "vc", "table", "code", "bound", "exercise"]),
  own: (name, value) => {
    if (!Array.isArray(value) || value.length !== 3) refuse(name, "w1, w2 and b of a line", value);
    list(3, number(-LARGEST, LARGEST))(name, value);
  },
  family: word(["halfspaces", "discs", "rectangles"]),
  lesson: shortName,
  exercise: shortName,
  show: words(["regions", "graded", "arrow", "ghosts", "margins", "radius", "strip", "average", "vote", "hulls", "neighbour", "tree"]),
  hide: words(["lessons", "learner", "order", "panels", "transport", "share"]),
};

/** Return a state with defaults for what is left out; an Error says what is wrong with it. @param {any} given @returns {State} */
export function checkedState(given) {
  if (!given || typeof given !== "object" || Array.isArray(given)) throw new Error(`A state of the lab must be an object, got ${shorten(given)}.`);
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(FIELDS, name)) throw new Error(`A state of the lab has no field ${shorten(name)}.`);
    FIELDS[name](name, value);
  }
  const state = { ...DEFAULTS, ...given };
  const beyond = state.picks.find((/** @type {number} */ i) => i >= state.points.length);
  if (beyond !== undefined) throw new Error(`'picks' must be numbers of points, below ${state.points.length}, got ${beyond}.`);
  return state;
}

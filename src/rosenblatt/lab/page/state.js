/** The state of the lab: its defaults, its address, and the steps that undo takes back. */

/** @import { Point, State } from "./types.d.ts" */

/** @type {State} */
export const DEFAULTS = {
  version: 1,
  points: [],
  learner: "perceptron",
  features: ["x", "y"],
  bias: true,
  order: "each",
  seed: 0,
  picks: [],
  kernel: "rbf",
  degree: 2,
  gamma: 1,
  coef0: 1,
  margin: 1,
  C: 1,
  loss: "hinge",
  r: 10,
  passes: 100,
  updates: 1000,
  view: [0, 0, 5],
  at: 0,
  panel: "algorithm",
  own: [1, 1, 0],
  family: "halfspaces",
  lesson: "",
  exercise: "",
  show: ["regions", "arrow", "ghosts"],
  hide: [],
};

/**
 * Return a square with all points in it and some space around them: its middle, and half its width.
 * @param {State["points"]} points @returns {State["view"]}
 */
export function viewOf(points) {
  if (!points.length) return DEFAULTS.view;
  const ends = [0, 1].map((j) => {
    const values = points.map((point) => Number(point[j]));
    return [Math.min(...values), Math.max(...values)];
  });
  const half = 0.625 * Math.max(...ends.map(([low, high]) => high - low)) || 1;
  return [(ends[0][0] + ends[0][1]) / 2, (ends[1][0] + ends[1][1]) / 2, Math.max(half, NARROWEST)];
}

export const MOST_POINTS = 1000;
export const MOST_PICKS = 500;
export const MOST_UPDATES = 2000;
export const LARGEST = 1e6; // coordinates: their squares, summed over all updates, stay exact enough to be drawn
export const NARROWEST = 1e-6;

/** The fields that decide what is learned; a change of any other needs no new run. */
const LEARNED = [
  "points", "learner", "features", "bias", "order", "seed", "picks", "kernel", "degree", "gamma", "coef0", "margin",
  "C", "loss", "r", "passes", "updates",
];

/** Fields that undo leaves alone: they say where one looks, not what is there. So does the view, if all is in sight. */
const LOOKED_AT = ["at", "panel"];

/** Return whether a change asks for a new run. @param {Partial<State>} patch */
export function asksForRun(patch) {
  return LEARNED.some((name) => name in patch);
}

/** Return whether the run is in sight: the VC game and exercises look at the points alone. @param {State} state */
export const showsRun = ({ panel, exercise }) => panel !== "vc" && !(panel === "exercise" && exercise);

/** Return a state, or what is handed in, as the part of an address after the #. @param {object} state */
export function toFragment(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  let text = "";
  for (let i = 0; i < bytes.length; i += 4096) text += String.fromCharCode(...bytes.subarray(i, i + 4096));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Return whether something that was opened is what a student handed in, and not a state. @param {any} data */
export const isHandedIn = (data) => "results" in data || "answer" in data;

/** The message about a part after the # that is not a state. */
export const NO_STATE = "What follows # in the address is not a state of the lab: copy the whole address.";

/**
 * Return the fields that such a part stands for, or null where it stands for none. The engine checks them.
 * @param {string} fragment @returns {Partial<State> | null}
 */
export function fromFragment(fragment) {
  try {
    const text = atob(fragment.replaceAll("-", "+").replaceAll("_", "/"));
    const data = JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
    return data && typeof data === "object" && (data.version === 1 || isHandedIn(data)) ? data : null;
  } catch {
    return null;
  }
}

/** The states before and after, for undo and redo. */
export class History {
  /** @type {State[]} */
  #past = [];
  /** @type {State[]} */
  #future = [];

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  /** Note the state that a change is about to replace. @param {State} state */
  note(state) {
    this.#past = [...this.#past.slice(-199), state];
    this.#future = [];
  }

  /** Return the state before the last change, seen as `now` is. @param {State} now */
  undo(now) {
    return this.#move(this.#past, this.#future, now);
  }

  /** Return the state that undo took back. @param {State} now */
  redo(now) {
    return this.#move(this.#future, this.#past, now);
  }

  /** @param {State[]} from @param {State[]} to @param {State} now @returns {State | null} */
  #move(from, to, now) {
    const state = from.pop();
    if (!state) return null;
    to.push(now);
    const kept = Object.fromEntries(Object.entries(now).filter(([name]) => LOOKED_AT.includes(name)));
    const [x, y, half] = now.view;
    const inSight = state.points.every((p) => Math.abs(p[0] - x) <= half && Math.abs(p[1] - y) <= half);
    return { ...state, ...kept, view: inSight ? now.view : state.view };
  }
}

/**
 * Return the change that removes points, by number; picks of others keep to their points.
 * @param {State} state @param {number[]} numbers @returns {Partial<State>}
 */
export function withoutPoints(state, numbers) {
  const gone = new Set(numbers);
  const places = state.points.map((_, i) => i - numbers.filter((other) => other < i).length);
  return {
    points: state.points.filter((_, i) => !gone.has(i)),
    picks: state.picks.filter((i) => !gone.has(i)).map((i) => places[i]),
  };
}

/**
 * Return the change that puts another in the place of a point.
 * @param {State} state @param {number} number @param {{x?: number, y?: number, sign?: 1 | -1, heldOut?: boolean}} patch
 * @returns {Partial<State>}
 */
export function withPoint(state, number, patch) {
  const points = state.points.slice();
  const [x, y, sign, heldOut] = points[number];
  points[number] = point(patch.x ?? x, patch.y ?? y, patch.sign ?? sign, patch.heldOut ?? heldOut ?? false);
  return { points };
}

/**
 * Return a point as the state has it.
 * @param {number} x @param {number} y @param {1 | -1} sign @param {boolean} [heldOut] @returns {Point}
 */
export function point(x, y, sign, heldOut = false) {
  const [u, v] = [x, y].map((value) => Math.max(-LARGEST, Math.min(LARGEST, value)));
  return heldOut ? [u, v, sign, true] : [u, v, sign];
}

/** The plane by keyboard: a cursor that places points, and points that can be chosen, moved, flipped and removed. */

import { addPoint, flipPoint, holdOut, modeOf, pickPoint, removePoints, withSelected, zoom } from "./editing.js";
import { withPoint } from "./state.js";
import { classWords } from "./words.js";

/** @import { App, XY } from "./types.d.ts" */

/** @type {Record<string, XY>} */
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/**
 * Do what a key asks for and return where the cursor is then.
 * @param {KeyboardEvent} event @param {App} app @param {XY} cursor @returns {XY}
 */
export function planeKeys(event, app, cursor) {
  const move = MOVES[event.key];
  const action = ACTIONS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!move && !action) return cursor;
  event.preventDefault();
  event.stopPropagation();
  if (modeOf(app.state) === "answer") return cursor; // its fields take keys
  if (!move) return action(app, cursor) ?? cursor;
  const step = (app.state.view[2] / 50) * (event.shiftKey ? 5 : 1);
  const chosen = app.state.points[app.selected];
  const [x, y] = chosen ?? cursor;
  const moved = /** @type {XY} */ ([round(x + move[0] * step, step), round(y + move[1] * step, step)]);
  if (chosen) app.change(withPoint(app.state, app.selected, { x: moved[0], y: moved[1] }));
  app.announce(`${moved[0]}, ${moved[1]}`);
  return moved;
}

/** @param {number} value @param {number} step */
function round(value, step) {
  return Number(value.toFixed(Math.max(0, Math.min(9, 1 - Math.floor(Math.log10(step))))));
}

/** @type {Record<string, (app: App, cursor: XY) => XY | void>} */
const ACTIONS = {
  Enter: (app, cursor) => void addPoint(app, ...cursor),
  n: (app) => select(app, 1),
  p: (app) => select(app, -1),
  f: (app) => withSelected(app, flipPoint),
  t: (app) => withSelected(app, holdOut),
  v: (app) => withSelected(app, pickPoint),
  Delete: (app) => withSelected(app, (_, number) => removePoints(app, [number])),
  Backspace: (app) => withSelected(app, (_, number) => removePoints(app, [number])),
  Escape: (app) => {
    app.selected = -1;
    app.announce("No point selected: arrow keys move the cursor.");
  },
  "+": (app) => zoom(app, 0.8),
  "=": (app) => zoom(app, 0.8),
  "-": (app) => zoom(app, 1.25),
};

/** @param {App} app @param {1 | -1} direction @returns {XY | void} */
function select(app, direction) {
  const { points } = app.state;
  if (!points.length) return undefined;
  const from = app.selected < 0 && direction < 0 ? 0 : app.selected;
  app.selected = (from + direction + points.length) % points.length;
  const [x, y, sign, heldOut] = points[app.selected];
  app.announce(`Point ${app.selected + 1}, ${classWords(sign)}${heldOut ? ", held out" : ""}, at ${x}, ${y}.`);
  return [x, y];
}

/** What people do with points, whether by mouse, touch, key or button. */

import { exerciseNamed, pointsField } from "./exercises/table.js";
import { MOST_PICKS, MOST_POINTS, point, withPoint, withoutPoints } from "./state.js";
import { classWords } from "./words.js";

/** @import { App, State } from "./types.d.ts" */

/**
 * Return what the pointer does on the plane, one thing at a time: answer an exercise, move a line, give points the other class, pick the next
 * visit, or place and move points.
 * @param {State} state @returns {"line" | "flip" | "answer" | "pick" | "place"}
 */
export function modeOf({ panel, order, exercise }) {
  if (panel === "exercise" && exercise) return pointsField(exerciseNamed(exercise)) ? "place" : "answer";
  if (panel === "own") return "line";
  if (panel === "vc") return "flip";
  return order === "pick" ? "pick" : "place";
}

/**
 * Add a point and return its number, -1 where it cannot be added.
 * @param {App} app @param {number} x @param {number} y
 * @param {1 | -1} [sign] that of the brush by default
 */
export function addPoint(app, x, y, sign = app.brush === -1 ? -1 : 1) {
  if (app.state.points.length >= MOST_POINTS) {
    app.notice(`There is room for ${MOST_POINTS.toLocaleString("en")} points: remove some first.`);
    return -1;
  }
  app.change({ points: [...app.state.points, point(x, y, sign)] });
  app.announce(`Placed point ${app.state.points.length}, ${classWords(sign)}, at ${x}, ${y}.`);
  return app.state.points.length - 1;
}

/** Remove points by number; the selection keeps to its point. @param {App} app @param {number[]} numbers */
export function removePoints(app, numbers) {
  const before = numbers.filter((number) => number < app.selected).length;
  app.selected = numbers.includes(app.selected) ? -1 : app.selected - before;
  app.change(withoutPoints(app.state, numbers));
  app.announce(numbers.length === 1 ? `Point ${numbers[0] + 1} is removed.` : `${numbers.length} points are removed.`);
}

/** Give a point the other class. @param {App} app @param {number} number */
export function flipPoint(app, number) {
  app.change(withPoint(app.state, number, { sign: app.state.points[number][2] > 0 ? -1 : 1 }));
}

/** Hold a point out, or train on it again. @param {App} app @param {number} number */
export function holdOut(app, number) {
  app.change(withPoint(app.state, number, { heldOut: !app.state.points[number][3] }));
}

/** Visit a point next, where the order is that of one's picks. @param {App} app @param {number} number */
export function pickPoint(app, number) {
  const { order, picks, points } = app.state;
  if (order !== "pick") app.announce("Points are picked where the order is: I pick the next point.");
  else if (points[number][3]) app.notice("This point is held out: pick one to train on.");
  else if (picks.length >= MOST_PICKS) app.notice(`A run has at most ${MOST_PICKS} picks: choose the order again to start over.`);
  else app.change({ picks: [...picks, number], at: null });
}

/** Do something with the selected point, if there is one. @param {App} app @param {(app: App, number: number) => void} done */
export function withSelected(app, done) {
  if (app.selected < 0) app.announce("No point is selected: N selects the next.");
  else done(app, app.selected);
}

/** Show more or less of the plane. @param {App} app @param {number} factor */
export function zoom(app, factor) {
  const [x, y, half] = app.state.view;
  app.change({ view: [x, y, Math.max(1e-5, Math.min(3e6, half * factor))] });
}

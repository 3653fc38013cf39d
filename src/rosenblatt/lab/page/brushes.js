/** The brushes above the plane: which class is placed, the eraser, undo and redo; and what can be done with a point. */

import { button, make } from "./dom.js";
import { flipPoint, holdOut, removePoints, withSelected } from "./editing.js";
import { iconButton } from "./icons.js";

/** @typedef {import("./app.js").App} App */

/** @param {App} app */
export function createBrushes(app) {
  /** @type {[0 | 1 | -1, HTMLButtonElement][]} */
  const brushes = [
    [1, iconButton("disc", "Place blue discs (1)", () => app.setBrush(1))],
    [-1, iconButton("triangle", "Place orange triangles (2)", () => app.setBrush(-1))],
    [0, iconButton("erase", "Remove points", () => app.setBrush(0))],
  ];
  brushes[0][1].classList.add("blue");
  brushes[1][1].classList.add("orange");
  const undo = iconButton("undo", "Undo (Ctrl+Z)", () => app.undo());
  const redo = iconButton("redo", "Redo (Ctrl+Shift+Z)", () => app.redo());
  const flip = button("Flip", () => withSelected(app, flipPoint));
  const hold = button("Hold out", () => withSelected(app, holdOut));
  const remove = button("Remove", () => withSelected(app, (_, number) => removePoints(app, [number])));
  const chosen = make("div", { className: "row", role: "group", "aria-label": "The selected point" }, flip, hold, remove);
  const tools = make("div", { className: "row", role: "toolbar", "aria-label": "Points" });
  tools.append(...brushes.map(([, button]) => button), undo, redo);
  const element = make("div", { className: "brushes" }, tools);

  return {
    element,
    chosen,
    /** @param {import("./types.d.ts").Scene} scene */
    update({ state }) {
      if (app.brush === 0 && !state.points.length) app.brush = 1;
      for (const [brush, button] of brushes) button.setAttribute("aria-pressed", String(app.brush === brush));
      undo.disabled = !app.history.canUndo;
      redo.disabled = !app.history.canRedo;
      const point = state.points[app.selected];
      chosen.hidden = !point;
      if (point) hold.textContent = point[3] ? "Train on it" : "Hold out";
    },
  };
}

/** The brushes above the plane: which class is placed, the eraser, undo and redo; and what can be done with a point. */

import { make } from "./dom.js";
import { iconButton } from "./icons.js";
import { changeChosen } from "./plane_keys.js";
import { withPoint, withoutPoints } from "./state.js";

/** @typedef {import("./app.js").App} App */

/** @param {App} app */
export function createBrushes(app) {
  /** @type {[0 | 1 | -1, HTMLButtonElement][]} */
  const brushes = [
    [1, iconButton("disc", "Place blue discs (1)", () => choose(1))],
    [-1, iconButton("triangle", "Place orange triangles (2)", () => choose(-1))],
    [0, iconButton("erase", "Remove points", () => choose(0))],
  ];
  brushes[0][1].classList.add("blue");
  brushes[1][1].classList.add("orange");
  const undo = iconButton("undo", "Undo (Ctrl+Z)", () => app.undo());
  const redo = iconButton("redo", "Redo (Ctrl+Shift+Z)", () => app.redo());
  const flip = make("button", { type: "button" }, "Flip");
  const hold = make("button", { type: "button" }, "Hold out");
  const remove = make("button", { type: "button" }, "Remove");
  flip.addEventListener("click", () =>
    changeChosen(app, (state, i) => withPoint(state, i, { sign: state.points[i][2] > 0 ? -1 : 1 })),
  );
  hold.addEventListener("click", () => changeChosen(app, (state, i) => withPoint(state, i, { test: !state.points[i][3] })));
  remove.addEventListener("click", () => changeChosen(app, (state, i) => withoutPoints(state, [i])));
  const chosen = make("div", { className: "row", role: "group", "aria-label": "The selected point" }, flip, hold, remove);
  const tools = make("div", { className: "row", role: "toolbar", "aria-label": "Points" });
  tools.append(...brushes.map(([, button]) => button), undo, redo);
  const element = make("div", { className: "brushes" }, tools);

  /** @param {0 | 1 | -1} brush */
  function choose(brush) {
    app.brush = brush;
    app.refresh();
  }

  return {
    element,
    chosen,
    /** @param {import("./types.d.ts").Scene} scene */
    update({ state }) {
      if (app.brush === 0 && !state.points.length) app.brush = 1;
      for (const [brush, button] of brushes) button.setAttribute("aria-pressed", String(app.brush === brush));
      undo.disabled = !app.history.canUndo;
      redo.disabled = !app.history.canRedo;
      element.hidden = app.isRecording;
      const point = state.points[app.selected];
      chosen.hidden = !point;
      if (point) hold.textContent = point[3] ? "Train on it" : "Hold out";
    },
  };
}

/** Above the plane: the two classes, of which one is placed; what the pointer does now; undo; the selected point. */

import { button, make, setText } from "./dom.js";
import { flipPoint, holdOut, removePoints, withSelected } from "./editing.js";
import { iconButton } from "./icons.js";

/** @import { App, Scene, State } from "./types.d.ts" */

/** Return what the pointer does on the plane, where it does not place points. @param {State} state */
function modeWords({ panel, order }) {
  if (panel === "own") return "Your line: drag it, or the tip of its arrow.";
  if (panel === "vc") return "VC game: press a point to change its class.";
  return order === "pick" ? "Your order: press the point to visit next." : "";
}

/** @param {HTMLElement} root @param {App} app */
export function createLegend(root, app) {
  /** @type {[1 | -1, HTMLButtonElement][]} */
  const classes = [
    [1, iconButton("disc", "Place blue discs, y = +1 (1)", () => app.setBrush(1), "+1")],
    [-1, iconButton("triangle", "Place orange triangles, y = −1 (2)", () => app.setBrush(-1), "−1")],
  ];
  const mode = make("span", { className: "note", id: "mode" });
  const undo = iconButton("undo", "Undo (Ctrl+Z)", () => app.undo());
  const redo = iconButton("redo", "Redo (Ctrl+Shift+Z)", () => app.redo());
  const hold = button("Hold out", () => withSelected(app, holdOut));
  const chosen = make(
    "span", { className: "row", role: "group", "aria-label": "The selected point" },
    button("Flip", () => withSelected(app, flipPoint)), hold,
    button("Remove", () => withSelected(app, (_, number) => removePoints(app, [number]))),
  );
  root.setAttribute("role", "toolbar");
  root.setAttribute("aria-label", "Points");
  root.append(make("span", { className: "row classes" }, ...classes.map(([, each]) => each)), mode, chosen, undo, redo);
  return {
    /** @param {Scene} scene */
    update({ state }) {
      for (const [sign, each] of classes) each.setAttribute("aria-pressed", String(app.brush === sign));
      setText(mode, modeWords(state) || (state.points.length ? "" : "Click on the plane to place a point."));
      undo.hidden = !app.history.canUndo;
      redo.hidden = !app.history.canRedo;
      const point = state.points[app.selected];
      chosen.hidden = !point;
      if (point) setText(hold, point[3] ? "Train on it" : "Hold out");
    },
  };
}

/** Above the plane: the two classes, of which one is placed; what the pointer does now; undo; the selected point. */

import { button, make, setText } from "./dom.js";
import { flipPoint, holdOut, modeOf, removePoints, withSelected } from "./editing.js";
import { iconButton } from "./icons.js";

/** @import { App, Scene } from "./types.d.ts" */

/** What the pointer does, in words. */
const MODES = {
  line: "Your line: drag it, or the tip of its arrow.",
  flip: "VC game: press a point to change its class.",
  pick: "Your order: press the point to visit next.",
  place: "",
  answer: "An exercise: the plane shows your answer.",
};
const KEYS = "Arrow keys move the cursor, Enter places a point, Space plays.";

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
  const kinds = make("span", { className: "row classes" }, ...classes.map(([, each]) => each));
  root.append(kinds, mode, chosen, undo, redo);
  return {
    /** @param {Scene} scene */
    update({ state }) {
      const answering = modeOf(state) === "answer";
      kinds.hidden = answering;
      for (const [sign, each] of classes) each.setAttribute("aria-pressed", String(app.brush === sign));
      const byKeys = document.activeElement?.matches("#plane-canvas:focus-visible");
      setText(mode, MODES[modeOf(state)] || (byKeys ? KEYS : state.points.length ? "" : "Click on the plane to place a point."));
      undo.hidden = answering || !app.history.canUndo;
      redo.hidden = answering || !app.history.canRedo;
      const point = state.points[app.selected];
      chosen.hidden = !point;
      if (point) setText(hold, point[3] ? "Train on it" : "Hold out");
    },
  };
}

/** The keys, in a dialog. */

import { createDialog } from "./dialogs.js";
import { make } from "./dom.js";

/** Keys that belong together: a key, several of them, or keys pressed at once, and what they do. */
const KEYS = {
  "Everywhere": [
    ["Space", "play or pause"],
    ["← →", "a step back or forward"],
    ["Shift ← →", "a pass back or forward"],
    ["Home End", "to the start or the end of the run"],
    ["1 2", "place blue discs or orange triangles"],
    ["Ctrl+Z", "undo"],
    ["Ctrl+Shift+Z", "redo"],
    ["?", "this help"],
  ],
  "On the plane, when it has the focus": [
    ["← ↑ ↓ →", "move the cursor, or the point that is selected; with Shift further"],
    ["Enter", "place a point at the cursor"],
    ["N P", "select the next or the previous point"],
    ["F", "give the selected point the other class"],
    ["T", "hold it out for testing, or train on it again"],
    ["V", "visit it next, where you pick the order"],
    ["Delete", "remove it"],
    ["Escape", "let go of it"],
    ["+ −", "zoom in or out"],
  ],
};

/**
 * Make the help; the dialog itself is made when it is first opened.
 * @returns {{open(): void}}
 */
export function createHelp() {
  /** @type {HTMLDialogElement | null} */
  let dialog = null;
  return {
    open() {
      dialog ??= createDialog("help", "How to use the lab", ...content());
      if (!dialog.open) dialog.showModal();
    },
  };
}

function content() {
  const first = make(
    "p",
    {},
    "Click on the plane to place points of both classes, or choose a lesson or a set of points at the top. " +
      "Press Space to watch the perceptron learn, and the arrow keys to go through its updates one by one, " +
      "back as well as forward. " +
      "Drag a point, or change the learner, and the whole run is made anew at once.",
  );
  const tables = Object.entries(KEYS).map(([caption, rows]) => {
    const body = rows.map(([keys, does]) => {
      return make("tr", {}, make("th", { scope: "row" }, ...keycaps(keys)), make("td", {}, does));
    });
    return make("table", { className: "keys" }, make("caption", {}, caption), make("tbody", {}, ...body));
  });
  return [first, ...tables];
}

/** @param {string} keys @returns {(Node | string)[]} */
function keycaps(keys) {
  return keys.split(" ").flatMap((key) => {
    const parts = key === "+" ? [key] : key.split("+");
    return [...parts.flatMap((part, i) => [i ? "+" : "", make("kbd", {}, part)]), " "];
  });
}

/** What mouse, touch and keys do, in a dialog. */

import { createDialog, openDialog } from "./dialogs.js";
import { make } from "./dom.js";

/** What is done by mouse, pen and finger, and what it does. */
const POINTER = {
  "Mouse and touch, on the plane": [
    ["Click or tap", "place a point; the buttons at the top choose discs, triangles or to remove points"],
    ["Drag a point", "move it: the whole run is made anew at once"],
    ["Tap a point", "select it: the buttons at the top then change it; in the VC game it gets the other class"],
  ],
};

/** Keys that belong together: a key, several of them, or keys pressed at once, and what they do. */
const KEYS = {
  "Keys, everywhere": [
    ["Space", "play or pause"],
    ["← →", "a step back or forward"],
    ["Shift ← →", "a pass back or forward"],
    ["Home End", "to the start or the end of the run"],
    ["1 2", "place blue discs or orange triangles"],
    ["Ctrl+Z", "undo"],
    ["Ctrl+Shift+Z", "redo"],
    ["?", "this help"],
  ],
  "Keys on the plane, when it has the focus": [
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
      openDialog(dialog);
    },
  };
}

function content() {
  const first = make(
    "p",
    {},
    "Place points of both classes, or choose a lesson or a set of points at the top. Play shows how the perceptron " +
      "learns, and the steps beside it go through its updates one by one, back as well as forward.",
  );
  return [first, ...tables(POINTER, (name) => [name]), ...tables(KEYS, keycaps)];
}

/** @param {Record<string, string[][]>} groups @param {(name: string) => (Node | string)[]} write */
function tables(groups, write) {
  return Object.entries(groups).map(([caption, rows]) => {
    const body = rows.map(([name, does]) => {
      return make("tr", {}, make("th", { scope: "row" }, ...write(name)), make("td", {}, does));
    });
    return make("table", { className: "keys" }, make("caption", {}, caption), make("tbody", {}, ...body));
  });
}

/** @param {string} keys @returns {(Node | string)[]} */
function keycaps(keys) {
  return keys.split(" ").flatMap((key) => {
    const parts = key === "+" ? [key] : key.split("+");
    return [...parts.flatMap((part, i) => [i ? "+" : "", make("kbd", {}, part)]), " "];
  });
}

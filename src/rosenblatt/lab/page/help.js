/** What mouse, touch and keys do, in a dialog. */

import { createDialog, openDialog } from "./dialogs.js";
import { make, rich, table } from "./dom.js";

/** What is done by mouse, pen and finger, and what it does. */
const POINTER = {
  "Mouse and touch, on the plane": [
    ["Click or tap", "place a point; the buttons above the plane choose its class"],
    ["Drag a point", "move it: the whole run is made anew at once"],
    ["Tap a point", "select it: buttons above the plane then change it; in the VC game it gets the other class"],
  ],
};

/** What is said of the run, with vectors between two pairs of stars. */
const WORDS = {
  "Words and letters": [
    ["**x**, y", "the features of a point, and its label: +1 or −1"],
    ["**w**, b", "the weights and the bias: the line is where **w**·**x** + b = 0"],
    ["a", "the activation **w**·**x** + b of a point, whose sign is the prediction"],
    ["mistake", "a visit with y a ≤ 0: it makes an update, which adds y **x** to **w** and y to b"],
    ["pass", "one visit to every point that is trained on"],
    ["γ", "the widest margin: how far the nearest point is from the best line"],
    ["R", "the length of the longest point"],
  ],
};

const TEXTS =
  "The numbers of algorithms, figures and sections are those of Hal Daumé III, A Course in Machine Learning (chapter 4), and " +
  "Sariel Har-Peled, The Perceptron Algorithm (chapter 30). ";

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
    ["Escape", "end the large view of File, For a lecture"],
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

/** Make the help; the dialog itself is made when it is first opened. @returns {{open(): void}} */
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

/** Return what letters and words stand for. */
export const letters = () => tables(WORDS, rich);

function content() {
  const first = make(
    "p",
    {},
    "Press play, the round button: the perceptron learns. The two beside it step through its updates, back and forward. " +
      "Place points of your own, or choose a lesson or a set of points at the top.",
  );
  const onSite = location.pathname.endsWith("/_static/lab.html"); // of the docs
  const link = onSite ? make("a", { href: "../textbook.html" }, "Both, line by line, with code.") : null;
  return [first, make("p", {}, TEXTS, link), ...letters(), ...tables(POINTER, rich), ...tables(KEYS, keycaps)];
}

/** @param {Record<string, string[][]>} groups @param {(name: string) => (Node | string)[]} write */
function tables(groups, write) {
  return Object.entries(groups).map(([caption, rows]) => table("keys", caption, [], rows.map(([name, does]) => [
    make("th", { scope: "row" }, ...write(name)), make("td", {}, ...rich(does)),
  ])));
}

/** @param {string} keys @returns {(Node | string)[]} */
function keycaps(keys) {
  return keys.split(" ").flatMap((key) => {
    const parts = key === "+" ? [key] : key.split("+");
    return [...parts.flatMap((part, i) => [i ? "+" : "", make("kbd", {}, part)]), " "];
  });
}

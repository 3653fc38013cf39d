/** The Python that makes this run again, and the weights that it ends with. */

import { copyButton } from "../dialogs.js";
import { button, make, setFormula, setText } from "../dom.js";
import { exact, number, vector } from "../words.js";

/** @import { Panel, Run } from "../types.d.ts" */

const ABOUT =
  "Run this with the Python package: it makes the same visits, and ends with the same weights to the last bit.";

/** @type {Panel} */
export const code = {
  id: "code",
  title: "Code",
  about: ABOUT,
  create(root, app) {
    const text = make("pre", { tabIndex: 0, role: "region", "aria-label": "Python that makes this run again" });
    const weights = make("p", { id: "code-weights", className: "exact" });
    let all = false;
    const digits = button("All digits", () => {
      all = !all;
      digits.setAttribute("aria-pressed", String(all));
      shown = undefined;
      app.refresh();
    }, { "aria-pressed": "false" });
    const note = make("p", { className: "note" });
    const copy = copyButton(() => text.textContent ?? "", "the code");
    const full = make("div", {}, make("div", { className: "row" }, note, make("span", { className: "row" }, digits, copy)), weights, text);
    const waiting = make("p", { className: "note" });
    root.append(waiting, full);
    /** @type {Run | null | undefined} */
    let shown;
    return {
      update({ run, replay, waiting: missing, state }) {
        setText(waiting, run ? "" : missing);
        waiting.hidden = run !== null;
        full.hidden = run === null;
        if (run === shown) return;
        shown = run;
        if (!run || !replay) return;
        setText(text, run.code);
        const linear = run.kind === "linear";
        const { w, b } = run.predicting ?? run;
        setText(note, `Run it: it prints the ${linear ? "weights" : "factors"} that you see.`);
        setFormula(weights, linear ? weightWords(run, state.learner === "voted", all ? exact : number) : factorWords(run, replay.counts(run.updates.length)));
        weights.dataset.weights = linear ? JSON.stringify([...w, b]) : "";
      },
    };
  },
};

/** @param {Run} run @param {boolean} voted @param {(value: number) => string} write */
function weightWords(run, voted, write) {
  const { w, b } = run.predicting ?? run;
  const numbers = `${vector(w, write)}, b = ${write(b)}`;
  if (voted) return `At the end of the run the last w = ${numbers}; the plane shows the vote of all`;
  if (!run.predicting) return `At the end of the run w = ${numbers}`;
  return `At the end of the run ${run.pocket ? "the pocket's w" : "the average of w"} = ${numbers}`;
}

/**
 * Return the points that count, in the order of their first mistakes, as the library has them.
 * @param {Run} run @param {number[]} counts
 */
function factorWords(run, counts) {
  const support = [...new Set(run.updates.map((visit) => run.visits[visit]))];
  const factors = support.map((place) => run.signs[place] * counts[place]);
  return `At the end of the run, counted from 0: support points ${vector(support)}, factors ${vector(factors)}`;
}

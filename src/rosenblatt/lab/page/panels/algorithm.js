/** The algorithm that is chosen, as the texts print it: the lines of this visit lit, and its numbers beside them. */

import { button, make, setFormula, setText } from "../dom.js";
import { formula } from "../formulas.js";
import { LESSONS } from "../lesson_texts.js";
import { stepState } from "../lessons.js";
import { programOf } from "./programs.js";
import { watcher } from "./chart.js";

/** @import { App, Panel, Scene, View } from "../types.d.ts" */
/** @import { Line } from "./programs.js" */

const ABOUT =
  "The lines that ran at this visit are lit, and beside them stands what they did. Rest the pointer on a symbol to " +
  "see it on the plane. The numbers of algorithms and figures are those of the texts.";

/** @type {Panel} */
export const algorithm = { id: "algorithm", title: "Algorithm", about: ABOUT, create };

/** @param {HTMLElement} root @param {App} app @returns {View} */
function create(root, app) {
  const changed = watcher();
  const title = make("h2", { className: "headline", id: "algorithm-title" });
  const source = make("p", { className: "note" });
  const list = make("ol", { className: "program" });
  const begin = button(`New here? Start with the lesson “${LESSONS[0].title}”`, () => {
    const { hide, own } = app.state;
    app.begin({ ...stepState(LESSONS[0], 0), hide, own });
  });
  const invitation = make("p", {}, begin);
  root.append(title, source, list, invitation);
  let shown = "";
  /** @type {{line: Line, item: HTMLElement, tells: HTMLElement}[]} */
  let rows = [];
  return {
    update(scene) {
      const { state, run, moment, beat } = scene;
      invitation.hidden = Boolean(state.lesson) || state.hide.includes("lessons") || app.history.canUndo;
      const program = programOf(state);
      const key = `${state.learner} ${state.bias} ${state.kernel} ${state.loss} ${state.order}`;
      if (shown !== key) {
        shown = key;
        setText(title, program.title);
        setFormula(source, program.source);
        rows = program.lines.map((line) => {
          const tells = make("span", { className: "tells" });
          const item = make("li", { className: `in-${line.depth}` }, make("span", {}, ...formula(line.text)), tells);
          return { line, item, tells };
        });
        list.replaceChildren(...rows.map(({ item }) => item));
      }
      if (!changed(root, [run, moment?.t, beat && Math.floor(beat), key])) return;
      const now = rows.findLast(({ line }) => ran(line, scene, beat));
      for (const row of rows) {
        const runs = ran(row.line, scene, beat);
        row.item.classList.toggle("ran", runs);
        row.item.classList.toggle("now", row === now);
        if (row === now) row.item.setAttribute("aria-current", "step");
        else row.item.removeAttribute("aria-current");
        setFormula(row.tells, runs && run && moment ? row.line.tells?.(moment, run) ?? "" : "");
      }
    },
  };
}

/** Return whether a line has run at this visit; while an update is drawn, one after the other. @param {Line} line @param {Scene} scene @param {number | null} beat */
function ran({ when }, { moment, replay, state }, beat) {
  if (!moment || !replay) return false;
  if (when === "start") return moment.t === 0;
  if (when === "visit") return moment.t > 0;
  if (when === "update") return moment.updated && (beat === null || beat >= 1);
  if (when === "after") return moment.t > 0 && beat === null;
  return when === "end" && moment.t === replay.visits && beat === null && state.order !== "pick";
}

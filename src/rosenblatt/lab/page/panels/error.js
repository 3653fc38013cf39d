/** Training and test error after each pass, for the last weights, their average and, for perceptrons, their vote. */

import { make, setText, table } from "../dom.js";
import { ask, faultWords } from "../questions.js";
import { colors } from "../theme.js";
import { Chart, pictureCanvas, show, spread, watcher } from "./chart.js";

/** @import { App, Panel, Picture, Point, Run, View } from "../types.d.ts" */
/** @typedef {{last: number[], average: number[], vote?: number[]}} Series without a vote for learners that have none */
/** @typedef {{passes: number[], train: Series, test: Series | null, why?: string}} Errors */

/** @type {{name: keyof Series, title: string, dash?: number[], width: number}[]} */
const HYPOTHESES = [
  { name: "last", title: "last", width: 1.5 },
  { name: "average", title: "average", dash: [7, 4], width: 2 },
  { name: "vote", title: "vote", dash: [2, 3], width: 2 },
];

const ABOUT =
  "Shares of points that are wrong after each pass, of those that are trained on and of those that are held out. " +
  "The average of all **w** and their vote often do better than the last (A Course in Machine Learning, 4.6).";

/** @type {Panel} */
export const error = { id: "error", title: "Error", about: ABOUT, create };

/** @param {HTMLElement} root @param {App} app @returns {View} */
function create(root, app) {
  const changed = watcher();
  const headline = make("p", { className: "headline", id: "error-headline" });
  const canvas = pictureCanvas();
  const shares = makeTable();
  const note = make("p", { className: "note" });
  const hold = make("button", { type: "button", id: "error-hold" });
  const body = make("div", {}, canvas, shares.element, note);
  root.append(headline, body, make("div", { className: "row" }, hold));
  /** @type {Errors | null} */
  let errors = null;
  let [asked, busy, fault] = [-1, false, ""];
  /** @type {Chart[]} */
  let charts = [];

  /** Ask about the run in sight, once. */
  async function askOnce() {
    if (busy || asked === app.runs) return;
    [busy, asked] = [true, app.runs];
    try {
      [errors, fault] = [await ask("errors", app.state), ""];
    } catch (reason) {
      errors = null;
      fault = faultWords(reason);
    }
    busy = false;
    app.refresh();
  }

  hold.addEventListener("click", () => {
    const all = app.state.points.some((point) => point[3]);
    /** @param {Point} point @param {number} i @returns {Point} */
    const held = ([x, y, sign], i) => (!all && i % 3 === 2 ? [x, y, sign, true] : [x, y, sign]);
    app.change({ points: app.state.points.map(held) });
  });
  canvas.addEventListener("click", ({ offsetX, offsetY }) => {
    const chart = charts.find(({ room }) => offsetX <= room.right + 40 && offsetY <= room.bottom + 32);
    if (!chart || !app.run) return;
    const pass = Math.round(chart.valueAt(offsetX));
    app.go(pass < 1 ? 0 : app.run.passes[Math.min(pass, app.run.passes.length) - 1]);
  });

  return {
    update({ replay, run, moment, waiting, state }) {
      if (run) askOnce();
      if (!changed(root, [run, moment?.t, errors, fault, waiting, state.points])) return;
      const held = state.points.filter((point) => point[3]).length;
      setText(hold, held ? "Train on all points" : "Hold out every third point");
      const why = waiting || fault || errors?.why || (errors && run && moment ? "" : "Working out the errors by pass.");
      body.hidden = Boolean(why) || !errors?.passes.length;
      hold.hidden = state.points.length < 6 || (Boolean(why) && !held);
      if (why || !errors || !run || !moment) return setText(headline, why);
      const ended = run.passes.filter((end) => end <= moment.t).length;
      const shown = errors.passes.findLastIndex((pass) => pass <= ended);
      const total = run.passes.length;
      setText(headline, ended ? `After pass ${ended} of ${total}` : `Before the end of pass 1 of ${total}`);
      shares.fill(errors, shown, run.rows.length, held);
      const pocket = replay?.pocket(moment.t);
      const kept = pocket ? ` The pocket has ${pocket.mistakes} of ${run.rows.length} training points wrong.` : "";
      setText(note, noteOf(errors) + kept);
      const where = passAt(run, moment.t);
      canvas.classList.toggle("stacked", errors.test !== null && root.clientWidth < 480);
      show(canvas, `Errors after each of ${total} passes; the table has the numbers of pass ${ended}.`, (picture) => {
        charts = draw(picture, /** @type {Errors} */ (errors), where);
      });
    },
  };
}

/** Return the ways to predict that have errors. @param {Errors} errors */
function ways({ train }) {
  return HYPOTHESES.filter(({ name }) => train[name]);
}

/** @param {Errors} errors */
function noteOf({ train, test }) {
  const how = `Solid: the last weights; dashed: their average${train.vote ? "; dotted: their vote" : ""}. Click a pass to go there.`;
  return test ? how : `${how} Without points held out there is no test error.`;
}

/**
 * Return how many passes have been made after t visits, with the share of the pass in progress.
 * @param {Run} run @param {number} t
 */
function passAt({ passes }, t) {
  const ended = passes.filter((end) => end <= t).length;
  if (ended >= passes.length) return passes.length;
  const start = ended ? passes[ended - 1] : 0;
  return ended + (t - start) / (passes[ended] - start);
}

/** The table of the shares after one pass. */
function makeTable() {
  const kinds = /** @type {const} */ (["train", "test"]);
  const heads = kinds.map(() => make("th", { scope: "col" }));
  const rows = HYPOTHESES.map(({ name }) => kinds.map((kind) => make("td", { id: `error-${kind}-${name}` })));
  const caption = make("span", { className: "unseen" }, "Points that are wrong");
  const element = table("shares", caption, [make("td"), ...heads], HYPOTHESES.map(({ title }, i) => [title, ...rows[i]]));
  return {
    element,
    /** @param {Errors} errors @param {number} shown @param {number} trained @param {number} held */
    fill(errors, shown, trained, held) {
      setText(heads[0], `training, of ${trained}`);
      setText(heads[1], `test, of ${held}`);
      HYPOTHESES.forEach(({ name }, i) => {
        element.tBodies[0].rows[i].hidden = !errors.train[name];
        setText(rows[i][0], share(errors.train[name]?.[shown], trained));
        setText(rows[i][1], share(errors.test?.[name]?.[shown], held));
      });
      for (const cell of [heads[1], ...rows.map((row) => row[1])]) cell.hidden = !errors.test;
    },
  };
}

/** @param {number | undefined} value @param {number} of */
function share(value, of) {
  return value === undefined ? "–" : `${Math.round(value * of)} (${percent(value)})`;
}

/** @param {number} value */
function percent(value) {
  return `${Number((100 * value).toPrecision(3))} %`;
}

/** @param {Picture} picture @param {Errors} errors @param {number} where @returns {Chart[]} */
function draw(picture, errors, where) {
  const { ink, quiet } = colors();
  const series = [errors.train, ...(errors.test ? [errors.test] : [])];
  const drawn = ways(errors);
  const shares = (/** @type {Series} */ one, /** @type {keyof Series} */ name) => one[name] ?? [];
  const top = Math.max(0.05, ...series.flatMap((one) => drawn.flatMap(({ name }) => shares(one, name)))) * 1.08;
  const end = Math.max(1, errors.passes[errors.passes.length - 1]);
  const stacked = series.length > 1 && picture.width < 448;
  const [columns, lines] = stacked ? [1, 2] : [series.length, 1];
  const wide = (picture.width - 48) / columns - 68;
  const high = picture.height / lines;
  return series.map((one, i) => {
    const left = 48 + (stacked ? 0 : i * (wide + 68));
    const below = stacked ? i * high : 0;
    const room = { left, top: below + 28, right: left + wide, bottom: below + high - 40 };
    const chart = new Chart(picture, room, [0, end], [0, top]);
    picture.text(room.left, room.top - 14, i ? "test error" : "training error", { fill: ink });
    chart.axes({ title: "passes", write: i && !stacked ? () => "" : percent });
    for (const { name, dash, width } of drawn) {
      chart.curve(shares(one, name).map((value, n) => [errors.passes[n], value]), { stroke: ink, width, dash });
      if (end > 12) continue;
      shares(one, name).forEach((value, n) => picture.circle(chart.x(errors.passes[n]), chart.y(value), 2.5, { fill: ink }));
    }
    const wanted = drawn.map(({ name }) => chart.y(shares(one, name).at(-1) ?? 0) + 4);
    const places = spread(wanted, 15, room.top + 8, room.bottom + 4);
    drawn.forEach(({ title }, n) => picture.text(room.right + 6, places[n], title, { fill: quiet }));
    chart.now(where);
    return chart;
  });
}

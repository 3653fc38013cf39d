/** The transport: play, step forward and back, scrub; how many points are wrong; and the sentence that says what just happened. */

import { make, setAttribute, setFormula, setText } from "./dom.js";
import { wrongPoints } from "./hypothesis.js";
import { icon, iconButton } from "./icons.js";
import { Picture, fit, paint } from "./picture.js";
import { sentence } from "./sentences.js";
import { showsRun } from "./state.js";
import { colors } from "./theme.js";
import { counted } from "./words.js";

/** @import { App, Scene } from "./types.d.ts" */

const OWN = "Regions and rings are those of your line: move it until no point is ringed. The thin line is the run's.";

/** @param {HTMLElement} root @param {HTMLElement} words @param {App} app */
export function createTransport(root, words, app) {
  const play = iconButton("play", "Play (Space)", () => app.toggle());
  const forward = () => {
    if (app.at >= (app.replay?.visits ?? 0)) app.go(0); // as play does
    app.step(1);
  };
  play.id = "play";
  const buttons = [play, iconButton("back", "Step back (←)", () => app.step(-1)), iconButton("forward", "Step (→)", forward)];
  const range = make("input", { type: "range", min: "0", "aria-label": "Visits made", id: "scrub" });
  range.addEventListener("input", () => {
    app.pause();
    app.go(Number(range.value));
  });
  const canvas = make("canvas", { "aria-hidden": "true" });
  const wrong = make("strong", { className: "wrong", id: "wrong" });
  const place = make("span", { className: "note", id: "place" });
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Play and step");
  root.append(...buttons, make("div", { className: "scrub" }, canvas, range), wrong, place);

  return {
    /** @param {Scene} scene */
    update(scene) {
      const { replay, moment, state } = scene;
      const game = !showsRun(state);
      root.hidden = game || state.hide.includes("transport");
      const visits = replay?.visits ?? 0;
      const t = moment?.t ?? 0;
      if (range.max !== String(visits)) range.max = String(visits);
      if (range.value !== String(t)) range.value = String(t);
      const spoken = moment ? `${counted(t, "visit")}, ${counted(moment.k, "update")}` : "nothing to play";
      setAttribute(range, "aria-valuetext", spoken);
      range.disabled = !replay;
      for (const button of buttons) button.disabled = !replay;
      if (play.dataset.playing !== String(app.playing)) {
        play.dataset.playing = String(app.playing);
        play.replaceChildren(icon(app.playing ? "pause" : "play"));
        play.title = app.playing ? "Pause (Space)" : "Play (Space)";
        play.setAttribute("aria-label", play.title);
      }
      const all = wrongPoints(scene, state.panel === "own"); // as ringed on the plane
      wrong.hidden = place.hidden = !replay;
      setText(wrong, `${all.filter(Boolean).length} of ${all.length} wrong`);
      setText(place, placeWords(scene));
      setFormula(words, game ? app.shown?.caption ?? "" : state.panel === "own" && replay ? OWN : sentence(scene));
      drawScrub(canvas, scene);
    },
  };
}

/** @param {Scene} scene */
function placeWords({ replay, moment, run }) {
  if (!replay || !moment || !run) return "";
  const update = `update ${moment.k} / ${replay.updates.length}`;
  if (!run.passes.length) return `${update} · visit ${moment.t}`;
  const before = moment.pass > 1 ? run.passes[moment.pass - 2] : 0;
  return `${update} · pass ${moment.pass} · example ${moment.t - before}`;
}

/** Draw the bar with a tick at each update, shorter where the point was right, and a longer one at the end of each pass. @param {HTMLCanvasElement} canvas @param {Scene} scene */
function drawScrub(canvas, { replay, moment, run }) {
  const { width, height } = fit(canvas);
  const picture = new Picture(width, height);
  const [left, right, middle] = [8, width - 8, height / 2];
  picture.line(left, middle, right, middle, { stroke: colors().faint, width: 3 });
  if (replay && moment && run && replay.visits) {
    const at = (/** @type {number} */ t) => left + ((right - left) * t) / replay.visits;
    for (const end of run.passes) picture.line(at(end), middle - 3, at(end), middle + 3, { stroke: colors().quiet, width: 1 });
    const mistakes = new Set(replay.mistakes);
    /** @type {Map<number, number>} The height of the tick at each pixel. */
    const ticks = new Map();
    let last = -9;
    for (const update of replay.updates) {
      const x = Math.round(at(update)) - last < 2 ? last : Math.round(at(update));
      ticks.set(x, Math.max(ticks.get(x) ?? 0, mistakes.has(update) ? 9 : 5));
      last = x;
    }
    for (const [x, high] of ticks) picture.line(x, middle - high, x, middle - 2, { stroke: colors().quiet, width: 1 });
    picture.line(left, middle, at(moment.t), middle, { stroke: colors().ink, width: 3 });
    picture.circle(at(moment.t), middle, 7, { fill: colors().ink, stroke: colors().surface, width: 2 });
  }
  paint(canvas, picture);
}

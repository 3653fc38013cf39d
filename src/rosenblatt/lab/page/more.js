/** Behind More: what the plane shows, how long a run may be, how the page looks. */

import { checkbox, choice, make } from "./dom.js";
import { numberField } from "./controls.js";
import { zoom } from "./plane_keys.js";

/** @typedef {import("./app.js").App} App */

/** @type {Record<string, string>} */
const SHOWN = {
  regions: "regions",
  arrow: "weight vector w",
  ghosts: "past boundaries",
  margins: "margins of the boundary",
  radius: "R: the circle that holds all points",
  strip: "γ: the widest strip without points",
  average: "averaged boundary",
  vote: "voted boundary",
  hulls: "hulls of both classes",
};

/** @param {App} app */
export function createMore(app) {
  const boxes = Object.entries(SHOWN).map(([name, title]) => {
    const box = checkbox(title, (checked) => {
      const others = app.state.show.filter((other) => other !== name);
      app.change({ show: Object.keys(SHOWN).filter((other) => others.includes(other) || (checked && other === name)) });
    });
    box.input.id = `show-${name}`;
    return { name, ...box };
  });
  const passes = numberField("passes", 1, 10000, "1", (value) => app.change({ passes: Math.trunc(value) }));
  const updates = numberField("updates", 1, 2000, "1", (value) => app.change({ updates: Math.trunc(value) }));
  const theme = choice({ "": "as the system", light: "light", dark: "dark" }, (value) => {
    if (value) document.documentElement.dataset.theme = value;
    else delete document.documentElement.dataset.theme;
  }, { id: "theme" });
  const zoomOut = make("button", { type: "button" }, "Show more of the plane");
  const zoomIn = make("button", { type: "button" }, "Show less");
  const fitAll = make("button", { type: "button" }, "Show all points");
  zoomOut.addEventListener("click", () => zoom(app, 1.25));
  zoomIn.addEventListener("click", () => zoom(app, 0.8));
  fitAll.addEventListener("click", () => app.change({ view: viewOf(app.state.points) }));
  const group = (/** @type {string} */ title, /** @type {Node[]} */ ...parts) =>
    make("fieldset", {}, make("legend", {}, title), make("div", { className: "row" }, ...parts));
  const element = make(
    "div",
    { className: "more", id: "more", hidden: true, role: "region", "aria-label": "More settings" },
    group("On the plane", ...boxes.map(({ label }) => label)),
    group("A run ends after at most", passes.label, updates.label),
    group("View", zoomOut, zoomIn, fitAll, make("label", { className: "field" }, "colours", theme)),
  );
  const button = make("button", { type: "button", "aria-expanded": "false", "aria-controls": "more" }, "More");
  button.addEventListener("click", () => {
    element.hidden = !element.hidden;
    button.setAttribute("aria-expanded", String(!element.hidden));
    app.refresh();
  });
  return {
    button,
    element,
    /** @param {import("./types.d.ts").Scene} scene */
    update({ state }) {
      if (element.hidden) return;
      for (const { name, input } of boxes) input.checked = state.show.includes(name);
      if (document.activeElement !== passes.input) passes.input.value = String(state.passes);
      if (document.activeElement !== updates.input) updates.input.value = String(state.updates);
      for (const { input } of [passes, updates]) input.disabled = app.isRecording;
    },
  };
}

/**
 * Return the square that has all points in sight.
 * @param {import("./types.d.ts").Point[]} points
 * @returns {[number, number, number]}
 */
export function viewOf(points) {
  if (!points.length) return [0, 0, 5];
  const spans = [0, 1].map((axis) => {
    const values = points.map((point) => /** @type {number} */ (point[axis]));
    return [Math.min(...values), Math.max(...values)];
  });
  const half = (1.25 * Math.max(...spans.map(([low, high]) => high - low))) / 2 || 1;
  return [(spans[0][0] + spans[0][1]) / 2, (spans[1][0] + spans[1][1]) / 2, half];
}

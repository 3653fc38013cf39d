/** Behind More: what the plane shows, how long a run may be, how the page looks. */

import { button as makeButton, checkbox, choice, make, numberField } from "./dom.js";
import { zoom } from "./editing.js";
import { viewOf } from "./state.js";

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
  const zoomOut = makeButton("Show more of the plane", () => zoom(app, 1.25));
  const zoomIn = makeButton("Show less", () => zoom(app, 0.8));
  const fitAll = makeButton("Show all points", () => app.change({ view: viewOf(app.state.points) }));
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
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    button.click();
    button.focus();
  });
  return {
    button,
    element,
    /** @param {import("./types.d.ts").Scene} scene */
    update({ state }) {
      if (element.hidden) return;
      for (const { name, input } of boxes) input.checked = state.show.includes(name);
      passes.show(state.passes);
      updates.show(state.updates);
    },
  };
}

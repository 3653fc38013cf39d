/** The panels: tabs of which one is open above and one below. */

import { make } from "./dom.js";
import { bound } from "./panels/bound.js";
import { code } from "./panels/code.js";
import { error } from "./panels/error.js";
import { lift } from "./panels/lift.js";
import { projection } from "./panels/projection.js";
import { table } from "./panels/table.js";
import { vc } from "./panels/vc.js";
import { verdict } from "./panels/verdict.js";
import { weights } from "./panels/weights.js";

/** @typedef {import("./types.d.ts").Panel} Panel */
/** @typedef {import("./types.d.ts").View} View */
/** @typedef {import("./app.js").App} App */

/**
 * Make both sets of tabs.
 * @param {HTMLElement} upper
 * @param {HTMLElement} lower
 * @param {App} app
 * @returns {View}
 */
export function createPanels(upper, lower, app) {
  const sets = [
    createTabs(upper, app, "panel", [bound, projection, error, weights, lift, verdict, vc]),
    createTabs(lower, app, "lower", [code, table]),
  ];
  return {
    update(scene) {
      upper.hidden = lower.hidden = scene.state.hide.includes("panels");
      upper.closest("main")?.classList.toggle("alone", upper.hidden);
      if (upper.hidden) {
        app.overlay = null;
        return;
      }
      const open = sets.map((set) => set.open(scene.state));
      app.overlay = open[0].overlay?.bind(open[0]) ?? null;
      for (const view of open) view.update(scene);
    },
  };
}

/**
 * @param {HTMLElement} root
 * @param {App} app
 * @param {"panel" | "lower"} field
 * @param {Panel[]} panels
 */
function createTabs(root, app, field, panels) {
  const list = make("div", { className: "tabs", role: "tablist", "aria-label": field === "panel" ? "What to look at" : "The run as code and data" });
  const body = make("div");
  root.append(list, body);
  /** @type {Map<string, {tab: HTMLButtonElement, page: HTMLElement, view: View | null}>} */
  const parts = new Map();
  for (const { id, title } of panels) {
    const tab = make("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}` }, title);
    const page = make("div", { className: `panel ${id}`, role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}` });
    tab.addEventListener("click", () => app.change({ [field]: id }));
    list.append(tab);
    body.append(page);
    parts.set(id, { tab, page, view: null });
  }
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const place = panels.findIndex(({ id }) => id === app.state[field]);
    const next = panels[(place + step + panels.length) % panels.length].id;
    app.change({ [field]: next });
    parts.get(next)?.tab.focus();
  });
  return {
    /** Show the panel of the state and return it. @param {import("./types.d.ts").State} state @returns {View} */
    open(state) {
      const chosen = panels.find(({ id }) => id === state[field]) ?? panels[0];
      for (const [id, { tab, page }] of parts) {
        tab.setAttribute("aria-selected", String(id === chosen.id));
        tab.tabIndex = id === chosen.id ? 0 : -1;
        page.hidden = id !== chosen.id;
      }
      const part = /** @type {{page: HTMLElement, view: View | null}} */ (parts.get(chosen.id));
      part.view ??= chosen.create(part.page, app);
      return part.view;
    },
  };
}

/** The panels: tabs of which one is open. */

import { menu } from "./dialogs.js";
import { make, rich } from "./dom.js";
import { exercises } from "./exercises/exercises.js";
import { letters } from "./help.js";
import { algorithm } from "./panels/algorithm.js";
import { bound } from "./panels/bound.js";
import { code } from "./panels/code.js";
import { error } from "./panels/error.js";
import { lift } from "./panels/lift.js";
import { own } from "./panels/own.js";
import { projection } from "./panels/projection.js";
import { table } from "./panels/table.js";
import { vc } from "./panels/vc.js";
import { verdict } from "./panels/verdict.js";
import { weights } from "./panels/weights.js";

/** @import { App, View } from "./types.d.ts" */

const PANELS = [algorithm, own, projection, weights, error, verdict, lift, vc, table, code, bound, exercises];

/** @param {HTMLElement} root @param {App} app @returns {View} */
export function createPanels(root, app) {
  const list = make("div", { className: "tabs", role: "tablist", "aria-label": "What to look at" });
  const about = menu("about", "?");
  about.button.setAttribute("aria-label", "About this panel");
  root.append(make("div", { className: "row top" }, list, about.button), about.element);
  /** @type {View | null} */
  let open = null;
  const parts = PANELS.map((panel) => {
    const { id, title } = panel;
    const tab = make("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}` }, title);
    const page = make("div", { className: `panel ${id}`, role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}` });
    tab.addEventListener("click", () => app.change({ panel: id }));
    list.append(tab);
    root.append(page);
    return { panel, tab, page, view: /** @type {View | null} */ (null) };
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const place = PANELS.findIndex(({ id }) => id === app.state.panel);
    const next = parts[(place + step + parts.length) % parts.length];
    app.change({ panel: next.panel.id });
    next.tab.focus();
  });
  return {
    update(scene) {
      root.hidden = scene.state.hide.includes("panels");
      root.closest("main")?.classList.toggle("alone", root.hidden);
      open = null;
      for (const part of parts) {
        const chosen = part.panel.id === scene.state.panel;
        if (chosen && part.page.hidden) list.scrollLeft = part.tab.offsetLeft - list.offsetLeft - 48; // on a phone: in sight
        part.tab.setAttribute("aria-selected", String(chosen));
        part.tab.tabIndex = chosen ? 0 : -1;
        part.page.hidden = !chosen;
        if (chosen && !root.hidden) open = part.view ??= part.panel.create(part.page, app);
      }
      app.shown = open;
      const words = PANELS.find(({ id }) => id === scene.state.panel)?.about ?? "";
      if (about.element.dataset.words !== words) {
        about.element.dataset.words = words;
        about.element.replaceChildren(make("p", {}, ...rich(words)), ...letters());
      }
      open?.update(scene);
    },
  };
}

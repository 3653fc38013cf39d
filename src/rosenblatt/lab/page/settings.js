/** What is behind More: features, order, the learner's numbers, the steps, what the plane shows, how the page looks. */

import { button, checkbox, choice, make, numberField } from "./dom.js";
import { zoom } from "./editing.js";
import { viewOf } from "./state.js";
import { FEATURE_NAMES, ORDER_NAMES } from "./words.js";

/** @import { App, State } from "./types.d.ts" */

/** @type {Record<string, string>} */
const SHOWN = {
  regions: "regions",
  graded: "regions graded by activation",
  arrow: "weight vector **w**",
  ghosts: "past boundaries",
  margins: "margins of the boundary",
  radius: "R: the circle that holds all points",
  strip: "γ: the widest strip without points",
  average: "averaged boundary",
  vote: "voted boundary",
  hulls: "hulls of both classes",
  neighbour: "boundary of the nearest neighbour",
  tree: "boundary of a decision tree",
};
const LOSSES = { hinge: "hinge", squared_hinge: "squared", plain: "no limit" };
const LOSS_HINT =
  "How long a passive-aggressive step is: hinge, at most C (PA-I); squared hinge, always less than the point needs " +
  "(PA-II); no limit, just as far as makes the point right by 1 (PA)";

/** @param {App} app */
export function createSettings(app) {
  /** @type {((state: State) => void)[]} Each shows a part of the state. */
  const updates = [];
  /** @param {string} name @param {number} least @param {number} most @param {string} step @param {string} [hint] */
  const number = (name, least, most, step, hint = "") => {
    const field = numberField(name, least, most, step, (value) => app.change({ [name]: step === "1" ? Math.trunc(value) : value }), (words) => app.notice(words));
    field.input.id = `set-${name}`;
    field.label.title = hint;
    updates.push((state) => field.show(Number(state[/** @type {keyof State} */ (name)])));
    return field.label;
  };
  /** @param {string} title @param {Record<string, string>} options @param {() => string} now @param {(value: any) => void} chosen @param {string} [hint] */
  const select = (title, options, now, chosen, hint = "") => {
    const made = choice(options, chosen, { id: `set-${title}` });
    updates.push(() => made.value !== now() && (made.value = now()));
    return make("label", { className: "field", title: hint }, title, made);
  };
  /** @param {"features" | "show"} field @param {Record<string, string>} titles */
  const boxes = (field, titles) => Object.entries(titles).map(([name, title]) => {
    const box = checkbox(title, (checked) => {
      const names = Object.keys(titles).filter((other) => (other === name ? checked : app.state[field].includes(other)));
      app.change({ [field]: names });
    });
    box.input.id = `${field}-${name}`;
    updates.push((state) => (box.input.checked = state[field].includes(name)));
    return box.label;
  });
  /** A group that is in sight where it has a meaning. @param {string} title @param {(state: State) => boolean} when @param {Node[]} parts */
  const group = (title, when, ...parts) => {
    const made = make("fieldset", {}, make("legend", {}, title), make("div", { className: "row" }, ...parts));
    updates.push((state) => (made.hidden = !when(state)));
    return made;
  };
  /** @param {HTMLElement} part @param {(state: State) => boolean} when */
  const only = (part, when) => {
    updates.push((state) => (part.hidden = !when(state)));
    return part;
  };
  const always = () => true;
  const taught = (/** @type {State} */ { hide }) => !hide.includes("learner");
  const bias = checkbox("bias b", (checked) => app.change({ bias: checked }));
  bias.input.id = "set-bias";
  updates.push((state) => (bias.input.checked = state.bias));
  const order = select("order", ORDER_NAMES, () => app.state.order, (value) => app.change({ order: value, picks: [] }));
  const features = only(make("div", { className: "row" }, ...boxes("features", FEATURE_NAMES)), ({ learner }) => !["circle", "kernel"].includes(learner));
  const themes = { "": "as the system", light: "light", dark: "dark" };
  const root = document.documentElement;
  const dressed = (/** @type {string} */ value) => (value ? (root.dataset.theme = value) : delete root.dataset.theme);
  const parts = [
    group("Features the learner sees", (state) => taught(state) && state.learner !== "kernel", features, bias.label),
    group("Kernel", (state) => taught(state) && state.learner === "kernel",
      select("kernel", { rbf: "rbf", poly: "polynomial" }, () => app.state.kernel, (kernel) => app.change({ kernel })),
      number("gamma", 0.001, 1000, "any", "how narrow a bump is"),
      only(number("degree", 1, 9, "1"), ({ kernel }) => kernel === "poly")),
    group("The learner's own numbers", (state) => taught(state) && ["margin", "pa", "arow"].includes(state.learner),
      only(number("margin", 0, 1000, "any", "a point that is right by no more than this makes an update, too"), ({ learner }) => learner === "margin"),
      only(select("loss", LOSSES, () => app.state.loss, (loss) => app.change({ loss }), LOSS_HINT), ({ learner }) => learner === "pa"),
      only(number("C", 0.001, 1000, "any", "smaller values make smaller steps"), ({ learner, loss }) => learner === "pa" && loss !== "plain"),
      only(number("r", 0.001, 1000, "any", "larger values make smaller steps, and variances shrink more slowly"), ({ learner }) => learner === "arow")),
    group("Order of visits", ({ hide, learner }) => !hide.includes("order") && learner !== "restart", order,
      only(number("seed", 0, 2 ** 31 - 1, "1"), (state) => ["once", "each"].includes(state.order))),
    group("Play and step", always,
      select("step", { update: "by update", example: "by example", pass: "by pass" }, () => app.stepBy, (by) => (app.stepBy = by)),
      select("speed", { slow: "slow", medium: "medium", fast: "fast" }, () => app.speed, (speed) => (app.speed = speed))),
    group("A run ends after at most", always, number("passes", 1, 10000, "1"), number("updates", 1, 2000, "1")),
    group("On the plane", always, ...boxes("show", SHOWN)),
    group("View", always,
      button("Zoom out", () => zoom(app, 1.25)), button("Zoom in", () => zoom(app, 0.8)),
      button("All points", () => app.change({ view: viewOf(app.state.points) })),
      select("colours", themes, () => root.dataset.theme ?? "", dressed)),
  ];
  return {
    parts,
    /** @param {State} state */
    update: (state) => updates.forEach((show) => show(state)),
  };
}

/** The numbers and words that belong to one learner: a kernel, a margin, the size of steps. */

import { choice, make, numberField } from "./dom.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./types.d.ts").State} State */

/** @type {Record<State["loss"], string>} */
const LOSSES = { hinge: "hinge", squared_hinge: "squared", plain: "no limit" };
const LOSS_TITLE =
  "How long a passive-aggressive step is: hinge, at most C (PA-I); squared hinge, always less than the point needs " +
  "(PA-II); no limit, just as far as makes the point right by 1 (PA)";

/** @param {App} app */
export function createParameters(app) {
  const kernel = choice({ rbf: "rbf", poly: "polynomial" }, (value) => app.change({ kernel: /** @type {any} */ (value) }), { id: "kernel" });
  const loss = choice(LOSSES, (value) => app.change({ loss: /** @type {any} */ (value) }), { id: "loss" });
  const degree = numberField("degree", 1, 9, "1", (value) => app.change({ degree: Math.trunc(value) }));
  const [gamma, margin, C, r] = [
    field(app, "gamma", 0.001, "how narrow a bump is"),
    field(app, "margin", 0, "a point that is right by no more than this makes an update, too"),
    field(app, "C", 0.001, "smaller values make smaller steps"),
    field(app, "r", 0.001, "larger values make smaller steps, and variances shrink more slowly"),
  ];
  const losses = make("label", { title: LOSS_TITLE }, "loss", loss);
  const groups = {
    kernel: group("Kernel", make("label", {}, "kernel", kernel), gamma.label, degree.label),
    margin: group("Margin", margin.label),
    pa: group("Passive-aggressive steps", losses, C.label),
    arow: group("AROW", r.label),
  };
  const element = make("div", { className: "row" }, ...Object.values(groups));
  return {
    element,
    /** @param {import("./types.d.ts").Scene} scene */
    update({ state }) {
      element.hidden = !(state.learner in groups);
      for (const [learner, one] of Object.entries(groups)) one.hidden = learner !== state.learner;
      degree.label.hidden = state.kernel !== "poly";
      C.label.hidden = state.loss === "plain";
      if (kernel.value !== state.kernel) kernel.value = state.kernel;
      if (loss.value !== state.loss) loss.value = state.loss;
      degree.show(state.degree);
      gamma.show(state.gamma);
      margin.show(state.margin);
      C.show(state.C);
      r.show(state.r);
    },
  };
}

/** @param {App} app @param {"gamma" | "margin" | "C" | "r"} name @param {number} least @param {string} title */
function field(app, name, least, title) {
  const made = numberField(name, least, 1000, "any", (value) => app.change({ [name]: value }));
  made.input.id = `parameter-${name}`;
  made.label.title = title;
  return made;
}

/** @param {string} title @param {Node[]} parts */
function group(title, ...parts) {
  return make("div", { className: "row features", role: "group", "aria-label": title }, ...parts);
}

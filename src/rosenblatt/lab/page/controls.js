/** The line at the top: lesson or preset, learner, order, seed; features and bias below it; everything else in More. */

import { createBrushes } from "./brushes.js";
import { button, checkbox, choice, make, numberField } from "./dom.js";
import { PRESETS } from "./engine/presets.js";
import { LESSONS } from "./lesson_texts.js";
import { createMore } from "./more.js";
import { createParameters } from "./parameters.js";
import { ask, faultWords } from "./questions.js";
import { DEFAULTS } from "./state.js";
import { FEATURE_NAMES, LEARNER_NAMES, ORDER_NAMES } from "./words.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./types.d.ts").Scene} Scene */
/** @typedef {import("./types.d.ts").State} State */

/**
 * @param {HTMLElement} root
 * @param {App} app
 * @param {{share: {openShare(): void, openExport(): void, openFile(): void}, help: {open(): void}, lessons: {start(id: string): void}}} parts
 */
export function createControls(root, app, { share, help, lessons }) {
  const opener = make("select", { id: "opener" });
  const lessonGroup = make("optgroup", { label: "Lessons" });
  const presetGroup = make("optgroup", { label: "Points to try" });
  opener.append(make("option", { value: "" }, "Lesson or points …"), lessonGroup, presetGroup);
  presetGroup.append(...Object.entries(PRESETS).map(([name, title]) => make("option", { value: `preset ${name}` }, title)));
  lessonGroup.append(...LESSONS.map(({ id, title }) => make("option", { value: `lesson ${id}` }, title)));
  opener.addEventListener("change", () => {
    const [kind, name] = opener.value.split(" ");
    app.notice("");
    if (kind === "lesson") lessons.start(name);
    else if (name) openPreset(app, name);
    opener.blur();
  });
  const learner = choice(LEARNER_NAMES, (value) => app.change({ learner: /** @type {any} */ (value) }), { id: "learner" });
  const order = choice(ORDER_NAMES, (value) => app.change({ order: /** @type {any} */ (value), picks: [], at: 0 }), { id: "order" });
  const seed = numberField("seed", 0, 2 ** 31 - 1, "1", (value) => app.change({ seed: Math.trunc(value) }));
  seed.label.className = "extra";
  seed.input.id = "seed";
  const more = createMore(app);
  const helpButton = button("?", () => help.open(), { "aria-label": "Help and keys" });
  const open = button("Open", () => share.openFile(), { title: "Open a table of points or a state from a file" });
  const shareButtons = [button("Share", share.openShare), button("Export", share.openExport)];
  const fields = {
    lessons: make("label", {}, make("span", { className: "unseen" }, "Lesson or points"), opener),
    learner: make("label", {}, make("span", { className: "name" }, "learner"), learner),
    order: make("label", { className: "extra" }, make("span", { className: "name" }, "order"), order),
    seed: seed.label,
  };
  const brushes = createBrushes(app);
  const features = createFeatures(app);
  const buttons = make("div", { className: "push" }, more.button, open, ...shareButtons, helpButton);
  root.append(
    ...Object.values(fields),
    make("div", { className: "tools" }, brushes.element, features.element, buttons),
  );
  root.after(more.element);
  document.getElementById("sentence")?.after(brushes.chosen);
  more.button.addEventListener("click", () => root.classList.toggle("open", !more.element.hidden));

  return {
    /** @param {Scene} scene */
    update(scene) {
      const { state } = scene;
      const hidden = (/** @type {string} */ part) => state.hide.includes(part);
      fields.lessons.hidden = hidden("lessons");
      fields.learner.hidden = hidden("learner");
      fields.order.hidden = hidden("order") || state.learner === "restart";
      fields.seed.hidden = fields.order.hidden || !["once", "each"].includes(state.order);
      for (const one of [open, ...shareButtons]) one.hidden = hidden("share");
      set(learner, state.learner);
      set(order, state.order);
      seed.show(state.seed);
      set(opener, state.lesson ? `lesson ${state.lesson}` : app.preset ? `preset ${app.preset}` : "");
      brushes.update(scene);
      features.update(scene);
      more.update(scene);
    },
  };
}

/** @param {HTMLSelectElement | HTMLInputElement} field @param {string} value */
function set(field, value) {
  if (field.value !== value) field.value = value;
}

/** Open points to try. @param {App} app @param {string} name */
async function openPreset(app, name) {
  try {
    const preset = await ask("preset", { name, seed: app.state.seed });
    app.pause();
    app.selected = -1;
    app.preset = name;
    app.announce("");
    const { hide, lower, seed } = app.state;
    app.change({ ...DEFAULTS, hide, lower, seed, ...preset });
  } catch (fault) {
    app.notice(faultWords(fault));
  }
}

/** The feature builder, and the numbers of the learner. @param {App} app */
function createFeatures(app) {
  const boxes = Object.entries(FEATURE_NAMES).map(([name, title]) => {
    const box = checkbox(title, (checked) => {
      const names = app.state.features.filter((other) => other !== name);
      const all = Object.keys(FEATURE_NAMES).filter((other) => names.includes(other) || (checked && other === name));
      app.change({ features: all });
    });
    box.input.id = `feature-${name}`;
    return { name, ...box };
  });
  const bias = checkbox("bias", (checked) => app.change({ bias: checked }));
  bias.input.id = "bias";
  const linear = make("div", { className: "row features", role: "group", "aria-label": "Features" }, "features");
  linear.append(...boxes.map(({ label }) => label));
  const parameters = createParameters(app);
  const element = make("div", { className: "row extra" }, linear, bias.label, parameters.element);
  return {
    element,
    /** @param {Scene} scene */
    update(scene) {
      const { state } = scene;
      element.hidden = state.hide.includes("learner");
      linear.hidden = state.learner === "circle" || state.learner === "kernel";
      bias.label.hidden = state.learner === "kernel";
      for (const { name, input } of boxes) input.checked = state.features.includes(name);
      bias.input.checked = state.bias;
      parameters.update(scene);
    },
  };
}

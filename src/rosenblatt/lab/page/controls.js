/** The line at the top: points or a lesson, the learner, and two menus, More for every other setting and File. */

import { button, choice, make } from "./dom.js";
import { PRESETS } from "./engine/presets.js";
import { startExercise } from "./exercises/exercises.js";
import { EXERCISES } from "./exercises/table.js";
import { LESSONS } from "./lesson_texts.js";
import { menu } from "./dialogs.js";
import { ask, faultWords } from "./questions.js";
import { createSettings } from "./settings.js";
import { DEFAULTS } from "./state.js";
import { LEARNER_NAMES } from "./words.js";

/** @import { App, Scene } from "./types.d.ts" */

/**
 * @param {HTMLElement} root @param {App} app
 * @param {{files: [string, () => void][], lessons: {start(id: string): void}}} parts what the menu File has, and the lessons
 */
export function createControls(root, app, { files, lessons }) {
  const opener = make("select", { id: "opener", "aria-label": "Lesson, exercise or points" });
  const group = (/** @type {string} */ label, /** @type {string} */ kind, /** @type {string[][]} */ entries) =>
    make("optgroup", { label }, ...entries.map(([name, title]) => make("option", { value: `${kind} ${name}` }, title)));
  opener.append(
    make("option", { value: "" }, "Lessons, exercises …"),
    group("Lessons", "lesson", LESSONS.map(({ id, title }) => [id, title])),
    group("Exercises", "exercise", EXERCISES.map(({ name, title }) => [name, title])),
    group("Points to try", "preset", Object.entries(PRESETS)),
  );
  opener.addEventListener("change", () => {
    const [kind, name] = opener.value.split(" ");
    app.notice("");
    if (kind === "lesson") lessons.start(name);
    else if (kind === "exercise") startExercise(app, name);
    else if (name) openPreset(app, name);
    opener.blur();
  });
  const learner = choice(LEARNER_NAMES, (value) => app.change({ learner: /** @type {any} */ (value) }), { id: "learner", "aria-label": "Learner" });
  const settings = createSettings(app);
  const more = menu("more", "More", ...settings.parts);
  const file = menu("file", "File", ...files.map(([title, done]) => button(title, () => {
    file.element.hidePopover();
    done();
  }, { className: "plain" })));
  root.append(opener, learner, more.button, file.button, more.element, file.element);

  return {
    /** @param {Scene} scene */
    update({ state }) {
      opener.hidden = state.hide.includes("lessons");
      learner.hidden = state.hide.includes("learner");
      file.button.hidden = state.hide.includes("share");
      if (learner.value !== state.learner) learner.value = state.learner;
      const shown = state.exercise ? `exercise ${state.exercise}` : state.lesson ? `lesson ${state.lesson}` : app.preset ? `preset ${app.preset}` : "";
      if (opener.value !== shown) opener.value = shown;
      settings.update(state);
    },
  };
}

/** Open points to try, and play. @param {App} app @param {string} name */
async function openPreset(app, name) {
  try {
    const preset = await ask("preset", { name, seed: app.state.seed });
    const { hide, seed, own } = app.state;
    app.begin({ ...DEFAULTS, hide, seed, own, ...preset, at: undefined });
    app.preset = name;
  } catch (fault) {
    app.notice(faultWords(fault));
  }
}

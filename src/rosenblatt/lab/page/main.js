/** The page: asks for the state to open with, makes the app, and puts its parts together. */

import { App } from "./app.js";
import { createControls } from "./controls.js";
import { createHelp } from "./help.js";
import { createKeys } from "./keys.js";
import { createLessons } from "./lessons.js";
import { createPanels } from "./panels.js";
import { createPlane } from "./plane.js";
import { ask, recording } from "./questions.js";
import { createShare } from "./share.js";
import { DEFAULTS, fromFragment } from "./state.js";
import { stillness, watchColors } from "./theme.js";
import { createTransport } from "./transport.js";

/** @param {string} id */
const part = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

const app = new App();
const plane = createPlane(part("plane"), app);
const share = createShare(app, plane);
const help = createHelp();
const lessons = createLessons(part("lesson"), app);
const controls = createControls(part("controls"), app, { share, help, lessons });
// Panels come first: what the one in sight draws on the plane is then known to the plane.
for (const view of [
  createPanels(part("panels"), part("lower"), app),
  plane,
  controls,
  lessons,
  share,
  createTransport(part("transport"), part("sentence"), app),
]) {
  app.addView(view);
}
createKeys(app, { help });
part("notice-close").addEventListener("click", () => app.notice(""));
watchColors(() => app.refresh());
addEventListener("resize", () => app.refresh());

/** For scripts and tests: the app as it is. */
Object.assign(window, { lab: app });

try {
  const start = await ask("start", {});
  controls.setPresets(start.presets);
  const given = recording ? recording.state : fromFragment(location.hash.slice(1));
  const ordinary = { ...DEFAULTS, ...start.state };
  if (location.hash && !given) app.notice("What follows # in the address is no state of the lab: copy the whole address.");
  try {
    await app.open(given ? { ...DEFAULTS, ...given } : ordinary);
  } catch (fault) {
    app.notice(`The address has a state that cannot be opened. ${words(fault)}`);
    await app.open(ordinary);
  }
  if (!given && !stillness()) app.play();
} catch (fault) {
  app.notice(words(fault));
}

/** @param {unknown} fault */
function words(fault) {
  return fault instanceof Error ? fault.message : String(fault);
}

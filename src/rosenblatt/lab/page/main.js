/** The page: asks for the state to open with, makes the app, and puts its parts together. */

import { App } from "./app.js";
import { createControls } from "./controls.js";
import { createHelp } from "./help.js";
import { createKeys } from "./keys.js";
import { createLessons } from "./lessons.js";
import { createPanels } from "./panels.js";
import { createPlane } from "./plane.js";
import { ask, faultWords, recording } from "./questions.js";
import { createShare } from "./share.js";
import { NO_STATE, fromFragment } from "./state.js";
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
  try {
    await app.open(given ?? start.state);
    if (location.hash.length > 1 && !given) app.notice(NO_STATE);
  } catch (fault) {
    await app.open(start.state);
    app.notice(`The address has a state that cannot be opened. ${faultWords(fault)}`);
  }
  if (!given && !stillness()) app.play();
} catch (fault) {
  app.notice(faultWords(fault));
}

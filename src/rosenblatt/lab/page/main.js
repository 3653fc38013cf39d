/** The page: asks for the state to open with, makes the app, and puts its parts together. */

import { App } from "./app.js";
import { createControls } from "./controls.js";
import { createHelp } from "./help.js";
import { createKeys } from "./keys.js";
import { createLessons } from "./lessons.js";
import { createPanels } from "./panels.js";
import { createPlane } from "./plane.js";
import { START } from "./engine/presets.js";
import { faultWords } from "./questions.js";
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

/** What `rosenblatt lab` put into the page: a state, and words about it. @type {{state?: Partial<import("./types.d.ts").State>, note?: string}} */
const given = JSON.parse(part("given").textContent || "{}");

/** Open the state of the address, or of the page, or the start. */
async function open() {
  const shared = fromFragment(location.hash.slice(1));
  const state = shared ?? given.state;
  try {
    await app.open(state ?? START);
    if (location.hash.length > 1 && !shared) app.notice(NO_STATE);
    else if (given.note && !shared) app.notice(given.note);
  } catch (fault) {
    await app.open(START);
    app.notice(`This state cannot be opened. ${faultWords(fault)}`);
  }
  if (!state && !stillness()) app.play();
}

open();

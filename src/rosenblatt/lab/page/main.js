/** The page: makes the app, puts its parts together, and opens the state of the address, of the page, or the start. */

import { App } from "./app.js";
import { createControls } from "./controls.js";
import { createHelp } from "./help.js";
import { createKeys } from "./keys.js";
import { createLegend } from "./legend.js";
import { createLessons } from "./lessons.js";
import { createPanels } from "./panels.js";
import { createPlane } from "./plane.js";
import { LESSONS } from "./lesson_texts.js";
import { START } from "./engine/presets.js";
import { startExercise } from "./exercises/exercises.js";
import { exerciseNamed } from "./exercises/table.js";
import { fileEntries, takeDrops } from "./files.js";
import { ask, faultWords } from "./questions.js";
import { keepAddress, shareDialog } from "./share.js";
import { NO_STATE, fromFragment, isHandedIn } from "./state.js";
import { stillness, watchColors } from "./theme.js";
import { createTransport } from "./transport.js";

/** @import { State } from "./types.d.ts" */

/** @param {string} id */
const part = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

const app = new App();
const plane = createPlane(part("plane"), app);
const help = createHelp();
const lessons = createLessons(part("lesson"), app);
/** @type {[string, () => void][]} */
const files = [["Share a link …", shareDialog(app)], ...fileEntries(app, plane), ["For a lecture, large", () => app.present()], ["Help and keys (?)", help.open]];
// Panels come first: what the one in sight draws on the plane is then known to the plane.
for (const view of [
  createPanels(part("panels"), app),
  plane,
  createControls(part("controls"), app, { files, lessons }),
  createLegend(part("legend"), app),
  lessons,
  ...(location.protocol === "about:" ? [] : [keepAddress(app)]), // a frame in a notebook has no address of its own
  createTransport(part("transport"), part("sentence"), app),
]) {
  app.addView(view);
}
createKeys(app, { help });
takeDrops(app);
part("notice-close").addEventListener("click", () => app.notice(""));
watchColors(() => app.refresh());
addEventListener("resize", () => app.refresh());

document.addEventListener("pointerover", ({ target }) => {
  const symbol = /** @type {Element} */ (target).closest("[data-symbol]")?.getAttribute("data-symbol") ?? "";
  if (symbol === app.symbol) return;
  app.symbol = symbol;
  for (const each of document.querySelectorAll("[data-symbol]")) each.classList.toggle("lit", each.getAttribute("data-symbol") === symbol);
  app.refresh();
});

/** For scripts and tests: the app as it is. */
Object.assign(window, { lab: app });

/** What `rosenblatt lab` put into the page: a state, or the text of a table. @type {{state?: Partial<State>, table?: string}} */
const given = JSON.parse(part("given").textContent || "{}");

/** What to show: `?present` for a screen in a lecture, `?embed=PANEL` for a part of another page (some draw on the plane), `?lesson=ID`, `?exercise=NAME`. */
const ON_PLANE = ["own", "verdict", "vc", "exercise"];
const asked = new URLSearchParams(location.search);
const embed = asked.get("embed") ?? "";
const exercise = asked.get("exercise") ?? "";
const panel = document.getElementById(`tab-${embed}`);
if (asked.has("present")) app.present();
const alone = embed === "plane" ? ["plane-alone"] : ON_PLANE.includes(embed) ? [] : ["panel-alone"];
if (panel || embed === "plane") document.body.classList.add("embed", ...alone);

/** Open the state of the address, or of the page, or a lesson, or the start; it plays unless its place in the run is given. */
async function open() {
  const shared = fromFragment(location.hash.slice(1));
  const handedIn = [shared, given.state].find((one) => one && isHandedIn(one));
  let state = handedIn ? undefined : shared ?? given.state;
  let note = location.hash.length > 1 && !shared ? NO_STATE : "";
  try {
    if (given.table && !shared) ({ note, ...state } = await ask("csv", { text: given.table }));
    await app.open(state ?? START);
    app.notice(note);
  } catch (fault) {
    await app.open(START);
    app.notice(`This ${given.table && !shared ? "table" : "state"} cannot be opened. ${faultWords(fault)}`);
  }
  if (handedIn) return app.grade([handedIn]);
  const lesson = LESSONS.find(({ id }) => id === asked.get("lesson"));
  if (lesson && !state) return lessons.start(lesson.id);
  if (exerciseNamed(exercise) && !state) return startExercise(app, exercise);
  if (panel) app.change({ panel: embed });
  if (state?.at !== undefined) return;
  if (stillness()) app.go(Infinity);
  else app.play();
}

open();

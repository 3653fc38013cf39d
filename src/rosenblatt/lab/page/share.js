/** The state in the address, and the dialog that shares it. */

import { copyButton, createDialog, openDialog } from "./dialogs.js";
import { checkbox, make } from "./dom.js";
import { exportDialog, fileChooser, takeDrops } from "./files.js";
import { faultWords } from "./questions.js";
import { NO_STATE, fromFragment, toFragment } from "./state.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("./types.d.ts").State} State */

const PARTS = {
  lessons: "the choice of lessons and points",
  learner: "learner and features",
  order: "order and seed",
  panels: "panels",
  transport: "play and steps",
  share: "share and export",
};

const HELD = "points, learner, place in the run and panels";
const OTHERS = "The HTML file that Export saves is this page with this state: it opens anywhere, and needs no network.";

/** Whether the page is the text of a frame, as in a notebook: it then has no address of its own. */
const IN_NOTEBOOK = typeof location !== "undefined" && location.protocol === "about:";

/**
 * Keep the state in the address, and make the dialogs.
 * @param {App} app
 * @param {{picture(): Picture}} plane
 */
export function createShare(app, plane) {
  const address = IN_NOTEBOOK ? { update() {} } : keepAddress(app);
  takeDrops(app);
  /** @type {ReturnType<typeof shareDialog> | null} */
  let share = null;
  /** @type {HTMLDialogElement | null} */
  let files = null;
  return {
    update: address.update,
    openShare() {
      share ??= shareDialog(app);
      share.open();
    },
    openExport() {
      files ??= exportDialog(app, plane);
      openDialog(files);
    },
    /** Let the reader choose a file, and open it. */
    openFile: fileChooser(app),
  };
}

/**
 * Write the state into the address a moment after it changes, and open the state of an address that is put in.
 * @param {App} app
 */
function keepAddress(app) {
  let [timer, last] = [0, 0];
  /** @type {State | null} */
  let seen = null;
  const write = () => {
    timer = 0;
    last = performance.now();
    history.replaceState(history.state, "", `#${toFragment(app.state)}`);
  };
  addEventListener("hashchange", async () => {
    const fragment = location.hash.slice(1);
    if (document.getElementById(fragment)) return write(); // a link within the page
    const given = fromFragment(fragment);
    try {
      if (!given) throw new Error(NO_STATE);
      await app.open(given);
    } catch (fault) {
      app.notice(faultWords(fault));
      write();
    }
  });
  return {
    /** @param {import("./types.d.ts").Scene} scene */
    update({ state }) {
      if (state === seen || app.runs === 0) return;
      seen = state;
      if (timer && app.playing) return;
      clearTimeout(timer);
      timer = window.setTimeout(write, app.playing ? Math.max(250, last + 1000 - performance.now()) : 250);
    },
  };
}

/** @param {App} app */
function shareDialog(app) {
  const fragment = () => {
    const hide = boxes.filter(({ input }) => input.checked).map(({ name }) => name);
    return `#${toFragment({ ...app.state, hide })}`;
  };
  const address = make("input", { type: "text", readOnly: true, id: "share-address", className: "wide" });
  const command = make("input", { type: "text", readOnly: true, id: "share-command", className: "wide" });
  const write = () => {
    const after = fragment();
    address.value = location.href.split("#")[0] + after;
    command.value = `rosenblatt lab "http://127.0.0.1/${after}"`;
  };
  const boxes = Object.entries(PARTS).map(([name, title]) => ({ name, ...checkbox(title, write) }));
  for (const field of [address, command]) {
    field.addEventListener("focus", () => field.setSelectionRange(0, field.value.length, "backward"));
  }
  const legend = make("legend", {}, "For a class: hide in the page that opens");
  const dialog = createDialog(
    "share",
    "Share",
    IN_NOTEBOOK ? null : labelled("Address: for those who can open this page", address, "the address"),
    labelled("Command: on any machine with rosenblatt", command, "the command"),
    make("fieldset", { className: "boxes" }, legend, ...boxes.map(({ label }) => label)),
    make("p", { className: "note" }, `${IN_NOTEBOOK ? "It holds" : "Both hold"} ${HELD}. ${OTHERS}`),
  );
  return {
    open() {
      for (const { name, input } of boxes) input.checked = app.state.hide.includes(name);
      write();
      openDialog(dialog);
    },
  };
}

/** @param {string} title @param {HTMLInputElement} field @param {string} what */
function labelled(title, field, what) {
  const label = make("label", { for: field.id, className: "note" }, title);
  const row = make("div", { className: "row" }, field, copyButton(() => field.value, what));
  return make("div", { className: "labelled" }, label, row);
}

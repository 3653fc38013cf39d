/** The state in the address, and the link that others open. */

import { copyButton, createDialog, openDialog } from "./dialogs.js";
import { checkbox, make } from "./dom.js";
import { faultWords } from "./questions.js";
import { NO_STATE, fromFragment, isHandedIn, toFragment } from "./state.js";

/** @import { App, Scene, State } from "./types.d.ts" */

const PARTS = {
  lessons: "the choice of lessons and points",
  learner: "learner and features",
  order: "order and seed",
  panels: "panels",
  transport: "play and steps",
  share: "share and export",
};

/**
 * Write the state into the address a moment after it changes, and open the state of an address that is put in.
 * @param {App} app
 */
export function keepAddress(app) {
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
      if (isHandedIn(given)) return app.grade([given]);
      await app.open(given);
    } catch (fault) {
      app.notice(faultWords(fault));
      write();
    }
  });
  return {
    /** @param {Scene} scene */
    update({ state }) {
      if (state === seen || app.runs === 0) return;
      seen = state;
      if (timer && app.playing) return;
      clearTimeout(timer);
      timer = window.setTimeout(write, app.playing ? Math.max(250, last + 1000 - performance.now()) : 250);
    },
  };
}

/** Return a function that opens the dialog with the link. @param {App} app */
export function shareDialog(app) {
  /** @type {HTMLDialogElement | null} */
  let dialog = null;
  const address = make("input", { type: "text", readOnly: true, id: "share-address", "aria-label": "Link" });
  const write = () => {
    const hide = boxes.filter(({ input }) => input.checked).map(({ name }) => name);
    const fragment = `#${toFragment({ ...app.state, hide })}`;
    address.value = alone() ? `rosenblatt lab "http://127.0.0.1/${fragment}"` : location.href.split("#")[0] + fragment;
  };
  const boxes = Object.entries(PARTS).map(([name, title]) => ({ name, ...checkbox(title, write) }));
  address.addEventListener("focus", () => address.setSelectionRange(0, address.value.length, "backward"));
  return () => {
    dialog ??= createDialog(
      "share",
      "Share",
      make("p", {}, alone() ? FROM_A_FILE : "This link holds points, learner, place in the run and panel."),
      make("div", { className: "row" }, address, copyButton(() => address.value, "the link")),
      make("fieldset", { className: "boxes" }, make("legend", {}, "For a class: hide in the page that opens"), ...boxes.map(({ label }) => label)),
    );
    for (const { name, input } of boxes) input.checked = app.state.hide.includes(name);
    write();
    openDialog(dialog);
  };
}

/** Return whether others cannot open the address of this page. */
const alone = () => !location.protocol.startsWith("http");
const FROM_A_FILE =
  "This page is a file on this computer, so a link to it would open nowhere else. Send the file itself (File, This page), " +
  "which opens anywhere as it is now. Or send this command, for those who have rosenblatt:";

/** Keys that work everywhere but in fields that take text. */

/** @import { App } from "./types.d.ts" */

/** @param {App} app @param {{help: {open(): void}}} parts */
export function createKeys(app, { help }) {
  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.defaultPrevented || target.closest("input:not([type=checkbox]), select, textarea, dialog")) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
      event.preventDefault();
      if (event.shiftKey) app.redo();
      else app.undo();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = actions(app, help, target)[event.key];
    if (!action) return;
    event.preventDefault();
    action(event.shiftKey);
  });
}

/**
 * @param {App} app @param {{open(): void}} help @param {HTMLElement} target
 * @returns {Record<string, ((shift: boolean) => void) | undefined>}
 */
function actions(app, help, target) {
  const onButton = target.closest("button, a, summary, input");
  return {
    " ": onButton ? undefined : () => app.toggle(),
    ArrowRight: (shift) => app.step(1, shift ? "pass" : undefined),
    ArrowLeft: (shift) => app.step(-1, shift ? "pass" : undefined),
    Home: () => app.go(0),
    End: () => app.go(Infinity),
    1: () => app.setBrush(1),
    2: () => app.setBrush(-1),
    "?": () => help.open(),
    Escape: document.body.classList.contains("present") ? () => app.present(false) : undefined,
  };
}

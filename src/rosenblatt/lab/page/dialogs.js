/** Dialogs, menus, copying and files. */

import { button, make, setText } from "./dom.js";

/**
 * Return a dialog with a title and a button that closes it; Escape does, too, and focus goes back to where it was.
 * @param {string} id @param {string} title @param {...(Node | string | null)} children
 */
export function createDialog(id, title, ...children) {
  const heading = make("h2", { id: `${id}-title`, tabIndex: -1 }, title);
  const foot = make("div", { className: "row end" }, button("Close", () => dialog.close()));
  const dialog = make("dialog", { id, "aria-labelledby": heading.id }, heading, ...children, foot);
  document.body.append(dialog);
  return dialog;
}

/**
 * Show a dialog from its top, with the focus on its title: what comes first is in sight, and is read first.
 * @param {HTMLDialogElement} dialog
 */
export function openDialog(dialog) {
  if (!dialog.open) dialog.showModal();
  dialog.querySelector("h2")?.focus();
  dialog.scrollTop = 0;
}

/**
 * Return a menu and the button that opens it; Escape and a click elsewhere close it.
 * @param {string} id @param {string} title @param {...Node} children
 */
export function menu(id, title, ...children) {
  const button = make("button", { type: "button" }, title);
  const element = make("div", { id, className: "menu", popover: "auto", role: "group", "aria-label": title }, ...children);
  button.popoverTargetElement = element;
  return { button, element };
}

/**
 * Return a button that copies a text and says so for a moment.
 * @param {() => string} text
 * @param {string} [what] said to people who do not see what is beside the button
 */
export function copyButton(text, what = "") {
  const button = make("button", { type: "button", ...(what ? { "aria-label": `Copy ${what}` } : {}) }, "Copy");
  const said = make("span", { className: "note", role: "status" });
  let timer = 0;
  button.addEventListener("click", async () => {
    const done = await copied(text(), button);
    setText(said, done ? "Copied." : "Copying is not allowed here: select it and press Ctrl+C.");
    clearTimeout(timer);
    timer = window.setTimeout(() => setText(said, ""), 4000);
  });
  return make("span", { className: "row" }, button, said);
}

/** Copy a text, also where there is no clipboard to ask. @param {string} text @param {HTMLElement} beside */
async function copied(text, beside) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", { value: text, className: "unseen" });
    beside.after(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    beside.focus();
    return done;
  }
}

/** Hand a file to the browser, which saves it. @param {string} name @param {BlobPart} content @param {string} type */
export function save(name, content, type) {
  const link = make("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

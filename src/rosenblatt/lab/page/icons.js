/** Icons as inline SVG, since fonts may lack them. */

import { button } from "./dom.js";

/** @type {Record<string, string>} */
const PATHS = {
  back: "M2 2h2v12H2zM14 2v12L5 8z",
  play: "M4 2l10 6-10 6z",
  pause: "M3 2h4v12H3zM9 2h4v12H9z",
  forward: "M12 2h2v12h-2zM2 2v12l9-6z",
  undo: "M6 2L1 6l5 4V7.500h4a2.500 2.500 0 0 1 0 5H5V14.500h5a4.500 4.500 0 0 0 0-9H6z",
  redo: "M10 2l5 4-5 4V7.500H6a2.500 2.500 0 0 0 0 5h5V14.500H6a4.500 4.500 0 0 1 0-9h4z",
  disc: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2z",
  triangle: "M8 1l7 13H1z",
};

/** Return an icon, which says nothing to screen readers. @param {string} name */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/**
 * Return a button with an icon and a name.
 * @param {string} name @param {string} title @param {() => void} pressed
 * @param {string} [text] beside the icon
 */
export function iconButton(name, title, pressed, text = "") {
  const made = button(icon(name), pressed, { title, "aria-label": title });
  made.append(text);
  return made;
}

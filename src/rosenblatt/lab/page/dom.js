/** Small helpers that make elements. */

import { number } from "./words.js";

/**
 * Return a new element with properties, and with children, each an element or a text.
 * @template {keyof HTMLElementTagNameMap} Name @param {Name} name
 * @param {Record<string, any>} [properties] names with a hyphen, and `role`, become attributes
 * @param {...(Node | string | null)} children @returns {HTMLElementTagNameMap[Name]}
 */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes("-") || key === "role" || key === "for") element.setAttribute(key, value);
    else Object.assign(element, { [key]: value });
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/**
 * Return a select with options.
 * @param {Record<string, string>} options titles by value
 * @param {(value: string) => void} chosen @param {Record<string, any>} [properties]
 */
export function choice(options, chosen, properties = {}) {
  const select = make("select", properties);
  select.append(...Object.entries(options).map(([value, title]) => make("option", { value }, title)));
  select.addEventListener("change", () => chosen(select.value));
  return select;
}

/** Return a button. @param {string | Element} title @param {() => void} pressed @param {Record<string, any>} [properties] */
export function button(title, pressed, properties = {}) {
  const element = make("button", { type: "button", ...properties }, title);
  element.addEventListener("click", pressed);
  return element;
}

/**
 * Return a field for a number within limits; what is out of them is put back, and told in a sentence.
 * @param {string} title @param {number} least @param {number} most @param {string} step
 * @param {(value: number) => void} changed @param {(words: string) => void} tell
 */
export function numberField(title, least, most, step, changed, tell) {
  const input = make("input", { type: "number", min: String(least), max: String(most), step });
  let now = "";
  input.addEventListener("change", () => {
    const value = Number(input.value);
    if (input.value !== "" && value >= least && value <= most) return changed(value);
    input.value = now;
    tell(`The ${title} must be a number from ${number(least)} to ${number(most)}.`);
  });
  return {
    input,
    label: make("label", { className: "field" }, title, input),
    /** @param {number} value */
    show(value) {
      now = String(value);
      if (document.activeElement !== input && input.value !== now) input.value = now;
    },
  };
}

/** Return a checkbox with its label, in which vectors are between stars. @param {string} title @param {(checked: boolean) => void} changed */
export function checkbox(title, changed) {
  const input = make("input", { type: "checkbox" });
  input.addEventListener("change", () => changed(input.checked));
  return { input, label: make("label", { className: "check" }, input, ...rich(title)) };
}

/**
 * Return a table whose rows begin with their titles.
 * @param {string} className @param {string | Node} caption @param {(string | Node)[]} heads of the columns, if any
 * @param {(string | Node)[][]} rows cells, or what is in them
 */
export function table(className, caption, heads, rows) {
  const cell = (/** @type {string | Node} */ content, scope = "") =>
    content instanceof HTMLTableCellElement ? content : make(scope ? "th" : "td", scope ? { scope } : {}, content);
  const line = (/** @type {HTMLElement[]} */ cells) => make("tr", {}, ...cells);
  const body = rows.map(([title, ...cells]) => line([cell(title, "row"), ...cells.map((each) => cell(each))]));
  const parts = [make("caption", {}, caption), make("tbody", {}, ...body)];
  if (heads.length) parts.splice(1, 0, make("thead", {}, line(heads.map((head) => cell(head, "col")))));
  return make("table", { className }, ...parts);
}

/** Set the text of an element where it is another. @param {Element} element @param {string} text */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Set an attribute where it is another. @param {Element} element @param {string} name @param {string} value */
export function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Write a formula where it is another. @param {HTMLElement} element @param {string} text */
export function setFormula(element, text) {
  if (element.textContent !== text) element.replaceChildren(...vectors(text));
}

/** Return a text in which the vectors w, x and u are bold. @param {string} text */
export function vectors(text) {
  return rich(text.replace(/(?<![\p{L}\d])[wxu](?![\p{L}\p{No}])/gu, "**$&**"));
}

/** Return a text with what is between two pairs of stars in bold, as vectors are. @param {string} text */
export function rich(text) {
  return text.split("**").map((part, i) => (i % 2 ? make("b", { "data-symbol": part }, part) : part));
}

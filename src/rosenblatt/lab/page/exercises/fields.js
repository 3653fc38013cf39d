/** Fields in which students answer, one for each kind: texts, choices, steps in order, points. */

import { button, choice, make, setFormula } from "../dom.js";
import { addPoint } from "../editing.js";
import { labelWords, vector } from "../words.js";
import { pointsGiven } from "./table.js";

/** @import { App, Exercise, Field, Point } from "../types.d.ts" */
/** @typedef {{element: HTMLElement, value(): any, show(value: any): void}} Widget */
/** @typedef {{field: Field, exercise: Exercise, app: App, changed: () => void}} Place */

/** What names of weights look like. @type {Record<string, string>} */
const NAMES = { w1: "w₁", w2: "w₂", w3: "w₃", x1: "x₁", x2: "x₂" };
const CLASSES = { "1": "+1", "-1": "−1" };

/** Return a label in which vectors are bold. @param {"span" | "legend"} name @param {string} text */
function title(name, text) {
  const element = make(name);
  setFormula(element, text);
  return element;
}

/** Return a number where a text is one, else the text. @param {string} text */
function numeric(text) {
  const plain = text.trim().replaceAll("−", "-");
  return plain && Number.isFinite(Number(plain)) ? Number(plain) : text.trim();
}

/** Return a field for a text. @param {Place} place @param {string} name @param {string} className */
function textField({ changed }, name, className) {
  const input = make("input", { type: "text", className, autocomplete: "off", spellcheck: false });
  input.addEventListener("input", changed);
  return { input, label: make("label", { className: "field" }, title("span", name), input) };
}

/** Return fields for numbers that belong together. @param {Place} place @param {string[]} names @returns {Widget} */
function numbers(place, names) {
  const fields = names.map((name) => textField(place, `${NAMES[name] ?? name} =`, "short"));
  const row = make("div", { className: "row" }, ...fields.map(({ label }) => label));
  return {
    element: make("fieldset", {}, title("legend", place.field.label), row),
    value: () => fields.map(({ input }) => numeric(input.value)),
    show: (values) => fields.forEach(({ input }, i) => (input.value = String(values?.[i] ?? ""))),
  };
}

/** @param {Place} place @param {string} className @returns {Widget} */
function text(place, className) {
  const { input, label } = textField(place, place.field.label, className);
  return { element: label, value: () => numeric(input.value), show: (value) => (input.value = String(value ?? "")) };
}

/** Return radio buttons, or a select within a program. @param {Place} place @returns {Widget} */
function options({ field, exercise, changed }) {
  const all = field.options ?? [];
  if (exercise.given.program) {
    const titles = Object.fromEntries(all.map((option) => [option.id, option.text]));
    const select = choice({ "": "choose …" }, changed, { "aria-label": field.label });
    select.append(...all.map(({ id }) => make("option", { value: id }, titles[id])));
    return { element: select, value: () => select.value, show: (value) => (select.value = value in titles ? value : "") };
  }
  const inputs = all.map(({ id }) => make("input", { type: "radio", name: `answer-${field.name}`, value: id }));
  const labels = all.map((option, i) => make("label", { className: "check" }, inputs[i], title("span", option.text)));
  for (const input of inputs) input.addEventListener("change", changed);
  return {
    element: make("fieldset", { className: "choices" }, title("legend", field.label), ...labels),
    value: () => inputs.find(({ checked }) => checked)?.value ?? "",
    show: (value) => inputs.forEach((input) => (input.checked = input.value === value)),
  };
}

/** Return the steps that were chosen, in order, and those that were not. @param {Place} place @returns {Widget} */
function order({ field, changed }) {
  const all = field.options ?? [];
  /** @type {string[]} */
  let steps = [];
  const [chosen, rest] = [make("ol", { className: "steps" }), make("ul", { className: "steps" })];
  const none = make("p", { className: "note" }, "No step yet: add the first with +.");
  const over = make("p", { className: "note" }, "Not used:");
  const element = make("fieldset", {}, title("legend", field.label), none, chosen, over, rest);

  /** Put a step into a place of the list, or take it out, and keep the focus on it. @param {string} id @param {number} [to] */
  const move = (id, to) => {
    steps = steps.filter((other) => other !== id);
    if (to !== undefined) steps.splice(to, 0, id);
    draw();
    /** @type {HTMLElement | null} */ (element.querySelector(`[data-step="${id}"] button`))?.focus();
    changed();
  };
  /** @param {{id: string, text: string}} option @param {HTMLElement[]} buttons */
  const item = ({ id, text }, ...buttons) =>
    make("li", { "data-step": id }, make("span", { className: "row" }, ...buttons), title("span", text));
  const draw = () => {
    const used = steps.flatMap((id) => all.filter((option) => option.id === id));
    const left = all.filter(({ id }) => !steps.includes(id));
    chosen.replaceChildren(...used.map((option, i) => item(option,
      button("↑", () => move(option.id, Math.max(0, i - 1)), { "aria-label": `Move step ${i + 1} up` }),
      button("×", () => move(option.id), { "aria-label": `Take step ${i + 1} out` }))));
    rest.replaceChildren(...left.map((option) =>
      item(option, button("+", () => move(option.id, steps.length), { "aria-label": `Add: ${option.text}` }))));
    none.hidden = used.length > 0;
    over.hidden = !left.length;
  };
  draw();
  return {
    element,
    value: () => steps,
    show(value) {
      steps = Array.isArray(value) ? value.filter((id) => all.some((option) => option.id === id)) : [];
      draw();
    },
  };
}

/** @param {Place} place @returns {Widget & {toggle(row: number): void}} */
function subset({ field, exercise, changed }) {
  const points = pointsGiven(exercise, []);
  const boxes = points.map(([x1, x2, y], i) => {
    const input = make("input", { type: "checkbox" });
    input.addEventListener("change", changed);
    const name = exercise.given.names?.[i] ?? (y > 0 ? "●" : "▲");
    return { input, label: make("label", { className: "check" }, input, `${name} ${vector([x1, x2])}`) };
  });
  return {
    element: make("fieldset", {}, title("legend", `${field.label} (press them on the plane)`), make("div", { className: "row" }, ...boxes.map(({ label }) => label))),
    value: () => boxes.flatMap(({ input }, i) => (input.checked ? [i] : [])),
    show: (value) => boxes.forEach(({ input }, i) => (input.checked = Array.isArray(value) && value.includes(i))),
    toggle(row) {
      boxes[row].input.checked = !boxes[row].input.checked;
      changed();
    },
  };
}

/** Return the points on the plane as a list, whose order is that of the visits. @param {Place} place @returns {Widget} */
function points({ field, app }) {
  const list = make("ol", { className: "placed" });
  const count = make("p", { className: "note" });
  let focused = -1; // the point whose buttons get the focus when the list is there again
  /** @param {Point[]} changed @param {number} [focus] */
  const set = (changed, focus = -1) => {
    focused = focus;
    app.change({ points: changed });
  };
  const reverse = button("Reverse the list", () => set(app.state.points.toReversed()));
  /** @param {Point} point @param {number} i @param {Point[]} all */
  const item = ([x, y, sign], i, all) => {
    const up = button("↑", () => set(all.with(i - 1, all[i]).with(i, all[i - 1]), i - 1), { "aria-label": `Move point ${i + 1} up`, disabled: i === 0 });
    const out = button("×", () => set(all.toSpliced(i, 1), Math.min(i, all.length - 2)), { "aria-label": `Remove point ${i + 1}` });
    return make("li", {}, `${sign > 0 ? "●" : "▲"} ${vector([x, y])} ${labelWords(sign)}`, make("span", { className: "row" }, up, out));
  };
  return {
    element: make("fieldset", {}, title("legend", `${field.label}: at most ${field.most}, on the plane or typed`), count, list, make("div", { className: "row" }, ...typedPoint(app), reverse)),
    value: () => app.state.points.map(([x, y, sign]) => [x, y, sign]),
    show() {
      const { points: all } = app.state;
      count.textContent = all.length ? "Visited from the first to the last." : "Click on the plane to place points.";
      reverse.disabled = all.length < 2;
      list.replaceChildren(...all.map(item));
      /** @type {HTMLElement | null | undefined} */ (list.children[focused]?.querySelector("button:not(:disabled)"))?.focus();
      focused = -1;
    },
  };
}

/** Return what a point is typed in. @param {App} app @returns {HTMLElement[]} */
function typedPoint(app) {
  const [x1, x2] = ["x₁", "x₂"].map((name) => make("input", { type: "text", className: "short", placeholder: name, "aria-label": `${name} of a new point` }));
  const label = choice(CLASSES, () => {}, { "aria-label": "y of a new point" });
  const add = button("Add", () => {
    const [x, y] = [x1, x2].map(({ value }) => numeric(value));
    if (typeof x !== "number") return x1.focus();
    if (typeof y !== "number") return x2.focus();
    addPoint(app, x, y, label.value === "1" ? 1 : -1);
    x1.value = x2.value = "";
    x1.focus();
  });
  for (const input of [x1, x2]) input.addEventListener("keydown", (event) => event.key === "Enter" && add.click());
  return [x1, x2, label, add];
}

/** @param {Place} place @returns {Widget} */
function line(place) {
  const [first, second] = ["First", "Second"].map((name) => numbers({ ...place, field: { ...place.field, label: name } }, ["x1", "x2"]));
  return {
    element: make("fieldset", { className: "pair" }, title("legend", place.field.label), first.element, second.element),
    value: () => [first.value(), second.value()],
    show(value) {
      first.show(value?.[0]);
      second.show(value?.[1]);
    },
  };
}

/** @type {Record<Field["kind"], (place: Place) => Widget>} */
const KINDS = {
  number: (place) => text(place, "short"),
  formula: (place) => text(place, ""),
  weights: (place) => numbers(place, place.field.names ?? []),
  place: (place) => numbers(place, ["x1", "x2"]),
  choice: options,
  order,
  subset,
  points,
  line,
};

/** Return what a field of an answer is entered in; `changed` is told of every change. @param {Place} place @returns {Widget} */
export const createField = (place) => KINDS[place.field.kind](place);

/** Numbers and names, with real minus signs. */

/** @type {Record<string, string>} */
export const FEATURE_NAMES = { x: "x₁", y: "x₂", xy: "x₁x₂", x2: "x₁²", y2: "x₂²", r2: "x₁² + x₂²" };

/** Return what the weight of a feature is called. @param {string} name of the feature, or b */
export const weightName = (name) => ({ x: "w₁", y: "w₂", b: "b" })[name] ?? `w for ${FEATURE_NAMES[name]}`;

/** @type {Record<string, string>} */
export const LEARNER_NAMES = {
  perceptron: "Perceptron",
  averaged: "Averaged perceptron",
  voted: "Voted perceptron",
  pocket: "Pocket",
  restart: "Restart after each update",
  margin: "Margin perceptron",
  pa: "Passive-aggressive",
  arow: "AROW",
  circle: "Lifted (circle)",
  kernel: "Kernel perceptron",
};

/** @type {Record<string, string>} */
export const ORDER_NAMES = {
  fixed: "as listed",
  once: "shuffled once",
  each: "shuffled each pass",
  pick: "I pick the next point",
};

/** Return a number for people: up to four digits that count. @param {number} value */
export function number(value) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "?";
  const size = Math.abs(value);
  if (size >= 1e7 || (size > 0 && size < 1e-3)) return minus(value.toExponential(2));
  const text = size >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(4)));
  return minus(text);
}

/** Return a number to its last digit. @param {number} value */
export function exact(value) {
  return minus(String(value));
}

/** @param {string} text */
function minus(text) {
  return text.replaceAll("-", "−");
}

/** Return a vector for people. @param {number[]} values @param {(value: number) => string} [write] */
export function vector(values, write = number) {
  return `(${values.map(write).join(", ")})`;
}

/** Return a number of things. @param {number} count @param {string} one @param {string} [many] */
export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** Return a label. @param {number} sign */
export const labelWords = (sign) => (sign > 0 ? "+1" : "−1");

/** Return what a label looks like. @param {number} sign */
export function classWords(sign) {
  return sign > 0 ? "blue disc" : "orange triangle";
}

/**
 * Return the most mistakes that a bound allows; a bound on an integer is rounded down, but not by its own rounding.
 * @param {number} bound
 */
export function mostMistakes(bound) {
  return Math.floor(bound * (1 + 1e-9));
}

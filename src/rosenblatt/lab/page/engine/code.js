/** Python that makes the run of a state again, bit for bit. */

import { exactDot } from "./exact.js";
import { BY_MARGIN, examplesOf, featureNames, mostPasses } from "./learners.js";
import { counted } from "../words.js";

/** @import { State } from "../types.d.ts" */
/** @import { Made } from "./learners.js" */

const WIDTH = 100; // the longest line that lists points
/** @type {Record<string, string>} */
const FORMULAS = { x: "x1", y: "x2", xy: "x1 * x2", x2: "x1 * x1", y2: "x2 * x2", r2: "x1 * x1 + x2 * x2" };
/** @type {Record<string, string>} */
const CLASSES = { averaged: "AveragedPerceptron", voted: "VotedPerceptron", margin: "MarginPerceptron", pa: "PassiveAggressive", arow: "AROW", kernel: "KernelPerceptron" };
/** The library's defaults. @type {Record<string, any>} */
const DEFAULTS = { margin: 10, C: 1, loss: "hinge", r: 10, hypothesis: "last", fit_intercept: true, shuffle: true, random_state: null, max_updates: null };
/** The library's defaults of max_iter, where they are not 100. @type {Record<string, number>} */
const MOST_PASSES = { averaged: 10, voted: 10, pa: 10, arow: 5, kernel: 10 };

/**
 * Return a program that repeats a run and prints the model; it imports NumPy and the library alone.
 * @param {State} state @param {Made} made
 */
export function pythonCode(state, made) {
  const shape = state.learner === "circle" && isCircle(made);
  const restart = state.learner === "restart";
  const name = nameOf(state);
  const own = restart
    ? `from rosenblatt.textbook import perceptron_restart${state.bias ? ", with_dummy_feature" : ""}`
    : `from rosenblatt import ${shape ? `${name}, circle_from_plane` : name}`;
  const parts = [["import numpy as np", own], dataLines(state)];
  parts.push(...(restart ? [restartLines(state, made)] : modelLines(state, made, shape)));
  return `${parts.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** @param {State} state @returns {string} */
const nameOf = ({ learner }) => CLASSES[learner] ?? "Perceptron";

/** Return whether a plane over (x, y, x² + y²) stands over a circle, its outside or a half-plane. @param {Made} made */
function isCircle({ w: [u, v, c], b }) {
  return c === 0 ? u !== 0 || v !== 0 : exactDot([u, v, -4 * b], [u, v, c]).n > 0n;
}

/** Return a number as Python writes it. @param {number} value */
function python(value) {
  if (value === Infinity) return "np.inf";
  const text = String(value);
  if (Object.is(value, -0)) return "-0.0";
  const size = Math.abs(value);
  if (size && (size < 1e-4 || size >= 1e16)) return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  return /[.e]/.test(text) ? text : `${text}.0`;
}

// points

/** @param {State} state */
function dataLines(state) {
  const names = featureNames(state);
  const plain = names.join() === "x,y";
  const lines = plain
    ? []
    : ["def features(points):", "    x1, x2 = points[:, 0], points[:, 1]", `    return np.column_stack([${names.map((name) => FORMULAS[name]).join(", ")}])`, "", ""];
  for (const [ending, heldOut] of /** @type {[string, boolean][]} */ ([["", false], ["_test", true]])) {
    const { rows, y } = examplesOf(state, heldOut);
    if (!rows.length) continue;
    const pairs = rows.map((i) => `[${python(state.points[i][0])}, ${python(state.points[i][1])}]`);
    lines.push(...arrayLines(plain ? `X${ending}` : `points${ending}`, pairs));
    if (!plain) lines.push(`X${ending} = features(points${ending})`);
    lines.push(...arrayLines(`y${ending}`, y.map(String)));
  }
  return lines;
}

/** @param {string} name @param {string[]} items */
function arrayLines(name, items) {
  const line = `${name} = np.array([${items.join(", ")}])`;
  if (line.length <= WIDTH) return [line];
  const lines = [`${name} = np.array([`];
  let current = "   ";
  for (const item of items) {
    if (current.length + item.length + 2 > WIDTH) {
      lines.push(current);
      current = "   ";
    }
    current += ` ${item},`;
  }
  return [...lines, current, "])"];
}

// learners

/** @param {State} state @param {Made} made @param {boolean} shape */
function modelLines(state, made, shape) {
  const learner = [`model = ${nameOf(state)}(${parameters(state, made)})`];
  if (state.order === "pick") {
    const picks = state.picks.map((i) => made.rows.indexOf(i)).filter((place) => place >= 0);
    learner.push(`picks = [${picks.join(", ")}]`, `model.partial_fit(X[picks], y[picks], classes=[-1, 1])${note(state, made)}`);
  } else {
    learner.push(`model.fit(X, y)${note(state, made)}`);
  }
  return [learner, resultLines(state, shape)];
}

/** Return the arguments, without defaults and those that do not change this run. @param {State} state @param {Made} made */
function parameters(state, made) {
  const { learner, order } = state;
  /** @type {Record<string, any>} */
  const given = {};
  if (learner === "margin") given.margin = state.margin;
  if (learner === "pa") given.C = state.loss === "plain" ? Infinity : state.C;
  if (learner === "pa" && state.loss !== "plain") given.loss = state.loss;
  if (learner === "arow") given.r = state.r;
  if (learner === "pocket") given.hypothesis = "pocket";
  if (learner === "pa" || learner === "kernel") given.hypothesis = "last"; // their own default is the average
  if (learner === "kernel") given.kernel = state.kernel;
  if (learner === "kernel" && state.kernel === "poly") given.degree = state.degree;
  if (learner === "kernel") given.gamma = state.gamma;
  if (learner === "kernel" && state.kernel === "poly") given.coef0 = state.coef0;
  const always = learner === "kernel" ? Object.keys(given) : ["hypothesis"];
  if (order !== "pick") given.max_iter = mostPasses(state, made.rows);
  if (learner !== "kernel") given.fit_intercept = state.bias;
  if (order === "fixed") given.shuffle = false;
  if (order === "once") given.shuffle = "once";
  if (order === "once" || order === "each") given.random_state = state.seed;
  if (made.updates.length >= state.updates) given.max_updates = state.updates;
  const usual = (/** @type {string} */ name) => (name === "max_iter" ? (MOST_PASSES[learner] ?? 100) : DEFAULTS[name]);
  const written = Object.entries(given).filter(([name, value]) => always.includes(name) || value !== usual(name));
  const whole = ["degree", "max_iter", "random_state", "max_updates"];
  return written.map(([name, value]) => `${name}=${literal(value, whole.includes(name))}`).join(", ");
}

/** @param {any} value @param {boolean} whole */
function literal(value, whole) {
  if (typeof value === "string") return `"${value}"`;
  if (typeof value === "boolean") return value ? "True" : "False";
  return whole ? String(value) : python(value);
}

/** Return a comment on the warning that the program will give, or "". @param {State} state @param {Made} made */
function note(state, made) {
  const { y, X, visits, passes, mistakes } = made;
  const visited = state.order === "fixed" ? y : state.order === "pick" ? visits.map((place) => y[place]) : [];
  if (visited.length >= 100 && visited.slice(0, 100).every((label) => label === visited[0])) return "  # warns that the points of one class all come first";
  if (state.order === "pick" || made.converged) return "";
  const start = passes.at(-2) ?? 0;
  const last = mistakes.filter((visit) => visit >= start).length;
  if (last && !BY_MARGIN.slice(1).includes(state.learner) && !["averaged", "voted", "pocket"].includes(state.learner)) return "  # warns that no pass was without a mistake";
  if (state.learner === "kernel" || last < 0.1 * (visits.length - start)) return "";
  const ranges = X[0].map((_, j) => Math.max(...X.map((x) => x[j])) - Math.min(...X.map((x) => x[j]))).filter((range) => range > 0);
  return Math.max(...ranges) / Math.min(...ranges) > 100 ? "  # warns that features differ widely in size" : "";
}

/** @param {State} state @param {boolean} shape */
function resultLines(state, shape) {
  const last = state.learner === "voted" ? "last_" : "";
  const lines =
    state.learner === "kernel"
      ? ['print("support points:", model.support_)', 'print("their factors:", model.dual_coef_[0])']
      : [`print("weights:", model.${last}coef_[0], "bias:", model.${last}intercept_[0])`];
  if (state.learner === "arow") lines.push('print("their variances:", model.variance_[0], model.intercept_variance_[0])');
  if (state.order === "pick") {
    lines.push("right = y * model.decision_function(X) > 0", 'print("updates:", model.n_updates_, "every point on its side:", right.all())');
  } else {
    lines.push('print("updates:", model.n_updates_, "converged:", model.converged_)');
  }
  if (shape) lines.push("print(circle_from_plane(model.coef_[0], model.intercept_[0]))");
  if (examplesOf(state, true).rows.length) lines.push('print("right on the points held out:", model.score(X_test, y_test))');
  return lines;
}

/** Repeat the restart algorithm up to the update at which this run ended. @param {State} state @param {Made} made */
function restartLines(state, made) {
  const limit = made.converged ? state.updates : made.updates.length;
  const examples = "list(zip(X.tolist(), y.tolist()))";
  const lines = [
    state.bias ? `D = with_dummy_feature(${examples})  # the first weight is the bias` : `D = ${examples}`,
    `w = perceptron_restart(D, max_updates=${limit})  # makes ${counted(made.updates.length, "update")}`,
    state.bias ? "b, w = w[0], w[1:]" : "b = 0.0",
    'print("weights:", w, "bias:", b)',
    'print("every point on its side:", (y * (X @ w + b) > 0).all())',
  ];
  if (examplesOf(state, true).rows.length) lines.push('print("right on the points held out:", np.mean(y_test * (X_test @ w + b) > 0))');
  return lines;
}


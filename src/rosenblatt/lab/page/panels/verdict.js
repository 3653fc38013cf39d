/** The verdict: whether anything the learner can draw separates the points, with the proof, and the ways out. */

import { button, make, setText, table } from "../dom.js";
import { removePoints } from "../editing.js";
import { ask, faultWords } from "../questions.js";
import { colors } from "../theme.js";
import { classWords, number } from "../words.js";
import { drawRing } from "../marks.js";
import { drawVerdict } from "./verdict_drawing.js";

/** @import { App, Panel, Run, Scene, State, Verdict as Certificate, View } from "../types.d.ts" */
/** @typedef {{rows: number[], text: string, among: State}} Fewest points to remove, and from which state */

const HEADLINES = { separable: "Separable", inseparable: "Not separable", undecided: "Undecided" };
const MOST_ROWS = 12;
const CROSSED =
  "The cross is an average of the blue points and of the orange points at once. A line with all blue points on one " +
  "side has every average of them on that side; so the cross would have to be on both sides.";
const CROSSED_HIGHER =
  "In the space of the features, one place is an average of the blue points and of the orange points at once. " +
  "Whatever has all blue points on one side has every average of them there; so that place would have to be on both " +
  "sides.";
const MIRRORED =
  "A line through the origin that is right about an orange point has its mirror image, hollow here, on the blue " +
  "side. The cross is an average of blue points and mirrored ones, so it would have to be on the blue side; but it " +
  "is on the line.";

const LEGEND =
  "On the plane: dashed, the boundary of largest margin; ringed, the points that hold it up. Move any other point a " +
  "little, and it stays where it is.";

const ABOUT =
  "Whether any line, in the features that the learner sees, has every point on its side. The proof is drawn: the " +
  "widest margin, or the point that the hulls of both classes share.";

/** @type {Panel} */
export const verdict = { id: "verdict", title: "Verdict", about: ABOUT, create: (root, app) => new VerdictPanel(root, app) };

class VerdictPanel {
  /** @type {Run | null} What is shown belongs to this run. */
  #run = null;
  /** @type {Fewest | null} */
  #fewest = null;

  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.app = app;
    this.headline = make("p", { className: "headline", id: "verdict-headline" });
    this.text = make("p", { id: "verdict-text" });
    this.figures = make("dl", { className: "figures", id: "verdict-figures" });
    this.why = make("p", { id: "verdict-why" });
    this.proof = make("div");
    this.removal = make("div", { id: "verdict-removal", "aria-live": "polite" });
    this.ways = this.#makeWays();
    root.append(this.headline, this.text, this.figures, this.why, this.ways, this.proof);
  }

  /** @param {Scene} scene */
  update({ run, state, waiting }) {
    if (this.#fewest && !asSame(this.#fewest.among, state)) this.#setFewest(null);
    if (run && run === this.#run) return;
    this.#run = run;
    const found = run?.theory.verdict ?? null;
    setText(this.headline, found ? headlineOf(found, run) : "No verdict yet");
    setText(this.text, found ? found.text : waiting);
    const stuck = found?.kind === "inseparable";
    setText(this.why, found && run ? whyOf(found, run) : "");
    this.why.hidden = !this.why.textContent;
    this.ways.hidden = !stuck;
    this.#offer(state);
    this.figures.replaceChildren(...(found ? figuresOf(found) : []));
    this.proof.replaceChildren(...(found?.support.length && found.kind !== "undecided" ? [tableOf(found, state)] : []));
  }

  /** @type {NonNullable<View["overlay"]>} */
  overlay(picture, frame, { run, state }) {
    if (!run || run.kind === "kernel") return;
    drawVerdict(picture, frame, run, state.points);
    for (const row of this.#fewest?.rows ?? []) drawRing(picture, frame, state.points[row], colors().accent);
  }

  // the ways out

  #makeWays() {
    const { app } = this;
    /** @param {string} title @param {string} id @param {() => void} done */
    const way = (title, id, done) => button(title, done, { id });
    /** @param {string[]} names */
    const add = (...names) => {
      const { features, learner } = app.state;
      /** @type {Partial<State>} */
      const other = learner === "circle" ? { learner: "perceptron" } : {};
      app.change({ ...other, features: [...features, ...names.filter((name) => !features.includes(name))] });
    };
    this.features = {
      bias: way("Learn a bias", "way-bias", () => app.change({ bias: true })),
      xy: way("Add the feature x₁x₂", "way-xy", () => add("xy")),
      squares: way("Add x₁², x₂²", "way-squares", () => add("x2", "y2")),
      lift: way("Lift to x₁² + x₂²", "way-lift", () => app.change({ learner: "circle" })),
    };
    this.average = way("Average instead", "way-average", () => app.change({ learner: "averaged" }));
    const fewest = way("Find the fewest points to remove", "way-fewest", () => this.#findFewest());
    return make(
      "div",
      { id: "verdict-ways" },
      make("h2", {}, "Three ways out"),
      make(
        "ol",
        { className: "ways" },
        make("li", {}, "Other features", make("div", { className: "row" }, ...Object.values(this.features))),
        make("li", {}, "Live with some mistakes", make("div", { className: "row" }, this.average)),
        make("li", {}, "Fewer points", make("div", { className: "row" }, fewest), this.removal),
      ),
    );
  }

  /** Offer only what is not there already. @param {State} state */
  #offer({ features, learner, bias }) {
    const { features: buttons } = this;
    if (!buttons) return;
    buttons.bias.hidden = bias;
    buttons.xy.hidden = learner !== "circle" && features.includes("xy");
    buttons.squares.hidden = learner !== "circle" && features.includes("x2") && features.includes("y2");
    buttons.lift.hidden = learner === "circle";
    if (this.average) this.average.hidden = learner === "averaged";
  }

  async #findFewest() {
    const { state } = this.app;
    this.removal.replaceChildren(make("p", {}, "Searching …"));
    try {
      const found = await ask("fewest", state);
      this.#setFewest(asSame(state, this.app.state) ? { ...found, among: state } : null);
    } catch (fault) {
      this.removal.replaceChildren(make("p", {}, faultWords(fault)));
    }
  }

  /** @param {Fewest | null} found */
  #setFewest(found) {
    this.#fewest = found;
    this.removal.replaceChildren();
    if (!found) return;
    this.removal.append(make("p", {}, found.text));
    if (found.rows.length) {
      const title = found.rows.length === 1 ? "Remove it" : "Remove them";
      const remove = () => {
        removePoints(this.app, found.rows);
        this.headline.tabIndex = -1;
        this.headline.focus();
      };
      this.removal.append(button(title, remove, { id: "way-remove" }));
    }
    this.app.refresh();
  }
}

/** Return whether two states ask for the same separator. @param {State} one @param {State} other */
function asSame(one, other) {
  return ["points", "features", "learner", "bias"].every((name) => Object(one)[name] === Object(other)[name]);
}

/** @param {Certificate} found @param {Run | null} run */
function headlineOf(found, run) {
  if (found.kind !== "kernel") return HEADLINES[found.kind];
  return run?.converged ? "Separated by the kernel" : "Not separated by the kernel";
}

/** @param {Certificate} found @param {Run} run */
function whyOf(found, { names }) {
  const flat = names.join() === "x,y";
  if (found.kind === "separable") return found.w && (flat || names.join() === "x,y,r2") ? LEGEND : "";
  if (found.kind !== "inseparable") return "";
  if (found.common) return flat ? CROSSED : CROSSED_HIGHER;
  return flat ? MIRRORED : "";
}

/** @param {Certificate} found */
function figuresOf(found) {
  /** @type {[string, string, string][]} */
  const figures = [];
  if (found.margin !== null) figures.push(["Margin", number(found.margin), "verdict-margin"]);
  if (found.support.length) figures.push(["Support points", String(found.support.length), "verdict-support"]);
  return figures.flatMap(([name, value, id]) => [make("dt", {}, name), make("dd", { id }, value)]);
}

/**
 * Return the points that prove it and their weights; with a bias, shares in the average of their class.
 * @param {Certificate} found @param {State} state
 */
function tableOf({ kind, support, weights }, { points, bias }) {
  /** @param {number} i */
  const sign = (i) => points[support[i]]?.[2] ?? 1;
  const totals = { 1: 0, [-1]: 0 };
  weights.forEach((weight, i) => (totals[sign(i)] += weight));
  const rows = support.slice(0, MOST_ROWS).map((point, i) => {
    const share = bias && totals[sign(i)] > 0 ? weights[i] / totals[sign(i)] : weights[i];
    return [String(point + 1), classWords(sign(i)), number(share)];
  });
  const about = kind === "separable" ? "Points that hold it up" : "Points that prove it";
  const shares = bias ? ", with their shares in the average of their class" : ", with their weights";
  const part = support.length > MOST_ROWS ? `: ${MOST_ROWS} of ${support.length}` : "";
  return table("certificate", `${about}${shares}${part}`, ["Point", "Class", bias ? "Share" : "Weight"], rows);
}

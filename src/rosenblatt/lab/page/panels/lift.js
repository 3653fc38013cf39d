/** The lift: each point raised to the height x₁² + x₂², where a plane may do what no line does on the floor. */

import { circleOf } from "../boundary.js";
import { button, make, setAttribute, setText } from "../dom.js";
import { eased, predicting } from "../hypothesis.js";
import { fit, paint } from "../picture.js";
import { withPoint } from "../state.js";
import { stillness } from "../theme.js";
import { FEATURE_NAMES, number, vector } from "../words.js";
import { LiftPicture } from "./lift_drawing.js";
import { planeOf, rimOf, turned, unproject } from "./projection3d.js";

/** @import { App, Panel, Scene, Weights } from "../types.d.ts" */

const RAISED_IN = 600;
const KEY_STEP = Math.PI / 24;
const HANDS = "Drag to turn the picture, or use the arrow keys on it; drag a point to move it here and on the plane.";
const UPRIGHT =
  "The learner sees x₁ and x₂ alone, so its plane stands upright: seen from above it is a line. With z = x₁² + x₂² as a " +
  "third feature the plane may tilt, and cuts a circle out of the bowl.";

const ABOUT =
  "With the height x₁² + x₂² as a third feature, a plane cuts the bowl of points in a circle: circles are linear " +
  "there (Har-Peled, 30.2).";

/** @type {Panel} */
export const lift = { id: "lift", title: "Lift", about: ABOUT, create: (root, app) => new Lift(root, app) };

class Lift {
  #turn = { azimuth: 0.5, elevation: 0.42 };
  #t = stillness() ? 1 : 0;
  #raisedFrom = stillness() ? 0 : performance.now();
  #rim = 1;
  /** @type {LiftPicture | null} */
  #picture = null;
  /** What the pointer holds: a point, by its number, or nothing, which turns the picture. @type {number | null} */
  #held = null;
  #moved = false;
  /** @type {[number, number]} Where the pointer was. */
  #last = [0, 0];

  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.app = app;
    this.canvas = make("canvas", { role: "img", tabIndex: 0, className: "turns" });
    this.slider = make("input", { type: "range", id: "lift-morph", min: "0", max: "1", step: "0.01" });
    this.slider.addEventListener("input", () => {
      this.#raisedFrom = 0;
      this.#t = Number(this.slider.value);
      app.refresh();
    });
    this.equation = make("p", { className: "equation", id: "lift-plane" });
    this.center = make("dd", { id: "lift-center" });
    this.radius = make("dd", { id: "lift-radius" });
    const terms = [make("dt", {}, "Centre"), this.center, make("dt", {}, "Radius"), this.radius];
    this.figures = make("dl", { className: "figures" }, ...terms);
    this.words = make("p", { id: "lift-words" });
    this.offer = button("Learn a circle with the lifted learner", () => app.change({ learner: "circle" }), { id: "lift-learn" });
    const note = make("p", { className: "note" }, HANDS);
    const label = make("label", { className: "field", htmlFor: "lift-morph" }, "Lift", this.slider);
    root.append(this.canvas, label, this.words, this.equation, this.figures, this.offer, note);
    this.#listen();
  }

  /** @param {Scene} scene */
  update(scene) {
    if (this.#raisedFrom) this.#raise();
    const { points } = scene.state;
    if (this.#held === null) this.#rim = rimOf(points);
    const predicts = scene.moment ? predicting(scene) : "sum";
    const weights = predicts === "sum" ? null : predicts;
    const names = scene.run?.names ?? [];
    const t = Math.max(this.#t, 1e-6); // Flat, the plane is still there, and its circle on the floor.
    const plane = weights ? planeOf(names, weights, this.#rim, t) : null;
    const { width, height } = fit(this.canvas);
    if (width) {
      this.#picture = new LiftPicture(width, height, { turn: this.#turn, t, rim: this.#rim, plane });
      this.#picture.drawAll(points, this.#held ?? this.app.selected);
      paint(this.canvas, this.#picture);
    }
    this.#say(scene, weights, names);
  }

  #raise() {
    const share = Math.min(1, (performance.now() - this.#raisedFrom) / RAISED_IN);
    this.#t = eased(share);
    this.slider.value = String(this.#t);
    if (share === 1) this.#raisedFrom = 0;
    else this.app.refresh();
  }

  // words

  /** @param {Scene} scene @param {Weights | null} weights @param {string[]} names */
  #say(scene, weights, names) {
    const among = weights !== null && names.every((name) => ["x", "y", "r2"].includes(name));
    const turns = among && names.includes("r2");
    const circle = turns ? circleOf(names, weights) : null;
    const { words, equation } = this;
    setText(words, wordsOf(scene, among, turns, circle));
    setText(equation, among && weights ? equationOf(names, weights) : "");
    equation.hidden = !equation.textContent;
    this.figures.hidden = !circle;
    setText(this.center, circle ? vector(circle.center) : "");
    setText(this.radius, circle ? number(circle.radius) : "");
    this.offer.hidden = turns || scene.state.learner === "circle";
    const raised = `${Math.round(100 * this.#t)} % raised`;
    const text = `The points on a bowl, at the height x₁² + x₂², ${raised}. ${words.textContent} Arrow keys turn it.`;
    setAttribute(this.canvas, "aria-label", text);
  }

  // hands

  #listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => this.#take(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => this.#leave());
    canvas.addEventListener("touchstart", (event) => {
      const touch = event.touches[0];
      if (this.#at(touch, 22) >= 0) event.preventDefault(); // A point is moved; anything else may scroll the page.
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      this.#turn = turned(this.#turn, step[0] * KEY_STEP, step[1] * KEY_STEP);
      this.app.refresh();
    });
  }

  /** Return a place on the canvas. @param {{clientX: number, clientY: number}} event @returns {[number, number]} */
  #place({ clientX, clientY }) {
    const { left, top } = this.canvas.getBoundingClientRect();
    return [clientX - left, clientY - top];
  }

  /** Return the number of the point there, or -1. @param {{clientX: number, clientY: number}} event @param {number} reach */
  #at(event, reach) {
    const picture = this.#picture;
    if (!picture) return -1;
    const [x, y] = this.#place(event);
    const far = this.app.state.points.map((point) => {
      const [px, py] = picture.pixelOf(point);
      return Math.hypot(px - x, py - y);
    });
    const nearest = far.indexOf(Math.min(...far));
    return far[nearest] <= reach ? nearest : -1;
  }

  /** @param {PointerEvent} event */
  #take(event) {
    if (event.button) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.#held = this.#at(event, event.pointerType === "touch" ? 22 : 12);
    this.#moved = false;
    this.#last = this.#place(event);
    if (this.#held >= 0) this.app.selected = this.#held;
    this.app.refresh();
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const picture = this.#picture;
    if (!picture) return;
    if (this.#held === null) {
      this.canvas.classList.toggle("over", this.#at(event, 12) >= 0);
      return;
    }
    const place = this.#place(event);
    if (this.#held < 0) {
      this.#turn = turned(this.#turn, (this.#last[0] - place[0]) / 120, (place[1] - this.#last[1]) / 120);
      this.app.refresh();
    } else this.#drag(picture, this.#held, place);
    this.#last = place;
  }

  /** Move a point to where its lift is seen. @param {LiftPicture} picture @param {number} held @param {[number, number]} place */
  #drag(picture, held, place) {
    const { turn, t, rim, scale } = picture;
    const { points } = this.app.state;
    const point = points[held];
    if (!point) return;
    const [right, up] = picture.seen(...place);
    const [x, y] = unproject(turn, right, up, t, [point[0] / rim, point[1] / rim]);
    const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(scale / rim))));
    const [newX, newY] = [x * rim, y * rim].map((value) => Number(value.toFixed(digits)));
    this.app.change(withPoint(this.app.state, held, { x: newX, y: newY }), { undo: !this.#moved });
    this.#moved = true;
  }

  #leave() {
    this.#held = null;
    this.app.refresh();
  }
}

/** @param {string[]} names @param {Weights} weights */
function equationOf(names, { w, b }) {
  const terms = names.map((name, i) => ({ value: w[i], name: name === "r2" ? " z" : ` ${FEATURE_NAMES[name]}` }));
  const text = [...terms, { value: b, name: "" }].filter(({ value }) => value !== 0).map(({ value, name }, i) => {
    const size = `${number(Math.abs(value))}${name}`;
    if (i) return value < 0 ? `− ${size}` : `+ ${size}`;
    return value < 0 ? `−${size}` : size;
  });
  if (!text.length) return "";
  return `The plane: ${text.join(" ")} = 0${names.includes("r2") ? ", with z = x₁² + x₂²" : ""}.`;
}

/** @param {Scene} scene @param {boolean} among @param {boolean} turns @param {{inside: boolean} | null} circle */
function wordsOf({ waiting, replay, moment, state }, among, turns, circle) {
  if (!replay || !moment) return waiting || "Nothing has been learned yet.";
  if (!among) {
    const many = state.learner === "kernel" || state.learner === "voted";
    const why = many ? "This learner has no one plane" : "These features have no plane here";
    return `${why}: the points are raised to z = x₁² + x₂² all the same.`;
  }
  if (!turns) return UPRIGHT;
  if (!circle) return "The plane cuts no circle yet.";
  const side = circle.inside ? "inside" : "outside";
  return `Where the plane cuts the bowl, the floor below has a circle: blue is ${side}.`;
}

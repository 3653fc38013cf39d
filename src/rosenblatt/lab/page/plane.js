/** The plane: draws the scene, and takes points by mouse, touch and keyboard. */

import { Boundary } from "./boundary.js";
import { make, setAttribute } from "./dom.js";
import { addPoint, flipPoint, modeOf, pickPoint } from "./editing.js";
import { Frame } from "./frame.js";
import { Picture, fit, paint } from "./picture.js";
import { drawPlane, drawPoints } from "./plane_drawing.js";
import { planeKeys } from "./plane_keys.js";
import { withPoint } from "./state.js";
import { colors } from "./theme.js";
import { classWords, counted, labelWords, number, vector } from "./words.js";

/** @import { App, Point, Scene, State, XY } from "./types.d.ts" */

const NEAR = 12; // pixels from a point that still count as on it
const NEAR_BY_TOUCH = 22;

/** @param {HTMLElement} root @param {App} app */
export function createPlane(root, app) {
  const canvas = make("canvas", {
    id: "plane-canvas",
    tabIndex: 0,
    role: "application",
    "aria-roledescription": "plane of points",
    "aria-describedby": "sentence",
  });
  root.append(canvas);
  const boundary = new Boundary();
  /** @type {XY | null} The cursor that the keyboard moves, in the plane's own numbers. */
  let cursor = null;
  /** The point under the pointer. @type {Point | undefined} */
  let hovered;

  const frame = () => new Frame(app.state.view, canvas.clientWidth || 1);

  /** @param {Scene} scene */
  function draw(scene) {
    const picture = new Picture(canvas.clientWidth, canvas.clientHeight);
    const f = frame();
    drawPlane(picture, f, scene, boundary);
    app.shown?.overlay?.(picture, f, scene);
    drawPoints(picture, f, scene, app.selected);
    if (hovered) drawHovered(picture, f, scene, hovered);
    picture.settle(scene.state.points.map((point) => f.pixel(point)));
    if (!scene.state.points.length && app.runs && !app.shown?.grab) drawInvitation(picture, f);
    if (cursor && document.activeElement === canvas) drawCursor(picture, f, cursor);
    return picture;
  }

  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    cursor = planeKeys(event, app, cursor ?? [app.state.view[0], app.state.view[1]]);
    app.refresh();
  });
  canvas.addEventListener("focus", () => app.refresh());
  canvas.addEventListener("blur", () => app.refresh());
  takePointers(canvas, app, frame, (number) => {
    if (hovered === app.state.points[number]) return;
    hovered = app.state.points[number];
    app.refresh();
  });

  return {
    /** The plane as it is now, to be written to a file. */
    picture: () => draw(app.scene()),
    /** @param {Scene} scene */
    update(scene) {
      fit(canvas);
      paint(canvas, draw(scene));
      const [blue, orange] = [1, -1].map((sign) => scene.state.points.filter((p) => p[2] === sign).length);
      const words = `Plane with ${counted(blue, "blue disc")} and ${counted(orange, "orange triangle")}`;
      setAttribute(canvas, "aria-label", words);
    },
  };
}

/** @param {Picture} picture @param {Frame} frame */
function drawInvitation(picture, frame) {
  const middle = frame.size / 2;
  const look = /** @type {const} */ ({ anchor: "center" });
  picture.text(middle, middle - 12, "Click to place a blue disc.", { ...look, size: 20, fill: colors().ink });
  picture.text(middle, middle + 16, "Choose the class above, or press 1 or 2.", { ...look, size: 15 });
}

/** Say what a point is, and its activation. @param {Picture} picture @param {Frame} frame @param {Scene} scene @param {Point} point */
function drawHovered(picture, frame, { state, replay, moment, run }, point) {
  const place = run?.rows.indexOf(state.points.indexOf(point)) ?? -1;
  const active = replay && moment && place >= 0 ? `, a = ${number(replay.score(place, moment.k))}` : "";
  const words = `${vector(point.slice(0, 2).map(Number))}, y = ${labelWords(point[2])}${active}`;
  picture.label(frame.pixel(point), words, { fill: colors().ink });
}

/** @param {Picture} picture @param {Frame} frame @param {XY} cursor */
function drawCursor(picture, frame, cursor) {
  const [x, y] = frame.pixel(cursor);
  const look = { stroke: colors().accent, width: 1.5 };
  picture.line(x - 12, y, x + 12, y, look);
  picture.line(x, y - 12, x, y + 12, look);
}

/**
 * Return the number of the point nearest to a pixel, -1 where none is near.
 * @param {State} state @param {Frame} frame @param {number} px @param {number} py @param {number} near
 */
function pointAt(state, frame, px, py, near) {
  let [best, distance] = [-1, near];
  state.points.forEach((p, i) => {
    const [x, y] = frame.pixel(p);
    const d = Math.hypot(x - px, y - py);
    if (d <= distance) [best, distance] = [i, d];
  });
  return best;
}

/**
 * Place, drag, erase and pick points by mouse, pen and touch.
 * @param {HTMLCanvasElement} canvas @param {App} app @param {() => Frame} frame
 * @param {(number: number) => void} hover told the point under the pointer, -1 for none
 */
function takePointers(canvas, app, frame, hover) {
  /** What a drag moves that is no point. @type {((to: XY) => void) | null} */
  let pull = null;
  /** @type {{number: number, of: number, moved: boolean, added: boolean, from: XY} | null} */
  let drag = null;

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || drag) return;
    const [px, py] = [event.offsetX, event.offsetY];
    if (app.shown?.grab) {
      pull = app.shown.grab(frame(), px, py);
      if (pull && modeOf(app.state) === "line") app.history.note(app.state);
      canvas.setPointerCapture(event.pointerId);
      return;
    }
    const near = event.pointerType === "touch" ? NEAR_BY_TOUCH : NEAR;
    let number = pointAt(app.state, frame(), px, py, near);
    if (number < 0 && modeOf(app.state) === "pick") {
      app.notice("Click on a point to visit it. To place points, choose another order first.");
      return;
    }
    const added = number < 0;
    if (added) number = addPoint(app, ...frame().rounded(px, py));
    if (number < 0) return;
    app.selected = added ? -1 : number;
    drag = { number, of: app.state.points.length, moved: false, added, from: [px, py] };
    canvas.setPointerCapture(event.pointerId);
    app.refresh();
  });

  canvas.addEventListener("pointermove", (event) => {
    if (pull) return pull(frame().point(event.offsetX, event.offsetY));
    if (!drag) {
      const number = pointAt(app.state, frame(), event.offsetX, event.offsetY, NEAR);
      const held = app.shown?.grab ? app.shown.grab(frame(), event.offsetX, event.offsetY) !== null : number >= 0;
      canvas.style.cursor = held ? "grab" : app.shown?.grab ? "default" : "crosshair";
      hover(number);
      return;
    }
    if (drag.of !== app.state.points.length) {
      drag = null; // points have come or gone: their numbers are others
      return;
    }
    const distance = Math.hypot(event.offsetX - drag.from[0], event.offsetY - drag.from[1]);
    if (!drag.moved && distance < 4) return;
    if (!drag.moved && !drag.added) app.history.note(app.state);
    drag.moved = true;
    const [x, y] = frame().rounded(event.offsetX, event.offsetY);
    app.change(withPoint(app.state, drag.number, { x, y }), { undo: false });
  });

  const end = () => {
    if (drag && !drag.moved && !drag.added) pressed(app, drag.number);
    drag = pull = null;
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", () => (drag = pull = null));
  canvas.addEventListener("pointerleave", () => hover(-1));
}

/** A point was pressed, not dragged. @param {App} app @param {number} number */
function pressed(app, number) {
  const { state } = app;
  const mode = modeOf(state);
  if (mode === "flip") flipPoint(app, number);
  else if (mode === "pick") pickPoint(app, number);
  else {
    const [x, y, sign] = state.points[number];
    app.announce(`Point ${number + 1}, ${classWords(sign)}, at ${x}, ${y}, selected.`);
  }
}

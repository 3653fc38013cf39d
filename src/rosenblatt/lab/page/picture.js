/** A picture as a list of things to draw, in pixels: painted on a canvas, or written as SVG. */

import { colors } from "./theme.js";

/** @import { Look, XY } from "./types.d.ts" */
/**
 * @typedef {{kind: "path", points: XY[], closed: boolean, look: Look}
 *   | {kind: "circle", x: number, y: number, r: number, look: Look}
 *   | {kind: "text", x: number, y: number, text: string, size: number, anchor: CanvasTextAlign, bold: boolean, look: Look}
 *   | {kind: "image", image: HTMLCanvasElement, x: number, y: number, w: number, h: number, alpha: number}} Thing
 */

/** Where a label may be beside its place, the best first. */
const SIDES = [[1, -1], [1, 1], [-1, -1], [-1, 1], [0, -1], [0, 1], [1, 0], [-1, 0]];
const FONT = 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';

export class Picture {
  /** @param {number} width @param {number} height */
  constructor(width, height) {
    this.width = width;
    this.height = height;
    /** @type {Thing[]} */
    this.things = [];
    /** @type {{at: XY, text: string, look: {size?: number, fill?: string, bold?: boolean}}[]} */
    this.labels = [];
  }

  /** @param {XY[]} points @param {Look} look @param {boolean} [closed] */
  path(points, look, closed = false) {
    if (points.length > 1) this.things.push({ kind: "path", points, closed, look });
  }

  /** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {Look} look */
  line(x1, y1, x2, y2, look) {
    this.path([[x1, y1], [x2, y2]], look);
  }

  /** @param {number} x @param {number} y @param {number} r @param {Look} look */
  circle(x, y, r, look) {
    this.things.push({ kind: "circle", x, y, r, look });
  }

  /** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {Look} look */
  arrow(x1, y1, x2, y2, look) {
    const [dx, dy] = [x2 - x1, y2 - y1];
    const length = Math.hypot(dx, dy);
    if (length < 1) return;
    const head = Math.min(10, length / 2);
    const [ux, uy] = [(dx / length) * head, (dy / length) * head];
    this.line(x1, y1, x2 - ux, y2 - uy, look);
    const [bx, by] = [x2 - ux, y2 - uy];
    this.path([[x2, y2], [bx - uy * 0.5, by + ux * 0.5], [bx + uy * 0.5, by - ux * 0.5]], { fill: look.stroke }, true);
  }

  /**
   * Draw a point of a class: a disc for 1, a triangle for -1; hollow where it is held out.
   * @param {number} x @param {number} y @param {number} sign @param {number} [r] @param {boolean} [hollow]
   */
  mark(x, y, sign, r = 6, hollow = false) {
    const color = sign > 0 ? colors().positive : colors().negative;
    const look = hollow
      ? { fill: colors().surface, stroke: color, width: 2 }
      : { fill: color, stroke: colors().surface, width: 1 };
    if (sign > 0) this.circle(x, y, r, look);
    else this.path([[x, y - 1.25 * r], [x + 1.15 * r, y + 0.8 * r], [x - 1.15 * r, y + 0.8 * r]], look, true);
  }

  /**
   * Write a text, with a rim that keeps it legible over lines.
   * @param {number} x @param {number} y @param {string} text
   * @param {{size?: number, anchor?: CanvasTextAlign, fill?: string, bold?: boolean}} [look]
   */
  text(x, y, text, { size = 13, anchor = "left", fill, bold = false } = {}) {
    this.things.push({ kind: "text", x, y, text, size, anchor, bold, look: { fill: fill ?? colors().quiet, stroke: colors().raised } });
  }

  /**
   * Write a text beside a place, wherever `settle` finds room for it.
   * @param {XY} at @param {string} text @param {{size?: number, fill?: string, bold?: boolean}} [look]
   */
  label(at, text, look = {}) {
    this.labels.push({ at, text, look });
  }

  /** Write the labels, above all else, where they hide the fewest of some places, no other label and no line. @param {XY[]} places */
  settle(places) {
    const taken = this.things.flatMap((thing) => (thing.kind === "text" ? [boxOf(thing)] : []));
    const lines = this.labels.length ? this.things.flatMap(alongLine) : [];
    for (const { at, text, look } of this.labels) {
      const size = look.size ?? 13;
      const { w, h } = boxOf({ x: 0, y: 0, text, size, anchor: "left" });
      const boxes = SIDES.map(([dx, dy]) => ({
        x: Math.max(4, Math.min(at[0] + dx * (w / 2 + 14) - w / 2, this.width - w - 4)),
        y: Math.max(4, Math.min(at[1] + dy * (h / 2 + 12) - h / 2, this.height - h - 4)),
        w,
        h,
      }));
      const within = (/** @type {typeof boxes[0]} */ { x, y }, /** @type {number} */ rim) => (/** @type {XY} */ [px, py]) =>
        px > x - rim && px < x + w + rim && py > y - rim && py < y + h + rim;
      const cost = (/** @type {typeof boxes[0]} */ box) =>
        3 * places.filter(within(box, 8)).length +
        (lines.some(within(box, 2)) ? 2 : 0) +
        30 * taken.filter((other) => other.x < box.x + w && box.x < other.x + other.w && other.y < box.y + h && box.y < other.y + other.h).length;
      const best = boxes.reduce((one, other) => (cost(other) < cost(one) ? other : one));
      taken.push(best);
      this.text(best.x, best.y + size, text, look);
    }
  }

  /** @param {HTMLCanvasElement} image @param {number} x @param {number} y @param {number} w @param {number} h @param {number} [alpha] */
  image(image, x, y, w, h, alpha = 1) {
    this.things.push({ kind: "image", image, x, y, w, h, alpha });
  }
}

/** Return about the box of a text. @param {{x: number, y: number, text: string, size: number, anchor: CanvasTextAlign}} text */
function boxOf({ x, y, text, size, anchor }) {
  const [w, h] = [0.56 * size * text.length + 6, size + 4];
  return { x: x - (anchor === "right" ? w : anchor === "center" ? w / 2 : 0), y: y - size, w, h };
}

/** Return places a few pixels apart along a line that is drawn, but for faint ones. @param {Thing} thing @returns {XY[]} */
function alongLine(thing) {
  if (thing.kind !== "path" || !thing.look.stroke || (thing.look.alpha ?? 1) < 0.5) return [];
  return thing.points.slice(1).flatMap(([x, y], i) => {
    const [dx, dy] = [x - thing.points[i][0], y - thing.points[i][1]];
    const parts = Math.ceil(Math.hypot(dx, dy) / 8);
    return Array.from({ length: parts }, (_, part) => /** @type {XY} */ ([x - (dx * part) / parts, y - (dy * part) / parts]));
  });
}

/**
 * Make a canvas as large as its box, for the pixels of this screen, and return its size in CSS pixels.
 * @param {HTMLCanvasElement} canvas
 */
export function fit(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = Math.min(devicePixelRatio || 1, 3);
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  return { width, height };
}

/** Paint a picture on a canvas that has its size. @param {HTMLCanvasElement} canvas @param {Picture} picture */
export function paint(canvas, picture) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const ratio = canvas.width / Math.max(1, picture.width);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, picture.width, picture.height);
  context.lineJoin = "round";
  for (const thing of picture.things) paintThing(context, thing);
}

/** @param {CanvasRenderingContext2D} context @param {Thing} thing */
function paintThing(context, thing) {
  if (thing.kind === "image") {
    context.globalAlpha = thing.alpha;
    context.imageSmoothingEnabled = true;
    context.drawImage(thing.image, thing.x, thing.y, thing.w, thing.h);
    context.globalAlpha = 1;
    return;
  }
  context.globalAlpha = thing.look.alpha ?? 1;
  if (thing.kind === "text") {
    context.font = `${thing.bold ? "bold " : ""}${thing.size}px ${FONT}`;
    context.textAlign = thing.anchor;
    context.strokeStyle = thing.look.stroke ?? "";
    context.lineWidth = 3;
    context.setLineDash([]);
    context.strokeText(thing.text, thing.x, thing.y);
    context.fillStyle = thing.look.fill ?? "";
    context.fillText(thing.text, thing.x, thing.y);
  } else {
    context.beginPath();
    if (thing.kind === "circle") context.arc(thing.x, thing.y, Math.max(0, thing.r), 0, 2 * Math.PI);
    else {
      thing.points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
      if (thing.closed) context.closePath();
    }
    if (thing.look.fill) {
      context.fillStyle = thing.look.fill;
      context.fill();
    }
    if (thing.look.stroke) {
      context.strokeStyle = thing.look.stroke;
      context.lineWidth = thing.look.width ?? 1;
      context.setLineDash(thing.look.dash ?? []);
      context.stroke();
    }
  }
  context.globalAlpha = 1;
}

/** Return a picture as the text of an SVG file, on the page's surface. @param {Picture} picture */
export function toSvg(picture) {
  const { width, height } = picture;
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  const inside = picture.things.map(svgThing).join("\n");
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="system-ui, sans-serif">\n` +
    `<rect width="${width}" height="${height}" fill="${colors().surface}"/>\n${inside}\n</svg>\n`
  );
}

/** @param {Thing} thing */
function svgThing(thing) {
  if (thing.kind === "image") {
    const box = `x="${thing.x}" y="${thing.y}" width="${thing.w}" height="${thing.h}"`;
    return `<image ${box} opacity="${thing.alpha}" preserveAspectRatio="none" href="${thing.image.toDataURL()}"/>`;
  }
  const { fill, stroke, width, dash, alpha } = thing.look;
  const paints = [`fill="${fill ?? "none"}"`];
  if (stroke) paints.push(`stroke="${stroke}" stroke-width="${width ?? (thing.kind === "text" ? 3 : 1)}"`);
  if (thing.kind === "text") paints.push('paint-order="stroke" stroke-linejoin="round"');
  if (dash) paints.push(`stroke-dasharray="${dash.join(" ")}"`);
  if (alpha !== undefined) paints.push(`opacity="${alpha}"`);
  const look = paints.join(" ");
  if (thing.kind === "circle") return `<circle cx="${short(thing.x)}" cy="${short(thing.y)}" r="${short(thing.r)}" ${look}/>`;
  if (thing.kind === "text") {
    const anchor = { center: "middle", right: "end", end: "end", left: "start", start: "start" }[thing.anchor];
    const place = `x="${short(thing.x)}" y="${short(thing.y)}" font-size="${thing.size}" text-anchor="${anchor}"${thing.bold ? ' font-weight="bold"' : ""}`;
    return `<text ${place} ${look}>${escaped(thing.text)}</text>`;
  }
  const points = thing.points.map(([x, y]) => `${short(x)},${short(y)}`).join(" ");
  return `<${thing.closed ? "polygon" : "polyline"} points="${points}" ${look}/>`;
}

/** @param {number} value */
function short(value) {
  return Number(value.toFixed(2));
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

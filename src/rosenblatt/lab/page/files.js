/** Files to take away, and to open. */

import { save } from "./dialogs.js";
import { make } from "./dom.js";
import { paint, toSvg } from "./picture.js";
import { isHandedIn } from "./state.js";
import { ask, faultWords } from "./questions.js";
import { colors } from "./theme.js";
import { number } from "./words.js";

/** @import { App, Picture, State } from "./types.d.ts" */

const MOST_BYTES = 2e7;

/**
 * Return what the menu File does with files, by its titles.
 * @param {App} app @param {{picture(): Picture}} plane @returns {[string, () => void][]}
 */
export function fileEntries(app, plane) {
  /** @type {[string, string, () => BlobPart | Promise<BlobPart>, string][]} */
  const files = [
    ["This page, HTML", "html", () => pageWith(app.state), "text/html"],
    ["Picture, PNG", "png", () => png(plane.picture()), "image/png"],
    ["Picture, SVG", "svg", () => toSvg(plane.picture()), "image/svg+xml"],
    ["Points, CSV", "csv", () => toCsv(app.state.points), "text/csv"],
    ["State, JSON", "json", () => `${JSON.stringify(app.state)}\n`, "application/json"],
  ];
  const input = make("input", { type: "file", accept: ".csv,.json,.txt,text/csv,application/json" });
  input.addEventListener("change", async () => {
    const file = input.files?.[0];
    input.value = "";
    if (file) openFile(app, file);
  });
  const taken = files.map(([title, ending, content, type]) => /** @type {[string, () => void]} */ ([title, async () => {
    try {
      save(`perceptron-lab.${ending}`, await content(), type);
      app.announce(`perceptron-lab.${ending} is in your downloads.`);
    } catch (fault) {
      app.notice(faultWords(fault));
    }
  }]));
  return [["Open a table or a state …", () => input.click()], ...taken];
}

/** Take files that are dropped on the page. @param {App} app */
export function takeDrops(app) {
  addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  addEventListener("drop", async (event) => {
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    openFile(app, file);
  });
}

/** Open a file of points or a state; a notice says what is wrong with it. @param {App} app @param {File} file */
async function openFile(app, file) {
  if (file.size > MOST_BYTES) {
    const size = number(Math.round(file.size / 1e3));
    return app.notice(`${file.name} has ${size} kB, and the page opens up to 20,000: save fewer rows, as it shows at most 1,000 points.`);
  }
  try {
    const text = await file.text();
    if (text.trimStart().startsWith("{")) {
      const data = parsed(text);
      if (isHandedIn(data)) app.grade([data]);
      else await app.open(data);
    } else {
      const { points, view, note } = await ask("csv", { text });
      app.begin({ points, view, picks: [], lesson: "", exercise: "" });
      app.notice(note ?? "");
    }
  } catch (fault) {
    app.notice(faultWords(fault));
  }
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("The file is not JSON: choose one that File saved as State, JSON.");
  }
}

/** The page as it came, before anything was added to it. */
const PAGE = typeof document === "undefined" ? "" : document.documentElement.outerHTML;

/** Return this page with a state in it. @param {State} state */
function pageWith(state) {
  const given = JSON.stringify({ state }).replaceAll("<", "\\u003c");
  return `<!doctype html>\n${PAGE.replace(/(id="given">)[^<]*/, (_, start) => start + given)}`;
}

/** Return a picture as a PNG, with two pixels for each of its own. @param {Picture} picture @returns {Promise<Blob>} */
function png(picture) {
  const canvas = make("canvas", { width: 2 * picture.width, height: 2 * picture.height });
  paint(canvas, picture);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = colors().surface;
  context.fillRect(0, 0, canvas.width, canvas.height);
  return new Promise((done, failed) => {
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("The browser made no picture: try SVG."))));
  });
}

/** Return points as CSV. @param {State["points"]} points */
function toCsv(points) {
  const lines = points.map(([x, y, sign, heldOut = false]) => `${x},${y},${sign},${heldOut}`);
  return ["x1,x2,label,held_out", ...lines, ""].join("\n");
}

/** Files to take away, and to open. */

import { createDialog, save } from "./dialogs.js";
import { make, setText } from "./dom.js";
import { paint, toSvg } from "./picture.js";
import { ask, faultWords } from "./questions.js";
import { colors } from "./theme.js";
import { number } from "./words.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("./types.d.ts").State} State */

const MOST_BYTES = 2e7;
const NAME = "perceptron-lab";

/**
 * Return the dialog of files.
 * @param {App} app
 * @param {{picture(): Picture}} plane
 */
export function exportDialog(app, plane) {
  const said = make("p", { className: "note said", role: "status" });
  /** @type {[string, string, () => BlobPart | Promise<BlobPart>, string][]} */
  const files = [
    ["Picture, PNG", `${NAME}.png`, () => png(plane.picture()), "image/png"],
    ["Picture, SVG", `${NAME}.svg`, () => toSvg(plane.picture()), "image/svg+xml"],
    ["State, JSON", `${NAME}.json`, () => `${JSON.stringify(app.state)}\n`, "application/json"],
    ["Points, CSV", `${NAME}.csv`, () => toCsv(app.state.points), "text/csv"],
    ["This page with this state, HTML", `${NAME}.html`, () => pageWith(app.state), "text/html"],
  ];
  const buttons = files.map(([title, name, content, type]) => {
    const button = make("button", { type: "button" }, title);
    button.addEventListener("click", async () => {
      try {
        save(name, await content(), type);
        setText(said, `${name} is in your downloads.`);
      } catch (fault) {
        setText(said, faultWords(fault));
      }
    });
    return button;
  });
  const opening = openingParts(app, said, () => dialog.close());
  const taking = [make("h3", {}, "Take away"), make("div", { className: "row" }, ...buttons)];
  const dialog = createDialog("export", "Export and open", ...taking, ...opening, said);
  return dialog;
}

/**
 * Return a field for a file, which is opened when it is chosen.
 * @param {App} app
 * @param {(fault: string) => void} done told what is wrong with the file, in words, or ""
 */
function fileField(app, done) {
  const input = make("input", { type: "file", id: "open-file", accept: ".csv,.json,.txt,text/csv,application/json" });
  input.addEventListener("change", async () => {
    const file = input.files?.[0];
    input.value = "";
    if (file) done(await openFile(app, file));
  });
  return input;
}

/**
 * Return a function that asks for a file at once, and opens it; a notice says what is wrong with it.
 * @param {App} app
 */
export function fileChooser(app) {
  const input = fileField(app, (fault) => fault && app.notice(fault));
  return () => {
    input.click();
  };
}

/** @param {App} app @param {HTMLElement} said @param {() => void} done */
function openingParts(app, said, done) {
  const input = fileField(app, (fault) => {
    setText(said, fault);
    if (!fault) done();
  });
  const note = "CSV with two columns of numbers and a label, or a state that was saved here. Or drop it on the page.";
  const heading = make("h3", {}, make("label", { for: input.id }, "Open a file"));
  return [heading, make("p", { className: "note" }, note), input];
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
    const fault = await openFile(app, file);
    if (fault) app.notice(fault);
  });
}

/**
 * Open a file of points or a state; return what is wrong with it, in words, or "".
 * @param {App} app
 * @param {File} file
 */
async function openFile(app, file) {
  const size = number(Math.round(file.size / 1e3));
  if (file.size > MOST_BYTES) return `${file.name} has ${size} kB, and the page opens up to 20,000: save fewer rows, as it shows at most 1,000 points.`;
  try {
    const text = await file.text();
    if (text.trimStart().startsWith("{")) {
      await app.open(parsed(text));
    } else {
      const { points, view, note } = await ask("csv", { text });
      app.pause();
      app.selected = -1;
      app.preset = "";
      app.change({ points, view, picks: [], lesson: "", at: 0 });
      app.notice(note ?? "");
    }
    return "";
  } catch (fault) {
    return faultWords(fault);
  }
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("The file is no JSON: choose one that Export saved as State, JSON.");
  }
}

/** The page as it came, before anything was added to it. */
const PAGE = typeof document === "undefined" ? "" : document.documentElement.outerHTML;

/** Return this page with a state in it. @param {State} state */
function pageWith(state) {
  const given = JSON.stringify({ state }).replaceAll("<", "\\u003c");
  return `<!doctype html>\n${PAGE.replace(/(id="given">)[^<]*/, (_, start) => start + given)}`;
}

/**
 * Return a picture as a PNG, with two pixels for each of its own.
 * @param {Picture} picture
 * @returns {Promise<Blob>}
 */
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

/**
 * Return points as CSV.
 * @param {State["points"]} points
 */
function toCsv(points) {
  const lines = points.map(([x, y, sign, heldOut = false]) => `${x},${y},${sign},${heldOut}`);
  return ["x,y,label,held_out", ...lines, ""].join("\n");
}

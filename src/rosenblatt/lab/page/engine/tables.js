/** Points from a text table: two columns of numbers, one of labels, and one for those held out where there is one. */

import { randomBits } from "./orders.js";
import { LARGEST, MOST_POINTS, viewOf } from "../state.js";
import { counted } from "../words.js";

/** @import { Point } from "../types.d.ts" */
/** @typedef {{line: number, cells: string[]}} Row */

const LABELS = ["label", "class", "target", "species"];
const PAIRS = [["x", "y"], ["x0", "x1"], ["x1", "x2"]];
const HELD_OUT = ["held_out", "held out", "test", "split"];
const NO_MEASURES = ["", "id", "index", "unnamed: 0"];
const MISSING = ["", "na", "n/a", "nan", "null", "none", "?"];
/** @type {Record<string, boolean>} */
const FLAGS = { 0: false, false: false, no: false, train: false, 1: true, true: true, yes: true, test: true };
const MOST_CLASSES = 50;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * Return the points of a table, a view that shows all of them, and notes for the user; an Error says what is wrong.
 *
 * Cells are separated by commas, semicolons or tabs; the first line may be a header. The label is the column named label,
 * class, target, species or y, otherwise the last column. The coordinates are the columns x and y, x0 and x1, or x1 and x2,
 * otherwise the first two with numbers. The first label in sorted order becomes -1, all others become 1.
 * @param {{text: string}} question
 */
export function csv({ text }) {
  const { rows: lines, comma } = rowsOf(text);
  const names = isHeader(lines[0].cells, comma) ? lines[0].cells.map((cell) => cell.trim().toLowerCase()) : null;
  const width = lines[0].cells.length;
  const rows = lines.slice(names ? 1 : 0).map(({ line, cells }) => {
    if (cells.slice(width).some(Boolean)) throw new Error(`Line ${line} has ${cells.length} cells where the first has ${width}.`);
    return { line, cells: Array.from({ length: width }, (_, i) => (cells[i] ?? "").trim()) };
  });
  const columns = columnsOf(names, rows, width, comma);
  const used = Object.values(columns).filter((i) => i >= 0);
  const whole = rows.filter(({ cells }) => !used.some((i) => isMissing(cells[i])));
  const leftOut = rows.length - whole.length;
  const notes = leftOut ? [`${counted(leftOut, "row")} with missing values ${leftOut === 1 ? "was" : "were"} left out.`] : [];
  const { signs, note } = signsOf(whole.map(({ cells }) => cells[columns.label]), comma);
  let points = whole.map(({ line, cells }, i) => {
    const [x, y] = [columns.x, columns.y].map((j) => coordinate(line, cells[j], comma));
    const heldOut = columns.heldOut >= 0 && flag(line, cells[columns.heldOut]);
    return /** @type {Point} */ (heldOut ? [x, y, signs[i], true] : [x, y, signs[i]]);
  });
  if (note) notes.push(note);
  if (points.length > MOST_POINTS) {
    notes.push(`${MOST_POINTS.toLocaleString("en")} of ${counted(points.length, "row")} were drawn, as the lab shows no more.`);
    const [drawn, bits] = [new Set(), randomBits(0)];
    while (drawn.size < MOST_POINTS) drawn.add(Math.floor((bits() * points.length) / 2 ** 32));
    points = points.filter((_, i) => drawn.has(i));
  }
  return { points, view: viewOf(points), note: notes.join(" ") };
}

/** Return the cells of each line that is not empty, and whether numbers may have a decimal comma. @param {string} text */
function rowsOf(text) {
  const whole = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const first = whole.split("\n").find((line) => line.trim()) ?? "";
  const delimiter = first.includes("\t") ? "\t" : first.includes(";") ? ";" : ",";
  /** @type {Row[]} */
  const rows = [];
  let [line, cells, cell, quoted] = [1, /** @type {string[]} */ ([]), "", false];
  const end = () => {
    cells.push(cell);
    if (cells.some((text) => text.trim())) rows.push({ line, cells });
    [cells, cell] = [[], ""];
  };
  for (let i = 0; i < whole.length; i++) {
    const letter = whole[i];
    if (quoted && letter === '"' && whole[i + 1] === '"') cell += whole[++i];
    else if (letter === '"' && (quoted || !cell.trim())) [quoted, cell] = [!quoted, quoted ? cell : ""];
    else if (letter === delimiter && !quoted) {
      cells.push(cell);
      cell = "";
    } else {
      if (letter === "\n" && !quoted) end();
      else cell += letter;
      if (letter === "\n") line += 1;
    }
  }
  end();
  if (!rows.length) throw new Error("The table is empty: it needs two columns of numbers and one of labels.");
  return { rows, comma: delimiter === ";" };
}

/** @param {string[]} cells @param {boolean} comma */
function isHeader(cells, comma) {
  const names = cells.map((cell) => cell.trim().toLowerCase());
  return cells.every((cell) => numberOf(cell, comma) === null) || [...LABELS, "held_out"].some((name) => names.includes(name));
}

/** Find the columns by their names, or else by their values; -1 stands for none. @param {string[] | null} names @param {Row[]} rows @param {number} width @param {boolean} comma */
function columnsOf(names, rows, width, comma) {
  const place = (/** @type {string} */ name) => names?.indexOf(name) ?? -1;
  const first = (/** @type {string[]} */ all) => Math.max(-1, place(all.find((name) => place(name) >= 0) ?? "\n"));
  const [heldOut, named] = [first(HELD_OUT), first(LABELS)];
  const rest = Array.from({ length: width }, (_, i) => i).filter((i) => i !== heldOut && i !== named);
  let pair = (PAIRS.find((both) => both.every((name) => place(name) >= 0) && rest.length > (named < 0 ? 2 : 1)) ?? []).map(place);
  const others = rest.filter((i) => !pair.includes(i));
  const label = named >= 0 ? named : others.includes(place("y")) ? place("y") : (others.at(-1) ?? -1);
  if (!pair.length) {
    const isNumeric = (/** @type {number} */ i) => {
      const cells = rows.map((row) => row.cells[i]).filter((cell) => !isMissing(cell));
      return cells.length > 0 && cells.every((cell) => numberOf(cell, comma) !== null);
    };
    pair = rest.filter((i) => i !== label && !NO_MEASURES.includes(names?.[i] ?? "-") && isNumeric(i)).slice(0, 2);
  }
  if (label < 0 || pair.length < 2) {
    const found = names ? shown(names.join(", ")) : `${counted(width, "column")} without names`;
    throw new Error(`The table needs two columns of numbers and one of labels, such as x1,x2,label, got ${found}.`);
  }
  return { x: pair[0], y: pair[1], label, heldOut };
}

/** @param {string} cell */
const isMissing = (cell) => MISSING.includes(cell.toLowerCase());

/** Return the start of a text, for a message. @param {string} text */
const shown = (text) => (text.length > 60 ? `${text.slice(0, 57)}...` : text);

/** @param {string} cell @param {boolean} comma */
function numberOf(cell, comma) {
  const text = cell.trim().replace("\u2212", "-");
  const plain = comma ? text.replace(",", ".") : text;
  if (/^[+-]?(inf|infinity)$/i.test(plain)) return plain.startsWith("-") ? -Infinity : Infinity;
  return NUMBER.test(plain) ? Number(plain) : null;
}

/** @param {number} line @param {string} cell @param {boolean} comma */
function coordinate(line, cell, comma) {
  const value = numberOf(cell, comma);
  if (value === null) throw new Error(`Expected a number in line ${line}, got ${shown(cell)}.`);
  if (Math.abs(value) <= LARGEST) return value;
  throw new Error(`Line ${line} has ${shown(cell)}, and coordinates go to ${LARGEST.toLocaleString("en")}: scale them first.`);
}

/** @param {number} line @param {string} cell */
function flag(line, cell) {
  const value = Object.hasOwn(FLAGS, cell.toLowerCase()) ? FLAGS[cell.toLowerCase()] : null;
  if (value === null) throw new Error(`Expected test or train, or 1 or 0, in line ${line}, got ${shown(cell)}.`);
  return value;
}

/** Return each label as 1 or -1, and a note on the marks of the classes. @param {string[]} cells @param {boolean} comma @returns {{signs: (1 | -1)[], note: string}} */
function signsOf(cells, comma) {
  const numbers = cells.map((cell) => numberOf(cell, comma));
  const numeric = numbers.every((value) => value !== null && Number.isFinite(value));
  /** @type {(string | number | null)[]} */
  const labels = numeric ? numbers : cells;
  const classes = [...new Set(labels)].sort((a, b) => (numeric ? Number(a) - Number(b) : String(a) < String(b) ? -1 : 1));
  if (classes.length < 2) {
    const have = cells.length ? `only ${shown(cells[0])}` : "no row without missing values";
    throw new Error(`The table needs labels of two classes, and there is ${have}.`);
  }
  if (classes.length > MOST_CLASSES) throw new Error(`The labels have ${classes.length} values, too many for classes: name their column label.`);
  const [first, second] = classes.slice(0, 2).map((name) => shown(cells[labels.indexOf(name)]));
  let note = `Class ${first} is drawn as orange triangles, class ${second} as blue discs.`;
  if (classes.length > 2) note = `Class ${first} is drawn as orange triangles, the other ${classes.length - 1} classes as blue discs.`;
  else if (classes[0] === -1 && classes[1] === 1) note = "";
  return { signs: labels.map((label) => (label === classes[0] ? -1 : 1)), note };
}

/** The state of the page: its address, what asks for a new run, and undo. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULTS, History, asksForRun, fromFragment, toFragment } from "../../../src/rosenblatt/lab/page/state.js";

/** @param {number} seed */
const state = (seed) => ({ ...DEFAULTS, seed });

test("a state survives its address", () => {
  const points = Array.from({ length: 1000 }, (_, i) => [i / 3, 1 - 1e-7 * i, i % 2 ? 1 : -1, i % 5 === 0]);
  const told = { ...DEFAULTS, points, at: null, lesson: "π ≤ γ" };
  const fragment = toFragment(told);
  assert.match(fragment, /^[A-Za-z0-9_-]+$/);
  assert.deepEqual(fromFragment(fragment), told);
});

test("what is no address of a state stands for none", () => {
  const other = btoa(JSON.stringify({ version: 2 }));
  for (const text of ["", "x", "%%%", btoa("null"), btoa("7"), btoa("{"), other]) assert.equal(fromFragment(text), null);
});

test("only what is learned from asks for a run", () => {
  for (const patch of [{ points: [] }, { seed: 1 }, { bias: false }, { updates: 1 }]) assert.ok(asksForRun(patch));
  for (const patch of [{}, { at: 3 }, { panel: "vc" }, { show: [] }, { view: [0, 0, 1] }]) assert.ok(!asksForRun(patch));
});

test("undo and redo go back and forth, and a change forgets what was taken back", () => {
  const history = new History();
  assert.equal(history.undo(state(0)), null);
  history.note(state(0));
  history.note(state(1));
  assert.equal(history.undo(state(2)).seed, 1);
  assert.equal(history.undo(state(1)).seed, 0);
  assert.ok(!history.canUndo);
  assert.equal(history.redo(state(0)).seed, 1);
  history.note(state(1));
  assert.ok(!history.canRedo);
  assert.equal(history.redo(state(9)), null);
});

test("undo leaves alone where one looks", () => {
  const history = new History();
  history.note({ ...state(0), panel: "bound", at: 0 });
  const back = history.undo({ ...state(1), panel: "vc", at: 7, view: [1, 2, 3] });
  assert.deepEqual([back.seed, back.panel, back.at, back.view], [0, "vc", 7, [1, 2, 3]]);
});

test("undo brings points back into sight", () => {
  const history = new History();
  history.note({ ...state(0), points: [[1, 1, 1]], view: [0, 0, 5] });
  assert.deepEqual(history.undo({ ...state(1), points: [[900, 900, 1]], view: [900, 900, 2] }).view, [0, 0, 5]);
});

test("two hundred changes can be taken back", () => {
  const history = new History();
  for (let seed = 0; seed < 300; seed++) history.note(state(seed));
  let [now, count] = [state(300), 0];
  for (let back = history.undo(now); back; back = history.undo(now)) [now, count] = [back, count + 1];
  assert.deepEqual([count, now.seed], [200, 100]);
});

/** Answers questions with the page's engine: a line [question, body] of JSON each, answered by a line. */

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { ANSWERS } from "../../../src/rosenblatt/lab/page/engine/engine.js";
import { examplesOf } from "../../../src/rosenblatt/lab/page/engine/learners.js";
import { Points, nearestOfSigned, shares } from "../../../src/rosenblatt/lab/page/engine/polytope.js";
import { PRESETS, START } from "../../../src/rosenblatt/lab/page/engine/presets.js";
import { grade } from "../../../src/rosenblatt/lab/page/exercises/handed_in.js";
import { DEFAULTS, LARGEST, MOST_POINTS } from "../../../src/rosenblatt/lab/page/state.js";

const { exercises } = JSON.parse(readFileSync(new URL("../../../src/rosenblatt/exercises/exercises.json", import.meta.url), "utf8"));

const MORE = {
  /** What a student handed in, judged; numbers that JSON lacks as texts. */
  grade: (data) => JSON.parse(JSON.stringify(grade(data, exercises), (_, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : value))),
  defaults: () => ({ state: DEFAULTS, points: MOST_POINTS, largest: LARGEST }),
  start: () => ({ state: START, presets: PRESETS }),
  /** The integers that prove points inseparable, by their numbers; empty where they are separable. */
  proof: (state) => {
    const { X, y, rows } = examplesOf(state);
    const found = nearestOfSigned(new Points(state.bias ? X.map((x) => [...x, 1]) : X, rows), y);
    return found.p.some(Boolean) ? [] : [...shares(found)].map(([number, weight]) => [number, String(weight)]);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const [question, body] = JSON.parse(line);
    answer = { answer: { ...ANSWERS, ...MORE }[question](body) };
  } catch (fault) {
    answer = { error: fault.message };
  }
  console.log(JSON.stringify(answer));
}

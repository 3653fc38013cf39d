/** Results that students hand in: the names of exercises with their answers, which are judged again. */

import { judge } from "./judges.js";

/** @import { Exercise, Judged } from "../types.d.ts" */
/** @typedef {{version: 1, student: string, results: {exercise: string, answer: any}[]}} HandedIn */

const LONGEST_NAME = 200;

/** @param {any} value @returns {value is Record<string, any>} */
const isObject = (value) => typeof value === "object" && value !== null;

/** @param {any} value */
const isResult = (value) => isObject(value) && Object.keys(value).sort().join() === "answer,exercise";

/**
 * Judge what a student handed in, as read from JSON; an Error says what is wrong with its form.
 * @param {any} data @param {Exercise[]} exercises @returns {{student: string, results: Judged[]}}
 */
export function grade(data, exercises) {
  const { version, student = "", results } = isObject(data) && "answer" in data ? { version: 1, results: [data] } : Object(data);
  if (version !== 1 || !Array.isArray(results) || !results.every(isResult)) {
    throw new Error("Results that are handed in must have 'version': 1 and a list 'results' of exercises with answers.");
  }
  if (typeof student !== "string" || student.length > LONGEST_NAME) throw new Error(`The student must be a name of at most ${LONGEST_NAME} characters.`);
  const names = results.map(({ exercise }) => exercise);
  if (new Set(names).size < names.length) throw new Error("Each exercise must be handed in once.");
  return {
    student,
    results: results.map(({ exercise: name, answer }) => {
      const exercise = exercises.find((one) => one.name === name);
      if (!exercise) throw new Error(`There is no exercise '${String(name).slice(0, 40)}'.`);
      return judge(exercise, answer);
    }),
  };
}

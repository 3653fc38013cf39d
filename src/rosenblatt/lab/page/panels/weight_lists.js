/** The weights, with all digits where the pointer rests, and the points that a kernel's sum counts. */

import { make, setFormula, setText, table } from "../dom.js";
import { classWords, counted, exact, number, weightName } from "../words.js";

/** @import { Moment, Replay } from "../types.d.ts" */

/** So many support points are listed. */
const LISTED = 10;

/** Return a function that lists the weights. @param {HTMLElement} root */
export function numberLists(root) {
  let shape = "";
  /** @type {HTMLElement[]} */
  let cells = [];
  /** @param {Replay} replay @param {Moment} moment */
  return (replay, moment) => {
    const { names } = replay.run;
    const all = listed(replay, moment);
    const wanted = `${names} ${all.map(({ id }) => id)}`;
    if (shape !== wanted || !root.contains(cells[0])) {
      shape = wanted;
      root.replaceChildren(...all.map(({ title, id }) => numberList(title, id, names)));
      cells = [...root.querySelectorAll("dd")];
    }
    all.flatMap(({ values: { w, b } }) => [...w, b]).forEach((value, i) => {
      setText(cells[i], number(value));
      cells[i].title = exact(value);
    });
  };
}

/** Return what is listed at a moment. @param {Replay} replay @param {Moment} moment */
function listed(replay, moment) {
  const pocket = replay.pocket(moment.t);
  return [
    { title: "Now", id: "weights", values: moment },
    ...(moment.variance ? [{ title: "Variance of each", id: "weights-variance", values: moment.variance }] : []),
    { title: "Average so far", id: "weights-average", values: moment.average },
    ...(pocket ? [{ title: "Pocket", id: "weights-pocket", values: pocket }] : []),
  ];
}

/** @param {string} title @param {string} id @param {string[]} names */
function numberList(title, id, names) {
  const rows = names.flatMap((name) => [
    make("dt", {}, weightName(name)),
    make("dd", { id: `${id}-w-${name}` }),
  ]);
  const list = make("dl", { className: "figures" }, ...rows, make("dt", {}, "b"), make("dd", { id: `${id}-b` }));
  return make("div", {}, make("h2", {}, title), list);
}

/**
 * List the points that count most in a kernel's sum.
 * @param {Replay} replay @param {Moment} moment @param {{headline: HTMLElement, note: HTMLElement, lists: HTMLElement}} parts
 */
export function showSupport(replay, moment, { headline, note, lists }) {
  const { rows, signs } = replay.run;
  const counts = replay.counts(moment.k);
  const places = counts.map((_, place) => place).filter((place) => counts[place]);
  places.sort((i, j) => counts[j] - counts[i] || i - j);
  setText(headline, `${counted(places.length, "support point")} after ${counted(moment.k, "update")}`);
  const more = places.length > LISTED ? ` The ${LISTED} that count most are listed.` : "";
  setFormula(note, `The activation at x is the sum of count · y · K(point, x): w itself is never written down.${more}`);
  const lines = places.slice(0, LISTED).map((place) => [`${rows[place] + 1}`, classWords(signs[place]), `${counts[place]}`]);
  lists.replaceChildren(...(lines.length ? [table("support", "", ["point", "class", "count"], lines)] : []));
}

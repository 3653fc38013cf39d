/** The weights, with all digits where the pointer rests, and the points that a kernel's sum counts. */

import { make, setFormula, setText, table } from "../dom.js";
import { classWords, counted, exact, number, weightName } from "../words.js";

/** @import { Moment, Replay } from "../types.d.ts" */

/** So many support points are listed. */
const LISTED = 10;

/** List the weights, and beside them their average and what else a learner has. @param {HTMLElement} root @param {Replay} replay @param {Moment} moment */
export function showWeights(root, replay, moment) {
  const columns = [
    { title: "now", id: "weights", values: moment },
    { title: "variance", id: "weights-variance", values: moment.variance },
    { title: "average so far", id: "weights-average", values: moment.average },
    { title: "pocket", id: "weights-pocket", values: replay.pocket(moment.t) },
  ].flatMap(({ title, id, values }) => (values ? [{ title, id, numbers: [...values.w, values.b] }] : []));
  const rows = [...replay.run.names, "b"].map((name, i) => [
    weightName(name),
    ...columns.map(({ id, numbers }) => {
      return make("td", { id: `${id}-${name === "b" ? "" : "w-"}${name}`, title: exact(numbers[i]) }, number(numbers[i]));
    }),
  ]);
  root.replaceChildren(table("shares", "", [make("td"), ...columns.map(({ title }) => title)], rows));
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
  lists.replaceChildren(...(lines.length ? [table("shares", "", ["point", "class", "count"], lines)] : []));
}

/** The lab's engine: the answer to every question of the page. */

import { checkedState } from "./checks.js";
import { pythonCode } from "./code.js";
import { errors } from "./errors.js";
import { fewest } from "./fewest.js";
import { BY_MARGIN, MOST_VISITS, featureNames, train, waiting } from "./learners.js";
import { preset } from "./presets.js";
import { csv } from "./tables.js";
import { theory } from "./theory.js";
import { vc } from "./vc.js";
import { counted } from "../words.js";

/** @import { Rule, State } from "../types.d.ts" */
/** @import { Made } from "./learners.js" */

/**
 * What the page asks, by name. An Error says in one sentence why there is no answer.
 * @type {Record<string, (question: any) => any>}
 */
export const ANSWERS = {
  run: (state) => run(checkedState(state)),
  errors: (state) => errors(checkedState(state)),
  fewest: (state) => fewest(checkedState(state)),
  vc,
  preset,
  csv,
};

/** Train on a state; return the run, or what it is waiting for. @param {State} state */
export function run(state) {
  const missing = waiting(state);
  if (missing) return { waiting: missing };
  const made = train(state);
  const { rows, y, X, visits, updates, passes, converged, w, b } = made;
  const model = /** @type {any} */ (made.model);
  const predicting = state.learner === "averaged" ? model.average() : state.learner === "pocket" ? best(made) : null;
  return {
    waiting: "",
    kind: state.learner === "kernel" ? "kernel" : "linear",
    names: featureNames(state),
    rows,
    signs: y,
    features: X,
    visits,
    updates,
    passes,
    converged,
    ended: ended(state, made),
    w,
    b,
    weights: made.model.weights,
    cached: made.model.cached,
    variances: state.learner === "arow" ? model.variances : null,
    predicting,
    pocket: state.learner === "pocket" ? made.pocket : null,
    rule: ruleOf(state, made),
    theory: theory(state, made),
    code: pythonCode(state, made),
  };
}

/** @param {Made} made */
function best({ pocket }) {
  const { w, b } = pocket[pocket.length - 1];
  return { w, b };
}

/** Return what a run of a learner has whose steps are not all 1, else null. @param {State} state @param {Made} made @returns {Rule | null} */
function ruleOf({ learner, margin, C, loss, r }, { steps, mistakes }) {
  if (!BY_MARGIN.includes(learner)) return null;
  const pa = learner === "pa";
  return {
    kind: /** @type {Rule["kind"]} */ (learner),
    threshold: learner === "margin" ? margin : 1,
    steps,
    mistakes,
    C: pa && loss !== "plain" ? C : null,
    loss: pa ? loss : null,
    r: learner === "arow" ? r : null,
  };
}

/** Return why the run ended. @param {State} state @param {Made} made */
function ended(state, { converged, passes, updates }) {
  if (converged) {
    if (!passes.length || state.order === "pick") return "every point is on its side";
    return `a pass without ${BY_MARGIN.includes(state.learner) ? "an update" : "a mistake"}`;
  }
  if (state.order === "pick" && updates.length < state.updates) return "the last point that was picked";
  if (updates.length >= state.updates) return `the limit of ${counted(state.updates, "update")}`;
  if (!passes.length) return `the limit of ${counted(MOST_VISITS, "visit")}`;
  return `the limit of ${counted(passes.length, "pass", "passes")}`;
}

/** Runs for tests of modules that show them. */

/**
 * Return a run with the weights that its updates add up to, and the sums for their average.
 * @param {object} run whose visits, updates and steps are written down by hand
 * @param {boolean} [bias]
 */
export function added(run, bias = true) {
  const start = { w: run.names.map(() => 0), b: 0 };
  const [weights, cached] = [[start], [start]];
  run.updates.forEach((visit, k) => {
    const place = run.visits[visit];
    const step = run.signs[place] * (run.rule?.steps[k] ?? 1);
    const plus = ({ w, b }, factor) => ({ w: w.map((value, j) => value + factor * run.features[place][j]), b: b + (bias ? factor : 0) });
    weights.push(plus(weights[k], step));
    cached.push(plus(cached[k], step * visit));
  });
  return { variances: null, ...run, weights, cached };
}

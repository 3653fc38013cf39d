/** Kernels: their values as floats, and the exact sign of a sum of them where floats are in doubt. */

import { aligned, bits, dyadic, exactDot, nearest, sign, sum, times } from "./exact.js";

/** @typedef {import("./exact.js").Dyadic} Dyadic */
/** Kernel values of one point with all, and what bounds their rounding errors. @typedef {{values: Float64Array, sizes: Float64Array}} Row */

export class Kernel {
  /**
   * @param {{kernel: string, degree: number, gamma: number, coef0: number}} options
   * @param {number[][]} X
   */
  constructor(options, X) {
    this.options = options;
    this.X = X;
    /** @type {Row[]} */
    this.rows = [];
  }

  /** Return the kernel values of point i with all points. @param {number} i */
  row(i) {
    return (this.rows[i] ??= this.#row(this.X[i]));
  }

  /** @param {number[]} z @returns {Row} */
  #row([a, b]) {
    const { kernel, gamma, degree, coef0 } = this.options;
    if (kernel === "rbf") {
      const values = Float64Array.from(this.X, ([x, y]) => Math.exp(-gamma * ((a - x) * (a - x) + (b - y) * (b - y))));
      return { values, sizes: values };
    }
    const values = Float64Array.from(this.X, ([x, y]) => (gamma * (a * x + b * y) + coef0) ** degree);
    return { values, sizes: Float64Array.from(this.X, ([x, y]) => (gamma * (Math.abs(a * x) + Math.abs(b * y)) + coef0) ** degree) };
  }

  /**
   * Return the sign of the sum of coefficients times kernel values at point i, exactly.
   * @param {number} score the sum in floats
   * @param {number} size the sum of the sizes of its terms
   * @param {() => Map<number, number>} coefficients integers, by point
   * @param {number} i
   */
  side(score, size, coefficients, i) {
    // 2,000 terms, each with a relative error below 4 t u <= 4e-13 for the exponents t that floats hold
    return Math.abs(score) > 2e-12 * size + 1e-290 ? Math.sign(score) : this.exactSide(coefficients(), i);
  }

  /** @param {Map<number, number>} coefficients @param {number} i */
  exactSide(coefficients, i) {
    const terms = [...coefficients].filter(([, factor]) => factor);
    if (!terms.length) return 0;
    const [x, gamma] = [this.X[i], dyadic(this.options.gamma)];
    if (this.options.kernel === "rbf") {
      const exponents = terms.map(([j]) => times(gamma, squaredDistance(this.X[j], x)));
      return sideOfExponentials(exponents, terms.map(([, factor]) => factor));
    }
    const coef0 = dyadic(this.options.coef0);
    const { ns } = aligned(terms.map(([j]) => sum([times(gamma, exactDot(this.X[j], x)), coef0])));
    const degree = BigInt(this.options.degree);
    return sign(ns.reduce((total, n, k) => total + BigInt(terms[k][1]) * n ** degree, 0n));
  }
}

/** @param {number[]} u @param {number[]} v @returns {Dyadic} */
function squaredDistance(u, v) {
  return sum(u.map((value, i) => {
    const apart = sum([dyadic(value), dyadic(-v[i])]);
    return times(apart, apart);
  }));
}

/**
 * Return the sign of the sum of factors times exp(-exponent).
 * @param {Dyadic[]} exponents
 * @param {number[]} factors
 */
function sideOfExponentials(exponents, factors) {
  const { ns, e } = aligned(exponents);
  /** @type {Map<bigint, number>} */
  const collected = new Map();
  ns.forEach((n, k) => collected.set(n, (collected.get(n) ?? 0) + factors[k]));
  const terms = [...collected].filter(([, factor]) => factor);
  if (!terms.length) return 0; // by Lindemann and Weierstrass, any other sum is not 0, so that some precision proves its sign
  const least = terms.reduce((low, [n]) => (n < low ? n : low), terms[0][0]); // the largest term is divided out
  const apart = terms.map(([n]) => n - least);
  let [total, size] = [0, 0];
  terms.forEach(([, factor], k) => {
    const t = nearest(apart[k], 1n, e);
    total += factor * Math.exp(-t);
    size += Math.abs(factor) * Math.exp(-t) * (1 + t);
  });
  if (Math.abs(total) > 1e-12 * size) return Math.sign(total);
  const wrong = 2n * BigInt(terms.reduce((all, [, factor]) => all + Math.abs(factor), 0));
  for (let precision = 128; ; precision *= 2) {
    const sums = terms.reduce((all, [, factor], k) => all + BigInt(factor) * exponential(apart[k], e, precision), 0n);
    if (sums > wrong || -sums > wrong) return sign(sums);
  }
}

/**
 * Return exp(-n 2^e) in units of 2^-precision, off by at most 2 of them.
 * @param {bigint} n
 * @param {number} e
 * @param {number} precision
 */
function exponential(n, e, precision) {
  if (nearest(n, 1n, e) > 0.6932 * precision) return 0n;
  // Argument reduction and Taylor series: exp(-u) for u = t / 2^halvings < 1/2, squared again and again. A square doubles
  // the error, so the digits that 2^halvings costs are added, and those of the errors of the series.
  const halvings = Math.max(0, bits(n) + e + 2 + Math.floor(Math.sqrt(precision)));
  const places = BigInt(precision + halvings + Math.ceil(Math.log2(precision + halvings)) + 7);
  const shift = places + BigInt(e - halvings);
  const u = shift > 0n ? n << shift : n >> -shift;
  let [term, total] = [1n << places, 0n];
  for (let count = 1n; term; count += 1n) {
    total += count % 2n ? term : -term;
    term = ((term * u) >> places) / count;
  }
  for (let k = 0; k < halvings; k++) total = (total * total) >> places;
  return total >> (places - BigInt(precision));
}

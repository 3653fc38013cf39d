/** Kernels: their values as floats, and the exact sign of a sum of them where floats are in doubt. */

import { aligned, bits, dyadic, exactDot, nearest, sign, sum, times } from "./exact.js";

/** @import { Dyadic } from "./exact.js" */
/** Bounds the relative error of a value, of its share in a sum of 2,000 of them, and of their rounding. */
const ROUNDING = 1e-12;

export class Kernel {
  /** @param {{kernel: string, degree: number, gamma: number, coef0: number}} options @param {number[][]} X */
  constructor(options, X) {
    this.options = options;
    this.X = X;
    this.isGaussian = options.kernel === "rbf";
    /** Whether values are integers, and so are their sums: exact below 2^53. */
    this.isInteger = !this.isGaussian && [options.gamma, options.coef0, ...X.flat()].every(Number.isInteger);
    /** @type {Float64Array[]} */
    this.rows = [];
  }

  /** Return for each point what its kernel value with point i is made of: gamma |x - z|^2, or gamma x . z + coef0. @param {number} i */
  row(i) {
    const [[a, b], { gamma, coef0 }] = [this.X[i], this.options];
    return (this.rows[i] ??= Float64Array.from(this.X, ([x, y]) =>
      this.isGaussian ? gamma * ((a - x) * (a - x) + (b - y) * (b - y)) : gamma * (a * x + b * y) + coef0,
    ));
  }

  /** @param {number} i @param {number} j */
  isSame(i, j) {
    return this.X[i][0] === this.X[j][0] && this.X[i][1] === this.X[j][1];
  }

  /** Return the largest base that rounding lets a polynomial have at two points. @param {number} i @param {number} j */
  size(i, j) {
    const [[a, b], [x, y], { gamma, coef0 }] = [this.X[i], this.X[j], this.options];
    return gamma * (Math.abs(a * x) + Math.abs(b * y)) + coef0;
  }

  /** Return K(x, x) of a point. @param {number} i */
  square(i) {
    return this.isGaussian ? 1 : power(this.row(i)[i], this.options.degree);
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

/** Return a power; of integers exactly, if it is below 2^53. @param {number} base @param {number} degree */
function power(base, degree) {
  let product = base;
  for (let k = 1; k < degree; k++) product *= base;
  return product;
}

/**
 * A sum of kernel values at a point, with a bound on its error. Values of a gaussian kernel are divided by the largest of
 * them, so that narrow ones do not vanish, and points at the same place are counted apart.
 */
export class Sum {
  /** @param {Kernel} kernel @param {number} i the point */
  constructor(kernel, i) {
    this.kernel = kernel;
    this.i = i;
    this.score = this.error = this.same = this.most = 0;
    /** The least exponent so far: the score is times exp(-least). */
    this.least = Infinity;
  }

  /** Add a factor times the kernel value of point j. @param {number} factor @param {number} j */
  add(factor, j) {
    const { kernel, i } = this;
    const t = kernel.row(j)[i];
    if (!kernel.isGaussian) {
      const size = kernel.size(i, j);
      const most = Math.abs(factor) * power(size, kernel.options.degree);
      this.score += factor * power(t, kernel.options.degree);
      this.most += most;
      if (!kernel.isInteger || this.most >= 2 ** 53) this.error += ROUNDING * (this.error ? most : this.most);
    } else if (kernel.isSame(i, j)) {
      this.same += factor;
    } else {
      if (t < this.least) {
        const share = Math.exp(t - this.least);
        this.error = share ? share * (this.error + Math.abs(this.score) * this.#off(t)) : 0;
        this.score *= share;
        this.least = t;
      }
      const value = Math.exp(this.least - t);
      this.score += factor * value;
      if (value) this.error += Math.abs(factor) * value * this.#off(t);
    }
  }

  /** Return the relative error of exp(least - t), both exponents having one of 4 u. @param {number} t */
  #off(t) {
    const off = 1e-15 * (t + this.least);
    return off < 0.1 ? ROUNDING + 1.1 * off : Infinity;
  }

  /** The sum and what it may be off by; up to a positive factor unless `scaled`. @param {boolean} [scaled] */
  value(scaled = this.same !== 0) {
    if (!this.kernel.isGaussian) return { value: this.score, off: this.kernel.isInteger && !this.error ? 0 : this.error + 1e-290 };
    const share = scaled ? Math.exp(-this.least) : 1;
    const rest = share ? share * this.score : 0;
    return { value: this.same + rest, off: (share ? share * this.error : 0) + ROUNDING * (Math.abs(this.same) + Math.abs(rest)) + 1e-290 };
  }

  /** Return this sum times a factor, minus another one of the same points. @param {number} factor @param {Sum} other */
  minus(factor, other) {
    const sum = new Sum(this.kernel, this.i);
    sum.least = this.least;
    sum.score = factor * this.score - other.score;
    sum.most = factor * this.most + other.most;
    sum.error = factor * this.error + other.error || (sum.most < 2 ** 53 ? 0 : ROUNDING * sum.most);
    sum.same = factor * this.same - other.same;
    return sum;
  }

  /** Return the sign of the sum, exactly. @param {() => Map<number, number>} coefficients integers, by point */
  side(coefficients) {
    const { value, off } = this.value();
    return !off || Math.abs(value) > off ? Math.sign(value) : this.kernel.exactSide(coefficients(), this.i);
  }
}

/** @param {number[]} u @param {number[]} v @returns {Dyadic} */
function squaredDistance(u, v) {
  return sum(u.map((value, i) => {
    const apart = sum([dyadic(value), dyadic(-v[i])]);
    return times(apart, apart);
  }));
}

/** Return the sign of the sum of factors times exp(-exponent). @param {Dyadic[]} exponents @param {number[]} factors */
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
 * @param {bigint} n @param {number} e @param {number} precision
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

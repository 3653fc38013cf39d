/** Exact numbers: a float64 is an integer times a power of two, and so are sums and products of floats. */

/** The number n 2^e. @typedef {{n: bigint, e: number}} Dyadic */

const view = new DataView(new ArrayBuffer(8));

/** Return a float as an integer times a power of two. @param {number} value @returns {Dyadic} */
export function dyadic(value) {
  if (Number.isSafeInteger(value)) return { n: BigInt(value), e: 0 };
  view.setFloat64(0, value);
  const high = view.getUint32(0);
  const exponent = (high >>> 20) & 0x7ff;
  const digits = (BigInt((high & 0xfffff) | (exponent ? 0x100000 : 0)) << 32n) | BigInt(view.getUint32(4));
  return { n: value < 0 ? -digits : digits, e: (exponent || 1) - 1075 };
}

/** @param {Dyadic} a @param {Dyadic} b @returns {Dyadic} */
export const times = (a, b) => ({ n: a.n * b.n, e: a.e + b.e });

/** Return numbers as integers times the same power of two. @param {Dyadic[]} values @returns {{ns: bigint[], e: number}} */
export function aligned(values) {
  let e = Infinity;
  for (const value of values) if (value.n && value.e < e) e = value.e;
  return { ns: values.map((value) => (value.n ? value.n << BigInt(value.e - e) : 0n)), e: Number.isFinite(e) ? e : 0 };
}

/** Return the exact sum of numbers. @param {Dyadic[]} values @returns {Dyadic} */
export function sum(values) {
  const { ns, e } = aligned(values);
  return { n: ns.reduce((total, n) => total + n, 0n), e };
}

/** Return the exact product of two vectors, plus b. @param {number[]} u @param {number[]} v @param {number} [b] */
export function exactDot(u, v, b = 0) {
  return sum([...u.map((value, i) => times(dyadic(value), dyadic(v[i]))), dyadic(b)]);
}

/** @param {bigint} n */
export const sign = (n) => (n > 0n ? 1 : n < 0n ? -1 : 0);

/** @param {bigint} n */
export const absolute = (n) => (n < 0n ? -n : n);

/** Return the number of binary digits of n >= 0. @param {bigint} n */
export function bits(n) {
  const text = n.toString(16);
  return 4 * text.length - Math.clz32(parseInt(text[0], 16)) + 28;
}

/**
 * Return the float64 nearest to n / d 2^e, ties to even.
 * @param {bigint} n
 * @param {bigint} [d] positive
 * @param {number} [e]
 */
export function nearest(n, d = 1n, e = 0) {
  if (!n) return 0;
  const size = absolute(n);
  const shift = 64 + bits(d) - bits(size); // the quotient then has 64 digits or 65
  const [above, below] = shift > 0 ? [size << BigInt(shift), d] : [size, d << BigInt(-shift)];
  let quotient = above / below;
  const cut = BigInt(Math.max(bits(quotient) - 53, shift - e - 1074)); // fewer digits where the result is subnormal
  const [half, rest] = [1n << (cut - 1n), quotient & ((1n << cut) - 1n)];
  quotient >>= cut;
  if (rest > half || (rest === half && (quotient & 1n || above % below))) quotient += 1n;
  const value = Number(quotient) * 2 ** (e - shift + Number(cut));
  return n < 0n ? -value : value;
}

/** Return the square root of n >= 0, rounded down. @param {bigint} n */
export function squareRoot(n) {
  if (n < 2n) return n;
  let root = 1n << BigInt((bits(n) + 1) >> 1);
  for (let next = root; ; root = next) {
    next = (root + n / root) >> 1n; // Newton's method from above
    if (next >= root) return root;
  }
}

/**
 * Return the sign of w . x + b, exactly: by floats where they are sure, else by integers.
 * @param {number[]} w @param {number[]} x @param {number} b
 */
export function sideOf(w, x, b) {
  let [a, size] = [b, Math.abs(b)];
  for (let i = 0; i < w.length; i++) {
    const product = w[i] * x[i];
    a += product;
    size += Math.abs(product);
  }
  return isCertain(a, size) ? Math.sign(a) : sign(exactDot(w, x, b).n);
}

/** Return whether a sum of up to eight products of this total size has its sign. @param {number} a @param {number} size */
export const isCertain = (a, size) => Math.abs(a) > 1e-14 * size && size > 1e-280;

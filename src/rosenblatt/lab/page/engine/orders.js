/** The orders in which shuffled passes visit the points: a Fisher-Yates shuffle by splitmix64, as in the library. */

const GOLDEN = 0x9e3779b97f4a7c15n;
const word = (/** @type {bigint} */ z) => BigInt.asUintN(64, z);

/** Return splitmix64's output (Steele, Lea and Flood 2014). @param {bigint} z */
function splitmix64(z) {
  z = word((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = word((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}

/** Return a function that draws random integers of 32 bits. @param {number} seed @param {number} [stream] */
export function randomBits(seed, stream = 0) {
  let state = splitmix64(word(splitmix64(BigInt(seed)) + BigInt(stream) * GOLDEN));
  return () => {
    state = word(state + GOLDEN);
    return Number(splitmix64(state) >> 32n);
  };
}

let known = { of: "", orders: /** @type {number[][]} */ ([]) };

/**
 * Return the order in which a pass visits n points. The orders of the last seed are kept: a point that is dragged asks
 * for them again and again.
 * @param {number} n @param {number} seed @param {number} pass
 */
export function visitingOrder(n, seed, pass) {
  const of = `${n} ${seed}`;
  if (known.of !== of) known = { of, orders: [] };
  return (known.orders[pass] ??= shuffled(n, seed, pass));
}

/** @param {number} n @param {number} seed @param {number} pass */
function shuffled(n, seed, pass) {
  const [order, draw] = [Array.from({ length: n }, (_, i) => i), randomBits(seed, pass)];
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor((draw() * (i + 1)) / 2 ** 32); // exact: a product below 2^53
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

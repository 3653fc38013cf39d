/** Presets: points that show one effect each, with the settings that show it. */

import { randomBits } from "./orders.js";
import { DEFAULTS, viewOf } from "../state.js";

/** @import { Point, State } from "../types.d.ts" */
/** @typedef {[number, number]} Pair */

/** The title of each preset by its name, in the order of the list. @type {Record<string, string>} */
export const PRESETS = {
  separable: "Two clouds",
  thin: "Thin margin",
  xor: "XOR of four clusters",
  rings: "Two rings",
  circle: "Inside a circle",
  moons: "Two moons",
  spiral: "Spiral",
  noisy: "Noisy clouds, some held out",
  sorted: "500 of one class, then 500 of the other",
  worst: "Worst case: half the bound is reached",
  iris: "Iris: versicolor and virginica by their petals",
  digits: "Digits 3 and 8, two principal components",
};

/**
 * Return the fields of a state that a preset sets: points, view, and what trains on them.
 * @param {{name: string, seed: number}} question
 */
export function preset({ name, seed }) {
  const { points, ...chosen } = MAKERS[name](new Random(seed));
  const unit = MEASURED.includes(name) ? 1000 : FINE.includes(name) ? 64 : 8;
  const round = (/** @type {number} */ value) => Math.round(unit * value) / unit + 0;
  const rounded = points.map(([x, y, ...rest]) => /** @type {Point} */ ([round(x), round(y), ...rest]));
  const { learner, features, bias, order, picks, panel } = DEFAULTS;
  const view = (chosen.view ?? viewOf(rounded)).map(round);
  return { learner, features, bias, order, picks, panel, at: 0, ...chosen, points: rounded, view };
}

/** Presets lie on multiples of 1/8, or of 1/64 where that is too coarse: such numbers are short, and add up exactly. */
const FINE = ["thin", "spiral", "sorted"];
const MEASURED = ["iris", "digits"];

/** Random numbers by splitmix64: the same seed gives the same points. */
class Random {
  /** @param {number} seed */
  constructor(seed) {
    this.bits = randomBits(seed);
  }

  /** @param {number} [low] @param {number} [high] */
  uniform(low = 0, high = 1) {
    return low + ((high - low) * (this.bits() + 0.5)) / 2 ** 32;
  }

  /** Return a number of the normal distribution, by Box and Muller. */
  normal() {
    return Math.sqrt(-2 * Math.log(this.uniform())) * Math.cos(2 * Math.PI * this.uniform());
  }

  /** Return a number near 0, at most 1 in size. */
  near() {
    return Math.max(-1, Math.min(1, this.normal() / 2));
  }
}

/** @param {number} turns @param {number} [radius] @returns {Pair} */
const polar = (turns, radius = 1) => [radius * Math.cos(2 * Math.PI * turns), radius * Math.sin(2 * Math.PI * turns)];

/** Return n points, with labels that take turns. @param {number} n @param {(sign: 1 | -1, i: number) => Pair} make @returns {Point[]} */
function alternating(n, make) {
  return Array.from({ length: n }, (_, i) => {
    const sign = i % 2 ? -1 : 1;
    const [x, y] = make(sign, i);
    return [x, y, sign];
  });
}

/** Return a function that turns the plane. @param {number} turns @returns {(along: number, across: number) => Pair} */
function turned(turns) {
  const [c, s] = polar(turns);
  return (along, across) => [along * c - across * s, along * s + across * c];
}

/**
 * Return vectors on the positive side of a line through the origin, at an angle with a sine of at least `margin`; each
 * class has one that attains it.
 * @param {Random} random @param {number} margin @param {number} shortest @param {number} longest @param {number} [turns]
 * @returns {(sign: 1 | -1, i: number) => Pair}
 */
function planted(random, margin, shortest, longest, turns = random.uniform()) {
  const turn = turned(turns);
  return (sign, i) => {
    const drawn = i < 2 ? margin : Math.abs(Math.sin(2 * Math.PI * random.uniform()));
    const sine = drawn < margin ? random.uniform(margin, 2 * margin) : drawn;
    const across = Math.sqrt(1 - sine * sine) * (i < 2 ? sign : random.uniform() < 0.5 ? -1 : 1);
    const length = sign * random.uniform(shortest, longest);
    return turn(length * sine, length * across);
  };
}

/** @type {Record<string, (random: Random) => Partial<State> & {points: Point[]}>} */
const MAKERS = {
  separable: (random) => {
    const [turn, x, y] = [turned(random.uniform()), random.uniform(-1.5, 1.5), random.uniform(-1.5, 1.5)];
    const points = alternating(40, (sign) => {
      const [u, v] = turn(sign * (0.3 + 3.2 * random.uniform() * random.uniform()), 2.4 * random.near());
      return [u + x, v + y];
    });
    return { points, panel: "bound" };
  },
  thin: (random) => ({ points: alternating(60, planted(random, 0.04, 1.5, 4)), panel: "bound" }),
  xor: (random) => {
    const points = alternating(40, (sign, i) => {
      const side = i % 4 < 2 ? 1 : -1;
      return [2 * side + 0.6 * 2 * random.near() * 0.8, -2 * side * sign + 0.6 * 2 * random.near() * 0.8];
    });
    return { points, panel: "verdict" };
  },
  rings: (random) => {
    const points = alternating(60, (sign) => {
      const [x, y] = polar(random.uniform(), sign > 0 ? 1 : 2);
      return [1.6 * (x + 0.08 * random.normal()), 1.6 * (y + 0.08 * random.normal())];
    });
    return { points, features: ["x2", "y2"], panel: "verdict" };
  },
  circle: (random) => {
    const points = alternating(60, (sign) => {
      const share = random.uniform();
      const [x, y] = polar(random.uniform(), sign > 0 ? 1.75 * Math.sqrt(share) : 2.25 + 2 * share);
      return [x + 0.5, y - 0.5];
    });
    return { points, learner: "circle", panel: "lift" };
  },
  moons: (random) => {
    const points = alternating(60, (sign) => {
      const [c, s] = polar(random.uniform(0, 0.5));
      const [x, y] = sign > 0 ? [1 - c, 0.5 - s] : [c, s];
      return [2.5 * (x - 0.5 + 0.08 * random.normal()), 2.5 * (y - 0.25 + 0.08 * random.normal())];
    });
    return { points, learner: "kernel", kernel: "rbf", gamma: 1, panel: "verdict" };
  },
  spiral: (random) => {
    const points = alternating(80, (sign) => {
      const radius = Math.sqrt(random.uniform(0.25 ** 2, 1.75 ** 2)); // about uniform along the arms
      return polar(radius, 2.5 * sign * radius);
    });
    return { points, learner: "kernel", kernel: "rbf", gamma: 1, panel: "verdict" };
  },
  noisy: (random) => {
    const turn = turned(random.uniform());
    const points = alternating(120, (sign) => turn(0.9 * sign + random.normal(), 1.2 * random.normal()));
    const held = points.map(([x, y, sign], i) => /** @type {Point} */ (i % 3 === 2 ? [x, y, sign, true] : [x, y, sign]));
    return { points: held, learner: "averaged", passes: 30, panel: "error" };
  },
  sorted: (random) => {
    const make = planted(random, 0.08, 0.5, 1.5, random.uniform(0.05, 0.2)); // blue away from the origin: the bias matters
    const points = alternating(1000, (sign, i) => {
      const [x, y] = make(sign, i);
      return [x + 2, y + 2];
    });
    points.sort((a, b) => b[2] - a[2]);
    return { points, order: "fixed", passes: 50, panel: "projection", view: [1.5, 1.5, 2.5] };
  },
  // The updates on the second and the third point cancel, but each pair raises the second weight; 28 times.
  worst: () => ({ points: [[2, 0.375, 1], [4, -0.375, -1], [4, 0.375, 1]], order: "fixed", bias: false, panel: "bound", view: [1.5, 0, 3.5] }),
  iris: () => ({ points: measured(VIRGINICA, VERSICOLOR, 10), learner: "pocket", panel: "verdict" }),
  digits: () => ({ points: measured(THREES, EIGHTS, 1000), learner: "averaged", panel: "verdict" }),
};

/** @param {string} blue @param {string} orange @param {number} unit @returns {Point[]} */
function measured(blue, orange, unit) {
  const read = (/** @type {string} */ text, /** @type {1 | -1} */ sign) =>
    text.split(" ").map((pair) => /** @type {Point} */ ([...pair.split(",").map((value) => Number(value) / unit), sign]));
  return [...read(blue, 1), ...read(orange, -1)];
}

/** The state that the page opens with: 24 points that a line separates. @type {State} */
export const START = (() => {
  const points = measured(
    "29,6 8,9 8,3 30,16 10,16 13,15 14,11 3,22 12,8 2,10 2,14 18,-2",
    "3,-5 -2,-12 4,-2 -10,-10 -8,-14 6,-6 -17,-18 14,-20 -19,15 -2,-2 -10,-6 14,-8",
    8,
  );
  return { ...DEFAULTS, points, view: viewOf(points), seed: 6 };
})();

// Iris (Anderson 1935, Fisher 1936): length and width of petals in millimetres. Digits (Alpaydin and Kaynak 1998): images on
// their first two principal components, in thousandths.
const VIRGINICA =
  "60,25 51,19 59,21 56,18 58,22 66,21 45,17 63,18 58,18 61,25 51,20 53,19 55,21 50,20 51,24 53,23 55,18 67,22 " +
  "69,23 50,15 57,23 49,20 67,20 49,18 57,21 60,18 48,18 49,18 56,21 58,16 61,19 64,20 56,22 51,15 56,14 61,23 " +
  "56,24 55,18 48,18 54,21 56,24 51,23 51,19 59,23 57,25 52,23 50,19 52,20 54,23 51,18";
const VERSICOLOR =
  "47,14 45,15 49,15 40,13 46,15 45,13 47,16 33,10 46,13 39,14 35,10 42,15 40,10 47,14 36,13 44,14 45,15 41,10 " +
  "45,15 39,11 48,18 40,13 49,15 47,12 43,13 44,14 48,14 50,17 45,15 35,10 38,11 37,10 39,12 51,16 45,15 45,16 " +
  "47,15 44,13 41,13 40,13 44,12 46,14 40,12 33,10 42,13 42,12 42,13 43,13 30,11 41,13";
const THREES =
  "2631,336 2597,1199 1472,1756 3664,892 1287,2156 3471,697 3308,1261 1750,2712 2071,2220 2827,1455 1228,3433 " +
  "2602,2283 -347,4134 1872,3508 3749,1248 1297,2268 1866,2041 3792,918 2858,2167 2784,1615 3258,2169 2060,2032 " +
  "1931,2314 2218,2402 1576,2111 630,1670 2966,477 1848,89 2834,811 2449,-713 2149,601 2606,575 3348,1082 2601,1315 " +
  "2476,-280 2665,761 1895,1147 1189,730 2842,-355 1919,711 1974,421 1966,-160 1962,-1282 2076,-734 1214,-1000 " +
  "1380,-1967 1231,-1155 1867,-792 1832,-721 2113,-789 2369,-1279 2187,278 1703,751 1699,-3314 1462,-2085 358,-1593 " +
  "2512,-2186 2093,-2984 2172,-1656 668,-3895 1520,-2953 1878,-2883";
const EIGHTS =
  "-1644,-764 -2588,3162 -2787,1051 -3258,1670 -2586,1785 -2251,698 -4073,66 -4000,2544 -3659,-388 -2911,2189 " +
  "-2006,450 -3407,1334 -3224,1859 -2786,361 -3188,-1887 -3250,1474 -3416,776 -2796,182 -1646,-556 -3313,2083 " +
  "-1192,-2117 -3420,894 -2341,-329 -1595,114 -614,-1589 -3805,-399 -1144,-2645 -3491,175 -3844,-420 -2124,-365 " +
  "-2537,-1190 -581,-2837 -1454,-2789 -3550,-28 -2077,-1325 449,-1917 -1439,-1905 -3975,192 -1246,-1635 -2679,972 " +
  "-1606,-3245 -1655,-1771 -1238,-1192 131,-3024 -1518,-613 -898,-1986 -1011,-4169 -2653,155 -3477,-22 -947,-2248 " +
  "-1325,-1153 -1837,146 -2647,-1426 -1941,-1804 -2290,-1698 -2016,-2097 -1377,-2986 -1158,-2585";

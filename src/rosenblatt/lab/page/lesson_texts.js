/** The lessons: steps that each set the state, and a question. Tests check what they claim. */

import { BEYOND, FOUR, INSIDE, IN_LINE, NOISY, RING, SORTED, SPIRAL, TRIANGLE, XOR, XOR01, gap } from "./lesson_points.js";

/** @import { State } from "./types.d.ts" */
/**
 * @typedef {object} Step
 * @property {string} say one sentence, with vectors between two pairs of stars
 * @property {Partial<State>} [patch] what it changes, for the steps after it, too
 * @property {number | null} [at] the place in the run, null for its end; left out, the run is played
 */
/**
 * @typedef {object} Lesson
 * @property {string} id
 * @property {string} title
 * @property {Partial<State>} state what differs from the defaults
 * @property {Step[]} steps
 * @property {{title: string, patch: Partial<State>}[]} tries buttons of the last step, beside which the outcome of their runs is shown
 * @property {"updates" | "bound" | "none"} outcome
 * @property {string} question
 * @property {string} answer
 */

/** @type {State["show"]} */
const PROVED = ["regions", "arrow", "ghosts", "hulls"];

/** @type {Lesson[]} */
export const LESSONS = [
  {
    id: "one-update",
    title: "One update",
    state: { points: FOUR, order: "fixed", view: [0.5, 0.5, 4.5] },
    steps: [
      { say: "A perceptron keeps a weight vector **w** and a bias b, and moves its line at each mistake: watch it to the end." },
      { say: "It starts with **w** = 0 and b = 0, and visits one point after the other, with the activation a = **w**·**x** + b.", at: 0 },
      { say: "At the disc (4, 2), y is +1 and a is 0: y a ≤ 0 is a mistake, so y **x** is added to **w**, and y to b.", at: 1 },
      { say: "The triangle at (1, 1) has y = −1 and a = 7: again a mistake, and **w** becomes (4, 2) − (1, 1) = (3, 1).", at: 2 },
      { say: "The next two points have y a > 0: they are right, and nothing changes.", at: 4 },
      { say: "At its second visit the triangle is still wrong: the update raised its y a by ‖**x**‖² + 1 = 3, from −7 to −4 only.", at: 6 },
      { say: "After 7 updates comes a pass without a mistake: the perceptron is done.", at: null },
    ],
    tries: [],
    outcome: "none",
    question: "Does an update always put its point on the right side?",
    answer:
      "No. It raises the point's y a by ‖**x**‖² + 1, but y a may have been further below 0 than that. The triangle at " +
      "(1, 1) goes from −7 to −4, at its second visit from −4 to −1, and only at the third from −1 to 2.",
  },
  {
    id: "order",
    title: "Order matters",
    state: { points: SORTED, order: "fixed", view: [1.6, 1.4, 2.8] },
    steps: [
      { say: "The list has 13 discs first and 13 triangles after them, and is visited as it is." },
      { say: "In the first 13 visits the learner meets only discs, soon calls every point a disc, and learns nothing more from them.", at: 13 },
      { say: "Then it meets only triangles and swings back: each class undoes what the other did.", at: 26 },
      { say: "Shuffled once, points that disagree meet at once: there are fewer updates and fewer passes.", patch: { order: "once" } },
      { say: "Shuffled anew before each pass: press the three orders and compare, also with another seed (in More).", patch: { order: "each" } },
    ],
    tries: [
      { title: "As listed", patch: { order: "fixed" } },
      { title: "Shuffled once", patch: { order: "once" } },
      { title: "Shuffled each pass", patch: { order: "each" } },
    ],
    outcome: "updates",
    question: "The bound R²/γ² does not depend on the order. Does a bad order break it?",
    answer:
      "No. The bound counts updates, not visits, and holds for every order, the worst one included: all three counts " +
      "stay under the bound in the Bound panel. A bad order wastes visits, and uses up more of the updates that the " +
      "bound allows. That is why one shuffles.",
  },
  {
    id: "bound",
    title: "Margin and bound",
    state: { points: gap(0), bias: false, order: "each", panel: "bound", view: [0, 0, 4.5], show: ["regions", "arrow", "radius", "strip"] },
    steps: [
      { say: "How many mistakes can there be? R is how far the farthest point is from the origin: the dotted circle." },
      { say: "γ is how far the nearest point is from the best line: half the strip, which the unit vector **u** points across.", at: null },
      { say: "A margin of γ means y (**x**·**u**) ≥ γ for every point: each update, which adds y **x** to **w**, adds at least γ to **w**·**u**.", at: 1 },
      { say: "To ‖**w**‖² an update adds at most R², because a mistake has y (**w**·**x**) ≤ 0.", at: 6 },
      { say: "So kγ ≤ **w**·**u** ≤ ‖**w**‖ ≤ √k R after k updates: the lower end grows like k, the upper like √k, until k = R²/γ².", at: null },
      { say: "Press Thin, Middle and Wide: γ grows, and the bound R²/γ² falls with its square.", at: null },
    ],
    tries: [
      { title: "Thin", patch: { points: gap(0) } },
      { title: "Middle", patch: { points: gap(0.25) } },
      { title: "Wide", patch: { points: gap(1.25) } },
    ],
    outcome: "bound",
    question: "Why does an update add at most R² to ‖**w**‖²? Adding two vectors can make a much longer one.",
    answer:
      "Only mistakes update. ‖**w** + y**x**‖² = ‖**w**‖² + 2y (**w**·**x**) + ‖**x**‖². The last term is at most R², and " +
      "for a mistake y (**w**·**x**) ≤ 0, so the middle term never adds. A point that would make **w** much longer agrees " +
      "with **w** already: it is no mistake. (There is no bias here; with one, each point has a further coordinate, always 1.)",
  },
  {
    id: "bias",
    title: "The bias",
    state: { points: BEYOND, bias: false, order: "fixed", view: [1.8, 1.8, 3.2] },
    steps: [
      { say: "Without a bias every line passes through the origin: here it turns about it without end." },
      { say: "The triangle at (1, 1) and the disc at (3, 3) lie on one ray from there: **w**·**x** has the same sign for both, whatever **w** is.", at: null },
      { say: "With a bias the line is where **w**·**x** = −b, any distance away from the origin: now the run ends.", patch: { bias: true } },
      { say: "Along **w**, the bias shifts the threshold away from 0: compare the two.", patch: { panel: "projection" }, at: null },
    ],
    tries: [
      { title: "Without bias", patch: { bias: false } },
      { title: "With bias", patch: { bias: true } },
    ],
    outcome: "updates",
    question: "How could one have a bias without a rule of its own for b?",
    answer:
      "Give every point one more coordinate that is always 1. Its weight is b, and the usual update adds y·1 to it. " +
      "That is also why R and γ on this page count that coordinate whenever the bias is on.",
  },
  {
    id: "averaging",
    title: "Averaging and voting",
    state: { points: NOISY, learner: "perceptron", seed: 1, passes: 10, view: [0, 0, 3], show: ["regions", "arrow", "average"] },
    steps: [
      { say: "Discs belong above the line x₁ + x₂ = 0, triangles below it, but three points have the wrong label: the run never settles." },
      { say: "Each late mistake throws the line off again, while the dashed line, the average of all **w**, hardly moves.", at: null },
      { say: "The average weighs every **w** by the visits it survived, which algorithm 7 adds up as it goes.", patch: { learner: "averaged" } },
      { say: "Voting gives each **w** as many votes as visits it survived: the plane is cut into cells by the voters' own lines.", patch: { learner: "voted", show: ["regions"] } },
      { say: "Hollow points are held out, nobody trains on them: compare the shares wrong of all three.", patch: { panel: "error" }, at: null },
    ],
    tries: [
      { title: "Perceptron (last)", patch: { learner: "perceptron" } },
      { title: "Averaged", patch: { learner: "averaged" } },
      { title: "Voted", patch: { learner: "voted" } },
    ],
    outcome: "updates",
    question: "The three learners make the same number of updates. Why?",
    answer:
      "They train in the same way: a mistake is always a mistake of the current weights. They differ in how they " +
      "predict. After these 10 passes the last weights are wrong on 10 of the 20 training points and 5 of the 10 " +
      "held out; the average on none held out, and on the 3 with the wrong label.",
  },
  {
    id: "xor",
    title: "XOR",
    state: { points: XOR01, order: "fixed", passes: 50, view: [0.5, 0.5, 1], show: PROVED },
    steps: [
      { say: "XOR: y is +1 where exactly one of x₁ and x₂ is 1, and the learner makes mistakes in every pass." },
      { say: "A line with both discs on its positive side has the whole segment between them there; likewise for the triangles.", patch: { panel: "verdict" }, at: null },
      { say: "But the segments cross in the middle, and that point cannot be on both sides: no line separates XOR.", at: null },
      { say: "Add the feature x₃ = x₁ ∧ x₂, which for 0 and 1 is x₁x₂: now the run ends.", patch: { panel: "algorithm", features: ["x", "y", "xy"], show: ["regions"] } },
      { say: "It ends with a = 2x₁ + 2x₂ − 4x₃ − 1: check that a > 0 where exactly one is 1.", patch: { panel: "weights" }, at: null },
    ],
    tries: [
      { title: "Features x₁, x₂", patch: { features: ["x", "y"], show: PROVED } },
      { title: "Features x₁, x₂, x₁ ∧ x₂", patch: { features: ["x", "y", "xy"], show: ["regions"] } },
    ],
    outcome: "updates",
    question: "With x₃ the perceptron is still linear. What is linear, and what is its boundary in the plane?",
    answer:
      "It is linear in the features (x₁, x₂, x₃): there a plane separates, as the hulls no longer meet. In the plane the " +
      "boundary is 2x₁ + 2x₂ − 4x₁x₂ = 1, two crossing lines. New features mend XOR; more passes or another order " +
      "never would.",
  },
  {
    id: "circle",
    title: "The circle",
    state: { points: RING, passes: 50, view: [0.5, 0.3, 3.8] },
    steps: [
      { say: "No line separates a disc of points from the ring around it." },
      { say: "Lift each point to the height x₁² + x₂²: the plane becomes a bowl, and a flat cut through it separates.", patch: { learner: "circle", panel: "lift" } },
      { say: "Inner points are below the cut, outer ones above, and from above the edge of the cut is a circle: drag the bowl, or a point.", at: null },
    ],
    tries: [
      { title: "Perceptron", patch: { learner: "perceptron" } },
      { title: "Lifted (circle)", patch: { learner: "circle" } },
    ],
    outcome: "updates",
    question: "The middle of this ring is not the origin, where the bowl is lowest. Why does that not matter?",
    answer:
      "The cut may be tilted. The inside of a circle with middle **c** and radius r is ‖**x**‖² − 2**c**·**x** + ‖**c**‖² − r² < 0, " +
      "which is linear in x₁, x₂ and x₁² + x₂². So every circle is the edge of some flat cut, wherever its middle is.",
  },
  {
    id: "kernels",
    title: "Kernels",
    state: { points: SPIRAL, learner: "kernel", kernel: "rbf", gamma: 0.5, view: [0, 0, 3.5], show: ["regions"] },
    steps: [
      { say: "A kernel perceptron does not write **w** down: it remembers its mistakes, and each makes its point larger here." },
      { say: "The activation at **x** is a sum over them of y times the kernel: with rbf, a mistake is a bump, up for discs, down for triangles.", at: 1 },
      { say: "All bumps together separate the spirals: the same algorithm, in a space with more features than one could list.", at: null },
      { say: "Gamma sets the width of the bumps, and other kernels have other shapes: compare.", at: null },
    ],
    tries: [
      { title: "rbf, wide bumps", patch: { kernel: "rbf", gamma: 0.5 } },
      { title: "rbf, narrow bumps", patch: { kernel: "rbf", gamma: 2 } },
      { title: "Polynomial, degree 2", patch: { kernel: "poly", degree: 2, gamma: 1 } },
      { title: "Polynomial, degree 3", patch: { kernel: "poly", degree: 3, gamma: 1 } },
    ],
    outcome: "updates",
    question: "Why does the polynomial kernel fail with degree 2, however long it runs, and succeed with degree 3?",
    answer:
      "With degree 2 the boundary is a conic (an ellipse, a parabola, a hyperbola, or lines), and no conic separates " +
      "these spirals: in the features x₁, x₂, x₁x₂, x₁², x₂² the hulls still meet. With degree 3 the boundary is a cubic " +
      "curve, and one of these does.",
  },
  {
    id: "shattering",
    title: "Shattering",
    state: { points: TRIANGLE, panel: "vc", family: "halfspaces", view: [0, 0.2, 2.2], show: [] },
    steps: [
      { say: "Lines shatter a set of points if, for every labelling, some line has the discs on one side and the triangles on the other." },
      { say: "Three points that are not on one line have 8 labellings, and all 8 can be cut: press some in the panel." },
      { say: "Three points in a line are not shattered: the one in the middle cannot be alone.", patch: { points: IN_LINE } },
      { say: "Of a square, the labellings with opposite corners together are refused.", patch: { points: XOR } },
      { say: "No four points are shattered: they split into two groups whose hulls meet (Radon), so lines have VC dimension 3.", patch: { points: INSIDE } },
    ],
    tries: [
      { title: "Three points", patch: { points: TRIANGLE, family: "halfspaces" } },
      { title: "Three in a line", patch: { points: IN_LINE, family: "halfspaces" } },
      { title: "Four, a square", patch: { points: XOR, family: "halfspaces" } },
      { title: "Four, one inside", patch: { points: INSIDE, family: "halfspaces" } },
    ],
    outcome: "none",
    question: "How are the labellings that no line can realise related to XOR?",
    answer:
      "They are XOR: opposite corners have the same class. The two diagonals are the groups, and they cross. With " +
      "one point inside a triangle, the groups are that point and the three others. Either way 14 of the 16 " +
      "labellings can be cut.",
  },
];

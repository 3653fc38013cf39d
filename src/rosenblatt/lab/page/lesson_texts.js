/** The lessons: a state, a paragraph, something to do, and a question. Tests check what they claim. */

import { BEYOND, FOUR, INSIDE, IN_LINE, NOISY, RING, SORTED, SPIRAL, TRIANGLE, XOR, gap } from "./lesson_points.js";

/** @typedef {import("./types.d.ts").State} State */
/**
 * @typedef {object} Lesson
 * @property {string} id
 * @property {string} title
 * @property {string} text
 * @property {string} todo
 * @property {string} question
 * @property {string} answer
 * @property {Partial<State>} state what differs from the defaults
 * @property {{title: string, patch: Partial<State>}[]} tries buttons, beside which the outcome of their runs is shown
 * @property {"updates" | "bound" | "none"} outcome
 */

/** @type {Lesson[]} */
export const LESSONS = [
  {
    id: "one-update",
    title: "One update",
    text:
      "The learner keeps a weight vector w and a bias b, both 0 at the start. It visits one point after the other " +
      "and works out the activation a = w·x + b. If y·a ≤ 0 the point is a mistake: y·x is added to w, and y to b. " +
      "If y·a > 0, nothing changes at all. A disc has y = 1, a triangle y = −1.",
    todo:
      "Step forward once, with the button below the plane or the right arrow key: the first disc, (2, 1), becomes " +
      "w. Step again: the triangle at (−1, 2) is on the wrong side, and turns the line. The sentence below the " +
      "plane has the arithmetic.",
    question: "Does an update always put its point on the right side?",
    answer:
      "No. It raises that point's y·a by ‖x‖² + 1, but y·a may have been further below 0 than that, and then the " +
      "point is a mistake again at its next visit. Here the second update is enough: ‖x‖² + 1 is 6, so the " +
      "triangle's y·a goes from −1 to 5.",
    state: { points: FOUR, order: "fixed", panel: "projection" },
    tries: [],
    outcome: "none",
  },
  {
    id: "order",
    title: "Order matters",
    text:
      "The list has 13 discs first and 13 triangles after them. Visited as listed, the learner meets only discs, " +
      "soon calls every point a disc, and learns nothing more from them. Then it meets only triangles, and swings " +
      "back. Most visits change nothing, and each class undoes what the other did. A mixed order lets points that " +
      "disagree meet at once.",
    todo:
      "Press the three orders below and compare the counts. With a shuffled order, change the seed at the top: the " +
      "count moves, but stays below that of the list. Then press As listed, go to the start, step by example " +
      "through the first pass, and see why.",
    question: "The bound R²/γ² does not depend on the order. Does a bad order break it?",
    answer:
      "No. The bound counts updates, not visits, and holds for every order, the worst one included: all three " +
      "counts stay under the bound in the Bound panel. A bad order wastes visits, and uses up more of the updates " +
      "that the bound allows. That is why one shuffles, best anew before each pass.",
    state: { points: SORTED, order: "fixed", panel: "bound", view: [1.6, 1.4, 2.8] },
    tries: [
      { title: "As listed", patch: { order: "fixed" } },
      { title: "Shuffled once", patch: { order: "once" } },
      { title: "Shuffled each pass", patch: { order: "each" } },
    ],
    outcome: "updates",
  },
  {
    id: "bound",
    title: "Margin and bound",
    text:
      "R is how far the farthest point is from the origin: the circle. γ is how far the nearest point is from the " +
      "best line: half the strip. Let u have length 1 and point straight across it. A margin of γ means y(x·u) ≥ γ " +
      "for every point, so each update, which adds y·x to w, adds at least γ to w·u. To ‖w‖² it adds at most R². So " +
      "kγ ≤ w·u ≤ ‖w‖ ≤ √k·R after k updates, and k ≤ R²/γ².",
    todo:
      "Step forward and watch the squeeze in the Bound panel: the lower end grows like k, the upper end only like " +
      "√k, so they must meet. Then press Thin, Middle and Wide: γ grows, and the bound falls with its square.",
    question: "Why does an update add at most R² to ‖w‖²? Adding two vectors can make a much longer one.",
    answer:
      "Only mistakes update. ‖w + y·x‖² = ‖w‖² + 2y(w·x) + ‖x‖². The last term is at most R², and for a mistake " +
      "y(w·x) ≤ 0, so the middle term never adds. A point that would make w much longer agrees with w already: it " +
      "is no mistake. (There is no bias here; with one, each point has a further coordinate, always 1.)",
    state: {
      points: gap(-0.2), bias: false, order: "each", panel: "bound", view: [0, 0, 4.5],
      show: ["regions", "arrow", "radius", "strip"],
    },
    tries: [
      { title: "Thin", patch: { points: gap(-0.2) } },
      { title: "Middle", patch: { points: gap(0.3) } },
      { title: "Wide", patch: { points: gap(1.2) } },
    ],
    outcome: "bound",
  },
  {
    id: "bias",
    title: "The bias",
    text:
      "Without a bias every boundary passes through the origin. The triangle at (1, 1) and the disc at (3, 3) lie " +
      "on one ray from there, so w·x has the same sign for both, whatever w is: no such line separates them. The " +
      "bias moves the threshold. The boundary is where w·x = −b, any distance away from the origin.",
    todo:
      "Play: the line turns about the origin without end. Then press With bias, go to the start, and watch the " +
      "threshold in the Projection panel leave 0.",
    question: "How could one have a bias without a rule of its own for b?",
    answer:
      "Give every point one more coordinate that is always 1. Its weight is b, and the usual update adds y·1 to it. " +
      "That is also why R and γ on this page count that coordinate whenever the bias is on.",
    state: { points: BEYOND, bias: false, order: "fixed", panel: "projection", view: [1.8, 1.8, 3.2] },
    tries: [
      { title: "Without bias", patch: { bias: false } },
      { title: "With bias", patch: { bias: true } },
    ],
    outcome: "updates",
  },
  {
    id: "averaging",
    title: "Averaging and voting",
    text:
      "Discs belong above the line x + y = 0, triangles below it, but three of these points have the wrong label. " +
      "No line separates the classes, so the run never settles: each late mistake throws the line off again. The " +
      "average weighs every weight vector by the visits it survived; voting gives it that many votes. One late " +
      "update moves neither much.",
    todo:
      "Go to the end, then step back four times and forward again: the line of the last weights jumps, the dashed " +
      "line of the average hardly moves. The Error panel has the shares wrong of all three. Hollow points are held " +
      "out: nobody trains on them.",
    question: "The three learners make the same number of updates. Why?",
    answer:
      "They train in the same way: a mistake is always a mistake of the current weights. They differ in how they " +
      "predict. After these 10 passes the last weights are wrong on 10 of the 20 training points and 5 of the 10 " +
      "held out; the average on none held out, and on the 3 with the wrong label.",
    state: {
      points: NOISY, learner: "perceptron", seed: 1, passes: 10, panel: "error", view: [0, 0, 3],
      show: ["regions", "arrow", "average", "vote"],
    },
    tries: [
      { title: "Perceptron (last)", patch: { learner: "perceptron" } },
      { title: "Averaged", patch: { learner: "averaged" } },
      { title: "Voted", patch: { learner: "voted" } },
    ],
    outcome: "updates",
  },
  {
    id: "xor",
    title: "XOR",
    text:
      "The discs sit at two opposite corners, the triangles at the other two. A line with both discs on its " +
      "positive side has the whole segment between them there; with both triangles on the other side, their whole " +
      "segment too. But the segments cross in the middle, and that point cannot be on both sides. The hull of a " +
      "class is everything between its points: what a rubber band around them holds. Where hulls meet, no line exists.",
    todo:
      "Play: as listed, w is back at 0 after every pass, for ever. The Verdict panel names the crossing. Then tick " +
      "the feature xy, or press the second button: it is 1 at the discs and −1 at the triangles, and one weight is " +
      "enough.",
    question: "With xy ticked the perceptron is still linear. What is linear, and what is its boundary in the plane?",
    answer:
      "It is linear in the features (x, y, xy): there a plane separates, as the hulls no longer meet. The run ends " +
      "with w = (0, 0, 4) and b = 0, so the boundary in the plane is 4xy = 0: the two axes. New features mend XOR; " +
      "more passes or another order never would.",
    state: {
      points: XOR, order: "fixed", passes: 50, panel: "verdict", view: [0, 0, 2],
      show: ["regions", "arrow", "ghosts", "hulls"],
    },
    tries: [
      {
        title: "Features x, y",
        patch: { features: ["x", "y"], show: ["regions", "arrow", "ghosts", "hulls"] },
      },
      { title: "Features x, y, xy", patch: { features: ["x", "y", "xy"], show: ["regions"] } },
    ],
    outcome: "updates",
  },
  {
    id: "circle",
    title: "The circle",
    text:
      "No line separates a disc of points from the ring around it. Lift each point to the height x² + y²: the plane " +
      "becomes a bowl, and a flat cut through the bowl can hold the inner points below it and the outer ones above. " +
      "Seen from above, the edge of that cut is a circle. So a perceptron on x, y and x² + y² learns circles.",
    todo:
      "Press Lifted (circle) below, then move the slider of the Lift panel and turn the bowl. Drag a point of the " +
      "plane and see both pictures follow.",
    question: "The middle of this ring is not the origin, where the bowl is lowest. Why does that not matter?",
    answer:
      "The cut may be tilted. The inside of a circle with middle c and radius r is ‖p‖² − 2c·p + ‖c‖² − r² < 0, " +
      "which is linear in x, y and x² + y². So every circle is the edge of some flat cut, wherever its middle is.",
    state: { points: RING, passes: 50, panel: "lift", view: [0.5, 0.3, 3.8] },
    tries: [
      { title: "Perceptron", patch: { learner: "perceptron" } },
      { title: "Lifted (circle)", patch: { learner: "circle" } },
    ],
    outcome: "updates",
  },
  {
    id: "kernels",
    title: "Kernels",
    text:
      "A kernel perceptron does not write w down: it remembers its mistakes. The activation at a place is a sum " +
      "over them of y times the kernel. With rbf, each mistake is a bump around its point, up for discs, down for " +
      "triangles, and gamma sets its width. It is the same algorithm in a space with far more features than one " +
      "could list.",
    todo:
      "Step forward a few times: each mistake adds one bump, and points grow with the number of times they were " +
      "wrong. The Points table has that number. Then compare the kernels below.",
    question: "Why does the polynomial kernel fail with degree 2, however long it runs, and succeed with degree 3?",
    answer:
      "With degree 2 the boundary is a conic (an ellipse, a parabola, a hyperbola, or lines), and no conic " +
      "separates these spirals: in the features x, y, xy, x², y² the hulls still meet. With degree 3 the boundary " +
      "is a cubic curve, and one of these does.",
    state: {
      points: SPIRAL, learner: "kernel", kernel: "rbf", gamma: 0.5, panel: "verdict", lower: "table", view: [0, 0, 3.5],
      show: ["regions"],
    },
    tries: [
      { title: "rbf, wide bumps", patch: { kernel: "rbf", gamma: 0.5 } },
      { title: "rbf, narrow bumps", patch: { kernel: "rbf", gamma: 2 } },
      { title: "Polynomial, degree 2", patch: { kernel: "poly", degree: 2, gamma: 1 } },
      { title: "Polynomial, degree 3", patch: { kernel: "poly", degree: 3, gamma: 1 } },
    ],
    outcome: "updates",
  },
  {
    id: "shattering",
    title: "Shattering",
    text:
      "Lines shatter a set of points if, for every labelling, some line has the discs on one side and the triangles " +
      "on the other. Three points that are not on one line have 8 labellings, and all 8 can be cut. No four points " +
      "are shattered: they always split into two groups whose hulls meet (Radon), and no line has these groups " +
      "apart. So lines have VC dimension 3.",
    todo:
      "Press labellings in the VC panel: each shows the half-plane that holds the blue points and no others, or why " +
      "there is none. Then press the buttons below, and find the labellings that are refused.",
    question: "What have the labellings of the square that no line can cut to do with XOR?",
    answer:
      "They are XOR: opposite corners have the same class. The two diagonals are the groups, and they cross. With " +
      "one point inside a triangle, the groups are that point and the three others. Either way 14 of the 16 " +
      "labellings can be cut.",
    state: { points: TRIANGLE, panel: "vc", family: "halfspaces", view: [0, 0.2, 2.2], show: [] },
    tries: [
      { title: "Three points", patch: { points: TRIANGLE, family: "halfspaces" } },
      { title: "Three in a line", patch: { points: IN_LINE, family: "halfspaces" } },
      { title: "Four, a square", patch: { points: XOR, family: "halfspaces" } },
      { title: "Four, one inside", patch: { points: INSIDE, family: "halfspaces" } },
    ],
    outcome: "none",
  },
];

/** What the modules of the page hand to each other. `state.py` and the README of the lab say what the fields mean. */

export type { App } from "./app.js";
export type { Boundary } from "./boundary.js";
export type { Frame } from "./frame.js";
export type { Picture } from "./picture.js";
export type { Replay } from "./replay.js";

/** A point of the plane, or a pixel. */
export type XY = [number, number];
/** Left, bottom, right and top. */
export type Box = [number, number, number, number];
export type Point = [number, number, 1 | -1] | [number, number, 1 | -1, boolean];
export type Learner = "perceptron" | "averaged" | "voted" | "pocket" | "restart" | "margin" | "pa" | "arow" | "circle" | "kernel";
export type Order = "fixed" | "once" | "each" | "pick";
export type Family = "halfspaces" | "discs" | "rectangles";

export interface State {
  version: 1;
  points: Point[];
  learner: Learner;
  features: string[];
  bias: boolean;
  order: Order;
  seed: number;
  picks: number[];
  kernel: "poly" | "rbf";
  degree: number;
  gamma: number;
  coef0: number;
  margin: number;
  C: number;
  loss: "hinge" | "squared_hinge" | "plain";
  r: number;
  passes: number;
  updates: number;
  view: [number, number, number];
  at: number | null;
  panel: string;
  /** The weights w1, w2 and the bias b of the line of one's own. */
  own: [number, number, number];
  family: Family;
  lesson: string;
  /** The name of the exercise in its panel, "" for the list of them. */
  exercise: string;
  show: string[];
  hide: string[];
}

export interface Weights { w: number[]; b: number; }

export interface Verdict {
  kind: "separable" | "inseparable" | "undecided" | "kernel";
  text: string;
  support: number[];
  weights: number[];
  w: number[] | null;
  b: number | null;
  margin: number | null;
  common: number[] | null;
}

export interface Bound {
  R: number | null;
  gamma: number | null;
  bound: number | null;
  w: number[] | null;
  b: number | null;
  why: string;
}

/** How a run goes on whose steps are not all 1, and where points that are right by too little make updates, too. */
export interface Rule {
  kind: "margin" | "pa" | "arow";
  /** The largest y a that makes an update, or for steps of other sizes the y a from which none is made. */
  threshold: number;
  /** The size of each update's step. */
  steps: number[];
  /** The visits that were mistakes. */
  mistakes: number[];
  C: number | null;
  loss: "hinge" | "squared_hinge" | "plain" | null;
  r: number | null;
}

/** The answer to `run`. */
export interface Run {
  waiting: string;
  kind: "linear" | "kernel";
  names: string[];
  rows: number[];
  signs: number[];
  features: number[][];
  visits: number[];
  updates: number[];
  passes: number[];
  converged: boolean;
  ended: string;
  w: number[];
  b: number;
  /** At the start and after each update: the weights, what CIML's algorithm 7 caches for their average, and AROW's variances. */
  weights: Weights[];
  cached: Weights[];
  variances: Weights[] | null;
  predicting: Weights | null;
  pocket: (Weights & { mistakes: number })[] | null;
  /** Null where the visits that make updates are the mistakes, and every step is 1. */
  rule: Rule | null;
  theory: { verdict: Verdict; bound: Bound };
  code: string;
}

/** The run after t visits. */
export interface Moment extends Weights {
  t: number;
  /** Updates made. */
  k: number;
  /** The pass in progress, from 1. */
  pass: number;
  /** The place of the point that was visited last, -1 at the start; and its number among all points. */
  place: number;
  number: number;
  sign: number;
  /** Features of that point. */
  x: number[];
  /** Whether that visit made an update, by a step of this size; and whether it was a mistake. */
  updated: boolean;
  step: number;
  mistake: boolean;
  /** Mistakes so far. */
  mistakes: number;
  /** y a of that point before the update. */
  activation: number;
  /** The weights before the last visit. */
  before: Weights;
  /** Variances of the weights, now and before the last visit; null where there are none. */
  variance: Weights | null;
  varianceBefore: Weights | null;
  average: Weights;
  /** Visits since the last update, the one that made it included. */
  survived: number;
}

export interface Scene {
  state: State;
  /** Null while nothing has been learned: `waiting` says why. */
  replay: import("./replay.js").Replay | null;
  run: Run | null;
  moment: Moment | null;
  waiting: string;
  /** How far the update in sight is drawn, from 0 to 3: rubber band, tip to tail, the line turns. Null: done. */
  beat: number | null;
  /** The symbol of a formula under the pointer, or "". */
  symbol: string;
}

export interface View {
  update(scene: Scene): void;
  /** Draw on the plane, below the points, while the panel is in sight. */
  overlay?(picture: import("./picture.js").Picture, frame: import("./frame.js").Frame, scene: Scene): void;
  /** Return what a drag that starts at a pixel moves, null for nothing; while the panel is in sight no points are placed. */
  /** What it draws on the plane, in words, where no run is in sight. */
  caption?: string;
  grab?(frame: import("./frame.js").Frame, px: number, py: number): ((to: [number, number]) => void) | null;
}

export interface Panel {
  id: string;
  title: string;
  /** What it shows, and where the texts have it. */
  about: string;
  create(root: HTMLElement, app: import("./app.js").App): View;
}

/** A part of an exercise's answer, as the README of `rosenblatt.exercises` says. */
export interface Field {
  name: string;
  kind: "number" | "weights" | "formula" | "choice" | "order" | "subset" | "points" | "place" | "line";
  label: string;
  names?: string[];
  variables?: string[];
  options?: { id: string; text: string; [more: string]: any }[];
  expected?: string;
  samples?: number[][];
  tolerance?: number;
  whole?: boolean;
  least?: number;
  most?: number;
}

export interface Exercise {
  number: number;
  name: string;
  title: string;
  text: string;
  quote: string;
  question: string;
  hint: string;
  given: any;
  fields: Field[];
  functions?: Record<string, string>;
}

export interface Fault { field: string; text: string; counterexample: Record<string, any>; }

/** What a judge says of an answer; one of another form than asked for has no counterexample. */
export interface Judged {
  exercise: string;
  right: boolean;
  text: string;
  field: string | null;
  counterexample: Record<string, any> | null;
}

export interface Look {
  stroke?: string;
  fill?: string;
  width?: number;
  dash?: number[];
  alpha?: number;
}

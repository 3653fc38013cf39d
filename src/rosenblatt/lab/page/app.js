/** The app: one state, the run that belongs to it, and the place in that run; views are told of every change. */

import { checkedState } from "./engine/checks.js";
import { ask, faultWords } from "./questions.js";
import { Replay } from "./replay.js";
import { sentence } from "./sentences.js";
import { DEFAULTS, History, asksForRun, viewOf } from "./state.js";
import { stillness } from "./theme.js";

/** @import { Run, Scene, State, View } from "./types.d.ts" */
/** @typedef {"update" | "example" | "pass"} StepBy */

/** Milliseconds between two steps of each speed, less where a whole run would take too long; and of one beat of an update. */
const SPEEDS = {
  slow: { pause: 1100, whole: 60_000, beat: 250 },
  medium: { pause: 420, whole: 12_000, beat: 100 },
  fast: { pause: 90, whole: 4_000, beat: 0 },
};

export class App {
  constructor() {
    /** @type {State} */
    this.state = DEFAULTS;
    this.history = new History();
    /** @type {Run | null} */
    this.run = null;
    /** The state that the run belongs to. @type {State | null} */
    this.learned = null;
    /** @type {Replay | null} */
    this.replay = null;
    this.waiting = "Starting …";
    this.playing = false;
    /** @type {StepBy} */
    this.stepBy = "update";
    /** @type {keyof typeof SPEEDS} */
    this.speed = "medium";
    this.selected = -1;
    /** @type {1 | -1} The class of points that are placed. */
    this.brush = 1;
    /** The preset in sight, "" where points came from elsewhere. */
    this.preset = "";
    /** Runs received so far. */
    this.runs = 0;
    /** The symbol under the pointer, which is lit on the plane. */
    this.symbol = "";
    /** The panel in sight, which may draw on the plane. @type {View | null} */
    this.shown = null;
    /** What students handed in, until its panel has taken it. @type {any[]} */
    this.handedIn = [];
    /** @type {View[]} */
    this.#views = [];
  }

  /** @type {View[]} */
  #views;
  #scheduled = false;
  #asking = false;
  #opening = 0;
  #opened = 0;
  #failed = false;
  #stale = false;
  /** The state whose run is played as soon as it comes. @type {State | null} */
  #begun = null;
  #beatStart = 0;
  #lastStep = 0;

  // views

  /** @param {View} view */
  addView(view) {
    this.#views.push(view);
    this.refresh();
  }

  /** Draw everything again, at the next frame. */
  refresh() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame((now) => {
      this.#scheduled = false;
      this.#tick(now);
      const scene = this.scene(now);
      for (const view of this.#views) view.update(scene);
    });
  }

  /** Return what is to be drawn. @param {number} [now] @returns {Scene} */
  scene(now = performance.now()) {
    const { state, run, replay, waiting } = this;
    const moment = replay ? replay.at(this.at) : null;
    return { state, run, replay, moment, waiting, beat: this.#beat(now), symbol: this.symbol };
  }

  /** Say something to people who do not see the page. @param {string} text */
  announce(text) {
    const live = document.getElementById("announcements");
    if (live && live.textContent !== text) live.textContent = text;
  }

  /** Show the plane and the sentence alone, large, or all parts again; keys do all else, and Escape ends it. */
  present(large = true) {
    document.body.classList.toggle("present", large);
    this.announce(large ? "The plane and the sentence, large: Space plays, arrow keys step, Escape ends it." : "All parts are shown.");
    this.refresh();
  }

  /** Show a sentence to everyone, until it is closed or something else is opened. @param {string} text */
  notice(text) {
    const [place, words] = ["notice", "notice-words"].map((id) => document.getElementById(id));
    if (!place || !words) return;
    words.textContent = text.charAt(0).toUpperCase() + text.slice(1);
    place.hidden = !text;
  }

  // the state

  /**
   * Change the state; the run that belongs to it comes as soon as it can.
   * @param {Partial<State>} patch @param {{undo?: boolean}} [how]
   */
  change(patch, { undo = asksForRun(patch) } = {}) {
    if (undo) this.history.note(this.state);
    if (asksForRun(patch)) this.pause();
    const end = asksForRun(patch) ? { at: null } : {}; // a place in another run would be that of a line half trained
    this.#set({ ...this.state, ...end, ...patch }, asksForRun(patch));
  }

  /**
   * Change the points and whatever else belongs to them, and play the run: nothing opens blank. Without motion, show its end.
   * @param {Partial<State> & {points: State["points"]}} patch with a place in the run where it is not to be played
   */
  begin(patch) {
    this.selected = -1;
    this.preset = "";
    this.announce("");
    const played = patch.at === undefined && !stillness() && patch.panel !== "vc";
    this.change({ ...patch, at: played ? 0 : patch.at ?? null });
    this.#begun = played ? this.state : null;
  }

  /**
   * Open a state that the engine has yet to check; an Error says what is wrong with it, and then nothing changes.
   * What is asked for last wins, whatever is answered last.
   * @param {Partial<State>} given what is left out has its default
   */
  async open(given) {
    const turn = ++this.#opening;
    const checked = checkedState(given);
    const state = { ...checked, view: given.view ?? viewOf(checked.points) };
    const run = await ask("run", state);
    if (turn !== this.#opening) return;
    this.pause();
    if (this.runs) this.history.note(this.state);
    this.selected = -1;
    this.preset = "";
    this.notice("");
    this.announce("");
    this.#opened += 1;
    this.#set(state, false);
    this.#take(run, state);
  }

  /** Show what students handed in, judged again. @param {any[]} handedIn */
  grade(handedIn) {
    this.handedIn = handedIn;
    this.change({ panel: "exercise", exercise: "", at: null });
    document.dispatchEvent(new CustomEvent("lab-handed-in"));
  }

  /** Take back the last change. */
  undo() {
    const state = this.history.undo(this.state);
    if (state) this.#set(state, true);
  }

  /** Make it again. */
  redo() {
    const state = this.history.redo(this.state);
    if (state) this.#set(state, true);
  }

  /** @param {State} state @param {boolean} train */
  #set(state, train) {
    if (state.points.length < this.state.points.length) this.run = this.replay = null; // its numbers are of other points
    this.state = state;
    if (this.selected >= state.points.length) this.selected = -1;
    if (train) this.train();
    this.refresh();
  }

  /** Ask for the run of the state; while an answer is on its way, only the latest state is asked about next. */
  async train() {
    if (this.#asking) {
      this.#stale = true;
      return;
    }
    this.#asking = true;
    do {
      this.#stale = false;
      const [state, opened] = [this.state, this.#opened];
      try {
        const run = await ask("run", state);
        if (opened === this.#opened) this.#take(run, state); // else another state has been opened since
        if (this.#failed) this.notice("");
        this.#failed = false;
      } catch (fault) {
        if (opened !== this.#opened) continue;
        this.#failed = true;
        this.notice(faultWords(fault));
      }
    } while (this.#stale);
    this.#asking = false;
  }

  /** Whether the run of the state is still on its way. */
  get busy() {
    return this.#asking;
  }

  /** @param {Run} run @param {State} state */
  #take(run, state) {
    if (state.points.length > this.state.points.length) return; // points have gone since it was asked for
    this.waiting = run.waiting;
    this.run = run.waiting ? null : run;
    this.learned = state;
    this.replay = run.waiting ? null : new Replay(run, state);
    this.runs += 1;
    if (this.#begun === state) this.play();
    document.dispatchEvent(new CustomEvent("lab-run"));
    this.refresh();
  }

  // the place in the run

  /** Visits made so far at the place in sight. */
  get at() {
    const visits = this.replay?.visits ?? 0;
    return Math.min(this.state.at ?? visits, visits);
  }

  /** Go to the moment after t visits. @param {number} t @param {{animate?: boolean}} [how] */
  go(t, { animate = false } = {}) {
    const visits = this.replay?.visits ?? 0;
    this.state = { ...this.state, at: t >= visits ? null : Math.max(0, t) };
    const length = SPEEDS[this.speed].beat;
    this.#beatStart = animate && length && !stillness() ? performance.now() : 0;
    if (!this.playing) this.announce(sentence(this.scene()));
    this.refresh();
  }

  /**
   * Step by an update, an example or a pass.
   * @param {1 | -1} direction @param {StepBy} [by]
   * @param {boolean} [animate] whether the update is drawn beat by beat
   */
  step(direction, by = this.stepBy, animate = true) {
    if (!this.replay) return;
    const t = this.replay.step(this.at, by, direction);
    this.go(t, { animate: animate && direction > 0 && this.replay.at(t).updated && t !== this.at });
  }

  /** Play from here, or from the start if the run is at its end. */
  play() {
    if (!this.replay) return;
    if (this.at >= this.replay.visits) this.go(0);
    this.playing = true;
    this.#lastStep = -Infinity;
    this.announce("Playing.");
    this.refresh();
  }

  /** Play, or stop playing. */
  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  /** Choose the class of points that clicks place. @param {1 | -1} brush */
  setBrush(brush) {
    this.brush = brush;
    this.announce(brush > 0 ? "Blue discs will be placed." : "Orange triangles will be placed.");
    this.refresh();
  }

  /** Stop playing. */
  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.announce(sentence(this.scene()));
    this.refresh();
  }

  /** @param {number} now */
  #beat(now) {
    const length = SPEEDS[this.speed].beat;
    if (!this.#beatStart || !length) return null;
    const beat = (now - this.#beatStart) / length;
    return beat < 3 ? Math.max(0, beat) : null;
  }

  /** Go on playing, and draw again while something moves. @param {number} now */
  #tick(now) {
    if (this.#beatStart && this.#beat(now) === null) this.#beatStart = 0;
    if (this.playing && this.replay) {
      const { pause, whole } = SPEEDS[this.speed];
      const { visits, updates, run } = this.replay;
      const each = Math.min(pause, whole / { update: updates, example: run.visits, pass: run.passes }[this.stepBy].length);
      const due = this.#lastStep < 0 ? 1 : Math.floor((now - this.#lastStep) / each);
      if (due > 0) this.#lastStep = now;
      for (let i = 0; i < due && this.at < visits; i++) this.step(1, this.stepBy, each >= 3 * SPEEDS[this.speed].beat);
      if (this.at >= visits) this.pause();
    }
    if (this.playing || this.#beatStart) this.refresh();
  }
}

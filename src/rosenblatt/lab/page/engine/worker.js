/** What runs in a worker: it answers questions, one after another. */

import { ANSWERS } from "./engine.js";

addEventListener("message", ({ data: { question, body } }) => {
  try {
    postMessage({ answer: ANSWERS[question](body) });
  } catch (fault) {
    postMessage({ fault: fault instanceof Error ? fault.message : String(fault) });
  }
});

/** Questions to the server; a recording answers those that were asked when it was made. */

/** @typedef {Record<string, any>} Answer */

const STOPPED = "The lab has stopped: start it again with rosenblatt lab, and open the new address.";

/** The recording in the page, or null where there is a server. @type {{state: any, answers: Record<string, Answer>} | null} */
export const recording = (() => {
  const element = document.getElementById("recording");
  return element ? JSON.parse(element.textContent ?? "null") : null;
})();

/** What a page without a server says to whoever wants to change it. */
export const IS_RECORDING = "This page is a recording: to change anything, run rosenblatt lab.";

/** Return what went wrong, in words. @param {unknown} fault */
export function faultWords(fault) {
  return fault instanceof Error ? fault.message : String(fault);
}

/**
 * Return the answer to a question; an Error says in one sentence why there is none.
 * @param {string} question
 * @param {unknown} body
 * @returns {Promise<any>}
 */
export async function ask(question, body) {
  if (recording) {
    const of = question === "vc" ? ` ${Object(body).family}` : ""; // every family is recorded
    const answer = recording.answers[question + of];
    if (answer) return answer;
    throw new Error(IS_RECORDING);
  }
  let [response, answer] = /** @type {[Response | null, any]} */ ([null, null]);
  try {
    const headers = { "Content-Type": "application/json" };
    response = await fetch(question, { method: "POST", headers, body: JSON.stringify(body) });
    answer = await response.json();
  } catch {
    throw new Error(STOPPED);
  }
  if (!response.ok) throw new Error(answer.error ?? STOPPED);
  return answer;
}

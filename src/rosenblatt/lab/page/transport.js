/** The transport. */
/** @param {HTMLElement} root @param {HTMLElement} sentence @param {import("./app.js").App} app */
export function createTransport(root, sentence, app) {
  return { update() {} };
}

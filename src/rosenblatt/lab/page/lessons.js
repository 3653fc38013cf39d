/** Lessons. */

/** @type {{id: string, title: string}[]} */
export const LESSONS = [];

/**
 * @param {HTMLElement} root
 * @param {import("./app.js").App} app
 */
export function createLessons(root, app) {
  return { update() {}, start: (/** @type {string} */ id) => {} };
}

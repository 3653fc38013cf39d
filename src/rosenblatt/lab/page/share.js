/** The address, and files to take away. */

/**
 * @param {import("./app.js").App} app
 * @param {{picture(): import("./picture.js").Picture}} plane
 */
export function createShare(app, plane) {
  return { update() {}, openShare() {}, openExport() {} };
}

/** The line at the top. */
/** @param {HTMLElement} root @param {import("./app.js").App} app @param {any} parts */
export function createControls(root, app, parts) {
  return { update() {}, setPresets: (/** @type {{name: string, title: string}[]} */ presets) => {} };
}

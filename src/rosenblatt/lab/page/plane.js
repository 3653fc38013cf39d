/** The plane. */
import { Picture } from "./picture.js";
/** @param {HTMLElement} root @param {import("./app.js").App} app */
export function createPlane(root, app) {
  return { update() {}, picture: () => new Picture(1, 1) };
}

/** From points of the plane to pixels and back. */

/** @import { XY } from "./types.d.ts" */

export class Frame {
  /**
   * @param {[number, number, number]} view the middle of the square in sight, and half its width
   * @param {number} size its width in pixels
   */
  constructor([x, y, half], size) {
    this.size = size;
    this.scale = size / (2 * half);
    this.left = x - half;
    this.top = y + half;
    /** @type {[number, number, number, number]} */
    this.box = [x - half, y - half, x + half, y + half];
  }

  /** Return the pixel of a point. @param {ArrayLike<any>} point @returns {XY} */
  pixel(point) {
    return [(point[0] - this.left) * this.scale, (this.top - point[1]) * this.scale];
  }

  /** Return the point at a pixel. @param {number} px @param {number} py @returns {XY} */
  point(px, py) {
    return [px / this.scale + this.left, this.top - py / this.scale];
  }

  /** Return the point at a pixel, rounded to about half a pixel. @param {number} px @param {number} py @returns {XY} */
  rounded(px, py) {
    const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(this.scale))));
    const [x, y] = this.point(px, py);
    return [Number(x.toFixed(digits)), Number(y.toFixed(digits))];
  }
}

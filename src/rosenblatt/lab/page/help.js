/** The keys, in a dialog. */

/** @returns {{open(): void}} */
export function createHelp() {
  return { open() {} };
}

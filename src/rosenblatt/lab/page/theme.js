/** The colours of the page, read from its style sheet, for what is drawn. */

const NAMES = ["ink", "quiet", "faint", "surface", "raised", "accent", "positive", "negative", "positive-tint", "negative-tint"];

/** @type {Record<string, string> | null} */
let read = null;

/**
 * Return the colours by name: ink, quiet, faint, surface, raised, accent, positive, negative, positive-tint, negative-tint.
 * @returns {Record<string, string>}
 */
export function colors() {
  if (!read) {
    const probe = document.createElement("span"); // as a color of an element, a name becomes what it is in this palette
    document.body.append(probe);
    const look = (/** @type {string} */ name) => {
      probe.style.color = `var(--${name})`;
      return getComputedStyle(probe).color;
    };
    read = Object.fromEntries(NAMES.map((name) => [name, look(name)]));
    probe.remove();
  }
  return read;
}

/** Call a function whenever the colours change. @param {() => void} changed */
export function watchColors(changed) {
  const again = () => {
    read = null;
    changed();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

/** Return whether motion is to be left out. */
export function stillness() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

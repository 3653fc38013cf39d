/** Formulas as MathML, which browsers draw themselves, from short texts. */

/** What a text is made of: **w** is a vector; w_1 and x^2 have an index and a power; words, numbers and signs. */
const PARTS = /(\*\*(?<bold>[^*]+)\*\*|(?<word>\p{L}+|…)|(?<digits>\d+(?:\.\d+)?)|(?<sign>\S))(?:_(?<below>\w))?(?:\^(?<above>\w))?|\s+/gu;
const SPACE = "http://www.w3.org/1998/Math/MathML";

/** @param {string} name @param {(Node | string)[]} children @param {string} [className] */
function math(name, children, className = "") {
  const element = document.createElementNS(SPACE, name);
  if (className) element.setAttribute("class", className);
  element.append(...children);
  if (name === "mi") element.dataset.symbol = String(children[0]);
  return element;
}

/** Return a vector, bold and upright. @param {string} name */
function vector(name) {
  const element = math("mi", [name], "vector");
  element.setAttribute("mathvariant", "normal");
  return element;
}

/**
 * Return the elements of a formula: words of more than one letter as text, all else as MathML.
 * @param {string} text @returns {Node[]}
 */
export function formula(text) {
  /** @type {Node[]} */
  const out = [];
  for (const match of text.matchAll(PARTS)) {
    const { bold, word, digits, sign, below, above } = match.groups ?? {};
    if (!match[1]) {
      if (!/[+−=←·≤<∈/∪] | [+−=←·≤<∈/]/.test(text.slice(match.index - 1, match.index + 2))) out.push(math("mtext", ["\u2009"]));
      continue; // signs have room of their own
    }
    let part = bold ? vector(bold) : digits ? math("mn", [digits]) : sign ? math("mo", [sign]) : null;
    part ??= word.length > 1 ? math("mtext", [word]) : math("mi", [word]);
    if (below) part = math("msub", [part, math(/\d/.test(below) ? "mn" : "mi", [below])]);
    if (above) part = math("msup", [part, math("mn", [above])]);
    out.push(part);
  }
  return [math("math", [math("mrow", out)])];
}

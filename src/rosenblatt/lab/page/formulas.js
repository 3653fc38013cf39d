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
 * Return the parts of a formula: words of more than one letter as text, all else as MathML. Lines may break at its spaces.
 * @param {string} text @returns {(Node | string)[]}
 */
export function formula(text) {
  /** @type {(Node | string)[]} */
  const out = [];
  /** @type {Node[]} */
  let row = [];
  const close = (/** @type {string} */ following) => {
    if (row.length) out.push(math("math", [math("mrow", row)]));
    row = [];
    out.push(following);
  };
  for (const match of text.matchAll(PARTS)) {
    const { bold, word, digits, sign, below, above } = match.groups ?? {};
    const beside = /[+−=←·≤<∈/∪] | [+−=←·≤<∈/]/.test(text.slice(match.index - 1, match.index + 2)); // signs have room of their own
    if (!match[1] && !beside) close(" ");
    if (word?.length > 1) close(word);
    if (!match[1] || word?.length > 1) continue;
    let part = bold ? vector(bold) : digits ? math("mn", [digits]) : sign ? math("mo", [sign]) : math("mi", [word]);
    if (below) part = math("msub", [part, math(/\d/.test(below) ? "mn" : "mi", [below])]);
    if (above) part = math("msup", [part, math("mn", [above])]);
    row.push(part);
  }
  close("");
  return out;
}

/** Formulas that students write, such as R^2/gamma^2: read by a small grammar, as `rosenblatt.exercises.formulas` does. */

/** A function from the values of the variables to a value: NaN where it has none. @typedef {(values: Record<string, number>) => number} Formula */

const LONGEST = 200; // characters
const DEEPEST = 20; // parentheses inside one another
/** @type {[string, string][]} */
const SPELLINGS = [["×", "*"], ["·", "*"], ["−", "-"], ["²", "^2"], ["θ", "theta"], ["γ", "gamma"], ["**", "^"]];
const TOKEN = /[ \t\n\r\f\v]*(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|[-+*/^()])/y;

/**
 * Return the function that a formula stands for; an Error says, as the end of a sentence, why a text is not a formula.
 * `^` binds more tightly than a sign, and to the right.
 * @param {string} text @param {string[]} [variables] @returns {Formula}
 */
export function parse(text, variables = []) {
  if ([...text].length > LONGEST) throw new Error(`write at most ${LONGEST} characters`);
  const reader = new Reader(tokens(text), variables);
  const formula = reader.sum();
  if (reader.next === ")") throw new Error("a parenthesis is not opened");
  if (reader.next) throw new Error(`write a sign before '${reader.next}', such as * for a product`);
  return (values) => {
    const found = formula(values);
    return Number.isFinite(found) ? found : NaN;
  };
}

/** @param {string} text */
function tokens(text) {
  const plain = SPELLINGS.reduce((so, [spelling, sign]) => so.replaceAll(spelling, sign), text).trim();
  const found = [];
  TOKEN.lastIndex = 0;
  for (let place = 0; place < plain.length; place = TOKEN.lastIndex) {
    const match = TOKEN.exec(plain);
    if (!match) throw new Error(`there is no meaning for '${plain[place]}'`);
    found.push(match[1]);
  }
  return found;
}

/** Recursive descent: each method reads one level of the grammar, and returns what it stands for. */
class Reader {
  #depth = 0;
  #place = 0;

  /** @param {string[]} tokens @param {string[]} variables */
  constructor(tokens, variables) {
    this.tokens = tokens;
    this.variables = variables;
  }

  get next() {
    return this.tokens[this.#place] ?? "";
  }

  #take() {
    const token = this.next;
    this.#place += 1;
    return token;
  }

  /** @returns {Formula} */
  sum() {
    let value = this.#product();
    while (["+", "-"].includes(this.next)) value = binary(this.#take(), value, this.#product());
    return value;
  }

  #product() {
    let value = this.#signed();
    while (["*", "/"].includes(this.next)) value = binary(this.#take(), value, this.#signed());
    return value;
  }

  /** @returns {Formula} */
  #signed() {
    return ["+", "-"].includes(this.next) ? binary(this.#take(), () => 0, this.#signed()) : this.#power();
  }

  /** @returns {Formula} */
  #power() {
    const base = this.#atom();
    return this.next === "^" ? binary(this.#take(), base, this.#signed()) : base;
  }

  /** @returns {Formula} */
  #atom() {
    const token = this.#take();
    if (token === "(" || token === "sqrt") return this.#parentheses(token === "sqrt");
    if (/^[\d.]/.test(token)) return () => Number(token);
    if (this.variables.includes(token)) return (values) => values[token];
    if (/^[A-Za-z_]/.test(token)) {
      const known = this.variables.length ? `use ${this.variables.join(", ")}` : "write numbers alone";
      throw new Error(`there is no '${token}' here: ${known}`);
    }
    throw new Error(["", ")"].includes(token) ? "a number or a variable is missing" : `'${token}' has nothing before it`);
  }

  /** @param {boolean} root @returns {Formula} */
  #parentheses(root) {
    if (root && this.#take() !== "(") throw new Error("sqrt needs parentheses, as in sqrt(2)");
    this.#depth += 1;
    if (this.#depth > DEEPEST) throw new Error(`write at most ${DEEPEST} parentheses inside one another`);
    const inner = this.sum();
    if (this.#take() !== ")") throw new Error("a parenthesis is not closed");
    this.#depth -= 1;
    return root ? (values) => Math.sqrt(inner(values)) : inner;
  }
}

/** What the signs do; a division by 0 and a power that is too large have no value, whatever is done with them later. */
const SIGNS = {
  "+": (/** @type {number} */ a, /** @type {number} */ b) => a + b,
  "-": (/** @type {number} */ a, /** @type {number} */ b) => a - b,
  "*": (/** @type {number} */ a, /** @type {number} */ b) => a * b,
  "/": (/** @type {number} */ a, /** @type {number} */ b) => (b === 0 ? NaN : a / b),
  "^": (/** @type {number} */ a, /** @type {number} */ b) => (Math.abs(a ** b) === Infinity ? NaN : a ** b),
};

/** @param {string} sign @param {Formula} left @param {Formula} right @returns {Formula} */
function binary(sign, left, right) {
  return (values) => SIGNS[/** @type {keyof typeof SIGNS} */ (sign)](left(values), right(values));
}

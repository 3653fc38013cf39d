/** @type {import("../types.d.ts").Panel} */
export const verdict = { id: "verdict", title: "Verdict", create: () => ({ update() {} }) };

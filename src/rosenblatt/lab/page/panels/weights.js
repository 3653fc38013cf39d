/** @type {import("../types.d.ts").Panel} */
export const weights = { id: "weights", title: "Weights", create: () => ({ update() {} }) };

/** @type {import("../types.d.ts").Panel} */
export const error = { id: "error", title: "Error", create: () => ({ update() {} }) };

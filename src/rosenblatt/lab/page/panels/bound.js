/** @type {import("../types.d.ts").Panel} */
export const bound = { id: "bound", title: "Bound", create: () => ({ update() {} }) };

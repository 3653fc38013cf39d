/** @type {import("../types.d.ts").Panel} */
export const table = { id: "table", title: "Points", create: () => ({ update() {} }) };

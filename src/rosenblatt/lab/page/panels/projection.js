/** @type {import("../types.d.ts").Panel} */
export const projection = { id: "projection", title: "Projection", create: () => ({ update() {} }) };

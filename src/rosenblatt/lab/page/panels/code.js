/** @type {import("../types.d.ts").Panel} */
export const code = { id: "code", title: "Code", create: () => ({ update() {} }) };

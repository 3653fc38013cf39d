/** @type {import("../types.d.ts").Panel} */
export const vc = { id: "vc", title: "VC", create: () => ({ update() {} }) };

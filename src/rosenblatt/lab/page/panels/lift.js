/** @type {import("../types.d.ts").Panel} */
export const lift = { id: "lift", title: "Lift", create: () => ({ update() {} }) };

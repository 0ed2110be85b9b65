/** Where pages are rendered on a server there are no elements: the same names, and nothing is registered. */

export class TocsinInbox {}
export const text = {};
export { tokenFrom } from "./token.js";

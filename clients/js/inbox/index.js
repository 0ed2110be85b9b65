/** The bell: importing this registers <tocsin-inbox>. */

export { TocsinInbox, text } from "./tocsin-inbox.js";
export { tokenFrom } from "./token.js";

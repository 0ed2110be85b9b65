/** Node has no global `crypto` before version 20. */

export { webcrypto as crypto } from "node:crypto";

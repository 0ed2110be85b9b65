/** Every other runtime has it. */

export const crypto = globalThis.crypto;

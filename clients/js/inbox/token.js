/** Where the bell gets its tokens: from a call of your own server, which knows who is signed in. */

/**
 * A `tokenProvider`: POSTs to the address, with your cookies, and takes `token` of the answer. A 4xx means that nobody is signed in.
 * 5xx, 429 and no answer are thrown: the bell asks again by and by, and does not say "Signed out".
 */
export function tokenFrom(url, init = {}) {
  return async () => {
    const answer = await fetch(url, { method: "POST", credentials: "same-origin", ...init });
    if (answer.status >= 500 || answer.status === 429) throw new Error(`No token for the inbox: ${answer.status}`);
    return answer.ok && answer.status !== 204 ? ((await answer.json()).token ?? null) : null;
  };
}

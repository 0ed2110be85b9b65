/** Where the bell gets its tokens: from a call of your own server, which knows who is signed in. */

/**
 * A `tokenProvider`: POSTs to the address, with your cookies, and takes `token` of the answer. 401, 403 and 204 mean that nobody is
 * signed in. Whatever else goes wrong is thrown: the bell asks again by and by, and does not say "Signed out".
 */
export function tokenFrom(url, init = {}) {
  return async () => {
    const answer = await fetch(url, { method: "POST", credentials: "same-origin", ...init });
    if ([204, 401, 403].includes(answer.status)) return null;
    if (!answer.ok) throw new Error(`No token for the inbox: ${answer.status}`);
    return (await answer.json()).token ?? null;
  };
}

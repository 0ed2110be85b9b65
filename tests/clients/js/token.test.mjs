/** Where the bell gets its tokens. */

import assert from "node:assert/strict";
import test from "node:test";
import { tokenFrom } from "../../../clients/js/inbox/token.js";

async function asked(t, answer, init) {
  const fetch = t.mock.method(globalThis, "fetch", async () => answer);
  const outcome = await tokenFrom("/tocsin-token", init)().catch((error) => error);
  return { outcome, call: fetch.mock.calls[0].arguments };
}

test("the token is the answer's, asked for with the page's own cookies", async (t) => {
  const { outcome, call } = await asked(t, Response.json({ token: "t-1" }), { headers: { "X-CSRF": "1" } });

  assert.equal(outcome, "t-1");
  assert.deepEqual(call, ["/tocsin-token", { method: "POST", credentials: "same-origin", headers: { "X-CSRF": "1" } }]);
});

test("nobody is signed in where the server says so", async (t) => {
  for (const status of [204, 401, 403, 404]) assert.equal((await asked(t, new Response(null, { status }))).outcome, null);
  assert.equal((await asked(t, Response.json({}))).outcome, null);
});

test("a server in trouble signs nobody out", async (t) => {
  for (const status of [429, 500, 502, 503]) assert.match(String((await asked(t, new Response(null, { status }))).outcome), /No token/);
});

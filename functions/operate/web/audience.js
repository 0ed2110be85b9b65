// To whom a test goes: an address, a number or somebody's id, as it was typed. Pure.
const EMAIL = /^[^\s@]+@[^\s@]+$/;
const PHONE = /^\+[0-9][0-9 ()-]{5,}$/;

/** An intent's audience; null where the channel cannot reach what was typed. */
export function audienceOf(typed, channel) {
  const to = typed.trim();
  if (!to) return null;
  if (channel === "email" && EMAIL.test(to)) return { kind: "address", email: to };
  if (channel === "sms" && PHONE.test(to)) return { kind: "address", phone: to.replace(/[ ()-]/g, "") };
  if (["push", "in_app"].includes(channel) && PHONE.test(to)) return null;
  return { kind: "users", user_ids: [to] };
}

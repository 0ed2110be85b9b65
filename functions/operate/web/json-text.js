// JSON as people type it: read, or a sentence about where it goes wrong. Pure.

export const written = (value) => JSON.stringify(value, null, 2);

/** `{value}`, or `{error}` with the line and column at fault. Browsers tell of the place in different ways, some not at all. */
export function readJson(text) {
  try {
    return { value: JSON.parse(text) };
  } catch {
    if (!text.trim()) return { error: "This is empty: write a JSON value." };
    const before = text.slice(0, faultOf(text)).split("\n");
    return { error: `This is no JSON yet: something is wrong at line ${before.length}, column ${before.at(-1).length + 1}.` };
  }
}

const TOKEN = /\s*(?:("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|([[\]{},:]))/y;

/** Where the first thing stands that cannot stand there. */
export function faultOf(text) {
  let at = 0;
  let fault = -1;
  const peek = () => {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    return found ? { token: found[1] ?? found[2] ?? found[3], isText: found[1] !== undefined, isPlain: found[2] !== undefined, end: TOKEN.lastIndex } : null;
  };
  const fail = () => {
    if (fault < 0) fault = at + /^\s*/.exec(text.slice(at))[0].length;
    return false;
  };
  const take = (isWanted) => {
    const next = peek();
    if (!next || !isWanted(next)) return fail();
    at = next.end;
    return true;
  };
  const is = (token) => (next) => next.token === token;
  const sees = (token) => peek()?.token === token;
  const several = (close, one) => {
    if (sees(close)) return take(is(close));
    do {
      if (!one()) return false;
    } while (sees(",") && take(is(",")));
    return take(is(close));
  };
  const member = () => take((next) => next.isText) && take(is(":")) && value();
  const value = () => {
    if (sees("{")) return take(is("{")) && several("}", member);
    if (sees("[")) return take(is("[")) && several("]", value);
    return take((next) => next.isText || next.isPlain);
  };
  if (value() && text.slice(at).trim()) fail();
  return Math.max(0, fault);
}

export const isSame = (one, other) => canonical(one) === canonical(other);

const canonical = (value) => JSON.stringify(value, (_, part) => (part && typeof part === "object" && !Array.isArray(part) ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1))) : part));

// Users from a file: CSV, NDJSON or JSON. Pure.
const FIELDS = ["id", "email", "phone", "username", "locale", "timezone", "avatar_url"];

/** Rows of a CSV text (RFC 4180): quotes, doubled quotes and line breaks inside of them. */
export function csvRows(text) {
  const rows = [];
  let row = [];
  let cell = "";
  let isQuoted = false;
  const body = text.replace(/^\uFEFF/, "");
  for (let place = 0; place < body.length; place++) {
    const one = body[place];
    if (isQuoted) {
      if (one === '"' && body[place + 1] === '"') cell += body[++place];
      else if (one === '"') isQuoted = false;
      else cell += one;
    } else if (one === '"' && !cell) isQuoted = true;
    else if (one === ",") row = [...row, cell], (cell = "");
    else if (one === "\n" || one === "\r") {
      if (one === "\r" && body[place + 1] === "\n") place++;
      rows.push([...row, cell]);
      row = [];
      cell = "";
    } else cell += one;
  }
  if (cell || row.length) rows.push([...row, cell]);
  return rows.filter((each) => each.some((value) => value.trim()));
}

/** `{users, faults}`: what the file says, each with its line, and what cannot be read. Columns that are no field become attributes. */
export function usersOf(text, name = "") {
  const begins = text.trimStart()[0];
  if (begins === "[" || (begins === "{" && !name.endsWith(".csv"))) return fromJson(text);
  const [head, ...rows] = csvRows(text);
  if (!head) return { users: [], faults: ["The file is empty."] };
  const names = head.map((each) => each.trim());
  if (!names.includes("id")) return { users: [], faults: ["The first line names the columns; one of them must be `id`."] };
  const users = rows.map((row) => {
    const user = {};
    const attributes = {};
    names.forEach((column, index) => {
      const value = (row[index] ?? "").trim();
      if (!value) return;
      if (FIELDS.includes(column)) user[column] = value;
      else if (column) attributes[column.replace(/^attributes\./, "")] = value;
    });
    return Object.keys(attributes).length ? { ...user, attributes } : user;
  });
  return { users, faults: [] };
}

function fromJson(text) {
  const faults = [];
  try {
    const whole = JSON.parse(text);
    const users = Array.isArray(whole) ? whole : Array.isArray(whole.users) ? whole.users : [whole];
    return { users, faults };
  } catch {
    const users = [];
    text.split("\n").forEach((line, index) => {
      if (!line.trim()) return;
      try {
        users.push(JSON.parse(line));
      } catch {
        faults.push(`Line ${index + 1} is not JSON.`);
      }
    });
    return { users, faults };
  }
}

/** In lists that one call takes: at most `most` users, and at most `bytes` of text. */
export function batches(users, most = 500, bytes = 240_000) {
  const made = [];
  let some = [];
  let size = 0;
  for (const user of users) {
    const weight = new TextEncoder().encode(JSON.stringify(user)).length + 1;
    if (some.length && (some.length >= most || size + weight > bytes)) {
      made.push(some);
      some = [];
      size = 0;
    }
    some.push(user);
    size += weight;
  }
  return some.length ? [...made, some] : made;
}

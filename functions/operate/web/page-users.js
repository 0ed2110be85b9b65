// Users: whom the producers' ids mean, how they are reached, what they see and what they want.
import { put } from "./api.js";
import { form } from "./form.js";
import { List } from "./list.js";
import { go, href } from "./router.js";
import { Action, Copy, PageHead, TextField, Time, toast } from "./ui.js";
import { Import } from "./users-import.js";
import { Person } from "./user.js";
import { html } from "./view.js";

export default function Users({ route }) {
  const [, id] = route.parts;
  if (id === "import" && route.parts.length === 2 && !("user" in route.query)) return html`<${Import} />`;
  return id !== undefined ? html`<${Person} key=${id} id=${id} route=${route} />` : html`<${All} />`;
}

function All() {
  const columns = [
    { name: "id", label: "User", show: (user) => user.id },
    { name: "email", label: "Email", wide: true, show: (user) => html`<${Copy} value=${user.email} />` },
    { name: "phone", label: "Phone", show: (user) => html`<${Copy} value=${user.phone} />` },
    { name: "username", label: "Name", show: (user) => user.username ?? "–" },
    { name: "locale", label: "Locale", show: (user) => user.locale ?? "–" },
    { name: "timezone", label: "Time zone", show: (user) => user.timezone ?? "–" },
    { name: "since", label: "Known since", show: (user) => html`<${Time} at=${user.created_at} />` },
  ];
  return html`<${PageHead} title="Users" actions=${html`<a class="button" href=${href(["users", "import"])}>Import</a><${Action} tone="primary" icon="plus" run=${add}>Add a user<//>`}>
      Whom your producers' ids mean, and how they are reached.<//>
    <${List} path=${["users"]} label="Users" columns=${columns} to=${(user) => href(["users", user.id], user.id === "import" ? { user: 1 } : {})}
      filters=${[{ name: "query", label: "Search", wide: true, placeholder: "Beginning of an id, email, name or phone" }]}
      empty=${{ title: "Nobody is known yet.", text: html`PUT /v1/users/{id} makes a user known; so does <a href=${href(["users", "import"])}>importing a file</a>.` }} />`;
}

const NAMES = ["id", "email", "phone", "username", "locale", "timezone", "avatar_url", "attributes"];

const fields = ({ values, set, errors }, isNew) => html`
  ${isNew && html`<${TextField} label="Id" value=${values.id} set=${set("id")} error=${errors.id} hint="The one your own systems use." required autofocus />`}
  <div class="form-row"><${TextField} label="Email" type="email" value=${values.email} set=${set("email")} error=${errors.email} />
    <${TextField} label="Phone" value=${values.phone} set=${set("phone")} error=${errors.phone} hint="With its country: +14155550100" /></div>
  <div class="form-row"><${TextField} label="Name" value=${values.username} set=${set("username")} error=${errors.username} />
    <${TextField} label="Locale" value=${values.locale} set=${set("locale")} error=${errors.locale} hint="Such as pt-BR" />
    <${TextField} label="Time zone" value=${values.timezone} set=${set("timezone")} error=${errors.timezone} hint="Such as Europe/Lisbon" /></div>
  <${TextField} label="Picture" type="url" value=${values.avatar_url} set=${set("avatar_url")} error=${errors.avatar_url} hint="The address of an image: their face beside what they did." />
  <${TextField} label="Attributes (JSON)" rows="4" class="code" value=${values.attributes} set=${set("attributes")} error=${errors.attributes} />`;

function profileOf(values) {
  let attributes;
  try {
    attributes = JSON.parse(values.attributes || "{}");
  } catch {
    throw Object.assign(new Error("The attributes are not valid JSON."), { errors: [{ pointer: "/attributes", message: "are not valid JSON" }] });
  }
  const told = Object.fromEntries(NAMES.slice(1, -1).map((name) => [name, values[name]?.trim() || null]));
  return { ...told, attributes };
}

async function add() {
  const made = await form({
    title: "Add a user",
    verb: "Add",
    wide: true,
    names: NAMES,
    initial: { id: "", email: "", phone: "", username: "", locale: "", timezone: "", avatar_url: "", attributes: "{}" },
    save: async (values) => {
      if (!values.id.trim()) throw Object.assign(new Error("An id is needed."), { errors: [{ pointer: "/id", message: "is needed" }] });
      return put(["users", values.id.trim()], profileOf(values));
    },
    fields: (tools) => fields(tools, true),
  });
  if (made) go(["users", made.id]);
}

/** Edit somebody; the toast takes it back. */
export async function edit(user, refresh) {
  const before = { email: user.email, phone: user.phone, username: user.username, locale: user.locale, timezone: user.timezone, avatar_url: user.avatar_url, attributes: user.attributes };
  const done = await form({
    title: `Edit ${user.id}`,
    wide: true,
    names: NAMES,
    initial: { ...before, attributes: JSON.stringify(user.attributes ?? {}, null, 2) },
    save: (values) => put(["users", user.id], profileOf(values)),
    fields: (tools) => fields(tools, false),
  });
  if (!done) return;
  refresh();
  toast("Saved.", { undo: () => put(["users", user.id], before).then(refresh) });
}


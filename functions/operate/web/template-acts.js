// Publishing words, publishing old ones again, and taking a template out of use: each shows first what it changes.
import { all, post, remove } from "./api.js";
import { many } from "./format.js";
import { WordsDiff } from "./template-diff.js";
import { activeOf, differing, TITLES, versionsOf, wordsOf } from "./templates.js";
import { ask, Notice, toast } from "./ui.js";
import { html } from "./view.js";

/** Every version of a name; of one that nobody has made, none. */
export async function versionsNow(name, signal) {
  try {
    return await all(["templates", name], {}, { signal });
  } catch (problem) {
    if (problem.status === 404) return [];
    throw problem;
  }
}

/** `words` as the API takes them, without the name; `basis` the id of the version from which they were written. Resolves with the new version. */
export async function publish(name, words, { basis, done = () => undefined } = {}) {
  const about = `${TITLES[words.channel]}, ${words.locale}`;
  let rows = [];
  const made = await ask({
    title: `Publish ${name} (${about})?`,
    wide: true,
    verb: "Publish",
    tone: "primary",
    plan: async () => {
      rows = await versionsNow(name);
      const active = activeOf(rows, words.channel, words.locale);
      const next = (versionsOf(rows, words.channel, words.locale)[0]?.version ?? 0) + 1;
      return html`<p>This becomes <strong>version ${next}</strong> and is what is sent from now on. What was planned before keeps the version it was planned with.</p>
        ${active && basis && basis !== active.id && html`<${Notice} tone="warn" title="Somebody published since you began">
          Version ${active.version} is newer than what you started from. The differences below are against it: what it changed and you do not have is lost.<//>`}
        ${!rows.some((row) => row.is_active) ? html`<p class="mute">Nothing of this name is in use now.</p>` : !active && html`<p class="mute">There is no ${about} yet. Once it is there it can only be followed by
          other words or go with the whole template.</p>`}
        <h3>${active ? `Against version ${active.version}, which is active now` : "All of it is new"}</h3>
        <${WordsDiff} before=${active && wordsOf(active)} after=${words} />`;
    },
    run: () => post(["templates"], { name, ...words }),
  });
  if (!made) return undefined;
  toast(`Version ${made.version} of ${name} (${about}) is published.`, { undo: wayBack(name, words, rows, done) });
  await done(made);
  return made;
}

/** The old words again; a name that was not in use before goes out of use. A new locale of a name in use stays. */
function wayBack(name, words, rows, done) {
  const active = activeOf(rows, words.channel, words.locale);
  if (active) return async () => done(await post(["templates"], { name, ...wordsOf(active) }));
  if (rows.some((row) => row.is_active)) return undefined;
  return async () => {
    await remove(["templates", name]);
    await done();
  };
}

export const hasChanges = (words, active) => !active || differing(wordsOf(active), words).length > 0;

export async function withdraw(name, { done = () => undefined } = {}) {
  let rows = [];
  const gone = await ask({
    title: `Take ${name} out of use?`,
    verb: "Take it out of use",
    plan: async () => {
      rows = (await versionsNow(name)).filter((row) => row.is_active);
      return html`<p>${many(rows.length, "active version goes", "active versions go")}, in every channel and locale: ${rows.map((row) => `${TITLES[row.channel]} ${row.locale}`).join(", ")}. The words stay and can be published again.</p>
        <p>An intent that asks for it, by itself or through its type, is refused from then on (422). What is planned already is still sent.</p>`;
    },
    run: () => remove(["templates", name]),
  });
  if (!gone) return;
  toast(`${name} is out of use.`, {
    undo: async () => {
      for (const row of rows) await post(["templates"], { name, ...wordsOf(row) });
      await done();
    },
  });
  await done();
}

// What can be done about several dead letters at once, and who they were for.
import { get, post } from "./api.js";
import { many, number } from "./format.js";
import { classWords, skippedWords, userOf, whatDied } from "./letters.js";
import { href } from "./router.js";
import { can } from "./session.js";
import { eachOf, tally } from "./several.js";
import { ask, toast } from "./ui.js";
import { html } from "./view.js";

/** A user leads to their page; whoever has no id is an address. */
export function Recipient({ recipient }) {
  const user = userOf(recipient);
  if (user === null) return recipient ? html`<bdi>${recipient === "address" ? html`<span class="nowrap">an address</span>` : recipient}</bdi>` : html`<span class="mute">–</span>`;
  return can("manage") ? html`<a href=${href(["users", user])}><bdi>${user}</bdi></a>` : html`<bdi>${user}</bdi>`;
}

/** What each of them is about is asked first: what stands in the way is said before anything is done. */
export const replaySeveral = (letters) => {
  let able = [];
  return ask({
    title: letters.length === 1 ? "Replay this dead letter?" : `Replay these ${number(letters.length)} dead letters?`,
    verb: "Replay them",
    tone: "primary",
    plan: async () => {
      const { done, refused } = await eachOf(letters, (letter) => get(["dead-letters", letter.id]));
      if (refused.length) throw refused[0].error;
      const found = done.map(({ answer }) => answer);
      able = found.filter((letter) => !letter.obstacle);
      const unable = tally(found.filter((letter) => letter.obstacle).map((letter) => letter.obstacle.reason));
      if (!able.length) throw new Error(`None of them can be replayed: ${counted(unable)}.`);
      const doubtful = able.filter((letter) => letter.second_copy_possible).length;
      return html`<p><strong>${many(able.length, "letter")}</strong> will be done once more, from the gate on: who has unsubscribed, is suppressed or switched the channel off since does not get it.</p>
        <ul>${tally(able.map((letter) => `${whatDied(letter)}, ${classWords(letter.classification)}`)).map(([name, count]) => html`<li key=${name}>${number(count)} × ${name}</li>`)}</ul>
        ${doubtful > 0 && html`<p class="warn-ink">Of ${number(doubtful)} an earlier attempt may have arrived: that would be a second copy.</p>`}
        ${unable.length > 0 && html`<p>The others stay as they are: ${counted(unable)}.</p>`}`;
    },
    run: async () => told(await eachOf(able, (letter) => post(["dead-letters", letter.id, "replay"])), "is being done once more", "are being done once more"),
  });
};

export const layAsideSeveral = (letters) =>
  ask({
    title: letters.length === 1 ? "Lay this dead letter aside?" : `Lay these ${number(letters.length)} dead letters aside?`,
    says: html`<p>${letters.length === 1 ? "It counts" : "They count"} as resolved with the reason that you give, and nothing is sent. This cannot be taken back.</p>
      <ul>${tally(letters.map((letter) => `${whatDied(letter)}, ${classWords(letter.classification)}`)).map(([name, count]) => html`<li key=${name}>${number(count)} × ${name}</li>`)}</ul>`,
    verb: "Lay them aside",
    reason: true,
    run: async (reason) => told(await eachOf(letters, (letter) => post(["dead-letters", letter.id, "resolve"], { resolution: "ignored", reason })), "is laid aside", "are laid aside"),
  });

const counted = (pairs) => pairs.map(([reason, count]) => `${number(count)} ${skippedWords(reason)}`).join(", ");

/** Some may have been resolved by a colleague a moment before: that is no reason to hide what was done. */
function told({ done, refused }, one, more) {
  if (!done.length && refused.length) throw refused[0].error;
  const rest = refused.length ? ` ${many(refused.length, "was refused", "were refused")}: ${refused[0].error.message}` : "";
  toast(`${many(done.length, `letter ${one}`, `letters ${more}`)}.${rest}`, { tone: refused.length ? "warn" : "good" });
  return true;
}

// What can be done about trouble, from wherever it is shown: each says first what it will do, and is a call of the API.
import { get, patch, post } from "./api.js";
import { many, number, words } from "./format.js";
import { obstacleWords, skippedWords } from "./letters.js";
import { go } from "./router.js";
import { ask, toast } from "./ui.js";
import { html } from "./view.js";

export const openLane = (lane, waiting) =>
  ask({
    title: "Open this lane now?",
    says: html`<p>The lane <code>${lane}</code> takes messages again at once${waiting ? ` and the ${number(waiting)} that wait for it go out` : ""}.
      If its cause is not gone, it closes again with the next failures.</p>`,
    verb: "Open the lane",
    tone: "primary",
    reason: true,
    run: async (reason) => {
      const opened = await post(["lanes", lane, "open"], { reason });
      toast(`The lane is open; ${many(opened.woken, "message goes", "messages go")} now.`);
      return opened;
    },
  });

/** Replay all letters that a filter finds, once the dry run has said how many. Resolves with the job. */
export async function replayMany(filter) {
  const told = Object.entries(filter).filter(([, value]) => value);
  const job = await ask({
    title: "Replay these dead letters?",
    verb: "Replay them",
    tone: "primary",
    plan: async () => {
      const dry = await post(["dead-letters", "replay"], { filter, dry_run: true });
      if (!dry.replayed) throw new Error(`None of them can be replayed${reasons(dry.skipped_reasons)}.`);
      return html`<p><strong>${dry.is_complete ? "" : "At least "}${many(dry.replayed, "letter")}</strong> will be done once more, from the gate on: who has
        unsubscribed, is suppressed or switched the channel off since does not get it.</p>
        ${dry.skipped > 0 && html`<p>${many(dry.skipped, "letter stays", "letters stay")} as ${dry.skipped === 1 ? "it is" : "they are"}${reasons(dry.skipped_reasons)}.</p>`}
        <p class="mute">Those with ${told.map(([name, value]) => html`<span key=${name}>${name.replaceAll("_", " ")} <code>${value}</code> </span>`)}</p>`;
    },
    run: () => post(["dead-letters", "replay"], { filter }),
  });
  if (job) {
    toast("The replay has begun.");
    go(["jobs", job.id]);
  }
  return job;
}

const reasons = (counts) => {
  const told = Object.entries(counts ?? {});
  return told.length ? ` (${told.map(([reason, count]) => `${number(count)} ${skippedWords(reason)}`).join(", ")})` : "";
};

export async function replayOne(letter) {
  const detail = await get(["dead-letters", letter.id]);
  return ask({
    title: "Replay this dead letter?",
    verb: "Replay it",
    tone: "primary",
    says: html`<p>${words(detail.source_kind)} ${detail.channel ? `by ${detail.channel}` : ""} ${detail.recipient ? html`to <code>${detail.recipient}</code>` : ""} is done once more,
      from the gate on.</p>
      ${detail.second_copy_possible && html`<p class="warn-ink">An earlier attempt may have arrived: this may be a second copy.</p>`}
      ${detail.obstacle && html`<p class="bad-ink">${obstacleWords(detail.obstacle).says} ${obstacleWords(detail.obstacle).advice}</p>`}`,
    run: async () => {
      const made = await post(["dead-letters", letter.id, "replay"], detail.obstacle?.reason === "expired" ? { past_expiry: true } : undefined);
      toast("It is being done once more.");
      return made;
    },
  });
}

export const ignoreLetter = (letter) =>
  ask({
    title: "Lay this dead letter aside?",
    says: html`<p>It counts as resolved and nothing is sent. It can not be taken back; retention forgets it later.</p>`,
    verb: "Lay it aside",
    reason: true,
    run: async (reason) => {
      const done = await post(["dead-letters", letter.id, "resolve"], { resolution: "ignored", reason });
      toast("It is laid aside.");
      return done;
    },
  });

/** Switch a webhook on or off; the toast takes it back. */
export async function switchWebhook(id, isActive) {
  const done = await patch(["webhooks", id], { is_active: isActive });
  toast(isActive ? "The webhook hears again of what happens." : "The webhook is switched off.", {
    undo: () => patch(["webhooks", id], { is_active: !isActive }),
  });
  return done;
}

export const resolveEvent = (event) =>
  ask({
    title: "Resolve this system event?",
    says: html`<p>${event.description}</p><p class="mute">If its cause is still there, it is raised anew.</p>`,
    verb: "Resolve it",
    tone: "primary",
    reason: true,
    run: async (reason) => {
      const done = await post(["system-events", event.id, "resolve"], { reason });
      toast("Resolved.");
      return done;
    },
  });

export const cancelNotification = (id, waiting) =>
  ask({
    title: "Cancel this notification?",
    says: html`<p>What has not been sent stops here${waiting ? `: ${many(waiting, "route")} not yet ended` : ""}. What was sent stays sent; this cannot be taken back.</p>`,
    verb: "Cancel the notification",
    run: async () => {
      const done = await post(["notifications", id, "cancel"]);
      toast("It is cancelled.");
      return done;
    },
  });


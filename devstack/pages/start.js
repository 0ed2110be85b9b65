// The start page: six steps for somebody who has just typed `make dev`, each done for real on this stack.
import { make } from "./calls.js";
import { notice } from "./elements.js";
import { follow } from "./following.js";
import { asking, breaking, faults, mending, telling } from "./intents.js";
import { load, save, somebody } from "./progress.js";
import { countDown, render } from "./steps.js";

const SECONDS = { first: 60, second: 300 }; // the second one waits for whoever reads this
const steps = document.getElementById("steps");
const { url, elsewhere, devJson } = steps.dataset;
const page = { where: { url, elsewhere, devJson, origin: location.origin }, progress: load(), live: {}, errors: {} };
const stops = {};

function changed(more = {}) {
  Object.assign(page.progress, more);
  save(page.progress);
  show();
}

const show = () => render(page, { lookAgain: watch });

/** Make these calls in turn; what was called and answered is shown. */
async function all(calls) {
  const made = [];
  for (const call of calls) made.push({ call, ...(await make(call)) });
  return made;
}

/** The same words to the same person under the same key, until they are accepted: pressing twice sends once. */
async function send(name, words) {
  const { progress } = page;
  if (progress.unsent?.name !== name || progress.unsent.words !== words) changed({ unsent: { name, words, key: `start-${crypto.randomUUID()}` } });
  const calls = await all([telling(progress.who, words, progress.unsent.key, { isNew: name === "first" })]);
  page.live[name] = null;
  changed({ [name]: { id: calls.at(-1).body.notification_id, calls }, unsent: null });
  watch(name);
}

function watch(name) {
  stops[name]?.();
  const sent = page.progress[name];
  stops[name] = follow(sent.id, page.progress.who, {
    seconds: SECONDS[name],
    show: (seen) => {
      if (seen.error?.status === 404) return beginAgain("This stack does not know what you sent any more: it was reset. So we begin again.");
      page.live[name] = seen;
      show();
    },
  });
}

const acts = {
  async send(form) {
    changed({ who: page.progress.who ?? somebody(), why: false });
    await send("first", new FormData(form).get("words").trim());
  },
  async why() {
    page.live.why = (await all([asking(page.progress.first.id)]))[0];
    changed({ why: true });
  },
  async break() {
    if (!page.progress.fault || page.progress.mended) changed({ fault: await all([breaking(page.progress.who)]), mended: null, second: null });
    await send("second", "And this one takes a little longer.");
  },
  async retry() {
    changed({ mended: await all([mending()]) });
    watch("second");
  },
};

/** A button does one thing at a time, and what goes wrong is said beside it. */
async function act(name, form) {
  const button = steps.querySelector(`#${name} .act button`);
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  page.errors[name] = null;
  try {
    await acts[name](form);
  } catch (error) {
    page.errors[name] = { message: error.message, more: error.more };
  }
  button.removeAttribute("aria-busy");
  show();
}

function beginAgain(why = "") {
  for (const stop of Object.values(stops)) stop();
  Object.assign(page, { progress: {}, live: {}, errors: {} });
  document.getElementById("notices").replaceChildren(...(why ? [notice({ message: why }, "info")] : []));
  changed();
}

/** After a reload: go on watching, and see whether what was broken still is. Faults end with the stack. */
async function goOn() {
  const { progress } = page;
  for (const name of ["first", "second"]) if (progress[name]) watch(name);
  try {
    if (progress.why) page.live.why = (await all([asking(progress.first.id)]))[0];
    if (progress.fault && !progress.mended) {
      const { body } = await make(faults());
      if (!body.data.some(({ match }) => match === progress.who.email)) changed({ mended: [] });
    }
  } catch (error) {
    if (error.status !== 404) document.getElementById("notices").replaceChildren(notice(error));
  }
  show();
}

document.querySelector("#send form").addEventListener("submit", (event) => {
  event.preventDefault();
  act("send", event.currentTarget);
});
for (const name of ["why", "break", "retry"]) document.querySelector(`#${name} .act button`).addEventListener("click", () => act(name));
document.getElementById("again").addEventListener("click", () => beginAgain());
setInterval(countDown, 500);
show();
goOn();

// The mailbox keeps itself up to date: what is new is put above, and what is here stays untouched.
const messages = document.getElementById("messages");

function showLocalTimes() {
  for (const time of document.querySelectorAll("time:not([title])")) {
    const moment = new Date(time.dateTime);
    const today = moment.toDateString() === new Date().toDateString();
    time.title = time.dateTime;
    time.textContent = today ? moment.toLocaleTimeString() : moment.toLocaleString();
  }
}

/** Whoever follows a link to one message finds it open. */
function openLinked() {
  const linked = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (linked?.parentElement !== messages) return;
  for (const message of messages.children) message.open = message === linked;
  linked.scrollIntoView({ block: "nearest" });
}

// Open parts and the place on the screen stay as they are.
function take(page) {
  const known = new Set(Array.from(messages.children, (message) => message.id));
  const found = Array.from(page.getElementById("messages").children);
  const isAnotherLedger = known.size > 0 && !found.some((message) => known.has(message.id));
  if (isAnotherLedger) messages.replaceChildren();
  const before = document.documentElement.scrollHeight;
  const fresh = isAnotherLedger ? found : found.filter((message) => !known.has(message.id));
  if (known.size > 0) for (const message of fresh) message.open = false;
  messages.prepend(...fresh);
  if (window.scrollY > 0) window.scrollBy(0, document.documentElement.scrollHeight - before);
  for (const id of ["count", "more"]) document.getElementById(id).textContent = page.getElementById(id).textContent;
  document.getElementById("empty").hidden = page.getElementById("empty").hidden;
  showLocalTimes();
}

async function refresh() {
  const state = document.getElementById("state");
  const said = { isLost: false, words: "live" };
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
    if (!answer.ok) throw new Error(answer.status);
    take(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch {
    Object.assign(said, { isLost: true, words: "the local stack does not answer" });
  }
  state.classList.toggle("lost", said.isLost);
  if (state.textContent !== said.words) state.textContent = said.words;
  setTimeout(refresh, 2000);
}

showLocalTimes();
openLinked();
addEventListener("hashchange", openLinked);
setTimeout(refresh, 2000);

/** The demonstration page: hands the token to the element and lists the events that it fires. */

const inbox = document.querySelector("tocsin-inbox");
const theme = document.querySelector("#theme");
const field = document.querySelector("#token");
const SHOWN = 20;

function takeTokenFromAddress() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  // Out of sight, and out of what is copied from the address bar.
  history.replaceState(null, "", location.pathname + location.search);
  inbox.token = token;
}

function list(event) {
  const { row, ...detail } = event.detail;
  const time = document.createElement("time");
  const line = document.createElement("li");
  time.textContent = new Date().toLocaleTimeString();
  const words = JSON.stringify(row ? { ...detail, title: row.title } : detail);
  // What turns text around is shown as what it is.
  const seen = words.replace(/[\u202a-\u202e\u2066-\u2069]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`);
  line.append(time, `${event.type} ${seen}`);
  document.querySelector("#none").hidden = true;
  const lines = document.querySelector("#events");
  lines.prepend(line);
  while (lines.children.length > SHOWN) lines.lastChild.remove();
}

function showTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  theme.textContent = isDark ? "Light" : "Dark";
  return isDark;
}

for (const name of ["unread", "open", "select", "action", "token-expired"]) inbox.addEventListener(`tocsin-${name}`, list);
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = showTheme() ? "light" : "dark";
  showTheme();
});
document.querySelector("#wishes").addEventListener("change", ({ target }) => {
  if (target.type === "checkbox") inbox.toggleAttribute(target.name, target.checked);
  else if (target.value) inbox.setAttribute(target.name, target.value);
  else inbox.removeAttribute(target.name);
});
document.querySelector("#form").addEventListener("submit", (event) => {
  event.preventDefault();
  inbox.token = field.value.trim();
  field.value = "";
});
document.querySelector("#origin").textContent = location.origin;
addEventListener("hashchange", takeTokenFromAddress);
takeTokenFromAddress();
showTheme();

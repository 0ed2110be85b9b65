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
  line.append(time, `${event.type} ${JSON.stringify(row ? { ...detail, title: row.title } : detail)}`);
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

for (const name of ["unread", "open", "select", "token-expired"]) inbox.addEventListener(`tocsin-${name}`, list);
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = showTheme() ? "light" : "dark";
  showTheme();
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

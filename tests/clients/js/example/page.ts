/** The bell in a page without a framework. */

import { TocsinInbox, text, tokenFrom } from "@tocsin/inbox";

Object.assign(text, { locale: "de", label: "Mitteilungen" });

const bell = document.createElement("tocsin-inbox");
bell.tokenProvider = tokenFrom("/tocsin-token", { headers: { "X-CSRF": "1" } });
bell.setAttribute("api", "https://notify.example.com");
bell.addEventListener("tocsin-select", (event) => {
  event.preventDefault();
  console.log(event.detail.url?.length, event.detail.row.thread?.kind);
  bell.close();
});
bell.addEventListener("tocsin-unread", ({ detail }) => (document.title = `(${detail.unread}${detail.capped ? "+" : ""}) Shop`));
bell.addEventListener("click", (event) => console.log(event.clientX));
document.body.append(bell);

const found: TocsinInbox | null = document.querySelector("tocsin-inbox");
export const unread: number | undefined = found?.unread;

// @ts-expect-error  the number is to read
bell.unread = 3;
// @ts-expect-error  a provider answers a token
bell.tokenProvider = () => 17;

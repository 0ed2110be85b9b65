/** The bell in React: as a component, and as the bare element. */

import { tokenFrom, type TocsinInbox as Bell } from "@tocsin/inbox";
import { TocsinInbox } from "@tocsin/inbox/react";
import { useRef, useState } from "react";

const tokenProvider = tokenFrom("/tocsin-token");

export function Header({ user }: { user: string }) {
  const bell = useRef<Bell>(null);
  const [unread, setUnread] = useState(0);
  return (
    <header>
      <button onClick={() => bell.current?.open()}>{unread} unread</button>
      <TocsinInbox
        key={user}
        ref={bell}
        api="https://notify.example.com"
        tokenProvider={tokenProvider}
        placement="bottom-start"
        className="bell"
        style={{ color: "teal" }}
        locale="de"
        tabs="All|Orders=order.*"
        badge="unseen"
        toast
        title-badge
        renderRow={(row) => (row.severity === "critical" ? `${row.title} ${row.actor?.name}` : null)}
        onAction={(event) => event.detail.action.url.startsWith("https:") || event.preventDefault()}
        onUnread={(event) => setUnread(event.detail.unread)}
        onSelect={(event) => {
          event.preventDefault();
          location.assign(event.detail.url ?? "/");
        }}
      >
        <b slot="header">What is new</b>
      </TocsinInbox>
      <tocsin-inbox token="…" theme="dark" class="second" group="scope" />
    </header>
  );
}

// @ts-expect-error  no such place
export const misplaced = <TocsinInbox placement="middle" />;
// @ts-expect-error  no such number
export const miscounted = <TocsinInbox badge="all" />;
// @ts-expect-error  no such attribute
export const misspelt = <tocsin-inbox tokn="…" />;

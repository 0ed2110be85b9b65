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
        onUnread={(event) => setUnread(event.detail.unread)}
        onSelect={(event) => {
          event.preventDefault();
          location.assign(event.detail.url ?? "/");
        }}
      />
      <tocsin-inbox token="…" theme="dark" class="second" />
    </header>
  );
}

// @ts-expect-error  no such place
export const misplaced = <TocsinInbox placement="middle" />;
// @ts-expect-error  no such attribute
export const misspelt = <tocsin-inbox tokn="…" />;

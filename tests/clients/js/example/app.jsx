/** A page in React that draws itself anew whenever it is told to, with functions that are new each time. */

import { TocsinInbox } from "@tocsin/inbox/react";
import { StrictMode, useRef, useState } from "react";

export function App({ api, nextToken }) {
  const bell = useRef(null);
  const [drawn, setDrawn] = useState(1);
  const [isHere, setHere] = useState(true);
  if (typeof window !== "undefined") Object.assign(window, { bell, draw: () => setDrawn((times) => times + 1), leave: () => setHere(false), drawn });
  const hear = (event) => (window.heard ??= []).push([event.type, drawn, event.detail.unread ?? event.detail.url ?? null]);
  return (
    <StrictMode>
      <p>Drawn {drawn} times</p>
      {isHere && (
        <TocsinInbox
          ref={bell}
          api={api}
          label="News"
          className="bell"
          tokenProvider={() => nextToken(drawn)}
          onUnread={hear}
          onOpen={hear}
          onTokenExpired={hear}
          onSelect={(event) => (event.preventDefault(), hear(event))}
        />
      )}
    </StrictMode>
  );
}

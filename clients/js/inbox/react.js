"use client";
/** <TocsinInbox/> for React 18 and 19: props are attributes, callbacks are the element's events, `ref` is the element. */

import "@tocsin/inbox";
import { createElement, forwardRef, useEffect, useImperativeHandle, useLayoutEffect, useRef } from "react";

const EVENTS = {
  onUnread: "tocsin-unread",
  onOpen: "tocsin-open",
  onSelect: "tocsin-select",
  onAction: "tocsin-action",
  onTokenExpired: "tocsin-token-expired",
};
// Before the element begins; a server has no layout, and React 18 complains about an effect of it there.
const useEarlyEffect = typeof document === "undefined" ? useEffect : useLayoutEffect;

/** React 18 would write "false" into an attribute, and then it is there. */
const attributeOf = (isOn) => (isOn || isOn === "" ? "" : undefined);

function Bell({ token, tokenProvider, renderRow, className, onUnread, onOpen, onSelect, onAction, onTokenExpired, toast, "title-badge": titleBadge, ...rest }, ref) {
  const element = useRef(null);
  // The element sees the same functions all the time, so it does not begin anew; they call the newest ones.
  const latest = useRef({});
  const askForToken = useRef(() => latest.current.tokenProvider?.());
  const hasProvider = Boolean(tokenProvider);
  const makeRow = useRef((row) => latest.current.renderRow?.(row));
  const hasRows = Boolean(renderRow);

  useEarlyEffect(() => {
    latest.current = { tokenProvider, renderRow, onUnread, onOpen, onSelect, onAction, onTokenExpired };
  });
  useEarlyEffect(() => {
    const node = element.current;
    const heard = Object.entries(EVENTS).map(([name, type]) => [type, (event) => latest.current[name]?.(event)]);
    for (const [type, listener] of heard) node.addEventListener(type, listener);
    return () => heard.forEach(([type, listener]) => node.removeEventListener(type, listener));
  }, []);
  // As properties: an attribute would show the token in the document.
  useEarlyEffect(() => {
    element.current.token = token ?? null;
    element.current.tokenProvider = hasProvider ? askForToken.current : null;
  }, [token, hasProvider]);
  useEarlyEffect(() => {
    element.current.renderRow = hasRows ? makeRow.current : null;
  }, [hasRows]);
  useImperativeHandle(ref, () => element.current, []);

  const switches = { toast: attributeOf(toast), "title-badge": attributeOf(titleBadge) };
  return createElement("tocsin-inbox", { ...rest, ...switches, class: className, ref: element });
}

export const TocsinInbox = forwardRef(Bell);
TocsinInbox.displayName = "TocsinInbox";

/** <TocsinInbox/> for React 18 and 19. Importing this also types <tocsin-inbox> in JSX. */

import type { DetailedHTMLProps, ForwardRefExoticComponent, HTMLAttributes, ReactNode, RefAttributes } from "react";
import type { TocsinInbox as TocsinInboxElement, TocsinInboxAttributes, TocsinInboxEventMap, TokenProvider } from "./index.js";

export interface TocsinInboxProps extends TocsinInboxAttributes, Omit<HTMLAttributes<TocsinInboxElement>, "onSelect"> {
  /** Asked for the first token, and for the next one before that ends. It may be another function each time. */
  tokenProvider?: TokenProvider;
  /** It may be another function each time: the newest is asked for rows that are new or changed. */
  renderRow?: NonNullable<TocsinInboxElement["renderRow"]>;
  /** What has `slot="header"` stands in the place of the title. */
  children?: ReactNode;
  onUnread?: (event: TocsinInboxEventMap["tocsin-unread"]) => void;
  onOpen?: (event: TocsinInboxEventMap["tocsin-open"]) => void;
  onSelect?: (event: TocsinInboxEventMap["tocsin-select"]) => void;
  onAction?: (event: TocsinInboxEventMap["tocsin-action"]) => void;
  onTokenExpired?: (event: TocsinInboxEventMap["tocsin-token-expired"]) => void;
}

/** Somebody else signs in? Give it another `key`, such as the id of the user. */
export const TocsinInbox: ForwardRefExoticComponent<TocsinInboxProps & RefAttributes<TocsinInboxElement>>;

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "tocsin-inbox": DetailedHTMLProps<HTMLAttributes<TocsinInboxElement>, TocsinInboxElement> & TocsinInboxAttributes & { class?: string };
    }
  }
}

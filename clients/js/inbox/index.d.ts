/** The bell: importing this registers <tocsin-inbox>. */

/** A button of a row; the first is its primary one. */
export interface InboxAction {
  label: string;
  url: string;
}

/** A row of the inbox, as the API has it. */
export interface InboxRow {
  id: string;
  kind: string;
  /** What the tenant calls its type, for people. */
  type_title: string | null;
  reason: string;
  scope: string | null;
  thread: { kind: string; id: string } | null;
  title: string;
  message: string | null;
  summary: { url?: string; [more: string]: unknown };
  url: string | null;
  actions: InboxAction[];
  severity: "info" | "warning" | "critical";
  /** The address of an image, or an emoji. */
  icon: string | null;
  event_count: number;
  unread: boolean;
  /** Shown before its reader last looked, read or not. */
  seen: boolean;
  read_at: string | null;
  done_at: string | null;
  saved_at: string | null;
  snoozed_until: string | null;
  last_event_at: string;
  last_actor: string | null;
  actor: { id: string; name: string; avatar_url: string | null } | null;
  source_event: { source: string; id: string } | null;
  source_notification_id: string | null;
  for_everyone: boolean;
  created_at: string;
  updated_at: string;
}

/** Answers a fresh user token, or nothing when nobody is signed in. */
export type TokenProvider = () => string | null | undefined | Promise<string | null | undefined>;
export type Placement = "bottom-end" | "bottom-start" | "top-end" | "top-start";
export type Theme = "light" | "dark" | "auto";

/** What can be written in markup. */
export interface TocsinInboxAttributes {
  token?: string;
  /** Base address of the API. Without it: where the script came from, which is your own server if you bundle it. */
  api?: string;
  label?: string;
  placement?: Placement;
  theme?: Theme;
}

export interface TocsinInboxEventMap {
  "tocsin-unread": CustomEvent<{ unread: number; capped: boolean }>;
  "tocsin-open": CustomEvent<Record<string, never>>;
  /** `preventDefault()` keeps the browser from following the row's link. */
  "tocsin-select": CustomEvent<{ row: InboxRow; url: string | null }>;
  "tocsin-token-expired": CustomEvent<Record<string, never>>;
}

export class TocsinInbox extends HTMLElement {
  token: string | null;
  tokenProvider: TokenProvider | null;
  readonly unread: number;
  readonly isOpen: boolean;
  open(): void;
  close(): void;
  /** Load what is shown again. */
  refresh(): Promise<void>;
  addEventListener<Type extends keyof TocsinInboxEventMap>(
    type: Type,
    listener: (this: TocsinInbox, event: TocsinInboxEventMap[Type]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener<Type extends keyof HTMLElementEventMap>(
    type: Type,
    listener: (this: TocsinInbox, event: HTMLElementEventMap[Type]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
  removeEventListener<Type extends keyof TocsinInboxEventMap>(
    type: Type,
    listener: (this: TocsinInbox, event: TocsinInboxEventMap[Type]) => void,
    options?: boolean | EventListenerOptions,
  ): void;
  removeEventListener<Type extends keyof HTMLElementEventMap>(
    type: Type,
    listener: (this: TocsinInbox, event: HTMLElementEventMap[Type]) => void,
    options?: boolean | EventListenerOptions,
  ): void;
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | EventListenerOptions): void;
}

/** Every word a person sees. Put your own in their place before the element is made. */
export const text: { locale: string; label: string; [word: string]: unknown };

/** A `tokenProvider` that POSTs to your server and takes `token` of its answer; a 4xx: nobody is signed in. */
export function tokenFrom(url: string | URL, init?: RequestInit): () => Promise<string | null>;

declare global {
  interface HTMLElementTagNameMap {
    "tocsin-inbox": TocsinInbox;
  }
}

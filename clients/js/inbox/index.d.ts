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
  /** Such as "de-AT". Shipped: English, German, French, Spanish. Default: the language of the page, else of the browser. */
  locale?: string;
  /** "All|Orders=order.*,invoice.*|Saved=@saved", or JSON: [{"label", "kinds"?, "status"?}]. */
  tabs?: string;
  /** Rows under a heading for each scope, instead of newest first. */
  group?: "scope";
  /** What the badge counts. Default: what is unread. */
  badge?: "unread" | "unseen";
  /** A toast for what comes while the panel is closed. */
  toast?: Switch;
  /** The number in the title of the page. */
  "title-badge"?: Switch;
}

/** An attribute that is there or is not. */
export type Switch = "" | boolean;

export interface TocsinInboxEventMap {
  /** One of the two numbers changed. */
  "tocsin-unread": CustomEvent<{ unread: number; unseen: number; capped: boolean }>;
  "tocsin-open": CustomEvent<Record<string, never>>;
  /** `preventDefault()` keeps the browser from following the row's link. */
  "tocsin-select": CustomEvent<{ row: InboxRow; url: string | null }>;
  /** A button of a row was pressed; `preventDefault()` keeps the browser from following it. */
  "tocsin-action": CustomEvent<{ row: InboxRow; action: InboxAction }>;
  "tocsin-token-expired": CustomEvent<Record<string, never>>;
}

export class TocsinInbox extends HTMLElement {
  token: string | null;
  tokenProvider: TokenProvider | null;
  /** Makes of a row what is shown in the place of its title, message and facts: a node, or a text. Nothing: as always. */
  renderRow: ((row: InboxRow) => Element | string | null | undefined) | null;
  readonly unread: number;
  /** How many of the unread ones came since the panel was last open. */
  readonly unseen: number;
  readonly isOpen: boolean;
  /** `isOpen` is true at once; the panel is shown as soon as its files are there. */
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

/** Every word a person sees, in English. What you put in its place before the element is made holds in every language. */
export const text: { locale: string; label: string; [word: string]: unknown };

/** A `tokenProvider` that POSTs to your server and takes `token` of its answer; a 4xx: nobody is signed in. */
export function tokenFrom(url: string | URL, init?: RequestInit): () => Promise<string | null>;

declare global {
  interface HTMLElementTagNameMap {
    "tocsin-inbox": TocsinInbox;
  }
}

/** Tocsin for servers. Bodies and answers have the names that the API has. */

export type Channel = "email" | "sms" | "push" | "in_app";
export type Priority = "low" | "normal" | "high" | "critical";
/** RFC 3339, such as `2026-11-18T09:00:00Z`. */
export type Time = string;

export interface Thread {
  kind: string;
  id: string;
}

/** What is known of a person. */
export interface UserFields {
  email?: string | null;
  phone?: string | null;
  username?: string | null;
  locale?: string | null;
  timezone?: string | null;
  avatar_url?: string | null;
  attributes?: Record<string, unknown>;
}

export interface User extends Required<UserFields> {
  id: string;
  created_at: Time;
  updated_at: Time;
}

/** A person in an audience, with what is to be known of them from now on: made if new, merged if not. */
export interface InlineUser extends UserFields {
  id: string;
}

export type Audience =
  | { kind: "users"; user_ids: (string | InlineUser)[] }
  | { kind: "address"; email?: string; phone?: string }
  | { kind: "tenant" }
  | { kind: "thread"; thread: Thread }
  | { kind: "scope"; scope: string };

/** A user's id, a person, several of them, an address, or an audience with its `kind`. */
export type Recipient = string | InlineUser | (string | InlineUser)[] | { email: string; phone?: string } | { phone: string; email?: string } | Audience;

/** What stands beside the words: up to two buttons (the first is the primary one), how grave it is, an emoji or a picture. */
export interface Display {
  actions?: { label: string; url: string }[] | null;
  severity?: "info" | "warning" | "critical" | null;
  icon?: string | null;
}

/** A template's variables, or the words themselves. */
export interface Payload extends Display {
  title?: string;
  message?: string;
  url?: string | null;
  [variable: string]: unknown;
}

interface IntentFields {
  type: string;
  channels?: Channel[];
  template?: string;
  thread?: Thread;
  priority?: Priority;
  occurred_at?: Time;
  send_at?: Time;
  expires_at?: Time;
  retry?: { max_attempts?: number; backoff?: "exponential" | "linear" | "constant"; base_ms?: number };
  mode?: "live" | "test";
  /** This and the next two: of its email. */
  reply_to?: string;
  cc?: string[];
  attachments?: { url: string; filename?: string; content_type?: string }[];
}

/** As the API has it. */
export interface WholeIntent extends IntentFields {
  audience: Audience;
  payload: Payload;
}

/** The short way: `to` is the audience, and the words go into the payload. */
export interface ShortIntent extends IntentFields {
  to: Recipient;
  title?: string;
  message?: string;
  url?: string;
  payload?: Payload;
}

export type Intent = WholeIntent | ShortIntent;

export interface FieldMessage {
  pointer: string;
  message: string;
}

interface Sent {
  /** The caller's, or the one that was made. */
  idempotency_key: string;
  /** True: the key was known, and this is the first answer again. */
  replayed: boolean;
}

export interface Receipt extends Sent {
  notification_id: string;
  status: "accepted";
  accepted_at: Time;
  /** What will not reach somebody, known already. */
  warnings?: FieldMessage[];
}

export interface Outcome extends Sent {
  notification_id: string;
  status: NotificationStatus;
  accepted_at: Time;
  reason?: string;
  routes: Route[];
  warnings?: FieldMessage[];
}

export interface BatchResult {
  idempotency_key: string | null;
  status: number;
  notification_id?: string;
  replayed?: boolean;
  warnings?: FieldMessage[];
  problem?: TocsinProblem;
}

/** CloudEvents 1.0. Without an `id`, one is made. */
export interface DomainEvent {
  source: string;
  type: string;
  id?: string;
  specversion?: "1.0";
  time?: Time;
  data?: Display & {
    scope?: string;
    thread?: Thread;
    actor?: string;
    author?: string;
    mentions?: string[];
    reviewers?: string[];
    assignees?: string[];
    title?: string;
    message?: string;
    url?: string;
    [field: string]: unknown;
  };
  [extension: string]: unknown;
}

export interface EventReceipt {
  source: string;
  event_id: string;
  notification_id: string;
  status: "accepted" | "duplicate";
  recorded_at: Time;
  /** False: no routing matches its type, so nobody will be told. */
  routed?: boolean;
}

export interface EventResult {
  status: number;
  outcome?: EventReceipt;
  problem?: TocsinProblem;
}

export type NotificationStatus = "accepted" | "in_progress" | "finished" | "dead_letter" | (string & {});
export type RouteStatus = "pending" | "failed" | "published" | "skipped" | "cancelled" | "dead_letter";

export interface NotificationSummary {
  notification_id: string;
  type: string;
  status: NotificationStatus;
  route_counts: Partial<Record<RouteStatus, number>>;
  producer: string;
  mode: "live" | "test";
  audience: { kind: string; user_ids?: string[]; scope?: string };
  template: string | null;
  priority: Priority;
  thread: Thread | null;
  occurred_at: Time;
  accepted_at: Time;
  send_at: Time | null;
  expires_at: Time | null;
  cancelled_at: Time | null;
  updated_at: Time;
}

export interface Route {
  route_id: string;
  channel: Channel | "webhook";
  recipient: string;
  status: RouteStatus;
  /** Why it ended or waits: `no_address`, `suppressed: …`, `quiet_hours` and others. */
  reason: string;
  provider: string | null;
  provider_message_id: string | null;
  feedback: string;
  next_attempt_at: Time | null;
  attempts: Record<string, unknown>[];
  [more: string]: unknown;
}

export interface Notification extends NotificationSummary {
  payload: Record<string, unknown>;
  routes: Route[];
  /** Each decision, in order, with its reason. */
  timeline: { at: Time; what: string; reason: string; route_id: string | null }[];
  dead_letter: Record<string, unknown> | null;
  idempotency_key?: string;
  request_id?: string;
  trace_id?: string;
}

export interface Cancelled {
  notification_id: string;
  status: "cancelled";
  stopped: number;
  too_late: number;
}

export interface ErasureReceipt {
  id: string;
  kind: string;
  status: "finished" | "running";
  subject_hash: string;
  erased: Record<string, number>;
  requested_by: string;
  requested_at: Time;
  finished_at: Time | null;
}

export interface ErasureCount {
  dry_run: true;
  user_id: string;
  would_erase: Record<string, number | { count: number; at_least: true }>;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** For one try (30,000). */
  timeoutMs?: number;
  /** Tries after the first (4). */
  maxRetries?: number;
}

export interface RequestOptions extends CallOptions {
  query?: Record<string, string | number | boolean | Date | null | undefined>;
  body?: unknown;
  headers?: Record<string, string | undefined>;
  /** Whether doing it twice does no harm. Without a word: everything but POST. */
  repeatable?: boolean;
}

export interface Answer<Data = unknown> {
  status: number;
  headers: Headers;
  requestId?: string;
  data: Data;
}

export interface TocsinOptions extends CallOptions {
  /** Address of the installation; without it TOCSIN_URL. */
  url?: string;
  /** A server key; without it TOCSIN_KEY. */
  key?: string;
  /** In a browser everybody could read the key, so it is refused there unless this is true. */
  dangerouslyAllowBrowser?: boolean;
  /** http: is taken for this machine only, unless this is true. */
  allowHttp?: boolean;
  fetch?: typeof globalThis.fetch;
  sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  random?: () => number;
  now?: () => number;
}

export class Tocsin {
  constructor(options?: Omit<TocsinOptions, "signal">);
  send(intent: Intent, options: CallOptions & { idempotencyKey?: string; wait: number }): Promise<Outcome | Receipt>;
  send(intent: Intent, options?: CallOptions & { idempotencyKey?: string; wait?: undefined }): Promise<Receipt>;
  sendBatch(intents: (Intent & { idempotency_key?: string })[], options?: CallOptions): Promise<BatchResult[]>;
  event(event: DomainEvent, options?: CallOptions): Promise<EventReceipt>;
  event(events: DomainEvent[], options?: CallOptions): Promise<EventResult[]>;
  cancel(notificationId: string, options?: CallOptions): Promise<Cancelled>;
  explain(notificationId: string, options?: CallOptions): Promise<Notification>;
  request<Data = any>(method: string, path: string, options?: RequestOptions): Promise<Answer<Data>>;
  readonly notifications: {
    /** Newest first; `limit` is how many at most. */
    list(filters?: NotificationFilters, options?: CallOptions): AsyncGenerator<NotificationSummary, void, undefined>;
  };
  readonly users: {
    put(id: string, user: UserFields, options?: CallOptions): Promise<User>;
    patch(id: string, changes: UserFields, options?: CallOptions): Promise<User>;
    get(id: string, options?: CallOptions): Promise<User>;
    list(filters?: { query?: string; limit?: number }, options?: CallOptions): AsyncGenerator<User, void, undefined>;
    erase(id: string, options: CallOptions & { dryRun: true }): Promise<ErasureCount>;
    erase(id: string, options?: CallOptions & { dryRun?: false }): Promise<ErasureReceipt>;
  };
  readonly tokens: {
    create(userId: string, options?: CallOptions & { ttlSeconds?: number }): Promise<{ token: string; expires_at: Time }>;
  };
}

export interface NotificationFilters {
  type?: string;
  producer?: string;
  status?: string;
  channel?: Channel | "webhook";
  user_id?: string;
  since?: Time | Date;
  until?: Time | Date;
  limit?: number;
}

/** The server said no. */
export class TocsinProblem extends Error {
  readonly name: "TocsinProblem";
  readonly status: number;
  /** The stable word for it, such as `unknown-users`. */
  readonly kind: string;
  readonly title: string;
  readonly detail: string;
  readonly errors: FieldMessage[];
  readonly requestId?: string;
  readonly retryAfterMs?: number;
  /** Of a send: with it the same send can be tried later. */
  readonly idempotencyKey?: string;
}

/** There was no answer; whether the call had its effect is not known. */
export class TocsinUnreachable extends Error {
  readonly name: "TocsinUnreachable";
  readonly isTimeout: boolean;
  /** Of a send: with it the same send can be tried later. */
  readonly idempotencyKey?: string;
}

/** What stands after `#` in a problem's `type`. */
export function kindOf(problem?: { type?: string }): string;

export type WebhookEventType =
  | `notification.${"published" | "delivered" | "bounced" | "complained" | "dead_lettered" | "skipped" | "cancelled"}`
  | "webhook.test";

export interface WebhookEvent {
  type: WebhookEventType | (string & {});
  timestamp: Time;
  data: Record<string, any>;
}

export interface Webhook {
  /** As it came in, byte for byte. */
  body: string | ArrayBuffer | ArrayBufferView;
  headers: Headers | Record<string, string | string[] | undefined>;
  /** `whsec_…`; while it is changed, the old and the new one. */
  secret: string | string[];
  toleranceSeconds?: number;
  /** Milliseconds, as `Date.now()` has them. */
  now?: number;
}

export class WebhookNotVerified extends Error {
  readonly name: "WebhookNotVerified";
}

/** The event, if one of the secrets signed it; else throws WebhookNotVerified. */
export function verifyWebhook(webhook: Webhook): Promise<WebhookEvent>;
